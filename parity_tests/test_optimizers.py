import os
import re
import tempfile
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from parity_tests.shorthand import refused
from tf1to2.parity import FalseFriend, Naive, Program
from tf1to2.parity.v1 import legacy
from v1_graph import optimizers as v1
from v2_eager import optimizers as v2
from v2_eager.numerics import optimizers
from v2_keras import optimizers as v3

RANDOM = np.random.RandomState(7)


def drawn(*shape):
    return RANDOM.standard_normal(shape).astype("f")


DATA, START = (drawn(8, 3), drawn(8, 2)), (drawn(3, 2), drawn(2))
TABLE, TARGETS = drawn(5, 2), drawn(3, 3, 2)
IDS = np.int32([[3, 0, 3], [1, 0, 1], [3, 3, 2]])  # twice in a step; never 4
BATCH = drawn(70, 3), drawn(70, 2)
WORDS = drawn(64, 5), RANDOM.randint(0, 48, [3, 80]), drawn(3, 80, 5)
PROXIMAL = {
    "learning_rate": 0.01,
    "l1_regularization_strength": 0.03,
    "l2_regularization_strength": 0.1,
}
OPTIMIZERS = {
    "gradient descent": ("GradientDescent", {"learning_rate": 0.01}),
    "momentum": ("Momentum", {"learning_rate": 0.001, "momentum": 0.9}),
    "Nesterov": (
        "Momentum",
        {"learning_rate": 0.001, "momentum": 0.9, "use_nesterov": True},
    ),
    "Adagrad": ("Adagrad", {"learning_rate": 0.1}),
    "Adadelta": ("Adadelta", {"learning_rate": 1.0}),
    "RMSProp": ("RMSProp", {"learning_rate": 0.0001}),
    "centered RMSProp": (
        "RMSProp",
        {"learning_rate": 0.0001, "epsilon": 0.01, "centered": True},
    ),
    "Adam": ("Adam", {"learning_rate": 0.001}),
    "Ftrl": ("Ftrl", {"learning_rate": 0.1}),
    "Ftrl with penalties": (
        "Ftrl",
        {
            "learning_rate": 0.1,
            "l1_regularization_strength": 0.01,
            "l2_regularization_strength": 0.1,
        },
    ),
    "proximal gradient descent": ("ProximalGradientDescent", PROXIMAL),
    "proximal Adagrad": ("ProximalAdagrad", PROXIMAL),
}
RATE = {"learning_rate": 0.5}
WIDE_DATA, WIDE_START = (
    tuple(a.astype("float64") for a in arrays) for arrays in (DATA, START)
)
keras = tf.keras.optimizers
LONG = {"eager": "a thousand steps one by one take seconds; ten are proven"}
SAME = {"eager": "the same kernels called one by one: proven with Adam's"}


def skip(slug):
    proximal = {"keras": "Keras has no such optimizer"} if "proximal" in slug else {}
    return proximal if slug in ("gradient descent", "Adam") else {**SAME, **proximal}


def is_float32(slug):
    """Returns True for proximal optimizers: they refuse float64 with a Python rate."""
    return slug.startswith("proximal")


def keras_weights(optimizer, stops, data=DATA):
    weights, loss = v2.line(data, START)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            error = loss()
        gradients = tape.gradient(error, weights)
        optimizer.apply_gradients(zip(gradients, weights))

    optimizer.build(weights)
    return v2.states(step, weights, stops)


def fit_by_keras(data, start, name, hyper, stops):
    make = {"RMSProp": keras.RMSprop, "Adadelta": keras.Adadelta}[name]
    weights = keras_weights(make(**hyper), stops, data)
    states = v2.fit(data, start, name, hyper, stops)
    return {stop: {**states[stop], **weights[stop]} for stop in stops}


def fit_embedding_unsummed(*arguments):
    with mock.patch.object(optimizers.base, "summed", lambda slices: slices):
        return v2.fit_embedding(*arguments)


def fit_at_an_attribute(data, start, rates):
    weights, loss = v2.line(data, start)
    adam = optimizers.Adam()

    @tf.function
    def step():
        adam.minimize(loss, weights)

    for rate in rates.tolist():
        adam.hyper["lr"] = rate
        step()
    return v2.named_values(*weights, *adam.variables)


