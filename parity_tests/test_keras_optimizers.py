import functools
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import keras_cases, proof
from parity_tests.keras_cases import OLD
from tf1to2.parity import Raises, false_friends
from v1_graph import keras_optimizers as v1
from v2_eager import keras_optimizers as v2

# `fit` batches arrays by tf.data, whose functions are always traced, also eagerly.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Even though the `tf.config.experimental_run_functions_eagerly`:UserWarning"
)
RANDOM = np.random.RandomState(15)
old = functools.partial(keras_cases.old, float32=True)
friend = functools.partial(keras_cases.friend, float32=True)


def drawn(*shape):
    return RANDOM.standard_normal(shape).astype("f")


DATA, START = (drawn(70, 3), drawn(70, 2)), [drawn(3, 2), drawn(2)]
WORDS = drawn(64, 5), RANDOM.randint(0, 48, [3, 80]).astype("i"), drawn(3, 80, 5)
SAVED = [np.int64(7), drawn(3, 2), drawn(2), drawn(3, 2) ** 2, drawn(2) ** 2]
keras = tf.keras
SAME = {"eager": "the same operations one by one: proven with Adam's"}
LONG = {"eager": "a thousand steps one by one take seconds; ten are proven"}
OPTIMIZERS = {
    "gradient descent": ("SGD", {"lr": 0.05}),
    "momentum": ("SGD", {"lr": 0.05, "momentum": 0.9}),
    "Nesterov": ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
    "Adagrad": ("Adagrad", {"lr": 0.1}),
    "Adadelta": ("Adadelta", {"lr": 1.0}),
    "RMSprop": ("RMSprop", {"lr": 0.01}),
    "centered RMSprop": ("RMSprop", {"lr": 0.01, "centered": True}),
    "RMSprop with momentum": ("RMSprop", {"lr": 0.001, "momentum": 0.9}),
    "Adam": ("Adam", {"lr": 0.01}),
    "Adam by its defaults": ("Adam", {}),
    "Adam with amsgrad": ("Adam", {"lr": 0.1, "amsgrad": True}),
    "Adamax": ("Adamax", {"lr": 0.01}),
    "Nadam": ("Nadam", {"lr": 0.01}),
    "Nadam, which heeds no decay": ("Nadam", {"lr": 0.01, "decay": 0.5}),
    "Ftrl": ("Ftrl", {"learning_rate": 0.1}),
    "Ftrl, which heeds no lr": ("Ftrl", {"lr": 0.1}),
    "Ftrl with penalties": (
        "Ftrl",
        {
            "learning_rate": 0.1,
            "l1_regularization_strength": 0.01,
            "l2_regularization_strength": 0.1,
        },
    ),
    "a limit for each norm": ("SGD", {"lr": 0.5, "clipnorm": 0.25}),
    "a limit for each number": ("Adam", {"lr": 0.1, "clipvalue": 0.05}),
}
# Rates so small that a thousand steps do not converge: after that, a momentum is only
# rounding.
SLOW = {
    "momentum": ("SGD", {"lr": 1e-4, "momentum": 0.9}),
    "RMSprop": ("RMSprop", {"lr": 1e-4}),
    "Adam": ("Adam", {}),
    "Nadam": ("Nadam", {}),
    "Ftrl": ("Ftrl", {"learning_rate": 0.1}),
}
SCHEDULES = {
    "ExponentialDecay": {
        "initial_learning_rate": 0.25,
        "decay_steps": 3,
        "decay_rate": 0.7,
    },
    "PiecewiseConstantDecay": {"boundaries": [2, 5], "values": [0.25, 0.1, 0.01]},
    "PolynomialDecay": {
        "initial_learning_rate": 0.25,
        "decay_steps": 7,
        "end_learning_rate": 0.01,
        "power": 2.0,
    },
    "InverseTimeDecay": {
        "initial_learning_rate": 0.25,
        "decay_steps": 3,
        "decay_rate": 0.7,
    },
}


def renamed(optimizer, lr=None, decay=0.0, kinds=None, **hyper):
    """Makes an optimizer with only `lr` renamed."""
    if lr is not None:
        hyper["learning_rate"] = lr
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # decay= is no longer supported
        return getattr(keras.optimizers, optimizer)(decay=decay, **hyper)


