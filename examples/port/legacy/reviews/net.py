"""The network: words -> GRU -> sentiment, and domain behind a gradient reversal."""
from __future__ import absolute_import, division, print_function

import tensorflow as tf

from reviews.flags import FLAGS
from reviews.flip import flip_gradient


def encode(words, lengths, keep_prob):
    """The last state of a GRU that reads the word vectors."""
    with tf.variable_scope("encoder"):
        table = tf.get_variable("embedding", [FLAGS.vocabulary, FLAGS.embedding])
        vectors = tf.nn.embedding_lookup(table, words)
        vectors = tf.nn.dropout(vectors, keep_prob, seed=FLAGS.seed)
        cell = tf.nn.rnn_cell.GRUCell(FLAGS.units)
        _, state = tf.nn.dynamic_rnn(cell, vectors, lengths, dtype=tf.float32)
    return state


def sentiment_logits(state):
    with tf.variable_scope("sentiment"):
        return tf.layers.dense(state, 2, kernel_regularizer=_penalty(), name="logits")


def domain_logits(state, strength):
    with tf.variable_scope("domain"):
        flipped = flip_gradient(state, strength)
        hidden = tf.layers.dense(
            flipped,
            FLAGS.units,
            tf.nn.relu,
            kernel_regularizer=_penalty(),
            name="hidden",
        )
        kernel = tf.get_variable("kernel", [FLAGS.units, 2])
        bias = tf.get_variable("bias", [2], initializer=tf.zeros_initializer())
        return tf.nn.xw_plus_b(hidden, kernel, bias)


def _penalty():
    return tf.contrib.layers.l2_regularizer(FLAGS.l2)


def inference(words, lengths, keep_prob, strength):
    """(sentiment logits, domain logits), each [batch, 2]."""
    scale = FLAGS.init_scale
    init = tf.random_uniform_initializer(-scale, scale, seed=FLAGS.seed)
    with tf.variable_scope("reviews", initializer=init):
        state = encode(words, lengths, keep_prob)
        return sentiment_logits(state), domain_logits(state, strength)


def losses(sentiment, domain, labels, domains):
    """The total loss; its parts are in the collection "losses"."""
    # Films have no labels: their weight is zero.
    labelled = tf.to_float(tf.equal(domains, 0))
    parts = [
        tf.losses.sparse_softmax_cross_entropy(labels, sentiment, labelled),
        tf.losses.sparse_softmax_cross_entropy(domains, domain),
    ]
    for part in parts:
        tf.add_to_collection("losses", part)
    for penalty in tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES):
        tf.add_to_collection("losses", penalty)
    return tf.add_n(tf.get_collection("losses"), name="total_loss")
