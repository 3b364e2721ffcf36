"""Optimizers: an op that `minimize` returns → kernels and slots in a small module."""

import re

import tensorflow as tf

__all__ = [
    "fit",
    "fit_embedding",
    "fit_clipped",
    "fit_at_rates",
    "fit_in_turns",
    "fit_with_decay",
]


class Optimizer(tf.Module):
    """What the optimizers share: slots under the names of v1, and a step.

    A subclass names the kernels of v1, which round as v1 did.

    Attributes:
        trained: list of the variables.
        slots: list of one dict for each of them, from a kernel's argument to the slot.
        hyper: dict from a kernel's argument to a number, tensor or variable.
        options: dict of a kernel's switches.
    """

    dense = sparse = None

    def __init__(self, variables, name, slots=(), options=(), **hyper):
        super().__init__(name)
        if not variables:
            raise ValueError("No variables to optimize.")
        for variable in variables:
            if not variable.dtype.is_floating:
                raise ValueError(f"Invalid type {variable.dtype} for {variable.name}")
        self.trained, self.options, self.hyper = variables, dict(options), hyper

        def slot(variable, initial, number):
            suffix = f"_{number}" if number else ""
            return tf.Variable(
                tf.fill(variable.shape, tf.constant(initial, variable.dtype)),
                trainable=False,
                name=f"{variable.name[:-2]}/{name}{suffix}",
            )

        self.slots = [
            {argument: slot(v, x, i) for i, (argument, x) in enumerate(slots)}
            for v in variables
        ]

    def apply(self, gradients):
        """Takes a step by gradients in the order of the variables; None is left out."""
        if all(gradient is None for gradient in gradients):
            raise ValueError("No gradients provided for any variable.")
        for variable, slots, gradient in zip(self.trained, self.slots, gradients):
            if isinstance(gradient, tf.IndexedSlices):
                self.update_rows(variable, slots, gradient)
            elif gradient is not None:
                self.update(variable, slots, gradient)
        self.finish()

    def numbers(self, dtype):
        # A Python number is float32 first, whatever the variable is: as in v1.
        return {argument: tf.cast(x, dtype) for argument, x in self.hyper.items()}

    def arguments(self, variable, slots):
        handles = {argument: slot.handle for argument, slot in slots.items()}
        numbers = self.numbers(variable.dtype)
        return {"var": variable.handle, **handles, **numbers, **self.options}

    def update(self, variable, slots, gradient):
        # By the class: of `self`, a function would be a method.
        type(self).dense(grad=gradient, **self.arguments(variable, slots))

    def update_rows(self, variable, slots, gradient):
        rows = summed(gradient)
        type(self).sparse(
            grad=rows.values,
            indices=rows.indices,
            **self.arguments(variable, slots),
        )

    def finish(self):
        """What is done once, after all variables."""


def summed(slices):
    """Slices without duplicates: a kernel would take a step for each of them."""
    indices, places = tf.unique(slices.indices)
    values = tf.math.unsorted_segment_sum(slices.values, places, tf.size(indices))
    return tf.IndexedSlices(values, indices, slices.dense_shape)


class GradientDescent(Optimizer):
    def __init__(self, variables, learning_rate):
        super().__init__(variables, "GradientDescent", alpha=learning_rate)

    def update(self, variable, slots, gradient):
        variable.assign_sub(self.numbers(variable.dtype)["alpha"] * gradient)

    def update_rows(self, variable, slots, gradient):
        values = gradient.values * self.numbers(variable.dtype)["alpha"]
        variable.scatter_sub(tf.IndexedSlices(values, gradient.indices))


class Momentum(Optimizer):
    dense = tf.raw_ops.ResourceApplyMomentum
    sparse = tf.raw_ops.ResourceSparseApplyMomentum

    def __init__(self, variables, learning_rate, momentum, use_nesterov=False):
        super().__init__(
            variables,
            "Momentum",
            [("accum", 0)],
            {"use_nesterov": use_nesterov},
            lr=learning_rate,
            momentum=momentum,
        )