FRIENDS = {
    "RMSProp": (fit_by_keras, "the mean square begins at one in v1, at zero in Keras"),
    "Adadelta": (fit_by_keras, "epsilon is 1e-8 in v1, 1e-7 in Keras"),
}


def ten_steps(slug):
    arguments = (
        "fit",
        f"ten steps of {slug}",
        [BATCH, START, *OPTIMIZERS[slug], [1, 10]],
    )
    if slug not in FRIENDS:
        return Program(*arguments, skip=skip(slug), float32=is_float32(slug))
    naive, because = FRIENDS[slug]
    return FalseFriend(
        *arguments, of="program", naive=naive, because=because, skip=skip(slug)
    )


def rows(slug):
    arguments = "fit_embedding", slug, [*WORDS, *OPTIMIZERS[slug]]
    if slug not in ("gradient descent", "Adagrad", "Adam"):
        lazy = {"keras": "it also moves rows that were not looked up"}
        reasons = {**lazy, **skip(slug)}
        return Program(*arguments, skip=reasons, float32=is_float32(slug))
    if slug != "Adagrad":
        return Program(*arguments, skip=skip(slug), float32=is_float32(slug))
    return FalseFriend(
        *arguments,
        of="program",
        naive=fit_embedding_unsummed,
        because="a row looked up twice takes two steps, not one by the sum",
    )


