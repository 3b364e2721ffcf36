import functools
import os
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof, shorthand
from parity_tests.contrib import CONTRIB
from tf1to2.parity import Program, Raises
from v1_graph import testing as v1
from v2_eager import testing as v2

RNG = np.random.RandomState(0)
ROWS = RNG.normal(size=[67, 16]).astype("f")
CENTRED = ROWS - ROWS.mean()
KERNEL = RNG.normal(size=[16, 8]).astype("f")
KERNELS = [RNG.normal(0, 0.3, [16, 16]).astype("f") for _ in range(3)]
PLAIN = {"function": "no function: what is ported are the tests"}
BY_POSITION = {"graph": "today a place counts otherwise, in compat.v1, too"}
NUMPY = {"graph": "NumPy 2 compares halves with float32 otherwise"}
MADE = {"eager": "the function would run eagerly, too"}
# Numbers of a layer's size, and the same after a rounding, a sum in another order, a
# cast and a mistake.
EXPECTED = RNG.normal(size=[16, 64]).astype("f")
ROUNDED = EXPECTED * np.float32(1 + 3e-7)
SUMMED = EXPECTED + RNG.normal(0, 1e-6, EXPECTED.shape).astype("f")
HALVES = EXPECTED.astype("e")
WRONG = np.where(EXPECTED > 2, np.nan, EXPECTED)
NESTED = [ROWS, {"d": (KERNEL, [1.0, 2.0])}]
TABLE = RNG.normal(size=[5, 3]).astype("f")
IDS = np.int32([0, 4, 0, 2])
SMALL = RNG.normal(size=[3, 2]).astype("f")
SHAPES = {
    "hidden/kernel": [16, 64],
    "hidden/bias": [64],
    "hidden-2/bias": [64],
    "hidden/norm/gamma": [64],
    "hidden/norm/moving_mean": [64],
    "out/kernel": [64, 1000],
    "out/kernel/Momentum": [999],
    "out/scale": [],
    "embedding_table": [1500, 1000],
    "counts/seen": [3],
}
FROZEN = ["hidden/norm/moving_mean", "counts/seen"]


def by_numpy(a, b):
    """Uses the tolerances of np.testing: rtol 1e-7 and atol 0."""
    close = v2.verdict(tf.test.TestCase().assertAllClose, b, a, 1e-7, 0)
    return {**v2.run_assertions(a, b), "close": close}


def with_bounds_of_numpy(a, b):
    """Compares float16 with float32 bounds, as NumPy 2 does."""
    test = tf.test.TestCase()
    verdict = v2.verdict(test.assertAllInRange, b.astype("f"), a.min(), a.max())
    return {**v2.run_assertions(a, b), "in range": verdict}


def as_they_were(x, kernel):
    """Runs the same assertions on eager ops."""

    class ErrorTest(tf.test.TestCase):
        def test_node(self):
            with self.assertRaisesOpError("Caused by: check"):
                tf.debugging.check_numerics(tf.math.log(x), "scores", name="check")

        def test_shapes(self):
            with self.assertRaisesRegex(ValueError, "Dimensions must be equal"):
                tf.matmul(x, kernel)

    return {**v2.run_error_tests(x, kernel), **v2.outcomes(ErrorTest)}


def without_seeds(size):
    drawn = []

    class DrawTest(tf.test.TestCase):
        def test_draw(self):
            drawn.append(tf.random.normal([size]).numpy())

    answers = v2.draw_in_tests(size)
    v2.outcomes(DrawTest)
    return [{**answer, "of_place": drawn[0]} for answer in answers]


def softly(x):
    """Selects a device by name, and keeps soft placement."""

    class DeviceTest(tf.test.TestCase):
        def test_forced(self):
            with tf.device("GPU:0"):
                tf.reduce_max(x)

    answer = v2.run_device_tests(x)
    return {**answer, "outcomes": {**answer["outcomes"], **v2.outcomes(DeviceTest)}}


def by_its_own_step(table, ids, kernel):
    return v2.check_gradients(table, ids, kernel, None)


def as_they_come(table, ids, kernel):
    """Returns Jacobians that are not transposed: rows are outputs."""
    answer = v2.check_gradients(table, ids, kernel)
    return {
        **answer,
        "analytic": [jacobian.T for jacobian in answer["analytic"]],
        "numeric": [jacobian.T for jacobian in answer["numeric"]],
    }


def all_of_them(shapes, frozen):
    return v2.count_parameters(shapes, [])


friend = functools.partial(shorthand.friend, skip=PLAIN)


def judged(slug, *args, **options):
    """Makes a case of verdicts about given arrays."""
    options.setdefault("skip", PLAIN)
    return Program("run_assertions", slug, args, exact=True, **options)


def nested(slug, a, b, *tolerances, **options):
    args = [a, b, *tolerances]
    return Program("assert_structures_close", slug, args, skip=PLAIN, **options)


def today(slug, a, b, assertion, before):
    """Makes a case that fails only in 1.15.5."""
    return Raises(
        "assert_alike",
        slug,
        [a, b, assertion],
        genuine=before,
        match="not equal|must be a Tensor|ambiguous",
        of="program",
        skip=PLAIN,
        expect=True,
    )


