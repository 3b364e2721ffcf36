import functools
import inspect
import os
import tempfile
import unittest

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests.hazards import found
from parity_tests.hazards.round_trips import assert_near
from v2_eager.numerics import optimizers, restore

NUMERICS = "v2_eager.numerics.optimizers."
RATE, DECAY = 0.25, 0.125
DESCENT = f"{NUMERICS}gradient_descent.GradientDescent"


def counter():
    """Makes a global step that stays 0; AdagradDA needs one besides its slots."""
    return tf.Variable(0, trainable=False, dtype=tf.int64, name="global_step")


CASES = [
    ("v2_eager.contrib_opt.MultitaskMomentum", lambda made: made(RATE, 0.5)),
    ("v2_eager.contrib_opt.RMSPropW", lambda made: made(DECAY, RATE, momentum=0.5)),
    (f"{NUMERICS}adam.AdaMax", lambda made: made(RATE)),
    (f"{NUMERICS}adam.Adam", lambda made: made(RATE)),
    (f"{NUMERICS}adam.LazyAdam", lambda made: made(RATE)),
    (f"{NUMERICS}adam.Nadam", lambda made: made(RATE)),
    (f"{NUMERICS}adaptive.Adadelta", lambda made: made(RATE)),
    (f"{NUMERICS}adaptive.Adagrad", lambda made: made(RATE)),
    (f"{NUMERICS}adaptive.RMSProp", lambda made: made(RATE, momentum=0.5)),
    (f"{NUMERICS}adaptive.RMSProp centered", lambda made: made(RATE, centered=True)),
    (f"{NUMERICS}gradient_descent.GradientDescent", lambda made: made(RATE)),
    (f"{NUMERICS}gradient_descent.Momentum", lambda made: made(RATE, 0.5)),
    (
        f"{NUMERICS}gradient_descent.Momentum by_Nesterov",
        lambda made: made(RATE, 0.5, use_nesterov=True),
    ),
    (f"{NUMERICS}lars.LARS", lambda made: made(RATE, 0.5, eeta=0.5)),
    (f"{NUMERICS}penalized.AdagradDA", lambda made: made(RATE, counter())),
    (f"{NUMERICS}penalized.Ftrl", lambda made: made(RATE)),
    (
        f"{NUMERICS}penalized.Ftrl with_shrinkage",
        lambda made: made(RATE, l2_shrinkage_regularization_strength=0.25),
    ),
    (
        f"{NUMERICS}penalized.ProximalAdagrad",
        lambda made: made(RATE, l1_regularization_strength=0.25),
    ),
    (
        f"{NUMERICS}penalized.ProximalGradientDescent",
        lambda made: made(RATE, l1_regularization_strength=0.25),
    ),
    (f"{NUMERICS}weight_decay.AdamW", lambda made: made(DECAY, RATE)),
    (f"{NUMERICS}weight_decay.MomentumW", lambda made: made(DECAY, RATE, 0.5)),
    ("v2_eager.optimizers.AdamWeightDecay", lambda made: made(RATE, DECAY, ["bias"])),
    ("v2_eager.training_recipes.BertAdam", lambda made: made(RATE, DECAY, ["bias"])),
]
ALLOWED = {
    f"{NUMERICS}base.Optimizer": "abstract: it has no kernel, and each class above is "
    "one of its subclasses",
}
DECAYS_ALL_ROWS = {  # also rows that are not looked up, as BERT's own optimizer
    "v2_eager.optimizers.AdamWeightDecay",
    "v2_eager.training_recipes.BertAdam",
}
MOVES_ALL_ROWS = {  # also rows of earlier steps, as 1.15.5's Adam
    f"{NUMERICS}adam.Adam",
    f"{NUMERICS}weight_decay.AdamW",
    *DECAYS_ALL_ROWS,
}
BY_ROWS = {  # its sparse step is the dense step of this other optimizer
    f"{NUMERICS}lars.LARS": lambda: optimizers.Momentum(RATE, 0.5),
}
WITHOUT_SLOTS = {
    f"{NUMERICS}gradient_descent.GradientDescent",
    f"{NUMERICS}penalized.ProximalGradientDescent",
}

IDS = [2, 0, 2]  # row 2 occurs twice, rows 1 and 3 do not occur
RANDOM = np.random.RandomState(0)
TABLE, KERNEL = RANDOM.normal(size=[4, 2]), RANDOM.normal(size=[2, 3])
ROWS, SLOPE = RANDOM.normal(size=[3, 2]), RANDOM.normal(size=[2, 3])


