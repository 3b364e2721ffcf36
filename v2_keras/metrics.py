"""`tf.metrics.…`: a value and its `update_op` → `update_state`, `result`."""

import keras
import numpy as np
import tensorflow as tf
from keras import metrics

__all__ = [
    "averages",
    "regression",
    "decisions",
    "mean_f1",
    "evaluate",
    "report_epochs",
    "mean_of_batches",
]


def stream(update, batches, results):
    """Updates metrics batch by batch; returns the results before and after each."""
    history = [results()]
    for batch in batches:
        update(*batch)
        history.append(results())
    return history


def results_of(named):
    """Returns the results of a dict of metrics, as {name: result}."""
    return {name: metric.result().numpy() for name, metric in named.items()}


@keras.saving.register_keras_serializable("v2_keras")
class MeanTensor(metrics.Metric):
    """The weighted mean of each element, as `keras.metrics.MeanTensor` of Keras 2.

    sum(weights * values) / sum(weights) per element, 0 where the weights' sum is 0.
    `update_state` takes values of the shape `shape`, and weights of this shape or of
    its first axes, such as one for each row.

    Args:
        shape: tuple of ints, the shape of the values.
        name: str, the name of the metric.
        dtype: str, the dtype of the sums and of the result.
    """

    def __init__(self, shape, name="mean_tensor", dtype=None):
        super().__init__(dtype, name)
        self.shape = tuple(shape)
        self.total = self.add_variable(self.shape, "zeros", self.dtype, name="total")
        self.count = self.add_variable(self.shape, "zeros", self.dtype, name="count")

    def update_state(self, values, sample_weight=None):
        values = tf.cast(values, self.dtype)
        weights = tf.cast(1 if sample_weight is None else sample_weight, self.dtype)
        missing = len(self.shape) - weights.shape.rank
        weights = weights[(..., *[tf.newaxis] * missing)]
        weights = tf.broadcast_to(weights, self.shape)
        self.total.assign_add(values * weights)
        self.count.assign_add(weights)

    def result(self):
        return tf.math.divide_no_nan(self.total.value, self.count.value)

    def get_config(self):
        return {**super().get_config(), "shape": self.shape}


def averages(batches):
    """Streams the mean of all values, and the mean of each element.

    If the weights' sum is below 0, Keras divides by it; TensorFlow 1 returned 0.
    """
    # --- metrics
    named = {"mean": metrics.Mean(), "mean_tensor": MeanTensor(batches[0][0].shape)}

    def update(values, weights=None):
        values = np.asarray(values)
        weights = None if weights is None else np.asarray(weights)
        if weights is not None:  # one for each row, or as many as there are values
            axes = tuple(range(weights.ndim, values.ndim))
            weights = np.broadcast_to(np.expand_dims(weights, axes), values.shape)
        for metric in named.values():
            metric.update_state(values, weights)

    # --- run
    return stream(update, batches, lambda: results_of(named))


def regression(batches, threshold=0.5):
    """Streams regression metrics: absolute, squared, relative error and others.

    The errors that Keras has no metric for are a `Mean` of computed values.
    """
    # --- metrics
    named = {
        "absolute": metrics.MeanAbsoluteError(),
        "squared": metrics.MeanSquaredError(),
        "root": metrics.RootMeanSquaredError(),
        "relative": metrics.Mean(),
        "below": metrics.Mean(),
        "cosine": metrics.Mean(),
    }

    def update(labels, predictions, weights=None):
        if labels.shape != predictions.shape:
            raise ValueError(
                "labels and predictions must have the same shape, not "
                f"{labels.shape} and {predictions.shape}"
            )
        error = tf.abs(predictions - labels)
        for name in ("absolute", "squared", "root"):
            named[name].update_state(labels, predictions, weights)
        relative = tf.math.divide_no_nan(error, tf.abs(labels))
        small = tf.cast(error < threshold, tf.float32)
        cosine = tf.reduce_sum(labels * predictions, 1, keepdims=True)
        for name, found in (("relative", relative), ("below", small)):
            whole = None if weights is None else np.broadcast_to(weights, found.shape)
            named[name].update_state(found, whole)
        named["cosine"].update_state(cosine, weights)

    def results():
        found = results_of(named)
        return {**found, "cosine": np.float32(1) - found["cosine"]}

    # --- run
    return stream(update, batches, results)


def yes(values):
    """Returns whether values are not 0, as `tf.cast` to bool does: -1 is True."""
    return values != 0


