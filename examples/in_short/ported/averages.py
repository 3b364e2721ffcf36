"""Averages of the weights, for evaluation."""

import tensorflow as tf
from legacy_numerics import ExponentialMovingAverage, GradientDescent


def averages(start):
    # [in short
    w = tf.Variable(start)
    optimizer = GradientDescent(0.1)
    ema = ExponentialMovingAverage(decay=0.9).create([w])

    @tf.function
    def train_step():
        optimizer.minimize(lambda: tf.reduce_sum(w * w), [w])
        ema.apply([w])

    for _ in range(3):
        train_step()
    value = ema.average(w)
    # in short]
    return value.numpy()
