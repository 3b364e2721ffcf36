"""Where a file is no Python: line and column."""

import unittest

from parameterized import parameterized

from tf1to2.source.names import faults
from tf1to2.source.names.syntax import Source
from tf1to2.tests.test_scan import ScanCase


def first(text):
    return faults.first(Source(text.encode()))


class SoundTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("nothing", ""),
            ("python 3", "def f(x: int) -> int:\n    return x\n"),
            ("print of python 2", "print 'a', x\nprint >>f, x\n"),
            ("except of python 2", "try:\n    f()\nexcept E, e:\n    raise E, 'x'\n"),
            ("numbers of python 2", "x = 0777\ny = 10L\nz = `x`\nif x <> y: pass\n"),
            ("parameters of python 2", "def f((a, b), c):\n    return a\n"),
            ("a statement of python 2", "exec 'x = 1' in d\n"),
        ]
    )
    def test_is_left_alone(self, _, text):
        self.assertIsNone(first(text))


class FaultTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("an operator too many", "x = 1\ny = = 2\n", 2, 5),
            (
                "a bracket that stays open",
                "def f():\n    x = 1\n    y = (2\n    z = 3\n",
                3,
                9,
            ),
            (
                "a list in a method",
                "class A:\n    def f(self):\n        x = [1, 2\n        return x\n",
                3,
                13,
            ),
            ("a dict", "a = 1\nd = {'a': 1\n\nfor i in x:\n    print(i)\n", 2, 5),
            (
                "a missing value",
                "def f():\n    for i in x:\n        y +=\n    return y\n",
                3,
                13,
            ),
            ("a merge", "def f():\n    x = 1\n<<<<<<< HEAD\n    y = 2\n", 3, 1),
            ("an open string", "def f():\n    x = 'abc\n    return x\n", 2, 9),
            (
                "below statements of Python 2",
                "def f(x):\n    print x\n    try:\n        g()\n    except E, e:\n"
                "        raise E, 'no'\n    y = (2\n    z = 3\n",
                7,
                9,
            ),
            ("beside one", "print 'a'\nx = [1\nprint 'b'\n", 2, 5),
            ("after letters of two bytes", "# é\nx = 'é' + = 1\n", 2, 11),
        ]
    )
    def test_place(self, _, text, line, column):
        self.assertEqual(first(text), (line, column))

    @parameterized.expand([(f"{n} functions before it", n) for n in (1, 5, 40)])
    def test_it_is_not_the_definition_around_it(self, _, count):
        before = "def f():\n    return 1\n\n" * count
        text = before + "def g(x):\n    a = 1\n    if x\n        a = 2\n    return a\n"
        self.assertEqual(first(text)[0], 3 * count + 3)


class ToldTest(ScanCase):
    def test_a_notebook_is_told_by_its_cell(self):
        cells = [["x = 1\n"], ["y = 2\n", "z = = 3\n"]]
        body = ", ".join(
            '{"cell_type": "code", "metadata": {}, "outputs": [], "source": %s}'
            % str(cell).replace("'", '"').replace("\n", "\\n")
            for cell in cells
        )
        text = (
            '{"cells": [%s], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}' % body
        )
        self.write(**{"a.ipynb": text})
        status, out, _ = self.run_it("a.ipynb")
        self.assertEqual(status, 2)
        self.assertIn("cell 2, line 2, column 5 is not valid Python; the rest", out)

    def test_the_rest_is_read(self):
        self.write(
            a="import tensorflow as tf\ntf.log(1)\nx = = 2\ntf.exp(1), tf.log(2)\n"
        )
        status, out, _ = self.run_it("a.py")
        self.assertEqual(status, 2)
        self.assertIn("a.py: not fully read: line 3, column 5 is not valid", out)
        self.assertIn("a.py:4:12: tf.log", out)
