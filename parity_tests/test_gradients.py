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
    integers,
    normal,
    uniform,
)
from tf1to2.parity.v1 import legacy
from v1_graph import gradients as v1
from v2_eager import gradients as v2

F, NAN = np.float32, np.nan
INVALID = tf.errors.InvalidArgumentError
PARTS = [{"k": 1}, {"k": 4}]
WIDE = [{"n": 4, "m": 8}, {"n": 33, "m": 67}]
TWO = {"generated": "the numbers are taken one by one: two sizes are enough"}
THREE = {
    **TWO,
    "gradient": "three of the answers lead to x: their sum has another order",
}
ROWS = {**TWO, "gradient": "the rows lead to x one by one: their sum has another order"}
TEXT = {"xla": "strings do not compile"}
ADAPTED = {"gradient": "every step leads to the loss: sums of another order"}
COMPLEX = np.random.RandomState(5).normal(size=[2, 1031]).astype("f")
COMPLEX = COMPLEX[0] + np.complex64(1j) * COMPLEX[1]
CLIPPED = {
    **TWO,
    "gradient": "a norm takes its tensor three times; gradients are the input",
}


def without_watch(trained, frozen, constant):
    trained, frozen = tf.Variable(trained), tf.Variable(frozen, trainable=False)
    constant = tf.constant(constant)
    with tf.GradientTape() as tape:
        shifted = trained + 1
        y = shifted * frozen * constant
    return tape.gradient(y, [trained, frozen, constant, shifted])


def renamed_cross_entropy(labels, logits):
    with tf.GradientTape() as tape:
        tape.watch([logits, labels])
        loss = tf.nn.softmax_cross_entropy_with_logits(labels, logits)
    return [loss] + tape.gradient(loss, [logits, labels])


def gradient_through_target(weights, features, next_features, reward, discount):
    with tf.GradientTape() as tape:
        tape.watch(weights)
        target = reward + discount * tf.tensordot(next_features, weights, 1)
        loss = tf.reduce_sum(tf.square(target - tf.tensordot(features, weights, 1))) / 2
    return tape.gradient(loss, [weights, target])


def adapt_variables(hidden, output, x, y, new_x, new_y, rate=0.1, steps=2):
    """MAML with variables: no gradient of the outer tape flows through `assign`."""
    weights = [tf.Variable(hidden), tf.Variable(output)]
    with tf.GradientTape() as tape:
        for _ in range(steps):
            with tf.GradientTape() as inner:
                loss = v2.squared_error(weights, x, y)
            for w, gradient in zip(weights, inner.gradient(loss, weights), strict=True):
                w.assign_sub(rate * gradient)
        loss = v2.squared_error(weights, new_x, new_y)
    return [loss, *tape.gradient(loss, weights)]


def task(seed, rows):
    """Draws weights of a network, rows for inner steps, and rows for the outer loss."""
    random = np.random.RandomState(seed)
    shapes = [3, 5], [5, 2], [rows, 3], [rows, 2], [rows, 3], [rows, 2]
    return [random.normal(size=shape).astype("f") for shape in shapes]


