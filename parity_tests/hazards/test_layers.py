import unittest

import keras
import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests.hazards import arguments, round_trips
from v2_eager import (
    keras_files,
    keras_functions,
    keras_inputs,
    keras_layers,
    keras_losses,
)
from v2_eager.keras_layers import own as layers_own
from v2_eager.keras_recipes import own
from v2_keras import data, feature_columns, layers, rnn

DRAW = np.random.default_rng(3)


def floats(*shape):
    return DRAW.normal(size=shape).astype("f")


ROWS = floats(3, 4)
STEPS = floats(3, 5, 4)
LENGTHS = np.int32([5, 1, 3])
IDS = np.int32([[1, 2, 0], [3, 0, 0], [5, 4, 1]])
WORDS = np.array([["to", "be", ""], ["or", "not", "to"], ["x", "y", "be"]])
NORM = {"momentum": 0.75, "epsilon": 0.125}
READS = {**rnn.READS, "unroll": True}


def cell(make, **kept):
    return make(3, **rnn.READS, **kept)


def encoder(**kept):
    return keras.layers.Dense(3, "tanh", **kept)


CASES = [
    # The class, a function that makes it, the way to call it, the inputs.
    (
        "v2_eager.keras_files.Scale",
        lambda **kept: keras_files.Scale(0.5, **kept),
        "apart",
        [ROWS],
    ),
    (
        "v2_eager.keras_functions.Cost",
        keras_functions.Cost,
        "apart",
        [
            np.full([3, 5, 4], 0.25, "f"),
            np.int32([[1, 2], [0, 0], [2, 1]]),
            LENGTHS[:, None],
            np.int32([[2], [1], [1]]),
        ],
    ),
    (
        "v2_eager.keras_functions.Draw",
        keras_functions.Draw,
        "apart",
        [ROWS, floats(3, 4), floats(3, 4)],
    ),
    (
        "v2_eager.keras_functions.Dropout",
        lambda **kept: keras_functions.Dropout(0.25, seed=4, **kept),
        "apart",
        [ROWS],
    ),
    (
        "v2_eager.keras_functions.InferenceNorm",
        lambda **kept: keras_functions.InferenceNorm(**NORM, **kept),
        "apart",
        [ROWS],
    ),
    ("v2_eager.keras_functions.Scale", keras_functions.Scale, "apart", [ROWS]),
    (
        "v2_eager.keras_functions.TrainingNorm",
        lambda **kept: keras_functions.TrainingNorm(**NORM, **kept),
        "apart",
        [ROWS],
    ),
    (
        "v2_eager.keras_inputs.Refined",
        lambda **kept: keras_inputs.Refined(3, 0.25, 4, **kept),
        "apart",
        [ROWS],
    ),
    (
        "v2_eager.keras_layers.Center",
        lambda **kept: keras_layers.Center(0.75, 0.5, **kept),
        "apart",
        [ROWS],
    ),
    (
        "v2_eager.keras_layers.own.Attention",
        layers_own.Attention,
        "together",
        [STEPS, floats(3, 2, 3)],
    ),
    (
        "v2_eager.keras_layers.own.Clustering",
        lambda **kept: layers_own.Clustering(3, 0.5, **kept),
        "apart",
        [ROWS],
    ),
    (
        "v2_eager.keras_layers.own.Conditioned",
        lambda **kept: layers_own.Conditioned(3, 2, **kept),
        "cell",
        [STEPS],
    ),
    ("v2_eager.keras_layers.own.Likeness", layers_own.Likeness, "masked", [IDS, IDS]),
    (
        "v2_eager.keras_layers.own.Residual",
        lambda **kept: layers_own.Residual(3, **kept),
        "apart",
        [ROWS],
    ),
    (
        "v2_eager.keras_losses.Balance",
        keras_losses.Balance,
        "together",
        [ROWS, floats(3, 1), floats(3, 4), floats(3, 1)],
    ),
    (
        "v2_eager.keras_losses.Penalized",
        lambda **kept: keras_losses.Penalized(0.5, **kept),
        "apart",
        [ROWS],
    ),
    (
        "v2_eager.keras_losses.SampledSoftmax",
        lambda **kept: keras_losses.SampledSoftmax(6, 2, 4, **kept),
        "together",
        [ROWS, IDS[:, :1]],
    ),
    (
        "v2_eager.keras_recipes.own.Renormalization",
        lambda **kept: own.Renormalization(
            {"rmin": 0.5, "rmax": 2.0, "dmax": 1.0}, 0.75, 0.125, **kept
        ),
        "apart",
        [ROWS],
    ),
    (
        "v2_eager.keras_recipes.own.Reversal",
        lambda **kept: own.Reversal(0.5, **kept),
        "apart",
        [ROWS],
    ),
    (
        "v2_eager.keras_recipes.own.Scaled",
        lambda **kept: own.Scaled(20.0, **kept),
        "apart",
        [ROWS],
    ),
    (
        "v2_eager.keras_recipes.own.SpectralDense",
        lambda **kept: own.SpectralDense(3, activation="tanh", **kept),
        "apart",
        [ROWS],
    ),
    (
        "v2_eager.keras_recipes.own.Summing",
        lambda **kept: own.Summing(3, **kept),
        "cell",
        [STEPS],
    ),
    (
        "v2_eager.keras_recipes.own.Tied",
        lambda **kept: own.Tied(encoder(**kept), **kept),
        "after_another",
        [ROWS],
    ),
    ("v2_keras.data.Estimate", data.Estimate, "apart", [ROWS]),
    (
        "v2_keras.feature_columns.WordCounter",
        lambda **kept: feature_columns.WordCounter(["to", "be"], 2, -1, **kept),
        "apart",
        [WORDS],
    ),
    (
        "v2_keras.feature_columns.WordCounter of integers",
        lambda **kept: feature_columns.WordCounter([3, 1], 0, 1, **kept),
        "apart",
        [IDS],
    ),
    (
        "v2_keras.layers.Forgetful",
        lambda **kept: layers.Forgetful(**NORM, **kept),
        "apart",
        [ROWS],
    ),
    (
        "v2_keras.layers.LastAxisNormalization",
        lambda **kept: layers.LastAxisNormalization(axis=2, epsilon=0.125, **kept),
        "apart",
        [STEPS],
    ),
    (
        "v2_keras.rnn.BidirectionalReader",
        lambda **kept: rnn.BidirectionalReader(
            keras.layers.Bidirectional(rnn.GRU(3, **kept), **kept),
            "both",
            0.5,
            True,
            **kept,
        ),
        "apart",
        [floats(5, 5, 4), np.int32([5, 1, 3, 4, 2])],
    ),
    (
        "v2_keras.rnn.Reader",
        lambda **kept: rnn.Reader(
            cell(keras.layers.LSTM, **kept), "reader", 0.5, True, **kept
        ),
        "apart",
        [floats(5, 5, 4)],  # time-major; equal numbers of steps and rows
    ),
    (
        "v2_keras.rnn.Reader with lengths",
        lambda **kept: rnn.Reader(
            cell(keras.layers.SimpleRNN, **kept), "reader", **kept
        ),
        "apart",
        [STEPS, LENGTHS],
    ),
    (
        "v2_keras.rnn.Stack",
        lambda **kept: rnn.Stack(3, 2, "stack", **kept),
        "apart",
        [STEPS, LENGTHS],
    ),
    (
        "v2_keras.rnn.StaticReader",
        lambda **kept: rnn.StaticReader(
            keras.layers.LSTM(3, **READS, **kept), "reader", 0.5, **kept
        ),
        "apart",
        [STEPS, LENGTHS],
    ),
]
ALLOWED = {}

