"""`tf.nn.dynamic_rnn`, `BasicLSTMCell`, `GRUCell`, `MultiRNNCell` → modules, a loop."""

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = [
    "make_basic_rnn",
    "make_basic_lstm",
    "make_lstm",
    "make_gru",
    "make_stack",
    "make_static_rnn",
    "make_bidirectional",
    "last_outputs",
    "run_lstm",
    "run_gru",
    "run_until",
    "read_in_pieces",
    "dropout",
    "train",
]


def draw_weights():
    """Sets a seeded initializer for this scope, because few cells accept one."""
    tf.get_variable_scope().set_initializer(tf.glorot_uniform_initializer(seed=1))


def make_basic_rnn(units, activation="tanh", time_major=False, name="reader"):
    """Makes a `BasicRNNCell` network over sequences: the output is the state.

    Args:
        units: size of the state.
        activation: name of a function of `tf.nn`.
        time_major: whether time is the first axis of the input and of the outputs.
        name: scope of the variables `rnn/basic_rnn_cell/kernel` and `…/bias`.

    Returns:
        Callable from a [batch, time, depth] float tensor to the outputs, [batch, time,
        units], and the last state, [batch, units].

    Raises:
        ValueError: in a call: the input does not have three dimensions, or its depth is
            unknown.
    """

    def read(x):
        draw_weights()
        cell = tf.nn.rnn_cell.BasicRNNCell(units, getattr(tf.nn, activation))
        return tf.nn.dynamic_rnn(cell, x, dtype=x.dtype, time_major=time_major)

    return tf.make_template(name, read)


def make_basic_lstm(units, forget_bias=1.0, name="reader"):
    """Makes an LSTM over sequences of different lengths, with an optional first state.

    Args:
        units: size of both parts of the state.
        forget_bias: added to the bias of the forget gate; not saved in checkpoints.
        name: scope of the variables `rnn/basic_lstm_cell/kernel` and `…/bias`.

    Returns:
        Callable from a [batch, time, depth] float tensor, and optionally the lengths,
        [batch] ints, and a state, a pair of [batch, units], to the outputs, [batch,
        time, units], zero past each sequence's end, and the state (c, h) at its end.

    Raises:
        ValueError: in a call: the input does not have three dimensions, its depth is
            unknown, or the lengths are not a vector.
        tf.errors.InvalidArgumentError: in a call: the number of lengths is not the
            batch size.
    """

    def read(x, lengths=None, state=None):
        draw_weights()
        cell = tf.nn.rnn_cell.BasicLSTMCell(units, forget_bias)
        if state is not None:
            state = tf.nn.rnn_cell.LSTMStateTuple(*state)
        return tf.nn.dynamic_rnn(cell, x, lengths, state, dtype=x.dtype)

    return tf.make_template(name, read)


def make_lstm(
    units,
    peepholes=False,
    cell_clip=None,
    projection=None,
    projection_clip=None,
    name="reader",
):
    """Makes an `LSTMCell` network with peepholes, projection and clipping.

    Args:
        units: size of c.
        peepholes: whether the gates also read c.
        cell_clip: largest magnitude of c, or None.
        projection: size of h and of the outputs if it differs from `units`.
        projection_clip: largest magnitude of the projected h, or None.
        name: scope of the variables `rnn/lstm_cell/kernel`, `…/bias`, `…/w_f_diag`,
            `…/w_i_diag`, `…/w_o_diag` and `…/projection/kernel`.

    Returns:
        Callable from a [batch, time, depth] float tensor to the outputs, [batch, time,
        projection or units], and the last state (c, h).

    Raises:
        ValueError: in a call: the input does not have three dimensions, or its depth is
            unknown.
    """

    def read(x):
        cell = tf.nn.rnn_cell.LSTMCell(
            units,
            use_peepholes=peepholes,
            cell_clip=cell_clip,
            initializer=tf.glorot_uniform_initializer(seed=1),
            num_proj=projection,
            proj_clip=projection_clip,
        )
        return tf.nn.dynamic_rnn(cell, x, dtype=x.dtype)

    return tf.make_template(name, read)


