import ast
import json
import subprocess
import sys
import types
import unittest

import pytest
from parameterized import parameterized

from tf1to2.pages.page import Page
from tf1to2.prove import mutate, mutations
from tf1to2.tests.commands import Folder

SOURCE = '''
"""Head."""


@tf.function
def page(x, axis=1):
    """Docstring."""
    y = -x - 2.0 * x
    z = tf.cast(y, tf.float32).astype("int64")
    with scope():
        y = tf.maximum(x, y)
    if x is None and axis > 0:
        y = swap(x, y, keep=True)
    return y
'''


class MutationsTest(unittest.TestCase):
    def test_every_kind_of_change_is_made_once(self):
        found = [(line, what) for line, what, _ in mutations.mutants(SOURCE)]
        for change in [
            (6, "1 becomes 2"),
            (6, "decorator tf.function dropped"),
            (8, "2.0 becomes 3.0"),
            (8, "2.0 becomes 999 times it in float32 alone"),
            (8, "operator Sub"),
            (8, "operands swapped"),
            (8, "unary USub dropped"),
            (6, "lines 8 and 9 swapped"),
            (9, "cast dropped: tf.cast(y, tf.float32)"),
            (9, "cast dropped: tf.cast(y, tf.float32).astype('int64')"),
            (9, "float32 becomes float64"),
            (9, "'int64' becomes 'int32'"),
            (11, "maximum becomes minimum"),
            (6, "line 10 unwrapped"),
            (12, "comparison Is"),
            (12, "comparison Gt"),
            (13, "keyword keep dropped"),
            (13, "first arguments swapped"),
            (13, "True is negated"),
        ]:
            with self.subTest(change=change):
                self.assertEqual(found.count(change), 1)

    def test_every_mutant_is_another_program_that_compiles(self):
        original = ast.unparse(ast.parse(SOURCE))
        texts = [ast.unparse(tree) for *_, tree in mutations.mutants(SOURCE)]
        for text in texts:
            compile(text, "mutant", "exec")
        self.assertNotIn(original, texts)
        self.assertTrue(all('"""Docstring."""' in text for text in texts))

    def test_a_change_in_float32_alone_leaves_float64_right(self):
        source = "def f(x):\n    return x * 2.0\n"
        (tree,) = [t for _, what, t in mutations.mutants(source) if "alone" in what]
        scope = {}
        exec(compile(tree, "mutant", "exec"), scope)
        import numpy as np

        self.assertEqual(scope["f"](np.float64(1)), 2)
        self.assertEqual(scope["f"](np.float32(1)), 1998)

    @parameterized.expand(
        [
            ("the_public_names", "__all__ = ['f', 'g']"),
            ("a_shape", "def f(x):\n    return reshape(x, [2, 3])"),
            ("a_shape_of_any_batch", "def f(x):\n    return reshape(x, [-1, n])"),
            ("a_shape_that_is_open", "def f(x):\n    return spec([None, n])"),
            ("paddings", "def f(x):\n    return pad(x, [[0, n], [m, 0]])"),
            ("a_tuple_that_is_a_shape", "def f(x):\n    return reshape(x, (n, m))"),
            ("classes", "def f(x):\n    return isinstance(x, (list, tuple))"),
            ("rows_of_a_matrix", "def f():\n    return [[0.5, 1.5], [2.5, 3.5]]"),
            ("what_is_unpacked", "def f():\n    a, b = ['a', 'b']"),
            ("what_it_is_unpacked_into", "def f(x):\n    [a, b] = x"),
            ("a_result_list", "def f(x, y):\n    return [x, y]"),
            ("a_result_dict", "def f(x, y):\n    return {'x': x, 'y': y}"),
            ("what_a_generator_yields", "def f(x, y):\n    yield ['x', 'y']"),
            ("empty", "def f():\n    return g([], (), {})"),
            ("a_name_of_an_index", "def f(x):\n    return x[a, b]"),
        ]
    )
    def test_nothing_is_dropped_from(self, _, source):
        found = [what for _, what, _ in mutations.mutants(source)]
        self.assertEqual([what for what in found if "dropped from" in what], [])

    @parameterized.expand(
        [
            (
                "of_a_list_that_is_an_argument",
                "def f(v):\n    return Adam(v, exclude=['norm', 'bias'])",
                {
                    "'norm' dropped from ['norm', 'bias']": "exclude=['bias']",
                    "'bias' dropped from ['norm', 'bias']": "exclude=['norm']",
                },
            ),
            (
                "of_a_list_with_one_element",
                "def f(v):\n    return fit(v, callbacks=[Losses()])",
                {"Losses() dropped from [Losses()]": "callbacks=[]"},
            ),
            (
                "of_a_list_that_is_assigned",
                "def f(v):\n    v = [*v, b]",
                {"*v dropped from [*v, b]": "[b]", "b dropped from [*v, b]": "[*v]"},
            ),
            (
                "of_a_default",
                "def f(v, exclude=('bias',)):\n    pass",
                {"'bias' dropped from ('bias',)": "exclude=()"},
            ),
            (
                "of_a_table_of_the_module",
                "KINDS = {'a': 1, 'b': 2}",
                {
                    "'a' dropped from {'a': 1, 'b': 2}": "KINDS = {'b': 2}",
                    "'b' dropped from {'a': 1, 'b': 2}": "KINDS = {'a': 1}",
                },
            ),
            (
                "of_a_set",
                "def f(v):\n    return v in {'a'}",
                {"'a' dropped from {'a'}": "v in {*()}"},
            ),
            (
                "of_numbers_that_are_no_shape",
                "def f(n):\n    return decay([0.5, 1, n])",
                {
                    "0.5 dropped from [0.5, 1, n]": "decay([1, n])",
                    "1 dropped from [0.5, 1, n]": "decay([0.5, n])",
                    "n dropped from [0.5, 1, n]": "decay([0.5, 1])",
                },
            ),
            (
                "of_equal_elements_once",
                "def f():\n    return weights([n, n])",
                {"n dropped from [n, n]": "weights([n])"},
            ),
            (
                "of_the_config_of_a_layer",
                "def get_config(self):\n    return {**base(), 'rate': self.rate}",
                {
                    "**base() dropped from {**base(), 'rate': self.rate}": (
                        "return {'rate': self.rate}"
                    ),
                    "'rate' dropped from {**base(), 'rate': self.rate}": (
                        "return {**base()}"
                    ),
                },
            ),
        ]
    )
    def test_each_element_is_dropped_once(self, _, source, wanted):
        found = {
            what: ast.unparse(tree)
            for _, what, tree in mutations.mutants(source)
            if "dropped from" in what
        }
        self.assertEqual(found.keys(), wanted.keys())
        for what, text in wanted.items():
            self.assertIn(text, found[what])

    def test_a_table_of_the_module_changes_by_its_elements_only(self):
        found = [what for _, what, _ in mutations.mutants("STEPS = [0.5, 2.0 * x]\n")]
        self.assertEqual(
            found,
            ["0.5 dropped from [0.5, 2.0 * x]", "2.0 * x dropped from [0.5, 2.0 * x]"],
        )

    def test_the_owner_of_a_line(self):
        self.assertEqual(mutate.owner(SOURCE, 8), "page")


