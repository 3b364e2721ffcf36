import unittest

import keras
import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests.hazards import arguments, round_trips
from v2_eager import keras_files, keras_functions, keras_inputs, keras_multiple
from v2_eager.keras_training import models
from v2_keras import layers, regularization, rnn

DRAW = np.random.default_rng(3)
ROWS = DRAW.normal(size=[3, 4]).astype("f")
STEPS = DRAW.normal(size=[3, 5, 4]).astype("f")
LENGTHS = np.int32([5, 1, 3])


def stack(dtype):
    """Makes the layers of a Sequential model; the first has a penalty."""
    penalty = keras.regularizers.L2(0.125)
    return [
        keras.Input([4], dtype=dtype),
        keras.layers.Dense(3, "tanh", kernel_regularizer=penalty, dtype=dtype),
        keras.layers.Dense(2, dtype=dtype),
    ]


def sequential(cls):
    return lambda dtype: cls(stack(dtype), name="stack")


def frozen(dtype):
    model = models.CountsFrozen(stack(dtype), name="stack")
    model.layers[0].trainable = False
    return model


def weighs(dtype):
    x = keras.Input([4], dtype=dtype)
    y = keras.layers.Dense(2, dtype=dtype)(x)
    return keras_functions.WeighsByInputs(x, y, name="weighs")


def adversarial(dtype):
    net = keras.Sequential(stack(dtype))
    return keras_inputs.Adversarial(net, 0.125, 0.25, dtype=dtype)


CASES = [
    # The class, a function from a dtype to it, the size of its outputs if it is fitted.
    ("v2_eager.keras_files.Network", lambda dtype: keras_files.Network(dtype=dtype), 3),
    ("v2_eager.keras_functions.WeighsByInputs", weighs, 2),
    ("v2_eager.keras_inputs.Adversarial", adversarial, 2),
    (
        "v2_eager.keras_multiple.SharedByRows",
        sequential(keras_multiple.SharedByRows),
        2,
    ),
    ("v2_eager.keras_multiple.TellsMean", sequential(keras_multiple.TellsMean), 2),
    ("v2_eager.keras_training.models.CountsFrozen", frozen, 2),
    (
        "v2_eager.keras_training.models.TellsBatches",
        sequential(models.TellsBatches),
        2,
    ),
    (
        "v2_keras.layers.Perceptron",
        lambda dtype: layers.Perceptron([3, 2], False, 0.125, name="p", dtype=dtype),
        None,
    ),
    (
        "v2_keras.regularization.Classifier",
        lambda dtype: regularization.Classifier([3, 2], 0.125, dtype=dtype),
        None,
    ),
    (
        "v2_keras.rnn.Classifier",
        lambda dtype: rnn.Classifier(3, 0.5, dtype=dtype),
        3,
    ),
]
ALLOWED = {}


def inputs_of(name, dtype="float32"):
    """Returns the model's inputs as tensors."""
    if name == "v2_keras.rnn.Classifier":
        x, lengths = round_trips.cast([STEPS, LENGTHS], dtype)
        return {"x": tf.constant(x), "lengths": tf.constant(lengths)}
    return tf.constant(ROWS.astype(dtype))


def made(name, make, dtype="float32"):
    """Makes a model with fixed weights, and calls it once."""
    model = make(dtype)
    model(inputs_of(name, dtype))
    return round_trips.fill(model)


def arrays_of(name, dtype="float32"):
    """Returns (inputs as a list of arrays, the way in which `round_trips` calls it)."""
    recurrent = name == "v2_keras.rnn.Classifier"
    arrays = [STEPS, LENGTHS] if recurrent else [ROWS]
    return round_trips.cast(arrays, dtype), "by_name" if recurrent else "apart"


def outputs(name, model, training=False):
    found = model(inputs_of(name), training=training)
    return [y.numpy() for y in tf.nest.flatten(found)]


