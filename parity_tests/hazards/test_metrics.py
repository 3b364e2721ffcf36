import unittest

import keras
import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests.hazards import arguments, round_trips
from v2_eager import keras_losses
from v2_eager.keras_training import models
from v2_keras import data, estimators, metrics

DRAW = np.random.default_rng(3)
CLASSES = np.int32([1, 0, 2, 1])
SCORES = DRAW.normal(size=[4, 3]).astype("f")
NUMBERS = np.int32([1, 1, 2, 0])
VALUES = DRAW.normal(size=[4, 3]).astype("f")
WEIGHTS = np.float32([0.5, 2, 0, 1])
SCALAR = np.float32(0.75)

CASES = [
    # The class, a function that makes it, two updates: labels and outputs, or values.
    (
        "v2_eager.keras_losses.MacroF1",
        lambda **o: keras_losses.MacroF1(3, **o),
        [(CLASSES, SCORES), (CLASSES, SCORES[::-1])],
    ),
    ("v2_eager.keras_training.models.Last", models.Last, [(SCALAR,), (2 * SCALAR,)]),
    (
        "v2_keras.data.SquaredErrors",
        data.SquaredErrors,
        [(VALUES, SCORES), (SCORES, 2 * VALUES)],
    ),
    (
        "v2_keras.estimators.BatchLoss",
        estimators.BatchLoss,
        [(CLASSES, SCORES), (CLASSES, SCORES[::-1])],
    ),
    (
        "v2_keras.metrics.MeanF1",
        lambda **o: metrics.MeanF1(3, **o),
        [(CLASSES, NUMBERS), (CLASSES, NUMBERS[::-1])],
    ),
    (
        "v2_keras.metrics.MeanTensor",
        lambda **o: metrics.MeanTensor((4, 3), **o),
        [(VALUES,), (SCORES,)],
    ),
]
ALLOWED = {}
UNWEIGHED = {
    "v2_eager.keras_training.models.Last": "it keeps a loss, whose weights are in it",
    "v2_keras.estimators.BatchLoss": "it takes none into account, and says so",
}
OF_VALUES = "Last", "MeanTensor"
"""They are updated by a value, and not by labels and outputs."""


@round_trips.register
class Watched(keras.layers.Layer):
    """A layer that updates a metric in training with its inputs or their mean."""

    def __init__(self, metric, of_mean, **options):
        super().__init__(**options)
        self.metric, self.of_mean = metric, of_mean

    def call(self, x, training=None):
        if training:
            self.metric.update_state(tf.reduce_mean(x) if self.of_mean else x)
        return x

    def get_config(self):
        metric = keras.saving.serialize_keras_object(self.metric)
        own = {"metric": metric, "of_mean": self.of_mean}
        return {**super().get_config(), **own}

    @classmethod
    def from_config(cls, config):
        metric = keras.saving.deserialize_keras_object(config["metric"])
        return cls(**{**config, "metric": metric})


@round_trips.register
class Numbers(keras.layers.Layer):
    """Outputs the ids of the most probable classes, which pass no gradient."""

    def call(self, x):
        return tf.cast(tf.argmax(x, -1), x.dtype) + 0 * x[:, 0]


def model_with(name, metric):
    """Returns (a compiled model with a metric, its targets)."""
    layers = [keras.Input([3]), keras.layers.Dense(3)]
    if name.endswith(OF_VALUES):
        layers.append(Watched(metric, name.endswith("Last")))
        metric = []
    elif name.endswith("MeanF1"):
        layers.append(Numbers())
    model = round_trips.fill(keras.Sequential(layers))
    squares = name.endswith(("SquaredErrors", *OF_VALUES))
    numbers = CLASSES.astype("f") if name.endswith("MeanF1") else CLASSES
    y = VALUES if squares else numbers
    model.compile(
        keras.optimizers.SGD(0.125),
        "mse" if y.dtype == np.float32 else "sparse_categorical_crossentropy",
        metrics=metric if name.endswith(OF_VALUES) else [metric],
    )
    return model, y


