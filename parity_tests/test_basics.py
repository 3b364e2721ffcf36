import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from parity_tests.shorthand import refused
from tf1to2.parity import (
    FalseFriend,
    Naive,
    Op,
    Program,
    dyadic,
    integers,
    normal,
)
from tf1to2.parity.v1 import legacy
from v1_graph import basics as v1
from v2_eager import basics as v2
from v2_keras import basics as v3

# With this seed the fit has the digits of the classic tutorial: 4.99, 0.0004, 3.45.
_RNG = np.random.RandomState(4254)
SAMPLES = _RNG.uniform(-10, 10, [1000, 100]).astype("f")
START = _RNG.uniform(-1, 1, [3, 1]).astype("f")
IMAGES = _RNG.uniform(0, 1, [20, 8, 12]).astype("f")
CLASSES = _RNG.randint(0, 10, [20, 8])
KERNEL = _RNG.uniform(-0.5, 0.5, [12, 10]).astype("f")
SQUARE = np.float32([[1, 2], [3, 4]])
STACK = np.float32([SQUARE, 2 * SQUARE])
WEIGHTS = np.float32([[5], [0], [3]])
WITH_NAN = np.float32([[1, 2], [3, np.nan], [1, 2]])
INTEGERS = np.int32([[1, 2], [3, 4]])
SIZES = "must be equal|[Ss]ize-incompatible"
RANKS = "rank 2 but is rank 1|ndims"
DTYPES = "does not match type|was expected to be"
LOSS_DTYPES = "not in (the )?list of allowed values"
ROUNDED = {"gradient": "the cotangents are random, so gradients are rounded"}
ALONE = "tf.layers.dense cannot run under Keras 3"
TRACED = {"eager": "without tracing, every call draws"}

INVALID = tf.errors.InvalidArgumentError


