import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import FalseFriend, Layer, Program, Raises
from tf1to2.parity.arrays import integers, normal
from v1_graph import contrib_cells as v1
from v2_eager import contrib_cells as v2
from v2_eager.numerics import rnn
from v2_eager.rnn import DRAW, Reader, make_lstm

CONTRIB = {"graph": "contrib is in 1.15 only", "generated": "it needs the left page"}
LOOP = "its loop is that of make_lstm_block, proven in this way"
ONCE = {way: "another case of the pair" for way in ("function", "dynamic", "xla")}
LOOPED = {"dynamic": LOOP, "xla": LOOP}
RNG = np.random.RandomState(0)
X = RNG.standard_normal([5, 6, 3]).astype("f")
STEPS = X.transpose([1, 0, 2]).copy()
LENGTHS = np.array([6, 1, 4, 0, 5], "i4")
BEHIND = STEPS.copy()
BEHIND[4:, 2] = np.nan


def layer(name, slug, args, factory=(), skip=(), cls=Layer, **options):
    factory, skip = dict(factory), {**CONTRIB, **dict(skip)}
    if cls is Layer:
        options.setdefault("sizes", [{"b": 3}, {"b": 67}])
    return cls(name, slug, args, factory=factory, skip=skip, **options)


def block(*args, **options):
    """Makes a case of an op that computes only in float32."""
    return layer(*args, float32=True, **options)


# --- Obvious replacements of contrib, with other numbers.


def held(units, name="reader"):
    """Runs the same cell in a loop that stops at the lengths."""
    cell = rnn.LSTMBlockCell(units, name=f"{name}/lstm_fused_cell", initializer=DRAW)
    return Reader(cell, time_major=True)


def gru_of_keras(units, name="reader"):
    """Makes a GRU with `reset_after=True`, the default of Keras."""
    path = f"{name}/rnn/gru_cell"

    class After(rnn.GRUBlockCell):
        def __call__(self, x, state):
            gates = tf.matmul(tf.concat([x, state], 1), self.kernel) + self.bias
            reset, update = tf.split(tf.sigmoid(gates), 2, 1)
            of_x, of_state = tf.split(self.candidate_kernel, [x.shape[1], units])
            new = tf.matmul(x, of_x) + reset * tf.matmul(state, of_state)
            new = tf.tanh(new + self.candidate_bias)
            state = update * state + (1 - update) * new
            return state, state

    return Reader(After(units, path, DRAW))


def epsilon_of_keras(units, name="reader"):
    """Uses the epsilon of `keras.layers.LayerNormalization`, 0.001."""

    class Normalized(rnn.LayerNormBasicLSTMCell):
        def normalized(self, x, gate):
            gamma, beta = self.norms[gate]
            mean, variance = tf.nn.moments(x, [1], keepdims=True)
            return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-3)

    path = f"{name}/rnn/layer_norm_basic_lstm_cell"
    return Reader(Normalized(units, name=path, initializer=DRAW))


def bias_of_one_gate(units, peepholes, name="reader"):
    """Couples the gates before the forget bias is added, not after."""
    path = f"{name}/rnn/coupled_input_forget_gate_lstm_cell"

    class Tied(rnn.CoupledInputForgetGateLSTMCell):
        def __call__(self, x, state):
            c, h = state
            gates = tf.matmul(tf.concat([x, h], 1), self.kernel) + self.bias
            j, f, o = tf.split(gates, 3, 1)
            f = f + self.w_f * c
            c = tf.sigmoid(f + 1) * c + tf.sigmoid(-f) * tf.tanh(j)
            h = tf.sigmoid(o + self.w_o * c) * tf.tanh(c)
            return h, rnn.LSTMStateTuple(c, h)

    return Reader(Tied(units, peepholes, DRAW, name=path))


