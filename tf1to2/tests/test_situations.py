"""The pages of the guide for situations: their blocks run in order and print that."""

import contextlib
import io
import os
import pathlib
import re
import runpy
import shutil
import sys
import tempfile
import textwrap
import unittest
import warnings
from unittest import mock

import keras
import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from tf1to2.pages import topics
from tf1to2.tests.playing import (
    environment,
    played,
    registered_no_more,
    run,
    unprinted,
)
from tf1to2.tests.test_structure import ROOT
from tf1to2.view import take

SITUATIONS = """
    large-program both-versions numbers-differ slower old-checkpoint frozen-graph
    keras-2-files model-zoo
""".split()
FILES = pathlib.Path(__file__).parent / "situations"  # as 1.15.5 wrote them
BLOCK = re.compile(r"(?ms)^( *)```(\w*)\n(.*?)^\1```$")
CLOSE = {"rel_tol": 2e-5, "abs_tol": 1e-6}  # float32, on any processor


def blocks(page):
    """[(language, text)] of a page."""
    text = topics.document(f"guide/{page}.md").read_text("utf-8")
    return [(kind, textwrap.dedent(code)) for _, kind, code in BLOCK.findall(text)]


class Played:
    """The blocks of a page, run in one folder; the Python in one namespace.

    Args:
        page: its name.
        given: {name: value} that the page says the reader has.
        close: of `math.isclose`, for numbers.
    """

    def __init__(self, page, given, close=CLOSE):
        self.page, self.space, self.close = page, dict(given), close
        self.missing = []  # [(block, line that is not printed)]

    def play(self, **apart):
        """Runs all blocks.

        Args:
            apart: {beginning of a block: names that it finds, and that others do not}.
                What it defines is not seen by others.
        """
        out = ""
        for kind, text in blocks(self.page):
            if kind == "python":
                own = [
                    names for start, names in apart.items() if text.startswith(start)
                ]
                out = self.python(text, {**self.space, **own[0]} if own else self.space)
            elif kind == "console" and text.startswith("$ "):
                self.console(text)
            elif kind == "console":
                lines = unprinted(text, out, self.close)
                self.missing += [(text, line, out) for line in lines]
        return self

    def python(self, text, space):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of Keras and NumPy
            exec(text, space)
        return out.getvalue()

    def console(self, text):
        self.missing += played(text, ".", environment(), self.close)


