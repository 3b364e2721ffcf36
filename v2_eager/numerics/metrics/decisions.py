"""Metrics that count right and wrong decisions, at one threshold or several."""

import tensorflow as tf

from v2_eager.numerics.metrics.base import Metric, aligned, broadcast_weights


class Counts(Metric):
    """Weighted counts of right and wrong decisions: sums "tp", "fp", "tn", "fn".

    Args:
        thresholds: list of numbers, where predictions are scores in [0, 1]: a score
            greater than a threshold is a yes; None where they are yes or no.
    """

    def __init__(self, thresholds=None):
        shape = () if thresholds is None else (len(thresholds),)
        self.thresholds = thresholds
        super().__init__(dict.fromkeys(("tp", "fp", "tn", "fn"), shape))

    def update_state(self, labels, predictions, weights=None):
        """Adds decisions.

        Args:
            labels: tensor, not 0 for yes.
            predictions: tensor of its shape.
            weights: None, or a tensor that broadcasts.

        Raises:
            tf.errors.InvalidArgumentError: scores outside [0, 1].
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
    """Casts scores to float32; raises unless all are in [0, 1].

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
    """`tf.metrics.true_positives`, and `…_at_thresholds`.

    `keras.metrics.TruePositives` takes scores above its threshold, 0.5 by default, for
    positive; without `thresholds` this class takes all but 0.
    """

    def result(self):
        return tf.identity(self.sums["tp"])


class FalsePositives(Counts):
    """`tf.metrics.false_positives`, and `…_at_thresholds`.

    `keras.metrics.FalsePositives` takes scores above its threshold, 0.5 by default, for
    positive; without `thresholds` this class takes all but 0.
    """

    def result(self):
        return tf.identity(self.sums["fp"])


class TrueNegatives(Counts):
    """`tf.metrics.true_negatives`, and `…_at_thresholds`.

    `keras.metrics.TrueNegatives` takes scores above its threshold, 0.5 by default, for
    positive; without `thresholds` this class takes all but 0.
    """

    def result(self):
        return tf.identity(self.sums["tn"])


class FalseNegatives(Counts):
    """`tf.metrics.false_negatives`, and `…_at_thresholds`.

    `keras.metrics.FalseNegatives` takes scores above its threshold, 0.5 by default, for
    positive; without `thresholds` this class takes all but 0.
    """

    def result(self):
        return tf.identity(self.sums["fn"])


class Precision(Counts):
    """`tf.metrics.precision`, and `…_at_thresholds`, which divides otherwise.

    `keras.metrics.Precision` takes scores above its threshold, 0.5 by default, for
    positive; without `thresholds` this class takes all but 0. Keras adds no 1e-7 where
    it divides.
    """

    def result(self):
        tp, fp = self.sums["tp"], self.sums["fp"]
        if self.thresholds is not None:
            return tp / (1e-7 + tp + fp)
        return tf.math.divide_no_nan(tp, tp + fp)


class Recall(Counts):
    """`tf.metrics.recall`, and `…_at_thresholds`, which divides otherwise.

    `keras.metrics.Recall` takes scores above its threshold, 0.5 by default, for
    positive; without `thresholds` this class takes all but 0. Keras adds no 1e-7 where
    it divides.
    """

    def result(self):
        tp, fn = self.sums["tp"], self.sums["fn"]
        if self.thresholds is not None:
            return tp / (1e-7 + tp + fn)
        return tf.math.divide_no_nan(tp, tp + fn)


class BestF1(Counts):
    """`tf.contrib.metrics.f1_score`: the highest F1 of evenly spaced thresholds.

    Args:
        num_thresholds: number of the thresholds.
    """

    def __init__(self, num_thresholds=200):
        steps = range(1, num_thresholds - 1)
        between = [step / (num_thresholds - 1) for step in steps]
        super().__init__([-1e-7, *between, 1.0 + 1e-7])

    def result(self):
        """The metric so far: 0 for nothing."""
        tp, fp, fn = (self.sums[name] for name in ("tp", "fp", "fn"))
        precision, recall = tp / (1e-7 + tp + fp), tp / (1e-7 + tp + fn)
        return tf.reduce_max(2.0 * precision * recall / (precision + recall + 1e-7))


class FalsePositiveRate(Counts):
    """`tf.contrib.metrics.streaming_false_positive_rate`: of what is a no."""

    def result(self):
        """The metric so far: 0 for nothing."""
        fp, tn = self.sums["fp"], self.sums["tn"]
        return tf.math.divide_no_nan(fp, fp + tn)