def class_of(name):
    path = name.partition(" ")[0]
    return found.classes()["module_optimizers"][path]


def made(name):
    return dict(CASES)[name](class_of(name))


class Model(tf.Module):
    """A table with a sparse gradient, a kernel with a dense one, a kernel with none."""

    def __init__(self, dtype="float32", start=1.0):
        super().__init__()
        self.table = tf.Variable(start * TABLE, dtype=dtype, name="table")
        self.kernel = tf.Variable(start * KERNEL, dtype=dtype, name="kernel")
        self.frozen = tf.Variable(start * KERNEL, dtype=dtype, name="frozen")
        self.trained = [self.table, self.kernel, self.frozen]

    def pairs(self, scale=1.0, copies=1):
        """Returns [(gradient, variable)]; repeats rows, multiplies the slope."""
        dtype = self.table.dtype
        rows = tf.constant(np.tile(scale * ROWS, [copies, 1]), dtype)
        rows = tf.IndexedSlices(rows, tf.constant(IDS * copies), tf.constant([4, 2]))
        slope = tf.constant(copies * scale * SLOPE, dtype)
        return list(zip([rows, slope, None], self.trained, strict=True))


def values(*modules):
    return [v.numpy() for module in modules for v in module.variables]


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def after_one_step(name, dtype="float32", make=made):
    model, optimizer = Model(dtype), make(name)
    optimizer.create_slots(model.trained)
    optimizer.apply_gradients(model.pairs())
    return model, optimizer


class SavedTest(unittest.TestCase):
    """Optimizers are saved, restored into fresh objects, and continue training."""

    @parameterized.expand(CASES)
    def test_by_a_checkpoint_it_goes_on_as_if_never_saved(self, name, _):
        model, optimizer = after_one_step(name)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            path = tf.train.Checkpoint(model=model, optimizer=optimizer).save(path)
            fresh, other = Model(start=2.0), made(name)
            other.create_slots(fresh.trained)
            saved = tf.train.Checkpoint(model=fresh, optimizer=other)
            status = saved.restore(path)
            status.assert_consumed().assert_existing_objects_matched()
        self.check_next_step(model, optimizer, fresh, other)

    @parameterized.expand(CASES)
    def test_by_names_it_goes_on_as_if_never_saved(self, name, _):
        model, optimizer = after_one_step(name)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            restore.save(path, restore.named(model, optimizer))
            fresh, other = Model(start=2.0), made(name)
            other.create_slots(fresh.trained)
            restore.by_name(path, restore.named(fresh, other))
        self.check_next_step(model, optimizer, fresh, other)

    def check_next_step(self, model, optimizer, fresh, other):
        before = values(model)
        for one, by in ((model, optimizer), (fresh, other)):
            by.apply_gradients(one.pairs(scale=0.5))
        self.assertFalse(np.array_equal(before[1], values(model)[1]))
        assert_same(values(fresh, other), values(model, optimizer))


class TwiceTest(unittest.TestCase):
    @parameterized.expand(CASES)
    def test_slots_that_are_made_twice_are_the_same_and_keep_their_values(
        self, name, _
    ):
        model, optimizer = after_one_step(name)
        variables, before = optimizer.variables, values(optimizer)
        more = tf.Variable([1.0], name="more")
        optimizer.create_slots(model.trained).create_slots([*model.trained, more])
        self.assertEqual(
            {v.ref() for v in variables} - {v.ref() for v in optimizer.variables}, set()
        )
        assert_same([v.numpy() for v in variables], before)
        slots = len(optimizer.slots[0])
        self.assertEqual(len(optimizer.variables) - len(variables), slots)
        self.assertEqual(slots == 0, name in WITHOUT_SLOTS)


