"""Functions for initializers that take no dtype, which Keras 3 calls with one."""

import keras
import numpy as np
from parameterized import parameterized

from tf1to2.tests.test_scan import ScanCase

HEAD = "from keras.layers import Dense, PReLU\nfrom keras.layers import *\n"
PLAIN = "def start(shape, name=None):\n    return shape\n"


class InitializerFunctionsTest(ScanCase):
    def found(self, text):
        return self.messages(HEAD + text)

    @parameterized.expand(
        [
            ("a_word", "Dense(3, kernel_initializer='ones')"),
            ("dtype", "def f(shape, dtype=None): pass\nDense(3, kernel_initializer=f)"),
            ("any", "def f(shape, **more): pass\nDense(3, kernel_initializer=f)"),
            ("an_object", "Dense(3, kernel_initializer=Zeros())"),
            ("a_parameter", "def f(start):\n    Dense(3, kernel_initializer=start)"),
            ("none", "Dense(3, bias_initializer=None)"),
            ("another_argument", f"{PLAIN}Dense(3, kernel_constraint=start)"),
        ]
    )
    def test_left(self, _, text):
        self.assertEqual(self.found(text + "\n"), [])

    @parameterized.expand(
        [
            ("a_function", f"{PLAIN}Dense(3, kernel_initializer=start)"),
            ("of_keras_1", f"{PLAIN}Dense(3, init=start)"),
            ("a_lambda", "Dense(3, bias_initializer=lambda shape: 0)"),
            ("by_a_star", f"{PLAIN}Conv2D(3, 3, kernel_initializer=start)"),
            (
                "add_weight",
                f"{PLAIN}class A(Layer):\n    def build(self, shape):\n"
                "        self.add_weight(name='w', shape=[2], initializer=start)",
            ),
        ]
    )
    def test_found(self, _, text):
        (message,) = self.found(text + "\n")
        self.assertIn("lambda shape, dtype=None: …", message)

    def test_keras_3_passes_dtype(self):
        x = np.ones([1, 3], "float32")
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'dtype'"):
            keras.layers.Dense(3, kernel_initializer=lambda shape: np.ones(shape))(x)
        layer = keras.layers.Dense(
            3, kernel_initializer=lambda shape, dtype=None: keras.ops.ones(shape, dtype)
        )
        np.testing.assert_array_equal(layer(x), np.full([1, 3], 3.0, "float32"))