CASES = [
    Program("run_session_tests", "a sum that is near 0", [CENTRED, KERNEL]),
    Program("run_session_tests", "a test that fails", [ROWS, KERNEL]),
    judged("the same", EXPECTED, EXPECTED),
    judged("rounded", EXPECTED, ROUNDED),
    judged("summed in another order", EXPECTED, SUMMED),
    judged("doubles", EXPECTED, EXPECTED.astype("d")),
    judged("halves", EXPECTED, HALVES, skip={**PLAIN, **NUMPY}),
    judged("half and half", HALVES, HALVES * np.float16(1.001)),
    judged("with NaN", EXPECTED, WRONG),
    judged("NaN twice", WRONG, WRONG),
    judged("another shape", EXPECTED, EXPECTED[0]),
    judged("integers", np.arange(99), np.arange(99.0)),
    judged("a wider tolerance", EXPECTED, SUMMED, 1e-4),
    friend(
        "run_assertions",
        "as NumPy has it",
        [EXPECTED, ROUNDED],
        by_numpy,
        "1e-6 of it and 1e-6 more are allowed, not 1e-7 of it",
        exact=True,
    ),
    friend(
        "run_assertions",
        "bounds of NumPy",
        [EXPECTED, HALVES],
        with_bounds_of_numpy,
        "NumPy 2 compares halves with a float32 number as float32",
        exact=True,
        skip={**PLAIN, **NUMPY},
    ),
    nested("close", NESTED, [ROWS * np.float32(1 + 3e-7), NESTED[1]]),
    nested("deep inside", NESTED, [ROWS, {"d": (KERNEL, [1.0, 2.5])}]),
    nested("a tolerance", NESTED, [ROWS, {"d": (KERNEL, [1.0, 2.5])}], 0.0, 0.75),
    nested("other keys", {"a": ROWS}, {"b": ROWS}),
    nested("another length", [ROWS, ROWS], [ROWS, ROWS, ROWS]),
    Raises.alike(
        "assert_structures_close",
        "a dict and a list",
        [NESTED, [ROWS, [KERNEL]]],
        ValueError,
        "Can't compare dict to non-dict",
        of="program",
        skip=PLAIN,
    ),
    Program("assert_alike", "arrays", [ROWS, ROWS, "assertAllEqual"], skip=PLAIN),
    today("text and bytes", "text", b"text", "assertAllEqual", AssertionError),
    today("shapes of two arrays", ROWS, ROWS, "assertShapeEqual", TypeError),
    today("arrays in dicts", {"x": ROWS}, {"x": ROWS}, "assertDictEqual", ValueError),
    Program("run_error_tests", "all of them come", [ROWS, ROWS]),
    Program(
        "run_error_tests", "none of them", [np.abs(KERNEL.T), np.ones([16, 2], "f")]
    ),
    friend(
        "run_error_tests",
        "as they were",
        [ROWS, ROWS],
        as_they_were,
        "an eager error has no op, and its class is another",
    ),
    Program("draw_in_tests", "a thousand", [1000], skip={**PLAIN, **BY_POSITION}),
    friend(
        "draw_in_tests",
        "without seeds",
        [1000],
        without_seeds,
        "the place of an op in its graph was its seed",
        skip={**PLAIN, **BY_POSITION},
    ),
    Program("run_device_tests", "no device", [ROWS], skip=PLAIN),
    friend(
        "run_device_tests",
        "softly",
        [ROWS],
        softly,
        "eagerly a device that there is not is passed over",
    ),
    Program("check_gradients", "a table", [TABLE, IDS, SMALL], skip=PLAIN),
    Program("check_gradients", "a wide step", [TABLE, IDS, SMALL, 0.1], skip=PLAIN),
    friend(
        "check_gradients",
        "its own step",
        [TABLE, IDS, SMALL],
        by_its_own_step,
        "the step is 1/1024, and was 1e-3",
    ),
    friend(
        "check_gradients",
        "as they come",
        [TABLE, IDS, SMALL],
        as_they_come,
        "the outputs are in the rows",
        differs="shape",
    ),
    Program(
        "trace_timeline",
        "three layers",
        [ROWS, KERNELS],
        expect=[
            [kind, f"layer_{i}/{kind}"] for i in range(3) for kind in ("MatMul", "Tanh")
        ],
        skip=MADE,
    ),
    Program("count_parameters", "by the profiler", [SHAPES, FROZEN], skip=PLAIN),
    Program(
        "count_parameters",
        "by tfprof",
        [SHAPES, FROZEN, "print_model_analysis"],
        skip={**PLAIN, **CONTRIB},
    ),
    friend(
        "count_parameters",
        "of all variables",
        [SHAPES, FROZEN],
        all_of_them,
        "what is not trained is not counted",
        differs="structure",
    ),
    Program("report_benchmark", "ten runs and two", [ROWS[:16]], exact=True),
    Program("report_benchmark", "few of them", [ROWS[:16], 3, 0], exact=True),
]
PROOF = proof(v1, v2, CASES)


class TestingTest(unittest.TestCase):
    def setUp(self):
        # A benchmark sets a variable there: new devices get threads of their own.
        environment = mock.patch.dict(os.environ)
        environment.start()
        self.addCleanup(environment.stop)

    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()

    def test_tensorrt_says_that_it_is_not_there(self):
        with self.assertRaisesRegex(RuntimeError, "built with TensorRT"):
            tf.experimental.tensorrt.Converter(input_saved_model_dir="")
