"""Decoupled weight decay: AdamW and MomentumW of `tf.contrib.opt`.

Follows `tensorflow/contrib/opt/python/training/weight_decay_optimizers.py` of 1.15.5,
after Loshchilov and Hutter, "Decoupled Weight Decay Regularization".
"""

import tensorflow as tf

from v2_eager.numerics.optimizers.adam import Adam
from v2_eager.numerics.optimizers.base import summed
from v2_eager.numerics.optimizers.gradient_descent import Momentum


class DecoupledWeightDecay:
    """`tf.contrib.opt.DecoupledWeightDecayExtension`: weight decay for any optimizer.

        class AdamW(DecoupledWeightDecay, Adam): ...

    Before each step it computes variable -= weight_decay * variable, without the
    learning rate; `tf.keras.optimizers.AdamW` multiplies the decay by it. With a sparse
    gradient, only the rows that the gradient contains decay.

    Args:
        weight_decay: number, or scalar tensor of the variables' dtype; no schedule.
        *args, **kwargs: arguments of the optimizer.
    """

    def __init__(self, weight_decay, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.weight_decay, self.decayed = weight_decay, None

    def minimize(
        self, loss, variables, global_step=None, grad_loss=None, decay_var_list=None
    ):
        """Takes a step; all variables decay: 1.15.5 ignored `decay_var_list` here."""
        return super().minimize(loss, variables, global_step, grad_loss)

    def apply_gradients(
        self, pairs, global_step=None, decay_var_list=None, *, aggregate=True
    ):
        """Applies gradients after decay of `decay_var_list`, or of all for None."""
        self.decayed = {v.ref() for v in decay_var_list} if decay_var_list else None
        super().apply_gradients(pairs, global_step, aggregate=aggregate)

    def decays(self, variable):
        """Returns whether a variable decays in the current step."""
        return self.decayed is None or variable.ref() in self.decayed

    def update(self, variable, slots, gradient, numbers):
        """Decays a variable, then updates it; see `Optimizer.update`."""
        if self.decays(variable):
            variable.assign_sub(self.weight_decay * variable)
        super().update(variable, slots, gradient, numbers)

    def update_rows(self, variable, slots, gradient, numbers):
        """Decays the rows, then updates them; see `Optimizer.update_rows`."""
        rows = summed(gradient)
        if self.decays(variable):
            decay = -self.weight_decay * tf.gather(variable, rows.indices)
            variable.scatter_add(tf.IndexedSlices(decay, rows.indices))
        super().update_rows(variable, slots, rows, numbers)


class AdamW(DecoupledWeightDecay, Adam):
    """`tf.contrib.opt.AdamWOptimizer`: Adam with weight decay before each step.

    `keras.optimizers.AdamW` multiplies the decay by the learning rate.

    Args:
        weight_decay: see `DecoupledWeightDecay`.
        learning_rate, beta1, beta2, epsilon, use_locking, name, suffix: see `Adam`.
    """

    def __init__(
        self,
        weight_decay,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        use_locking=False,
        name="AdamW",
        *,
        suffix="",
    ):
        arguments = learning_rate, beta1, beta2, epsilon, use_locking, name
        super().__init__(weight_decay, *arguments, suffix=suffix)


class MomentumW(DecoupledWeightDecay, Momentum):
    """`tf.contrib.opt.MomentumWOptimizer`: momentum with weight decay before each step.

    Args:
        weight_decay: see `DecoupledWeightDecay`.
        learning_rate, momentum, use_locking, name, use_nesterov: see `Momentum`.
    """

    def __init__(
        self,
        weight_decay,
        learning_rate,
        momentum,
        use_locking=False,
        name="MomentumW",
        use_nesterov=False,
    ):
        arguments = learning_rate, momentum, use_locking, name, use_nesterov
        super().__init__(weight_decay, *arguments)
