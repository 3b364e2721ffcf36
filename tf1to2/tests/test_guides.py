"""What the guides show is what happens: their snippets run, their sessions are true."""

import argparse
import contextlib
import io
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import test_candidate_sampling as sampling
from tf1to2 import cli
from tf1to2.checkpoint import maps
from tf1to2.explain import errors_page
from tf1to2.pages import topics
from tf1to2.parity.cases import Layer as LayerCase
from tf1to2.parity.cases import Op, Program
from tf1to2.parity.v1 import legacy
from tf1to2.tests.playing import environment, played
from tf1to2.tests.test_situations import SITUATIONS
from tf1to2.tests.test_structure import ROOT
from upkeep import chapters
from v2_eager import rnn
from v2_eager.numerics import optimizers, restore
from v2_eager.numerics import rnn as numerics_rnn

BLOCK = re.compile(r"(?ms)^```(\w*)\n(.*?)^```$")


def text_of(path):
    """What people wrote in a guide; test_chapters.py runs the pairs that are made."""
    return chapters.by_hand(path.read_text("utf-8"))


def blocks(name, *languages):
    """[(what it begins with, text)] of the fenced blocks of a guide."""
    found = BLOCK.findall(text_of(ROOT / name))
    return [(text.split("\n")[0], text) for kind, text in found if kind in languages]


# The sessions of port are played below; test_stages.py, test_symptoms.py,
# test_errors.py and test_situations.py have theirs.
OTHERS = "port", "plan", "symptoms", *errors_page.PAGES, *SITUATIONS
CHAPTERS = [p for p in sorted((ROOT / "guide").glob("*.md")) if p.stem not in OTHERS]


def in_chapters(*languages):
    """`blocks` of all chapters."""
    return [block for path in CHAPTERS for block in blocks(path, *languages)]


def seeds():
    """`tf` as legacy code has it, with a random op in its graph."""
    tf.compat.v1.set_random_seed(7)
    tf.compat.v1.random_normal([2], seed=3)
    return {"tf": tf.compat.v1}


def cells():
    """What a program that converts cells has at hand."""
    rng = np.random.RandomState(0)
    names = "kernel", "bias", "gate_kernel", "gate_bias", "candidate_kernel"
    shapes = (5, 12), 12, (5, 6), 6, (5, 3)
    arrays = {n: rng.standard_normal(s) for n, s in zip(names, shapes, strict=True)}
    arrays["candidate_bias"] = rng.standard_normal(3)
    return {**vars(rnn), **arrays, "layer": Layer()}


class Layer:
    """Takes weights as a Keras layer does."""

    def set_weights(self, weights):
        for array in weights:
            assert np.isfinite(array).all()


def a_model():
    import tensorflow as tf

    model = tf.Module()
    model.w = tf.Variable([1.0, 2.0])
    return {"tf": tf, "model": model, "loss": None, "global_step": tf.Variable(0)}


def a_scope():
    """A model and its Adam, and a checkpoint in which the slots stand below a scope."""
    model, global_step = tf.Module(), tf.Variable(0, name="global_step")
    model.w = tf.Variable(tf.ones([3]), name="w")
    adam = optimizers.Adam().create_slots([model.w])
    names = "train/w/Adam", "train/w/Adam_1", "w"
    arrays = {name: np.full(3, i, "f") for i, name in enumerate(names)}
    arrays |= {f"train/beta{i}_power": np.float32(0.5) for i in (1, 2)}
    path = os.path.join(tempfile.mkdtemp(), "model.ckpt-1000")
    restore.save(path, {**arrays, "global_step": np.int32(1000)})
    found = {"model": model, "adam": adam, "global_step": global_step}
    return {**found, "restore": restore, "checkpoint": path}


def a_dropping_cell():
    """A cell whose variables are made, a layer on its outputs, and sequences."""
    cell = numerics_rnn.GRUCell(4, name="rnn/gru_cell")
    cell.build(3, tf.float32)
    found = {"cell": cell, "layer": tf.identity, "x": tf.ones([2, 5, 3])}
    return {**found, "rnn": numerics_rnn, "tf": tf}


def a_frozen_graph():
    import tensorflow as tf

    with tf.Graph().as_default() as graph:
        tf.multiply(tf.compat.v1.placeholder(tf.float32, [2], "x"), 3.0, name="y")
    path = os.path.join(tempfile.mkdtemp(), "saved")
    return {"tf": tf, "graph_def": graph.as_graph_def(), "path": path}


# {how a snippet begins: what it finds when it runs}.
SETTINGS = {
    "with tf.Graph().as_default() as graph, tf.compat.v1.Session() as sess:": (
        a_frozen_graph
    ),
    "for op in tf.get_default_graph().get_operations():": seeds,
    "from v2_eager.numerics import optimizers": a_model,
    "layer.set_weights(lstm_to_keras(kernel, bias, forget_bias=1.0))": cells,
    "saved = {**restore.named(model, global_step), "
    '**restore.named(adam, scope="train")}': a_scope,
    "@tf.function": a_dropping_cell,
    "import sys": dict,
    "from keras import ops": dict,
    "class SampledSoftmax(tf.keras.layers.Layer):": lambda: {"tf": tf},
    "tf.config.optimizer.set_experimental_options("
    '{"dependency_optimization": False})': lambda: {"tf": tf},
}
PRINTED = {"for op in": "random_normal/RandomStandardNormal 7 3\n"}


