"""Functions of Lambda layers that make variables, or call layers."""

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from tf1to2.source.names import makers
from tf1to2.tests.marked import MarkedCase

FIT = """
model = tf.keras.Model(x, y)
model.compile("sgd", "mse")
data = np.ones((2, *x.shape[1:])), np.ones((2, *y.shape[1:]))
model.fit(*data, verbose=0)
"""
X = "x = tf.keras.Input((3,))\n"
SEQUENCES = ("ConvLSTM2D", "LSTM", "GRU", "SimpleRNN", "Embedding")
ARGUMENTS = {
    "Conv1D": (2, 1),
    "Conv1DTranspose": (2, 1),
    "Conv2D": (2, 1),
    "Conv2DTranspose": (2, 1),
    "Conv3D": (2, 1),
    "Conv3DTranspose": (2, 1),
    "ConvLSTM2D": (2, 1),
    "Convolution1D": (2, 1),
    "Convolution2D": (2, 1),
    "Convolution2DTranspose": (2, 1),
    "Convolution3D": (2, 1),
    "Convolution3DTranspose": (2, 1),
    "DepthwiseConv2D": (1,),
    "Dense": (2,),
    "Embedding": (5, 2),
    "GRU": (2,),
    "LSTM": (2,),
    "SeparableConv1D": (2, 1),
    "SeparableConv2D": (2, 1),
    "SeparableConvolution1D": (2, 1),
    "SeparableConvolution2D": (2, 1),
    "SimpleRNN": (2,),
    "BatchNormalization": (),
    "LayerNormalization": (),
    "PReLU": (),
}
DROPPED = {name for name in makers.WITH if "Dropout" in name or "Noise" in name}
# Keras 3 lacks these; a cell is called by RNN alone.
ELSEWHERE = {
    *("CuDNNGRU", "CuDNNLSTM", "LocallyConnected1D", "LocallyConnected2D"),
    *("GRUCell", "LSTMCell", "SimpleRNNCell"),
}
RANKS = {"2D": 4, "3D": 5, "1D": 3, "RNN": 3, "GRU": 3, "LSTM": 3}


class LambdaTest(MarkedCase):
    TOLD = "variables that a Lambda makes"

    @parameterized.expand(
        [
            ("a sum", "y = layers.Lambda(lambda v: 2 * v)(x)"),
            (
                "a layer without variables",
                "y = layers.Lambda(lambda v: layers.Flatten()(v))(x)",
            ),
            ("a draw", "y = layers.Lambda(lambda v: v + tf.random.uniform([3]))(x)"),
            (
                "a layer beside it",
                "y = layers.Lambda(lambda v: v + 1)(layers.Dense(2)(x))",
            ),
            (
                "a function that makes one elsewhere",
                "def make():\n    return layers.Dense(2)\n"
                "def twice(v):\n    return 2 * v\ny = layers.Lambda(twice)(make()(x))",
            ),
        ]
    )
    def test_is_left_alone(self, _, lines):
        self.check_sound(X + lines + FIT)

    @parameterized.expand(
        [
            ("a layer", "y = layers.Lambda(lambda v: layers.Dense(2)(v))(x)  # here"),
            (
                "by its keyword",
                "y = layers.Lambda(function=lambda v: layers.Dense(2)(v))(x)  # here",
            ),
            (
                "a variable",
                "y = layers.Lambda(lambda v: v * tf.Variable(2.0))(x)  # here",
            ),
            (
                "of the backend",
                "y = layers.Lambda(lambda v: v * K.variable(2.0))(x)  # here",
            ),
            (
                "a function",
                "def f(v):\n    w = layers.Dense(2)(v)\n    return 2 * w\n"
                "y = layers.Lambda(f)(x)  # here",
            ),
            (
                "a function that it calls",
                "def inner(v):\n    return layers.Dense(2)(v)\n"
                "def outer(v):\n    return 1 + inner(v)\n"
                "y = layers.Lambda(outer)(x)  # here",
            ),
            (
                "dropout, whose seed is one",
                "y = layers.Lambda(lambda v: layers.Dropout(0.5)(v))(x)  # here",
            ),
        ]
    )
    def test_fit_raises(self, _, lines):
        self.check_raises(X + lines + FIT, ValueError, "singleton tf.Variables")

    def test_a_layer_that_it_calls(self):
        text = (
            "dense = layers.Dense(2)\n"
            + X
            + "y = layers.Lambda(lambda v: dense(v))(x)  # here\n"
        )
        self.check(text, "the weights of a layer that a Lambda calls", proof=True)
        self.check(text.replace("  # here", ""), self.TOLD)
        model = tf.keras.Model(*map(self.run_today(text).get, "xy"))
        self.assertEqual(len(model.trainable_weights), 0)

    def test_all_layers_with_variables_are_tried(self):
        self.assertEqual(
            makers.WITH, {*ARGUMENTS} - {"Conv1DTranspose"} | DROPPED | ELSEWHERE
        )
        for name in ELSEWHERE - {"GRUCell", "LSTMCell", "SimpleRNNCell"}:
            self.assertFalse(hasattr(tf.keras.layers, name), name)

    @parameterized.expand([(name,) for name in sorted({*ARGUMENTS} | DROPPED)])
    def test_a_layer_with_variables(self, name):
        arguments = ARGUMENTS.get(name, (0.5,))
        rank = next((r for end, r in RANKS.items() if end in name), 2)
        rank = 5 if name == "ConvLSTM2D" else rank
        layer = getattr(tf.keras.layers, name)(*arguments)
        layer(np.ones([2] * rank, "int32" if name == "Embedding" else "float32"))
        self.assertTrue(layer.variables, name)
