"""`tf.contrib.legacy_seq2seq`: `rnn_decoder`, `attention_decoder`, … → modules."""

import functools

import numpy as np
import tensorflow as tf

from v2_eager.legacy_seq2seq.decoders import (
    AttentionDecoder,
    EmbeddingAttentionSeq2Seq,
    EmbeddingSeq2Seq,
)
from v2_eager.legacy_seq2seq.models import (
    Attending,
    BasicSeq2Seq,
    BucketModel,
    CharRNN,
    Translator,
)
from v2_eager.numerics import optimizers
from v2_eager.rnn import DRAW, basic_lstm, gru

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


def make_char_rnn(units, classes, feed_previous=False, name="model"):
    """Makes char-rnn: LSTMs that tell the next character, or write on by themselves.

    Args:
        units: size of both parts of each state, and of the vectors.
        classes: how many characters there are.
        feed_previous: whether it reads the likeliest of what it said last, and of what
            is given the first alone.
        name: scope of `embedding`, `rnnlm/softmax_w`, `rnnlm/softmax_b` and
            `rnnlm/multi_rnn_cell/cell_0/basic_lstm_cell/…`, and so on.

    Returns:
        Callable from a [batch, time] int tensor and the first state, [layers, 2, batch,
        units], c before h, to the logits, [batch * time, classes], and the last state,
        a tuple of (c, h).
    """
    return CharRNN(units, classes, feed_previous, name)


def make_basic_seq2seq(units, tied=False, name="model"):
    """Makes an encoder and a decoder of vectors, of one cell if they are tied.

    Args:
        units: size of the state of a GRU.
        tied: whether both have the same weights.
        name: scope of `basic_rnn_seq2seq/rnn/gru_cell/…` and
            `basic_rnn_seq2seq/rnn_decoder/gru_cell/…`; if tied, of
            `combined_tied_rnn_seq2seq/tied_rnn_seq2seq/gru_cell/…`.

    Returns:
        Callable from two [batch, time, depth] float tensors, of which time may differ,
        to the list of outputs of the second, [batch, units], and the last state.
    """
    return BasicSeq2Seq(units, tied, name)


