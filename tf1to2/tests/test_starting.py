"""What `tf1to2 prove --init` makes of a legacy module."""

import ast

from parameterized import parameterized

from tf1to2.common.errors import CommandError
from tf1to2.prove import init
from tf1to2.tests.commands import Folder, command

LEGACY = '''
"""A legacy program."""
import numpy as np
import tensorflow as tf
import common


def _private(x):
    return x


def softmax(logits, temperature=1.0):
    return tf.nn.softmax(logits / temperature)


def encode(x):
    with tf.variable_scope("encoder"):
        return tf.layers.dense(x, 4)


def build(rate):
    images = tf.placeholder(tf.float32, [None, 784], name="images")
    labels = tf.placeholder(tf.int64, shape=(None,))
    train = tf.placeholder_with_default(False, [])
    return encode(images), labels, train, rate


def fit(images, labels):
    x = tf.placeholder(tf.float32, images.shape)
    with tf.Session() as sess:
        return sess.run(tf.reduce_sum(x), {x: images})


def main(_):
    fit(np.zeros(3), None)


def report():
    pass
'''


class InitTest(Folder):
    def setUp(self):
        super().setUp()
        self.write(legacy__net=LEGACY, legacy__common="RATE = 1\n")

    def functions(self, name):
        """{name: source} of what a written file defines."""
        source = (self.folder / name).read_text()
        nodes = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)]
        return {n.name: ast.get_source_segment(source, n) for n in nodes}

    def test_three_files_and_what_comes_next(self):
        status, out, err = command("prove", "--init", "legacy/net.py")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("wrote left_net.py, port_net.py, test_net.py", out)
        self.assertIn("left out: main, which runs the program", out)
        self.assertIn("left out: report, which takes no arguments", out)
        for name in ("record", "scan", "prove", "mutate"):
            self.assertIn(f"tf1to2 {name} ", out)

    def test_the_left_page(self):
        command("prove", "--init", "legacy/net.py")
        left = self.functions("left_net.py")
        self.assertEqual(list(left), ["softmax", "make_encode", "build", "fit"])
        self.assertIn("return net.softmax(logits)", left["softmax"])
        self.assertIn('tf.make_template("encode", net.encode)', left["make_encode"])
        self.assertIn("def build(rate, images, labels, train)", left["build"])
        feed = '{"images:0": images, "Placeholder:0": labels, '
        self.assertIn(feed + '"PlaceholderWithDefault:0": train}', left["build"])
        self.assertIn("tf.set_random_seed(SEED)", left["build"])
        self.assertIn("return net.fit(images, labels)", left["fit"])

    def test_the_test(self):
        command("prove", "--init", "legacy/net.py")
        text = (self.folder / "test_net.py").read_text()
        self.assertIn('folders=["legacy"]', text)  # which imports what lies beside it
        self.assertIn("normal(8, 784),  # images", text)
        self.assertIn('integers(8, dtype="int64"),  # labels', text)
        self.assertIn("import Pair, integers, normal\n", text)

    def test_the_port_has_the_names(self):
        command("prove", "--init", "legacy/net.py")
        names = [*self.functions("left_net.py")]
        self.assertEqual([*self.functions("port_net.py")], names)

    def test_a_module_of_a_package(self):
        self.write(**{"legacy/__init__": ""})
        command("prove", "--init", "legacy/net.py")
        text = (self.folder / "left_net.py").read_text()
        self.assertIn("from legacy import net", text)

    def test_nothing_is_overwritten_and_nothing_half_written(self):
        self.write(test_net="mine")
        status, out, err = command("prove", "--init", "legacy/net.py")
        self.assertEqual((status, out), (2, ""))
        self.assertEqual(
            err, "tf1to2: test_net.py is there already: --output names a folder\n"
        )
        self.assertFalse((self.folder / "left_net.py").exists())
        self.assertEqual((self.folder / "test_net.py").read_text(), "mine")

    @parameterized.expand(
        [
            ("no_file", "nowhere.py", None, "No such file"),
            ("python_2", "old.py", "print 'x'\n", "is no Python 3"),
            ("no_function", "flat.py", "x = 1\n", "no public function"),
        ]
    )
    def test_what_cannot_be_started_from(self, _, name, text, message):
        if text:
            self.write(**{name: text})
        with self.assertRaisesRegex(CommandError, message):
            init.write(name)

    def test_no_such_folder(self):
        with self.assertRaisesRegex(CommandError, "No such file or directory"):
            init.write("legacy/net.py", "nowhere")
