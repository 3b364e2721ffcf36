"""Momentum with gradients clipped by their global norm."""

import tensorflow as tf


def optimizers(start, targets):
    with tf.Session() as sess:
        # [in short
        w = tf.get_variable("w", initializer=start)
        loss = tf.reduce_sum(tf.square(w - targets))
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        gradients, variables = zip(*optimizer.compute_gradients(loss))
        clipped, norm = tf.clip_by_global_norm(gradients, 1.0)
        train_op = optimizer.apply_gradients(zip(clipped, variables), step)

        sess.run(tf.global_variables_initializer())
        for _ in range(5):
            sess.run(train_op)
        # in short]
        return sess.run([w, step])
