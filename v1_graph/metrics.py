"""`tf.metrics.…`: a value and its `update_op` → `update_state`, `result`."""

import numpy as np
import tensorflow.compat.v1 as tf

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


def _stream(build, batches, fixed=False):
    """Feeds batches to metrics; returns their values before and after each batch."""
    with tf.Graph().as_default(), tf.Session() as sess:
        rows = [len(a) if fixed else None for a in batches[0]]
        shapes = [[n, *a.shape[1:]] for n, a in zip(rows, batches[0])]
        inputs = [tf.placeholder(a.dtype, s) for a, s in zip(batches[0], shapes)]
        values, updates = _aggregate_metric_map(build(*inputs))
        # Without this line: "Attempting to use uninitialized value".
        sess.run(tf.local_variables_initializer())
        history = [sess.run(values)]
        for batch in batches:
            sess.run(updates, dict(zip(inputs, batch)))
            # Not in the same run: the value could be from before or after the update.
            history.append(sess.run(values))
        return history


def _aggregate_metric_map(metrics):
    """Splits {name: (value, update_op)} into {name: value} and the update ops."""
    values = {name: value for name, (value, _) in metrics.items()}
    return values, [update for _, update in metrics.values()]


def averages(batches):
    """Streams the mean of all values, and the mean of each element.

    Args:
        batches: list of (values,) or (values, weights), arrays of one shape; weights
            may be of size 1 in any dimension.

    Returns:
        List of {"mean": float32 scalar, "mean_tensor": float32 array like `values`},
        at first and after each batch; 0 where the weights sum up to 0.

    Raises:
        ValueError: weights that do not broadcast.
    """

    def build(values, weights=None):
        # --- metrics
        return {
            "mean": tf.metrics.mean(values, weights),
            "mean_tensor": tf.metrics.mean_tensor(values, weights),
        }

    # --- run
    return _stream(build, batches, fixed=True)


def regression(batches, threshold=0.5):
    """Streams regression metrics: absolute, squared, relative error and others.

    Args:
        batches: list of (labels, predictions) or (labels, predictions, weights): float
            arrays of [n, d], [n, d] and [n, 1]; n may vary.
        threshold: the absolute error below which `below` counts a row.

    Returns:
        List of {name: float32 scalar}, at first and after each batch.

    Raises:
        ValueError: shapes that do not fit.
    """

    def build(labels, predictions, weights=None):
        # --- metrics
        error = tf.abs(predictions - labels)
        return {
            "absolute": tf.metrics.mean_absolute_error(labels, predictions, weights),
            "squared": tf.metrics.mean_squared_error(labels, predictions, weights),
            "root": tf.metrics.root_mean_squared_error(labels, predictions, weights),
            "relative": tf.metrics.mean_relative_error(
                labels, predictions, tf.abs(labels), weights
            ),
            "below": tf.metrics.percentage_below(error, threshold, weights),
            "cosine": tf.metrics.mean_cosine_distance(labels, predictions, 1, weights),
        }

    # --- run
    return _stream(build, batches)


def decisions(batches):
    """Streams accuracy, precision, recall, F1 and the counts of a confusion matrix.

    Args:
        batches: list of (labels, predictions) or (labels, predictions, weights), [n] or
            [n, 1] arrays; n may vary. Every number except 0 is positive, so round
            probabilities before; accuracy compares in the dtype of `labels`.

    Returns:
        List of {name: float32 scalar}, at first and after each batch.

    Raises:
        ValueError: shapes that do not fit.
    """

    def build(labels, predictions, weights=None):
        # --- metrics
        args = labels, predictions, weights
        precision, update_precision = tf.metrics.precision(*args)
        recall, update_recall = tf.metrics.recall(*args)
        f1 = tf.div_no_nan(2 * precision * recall, precision + recall)
        return {
            "accuracy": tf.metrics.accuracy(*args),
            "tp": tf.metrics.true_positives(*args),
            "fp": tf.metrics.false_positives(*args),
            "tn": tf.metrics.true_negatives(*args),
            "fn": tf.metrics.false_negatives(*args),
            "precision": (precision, update_precision),
            "recall": (recall, update_recall),
            "f1": (f1, tf.group(update_precision, update_recall)),
        }

    # --- run
    return _stream(build, batches)


