"""Metrics that are weighted means: of values, of correct predictions, of errors."""

import tensorflow as tf

from v2_eager.numerics.metrics.base import Metric, aligned, broadcast_weights


class Mean(Metric):
    """`tf.metrics.mean`: the weighted mean of all values.

        result = sum(values * weights) / sum(weights)

    Most metrics are subclasses of it. `keras.metrics.Mean` has one sum and one count,
    whatever the shape of the values is.

    Args:
        shape: shape of the sums; () for a scalar.
    """

    def __init__(self, shape=()):
        super().__init__({"total": shape, "count": shape})

    def update_state(self, values, weights=None):
        """Adds values to the mean.

        Args:
            values: tensor of any shape and numeric or bool dtype.
            weights: None, a scalar, or a tensor of the values' rank that broadcasts to
                them.
        """
        _, values, weights = aligned(values, values, weights)
        values = tf.cast(values, tf.float32)
        counts = tf.ones_like(values)
        if weights is not None:
            counts = broadcast_weights(weights, values)
            values *= counts
        if not self.sums["total"].shape.rank:  # else each element has its own sum
            values, counts = tf.reduce_sum(values), tf.reduce_sum(counts)
        self.add(total=values, count=counts)

    def result(self):
        """Returns the metric so far; 0 if nothing was added."""
        total, count = self.sums["total"], self.sums["count"]
        return tf.math.divide_no_nan(total, tf.maximum(count, 0))


class MeanTensor(Mean):
    """`tf.metrics.mean_tensor`: the mean of each element over the updates.

    Args:
        shape: shape of the values; it must be known.
    """

    def __init__(self, shape):
        super().__init__(shape)


class PercentageBelow(Mean):
    """`tf.metrics.percentage_below`: the share (0 to 1) of values below a threshold.

    Args:
        threshold: a number.
    """

    def __init__(self, threshold):
        super().__init__()
        self.threshold = threshold

    def update_state(self, values, weights=None):
        super().update_state(tf.convert_to_tensor(values) < self.threshold, weights)


class Accuracy(Mean):
    """`tf.metrics.accuracy`: the share of predictions that equal their label.

    Predictions are cast to the labels' dtype. `keras.metrics.Accuracy` does not cast
    them: then 2.5 does not equal 2.
    """

    def update_state(self, labels, predictions, weights=None):
        labels, predictions, weights = aligned(labels, predictions, weights)
        right = tf.equal(tf.cast(predictions, labels.dtype), labels)
        super().update_state(right, weights)


class MeanAbsoluteError(Mean):
    """`tf.metrics.mean_absolute_error`: the weighted mean over all elements.

    `keras.metrics.MeanAbsoluteError` averages over the last axis first, so that its
    weights are for rows, not for elements.
    """

    def update_state(self, labels, predictions, weights=None):
        labels, predictions, weights = aligned(labels, predictions, weights)
        super().update_state(tf.abs(predictions - labels), weights)


class MeanSquaredError(Mean):
    """`tf.metrics.mean_squared_error`: the weighted mean over all elements.

    `keras.metrics.MeanSquaredError` averages over the last axis first, so that its
    weights are for rows, not for elements.
    """

    def update_state(self, labels, predictions, weights=None):
        labels, predictions, weights = aligned(labels, predictions, weights)
        squares = tf.math.squared_difference(labels, predictions)
        super().update_state(squares, weights)


class RootMeanSquaredError(MeanSquaredError):
    """`tf.metrics.root_mean_squared_error`: root of the mean over all elements.

    `keras.metrics.RootMeanSquaredError` rounds float64 to float32 before it subtracts.
    """

    def result(self):
        return tf.sqrt(super().result())


class MeanRelativeError(Mean):
    """`tf.metrics.mean_relative_error`: |error| / normalizer; 0 if normalizer is 0."""

    def update_state(self, labels, predictions, normalizer, weights=None):
        labels, predictions, weights = aligned(labels, predictions, weights)
        error = tf.abs(labels - predictions)
        normalizer = tf.convert_to_tensor(normalizer, error.dtype)
        error, normalizer, _ = aligned(error, normalizer)
        super().update_state(tf.math.divide_no_nan(error, normalizer), weights)


class MeanCosineDistance(Mean):
    """`tf.metrics.mean_cosine_distance`: the mean for unit vectors along axis `dim`.

        result = 1 - mean(sum(labels * predictions))

    Args:
        dim: axis of the vectors.
    """

    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def update_state(self, labels, predictions, weights=None):
        labels, predictions, weights = aligned(labels, predictions, weights)
        products = tf.reduce_sum(predictions * labels, self.dim, keepdims=True)
        super().update_state(products, weights)

    def result(self):
        return 1 - super().result()
