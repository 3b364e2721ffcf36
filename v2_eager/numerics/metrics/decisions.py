"""Metrics of true and false positives and negatives, at one or several thresholds."""

import tensorflow as tf

from v2_eager.numerics.metrics.base import Metric, aligned, broadcast_weights


class Counts(Metric):
    """Weighted counts of true and false positives and negatives.

    The sums are called "tp", "fp", "tn" and "fn".

    Args:
        thresholds: list of numbers if the predictions are scores in [0, 1]: a score
            greater than a threshold is positive. None if the predictions are decisions:
            every number but 0 is positive.
    """

    def __init__(self, thresholds=None):
        shape = () if thresholds is None else (len(thresholds),)
        self.thresholds = thresholds
        super().__init__(dict.fromkeys(("tp", "fp", "tn", "fn"), shape))

    def update_state(self, labels, predictions, weights=None):
        """Adds a batch to the counts.

        Args:
            labels: tensor; 0 is negative, every other number is positive.
            predictions: tensor of the same shape.
            weights: None, or a tensor that broadcasts to the labels.

        Raises:
            tf.errors.InvalidArgumentError: a score is outside [0, 1].
        """
        labels, predictions, weights = aligned(labels, predictions, weights)
        labels = tf.cast(labels, tf.bool)
        if self.thresholds is None:
            predictions = tf.cast(predictions, tf.bool)
        else:
            predictions = in_unit_interval(predictions)
        if weights is not None:
            weights = tf.reshape(broadcast_weights(weights, predictions), [-1])
        labels, predictions = tf.reshape(labels, [-1]), tf.reshape(predictions, [-1])
        if self.thresholds is not None:
            thresholds = tf.constant(self.thresholds, tf.float32)
            predictions = predictions > thresholds[:, None]
        cases = {
            "tp": labels & predictions,
            "fp": ~labels & predictions,
            "tn": ~labels & ~predictions,
            "fn": labels & ~predictions,
        }
        for name, case in cases.items():
            case = tf.cast(case, tf.float32)
            amount = case if weights is None else case * weights
            self.sums[name].assign_add(tf.reduce_sum(amount, -1))


def in_unit_interval(scores):
    """Casts scores to float32; raises if a score is not in [0, 1].

    Args:
        scores: tensor of floats.

    Returns:
        float32 tensor.

    Raises:
        tf.errors.InvalidArgumentError: a score below 0 or above 1.
    """
    message = "predictions must be in [0, 1]"
    tf.debugging.assert_greater_equal(scores, tf.cast(0, scores.dtype), message)
    tf.debugging.assert_less_equal(scores, tf.cast(1, scores.dtype), message)
    return tf.cast(scores, tf.float32)


class TruePositives(Counts):
    """`tf.metrics.true_positives` and `tf.metrics.true_positives_at_thresholds`.

    `keras.metrics.TruePositives` counts scores above its threshold, 0.5 by default, as
    positive; without `thresholds` this class counts every score but 0.
    """

    def result(self):
        return tf.identity(self.sums["tp"])


class FalsePositives(Counts):
    """`tf.metrics.false_positives` and `tf.metrics.false_positives_at_thresholds`.

    `keras.metrics.FalsePositives` counts scores above its threshold, 0.5 by default, as
    positive; without `thresholds` this class counts every score but 0.
    """

    def result(self):
        return tf.identity(self.sums["fp"])


class TrueNegatives(Counts):
    """`tf.metrics.true_negatives` and `tf.metrics.true_negatives_at_thresholds`.

    `keras.metrics.TrueNegatives` takes scores above its threshold, 0.5 by default, as
    positive; without `thresholds` this class takes every score but 0 as positive.
    """

    def result(self):
        return tf.identity(self.sums["tn"])


class FalseNegatives(Counts):
    """`tf.metrics.false_negatives` and `tf.metrics.false_negatives_at_thresholds`.

    `keras.metrics.FalseNegatives` takes scores above its threshold, 0.5 by default, as
    positive; without `thresholds` this class takes every score but 0 as positive.
    """

    def result(self):
        return tf.identity(self.sums["fn"])


class Precision(Counts):
    """`tf.metrics.precision` and `tf.metrics.precision_at_thresholds`.

    With `thresholds`, 1e-7 is added to the divisor. `keras.metrics.Precision` counts
    scores above its threshold, 0.5 by default, as positive; without `thresholds` this
    class counts every score but 0. Keras adds no 1e-7.
    """

    def result(self):
        tp, fp = self.sums["tp"], self.sums["fp"]
        if self.thresholds is not None:
            return tp / (1e-7 + tp + fp)
        return tf.math.divide_no_nan(tp, tp + fp)


class Recall(Counts):
    """`tf.metrics.recall` and `tf.metrics.recall_at_thresholds`.

    With `thresholds`, 1e-7 is added to the divisor. `keras.metrics.Recall` counts
    scores above its threshold, 0.5 by default, as positive; without `thresholds` this
    class counts every score but 0. Keras adds no 1e-7.
    """

    def result(self):
        tp, fn = self.sums["tp"], self.sums["fn"]
        if self.thresholds is not None:
            return tp / (1e-7 + tp + fn)
        return tf.math.divide_no_nan(tp, tp + fn)


class BestF1(Counts):
    """`tf.contrib.metrics.f1_score`: the highest F1 over evenly spaced thresholds.

    Args:
        num_thresholds: number of thresholds.
    """

    def __init__(self, num_thresholds=200):
        steps = range(1, num_thresholds - 1)
        between = [step / (num_thresholds - 1) for step in steps]
        super().__init__([-1e-7, *between, 1.0 + 1e-7])

    def result(self):
        """Returns the metric so far; 0 if nothing was added."""
        tp, fp, fn = (self.sums[name] for name in ("tp", "fp", "fn"))
        precision, recall = tp / (1e-7 + tp + fp), tp / (1e-7 + tp + fn)
        return tf.reduce_max(2.0 * precision * recall / (precision + recall + 1e-7))


class FalsePositiveRate(Counts):
    """`tf.contrib.metrics.streaming_false_positive_rate`: fp / (fp + tn)."""

    def result(self):
        """Returns the metric so far; 0 if nothing was added."""
        fp, tn = self.sums["fp"], self.sums["tn"]
        return tf.math.divide_no_nan(fp, fp + tn)
