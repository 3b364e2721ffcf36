"""Metrics: a value and an op that updates it → modules with sums, results, a reset."""

import numpy as np
import tensorflow as tf

__all__ = [
    "averages",
    "regression",
    "decisions",
    "curves",
    "classes",
    "top_k",
    "mean_f1",
    "evaluate",
    "report_epochs",
    "mean_of_batches",
    "confusion_matrix",
    "in_top_k",
]


class Metric(tf.Module):
    """What metrics share: `sums`, a dict of variables that begin at zero."""

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
        for name, amount in amounts.items():
            self.sums[name].assign_add(amount)

    def reset_state(self):
        for variable in self.sums.values():
            variable.assign(tf.zeros_like(variable))


class Mean(Metric):
    """The weighted mean of all values: most metrics are this, of something."""

    def __init__(self, shape=()):
        super().__init__({"total": shape, "count": shape})

    def update_state(self, values, weights=None):
        values = tf.cast(values, tf.float32)
        counts = tf.ones_like(values)
        if weights is not None:
            counts = broadcast_weights(weights, values)
            values *= counts
        if not self.sums["total"].shape.rank:  # else every element is apart
            values, counts = tf.reduce_sum(values), tf.reduce_sum(counts)
        self.add(total=values, count=counts)

    def result(self):
        return tf.math.divide_no_nan(
            self.sums["total"], tf.maximum(self.sums["count"], 0)
        )


class Counts(Metric):
    """Weighted counts of right and wrong decisions; at several thresholds, if given."""

    def __init__(self, thresholds=None):
        shape = () if thresholds is None else (len(thresholds),)
        self.thresholds = thresholds
        super().__init__(dict.fromkeys(("tp", "fp", "tn", "fn"), shape))

    def update_state(self, labels, predictions, weights=None):
        labels = tf.cast(labels, tf.bool)
        if self.thresholds is None:
            predictions = tf.cast(predictions, tf.bool)
        else:
            predictions = in_unit_interval(predictions)
        labels, predictions, weights = aligned(labels, predictions, weights)
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


def aligned(labels, predictions, weights=None):
    """The three without a last dimension of 1 that only one of them has."""
    surplus = predictions.shape.rank - labels.shape.rank
    if surplus == 1:
        predictions = tf.squeeze(predictions, [-1])
    elif surplus == -1:
        labels = tf.squeeze(labels, [-1])
    labels.shape.assert_is_compatible_with(predictions.shape)
    if weights is not None and weights.shape.rank:
        surplus = weights.shape.rank - predictions.shape.rank
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


def _stream(update, result, batches, fixed=False):
    """Feeds batches to metrics; their values at first and after each of the batches."""
    rows = [len(a) if fixed else None for a in batches[0]]
    shapes = [[n, *a.shape[1:]] for n, a in zip(rows, batches[0])]
    specs = [tf.TensorSpec(s, a.dtype) for a, s in zip(batches[0], shapes)]
    # One trace for batches of all sizes; `update` and `result` are plain functions.
    update = tf.function(update, input_signature=specs)
    result = tf.function(result, input_signature=[])
    history = [result()]
    for batch in batches:
        update(*map(tf.constant, batch))
        history.append(result())
    return tf.nest.map_structure(lambda value: value.numpy(), history)


def averages(batches):
    """Streams the mean of all values, and that of every element apart.

    Args:
        batches: list of (values,) or (values, weights), arrays of one shape; weights
            may be of size 1 in any dimension.

    Returns:
        List of {"mean": float32 scalar, "mean_tensor": float32 array like `values`},
        at first and after each batch; 0 where the weights sum up to 0.

    Raises:
        ValueError: weights that do not broadcast.
    """
    # --- metrics
    mean, mean_tensor = Mean(), Mean(batches[0][0].shape)

    def update(values, weights=None):
        if weights is not None:
            _, values, weights = aligned(values, values, weights)
        mean.update_state(values, weights)
        mean_tensor.update_state(values, weights)

    def result():
        return {"mean": mean.result(), "mean_tensor": mean_tensor.result()}

    # --- run
    return _stream(update, result, batches, fixed=True)