def make_embedding_seq2seq(
    units, sources, classes, size, feed=False, projected=False, name="model"
):
    """Makes a translator without attention, whose outputs are logits.

    Args:
        units: size of both parts of the state of an LSTM.
        sources: how many words are read.
        classes: how many words are said.
        size: of the vectors of both.
        feed: whether it reads the likeliest of what it said last, if the call says
            nothing of that.
        projected: whether it gives outputs, [batch, units], whose logits are made by
            `proj_w` and `proj_b`; else the cell makes them.
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
    projection = None
    if projected:
        w = tf.Variable(DRAW([units, classes], tf.float32), name=f"{name}/proj_w")
        b = tf.Variable(DRAW([classes], tf.float32), name=f"{name}/proj_b")
        projection = (w, b)
    model = EmbeddingSeq2Seq(
        functools.partial(basic_lstm, units),
        sources,
        classes,
        size,
        projection,
        f"{name}/embedding_rnn_seq2seq",
        DRAW,
    )
    return Translator(model, feed)


def make_attention_decoder(
    units, outputs=None, heads=1, initial_state_attention=False, name="model"
):
    """Makes a decoder of vectors, which looks at a memory by several heads.

    Args:
        units: size of both parts of the state of an LSTM.
        outputs: size of the outputs, if it is not `units`.
        heads: how many there are.
        initial_state_attention: whether it looks by its first state; else what it first
            reads of the memory is zeros.
        name: scope of `attention_decoder/kernel`, `…/bias`, `…/AttnW_0`, `…/AttnV_0`,
            `…/Attention_0/kernel`, `…/Attention_0/bias`, and so on of all heads,
            `…/AttnOutputProjection/…` and `…/basic_lstm_cell/…`.

    Returns:
        Callable from the inputs, [batch, time, depth] floats, the memory, [batch, other
        time, size], and the first state, [2, batch, units], c before h, to the list of
        outputs, [batch, outputs], and the last state (c, h).

    Raises:
        ValueError: of the callable: no heads.
    """
    options = outputs, heads, initial_state_attention
    path = f"{name}/attention_decoder"
    return Attending(AttentionDecoder(basic_lstm(units, path), *options, path, DRAW))


def make_attention_seq2seq(
    units, sources, classes, size, feed=False, heads=1, first=False, name="model"
):
    """Makes a translator that looks at what it has read, whose outputs are logits.

    Args:
        units, sources, classes, size, feed: as of `make_embedding_seq2seq`, of a GRU.
        heads, first: `heads` and `initial_state_attention` of `make_attention_decoder`.
        name: scope of `embedding_attention_seq2seq/rnn/embedding_wrapper/…`,
            `…/embedding_attention_decoder/embedding`, and
            `…/embedding_attention_decoder/attention_decoder/…`, as there, with
            `…/output_projection_wrapper/…`.

    Returns:
        As of `make_embedding_seq2seq`.
    """
    model = EmbeddingAttentionSeq2Seq(
        functools.partial(gru, units),
        sources,
        classes,
        size,
        None,
        f"{name}/embedding_attention_seq2seq",
        DRAW,
        num_heads=heads,
        initial_state_attention=first,
    )
    return Translator(model, feed)


def sequence_loss_by_example(
    logits, targets, weights, average_across_timesteps=True, softmax_loss_function=None
):
    """Gives the cross-entropy of each sequence, weighted.

    Args:
        logits: list of [batch, classes] float tensors, one for each time.
        targets: list of as many [batch] int tensors.
        weights: list of as many [batch] float tensors.
        average_across_timesteps: whether it is divided by the sum of the weights.
        softmax_loss_function: of (labels=, logits=), in place of the cross-entropy.

    Returns:
        [batch] tensor.

    Raises:
        ValueError: lists that are not as long.
    """
    if not len(logits) == len(targets) == len(weights):
        raise ValueError(
            "Lengths of logits, weights, and targets must be the same "
            f"{len(logits)}, {len(weights)}, {len(targets)}."
        )
    loss = softmax_loss_function or tf.nn.sparse_softmax_cross_entropy_with_logits
    losses = tf.add_n(
        [
            loss(labels=target, logits=logit) * weight
            for logit, target, weight in zip(logits, targets, weights)
        ]
    )
    if average_across_timesteps:  # and no error where all weights are 0
        losses /= tf.add_n(weights) + 1e-12
    return losses


def sequence_loss(
    logits,
    targets,
    weights,
    average_across_timesteps=True,
    average_across_batch=True,
    softmax_loss_function=None,
):
    """Gives the cross-entropy of all sequences, each with its own average.

    Args:
        logits, targets, weights: as of `sequence_loss_by_example`.
        average_across_timesteps, softmax_loss_function: as there.
        average_across_batch: whether the sum is divided by the number of sequences.

    Returns:
        Scalar.

    Raises:
        ValueError: lists that are not as long.
    """
    losses = sequence_loss_by_example(
        logits, targets, weights, average_across_timesteps, softmax_loss_function
    )
    return tf.reduce_mean(losses) if average_across_batch else tf.reduce_sum(losses)


def train_with_buckets(sources, said, buckets, turns, start, rate=0.5, samples=3):
    """Trains a translator on sequences in buckets, by a sampled softmax.

    Args:
        sources: [n, time] int array, the time of the last bucket.
        said: [n, other time + 1] int array: 1, what to say, and 0 past its end.
        buckets: list of (time of the sources, of what is said), from small to large.
        turns: list of the buckets' numbers, one for each step, of the first words.
        start: {name: array} of all variables: `proj_w`, [units, classes], `proj_b`, and
            `embedding_attention_seq2seq/…`, as of `make_attention_seq2seq`, without the
            output projection.
        rate: learning rate; gradients are clipped to a norm of 5.
        samples: how many words are drawn besides the true ones, by a seed.

    Returns:
        dict with the `losses` of the steps, the `norms` of their gradients, and the
        `variables` in the end.
    """
    # --- model
    tf.random.set_seed(7)
    model = BucketModel(start)
    optimizer = optimizers.GradientDescent(rate)
    words, spoken = tf.constant(sources), tf.constant(said)

    def sampled_loss(labels, logits):
        labels, classes = labels[:, tf.newaxis], model.w.shape[1]
        return tf.nn.sampled_softmax_loss(
            tf.transpose(model.w), model.b, labels, logits, samples, classes, seed=3
        )

    # --- step
    @tf.function(autograph=False)
    def step(words, spoken):
        with tf.GradientTape() as tape:
            outputs, targets = model(words, spoken[:, :-1]), spoken[:, 1:]
            weights = tf.cast(targets > 0, model.w.dtype)
            lists = [tf.unstack(tensor, axis=1) for tensor in (targets, weights)]
            loss = sequence_loss(outputs, *lists, softmax_loss_function=sampled_loss)
        gradients = tape.gradient(loss, model.ordered)
        gradients, norm = tf.clip_by_global_norm(gradients, 5)
        optimizer.apply_gradients(zip(gradients, model.ordered))
        return loss, norm

    # --- run
    history = []
    for turn in turns:  # the step is traced once for each bucket
        read, told = buckets[turn]
        history.append(step(words[:, :read], spoken[:, : told + 1]))
    losses, norms = map(np.stack, zip(*history))
    variables = {v.name[:-2]: v.numpy() for v in model.ordered}
    return {"losses": losses, "norms": norms, "variables": variables}


def train_char_rnn(text, batch, steps, start, epochs=2, rate=0.02, decay=0.5):
    """Trains char-rnn on a text, piece by piece, and keeps its state in an epoch.

    Args:
        text: [n] int array of characters.
        batch: at how many places the text is read at once.
        steps: how many characters a piece has; what is left of the text is not read.
        start: {name: array} of all variables, as of `make_char_rnn`.
        epochs: how often to read the text.
        rate, decay: learning rate of Adam, and its factor after every epoch; gradients
            are clipped to a norm of 5.

    Returns:
        dict with the `losses` of the pieces, the last `states`, [layers, 2, batch,
        units], and all `variables` in the end.

    Raises:
        ValueError: a text that is too short for one piece.
    """
    # --- pieces
    pieces = len(text) // (batch * steps)
    if not pieces:
        raise ValueError("Not enough data. Make seq_length and batch_size small.")
    text = text[: pieces * batch * steps]
    pairs = [x.reshape(batch, -1) for x in (text, np.append(text[1:], text[0]))]
    pieces = list(zip(*(np.split(x, pieces, 1) for x in pairs)))
    # --- model
    (classes, units), dtype = start["embedding"].shape, start["embedding"].dtype
    layers, model = sum("kernel" in name for name in start), CharRNN(units, classes)
    model.build(layers, dtype)
    for variable in model.ordered:
        variable.assign(start[variable.name[:-2]])
    learning_rate = tf.Variable(rate, dtype=dtype)
    optimizer = optimizers.Adam(learning_rate).create_slots(model.ordered)

    # --- step
    @tf.function(autograph=False)
    def step(chars, targets, state):
        with tf.GradientTape() as tape:
            logits, state = model.read(chars, state)
            losses = sequence_loss_by_example(
                [logits], [tf.reshape(targets, [-1])], [tf.ones([batch * steps], dtype)]
            )
            loss = tf.reduce_sum(losses) / batch / steps
        gradients = tape.gradient(loss, model.ordered)
        gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
        optimizer.apply_gradients(zip(gradients, model.ordered))
        return loss, state

    # --- run
    history = []
    for epoch in range(epochs):
        learning_rate.assign(rate * decay**epoch)
        state = model.cell.zero_state(batch, dtype)
        for x, y in pieces:
            loss, state = step(tf.constant(x), tf.constant(y), state)
            history.append(loss.numpy())
    return {
        "losses": np.stack(history),
        "states": np.stack(state),
        "variables": {v.name[:-2]: v.numpy() for v in model.ordered},
    }
