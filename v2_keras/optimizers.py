"""`tf.train.AdamOptimizer`, `MomentumOptimizer`, `minimize` → optimizer modules."""

import dataclasses
import re

import keras
import numpy as np
import tensorflow as tf
from keras import optimizers

from v2_eager.keras_optimizers import RowsSummed

__all__ = [
    "fit",
    "fit_embedding",
    "fit_clipped",
    "fit_at_rates",
    "fit_with_decay",
]


@keras.saving.register_keras_serializable("v2_keras")
class LegacyRMSprop(RowsSummed, optimizers.RMSprop):
    """RMSprop whose mean square begins at one, as in TensorFlow 1, not at zero.

    square = rho * square + (1 - rho) * g²
    mean = rho * mean + (1 - rho) * g, if centered
    slot = momentum * slot + learning_rate * g / √(square - mean² + epsilon)
    w -= slot

    `RMSPropOptimizer._create_slots` of 1.15.5 begins with ones. Rows of a sparse
    gradient g are summed first, and all rows change.

    Its arguments and slots are those of `keras.optimizers.RMSprop`.
    """

    def build(self, variables):
        if self.built:  # keep the trained slots
            return
        super().build(variables)
        for variable in self.variables:
            if variable.name.endswith("_velocity"):
                variable.assign(tf.ones_like(variable))


# The defaults of TensorFlow 1. Keras has others, such as an epsilon of 1e-7.
def gradient_descent(learning_rate):
    """`tf.train.GradientDescentOptimizer` as `keras.optimizers.SGD`."""
    return optimizers.SGD(learning_rate)


def momentum(learning_rate, momentum, use_nesterov=False):
    """`tf.train.MomentumOptimizer` as Keras' `SGD`; see `Momentum` for its slot."""
    return optimizers.SGD(learning_rate, momentum, use_nesterov)


def adagrad(learning_rate, initial_accumulator_value=0.1):
    """`tf.train.AdagradOptimizer` as Keras' `Adagrad`, with an epsilon of 0.

    Raises:
        ValueError: the initial value is 0 or below, which Keras allows.
    """
    if not initial_accumulator_value > 0:
        raise ValueError(
            f"initial_accumulator_value must be positive: {initial_accumulator_value}"
        )
    return optimizers.Adagrad(learning_rate, initial_accumulator_value, epsilon=0.0)


def adadelta(learning_rate=0.001, rho=0.95, epsilon=1e-8):
    """`tf.train.AdadeltaOptimizer` as `keras.optimizers.Adadelta`."""
    return optimizers.Adadelta(learning_rate, rho, epsilon)


def rmsprop(learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, centered=False):
    """`tf.train.RMSPropOptimizer` as a Keras optimizer, `LegacyRMSprop`."""
    return LegacyRMSprop(learning_rate, decay, momentum, epsilon, centered)


def adam(learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8):
    """`tf.train.AdamOptimizer` as Keras' `Adam`, with betas rounded to float32.

    Args:
        learning_rate: float, or a schedule of Keras.
        beta1: float, the decay of the mean.
        beta2: float, the decay of the mean square.
        epsilon: float, added to the root before the bias correction of the mean square.

    Returns:
        `keras.optimizers.Adam`. With rounded betas, 1 - 0.999 is smaller by the factor
        1 - 1.3e-5.
    """
    beta1, beta2 = (float(np.float32(beta)) for beta in (beta1, beta2))
    return optimizers.Adam(learning_rate, beta1, beta2, epsilon)


def ftrl(
    learning_rate,
    learning_rate_power=-0.5,
    initial_accumulator_value=0.1,
    l1_regularization_strength=0.0,
    l2_regularization_strength=0.0,
):
    """`tf.train.FtrlOptimizer` as `keras.optimizers.Ftrl`."""
    return optimizers.Ftrl(
        learning_rate,
        learning_rate_power,
        initial_accumulator_value,
        l1_regularization_strength,
        l2_regularization_strength,
    )


