"""Plain gradient descent, and with momentum."""

import tensorflow as tf

from v2_eager.numerics.optimizers.base import Optimizer


class GradientDescent(Optimizer):
    """`tf.train.GradientDescentOptimizer`: variable -= learning_rate * gradient."""

    kernel = "GradientDescent"

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__(name, alpha=learning_rate)

    def update(self, variable, slots, gradient, numbers):
        arguments = self.arguments(variable, slots, numbers)
        tf.raw_ops.ResourceApplyGradientDescent(delta=gradient, **arguments)

    def update_rows(self, variable, slots, gradient, numbers):
        # Not summed before: a row that comes twice is subtracted from twice.
        values = gradient.values * numbers["alpha"]
        variable.scatter_sub(tf.IndexedSlices(values, gradient.indices))


class Momentum(Optimizer):
    """`tf.train.MomentumOptimizer`, also Nesterov's (slot "momentum").

    accumulator = momentum * accumulator + gradient;
    variable -= learning_rate * accumulator (Nesterov: of the next accumulator).
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
            {"use_nesterov": use_nesterov},
            lr=learning_rate,
            momentum=momentum,
        )
