import functools
import importlib
import inspect
import pathlib
import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

import parity_tests.numerics
from parity_tests import proof
from v1_graph import numerics as v1
from v2_eager import numerics as v2
from v2_eager.numerics import (
    averages,
    batch_norms,
    canned,
    initializers,
    layers,
    losses,
    metrics,
    norms,
    optimizers,
    quantization,
    recurrences,
    restore,
    rnn,
)

LIBRARY = pathlib.Path(v2.__file__).parent
KINDS = [
    path.stem
    for path in sorted(pathlib.Path(parity_tests.numerics.__file__).parent.glob("*.py"))
    if path.stem != "__init__"
]
HELPERS = {
    *("ClassHead", "Counts", "CountsAtK", "GridHalf", "Head", "Image", "Layer", "Norm")
}
"""Classes that metrics, layers, norms, cells and heads share, and that are none."""


def described(kind):
    return importlib.import_module(f"parity_tests.numerics.{kind}")


DESCRIPTORS = {
    f"{kind}.{name}": cases
    for kind in KINDS
    for name, cases in described(kind).DESCRIPTORS.items()
}
CASES = [case for kind in KINDS for case in getattr(described(kind), "MORE", [])]
for cases in DESCRIPTORS.values():
    if not isinstance(cases, str):
        CASES += [case for case in cases if case not in CASES]
PROOF = proof(v1, v2, CASES)


class NumericsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class DescriptorsTest(unittest.TestCase):
    """Every public name is proven, and every proven name exists."""

    def kinds(self):
        """Returns {kind: its module}; a kind is a module or a package."""
        stems = {path.stem for path in LIBRARY.glob("[a-z]*")}
        return {
            stem: importlib.import_module(f"v2_eager.numerics.{stem}") for stem in stems
        }

    def test_every_public_name_has_a_descriptor_and_every_descriptor_a_name(self):
        public = {
            f"{kind}.{name}"
            for kind, module in self.kinds().items()
            for name in module.__all__
        }
        self.assertEqual(public, set(DESCRIPTORS))

    def test_no_class_is_left_out(self):
        for kind, module in self.kinds().items():
            files = (LIBRARY / kind).glob("[a-z]*.py")
            names = [module.__name__, *(f"{module.__name__}.{f.stem}" for f in files)]
            own = {
                name
                for part in map(importlib.import_module, names)
                for name, value in vars(part).items()
                if inspect.isclass(value) and value.__module__ == part.__name__
            }
            self.assertEqual(own - set(module.__all__) - HELPERS, set())

    def test_what_is_proven_elsewhere_is(self):
        for pair in {c for c in DESCRIPTORS.values() if isinstance(c, str)}:
            topic, name = pair.split(".")
            cases = CASES
            if topic != "numerics":
                module = importlib.import_module(f"parity_tests.test_{topic}")
                cases = module.PROOF.cases
            self.assertIn(name, {case.name for case in cases}, pair)

    def test_public_names_are_documented(self):
        for module in self.kinds().values():
            for name in module.__all__:
                value = getattr(module, name)
                if callable(value) and not issubclass(type(value), type(tuple)):
                    self.assertTrue(inspect.getdoc(value), name)