class ModulesTest(Folder):
    """Which modules are changed, and on which cases a result depends."""

    def setUp(self):
        super().setUp()
        names = "port/__init__", "port/kinds/__init__", "port/kinds/one", "alone"
        self.write(**dict.fromkeys(names, "X = 1\n"))

    def test_of_a_module_it_is_the_module(self):
        page = Page("alone", self.folder)
        self.assertEqual(mutate.modules_of(page), [self.folder / "alone.py"])

    def test_of_a_package_they_are_all_the_page_first(self):
        found = mutate.modules_of(Page("port", self.folder))
        names = [path.relative_to(self.folder / "port").as_posix() for path in found]
        self.assertEqual(names, ["__init__.py", "kinds/__init__.py", "kinds/one.py"])

    def test_the_whole_is_without_what_was_taken(self):
        self.write(taken='"""Taken by `tf1to2 take` from tf1to2."""\nX = 1\n')
        own = self.write(own="Y = 2\n")
        port = self.write(alone="from own import Y\nfrom taken import X\n")
        found = mutate.modules_of(Page("alone", self.folder), whole=True)
        self.assertEqual(found, [port, own])

    def test_cases_lie_beside_the_test(self):
        test = types.SimpleNamespace(__file__=str(self.folder / "alone.py"))
        found = mutate.cases_beside(test, "port")
        self.assertEqual(len(found), 4)
        self.assertEqual(mutate.cases_beside(test, "other"), found[:1])


LEFT = "def twice(x):\n    return x * 2\n"
HELPER = "def times(x, by=2):\n    return x * by\n"
RIGHT = "from helper import times\n\ndef twice(x):\n    return times(x) + 0 * 3\n"
TEST = """
import pathlib, subprocess, sys, unittest
import numpy as np
import port
from tf1to2.parity import Op, Page, Proof, structure, v1

HERE = pathlib.Path(__file__).parent
PROOF = Proof(Page("legacy", HERE), Page("port.py", HERE),
    [Op("twice", "three", [np.float32([1, 2, 3])])], HERE / "port.npz", name="port")

class ProcessTest(unittest.TestCase):
    def test_in_another_process(self):
        program = "import port; print(port.twice(3.5))"
        run = subprocess.run([sys.executable, "-c", program], capture_output=True)
        self.assertEqual(run.stdout, b"%s")
"""
RECORD = """
from tf1to2.parity import settings; settings.apply()
import test_port
from tf1to2.parity import structure, v1
proof = test_port.PROOF
for entry in (entries := proof.recorded()):
    entry.answer = structure.narrow(v1.respond(proof.v1, entry.request))
    entry.answer_float32 = v1.respond(proof.v1, entry.given)
proof.recording.write(entries, ["1.15.5", "1.18"])
"""


