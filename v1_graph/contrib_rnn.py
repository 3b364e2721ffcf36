"""`tf.contrib.rnn`: `AttentionCellWrapper`, `HighwayWrapper`, `CudnnLSTM` files."""

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

from v1_graph.rnn import draw_weights

__all__ = [
    "make_attention",
    "make_highway",
    "make_projections",
    "make_embedding_reader",
    "make_static_both_ways",
    "make_stack_both_ways",
    "run_cudnn_lstm",
    "run_cudnn_gru",
    "train_language_model",
]

# `tensorflow.contrib` exists only up to 1.15, and compat.v1 does not contain it.


def make_attention(units, window, size=None, hidden=None, name="reader"):
    """Makes a GRU that attends to its own last outputs (`AttentionCellWrapper`).

    Args:
        units: size of the state of the GRU.
        window: how many last outputs the cell attends to; zeros in the beginning.
        size: size of the outputs if it differs from `units`.
        hidden: size of the layer that scores if it differs from the size of the
            outputs.
        name: scope of `rnn/attention_cell_wrapper/kernel`, `…/bias`, `…/gru_cell/…`,
            `…/attention/attn_w`, `…/attn_v`, `…/kernel`, `…/bias` and
            `…/attn_output_projection/…`.

    Returns:
        Callable. It takes x, [batch, time, depth] floats, and optionally the lengths,
        [batch] ints. It returns the outputs, [batch, time, size], and the last state:
        the state of the GRU, the context, and the window, [batch, window * size].
    """

    def read(x, lengths=None):
        draw_weights()
        tf.get_variable_scope().set_dtype(x.dtype)  # else its own variables are float32
        cell = tensorflow.contrib.rnn.AttentionCellWrapper(
            tensorflow.contrib.rnn.GRUCell(units), window, size, hidden
        )
        return tf.nn.dynamic_rnn(cell, x, lengths, dtype=x.dtype)

    return tf.make_template(name, read)


def make_highway(units, coupled=True, carry_bias=1.0, name="reader"):
    """Makes a GRU with `HighwayWrapper`: a gate mixes its inputs and outputs.

    Args:
        units: size of the state, and the depth of the inputs.
        coupled: whether the transform gate is 1 minus the carry gate.
        carry_bias: initial bias of the carry gate.
        name: scope of the variables `rnn/carry_w`, `rnn/carry_b`, `rnn/transform_w`,
            `rnn/transform_b` and `rnn/gru_cell/…`.

    Returns:
        Callable. It takes x, [batch, time, units] floats. It returns the outputs,
        [batch, time, units], and the last state, [batch, units].
    """

    def read(x):
        draw_weights()
        tf.get_variable_scope().set_dtype(x.dtype)  # else its own variables are float32
        cell = tensorflow.contrib.rnn.HighwayWrapper(
            tensorflow.contrib.rnn.GRUCell(units), coupled, carry_bias
        )
        return tf.nn.dynamic_rnn(cell, x, dtype=x.dtype)

    return tf.make_template(name, read)


def make_projections(units, inputs, outputs, name="reader"):
    """Makes an LSTM with a dense layer before it and a dense layer after it.

    Args:
        units: size of both parts of the state.
        inputs: units of the layer before the LSTM, with ReLU.
        outputs: units of the layer after it, without activation.
        name: scope of `rnn/output_projection_wrapper/kernel` and `…/bias`. Inside of
            it are `…/input_projection_wrapper/…` and, inside of that,
            `…/basic_lstm_cell/…`.

    Returns:
        Callable. It takes x, [batch, time, depth] floats. It returns the outputs,
        [batch, time, outputs], and the last state (c, h).
    """

    def read(x):
        draw_weights()
        cell = tensorflow.contrib.rnn.BasicLSTMCell(units)
        cell = tensorflow.contrib.rnn.InputProjectionWrapper(cell, inputs, tf.nn.relu)
        cell = tensorflow.contrib.rnn.OutputProjectionWrapper(cell, outputs)
        return tf.nn.dynamic_rnn(cell, x, dtype=x.dtype)

    return tf.make_template(name, read)