class RatesTest(unittest.TestCase):
    """Every optimizer accepts all the base class's forms of a hyper-parameter."""

    @parameterized.expand(
        [
            ("tensor", lambda: tf.constant(0.5)),
            ("variable", lambda: tf.Variable(0.5)),
            ("function", lambda: lambda: 0.5),
            (
                "schedule",
                lambda: tf.keras.optimizers.schedules.ExponentialDecay(0.5, 4, 0.5),
            ),
        ]
    )
    def test_lars_takes_a_rate_that_is_a(self, _, made):
        moved = []
        for rate in (0.5, made()):
            variable, step = tf.Variable([[1.0, 2.0]]), tf.Variable(0, dtype=tf.int64)
            optimizer = optimizers.LARS(rate, eeta=0.5)
            optimizer.apply_gradients([(tf.constant([[3.0, 4.0]]), variable)], step)
            moved.append(variable.numpy().tolist())
        self.assertEqual(*moved)
        self.assertNotEqual(moved[0], [[1, 2]])

    def test_lars_of_float64_takes_a_variable_of_float32(self):
        variable = tf.Variable(np.ones(2))
        optimizers.LARS(tf.Variable(0.5)).apply_gradients([(np.ones(2), variable)])
        self.assertLess(variable.numpy().max(), 1)

    def test_a_loss_is_a_function(self):
        variable = tf.Variable(1.0)
        with self.assertRaisesRegex(TypeError, "a function without arguments"):
            optimizers.Adam().minimize(2 * variable, [variable])


class StrategyTest(unittest.TestCase):
    """Each replica updates its own copy once, with the sum of all gradients."""

    def setUp(self):
        self.strategy = tf.distribute.MirroredStrategy(
            ["CPU:0", "CPU:1"], tf.distribute.ReductionToOneDevice()
        )

    def moved(self, optimizer, variable, run=lambda step: step(), times=1):
        dense = times * tf.constant([[1.0, 2], [3, 4]])
        rows, ids = tf.constant([[3.0, 4]] * 3 * times), [1, 0, 1] * times
        rows = tf.IndexedSlices(rows, ids, [2, 2])

        def apply(gradient):
            optimizer.apply_gradients([(gradient, variable)])

        @tf.function
        def step():
            run(lambda: apply(dense))
            run(lambda: apply(rows))

        for _ in range(2):
            step()
        return self.strategy.experimental_local_results(variable)

    @parameterized.expand(
        [(name,) for name in ("Adam", "LazyAdam", "Nadam", "AdaMax", "Momentum")]
        + [("GradientDescent",), ("Adagrad",), ("LARS",)]
    )
    def test_an_optimizer_of_before_the_scope(self, name):
        more = {"momentum": 0.5} if name == "Momentum" else {}
        optimizers_ = [getattr(optimizers, name)(0.5, **more) for _ in range(2)]
        start = tf.constant([[1.0, 2], [3, 4]])
        (alone,) = self.moved(optimizers_[0], tf.Variable(start), times=2)
        with self.strategy.scope():
            variable = tf.Variable(start)
            optimizers_[1].create_slots([variable])
        for copy in self.moved(optimizers_[1], variable, self.strategy.run):
            np.testing.assert_array_equal(copy, alone)

    def test_a_scale_of_before_the_scope_is_refused(self):
        def made():
            scale = optimizers.ExponentialUpdateLossScale(8.0, 3)
            return optimizers.LossScale(optimizers.Adam(0.5), scale)

        early, alone = made(), made()
        self.moved(alone, tf.Variable(tf.ones([2, 2])))
        with self.strategy.scope():
            variable, inside = tf.Variable(tf.ones([2, 2])), made()
            with self.assertRaisesRegex(ValueError, "create the loss scale manager in"):
                early.create_slots([variable])
            inside.create_slots([variable])
        self.moved(inside, variable, self.strategy.run)
        scales = [made.manager.loss_scale.numpy() for made in (alone, inside)]
        self.assertEqual(scales, [16, 16])


class KerasVariablesTest(unittest.TestCase):
    """A Keras variable is not a `tf.Variable`, but contains one."""

    def setUp(self):
        self.model = tf.keras.Sequential(
            [tf.keras.Input([3]), tf.keras.layers.Dense(2, name="out")], name="net"
        )

    def test_an_optimizer_takes_what_they_hold(self):
        adam, weights = optimizers.Adam(), self.model.trainable_weights

        def loss():
            return tf.reduce_sum(self.model(tf.ones([4, 3])))

        with self.assertRaisesRegex(TypeError, "pass its `value`"):
            adam.minimize(loss, weights)
        with self.assertRaisesRegex(TypeError, "pass its `value`"):
            adam.apply_gradients([(tf.ones([3, 2]), weights[0])])
        adam.minimize(loss, [weight.value for weight in weights])
        names = [variable.name for variable in adam.variables]
        self.assertIn("net/out/kernel/Adam:0", names)

    def test_their_old_names_are_not_known(self):
        for owner in (self.model, self.model.weights):
            with self.assertRaisesRegex(TypeError, "pass a dict {old name"):
                restore.named(owner)


