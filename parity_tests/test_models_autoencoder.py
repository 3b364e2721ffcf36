import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from tf1to2.parity import FalseFriend, Program
from v1_graph import models_autoencoder as v1
from v2_eager import models_autoencoder as v2
from v2_eager.numerics import optimizers


def images(seed, *shape):
    """Draws images of 64 pixels that three numbers determine, but for noise."""
    random = np.random.RandomState(seed)
    patterns = np.random.RandomState(5).normal(size=[3, 64])
    drawn = np.tanh(random.normal(size=[*shape, 3])) @ patterns
    return (drawn + random.normal(0, 0.1, [*shape, 64])).astype("f")


SHAPES = {
    "encoder1/weights": [64, 16],
    "encoder1/biases": [16],
    "encoder2/weights": [16, 4],
    "encoder2/biases": [4],
    "decoder2/biases": [16],
    "decoder1/biases": [64],
}


def start(step, mean=0.0, square=0.0):
    """Values of a checkpoint: two Adams for each variable, and all moving averages."""
    slots = {"Adam": mean, "Adam_1": square, "Adam_2": mean, "Adam_3": square}
    powers = {
        f"{scope}/{name}": value
        for scope in ("phase1", "phase2", "fine_tuning")
        for name, value in models.POWERS.items()
    }
    return models.start(SHAPES, slots, global_step=np.int64(step), **powers)


DATA, TEST = [images(0, 6, 32)], [images(1, 32)]
START = start(0)
MODEL = models.Model(DATA, START)
# The steps 15 to 24 belong to both phases of the pretraining.
MIDDLE = models.Model(DATA, start(15, mean=0.01, square=0.001))

# --- Wrong programs that people write instead of the right page.


class Untied(v2.TiedLayer):
    """Transposes the weights when it is made."""

    def __init__(self, *args):
        super().__init__(*args)
        self.transposed = tf.transpose(self.weights)

    def decode(self, codings):
        return tf.matmul(codings, self.transposed) + self.decoder_biases


def transpose_once(*args):
    with mock.patch.object(v2, "TiedLayer", Untied):
        return v2.train(*args)


def train_all(images, steps, checkpoint):
    """Finds the losses if both phases of the pretraining train all variables."""
    net = v2.restored(images.shape[-1], images.dtype, checkpoint)
    adam, losses = optimizers.Adam(0.01), []
    for step in range(steps):
        loss = net.loss1 if step < v2.PHASE else net.loss2
        batch = tf.constant(images[step % len(images)])
        trained = net.trainable_variables
        losses.append(adam.minimize(lambda x=batch, f=loss: f(x), trained).numpy())
    return {**v2.train(images, steps, checkpoint), "losses": np.array(losses)}


WRONG = [
    (
        "transposed once",
        10,
        transpose_once,
        "a tensor keeps the weights with which the layer was made",
    ),
    (
        "without var_list",
        30,
        train_all,
        "the second phase changes the outer layer, whose codings it reconstructs",
    ),
]
CASES = [
    *MODEL.cases(evaluate=TEST, export=TEST),
    Program("train", "initial values", [*DATA, 0], exact=True),
    MIDDLE.train(10, "from step 15, from one phase to the next"),
    *(
        MODEL.train(
            steps, slug, FalseFriend, of="program", naive=naive, because=because
        )
        for slug, steps, naive, because in WRONG
    ),
]
PROOF = proof(v1, v2, CASES)


class ModelsAutoencoderTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()
