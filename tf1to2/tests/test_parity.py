"""Negative controls: whatever a proof is to notice is broken here, and it notices."""

import collections
import dataclasses
import pathlib
import tempfile
import types
import unittest
from contextlib import nullcontext
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from tf1to2.pages.page import code_hash
from tf1to2.parity import cases, compare, distance, releases, structure, v1, v2
from tf1to2.parity.arrays import LONG, SIZES, drawn, integers, normal
from tf1to2.parity.compare import Bound, Mismatch
from tf1to2.parity.expected import compare_expected
from tf1to2.parity.proof import Proof
from tf1to2.parity.recordings import Recording, StaleRecording
from tf1to2.tests import toy


def page(**functions):
    """A module with these functions, and the source file of the toy pages."""
    module = types.ModuleType("toy")
    module.__file__ = toy.__file__
    vars(module).update(functions)
    return module


def proof(case, left, right, bounds=(), recorded=None):
    """A Proof of one case, recorded from `recorded`, by default the left page."""
    left, right = page(**{case.name: left}), page(**{case.name: right})
    source = page(**{case.name: recorded}) if recorded else left
    folder = tempfile.mkdtemp()
    result = Proof(left, right, [case], pathlib.Path(folder) / "toy.npz", bounds)
    entries = result.recorded()
    for entry in entries:
        entry.answer = structure.narrow(v1.respond(source, entry.request))
        if entry.given is not None:
            entry.answer_float32 = v1.respond(source, entry.given)
    result.recording.write(entries, ["1.15.5", "1.18"])
    return result


def prove(*args, **kwargs):
    """Runs all checks of `proof(...)`; returns the summed tallies by reference."""
    total = {}
    for _, check in proof(*args, **kwargs).checks():
        for side, tally in check().items():
            total[side] = total.get(side, compare.Tally()) + tally
    return total


OP = cases.Op("page", "toy", [normal("n", 3)])
FIXED = cases.Op("page", "toy", [np.float32([1, 2, 3])])
LAYER = cases.Layer("page", "toy", [normal("n", 3)])
PROGRAM = cases.Program("page", "toy", [np.float32(3)])


def variant(**changes):
    """The right layer with some of its parts replaced."""
    return type("Scale", (toy.Scale,), changes)


def swapped(self, x):
    toy.Scale.__call__(self, x)
    return x * self.offset + self.gain


class HonestPairTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("op", OP, toy.scaled, toy.scaled),
            ("layer", LAYER, toy.make_scale, toy.Scale),
            ("program", PROGRAM, toy.count_down, toy.count_down_eagerly),
        ]
    )
    def test_it_passes_and_something_was_compared(self, _, case, left, right):
        total = prove(case, left, right)
        self.assertGreater(total["1.15.5"].elements, 0)
        self.assertGreater(total["compat.v1"].elements, 0)
        self.assertEqual(total["compat.v1"].ulps, 0)


class BrokenPageTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("a_value", lambda x: (x * 2.0000002, tf.reduce_sum(x)), "outputs/0"),
            ("a_dtype", lambda x: (x * 2, tf.size(x)), "dtype"),
            ("a_shape", lambda x: (x * 2, tf.reduce_sum(x, 0)), "shape"),
            ("a_missing_output", lambda x: x * 2, "different leaves"),
            (
                "a_missing_gradient",
                lambda x: (_stopped(x), tf.reduce_sum(x)),
                "gradients",
            ),
            (
                "a_gradient",
                lambda x: (2 * x, tf.reduce_sum(x) + 0 * tf.reduce_sum(_bent(x))),
                "gradients",
            ),
        ]
    )
    def test_an_op_that_differs(self, _, right, message):
        with self.assertRaisesRegex(Mismatch, message):
            prove(OP, toy.scaled, right)

    def test_a_program_that_retraces(self):
        def retracing(x):
            step = tf.function(lambda y, k: y * k)
            return [step(tf.constant(x), k).numpy() for k in range(3)]

        with self.assertRaisesRegex(v2.Retraced, "3 traces, not 1"):
            prove(PROGRAM, lambda x: [x * x.dtype.type(k) for k in range(3)], retracing)

    @parameterized.expand(
        [
            ("swapped_variables", variant(__call__=swapped), "outputs"),
            (
                "an_initial_value",
                variant(__call__=lambda self, x: _created(self, x, 1.0)),
                "initial/scale/offset:0",
            ),
            ("a_variable_name", lambda: toy.Scale("other"), "leaves|variables"),
        ]
    )
    def test_a_layer_that_differs(self, _, right, message):
        with self.assertRaisesRegex(Mismatch, message):
            prove(LAYER, toy.make_scale, right)

    def test_a_layer_that_makes_new_variables_on_each_call(self):
        class Forgetful(toy.Scale):
            def __call__(self, x):
                self.gain = None
                return super().__call__(x)

        with self.assertRaises((Mismatch, ValueError)):
            prove(LAYER, toy.make_scale, Forgetful)

    def test_a_program_that_differs(self):
        with self.assertRaisesRegex(Mismatch, "outputs: 2.0 in .*, 4.0 in"):
            prove(PROGRAM, toy.count_down, lambda x: (x + 1).astype("f"))

    def test_a_recording_that_differs(self):
        with self.assertRaisesRegex(Mismatch, "1.15.5"):
            prove(FIXED, toy.scaled, toy.scaled, recorded=lambda x: toy.scaled(x, 3.0))

    def test_an_expectation_that_is_not_met(self):
        case = cases.Op("page", "toy", [np.float32([1, 2])], expect=[[2, 5], 3])
        with self.assertRaisesRegex(Mismatch, "expectation"):
            prove(case, toy.scaled, toy.scaled)

    def test_a_program_that_has_no_function_where_one_is_proven(self):
        with self.assertRaisesRegex(v2.Untraced, "no tf.function was called"):
            prove(PROGRAM, toy.count_down, lambda x: (x - 1).astype("f"))

    def test_a_function_that_was_traced_before_and_is_not_called(self):
        step = tf.function(lambda x: x - 1)
        step(tf.constant(3.0))
        with self.assertRaises(v2.Untraced):
            prove(PROGRAM, toy.count_down, lambda x: (x - 1).astype("f"))

    @parameterized.expand(
        [
            ("a_list_for_a_tuple", lambda x: list(toy.scaled(x))),
            ("a_dict_for_a_tuple", lambda x: dict(zip("01", toy.scaled(x)))),
        ]
    )
    def test_another_container(self, _, right):
        with self.assertRaisesRegex(Mismatch, r"structure: \(\*, \*,\) in"):
            prove(OP, toy.scaled, right)

    @parameterized.expand(
        [
            ("empty_list_for_an_empty_dict", [], {}),
            ("keys", {1: [2.0]}, {"1": [2.0]}),
            ("fields", (1.0,), collections.namedtuple("P", "x")(1.0)),
        ]
    )
    def test_containers_of_a_program(self, _, left, right):
        case = cases.Program("page", "toy", [], skip={"function": "a toy"})
        with self.assertRaises(Mismatch):
            prove(case, lambda: [1.0, left], lambda: [1.0, right])


