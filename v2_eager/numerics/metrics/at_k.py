"""Metrics of the k highest scores."""

import tensorflow as tf

from v2_eager.numerics.metrics.base import Metric, broadcast_weights


class CountsAtK(Metric):
    """Counts of right and wrong among the k highest scores.

    Args:
        k: how many scores count; of equal ones, those of the lower class.
        class_id: of which class to count, or None for all.
    """

    def __init__(self, k, class_id=None):
        super().__init__({"tp": [], "fp": [], "fn": []}, tf.float64)
        self.k, self.class_id = k, class_id

    def update_state(self, labels, predictions, weights=1.0):
        """Adds rows.

        Args:
            labels: [n] or [n, labels] int64 tensor of class numbers.
            predictions: [n, classes] float tensor of scores.
            weights: number, or [n] tensor.

        Raises:
            ValueError: weights of another rank; in a function that does not know it a
                tf.errors.InvalidArgumentError.
        """
        labels, top = sets_of(labels), highest(predictions, self.k)
        if self.class_id is not None:
            labels, top = only(self.class_id, labels), only(self.class_id, top)
        for name, ids in (
            ("tp", tf.sets.intersection(top, labels)),
            ("fp", tf.sets.difference(top, labels)),
            ("fn", tf.sets.difference(labels, top)),
        ):
            sizes = tf.cast(tf.sets.size(ids), tf.float64)
            amount = sizes * broadcast_weights(weights, sizes, tf.float64)
            self.sums[name].assign_add(tf.reduce_sum(amount))


def sets_of(labels):
    """The labels as [n, labels] tensor.

    Args:
        labels: [n, labels] ints, or [n] for one in each row.
    """
    labels = tf.convert_to_tensor(labels)
    return labels[:, None] if labels.shape.rank == 1 else labels


def highest(predictions, k):
    """The classes of the k highest scores.

    Args:
        predictions: [n, classes] scores.
        k: number of classes to take.

    Returns:
        [n, k] int64 tensor, the highest first.
    """
    return tf.cast(tf.math.top_k(predictions, k).indices, tf.int64)


def only(class_id, ids):
    """The sets in the rows of `ids` without all but one class.

    Args:
        class_id: the class to keep, an int.
        ids: [n, ids] ints.

    Returns:
        Sparse tensor, [n, 1] at most.
    """
    wanted = tf.fill([tf.shape(ids)[0], 1], tf.constant(class_id, ids.dtype))
    return tf.sets.intersection(wanted, ids)


class PrecisionAtK(CountsAtK):
    """`tf.metrics.precision_at_k`, float64; NaN for nothing of nothing."""

    def result(self):
        return self.sums["tp"] / (self.sums["tp"] + self.sums["fp"])


class RecallAtK(CountsAtK):
    """`tf.metrics.recall_at_k`, float64; NaN for nothing of nothing."""

    def result(self):
        return self.sums["tp"] / (self.sums["tp"] + self.sums["fn"])


class AveragePrecisionAtK(Metric):
    """`tf.metrics.average_precision_at_k`, float64.

    Args:
        k: how many scores count.

    Raises:
        ValueError: it is less than 1.
    """

    def __init__(self, k):
        if k < 1:
            raise ValueError(f"Invalid k={k}.")
        super().__init__({"total": [], "max": []}, tf.float64)
        self.k = k

    def update_state(self, labels, predictions, weights=1.0):
        """As of `CountsAtK`."""
        labels, top = sets_of(labels), highest(predictions, self.k)
        classes = tf.shape(predictions, tf.int64)[-1]
        precisions = average_precisions(labels, top, classes)
        weights = broadcast_weights(weights, precisions, tf.float64)
        self.add(total=tf.reduce_sum(precisions * weights), max=tf.reduce_sum(weights))

    def result(self):
        return tf.math.divide_no_nan(self.sums["total"], self.sums["max"])


def average_precisions(labels, top, num_classes):
    """Per row: the precisions at each rank where a label is found, over the labels.

    Args:
        labels: [n, labels] int64; those below 0 or not below `num_classes` do not
            count.
        top: [n, k] int64, as of `highest`.
        num_classes: number of classes.

    Returns:
        [n] float64 tensor; NaN for a row without labels.

    Raises:
        ValueError: another number of rows, where both are known.
        tf.errors.InvalidArgumentError: another number of rows.
    """
    labels.shape[:1].assert_is_compatible_with(top.shape[:1])
    rows = tf.shape(labels)[0], tf.shape(top)[0]
    tf.debugging.assert_equal(*rows, "labels are of another number of rows than scores")
    hits = tf.reduce_any(top[:, :, None] == labels[:, None, :], 2)
    hits = tf.cast(hits, tf.float64)
    ranks = tf.range(1, top.shape[1] + 1, dtype=tf.float64)
    sums = tf.reduce_sum(tf.cumsum(hits, 1) / ranks * hits, 1)
    valid = tf.cast((labels >= 0) & (labels < num_classes), tf.float64)
    return sums / tf.minimum(tf.reduce_sum(valid, 1), top.shape[1])