@contextlib.contextmanager
def folder_of(page):
    """Works in a copy of a page's files, whose modules can be imported."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        if (FILES / page).exists():
            shutil.copytree(FILES / page, folder, dirs_exist_ok=True)
        os.chdir(folder)
        sys.path.insert(0, folder)
        try:
            with registered_no_more():
                yield pathlib.Path(folder)
        finally:
            os.chdir(before)
            sys.path.remove(folder)
            for name in ("legacy_numerics", "legacy_files"):
                sys.modules.pop(name, None)


def write_taken(*names):
    path = pathlib.Path("legacy_numerics.py")
    path.write_text(take.taken(names), "utf-8")


class FrozenGraphTest(unittest.TestCase):
    def test_it_prints_that(self):
        with folder_of("frozen-graph"):
            write_taken("saved_models.from_graph")
            own = "from legacy_numerics import from_graph"
            page = Played("frozen-graph", {})
            page.play(**{own: {}})
            self.assertEqual(page.missing, [])
            x = tf.constant(np.load("x.npy"))
            (code,) = [text for _, text in blocks("frozen-graph") if own in text]
            exec(code, space := {})
            wanted = page.space["network"](x)[0].numpy().tolist()
            self.assertEqual(space["network"](x)[0].numpy()[0].tolist(), wanted)
            loaded = page.space["loaded"].signatures["serving_default"]
            self.assertEqual(
                loaded(images=x)["probabilities"][0].numpy().tolist(), wanted
            )


class Scale(keras.layers.Layer):
    """The custom layer of old.py, on Keras 3."""

    def __init__(self, by=1.0, **options):
        super().__init__(**options)
        self.by = by

    def build(self, shape):
        self.w = self.add_weight(name="w", shape=[shape[-1]], initializer="ones")

    def call(self, x):
        return x * self.w * self.by

    def get_config(self):
        return {**super().get_config(), "by": self.by}


def swish(x):
    return x * keras.ops.sigmoid(x)


class KerasFilesTest(unittest.TestCase):
    def test_it_prints_that(self):
        with folder_of("keras-2-files"):
            data = np.load("data.npz")
            given = {"keras": keras, "Scale": Scale, "swish": swish, **data}
            page = Played("keras-2-files", given).play()
            self.assertEqual(page.missing, [])


class Renamed(tf.Module):
    """The network of the checkpoint, whose variables have new names."""

    def __init__(self):
        super().__init__()
        self.hidden = self.pair("hidden", 5, 8)
        self.output = self.pair("output", 8, 2)

    @staticmethod
    def pair(name, rows, columns):
        w = tf.Variable(tf.zeros([rows, columns]), name=f"{name}/w")
        return [w, tf.Variable(tf.zeros([columns]), name=f"{name}/b")]


class CheckpointTest(unittest.TestCase):
    LOSSES = [0.035988864, 0.035557292, 0.03512972]  # of 1.15.5, as the page says

    def test_it_prints_that(self):
        with folder_of("old-checkpoint"):
            write_taken("restore.by_name", "restore.named", "optimizers.Adam")
            from legacy_numerics import Adam

            rng = np.random.RandomState(0)
            x = rng.randn(64, 5).astype("float32")
            y = (x[:, :2].sum(1) > 0).astype("int64")
            model = Renamed()
            adam = Adam(0.01).create_slots(model.trainable_variables)
            step = tf.Variable(0, trainable=False, dtype=tf.int64, name="global_step")
            checkpoint = tf.train.Checkpoint(model=model, adam=adam, step=step)
            checkpoint.write("template.ckpt")
            page = Played("old-checkpoint", {"batches": [(x, y)] * 3})
            page.play(OLD={"model": model, "adam": adam, "step": step})
            self.assertEqual(page.missing, [])


def edit(path, old, new):
    """Replaces a text that is in a file once."""
    text = path.read_text("utf-8")
    assert text.count(old) == 1, (path, old)
    path.write_text(text.replace(old, new), "utf-8")


class LargeProgramTest(unittest.TestCase):
    PROGRAM = ROOT / "examples" / "port" / "legacy" / "reviews"

    def test_it_prints_that(self):
        with folder_of("large-program") as folder:
            shutil.copytree(self.PROGRAM, folder / "reviews")
            # Steps of training make the last digits of other kernels larger.
            page = Played("large-program", {}, {"rel_tol": 3e-3})
            for kind, text in blocks("large-program"):
                if text.startswith("import collections"):
                    (folder / "count.py").write_text(text, "utf-8")
                elif text.startswith("sed"):
                    run(text, ".", environment())
                    self.by_hand(folder)
                elif kind == "console":
                    page.console(text)
            self.assertEqual(page.missing, [])

    def by_hand(self, folder):
        """What the page says to change, besides the imports."""
        train = folder / "reviews" / "train.py"
        edit(
            train,
            "from reviews import data",
            "tf.disable_v2_behavior()\n\nfrom reviews import data",
        )
        old = "return tf.contrib.layers.l2_regularizer(FLAGS.l2)"
        new = "return lambda kernel: FLAGS.l2 * tf.nn.l2_loss(kernel)"
        edit(folder / "reviews" / "net.py", old, new)

    def test_an_eager_step_calls_the_graph(self):
        (code,) = [text for _, text in blocks("large-program") if "Scorer" in text]
        exec(code, space := {})
        scorer, x = space["Scorer"](), tf.constant([[1.0, 0.0], [0.0, 1.0]])
        self.assertEqual(scorer(x).tolist(), [[1.0], [2.0]])
        with self.assertRaisesRegex(NotImplementedError, "Cannot convert a symbolic"):
            tf.function(scorer)(x)


class BothVersionsTest(unittest.TestCase):
    OLD = """
        import tensorflow as tf

        x = tf.placeholder(tf.float32, [None, 2])
        right = tf.to_float(tf.equal(tf.argmax(x, dimension=1), 1))
        error = tf.reduce_mean(right, keep_dims=True)
    """
    TRAINING = """
        x = tf.placeholder(tf.float32, [None, 2])
        loss = tf.reduce_mean(tf.square(dense(x, 3, "out") - 1.0))
        loss += tf.losses.get_regularization_loss()
        optimizer = tf.train.AdamOptimizer(0.1)
        gradients = optimizer.compute_gradients(loss)
        with tf.control_dependencies([loss]):
            train_op = optimizer.apply_gradients(gradients)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(3):
                value = sess.run([loss, train_op], {x: [[1, 0], [0, 1]]})[0]
                print(tf.__version__, value)
    """

    def test_fix_writes_that(self):
        with folder_of("both-versions") as folder:
            (folder / "old.py").write_text(textwrap.dedent(self.OLD), "utf-8")
            page = Played("both-versions", {})
            (session,) = [t for _, t in blocks("both-versions") if "tf1to2 fix" in t]
            page.console(session)
            self.assertEqual(page.missing, [])

    def test_scan_reports_nothing_for_guards(self):
        with folder_of("both-versions") as folder:
            (code,) = [text for _, text in blocks("both-versions") if "TF1 =" in text]
            (folder / "guards.py").write_text(code, "utf-8")
            printed = run("tf1to2 scan guards.py", ".", environment())
            self.assertIn("0 uses of TensorFlow 1 in 0 of 1 file", printed)

    @parameterized.expand(
        [("today", sys.executable), ("1_15_5", os.environ.get("TF1_PYTHON"))]
    )
    def test_the_program_prints_that(self, _, python):
        if python is None:
            self.skipTest("TF1_PYTHON names no TensorFlow 1.15.5")
        parts = [
            text
            for kind, text in blocks("both-versions")
            if kind == "python" and "TF1 =" not in text
        ]
        (shown,) = [t for _, t in blocks("both-versions") if "python3.7 net.py" in t]
        shown = re.sub(r"(?m)^\$.*\n|^\S+ ", "", shown)
        with folder_of("both-versions") as folder:
            text = "\n".join([*parts, textwrap.dedent(self.TRAINING)])
            (folder / "net.py").write_text(text, "utf-8")
            printed = run(f"{python} net.py", ".", environment())
            printed = re.sub(r"(?m)^[12]\.\d+\.\d+ ", "", printed)
            self.assertEqual(unprinted(shown, printed, CLOSE), [])


class SlowerTest(unittest.TestCase):
    def test_the_example_runs(self):
        rng = np.random.RandomState(0)
        arrays = rng.randn(64, 32).astype("f"), rng.randn(64, 1).astype("f")
        x, y = map(tf.constant, arrays)
        given = {"tf": tf, "x": x, "y": y, "rate": 0.1, "rates": [0.1, 0.05]}
        code = [text for kind, text in blocks("slower") if kind == "python"]
        with folder_of("slower") as folder:  # AutoGraph reads the source
            (folder / "steps.py").write_text("\n".join(code), "utf-8")
            space = runpy.run_path("steps.py", given)
        traced = tf.function(space["step"])
        for rate in given["rates"]:
            traced(x, y, rate)
        self.assertEqual(traced.experimental_get_tracing_count(), 2)


class ModelZooTest(unittest.TestCase):
    @pytest.mark.slow
    def test_the_names_are_those_of_the_checkpoint(self):
        code = [text for kind, text in blocks("model-zoo") if kind == "python"]
        listing, restoring = code
        with folder_of("model-zoo"):
            write_taken(
                *("slim_networks.ResNetV2", "restore.by_name"),
                *("restore.named", "restore.save"),
            )
            import legacy_numerics

            space, written = {"tf": tf, "images": np.zeros([1, 64, 64, 3], "f")}, {}
            with mock.patch.object(legacy_numerics, "by_name", self.kept(written)):
                exec(restoring, dict(space))
            legacy_numerics.save("resnet_v2_50.ckpt", written)
            page = Played("model-zoo", {})
            names = page.python(listing, space).splitlines()
            self.assertEqual(len(names), 272)
            unit = "resnet_v2_50/block1/unit_1/bottleneck_v2/preact/gamma"
            self.assertIn(f"{unit} [64]", names)
            self.assertRegex(page.python(restoring, space), "^272 ")

    def kept(self, written):
        """A `by_name` that only keeps the names that it is asked for."""
        return lambda _, names: written.update(names)


class NumbersDifferTest(unittest.TestCase):
    PORT = """
        import numpy as np
        import tensorflow as tf


        def train(x, y, steps):
            kernel = tf.Variable(tf.zeros([3], tf.float32))
            optimizer = tf.keras.optimizers.Adam(0.1)

            @tf.function
            def step(x, y):
                with tf.GradientTape() as tape:
                    logits = tf.reduce_sum(x * kernel, 1)
                    loss = tf.reduce_mean(
                        tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits)
                    )
                gradient = tape.gradient(loss, kernel)
                weights = tf.identity(kernel)
                optimizer.apply_gradients([(gradient, kernel)])
                return {"1 weights": weights, "2 loss": loss, "3 gradient": gradient}

            optimizer.build([kernel])
            history = {}
            for i in range(steps):
                seen = step(tf.constant(x), tf.constant(y))
                history[i] = {name: value.numpy() for name, value in seen.items()}
            return history
    """

    @unittest.skipUnless(os.environ.get("TF1_PYTHON"), "TF1_PYTHON names none")
    @pytest.mark.slow
    def test_it_prints_that(self):
        with folder_of("numbers-differ") as folder:
            for kind, text in blocks("numbers-differ"):
                if kind == "python":
                    path = folder / text.partition("\n")[0].removeprefix("# ")
                    path.parent.mkdir(exist_ok=True)
                    path.write_text(text, "utf-8")
            port = folder / "ported" / "net.py"
            port.parent.mkdir()
            port.write_text(textwrap.dedent(self.PORT), "utf-8")
            page = Played("numbers-differ", {}, {"rel_tol": 0.1})
            found, mended = [t for _, t in blocks("numbers-differ") if t[0] == "$"]
            page.console(found)
            own = "*np.float32([0.1, 0.9, 0.999, 1e-8]).tolist()"
            edit(port, "Adam(0.1)", f"Adam({own})")
            page.console(mended)
            self.assertEqual(page.missing, [])


class MigrationTest(unittest.TestCase):
    def test_it_leads_to_all_situations(self):
        text = (ROOT / "MIGRATION.md").read_text("utf-8")
        part = text.partition("## Your situation")[2].partition("\n## ")[0]
        found = re.findall(r"guide/([\w-]+)\.md\)", part)
        self.assertEqual([name for name in SITUATIONS if name not in found], [])
