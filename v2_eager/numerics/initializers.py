"""The initializers of `tf.initializers` that draw, with the numbers of TensorFlow 1.

    kernel = tf.Variable(glorot_uniform(seed=1)([3, 4]), name="kernel")

Each returns a function from a shape, a list of ints, and a dtype to a tensor. `seed` is
the seed of the op, below that of `tf.random.set_seed`, or a generator to draw from,
such as `randomness.stream`. Today's initializers of the same names draw other numbers,
and some have other defaults. Follows `tensorflow/python/ops/init_ops.py` of 1.15.5.
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
    """`tf.random_normal_initializer`, whose deviation is 0.05 today.

    Args:
        mean: of the normal distribution.
        stddev: its standard deviation.
        seed: of the op; see `randomness.draw`.
        dtype: that the function draws by default.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return lambda shape, dtype=dtype: draw("normal", shape, mean, stddev, dtype, seed)


def random_uniform(minval=0.0, maxval=1.0, seed=None, dtype=tf.float32):
    """`tf.random_uniform_initializer`, of floats, whose bounds are ±0.05 today.

    Args:
        minval: lower bound.
        maxval: upper bound, not drawn.
        seed: of the op; see `randomness.draw`.
        dtype: that the function draws by default.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return lambda shape, dtype=dtype: draw(
        "uniform", shape, minval, maxval, dtype, seed
    )


def truncated_normal(mean=0.0, stddev=1.0, seed=None, dtype=tf.float32):
    """`tf.truncated_normal_initializer`: nothing beyond two deviations.

    Args:
        mean: of the normal distribution.
        stddev: its standard deviation, before it is cut.
        seed: of the op; see `randomness.draw`.
        dtype: that the function draws by default.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """

    def initialize(shape, dtype=dtype):
        return draw("truncated_normal", shape, mean, stddev, dtype, seed)

    return initialize


def uniform_unit_scaling(factor=1.0, seed=None, dtype=tf.float32):
    """`tf.uniform_unit_scaling_initializer`: ±factor * sqrt(3 / size of the input).

    The size of the input is the product of all but the last size of the shape.

    Args:
        factor: that the bounds are multiplied by.
        seed: of the op; see `randomness.draw`.
        dtype: that the function draws by default.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """

    def initialize(shape, dtype=dtype):
        limit = math.sqrt(3 / max(math.prod(shape[:-1]), 1)) * factor
        return draw("uniform", shape, -limit, limit, dtype, seed)

    return initialize


def fans(shape):
    """How many numbers a unit sums up, and how many units a number goes to.

    Args:
        shape: of a kernel, [..., inputs, outputs]; of one dimension both are its size.

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
    """`tf.variance_scaling_initializer`: a variance of scale / n.

    Args:
        scale: positive number.
        mode: what n is: "fan_in", "fan_out" or "fan_avg", the mean of the two.
        distribution: "normal" or "truncated_normal", "untruncated_normal", "uniform".
        seed, dtype: see the module.

    Returns:
        Function from a shape and a dtype to a tensor.

    Raises:
        ValueError: an argument that is none of these.
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
        # A normal distribution cut off at two deviations has this deviation left.
        stddev /= 0.87962566103423978
        return draw("truncated_normal", shape, 0.0, stddev, dtype, seed)

    return initialize


def glorot_uniform(seed=None, dtype=tf.float32):
    """`tf.glorot_uniform_initializer`: what a variable had without an initializer.

    Within ±sqrt(6 / (fan_in + fan_out)): Glorot and Bengio, 2010.

    Args:
        seed: of the op; see `randomness.draw`.
        dtype: that the function draws by default.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return variance_scaling(1.0, "fan_avg", "uniform", seed, dtype)


def glorot_normal(seed=None, dtype=tf.float32):
    """`tf.glorot_normal_initializer`: a variance of 2 / (fan_in + fan_out).

    Args:
        seed: of the op; see `randomness.draw`.
        dtype: that the function draws by default.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return variance_scaling(1.0, "fan_avg", "truncated_normal", seed, dtype)


def he_normal(seed=None):
    """`tf.initializers.he_normal`: a variance of 2 / fan_in (He et al., 2015).

    Args:
        seed: of the op; see `randomness.draw`.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return variance_scaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed=None):
    """`tf.initializers.he_uniform`: within ±sqrt(6 / fan_in).

    Args:
        seed: of the op; see `randomness.draw`.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return variance_scaling(2.0, "fan_in", "uniform", seed)


def lecun_normal(seed=None):
    """`tf.initializers.lecun_normal`: a variance of 1 / fan_in (LeCun et al., 1998).

    Args:
        seed: of the op; see `randomness.draw`.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return variance_scaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed=None):
    """`tf.initializers.lecun_uniform`: within ±sqrt(3 / fan_in).

    Args:
        seed: of the op; see `randomness.draw`.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return variance_scaling(1.0, "fan_in", "uniform", seed)


def orthogonal(gain=1.0, seed=None, dtype=tf.float32):
    """`tf.orthogonal_initializer`: orthonormal columns, or rows if they are fewer.

    The Q of a random matrix, times `gain`: Saxe et al., 2014.

    Args:
        gain: that Q is multiplied by.
        seed: of the op; see `randomness.draw`.
        dtype: that the function draws by default, float32 or float64.

    Returns:
        Function from a shape and optionally a dtype to a tensor.

    Raises:
        ValueError: of the function: a shape of less than two dimensions.
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
    """`tf.contrib.layers.variance_scaling_initializer`, which has other numbers.

    Follows `tensorflow/contrib/layers/python/layers/initializers.py` of 1.15.5.

    Args:
        factor: positive number; 2 is He's.
        mode: "FAN_IN", "FAN_OUT" or "FAN_AVG".
        uniform: whether to draw from ±sqrt(3 * factor / n), else a truncated normal
            distribution of deviation sqrt(1.3 * factor / n).
        seed, dtype: see the module.

    Returns:
        Function from a shape and a dtype to a tensor.

    Raises:
        TypeError: no such mode.
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

    Uniform, it is Glorot's. Else a normal distribution of variance 2.6 / (fan_in +
    fan_out), of which the cut at two deviations leaves about 2 / (fan_in + fan_out).

    Args:
        uniform: whether to draw from a uniform distribution.
        seed: of the op; see `randomness.draw`.
        dtype: that the function draws by default.

    Returns:
        Function from a shape and optionally a dtype to a tensor.
    """
    return contrib_variance_scaling(1.0, "FAN_AVG", uniform, seed, dtype)
