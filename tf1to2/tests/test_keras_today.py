"""upkeep/keras_today.tsv: whole, in the guide, its causes known, and as measured."""

import contextlib
import importlib.util
import io
import pathlib
import tempfile
import unittest
from unittest import mock

import numpy as np
import pytest
from parameterized import parameterized

from parity_tests import PROVIDER
from tf1to2.common.errors import CommandError
from tf1to2.parity import FalseFriend, Raises, v1
from tf1to2.tests.test_structure import ROOT
from upkeep import keras_today

GUIDE = ROOT / "guide" / "keras.md"
HAS_TF_KERAS = importlib.util.find_spec("tf_keras")


def cases():
    """[(proof, case)] of the Keras topics."""
    topics = [name for name in PROVIDER.names() if name.startswith("keras_")]
    return [(p, case) for p in map(PROVIDER.load, topics) for case in p.cases]


def row(*told, pair="keras_files.p"):
    return dict(zip(keras_today.FIELDS, (pair, "c", *told), strict=True))


class TableTest(unittest.TestCase):
    def test_every_case_of_keras_has_a_row(self):
        told = [(row["pair"], row["case"]) for row in keras_today.rows()]
        wanted = [(f"{p.name}.{case.name}", case.slug) for p, case in cases()]
        self.assertEqual(told, wanted)
        self.assertTrue(all(row["tf_keras float32"] for row in keras_today.rows()))

    def test_every_false_friend_and_every_error_was_asked_of_all(self):
        for column in ("Keras 2", "Keras 3"):
            told = [bool(row[column]) for row in keras_today.rows()]
            wanted = [isinstance(case, FalseFriend | Raises) for _, case in cases()]
            self.assertEqual(told, wanted)

    @parameterized.expand(["stages", "witness"])
    @pytest.mark.tables
    def test_the_guide_has_the_table(self, name):
        made = getattr(keras_today, name)().replace("](guide/", "](")
        guide = GUIDE.read_text("utf-8")
        self.assertIn(f"<!-- table keras {name} -->\n{made}\n<!-- end -->", guide)

    def test_what_the_guide_says_of_the_stages(self):
        """Each breaks more than the one before it."""
        told = list(filter(None, map(keras_today.answers, keras_today.rows())))
        well = [
            sum(answers[stage] in keras_today.WELL for answers in told)
            for stage in keras_today.STAGES
        ]
        self.assertEqual(well, sorted(well, reverse=True))
        self.assertGreater(well[0], well[-1])

    def test_what_the_guide_says_of_float64(self):
        wide = [row["tf_keras float64"] for row in keras_today.rows()]
        *near, far = sorted(filter(None, map(keras_today.distance, wide)))
        self.assertEqual(len(near), 2)
        self.assertLess(near[-1], 1e-12)
        self.assertGreater(far, 1)  # the stateful Bidirectional
        self.assertFalse([told for told in wide if "values" in told or "shap" in told])

    def test_every_difference_has_a_cause_and_every_cause_a_difference(self):
        found = {
            why
            for row in keras_today.rows()
            for why in keras_today.causes(row).values()
        }
        known = {keras_today.KERNELS, keras_today.VANISHED}
        self.assertEqual(found, known | set(keras_today.CAUSES.values()))

    @pytest.mark.slow
    @unittest.skipUnless(HAS_TF_KERAS, "it needs tf_keras")
    def test_it_is_as_measured(self):
        new, old = keras_today.measured(), keras_today.rows()
        exact = [c for c in keras_today.COLUMNS if c != "tf_keras float32"]
        self.assertEqual(keras_today.differences(new, old, exact), [])
        # Of some, the float32 of another processor has been measured, too.
        new, old = ([row for row in rows if of(row) in ASKED] for rows in (new, old))
        self.assertEqual(keras_today.differences(new, old), [])


ASKED = "keras_functions", "keras_optimizers", "keras_training"


def of(row):
    """The topic of a row."""
    return row["pair"].partition(".")[0]


ONE = {"outputs": np.float32([1, 2])}
NEXT = {"outputs": np.nextafter(ONE["outputs"], np.float32(9))}
FILE = {"outputs/0": np.uint8([1]), "structure": np.array("[*]")}
LAYER = {**ONE, "variables/0": np.array("'a'"), "variables/1": np.array("'b'")}
ARRAYS = "other names or numbers of arrays"


class VerdictTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("same", ONE, ONE, "identical"),
            ("apart", ONE, NEXT, "1 ULP, 1.2e-07"),
            ("shape", ONE, {"outputs": np.float32([1])}, "other shapes"),
            ("leaves", ONE, {"y": np.float32([1, 2])}, ARRAYS),
            ("text", FILE, {**FILE, "structure": np.array("(*)")}, "other values"),
            ("bytes", FILE, {**FILE, "outputs/0": np.uint8([2])}, "other files"),
            ("files", FILE, {"structure": np.array("[]")}, "other files"),
            ("order", LAYER, {**LAYER, "variables/0": np.array("'c'")}, "other names"),
            ("drawn", ONE, {**ONE, "initial/a": np.float32([1])}, "identical"),
            ("nan", ONE, {"outputs": np.float32([1, np.nan])}, "NaN on one side"),
            ("raises", ONE, v1.raised(ValueError("no\nmore")), "ValueError: no"),
            ("raises without a word", ONE, v1.raised(ValueError()), "ValueError: "),
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
        self.assertEqual(keras_today.verdict([(recorded, found)]), expected)

    def test_the_farthest_of_all_sizes(self):
        far = {"outputs": np.float32([1, 3])}
        told = keras_today.verdict([(ONE, NEXT), (ONE, far), (ONE, ONE)])
        self.assertEqual(told, "4194304 ULP, 5.0e-01")

    @parameterized.expand(
        [
            ("same", ONE, {"outputs": np.float32([1, 2.00001])}, "same"),
            ("apart", ONE, {"outputs": np.float32([1, 1])}, "0.5 apart"),
            ("shape", ONE, {"outputs": np.float32([1])}, "other shapes"),
            ("nan", ONE, {"outputs": np.float32([1, np.nan])}, "NaN on one side"),
            ("leaves", ONE, {}, ARRAYS),
            ("leaves and numbers", {**ONE, "y": ONE["outputs"]}, NEXT, ARRAYS),
            ("names of weights", LAYER, {**LAYER, "variables/0": ""}, "same"),
            ("raises", ONE, v1.raised(ValueError("no\nmore")), "`ValueError`: no"),
            ("raises, too", *[v1.raised(KeyError("one"))] * 2, "an error, too"),
            ("no error", v1.raised(KeyError("one")), ONE, "no error"),
            (
                "raises at length",
                ONE,
                v1.raised(AttributeError(f"a `module` has no attribute '{'a' * 80}'")),
                f"`AttributeError`: no attribute '{'a' * 45}…",
            ),
        ]
    )
    def test_shown(self, _, recorded, found, expected):
        told = keras_today.verdict([(recorded, found)])
        self.assertEqual(keras_today.shown(told), expected)


class DifferencesTest(unittest.TestCase):
    NOTES = [
        ("the same", "2 ULP, 1.0e-07", "2 ULP, 1.0e-07", True),
        ("rounding", "2 ULP, 1.0e-07", "3 ULP, 2.0e-07", True),
        ("none of it", "identical", "3 ULP, 2.0e-07", True),
        ("near", "9 ULP, 1.0e-01", "9 ULP, 3.0e-01", True),
        ("a note more", "1 ULP, 1.0e-07", "1 ULP, 1.0e-07; x", False),
        ("a note less", "1 ULP, 1.0e-07; x", "1 ULP, 1.0e-07", False),
        ("an error", "identical", "ValueError: no", False),
        ("an error, too", "an error, too", "identical", False),
        ("another error", "ValueError: no", "TypeError: no", False),
        ("another message", "ValueError: no", "ValueError: never", True),
        ("not asked", "identical", "", False),
    ]

    @parameterized.expand(
        [
            *NOTES,
            ("far", "9 ULP, 1.0e-01", "9 ULP, 5.0e-01", False),
            ("better", "9 ULP, 1.0e-01", "identical", True),
        ]
    )
    def test_differences_of_tf_keras(self, _, before, after, same):
        for others in (["", ""], ["identical", "ValueError: no"]):
            self.assert_holds([before, "", *others], [after, "", *others], same)
            self.assert_holds(
                ["identical", before, *others], ["identical", after, *others], same
            )

    @parameterized.expand(
        [
            *NOTES,
            ("far", "9 ULP, 1.0e-01", "9 ULP, 5.0e-01", True),
            ("no difference", "9 ULP, 1.0e-01", "identical", False),
            ("a difference", "identical", "9 ULP, 1.0e-01", False),
        ]
    )
    def test_differences_of_keras(self, _, before, after, same):
        told = ["identical", ""]
        self.assert_holds([*told, before, "x"], [*told, after, "x"], same)
        self.assert_holds([*told, "x", before], [*told, "x", after], same)

    def assert_holds(self, before, after, same):
        found = keras_today.differences([row(*after)], [row(*before)])
        self.assertEqual(not found, same, found)

    def test_what_is_not_asked_any_more(self):
        (line,) = keras_today.differences([], keras_today.rows()[:1])
        self.assertRegex(line, r"^removed: keras_files\.save_whole\t")

    def test_what_was_not_asked_before(self):
        self.assertEqual(len(keras_today.differences(keras_today.rows()[:1], [])), 1)


