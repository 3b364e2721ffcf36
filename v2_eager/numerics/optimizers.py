"""The optimizers of `tf.train`: the kernels that TensorFlow 1 called, and its slots.

    optimizer = Adam(0.001)
    loss = optimizer.minimize(lambda: model(x), model.trainable_variables)

Arguments, defaults, slots' names and errors are those of 1.15.5, whose sources these
follow (`tensorflow/python/training`). Works eagerly and in a `tf.function`, which it
does not make trace again. Under a strategy, make the slots inside of its scope
(`create_slots`), and sum the gradients yourself (`all_reduce`) before they are applied.
"""

import inspect

import tensorflow as tf

__all__ = [
    "Optimizer",
    "GradientDescent",
    "Momentum",
    "Adagrad",
    "AdagradDA",
    "Adadelta",
    "RMSProp",
    "Adam",
    "Ftrl",
    "ProximalGradientDescent",
    "ProximalAdagrad",
]


class Optimizer(tf.Module):
    """What the optimizers share: slots under the names of v1, and a step.

    For one of your own, override `update` and, for tables, `update_rows`.

    A hyper-parameter is a number, which is float32 first whatever the variables are,
    a tensor, a variable, a function of nothing, or a function of the global step, as a
    schedule of Keras is.

    Attributes:
        kernel: `tf.raw_ops.ResourceApply…` and `ResourceSparseApply…` end with this.
        trained: list of `variable.ref()` of what has been moved.
        slots: list of {slot name: variable}, one dict for each of `trained`.
        hyper: {argument of the kernel: hyper-parameter}.
        options: {argument of the kernel: switch}.
    """

    kernel = ""

    def __init__(self, name, slots=(), options=(), **hyper):
        """Makes no variables yet.

        Args:
            name: what slots are called by: the second of `w` is `w/name_1`.
            slots: list of (slot name, argument of the kernel, initial number), or with
                a fourth, what this slot is called by instead of `name`.
            options: see the class.
            **hyper: see the class.
        """
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
            RuntimeError: a variable has a constraint and a sparse gradient.
        """
        value, pairs = self._differentiated(loss, variables, grad_loss)
        self.apply_gradients(pairs, global_step)
        return value

    def compute_gradients(self, loss, variables, grad_loss=None):
        """The first half of `minimize`: [(gradient or None, variable)]."""
        return self._differentiated(loss, variables, grad_loss)[1]

    def _differentiated(self, loss, variables, grad_loss):
        variables = list(variables)
        if not variables:
            raise ValueError("No variables to optimize.")
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(variables)
            value = loss()
        if not value.dtype.is_floating:
            raise ValueError(f"Invalid type {value.dtype} for {value}, expected: float")
        return value, list(zip(tape.gradient(value, variables, grad_loss), variables))

    def apply_gradients(self, pairs, global_step=None):
        """The second half of `minimize`.

        Args:
            pairs: iterable of (gradient, variable): tensors, `tf.IndexedSlices`, whose
                rows may come twice, or None, which leaves a variable as it is.
            global_step: variable to add 1 to afterwards, or None.

        Raises:
            ValueError: no pairs, no gradients, or a schedule without a global step.
            RuntimeError: a variable has a constraint and a sparse gradient.
        """
        pairs = list(pairs)
        if not pairs:
            raise ValueError("No variables provided.")
        given = [(gradient, v) for gradient, v in pairs if gradient is not None]
        if not given:
            names = [variable.name for _, variable in pairs]
            raise ValueError(f"No gradients provided for any variable: {names}.")
        self.create_slots([variable for _, variable in given])
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

    def create_slots(self, variables):
        """Makes the slots that there are not yet; the first step does it of itself.

        Call it before a `tf.function` is traced, which would trace twice, as whenever
        variables are made in it, and before a checkpoint is restored.

        Returns:
            The optimizer.
        """
        with tf.init_scope(), tf.name_scope(""):
            known = set(self.trained)
            for variable in variables:
                if variable.ref() not in known:
                    self.trained.append(variable.ref())
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
        kernel = getattr(tf.raw_ops, "ResourceApply" + self.kernel)
        kernel(grad=gradient, **self.arguments(variable, slots, numbers))

    def update_rows(self, variable, slots, gradient, numbers):
        """As `update`, by a `tf.IndexedSlices`: in the rows that it names only."""
        rows = summed(gradient)
        kernel = getattr(tf.raw_ops, "ResourceSparseApply" + self.kernel)
        arguments = self.arguments(variable, slots, numbers)
        kernel(grad=rows.values, indices=rows.indices, **arguments)

    def finish(self, numbers):
        """What is done once, after all variables; the numbers are not cast."""


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


class Adagrad(Optimizer):
    """`tf.train.AdagradOptimizer` (slot "accumulator", the sum of squares).

    variable -= learning_rate * gradient / sqrt(accumulator).
    """

    kernel = "Adagrad"

    def __init__(
        self,
        learning_rate,
        initial_accumulator_value=0.1,
        use_locking=False,
        name="Adagrad",
    ):
        initial = positive(initial_accumulator_value, "initial_accumulator_value")
        super().__init__(name, [("accumulator", "accum", initial)], lr=learning_rate)


def positive(value, name):
    """`value`, or a ValueError: the kernels divide by its root."""
    if value <= 0:
        raise ValueError(f"{name} must be positive: {value}")
    return value


class AdagradDA(Optimizer):
    """`tf.train.AdagradDAOptimizer`, dual averaging, for sparse linear models.

    Slots "gradient_accumulator" and "gradient_squared_accumulator"; `global_step` is
    the variable that counts the steps, which the one who steps adds to.
    """

    kernel = "AdagradDA"

    def __init__(
        self,
        learning_rate,
        global_step,
        initial_gradient_squared_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="AdagradDA",
    ):
        what = "initial_gradient_squared_accumulator_value"
        initial = positive(initial_gradient_squared_accumulator_value, what)
        squares = "gradient_squared_accumulator"
        super().__init__(
            name,
            [
                ("gradient_accumulator", "gradient_accumulator", 0),
                (squares, squares, initial),
            ],
            lr=learning_rate,
            l1=l1_regularization_strength,
            l2=l2_regularization_strength,
        )
        self.global_step = global_step

    def arguments(self, variable, slots, numbers):
        step = tf.cast(self.global_step, tf.int64) + 1
        return {**super().arguments(variable, slots, numbers), "global_step": step}


class Adadelta(Optimizer):
    """`tf.train.AdadeltaOptimizer` (slots "accum" and "accum_update")."""

    kernel = "Adadelta"

    def __init__(
        self,
        learning_rate=0.001,
        rho=0.95,
        epsilon=1e-8,
        use_locking=False,
        name="Adadelta",
    ):
        slots = [("accum", "accum", 0), ("accum_update", "accum_update", 0)]
        super().__init__(name, slots, lr=learning_rate, rho=rho, epsilon=epsilon)


class RMSProp(Optimizer):
    """`tf.train.RMSPropOptimizer` (slots "rms", which begins at one, and "momentum").

    With `centered` there is a slot "mg" between them, the mean of the gradients.
    """

    def __init__(
        self,
        learning_rate,
        decay=0.9,
        momentum=0.0,
        epsilon=1e-10,
        use_locking=False,
        centered=False,
        name="RMSProp",
    ):
        mean = [("mg", "mg", 0)] if centered else []
        super().__init__(
            name,
            [("rms", "ms", 1), *mean, ("momentum", "mom", 0)],
            lr=learning_rate,
            rho=decay,
            momentum=momentum,
            epsilon=epsilon,
        )
        self.kernel = "CenteredRMSProp" if centered else "RMSProp"


class Adam(Optimizer):
    """`tf.train.AdamOptimizer` (slots "m" and "v", `beta1_power`, `beta2_power`).

    epsilon is added to sqrt(v), the bias correction being in the rate: the "epsilon
    hat" of the paper. A sparse gradient moves all rows, looked up or not.
    """

    kernel = "Adam"

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        use_locking=False,
        name="Adam",
        *,
        suffix="",
    ):
        """As in v1; the powers of the second Adam of a graph have the suffix "_1"."""
        super().__init__(
            name,
            [("m", "m", 0), ("v", "v", 0)],
            lr=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
        )
        self.powers = {
            f"{beta}_power": tf.Variable(
                number(self.hyper[beta]), trainable=False, name=f"{beta}_power{suffix}"
            )
            for beta in ("beta1", "beta2")
        }

    def arguments(self, variable, slots, numbers):
        powers = {k: tf.cast(x, variable.dtype) for k, x in self.powers.items()}
        return {**super().arguments(variable, slots, numbers), **powers}

    def update_rows(self, variable, slots, gradient, numbers):
        """In all rows: v1 had no kernel for this, and rounds at each of these steps."""
        rows, n = summed(gradient), numbers
        m, v = slots["m"], slots["v"]
        power1, power2 = (tf.cast(x, variable.dtype) for x in self.powers.values())
        rate = n["lr"] * tf.sqrt(1 - power2) / (1 - power1)
        for slot, beta, values in [
            (m, n["beta1"], rows.values),
            (v, n["beta2"], rows.values * rows.values),
        ]:
            slot.assign(slot * beta)
            slot.scatter_add(tf.IndexedSlices(values * (1 - beta), rows.indices))
        variable.assign_sub(rate * m / (tf.sqrt(v) + n["epsilon"]))

    def finish(self, numbers):
        for beta in ("beta1", "beta2"):
            power = self.powers[f"{beta}_power"]
            power.assign(power * tf.cast(numbers[beta], power.dtype))


class Ftrl(Optimizer):
    """`tf.train.FtrlOptimizer` (slots "accum" and "linear")."""

    kernel = "Ftrl"

    def __init__(
        self,
        learning_rate,
        learning_rate_power=-0.5,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="Ftrl",
        accum_name=None,
        linear_name=None,
        l2_shrinkage_regularization_strength=0.0,
    ):
        for what, value in {
            "initial_accumulator_value": initial_accumulator_value,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": (
                l2_shrinkage_regularization_strength
            ),
        }.items():
            if value < 0:  # the kernel takes it, and goes astray
                raise ValueError(f"{what} {value} needs to be positive or zero")
        if learning_rate_power > 0:
            power = learning_rate_power
            raise ValueError(f"learning_rate_power {power} needs to be <= 0")
        hyper = {
            "lr": learning_rate,
            "l1": l1_regularization_strength,
            "l2": l2_regularization_strength,
            "lr_power": learning_rate_power,
        }
        if l2_shrinkage_regularization_strength > 0:
            self.kernel = "FtrlV2"
            hyper["l2_shrinkage"] = l2_shrinkage_regularization_strength
        super().__init__(
            name,
            [
                ("accum", "accum", initial_accumulator_value, accum_name or name),
                ("linear", "linear", 0, linear_name or name),
            ],
            **hyper,
        )


class ProximalGradientDescent(Optimizer):
    """`tf.train.ProximalGradientDescentOptimizer`; v1 took no float64 variables."""

    kernel = "ProximalGradientDescent"

    def __init__(
        self,
        learning_rate,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="ProximalGradientDescent",
    ):
        super().__init__(
            name,
            alpha=learning_rate,
            l1=l1_regularization_strength,
            l2=l2_regularization_strength,
        )

    def update(self, variable, slots, gradient, numbers):
        arguments = self.arguments(variable, slots, numbers)
        tf.raw_ops.ResourceApplyProximalGradientDescent(delta=gradient, **arguments)


class ProximalAdagrad(Optimizer):
    """`tf.train.ProximalAdagradOptimizer` (slot "accumulator"); as above."""

    kernel = "ProximalAdagrad"

    def __init__(
        self,
        learning_rate,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="ProximalAdagrad",
    ):
        initial = positive(initial_accumulator_value, "initial_accumulator_value")
        super().__init__(
            name,
            [("accumulator", "accum", initial)],
            lr=learning_rate,
            l1=l1_regularization_strength,
            l2=l2_regularization_strength,
        )
