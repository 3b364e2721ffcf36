"""A learning rate that decays with the global step."""

import tensorflow as tf


def learning_rates(start):
    with tf.Session() as sess:
        # [in short
        w = tf.get_variable("w", initializer=start)
        step = tf.train.get_or_create_global_step()
        rate = tf.train.exponential_decay(0.1, step, 2, 0.5, staircase=True)
        optimizer = tf.train.GradientDescentOptimizer(rate)
        train_op = optimizer.minimize(tf.reduce_sum(w * w), global_step=step)

        sess.run(tf.global_variables_initializer())
        for _ in range(6):
            sess.run(train_op)
        # in short]
        return sess.run([w, step])
