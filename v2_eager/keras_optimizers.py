"""`lr=`, `decay=`, `K.set_value(optimizer.lr, …)` → schedules and attributes."""

import re

import numpy as np
import tensorflow as tf

__all__ = [
    "fit",
    "fit_with_decay",
    "fit_by_schedule",
    "fit_at_rates",
    "rate_by_epoch",
    "reduce_on_plateau",
    "decay_and_callbacks",
    "fit_from_step",
    "rebuild",
    "resume",
    "fit_embedding",
    "apply_gradients",
    "train_by_function",
    "own_optimizer",
    "fit_by_tf_train",
]

keras = tf.keras
register = keras.utils.register_keras_serializable("tensorflow_1")


class RowsSummed:
    """Optimizer mixin: clips the rows of a sparse gradient, then sums equal rows.

    Keras 3 also clips the rows, but does not sum them: it takes a step for each
    occurrence of a row, or squares each occurrence by itself. With a
    `loss_scale_factor` it raises TypeError. `optimizer_v2.py` of 1.15.5 clips in
    `get_gradients` and sums in `_deduplicate_indexed_slices`. TensorFlow 1 allowed two
    limits at once, and a limit of 0.

    Args:
        *args: arguments of the optimizer.
        clipnorm: float, the largest norm of each gradient, or None.
        clipvalue: float, the largest absolute value in a gradient, or None.
        global_clipnorm: float, the largest norm of all gradients together, or None.
        **options: keyword arguments of the optimizer.

    Raises:
        ValueError: a limit together with `gradient_accumulation_steps`: each gradient
            would be clipped, while Keras clips their mean.
    """

    def __init__(
        self, *args, clipnorm=None, clipvalue=None, global_clipnorm=None, **options
    ):
        super().__init__(*args, **options)
        # Keras does not know the limits, so it does not clip the sums again.
        self.limits = clipnorm, clipvalue, global_clipnorm
        if self.gradient_accumulation_steps and self.limits != (None, None, None):
            raise ValueError(
                "clipnorm, clipvalue and global_clipnorm would clip each accumulated "
                "gradient, not their mean: remove them or gradient_accumulation_steps"
            )

    def apply(self, grads, trainable_variables=None):
        scale = self.loss_scale_factor or 1.0  # Keras divides by the scale later
        limits = [limit if limit is None else limit * scale for limit in self.limits]
        super().apply(clipped_and_summed(grads, *limits), trainable_variables)

    def get_config(self):
        names = "clipnorm", "clipvalue", "global_clipnorm"
        return super().get_config() | dict(zip(names, self.limits))


def clipped_and_summed(gradients, norm, value, global_norm):
    """Clips gradients by norm, by value and by global norm, and makes them dense.

    Args:
        gradients: list of float tensors, `tf.IndexedSlices`, whose rows may occur
            twice, and None.
        norm: float, the largest norm of each gradient, before equal rows are summed; or
            None.
        value: float, the largest absolute value, or None.
        global_norm: float, the largest norm of all gradients together, or None.

    Returns:
        List of tensors of the dtypes of the gradients and the shapes of their
        variables, and None.
    """
    given = [g for g in gradients if g is not None]
    if norm is not None:
        given = [tf.clip_by_norm(g, norm) for g in given]
    if value is not None:
        given = [tf.clip_by_value(g, -value, value) for g in given]
    if global_norm is not None:
        given, _ = tf.clip_by_global_norm(given, global_norm)
    rest = iter(given)
    return [g if g is None else tf.convert_to_tensor(next(rest)) for g in gradients]


def slots_named(optimizer, variables, name):
    """Lists an optimizer's slots of one name, in the order of its variables.

    Args:
        optimizer: a built Keras optimizer.
        variables: list of the variables that it was built with.
        name: Keras' name of the slot, such as "velocity".

    Returns:
        List of `keras.Variable`, a slot for each of the variables.
    """
    made = iter(optimizer.variables)  # in order, also if two have the same name
    names = [re.sub("[/:]", "_", getattr(v, "path", v.name)) for v in variables]
    return [next(s for s in made if s.name == f"{n}_{name}") for n in names]


