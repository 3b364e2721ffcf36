"""Proves the pair `keras_inputs`: inputs of `fit`, and loops inside layers."""

import functools
import os
import random
import tempfile
import unittest
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.keras_cases import COMPILED, OLD, draws, friend, old
from tf1to2.parity import Raises, false_friends
from v1_graph import keras_inputs as v1
from v2_eager import keras_inputs as v2

# `fit` batches arrays by tf.data, whose functions are always traced, also eagerly.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Even though the `tf.config.experimental_run_functions_eagerly`:UserWarning"
)
RANDOM = np.random.RandomState(31)
drawn, weights = draws(RANDOM)
keras = tf.keras


def labelled(rows):
    """Draws rows of four numbers, and for each row a class that depends on them."""
    x = drawn(rows, 4)
    return x, np.argmax(x[:, :3] + drawn(rows, 3) / 2, axis=1).astype("i")


CLASSES, VALIDATION = labelled(70), labelled(39)
X, ONE_HOT = CLASSES[0], np.eye(3, dtype="f")[CLASSES[1]]
START = weights(4, 5, 3)
ROWS = X, drawn(70, 3)
SERIES = drawn(90, 2)
SLOPES = drawn(2)
# No product of matrices: its last bits depend on NumPy's build.
TARGETS = (SERIES[:, :1] * SLOPES[0] + SERIES[:, 1:] * SLOPES[1]) / 2
WINDOW = [weight / 2 for weight in weights(12, 5, 1)]
SHORT = [weight / 2 for weight in weights(6, 5, 1)]
LOOP = [drawn(4, 6), drawn(6, 6) / 4, *weights(6, 3)]
IMAGES = drawn(70, 6, 6, 2), drawn(70, 3)
CONVOLVED = [drawn(3, 3, 2, 4), drawn(4) / 4, *weights(4, 3)]


def by_their_losses(*args):
    """Reads `loss` of Keras 3 in place of the mean over batches."""

    class Told(keras.Sequential):
        def fit(self, *args, **options):
            history = super().fit(*args, **options)
            for key in [key for key in history.history if "loss" in key]:
                history.history[key.replace("loss", "mean_loss")] = history.history[key]
            return history

    with mock.patch.object(v2, "TellsBatches", Told):
        return v2.fit_validated(*args)


def by_eager_tensors(data, start, epochs, batch_size, steps):
    """Runs the same lines as in TensorFlow 1."""
    model = v2.network(start)
    model.compile(v2.descent(), "mse")
    x, y = next(iter(v2.batched(data, batch_size)))
    options = {"steps_per_epoch": steps, "shuffle": False, "verbose": 0}
    history = model.fit(x, y, epochs=epochs, **options)
    return v2.told(history)["loss"], model.get_weights()


def by_an_input_of_a_tensor(data, start, epochs, batch_size, steps):
    x, _ = next(iter(v2.batched(data, batch_size)))
    keras.Input(tensor=x)


def windowed(change):
    """Makes the right page's `fit_windows` with other arguments for the windows."""
    made = keras.utils.timeseries_dataset_from_array

    def fit(series, targets, start, length, *args):
        def windows(rows, late, **options):
            return made(*change(rows, late, targets, length), **options)

        with mock.patch.object(keras.utils, "timeseries_dataset_from_array", windows):
            return v2.fit_windows(series, targets, start, length, *args)

    return fit


class DrawsInItems(v2.Mixed):
    def draw(self):
        pass

    def __getitem__(self, i):
        rows = v2.Batches.__getitem__(self, i)
        share = self.random.beta(self.alpha, self.alpha)
        order = self.random.permutation(len(rows[0]))
        return tuple(share * a + (1 - share) * a[order] for a in rows)


def by_draws_in_items(*args):
    with mock.patch.object(v2, "Mixed", DrawsInItems):
        return v2.fit_mixed(*args)


def by_shuffle(data, start, epochs, batch_size, seed):
    model = v2.network(start)
    model.compile(v2.descent(), "mse")
    random.seed(seed)
    batches = v2.Batches(data, batch_size)
    history = model.fit(batches, epochs=epochs, shuffle=True, verbose=0)
    return v2.told(history)["loss"], model.get_weights()


