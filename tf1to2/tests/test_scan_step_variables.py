"""Variables that a loss, a metric or a `call` makes at each step."""

from parameterized import parameterized

from tf1to2.tests.marked import MarkedCase

FIT = """
model = tf.keras.Sequential([layers.Dense(1)])
model.compile("sgd", loss, metrics=[metric])
model.fit(np.ones((2, 1)), np.ones((2, 1)), verbose=0)
"""
PLAIN = """
def loss(y, p):
    return tf.reduce_mean(tf.square(y - p))
def metric(y, p):
    return tf.reduce_mean(tf.abs(y - p))
"""
CALLED = """
x = tf.keras.Input((3,))
model = tf.keras.Model(x, Own()(x))
model.compile("sgd", "mse")
model.fit(np.ones((2, 3)), np.ones((2, 3)), verbose=0)
"""


class LossTest(MarkedCase):
    TOLD = "Keras calls this function at each step"

    @parameterized.expand(
        [
            ("none", PLAIN),
            ("a constant", PLAIN + "def loss(y, p):\n    return K.constant(1.0) * p"),
            (
                "a variable of the function around it",
                PLAIN + "def weighted(start):\n    weight = K.variable(start)\n"
                "    def inner(y_true, y_pred):\n"
                "        return weight * K.mean(y_true - y_pred)\n    return inner\n"
                "loss = weighted(0.5)",
            ),
            ("a variable outside", "scale = tf.Variable(1.0)\n" + PLAIN),
        ]
    )
    def test_is_left_alone(self, _, lines):
        self.check_sound(lines + FIT)

    @parameterized.expand(
        [
            (
                "a loss",
                "def loss(y, p):\n    return K.mean(y - p) + tf.Variable(0.0)  # here",
            ),
            (
                "by its parameters",
                "def f(y_true, y_pred):\n"
                "    return K.mean(y_pred * K.variable(1.0))  # here\nloss = f",
            ),
            (
                "a metric that is handed on",
                "def count(a, b):\n    n = tf.Variable(0.0)  # here\n"
                "    return n + K.mean(a - b)\nmetric = count\n"
                "if False:\n    model.compile('sgd', metrics=[count])",
            ),
        ]
    )
    def test_fit_raises(self, _, lines):
        self.check_raises(PLAIN + lines + FIT, ValueError, "singleton tf.Variables")

    def test_a_print_has_no_value(self):
        text = "def loss(y, p):\n    return tf.Print(p, [y])  # here\n"
        self.check(text, "a statement of its own, which returns None")
        self.assertIsNone(self.run_today("x = tf.print(1.0)")["x"])


class CallTest(MarkedCase):
    TOLD = "at each step"

    @parameterized.expand(
        [
            (
                "a weight of build",
                "    def build(self, s):\n"
                "        self.w = self.add_weight(name='w', shape=())\n"
                "    def call(self, x):\n        return x * self.w",
            ),
            (
                "a variable of __init__",
                "    def __init__(self):\n        super().__init__()\n"
                "        self.w = tf.Variable(1.0)\n"
                "    def call(self, x):\n        return x * self.w",
            ),
            (
                "one that is made once",
                "    w = None\n    def call(self, x):\n        if self.w is None:\n"
                "            self.w = tf.Variable(1.0)\n        return x * self.w",
            ),
        ]
    )
    def test_is_left_alone(self, _, lines):
        self.check_sound(f"class Own(layers.Layer):\n{lines}\n{CALLED}")

    def test_a_class_that_is_no_layer_is_left_alone(self):
        self.check_sound(
            "class Own:\n    def call(self):\n        return tf.Variable(1.0)\n"
            "Own().call()"
        )

    def test_a_variable(self):
        self.check_raises(
            "class Own(layers.Layer):\n    def call(self, x):\n"
            f"        return x * tf.Variable(2.0)  # here\n{CALLED}",
            ValueError,
            "singleton tf.Variables",
        )

    @parameterized.expand([("a layer", "layers.Layer"), ("a model", "tf.keras.Model")])
    def test_a_layer(self, _, base):
        text = (
            f"class Own({base}):\n    def call(self, x):\n"
            f"        return layers.Dense(3)(x)  # here\n{CALLED}"
        )
        message = "singleton tf.Variables"
        self.check_raises(text, ValueError, message, "a metric makes a layer")

    def test_a_layer_without_variables_is_left_alone(self):
        self.check_sound(
            "class Own(layers.Layer):\n    def call(self, x):\n"
            f"        return layers.Flatten()(x)\n{CALLED}",
            "a metric makes a layer",
        )
