"""`tf.losses.…`, `weights`, `Reduction`, the collection → functions, and a list."""

import tensorflow.compat.v1 as tf

__all__ = [
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
    "segmentation_loss",
    "softmax_losses",
    "weighted_sigmoid_losses",
    "collected_losses",
]

BY_NONZERO_WEIGHTS = tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS


def compute_weighted_loss(losses, weights=1.0, reduction=BY_NONZERO_WEIGHTS):
    """Multiplies losses by weights, in float32, and reduces them to one number.

    Args:
        losses: tensor of any shape.
        weights: a number, or a tensor of the rank of `losses` whose sizes are 1 or
            those of `losses`.
        reduction: "none", "weighted_sum", "weighted_sum_over_batch_size" (divided by
            the number of losses), "weighted_mean" (by the sum of the weights) or
            "weighted_sum_by_nonzero_weights". 0 divided by 0 is 0.

    Returns:
        Tensor of the dtype of `losses`: a scalar, or the weighted losses for "none".

    Raises:
        ValueError: an unknown reduction, or weights of another rank.
    """
    # It also adds the result to the collection tf.GraphKeys.LOSSES.
    return tf.losses.compute_weighted_loss(losses, weights, reduction=reduction)


def absolute_difference(labels, predictions, weights=1.0, reduction=BY_NONZERO_WEIGHTS):
    """Averages the absolute difference |predictions - labels|.

    Args:
        labels, predictions: tensors of one shape.
        weights, reduction: see `compute_weighted_loss`.

    Returns:
        float32 scalar; for "none" a tensor like `predictions`.
    """
    return tf.losses.absolute_difference(
        labels, predictions, weights, reduction=reduction
    )


def mean_squared_error(labels, predictions, weights=1.0, reduction=BY_NONZERO_WEIGHTS):
    """Averages the squared difference of predictions and labels.

    Args:
        labels, predictions: tensors of one shape.
        weights, reduction: see `compute_weighted_loss`.

    Returns:
        float32 scalar; for "none" a tensor like `predictions`.

    Raises:
        ValueError: shapes that are known to differ, such as [n] and [n, 1].
    """
    return tf.losses.mean_squared_error(
        labels, predictions, weights, reduction=reduction
    )


def huber_loss(
    labels, predictions, weights=1.0, delta=1.0, reduction=BY_NONZERO_WEIGHTS
):
    """Averages the Huber loss: error ** 2 / 2 up to `delta`, linear beyond it.

    Args:
        labels, predictions: tensors of one shape.
        weights, reduction: see `compute_weighted_loss`.
        delta: the absolute error above which the loss is linear.

    Returns:
        float32 scalar; for "none" a tensor like `predictions`.
    """
    return tf.losses.huber_loss(
        labels, predictions, weights, delta, reduction=reduction
    )


def mean_pairwise_squared_error(labels, predictions, weights=1.0):
    """Averages the squared differences between all pairs of errors of an example.

    Args:
        labels: [batch, ...] tensor.
        predictions: tensor of the same shape.
        weights: a number, or a [batch, 1, ...] tensor of the rank of `labels`.

    Returns:
        float32 scalar: per example the mean over all pairs of elements, summed over
        the batch; the reduction cannot be chosen.
    """
    return tf.losses.mean_pairwise_squared_error(labels, predictions, weights)


def cosine_distance(
    labels, predictions, axis, weights=1.0, reduction=BY_NONZERO_WEIGHTS
):
    """Averages the cosine distance, 1 - labels · predictions, of unit vectors.

    Args:
        labels, predictions: tensors of one shape.
        axis: axis of the vectors.
        weights, reduction: see `compute_weighted_loss`.

    Returns:
        float32 scalar; for "none" like `predictions`, of size 1 along `axis`.
    """
    return tf.losses.cosine_distance(
        labels, predictions, axis, weights, reduction=reduction
    )


def hinge_loss(labels, logits, weights=1.0, reduction=BY_NONZERO_WEIGHTS):
    """Averages the hinge loss, max(0, 1 - y * logits) with y = 2 * labels - 1.

    Args:
        labels: tensor of 0 and 1, not -1 and 1.
        logits: tensor of the same shape.
        weights, reduction: see `compute_weighted_loss`.

    Returns:
        float32 scalar; for "none" a tensor like `logits`.
    """
    return tf.losses.hinge_loss(labels, logits, weights, reduction=reduction)


def log_loss(
    labels, predictions, weights=1.0, epsilon=1e-7, reduction=BY_NONZERO_WEIGHTS
):
    """Averages the binary cross-entropy of probabilities, with epsilon in the log.

    Args:
        labels: tensor of numbers from 0 to 1.
        predictions: tensor of the same shape, probabilities.
        weights, reduction: see `compute_weighted_loss`.
        epsilon: added to probabilities, which are not clipped.

    Returns:
        float32 scalar; for "none" a tensor like `predictions`.
    """
    return tf.losses.log_loss(
        labels, predictions, weights, epsilon, reduction=reduction
    )


