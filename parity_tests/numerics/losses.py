"""Losses of 64 rows of 16 numbers, weighted, with all reductions."""

import numpy as np

from parity_tests.numerics import NARROW, Inputs
from tf1to2.parity import Op, Raises
from v2_eager.numerics.losses import Reduction

RANDOM = Inputs("losses")
LABELS, OUTPUTS = RANDOM.normal(64, 16), RANDOM.normal(64, 16)
YES, SHARES = RANDOM.integers(2, 64, 16).astype("f"), RANDOM.uniform(64, 16)
ONE_HOT = np.eye(16, dtype="f")[RANDOM.integers(16, 64)]
CLASSES = RANDOM.integers(16, 64)
WEIGHTS = RANDOM.weights(64, 1)
ROW_WEIGHTS = WEIGHTS[:, 0]


def loss(kind, labels, predictions, weights=WEIGHTS, slug="weighted", **options):
    args, kwargs = [labels, predictions, weights], {"kind": kind, "options": options}
    return Op("loss", f"{kind}, {slug}", args, kwargs, float32=True, skip=NARROW)


def halves(kind, labels, predictions, weights=WEIGHTS, **options):
    predictions = predictions.astype("f2")
    return loss(kind, labels, predictions, weights, "float16", **options)


def both(kind, *args, **options):
    return [loss(kind, *args, **options), halves(kind, *args, **options)]


DESCRIPTORS = {
    "Reduction": [
        loss("mean_squared_error", LABELS, OUTPUTS, slug=each, reduction=each)
        for each in Reduction.ALL
    ],
    "compute_weighted_loss": "losses.compute_weighted_loss",
    "absolute_difference": both("absolute_difference", LABELS, OUTPUTS),
    "mean_squared_error": both("mean_squared_error", LABELS, OUTPUTS),
    "huber_loss": [
        *both("huber_loss", LABELS, OUTPUTS),
        loss("huber_loss", LABELS, OUTPUTS, slug="a small delta", delta=0.5),
    ],
    "mean_pairwise_squared_error": both("mean_pairwise_squared_error", LABELS, OUTPUTS),
    "cosine_distance": both("cosine_distance", LABELS, OUTPUTS, axis=1),
    "hinge_loss": both("hinge_loss", YES, OUTPUTS),
    "log_loss": [
        *both("log_loss", YES, SHARES),
        loss("log_loss", YES, SHARES, slug="a large epsilon", epsilon=0.01),
    ],
    "sigmoid_cross_entropy": [
        *both("sigmoid_cross_entropy", YES, OUTPUTS),
        loss(
            "sigmoid_cross_entropy",
            YES,
            OUTPUTS,
            slug="smoothed",
            label_smoothing=0.1,
        ),
    ],
    "softmax_cross_entropy": [
        *both("softmax_cross_entropy", ONE_HOT, OUTPUTS, ROW_WEIGHTS),
        loss(
            "softmax_cross_entropy",
            ONE_HOT,
            OUTPUTS,
            ROW_WEIGHTS,
            "smoothed",
            label_smoothing=0.1,
        ),
    ],
    "sparse_softmax_cross_entropy": both(
        "sparse_softmax_cross_entropy", CLASSES, OUTPUTS, ROW_WEIGHTS
    ),
}
MORE = [
    loss(
        "sparse_softmax_cross_entropy",
        CLASSES[:, None],
        OUTPUTS,
        WEIGHTS,
        "columns of labels and weights",
    ),
    loss("huber_loss", LABELS, OUTPUTS, np.float32(0.3), "one weight for all"),
    loss("mean_squared_error", LABELS, OUTPUTS, np.float32(0), "no weight at all"),
    loss(
        "absolute_difference",
        RANDOM.normal(16, 4, 3),
        RANDOM.normal(16, 4, 3),
        RANDOM.weights(16, 1, 3),
        "three dimensions",
    ),
    loss(
        "cosine_distance",
        RANDOM.normal(16, 4, 3),
        RANDOM.normal(16, 4, 3),
        RANDOM.weights(16, 1, 3),
        "along the middle",
        axis=1,
    ),
    Raises.alike(
        "loss",
        "no such reduction",
        [LABELS, OUTPUTS, WEIGHTS],
        ValueError,
        "Invalid Reduction Key",
        kwargs={"kind": "huber_loss", "options": {"reduction": "mean"}},
    ),
    Raises.alike(
        "loss",
        "weights of another rank",
        [LABELS, OUTPUTS, ROW_WEIGHTS],
        ValueError,
        "weights can not be broadcast to values",
        kwargs={"kind": "absolute_difference", "options": {}},
    ),
]