def make_embedding_reader(units, classes, size, name="reader"):
    """Makes a GRU that reads word ids through an embedding (`EmbeddingWrapper`).

    Args:
        units: size of the state.
        classes: vocabulary size.
        size: size of the vectors.
        name: scope of `rnn/embedding_wrapper/embedding` and `…/gru_cell/…`.

    Returns:
        Callable. It takes ids, [batch, time, 1] ints. It returns the outputs, [batch,
        time, units] float32, and the last state, [batch, units].
    """

    def read(words):
        draw_weights()
        cell = tensorflow.contrib.rnn.EmbeddingWrapper(
            tensorflow.contrib.rnn.GRUCell(units), classes, size
        )
        return tf.nn.dynamic_rnn(cell, words, dtype=tf.float32)

    return tf.make_template(name, read)


def make_static_both_ways(units, name="reader"):
    """Makes an unrolled bidirectional LSTM that returns its outputs as a list.

    Args:
        units: size of both parts of each state.
        name: scope of `bidirectional_rnn/fw/basic_lstm_cell/…` and `…/bw/…`.

    Returns:
        Callable. It takes x, [batch, time, depth] floats, and optionally the lengths,
        [batch] ints. It returns the list of outputs, each [batch, 2 * units], and the
        last states (c, h) of both directions.
    """

    def read(x, lengths=None):
        draw_weights()
        cells = [tensorflow.contrib.rnn.BasicLSTMCell(units) for _ in range(2)]
        return tensorflow.contrib.rnn.static_bidirectional_rnn(
            *cells, inputs=tf.unstack(x, axis=1), dtype=x.dtype, sequence_length=lengths
        )

    return tf.make_template(name, read)


def make_stack_both_ways(units, layers, name="reader"):
    """Makes stacked bidirectional GRUs; a layer reads both outputs of the layer below.

    Args:
        units: size of each state.
        layers: number of layers.
        name: scope of `stack_bidirectional_rnn/cell_0/bidirectional_rnn/fw/gru_cell/…`,
            and so on.

    Returns:
        Callable. It takes x, [batch, time, depth] floats, and the lengths, [batch]
        ints. It returns the outputs of the last layer, [batch, time, 2 * units], and
        the tuples of last states of the forward and of the backward GRUs.
    """

    def read(x, lengths):
        draw_weights()
        forward, backward = (
            [tensorflow.contrib.rnn.GRUCell(units) for _ in range(layers)]
            for _ in range(2)
        )
        return tensorflow.contrib.rnn.stack_bidirectional_dynamic_rnn(
            forward, backward, x, dtype=x.dtype, sequence_length=lengths
        )

    return tf.make_template(name, read)


