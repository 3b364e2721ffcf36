"""`add_loss`: in a layer it works."""

from parameterized import parameterized

from tf1to2.tests.marked import MarkedCase

FIT = """
model.compile("sgd", "mse")
model.fit(np.ones((2, 3)), np.ones((2, 3)), verbose=0)
"""
OWN = """
x = tf.keras.Input((3,))
model = tf.keras.Model(x, Own()(x))
"""


class AddedLossTest(MarkedCase):
    TOLD = "add_loss"

    @parameterized.expand(
        [
            (
                "a layer",
                "class Own(layers.Layer):\n    def call(self, x):\n"
                "        self.add_loss(tf.reduce_mean(x))\n        return x\n" + OWN,
            ),
            (
                "a model",
                "class Own(tf.keras.Model):\n    def call(self, x):\n"
                "        self.add_loss(tf.reduce_mean(x))\n        return x\n"
                "model = Own()",
            ),
            (
                "a weight, in build",
                "class Own(layers.Layer):\n    def build(self, s):\n"
                "        self.w = self.add_weight(name='w', shape=())\n"
                "        self.add_loss(tf.square(self.w))\n"
                "    def call(self, x):\n        return x * self.w\n" + OWN,
            ),
        ]
    )
    def test_is_left_alone(self, _, lines):
        self.check_sound(lines + FIT)

    @parameterized.expand(
        [
            (
                "of a functional model",
                "x = tf.keras.Input((3,))\ny = layers.Dense(3)(x)\n"
                "model = tf.keras.Model(x, y)\n"
                "model.add_loss(tf.keras.ops.mean(y))  # here",
                NotImplementedError,
                "",
            ),
            (
                "in __init__",
                "class Own(tf.keras.Model):\n    def __init__(self):\n"
                "        super().__init__()\n"
                "        self.add_loss(lambda: 0.0)  # here\n"
                "    def call(self, x):\n        return x\nmodel = Own()",
                ValueError,
                "can only be called from inside",
            ),
            (
                "with inputs",
                "class Own(layers.Layer):\n    def call(self, x):\n"
                "        self.add_loss(tf.reduce_mean(x), inputs=x)  # here\n"
                "        return x\n" + OWN,
                TypeError,
                "inputs",
            ),
        ]
    )
    def test_it_raises(self, _, lines, error, message):
        self.check(lines + FIT, proof=True)
        with self.assertRaisesRegex(error, message):
            self.run_today(lines + FIT)