OPTIMIZERS = {
    "GradientDescent": gradient_descent,
    "Momentum": momentum,
    "Adagrad": adagrad,
    "Adadelta": adadelta,
    "RMSProp": rmsprop,
    "Adam": adam,
    "Ftrl": ftrl,
}
SLOTS = {
    "SGD": ("Momentum", ["momentum"]),
    "Adagrad": ("Adagrad", ["accumulator"]),
    "Adadelta": ("Adadelta", ["accumulated_grad", "accumulated_delta_var"]),
    **dict.fromkeys(
        ["RMSprop", "LegacyRMSprop"],
        ("RMSProp", ["velocity", "average_gradient", "momentum"]),
    ),
    "Adam": ("Adam", ["momentum", "velocity"]),
    "Ftrl": ("Ftrl", ["accumulator", "linear"]),
    "AdamWeightDecay": ("AdamWeightDecay", ["m", "v"]),
}
"""{class: (suffix of its slots in TensorFlow 1, the slots in the order of Keras)}."""


@dataclasses.dataclass
class Momentum:
    """The slot of `MomentumOptimizer`; Keras stores it times -learning_rate.

    The rate must be the rate of all steps so far: read the slot before you set another
    rate.

    Args:
        variable: Keras' slot "momentum" of a weight.
        optimizer: `keras.optimizers.SGD` whose rate is a number, not a schedule.

    Raises:
        ValueError: the rate is a schedule, or is 0 when the slot is read or set.
    """

    variable: object
    optimizer: object

    def __post_init__(self):
        if not isinstance(self.optimizer.learning_rate, keras.Variable):
            raise ValueError(
                "the learning rate must be a number: under a schedule Keras' momentum "
                "is not a multiple of TensorFlow 1's; for a schedule use "
                "`v2_eager.optimizers.Momentum`"
            )

    @property
    def rate(self):
        rate = float(self.optimizer.learning_rate)
        if not rate:
            raise ValueError(
                "the learning rate must not be 0: TensorFlow 1's slot is Keras' "
                "momentum divided by it"
            )
        return rate

    def assign(self, value):
        self.variable.assign(-self.rate * value)

    def numpy(self):
        return self.variable.numpy() / -np.float32(self.rate) + 0.0  # not -0.0


def refuse_no_limit(norm):
    """Raises ValueError if Keras would ignore a limit of norms.

    Args:
        norm: number, the largest norm; Keras ignores 0 and negative numbers.
    """
    if not norm > 0:
        raise ValueError(f"the limit must be positive: Keras ignores {norm}")


def slots_of(optimizer, weights):
    """Maps the names in TensorFlow 1 to the slots of weights.

    Without momentum, Keras has no momentum slot.

    Args:
        optimizer: a Keras optimizer, built with the weights.
        weights: {name in TensorFlow 1: `keras.Variable`}.

    Returns:
        {name in TensorFlow 1, such as "dense/kernel/Adam_1": `keras.Variable`, or
        `Momentum`}.

    Raises:
        ValueError: the optimizer is not built, or not with all of the weights; it has
            no equivalent in `tf.train`; see also `Momentum`.
    """
    if not optimizer.built:
        raise ValueError(
            "the optimizer has no slots yet: call "
            "optimizer.build(model.trainable_variables)"
        )
    kind = type(optimizer).__name__
    if kind not in SLOTS:
        raise ValueError(
            f"{kind} has no equivalent in tf.train: use one of {', '.join(SLOTS)}"
        )
    name, slots = SLOTS[kind]
    found = {variable.path: variable for variable in optimizer.variables}
    kept = [slot for slot in slots if any(p.endswith("_" + slot) for p in found)]
    named = {}
    for weight_name, weight in weights.items():
        for number, slot in enumerate(kept):
            path = f"{optimizer.name}/{weight.path.replace('/', '_')}_{slot}"
            if path not in found:
                raise ValueError(
                    f"the optimizer has no slot for {weight.path}: build it with all "
                    "weights in one call, because a second build does nothing"
                )
            variable = found[path]
            if name == "Momentum":
                variable = Momentum(variable, optimizer)
            named[f"{weight_name}/{name}" + f"_{number}" * (number > 0)] = variable
    return named


