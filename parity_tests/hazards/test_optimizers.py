import inspect
import json
import os
import tempfile
import unittest
import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests.hazards import found, round_trips
from v2_eager.keras_optimizers import ROWS_SUMMED

EAGER = "v2_eager.keras_optimizers."
KERAS = "v2_keras.optimizers."
U_NET = "v2_keras.models_unet."
BY_LAYER = "v2_eager.keras_recipes.own.ByLayer"
ADAM = {"beta_1": 0.5, "beta_2": 0.75, "epsilon": 0.125}
RMSPROP = {"rho": 0.5, "epsilon": 0.125}
OF_KERAS = {  # arguments of Keras' own classes; no value is the default
    "SGD": {"momentum": 0.5, "nesterov": True},
    "Adagrad": {"initial_accumulator_value": 0.5, "epsilon": 0.125},
    "Adadelta": {"rho": 0.5, "epsilon": 0.125},
    "RMSprop": {**RMSPROP, "momentum": 0.5, "centered": True},
    "Adam": {**ADAM, "amsgrad": True},
    "Adamax": ADAM,
    "Nadam": {**ADAM, "schedule_decay": 0.25},
    "Ftrl": {
        "learning_rate_power": -0.25,
        "initial_accumulator_value": 0.5,
        "l1_regularization_strength": 0.125,
        "l2_regularization_strength": 0.25,
        "l2_shrinkage_regularization_strength": 0.125,
        "beta": 0.5,
    },
}
SHARES = {"shares": {"inner": 0.5, "LayerNorm": 2.0}}
# (name of the class, {argument that Keras' base class does not have: value}).
CASES = [
    *[(f"{EAGER}{kind.__name__}", OF_KERAS[n]) for n, kind in ROWS_SUMMED.items()],
    (EAGER + "RMSprop centered", {**RMSPROP, "momentum": 0.0, "centered": True}),
    (EAGER + "DecayingAdam", {**OF_KERAS["Adam"], "decay": 0.5}),
    (EAGER + "DecayedMomentum", {"momentum": 0.5, "shrink": 0.25}),
    (BY_LAYER, {**SHARES, **OF_KERAS["SGD"]}),
    (KERAS + "AdamWeightDecay", {"decay": 0.25, "exclude": ["LayerNorm"]}),
    (U_NET + "LegacyMomentum", {"momentum": 0.5, "use_nesterov": True}),
    (U_NET + "LegacyMomentum plain", {"momentum": 0.5, "use_nesterov": False}),
    (KERAS + "LegacyRMSprop", OF_KERAS["RMSprop"]),
    (KERAS + "LegacyRMSprop centered", {**RMSPROP, "momentum": 0.0, "centered": True}),
]
ALLOWED = {}
BASE = {  # the base class's arguments without the limits; no value is the default
    "learning_rate": 0.125,
    "weight_decay": 0.25,
    "use_ema": True,
    "ema_momentum": 0.5,
    "ema_overwrite_frequency": 7,
    "loss_scale_factor": 2.0,
    "gradient_accumulation_steps": 3,
    "name": "own",
}
LIMITS = [("clipnorm",), ("clipvalue",), ("global_clipnorm",)]
GRADIENT = np.array([[1, -2], [3, 0.5], [-0.25, 4]], "f") / 4
ROWS, IDS = np.array([[1, -1], [2, 0.5], [0.5, 4]], "f") / 4, [2, 0, 2]


def optimizer(name, own, **options):
    """Makes the optimizer of a case; its learning rate is 0.125 by default."""
    cls = found.classes()["optimizers"][name.partition(" ")[0]]
    return cls(**{"learning_rate": 0.125, **own, **options})


def arguments(cls):
    """Returns the names of all arguments of a class and its bases."""
    own = [vars(base).get("__init__") for base in cls.__mro__ if base is not object]
    names = {
        p.name
        for init in filter(None, own)
        for p in inspect.signature(init).parameters.values()
        if p.kind is p.POSITIONAL_OR_KEYWORD or p.kind is p.KEYWORD_ONLY
    }
    return names - {"self"}