class TwiceTest(unittest.TestCase):
    """A variable that two parts of a model share, such as an embedding, counts once."""

    def test_it_has_one_slot(self):
        shared = tf.Variable(1.0, name="w")
        optimizer = optimizers.Momentum(0.5, 0.5).create_slots([shared, shared])
        self.assertEqual([v.name for v in optimizer.variables], ["w/Momentum:0"])

    def test_it_has_one_average(self):
        shared = tf.Variable(1.0)
        average = averages.ExponentialMovingAverage(0.5).create([shared, shared])
        self.assertEqual(len(average.shadows), 1)


class WeightsTest(unittest.TestCase):
    """Weights that would broadcast to a matrix raise, except where v1 allowed it."""

    def test_a_column_at_k_is_refused(self):
        labels, scores = tf.constant([0, 1], tf.int64), tf.eye(2)
        for kind in (metrics.RecallAtK, metrics.AveragePrecisionAtK):
            with self.assertRaisesRegex(ValueError, "can not be broadcast"):
                kind(1).update_state(labels, scores, tf.constant([[1.0], [2.0]]))

    def test_a_column_of_normalizers_is_a_vector_and_so_is_one_of_labels(self):
        labels, normalizer = tf.constant([1.0, 2.0, 3.0]), tf.constant([1.0, 0.0, 4.0])
        predictions, measures = labels + 1, []
        for given in (
            (labels, predictions, normalizer),
            (labels, predictions, normalizer[:, None]),
            (labels[:, None], predictions[:, None], normalizer),
        ):
            measures.append(metrics.MeanRelativeError())
            measures[-1].update_state(*given)
        found = [measure.result().numpy() for measure in measures]
        self.assertEqual(found, [np.float32(1.25 / 3)] * 3)

    def test_one_weight_is_for_all_classes(self):
        measure = metrics.MeanPerClassAccuracy(2)
        measure.update_state([0, 1, 1], [0, 1, 0], weights=0.5)
        self.assertEqual(measure.sums["total"].numpy().tolist(), [0.5, 1])
        self.assertEqual(measure.result().numpy(), 0.75)


class ArraysTest(unittest.TestCase):
    """NumPy arrays and Python lists as inputs, which v1's ops accepted."""

    @parameterized.expand(["PrecisionAtK", "RecallAtK", "AveragePrecisionAtK"])
    def test_at_k(self, name):
        measure = getattr(metrics, name)(1)
        measure.update_state(np.array([0, 1]), np.float32([[1, 2], [1, 2]]))
        self.assertEqual(measure.result().numpy(), 0.5)

    @parameterized.expand(
        [
            ("unroll", lambda *args: rnn.unroll(rnn.GRUCell(2), *args)),
            ("in Python", lambda *args: rnn.unroll_in_python(rnn.GRUCell(2), *args)),
            (
                "both ways",
                lambda *args: rnn.unroll_both_ways(*made_cells(), *args),
            ),
            (
                "both ways in Python",
                lambda *args: rnn.unroll_both_ways_in_python(*made_cells(), *args),
            ),
            ("fused", lambda *args: rnn.LSTMBlockFusedCell(2)(*args)),
            (
                "maps",
                lambda x, lengths: recurrences.unroll_maps(
                    recurrences.ConvLSTMCell(2, [1]), x[:, :, None], lengths
                ),
            ),
        ]
    )
    def test_a_loop(self, _, read):
        x, lengths = np.ones([3, 3, 4], "f"), [3, 1, 0]
        found = []
        for given in ((x, np.array(lengths)), (tf.constant(x), tf.constant(lengths))):
            tf.random.set_seed(7)
            found.append(tf.nest.map_structure(lambda t: t.numpy(), read(*given)))
        tf.nest.map_structure(np.testing.assert_array_equal, *found)


