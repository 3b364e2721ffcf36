import functools
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof, shorthand
from parity_tests.contrib import CONTRIB
from tf1to2.parity import Program
from v1_graph import contrib_opt as v1
from v2_eager import contrib_opt as v2
from v2_eager.numerics import optimizers

WIDTH = {"table": [400, 6], "kernel": [6, 3], "bias": [3]}


def drawn(random, shapes):
    return {n: random.normal(size=shape).astype("f") for n, shape in shapes.items()}


def texts(seed=0):
    """Returns word ids, some repeated in a text, classes, and initial weights."""
    random = np.random.RandomState(seed)
    start = drawn(random, WIDTH)
    return [
        random.randint(350, size=[4, 64, 5]),
        random.randint(3, size=[4, 64]),
        start,
    ]


def line(seed=0, features=5, units=2):
    random = np.random.RandomState(seed)
    x = random.normal(size=[67, features])
    y = x @ random.normal(size=[features, units]) + 1
    start = drawn(random, {"kernel": [features, units], "bias": [units]})
    return [x.astype("f"), y.astype("f"), start]


def halves(seed=0):
    x, y, start = line(seed)
    return [x.astype(np.float16), y.astype(np.float16), start]


def tasks(seed=0):
    random = np.random.RandomState(seed)
    targets = drawn(random, {"age": [67, 1], "name": [67, 4]})
    shapes = {"shared": [5, 6], "age": [6, 1], "name": [6, 4]}
    present = {"age": [1.0, 0.0, 1.0, 0.0, 0.0], "name": [1.0, 1.0, 0.0, 1.0, 0.0]}
    x = random.normal(size=[67, 5]).astype("f")
    return [x, targets, present, drawn(random, shapes)]


program = functools.partial(Program, skip=CONTRIB)
friend = functools.partial(shorthand.friend, skip=CONTRIB)
refused = functools.partial(shorthand.refused, skip=CONTRIB)


# --- Obvious replacements, with other numbers.


def with_another(page, **names):
    """Returns the page with other classes in place of its optimizers."""

    def naive(*args, **kwargs):
        with mock.patch.multiple(optimizers, **names):
            return page(*args, **kwargs)

    return naive


class KerasAdamW(optimizers.AdamW):
    """Multiplies the weight decay by the rate, as AdamW of Keras and PyTorch do."""

    def __init__(self, weight_decay, learning_rate):
        super().__init__(weight_decay * learning_rate, learning_rate)


class Halved(optimizers.ExponentialUpdateLossScale):
    """Halves the scale after one overflow, as Keras' `LossScaleOptimizer` does."""

    def __init__(self, init_loss_scale, incr_every_n_steps):
        super().__init__(init_loss_scale, incr_every_n_steps, 1, 2, 0.5)


def momentum_of_zeros(x, targets, present, start, clip_norm):
    with mock.patch.object(v2, "MultitaskMomentum", optimizers.Momentum):
        return v2.fit_tasks(x, targets, present, start, clip_norm)


def saved_as_they_are(*args):
    """Saves the weights themselves, and the averages under their own names."""
    with mock.patch.object(optimizers.MovingAverage, "swapped", lambda self, v: v):
        return v2.fit_averaged(*args)


HYPER = {
    "AdamW": {"weight_decay": 0.01, "learning_rate": 0.01},
    "LazyAdam": {"learning_rate": 0.01},
    "LARS": {"learning_rate": 2.0, "weight_decay": 0.01, "skip_list": ["bias"]},
    "Nadam": {"learning_rate": 0.01},
    "RMSPropW": {"weight_decay": 0.02, "learning_rate": 0.01, "momentum": 0.5},
}
GROWING = {"init_loss_scale": 1024.0, "incr_every_n_steps": 2}
TOO_LARGE = {"init_loss_scale": 65536.0, "incr_every_n_steps": 3}

