import functools
import unittest

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof, shorthand
from tf1to2.parity import FalseFriend, Op, Program
from tf1to2.parity.arrays import normal
from tf1to2.parity.v1 import legacy
from v1_graph import linear_algebra as v1
from v2_eager import linear_algebra as v2

keras = tf.keras.ops
InvalidArgument = tf.errors.InvalidArgumentError
ONCE = "another case of the pair is proven in this way"
RARE = {"generated": ONCE, "xla": ONCE}
FACTORS = {
    "generated": ONCE,
    "xla": "other signs, and vectors of eight digits even in float64",
}
UNKNOWN = {**FACTORS, "dynamic": "the gradient of svd asks for known sizes"}
CONTRIB = dict.fromkeys(["graph", "generated"], "contrib is in 1.15 only")


def _drawn(seed, *shape):
    return np.random.RandomState(seed).standard_normal(shape).astype("f")


def _positive(seed, *shape):
    """Draws symmetric, positive definite matrices."""
    x = _drawn(seed, *shape).astype("f8")
    return (x @ x.swapaxes(-1, -2) + 4 * np.eye(shape[-1])).astype("f")


MATRICES = _drawn(0, 64, 5, 5) + 4 * np.eye(5, dtype="f")
POSITIVE = _positive(1, 64, 5, 5)
RIGHT = _drawn(2, 64, 5, 3)
PORTRAIT = _drawn(3, 70, 3)
CUBE = _drawn(4, 3, 3, 3)
SQUARE = np.float32([[3, 4], [4, -3]])
INDEFINITE = np.float32([[1, 2], [2, 1]])
SINGULAR = np.float32([[1, 2], [2, 4]])
STEPS = np.float32([[1, 0], [2, 0]])
WIDE = np.ones([2, 3], "f")
COLUMN = np.float32([[3], [5]])
DEPENDENT = np.ones([3, 2], "f")
TALL = np.float32([[1, 0], [0, 1], [0, 0]])
ONE_TWO_THREE = np.float32([[1], [2], [3]])
TIMES = np.float32([0, 0.25, 0.75, 1, 1.75, 2, 2.5, 3])
HEIGHTS = np.float32([0.5, 0.75, 1.5, 1.25, 0.25, -0.25, -1, -1.5])
NEW_TIMES = np.float32([0.5, 1.5, 4])
TRIANGLE = np.float32([[2, 0, 0], [0.5, 1, 0], [-1, 0.25, 4]])


refused = functools.partial(shorthand.refused, eager=InvalidArgument, of="op")


def unchecked(name, slug, args, match, **options):
    """Makes a case of inputs that only today's left page accepts; 1.15 refuses them."""
    options = {"graph": None, "genuine": InvalidArgument, **options}
    return refused(name, slug, args, match, InvalidArgument, **options)


