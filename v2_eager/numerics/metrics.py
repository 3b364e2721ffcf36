"""The metrics of `tf.metrics`: what was a value and an op that updates it is an object.

    auc = AUC(curve="PR")
    auc.update_state(labels, predictions)    # the update op
    auc.result()                             # the value; reset_state() begins anew

Labels, predictions and weights may differ by a last dimension of 1. Sums are float32,
in the order of v1, whatever the inputs are, but for `MeanIoU` and those "at k", which
are float64. Follows `tensorflow/python/ops/metrics_impl.py` of 1.15.5.
"""

import tensorflow as tf

__all__ = [
    "Metric",
    "Mean",
    "MeanTensor",
    "PercentageBelow",
    "Accuracy",
    "MeanAbsoluteError",
    "MeanSquaredError",
    "RootMeanSquaredError",
    "MeanRelativeError",
    "MeanCosineDistance",
    "TruePositives",
    "FalsePositives",
    "TrueNegatives",
    "FalseNegatives",
    "Precision",
    "Recall",
    "AUC",
    "SensitivityAtSpecificity",
    "SpecificityAtSensitivity",
    "MeanIoU",
    "MeanPerClassAccuracy",
    "PrecisionAtK",
    "RecallAtK",
    "AveragePrecisionAtK",
]


class Metric(tf.Module):
    """What metrics share: `sums`, a dict of variables that begin at zero.

    For one of your own, write `update_state`, which calls `add`, and `result`.

    Args:
        shapes: {name of a sum: its shape}.
        dtype: of the sums.
    """

    def __init__(self, shapes, dtype=tf.float32):
        super().__init__()
        self.sums = {
            name: tf.Variable(
                tf.zeros(shape, dtype),
                trainable=False,
                name=name,
                # As in v1: each replica adds to its own, a result sums them up.
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.SUM,
            )
            for name, shape in shapes.items()
        }

    def add(self, **amounts):
        """Adds to the sums, by name."""
        for name, amount in amounts.items():
            self.sums[name].assign_add(amount)

    def reset_state(self):
        """Begins anew."""
        for variable in self.sums.values():
            variable.assign(tf.zeros_like(variable))


def aligned(labels, predictions, weights=None):
    """The three without a last dimension of 1 that only one of them has.

    Raises:
        ValueError: labels and predictions do not fit.
    """
    labels, predictions = (
        tf.convert_to_tensor(labels),
        tf.convert_to_tensor(predictions),
    )
    surplus = predictions.shape.rank - labels.shape.rank
    if surplus == 1:
        predictions = tf.squeeze(predictions, [-1])
    elif surplus == -1:
        labels = tf.squeeze(labels, [-1])
    labels.shape.assert_is_compatible_with(predictions.shape)
    if weights is not None:
        weights = tf.convert_to_tensor(weights)
        surplus = weights.shape.rank and weights.shape.rank - predictions.shape.rank
        if surplus == 1:
            weights = tf.squeeze(weights, [-1])
        elif surplus == -1:
            weights = weights[..., None]
    return labels, predictions, weights


def broadcast_weights(weights, values):
    """float32 weights like `values`: of its rank and, where not 1, of its sizes."""
    if weights.shape.rank not in (0, values.shape.rank):
        shapes = f"{weights.shape} and {values.shape}"
        raise ValueError(f"weights can not be broadcast to values: {shapes}")
    return tf.broadcast_to(tf.cast(weights, tf.float32), tf.shape(values))


class Mean(Metric):
    """`tf.metrics.mean`, the weighted mean of all values: most metrics are this."""

    def __init__(self, shape=()):
        super().__init__({"total": shape, "count": shape})

    def update_state(self, values, weights=None):
        """Adds values.

        Args:
            values: tensor of any shape and number dtype, or bool.
            weights: None, or a tensor that broadcasts to them, of rank 0 or theirs.
        """
        _, values, weights = aligned(values, values, weights)
        values = tf.cast(values, tf.float32)
        counts = tf.ones_like(values)
        if weights is not None:
            counts = broadcast_weights(weights, values)
            values *= counts
        if not self.sums["total"].shape.rank:  # else every element is apart
            values, counts = tf.reduce_sum(values), tf.reduce_sum(counts)
        self.add(total=values, count=counts)

    def result(self):
        """The metric so far: 0 for nothing."""
        total, count = self.sums["total"], self.sums["count"]
        return tf.math.divide_no_nan(total, tf.maximum(count, 0))


