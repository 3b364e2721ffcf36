"""An optimizer wrapper for several tasks of which a step may train only some."""

import tensorflow as tf

from v2_eager.numerics.optimizers.base import summed


class Multitask:
    """`tf.contrib.opt.MultitaskOptimizerWrapper`: skips variables with zero gradients.

        class MultitaskMomentum(Multitask, Momentum): ...

    If all elements of a gradient are zero, the variable and its slots keep their
    values: the step did not train its task. Follows `multitask_optimizer_wrapper.py` of
    1.15.5's `tensorflow/contrib/opt/python/training`. For its
    `clip_gradients_by_global_norm` use `tf.clip_by_global_norm`.
    """

    def update(self, variable, slots, gradient, numbers):
        """Updates a variable unless its gradient is zero; see `Optimizer.update`."""
        step = super().update
        unless_zero(gradient, lambda: step(variable, slots, gradient, numbers))

    def update_rows(self, variable, slots, gradient, numbers):
        """Updates rows unless the gradient is zero; see `Optimizer.update_rows`."""
        step = super().update_rows
        rows = summed(gradient)
        unless_zero(rows.values, lambda: step(variable, slots, rows, numbers))


def unless_zero(gradient, step):
    """Calls `step` unless all elements of the gradient are zero."""

    def take():
        step()
        return True

    tf.cond(tf.reduce_any(gradient != 0), take, lambda: False)