CASES = [
    *[ten_steps(slug) for slug in OPTIMIZERS if slug not in ("momentum", "Ftrl")],
    *[
        Program(
            "fit",
            f"a thousand steps of {slug}",
            [BATCH, START, *OPTIMIZERS[slug], [0, 10, 1000]],
            skip=LONG,
        )
        for slug in ("momentum", "RMSProp", "Adam", "Ftrl")
    ],
    Program(
        "fit",
        "on paper, (kernel + bias)² from 5 + 0",
        [
            (np.float32([[1]]), np.float32([[0]])),
            (np.float32([[5]]), np.float32([0])),
            "Momentum",
            {"learning_rate": 0.5, "momentum": 0.5},
            [0, 1, 2],
        ],
        exact=True,
        skip=SAME,
        expect={
            0: {
                "kernel": [[5]],
                "bias": [0],
                "kernel/Momentum": [[0]],
                "bias/Momentum": [0],
                "global_step": 0,
            },
            1: {
                "kernel": [[0]],
                "bias": [-5],
                "kernel/Momentum": [[10]],
                "bias/Momentum": [10],
                "global_step": 1,
            },
            2: {
                "kernel": [[2.5]],
                "bias": [-2.5],
                "kernel/Momentum": [[-5]],
                "bias/Momentum": [-5],
                "global_step": 2,
            },
        },
    ),
    *[
        rows(slug)
        for slug in OPTIMIZERS
        if slug not in ("Nesterov", "Ftrl with penalties")
    ],
    Program("fit_clipped", "clipped", [BATCH, START, 0.5, [1, 10]]),
    Program("fit_clipped", "within the limit", [DATA, START, 100.0, [1, 3]]),
    Program(
        "fit_clipped",
        "a frozen kernel",
        [DATA, START, 0.5, [2]],
        {"frozen": ["kernel"], "rate": 0.25},
    ),
    FalseFriend(
        "fit_at_rates",
        "falling",
        [BATCH, START, np.float32([0.5, 0.5, 0.125, 0.0])],
        of="program",
        naive=fit_at_an_attribute,
        because="a rate that is a Python number stays what it was in the trace",
    ),
    Program(
        "fit_by_parts",
        "the bias ten times faster",
        [BATCH, START, (0.001, 0.01), [1, 10]],
    ),
    Program("fit_by_parts", "a part that stands", [DATA, START, (0.0, 0.5), [3]]),
    Program(
        "fit_in_turns",
        "three turns",
        [drawn(6, 3) + 2, drawn(6, 2), drawn(2, 3), drawn(3, 1), 3],
    ),
    Program(
        "fit_in_turns",
        "no turns",
        [*DATA, START[0].T, START[0][:, :1], 0],
        skip={"function": PLAIN},
    ),
    Program("fit_with_decay", "not of the bias", [BATCH, START, [1, 10]]),
    Program(
        "fit_with_decay",
        "of all",
        [DATA, START, [2]],
        {"exclude": (), "rate": 0.25, "decay": 0.5},
    ),
    *(
        Program(
            "fit",
            f"a rate of 0.1 in {kind} for float64",
            [
                (np.float64([[1]]), np.float64([[0]])),
                (np.float64([[5]]), np.float64([0])),
                "GradientDescent",
                {"learning_rate": rate},
                [1],
            ],
            exact=True,
            skip=SAME,
            # The gradient is 10. TensorFlow 1 made a float32 tensor of a Python number.
            expect={
                1: {
                    "kernel": [[5 - 10 * float(heeded)]],
                    "bias": [-10 * float(heeded)],
                    "global_step": 1,
                }
            },
        )
        for kind, rate, heeded in [
            ("float64", np.float64(0.1), np.float64(0.1)),
            ("Python", 0.1, np.float32(0.1)),
        ]
    ),
    refused(
        "fit",
        "integers have no gradients",
        [
            (np.int32([[1, 2]]), np.int32([[3]])),
            (np.int32([[1], [2]]), np.int32([3])),
            "GradientDescent",
            {"learning_rate": 0.5},
            [1],
        ],
        "Invalid type",
    ),
    refused(
        "fit",
        "an accumulator of zero",
        [DATA, START, "Adagrad", {**RATE, "initial_accumulator_value": 0.0}, [1]],
        "initial_accumulator_value must be positive",
    ),
    refused(
        "fit",
        "the rate under its Keras name",
        [DATA, START, "Adam", {"lr": 0.5}, [1]],
        "unexpected keyword argument 'lr'",
        TypeError,
    ),
    refused(
        "fit",
        "a negative penalty",
        [DATA, START, "Ftrl", {**RATE, "l1_regularization_strength": -1.0}, [1]],
        "needs to be positive or zero",
    ),
    refused(
        "fit",
        "a Python rate for float64, which works here",
        [
            (np.float64([[1]]), np.float64([[0]])),
            (np.float64([[5]]), np.float64([0])),
            "ProximalAdagrad",
            {**RATE, "initial_accumulator_value": 300.0},
            [1],
        ],
        "float64",
        graph=TypeError,
        eager=None,
        function=None,
        expect={  # the gradient is 10, and 5 - 0.5 · 10 / √(300 + 10²) is 4.75
            1: {
                "kernel": [[4.75]],
                "bias": [-0.25],
                "kernel/ProximalAdagrad": [[400]],
                "bias/ProximalAdagrad": [400],
                "global_step": 1,
            }
        },
    ),
    refused(
        "fit_embedding",
        "an id that is no row",
        [TABLE, IDS + 2, TARGETS, "Adam", RATE],
        r"is not in \[0, 5\)",
        tf.errors.InvalidArgumentError,
    ),
    refused(
        "fit_clipped",
        "all weights frozen",
        [DATA, START, 0.5, [1]],
        "No variables to optimize",
        kwargs={"frozen": ["kernel", "bias"]},
    ),
    refused(
        "fit_at_rates",
        "a rate for each weight",
        [DATA, START, np.float32([[0.5, 0.25]])],
        "[Ss]hape",
    ),
    refused(
        "fit_in_turns",
        "noise of another width",
        [drawn(6, 3), drawn(6, 4), drawn(2, 3), drawn(3, 1), 1],
        "Dimensions must be equal|Matrix size-incompatible",
        eager=tf.errors.InvalidArgumentError,
    ),
    refused(
        "fit_with_decay",
        "a pattern that is none",
        [DATA, START, [1]],
        "unterminated subpattern",
        re.error,
        kwargs={"exclude": ["("]},
    ),
]


def fit_by(**makers):
    """Returns the Keras page's `fit` with other optimizers."""
    return mock.patch.dict(v3.OPTIMIZERS, makers)(v3.fit)


def clipped_one_by_one(rate, momentum, global_clipnorm, make=keras.SGD):
    return make(rate, momentum, clipnorm=global_clipnorm)


def by_adamw(rate, decay, exclude):
    optimizer = keras.AdamW(rate, decay, epsilon=1e-6)
    optimizer.exclude_from_weight_decay(var_names=exclude)
    return optimizer