def weights(dtype="float32"):
    """Makes a kernel and a table in a layer that is called "inner"."""
    start = np.arange(6).reshape(3, 2) / 4
    with keras.name_scope("inner"):
        return [keras.Variable(start, dtype=dtype, name=n) for n in ("kernel", "table")]


def sparse(dtype="float32", scale=1.0):
    """Makes a [3, 2] gradient with rows in any order, one of them twice."""
    rows = tf.constant(ROWS * scale, dtype)
    return tf.IndexedSlices(rows, tf.constant(IDS), tf.constant([3, 2]))


def values(variables):
    return [variable.numpy() for variable in variables]


def taken(made, steps, dtype="float32"):
    """Takes steps of two gradients each; returns values of weights and optimizer."""
    variables = weights(dtype)
    made.build(variables)
    for gradients in steps:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Gradients do not exist")
            made.apply(gradients, variables)
    return values(variables + made.variables)


@keras.saving.register_keras_serializable("hazards")
class Block(keras.layers.Layer):
    """A layer without `build`, whose first call makes the weights."""

    def __init__(self, **options):
        super().__init__(**options)
        kind = {"dtype": self.dtype_policy}
        self.norm = keras.layers.LayerNormalization(name="LayerNorm", **kind)
        self.inner = keras.layers.Dense(2, name="inner", **kind)

    def call(self, x):
        return self.inner(self.norm(x))


@keras.saving.register_keras_serializable("hazards")
class Nested(keras.Model):
    """A subclassed model without `build`, with weights two layers deep."""

    def __init__(self, **options):
        super().__init__(**options)
        self.block = Block(name="block", dtype=self.dtype_policy)

    def call(self, x):
        return self.block(x)


def model_of(made):
    model = Nested()
    model.compile(made, "mse")
    model(np.eye(4, 3, dtype="f"))
    rows = np.arange(6, dtype="f").reshape(3, 2) / 4
    model.set_weights([np.ones(3), np.zeros(3), rows, np.zeros(2)])
    return model


def train(model, steps=2):
    """Takes steps with the optimizer directly, without `fit`."""
    weights = model.trainable_weights
    for number in range(steps):
        gradients = [tf.fill(w.shape, 0.25 + number) for w in weights]
        model.optimizer.apply(gradients, weights)
    return model


def state(model):
    return values(model.weights + model.optimizer.variables)


class SavedTest(unittest.TestCase):
    @parameterized.expand(CASES)
    def test_saved_and_loaded_it_goes_on(self, name, own):
        model = train(model_of(optimizer(name, own)))
        loaded = round_trips.saved_and_loaded(model)
        self.assertIs(type(loaded.optimizer), type(model.optimizer))
        round_trips.assert_same(state(train(loaded)), state(train(model)))

    @parameterized.expand(CASES)
    @pytest.mark.slow
    def test_it_goes_on_from_a_checkpoint(self, name, own):
        model = train(model_of(optimizer(name, own)))
        fresh = model_of(optimizer(name, own))
        fresh.optimizer.build(fresh.trainable_variables)
        sides = [
            tf.train.Checkpoint(model=m, optimizer=m.optimizer) for m in (model, fresh)
        ]
        with tempfile.TemporaryDirectory() as folder:
            path = sides[0].write(os.path.join(folder, "model"))
            sides[1].read(path).assert_existing_objects_matched()
        round_trips.assert_same(state(train(fresh)), state(train(model)))

    @parameterized.expand(CASES)
    def test_every_argument_is_in_the_configuration(self, name, own):
        cls = found.classes()["optimizers"][name.partition(" ")[0]]
        limits = {limit for (limit,) in LIMITS}
        self.assertEqual({*own, *BASE} | limits, arguments(cls) | {*BASE})
        for limit in sorted(limits):
            with self.subTest(limit):
                given = {**BASE, **own, limit: 0.5}
                del given["gradient_accumulation_steps"]  # not allowed with a limit
                made = cls(**given)
                whole = json.loads(json.dumps(keras.optimizers.serialize(made)))
                again = keras.optimizers.deserialize(whole)
                self.assertIs(type(again), cls)
                for config in (made.get_config(), again.get_config()):
                    self.assertEqual({key: config[key] for key in given}, given)


