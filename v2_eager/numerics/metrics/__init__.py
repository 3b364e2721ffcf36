"""Metrics of `tf.metrics` as objects with `update_state`, `result`, `reset_state`.

    auc = AUC(curve="PR")
    auc.update_state(labels, predictions)    # the update op
    auc.result()                             # the value; reset_state() sets it to zero

Labels, predictions and weights may differ by a last dimension of 1. The sums are
float32 for inputs of any dtype, and are added in the order of v1; those of `MeanIoU`
and the "at k" metrics are float64. Follows `tensorflow/python/ops/metrics_impl.py` of
1.15.5.
"""

from v2_eager.numerics.metrics.at_k import AveragePrecisionAtK, PrecisionAtK, RecallAtK
from v2_eager.numerics.metrics.base import Metric
from v2_eager.numerics.metrics.classes import (
    CohenKappa,
    MeanIoU,
    MeanPerClassAccuracy,
)
from v2_eager.numerics.metrics.correlations import Covariance, PearsonCorrelation
from v2_eager.numerics.metrics.curves import (
    AUC,
    SensitivityAtSpecificity,
    SpecificityAtSensitivity,
)
from v2_eager.numerics.metrics.decisions import (
    BestF1,
    FalseNegatives,
    FalsePositiveRate,
    FalsePositives,
    Precision,
    Recall,
    TrueNegatives,
    TruePositives,
)
from v2_eager.numerics.metrics.means import (
    Accuracy,
    Mean,
    MeanAbsoluteError,
    MeanCosineDistance,
    MeanRelativeError,
    MeanSquaredError,
    MeanTensor,
    PercentageBelow,
    RootMeanSquaredError,
)

__all__ = [
    "Metric",
    "Mean",
    "MeanTensor",
    "PercentageBelow",
    "Accuracy",
    "MeanAbsoluteError",
    "MeanSquaredError",
    "RootMeanSquaredError",
    "MeanRelativeError",
    "MeanCosineDistance",
    "TruePositives",
    "FalsePositives",
    "TrueNegatives",
    "FalseNegatives",
    "Precision",
    "Recall",
    "AUC",
    "SensitivityAtSpecificity",
    "SpecificityAtSensitivity",
    "MeanIoU",
    "MeanPerClassAccuracy",
    "PrecisionAtK",
    "RecallAtK",
    "AveragePrecisionAtK",
    "BestF1",
    "FalsePositiveRate",
    "CohenKappa",
    "Covariance",
    "PearsonCorrelation",
]