class SnippetsTest(unittest.TestCase):
    @parameterized.expand(in_chapters("python"))
    def test_python(self, first, text):
        out = io.StringIO()
        with legacy(), contextlib.redirect_stdout(out):
            exec(text, SETTINGS[first]())
        wanted = [p for start, p in PRINTED.items() if first.startswith(start)]
        self.assertEqual(out.getvalue(), "".join(wanted))

    @parameterized.expand(in_chapters("json"))
    def test_the_map_of_a_checkpoint(self, _, text):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(text)
            file.flush()
            mapping = maps.read_map(file.name)
        self.assertEqual(mapping["drop"], ["old/*"])

    def test_nothing_else_is_fenced(self):
        for path in CHAPTERS:
            kinds = {kind for kind, _ in BLOCK.findall(text_of(path))}
            known = {"python", "json", "diff", "yaml"}
            if path.stem in (*topics.COMMANDS, "checkpoints"):
                known |= {"", "console"}
            self.assertLessEqual(kinds, known, path.name)

    def test_a_diff_is_what_fix_writes(self):
        for _, diff in in_chapters("diff"):
            old, new = ([x[1:] for x in diff.splitlines() if x[0] == c] for c in "-+")
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "old.py")
                path.write_text("\n".join(["import tensorflow as tf", *old, ""]))
                cli.main(["fix", "--unsafe", "--write", str(path)])
                written = path.read_text().splitlines()
            self.assertEqual([line for line in new if line not in written], [])

    def test_a_hook_is_one_of_ours(self):
        ours = re.findall(r"id: (\S+)", text_of(ROOT / ".pre-commit-hooks.yaml"))
        for _, text in in_chapters("yaml"):
            self.assertLessEqual(set(re.findall(r"id: (\S+)", text)), set(ours))


SESSIONS = dict(blocks("README.md", "console"))
# Those that start TensorFlow.
PROVING = [first for first in SESSIONS if re.search("tf1to2 (verify|prove) ", first)]


def columns(first):
    """The width, as text, of a terminal that a session of README was seen in."""
    return str(max(map(len, SESSIONS[first].split("\n"))) + 1)


def unprinted(first, out):
    """The lines that a session of README shows, and that a command did not print."""
    printed = {" ".join(line.split()) for line in out.splitlines()}
    shown = [" ".join(line.split()) for line in SESSIONS[first].splitlines()[1:]]
    here = re.compile(r"…$|TensorFlow 2|recordings:|─")
    wanted = [line for line in shown if line and not here.match(line)]
    return [line for line in wanted if line not in printed]


class SessionsTest(unittest.TestCase):
    def check(self, first):
        environment = {**os.environ, "COLUMNS": columns(first)}
        command = [sys.executable, "-m", *shlex.split(first.removeprefix("$ "))]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True
        )
        self.assertEqual(unprinted(first, done.stdout), [])

    @parameterized.expand([(s,) for s in SESSIONS if s not in PROVING])
    def test_it_prints_that(self, first):
        self.check(first)

    @parameterized.expand([(s,) for s in PROVING])
    @pytest.mark.slow
    def test_it_proves_that(self, first):
        self.check(first)


# The port by Keras has an example of its own; see test_examples.py.
CHAPTER = {f: t for f, t in blocks("guide/port.md", "console") if "of 46" not in t}
LONG = ("prove", "mutate", "convert-checkpoint", "pytest")


def played_in_copy(text, *examples):
    """`played` in a folder that has a copy of each path below examples/."""
    with tempfile.TemporaryDirectory() as folder:
        for name in examples:
            shutil.copytree(
                ROOT / "examples" / name,
                os.path.join(folder, "examples", name),
                ignore=shutil.ignore_patterns("__py*"),
            )
        inside = os.path.join("examples", *examples) if len(examples) == 1 else ""
        return played(text, os.path.join(folder, inside), environment())


COMMANDS = [
    (f"{name}: {first}", text)
    for name in topics.COMMANDS
    if name != "port"
    for first, text in blocks(f"guide/{name}.md", "console")
]


def commands():
    """{name: its parser} of all commands of `tf1to2`."""
    (found,) = cli._parser()._subparsers._group_actions
    return found.choices