class BuiltTest(unittest.TestCase):
    @parameterized.expand(CASES)
    def test_a_second_build_changes_nothing(self, name, own):
        made, variables = optimizer(name, own), weights()
        made.build(variables)
        made.apply([GRADIENT, GRADIENT], variables)
        kept = made.variables
        before = values(kept)
        made.build(variables)
        self.assertEqual([id(v) for v in made.variables], [id(v) for v in kept])
        round_trips.assert_same(values(made.variables), before)
        again = optimizer(name, own)
        expected = taken(again, [[GRADIENT, GRADIENT]] * 2)
        made.apply([GRADIENT, GRADIENT], variables)
        round_trips.assert_same(values(variables + made.variables), expected)

    @parameterized.expand(CASES)
    def test_weights_of_another_dtype_than_floatx(self, name, own):
        expected = taken(optimizer(name, own), [[GRADIENT, sparse()]] * 2)[:2]
        for floatx, dtype in (("float32", "float64"), ("float64", "float32")):
            with self.subTest(floatx=floatx, dtype=dtype):
                actual = self.traced(name, own, floatx, dtype)
                round_trips.assert_near(actual, expected)

    def traced(self, name, own, floatx, dtype):
        with round_trips.floatx(floatx):
            made, variables = optimizer(name, own), weights(dtype)
            made.build(variables)
            step = tf.function(lambda *gradients: made.apply(gradients, variables))
            for _ in range(2):
                step(tf.constant(GRADIENT, dtype), sparse(dtype))
        slots = [v for v in made.variables if v.shape == (3, 2)]
        self.assertEqual({v.dtype for v in [*variables, *slots]}, {dtype})
        return values(variables)


class GradientTest(unittest.TestCase):
    @parameterized.expand(CASES)
    def test_a_gradient_that_is_none(self, name, own):
        made, variables = optimizer(name, own), weights()
        made.build(variables)
        untouched = [v for v in made.variables if "table" in v.name] + variables[1:]
        before = values(untouched)
        for _ in range(2):
            with self.assertWarnsRegex(UserWarning, "Gradients do not exist"):
                made.apply([GRADIENT, None], variables)
        round_trips.assert_same(values(untouched), before)
        both = taken(optimizer(name, own), [[GRADIENT, GRADIENT]] * 2)
        np.testing.assert_array_equal(variables[0], both[0])
        with self.assertRaisesRegex(ValueError, "No gradients provided"):
            made.apply([None, None], variables)

    @parameterized.expand(CASES)
    def test_rows_that_come_twice_beside_a_dense_gradient(self, name, own):
        dense = tf.convert_to_tensor(sparse())
        round_trips.assert_same(
            taken(optimizer(name, own), [[GRADIENT, sparse()]] * 2),
            taken(optimizer(name, own), [[GRADIENT, dense]] * 2),
        )

    @parameterized.expand(
        [(f"{n} {limit}", own, limit) for n, own in CASES for (limit,) in LIMITS]
    )
    def test_limits(self, name, own, limit):
        made = optimizer(name, own, **{limit: 0.5})
        actual = taken(made, [[GRADIENT, sparse()]])
        expected = taken(optimizer(name, own), [within(limit)])
        round_trips.assert_near(actual, expected)

    @parameterized.expand(CASES)
    def test_a_loss_scale_changes_nothing(self, name, own):
        scaled = [[GRADIENT * 1024, sparse(scale=1024.0)]]
        together = {limit: 0.5 for (limit,) in LIMITS}
        for limits in ({}, together):
            with self.subTest(limits):
                options = {"loss_scale_factor": 1024.0, **limits}
                round_trips.assert_same(
                    taken(optimizer(name, own, **options), scaled),
                    taken(optimizer(name, own, **limits), [[GRADIENT, sparse()]]),
                )

    @parameterized.expand(CASES)
    def test_what_an_exception_leaves(self, name, own):
        limits = {"clipnorm": 0.5}
        made, variables = optimizer(name, own, **limits), weights()
        made.build(variables)
        before = values(variables + made.variables)
        with self.assertRaisesRegex(Exception, "[Ss]hape|[Dd]imension"):
            made.apply([tf.ones([7, 7])], variables[:1])
        round_trips.assert_same(values(variables + made.variables), before)
        for gradients in [[GRADIENT, sparse()]] * 2:
            made.apply(gradients, variables)
        expected = taken(optimizer(name, own, **limits), [[GRADIENT, sparse()]] * 2)
        round_trips.assert_same(values(variables + made.variables), expected)