def curves(
    batches,
    thresholds=(0.25, 0.5, 0.75),
    num_thresholds=200,
    target=0.75,
    method="careful_interpolation",
):
    """Streams AUC of ROC and precision-recall curves, and metrics at thresholds.

    Args:
        batches: list of (labels, scores) or (labels, scores, weights), [n] or [n, 1]
            arrays; n may vary. A score above a threshold, in float32, is positive.
        thresholds: thresholds of precision, recall and false positives.
        num_thresholds: number of thresholds on a curve, ends included.
        target: the specificity at which sensitivity is measured, and the sensitivity at
            which specificity is measured.
        method: rule for the area: "trapezoidal", "minoring", "majoring", or
            "careful_interpolation", which is "trapezoidal" for ROC.

    Returns:
        List of {name: float32 array}, at first and after each batch.

    Raises:
        ValueError: shapes that do not fit, an unknown method, a target outside [0, 1].
        tf.errors.InvalidArgumentError: scores outside [0, 1], unless labels are boolean
            and scores float32: the check runs only before a cast, and such inputs are
            not cast.
    """

    def build(labels, scores, weights=None):
        # --- metrics
        options = {"num_thresholds": num_thresholds, "summation_method": method}
        return {
            "roc": tf.metrics.auc(labels, scores, weights, **options),
            "pr": tf.metrics.auc(labels, scores, weights, curve="PR", **options),
            "precision": tf.metrics.precision_at_thresholds(
                labels, scores, thresholds, weights
            ),
            "recall": tf.metrics.recall_at_thresholds(
                labels, scores, thresholds, weights
            ),
            "fp": tf.metrics.false_positives_at_thresholds(
                labels, scores, thresholds, weights
            ),
            "sensitivity": tf.metrics.sensitivity_at_specificity(
                labels, scores, target, weights, num_thresholds
            ),
            "specificity": tf.metrics.specificity_at_sensitivity(
                labels, scores, target, weights, num_thresholds
            ),
        }

    # --- run
    return _stream(build, batches)


def classes(batches, num_classes):
    """Streams mean intersection over union and mean per-class accuracy.

    Args:
        batches: list of (labels, predictions) or (labels, predictions, weights): arrays
            of one shape, class numbers; the number of rows may vary.
        num_classes: number of classes.

    Returns:
        List of {name: float32 scalar}, at first and after each batch: IoU over the
        classes that occur, accuracy over all classes.

    Raises:
        tf.errors.InvalidArgumentError: a number is not a class.
    """

    def build(labels, predictions, weights=None):
        # --- metrics
        # Their update ops do not return the new value, but a confusion matrix and a
        # vector.
        return {
            "iou": tf.metrics.mean_iou(labels, predictions, num_classes, weights),
            "accuracy": tf.metrics.mean_per_class_accuracy(
                labels, predictions, num_classes, weights
            ),
        }

    # --- run
    return _stream(build, batches)


def top_k(batches, k, class_id=None):
    """Streams precision, recall and average precision of the k highest scores.

    Args:
        batches: list of (labels, scores) or (labels, scores, weights): int64 [n] or
            [n, labels], float [n, classes] and float [n] arrays; n may vary.
        k: number of scores that count; among equal scores, the scores of lower classes.
        class_id: the class of precision and recall, or None for all.

    Returns:
        List of {name: float64 scalar}, at first and after each batch; NaN for 0 / 0.

    Raises:
        ValueError: k is more than the number of classes.
    """

    def build(labels, scores, weights=None):
        # --- metrics
        return {
            "precision": tf.metrics.precision_at_k(
                labels, scores, k, class_id, weights
            ),
            "recall": tf.metrics.recall_at_k(labels, scores, k, class_id, weights),
            "average": tf.metrics.average_precision_at_k(labels, scores, k, weights),
        }

    # --- run
    return _stream(build, batches)


def mean_f1(batches, num_classes):
    """Streams a custom metric, macro F1: the mean of the F1 scores of all classes.

    Args:
        batches: list of (labels, predictions), [n] arrays of class numbers; n may vary.
        num_classes: number of classes.

    Returns:
        List of {"f1": float32 scalar, "matrix": float32 [classes, classes] array}, at
        first and after each batch; rows of the matrix are labels.

    Raises:
        tf.errors.InvalidArgumentError: a number is not a class.
    """

    def build(labels, predictions):
        # --- metrics
        with tf.variable_scope("mean_f1"):
            matrix = tf.get_variable(
                "matrix",
                [num_classes, num_classes],
                initializer=tf.zeros_initializer(),
                trainable=False,
                collections=[
                    tf.GraphKeys.LOCAL_VARIABLES,
                    tf.GraphKeys.METRIC_VARIABLES,
                ],
            )
            counts = tf.confusion_matrix(labels, predictions, num_classes, tf.float32)
            update = tf.assign_add(matrix, counts)
            right = tf.diag_part(matrix)
            sizes = tf.reduce_sum(matrix, 0) + tf.reduce_sum(matrix, 1)
            f1 = tf.reduce_mean(tf.div_no_nan(2 * right, sizes))
        return {"f1": (f1, update), "matrix": (matrix.read_value(), update)}

    # --- run
    return _stream(build, batches)


