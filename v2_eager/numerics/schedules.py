"""The learning rate schedules of `tf.train` that Keras does not have.

    optimizer = Adam(lambda step: linear_cosine_decay(0.1, step, 1000))

They are functions of a step, a tensor or variable of any shape and numeric dtype, and
compute in the dtype of the rate. Follows `learning_rate_schedule.py` of 1.15.5's Keras.
"""

import math

import tensorflow as tf

from v2_eager.numerics.randomness import draw

__all__ = [
    "natural_exp_decay",
    "linear_cosine_decay",
    "noisy_linear_cosine_decay",
]


def natural_exp_decay(
    learning_rate, global_step, decay_steps, decay_rate, staircase=False
):
    """`tf.train.natural_exp_decay`: rate * exp(-decay_rate * step / decay_steps).

    Args:
        learning_rate: the initial rate, a float number or tensor.
        global_step: see the module.
        decay_steps: number of steps.
        decay_rate: factor of the negative exponent, a float number or tensor.
        staircase: whether the rate falls only after every `decay_steps` steps.

    Returns:
        Tensor of the shape of `global_step` and the dtype of `learning_rate`.
    """
    rate = tf.convert_to_tensor(learning_rate)
    factor = tf.cast(tf.exp(-tf.convert_to_tensor(decay_rate)), rate.dtype)
    periods = tf.cast(global_step, rate.dtype) / tf.cast(decay_steps, rate.dtype)
    return rate * tf.pow(factor, tf.floor(periods) if staircase else periods)


def linear_cosine_decay(
    learning_rate, global_step, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001
):
    """`tf.train.linear_cosine_decay`: a linear decay to 0 times a cosine wave.

    Args:
        learning_rate: the initial rate, a float number or tensor; v1: float32 only.
        global_step: see the module.
        decay_steps: number of steps after which the rate is constant.
        num_periods: number of periods of the cosine.
        alpha: added to the line, as a share of the initial rate.
        beta: added to the product, as a share of the initial rate.

    Returns:
        Tensor of the shape of `global_step` and the dtype of `learning_rate`.
    """
    rate, done = completed(learning_rate, global_step, decay_steps)
    steps = tf.cast(decay_steps, rate.dtype)
    line = (steps - done) / steps
    wave = 0.5 * (1 + tf.cos(math.pi * (2 * num_periods * (done / steps))))
    return rate * ((alpha + line) * wave + beta)


def noisy_linear_cosine_decay(
    learning_rate,
    global_step,
    decay_steps,
    initial_variance=1.0,
    variance_decay=0.55,
    num_periods=0.5,
    alpha=0.0,
    beta=0.001,
    *,
    seed=None,
):
    """`tf.train.noisy_linear_cosine_decay`: `linear_cosine_decay` with random noise.

    The noise is added to the line, and its variance falls with the steps.

    Args:
        learning_rate, global_step, decay_steps, num_periods, alpha, beta: see
            `linear_cosine_decay`; the rate must be float32, the step of known shape.
        initial_variance: variance of the noise before the first step.
        variance_decay: exponent: the variance is divided by (1 + step) **
            variance_decay.
        seed: see `randomness.draw`. In v1 the op had no seed argument: its seed was its
            place in the graph.

    Returns:
        Tensor of the shape of `global_step` and the dtype of `learning_rate`.
    """
    rate, done = completed(learning_rate, global_step, decay_steps)
    steps = tf.cast(decay_steps, rate.dtype)
    deviation = tf.sqrt(initial_variance / tf.pow(1.0 + done, variance_decay))
    line = (steps - done) / steps
    line += draw("normal", line.shape, 0.0, deviation, rate.dtype, seed)
    wave = 0.5 * (1 + tf.cos(math.pi * (2 * num_periods * (done / steps))))
    return rate * ((alpha + line) * wave + beta)


def completed(learning_rate, global_step, decay_steps):
    """Returns the rate as a tensor, and min(step, decay_steps) in the same dtype.

    Args:
        learning_rate: float number or tensor.
        global_step: int tensor or variable.
        decay_steps: number of steps.

    Returns:
        (rate, steps), tensors of one dtype.
    """
    rate = tf.convert_to_tensor(learning_rate)
    steps = tf.cast(decay_steps, rate.dtype)
    return rate, tf.minimum(tf.cast(global_step, rate.dtype), steps)