OF_ADAMW = {"AdamW": ("AdamWeightDecay", ["momentum", "velocity"])}
NAIVE = [
    Naive(
        "fit, ten steps of RMSProp",
        "by Keras' own",
        mock.patch.object(v3, "LegacyRMSprop", keras.RMSprop)(v3.fit),
        because="its mean square begins at zero, v1's at one",
    ),
    *[
        Naive(
            f"fit, ten steps of {name}",
            "by the default epsilon",
            fit_by(**{name: lambda learning_rate, make=make: make(learning_rate)}),
            because=f"epsilon is 1e-7, and was {epsilon}",
        )
        for name, make, epsilon in [
            ("Adagrad", keras.Adagrad, "none"),
            ("Adadelta", keras.Adadelta, "1e-8"),
        ]
    ],
    Naive(
        "fit, ten steps of Adam",
        "by the betas in float64",
        fit_by(Adam=lambda learning_rate: keras.Adam(learning_rate, epsilon=1e-8)),
        because="1 - 0.999 is 1.3e-5 less where 0.999 is float32, as it was",
    ),
    Naive(
        "fit_embedding, Adagrad",
        "the gradient as it is",
        mock.patch.object(v3, "dense", lambda gradient: gradient)(v3.fit_embedding),
        because="a row looked up twice takes two steps, not one by the sum",
    ),
    Naive(
        "fit_clipped, clipped",
        "by clipnorm",
        mock.patch.object(v3.optimizers, "SGD", clipped_one_by_one)(v3.fit_clipped),
        because="it clips each gradient by its own norm",
    ),
    Naive(
        "fit_with_decay, not of the bias",
        "by AdamW",
        mock.patch.multiple(v3, AdamWeightDecay=by_adamw, SLOTS=OF_ADAMW)(
            v3.fit_with_decay
        ),
        because="it corrects the bias of its averages",
    ),
]
PROOF = proof(v1, v2, CASES, NAIVE)


class OptimizersTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


def largest(one, other):
    return max(np.abs(one[n] - other[n]).max() for n in ("kernel", "bias"))


class KerasTest(unittest.TestCase):
    """Measures how far Keras 3's optimizers are from the page."""

    @parameterized.expand(
        [
            ("Adadelta", keras.Adadelta(1.0), "1e-03 1e-02 9e-01"),
            ("RMSProp", keras.RMSprop(0.0001), "3e-04 1e-03 3e-03"),
        ]
    )
    def test_by_default_they_are_not(self, slug, optimizer, expected):
        stops = [1, 10, 1000]
        ours = v2.fit(DATA, START, *OPTIMIZERS[slug], stops)
        theirs = keras_weights(optimizer, stops)
        distances = [f"{largest(ours[n], theirs[n]):.0e}" for n in stops]
        self.assertEqual(" ".join(distances), expected)

    def test_the_first_steps_of_rmsprop_are_longer(self):
        stops = [1, 10]
        ours = v2.fit(BATCH, START, *OPTIMIZERS["RMSProp"], stops)
        theirs = fit_by_keras(BATCH, START, *OPTIMIZERS["RMSProp"], stops)
        moved = [
            [np.abs(found[n]["kernel"] - START[0]) for n in stops]
            for found in (ours, theirs)
        ]
        ends = [
            [f"{f(x):.2g}" for f in (np.min, np.max)]
            for x in (moved[0][0], moved[1][0])
        ]
        self.assertEqual(ends, [["3.9e-05", "0.00015"], ["0.00032", "0.00032"]])
        times = moved[1][1] / moved[0][1]
        self.assertEqual([f"{times.min():.1f}", f"{times.max():.1f}"], ["1.4", "3.7"])

    @parameterized.expand(
        [
            ("Adagrad", keras.Adagrad, {}, "5e-02"),
            ("Adam", keras.Adam, {"epsilon": 1e-8}, "9e-04"),
            ("Adadelta", keras.Adadelta, {"epsilon": 1e-8}, "3e-04", "8e-06"),
            ("momentum", keras.SGD, {"momentum": 0.9}, "4e-03", "4e-03"),
            ("Ftrl", keras.Ftrl, {}, "2e+00", "2e+00"),
        ]
    )
    def test_sparse_gradients(self, slug, make, hyper, expected, after=None):
        name, given = OPTIMIZERS[slug]
        ours = v2.fit_embedding(TABLE, IDS, TARGETS, name, given)["table"]
        distances = []
        for summed in (False, True):
            table = tf.Variable(TABLE)
            optimizer = make(given["learning_rate"], **hyper)
            for ids, targets in zip(IDS, TARGETS):
                with tf.GradientTape() as tape:
                    looked_up = tf.nn.embedding_lookup(table, ids)
                    loss = tf.reduce_sum(tf.square(looked_up - targets)) / 2
                gradient = tape.gradient(loss, table)
                if summed:
                    gradient = optimizers.summed(gradient)
                optimizer.apply_gradients([(gradient, table)])
            distances.append(np.abs(ours - table.numpy()).max())
        self.assertEqual(f"{distances[0]:.0e}", expected)
        if after is None:
            self.assertLess(distances[1], 1e-6)
        else:  # Keras changes rows that are not looked up
            self.assertEqual(f"{distances[1]:.0e}", after)


