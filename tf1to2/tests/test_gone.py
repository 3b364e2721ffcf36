"""What the chapter `bridges` says of `compat.v1` that works no more, row by row."""

import unittest

import tensorflow as tf
from parameterized import parameterized

from tf1to2.pages import topics

V1 = tf.compat.v1
X = tf.constant([1.0, 2.0])


def call(code):
    """Calls `code`, a function of x, as a `tf.function`."""
    return lambda: tf.function(code)(X)


# {a code of the chapter's table: what runs it}.
GONE = {
    "metrics.mean(x)`, eagerly": lambda: V1.metrics.mean(X),
    "metrics.mean(x)`, in": call(lambda x: V1.metrics.mean(x)),
    "layers.dense": lambda: V1.layers.dense(X, 2),
    "BasicLSTMCell": lambda: V1.nn.rnn_cell.BasicLSTMCell(2),
    "placeholder": lambda: V1.placeholder(tf.float32),
    "v1.Session": lambda: V1.Session().run(X),
    "gradients": lambda: V1.gradients(X * X, X),
    "minimize": lambda: V1.train.AdamOptimizer().minimize(X),
    "Saver": lambda: V1.train.Saver(),
    "import_meta_graph": lambda: V1.train.import_meta_graph("model.meta"),
    "FileWriter": lambda: V1.summary.FileWriter("logs"),
    "get_total_loss": lambda: V1.losses.get_total_loss(),
    "initializer=tf.constant": lambda: V1.wrap_function(
        lambda: V1.get_variable("w", initializer=tf.constant([1.0])), []
    ),
}


def gone():
    """[(code, message)] of the chapter's table of what works no more."""
    chapter = topics.document("guide/bridges.md")
    _, _, table = chapter.read_text("utf-8").partition("| code | error |\n|---|---|\n")
    rows = table.partition("\n\n")[0].splitlines()
    return [tuple(row.strip("| ").split(" | ")) for row in rows]


class GoneTest(unittest.TestCase):
    def test_each_row_has_its_test(self):
        self.assertEqual(len(gone()), len(GONE))

    @parameterized.expand(gone())
    def test_it_raises(self, code, message):
        (fails,) = [run for part, run in GONE.items() if part in code]
        with self.assertRaises(Exception) as raised:
            fails()
        self.assertIn(message.strip("` "), str(raised.exception))