CASES = [
    Op("product_gradients", "the classic", [F(2), F(3)], expect=[3, 2]),
    Op(
        "product_gradients",
        "upstream",
        [F([1, 2]), F([3, 4]), F([1, 10])],
        expect=[[3, 40], [1, 20]],
    ),
    Op("product_gradients", "a broadcast", [normal("n", "c"), normal("c")]),
    Op(
        "product_gradients",
        "a broadcast and an upstream",
        [normal("n", 1), normal("c"), normal("n", "c")],
        skip=TWO,
    ),
    Op("product_gradients", "no element", [np.zeros([0, 2], "f"), F([1, 2])]),
    Op(
        "gradients_of_targets",
        "two numbers",
        [F([1, 2]), F([1, 10])],
        skip=THREE,
        expect=[[5, 7], [5, 34], [2, 4], [3, 3]],
    ),
    Op(
        "gradients_of_targets",
        "any size",
        [normal("n", 3), normal("n", 3)],
        skip=THREE,
    ),
    FalseFriend(
        "semi_gradient",
        "two states",
        [F([1, 2]), F([[1, 0], [0, 1]]), F([[0, 1], [1, 0]]), F([1, 0])],
        {"discount": 0.5},
        expect=[[-1, 1.5], [1, -1.5]],
        naive=gradient_through_target,
        because="the gradient of the target is part of a tape's gradient, too",
    ),
    Op(
        "semi_gradient",
        "any batch",
        [normal(3), normal("n", 3), normal("n", 3), normal("n")],
        skip=TWO,
    ),
    Op("detached_gradients", "the classic", [F(2), F(3)], expect=[13, 4, None]),
    Op(
        "detached_gradients",
        "any size",
        [normal("n"), normal("n")],
        skip=TWO,
    ),
    Op("gradients_or_none", "none", [F(3), F(1)], expect=[6, None]),
    Op("gradients_or_none", "zero", [F(3), F([1, 2])], {"unconnected": "zero"}),
    Op("gradients_or_none", "integers", [np.int32(3), F(1)], expect=[None, None]),
    Op("gradients_or_none", "an integer beside", [F(3), np.int32(1)]),
    Op(
        "gradients_or_none",
        "integers and zeros",
        [np.int32(1), F(1)],
        {"unconnected": "zero"},
        expect=[0, 0],
    ),
    Op("gradients_or_none", "text beside", [F(3), np.array(b"a")], skip=TEXT),
    Op("gradients_or_none", "any size", [normal("n"), normal(2)], skip=TWO),
    FalseFriend(
        "gradients_by_source",
        "numbers",
        [F(2), F(3), F(5)],
        of="program",
        expect=[15, 15, 9, 15],
        naive=without_watch,
        because="unasked, a tape watches trainable variables only",
    ),
    Program("gradients_by_source", "vectors", [normal("n"), normal("n"), normal("n")]),
    Program("gradient_through_state", "numbers", [F(2), F(3)], expect=(15, 3, 5)),
    Program("gradient_through_state", "vectors", [normal("n"), normal("n")]),
    Program(
        "fine_tune",
        "three steps",
        [normal(8, 3), normal(8), normal(3, 2), normal(2, 1)],
    ),
    Program(
        "fine_tune",
        "another rate",
        [normal("n", 3), normal("n"), normal(3, 2), normal(2, 1)],
        {"rate": 0.25, "steps": 2},
    ),
    Op("separate_gradients", "the classic", [F(0), F(0)], expect=[1, 0.25]),
    Op(
        "separate_gradients",
        "any size",
        [normal("n"), normal("n")],
        skip=TWO,
    ),
    Op("cube_derivatives", "the classic", [F(3)], expect=[27, 18]),
    Op("cube_derivatives", "any size", [normal("n", 2)], skip=TWO),
    Op(
        "jacobian",
        "two by two",
        [F([1, 2]), F([[1, 0], [1, 1]])],
        expect=[[2, 0], [6, 6]],
    ),
    Op("jacobian", "any size", [normal("n"), normal("m", "n")], skip=ROWS, sizes=WIDE),
    Op("hessian", "three", [F([1, 2, 3])], expect=[[4, 2, 0], [2, 6, 4], [0, 4, 0]]),
    Op("hessian", "any size", [normal("n")], sizes=[{"n": 4}, {"n": 64}], skip=TWO),
    Op(
        "hessian_vector_product",
        "three",
        [F([1, 2, 3]), F([1, 0, 1])],
        expect=[4, 6, 0],
    ),
    Op(
        "hessian_vector_product",
        "any size",
        [normal("n"), normal("n")],
        skip=TWO,
    ),
    Op(
        "slope_penalty",
        "three rows",
        [normal(3, 2), normal(3, 2), uniform(3, 1), normal(2, 4), normal(4, 1)],
        skip=THREE,
    ),
    Op(
        "slope_penalty",
        "64 rows",
        [normal(64, 16), normal(64, 16), uniform(64, 1), normal(16, 32), normal(32, 1)],
        skip=THREE,
    ),
    FalseFriend(
        "adapt",
        "two steps",
        task(0, 64),
        {"rate": 0.25},
        naive=lambda *args, rate: adapt_variables(*args, rate=rate),
        skip=ADAPTED,
        because="no gradient goes through an assignment: the steps count as constants",
    ),
    Op("adapt", "first order", task(1, 7), {"first_order": True}, skip=ADAPTED),
    Op("adapt", "no step", task(2, 7), {"steps": 0}, skip=ADAPTED),
    Op(
        "conjugate",
        "the classic",
        [np.complex64([0.5j, 1 + 2j])],
    ),
    Op("conjugate", "a thousand", [COMPLEX]),
    Op(
        "log1pexp_derivatives",
        "far out",
        [F([-1000, 0, 200, 1000])],
        expect=[[0, np.log(2), 200, 1000], [0, 0.5, 1, 1], [0, 0.25, 0, 0]],
    ),
    Op(
        "log1pexp_derivatives",
        "any size",
        [normal("n", 3, scale=4.0)],
        skip=TWO,
    ),
    Layer("make_scale", "half", [normal("n", 3)], factory={"limit": 0.5}),
    Layer(
        "make_scale", "another", [normal(4, 2)], factory={"limit": 1.0, "name": "gain"}
    ),
    Op("reverse_gradient", "any size", [normal("n", 3)]),
    Op("reverse_gradient", "a quarter", [normal("n", "m")], {"weight": 0.25}),
    FalseFriend(
        "cross_entropy_gradients",
        "even odds",
        [F([[0.5, 0.5]]), F([[0, 0]])],
        naive=renamed_cross_entropy,
        because="the new op has a gradient for the labels",
        differs="shape",
    ),
    Op(
        "cross_entropy_gradients",
        "any size",
        [normal("n", "c"), normal("n", "c")],
    ),
    Op(
        "cross_entropy_gradients",
        "labels that are not given",
        [normal("n", 3), normal("n", 3)],
        {"detached": False},
        skip=TWO,
    ),
    Op(
        "embedding_gradient",
        "twice the same row",
        [F([[1, 2], [3, 4], [5, 6]]), np.int32([2, 0, 2])],
        expect=[[2, 0, 2], [[5, 6], [1, 2], [5, 6]], [[1, 2], [0, 0], [10, 12]]],
    ),
    Op(
        "clip_gradients",
        "value",
        [[F([3, 4]), None, F([-12])], 5.0, "value"],
        skip=CLIPPED,
        expect=([[3, 4], None, [-5]], 13),
    ),
    Op(
        "clip_gradients",
        "norm",
        [[F([3, 4]), None, F([-12])], 2.5, "norm"],
        skip=CLIPPED,
        expect=([[1.5, 2], None, [-2.5]], 13),
    ),
    Op(
        "clip_gradients",
        "global norm",
        [[F([3, 4]), None, F([-12])], 6.5, "global_norm"],
        skip=CLIPPED,
        expect=([[1.5, 2], None, [-6]], 13),
    ),
    Op(
        "embedding_gradient",
        "any size",
        [normal(7, 3), integers("k", high=7)],
    ),
    Op(
        "clip_gradients",
        "nothing to clip",
        [[F([3, -4]), F([0.0, 12])], 13.0, "global_norm"],
        skip=CLIPPED,
        expect=([[3, -4], [0, 12]], 13),
    ),
    Op(
        "clip_gradients",
        "nothing but zeros, by norm",
        [[F([0, -0.0]), F([0])], 1.0, "norm"],
        skip=CLIPPED,
    ),
    Op(
        "clip_gradients",
        "an infinite one makes all of them NaN",
        [[F([3, 4]), F([np.inf])], 1.0, "global_norm"],
        skip=CLIPPED,
        expect=([[NAN, NAN], [NAN]], np.inf),
    ),
    Op(
        "clip_gradients",
        "an infinite one by value",
        [[F([3, 4]), F([np.inf, NAN])], 1.0, "value"],
        skip=CLIPPED,
        expect=([[1, 1], [1, NAN]], NAN),
    ),
    Op(
        "clip_gradients",
        "any size, by norm",
        [[normal("n", 3), normal("n")], 1.5, "norm"],
        skip=CLIPPED,
    ),
    Op(
        "clip_gradients",
        "any size, by global norm",
        [[normal("n", 3), normal("n")], 1.5, "global_norm"],
        skip=CLIPPED,
    ),
    Program(
        "accumulated_step",
        "two micro-batches",
        [F([[[1, 0], [0, 1]], [[2, 0], [0, 2]]]), F([[1, 2], [3, 4]]), F([[1], [1]])],
        {"rate": 0.5},
        expect=([[1.5], [2.25]], [[-1], [-2.5]]),
    ),
    Program(
        "accumulated_step",
        "any",
        [normal("k", 4, 3), normal("k", 4), normal(3, 1)],
        sizes=PARTS,
    ),
    Raises(
        "product_gradients",
        "an upstream of another shape",
        [F([1, 2]), F([3, 4]), F([1, 2, 3])],
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="Incompatible shapes|must be equal",
    ),
    Raises(
        "product_gradients",
        "an upstream of another dtype",
        [F([1, 2]), F([3, 4]), np.int32([1, 2])],
        graph=TypeError,
        eager=INVALID,
        function=TypeError,
        match="int32",
    ),
    Raises(
        "gradients_of_targets",
        "a weight of another shape",
        [F([1, 2]), F([1, 2, 3])],
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="[Ss]hape|must be equal",
    ),
    Raises(
        "gradients_or_none",
        "a word that is not known",
        [F(1), F(1), "nil"],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="Unknown value for unconnected_gradients",
    ),
    Raises(
        "hessian_vector_product",
        "a vector of another size",
        [F([1, 2, 3]), F([1, 2])],
        graph=ValueError,
        match="Incompatible shapes",
        # The vector's first number is applied to one half, its second to the other.
        expect=[8, 16, 4],
    ),
    Raises(
        "cross_entropy_gradients",
        "sizes that do not fit",
        [np.zeros([2, 3], "f"), np.zeros([2, 4], "f")],
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="must be (equal|broadcastable)",
    ),
    Raises(
        "embedding_gradient",
        "no such row",
        [np.zeros([2, 3], "f"), np.int32([1, 2])],
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match=r"indices\[1\] = 2 is not in \[0, 2\)",
    ),
    Raises(
        "clip_gradients",
        "no list",
        [F([1, 2]), 1.0, "global_norm"],
        graph=TypeError,
        eager=TypeError,
        function=TypeError,
        match="should be a sequence",
    ),
    Raises(
        "accumulated_step",
        "targets of another size",
        [np.zeros([2, 4, 3], "f"), np.zeros([2, 3], "f"), np.zeros([3, 1], "f")],
        of="program",
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="Incompatible shapes|must be equal",
    ),
    Raises(
        "product_gradients",
        "an upstream of another shape, seen when run",
        [F([1, 2]), F([3, 4]), F([1, 2, 3])],
        dynamic=True,
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match="Incompatible shapes|[Ii]nput to reshape",
    ),
]
PROOF = proof(v1, v2, CASES)


class GradientsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class TapeTest(unittest.TestCase):
    """Tests properties of a tape that `tf.gradients` of a graph did not have."""

    def test_a_tape_answers_once(self):
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            square = x * x
        self.assertEqual(tape.gradient(square, x).numpy(), 6)
        with self.assertRaisesRegex(RuntimeError, "only be used to compute one set"):
            tape.gradient(square, x)

    def test_a_persistent_tape_answers_twice(self):
        x = tf.Variable(3.0)
        with tf.GradientTape(persistent=True) as tape:
            square = x * x
        fourth = [tape.gradient(square, x).numpy() for _ in range(2)]
        self.assertEqual(fourth, [6, 6])

    @parameterized.expand(
        [
            ("constant", lambda: tf.constant(3.0), None),
            ("trainable variable", lambda: tf.Variable(3.0), 6),
            ("frozen variable", lambda: tf.Variable(3.0, trainable=False), None),
            ("sum of a variable", lambda: tf.Variable(3.0) + 0.0, None),
            ("integer variable", lambda: tf.Variable(3), None),
        ]
    )
    def test_unwatched(self, _, make, expected):
        x = make()
        with tf.GradientTape() as tape:
            square = x * x
        gradient = tape.gradient(square, x)
        self.assertEqual(gradient if gradient is None else gradient.numpy(), expected)

    def test_a_variable_that_is_rebound_becomes_a_tensor(self):
        x, seen = tf.Variable(3.0), []
        for _ in range(2):
            with tf.GradientTape() as tape:
                square = x * x
            seen.append((len(tape.watched_variables()), tape.gradient(square, x)))
            x = x - 0.1  # should have been x.assign_sub(0.1)
        self.assertEqual([count for count, _ in seen], [1, 0])
        self.assertEqual(seen[0][1].numpy(), 6)
        self.assertIsNone(seen[1][1])

    @parameterized.expand([("all", True, ["a:0", "b:0"]), ("none", False, [])])
    def test_watched_variables(self, _, accessed, expected):
        a, b = tf.Variable(2.0, name="a"), tf.Variable(3.0, name="b")
        frozen = tf.Variable(5.0, trainable=False, name="frozen")
        with tf.GradientTape(watch_accessed_variables=accessed) as tape:
            _ = a * b * frozen
        names = sorted(variable.name for variable in tape.watched_variables())
        self.assertEqual(names, expected)

    def test_sources_may_be_a_dict(self):
        x, y = tf.Variable(2.0), tf.Variable(3.0)
        with tf.GradientTape() as tape:
            with tape.stop_recording():
                square = y * y
            total = x * x + square
        gradients = tape.gradient(total, {"x": x, "y": y})
        self.assertEqual(gradients["x"].numpy(), 4)
        self.assertIsNone(gradients["y"])

    def test_a_list_of_upstream_gradients_takes_no_none(self):
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            targets = [x * x, 3 * x]
        with self.assertRaisesRegex(ValueError, "None"):
            tape.gradient(targets, x, output_gradients=[None, tf.constant(10.0)])
        with legacy():
            x = v1.tf.placeholder("float32", [])
            one = v1.tf.constant(10.0)
            (gradient,) = v1.tf.gradients([x * x, 3 * x], x, grad_ys=[None, one])
            with v1.tf.Session() as sess:
                self.assertEqual(sess.run(gradient, {x: 2}), 34)

    def test_an_upstream_gradient_of_another_size_is_not_refused(self):
        product = v2.hessian_vector_product(
            tf.constant([1.0, 2, 3]), tf.constant([1.0, 2])
        )
        np.testing.assert_array_equal(product, [8, 16, 4])

    def test_what_happens_after_the_tape_is_not_recorded(self):
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            square = x * x
        self.assertIsNone(tape.gradient(2 * square, x))