def made_cells():
    return [rnn.GRUCell(2, initializer=initializers.glorot_uniform(1)) for _ in "ab"]


class DrawsTest(unittest.TestCase):
    def test_the_weights_of_a_deep_network_are_drawn_without_a_warning(self):
        draw = initializers.glorot_uniform()
        with self.assertNoLogs("tensorflow", "WARNING"):
            for _ in range(8):
                draw([2, 3])


class UnknownRankTest(unittest.TestCase):
    """Ranks that are known only at run time, as after `tf.py_function`."""

    def unknown(self, loss, labels, *others):
        dtype = tf.as_dtype(np.asarray(labels).dtype)
        specs = [tf.TensorSpec(None, dtype), *[tf.TensorSpec(None)] * len(others)]
        return tf.function(loss, input_signature=specs)(labels, *others)

    @parameterized.expand(
        [
            ("mean_squared_error",),
            ("huber_loss",),
            ("hinge_loss",),
            ("mean_pairwise_squared_error",),
            ("sigmoid_cross_entropy",),
        ]
    )
    def test_the_loss_is_the_same(self, name):
        loss, random = getattr(losses, name), np.random.RandomState(0)
        args = [random.uniform(size=[4, n]).astype("f") for n in (3, 3, 1)]
        for weights in (args[2], np.float32(2)):
            given = [*args[:2], weights]
            self.assertEqual(self.unknown(loss, *given), tf.function(loss)(*given))

    def test_columns_of_classes_are_classes(self):
        logits = np.float32([[1, 2], [4, 3]])
        expected = losses.sparse_softmax_cross_entropy([0, 1], logits)
        for labels in (np.int64([0, 1]), np.int64([[0], [1]])):
            loss = self.unknown(losses.sparse_softmax_cross_entropy, labels, logits)
            self.assertEqual(loss, expected)

    def test_weights_of_another_rank_are_refused(self):
        x = np.ones([2, 2], "f")
        with self.assertRaisesRegex(
            tf.errors.InvalidArgumentError, "can not be broadcast to values"
        ):
            self.unknown(losses.mean_squared_error, x, x, x[0])

    def test_lengths(self):
        cell, x, lengths = rnn.GRUCell(2), tf.ones([2, 3, 4]), tf.constant([3, 1])
        specs = [tf.TensorSpec(x.shape), tf.TensorSpec(None, tf.int32)]

        def outputs(x, lengths):
            return rnn.unroll(cell, x, lengths)[0]

        read = tf.function(outputs, input_signature=specs)
        np.testing.assert_array_equal(
            read(x, lengths), tf.function(outputs)(x, lengths)
        )
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "not compatible"):
            read(x, lengths[:, None])

    def test_the_number_of_classes(self):
        measure = metrics.AveragePrecisionAtK(2)
        specs = [tf.TensorSpec([None], tf.int64), tf.TensorSpec([None, None])]
        update = tf.function(measure.update_state, input_signature=specs)
        update([2, 3], [[1.0, 2, 3], [1, 2, 3]])
        self.assertEqual(measure.sums["max"].numpy(), 2)
        self.assertTrue(np.isnan(measure.result()))  # 3 is not one of 3 classes: 0 / 0


