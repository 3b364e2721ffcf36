"""`lr=`, `decay=`, `K.set_value(optimizer.lr, …)` → schedules and attributes."""

import numpy as np
import tensorflow.compat.v1 as tf

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

K = tf.keras.backend
OPTIMIZERS = {
    "SGD": tf.keras.optimizers.SGD,
    "Adagrad": tf.keras.optimizers.Adagrad,
    "Adadelta": tf.keras.optimizers.Adadelta,
    "RMSprop": tf.keras.optimizers.RMSprop,
    "Adam": tf.keras.optimizers.Adam,
    "Adamax": tf.keras.optimizers.Adamax,
    "Nadam": tf.keras.optimizers.Nadam,
    "Ftrl": tf.keras.optimizers.Ftrl,
}


def line(start, optimizer):
    """Makes a compiled model of one dense layer, with the weights `start`."""
    features, units = start[0].shape
    layer = tf.keras.layers.Dense(units, input_shape=(features,), name="line")
    model = tf.keras.Sequential([layer])
    model.compile(loss="mse", optimizer=optimizer)
    model.set_weights(start)
    return model


def state(model):
    """Returns the weights, their slots and the step as {name: value}."""
    optimizer = model.optimizer
    values = {"iterations": K.get_value(optimizer.iterations)}
    for weight in model.trainable_weights:
        name = weight.op.name.split("/")[-1]
        values[name] = K.get_value(weight)
        for slot in optimizer.get_slot_names():
            values[name + "/" + slot] = K.get_value(optimizer.get_slot(weight, slot))
    return values


def states(model, data, stops):
    """Fits the model, one step per epoch, and returns its state at each of `stops`."""
    history, done = {}, 0
    for stop in stops:
        fit_whole(model, data, stop - done)
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
    """Fits a line with the optimizer of a given name.

    Args:
        data: (x, y), float32 arrays [n, features] and [n, units].
        start: [kernel, bias], float32 arrays [features, units] and [units].
        optimizer: name of the optimizer, such as "Adam".
        hyper: dict of the optimizer's arguments, such as {"lr": 0.5, "clipnorm": 1.0}.
        stops: increasing list of the steps after which values are read.

    Returns:
        {stop: {name: value}} of the weights, their slots and the step.

    Raises:
        ValueError: a negative `lr`, `decay`, `clipnorm` or `clipvalue`.
        TypeError: an unknown argument. In Keras 3: ValueError.
    """
    with tf.Graph().as_default():
        model = line(start, OPTIMIZERS[optimizer](**hyper))
        return states(model, data, stops)


def fit_with_decay(data, start, optimizer, rate, decay, stops):
    """Fits a line with a learning rate that decays with every step.

    Args:
        data, start, optimizer, stops: as for `fit`.
        rate: learning rate of the first step.
        decay: number; the rate of a step is `rate` / (1 + `decay` * step).

    Returns:
        {stop: {name: value}}, as `fit`.
    """
    with tf.Graph().as_default():
        model = line(start, OPTIMIZERS[optimizer](lr=rate, decay=decay))
        return states(model, data, stops)


def fit_by_schedule(data, start, schedule, arguments, stops):
    """Fits a line by gradient descent with a learning rate schedule.

    Args:
        data, start, stops: as for `fit`.
        schedule: the name of a class of `tf.keras.optimizers.schedules`.
        arguments: dict of the schedule's arguments.

    Returns:
        {stop: {name: value}}, as `fit`.
    """
    with tf.Graph().as_default():
        rate = getattr(tf.keras.optimizers.schedules, schedule)(**arguments)
        model = line(start, tf.keras.optimizers.SGD(rate))
        return states(model, data, stops)


def fit_at_rates(data, start, rates, momentum=0.0):
    """Fits a line with a learning rate that is set before every step.

    Args:
        data, start: as for `fit`.
        rates: list of numbers.
        momentum: momentum of gradient descent.

    Returns:
        ({name: value} in the end, list of the rates that were read before each new rate
        was set).
    """
    with tf.Graph().as_default():
        model = line(start, tf.keras.optimizers.SGD(momentum=momentum))
        read = []
        for rate in rates:
            read.append(K.get_value(model.optimizer.lr))
            K.set_value(model.optimizer.lr, rate)
            model.train_on_batch(*data)
        return state(model), read


