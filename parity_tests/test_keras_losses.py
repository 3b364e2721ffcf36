"""Proves the pair `keras_losses`: custom losses, metrics and scores."""

import os
import tempfile
import unittest
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.keras_cases import COMPILED, OLD, draws, friend, old
from tf1to2.parity import Raises
from v1_graph import keras_losses as v1
from v2_eager import keras_losses as v2

# `fit` and `predict` batch arrays by tf.data, whose functions are always traced.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Even though the `tf.config.experimental_run_functions_eagerly`:UserWarning"
)
RANDOM = np.random.RandomState(27)
drawn, weights = draws(RANDOM)
keras = tf.keras


X = drawn(70, 4)
ONE, THREE = weights(4, 5, 1), weights(4, 5, 3)
SHARES = np.abs(drawn(70))
SIX = drawn(6, 6, 4), drawn(6, 6, 3)
STEPS = drawn(70, 6, 4), drawn(70, 6, 3)
MASKS = X, (drawn(70, 3) > 0.5).astype("f")
RARE = X, (X[:, :1] + X[:, 1:2] > 0.75).astype("f")
CLASSES = X, (X[:, :3] + drawn(70, 3)).argmax(1).astype("i")
PAIRS = [RANDOM.randint(0, 50, [70, 1]).astype("i") for _ in range(2)]
TABLES = [drawn(50, 6), drawn(50, 6) / 4, np.zeros(50, "f")]
ROWS = X, drawn(70, 3)
COSTS = np.float32([[1, 2, 4], [0.5, 1, 3], [2, 0.25, 1]])
ONE_HOT = X, np.eye(3, dtype="f")[CLASSES[1]]
TWO_HEADS = THREE + weights(5, 2)
OUTPUTS = *ROWS, drawn(70, 2)
PARTS = [[0.0, 1.0], [0.5, 0.25], [1.0, 0.0], [0.25, 2.0]]
TRIPLETS = tuple(drawn(3, 70, 4))
LARGE = weights(4, 9, 3)
LINE = X, X[:, :1] + drawn(70, 1) / 2
WIDE = X, 3 * LINE[1]
THREE_HEADS = weights(4, 5, 1) + weights(5, 1) + weights(5, 1)
TWO = [weight / 2 for weight in weights(4, 5, 2)]


def by_the_weights_as_they_are(data, start, weights, epochs, batch_size):
    """Runs the same lines as in TensorFlow 1."""
    model, given = v2.network(start, shape=[None]), {"sample_weight": weights}
    return v2.fitted(model, v2.squared_error, data, epochs, batch_size, **given)


def by_alpha_alone(data, start, gamma, alpha, epochs, batch_size):
    loss = keras.losses.BinaryFocalCrossentropy(alpha=alpha, gamma=gamma)
    return v2.fitted(v2.network(start, "sigmoid"), loss, data, epochs, batch_size)


def by_dice_of_keras(data, start, smooth, epochs, batch_size):
    model, loss = v2.network(start, "sigmoid"), keras.losses.Dice()
    return v2.fitted(model, loss, data, epochs, batch_size)


def by_the_first_rows(triplets, start, margin, epochs, batch_size):
    """Uses a loss that reads two rows of the batch as the two distances."""

    class Rows:
        def __init__(self, distances):
            self.rows = distances

        def __getitem__(self, index):
            return self.rows[index[1]]

    def compiled(model, loss, *args):
        return plain(model, lambda y_true, y_pred: loss(y_true, Rows(y_pred)), *args)

    plain = v2.fitted
    with mock.patch.object(v2, "fitted", compiled):
        return v2.compare_triplets(triplets, start, margin, epochs, batch_size)


def by_the_word(data, start, batch_size):
    """Runs the same lines as in TensorFlow 1."""
    model = v2.network(start, "sigmoid")
    model.compile("sgd", "binary_crossentropy", metrics=["accuracy"])
    return np.float32(model.evaluate(*data, batch_size=batch_size, verbose=0)[1])


def by_add_metric(data, start, strength, epochs, batch_size):
    model = v2.network(start)
    model.add_metric(strength, name="penalty", aggregation="mean")


def with_its_inputs(data, start, epochs, batch_size):
    """Passes the second argument of TensorFlow 1 to `add_loss`."""

    class Told(v2.Balance):
        def add_loss(self, loss):
            super().add_loss(loss, inputs=[])

    with mock.patch.object(v2, "Balance", Told):
        return v2.balance_tasks(data, start, epochs, batch_size)


