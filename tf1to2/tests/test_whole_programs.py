"""Whole programs, `models_…`: files that both sides read; what the tools make of them.

Each side goes on from the files that the other side wrote. `convert-checkpoint` finds
the place of each variable by itself. `scan` finds every name of the left page that is
gone, and what `fix` writes still gives the recorded numbers. `record` and `prove` prove
the right page as a port of the left page, in a folder of a user.
"""

import ast
import importlib
import os
import pathlib
import pickle
import re
import tempfile
import unittest

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PROVIDER
from parity_tests.hazards.test_modules import CASES, NO_NAMES
from parity_tests.models import HALF
from tf1to2.fix import planning
from tf1to2.pages import topics
from tf1to2.pages.page import Page
from tf1to2.parity import recordings, structure, v2
from tf1to2.scan import findings
from tf1to2.tests.commands import command
from v2_eager.numerics import restore

GENUINE = os.environ.get("TF1_PYTHON")
MODULES = [
    (name.partition(".")[2], case)
    for name, case in CASES
    if name.startswith(f"v2_eager.{topics.WHOLE}") and not isinstance(case, str)
    if name not in NO_NAMES  # a template has metrics, which no old checkpoint has
]
NAMES = [(name,) for name in topics.topics() if name.startswith(topics.WHOLE)]


@unittest.skipUnless(GENUINE, "TF1_PYTHON names no TensorFlow 1.15.5")
@pytest.mark.slow
class GoingOnTest(unittest.TestCase):
    """Trains half of the steps, saves, and goes on from the files, in float64.

    The left page runs on TensorFlow 1.15.5, which writes its files with a `Saver`.
    """

    @parameterized.expand(NAMES)
    def test_the_sides_read_the_files_of_each_other(self, name):
        proof = PROVIDER.load(name)
        test = importlib.import_module(PROVIDER.module(name))
        first, last = self.halves(test.MODEL)
        ours = self.of_the_right(proof, first)
        (theirs,) = self.of_the_left(proof, [first])
        self.compare(theirs, ours)
        requests = [last(files_of(answer)) for answer in (theirs, ours)]
        expected = self.of_the_left(proof, requests)
        self.compare(*expected)  # it reads our files as its own
        for request in requests:
            self.compare(expected[0], self.of_the_right(proof, request))

    @staticmethod
    def halves(model):
        """(request of the first half, function from its files to that of the other)."""
        case = model.train(HALF, "half of the steps")
        *args, start = structure.widen(case.args)
        request = {**case.request(case.bindings()[0]), **case.wide, "keep": True}
        position = len(args)

        def with_files(kind, checkpoint):
            files = {position: kind, position + 1: "folder"}
            return {**request, "args": [*args, checkpoint, None], "files": files}

        first = with_files("checkpoint", start)
        return first, lambda files: with_files("files", files)

    @staticmethod
    def of_the_left(proof, requests):
        return recordings.ask(GENUINE, proof.left, requests)[0]

    @staticmethod
    def of_the_right(proof, request):
        return v2.run(proof.v2, [request], "function")[0]

    def compare(self, expected, actual):
        self.assertNotIn("raised", expected, expected.get("message"))
        sides = [
            {p: x for p, x in answer.items() if not p.startswith("files/")}
            for answer in map(structure.narrow, (expected, actual))
        ]
        self.assertEqual(*map(sorted, sides))
        for path, value in sides[0].items():
            np.testing.assert_array_equal(sides[1][path], value, path)


class ConvertTest(unittest.TestCase):
    """Converts a checkpoint by names to one by objects, without a map."""

    @parameterized.expand(MODULES)
    def test_it_finds_the_place_of_each_variable(self, _, case):
        module = case.make("float32")
        case.ask(module)  # makes missing variables
        variables = restore.named(module)
        for number, (_, variable) in enumerate(sorted(variables.items())):
            values = np.arange(np.prod(variable.shape)) + number
            variable.assign(np.reshape(values, variable.shape))
        wanted = {name: variable.numpy() for name, variable in variables.items()}
        with tempfile.TemporaryDirectory() as folder:
            old, like, new = (os.path.join(folder, n) for n in ("old", "like", "new"))
            restore.save(old, variables)
            like = tf.train.Checkpoint(module=module).save(like)
            result = command("convert-checkpoint", old, new, "--like", like)
            self.assertEqual(result.status, 0, result.out)
            for variable in variables.values():
                variable.assign(tf.zeros_like(variable))
            saved = tf.train.Checkpoint(module=module).read(new)
            saved.assert_existing_objects_matched()
        for name, value in wanted.items():
            np.testing.assert_array_equal(variables[name].numpy(), value, name)


class ScanTest(unittest.TestCase):
    @parameterized.expand(NAMES)
    def test_every_name_that_is_gone_is_found(self, name):
        path = topics.topics()[name].v1
        gone = set(gone_names(ast.parse(path.read_text("utf-8"))))
        found = findings.scan([str(path)]).findings
        self.assertTrue(gone)
        self.assertEqual(gone - {(one.line, one.entry.symbol) for one in found}, set())