def with_decay_dropped(data, start, optimizer, rate, decay, stops):
    model = v2.line(start, renamed(optimizer, rate, decay))
    return v2.states(model, data, stops)


def without_decay(data, start, rate, decay, halve_every, epochs):
    return v2.decay_and_callbacks(data, start, rate, 0.0, halve_every, epochs)


def by_the_attribute_lr(data, start, rates, momentum):
    model = v2.line(start, v2.legacy("SGD", momentum=momentum))
    read = []
    for rate in rates:
        read.append(model.optimizer.learning_rate.numpy())
        model.optimizer.lr = rate
        model.train_on_batch(*data)
    return v2.state(model), read


def by_the_key_lr(data, start, halve_every, epochs):
    model = v2.line(start, keras.optimizers.Adam(0.25))
    callback = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # from Keras' own code
        return v2.fit_whole(model, data, epochs, callback)["lr"]


def by_set_weights(data, start, saved, stops):
    model = v2.line(start, keras.optimizers.Adam())
    model.optimizer.set_weights(saved)
    return v2.states(model, data, stops)


def by_deserialize(data, start, optimizer, config, stops):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optimizer = keras.optimizers.deserialize(
            {"class_name": optimizer, "config": dict(config)}
        )
    return v2.states(v2.line(start, optimizer), data, stops)


def with_its_clipnorm(data, start, rate, clipnorm, steps):
    clipping = functools.partial(keras.optimizers.SGD, clipnorm=clipnorm)
    with mock.patch.object(v2.keras.optimizers, "SGD", clipping):
        return v2.apply_gradients(data, start, rate, clipnorm, steps)


def by_keras_adam(data, start, rate, steps):
    model = v2.line(start, keras.optimizers.Adam(rate))
    v2.fit_whole(model, data, steps)
    return model.get_weights()


by_renaming = mock.patch.object(v2, "legacy", renamed)(v2.fit)
as_they_are = mock.patch.object(v2, "legacy", renamed)(v2.fit_embedding)
FRIENDS = {
    "Ftrl, which heeds no lr": "in 1.15 its rate stayed 0.001, whatever lr= said",
    "Nadam": "its momentum is 0.9 * (1 - 0.96**step / 2); step was 0.004 * step",
}


def ten_steps(slug):
    arguments = "fit", f"ten steps of {slug}", [DATA, START, *OPTIMIZERS[slug], [1, 10]]
    skip = () if slug in ("Adam", "Nadam", "RMSprop") else SAME
    if slug in FRIENDS:
        return friend(*arguments, by_renaming, FRIENDS[slug], skip=skip)
    return old(*arguments, skip=skip)


