"""A learning rate that decays with the step."""

import tensorflow as tf
from legacy_numerics import GradientDescent


def learning_rates(start):
    # [in short
    w = tf.Variable(start)
    step = tf.Variable(0, dtype=tf.int64, trainable=False)
    schedule = tf.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5, staircase=True)
    rate = tf.Variable(0.0, trainable=False)
    optimizer = GradientDescent(rate)

    @tf.function
    def train_step():
        rate.assign(schedule(step))
        optimizer.minimize(lambda: tf.reduce_sum(w * w), [w], step)

    for _ in range(6):
        train_step()
    # in short]
    return [w.numpy(), step.numpy()]