def rate_by_epoch(data, start, halve_every, epochs):
    """Halves the learning rate every few epochs with `LearningRateScheduler`.

    Args:
        data, start: as for `fit`.
        halve_every: number of epochs.
        epochs: number of epochs, each of one step.

    Returns:
        ({name: value} in the end, [epochs] float32 array of the rates in the history).
    """

    def schedule(epoch, rate):
        return rate / 2 if epoch and epoch % halve_every == 0 else rate

    with tf.Graph().as_default():
        model = line(start, tf.keras.optimizers.Adam(lr=0.25))
        callback = tf.keras.callbacks.LearningRateScheduler(schedule)
        history = fit_whole(model, data, epochs, callback)
        return state(model), np.float32(history["lr"])


def reduce_on_plateau(data, start, rate, epochs, **plateau):
    """Reduces the learning rate when the loss stops falling: `ReduceLROnPlateau`.

    Args:
        data, start: as for `fit`.
        rate: the initial learning rate.
        epochs: number of epochs, each of one step.
        **plateau: arguments of `ReduceLROnPlateau`, such as `factor` and `patience`.

    Returns:
        ({name: value} in the end, [epochs] float32 array of the rates in the history).

    Raises:
        ValueError: a factor of 1 or more.
    """
    with tf.Graph().as_default():
        model = line(start, tf.keras.optimizers.SGD(lr=rate))
        callback = tf.keras.callbacks.ReduceLROnPlateau(monitor="loss", **plateau)
        history = fit_whole(model, data, epochs, callback)
        return state(model), np.float32(history["lr"])


def decay_and_callbacks(data, start, rate, decay, halve_every, epochs):
    """Halves the learning rate by a callback; the rate also decays with every step.

    Args:
        data, start: as for `fit`.
        rate: the initial learning rate.
        decay: number; the rate of a step is the rate that the callback set, divided by
            1 + decay * step.
        halve_every: number of epochs.
        epochs: number of epochs, each of one step.

    Returns:
        ({name: value} in the end, [epochs] float32 array of the rates in the history:
        the rates that the callback set, not divided).
    """

    def schedule(epoch, rate):
        return rate / 2 if epoch and epoch % halve_every == 0 else rate

    with tf.Graph().as_default():
        model = line(start, tf.keras.optimizers.Adam(lr=rate, decay=decay))
        callback = tf.keras.callbacks.LearningRateScheduler(schedule)
        history = fit_whole(model, data, epochs, callback)
        return state(model), np.float32(history["lr"])


def fit_from_step(data, start, step, rate, decay, stops):
    """Fits a line with Adam, whose step count starts at a given number.

    Args:
        data, start, stops: as for `fit`.
        step: int, the optimizer's step count at the start; its slots are zeros.
        rate, decay: as for `fit_with_decay`.

    Returns:
        {stop: {name: value}}, as `fit`.
    """
    with tf.Graph().as_default():
        model = line(start, tf.keras.optimizers.Adam(lr=rate, decay=decay))
        K.set_value(model.optimizer.iterations, step)
        return states(model, data, stops)


def rebuild(data, start, optimizer, config, stops):
    """Fits a line with an optimizer that is rebuilt from its configuration.

    Args:
        data, start, optimizer, stops: as for `fit`.
        config: dict that `get_config` returned, also a dict of Keras 2.2 with "lr".

    Returns:
        {stop: {name: value}}, as `fit`.
    """
    with tf.Graph().as_default():
        optimizer = tf.keras.optimizers.deserialize(
            {"class_name": optimizer, "config": dict(config)}
        )
        model = line(start, optimizer)
        return states(model, data, stops)


def resume(data, start, saved, stops):
    """Continues training with Adam's state from `optimizer.get_weights()`.

    Args:
        data, start, stops: as for `fit`.
        saved: list of arrays: the step, the means of the gradients of kernel and bias,
            and the means of the squared gradients.

    Returns:
        ({stop: {name: value}}, as `fit`; list of arrays, the state to be saved).
    """
    with tf.Graph().as_default():
        # --- build
        model = line(start, tf.keras.optimizers.Adam())
        # --- restore
        model._make_train_function()  # creates the slots
        model.optimizer.set_weights(saved)
        # --- run
        history = states(model, data, stops)
        # --- save
        return history, model.optimizer.get_weights()


