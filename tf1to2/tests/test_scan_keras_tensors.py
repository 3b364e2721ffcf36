"""What an Input and the outputs of layers are today."""

from parameterized import parameterized

from tf1to2.tests.marked import MarkedCase

MODEL = """
x = tf.keras.Input((4,))
y = layers.Dense(2)(x)
model = tf.keras.Model(x, y)
"""


class KerasTensorTest(MarkedCase):
    TOLD = "tf.keras.KerasTensor"

    @parameterized.expand(
        [
            ("a shape", "y.shape[-1], K.int_shape(x)[1], len(x.shape)"),
            ("operators", "z = 2 * y - 1\nz.shape"),
            ("layers", "layers.Activation('relu')(y)"),
            ("an activation", "tf.keras.activations.relu(y)"),
            (
                "a tensor",
                "v = layers.Dense(2)(tf.ones((1, 4)))\nv.get_shape().as_list()",
            ),
            (
                "a function of a tensor",
                "tf.reduce_mean(layers.Dense(2)(tf.ones((1, 4))))",
            ),
            (
                "within a Lambda",
                "layers.Lambda(lambda v: tf.reshape(v, [-1, v.get_shape()[1]]))(x)",
            ),
            (
                "in a call",
                "class A(layers.Layer):\n    def __init__(self):\n"
                "        super().__init__()\n        self.dense = layers.Dense(2)\n"
                "    def call(self, x):\n        y = self.dense(x)\n"
                "        return tf.reshape(y, [-1, y.get_shape().as_list()[-1]])\n"
                "A()(x)",
            ),
            (
                "a name that is bound again",
                "x = tf.ones((2, 3))\nx.get_shape(), tf.exp(x)",
            ),
            ("a print", "tf.print(x)"),
            ("a model that is called by a tensor", "tf.exp(model(tf.ones((1, 4))))"),
        ]
    )
    def test_is_left_alone(self, _, lines):
        self.check_sound(MODEL + lines)

    @parameterized.expand(
        [
            ("an input's shape", "x.get_shape()  # here", "get_shape"),
            ("a layer's output", "y.get_shape().as_list()  # here", "get_shape"),
            ("a shape that is set", "x.set_shape((2, 4))  # here", "set_shape"),
            ("what an operator gives", "z = y + 1\nz.get_shape()  # here", "get_shape"),
            ("a slice", "y[:, 0].get_shape()  # here", "get_shape"),
            ("a model's output", "model.output.get_shape()  # here", "get_shape"),
            ("a layer's", "model.get_layer('dense').output.graph  # here", "graph"),
            ("a graph", "x.graph  # here", "graph"),
            ("an op", "y.op.name  # here", "op"),
            ("consumers", "x.consumers()  # here", "consumers"),
            (
                "a chain of layers",
                "for units in (3, 2):\n    y = layers.Dense(units)(y)\n"
                "y.get_shape()  # here",
                "get_shape",
            ),
        ]
    )
    def test_members_that_are_gone(self, _, lines, member):
        message = f"'KerasTensor' object has no attribute '{member}'"
        self.check_raises(MODEL + lines, AttributeError, message)

    @parameterized.expand(
        [
            ("as a list", "x.shape.as_list()  # here", "'tuple'.*'as_list'"),
            ("its rank", "y.shape.ndims  # here", "'tuple'.*'ndims'"),
            ("a dtype", "x.dtype.base_dtype  # here", "'str'.*'base_dtype'"),
            ("its name", "y.dtype.name  # here", "'str'.*'name'"),
            (
                "history",
                "print(y._keras_history[0])\ny._keras_history.layer  # here",
                "'KerasHistory'.*'layer'",
            ),
            (
                "history of a parameter",
                "def f(t):\n    return t._keras_history.layer  # here\nf(y)",
                "'KerasHistory'.*'layer'",
            ),
        ]
    )
    def test_members_of_members(self, _, lines, message):
        self.check_raises(MODEL + lines, AttributeError, message)

    @parameterized.expand(
        [
            ("a mean", "tf.reduce_mean(x, axis=1)  # here"),
            ("of a layer's output", "tf.nn.relu(layers.Dense(3)(x))  # here"),
            ("in a list", "tf.concat([x, y], 1)  # here"),
            ("by its keyword", "tf.cast(x=y, dtype=tf.float16)  # here"),
        ]
    )
    def test_functions_of_tensorflow(self, _, lines):
        message = "A KerasTensor cannot be used as input to a TensorFlow function"
        self.check_raises(MODEL + lines, ValueError, message)

    def test_functions_of_the_backend(self):
        self.check_raises(MODEL + "K.mean(y, axis=1)  # here", AttributeError, "'str'")

    def test_in_a_builder_it_is_likely(self):
        builder = "def block(t):\n    t = layers.Dense(2)(t)\n    return t.get_shape()"
        self.check(builder)
        self.check(builder + "  # here", proof=True)
