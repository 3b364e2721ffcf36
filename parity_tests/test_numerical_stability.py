import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import FalseFriend, Op, Program, Raises, dyadic, normal, uniform
from v1_graph import numerical_stability as v1
from v2_eager import numerical_stability as v2

F, INF, NAN = np.float32, np.inf, np.nan
HALVES, FIRST, SECOND = F([0.5, 0.5]), F([1, 0]), F([0, 1])
FAR = F([1000, 0])
FOUR_LABELS, FOUR_LOGITS = F([1, 0, 1, 0]), F([1000, -1000, -1000, 1000])
SIZES = [{"b": 5, "c": 3}, {"b": 3, "c": 16}]
SHAPES = "Incompatible shapes|must be equal|Dimensions must"
DTYPES = "cannot compute Mul|Tensor conversion requested|to have type|type float64"
NO_GRADIENT = {"gradient": "nextafter has none"}


def normalized_as_a_whole(logits):
    """The softmax of the classic text, which has no axis."""
    exp = tf.exp(logits - tf.reduce_max(logits))
    return exp / tf.reduce_sum(exp)


CASES = [
    Op(
        "float_limits",
        "float32",
        [F(0)],
        exact=True,
        skip=NO_GRADIENT,
        expect=(1.401298464324817e-45, False, 3.4028234663852886e38),
    ),
    Op(
        "float_limits",
        "float64",
        [np.float64(0)],
        exact=True,
        skip=NO_GRADIENT,
        expect=(5e-324, False, 1.7976931348623157e308),
    ),
    Op(
        "times_and_back",
        "float32 ends",
        # 1e-50 is 0 in float32 and 1e39 infinite; 0.5 * 1.2e-38 would be denormal.
        [F([1, 1, 1e-30, 1e30, 1.2e-38, 3]), F([0, INF, 1e-20, 1e30, 0.5, 0.25])],
        exact=True,
        skip={"xla": "divides by y * y in the gradient, which underflows to NaN"},
        expect=[NAN, NAN, 0, INF, 0, 3],
    ),
    Op(
        "times_and_back",
        "int32 wraps",
        [np.int32([2**30, 3]), np.int32([4, 4])],
        expect=[0, 3],
    ),
    Op("times_and_back", "no rounding", [dyadic("n"), F([0.25])]),
    Op(
        "times_and_back",
        "any size",
        [normal("b", "c"), normal("c")],
        sizes=SIZES,
        skip={"gradient": "that of y is 0 but for noise"},
    ),
    Op("softmax_naive", "the classic", [FAR], expect=[NAN, 0]),
    Op("softmax_naive", "float64 fits", [np.float64([709, 0])], expect=[1, 0]),
    Op("softmax_naive", "float64 too far", [np.float64([710, 0])], expect=[NAN, 0]),
    Op("softmax_naive", "float32 fits", [F([88, 0])], exact=True),
    Op("softmax_naive", "float32 too far", [F([89, 0])], exact=True, expect=[NAN, 0]),
    Op("softmax_naive", "float16 too far", [np.float16([12, 0])], expect=[NAN, 0]),
    Op("softmax_naive", "all too small", [F([-1000, -1000])], expect=[NAN, NAN]),
    Op("softmax_naive", "any size", [normal("b", "c")], sizes=SIZES),
    FalseFriend(
        "softmax",
        "a batch",
        [F([[1000, 0], [0, 0]])],
        expect=[[1, 0], [0.5, 0.5]],
        naive=normalized_as_a_whole,
        because="without an axis the whole batch is one distribution",
    ),
    Op("softmax", "the classic", [FAR], expect=[1, 0]),
    Op("softmax", "far below", [F([-1000, -1000])], expect=[0.5, 0.5]),
    Op(
        "softmax",
        "a masked class",
        [F([-INF, 0, 0])],
        skip={"xla": "the gradient of the masked class is -0.0 there"},
        expect=[0, 0.5, 0.5],
    ),
    Op("softmax", "all masked", [F([-INF, -INF])], expect=[NAN, NAN]),
    Op("softmax", "NaN", [F([NAN, 0])], expect=[NAN, NAN]),
    Op("softmax", "infinity", [F([INF, 0, 1])], expect=[NAN, NAN, NAN]),
    Op("softmax", "any size", [normal(2, "b", "c", scale=100)], sizes=SIZES),
    Op("softmax_floored", "the classic", [FAR], expect=[1, 1.8048513878454153e-35]),
    Op("softmax_floored", "cut off", [F([0, -3, -1, 2])], {"floor": -4.0}),
    Op("softmax_floored", "any size", [normal("b", "c")], {"floor": -1.0}, sizes=SIZES),
    Op("cross_entropy_naive", "the classic", [HALVES, FAR], expect=INF),
    Op("cross_entropy_naive", "right and certain", [FIRST, FAR], expect=NAN),
    Op(
        "cross_entropy_naive",
        "any size",
        [uniform("b", "c"), normal("b", "c")],
        sizes=SIZES,
    ),
    FalseFriend(
        "cross_entropy",
        "Keras on probabilities",
        [SECOND, FAR],
        expect=1000,
        naive=lambda labels, logits: tf.keras.losses.categorical_crossentropy(
            labels, tf.nn.softmax(logits)
        ),
        because="Keras clips probabilities at 1e-7: the loss is never above 16.118",
    ),
    Op("cross_entropy", "the classic", [HALVES, FAR], expect=500),
    Op("cross_entropy", "right and certain", [FIRST, FAR], expect=-0.0),
    Op("cross_entropy", "a masked class", [FIRST, F([0, -INF])], expect=NAN),
    Op(
        "cross_entropy",
        "any size",
        [uniform("b", "c"), normal("b", "c", scale=100)],
        sizes=SIZES,
    ),
    Op(
        "cross_entropy_clipped",
        "wrong and certain",
        [SECOND, FIRST],
        expect=23.025850929940457,
    ),
    Op("cross_entropy_clipped", "NaN is not clipped", [FIRST, F([NAN, 1])], expect=NAN),
    Op(
        "cross_entropy_clipped",
        "any size",
        [uniform("b", "c"), uniform("b", "c", high=1.5)],
        {"floor": 0.125},
        sizes=SIZES,
    ),
    Program(
        "cross_entropy_gradient",
        "the classic",
        [HALVES, FAR],
        expect=(500, [0.5, -0.5]),
    ),
    Program("cross_entropy_gradient", "a batch", [uniform(5, 3), normal(5, 3)]),
    Op(
        "sigmoid_loss_naive",
        "right, right, wrong, wrong",
        [FOUR_LABELS, FOUR_LOGITS],
        expect=[NAN, NAN, INF, INF],
    ),
    Op("sigmoid_loss_naive", "any size", [uniform("n"), normal("n")]),
    FalseFriend(
        "sigmoid_loss",
        "right, right, wrong, wrong",
        [FOUR_LABELS, FOUR_LOGITS],
        expect=[0, 0, 1000, 1000],
        naive=v2.sigmoid_loss_naive,
        because="the logarithm of an underflowed probability is infinite",
    ),
    Op("sigmoid_loss", "any size", [uniform("n"), normal("n", scale=100)]),
    FalseFriend(
        "log_sum_exp",
        "far",
        [F([[1000, 0], [-1000, -2000]])],
        expect=[1000, -1000],
        naive=lambda values: tf.math.log(tf.reduce_sum(tf.exp(values), axis=-1)),
        because="exp(1000) is infinite and exp(-1000) is 0",
    ),
    Op("log_sum_exp", "all minus infinity", [F([-INF, -INF])], expect=-INF),
    Op("log_sum_exp", "any size", [normal(2, "b", "c", scale=100)], sizes=SIZES),
    FalseFriend(
        "softplus",
        "far",
        [F([-1000, 1000])],
        expect=[0, 1000],
        naive=lambda x: tf.math.log(1 + tf.exp(x)),
        because="exp(1000) is infinite",
    ),
    # Below -13.9, 1.15 returns exp(x), in float64 too: wrong from the seventh digit.
    Op("softplus", "any size", [uniform("n", low=-12, high=12)]),
    FalseFriend(
        "growth",
        "tiny rate",
        [F([1e-8, 1e-3, 0.5]), F([10])],
        exact=True,
        skip={"xla": "rounds log1p and expm1 in its own way"},
        naive=lambda rate, periods: (1 + rate) ** periods - 1,
        because="1 + 1e-8 is 1 in float32",
    ),
    Op("growth", "any size", [uniform("b", 1, low=-0.5), uniform("c", high=9)]),
    Op(
        "log_or_zero",
        "every sign",
        [F([1, 0, -0.0, -1, -INF, NAN, INF])],
        expect=[0, 0, 0, 0, 0, 0, INF],
    ),
    Op("log_or_zero", "any size", [normal("n")]),
    Raises(
        "softmax",
        "integers",
        [np.int32([1000, 0])],
        graph=TypeError,
        eager=tf.errors.InvalidArgumentError,
        function=TypeError,
        match="int32",
    ),
    Raises(
        "softmax",
        "a scalar has no last axis",
        [F(1)],
        graph=ValueError,
        eager=tf.errors.InvalidArgumentError,
        function=ValueError,
        match="Invalid reduction dimension",
    ),
    Raises(
        "float_limits",
        "float16",
        [np.float16(0)],
        graph=TypeError,
        eager=tf.errors.InvalidArgumentError,
        function=TypeError,
        match="float16|half",
    ),
    Raises(
        "cross_entropy",
        "NumPy's float64 labels",
        [np.float64([0.5, 0.5]), FAR],
        graph=TypeError,
        eager=tf.errors.InvalidArgumentError,
        function=TypeError,
        match=DTYPES,
    ),
    Raises(
        "cross_entropy",
        "labels for other classes",
        [F([0.5, 0.25, 0.25]), FAR],
        graph=ValueError,
        eager=tf.errors.InvalidArgumentError,
        function=ValueError,
        match=SHAPES,
    ),
    Raises(
        "cross_entropy",
        "labels for other classes, seen when run",
        [F([0.5, 0.25, 0.25]), FAR],
        dynamic=True,
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=ValueError,
        match=SHAPES,
    ),
    Raises(
        "cross_entropy_gradient",
        "labels for other classes",
        [F([0.5, 0.25, 0.25]), FAR],
        of="program",
        graph=ValueError,
        eager=tf.errors.InvalidArgumentError,
        function=ValueError,
        match=SHAPES,
    ),
    Raises(
        "sigmoid_loss",
        "a column of labels for a row of logits",
        [F([[1], [0]]), F([1, 0])],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="must have the same shape",
    ),
    Raises(
        "sigmoid_loss",
        "integer labels",
        [np.int32([1, 0]), FAR],
        graph=TypeError,
        eager=tf.errors.InvalidArgumentError,
        function=TypeError,
        match="int32",
    ),
    Raises(
        "cross_entropy_clipped",
        "integers",
        [FIRST, np.int32([1, 0])],
        graph=TypeError,
        eager=TypeError,
        function=TypeError,
        match="",
    ),
]
PROOF = proof(v1, v2, CASES)


class NumericalStabilityTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()