class GradientsTest(unittest.TestCase):
    @parameterized.expand(CASES)
    def test_rows_that_come_twice_move_by_their_sum_and_others_do_not(self, name, _):
        model = after_one_step(name)[0]
        reference = BY_ROWS.get(name, lambda: made(name))()
        summed = tf.constant([ROWS[1], ROWS[0] + ROWS[2]], tf.float32)
        rows = tf.Variable(TABLE[[0, 2]], dtype=tf.float32, name="table")
        reference.apply_gradients([(summed, rows)])
        assert_near([model.table.numpy()[[0, 2]]], [rows.numpy()])
        share = 1 - RATE * DECAY if name in DECAYS_ALL_ROWS else 1
        others = np.float32(TABLE[[1, 3]] * share)
        assert_near([model.table.numpy()[[1, 3]]], [others])

    @parameterized.expand(CASES)
    def test_rows_of_an_earlier_step_move_on_only_by_the_optimizers_that_say_so(
        self, name, _
    ):
        model, optimizer = after_one_step(name)
        before = model.table.numpy()
        rows = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([1]), tf.constant([4, 2]))
        optimizer.apply_gradients([(rows, model.table)])
        moved = np.any(before != model.table.numpy(), axis=1).tolist()
        every = [True, True, True, name in DECAYS_ALL_ROWS]
        only = [False, True, False, False]
        self.assertEqual(moved, every if name in MOVES_ALL_ROWS else only)
        self.assertTrue(np.isfinite(np.concatenate(values(model), axis=None)).all())

    @parameterized.expand(CASES)
    def test_sparse_dense_and_none_beside_each_other_are_each_as_alone(self, name, _):
        model = after_one_step(name)[0]
        alone = Model()
        for gradient, variable in alone.pairs()[:2]:
            made(name).apply_gradients([(gradient, variable)])
        assert_same(values(model), values(alone))
        np.testing.assert_array_equal(model.frozen, np.float32(KERNEL))
        self.assertFalse(np.array_equal(model.kernel, np.float32(KERNEL)))

    @parameterized.expand(CASES)
    def test_without_any_gradient_it_raises_and_changes_nothing(self, name, _):
        model, optimizer = after_one_step(name)
        before = values(model, optimizer)
        with self.assertRaisesRegex(ValueError, r"No gradients provided.*kernel:0"):
            optimizer.apply_gradients([(None, model.kernel), (None, model.table)])
        assert_same(values(model, optimizer), before)

    @parameterized.expand(CASES)
    @pytest.mark.slow
    def test_a_function_is_traced_once_and_computes_the_same(self, name, _):
        model, optimizer = Model(), made(name)
        optimizer.create_slots(model.trained)
        step = tf.function(lambda: optimizer.apply_gradients(model.pairs()))
        step()
        self.assertEqual(step.experimental_get_tracing_count(), 1)
        assert_near(values(model), values(after_one_step(name)[0]))


class DtypesTest(unittest.TestCase):
    @parameterized.expand(CASES)
    def test_float64_is_computed_in_float64(self, name, _):
        model, optimizer = after_one_step(name, "float64")
        slots = {v.dtype for by_name in optimizer.slots for v in by_name.values()}
        self.assertEqual(slots - {tf.float64}, set())
        single = after_one_step(name)[0]
        assert_near(values(model), values(single), 2**-16)
        for one in values(model):
            if not np.array_equal(one, KERNEL):  # except the variable without gradient
                self.assertFalse(np.array_equal(one, np.float32(one)))


class LockingTest(unittest.TestCase):
    @parameterized.expand(
        [
            (case[0],)
            for case in CASES
            if "use_locking" in inspect.signature(class_of(case[0])).parameters
        ]
    )
    def test_the_kernel_gets_it(self, name):
        kind = class_of(name)
        for locking in (False, True):
            partial = functools.partial(kind, use_locking=locking)
            optimizer = dict(CASES)[name](partial)
            self.assertIs(optimizer.options["use_locking"], locking)


class ScaledTest(unittest.TestCase):
    """With a loss scale that is a power of two, all bits are equal."""

    @parameterized.expand(CASES)
    def test_a_step_of_a_scaled_loss_is_that_of_the_loss(self, name, _):
        found = []
        for wrap in (
            lambda made: made,
            lambda made: optimizers.LossScale(made, optimizers.FixedLossScale(8.0)),
            lambda made: optimizers.MixedPrecisionLossScale(
                made, optimizers.DynamicLossScale(1024.0)
            ),
        ):
            model, optimizer = Model(), wrap(made(name))
            optimizer.create_slots([model.kernel])
            optimizer.minimize(
                lambda m=model: tf.reduce_sum(m.kernel * SLOPE), [model.kernel]
            )
            found.append(values(model))
        assert_same(found[1], found[0])
        assert_same(found[2], found[0])
        self.assertFalse(np.array_equal(found[0][1], np.float32(KERNEL)))

    @parameterized.expand(CASES)
    def test_an_infinite_gradient_leaves_the_step_out(self, name, _):
        model, inner = after_one_step(name)
        scale = optimizers.DynamicLossScale(1024.0)
        optimizer = optimizers.MixedPrecisionLossScale(inner, scale)
        before = values(model, inner)
        (rows, table), (slope, kernel), frozen = model.pairs()
        optimizer.apply_gradients([(rows, table), (slope / 0, kernel), frozen])
        assert_same(values(model, inner), before)
        self.assertEqual(scale.loss_scale.numpy(), 512)


