"""Random numbers with seeds, and initial weights, as TensorFlow 1 drew them."""

import tensorflow as tf
from legacy_numerics import kernel_seeds, stream, truncated_normal


def randomness():
    # [in short
    tf.random.set_seed(42)
    init = truncated_normal(stddev=0.1, seed=7)
    w = tf.Variable(init([3, 2]), name="w")
    noise = stream(*kernel_seeds(42, 1)).normal([4])
    # in short]
    return [w.numpy(), noise.numpy()]
