"""`tf.contrib.legacy_seq2seq`: `rnn_decoder`, `attention_decoder`, … → modules."""

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

from v1_graph.rnn import draw_weights

__all__ = [
    "make_char_rnn",
    "make_basic_seq2seq",
    "make_embedding_seq2seq",
    "make_attention_decoder",
    "make_attention_seq2seq",
    "sequence_loss_by_example",
    "sequence_loss",
    "train_with_buckets",
    "train_char_rnn",
]

# compat.v1 has no contrib, nor has any version after 1.15: import `tensorflow`.


def char_rnn(chars, state, units, classes, feed_previous=False):
    """char-rnn: computes the logits of the next characters, and the last state."""
    with tf.variable_scope("rnnlm"):
        softmax_w = tf.get_variable("softmax_w", [units, classes])
        softmax_b = tf.get_variable("softmax_b", [classes])
    embedding = tf.get_variable("embedding", [classes, units])
    vectors = tf.unstack(tf.nn.embedding_lookup(embedding, chars), axis=1)

    def loop(previous, _):
        scores = tf.matmul(previous, softmax_w) + softmax_b
        chosen = tf.stop_gradient(tf.argmax(scores, 1))
        return tf.nn.embedding_lookup(embedding, chosen)

    cell = tf.nn.rnn_cell.MultiRNNCell(
        [tf.nn.rnn_cell.BasicLSTMCell(units) for _ in state]
    )
    outputs, last_state = tensorflow.contrib.legacy_seq2seq.rnn_decoder(
        vectors, state, cell, loop if feed_previous else None, scope="rnnlm"
    )
    flat = tf.reshape(tf.concat(outputs, 1), [-1, units])
    return tf.matmul(flat, softmax_w) + softmax_b, last_state


def states_of(array):
    """Converts an array to the states of stacked LSTMs."""
    pairs = [tf.unstack(layer) for layer in tf.unstack(array)]
    return tuple(tf.nn.rnn_cell.LSTMStateTuple(c, h) for c, h in pairs)


def make_char_rnn(units, classes, feed_previous=False, name="model"):
    """Makes char-rnn: LSTMs that predict the next character, or decode greedily.

    Args:
        units: size of c and h of each state, and of the vectors.
        classes: number of characters.
        feed_previous: whether to decode greedily: each input after the first is the
            argmax of the previous logits.
        name: scope of `embedding`, `rnnlm/softmax_w`, `rnnlm/softmax_b` and
            `rnnlm/multi_rnn_cell/cell_0/basic_lstm_cell/…`, and so on.

    Returns:
        Callable from a [batch, time] int tensor and the first state, [layers, 2, batch,
        units], c before h, to the logits, [batch * time, classes], and the last state,
        a tuple of (c, h).
    """

    def read(chars, state):
        draw_weights()
        tf.get_variable_scope().set_dtype(state.dtype)
        return char_rnn(chars, states_of(state), units, classes, feed_previous)

    return tf.make_template(name, read)


def make_basic_seq2seq(units, tied=False, name="model"):
    """Makes a GRU encoder and a GRU decoder of vectors; if tied, they share one cell.

    Args:
        units: size of the state of a GRU.
        tied: whether encoder and decoder share weights.
        name: scope of `basic_rnn_seq2seq/rnn/gru_cell/…` and
            `basic_rnn_seq2seq/rnn_decoder/gru_cell/…`; if tied, of
            `combined_tied_rnn_seq2seq/tied_rnn_seq2seq/gru_cell/…`.

    Returns:
        Callable from two [batch, time, depth] float tensors, whose times may differ, to
        the list of the decoder's outputs, [batch, units], and the last state.
    """

    def read(sources, inputs):
        draw_weights()
        lists = tf.unstack(sources, axis=1), tf.unstack(inputs, axis=1)
        legacy = tensorflow.contrib.legacy_seq2seq
        seq2seq = legacy.tied_rnn_seq2seq if tied else legacy.basic_rnn_seq2seq
        return seq2seq(*lists, tf.nn.rnn_cell.GRUCell(units), dtype=sources.dtype)

    return tf.make_template(name, read)


