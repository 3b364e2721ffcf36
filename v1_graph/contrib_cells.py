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

# `tensorflow.contrib` exists only up to 1.15, and compat.v1 does not contain it.


def make_lstm_block(
    units, forget_bias=1.0, peephole=False, cell_clip=None, name="reader"
):
    """Makes an LSTM with `LSTMBlockCell`, whose step was one op in TensorFlow 1.

    Args:
        units: size of both parts of the state.
        forget_bias: added to the bias of the forget gate; not saved in checkpoints.
        peephole: whether the gates also read c.
        cell_clip: largest magnitude of c, or None; the gradient ignores the clipping.
        name: scope of the variables `rnn/lstm_cell/kernel`, `…/bias`, `…/w_f_diag`,
            `…/w_i_diag` and `…/w_o_diag`.

    Returns:
        Callable. It takes x, [batch, time, depth] float32, and optionally the lengths,
        [batch] ints. It returns the outputs, [batch, time, units], zero past the end,
        and the state (c, h) at the end of each sequence.

    Raises:
        ValueError: from the callable: not three dimensions, or an unknown depth.
        TypeError: from the callable: float64. TensorFlow 2 accepts it.
    """

    def read(x, lengths=None):
        draw_weights()
        cell = tensorflow.contrib.rnn.LSTMBlockCell(
            units, forget_bias, cell_clip, peephole
        )
        return tf.nn.dynamic_rnn(cell, x, lengths, dtype=x.dtype)

    return tf.make_template(name, read)


def make_lstm_fused(units, peephole=False, cell_clip=None, name="reader"):
    """Makes a time-major LSTM with `LSTMBlockFusedCell`, one op in TensorFlow 1.

    Args:
        units: size of both parts of the state.
        peephole: whether the gates also read c.
        cell_clip: largest magnitude of c, or None.
        name: scope of the variables `lstm_fused_cell/kernel`, `…/bias` and, with
            peepholes, `…/w_f_diag` and so on.

    Returns:
        Callable. It takes x, [time, batch, depth] float32, and optionally the
        lengths, [batch] ints, and a state, a pair of [batch, units]. It returns the
        outputs, [time, batch, units], multiplied by zero past the end, and the state
        (c, h) at the end of each sequence.

    Raises:
        ValueError: from the callable: not three dimensions, or an unknown depth.
    """

    def read(x, lengths=None, state=None):
        draw_weights()
        cell = tensorflow.contrib.rnn.LSTMBlockFusedCell(
            units, cell_clip=cell_clip, use_peephole=peephole
        )
        return cell(x, state, x.dtype, lengths)

    return tf.make_template(name, read)


def make_fused_both_ways(units, name="reader"):
    """Makes a bidirectional LSTM of `LSTMBlockFusedCell` and `TimeReversedFusedRNN`.

    Args:
        units: size of both parts of each state.
        name: scope of the variables `lstm_fused_cell/…` and `lstm_fused_cell_1/…`.

    Returns:
        Callable. It takes x, [batch, time, depth] float32, and the lengths, [batch]
        ints. It returns the outputs of both LSTMs, [batch, time, 2 * units], and the
        pair of last states (c, h). The second LSTM reads each sequence from its end.
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
    """Makes a GRU with `GRUBlockCell`, whose step was one op in TensorFlow 1.

    Args:
        units: size of the state.
        named_as_gru: whether the variables are named as in `GRUCell`.
        name: scope of the variables `rnn/gru_cell/w_ru`, `…/b_ru`, `…/w_c` and
            `…/b_c`, or `rnn/gru_cell/gates/kernel`, and so on.

    Returns:
        Callable. It takes x, [batch, time, depth] float32, and optionally the lengths,
        [batch] ints. It returns the outputs, [batch, time, units], zero past the end,
        and the last state, [batch, units].
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
    """Makes an LSTM with layer normalization of each gate and of the new cell state.

    Args:
        units: size of both parts of the state.
        layer_norm: whether to normalize; if not, the gates have a bias, which is drawn
            like a kernel.
        gain: initial value of gamma.
        shift: initial value of beta.
        name: scope of `rnn/layer_norm_basic_lstm_cell/kernel`, `…/input/gamma`,
            `…/input/beta`, and the same for `transform`, `forget`, `output`, `state`.

    Returns:
        Callable. It takes x, [batch, time, depth] floats, and optionally the lengths,
        [batch] ints. It returns the outputs, [batch, time, units], zero past the end,
        and the last state (c, h).
    """

    def read(x, lengths=None):
        draw_weights()
        cell = tensorflow.contrib.rnn.LayerNormBasicLSTMCell(
            units, layer_norm=layer_norm, norm_gain=gain, norm_shift=shift
        )
        return tf.nn.dynamic_rnn(cell, x, lengths, dtype=x.dtype)

    return tf.make_template(name, read)