class FalseFriendTest(unittest.TestCase):
    ONE = (np.float32([1, 2]),)

    def check(self, naive, **options):
        case = cases.FalseFriend("page", "toy", self.ONE, naive=naive, **options)
        prove(case, toy.scaled, toy.scaled)

    @parameterized.expand(
        [
            ("values", lambda x: (x * 3, tf.reduce_sum(x))),
            ("shape", lambda x: (x * 2, x)),
            ("structure", lambda x: x * 2),
            ("raises", lambda x: tf.reshape(x, [3])),
        ]
    )
    def test_each_kind_is_what_the_case_says(self, kind, naive):
        self.check(naive, differs=kind)
        other = "shape" if kind == "values" else "values"
        with self.assertRaisesRegex(Mismatch, f"differs='{other}' is wrong"):
            self.check(naive, differs=other)

    @parameterized.expand(
        [
            ("a_friend", toy.scaled, "agrees"),
            (
                "a_dtype_alone",
                lambda x: [tf.cast(y, tf.float64) for y in toy.scaled(x)],
                "another dtype",
            ),
            ("a_list_alone", lambda x: list(toy.scaled(x)), "other containers"),
        ]
    )
    def test_what_differs_in_nothing_that_matters(self, _, naive, message):
        with self.assertRaisesRegex(Mismatch, message):
            self.check(naive)

    @parameterized.expand(
        [("no_kind", {"differs": "dtype"}), ("no_naive_form", {"naive": None})]
    )
    def test_what_says_too_little(self, _, options):
        with self.assertRaisesRegex(ValueError, "a false friend needs"):
            cases.FalseFriend("p", "toy", **{"naive": toy.scaled, **options})


class ExpectTest(unittest.TestCase):
    def check(self, answer, expect):
        case = cases.Program("page", "toy", [], expect=expect)
        answer = structure.answer({"outputs": answer})
        compare_expected(Proof(toy, toy, [case], "nowhere.npz"), case, answer)

    @parameterized.expand(
        [
            ("a_float_as_an_integer", np.float32(3), 3),
            ("as_it_is_printed", np.float32([0.1, 1 / 3]), [0.1, 0.33333334]),
            ("an_integer", np.int32(3), 3),
            ("none", [None, 1.0], [None, 1]),
            ("text", b"a", b"a"),
            ("nothing", [], []),
        ]
    )
    def test_what_is_read_is_expected(self, _, answer, expect):
        self.check(answer, expect)

    @parameterized.expand(
        [
            ("a_fraction_of_an_integer", np.int32(3), 3.9),
            ("a_float_that_is_an_integer", np.int32(3), 3.0),
            ("truth_for_one", np.int32(1), True),
            ("one_for_truth", np.bool_(True), 1),
            ("too_large_for_the_dtype", np.int8(44), 300),
            ("a_float_that_is_near", np.float32(0.1), 0.100001),
            ("text_for_a_number", np.float32(1), "1"),
            ("the_sign_of_zero", np.float32(-0.0), 0.0),
            ("a_list_for_nothing", [], {}),
            ("one_too_many", [1.0], [1, 2]),
            ("one_too_few", [1.0, 2.0], [1]),
        ]
    )
    def test_what_is_not_is_refused(self, _, answer, expect):
        with self.assertRaises(Mismatch):
            self.check(answer, expect)


def _stopped(x):
    return 2 * tf.stop_gradient(x)


@tf.custom_gradient
def _bent(x):
    return x, lambda dy: tf.ones_like(dy)


def _created(self, x, offset):
    if self.gain is None:
        with tf.name_scope("scale"):
            self.gain = tf.Variable(tf.ones([3], x.dtype), name="gain")
            self.offset = tf.Variable(
                tf.fill([3], tf.cast(offset, x.dtype)), name="offset"
            )
    return x * self.gain + self.offset


