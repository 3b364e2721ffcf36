"""guide/keras.md: what the optimizers of the package `keras` began at, and do today.

The numbers of the old classes are those that 1.15.5 computed when it was asked.
"""

import re
import unittest

import tensorflow as tf
from parameterized import parameterized

from tf1to2.pages import topics

CELL = r"\| `([^`]*)` "
NUMBER = r"\| ([\d.]+) "
ROW = re.compile(rf"(?m)^{CELL}{NUMBER}{NUMBER}{NUMBER}{CELL}{NUMBER}\|$")
GUIDE = topics.document("guide/keras.md").read_text("utf-8")
ROWS = ROW.findall(GUIDE)


def ten_steps(written):
    """A weight of 1 after ten steps on its square; `written` is a call."""
    optimizer = eval(f"tf.keras.optimizers.{written}", {"tf": tf})
    weight = tf.Variable(1.0)
    for _ in range(10):
        optimizer.apply([2 * weight], [weight])
    return f"{weight.numpy():.6f}"


class RatesTest(unittest.TestCase):
    def test_there_are_four(self):
        self.assertEqual(len(ROWS), 4)

    @parameterized.expand(ROWS)
    def test_numbers(self, default, rate, then, now, written, gives):
        self.assertEqual(ten_steps(default), now)
        self.assertEqual(ten_steps(written), gives)
        self.assertIn(rate, written)
        self.assertNotEqual(then, now)

    def test_nadam_alone_stays_apart(self):
        apart = [default for default, _, then, _, _, gives in ROWS if then != gives]
        self.assertEqual(apart, ["Nadam()"])
