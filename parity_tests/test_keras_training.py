import functools
import importlib
import inspect
import os
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
from tf1to2.parity import (
    FalseFriend,
    Op,
    Raises,
    false_friends,
    normal,
    uniform,
)
from tf1to2.parity.releases import here
from v1_graph import keras_training as v1
from v2_eager import keras_functions, keras_multiple
from v2_eager import keras_training as v2
from v2_eager.keras_training import models

# `fit` batches arrays by tf.data, whose functions are always traced, also eagerly.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Even though the `tf.config.experimental_run_functions_eagerly`:UserWarning"
)
RANDOM = np.random.RandomState(16)


def drawn(*shape):
    return RANDOM.standard_normal(shape).astype("f")


def labelled(rows):
    """Draws rows of four numbers, and for each row a class that depends on them."""
    x = drawn(rows, 4)
    return x, np.argmax(x[:, :3] + drawn(rows, 3) / 2, axis=1).astype("i")


DATA, VALIDATION = labelled(70), labelled(40)
START = [drawn(4, 5), drawn(5), drawn(5, 3), drawn(3)]
TWO = [drawn(4, 5), drawn(5), drawn(5, 1), drawn(1)]
PAIRS = DATA[0], (DATA[1][:, np.newaxis] > 0).astype("f")
ROWS = RANDOM.uniform(0, 2, 70).astype("f")
CLASSES = {0: 1.0, 1: 2.5, 2: 0.25}
SATURATED = (
    np.float32([[1, 0, 1, 0], [1, 1, 0, 0]]),
    np.float32([[0, 1, 1, 0], [1e-7, 0.3, 0.9, 0.0]]),
)
LENGTHS = 1 + np.arange(70) % 5
PADDED = (
    drawn(70, 5, 4) * (np.arange(5) < LENGTHS[:, np.newaxis])[..., np.newaxis],
    RANDOM.randint(0, 3, [70, 5]).astype("i"),
)
GAN = (
    drawn(6, 64, 4) @ drawn(4, 4) + 1,
    drawn(6, 64, 3),
    ([drawn(3, 4), drawn(4)], [drawn(4, 5), drawn(5), drawn(5, 1), drawn(1)]),
)
NAMED = (
    {"left": drawn(70, 4), "right": drawn(70, 2)},
    {"kind": DATA[1], "score": drawn(70, 1)},
)
NAMED_START = [drawn(6, 5), drawn(5), drawn(5, 3), drawn(3), drawn(5, 1), drawn(1)]
HELD = tuple({name: rows[:16] for name, rows in side.items()} for side in NAMED)
FAR = np.float32([[-40, -20, 0.5, 20], [40, 16, -0.5, -40]])
YES_NO = np.float32([[1, 0, 1, 0], [0, 1, 1, 0]])
keras = tf.keras
TRACES = 2  # the last batch has fewer rows
old = functools.partial(keras_cases.old, float32=True, traces=TRACES)
friend = functools.partial(keras_cases.friend, float32=True, traces=TRACES)


def by_accuracy(data, start, epochs, batch_size):
    model = v2.network(start, metrics=["accuracy"])
    options = {"batch_size": batch_size, "epochs": epochs, "shuffle": False}
    history = model.fit(*data, validation_split=0.25, verbose=0, **options)
    return v2.told(history), model.get_weights()


def by_the_old_words(data, start, validation, epochs, batch_size):
    class Log(v2.EventLog):
        def on_epoch_end(self, epoch, logs=None):
            self.events.append(list(logs))

    compiled = keras.Model.compile

    def by_their_words(self, metrics, **options):
        metrics = {"kind": ["accuracy"], "score": ["mae"]}
        return compiled(self, metrics=metrics, **options)

    replaced = mock.patch.object(keras.Model, "compile", by_their_words)
    with mock.patch.object(v2, "EventLog", Log), replaced:
        return v2.fit_named(data, start, validation, epochs, batch_size)


def by_its_validation_data(data, start, epochs, batch_size):
    fit = keras.Sequential.fit

    def validated(self, batches, callbacks, **options):
        (validation,) = callbacks
        options["validation_data"] = validation.batches
        return fit(self, batches, validation_steps=validation.steps, **options)

    with mock.patch.object(keras.Sequential, "fit", validated):
        return v2.fit_generator(data, start, epochs, batch_size)


