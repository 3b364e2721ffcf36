"""A batch norm in training, and its moving averages."""

import tensorflow as tf
from legacy_numerics import BatchNorm


def contrib_norms(batch):
    # [in short
    norm = BatchNorm(momentum=0.9)
    norm.build(3, tf.float32)

    @tf.function
    def train_step(x):
        return tf.reduce_sum(norm(x, training=True) * x)  # stands for a step

    for _ in range(3):
        train_step(batch)
    values = norm(tf.constant(batch), training=False)
    # in short]
    return values.numpy()