def within(limit):
    """Clips the two gradients to 0.5: rows are clipped first, then summed."""
    parts = [GRADIENT, ROWS]
    if limit == "clipvalue":
        parts = [np.clip(part, -0.5, 0.5) for part in parts]
    elif limit == "clipnorm":
        parts = [part * min(0.5 / np.linalg.norm(part), 1) for part in parts]
    elif limit == "global_clipnorm":
        norm = np.sqrt(sum(np.square(part).sum() for part in parts))
        parts = [part * min(0.5 / norm, 1) for part in parts]
    table = np.zeros([3, 2])
    np.add.at(table, IDS, parts[1])
    return [tf.constant(part, tf.float32) for part in (parts[0], table)]


class ReplicasTest(unittest.TestCase):
    @parameterized.expand(CASES)
    def test_two_replicas_have_equal_copies(self, name, own):
        reduction = tf.distribute.ReductionToOneDevice()
        strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"], reduction)
        with strategy.scope():
            made, variables = optimizer(name, own), weights()
            made.build(variables)

        def step():
            context = tf.distribute.get_replica_context()
            share = 1.0 + 2.0 * float(context.replica_id_in_sync_group)
            made.apply([GRADIENT * share, sparse(scale=share)], variables)

        for _ in range(2):
            strategy.run(step)
        summed = [[GRADIENT * 4, sparse(scale=4.0)]] * 2
        expected = taken(optimizer(name, own), summed)
        copies = [
            strategy.experimental_local_results(variable.value)
            for variable in variables + made.variables
        ]
        first, second = zip(*copies, strict=True)
        round_trips.assert_same(values(first), values(second))
        round_trips.assert_near(values(first), expected)


class ChosenTest(unittest.TestCase):
    """Options of optimizers that depend on a weight's layer."""

    def moved(self, made):
        """Takes a step with zero gradients; returns {path: (weight before, after)}."""
        model = model_of(made)
        before = values(model.weights)
        made.apply([tf.zeros(w.shape) for w in model.weights], model.weights)
        found = {}
        for weight, value in zip(model.weights, before):
            found["/".join(weight.path.split("/")[-2:])] = value, weight.numpy()
        return found

    def test_weight_decay_leaves_out_a_norm_that_is_two_layers_deep(self):
        exclude = ["LayerNorm", "bias"]
        moved = self.moved(
            optimizer(KERAS + "AdamWeightDecay", {}, decay=0.5, exclude=exclude)
        )
        self.assertEqual(len(moved), 4)
        for path, (before, after) in moved.items():
            shrunk = 1 - 0.125 * 0.5 * (path == "inner/kernel")
            np.testing.assert_array_equal(after, before * np.float32(shrunk), path)

    def test_a_rate_by_layer_is_that_of_the_nearest_one(self):
        shares = {"block": 0.5, "LayerNorm": 2.0}
        model = model_of(optimizer(BY_LAYER, {"shares": shares}))
        before = values(model.weights)
        gradients = [tf.ones(weight.shape) for weight in model.weights]
        model.optimizer.apply(gradients, model.weights)
        for weight, value in zip(model.weights, before):
            rate = 0.25 if "LayerNorm" in weight.path else 0.0625
            np.testing.assert_array_equal(weight, value - np.float32(rate), weight.path)

    def test_a_layer_without_a_share_is_named(self):
        model = model_of("sgd")
        made = optimizer(BY_LAYER, {"shares": {"inner": 1.0}})
        with self.assertRaisesRegex(
            ValueError, "shares has no layer of .*LayerNorm/gamma"
        ):
            made.build(model.trainable_variables)


if __name__ == "__main__":
    unittest.main()
