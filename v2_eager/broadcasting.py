"""`tf.tile`, `tf.concat` → broadcasting; shapes that broadcast by mistake."""

import tensorflow as tf

from v2_eager.numerics import initializers

__all__ = [
    "add_tiled",
    "add_broadcast",
    "make_dense_of_concatenation",
    "make_merge",
    "sum_of_broadcast",
]


def add_tiled(matrix, column):
    """Adds a column to every column of a matrix, with an explicit `tf.tile`."""
    return matrix + tf.tile(column, [1, tf.shape(matrix)[1]])


def add_broadcast(matrix, column):
    """Adds a column to every column of a matrix by broadcasting."""
    return matrix + column


def make_dense_of_concatenation(units, name="tiled"):
    """Makes a dense layer that tiles a context and concatenates it to the features.

    Returns a `DenseOfConcatenation`; see the class.
    """
    return DenseOfConcatenation(units, name)


class DenseOfConcatenation(tf.Module):
    """Tiles a context, concatenates it to features, and applies a dense layer and ReLU.

    A call takes [batch, steps, features] and [batch, 1, context] floats and returns
    [batch, steps, units]. The first call makes the variables.

    Args:
        units: size of the last output dimension.
        name: scope of the variables `kernel`, [features + context, units], and `bias`.
    """

    def __init__(self, units, name):
        super().__init__()  # tf.Module allows no "/" in a name: `path` has it
        self.units, self.path = units, name
        self.kernel = None

    @property
    def built(self):
        """Whether the variables exist."""
        return self.kernel is not None

    def __call__(self, features, context):
        tiled = tf.tile(context, [1, tf.shape(features)[1], 1])
        both = tf.concat([features, tiled], axis=2)
        if self.kernel is None:
            shape = [features.shape[2] + context.shape[2], self.units]
            kernel = initializers.glorot_uniform(seed=1)(shape, features.dtype)
            bias = tf.zeros([self.units], features.dtype)
            with tf.name_scope(""):  # no outer scope becomes part of the names
                self.kernel = tf.Variable(kernel, name=f"{self.path}/kernel")
                self.bias = tf.Variable(bias, name=f"{self.path}/bias")
        return tf.nn.relu(tf.nn.bias_add(tf.tensordot(both, self.kernel, 1), self.bias))


def make_merge(units, name="merge"):
    """Makes a dense layer that adds products of features and context by broadcasting.

    Returns a `Merge`; see the class.
    """
    return Merge(units, name)


class Merge(tf.Module):
    """Computes `DenseOfConcatenation` as two products, added by broadcasting.

    A call takes [batch, steps, features] and [batch, 1, context] floats and returns
    [batch, steps, units]. The first call makes the variables. No tiled copy is made.

    Args:
        units: size of the last output dimension.
        name: scope of the variables `features`, [features, units], `context`, [context,
            units], and `bias`.
    """

    def __init__(self, units, name):
        super().__init__()
        self.units, self.path = units, name
        self.kernels = {}

    @property
    def built(self):
        """Whether the variables exist."""
        return bool(self.kernels)

    def build(self, sizes, dtype):
        draw = initializers.glorot_uniform(seed=1)
        with tf.name_scope(""):  # no outer scope becomes part of the names
            for key, size in sizes.items():
                kernel = draw([size, self.units], dtype)
                self.kernels[key] = tf.Variable(kernel, name=f"{self.path}/{key}")
            bias = tf.zeros([self.units], dtype)
            self.bias = tf.Variable(bias, name=f"{self.path}/bias")

    def __call__(self, features, context):
        inputs = {"features": features, "context": context}
        if not self.kernels:
            self.build({k: x.shape[2] for k, x in inputs.items()}, features.dtype)
        total = 0.0
        for key, tensor in inputs.items():
            total += tf.tensordot(tensor, self.kernels[key], 1)
        return tf.nn.relu(tf.nn.bias_add(total, self.bias))


def sum_of_broadcast(a, b, axis=None):
    """Sums a + b; with `axis`, the result's shape reveals an unintended broadcast."""
    return tf.reduce_sum(a + b, axis)
