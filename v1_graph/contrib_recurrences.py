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

# `tensorflow.contrib` exists only up to 1.15, and compat.v1 does not contain it.


def make_conv_lstm(channels, kernel, sizes, use_bias=True, name="reader"):
    """Makes a convolutional LSTM (`ConvLSTMCell`) that reads sequences of maps.

    Args:
        channels: number of channels of c and of h.
        kernel: list of the one, two or three sizes of the kernel.
        sizes: list of the sizes of the maps, as many as the kernel has, and then their
            number of channels.
        use_bias: whether to add a bias.
        name: scope of the variables `rnn/conv_2d_lstm_cell/kernel` and `…/biases`.

    Returns:
        Callable. It takes x, [batch, time, sizes...] floats, and optionally the
        lengths, [batch] ints. It returns the outputs, [batch, time, ..., channels],
        zero past the end, and the state (c, h) at the end of each sequence.

    Raises:
        ValueError: `sizes` does not have one element more than `kernel`.
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
    """Trains two ConvLSTM layers to predict the next frame of a film.

    Args:
        films: [n, time, height, width, 1] float array.
        start: {"kernels": list of two [3, 3, channels, gates] arrays, "biases": list of
            two [gates] arrays, "last": [1, 1, channels, 1] array}, the initial values.
        steps: how many steps of Adam to take, all on the same films.
        rate: learning rate.

    Returns:
        dict with the `losses` before each step, and `told`: the next frame of each
        film, as predicted after training, [n, height, width, 1].
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
    """Makes a group LSTM (`GLSTMCell`): each group sees only its own inputs and state.

    Args:
        units: size of c, for all groups together.
        groups: number of groups.
        projected: size of h if it differs from the size of c.
        forget_bias: added to the bias of the forget gate; not saved in checkpoints.
        name: scope of the variables `rnn/glstm_cell/group0/kernel`, `…/bias_i`,
            `…/bias_j`, `…/bias_f`, `…/bias_o`, `…/projection/kernel`.

    Returns:
        Callable. It takes x, [batch, time, depth] floats, and optionally the lengths,
        [batch] ints. It returns the outputs, [batch, time, units], zero past the end,
        and the state (c, h) at the end of each sequence.

    Raises:
        ValueError: a size, or from the callable the depth, is not a multiple of
            `groups`.
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
    """Makes a simple recurrent unit (`SRUCell`): its gates see only the inputs.

    Args:
        units: size of the state.
        name: scope of the variables `rnn/sru_cell/kernel` and `…/bias`.

    Returns:
        Callable. It takes x, [batch, time, depth] floats, and optionally the lengths,
        [batch] ints. It returns the outputs, [batch, time, units], zero past the end,
        and the last state, [batch, units], which differs from the last output.
    """

    def read(x, lengths=None):
        draw_weights()
        cell = tensorflow.contrib.rnn.SRUCell(units)
        return tf.nn.dynamic_rnn(cell, x, lengths, dtype=x.dtype)

    return tf.make_template(name, read)


def run_from(weights, outputs, state):
    """Runs a cell; returns outputs, state, and the gradients of sum(outputs²) / 2."""
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
    """Runs `IndRNNCell`, `IndyGRUCell` or `IndyLSTMCell` with checkpoint weights.

    Args:
        kind: "IndRNN" (with ReLU), "IndyGRU" or "IndyLSTM". In all of them a unit sees
            only its own state.
        units: size of the state.
        x: [batch, time, depth] float array.
        lengths: [batch] int array.
        weights: dict of arrays of the dtype of x by their names in a checkpoint, for
            IndRNN `rnn/ind_rnn_cell/kernel_w`, `…/kernel_u` and `…/bias`.

    Returns:
        dict with the `outputs`, the last `state`, and the `gradients` of half the
        sum of the squared outputs with respect to the weights.
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
    """Runs `PhasedLSTMCell`: a unit's time gate is open in a part of its period.

    Args:
        times: [batch, time, 1] float array, the times of the inputs.
        x: [batch, time, depth] float32 array.
        weights: dict of arrays by their names in a checkpoint, under
            `rnn/phased_lstm_cell/`: kernel and bias of `mask_gates`, `new_input` and
            `output_gate`, and `period`, `phase` and `ratio_on`, [units] each.
        leak: leak rate of the time gate while it is closed.
        peepholes: whether the gates also read c.

    Returns:
        dict with the `outputs`, the last `state`, and the `gradients` of half the
        sum of the squared outputs with respect to the weights.
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
    """Runs `GridLSTMCell` over the time and the bands of spectra.

    Args:
        x: [batch, time, depth] float array.
        lengths: [batch] int array.
        units: size of the states.
        size: width of a band.
        skip: distance from one band to the next.
        weights: dict of arrays of the dtype of x by their names in a checkpoint, under
            `rnn/grid_lstm_cell/`: `W_f_0_0`, `B_f_0`, `W_t_0_0`, `B_t_0`, and so on.
        blocks: list of (start, end) of frequency blocks with separate weights, or None.
        options: dict of other arguments of the cell.

    Returns:
        dict with the `outputs`, [batch, time, 2 * units * bands], the last `state`, and
        the `gradients` of half the sum of the squared outputs with respect to the
        weights.

    Raises:
        ValueError: the bands do not cover the spectrum.
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
    """Runs `TimeFreqLSTMCell`: one LSTM reads the bands of spectra in turn.

    Args:
        x: [batch, time, depth] float array.
        units: size of the state of a band.
        size: width of a band.
        skip: distance from one band to the next.
        weights: dict of arrays of the dtype of x by their names in a checkpoint:
            `time_freq_lstm_cell/W_0`, `…/B`, and with peepholes `…/W_F_diag`,
            `…/W_I_diag` and `…/W_O_diag`.
        peepholes: whether the gates also read c.

    Returns:
        dict with the `outputs`, [batch, time, units * bands], the last `state`, and
        the `gradients` of half the sum of the squared outputs with respect to the
        weights.
    """
    with tf.Graph().as_default():
        # --- cell
        cell = tensorflow.contrib.rnn.TimeFreqLSTMCell(
            units, peepholes, feature_size=size, frequency_skip=skip
        )
        bands = (x.shape[2] - size) // skip + 1
        # --- run
        # Not `dynamic_rnn`: its zero state has the size of one band.
        state, outputs = tf.zeros([len(x), 2 * units * bands], x.dtype), []
        for t in range(x.shape[1]):
            output, state = cell(tf.constant(x[:, t]), state)
            outputs.append(output)
        return run_from(weights, tf.stack(outputs, 1), state)
