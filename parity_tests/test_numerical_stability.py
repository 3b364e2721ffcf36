import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import FalseFriend, Op, Program, Raises, dyadic, normal, uniform
from v1_graph import numerical_stability as v1
from v2_eager import numerical_stability as v2

INF, NAN = np.inf, np.nan
F = np.float32
HALVES = F([0.5, 0.5])
FAR = F([1000, 0])
NO_GRADIENT = {"gradient": "nextafter has none"}

CASES = [
    Op(
        "float_limits",
        "float32",
        [F(0)],
        exact=True,
        skip=NO_GRADIENT,
        expect=(F(1.4013e-45), 0, F(3.4028235e38)),
    ),
    Op(
        "float_limits",
        "float64",
        [np.float64(0)],
        exact=True,
        skip=NO_GRADIENT,
        expect=(5e-324, 0, 1.7976931348623157e308),
    ),
    Op(
        "times_and_back",
        "float32 ends",
        # 1e-50 is 0 in float32, and 1e39 infinite; denormals are flushed to 0.
        [F([1, 1, 1e-30, 1e30, 1.2e-38, 3]), F([0, INF, 1e-20, 1e30, 0.5, 0.25])],
        exact=True,
        expect=[NAN, NAN, 0, INF, 0, 3],
    ),
    Op("times_and_back", "no rounding", [dyadic("n"), F([0.25])]),
    Op("times_and_back", "any size", [normal("r", "c"), normal("c")]),
    Op("softmax_naive", "the classic", [FAR], expect=[NAN, 0]),
    Op("softmax_naive", "the last that fits", [np.float64([709, 0])], expect=[1, 0]),
    Op("softmax_naive", "the first too far", [np.float64([710, 0])], expect=[NAN, 0]),
    Op("softmax_naive", "float32 fits", [F([88, 0])], exact=True),
    Op("softmax_naive", "float32 too far", [F([89, 0])], exact=True, expect=[NAN, 0]),
    Op("softmax_naive", "all too small", [F([-1000, -1000])], expect=[NAN, NAN]),
    Op("softmax_naive", "any size", [normal("b", "c")]),
    Op("softmax", "the classic", [FAR], expect=[1, 0]),
    Op("softmax", "all small", [F([-1000, -1000])], expect=[0.5, 0.5]),
    Op("softmax", "minus infinity", [F([-INF, 0, 0])], expect=[0, 0.5, 0.5]),
    Op("softmax", "nan spreads", [F([NAN, 0])], expect=[NAN, NAN]),
    Op("softmax", "infinity", [F([INF, 0, 1])], expect=[NAN, NAN, NAN]),
    Op("softmax", "any size", [normal("b", "c", scale=100)]),
    Op("softmax", "three axes", [normal(2, "s", "c")]),
    FalseFriend(
        "softmax",
        "batch",
        [F([[1000, 0], [0, 0]])],
        expect=[[1, 0], [0.5, 0.5]],
        naive=lambda logits: tf.exp(logits - tf.reduce_max(logits))
        / tf.reduce_sum(tf.exp(logits - tf.reduce_max(logits))),
        because="the classic text has no axis: it normalizes over the whole batch",
    ),
    Op("softmax_floored", "the classic", [FAR]),
    Op("softmax_floored", "cut", [F([0, -3, -1, 2])], {"floor": -4.0}),
    Op("softmax_floored", "any size", [normal("b", "c", scale=100)]),
    Op("softmax_floored", "low floor", [normal("b", "c")], {"floor": -1.0}),
    Op("cross_entropy_naive", "the classic", [HALVES, FAR], expect=INF),
    Op("cross_entropy_naive", "right", [F([1, 0]), FAR], expect=NAN),
    Op("cross_entropy_naive", "any size", [uniform("b", "c"), normal("b", "c")]),
    Op("cross_entropy", "the classic", [HALVES, FAR], expect=500),
    Op("cross_entropy", "right", [F([1, 0]), FAR], expect=-0.0),
    Op("cross_entropy", "masked", [F([1, 0]), F([0, -INF])], expect=NAN),
    Op(
        "cross_entropy",
        "any size",
        [uniform("b", "c"), normal("b", "c", scale=100)],
    ),
    Op("cross_entropy_clipped", "wrong", [F([0, 1]), F([1, 0])]),
    Op("cross_entropy_clipped", "floor", [F([0, 1]), F([1, 0])], {"floor": 0.25}),
    Op(
        "cross_entropy_clipped",
        "any size",
        [uniform("b", "c"), uniform("b", "c", high=1.5)],
        {"floor": 0.125},
    ),
    Program("cross_entropy_gradient", "the classic", [HALVES, FAR],
        expect=(500, [0.5, -0.5])),
    Program("cross_entropy_gradient", "batch", [uniform(5, 3), normal(5, 3)]),
    Op("sigmoid_loss_naive", "far", [F([1, 0, 1, 0]), F([1000, -1000, -1000, 1000])],
        expect=[NAN, NAN, INF, INF]),
    Op("sigmoid_loss_naive", "any size", [uniform("n"), normal("n")]),
    Op("sigmoid_loss", "far", [F([1, 0, 1, 0]), F([1000, -1000, -1000, 1000])],
        expect=[0, 0, 1000, 1000]),
    Op("sigmoid_loss", "any size", [uniform("n"), normal("n", scale=100)]),
    FalseFriend("log_sum_exp", "far", [F([[1000, 0], [-1000, -2000]])],
        expect=[1000, -1000],
        naive=lambda x: tf.math.log(tf.reduce_sum(tf.exp(x), -1)),
        because="exp overflows above 88 and is 0 below -88"),
    Op("log_sum_exp", "all minus infinity", [F([-INF, -INF])], expect=-INF),
    Op("log_sum_exp", "any size", [normal("b", "n", scale=100)]),
    FalseFriend("softplus", "far", [F([-1000, 0, 1000])],
        naive=lambda x: tf.math.log(1 + tf.exp(x)),
        because="exp overflows"),
    Op("softplus", "any size", [uniform("n", low=-12, high=12)]),
    FalseFriend("growth", "tiny rate", [F([1e-8, 1e-3, 0.5]), F([10])], exact=True,
        naive=lambda r, n: (1 + r) ** n - 1,
        because="1 + 1e-8 is 1 in float32"),
    Op("growth", "any size", [uniform("r", 1, low=-0.5, high=1), uniform("n", high=9)]),
    Op("log_or_zero", "signs", [F([1, 0, -0.0, -1, -INF, NAN, INF])]),
    Op("log_or_zero", "any size", [normal("n")]),
]
PROOF = proof(v1, v2, CASES)


class NumericalStabilityTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()
