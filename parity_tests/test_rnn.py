import functools
import os
import tempfile
import unittest
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import legacy_keras, proof, shorthand
from tf1to2.parity import FalseFriend, Layer, Naive, Op, Program, Raises, settings
from tf1to2.parity.arrays import integers, normal
from tf1to2.parity.v1 import legacy
from v1_graph import rnn as v1
from v2_eager import rnn as v2
from v2_eager.numerics import rnn
from v2_keras import rnn as v3

keras = tf.keras.layers
ALONE = "today's TensorFlow has no cells without tf_keras"
ONCE = "another case of the pair is proven in this way"
TRACED = "its loop is traced anyhow; another case of the pair is proven in this way"
LOOP = "its loop is that of make_basic_lstm, proven in this way"
CELL = "its cells are those of make_basic_lstm or make_gru, proven in this way"
SECOND = {"function": TRACED, "xla": ONCE, "dynamic": ONCE}
SKIP = {"graph": ALONE, "generated": ALONE}
RNG = np.random.RandomState(0)
DEPTH, UNITS = 3, 4
X = RNG.standard_normal([5, 6, DEPTH]).astype("f")
X_TENSOR = tf.constant(X)
LENGTHS = np.array([6, 1, 4, 2, 5], "i4")
LABELS = np.array([0, 1, 2, 1, 0])
ROWS = DEPTH + UNITS
BEHIND = np.float32([[[1, 2], [np.nan, 3]], [[4, 5], [6, 7]]])


def drawn(*shape):
    return (RNG.standard_normal(shape) / 2).astype("f")


LSTM = {
    "rnn/basic_lstm_cell/kernel": drawn(ROWS, 4 * UNITS),
    "rnn/basic_lstm_cell/bias": drawn(4 * UNITS),
}
GRU = {
    "rnn/gru_cell/gates/kernel": drawn(ROWS, 2 * UNITS),
    "rnn/gru_cell/gates/bias": drawn(2 * UNITS),
    "rnn/gru_cell/candidate/kernel": drawn(ROWS, UNITS),
    "rnn/gru_cell/candidate/bias": drawn(UNITS),
}

# A cell that rotates a vector a little in each step; its first number becomes negative.
ANGLES = np.float32([-1.25, 1.5, 0, 0.75, -0.25])
FIRST = np.stack([np.cos(ANGLES), np.sin(ANGLES)], 1)
TURN = np.float32([[1.25, 0.5], [-0.5, 1.25]])
TURNING = {
    "rnn/basic_rnn_cell/kernel": np.concatenate([TURN / 2, TURN]),
    "rnn/basic_rnn_cell/bias": np.float32([0.0625, -0.125]),
}


def layer(name, slug, args, factory=(), skip=(), **options):
    factory, skip = dict(factory), {**SKIP, **dict(skip)}
    options.setdefault("sizes", [{"b": 3}, {"b": 67}])
    return Layer(name, slug, args, factory=factory, skip=skip, **options)


refused = functools.partial(shorthand.refused, of="layer", skip={"graph": ALONE})


def by_keras(layer, weights, x, lengths):
    """Runs a Keras layer with these weights, and a mask of these lengths."""
    layer.build(x.shape)
    layer.set_weights(weights)
    mask = None if lengths is None else tf.sequence_mask(lengths, x.shape[1])
    return [y.numpy() for y in layer(tf.constant(x), mask=mask)]


def keras_lstm(x, lengths, weights, **options):
    layer = keras.LSTM(
        UNITS, return_sequences=True, return_state=True, dtype=x.dtype.name, **options
    )
    outputs, h, c = by_keras(layer, weights, x, lengths)
    return {"outputs": outputs, "c": c, "h": h}


def keras_gru(x, lengths, weights, **options):
    layer = keras.GRU(
        UNITS, return_sequences=True, return_state=True, dtype=x.dtype.name, **options
    )
    outputs, state = by_keras(layer, weights, x, lengths)
    return {"outputs": outputs, "state": state}


