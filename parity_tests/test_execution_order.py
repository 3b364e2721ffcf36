import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from tf1to2.parity import Layer, Op, Program, Raises, integers, normal, uniform
from tf1to2.parity.v1 import legacy
from v1_graph import execution_order as v1
from v2_eager import execution_order as v2

ONE, TWO, FIVE = np.float32(1), np.float32(2), np.float32(5)
THREE, SEVEN = np.float32(3), np.float32(7)
NEGATIVE = "x must not be negative"
EAGER = {"eager": "Python statements run at every call there"}

CASES = [
    Op("rebind", "the classic", [np.int32(1), np.int32(2)], expect=[1, 3]),
    Op("rebind", "any size", [normal("r", "c"), normal("c")]),
    Program("assign_sum", "the classic", [ONE, TWO], expect=[3]),
    Program("assign_sum", "integers", [np.int32(1), np.int32(2)], expect=[3]),
    Program("assign_sum", "three times", [ONE, TWO, 3], expect=[3, 5, 7]),
    Program("assign_sum", "vectors", [normal("n"), normal("n")], {"runs": 2}),
    Program("race", "nothing to race for", [FIVE, TWO, FIVE], expect=[7, 5]),
    Program("race", "a vector", [np.float32([1, 2])] * 3),
    Program("ordered_sum", "the classic", [ONE, TWO, FIVE], expect=[3, 5]),
    Program(
        "ordered_sum",
        "assigned first",
        [ONE, TWO, FIVE],
        {"read_first": False},
        expect=[7, 5],
    ),
    Program("ordered_sum", "vectors", [normal("n"), normal("n"), normal("n")]),
    Program(
        "ordered_sum",
        "vectors, assigned first",
        [normal("n"), normal("n"), normal("n")],
        {"read_first": False},
    ),
    Program("swap", "two numbers", [ONE, TWO], expect=[2, 1]),
    Program("swap", "signed zeros", [np.float32(-0.0), np.float32(0.0)]),
    Program("swap", "integers", [integers("n"), integers("n")]),
    Program("swap", "matrices", [normal("r", "c"), normal("r", "c")]),
    Program("held_value", "a copy", [THREE, SEVEN], expect=[3, 7]),
    Program("held_value", "no copy", [THREE, SEVEN], {"copied": False}, expect=[7, 7]),
    Program("held_value", "a copied matrix", [normal("r", "c"), normal("r", "c")]),
    Program(
        "held_value",
        "a matrix that is not copied",
        [normal("r", "c"), normal("r", "c")],
        {"copied": False},
    ),
    Program(
        "count_fetched",
        "fetched",
        [np.float32([1, 2, 3])],
        expect=([1, 4, 9], 3),
    ),
    Program(
        "count_fetched",
        "pruned",
        [np.float32([1, 2, 3])],
        {"fetched": False},
        expect=([1, 4, 9], 0),
    ),
    Program("count_fetched", "no numbers", [np.float32([])], skip={"function": PLAIN}),
    Layer("make_centering", "tied", [normal("b", 5)]),
    Layer("make_centering", "not tied", [normal("b", 5), False]),
    Layer("make_centering", "half", [normal("b", 3)], factory={"momentum": 0.5}),
    Layer(
        "make_centering",
        "another name",
        [uniform("b", 2)],
        {"tied": True},
        factory={"momentum": 0.75, "name": "center"},
    ),
    Op("checked_sqrt", "squares", [np.float32([1, 4, 9])], expect=[1, 2, 3]),
    Op("checked_sqrt", "any size", [uniform("r", "c", low=0.25, high=4.0)]),
    Op(
        "checked_sqrt",
        "not enforced",
        [np.float32([4, -1])],
        {"enforced": False},
        expect=[2, np.nan],
    ),
    Program(
        "guarded_assign",
        "one of three fails",
        [FIVE, np.float32([1, -1, 2])],
        expect=([1, 1, 2], 1),
    ),
    Program(
        "guarded_assign",
        "the first fails",
        [FIVE, np.float32([-1, np.nan, 0])],
        expect=([5, 5, 0], 2),
    ),
    Program(
        "guarded_assign",
        "vectors",
        [np.float32([1, 1]), np.float32([[3, 4], [5, -6]])],
        expect=([[3, 4], [3, 4]], 1),
    ),
    Program("count_calls", "once", [1], expect=(1, 1)),
    Program("count_calls", "five times", [5], skip=EAGER, expect=(1, 5)),
    Program(
        "descend_twice",
        "two weights",
        [np.float32([1, -2]), 0.5],
        expect=([0.25, -0.5], 0.625),
    ),
    Program("descend_twice", "any size", [normal("n"), 0.1]),
    Program(
        "scale_in_turn",
        "two turns of three",
        [np.float32([2, 4, 6]), np.float32(4)],
    ),
    Program(
        "scale_in_turn",
        "each turn",
        [uniform("n", low=1.0, high=2.0), np.float32(1)],
        {"every": 1},
    ),
    Program(
        "scale_in_turn",
        "the first turn alone",
        [uniform("n", low=1.0, high=2.0), np.float32(1)],
        {"every": 10**6},
    ),
    Raises(
        "rebind",
        "sizes that do not broadcast",
        [np.zeros([3], "f"), np.zeros([2], "f")],
        graph=ValueError,
        eager=tf.errors.InvalidArgumentError,
        function=ValueError,
        match="Incompatible shapes|must be equal",
    ),
    Raises(
        "rebind",
        "two dtypes",
        [np.float32(1), np.int32(2)],
        graph=TypeError,
        eager=tf.errors.InvalidArgumentError,
        function=TypeError,
        match="int32",
    ),
    Raises(
        "race",
        "another shape",
        [ONE, TWO, np.float32([1, 2])],
        of="program",
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="[Ss]hape",
    ),
    Raises(
        "swap",
        "two shapes",
        [np.zeros([3], "f"), np.zeros([2], "f")],
        of="program",
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="[Ss]hape|must be equal",
    ),
    Raises(
        "assign_sum",
        "a sum that has outgrown the variable",
        [ONE, np.float32([1, 2])],
        of="program",
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="[Ss]hape",
    ),
    Raises(
        "count_fetched",
        "a matrix where the numbers of a vector are fed",
        [np.zeros([2, 3], "f")],
        of="program",
        graph=ValueError,
        eager=None,
        function=TypeError,
        match="Cannot feed value of shape|Can not cast",
        expect=([[0, 0, 0]] * 2, 2),
    ),
    Raises(
        "checked_sqrt",
        "a negative number",
        [np.float32([4, -1])],
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match=NEGATIVE,
    ),
    Raises(
        "checked_sqrt",
        "NaN, its shape unknown",
        [np.float32([4, np.nan])],
        dynamic=True,
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match=NEGATIVE,
    ),
    Raises(
        "guarded_assign",
        "a value of another shape",
        [FIVE, np.zeros([2, 3], "f")],
        of="program",
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="[Ss]hape",
    ),
]
PROOF = proof(v1, v2, CASES)
RUNS = 20


class ExecutionOrderTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class RaceTest(unittest.TestCase):
    def test_in_a_session_the_sum_is_one_of_two(self):
        with legacy():
            results = {tuple(v1.race(ONE, TWO, FIVE)) for _ in range(RUNS)}
        self.assertLessEqual(results, {(3, 5), (7, 5)})

    @parameterized.expand([("eager", True), ("function", False)])
    def test_in_a_function_the_lines_are_the_order(self, _, eagerly):
        self.addCleanup(tf.config.run_functions_eagerly, False)
        tf.config.run_functions_eagerly(eagerly)
        results = {tuple(v2.race(ONE, TWO, FIVE)) for _ in range(RUNS)}
        self.assertEqual(results, {(3, 5)})


class NameTest(unittest.TestCase):
    def test_a_scope_in_a_scope_names_the_variable(self):
        layer = v2.make_centering(name="model/centering")
        layer(tf.ones([2, 3]))
        self.assertEqual(layer.moving_mean.name, "model/centering/moving_mean:0")


class FalseFriendsTest(unittest.TestCase):
    """Line-by-line translations of the left page give other numbers."""

    def test_two_assignments_without_copies_do_not_swap(self):
        a, b = tf.Variable(1), tf.Variable(2)

        @tf.function
        def both():
            tf.group(a.assign(b), b.assign(a))

        both()
        self.assertEqual([a.numpy(), b.numpy()], [2, 2])
        self.assertEqual(v2.swap(np.int32(1), np.int32(2)), [2, 1])

    @parameterized.expand([("reference", False, 7), ("resource", True, 3)])
    def test_identity_copies_resource_variables_only(self, _, use_resource, expected):
        with legacy(), v1.tf.Session() as sess:
            a = v1.tf.Variable(3, use_resource=use_resource)
            held = v1.tf.identity(a)
            with v1.tf.control_dependencies([held]):
                assigned = v1.tf.assign(a, 7)
            sess.run(a.initializer)
            self.assertEqual(sess.run([held, assigned]), [expected, 7])

    def test_an_update_that_nobody_fetched_runs_in_a_function(self):
        count = tf.Variable(0)

        @tf.function
        def step(x):
            count.assign_add(1)
            return x * x

        for number in [1.0, 2.0, 3.0]:
            step(tf.constant(number))
        self.assertEqual(count.numpy(), 3)
        with legacy():
            _, counted = v1.count_fetched(np.float32([1, 2, 3]), fetched=False)
        self.assertEqual(counted, 0)

    def test_an_assertion_that_nothing_needs_runs_in_a_function(self):
        @tf.function
        def root(x):
            tf.debugging.assert_non_negative(x)
            return tf.sqrt(x)

        with self.assertRaises(tf.errors.InvalidArgumentError):
            root(tf.constant(-1.0))

    def test_xla_drops_assertions(self):
        root = tf.function(v2.checked_sqrt, jit_compile=True)
        np.testing.assert_array_equal(root(tf.constant([4.0, -1.0])), [2, np.nan])

    def test_nothing_to_check(self):
        root = tf.function(v2.checked_sqrt)
        self.assertEqual(root(tf.zeros([0, 2])).shape, [0, 2])