def make_gru(units, name="reader"):
    """Makes a GRU over sequences, with the reset gate before the product.

    Args:
        units: size of the state.
        name: scope of the variables `rnn/gru_cell/gates/kernel`, `…/gates/bias`,
            `…/candidate/kernel` and `…/candidate/bias`.

    Returns:
        Callable from a [batch, time, depth] float tensor and optionally the lengths,
        [batch] ints, to the outputs, [batch, time, units], zero past each sequence's
        end, and the last state, [batch, units].

    Raises:
        The errors of the callable of `make_basic_lstm`.
    """

    def read(x, lengths=None):
        initializer = tf.glorot_uniform_initializer(seed=1)
        cell = tf.nn.rnn_cell.GRUCell(units, kernel_initializer=initializer)
        return tf.nn.dynamic_rnn(cell, x, lengths, dtype=x.dtype)

    return tf.make_template(name, read)


def make_stack(units, layers, name="reader"):
    """Makes stacked GRUs; all but the first add their inputs to their outputs.

    Args:
        units: size of each state.
        layers: number of layers.
        name: scope of the variables `rnn/multi_rnn_cell/cell_0/gru_cell/…`, and so on.

    Returns:
        Callable from a [batch, time, depth] float tensor and the lengths, [batch] ints,
        to the outputs of the last layer, [batch, time, units], and the tuple of the
        layers' last states.

    Raises:
        ValueError: there are no layers; in a call: see `make_basic_lstm`.
    """
    if layers < 1:
        raise ValueError("Must specify at least one cell")

    def read(x, lengths):
        draw_weights()
        # [cell] * layers would be one cell: all layers would share its variables.
        cells = [tf.nn.rnn_cell.GRUCell(units) for _ in range(layers)]
        cells[1:] = [tf.nn.rnn_cell.ResidualWrapper(cell) for cell in cells[1:]]
        cell = tf.nn.rnn_cell.MultiRNNCell(cells)
        return tf.nn.dynamic_rnn(cell, x, lengths, dtype=x.dtype)

    return tf.make_template(name, read)


def make_static_rnn(units, name="reader"):
    """Makes an unrolled LSTM: the graph contains each time step, as `static_rnn` did.

    Args:
        units: size of both parts of the state.
        name: scope of the variables `rnn/basic_lstm_cell/kernel` and `…/bias`.

    Returns:
        Callable from a [batch, time, depth] float tensor and optionally the lengths,
        [batch] ints, to the list of outputs, each [batch, units], and the last state
        (c, h).

    Raises:
        ValueError: in a call: the number of time steps is unknown, or the lengths are
            not a vector.
    """

    def read(x, lengths=None):
        draw_weights()
        cell = tf.nn.rnn_cell.BasicLSTMCell(units)
        inputs = tf.unstack(x, axis=1)
        return tf.nn.static_rnn(cell, inputs, dtype=x.dtype, sequence_length=lengths)

    return tf.make_template(name, read)


def make_bidirectional(units, name="reader"):
    """Makes a bidirectional GRU; the backward GRU starts at each sequence's end.

    Args:
        units: size of each state.
        name: scope of the variables `bidirectional_rnn/fw/gru_cell/…` and `…/bw/…`.

    Returns:
        Callable from a [batch, time, depth] float tensor and the lengths, [batch] ints,
        to the outputs of both GRUs, [batch, time, 2 * units], and the pair of their
        last states, each [batch, units].

    Raises:
        The errors of the callable of `make_basic_lstm`.
    """

    def read(x, lengths):
        draw_weights()
        cells = [tf.nn.rnn_cell.GRUCell(units) for _ in range(2)]
        outputs, states = tf.nn.bidirectional_dynamic_rnn(
            *cells, inputs=x, sequence_length=lengths, dtype=x.dtype
        )
        return tf.concat(outputs, 2), states

    return tf.make_template(name, read)


def last_outputs(outputs, lengths):
    """Selects the output at the last step of each sequence.

    Args:
        outputs: [batch, time, units] float tensor.
        lengths: [batch] int tensor, each at least 1.

    Returns:
        [batch, units] tensor.

    Raises:
        tf.errors.InvalidArgumentError: on a CPU: a length is 0 or larger than the
            number of time steps.
    """
    places = tf.stack([tf.range(tf.shape(outputs)[0]), lengths - 1], axis=1)
    return tf.gather_nd(outputs, places)


