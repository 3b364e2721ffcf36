import dataclasses
import os
import tempfile
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from tf1to2.parity import FalseFriend, Program
from v1_graph import models_transformer as v1
from v2_eager import models_transformer as v2
from v2_eager.numerics import restore
from v2_eager.summaries import read_folder


def sentences(seed, *shape):
    """Draws sentences of 4 to 10 tokens, and the translation of each token.

    The first token is the topic, 1 or 2. The others are words, from 3 to 10. If the
    topic is 1, the translation of a word is the word, otherwise 13 minus the word.

    Args:
        seed: seed of the draws.
        *shape: leading dimensions, such as the number of batches and of sentences.

    Returns:
        [tokens, translations], int32 arrays [*shape, 10] that are 0 after the end.
    """
    random = np.random.RandomState(seed)
    tokens = random.randint(3, 11, [*shape, 10])
    tokens[..., 0] = random.randint(1, 3, shape)
    swapped = (tokens[..., :1] == 2) & (tokens > 2)
    translations = np.where(swapped, 13 - tokens, tokens)
    inside = np.arange(10) < random.randint(4, 11, [*shape, 1])
    return [(inside * array).astype("i") for array in (tokens, translations)]


BLOCK = {
    **{f"multihead_attention/{n}/kernel": [8, 8] for n in ("dense", "dense_1")},
    "multihead_attention/dense_2/kernel": [8, 8],
    "multihead_attention/ln/beta": [8],
    "multihead_attention/ln/gamma": [8],
    "positionwise_feedforward/conv1d/kernel": [1, 8, 32],
    "positionwise_feedforward/conv1d/bias": [32],
    "positionwise_feedforward/conv1d_1/kernel": [1, 32, 8],
    "positionwise_feedforward/conv1d_1/bias": [8],
    "positionwise_feedforward/ln/beta": [8],
    "positionwise_feedforward/ln/gamma": [8],
}
SHAPES = {
    "dense/kernel": [8, 11],
    "dense/bias": [11],
    "encoder/embedding/lookup_table": [11, 8],
    **{
        f"encoder/num_blocks_{i}/{name}": shape
        for i in (0, 1)
        for name, shape in BLOCK.items()
    },
}
POWERS = {"beta1_power": 0.9, "beta2_power": 0.98}
LATER = {"beta1_power": 0.9**16, "beta2_power": 0.98**16, "global_step": np.int64(15)}
START = models.start(SHAPES, models.ADAM, **POWERS, global_step=np.int64(0))
MIDDLE = models.start(SHAPES, {"Adam": 0.01, "Adam_1": 0.0004}, **LATER)
BATCHES, TEST, RATE = sentences(0, 12, 16), sentences(1, 64), np.float32(0.02)
LAYERS = {"graph": "tf.layers is not available with Keras 3"}
MODEL = models.Model([*BATCHES, RATE], START, LAYERS)
GOES_ON = dataclasses.replace(MODEL, start=MIDDLE)

# --- Wrong programs that people write instead of the right page.


def repeat(tensor, multiples):
    for axis, count in enumerate(multiples):
        tensor = tf.repeat(tensor, count, axis)
    return tensor


def train_with_repeated_masks(*args):
    with mock.patch.object(tf, "tile", repeat):
        return v2.train(*args)


def train_with_epsilon_of_keras(*args):
    with mock.patch.object(v2.LayerNorm, "epsilon", 1e-3):
        return v2.train(*args)


def train_from_rate_zero(*args):
    """Computes the rate from the steps so far, not from the number of this step."""
    noam = v2.noam_scheme
    with mock.patch.object(v2, "noam_scheme", lambda rate, step: noam(rate, step - 1)):
        return v2.train(*args)


def evaluate_with_padding(*args):
    with mock.patch.object(v2, "masked_mean", lambda values, y: tf.reduce_mean(values)):
        return v2.evaluate(*args)


