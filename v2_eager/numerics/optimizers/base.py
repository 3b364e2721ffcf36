"""What optimizers share: slots under the names of TensorFlow 1, and a step."""

import inspect

import tensorflow as tf


class Optimizer(tf.Module):
    """What the optimizers share: slots under the names of v1, and a step.

    For one of your own, override `update` and, for tables, `update_rows`.

    A hyper-parameter is a number, which is float32 first whatever the variables are,
    a tensor, a variable, a function of nothing, or a function of the global step, as a
    schedule of Keras is.

    It is no `keras.optimizers.Optimizer`, whose slots have other names.

    Args:
        name: slots are named after it: `w/name`, the second one of `w` `w/name_1`.
        slots: list of (slot name, argument of the kernel, initial number), or with a
            fourth, what this slot is named after instead of `name`.
        options: {argument of the kernel: switch}, such as {"use_nesterov": True}.
        **hyper: {argument of the kernel: hyper-parameter}.

    Attributes:
        kernel: `tf.raw_ops.ResourceApply…` and `ResourceSparseApply…` end with this.
        gradient: argument of `ResourceApply…` for the gradient, "grad" or "delta".
        trained: list of `variable.ref()` of what has been moved.
        slots: list of {slot name: variable}, one dict for each of `trained`.
        hyper: {argument of the kernel: hyper-parameter}.
        options: {argument of the kernel: switch}.
    """

    kernel = ""
    gradient = "grad"

    def __init__(self, name, slots=(), options=(), **hyper):
        """Makes no variables yet: see `create_slots`."""
        super().__init__()
        self.slot_specs = tuple((*spec, name)[:4] for spec in slots)
        self.options, self.hyper = dict(options), hyper
        self.slots, self.trained = [], []

    def minimize(self, loss, variables, global_step=None, grad_loss=None):
        """Takes a step.

        Args:
            loss: function of nothing that computes a float tensor.
            variables: list of the variables to move.
            global_step: variable to add 1 to afterwards, or None.
            grad_loss: tensor like the loss, where to begin instead of ones.

        Returns:
            The loss, as it was before the step.

        Raises:
            ValueError: no variables, no gradient for any of them, an integer loss.
            TypeError: the loss is a tensor, of which no tape knows; a variable is one
                of Keras.
            RuntimeError: a variable has a constraint and a sparse gradient.
        """
        value, pairs = self.differentiate(loss, variables, grad_loss)
        self.apply_gradients(pairs, global_step)
        return value

    def compute_gradients(self, loss, variables, grad_loss=None):
        """The first half of `minimize`: [(gradient or None, variable)]."""
        return self.differentiate(loss, variables, grad_loss)[1]

    def differentiate(self, loss, variables, grad_loss=None):
        """(the loss, what `compute_gradients` returns)."""
        if not callable(loss):
            raise TypeError("give the loss as a function of nothing: lambda: ...")
        variables = list(variables)
        if not variables:
            raise ValueError("No variables to optimize.")
        for variable in variables:
            check_kind(variable)
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(variables)
            value = loss()
        if not value.dtype.is_floating:
            raise ValueError(f"Invalid type {value.dtype} for {value}, expected: float")
        return value, list(zip(tape.gradient(value, variables, grad_loss), variables))

    def apply_gradients(self, pairs, global_step=None, *, aggregate=True):
        """The second half of `minimize`.

        In `strategy.run` it sums the gradients of all replicas first, as TensorFlow 1
        and Keras do. For their mean divide the loss by `num_replicas_in_sync`.

        Args:
            pairs: iterable of (gradient, variable): tensors, `tf.IndexedSlices`, whose
                rows may come twice, or None, which leaves a variable as it is.
            global_step: variable to add 1 to afterwards, or None.
            aggregate: False if all replicas have the same gradients already, as after
                `all_reduce`, which is needed before a `tf.cond` around the step.

        Raises:
            ValueError: no pairs, no gradients, or a schedule without a global step;
                under a strategy, variables or slots that its scope has not made.
            RuntimeError: a variable has a constraint and a sparse gradient; a strategy
                of several replicas is in scope, and this is not in its `run`.
        """
        pairs = list(pairs)
        if not pairs:
            raise ValueError("No variables provided.")
        given = [(gradient, v) for gradient, v in pairs if gradient is not None]
        if not given:
            names = [variable.name for _, variable in pairs]
            raise ValueError(f"No gradients provided for any variable: {names}.")
        self.create_slots([variable for _, variable in given])
        if global_step is not None:
            check_scope([global_step])
        if aggregate:
            given = summed_over_replicas(given)
        slots_of = dict(zip(self.trained, self.slots))
        numbers = {k: number(x, global_step) for k, x in self.hyper.items()}
        for gradient, variable in given:
            slots = slots_of[variable.ref()]
            cast = {k: tf.cast(x, variable.dtype) for k, x in numbers.items()}
            constraint = variable.constraint
            if not isinstance(gradient, tf.IndexedSlices):
                self.update(variable, slots, tf.convert_to_tensor(gradient), cast)
                if constraint is not None:
                    variable.assign(constraint(variable))
            elif constraint is not None:
                raise RuntimeError(
                    "Cannot use a constraint function on a sparse variable."
                )
            else:
                self.update_rows(variable, slots, gradient, cast)
        self.finish(numbers)
        if global_step is not None:
            global_step.assign_add(1)

    @property
    def built(self):
        """Whether it has slots, or needs none."""
        return bool(self.trained) or not self.slot_specs

    def create_slots(self, variables):
        """Makes the missing slots; the first step does so itself, but not in a replica.

        Call it before a `tf.function` is traced, which would trace twice, as whenever
        variables are made in it, before a checkpoint is restored, and in the scope of a
        strategy.

        Args:
            variables: iterable of `tf.Variable`s. Slots that exist keep their values.

        Returns:
            The optimizer.

        Raises:
            TypeError: a variable is one of Keras.
            ValueError: a variable is of another strategy's scope, or a slot is missing
                in `strategy.run` of several replicas.
        """
        variables = list(variables)
        for variable in variables:
            check_kind(variable)
        check_scope(variables)
        known = set(self.trained)
        missing = {v.ref(): v for v in variables if v.ref() not in known}
        if missing and self.slot_specs:
            refuse_in_replica("slots", "create_slots")
        with tf.init_scope(), tf.name_scope(""):
            for reference, variable in missing.items():
                self.trained.append(reference)
                self.slots.append(self._made(variable))
        return self

    def _made(self, variable):
        slots, paths = {}, []
        for slot, _, initial, name in self.slot_specs:
            path = f"{variable.name[:-2]}/{name}"
            count = paths.count(path)
            paths.append(path)
            value = tf.constant(initial, variable.dtype, variable.shape)
            path += f"_{count}" if count else ""
            slots[slot] = tf.Variable(value, trainable=False, name=path)
        return slots

    def get_slot(self, variable, name):
        """The slot of a variable by its name, such as "m"; None if there is none."""
        return dict(zip(self.trained, self.slots)).get(variable.ref(), {}).get(name)

    def arguments(self, variable, slots, numbers):
        """Arguments of the kernel, but for the gradient."""
        handles = {spec[1]: slots[spec[0]].handle for spec in self.slot_specs}
        return {"var": variable.handle, **handles, **numbers, **self.options}

    def update(self, variable, slots, gradient, numbers):
        """Moves a variable.

        Args:
            variable: float variable.
            slots: {slot name: variable}, its slots.
            gradient: tensor like it.
            numbers: {argument: scalar tensor of its dtype}, the hyper-parameters.
        """
        self.run_kernel("ResourceApply", variable, slots, numbers, gradient)

    def update_rows(self, variable, slots, gradient, numbers):
        """As `update`, by a `tf.IndexedSlices`: in the rows that it names only."""
        rows = summed(gradient)
        indices = {"indices": rows.indices}
        prefix = "ResourceSparseApply"
        self.run_kernel(prefix, variable, slots, numbers, rows.values, **indices)

    def run_kernel(self, prefix, variable, slots, numbers, gradient, **more):
        """Calls the kernel of TensorFlow 1 whose name begins with `prefix`."""
        # The public one, of tf.keras.optimizers, would round after each of its ops,
        # start RMSprop's squares at 0 and not at 1, add another epsilon in another
        # place, take a step for each duplicate row, and move rows that no id names.
        kernel = getattr(tf.raw_ops, prefix + self.kernel)
        more["grad" if more else self.gradient] = gradient
        kernel(**self.arguments(variable, slots, numbers), **more)

    def finish(self, numbers):
        """What is done once, after all variables; the numbers are not cast."""
        return  # else AutoGraph warns: it leaves a body of a docstring alone empty