def make_embedding_seq2seq(
    units, sources, classes, size, feed=False, projected=False, name="model"
):
    """Makes a sequence-to-sequence model with embeddings, without attention.

    Args:
        units: size of c and h of an LSTM's state.
        sources: source vocabulary size.
        classes: target vocabulary size.
        size: size of the source and target vectors.
        feed: whether to decode greedily, if the call does not pass `feed_previous`.
        projected: whether the model returns outputs, [batch, units], which `proj_w` and
            `proj_b` project to logits; otherwise the model returns logits.
        name: scope of `embedding_rnn_seq2seq/rnn/embedding_wrapper/embedding`,
            `…/embedding_wrapper/basic_lstm_cell/…`,
            `embedding_rnn_seq2seq/embedding_rnn_decoder/embedding`,
            `…/rnn_decoder/output_projection_wrapper/kernel`, `…/bias` and
            `…/output_projection_wrapper/basic_lstm_cell/…`.

    Returns:
        Callable from two [batch, time] int tensors, and optionally a bool tensor, in
        place of `feed`, to the list of logits, [batch, classes] float32, and the last
        state (c, h).
    """

    def read(source, said, feed_previous=feed):
        draw_weights()
        projection = None
        if projected:
            w = tf.get_variable("proj_w", [units, classes])
            projection = (w, tf.get_variable("proj_b", [classes]))
        return tensorflow.contrib.legacy_seq2seq.embedding_rnn_seq2seq(
            tf.unstack(source, axis=1),
            tf.unstack(said, axis=1),
            tf.nn.rnn_cell.BasicLSTMCell(units),
            *(sources, classes, size),
            output_projection=projection,
            feed_previous=feed_previous,
            dtype=tf.float32,
        )

    return tf.make_template(name, read)


def make_attention_decoder(
    units, outputs=None, heads=1, initial_state_attention=False, name="model"
):
    """Makes an LSTM decoder of vectors with multi-head attention to a memory.

    Args:
        units: size of c and h of an LSTM's state.
        outputs: size of the outputs, if it is not `units`.
        heads: number of attention heads.
        initial_state_attention: whether to attend with the initial state; otherwise the
            first context is zeros.
        name: scope of `attention_decoder/kernel`, `…/bias`, `…/AttnW_0`, `…/AttnV_0`,
            `…/Attention_0/kernel`, `…/Attention_0/bias`, and so on of all heads,
            `…/AttnOutputProjection/…` and `…/basic_lstm_cell/…`.

    Returns:
        Callable from the inputs, [batch, time, depth] floats, the memory, [batch, other
        time, size], and the first state, [2, batch, units], c before h, to the list of
        outputs, [batch, outputs], and the last state (c, h).

    Raises:
        ValueError: in a call: `heads` is less than 1.
    """

    def read(x, memory, state):
        draw_weights()
        return tensorflow.contrib.legacy_seq2seq.attention_decoder(
            tf.unstack(x, axis=1),
            tf.nn.rnn_cell.LSTMStateTuple(*tf.unstack(state)),
            memory,
            tf.nn.rnn_cell.BasicLSTMCell(units),
            output_size=outputs,
            num_heads=heads,
            dtype=x.dtype,
            initial_state_attention=initial_state_attention,
        )

    return tf.make_template(name, read)