class EstimatorTest(unittest.TestCase):
    def test_a_loss_that_is_nan_ends_the_training(self):
        rows, labels = np.full([4, 2], np.nan, "f"), np.ones([4, 1], "f")
        model = canned.Linear({"x": (lambda features: features["x"], 2)}, 1)
        parts = [(model, optimizers.Ftrl(0.1))]
        estimator = canned.Estimator(canned.RegressionHead(), parts)
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "NaN loss during"):
            estimator.train({"x": rows}, labels, 2, 4)

    def test_evaluations_and_predictions_are_traced_for_all_sizes(self):
        rows, labels = np.ones([5, 2], "f"), np.ones([5, 1], "f")
        model = canned.Linear({"x": (lambda features: features["x"], 2)}, 1)
        parts = [(model, optimizers.Ftrl(0.1))]
        estimator = canned.Estimator(canned.RegressionHead(), parts)
        for _ in range(3):
            for size in (2, 3, 4):
                estimator.evaluate({"x": rows}, labels, size)
                estimator.predict({"x": rows[:size]})
        self.assertEqual(estimator.update.experimental_get_tracing_count(), 1)
        self.assertEqual(estimator.predict.experimental_get_tracing_count(), 2)


def unrolled(cell):
    """Makes a layer that runs a cell."""
    return cell, lambda x: rnn.unroll(cell, x[:, 0])


class NamesTest(unittest.TestCase):
    """`tf.get_variable` ignored name scopes, and so do the names in checkpoints."""

    @parameterized.expand(
        [
            ("BatchNorm", lambda: batch_norms.BatchNorm(name="a"), {"training": True}),
            (
                "ContribBatchNorm",
                lambda: batch_norms.ContribBatchNorm(
                    zero_debias_moving_mean=True, name="a"
                ),
            ),
            ("LayerNorm", lambda: norms.LayerNorm(name="a")),
            ("FullyConnected", lambda: layers.FullyConnected("a", 2)),
            ("SeparableConv2D", lambda: layers.SeparableConv2D("a", 2, 1)),
            ("GRUCell", lambda: unrolled(rnn.GRUCell(2, name="a"))),
            ("IndRNNCell", lambda: unrolled(recurrences.IndRNNCell(2, name="a"))),
        ]
    )
    def test_a_name_scope_is_no_part_of_the_names_of(self, _, make, options=None):
        found = []
        for outer in ("", "outer"):
            layer = make()
            layer, call = layer if isinstance(layer, tuple) else (layer, layer)
            with tf.name_scope(outer):
                call(tf.ones([2, 3, 3, 4]), **(options or {}))
            found.append([variable.name for variable in layer.variables])
        self.assertEqual(*found)
        self.assertTrue(all(name.startswith("a/") for name in found[0]))


def classes():
    """Returns [(name, class)] of all modules of the library, also of its helpers."""
    found = set()
    for path in LIBRARY.rglob("*.py"):
        parts = path.relative_to(LIBRARY.parent.parent).with_suffix("").parts
        module = importlib.import_module(".".join(parts))
        found |= {
            value
            for value in vars(module).values()
            if inspect.isclass(value)
            and issubclass(value, tf.Module)
            and value.__module__ == module.__name__
        }
    return sorted((value.__name__, value) for value in found)


