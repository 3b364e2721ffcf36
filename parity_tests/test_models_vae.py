import dataclasses
import os
import tempfile
import unittest
from unittest import mock

import keras
import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from tf1to2.parity import FalseFriend, Naive, Program
from v1_graph import models_vae as v1
from v2_eager import models_vae as v2
from v2_eager.numerics import restore
from v2_keras import models_vae as v3

# --- Squares of 4x4 pixels in images of 10x10; 2 % of the pixels are flipped.

RANDOM = np.random.RandomState(0)
PLACES = RANDOM.randint(0, 6, [96, 2, 1])
INSIDE = (np.arange(10) >= PLACES) & (np.arange(10) < PLACES + 4)
SQUARES = INSIDE[:, 0, :, None] & INSIDE[:, 1, None, :]
FLIPPED = RANDOM.uniform(size=SQUARES.shape) < 0.02
IMAGES = (SQUARES ^ FLIPPED).reshape(96, 100).astype("f")
Z = RANDOM.normal(size=[6, 2]).astype("f")

# --- Checkpoints: of a program that has just begun, and of one that is at step 10.

SHAPES = {
    f"{scope}/{part}": shape if part == "kernel" else shape[1:]
    for scope, shape in {
        "encoder/h1": [100, 10],
        "encoder/h2": [10, 10],
        "encoder/z_mean": [10, 2],
        "encoder/z_log_sigma_sq": [10, 2],
        "decoder/h1": [2, 10],
        "decoder/h2": [10, 10],
        "decoder/logits": [10, 100],
    }.items()
    for part in ("kernel", "bias")
}
START = models.start(SHAPES, models.ADAM, **models.POWERS, global_step=np.int64(0))
POWERS = {"beta1_power": 0.9**11, "beta2_power": 0.999**11}
LATER = models.start(
    SHAPES, {"Adam": 0.01, "Adam_1": 0.0004}, **POWERS, global_step=np.int64(10)
)
MODEL = models.Model([IMAGES], START)
GOES_ON = dataclasses.replace(MODEL, start=LATER)

# --- Wrong programs that people write instead of the right page.


def with_means_of_pixels(images, steps, checkpoint):
    """Writes `binary_crossentropy`, which is a mean over the pixels."""

    class MeansOfPixels(v2.Autoencoder):
        def __call__(self, x):
            reconstruction, kl_divergence = super().__call__(x)
            return reconstruction / v2.N_PIXELS, kl_divergence

    with mock.patch.object(v2, "Autoencoder", MeansOfPixels):
        return v2.train(images, steps, checkpoint)


def with_new_slots(images, steps, checkpoint):
    """Restores the weights and the global step, but nothing of Adam."""
    trainer = v2.Trainer(images.dtype)
    kept = restore.named(trainer.model, trainer.global_step)
    restore.by_name(checkpoint, kept)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.ckpt")
        restore.save(path, restore.named(trainer))
        return v2.train(images, steps, path)


def serving_logits(z, checkpoint, folder):
    """Exports the decoder without the sigmoid, which was in the loss."""
    decoder = v2.Decoder(z.dtype)
    restore.by_name(checkpoint, restore.named(decoder))
    return {"images": decoder(z).numpy()}


CASES = [
    *MODEL.cases(evaluate=[IMAGES, Z], export=[Z]),
    Program("train", "initialized", [IMAGES, 10]),
    GOES_ON.train(10, "goes on from step 10"),
    MODEL.train(
        10,
        "a mean over the pixels",
        FalseFriend,
        of="program",
        naive=with_means_of_pixels,
        because="the KL divergence then weighs 100 times as much",
    ),
    GOES_ON.train(
        10,
        "the weights alone",
        FalseFriend,
        of="program",
        naive=with_new_slots,
        because="Adam begins with slots of zero and with the powers of step 0",
    ),
    MODEL.case(
        "export",
        "the logits",
        [Z, START, "folder"],
        FalseFriend,
        of="program",
        naive=serving_logits,
        because="the loss takes logits, so the decoder does not end in a sigmoid",
    ),
]


def noise_of_keras(dtype):
    """Draws the noise as an example of Keras does."""
    seed = keras.random.SeedGenerator(7)
    return lambda count: keras.random.normal([count, v3.N_Z], dtype=dtype, seed=seed)


def train_without_loss_weights(*args):
    compiled = keras.Model.compile

    def compile(model, *given, loss_weights):
        compiled(model, *given)

    with mock.patch.object(keras.Model, "compile", compile):
        return v3.train(*args)


NAIVE = [
    Naive(
        "train, steps: 10",
        "a mean over the pixels",
        train_without_loss_weights,
        because="the KL divergence then weighs 100 times as much",
    ),
    Naive(
        "train, steps: 10",
        "the noise of Keras",
        mock.patch.object(v3, "noise_source", noise_of_keras)(v3.train),
        because="from the same seed it draws other numbers",
    ),
    Naive(
        "train, steps: 10",
        "Adam by default",
        mock.patch.object(v3.optimizers, "adam", keras.optimizers.Adam)(v3.train),
        because="the epsilon is 1e-7, not 1e-8",
    ),
]
PROOF = proof(v1, v2, CASES, NAIVE)


class ModelsVaeTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class CollapseTest(unittest.TestCase):
    def test_a_mean_over_the_pixels_makes_z_useless(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.ckpt")
            restore.save(path, START)
            sums = v2.train(IMAGES, 100, path)
            means = with_means_of_pixels(IMAGES, 100, path)
        self.assertGreater(sums["kl_divergences"][-1], 0.5)
        self.assertLess(means["kl_divergences"][-1], 0.05)


class NoiseTest(unittest.TestCase):
    def test_a_trace_for_each_size_begins_the_noise_again(self):
        tf.random.set_seed(7)
        model, few, many = v2.Autoencoder("float32"), IMAGES[:8], IMAGES[:16]
        losses, fresh = tf.function(model), tf.function(model)
        losses(tf.constant(many))
        again, first = losses(tf.constant(few)), fresh(tf.constant(few))
        self.assertEqual(again[0], first[0])

    def test_a_step_has_one_trace_for_all_sizes(self):
        trainer = v2.Trainer("float32")
        for size in (16, 8, 1):
            trainer.step(tf.constant(IMAGES[:size]))
        self.assertEqual(trainer.step.experimental_get_tracing_count(), 1)

    def test_a_run_that_goes_on_begins_the_noise_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "start.ckpt")
            restore.save(path, START)
            whole = v2.train(IMAGES, 20, path)["losses"]
            v2.train(IMAGES, 10, path, folder)
            rest = v2.train(IMAGES, 10, os.path.join(folder, "model.ckpt"))["losses"]
        self.assertFalse((rest == whole[10:]).any())


class LogitsTest(unittest.TestCase):
    @parameterized.expand([("15", 15.0, False), ("17", 17.0, True)])
    def test_a_logarithm_of_a_saturated_probability(self, _, logit, is_nan):
        """Writes the cross entropy as many of these programs did."""
        y, x = tf.sigmoid(tf.constant(logit)), 1.0
        loss = -(x * tf.math.log(1e-8 + y) + (1 - x) * tf.math.log(1e-8 + 1 - y))
        self.assertEqual(np.isnan(loss), is_nan)
        loss = tf.nn.sigmoid_cross_entropy_with_logits(x, tf.constant(logit))
        self.assertGreater(loss, 4e-8)


class KerasTest(unittest.TestCase):
    def test_each_page_goes_on_from_the_checkpoint_of_the_other(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.ckpt")
            for first, then in ((v2, v3), (v3, v2)):
                first.train(IMAGES, 4, None, folder)
                own, found = (p.train(IMAGES, 3, path) for p in (first, then))
                for answer in (own, found):
                    answer |= answer.pop("variables")
                models.assert_near(found, own, 1e-4)

    def test_a_resumed_run_takes_the_next_batch(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.ckpt")
            v3.train(IMAGES, 3, None, folder)
            with mock.patch.object(v3, "batch_of", wraps=v3.batch_of) as batch:
                found = v3.train(IMAGES, 2, path)["variables"]
        for call, first in zip(batch.mock_calls, (48, 64), strict=True):
            np.testing.assert_array_equal(call.args[0], IMAGES[first : first + 16])
        self.assertEqual(found["global_step"], 5)

    def test_a_batch_of_another_size_goes_on_with_the_noise(self):
        noise = v3.noise_source("float32")
        few = [noise(count).numpy() for count in (8, 4, 1)]
        again = v3.noise_source("float32")
        first, second = again(8).numpy(), again(8).numpy()
        np.testing.assert_array_equal(few[0], first)
        np.testing.assert_array_equal(few[1], second[:4])
        self.assertEqual(noise.experimental_get_tracing_count(), 1)

    def test_a_step_of_float64_is_in_float64(self):
        given = IMAGES.astype("d"), 1
        left, right = (page.train(*given)["variables"] for page in (v2, v3))
        models.assert_near(right, left, 1e-7)

    def test_the_weights_alone_serve_but_do_not_train(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "weights.ckpt")
            restore.save(path, {name: START[name] for name in SHAPES})
            self.assertIn("samples", v3.evaluate(IMAGES, Z, path))
            with self.assertRaisesRegex(tf.errors.NotFoundError, "Adam|global"):
                v3.train(IMAGES, 1, path)
            decoder = {n: START[n] for n in SHAPES if n.startswith("decoder/")}
            restore.save(path, decoder)
            served = os.path.join(folder, "served")
            self.assertEqual(v3.export(Z, path, served)["images"].shape, (6, 100))

    def test_training_lowers_the_loss_and_uses_z(self):
        found = v3.train(IMAGES, 100)
        losses = found["losses"]
        self.assertLess(losses[-10:].mean(), 0.7 * losses[:10].mean())
        self.assertGreater(found["kl_divergences"][-1], 0.5)


if __name__ == "__main__":
    unittest.main()