def drop_inside(x, units, keep, seed, draws=2):
    """Applies recurrent dropout to the candidates of an LSTM, and not to its state.

    Args:
        x: [batch, time, depth] float array.
        units: size of both parts of the state.
        keep: share of the elements to keep, in (0, 1].
        seed: seed of the dropout op; the graph's seed is 7.
        draws: how many times to run.

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
        # One step at a time: the default of 32 parallel steps may draw in any order.
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
    """Makes an LSTM with coupled gates: the input gate is 1 minus the forget gate.

    Args:
        units: size of c.
        peepholes: whether the gates also read c.
        projection: size of h and of the outputs if it differs from `units`.
        layer_norm: whether to normalize the gates, the candidate and the new c.
        name: scope of `rnn/coupled_input_forget_gate_lstm_cell/W_0`, `…/B`, and of
            `…/W_F_diag`, `…/W_O_diag`, `…/W_P_0`, `…/transform/gamma`, and so on.

    Returns:
        Callable. It takes x, [batch, time, depth] floats, and optionally the lengths,
        [batch] ints. It returns the outputs, [batch, time, projection or units], zero
        past the end, and the last state (c, h).
    """

    def read(x, lengths=None):
        draw_weights()
        tf.get_variable_scope().set_dtype(x.dtype)  # its norms set no dtype
        cell = tensorflow.contrib.rnn.CoupledInputForgetGateLSTMCell(
            units, peepholes, num_proj=projection, layer_norm=layer_norm
        )
        return tf.nn.dynamic_rnn(cell, x, lengths, dtype=x.dtype)

    return tf.make_template(name, read)


def make_nas(units, projection=None, bias=False, name="reader"):
    """Makes an RNN with `NASCell`, the cell that neural architecture search found.

    Args:
        units: size of c.
        projection: size of the outputs if it differs from `units`.
        bias: whether the recurrent product has a bias.
        name: scope of the variables `rnn/nas_cell/kernel`, `…/recurrent_kernel`,
            `…/bias` and `…/projection_weights`.

    Returns:
        Callable. It takes x, [batch, time, depth] floats. It returns the outputs,
        [batch, time, projection or units], and the last state (c, h).
    """

    def read(x):
        draw_weights()
        cell = tensorflow.contrib.rnn.NASCell(units, projection, bias)
        return tf.nn.dynamic_rnn(cell, x, dtype=x.dtype)

    return tf.make_template(name, read)


def make_ugrnn(units, forget_bias=1.0, activation="tanh", name="reader"):
    """Makes an RNN with `UGRNNCell`: one gate keeps the state or replaces it.

    Args:
        units: size of the state.
        forget_bias: added to the gate; not saved in checkpoints.
        activation: name of a function of `tf.nn`.
        name: scope of the variables `rnn/ugrnn_cell/kernel` and `…/bias`.

    Returns:
        Callable. It takes x, [batch, time, depth] floats. It returns the outputs,
        [batch, time, units], and the last state, [batch, units].
    """

    def read(x):
        draw = tf.glorot_uniform_initializer(seed=1)
        cell = tensorflow.contrib.rnn.UGRNNCell(
            units, draw, forget_bias, getattr(tf.nn, activation)
        )
        return tf.nn.dynamic_rnn(cell, x, dtype=x.dtype)

    return tf.make_template(name, read)


def make_intersection(units, layers, activation="relu", name="reader"):
    """Makes a stack of `IntersectionRNNCell`s, with a gate in time and one in depth.

    Args:
        units: size of each state and of the outputs of each layer.
        layers: number of layers; the first one projects its inputs to this size.
        activation: name of a function of `tf.nn`, for the outputs of each layer.
        name: scope of `rnn/multi_rnn_cell/cell_0/intersection_rnn_cell/kernel`,
            `…/bias`, `…/in_projection/kernel`, `…/in_projection/bias`, and so on.

    Returns:
        Callable. It takes x, [batch, time, depth] floats. It returns the outputs,
        [batch, time, units], and the tuple of the last states.
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
    """Makes an RNN with a custom cell: a minimal gated unit that counts its steps.

    Args:
        units: size of the state.
        name: scope of `rnn/minimal_gated_cell/gate/kernel`, `…/gate/bias`,
            `…/candidate/kernel` and `…/candidate/bias`.

    Returns:
        Callable. It takes x, [batch, time, depth] floats, and optionally the lengths,
        [batch] ints. It returns the outputs, [batch, time, 2 * units], which are the
        state and the gate, and the last state, a pair: [batch, units], and the number
        of steps, [batch, 1], of the dtype of the inputs.
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
    """Concatenates inputs and applies a dense layer, as old cells' `_linear` did."""
    x = tf.concat(inputs, 1)
    kernel = tf.get_variable("kernel", [x.shape[1], units], x.dtype)
    bias = tf.get_variable("bias", [units], x.dtype, tf.zeros_initializer())
    return tf.nn.bias_add(tf.matmul(x, kernel), bias)
