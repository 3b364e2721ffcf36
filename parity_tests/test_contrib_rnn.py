import functools
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof, shorthand
from tf1to2.parity import FalseFriend, Layer, Program
from tf1to2.parity.arrays import integers, normal
from v1_graph import contrib_rnn as v1
from v2_eager import contrib_rnn as v2
from v2_eager.numerics import rnn
from v2_eager.rnn import gru, lstm_to_keras

CONTRIB = {"graph": "contrib is in 1.15 only", "generated": "it needs the left page"}
LOOP = "its loop is that of contrib_cells.make_lstm_block, proven in this way"
ONCE = {way: "another case of the pair" for way in ("function", "dynamic", "xla")}
LOOPED = {"dynamic": LOOP, "xla": LOOP}
RNG = np.random.RandomState(0)
TIME, BATCH, DEPTH, UNITS, CLASSES = 6, 5, 3, 4, 11
X = RNG.standard_normal([TIME, BATCH, DEPTH]).astype("f")


def drawn(*shape):
    return (RNG.standard_normal(shape) / 2).astype("f")


def lstms(cell, depth, units, layers=2):
    """Returns weights of stacked LSTMs, by name."""
    weights = {}
    for i in range(layers):
        path = f"rnn/multi_rnn_cell/cell_{i}/{cell}"
        weights[f"{path}/kernel"] = drawn(depth + units, 4 * units)
        weights[f"{path}/bias"] = drawn(4 * units)
        depth = units
    return weights


def grus():
    """Returns weights of two layers of bidirectional CuDNN GRUs, by name."""
    weights = {}
    for i, depth in enumerate((DEPTH, 2 * UNITS)):
        for way in ("fw", "bw"):
            path = f"stack_bidirectional_rnn/cell_{i}/bidirectional_rnn/{way}"
            path += "/cudnn_compatible_gru_cell"
            weights[f"{path}/gates/kernel"] = drawn(depth + UNITS, 2 * UNITS)
            weights[f"{path}/gates/bias"] = drawn(2 * UNITS)
            for part, size in (("input", depth), ("hidden", UNITS)):
                part = f"{path}/candidate/{part}_projection"
                weights[f"{part}/kernel"] = drawn(size, UNITS)
                weights[f"{part}/bias"] = drawn(UNITS)
    return weights


LSTMS, GRUS = lstms("cudnn_compatible_lstm_cell", DEPTH, UNITS), grus()
WORDS = RNG.randint(CLASSES, size=[3, 13]).astype("i4")
START = {
    "embedding": drawn(CLASSES, UNITS),
    **lstms("lstm_cell", UNITS, UNITS),
    "softmax_w": drawn(UNITS, CLASSES),
    "softmax_b": drawn(CLASSES),
}
OF_ONE = {name: array for name, array in START.items() if "cell_1" not in name}


def layer(name, slug, args, factory=(), skip=(), cls=Layer, **options):
    factory, skip = dict(factory), {**CONTRIB, **dict(skip)}
    if cls is Layer:
        options.setdefault("sizes", [{"b": 3}, {"b": 67}])
    return cls(name, slug, args, factory=factory, skip=skip, **options)


refused = functools.partial(shorthand.refused, of="layer", skip=CONTRIB)


# --- Obvious replacements of contrib, with other numbers.


def with_a_forget_bias(x, weights):
    cells = [
        rnn.LSTMBlockCell(UNITS, name=f"rnn/multi_rnn_cell/cell_{i}/{CELL}")
        for i in range(2)
    ]
    cell = rnn.MultiRNNCell(cells)
    cell.build(DEPTH, tf.float32)
    for variable in cell.variables:
        variable.assign(weights[variable.name[:-2]])
    outputs, states = rnn.unroll(cell, tf.constant(x), time_major=True)
    c, h = zip(*states)
    return {"outputs": outputs.numpy(), "h": np.stack(h), "c": np.stack(c)}


CELL = "cudnn_compatible_lstm_cell"


def resets_before(x, weights):
    """Applies the reset gate before the product, as `tf.nn.rnn_cell.GRUCell` does."""

    def step(self, x, state):
        gates = tf.matmul(tf.concat([x, state], 1), self.kernel) + self.bias
        reset, update = tf.split(tf.sigmoid(gates), 2, 1)
        (of_x, x_bias), (of_state, state_bias) = self.of_input, self.of_hidden
        new = tf.matmul(x, of_x) + tf.matmul(reset * state, of_state)
        new = tf.tanh(new + x_bias + state_bias)
        state = update * state + (1 - update) * new
        return state, state

    with mock.patch.object(rnn.CudnnCompatibleGRUCell, "__call__", step):
        return v2.run_cudnn_gru(x, weights)