def unordered(x, lengths, weights):
    kernel, bias = weights.values()
    i, j, f, o = np.split(bias, 4)
    bias = np.concatenate([i, j + 1, f, o])  # Keras' second gate is the forget gate
    return keras_lstm(x, None, [kernel[:DEPTH], kernel[DEPTH:], bias])


CASES = [
    layer("make_basic_rnn", "tanh", [normal("b", 5, 3)], {"units": 4}, {"xla": LOOP}),
    layer(
        "make_basic_rnn",
        "ReLU, time first",
        [normal(5, "b", 3)],
        {"units": 4, "activation": "relu", "time_major": True, "name": "first"},
        SECOND,
    ),
    layer(
        "make_basic_lstm",
        "of several lengths",
        [normal("b", 5, 3), integers("b", high=6)],
        {"units": 4},
    ),
    layer(
        "make_basic_lstm",
        "from a state, no forget bias",
        [normal("b", 4, 2), None, (normal("b", 3), normal("b", 3))],
        {"units": 3, "forget_bias": 0.0},
        SECOND,
    ),
    layer(
        "make_basic_lstm",
        "NaN behind the ends",
        [BEHIND, np.array([1, 2], "i4")],
        {"units": 2},
        SECOND,
    ),
    layer(
        "make_lstm",
        "with everything",
        [normal("b", 4, 3)],
        {
            "units": 4,
            "peepholes": True,
            "cell_clip": 0.75,
            "projection": 2,
            "projection_clip": 0.625,
        },
        {"dynamic": LOOP, "xla": LOOP},
    ),
    layer(
        "make_lstm",
        "plain",
        [normal("b", 3, 2)],
        {"units": 3, "name": "plain"},
        SECOND,
    ),
    layer(
        "make_gru",
        "of several lengths",
        [normal("b", 4, 3), integers("b", low=1, high=5, dtype="int64")],
        {"units": 4},
        {"dynamic": LOOP},
    ),
    layer(
        "make_stack",
        "of two, the second residual",
        [normal("b", 4, 2), integers("b", low=1, high=5)],
        {"units": 3, "layers": 2},
        {"dynamic": LOOP, "xla": CELL},
    ),
    layer(
        "make_static_rnn",
        "of several lengths",
        [normal("b", 5, 3), integers("b", low=1, high=6)],
        {"units": 4},
        {"xla": CELL},
    ),
    layer(
        "make_static_rnn",
        "of one length",
        [normal("b", 3, 2)],
        {"units": 3},
        SECOND,
    ),
    layer(
        "make_bidirectional",
        "of several lengths",
        [normal("b", 4, 3), integers("b", low=1, high=5)],
        {"units": 3},
        {"dynamic": LOOP, "xla": CELL},
    ),
    Op(
        "last_outputs",
        "any batch",
        [normal("b", 5, "d"), integers("b", low=1, high=6)],
    ),
    FalseFriend(
        "last_outputs",
        "the last column",
        [np.float32([[[1], [2], [0]], [[3], [4], [5]]]), np.array([2, 3], "i4")],
        expect=[[2], [5]],
        exact=True,
        naive=lambda outputs, lengths: outputs[:, -1],
        because="past the end of a sequence its outputs are zero",
    ),
    Program(
        "run_lstm",
        "another forget bias",
        [X, LENGTHS, LSTM],
        {"forget_bias": 0.0},
        skip=SKIP,
    ),
    Program("run_until", "rows of several lengths", [FIRST, TURNING, 9], skip=SKIP),
    Program("run_until", "no longer than three steps", [FIRST, TURNING, 3], skip=SKIP),
    Program("run_until", "no step", [FIRST, TURNING, 0], skip=SKIP),
    FalseFriend(
        "run_lstm",
        "the weights as they are, in Keras",
        [X, np.full(5, 6, "i4"), LSTM],
        of="program",
        skip=SKIP,
        naive=unordered,
        because="its gates are i, f, j, o, and the cell's i, j, f, o",
    ),
    FalseFriend(
        "run_lstm",
        "the weights without the forget bias, in Keras",
        [X, np.full(5, 6, "i4"), LSTM],
        of="program",
        skip=SKIP,
        naive=lambda x, lengths, weights: keras_lstm(
            x, None, v2.lstm_to_keras(*weights.values(), forget_bias=0)
        ),
        because="forget_bias was added in each step, and is in no checkpoint",
    ),
    FalseFriend(
        "run_lstm",
        "a mask in Keras",
        [X, LENGTHS, LSTM],
        of="program",
        skip=SKIP,
        naive=lambda x, lengths, weights: keras_lstm(
            x, lengths, v2.lstm_to_keras(*weights.values())
        ),
        because="past the end Keras repeats the last output; dynamic_rnn wrote zeros",
    ),
    FalseFriend(
        "run_gru",
        "the gates as they are, in Keras",
        [X, np.full(5, 6, "i4"), GRU],
        of="program",
        skip=SKIP,
        naive=lambda x, lengths, weights: keras_gru(
            x, None, v2.gru_to_keras(*swapped(weights)), reset_after=False
        ),
        because="Keras has the update gate before the reset gate",
    ),
    Program("run_gru", "of several lengths", [X, LENGTHS, GRU], skip=SKIP),
    FalseFriend(
        "read_in_pieces",
        "three pieces",
        [X, 3, UNITS],
        of="program",
        skip=SKIP,
        naive=lambda x, pieces, units: v2.read_in_pieces(x, pieces, units, False),
        because="a loop begins at zeros unless it is given the last state",
    ),
    Program(
        "read_in_pieces", "forgetting", [X, 2, UNITS], {"keep_state": False}, skip=SKIP
    ),
    Program("dropout", "of all three", [X, 4, [0.75, 0.5, 0.75], 3], skip=SKIP),
    Program(
        "dropout",
        "of the outputs",
        [X, 4, [1.0, 0.5, 1.0], 5],
        {"draws": 3},
        skip=SKIP,
    ),
    Program(
        "dropout",
        "the same at all times",
        [X, 4, [0.75, 0.5, 0.625], 3, True],
        skip=SKIP,
    ),
    Program("train", "twenty steps", [X, LENGTHS, LABELS, 20], skip=SKIP),
    refused(
        "make_basic_rnn",
        "a matrix",
        [np.zeros([2, 3], "f")],
        "rank at least 3|rank 3|ndim=2",
        factory={"units": 2},
    ),
    refused(
        "make_basic_lstm",
        "not one length per sequence",
        [np.zeros([3, 2, 1], "f"), np.array([1, 2], "i4")],
        "Expected shape for|Dimension 0 in both shapes must be equal",
        tf.errors.InvalidArgumentError,
        graph=ValueError,  # InvalidArgumentError if the batch is unknown, see train
        factory={"units": 2},
    ),
    refused(
        "make_basic_lstm",
        "lengths that are a matrix",
        [np.zeros([3, 2, 1], "f"), np.array([[1], [2], [2]], "i4")],
        "sequence_length must be a vector",
        factory={"units": 2},
    ),
    refused(
        "make_basic_rnn",
        "an unknown depth",
        [np.zeros([3, 2, 1], "f")],
        "must be accessible via shape inference",
        factory={"units": 2},
        dynamic=True,
        skip={"graph": ALONE, "eager": "an eager tensor has a depth"},
    ),
    refused(
        "make_stack",
        "of none",
        [np.zeros([3, 2, 1], "f"), np.array([1, 2, 2], "i4")],
        "at least one cell",
        factory={"units": 2, "layers": 0},
    ),
    refused(
        "make_static_rnn",
        "lengths that are a matrix",
        [np.zeros([3, 2, 1], "f"), np.array([[1], [2], [2]], "i4")],
        "sequence_length must be a vector",
        factory={"units": 2},
    ),
    Raises(
        "last_outputs",
        "an empty sequence",
        [np.zeros([2, 3, 1], "f"), np.array([0, 2], "i4")],
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match=r"does not index into param|is not in \[0, 3\)",
    ),
    refused(
        "run_lstm",
        "no bias",
        [X, LENGTHS, {"rnn/basic_lstm_cell/kernel": drawn(7, 16)}],
        "rnn/basic_lstm_cell/bias",
        KeyError,
        of="program",
    ),
    refused(
        "read_in_pieces",
        "four pieces of six",
        [X, 4, UNITS],
        "equal division",
        of="program",
    ),
    refused(
        "dropout",
        "a share above 1",
        [X, 4, [1.0, 1.5, 1.0], 5],
        "must be between 0 and 1",
        of="program",
    ),
    refused(
        "train",
        "not one length per sequence",
        [X, LENGTHS[1:], LABELS, 1],
        "Expected shape for",
        tf.errors.InvalidArgumentError,
        of="program",
    ),
    refused(
        "train",
        "a label that is no class",
        [X, LENGTHS, LABELS + 1, 1],
        "label value of 3",
        tf.errors.InvalidArgumentError,
        of="program",
    ),
]
RUN = "run_lstm, a mask in Keras"
REPEATS = {"return_sequences": True, "return_state": True}
NAIVE = [
    Naive(
        RUN,
        "without the forget bias",
        lambda x, lengths, weights: v3.run_lstm(x, lengths, weights, 0.0),
        because="forget_bias was added in each step, and is in no checkpoint",
    ),
    Naive(
        RUN,
        "the gates as they are",
        mock.patch.object(v3, "swap_gates", np.asarray)(v3.run_lstm),
        because="the gates of Keras are i, f, j, o, and the cell's i, j, f, o",
    ),
    Naive(
        RUN,
        "the mask alone",
        mock.patch.object(v3, "READS", REPEATS)(v3.run_lstm),
        because="past the end Keras repeats the last output; dynamic_rnn wrote zeros",
    ),
    Naive(
        "run_gru, of several lengths",
        "the gates as they are",
        mock.patch.object(v3, "swap_halves", np.asarray)(v3.run_gru),
        because="Keras has the update gate before the reset gate",
    ),
    Naive(
        "read_in_pieces, three pieces",
        "not stateful",
        lambda x, pieces, units: v3.read_in_pieces(x, pieces, units, keep_state=False),
        because="a layer begins at zeros unless it is stateful",
    ),
]
PROOF = proof(v1, v2, CASES, NAIVE)


