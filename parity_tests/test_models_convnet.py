import os
import tempfile
import unittest
from unittest import mock

import keras
import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from tf1to2.parity import FalseFriend, Naive
from v1_graph import models_convnet as v1
from v2_eager import models_convnet as v2
from v2_eager.numerics import restore
from v2_eager.summaries import read_folder
from v2_keras import models_convnet as v3

LAYERS = {"graph": "tf.layers is not available with Keras 3"}


def digits(seed, n):
    """Draws noisy images of ten patterns, [n, 28, 28, 1] floats, and their classes."""
    random = np.random.RandomState(seed)
    coarse = np.random.RandomState(0).uniform(size=[10, 7, 7]) < 0.25
    labels = random.randint(0, 10, n)
    images = np.kron(coarse, np.ones([4, 4]))[labels]
    images = images * random.uniform(0.5, 1, [n, 1, 1])
    images = np.clip(images + random.normal(0, 0.4, images.shape), 0, 1)
    return images[..., np.newaxis].astype("f"), labels.astype("i8")


IMAGES, LABELS = digits(1, 160)
TEST_IMAGES, TEST_LABELS = digits(2, 67)
NORM = {"gamma", "beta", "moving_mean", "moving_variance"}
SHAPES = {
    "conv1/conv2d/kernel": [5, 5, 1, 4],
    **{f"conv1/batch_normalization/{name}": [4] for name in sorted(NORM)},
    "conv2/conv2d/kernel": [5, 5, 4, 8],
    **{f"conv2/batch_normalization/{name}": [8] for name in sorted(NORM)},
    "logits/kernel": [128, 10],
    "logits/bias": [10],
}
START = models.start(SHAPES, models.ADAM, **models.POWERS, global_step=np.int64(0))
MODEL = models.Model([IMAGES, LABELS], START, skip=LAYERS)

# --- Wrong programs that people write instead of the right page.


def train_with_keep_prob(*args):
    """Passes the old number, keep_prob, as the second argument of today's dropout."""
    with mock.patch.object(v2, "DROPOUT_RATE", v1.KEEP_PROB):
        return v2.train(*args)


class WithoutUpdates(v2.BatchNorm):
    """A batch norm whose updates are never run."""

    def __init__(self, **options):
        super().__init__(**options, update=False)


class WithoutFusedKernel(v2.BatchNorm):
    """A batch norm that computes op by op, as Keras' layer does."""

    def __init__(self, **options):
        super().__init__(**{**options, "fused": False})


def train_without_updates(*args):
    with mock.patch.object(v2, "BatchNorm", WithoutUpdates):
        return v2.train(*args)


def evaluate_in_training_mode(images, labels, checkpoint):
    net = v2.restored(images.dtype, checkpoint)
    with mock.patch.object(v2, "DROPOUT_RATE", 0.0):
        logits = net(images, training=True)
    loss, accuracy = v2.metrics_of(logits, labels)
    confusion = tf.math.confusion_matrix(labels, tf.argmax(logits, 1), 10)
    return {"accuracy": accuracy, "loss": loss, "confusion": confusion}


TEST = [TEST_IMAGES, TEST_LABELS]
CASES = [
    *MODEL.cases(evaluate=TEST, export=[TEST_IMAGES[:8]]),
    MODEL.case("train", "from initial values", [IMAGES, LABELS, 10]),
    MODEL.train(
        10,
        "keep_prob",
        FalseFriend,
        naive=train_with_keep_prob,
        of="program",
        because="the second argument of dropout is now the share of zeros",
    ),
    MODEL.train(
        10,
        "without UPDATE_OPS",
        FalseFriend,
        naive=train_without_updates,
        of="program",
        because="the moving averages keep their initial values",
    ),
    MODEL.case(
        "evaluate",
        "in training mode",
        [*TEST, START],
        FalseFriend,
        naive=evaluate_in_training_mode,
        of="program",
        because="the batch norms use the statistics of the test images",
    ),
]
NAIVE = [
    Naive(
        "train, steps: 10",
        "Keras' own dropout",
        mock.patch.object(v3, "Dropout", keras.layers.Dropout)(v3.train),
        because="from the same seed it draws another mask",
    ),
    Naive(
        "train, steps: 10",
        "metrics that are not reset",
        mock.patch.object(keras.Model, "reset_metrics", lambda self: None)(v3.train),
        because="each loss is the mean of all losses so far",
    ),
    Naive(
        "train, steps: 10",
        "Adam by default",
        mock.patch.object(v3.optimizers, "adam", keras.optimizers.Adam)(v3.train),
        because="the epsilon is 1e-7, not 1e-8",
    ),
]
PROOF = proof(v1, v2, CASES, NAIVE)


class ModelsConvnetTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()

    @parameterized.expand(
        [
            ("the right page", v2.train, 0.95, 1.0),
            ("without updates", train_without_updates, 0.2, 0.8),
        ]
    )
    def test_accuracy_on_new_images(self, _, train, least, most):
        with tempfile.TemporaryDirectory() as folder:
            train(IMAGES, LABELS, 100, None, folder)
            found = v2.evaluate(*TEST, os.path.join(folder, "model.ckpt"))
        self.assertTrue(least <= found["accuracy"] <= most, found["accuracy"])
        self.assertEqual(np.trace(found["confusion"]), round(found["accuracy"] * 67))

    def test_the_moving_variance_follows_the_unbiased_variance(self):
        def moved():  # in one step from 1, of which 0.9 is left
            values = v2.train(IMAGES, LABELS, 1)["variables"]
            return values["conv2/batch_normalization/moving_variance"] - 0.9

        fused, size = moved(), v2.BATCH_SIZE * 8 * 8
        with mock.patch.object(v2, "BatchNorm", WithoutFusedKernel):
            not_fused = moved()
        far = np.abs(fused / not_fused - size / (size - 1)).max()
        self.assertLess(far, 1e-5)

    def test_a_training_call_moves_the_averages_also_in_evaluation(self):
        net = v2.ConvNet("float32")
        net(TEST_IMAGES)
        self.assertEqual(np.abs(net.layers[0].norm.moving_mean).max(), 0)
        net(TEST_IMAGES, training=True)
        self.assertGreater(np.abs(net.layers[0].norm.moving_mean).max(), 0)

    def test_a_trainer_can_be_exported_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            trainer, batch = v2.Trainer("float32"), v2.next_batch(IMAGES, LABELS, 0)
            trainer.step(*batch)
            tf.saved_model.save(trainer, folder)
            loaded = tf.saved_model.load(folder)
            self.assertEqual(loaded.global_step, 1)

    def test_two_runs_write_one_curve(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.ckpt")
            first = v2.train(IMAGES, LABELS, 3, None, folder)["losses"]
            other = v2.train(IMAGES, LABELS, 2, path, folder)["losses"]
            events = [e for e in read_folder(folder) if e["tag"] == "loss"]
        self.assertEqual([event["step"] for event in events], [0, 1, 2, 3, 4])
        losses = [event["tensor"] for event in events]
        np.testing.assert_array_equal(losses, [*first, *other])

    def test_a_checkpoint_without_slots_serves_but_does_not_train(self):
        weights = {name: START[name] for name in SHAPES}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "weights.ckpt")
            restore.save(path, weights)
            self.assertIn("loss", v2.evaluate(*TEST, path))
            with self.assertRaisesRegex(tf.errors.NotFoundError, "Adam|beta|global"):
                v2.train(IMAGES, LABELS, 1, path)


class KerasTest(unittest.TestCase):
    def test_each_page_goes_on_from_the_checkpoint_of_the_other(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.ckpt")
            for first, then in ((v2, v3), (v3, v2)):
                before = first.train(IMAGES, LABELS, 4, None, folder)["variables"]
                kept = then.train(IMAGES, LABELS, 0, path)["variables"]
                models.assert_near(kept, before, 1e-6)
                self.assertEqual(then.train(IMAGES, LABELS, 1, path)["losses"].size, 1)

    def test_a_resumed_run_takes_the_next_batch(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.ckpt")
            v3.train(IMAGES, LABELS, 3, None, folder)
            with mock.patch.object(v3, "next_batch", wraps=v3.next_batch) as batch:
                v3.train(IMAGES, LABELS, 2, path, folder)
            events = [e for e in read_folder(folder) if e["tag"] == "accuracy"]
        self.assertEqual([call.args[2] for call in batch.mock_calls], [3, 4])
        self.assertEqual([event["step"] for event in events], [0, 1, 2, 3, 4])

    def test_a_step_of_float64_is_in_float64(self):
        given = IMAGES.astype("d"), LABELS, 1
        with (
            mock.patch.object(v2, "DROPOUT_RATE", 0.0),
            mock.patch.object(v3, "DROPOUT_RATE", 0.0),
        ):
            left, right = (page.train(*given)["variables"] for page in (v2, v3))
        names = "logits/kernel/Adam", "conv1/conv2d/kernel/Adam"
        slots = [{name: side[name] for name in names} for side in (right, left)]
        models.assert_near(*slots, 1e-10)

    def test_a_checkpoint_without_slots_serves_but_does_not_train(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "weights.ckpt")
            restore.save(path, {name: START[name] for name in SHAPES})
            self.assertIn("loss", v3.evaluate(*TEST, path))
            with self.assertRaisesRegex(tf.errors.NotFoundError, "Adam|global"):
                v3.train(IMAGES, LABELS, 1, path)

    def test_trained_weights_classify_new_images(self):
        with tempfile.TemporaryDirectory() as folder:
            v3.train(IMAGES, LABELS, 100, None, folder)
            found = v3.evaluate(*TEST, os.path.join(folder, "model.ckpt"))
        self.assertGreater(found["accuracy"], 0.95)
        self.assertEqual(np.trace(found["confusion"]), round(found["accuracy"] * 67))


if __name__ == "__main__":
    unittest.main()