class Adagrad(Optimizer):
    dense = tf.raw_ops.ResourceApplyAdagrad
    sparse = tf.raw_ops.ResourceSparseApplyAdagrad

    def __init__(self, variables, learning_rate, initial_accumulator_value=0.1):
        slots = [("accum", positive(initial_accumulator_value))]
        super().__init__(variables, "Adagrad", slots, lr=learning_rate)


def positive(initial_accumulator_value):
    if initial_accumulator_value <= 0:
        raise ValueError("initial_accumulator_value must be positive")
    return initial_accumulator_value


class Adadelta(Optimizer):
    dense = tf.raw_ops.ResourceApplyAdadelta
    sparse = tf.raw_ops.ResourceSparseApplyAdadelta

    def __init__(self, variables, learning_rate=0.001, rho=0.95, epsilon=1e-8):
        slots = [("accum", 0), ("accum_update", 0)]
        hyper = {"lr": learning_rate, "rho": rho, "epsilon": epsilon}
        super().__init__(variables, "Adadelta", slots, **hyper)


class RMSProp(Optimizer):
    dense = tf.raw_ops.ResourceApplyRMSProp
    sparse = tf.raw_ops.ResourceSparseApplyRMSProp
    initial = [("ms", 1), ("mom", 0)]  # the mean square begins at one

    def __init__(
        self, variables, learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10
    ):
        super().__init__(
            variables,
            "RMSProp",
            self.initial,
            lr=learning_rate,
            rho=decay,
            momentum=momentum,
            epsilon=epsilon,
        )


class CenteredRMSProp(RMSProp):
    dense = tf.raw_ops.ResourceApplyCenteredRMSProp
    sparse = tf.raw_ops.ResourceSparseApplyCenteredRMSProp
    initial = [("ms", 1), ("mg", 0), ("mom", 0)]


def rmsprop(variables, learning_rate, centered=False, **hyper):
    return (CenteredRMSProp if centered else RMSProp)(variables, learning_rate, **hyper)


class Adam(Optimizer):
    dense = tf.raw_ops.ResourceApplyAdam

    def __init__(
        self,
        variables,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        suffix="",
    ):
        # The second Adam of a v1 graph has the suffix "_1".
        self.beta1_power, self.beta2_power = (
            tf.Variable(tf.cast(x, tf.float32), trainable=False, name=name + suffix)
            for name, x in [("beta1_power", beta1), ("beta2_power", beta2)]
        )
        super().__init__(
            variables,
            "Adam",
            [("m", 0), ("v", 0)],
            lr=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            beta1_power=self.beta1_power,
            beta2_power=self.beta2_power,
        )

    def update_rows(self, variable, slots, gradient):
        """Moves all rows, looked up or not, as v1 did: it has no kernel for this."""
        rows, n = summed(gradient), self.numbers(variable.dtype)
        rate = n["lr"] * tf.sqrt(1 - n["beta2_power"]) / (1 - n["beta1_power"])
        for slot, beta, values in [
            (slots["m"], n["beta1"], rows.values),
            (slots["v"], n["beta2"], rows.values * rows.values),
        ]:
            slot.assign(slot * beta)
            slot.scatter_add(tf.IndexedSlices(values * (1 - beta), rows.indices))
        root = tf.sqrt(slots["v"]) + n["epsilon"]
        variable.assign_sub(rate * slots["m"] / root)

    def finish(self):
        for power, beta in [
            (self.beta1_power, self.hyper["beta1"]),
            (self.beta2_power, self.hyper["beta2"]),
        ]:
            power.assign(power * tf.cast(beta, power.dtype))


