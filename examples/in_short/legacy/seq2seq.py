"""Greedy decoding."""

import tensorflow as tf
from same_weights import same_weights


def seq2seq(encoded):
    with same_weights():
        # [in short
        state = tf.placeholder(tf.float32, [None, 4])
        table = tf.get_variable("embedding", [6, 3])
        helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(
            table, start_tokens=tf.fill([tf.shape(state)[0]], 1), end_token=2
        )
        cell = tf.nn.rnn_cell.GRUCell(4)
        projection = tf.layers.Dense(6)
        decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, state, projection)
        outputs, _, lengths = tf.contrib.seq2seq.dynamic_decode(
            decoder, maximum_iterations=7
        )

        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            ids = sess.run([outputs.sample_id, lengths], {state: encoded})
        # in short]
    return ids
