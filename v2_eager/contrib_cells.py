"""`tf.contrib.rnn`: `LSTMBlockCell`, `NASCell`, `LayerNormBasicLSTMCell` → modules."""

import tensorflow as tf

from v2_eager.numerics import rnn
from v2_eager.rnn import DRAW, Reader, tensor_of

__all__ = [
    "make_lstm_block",
    "make_lstm_fused",
    "make_fused_both_ways",
    "make_gru_block",
    "make_layer_norm_lstm",
    "drop_inside",
    "make_coupled_lstm",
    "make_nas",
    "make_ugrnn",
    "make_intersection",
    "make_minimal",
]


def make_lstm_block(
    units, forget_bias=1.0, peephole=False, cell_clip=None, name="reader"
):
    """Makes an LSTM with `LSTMBlockCell`, whose step was one op in TensorFlow 1.

    Returns a `Reader`; see the class.

    Returns:
        Callable. It takes x, [batch, time, depth] floats, and optionally the lengths,
        [batch] ints. It returns the outputs, [batch, time, units], zero past the end,
        and the state (c, h) at the end of each sequence.
    """
    options = forget_bias, cell_clip, peephole
    return Reader(rnn.LSTMBlockCell(units, *options, f"{name}/rnn/lstm_cell", DRAW))


def make_lstm_fused(units, peephole=False, cell_clip=None, name="reader"):
    """Makes a time-major LSTM with `LSTMBlockFusedCell`, one op in TensorFlow 1.

    Returns a `Fused`; see the class.

    Returns:
        Callable. It takes x, [time, batch, depth] floats, and optionally the
        lengths, [batch] ints, and a state, a pair of [batch, units]. It returns the
        outputs, [time, batch, units], multiplied by zero past the end, and the state
        (c, h) at the end of each sequence.
    """
    return Fused(fused_lstm(units, name, cell_clip=cell_clip, use_peephole=peephole))


def fused_lstm(units, path, end="", **options):
    name = f"{path}/lstm_fused_cell{end}"
    return rnn.LSTMBlockFusedCell(units, name=name, initializer=DRAW, **options)


class Fused(tf.Module):
    """Runs a fused cell over time-major sequences, in one `tf.function` for all sizes.

    A call takes x, [time, batch, depth] floats, and optionally lengths, [batch] ints,
    and a state. It returns the outputs, [time, batch, units], and the last state.

    Args:
        cell: a fused cell, such as an `rnn.LSTMBlockFusedCell`.
    """

    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    @tf.function(autograph=False, reduce_retracing=True)
    def read(self, x, lengths, state):
        return self.cell(x, lengths, state)

    def __call__(self, x, lengths=None, state=None):
        return self.read(x, tensor_of(lengths), state)


def make_fused_both_ways(units, name="reader"):
    """Makes a bidirectional LSTM of `LSTMBlockFusedCell` and `TimeReversedFusedRNN`.

    Returns a `FusedBothWays`; see the class.

    Returns:
        Callable. It takes x, [batch, time, depth] floats, and the lengths, [batch]
        ints. It returns the outputs of both LSTMs, [batch, time, 2 * units], and the
        pair of last states (c, h). The second LSTM reads each sequence from its end.
    """
    backward = rnn.TimeReversedFusedRNN(fused_lstm(units, name, "_1"))
    return FusedBothWays([fused_lstm(units, name), backward])


class FusedBothWays(tf.Module):
    """Runs two fused cells over the same sequences and concatenates their outputs.

    A call takes [batch, time, depth] floats and the lengths, [batch] ints. It returns
    the outputs, [batch, time, 2 * units], and the pair of last states.

    Args:
        cells: list of two cells, the second one an `rnn.TimeReversedFusedRNN`.
    """

    def __init__(self, cells):
        super().__init__()
        self.cells = cells

    def __call__(self, x, lengths):
        return self.read(x, tensor_of(lengths))

    @tf.function(autograph=False, reduce_retracing=True)
    def read(self, x, lengths):
        steps = tf.transpose(x, [1, 0, 2])
        outputs, states = zip(*[cell(steps, lengths) for cell in self.cells])
        return tf.transpose(tf.concat(outputs, 2), [1, 0, 2]), states


def make_gru_block(units, named_as_gru=False, name="reader"):
    """Makes a GRU with `GRUBlockCell`, whose step was one op in TensorFlow 1.

    Returns a `Reader`; see the class.

    Returns:
        Callable. It takes x, [batch, time, depth] floats, and optionally the lengths,
        [batch] ints. It returns the outputs, [batch, time, units], zero past the end,
        and the last state, [batch, units].
    """
    kind = rnn.GRUBlockCellV2 if named_as_gru else rnn.GRUBlockCell
    return Reader(kind(units, f"{name}/rnn/gru_cell", DRAW))


def make_layer_norm_lstm(units, layer_norm=True, gain=1.0, shift=0.0, name="reader"):
    """Makes an LSTM with layer normalization of each gate and of the new cell state.

    Returns a `Reader`; see the class.
    """
    options = {"layer_norm": layer_norm, "norm_gain": gain, "norm_shift": shift}
    return Reader(layer_norm_lstm(units, f"{name}/rnn", **options))


