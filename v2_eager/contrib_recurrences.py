"""`tf.contrib.rnn`: `ConvLSTMCell`, `SRUCell`, `IndRNNCell`, `GridLSTMCell`."""

import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers, rnn
from v2_eager.numerics.recurrences import (
    ConvLSTMCell,
    GLSTMCell,
    IndRNNCell,
    IndyGRUCell,
    IndyLSTMCell,
    PhasedLSTMCell,
    SRUCell,
    swap_time,
    unroll_maps,
)
from v2_eager.rnn import DRAW, Reader, tensor_of

__all__ = [
    "make_conv_lstm",
    "predict_frames",
    "make_group_lstm",
    "make_sru",
    "read_independently",
    "read_by_time",
    "read_spectra",
    "read_bands",
]


def make_conv_lstm(channels, kernel, sizes, use_bias=True, name="reader"):
    """Makes a convolutional LSTM (`ConvLSTMCell`) that reads sequences of maps.

    Returns a `FilmReader`; see the class.

    Returns:
        Callable. It takes x, [batch, time, sizes...] floats, and optionally the
        lengths, [batch] ints, and a state, a pair of [batch, ..., channels]. It returns
        the outputs, [batch, time, ..., channels], zero past the end, and the state (c,
        h) at the end of each sequence.
    """
    if len(sizes) != len(kernel) + 1:
        raise ValueError(f"Invalid input_shape {sizes} for conv_ndims={len(kernel)}.")
    path = f"{name}/rnn/conv_{len(kernel)}d_lstm_cell"
    cell = ConvLSTMCell(channels, kernel, use_bias, name=path, initializer=DRAW)
    return FilmReader(cell)


class FilmReader(tf.Module):
    """Runs a cell over sequences of maps, in one `tf.function` for all sizes.

    A call takes x, [batch, time, sizes...] floats, and optionally lengths, [batch]
    ints, and a state. It returns the outputs, zero past the end, and the last state.

    Args:
        cell: a cell, such as a `ConvLSTMCell`.
    """

    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    @tf.function(autograph=False, reduce_retracing=True)
    def read(self, x, lengths, state):
        return unroll_maps(self.cell, x, lengths, state)

    def __call__(self, x, lengths=None, state=None):
        return self.read(x, tensor_of(lengths), state and tuple(state))


