import os
import tempfile
import unittest

import keras
import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from tf1to2.parity import FalseFriend, Naive, Program, Raises, normal, uniform
from tf1to2.parity.v1 import legacy
from v1_graph import averages as v1
from v2_eager import averages as v2
from v2_eager import parallel
from v2_eager.numerics.averages import ExponentialMovingAverage, TensorAverage
from v2_keras import averages as v3

ZERO, VALUES = np.float32(0), np.float32([5, 10, 10])
NAME = "loss/ExponentialMovingAverage"
LINE = [normal("n", 3), normal("n", 2), normal(3, 2), normal(2)]


def follow_by_library(start, values, decay, num_updates=None):
    variable, count = tf.Variable(start), tf.Variable(0)
    averages = tf.train.ExponentialMovingAverage(
        decay, None if num_updates is None else count
    )
    history = [[start, start]]
    for i, value in enumerate(values):
        variable.assign(value)
        if num_updates is not None:
            count.assign(num_updates[i])
        averages.apply([variable])
        history.append([variable.numpy(), averages.average(variable).numpy()])
    return history


def train_by_keras(x, y, kernel, bias, steps, rate=0.125, decay=0.99):
    weights = [tf.Variable(kernel), tf.Variable(bias)]
    optimizer = tf.keras.optimizers.SGD(rate, use_ema=True, ema_momentum=decay)

    def loss():
        return tf.reduce_mean(tf.square(tf.matmul(x, weights[0]) + weights[1] - y))

    for _ in range(steps):
        with tf.GradientTape() as tape:
            value = loss()
        optimizer.apply_gradients(zip(tape.gradient(value, weights), weights))
    trained, trained_loss = [w.numpy() for w in weights], loss()
    optimizer.finalize_variable_values(weights)
    return {
        "loss": trained_loss.numpy(),
        "averaged_loss": loss().numpy(),
        "averaged": [w.numpy() for w in weights],
        "weights": trained,
    }


CASES = [
    Program(
        "follow",
        "the classic",
        [ZERO, VALUES, 0.99, [0, 1000, 1000]],
        expect=[[0, 0], [5, 4.5], [10, 4.555], [10, 4.60945]],
    ),
    Program("follow", "no count", [ZERO, VALUES, 0.99]),
    Program(
        "follow",
        "half",
        [np.float32(8), np.float32([4, 2, 1]), 0.5],
        expect=[[8, 8], [4, 6], [2, 4], [1, 2.5]],
        exact=True,
    ),
    Program("follow", "a low decay", [ZERO, VALUES, 0.25, [0, 3, 4]]),
    Program(
        "follow",
        "no values",
        [np.float32(3), np.float32([]), 0.5],
        expect=[[3, 3]],
        skip={"function": PLAIN},
    ),
    Program(
        "follow",
        "NaN stays",
        [ZERO, np.float32([np.nan, 1]), 0.5],
        expect=[[0, 0], [np.nan, np.nan], [1, np.nan]],
    ),
    Program("follow", "matrices", [normal("r", "c"), normal(4, "r", "c"), 0.9]),
    Program(
        "follow",
        "matrices with a count",
        [normal("r", "c"), normal(4, "r", "c"), 0.9, [1, 10, 100, 1000]],
    ),
    FalseFriend(
        "follow",
        "the library's averages, made at the first step",
        [ZERO, VALUES, 0.99, [0, 1000, 1000]],
        of="program",
        naive=follow_by_library,
        because="they begin at the value after the first step, not before it",
    ),
    Program(
        "smooth",
        "biased to zero",
        [np.float32([8, 8, 8]), 0.5],
        expect=([4, 6, 7], [NAME + ":0"]),
        exact=True,
    ),
    Program(
        "smooth",
        "debiased",
        [np.float32([8, 8, 8]), 0.5, True],
        expect=([8, 8, 8], [NAME + "/biased:0", NAME + "/local_step:0", NAME + ":0"]),
        exact=True,
    ),
    Program(
        "smooth", "no values", [np.zeros([0, 2], "f"), 0.5], skip={"function": PLAIN}
    ),
    Program("smooth", "any size", [normal(4, "n"), 0.9]),
    Program(
        "smooth", "any size, debiased", [normal(4, "n"), 0.9], {"zero_debias": True}
    ),
    Program("train", "any size", [*LINE, 3]),
    Program("train", "other numbers", [*LINE, 20], {"rate": 0.0625, "decay": 0.75}),
    FalseFriend(
        "train",
        "the averages of a Keras optimizer",
        [*LINE, 2],
        of="program",
        naive=train_by_keras,
        because="they begin at the weights after the first step, and know no count",
    ),
    Program("train", "untrained", [*LINE, 0]),
    Program("normalize", "any size", [normal(3, "b", "f")]),
    Program(
        "normalize",
        "other numbers",
        [uniform(3, "b", 2, low=1, high=9)],
        {"decay": 0.9, "epsilon": 0.001},
    ),
    Program(
        "names_to_restore",
        "outside of the scope",
        ["net", ["w", "b"]],
        expect={
            "net/w/ExponentialMovingAverage": "net/w",
            "net/b/ExponentialMovingAverage": "net/b",
            "net/steps": "net/steps",
        },
        skip={"function": PLAIN},
    ),
    Program(
        "names_to_restore",
        "inside of the scope, which comes twice",
        ["net/tower", ["w"]],
        {"inside": True},
        expect={
            "net/tower/net/tower/w/ExponentialMovingAverage": "net/tower/w",
            "net/tower/steps": "net/tower/steps",
        },
        skip={"function": PLAIN},
    ),
    Program(
        "names_to_restore",
        "another name",
        ["a", ["w", "b"]],
        {"name": "EMA"},
        skip={"function": PLAIN},
    ),
    Raises(
        "follow",
        "integers have no averages",
        [np.int32(0), np.int32([5, 10]), 0.5],
        of="program",
        graph=TypeError,
        eager=TypeError,
        function=TypeError,
        match="must be half, float, or double",
    ),
]
NAIVE = [
    Naive(
        "train, other numbers",
        "by use_ema",
        lambda *line, rate, decay: train_by_keras(*line, rate, decay),
        because="they begin at the weights after the first step, and know no count",
    )
]
PROOF = proof(v1, v2, CASES, NAIVE)


class AveragesTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class FalseFriendsTest(unittest.TestCase):
    """How TensorFlow 2's own `tf.train.ExponentialMovingAverage` differs."""

    def test_made_before_the_first_step_they_agree(self):
        variable, count = tf.Variable(ZERO), tf.Variable(0)
        averages = tf.train.ExponentialMovingAverage(0.99, count)
        averages.apply([variable])
        history = []
        for value, number in zip(VALUES, [0, 1000, 1000]):
            variable.assign(value)
            count.assign(number)
            averages.apply([variable])
            history.append(averages.average(variable).numpy())
        np.testing.assert_array_equal(history, np.float32([4.5, 4.555, 4.60945]))

    @parameterized.expand([("eager", False, 5), ("function", True, 3)])
    def test_where_they_begin_depends_on_the_trace(self, _, compiled, expected):
        variable = tf.Variable(1.0)
        averages = tf.train.ExponentialMovingAverage(0.5)

        def step():
            variable.assign(5.0)
            averages.apply([variable])

        (tf.function(step) if compiled else step)()
        self.assertEqual(averages.average(variable).numpy(), expected)

    def test_keras_begins_after_the_first_step(self):
        x = tf.Variable(8.0)
        optimizer = tf.keras.optimizers.SGD(0.125, use_ema=True, ema_momentum=0.5)
        averages, history = ExponentialMovingAverage(0.5).create([x]), []
        for _ in range(3):
            optimizer.apply_gradients([(2 * x, x)])
            averages.apply([x])
            history.append([v.numpy() for v in optimizer.variables if "aver" in v.name])
        np.testing.assert_array_equal(np.ravel(history), [6, 5.25, 4.3125])
        self.assertEqual(averages.shadows[0].numpy(), 4.5625)

    def test_checkpoints_do_not_see_them(self):
        module = tf.Module()
        module.averages = tf.train.ExponentialMovingAverage(0.5)
        module.averages.apply([tf.Variable(1.0)])
        self.assertEqual(module.variables, ())
        with self.assertRaisesRegex(ValueError, "trackable"):
            tf.train.Checkpoint(averages=module.averages)

    def test_they_take_no_tensors(self):
        averages = tf.train.ExponentialMovingAverage(0.5)
        with self.assertRaisesRegex(TypeError, "non-Variable tensors"):
            averages.apply([tf.constant(1.0)])