def gone_names(tree):
    """Yields (line, name) of each `tf.…` that today's TensorFlow does not have."""
    inner = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            name = ast.unparse(node)
            if re.fullmatch(r"tf[.\w]+", name) and not exists(name):
                yield node.lineno, name


def exists(name):
    found = tf
    for part in name.split(".")[1:]:
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


@unittest.skipUnless(GENUINE, "TF1_PYTHON names no TensorFlow 1.15.5")
@pytest.mark.slow
class FixTest(unittest.TestCase):
    @parameterized.expand(NAMES)
    def test_what_it_writes_gives_the_recorded_numbers(self, name):
        proof = PROVIDER.load(name)
        entries = {str(entry.case): entry for entry in proof.recorded()}
        asked = [e for case, e in entries.items() if case in FIXED]
        self.assertEqual(len(asked), len(FIXED))
        source = proof.left.path
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, source.name)
            text = source.read_text("utf-8").replace(*AS_IT_WAS)
            copy.write_text(text, "utf-8")
            options = planning.Options(old=True)  # the fixed page runs on 1.15.5, too
            (fixed,) = planning.plan([str(copy)], (), options)
            self.assertEqual(fixed.reason, "")
            copy.write_bytes(fixed.data or copy.read_bytes())
            requests = [entry.request for entry in asked]
            page = Page(copy.name, folder)
            answers, _ = recordings.ask(GENUINE, page, requests)
        for entry, answer in zip(asked, answers, strict=True):
            self.assertNotIn("raised", answer, answer.get("message"))
            recorded = proof.recording.answer(entry.key, entry.request)
            for path, value in structure.narrow(answer).items():
                np.testing.assert_array_equal(value, recorded[path], path)


AS_IT_WAS = "import tensorflow.compat.v1 as tf", "import tensorflow as tf"
FIXED = "train, steps: 10", "evaluate, from a checkpoint"


@unittest.skipUnless(GENUINE, "TF1_PYTHON names no TensorFlow 1.15.5")
@pytest.mark.slow
class ProveTest(unittest.TestCase):
    @parameterized.expand(NAMES)
    def test_the_right_page_is_proven_as_a_port(self, name):
        model = importlib.import_module(PROVIDER.module(name)).MODEL
        topic = topics.topics()[name]
        given = name in UNSEEDED
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            self.copy(topic.v1, folder / f"legacy_{name}.py")
            (folder / f"port_{name}.py").write_bytes(topic.v2.read_bytes())
            args = [*model.data, 3]
            if given:
                args.append(str(folder / "start.ckpt"))
                restore.save(args[-1], model.start)
            noise = NOISE.get(name, {})
            within = {"within": {**noise, "*": 1e-3}, "within64": noise, "why": WHY}
            options = {"kwargs": model.options, "float32": given, **within}
            (folder / "data.pkl").write_bytes(pickle.dumps((args, options)))
            test = f"test_{name}.py"
            text = PAIR.format(name=name, widen="widen" in model.wide)
            (folder / test).write_text(text, "utf-8")
            result = command("record", test, folder=folder)
            self.assertEqual(result.status, 0, result.err + result.out)
            result = command("prove", test, folder=folder)
        self.assertEqual(result.status, 0, result.out)

    def copy(self, page, path):
        """Copies a left page, and beside it the left pages that it imports."""
        text = page.read_text("utf-8")
        path.write_text(text.replace("from v1_graph.", "from "), "utf-8")
        for name in re.findall(r"(?m)^from v1_graph\.(\w+) import", text):
            self.copy(page.with_name(f"{name}.py"), path.with_name(f"{name}.py"))


UNSEEDED = "models_dcgan", "models_estimator"
"""They draw initial values without a seed, so that they begin with a checkpoint. Its
variables are float32, as those of the program then are."""

WHY = "kernels add in another order, and steps amplify it"
NOISE = {"models_bert": {"*/key/bias*": float("inf")}}
"""A bias of the keys changes no softmax: its gradient is 0 except for rounding."""

PAIR = '''"""A proof of a port, as a user writes it."""

import pathlib
import pickle

from tf1to2.parity import Pair

data = pathlib.Path(__file__).with_name("data.pkl").read_bytes()
args, options = pickle.loads(data)
pair = Pair("legacy_{name}.py", "port_{name}.py", seed=1, widen={widen})
pair.program("train", "three steps", *args, **options)
test_parity = pair.test()
'''


def files_of(answer):
    """{name: bytes} of the checkpoint among the files of an answer."""
    files = {
        p.partition("/")[2]: x for p, x in answer.items() if p.startswith("files/")
    }
    return {
        name: x for name, x in files.items() if ".ckpt" in name and ".meta" not in name
    }
