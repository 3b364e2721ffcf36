"""Metrics of two numbers: covariance and Pearson correlation."""

import tensorflow as tf

from v2_eager.numerics.metrics.base import Metric, aligned, broadcast_weights


class Covariance(Metric):
    """`tf.contrib.metrics.streaming_covariance`: sample covariance, over count - 1.

    Follows `metric_ops.py` of 1.15.5's `tensorflow/contrib/metrics/python/ops`, as
    `PearsonCorrelation` does.
    """

    def __init__(self):
        sums = "count", "mean_prediction", "mean_label", "comoment"
        super().__init__(dict.fromkeys(sums, ()))

    def update_state(self, labels, predictions, weights=None):
        """Adds pairs of numbers, float32 tensors; a weight counts a pair several times.

        Labels and predictions may be exchanged.
        """
        labels, predictions, weights = aligned(labels, predictions, weights)
        if weights is None:
            number = tf.cast(tf.size(labels), tf.float32)
        else:
            weights = broadcast_weights(weights, labels)
            number = tf.reduce_sum(weights)

        def total(values):
            return tf.reduce_sum(values if weights is None else values * weights)

        after = tf.convert_to_tensor(self.sums["count"].assign_add(number))
        before = after - number
        means, lags = [], []
        for name, values in (("prediction", predictions), ("label", labels)):
            kept = self.sums[f"mean_{name}"]
            mean = tf.math.divide_no_nan(total(values), number)
            change = tf.math.divide_no_nan((mean - kept) * number, after)
            means.append(mean)
            lags.append(kept.assign_add(change) - change - mean)
        residuals = (predictions - means[0]) * (labels - means[1])
        shift = lags[0] * lags[1] * (before * number / after)
        self.add(comoment=total(residuals) + shift)

    def result(self):
        """Returns the metric so far; NaN for fewer than two pairs."""
        count = tf.convert_to_tensor(self.sums["count"])
        covariance = self.sums["comoment"] / (count - 1)
        return tf.where(count <= 1, float("nan"), covariance)


class PearsonCorrelation(tf.Module):
    """`tf.contrib.metrics.streaming_pearson_correlation`: correlation of all values.

    It is computed from three covariances. `keras.metrics.PearsonCorrelation` is the
    mean of the rows' correlations, not the correlation of all values.
    """

    def __init__(self):
        super().__init__()
        self.both, self.of_predictions, self.of_labels = (
            Covariance() for _ in range(3)
        )

    def update_state(self, labels, predictions, weights=None):
        """Adds pairs of numbers; see `Covariance`."""
        self.both.update_state(labels, predictions, weights)
        self.of_predictions.update_state(predictions, predictions, weights)
        self.of_labels.update_state(labels, labels, weights)

    def result(self):
        """Returns -1 to 1; NaN for fewer than two pairs or if one input is constant."""
        variances = self.of_predictions.result(), self.of_labels.result()
        return self.both.result() / (tf.sqrt(variances[0]) * tf.sqrt(variances[1]))

    def reset_state(self):
        """Sets all sums to zero."""
        for part in (self.both, self.of_predictions, self.of_labels):
            part.reset_state()
