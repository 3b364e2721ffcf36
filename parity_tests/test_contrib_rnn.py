import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import FalseFriend, Layer, Program, Raises
from tf1to2.parity.arrays import integers, normal
from v1_graph import contrib_rnn as v1
from v2_eager import contrib_rnn as v2
from v2_eager.numerics import rnn
from v2_eager.rnn import gru

CONTRIB = {"graph": "contrib is in 1.15 only", "generated": "it needs the left page"}
LOOP = "its loop is that of contrib_cells.make_lstm_block, proven in this way"
ONCE = {way: "another case of the pair" for way in ("function", "dynamic", "xla")}
LOOPED = {"dynamic": LOOP, "xla": LOOP}
RNG = np.random.RandomState(0)
TIME, BATCH, DEPTH, UNITS, CLASSES = 6, 5, 3, 4, 11
X = RNG.standard_normal([TIME, BATCH, DEPTH]).astype("f")
LENGTHS = np.array([6, 1, 4, 2, 5], "i4")


def drawn(*shape):
    return (RNG.standard_normal(shape) / 2).astype("f")


def lstms(cell, depth, units, layers=2):
    """Weights of LSTMs on top of each other, by name."""
    weights = {}
    for i in range(layers):
        path = f"rnn/multi_rnn_cell/cell_{i}/{cell}"
        weights[f"{path}/kernel"] = drawn(depth + units, 4 * units)
        weights[f"{path}/bias"] = drawn(4 * units)
        depth = units
    return weights


def grus():
    """Weights of two layers of GRUs of CuDNN, both ways, by name."""
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


def narrow(*args, **options):
    """A case of a wrapper whose variables are float32, whatever comes in."""
    return layer(*args, float32=True, **options)


def refused(name, slug, args, match, error=ValueError, skip=(), **options):
    skip = {**CONTRIB, **dict(skip)}
    return Raises.alike(name, slug, args, error, match, skip=skip, **options)


# --- What is written in place of contrib.


def bidirectional(units, layers, name="reader"):
    """Each way by itself, through all layers, as if it were two stacks."""

    class Apart(v2.StackBothWays):
        def __call__(self, x, lengths):
            forward, backward = (
                rnn.MultiRNNCell(cells) for cells in (self.forward, self.backward)
            )
            outputs, states = rnn.unroll_both_ways(forward, backward, x, lengths)
            return tf.concat(outputs, 2), *states

    # Above the first layer, the kernels are of one way alone.
    return Apart(units, layers, f"{name}/{v2.STACK}")


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


def forgetting(words, start):
    """Every piece begins at zeros."""
    halves = [words[:, :7], words[:, 6:]]
    losses = [
        v2.train_language_model(half, start, pieces=1, epochs=1)["losses"]
        for half in halves
    ]
    return {"losses": np.concatenate(losses)}


def all_in_the_window(units, window, name="reader"):
    """Zeros at the beginning get no weight."""

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
    narrow(
        "make_attention",
        "to three outputs",
        [normal("b", 5, 3), integers("b", high=6)],
        {"units": 4, "window": 3},
        {"dynamic": LOOP},
    ),
    narrow(
        "make_attention",
        "of other sizes",
        [normal("b", 4, 3)],
        {"units": 4, "window": 2, "size": 5, "hidden": 3, "name": "attending"},
        LOOPED,
    ),
    narrow(
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
    narrow("make_highway", "coupled", [normal("b", 5, 4)], {"units": 4}, LOOPED),
    narrow(
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
    narrow(
        "make_embedding_reader",
        "of eleven words",
        [integers("b", 5, 1, high=10)],
        {"units": 4, "classes": 11, "size": 3},
        {"dynamic": LOOP},
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
        of="layer",
        factory={"units": 4, "window": 0},
    ),
    refused(
        "make_projections",
        "no outputs",
        [X],
        "output_size must be > 0",
        of="layer",
        factory={"units": 4, "inputs": 2, "outputs": 0},
    ),
    refused(
        "make_embedding_reader",
        "no words",
        [np.zeros([2, 3, 1], "i4")],
        "must be > 0",
        of="layer",
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