def frozen_for_good(data, noise, starts):
    """Sets the discriminator's flag once, before `gan` compiles, as in v1."""

    class Frozen(keras.Sequential):
        trainable = property(lambda self: False, lambda self, value: None)

    network = functools.partial(v2.network, model=Frozen)
    with mock.patch.object(v2, "network", network), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The model does not have any trainable")
        return v2.train_gan(data, noise, starts)


def the_loss_as_it_is(data, start, epochs, batch_size, steps):
    dataset = tf.data.Dataset.from_tensor_slices(data).batch(batch_size).repeat()
    model = v2.network(start)
    options = {"epochs": epochs, "steps_per_epoch": steps, "shuffle": False}
    return v2.told(model.fit(dataset, verbose=0, **options)), model.get_weights()


def by_both_weights(data, start, epochs, batch_size, rows, classes):
    weights = {"sample_weight": rows, "class_weight": classes}
    options = {"batch_size": batch_size, "epochs": epochs, "shuffle": False}
    model = v2.network(start)
    return v2.told(model.fit(*data, verbose=0, **options, **weights))


def by_the_mean_of_keras(data, start, epochs, batch_size):
    of_keras = keras.losses.SparseCategoricalCrossentropy
    with mock.patch.object(v2, "OverAllSteps", of_keras):
        return v2.fit_padded(data, start, epochs, batch_size)


def by_a_seed_of_keras(data, start, epochs, batch_size, seed):
    model = v2.network(start)
    keras.utils.set_random_seed(seed)
    options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
    return v2.told(model.fit(*data, **options)), model.get_weights()


def after_an_eager_sigmoid(targets, outputs, *_):
    return keras.losses.binary_crossentropy(targets, tf.sigmoid(outputs))


def by_the_old_suffix(data, start, validation, epochs):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "{epoch:02d}.h5")
        return keras.callbacks.ModelCheckpoint(path, save_weights_only=True)


def by_the_running_mean(data, start, epochs, batch_size):
    class Log(v2.BatchLog):
        def on_train_batch_end(self, batch, logs=None):
            self.losses.append(logs["loss"])

    with mock.patch.object(v2, "BatchLog", Log):
        return v2.log_batches(data, start, epochs, batch_size)


class ShufflesAtTheEnd(v2.Batches):
    def on_epoch_end(self):
        self.shuffle()


def by_its_val_loss(data, start, validation, epochs, batch_size, seed):
    kept = v2.told

    def as_it_is(history):
        found = kept(history)
        return {**found, "val_mean_loss": found["val_loss"]}

    with mock.patch.object(v2, "told", as_it_is):
        return v2.fit_sequence(data, start, validation, epochs, batch_size, seed)


