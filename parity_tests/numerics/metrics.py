"""Metrics on weighted batches of 64, 100 and 1 rows."""

import tensorflow as tf

from parity_tests.numerics import Inputs
from parity_tests.shorthand import refused
from tf1to2.parity import Program

RANDOM = Inputs("metrics")


def yes(n):
    return RANDOM.integers(2, n).astype("f")


def classes(n):
    return RANDOM.integers(5, n)


def vectors(n):
    return RANDOM.normal(n, 4)


def scores(n):
    return RANDOM.normal(n, 5)


def batches(*makers):
    return [tuple(make(n) for make in makers) for n in (64, 100, 1)]


def metric(name, makers, slug="weighted", more=("weights",), **options):
    args = [name, options, batches(*makers)]
    return Program(
        "streamed", f"{name}, {slug}", args, {"more": list(more)}, float32=True
    )


column, shares, weights = RANDOM.normal, RANDOM.uniform, RANDOM.weights
DECIDED = [yes, shares, weights]


def counts(name):
    some = {"thresholds": [0.1, 0.3, 0.7]}
    return [
        metric(name, [yes, yes, weights]),
        metric(f"{name}_at_thresholds", DECIDED, **some),
    ]


def mean_tensor():
    rows = [(RANDOM.normal(64, 4), RANDOM.weights(64, 1)) for _ in range(3)]
    args = ["mean_tensor", {}, rows]
    return Program(
        "streamed", "mean_tensor, weighted", args, {"more": ["weights"]}, float32=True
    )


DESCRIPTORS = {
    "BestF1": "contrib_training.stream",
    "FalsePositiveRate": "contrib_training.stream",
    "CohenKappa": "contrib_training.stream",
    "Covariance": "contrib_training.stream",
    "PearsonCorrelation": "contrib_training.stream",
    "Metric": "metrics.mean_f1",
    "Mean": [
        metric("mean", [column, weights]),
        metric("mean", [vectors], "of all", ()),
    ],
    "MeanTensor": [mean_tensor()],
    "PercentageBelow": [metric("percentage_below", [column, weights], threshold=0.3)],
    "Accuracy": [
        metric("accuracy", [classes, classes, weights]),
        metric("accuracy", [classes, classes], "of all", ()),
    ],
    "MeanAbsoluteError": [metric("mean_absolute_error", [column, column, weights])],
    "MeanSquaredError": [metric("mean_squared_error", [column, column, weights])],
    "RootMeanSquaredError": [
        metric("root_mean_squared_error", [column, column, weights])
    ],
    "MeanRelativeError": [
        metric(
            "mean_relative_error",
            [column, column, weights, weights],
            more=("normalizer", "weights"),
        )
    ],
    "MeanCosineDistance": [
        metric("mean_cosine_distance", [vectors, vectors], "of all", (), dim=1)
    ],
    "TruePositives": counts("true_positives"),
    "FalsePositives": counts("false_positives"),
    "TrueNegatives": counts("true_negatives"),
    "FalseNegatives": counts("false_negatives"),
    "Precision": counts("precision"),
    "Recall": counts("recall"),
    "AUC": [
        metric("auc", DECIDED),
        metric("auc", DECIDED, "of PR", curve="PR"),
        *[
            metric(
                "auc",
                DECIDED,
                f"{curve}, {method}",
                curve=curve,
                summation_method=method,
                num_thresholds=70,
            )
            for curve, method in (
                ("ROC", "minoring"),
                ("PR", "majoring"),
                ("PR", "careful_interpolation"),
            )
        ],
        *[
            refused("streamed", slug, ["auc", options, batches(yes, shares)], match)
            for slug, options, match in (
                (
                    "no such curve",
                    {"curve": "AU"},
                    "(?i)curve must be either ROC or PR",
                ),
                (
                    "no such method",
                    {"summation_method": "left"},
                    "Invalid summation_method: left",
                ),
            )
        ],
    ],
    "SensitivityAtSpecificity": [
        metric("sensitivity_at_specificity", DECIDED, specificity=0.7)
    ],
    "SpecificityAtSensitivity": [
        metric("specificity_at_sensitivity", DECIDED, sensitivity=0.7)
    ],
    "MeanIoU": [metric("mean_iou", [classes, classes, weights], num_classes=6)],
    "MeanPerClassAccuracy": [
        metric("mean_per_class_accuracy", [classes, classes, weights], num_classes=6)
    ],
    "PrecisionAtK": [
        metric("precision_at_k", [classes, scores, weights], k=2),
        metric("precision_at_k", [classes, scores], "of class 3", (), k=2, class_id=3),
    ],
    "RecallAtK": [metric("recall_at_k", [classes, scores, weights], k=3)],
    "AveragePrecisionAtK": [
        metric("average_precision_at_k", [classes, scores, weights], k=3)
    ],
}


def refused_batches(slug, name, makers, match, error=ValueError, **options):
    args = [name, options, batches(*makers)]
    return refused("streamed", slug, args, match, error)


def columns(n):
    return RANDOM.integers(5, n, 1)


def several(n):
    return RANDOM.integers(5, n, 2)


def above(n):
    return 0.5 + RANDOM.uniform(n)


INVALID = tf.errors.InvalidArgumentError
UNIT = r"must be in the range \[0, 1\]"
MORE = [
    metric("accuracy", [columns, classes, weights], "a column of labels"),
    metric("accuracy", [classes, columns, weights], "a column of predictions"),
    metric(
        "mean_absolute_error",
        [vectors, vectors, lambda n: RANDOM.weights(n, 1)],
        "a weight for each row",
    ),
    metric("recall_at_k", [several, scores, weights], "two labels", k=2),
    metric("recall_at_k", [several, scores], "two labels, of 3", (), k=2, class_id=3),
    metric("average_precision_at_k", [several, scores, weights], "two labels", k=4),
    metric("mean_iou", [classes, classes], "some classes never", (), num_classes=9),
    refused_batches(
        "a specificity above 1",
        "sensitivity_at_specificity",
        [yes, shares],
        "`specificity` " + UNIT,
        specificity=1.5,
    ),
    refused_batches(
        "a sensitivity below 0",
        "specificity_at_sensitivity",
        [yes, shares],
        "`sensitivity` " + UNIT,
        sensitivity=-0.5,
    ),
    refused_batches(
        "scores above 1", "auc", [yes, above], "predictions must be in", INVALID
    ),
    refused_batches(
        "a number that is no class",
        "mean_iou",
        [classes, classes],
        "`(labels|predictions)` out of bound|assertion failed",
        INVALID,
        num_classes=3,
    ),
]
