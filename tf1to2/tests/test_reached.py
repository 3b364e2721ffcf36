"""Which answers a change in the code of a page can change."""

import pathlib
import tempfile
import unittest

from parameterized import parameterized

from tf1to2.pages import reached
from tf1to2.pages.page import Page

FILES = {
    "net.py": """
import tensorflow as tf
from other import extra as more
from rates import *
import parts.depth

SIZE = 3
NAMES = {"late": 1}


class Model:
    def step(self, x):
        return helper(x)


def helper(x):
    \"\"\"A docstring.\"\"\"
    return x * SIZE


def train(x):
    # a comment
    return Model().step(x) * RATE + more(x) + parts.depth.build(x)


def show(x):
    return getattr(tf, "late")(x)


def late(x):
    return x


@tf.RegisterGradient("Own")
def gradient(op, g):
    return g


if __name__ == "__main__":
    print(show(1))
""",
    "rates.py": "RATE = 0.5\nSHOWN = 1\n",
    "other.py": "def extra(x):\n    return x\n\n\ndef unused(x):\n    return x\n",
    "parts/__init__.py": "",
    "parts/depth.py": "def build(x):\n    return x\n",
}


class ReachedTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in FILES.items():
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)

    def codes(self):
        page = Page("net.py", self.folder)
        return {name: reached.code(page, name) for name in ("train", "show")}

    @parameterized.expand(
        [
            ("what it calls", "net.py", "x * SIZE", "SIZE * x", {"train"}),
            ("a value", "net.py", "SIZE = 3", "SIZE = 4", {"train"}),
            ("a method", "net.py", "return helper(x)", "return x", {"train"}),
            ("another function", "net.py", "(tf,", "(tf.nn,", {"show"}),
            ("by a string", "net.py", "late(x):", "late(x, y=1):", {"show"}),
            ("by a star", "rates.py", "0.5", "0.6", {"train"}),
            ("beside it", "rates.py", "SHOWN = 1", "SHOWN = 2", set()),
            ("by another name", "other.py", "return x\n\n", "return 2\n\n", {"train"}),
            ("unused", "other.py", "unused(x)", "unused(y)", set()),
            ("of a package", "parts/depth.py", "return x", "return 2", {"train"}),
            ("registered", "net.py", "return g\n", "return -g\n", {"train", "show"}),
            ("as a script", "net.py", "show(1)", "show(2)", set()),
            ("a comment", "net.py", "# a comment", "# another", set()),
            ("a docstring", "net.py", "A docstring.", "Another.", set()),
            ("a new function", "net.py", "def late", "def new(): 1\ndef late", set()),
            (
                "what an import runs",
                "other.py",
                "def extra",
                "print(1)\ndef extra",
                None,
            ),
        ]
    )
    def test_a_change(self, _, file, old, new, stale):
        before = self.codes()
        path = self.folder / file
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1))
        after = self.codes()
        changed = {name for name in before if before[name] != after[name]}
        self.assertEqual(changed, {"train", "show"} if stale is None else stale)

    def test_what_is_not_found_depends_on_all(self):
        page = Page("net.py", self.folder)
        self.assertEqual(reached.code(page, "made_at_run_time"), page.code)


if __name__ == "__main__":
    unittest.main()