class ModelsTest(unittest.TestCase):
    def setUp(self):
        keras.utils.clear_session()

    @parameterized.expand([case for case in CASES if case[2]])
    def test_loaded_and_trained_on_as_if_never_saved(self, name, make, classes):
        model = made(name, make)
        sparse = name == "v2_keras.rnn.Classifier"
        loss = keras.losses.SparseCategoricalCrossentropy(True) if sparse else "mse"
        model.compile(keras.optimizers.SGD(0.125, 0.5), loss, run_eagerly=True)
        y = np.int32([0, 2, 1]) if sparse else np.float32(np.eye(3)[:, :classes])
        model.fit(inputs_of(name), y, verbose=0)
        loaded = round_trips.saved_and_loaded(model)
        self.assertIs(type(loaded), type(model))
        round_trips.assert_same(outputs(name, loaded), outputs(name, model))
        logs = [m.fit(inputs_of(name), y, verbose=0).history for m in (model, loaded)]
        self.assertEqual(*logs)
        round_trips.assert_same(round_trips.values(loaded), round_trips.values(model))

    @parameterized.expand(CASES)
    @pytest.mark.slow
    def test_within_a_model_trained_on_as_if_never_saved(self, name, make, _):
        arrays, way = arrays_of(name)
        model = round_trips.functional(make("float32"), way, arrays)
        model = round_trips.trained(round_trips.fill(model), arrays)
        loaded = round_trips.saved_and_loaded(model)
        for each in (model, loaded):
            round_trips.trained(each, arrays)
        round_trips.assert_same(round_trips.values(loaded), round_trips.values(model))

    @parameterized.expand(CASES)
    def test_weights_are_loaded_into_a_fresh_model(self, name, make, _):
        model = made(name, make)
        for load in (round_trips.by_weights_file, round_trips.by_checkpoint):
            with self.subTest(load.__name__):
                fresh = make("float32")
                fresh(inputs_of(name))
                loaded = load(model, fresh)
                round_trips.assert_same(outputs(name, loaded), outputs(name, model))

    @parameterized.expand(CASES)
    def test_the_config_keeps_all_arguments(self, name, make, _):
        model = make("float64")
        if isinstance(model, keras.Sequential) or name.endswith("WeighsByInputs"):
            again = type(model).from_config(model.get_config())
            self.assertEqual(again.get_config(), model.get_config())
        else:
            arguments.assert_kept(model)

    @parameterized.expand(CASES)
    @pytest.mark.slow
    def test_either_dtype_under_either_default(self, name, make, _):
        for dtype in ("float32", "float64"):
            found = []
            for default in ("float32", "float64"):
                with round_trips.floatx(default), self.subTest(f"{dtype} in {default}"):
                    arrays, way = arrays_of(name, dtype)
                    model = round_trips.functional(make(dtype), way, arrays, dtype)
                    round_trips.fill(model)
                    found.append(round_trips.outputs(model, arrays))
                    weights = filter(round_trips.is_float, model.weights)
                    self.assertEqual({w.dtype for w in weights}, {dtype})
                    round_trips.descended(model, arrays)
            self.assertEqual(len(found), 2)
            round_trips.assert_same(*found)

    @parameterized.expand(CASES)
    @pytest.mark.slow
    def test_nested_two_deep_without_build(self, name, make, _):
        arrays, way = arrays_of(name)
        inner = make("float32")
        model = round_trips.fill(round_trips.nested(inner, way, arrays))
        held, paths = {id(w) for w in model.weights}, [w.path for w in model.weights]
        self.assertTrue({id(w) for w in inner.weights} <= held)
        self.assertEqual(len(set(paths)), len(paths), paths)
        model = round_trips.trained(model, arrays)
        loaded = round_trips.saved_and_loaded(model)
        found = round_trips.outputs(loaded, arrays)
        round_trips.assert_same(found, round_trips.outputs(model, arrays))

    @parameterized.expand(CASES)
    def test_training_that_is_not_given_is_false(self, name, make, _):
        model = made(name, make)
        before = round_trips.values(model)
        found = [outputs(name, model, training) for training in (None, False)]
        round_trips.assert_same(*found)
        round_trips.assert_same(round_trips.values(model), before)
        for y in outputs(name, model, training=True):
            self.assertTrue(np.isfinite(y).all())

    @parameterized.expand(CASES)
    @pytest.mark.slow
    def test_exported_it_answers_as_predict(self, name, make, _):
        arrays, way = arrays_of(name)
        model = round_trips.functional(make("float32"), way, arrays)
        round_trips.fill(model)
        expected = model.predict_on_batch([tf.constant(a) for a in arrays])
        round_trips.assert_same(round_trips.served(model, arrays), [expected])