def regression(batches, threshold=0.5):
    """Streams errors: absolute, squared, relative, by angle, and how many are small.

    Args:
        batches: list of (labels, predictions) or (labels, predictions, weights): float
            arrays of [n, d], [n, d] and [n, 1]; n may vary.
        threshold: below which an absolute error is small.

    Returns:
        List of {name: float32 scalar}, at first and after each batch.

    Raises:
        ValueError: shapes that do not fit.
    """
    # --- metrics
    absolute, squared, relative, below, cosine = (Mean() for _ in range(5))

    def update(labels, predictions, weights=None):
        labels, predictions, weights = aligned(labels, predictions, weights)
        error = tf.abs(predictions - labels)
        absolute.update_state(error, weights)
        squared.update_state(tf.math.squared_difference(labels, predictions), weights)
        relative.update_state(tf.math.divide_no_nan(error, tf.abs(labels)), weights)
        below.update_state(error < threshold, weights)
        products = tf.reduce_sum(predictions * labels, 1, keepdims=True)
        cosine.update_state(products, weights)

    def result():
        return {
            "absolute": absolute.result(),
            "squared": squared.result(),
            "root": tf.sqrt(squared.result()),
            "relative": relative.result(),
            "below": below.result(),
            "cosine": 1 - cosine.result(),
        }

    # --- run
    return _stream(update, result, batches)


def decisions(batches):
    """Streams what counts of right and wrong decisions tell.

    Args:
        batches: list of (labels, predictions) or (labels, predictions, weights), [n] or
            [n, 1] arrays; n may vary. Whatever is not 0 is a yes, so round
            probabilities before; accuracy asks for equality in the dtype of `labels`.

    Returns:
        List of {name: float32 scalar}, at first and after each batch.

    Raises:
        ValueError: shapes that do not fit.
    """
    # --- metrics
    accuracy, counts = Mean(), Counts()

    def update(labels, predictions, weights=None):
        counts.update_state(labels, predictions, weights)
        labels, predictions, weights = aligned(labels, predictions, weights)
        right = tf.equal(tf.cast(predictions, labels.dtype), labels)
        accuracy.update_state(right, weights)

    def result():
        tp, fp, fn = (counts.sums[name] for name in ("tp", "fp", "fn"))
        precision = tf.math.divide_no_nan(tp, tp + fp)
        recall = tf.math.divide_no_nan(tp, tp + fn)
        f1 = tf.math.divide_no_nan(2 * precision * recall, precision + recall)
        return {
            "accuracy": accuracy.result(),
            **{name: tf.identity(count) for name, count in counts.sums.items()},
            "precision": precision,
            "recall": recall,
            "f1": f1,
        }

    # --- run
    return _stream(update, result, batches)


def curves(
    batches,
    thresholds=(0.25, 0.5, 0.75),
    num_thresholds=200,
    target=0.75,
    method="careful_interpolation",
):
    """Streams areas under curves, and what holds at some points of them.

    Args:
        batches: list of (labels, scores) or (labels, scores, weights), [n] or [n, 1]
            arrays; n may vary. A score greater than a threshold, in float32, is a yes.
        thresholds: at which to tell precision, recall and false positives.
        num_thresholds: how many approximate a curve, ends included.
        target: the specificity, then sensitivity, at which to tell the other one.
        method: how to sum up an area: "trapezoidal", "minoring", "majoring", or
            "careful_interpolation", of which ROC knows no other than trapezoids.

    Returns:
        List of {name: float32 array}, at first and after each batch.

    Raises:
        ValueError: shapes that do not fit, no such method, a target outside [0, 1].
        tf.errors.InvalidArgumentError: scores outside [0, 1].
    """
    # --- metrics
    if not 0 <= target <= 1:
        raise ValueError("`target` must be in the range [0, 1].")
    if method not in HEIGHTS:
        raise ValueError(f"Invalid summation_method: {method}")
    careful = method == "careful_interpolation"
    curve = Counts(evenly(num_thresholds, 1 + 1e-7))
    lower = Counts(evenly(num_thresholds, 1 - 1e-7))  # so it is in v1, for one metric
    points = Counts(thresholds)

    def update(labels, scores, weights=None):
        for counts in (curve, lower, points):
            counts.update_state(labels, scores, weights)

    def result():
        tp, fp, fn = (points.sums[name] for name in ("tp", "fp", "fn"))
        return {
            "roc": area(*roc(curve), HEIGHTS[method]),
            "pr": interpolated(curve) if careful else area(*pr(curve), HEIGHTS[method]),
            "precision": tp / (1e-7 + tp + fp),
            "recall": tp / (1e-7 + tp + fn),
            "fp": tf.identity(fp),
            "sensitivity": sensitivity_at(curve, target),
            "specificity": specificity_at(lower, target),
        }

    # --- run
    return _stream(update, result, batches)


