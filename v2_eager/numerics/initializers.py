"""Random initializers of `tf.initializers` that draw TensorFlow 1's numbers.

    kernel = tf.Variable(glorot_uniform(seed=1)([3, 4]), name="kernel")

Each returns a function from a shape (a list of ints) and a dtype to a tensor. `seed` is
the op seed, used together with the global seed of `tf.random.set_seed`, or a generator
such as `randomness.stream` to draw from. TensorFlow 2's initializers of the same names
draw other numbers, and some have other defaults. Follows
`tensorflow/python/ops/init_ops.py` of 1.15.5.
"""

import math

import tensorflow as tf

from v2_eager.numerics.randomness import draw

__all__ = [
    "random_normal",
    "random_uniform",
    "truncated_normal",
    "uniform_unit_scaling",
    "variance_scaling",
    "glorot_uniform",
    "glorot_normal",
    "he_normal",
    "he_uniform",
    "lecun_normal",
    "lecun_uniform",
    "orthogonal",
    "contrib_variance_scaling",
    "contrib_xavier",
]


def random_normal(mean=0.0, stddev=1.0, seed=None, dtype=tf.float32):
    """`tf.random_normal_initializer`: stddev 1.0 by default (0.05 in TensorFlow 2).

    Args:
        mean: mean of the normal distribution.
        stddev: standard deviation of the normal distribution.
        seed: seed of the op; see `randomness.draw`.
        dtype: default dtype of the returned function.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return lambda shape, dtype=dtype: draw("normal", shape, mean, stddev, dtype, seed)


def random_uniform(minval=0.0, maxval=1.0, seed=None, dtype=tf.float32):
    """`tf.random_uniform_initializer`: floats in [0, 1) by default (±0.05 in TF 2).

    Args:
        minval: lower bound.
        maxval: upper bound, not drawn.
        seed: seed of the op; see `randomness.draw`.
        dtype: default dtype of the returned function.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return lambda shape, dtype=dtype: draw(
        "uniform", shape, minval, maxval, dtype, seed
    )


def truncated_normal(mean=0.0, stddev=1.0, seed=None, dtype=tf.float32):
    """`tf.truncated_normal_initializer`: normal, cut off at two standard deviations.

    Args:
        mean: mean of the normal distribution.
        stddev: standard deviation before the cut.
        seed: seed of the op; see `randomness.draw`.
        dtype: default dtype of the returned function.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """

    def initialize(shape, dtype=dtype):
        return draw("truncated_normal", shape, mean, stddev, dtype, seed)

    return initialize


def uniform_unit_scaling(factor=1.0, seed=None, dtype=tf.float32):
    """`tf.uniform_unit_scaling_initializer`: within ±factor * sqrt(3 / input size).

    The input size is the product of all dimensions of the shape but the last.

    Args:
        factor: factor of the bounds.
        seed: seed of the op; see `randomness.draw`.
        dtype: default dtype of the returned function.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """

    def initialize(shape, dtype=dtype):
        limit = math.sqrt(3 / max(math.prod(shape[:-1]), 1)) * factor
        return draw("uniform", shape, -limit, limit, dtype, seed)

    return initialize


def fans(shape):
    """Computes fan-in (inputs per unit) and fan-out (units per input) of a kernel.

    Args:
        shape: shape of a kernel, [..., inputs, outputs]. With one dimension, its size
            is both.

    Returns:
        (fan_in, fan_out).
    """
    if len(shape) < 2:
        return math.prod(shape), math.prod(shape)
    field = math.prod(shape[:-2])
    return field * shape[-2], field * shape[-1]


def variance_scaling(
    scale=1.0,
    mode="fan_in",
    distribution="truncated_normal",
    seed=None,
    dtype=tf.float32,
):
    """`tf.variance_scaling_initializer`: draws with variance scale / fan.

    Args:
        scale: positive number.
        mode: which fan: "fan_in", "fan_out" or "fan_avg", the mean of the two.
        distribution: "truncated_normal" or "normal" (the same), "untruncated_normal",
            or "uniform".
        seed, dtype: see the module.

    Returns:
        Function from a shape and a dtype to a tensor.

    Raises:
        ValueError: another scale, mode or distribution.
    """
    if scale <= 0:
        raise ValueError("`scale` must be positive float.")
    if mode not in ("fan_in", "fan_out", "fan_avg"):
        raise ValueError("Invalid `mode` argument:", mode)
    names = "normal", "uniform", "truncated_normal", "untruncated_normal"
    if distribution not in names:
        raise ValueError("Invalid `distribution` argument:", distribution)

    def initialize(shape, dtype=dtype):
        fan_in, fan_out = fans(shape)
        sizes = {
            "fan_in": fan_in,
            "fan_out": fan_out,
            "fan_avg": (fan_in + fan_out) / 2,
        }
        variance = scale / max(1.0, sizes[mode])
        if distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return draw("uniform", shape, -limit, limit, dtype, seed)
        stddev = math.sqrt(variance)
        if distribution == "untruncated_normal":
            return draw("normal", shape, 0.0, stddev, dtype, seed)
        # The deviation of a standard normal distribution that is cut off at ±2.
        stddev /= 0.87962566103423978
        return draw("truncated_normal", shape, 0.0, stddev, dtype, seed)

    return initialize


