"""A cell with Luong's attention over a memory."""

import tensorflow as tf
from same_weights import same_weights


def attention(batch, memories, memory_lengths):
    with same_weights():
        # [in short
        x = tf.placeholder(tf.float32, [None, None, 3])
        memory = tf.placeholder(tf.float32, [None, None, 4])
        lengths = tf.placeholder(tf.int32, [None])
        mechanism = tf.contrib.seq2seq.LuongAttention(4, memory, lengths)
        cell = tf.nn.rnn_cell.GRUCell(4)
        cell = tf.contrib.seq2seq.AttentionWrapper(cell, mechanism, 5)
        outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)

        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            feed = {x: batch, memory: memories, lengths: memory_lengths}
            values = sess.run(outputs, feed)
        # in short]
    return values
