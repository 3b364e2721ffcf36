"""Flows of images whose batches the code draws itself."""

from parameterized import parameterized

from tf1to2.tests.marked import MarkedCase

MADE = """
rows, labels = np.arange(8.0).reshape(8, 1, 1, 1), np.arange(8.0)
made = tf.keras.preprocessing.image.ImageDataGenerator()
flow = made.flow(rows, labels, 2, seed=3)
"""


class NextTest(MarkedCase):
    TOLD = "next(flow)"

    @parameterized.expand(
        [
            ("the function", "labels = next(flow)[1]"),
            (
                "a method of something else",
                "class Rows:\n    def next(self):\n        return rows\nRows().next()",
            ),
            (
                "a parameter of another name",
                "def first(rows):\n    return rows.next()\n",
            ),
        ]
    )
    def test_is_left_alone(self, _, lines):
        self.check_sound(MADE + lines)

    @parameterized.expand(
        [
            ("a name", "flow.next()  # here"),
            ("at once", "made.flow(rows, labels, 4).next()  # here"),
            (
                "a parameter",
                "def first(train_flow):\n    return train_flow.next()  # here\n"
                "first(flow)",
            ),
        ]
    )
    def test_raises(self, _, lines):
        self.check_raises(MADE + lines, AttributeError, "no attribute 'next'")


class DrawnTest(MarkedCase):
    TOLD = "two batches of flow"

    @parameterized.expand(
        [
            ("by the function", "first = next(flow)[1]"),
            ("after statistics", "made.fit(rows)\nfirst = next(flow)[1]"),
        ]
    )
    def test_batches_are_the_same(self, _, lines):
        run = self.check_sound(MADE + lines)
        self.assertEqual(run["first"].tolist(), [5.0, 7.0])  # 1.15.5 draws these first

    @parameterized.expand(
        [
            ("fit", "model.fit(flow)"),
            ("fit, and one is drawn", "next(flow)\nmodel.fit(flow)"),
            ("perhaps another file fits", ""),
        ]
    )
    def test_a_model_that_is_fitted(self, _, lines):
        text = MADE.replace("Generator()", "Generator()  # here")
        self.check(f"{text}model = tf.keras.Sequential()\n{lines}", proof=True)
