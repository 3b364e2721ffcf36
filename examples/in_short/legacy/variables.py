"""Variables of a scope, shared by two calls."""

import tensorflow as tf
from same_weights import same_weights


def variables(left, right):
    with same_weights():
        # [in short
        def embed(x):
            with tf.variable_scope("embed", reuse=tf.AUTO_REUSE):
                w = tf.get_variable("w", [3, 2])
                b = tf.get_variable("b", [2], initializer=tf.zeros_initializer())
                return tf.nn.tanh(tf.matmul(x, w) + b)

        distance = tf.norm(embed(left) - embed(right), axis=1)

        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            value = sess.run(distance)
        # in short]
    return value
