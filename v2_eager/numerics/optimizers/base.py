"""The base class of optimizers: slots with TensorFlow 1's names, and the step."""

import inspect

import tensorflow as tf


class Optimizer(tf.Module):
    """The base class of optimizers: slots with v1's names, and the training step.

    A subclass overrides `update` and, for sparse gradients, `update_rows`.

    A hyper-parameter is a number (converted to float32 first, for variables of every
    dtype), a tensor, a variable, a function without arguments, or a function of the
    global step, such as a schedule of Keras.

    It is not a `keras.optimizers.Optimizer`, whose slots have other names.

    Args:
        name: suffix of the slots' names: `w/name`, and `w/name_1` for the second slot.
        slots: list of (slot name, argument of the kernel, initial number), optionally
            with a fourth item: a suffix for this slot's name, used instead of `name`.
        options: {argument of the kernel: bool}, such as {"use_nesterov": True}.
        **hyper: {argument of the kernel: hyper-parameter}.

    Attributes:
        kernel: the end of the names `tf.raw_ops.ResourceApply…` and
            `ResourceSparseApply…`.
        gradient: argument of `ResourceApply…` for the gradient, "grad" or "delta".
        trained: list of `variable.ref()` of the variables that have slots.
        slots: list of {slot name: variable}, one dict for each entry of `trained`.
        hyper: {argument of the kernel: hyper-parameter}.
        options: {argument of the kernel: bool}.
    """

    kernel = ""
    gradient = "grad"

    def __init__(self, name, slots=(), options=(), **hyper):
        """Makes no variables: `create_slots` or the first step makes them."""
        super().__init__()
        self.slot_specs = tuple((*spec, name)[:4] for spec in slots)
        self.options, self.hyper = dict(options), hyper
        self.slots, self.trained = [], []

    def minimize(self, loss, variables, global_step=None, grad_loss=None):
        """Computes the gradients of a loss, and takes one training step.

        Args:
            loss: function without arguments that computes a float tensor.
            variables: list of the variables to train.
            global_step: variable to add 1 to after the step, or None.
            grad_loss: gradient of the loss, a tensor of its shape, or None for ones.

        Returns:
            The loss before the step.

        Raises:
            ValueError: there are no variables, none of them has a gradient, or the loss
                is an integer.
            TypeError: the loss is a tensor, which no tape has recorded, or a variable
                is a Keras variable.
            RuntimeError: a variable with a constraint has a sparse gradient.
        """
        value, pairs = self.differentiate(loss, variables, grad_loss)
        self.apply_gradients(pairs, global_step)
        return value

    def compute_gradients(self, loss, variables, grad_loss=None):
        """Computes [(gradient or None, variable)], the first half of `minimize`."""
        return self.differentiate(loss, variables, grad_loss)[1]

    def differentiate(self, loss, variables, grad_loss=None):
        """Computes (loss, [(gradient or None, variable)])."""
        if not callable(loss):
            raise TypeError("loss must be a function without arguments: lambda: ...")
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
        """Applies gradients to variables, the second half of `minimize`.

        In `strategy.run` it first sums the gradients of all replicas, as TensorFlow 1
        and Keras do. For their mean, divide the loss by `num_replicas_in_sync`.

        Args:
            pairs: iterable of (gradient, variable). A gradient is a tensor, a
                `tf.IndexedSlices`, which may contain a row twice, or None, with which
                the variable is not changed.
            global_step: variable to add 1 to after the step, or None.
            aggregate: False if all replicas already have the same gradients, for
                example after `all_reduce`. A `tf.cond` around the step requires False.

        Raises:
            ValueError: there are no pairs or no gradients, or a schedule has no global
                step; under a strategy, its scope did not make the variables or slots.
            RuntimeError: a variable with a constraint has a sparse gradient; or a
                strategy of several replicas is in scope, but the call is not in its
                `run`.
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
        """Whether the slots exist, or the optimizer needs none."""
        return bool(self.trained) or not self.slot_specs

    def create_slots(self, variables):
        """Makes the missing slots of variables.

        Otherwise the first step makes them, but in a replica it cannot. Call this
        before a `tf.function` is traced, because a function that makes variables is
        traced twice; before a checkpoint is restored; and in the scope of a strategy.

        Args:
            variables: iterable of `tf.Variable`s. Existing slots keep their values.

        Returns:
            The optimizer.

        Raises:
            TypeError: a variable is a Keras variable.
            ValueError: the current strategy's scope did not make a variable, or a slot
                is missing in `strategy.run` of several replicas.
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
        """Returns the slot of a variable with this name, such as "m", or None."""
        return dict(zip(self.trained, self.slots)).get(variable.ref(), {}).get(name)

    def arguments(self, variable, slots, numbers):
        """Returns the arguments of the kernel, without the gradient."""
        handles = {spec[1]: slots[spec[0]].handle for spec in self.slot_specs}
        return {"var": variable.handle, **handles, **numbers, **self.options}

    def update(self, variable, slots, gradient, numbers):
        """Updates a variable with a dense gradient.

        Args:
            variable: float variable.
            slots: {slot name: variable}, the variable's slots.
            gradient: tensor of the variable's shape and dtype.
            numbers: {argument: scalar tensor of the variable's dtype}, the
                hyper-parameters.
        """
        self.run_kernel("ResourceApply", variable, slots, numbers, gradient)

    def update_rows(self, variable, slots, gradient, numbers):
        """Updates the rows that a sparse gradient, a `tf.IndexedSlices`, contains."""
        rows = summed(gradient)
        indices = {"indices": rows.indices}
        prefix = "ResourceSparseApply"
        self.run_kernel(prefix, variable, slots, numbers, rows.values, **indices)

    def run_kernel(self, prefix, variable, slots, numbers, gradient, **more):
        """Calls the kernel of TensorFlow 1 whose name begins with `prefix`."""
        # The public tf.keras.optimizers would round after each op, start RMSprop's
        # squares at 0 and not at 1, add another epsilon in another place, take a step
        # for each duplicate row, and update rows that the gradient does not contain.
        kernel = getattr(tf.raw_ops, prefix + self.kernel)
        more["grad" if more else self.gradient] = gradient
        kernel(**self.arguments(variable, slots, numbers), **more)

    def finish(self, numbers):
        """Runs once per step, after all variables; the numbers are not cast."""
        return  # without it AutoGraph warns about a function with only a docstring


