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


MODEL = """
import tensorflow as tf


class SummaryModel(object):
    def __init__(self, hps, vocab_size, name="model"):
        self._hps = hps
        self._vocab_size = vocab_size

    def _add_placeholders(self):
        shape = [self._hps.batch_size, None]
        self._words = tf.placeholder(tf.int32, [self._hps.batch_size, 5], name="words")
        self._links = tf.sparse_placeholder(tf.float32)

    def build_graph(self):
        self._add_placeholders()
        self.logits = tf.sparse_tensor_dense_matmul(self._links, self._words)
        self._loss = tf.reduce_mean(self.logits)
        self._train_op = tf.train.AdagradOptimizer(self._hps.lr).minimize(self._loss)

    def run_train_step(self, sess, batch):
        return sess.run([self._train_op, self._loss], batch)


class Batch(object):
    pass
"""
META = """
import tensorflow as tf


class Meta:
    def __init__(self):
        self.rate = tf.placeholder_with_default(0.1, ())
        self.construct_weights = self.construct_fc

    def construct_model(self):
        with tf.variable_scope("model"):
            w = self.construct_weights()
            self.total_loss = tf.reduce_sum(w * self.rate)
        if w is not None:
            self.metatrain_op = tf.train.AdamOptimizer().minimize(self.total_loss)

    def construct_fc(self):
        return tf.get_variable("w", [2])
"""
SCRIPT = """
import tensorflow as tf

w = tf.get_variable("w", [2])
cost = tf.reduce_sum(w)
train_op = tf.train.AdamOptimizer().minimize(cost)
sess = tf.Session()
sess.run(tf.global_variables_initializer())


def get_score(edges):
    return sess.run(w)[edges]


for _ in range(3):
    _, loss = sess.run([train_op, cost])
"""


