"""`tf.train.exponential_decay`, `polynomial_decay`, … → functions of the step."""

import tensorflow.compat.v1 as tf

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
    """Multiplies the learning rate by `decay_rate` every `decay_steps` steps.

    Args:
        learning_rate: the initial rate, a float number or tensor.
        global_step: tensor of steps taken, of any shape and number dtype.
        decay_steps: number of steps.
        decay_rate: factor, a number or tensor.
        staircase: whether the rate changes only after whole `decay_steps`.

    Returns:
        Tensor of the shape of `global_step` and the dtype of `learning_rate`.
    """
    return tf.train.exponential_decay(
        learning_rate, global_step, decay_steps, decay_rate, staircase
    )


def natural_exp_decay(
    learning_rate, global_step, decay_steps, decay_rate, staircase=False
):
    """Multiplies the learning rate by exp(-decay_rate) every `decay_steps` steps.

    Args:
        learning_rate: the initial rate, a float number or tensor.
        global_step: tensor of steps taken, of any shape and number dtype.
        decay_steps: number of steps.
        decay_rate: negated exponent, a float number or tensor.
        staircase: whether the rate changes only after whole `decay_steps`.

    Returns:
        Tensor of the shape of `global_step` and the dtype of `learning_rate`.
    """
    return tf.train.natural_exp_decay(
        learning_rate, global_step, decay_steps, decay_rate, staircase
    )


def inverse_time_decay(
    learning_rate, global_step, decay_steps, decay_rate, staircase=False
):
    """Divides the learning rate by 1 + decay_rate * global_step / decay_steps.

    Args:
        learning_rate: the initial rate, a float number or tensor.
        global_step: tensor of steps taken, of any shape and number dtype.
        decay_steps: number of steps.
        decay_rate: what `decay_steps` steps add to the divisor, a number or tensor.
        staircase: whether the rate changes only after whole `decay_steps`.

    Returns:
        Tensor of the shape of `global_step` and the dtype of `learning_rate`.
    """
    return tf.train.inverse_time_decay(
        learning_rate, global_step, decay_steps, decay_rate, staircase
    )


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
        learning_rate: the initial rate, a float number or tensor.
        global_step: tensor of steps taken; a scalar if `cycle`.
        decay_steps: number of steps.
        end_learning_rate: the rate after `decay_steps` steps, a number or tensor.
        power: the power; 1 makes a straight line.
        cycle: whether to replace `decay_steps` by its first multiple that is not
            smaller than `global_step`, so that the rate rises again and again.

    Returns:
        Tensor of the shape of `global_step` and the dtype of `learning_rate`.
    """
    return tf.train.polynomial_decay(
        learning_rate, global_step, decay_steps, end_learning_rate, power, cycle
    )


def cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0):
    """Lowers the learning rate to `alpha` times itself along half a cosine wave.

    Args:
        learning_rate: the initial rate, a float number or tensor.
        global_step: tensor of steps taken, of any shape and number dtype.
        decay_steps: number of steps, after which the rate stays.
        alpha: share of the rate that remains in the end.

    Returns:
        Tensor of the shape of `global_step` and the dtype of `learning_rate`.
    """
    return tf.train.cosine_decay(learning_rate, global_step, decay_steps, alpha)


def cosine_decay_restarts(
    learning_rate, global_step, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0
):
    """Repeats `cosine_decay`: each period `t_mul` times as long, `m_mul` times as high.

    Args:
        learning_rate: the initial rate, a float number or tensor.
        global_step: tensor of steps taken, of any shape and number dtype.
        first_decay_steps: number of steps of the first period.
        t_mul: length of a period, divided by the length of the period before.
        m_mul: initial rate of a period, divided by the initial rate of the period
            before.
        alpha: share of the rate that remains at the end of a period.

    Returns:
        Tensor of the shape of `global_step` and the dtype of `learning_rate`.
    """
    return tf.train.cosine_decay_restarts(
        learning_rate, global_step, first_decay_steps, t_mul, m_mul, alpha
    )


def linear_cosine_decay(
    learning_rate, global_step, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001
):
    """Lowers the learning rate along a straight line times a cosine wave.

    Args:
        learning_rate: the initial rate, a float number or tensor.
        global_step: tensor of steps taken, of any shape and number dtype.
        decay_steps: number of steps, after which the rate stays.
        num_periods: number of cosine waves in `decay_steps`.
        alpha: share of the rate that is added to the line.
        beta: share of the rate that is added in the end.

    Returns:
        Tensor of the shape of `global_step` and the dtype of `learning_rate`.
    """
    return tf.train.linear_cosine_decay(
        learning_rate, global_step, decay_steps, num_periods, alpha, beta
    )


def piecewise_constant(x, boundaries, values):
    """Returns values[i], where i is the number of boundaries below `x`.

    Args:
        x: scalar tensor or number, such as the global step.
        boundaries: list of n increasing numbers of the dtype of `x`, n > 0; at a
            boundary, the value before the boundary is returned.
        values: list of n + 1 numbers or scalar tensors of one dtype.

    Returns:
        Scalar tensor of the dtype of the values.

    Raises:
        ValueError: the number of values is not the number of boundaries plus 1.
    """
    return tf.train.piecewise_constant(x, boundaries, values)


def descend(start, learning_rate, steps, decay_steps=1, decay_rate=1.0, first_step=0):
    """Minimizes x * x by gradient descent with a staircase exponential decay.

    Args:
        start: float array, the initial x.
        learning_rate: the initial rate, a scalar array of the same dtype.
        steps: number of steps.
        decay_steps: number of steps after which the rate falls.
        decay_rate: factor of the rate; 1 keeps it.
        first_step: initial value of the global step, as after a restored checkpoint.

    Returns:
        (list of the rates used, list of x after each step, the global step).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        x = tf.Variable(start)
        global_step = tf.Variable(first_step, trainable=False, dtype=tf.int64)
        # --- step
        # A tensor: every run that needs it computes it again from the global step.
        rate = exponential_decay(
            learning_rate, global_step, decay_steps, decay_rate, staircase=True
        )
        optimizer = tf.train.GradientDescentOptimizer(rate)
        step = optimizer.minimize(tf.square(x), global_step)  # then counts the step
        # --- run
        sess.run(tf.global_variables_initializer())
        rates, history = [], []
        for _ in range(steps):
            rates.append(sess.run([rate, step])[0])
            history.append(sess.run(x))
        return rates, history, sess.run(global_step)