CASES = [
    Op(
        "bilinear_scores",
        "any size",
        [normal("b", "q", 3), normal("b", "k", 4), normal(3, 4)],
        sizes=[{"b": 3, "q": 5, "k": 2}, {"b": 67, "q": 4, "k": 6}],
    ),
    FalseFriend(
        "bilinear_scores",
        "einsum, but for the last bits",
        [normal(7, 5, 3), normal(7, 4, 4), normal(3, 4)],
        skip=RARE,
        naive=lambda *x: tf.einsum("bqm,bkn,mn->bqk", *x),
        because="einsum multiplies by the kernel for batches, and sums in its order",
    ),
    Op(
        "mirror_triangle",
        "of a batch",
        [normal("b", "n", "n")],
        sizes=[{"b": 3, "n": 5}, {"b": 67, "n": 8}],
    ),
    FalseFriend(
        "mirror_triangle",
        "tf.transpose of a batch",
        [CUBE],
        skip=RARE,
        naive=lambda x: _mirror(x, tf.transpose),
        because="it turns all axes around, the batch's too",
    ),
    Op(
        "mirror_triangle",
        "what is above is not used",
        [np.float32([[1, 99], [2, 3]])],
        expect=([[1, 2], [2, 3]], 4),
        skip=RARE,
    ),
    Op(
        "diagonals",
        "any size",
        [normal("m", "n")],
        sizes=[{"m": 3, "n": 5}, {"m": 67, "n": 3}],
    ),
    Op(
        "diagonals",
        "two above",
        [np.float32([[1, 2]]), 2],
        expect={
            "tensor": [[[[1, 0]], [[0, 2]]]],
            "part": [[1, 2]],
            "rows": [[[1, 0], [0, 2]]],
            "above": [[[0, 0, 1, 0], [0, 0, 0, 2], [0, 0, 0, 0], [0, 0, 0, 0]]],
        },
        skip=RARE,
    ),
    FalseFriend(
        "diagonals",
        "tf.linalg.diag for tf.diag",
        [np.float32([[1, 2], [3, 4]])],
        skip=RARE,
        naive=lambda x: {**v2.diagonals(x), "tensor": tf.linalg.diag(x)},
        because="of a matrix tf.diag makes one tensor, tf.linalg.diag a matrix per row",
        differs="shape",
    ),
    Op("surface_normals", "any number", [normal("b", 3, 3)]),
    Op(
        "surface_normals",
        "a triangle and three corners on one line",
        [np.float32([[[[0, 0, 0], [3, 0, 0], [0, 4, 0]]], [np.eye(3)[[0, 0, 1]]]])],
        expect=([[[0, 0, 1]], [[np.nan] * 3]], [[[6]], [[0]]]),
        skip=RARE,
    ),
    *[
        Op(
            "norm",
            "%s: %g" % (kind, measure),
            [SQUARE, kind],
            expect=measure,
            skip=RARE,
        )
        for kind, measure in [("frobenius", 50**0.5), ("columns", 7), ("rows", 7)]
    ],
    Op(
        "norm",
        "spectral, of a batch",
        [normal("b", 4, 3), "spectral"],
        skip=RARE,
        sizes=[{"b": 2}, {"b": 67}],
    ),
    Op(
        "norm",
        "of zeros, whose gradient is NaN",
        [np.zeros([2, 2], "f"), "all"],
        expect=0,
        skip={**RARE, "dynamic": ONCE},
    ),
    FalseFriend(
        "norm",
        "ord=2 of a matrix",
        [normal(4, 3), "all"],
        naive=lambda x, _: tf.norm(x, ord=2, axis=[-2, -1]),
        because="without axis a matrix is one long vector; NumPy's norm is spectral",
    ),
    *[
        Op(
            "solve",
            how,
            [POSITIVE if how == "cholesky" else MATRICES, RIGHT, how],
            skip=RARE if how == "inverse" else {},
        )
        for how in ("inverse", "lu", "lower", "cholesky")
    ],
    FalseFriend(
        "solve",
        "a full matrix taken for a lower triangle",
        [POSITIVE, RIGHT, "lu"],
        skip=RARE,
        naive=lambda a, b, how: v2.solve(a, b, "lower"),
        because="what is above the diagonal is not looked at",
    ),
    Op(
        "least_squares",
        "plain",
        [PORTRAIT, _drawn(5, 70, 2)],
        skip={"generated": ONCE},
    ),
    Op(
        "least_squares",
        "batch, penalized",
        [MATRICES, RIGHT, 0.5],
        skip={**RARE, "dynamic": ONCE},
    ),
    Op(
        "least_squares",
        "of dependent columns, not fast",
        [DEPENDENT, ONE_TWO_THREE, 0.0, False],
        skip={**RARE, "gradient": "there is none for fast=False"},
        expect=[[1], [1]],
    ),
    Op(
        "least_squares",
        "NaN, not fast",
        [TALL, np.float32([[np.nan], [2], [3]]), 0.0, False],
        skip={**RARE, "dynamic": ONCE, "gradient": "there is none for fast=False"},
        expect=[[np.nan], [2]],
    ),
    Op(
        "least_squares",
        "NaN in a column",
        [TALL, np.float32([[np.nan, 1], [2, 2], [3, 3]])],
        skip={**RARE, "dynamic": ONCE, "gradient": "NaN"},
    ),
    FalseFriend(
        "least_squares",
        "fast=False with a penalty",
        [TALL, ONE_TWO_THREE, 1.0],
        skip={**RARE, "dynamic": ONCE},
        expect=[[0.5], [1]],
        naive=lambda x, y, l2: v2.least_squares(x, y, l2, fast=False),
        because="the penalty is ignored unless fast",
    ),
    Op(
        "whiten",
        "as many as there are",
        [normal("n", 3)],
        skip=UNKNOWN,
        sizes=[{"n": 33}, {"n": 67}],
    ),
    Op(
        "whiten",
        "a rectangle, turned",
        [np.float32([[10, 5], [2, 11], [-10, -5], [-2, -11]])],
        skip={**UNKNOWN, "gradient": ONCE},
        expect={
            "white": np.sqrt(0.75) * np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]]),
            "components": [[0.6, 0.8], [0.8, -0.6]],
            "deviations": [(400 / 3) ** 0.5, (100 / 3) ** 0.5],
        },
    ),
    FalseFriend(
        "whiten",
        "NumPy's order",
        [PORTRAIT * np.float32([1, 8, 3])],
        skip=UNKNOWN,
        naive=lambda x: _whitened_by_numpy_s_order(x),
        because="np.linalg.svd gives u, s and the transpose of v",
    ),
    Op("inverse_square_root", "of a batch", [POSITIVE], skip=FACTORS),
    Op(
        "inverse_square_root",
        "what is above is not read",
        [np.float32([[16, 99], [0, 4]])],
        skip=FACTORS,
        expect=([[0.25, 0], [0, 0.5]], [4, 16]),
    ),
    FalseFriend(
        "inverse_square_root",
        "the root of the inverse, element by element",
        [np.float32([[2, 1], [1, 2]])],
        skip=FACTORS,
        naive=lambda a: (tf.sqrt(tf.abs(tf.linalg.inv(a))), tf.linalg.eigvalsh(a)),
        because="tf.sqrt knows nothing of matrices; tf.linalg.sqrtm does",
    ),
    Op(
        "log_determinant",
        "of a batch",
        [MATRICES],
        skip={"xla": "it has no LogMatrixDeterminant"},
    ),
    FalseFriend(
        "log_determinant",
        "the logarithm of a determinant",
        [np.eye(64, dtype="f") / 8],
        exact=True,
        skip={**RARE, "gradient": "of 0 times the inverse"},
        naive=lambda a: (tf.linalg.det(a), 1.0, tf.math.log(tf.linalg.det(a))),
        because="8 to the power of -64 is 0 in float32, and its logarithm -inf",
    ),
    Op(
        "normal_log_density",
        "by a triangle",
        [normal("n", 3), normal(3), TRIANGLE],
        skip=CONTRIB,
        sizes=[{"n": 33}, {"n": 67}],
    ),
    Op(
        "normal_log_density",
        "by deviations",
        [normal("n", 3), normal(3), np.float32([0.5, 2, 4])],
        skip={**CONTRIB, "xla": ONCE},
    ),
    Op(
        "normal_log_density",
        "in the middle of two dimensions",
        [np.zeros([1, 2], "f"), np.zeros(2, "f"), np.float32([[1, 99], [0, 1]])],
        skip={**CONTRIB, "xla": ONCE, "dynamic": ONCE},
        expect=[-np.log(2 * np.pi)],
    ),
    FalseFriend(
        "normal_log_density",
        "a covariance where its factor is meant",
        [PORTRAIT, np.zeros(3, "f"), TRIANGLE],
        skip={**CONTRIB, "xla": ONCE},
        naive=lambda x, mean, scale: v2.normal_log_density(
            x, mean, tf.matmul(scale, scale, transpose_b=True)
        ),
        because="scale times its transpose is the covariance",
    ),
    FalseFriend(
        "normal_log_density",
        "variances where deviations are meant",
        [PORTRAIT, np.zeros(3, "f"), np.float32([0.5, 2, 4])],
        skip={**CONTRIB, "xla": ONCE},
        naive=lambda x, mean, scale: v2.normal_log_density(x, mean, scale**2),
        because="MultivariateNormalDiag takes the roots of the variances",
    ),
    Program("fit_gaussian_process", "eight values", [TIMES, HEIGHTS, NEW_TIMES, 8]),
    refused(
        "bilinear_scores",
        "sizes that do not match",
        [np.ones([1, 2, 3], "f"), np.ones([1, 2, 3], "f"), np.ones([3, 4], "f")],
        "must be equal|size-incompatible",
    ),
    refused(
        "mirror_triangle",
        "a wide matrix",
        [WIDE],
        "equal|ncompatible",
    ),
    refused(
        "surface_normals",
        "corners of two numbers",
        [np.ones([1, 3, 2], "f")],
        "must be 3|3-element vectors",
        eager=tf.errors.FailedPreconditionError,
    ),
    *[
        refused(
            "solve", slug, [SINGULAR, COLUMN, how], "not invertible", InvalidArgument
        )
        for slug, how in [("no inverse", "inverse"), ("no unique answer", "lu")]
    ],
    unchecked(
        "solve",
        "zero on the diagonal of a triangle",
        [STEPS, COLUMN, "lower"],
        "not invertible",
    ),
    unchecked(
        "solve",
        "not positive definite",
        [INDEFINITE, COLUMN, "cholesky"],
        "Cholesky decomposition was not successful",
    ),
    refused(
        "solve",
        "a wide matrix of unknown shape",
        [WIDE, COLUMN, "inverse"],
        "must be square",
        InvalidArgument,
        dynamic=True,
    ),
    unchecked(
        "least_squares",
        "dependent columns",
        [DEPENDENT, ONE_TWO_THREE],
        "Cholesky decomposition was not successful",
    ),
    refused("inverse_square_root", "a wide matrix", [WIDE], "equal|square"),
    refused("log_determinant", "a wide matrix", [WIDE], "equal|square"),
    unchecked(
        "fit_gaussian_process",
        "the same place twice, noise below 0",
        [np.zeros(2, "f"), np.ones(2, "f"), NEW_TIMES, 1, 0.125, -3.0],
        "Cholesky decomposition was not successful",
        of="program",
    ),
]
PROOF = proof(v1, v2, CASES)


