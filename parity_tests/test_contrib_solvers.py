import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.contrib import CONTRIB, EAGER
from tf1to2.parity import FalseFriend, Op, Program, Raises, normal, uniform
from v1_graph import contrib_solvers as v1
from v2_eager import contrib_solvers as v2

RNG = np.random.RandomState(0)
SIZES = [{"n": 3}, {"n": 67}]
ROOT = RNG.normal(size=[67, 67]).astype("f")
SYMMETRIC = (ROOT @ ROOT.T / 67 + np.eye(67)).astype("f")
RHS = RNG.normal(size=[67]).astype("f")
TALL = RNG.normal(size=[67, 9]).astype("f")
BEGIN = RNG.normal(size=[67, 1]).astype("f")
TIMES = np.linspace(0, 3, 12)
UNEVEN = np.cumsum(RNG.uniform(0.05, 0.4, 12))
Y = normal("n", 2, scale=0.5)
PRECISE = RNG.normal(0, 0.5, [67, 2])
LOGITS = normal("n", 9, scale=2)
LABELS = np.eye(9, dtype="f")[RNG.randint(9, size=67)]
SHARES = RNG.dirichlet(np.ones(9), 67).astype("f")
EXTREME = np.array([[1, 2, np.nan], [0, 3, 1]], "f")
RATES = np.array([1.1, 0.4, 0.1, 0.4])


def observed(rates, times):
    """Integrates the predator-prey equation by many small steps of Euler's method."""
    y, found = np.array([5.0, 2.0]), []
    for begin, end in zip(times, np.append(times[1:], times[-1])):
        found.append(y)
        for _ in range(200):
            births = rates[0] * y[0] - rates[1] * y[0] * y[1]
            change = np.array([births, rates[2] * y[0] * y[1] - rates[3] * y[1]])
            y = y + change * (end - begin) / 200
    return np.stack(found)


OBSERVED = observed(RATES, TIMES)


NAN_ASIDE = "XLA multiplies what is not chosen by 0, and of NaN that is NaN"

# --- Obvious replacements of contrib, with other numbers.


def default_of_today(matrix, rhs):
    return v2.solve_by_gradients(matrix, rhs, tol=1e-5)


def euler(y, t):
    """Takes one Euler step between two times, as a loop by hand does."""
    found = [y]
    for begin, end in zip(tf.unstack(t[:-1]), tf.unstack(t[1:])):
        size = tf.cast(end - begin, y.dtype)
        found.append(found[-1] + size * v2.spiral(found[-1], begin))
    return tf.stack(found)


def softmax(logits):
    return tf.nn.softmax(logits)


def op(name, slug, args, kwargs=(), skip=(), cls=Op, **options):
    options.setdefault("sizes", SIZES)
    skip = {**CONTRIB, **dict(skip)}
    return cls(name, slug, args, dict(kwargs), skip=skip, **options)


def other(name, slug, args, naive, because, skip=EAGER, **options):
    more = {"naive": naive, "because": because, "cls": FalseFriend}
    return op(name, slug, args, (), skip, **more, **options)


