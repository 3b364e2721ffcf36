"""`tf.contrib.rnn`: `ConvLSTMCell`, `SRUCell`, `IndRNNCell`, `GridLSTMCell`."""

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

from v1_graph.rnn import draw_weights

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

# compat.v1 has no contrib, and no version after 1.15: `tensorflow.contrib` is its own.


def make_conv_lstm(channels, kernel, sizes, use_bias=True, name="reader"):
    """Makes an LSTM of maps, whose products are convolutions.

    Args:
        channels: how many of both parts of the state.
        kernel: list of its one to three sizes.
        sizes: list of as many sizes of the maps, and of their channels.
        use_bias: whether there is a bias.
        name: scope of the variables `rnn/conv_2d_lstm_cell/kernel` and `…/biases`.

    Returns:
        Callable from a [batch, time, sizes...] float tensor, and optionally the
        lengths, [batch] ints, to the outputs, [batch, time, ..., channels], zero past
        the end, and the last state (c, h), that of the end.

    Raises:
        ValueError: sizes that are not one more than those of the kernel.
    """
    cells = [
        tensorflow.contrib.rnn.Conv1DLSTMCell,
        tensorflow.contrib.rnn.Conv2DLSTMCell,
        tensorflow.contrib.rnn.Conv3DLSTMCell,
    ]
    cell = cells[len(kernel) - 1](
        input_shape=sizes,
        output_channels=channels,
        kernel_shape=kernel,
        use_bias=use_bias,
    )

    def read(x, lengths=None):
        draw_weights()
        return tf.nn.dynamic_rnn(cell, x, lengths, dtype=x.dtype)

    return tf.make_template(name, read)


def predict_frames(films, start, steps, rate=0.01):
    """Trains two layers of maps to predict the next frame, then frames of its own.

    Args:
        films: [n, time, height, width, 1] float array.
        start: {"kernels": list of two [3, 3, channels, gates] arrays, "biases": of two
            [gates], "last": [1, 1, channels, 1]}.
        steps: of Adam, all on the same films.
        rate: learning rate.

    Returns:
        dict with the `losses` before every step, and the [n, height, width, 1] frame
        after the last, as it is `told` in the end.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- cells
        sizes = list(films.shape[2:])
        channels = [kernel.shape[-1] // 4 for kernel in start["kernels"]]
        cells = []
        for size in channels:
            cells.append(
                tensorflow.contrib.rnn.ConvLSTMCell(
                    conv_ndims=2,
                    input_shape=sizes,
                    output_channels=size,
                    kernel_shape=[3, 3],
                )
            )
            sizes = sizes[:-1] + [size]
        cell = tf.nn.rnn_cell.MultiRNNCell(cells)
        # --- loss
        x = tf.constant(films)
        outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=x.dtype)
        last = tf.get_variable("last", initializer=start["last"])
        maps = tf.reshape(outputs, [-1] + sizes)
        told = tf.nn.conv2d(maps, last, [1, 1, 1, 1], "SAME")
        told = tf.reshape(told, films.shape)
        loss = tf.reduce_mean(tf.square(told[:, :-1] - x[:, 1:]))
        train_op = tf.train.AdamOptimizer(rate).minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        for i, (kernel, bias) in enumerate(zip(start["kernels"], start["biases"])):
            path = "rnn/multi_rnn_cell/cell_{}/conv_lstm_cell/".format(i)
            found = {v.op.name: v for v in tf.trainable_variables()}
            found[path + "kernel"].load(kernel, sess)
            found[path + "biases"].load(bias, sess)
        losses = [sess.run([loss, train_op])[0] for _ in range(steps)]
        return {"losses": np.stack(losses), "told": sess.run(told[:, -1])}


def make_group_lstm(units, groups, projected=None, forget_bias=1.0, name="reader"):
    """Makes an LSTM in groups, none of which sees the inputs and state of another.

    Args:
        units: size of c, all groups together.
        groups: how many.
        projected: size of h, if it is not that of c.
        forget_bias: added to the bias of the forget gate, and in no checkpoint.
        name: scope of the variables `rnn/glstm_cell/group0/kernel`, `…/bias_i`,
            `…/bias_j`, `…/bias_f`, `…/bias_o`, `…/projection/kernel`.

    Returns:
        Callable from a [batch, time, depth] float tensor, and optionally the lengths,
        [batch] ints, to the outputs, [batch, time, units], zero past the end, and the
        last state (c, h), that of the end.

    Raises:
        ValueError: sizes, or of the callable a depth, that the groups do not divide.
    """
    cell = tensorflow.contrib.rnn.GLSTMCell(
        units,
        num_proj=projected,
        number_of_groups=groups,
        forget_bias=forget_bias,
    )

    def read(x, lengths=None):
        draw_weights()
        return tf.nn.dynamic_rnn(cell, x, lengths, dtype=x.dtype)

    return tf.make_template(name, read)


def make_sru(units, name="reader"):
    """Makes a unit whose gates see the input alone.

    Args:
        units: size of the state.
        name: scope of the variables `rnn/sru_cell/kernel` and `…/bias`.

    Returns:
        Callable from a [batch, time, depth] float tensor, and optionally the lengths,
        [batch] ints, to the outputs, [batch, time, units], zero past the end, and the
        last state, [batch, units], which is no output.
    """

    def read(x, lengths=None):
        draw_weights()
        cell = tensorflow.contrib.rnn.SRUCell(units)
        return tf.nn.dynamic_rnn(cell, x, lengths, dtype=x.dtype)

    return tf.make_template(name, read)


def run_from(weights, outputs, state):
    """The outputs, the state, and gradients of half the outputs' squares by weights."""
    variables = {v.op.name: v for v in tf.trainable_variables()}
    by = [variables[name] for name in weights]
    slopes = tf.gradients(tf.reduce_sum(tf.square(outputs)) / 2, by)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for name, value in weights.items():
            variables[name].load(value, sess)
        outputs, state, slopes = sess.run([outputs, state, slopes])
    names = [name.rpartition("cell/")[2] for name in weights]
    gradients = dict(zip(names, slopes))
    return {"outputs": outputs, "state": tf.nest.flatten(state), "gradients": gradients}