at_the_end = mock.patch.object(v2, "Batches", ShufflesAtTheEnd)
without_frozen = mock.patch.object(v2, "CountsFrozen", keras.Sequential)
as_it_is = mock.patch.object(v2, "EarlyStopping", keras.callbacks.EarlyStopping)
CASES = [
    friend(
        "fit_arrays",
        "three epochs",
        [DATA, START, 3, 16],
        by_accuracy,
        "the history says accuracy where compile did, and said acc",
        differs="structure",
    ),
    friend(
        "fit_generator",
        "three epochs",
        [DATA, START, 3, 16],
        by_its_validation_data,
        "it validates by the first two batches every time, and went on",
    ),
    friend(
        "fit_sequence",
        "a last batch of six rows",
        [DATA, START, VALIDATION, 3, 16, 7],
        at_the_end(v2.fit_sequence),
        "on_epoch_end is called before the first epoch, too",
    ),
    friend(
        "fit_sequence",
        "a last batch of eight rows that validates",
        [DATA, START, VALIDATION, 2, 16, 5],
        by_its_val_loss,
        "the loss of a validation is the mean over rows, and was one over batches",
    ),
    friend(
        "fit_sequence",
        "a seed of 0",
        [DATA, START, VALIDATION, 3, 16, 0],
        at_the_end(v2.fit_sequence),
        "on_epoch_end is called before the first epoch, too",
    ),
    friend(
        "fit_frozen",
        "a penalty of 0.01",
        [DATA, START, 3, 16],
        without_frozen(v2.fit_frozen),
        "the penalty of a frozen weight is in no loss any more",
    ),
    friend(
        "fit_dataset",
        "a last batch of six rows",
        [DATA, START, 3, 16, 5],
        the_loss_as_it_is,
        "the loss of an epoch is the mean over rows, and was one over batches",
    ),
    old("fit_weighted", "rows", [DATA, START, 3, 16, ROWS]),
    old("fit_weighted", "classes", [DATA, START, 3, 16, None, CLASSES]),
    old(
        "fit_weighted",
        "classes in a column",
        [(DATA[0], DATA[1][:, np.newaxis]), START, 3, 16, None, CLASSES],
    ),
    friend(
        "fit_weighted",
        "rows and classes",
        [DATA, START, 3, 16, ROWS, CLASSES],
        by_both_weights,
        "Keras 3 takes one of the two",
        differs="raises",
    ),
    friend(
        "fit_padded",
        "three steps of five on average",
        [PADDED, [START[2][:4], START[3]], 3, 16],
        by_the_mean_of_keras,
        "Keras 3 divides by the steps that count, and 1.15 by all steps",
    ),
    friend(
        "fit_shuffled",
        "a seed of NumPy",
        [DATA, START, 3, 16, 7],
        by_a_seed_of_keras,
        "tf.data shuffles in another order, by whatever seed",
    ),
    friend(
        "fit_named",
        "two epochs that are validated",
        [NAMED, NAMED_START, HELD, 2, 16],
        by_the_old_words,
        "the logs are sorted, and say accuracy and mae where compile did",
        skip={"eager": "eagerly Keras knows the rows of a batch, and weighs by them"},
        differs="structure",
    ),
    old("fit_shuffled", "rows that validate", [DATA, START, 3, 16, 7, 0.25]),
    old("plain_loop", "three epochs", [DATA, START, 3, 16]),
    old("train_on_batches", "four batches", [DATA, START, 16, 4]),
    friend(
        "train_gan",
        "six steps",
        [*GAN],
        frozen_for_good,
        "the discriminator's first step finds the flag that is set after its compile",
    ),
    old(
        "evaluate",
        "functions and classes",
        [PAIRS, TWO, 16, ["accuracy", "mae", "AUC", "Precision", "Recall"]],
    ),
    old(
        "evaluate",
        "classes by the words of their names",
        [
            PAIRS,
            TWO,
            16,
            ["TruePositives", "FalseNegatives", "BinaryAccuracy", "MeanSquaredError"],
        ],
    ),
    old("predict_classes", "three classes", [DATA[0], START, 16]),
    old("predict_classes", "yes or no", [DATA[0], TWO, 16]),
    Op(
        "binary_loss",
        "probabilities",
        [uniform("n", 3), uniform("n", 3)],
        skip=OLD,
    ),
    Op(
        "binary_loss",
        "logits, smoothed",
        [uniform("n", 3), normal("n", 3), True, 0.1],
        skip=OLD,
    ),
    Op(
        "binary_loss",
        "targets that are whole numbers",
        [np.int32([[1, 0, 1], [0, 0, 1]]), np.float32([[0.3, 0.4, 0.9], [0.5, 1, 0]])],
        skip=OLD,
    ),
    FalseFriend(
        "binary_loss",
        "outputs of 0 and 1",
        [*SATURATED],
        naive=keras.losses.binary_crossentropy,
        because="it clips, and does not add epsilon to what it has clipped",
        skip=OLD,
    ),
    FalseFriend(
        "binary_loss",
        "far from 0, after a sigmoid",
        [YES_NO, FAR, False, 0, True],
        naive=after_an_eager_sigmoid,
        because="the graph took the logits of a sigmoid, which clips 1e-7 eagerly",
        skip=OLD,
    ),
    friend(
        "stop_early",
        "the epochs end first",
        [DATA, START, VALIDATION, 6],
        as_it_is(v2.stop_early),
        "that of Keras 3 goes back to the best weights in any case",
        kwargs={"rate": 6.0, "patience": 10},
    ),
    old(
        "stop_early",
        "it stops",
        [DATA, START, VALIDATION, 30],
        kwargs={"rate": 6.0, "patience": 2},
    ),
    old(
        "stop_early",
        "losses that become NaN",
        [DATA, START, VALIDATION, 30],
        kwargs={"rate": 1e10, "patience": 2},
    ),
    old(
        "stop_early",
        "a baseline that is reached",
        [DATA, START, VALIDATION, 30],
        kwargs={"rate": 6.0, "patience": 3, "baseline": 1.5},
    ),
    Raises.alike(
        "stop_early",
        "losses that are NaN",
        [DATA, START, (VALIDATION[0] * np.float32(np.nan), VALIDATION[1]), 30],
        TypeError,
        "'NoneType' has no len|no best weights",
        kwargs={"patience": 2},
        of="program",
        skip={**OLD, "function": "by default a fused ReLU makes 0 of NaN"},
    ),
    friend(
        "keep_the_best",
        "ten epochs",
        [DATA, START, VALIDATION, 10],
        by_the_old_suffix,
        "weights are saved in files that end in .weights.h5",
        differs="raises",
    ),
    friend(
        "log_batches",
        "two epochs",
        [DATA, START, 2, 16],
        by_the_running_mean,
        "the loss is the mean of the epoch up to the batch",
    ),
    old("own_metric", "five batches", [PAIRS, TWO, 16]),
    Raises(
        "fit_weighted",
        "a class is missing",
        [DATA, START, 1, 16, None, {0: 1.0, 1: 2.0}],
        of="program",
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="all classes in the data|a weight for class 2",
        skip=OLD,
    ),
    Raises.alike(
        "evaluate",
        "a metric that there is not",
        [PAIRS, TWO, 16, ["exactness"]],
        ValueError,
        "exactness",
        of="program",
        skip=OLD,
    ),
]
PROOF = proof(v1, v2, CASES)


class KerasTrainingTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class EarlyStoppingTest(unittest.TestCase):
    def test_it_goes_back_in_a_second_run_too(self):
        callback = v2.EarlyStopping("val_loss", restore_best_weights=True, patience=1)

        def best_and_last(rate, epochs):
            model = v2.network(START, rate=rate)
            model.fit(
                *DATA,
                batch_size=len(DATA[0]),
                epochs=epochs,
                validation_data=VALIDATION,
                shuffle=False,
                callbacks=[callback],
                verbose=0,
            )
            last = model.evaluate(*VALIDATION, verbose=0, return_dict=True)["loss"]
            return callback.best, last

        best_and_last(0.25, 1)  # the epochs end before the patience does
        best, last = best_and_last(6.0, 20)
        self.assertLess(callback.stopped_epoch, 19)
        self.assertLess(abs(best - last), 1e-5)

    @parameterized.expand(
        [
            ("acc", "val_acc", {}, [0.5, 0.75, 0.625, 0.625], 0.75),
            ("max", "val_f1", {"mode": "max"}, [0.5, 0.75, 0.625, 0.625], 0.75),
            ("a loss", "val_loss", {}, [2.0, 1.5, 1.75, 1.75], 1.5),
            ("whatever else", "val_f1", {}, [0.5, 0.75, 0.625, 0.625], 0.5),
        ]
    )
    def test_what_is_to_rise_and_what_is_to_fall(self, _, monitor, mode, values, best):
        """In 1.15.5 only "acc" should rise, all else fall; Keras 3 asks the metric."""
        stopping = v2.EarlyStopping(
            monitor, patience=2, restore_best_weights=True, **mode
        )
        stopping.set_model(v2.network(START))
        stopping.on_train_begin()
        for epoch, value in enumerate(values):
            stopping.on_epoch_end(epoch, {monitor: value})
        self.assertEqual(stopping.best, best)
        self.assertTrue(stopping.stopped_epoch)
        stopping.on_train_end()

    def test_a_baseline_that_is_not_reached(self):
        """1.15.5 raised TypeError: object of type 'NoneType' has no len()."""
        stopping = {"patience": 2, "baseline": 0.125}
        with self.assertRaisesRegex(TypeError, "val_loss was never better than 0.125"):
            v2.stop_early(DATA, START, VALIDATION, 30, **stopping)

    def test_another_callback_that_stops_goes_back_to_nothing(self):
        stopping = v2.EarlyStopping("loss", patience=9, restore_best_weights=True)
        model = v2.network(START)
        stopping.set_model(model)
        stopping.on_train_begin()
        stopping.on_epoch_end(0, {"loss": 1.0})
        model.set_weights([array + 1 for array in START])
        stopping.on_epoch_end(1, {"loss": 2.0})
        model.stop_training = True  # as TerminateOnNaN does
        stopping.on_train_end()
        np.testing.assert_array_equal(model.get_weights()[0], START[0] + 1)


