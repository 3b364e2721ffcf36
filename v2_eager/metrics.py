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
    """Feeds batches to metrics; returns their values before and after each batch."""
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
    """Streams the mean of all values, and the mean of each element."""
    # --- metrics
    shape = batches[0][0].shape
    measures = {"mean": metrics.Mean(), "mean_tensor": metrics.MeanTensor(shape)}
    # --- run
    return _stream(measures, batches, fixed=True)


def regression(batches, threshold=0.5):
    """Streams regression metrics: absolute, squared, relative error and others."""
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
    """Streams accuracy, precision, recall, F1 and the counts of a confusion matrix."""
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
    """Streams AUC of ROC and precision-recall curves, and metrics at thresholds.

    Raises:
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
    """Streams mean intersection over union and mean per-class accuracy."""
    # --- metrics
    measures = {
        "iou": metrics.MeanIoU(num_classes),
        "accuracy": metrics.MeanPerClassAccuracy(num_classes),
    }
    # --- run
    return _stream(measures, batches)


def top_k(batches, k, class_id=None):
    """Streams precision, recall and average precision of the k highest scores."""
    # --- metrics
    measures = {
        "precision": metrics.PrecisionAtK(k, class_id),
        "recall": metrics.RecallAtK(k, class_id),
        "average": metrics.AveragePrecisionAtK(k),
    }
    # --- run
    return _stream(measures, batches)


def mean_f1(batches, num_classes):
    """Streams a custom metric, macro F1: the mean of the F1 scores of all classes."""
    # --- metrics
    metric = MeanF1(num_classes)
    # --- run
    return _stream({"mean_f1": metric}, batches, result=metric.result)


class MeanF1(metrics.Metric):
    """Macro F1: the mean of the F1 scores of all classes, and the confusion matrix.

    Args:
        num_classes: number of classes; labels and predictions, [n] ints, are less than
            `num_classes`.
    """

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
    """Evaluates a linear classifier with streaming metrics over all batches."""
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
    """Reports the accuracy of each epoch, and of all epochs so far."""
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
    """Computes the mean of batch accuracies, and the accuracy of all examples."""
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
    """Counts the predictions (columns) for each label (row), optionally weighted."""
    # The fourth argument, once the dtype, is the weights now.
    return tf.math.confusion_matrix(
        labels, predictions, num_classes, weights, tf.as_dtype(dtype)
    )


def in_top_k(predictions, targets, k):
    """Returns for each row whether the target's score is among the k highest."""
    return tf.math.in_top_k(targets, predictions, k)
