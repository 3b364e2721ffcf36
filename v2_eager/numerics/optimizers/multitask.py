"""An optimizer for losses of which a step may lack one."""

import tensorflow as tf

from v2_eager.numerics.optimizers.base import summed


class Multitask:
    """`tf.contrib.opt.MultitaskOptimizerWrapper`: gradients of nothing but 0 wait.

        class MultitaskMomentum(Multitask, Momentum): ...

    A variable whose gradient is all zeros is left as it is, and its slots, too: its
    task was not there. Follows `multitask_optimizer_wrapper.py` of 1.15.5's
    `tensorflow/contrib/opt/python/training`, whose `clip_gradients_by_global_norm` is
    `tf.clip_by_global_norm`.
    """

    def update(self, variable, slots, gradient, numbers):
        """Moves a variable, or not; see `Optimizer.update`."""
        step = super().update
        unless_zero(gradient, lambda: step(variable, slots, gradient, numbers))

    def update_rows(self, variable, slots, gradient, numbers):
        """Moves rows, or not; see `Optimizer.update_rows`."""
        step = super().update_rows
        rows = summed(gradient)
        unless_zero(rows.values, lambda: step(variable, slots, rows, numbers))


def unless_zero(gradient, step):
    """Takes a step, unless a gradient is all zeros."""

    def take():
        step()
        return True

    tf.cond(tf.reduce_any(gradient != 0), take, lambda: False)
