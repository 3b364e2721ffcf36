"""`tf.metrics.…`: a value and its `update_op` → `update_state`, `result`."""

import functools

import numpy as np
import tensorflow as tf

from v2_eager.numerics import metrics

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


def update_all(measures, *batch):
    for measure in measures.values():
        measure.update_state(*batch)


def results_of(measures):
    return {name: measure.result() for name, measure in measures.items()}


def _stream(measures, batches, update=None, result=None, fixed=False):
    """Feeds batches to metrics; their values at first and after each of the batches."""
    rows = [len(a) if fixed else None for a in batches[0]]
    shapes = [[n, *a.shape[1:]] for n, a in zip(rows, batches[0])]
    specs = [tf.TensorSpec(s, a.dtype) for a, s in zip(batches[0], shapes)]
    # One trace for batches of all sizes.
    update = update or functools.partial(update_all, measures)
    update = tf.function(update, input_signature=specs)
    result = result or functools.partial(results_of, measures)
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
    shape = batches[0][0].shape
    measures = {"mean": metrics.Mean(), "mean_tensor": metrics.MeanTensor(shape)}
    # --- run
    return _stream(measures, batches, fixed=True)


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
    below = metrics.PercentageBelow(threshold)
    relative = metrics.MeanRelativeError()
    measures = {
        "absolute": metrics.MeanAbsoluteError(),
        "squared": metrics.MeanSquaredError(),
        "root": metrics.RootMeanSquaredError(),
        "cosine": metrics.MeanCosineDistance(1),
    }

    def update(labels, predictions, weights=None):
        update_all(measures, labels, predictions, weights)
        relative.update_state(labels, predictions, tf.abs(labels), weights)
        below.update_state(tf.abs(predictions - labels), weights)

    # --- run
    return _stream({**measures, "relative": relative, "below": below}, batches, update)


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
    measures = {
        "accuracy": metrics.Accuracy(),
        "tp": metrics.TruePositives(),
        "fp": metrics.FalsePositives(),
        "tn": metrics.TrueNegatives(),
        "fn": metrics.FalseNegatives(),
        "precision": metrics.Precision(),
        "recall": metrics.Recall(),
    }

    def f1(precision, recall, **_):
        return tf.math.divide_no_nan(2 * precision * recall, precision + recall)

    def result():
        results = results_of(measures)
        return {**results, "f1": f1(**results)}

    # --- run
    return _stream(measures, batches, result=result)


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
    thresholds = list(thresholds)
    measures = {
        "roc": metrics.AUC(num_thresholds, "ROC", method),
        "pr": metrics.AUC(num_thresholds, "PR", method),
        "precision": metrics.Precision(thresholds),
        "recall": metrics.Recall(thresholds),
        "fp": metrics.FalsePositives(thresholds),
        "sensitivity": metrics.SensitivityAtSpecificity(target, num_thresholds),
        "specificity": metrics.SpecificityAtSensitivity(target, num_thresholds),
    }
    # --- run
    return _stream(measures, batches)


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
    measures = {
        "iou": metrics.MeanIoU(num_classes),
        "accuracy": metrics.MeanPerClassAccuracy(num_classes),
    }
    # --- run
    return _stream(measures, batches)


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
    measures = {
        "precision": metrics.PrecisionAtK(k, class_id),
        "recall": metrics.RecallAtK(k, class_id),
        "average": metrics.AveragePrecisionAtK(k),
    }
    # --- run
    return _stream(measures, batches)


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
    metric = MeanF1(num_classes)
    # --- run
    return _stream({"mean_f1": metric}, batches, result=metric.result)


class MeanF1(metrics.Metric):
    """The mean of all classes' F1, and the matrix that it is computed from."""

    def __init__(self, num_classes):
        super().__init__({"matrix": [num_classes, num_classes]})
        self.num_classes = num_classes

    def update_state(self, labels, predictions):
        counts = tf.math.confusion_matrix(
            labels, predictions, self.num_classes, dtype=tf.float32
        )
        self.add(matrix=counts)

    def result(self):
        matrix = self.sums["matrix"]
        right = tf.linalg.diag_part(matrix)
        sizes = tf.reduce_sum(matrix, 0) + tf.reduce_sum(matrix, 1)
        f1 = tf.reduce_mean(tf.math.divide_no_nan(2 * right, sizes))
        return {"f1": f1, "matrix": tf.identity(matrix)}


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
    loss, accuracy = metrics.Mean(), metrics.Accuracy()
    top_2, iou = metrics.Mean(), metrics.MeanIoU(kernel.shape[1])

    @tf.function(input_signature=list(data.element_spec))
    def update(rows, targets):
        logits = tf.matmul(rows, kernel)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, logits)
        answers = tf.argmax(logits, 1)
        loss.update_state(losses)
        accuracy.update_state(targets, answers)
        top_2.update_state(tf.math.in_top_k(targets, tf.cast(logits, tf.float32), 2))
        iou.update_state(targets, answers)

    # --- run
    for rows, targets in data:
        update(rows, targets)
    measures = {"loss": loss, "accuracy": accuracy, "top_2": top_2, "iou": iou}
    return {name: value.numpy() for name, value in results_of(measures).items()}


def report_epochs(epochs):
    """Reports accuracy of every epoch, and of all so far.

    Args:
        epochs: list of lists of (labels, predictions), [n] integer arrays.

    Returns:
        ([accuracy of each epoch], [accuracy of it and those before]), float32 scalars.
    """
    # --- metrics
    epoch, run = metrics.Accuracy(), metrics.Accuracy()

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)] * 2)
    def update(labels, predictions):
        for metric in (epoch, run):
            metric.update_state(labels, predictions)

    # --- run
    reports = []
    for batches in epochs:
        epoch.reset_state()
        for labels, predictions in batches:
            update(labels, predictions)
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
    streamed = metrics.Mean()

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)] * 2)
    def update(labels, predictions):
        correct = tf.cast(tf.equal(labels, predictions), tf.float32)
        streamed.update_state(correct)
        return tf.reduce_mean(correct)

    # --- run
    of_batches = [update(*batch).numpy() for batch in batches]
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