def make_attention_seq2seq(
    units, sources, classes, size, feed=False, heads=1, first=False, name="model"
):
    """Makes a sequence-to-sequence model with embeddings and attention.

    Args:
        units, sources, classes, size, feed: as for `make_embedding_seq2seq`, with a
            GRU.
        heads, first: as `heads` and `initial_state_attention` of
            `make_attention_decoder`.
        name: scope of `embedding_attention_seq2seq/rnn/embedding_wrapper/…`,
            `…/embedding_attention_decoder/embedding`, and
            `…/embedding_attention_decoder/attention_decoder/…`, as for
            `make_attention_decoder`, with `…/output_projection_wrapper/…`.

    Returns:
        As for `make_embedding_seq2seq`.
    """

    def read(source, said, feed_previous=feed):
        draw_weights()
        return tensorflow.contrib.legacy_seq2seq.embedding_attention_seq2seq(
            tf.unstack(source, axis=1),
            tf.unstack(said, axis=1),
            tf.nn.rnn_cell.GRUCell(units),
            *(sources, classes, size),
            num_heads=heads,
            feed_previous=feed_previous,
            dtype=tf.float32,
            initial_state_attention=first,
        )

    return tf.make_template(name, read)


def sequence_loss_by_example(
    logits, targets, weights, average_across_timesteps=True, softmax_loss_function=None
):
    """Computes the weighted cross-entropy of each sequence.

    Args:
        logits: list of [batch, classes] float tensors, one for each time.
        targets: list of as many [batch] int tensors.
        weights: list of as many [batch] float tensors.
        average_across_timesteps: whether to divide by the sum of the weights.
        softmax_loss_function: function of (labels=, logits=) that replaces the
            cross-entropy.

    Returns:
        [batch] tensor.

    Raises:
        ValueError: the lists have different lengths.
    """
    return tensorflow.contrib.legacy_seq2seq.sequence_loss_by_example(
        logits, targets, weights, average_across_timesteps, softmax_loss_function
    )


def sequence_loss(
    logits,
    targets,
    weights,
    average_across_timesteps=True,
    average_across_batch=True,
    softmax_loss_function=None,
):
    """Averages the weighted cross-entropy over time, then over the batch.

    Args:
        logits, targets, weights: as for `sequence_loss_by_example`.
        average_across_timesteps, softmax_loss_function: the same.
        average_across_batch: whether to divide the sum by the number of sequences.

    Returns:
        Scalar.

    Raises:
        ValueError: the lists have different lengths.
    """
    averages = average_across_timesteps, average_across_batch
    return tensorflow.contrib.legacy_seq2seq.sequence_loss(
        logits, targets, weights, *averages, softmax_loss_function
    )


