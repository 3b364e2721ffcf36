import functools
import importlib
import os
import tempfile
import unittest
import warnings
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import (
    FalseFriend,
    Op,
    Program,
    Raises,
    false_friends,
    normal,
    uniform,
)
from v1_graph import keras_training as v1
from v2_eager import keras_training as v2

# `fit` batches arrays by tf.data, whose functions are traced in every way.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Even though the `tf.config.experimental_run_functions_eagerly`:UserWarning"
)
RANDOM = np.random.RandomState(16)


def drawn(*shape):
    return RANDOM.standard_normal(shape).astype("f")


def labelled(rows):
    """Rows of four numbers, and a class of three that depends on them."""
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
keras = tf.keras
TRACES = 2  # the last batch has fewer rows
OLD = {"graph": "Keras 3 has no sessions; the recording stands for the left page"}


def old(name, slug, args, kwargs=(), **others):
    return Program(
        name, slug, args, dict(kwargs), float32=True, skip=OLD, traces=TRACES, **others
    )


def friend(name, slug, args, naive, because, kwargs=(), **others):
    return FalseFriend(
        *(name, slug, args, dict(kwargs)),
        of="program",
        float32=True,
        naive=naive,
        because=because,
        skip=OLD,
        traces=TRACES,
        **others,
    )


def by_accuracy(data, start, epochs, batch_size):
    model = v2.network(start, metrics=["accuracy"])
    options = {"batch_size": batch_size, "epochs": epochs, "shuffle": False}
    history = model.fit(*data, validation_split=0.25, verbose=0, **options)
    return v2.told(history), model.get_weights()


def by_its_validation_data(data, start, epochs, batch_size):
    fit = keras.Sequential.fit

    def validated(self, batches, callbacks, **options):
        (validation,) = callbacks
        options["validation_data"] = validation.batches
        return fit(self, batches, validation_steps=validation.steps, **options)

    with mock.patch.object(keras.Sequential, "fit", validated):
        return v2.fit_generator(data, start, epochs, batch_size)


def frozen_for_good(data, noise, starts):
    """As on the left: the discriminator's flag is set once, before `gan` compiles."""

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
    def __init__(self, *args):
        super().__init__(*args)
        self.on_epoch_end()

    def on_epoch_begin(self):
        pass

    def on_epoch_end(self):
        v2.Batches.on_epoch_begin(self)


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
    FalseFriend(
        "binary_loss",
        "outputs of 0 and 1",
        [*SATURATED],
        naive=keras.losses.binary_crossentropy,
        because="it clips, and does not add epsilon to what it has clipped",
        skip=OLD,
    ),
    friend(
        "stop_early",
        "the epochs end first",
        [DATA, START, VALIDATION, 6],
        as_it_is(v2.stop_early),
        "that of Keras 3 goes back to the best weights in any case",
        {"rate": 6.0, "patience": 10},
    ),
    old(
        "stop_early",
        "it stops",
        [DATA, START, VALIDATION, 30],
        {"rate": 6.0, "patience": 2},
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
        match="all classes in the data|no weight for class 2",
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


class FrozenTest(unittest.TestCase):
    """A layer that is frozen between `compile` and the first step."""

    @parameterized.expand([("keras", 0.0), ("tf_keras", 1.0)])
    def test_keras_3_does_not_train_it(self, library, moved):
        keras = importlib.import_module(library)
        layer = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
        model = keras.Sequential([keras.layers.Input([1]), layer])
        model.compile(keras.optimizers.SGD(0.5), "mse")
        layer.trainable = False
        with warnings.catch_warnings():  # tf_keras tells that they do not agree
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
    """What the chapter says of Keras 3 as it is."""

    @parameterized.expand(
        [
            ("fit_dataset", "outputs/0/loss", 1, "1.0914 1.0772"),
            ("log_batches", "outputs/0", 1, "2.8122 2.4480"),
            ("fit_generator", "outputs/0/val_loss", 1, "0.7789 1.0605"),
            ("fit_padded", "outputs/0/loss", 0, "1.6166 2.6392"),
            ("fit_sequence", "outputs/0/loss", 1, "1.0553 1.0772"),
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
        """Rows of 1.15.5, workers=1, shuffle=False; its second epoch has them, too."""
        told = [[5, 7], [4, 6], [3, 1], [0, 2], [7, 2], [4, 3], [5, 1], [6, 0]]
        x, y = np.zeros([8, 4, 4, 1], "f"), np.arange(8.0, dtype="f")

        class Images(keras.preprocessing.image.ImageDataGenerator):
            def apply_transform(self, x, transform_parameters):
                return x  # which would need SciPy

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

    def test_names_of_metrics(self):
        model = v2.network(TWO, "binary_crossentropy", ["acc"])
        model.evaluate(*PAIRS, verbose=0)
        self.assertEqual(model.metrics_names, ["loss", "compile_metrics"])


if __name__ == "__main__":
    unittest.main()
