"""The learning rates of `tf.train` that Keras has no schedule for.

    optimizer = Adam(lambda step: linear_cosine_decay(0.1, step, 1000))

Functions of a step, a tensor or variable of any shape and number dtype; they compute in
the dtype of the rate. Follows `learning_rate_schedule.py` of 1.15.5's Keras.
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
    """`tf.train.natural_exp_decay`: times exp(-decay_rate) every `decay_steps` steps.

    Args:
        learning_rate: the initial rate, a float number or tensor.
        global_step: see the module.
        decay_steps: number of steps.
        decay_rate: negated exponent, a float number or tensor.
        staircase: whether the rate falls at once, after whole `decay_steps` only.

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
    """`tf.train.linear_cosine_decay`: a straight line times a cosine wave.

    Args:
        learning_rate: the initial rate, a float number or tensor; v1 took float32 only.
        global_step: see the module.
        decay_steps: number of steps, after which the rate stays.
        num_periods: how many whole waves there are.
        alpha: share of the rate that is added to the line.
        beta: share of the rate that is added in the end.

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
    """`tf.train.noisy_linear_cosine_decay`: as `linear_cosine_decay`, its line noisy.

    Args:
        learning_rate, global_step, decay_steps, num_periods, alpha, beta: as there; a
            float32 rate, and a step of known shape.
        initial_variance: of the noise before the first step.
        variance_decay: the power of the steps by which the variance falls.
        seed: see `randomness.draw`; in v1 the op had none, so that its place in the
            graph counted.

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
    """The rate as a tensor, and the steps taken in its dtype, `decay_steps` at most.

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
