import contextlib
import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import (
    FalseFriend,
    Layer,
    Op,
    Program,
    Raises,
    booleans,
    normal,
    uniform,
)
from v1_graph import control_flow as v1
from v2_eager import control_flow as v2

INVALID = tf.errors.InvalidArgumentError
ONE, TWO = np.float32(1), np.float32(2)
YES, NO = np.array(True), np.array(False)
SQUARE_A = np.float32([[1, 2], [3, 4]])
SQUARE_B = np.float32([[-1, -2], [-3, -4]])
SCALAR = {"dynamic": "a scalar has no dimension that could be unknown"}
GROWS = {**SCALAR, "xla": "the shape of a loop variable may not vary under XLA"}
SIZED = {**SCALAR, "xla": "the size of a TensorArray must be known under XLA"}
KEPT = {
    "xla": "a tf.function that was differentiated outside of XLA keeps that gradient, "
    "which XLA refuses; test_compiled proves a fresh one"
}
EMPTY = {
    "gradient": "the left page cannot gather the gradient of an empty TensorArray",
    "xla": "the body is compiled for no element, too, and has none to read",
}

CASES = [
    Op("add_or_multiply", "the classic", [YES, ONE, TWO], expect=3),
    Op("add_or_multiply", "the other branch", [NO, ONE, TWO], expect=2),
    Op(
        "add_or_multiply",
        "any size",
        [booleans(), normal("n", 3), normal("n", 1)],
    ),
    Program(
        "branches_that_ran", "the first", [True], expect=[[1, 1], [1, 11], [1, 10]]
    ),
    Program(
        "branches_that_ran", "the second", [False], expect=[[11, 11], [1, 11], [0, 11]]
    ),
    Op(
        "choose",
        "the classic",
        [np.array([True, False]), np.int32([3, 3]), np.int32([2, 2])],
        expect=[3, 2],
    ),
    Op(
        "choose",
        "elements",
        [booleans("n", 3), normal("n", 3), normal("n", 3)],
    ),
    Op(
        "choose",
        "rows",
        [booleans("n"), normal("n", 3, 2), normal("n", 3, 2)],
    ),
    FalseFriend(
        "choose",
        "rows of a square matrix",
        [np.array([True, False]), SQUARE_A, SQUARE_B],
        expect=[[1, 2], [-3, -4]],
        naive=tf.where,
        because="a vector broadcasts along the last axis and chooses columns",
    ),
    *[
        op
        for name in ("log_or_zero_trap", "log_or_zero")
        for op in (
            Op(
                name,
                "signs",
                [np.float32([1, 0, -1, np.inf, -np.inf, np.nan])],
                expect=[0, 0, 0, np.inf, 0, 0],
            ),
            Op(name, "any size", [normal("n", 2)]),
        )
    ],
    *[
        Op(
            "rate_of_step",
            f"step {step}",
            [np.int32(step), TWO],
            expect=rate,
            skip=SCALAR,
        )
        for step, rate in [(9, 2), (10, 0.2), (19, 0.2), (20, 0.02)]
    ],
    Op("rate_of_step", "long integers", [np.int64(15), normal()], skip=SCALAR),
    *[
        Op(
            "activate",
            f"kind {kind}",
            [np.int32(kind), normal("n")],
        )
        for kind in range(3)
    ],
    Op("activate", "a number of Python", [1, normal("n")]),
    FalseFriend(
        "activate",
        "a number that is none of these",
        [np.int32(3), np.float32([-2, 0.5])],
        expect=[-2, 0.5],
        naive=lambda kind, x: tf.switch_case(
            tf.constant(kind),
            [lambda: tf.tanh(x), lambda: tf.sigmoid(x), lambda: x * x],
        ),
        because="without a default, any other number runs the last branch",
    ),
    *[
        Op("fibonacci", f"number {n}", [np.int32(n)], expect=number, skip=SCALAR)
        for n, number in [(5, 5), (-1, 1), (46, 1836311903), (47, -1323752223)]
    ],
    Op("fibonacci_grown", "five", [np.int32(5)], expect=[1, 1, 2, 3, 5], skip=GROWS),
    Op("fibonacci_grown", "too few", [np.int32(0)], expect=[1, 1], skip=GROWS),
    Op("fibonacci_grown", "wraps", [np.int32(50)], skip=GROWS),
    Op("fibonacci_array", "five", [np.int32(5)], expect=[1, 1, 2, 3, 5], skip=SIZED),
    Op("fibonacci_array", "two", [np.int32(2)], expect=[1, 1], skip=SIZED),
    Op("fibonacci_array", "wraps", [np.int32(50)], skip=SIZED),
    Op(
        "power",
        "thirteen",
        [np.float32([2, -1, 0.5]), np.int32(13)],
        expect=[8192, -1, 2**-13],
    ),
    Op("power", "any size", [uniform("n", low=-2, high=2), np.int32(11)]),
    Op("power", "zero", [normal(3, 2), np.int32(0)]),
    Op(
        "power",
        "two digits only",
        [TWO, np.int32(13)],
        {"maximum_iterations": 2},
        expect=2,
    ),
    Op(
        "power",
        "no limit, one iteration at a time",
        [normal(9), np.int32(5)],
        {"maximum_iterations": None, "parallel_iterations": 1, "swap_memory": True},
        skip={"xla": "the gradient of a loop without a limit does not compile"},
    ),
    Op(
        "sum_positive_until",
        "continue and break",
        [np.float32([1, -9, 2, 0, 3, 4]), np.float32(3)],
        expect=6,
        skip=KEPT,
    ),
    Op(
        "sum_positive_until",
        "a sum that only reaches the limit",
        [np.float32([1, 2, 3]), np.float32(3)],
        expect=6,
        skip=KEPT,
    ),
    Op(
        "sum_positive_until",
        "a negative value before a negative limit",
        [np.float32([-1, 5, 3]), np.float32(-1)],
        expect=5,
        skip=KEPT,
    ),
    Op(
        "sum_positive_until",
        "no number among them",
        [np.float32([1, np.nan, 2, 4]), np.float32(2)],
        expect=3,
        skip=KEPT,
    ),
    Op(
        "sum_positive_until",
        "no values",
        [np.zeros([0], "f"), np.float32(3)],
        expect=0,
        skip=EMPTY,
    ),
    Op(
        "sum_positive_until",
        "any size",
        [normal("n"), np.float32(10)],
        skip=KEPT,
    ),
    Op("newton_sqrt", "squares", [np.float32([4, 9, 2])], expect=[2, 3, np.sqrt(2)]),
    Op("newton_sqrt", "any size", [uniform("n", 2, low=0.5, high=50)]),
    Op("newton_sqrt", "coarse", [uniform(9, low=0.5, high=50)], {"tolerance": 0.5}),
    Op(
        "newton_sqrt",
        "two steps",
        [np.float32([16])],
        {"maximum_iterations": 2},
        expect=[(8.5 + 16 / 8.5) / 2],
    ),
    Op(
        "newton_sqrt",
        "zero and NaN beside a number",
        [np.float32([0, np.nan, 4])],
        expect=[np.nan, np.nan, 2],
    ),
    Op("summarize_rows", "any size", [normal("t", "n")]),
    Op(
        "summarize_rows",
        "the first of equals",
        [np.float32([[1, 3, 3], [0, 0, 0]])],
        expect=([7 / 3, 0], [1, 0]),
    ),
    Op(
        "smooth",
        "constant steps",
        [np.float32([0, 8, 8, 8]), np.float32(0.5)],
        expect=[0, 4, 6, 7],
        skip=KEPT,
    ),
    Op(
        "smooth",
        "from the end",
        [np.float32([0, 8, 8, 0]), np.float32(0.5)],
        {"reverse": True},
        expect=[3, 6, 4, 0],
        skip=KEPT,
    ),
    Op(
        "smooth",
        "any size",
        [normal("t", "n"), np.float32(0.9)],
        skip=KEPT,
    ),
    Op("polynomial", "descending", [np.float32([5, 0, 3]), TWO], expect=23, skip=KEPT),
    Op(
        "polynomial",
        "ascending",
        [np.float32([3, 0, 5]), TWO],
        {"ascending": True},
        expect=23,
        skip=KEPT,
    ),
    Op(
        "polynomial",
        "any size",
        [normal("t"), normal("n", 2, scale=0.5)],
        sizes=[{"n": 7, "t": 5}, {"n": 67, "t": 12}],
        skip=KEPT,
    ),
    Op(
        "polynomial",
        "no coefficients",
        [np.zeros([0], "f"), np.ones([3], "f")],
        expect=[0, 0, 0],
        skip=EMPTY,
    ),
    Raises(
        "add_or_multiply",
        "a float for a boolean",
        [ONE, ONE, TWO],
        graph=TypeError,
        eager=ValueError,
        function=ValueError,
        match="bool",
    ),
    Raises(
        "add_or_multiply",
        "a vector of conditions",
        [np.array([True, False]), ONE, TWO],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="rank 0|ambiguous|scalar",
    ),
    Raises(
        "add_or_multiply",
        "a vector of one condition",
        [np.array([True]), ONE, TWO],
        graph=ValueError,
        match="rank 0",
        expect=3,
    ),
    Raises(
        "add_or_multiply",
        "sizes that do not fit",
        [YES, np.ones(2, "f"), np.ones(3, "f")],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="must be equal|Incompatible shapes",
    ),
    Raises(
        "add_or_multiply",
        "sizes that do not fit, seen when run",
        [YES, np.ones(2, "f"), np.ones(3, "f")],
        dynamic=True,
        graph=INVALID,
        eager=ValueError,
        function=INVALID,
        match="must be equal|Incompatible shapes",
    ),
    *[
        Raises(
            "choose",
            slug,
            [np.array([True, False]), np.ones([3, 2], "f"), np.ones([3, 2], "f")],
            dynamic=dynamic,
            graph=graph,
            eager=INVALID,
            function=graph,
            match="must be equal|must be broadcastable|must match size of 'cond'",
        )
        for slug, dynamic, graph in [
            ("too few rows", False, ValueError),
            ("too few rows, seen when run", True, INVALID),
        ]
    ],
    Raises(
        "choose",
        "sides that broadcast",
        [np.array([True, False]), np.ones(2, "f"), np.ones([2, 1], "f")],
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="equal rank|must have",
    ),
    Raises(
        "choose",
        "one condition for all rows",
        [np.array([True]), np.ones(3, "f"), np.ones(3, "f")],
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="must be equal|must match size|must have",
    ),
    Raises(
        "choose",
        "sides of two dtypes",
        [np.array([True, False]), np.ones(2, "f"), np.ones(2, "i")],
        graph=TypeError,
        eager=INVALID,
        function=TypeError,
        match="int32",
    ),
    Raises(
        "choose",
        "a float condition",
        [np.ones(2, "f"), np.ones(2, "f"), np.ones(2, "f")],
        graph=TypeError,
        eager=INVALID,
        function=TypeError,
        match="bool",
    ),
    Raises(
        "rate_of_step",
        "a vector of steps",
        [np.int32([1, 2]), ONE],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="rank 0|ambiguous|scalar",
    ),
    Raises(
        "activate",
        "a long integer, which only a graph minds",
        [np.int64(0), np.ones(2, "f")],
        function=TypeError,
        match="int32",
    ),
    Raises(
        "activate",
        "a float",
        [ONE, np.ones(2, "f")],
        eager=TypeError,
        function=TypeError,
        match="integer",
    ),
    Raises(
        "activate",
        "a vector of kinds",
        [np.int32([0, 1]), np.ones(2, "f")],
        graph=ValueError,
        eager=INVALID,
        function=INVALID,
        match="rank 0|vector|scalar",
    ),
    Raises(
        "fibonacci",
        "a float, which tf.range takes",
        [np.float32(5)],
        graph=TypeError,
        match="int32",
        expect=5,
    ),
    Raises(
        "fibonacci",
        "a vector of limits",
        [np.int32([5, 6])],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="rank 0",
    ),
    Raises(
        "fibonacci_grown",
        "no word about the length",
        [np.int32(5)],
        {"length": 2},
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="after one iteration",
    ),
    Raises(
        "fibonacci_array",
        "no room for two",
        [np.int32(1)],
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match="index 1|element 1",
    ),
    Raises(
        "power",
        "a vector of exponents",
        [np.ones(2, "f"), np.int32([1, 2])],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="rank 0|scalar",
    ),
    Raises(
        "power",
        "no iteration at a time",
        [np.ones(2, "f"), np.int32(3)],
        {"parallel_iterations": 0},
        graph=TypeError,
        eager=TypeError,
        function=TypeError,
        match="positive integer",
    ),
    Raises(
        "sum_positive_until",
        "a matrix",
        [np.ones([2, 2], "f"), ONE],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="rank 0|scalar",
    ),
    Raises(
        "sum_positive_until",
        "a limit of another dtype",
        [np.ones(2, "f"), np.int32(3)],
        graph=TypeError,
        eager=TypeError,
        function=TypeError,
        match="int32",
    ),
    Raises(
        "newton_sqrt",
        "integers",
        [np.int32([4])],
        graph=TypeError,
        eager=TypeError,
        function=TypeError,
        match="int32",
    ),
    Raises(
        "summarize_rows",
        "a scalar",
        [ONE],
        graph=ValueError,
        genuine=None,
        eager=ValueError,
        function=ValueError,
        match="not scalar|not a scalar",
    ),
    Raises(
        "smooth",
        "no values to begin with",
        [np.zeros([0], "f"), ONE],
        dynamic=True,
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match="index 0|element 0",
    ),
    Layer("make_repeated", "three times", [normal("b", 4), np.int32(3)]),
    Layer(
        "make_repeated",
        "never",
        [normal(5, 3), np.int32(0)],
        skip={
            "eager": "a loop that never runs leaves the tape empty: None, not 0",
            "xla": "the body is compiled for no turn, too, whose list holds nothing",
        },
    ),
    Raises(
        "smooth",
        "a weight that makes the mean larger",
        [np.zeros([3, 2], "f"), np.ones([2, 1], "f")],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="shape",
    ),
    Raises(
        "polynomial",
        "integer places for float coefficients",
        [np.ones(2, "f"), np.int32([1, 2])],
        graph=TypeError,
        eager=TypeError,
        function=TypeError,
        match="float32",
    ),
]
PROOF = proof(v1, v2, CASES)


