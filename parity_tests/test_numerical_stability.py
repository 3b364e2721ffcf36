import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import FalseFriend, Op, Program, Raises, normal, uniform
from v1_graph import numerical_stability as v1
from v2_eager import numerical_stability as v2

F, INF, NAN = np.float32, np.inf, np.nan
HALVES, FIRST, SECOND = F([0.5, 0.5]), F([1, 0]), F([0, 1])
FAR = F([1000, 0])
FOUR_LABELS, FOUR_LOGITS = F([1, 0, 1, 0]), F([1000, -1000, -1000, 1000])
SHAPES = "Incompatible shapes|must be equal|Dimensions must"
DTYPES = "cannot compute Mul|Tensor conversion requested|to have type|type float64"
NO_GRADIENT = {"gradient": "nextafter has none"}


def normalized_as_a_whole(logits):
    """Computes the softmax of the classic text, without an axis."""
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
    Op(
        "times_and_back",
        "any size",
        [normal("b", "c"), normal("c")],
    ),
    Op("softmax_naive", "the classic", [FAR], expect=[NAN, 0]),
    Op(
        "softmax_naive",
        "float16 overflows after 11",
        [np.float16([12, 0])],
        expect=[NAN, 0],
    ),
    Op(
        "softmax_naive",
        "float32 overflows after 88",
        [F([[88, 0], [89, 0], [-104, -104]])],
        exact=True,
        expect=[[1, 0], [NAN, 0], [NAN, NAN]],
    ),
    Op(
        "softmax_naive",
        "float64 overflows after 709",
        [np.float64([[709, 0], [710, 0], [-746, -746]])],
        expect=[[1, 0], [NAN, 0], [NAN, NAN]],
    ),
    Op("softmax_naive", "any size", [normal("b", "c")]),
    FalseFriend(
        "softmax",
        "a batch",
        [F([[1000, 0], [0, 0]])],
        expect=[[1, 0], [0.5, 0.5]],
        naive=normalized_as_a_whole,
        because="without an axis the whole batch is one distribution",
    ),
    Op("softmax", "the classic", [FAR], expect=[1, 0]),
    Op(
        "softmax",
        "far below, NaN, infinite, all masked",
        [F([[-1000, -1000], [NAN, 0], [INF, 0], [-INF, -INF]])],
        expect=[[0.5, 0.5], [NAN, NAN], [NAN, NAN], [NAN, NAN]],
    ),
    Op(
        "softmax",
        "a masked class",
        [F([-INF, 0, 0])],
        skip={"xla": "the gradient of the masked class is -0.0 there"},
        expect=[0, 0.5, 0.5],
    ),
    Op("softmax", "any size", [normal(2, "b", "c", scale=100)]),
    Op("softmax_floored", "the classic", [FAR], expect=[1, 1.8048513878454153e-35]),
    Op("softmax_floored", "any size", [normal("b", "c")], {"floor": -1.0}),
    Op(
        "cross_entropy_naive",
        "the classic; right and certain",
        [np.stack([HALVES, FIRST]), np.stack([FAR, FAR])],
        expect=[INF, NAN],
    ),
    Op(
        "cross_entropy_naive",
        "any size",
        [uniform("b", "c"), normal("b", "c")],
    ),
    FalseFriend(
        "cross_entropy",
        "Keras on probabilities",
        [SECOND, FAR],
        expect=1000,
        naive=lambda labels, logits: tf.keras.losses.categorical_crossentropy(
            labels, tf.nn.softmax(logits)
        ),
        because="Keras clips probabilities at 1e-7: 16.1181 is the most",
    ),
    Op("cross_entropy", "the classic", [HALVES, FAR], expect=500),
    Op(
        "cross_entropy",
        "right and certain; a masked class",
        [np.stack([FIRST, FIRST]), np.stack([FAR, F([0, -INF])])],
        expect=[-0.0, NAN],
    ),
    Op(
        "cross_entropy",
        "any size",
        [uniform("b", "c"), normal("b", "c", scale=100)],
    ),
    Op(
        "cross_entropy_clipped",
        "wrong and certain; NaN",
        [np.stack([SECOND, FIRST]), np.stack([FIRST, F([NAN, 1])])],
        expect=[23.025850929940457, NAN],
        skip={"xla": "before 2.21, XLA clips NaN to the floor"},
    ),
    Op(
        "cross_entropy_clipped",
        "any size",
        [uniform("b", "c"), uniform("b", "c", high=1.5)],
        {"floor": 0.125},
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
    Op(
        "sigmoid_loss",
        "any size",
        [uniform("n"), normal("n", scale=100)],
    ),
    FalseFriend(
        "log_sum_exp",
        "far",
        [F([[1000, 0], [-1000, -2000]])],
        expect=[1000, -1000],
        naive=lambda values: tf.math.log(tf.reduce_sum(tf.exp(values), axis=-1)),
        because="exp(1000) is infinite and exp(-1000) is 0",
    ),
    Op("log_sum_exp", "all minus infinity", [F([-INF, -INF])], expect=-INF),
    Op("log_sum_exp", "any size", [normal(2, "b", "c", scale=100)]),
    FalseFriend(
        "softplus",
        "far",
        [F([-1000, 1000])],
        expect=[0, 1000],
        naive=lambda x: tf.math.log(1 + tf.exp(x)),
        because="exp(1000) is infinite",
    ),
    # 1.15 took log(exp(x) + 1), not log1p: digits are lost below, in float64 too.
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
    Op(
        "growth",
        "any size",
        [uniform("b", 1, low=-0.5), uniform("c", high=9)],
    ),
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
        function=tf.errors.InvalidArgumentError,
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
        match="int32|integer",
    ),
]
PROOF = proof(v1, v2, CASES)


class NumericalStabilityTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class EndsOfFloat32Test(unittest.TestCase):
    def test_limits_as_printed(self):
        smallest, _, largest = v2.float_limits(tf.constant(F(0)))
        self.assertEqual(
            f"{smallest.numpy():.5g} {largest:.6g}", "1.4013e-45 3.40282e+38"
        )

    def test_numpy_computes_with_denormals_and_kernels_do_not(self):
        tiny = np.finfo(F).tiny
        half = tf.constant(tiny) * F(0.5)
        self.assertEqual(f"{tiny:.6g} {tiny * F(0.5):.6g}", "1.17549e-38 5.87747e-39")
        self.assertEqual(half.numpy(), 0)

    @parameterized.expand([("underflow", 1e-50, 0), ("overflow", 1e39, np.inf)])
    def test_one_times_y_by_y_is_nan(self, _, y, stored):
        with np.errstate(over="ignore", invalid="ignore"):
            y = F(y)
            self.assertEqual(y, stored)
            self.assertTrue(np.isnan(F(1) * y / y))
        self.assertTrue(np.isnan(v2.times_and_back(tf.constant(F(1)), y)))

    @parameterized.expand(
        [("float16", 11, 12), ("float32", 88, 89), ("float64", 709, 710)]
    )
    def test_exp_overflows_after(self, dtype, last, first):
        exp = tf.exp(tf.constant([last, first], dtype)).numpy()
        np.testing.assert_array_equal(np.isfinite(exp), [True, False])


class SigmoidTest(unittest.TestCase):
    """The sigmoid of 1.15.5 was 0 below -18, in arrays of any size."""

    @parameterized.expand(
        [("eagerly", tf.sigmoid), ("traced", tf.function(tf.sigmoid))]
    )
    def test_it_is_positive_down_to_87(self, _, sigmoid):
        for size in range(1, 21):
            low, end, loss = (F([x] * size) for x in (-87, -88, -20))
            self.assertGreater(sigmoid(low).numpy().min(), 0)
            np.testing.assert_array_equal(sigmoid(end), np.zeros(size, "f"))
            self.assertEqual({f"{x:.4f}" for x in -np.log(sigmoid(loss))}, {"20.0000"})