@pytest.mark.slow
class ProcessesTest(Folder):
    """A user's file with a helper beside it, and a test that starts a process."""

    def run_(self, printed="7.0\\n", *options):
        self.write(legacy=LEFT, port=RIGHT, helper=HELPER, record=RECORD)
        self.write(test_port=TEST % printed)
        subprocess.run([sys.executable, "record.py"], check=True)
        command = [sys.executable, "-m", "tf1to2", "mutate", "test_port.py"]
        command += [*options, "--results", "mutations.json"]
        run = subprocess.run(command, capture_output=True, text=True)
        kept = self.folder / "mutations.json"
        return run, json.loads(kept.read_text()) if kept.exists() else None

    def test_what_is_noticed_and_what_is_not(self):
        run, kept = self.run_()
        self.assertEqual(run.returncode, 1, run.stderr)
        report = kept["port"]
        self.assertTrue(report["control"])
        unnoticed = {k for k, v in report["results"].items() if v == "unnoticed"}
        self.assertIn("line 4: 3 becomes 4", unnoticed)  # 0 * 4 is 0
        self.assertEqual(report["results"]["line 4: operator Mult"], "noticed")

    def test_a_test_that_fails_anyway_voids_the_score(self):
        run, kept = self.run_("8.0\\n")
        self.assertEqual(run.returncode, 2)
        self.assertIn("port already fails without a change: ", run.stderr)
        self.assertIn("test_in_another_process", run.stderr)
        self.assertIsNone(kept)

    def test_an_unknown_proof(self):
        run, _ = self.run_("7.0\\n", "prt")
        self.assertEqual(run.returncode, 2)
        self.assertIn("did you mean port?", run.stderr)


TWO = """
import numpy as np
from tf1to2.parity import Pair

port = Pair("legacy.py", "port.py", recording="port.npz", name="port")
port.op("twice", "three", np.float32([1, 2, 3]), skip={"dynamic": "of one size"})
test_port = port.test()
wrong = Pair("legacy.py", "wrong.py", recording="wrong.npz", name="wrong")
wrong.op("twice", "three", np.float32([1, 2, 3]), skip={"dynamic": "of one size"})
test_wrong = wrong.test()
"""
READS = """
import pathlib

NUMBER = pathlib.Path(__file__).resolve().parent / "numbers" / "two.txt"


def twice(x):
    return float(NUMBER.read_text()) * x
"""


@pytest.mark.slow
class BesideTest(Folder):
    """A file of two pairs, of which one is wrong; the other reads a file beside it."""

    def setUp(self):
        super().setUp()
        self.write(legacy=LEFT, test_port=TWO, port=READS)
        self.write(wrong="def twice(x):\n    return 3.0 * x\n")
        (self.folder / "numbers").mkdir()
        (self.folder / "numbers" / "two.txt").write_text("2.0")
        for name in ("port", "wrong"):
            self.write(record=RECORD.replace("test_port.PROOF", f"test_port.{name}"))
            subprocess.run([sys.executable, "record.py"], check=True)

    def mutate(self, name):
        command = [sys.executable, "-m", "tf1to2", "mutate", "test_port.py", name]
        return subprocess.run(command, capture_output=True, text=True)

    def test_one_pair_of_the_file_counts_and_finds_its_files(self):
        run = self.mutate("port")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertRegex(run.stdout, r"port: (\d+) of \1 changes noticed")

    def test_a_module_beside_a_page_in_a_folder_that_is_no_package(self):
        """`import helper` in new/port.py finds the changed new/helper.py."""
        folders = TWO.replace('"port.py"', '"new/port.py"')
        self.write(test_port=folders, new__helper=HELPER.replace(", by=2", ", by"))
        text = "from helper import times\n\n\ndef twice(x):\n    return times(x, 2)\n"
        self.write(new__port=text)
        self.write(record=RECORD.replace("test_port.PROOF", "test_port.port"))
        subprocess.run([sys.executable, "record.py"], check=True)
        run = self.mutate("port")
        self.assertIn("5 of 5 changes tried", run.stderr + run.stdout)
        self.assertNotIn("helper.py", run.stdout)  # all that is unnoticed is of port.py

    def test_the_reason_is_told(self):
        run = self.mutate("wrong")
        self.assertEqual(run.returncode, 2)
        self.assertIn("wrong already fails without a change: Mismatch: ", run.stderr)
        self.assertIn("first in forward: outputs", run.stderr)


class ScoreTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("all", {"a": "noticed", "b": "hangs"}, (2, 2)),
            ("half", {"a": "noticed", "b": "unnoticed"}, (1, 2)),
        ]
    )
    def test_score(self, _, results, wanted):
        self.assertEqual(mutate.score({"results": results}), wanted)