class SavedTest(unittest.TestCase):
    """Models with classes of the pages can be saved, loaded and trained further."""

    @parameterized.expand(
        [
            ("TellsBatches", {"model": v2.TellsBatches}),
            ("CountsFrozen", {"model": v2.CountsFrozen}),
            ("OverAllSteps", {"loss": v2.OverAllSteps()}),
            ("TellsMean", {"model": keras_multiple.TellsMean}),
            ("SharedByRows", {"model": keras_multiple.SharedByRows}),
        ]
    )
    def test_it_goes_on(self, name, options):
        (made,) = options.values()
        own = made if isinstance(made, type) else type(made)
        model = v2.network(START, **options)
        fit = {"batch_size": 16, "shuffle": False, "verbose": 0}
        model.fit(*DATA, **fit)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.keras")
            model.save(path)
            loaded = keras.models.load_model(path, {name: own})
        told, wanted = (v2.told(m.fit(*DATA, **fit)) for m in (loaded, model))
        self.assertEqual(told, wanted)


class FunctionalTest(unittest.TestCase):
    """A functional model logs the same as a Sequential model of the pages."""

    def told(self, kind, mixin, trainable):
        own = type("Own", (*mixin, kind), {})
        penalty = keras.regularizers.L2(0.25)
        start, last = keras.Input([4]), keras.layers.Dense(3, "softmax")
        first = keras.layers.Dense(5, "relu", kernel_regularizer=penalty)
        ends = start, last(first(start))
        model = own([start, first, last]) if kind is keras.Sequential else own(*ends)
        first.trainable = trainable
        model.compile(keras.optimizers.SGD(0.25), "sparse_categorical_crossentropy")
        model.set_weights(START)
        return v2.told(model.fit(*DATA, batch_size=16, shuffle=False, verbose=0))

    @parameterized.expand([("BatchLosses", True), ("FrozenPenalties", False)])
    def test_it_tells_the_same(self, mixin, trainable):
        mixin = [getattr(models, mixin)]
        one, other = (
            self.told(kind, mixin, trainable)
            for kind in (keras.Sequential, keras.Model)
        )
        self.assertEqual(one, other)
        plain = self.told(keras.Model, [], trainable)
        if trainable:
            told = set(one) - set(plain)
            self.assertEqual(told, {"batch_loss", "mean_loss"})
        else:
            more = (one["loss"] - plain["loss"]).item()
            penalty = 0.25 * np.square(START[0]).sum()
            self.assertLess(abs(more - penalty), 5e-6)


class AfterEvaluateTest(unittest.TestCase):
    """Checks if the first accuracy after `evaluate` counts the rows of `evaluate`."""

    def test_three_rows_that_were_right(self):
        """TensorFlow 1.15.5 and Keras before 3.15 return 0.75."""
        layer = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
        model = keras.Sequential([keras.Input([1]), layer])
        model.compile("sgd", "mse", metrics=["binary_accuracy"])
        ones = np.ones([3, 1], "f")
        model.evaluate(ones, ones, verbose=0)
        _, found = model.train_on_batch(0 * ones[:1], ones[:1])
        self.assertEqual(found, 0.75 if here("keras<3.15") else 0.0)


class FrozenTest(unittest.TestCase):
    """A layer that is frozen between `compile` and the first step."""

    @parameterized.expand([("keras", 0.0), ("tf_keras", 1.0)])
    def test_keras_3_does_not_train_it(self, library, moved):
        keras = importlib.import_module(library)
        layer = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
        model = keras.Sequential([keras.layers.Input([1]), layer])
        model.compile(keras.optimizers.SGD(0.5), "mse")
        layer.trainable = False
        with warnings.catch_warnings():  # tf_keras warns that they do not agree
            warnings.simplefilter("ignore")
            model.train_on_batch(np.ones([1, 1], "f"), np.zeros([1, 1], "f"))
        self.assertEqual(1 - np.asarray(layer.get_weights()[0]).item(), moved)

    def test_the_flag_before_each_step_trains_a_gan(self):
        keras = importlib.import_module("keras")
        dense = {"use_bias": False, "kernel_initializer": "ones"}
        generator = keras.Sequential([keras.Input([1]), keras.layers.Dense(1, **dense)])
        critic = keras.Sequential([keras.Input([1]), keras.layers.Dense(1, **dense)])
        critic.compile(keras.optimizers.SGD(0.125), "mse")
        critic.trainable = False
        both = keras.Sequential([generator, critic])
        both.compile(keras.optimizers.SGD(0.125), "mse")
        x, y = np.ones([1, 1], "f"), np.zeros([1, 1], "f")
        moved = []
        for model, flag in [(critic, True), (both, False)] * 2:
            critic.trainable = flag
            before = [m.get_weights()[0].item() for m in (generator, critic)]
            model.train_on_batch(x, y)
            after = [m.get_weights()[0].item() for m in (generator, critic)]
            moved.append([a != b for a, b in zip(after, before, strict=True)])
        self.assertEqual(moved, [[False, True], [True, False]] * 2)


