"""A loop and a choice in the graph."""

import tensorflow as tf


def control_flow(start):
    # [in short
    x = tf.placeholder(tf.float32, [])
    doubled = tf.while_loop(lambda v: v < 100.0, lambda v: [2.0 * v], [x])
    result = tf.cond(x > 1.0, lambda: doubled, lambda: -doubled)

    with tf.Session() as sess:
        value = sess.run(result, {x: start})
    # in short]
    return value