def layer_norm_lstm(units, path, **options):
    path = f"{path}/layer_norm_basic_lstm_cell"
    return rnn.LayerNormBasicLSTMCell(units, name=path, initializer=DRAW, **options)


def drop_inside(x, units, keep, seed, draws=2):
    """Applies recurrent dropout to the candidates of an LSTM, and not to its state."""
    # --- build
    tf.random.set_seed(7)
    options = {"dropout_keep_prob": keep, "dropout_prob_seed": seed}
    cell = layer_norm_lstm(units, "rnn", **options)
    cell.build(x.shape[-1], x.dtype)
    x = tf.constant(x)

    @tf.function
    def read():
        outputs, state = rnn.unroll(cell, x)
        return {"outputs": outputs, "c": state.c, "h": state.h}

    # --- run
    return [{k: v.numpy() for k, v in read().items()} for _ in range(draws)]


def make_coupled_lstm(
    units, peepholes=False, projection=None, layer_norm=False, name="reader"
):
    """Makes an LSTM with coupled gates: the input gate is 1 minus the forget gate.

    Returns a `Reader`; see the class.
    """
    cell = rnn.CoupledInputForgetGateLSTMCell(
        units,
        peepholes,
        DRAW,
        num_proj=projection,
        layer_norm=layer_norm,
        name=f"{name}/rnn/coupled_input_forget_gate_lstm_cell",
    )
    return Reader(cell)


def make_nas(units, projection=None, bias=False, name="reader"):
    """Makes an RNN with `NASCell`, the cell that neural architecture search found.

    Returns a `Reader`; see the class.
    """
    return Reader(rnn.NASCell(units, projection, bias, f"{name}/rnn/nas_cell", DRAW))


def make_ugrnn(units, forget_bias=1.0, activation="tanh", name="reader"):
    """Makes an RNN with `UGRNNCell`: one gate keeps the state or replaces it.

    Returns a `Reader`; see the class.
    """
    options = forget_bias, getattr(tf.nn, activation), f"{name}/rnn/ugrnn_cell"
    return Reader(rnn.UGRNNCell(units, DRAW, *options))


def make_intersection(units, layers, activation="relu", name="reader"):
    """Makes a stack of `IntersectionRNNCell`s, with a gate in time and one in depth.

    Returns a `Reader`; see the class.
    """
    cells = [
        rnn.IntersectionRNNCell(
            units,
            num_in_proj=None if layer else units,
            initializer=DRAW,
            y_activation=getattr(tf.nn, activation),
            name=f"{name}/rnn/multi_rnn_cell/cell_{layer}/intersection_rnn_cell",
        )
        for layer in range(layers)
    ]
    return Reader(rnn.MultiRNNCell(cells))


def make_minimal(units, name="reader"):
    """Makes an RNN with a custom cell: a minimal gated unit that counts its steps.

    Returns a `Reader`; see the class.
    """
    return Reader(MinimalGatedCell(units, f"{name}/rnn/minimal_gated_cell", DRAW))


class MinimalGatedCell(rnn.Cell):
    """A minimal gated unit that outputs its state and its gate, and counts its steps.

        gate = sigmoid(W [x, h] + b)
        h = (1 - gate) h + gate tanh(V [x, gate h] + c)

    The state is a pair: h, [batch, num_units], and the number of steps, [batch, 1],
    both of the dtype of x. Outputs are [batch, 2 * num_units].

    Args:
        num_units: size of h and of the gate.
        name: scope of `gate/kernel`, `gate/bias`, `candidate/kernel` and
            `candidate/bias`.
        initializer: initializer of the kernels, a function of shape and dtype; None for
            `glorot_uniform`.
    """

    def __init__(self, num_units, name, initializer=None):
        super().__init__(num_units, name, initializer)
        self.output_size = 2 * num_units

    def zero_state(self, batch, dtype):
        return tf.zeros([batch, self.num_units], dtype), tf.zeros([batch, 1], dtype)

    def make_variables(self, depth, dtype):
        n = self.num_units
        self.kernel = self.variable("gate/kernel", [depth + n, n], dtype)
        self.bias = self.variable("gate/bias", [n], dtype, tf.zeros)
        self.new_kernel = self.variable("candidate/kernel", [depth + n, n], dtype)
        self.new_bias = self.variable("candidate/bias", [n], dtype, tf.zeros)

    def __call__(self, x, state):
        state, count = state
        gate = tf.sigmoid(affine([x, state], self.kernel, self.bias))
        new = tf.tanh(affine([x, gate * state], self.new_kernel, self.new_bias))
        state = (1 - gate) * state + gate * new
        return tf.concat([state, gate], 1), (state, count + 1)


def affine(inputs, kernel, bias):
    return tf.nn.bias_add(tf.matmul(tf.concat(inputs, 1), kernel), bias)
