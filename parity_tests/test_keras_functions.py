"""Proves the topic `keras_functions`: K.function, sessions and learning phases."""

import os
import tempfile
import unittest
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.keras_cases import COMPILED, OLD, friend, old
from tf1to2.parity import FalseFriend, Raises, false_friends
from v1_graph import keras_functions as v1
from v2_eager import keras_functions as v2

# `fit` and `predict` batch arrays with tf.data, whose functions are always traced.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Even though the `tf.config.experimental_run_functions_eagerly`:UserWarning"
)
RANDOM = np.random.RandomState(20)
keras = tf.keras


def drawn(*shape):
    return RANDOM.standard_normal(shape).astype("f")


def weights(features=4, hidden=5, classes=3):
    norm = [1 + drawn(hidden) / 4, drawn(hidden), drawn(hidden), drawn(hidden) ** 2 + 1]
    first, last = [drawn(features, hidden), drawn(hidden)], [drawn(hidden, classes)]
    return [*first, *norm, *last, drawn(classes)]


START, OTHER, THIRD = weights(), weights(), weights()
X = drawn(70, 4)
CLASSES = X, np.argmax(X[:, :3] + drawn(70, 3) / 2, axis=1).astype("i")
NUMBERS = X, RANDOM.uniform(size=(70, 3)).astype("f")
IMAGES = drawn(3, 14, 11, 3)
FILTERS = [drawn(3, 3, 3, 4) / 2, drawn(4), drawn(3, 3, 4, 5) / 2, drawn(5)]
FILTERS += [drawn(5, 3), drawn(3)]
AGAINST = [*FILTERS[:4], -np.abs(FILTERS[4]) * [1, 0, 0], drawn(3)]
AGAINST[4] = AGAINST[4].astype("f")
CODED = X, drawn(70, 2)
ENCODER = [drawn(4, 2), drawn(2), drawn(4, 2) / 4, drawn(2) / 4, drawn(2, 4), drawn(4)]
LINE = [NUMBERS, [drawn(4, 3), drawn(3)], 1 + drawn(4) / 4]
LINES = np.random.RandomState(21)
READ = [
    LINES.standard_normal([67, 8, 4]).astype("f"),
    *(
        LINES.randint(*ends, size=[67, size]).astype("i")
        for ends, size in [((0, 5), 3), ((7, 9), 1), ((1, 4), 1)]
    ),
]
READER = [LINES.standard_normal(size).astype("f") for size in ([4, 6], [6])]
SHARES = {"edges": 0.5, "shapes": 2.0}
SIZES = [[2, 3], [4]]
HEADS = np.random.RandomState(22)
HEAD_DATA = [HEADS.standard_normal(size).astype("f") for size in ([64, 3], [64, 4])]
BODY = [HEADS.standard_normal(size).astype("f") for size in ([3, 5], 5, [5, 2], 2)]
HEAD = [HEADS.standard_normal(size).astype("f") for size in ([5, 4], 4)]
ONCE = {**OLD, "function": "no tf.function: names are Python's"}


def by_a_call_in_training(x, start, phase):
    model = v2.network(start)
    outputs = [layer.output for layer in model.layers[1:]]
    found = keras.Model(model.input, outputs)(x, training=bool(phase))
    return [y.numpy() for y in found], model.get_weights()


def by_predict(x, start, rate, seed, passes):
    inputs = keras.Input(x.shape[1:])
    hidden = keras.layers.Dense(len(start[1]), activation="relu")(inputs)
    hidden = keras.layers.Dropout(rate, seed=seed)(hidden, training=True)
    outputs = keras.layers.Dense(len(start[-1]), activation="softmax")(hidden)
    model = keras.Model(inputs, outputs)
    model.set_weights(start)
    found = np.array([model.predict(x, verbose=0) for _ in range(passes)])
    return found.mean(axis=0), found.std(axis=0)


def by_todays_update(batches, momentum):
    mean, centred = tf.Variable(tf.zeros_like(batches[0][0])), []
    for batch in batches:
        centred.append(batch - mean.numpy())
        moved = tf.reduce_mean(batch, axis=0)
        keras.backend.moving_average_update(mean, moved, momentum)
    seen = np.asarray(len(batches), batches[0].dtype)
    return centred, [mean.numpy(), seen]


def by_an_override_map(images, start, label):
    graph = tf.compat.v1.get_default_graph()
    relu = mock.patch.object(v2, "guided_relu", tf.nn.relu)
    with relu, graph.gradient_override_map({"Relu": "KerasGuidedRelu"}):
        return v2.guided_saliency(images, start, label)


