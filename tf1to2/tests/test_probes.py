"""Replacements that the index offers, executed: see `tf1to2.probes`."""

import dataclasses
import unittest

import pytest
from parameterized import parameterized

from tf1to2.catalog import entries
from tf1to2.parity.compare import Mismatch
from tf1to2.probes import Probe, probed, probes
from upkeep.probes import coverage, proving, written

ROWS = [
    (str(number), row)
    for name in dict.fromkeys(row.name for row in probes())
    for number, row in enumerate(row for row in probes() if row.name == name)
]


def slug(function, _, call):
    of_its_name, row = call.args
    return f"{function.__name__}_{parameterized.to_safe_name(row.name)}_{of_its_name}"


class ProbesTest(unittest.TestCase):
    @parameterized.expand(ROWS, name_func=slug)
    def test_eager(self, _, row):
        proving.prove(row)

    @parameterized.expand([r for r in ROWS if not r[1].eager], name_func=slug)
    @pytest.mark.slow
    def test_function(self, _, row):
        proving.prove(row, function=True)

    @parameterized.expand(sorted({row.name for row in probes()}))
    def test_the_old_spelling_is_another_unless_it_is_said_to_be_the_same(self, name):
        if entries.lookup(name).verdict != "same":
            rows = [row for row in probes() if row.name == name]
            self.assertTrue(any(map(_breaks, rows)), "no probe shows what changed")


def _breaks(row):
    try:
        proving.prove_naive(row)
    except Mismatch:
        return False
    return True


SIGN = {"why": "so", "within": 5e-324}


class NegativeControlsTest(unittest.TestCase):
    X = ("x = normal(4, 5)",)

    @parameterized.expand(
        [
            ("another number", "tf.math.log(x) * 1.0000001", {}),
            ("another dtype", "tf.cast(tf.math.log(x), tf.float16)", {}),
            ("another shape", "tf.math.log(x)[0]", {}),
            ("a difference that is none", "tf.math.log(x)", {"why": "it is said to"}),
            ("too far", "tf.math.log(x) * 1.1", {"why": "so", "within": 1e-6}),
            ("more than a sign", "tf.math.log(x) * 1.0000001", SIGN),
            (
                *("elsewhere", "tf.math.log(x) * 2.0"),
                {"why": "so", "where": "tensorflow<2"},
            ),
            ("an error that is none", "tf.math.log(x)", {"why": "so", "raises": "V"}),
        ]
    )
    def test_noticed(self, _, new, options):
        row = next(row for row in probes() if row.old == "tf.log(x)")
        row = Probe(row.name, row.old, new, row.inputs[:1], **options)
        for function in (False, True):
            with self.assertRaises(Mismatch):
                proving.prove(row, function)

    @parameterized.expand(
        [("nearer", "tf.math.log(x) * 1.01", 0.5), ("the same", "tf.math.log(x)", 1e-9)]
    )
    def test_what_got_better_holds(self, _, new, within):
        row = next(row for row in probes() if row.old == "tf.log(x)")
        row = Probe(row.name, row.old, new, row.inputs[:1], why="so", within=within)
        proving.prove(row)

    def test_errors_and_where(self):
        row = next(row for row in probes() if row.old == "tf.log(x)")
        row = dataclasses.replace(row, inputs=row.inputs[:1], why="so")
        error = {"new": "np.log(x) + int('a')", "raises": "ValueError: invalid lit"}
        proving.prove(dataclasses.replace(row, **error))
        proving.prove(dataclasses.replace(row, raises="V", where="tensorflow<2"))
        with self.assertRaisesRegex(ValueError, "invalid literal"):
            proving.prove(dataclasses.replace(row, **error | {"raises": "TypeError"}))

    def test_old_spelling_that_works(self):
        with self.assertRaisesRegex(Mismatch, "gives the same answer today"):
            proving.prove_naive(next(r for r in probes() if r.old == "tf.abs(x)"))

    def test_unrecorded(self):
        row = Probe("tf.log", "tf.log(x + 1)", "tf.math.log(x + 1)", self.X)
        with self.assertRaisesRegex(AssertionError, "make upkeep"):
            proving.prove(row)


SWAPPED = "tf.contrib.rnn.transpose_batch_time"  # no left page calls it


class CoverageTest(unittest.TestCase):
    def test_names_that_1_15_has(self):
        named = {*probed(), *coverage.unprobed()}
        self.assertEqual([n for n in named if entries.lookup(n) is None], [])

    def test_every_name_is_proven_or_says_why_not(self):
        known = coverage.unprobed()
        missing = [n for n in coverage.asked() if not coverage.proven(n)]
        self.assertEqual(sorted(set(missing) - set(known)), [])

    def test_what_a_row_writes_is_executed_or_says_why_not(self):
        known = coverage.unprobed()
        missing = {
            name: left
            for name, called in written.written().items()
            if name not in known and (left := written.unexecuted(name, called))
        }
        self.assertEqual(missing, {})

    @parameterized.expand(
        [
            ("functions and classes", "tf.nn.relu(tf.Variable(x))", 2),
            ("a function twice", "tf.abs(x) + tf.abs(y)", 1),
            ("a class method", "tf.data.Dataset.range(n)", 1),
            ("not a module", "tf.data", 0),
            ("not of another package", "tfp.distributions.Normal(0, 1)", 0),
            ("not a method of an object", "v.assign(x)", 0),
        ]
    )
    def test_functions_of_tensorflow(self, _, code, count):
        self.assertEqual(len(written.functions(code)), count)

    @parameterized.expand(
        [
            ("a probe", SWAPPED, ["tf.transpose"], []),
            ("another name of it", SWAPPED, ["tf.compat.v2.transpose"], []),
            ("another function", SWAPPED, ["tf.transpose", "tf.reshape"], [1]),
            ("a method", "tf.train.Saver", ["tf.train.Checkpoint.restore"], []),
            ("a left page", "tf.placeholder_with_default", ["tf.math.exp"], []),
            ("neither", "tf.no_such_name", ["tf.math.exp"], [0]),
        ]
    )
    def test_unexecuted(self, _, name, called, places):
        left = written.unexecuted(name, called)
        self.assertEqual(left, [called[place] for place in places])

    def test_rows_that_are_not_asked_for(self):
        names = written.written()
        for name in names:
            self.assertRegex(name, r"^tf\.")
        self.assertIn(SWAPPED, names)
        self.assertNotIn("tf.contrib.data.unbatch", names)  # it writes a method
        self.assertNotIn("tf.keras.layers.Merge", names)  # of Keras 1

    def test_no_reason_for_what_is_proven(self):
        stale = [n for n in coverage.unprobed() if coverage.proven(n)]
        self.assertEqual(stale, [])

    def test_reasons(self):
        self.assertLessEqual(set(coverage.unprobed().values()), set(coverage.REASONS))
        unused = set(coverage.REASONS) - set(coverage.unprobed().values())
        self.assertEqual(unused, set())