def fit_embedding(table, ids, targets, optimizer, hyper):
    """Fits an embedding table, whose gradient is sparse.

    Args:
        table: [rows, n] float32 array, the initial table.
        ids: [steps, k] int32 array of rows; a row may occur twice in a step.
        targets: [steps, k, n] float32 array.
        optimizer, hyper: as for `fit`.

    Returns:
        The table in the end.
    """
    with tf.Graph().as_default():
        model = tf.keras.Sequential()
        model.add(tf.keras.layers.Embedding(*table.shape, input_length=ids.shape[1]))
        model.compile(loss="mse", optimizer=OPTIMIZERS[optimizer](**hyper))
        model.set_weights([table])
        for batch in zip(ids, targets):
            x, y = [array[np.newaxis] for array in batch]
            model.train_on_batch(x, y)
        return model.get_weights()[0]


def apply_gradients(data, start, rate, clipnorm, steps):
    """Computes gradients in user code and applies them, without clipping.

    Args:
        data, start: as for `fit`.
        rate: learning rate of gradient descent.
        clipnorm: the optimizer's argument, which TensorFlow 1's `apply_gradients`
            ignores.
        steps: number of steps to take.

    Returns:
        {name: value} in the end.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        optimizer = tf.keras.optimizers.SGD(rate, clipnorm=clipnorm)
        model = line(start, optimizer)
        weights = model.trainable_weights
        # --- step
        loss = tf.reduce_mean(tf.square(model(tf.constant(data[0])) - data[1]))
        gradients = tf.gradients(loss, weights)
        step = optimizer.apply_gradients(zip(gradients, weights))
        # --- run
        sess.run(tf.global_variables_initializer())
        model.set_weights(start)
        for _ in range(steps):
            sess.run(step)
        return state(model)


def train_by_function(data, start, optimizer, hyper, steps):
    """Trains with a custom loss and training function, without `fit`.

    Args:
        data, start, optimizer, hyper: as for `fit`.
        steps: number of steps to take.

    Returns:
        ([steps] float32 array of the losses, {name: value} in the end).
    """
    with tf.Graph().as_default():
        # --- build
        optimizer = OPTIMIZERS[optimizer](**hyper)
        model = line(start, optimizer)
        # --- step
        target = K.placeholder(shape=(None, start[0].shape[1]))
        loss = K.mean(K.log(1.0 + K.square(model.output - target)))
        updates = optimizer.get_updates(loss=loss, params=model.trainable_weights)
        train = K.function([model.input, target], [loss], updates=updates)
        # --- run
        losses = [train(list(data))[0] for _ in range(steps)]
        return np.array(losses), state(model)


class DecayedMomentum(tf.keras.optimizers.Optimizer):
    """Momentum with decoupled weight decay."""

    def __init__(self, lr, momentum, shrink, name="DecayedMomentum", **kwargs):
        super(DecayedMomentum, self).__init__(name, **kwargs)
        self._set_hyper("learning_rate", lr)
        self._set_hyper("momentum", momentum)
        self._set_hyper("shrink", shrink)

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "mean")

    def _resource_apply_dense(self, grad, var, apply_state=None):
        rate, momentum, shrink = [
            self._get_hyper(name, var.dtype.base_dtype)
            for name in ("learning_rate", "momentum", "shrink")
        ]
        mean = self.get_slot(var, "mean")
        mean_t = mean.assign(momentum * mean + grad, use_locking=self._use_locking)
        return var.assign_sub(rate * (mean_t + shrink * var)).op

    def get_config(self):
        config = super(DecayedMomentum, self).get_config()
        for name in ("learning_rate", "momentum", "shrink"):
            config[name] = self._serialize_hyperparameter(name)
        return config


def own_optimizer(data, start, rate, momentum, shrink, stops):
    """Fits a line with a custom optimizer: momentum with decoupled weight decay.

    Args:
        data, start, stops: as for `fit`.
        rate, momentum: learning rate and momentum of the optimizer.
        shrink: number, the weight decay of the optimizer.

    Returns:
        {stop: {name: value}}, as `fit`.
    """
    with tf.Graph().as_default():
        model = line(start, DecayedMomentum(rate, momentum, shrink))
        return states(model, data, stops)


def fit_by_tf_train(data, start, rate, steps):
    """Fits a Keras model with `tf.train.AdamOptimizer`.

    Args:
        data, start: as for `fit`.
        rate: learning rate of Adam.
        steps: number of steps to take.

    Returns:
        [kernel, bias] in the end.
    """
    with tf.Graph().as_default():
        model = line(start, tf.train.AdamOptimizer(rate))
        fit_whole(model, data, steps)
        return model.get_weights()
