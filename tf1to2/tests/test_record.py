import contextlib
import io
import unittest
from unittest import mock

from parameterized import parameterized

from tf1to2.parity import record, recordings, v1


class Python37Test(unittest.TestCase):
    def test_none_is_one_line_and_exit_status_2(self):
        environment = {"PATH": "", "HOME": "/nowhere", "PYENV_ROOT": "/nowhere"}
        err = io.StringIO()
        with (
            mock.patch.dict("os.environ", environment, clear=True),
            contextlib.redirect_stderr(err),
        ):
            status = record.main(["--environment", "/nowhere/venv"])
        self.assertEqual(status, 2)
        self.assertIn("set TF1_PYTHON", err.getvalue())
        self.assertEqual(err.getvalue().count("\n"), 1)

    def test_another_python_is_not_taken_for_it(self):
        import sys

        environment = {"TF1_PYTHON": sys.executable, "PATH": "", "PYENV_ROOT": "/x"}
        with (
            mock.patch.dict("os.environ", environment, clear=True),
            self.assertRaisesRegex(recordings.NoGenuineTensorFlow, "3.7"),
        ):
            recordings.find_python37()

    def test_an_unknown_topic(self):
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            self.assertEqual(record.main(["scope"]), 2)
        self.assertIn("did you mean scopes?", err.getvalue())


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
