"""What metrics share: sums, and the fitting of labels, predictions and weights."""

import tensorflow as tf


class Metric(tf.Module):
    """What metrics share: `sums`, a dict of variables that begin at zero.

    For one of your own, write `update_state`, which calls `add`, and `result`.

    It is no `keras.metrics.Metric`, whose variables no `tf.Module` finds.

    Args:
        shapes: {name of a sum: its shape}.
        dtype: of the sums.
    """

    def __init__(self, shapes, dtype=tf.float32):
        super().__init__()
        self.sums = {
            name: tf.Variable(
                tf.zeros(shape, dtype),
                trainable=False,
                name=name,
                # As in v1: each replica adds to its own, a result sums them up.
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.SUM,
            )
            for name, shape in shapes.items()
        }

    def add(self, **amounts):
        """Adds to the sums, by name."""
        for name, amount in amounts.items():
            self.sums[name].assign_add(amount)

    def reset_state(self):
        """Begins anew."""
        for variable in self.sums.values():
            variable.assign(tf.zeros_like(variable))


def aligned(labels, predictions, weights=None):
    """The three without a last dimension of 1 that only one of them has.

    Where a rank is unknown, they are left as they come.

    Args:
        labels: tensor.
        predictions: tensor of its shape, or with one dimension of 1 more or less.
        weights: tensor of rank 0 or such a shape, or None.

    Returns:
        (labels, predictions, weights), tensors; weights may be None.

    Raises:
        ValueError: labels and predictions do not fit.
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
    """`x`, without its last dimension if that is one more than `other` has."""
    surplus = _surplus(x, other)
    if surplus is None:
        kept = tf.rank(x) - tf.cast(tf.rank(x) - tf.rank(other) == 1, tf.int32)
        return tf.reshape(x, tf.shape(x)[:kept])  # an error unless it is 1
    return tf.squeeze(x, [-1]) if surplus == 1 else x


def _with_column(x, other):
    """`x`, with a last dimension if it has one less than `other`; not of a scalar."""
    surplus = _surplus(x, other)
    if surplus is None:
        more = (tf.rank(x) - tf.rank(other) == -1) & (tf.rank(x) > 0)
        ones = tf.ones([tf.cast(more, tf.int32)], tf.int32)
        return tf.reshape(x, tf.concat([tf.shape(x), ones], 0))
    return x[..., None] if surplus == -1 else x


def _surplus(x, other):
    """How many more dimensions `x` has; None where a rank is unknown."""
    if None not in (x.shape.rank, other.shape.rank):
        return x.shape.rank - other.shape.rank


def broadcast_weights(weights, values, dtype=tf.float32):
    """Weights like `values`: of its rank and, where not 1, of its sizes.

    Args:
        weights: number, or tensor of the rank of `values`.
        values: tensor.
        dtype: of the result.

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
