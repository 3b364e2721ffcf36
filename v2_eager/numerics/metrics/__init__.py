"""The metrics of `tf.metrics`: what was a value and an op that updates it is an object.

    auc = AUC(curve="PR")
    auc.update_state(labels, predictions)    # the update op
    auc.result()                             # the value; reset_state() begins anew

Labels, predictions and weights may differ by a last dimension of 1. Sums are float32,
in the order of v1, whatever the inputs are, but for `MeanIoU` and those "at k", which
are float64. Follows `tensorflow/python/ops/metrics_impl.py` of 1.15.5.
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