def sigmoid_cross_entropy(
    labels, logits, weights=1.0, label_smoothing=0, reduction=BY_NONZERO_WEIGHTS
):
    """Averages the sigmoid cross-entropy of independent labels and logits.

    Args:
        labels: tensor of probabilities of any shape and number dtype.
        logits: float tensor of the same shape.
        weights, reduction: see `compute_weighted_loss`.
        label_smoothing: how far labels are moved towards 1/2, from 0 to 1.

    Returns:
        Scalar of the dtype of `logits`; for "none" a tensor like `logits`.
    """
    return tf.losses.sigmoid_cross_entropy(
        labels, logits, weights, label_smoothing, reduction=reduction
    )


def softmax_cross_entropy(
    labels, logits, weights=1.0, label_smoothing=0, reduction=BY_NONZERO_WEIGHTS
):
    """Averages the softmax cross-entropy of one-hot labels and logits.

    Args:
        labels: [..., classes] tensor of any number dtype.
        logits: float tensor of the same shape.
        weights, reduction: see `compute_weighted_loss` of [...] losses.
        label_smoothing: share of the labels that is spread over all classes evenly.

    Returns:
        Scalar of the dtype of `logits`; for "none" [...] tensor.
    """
    return tf.losses.softmax_cross_entropy(
        labels, logits, weights, label_smoothing, reduction=reduction
    )


def sparse_softmax_cross_entropy(
    labels, logits, weights=1.0, reduction=BY_NONZERO_WEIGHTS
):
    """Averages the softmax cross-entropy of integer class labels and logits.

    Args:
        labels: [...] or [..., 1] integer tensor of numbers less than `classes`.
        logits: [..., classes] float tensor.
        weights, reduction: see `compute_weighted_loss` of [...] losses; also [..., 1].

    Returns:
        Scalar of the dtype of `logits`; for "none" [...] tensor.
    """
    return tf.losses.sparse_softmax_cross_entropy(
        labels, logits, weights, reduction=reduction
    )


def segmentation_loss(labels, logits, class_weights, ignored=255):
    """Averages the cross-entropy of pixels, weighted by class; one label is ignored.

    Args:
        labels: [...] integer tensor of numbers less than `classes`, or `ignored`.
        logits: [..., classes] float tensor.
        class_weights: [classes] tensor of the dtype of `logits`.
        ignored: the label of pixels that do not count.

    Returns:
        Scalar of the dtype of `logits`: the sum over the pixels, divided by the number
        of pixels with a weight; 0 if no pixel has a weight.
    """
    kept = tf.not_equal(labels, ignored)
    # An ignored label is not a class: `gather` and the loss would refuse it.
    labels = tf.where(kept, labels, tf.zeros_like(labels))
    weights = tf.gather(class_weights, labels) * tf.cast(kept, class_weights.dtype)
    return tf.losses.sparse_softmax_cross_entropy(labels, logits, weights)


def softmax_losses(labels, logits, axis=-1):
    """Computes the softmax cross-entropy of each example; labels get no gradient.

    Args:
        labels: tensor of probabilities, classes along `axis`.
        logits: tensor of the same shape and dtype.
        axis: the dimension of the classes.

    Returns:
        Tensor without the dimension `axis`.
    """
    # Pass keywords: until 1.0 the order was logits, labels.
    return tf.nn.softmax_cross_entropy_with_logits(
        labels=labels, logits=logits, dim=axis
    )


def weighted_sigmoid_losses(labels, logits, pos_weight):
    """Computes sigmoid cross-entropies with a weight for positive labels.

    Args:
        labels: float tensor of probabilities.
        logits: tensor of the same shape and dtype.
        pos_weight: a number, or a tensor that broadcasts with `logits`.

    Returns:
        Tensor like `logits`.
    """
    return tf.nn.weighted_cross_entropy_with_logits(
        targets=labels, logits=logits, pos_weight=pos_weight
    )


def collected_losses(labels, predictions, kernel, scale=0.125):
    """Collects losses and regularization penalties, and sums them.

    Args:
        labels: float array of any shape.
        predictions: array of the same shape and dtype.
        kernel: float array that gets the penalty.
        scale: weight of the penalty.

    Returns:
        dict with the list of `losses`, the list of the losses named `auxiliary`, the
        list of penalties `regularization`, their `penalty`, the `data` loss and the
        `total`.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- add
        y, z = tf.constant(labels), tf.constant(predictions)
        tf.losses.mean_squared_error(y, z)
        tf.losses.absolute_difference(y, z, 0.5, scope="auxiliary")
        unused = tf.losses.huber_loss(y, z, loss_collection=None)
        tf.losses.add_loss(tf.cast(tf.reduce_max(tf.abs(z)), tf.float32))
        penalty = tf.cast(scale * tf.nn.l2_loss(tf.constant(kernel)), tf.float32)
        tf.losses.add_loss(penalty, tf.GraphKeys.REGULARIZATION_LOSSES)
        # --- sum
        found = {
            "losses": tf.losses.get_losses(),
            "auxiliary": tf.losses.get_losses("auxiliary"),
            "regularization": tf.losses.get_regularization_losses(),
            "penalty": tf.losses.get_regularization_loss(),
            "data": tf.losses.get_total_loss(add_regularization_losses=False),
            "total": tf.losses.get_total_loss(),
            "unused": unused,
        }
        # --- run
        return sess.run(found)