def run_lstm(x, lengths, weights, forget_bias=1.0):
    """Runs an LSTM with the weights of a TensorFlow 1 checkpoint.

    Args:
        x: [batch, time, depth] float array.
        lengths: [batch] int array.
        weights: {"rnn/basic_lstm_cell/kernel": [depth + units, 4 * units] array,
            "rnn/basic_lstm_cell/bias": [4 * units] array} of the dtype of x.
        forget_bias: value of the training program, or the cell's default.

    Returns:
        {"outputs": [batch, time, units], "c": [batch, units], "h": [batch, units]}.

    Raises:
        KeyError: a weight is missing.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        units = weights["rnn/basic_lstm_cell/bias"].shape[0] // 4
        cell = tf.nn.rnn_cell.BasicLSTMCell(units, forget_bias)
        # --- run
        outputs, state = tf.nn.dynamic_rnn(cell, tf.constant(x), lengths, dtype=x.dtype)
        for variable in tf.global_variables():
            variable.load(weights[variable.op.name], sess)
        return sess.run({"outputs": outputs, "c": state.c, "h": state.h})


def run_gru(x, lengths, weights):
    """Runs a GRU with the weights of a TensorFlow 1 checkpoint.

    Args:
        x: [batch, time, depth] float array.
        lengths: [batch] int array.
        weights: {"rnn/gru_cell/gates/kernel": [depth + units, 2 * units] array, and so
            on: "gates/bias", "candidate/kernel", "candidate/bias"}, of the dtype of x.

    Returns:
        {"outputs": [batch, time, units], "state": [batch, units]}.

    Raises:
        KeyError: a weight is missing.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        cell = tf.nn.rnn_cell.GRUCell(weights["rnn/gru_cell/candidate/bias"].shape[0])
        # --- run
        outputs, state = tf.nn.dynamic_rnn(cell, tf.constant(x), lengths, dtype=x.dtype)
        for variable in tf.global_variables():
            variable.load(weights[variable.op.name], sess)
        return sess.run({"outputs": outputs, "state": state})


def run_until(first, weights, limit):
    """Feeds an RNN its own outputs until each row's first number is negative.

    Args:
        first: [batch, n] float array, the input of the first step.
        weights: {"rnn/basic_rnn_cell/kernel": [2 * n, n] array,
            "rnn/basic_rnn_cell/bias": [n] array} of the dtype of `first`.
        limit: largest number of steps.

    Returns:
        {"outputs": [steps, batch, n], the steps of the longest row, with zeros after
        the end of the other rows; "state": [batch, n], each row's state at its end}.

    Raises:
        KeyError: a weight is missing.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        batch, n = first.shape
        cell = tf.nn.rnn_cell.BasicRNNCell(n)

        # --- step
        def body(time, output, state, _):
            if output is None:  # before the first step
                state = cell.zero_state(batch, first.dtype)
                return (
                    tf.fill([batch], limit < 1),
                    tf.constant(first),
                    state,
                    None,
                    None,
                )
            ended = tf.logical_or(output[:, 0] < 0, time >= limit)
            return ended, output, state, output, None

        # --- run
        outputs, state, _ = tf.nn.raw_rnn(cell, body)
        for variable in tf.global_variables():
            variable.load(weights[variable.op.name], sess)
        return sess.run({"outputs": outputs.stack(), "state": state})


def read_in_pieces(x, pieces, units, keep_state=True):
    """Runs an LSTM over long sequences in pieces, and passes the state on.

    Args:
        x: [batch, time, depth] float array.
        pieces: number of pieces, which have equal size.
        units: size of both parts of the state.
        keep_state: whether a piece begins with the last state of the piece before.

    Returns:
        {"outputs": [batch, time, units], "c": [batch, units], "h": [batch, units]}.

    Raises:
        ValueError: the number of pieces does not divide the time steps.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        draw_weights()
        piece = tf.placeholder(x.dtype, [x.shape[0], None, x.shape[2]])
        cell = tf.nn.rnn_cell.BasicLSTMCell(units)
        state = cell.zero_state(x.shape[0], x.dtype)
        outputs, last = tf.nn.dynamic_rnn(cell, piece, initial_state=state)
        # --- run
        sess.run(tf.global_variables_initializer())
        value, parts = sess.run(state), []
        for part in np.split(x, pieces, axis=1):
            feed = {piece: part, state: value}
            part, ended = sess.run([outputs, last], feed)
            value = ended if keep_state else value
            parts.append(part)
        return {"outputs": np.concatenate(parts, 1), "c": ended.c, "h": ended.h}