def swapped(weights):
    """Exchanges the two halves of a GRU's gate weights."""
    gate_kernel, gate_bias, *candidate = weights.values()
    return [np.roll(gate_kernel, UNITS, 1), np.roll(gate_bias, UNITS), *candidate]


class RNNTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


def legacy_keras_checks():
    """Returns the checks of cells of tf_keras, for a process that enabled tf_keras."""
    cases = [
        case
        for case in CASES
        if case.name not in ("last_outputs", "dropout")  # today dropout makes +0.0 only
    ]
    whole = proof(v1, v2, legacy_keras.without_skip(CASES))
    return legacy_keras.checks(whole, cases)


class LegacyTest(unittest.TestCase):
    def test_today_s_tensorflow_has_no_cells(self):
        with (
            legacy(),
            self.assertRaisesRegex(AttributeError, "not available with Keras 3"),
        ):
            v1.make_gru(1)(v1.tf.zeros([1, 1, 1]))

    @pytest.mark.slow
    def test_the_left_page_by_tf_keras(self):
        legacy_keras.prove(self, __name__, len(legacy_keras_checks()))


def largest(one, other):
    """Returns {name: largest distance} of two results."""
    return {name: np.abs(one[name] - other[name]).max() for name in one}


FULL = np.full(5, 6, "i4")
TO_KERAS = v2.lstm_to_keras(*LSTM.values())


