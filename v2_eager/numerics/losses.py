"""The losses of `tf.losses`: weighted, and reduced to a scalar.

    loss = mean_squared_error(labels, predictions, weights)

As in v1, most compute in float32 whatever the inputs' dtype is. They add nothing to a
collection. Follows `tensorflow/python/ops/losses/losses_impl.py` of 1.15.5, op by op;
today's kernels of exp, log and long sums round differently.
"""

import tensorflow as tf

__all__ = [
    "Reduction",
    "compute_weighted_loss",
    "absolute_difference",
    "mean_squared_error",
    "huber_loss",
    "mean_pairwise_squared_error",
    "cosine_distance",
    "hinge_loss",
    "log_loss",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
]


class Reduction:
    """v1's names of the reductions; today's `tf.losses.Reduction` has other names."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    ALL = (NONE, SUM, SUM_OVER_BATCH_SIZE, MEAN, SUM_BY_NONZERO_WEIGHTS)


BY_NONZERO_WEIGHTS = Reduction.SUM_BY_NONZERO_WEIGHTS
NOT_FITTING = "weights can not be broadcast to values"


def compute_weighted_loss(losses, weights=1.0, reduction=BY_NONZERO_WEIGHTS):
    """Multiplies losses by weights in float32, and reduces them to a scalar.

    Args:
        losses: tensor of any shape.
        weights: a number, or a tensor of the rank of `losses` whose dimensions are 1 or
            those of `losses`.
        reduction: "none", "weighted_sum", "weighted_sum_over_batch_size" (divided by
            the number of losses), "weighted_mean" (divided by the sum of the weights)
            or "weighted_sum_by_nonzero_weights" (divided by the number of weights other
            than 0). A division by zero gives 0.

    Returns:
        Tensor of the dtype of `losses`: a scalar, or the weighted losses for "none".

    Raises:
        ValueError: an unknown reduction, or weights of another rank. If a rank is
            unknown while tracing, tf.errors.InvalidArgumentError.
    """
    if reduction not in Reduction.ALL:
        raise ValueError(f"Invalid Reduction Key {reduction}")
    losses = tf.convert_to_tensor(losses)
    values = tf.cast(losses, tf.float32)
    weights = float32_weights(weights, values)
    weighted = fitting(values * weights, values)
    if reduction == Reduction.NONE:
        return tf.cast(weighted, losses.dtype)
    loss, ones = tf.reduce_sum(weighted), tf.ones_like(values)
    if reduction == Reduction.MEAN:
        loss = tf.math.divide_no_nan(loss, tf.reduce_sum(ones * weights))
    elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
        loss = tf.math.divide_no_nan(loss, tf.reduce_sum(ones))
    elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
        loss = tf.math.divide_no_nan(loss, number_present(values, weights))
    return tf.cast(loss, losses.dtype)


def float32_weights(weights, values):
    """Casts weights to float32, and checks that their rank is 0 or that of the losses.

    Weights of another rank would broadcast vectors to a matrix. If a rank is unknown
    while tracing, the check runs with the graph.

    Args:
        weights: a number, or a tensor of the rank of `values`.
        values: tensor of losses.

    Returns:
        float32 tensor.

    Raises:
        ValueError: the rank of the weights is neither 0 nor the rank of `values`.
        tf.errors.InvalidArgumentError: the same mistake, if a rank is unknown while
            tracing.
    """
    weights = tf.cast(weights, tf.float32)
    ranks, message = [weights.shape.rank, values.shape.rank], NOT_FITTING
    if ranks[0] == 0:
        return weights
    if None in ranks:
        wanted = tf.where(tf.rank(weights) == 0, 0, tf.rank(values))
        tf.debugging.assert_equal(tf.rank(weights), wanted, message)
    elif ranks[0] != ranks[1]:
        raise ValueError(f"{message}: {weights.shape} and {values.shape}")
    return weights


def fitting(weighted, values):
    """Returns weighted losses; raises if the weights have broadcast them.

    Args:
        weighted: losses times weights.
        values: the losses.

    Raises:
        tf.errors.InvalidArgumentError: `weighted` has another shape than `values`.
    """
    tf.debugging.assert_equal(tf.shape(weighted), tf.shape(values), NOT_FITTING)
    return weighted


def number_present(values, weights, axis=None):
    """Counts the values whose weight is not 0.

    Args:
        values: float32 tensor.
        weights: float32 tensor that broadcasts to `values`.
        axis: axes to count along; they remain with size 1. None for all axes.

    Returns:
        float32 tensor.
    """
    present = tf.cast(tf.not_equal(weights, 0), tf.float32) * tf.ones_like(values)
    return tf.reduce_sum(present, axis, keepdims=axis is not None)


def float32_pair(labels, predictions):
    """Casts labels and predictions to float32, and checks that their shapes agree.

    Args:
        labels: tensor of numbers.
        predictions: tensor of the same shape.

    Returns:
        (labels, predictions).

    Raises:
        ValueError: the static shapes differ.
    """
    labels = tf.cast(labels, tf.float32)
    predictions = tf.cast(predictions, tf.float32)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return labels, predictions


def absolute_difference(labels, predictions, weights=1.0, reduction=BY_NONZERO_WEIGHTS):
    """Computes the mean of |predictions - labels|.

    Args:
        labels, predictions: tensors of one shape.
        weights, reduction: see `compute_weighted_loss`.

    Returns:
        float32 scalar; for "none" a tensor of the shape of `predictions`.
    """
    labels, predictions = float32_pair(labels, predictions)
    return compute_weighted_loss(tf.abs(predictions - labels), weights, reduction)


def mean_squared_error(labels, predictions, weights=1.0, reduction=BY_NONZERO_WEIGHTS):
    """Computes the mean of (predictions - labels) ** 2.

    Args:
        labels, predictions: tensors of one shape.
        weights, reduction: see `compute_weighted_loss`.

    Returns:
        float32 scalar; for "none" a tensor of the shape of `predictions`.

    Raises:
        ValueError: the static shapes differ, such as [n] and [n, 1].
    """
    labels, predictions = float32_pair(labels, predictions)
    losses = tf.math.squared_difference(predictions, labels)
    return compute_weighted_loss(losses, weights, reduction)


def huber_loss(
    labels, predictions, weights=1.0, delta=1.0, reduction=BY_NONZERO_WEIGHTS
):
    """Computes the mean Huber loss: error ** 2 / 2 up to delta, linear beyond delta.

    Args:
        labels, predictions: tensors of one shape.
        weights, reduction: see `compute_weighted_loss`.
        delta: absolute error at which the loss becomes linear.

    Returns:
        float32 scalar; for "none" a tensor of the shape of `predictions`.
    """
    labels, predictions = float32_pair(labels, predictions)
    error = tf.abs(predictions - labels)
    quadratic = tf.minimum(error, delta)
    linear = error - quadratic  # at delta the gradient is 0; tf.maximum's would not be
    losses = 0.5 * (quadratic * quadratic) + delta * linear
    return compute_weighted_loss(losses, weights, reduction)


def mean_pairwise_squared_error(labels, predictions, weights=1.0):
    """Computes the mean squared difference between the errors of each example.

    Args:
        labels: [batch, ...] tensor.
        predictions: tensor of the same shape.
        weights: a number, or a [batch, 1, ...] tensor of the rank of `labels`.

    Returns:
        float32 scalar: the mean over all pairs of elements of each example, summed
        over the batch. There is no `reduction` argument.
    """
    labels, predictions = float32_pair(labels, predictions)
    errors = predictions - labels
    weights = float32_weights(weights, errors)
    fitting(errors * weights, errors)
    axis = tf.range(1, tf.rank(errors))
    n = number_present(errors, weights, axis)
    squares = tf.reduce_sum(tf.square(errors), axis, keepdims=True)
    sums = tf.reduce_sum(errors, axis, keepdims=True)
    # Over all pairs: n times the sum of squares, minus the square of the sum.
    first = 2.0 * tf.math.divide_no_nan(squares, tf.maximum(n - 1, 0))
    second = 2.0 * tf.math.divide_no_nan(tf.square(sums), tf.maximum(n * (n - 1), 0))
    return tf.reduce_sum((first - second) * weights)


def cosine_distance(
    labels, predictions, axis, weights=1.0, reduction=BY_NONZERO_WEIGHTS
):
    """Computes the mean of 1 - labels · predictions, for vectors of unit length.

    Args:
        labels, predictions: tensors of one shape.
        axis: axis of the vectors.
        weights, reduction: see `compute_weighted_loss`.

    Returns:
        float32 scalar; for "none" the shape of `predictions` with size 1 along `axis`.
    """
    labels, predictions = float32_pair(labels, predictions)
    losses = 1 - tf.reduce_sum(predictions * labels, axis, keepdims=True)
    return compute_weighted_loss(losses, weights, reduction)


def hinge_loss(labels, logits, weights=1.0, reduction=BY_NONZERO_WEIGHTS):
    """Computes the mean hinge loss max(0, 1 - y * logits), with y = 2 * labels - 1.

    Args:
        labels: tensor of 0 and 1, not -1 and 1.
        logits: tensor of the same shape.
        weights, reduction: see `compute_weighted_loss`.

    Returns:
        float32 scalar; for "none" a tensor of the shape of `logits`.
    """
    labels, logits = float32_pair(labels, logits)
    losses = tf.nn.relu(1 - (2 * labels - 1) * logits)
    return compute_weighted_loss(losses, weights, reduction)


def log_loss(
    labels, predictions, weights=1.0, epsilon=1e-7, reduction=BY_NONZERO_WEIGHTS
):
    """Computes the mean binary cross-entropy of probabilities, as -log(p + epsilon).

    Args:
        labels: tensor of numbers from 0 to 1.
        predictions: probabilities, a tensor of the same shape.
        weights, reduction: see `compute_weighted_loss`.
        epsilon: added to the probabilities; they are not clipped.

    Returns:
        float32 scalar; for "none" a tensor of the shape of `predictions`.
    """
    labels, predictions = float32_pair(labels, predictions)
    losses = -labels * tf.math.log(predictions + epsilon)
    losses -= (1 - labels) * tf.math.log(1 - predictions + epsilon)
    return compute_weighted_loss(losses, weights, reduction)


def sigmoid_cross_entropy(
    multi_class_labels,
    logits,
    weights=1.0,
    label_smoothing=0,
    reduction=BY_NONZERO_WEIGHTS,
):
    """Computes the mean sigmoid cross-entropy of logits with independent labels.

    Args:
        multi_class_labels: labels or probabilities, a tensor of any numeric dtype.
        logits: float tensor of the same shape.
        weights, reduction: see `compute_weighted_loss`.
        label_smoothing: s from 0 to 1; the labels become labels * (1 - s) + s / 2.

    Returns:
        Scalar of the dtype of `logits`; for "none" a tensor of the shape of `logits`.
    """
    logits = tf.convert_to_tensor(logits)
    labels = tf.cast(multi_class_labels, logits.dtype)
    logits.shape.assert_is_compatible_with(labels.shape)
    if label_smoothing > 0:
        labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    return compute_weighted_loss(losses, weights, reduction)


def softmax_cross_entropy(
    onehot_labels, logits, weights=1.0, label_smoothing=0, reduction=BY_NONZERO_WEIGHTS
):
    """Computes the mean softmax cross-entropy of logits with one-hot labels.

    Args:
        onehot_labels: [..., classes] tensor of any numeric dtype.
        logits: float tensor of the same shape.
        weights, reduction: see `compute_weighted_loss`; the losses have shape [...].
        label_smoothing: share of the labels that is spread evenly over all classes.

    Returns:
        Scalar of the dtype of `logits`; for "none" a [...] tensor.
    """
    logits = tf.convert_to_tensor(logits)
    labels = tf.cast(onehot_labels, logits.dtype)
    logits.shape.assert_is_compatible_with(labels.shape)
    if label_smoothing > 0:
        classes = tf.cast(tf.shape(labels)[-1], logits.dtype)
        labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
    labels = tf.stop_gradient(labels)
    losses = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return compute_weighted_loss(losses, weights, reduction)


def sparse_softmax_cross_entropy(
    labels, logits, weights=1.0, reduction=BY_NONZERO_WEIGHTS
):
    """Computes the mean softmax cross-entropy of logits with class ids as labels.

    Args:
        labels: [...] or [..., 1] integer tensor of ids less than `classes`.
        logits: [..., classes] float tensor.
        weights, reduction: see `compute_weighted_loss`; the losses have shape [...].
            The weights may also have shape [..., 1].

    Returns:
        Scalar of the dtype of `logits`; for "none" a [...] tensor.
    """
    labels, logits = tf.convert_to_tensor(labels), tf.convert_to_tensor(logits)
    weights = tf.convert_to_tensor(weights)
    if None in (labels.shape.rank, logits.shape.rank):
        labels = tf.reshape(labels, tf.shape(logits)[:-1])
    elif labels.shape.rank == logits.shape.rank:
        labels = tf.squeeze(labels, -1)
    if weights.shape.rank and weights.shape.rank - 1 == labels.shape.rank:
        weights = tf.squeeze(weights, -1)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    return compute_weighted_loss(losses, weights, reduction)