def _mirror(x, transpose):
    lower = tf.linalg.band_part(x, -1, 0)
    both = tf.linalg.set_diag(lower + transpose(lower), tf.linalg.diag_part(x))
    return both, tf.linalg.trace(both)


def _whitened_by_numpy_s_order(x):
    answer = v2.whiten(x)
    _, _, v = tf.linalg.svd(x - tf.reduce_mean(x, axis=0))
    return {**answer, "components": v}


class LinearAlgebraTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class TodayTest(unittest.TestCase):
    """Today's kernels with arguments that 1.15 refused or ignored."""

    def test_a_cholesky_decomposition_that_failed_is_nan(self):
        both = np.stack([np.eye(2, dtype="f"), INDEFINITE])
        good, bad = tf.linalg.cholesky(both).numpy()
        np.testing.assert_array_equal(good, np.eye(2))
        # The element above the diagonal is uninitialized memory.
        self.assertTrue(np.isnan(bad[np.tril_indices(2)]).all())
        self.assertTrue(np.isnan(tf.linalg.logdet(INDEFINITE)))

    def test_a_triangle_with_a_zero_gives_no_numbers(self):
        answer = tf.linalg.triangular_solve(STEPS, COLUMN).numpy()
        self.assertEqual(np.isfinite(answer)[:, 0].tolist(), [True, False])

    def test_nan_goes_in_and_is_an_error_now(self):
        with self.assertRaisesRegex(InvalidArgument, "Cholesky decomposition was not"):
            v2.solve(np.nan * np.eye(1, dtype="f"), np.ones([1, 1], "f"), "cholesky")

    def test_a_diagonal_above_has_no_gradient_at_unknown_sizes(self):
        def gradient(x, above):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = above(x)
            return tape.gradient(y, x)

        spec = tf.TensorSpec([None, None])
        traced = tf.function(gradient)
        with self.assertRaisesRegex(ValueError, "out of bound"):
            traced.get_concrete_function(spec, lambda x: tf.linalg.diag(x, k=1))
        traced.get_concrete_function(spec, lambda x: v2.diagonals(x)["above"])
        known = tf.linalg.diag(PORTRAIT, k=2)
        np.testing.assert_array_equal(v2.diagonals(PORTRAIT, 2)["above"], known)

    @pytest.mark.slow
    def test_compiled_by_xla_nothing_raises(self):
        for a, how in [
            (INDEFINITE, "cholesky"),
            (STEPS, "lower"),
            (SINGULAR, "lu"),
            (SINGULAR, "inverse"),
        ]:
            with self.subTest(how):
                with self.assertRaises(InvalidArgument):
                    v2.solve(a, COLUMN, how)
                compiled = tf.function(v2.solve, jit_compile=True)
                answer = np.abs(compiled(a, COLUMN, how))
                self.assertFalse((answer < 1e6).all())

    def test_equal_singular_values_have_a_gradient(self):
        x = tf.constant(2 * np.eye(2, dtype="f"))
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            s, u, _ = tf.linalg.svd(x)
        np.testing.assert_array_equal(tape.gradient(s, x), np.eye(2))
        np.testing.assert_array_equal(tape.gradient(u, x), np.zeros([2, 2]))

    def test_zero_times_infinity(self):
        row, column = np.float32([[0, 1]]), np.float32([[np.inf], [2]])
        self.assertTrue(np.isnan(tf.matmul(row, column)))
        self.assertEqual(tf.matmul(row, column, a_is_sparse=True), 2)
        with legacy(), tf.compat.v1.Session() as sess:
            old = tf.compat.v1.sparse_matmul(row, column, a_is_sparse=True)
            self.assertEqual(sess.run(old), 2)