def check_kind(variable):
    """Raises a TypeError for a Keras variable, which contains a `tf.Variable`."""
    if not isinstance(variable, tf.Variable):
        kind = type(variable).__name__
        raise TypeError(
            f"{kind} is not a tf.Variable: for a Keras variable, pass its `value`"
        )


def check_scope(variables):
    """Raises a ValueError if a variable was made outside the strategy's scope.

    In `strategy.run`, every replica would update the same copy; outside of the scope,
    only the first copy would be updated. A variable with aggregation by sum would be
    updated several times.

    Args:
        variables: iterable of variables.
    """
    strategy = tf.distribute.get_strategy()
    several = strategy.num_replicas_in_sync > 1
    for variable in variables:
        if several and variable.aggregation == tf.VariableAggregation.SUM:
            raise ValueError(f"{variable.name} must be created without aggregation=SUM")
        copies = several or isinstance(variable, tf.distribute.DistributedValues)
        if copies and not strategy.extended.variable_created_in_scope(variable):
            raise ValueError(
                f"{variable.name} was not created in the scope of this strategy: "
                "create variables, slots (create_slots) and the global step in "
                "`strategy.scope()`, and run steps in `strategy.run`"
            )


def refuse_in_replica(what, method):
    """Raises a ValueError if `strategy.run` would make variables in several replicas.

    Each replica would make variables of its own.

    Args:
        what: a plural noun for the missing variables, such as "slots".
        method: name of the method that makes them.
    """
    several = tf.distribute.get_strategy().num_replicas_in_sync > 1
    if several and not tf.distribute.in_cross_replica_context():
        raise ValueError(
            f"The {what} are missing: call {method}(variables) in `strategy.scope()`, "
            "before `strategy.run`"
        )


def summed_over_replicas(pairs):
    """Sums gradients over the replicas of a strategy, if there are several.

    Args:
        pairs: list of (gradient, variable), the same variables in all replicas. The
            rows of `tf.IndexedSlices` are concatenated.

    Returns:
        List of (gradient or None, variable).

    Raises:
        RuntimeError: a strategy of several replicas is in scope, but the call is not in
            its `run`.
    """
    if tf.distribute.get_strategy().num_replicas_in_sync == 1:
        return pairs
    context = tf.distribute.get_replica_context()
    if context is None:
        raise RuntimeError("a step must run in `strategy.run`, not only in its scope")
    given = [copied(gradient) for gradient, _ in pairs if gradient is not None]
    sums = iter(context.all_reduce("SUM", given))
    return [(g if g is None else next(sums), variable) for g, variable in pairs]


def copied(gradient):
    """Copies a gradient: `all_reduce` does not sum replicas that share one tensor.

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
    """Converts a hyper-parameter to a tensor; calls it first if it is a function.

    Args:
        x: number, tensor, variable, or function of no argument or of the global step.
        global_step: integer variable or tensor, or None.

    Returns:
        Scalar tensor: float32 for a Python float.

    Raises:
        ValueError: `x` is a function of the global step, and `global_step` is None.
    """
    if callable(x):
        parameters = inspect.signature(x).parameters.values()
        if any(p.default is p.empty and p.kind <= 1 for p in parameters):
            if global_step is None:
                raise ValueError("global_step must not be None: the schedule needs it")
            x = x(global_step)
        else:
            x = x()
    return tf.convert_to_tensor(x)


def summed(slices):
    """Sums the rows with equal indices: a kernel takes one step per duplicate.

    Args:
        slices: `tf.IndexedSlices`.

    Returns:
        `tf.IndexedSlices`, in the order in which the indices first occur.
    """
    indices, places = tf.unique(slices.indices)
    values = tf.math.unsorted_segment_sum(slices.values, places, tf.size(indices))
    return tf.IndexedSlices(values, indices, slices.dense_shape)


def positive(value, name):
    """Returns a positive value, else raises ValueError: kernels divide by its root."""
    if value <= 0:
        raise ValueError(f"{name} must be positive: {value}")
    return value