class Ftrl(Optimizer):
    dense = tf.raw_ops.ResourceApplyFtrl
    sparse = tf.raw_ops.ResourceSparseApplyFtrl

    def __init__(
        self,
        variables,
        learning_rate,
        learning_rate_power=-0.5,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
    ):
        for number in (
            initial_accumulator_value,
            l1_regularization_strength,
            l2_regularization_strength,
        ):
            if number < 0:  # the kernel takes it, and goes astray
                raise ValueError(f"{number} needs to be positive or zero")
        super().__init__(
            variables,
            "Ftrl",
            [("accum", initial_accumulator_value), ("linear", 0)],
            lr=learning_rate,
            l1=l1_regularization_strength,
            l2=l2_regularization_strength,
            lr_power=learning_rate_power,
        )


class ProximalGradientDescent(Optimizer):
    sparse = tf.raw_ops.ResourceSparseApplyProximalGradientDescent

    def __init__(
        self,
        variables,
        learning_rate,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
    ):
        super().__init__(
            variables,
            "GradientDescent",
            alpha=learning_rate,
            l1=l1_regularization_strength,
            l2=l2_regularization_strength,
        )

    def update(self, variable, slots, gradient):
        tf.raw_ops.ResourceApplyProximalGradientDescent(
            delta=gradient, **self.arguments(variable, slots)
        )


class ProximalAdagrad(Optimizer):
    dense = tf.raw_ops.ResourceApplyProximalAdagrad
    sparse = tf.raw_ops.ResourceSparseApplyProximalAdagrad

    def __init__(
        self,
        variables,
        learning_rate,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
    ):
        super().__init__(
            variables,
            "ProximalAdagrad",
            [("accum", positive(initial_accumulator_value))],
            lr=learning_rate,
            l1=l1_regularization_strength,
            l2=l2_regularization_strength,
        )


OPTIMIZERS = {
    "GradientDescent": GradientDescent,
    "Momentum": Momentum,
    "Adagrad": Adagrad,
    "Adadelta": Adadelta,
    "RMSProp": rmsprop,
    "Adam": Adam,
    "Ftrl": Ftrl,
    "ProximalGradientDescent": ProximalGradientDescent,
    "ProximalAdagrad": ProximalAdagrad,
}


def line(data, start):
    """(two variables, function of the mean squared error of x · kernel + bias)."""
    x, y = tf.constant(data[0]), tf.constant(data[1])
    kernel = tf.Variable(start[0], name="kernel")
    bias = tf.Variable(start[1], name="bias")
    return [kernel, bias], lambda: tf.reduce_mean(
        tf.square(tf.matmul(x, kernel) + bias - y)
    )


def make_global_step():
    return tf.Variable(0, trainable=False, dtype=tf.int64, name="global_step")


def named_values(*variables):
    return {v.name[:-2]: v.numpy() for v in variables}


def states(train, variables, stops):
    """Calls `train(steps)`; the variables as they are at each of `stops`."""
    history, done = {}, 0
    for stop in stops:
        train(tf.constant(stop - done))
        history[stop], done = named_values(*variables), stop
    return history


def fit(data, start, optimizer, hyper, stops):
    """Fits a line by any of the optimizers, one `minimize` after the other.

    Args:
        data: (x, y), [n, features] and [n, units] arrays of one float dtype.
        start: (kernel, bias), [features, units] and [units] arrays of this dtype.
        optimizer: its name, such as "Adam".
        hyper: dict of its arguments, such as {"learning_rate": 0.5}.
        stops: list of the steps, rising, at which to look.

    Returns:
        {stop: {name: value}} of the weights, the slots and the global step.

    Raises:
        ValueError: no gradient reaches a weight, as with integers; an accumulator
            that begins at zero or below.
        TypeError: an argument that the optimizer does not have.
    """
    # --- build
    weights, loss = line(data, start)
    optimizer = OPTIMIZERS[optimizer](weights, **hyper)
    global_step = make_global_step()

    # --- step
    @tf.function
    def train(steps):
        for _ in tf.range(steps):
            with tf.GradientTape() as tape:
                error = loss()
            optimizer.apply(tape.gradient(error, weights))
            global_step.assign_add(1)

    # --- run
    return states(train, [*weights, *optimizer.variables, global_step], stops)


