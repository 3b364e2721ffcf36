"""Metrics of class ids: mean IoU, mean accuracy per class, Cohen's kappa."""

import tensorflow as tf

from v2_eager.numerics.metrics.base import Metric, aligned


class MeanIoU(Metric):
    """`tf.metrics.mean_iou`: mean intersection over union of the classes that occur.

    `keras.metrics.MeanIoU` counts in int64, so that weights below 1 count as 0, and
    raises no error for an invalid class id.

    Args:
        num_classes: number of classes.
    """

    def __init__(self, num_classes):
        super().__init__({"matrix": [num_classes, num_classes]}, tf.float64)

    def update_state(self, labels, predictions, weights=None):
        """Adds a batch of class ids, tensors of one shape.

        Raises:
            tf.errors.InvalidArgumentError: an invalid class id.
        """
        if weights is not None:
            weights = tf.reshape(weights, [-1])
        self.add(
            matrix=tf.math.confusion_matrix(
                tf.reshape(tf.cast(labels, tf.int64), [-1]),
                tf.reshape(tf.cast(predictions, tf.int64), [-1]),
                self.sums["matrix"].shape[0],
                weights,
                tf.float64,
            )
        )

    def result(self):
        matrix = self.sums["matrix"]
        rows = tf.cast(tf.reduce_sum(matrix, 1), tf.float32)
        columns = tf.cast(tf.reduce_sum(matrix, 0), tf.float32)
        both = tf.cast(tf.linalg.diag_part(matrix), tf.float32)
        union = columns + rows - both
        occurring = tf.reduce_sum(tf.cast(union != 0, tf.float32))
        iou = both / tf.where(union > 0, union, 1)
        return tf.math.divide_no_nan(tf.reduce_sum(iou), occurring)


class MeanPerClassAccuracy(Metric):
    """`tf.metrics.mean_per_class_accuracy`: mean over all classes, also missing ones.

    Args:
        num_classes: number of classes.
    """

    def __init__(self, num_classes):
        super().__init__({"total": [num_classes], "count": [num_classes]})

    def update_state(self, labels, predictions, weights=None):
        """Adds a batch of class ids, tensors of one shape.

        Raises:
            ValueError: the tensors have different sizes and would broadcast.
        """
        labels = tf.reshape(tf.cast(labels, tf.int64), [-1])
        predictions = tf.reshape(tf.cast(predictions, tf.int64), [-1])
        labels.shape.assert_is_compatible_with(predictions.shape)
        amounts = tf.ones_like(labels, tf.float32)
        if weights is not None:
            amounts *= tf.cast(tf.reshape(weights, [-1]), tf.float32)
        right = tf.cast(tf.equal(predictions, labels), tf.float32) * amounts
        for name, added in (("total", amounts), ("count", right)):
            variable = self.sums[name]  # of a strategy, it may have no scatter_add
            rows = labels[:, tf.newaxis]
            variable.assign(tf.tensor_scatter_nd_add(variable, rows, added))

    def result(self):
        total = tf.maximum(self.sums["total"], 0)
        return tf.reduce_mean(tf.math.divide_no_nan(self.sums["count"], total))


class CohenKappa(Metric):
    """`tf.contrib.metrics.cohen_kappa`: agreement beyond chance; 1 is full agreement.

    Args:
        num_classes: number of classes.

    Raises:
        ValueError: `num_classes` is less than 2.
    """

    def __init__(self, num_classes):
        if num_classes < 2:
            raise ValueError(f"`num_classes` must be >= 2. Found: {num_classes}")
        super().__init__({"matrix": [num_classes, num_classes]}, tf.int64)

    def update_state(self, labels, predictions):
        """Adds a batch of class ids, tensors of one shape."""
        labels, predictions, _ = aligned(labels, predictions)
        classes = self.sums["matrix"].shape[0]
        matrix = tf.math.confusion_matrix(labels, predictions, classes, None, tf.int64)
        self.add(matrix=matrix)

    def result(self):
        """Returns the metric so far as float64; 0 if nothing was added."""
        matrix = tf.convert_to_tensor(self.sums["matrix"])
        rows, columns = tf.reduce_sum(matrix, 0), tf.reduce_sum(matrix, 1)
        total = tf.cast(tf.reduce_sum(rows), tf.float64)
        by_chance = tf.cast(rows * columns, tf.float64)
        by_chance = tf.reduce_sum(tf.math.divide_no_nan(by_chance, total))
        agreed = tf.cast(tf.linalg.trace(matrix), tf.float64)
        return tf.math.divide_no_nan(agreed - by_chance, total - by_chance)
