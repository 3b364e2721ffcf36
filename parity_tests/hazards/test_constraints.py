import unittest

import keras
import numpy as np
from parameterized import parameterized

from parity_tests.hazards import arguments, found, round_trips

CASES = [("v2_eager.keras_recipes.own.Between", {"low": -0.5, "high": 0.25})]
ALLOWED = {}
X, Y = np.eye(3, dtype="f"), np.float32([[-9], [0], [9]])
BOTH = [(f"{n} {d}", own, d) for n, own in CASES for d in ("float32", "float64")]


def constraint(name, own):
    return found.classes()["constraints"][name.partition(" ")[0]](**own)


class ConstraintsTest(unittest.TestCase):
    @parameterized.expand(CASES)
    def test_the_config_keeps_all_arguments(self, name, own):
        made = constraint(name, own)
        self.assertEqual(made.get_config(), own)
        arguments.assert_kept(made)
        saved = keras.saving.serialize_keras_object(made)
        again = keras.saving.deserialize_keras_object(saved)
        self.assertIs(type(again), type(made))
        np.testing.assert_array_equal(again(Y), made(Y))

    @parameterized.expand(BOTH)
    def test_saved_in_a_model_it_goes_on(self, name, own, dtype):
        made = constraint(name, own)
        layer = keras.layers.Dense(1, kernel_constraint=made, dtype=dtype, name="dense")
        model = keras.Sequential([keras.Input([3], dtype=dtype), layer])
        round_trips.fill(model)
        model.compile(keras.optimizers.SGD(0.5), "mse", run_eagerly=True)
        loaded = round_trips.saved_and_loaded(model)
        for one in (model, loaded):
            self.assertIs(type(one.layers[0].kernel.constraint), type(made))
            one.train_on_batch(X.astype(dtype), Y.astype(dtype))
            kernel = one.layers[0].kernel
            self.assertEqual(kernel.dtype, dtype)
            # The step moves the first row far down, and the last row far up.
            self.assertEqual([kernel.numpy()[0], kernel.numpy()[2]], [-0.5, 0.25])
        round_trips.assert_same(round_trips.values(loaded), round_trips.values(model))

    @parameterized.expand(BOTH)
    def test_the_dtype_of_the_weight_is_kept_under_every_floatx(self, name, own, dtype):
        for floatx in ("float32", "float64"):
            with round_trips.floatx(floatx):
                weight = keras.Variable(Y, dtype=dtype)
                constrained = constraint(name, own)(weight).numpy()
            self.assertEqual(constrained.dtype.name, dtype)
            np.testing.assert_array_equal(constrained, [[-0.5], [0], [0.25]])


if __name__ == "__main__":
    unittest.main()
