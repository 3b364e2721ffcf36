"""Proves the pair `keras_recipes`: programs that used internals of tf.keras."""

import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from parity_tests.keras_cases import COMPILED, OLD, draws, friend, old
from tf1to2.parity import FalseFriend, Raises, false_friends, settings
from v1_graph import keras_recipes as v1
from v2_eager import keras_recipes as v2

# `fit` and `predict` batch arrays by tf.data, whose functions are always traced.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Even though the `tf.config.experimental_run_functions_eagerly`:UserWarning"
)
RANDOM = np.random.RandomState(26)
drawn, weights = draws(RANDOM)
keras = tf.keras


def lstm(features, units):
    return [drawn(features, 4 * units), drawn(units, 4 * units), drawn(4 * units)]


NUMBERS = drawn(70, 4), drawn(70, 3)
START = weights(4, 5, 3)
PAIRS = [(drawn(16, 4), drawn(16, 4) + 1) for _ in range(5)]
CRITIC = [weight / 4 for weight in weights(4, 6, 1)]
SPECTRAL = [[*weights(4, 5), drawn(1, 5)], [*weights(5, 3), drawn(1, 3)]]
DOMAINS = NUMBERS[0], *np.int32([NUMBERS[1].argmax(1), NUMBERS[0][:, 0] > 0])
TWO_HEADS = weights(4, 5, 3) + weights(5, 2)
HELD_OUT = drawn(35, 4)
AGENT = [[drawn(9, 4) for _ in range(6)], weights(4, 5, 2), weights(6, 7, 1), 0.125]
EPISODES = [
    (drawn(n, 4), RANDOM.randint(0, 3, n).astype("i"), drawn(n)) for n in (12, 7, 20)
]
MEMORY = [
    (drawn(16, 4), RANDOM.randint(0, 3, 16).astype("i"), drawn(16), drawn(16, 4), e > 1)
    for e in drawn(5, 16)
]
BATCHES = [drawn(16, 4) * scale + shift for scale, shift in [(1, 0), (3, 1), (2, 5)]]
BATCHES = [batch.astype("f") for batch in [*BATCHES, BATCHES[0] / 9]]
CLIPPING = {"rmin": 0.5, "rmax": 2.0, "dmax": 1.5}
PADDED = drawn(64, 7, 3) * (np.arange(7) < 1 + np.arange(64)[:, None] % 7)[:, :, None]
PADDED = PADDED.astype("f")
WORDS = np.eye(6, dtype="f")[RANDOM.randint(0, 6, [64, 5])]
TRANSLATOR = [*lstm(6, 7), *lstm(5, 7), drawn(7, 5) * 2, drawn(5)]
PIECES = [drawn(3, 4, 2) for _ in range(3)]
STATES = [drawn(3, 5), drawn(3, 5)]
TEXTS = [
    "The cat sat on the mat.",
    "A dog-and-cat story: the dog's, and the cat's!",
    "One more\tline\nof words, no new ones… the Über-dog",
    "",
    "zebra yak xerus wolf vole",
]
FRESH = np.random.RandomState(27)
LABELS = DOMAINS[1]
IMAGES = FRESH.uniform(0, 255, [70, 4, 5, 3]).astype("f")


def by_constraints(batches, start, rate, limit):
    """Constraints clip the weights after each of the two batches of a step."""
    stack, between = v2.stack, v2.Between(-limit, limit)
    options = {"kernel_constraint": between, "bias_constraint": between}
    with mock.patch.object(v2, "stack", lambda start: stack(start, **options)):
        return v2.clip_critic(batches, start, rate, limit)


def by_the_wrapper_of_keras(data, start, epochs, rate=0.25):
    class Wrapped(keras.layers.SpectralNormalization):
        def __init__(self, units, **options):
            super().__init__(keras.layers.Dense(units, **options))

        def set_weights(self, weights):
            self.layer.set_weights(weights[:2])
            self.vector_u.assign(weights[2])

        def get_weights(self):
            return [*self.layer.get_weights(), self.vector_u.numpy()]

    with mock.patch.object(v2, "SpectralDense", Wrapped):
        return v2.normalize_spectrally(data, start, epochs, rate)


def by_an_override_map(data, start, strength, epochs, batch_size):
    class Mapped(keras.layers.Layer):
        def call(self, x):
            graph = tf.compat.v1.get_default_graph()
            with graph.gradient_override_map({"Identity": "Reversal1"}):
                return tf.identity(x)

    with mock.patch.object(v2, "Reversal", lambda strength: Mapped()):
        return v2.adapt(data, start, strength, epochs, batch_size)


def by_a_variable(data, start, scale, epochs):
    K, made = keras.backend, []

    class Scaled(keras.layers.Layer):
        def build(self, input_shape):
            self.gamma = K.variable(scale * np.ones(int(input_shape[-1])))
            self._trainable_weights = [self.gamma]
            made.append(self)

        def call(self, x):
            return K.l2_normalize(x, axis=-1) * self.gamma

    with mock.patch.object(v2, "Scaled", lambda scale: Scaled()):
        losses, found = v2.fit_scales(data, start, scale, epochs)
    return losses, [*found, made[0].gamma.numpy()]


