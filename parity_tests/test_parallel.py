import contextlib
import inspect
import pathlib
import re
import subprocess
import sys
import textwrap
import unittest
from unittest import mock

import keras
import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from parity_tests.shorthand import refused
from tf1to2.parity import FalseFriend, Naive, Program, Raises, integers, normal
from tf1to2.parity.distance import same_bits
from tf1to2.parity.v1 import legacy
from v1_graph import parallel as v1
from v2_eager import parallel as v2
from v2_keras import parallel as v3

INVALID = tf.errors.InvalidArgumentError
POINTS = [normal(6), normal(6), normal(3, 1)]
BATCHES = [normal(4, 6), normal(4, 6), normal(3, 1)]
TOWERS = [normal(2, 6), normal(2, 6), normal(3, 1)]
ODD = [np.ones([2, 5], "f"), np.ones([2, 5], "f"), np.ones([3, 1], "f")]
BOTH = ["CPU:0", "CPU:1"]


def fit_by_keras(x, y, w, learning_rate=0.0625, share=1.0):
    """Fits by Keras; `share` multiplies a tower's loss in the loss of the batch."""
    strategy = v2.mirrored()
    with strategy.scope():
        weights = tf.Variable(w)
        optimizer = tf.keras.optimizers.SGD(learning_rate)

    def tower(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(v2.polynomial(x, weights) - y)) * share
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
        return loss

    batches = strategy.experimental_distribute_dataset(
        tf.data.Dataset.from_tensor_slices((x, y))
    )
    train = tf.function(lambda *batch: strategy.run(tower, batch))
    losses = [strategy.reduce("SUM", train(*batch), None).numpy() for batch in batches]
    return weights.numpy(), np.asarray(losses)


def uneven(name, slug, args, match="evenly"):
    return refused(name, slug, args, match, eager=INVALID)


def without_error_today(name, slug, args, expect):
    options = {"of": "program", "graph": ValueError, "match": "evenly"}
    return Raises(name, slug, args, expect=expect, **options)