class ErrorTest(unittest.TestCase):
    ARGS = [np.zeros([2, 3], "f"), np.zeros([4], "f")]
    RIGHT = dict(
        graph=ValueError, eager=tf.errors.InvalidArgumentError, function=ValueError
    )

    def check(self, **changes):
        options = {**self.RIGHT, "match": "ncompatible|must be equal", **changes}
        add = changes.pop("add", None) or (lambda a, b: a + b)
        options.pop("add", None)
        return prove(cases.Raises("page", "toy", self.ARGS, **options), add, add)

    def test_the_right_types_pass(self):
        self.check()

    @parameterized.expand(
        [
            ("graph", {"graph": TypeError}),
            ("eager", {"eager": ValueError}),
            ("function", {"function": TypeError}),
            ("message", {"match": "no such sentence"}),
            ("none_expected", {"eager": None}),
            ("genuine", {"genuine": TypeError}),
            ("none_raised", {"add": lambda a, b: a}),
        ]
    )
    def test_a_wrong_expectation_fails(self, _, changes):
        changes.setdefault("expect", [[0.0] * 3] * 2)
        with self.assertRaises(Mismatch):
            self.check(**changes)

    @parameterized.expand(
        [
            ("no_exception", {"match": "x"}, "give Raises an exception"),
            ("no_match", {"graph": ValueError}, "matches any message"),
            ("half_a_match", {"graph": ValueError, "match": "|rank"}, "any message"),
            (
                "nothing_said_of_what_works",
                {"graph": ValueError, "match": "x"},
                "give the outputs",
            ),
        ]
    )
    def test_what_says_too_little_is_refused(self, _, options, message):
        with self.assertRaisesRegex(ValueError, message):
            cases.Raises("page", "toy", self.ARGS, **options)

    def half(self, left, right, **options):
        """A case that works on the left and in a function, and raises eagerly."""

        def eager_raises(x):
            if tf.executing_eagerly():
                raise TypeError("not eagerly")
            return right(x)

        options = {"eager": TypeError, "match": "not eagerly", **options}
        return prove(
            cases.Raises("page", "toy", [np.float32([1, 2])], **options),
            left,
            eager_raises,
        )

    def test_what_works_on_two_sides_is_compared(self):
        self.half(toy.scaled, toy.scaled)
        with self.assertRaisesRegex(Mismatch, "outputs/0"):
            self.half(toy.scaled, lambda x: toy.scaled(x, 3.0))
        with self.assertRaisesRegex(Mismatch, "structure"):
            self.half(toy.scaled, lambda x: list(toy.scaled(x)))

    def test_what_works_on_one_side_is_as_expected(self):
        def refused(x):
            raise ValueError("not at all")

        options = {"graph": ValueError, "match": "not at all|not eagerly"}
        self.half(refused, toy.scaled, expect=([2, 4], 3), **options)
        with self.assertRaisesRegex(Mismatch, "expectation"):
            self.half(refused, toy.scaled, expect=([2, 4], 4), **options)


class LeftoverTest(unittest.TestCase):
    def test_a_trace_that_failed_leaves_nothing_behind(self):
        page = types.SimpleNamespace(
            rows=lambda x: tf.map_fn(lambda row: row[9, 9], x), __name__="x.toy"
        )
        case = cases.Op("rows", "a bad index", [np.ones([2, 2], "f")])
        with self.assertRaises(ValueError):
            v2.run(page, [case.request({})], "function")
        tf.train.ExponentialMovingAverage(0.5).apply([tf.Variable(1.0)])


