"""The base class of metrics, and functions that align labels, predictions, weights."""

import tensorflow as tf


class Metric(tf.Module):
    """The base class of metrics: `sums` is a dict of variables that begin at zero.

    A subclass defines `update_state`, which calls `add`, and `result`.

    It is not a `keras.metrics.Metric`: a `tf.Module` does not find the variables of
    Keras metrics.

    Args:
        shapes: {name of a sum: shape}.
        dtype: dtype of the sums.
    """

    def __init__(self, shapes, dtype=tf.float32):
        super().__init__()
        self.sums = {
            name: tf.Variable(
                tf.zeros(shape, dtype),
                trainable=False,
                name=name,
                # As in v1: each replica adds to its own sum; a result adds these up.
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.SUM,
            )
            for name, shape in shapes.items()
        }

    def add(self, **amounts):
        """Adds amounts to the sums of these names."""
        for name, amount in amounts.items():
            self.sums[name].assign_add(amount)

    def reset_state(self):
        """Sets all sums to zero."""
        for variable in self.sums.values():
            variable.assign(tf.zeros_like(variable))


def aligned(labels, predictions, weights=None):
    """Removes or adds a last dimension of 1, so that all three have the same rank.

    If a rank is unknown, the tensors remain as they are.

    Args:
        labels: tensor.
        predictions: tensor of the labels' shape, or with a last dimension of 1 more or
            less.
        weights: tensor of rank 0 or of such a shape, or None.

    Returns:
        (labels, predictions, weights), tensors; weights may be None.

    Raises:
        ValueError: the shapes of labels and predictions do not match.
    """
    labels, predictions = (
        tf.convert_to_tensor(labels),
        tf.convert_to_tensor(predictions),
    )
    given = labels
    labels = _without_column(labels, predictions)
    predictions = _without_column(predictions, given)
    labels.shape.assert_is_compatible_with(predictions.shape)
    if weights is not None:
        weights = tf.convert_to_tensor(weights)
        if weights.shape.rank != 0:
            weights = _without_column(weights, predictions)
            weights = _with_column(weights, predictions)
    return labels, predictions, weights


def _without_column(x, other):
    """Removes the last dimension of `x` if `x` has one dimension more than `other`."""
    surplus = _surplus(x, other)
    if surplus is None:
        kept = tf.rank(x) - tf.cast(tf.rank(x) - tf.rank(other) == 1, tf.int32)
        return tf.reshape(x, tf.shape(x)[:kept])  # raises if that dimension is not 1
    return tf.squeeze(x, [-1]) if surplus == 1 else x


def _with_column(x, other):
    """Adds a last dimension to `x` if `other` has one more and `x` is not a scalar."""
    surplus = _surplus(x, other)
    if surplus is None:
        more = (tf.rank(x) - tf.rank(other) == -1) & (tf.rank(x) > 0)
        ones = tf.ones([tf.cast(more, tf.int32)], tf.int32)
        return tf.reshape(x, tf.concat([tf.shape(x), ones], 0))
    return x[..., None] if surplus == -1 else x


def _surplus(x, other):
    """Returns how many more dimensions `x` has than `other`; None if not known."""
    if None not in (x.shape.rank, other.shape.rank):
        return x.shape.rank - other.shape.rank


def broadcast_weights(weights, values, dtype=tf.float32):
    """Broadcasts weights to the shape of `values`; their ranks must be equal.

    Args:
        weights: number, or tensor of the rank of `values`.
        values: tensor.
        dtype: dtype of the result.

    Returns:
        Tensor of the shape of `values`.

    Raises:
        ValueError: weights of another rank.
    """
    weights = tf.cast(weights, dtype)
    if weights.shape.rank != 0 and _surplus(weights, values) not in (0, None):
        shapes = f"{weights.shape} and {values.shape}"
        raise ValueError(f"weights can not be broadcast to values: {shapes}")
    return tf.broadcast_to(weights, tf.shape(values))