class LeastSquaresTest(unittest.TestCase):
    def test_the_normal_equations_square_the_condition(self):
        places = np.linspace(0, 1, 20)
        x = np.stack([places**i for i in range(6)], axis=1).astype("f")
        y = x.astype("f8") @ np.ones([6, 1])
        fast, slow = [
            np.abs(v2.least_squares(x, y.astype("f"), 0.0, how) - 1).max()
            for how in (True, False)
        ]
        self.assertGreater(fast, 50 * slow)
        exact = v2.least_squares(x.astype("f8"), y)
        self.assertLess(np.abs(exact - 1).max(), slow)

    @parameterized.expand(
        [
            ("in a product", [[2, 1], [1, 2], [0, 1]], [[3e38], [3e38], [1]]),
            ("in an answer", [[1e-15, 0], [0, 1], [0, 0]], [[1e30], [1], [1]]),
            ("of a wide matrix", [[1, 0, 0], [0, 1e-15, 0]], [[1], [1e30]]),
        ]
    )
    def test_what_overflows_is_no_error(self, _, x, y):
        x, y = np.float32([x, x]), np.float32([y, np.ones_like(y)])
        with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
            expected = sess.run(v1.least_squares(tf.constant(x), tf.constant(y)))
        self.assertFalse(np.isfinite(expected[0]).all())
        self.assertTrue(np.isfinite(expected[1]).all())
        x, y = tf.constant(x), tf.constant(y)
        for call in (v2.least_squares, tf.function(v2.least_squares)):
            np.testing.assert_array_equal(call(x, y), expected)

    @parameterized.expand(
        [("wide", [[1, 1, 1], [1, 1, 1]]), ("tall", [[1, 1], [1, 1], [1, 1]])]
    )
    def test_a_matrix_without_full_rank_is_an_error(self, _, x):
        x = tf.constant([x], tf.float32)
        y = tf.ones([1, x.shape[1], 1])
        failed = "Cholesky decomposition was not successful"
        for call in (v2.least_squares, tf.function(v2.least_squares)):
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, failed):
                call(x, y)
        np.testing.assert_array_less(np.abs(v2.least_squares(x, y, 1.0)), 1)