class StageTest(unittest.TestCase):
    def test_old_names(self):
        new = ["rnn/upper/bias:0", "rnn/lower/bias:0", "rnn/lower/kernel:0"]
        old = ["rnn/bias:0", "rnn/bias_1:0", "rnn/kernel:0"]
        self.assertEqual(
            keras_today.old_names(new, old), dict(zip(np.array(new)[[1, 0, 2]], old))
        )
        with self.assertRaisesRegex(ValueError, "today's weights are"):
            keras_today.old_names(new, old[1:])

    def test_of_today_has_no_graphs_and_the_keras_of_today(self):
        import tensorflow as tf

        page = keras_today.of_today("v1_graph.keras_training")
        self.assertIs(page.tf.keras, tf.keras)
        with page.tf.Graph().as_default():
            self.assertTrue(tf.executing_eagerly())


class RunTest(unittest.TestCase):
    OLD = [
        row("identical", "", "", ""),
        row("identical", "", "", "", pair="keras_layers.p"),
    ]

    def run_with(self, measured, **asked):
        """(status, what is printed, the pairs and cells of the table afterwards)."""
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(keras_today, "TABLE", pathlib.Path(folder, "t.tsv")),
            mock.patch.object(keras_today, "measured", lambda topics: measured),
            contextlib.redirect_stdout(io.StringIO()) as out,
        ):
            keras_today.TABLE.write_text(keras_today.text(self.OLD), "utf-8")
            status = keras_today.run(**asked)
            return status, out.getvalue(), keras_today.rows()

    @unittest.skipUnless(HAS_TF_KERAS, "its version is in the table")
    def test_rows_of_other_topics_stay(self):
        new = row("2 ULP, 1.0e-07", "", "", "", pair="keras_layers.p")
        found = self.run_with([new], topics=["keras_layers"])
        self.assertEqual(found, (0, "", [self.OLD[0], new]))

    @parameterized.expand(
        [
            ("as measured", "identical", 0, "t.tsv is up to date\n"),
            ("an error", "E: no", 1, "keras_layers.p\tc\tE: no\t\t\t\n"),
        ]
    )
    @unittest.skipUnless(HAS_TF_KERAS, "its version is in the table")
    def test_check_writes_nothing(self, _, told, status, printed):
        new = row(told, "", "", "", pair="keras_layers.p")
        found = self.run_with([new], topics=["keras_layers"], check=True)
        self.assertEqual(found, (status, printed, self.OLD))

    def test_an_unknown_topic(self):
        with self.assertRaisesRegex(CommandError, "topics are: keras_files, keras_fu"):
            keras_today.asked(["keras_no"])
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(keras_today.main(["keras_no", "--check"]), 2)
        self.assertRegex(err.getvalue(), r"^error: no topic keras_no; .*\n$")

    def test_without_tf_keras(self):
        with mock.patch("importlib.util.find_spec", return_value=None):
            with self.assertRaisesRegex(CommandError, "tf_keras is not installed"):
                keras_today.ask("Keras 2", [])

    def test_help(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            with self.assertRaises(SystemExit):
                keras_today.main(["--help"])
        self.assertIn("Makes keras_today.tsv: the left pages", out.getvalue())


if __name__ == "__main__":
    unittest.main()