class MeanTensor(Mean):
    """`tf.metrics.mean_tensor`: of every element of `shape` apart."""

    def __init__(self, shape):
        super().__init__(shape)


class PercentageBelow(Mean):
    """`tf.metrics.percentage_below`: the share, from 0 to 1, below a threshold."""

    def __init__(self, threshold):
        super().__init__()
        self.threshold = threshold

    def update_state(self, values, weights=None):
        super().update_state(tf.convert_to_tensor(values) < self.threshold, weights)


class Accuracy(Mean):
    """`tf.metrics.accuracy`: how often predictions are labels, in the labels' dtype."""

    def update_state(self, labels, predictions, weights=None):
        labels, predictions, weights = aligned(labels, predictions, weights)
        right = tf.equal(tf.cast(predictions, labels.dtype), labels)
        super().update_state(right, weights)


class MeanAbsoluteError(Mean):
    """`tf.metrics.mean_absolute_error`."""

    def update_state(self, labels, predictions, weights=None):
        labels, predictions, weights = aligned(labels, predictions, weights)
        super().update_state(tf.abs(predictions - labels), weights)


class MeanSquaredError(Mean):
    """`tf.metrics.mean_squared_error`."""

    def update_state(self, labels, predictions, weights=None):
        labels, predictions, weights = aligned(labels, predictions, weights)
        squares = tf.math.squared_difference(labels, predictions)
        super().update_state(squares, weights)


class RootMeanSquaredError(MeanSquaredError):
    """`tf.metrics.root_mean_squared_error`."""

    def result(self):
        return tf.sqrt(super().result())


class MeanRelativeError(Mean):
    """`tf.metrics.mean_relative_error`: |error| / normalizer, 0 where that is 0."""

    def update_state(self, labels, predictions, normalizer, weights=None):
        labels, predictions, weights = aligned(labels, predictions, weights)
        error = tf.abs(labels - predictions)
        super().update_state(tf.math.divide_no_nan(error, normalizer), weights)


class MeanCosineDistance(Mean):
    """`tf.metrics.mean_cosine_distance`, of vectors along `dim`, of unit length."""

    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def update_state(self, labels, predictions, weights=None):
        labels, predictions, weights = aligned(labels, predictions, weights)
        products = tf.reduce_sum(predictions * labels, self.dim, keepdims=True)
        super().update_state(products, weights)

    def result(self):
        return 1 - super().result()


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
    """`scores` in float32; raises unless all are in [0, 1]."""
    message = "predictions must be in [0, 1]"
    tf.debugging.assert_greater_equal(scores, tf.cast(0, scores.dtype), message)
    tf.debugging.assert_less_equal(scores, tf.cast(1, scores.dtype), message)
    return tf.cast(scores, tf.float32)


class TruePositives(Counts):
    """`tf.metrics.true_positives`, and `…_at_thresholds`."""

    def result(self):
        return tf.identity(self.sums["tp"])


class FalsePositives(Counts):
    """`tf.metrics.false_positives`, and `…_at_thresholds`."""

    def result(self):
        return tf.identity(self.sums["fp"])


class TrueNegatives(Counts):
    """`tf.metrics.true_negatives`, and `…_at_thresholds`."""

    def result(self):
        return tf.identity(self.sums["tn"])


class FalseNegatives(Counts):
    """`tf.metrics.false_negatives`, and `…_at_thresholds`."""

    def result(self):
        return tf.identity(self.sums["fn"])


class Precision(Counts):
    """`tf.metrics.precision`, and `…_at_thresholds`, which divides otherwise."""

    def result(self):
        tp, fp = self.sums["tp"], self.sums["fp"]
        if self.thresholds is not None:
            return tp / (1e-7 + tp + fp)
        return tf.math.divide_no_nan(tp, tp + fp)


class Recall(Counts):
    """`tf.metrics.recall`, and `…_at_thresholds`, which divides otherwise."""

    def result(self):
        tp, fn = self.sums["tp"], self.sums["fn"]
        if self.thresholds is not None:
            return tp / (1e-7 + tp + fn)
        return tf.math.divide_no_nan(tp, tp + fn)


def evenly(number, last):
    """Thresholds from just below 0 to `last`."""
    return [-1e-7, *(i / (number - 1) for i in range(1, number - 1)), last]