def glorot_uniform(seed=None, dtype=tf.float32):
    """`tf.glorot_uniform_initializer`, the default initializer of `tf.get_variable`.

    Draws from ±sqrt(6 / (fan_in + fan_out)): Glorot and Bengio, 2010.

    Args:
        seed: seed of the op; see `randomness.draw`.
        dtype: default dtype of the returned function.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return variance_scaling(1.0, "fan_avg", "uniform", seed, dtype)


def glorot_normal(seed=None, dtype=tf.float32):
    """`tf.glorot_normal_initializer`: draws with variance 2 / (fan_in + fan_out).

    Args:
        seed: seed of the op; see `randomness.draw`.
        dtype: default dtype of the returned function.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return variance_scaling(1.0, "fan_avg", "truncated_normal", seed, dtype)


def he_normal(seed=None):
    """`tf.initializers.he_normal`: draws with variance 2 / fan_in (He et al., 2015).

    Args:
        seed: seed of the op; see `randomness.draw`.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return variance_scaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed=None):
    """`tf.initializers.he_uniform`: draws within ±sqrt(6 / fan_in).

    Args:
        seed: seed of the op; see `randomness.draw`.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return variance_scaling(2.0, "fan_in", "uniform", seed)


def lecun_normal(seed=None):
    """`tf.initializers.lecun_normal`: variance 1 / fan_in (LeCun et al., 1998).

    Args:
        seed: seed of the op; see `randomness.draw`.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return variance_scaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed=None):
    """`tf.initializers.lecun_uniform`: draws within ±sqrt(3 / fan_in).

    Args:
        seed: seed of the op; see `randomness.draw`.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return variance_scaling(1.0, "fan_in", "uniform", seed)


def orthogonal(gain=1.0, seed=None, dtype=tf.float32):
    """`tf.orthogonal_initializer`: orthonormal columns, or rows if there are fewer.

    Draws a normal matrix, takes the Q of its QR decomposition, and multiplies it by
    `gain`: Saxe et al., 2014.

    Args:
        gain: factor of Q.
        seed: seed of the op; see `randomness.draw`.
        dtype: default dtype of the returned function, float32 or float64.

    Returns:
        Function from a shape and optionally a dtype to a tensor.

    Raises:
        ValueError: the returned function gets a shape of fewer than two dimensions.
    """

    def initialize(shape, dtype=dtype):
        if len(shape) < 2:
            raise ValueError(
                "The tensor to initialize must be at least two-dimensional"
            )
        rows, columns = math.prod(shape[:-1]), shape[-1]
        square = [max(rows, columns), min(rows, columns)]
        q, r = tf.linalg.qr(draw("normal", square, 0.0, 1.0, dtype, seed))
        q *= tf.sign(tf.linalg.diag_part(r))
        return gain * tf.reshape(q if rows >= columns else tf.transpose(q), shape)

    return initialize


def contrib_variance_scaling(
    factor=2.0, mode="FAN_IN", uniform=False, seed=None, dtype=tf.float32
):
    """`tf.contrib.layers.variance_scaling_initializer`: variance factor / fan.

    Follows `tensorflow/contrib/layers/python/layers/initializers.py` of 1.15.5.

    Args:
        factor: positive number; 2 gives He's initializer.
        mode: "FAN_IN", "FAN_OUT" or "FAN_AVG".
        uniform: whether to draw from ±sqrt(3 * factor / fan); otherwise draws from a
            truncated normal distribution with the standard deviation
            sqrt(1.3 * factor / fan).
        seed, dtype: see the module.

    Returns:
        Function from a shape and a dtype to a tensor.

    Raises:
        TypeError: an unknown mode.
    """
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")

    def initialize(shape, dtype=dtype):
        fan_in, fan_out = (float(fan) for fan in fans(shape))
        n = {"FAN_IN": fan_in, "FAN_OUT": fan_out, "FAN_AVG": (fan_in + fan_out) / 2}
        if uniform:
            limit = math.sqrt(3.0 * factor / n[mode])
            return draw("uniform", shape, -limit, limit, dtype, seed)
        stddev = math.sqrt(1.3 * factor / n[mode])
        return draw("truncated_normal", shape, 0.0, stddev, dtype, seed)

    return initialize


def contrib_xavier(uniform=True, seed=None, dtype=tf.float32):
    """`tf.contrib.layers.xavier_initializer`, the default of contrib's layers.

    With `uniform` it is Glorot's uniform initializer. Otherwise it draws from a normal
    distribution of variance 2.6 / (fan_in + fan_out) that is cut off at two standard
    deviations, which leaves a variance of about 2 / (fan_in + fan_out).

    Args:
        uniform: whether to draw from a uniform distribution.
        seed: seed of the op; see `randomness.draw`.
        dtype: default dtype of the returned function.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return contrib_variance_scaling(1.0, "FAN_AVG", uniform, seed, dtype)