class ReplicasTest(unittest.TestCase):
    """In `strategy.run` of two replicas, a step uses the sum of their gradients."""

    def setUp(self):
        self.strategy = tf.distribute.MirroredStrategy(
            ["CPU:0", "CPU:1"], tf.distribute.ReductionToOneDevice()
        )

    def replica(self):
        return tf.distribute.get_replica_context().replica_id_in_sync_group

    def copies(self, *modules):
        """Returns the values in each replica: two lists of arrays."""
        both = [
            self.strategy.experimental_local_results(variable)
            for module in modules
            for variable in module.variables
        ]
        return [[copy.numpy() for copy in side] for side in zip(*both, strict=True)]

    def made(self, name, make=made):
        with self.strategy.scope():
            model, optimizer = Model(), make(name)
            optimizer.create_slots(model.trained)
        return model, optimizer

    @parameterized.expand(CASES)
    def test_copies_are_equal_and_those_of_one_step_by_the_sum(self, name, _):
        model, optimizer = self.made(name)
        for _ in range(2):
            self.strategy.run(lambda: optimizer.apply_gradients(model.pairs()))
        alone = Model()
        reference = made(name).create_slots(alone.trained)
        for _ in range(2):
            reference.apply_gradients(alone.pairs(copies=2))
        first, second = self.copies(model, optimizer)
        assert_same(first, second)
        assert_same(first, values(alone, reference))

    @parameterized.expand([("dense", 1), ("sparse", 0)])
    def test_replicas_whose_gradients_differ_stay_equal(self, _, which):
        model, optimizer = self.made(DESCENT)

        @tf.function
        def step():
            def replica():
                scales = tf.constant([1.0, 3.0])
                scale = tf.gather(scales, self.replica())
                gradient, variable = model.pairs()[which]
                optimizer.apply_gradients([(scaled(gradient, scale), variable)])

            self.strategy.run(replica)

        step()
        alone = Model()
        gradient, variable = alone.pairs()[which]
        total = scaled(tf.convert_to_tensor(gradient), 4.0)
        optimizers.GradientDescent(RATE).apply_gradients([(total, variable)])
        first, second = self.copies(model)
        assert_same(first, second)
        assert_near(first, values(alone))

    @parameterized.expand([("dense", 1), ("sparse", 0)])
    def test_a_gradient_from_outside_of_run_is_summed_too(self, _, which):
        model, optimizer = self.made(DESCENT)
        pair = model.pairs()[which]
        self.strategy.run(lambda: optimizer.apply_gradients([pair]))
        alone = Model()
        made(DESCENT).apply_gradients([alone.pairs(copies=2)[which]])
        for side in self.copies(model):
            assert_same(side, values(alone))

    def test_what_is_reduced_already_is_not_summed_again(self):
        model, optimizer = self.made(f"{NUMERICS}adam.Adam")

        def replica():
            context = tf.distribute.get_replica_context()
            slope = (1.0 + tf.cast(self.replica(), tf.float32)) * tf.ones([2, 3])
            mean = context.all_reduce("MEAN", slope)
            optimizer.apply_gradients([(mean, model.kernel)], aggregate=False)

        self.strategy.run(replica)
        alone, reference = Model(), made(f"{NUMERICS}adam.Adam")
        reference.apply_gradients([(1.5 * tf.ones([2, 3]), alone.kernel)])
        for side in self.copies(model):
            assert_same(side, values(alone))

    @parameterized.expand(
        [
            (
                "LossScale",
                lambda made: optimizers.LossScale(
                    made, optimizers.ExponentialUpdateLossScale(8.0, 9, 1)
                ),
            ),
            (
                "MixedPrecisionLossScale",
                lambda made: optimizers.MixedPrecisionLossScale(
                    made, optimizers.DynamicLossScale(8.0)
                ),
            ),
        ]
    )
    def test_an_infinite_gradient_of_one_replica_leaves_the_step_out_in_both(
        self, _, wrap
    ):
        model, optimizer = self.made(
            f"{NUMERICS}adam.Adam", lambda name: wrap(made(name))
        )
        before = self.copies(model, optimizer.optimizer)
        step = tf.Variable(0)  # outside of the scope, so it cannot be the global_step

        @tf.function
        def take(slopes):
            def replica():
                slope = tf.gather(slopes, self.replica()) * tf.ones([2, 3])
                optimizer.apply_gradients([(slope, model.kernel)])

            self.strategy.run(replica)
            step.assign_add(1)

        take(tf.constant([1.0, np.inf]))
        assert_same(sum(self.copies(model, optimizer.optimizer), []), sum(before, []))
        take(tf.constant([1.0, 2.0]))
        first, second = self.copies(model, optimizer)
        assert_same(first, second)
        alone, reference = Model(), made(f"{NUMERICS}adam.Adam")
        reference.apply_gradients([(3.0 * tf.ones([2, 3]), alone.kernel)])
        assert_same(self.copies(model)[0], values(alone))
        self.assertLess(optimizer.manager.loss_scale.numpy(), 8)

    def test_averages_follow_in_each_replica(self):
        name = DESCENT
        model, optimizer = self.made(
            name, lambda name: optimizers.MovingAverage(made(name), 0.5)
        )
        pairs = model.pairs
        self.strategy.run(lambda: optimizer.apply_gradients(pairs()))
        alone, reference = Model(), optimizers.MovingAverage(made(name), 0.5)
        reference.create_slots(alone.trained)
        reference.apply_gradients(alone.pairs(copies=2))
        for side in self.copies(model, optimizer):
            assert_same(side, values(alone, reference))