class ByPython(v2.Refined):
    def call(self, x):
        read = x @ self.kernel
        state, moved, steps = tf.tanh(read), tf.reduce_max(tf.abs(tf.tanh(read))), 0
        while moved > self.tolerance and steps < self.limit:
            after = tf.tanh(read + state @ self.again)
            moved, state, steps = tf.reduce_max(tf.abs(after - state)), after, steps + 1
        return state


def by_pythons_while(*args):
    with mock.patch.object(v2, "Refined", ByPython):
        return v2.fit_refined(*args)


def along_the_first_axis(data, start, limit, axis, *args):
    return v2.fit_limited(data, start, limit, 0, *args)


CASES = [
    old(
        "fit_validated",
        "batches that are full",
        [CLASSES, START, VALIDATION, 3, 14, 3, 2],
        **COMPILED,
    ),
    friend(
        "fit_validated",
        "last batches of six, seven",
        [CLASSES, START, VALIDATION, 4, 16, 3, 3],
        by_their_losses,
        "the losses are means over rows, and were means over batches",
        **COMPILED,
    ),
    friend(
        "fit_tensors",
        "a last batch of six rows",
        [ROWS, START, 3, 16, 4],
        by_eager_tensors,
        "eager tensors are arrays: the steps share the rows of the first batch",
        **COMPILED,
    ),
    friend(
        "fit_bound",
        "a last batch of six rows",
        [ROWS, START, 3, 16, 4],
        by_an_input_of_a_tensor,
        "a tensor of Keras 3's Input is a KerasTensor, which has no rows",
        differs="raises",
        **COMPILED,
    ),
    friend(
        "fit_windows",
        "six rows before each target",
        [SERIES, TARGETS, WINDOW, 6, 1, 1, 3, 16],
        windowed(lambda rows, late, targets, length: (rows, targets)),
        "a window begins at its target, which came after its last row",
        **COMPILED,
    ),
    friend(
        "fit_windows",
        "every second row, and every third window",
        [SERIES, TARGETS, SHORT, 6, 2, 3, 3, 8],
        windowed(lambda rows, late, targets, length: (rows[:-length], late)),
        "a series without its last rows has fewer windows than there are targets",
        **COMPILED,
    ),
    Raises.alike(
        "fit_windows",
        "no row is left",
        [SERIES[:6], TARGETS[:6], WINDOW, 6, 1, 1, 3, 16],
        ValueError,
        "is disallowed|series must have more than",
        of="program",
        skip=OLD,
    ),
    Raises.alike(
        "fit_windows",
        "fewer targets",
        [SERIES, TARGETS[:-1], WINDOW, 6, 1, 1, 3, 16],
        ValueError,
        "same length|same number of rows, not 90 and 89",
        of="program",
        skip=OLD,
    ),
    friend(
        "fit_mixed",
        "a last batch of six rows, mixed",
        [(X, ONE_HOT), START, 0.4, 5, 3, 16],
        by_draws_in_items,
        "Keras 3 looks at two batches before it trains, which draw, too",
        **COMPILED,
    ),
    friend(
        "fit_reordered",
        "five batches",
        [ROWS, START, 3, 16, 11],
        by_shuffle,
        "it shuffles in order anew, and not what the epoch before left",
        **COMPILED,
    ),
    old(
        "fit_adversarial",
        "three epochs",
        [(X, ONE_HOT), START, 0.25, 0.375, 3, 16],
    ),
    friend(
        "fit_refined",
        "until it stands still",
        [ROWS, LOOP, 0.03, 20, 3, 16],
        by_pythons_while,
        "AutoGraph does not read the call of a layer",
        differs="raises",
        **COMPILED,
    ),
    old("fit_refined", "two steps", [ROWS, LOOP, 0.03, 2, 3, 16], **COMPILED),
    friend(
        "fit_limited",
        "the weights of a filter",
        [IMAGES, CONVOLVED, 2.0, [0, 1, 2], 3, 16],
        along_the_first_axis,
        "axis=0 is a dense kernel's; of a convolution's it is its height",
        **COMPILED,
    ),
    old("fit_limited", "axis 0", [IMAGES, CONVOLVED, 1.0, 0, 3, 16], **COMPILED),
]
PROOF = proof(v1, v2, CASES)


class KerasInputsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class DistancesTest(unittest.TestCase):
    """Checks what the chapter says about Keras 3 without the right page."""

    @parameterized.expand(
        [
            (
                "last batches of six, seven",
                "outputs/0/loss",
                "2.9348 2.3190",
            ),
            (
                "last batches of six, seven",
                "outputs/0/val_loss",
                "1.8391 1.6337",
            ),
            ("a last batch of six rows", "outputs/0", "1.5861 1.1943"),
            ("six rows before each target", "outputs/0", "1.0084 0.7912"),
            (
                "every second row, and every third window",
                "outputs/0",
                "1.2867 1.3149",
            ),
            ("a last batch of six rows, mixed", "outputs/0", "1.6899 1.5448"),
            ("five batches", "outputs/0", "1.1420 1.1189"),
        ]
    )
    def test_second_epochs(self, slug, leaf, told):
        case = next(c for c in CASES if c.slug == slug)
        left, naive = (side[leaf] for side in false_friends.both(PROOF, case, {}))
        self.assertEqual(f"{left[1]:.4f} {naive[1]:.4f}", told)

    def test_a_kernel_that_is_cut_along_its_height(self):
        (case,) = [c for c in CASES if c.slug == "the weights of a filter"]
        left, naive = false_friends.both(PROOF, case, {})
        told = [f"{side['outputs/0'][0]:.4f}" for side in (left, naive)]
        self.assertEqual(told, ["9.3432", "13.0683"])
        norms = [
            np.sqrt(np.square(side["outputs/1/0"]).sum((0, 1, 2)).max())
            for side in (left, naive)
        ]
        self.assertEqual([f"{norm:.2f}" for norm in norms], ["1.84", "2.85"])

    def test_eager_tensors_are_the_rows_of_one_batch(self):
        x, y = next(iter(v2.batched(ROWS, 16)))
        rows = []

        class Counts(keras.callbacks.Callback):
            def on_train_batch_end(self, batch, logs=None):
                rows.append(int(self.model.seen))

        class Model(keras.Sequential):
            def train_step(self, data):
                self.seen.assign(tf.shape(data[0])[0])
                return super().train_step(data)

        model = v2.network(START, model=Model)
        model.seen = tf.Variable(0)
        model.compile(v2.descent(), "mse")
        options = {"steps_per_epoch": 4, "callbacks": [Counts()], "verbose": 0}
        model.fit(x, y, epochs=3, **options)
        self.assertEqual(rows, [4] * 12)

    def test_how_many_windows_there_are(self):
        """TensorFlow 1.15.5 made 84 windows: one for each row except the first six."""
        windows = keras.utils.timeseries_dataset_from_array
        found = [
            sum(len(x) for x, _ in windows(rows, late, 6))
            for rows, late in [
                (SERIES, TARGETS[6:]),
                (SERIES[:-6], TARGETS[6:]),
                (SERIES, TARGETS),
            ]
        ]
        self.assertEqual(found, [84, 79, 85])

    def windows(self):
        layers = keras.Input([6, 2]), keras.layers.Flatten(), v2.network(WINDOW)
        model = keras.Sequential(layers)
        model.compile(v2.descent(0.0625), "mse")
        return model

    def test_the_generator_of_windows_is_there_still(self):
        kind = keras.preprocessing.sequence.TimeseriesGenerator
        rows, model = kind(SERIES, TARGETS, 6, batch_size=16), self.windows()
        history = model.fit(rows, epochs=3, shuffle=False, verbose=0)
        wanted, _ = v2.fit_windows(SERIES, TARGETS, WINDOW, 6, 1, 1, 3, 16)
        np.testing.assert_array_equal(v2.told(history)["loss"], wanted)

    def test_a_dataset_without_a_window_has_an_empty_history(self):
        windows = keras.utils.timeseries_dataset_from_array
        rows = windows(SERIES[:6], TARGETS[6:6], 6)
        with self.assertWarnsRegex(UserWarning, "input ran out of data"):
            history = self.windows().fit(rows, shuffle=False, verbose=0)
        self.assertEqual(history.history, {})

    def test_in_which_order_batches_come(self):
        """1.15.5 read batches 2 0 1 4 3, then 3 2 1 4 0 (`workers=1`, this seed)."""

        class Logged(v2.Batches):
            def __getitem__(self, i):
                asked.append(i)
                return super().__getitem__(i)

            def on_epoch_end(self):
                asked.append("end")

        model, asked = v2.network(START), []
        model.compile(v2.descent(), "mse")
        random.seed(11)
        model.fit(Logged(ROWS, 16), epochs=2, verbose=0)
        first, second = [2, 0, 1, 4, 3, "end"], [4, 0, 2, 3, 1, "end"]
        self.assertEqual(asked, [0, 1, "end", *first, *second])
        batches, found = v2.Reordered(ROWS, 16, 11), []
        for _ in range(2):
            batches.on_epoch_begin()
            found.append(list(batches.order))
            batches.on_epoch_end()
        self.assertEqual(found, [[2, 0, 1, 4, 3], [3, 2, 1, 4, 0]])


