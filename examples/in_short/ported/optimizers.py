"""Momentum with gradients clipped by their global norm."""

import tensorflow as tf
from legacy_numerics import Momentum


def optimizers(start, targets):
    # [in short
    w = tf.Variable(start, name="w")
    step = tf.Variable(0, dtype=tf.int64, trainable=False, name="global_step")
    optimizer = Momentum(0.1, 0.9).create_slots([w])

    @tf.function
    def train_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(w - targets))
        gradients = tape.gradient(loss, [w])
        clipped, norm = tf.clip_by_global_norm(gradients, 1.0)
        optimizer.apply_gradients(zip(clipped, [w]), step)

    for _ in range(5):
        train_step()
    # in short]
    return [w.numpy(), step.numpy()]
