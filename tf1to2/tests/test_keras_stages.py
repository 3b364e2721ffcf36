"""upkeep/keras_stages.tsv: whole, in the guide, and as measured."""

import importlib.util
import unittest

import numpy as np
import pytest
from parameterized import parameterized

from tf1to2.parity import v1
from tf1to2.tests.test_structure import ROOT
from upkeep import keras_stages


class TableTest(unittest.TestCase):
    def test_every_false_friend_and_every_error_of_keras_has_a_row(self):
        told = [(row["pair"], row["case"]) for row in keras_stages.rows()]
        cases = [
            (f"{p.name}.{case.name}", case.slug) for p, case in keras_stages.cases()
        ]
        self.assertEqual(told, cases)

    @pytest.mark.tables
    def test_the_guide_has_the_table(self):
        guide = (ROOT / "guide" / "keras.md").read_text("utf-8")
        made = keras_stages.table().replace("](guide/", "](")
        self.assertIn(f"<!-- table keras stages -->\n{made}\n<!-- end -->", guide)

    def test_what_the_guide_says_of_the_stages(self):
        """Each breaks more than the one before it."""
        well = [
            sum(row[stage] in keras_stages.WELL for row in keras_stages.rows())
            for stage in keras_stages.STAGES
        ]
        self.assertEqual(well, sorted(well, reverse=True))

    @pytest.mark.slow
    @unittest.skipUnless(importlib.util.find_spec("tf_keras"), "it needs tf_keras")
    def test_it_is_as_measured(self):
        new = keras_stages.rows(keras_stages.measured())
        self.assertEqual(keras_stages.differences(new, keras_stages.rows()), [])


class JudgedTest(unittest.TestCase):
    ONE = {"outputs": np.float32([1, 2])}

    @parameterized.expand(
        [
            ("same", ONE, {"outputs": np.float32([1, 2.00001])}, "same"),
            ("apart", ONE, {"outputs": np.float32([1, 1])}, "0.5 apart"),
            ("shape", ONE, {"outputs": np.float32([1])}, "other shapes"),
            ("nan", ONE, {"outputs": np.float32([1, np.nan])}, "nan apart"),
            ("leaves", ONE, {}, "other names or numbers of arrays"),
            ("raises", ONE, v1.raised(ValueError("no\nmore")), "ValueError: no"),
            (
                "raises, too",
                v1.raised(KeyError("one")),
                v1.raised(KeyError("another")),
                "an error, too",
            ),
            (
                "raises something else",
                v1.raised(KeyError("one")),
                v1.raised(ValueError("no")),
                "ValueError: no",
            ),
            ("no error", {"raised": np.array("E")}, ONE, "no error"),
        ]
    )
    def test_judged(self, _, recorded, found, expected):
        self.assertEqual(keras_stages.judged(recorded, found), expected)

    @parameterized.expand(
        [
            ("the_same", "0.5 apart", "0.5 apart", True),
            ("another_distance", "0.5 apart", "0.4 apart", True),
            ("another_message", "ValueError: no", "ValueError: never", True),
            ("another_error", "ValueError: no", "TypeError: no", False),
            ("no_difference", "0.5 apart", "same", False),
        ]
    )
    def test_differences(self, _, before, after, same):
        def row(told):
            return {
                "pair": "p",
                "case": "c",
                **dict.fromkeys(keras_stages.STAGES, told),
            }

        found = keras_stages.differences([row(after)], [row(before)])
        self.assertEqual(not found, same, found)
        self.assertEqual(len(keras_stages.differences([], [row(before)])), 1)

    def test_old_names(self):
        new = ["rnn/upper/bias:0", "rnn/lower/bias:0", "rnn/lower/kernel:0"]
        old = ["rnn/bias:0", "rnn/bias_1:0", "rnn/kernel:0"]
        self.assertEqual(
            keras_stages.old_names(new, old), dict(zip(np.array(new)[[1, 0, 2]], old))
        )
        with self.assertRaisesRegex(ValueError, "other weights"):
            keras_stages.old_names(new, old[1:])

    def test_of_today_has_no_graphs_and_the_keras_of_today(self):
        import tensorflow as tf

        page = keras_stages.of_today("v1_graph.keras_training")
        self.assertIs(page.tf.keras, tf.keras)
        with page.tf.Graph().as_default():
            self.assertTrue(tf.executing_eagerly())


if __name__ == "__main__":
    unittest.main()