class KerasTest(unittest.TestCase):
    """Compares Keras 3 layers that have the page's weights with the page."""

    def near(self, ours, theirs):
        for name, distance in largest(ours, theirs).items():
            self.assertLess(distance, 3e-7, name)

    @parameterized.expand(
        ["make_basic_rnn", "make_basic_lstm", "make_gru", "make_static_rnn"]
        + ["make_bidirectional", "make_stack"]
    )
    def test_a_reader_is_saved_in_its_model(self, name):
        inputs = tf.keras.Input([5, 3]), tf.keras.Input([], dtype="int32")
        args = [2, 2] if name == "make_stack" else [2]
        outputs = getattr(v3, name)(*args)(*inputs)
        model = tf.keras.Model(inputs, tf.nest.flatten(outputs)[0])
        given = np.ones([4, 5, 3], "f"), np.int32([5, 2, 0, 1])
        with tempfile.TemporaryDirectory() as folder:
            model.save(os.path.join(folder, "model.keras"))
            loaded = tf.keras.models.load_model(os.path.join(folder, "model.keras"))
        np.testing.assert_array_equal(loaded(given), model(given))

    def test_an_lstm_with_converted_weights(self):
        self.near(v2.run_lstm(X, FULL, LSTM), keras_lstm(X, None, TO_KERAS))

    def test_a_gru_goes_on_from_a_state(self):
        reader = v3.make_gru(3)
        x = tf.constant(X)
        outputs, last = reader(x)
        state = reader(x[:, :2])[1]
        pieces, ended = reader(x[:, 2:], state=state)
        self.assertLess(np.abs(pieces - outputs[:, 2:]).max(), 3e-7)
        self.assertLess(np.abs(ended - last).max(), 3e-7)

    @parameterized.expand(
        ["make_basic_lstm", "make_gru", "make_static_rnn", "make_bidirectional"]
    )
    def test_one_length_is_not_taken_for_all(self, name):
        """1.15.5 raises ValueError, the right page raises InvalidArgumentError."""
        for page in (v2, v3):
            reader = getattr(page, name)(UNITS)
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "Expected"):
                reader(X_TENSOR, LENGTHS[:1])

    @parameterized.expand(
        ["make_basic_lstm", "make_gru", "make_static_rnn", "make_bidirectional"]
    )
    def test_a_column_of_lengths_is_refused(self, name):
        x, column = X_TENSOR[:, :1], np.ones([len(X), 1], "int32")
        with self.assertRaisesRegex(ValueError, "must be a vector"):
            getattr(v3, name)(UNITS)(x, column)

    def test_one_state_is_not_taken_for_all(self):
        row, reader = np.ones([1, UNITS], "f"), v3.make_basic_lstm(UNITS)
        reader(X_TENSOR)
        for state in ((row, row), (row, np.ones([len(X), UNITS], "f"))):
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "Expected"):
                reader(X_TENSOR, state=state)

    def test_a_mask_that_writes_zeros(self):
        ours = v2.run_lstm(X, LENGTHS, LSTM)
        theirs = keras_lstm(X, LENGTHS, TO_KERAS, zero_output_for_mask=True)
        self.near(ours, theirs)
        self.assertEqual(np.abs(theirs["outputs"][1, 1:]).max(), 0)
        masked = largest(ours, keras_lstm(X, LENGTHS, TO_KERAS))
        self.assertEqual(f"{masked.pop('outputs'):.2f}", "0.46")
        self.assertLess(max(masked.values()), 3e-7)

    def test_what_is_forgotten_shows(self):
        ours = v2.run_lstm(X, FULL, LSTM)
        for wrong, distance in [
            (unordered(X, FULL, LSTM), "1.31"),
            (keras_lstm(X, None, v2.lstm_to_keras(*LSTM.values(), 0)), "0.25"),
        ]:
            self.assertEqual(f"{largest(ours, wrong)['outputs']:.2f}", distance)

    def test_a_gru_with_converted_weights(self):
        ours, weights = v2.run_gru(X, FULL, GRU), v2.gru_to_keras(*GRU.values())
        self.near(ours, keras_gru(X, None, weights, reset_after=False))
        with self.assertRaisesRegex(ValueError, "not compatible with provided weight"):
            keras_gru(X, None, weights)  # with reset_after=True it has two biases
        weights[2] = np.stack([weights[2], np.zeros(3 * UNITS, "f")])
        after = largest(ours, keras_gru(X, None, weights))
        self.assertEqual(f"{after['outputs']:.2f}", "0.09")

    def test_there_and_back(self):
        kernel, bias = v2.lstm_from_keras(*TO_KERAS)
        np.testing.assert_array_equal(kernel, LSTM["rnn/basic_lstm_cell/kernel"])
        same = (bias == LSTM["rnn/basic_lstm_cell/bias"]).reshape(4, UNITS)
        self.assertEqual(same.all(1).tolist(), [True, True, False, True])
        one = np.float32(1)  # b + 1 - 1 is rounded
        forget = LSTM["rnn/basic_lstm_cell/bias"][2 * UNITS : 3 * UNITS]
        np.testing.assert_array_equal(bias[2 * UNITS : 3 * UNITS], forget + one - one)
        again = v2.gru_from_keras(*v2.gru_to_keras(*GRU.values()))
        for old, new in zip(GRU.values(), again, strict=True):
            np.testing.assert_array_equal(old, new)

    def test_weights_of_keras_in_an_old_cell(self):
        lstm, gru = keras.LSTM(UNITS), keras.GRU(UNITS, reset_after=False)
        for layer in (lstm, gru):
            layer.build([None, None, DEPTH])
            layer.set_weights([drawn(*w.shape) for w in layer.weights])
        old = dict(zip(LSTM, v2.lstm_from_keras(*lstm.get_weights())))
        ours = v2.run_lstm(X, FULL, old)
        self.assertLess(np.abs(ours["h"] - lstm(X)).max(), 3e-7)
        old = dict(zip(GRU, v2.gru_from_keras(*gru.get_weights())))
        self.assertLess(np.abs(v2.run_gru(X, FULL, old)["state"] - gru(X)).max(), 3e-7)

    def test_keras_has_the_forget_bias_in_its_fresh_weights(self):
        layer = keras.LSTM(UNITS)
        layer.build([None, None, DEPTH])
        fresh = np.zeros([ROWS, 4 * UNITS]), np.zeros(4 * UNITS)
        bias = v2.lstm_to_keras(*fresh)[2]
        np.testing.assert_array_equal(layer.get_weights()[2], bias)

    def test_bidirectional(self):
        page = v2.make_bidirectional(UNITS)
        outputs, states = page(X_TENSOR, tf.constant(LENGTHS))
        values = {v.name[:-2]: v.numpy() for v in page.variables}
        weights = []
        for way in ("fw", "bw"):
            path = f"reader/bidirectional_rnn/{way}/"
            names = [name.replace("rnn/", path) for name in GRU]
            weights += v2.gru_to_keras(*[values[name] for name in names])
        gru = keras.GRU(
            UNITS,
            return_sequences=True,
            return_state=True,
            reset_after=False,
            zero_output_for_mask=True,
        )
        layer = keras.Bidirectional(gru)
        theirs = by_keras(layer, weights, X, LENGTHS)
        for our, their in zip([outputs, *states], theirs, strict=True):
            self.assertLess(np.abs(our - their).max(), 3e-7)

    def test_stateful(self):
        layer = keras.LSTM(UNITS, return_sequences=True, stateful=True)
        layer.build([5, 2, DEPTH])
        ours = rnn.BasicLSTMCell(UNITS)
        ours.build(DEPTH, tf.float32)
        layer.set_weights(v2.lstm_to_keras(ours.kernel.numpy(), ours.bias.numpy()))
        outputs, _ = rnn.unroll(ours, X_TENSOR)
        pieces = [layer(piece) for piece in tf.split(X_TENSOR, 3, 1)]
        self.assertLess(np.abs(outputs - tf.concat(pieces, 1)).max(), 3e-7)