CASES = [
    block(
        "make_lstm_block",
        "of several lengths",
        [normal("b", 5, 3), integers("b", high=6)],
        {"units": 4},
    ),
    block(
        "make_lstm_block",
        "with peepholes, no forget bias",
        [normal("b", 4, 3)],
        {"units": 4, "forget_bias": 0.0, "peephole": True, "name": "seen"},
        LOOPED,
    ),
    block(
        "make_lstm_block",
        "with peepholes and a limit",
        [normal("b", 4, 3)],
        {"units": 4, "peephole": True, "cell_clip": 0.25},
        LOOPED,
    ),
    block(
        "make_lstm_fused",
        "of several lengths",
        [normal(5, "b", 3), integers("b", high=6)],
        {"units": 4},
    ),
    block(
        "make_lstm_fused",
        "from a state, with peepholes and a limit",
        [normal(4, "b", 3), integers("b", high=4), (normal("b", 4), normal("b", 4))],
        {"units": 4, "peephole": True, "cell_clip": 0.25},
        LOOPED,
    ),
    block(
        "make_lstm_fused",
        "of no length",
        [normal(4, "b", 3), integers("b", high=1)],
        {"units": 3},
        {"xla": LOOP},
    ),
    block(
        "make_lstm_fused",
        "all of one length",
        [normal(4, "b", 3)],
        {"units": 3, "name": "long"},
        LOOPED,
    ),
    block(
        "make_fused_both_ways",
        "of several lengths",
        [normal("b", 5, 3), integers("b", high=6)],
        {"units": 3},
        {"dynamic": LOOP},
    ),
    block(
        "make_gru_block",
        "of several lengths",
        [normal("b", 5, 3), integers("b", high=6)],
        {"units": 4},
        {"dynamic": LOOP},
    ),
    block(
        "make_gru_block",
        "named as a GRU",
        [normal("b", 4, 3)],
        {"units": 3, "named_as_gru": True},
        LOOPED,
    ),
    layer(
        "make_layer_norm_lstm",
        "of several lengths",
        [normal("b", 5, 3), integers("b", high=6)],
        {"units": 6},
        {"dynamic": LOOP},
    ),
    layer(
        "make_layer_norm_lstm",
        "another gain and shift",
        [normal("b", 4, 3)],
        {"units": 5, "gain": 0.5, "shift": 0.25, "name": "gained"},
        LOOPED,
    ),
    layer(
        "make_layer_norm_lstm",
        "without",
        [normal("b", 4, 3)],
        {"units": 4, "layer_norm": False},
        LOOPED,
    ),
    Program("drop_inside", "half", [X, 4, 0.5, 3], skip=CONTRIB),
    Program("drop_inside", "a quarter", [X, 5, 0.75, 4, 3], skip=CONTRIB),
    Program("drop_inside", "nothing", [X, 4, 1.0, 3], {"draws": 1}, skip=CONTRIB),
    layer(
        "make_coupled_lstm",
        "with peepholes, of several lengths",
        [normal("b", 5, 3), integers("b", high=6)],
        {"units": 4, "peepholes": True},
        {"dynamic": LOOP},
    ),
    layer(
        "make_coupled_lstm",
        "normalized, with a projection",
        [normal("b", 4, 3)],
        {"units": 5, "projection": 3, "layer_norm": True, "name": "coupled"},
        LOOPED,
    ),
    layer(
        "make_coupled_lstm",
        "a forget bias of one gate",
        [X],
        {"units": 4, "peepholes": True},
        ONCE,
        cls=FalseFriend,
        of="layer",
        naive=bias_of_one_gate,
        because="what is let in is what is not kept, of the forget bias, too",
    ),
    layer("make_nas", "plain", [normal("b", 4, 3)], {"units": 4}, {"dynamic": LOOP}),
    layer(
        "make_nas",
        "with a bias and a projection",
        [normal("b", 4, 3)],
        {"units": 4, "projection": 2, "bias": True, "name": "searched"},
        LOOPED,
    ),
    layer("make_ugrnn", "tanh", [normal("b", 4, 3)], {"units": 4}, {"dynamic": LOOP}),
    layer(
        "make_ugrnn",
        "ReLU, no forget bias",
        [normal("b", 4, 3)],
        {"units": 3, "forget_bias": 0.0, "activation": "relu", "name": "plus"},
        LOOPED,
    ),
    layer(
        "make_intersection",
        "of two layers",
        [normal("b", 4, 3)],
        {"units": 4, "layers": 2},
        {"dynamic": LOOP},
    ),
    layer(
        "make_intersection",
        "of the depth of the inputs, tanh",
        [normal("b", 3, 4)],
        {"units": 4, "layers": 1, "activation": "tanh", "name": "crossed"},
        LOOPED,
    ),
    layer(
        "make_minimal",
        "of several lengths",
        [normal("b", 5, 3), integers("b", high=6)],
        {"units": 4},
        {"dynamic": LOOP},
    ),
    block(
        "make_lstm_fused",
        "a loop that holds what has ended",
        [BEHIND, LENGTHS],
        {"units": 4},
        ONCE,
        cls=FalseFriend,
        of="layer",
        naive=held,
        because="it reads on and multiplies by zero: -0 is left, and NaN of NaN",
    ),
    block(
        "make_gru_block",
        "a reset after the product",
        [X],
        {"units": 4},
        ONCE,
        cls=FalseFriend,
        of="layer",
        naive=gru_of_keras,
        because="it resets before the product, as `reset_after=False` of Keras",
    ),
    layer(
        "make_layer_norm_lstm",
        "the epsilon of Keras",
        [X],
        {"units": 6},
        ONCE,
        cls=FalseFriend,
        of="layer",
        naive=epsilon_of_keras,
        because="contrib added 1e-12 to the variance",
    ),
    Raises(
        "make_intersection",
        "no layers",
        [X],
        of="layer",
        factory={"units": 4, "layers": 0},
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="at least one cell",
        skip=CONTRIB,
    ),
    Raises(
        "make_lstm_block",
        "a matrix",
        [np.zeros([2, 3], "f")],
        of="layer",
        factory={"units": 2},
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="rank at least 3|rank 3|ndim=2",
        skip=CONTRIB,
    ),
]
PROOF = proof(v1, v2, CASES)


class ContribCellsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


def gradients(page, x, cotangent):
    """Returns {name: gradient} of a page's variables, and its outputs."""
    with tf.GradientTape() as tape:
        outputs, _ = page(x)
        loss = tf.reduce_sum(outputs * tf.cast(cotangent, outputs.dtype))
    variables = page.trainable_variables
    found = tape.gradient(loss, variables)
    return {v.name: g.numpy() for v, g in zip(variables, found)}, outputs.numpy()


class BlockTest(unittest.TestCase):
    """Block cells in float64, the gradient of clipping, and traces of several sizes."""

    def test_float64_is_near_float32(self):
        for make in (v2.make_lstm_block, v2.make_gru_block, v2.make_lstm_fused):
            narrow, wide = make(4), make(4)
            one, two = narrow(X)[0].numpy(), wide(X.astype("d"))[0]
            self.assertEqual(two.dtype, tf.float64)
            for variable, other in zip(wide.variables, narrow.variables, strict=True):
                variable.assign(tf.cast(other, tf.float64))
            two = wide(X.astype("d"))[0].numpy()
            self.assertLess(np.abs(one - two).max(), 3e-7)

    def test_the_gradient_passes_the_limit(self):
        cotangent = RNG.standard_normal([5, 6, 4])
        ours, outputs = gradients(v2.make_lstm_block(4, cell_clip=0.25), X, cotangent)
        stops, same = gradients(make_lstm(4, cell_clip=0.25), X, cotangent)
        np.testing.assert_array_equal(outputs, same)
        name = "reader/rnn/lstm_cell/kernel:0"
        distance = np.abs(ours[name] - stops[name]).max() / np.abs(ours[name]).max()
        self.assertGreater(distance, 0.1)

    def test_other_sizes_are_not_traced_again(self):
        for page in (v2.make_fused_both_ways(3), v2.make_lstm_fused(3)):
            counts = []
            for n in (2, 4, 3, 5):
                page(tf.ones([n, n, 2]), [n] * n)  # lists are converted to tensors
                counts.append(page.read.experimental_get_tracing_count())
            self.assertEqual(counts[1:], counts[1:2] * 3)