class BoundTest(unittest.TestCase):
    LEFT = {"outputs": np.float32([1, 2])}
    RIGHT = {"outputs": np.float32([1, np.nextafter(np.float32(2), np.float32(3))])}

    def bound(self, ulps):
        return {
            "outputs": Bound("a.b", "c", "eager", "1.15.5", "outputs", ulps, 1, "why")
        }

    def test_a_bound_that_holds(self):
        tally = compare.compare(self.LEFT, self.RIGHT, "ab", self.bound(1))
        self.assertEqual(tally.ulps, 1)

    def test_a_bound_on_no_leaf(self):
        with self.assertRaisesRegex(Mismatch, "a bound names a missing leaf: outputs"):
            compare.compare({"x": [1]}, {"x": [1]}, "ab", self.bound(1))

    @parameterized.expand(
        [
            ("pair", {"pair": "toy.other"}),
            ("case", {"case": "other"}),
            ("way", {"way": "xla"}),
            ("side", {"side": "2.0"}),
        ]
    )
    def test_a_row_that_names_nothing(self, _, change):
        row = {"pair": "toy.page", "case": "toy", "way": "eager", "side": "1.15.5"}
        rest = {"leaf": "outputs", "ulps": 1, "measured": 1, "reason": "why"}
        case = cases.Op("page", "toy", [np.float32(1)], skip={"xla": "a toy"})
        Proof(toy, toy, [case], "nowhere.npz", [Bound(**row, **rest)])
        with self.assertRaisesRegex(ValueError, "a bound names an unknown case"):
            Proof(toy, toy, [case], "nowhere.npz", [Bound(**{**row, **change}, **rest)])

    def test_a_bound_that_is_not_needed_here(self):
        tally = compare.compare(self.LEFT, self.LEFT, "ab", self.bound(4))
        self.assertEqual(tally.ulps, 0)

    @parameterized.expand(
        [
            ("few_units", 4, 0, True),
            ("last_bits_of_the_largest", 2, 8, True),
            ("more", 2, 18, False),
            ("of_zeros_alone", 0, 1, False),
        ]
    )
    def test_a_bound_holds_from_above(self, _, ulps, units, holds):
        right = {"outputs": self.LEFT["outputs"] + np.float32([0, units * 2.0**-22])}
        with nullcontext() if holds else self.assertRaises(Mismatch):
            compare.compare(self.LEFT, right, "ab", self.bound(ulps))

    @parameterized.expand([("other_noise", -7, True), ("a_number", 9, False)])
    def test_noise_is_bounded_by_its_magnitude(self, _, other, holds):
        left, right = ({"outputs": np.float32([x * 1e-16])} for x in (1, other))
        bound = {"outputs": dataclasses.replace(self.bound(0)["outputs"], noise=1e-16)}
        for sides in ((left, right), (right, left)):
            with nullcontext() if holds else self.assertRaisesRegex(Mismatch, "noise"):
                compare.compare(*sides, "ab", bound)

    @parameterized.expand(
        [
            ("older", "2.16.2", True),
            ("mended", "2.17.0", False),
            ("newer", "3.0", False),
        ]
    )
    def test_a_bound_of_older_releases_excuses_no_newer_one(self, _, version, holds):
        case = dataclasses.replace(OP, skip={"gradient": "a toy"})
        bound = Bound("toy.page", "toy", "graph", "1.15.5", "outputs/0", 16, 8, "why")
        bound = dataclasses.replace(bound, where="release<2.17")

        def apart(x):
            doubled, total = toy.scaled(x)
            return doubled * (1 + 2.0**-20), total

        toys = proof(case, toy.scaled, toy.scaled, [bound], apart)
        release = types.SimpleNamespace(__version__=version)
        releases.here.cache_clear()
        with (
            mock.patch.dict("sys.modules", release=release),
            nullcontext() if holds else self.assertRaisesRegex(Mismatch, "8 ULP"),
        ):
            toys.prove(case, "graph")


RAW = "1.15.5 float32"


class Float32Test(unittest.TestCase):
    """What computes in float32 meets the recording by the table, in every way."""

    OP = dataclasses.replace(OP, float32=True, skip={"gradient": "a toy"})

    def recorded(self, factor):
        return proof(
            self.OP, toy.scaled, toy.scaled, recorded=lambda x: toy.scaled(x * factor)
        )

    def test_nothing_is_widened(self):
        for entry in self.recorded(1).recorded():
            self.assertEqual(entry.request["args"][0].dtype, np.float32)

    def test_the_last_bits_may_differ(self):
        for slug, check in self.recorded(1 + 2.0**-23).checks():
            if not slug.endswith("generated"):
                differ = {side: tally.differ for side, tally in check().items()}
                self.assertGreater(differ.pop("1.15.5", differ.get(RAW)), 0)

    def test_and_no_more(self):
        for slug, check in self.recorded(1 + 2.0**-18).checks():
            if not slug.endswith("generated"):
                with self.assertRaisesRegex(Mismatch, "of the largest value"):
                    check()

    def test_a_bound_stands_for_the_table(self):
        row = "toy.page", "toy", "graph", "1.15.5", "outputs/0"
        for settings, within in [("strict", True), ("default", False)]:
            far = self.recorded(1 + 2.0**-18)
            far.bounds = [Bound(*row, 64, 64, "why", settings=settings)]
            with self.assertRaisesRegex(
                Mismatch, "outputs/1" if within else "outputs/0"
            ):
                far.prove(self.OP, "graph")

    def test_a_bound_may_be_of_all_leaves_that_match(self):
        far = self.recorded(1 + 2.0**-18)
        row = "toy.page", "toy", "graph", "1.15.5"
        far.bounds = [Bound(*row, "outputs/*", 64, 64, "why")]
        far.prove(self.OP, "graph")
        far.bounds = [Bound(*row, "inputs/*", 64, 64, "why")]
        with self.assertRaisesRegex(Mismatch, "outputs/0"):
            far.prove(self.OP, "graph")


class CompareTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("values", np.float32([1, 2]), np.float32([1, 3]), r"\[1\]: 2.0 in a, 3.0"),
            ("nan", np.float32([np.nan]), np.float32([1]), "nan in a"),
            ("zero_signs", np.float32([0.0]), np.float32([-0.0]), "-0.0 in b"),
            ("dtypes", np.float32([1]), np.float64([1]), "dtype"),
            ("shapes", np.float32([1]), np.float32([[1]]), "shape"),
            ("text", structure.as_array("a"), structure.as_array(b"a"), "b'a'"),
            ("none", structure.as_array(None), structure.as_array("None"), "'None'"),
            ("complex", np.complex64([1j]), np.complex64([-1j]), "1j"),
            ("empty", np.float32([]), np.float32([]), "nothing was compared"),
        ]
    )
    def test_a_difference_is_named(self, _, a, b, message):
        with self.assertRaisesRegex(Mismatch, message):
            compare.compare({"x": a}, {"x": b}, "ab")

    def test_no_leaves_are_an_error(self):
        with self.assertRaisesRegex(Mismatch, "nothing was compared"):
            compare.compare({}, {}, "ab")

    def test_nan_is_nan(self):
        nan = {"x": np.float32([np.nan])}
        self.assertEqual(compare.compare(nan, nan, "ab").elements, 1)

    @parameterized.expand(
        [
            ("neighbours", 1.0, np.nextafter(np.float32(1), np.float32(2)), 1),
            ("zeros", 0.0, -0.0, 0),
            ("across_zero", np.float32(1e-45), np.float32(-1e-45), 2),
            ("nan", np.nan, 1.0, 2**63 - 1),
            ("extremes", np.inf, -np.inf, 2 * 0x7F800000),
        ]
    )
    def test_distance(self, _, a, b, wanted):
        a, b = np.asarray(a, np.float32), np.asarray(b, np.float32)
        self.assertEqual(int(distance.ulps(a, b)), wanted)


class RecordingTest(unittest.TestCase):
    def setUp(self):
        self.proof = proof(FIXED, toy.scaled, toy.scaled)
        self.request = self.proof.recorded()[0].request

    def test_another_input_is_stale(self):
        request = {**self.request, "args": [np.float64([1, 2, 4])]}
        with self.assertRaisesRegex(StaleRecording, "run make upkeep"):
            self.proof.recording.answer("page, toy", request)

    def test_another_case_is_stale(self):
        with self.assertRaisesRegex(StaleRecording, "run make upkeep"):
            self.proof.recording.answer("page, other", self.request)

    def test_another_page_is_stale(self):
        with tempfile.NamedTemporaryFile(suffix=".py") as file:
            edited = page()
            edited.__file__ = file.name
            recording = Recording(self.proof.recording.path, edited)
            with self.assertRaisesRegex(StaleRecording, "run make upkeep"):
                recording.answer("page, toy", self.request)

    @parameterized.expand(
        [
            ("another_docstring", '"""Half."""\n\ndef f(x):\n    return x / 2\n', True),
            ("a_comment", "def f(x):\n    # half\n    return x / 2\n", True),
            ("another_text", 'def f(x):\n    return "Halves."\n', False),
        ]
    )
    def test_what_counts_as_code(self, _, text, same):
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder, name) for name in ("before.py", "after.py")]
            files[0].write_text('def f(x):\n    """Halves."""\n    return x / 2\n')
            files[1].write_text(text)
            before, after = map(code_hash, files)
        self.assertEqual(before == after, same)

    def test_no_recording(self):
        self.proof.recording.path.unlink()
        with self.assertRaisesRegex(StaleRecording, "run make upkeep"):
            self.proof.recording.answer("page, toy", self.request)

    def test_it_says_what_made_it(self):
        about = self.proof.recording.about
        self.assertEqual(about["tensorflow"], "1.15.5")
        self.assertTrue(about["cpu"] and about["settings"] and about["date"])