class PageTest(unittest.TestCase):
    def test_rows_of_no_weight_are_not_learned_from(self):
        inputs = {"x": X, "lengths": np.full(len(X), X.shape[1], "int32")}
        labels, ends = np.zeros(len(X), "int32"), []
        for ones in (1, 0):
            model = v3.Classifier(UNITS, 1.0)
            model.build(X.shape)
            before = model.get_weights()
            loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            model.compile(tf.keras.optimizers.SGD(0.5), loss)
            counts = np.full(len(X), ones, "f")
            model.fit(inputs, labels, len(X), 1, sample_weight=counts, verbose=0)
            pairs = zip(before, model.get_weights())
            ends.append(all(np.array_equal(*pair) for pair in pairs))
        self.assertEqual(ends, [False, True])


class TracesTest(unittest.TestCase):
    """Arguments of the same signature share one trace, in whatever form they come."""

    @parameterized.expand(
        [
            ("a cell of one weight", lambda: v2.make_basic_rnn(UNITS)),
            ("an LSTM", lambda: v2.make_basic_lstm(UNITS)),
            ("a stack", lambda: v2.make_stack(UNITS, 2)),
            ("no loop", lambda: v2.make_static_rnn(UNITS)),
        ]
    )
    def test_the_first_call_makes_no_variables_in_its_trace(self, _, make):
        reader = make()
        for _ in range(3):
            reader(X_TENSOR)
        self.assertEqual(reader.loop.experimental_get_tracing_count(), 1)

    def test_both_ways(self):
        reader = v2.make_bidirectional(UNITS)
        for lengths in (LENGTHS, LENGTHS.tolist(), [1, 2, 3, 4, 5]):
            reader(X_TENSOR, lengths)
        self.assertEqual(reader.loop.experimental_get_tracing_count(), 1)

    def test_lists_and_arrays_for_tensors(self):
        reader = v2.make_basic_lstm(UNITS)
        zeros = np.zeros([len(X), UNITS], "f")
        lengths = [LENGTHS, tf.constant(LENGTHS), LENGTHS.astype("i8")]
        lengths += [LENGTHS.tolist(), [1, 2, 3, 4, 5]]
        _, state = reader(X_TENSOR, LENGTHS, (zeros, zeros))
        states = [(zeros, zeros), [zeros, zeros], (tf.constant(zeros),) * 2, state]
        for one in lengths:
            reader(X_TENSOR, one, state)
        for one in states:
            reader(X, LENGTHS.tolist(), one)
        self.assertEqual(reader.loop.experimental_get_tracing_count(), 1)
        outputs = [reader(X, one, state)[0].numpy() for one in lengths[:4]]
        for one in outputs:
            np.testing.assert_array_equal(one, outputs[0])