@register
class Adagrad(RowsSummed, keras.optimizers.Adagrad):
    """Adagrad with epsilon added to the root, as in TensorFlow 1, not under the root.

    accumulator += g²
    w -= learning_rate * g / (√accumulator + epsilon)

    Keras 3 divides by √(accumulator + epsilon). The formula is that of `tf.keras` in
    1.15.5, `optimizer_v2/adagrad.py`. Rows of a sparse gradient g are summed first.

    Its arguments and slots are those of `keras.optimizers.Adagrad`.
    """

    def build(self, variables):
        if self.built:  # keep the trained slots
            return
        super().build(variables)
        self.accumulators = slots_named(self, variables, "accumulator")

    def update_step(self, gradient, variable, learning_rate):
        accumulator = self.accumulators[self._get_variable_index(variable)]
        accumulator.assign_add(gradient * gradient)
        root = tf.sqrt(accumulator) + self.epsilon
        rate = tf.cast(learning_rate, variable.dtype)
        variable.assign_sub(gradient * rate / root)


@register
class RMSprop(RowsSummed, keras.optimizers.RMSprop):
    """RMSprop with epsilon added to the root, or under the root if there is momentum.

    square = rho * square + (1 - rho) * g²
    mean = rho * mean + (1 - rho) * g, if centered
    w -= learning_rate * g / (√(square - mean²) + epsilon)

    Keras 3 divides by √(square - mean² + epsilon), and 1.15.5 did so only with
    momentum: see `optimizer_v2/rmsprop.py`. Rows of a sparse gradient g are summed
    first.

    Its arguments and slots are those of `keras.optimizers.RMSprop`.
    """

    def build(self, variables):
        if self.built:  # keep the trained slots
            return
        super().build(variables)
        self.squares = slots_named(self, variables, "velocity")
        if self.centered:
            self.means = slots_named(self, variables, "average_gradient")

    def update_step(self, gradient, variable, learning_rate):
        if self.momentum:
            return super().update_step(gradient, variable, learning_rate)
        index, rho = self._get_variable_index(variable), self.rho
        square = self.squares[index]
        square.assign(rho * square + (1 - rho) * tf.square(gradient))
        variance = tf.convert_to_tensor(square)
        if self.centered:
            mean = self.means[index]
            mean.assign(rho * mean + (1 - rho) * gradient)
            variance -= tf.square(mean)
        root = tf.sqrt(variance) + self.epsilon
        rate = tf.cast(learning_rate, variable.dtype)
        variable.assign_sub(rate * gradient / root)


@register
class Nadam(RowsSummed, keras.optimizers.Optimizer):
    """Nadam with TensorFlow 1's `schedule_decay`, by which momentum grows slowly.

    momentum(t) = beta_1 * (1 - 0.96**(schedule_decay * t) / 2)
    product *= momentum(t)
    mean = beta_1 * mean + (1 - beta_1) * g
    square = beta_2 * square + (1 - beta_2) * g²
    bar = (1 - momentum(t)) * g / (1 - product)
          + momentum(t + 1) * mean / (1 - product * momentum(t + 1))
    w -= learning_rate * bar / (√(square / (1 - beta_2**t)) + epsilon)

    In Keras 3 the `schedule_decay` is always 1. The formula is that of
    `optimizer_v2/nadam.py` in 1.15.5. Rows of a sparse gradient g are summed first: all
    rows then change, while 1.15.5 changed only the rows that were looked up.

    `keras.optimizers.Nadam` has no argument `schedule_decay`.

    Args:
        learning_rate: float, or a schedule of Keras.
        beta_1: float, the decay of the mean.
        beta_2: float, the decay of the mean square.
        epsilon: float, added to the root.
        schedule_decay: float, how fast the momentum grows towards beta_1.
        **kwargs: arguments of `RowsSummed` and `keras.optimizers.Optimizer`.
    """

    def __init__(
        self,
        learning_rate=0.001,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-7,
        schedule_decay=0.004,
        **kwargs,
    ):
        super().__init__(learning_rate, **kwargs)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon
        self.schedule_decay = schedule_decay

    def build(self, variables):
        if self.built:  # keep the trained slots
            return
        super().build(variables)
        names = ["momentum", "velocity"]
        self.means, self.squares = self.add_optimizer_variables(variables, names)
        # All replicas take the same steps, so one product serves all of them.
        kind = {"dtype": variables[0].dtype, "aggregation": "only_first_replica"}
        self.product = self.add_variable((), "ones", name="momentum_cache", **kind)

    def momentum(self, step):
        """Returns the momentum at a step, counted from 1, in the dtype of `product`."""
        dtype = self.product.dtype
        power = self.schedule_decay * tf.cast(step, dtype)
        return self.beta_1 * (1 - 0.5 * tf.pow(tf.constant(0.96, dtype), power))

    def apply(self, grads, trainable_variables=None):
        before = tf.identity(self.iterations)
        super().apply(grads, trainable_variables)
        if self.built:  # no step is taken without a gradient
            # A step that only accumulates gradients does not count.
            now = tf.identity(self.iterations)
            factor = tf.where(now > before, self.momentum(now), 1)
            self.product.assign(self.product * factor)

    def update_step(self, gradient, variable, learning_rate):
        index, dtype = self._get_variable_index(variable), variable.dtype
        mean, square = self.means[index], self.squares[index]
        steps = self.iterations + 1, self.iterations + 2
        now, later = [self.momentum(step) for step in steps]
        product = tf.cast(self.product * now, dtype)
        now, later, step = [tf.cast(x, dtype) for x in (now, later, steps[0])]
        mean.assign(self.beta_1 * mean + (1 - self.beta_1) * gradient)
        square.assign(self.beta_2 * square + (1 - self.beta_2) * tf.square(gradient))
        bar = (1 - now) * (gradient / (1 - product))
        bar += later * (mean / (1 - product * later))
        power = tf.pow(tf.constant(self.beta_2, dtype), step)
        root = tf.sqrt(square / (1 - power)) + self.epsilon
        variable.assign_sub(tf.cast(learning_rate, dtype) * bar / root)

    def get_config(self):
        names = "beta_1", "beta_2", "epsilon", "schedule_decay"
        return super().get_config() | {name: getattr(self, name) for name in names}


