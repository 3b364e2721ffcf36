"""Programs whose lines say where a finding stands, scanned and run."""

import textwrap
import warnings

import tensorflow as tf

from tf1to2.scan import findings
from tf1to2.tests.test_scan import ScanCase

HERE = "# here"
HEAD = """
import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras import layers
"""


class MarkedCase(ScanCase):
    """Asks what a scan says of a program, and what today's TensorFlow does with it.

    Attributes:
        TOLD: what the message of a finding holds.
        PROOF: a line that makes a file one of TensorFlow 1: then false friends count.
    """

    TOLD = ""
    PROOF = "\nif False:\n    tf.Session()\n"

    def check(self, program, told=None, proof=False):
        """Asserts that the findings stand at the marked lines, and nowhere else.

        Args:
            program: text, with `HERE` at the end of lines.
            told: what the messages hold; by default `TOLD`.
            proof: whether to add `PROOF`.
        """
        text = HEAD + textwrap.dedent(program) + (self.PROOF if proof else "")
        self.write(program=text)
        report = findings.scan(["program.py"])
        self.assertEqual(report.unread, [])
        lines = text.split("\n")
        told = self.TOLD if told is None else told
        self.assertEqual(
            sorted({f.line for f in report.findings if told in f.entry.message}),
            [n for n, line in enumerate(lines, 1) if line.endswith(HERE)],
            [(f.line, f.entry.message) for f in report.findings],
        )

    def run_today(self, program):
        """Runs a program.

        Returns:
            Its globals.
        """
        tf.keras.backend.clear_session()
        names = {"__name__": "program"}
        code = compile(HEAD + textwrap.dedent(program), "program", "exec")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Keras': that the input ran out, for one
            exec(code, names)
        return names

    def check_sound(self, program, told=None):
        """A program that works today, and has no finding."""
        self.check(program, told)
        self.check(program, told, proof=True)
        return self.run_today(program)

    def check_raises(self, program, error, message, told=None):
        """A program that raises today, and has findings at the marked lines."""
        self.check(program, told)
        with self.assertRaisesRegex(error, message):
            self.run_today(program)
