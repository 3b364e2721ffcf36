"""What guide/port.md says of Python 2: each row raises so, and what to write runs."""

import pickle
import re
import string
import tempfile
import unittest
import warnings

import numpy as np
from parameterized import parameterized

from tf1to2.explain.questions import cells
from tf1to2.pages import topics

TEXT = topics.document("guide/port.md").read_text("utf-8")
PART = re.split(r"(?m)^## ", TEXT.partition("## When the program is Python 2\n")[2])[0]
ROWS = [
    cells(line)
    for line in PART.splitlines()
    if line.startswith("| `") and "import util" not in line
]


def names(folder):
    """What the code of a row finds."""
    path = f"{folder}/arrays.pkl"
    with open(path, "wb") as file:
        pickle.dump(np.arange(200, dtype=np.uint8), file)
    return {
        "items": [3, 1, 2],
        "text": "a.b",
        "source": iter([1]),
        "path": path,
        "pickle": pickle,
        "string": string,
    }


class Python2Test(unittest.TestCase):
    def test_there_are_rows(self):
        self.assertGreater(len(ROWS), 5)

    @parameterized.expand([(row[0], *row) for row in ROWS])
    def test_a_row(self, _, left, right, because):
        kinds = set(re.findall(r"\b\w+Error\b", because.partition(":")[0]))
        self.assertTrue(kinds, because)
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # of open(path)
            with self.assertRaises(Exception) as caught:
                eval(left.strip("`"), names(folder))
            self.assertIn(type(caught.exception).__name__, kinds)
            eval(right.strip("`"), names(folder))

    def test_what_changes_without_an_error(self):
        self.assertEqual(round(2.5), 2)
        self.assertEqual((0.0 + np.float32(1)).dtype, np.float32)


if __name__ == "__main__":
    unittest.main()
