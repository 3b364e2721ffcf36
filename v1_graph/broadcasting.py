"""`tf.tile`, `tf.concat` → broadcasting; shapes that broadcast by mistake."""

import tensorflow.compat.v1 as tf

__all__ = [
    "add_tiled",
    "add_broadcast",
    "make_dense_of_concatenation",
    "make_merge",
    "sum_of_broadcast",
]


def add_tiled(matrix, column):
    """Adds a column to every column of a matrix, with an explicit `tf.tile`.

    Args:
        matrix: [rows, columns] tensor.
        column: [rows, 1] tensor of the same dtype.

    Returns:
        [rows, columns] tensor.
    """
    return matrix + tf.tile(column, [1, tf.shape(matrix)[1]])


def add_broadcast(matrix, column):
    """Adds a column to every column of a matrix by broadcasting.

    Args:
        matrix: [rows, columns] tensor.
        column: [rows, 1] tensor of the same dtype.

    Returns:
        [rows, columns] tensor, equal to that of `add_tiled`, without its copy.
    """
    return matrix + column


def make_dense_of_concatenation(units, name="tiled"):
    """Makes a dense layer that tiles a context and concatenates it to the features.

    Args:
        units: size of the last output dimension.
        name: scope of the variables `kernel` and `bias`.

    Returns:
        Callable from a [batch, steps, features] and a [batch, 1, context] tensor to
        [batch, steps, units].
    """

    def dense(features, context):
        tiled = tf.tile(context, [1, tf.shape(features)[1], 1])
        both = tf.concat([features, tiled], axis=2)
        kernel = tf.get_variable(
            "kernel",
            [features.shape[2].value + context.shape[2].value, units],
            features.dtype,
            tf.glorot_uniform_initializer(seed=1, dtype=features.dtype),
        )
        bias = tf.get_variable("bias", [units], features.dtype, tf.zeros_initializer())
        return tf.nn.relu(tf.nn.bias_add(tf.tensordot(both, kernel, 1), bias))

    return tf.make_template(name, dense)


def make_merge(units, name="merge"):
    """Makes a dense layer that adds products of features and context by broadcasting.

    Args:
        units: size of the last output dimension.
        name: scope of the variables `features`, `context` and `bias`.

    Returns:
        Callable from a [batch, steps, features] and a [batch, 1, context] tensor to
        [batch, steps, units].
    """

    def merge(features, context):
        total = 0.0
        for key, tensor in [("features", features), ("context", context)]:
            kernel = tf.get_variable(
                key,
                [tensor.shape[2].value, units],
                tensor.dtype,
                tf.glorot_uniform_initializer(seed=1, dtype=tensor.dtype),
            )
            total += tf.tensordot(tensor, kernel, 1)
        bias = tf.get_variable("bias", [units], features.dtype, tf.zeros_initializer())
        return tf.nn.relu(tf.nn.bias_add(total, bias))

    return tf.make_template(name, merge)


def sum_of_broadcast(a, b, axis=None):
    """Sums a + b; with `axis`, the result's shape reveals an unintended broadcast.

    Args:
        a: tensor.
        b: tensor that broadcasts with `a`.
        axis: the axis to sum over; None sums over all of them, which hides the mistake.

    Returns:
        The sum, a scalar when `axis` is None.
    """
    return tf.reduce_sum(a + b, axis)