MADE = {  # classes that need more arguments than a size
    "AttentionCellWrapper": lambda kind: kind(rnn.GRUCell(2), 3),
    "ConvLSTMCell": lambda kind: kind(2, [3]),
    "EmbeddingWrapper": lambda kind: kind(rnn.GRUCell(2), 5, 3),
    "GLSTMCell": lambda kind: kind(2),
    "GridLSTMCell": lambda kind: kind(
        2, feature_size=2, frequency_skip=1, num_frequency_blocks=[2]
    ),
    "HighwayWrapper": lambda kind: kind(rnn.GRUCell(2)),
    "InputProjectionWrapper": lambda kind: kind(rnn.GRUCell(2), 3),
    "LSTMBlockFusedCell": lambda kind: kind(2),
    "OutputProjectionWrapper": lambda kind: kind(rnn.GRUCell(2), 3),
    "TimeFreqLSTMCell": lambda kind: kind(2, feature_size=2, frequency_skip=1),
    "MultiRNNCell": lambda kind: kind([rnn.GRUCell(2)]),
    "DropoutWrapper": lambda kind: kind(rnn.GRUCell(2)),
    "ResidualWrapper": lambda kind: kind(rnn.GRUCell(2)),
    "TimeReversedFusedRNN": lambda kind: kind(rnn.LSTMBlockFusedCell(2)),
    "FullyConnected": lambda kind: kind("a", 2),
    "Conv2D": lambda kind: kind("a", 2, 1),
    "SeparableConv2D": lambda kind: kind("a", 2, 1),
    "Conv2DTranspose": lambda kind: kind("a", 2, 1),
    "AdagradDA": lambda kind: kind(0.1, tf.Variable(0, dtype=tf.int64)),
    "AdamW": lambda kind: kind(0.1),
    "MomentumW": lambda kind: kind(0.1, 0.1, 0.5),
    "LARS": lambda kind: kind(0.1),
    "Momentum": lambda kind: kind(0.1, 0.5),
    "GradientDescent": lambda kind: kind(0.1),
    "ExponentialMovingAverage": lambda kind: kind(0.5),
    "MovingAverage": lambda kind: kind(optimizers.GradientDescent(0.1)),
    "LossScale": lambda kind: kind(optimizers.Adam(), optimizers.FixedLossScale(2)),
    "MixedPrecisionLossScale": lambda kind: kind(
        optimizers.Adam(), optimizers.FixedLossScale(2)
    ),
}
BASES = {"Cell", "Wrapper", "Norm", "Layer", "Image", "Optimizer"}
NONE = {"GradientDescent", "ProximalGradientDescent"}  # without slots
FIRST = "build", "create_slots", "create"  # methods that make variables


class UnbuiltTest(unittest.TestCase):
    """Modules without variables yet raise: a checkpoint would not contain them."""

    @parameterized.expand(
        [
            (name, kind)
            for name, kind in classes()
            if name not in {*BASES, *NONE}
            and (name in MADE or any(hasattr(kind, f) for f in FIRST))
        ]
    )
    def test_it_is_refused_before_it_has_its_variables(self, name, kind):
        module = self.made(name, kind)
        net = tf.Module()
        net.parts = [tf.Variable(1.0, name="w"), {"inner": module}]
        with self.assertRaisesRegex(
            ValueError, r" has no variables yet: call its \w+\("
        ):
            restore.named(net)
        with self.assertRaisesRegex(ValueError, "has no variables yet"):
            restore.named(module)

    def made(self, name, kind):
        if name in MADE:
            return MADE[name](kind)
        if issubclass(kind, rnn.cells.Cell):
            return kind(2)
        return kind(0.1) if issubclass(kind, optimizers.Optimizer) else kind()

    def test_the_message_names_what_to_call(self):
        cell = rnn.LSTMCell(2, name="rnn/lstm_cell")
        told = r"^LSTMCell rnn/lstm_cell has no variables yet: call its build\("
        with self.assertRaisesRegex(ValueError, told):
            restore.named(cell)
        cell.build(3, tf.float32)
        found = ["rnn/lstm_cell/bias", "rnn/lstm_cell/kernel"]
        self.assertEqual(sorted(restore.named(cell)), found)

        weights = [tf.Variable(1.0, name="w")]
        adam = optimizers.Adam()
        with self.assertRaisesRegex(ValueError, r"call its create_slots\("):
            restore.named(adam)
        adam.create_slots(weights)
        self.assertEqual(len(restore.named(adam)), 4)

        average = averages.ExponentialMovingAverage(0.5)
        with self.assertRaisesRegex(ValueError, r"call its create\("):
            restore.named(average)
        average.create(weights)
        self.assertEqual(len(restore.named(average)), 1)

    def test_what_needs_no_variables_is_not_refused(self):
        plain = layers.FullyConnected("a", 2, biases=False)
        plain.build(3, tf.float32)
        norm = norms.LayerNorm(center=False, scale=False)
        step = optimizers.GradientDescent(0.1)
        self.assertEqual(list(restore.named(plain, norm, step)), ["a/weights"])


