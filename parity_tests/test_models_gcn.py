import dataclasses
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from tf1to2.parity import FalseFriend, Program
from v1_graph import models_gcn as v1
from v2_eager import models_gcn as v2

# --- A graph of three communities; each prefers eight of 24 words.

RANDOM = np.random.RandomState(0)
CLASSES = np.arange(60) % 3
ALIKE = CLASSES[:, None] == CLASSES
EDGES = np.triu(RANDOM.uniform(size=[60, 60]) < np.where(ALIKE, 0.2, 0.05), 1)
ADJACENCY = (EDGES | EDGES.T).astype("f")
OWN = CLASSES[:, None] == np.arange(24) // 8
FEATURES = (RANDOM.uniform(size=[60, 24]) < np.where(OWN, 0.25, 0.12)).astype("f")
FEATURES[20] = 0  # a node without words
LABELS = np.eye(3, dtype="f")[CLASSES]
TRAIN, VAL, TEST = (np.arange(60) // 3 // size == 0 for size in (4, 10, 20))
VAL, TEST = VAL & ~TRAIN, TEST & ~VAL & ~TRAIN

SHAPES = {
    "gcn/graphconvolution_1_vars/weights_0": [24, 16],
    "gcn/graphconvolution_2_vars/weights_0": [16, 3],
}
START = models.start(SHAPES, models.ADAM, **models.POWERS, global_step=np.int64(0))
DATA = [FEATURES, ADJACENCY, LABELS, TRAIN, VAL]
MODEL = models.Model(DATA, START, options={"dropout": 0.0})
DROPPED = dataclasses.replace(MODEL, options={"dropout": 0.5})
# Six of the 18 labels of the validation nodes are wrong.
WRONGLY = VAL & (np.arange(60) < 18)
FALSE = np.where(WRONGLY[:, None], np.roll(LABELS, 1, 1), LABELS)
STOPPED = dataclasses.replace(MODEL, data=[FEATURES, ADJACENCY, FALSE, TRAIN, VAL])

# --- Wrong programs that people write instead of the right page.


def train_without_loops(*args, **options):
    """Normalizes A, not A + I: no node sees its own words."""

    def normalized(adj):
        d_inv_sqrt = 1 / np.sqrt(adj.sum(1))
        return v2.to_sparse(adj * d_inv_sqrt[:, np.newaxis] * d_inv_sqrt)

    with mock.patch.object(v2, "preprocess_adj", normalized):
        return v2.train(*args, **options)


def train_with_sample_weight(*args, **options):
    """Averages as Keras does with `sample_weight=mask`: over all nodes."""

    def mean(values, mask):
        return tf.reduce_mean(values * tf.cast(mask, values.dtype))

    with mock.patch.object(v2, "masked_mean", mean):
        return v2.train(*args, **options)


def train_with_keras_l2(*args, **options):
    """Adds `keras.regularizers.L2(5e-4)`, which does not halve the sum of squares."""
    with mock.patch.object(v2, "WEIGHT_DECAY", 2 * v2.WEIGHT_DECAY):
        return v2.train(*args, **options)


WRONG = [
    (
        "no self-loops",
        train_without_loops,
        "without A + I a node does not see its own features",
    ),
    (
        "sample_weight",
        train_with_sample_weight,
        "Keras divides by the number of all nodes, not of those in the mask",
    ),
    (
        "Keras' L2",
        train_with_keras_l2,
        "the regularizer of Keras does not halve the sum of squares",
    ),
]
CASES = [
    *MODEL.cases(evaluate=[*DATA[:3], TEST], export=[*DATA[:2], 3]),
    Program("train", "initial values", [*DATA, 0], exact=True),
    # Then they differ: in TensorFlow 1 a validation without dropout draws, too.
    DROPPED.train(1, "with dropout"),
    STOPPED.train(100, "stops early"),
    *(
        MODEL.train(10, slug, FalseFriend, of="program", naive=naive, because=because)
        for slug, naive, because in WRONG
    ),
]
PROOF = proof(v1, v2, CASES)


class ModelsGcnTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


if __name__ == "__main__":
    unittest.main()