class OwnTest(unittest.TestCase):
    def test_a_while_in_a_function_that_call_calls(self):
        class InAFunction(v2.Refined):
            def call(self, x):
                return tf.function(functools.partial(ByPython.call, self))(x)

        def found(kind):
            inputs = keras.Input([4])
            model = keras.Model(inputs, kind(6, 0.03, 20)(inputs))
            model.set_weights(LOOP[:2])
            return model.predict(X, batch_size=16, verbose=0)

        np.testing.assert_array_equal(found(InAFunction), found(v2.Refined))

    def test_a_layer_of_the_page_is_saved_and_loaded(self):
        inputs = keras.Input([4])
        settled = v2.Refined(6, 0.03, 20, name="settled")
        model = keras.Model(inputs, settled(inputs))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.keras")
            model.save(path)
            loaded = keras.models.load_model(path)
        told = loaded.get_layer("settled").get_config()
        self.assertEqual(told, settled.get_config())
        found, wanted = (m.predict(X, verbose=0) for m in (loaded, model))
        np.testing.assert_array_equal(found, wanted)

    def test_fit_of_an_adversarial_model_tells_means_over_rows(self):
        def model():
            made = v2.Adversarial(v2.network(START, "softmax"), 0.25, 0.375)
            made.compile(keras.optimizers.SGD(0.0), "categorical_crossentropy")
            return made

        options = {"shuffle": False, "verbose": 0}
        (whole, *_), parts = (
            model().fit(X, ONE_HOT, batch_size=size, **options).history["fooled"]
            for size in (70, 16)
        )
        self.assertLess(abs(whole - parts[0]), 1e-6)

    def test_both_calls_of_an_adversarial_step_are_training(self):
        told = []

        class Tells(keras.layers.Layer):
            def call(self, x, training=None):
                told.append(training)
                return x

        net = keras.Sequential([Tells(), v2.network(START, "softmax")])
        model = v2.Adversarial(net, 0.25, 0.375)
        model.compile("sgd", "categorical_crossentropy", run_eagerly=True)
        model.train_on_batch(X, ONE_HOT)
        self.assertEqual(told[-2:], [True, True])

    def test_weights_of_rows_reach_both_losses(self):
        model = v2.Adversarial(v2.network(START, "softmax"), 0.25, 0.375)
        model.compile(keras.optimizers.SGD(0.25), "categorical_crossentropy")
        before = model.net.get_weights()
        found = model.train_on_batch(X, ONE_HOT, np.zeros(70, "f"), return_dict=True)
        self.assertEqual({key: float(x) for key, x in found.items()}, ZEROS)
        for a, b in zip(model.net.get_weights(), before, strict=True):
            np.testing.assert_array_equal(a, b)


ZEROS = {"clean": 0.0, "fooled": 0.0}


if __name__ == "__main__":
    unittest.main()