CASES = [
    Program("processors", "two", [2], expect=BOTH, skip={"function": PLAIN}),
    Raises(
        "processors",
        "more, after the start",
        [3],
        of="program",
        eager=RuntimeError,
        function=RuntimeError,
        match="cannot be modified",
    ),
    Program(
        "add",
        "the classic, on the first",
        [np.float32([1, 2]), np.float32([10, 20]), 0],
        expect=([11, 22], "CPU:0"),
        skip={"function": PLAIN},
    ),
    Program(
        "add", "on the second", [normal(5, 3), normal(3), 1], skip={"function": PLAIN}
    ),
    Program(
        "add",
        "integers",
        [np.int32([1, 2]), np.int32(3), 1],
        expect=([4, 5], "CPU:1"),
        skip={"function": PLAIN},
    ),
    Raises(
        "add",
        "a device that is not there, which another stands in for",
        [np.float32(1), np.float32(2), 5],
        of="program",
        graph=INVALID,
        match="CPU:5",
        expect=(3, "CPU:0"),
        skip={"function": "a device is chosen in Python: nothing is traced"},
    ),
    Raises(
        "add",
        "sizes that do not broadcast",
        [np.ones(2, "f"), np.ones(3, "f"), 1],
        of="program",
        graph=ValueError,
        eager=INVALID,
        function=INVALID,
        match="Incompatible shapes|must be equal",
    ),
    Program(
        "nested_devices",
        "by hand",
        [np.float32([-3, 2])],
        expect=(
            [[9, 4], [3, -2], [10, 5], [3, 2]],
            ["CPU:1", "CPU:0", "CPU:1", "CPU:0"],
        ),
        exact=True,
        skip={"function": PLAIN},
    ),
    Program("nested_devices", "integers", [integers(3, 2)], skip={"function": PLAIN}),
    Raises(
        "nested_devices",
        "text",
        [np.array("two")],
        of="program",
        graph=TypeError,
        eager=INVALID,
        function=INVALID,
        match="string",
    ),
    Program(
        "device_function",
        "matrix",
        [normal(5, 3), normal(3, 2)],
        skip={"function": PLAIN},
    ),
    Program(
        "device_function",
        "by hand",
        [np.float32([[1, 2]]), np.float32([[3], [4]])],
        expect=([[11]], BOTH),
        skip={"function": PLAIN},
    ),
    Raises(
        "device_function",
        "sizes that do not match",
        [np.ones([5, 3], "f"), np.ones([2, 4], "f")],
        of="program",
        graph=ValueError,
        eager=INVALID,
        function=INVALID,
        match="[Dd]imensions must be equal|Matrix size-incompatible",
    ),
    Program(
        "add_in_halves",
        "by hand",
        [np.float32([1, 2, 3, 4]), np.float32([10, 20, 30, 40])],
        expect=([11, 22, 33, 44], BOTH),
    ),
    Program("add_in_halves", "matrices", [normal(6, 2), normal(6, 2)]),
    uneven("add_in_halves", "an odd number", [np.ones(3, "f"), np.ones(3, "f")]),
    Program("add_in_parallel", "one device", [normal(6), normal(6), 1]),
    Program("add_in_parallel", "two devices", [normal(6, 2), normal(6, 2), 2]),
    uneven("add_in_parallel", "an odd number", [np.ones(3, "f"), np.ones(3, "f"), 2]),
    Program("losses_and_gradient", "one device", [*POINTS, 1]),
    Program("losses_and_gradient", "two devices", [*POINTS, 2]),
    Program("losses_and_gradient", "two devices, not colocated", [*POINTS, 2, False]),
    Program(
        "losses_and_gradient",
        "by hand",
        [np.float32([0, 2]), np.float32([0, 1]), np.float32([[1], [1], [1]]), 2],
        expect=([1, 36], [[24], [12], [7]], BOTH),
        exact=True,
    ),
    Program(
        "losses_and_gradient",
        "by hand, not colocated",
        [np.float32([0, 2]), np.float32([0, 1]), np.float32([[1], [1], [1]]), 2, False],
        expect=([1, 36], [[24], [12], [7]], ["CPU:0", "CPU:0"]),
        exact=True,
    ),
    Program(
        "losses_and_gradient",
        "a thousand numbers",
        [normal(1000), normal(1000), normal(3, 1), 2],
    ),
    uneven(
        "losses_and_gradient",
        "an odd number",
        [*[row[0] for row in ODD[:2]], ODD[2], 2],
    ),
    Program("fit", "one device", [*BATCHES, 1]),
    Program("fit", "two devices", [*BATCHES, 2]),
    Program("fit", "another rate", [*BATCHES, 2], {"learning_rate": 0.5}),
    uneven("fit", "an odd number", [*ODD, 2]),
    FalseFriend(
        "fit_towers",
        "gradients summed by a Keras optimizer",
        TOWERS,
        {"learning_rate": 0.25},
        of="program",
        naive=fit_by_keras,
        because="it adds up the gradients of the towers, and does not divide",
    ),
    without_error_today(  # the errors are 2, then 1.25
        "fit_towers",
        "parts of two sizes today",
        ODD,
        ([[0.59375]] * 3, [4, 1.5625]),
    ),
    Program(
        "feed_towers",
        "what is left over is dropped",
        [np.arange(9, dtype="f"), 4],
        expect=[[[0, 1], [2, 3]], [[4, 5], [6, 7]]],
    ),
    Program("feed_towers", "rows", [normal(6, 3), 2]),
    without_error_today(
        "feed_towers",
        "parts of two sizes today",
        [np.arange(6, dtype="f"), 3],
        [[[0, 1], [2]], [[3, 4], [5]]],
    ),
    Program(
        "center",
        "by hand",
        [np.float32([1, 3, 5, 7])],
        expect=[-3, -1, 1, 3],
        exact=True,
    ),
    Program("center", "matrix", [normal(6, 2)]),
    Raises(
        "center",
        "an odd number",
        [np.ones(3, "f")],
        of="program",
        graph=ValueError,
        eager=INVALID,
        function=INVALID,
        match="evenly",
    ),
]


class Summed(keras.Sequential):
    """A custom step, as it is written for one device."""

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=y, y_pred=self(x, training=True))
        weights = [weight.value for weight in self.trainable_weights]
        gradients = tape.gradient(loss, weights)
        self.optimizer.apply(gradients, self.trainable_weights)
        return {"loss": loss}


NAIVE = [
    Naive(
        "fit_towers, gradients summed by a Keras optimizer",
        "in a train_step",
        mock.patch.object(keras, "Sequential", Summed)(v3.fit_towers),
        because="apply sums the gradients of the devices; fit divides the losses first",
    ),
]
PROOF = proof(v1, v2, CASES, NAIVE)


# tf.data never runs functions eagerly, and TensorFlow warns of that.
@pytest.mark.filterwarnings("ignore:Even though the .tf.config.experimental_run_func")
class ParallelTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class KerasTest(unittest.TestCase):
    def test_float64_is_trained_in_float64(self):
        rng = np.random.RandomState(0)
        line = [rng.standard_normal(shape) for shape in ([4, 6], [4, 6], [3, 1])]
        np.testing.assert_array_equal(v3.fit_towers(*line)[0], v2.fit_towers(*line)[0])