def dropout(x, units, keep, seed, variational=False, draws=2):
    """Runs an LSTM with dropout on its inputs, its outputs and its state h.

    Args:
        x: [batch, time, depth] float array.
        units: size of both parts of the state.
        keep: keep probabilities of the inputs, the outputs and h, in (0, 1].
        seed: seed of the wrapper; the graph's seed is 7.
        variational: whether to drop the same units at all time steps and in all
            sequences of a run.
        draws: number of runs.

    Returns:
        List of {"outputs": [batch, time, units], "c": …, "h": [batch, units]}.

    Raises:
        ValueError: a keep probability is outside of [0, 1].
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        draw_weights()
        cell = tf.nn.rnn_cell.DropoutWrapper(
            tf.nn.rnn_cell.BasicLSTMCell(units),
            *keep,
            variational_recurrent=variational,
            input_size=tf.TensorShape(x.shape[2:]),
            dtype=x.dtype,
            seed=seed,
        )
        # One iteration at a time: with the default of 32, steps may draw in any order.
        outputs, state = tf.nn.dynamic_rnn(
            cell, tf.constant(x), dtype=x.dtype, parallel_iterations=1
        )
        # --- run
        sess.run(tf.global_variables_initializer())
        fetches = {"outputs": outputs, "c": state.c, "h": state.h}
        return [sess.run(fetches) for _ in range(draws)]


def train(x, lengths, labels, steps, units=4, rate=0.5, limit=1.0):
    """Trains an LSTM classifier of sequences, with gradients clipped by global norm.

    Args:
        x: [n, time, depth] float array.
        lengths: [n] int array.
        labels: [n] int array of class ids from 0 to 2.
        steps: number of steps, all on the same sequences.
        units: size of both parts of the state.
        rate: learning rate.
        limit: global norm to which the gradients are clipped.

    Returns:
        dict with the `losses` and the gradients' `norms` before each step, and the
        final `variables` by name and `logits`.

    Raises:
        tf.errors.InvalidArgumentError: a label is not a class id.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- model
        tf.set_random_seed(7)
        draw_weights()
        sequences = tf.placeholder(x.dtype, [None, None, x.shape[2]])
        ends = tf.placeholder(tf.int32, [None])
        classes = tf.placeholder(tf.int64, [None])
        cell = tf.nn.rnn_cell.BasicLSTMCell(units)
        _, state = tf.nn.dynamic_rnn(cell, sequences, ends, dtype=x.dtype)
        draw, zeros = tf.glorot_uniform_initializer(seed=2), tf.zeros_initializer()
        w = tf.get_variable("softmax_w", [units, 3], x.dtype, draw)
        b = tf.get_variable("softmax_b", [3], x.dtype, zeros)
        logits = tf.nn.xw_plus_b(state.h, w, b)
        # --- step
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=classes, logits=logits
            )
        )
        variables = tf.trainable_variables()
        gradients, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), limit)
        optimizer = tf.train.GradientDescentOptimizer(rate)
        step = optimizer.apply_gradients(zip(gradients, variables))
        # --- run
        sess.run(tf.global_variables_initializer())
        feed = {sequences: x, ends: lengths, classes: labels}
        history = [sess.run([loss, norm, step], feed)[:2] for _ in range(steps)]
        losses, norms = zip(*history)
        return {
            "losses": list(losses),
            "norms": list(norms),
            "variables": {v.op.name: sess.run(v) for v in variables},
            "logits": sess.run(logits, feed),
        }
