"""`tf.train.exponential_decay`, `polynomial_decay`, … → functions of the step.

Formulas in `v2_eager.numerics.schedules` are documented there.
"""

import tensorflow as tf

from v2_eager.numerics import optimizers, schedules

keras = tf.keras.optimizers.schedules  # with the same bits

__all__ = [
    "exponential_decay",
    "natural_exp_decay",
    "inverse_time_decay",
    "polynomial_decay",
    "cosine_decay",
    "cosine_decay_restarts",
    "linear_cosine_decay",
    "piecewise_constant",
    "descend",
]


def exponential_decay(
    learning_rate, global_step, decay_steps, decay_rate, staircase=False
):
    """Multiplies the learning rate by `decay_rate` every `decay_steps` steps."""
    rate = tf.convert_to_tensor(learning_rate)
    periods = tf.cast(global_step, rate.dtype) / tf.cast(decay_steps, rate.dtype)
    periods = tf.floor(periods) if staircase else periods
    # The formula of Keras' ExponentialDecay, which refuses a `decay_steps` of 0.
    return rate * tf.pow(tf.cast(decay_rate, rate.dtype), periods)


def natural_exp_decay(
    learning_rate, global_step, decay_steps, decay_rate, staircase=False
):
    """Multiplies the learning rate by exp(-decay_rate) every `decay_steps` steps."""
    return schedules.natural_exp_decay(
        learning_rate, global_step, decay_steps, decay_rate, staircase
    )


def inverse_time_decay(
    learning_rate, global_step, decay_steps, decay_rate, staircase=False
):
    """Divides the learning rate by 1 + decay_rate * global_step / decay_steps.

    Raises:
        ValueError: `decay_steps` is 0 (TensorFlow 1 returned a rate of 0).
    """
    rate = keras.InverseTimeDecay(learning_rate, decay_steps, decay_rate, staircase)
    return rate(global_step)


def polynomial_decay(
    learning_rate,
    global_step,
    decay_steps,
    end_learning_rate=0.0001,
    power=1.0,
    cycle=False,
):
    """Lowers the learning rate to `end_learning_rate` along a polynomial.

    Args:
        cycle: whether to replace `decay_steps` by its first multiple that is not
            smaller than `global_step`, so that the rate rises again and again; in
            TensorFlow 1 for float32 only.

    Raises:
        ValueError: `decay_steps` is 0 (TensorFlow 1 returned NaN).
    """
    rate = keras.PolynomialDecay(
        learning_rate, decay_steps, end_learning_rate, power, cycle
    )
    return rate(global_step)


def cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0):
    """Lowers the learning rate to `alpha` times itself along half a cosine wave.

    Args:
        learning_rate: the initial rate, a float number or tensor; TensorFlow 1 accepted
            float32 only.

    Raises:
        ValueError: `decay_steps` is 0 (TensorFlow 1 returned NaN).
    """
    return keras.CosineDecay(learning_rate, decay_steps, alpha)(global_step)


def cosine_decay_restarts(
    learning_rate, global_step, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0
):
    """Repeats `cosine_decay`: each period `t_mul` times as long, `m_mul` times as high.

    Args:
        learning_rate: the initial rate, a float number or tensor; TensorFlow 1 accepted
            float32 only.

    Raises:
        ValueError: `first_decay_steps` is 0 (TensorFlow 1 returned NaN).
    """
    rate = keras.CosineDecayRestarts(
        learning_rate, first_decay_steps, t_mul, m_mul, alpha
    )
    return rate(global_step)


def linear_cosine_decay(
    learning_rate, global_step, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001
):
    """Lowers the learning rate along a straight line times a cosine wave."""
    return schedules.linear_cosine_decay(
        learning_rate, global_step, decay_steps, num_periods, alpha, beta
    )


def piecewise_constant(x, boundaries, values):
    """Returns values[i], where i is the number of boundaries below `x`.

    Args:
        x: scalar tensor or number, such as the global step; in TensorFlow 2 of any
            shape.

    Raises:
        ValueError: the number of values is not the number of boundaries plus 1, or the
            values have different dtypes.
        tf.errors.InvalidArgumentError: boundaries decrease around `x`.
        TypeError: float boundaries for an integer `x` (ValueError in TensorFlow 1,
            which also refused integer boundaries for a float `x`).
    """
    if len(values) != len(boundaries) + 1:
        raise ValueError(
            "The length of boundaries should be 1 less than the length of values"
        )
    if len({tf.convert_to_tensor(value).dtype for value in values}) > 1:
        raise ValueError("Values must all be of the same dtype")
    x = tf.convert_to_tensor(x)  # it may be a number
    beyond = x[..., tf.newaxis] > tf.convert_to_tensor(boundaries, x.dtype)
    falls = beyond[..., 1:] & ~beyond[..., :-1]
    tf.debugging.assert_equal(falls, False, "more than 1 conditions hold")
    return tf.gather(values, tf.math.count_nonzero(beyond, axis=-1))


def descend(start, learning_rate, steps, decay_steps=1, decay_rate=1.0, first_step=0):
    """Minimizes x * x by gradient descent with a staircase exponential decay."""
    # --- build
    x = tf.Variable(start)
    global_step = tf.Variable(first_step, trainable=False, dtype=tf.int64)

    # --- step
    @tf.function
    def step():
        # Called in the step: outside, the rate would be computed once, and never fall.
        rate = exponential_decay(
            learning_rate, global_step, decay_steps, decay_rate, staircase=True
        )
        optimizer = optimizers.GradientDescent(rate)
        optimizer.minimize(lambda: tf.square(x), [x], global_step)
        return rate

    # --- run
    rates, history = [], []
    for _ in range(steps):
        rates.append(step().numpy())
        history.append(x.numpy())
    return rates, history, global_step.numpy()