class CaseTest(unittest.TestCase):
    def test_a_skip_needs_a_known_rung_and_a_reason(self):
        for skip in ({"jit": "no"}, {"xla": ""}):
            with self.assertRaisesRegex(ValueError, "skip= must be"):
                cases.Op("page", "toy", skip=skip)

    def test_two_cases_of_one_name_are_refused(self):
        with self.assertRaisesRegex(ValueError, "two cases"):
            Proof(toy, toy, [OP, OP], "nowhere.npz")

    def test_draws_depend_on_the_case_alone(self):
        a, b = (drawn([normal("n", 3)], {"n": 2}, *names) for names in ("xy", "xz"))
        self.assertFalse((a[0] == b[0]).any())
        np.testing.assert_array_equal(a, drawn([normal("n", 3)], {"n": 2}, *"xy"))

    def test_sizes_are_and_are_not_multiples_of_eight(self):
        firsts = [sizes[0] % 8 == 0 for sizes in SIZES]
        self.assertEqual(set(firsts), {True, False})

    @parameterized.expand(
        [
            ("a_vector", [normal("n")], {"n": LONG}),
            ("rows", [normal("n", 3)], {"n": 67}),
            ("a_matrix", [normal("r", "c"), normal("c")], {"r": 67, "c": 33}),
            ("few_rows", [normal(3, 4), normal("k")], {"k": LONG}),
            ("no_letter", [normal(3)], {}),
        ]
    )
    def test_the_last_size_is_that_of_real_code(self, _, args, expected):
        self.assertEqual(cases.Op("page", "toy", args).bindings()[-1], expected)

    def test_weights_are_distinct(self):
        a, b = structure.distinct("a", [50]), structure.distinct("b", [50])
        self.assertEqual(len({*a, *b}), 100)


class LegacyTest(unittest.TestCase):
    def test_the_former_state_comes_back(self):
        def state():
            return (
                tf.compat.v1.resource_variables_enabled(),
                tf.compat.v1.control_flow_v2_enabled(),
                isinstance(tf.constant(0) == 0, bool),
                type(tf.TensorShape([1])[0]),
                tf.executing_eagerly(),
            )

        before = state()
        with self.assertRaises(KeyError), v1.legacy():
            self.assertEqual(
                state(), (False, False, True, tf.compat.v1.Dimension, False)
            )
            raise KeyError
        self.assertEqual(state(), before)
        self.assertEqual(before, (True, True, False, int, True))


class StructureTest(unittest.TestCase):
    def test_pack_and_unpack(self):
        document = {
            "args": [np.float32([1]), (2, "x", b"\xff\x00"), None, {"k": [True, 1.5]}]
        }
        store = {}
        text = structure.pack(document, store)
        again = structure.unpack(text, store)
        np.testing.assert_array_equal(again["args"].pop(0), document["args"].pop(0))
        self.assertEqual(again, document)

    def test_what_cannot_be_sent(self):
        with self.assertRaisesRegex(TypeError, "another interpreter"):
            structure.pack(object(), {})

    def test_what_a_page_must_not_return(self):
        with self.assertRaisesRegex(TypeError, "a page returned"):
            structure.answer({"x": object()})

    def test_the_float64_recipe_leaves_the_rest_alone(self):
        tree = structure.widen([np.float32(1), np.int32(1), 1.0, integers])
        self.assertEqual([getattr(x, "dtype", None) for x in tree][:2], ["f8", "i4"])
        self.assertIs(tree[3], integers)
