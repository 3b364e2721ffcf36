"""`tf.losses.…`, `weights`, `Reduction`, the collection → functions, and a list."""

import keras
import tensorflow as tf
from keras import ops

__all__ = [
    "absolute_difference",
    "mean_squared_error",
    "huber_loss",
    "hinge_loss",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
    "softmax_losses",
]

BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
REDUCTIONS = {
    "none": "none",
    "weighted_sum": "sum",
    "weighted_sum_over_batch_size": "sum_over_batch_size",
    "weighted_mean": "mean_with_sample_weight",
    BY_NONZERO_WEIGHTS: "none",
}
"""{reduction of TensorFlow 1: its name in Keras}; the default is missing in Keras."""


def reduced(make, labels, predictions, weights, reduction, **options):
    """Computes a Keras loss, reduced as in TensorFlow 1.

    By default the sum is divided by the number of losses whose weight is not 0, while
    Keras divides by the number of all losses.

    Raises:
        ValueError: another reduction, or weights that do not fit; predictions of
            unknown rank, which the function without Keras accepts.
    """
    if reduction not in REDUCTIONS:
        raise ValueError(f"Invalid Reduction Key {reduction}")
    shape = tf.TensorShape(predictions.shape)[:-1]  # of the losses
    weights = tf.convert_to_tensor(weights)
    if weights.shape.rank not in (0, shape.rank):
        raise ValueError(f"weights can not be broadcast: {weights.shape} to {shape}")
    # Keras would divide by the sum of the weights as passed, such as one per row.
    weights = tf.broadcast_to(weights, tf.shape(predictions)[:-1])
    loss = make(reduction=REDUCTIONS[reduction], **options)(
        labels, predictions, sample_weight=weights
    )
    if reduction != BY_NONZERO_WEIGHTS:
        return loss
    count = tf.math.count_nonzero(weights, dtype=loss.dtype)
    return tf.math.divide_no_nan(tf.reduce_sum(loss), count)


def by_element(make, labels, predictions, *args, **options):
    """Calls `reduced` element by element; Keras first averages over the last axis."""
    predictions = tf.convert_to_tensor(predictions)
    labels = tf.cast(labels, dtype_of(predictions))  # float16, integers: float32
    predictions = tf.cast(predictions, labels.dtype)
    labels.shape.assert_is_compatible_with(predictions.shape)  # Keras broadcasts
    column = labels[..., None], predictions[..., None]
    return reduced(make, *column, *args, **options)


def dtype_of(logits):
    """Returns the dtype of the loss: float64 for float64 logits, else float32.

    TensorFlow 1 rounded reduced float64 losses to float32; this function does not.
    """
    return "float64" if tf.as_dtype(logits.dtype) == tf.float64 else "float32"


@keras.saving.register_keras_serializable("v2_keras")
class Hinge(keras.losses.Loss):
    """The mean over the last axis of max(0, 1 - y * outputs), y = 2 * labels - 1.

    `keras.losses.Hinge` converts labels to y only if all labels of a batch are 0 or 1;
    1.15's `tf.losses.hinge_loss` always converted them. Labels and outputs are floats
    of one shape.

    Args:
        **kwargs: arguments of `keras.losses.Loss`: `name`, `reduction`, `dtype`.
    """

    def call(self, labels, outputs):
        return ops.mean(ops.relu(1 - (2 * labels - 1) * outputs), axis=-1)

    def get_config(self):  # Keras' own has no dtype
        return {**super().get_config(), "dtype": self.dtype}


def absolute_difference(labels, predictions, weights=1.0, reduction=BY_NONZERO_WEIGHTS):
    """Averages the absolute difference |predictions - labels|."""
    make = keras.losses.MeanAbsoluteError
    return by_element(make, labels, predictions, weights, reduction)


def mean_squared_error(labels, predictions, weights=1.0, reduction=BY_NONZERO_WEIGHTS):
    """Averages the squared difference of predictions and labels."""
    make = keras.losses.MeanSquaredError
    return by_element(make, labels, predictions, weights, reduction)


def huber_loss(
    labels, predictions, weights=1.0, delta=1.0, reduction=BY_NONZERO_WEIGHTS
):
    """Averages the Huber loss: error ** 2 / 2 up to `delta`, linear beyond it."""
    make = keras.losses.Huber
    return by_element(make, labels, predictions, weights, reduction, delta=delta)


def hinge_loss(labels, logits, weights=1.0, reduction=BY_NONZERO_WEIGHTS):
    """Averages the hinge loss, max(0, 1 - y * logits) with y = 2 * labels - 1."""
    return by_element(Hinge, labels, logits, weights, reduction)


def sigmoid_cross_entropy(
    labels, logits, weights=1.0, label_smoothing=0, reduction=BY_NONZERO_WEIGHTS
):
    """Averages the sigmoid cross-entropy of independent labels and logits.

    Returns:
        float32 scalar, float64 if `logits` are; for "none" a tensor of the shape of
        `logits`.
    """
    return by_element(
        keras.losses.BinaryCrossentropy,
        labels,
        logits,
        weights,
        reduction,
        dtype=dtype_of(logits),
        from_logits=True,
        label_smoothing=label_smoothing,
    )


def softmax_cross_entropy(
    labels, logits, weights=1.0, label_smoothing=0, reduction=BY_NONZERO_WEIGHTS
):
    """Averages the softmax cross-entropy of one-hot labels and logits.

    No gradient goes through the labels, as in TensorFlow 1.

    Returns:
        float32 scalar, float64 if `logits` are; for "none" [...] tensor.
    """
    logits = tf.convert_to_tensor(logits)
    return reduced(
        keras.losses.CategoricalCrossentropy,
        tf.stop_gradient(labels),
        logits,
        weights,
        reduction,
        dtype=dtype_of(logits),
        from_logits=True,
        label_smoothing=label_smoothing,
    )


def class_numbers(labels):
    """Converts class labels to a tensor of integers.

    Raises:
        TypeError: the labels are floats, which Keras would truncate.
    """
    labels = tf.convert_to_tensor(labels)
    if not labels.dtype.is_integer:
        raise TypeError(f"labels (class ids) must be integers, not {labels.dtype.name}")
    return labels


def sparse_softmax_cross_entropy(
    labels, logits, weights=1.0, reduction=BY_NONZERO_WEIGHTS
):
    """Averages the softmax cross-entropy of integer class labels and logits.

    Returns:
        float32 scalar, float64 if `logits` are; for "none" [...] tensor.

    Raises:
        TypeError: the labels are floats, which Keras would truncate.
    """
    make = keras.losses.SparseCategoricalCrossentropy
    labels, logits = class_numbers(labels), tf.convert_to_tensor(logits)
    weights = tf.convert_to_tensor(weights)
    if weights.shape.rank == logits.shape.rank:  # a column, as its labels may be
        weights = tf.squeeze(weights, -1)
    options = {"from_logits": True, "dtype": dtype_of(logits)}
    return reduced(make, labels, logits, weights, reduction, **options)


def softmax_losses(labels, logits, axis=-1):
    """Computes the softmax cross-entropy of each example; labels get no gradient.

    Returns:
        float32 tensor, float64 if `logits` are, without the dimension `axis`.
    """
    logits = tf.convert_to_tensor(logits)
    losses = keras.losses.CategoricalCrossentropy(
        from_logits=True, axis=axis, reduction="none", dtype=dtype_of(logits)
    )
    return losses(tf.stop_gradient(labels), logits)