def by_a_stateful_lstm(pieces, weights):
    lstm = keras.layers.LSTM(weights[1].shape[0], stateful=True, **v2.OLD_LSTM)
    both = keras.layers.Bidirectional(lstm)
    model = keras.Sequential([keras.Input(batch_shape=pieces[0].shape), both])
    model.set_weights(weights)
    return [model.predict_on_batch(piece) for piece in pieces]


def by_the_layers_attribute(data, start, penalty, epochs, rate=0.25):
    model = v2.stack(start)
    for layer in model.layers:
        layer.kernel_regularizer = keras.regularizers.L2(penalty)
    model.compile(keras.optimizers.SGD(rate), "mse")
    x, y = data
    history = model.fit(x, y, batch_size=len(x), epochs=epochs, verbose=0)
    return v2.told(history), model.get_weights()


def by_reset_states(pieces, weights, states):
    layer = keras.layers.LSTM(weights[1].shape[0], stateful=True)
    keras.Sequential([keras.Input(batch_shape=pieces[0].shape), layer])
    layer.reset_states(states=states)


def by_adapt(texts, most, unknown, length):
    layer = keras.layers.TextVectorization(most, ragged=True)
    layer.adapt(texts)
    rows = keras.utils.pad_sequences(layer(tf.constant(texts)).to_list(), length)
    return rows, layer.get_vocabulary()[1:]


CASES = [
    friend(
        "clip_critic",
        "five steps",
        [PAIRS, CRITIC, 0.0625, 0.25],
        by_constraints,
        "a constraint clips after each batch, and a step has two",
        **COMPILED,
    ),
    old("fit_constrained", "three epochs", [NUMBERS, START, -0.5, 0.75, 3], **COMPILED),
    Raises(
        "fit_constrained",
        "rows of another length",
        [(NUMBERS[0][:, :-1], NUMBERS[1]), START, -0.5, 0.75, 1],
        of="program",
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="expected .* to have shape|incompatible with the layer",
        skip=OLD,
    ),
    friend(
        "normalize_spectrally",
        "three epochs",
        [NUMBERS, SPECTRAL, 3],
        by_the_wrapper_of_keras,
        "it divides the kernel itself, in each step, and no gradient passes that",
        **COMPILED,
    ),
    friend(
        "adapt",
        "three epochs",
        [DOMAINS, TWO_HEADS, 0.5, 3, 16],
        by_an_override_map,
        "no eager call and no trace is in the graph that has the map",
        **COMPILED,
    ),
    friend(
        "fit_scales",
        "three epochs",
        [NUMBERS, weights(4, 3), 2.0, 3],
        by_a_variable,
        "a layer of Keras 3 owns what add_weight made: the variable is not trained",
        **COMPILED,
    ),
    old(
        "renormalize",
        "four batches",
        [BATCHES, BATCHES[0] * 2, [drawn(4), drawn(4)], CLIPPING, 0.75],
        float32=True,  # the layer of 1.15.5 has no float64
    ),
    old("warm_up", "two of three epochs", [NUMBERS, START, 0.25, 2, 3, 16], **COMPILED),
    friend(
        "penalize_pretrained",
        "three epochs",
        [NUMBERS, START, 0.0625, 3],
        by_the_layers_attribute,
        "build has handed the layer's regularizer to the weight",
        **COMPILED,
    ),
    old("fit_by_layers", "four steps", [NUMBERS, START, [0.03125, 0.25], 0.5, 4]),
    old("train_actor", "six steps", AGENT),
    old(
        "reinforce",
        "three episodes",
        [EPISODES, weights(4, 5, 3), 0.0625, 0.75],
        traces=2,
    ),
    old("learn_by_target", "five steps", [MEMORY, START, 0.0625, 0.75, 2], **COMPILED),
    old("read_padded", "some of seven steps", [PADDED, [drawn(3, 5), drawn(5, 5)]]),
    old("decode", "seven words", [WORDS, 0, 7, TRANSLATOR]),
    friend(
        "begin_at_states",
        "three pieces",
        [PIECES, lstm(2, 5), STATES],
        by_reset_states,
        "layers of Keras 3 have reset_state, which takes no numbers",
        differs="raises",
    ),
    friend(
        "read_both_ways",
        "three pieces",
        [PIECES, lstm(2, 5) + lstm(2, 5)],
        by_a_stateful_lstm,
        "a Bidirectional of Keras 3 is stateful, too, if its layer is",
    ),
    friend(
        "number_words",
        "below nine",
        [TEXTS, 9, "<unknown>", 6],
        by_adapt,
        "words of the same frequency are sorted backwards, and signs are left out",
        skip={"function": PLAIN},
    ),
    old("number_words", "all", [TEXTS, 100, "?", 12], skip={"function": PLAIN}),
    old(
        "confuse",
        "four epochs",
        [(NUMBERS[0], LABELS), (HELD_OUT, LABELS[:35]), START, 4],
        **COMPILED,
    ),
    old(
        "standardize", "others", [IMAGES, IMAGES[:9] / 2 + 7], skip={"function": PLAIN}
    ),
    old("tie_weights", "three epochs", [NUMBERS[0], START[:2], 3, 16], **COMPILED),
    old("preprocess", "three channels", [IMAGES], skip={"function": PLAIN}),
]
PROOF = proof(v1, v2, CASES)


class KerasRecipesTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class DistancesTest(unittest.TestCase):
    """Checks what the chapter says about Keras 3 without the right page."""

    @parameterized.expand(
        [
            ("read_both_ways", "outputs/1", "0.64"),
            ("normalize_spectrally", "outputs/1/0/0", "1.3"),
            ("adapt", "outputs/1/0", "1.4"),
        ]
    )
    def test_how_far_apart(self, name, leaf, told):
        left, naive = both(name)
        self.assertEqual(f"{np.abs(left[leaf] - naive[leaf]).max():.2g}", told)

    @parameterized.expand(
        [
            ("fit_scales", "outputs/1/2", 0, "1.62 2.00"),
            ("penalize_pretrained", "outputs/0", 0, "6.1704 3.4568"),
            ("clip_critic", "outputs/0", 1, "-0.0868 0.2487"),
            ("number_words", "outputs/0", 1, "3 1"),
        ]
    )
    def test_numbers(self, name, leaf, index, told):
        digits = len(told.partition(" ")[0].partition(".")[2])
        found = (f"{np.ravel(side[leaf])[index]:.{digits}f}" for side in both(name))
        self.assertEqual(" ".join(found), told)

    def test_a_critic_in_the_default_settings_is_the_same_each_time(self):
        program = (
            "from parity_tests import test_keras_recipes as t; "
            "told = [t.v2.clip_critic(t.PAIRS, t.CRITIC, 0.0625, 0.25)[0].tobytes() "
            "for _ in range(20)]; print(len(set(told)))"
        )
        default = {**os.environ, "TF1TO2_SETTINGS": "default"}
        for name in settings.STRICT.keys() - settings.CPU.keys():
            default.pop(name, None)
        command = [sys.executable, "-c", program]
        run = subprocess.run(command, capture_output=True, text=True, env=default)
        self.assertEqual(run.stdout, "1\n", run.stderr)

    def test_a_constraint_of_a_weight_counts_at_once(self):
        model = v2.stack(START)
        for layer in model.layers:
            layer.kernel.constraint = v2.Between(-0.1, 0.1)
        model.compile("sgd", "mse")
        model.fit(*NUMBERS, verbose=0)
        self.assertLess(np.abs(model.get_weights()[0]).max(), 0.11)

    def test_a_state_that_is_given_is_where_each_batch_begins(self):
        x, *states = (
            keras.Input(batch_shape=array.shape) for array in (PIECES[0], *STATES)
        )
        lstm = keras.layers.LSTM(5, stateful=True)
        model = keras.Model([x, *states], lstm(x, initial_state=states))
        found = [model.predict_on_batch([PIECES[0], *STATES]) for _ in range(2)]
        np.testing.assert_array_equal(*found)

    def test_penalties_are_there_after_the_call(self):
        layer = keras.layers.Dense(
            2, kernel_regularizer="l2", activity_regularizer="l2"
        )
        self.assertEqual(layer.losses, [])
        layer(tf.ones([1, 2]))
        self.assertEqual(len(layer.losses), 2)

    @parameterized.expand(
        [
            (v2.SpectralDense, {"units": 2}),
            (v2.Reversal, {"strength": 0.5}),
            (v2.Scaled, {"scale": 2.0}),
            (keras.layers.Dense, {"units": 2, "kernel_constraint": v2.Between(-1, 1)}),
        ]
    )
    def test_layers_of_the_page_are_saved_and_loaded(self, own, options):
        model = keras.Sequential([keras.Input([4]), own(**options)])
        model.set_weights([weight + 1 for weight in model.get_weights()])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.keras")
            model.save(path)
            loaded = keras.models.load_model(path)
        x = np.arange(8, dtype="f").reshape(2, 4)
        np.testing.assert_array_equal(loaded(x), model(x))

    def test_a_cell_and_an_optimizer_of_the_page_are_loaded(self):
        cell, last = v2.Summing(3, name="summing"), keras.layers.Dense(1, name="last")
        read = keras.layers.RNN(cell, name="read")
        model = keras.Sequential([keras.Input([2, 4]), read, last])
        rates = {"summing": 0.25, "last": 1.0}
        model.compile(v2.ByLayer(0.5, rates, momentum=0.5), "mse")
        rows = np.arange(16, dtype="f").reshape(2, 2, 4) / 8, np.ones([2, 1])
        model.train_on_batch(*rows)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.keras")
            model.save(path)
            loaded = keras.models.load_model(path)
        for one in (model, loaded):
            one.train_on_batch(*rows)
        for kept, read in zip(model.weights, loaded.weights, strict=True):
            np.testing.assert_array_equal(read, kept)


def both(name):
    (case,) = [c for c in CASES if isinstance(c, FalseFriend) and c.name == name]
    return list(false_friends.both(PROOF, case, {}))


if __name__ == "__main__":
    unittest.main()