def predict_frames(films, start, steps, rate=0.01):
    """Trains two ConvLSTM layers to predict the next frame of a film."""
    # --- cells
    x, layers = tf.constant(films), []
    depth = films.shape[-1]
    for i, (kernel, bias) in enumerate(zip(start["kernels"], start["biases"])):
        cell = ConvLSTMCell(kernel.shape[-1] // 4, [3, 3], name=f"layer_{i}")
        cell.build(depth, x.dtype)
        cell.kernel.assign(kernel)
        cell.bias.assign(bias)
        layers.append(cell)
        depth = cell.num_units
    last = tf.Variable(start["last"])
    variables = [*(v for cell in layers for v in cell.variables), last]
    optimizer = optimizers.Adam(rate).create_slots(variables)

    # --- loss
    def tell():
        maps = x
        for cell in layers:  # each layer reads all steps before the next layer
            maps, _ = unroll_maps(cell, maps)
        told = tf.nn.conv2d(tf.reshape(maps, [-1, *maps.shape[2:]]), last, 1, "SAME")
        return tf.reshape(told, films.shape)

    @tf.function
    def step():
        return optimizer.minimize(
            lambda: tf.reduce_mean(tf.square(tell()[:, :-1] - x[:, 1:])), variables
        )

    # --- run
    losses = [step().numpy() for _ in range(steps)]
    return {"losses": np.stack(losses), "told": tell()[:, -1].numpy()}


def make_group_lstm(units, groups, projected=None, forget_bias=1.0, name="reader"):
    """Makes a group LSTM (`GLSTMCell`): each group sees only its own inputs and state.

    Returns a `Reader`; see the class.
    """
    options = {"name": f"{name}/rnn/glstm_cell", "forget_bias": forget_bias}
    return Reader(GLSTMCell(units, DRAW, projected, groups, **options))


def make_sru(units, name="reader"):
    """Makes a simple recurrent unit (`SRUCell`): its gates see only the inputs.

    Returns a `Reader`; see the class.
    """
    return Reader(SRUCell(units, f"{name}/rnn/sru_cell", DRAW))


def run_from(cell, weights, run):
    """Runs a cell; returns outputs, state, and the gradients of sum(outputs²) / 2."""
    found = {v.name.removesuffix(":0"): v for v in cell.variables}
    for name, value in weights.items():
        found[name].assign(value)
    by = [found[name] for name in weights]

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            outputs, state = run()
            loss = tf.reduce_sum(tf.square(outputs)) / 2
        return outputs, state, tape.gradient(loss, by)

    outputs, state, slopes = tf.nest.map_structure(lambda t: t.numpy(), step())
    names = [name.rpartition("cell/")[2] for name in weights]
    gradients = dict(zip(names, slopes))
    return {"outputs": outputs, "state": tf.nest.flatten(state), "gradients": gradients}


def read_independently(kind, units, x, lengths, weights):
    """Runs `IndRNNCell`, `IndyGRUCell` or `IndyLSTMCell` with checkpoint weights."""
    # --- cell
    cell = {
        "IndRNN": IndRNNCell(units, tf.nn.relu, "rnn/ind_rnn_cell"),
        "IndyGRU": IndyGRUCell(units, name="rnn/indy_gru_cell"),
        "IndyLSTM": IndyLSTMCell(units, name="rnn/indy_lstm_cell"),
    }[kind]
    cell.build(x.shape[-1], x.dtype)
    # --- run
    x, lengths = tf.constant(x), tf.constant(lengths)
    return run_from(cell, weights, lambda: rnn.unroll(cell, x, lengths))


def read_by_time(times, x, weights, leak=0.001, peepholes=False):
    """Runs `PhasedLSTMCell`: a unit's time gate is open in a part of its period."""
    # --- cell
    units = len(weights["rnn/phased_lstm_cell/period"])
    cell = PhasedLSTMCell(units, peepholes, leak, name="rnn/phased_lstm_cell")
    cell.build(x.shape[-1], x.dtype)
    # --- run
    steps = swap_time(tf.constant(times)), swap_time(tf.constant(x))

    def run():
        start = cell.zero_state(len(x), x.dtype)
        states = tf.scan(lambda state, inputs: cell(inputs, state)[1], steps, start)
        last = tf.nest.map_structure(lambda s: s[-1], states)
        return swap_time(states.h), last

    return run_from(cell, weights, run)


def read_spectra(x, lengths, units, size, skip, weights, blocks=None, options=None):
    """Runs `GridLSTMCell` over the time and the bands of spectra."""
    # --- cell
    starts, ends = zip(*(blocks or [(0, x.shape[2])]))
    counts = [(end - start - size) // skip + 1 for start, end in zip(starts, ends)]
    cell = rnn.GridLSTMCell(
        units,
        feature_size=size,
        frequency_skip=skip,
        num_frequency_blocks=counts,
        start_freqindex_list=starts,
        end_freqindex_list=ends,
        name="rnn/grid_lstm_cell",
        **(options or {}),
    )
    cell.build(x.shape[-1], x.dtype)
    # --- run
    x, lengths = tf.constant(x), tf.constant(lengths)
    return run_from(cell, weights, lambda: rnn.unroll(cell, x, lengths))


def read_bands(x, units, size, skip, weights, peepholes=False):
    """Runs `TimeFreqLSTMCell`: one LSTM reads the bands of spectra in turn."""
    # --- cell
    cell = rnn.TimeFreqLSTMCell(
        units, peepholes, feature_size=size, frequency_skip=skip
    )
    cell.build(x.shape[-1], x.dtype)
    # --- run
    x = tf.constant(x)
    return run_from(cell, weights, lambda: rnn.unroll(cell, x))
