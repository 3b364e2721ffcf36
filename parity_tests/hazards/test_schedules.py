import json
import unittest

import keras
import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests.hazards import arguments, found, round_trips

COSINE = {
    "learning_rate": 0.1,
    "decay_steps": 8,
    "num_periods": 1.5,
    "alpha": 0.125,
    "beta": 0.25,
}
WARM_UP = {"learning_rate": 0.1, "decay_steps": 8, "warmup_steps": 3}
CASES = [
    ("v2_keras.learning_rates.LinearCosineDecay", {**COSINE, "dtype": "float64"}),
    (
        "v2_keras.learning_rates.LinearCosineDecay float32",
        {**COSINE, "dtype": "float32"},
    ),
    ("v2_keras.training_recipes.WarmUp", {**WARM_UP, "dtype": "float64"}),
    ("v2_keras.training_recipes.WarmUp float32", {**WARM_UP, "dtype": "float32"}),
]
ALLOWED = {}
NUMBERS = [
    ("a_number", 0.1, "float32"),
    ("float32", np.float32(0.1), "float32"),
    ("float64", np.float64(0.1), "float64"),
]


def schedule(name, own):
    return found.classes()["schedules"][name.partition(" ")[0]](**own)


def rates(made):
    """Returns the rates of the steps 0 to 9, eagerly and in a function."""
    traced = tf.function(made)
    steps = [tf.constant(step, tf.int64) for step in range(10)]
    return [f(step).numpy() for f in (made, traced) for step in steps]


class SchedulesTest(unittest.TestCase):
    @parameterized.expand(CASES)
    def test_the_config_keeps_all_arguments(self, name, own):
        made = schedule(name, own)
        self.assertEqual(made.get_config(), own)
        arguments.assert_kept(made, may_be_defaults="float32" in name)
        saved = json.dumps(keras.optimizers.schedules.serialize(made))
        again = keras.optimizers.schedules.deserialize(json.loads(saved))
        self.assertIs(type(again), type(made))
        round_trips.assert_same(rates(again), rates(made))

    @parameterized.expand(CASES)
    def test_the_dtype_of_the_rates_under_every_floatx(self, name, own):
        for floatx in ("float32", "float64"):
            with round_trips.floatx(floatx):
                found = {rate.dtype.name for rate in rates(schedule(name, own))}
            self.assertEqual(found, {own["dtype"]})

    @parameterized.expand(CASES)
    def test_saved_in_a_model_it_goes_on(self, name, own):
        dtype = own["dtype"]
        dense = keras.layers.Dense(1, dtype=dtype, name="dense")
        model = keras.Sequential([keras.Input([2], dtype=dtype), dense])
        sgd = keras.optimizers.SGD(schedule(name, own))
        model.compile(sgd, "mse", run_eagerly=True)
        x, y = np.eye(2, dtype=dtype), np.ones([2, 1], dtype)
        for _ in range(2):
            model.train_on_batch(x, y)
        loaded = round_trips.saved_and_loaded(model)
        for one in (model, loaded):
            for _ in range(3):
                one.train_on_batch(x, y)
        self.assertEqual(loaded.optimizer.iterations, 5)
        expected = schedule(name, own)(tf.constant(5, tf.int64))
        self.assertEqual(loaded.optimizer.learning_rate, expected)
        round_trips.assert_same(round_trips.values(loaded), round_trips.values(model))

    @parameterized.expand(NUMBERS)
    def test_a_file_keeps_the_dtype_of_a_number(self, _, rate, dtype):
        own = {**COSINE, "learning_rate": rate}
        made = schedule("v2_keras.learning_rates.LinearCosineDecay", own)
        again = type(made).from_config(json.loads(json.dumps(made.get_config())))
        self.assertEqual({found.dtype.name for found in rates(again)}, {dtype})
        round_trips.assert_same(rates(again), rates(made))


if __name__ == "__main__":
    unittest.main()
