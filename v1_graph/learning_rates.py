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
    """Multiplies the rate by `decay_rate` every `decay_steps` steps.

    Args:
        learning_rate: the initial rate, a float number or tensor.
        global_step: tensor of steps taken, of any shape and number dtype.
        decay_steps: number of steps.
        decay_rate: factor, a number or tensor.
        staircase: whether the rate falls at once, after whole `decay_steps` only.

    Returns:
        Tensor of the shape of `global_step` and the dtype of `learning_rate`.
    """
    return tf.train.exponential_decay(
        learning_rate, global_step, decay_steps, decay_rate, staircase
    )


def natural_exp_decay(
    learning_rate, global_step, decay_steps, decay_rate, staircase=False
):
    """Multiplies the rate by exp(-decay_rate) every `decay_steps` steps.

    Args:
        learning_rate: the initial rate, a float number or tensor.
        global_step: tensor of steps taken, of any shape and number dtype.
        decay_steps: number of steps.
        decay_rate: negated exponent, a float number or tensor.
        staircase: whether the rate falls at once, after whole `decay_steps` only.

    Returns:
        Tensor of the shape of `global_step` and the dtype of `learning_rate`.
    """
    return tf.train.natural_exp_decay(
        learning_rate, global_step, decay_steps, decay_rate, staircase
    )


def inverse_time_decay(
    learning_rate, global_step, decay_steps, decay_rate, staircase=False
):
    """Divides the rate by 1 + decay_rate * global_step / decay_steps.

    Args:
        learning_rate: the initial rate, a float number or tensor.
        global_step: tensor of steps taken, of any shape and number dtype.
        decay_steps: number of steps.
        decay_rate: what `decay_steps` steps add to the divisor, a number or tensor.
        staircase: whether the rate falls at once, after whole `decay_steps` only.

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
    """Lets the rate fall to `end_learning_rate` by a power of the steps that are left.

    Args:
        learning_rate: the initial rate, a float number or tensor.
        global_step: tensor of steps taken; a scalar if `cycle`.
        decay_steps: number of steps.
        end_learning_rate: the rate after `decay_steps` steps, a number or tensor.
        power: the power; 1 makes a straight line.
        cycle: whether `decay_steps` is replaced by its first multiple that is not
            smaller than `global_step`, so that the rate rises again and again.

    Returns:
        Tensor of the shape of `global_step` and the dtype of `learning_rate`.
    """
    return tf.train.polynomial_decay(
        learning_rate, global_step, decay_steps, end_learning_rate, power, cycle
    )


def cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0):
    """Lets the rate fall to `alpha` of itself along half a cosine wave.

    Args:
        learning_rate: the initial rate, a float number or tensor.
        global_step: tensor of steps taken, of any shape and number dtype.
        decay_steps: number of steps, after which the rate stays.
        alpha: share of the rate that is left in the end.

    Returns:
        Tensor of the shape of `global_step` and the dtype of `learning_rate`.
    """
    return tf.train.cosine_decay(learning_rate, global_step, decay_steps, alpha)


def cosine_decay_restarts(
    learning_rate, global_step, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0
):
    """Repeats `cosine_decay`, each period longer and lower than the one before.

    Args:
        learning_rate: the initial rate, a float number or tensor.
        global_step: tensor of steps taken, of any shape and number dtype.
        first_decay_steps: number of steps of the first period.
        t_mul: how many times as long as the one before a period is.
        m_mul: how many times as high as the one before a period begins.
        alpha: share of the rate that is left at the end of a period.

    Returns:
        Tensor of the shape of `global_step` and the dtype of `learning_rate`.
    """
    return tf.train.cosine_decay_restarts(
        learning_rate, global_step, first_decay_steps, t_mul, m_mul, alpha
    )


def linear_cosine_decay(
    learning_rate, global_step, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001
):
    """Multiplies a straight line and a cosine wave.

    Args:
        learning_rate: the initial rate, a float number or tensor.
        global_step: tensor of steps taken, of any shape and number dtype.
        decay_steps: number of steps, after which the rate stays.
        num_periods: how many whole waves there are.
        alpha: share of the rate that is added to the line.
        beta: share of the rate that is added in the end.

    Returns:
        Tensor of the shape of `global_step` and the dtype of `learning_rate`.
    """
    return tf.train.linear_cosine_decay(
        learning_rate, global_step, decay_steps, num_periods, alpha, beta
    )


def piecewise_constant(x, boundaries, values):
    """Chooses values[i] for the i that says how many boundaries `x` is beyond.

    Args:
        x: scalar tensor or number, such as the global step.
        boundaries: list of n increasing numbers of the dtype of `x`, n > 0; a boundary
            still belongs to the value before it.
        values: list of n + 1 numbers or scalar tensors of one dtype.

    Returns:
        Scalar tensor of the dtype of the values.

    Raises:
        ValueError: there is not one value more than there are boundaries.
    """
    return tf.train.piecewise_constant(x, boundaries, values)


def descend(start, learning_rate, steps, decay_steps=1, decay_rate=1.0, first_step=0):
    """Minimizes x * x by gradient descent with an exponential, staircase schedule.

    Args:
        start: float array, the initial x.
        learning_rate: the initial rate, a scalar array of the same dtype.
        steps: how many steps to take.
        decay_steps: number of steps after which the rate falls.
        decay_rate: what it is multiplied by then; 1 keeps it.
        first_step: what the global step begins with, as after a restored checkpoint.

    Returns:
        (list of the rates used, list of x after each step, the global step).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        x = tf.Variable(start)
        global_step = tf.Variable(first_step, trainable=False, dtype=tf.int64)
        # --- step
        # A tensor: every run that needs it computes it anew from the global step.
        rate = exponential_decay(
            learning_rate, global_step, decay_steps, decay_rate, staircase=True
        )
        optimizer = tf.train.GradientDescentOptimizer(rate)
        step = optimizer.minimize(tf.square(x), global_step)  # counts when it is done
        # --- run
        sess.run(tf.global_variables_initializer())
        rates, history = [], []
        for _ in range(steps):
            rates.append(sess.run([rate, step])[0])
            history.append(sess.run(x))
        return rates, history, sess.run(global_step)