class KerasTest(unittest.TestCase):
    """The callback with weights of several dtypes, frozen weights, and several fits."""

    DATA = np.random.RandomState(0).standard_normal([2, 4, 3])

    def fit(self, dtype, *fits):
        dense = keras.layers.Dense(3, kernel_initializer="ones", dtype=dtype)
        norm = keras.layers.BatchNormalization(dtype=dtype)
        model = keras.Sequential([keras.Input([3], dtype=dtype), dense, norm])
        model.compile(keras.optimizers.SGD(0.125), "mse")
        averages = v3.Averages(0.75)
        for steps in fits:
            model.fit(
                *self.DATA, 4, steps, shuffle=False, verbose=0, callbacks=[averages]
            )
        return model, averages

    @parameterized.expand(["float64", "float32", "float16", "bfloat16"])
    def test_averages_have_the_dtype_of_the_weights(self, dtype):
        model, averages = self.fit(dtype, 2)
        self.assertEqual({shadow.dtype for shadow in averages.shadows}, {dtype})
        means = [w.numpy() for w in model.non_trainable_weights]
        averages.put()
        for weight, shadow in zip(model.trainable_weights, averages.shadows):
            np.testing.assert_array_equal(weight, shadow)
        for weight, before in zip(model.non_trainable_weights, means):
            np.testing.assert_array_equal(weight, before)

    def test_float64_is_trained_in_float64(self):
        line = [self.DATA[0], self.DATA[1, :, :2], self.DATA[0, :3, :2], np.ones(2)]
        pair, page = v2.train(*line, 3), v3.train(*line, 3)
        for name in ("weights", "averaged"):
            for left, right in zip(pair[name], page[name]):
                self.assertLess(np.abs(right - left).max(), 1e-14)

    def test_a_second_fit_goes_on(self):
        _, whole = self.fit("float32", 4)
        _, parts = self.fit("float32", 2, 2)
        for one, other in zip(whole.shadows, parts.shadows):
            np.testing.assert_array_equal(one, other)

    def test_a_second_model_is_followed_from_its_own_weights(self):
        averages, found = v3.Averages(0.75), []
        for _ in range(2):
            dense = keras.layers.Dense(3, kernel_initializer="ones")
            model = keras.Sequential([keras.Input([3]), dense])
            model.compile(keras.optimizers.SGD(0.125), "mse")
            model.fit(*self.DATA, 4, 2, shuffle=False, verbose=0, callbacks=[averages])
            found.append([shadow.numpy() for shadow in averages.shadows])
        for one, other in zip(*found):
            np.testing.assert_array_equal(one, other)

    def test_several_steps_per_execution_are_refused(self):
        model, averages = self.fit("float32", 1)
        model.compile(keras.optimizers.SGD(0.125), "mse", steps_per_execution=2)
        with self.assertRaisesRegex(ValueError, "steps_per_execution must be 1"):
            model.fit(*self.DATA, 4, 1, verbose=0, callbacks=[averages])

    def test_a_new_optimizer_counts_anew(self):
        model, averages = self.fit("float32", 3)
        for _ in range(2):
            before = averages.shadows[0].numpy()
            model.compile(keras.optimizers.SGD(0.125), "mse")
            model.fit(*self.DATA, 4, 1, verbose=0, callbacks=[averages])
            now = model.trainable_weights[0].numpy()
            expected = before - (before - now) * (1 - np.float32(2) / np.float32(11))
            np.testing.assert_array_equal(averages.shadows[0], expected)

    def test_what_was_frozen_is_followed_once_it_is_trained(self):
        dense = keras.layers.Dense(3, kernel_initializer="ones")
        norm, averages = keras.layers.BatchNormalization(), v3.Averages(0.75)
        model = keras.Sequential([keras.Input([3]), dense, norm])
        for trained in (False, True):
            dense.trainable = trained
            model.compile(keras.optimizers.SGD(0.125), "mse")
            model.fit(*self.DATA, 4, 1, verbose=0, callbacks=[averages])
        averages.put()
        weights = [norm.gamma, norm.beta, dense.kernel, dense.bias]
        for shadow, weight in zip(averages.shadows, weights, strict=True):
            np.testing.assert_array_equal(shadow, weight)
        self.assertNotEqual(dense.kernel.numpy().min(), 1)


