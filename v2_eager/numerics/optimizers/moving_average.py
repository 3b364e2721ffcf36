"""An optimizer wrapper that keeps moving averages of the variables."""

import tensorflow as tf

from v2_eager.numerics.averages import ExponentialMovingAverage
from v2_eager.numerics.optimizers.base import refuse_in_replica


class MovingAverage(tf.Module):
    """`tf.contrib.opt.MovingAverageOptimizer`: updates averages after each step.

        optimizer = MovingAverage(Momentum(0.1, 0.9))
        optimizer.create_slots(variables)
        optimizer.minimize(loss, variables)
        restore.save(path, optimizer.swapped(restore.named(model, optimizer)))

    Follows `tensorflow/contrib/opt/python/training/moving_average_optimizer.py` of
    1.15.5 with its sequential update.

    Args:
        opt: an `Optimizer`, or a `LossScale`.
        average_decay, num_updates: see `averages.ExponentialMovingAverage`.

    Attributes:
        averages: the `averages.ExponentialMovingAverage`.
    """

    def __init__(self, opt, average_decay=0.9999, num_updates=None):
        super().__init__()
        self.optimizer = opt
        self.averages = ExponentialMovingAverage(average_decay, num_updates)

    def minimize(self, loss, variables, global_step=None, grad_loss=None):
        """Takes a training step, as `Optimizer.minimize`, then updates the averages."""
        value, pairs = self.differentiate(loss, variables, grad_loss)
        self.apply_gradients(pairs, global_step)
        return value

    def compute_gradients(self, loss, variables, grad_loss=None):
        """Computes the gradients, as `Optimizer.compute_gradients`."""
        return self.differentiate(loss, variables, grad_loss)[1]

    def differentiate(self, loss, variables, grad_loss=None):
        """Computes the loss and the gradients, as `Optimizer.differentiate`."""
        return self.optimizer.differentiate(loss, variables, grad_loss)

    def apply_gradients(self, pairs, global_step=None, *, aggregate=True):
        """Applies gradients, then updates the averages of variables with a gradient."""
        pairs = list(pairs)
        trained = [variable for gradient, variable in pairs if gradient is not None]
        self.create_slots(trained)
        self.optimizer.apply_gradients(pairs, global_step, aggregate=aggregate)
        self.averages.apply(trained)

    def create_slots(self, variables):
        """Makes the missing slots, and averages that begin at the variables' values."""
        variables = list(variables)
        self.optimizer.create_slots(variables)
        if any(self.averages.average(variable) is None for variable in variables):
            refuse_in_replica("averages", "create_slots")
        self.averages.create(variables)
        return self

    def swapped(self, variables):
        """Exchanges the names of variables and averages, as `swapping_saver` did.

        Args:
            variables: {name: variable}, with the averages; see `restore.named`.

        Returns:
            {name: variable}: a variable's name has its average, and the average's name
            has the variable.

        Raises:
            ValueError: `variables` does not contain an averaged variable or its
                average.
        """
        swap = {}
        for reference, average in zip(self.averages.averaged, self.averages.shadows):
            names = [v.name.partition(":")[0] for v in (reference.deref(), average)]
            swap.update(zip(names, reversed(names)))
        lost = [n for n in variables if swap.get(n, n) not in variables]
        if lost:
            raise ValueError(
                f"Variable to swap {swap[lost[0]]} is not part of variables to save."
            )
        return {name: variables[swap.get(name, name)] for name in variables}
