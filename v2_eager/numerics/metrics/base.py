"""What metrics share: sums, and the fitting of labels, predictions and weights."""

import tensorflow as tf


class Metric(tf.Module):
    """What metrics share: `sums`, a dict of variables that begin at zero.

    For one of your own, write `update_state`, which calls `add`, and `result`.

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

    Of an unknown rank nothing is known, and nothing changed.

    Raises:
        ValueError: labels and predictions do not fit.
    """
    labels, predictions = (
        tf.convert_to_tensor(labels),
        tf.convert_to_tensor(predictions),
    )
    surplus = _surplus(predictions, labels)
    if surplus == 1:
        predictions = tf.squeeze(predictions, [-1])
    elif surplus == -1:
        labels = tf.squeeze(labels, [-1])
    labels.shape.assert_is_compatible_with(predictions.shape)
    if weights is not None:
        weights = tf.convert_to_tensor(weights)
        surplus = weights.shape.rank and _surplus(weights, predictions)
        if surplus == 1:
            weights = tf.squeeze(weights, [-1])
        elif surplus == -1:
            weights = weights[..., None]
    return labels, predictions, weights


def _surplus(x, other):
    """How many more dimensions `x` has; None where a rank is unknown."""
    if None not in (x.shape.rank, other.shape.rank):
        return x.shape.rank - other.shape.rank


def broadcast_weights(weights, values):
    """float32 weights like `values`: of its rank and, where not 1, of its sizes."""
    if weights.shape.rank != 0 and _surplus(weights, values) not in (0, None):
        shapes = f"{weights.shape} and {values.shape}"
        raise ValueError(f"weights can not be broadcast to values: {shapes}")
    return tf.broadcast_to(tf.cast(weights, tf.float32), tf.shape(values))