class CheckpointTest(unittest.TestCase):
    def test_a_saver_s_file_goes_on_by_name(self):
        with legacy(), v1.tf.Session() as sess, tempfile.TemporaryDirectory() as path:
            w = v1.tf.get_variable("w", initializer=[0.0, 8.0])
            averages = v1.tf.train.ExponentialMovingAverage(0.5)
            with v1.tf.control_dependencies([v1.tf.assign(w, [2.0, 4.0])]):
                update = averages.apply([w])
            sess.run(v1.tf.global_variables_initializer())
            sess.run(update)
            file = v1.tf.train.Saver().save(sess, os.path.join(path, "model"))
            reader = tf.train.load_checkpoint(file)
            values = {
                n: reader.get_tensor(n) for n in reader.get_variable_to_shape_map()
            }
            sess.run(update)
            expected = sess.run(averages.average(w))
        w = tf.Variable([0.0, 0.0], name="w")
        averages = ExponentialMovingAverage(0.5).create([w])
        for variable in [w, *averages.variables]:
            variable.assign(values.pop(variable.name[:-2]))
        self.assertEqual(values, {})
        averages.apply([w])
        np.testing.assert_array_equal(averages.average(w), expected)
        np.testing.assert_array_equal(expected, [1.5, 5])

    def test_a_native_checkpoint_holds_the_shadows(self):
        w = tf.Variable([1.0, 2.0])
        averages = ExponentialMovingAverage(0.5).create([w])
        with tempfile.TemporaryDirectory() as path:
            file = tf.train.Checkpoint(averages=averages).write(path + "/model")
            other = tf.Variable([0.0, 0.0])
            fresh = ExponentialMovingAverage(0.5).create([other])
            status = tf.train.Checkpoint(averages=fresh).read(file)
            status.assert_consumed()
        np.testing.assert_array_equal(fresh.shadows[0], [1, 2])
        self.assertEqual(fresh.trainable_variables, ())

    def test_the_list_for_the_saver_has_what_was_never_averaged(self):
        with legacy():
            a, _ = v1.tf.get_variable("a", []), v1.tf.get_variable("b", [])
            averages = v1.tf.train.ExponentialMovingAverage(0.5)
            averages.apply([a])
            self.assertEqual(
                sorted(averages.variables_to_restore()),
                ["a/ExponentialMovingAverage", "b/ExponentialMovingAverage"],
            )
            names = [v.op.name for v in v1.tf.global_variables()]
            self.assertEqual(names, ["a", "b", "a/ExponentialMovingAverage"])

    def test_a_second_average_is_numbered(self):
        with legacy():
            a = v1.tf.get_variable("a", [])
            for suffix in ["", "_1"]:
                averages = v1.tf.train.ExponentialMovingAverage(0.5)
                averages.apply([a])
                name = averages.average(a).op.name
                self.assertEqual(name, "a/ExponentialMovingAverage" + suffix)


class LegacyTest(unittest.TestCase):
    """Surprising behaviour of TensorFlow 1's own `ExponentialMovingAverage`."""

    def test_variables_are_not_debiased(self):
        with legacy(), v1.tf.Session() as sess:
            a = v1.tf.Variable(0.0)
            averages = v1.tf.train.ExponentialMovingAverage(0.5, zero_debias=True)
            update = averages.apply([a])
            sess.run(v1.tf.global_variables_initializer())
            a.load(8.0, sess)
            sess.run(update)
            self.assertEqual(sess.run(averages.average(a)), 4)

    def test_an_update_made_outside_of_a_branch_always_runs(self):
        with legacy(), v1.tf.Session() as sess:
            x = v1.tf.placeholder(tf.float32, [])
            training = v1.tf.placeholder(tf.bool, [])
            averages = v1.tf.train.ExponentialMovingAverage(0.5)
            update = averages.apply([x])

            def updated():
                with v1.tf.control_dependencies([update]):
                    return v1.tf.identity(x)

            y = v1.tf.cond(training, updated, lambda: v1.tf.identity(x))
            sess.run(v1.tf.global_variables_initializer())
            sess.run(y, {x: 8.0, training: False})
            self.assertEqual(sess.run(averages.average(x)), 4)

    def test_the_decay_is_float32_even_of_float64(self):
        start, values = np.float64(0), np.float64([1])
        with legacy():
            expected = v1.follow(start, values, 0.99)[-1][1]
        self.assertEqual(v2.follow(start, values, 0.99)[-1][1], expected)
        self.assertEqual(expected, 1 - np.float64(np.float32(0.99)))
        self.assertNotEqual(expected, 1 - 0.99)


