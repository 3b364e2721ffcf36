"""The moving averages of TensorFlow 1, under the names that its checkpoints have.

    averages = ExponentialMovingAverage(0.999, num_updates=global_step)
    averages.apply(model.trainable_variables)    # after each step
    averages.variables_to_restore(model.variables)    # for `restore.by_name`

Follows `tensorflow/python/training/moving_averages.py` of 1.15.5.
"""

import tensorflow as tf

__all__ = [
    "assign_moving_average",
    "assign_debiased_average",
    "ExponentialMovingAverage",
    "TensorAverage",
]


def assign_moving_average(variable, value, decay):
    """Moves an average towards a value, by `zero_debias=False`.

    Args:
        variable: float variable, the average.
        value: tensor like it.
        decay: share of the old average that is kept, a number or tensor. Of a number
            1 - decay is rounded, of a float32 tensor decay is, whatever the variable.

    Returns:
        The average.
    """
    rate = tf.cast(tf.convert_to_tensor(1.0 - decay), variable.dtype)
    return variable.assign_sub((variable - value) * rate)


def assign_debiased_average(variable, biased, local_step, value, decay):
    """Moves an average that begins at zero, by `zero_debias=True`.

    variable = biased / (1 - decay ** local_step), as in section 3 of "Adam".

    Args:
        variable: float variable, the average without bias.
        biased: variable like it, the average with the zero that it began at.
        local_step: scalar variable of its dtype, how many updates there were.
        value, decay: see `assign_moving_average`.

    Returns:
        The average.
    """
    biased = assign_moving_average(biased, value, decay)
    rate = tf.cast(tf.convert_to_tensor(1.0 - decay), biased.dtype)
    weight = 1 - tf.pow(1.0 - rate, local_step.assign_add(1))
    return variable.assign(biased / weight)


def variable_of_replicas(value, name):
    """A variable that each replica of a strategy moves by what it alone has seen.

    Read outside of `strategy.run`, it is the mean of all replicas. Without a strategy
    it is like any other that is not trained.

    Args:
        value: initial value, a float tensor.
        name: of the variable.

    Returns:
        A `tf.Variable`.
    """
    return tf.Variable(
        value,
        trainable=False,
        name=name,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.MEAN,
    )


class ExponentialMovingAverage(tf.Module):
    """`tf.train.ExponentialMovingAverage` of variables.

    The public `tf.train.ExponentialMovingAverage` moves an average of a variable by the
    same bits. It would make the averages in its first `apply` only, give one whose name
    is taken "_1", and, being no `tf.Module`, be in no `tf.train.Checkpoint`.

    Args:
        decay: share of the old average that an update keeps, at most.
        num_updates: number of updates, a tensor or variable, or None. With it the share
            is min(decay, (1 + n) / (10 + n)), so that early averages follow fast.
        name: what the averages are called by: that of `w` is `w/name`.
        scope: what their names begin with, if they were made in a variable scope.

    Attributes:
        averaged: list of `variable.ref()` of what has an average.
        shadows: list of the averages, variables in the same order.
    """

    def __init__(
        self, decay, num_updates=None, name="ExponentialMovingAverage", *, scope=""
    ):
        super().__init__()
        self.decay, self.num_updates = decay, num_updates
        self.suffix, self.scope = name, scope
        self.averaged, self.shadows = [], []

    @property
    def built(self):
        """Whether it has averages."""
        return bool(self.shadows)

    def create(self, variables):
        """Makes the averages that there are not yet, at the values of the variables.

        The first `apply` does so, too; but then of what the first step has moved.

        Returns:
            This object.

        Raises:
            TypeError: a variable of another dtype than float.
            ValueError: one that is made by the function that is being traced.
        """
        with tf.init_scope(), tf.name_scope(""):
            known = set(self.averaged)
            for variable in variables:
                if variable.ref() in known:
                    continue
                known.add(variable.ref())
                if not variable.dtype.is_floating:
                    raise TypeError(f"{variable.name} must be half, float, or double")
                if tf.executing_eagerly() and not variable.is_initialized():
                    raise ValueError(
                        f"{variable.name} has no value yet: make it before the "
                        "function that averages it, and `create` its average there"
                    )
                name = self.average_name(variable)
                self.averaged.append(variable.ref())
                self.shadows.append(tf.Variable(variable, trainable=False, name=name))
        return self

    def apply(self, variables, num_updates=None):
        """Moves the averages of the variables towards them.

        Args:
            variables: list of float variables.
            num_updates: instead of that of the object.
        """
        self.create(variables)
        count = self.num_updates if num_updates is None else num_updates
        decay = tf.convert_to_tensor(self.decay)  # float32, whatever the variables are
        if count is not None:
            count = tf.cast(count, tf.float32)
            decay = tf.minimum(decay, (1.0 + count) / (10.0 + count))
        shadows = dict(zip(self.averaged, self.shadows))
        for variable in variables:
            assign_moving_average(shadows[variable.ref()], variable, decay)

    def average(self, variable):
        """The average of a variable, or None if it has none."""
        return dict(zip(self.averaged, self.shadows)).get(variable.ref())

    def average_name(self, variable):
        """The name of its average, which it may not have yet."""
        return f"{self.scope}{variable.name.partition(':')[0]}/{self.suffix}"

    def variables_to_restore(self, variables):
        """{name in a checkpoint: variable}: averages for what is averaged."""
        averaged = set(self.averaged)
        return {
            self.average_name(v) if v.ref() in averaged else v.name.partition(":")[0]: v
            for v in variables
        }


class TensorAverage(tf.Module):
    """What `ExponentialMovingAverage.apply` made of a tensor, such as a loss.

    Args:
        shape: of the tensor.
        dtype: of the tensor.
        decay: share of the old average that an update keeps.
        zero_debias: whether to divide by 1 - decay ** n, as Adam does, since an average
            begins at zero.
        op_name: name of the op of the tensor; its average is `op_name/name`.
        name: as of `ExponentialMovingAverage`.

    Attributes:
        average: the variable.

    Raises:
        TypeError: another dtype than float.
    """

    def __init__(
        self,
        shape,
        dtype,
        decay,
        zero_debias=False,
        op_name="loss",
        name="ExponentialMovingAverage",
    ):
        super().__init__()
        self.decay, self.zero_debias = decay, zero_debias
        path = f"{op_name}/{name}"
        if not tf.as_dtype(dtype).is_floating:
            raise TypeError(f"{op_name} must be half, float, or double")

        def zeros(path, shape):
            return variable_of_replicas(tf.zeros(shape, dtype), path)

        self.average = zeros(path, shape)
        if zero_debias:
            self.biased = zeros(path + "/biased", shape)
            self.local_step = zeros(path + "/local_step", [])

    def update(self, value):
        """Moves the average towards `value`, and returns it."""
        decay = tf.convert_to_tensor(self.decay)
        if not self.zero_debias:
            return assign_moving_average(self.average, value, decay)
        places = self.average, self.biased, self.local_step
        return assign_debiased_average(*places, value, decay)
