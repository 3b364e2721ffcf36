import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from tf1to2.parity import FalseFriend, Program
from v1_graph import models_deepfm as v1
from v2_eager import models_deepfm as v2

# --- Clicks: four fields, of which the last one has a number; pairs of features matter.

RNG = np.random.RandomState(0)
FIRST, HIDDEN = RNG.normal(0, 0.4, 23), RNG.normal(0, 0.9, [23, 2])


def impressions(*shape):
    """Draws ids and values of features, and clicks."""
    fields = [(0, 8), (8, 16), (16, 22), (22, 23)]
    ids = np.stack([RNG.randint(*field, size=shape) for field in fields], -1)
    values = np.ones([*shape, 4])
    values[..., 3] = RNG.normal(size=shape)
    vectors = HIDDEN[ids] * values[..., np.newaxis]
    pairs = (vectors.sum(-2) ** 2).sum(-1) - (vectors**2).sum(-1).sum(-1)
    logits = (FIRST[ids] * values).sum(-1) + pairs
    clicks = RNG.uniform(size=shape) < 1 / (1 + np.exp(-logits))
    return [ids.astype("i4"), values.astype("f"), clicks.astype("f")]


DATA, TEST = impressions(20, 32), impressions(5, 32)
SHAPES = {
    "fm/bias": [1],
    "fm/w": [23],
    "fm/v": [23, 4],
    "deep/layer0/weights": [16, 16],
    "deep/layer0/biases": [16],
    "deep/layer1/weights": [16, 8],
    "deep/layer1/biases": [8],
    "deep/out/weights": [8, 1],
    "deep/out/biases": [1],
}
START = models.start(SHAPES, models.ADAM, **models.POWERS, global_step=np.int64(0))
POWERS = {"beta1_power": 0.9**6, "beta2_power": 0.999**6}
LATER = models.start(
    SHAPES, {"Adam": 0.01, "Adam_1": 0.001}, **POWERS, global_step=np.int64(5)
)
MODEL, GOES_ON = models.Model(DATA, START), models.Model(DATA, LATER)

# --- Wrong programs that people write instead of the right page.


def penalize_by_keras(*args):
    """Penalizes by `keras.regularizers.L2`, which does not halve the squares."""
    penalty = v2.DeepFM.penalty
    with mock.patch.object(v2.DeepFM, "penalty", lambda net: 2 * penalty(net)):
        return v2.train(*args)


def average_aucs(*args):
    """Averages the AUCs of the batches."""
    *data, checkpoint = args
    found, aucs = v2.evaluate(*args), []
    for i in range(len(data[0])):
        batch = [array[i : i + 1] for array in data]
        aucs.append(v2.evaluate(*batch, checkpoint)["auc"])
    return {**found, "auc": np.mean(aucs)}


CASES = [
    *MODEL.cases(evaluate=TEST, export=[TEST[0][0], TEST[1][0]]),
    Program("train", "initial values", [*DATA, 0], exact=True),
    GOES_ON.train(10, "goes on from step 5"),
    MODEL.train(
        10,
        "keras.regularizers.L2",
        FalseFriend,
        of="program",
        naive=penalize_by_keras,
        because="tf.nn.l2_loss is half the sum of the squares",
    ),
    MODEL.case(
        "evaluate",
        "a mean of AUCs",
        [*TEST, START],
        FalseFriend,
        of="program",
        naive=average_aucs,
        because="the AUC of all batches also compares clicks of different batches",
    ),
]
PROOF = proof(v1, v2, CASES)


class ModelsDeepfmTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class NoiseTest(unittest.TestCase):
    def test_a_step_has_one_trace_for_all_sizes(self):
        trainer = v2.Trainer("float32")
        for size in (32, 16, 7):
            trainer.step(*(tf.constant(array[0][:size]) for array in DATA))
        self.assertEqual(trainer.step.experimental_get_tracing_count(), 1)