def check_kind(variable):
    """Raises a TypeError of a variable of Keras, which holds a `tf.Variable`."""
    if not isinstance(variable, tf.Variable):
        kind = type(variable).__name__
        raise TypeError(f"{kind} is no tf.Variable: of one of Keras, give its `value`")


def check_scope(variables):
    """Raises a ValueError of a variable that is not of the current strategy's scope.

    In `strategy.run` every replica would move the same copy; outside of the scope, the
    first copy alone would move. Replicas that move a variable that is aggregated by a
    sum would move it several times.

    Args:
        variables: iterable of variables.
    """
    strategy = tf.distribute.get_strategy()
    several = strategy.num_replicas_in_sync > 1
    for variable in variables:
        if several and variable.aggregation == tf.VariableAggregation.SUM:
            raise ValueError(f"{variable.name}: make it without aggregation=SUM")
        copies = several or isinstance(variable, tf.distribute.DistributedValues)
        if copies and not strategy.extended.variable_created_in_scope(variable):
            raise ValueError(
                f"{variable.name} is of another scope: make variables, slots "
                "(create_slots) and the global step in `strategy.scope()`, and take "
                "steps in `strategy.run`"
            )


def refuse_in_replica(what, method):
    """Raises a ValueError in `strategy.run` of several replicas: each would make some.

    Args:
        what: the variables that are missing, in the plural.
        method: name of the method that makes them.
    """
    several = tf.distribute.get_strategy().num_replicas_in_sync > 1
    if several and not tf.distribute.in_cross_replica_context():
        raise ValueError(
            f"The {what} are missing: call {method}(variables) in `strategy.scope()`, "
            "before `strategy.run`"
        )


