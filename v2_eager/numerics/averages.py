"""Moving averages that compute as in TensorFlow 1 and have its checkpoint names.

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
    """Updates a moving average without bias correction (`zero_debias=False`).

    Args:
        variable: float variable, the average.
        value: tensor of the variable's shape and dtype.
        decay: share of the old average that is kept, a number or tensor. With a number,
            1 - decay is rounded; with a float32 tensor, decay is rounded to float32,
            also if the variable has another dtype.

    Returns:
        The average.
    """
    rate = tf.cast(tf.convert_to_tensor(1.0 - decay), variable.dtype)
    return variable.assign_sub((variable - value) * rate)


def assign_debiased_average(variable, biased, local_step, value, decay):
    """Updates a moving average that begins at zero, with bias correction.

    That is `zero_debias=True`: variable = biased / (1 - decay ** local_step), as in
    section 3 of "Adam".

    Args:
        variable: float variable, the average with bias correction.
        biased: variable of the same shape and dtype, the average that began at zero.
        local_step: scalar variable of the same dtype, the number of updates.
        value, decay: see `assign_moving_average`.

    Returns:
        The average.
    """
    biased = assign_moving_average(biased, value, decay)
    rate = tf.cast(tf.convert_to_tensor(1.0 - decay), biased.dtype)
    weight = 1 - tf.pow(1.0 - rate, local_step.assign_add(1))
    return variable.assign(biased / weight)


def variable_of_replicas(value, name):
    """Makes a variable that each replica updates alone; its value is their mean.

    If it is read outside of `strategy.run`, its value is the mean over all replicas.
    Without a strategy it is an ordinary variable that is not trained.

    Args:
        value: initial value, a float tensor.
        name: name of the variable.

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
    """`tf.train.ExponentialMovingAverage`: moving averages of variables.

    The public `tf.train.ExponentialMovingAverage` gives the same bits for variables.
    But it would make the averages only in its first `apply`, add "_1" to a name that is
    already used, and not be saved by `tf.train.Checkpoint`: it is not a `tf.Module`.

    Args:
        decay: share of the old average that an update keeps, at most.
        num_updates: number of updates, a tensor or variable, or None. With it the share
            is min(decay, (1 + n) / (10 + n)), so that early averages follow fast.
        name: suffix of the averages' names: the average of `w` is called `w/name`.
        scope: prefix of the averages' names, if the averages were made in a variable
            scope.

    Attributes:
        averaged: list of `variable.ref()` of the variables that have an average.
        shadows: list of the averages, which are variables, in the same order.
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
        """Whether the averages exist."""
        return bool(self.shadows)

    def create(self, variables):
        """Makes the missing averages; each begins at the value of its variable.

        The first `apply` makes them, too; but if it comes after the first step, they
        begin at the values after that step.

        Returns:
            This object.

        Raises:
            TypeError: a variable is not of a float dtype.
            ValueError: the function that is being traced makes one of the variables.
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
                        f"{variable.name} has no value yet: make the variable, and "
                        "call `create`, before the function that averages it"
                    )
                name = self.average_name(variable)
                self.averaged.append(variable.ref())
                self.shadows.append(tf.Variable(variable, trainable=False, name=name))
        return self

    def apply(self, variables, num_updates=None):
        """Updates the moving averages of the variables.

        Args:
            variables: list of float variables.
            num_updates: used in place of the object's `num_updates`.
        """
        self.create(variables)
        count = self.num_updates if num_updates is None else num_updates
        decay = tf.convert_to_tensor(self.decay)  # float32, also for float64 variables
        if count is not None:
            count = tf.cast(count, tf.float32)
            decay = tf.minimum(decay, (1.0 + count) / (10.0 + count))
        shadows = dict(zip(self.averaged, self.shadows))
        for variable in variables:
            assign_moving_average(shadows[variable.ref()], variable, decay)

    def average(self, variable):
        """Returns the average of a variable, or None if the variable has no average."""
        return dict(zip(self.averaged, self.shadows)).get(variable.ref())

    def average_name(self, variable):
        """Returns the name of a variable's average, even before the average exists."""
        return f"{self.scope}{variable.name.partition(':')[0]}/{self.suffix}"

    def variables_to_restore(self, variables):
        """Maps checkpoint names to variables; averaged variables load the averages."""
        averaged = set(self.averaged)
        return {
            self.average_name(v) if v.ref() in averaged else v.name.partition(":")[0]: v
            for v in variables
        }


class TensorAverage(tf.Module):
    """The moving average of a tensor, such as a loss: `apply` with a list of tensors.

    Args:
        shape: shape of the tensor.
        dtype: dtype of the tensor.
        decay: share of the old average that an update keeps.
        zero_debias: whether to divide by 1 - decay ** n, as Adam does, to correct the
            bias of an average that begins at zero.
        op_name: name of the tensor's op; the average is called `op_name/name`.
        name: see `ExponentialMovingAverage`.

    Attributes:
        average: the variable.

    Raises:
        TypeError: `dtype` is not a float dtype.
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
        """Updates the average with `value`, and returns the average."""
        decay = tf.convert_to_tensor(self.decay)
        if not self.zero_debias:
            return assign_moving_average(self.average, value, decay)
        places = self.average, self.biased, self.local_step
        return assign_debiased_average(*places, value, decay)