def evenly(number, last):
    """Thresholds from just below 0 to `last`."""
    return [-1e-7, *(i / (number - 1) for i in range(1, number - 1)), last]


def middle(left, right):
    return (left + right) / 2


HEIGHTS = {
    "careful_interpolation": middle,
    "trapezoidal": middle,
    "minoring": tf.minimum,
    "majoring": tf.maximum,
}


def roc(counts):
    """The points of a curve: rates of false and of true positives, falling."""
    tp, fp, tn, fn = counts.sums.values()
    return fp / (fp + tn + 1e-6), (tp + 1e-6) / (tp + fn + 1e-6)


def pr(counts):
    """The points of a curve: recall, falling, and precision."""
    tp, fp, _, fn = counts.sums.values()
    return (tp + 1e-6) / (tp + fn + 1e-6), (tp + 1e-6) / (tp + fp + 1e-6)


def area(x, y, height):
    """Sums up what is below a curve: a strip is as high as `height` of its two ends."""
    return tf.reduce_sum((x[:-1] - x[1:]) * height(y[:-1], y[1:]))


def interpolated(counts):
    """Area below precision over recall, between whose points runs no straight line."""
    tp, fp, _, fn = counts.sums.values()
    yes, found = tp + fp, tp[:-1] - tp[1:]
    slope = tf.math.divide_no_nan(found, yes[:-1] - yes[1:])
    intercept = tp[1:] - slope * yes[1:]
    growth = tf.math.divide_no_nan(yes[:-1], yes[1:])
    growth = tf.where(yes[1:] > 0, growth, 1)
    strips = slope * (found + intercept * tf.math.log(growth))
    return tf.reduce_sum(tf.math.divide_no_nan(strips, tp[1:] + fn[1:]))


def sensitivity_at(counts, target):
    """Recall at the lowest threshold whose specificity is nearest to `target`."""
    tp, fp, tn, fn = counts.sums.values()
    i = tf.argmin(tf.abs(tn / (tn + fp + 1e-7) - target))
    return tp[i] / (tp[i] + fn[i] + 1e-7)


def specificity_at(counts, target):
    """Specificity at the highest threshold whose recall is nearest to `target`."""
    tp, fp, tn, fn = counts.sums.values()
    distance = tf.abs(tp / (tp + fn + 1e-7) - target)
    i = tf.reduce_max(tf.where(distance == tf.reduce_min(distance)))
    return tn[i] / (tn[i] + fp[i] + 1e-7)


def classes(batches, num_classes):
    """Streams intersection over union and accuracy, class by class, then averaged.

    Args:
        batches: list of (labels, predictions) or (labels, predictions, weights): arrays
            of one shape, class numbers; the number of rows may vary.
        num_classes: how many classes there are.

    Returns:
        List of {name: float32 scalar}, at first and after each batch: IoU over the
        classes that occur, accuracy over all classes.

    Raises:
        tf.errors.InvalidArgumentError: a number that is no class.
    """
    # --- metrics
    matrix = Metric({"matrix": [num_classes, num_classes]}, tf.float64)
    of_classes = Metric({"total": [num_classes], "count": [num_classes]})

    def update(labels, predictions, weights=None):
        labels, predictions = (
            tf.reshape(tf.cast(x, tf.int64), [-1]) for x in (labels, predictions)
        )
        if weights is None:
            weights = tf.ones_like(labels, tf.float32)
        weights = tf.cast(tf.reshape(weights, [-1]), tf.float32)
        matrix.add(
            matrix=tf.math.confusion_matrix(
                labels, predictions, num_classes, weights, tf.float64
            )
        )
        right = tf.cast(tf.equal(predictions, labels), tf.float32) * weights
        for name, amount in (("total", weights), ("count", right)):
            of_classes.sums[name].scatter_add(tf.IndexedSlices(amount, labels))

    def result():
        total, count = of_classes.sums["total"], of_classes.sums["count"]
        accuracies = tf.math.divide_no_nan(count, tf.maximum(total, 0))
        return {
            "iou": mean_iou(matrix.sums["matrix"]),
            "accuracy": tf.reduce_mean(accuracies),
        }

    # --- run
    return _stream(update, result, batches)