def rows_summed(kind):
    """Derives an optimizer class that clips and sums the rows of sparse gradients.

    Args:
        kind: a class of optimizers, such as `keras.optimizers.Adam`.

    Returns:
        A class "AdamRowsSummed", derived from `RowsSummed` and `kind`, registered for
        saved files; or `kind`, if it is derived from `RowsSummed` already.
    """
    if issubclass(kind, RowsSummed):
        return kind
    name = f"{kind.__name__}RowsSummed"
    first_line = f"`{kind.__name__}`; rows of a sparse gradient are clipped and summed."
    return register(type(name, (RowsSummed, kind), {"__doc__": first_line}))


@register
class DecayingAdam(RowsSummed, keras.optimizers.Adam):
    """Adam that divides its learning rate, even one set later, by 1 + decay * step.

    The same as `_decayed_lr` of `optimizer_v2.py` in 1.15.5. Rows of a sparse gradient
    are summed first, and all rows change, as in `optimizer_v2/adam.py`.

    Args:
        learning_rate: float; a callback may change it.
        decay: float, the decay; steps are counted from 0.
        **kwargs: arguments of `RowsSummed` and `keras.optimizers.Adam`.
    """

    def __init__(self, learning_rate=0.001, decay=0.0, **kwargs):
        super().__init__(learning_rate, **kwargs)
        self.decay = decay

    def update_step(self, gradient, variable, learning_rate):
        step = tf.cast(self.iterations, learning_rate.dtype)
        super().update_step(gradient, variable, learning_rate / (1 + self.decay * step))

    def get_config(self):
        return {**super().get_config(), "decay": self.decay}


OPTIMIZERS = {
    "SGD": keras.optimizers.SGD,
    "Adagrad": Adagrad,
    "Adadelta": keras.optimizers.Adadelta,
    "RMSprop": RMSprop,
    "Adam": keras.optimizers.Adam,
    "Adamax": keras.optimizers.Adamax,
    "Nadam": Nadam,
    "Ftrl": keras.optimizers.Ftrl,
}
ROWS_SUMMED = {name: rows_summed(kind) for name, kind in OPTIMIZERS.items()}
ADAM = {"beta_1": 0.9, "beta_2": 0.999}
ROUNDED = ("beta_1", "beta_2", "rho", "momentum")
SLOTS = {
    "SGD": {"momentum": "momentum"},
    "Adagrad": {"accumulator": "accumulator"},
    "Adadelta": {
        "accum_grad": "accumulated_grad",
        "accum_var": "accumulated_delta_var",
    },
    "RMSprop": {"rms": "velocity", "momentum": "momentum", "mg": "average_gradient"},
    "Adam": {"m": "momentum", "v": "velocity", "vhat": "velocity_hat"},
    "DecayingAdam": {"m": "momentum", "v": "velocity"},
    "Adamax": {"m": "momentum", "v": "norm"},
    "Nadam": {"m": "momentum", "v": "velocity"},
    "Ftrl": {"accumulator": "accumulator", "linear": "linear"},
    "DecayedMomentum": {"mean": "mean"},
}
"""{class: {slot in TensorFlow 1: in Keras 3}}, with rows summed or not."""


