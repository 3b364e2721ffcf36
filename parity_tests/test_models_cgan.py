import functools
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from tf1to2.parity import FalseFriend, Program
from v1_graph import models_cgan as v1
from v2_eager import models_cgan as v2
from v2_eager.numerics import optimizers

LAYERS = {"graph": "tf.layers is not available with Keras 3"}
BATCH, SIZE, PIXELS = 16, 6, 36


def shapes_of(seed, *shape):
    """Draws noisy images, 6 by 6, of a row, a column or a square at a random place.

    Args:
        seed: seed of the draws.
        *shape: leading dimensions, such as the number of batches and of images in each.

    Returns:
        [images, labels]: a [*shape, 36] float32 array of numbers in [0, 1], and a
        [*shape] int32 array of the classes 0, 1 and 2.
    """
    random = np.random.RandomState(seed)
    labels = random.randint(0, 3, shape)
    row, column = random.randint(0, 5, [2, *shape, 1, 1])
    y, x = np.mgrid[:6, :6]
    near = [(at <= here) & (here < at + 2) for at, here in ((row, y), (column, x))]
    kind = labels[..., None, None]
    pixels = np.where(
        kind == 0, near[0], np.where(kind == 1, near[1], near[0] & near[1])
    )
    images = np.clip(0.9 * pixels + random.uniform(0, 0.1, pixels.shape), 0, 1)
    return [images.reshape([*shape, PIXELS]).astype("f"), labels.astype("i")]


def uniform(seed, low, *shape):
    return np.random.RandomState(seed).uniform(low, 1, shape).astype("f")


SHAPES = {
    "generator/dense/kernel": [SIZE + 3, 16],
    "generator/dense/bias": [16],
    "generator/dense_1/kernel": [16, PIXELS],
    "generator/dense_1/bias": [PIXELS],
    "discriminator/dense/kernel": [PIXELS + 3, 16],
    "discriminator/dense/bias": [16],
    "discriminator/dense_1/kernel": [16, 16],
    "discriminator/dense_1/bias": [16],
    "discriminator/dense_2/kernel": [16, 1],
    "discriminator/dense_2/bias": [1],
}
POWERS = {
    "beta1_power": 0.5,
    "beta2_power": 0.9,
    "beta1_power_1": 0.5,
    "beta2_power_1": 0.9,
}
DATA = [
    *shapes_of(0, 8, BATCH),
    uniform(1, -1, 100, v2.CRITIC_ITERS + 1, BATCH, SIZE),
    uniform(2, 0, 100, v2.CRITIC_ITERS, BATCH, 1),
]
TEST = [*shapes_of(3, 64), uniform(4, -1, 64, SIZE)]
START = models.start(SHAPES, models.ADAM, **POWERS, global_step=np.int64(0))
LATER = {**START, "global_step": np.int64(45)}
# Scores without a slope: the derivative of the root at 0 is infinite.
FLAT = {**START, "discriminator/dense_2/kernel": np.zeros([16, 1], "f")}
RATE = {"rate": 0.002}
MODEL = models.Model(DATA, START, LAYERS, RATE)

# --- Wrong programs that people write instead of the right page.


def of_the_batch(critic, images, fakes, labels, alpha):
    """Takes one norm of all gradients of the batch: `tf.norm` without an axis."""
    interpolates = images + alpha * (fakes - images)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(interpolates)
        scores = critic(interpolates, labels)
    return (tf.norm(tape.gradient(scores, interpolates)) - 1.0) ** 2


def outside(trainer, images, labels, z, alpha):
    """Computes the penalty before the tape of the critic's loss begins."""
    fakes, critic = trainer.generator(z, labels), trainer.critic
    penalty = v2.gradient_penalty(critic, images, fakes, labels, alpha)
    with tf.GradientTape() as tape:
        distance, _ = v2.wasserstein(critic, images, fakes, labels)
        loss = v2.LAMBDA * penalty - distance
    gradients = tape.gradient(loss, trainer.d_vars)
    trainer.d_solver.apply_gradients(zip(gradients, trainer.d_vars))
    return loss, penalty


def of_labels_too(critic, images, fakes, labels, alpha):
    """Takes the slopes for the whole input of the critic: pixels and labels."""
    interpolates = images + alpha * (fakes - images)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        inputs = v2.conditioned(interpolates, labels)
        tape.watch(inputs)
        with mock.patch.object(v2, "conditioned", lambda x, _: x):
            scores = critic(inputs, labels)
    slopes = tf.norm(tape.gradient(scores, inputs), axis=1)
    return tf.reduce_mean((slopes - 1.0) ** 2)


def both_networks(trainer, images, labels, z, alpha):
    """Gives the critic's step the variables of the generator, too."""
    critic, variables = trainer.critic, [*trainer.d_vars, *trainer.g_vars]
    with tf.GradientTape() as tape:
        fakes = trainer.generator(z, labels)
        penalty = v2.gradient_penalty(critic, images, fakes, labels, alpha)
        distance, _ = v2.wasserstein(critic, images, fakes, labels)
        loss = v2.LAMBDA * penalty - distance
    pairs = list(zip(tape.gradient(loss, variables), variables))
    trainer.d_solver.apply_gradients(pairs[: len(trainer.d_vars)])
    trainer.g_solver.apply_gradients(pairs[len(trainer.d_vars) :])
    return loss, penalty


def train_with(owner, name, replacement):
    """Returns a `train` in which an attribute of a module or a class is replaced."""

    @functools.wraps(v2.train)
    def train(*args, **options):
        with mock.patch.object(owner, name, replacement):
            return v2.train(*args, **options)

    return train


WRONG = [
    (
        "the norm of the batch",
        train_with(v2, "gradient_penalty", of_the_batch),
        "without an axis tf.norm gives one number, and not a slope for each example",
    ),
    (
        "the slopes for the labels, too",
        train_with(v2, "gradient_penalty", of_labels_too),
        "the slopes of the old program were those for the pixels alone",
    ),
    (
        "the penalty before the tape",
        train_with(v2.Trainer, "d_step", tf.function(outside)),
        "the tape does not record it, so that it is a constant without a gradient",
    ),
    (
        "the variables of both networks",
        train_with(v2.Trainer, "d_step", tf.function(both_networks)),
        "the critic's loss trains the generator, too, and against itself",
    ),
    (
        "Keras' epsilon",
        train_with(
            optimizers, "Adam", functools.partial(optimizers.Adam, epsilon=1e-7)
        ),
        "Adam's epsilon is 1e-8 in TensorFlow 1, and 1e-7 in Keras",
    ),
]
CASES = [
    *MODEL.cases(evaluate=TEST, export=[TEST[2], TEST[1], PIXELS]),
    Program("train", "initial values", [*DATA, 0], exact=True, skip=LAYERS),
    models.Model(DATA, LATER, LAYERS, RATE).train(5, "from step 45"),
    models.Model(DATA, FLAT, LAYERS, RATE).train(2, "without slopes: nan"),
    models.Model(DATA, START, LAYERS).train(10, "the paper's rate"),
    *(
        MODEL.train(5, slug, FalseFriend, of="program", naive=naive, because=because)
        for slug, naive, because in WRONG
    ),
]
PROOF = proof(v1, v2, CASES)


class ModelsCganTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()
