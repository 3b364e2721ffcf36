"""Metrics of how two numbers vary together."""

import tensorflow as tf

from v2_eager.numerics.metrics.base import Metric, aligned, broadcast_weights


class Covariance(Metric):
    """`tf.contrib.metrics.streaming_covariance`, of a sample: divided by count - 1.

    Follows `metric_ops.py` of 1.15.5's `tensorflow/contrib/metrics/python/ops`; so does
    `PearsonCorrelation`.
    """

    def __init__(self):
        sums = "count", "mean_prediction", "mean_label", "comoment"
        super().__init__(dict.fromkeys(sums, ()))

    def update_state(self, labels, predictions, weights=None):
        """Adds pairs of numbers, float32 tensors; a weight says how often a pair is.

        The order of both does not matter.
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
        """The metric so far: NaN of less than two pairs."""
        count = tf.convert_to_tensor(self.sums["count"])
        covariance = self.sums["comoment"] / (count - 1)
        return tf.where(count <= 1, float("nan"), covariance)


class PearsonCorrelation(tf.Module):
    """`tf.contrib.metrics.streaming_pearson_correlation`, from three covariances.

    `keras.metrics.PearsonCorrelation` is the mean of the correlations of all rows, not
    the correlation of all values.
    """

    def __init__(self):
        super().__init__()
        self.both, self.of_predictions, self.of_labels = (
            Covariance() for _ in range(3)
        )

    def update_state(self, labels, predictions, weights=None):
        """Adds pairs; see `Covariance`."""
        self.both.update_state(labels, predictions, weights)
        self.of_predictions.update_state(predictions, predictions, weights)
        self.of_labels.update_state(labels, labels, weights)

    def result(self):
        """From -1 to 1; NaN of less than two pairs, or if one of both is constant."""
        variances = self.of_predictions.result(), self.of_labels.result()
        return self.both.result() / (tf.sqrt(variances[0]) * tf.sqrt(variances[1]))

    def reset_state(self):
        """Begins anew."""
        for part in (self.both, self.of_predictions, self.of_labels):
            part.reset_state()