CASES = [
    *(
        program("fit", name, [*texts(i), name, HYPER[name]])
        for i, name in enumerate(HYPER)
    ),
    program(
        "fit",
        "some decay",
        [*texts(5), "AdamW", HYPER["AdamW"]],
        {"decayed": ["kernel"]},
    ),
    program(
        "fit",
        "LARS by Nesterov",
        [*texts(6), "LARS", {"learning_rate": 1.0, "use_nesterov": True}],
    ),
    friend(
        "fit",
        "Adam of a table",
        [*texts(1), "LazyAdam", HYPER["LazyAdam"]],
        with_another(v2.fit, LazyAdam=optimizers.Adam),
        "LazyAdam leaves the rows that were not looked up alone",
    ),
    friend(
        "fit",
        "a decay times the rate",
        [*texts(), "AdamW", HYPER["AdamW"]],
        with_another(v2.fit, AdamW=KerasAdamW),
        "contrib's decay is not multiplied by the learning rate",
    ),
    program("train_scaled", "a fixed scale", [*line(), 4, 0.125, 128.0]),
    program("train_scaled", "a scale that grows", [*line(1), 5, 0.125, GROWING]),
    program(
        "train_scaled",
        "halves that overflow",
        [*halves(2), 12, 0.125, TOO_LARGE],
        float32=True,
    ),
    program(
        "train_scaled",
        "a fixed scale that is too large",
        [*halves(3), 3, 0.125, 1e5],
        float32=True,
    ),
    friend(
        "train_scaled",
        "a scale that is halved at once",
        [*halves(2), 12, 0.125, TOO_LARGE],
        with_another(v2.train_scaled, ExponentialUpdateLossScale=Halved),
        "contrib waits for a second bad step, then multiplies by 0.8",
        float32=True,
    ),
    program("fit_averaged", "ten steps", [*line(), 10, 0.125, 0.75]),
    program(
        "fit_averaged",
        "fast in early steps",
        [*line(1), 10, 0.125, 0.999],
        {"counted": True},
    ),
    friend(
        "fit_averaged",
        "what is saved by itself",
        [*line(2), 10, 0.125, 0.75],
        saved_as_they_are,
        "a swapping saver saves the averages under the names of the weights",
    ),
    program("fit_tasks", "each of them missing", [*tasks(), 1e6]),
    program("fit_tasks", "clipped", [*tasks(1), 0.25]),
    friend(
        "fit_tasks",
        "momentum of zeros",
        [*tasks(), 1e6],
        momentum_of_zeros,
        "a gradient of zeros moves weights by what is left of their momentum",
    ),
    program("minimize_externally", "unbounded", [*line(), 6]),
    program("minimize_externally", "bounded", [*line(1), 6], {"bounds": (-0.5, 0.75)}),
    refused(
        "train_scaled",
        "a scale below 1",
        [*line(), 1, 0.125, 0.5],
        "loss scale must be at least 1",
    ),
    refused(
        "fit",
        "a negative decay",
        [*texts(), "LARS", {"learning_rate": 1.0, "weight_decay": -0.1}],
        "weight_decay should be positive: -0.1",
    ),
]
PROOF = proof(v1, v2, CASES)


class ContribOptTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class LarsTest(unittest.TestCase):
    def steps(self, rate, momentum, **options):
        """Returns the weights after each of three steps; a variable rate is halved."""
        variable, global_step = tf.Variable([3.0, 4.0], name="w"), tf.Variable(0)
        optimizer, weights = optimizers.LARS(rate, momentum, **options), []
        for _ in range(3):
            gradient = tf.constant([1.0, -2.0])
            optimizer.apply_gradients([(gradient, variable)], global_step)
            if isinstance(rate, tf.Variable):
                rate.assign(rate / 2)
            weights.append(variable.numpy())
        return weights

    @parameterized.expand([("trusted", []), ("left out", ["w"])])
    def test_a_rate_may_be_a_schedule_or_a_variable(self, _, names):
        options = {"skip_list": names}
        schedule = tf.keras.optimizers.schedules.ExponentialDecay(2.0, 1, 0.5)
        np.testing.assert_array_equal(
            self.steps(schedule, lambda: 0.5, **options),
            self.steps(tf.Variable(2.0), 0.5, **options),
        )


