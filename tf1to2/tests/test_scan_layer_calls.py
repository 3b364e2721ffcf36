"""Calls of layers by what is no tensor: `layer(x, 2, 3.0)`."""

import inspect

import tensorflow as tf
from parameterized import parameterized

from tf1to2.source.constructs import layer_calls
from tf1to2.tests.marked import MarkedCase

LAYERS = """
class Crop(layers.Layer):
    def call(self, x, size=2, scale=1.0):
        return x[:, :size] * scale

class Noisy(layers.Layer):
    def call(self, x, training=None):
        return x

class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(2)
        self.crop = Crop()

    def call(self, x, training=None):
        return self.crop(self.dense(x), size=1)

x = tf.keras.Input((4,))
"""


class LayerCallTest(MarkedCase):
    TOLD = "Keras 3 takes "

    @parameterized.expand(
        [
            ("keywords", "Crop()(x, size=2, scale=3.0)"),
            ("tensors", "layers.Add()([x, x]), Crop()(x, None)"),
            ("an array", "Crop()(x, scale=np.ones((2,), 'float32'))"),
            ("training by its keyword", "Noisy()(x, training=True)"),
            ("no training", "Noisy()(x, None), layers.BatchNormalization()(x, None)"),
            ("a function of the file's own", "def f(x, n):\n    return n\nf(x, 2)"),
            ("numpy", "np.full((2, 3), 7), range(0, 3)"),
            ("the making of a layer", "layers.Conv1D(3, 2, padding='same')"),
            ("the method call itself", "Crop().call(x, 2, 3.0)"),
            ("a model whose layers are called rightly", "Net()(x)"),
            (
                "a name that is no layer any more",
                "crop = Crop()\ncrop = lambda x, n: n\ncrop(x, 2)",
            ),
        ]
    )
    def test_is_left_alone(self, _, lines):
        self.check_sound(LAYERS + lines)

    @parameterized.expand(
        [
            ("numbers", "Crop()(x, 2, 3.0)  # here"),
            ("of a name", "crop = Crop()\ny = crop(x, 3)  # here"),
            ("a negative number", "Crop()(x, 2, -0.5)  # here"),
            ("a name for a number", "SIZE = 3\nCrop()(x, SIZE)  # here"),
            ("a word", "Noisy()(x, 'train')  # here"),
            ("numbers in a list", "Crop()(x, [1, 2])  # here"),
            ("a function", "Crop()(x, lambda v: v)  # here"),
            ("a layer of Keras", "layers.Dropout(0.5)(x, True)  # here"),
            ("a model", "Net()(x, True)  # here"),
            (
                "an attribute",
                "class A:\n    def __init__(self):\n        self.crop = Crop()\n"
                "    def run(self, x):\n        return self.crop(x, 2)  # here\n"
                "A().run(x)",
            ),
        ]
    )
    def test_what_is_no_tensor(self, _, lines):
        message = "Only input tensors may be passed as positional arguments"
        self.check_raises(LAYERS + lines, ValueError, message)

    @parameterized.expand(
        [
            ("a layer of Keras", "layers.BatchNormalization()(v, flag)  # here"),
            ("of the file's own", "Noisy()(v, flag)  # here"),
            ("a model of the file's own", "net = Net()\nnet(v, flag)  # here"),
        ]
    )
    def test_training_in_a_tensor(self, _, lines):
        given = "v, flag = tf.ones((2, 4)), tf.constant(True)\n"
        message = "multiple values for argument 'training'"
        self.check_raises(LAYERS + given + lines, TypeError, message)

    def test_a_layer_of_another_module_of_the_project(self):
        self.write(
            **{
                "setup": "",
                "own": "import tensorflow as tf\n"
                "class Scale(tf.keras.layers.Layer):\n"
                "    def call(self, x, by):\n        return x * by\n"
                "def plain(x, by):\n    return x\n",
                "use": "from own import Scale, plain\nimport keras\n"
                "scale = Scale()\nscale(x, 2.0)\nplain(x, 3)\nScale()(x, by=2)\n",
            }
        )
        self.assertEqual(self.lines("use.py"), [4])

    def test_the_layers_that_take_training_second(self):
        for name in layer_calls.TRAINED:
            path = name.split(".")[1:]
            thing = tf
            for part in path:
                thing = getattr(thing, part)
            if name.endswith("Model"):  # a functional one
                inputs = tf.keras.Input((2,))
                thing = type(tf.keras.Model(inputs, 2 * inputs))
            parameters = [*inspect.signature(thing.call).parameters]
            self.assertEqual(parameters[2], "training", name)


class BatchSizeTest(MarkedCase):
    TOLD = "batch_size="

    @parameterized.expand(
        [
            ("a batch size", "layers.InputLayer(batch_size=4, input_shape=[3, 2])"),
            ("a whole shape", "layers.InputLayer(batch_input_shape=[4, 3, 2])"),
        ]
    )
    def test_an_input_layer_takes_it(self, _, line):
        run = self.check_sound(f"made = {line}", "Keras 3 refuses batch_")
        self.assertEqual(run["made"].batch_shape, (4, 3, 2))  # as in 1.15.5

    @parameterized.expand(
        [
            ("a reshape", "layers.Reshape([3, 1], input_shape=[3], batch_size=4)"),
            ("a product", "layers.Dense(5, input_shape=[2], batch_size=7)"),
        ]
    )
    def test_another_layer_refuses_it(self, _, line):
        self.check_raises(f"{line}  # here", ValueError, "batch_size")
