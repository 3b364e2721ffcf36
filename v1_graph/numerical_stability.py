"""`tf.log(tf.nn.softmax(x))`, `clip_by_value` → losses on logits, without NaN."""

import tensorflow.compat.v1 as tf

__all__ = [
    "float_limits",
    "times_and_back",
    "softmax_naive",
    "softmax",
    "softmax_floored",
    "cross_entropy_naive",
    "cross_entropy",
    "cross_entropy_clipped",
    "cross_entropy_gradient",
    "sigmoid_loss_naive",
    "sigmoid_loss",
    "log_sum_exp",
    "softplus",
    "growth",
    "log_or_zero",
]


def float_limits(zero):
    """Finds the smallest and the largest positive number of a float dtype.

    Args:
        zero: scalar 0 of the float32 or float64 dtype in question.

    Returns:
        (smallest, is_positive, largest): the number next to 0, whether kernels compare
        it as greater than 0, and the last number before infinity.
    """
    # The smallest number is denormal: a tensor can hold it, but kernels read and write
    # 0 in its place. The smallest number in computations is np.finfo(dtype).tiny,
    # 1.17549e-38.
    smallest = tf.math.nextafter(zero, tf.ones_like(zero))
    return smallest, smallest > zero, zero.dtype.max


def times_and_back(x, y):
    """Computes x * y / y, which may differ from x.

    Args:
        x: tensor.
        y: tensor of the same dtype that broadcasts with `x`.

    Returns:
        x * y / y: 0 where the product underflows, infinite where it overflows, NaN
        where y itself is 0 or infinite. The product of int32 wraps around, silently,
        and the quotient is float64.
    """
    return x * y / y


def softmax_naive(logits):
    """Computes softmax by its formula; overflows for logits above 88 in float32.

    Args:
        logits: [..., classes] float tensor.

    Returns:
        Tensor of the same shape, NaN where the exponential overflowed.
    """
    exp = tf.exp(logits)
    return exp / tf.reduce_sum(exp, axis=-1, keepdims=True)


def softmax(logits):
    """Computes softmax of logits that are shifted by their maximum: no overflow.

    Args:
        logits: [..., classes] float tensor.

    Returns:
        Tensor of the same shape; its last axis sums to 1.
    """
    exp = tf.exp(logits - tf.reduce_max(logits, axis=-1, keepdims=True))
    return exp / tf.reduce_sum(exp, axis=-1, keepdims=True)


def softmax_floored(logits, floor=-80.0):
    """Computes softmax of shifted logits that are clipped from below: no underflow.

    Args:
        logits: [..., classes] float tensor.
        floor: least shifted logit; exp(-80) = 1.8e-35 is still normal in float32.

    Returns:
        Tensor of the same shape, positive everywhere. No gradient reaches the logits
        below the floor.
    """
    shifted = logits - tf.reduce_max(logits, axis=-1, keepdims=True)
    exp = tf.exp(tf.maximum(shifted, floor))
    return exp / tf.reduce_sum(exp, axis=-1, keepdims=True)


def cross_entropy_naive(labels, logits):
    """Computes cross-entropy as log(softmax): infinite or NaN where softmax is 0.

    Args:
        labels: [..., classes] tensor of probabilities.
        logits: tensor of the same shape and dtype.

    Returns:
        [...] tensor: infinite where a labelled class has underflowed, NaN where another
        class has underflowed, since 0 * inf is NaN.
    """
    return -tf.reduce_sum(labels * tf.log(softmax(logits)), axis=-1)


def cross_entropy(labels, logits):
    """Computes cross-entropy with log-softmax: finite for finite logits.

    Args:
        labels: [..., classes] tensor of probabilities.
        logits: tensor of the same shape and dtype.

    Returns:
        [...] tensor, finite for finite logits.
    """
    # log_softmax is logits - reduce_logsumexp(logits), already shifted by the maximum;
    # the classic text shifts once more by hand, which changes nothing.
    return -tf.reduce_sum(labels * tf.nn.log_softmax(logits), axis=-1)


def cross_entropy_clipped(labels, probabilities, floor=1e-10):
    """Computes cross-entropy of probabilities that are clipped before the logarithm.

    Args:
        labels: [..., classes] tensor of probabilities.
        probabilities: tensor of the same shape and dtype.
        floor: least probability.

    Returns:
        [...] tensor, finite; but where a probability is clipped, its gradient is 0, so
        the worst mistakes are not corrected.
    """
    # No upper clip at 1 - floor: 1 - 1e-10 is 1 in float32, so it would not help.
    clipped = tf.clip_by_value(probabilities, floor, 1.0)
    return -tf.reduce_sum(labels * tf.log(clipped), axis=-1)


def cross_entropy_gradient(labels, logits):
    """Computes the stable cross-entropy and its gradient with respect to the logits.

    Args:
        labels: [..., classes] array of probabilities.
        logits: array of the same shape and dtype.

    Returns:
        (loss, gradient): arrays of shapes [...] and [..., classes].
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        labels_in = tf.placeholder(labels.dtype, labels.shape)
        logits_in = tf.placeholder(logits.dtype, logits.shape)
        loss = cross_entropy(labels_in, logits_in)
        (gradient,) = tf.gradients(loss, logits_in)
        # --- run
        return sess.run((loss, gradient), {labels_in: labels, logits_in: logits})


def sigmoid_loss_naive(labels, logits):
    """Computes sigmoid cross-entropy from logarithms of sigmoid, which may be NaN.

    Args:
        labels: tensor of probabilities.
        logits: tensor of the same shape and dtype.

    Returns:
        Tensor of the same shape: NaN even where a large logit is right, since the
        other term is 0 * log(0).
    """
    p = tf.sigmoid(logits)
    return -(labels * tf.log(p) + (1 - labels) * tf.log(1 - p))


def sigmoid_loss(labels, logits):
    """Computes sigmoid cross-entropy from logits, which is never infinite.

    Args:
        labels: tensor of probabilities.
        logits: tensor of the same shape and dtype.

    Returns:
        Tensor of the same shape: max(x, 0) - x * labels + log1p(exp(-|x|)).
    """
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


def log_sum_exp(values):
    """Computes log(sum(exp(values))) over the last axis, shifted by the maximum.

    Args:
        values: [..., n] float tensor.

    Returns:
        [...] tensor, at least the maximum; -inf where all values are -inf.
    """
    return tf.reduce_logsumexp(values, axis=-1)


def softplus(x):
    """Computes log(1 + exp(x)) without overflow; the result is x for large x.

    Args:
        x: float tensor.

    Returns:
        Tensor of the same shape, not negative.
    """
    return tf.nn.softplus(x)


def growth(rate, periods):
    """Computes compound growth (1 + rate) ** periods - 1, precise for tiny rates.

    Args:
        rate: tensor of numbers above -1.
        periods: tensor of the same dtype that broadcasts with `rate`.

    Returns:
        Tensor of the broadcast shape.
    """
    # 1 + 1e-8 is 1 in float32; log1p and expm1 never compute it.
    return tf.expm1(periods * tf.log1p(rate))


def log_or_zero(x):
    """Computes log(x), or 0 where x is not positive, without NaN in the gradient.

    Args:
        x: float tensor.

    Returns:
        Tensor of the same shape.
    """
    positive = x > 0
    # The inner where: the gradient runs through both branches of the outer where. In
    # the branch that is not taken, 0 * 1/0 would be NaN.
    safe = tf.where(positive, x, tf.ones_like(x))
    return tf.where(positive, tf.log(safe), tf.zeros_like(x))
