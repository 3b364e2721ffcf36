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
    """Makes char-rnn: LSTMs that predict the next character, or decode greedily.

    Returns a `CharRNN`; see the class.
    """
    return CharRNN(units, classes, feed_previous, name)


def make_basic_seq2seq(units, tied=False, name="model"):
    """Makes a GRU encoder and a GRU decoder of vectors; if tied, they share one cell.

    Returns a `BasicSeq2Seq`; see the class.
    """
    return BasicSeq2Seq(units, tied, name)


def make_embedding_seq2seq(
    units, sources, classes, size, feed=False, projected=False, name="model"
):
    """Makes a sequence-to-sequence model with embeddings, without attention.

    Returns a `Translator`; see the class.
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
    """Makes an LSTM decoder of vectors with multi-head attention to a memory.

    Returns an `Attending`; see the class.
    """
    options = outputs, heads, initial_state_attention
    path = f"{name}/attention_decoder"
    return Attending(AttentionDecoder(basic_lstm(units, path), *options, path, DRAW))


def make_attention_seq2seq(
    units, sources, classes, size, feed=False, heads=1, first=False, name="model"
):
    """Makes a sequence-to-sequence model with embeddings and attention.

    Returns a `Translator`; see the class.
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
    """Computes the weighted cross-entropy of each sequence."""
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
    if average_across_timesteps:  # no error if all weights are 0
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
    """Averages the weighted cross-entropy over time, then over the batch."""
    losses = sequence_loss_by_example(
        logits, targets, weights, average_across_timesteps, softmax_loss_function
    )
    return tf.reduce_mean(losses) if average_across_batch else tf.reduce_sum(losses)


def train_with_buckets(sources, said, buckets, turns, start, rate=0.5, samples=3):
    """Trains a translation model on bucketed sequences with a sampled softmax."""
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
    """Trains char-rnn on a text piece by piece; keeps the state within an epoch."""
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
