"""Gradient descent without and with momentum."""

import tensorflow as tf

from v2_eager.numerics.optimizers.base import Optimizer


class GradientDescent(Optimizer):
    """`tf.train.GradientDescentOptimizer`: variable -= learning_rate * gradient.

    A sparse gradient is not summed first: a row that it contains twice takes two steps.

    Args:
        learning_rate: hyper-parameter, see `Optimizer`.
        use_locking: whether a step locks the variable against other threads.
        name: not used, because there are no slots.
    """

    kernel = "GradientDescent"
    gradient = "delta"

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        options = {"use_locking": use_locking}
        super().__init__(name, options=options, alpha=learning_rate)

    def update_rows(self, variable, slots, gradient, numbers):
        # Not summed first: a row that the gradient contains twice takes two steps.
        values = gradient.values * numbers["alpha"]
        variable.scatter_sub(tf.IndexedSlices(values, gradient.indices))


class Momentum(Optimizer):
    """`tf.train.MomentumOptimizer`, optionally with Nesterov (slot "momentum").

    accumulator = momentum * accumulator + gradient;
    variable -= learning_rate * accumulator. With `use_nesterov`, variable -=
    learning_rate * (gradient + momentum * accumulator): Sutskever et al., 2013.

    Args:
        learning_rate, momentum: hyper-parameters, see `Optimizer`.
        use_locking: whether a step locks the variable against other threads.
        name: suffix of the slot's name: `w/name` for the variable `w`.
        use_nesterov: whether to use Nesterov's step, which looks one step ahead.
    """

    kernel = "Momentum"

    def __init__(
        self,
        learning_rate,
        momentum,
        use_locking=False,
        name="Momentum",
        use_nesterov=False,
    ):
        super().__init__(
            name,
            [("momentum", "accum", 0)],
            {"use_locking": use_locking, "use_nesterov": use_nesterov},
            lr=learning_rate,
            momentum=momentum,
        )