class CommandsTest(unittest.TestCase):
    """The sessions of the chapters on commands, in a copy of examples/legacy."""

    def check(self, text):
        self.assertEqual(played_in_copy(text, "legacy", "ported"), [])

    @parameterized.expand([row for row in COMMANDS if "verify" not in row[0]])
    def test_it_prints_that(self, _, text):
        self.check(text)

    @parameterized.expand([row for row in COMMANDS if "verify" in row[0]])
    @pytest.mark.slow
    def test_it_proves_that(self, _, text):
        self.check(text)

    def test_every_option_is_in_the_chapter_of_its_command(self):
        elsewhere = {
            "diff": "take",
            "verify": "proof",
            **dict.fromkeys(["prove", "record", "mutate", "bench"], "port"),
            "convert-checkpoint": "checkpoints",
            "topics": "take",
            "page": "install",
        }
        missing = []
        for name, parser in commands().items():
            path = ROOT / "guide" / f"{elsewhere.get(name, name)}.md"
            text = path.read_text("utf-8")
            shown = [a for a in parser.filled()._actions if a.help != argparse.SUPPRESS]
            options = sum([a.option_strings[-1:] for a in shown], [])
            asked = [f"tf1to2 {name}", *options]
            missing += [(name, o) for o in asked if o not in text and o != "--help"]
        self.assertEqual(missing, [])


class PairTest(unittest.TestCase):
    def test_the_file_of_the_chapter_makes_these_cases(self):
        first, text = blocks("guide/port.md", "python")[0]
        self.assertEqual(first, "# test_port.py")
        with tempfile.TemporaryDirectory() as folder:
            for name in ("legacy/net.py", "ported/net.py"):
                path = pathlib.Path(folder, name)
                path.parent.mkdir()
                path.write_text("__all__ = []\n")
            file = os.path.join(folder, "test_port.py")
            exec(compile(text, file, "exec"), found := {"__file__": file})
        kinds = [type(case) for case in found["pair"].cases]
        self.assertEqual(kinds, [Op, LayerCase, Program])


class ChapterTest(unittest.TestCase):
    """The sessions of guide/port.md, each in a copy of examples/port."""

    def check(self, first):
        self.assertEqual(played_in_copy(CHAPTER[first], "port"), [])

    @parameterized.expand(
        [(s,) for s, text in CHAPTER.items() if not any(w in text for w in LONG)]
    )
    def test_it_prints_that(self, first):
        self.check(first)

    @parameterized.expand(
        [(s,) for s, text in CHAPTER.items() if any(w in text for w in LONG)]
    )
    @pytest.mark.slow
    def test_it_proves_that(self, first):
        self.check(first)

    def test_what_is_not_printed_is_told(self):
        told = played("$ echo one; echo two\none\ntw…\nthree\n", ROOT, os.environ)
        self.assertEqual([line for _, line, _ in told], ["three"])


class InstallTest(unittest.TestCase):
    def test_what_is_on_no_index_comes_from_a_path_or_an_address(self):
        ways = re.compile(
            r"PATH_TO_TF1TO2|git\+https://YOUR-HOST|tf1to2\[\w+\] @ git\+https://YOUR-HOST"
        )
        tools = [p for p in (ROOT / "tf1to2").rglob("*.py") if "tests" not in p.parts]
        for path in (ROOT / "README.md", ROOT / "guide" / "install.md", *tools):
            text = path.read_text("utf-8")
            with self.subTest(path=path.name):
                named = re.findall(r"pip install [\"']*(.*)", text)
                self.assertEqual([way for way in named if not ways.match(way)], [])


class SampledSoftmaxTest(unittest.TestCase):
    def test_the_layer_of_the_chapter_adds_this_loss(self):
        text = (ROOT / "guide/candidate_sampling.md").read_text("utf-8")
        (code,) = re.findall(r"(?ms)^```python\n(class .*?)^```$", text)
        exec(code, found := {"tf": tf})
        weights = [sampling.START["nce_weights"], sampling.START["nce_biases"]]
        inputs, labels = (
            tf.keras.Input([sampling.DEPTH]),
            tf.keras.Input([1], dtype="int64"),
        )
        layer = found["SampledSoftmax"](sampling.CLASSES, sampling.DRAWN, seed=5)
        model = tf.keras.Model([inputs, labels], layer(inputs, labels))
        model.set_weights(weights)
        model.compile("sgd")
        x, y = (
            sampling.RNG.normal(size=[67, sampling.DEPTH]).astype("f"),
            sampling.CONTEXTS[0],
        )
        tf.random.set_seed(3)
        (loss,) = model.fit([x, y], batch_size=67, verbose=0).history["loss"]

        @tf.function
        def directly():
            losses = tf.nn.sampled_softmax_loss(
                *weights, y, x, sampling.DRAWN, sampling.CLASSES, seed=5
            )
            return tf.reduce_mean(losses)

        tf.random.set_seed(3)
        self.assertEqual(np.float32(loss), directly().numpy())
        logits = tf.matmul(x, layer.kernel, transpose_b=True) + layer.bias
        predicted = model.predict([x, y], batch_size=67, verbose=0)
        self.assertEqual(predicted.tolist(), logits.numpy().tolist())
        self.assertNotEqual(layer.bias.numpy().tolist(), weights[1].tolist())
