"""A gradient penalty: a tape in a tape."""

import tensorflow as tf


def gradients(batch):
    # [in short
    @tf.function
    def penalize(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                score = tf.reduce_sum(tf.sin(x) * x, axis=1)
            slope = inner.gradient(score, x)
            penalty = tf.reduce_mean(tf.square(tf.norm(slope, axis=1) - 1.0))
        return penalty, outer.gradient(penalty, x)

    values = penalize(tf.constant(batch))
    # in short]
    return [value.numpy() for value in values]