def legacy(optimizer, lr=None, decay=0.0, epsilon=None, kinds=OPTIMIZERS, **hyper):
    """Makes a Keras 3 optimizer from the arguments of TensorFlow 1's tf.keras.

    Args:
        optimizer: name of the optimizer, such as "Adam".
        lr: another name of `learning_rate`, which Ftrl accepted and ignored.
        decay: the rate is divided by 1 + decay * step; Nadam ignores it.
        epsilon: float; None or 0 is the default, as in TensorFlow 1.
        kinds: {name: class}; `ROWS_SUMMED` for a model with an Embedding.
        **hyper: the other arguments; a `learning_rate` may be the configuration of a
            schedule.

    Returns:
        A Keras 3 optimizer, whose betas are rounded to float32 as in TensorFlow 1: 1 -
        0.999 is then smaller by the factor 1 - 1.3e-5.

    Raises:
        ValueError: an unknown optimizer or argument; a negative `lr`, `decay` or limit;
            a limit of 0, unless rows are summed; `decay` together with a schedule.
    """
    if optimizer not in kinds:
        raise ValueError(
            f"optimizer must be one of {', '.join(kinds)}, not {optimizer!r}"
        )
    limits = {name: hyper.get(name) for name in ("clipnorm", "clipvalue")}
    for name, value in {"lr": lr, "decay": decay, **limits}.items():
        if value is not None and value < 0:
            raise ValueError(f"expected {name} >= 0, received: {value}")
    if 0 in limits.values() and not issubclass(kinds[optimizer], RowsSummed):
        raise ValueError("Keras ignores a limit of 0: freeze the weights instead")
    if lr is not None and optimizer != "Ftrl":
        hyper["learning_rate"] = lr
    if isinstance(hyper.get("learning_rate"), dict):
        rate = keras.optimizers.schedules.deserialize(hyper["learning_rate"])
        hyper["learning_rate"] = rate
    if epsilon:
        hyper["epsilon"] = epsilon
    made = kinds[optimizer](**hyper)
    if decay and optimizer != "Nadam":
        if callable(hyper.get("learning_rate")):
            raise ValueError(
                "decay= does not work with a schedule: change the schedule"
            )
        rate = float(made.learning_rate)
        schedule = keras.optimizers.schedules.InverseTimeDecay(rate, 1, decay)
        # A new optimizer: if the schedule is assigned, the model cannot be exported.
        made = kinds[optimizer](**{**hyper, "learning_rate": schedule})
    for name in ROUNDED:
        if isinstance(getattr(made, name, None), float):
            setattr(made, name, float(np.float32(getattr(made, name))))
    return made


def line(start, optimizer):
    """Makes a compiled model of one dense layer, with the weights `start`."""
    features, units = start[0].shape
    layer = keras.layers.Dense(units, name="line")
    model = keras.Sequential([keras.Input([features]), layer])
    model.compile(loss="mse", optimizer=optimizer)
    model.set_weights(start)
    optimizer.build(model.trainable_variables)
    return model


def slots(model):
    """Returns the slots, {name in TensorFlow 1: list, one variable per weight}."""
    optimizer = model.optimizer
    by_name = {v.path.rpartition("/")[2]: v for v in optimizer.variables}
    found = {}
    kind = type(optimizer).__name__.removesuffix(RowsSummed.__name__)
    for old, new in SLOTS[kind].items():
        paths = [w.path.replace("/", "_") for w in model.trainable_weights]
        names = [f"{path}_{new}" for path in paths]
        if names[0] in by_name:
            found[old] = [by_name[name] for name in names]
    return found


