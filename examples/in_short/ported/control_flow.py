"""A loop and a choice in Python, which a `tf.function` makes part of its graph."""

import tensorflow as tf


def control_flow(start):
    # [in short
    @tf.function
    def compute(x):
        doubled = x
        while doubled < 100.0:
            doubled = 2.0 * doubled
        return doubled if x > 1.0 else -doubled

    value = compute(tf.constant(start))
    # in short]
    return value.numpy()