def decisions(batches):
    """Streams accuracy, precision, recall, F1 and the counts of a confusion matrix.

    Here every number except 0 is positive; in Keras, numbers above a threshold of 1/2.
    """
    # --- metrics
    named = {
        "accuracy": metrics.Accuracy(),
        "tp": metrics.TruePositives(),
        "fp": metrics.FalsePositives(),
        "tn": metrics.TrueNegatives(),
        "fn": metrics.FalseNegatives(),
        "precision": metrics.Precision(),
        "recall": metrics.Recall(),
    }

    def update(labels, predictions, weights=None):
        labels, predictions = np.asarray(labels), np.asarray(predictions)
        shapes, n = {labels.shape, predictions.shape}, len(labels)
        if len(shapes) > 1 and shapes != {(n,), (n, 1)}:
            raise ValueError(
                "labels and predictions must have the same shape, not "
                f"{labels.shape} and {predictions.shape}"
            )
        predictions = predictions.reshape(labels.shape)
        decided = predictions.astype(labels.dtype)
        named["accuracy"].update_state(labels, decided, weights)
        for name in list(named)[1:]:
            named[name].update_state(yes(labels), yes(predictions), weights)

    def results():
        found = results_of(named)
        precision, recall = found["precision"], found["recall"]
        twice = np.float32(2) * precision * recall
        total = tf.math.divide_no_nan(twice, precision + recall)
        return {**found, "f1": total.numpy()}

    # --- run
    return stream(update, batches, results)


@keras.saving.register_keras_serializable("v2_keras")
class MeanF1(metrics.Metric):
    """The mean over classes of the F1 score of all rows so far: macro F1.

    The score of a class is 2 * true positives / (its labels + its predictions), and 0
    for a class without either. It is computed from the confusion matrix `matrix`.
    `update_state` takes labels and predictions, [batch] or [batch, 1] class numbers,
    and, optionally, weights, [batch].

    Args:
        num_classes: int, the number of classes.
        name: str, the name of the metric.
        dtype: str, the dtype of the counts and of the result.
    """

    def __init__(self, num_classes, name="mean_f1", dtype=None):
        super().__init__(dtype, name)
        self.num_classes = num_classes
        shape = num_classes, num_classes
        self.matrix = self.add_variable(shape, "zeros", self.dtype, name="matrix")

    def update_state(self, labels, predictions, sample_weight=None):
        self.matrix.assign_add(
            tf.math.confusion_matrix(
                labels, predictions, self.num_classes, sample_weight, self.dtype
            )
        )

    def result(self):
        matrix = self.matrix.value
        sizes = tf.reduce_sum(matrix, 0) + tf.reduce_sum(matrix, 1)
        right = tf.linalg.diag_part(matrix)
        return tf.reduce_mean(tf.math.divide_no_nan(2 * right, sizes))

    def get_config(self):
        return {**super().get_config(), "num_classes": self.num_classes}


def mean_f1(batches, num_classes):
    """Streams a custom metric, macro F1: the mean of the F1 scores of all classes."""
    # --- metrics
    metric = MeanF1(num_classes)

    def results():
        return {"f1": metric.result().numpy(), "matrix": metric.matrix.numpy()}

    # --- run
    return stream(metric.update_state, batches, results)


def evaluate(x, labels, kernel, batch_size):
    """Evaluates a linear classifier with streaming metrics over all batches."""
    # --- build
    features, classes = kernel.shape
    model = keras.Sequential(
        [keras.Input([features]), keras.layers.Dense(classes, use_bias=False)]
    )
    model.set_weights([kernel])
    # --- metrics
    model.compile(
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[
            metrics.SparseCategoricalAccuracy(name="accuracy"),
            metrics.SparseTopKCategoricalAccuracy(2, name="top_2"),
            metrics.MeanIoU(classes, sparse_y_pred=False, name="iou"),
        ],
    )
    # --- run
    found = model.evaluate(x, labels, batch_size, verbose=0, return_dict=True)
    return {name: np.float32(value) for name, value in found.items()}


def report_epochs(epochs):
    """Reports the accuracy of each epoch, and of all epochs so far."""
    # --- metrics
    epoch, run = metrics.Accuracy(), metrics.Accuracy()
    # --- run
    reports = []
    for batches in epochs:
        epoch.reset_state()
        for batch in batches:
            epoch.update_state(*batch)
            run.update_state(*batch)
        reports.append([epoch.result().numpy(), run.result().numpy()])
    return [list(column) for column in zip(*reports)]


def mean_of_batches(batches):
    """Computes the mean of batch accuracies, and the accuracy of all examples."""
    # --- metrics
    streamed, of_batches = metrics.Accuracy(), []
    # --- run
    for batch in batches:
        of_batch = metrics.Accuracy()
        for metric in (of_batch, streamed):
            metric.update_state(*batch)
        of_batches.append(of_batch.result().numpy())
    return {
        "of_batches": of_batches,
        "mean": np.float32(np.mean(of_batches)),
        "streamed": streamed.result().numpy(),
    }
