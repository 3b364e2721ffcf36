"""Averages of the weights, for evaluation."""

import tensorflow as tf


def averages(start):
    with tf.Session() as sess:
        # [in short
        w = tf.get_variable("w", initializer=start)
        step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(w * w))
        ema = tf.train.ExponentialMovingAverage(decay=0.9)
        with tf.control_dependencies([step]):
            train_op = ema.apply([w])

        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(train_op)
        value = sess.run(ema.average(w))
        # in short]
        return value