def classic(seed, n=100, dtype="f"):
    rng = np.random.RandomState(seed)
    x = rng.uniform(-10, 10, n)
    return [a.astype("f").astype(dtype) for a in (x, 5 * x * x + 3, rng.randn(3, 1))]


class PartialSumsTest(unittest.TestCase):
    """Compares two devices with one: where the bits differ, and why."""

    @parameterized.expand([("left", v1), ("right", v2)])
    def test_the_gradient_is_the_sum_of_two_and_the_losses_are_the_same(self, _, page):
        differ = 0
        for seed in range(5):
            x, y, w = classic(seed)
            with legacy() if page is v1 else contextlib.nullcontext():
                one, two, first, second = [
                    page.losses_and_gradient(x[part], y[part], w, devices)[:2]
                    for devices, part in [
                        (1, slice(None)),
                        (2, slice(None)),
                        (1, slice(50)),
                        (1, slice(50, None)),
                    ]
                ]
            np.testing.assert_array_equal(one[0], two[0])
            # The mean of a half divides by half as many: the factor is exactly 2.
            np.testing.assert_array_equal(two[1], (first[1] + second[1]) / 2)
            differ += (~same_bits(one[1], two[1])).sum()
        self.assertGreater(differ, 0)

    def test_rounded_from_float64_the_gradients_are_the_same(self):
        for seed in range(5):
            one, two = [
                v2.losses_and_gradient(*classic(seed, dtype="d"), n)[1] for n in (1, 2)
            ]
            np.testing.assert_array_equal(np.float32(one), np.float32(two))

    def test_sums_that_never_round_are_the_same(self):
        x, y, w = np.float32([1, 2, -3, 0.5]), np.float32([4, 3, 2, 1]), np.ones([3, 1])
        one, two = [v2.losses_and_gradient(x, y, np.float32(w), n)[:2] for n in (1, 2)]
        np.testing.assert_array_equal(one[0], two[0])
        np.testing.assert_array_equal(one[1], two[1])


class PlacementTest(unittest.TestCase):
    @parameterized.expand([(name,) for name in v2.__all__[1:]])
    def test_a_page_divides_the_processor_before_all_else(self, name):
        class Divided(Exception):
            pass

        page = getattr(v2, name)
        needed = [
            p
            for p in inspect.signature(page).parameters.values()
            if p.default is p.empty
        ]
        with mock.patch.object(v2, "processors", side_effect=Divided) as processors:
            with self.assertRaises(Divided):
                page(*[None for _ in needed])
        processors.assert_called_once_with(2)

    def test_the_log_tells_where_a_function_computes_its_gradients(self):
        code = """
            import numpy as np, tensorflow as tf
            from v2_eager.parallel import losses_and_gradient
            tf.debugging.set_log_device_placement(True)
            for colocate in True, False:
                x, w = np.ones(2, "f"), np.ones([3, 1], "f")
                losses_and_gradient(x, x, w, 2, colocate)
        """
        run = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            capture_output=True,
            text=True,
            check=True,
            cwd=pathlib.Path(v2.__file__).parents[1],
        )
        placed = re.findall(
            r"^(.*MatMul(?:_1)?): \(MatMul\): .*(CPU:\d)$", run.stdout, re.M
        )
        first, second = "MatMul", "MatMul_1"
        self.assertEqual(
            placed,
            [
                (first, "CPU:0"),
                (f"gradient_tape/{first}/MatMul", "CPU:0"),
                (second, "CPU:1"),
                (f"gradient_tape/{second}/MatMul", "CPU:1"),
                # Now with the gradients outside of the block.
                (first, "CPU:0"),
                (f"gradient_tape/{first}/MatMul", "CPU:0"),
                (second, "CPU:1"),
                (f"gradient_tape/{second}/MatMul", "CPU:0"),
            ],
        )

    def test_a_function_does_not_tell_where_its_results_were_made(self):
        asked = []

        @tf.function
        def negative(x):
            with tf.device("/CPU:1"):
                y = -x
            asked.append((y.device, tf.abs(y).device))
            return y

        self.assertIn("CPU:0", negative(tf.constant(1.0)).device)
        self.assertEqual(asked, [("/device:CPU:1", "")])

    def test_a_device_takes_no_function(self):
        with self.assertRaisesRegex(RuntimeError, "does not support functions"):
            with tf.device(lambda op: "/CPU:1"):
                tf.constant(1.0)

    def test_a_result_does_not_draw_what_follows_to_its_device(self):
        with tf.device("/CPU:1"):
            x = tf.constant(1.0)
        self.assertIn("CPU:1", x.device)
        self.assertIn("CPU:0", tf.abs(x).device)


