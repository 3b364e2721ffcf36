"""`tf.contrib.rnn`: `LSTMBlockCell`, `NASCell`, `LayerNormBasicLSTMCell` → modules."""

import tensorflow
import tensorflow.compat.v1 as tf

from v1_graph.rnn import draw_weights

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

# compat.v1 has no contrib, and no version after 1.15: `tensorflow.contrib` is its own.


def make_lstm_block(
    units, forget_bias=1.0, peephole=False, cell_clip=None, name="reader"
):
    """Makes an LSTM whose step is one op.

    Args:
        units: size of both parts of the state.
        forget_bias: added to the bias of the forget gate, and in no checkpoint.
        peephole: whether the gates see c, too.
        cell_clip: the largest magnitude of c, or None; gradients pass as if there were
            no limit.
        name: scope of the variables `rnn/lstm_cell/kernel`, `…/bias`, `…/w_f_diag`,
            `…/w_i_diag` and `…/w_o_diag`.

    Returns:
        Callable from a [batch, time, depth] float32 tensor, and optionally the lengths,
        [batch] ints, to the outputs, [batch, time, units], zero past the end, and the
        last state (c, h), that of the end.

    Raises:
        ValueError: of the callable: not three dimensions, or an unknown depth.
        TypeError: of the callable: float64, which TensorFlow 2 takes.
    """

    def read(x, lengths=None):
        draw_weights()
        cell = tensorflow.contrib.rnn.LSTMBlockCell(
            units, forget_bias, cell_clip, peephole
        )
        return tf.nn.dynamic_rnn(cell, x, lengths, dtype=x.dtype)

    return tf.make_template(name, read)


def make_lstm_fused(units, peephole=False, cell_clip=None, name="reader"):
    """Makes an LSTM whose whole run is one op: time comes first.

    Args:
        units: size of both parts of the state.
        peephole: whether the gates see c, too.
        cell_clip: the largest magnitude of c, or None.
        name: scope of the variables `lstm_fused_cell/kernel` and `…/bias`, and so on.

    Returns:
        Callable from a [time, batch, depth] float32 tensor, and optionally the lengths,
        [batch] ints, and a state, a pair of [batch, units], to the outputs, [time,
        batch, units], times zero past the end, and the last state (c, h), that of the
        end.

    Raises:
        ValueError: of the callable: not three dimensions, or an unknown depth.
    """

    def read(x, lengths=None, state=None):
        draw_weights()
        cell = tensorflow.contrib.rnn.LSTMBlockFusedCell(
            units, cell_clip=cell_clip, use_peephole=peephole
        )
        return cell(x, state, x.dtype, lengths)

    return tf.make_template(name, read)


def make_fused_both_ways(units, name="reader"):
    """Makes two fused LSTMs, one of which reads every sequence from its own end.

    Args:
        units: size of both parts of each state.
        name: scope of the variables `lstm_fused_cell/…` and `lstm_fused_cell_1/…`.

    Returns:
        Callable from a [batch, time, depth] float32 tensor and the lengths, [batch]
        ints, to the outputs of both, [batch, time, 2 * units], and the pair of last
        states (c, h).
    """

    def read(x, lengths):
        draw_weights()
        steps = tf.transpose(x, [1, 0, 2])
        forward = tensorflow.contrib.rnn.LSTMBlockFusedCell(units)
        backward = tensorflow.contrib.rnn.LSTMBlockFusedCell(units)
        backward = tensorflow.contrib.rnn.TimeReversedFusedRNN(backward)
        outputs, states = zip(
            *[
                cell(steps, dtype=x.dtype, sequence_length=lengths)
                for cell in (forward, backward)
            ]
        )
        return tf.transpose(tf.concat(outputs, 2), [1, 0, 2]), states

    return tf.make_template(name, read)


def make_gru_block(units, named_as_gru=False, name="reader"):
    """Makes a GRU whose step is one op.

    Args:
        units: size of the state.
        named_as_gru: whether the variables are named as those of `GRUCell`.
        name: scope of the variables `rnn/gru_cell/w_ru`, `…/b_ru`, `…/w_c` and
            `…/b_c`, or `rnn/gru_cell/gates/kernel`, and so on.

    Returns:
        Callable from a [batch, time, depth] float32 tensor, and optionally the lengths,
        [batch] ints, to the outputs, [batch, time, units], zero past the end, and the
        last state, [batch, units].
    """

    def read(x, lengths=None):
        draw_weights()
        if named_as_gru:
            cell = tensorflow.contrib.rnn.GRUBlockCellV2(units)
        else:
            cell = tensorflow.contrib.rnn.GRUBlockCell(units)
        return tf.nn.dynamic_rnn(cell, x, lengths, dtype=x.dtype)

    return tf.make_template(name, read)


