"""An optimizer that averages what it trains."""

import tensorflow as tf

from v2_eager.numerics.averages import ExponentialMovingAverage
from v2_eager.numerics.optimizers.base import refuse_in_replica


class MovingAverage(tf.Module):
    """`tf.contrib.opt.MovingAverageOptimizer`: steps of another one, then averages.

        optimizer = MovingAverage(Momentum(0.1, 0.9))
        optimizer.create_slots(variables)
        optimizer.minimize(loss, variables)
        restore.save(path, optimizer.swapped(restore.named(model, optimizer)))

    Follows `tensorflow/contrib/opt/python/training/moving_average_optimizer.py` of
    1.15.5, its updates in sequence.

    Args:
        opt: an `Optimizer`, or a `LossScale`.
        average_decay, num_updates: see `averages.ExponentialMovingAverage`.

    Attributes:
        averages: the `ExponentialMovingAverage`.
    """

    def __init__(self, opt, average_decay=0.9999, num_updates=None):
        super().__init__()
        self.optimizer = opt
        self.averages = ExponentialMovingAverage(average_decay, num_updates)

    def minimize(self, loss, variables, global_step=None, grad_loss=None):
        """As `Optimizer.minimize`, then averages."""
        value, pairs = self.differentiate(loss, variables, grad_loss)
        self.apply_gradients(pairs, global_step)
        return value

    def compute_gradients(self, loss, variables, grad_loss=None):
        """As `Optimizer.compute_gradients`."""
        return self.differentiate(loss, variables, grad_loss)[1]

    def differentiate(self, loss, variables, grad_loss=None):
        """As `Optimizer.differentiate`."""
        return self.optimizer.differentiate(loss, variables, grad_loss)

    def apply_gradients(self, pairs, global_step=None, *, aggregate=True):
        """As `Optimizer.apply_gradients`, then averages what has a gradient."""
        pairs = list(pairs)
        trained = [variable for gradient, variable in pairs if gradient is not None]
        self.create_slots(trained)
        self.optimizer.apply_gradients(pairs, global_step, aggregate=aggregate)
        self.averages.apply(trained)

    def create_slots(self, variables):
        """As `Optimizer.create_slots`; also the averages, at the variables' values."""
        variables = list(variables)
        self.optimizer.create_slots(variables)
        if any(self.averages.average(variable) is None for variable in variables):
            refuse_in_replica("averages", "create_slots")
        self.averages.create(variables)
        return self

    def swapped(self, variables):
        """What `swapping_saver` saved: under the name of a variable its average.

        Args:
            variables: {name: variable}, with the averages; see `restore.named`.

        Returns:
            {name: variable}, variables and averages having changed places.

        Raises:
            ValueError: an averaged variable, or its average, is not among them.
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
