"""Draws with seeds, and weights that begin as they did."""

import tensorflow as tf


def randomness():
    # [in short
    tf.set_random_seed(42)
    init = tf.truncated_normal_initializer(stddev=0.1, seed=7)
    w = tf.get_variable("w", [3, 2], initializer=init)
    noise = tf.random_normal([4], seed=1)

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        values = sess.run([w, noise])
    # in short]
    return values