OWN = [
    ("RMSProp", lambda: v3.rmsprop(0.01)),
    ("AdamWeightDecay", lambda: v3.AdamWeightDecay(0.01, 0.25, ["bias"])),
]


class OldNamesTest(unittest.TestCase):
    """The map to the names of a checkpoint has every variable, or raises."""

    def model(self, optimizer, layers=2):
        dense = [tf.keras.layers.Dense(2) for _ in range(layers)]
        model = tf.keras.Sequential([tf.keras.Input([3]), *dense])
        model.compile(optimizer, "mse")
        return model

    @parameterized.expand([("not centered", False), ("centered", True)])
    def test_rmsprop_with_momentum(self, _, centered):
        hyper = {"learning_rate": 0.001, "momentum": 0.9, "centered": centered}
        hyper["epsilon"] = 0.01
        given = DATA, START, "RMSProp", hyper, [10]
        pair, page = v2.fit(*given)[10], v3.fit(*given)[10]
        self.assertEqual(page.keys(), pair.keys())
        self.assertEqual("kernel/RMSProp_2" in page, centered)
        for name in page:
            apart = np.abs(page[name] - pair[name]).max() / np.abs(pair[name]).max()
            self.assertLess(apart, 1e-6, name)

    def test_two_weights_of_one_name(self):
        model = self.model(keras.Adam())
        model.optimizer.build(model.trainable_variables)
        with self.assertRaisesRegex(
            ValueError, "two weights have the same name .*'kernel'.* `named`"
        ):
            v3.old_names(model)
        names = v3.old_names(model, lambda weight: weight.path)
        self.assertEqual(len(names), 4 + 2 * 4 + 1)
        self.assertEqual(len({id(variable) for variable in names.values()}), 13)

    def test_slots_that_are_not_there(self):
        model = self.model(keras.Adam(), 1)
        with self.assertRaisesRegex(ValueError, r"optimizer\.build\("):
            v3.old_names(model)
        model.optimizer.build(model.trainable_variables[:1])
        with self.assertRaisesRegex(ValueError, "no slot for .*/bias"):
            v3.old_names(model)

    def test_an_optimizer_that_there_was_not(self):
        model = self.model(keras.AdamW(), 1)
        model.optimizer.build(model.trainable_variables)
        with self.assertRaisesRegex(ValueError, "AdamW has no equivalent in tf.train"):
            v3.old_names(model)

    def test_a_momentum_has_the_rate_of_now_and_none_under_a_schedule(self):
        model = self.model(keras.SGD(0.5, 0.9), 1)
        model.optimizer.build(model.trainable_variables)
        slot = v3.old_names(model)["bias/Momentum"]
        model.optimizer.learning_rate = 0.25
        slot.assign(np.float32([4, 8]))
        np.testing.assert_array_equal(slot.variable, [-1, -2])
        np.testing.assert_array_equal(slot.numpy(), [4, 8])
        model = self.model(keras.SGD(keras.schedules.CosineDecay(0.5, 9), 0.9), 1)
        model.optimizer.build(model.trainable_variables)
        with self.assertRaisesRegex(ValueError, "under a schedule"):
            v3.old_names(model)

    def test_at_a_rate_of_0_there_is_no_momentum(self):
        model = self.model(keras.SGD(0.0, 0.9), 1)
        model.optimizer.build(model.trainable_variables)
        slot = v3.old_names(model)["bias/Momentum"]
        for use in (slot.numpy, lambda: slot.assign(np.float32([4, 8]))):
            with self.assertRaisesRegex(ValueError, "learning rate must not be 0"):
                use()

    @parameterized.expand([(0.0,), (-1.0,)])
    def test_what_means_something_else_to_keras_is_refused(self, number):
        with self.assertRaisesRegex(ValueError, "the limit must be positive"):
            v3.fit_clipped(DATA, START, number, [1])
        with self.assertRaisesRegex(ValueError, "_value must be positive"):
            v3.adagrad(0.5, number)

    @parameterized.expand(OWN)
    def test_a_second_build_changes_nothing(self, _, make):
        model = v3.line(START, make())
        v3.states(model, DATA, [1])
        expected, count = v3.named_values(model), len(model.optimizer.variables)
        model.optimizer.build(model.trainable_variables)
        self.assertEqual(len(model.optimizer.variables), count)
        for name, value in v3.named_values(model).items():
            np.testing.assert_array_equal(value, expected[name], name)

    @parameterized.expand(OWN)
    def test_what_was_saved_goes_on(self, _, make):
        model = v3.line(START, make())
        v3.states(model, DATA, [2])
        with tempfile.TemporaryDirectory() as folder:
            model.save(folder + "/model.keras")
            again = tf.keras.models.load_model(folder + "/model.keras")
        self.assertIs(type(again.optimizer), type(model.optimizer))
        for trained in (model, again):
            v3.states(trained, DATA, [2])
        expected, actual = v3.named_values(model), v3.named_values(again)
        self.assertEqual(actual.keys(), expected.keys())
        for name in expected:
            np.testing.assert_array_equal(actual[name], expected[name], name)

    def test_a_table_of_float64_is_trained_in_float64(self):
        random = np.random.RandomState(4)
        args = [random.randn(5, 3), random.randint(0, 5, [2, 4]), random.randn(2, 4, 3)]
        hyper = {"learning_rate": 0.1}
        way = "GradientDescent"
        ours, theirs = (p.fit_embedding(*args, way, hyper)["table"] for p in (v3, v2))
        self.assertEqual(ours.dtype, np.float64)
        self.assertLess(np.abs(ours - theirs).max(), 1e-14)

    def test_float64_is_trained_in_float64(self):
        # One step: the powers of the betas, float32 in v1, are not rounded yet.
        line = WIDE_DATA, WIDE_START, np.float64([0.125])
        pair, page = v2.fit_at_rates(*line), v3.fit_at_rates(*line)
        for name in page:
            self.assertLess(np.abs(page[name] - pair[name]).max(), 1e-14)

    def test_rates_of_every_step_give_the_same_bits_twice(self):
        rates = np.full(20, 0.125, "f")
        once, again = (v3.fit_at_rates(BATCH, START, rates) for _ in range(2))
        for name in once:
            np.testing.assert_array_equal(once[name], again[name], name)


