import os
import tempfile
import unittest
from unittest import mock

import keras
import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from parity_tests.test_models_convnet import digits
from tf1to2.parity import FalseFriend, Naive
from v1_graph import models_softmax as v1
from v2_eager import models_softmax as v2
from v2_keras import models_softmax as v3


def rows(seed, n):
    """Draws flattened images, [n, 784], and their one-hot classes, [n, 10]."""
    images, labels = digits(seed, n)
    return images.reshape(n, 784), np.eye(10, dtype="f")[labels]


IMAGES, LABELS = rows(1, 160)
TEST_IMAGES, TEST_LABELS = rows(2, 67)
TEST = [TEST_IMAGES, TEST_LABELS]
START = models.start({"Variable": [784, 10], "Variable_1": [10]})
MODEL = models.Model([IMAGES, LABELS], START)

# --- Wrong programs that people write instead of the right page.


def train_on_probabilities(*args):
    """Gives softmax's outputs to Keras' loss as logits, or logits as probabilities."""

    def loss(labels, logits):
        return keras.losses.CategoricalCrossentropy(reduction=None)(labels, logits)

    with mock.patch.object(v2.tf.nn, "softmax_cross_entropy_with_logits", loss):
        return v2.train(*args)


def train_with_default_rate(images, labels, steps, checkpoint):
    model = v2.made(images.dtype, checkpoint)[0]
    variables = [model.W, model.b]
    optimizer, losses = keras.optimizers.SGD(), []
    for step in range(steps):
        batch_images, batch_labels = v2.next_batch(images, labels, step)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(
                tf.nn.softmax_cross_entropy_with_logits(
                    batch_labels, model(batch_images)
                )
            )
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        losses.append(loss)
    variables = {"Variable": model.W, "Variable_1": model.b}
    return {"losses": np.array(losses), "variables": variables}


def evaluate_by_objects(images, labels, checkpoint):
    """Restores variables that do not have the old names, without an assertion."""
    model = v2.SoftmaxRegression(images.dtype)
    model.W = tf.Variable(model.W, name="W")
    model.b = tf.Variable(model.b, name="b")
    tf.train.Checkpoint(W=model.W, b=model.b).restore(checkpoint)
    correct = tf.argmax(model(images), 1) == tf.argmax(labels, 1)
    return {"accuracy": tf.reduce_mean(tf.cast(correct, images.dtype))}


CASES = [
    *MODEL.cases(evaluate=TEST, export=[TEST_IMAGES[:8]]),
    MODEL.case("train", "from zeros", [IMAGES, LABELS, 10]),
    MODEL.train(
        10,
        "logits as probabilities",
        FalseFriend,
        naive=train_on_probabilities,
        of="program",
        because="Keras' loss expects probabilities, unless from_logits is True",
    ),
    MODEL.train(
        10,
        "the default rate",
        FalseFriend,
        naive=train_with_default_rate,
        of="program",
        because="the rate of Keras' SGD is 0.01",
    ),
    MODEL.case(
        "evaluate",
        "by tf.train.Checkpoint",
        [*TEST, START],
        FalseFriend,
        naive=evaluate_by_objects,
        of="program",
        because="no variable has a name of the checkpoint, so all of them keep zeros",
    ),
]


class Logged(keras.callbacks.Callback):
    """A callback that keeps the losses that `fit` logs."""

    def on_train_begin(self, logs=None):
        self.losses = []

    def on_train_batch_end(self, batch, logs=None):
        self.losses.append(logs["loss"])


NAIVE = [
    Naive(
        "train, steps: 10",
        "the losses that fit logs",
        mock.patch.object(v3, "Losses", Logged)(v3.train),
        because="each is the mean of all losses so far",
    ),
]
PROOF = proof(v1, v2, CASES, NAIVE)


class ModelsSoftmaxTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()

    def test_trained_weights_classify_new_images(self):
        with tempfile.TemporaryDirectory() as folder:
            v2.train(IMAGES, LABELS, 100, None, folder)
            path = os.path.join(folder, "model.ckpt")
            self.assertGreater(v2.evaluate(*TEST, path)["accuracy"], 0.9)


class KerasTest(unittest.TestCase):
    def test_each_page_goes_on_from_the_checkpoint_of_the_other(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.ckpt")
            for first, then in ((v2, v3), (v3, v2)):
                first.train(IMAGES, LABELS, 8, None, folder)
                parts = then.train(IMAGES, LABELS, 8, path)["variables"]
                whole = v2.train(IMAGES, LABELS, 16)["variables"]
                models.assert_near(parts, whole)

    def test_a_missing_variable_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.ckpt")
            v3.save(path, {"Variable": START["Variable"]})
            for program in (v3.train, v3.evaluate):
                args = [1] if program is v3.train else []
                with self.assertRaisesRegex(
                    tf.errors.NotFoundError, "Variable_1 not found in checkpoint"
                ):
                    program(IMAGES, LABELS, *args, path)

    def test_no_steps_keep_the_weights_of_the_checkpoint(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.ckpt")
            v3.save(path, START)
            found = v3.train(IMAGES, LABELS, 0, path)
        self.assertEqual(found["losses"].shape, (0,))
        for name, value in START.items():
            np.testing.assert_array_equal(found["variables"][name], value, name)

    def test_float64_is_trained_in_float64(self):
        given = IMAGES.astype("d"), LABELS.astype("d"), 10
        left, right = (page.train(*given)["variables"] for page in (v2, v3))
        models.assert_near(right, left, 1e-12)


if __name__ == "__main__":
    unittest.main()