def by_todays_values(x, snapshots):
    model = v2.network(snapshots[0])
    keras.backend.batch_set_value(list(zip(model.weights, snapshots[1])))


def with_its_updates(data, start, penalty, rate, batch_size, updates):
    return v2.train_in_session(data, start, penalty, rate, batch_size)


def by_an_input_of_the_model(data, start, epochs, batch_size):
    model = v2.network(start)

    def loss(y_true, y_pred):
        importance = tf.exp(-tf.reduce_mean(tf.square(model.input), axis=-1))
        return importance * tf.reduce_mean(tf.square(y_true - y_pred), axis=-1)

    model.compile("sgd", loss)
    model.fit(*data, batch_size=batch_size, epochs=epochs, verbose=0)


def by_a_lambda(data, start, scale, rate, steps):
    variable = keras.Variable(scale)

    class Closed(keras.layers.Lambda):
        def set_weights(self, weights):
            """Does nothing: this layer has no weights."""

    def closed():
        return Closed(lambda x: x * variable, output_shape=scale.shape)

    with mock.patch.object(v2, "Scale", closed):
        losses, weights = v2.train_closure(data, start, scale, rate, steps)
    return losses, [variable.numpy(), *weights]


def beside_the_way(data, start, epochs, batch_size):
    """Puts the penalty into a layer whose output is not used."""

    def apart():
        def call(mean, log_variance, noise):
            penalized(mean, log_variance, noise)
            return keras.ops.exp(log_variance / 2) * noise + mean

        penalized = drawing()
        return call

    drawing = v2.Draw
    with mock.patch.object(v2, "Draw", apart):
        return v2.fit_autoencoder(data, start, epochs, batch_size)


def by_an_argument(data, start, phase, epochs, batch_size):
    def norm(**options):
        layer = keras.layers.BatchNormalization(**options)
        return lambda x: layer(x, training=bool(phase))

    norms = {name: norm for name in ("TrainingNorm", "InferenceNorm")}
    with mock.patch.multiple(v2, **norms):
        return v2.fit_in_phase(data, start, phase, epochs, batch_size)


def in_a_new_graph(sizes, clear):
    keras.utils.clear_session()
    keras.layers.Dense(1)  # a layer of another model
    with tf.Graph().as_default():
        return [[keras.layers.Dense(n).name for n in units] for units in sizes]


def by_the_layers_output(pair, start, name):
    base = v2.images_network(start, 3)
    image = keras.Input(pair[0].shape[1:])
    outer = keras.Model(image, base(image))
    return keras.Model(outer.inputs, base.get_layer(name).output).predict(pair[0])