class LossScaleTest(unittest.TestCase):
    def test_a_scale_that_would_be_infinite_stays(self):
        manager = optimizers.ExponentialUpdateLossScale(3e38, 1)
        manager.update(True)
        self.assertEqual(manager.loss_scale.numpy(), np.float32(3e38))

    def test_a_scale_is_never_below_1(self):
        manager = optimizers.ExponentialUpdateLossScale(1.1, 9, 1)
        manager.update(False)
        self.assertEqual(manager.loss_scale.numpy(), 1)

    def test_good_steps_are_in_a_row_and_bad_ones_need_not_be(self):
        manager = optimizers.ExponentialUpdateLossScale(8.0, 3, 2, 2, 0.5)
        scales = []
        for finite in (True, True, False, True, True, False, True, True, True):
            manager.update(finite)
            scales.append(manager.loss_scale.numpy())
        self.assertEqual(scales, [8, 8, 8, 8, 8, 4, 4, 4, 8])

    def test_rows_of_a_table_become_a_gradient_of_all(self):
        table = tf.Variable(tf.ones([3, 2]))
        optimizer = optimizers.LossScale(
            optimizers.LazyAdam(0.1), optimizers.FixedLossScale(8.0)
        )
        _, pairs = optimizer.differentiate(
            lambda: tf.reduce_sum(tf.gather(table, [1, 1])), [table]
        )
        self.assertEqual(pairs[0][0].numpy().tolist(), [[0, 0], [2, 2], [0, 0]])

    def test_gradients_can_be_clipped_before_they_are_applied(self):
        variable = tf.Variable(3.0)
        optimizer = optimizers.LossScale(
            optimizers.GradientDescent(0.5), optimizers.FixedLossScale(8.0)
        )
        pairs = optimizer.compute_gradients(lambda: variable**2, [variable])
        self.assertEqual(pairs[0][0].numpy(), 6)
        optimizer.apply_gradients([(tf.minimum(g, 1.0), v) for g, v in pairs])
        self.assertEqual(variable.numpy(), 2.5)

    @parameterized.expand(["LossScale", "MovingAverage"])
    def test_averages_and_a_scale_go_around_each_other(self, outer):
        variable, scale = tf.Variable(3.0), optimizers.FixedLossScale(8.0)
        optimizer = optimizers.GradientDescent(0.5)
        if outer == "LossScale":
            averaging = optimizers.MovingAverage(optimizer, 0.5)
            optimizer = optimizers.LossScale(averaging, scale)
        else:
            optimizer = optimizers.LossScale(optimizer, scale)
            averaging = optimizer = optimizers.MovingAverage(optimizer, 0.5)
        pairs = optimizer.compute_gradients(lambda: variable**2, [variable])
        self.assertEqual(pairs[0][0].numpy(), 6)
        optimizer.minimize(lambda: variable**2, [variable])
        self.assertEqual(variable.numpy(), 0)
        self.assertEqual(averaging.averages.average(variable).numpy(), 1.5)

    def test_what_has_no_gradient_raises(self):
        variables = [tf.Variable(1.0), tf.Variable(1.0)]
        optimizer = optimizers.LossScale(
            optimizers.GradientDescent(0.1), optimizers.FixedLossScale(8.0)
        )
        with self.assertRaisesRegex(ValueError, "None"):
            optimizer.minimize(lambda: 2 * variables[0], variables)


class MultitaskTest(unittest.TestCase):
    def test_rows_that_add_up_to_nothing_wait(self):
        table = tf.Variable([[1.0], [2.0]])
        optimizer = v2.MultitaskMomentum(1.0, 0.5)
        for values in ([[2.0], [1.0]], [[3.0], [-3.0]]):
            gradient = tf.IndexedSlices(tf.constant(values), tf.constant([1, 1]))
            optimizer.apply_gradients([(gradient, table)])
        self.assertEqual(table.numpy().tolist(), [[1], [-1]])
