"""`tf.losses.…`, `weights`, `Reduction`, the collection → functions, and a list.

See `v2_eager.numerics.losses` for arguments, return values and errors.
"""

import tensorflow as tf

from v2_eager.numerics import losses as numerics

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

BY_NONZERO_WEIGHTS = numerics.Reduction.SUM_BY_NONZERO_WEIGHTS


def compute_weighted_loss(losses, weights=1.0, reduction=BY_NONZERO_WEIGHTS):
    """Multiplies losses by weights, in float32, and reduces them to one number."""
    return numerics.compute_weighted_loss(losses, weights, reduction)


def absolute_difference(labels, predictions, weights=1.0, reduction=BY_NONZERO_WEIGHTS):
    """Averages the absolute difference |predictions - labels|."""
    return numerics.absolute_difference(labels, predictions, weights, reduction)


def mean_squared_error(labels, predictions, weights=1.0, reduction=BY_NONZERO_WEIGHTS):
    """Averages the squared difference of predictions and labels."""
    return numerics.mean_squared_error(labels, predictions, weights, reduction)


def huber_loss(
    labels, predictions, weights=1.0, delta=1.0, reduction=BY_NONZERO_WEIGHTS
):
    """Averages the Huber loss: error ** 2 / 2 up to `delta`, linear beyond it."""
    return numerics.huber_loss(labels, predictions, weights, delta, reduction)


def mean_pairwise_squared_error(labels, predictions, weights=1.0):
    """Averages the squared differences between all pairs of errors of an example."""
    return numerics.mean_pairwise_squared_error(labels, predictions, weights)


def cosine_distance(
    labels, predictions, axis, weights=1.0, reduction=BY_NONZERO_WEIGHTS
):
    """Averages the cosine distance, 1 - labels · predictions, of unit vectors."""
    return numerics.cosine_distance(labels, predictions, axis, weights, reduction)


def hinge_loss(labels, logits, weights=1.0, reduction=BY_NONZERO_WEIGHTS):
    """Averages the hinge loss, max(0, 1 - y * logits) with y = 2 * labels - 1."""
    return numerics.hinge_loss(labels, logits, weights, reduction)


def log_loss(
    labels, predictions, weights=1.0, epsilon=1e-7, reduction=BY_NONZERO_WEIGHTS
):
    """Averages the binary cross-entropy of probabilities, with epsilon in the log."""
    return numerics.log_loss(labels, predictions, weights, epsilon, reduction)


def sigmoid_cross_entropy(
    labels, logits, weights=1.0, label_smoothing=0, reduction=BY_NONZERO_WEIGHTS
):
    """Averages the sigmoid cross-entropy of independent labels and logits."""
    return numerics.sigmoid_cross_entropy(
        labels, logits, weights, label_smoothing, reduction
    )


def softmax_cross_entropy(
    labels, logits, weights=1.0, label_smoothing=0, reduction=BY_NONZERO_WEIGHTS
):
    """Averages the softmax cross-entropy of one-hot labels and logits."""
    return numerics.softmax_cross_entropy(
        labels, logits, weights, label_smoothing, reduction
    )


def sparse_softmax_cross_entropy(
    labels, logits, weights=1.0, reduction=BY_NONZERO_WEIGHTS
):
    """Averages the softmax cross-entropy of integer class labels and logits."""
    return numerics.sparse_softmax_cross_entropy(labels, logits, weights, reduction)


def segmentation_loss(labels, logits, class_weights, ignored=255):
    """Averages the cross-entropy of pixels, weighted by class; one label is ignored."""
    kept = labels != ignored
    # An ignored label is not a class: `gather` and the loss would refuse it.
    labels = tf.where(kept, labels, 0)
    weights = tf.gather(class_weights, labels) * tf.cast(kept, class_weights.dtype)
    return sparse_softmax_cross_entropy(labels, logits, weights)


def softmax_losses(labels, logits, axis=-1):
    """Computes the softmax cross-entropy of each example; labels get no gradient."""
    return tf.nn.softmax_cross_entropy_with_logits(
        labels=tf.stop_gradient(labels), logits=logits, axis=axis
    )


def weighted_sigmoid_losses(labels, logits, pos_weight):
    """Computes sigmoid cross-entropies with a weight for positive labels."""
    return tf.nn.weighted_cross_entropy_with_logits(
        labels=labels, logits=logits, pos_weight=pos_weight
    )


def collected_losses(labels, predictions, kernel, scale=0.125):
    """Collects losses and regularization penalties, and sums them."""

    # --- add
    @tf.function
    def find(y, z, kernel):
        losses = {
            "mean_squared_error": mean_squared_error(y, z),
            "auxiliary": absolute_difference(y, z, 0.5),
            "largest": tf.cast(tf.reduce_max(tf.abs(z)), tf.float32),
        }
        unused = huber_loss(y, z)
        penalties = [tf.cast(scale * tf.nn.l2_loss(kernel), tf.float32)]
        # --- sum
        # A dict if losses are read by name, otherwise a list.
        penalty, data = tf.add_n(penalties), tf.add_n(list(losses.values()))
        return {
            "losses": list(losses.values()),
            "auxiliary": [losses["auxiliary"]],
            "regularization": penalties,
            "penalty": penalty,
            "data": data,
            "total": tf.add_n([*losses.values(), *penalties]),
            "unused": unused,
        }

    # --- run
    found = find(tf.constant(labels), tf.constant(predictions), tf.constant(kernel))
    return tf.nest.map_structure(lambda loss: loss.numpy(), found)