CASES = [
    old("layer_outputs", "not in training", [X, START, 0]),
    friend(
        "layer_outputs",
        "in training",
        [X, START, 1],
        by_a_call_in_training,
        "a call in training moves the averages, which K.function left alone",
    ),
    friend(
        "monte_carlo",
        "thirty passes",
        [X, START[:2] + START[6:], 0.5, 3, 30],
        by_predict,
        "training=False of predict overrides the argument of the layer's call",
    ),
    friend(
        "running_mean",
        "three batches",
        [[X[:20], X[20:55], X[55:]], 0.9],
        by_todays_update,
        "it divides no more by 1 - momentum ** n",
    ),
    old("saliency", "three images", [IMAGES, FILTERS]),
    friend(
        "guided_saliency",
        "three images",
        [IMAGES, FILTERS, 1],
        by_an_override_map,
        "eager calls and their traces are in no graph that has the map",
    ),
    old("grad_cam", "an image", [IMAGES[0], FILTERS, 2]),
    old("grad_cam", "nothing speaks for it", [IMAGES[0], AGAINST, 0]),
    old("deep_dream", "ten steps", [IMAGES[:1], FILTERS, SHARES, 0.1, 10]),
    old("deep_dream", "a limit", [IMAGES[:1], FILTERS, SHARES, 0.1, 30, 9.0]),
    old("loss_gradients", "with a penalty", [CLASSES, START, 0.125], **COMPILED),
    friend(
        "average_weights",
        "three sets",
        [X, [START, OTHER, THIRD]],
        by_todays_values,
        "the function of that name takes no weight of Keras 3",
        differs="raises",
    ),
    old("reset_weights", "twice", [NUMBERS, drawn(4, 3), 5, 0.25], **COMPILED),
    old("run_in_session", "both at once", [X, START]),
    old("train_in_session", "an epoch", [CLASSES, START, 0.125, 0.25, 16], traces=2),
    friend(
        "train_in_session",
        "the updates forgotten",
        [CLASSES, START, 0.125, 0.25, 16, False],
        with_its_updates,
        "a call in training moves the averages, whoever forgot the updates",
        traces=2,
    ),
    friend(
        "train_closure",
        "ten steps",
        [*LINE, 0.125, 10],
        by_a_lambda,
        "a Lambda owns no weights, and no model of Keras 3 has the variable",
    ),
    friend(
        "fit_autoencoder",
        "three epochs",
        [CODED, ENCODER, 3, 16],
        beside_the_way,
        "a layer that leads to no output is not run, and adds no loss",
        **COMPILED,
    ),
    friend(
        "loss_of_inputs",
        "three epochs",
        [NUMBERS, START, 3, 16],
        by_an_input_of_the_model,
        "compile takes no loss that closes over an input of the model",
        differs="raises",
        **COMPILED,
    ),
    old("fit_its_output", "three epochs", [READ, READER, 3, 16], **COMPILED),
    old("two_graphs", "two sets of weights", [X, [START, OTHER]]),
    old("serve", "five requests", [np.array_split(X, 5), START, 3]),
    old("serve", "whole numbers", [[np.int64([[1, 0, -2, 3]])], START, 1]),
    old("fit_in_phase", "as in training", [CLASSES, START, 1, 3, 16], **COMPILED),
    friend(
        "fit_in_phase",
        "as not in training",
        [CLASSES, START, 0, 3, 16],
        by_an_argument,
        "training=True of fit overrides the argument of the layer's call",
        **COMPILED,
    ),
    friend(
        "name_layers",
        "counted on",
        [SIZES, False],
        in_a_new_graph,
        "a new graph does not begin to count anew",
        skip=ONCE,
    ),
    friend(
        "look_inside",
        "two images each",
        [(IMAGES[:2], IMAGES[1:]), FILTERS, "shapes"],
        by_the_layers_output,
        "layer.output is that of the inner model's own input",
        differs="raises",
    ),
    old("name_layers", "cleared", [SIZES, True], skip=ONCE),
    old("cut", "three pieces", [np.hstack([X, X[:, ::-1], X[:, :1]]), [2, 3, 4]]),
    old("replace_head", "a step", [HEAD_DATA, BODY, HEAD, 0.25], **COMPILED),
    Raises(
        "layer_outputs",
        "too few features",
        [X[:, 1:], START, 0],
        of="program",
        graph=tf.errors.InvalidArgumentError,
        eager=ValueError,
        function=ValueError,
        match="Matrix size-incompatible|is incompatible with",
        skip=OLD,
    ),
    Raises.alike(
        "deep_dream",
        "a layer that there is not",
        [IMAGES[:1], FILTERS, {"fc1": 1.0}, 0.1, 1],
        ValueError,
        "No such layer: fc1",
        of="program",
        skip=OLD,
    ),
    Raises(
        "grad_cam",
        "a class that there is not",
        [IMAGES[0], FILTERS, 3],
        of="program",
        graph=ValueError,
        eager=tf.errors.InvalidArgumentError,
        function=ValueError,
        match="slice index 3 of dimension 1 out of bounds",
        skip=OLD,
    ),
]
PROOF = proof(v1, v2, CASES)


class KerasFunctionsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class DistancesTest(unittest.TestCase):
    """Numbers in the chapter about Keras 3 without the code of the right page."""

    @parameterized.expand(
        [
            ("monte_carlo", "outputs/1", "0.48"),
            ("fit_in_phase", "outputs/1/4", "2.8"),
            ("layer_outputs", "outputs/1/4", "0.76"),
            ("train_in_session", "outputs/1/4", "2.1"),
            ("guided_saliency", "outputs", "0.0061"),
        ]
    )
    def test_how_far_apart(self, name, leaf, told):
        left, naive = both(name)
        self.assertEqual(f"{np.abs(left[leaf] - naive[leaf]).max():.2g}", told)

    @parameterized.expand(
        [
            ("fit_in_phase", "outputs/0", 0, "4.0 2.0"),
            ("running_mean", "outputs/1/0", 1, "-0.32 -0.086"),
        ]
    )
    def test_numbers(self, name, leaf, index, told):
        left, naive = (side[leaf][index] for side in both(name))
        self.assertEqual(f"{left:#.2g} {naive:#.2g}", told)

    def test_predict_drops_nothing(self):
        self.assertLess(both("monte_carlo")[1]["outputs/1"].max(), 1e-6)

    @parameterized.expand(
        [
            ("Dropout", {"rate": 0.5, "seed": 3}),
            ("Scale", {}),
            ("TrainingNorm", {}),
            ("InferenceNorm", {}),
        ]
    )
    def test_layers_of_the_page_are_saved_and_loaded(self, name, options):
        own = getattr(v2, name)
        model = keras.Sequential([keras.Input([4]), own(**options)])
        model.set_weights([weight + 1 for weight in model.get_weights()])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.keras")
            model.save(path)
            loaded = keras.models.load_model(path)
        x = np.arange(8, dtype="f").reshape(2, 4)
        np.testing.assert_array_equal(loaded(x), model(x))

    @parameterized.expand(["uint8", "int64", "float64"])
    def test_pixels_of_another_dtype_are_float32_first(self, dtype):
        images = np.arange(2 * 8 * 8 * 3).reshape(2, 8, 8, 3) % 251
        step = {"edges": 1.0}, 0.125, 2
        answers = [
            [
                *v2.saliency(pixels, FILTERS),
                v2.guided_saliency(pixels, FILTERS, 1),
                *v2.deep_dream(pixels[:1], FILTERS, *step)[1],
                *v2.running_mean([pixels[0, 0]] * 2, 0.5)[1],
            ]
            for pixels in (images.astype("f"), images.astype(dtype))
        ]
        for expected, found in zip(*answers, strict=True):
            self.assertEqual(found.dtype, expected.dtype)
            np.testing.assert_array_equal(found, expected)

    def test_a_draw_may_be_for_a_whole_row(self):
        dropped = v2.Dropout(0.5, noise_shape=[8, 1], seed=3)(
            tf.ones([8, 5]), training=True
        )
        self.assertEqual(set(np.sum(dropped, axis=1)), {0, 10})

    def test_pixels_are_small(self):
        left, _ = both("guided_saliency")
        self.assertEqual(f"{np.abs(left['outputs']).max():.4f}", "0.0023")

    def test_a_base_that_is_not_in_training_is_told_that_it_is(self):
        base = keras.Sequential([keras.Input([4]), keras.layers.BatchNormalization()])
        inputs = keras.Input([4])
        outputs = keras.layers.Dense(4)(base(inputs, training=False))
        model = keras.Model(inputs, outputs)
        for trainable, moves in [(True, True), (False, False)]:
            base.trainable = trainable
            model.compile("sgd", "mse")
            before = base.get_weights()[2]
            model.fit(X, X, verbose=0)
            moved = (base.get_weights()[2] != before).any()
            self.assertEqual(moved, moves)

    def test_outputs_of_a_sequential(self):
        model = keras.Sequential([keras.Input([4]), keras.layers.Dense(1)])
        with self.assertRaisesRegex(AttributeError, "has never been called"):
            _ = model.output
        self.assertEqual(model.layers[-1].output.shape, (None, 1))
        self.assertEqual(len(model.outputs), 1)

    def test_a_placeholder(self):
        model = v2.network(START)
        with tf.Graph().as_default():
            x = tf.compat.v1.placeholder(tf.float32, [None, 4])
            with self.assertRaisesRegex(RuntimeError, "capture an EagerTensor"):
                model(x)
            with self.assertRaisesRegex(RuntimeError, "only supports Python-style"):
                model.predict(X, verbose=0)

    def test_a_model_that_returns_a_gradient(self):
        class Explained(keras.Model):
            def call(self, x):
                with tf.GradientTape() as t:
                    t.watch(x)
                    y = x**2
                return y, t.gradient(y, x)

        _, gradient = Explained().predict(np.float32([[1.0, 3.0]]), verbose=0)
        self.assertEqual(gradient.tolist(), [[2.0, 6.0]])

    def test_split_takes_places(self):
        pieces = keras.ops.split(np.arange(9), [2, 3, 4])
        self.assertEqual([len(piece) for piece in pieces], [2, 1, 1, 5])

    def test_backend_of_what_has_no_value(self):
        output = v2.network(START).output
        self.assertIs(keras.backend.eval(output), output)


class ObviousTest(unittest.TestCase):
    """Losses in the chapter about the obvious form of a program."""

    @parameterized.expand(
        [
            ("train_closure", "outputs/0/9", "1.0597 0.2086"),
            ("fit_autoencoder", "outputs/0", "3.5930 5.0229"),
        ]
    )
    def test_losses(self, name, leaf, told):
        left, naive = (np.ravel(side[leaf])[0] for side in both(name))
        self.assertEqual(f"{naive:.4f} {left:.4f}", told)


def both(name):
    (case,) = [c for c in CASES if isinstance(c, FalseFriend) and c.name == name]
    return list(false_friends.both(PROOF, case, {}))


if __name__ == "__main__":
    unittest.main()