class RefusedTest(unittest.TestCase):
    """Tests uses that raise, because replicas would drift apart or count twice."""

    def setUp(self):
        self.strategy = tf.distribute.MirroredStrategy(
            ["CPU:0", "CPU:1"], tf.distribute.ReductionToOneDevice()
        )
        with self.strategy.scope():
            self.inside = tf.Variable([1.0, 2.0], name="inside")
        self.outside = tf.Variable([1.0, 2.0], name="outside")

    def take(self, optimizer, variable, *more):
        slope = tf.ones_like(variable)
        self.strategy.run(lambda: optimizer.apply_gradients([(slope, variable)], *more))

    def check_unchanged(self, variable):
        for copy in self.strategy.experimental_local_results(variable):
            np.testing.assert_array_equal(copy, [1, 2])

    @parameterized.expand(
        [
            ("slots", lambda: optimizers.Adam(RATE)),
            ("averages", lambda: optimizers.MovingAverage(made(DESCENT))),
        ]
    )
    def test_what_is_missing_in_a_replica_is_not_made_there(self, what, make):
        for run in (lambda f: f, tf.function):
            match = f"The {what} are missing: call create_slots"
            with self.assertRaisesRegex(ValueError, match):
                run(lambda: self.take(make(), self.inside))()
            self.check_unchanged(self.inside)

    @parameterized.expand(
        [("Adam", optimizers.Adam), ("GradientDescent", optimizers.GradientDescent)]
    )
    def test_a_variable_of_another_scope(self, _, kind):
        with self.assertRaisesRegex(
            ValueError, "outside:0 was not created in the scope"
        ):
            self.take(kind(RATE), self.outside)
        self.check_unchanged(self.outside)

    def test_slots_of_another_scope(self):
        with self.assertRaisesRegex(
            ValueError, "inside:0 was not created in the scope"
        ):
            optimizers.Adam(RATE).create_slots([self.inside])
        with self.strategy.scope():
            with self.assertRaisesRegex(
                ValueError, "outside:0 was not created in the scope"
            ):
                optimizers.Adam(RATE).create_slots([self.outside])

    def test_a_global_step_of_another_scope(self):
        with self.assertRaisesRegex(
            ValueError, "global_step:0 was not created in the scope"
        ):
            self.take(made(DESCENT), self.inside, counter())
        self.check_unchanged(self.inside)

    def test_a_step_outside_of_run(self):
        pairs = [(tf.ones([2]), self.inside)]
        with self.assertRaisesRegex(ValueError, "run steps in `strategy.run`"):
            made(DESCENT).apply_gradients(pairs)
        with self.strategy.scope():
            with self.assertRaisesRegex(
                RuntimeError, "step must run in `strategy.run`"
            ):
                made(DESCENT).apply_gradients(pairs)
        self.check_unchanged(self.inside)

    def test_a_variable_that_sums_what_replicas_assign(self):
        with self.strategy.scope():
            sums = tf.Variable([1.0, 2.0], aggregation=tf.VariableAggregation.SUM)
        with self.assertRaisesRegex(ValueError, "without aggregation=SUM"):
            self.take(made(DESCENT), sums)
        self.check_unchanged(sums)


def scaled(gradient, scale):
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(
            gradient.values * scale, gradient.indices, gradient.dense_shape
        )
    return gradient * scale