class ModuleTest(unittest.TestCase):
    @parameterized.expand([("biased", False, 1), ("debiased", True, 3)])
    def test_an_optimizer_leaves_the_average_of_a_tensor_alone(self, _, debias, count):
        average = TensorAverage([2], tf.float32, 0.5, debias)
        self.assertEqual(average.trainable_variables, ())
        self.assertEqual(len(average.variables), count)


class StrategyTest(unittest.TestCase):
    """Averages under a strategy with two replicas: one sees 0, the other 8."""

    def seen(self, make, update):
        self.strategy = strategy = parallel.mirrored()
        with strategy.scope():
            owner = make()
        values = tf.data.Dataset.from_tensor_slices(np.float32([0, 8])).batch(2)
        run = tf.function(lambda value: strategy.run(update, [owner, value]))
        for value in strategy.experimental_distribute_dataset(values):
            run(value)
        return owner

    @parameterized.expand([("biased", False, 2), ("debiased", True, 4)])
    def test_the_average_of_a_tensor_is_that_of_all_replicas(self, _, debias, expected):
        average = self.seen(
            lambda: TensorAverage([], tf.float32, 0.5, debias),
            lambda average, value: average.update(value[0]),
        )
        self.assertEqual(average.average.numpy(), expected)

    def test_the_average_of_a_variable_is_the_same_in_all_replicas(self):
        class Averaged(tf.Module):
            def __init__(self):
                super().__init__()
                self.variable = tf.Variable(0.0)
                self.averages = ExponentialMovingAverage(0.5).create([self.variable])

        def update(owner, value):
            all_of_it = tf.distribute.get_replica_context().all_reduce("SUM", value[0])
            owner.variable.assign_add(all_of_it)
            owner.averages.apply([owner.variable])

        (shadow,) = self.seen(Averaged, update).averages.shadows
        parts = self.strategy.experimental_local_results(shadow)
        self.assertEqual([part.numpy() for part in parts], [4, 4])


class MadeInFunctionTest(unittest.TestCase):
    def test_a_variable_without_a_value_has_no_average(self):
        averages, made = ExponentialMovingAverage(0.5), []

        @tf.function
        def step():
            if not made:
                made.append(tf.Variable(tf.ones([2])))
            averages.apply(made)

        with self.assertRaisesRegex(ValueError, "has no value yet"):
            step()


class RetraceTest(unittest.TestCase):
    @parameterized.expand([("tensors", tf.constant, 1), ("numbers", int, 3)])
    def test_a_count_in_python_is_traced_anew(self, _, kind, traces):
        x = tf.Variable(1.0)
        averages = ExponentialMovingAverage(0.5).create([x])
        update = tf.function(lambda count: averages.apply([x], count))
        for count in range(3):
            update(kind(count))
        self.assertEqual(update.experimental_get_tracing_count(), traces)


class DtypeTest(unittest.TestCase):
    def test_tensors_of_integers_have_no_averages(self):
        for make in (
            lambda: TensorAverage([], tf.int32, 0.5),
            lambda: v2.smooth(np.int32([5, 10]), 0.5),
        ):
            with self.assertRaisesRegex(TypeError, "must be half, float, or double"):
                make()

    def test_bfloat16_has(self):
        average = TensorAverage([], tf.bfloat16, 0.5)
        self.assertEqual(average.update(tf.constant(8, tf.bfloat16)), 4)
