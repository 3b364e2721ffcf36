import functools
import unittest
from unittest import mock

import numpy as np
from parameterized import parameterized

from parity_tests import models, proof
from tf1to2.parity import FalseFriend
from v1_graph import models_dcgan as v1
from v2_eager import models_dcgan as v2

CONTRIB = {"graph": "tf.contrib is not available"}
BATCH, SIZE = 16, 8


def blobs(count, seed=0):
    """Draws [count, 8, 8, 1] images in [-1, 1] of a bright spot at a random place."""
    random = np.random.RandomState(seed)
    y, x = np.mgrid[:8, :8]
    cy, cx = random.uniform(2, 5, [2, count, 1, 1])
    image = 2 * np.exp(-((y - cy) ** 2 + (x - cx) ** 2) / 4) - 1
    return image[..., None].astype("f")


def noise(*shape, seed=1):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype("f")


IMAGES, Z = blobs(4 * BATCH), noise(100, BATCH, SIZE)
OTHERS = blobs(BATCH, seed=2), noise(BATCH, SIZE, seed=3)
NORMS = {"generator/g_bn0": 8, "generator/g_bn1": 4, "discriminator/d_bn1": 8}
SHAPES = {
    "generator/g_h0_lin/Matrix": [SIZE, 32],
    "generator/g_h1/w": [5, 5, 4, 8],
    "generator/g_h2/w": [5, 5, 1, 4],
    "generator/g_h2/biases": [1],
    "discriminator/d_h0_conv/w": [5, 5, 1, 4],
    "discriminator/d_h0_conv/biases": [4],
    "discriminator/d_h1_conv/w": [5, 5, 4, 8],
    "discriminator/d_h2_lin/Matrix": [32, 1],
    "discriminator/d_h2_lin/bias": [1],
    **{
        f"{path}/{part}": [channels]
        for path, channels in NORMS.items()
        for part in ("beta", "gamma", "moving_mean", "moving_variance")
    },
}
POWERS = {
    "beta1_power": 0.5,
    "beta2_power": 0.999,
    "beta1_power_1": 0.5,
    "beta2_power_1": 0.999,
}
START = models.start(SHAPES, models.ADAM, **POWERS)
MODEL = models.Model([IMAGES, Z], START, CONTRIB, {"learning_rate": 0.001})

# --- Wrong programs that people write instead of the right page.


class Together(v2.Trainer):
    """Steps as TensorFlow 2's tutorial does: both gradients, then one step of each."""

    def d_step(self, images, z):
        pairs = self.g_optim.compute_gradients(
            lambda: v2.g_loss(self.discriminator, self.generator(z, training=True)),
            self.g_vars,
        )
        loss = super().d_step(images, z)
        self.g_optim.apply_gradients(pairs)
        return loss

    def g_step(self, z):
        return v2.g_loss(self.discriminator, self.generator(z, training=True))


def fakes_first(discriminator, images, fakes):
    fake, real = discriminator(fakes), discriminator(images)
    loss = v2.cross_entropy(real, v2.tf.ones_like(real))
    return loss + v2.cross_entropy(fake, v2.tf.zeros_like(fake))


def by_defaults(name, channels, dtype):
    norm = v2.ContribBatchNorm(scale=True, fused=False, name=name)
    norm.build(channels, v2.tf.as_dtype(dtype))
    return norm


def instead(name, replacement):
    """Returns `train` of the right page with another class or function in it."""

    @functools.wraps(v2.train)
    def train(*args, **options):
        with mock.patch.object(v2, name, replacement):
            return v2.train(*args, **options)

    return train


def naive(slug, name, replacement, because):
    options = {"of": "program", "naive": instead(name, replacement)}
    return MODEL.train(3, slug, FalseFriend, because=because, **options)


CASES = [
    *MODEL.cases(evaluate=OTHERS, export=[OTHERS[1]]),
    naive(
        "both steps at once",
        "Trainer",
        Together,
        "the gradient of the generator is that of the discriminator before its step",
    ),
    naive(
        "the fake images first",
        "d_loss",
        fakes_first,
        "the last call counts most in the moving averages",
    ),
    naive(
        "the defaults of the batch norm",
        "batch_norm",
        by_defaults,
        "the decay is 0.999 and not 0.9, epsilon is 0.001 and not 0.00001",
    ),
]
PROOF = proof(v1, v2, CASES)


class DCGANTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()