CASES = [
    old("weigh_steps", "three epochs", [STEPS, THREE, SHARES, 3, 16], **COMPILED),
    friend(
        "weigh_steps",
        "six rows of six steps",
        [SIX, THREE, SHARES[:6], 3, 6],
        by_the_weights_as_they_are,
        "[rows] meets [rows, steps] from the right: a weight goes to a step",
        **COMPILED,
    ),
    old("fit_focal", "three epochs", [MASKS, THREE, 2.0, 0.25, 3, 16], **COMPILED),
    friend(
        "fit_focal",
        "without balance",
        [MASKS, THREE, 2.0, 0.25, 3, 16],
        by_alpha_alone,
        "alpha= is not read without apply_class_balancing=True",
        **COMPILED,
    ),
    old("fit_dice", "three epochs", [MASKS, THREE, 1.0, 3, 16], **COMPILED),
    friend(
        "fit_dice",
        "of Keras",
        [MASKS, THREE, 1.0, 3, 16],
        by_dice_of_keras,
        "it smooths by epsilon, 1e-7",
        **COMPILED,
    ),
    # The expected counts of candidates are float32.
    old("fit_sampled", "three epochs", [PAIRS, TABLES, 8, 5, 3, 16], float32=True),
    # TensorFlow 1.15 counts in float64 for any input, Keras 3 in float32.
    old("mean_iou", "batches of 16", [CLASSES, THREE, 16], float32=True),
    Raises(
        "mean_iou",
        "a label of no class",
        [(X, CLASSES[1] + 1), THREE, 16],
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match="outside the valid range|labels. out of bound|does not index into",
        of="program",
        skip=OLD,
    ),
    old("count_classes", "batches of 16", [CLASSES, THREE, 16]),
    old("fit_by_costs", "three epochs", [ONE_HOT, THREE, COSTS, 3, 16], **COMPILED),
    old("anneal", "four epochs", [OUTPUTS, TWO_HEADS, PARTS, 16], **COMPILED),
    old(
        "relax_penalty", "three epochs", [ROWS, THREE, [0.5, 0, 0.125], 16], **COMPILED
    ),
    old("weigh_rows", "beside", [ROWS, SHARES, THREE, 3, 16], **COMPILED),
    old("weigh_rows", "packed", [ROWS, SHARES, THREE, 3, 16, True], **COMPILED),
    friend(
        "compare_triplets",
        "three epochs",
        [TRIPLETS, THREE, 1.0, 3, 70],
        by_the_first_rows,
        "y_pred[0] and y_pred[1] are two rows of the batch",
        **COMPILED,
    ),
    friend(
        "score_labels",
        "batches of 16",
        [MASKS, THREE, 16],
        by_the_word,
        "the shape chooses the metric, and not the loss: the largest of each row",
        float32=True,
    ),
    friend(
        "log_penalty",
        "three epochs",
        [ROWS, THREE, 0.5, 3, 16],
        by_add_metric,
        "models and layers of Keras 3 have no add_metric",
        differs="raises",
        **COMPILED,
    ),
    friend(
        "balance_tasks",
        "three epochs",
        [OUTPUTS, TWO_HEADS, 3, 16],
        with_its_inputs,
        "add_loss takes the loss alone",
        differs="raises",
        **COMPILED,
    ),
    old(
        "distill", "three epochs", [ONE_HOT, LARGE, THREE, 2.0, 0.25, 3, 16], **COMPILED
    ),
    old(
        "fit_quantiles",
        "three epochs",
        [LINE, THREE_HEADS, [0.1, 0.5, 0.9], 3, 16],
        **COMPILED,
    ),
    old("fit_variance", "three epochs", [WIDE, TWO, 3, 16], **COMPILED),
    old("score_epochs", "ten at most", [RARE, ONE, RARE, 10, 16, 2], **COMPILED),
]
PROOF = proof(v1, v2, CASES)


class KerasLossesTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class OwnTest(unittest.TestCase):
    def test_a_number_that_a_callback_changes_changes_nothing(self):
        margin = [0.0]

        class Changes(keras.callbacks.Callback):
            def on_epoch_begin(self, epoch, logs=None):
                margin[0] = float(epoch)

        model = v2.network(THREE)
        model.compile(keras.optimizers.SGD(0.0), lambda _, y: margin[0] + 0 * y)
        history = model.fit(*ROWS, epochs=3, verbose=0, callbacks=[Changes()])
        self.assertEqual(history.history["loss"], [0.0, 0.0, 0.0])

    def test_a_penalty_of_the_page_is_saved_and_loaded(self):
        model = v2.network(THREE, kernel_regularizer=v2.Adjustable(0.25))
        model.compile("sgd", "mse")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.keras")
            model.save(path)
            loaded = keras.models.load_model(path)
        args = {"verbose": 0, "return_dict": True}
        self.assertEqual(loaded.evaluate(*ROWS, **args), model.evaluate(*ROWS, **args))