CASES = [
    *map(ten_steps, OPTIMIZERS),
    friend(
        "fit",
        "small gradients, by RMSprop",
        [(DATA[0], DATA[1] / 1e5), [w / 1e5 for w in START]]
        + ["RMSprop", {"lr": 1e-7}, [1, 10]],
        by_renaming,
        "epsilon is added under the root, where it is 3e-4 of the gradient",
        skip=SAME,
    ),
    friend(
        "fit",
        "an epsilon of None is the default",
        [DATA, START, "Adam", {"lr": 0.01, "epsilon": None}, [2]],
        by_renaming,
        "Keras 3 adds what it is given",
        skip=SAME,
        differs="raises",
    ),
    *[
        old(
            "fit",
            f"a thousand steps of {slug}",
            [DATA, START, name, hyper, [0, 10, 1000]],
            skip=LONG,
        )
        for slug, (name, hyper) in SLOW.items()
    ],
    friend(
        "fit_with_decay",
        "gradient descent",
        [DATA, START, "SGD", 0.25, 0.5, [1, 10]],
        with_decay_dropped,
        "decay= is dropped: a warning, and the rate stays what it is",
    ),
    old("fit_with_decay", "Adam", [DATA, START, "Adam", 0.1, 0.01, [1, 10]]),
    *[
        old("fit_by_schedule", name, [DATA, START, name, arguments, [1, 2, 3, 6, 10]])
        for name, arguments in SCHEDULES.items()
    ],
    old(
        "fit_by_schedule",
        "a staircase",
        [DATA, START, "ExponentialDecay"]
        + [{**SCHEDULES["ExponentialDecay"], "staircase": True}, [1, 3, 4, 10]],
    ),
    friend(
        "fit_at_rates",
        "falling, with momentum",
        [DATA, START, [0.25, 0.25, 0.1, 0.01], 0.9],
        by_the_attribute_lr,
        "it makes an attribute that nobody reads",
    ),
    friend(
        "rate_by_epoch",
        "twice",
        [DATA, START, 3, 8],
        by_the_key_lr,
        "the history calls it learning_rate",
        differs="raises",
    ),
    old(
        "reduce_on_plateau",
        "a rate too large",
        [DATA, START, 3.0, 12],
        kwargs={"factor": 0.5, "patience": 1, "cooldown": 1, "min_lr": 0.5},
    ),
    old(
        "reduce_on_plateau",
        "a loss that falls too little",
        [DATA, START, 0.25, 12],
        kwargs={"factor": 0.1, "patience": 2, "min_delta": 0.01},
    ),
    friend(
        "decay_and_callbacks",
        "halved twice",
        [DATA, START, 0.25, 0.1, 3, 8],
        without_decay,
        "decay= is dropped: a warning, and callbacks alone set the rate",
    ),
    old("fit_from_step", "the eighth", [DATA, START, 7, 0.1, 0.5, [1, 10]]),
    friend(
        "rebuild",
        "Adagrad of Keras 2.2",
        [DATA, START, "Adagrad"]
        + [{"learning_rate": 0.1, "decay": 0.0, "epsilon": 1e-7}, [1, 10]],
        by_deserialize,
        "its accumulators began at zero, and begin at 0.1",
    ),
    old(
        "rebuild",
        "gradient descent with decay",
        [DATA, START, "SGD"]
        + [{"name": "SGD", "lr": 0.25, "momentum": 0.5, "decay": 0.5}, [1, 10]],
    ),
    old(
        "rebuild",
        "Adam with a schedule",
        [DATA, START, "Adam"]
        + [
            {
                "learning_rate": {
                    "class_name": "ExponentialDecay",
                    "config": SCHEDULES["ExponentialDecay"],
                },
                "decay": 0.0,
                "beta_1": 0.8,
            },
            [1, 10],
        ],
    ),
    friend(
        "resume",
        "from step 7",
        [DATA, START, SAVED, [0, 1, 10]],
        by_set_weights,
        "the second array is the rate, and the means stand beside their squares",
        differs="raises",
    ),
    *[
        friend(
            "fit_embedding",
            name,
            [*WORDS, name, {"lr": 0.1}],
            as_they_are,
            "each time that a row was looked up is squared by itself",
        )
        for name in ("Adagrad", "RMSprop", "Adam")
    ],
    old("fit_embedding", "gradient descent", [*WORDS, "SGD", {"lr": 0.1}]),
    *[
        old(
            "fit_embedding",
            f"{name}, within a limit",
            [*WORDS, name, {"lr": 0.1, **limit}],
        )
        for name, limit in (("SGD", {"clipnorm": 0.05}), ("Adam", {"clipvalue": 0.01}))
    ],
    friend(
        "apply_gradients",
        "within a limit of 0.25, which is passed",
        [DATA, START, 0.25, 0.25, 5],
        with_its_clipnorm,
        "apply_gradients clips what it is given; in TensorFlow 1 only fit did",
    ),
    old(
        "train_by_function",
        "Adam",
        [DATA, START, "Adam", {"lr": 0.1, "clipnorm": 0.1}, 5],
    ),
    old("own_optimizer", "ten steps", [DATA, START, 0.1, 0.9, 0.01, [1, 10]]),
    friend(
        "fit_by_tf_train",
        "Adam",
        [DATA, START, 0.1, 10],
        by_keras_adam,
        "epsilon is 1e-7, and that of tf.train is 1e-8",
    ),
    Raises(
        "fit",
        "an argument that no optimizer has",
        [DATA, START, "Adam", {"rate": 0.1}, [1]],
        of="program",
        graph=TypeError,
        eager=ValueError,
        function=ValueError,
        match="Unexpected keyword argument|not recognized",
        skip=OLD,
    ),
    Raises(
        "fit",
        "both limits, which worked",
        [DATA, START, "SGD", {"clipnorm": 0.25, "clipvalue": 0.1}, [1]],
        of="program",
        eager=ValueError,
        function=ValueError,
        match="Only one of `clipnorm`",
        skip=OLD,
    ),
    Raises.alike(
        "reduce_on_plateau",
        "a factor of one",
        [DATA, START, 0.5, 2],
        ValueError,
        "does not support a factor",
        kwargs={"factor": 1.0},
        of="program",
        skip=OLD,
    ),
    Raises.alike(
        "resume",
        "an array is missing",
        [DATA, START, SAVED[:-1], [1]],
        ValueError,
        "length 4|shorter than argument 1",
        of="program",
        skip=OLD,
    ),
]
PROOF = proof(v1, v2, CASES)


class KerasOptimizersTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


def largest(name, slug, leaf):
    """Returns a false friend's distance in a leaf, and the leaf's largest value."""
    (case,) = [c for c in CASES if (c.name, c.slug) == (name, slug)]
    left, naive = (side[leaf] for side in false_friends.both(PROOF, case, {}))
    return f"{np.abs(left - naive).max():.1e} {np.abs(left).max():.1e}"


class DistancesTest(unittest.TestCase):
    """Checks what the chapter says about Keras 3 without the right page."""

    @parameterized.expand(
        [
            (
                "fit_with_decay",
                "gradient descent",
                "outputs/10/kernel",
                "5.3e-01 6.7e-01",
            ),
            (
                "fit_at_rates",
                "falling, with momentum",
                "outputs/0/kernel",
                "2.5e+00 1.0e+00",
            ),
            (
                "fit",
                "ten steps of Ftrl, which heeds no lr",
                "outputs/1/kernel",
                "9.8e-02 1.4e+00",
            ),
            ("fit", "ten steps of Nadam", "outputs/10/kernel", "2.9e-03 1.6e+00"),
            (
                "decay_and_callbacks",
                "halved twice",
                "outputs/0/kernel",
                "2.0e-01 6.4e-01",
            ),
            ("fit_embedding", "Adam", "outputs", "2.1e-01 2.7e+00"),
            ("fit_embedding", "RMSprop", "outputs", "4.8e-01 2.7e+00"),
            ("fit_embedding", "Adagrad", "outputs", "3.0e-04 3.0e+00"),
            (
                "apply_gradients",
                "within a limit of 0.25, which is passed",
                "outputs/kernel",
                "1.1e+00 5.1e-01",
            ),
            (
                "rebuild",
                "Adagrad of Keras 2.2",
                "outputs/1/kernel",
                "5.9e-02 1.5e+00",
            ),
            ("fit_by_tf_train", "Adam", "outputs/0", "6.0e-06 6.7e-01"),
        ]
    )
    def test_distance(self, name, slug, leaf, told):
        self.assertEqual(largest(name, slug, leaf), told)

    def test_the_first_step_of_rmsprop(self):
        data = next(c for c in CASES if "small" in c.slug).args[:2]
        hyper = {"learning_rate": 1e-7}
        first = []
        for form in (v2.fit, by_renaming):
            state = form(*data, "RMSprop", hyper, [1])[1]
            first.append(f"{abs(state['kernel'] - data[1][0])[0, 0]:.0e}")
        self.assertEqual(first, ["3e-07", "2e-09"])

    @parameterized.expand(
        [
            ("LearningRateScheduler", {"schedule": lambda epoch: 0.1}),
            (
                "ReduceLROnPlateau",
                {"monitor": "loss", "patience": 1, "min_delta": 99.0},
            ),
        ]
    )
    def test_no_callback_sets_a_schedule(self, callback, arguments):
        schedule = keras.optimizers.schedules.InverseTimeDecay(0.25, 1, 0.5)
        model = v2.line(START, keras.optimizers.SGD(schedule))
        callback = getattr(keras.callbacks, callback)(**arguments)
        with self.assertRaisesRegex(TypeError, "not settable"):
            v2.fit_whole(model, DATA, 3, callback)

    @parameterized.expand(
        [
            ("Adagrad", {"initial_accumulator_value": 0.5}),
            ("RMSprop", {"rho": 0.5, "centered": True}),
            ("Nadam", {"beta_1": 0.5, "schedule_decay": 0.25}),
            ("Adam", {"beta_1": 0.5}),
        ]
    )
    def test_what_was_saved_goes_on(self, name, hyper):
        for kinds in (v2.OPTIMIZERS, v2.ROWS_SUMMED):
            made = v2.legacy(name, learning_rate=0.125, kinds=kinds, **hyper)
            model = v2.line(START, made)
            v2.fit_whole(model, DATA, 3)
            made.build(model.trainable_variables)  # a second build changes nothing
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "model.keras")
                model.save(path)
                loaded = keras.models.load_model(path)
            self.assertIs(type(loaded.optimizer), type(made))
            for one in (model, loaded):
                v2.fit_whole(one, DATA, 2)
            self.assertEqual(loaded.optimizer.iterations, 5)
            for old, new in zip(model.weights, loaded.weights, strict=True):
                np.testing.assert_array_equal(new, old)

    @parameterized.expand(
        [
            ("Adagrad", "bfloat16"),
            ("RMSprop", "bfloat16"),
            ("Nadam", "float64"),
            ("own", "bfloat16"),
        ]
    )
    def test_weights_of_another_dtype_than_the_rate(self, name, dtype):
        made = v2.DecayedMomentum(0.5, 0.5, 0.5)
        made = made if name == "own" else v2.legacy(name, learning_rate=0.5)
        weight = keras.Variable(np.ones(2), dtype=dtype)
        made.build([weight])
        made.apply([tf.ones(2, dtype)], [weight])
        self.assertEqual(weight.dtype, dtype)
        self.assertTrue((weight.numpy() < 1).all())

    def test_rows_are_summed_where_a_weight_has_no_gradient(self):
        made = v2.legacy("SGD", learning_rate=1.0, kinds=v2.ROWS_SUMMED, clipvalue=0.5)
        weights = [keras.Variable(np.zeros([3, 1], "f")) for _ in range(2)]
        made.build(weights)
        rows = tf.IndexedSlices(tf.ones([2, 1]), tf.constant([1, 1]), [3, 1])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Gradients do not exist")
            made.apply([rows, None], weights)
        np.testing.assert_array_equal(weights[0], [[0], [-1], [0]])
        np.testing.assert_array_equal(weights[1], np.zeros([3, 1]))

    @parameterized.expand(["Adagrad", "RMSprop", "Nadam"])
    def test_rows_are_summed_by_what_the_page_writes_itself(self, name):
        rows = tf.IndexedSlices(tf.ones([2, 1]), tf.constant([1, 1]), [3, 1])
        found = []
        for gradient in (rows, tf.convert_to_tensor(rows)):
            weight = keras.Variable(np.zeros([3, 1], "f"))
            made = v2.legacy(name, **({"centered": True} if name == "RMSprop" else {}))
            made.build([weight])
            made.apply([gradient], [weight])
            found.append(weight.numpy())
        self.assertLess(found[0][1], 0)
        np.testing.assert_array_equal(*found)

    def test_replicas_have_the_limits_that_were_given(self):
        code = (
            "import keras, numpy as np, tensorflow as tf;"
            "(cpu,) = tf.config.list_physical_devices('CPU');"
            "parts = [tf.config.LogicalDeviceConfiguration()] * 2;"
            "tf.config.set_logical_device_configuration(cpu, parts);"
            "from v2_eager import keras_optimizers as v2;"
            "by_one = tf.distribute.ReductionToOneDevice();"
            "strategy = tf.distribute.MirroredStrategy(['CPU:0', 'CPU:1'], by_one);"
            "scope = strategy.scope(); scope.__enter__();"
            "limit = {'kinds': v2.ROWS_SUMMED, 'clipvalue': 0.25};"
            "model = v2.line([np.ones([1, 1]), np.zeros(1)], v2.legacy("
            "'SGD', learning_rate=1.0, **limit));"
            "scope.__exit__(None, None, None);"
            "rows = np.full([2, 1], 8.0), np.zeros([2, 1]);"
            "model.fit(*rows, batch_size=2, epochs=2, shuffle=False, verbose=0);"
            "print(model.get_weights()[0].item());"
            "print(model.optimizer.get_config()['clipvalue'])"
        )
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        # In each step both replicas have a gradient of 0.25, and Keras sums them.
        self.assertEqual(run.stdout.split(), ["0.0", "0.25"])

    @parameterized.expand(
        [
            # 1.15.5 raised "Expected lr >= 0, received: -1.0", and the like for the
            # others.
            ("SGD", {"lr": -1.0}, "expected lr >= 0"),
            ("SGD", {"decay": -0.5}, "expected decay >= 0"),
            ("Adam", {"clipnorm": -1.0}, "expected clipnorm >= 0"),
            ("Adam", {"clipvalue": -1.0}, "expected clipvalue >= 0"),
            ("Adam", {"clipvalue": 0.0}, "ignores a limit of 0"),
            ("SGD", {"learning_rate": lambda: 0.5, "decay": 0.5}, "with a schedule"),
        ]
    )
    def test_what_legacy_refuses(self, name, hyper, message):
        with self.assertRaisesRegex(ValueError, message):
            v2.legacy(name, **hyper)

    def test_a_limit_of_0_stands_still_as_it_did(self):
        limits = {"clipnorm": 0.0, "clipvalue": 1.0}  # both at once, as in TensorFlow 1
        made = v2.legacy("SGD", kinds=v2.ROWS_SUMMED, **limits)
        model = v2.line(START, made)
        v2.fit_whole(model, DATA, 2)
        np.testing.assert_array_equal(model.get_weights()[0], START[0])
        again = type(made).from_config(made.get_config())
        self.assertEqual(again.limits, (0.0, 1.0, None))

    @parameterized.expand([("clipnorm",), ("clipvalue",), ("global_clipnorm",)])
    def test_a_limit_of_accumulated_gradients_is_refused(self, limit):
        for kind in (v2.Nadam, v2.ROWS_SUMMED["Adam"]):
            with self.assertRaisesRegex(ValueError, "not their mean"):
                kind(gradient_accumulation_steps=2, **{limit: 0.5})

    def test_accumulated_gradients_are_one_step_of_nadam(self):
        found = []
        for steps in (None, 2):
            made = v2.Nadam(0.5, gradient_accumulation_steps=steps)
            weight = keras.Variable(np.ones(2, "f"))
            made.build([weight])
            for _ in range(3 * (steps or 1)):
                made.apply([tf.constant([1.0, -2.0])], [weight])
            found.append((weight.numpy(), made.product.numpy()))
        for once, accumulated in zip(*found, strict=True):
            np.testing.assert_array_equal(accumulated, once)

    def test_slots_of_weights_of_one_name_are_not_mixed_up(self):
        weights = [keras.Variable(np.ones(2, "f"), name="w") for _ in range(2)]
        made = v2.RMSprop(0.5, centered=True, gradient_accumulation_steps=2)
        made.build(weights)
        slots = [*made.squares, *made.means]
        self.assertEqual(len({id(slot) for slot in slots}), 4)
        names = [slot.name for slot in slots]
        self.assertEqual(names, ["w_velocity"] * 2 + ["w_average_gradient"] * 2)

    def test_classes_of_summed_rows_have_names_of_their_own(self):
        names = {name: kind.__name__ for name, kind in v2.ROWS_SUMMED.items()}
        own = {"Adagrad", "RMSprop", "Nadam"}
        expected = {n: n if n in own else f"{n}RowsSummed" for n in v2.OPTIMIZERS}
        self.assertEqual(names, expected)

    def test_an_optimizer_that_there_is_not(self):
        with self.assertRaisesRegex(ValueError, "optimizer must be one of SGD"):
            v2.legacy("Adams")

    def test_tf_keras_does_not_heed_lr(self):
        code = (
            "import tensorflow as tf;"
            "print(float(tf.keras.optimizers.SGD(lr=0.5).learning_rate))"
        )
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "TF_USE_LEGACY_KERAS": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(float(run.stdout), float(np.float32(0.01)))
        self.assertIn("`lr` is deprecated", run.stderr)


if __name__ == "__main__":
    unittest.main()
