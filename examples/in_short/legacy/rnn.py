"""An LSTM over sequences of several lengths."""

import tensorflow as tf
from same_weights import same_weights


def rnn(batch, batch_lengths):
    with same_weights():
        # [in short
        x = tf.placeholder(tf.float32, [None, None, 3])
        lengths = tf.placeholder(tf.int32, [None])
        cell = tf.nn.rnn_cell.LSTMCell(4)
        outputs, state = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)

        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            values, last = sess.run(
                [outputs, state], {x: batch, lengths: batch_lengths}
            )
        # in short]
    return values, last