def run_cudnn_lstm(x, weights):
    """Runs the LSTMs of a `CudnnLSTM` checkpoint without a GPU.

    Args:
        x: [time, batch, depth] float32 array.
        weights: contents of the checkpoint below the scope of the layer:
            {"rnn/multi_rnn_cell/cell_0/cudnn_compatible_lstm_cell/kernel": [depth +
            units, 4 * units] array, "…/bias": [4 * units] array, and so on for cell_1}.

    Returns:
        {"outputs": [time, batch, units], "h": [layers, batch, units], "c": …}.

    Raises:
        KeyError: a weight is missing.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        path = "rnn/multi_rnn_cell/cell_0/cudnn_compatible_lstm_cell"
        units = weights[path + "/bias"].shape[0] // 4
        cells = [
            tensorflow.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(units)
            for _ in range(len(weights) // 2)
        ]
        cell = tensorflow.contrib.rnn.MultiRNNCell(cells)
        # --- run
        outputs, states = tf.nn.dynamic_rnn(
            cell, tf.constant(x), dtype=x.dtype, time_major=True
        )
        for variable in tf.global_variables():
            variable.load(weights[variable.op.name], sess)
        c, h = zip(*states)
        return sess.run({"outputs": outputs, "h": tf.stack(h), "c": tf.stack(c)})


def run_cudnn_gru(x, weights):
    """Runs the GRUs of a bidirectional `CudnnGRU` checkpoint without a GPU.

    Args:
        x: [time, batch, depth] float array.
        weights: contents of the checkpoint below the scope of the layer:
            {"stack_bidirectional_rnn/cell_0/bidirectional_rnn/fw/
            cudnn_compatible_gru_cell/gates/kernel": [depth + units, 2 * units] array,
            "…/gates/bias", "…/candidate/input_projection/kernel", "…/bias",
            "…/candidate/hidden_projection/kernel", "…/bias", and the same for bw and
            cell_1}.

    Returns:
        {"outputs": [time, batch, 2 * units], "h": [2 * layers, batch, units]}, the
        states in the order of CudnnGRU: forward and backward of each layer.

    Raises:
        KeyError: a weight is missing.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        path = "stack_bidirectional_rnn/cell_0/bidirectional_rnn/fw"
        bias = path + "/cudnn_compatible_gru_cell/candidate/input_projection/bias"
        units = weights[bias].shape[0]
        forward, backward = (
            [
                tensorflow.contrib.cudnn_rnn.CudnnCompatibleGRUCell(units)
                for _ in range(len(weights) // 12)
            ]
            for _ in range(2)
        )
        # --- run
        outputs, *states = tensorflow.contrib.rnn.stack_bidirectional_dynamic_rnn(
            forward, backward, tf.constant(x), dtype=x.dtype, time_major=True
        )
        for variable in tf.global_variables():
            variable.load(weights[variable.op.name], sess)
        h = [state for both in zip(*states) for state in both]
        return sess.run({"outputs": outputs, "h": tf.stack(h)})


def train_language_model(words, start, layers=2, pieces=2, epochs=2, rate=1.0):
    """Trains an LSTM language model on pieces of text; carries the state over.

    Args:
        words: [batch, time] int array; time is one more than a multiple of `pieces`.
        start: {name: float32 array} of all variables: "embedding", [words, units],
            "rnn/multi_rnn_cell/cell_0/lstm_cell/kernel", "…/bias", and so on, and
            "softmax_w" and "softmax_b".
        layers: number of LSTM layers.
        pieces: number of pieces of an epoch; gradients do not flow from one piece to
            the piece before it (truncated backpropagation).
        epochs: number of epochs.
        rate: learning rate; gradients are clipped to a global norm of 1.

    Returns:
        dict with the `losses` of the pieces, and the `variables` by name and the
        `states` after training.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- model
        batch, steps = words.shape[0], (words.shape[1] - 1) // pieces
        inputs = tf.placeholder(tf.int32, [batch, steps])
        targets = tf.placeholder(tf.int32, [batch, steps])
        classes, units = start["embedding"].shape
        embedding = tf.get_variable("embedding", [classes, units])
        vectors = tf.nn.embedding_lookup(embedding, inputs)
        cell = tensorflow.contrib.rnn.MultiRNNCell(
            [tensorflow.contrib.rnn.LSTMBlockCell(units, 0.0) for _ in range(layers)]
        )
        zeros = cell.zero_state(batch, tf.float32)
        outputs, last = tensorflow.contrib.rnn.static_rnn(
            cell, tf.unstack(vectors, axis=1), zeros
        )
        w = tf.get_variable("softmax_w", [units, classes])
        b = tf.get_variable("softmax_b", [classes])
        flat = tf.reshape(tf.concat(outputs, 1), [-1, units])
        logits = tf.reshape(tf.nn.xw_plus_b(flat, w, b), [batch, steps, classes])
        # --- step
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=targets, logits=logits
        )
        loss = tf.reduce_sum(losses) / batch
        variables = tf.trainable_variables()
        gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
        optimizer = tf.train.GradientDescentOptimizer(rate)
        step = optimizer.apply_gradients(zip(gradients, variables))
        # --- run
        for variable in variables:
            variable.load(start[variable.op.name], sess)
        history = []
        for _ in range(epochs):
            state = sess.run(zeros)
            for at in range(0, pieces * steps, steps):
                feed = {
                    inputs: words[:, at : at + steps],
                    targets: words[:, at + 1 : at + steps + 1],
                    zeros: state,
                }
                value, state, _ = sess.run([loss, last, step], feed)
                history.append(value)
        return {
            "losses": np.stack(history),
            "variables": sess.run({v.op.name: v for v in variables}),
            "states": state,
        }
