import tempfile
import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from tf1to2.parity import FalseFriend, Op, Program, Raises, integers, uniform
from tf1to2.parity.v1 import legacy
from v1_graph import learning_rates as v1
from v2_eager import learning_rates as v2
from v2_keras import learning_rates as v3

schedules = tf.keras.optimizers.schedules

ONE = np.float32(1)
STEPS = np.int64([0, 4, 5, 6, 10, 15, 25])
ANY_STEP = integers("n", high=1000, dtype="int64")
NINE = integers(9, high=1000, dtype="int64")
RATE, FACTOR = uniform(low=0.01), uniform(low=0.5)
XLA = {"xla": "its own cosine, exp and power, and v1 takes no float64 here"}


def descend_at_a_rate(start, learning_rate, steps, decay_steps, decay_rate):
    x, global_step = tf.Variable(start), tf.Variable(0)
    rate = v2.exponential_decay(
        learning_rate, global_step, decay_steps, decay_rate, staircase=True
    )
    history = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.square(x)
        x.assign_sub(rate * tape.gradient(loss, x))
        global_step.assign_add(1)
        history.append(x.numpy())
    return [rate.numpy()] * steps, history, np.int64(steps)


CASES = [
    Op(
        "exponential_decay",
        "the classic",
        [ONE, STEPS, 5, 0.25],
        {"staircase": True},
        expect=[1, 1, 0.25, 0.25, 0.0625, 0.015625, 2.0**-10],
    ),
    Op(
        "exponential_decay",
        "not a staircase",
        [ONE, np.int64([0, 5, 10, 20]), 10, 0.25],
        expect=[1, 0.5, 0.25, 0.0625],
    ),
    Op("exponential_decay", "any step", [RATE, ANY_STEP, 100, FACTOR]),
    Op("exponential_decay", "any stair", [RATE, NINE, 100, FACTOR, True]),
    Op("exponential_decay", "float steps", [RATE, uniform(9, high=9.0), 2, 0.75]),
    *[
        Op(name, "Python numbers", [0.1, ANY_STEP, *args], float32=True)
        for name, *args in [
            ("exponential_decay", 100, 0.96),
            ("natural_exp_decay", 100, 0.3),
            ("inverse_time_decay", 100, 0.3),
            ("polynomial_decay", 700, 0.001, 0.9),
            ("cosine_decay", 500, 0.1),
            ("cosine_decay_restarts", 70, 1.7, 0.9, 0.01),
            ("linear_cosine_decay", 500),
        ]
    ],
    Op(
        "exponential_decay",
        "no steps",
        [ONE, np.int32(3), 0, 0.5],
        expect=0,
        skip={"keras": "Keras refuses a schedule of no steps"},
    ),
    Op("natural_exp_decay", "no decay", [ONE, STEPS, 5, np.float32(0)], expect=[1] * 7),
    Op("natural_exp_decay", "any step", [RATE, NINE, 100, FACTOR]),
    Op("natural_exp_decay", "any stair", [RATE, NINE, 100, FACTOR, True]),
    Op("natural_exp_decay", "a number", [ONE, STEPS, 5, 0.5], skip=XLA),
    FalseFriend(
        "natural_exp_decay",
        "ExponentialDecay of Keras",
        [ONE, STEPS, 5, np.float32(0.5)],
        naive=lambda rate, step, *decay: schedules.ExponentialDecay(rate, *decay)(step),
        because="its factor is decay_rate itself, not exp(-decay_rate)",
    ),
    Op(
        "inverse_time_decay",
        "halves and thirds",
        [ONE, np.int64([0, 5, 10, 15, 70]), 10, 1.0],
        expect=[1, 2 / 3, 0.5, 0.4, 0.125],
    ),
    Op("inverse_time_decay", "any step", [RATE, ANY_STEP, 100, FACTOR]),
    Op(
        "inverse_time_decay",
        "any stair",
        [RATE, NINE, 100, FACTOR],
        {"staircase": True},
    ),
    Op(
        "polynomial_decay",
        "a line, and no further",
        [ONE, np.int64([0, 2, 4, 8, 9]), 8, 0.5],
        expect=[1, 0.875, 0.75, 0.5, 0.5],
    ),
    Op("polynomial_decay", "the defaults", [RATE, ANY_STEP, 500]),
    Op("polynomial_decay", "a parabola", [RATE, NINE, 500, uniform(), 2.0]),
    Op("polynomial_decay", "a root", [RATE, NINE, 2000], {"power": 0.5}),
    *[
        Op(
            "polynomial_decay",
            f"cycle of power {power}, step {step}",
            [ONE, np.int64(step), 8, 0.0, power, True],
            expect=rate,
            exact=True,
        )
        for step, power, rate in [
            (0, 1.0, 1),
            (8, 1.0, 0),
            (12, 2.0, 0.0625),
            (18, 3.0, 0.015625),
            (-4, 1.0, -np.inf),
        ]
    ],
    Op(
        "cosine_decay",
        "a wave, and no further",
        [ONE, np.int64([0, 4, 8, 9])],
        {"decay_steps": 8},
        exact=True,
        expect=[1, 0.49999997, 0, 0],
        skip=XLA,
    ),
    Op("cosine_decay", "any step", [RATE, ANY_STEP, 500, 0.1], float32=True),
    Op(
        "cosine_decay_restarts",
        "each period twice as long",
        [ONE, np.int64([0, 4, 7, 8, 16, 23, 24, 40])],
        {"first_decay_steps": 8},
        exact=True,
        skip=XLA,
    ),
    Op(
        "cosine_decay_restarts",
        "at the restarts",
        [ONE, np.int64([0, 10, 30, 70, 150, 310, 630]), 10],
        exact=True,
        expect=[1] * 7,
        skip=XLA,
    ),
    Op(
        "cosine_decay_restarts",
        "equal periods, each half as high",
        [ONE, np.int64([0, 4, 8, 12, 16, 20]), 8, 1.0, 0.5],
        exact=True,
        expect=[1, 0.49999997, 0.5, 0.24999999, 0.25, 0.12499999],
        skip=XLA,
    ),
    Op(
        "cosine_decay_restarts",
        "equal periods, any step",
        [RATE, ANY_STEP, 130],
        {"t_mul": 1.0, "alpha": 0.1},
        float32=True,
    ),
    Op(
        "cosine_decay_restarts",
        "longer and lower",
        [RATE, np.int64([0, 5, 50, 99, 101, 300]), 10, 3.0, 0.75, 0.5],
        float32=True,
    ),
    Op(
        "linear_cosine_decay",
        "a wave under a line, and no further",
        [ONE, np.int64([0, 4, 8, 9]), 8],
        {"beta": 0.25},
        exact=True,
        expect=[1.25, 0.5, 0.25, 0.25],
        skip=XLA,
    ),
    Op("linear_cosine_decay", "defaults", [RATE, ANY_STEP, 500], float32=True),
    Op(
        "linear_cosine_decay",
        "two waves",
        [RATE, NINE, 500, 2.0, 0.1, 0.01],
        float32=True,
    ),
    FalseFriend(
        "linear_cosine_decay",
        "CosineDecay of Keras",
        [ONE, np.int64([0, 4, 8]), 8],
        naive=lambda rate, step, steps: schedules.CosineDecay(rate, steps)(step),
        because="it has no line and no remainder; Keras 3 has no such schedule",
        exact=True,
        skip=XLA,
    ),
    *[
        Op(
            "piecewise_constant",
            f"step {step}",
            [np.int64(step), [10, 20], [1.0, 0.5, 0.25]],
            expect=rate,
        )
        for step, rate in [(10, 1), (11, 0.5), (20, 0.5), (21, 0.25)]
    ],
    Op(
        "piecewise_constant",
        "of tensors",
        [integers(high=9), [2, 5, 7], [uniform(), uniform(), uniform(), uniform()]],
    ),
    Op(
        "piecewise_constant",
        "of floats",
        [np.float32(0.5), [0.25, 0.5], [ONE, np.float32(2), np.float32(3)]],
        exact=True,
        expect=2,
    ),
    Op(
        "piecewise_constant",
        "of a number",
        [15, [10, 20], [1.0, 0.5, 0.25]],
        expect=0.5,
    ),
    Op(
        "piecewise_constant",
        "NaN",
        [np.float32(np.nan), [1.0], [3.0, 4.0]],
        exact=True,
        expect=3,
        skip={"keras": "a step that is no number belongs to no value there: 0"},
    ),
    Op("piecewise_constant", "of integers", [np.int32(7), [6], [3, 4]], expect=4),
    Program(
        "descend",
        "a rate of one goes to and fro",
        [np.float32(5), ONE, 5],
        expect=([1] * 5, [-5, 5, -5, 5, -5], 5),
    ),
    Program(
        "descend",
        "a rate that falls, the classic",
        [np.float32(5), ONE, 6, 2, 0.5],
        expect=([1, 1, 0.5, 0.5, 0.25, 0.25], [-5, 5, 0, 0, 0, 0], 6),
    ),
    Program(
        "descend",
        "any start",
        [uniform(low=-9, high=9), uniform(), 5, 3, np.float32(0.875)],
    ),
    Program(
        "descend",
        "resumed",
        [np.float32(8), ONE, 3, 2, 0.5],
        {"first_step": 3},
        expect=([0.5, 0.25, 0.25], [0, 0, 0], 6),
    ),
    Program(
        "descend",
        "no steps",
        [ONE, ONE, 0],
        {"first_step": 7},
        skip={"function": PLAIN},
    ),
    FalseFriend(
        "descend",
        "the rate made once, before the loop",
        [np.float32(5), np.float32(0.75), 4, 2, 0.5],
        of="program",
        naive=descend_at_a_rate,
        because="an eager rate is a number, which the global step leaves behind",
    ),
    Raises(
        "exponential_decay",
        "an integer rate",
        [np.int32(1), np.int32(5), 10, 0.5],
        graph=TypeError,
        eager=tf.errors.InvalidArgumentError,
        function=TypeError,
        match="float|double",
    ),
    *[
        Raises(
            name,
            "float64 is not for v1",
            [np.float64(1), np.int32(5), 10],
            graph=TypeError,
            match="float64 that does not match type float32",
            expect=half_way,
        )
        for name, half_way in [
            ("cosine_decay", 0.5),
            ("cosine_decay_restarts", 0.5),
            ("linear_cosine_decay", 0.251),
        ]
    ],
    Raises(
        "polynomial_decay",
        "cycles of float64 are not for v1",
        [np.float64(1), np.int32(5), 10, 0.0, 1.0, True],
        graph=TypeError,
        genuine=ValueError,
        match="float64",
        expect=0.5,
    ),
    Raises(
        "piecewise_constant",
        "a vector is not for v1",
        [np.int32([5, 15]), [10], [1.0, 0.5]],
        graph=ValueError,
        match="Shape must be rank 0",
        expect=[1, 0.5],
    ),
    Raises(
        "piecewise_constant",
        "no boundaries are not for v1",
        [np.int32(5), [], [1.0]],
        graph=IndexError,
        match="out of range",
        expect=1,
    ),
    Raises(
        "piecewise_constant",
        "boundaries that fall",
        [np.int32(5), [10, 3], [1.0, 0.5, 0.25]],
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match="more than 1 conditions",
    ),
    Raises(
        "piecewise_constant",
        "too few values",
        [np.int32(5), [10], [1.0]],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="length of boundaries should be 1 less",
    ),
    Raises(
        "piecewise_constant",
        "float boundaries of integers",
        [np.int32(5), [7.5], [1.0, 0.5]],
        graph=ValueError,
        eager=TypeError,
        function=TypeError,
        match="must have the same dtype|int32",
    ),
    Raises(
        "piecewise_constant",
        "integer boundaries of floats are not for v1",
        [np.float32(5), [7], [1.0, 0.5]],
        graph=ValueError,
        match="must have the same dtype",
        expect=1,
    ),
    Raises(
        "piecewise_constant",
        "values of two dtypes",
        [np.int32(5), [7], [np.float32(1), np.int32(2)]],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="same dtype",
    ),
]
PROOF = proof(v1, v2, CASES)


class LearningRatesTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class KerasTest(unittest.TestCase):
    """Checks where Keras' schedules differ from those of TensorFlow 1."""

    @parameterized.expand([("finite", 0.5, 1), ("infinite", np.inf, np.nan)])
    def test_constants_agree_if_finite(self, _, value, first):
        schedule = schedules.PiecewiseConstantDecay([10], [1.0, value])
        rates = [schedule(tf.constant(step)).numpy() for step in [10, 11]]
        np.testing.assert_array_equal(rates, [first, value])

    def test_no_steps_are_an_error_there(self):
        with self.assertRaisesRegex(ValueError, "decay_steps"):
            schedules.ExponentialDecay(1.0, 0, 0.5)

    def test_boundaries_that_fall_are_added_up(self):
        self.assertEqual(v3.piecewise_constant(5, [10, 3], [1.0, 0.5, 0.25]), 1.25)

    def test_a_schedule_of_ones_own_is_saved_with_its_model(self):
        data = np.ones([4, 2], "f"), np.ones([4, 1], "f")
        model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(1)])
        model.compile(tf.keras.optimizers.SGD(v3.LinearCosineDecay(0.5, 8)), "mse")
        model.fit(*data, epochs=3, verbose=0)
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/model.keras"
            model.save(path)
            loaded = tf.keras.models.load_model(path)
        rates = [float(m.optimizer.learning_rate) for m in (model, loaded)]
        self.assertEqual(rates, [float(v2.linear_cosine_decay(0.5, 3, 8))] * 2)

    @parameterized.expand([("natural_exp",), ("linear_cosine",)])
    def test_some_are_missing(self, name):
        self.assertFalse([n for n in dir(schedules) if name[:6] in n.lower()])


