"""`tf.train.exponential_decay`, `polynomial_decay`, … → functions of the step."""

import math

import keras
import tensorflow as tf
from keras.optimizers import schedules

__all__ = [
    "exponential_decay",
    "natural_exp_decay",
    "linear_cosine_decay",
    "piecewise_constant",
    "descend",
]


def exponential_decay(
    learning_rate, global_step, decay_steps, decay_rate, staircase=False
):
    """Multiplies the learning rate by `decay_rate` every `decay_steps` steps."""
    rate = schedules.ExponentialDecay(learning_rate, decay_steps, decay_rate, staircase)
    return rate(global_step)


def natural_exp_decay(
    learning_rate, global_step, decay_steps, decay_rate, staircase=False
):
    """Multiplies the learning rate by exp(-decay_rate) every `decay_steps` steps.

    Keras has no such schedule: pass exp(-decay_rate) to `ExponentialDecay`.
    """
    return exponential_decay(
        learning_rate, global_step, decay_steps, keras.ops.exp(-decay_rate), staircase
    )


@keras.saving.register_keras_serializable("v2_keras")
class LinearCosineDecay(schedules.LearningRateSchedule):
    """`tf.train.linear_cosine_decay` as a Keras schedule; Keras 3 has none.

    share = min(step, decay_steps) / decay_steps
    wave = (1 + cos(π * 2 * num_periods * share)) / 2
    rate = learning_rate * ((alpha + 1 - share) * wave + beta)

    The formula is that of `learning_rate_decay_v2.py` in 1.15.5.

    Args:
        learning_rate: float scalar, a number or a tensor: the rate at step 0.
        decay_steps: int, where the rate stops falling.
        num_periods: float, the number of cosine waves in `decay_steps`.
        alpha: float, added to the line.
        beta: float, the share of the rate that remains in the end.
        dtype: name of the dtype of the rate; None for the dtype of `learning_rate`,
            which is float32 for a Python number.
    """

    def __init__(
        self,
        learning_rate,
        decay_steps,
        num_periods=0.5,
        alpha=0.0,
        beta=0.001,
        dtype=None,
    ):
        self.learning_rate, self.decay_steps = learning_rate, decay_steps
        self.num_periods, self.alpha, self.beta = num_periods, alpha, beta
        self.dtype = dtype

    def __call__(self, step):
        rate = tf.convert_to_tensor(self.learning_rate, self.dtype)
        steps = tf.cast(self.decay_steps, rate.dtype)
        share = tf.minimum(tf.cast(step, rate.dtype), steps) / steps
        wave = 0.5 * (1 + tf.cos(math.pi * (2 * self.num_periods * share)))
        return rate * ((self.alpha + (1 - share)) * wave + self.beta)

    def get_config(self):
        rate = tf.convert_to_tensor(self.learning_rate, self.dtype)
        # A saved file stores numbers without a dtype.
        known = {"learning_rate": float(self.learning_rate), "dtype": rate.dtype.name}
        return {**vars(self), **known}


def linear_cosine_decay(
    learning_rate, global_step, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001
):
    """Lowers the learning rate along a straight line times a cosine wave."""
    rate = LinearCosineDecay(learning_rate, decay_steps, num_periods, alpha, beta)
    return rate(global_step)


def piecewise_constant(x, boundaries, values):
    """Returns values[i], where i is the number of boundaries below `x`.

    Keras sums all values times 0 or 1: if one of them is NaN, the result is NaN.
    Boundaries must increase: Keras does not check them, and adds two values if they
    decrease.
    """
    return schedules.PiecewiseConstantDecay(boundaries, values)(x)


def descend(start, learning_rate, steps, decay_steps=1, decay_rate=1.0, first_step=0):
    """Minimizes x * x by gradient descent with a staircase exponential decay.

    The optimizer calls its schedule at every step with `iterations`.
    """
    # --- build
    x = keras.Variable(start)
    rate = schedules.ExponentialDecay(
        learning_rate, decay_steps, decay_rate, staircase=True
    )
    optimizer = keras.optimizers.SGD(rate)
    optimizer.build([x])
    optimizer.iterations.assign(first_step)

    # --- step
    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.square(x)
        optimizer.apply([tape.gradient(loss, x)], [x])

    # --- run
    rates, history = [], []
    for _ in range(steps):
        rates.append(optimizer.learning_rate.numpy())
        step()
        history.append(x.numpy())
    return rates, history, optimizer.iterations.numpy()
