"""Metrics of the k highest scores: precision, recall and average precision at k."""

import tensorflow as tf

from v2_eager.numerics.metrics.base import Metric, broadcast_weights


class CountsAtK(Metric):
    """Counts true positives, false positives and false negatives of the top k classes.

    Args:
        k: number of highest scores; of equal scores, the lower class id comes first.
        class_id: the only class to count, or None for all classes.
    """

    def __init__(self, k, class_id=None):
        super().__init__({"tp": [], "fp": [], "fn": []}, tf.float64)
        self.k, self.class_id = k, class_id

    def update_state(self, labels, predictions, weights=1.0):
        """Adds a batch to the counts.

        Args:
            labels: [n] or [n, labels] int64 tensor of class ids.
            predictions: [n, classes] float tensor of scores.
            weights: number, or [n] tensor.

        Raises:
            ValueError: weights of another rank. If the rank is unknown while tracing,
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
    """Returns the labels as an [n, labels] tensor.

    Args:
        labels: [n, labels] ints, or [n] for one label per row.
    """
    labels = tf.convert_to_tensor(labels)
    return labels[:, None] if labels.shape.rank == 1 else labels


def highest(predictions, k):
    """Returns the class ids of the k highest scores of each row.

    Args:
        predictions: [n, classes] scores.
        k: number of classes to take.

    Returns:
        [n, k] int64 tensor, the highest first.
    """
    return tf.cast(tf.math.top_k(predictions, k).indices, tf.int64)


def only(class_id, ids):
    """Keeps only one class id in each row of `ids`.

    Args:
        class_id: the class to keep, an int.
        ids: [n, ids] ints.

    Returns:
        Sparse tensor, [n, 1] at most.
    """
    wanted = tf.fill([tf.shape(ids)[0], 1], tf.constant(class_id, ids.dtype))
    return tf.sets.intersection(wanted, ids)


class PrecisionAtK(CountsAtK):
    """`tf.metrics.precision_at_k`: share of the top k classes that are labels.

    The result is float64, and NaN if nothing was counted.
    """

    def result(self):
        return self.sums["tp"] / (self.sums["tp"] + self.sums["fp"])


class RecallAtK(CountsAtK):
    """`tf.metrics.recall_at_k`: share of the labels that are among the top k classes.

    The result is float64, and NaN if there was no label.
    """

    def result(self):
        return self.sums["tp"] / (self.sums["tp"] + self.sums["fn"])


class AveragePrecisionAtK(Metric):
    """`tf.metrics.average_precision_at_k`, as float64.

    Args:
        k: number of highest scores.

    Raises:
        ValueError: `k` is less than 1.
    """

    def __init__(self, k):
        if k < 1:
            raise ValueError(f"Invalid k={k}.")
        super().__init__({"total": [], "max": []}, tf.float64)
        self.k = k

    def update_state(self, labels, predictions, weights=1.0):
        """Adds a batch; see `CountsAtK.update_state`."""
        labels, top = sets_of(labels), highest(predictions, self.k)
        classes = tf.shape(predictions, tf.int64)[-1]
        precisions = average_precisions(labels, top, classes)
        weights = broadcast_weights(weights, precisions, tf.float64)
        self.add(total=tf.reduce_sum(precisions * weights), max=tf.reduce_sum(weights))

    def result(self):
        return tf.math.divide_no_nan(self.sums["total"], self.sums["max"])


def average_precisions(labels, top, num_classes):
    """Computes the average precision of each row.

    It sums the precisions at the ranks where the top k has a label, and divides by the
    number of labels, k at most.

    Args:
        labels: [n, labels] int64; labels outside of [0, `num_classes`) do not count.
        top: [n, k] int64, as `highest` returns it.
        num_classes: number of classes.

    Returns:
        [n] float64 tensor; NaN for a row without labels.

    Raises:
        ValueError: labels and top differ in their static number of rows.
        tf.errors.InvalidArgumentError: labels and top differ in their number of rows at
            run time.
    """
    labels.shape[:1].assert_is_compatible_with(top.shape[:1])
    rows = tf.shape(labels)[0], tf.shape(top)[0]
    tf.debugging.assert_equal(
        *rows, "labels and scores must have the same number of rows"
    )
    hits = tf.reduce_any(top[:, :, None] == labels[:, None, :], 2)
    hits = tf.cast(hits, tf.float64)
    ranks = tf.range(1, top.shape[1] + 1, dtype=tf.float64)
    sums = tf.reduce_sum(tf.cumsum(hits, 1) / ranks * hits, 1)
    valid = tf.cast((labels >= 0) & (labels < num_classes), tf.float64)
    return sums / tf.minimum(tf.reduce_sum(valid, 1), top.shape[1])