LABELS = DRAW.integers(0, 2, [4, 3]).astype("f")
FOUND = DRAW.integers(0, 2, [4, 3]).astype("f")
PAGE = [
    ("values", metrics.averages, [(VALUES,), (SCORES,)]),
    ("values with weights", metrics.averages, [(VALUES, WEIGHTS)]),
    ("errors", metrics.regression, [(VALUES, SCORES)]),
    ("errors with weights", metrics.regression, [(VALUES, SCORES, WEIGHTS[:, None])]),
    ("decisions", metrics.decisions, [(LABELS, FOUND, WEIGHTS[:, None])]),
    ("decisions in a column", metrics.decisions, [(LABELS[:, 0], FOUND[:, :1])]),
    ("means of batches", metrics.mean_of_batches, [(LABELS, FOUND)]),
]


def updated(metric, updates, convert=np.asarray):
    for values in updates:
        metric.update_state(*map(convert, values))
    return metric


class MetricsTest(unittest.TestCase):
    def setUp(self):
        keras.utils.clear_session()

    @parameterized.expand(CASES)
    def test_the_config_keeps_all_arguments(self, name, make, updates):
        metric = make(name="own", dtype="float64")
        arguments.assert_kept(metric)
        self.assertEqual(metric.get_config()["dtype"], "float64")
        saved = keras.saving.serialize_keras_object(metric)
        self.assertIs(type(keras.saving.deserialize_keras_object(saved)), type(metric))

    @parameterized.expand(CASES)
    def test_a_reset_metric_is_a_fresh_one(self, name, make, updates):
        metric = updated(make(name="own"), updates)
        metric.reset_state()
        found = updated(metric, updates[1:]).result()
        expected = updated(make(name="own"), updates[1:]).result()
        np.testing.assert_array_equal(found, expected)

    @parameterized.expand(CASES)
    def test_arrays_and_tensors(self, name, make, updates):
        of_arrays = updated(make(name="own"), updates).result()
        of_tensors = updated(make(name="own"), updates, tf.constant).result()
        np.testing.assert_array_equal(of_arrays, of_tensors)
        self.assertFalse(np.array_equal(of_arrays, make(name="own").result()))

    @parameterized.expand([case for case in CASES if case[0] not in UNWEIGHED])
    def test_a_row_of_no_weight_does_not_count(self, name, make, updates):
        metric, rows = make(name="own"), WEIGHTS.astype(bool)
        metric.update_state(*updates[0], sample_weight=WEIGHTS)
        others = [value.copy() for value in updates[0]]
        others[-1][~rows] = others[-1][rows][:1]
        other = make(name="own")
        other.update_state(*others, sample_weight=WEIGHTS)
        found, expected = metric.result(), other.result()
        np.testing.assert_array_equal(found, expected)

    @parameterized.expand(CASES)
    def test_either_dtype_under_either_default(self, name, make, updates):
        for dtype in ("float32", "float64"):
            found = []
            for default in ("float32", "float64"):
                with round_trips.floatx(default), self.subTest(f"{dtype} in {default}"):
                    given = [round_trips.cast(values, dtype) for values in updates]
                    result = updated(make(name="own", dtype=dtype), given).result()
                    found.append(np.array(result))
                    self.assertEqual(found[-1].dtype.name, dtype)
            np.testing.assert_array_equal(*found, strict=True)

    @parameterized.expand(CASES)
    def test_in_a_compiled_model_that_is_saved(self, name, make, updates):
        model, y = model_with(name, make(name="own"))
        model.run_eagerly = True
        options = {"batch_size": 4, "shuffle": False, "verbose": 0}
        model.fit(VALUES, y, **options)
        loaded = round_trips.saved_and_loaded(model)
        logs = [m.fit(VALUES, y, **options).history for m in (model, loaded)]
        np.testing.assert_equal(*logs)
        self.assertIn("own", logs[0])
        round_trips.assert_same(round_trips.values(loaded), round_trips.values(model))

    @parameterized.expand(CASES)
    @pytest.mark.slow
    def test_several_steps_per_execution(self, name, make, updates):
        x, logs = np.concatenate([VALUES] * 4), []
        for steps in (1, 4):
            model, y = model_with(name, make(name="own"))
            model.steps_per_execution = steps
            y = np.concatenate([y] * 4)
            options = {"batch_size": 4, "shuffle": False, "verbose": 0}
            logs.append(model.fit(x, y, **options).history)
        for key, values in logs[0].items():
            round_trips.assert_near([logs[1][key]], [values])


class PageTest(unittest.TestCase):
    @parameterized.expand(PAGE)
    def test_functions_take_arrays_and_tensors(self, _, function, batches):
        tensors = [tuple(map(tf.constant, batch)) for batch in batches]
        np.testing.assert_equal(function(tensors), function(batches))