def all_in_the_window(units, window, name="reader"):
    """Masks the zeros at the beginning of the window."""

    class Masked(rnn.AttentionCellWrapper):
        def attend(self, query, window):
            outputs = tf.reshape(window, [-1, self.length, self.output_size])
            there = tf.reduce_any(outputs != 0, 2)
            kernel, bias = self.query
            query = tf.nn.bias_add(tf.matmul(query, kernel), bias)
            hidden = tf.matmul(outputs, self.score[0])
            scores = self.weights * tf.tanh(hidden + query[:, tf.newaxis])
            scores = tf.where(there, tf.reduce_sum(scores, 2), -1e9)
            scores = tf.nn.softmax(scores)
            return tf.reduce_sum(scores[:, :, tf.newaxis] * outputs, 1)

    path = f"{name}/rnn/attention_cell_wrapper"
    options = {"name": path, "initializer": v2.DRAW}
    return v2.Reader(Masked(gru(units, path), window, **options))


CASES = [
    layer(
        "make_attention",
        "to three outputs",
        [normal("b", 5, 3), integers("b", high=6)],
        {"units": 4, "window": 3},
        {"dynamic": LOOP},
    ),
    layer(
        "make_attention",
        "of other sizes",
        [normal("b", 4, 3)],
        {"units": 4, "window": 2, "size": 5, "hidden": 3, "name": "attending"},
        LOOPED,
    ),
    layer(
        "make_attention",
        "no weight for the zeros at the beginning",
        [X],
        {"units": 4, "window": 3},
        ONCE,
        cls=FalseFriend,
        of="layer",
        naive=all_in_the_window,
        because="the window begins with zeros, which have their share",
    ),
    layer("make_highway", "coupled", [normal("b", 5, 4)], {"units": 4}, LOOPED),
    layer(
        "make_highway",
        "with two gates",
        [normal("b", 4, 3)],
        {"units": 3, "coupled": False, "carry_bias": 0.5, "name": "carried"},
        {"dynamic": LOOP},
    ),
    layer(
        "make_projections",
        "both",
        [normal("b", 5, 3)],
        {"units": 4, "inputs": 5, "outputs": 2},
        {"dynamic": LOOP},
    ),
    layer(
        "make_embedding_reader",
        "of eleven words",
        [integers("b", 5, 1, high=10)],
        {"units": 4, "classes": 11, "size": 3},
        {"dynamic": LOOP},
        float32=True,
    ),
    layer(
        "make_static_both_ways",
        "of several lengths",
        [normal("b", 5, 3), integers("b", low=1, high=6)],
        {"units": 4},
    ),
    layer(
        "make_static_both_ways",
        "all of one length",
        [normal("b", 4, 2)],
        {"units": 3, "name": "whole"},
        LOOPED,
    ),
    layer(
        "make_stack_both_ways",
        "of two layers",
        [normal("b", 5, 3), integers("b", low=1, high=6)],
        {"units": 3, "layers": 2},
        {"dynamic": LOOP},
    ),
    FalseFriend(
        "run_cudnn_lstm",
        "a forget bias of 1",
        [X, LSTMS],
        of="program",
        float32=True,
        naive=with_a_forget_bias,
        because="CudnnLSTM has it in its biases, and adds none",
        skip=CONTRIB,
    ),
    Program("run_cudnn_gru", "of two layers", [X, GRUS], skip=CONTRIB),
    FalseFriend(
        "run_cudnn_gru",
        "a reset before the product",
        [X[:, :2], GRUS],
        of="program",
        naive=resets_before,
        because="CuDNN resets what it has multiplied: (r * h) R is not r * (h R)",
        skip=CONTRIB,
    ),
    Program(
        "train_language_model",
        "two pieces, twice",
        [WORDS, START],
        float32=True,
        skip=CONTRIB,
    ),
    Program(
        "train_language_model",
        "one layer, three pieces",
        [WORDS, OF_ONE],
        {"layers": 1, "pieces": 3, "epochs": 1, "rate": 0.25},
        float32=True,
        skip=CONTRIB,
    ),
    refused(
        "make_attention",
        "no window",
        [X],
        "attn_length should be greater than zero",
        factory={"units": 4, "window": 0},
    ),
    refused(
        "make_projections",
        "no outputs",
        [X],
        "output_size must be > 0",
        factory={"units": 4, "inputs": 2, "outputs": 0},
    ),
    refused(
        "make_embedding_reader",
        "no words",
        [np.zeros([2, 3, 1], "i4")],
        "must be > 0",
        factory={"units": 4, "classes": 0, "size": 2},
    ),
    refused(
        "run_cudnn_lstm",
        "no bias",
        [X, {name: array for name, array in LSTMS.items() if "0/" not in name}],
        "cell_0/cudnn_compatible_lstm_cell/bias",
        KeyError,
        of="program",
    ),
]
PROOF = proof(v1, v2, CASES)


class ContribRNNTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


GRU_NAMES = [
    "gates/kernel",
    "gates/bias",
    "candidate/input_projection/kernel",
    "candidate/input_projection/bias",
    "candidate/hidden_projection/kernel",
    "candidate/hidden_projection/bias",
]


class KerasTest(unittest.TestCase):
    """Keras layers with the weights of a CuDNN checkpoint give the same numbers."""

    def test_a_bidirectional_gru(self):
        path = "stack_bidirectional_rnn/cell_{}/bidirectional_rnn/{}"
        path += "/cudnn_compatible_gru_cell/{}"
        ours = v2.run_cudnn_gru(X, GRUS)
        y, states = tf.transpose(X, [1, 0, 2]), []
        for i in range(2):
            gru = tf.keras.layers.GRU(UNITS, return_sequences=True, return_state=True)
            layer = tf.keras.layers.Bidirectional(gru)
            layer.build(y.shape)
            weights = []
            for way in ("fw", "bw"):
                names = [path.format(i, way, name) for name in GRU_NAMES]
                weights += v2.cudnn_gru_to_keras(*[GRUS[name] for name in names])
            layer.set_weights(weights)
            y, *ended = layer(y)
            states += ended
        outputs = tf.transpose(y, [1, 0, 2])
        self.assertLess(np.abs(ours["outputs"] - outputs).max(), 3e-7)
        self.assertLess(np.abs(ours["h"] - np.stack(states)).max(), 3e-7)

    def test_lstms(self):
        ours = v2.run_cudnn_lstm(X, LSTMS)
        y = tf.transpose(X, [1, 0, 2])
        for i in range(2):
            lstm = tf.keras.layers.LSTM(UNITS, return_sequences=True)
            lstm.build(y.shape)
            path = f"rnn/multi_rnn_cell/cell_{i}/{CELL}"
            arrays = LSTMS[f"{path}/kernel"], LSTMS[f"{path}/bias"]
            lstm.set_weights(lstm_to_keras(*arrays, forget_bias=0))
            y = lstm(y)
        outputs = tf.transpose(y, [1, 0, 2])
        self.assertLess(np.abs(ours["outputs"] - outputs).max(), 3e-7)


class LanguageModelTest(unittest.TestCase):
    def test_a_piece_goes_on_where_the_last_one_ended(self):
        losses = [
            v2.train_language_model(WORDS, START, pieces=n, epochs=1, rate=0.0)
            for n in (1, 2)
        ]
        one, two = (np.sum(run["losses"]) for run in losses)
        self.assertLess(abs(one - two), 1e-5)
        apart = [
            v2.train_language_model(half, START, pieces=1, epochs=1, rate=0.0)
            for half in (WORDS[:, :7], WORDS[:, 6:])
        ]
        apart = np.sum([run["losses"] for run in apart])
        self.assertGreater(abs(one - apart), 1e-3)


class InputsTest(unittest.TestCase):
    X = np.random.RandomState(1).normal(size=[2, 4, 3]).astype("f")

    @parameterized.expand(
        [
            ("static", v2.make_static_both_ways(4)),
            ("stack", v2.make_stack_both_ways(4, 2)),
        ]
    )
    def test_lists_of_lengths_are_not_traced_anew(self, _, read):
        for lengths in ([1, 2], [3, 2], [2, 2]):
            read(self.X, lengths)
        self.assertEqual(read.read.experimental_get_tracing_count(), 2)

    def test_both_ways_begin_where_they_are_told(self):
        cells = v2.make_static_both_ways(4).cells
        pairs = tf.unstack(tf.random.normal([2, 2, 2, 4], seed=1))
        states = [tf.unstack(pair) for pair in pairs]
        outputs, *_ = rnn.unroll_both_ways_in_python(*cells, self.X, states=states)
        expected, _ = rnn.unroll_both_ways(*cells, self.X, states=states)
        found, expected = np.stack(outputs, 1), np.concatenate(expected, 2)
        self.assertLess(np.abs(found - expected).max(), 1e-6)
