"""`tf.where`: only conditions that may choose rows are a finding."""

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from tf1to2.tests.marked import MarkedCase


class WhereTest(MarkedCase):
    TOLD = "tf.where"

    @parameterized.expand(
        [
            ("a number", "tf.where(p, x, 1.0)"),
            ("a negative one", "tf.where(p, -1e9, x)"),
            ("a name for one", "LOW = -1e9\ntf.where(p, x, LOW)"),
            ("one of numpy", "tf.where(p, x, np.inf)"),
            ("one of a dtype", "tf.where(p, x, np.float32(0.25))"),
            ("a scalar", "tf.where(p, x, tf.constant(0.0))"),
            ("a sum of all", "tf.where(p, tf.reduce_sum(x), y)"),
            ("a list of numbers", "tf.where(p, [1.0, 2.0], [3.0, 4.0])"),
            ("nested", "tf.where(p, tf.where(q, x, 1.0), 1.0)"),
            ("one argument", "tf.where(p)"),
            ("a comparison of a branch", "tf.where(x > 0, x, y)"),
            ("a function of a branch", "tf.where(tf.is_nan(x), tf.zeros_like(x), y)"),
            ("a name for it", "mask = tf.greater(x, y)\ntf.where(mask, x, y)"),
            ("of a multiple of it", "tf.where(x > 0, x / 2, 3 * y)"),
            ("several", "tf.where(tf.logical_and(x > 0, q), x, y)"),
            ("its like", "tf.where(x > 0, tf.ones_like(x), y)"),
        ]
    )
    def test_is_left_alone(self, _, lines):
        self.check(lines, proof=True)

    @parameterized.expand(
        [
            ("names", "tf.where(p, x, y)  # here"),
            ("keywords", "tf.where(condition=p, x=x, y=y)  # here"),
            ("the like of a branch", "tf.where(p, x, tf.zeros_like(x))  # here"),
            ("a list of rows", "tf.where(p, [[1.0, 2.0], [3.0, 4.0]], x)  # here"),
            ("a comparison of others", "tf.where(p > 0.5, x, y)  # here"),
            (
                "a comparison of sizes",
                "tf.where(tf.equal(tf.shape(x)[0], n), x, y)  # here",
            ),
            (
                "a filled matrix",
                "tf.where(p, tf.constant(0.0, shape=[3, 2]), y)  # here",
            ),
            ("a column", "tf.where(x[:, 0] > 0, x, y)  # here"),
            (
                "matrices of a dtype",
                "a, b = np.int32([[5, 6]]), np.int32([[7, 8]])\n"
                "tf.where(p, a, b)  # here",
            ),
            ("an array of a dtype", "tf.where(p, np.float32(rows), y)  # here"),
            (
                "a name that got another value",
                "mask = tf.equal(x, 0)\nx = tf.nn.embedding_lookup(table, x)\n"
                "tf.where(mask, tf.zeros_like(x), x)  # here",
            ),
        ]
    )
    def test_rows_may_be_chosen(self, _, lines):
        self.check(lines, proof=True)

    def test_what_both_versions_give(self):
        x = np.array([[1.0, -2.0], [-3.0, 4.0]], np.float32)
        kept = tf.where(x > 0, x, tf.zeros_like(x)).numpy().tolist()
        self.assertEqual(kept, [[1.0, 0.0], [0.0, 4.0]])  # of TensorFlow 1.15.5, too
        rows = tf.where([True, False], x, tf.zeros_like(x)).numpy().tolist()
        self.assertEqual(rows, [[1.0, 0.0], [-3.0, 0.0]])  # 1.15.5: [[1, -2], [0, 0]]