def evaluate_with_halves(*args):
    """Puts the sines before the cosines, as TensorFlow's tutorial does today."""
    table = v2.positional_encoding()
    halves = np.concatenate([table[:, 0::2], table[:, 1::2]], 1)
    with mock.patch.object(v2, "positional_encoding", lambda: halves):
        return v2.evaluate(*args)


WRONG = [
    (
        "tf.repeat of the masks",
        train_with_repeated_masks,
        "split and concat put the first head of all sentences before the second head",
    ),
    (
        "epsilon of Keras",
        train_with_epsilon_of_keras,
        "keras.layers.LayerNormalization adds 0.001 to the variance",
    ),
    (
        "a rate of 0 in the first step",
        train_from_rate_zero,
        "the iterations of an optimizer are 0 in the first step",
    ),
]
CASES = [
    *MODEL.cases(evaluate=TEST, export=[TEST[0][:5]]),
    Program("train", "initialized", [*BATCHES, RATE, 10], skip=LAYERS),
    GOES_ON.train(10, "from step 15, over the end of the warm-up"),
    *(
        MODEL.train(10, slug, FalseFriend, of="program", naive=naive, because=because)
        for slug, naive, because in WRONG
    ),
    *(
        MODEL.case(
            "evaluate",
            slug,
            [*TEST, START],
            FalseFriend,
            of="program",
            naive=naive,
            because=because,
        )
        for slug, naive, because in [
            (
                "means with the padding",
                evaluate_with_padding,
                "the padding has no target, and the program leaves it out of its means",
            ),
            (
                "sines before cosines",
                evaluate_with_halves,
                "sines and cosines alternate, and the checkpoint does not contain them",
            ),
        ]
    ),
]
PROOF = proof(v1, v2, CASES)


class ModelsTransformerTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class UseTest(unittest.TestCase):
    """Runs the steps that follow a port."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "start.ckpt")
        restore.save(self.path, START)

    def test_the_trained_encoder_uses_the_topic(self):
        v2.train(*BATCHES, RATE, 200, self.path, self.folder)
        found = v2.evaluate(*TEST, os.path.join(self.folder, "model.ckpt"))
        # Without the topic, half of the words and all topics: about 0.58.
        self.assertGreater(found["acc"], 0.95)

    def test_training_in_two_runs_goes_on_with_the_rate_and_the_slots(self):
        with mock.patch.object(v2, "DROPOUT_RATE", 0.0):
            once = v2.train(*BATCHES, RATE, 6, self.path)
            first = v2.train(*BATCHES, RATE, 3, self.path, self.folder)
            path = os.path.join(self.folder, "model.ckpt")
            second = v2.train(*BATCHES, RATE, 3, path)
        losses = np.concatenate([first["losses"], second["losses"]])
        np.testing.assert_array_equal(losses, once["losses"])
        for name, value in once["variables"].items():
            np.testing.assert_array_equal(second["variables"][name], value, name)

    def test_a_dense_layer_does_not_take_the_kernel_of_conv1d(self):
        name = "encoder/num_blocks_0/positionwise_feedforward/conv1d/kernel"
        kernel = tf.Variable(tf.zeros([8, 32]))
        with self.assertRaisesRegex(ValueError, r"shape \(1, 8, 32\) in the checkp"):
            restore.by_name(self.path, {name: kernel})

    def test_the_summaries_are_the_losses_and_the_rates(self):
        losses = v2.train(*BATCHES, RATE, 3, self.path, self.folder)["losses"]
        events = {"mean_loss": [], "lr": []}
        for event in read_folder(self.folder):
            events[event["tag"]].append(event["tensor"])
        np.testing.assert_array_equal(events["mean_loss"], losses)
        # The rate rises by 1/20 of 0.02 in each step.
        steps = np.round(np.array(events["lr"]) / 0.02 * 20, 4)
        self.assertEqual(steps.tolist(), [1, 2, 3])