@contextlib.contextmanager
def rewriting():
    """Turns on graph rewriting, which the strict settings turn off."""
    before = tf.config.optimizer.get_experimental_options()
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options(before)


class ControlFlowTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()

    @parameterized.expand(
        [
            ("trap", "log_or_zero_trap", [0.25, 1, np.nan, 0]),
            ("safe", "log_or_zero", [0.25, 1, 0, 0]),
        ]
    )
    def test_gradient_of_where(self, _, name, expected):
        x = tf.constant([4.0, 1.0, 0.0, -1.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = getattr(v2, name)(x)
        np.testing.assert_array_equal(tape.gradient(y, x), np.float32(expected))

    def test_gradient_of_power(self):
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = v2.power(x, tf.constant(13))
        np.testing.assert_array_equal(tape.gradient(y, x), np.float32(13 * 2**12))

    @parameterized.expand(
        [
            ("tensors", [tf.constant(5), tf.constant(6), tf.constant(7)], 1),
            ("python_numbers", [5, 6, 7], 3),
        ]
    )
    def test_traces(self, _, limits, traces):
        fibonacci = tf.function(v2.fibonacci.python_function)
        numbers = [fibonacci(limit) for limit in limits]
        np.testing.assert_array_equal(numbers, np.int32([5, 8, 13]))
        self.assertEqual(fibonacci.experimental_get_tracing_count(), traces)

    def test_loop_options_count_in_graphs_only(self):
        x, n = tf.constant(2.0), tf.constant(13)
        eager = v2.power.python_function(x, n, maximum_iterations=2)
        np.testing.assert_array_equal(eager, np.float32(8192))
        graph = v2.power(x, n, maximum_iterations=2)
        np.testing.assert_array_equal(graph, np.float32(2))

    def test_a_negated_comparison_loses_nan_in_functions(self):
        def not_positive(x):
            return tf.logical_not(x > 0)

        x = tf.constant([np.nan, 1, -1])
        np.testing.assert_array_equal(not_positive(x), [True, False, True])
        with rewriting():
            function = tf.function(not_positive)(x)
        np.testing.assert_array_equal(function, [False, False, True])

    def test_a_function_differentiated_before_it_is_compiled(self):
        def third(x):
            if x < 1:
                return x
            elif x < 2:
                return x / 2
            else:
                return x / 3

        def slope(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = page(x)
            return tape.gradient(y, x)

        x = tf.constant(2.5)
        page = third
        with rewriting():
            plain = tf.function(slope, jit_compile=True)(x)
            np.testing.assert_array_equal(plain, np.float32(1) / 3)
            page = tf.function(third)
            slope(x)
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "OptionalNone"):
                tf.function(slope, jit_compile=True)(x)

    def test_numbers_of_python(self):
        power = v2.power(tf.constant(2.0), 10, maximum_iterations=2)
        np.testing.assert_array_equal(power, np.float32(4))
        np.testing.assert_array_equal(v2.fibonacci(1), np.int32(1))
        np.testing.assert_array_equal(v2.fibonacci_grown(0), np.int32([1, 1]))

    def test_a_loop_that_never_runs_has_no_gradient_eagerly(self):
        repeat, x = v2.make_repeated(), tf.ones([2, 3])

        def gradient(times):
            with tf.GradientTape() as tape:
                outputs = repeat(x, times)
            return tape.gradient(outputs, repeat.kernel)

        never = tf.constant(0)
        self.assertIsNotNone(gradient(tf.constant(1)))  # makes the variables
        self.assertIsNone(gradient(never))
        self.assertFalse(tf.function(gradient)(never).numpy().any())

    def test_growing_fails_in_graphs_only(self):
        def grown(n):
            numbers = tf.constant([1, 1])
            for _ in tf.range(2, n):
                numbers = tf.concat([numbers, [numbers[-2] + numbers[-1]]], axis=0)
            return numbers

        n = tf.constant(5)
        np.testing.assert_array_equal(grown(n), np.int32([1, 1, 2, 3, 5]))
        with self.assertRaisesRegex(ValueError, r"has shape \(2,\) before the loop"):
            tf.function(grown)(n)

    def test_a_write_whose_result_is_dropped(self):
        @tf.function
        def ones():
            numbers = tf.TensorArray(tf.int32, 2, element_shape=[])
            numbers.write(0, 1)
            return numbers.write(1, 1).stack()

        np.testing.assert_array_equal(ones(), np.int32([0, 1]))
        numbers = tf.TensorArray(tf.int32, 1, clear_after_read=False)
        written = numbers.write(0, 1)
        np.testing.assert_array_equal(
            [numbers.read(0), written.read(0)], np.int32([1, 1])
        )

    @parameterized.expand(
        [
            ("smooth", [np.float64([0, 8, 8, 8]), np.float64(0.5)]),
            ("polynomial", [np.float64([5, 0, 3]), np.float64(2)]),
            ("sum_positive_until", [np.float64([1, -9, 2, 3, 4]), np.float64(3)]),
        ]
    )
    def test_compiled(self, name, arrays):
        def gradients(*tensors):
            page = tf.function(getattr(v2, name).python_function)
            with tf.GradientTape() as tape:
                tape.watch(tensors)
                y = page(*tensors)
            return [y, tape.gradient(y, tensors[0])]

        tensors = [tf.constant(array) for array in arrays]
        compiled = tf.function(gradients, jit_compile=True)(*tensors)
        for plain, fused in zip(gradients(*tensors), compiled):
            np.testing.assert_array_equal(plain, fused)