class LoopTest(unittest.TestCase):
    def test_pieces_are_the_whole(self):
        whole, pieces = (v2.read_in_pieces(X, n, UNITS) for n in (1, 3))
        for name in whole:
            np.testing.assert_array_equal(whole[name], pieces[name])
        forgetting = v2.read_in_pieces(X, 3, UNITS, keep_state=False)
        distance = largest(whole, forgetting)["outputs"]
        self.assertEqual(f"{distance:.2f}", "0.30")

    def test_the_state_is_that_of_the_end(self):
        run = v2.run_lstm(X, LENGTHS, LSTM)
        np.testing.assert_array_equal(
            v2.last_outputs(run["outputs"], LENGTHS), run["h"]
        )
        for outputs, length in zip(run["outputs"], LENGTHS):
            self.assertTrue((outputs[length:] == 0).all())
            self.assertTrue((outputs[:length] != 0).all())

    def test_to_reverse_the_padding_too_is_another_network(self):
        cell, lengths = rnn.GRUCell(UNITS), tf.constant(LENGTHS)
        _, right = rnn.unroll(cell, tf.reverse_sequence(X, LENGTHS, 1, 0), lengths)
        _, wrong = rnn.unroll(cell, tf.reverse(X, [1]), lengths)
        distances = np.abs(right - wrong).max(1)
        self.assertEqual(distances[0], 0)  # this sequence has full length
        self.assertTrue((distances[1:] > 0.05).all(), distances)

    def test_a_loop_and_no_loop_are_the_same(self):
        # Graph rewriting, the default, changes the order of sums: then use float64.
        x = tf.constant(X, "float32" if settings.current() == "strict" else "float64")
        cell = rnn.BasicLSTMCell(UNITS)
        cell.build(DEPTH, x.dtype)

        @tf.function
        def results(read):
            with tf.GradientTape() as tape:
                outputs, _ = read(cell, x, LENGTHS)
                if isinstance(outputs, list):
                    outputs = tf.stack(outputs, 1)
                loss = tf.reduce_sum(outputs * x[..., :1])
            return [outputs, *tape.gradient(loss, cell.trainable_variables)]

        pairs = zip(results(rnn.unroll), results(rnn.unroll_in_python), strict=True)
        for loop, no_loop in pairs:
            loop, no_loop = (y.numpy().astype("f") for y in (loop, no_loop))
            np.testing.assert_array_equal(loop, no_loop)

    def test_a_variable_is_a_share_and_in_no_checkpoint(self):
        share = tf.Variable(0.5)
        cell = rnn.BasicLSTMCell(UNITS)
        cell.build(DEPTH, tf.float32)
        outputs = {}
        for autograph in (False, True):
            tf.random.set_seed(7)
            wrapper = rnn.DropoutWrapper(cell, share, share, share, seed=3)
            read = tf.function(rnn.unroll, autograph=autograph)
            outputs[autograph] = read(wrapper, X_TENSOR)[0].numpy()
        np.testing.assert_array_equal(outputs[False], outputs[True])
        self.assertTrue((outputs[True] == 0).any())
        names = {v.name for v in wrapper.variables}
        self.assertEqual(names, {v.name for v in cell.variables})
        with tempfile.TemporaryDirectory() as folder:
            path = tf.train.Checkpoint(model=wrapper).write(f"{folder}/model")
            saved = [name for name, _ in tf.train.list_variables(path)]
        self.assertEqual(sum("VARIABLE_VALUE" in name for name in saved), len(names))
        share.assign(1.0)
        whole = read(wrapper, X_TENSOR)[0].numpy()
        np.testing.assert_array_equal(whole, read(cell, X_TENSOR)[0].numpy())

    def test_a_share_that_is_known_is_checked(self):
        cell = rnn.BasicLSTMCell(UNITS)
        for share in (-0.1, tf.constant(1.5)):
            with self.assertRaisesRegex(ValueError, "input_keep_prob must be between"):
                rnn.DropoutWrapper(cell, share)

    def test_one_graph_reads_any_length(self):
        cell = rnn.BasicLSTMCell(UNITS)
        cell.build(DEPTH, tf.float32)
        read = tf.function(
            lambda x: rnn.unroll(cell, x)[0],
            input_signature=[tf.TensorSpec([None, None, DEPTH])],
        )
        long, short = read(X_TENSOR), read(X_TENSOR[:2, :4])
        np.testing.assert_array_equal(long[:2, :4], short)
        self.assertEqual(read.experimental_get_tracing_count(), 1)

    def test_fresh_weights_are_drawn_eagerly_as_in_a_function(self):
        kernels = []
        for trace in (tf.function, lambda f: f):
            tf.random.set_seed(7)
            cell = rnn.GRUCell(UNITS)
            trace(lambda cell=cell: cell.build(DEPTH, tf.float32))()
            kernels.append([cell.kernel.numpy(), cell.candidate_kernel.numpy()])
        for one, other in zip(*kernels, strict=True):
            np.testing.assert_array_equal(one, other)