def old_names(model, named=lambda weight: weight.name):
    """Maps the names in TensorFlow 1 to the weights, their slots and the step.

    The powers of Adam's betas follow from the step.

    Args:
        model: a compiled model, with a built optimizer.
        named: function of a weight that returns its name in TensorFlow 1.

    Returns:
        {name in TensorFlow 1: `keras.Variable`, or `Momentum`}.

    Raises:
        ValueError: two weights of one name; slots that Keras does not have.
    """
    weights = {named(weight): weight for weight in model.weights}
    if len(weights) < len(model.weights):
        raise ValueError(
            f"two weights have the same name in {[*weights]}: pass `named`, which "
            "returns TensorFlow 1's names"
        )
    trained = {named(weight): weight for weight in model.trainable_weights}
    slots = slots_of(model.optimizer, trained)
    return weights | slots | {"global_step": model.optimizer.iterations}


def line(start, optimizer, frozen=()):
    """Makes a compiled model of one dense layer, with the weights `start`.

    Args:
        start: [kernel, bias], float arrays [features, units] and [units].
        optimizer: a Keras optimizer, which this function builds.
        frozen: names of weights that are not trained: "kernel", "bias".

    Returns:
        `keras.Sequential` of the dtype of the kernel.
    """
    features, units = start[0].shape
    dense = keras.layers.Dense(units, dtype=start[0].dtype.name)
    model = keras.Sequential([keras.Input([features], dtype=dense.dtype), dense])
    model.set_weights(start)
    for weight in model.weights:
        weight.trainable = weight.name not in frozen
    model.compile(optimizer, squares(dense.dtype))
    optimizer.build(model.trainable_variables)
    return model


def squares(dtype):
    """Makes the mean squared error in a given dtype; "mse" computes in float32.

    Args:
        dtype: name of a float dtype.

    Returns:
        `keras.losses.MeanSquaredError`.
    """
    return keras.losses.MeanSquaredError(dtype=dtype)


def states(model, data, stops):
    """Fits the model; returns its variables at each of `stops`.

    Args:
        model: see `line`.
        data: (x, y), float arrays [n, features] and [n, units], all rows in one batch.
        stops: increasing list of the steps after which values are read.

    Returns:
        {stop: {name in TensorFlow 1: array}}.
    """
    batches = tf.data.Dataset.from_tensors(data).repeat()
    history, done = {}, 0
    for stop in stops:
        if stop > done:
            model.fit(batches, steps_per_epoch=stop - done, shuffle=False, verbose=0)
        history[stop], done = named_values(model), stop
    return history


def named_values(model):
    """Returns the values of `old_names` as {name in TensorFlow 1: array}.

    Args:
        model: a compiled model, with a built optimizer.
    """
    return {name: variable.numpy() for name, variable in old_names(model).items()}


def fit(data, start, optimizer, hyper, stops):
    """Fits a line with the optimizer of a given name, one `minimize` per step.

    Keras has no proximal optimizers.
    """
    # --- build
    model = line(start, OPTIMIZERS[optimizer](**hyper))
    # --- run
    return states(model, data, stops)


def fit_embedding(table, ids, targets, optimizer, hyper):
    """Fits the looked-up rows of an embedding table: the gradient is sparse.

    Keras takes a step for each occurrence of a row, so the gradient is made dense.
    Gradient descent, Adagrad and Adam then equal TensorFlow 1's; the other optimizers
    also change rows that were not looked up.
    """
    # --- build
    embedding = keras.layers.Embedding(
        *table.shape, dtype=table.dtype.name, name="table"
    )
    embedding.build()
    embedding.set_weights([table])
    (weight,) = embedding.trainable_weights
    optimizer = OPTIMIZERS[optimizer](**hyper)
    optimizer.build([weight])

    # --- step
    @tf.function
    def train(rows, target):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(embedding(rows) - target)) / 2
        gradient = tape.gradient(loss, weight)
        optimizer.apply([dense(gradient)], [weight])

    # --- run
    for batch in zip(ids, targets):
        train(*map(tf.constant, batch))
    found = {"table": weight}
    found |= slots_of(optimizer, found)
    return {name: variable.numpy() for name, variable in found.items()}


def dense(gradient):
    """Makes a sparse gradient dense, and sums rows that occur twice.

    Args:
        gradient: float tensor, or `tf.IndexedSlices`.

    Returns:
        Tensor of the shape of the variable.
    """
    return tf.convert_to_tensor(gradient)


