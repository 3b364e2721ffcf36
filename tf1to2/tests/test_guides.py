"""What the guides show is what happens: their snippets run, their sessions are true."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from tf1to2 import checkpoint
from tf1to2.parity.v1 import legacy
from tf1to2.tests.test_structure import ROOT
from v2_eager import rnn

BLOCK = re.compile(r"(?ms)^```(\w*)\n(.*?)^```$")


def blocks(name, *languages):
    """[(what it begins with, text)] of the fenced blocks of a guide."""
    found = BLOCK.findall((ROOT / name).read_text("utf-8"))
    return [(text.split("\n")[0], text) for kind, text in found if kind in languages]


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


# {how a snippet begins: what it finds when it runs}.
SETTINGS = {
    "for op in tf.get_default_graph().get_operations():": seeds,
    "layer.set_weights(lstm_to_keras(kernel, bias, forget_bias=1.0))": cells,
}
PRINTED = {"for op in": "random_normal/RandomStandardNormal 7 3\n"}


class SnippetsTest(unittest.TestCase):
    @parameterized.expand(blocks("MIGRATION.md", "python"))
    def test_python(self, first, text):
        out = io.StringIO()
        with legacy(), contextlib.redirect_stdout(out):
            exec(text, SETTINGS[first]())
        wanted = [p for start, p in PRINTED.items() if first.startswith(start)]
        self.assertEqual(out.getvalue(), "".join(wanted))

    @parameterized.expand(blocks("MIGRATION.md", "json"))
    def test_the_map_of_a_checkpoint(self, _, text):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(text)
            file.flush()
            mapping = checkpoint.read_map(file.name)
        self.assertEqual(mapping["drop"], ["old/*"])

    def test_nothing_else_is_fenced(self):
        kinds = {kind for kind, _ in BLOCK.findall((ROOT / "MIGRATION.md").read_text())}
        self.assertLessEqual(kinds, {"python", "json"})


SESSIONS = dict(blocks("README.md", "console"))


class SessionsTest(unittest.TestCase):
    def check(self, first):
        text = SESSIONS[first]
        columns = str(max(map(len, text.split("\n"))) + 1)
        environment = {**os.environ, "COLUMNS": columns}
        environment.pop("TF1TO2_RECIPE", None)
        command = [sys.executable, "-m", *shlex.split(first.removeprefix("$ "))]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True
        )
        printed = {" ".join(line.split()) for line in done.stdout.splitlines()}
        shown = [" ".join(line.split()) for line in text.splitlines()[1:]]
        here = re.compile(r"…$|TensorFlow 2|recordings:|─")
        wanted = [line for line in shown if line and not here.match(line)]
        self.assertEqual([line for line in wanted if line not in printed], [])

    @parameterized.expand([(s,) for s in SESSIONS if "verify" not in s])
    def test_it_prints_that(self, first):
        self.check(first)

    @parameterized.expand([(s,) for s in SESSIONS if "verify" in s])
    @pytest.mark.slow
    def test_it_proves_that(self, first):
        self.check(first)