class SecondOrderTest(unittest.TestCase):
    def test_a_gradient_taken_outside_of_the_outer_tape_is_a_constant(self):
        x = tf.Variable(3.0)
        with tf.GradientTape() as outer, tf.GradientTape() as inner:
            cube = x**3
        first = inner.gradient(cube, x)
        self.assertEqual(first.numpy(), 27)
        self.assertIsNone(outer.gradient(first, x))

    def test_forward_over_backward_is_the_same_product(self):
        x, vector = tf.constant([1.0, 2, 3]), tf.constant([1.0, 0, 1])
        with tf.autodiff.ForwardAccumulator(x, vector) as forward:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = v2.energy(x)
            gradient = tape.gradient(y, x)
        np.testing.assert_array_equal(forward.jvp(gradient), [4, 6, 0])
        hessian_vector = tf.linalg.matvec(v2.hessian(x), vector)
        np.testing.assert_array_equal(hessian_vector, [4, 6, 0])

    def test_built_in_rules_at_the_kink_and_far_out(self):
        def by_maximum(x):
            return tf.maximum(x, 0) + tf.math.log1p(tf.exp(-tf.abs(x)))

        def naive(x):
            return tf.math.log(1 + tf.exp(x))

        x = tf.constant([0.0, 100.0])
        slopes = [
            first_derivative(function, x)
            for function in (by_maximum, naive, v2.log1pexp)
        ]
        np.testing.assert_array_equal(slopes, [[1, 1], [0.5, NAN], [0.5, 1]])