class AutoGraphTest(unittest.TestCase):
    def test_every_method_can_be_converted(self):
        for name, method in vars(optimizers.Optimizer).items():
            if callable(method):
                with self.subTest(name):
                    tf.autograph.to_graph(method)


class SparseTest(unittest.TestCase):
    @parameterized.expand([("Adam", True), ("momentum", False), ("RMSProp", False)])
    def test_only_adam_moves_rows_that_were_not_looked_up(self, slug, moves):
        # Row 0 is looked up in the first two steps, and not in the third.
        first, all_three = (
            v2.fit_embedding(TABLE, IDS[:n], TARGETS[:n], *OPTIMIZERS[slug])["table"]
            for n in (2, 3)
        )
        self.assertTrue((first[0] != TABLE[0]).all())
        self.assertEqual((first[0] != all_three[0]).all(), moves)
        self.assertEqual((first[0] == all_three[0]).all(), not moves)
        np.testing.assert_array_equal(all_three[4], TABLE[4])

    def test_a_table_shrinks_as_a_whole_by_adam_with_weight_decay(self):
        rows = tf.IndexedSlices(tf.ones([2, 2]), tf.constant([1, 1]), [3, 2])
        weight = tf.keras.Variable(np.ones([3, 2], "f"))
        by_keras = v3.AdamWeightDecay(0.5, 0.25, [])
        by_keras.build([weight])
        found = []
        for gradient in (rows, tf.convert_to_tensor(rows)):
            table = tf.Variable(tf.ones([3, 2]), name="table")
            pairs = [(gradient, table)]
            v2.AdamWeightDecay(0.5, 0.25, []).apply_gradients(pairs)
            found.append(table.numpy())
        by_keras.apply([rows], [weight])
        np.testing.assert_array_equal(*found)
        np.testing.assert_array_equal(found[0][[0, 2]], np.full([2, 2], 0.875))
        self.assertLess(np.abs(weight.numpy() - found[0]).max(), 1e-6)