def mean_iou(matrix):
    """Intersection over union of the classes of a confusion matrix, averaged."""
    rows, columns, both = (
        tf.cast(sums, tf.float32)
        for sums in (
            tf.reduce_sum(matrix, 1),
            tf.reduce_sum(matrix, 0),
            tf.linalg.diag_part(matrix),
        )
    )
    union = columns + rows - both
    occurring = tf.reduce_sum(tf.cast(union != 0, tf.float32))
    iou = both / tf.where(union > 0, union, 1)
    return tf.math.divide_no_nan(tf.reduce_sum(iou), occurring)


def top_k(batches, k, class_id=None):
    """Streams how many of the k highest scores are right, and how many are found.

    Args:
        batches: list of (labels, scores) or (labels, scores, weights): int64 [n] or
            [n, labels], float [n, classes] and float [n] arrays; n may vary.
        k: how many scores count; of equal ones, those of the lower class.
        class_id: of which class to tell precision and recall, or None for all.

    Returns:
        List of {name: float64 scalar}, at first and after each batch; NaN for nothing
        of nothing.

    Raises:
        ValueError: k is more than the number of classes.
    """
    # --- metrics
    counts = Metric({"tp": [], "fp": [], "fn": []}, tf.float64)
    average = Metric({"total": [], "max": []}, tf.float64)

    def update(labels, scores, weights=1.0):
        labels = labels[:, None] if labels.shape.rank == 1 else labels
        weights = tf.cast(weights, tf.float64)
        top = tf.cast(tf.math.top_k(scores, k).indices, tf.int64)
        precisions = average_precisions(labels, top, scores.shape[-1])
        average.add(
            total=tf.reduce_sum(precisions * weights),
            max=tf.reduce_sum(weights * tf.ones_like(precisions)),
        )
        if class_id is not None:
            labels, top = (only(class_id, ids) for ids in (labels, top))
        for name, ids in (
            ("tp", tf.sets.intersection(top, labels)),
            ("fp", tf.sets.difference(top, labels)),
            ("fn", tf.sets.difference(labels, top)),
        ):
            sizes = tf.cast(tf.sets.size(ids), tf.float64)
            counts.sums[name].assign_add(tf.reduce_sum(sizes * weights))

    def result():
        tp, fp, fn = counts.sums.values()
        total, largest = average.sums.values()
        return {
            "precision": tp / (tp + fp),
            "recall": tp / (tp + fn),
            "average": tf.math.divide_no_nan(total, largest),
        }

    # --- run
    return _stream(update, result, batches)


def only(class_id, ids):
    """The sets in the rows of `ids` without all but one class."""
    wanted = tf.fill([tf.shape(ids)[0], 1], tf.constant(class_id, ids.dtype))
    return tf.sets.intersection(wanted, ids)


def average_precisions(labels, top, num_classes):
    """Per row: the precisions at each rank where a label is found, over the labels."""
    hits = tf.reduce_any(top[:, :, None] == labels[:, None, :], 2)
    hits = tf.cast(hits, tf.float64)
    ranks = tf.range(1, top.shape[1] + 1, dtype=tf.float64)
    sums = tf.reduce_sum(tf.cumsum(hits, 1) / ranks * hits, 1)
    valid = tf.cast((labels >= 0) & (labels < num_classes), tf.float64)
    return sums / tf.minimum(tf.reduce_sum(valid, 1), top.shape[1])


def mean_f1(batches, num_classes):
    """Streams a metric of one's own: the mean of all classes' F1.

    Args:
        batches: list of (labels, predictions), [n] arrays of class numbers; n may vary.
        num_classes: how many classes there are.

    Returns:
        List of {"f1": float32 scalar, "matrix": float32 [classes, classes] array}, at
        first and after each batch; rows of the matrix are labels.

    Raises:
        tf.errors.InvalidArgumentError: a number that is no class.
    """
    # --- metrics
    metric = Metric({"matrix": [num_classes, num_classes]})

    def update(labels, predictions):
        counts = tf.math.confusion_matrix(
            labels, predictions, num_classes, dtype=tf.float32
        )
        metric.add(matrix=counts)

    def result():
        matrix = metric.sums["matrix"]
        right = tf.linalg.diag_part(matrix)
        sizes = tf.reduce_sum(matrix, 0) + tf.reduce_sum(matrix, 1)
        f1 = tf.reduce_mean(tf.math.divide_no_nan(2 * right, sizes))
        return {"f1": f1, "matrix": tf.identity(matrix)}

    # --- run
    return _stream(update, result, batches)