CASES = [
    Op("product", "the classic", [SQUARE, SQUARE], expect=[[7, 10], [15, 22]]),
    Op("product", "any size", [normal("n", "k"), normal("k", "m")]),
    Op(
        "product",
        "sums that are never rounded",
        [dyadic("n", "k"), dyadic("k", "m")],
        exact=True,
        skip=ROUNDED,
    ),
    Op("product", "integers", [integers("n", "k"), integers("k", "m")]),
    Op("product", "stacks", [normal("s", "n", 4), normal("s", 4, "m")]),
    Op("product", "no rows", [normal(0, 3), normal(3, 2)]),
    Op(
        "product",
        "nan and infinity",
        [np.float32([[np.nan, 1], [np.inf, 0], [1, 2]]), SQUARE],
    ),
    FalseFriend(
        "product",
        "the star",
        [normal(3, 3), normal(3, 3)],
        naive=lambda x, y: x * y,
        because="`*` multiplies element by element, as in NumPy",
    ),
    FalseFriend(
        "product",
        "NumPy's dot",
        [STACK, STACK],
        naive=np.dot,
        because="np.dot pairs every matrix of a stack with every other: [2, 2, 2, 2]",
        differs="shape",
    ),
    Program(
        "product_of_random_matrices",
        "ten by ten",
        [10, 1, "float64"],
        skip={"function": PLAIN},
    ),
    Program(
        "product_of_random_matrices",
        "another seed",
        [3, 2, "float64"],
        skip={"function": PLAIN},
    ),
    Program(
        "product_of_random_matrices",
        "one number each",
        [1, 7],
        skip={"function": PLAIN},
    ),
    Program("product_kernel", "no shape", [None], expect="BatchMatMulV2"),
    Program("product_kernel", "a matrix", [[None, None]], expect="MatMul"),
    Program("product_kernel", "known sizes", [[3, 3]], expect="MatMul"),
    Program("product_kernel", "a stack", [[None] * 3], expect="BatchMatMulV2"),
    Op(
        "polynomial",
        "the classic",
        [np.float32([-1, 0, 2]), np.float32([[5], [1], [3]])],
        expect=[7, 3, 25],
    ),
    Op("polynomial", "any size", [normal("n"), normal(3, 1)]),
    Op(
        "polynomial",
        "sums that are never rounded",
        [dyadic("n"), dyadic(3, 1)],
        exact=True,
        skip=ROUNDED,
    ),
    Op("polynomial", "integers", [integers("n"), integers(3, 1)]),
    Op("regularized_loss", "any size", [normal("n"), normal("n"), normal(3, 1)]),
    Op(
        "regularized_loss",
        "another penalty",
        [normal("n"), normal("n"), normal(3, 1)],
        {"penalty": 2.5},
    ),
    Op(
        "regularized_loss",
        "a perfect fit pays the penalty",
        [np.float32([1, 2]), np.float32([8, 23]), WEIGHTS],
        {"penalty": 0.125},
        expect=2.125,
    ),
    Op(
        "regularized_loss",
        "a column of targets makes a matrix of errors",
        [np.float32([1, 2]), np.float32([[8], [23]]), WEIGHTS],
        {"penalty": 0.125},
        expect=227.125,
    ),
    FalseFriend(
        "regularized_loss",
        "the mean squared error",
        [normal("n"), normal("n"), normal(3, 1)],
        {"penalty": 0.0},
        naive=lambda x, y, w, penalty: tf.reduce_mean(
            tf.square(v2.polynomial(x, w) - y)
        ),
        because="l2_loss is half of the sum: the mean is 2/n of it",
    ),
    Program("fit_polynomial", "any size", [normal("s", "n", scale=4), normal(3, 1)]),
    Program(
        "fit_polynomial",
        "other rates",
        [normal("s", "n"), normal(3, 1)],
        {"learning_rate": 0.037, "penalty": 2.5},
    ),
    Program("fit_polynomial", "a nan spoils what follows", [WITH_NAN, WEIGHTS]),
    Program(
        "fit_polynomial",
        "no samples",
        [np.zeros([9, 0], "f"), WEIGHTS],
        skip={"keras": "Keras refuses a batch without samples"},
    ),
    Program(
        "fit_polynomial",
        "no steps",
        [np.zeros([0, 9], "f"), WEIGHTS],
        skip={"function": PLAIN, "keras": "Keras warns of data without a batch"},
    ),
    Program(
        "train_classifier",
        "twenty steps",
        [IMAGES, CLASSES, KERNEL],
        skip={"graph": ALONE},
    ),
    Program(
        "train_classifier",
        "a large rate",
        [IMAGES[:3], CLASSES[:3], KERNEL],
        {"learning_rate": 0.25},
        skip={"graph": ALONE},
    ),
    Program("frozen_batches", "five calls", [5, 4, 1], skip=TRACED),
    Program("frozen_batches", "another seed", [2, 7, 2], skip=TRACED),
    Program("fed_batches", "five calls", [[4, 4, 4, 4, 4], 1]),
    Program("fed_batches", "a smaller last batch, an empty one", [[4, 4, 3, 0], 2]),
    Program("drawn_batches", "five calls", [5, 4, 1]),
    Program("drawn_batches", "another seed", [2, 7, 2]),
    Program("fit_polynomial", "two hundred steps", [SAMPLES[:200, :10], START]),
    Program(
        "fit_polynomial",
        "the classic",
        [SAMPLES, START],
        skip={"eager": "slow, and two hundred steps are proven eagerly"},
    ),
    refused("product", "sizes", [SQUARE, WITH_NAN], SIZES, eager=INVALID, of="op"),
    refused(
        "product",
        "sizes, seen when run",
        [SQUARE, WITH_NAN],
        SIZES,
        INVALID,
        of="op",
        dynamic=True,
    ),
    refused(
        "product", "vectors", [SQUARE[0], SQUARE[0]], RANKS, eager=INVALID, of="op"
    ),
    refused(
        "product",
        "NumPy's doubles beside floats",
        [SQUARE, SQUARE.astype("d")],
        DTYPES,
        TypeError,
        eager=INVALID,
        of="op",
    ),
    refused(
        "product",
        "mixed",
        [SQUARE, INTEGERS],
        DTYPES,
        TypeError,
        eager=INVALID,
        of="op",
    ),
    refused(
        "product_of_random_matrices",
        "normal integers",
        [3, 1, "int32"],
        "int32",
        TypeError,
    ),
    refused("product_kernel", "a vector", [[None]], RANKS),
    refused(
        "polynomial",
        "two weights",
        [SQUARE[0], WEIGHTS[:2]],
        SIZES,
        eager=INVALID,
        of="op",
    ),
    refused(
        "polynomial",
        "two columns of weights",
        [SQUARE[0], np.hstack([WEIGHTS, WEIGHTS])],
        "Can not squeeze",
        eager=INVALID,
        of="op",
    ),
    refused(
        "polynomial",
        "a vector of weights",
        [SQUARE[0], WEIGHTS[:, 0]],
        RANKS,
        eager=INVALID,
        of="op",
    ),
    refused(
        "polynomial", "a number", [np.float32(2), WEIGHTS], "axis. ?= 1 not in", of="op"
    ),
    refused(
        "regularized_loss",
        "integers",
        [INTEGERS[0], INTEGERS[0], WEIGHTS.astype("i")],
        LOSS_DTYPES,
        TypeError,
        eager=INVALID,
        of="op",
    ),
    refused(
        "regularized_loss",
        "more targets than samples",
        [SQUARE[0], WEIGHTS[:, 0], WEIGHTS],
        "must be equal|Incompatible shapes",
        eager=INVALID,
        of="op",
    ),
    refused(
        "fit_polynomial",
        "one batch without its steps",
        [SQUARE[0], WEIGHTS],
        "Cannot feed value|axis. ?= 1 not in",
    ),
    refused(
        "fit_polynomial", "two weights", [SQUARE, WEIGHTS[:2]], SIZES, eager=INVALID
    ),
    refused(
        "fit_polynomial",
        "integers",
        [INTEGERS, WEIGHTS.astype("i")],
        LOSS_DTYPES,
        TypeError,
        eager=INVALID,
    ),
    refused(
        "fit_polynomial",
        "weights of another dtype",
        [SQUARE, WEIGHTS.astype("d")],
        DTYPES,
        TypeError,
        eager=INVALID,
    ),
    refused(
        "train_classifier",
        "a label that is no class",
        [IMAGES[:1], CLASSES[:1] + 10, KERNEL],
        "outside the valid range",
        INVALID,
        skip={"graph": ALONE},
    ),
    refused(
        "drawn_batches",
        "a negative size",
        [2, -1, 1],
        "Dimension -1 must be >= 0",
        INVALID,
    ),
]