class SizesTest(unittest.TestCase):
    def test_one_trace_takes_batches_of_any_size(self):
        v2.processors(2)
        weights = tf.Variable(np.ones([3, 1], "f"))

        @tf.function(input_signature=[tf.TensorSpec([None])] * 2)
        def gradient(x, y):
            return tf.add_n(v2.parallel_gradients(x, y, weights, 2)[1])

        for n in (2, 4):
            x = np.arange(n, dtype="f")
            expected = v2.losses_and_gradient(x, x, weights.numpy(), 2)[1]
            np.testing.assert_array_equal(gradient(x, x), expected)


class MirroredTest(unittest.TestCase):
    def setUp(self):
        self.strategy = v2.mirrored()
        with self.strategy.scope():
            self.w = tf.Variable(8.0, name="w")

    def copies(self, variable):
        return self.strategy.experimental_local_results(variable)

    def replica(self):
        context = tf.distribute.get_replica_context()
        return tf.cast(context.replica_id_in_sync_group, tf.float32)

    def test_a_variable_is_a_copy_on_each_device(self):
        copies = self.copies(self.w)
        self.assertEqual([v.name for v in copies], ["w:0", "w/replica_1:0"])
        self.assertEqual(v2.locate(*copies), BOTH)

    @parameterized.expand(
        [
            ("one_reduction", tf.distribute.ReductionToOneDevice()),
            ("hierarchical", tf.distribute.HierarchicalCopyAllReduce()),
        ]
    )
    def test_however_it_is_reduced_a_sum_of_two_is_the_same(self, _, operations):
        strategy = tf.distribute.MirroredStrategy(BOTH, operations)
        values = np.random.RandomState(1).standard_normal([2, 7]).astype("f")

        def add():
            context = tf.distribute.get_replica_context()
            part = tf.gather(values, context.replica_id_in_sync_group)
            return context.all_reduce("SUM", part)

        results = tf.function(
            lambda: strategy.experimental_local_results(strategy.run(add))
        )()
        self.assertEqual(len(results), 2)
        for result in results:
            np.testing.assert_array_equal(result, values[0] + values[1])

    def test_by_default_the_second_strategy_of_a_process_raises(self):
        """Both strategies number collectives from 100; the test has its own process."""
        code = """
            import numpy as np, tensorflow as tf
            cpu = tf.config.list_physical_devices("CPU")[0]
            two = [tf.config.LogicalDeviceConfiguration()] * 2
            tf.config.set_logical_device_configuration(cpu, two)
            values = np.random.RandomState(1).standard_normal([2, 7]).astype("f")

            def add(values):
                strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

                def one():
                    context = tf.distribute.get_replica_context()
                    part = tf.gather(values, context.replica_id_in_sync_group)
                    return context.all_reduce("SUM", part)

                run = tf.function(lambda: strategy.run(one))
                return strategy.experimental_local_results(run())

            for result in add(values):
                np.testing.assert_array_equal(result, values[0] + values[1])
            add(values)  # the same shape
            try:
                add(values[:, 0])
            except tf.errors.InvalidArgumentError as error:
                print(error.message)
        """
        run = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            capture_output=True,
            text=True,
            check=True,
            cwd=pathlib.Path(v2.__file__).parents[1],
        )
        self.assertIn("Shape mismatch in the collective instance 100", run.stdout)

    def test_without_gpus_a_strategy_takes_the_logical_processors(self):
        self.assertEqual(tf.distribute.MirroredStrategy().num_replicas_in_sync, 2)

    def test_a_device_that_is_not_there_is_another_one(self):
        strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:5"])
        x = tf.constant([4.0])
        results = strategy.experimental_local_results(strategy.run(lambda: x + 1))
        self.assertEqual(v2.locate(*results), ["CPU:0", "CPU:0"])

    @parameterized.expand([("alone", "NONE", [0, 1]), ("mean", "MEAN", [0.5, 0.5])])
    def test_assigned_in_a_replica_copies_drift_apart(self, _, aggregation, expected):
        with self.strategy.scope():
            w = tf.Variable(
                8.0, aggregation=getattr(tf.VariableAggregation, aggregation)
            )
        self.strategy.run(lambda: w.assign(self.replica()))
        self.assertEqual([v.numpy() for v in self.copies(w)], expected)
        self.assertEqual(w.numpy(), expected[0])

    def test_a_variable_of_nobody_is_updated_by_everybody(self):
        w = tf.Variable(8.0)
        self.strategy.run(lambda: w.assign_sub(1.0))
        self.assertEqual(w.numpy(), 6)

    def test_assigned_outside_all_copies_follow(self):
        self.w.assign_sub(1.0)
        self.assertEqual([v.numpy() for v in self.copies(self.w)], [7, 7])

    def test_keras_adds_up_what_the_replicas_find(self):
        with self.strategy.scope():
            optimizer = tf.keras.optimizers.SGD(0.125)

        @tf.function
        def descend():  # on the square of w, the same in both replicas
            optimizer.apply_gradients([(2 * self.w, self.w)])

        self.strategy.run(descend)
        self.assertEqual([v.numpy() for v in self.copies(self.w)], [4, 4])

    def test_keras_agrees_when_the_loss_is_divided_by_the_replicas(self):
        x, y, w = [a.astype("f") for a in np.random.RandomState(2).randn(3, 2, 6)]
        w = w.ravel()[:3, None]
        expected = v2.fit_towers(x, y, w)
        for ours, theirs in zip(fit_by_keras(x, y, w, share=0.5), expected):
            np.testing.assert_array_equal(ours, theirs)

    def distributed(self, n, batch):
        return self.strategy.experimental_distribute_dataset(
            tf.data.Dataset.range(n, output_type=tf.float32).batch(batch)
        )

    @parameterized.expand(
        [
            ("one_over", 7, 4, [[[0, 1], [2, 3]], [[4, 5], [6]]]),
            ("nothing_for_the_second", 5, 4, [[[0, 1], [2, 3]], [[4], []]]),
            ("an_odd_batch", 3, 3, [[[0, 1], [2]]]),
        ]
    )
    def test_what_is_left_over_is_divided_unevenly(self, _, n, batch, expected):
        parts = [self.copies(values) for values in self.distributed(n, batch)]
        parts = [[part.numpy().tolist() for part in pair] for pair in parts]
        self.assertEqual(parts, expected)

    @parameterized.expand([("seven", 7, [1.5, 5.25, 5]), ("five", 5, [1.5, np.nan, 4])])
    def test_the_mean_of_means_is_not_the_mean(self, _, n, expected):
        def mean(x):
            return tf.reduce_mean(x)

        def share(x):
            return tf.nn.compute_average_loss(x, global_batch_size=size)

        batches = list(self.distributed(n, 4))
        size = n - 4  # of the last one
        of_means = [
            self.strategy.reduce("MEAN", self.strategy.run(mean, (x,)), None).numpy()
            for x in batches
        ]
        by_share = self.strategy.run(share, (batches[-1],))
        by_share = self.strategy.reduce("SUM", by_share, None).numpy()
        over_all = self.strategy.reduce("MEAN", batches[-1], axis=0).numpy()
        np.testing.assert_array_equal([*of_means, by_share], expected)
        self.assertEqual(by_share, over_all)

    def test_a_replica_without_samples_halves_the_gradient(self):
        def tower(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(x * self.w)
            return loss, tape.gradient(loss, self.w)

        *_, last = self.distributed(5, 4)
        results = [self.copies(v) for v in self.strategy.run(tower, (last,))]
        np.testing.assert_array_equal(results, [[32, np.nan], [4, 0]])


class LegacyTest(unittest.TestCase):
    def test_without_reuse_the_second_device_has_no_variables(self):
        def model(x):
            return x * v1.tf.get_variable("w", [])

        with legacy():
            with self.assertRaisesRegex(ValueError, "already exists"):
                for part in v1.tf.split(tf.ones([2]), 2):
                    model(part)
        with legacy():
            v1.make_parallel(model, 2, x=tf.ones([2]))
            names = [v.name for v in v1.tf.global_variables()]
        self.assertEqual(names, ["w:0"])

    def test_a_get_next_for_each_tower_is_a_batch_for_each(self):
        with legacy(), v1.session() as sess:
            dataset = tf.data.Dataset.range(40).batch(2)
            iterator = v1.tf.data.make_one_shot_iterator(dataset)
            towers = [iterator.get_next() for _ in range(2)]
            for step in range(10):
                pair = sorted(batch.tolist() for batch in sess.run(towers))
                first = 4 * step
                self.assertEqual(pair, [[first, first + 1], [first + 2, first + 3]])

    def test_it_runs_where_it_was_asked_to_or_not_at_all(self):
        with legacy(), v1.tf.Session(config=v1.tf.ConfigProto()) as sess:
            with v1.tf.device(v1.device(1)):
                x = v1.tf.constant(1.0)
            with self.assertRaisesRegex(INVALID, "CPU:1"):
                sess.run(x)