class AutomaticOrderTest(unittest.TestCase):
    """The limits of automatic control dependencies in a function."""

    def test_an_assertion_may_come_after_the_assignment_that_it_guards(self):
        a = tf.Variable(5.0)

        def update(value):
            tf.debugging.assert_non_negative(value)
            a.assign(value)

        def left_by(function):
            a.assign(5.0)
            with self.assertRaises(tf.errors.InvalidArgumentError):
                function(tf.constant(-1.0))
            return float(a.numpy())

        compiled = tf.function(update)
        self.assertEqual({left_by(update) for _ in range(RUNS)}, {5})
        self.assertLessEqual({left_by(compiled) for _ in range(RUNS)}, {5, -1})

    @parameterized.expand([("unordered", False, {1, 5}), ("ordered", True, {5})])
    def test_python_sees_the_variable_before_or_after(self, _, ordered, possible):
        a = tf.Variable(1.0)

        @tf.function
        def assign_and_look():
            assigned = a.assign(5.0)
            with tf.control_dependencies([assigned] if ordered else []):
                return tf.numpy_function(a.numpy, [], tf.float32)

        seen = set()
        for _ in range(RUNS):
            a.assign(1.0)
            seen.add(float(assign_and_look()))
        self.assertLessEqual(seen, possible)

    def test_ops_without_a_variable_keep_their_order(self):
        letters = []

        def log(letter):
            letters.append(letter.decode())
            return np.int64(0)

        @tf.function
        def both():
            tf.numpy_function(log, ["a"], tf.int64)
            tf.numpy_function(log, ["b"], tf.int64)

        for _ in range(RUNS):
            both()
        self.assertEqual("".join(letters), "ab" * RUNS)

    def test_a_race_has_two_ends_in_a_session_and_one_here(self):
        start, increment, value = np.float32([1, 2, 5])
        self.assertEqual(v2.race(start, increment, value), [3, 5])
        with legacy():
            self.assertIn(v1.race(start, increment, value), ([3, 5], [7, 5]))

    def test_an_op_without_state_is_pruned_with_the_error_it_would_raise(self):
        def double(x, index):
            tf.gather(x, index)
            return 2 * x

        arguments = tf.constant([1.0, 2.0]), tf.constant(99)
        with self.assertRaises(tf.errors.InvalidArgumentError):
            double(*arguments)
        np.testing.assert_array_equal(tf.function(double)(*arguments), [2, 4])

    def test_a_check_of_numbers_has_state_and_stays(self):
        @tf.function
        def double(x):
            tf.debugging.check_numerics(x, "not a number")
            return 2 * x

        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "not a number"):
            double(tf.constant(np.nan))

    def test_python_runs_once_for_each_signature(self):
        calls = []

        @tf.function
        def step(x):
            calls.append(x.dtype.name)
            return x + 1

        for x in [1, 2, 3.0, 4.0, 5]:
            step(tf.constant(x))
        self.assertEqual(calls, ["int32", "float32"])
        self.assertEqual(step.experimental_get_tracing_count(), 2)

    def test_python_runs_at_every_call_of_an_eager_function(self):
        self.addCleanup(tf.config.run_functions_eagerly, False)
        tf.config.run_functions_eagerly(True)
        self.assertEqual(v2.count_calls(5), (5, 5))
