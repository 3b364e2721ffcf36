"""Metrics of the k highest scores."""

import tensorflow as tf

from v2_eager.numerics.metrics.base import Metric


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
        """
        labels = labels[:, None] if labels.shape.rank == 1 else labels
        top = tf.cast(tf.math.top_k(predictions, self.k).indices, tf.int64)
        if self.class_id is not None:
            labels, top = only(self.class_id, labels), only(self.class_id, top)
        for name, ids in (
            ("tp", tf.sets.intersection(top, labels)),
            ("fp", tf.sets.difference(top, labels)),
            ("fn", tf.sets.difference(labels, top)),
        ):
            sizes = tf.cast(tf.sets.size(ids), tf.float64)
            amount = tf.reduce_sum(sizes * tf.cast(weights, tf.float64))
            self.sums[name].assign_add(amount)


def only(class_id, ids):
    """The sets in the rows of `ids` without all but one class."""
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
    """

    def __init__(self, k):
        super().__init__({"total": [], "max": []}, tf.float64)
        self.k = k

    def update_state(self, labels, predictions, weights=1.0):
        """As of `CountsAtK`."""
        labels = labels[:, None] if labels.shape.rank == 1 else labels
        top = tf.cast(tf.math.top_k(predictions, self.k).indices, tf.int64)
        precisions = average_precisions(labels, top, predictions.shape[-1])
        weights = tf.cast(weights, tf.float64)
        self.add(
            total=tf.reduce_sum(precisions * weights),
            max=tf.reduce_sum(weights * tf.ones_like(precisions)),
        )

    def result(self):
        return tf.math.divide_no_nan(self.sums["total"], self.sums["max"])


def average_precisions(labels, top, num_classes):
    """Per row: the precisions at each rank where a label is found, over the labels."""
    hits = tf.reduce_any(top[:, :, None] == labels[:, None, :], 2)
    hits = tf.cast(hits, tf.float64)
    ranks = tf.range(1, top.shape[1] + 1, dtype=tf.float64)
    sums = tf.reduce_sum(tf.cumsum(hits, 1) / ranks * hits, 1)
    valid = tf.cast((labels >= 0) & (labels < num_classes), tf.float64)
    return sums / tf.minimum(tf.reduce_sum(valid, 1), top.shape[1])