def summed_over_replicas(pairs):
    """Sums gradients over the replicas of a strategy; without one, changes nothing.

    Args:
        pairs: list of (gradient, variable), the same variables in all replicas. Of
            `tf.IndexedSlices` the rows of all replicas follow one another.

    Returns:
        List of (gradient or None, variable).

    Raises:
        RuntimeError: a strategy of several replicas is in scope, and this is not in its
            `run`.
    """
    if tf.distribute.get_strategy().num_replicas_in_sync == 1:
        return pairs
    context = tf.distribute.get_replica_context()
    if context is None:
        raise RuntimeError("take steps in `strategy.run`, not in its scope alone")
    given = [copied(gradient) for gradient, _ in pairs if gradient is not None]
    sums = iter(context.all_reduce("SUM", given))
    return [(g if g is None else next(sums), variable) for g, variable in pairs]


def copied(gradient):
    """A copy of a gradient for a replica: `all_reduce` does not sum what is one tensor.

    Args:
        gradient: tensor or `tf.IndexedSlices`.
    """
    if not isinstance(gradient, tf.IndexedSlices):
        return tf.identity(gradient)
    shape = gradient.dense_shape
    return tf.IndexedSlices(
        tf.identity(gradient.values),
        tf.identity(gradient.indices),
        None if shape is None else tf.identity(shape),
    )


def number(x, global_step=None):
    """A hyper-parameter as a tensor; functions are called, here and now.

    Args:
        x: number, tensor, variable, or function of nothing or of the global step.
        global_step: integer variable or tensor, or None.

    Returns:
        Scalar tensor: float32 for a Python float.

    Raises:
        ValueError: a function of the global step, which is None.
    """
    if callable(x):
        parameters = inspect.signature(x).parameters.values()
        if any(p.default is p.empty and p.kind <= 1 for p in parameters):
            if global_step is None:
                raise ValueError("a schedule is a function of the global_step: give it")
            x = x(global_step)
        else:
            x = x()
    return tf.convert_to_tensor(x)


def summed(slices):
    """Slices without duplicates: a kernel would take a step for each of them.

    Args:
        slices: `tf.IndexedSlices`.

    Returns:
        `tf.IndexedSlices`, in the order in which the indices first occur.
    """
    indices, places = tf.unique(slices.indices)
    values = tf.math.unsorted_segment_sum(slices.values, places, tf.size(indices))
    return tf.IndexedSlices(values, indices, slices.dense_shape)


def positive(value, name):
    """`value`, or a ValueError: the kernels divide by its root."""
    if value <= 0:
        raise ValueError(f"{name} must be positive: {value}")
    return value