class InitTest(Folder):
    def setUp(self):
        super().setUp()
        self.write(legacy__net=LEGACY, legacy__common="RATE = 1\n")

    def functions(self, name):
        """{name: source} of what a written file defines."""
        source = (self.folder / name).read_text()
        nodes = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)]
        return {n.name: ast.get_source_segment(source, n) for n in nodes}

    def text(self, name):
        return (self.folder / name).read_text()

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

    def test_a_class_yields_what_it_fetches(self):
        self.write(legacy__model=MODEL)
        status, out, err = command("prove", "--init", "legacy/model.py")
        self.assertEqual((status, err), (0, ""))
        left = self.functions("left_model.py")
        self.assertEqual(list(left), ["as_sparse", "train_summary_model"])
        self.assertEqual(
            left["train_summary_model"],
            """\
def train_summary_model(hps, vocab_size, words, links):
    built = model.SummaryModel(types.SimpleNamespace(**hps), vocab_size)
    built.build_graph()
    fetches = {
        "logits": built.logits,
        "loss": built._loss,
        "train_op": built._train_op,
    }
    feed = {built._words: words, built._links: as_sparse(links)}
    for _ in range(3):
        yield fetches, feed""",
        )
        text = (self.folder / "test_model.py").read_text()
        for line in (
            'pair = Pair("left_model.py", "port_model.py", seed=1, widen=True)',
            '    {"batch_size": 1, "lr": 1},  # hps',
            "    8,  # vocab_size",
            "    integers(8, 5),  # words",
            "    normal(8, 8),  # links",
        ):
            self.assertIn(line + "\n", text)
        text = (self.folder / "port_model.py").read_text()
        self.assertIn('Yield {"logits": …, "loss": …} for each step', text)

    def test_a_file_that_runs_when_it_is_imported_is_imported_by_its_case(self):
        self.write(legacy__steps=SCRIPT)
        status, out, err = command("prove", "--init", "legacy/steps.py")
        self.assertEqual((status, err), (0, ""))
        left = self.functions("left_steps.py")
        self.assertEqual(list(left), ["steps"])
        self.assertIn("    from legacy import steps as script\n", left["steps"])
        self.assertIn('"loss": script.loss,', left["steps"])
        self.assertIn('"variables": {v.op.name: script.sess.run(v) for', left["steps"])
        self.assertNotIn("import steps\n", self.text("left_steps.py"))
        self.assertIn('pair.program("steps", "all of it")', self.text("test_steps.py"))

    def test_a_function_with_sparse_placeholders_is_fed_their_three_tensors(self):
        self.write(
            legacy__links="""
import subprocess
import tensorflow as tf

subprocess.run(["true"])


def build(links):
    links = tf.sparse_placeholder(tf.float32, name="links")
    other = tf.sparse_placeholder(tf.float32)
    x = tf.placeholder(tf.float32, [4, 2])
    return tf.sparse_tensor_dense_matmul(links, x)
"""
        )
        status, out, err = command("prove", "--init", "legacy/links.py")
        self.assertEqual((status, err), (0, ""))
        left = self.functions("left_links.py")["build"]
        self.assertIn(
            "from legacy import links as links_file", self.text("left_links.py")
        )
        self.assertIn("links_file.build(links)", left)
        self.assertIn("def build(links, links_fed, other, x):", left)
        for fed in (
            '"links/shape:0": as_sparse(links_fed).dense_shape',
            '"links/indices:0": as_sparse(links_fed).indices',
            '"Placeholder:0": as_sparse(other).dense_shape',
            '"Placeholder_1:0": as_sparse(other).values',
            '"Placeholder_3:0": x',
        ):
            self.assertIn(fed, left)

    def test_nothing_is_written_that_nothing_uses(self):
        self.write(legacy__model=MODEL, legacy__steps=SCRIPT)
        for name in ("net", "model", "steps"):
            command("prove", "--init", f"legacy/{name}.py")
            for page in (f"left_{name}.py", f"test_{name}.py"):
                with self.subTest(page):
                    tree = ast.parse(self.text(page))
                    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
                    bound = {
                        alias.asname or alias.name
                        for node in tree.body
                        if isinstance(node, (ast.Import, ast.ImportFrom))
                        for alias in node.names
                    }
                    self.assertLessEqual(bound, used)

    def test_numbers_are_guessed_by_their_names(self):
        self.write(legacy__sizes="def f(x, num_units, keep_prob):\n    return x\n")
        command("prove", "--init", "legacy/sizes.py")
        text = self.text("test_sizes.py")
        self.assertIn('normal("n", 3),  # x\n    8,  # num_units\n    0.5,', text)

    def test_a_module_of_a_package(self):
        self.write(legacy____init__="", legacy__alone="def f(x):\n    return x\n")
        command("prove", "--init", "legacy/alone.py")
        self.assertIn("from legacy import alone", self.text("left_alone.py"))

    def test_a_package_does_not_hide_the_module_beside_of_its_name(self):
        """As Python searches for a program: `from legacy import net` is legacy/net."""
        self.write(legacy____init__="", legacy__legacy="class Net:\n    pass\n")
        self.write(legacy__run="import legacy\n\n\ndef f(x):\n    return x\n")
        command("prove", "--init", "legacy/run.py")
        self.assertIn("import run\n", self.text("left_run.py"))
        self.assertIn('folders=["legacy"]', self.text("test_run.py"))

    def test_what_a_class_uses_itself_is_not_called_again(self):
        self.write(meta=META)
        command("prove", "--init", "meta.py")
        left = self.functions("left_meta.py")["train_meta"]
        self.assertIn("built.construct_model()", left)
        self.assertNotIn("construct_fc", left)
        self.assertIn('fetches = {"total_loss": built.total_loss}', left)
        self.assertIn('conditional = ["metatrain_op"]', left)
        self.assertIn("    normal(),  # rate", self.text("test_meta.py"))

    def test_nothing_is_overwritten_and_nothing_half_written(self):
        self.write(test_net="mine")
        status, out, err = command("prove", "--init", "legacy/net.py")
        self.assertEqual((status, out), (2, ""))
        self.assertEqual(
            err, "tf1to2: test_net.py exists: give another folder, --output DIR\n"
        )
        self.assertFalse((self.folder / "left_net.py").exists())
        self.assertEqual((self.folder / "test_net.py").read_text(), "mine")

    @parameterized.expand(
        [
            ("no_file", "nowhere.py", None, "No such file"),
            ("python_2", "old.py", "print 'x'\n", "is not valid Python 3"),
            ("no_function", "flat.py", "x = 1\n", "no public function"),
        ]
    )
    def test_what_cannot_be_started_from(self, _, name, text, message):
        if text:
            self.write(**{name: text})
        with self.assertRaisesRegex(CommandError, message):
            init.write(name)

    def test_a_file_that_fits_a_model_while_it_is_imported(self):
        self.write(flat="def clean(x):\n    return x\n\n\nnet.fit(clean(x), y)\n")
        command("prove", "--init", "flat.py")
        left = self.functions("left_flat.py")
        self.assertEqual(list(left), ["flat"])
        self.assertIn('{"net/weights": script.net.get_weights()}', left["flat"])

    def test_a_notebook_is_no_file_yet(self):
        (self.folder / "a.ipynb").write_text("{}")
        with self.assertRaisesRegex(CommandError, "nbconvert --to script a.ipynb"):
            init.write("a.ipynb")

    def test_a_folder_is_made(self):
        status, _, err = command("prove", "--init", "legacy/net.py", "--output", "a/b")
        self.assertEqual((status, err), (0, ""))
        self.assertIn(
            'folders=["../../legacy"]', (self.folder / "a/b/test_net.py").read_text()
        )