def evaluate(x, labels, kernel, batch_size):
    """Evaluates a linear classifier, batch by batch, until the data ends.

    Args:
        x: [n, features] float array.
        labels: [n] integer array.
        kernel: [features, classes] array of the dtype of `x`.
        batch_size: how many rows are in a batch, but for the last one.

    Returns:
        {name: float32 scalar}: mean `loss`, `accuracy`, `top_2` and `iou`.

    Raises:
        tf.errors.InvalidArgumentError: a label that is no class.
    """
    # --- build
    data = tf.data.Dataset.from_tensor_slices((x, labels)).batch(batch_size)
    # --- metrics
    loss, accuracy, top_2 = Mean(), Mean(), Mean()
    classes = kernel.shape[1]
    matrix = Metric({"matrix": [classes, classes]}, tf.float64)

    @tf.function(input_signature=list(data.element_spec))
    def update(rows, targets):
        logits = tf.matmul(rows, kernel)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, logits)
        answers = tf.argmax(logits, 1)
        loss.update_state(losses)
        accuracy.update_state(tf.equal(answers, tf.cast(targets, tf.int64)))
        top_2.update_state(tf.math.in_top_k(targets, tf.cast(logits, tf.float32), 2))
        counts = tf.math.confusion_matrix(targets, answers, classes, dtype=tf.float64)
        matrix.add(matrix=counts)

    # --- run
    for rows, targets in data:
        update(rows, targets)
    return {
        "loss": loss.result().numpy(),
        "accuracy": accuracy.result().numpy(),
        "top_2": top_2.result().numpy(),
        "iou": mean_iou(matrix.sums["matrix"]).numpy(),
    }


def report_epochs(epochs):
    """Reports accuracy of every epoch, and of all so far.

    Args:
        epochs: list of lists of (labels, predictions), [n] integer arrays.

    Returns:
        ([accuracy of each epoch], [accuracy of it and those before]), float32 scalars.
    """
    # --- metrics
    epoch, run = Mean(), Mean()

    # --- run
    reports = []
    for batches in epochs:
        epoch.reset_state()
        for labels, predictions in batches:
            for metric in (epoch, run):
                metric.update_state(tf.equal(labels, predictions))
        reports.append([epoch.result().numpy(), run.result().numpy()])
    return [list(column) for column in zip(*reports)]


def mean_of_batches(batches):
    """Averages the accuracies of batches, beside the accuracy of all examples.

    Args:
        batches: list of (labels, predictions), [n] integer arrays; n may vary.

    Returns:
        dict of float32: the accuracies `of_batches`, their `mean`, and `streamed`.
    """
    # --- metrics
    streamed = Mean()
    # --- run
    of_batches = []
    for labels, predictions in batches:
        correct = tf.cast(tf.equal(labels, predictions), tf.float32)
        streamed.update_state(correct)
        of_batches.append(tf.reduce_mean(correct).numpy())
    return {
        "of_batches": of_batches,
        "mean": np.float32(np.mean(of_batches)),
        "streamed": streamed.result().numpy(),
    }


def confusion_matrix(
    labels, predictions, num_classes=None, weights=None, dtype="float32"
):
    """Counts, or weighs, how often a class (row) was taken for another (column).

    Args:
        labels: [n] or [n, 1] integer tensor.
        predictions: tensor of the same size.
        num_classes: how many classes there are; None for the largest number met + 1.
        weights: [n] tensor of any number dtype, or None.
        dtype: of the answer; an integer one cuts weights off.

    Returns:
        [num_classes, num_classes] tensor.

    Raises:
        tf.errors.InvalidArgumentError: a number that is no class.
    """
    # The fourth argument, once the dtype, is the weights now.
    return tf.math.confusion_matrix(
        labels, predictions, num_classes, weights, tf.as_dtype(dtype)
    )


def in_top_k(predictions, targets, k):
    """Tells for each row whether the score of its class is among the k highest.

    Args:
        predictions: [n, classes] float32 tensor of scores.
        targets: [n] integer tensor of class numbers.
        k: how many count; classes with the score of the k-th are all among them.

    Returns:
        [n] boolean tensor: False if a score is not finite, or for no class at all.
    """
    return tf.math.in_top_k(targets, predictions, k)