def state(model):
    """Returns the weights, slots and step as {name in TensorFlow 1: value}."""
    values = {"iterations": model.optimizer.iterations.numpy()}
    for i, weight in enumerate(model.trainable_weights):
        values[weight.name] = weight.numpy()
        for slot, variables in slots(model).items():
            values[f"{weight.name}/{slot}"] = variables[i].numpy()
    return values


def states(model, data, stops):
    """Fits the model on all rows per step, and returns its state at each of `stops`.

    Runs one epoch of many steps: an epoch of one step takes 20 ms, a step 1 ms.
    """
    batches = tf.data.Dataset.from_tensors(tuple(data)).repeat()
    history, done = {}, 0
    for stop in stops:
        if stop > done:
            model.fit(batches, steps_per_epoch=stop - done, shuffle=False, verbose=0)
        history[stop], done = state(model), stop
    return history


def fit_whole(model, data, epochs, *callbacks):
    """Fits the model with all rows in one batch, and returns the history."""
    return model.fit(
        *data,
        batch_size=len(data[0]),
        epochs=epochs,
        shuffle=False,
        verbose=0,
        callbacks=list(callbacks),
    ).history


def fit(data, start, optimizer, hyper, stops):
    """Fits a line with the optimizer of a given name."""
    model = line(start, legacy(optimizer, **hyper))
    return states(model, data, stops)


def fit_with_decay(data, start, optimizer, rate, decay, stops):
    """Fits a line with a learning rate that decays with every step."""
    rate = keras.optimizers.schedules.InverseTimeDecay(rate, 1, decay)
    model = line(start, legacy(optimizer, learning_rate=rate))
    return states(model, data, stops)


def fit_by_schedule(data, start, schedule, arguments, stops):
    """Fits a line by gradient descent with a learning rate schedule."""
    rate = getattr(keras.optimizers.schedules, schedule)(**arguments)
    model = line(start, keras.optimizers.SGD(rate))
    return states(model, data, stops)


def fit_at_rates(data, start, rates, momentum=0.0):
    """Fits a line with a learning rate that is set before every step."""
    model = line(start, legacy("SGD", momentum=momentum))
    read = []
    for rate in rates:
        read.append(model.optimizer.learning_rate.numpy())
        model.optimizer.learning_rate = rate
        model.train_on_batch(*data)
    return state(model), read


def rate_by_epoch(data, start, halve_every, epochs):
    """Halves the learning rate every few epochs with `LearningRateScheduler`."""

    def schedule(epoch, rate):
        return rate / 2 if epoch and epoch % halve_every == 0 else rate

    model = line(start, legacy("Adam", learning_rate=0.25))
    callback = keras.callbacks.LearningRateScheduler(schedule)
    history = fit_whole(model, data, epochs, callback)
    return state(model), np.float32(history["learning_rate"])


def reduce_on_plateau(data, start, rate, epochs, **plateau):
    """Reduces the learning rate when the loss stops falling: `ReduceLROnPlateau`."""
    model = line(start, keras.optimizers.SGD(rate))
    callback = keras.callbacks.ReduceLROnPlateau(monitor="loss", **plateau)
    history = fit_whole(model, data, epochs, callback)
    return state(model), np.float32(history["learning_rate"])


def decay_and_callbacks(data, start, rate, decay, halve_every, epochs):
    """Halves the learning rate by a callback; the rate also decays with every step."""

    def schedule(epoch, rate):
        return rate / 2 if epoch and epoch % halve_every == 0 else rate

    betas = {name: float(np.float32(b)) for name, b in ADAM.items()}
    model = line(start, DecayingAdam(rate, decay, **betas))
    callback = keras.callbacks.LearningRateScheduler(schedule)
    history = fit_whole(model, data, epochs, callback)
    return state(model), np.float32(history["learning_rate"])


def fit_from_step(data, start, step, rate, decay, stops):
    """Fits a line with Adam, whose step count starts at a given number."""
    model = line(start, legacy("Adam", learning_rate=rate, decay=decay))
    model.optimizer.iterations.assign(step)
    return states(model, data, stops)


def rebuild(data, start, optimizer, config, stops):
    """Fits a line with an optimizer that is rebuilt from its configuration."""
    config = dict(config)
    if optimizer == "Adagrad":  # the default of Keras 2.2
        config.setdefault("initial_accumulator_value", 0.0)
    model = line(start, legacy(optimizer, **config))
    return states(model, data, stops)