LOOP = {"xla": "XLA knows no gradient of a loop without a limit"}
CASES = [
    op("solve_by_gradients", "to its tolerance", [SYMMETRIC, RHS], (), LOOP),
    op("solve_by_gradients", "four steps", [SYMMETRIC, RHS, 4], (), LOOP),
    other(
        "solve_by_gradients",
        "the tolerance of today",
        [SYMMETRIC, RHS],
        default_of_today,
        "the default of tf.linalg.experimental is 1e-5",
    ),
    op("solve_least_squares", "to its tolerance", [TALL, RHS], (), LOOP),
    op("solve_least_squares", "three steps", [TALL, RHS, 3], (), LOOP),
    op("largest_singular_values", "five steps", [TALL, BEGIN, 5]),
    op("integrate", "at even times", [PRECISE, TIMES], (), LOOP),
    op("integrate", "roughly", [Y, UNEVEN], {"rtol": 1e-3, "atol": 1e-5}, LOOP),
    Raises.alike(
        "integrate",
        "times that fall",
        [PRECISE, TIMES[::-1].copy()],
        tf.errors.InvalidArgumentError,
        "must be monotonic increasing",
        skip=CONTRIB,
    ),
    Raises.alike(
        "integrate",
        "a beginning that is no number",
        [np.full([1, 2], np.nan), TIMES],
        tf.errors.InvalidArgumentError,
        "non-finite values in state",
        skip=CONTRIB,
    ),
    Raises.alike(
        "integrate",
        "what grows beyond all bounds",
        [np.full([1, 2], 1e60), TIMES],
        tf.errors.InvalidArgumentError,
        "underflow in dt|max_num_steps exceeded",  # the right page ends at once
        skip=CONTRIB,
    ),
    op("integrate_in_steps", "one between two times", [Y, TIMES], (), LOOP),
    op(
        "integrate_in_steps",
        "small ones",
        [Y, UNEVEN, np.full(11, 0.06), "midpoint"],
        (),
        LOOP,
    ),
    Raises.alike(
        "integrate_in_steps",
        "another method",
        [PRECISE, TIMES, None, "euler"],
        ValueError,
        "method not supported: euler",
        skip=CONTRIB,
    ),
    other(
        "integrate_in_steps",
        "a step by hand",
        [Y, TIMES[:4]],
        euler,
        "a step of rk4 looks at the slope four times",
    ),
    Program(
        "fit_rates",
        "ten steps",
        [OBSERVED, TIMES, RATES * [1.05, 0.95, 1.1, 1.0], 10, 1e-4],
        skip=CONTRIB,
    ),
    op("sparsemax", "of a batch", [LOGITS]),
    op("sparsemax", "no numbers", [EXTREME], (), {"xla": NAN_ASIDE}),
    other("sparsemax", "softmax", [LOGITS], softmax, "no share of softmax is zero"),
    op("sparsemax_loss", "of classes", [uniform(67, 9, low=-3, high=3), LABELS]),
    op("sparsemax_loss", "of shares", [uniform(67, 9, low=-3, high=3), SHARES]),
]
PROOF = proof(v1, v2, CASES)


class ContribSolversTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class InputsTest(unittest.TestCase):
    """As contrib did, the functions convert arrays and lists to tensors."""

    def test_arrays_and_lists_are_taken(self):
        solution, _ = v2.solve_by_gradients(SYMMETRIC, RHS)
        expected, _ = v2.solve_by_gradients(tf.constant(SYMMETRIC), tf.constant(RHS))
        np.testing.assert_array_equal(solution, expected)
        self.assertFalse(v2.solve_by_gradients(SYMMETRIC, 0 * RHS)[0].numpy().any())
        self.assertEqual(v2.sparsemax([[0.0, 3.0]]).numpy().tolist(), [[0, 1]])
        for integral in (v2.odeint, v2.odeint_fixed):
            found = integral(lambda y, t: -y, [1.0, 2.0], [0, 0.5, 1])
            expected = np.exp([[0], [-0.5], [-1]]) * [1, 2]
            self.assertLess(np.abs(found / expected - 1).max(), 1e-3)
            self.assertEqual(found.dtype, tf.float32)

    def test_complex_numbers_are_integrated_as_they_were(self):
        found = v2.odeint(lambda y, t: 1j * y, np.complex128([1, 2]), [0.0, 1.0, 2.0])
        # Printed by TensorFlow 1.15.5; 2.6e-7 from the exact cosine and sine.
        one = [1, 0.54030205 + 0.84147083j, -0.41614689 + 0.90929685j]
        self.assertLess(np.abs(found[:, 0] - one).max(), 1e-8)
        np.testing.assert_array_equal(found[:, 1], 2 * found[:, 0])

    def test_what_contrib_refused_is_refused(self):
        falling = TIMES[::-1].copy()
        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError, "must be monotonic increasing"
        ):
            v2.integrate_in_steps(PRECISE, falling)
        for integral in (v2.integrate, v2.integrate_in_steps):
            with self.assertRaisesRegex(TypeError, "y must be float or complex"):
                integral(np.int32([[1, 2]]), TIMES)
        for shape in ([3], [3, 3, 3]):
            with self.assertRaisesRegex(ValueError, "must have rank 2"):
                v2.sparsemax(np.zeros(shape, "f"))
