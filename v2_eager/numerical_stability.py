"""`tf.log(tf.nn.softmax(x))`, `clip_by_value` → losses on logits, without NaN."""

import tensorflow as tf

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
    """Finds the smallest and the largest positive number of a float dtype."""
    # The smallest number is denormal: a tensor can hold it, but kernels read and write
    # 0 in its place. The smallest number in computations is np.finfo(dtype).tiny,
    # 1.17549e-38.
    smallest = tf.math.nextafter(zero, tf.ones_like(zero))
    return smallest, smallest > zero, zero.dtype.max


def times_and_back(x, y):
    """Computes x * y / y, which may differ from x."""
    return x * y / y


def softmax_naive(logits):
    """Computes softmax by its formula; overflows for logits above 88 in float32."""
    exp = tf.exp(logits)
    return exp / tf.reduce_sum(exp, axis=-1, keepdims=True)


def softmax(logits):
    """Computes softmax of logits that are shifted by their maximum: no overflow."""
    exp = tf.exp(logits - tf.reduce_max(logits, axis=-1, keepdims=True))
    return exp / tf.reduce_sum(exp, axis=-1, keepdims=True)


def softmax_floored(logits, floor=-80.0):
    """Computes softmax of shifted logits that are clipped from below: no underflow."""
    shifted = logits - tf.reduce_max(logits, axis=-1, keepdims=True)
    exp = tf.exp(tf.maximum(shifted, floor))
    return exp / tf.reduce_sum(exp, axis=-1, keepdims=True)


def cross_entropy_naive(labels, logits):
    """Computes cross-entropy as log(softmax): infinite or NaN where softmax is 0."""
    return -tf.reduce_sum(labels * tf.math.log(softmax(logits)), axis=-1)


def cross_entropy(labels, logits):
    """Computes cross-entropy with log-softmax: finite for finite logits."""
    # log_softmax is logits - reduce_logsumexp(logits), already shifted by the maximum;
    # the classic text shifts once more by hand, which changes nothing.
    return -tf.reduce_sum(labels * tf.nn.log_softmax(logits), axis=-1)


def cross_entropy_clipped(labels, probabilities, floor=1e-10):
    """Computes cross-entropy of probabilities that are clipped before the logarithm."""
    # No upper clip at 1 - floor: 1 - 1e-10 is 1 in float32, so it would not help.
    clipped = tf.clip_by_value(probabilities, floor, 1.0)
    return -tf.reduce_sum(labels * tf.math.log(clipped), axis=-1)


def cross_entropy_gradient(labels, logits):
    """Computes the stable cross-entropy and its gradient with respect to the logits."""

    # --- build
    @tf.function
    def loss_and_gradient(labels, logits):
        with tf.GradientTape() as tape:
            tape.watch(logits)
            loss = cross_entropy(labels, logits)
        return loss, tape.gradient(loss, logits)

    # --- run
    loss, gradient = loss_and_gradient(tf.constant(labels), tf.constant(logits))
    return loss.numpy(), gradient.numpy()


def sigmoid_loss_naive(labels, logits):
    """Computes sigmoid cross-entropy from logarithms of sigmoid, which may be NaN."""
    p = tf.sigmoid(logits)
    return -(labels * tf.math.log(p) + (1 - labels) * tf.math.log(1 - p))


def sigmoid_loss(labels, logits):
    """Computes sigmoid cross-entropy from logits, which is never infinite."""
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


def log_sum_exp(values):
    """Computes log(sum(exp(values))) over the last axis, shifted by the maximum."""
    return tf.reduce_logsumexp(values, axis=-1)


def softplus(x):
    """Computes log(1 + exp(x)) without overflow; the result is x for large x."""
    return tf.nn.softplus(x)


def growth(rate, periods):
    """Computes compound growth (1 + rate) ** periods - 1, precise for tiny rates."""
    # 1 + 1e-8 is 1 in float32; log1p and expm1 never compute it.
    return tf.math.expm1(periods * tf.math.log1p(rate))


def log_or_zero(x):
    """Computes log(x), or 0 where x is not positive, without NaN in the gradient."""
    positive = x > 0
    # The inner where: the gradient runs through both branches of the outer where. In
    # the branch that is not taken, 0 * 1/0 would be NaN.
    safe = tf.where(positive, x, 1.0)  # scalars broadcast now, no ones_like
    return tf.where(positive, tf.math.log(safe), 0.0)