def make_layer_norm_lstm(units, layer_norm=True, gain=1.0, shift=0.0, name="reader"):
    """Makes an LSTM that normalizes each gate over its units, and c, too.

    Args:
        units: size of both parts of the state.
        layer_norm: whether it does; if not, the gates have a bias, drawn like a kernel.
        gain: initial gamma.
        shift: initial beta.
        name: scope of `rnn/layer_norm_basic_lstm_cell/kernel`, `…/input/gamma`,
            `…/input/beta`, and so on of `transform`, `forget`, `output` and `state`.

    Returns:
        Callable from a [batch, time, depth] float tensor, and optionally the lengths,
        [batch] ints, to the outputs, [batch, time, units], zero past the end, and the
        last state (c, h).
    """

    def read(x, lengths=None):
        draw_weights()
        cell = tensorflow.contrib.rnn.LayerNormBasicLSTMCell(
            units, layer_norm=layer_norm, norm_gain=gain, norm_shift=shift
        )
        return tf.nn.dynamic_rnn(cell, x, lengths, dtype=x.dtype)

    return tf.make_template(name, read)


def drop_inside(x, units, keep, seed, draws=2):
    """Drops parts of what a layer-normed LSTM lets in, and never of its memory.

    Args:
        x: [batch, time, depth] float array.
        units: size of both parts of the state.
        keep: share to keep, in (0, 1].
        seed: of the op that draws; that of the graph is 7.
        draws: how often to run.

    Returns:
        List of {"outputs": [batch, time, units], "c": …, "h": [batch, units]}.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        draw_weights()
        cell = tensorflow.contrib.rnn.LayerNormBasicLSTMCell(
            units, dropout_keep_prob=keep, dropout_prob_seed=seed
        )
        # One step at a time: the 32 of the default may draw in any order.
        outputs, state = tf.nn.dynamic_rnn(
            cell, tf.constant(x), dtype=x.dtype, parallel_iterations=1
        )
        # --- run
        sess.run(tf.global_variables_initializer())
        fetches = {"outputs": outputs, "c": state.c, "h": state.h}
        return [sess.run(fetches) for _ in range(draws)]


def make_coupled_lstm(
    units, peepholes=False, projection=None, layer_norm=False, name="reader"
):
    """Makes an LSTM whose input gate is what its forget gate leaves.

    Args:
        units: size of c.
        peepholes: whether the gates see c, too.
        projection: size of h and of the outputs, if it is not `units`.
        layer_norm: whether it normalizes the gates, what is let in, and the new c.
        name: scope of `rnn/coupled_input_forget_gate_lstm_cell/W_0`, `…/B`, and of
            `…/W_F_diag`, `…/W_O_diag`, `…/W_P_0`, `…/transform/gamma`, and so on.

    Returns:
        Callable from a [batch, time, depth] float tensor, and optionally the lengths,
        [batch] ints, to the outputs, [batch, time, projection or units], zero past the
        end, and the last state (c, h).
    """

    def read(x, lengths=None):
        draw_weights()
        tf.get_variable_scope().set_dtype(x.dtype)  # its norms ask for none
        cell = tensorflow.contrib.rnn.CoupledInputForgetGateLSTMCell(
            units, peepholes, num_proj=projection, layer_norm=layer_norm
        )
        return tf.nn.dynamic_rnn(cell, x, lengths, dtype=x.dtype)

    return tf.make_template(name, read)


def make_nas(units, projection=None, bias=False, name="reader"):
    """Makes a network of the cell that architecture search found.

    Args:
        units: size of c.
        projection: size of the outputs, if it is not `units`.
        bias: whether there is one.
        name: scope of the variables `rnn/nas_cell/kernel`, `…/recurrent_kernel`,
            `…/bias` and `…/projection_weights`.

    Returns:
        Callable from a [batch, time, depth] float tensor to the outputs, [batch, time,
        projection or units], and the last state (c, h).
    """

    def read(x):
        draw_weights()
        cell = tensorflow.contrib.rnn.NASCell(units, projection, bias)
        return tf.nn.dynamic_rnn(cell, x, dtype=x.dtype)

    return tf.make_template(name, read)


def make_ugrnn(units, forget_bias=1.0, activation="tanh", name="reader"):
    """Makes a network with one gate: to keep the state, or to renew it.

    Args:
        units: size of the state.
        forget_bias: added to the gate, and in no checkpoint.
        activation: name of a function of `tf.nn`.
        name: scope of the variables `rnn/ugrnn_cell/kernel` and `…/bias`.

    Returns:
        Callable from a [batch, time, depth] float tensor to the outputs, [batch, time,
        units], and the last state, [batch, units].
    """

    def read(x):
        draw = tf.glorot_uniform_initializer(seed=1)
        cell = tensorflow.contrib.rnn.UGRNNCell(
            units, draw, forget_bias, getattr(tf.nn, activation)
        )
        return tf.nn.dynamic_rnn(cell, x, dtype=x.dtype)

    return tf.make_template(name, read)


def make_intersection(units, layers, activation="relu", name="reader"):
    """Makes a stack of cells with a gate in time and a gate in depth.

    Args:
        units: size of every state, and of what the layers hand on.
        layers: how many; the first projects its inputs.
        activation: name of a function of `tf.nn`, of what is handed on in depth.
        name: scope of `rnn/multi_rnn_cell/cell_0/intersection_rnn_cell/kernel`,
            `…/bias`, `…/in_projection/kernel`, `…/in_projection/bias`, and so on.

    Returns:
        Callable from a [batch, time, depth] float tensor to the outputs, [batch, time,
        units], and the tuple of the last states.
    """

    def read(x):
        draw_weights()
        cells = [
            tensorflow.contrib.rnn.IntersectionRNNCell(
                units,
                num_in_proj=None if layer else units,
                y_activation=getattr(tf.nn, activation),
            )
            for layer in range(layers)
        ]
        cell = tensorflow.contrib.rnn.MultiRNNCell(cells)
        return tf.nn.dynamic_rnn(cell, x, dtype=x.dtype)

    return tf.make_template(name, read)


def make_minimal(units, name="reader"):
    """Makes a cell of one's own: a gate that forgets, and counts what it has read.

    Args:
        units: size of the state.
        name: scope of `rnn/minimal_gated_cell/gate/kernel`, `…/gate/bias`,
            `…/candidate/kernel` and `…/candidate/bias`.

    Returns:
        Callable from a [batch, time, depth] float tensor, and optionally the lengths,
        [batch] ints, to the outputs, [batch, time, 2 * units], which are the state and
        the gate, and the last state, a pair: [batch, units], and the number of steps,
        [batch, 1], of the dtype of the inputs.
    """

    class MinimalGatedCell(tensorflow.contrib.rnn.RNNCell):
        def __init__(self, num_units):
            super().__init__()
            self._num_units = num_units

        @property
        def state_size(self):
            return self._num_units, 1

        @property
        def output_size(self):
            return 2 * self._num_units

        def __call__(self, x, state, scope=None):
            state, count = state
            with tf.variable_scope(scope or "minimal_gated_cell"):
                with tf.variable_scope("gate"):
                    gate = tf.sigmoid(affine([x, state], self._num_units))
                with tf.variable_scope("candidate"):
                    new = tf.tanh(affine([x, gate * state], self._num_units))
            state = (1 - gate) * state + gate * new
            return tf.concat([state, gate], 1), (state, count + 1)

    def read(x, lengths=None):
        draw_weights()
        return tf.nn.dynamic_rnn(MinimalGatedCell(units), x, lengths, dtype=x.dtype)

    return tf.make_template(name, read)


def affine(inputs, units):
    """One product with all inputs, as `_linear` of the old cells had it."""
    x = tf.concat(inputs, 1)
    kernel = tf.get_variable("kernel", [x.shape[1], units], x.dtype)
    bias = tf.get_variable("bias", [units], x.dtype, tf.zeros_initializer())
    return tf.nn.bias_add(tf.matmul(x, kernel), bias)
