"""Paths of models that a variable names."""

from parameterized import parameterized

from tf1to2.tests.marked import MarkedCase

MADE = """
import os
import tempfile
model = tf.keras.Sequential([tf.keras.Input((2,)), layers.Dense(1)])
folder = tempfile.mkdtemp()
"""


class NamedFilesTest(MarkedCase):
    TOLD = "tf.keras.Sequential.save"

    @parameterized.expand(
        [
            ("a model", 'path = os.path.join(folder, "a.keras")\nmodel.save(path)'),
            ("a text with a folder", 'at = f"{folder}/b.keras"\nmodel.save(at)'),
            ("weights", 'path = folder + "/c.weights.h5"\nmodel.save_weights(path)'),
            ("by keyword", 'p = f"{folder}/d.keras"\nmodel.save(filepath=p)'),
        ]
    )
    def test_todays_name_is_left_alone(self, _, lines):
        self.check_sound(MADE + lines)

    @parameterized.expand(
        [
            ("another ending", 'path = folder + "/a.h5"\nmodel.save(path)  # here'),
            ("no ending", "path = folder\nmodel.save(path)  # here"),
            ("weights", 'path = folder + "/w.h5"\nmodel.save_weights(path)  # here'),
            ("what is not known", "def f(path):\n    model.save(path)  # here"),
            (
                "another one since",
                'p = "e.keras"\np = "e.h5"\nmodel.save(p)  # here',
            ),
        ]
    )
    def test_the_others_are_told(self, _, lines):
        self.check(MADE + lines, proof=True)
