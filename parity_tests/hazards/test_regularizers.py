import unittest

import keras
import numpy as np
from parameterized import parameterized

from parity_tests.hazards import arguments, found, round_trips

CASES = [
    ("v2_eager.keras_losses.Adjustable", {"strength": 0.25}),
    ("v2_keras.basics.L2", {"l2": 0.25}),
]
ALLOWED = {}
X, Y = np.eye(3, dtype="f"), np.ones([3, 1], "f")
BOTH = [(f"{n} {d}", own, d) for n, own in CASES for d in ("float32", "float64")]


def regularizer(name, own):
    return found.classes()["regularizers"][name.partition(" ")[0]](**own)


def model_of(made, dtype):
    """Makes a compiled model with weights other than 0."""
    layer = keras.layers.Dense(1, kernel_regularizer=made, dtype=dtype, name="dense")
    model = round_trips.fill(keras.Sequential([keras.Input([3], dtype=dtype), layer]))
    sgd = keras.optimizers.SGD(0.125, momentum=0.5)
    model.compile(sgd, "mse", run_eagerly=True)
    return model


class RegularizersTest(unittest.TestCase):
    @parameterized.expand(CASES)
    def test_the_config_keeps_all_arguments(self, name, own):
        made = regularizer(name, own)
        config = made.get_config()
        self.assertEqual({key: config[key] for key in own}, own)
        arguments.assert_kept(made)
        saved = keras.saving.serialize_keras_object(made)
        again = keras.saving.deserialize_keras_object(saved)
        self.assertIs(type(again), type(made))
        weight = keras.Variable(X)
        self.assertEqual(again(weight), made(weight))

    @parameterized.expand(BOTH)
    def test_saved_in_a_model_it_goes_on(self, name, own, dtype):
        x, y = X.astype(dtype), Y.astype(dtype)
        for floatx in ("float32", "float64"):  # the dtype in which `fit` adds losses
            with round_trips.floatx(floatx), self.subTest(floatx):
                model = model_of(regularizer(name, own), dtype)
                model.train_on_batch(x, y)
                models = model, round_trips.saved_and_loaded(model)
                self.assertIs(*[type(m.layers[0].kernel_regularizer) for m in models])
                self.assertEqual(*[m.train_on_batch(x, y) for m in models])
                round_trips.assert_same(*map(round_trips.values, models))

    @parameterized.expand(BOTH)
    def test_the_loss_has_the_penalty(self, name, own, dtype):
        model = model_of(regularizer(name, own), dtype)
        penalized = model.evaluate(X.astype(dtype), Y.astype(dtype), verbose=0)
        error = np.square(model(X.astype(dtype)) - Y).mean()
        penalty = 0.25 * np.square(model.layers[0].kernel.numpy()).sum()
        round_trips.assert_near([penalized], [error + penalty])

    @parameterized.expand(BOTH)
    def test_a_penalty_is_that_of_the_weights_under_every_floatx(
        self, name, own, dtype
    ):
        for floatx in ("float32", "float64"):
            with round_trips.floatx(floatx):
                weight = keras.Variable(X, dtype=dtype)
                penalty = regularizer(name, own)(weight)
            self.assertEqual(float(penalty), 0.25 * 3)


if __name__ == "__main__":
    unittest.main()