class GradientTest(unittest.TestCase):
    """The inputs of the classic text and their gradients."""

    @parameterized.expand(
        [
            ("naive", "cross_entropy_naive", np.inf, [np.nan, np.nan]),
            ("stable", "cross_entropy", 500, [0.5, -0.5]),
        ]
    )
    def test_cross_entropy(self, _, name, loss, gradient):
        actual = value_and_gradient(lambda x: getattr(v2, name)(HALVES, x), FAR)
        np.testing.assert_array_equal(actual[0], loss)
        np.testing.assert_array_equal(actual[1], gradient)

    @parameterized.expand(
        [
            ("clipped", "cross_entropy_clipped", "23.0259", [0, 0]),
            ("by_logits", "cross_entropy", "1000", [1, -1]),
        ]
    )
    def test_the_worst_mistake_teaches(self, _, name, loss, gradient):
        def mistake(logits):
            clipped = name == "cross_entropy_clipped"
            return getattr(v2, name)(SECOND, v2.softmax(logits) if clipped else logits)

        actual = value_and_gradient(mistake, FAR)
        self.assertEqual(f"{actual[0]:.6g}", loss)
        np.testing.assert_array_equal(actual[1], gradient)

    def test_floor_keeps_the_logarithm_finite_and_stops_the_gradient(self):
        def log_floored(logits):
            return tf.math.log(v2.softmax_floored(logits))[1]

        actual = value_and_gradient(log_floored, FAR)
        self.assertEqual(f"{actual[0]:.6g}", "-80")
        np.testing.assert_array_equal(actual[1][1], 0)

    def test_one_where_is_not_enough(self):
        def one_where(x):
            return tf.where(x > 0, tf.math.log(x), 0.0)

        x = F([4, 1, 0, -1])
        (once, naive), (twice, safe) = (
            value_and_gradient(f, x) for f in (one_where, v2.log_or_zero)
        )
        np.testing.assert_array_equal(once, twice)
        np.testing.assert_array_equal(naive, [0.25, 1, np.nan, 0])
        np.testing.assert_array_equal(safe, [0.25, 1, 0, 0])

    def test_all_masked_has_a_value_and_no_gradient(self):
        actual = value_and_gradient(v2.log_sum_exp, F([-INF, -INF]))
        np.testing.assert_array_equal(actual[0], -INF)
        np.testing.assert_array_equal(actual[1], [NAN, NAN])


class BuiltInTest(unittest.TestCase):
    """TensorFlow's own losses on the same inputs."""

    def test_fused_cross_entropy(self):
        loss = tf.nn.softmax_cross_entropy_with_logits(labels=HALVES, logits=FAR)
        np.testing.assert_array_equal(loss, v2.cross_entropy(HALVES, FAR))

    def test_sparse_labels_do_not_multiply_by_the_mask(self):
        masked = F([[0, -INF]])
        dense = tf.nn.softmax_cross_entropy_with_logits(labels=[FIRST], logits=masked)
        sparse = tf.nn.sparse_softmax_cross_entropy_with_logits([0], masked)
        np.testing.assert_array_equal(dense, [NAN])
        np.testing.assert_array_equal(sparse, [0])

    def test_keras_losses_saturate(self):
        labels, logits = [SECOND], [FAR]
        keras = tf.keras.losses
        losses = [
            keras.categorical_crossentropy(labels, tf.nn.softmax(logits)),
            keras.categorical_crossentropy(labels, logits, from_logits=True),
        ]
        texts = [f"{loss.numpy()[0]:.6g}" for loss in losses]
        self.assertEqual(texts, ["16.1181", "1000"])

    def test_upper_clip_is_one(self):
        self.assertEqual(F(1) - F(1e-10), 1)

    def test_growth_of_a_tiny_rate(self):
        rate, periods = tf.constant([F(1e-8)]), tf.constant(F(10))
        naive = (1 + rate) ** periods - 1
        np.testing.assert_array_equal(naive, [0])
        self.assertEqual(f"{v2.growth(rate, periods).numpy()[0]:.6g}", "1e-07")


def value_and_gradient(function, x):
    """Returns the result of `function` and the gradient of its sum, as arrays."""
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return y.numpy(), tape.gradient(y, x).numpy()