class GaussianProcessTest(unittest.TestCase):
    def test_its_loss_is_a_normal_density(self):
        x, y = TIMES.astype("f8"), HEIGHTS.astype("f8")
        losses = v2.fit_gaussian_process(x, y, x, 8)["losses"]
        self.assertEqual(losses, sorted(losses, reverse=True))
        squares = (x[:, np.newaxis] - x) ** 2 * np.exp(1.0)
        covariance = np.exp(0.5 - squares / 2) + 0.0625 * np.eye(len(x))
        density = v2.normal_log_density(
            tf.constant([y]), tf.zeros_like(x), tf.linalg.cholesky(covariance)
        )
        np.testing.assert_array_equal(np.float32(-density), np.float32(losses[:1]))


class ArraysTest(unittest.TestCase):
    def test_a_density_takes_numpy(self):
        arguments = np.ones([2, 3], "f"), np.zeros(3, "f")
        for scale in (np.float32([0.5, 2, 4]), TRIANGLE):
            found = v2.normal_log_density(*arguments, scale)
            expected = v2.normal_log_density(*map(tf.constant, (*arguments, scale)))
            np.testing.assert_array_equal(found, expected)


class KerasTest(unittest.TestCase):
    """`keras.ops` has the same names, and NumPy's conventions."""

    def test_svd_is_u_s_vh(self):
        x = tf.constant(PORTRAIT)
        s, u, v = tf.linalg.svd(x)
        for ours, theirs in zip(
            [u, s, tf.transpose(v)], keras.svd(x, full_matrices=False), strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)

    def test_norm_of_a_matrix_is_spectral(self):
        x = tf.constant(np.diag(np.float32([3, 4])))
        self.assertEqual([keras.norm(x, ord=2), v2.norm(x, "all")], [4, 5])

    def test_cholesky_raises_value_error(self):
        with self.assertRaisesRegex(ValueError, "Cholesky decomposition failed"):
            keras.cholesky(tf.constant(INDEFINITE))

    def test_diag_of_a_matrix_is_its_diagonal(self):
        x = tf.constant(SQUARE)
        np.testing.assert_array_equal(keras.diag(x), tf.linalg.diag_part(x))