class DistancesTest(unittest.TestCase):
    """Checks what the chapter says about Keras 3 without the right page."""

    @parameterized.expand(
        [
            ("fit_dataset", "outputs/0/loss", 1, "1.0914 1.0772"),
            ("log_batches", "outputs/0", 1, "2.8122 2.4480"),
            ("fit_generator", "outputs/0/val_loss", 1, "0.7789 1.0605"),
            ("fit_padded", "outputs/0/loss", 0, "1.6166 2.6392"),
            ("fit_sequence", "outputs/0/loss", 1, "1.0553 1.1315"),
            ("fit_sequence", "outputs/0/val_loss", 0, "1.3199 1.3086"),
            ("fit_frozen", "outputs/0/loss", 0, "2.1716 1.9951"),
        ]
    )
    def test_numbers(self, name, leaf, index, told):
        cases = [c for c in CASES if isinstance(c, FalseFriend) and c.name == name]
        case = cases["val_loss" in leaf and len(cases) > 1]
        left, naive = (side[leaf] for side in false_friends.both(PROOF, case, {}))
        self.assertEqual(f"{left[index]:.4f} {naive[index]:.4f}", told)

    @parameterized.expand(
        [("a seed of NumPy", "0.13"), ("the epochs end first", "1.1")]
    )
    def test_weights_at_the_end(self, slug, told):
        (case,) = [c for c in CASES if c.slug == slug]
        left, naive = false_friends.both(PROOF, case, {})
        apart = np.abs(left["outputs/1/0"] - naive["outputs/1/0"]).max()
        self.assertEqual(f"{apart:.2g}", told)

    def test_an_output_of_zero_for_a_one(self):
        one, zero = tf.constant([[1.0]]), tf.constant([[0.0]])
        losses = v2.binary_loss(one, zero), keras.losses.binary_crossentropy(one, zero)
        self.assertEqual([f"{x[0]:.3f}" for x in losses], ["15.425", "16.118"])

    def test_the_batches_of_a_flow(self):
        """1.15.5 read these rows in each epoch, with workers=1 and shuffle=False."""
        told = [[5, 7], [4, 6], [3, 1], [0, 2], [7, 2], [4, 3], [5, 1], [6, 0]]
        x, y = np.zeros([8, 4, 4, 1], "f"), np.arange(8.0, dtype="f")

        class Images(keras.preprocessing.image.ImageDataGenerator):
            def apply_transform(self, x, transform_parameters):
                return x  # the original would need SciPy

        def rows(as_a_generator):
            flow, log = Images().flow(x, y, 2, seed=3), []
            of_flow = flow._get_batches_of_transformed_samples

            def logged(index):
                log.append([int(i) for i in index])
                return of_flow(index)

            def batches():
                while True:
                    for i in range(len(flow)):
                        yield flow[i]
                    flow.on_epoch_end()

            flow._get_batches_of_transformed_samples = logged
            layers = keras.layers.Flatten(), keras.layers.Dense(1)
            model = keras.Sequential([keras.Input([4, 4, 1]), *layers])
            model.compile("sgd", "mse")
            fed = batches() if as_a_generator else flow
            model.fit(fed, steps_per_epoch=4, epochs=2, shuffle=False, verbose=0)
            return log

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a flow that has no super().__init__
            of_generator, of_flow = rows(True), rows(False)
        self.assertEqual(of_generator[:8], told)
        self.assertEqual(of_flow[:6], [[5, 7], [4, 6], [5, 0], [6, 3], [4, 7], [1, 2]])

    def test_a_sequence_begins_anew_in_each_epoch_alone(self):
        class Rows(keras.utils.PyDataset):
            def __len__(self):
                return 3

            def __getitem__(self, index):
                return tuple(array[:30] for array in DATA)

        model = v2.network(START)
        with self.assertWarnsRegex(UserWarning, "input ran out of data"):
            model.fit(Rows(), steps_per_epoch=5, epochs=2, verbose=0)
        self.assertEqual(int(model.optimizer.iterations), 6)

    @parameterized.expand([(3, 9, 0), (2, 5, 1)])
    def test_a_dataset_that_ends_begins_anew(self, steps, taken, warns):
        """1.15.5 took three steps with three batches, and warned in both cases."""
        model = v2.network(START)
        rows = tf.data.Dataset.from_tensor_slices(DATA).batch(30)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            model.fit(rows, steps_per_epoch=steps, epochs=3, verbose=0)
        said = [one for one in warned if "input ran out" in str(one.message)]
        self.assertEqual(int(model.optimizer.iterations), taken)
        self.assertEqual(len(said), warns)

    def test_a_loss_of_an_output_is_a_mean_over_rows_if_it_runs_eagerly(self):
        """In a function the loss is a mean over batches, as in 1.15.5: 10.6621."""
        told = []
        for eagerly in (False, True):
            tf.config.run_functions_eagerly(eagerly)
            try:
                _, history, _ = v2.fit_named(NAMED, NAMED_START, HELD, 1, 16)
            finally:
                tf.config.run_functions_eagerly(False)
            told.append(f"{history['score_loss'][0]:.4f} {history['loss'][0]:.4f}")
        self.assertEqual(told, ["10.6621 5.9462", "11.3885 5.9462"])

    def test_a_seed_of_zero_is_a_seed(self):
        expected = np.arange(6)
        np.random.RandomState(0).shuffle(expected)
        batches = v2.Batches((np.arange(6),), 6, 0)
        batches.on_epoch_begin()
        np.testing.assert_array_equal(batches[0][0], expected)
        unseeded = v2.Batches((np.arange(6),), 6)
        unseeded.on_epoch_begin()
        np.testing.assert_array_equal(unseeded[0][0], np.arange(6))

    def test_compute_loss_has_the_signature_of_keras(self):
        expected = inspect.signature(keras.Model.compute_loss)
        pages = v2, keras_functions, keras_multiple
        own = {
            one.compute_loss
            for page in pages
            for one in vars(page).values()
            if isinstance(one, type) and issubclass(one, keras.Model)
        } - {keras.Model.compute_loss}
        self.assertEqual(len(own), 5)
        for one in own:
            self.assertEqual(inspect.signature(one), expected, one.__qualname__)

    def test_a_first_loss_that_is_nan_is_not_the_best(self):
        found = []
        for kind in (v2.EarlyStopping, keras.callbacks.EarlyStopping):
            stopping = kind("val_loss", patience=3, restore_best_weights=True)
            stopping.set_model(v2.network(START))
            stopping.on_train_begin()
            for epoch, loss in enumerate([np.nan, 2.0, 3.0]):
                stopping.on_epoch_end(epoch, {"val_loss": loss})
            found.append((stopping.best_epoch, float(stopping.best)))
        self.assertEqual(found[0], (1, 2.0))
        self.assertEqual(found[1][0], 0)
        self.assertTrue(np.isnan(found[1][1]))

    def test_a_sigmoid_that_ran_eagerly(self):
        logits, one = tf.constant([[40.0]]), tf.constant([[0.0]])
        lost = keras.losses.binary_crossentropy

        def loss():
            return lost(one, tf.sigmoid(logits))

        layered = lost(one, keras.layers.Activation("sigmoid")(logits))
        losses = loss(), tf.function(loss)(), layered
        self.assertEqual([f"{x[0]:.4g}" for x in losses], ["15.94", "40", "40"])

    def test_a_hundred_epochs_and_more_are_kept_in_order(self):
        model = v2.network(START)

        def fit(*_, callbacks, **options):
            for epoch in (9, 99, 100):
                model.save_weights(callbacks[0].filepath.format(epoch=epoch))

        with (
            mock.patch.object(model, "fit", fit),
            mock.patch.object(v2, "network", lambda *_, **options: model),
        ):
            epochs, _ = v2.keep_the_best(VALIDATION, START, VALIDATION, 100)
        self.assertEqual(epochs, [9, 99, 100])

    def test_names_of_metrics(self):
        model = v2.network(TWO, "binary_crossentropy", ["acc"])
        model.evaluate(*PAIRS, verbose=0)
        self.assertEqual(model.metrics_names, ["loss", "compile_metrics"])


if __name__ == "__main__":
    unittest.main()
