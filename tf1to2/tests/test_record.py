import os
import pathlib
import shutil
import tempfile
import types
import unittest
from unittest import mock

import numpy as np
from parameterized import parameterized

from tf1to2.pages import topics
from tf1to2.pages.page import Page
from tf1to2.parity import float32, recordings, v1
from tf1to2.parity.compare import Mismatch
from tf1to2.prove import asking
from tf1to2.tests.commands import command


class Python37Test(unittest.TestCase):
    def test_none_is_one_line_and_exit_status_2(self):
        with tempfile.TemporaryDirectory() as home:
            gone = {"PATH": "", "HOME": home, "PYENV_ROOT": home, "TF1_PYTHON": ""}
            argv = "record", "parity_tests", "--environment", f"{home}/venv"
            with mock.patch.dict("os.environ", gone):
                status, _, err = command(*argv)
        self.assertEqual(status, 2)
        self.assertIn("set TF1_PYTHON", err)
        self.assertEqual(err.count("\n"), 1)

    def test_another_python_is_not_taken_for_it(self):
        import sys

        environment = {"TF1_PYTHON": sys.executable, "PATH": "", "PYENV_ROOT": "/x"}
        with (
            mock.patch.dict("os.environ", environment, clear=True),
            self.assertRaisesRegex(recordings.NoGenuineTensorFlow, "3.7"),
        ):
            recordings.find_python37()

    def test_an_unknown_topic(self):
        status, _, err = command("record", "parity_tests", "scope")
        self.assertEqual(status, 2)
        self.assertIn("did you mean scopes?", err)


class AnotherProcessorTest(unittest.TestCase):
    """A recorded number is 3 units away now, of a leaf that has a row or has none."""

    def check(self, row=(), units=3, skip=()):
        one = np.float32(1)
        recorded = {"outputs": np.float32([1])}
        answer = {"outputs": np.float32([1 + units * np.spacing(one)])}
        case = types.SimpleNamespace(name="f", slug="a case", skip=skip)
        entry = recordings.Entry(case, "f, a case", {}, None, answer)
        recording = types.SimpleNamespace(
            answer=lambda key, request: dict(recorded), by_function=False
        )
        with tempfile.TemporaryDirectory() as folder:
            table = float32.Table(pathlib.Path(folder, "float32.tsv"))
            table.replace("p", row)
            proof = types.SimpleNamespace(name="p", recording=recording, float32=table)
            asking._check(proof, [entry])

    def test_it_is_the_last_bits(self):
        self.check()
        with self.assertRaisesRegex(Mismatch, "1.2e-05 of the largest value"):
            self.check(units=100)

    def test_a_row_says_how_far_it_may_be(self):
        row = float32.Row("p.f", "a case", "outputs", 60, 7e-6)
        self.check(row=[row], units=400)
        with self.assertRaisesRegex(Mismatch, "more than 8 times"):
            self.check(row=[row], units=800)

    def test_of_files_for_other_cases_the_shapes_are_compared(self):
        ways = "eager", "function"
        self.check(units=1000, skip=ways)
        with self.assertRaises(Mismatch):
            self.check(units=np.float32([1, 2]), skip=ways)

    def test_other_noise_is_no_difference(self):
        row = float32.Row("p.f", "a case", "outputs", 60, 0.8, noise=1.0)
        self.check(row=[row], units=2**23)
        with self.assertRaisesRegex(Mismatch, "but its row says 1"):
            self.check(row=[row], units=2**26)


class EnvironmentTest(unittest.TestCase):
    def test_a_folder_of_somebody_else_is_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = pathlib.Path(folder, "pyvenv.cfg")
            kept.touch()
            with (
                mock.patch.dict("os.environ", {"TF1_PYTHON": ""}),
                self.assertRaisesRegex(recordings.NoGenuineTensorFlow, "remove it"),
            ):
                recordings.genuine_python(folder)
            self.assertTrue(kept.exists())

    def test_it_sees_the_packages_that_it_runs_and_none_beside_them(self):
        seen = {}

        def run(command, env, **_):
            folder, seen["root"] = env["PYTHONPATH"].split(os.pathsep)
            seen["all"] = {path.name for path in pathlib.Path(folder).iterdir()}
            for name in ("cookbook", "shapes"):  # which the first imports
                self.assertTrue(pathlib.Path(folder, "v1_graph", name + ".py").exists())
            raise InterruptedError

        with tempfile.TemporaryDirectory() as installed:
            root = pathlib.Path(installed).resolve() / "site-packages"
            shutil.copytree(topics.folder("v1_graph"), root / "v1_graph")
            (root / "numpy").mkdir()
            page = Page("v1_graph.cookbook", root)
            with (
                mock.patch.object(recordings.subprocess, "run", run),
                self.assertRaises(InterruptedError),
            ):
                recordings.ask("python3.7", page, [{}])
        self.assertNotIn("site-packages", seen["root"])
        self.assertEqual(seen["all"], {"asked.npz", "tf1to2", "v1_graph"})


class SentenceTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("plain", "Shapes differ.", "Shapes differ."),
            ("node", "Shapes differ\n\t [[node add (at /x.py:1)]]", "Shapes differ"),
            ("place", "node Neg (defined at x/y.py:1)  was", "node Neg was"),
            ("stack", "No.\n\nOriginal stack trace for 'x'\n", "No."),
            ("origin", 'Exists. Originally defined at:\n\n  File "/x"', "Exists."),
        ]
    )
    def test_what_is_kept_of_a_message(self, _, message, kept):
        self.assertEqual(v1.sentence(message), kept)
