"""A gradient penalty: a gradient of a gradient."""

import tensorflow as tf


def gradients(batch):
    # [in short
    x = tf.placeholder(tf.float32, [None, 3])
    score = tf.reduce_sum(tf.sin(x) * x, axis=1)
    slope = tf.gradients(score, x)[0]
    penalty = tf.reduce_mean(tf.square(tf.norm(slope, axis=1) - 1.0))
    of_penalty = tf.gradients(penalty, x)[0]

    with tf.Session() as sess:
        values = sess.run([penalty, of_penalty], {x: batch})
    # in short]
    return values