ALWAYS_IN_TRAINING = {
    "v2_eager.keras_functions.TrainingNorm": "its job: it moves its averages always"
}
CALLED_ON_FLOATS = (
    "Keras builds a loaded model without `build` by a call on floats, which the layer "
    "refuses; it has no weights to lose"
)
REFUSE_FLOATS = {
    "v2_keras.feature_columns.WordCounter": CALLED_ON_FLOATS,
    "v2_keras.feature_columns.WordCounter of integers": CALLED_ON_FLOATS,
}


def functional(make, way, inputs, dtype="float32"):
    """Makes a functional model of a fresh layer, with fixed weights."""
    made = round_trips.functional(make(dtype=dtype), way, inputs, dtype)
    return round_trips.fill(made)


class LayersTest(unittest.TestCase):
    def setUp(self):
        keras.utils.clear_session()

    @parameterized.expand(CASES)
    def test_loaded_and_trained_on_as_if_never_saved(self, name, make, way, inputs):
        model = round_trips.trained(functional(make, way, inputs), inputs)
        loaded = round_trips.saved_and_loaded(model)
        expected = round_trips.outputs(model, inputs)
        round_trips.assert_same(round_trips.outputs(loaded, inputs), expected)
        for each in (model, loaded):
            round_trips.trained(each, inputs)
        found, expected = round_trips.values(loaded), round_trips.values(model)
        round_trips.assert_same(found, expected)

    @parameterized.expand(CASES)
    @pytest.mark.slow
    def test_weights_are_loaded_into_a_fresh_model(self, name, make, way, inputs):
        model = functional(make, way, inputs)
        expected = round_trips.outputs(model, inputs)
        for load in (round_trips.by_weights_file, round_trips.by_checkpoint):
            with self.subTest(load.__name__):
                fresh = round_trips.functional(make(), way, inputs)
                loaded = load(model, fresh)
                round_trips.assert_same(round_trips.outputs(loaded, inputs), expected)

    @parameterized.expand(CASES)
    def test_the_config_keeps_all_arguments(self, name, make, way, inputs):
        arguments.assert_kept(make(dtype="float64"), may_be_defaults=" " in name)

    @parameterized.expand(CASES)
    @pytest.mark.slow
    def test_either_dtype_under_either_default(self, name, make, way, inputs):
        for dtype in ("float32", "float64"):
            found = []
            for default in ("float32", "float64"):
                with round_trips.floatx(default), self.subTest(f"{dtype} in {default}"):
                    given = round_trips.cast(inputs, dtype)
                    model = functional(make, way, given, dtype)
                    found.append(round_trips.outputs(model, given))
                    self.assertEqual({y.dtype.name for y in found[-1]}, {dtype})
                    weights = filter(round_trips.is_float, model.weights)
                    self.assertEqual({w.dtype for w in weights}, {dtype})
                    round_trips.descended(model, given)
            self.assertEqual(len(found), 2)
            round_trips.assert_same(*found)

    @parameterized.expand([case for case in CASES if case[0] not in REFUSE_FLOATS])
    @pytest.mark.slow
    def test_nested_two_deep_without_build(self, name, make, way, inputs):
        layer = make(dtype="float32")
        model = round_trips.fill(round_trips.nested(layer, way, inputs))
        held, paths = {id(w) for w in model.weights}, [w.path for w in model.weights]
        self.assertTrue({id(w) for w in layer.weights} <= held)
        self.assertEqual(len(set(paths)), len(paths), paths)
        model = round_trips.trained(model, inputs)
        loaded = round_trips.saved_and_loaded(model)
        found = round_trips.outputs(loaded, inputs)
        round_trips.assert_same(found, round_trips.outputs(model, inputs))

    @parameterized.expand(CASES)
    @pytest.mark.slow
    def test_training_that_is_not_given_is_false(self, name, make, way, inputs):
        model = functional(make, way, inputs)
        before, found = round_trips.values(model), []
        for training in (None, False):
            found.append(round_trips.outputs(model, inputs, training))
            if name not in ALWAYS_IN_TRAINING:
                round_trips.assert_same(round_trips.values(model), before)
        round_trips.assert_same(*found)
        for y in round_trips.outputs(model, inputs, training=True):
            self.assertTrue(np.isfinite(y).all())

    @parameterized.expand(CASES)
    @pytest.mark.slow
    def test_exported_it_answers_as_predict(self, name, make, way, inputs):
        model = functional(make, way, inputs)
        tensors = [tf.constant(a) for a in inputs]
        expected = model.predict_on_batch(tensors)
        round_trips.assert_same(round_trips.served(model, inputs), [expected])


class RefusedTest(unittest.TestCase):
    def test_a_lookup_without_a_bucket_raises_at_an_unknown_word(self):
        lookup = keras.layers.StringLookup(vocabulary=["to"], num_oov_indices=0)
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "found OOV values"):
            lookup(tf.constant(["be"]))
        counter = feature_columns.WordCounter(["to"], 0, -1)
        np.testing.assert_array_equal(counter(tf.constant([["be", "to"]])), [[1]])

    def test_an_unrolled_layer_has_the_batch_first(self):
        lstm = keras.layers.LSTM(3, **READS)
        with self.assertRaisesRegex(ValueError, "pass .batch, steps, features."):
            rnn.StaticReader(lstm, "reader", time_major=True)