class MeaningTest(unittest.TestCase):
    def test_the_old_name_gives_a_function_when_eager(self):
        schedule = tf.compat.v1.train.exponential_decay(1.0, tf.constant(5), 5, 0.5)
        self.assertTrue(callable(schedule))
        self.assertEqual(schedule().numpy(), 0.5)

    @parameterized.expand([("number", int, 3), ("tensor", tf.constant, 1)])
    def test_a_step_in_python_is_traced_anew(self, _, kind, traces):
        rate = tf.function(lambda step: v2.exponential_decay(1.0, step, 1, 0.5))
        self.assertEqual([float(rate(kind(n))) for n in range(3)], [1, 0.5, 0.25])
        self.assertEqual(rate.experimental_get_tracing_count(), traces)

    def test_float32_counts_no_further_than_16_777_216(self):
        steps = tf.constant([2**24, 2**24 + 1, 2**24 + 2], tf.int64)
        stairs = v2.inverse_time_decay(1.0, steps, 1, 1.0, staircase=True)
        self.assertEqual(stairs[0], stairs[1])
        self.assertLess(stairs[2], stairs[1])

    def test_any_shape_of_steps_has_its_constants(self):
        steps = tf.constant([[10, 11], [20, 99]])
        rates = v2.piecewise_constant(steps, [10, 20], [1.0, 0.5, 0.25])
        np.testing.assert_array_equal(rates, [[1, 0.5], [0.5, 0.25]])
        np.testing.assert_array_equal(
            v2.piecewise_constant(steps, [], [2.0]), [[2, 2]] * 2
        )

    @parameterized.expand([("before", 2, 1), ("beyond", 11, 0.25)])
    def test_boundaries_that_fall_matter_around_the_step_alone(self, _, step, rate):
        args = step, [10, 3], [1.0, 0.5, 0.25]
        with legacy(), tf.compat.v1.Session() as sess:
            self.assertEqual(sess.run(v1.piecewise_constant(*args)), rate)
        self.assertEqual(v2.piecewise_constant(*args).numpy(), rate)

    def test_python_numbers_of_two_dtypes(self):
        args = 5, [10, 20], [1.0, 2, 3]
        with legacy(), self.assertRaisesRegex(ValueError, "same dtype"):
            v1.piecewise_constant(*args)
        with self.assertRaisesRegex(ValueError, "same dtype"):
            v2.piecewise_constant(*args)

    @parameterized.expand(
        [
            ("exponential_decay", [0.5], 0),
            ("natural_exp_decay", [0.5], 0),
            ("inverse_time_decay", [0.5], 0),
            ("polynomial_decay", [], np.nan),
            ("cosine_decay", [], np.nan),
            ("cosine_decay_restarts", [], np.nan),
            ("linear_cosine_decay", [], np.nan),
        ]
    )
    def test_no_steps_to_decay_in(self, name, rest, rate):
        args = ONE, np.int32(3), 0, *rest
        with legacy(), tf.compat.v1.Session() as sess:
            found = sess.run(getattr(v1, name)(*args))
        np.testing.assert_array_equal(found, rate)
        if name in ("exponential_decay", "natural_exp_decay", "linear_cosine_decay"):
            np.testing.assert_array_equal(getattr(v2, name)(*args), rate)
        else:
            with self.assertRaisesRegex(ValueError, "decay_steps"):
                getattr(v2, name)(*args)

    def test_float64_has_the_whole_of_pi(self):
        rate = v2.cosine_decay(tf.constant(1.0, tf.float64), 4, 8)
        self.assertEqual(rate.numpy(), 0.5)  # float32: 0.49999997