class PhaseTest(unittest.TestCase):
    """`is_training`, a placeholder in v1, may be a Python bool or a bool tensor."""

    @parameterized.expand(
        [
            ("BatchNorm", lambda: batch_norms.BatchNorm(fused=False), "training"),
            ("BatchNorm fused", batch_norms.BatchNorm, "training"),
            ("ContribBatchNorm", batch_norms.ContribBatchNorm, "is_training"),
            (
                "debiased",
                lambda: batch_norms.ContribBatchNorm(zero_debias_moving_mean=True),
                "is_training",
            ),
            (
                "a layer around one",
                lambda: layers.Conv2D(
                    "a", 2, 1, normalizer=batch_norms.ContribBatchNorm()
                ),
                "is_training",
            ),
        ]
    )
    def test_a_tensor_computes_what_a_bool_does(self, _, make, name):
        x = tf.constant(np.random.RandomState(5).normal(size=[2, 3, 3, 4]), "float32")
        plain = functools.partial(tf.function, autograph=False)
        plans = {
            "by bools": (bool, lambda call: call),
            "eager": (tf.constant, lambda call: call),
            "an integer": (int, lambda call: lambda phase: call(tf.constant(phase))),
            "a function": (tf.constant, tf.function),
            "no AutoGraph": (tf.constant, plain),
        }
        found = {}
        for plan, (kind, wrap) in plans.items():
            layer = make()
            layer(x, **{name: False})  # makes the variables

            def step(phase, layer=layer):
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = layer(x, **{name: phase})
                return y, *tape.gradient(y, [x, *layer.trainable_variables], y)

            call = wrap(step)
            results = [call(kind(phase)) for phase in (True, False, True)]
            values = [*tf.nest.flatten(results), *layer.variables]
            found[plan] = [value.numpy() for value in values]
            if plan in ("a function", "no AutoGraph"):
                self.assertEqual(call.experimental_get_tracing_count(), 1)
        for plan, values in found.items():
            for one, other in zip(values, found["by bools"], strict=True):
                np.testing.assert_array_equal(one, other, plan, strict=True)

    def test_each_bool_has_its_own_trace(self):
        norm = batch_norms.ContribBatchNorm(decay=0.5, fused=False)
        norm.build(2, tf.float32)
        call = tf.function(norm)
        x = tf.constant([[1.0, 2.0], [3.0, 6.0]])
        self.assertEqual(f"{call(x, True)[1, 0]:.4f}", "0.9995")
        mean = norm.moving_mean.numpy()
        self.assertEqual(f"{call(x, False)[1, 0]:.4f}", "1.9990")
        np.testing.assert_array_equal(norm.moving_mean, mean)
        self.assertEqual(call.experimental_get_tracing_count(), 2)
        call(x, np.bool_(True))  # a function converts it to a tensor: a third trace
        self.assertEqual(call.experimental_get_tracing_count(), 3)

    @parameterized.expand(
        [
            ("LastValueQuantize", quantization.LastValueQuantize),
            ("MovingAverageQuantize", quantization.MovingAverageQuantize),
        ]
    )
    def test_a_quantizer_is_one_trace_for_both(self, _, make):
        x, found = tf.constant([0.5, -1.5, 2.0]), []
        for kind in (bool, tf.constant):  # AutoGraph makes a tf.cond of a tensor
            quantize = make("q")
            call = tf.function(quantize)
            found.append([call(x * n, kind(n < 3)).numpy() for n in (1, 2, 3)])
            found[-1] += [variable.numpy() for variable in quantize.variables]
        for one, other in zip(*found, strict=True):
            np.testing.assert_array_equal(one, other, strict=True)