def fit_embedding(table, ids, targets, optimizer, hyper):
    """Fits the rows of a table that are looked up: the gradient is sparse.

    Args:
        table: [rows, n] float array, the initial table.
        ids: [steps, k] int array of rows; any may occur twice in a step.
        targets: [steps, k, n] array of the dtype of `table`.
        optimizer, hyper: as for `fit`.

    Returns:
        {name: value} of the table and its slots in the end.

    Raises:
        tf.errors.InvalidArgumentError: an id that is no row.
    """
    # --- build
    table = tf.Variable(table, name="table")
    optimizer = OPTIMIZERS[optimizer]([table], **hyper)

    # --- step
    @tf.function
    def train(ids, targets):
        for i in tf.range(len(ids)):
            with tf.GradientTape() as tape:
                looked_up = tf.nn.embedding_lookup(table, ids[i])
                loss = tf.reduce_sum(tf.square(looked_up - targets[i])) / 2
            optimizer.apply(tape.gradient(loss, [table]))

    # --- run
    train(tf.constant(ids), tf.constant(targets))
    return named_values(table, *optimizer.variables)


def fit_clipped(data, start, limit, stops, rate=0.5, momentum=0.875, frozen=()):
    """Fits a line by Momentum, its gradients clipped by their global norm.

    Args:
        data, start, stops: as for `fit`.
        limit: the largest global norm that is left as it is.
        rate: learning rate.
        momentum: share of the old direction that a step keeps.
        frozen: names of the weights that are not trained, and have no slots.

    Returns:
        ({stop: {name: value}}, global norm of the gradients in the end).

    Raises:
        ValueError: all weights are frozen.
    """
    # --- build
    weights, loss = line(data, start)
    global_step = make_global_step()
    trained = [v for v in weights if v.name[:-2] not in frozen]
    optimizer = Momentum(trained, rate, momentum)

    # --- gradients
    # A function keeps reads before writes: nothing is left to gate.
    def clipped_gradients():
        with tf.GradientTape() as tape:
            error = loss()
        return tf.clip_by_global_norm(tape.gradient(error, trained), limit)

    # --- step
    @tf.function
    def train(steps):
        for _ in tf.range(steps):
            optimizer.apply(clipped_gradients()[0])
            global_step.assign_add(1)

    # --- run
    history = states(train, [*weights, *optimizer.variables, global_step], stops)
    return history, clipped_gradients()[1].numpy()


def fit_at_rates(data, start, rates):
    """Fits a line by Adam, at a learning rate given anew for every step.

    Args:
        data, start: as for `fit`.
        rates: [steps] float array.

    Returns:
        {name: value} in the end.

    Raises:
        ValueError: a rate is no scalar.
    """
    # --- build
    weights, loss = line(data, start)
    # A Python attribute would be read while tracing, and never again.
    rate = tf.Variable(0.0, trainable=False, name="rate")
    optimizer = Adam(weights, rate)

    # --- step
    @tf.function
    def train(rates):
        for value in rates:
            rate.assign(value)
            with tf.GradientTape() as tape:
                error = loss()
            optimizer.apply(tape.gradient(error, weights))

    # --- run
    train(tf.constant(rates, tf.float32))
    state = named_values(*weights, *optimizer.variables)
    del state["rate"]
    return state