class AUC(Counts):
    """`tf.metrics.auc`, the area under a curve.

    Args:
        num_thresholds: how many points approximate the curve, ends included.
        curve: "ROC" or "PR".
        summation_method: how high a strip is: "trapezoidal", "minoring", "majoring", or
            "careful_interpolation", of which ROC knows no other than trapezoids.

    Raises:
        ValueError: no such curve or method.
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
    """{method: function of the heights of the two ends of a strip}."""

    def middle(left, right):
        return (left + right) / 2

    return {
        "careful_interpolation": middle,
        "trapezoidal": middle,
        "minoring": tf.minimum,
        "majoring": tf.maximum,
    }


def interpolated(tp, fp, fn):
    """Area below precision over recall, between whose points runs no straight line.

    After Davis and Goadrich, "The relationship between Precision-Recall and ROC".
    """
    yes, found = tp + fp, tp[:-1] - tp[1:]
    slope = tf.math.divide_no_nan(found, yes[:-1] - yes[1:])
    intercept = tp[1:] - slope * yes[1:]
    growth = tf.math.divide_no_nan(yes[:-1], yes[1:])
    growth = tf.where(yes[1:] > 0, growth, 1)
    strips = slope * (found + intercept * tf.math.log(growth))
    return tf.reduce_sum(tf.math.divide_no_nan(strips, tp[1:] + fn[1:]))


class SensitivityAtSpecificity(Counts):
    """`tf.metrics.sensitivity_at_specificity`.

    Recall at the lowest threshold whose specificity is nearest to the wanted one.
    """

    def __init__(self, specificity, num_thresholds=200):
        self.wanted = share(specificity, "specificity")
        super().__init__(evenly(num_thresholds, 1 + 1e-7))

    def result(self):
        tp, fp, tn, fn = (self.sums[name] for name in ("tp", "fp", "tn", "fn"))
        i = tf.argmin(tf.abs(tn / (tn + fp + 1e-7) - self.wanted))
        return tp[i] / (tp[i] + fn[i] + 1e-7)


class SpecificityAtSensitivity(Counts):
    """`tf.metrics.specificity_at_sensitivity`.

    Specificity at the highest threshold whose recall is nearest to the wanted one.
    """

    def __init__(self, sensitivity, num_thresholds=200):
        self.wanted = share(sensitivity, "sensitivity")
        # Below 1, in v1, for this metric alone.
        super().__init__(evenly(num_thresholds, 1 - 1e-7))

    def result(self):
        tp, fp, tn, fn = (self.sums[name] for name in ("tp", "fp", "tn", "fn"))
        distance = tf.abs(tp / (tp + fn + 1e-7) - self.wanted)
        i = tf.reduce_max(tf.where(distance == tf.reduce_min(distance)))
        return tn[i] / (tn[i] + fp[i] + 1e-7)


def share(value, name):
    """`value`, or a ValueError if it is not in [0, 1]."""
    if not 0 <= value <= 1:
        raise ValueError(f"`{name}` must be in the range [0, 1].")
    return value


class MeanIoU(Metric):
    """`tf.metrics.mean_iou`: intersection over union of the classes that occur.

    Args:
        num_classes: how many classes there are.
    """

    def __init__(self, num_classes):
        super().__init__({"matrix": [num_classes, num_classes]}, tf.float64)

    def update_state(self, labels, predictions, weights=None):
        """Adds class numbers, tensors of one shape.

        Raises:
            tf.errors.InvalidArgumentError: a number that is no class.
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
    """`tf.metrics.mean_per_class_accuracy`: over all classes, that occur or not.

    Args:
        num_classes: how many classes there are.
    """

    def __init__(self, num_classes):
        super().__init__({"total": [num_classes], "count": [num_classes]})

    def update_state(self, labels, predictions, weights=None):
        """Adds class numbers, tensors of one shape."""
        labels = tf.reshape(tf.cast(labels, tf.int64), [-1])
        predictions = tf.reshape(tf.cast(predictions, tf.int64), [-1])
        amounts = tf.ones_like(labels, tf.float32)
        if weights is not None:
            amounts = tf.cast(tf.reshape(weights, [-1]), tf.float32)
        right = tf.cast(tf.equal(predictions, labels), tf.float32) * amounts
        self.sums["total"].scatter_add(tf.IndexedSlices(amounts, labels))
        self.sums["count"].scatter_add(tf.IndexedSlices(right, labels))

    def result(self):
        total = tf.maximum(self.sums["total"], 0)
        return tf.reduce_mean(tf.math.divide_no_nan(self.sums["count"], total))


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
