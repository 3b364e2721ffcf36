"""Metrics over many thresholds: area under a curve, and points on the ROC curve."""

import tensorflow as tf

from v2_eager.numerics.metrics.decisions import Counts


def evenly(number, last):
    """Makes evenly spaced thresholds from just below 0 to `last`.

    Args:
        number: number of thresholds.
        last: the last threshold; 1 - 1e-7 or 1 + 1e-7.

    Returns:
        List of floats.
    """
    return [-1e-7, *(i / (number - 1) for i in range(1, number - 1)), last]


class AUC(Counts):
    """`tf.metrics.auc`: the area under the ROC or the precision-recall curve.

    `keras.metrics.AUC` adds no 1e-6, so that it is 0 if there is no positive label. For
    a precision-recall curve its default is the careful interpolation.

    Args:
        num_thresholds: number of points that approximate the curve, with both ends.
        curve: "ROC" or "PR".
        summation_method: height of a strip: "trapezoidal", "minoring", "majoring", or
            "careful_interpolation", which for ROC is the same as "trapezoidal".

    Raises:
        ValueError: an unknown curve or method.
    """

    def __init__(self, num_thresholds=200, curve="ROC", summation_method="trapezoidal"):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        if summation_method not in strip_heights():
            raise ValueError(f"Invalid summation_method: {summation_method}")
        super().__init__(evenly(num_thresholds, 1 + 1e-7))
        self.curve, self.method = curve, summation_method

    def result(self):
        tp, fp, tn, fn = (self.sums[name] for name in ("tp", "fp", "tn", "fn"))
        recall = (tp + 1e-6) / (tp + fn + 1e-6)
        if self.curve == "ROC":
            x, y = fp / (fp + tn + 1e-6), recall
        elif self.method == "careful_interpolation":
            return interpolated(tp, fp, fn)
        else:
            x, y = recall, (tp + 1e-6) / (tp + fp + 1e-6)
        height = strip_heights()[self.method]
        return tf.reduce_sum((x[:-1] - x[1:]) * height(y[:-1], y[1:]))


def strip_heights():
    """Returns {method: function from the heights of a strip's ends to its height}."""

    def middle(left, right):
        return (left + right) / 2

    return {
        "careful_interpolation": middle,
        "trapezoidal": middle,
        "minoring": tf.minimum,
        "majoring": tf.maximum,
    }


def interpolated(tp, fp, fn):
    """Computes the area under the precision-recall curve by non-linear interpolation.

    After Davis and Goadrich, "The relationship between Precision-Recall and ROC".

    Args:
        tp: [thresholds] float32, the true positives.
        fp: [thresholds] float32, the false positives.
        fn: [thresholds] float32, the false negatives.

    Returns:
        float32 scalar.
    """
    yes, found = tp + fp, tp[:-1] - tp[1:]
    slope = tf.math.divide_no_nan(found, yes[:-1] - yes[1:])
    intercept = tp[1:] - slope * yes[1:]
    growth = tf.math.divide_no_nan(yes[:-1], yes[1:])
    growth = tf.where(yes[1:] > 0, growth, 1)
    strips = slope * (found + intercept * tf.math.log(growth))
    return tf.reduce_sum(tf.math.divide_no_nan(strips, tp[1:] + fn[1:]))


class SensitivityAtSpecificity(Counts):
    """`tf.metrics.sensitivity_at_specificity`: recall at the nearest specificity.

    That is the recall at the lowest threshold whose specificity is nearest to the given
    specificity.

    `keras.metrics.SensitivityAtSpecificity` is the highest recall of all thresholds
    whose specificity is not below the given specificity.

    Args:
        specificity: number from 0 to 1.
        num_thresholds: number of evenly spaced thresholds.
    """

    def __init__(self, specificity, num_thresholds=200):
        self.wanted = share(specificity, "specificity")
        super().__init__(evenly(num_thresholds, 1 + 1e-7))

    def result(self):
        tp, fp, tn, fn = (self.sums[name] for name in ("tp", "fp", "tn", "fn"))
        i = tf.argmin(tf.abs(tn / (tn + fp + 1e-7) - self.wanted))
        return tp[i] / (tp[i] + fn[i] + 1e-7)


class SpecificityAtSensitivity(Counts):
    """`tf.metrics.specificity_at_sensitivity`: specificity at the nearest recall.

    That is the specificity at the highest threshold whose recall is nearest to the
    given recall.

    `keras.metrics.SpecificityAtSensitivity` is the highest specificity of all
    thresholds whose recall is not below the given recall.

    Args:
        sensitivity: the given recall, from 0 to 1.
        num_thresholds: number of evenly spaced thresholds.
    """

    def __init__(self, sensitivity, num_thresholds=200):
        self.wanted = share(sensitivity, "sensitivity")
        # v1's last threshold was below 1 for this metric only.
        super().__init__(evenly(num_thresholds, 1 - 1e-7))

    def result(self):
        tp, fp, tn, fn = (self.sums[name] for name in ("tp", "fp", "tn", "fn"))
        distance = tf.abs(tp / (tp + fn + 1e-7) - self.wanted)
        i = tf.reduce_max(tf.where(distance == tf.reduce_min(distance)))
        return tn[i] / (tn[i] + fp[i] + 1e-7)


def share(value, name):
    """Returns a number if it is in [0, 1]; raises otherwise.

    Args:
        value: a number.
        name: name of the argument, for the message.

    Raises:
        ValueError: the number is not in [0, 1].
    """
    if not 0 <= value <= 1:
        raise ValueError(f"`{name}` must be in the range [0, 1].")
    return value
