"""Lists of numbers that a model is fed."""

from parameterized import parameterized

from tf1to2.tests.marked import MarkedCase

MODEL = """
one = layers.Dense(1, kernel_initializer="ones")
model = tf.keras.Sequential([tf.keras.Input((1,)), one])
model.compile("sgd", "mse")
x = np.ones((2, 1))
"""


class FedListTest(MarkedCase):
    TOLD = "no lists of numbers"

    @parameterized.expand(
        [
            ("arrays", "model.fit(x, x, verbose=0)\nmodel.predict(x, verbose=0)"),
            ("an array of a list", "model.predict(np.array([100.0]), verbose=0)"),
            ("a list of arrays", "model.predict([x], verbose=0)"),
            ("names of arrays", "a = x\nmodel.evaluate(a, x, verbose=0)"),
            (
                "a list that became an array",
                "rows = [1.0, 2.0]\nrows = np.array(rows)\n"
                "model.fit(rows, rows, verbose=0)",
            ),
            ("one target alone", "model.train_on_batch(np.ones((1, 1)), [1.0])"),
            (
                "validation of arrays",
                "model.fit(x, x, validation_data=(x, x), verbose=0)",
            ),
            ("numbers of other arguments", "model.fit(x, x, 2, 1, 0)"),
            (
                "a model of another library",
                "class Svm:\n    def fit(self, x, y):\n        return self\n"
                "    def predict(self, x):\n        return x\n"
                "Svm().fit([[1.0]], [2.0]).predict([[1.0]])",
            ),
        ]
    )
    def test_is_left_alone(self, _, lines):
        self.check_sound(MODEL + lines)

    @parameterized.expand(
        [
            ("predict", "model.predict([100.0])  # here"),
            ("rows", "model.predict([[1.0], [2.0]])  # here"),
            ("a tuple", "model.predict((1.0, 2.0))  # here"),
            ("fit", "model.fit([1.0, 2.0], [3.0, 4.0])  # here"),
            ("targets", "model.fit(x, [0, 1])  # here"),
            ("by their keywords", "model.fit(x=x, y=[-1, 1])  # here"),
            ("evaluate", "model.evaluate(x, [0.5, 1.5])  # here"),
            ("names", "xs = [1, 2, 3]\nys = [2, 4, 6]\nmodel.fit(xs, ys)  # here"),
            (
                "a comprehension",
                "xs = [float(i) for i in range(4)]\nmodel.predict(xs)  # here",
            ),
            ("a list of a range", "model.predict(list(range(3)))  # here"),
            ("what numpy made a list", "model.predict(x.tolist())  # here"),
            (
                "validation",
                "model.fit(x, x, validation_data=([1.0], [2.0]), verbose=0)  # here",
            ),
        ]
    )
    def test_unrecognized(self, _, lines):
        self.check_raises(MODEL + lines, ValueError, "Unrecognized data type")

    @parameterized.expand(
        [
            ("a batch", "model.train_on_batch([1.0, 2.0], x)  # here", "positional"),
            (
                "a batch's targets",
                "model.train_on_batch(x, [1, 2])  # here",
                "structure",
            ),
            ("a tested batch", "model.test_on_batch(x, [1, 2])  # here", "structure"),
            (
                "a predicted one",
                "model.predict_on_batch([1.0, 2.0])  # here",
                "position",
            ),
        ]
    )
    def test_batches(self, _, lines, message):
        self.check_raises(MODEL + lines, ValueError, message)

    @parameterized.expand(
        [
            ("a list", "[0.5, 2.0]", "'list' object has no attribute 'get'"),
            ("a word", "'auto'", "'str' object has no attribute 'get'"),
        ]
    )
    def test_class_weights(self, _, given, message):
        text = (
            "model = tf.keras.Sequential([layers.Dense(2)])\n"
            "model.compile('sgd', 'sparse_categorical_crossentropy')\n"
            "y = np.array([0, 1])\n"
            "model.fit(np.ones((2, 1)), y, class_weight={0: 1.0, 1: 2.0}, verbose=0)\n"
            f"model.fit(np.ones((2, 1)), y, class_weight={given}, verbose=0)  # here\n"
        )
        self.check_raises(text, AttributeError, message, "takes only a dict")