class Logged(v3.Losses):
    """Records the loss that `fit` logs in every step."""

    def on_train_batch_begin(self, batch, logs=None):
        pass

    def on_train_batch_end(self, batch, logs=None):
        self.losses.append(logs["loss"])


NAIVE = [
    Naive(
        "fit_polynomial, two hundred steps",
        "the losses that fit logs",
        mock.patch.object(v3, "Losses", Logged)(v3.fit_polynomial),
        because="each is the mean of all losses so far",
    ),
    Naive(
        "fit_polynomial, two hundred steps",
        "the mean squared error",
        mock.patch.object(
            v3.keras.losses,
            "MeanSquaredError",
            lambda reduction, dtype, make=tf.keras.losses.MeanSquaredError: make(),
        )(v3.fit_polynomial),
        because="the penalty weighs n times as much beside a mean of n errors",
    ),
]
PROOF = proof(v1, v2, CASES, NAIVE)


class BasicsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


def fits(samples):
    """Returns the weights that both sides find in float64 from the same start."""
    samples, start = samples.astype("d"), START.astype("d")
    with legacy():
        left, _ = v1.fit_polynomial(samples, start)
    right, _ = v2.fit_polynomial(samples, start)
    return left, right


class FitTest(unittest.TestCase):
    def test_finds_the_numbers_of_the_classic_text(self):
        for weights in fits(SAMPLES):
            a, b, c = weights[:, 0]
            self.assertEqual(
                (round(a, 2), round(b, 4), round(c, 2)), (4.99, 4e-4, 3.45)
            )

    @parameterized.expand(
        [
            # Without noise 100 samples determine the polynomial: the trap is not
            # noticed.
            ("100 samples", 100, False, [5.0, 0.0, 3.4]),
            ("100 frozen samples", 100, True, [5.0, 0.0, 3.5]),
            ("3 samples", 3, False, [5.0, 0.0, 3.4]),
            ("3 frozen samples", 3, True, [4.8, -0.4, 3.7]),
        ]
    )
    def test_frozen_samples_show_in_small_batches(self, _, size, frozen, expected):
        samples = SAMPLES[:, :size]
        if frozen:
            samples = np.repeat(samples[:1], len(samples), axis=0)
        for weights in fits(samples):
            np.testing.assert_array_equal(weights[:, 0].round(1), expected)