def resume(data, start, saved, stops):
    """Continues training with Adam's state from `optimizer.get_weights()`.

    TensorFlow 1's list has the step, then the variables slot by slot. Keras 3's list
    has the step and the learning rate, then the variables weight by weight.
    """
    # --- build
    model = line(start, legacy("Adam"))
    optimizer = model.optimizer
    variables = [optimizer.iterations, *sum(slots(model).values(), [])]
    # --- restore
    for variable, value in zip(variables, saved, strict=True):
        variable.assign(value)
    # --- run
    history = states(model, data, stops)
    # --- save
    return history, [variable.numpy() for variable in variables]


def fit_embedding(table, ids, targets, optimizer, hyper):
    """Fits an embedding table, whose gradient is sparse."""
    model = keras.Sequential([keras.layers.Embedding(*table.shape)])
    model.build([None, ids.shape[1]])
    adapted = legacy(optimizer, kinds=ROWS_SUMMED, **hyper)
    model.compile(loss="mse", optimizer=adapted)
    model.set_weights([table])
    model.optimizer.build(model.trainable_variables)
    for batch in zip(ids, targets):
        x, y = [array[np.newaxis] for array in batch]
        model.train_on_batch(x, y)
    return model.get_weights()[0]


def apply_gradients(data, start, rate, clipnorm, steps):
    """Computes gradients in user code and applies them, without clipping.

    Keras 3 clips in `apply_gradients`: leave `clipnorm` out.
    """
    # --- build
    model = line(start, keras.optimizers.SGD(rate))
    weights = model.trainable_weights
    x, y = map(tf.constant, data)

    # --- step
    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        gradients = tape.gradient(loss, weights)
        model.optimizer.apply_gradients(zip(gradients, weights))

    # --- run
    for _ in range(steps):
        step()
    return state(model)


def train_by_function(data, start, optimizer, hyper, steps):
    """Trains with a custom loss and training function, without `fit`."""
    # --- build
    model = line(start, legacy(optimizer, **hyper))
    weights = model.trainable_weights

    # --- step
    @tf.function
    def train(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.math.log(1.0 + tf.square(model(x) - y)))
        gradients = tape.gradient(loss, weights)
        model.optimizer.apply(gradients, weights)
        return loss

    # --- run
    x, y = map(tf.constant, data)
    losses = [train(x, y).numpy() for _ in range(steps)]
    return np.array(losses), state(model)


@register
class DecayedMomentum(RowsSummed, keras.optimizers.Optimizer):
    """Momentum with decoupled weight decay.

    mean = momentum * mean + g
    w -= learning_rate * (mean + shrink * w)

    Rows of a sparse gradient g are summed first, and all rows shrink.

    Args:
        learning_rate: float, or a schedule of Keras.
        momentum: float, the decay of the mean.
        shrink: float, the weight of the variable itself.
        **kwargs: arguments of `RowsSummed` and `keras.optimizers.Optimizer`.
    """

    def __init__(self, learning_rate, momentum, shrink, **kwargs):
        super().__init__(learning_rate, **kwargs)
        self.momentum, self.shrink = momentum, shrink

    def build(self, variables):
        if self.built:  # keep the trained slots
            return
        super().build(variables)
        self.means = self.add_optimizer_variables(variables, "mean")

    def update_step(self, gradient, variable, learning_rate):
        mean = self.means[self._get_variable_index(variable)]
        mean.assign(self.momentum * mean + gradient)
        rate = tf.cast(learning_rate, variable.dtype)
        variable.assign_sub(rate * (mean + self.shrink * variable))

    def get_config(self):
        numbers = {"momentum": self.momentum, "shrink": self.shrink}
        return super().get_config() | numbers


def own_optimizer(data, start, rate, momentum, shrink, stops):
    """Fits a line with a custom optimizer: momentum with decoupled weight decay."""
    model = line(start, DecayedMomentum(rate, momentum, shrink))
    return states(model, data, stops)


def fit_by_tf_train(data, start, rate, steps):
    """Fits a Keras model with `tf.train.AdamOptimizer`.

    Keras 3 does not accept such an optimizer. Its own Adam has an epsilon of 1e-7, Adam
    of `tf.train` 1e-8: pass 1e-8.
    """
    model = line(start, legacy("Adam", learning_rate=rate, epsilon=1e-8))
    fit_whole(model, data, steps)
    return model.get_weights()