class NumbersTest(unittest.TestCase):
    def test_hyper_parameters_are_float32_even_for_float64(self):
        arguments = WIDE_DATA, WIDE_START, *OPTIMIZERS["gradient descent"], [1]
        with legacy():
            left = v1.fit(*arguments)[1]["kernel"]
        right = v2.fit(*arguments)[1]["kernel"]
        np.testing.assert_array_equal(left, right)
        exact = v2.fit(*arguments[:3], {"learning_rate": np.float64(0.01)}, [1])
        self.assertTrue((exact[1]["kernel"] != right).all())

    def test_no_gradient_at_all_is_refused_one_is_left_out(self):
        a, b = tf.Variable([2.0], name="a"), tf.Variable([3.0], name="b")
        optimizer = optimizers.Momentum(0.5, 0.5)
        with self.assertRaisesRegex(ValueError, "No gradients provided"):
            optimizer.apply_gradients([(None, a), (None, b)])
        optimizer.apply_gradients([(None, a), (tf.constant([2.0]), b)])
        self.assertEqual([a.numpy(), b.numpy()], [2, 2])


class CheckpointTest(unittest.TestCase):
    def test_a_saver_s_file_goes_on_by_name(self):
        with legacy(), v1.tf.Session() as sess, tempfile.TemporaryDirectory() as path:
            step = v1.tf.train.AdamOptimizer(0.125).minimize(v1.line_loss(DATA, START))
            sess.run(v1.tf.global_variables_initializer())
            sess.run(step)
            file = v1.tf.train.Saver().save(sess, os.path.join(path, "model"))
            sess.run(step)
            expected = {v.op.name: sess.run(v) for v in v1.tf.global_variables()}
            reader = tf.train.load_checkpoint(file)
            stored = {
                n: reader.get_tensor(n) for n in reader.get_variable_to_shape_map()
            }
        weights, loss = v2.line(DATA, START)
        adam = optimizers.Adam(0.125)
        adam.create_slots(weights)
        variables = [*weights, *adam.variables]
        self.assertEqual({v.name[:-2] for v in variables}, set(stored))
        for variable in variables:
            variable.assign(stored[variable.name[:-2]])
        adam.minimize(loss, weights)
        for name, value in v2.named_values(*variables).items():
            np.testing.assert_array_equal(value, expected[name])

    def test_a_native_checkpoint_holds_the_slots(self):
        file = []
        with tempfile.TemporaryDirectory() as path:
            for start in (2.0, 0.0):
                w = tf.Variable([start], name="w")
                adam = optimizers.Adam(0.5)
                checkpoint = tf.train.Checkpoint(w=w, optimizer=adam)
                if file:
                    adam.create_slots([w])
                    checkpoint.read(file.pop()).assert_consumed()
                else:
                    adam.apply_gradients([(tf.constant([4.0]), w)])
                    saved = v2.named_values(w, *adam.variables)
                    file.append(checkpoint.write(os.path.join(path, "model")))
        self.assertEqual(v2.named_values(w, *adam.variables), saved)
        names = ["beta1_power", "beta2_power", "w", "w/Adam", "w/Adam_1"]
        self.assertEqual(sorted(saved), names)
        self.assertEqual(adam.trainable_variables, ())