class GraphGradientsTest(unittest.TestCase):
    """`tf.gradients` still exists, inside of a `tf.function`."""

    def test_refused_eagerly(self):
        x = tf.constant(3.0)
        with self.assertRaisesRegex(RuntimeError, "Use tf.GradientTape instead"):
            tf.gradients(x * x, x)

    def test_sums_in_the_order_of_the_left_page(self):
        def targets(x):
            return [1e8 * x, x, -1e8 * x, 3 * x]

        def by_tape(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                ys = targets(x)
            return tape.gradient(ys, x)

        def by_graph(x):
            return tf.gradients(targets(x), x)[0]

        with legacy(), v1.tf.Session() as sess:
            x = v1.tf.placeholder("float32", [])
            (gradient,) = v1.tf.gradients(targets(x), x)
            left = sess.run(gradient, {x: 1})
        x = tf.constant(1.0)
        self.assertEqual(tf.function(by_graph)(x), left)
        self.assertEqual(by_tape(x), 0)  # the derivative is 4


class SlicesTest(unittest.TestCase):
    def test_the_norm_of_slices_counts_each_slice_by_itself(self):
        table = tf.Variable([[1.0, 2], [3, 4], [3, 4]])
        with tf.GradientTape() as tape:
            rows = tf.gather(table, [2, 2])
            loss = tf.reduce_sum(tf.square(rows)) / 2
        slices = tape.gradient(loss, table)
        self.assertIsInstance(slices, tf.IndexedSlices)
        norms = [
            tf.linalg.global_norm([g]) for g in (slices, tf.convert_to_tensor(slices))
        ]
        self.assertEqual([f"{norm:.4f}" for norm in norms], ["7.0711", "10.0000"])
        self.assertEqual(slices.values.shape, [2, 2])


class AccumulationTest(unittest.TestCase):
    def test_micro_batches_are_the_batch(self):
        random = np.random.RandomState(0)
        xs, ys, weights = (
            random.randint(-8, 9, shape).astype("f")
            for shape in ([4, 2, 3], [4, 2], [3, 1])
        )
        parts = v2.accumulated_step(xs, ys, weights)
        whole = v2.accumulated_step(xs.reshape(1, 8, 3), ys.reshape(1, 8), weights)
        for part, all_at_once in zip(parts, whole, strict=True):
            np.testing.assert_array_equal(part, all_at_once)

    def test_clipping_each_by_itself_turns_the_direction(self):
        gradients = [tf.constant([3.0, 4.0]), tf.constant([-12.0])]
        each, _ = v2.clip_gradients(gradients, 5.0, "norm")
        together, _ = v2.clip_gradients(gradients, 6.5, "global_norm")
        np.testing.assert_array_equal(tf.concat(each, 0), [3, 4, -5])
        np.testing.assert_array_equal(tf.concat(together, 0), [1.5, 2, -6])


def first_derivative(function, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x).numpy()