def read_independently(kind, units, x, lengths, weights):
    """Reads by a cell whose units see no state but their own, from old weights.

    Args:
        kind: "IndRNN", whose activation is relu, "IndyGRU" or "IndyLSTM".
        units: size of the state.
        x: [batch, time, depth] float array.
        lengths: [batch] int array.
        weights: dict of arrays of its dtype, as a checkpoint has them: of IndRNN
            `rnn/ind_rnn_cell/kernel_w`, `…/kernel_u` and `…/bias`.

    Returns:
        dict with the `outputs`, the last `state`, and `gradients` of half the outputs'
        squares by the weights.
    """
    with tf.Graph().as_default():
        # --- cell
        cell = {
            "IndRNN": tensorflow.contrib.rnn.IndRNNCell(units, tf.nn.relu),
            "IndyGRU": tensorflow.contrib.rnn.IndyGRUCell(units),
            "IndyLSTM": tensorflow.contrib.rnn.IndyLSTMCell(units),
        }[kind]
        # --- run
        outputs, state = tf.nn.dynamic_rnn(cell, x, lengths, dtype=x.dtype)
        return run_from(weights, outputs, state)


def read_by_time(times, x, weights, leak=0.001, peepholes=False):
    """Reads by an LSTM that is open for a part of each unit's period only.

    Args:
        times: [batch, time, 1] float array, when the inputs came.
        x: [batch, time, depth] float32 array.
        weights: dict of arrays, as a checkpoint has them, under
            `rnn/phased_lstm_cell/`: kernel and bias of `mask_gates`, `new_input` and
            `output_gate`, and `period`, `phase` and `ratio_on`, [units] each.
        leak: what passes a gate that is closed.
        peepholes: whether the gates see c, too.

    Returns:
        dict with the `outputs`, the last `state`, and `gradients` of half the outputs'
        squares by the weights.
    """
    with tf.Graph().as_default():
        # --- cell
        units = len(weights["rnn/phased_lstm_cell/period"])
        cell = tensorflow.contrib.rnn.PhasedLSTMCell(
            units, use_peepholes=peepholes, leak=leak
        )
        # --- run
        inputs = tf.constant(times), tf.constant(x)
        outputs, state = tf.nn.dynamic_rnn(cell, inputs, dtype=x.dtype)
        return run_from(weights, outputs, state)


def read_spectra(x, lengths, units, size, skip, weights, blocks=None, options=None):
    """Reads spectra by a grid of LSTMs, over time and over bands, from old weights.

    Args:
        x: [batch, time, depth] float array.
        lengths: [batch] int array.
        units: size of the states.
        size: how many numbers a band has.
        skip: how far the next band is.
        weights: dict of arrays of the dtype of x, as a checkpoint has them, under
            `rnn/grid_lstm_cell/`: `W_f_0_0`, `B_f_0`, `W_t_0_0`, `B_t_0`, and so on.
        blocks: list of (beginning, end) of blocks with weights of their own, or None.
        options: dict of more arguments of the cell.

    Returns:
        dict with the `outputs`, [batch, time, 2 * units * bands], the last `state`, and
        `gradients` of half the outputs' squares by the weights.

    Raises:
        ValueError: bands that do not cover a spectrum.
    """
    with tf.Graph().as_default():
        # --- cell
        starts, ends = zip(*(blocks or [(0, x.shape[2])]))
        counts = [(end - start - size) // skip + 1 for start, end in zip(starts, ends)]
        cell = tensorflow.contrib.rnn.GridLSTMCell(
            units,
            feature_size=size,
            frequency_skip=skip,
            num_frequency_blocks=counts,
            start_freqindex_list=starts,
            end_freqindex_list=ends,
            **(options or {}),
        )
        # --- run
        outputs, state = tf.nn.dynamic_rnn(cell, x, lengths, dtype=x.dtype)
        return run_from(weights, outputs, state)


def read_bands(x, units, size, skip, weights, peepholes=False):
    """Reads spectra by one LSTM for all bands, by turns, from old weights.

    Args:
        x: [batch, time, depth] float array.
        units: size of the state of a band.
        size: how many numbers a band has.
        skip: how far the next band is.
        weights: dict of arrays of the dtype of x, as a checkpoint has them:
            `time_freq_lstm_cell/W_0`, `…/B`, and with peepholes `…/W_F_diag`,
            `…/W_I_diag` and `…/W_O_diag`.
        peepholes: whether the gates see c, too.

    Returns:
        dict with the `outputs`, [batch, time, units * bands], the last `state`, and
        `gradients` of half the outputs' squares by the weights.
    """
    with tf.Graph().as_default():
        # --- cell
        cell = tensorflow.contrib.rnn.TimeFreqLSTMCell(
            units, peepholes, feature_size=size, frequency_skip=skip
        )
        bands = (x.shape[2] - size) // skip + 1
        # --- run
        # `dynamic_rnn` would begin with the state of one band.
        state, outputs = tf.zeros([len(x), 2 * units * bands], x.dtype), []
        for t in range(x.shape[1]):
            output, state = cell(tf.constant(x[:, t]), state)
            outputs.append(output)
        return run_from(weights, tf.stack(outputs, 1), state)
