"""upkeep/keras_witness.tsv: whole, in the guide, its causes known, and as measured."""

import contextlib
import importlib.util
import io
import re
import unittest

import numpy as np
import pytest
from parameterized import parameterized

from parity_tests import PROVIDER
from tf1to2.common.errors import CommandError
from tf1to2.parity import v1
from tf1to2.tests.test_structure import ROOT
from upkeep import keras_witness

TOPICS = [name for name in PROVIDER.names() if name.startswith("keras_")]


def rows_of(topic):
    return [r for r in keras_witness.rows() if r["pair"].startswith(topic + ".")]


class TableTest(unittest.TestCase):
    def test_every_case_of_keras_has_a_row(self):
        told = [(row["pair"], row["case"]) for row in keras_witness.rows()]
        proofs = map(PROVIDER.load, TOPICS)
        cases = [(f"{p.name}.{c.name}", c.slug) for p in proofs for c in p.cases]
        self.assertEqual(told, cases)

    @pytest.mark.tables
    def test_the_guide_has_the_summary(self):
        guide = (ROOT / "guide" / "keras.md").read_text("utf-8")
        made = keras_witness.summary().replace("](guide/", "](")
        self.assertIn(f"<!-- table keras witness -->\n{made}\n<!-- end -->", guide)

    def test_every_difference_has_a_cause_and_every_cause_a_difference(self):
        found = {
            why
            for r in keras_witness.rows()
            for why in keras_witness.causes(r).values()
        }
        known = {keras_witness.KERNELS, keras_witness.VANISHED}
        self.assertEqual(found, known | set(keras_witness.CAUSES.values()))

    def test_what_the_guide_says_of_float64(self):
        wide = [row["float64"] for row in keras_witness.rows() if row["float64"]]
        *near, far = sorted(filter(None, map(keras_witness.distance, wide)))
        self.assertEqual(len(near), 2)
        self.assertLess(near[-1], 1e-12)
        self.assertGreater(far, 1)  # the stateful Bidirectional
        self.assertFalse([told for told in wide if "values" in told or "shap" in told])

    # All of them take minutes: python -m upkeep.keras_witness --check
    @parameterized.expand(["keras_functions", "keras_optimizers", "keras_training"])
    @pytest.mark.slow
    @unittest.skipUnless(importlib.util.find_spec("tf_keras"), "it needs tf_keras")
    def test_it_is_as_measured(self, topic):
        new = keras_witness.measured([topic])
        self.assertEqual(keras_witness.differences(new, rows_of(topic)), [])


ONE = {"outputs": np.float32([1, 2])}
NEXT = {"outputs": np.nextafter(ONE["outputs"], np.float32(9))}
FILE = {"outputs/0": np.uint8([1]), "structure": np.array("[*]")}
LAYER = {**ONE, "variables/0": np.array("'a'"), "variables/1": np.array("'b'")}


class VerdictTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("same", ONE, ONE, "identical"),
            ("apart", ONE, NEXT, "1 ULP, 1.2e-07"),
            ("shape", ONE, {"outputs": np.float32([1])}, "other shapes"),
            ("leaves", ONE, {"y": np.float32([1, 2])}, "other arrays"),
            ("text", FILE, {**FILE, "structure": np.array("(*)")}, "other values"),
            ("bytes", FILE, {**FILE, "outputs/0": np.uint8([2])}, "other files"),
            ("files", FILE, {"structure": np.array("[]")}, "other files"),
            ("order", LAYER, {**LAYER, "variables/0": np.array("'c'")}, "other names"),
            ("drawn", ONE, {**ONE, "initial/a": np.float32([1])}, "identical"),
            ("raises", ONE, v1.raised(ValueError("no\nmore")), "ValueError: no"),
            (
                "raises, too",
                v1.raised(KeyError(1)),
                v1.raised(KeyError(2)),
                "an error, too",
            ),
            (
                "raises something else",
                v1.raised(KeyError(1)),
                v1.raised(ValueError("no")),
                "ValueError: no",
            ),
            ("no error", v1.raised(KeyError(1)), ONE, "no error"),
        ]
    )
    def test_verdict(self, _, recorded, found, expected):
        self.assertEqual(keras_witness.verdict([(recorded, found)]), expected)

    def test_the_farthest_of_all_sizes(self):
        far = {"outputs": np.float32([1, 3])}
        told = keras_witness.verdict([(ONE, NEXT), (ONE, far), (ONE, ONE)])
        self.assertEqual(told, "4194304 ULP, 5.0e-01")


class DifferencesTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("the same", "2 ULP, 1.0e-07", "2 ULP, 1.0e-07", True),
            ("rounding", "2 ULP, 1.0e-07", "3 ULP, 2.0e-07", True),
            ("none of it", "identical", "3 ULP, 2.0e-07", True),
            ("near", "9 ULP, 1.0e-01", "9 ULP, 3.0e-01", True),
            ("far", "9 ULP, 1.0e-01", "9 ULP, 5.0e-01", False),
            ("better", "9 ULP, 1.0e-01", "identical", True),
            ("a note more", "1 ULP, 1.0e-07", "1 ULP, 1.0e-07; x", False),
            ("an error", "identical", "ValueError: no", False),
            ("another error", "ValueError: no", "TypeError: no", False),
            ("another message", "ValueError: no", "ValueError: never", True),
        ]
    )
    def test_differences(self, _, before, after, same):
        def row(told):
            return {"pair": "p", "case": "c", "float32": told, "float64": ""}

        found = keras_witness.differences([row(after)], [row(before)])
        self.assertEqual(not found, same, found)

    def test_what_is_not_asked_any_more(self):
        (line,) = keras_witness.differences([], keras_witness.rows()[:1])
        self.assertRegex(line, r"^not any more: keras_files\.save_whole\t")

    def test_an_unknown_topic(self):
        with self.assertRaisesRegex(CommandError, "no topic keras_no: one of keras_fi"):
            keras_witness.asked(["keras_no"])

    def test_help(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            with self.assertRaises(SystemExit):
                keras_witness.main(["--help"])
        self.assertTrue(re.search("tf_keras as a witness", out.getvalue()))


if __name__ == "__main__":
    unittest.main()