def evaluate(x, labels, kernel, batch_size):
    """Evaluates a linear classifier with streaming metrics over all batches.

    Args:
        x: [n, features] float array.
        labels: [n] integer array.
        kernel: [features, classes] array of the dtype of `x`.
        batch_size: number of rows in a batch; the last batch may have fewer.

    Returns:
        {name: float32 scalar}: mean `loss`, `accuracy`, `top_2` and `iou`.

    Raises:
        tf.errors.InvalidArgumentError: a label is not a class.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        data = tf.data.Dataset.from_tensor_slices((x, labels)).batch(batch_size)
        rows, targets = tf.data.make_one_shot_iterator(data).get_next()
        logits = tf.matmul(rows, kernel)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=targets, logits=logits
        )
        answers = tf.argmax(logits, 1)
        hits = tf.nn.in_top_k(tf.cast(logits, tf.float32), targets, 2)
        # --- metrics
        values, updates = _aggregate_metric_map(
            {
                "loss": tf.metrics.mean(losses),
                "accuracy": tf.metrics.accuracy(targets, answers),
                "top_2": tf.metrics.mean(hits),
                "iou": tf.metrics.mean_iou(targets, answers, kernel.shape[1]),
            }
        )
        # --- run
        sess.run(tf.local_variables_initializer())
        update = tf.group(*updates)
        try:
            while True:
                sess.run(update)
        except tf.errors.OutOfRangeError:
            return sess.run(values)


def report_epochs(epochs):
    """Reports the accuracy of each epoch, and of all epochs so far.

    Args:
        epochs: list of lists of (labels, predictions), [n] integer arrays.

    Returns:
        ([accuracy of each epoch], [accuracy of all epochs so far]), float32 scalars.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- metrics
        labels = tf.placeholder(tf.int64, [None])
        predictions = tf.placeholder(tf.int64, [None])
        with tf.variable_scope("epoch"):
            epoch, update_epoch = tf.metrics.accuracy(labels, predictions)
        with tf.variable_scope("run"):
            run, update_run = tf.metrics.accuracy(labels, predictions)
        # The slash matters: a scope is a regular expression, and "run" also finds
        # "run_2".
        epoch_variables = tf.get_collection(tf.GraphKeys.METRIC_VARIABLES, "epoch/")
        reset = tf.variables_initializer(epoch_variables)
        # --- run
        sess.run(tf.local_variables_initializer())
        reports = []
        for batches in epochs:
            sess.run(reset)
            for batch in batches:
                feed = dict(zip([labels, predictions], batch))
                sess.run([update_epoch, update_run], feed)
            reports.append(sess.run([epoch, run]))
        return [list(column) for column in zip(*reports)]


def mean_of_batches(batches):
    """Computes the mean of batch accuracies, and the accuracy of all examples.

    Args:
        batches: list of (labels, predictions), [n] integer arrays; n may vary.

    Returns:
        dict of float32: the accuracies `of_batches`, their `mean`, and `streamed`.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- metrics
        labels = tf.placeholder(tf.int64, [None])
        predictions = tf.placeholder(tf.int64, [None])
        correct = tf.cast(tf.equal(labels, predictions), tf.float32)
        of_batch = tf.reduce_mean(correct)
        streamed, update = tf.metrics.mean(correct)
        # --- run
        sess.run(tf.local_variables_initializer())
        of_batches = []
        for batch in batches:
            feed = dict(zip([labels, predictions], batch))
            of_batches.append(sess.run([of_batch, update], feed)[0])
        return {
            "of_batches": of_batches,
            "mean": np.float32(np.mean(of_batches)),
            "streamed": sess.run(streamed),
        }


def confusion_matrix(
    labels, predictions, num_classes=None, weights=None, dtype="float32"
):
    """Counts the predictions (columns) for each label (row), optionally weighted.

    Args:
        labels: [n] or [n, 1] integer tensor.
        predictions: tensor of the same size.
        num_classes: number of classes; None for the largest number + 1.
        weights: [n] tensor of any number dtype, or None.
        dtype: dtype of the result; an integer dtype truncates weights.

    Returns:
        [num_classes, num_classes] tensor.

    Raises:
        tf.errors.InvalidArgumentError: a number is not a class.
    """
    return tf.confusion_matrix(
        labels, predictions, num_classes, tf.as_dtype(dtype), weights=weights
    )


def in_top_k(predictions, targets, k):
    """Returns for each row whether the target's score is among the k highest.

    Args:
        predictions: [n, classes] float32 tensor of scores.
        targets: [n] integer tensor of class numbers.
        k: number of scores that count; classes that tie with the k-th all count.

    Returns:
        [n] boolean tensor: False if a score is not finite, or if the target is not a
        class.
    """
    return tf.nn.in_top_k(predictions, targets, k)
