"""The switches: every one is measured, and today's half is measured again."""

import ast
import contextlib
import io
import sys
import unittest
from unittest import mock

import pytest
import tensorflow as tf

from tf1to2.parity.recordings import NoGenuineTensorFlow
from upkeep import switches
from upkeep.switches.__main__ import main

MADE_UP = {
    "": {"in a graph": {"a | b": "1", "c": "2"}, "outside": {"a | b": "3"}},
    "enable_x": {"in a graph": {"a | b": "9", "c": "2"}, "outside": {"a | b": "3"}},
    "enable_y": {"in a graph": {"a | b": "1", "c": "2"}, "outside": {"a | b": "3"}},
    "enable_all": {"in a graph": {"a | b": "9", "c": "2"}, "outside": {"a | b": "4"}},
}


class SwitchesTest(unittest.TestCase):
    def test_all_that_there_are_have_been_measured(self):
        found = switches.recorded()
        for side, prefix in (("1.15.5", "enable"), ("today", "disable")):
            there = {name for name in dir(tf.compat.v1) if name.startswith(prefix)}
            self.assertEqual(set(found[side]) - {""}, there)

    def test_it_was_the_genuine_one(self):
        versions = {f["version"] for f in switches.recorded()["1.15.5"].values()}
        self.assertEqual(versions, {"1.15.5"})

    def test_python_37_reads_the_program(self):
        source = (switches.HERE / "program.py").read_text("utf-8")
        ast.parse(source, feature_version=(3, 7))

    def test_no_answer_stands_for_two_lines(self):
        from upkeep.switches import program

        for lines in (program.IN_A_GRAPH, program.OUTSIDE):
            expressions = [expression for _, expression in lines]
            self.assertEqual(len(set(expressions)), len(expressions))

    def test_the_table_has_what_a_switch_changes_and_nothing_else(self):
        rows = switches.table(MADE_UP).splitlines()[2:]
        self.assertEqual(
            rows,
            [
                "| `a \\| b` | `1` | `9` | `enable_x`, `enable_all` |",
                "| `a \\| b`, outside of a graph | `3` | `4` | `enable_all` |",
                "",
                "Alone it changes nothing: `enable_y`.",
            ],
        )

    def test_without_python_37_it_says_so(self):
        error = NoGenuineTensorFlow("no Python 3.7 found")
        err = io.StringIO()
        with mock.patch("upkeep.switches.__main__.genuine_python", side_effect=error):
            with contextlib.redirect_stderr(err):
                self.assertEqual(main(["--check"]), 2)
        self.assertEqual(err.getvalue(), "error: no Python 3.7 found\n")

    @pytest.mark.slow
    def test_today_they_change_what_was_measured(self):
        recorded = switches.recorded()["today"]
        if recorded[""]["version"] == tf.__version__:  # messages change
            found = switches.measure(sys.executable, switches.OLD)
            self.assertEqual(found, recorded)