def fit_clipped(data, start, limit, stops, rate=0.5, momentum=0.875, frozen=()):
    """Fits a line with Momentum and gradients clipped by their global norm.

    Pass `global_clipnorm`; `clipnorm` clips each gradient by its own norm.

    Raises:
        ValueError: the limit is 0 or below, with which Keras would not clip.
    """
    refuse_no_limit(limit)
    # --- build
    optimizer = optimizers.SGD(rate, momentum, global_clipnorm=limit)
    model = line(start, optimizer, frozen)
    # --- run
    history = states(model, data, stops)
    with tf.GradientTape() as tape:
        loss = model.compute_loss(y=data[1], y_pred=model(data[0]))
    gradients = tape.gradient(loss, model.trainable_weights)
    return history, tf.linalg.global_norm(gradients).numpy()


def fit_at_rates(data, start, rates):
    """Fits a line with Adam and a learning rate that is given for every step.

    `fit` rounds float64 arrays to float32, but not datasets.
    """
    # --- build
    model = line(start, adam())
    rate = keras.callbacks.LearningRateScheduler(lambda epoch: float(rates[epoch]))
    # --- run
    batches = tf.data.Dataset.from_tensors(data)
    model.fit(batches, epochs=len(rates), shuffle=False, verbose=0, callbacks=[rate])
    values = named_values(model)
    del values["global_step"]
    return values


@keras.saving.register_keras_serializable("v2_keras")
class AdamWeightDecay(RowsSummed, optimizers.Optimizer):
    """Adam without bias correction and with decoupled weight decay.

    m = 0.9 * m + (1 - 0.9) * g
    v = 0.999 * v + (1 - 0.999) * g²
    w -= learning_rate * (m / (√v + 1e-6) + decay * w)

    The formula is that of BERT's `optimization.py`. `keras.optimizers.AdamW` has a bias
    correction, its epsilon is 1e-7, and its `exclude_from_weight_decay` searches names,
    which in Keras do not contain the layer. All rows of a table with a sparse gradient
    shrink, as in BERT.

    Args:
        learning_rate: float, or a schedule of Keras.
        decay: float, the weight of the variable itself.
        exclude: list of regular expressions. A variable does not decay if one of them
            is found in its path, such as "encoder/LayerNorm/gamma".
        **options: arguments of `RowsSummed` and `keras.optimizers.Optimizer`.

    Raises:
        re.error: an invalid pattern.
    """

    def __init__(self, learning_rate, decay, exclude, **options):
        super().__init__(learning_rate, **options)
        self.decay, self.exclude = decay, [re.compile(pattern) for pattern in exclude]
        self.beta1, self.beta2, self.epsilon = 0.9, 0.999, 1e-6

    def build(self, variables):
        if self.built:  # keep the trained slots
            return
        super().build(variables)
        self.m = self.add_optimizer_variables(variables, "m")
        self.v = self.add_optimizer_variables(variables, "v")
        # Here the variables are Keras', with a path. A step gets TensorFlow's, whose
        # names do not contain the layer if it was built outside its own call.
        self.decayed = [
            not any(p.search(v.path) for p in self.exclude) for v in variables
        ]

    def get_config(self):
        exclude = [pattern.pattern for pattern in self.exclude]
        return {**super().get_config(), "decay": self.decay, "exclude": exclude}

    def update_step(self, gradient, variable, learning_rate):
        # `keras.optimizers.Optimizer` documents this way to a slot.
        index = self._get_variable_index(variable)
        m, v = self.m[index], self.v[index]
        m.assign(self.beta1 * m + (1 - self.beta1) * gradient)
        v.assign(self.beta2 * v + (1 - self.beta2) * tf.square(gradient))
        update = m / (tf.sqrt(v) + self.epsilon)
        if self.decayed[index]:
            update += self.decay * variable
        # The rate of a schedule is float32, whatever the dtype of the model.
        variable.assign_sub(tf.cast(learning_rate, variable.dtype) * update)


def fit_with_decay(data, start, stops, rate=0.125, decay=0.25, exclude=("bias",)):
    """Fits a line with a custom optimizer: Adam with decoupled weight decay."""
    # --- build
    model = line(start, AdamWeightDecay(rate, decay, exclude))
    # --- run
    return states(model, data, stops)
