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
    """Multiplies the rate by `decay_rate` every `decay_steps` steps."""
    rate = schedules.ExponentialDecay(learning_rate, decay_steps, decay_rate, staircase)
    return rate(global_step)


def natural_exp_decay(
    learning_rate, global_step, decay_steps, decay_rate, staircase=False
):
    """Multiplies the rate by exp(-decay_rate) every `decay_steps` steps.

    Keras has no such schedule: `ExponentialDecay` by exp(-decay_rate) is one.
    """
    return exponential_decay(
        learning_rate, global_step, decay_steps, keras.ops.exp(-decay_rate), staircase
    )


@keras.saving.register_keras_serializable("v2_keras")
class LinearCosineDecay(schedules.LearningRateSchedule):
    """What Keras 3 has no more, as a schedule of one's own."""

    def __init__(
        self, learning_rate, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001
    ):
        self.learning_rate, self.decay_steps = learning_rate, decay_steps
        self.num_periods, self.alpha, self.beta = num_periods, alpha, beta

    def __call__(self, step):
        rate = tf.convert_to_tensor(self.learning_rate)
        steps = tf.cast(self.decay_steps, rate.dtype)
        share = tf.minimum(tf.cast(step, rate.dtype), steps) / steps
        wave = 0.5 * (1 + tf.cos(math.pi * (2 * self.num_periods * share)))
        return rate * ((self.alpha + (1 - share)) * wave + self.beta)

    def get_config(self):
        return dict(vars(self))


def linear_cosine_decay(
    learning_rate, global_step, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001
):
    """Multiplies a straight line and a cosine wave."""
    rate = LinearCosineDecay(learning_rate, decay_steps, num_periods, alpha, beta)
    return rate(global_step)


def piecewise_constant(x, boundaries, values):
    """Chooses values[i] for the i that says how many boundaries `x` is beyond.

    The value is a sum of all values times 0 or 1: a NaN among them is the answer. The
    boundaries must rise: nothing is raised where they fall, and two values are added.
    """
    return schedules.PiecewiseConstantDecay(boundaries, values)(x)


def descend(start, learning_rate, steps, decay_steps=1, decay_rate=1.0, first_step=0):
    """Minimizes x * x by gradient descent with an exponential, staircase schedule.

    The optimizer asks its schedule at every step, by `iterations`.
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
        optimizer.apply([tape.gradient(loss, x.value)], [x])

    # --- run
    rates, history = [], []
    for _ in range(steps):
        rates.append(optimizer.learning_rate.numpy())
        step()
        history.append(x.numpy())
    return rates, history, optimizer.iterations.numpy()