class KerasTest(unittest.TestCase):
    def test_float64_is_trained_in_float64(self):
        # One step only: after it v1 rounds the powers of the betas to float32.
        line = SAMPLES[:1, :10].astype("d"), START.astype("d")
        (pair, _), (page, _) = v2.fit_polynomial(*line), v3.fit_polynomial(*line)
        self.assertLess(np.abs(page - pair).max(), 1e-14)

    @parameterized.expand([("integers", "i"), ("float64", "d")])
    def test_two_dtypes_are_refused_as_they_were(self, _, dtype):
        samples = SAMPLES[:1, :10].astype(dtype)
        with legacy(), self.assertRaises(TypeError):
            v1.fit_polynomial(samples, START)
        with self.assertRaisesRegex(TypeError, "but w is float32: cast one"):
            v3.fit_polynomial(samples, START)

    def test_losses_leaves_other_metrics_alone(self):
        layer, losses = tf.keras.layers.Dense(1, kernel_initializer="ones"), v3.Losses()
        model = tf.keras.Sequential([tf.keras.Input([1]), layer])
        model.compile(tf.keras.optimizers.SGD(0.0), "mse", metrics=["mae"])
        x = np.float32([[1], [2], [6]])
        found = model.fit(
            x, 0 * x, 1, shuffle=False, verbose=0, callbacks=[losses]
        ).history
        self.assertEqual(losses.losses, [1, 4, 36])
        self.assertEqual(found["mae"], [3])


class SamplingTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("frozen", "frozen_batches", [5, 4, 1], 1),
            ("fed", "fed_batches", [[4] * 5, 1], 5),
            ("drawn", "drawn_batches", [5, 4, 1], 5),
        ]
    )
    def test_five_calls_see_so_many_batches(self, _, name, args, expected):
        with legacy():
            left = getattr(v1, name)(*args)
        for batches in (left, getattr(v2, name)(*args)):
            self.assertEqual(len(np.unique(batches, axis=0)), expected)

    def test_the_trap_hides_while_functions_run_eagerly(self):
        tf.config.run_functions_eagerly(True)
        self.addCleanup(tf.config.run_functions_eagerly, False)
        self.assertEqual(len(np.unique(v2.frozen_batches(5, 4, 1), axis=0)), 5)

    @parameterized.expand(
        [
            ("arrays", [np.float32([i, i]) for i in range(5)], 1),
            ("NumPy numbers", [np.float32(i) for i in range(5)], 1),
            ("Python numbers", [float(i) for i in range(5)], 5),
            ("arrays of five sizes", [np.zeros(i, "f") for i in range(5)], 5),
        ]
    )
    def test_five_calls_trace_so_often(self, _, arguments, expected):
        step = tf.function(lambda batch: 2 * batch)
        for argument in arguments:
            step(argument)
        self.assertEqual(step.experimental_get_tracing_count(), expected)


class ProductTest(unittest.TestCase):
    def test_a_graph_prints_a_promise_and_eager_prints_numbers(self):
        traced = []

        @tf.function
        def product(x, y):
            z = v2.product(x, y)
            traced.append(str(z))
            return z

        product(SQUARE, SQUARE)
        with legacy():
            printed = str(v1.product(SQUARE, SQUARE))
        promise = 'Tensor("MatMul:0", shape=(2, 2), dtype=float32)'
        self.assertEqual([printed, *traced], [promise] * 2)
        numbers = "[[ 7. 10.]\n [15. 22.]]"
        self.assertEqual(
            str(v2.product(SQUARE, SQUARE)),
            f"tf.Tensor(\n{numbers}, shape=(2, 2), dtype=float32)",
        )

    def test_is_the_product_of_numpy(self):
        rng = np.random.RandomState(0)
        x, y = rng.randint(-32, 33, [2, 10, 10]) / 8  # no sum of these is ever rounded
        np.testing.assert_array_equal(v2.product(x, y).numpy(), np.dot(x, y))