def fit_in_turns(real, noise, generator, critic, turns, critic_steps=2, rate=0.125):
    """Trains two linear networks against each other, each by an Adam of its own.

    Args:
        real: [n, features] float array, to be told from what the generator makes.
        noise: [n, m] array of the same dtype, as the others.
        generator: [m, features] array.
        critic: [features, 1] array.
        turns: how often it is the generator's turn.
        critic_steps: how many steps the critic takes before.
        rate: learning rate of both.

    Returns:
        (list of [critic's loss, generator's loss], each before its last update;
        {name: value} in the end).

    Raises:
        ValueError: the noise does not fit, seen while a graph is made.
        tf.errors.InvalidArgumentError: likewise, seen when run.
    """
    # --- build
    real, noise = tf.constant(real), tf.constant(noise)
    maker = tf.Variable(generator, name="generator/w")
    judge = tf.Variable(critic, name="critic/w")
    global_step = make_global_step()

    def scores():
        return tf.matmul(tf.matmul(noise, maker), judge)

    # --- critic
    judge_adam = Adam([judge], rate, 0.5)

    def critic_step():
        with tf.GradientTape() as tape:
            errors = tf.square(scores()), tf.square(tf.matmul(real, judge) - 1)
            loss = tf.reduce_mean(errors[0]) + tf.reduce_mean(errors[1])
        judge_adam.apply(tape.gradient(loss, [judge]))
        return loss

    # --- generator
    maker_adam = Adam([maker], rate, 0.5, suffix="_1")

    def generator_step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(scores() - 1))
        maker_adam.apply(tape.gradient(loss, [maker]))
        global_step.assign_add(1)
        return loss

    # --- run
    @tf.function
    def train(turns):
        losses = tf.TensorArray(real.dtype, turns, element_shape=[2])
        for turn in tf.range(turns):
            for _ in range(critic_steps):
                of_critic = critic_step()
            losses = losses.write(turn, [of_critic, generator_step()])
        return losses.stack()

    losses = [list(pair) for pair in train(tf.constant(turns)).numpy()]
    variables = [maker, judge, *judge_adam.variables, *maker_adam.variables]
    return losses, named_values(*variables, global_step)


class AdamWeightDecay(Optimizer):
    """Adam without bias correction, and weights that shrink apart from the loss."""

    def __init__(self, variables, learning_rate, decay, exclude):
        super().__init__(variables, "AdamWeightDecay", [("m", 0), ("v", 0)])
        self.learning_rate, self.decay = learning_rate, decay
        self.exclude = [re.compile(pattern) for pattern in exclude]
        self.beta1, self.beta2, self.epsilon = 0.9, 0.999, 1e-6

    def update(self, variable, slots, gradient):
        m = self.beta1 * slots["m"] + (1 - self.beta1) * gradient
        v = self.beta2 * slots["v"] + (1 - self.beta2) * tf.square(gradient)
        update = m / (tf.sqrt(v) + self.epsilon)
        if not any(pattern.search(variable.name[:-2]) for pattern in self.exclude):
            update += self.decay * variable
        slots["m"].assign(m)
        slots["v"].assign(v)
        variable.assign_sub(self.learning_rate * update)


def fit_with_decay(data, start, stops, rate=0.125, decay=0.25, exclude=("bias",)):
    """Fits a line by an optimizer of one's own, Adam with weight decay.

    Args:
        data, start, stops: as for `fit`.
        rate: learning rate.
        decay: share of a weight that it loses in a step, times the rate.
        exclude: patterns of the names of weights that do not shrink.

    Returns:
        {stop: {name: value}} of the weights, the slots and the global step.

    Raises:
        re.error: a pattern that is none.
    """
    # --- build
    weights, loss = line(data, start)
    optimizer = AdamWeightDecay(weights, rate, decay, exclude)
    global_step = make_global_step()

    # --- step
    @tf.function
    def train(steps):
        for _ in tf.range(steps):
            with tf.GradientTape() as tape:
                error = loss()
            optimizer.apply(tape.gradient(error, weights))
            global_step.assign_add(1)

    # --- run
    return states(train, [*weights, *optimizer.variables, global_step], stops)