def train_with_buckets(sources, said, buckets, turns, start, rate=0.5, samples=3):
    """Trains a translation model on bucketed sequences with a sampled softmax.

    Args:
        sources: [n, time] int array, the time of the last bucket.
        said: [n, other time + 1] int array, the targets: GO (1), the words, PAD (0).
        buckets: list of (time of the sources, of the targets), from small to large.
        turns: list of the buckets' numbers, one for each step. A step reads as many of
            the first words as the bucket has.
        start: {name: array} of all variables: `proj_w`, [units, classes], `proj_b`, and
            `embedding_attention_seq2seq/…`, as for `make_attention_seq2seq`, without
            the output projection.
        rate: learning rate; gradients are clipped to a norm of 5.
        samples: number of words that the sampled softmax draws, from a seed.

    Returns:
        dict with the `losses` of the steps, the `norms` of their gradients, and the
        `variables` in the end.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- model
        tf.set_random_seed(7)
        w, dtype = start["proj_w"], start["proj_w"].dtype
        tf.get_variable_scope().set_dtype(dtype)
        w, b = tf.get_variable("proj_w", w.shape), tf.get_variable("proj_b", w.shape[1])
        units, classes = w.shape.as_list()
        path = "embedding_attention_seq2seq/rnn/embedding_wrapper/embedding"
        numbers = start[path].shape[0], classes, start[path].shape[1]
        words, spoken = (
            [tf.placeholder(tf.int32, [None]) for _ in range(n)]
            for n in (sources.shape[1], said.shape[1])
        )
        weights = [tf.cast(target > 0, dtype) for target in spoken[1:]]

        def seq2seq(encoder_inputs, decoder_inputs):
            return tensorflow.contrib.legacy_seq2seq.embedding_attention_seq2seq(
                encoder_inputs,
                decoder_inputs,
                tf.nn.rnn_cell.GRUCell(units),
                *numbers,
                output_projection=(w, b),
                dtype=dtype,
            )

        def sampled_loss(labels, logits):
            labels, shape = tf.reshape(labels, [-1, 1]), (samples, classes)
            return tf.nn.sampled_softmax_loss(
                tf.transpose(w), b, labels, logits, *shape, seed=3
            )

        _, losses = tensorflow.contrib.legacy_seq2seq.model_with_buckets(
            words, spoken[:-1], spoken[1:], weights, buckets, seq2seq, sampled_loss
        )
        # --- step
        steps, variables = [], tf.trainable_variables()
        optimizer = tf.train.GradientDescentOptimizer(rate)
        for loss in losses:
            gradients, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 5)
            step = optimizer.apply_gradients(zip(gradients, variables))
            steps.append((loss, norm, step))
        # --- run
        for variable in variables:
            variable.load(start[variable.op.name], sess)
        feed = dict(zip(words + spoken, [*sources.T, *said.T]))
        history = [sess.run(steps[turn], feed)[:2] for turn in turns]
        losses, norms = map(np.stack, zip(*history))
        variables = sess.run({v.op.name: v for v in variables})
        return {"losses": losses, "norms": norms, "variables": variables}


def train_char_rnn(text, batch, steps, start, epochs=2, rate=0.02, decay=0.5):
    """Trains char-rnn on a text piece by piece; keeps the state within an epoch.

    Args:
        text: [n] int array of characters.
        batch: number of places where the text is read in parallel.
        steps: number of characters in a piece; the rest of the text is not read.
        start: {name: array} of all variables, as for `make_char_rnn`.
        epochs: number of passes over the text.
        rate, decay: learning rate of Adam, and its factor after every epoch; gradients
            are clipped to a norm of 5.

    Returns:
        dict with the `losses` of the pieces, the last `states`, [layers, 2, batch,
        units], and all `variables` in the end.

    Raises:
        ValueError: a text that is too short for one piece.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- pieces
        pieces = len(text) // (batch * steps)
        if not pieces:
            raise ValueError("Not enough data. Make seq_length and batch_size small.")
        text = text[: pieces * batch * steps]
        pairs = [x.reshape(batch, -1) for x in (text, np.append(text[1:], text[0]))]
        pieces = list(zip(*(np.split(x, pieces, 1) for x in pairs)))
        # --- model
        (classes, units), dtype = start["embedding"].shape, start["embedding"].dtype
        tf.get_variable_scope().set_dtype(dtype)
        chars, targets = (tf.placeholder(tf.int32, [batch, steps]) for _ in range(2))
        layers = sum("kernel" in name for name in start)
        state = states_of(tf.zeros([layers, 2, batch, units], dtype))
        logits, last = char_rnn(chars, state, units, classes)
        # --- step
        losses = tensorflow.contrib.legacy_seq2seq.sequence_loss_by_example(
            [logits], [tf.reshape(targets, [-1])], [tf.ones([batch * steps], dtype)]
        )
        loss = tf.reduce_sum(losses) / batch / steps
        learning_rate = tf.Variable(0.0, trainable=False, dtype=dtype)
        variables = tf.trainable_variables()
        gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
        optimizer = tf.train.AdamOptimizer(learning_rate)
        step = optimizer.apply_gradients(zip(gradients, variables))
        # --- run
        sess.run(tf.global_variables_initializer())
        for variable in variables:
            variable.load(start[variable.op.name], sess)
        history = []
        for epoch in range(epochs):
            sess.run(tf.assign(learning_rate, rate * decay**epoch))
            last_state = sess.run(state)
            for x, y in pieces:
                feed = {chars: x, targets: y, state: last_state}
                value, last_state, _ = sess.run([loss, last, step], feed)
                history.append(value)
        return {
            "losses": np.stack(history),
            "states": np.stack(last_state),
            "variables": sess.run({v.op.name: v for v in variables}),
        }
