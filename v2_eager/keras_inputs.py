"""`fit` of tensors, `target_tensors`, a `Sequence` → datasets, `PyDataset`."""

import random

import numpy as np
import tensorflow as tf

from v2_eager.keras_training import TellsBatches

__all__ = [
    "fit_validated",
    "fit_tensors",
    "fit_bound",
    "fit_windows",
    "fit_mixed",
    "fit_reordered",
    "fit_adversarial",
    "fit_refined",
    "fit_limited",
]

keras = tf.keras
layers = keras.layers
register = keras.utils.register_keras_serializable("tensorflow_1")


def network(start, last=None, model=keras.Sequential):
    """Makes a hidden layer and an output layer, with the weights `start`."""
    model = model(
        [
            keras.Input([len(start[0])]),
            layers.Dense(len(start[1]), "tanh"),
            layers.Dense(len(start[3]), last),
        ]
    )
    model.set_weights(start)
    return model


def descent(rate=0.25):
    """Makes a gradient descent optimizer."""
    return keras.optimizers.SGD(rate)


def told(history):
    """Converts the history of `fit` to {key: float32 array, one number per epoch}."""
    return {key: np.float32(values) for key, values in history.history.items()}


def batched(data, batch_size):
    """Makes a dataset of batches of the arrays' rows, repeated without end."""
    return tf.data.Dataset.from_tensor_slices(data).batch(batch_size).repeat()


def fit_validated(data, start, validation, epochs, batch_size, steps, validation_steps):
    """Fits a dataset with `steps_per_epoch`, and validates on another dataset.

    Keras 3 logs both losses as means over rows, TensorFlow 1 as means over batches.
    """
    model = network(start, "softmax", TellsBatches)
    loss = "sparse_categorical_crossentropy"
    model.compile(descent(), loss, metrics=["acc"])
    history = model.fit(
        batched(data, batch_size),
        epochs=epochs,
        steps_per_epoch=steps,
        validation_data=batched(validation, batch_size),
        validation_steps=validation_steps,
        shuffle=False,
        verbose=0,
    )
    found = told(history)
    found["loss"], found["val_loss"] = found["mean_loss"], found["val_mean_loss"]
    found = {key: found[key] for key in ("loss", "acc", "val_loss", "val_acc")}
    return found, model.get_weights()


def fit_tensors(data, start, epochs, batch_size, steps):
    """Fits a model to the tensors of an iterator: each step reads the next batch.

    An eager tensor has a fixed value. Pass a dataset of (x, y) pairs.
    """
    model = network(start, model=TellsBatches)
    model.compile(descent(), "mse")
    # --- rows
    rows = batched(data, batch_size)
    # --- fit
    options = {"steps_per_epoch": steps, "shuffle": False, "verbose": 0}
    history = model.fit(rows, epochs=epochs, **options)
    return told(history)["mean_loss"], model.get_weights()


def fit_bound(data, start, epochs, batch_size, steps):
    """Fits a model whose `Input` is an iterator's tensor, then predicts.

    The model is built from shapes alone: one model serves the dataset and `predict`.
    """
    net = network(start, model=TellsBatches)
    # --- rows
    rows = batched(data, batch_size)
    net.compile(descent(), "mse")
    # --- fit
    options = {"steps_per_epoch": steps, "shuffle": False, "verbose": 0}
    history = net.fit(rows, epochs=epochs, **options)
    found = net.predict(data[0], batch_size=batch_size, verbose=0)
    return told(history)["mean_loss"], net.get_weights(), found


def fit_windows(series, targets, start, length, rate, stride, epochs, batch_size):
    """Fits a model to windows of a series, to predict the target of the next row.

    `timeseries_dataset_from_array` pairs the first target with the first window: pass
    `targets[length:]`, and the whole series.
    """
    if len(series) != len(targets):
        raise ValueError(
            "series and targets must have the same number of rows, not "
            f"{len(series)} and {len(targets)}"
        )
    if len(series) <= length:
        raise ValueError(f"series must have more than {length} rows, not {len(series)}")
    # --- windows
    windows = keras.utils.timeseries_dataset_from_array(
        series,
        targets[length:],
        sequence_length=-(-length // rate),
        sampling_rate=rate,
        sequence_stride=stride,
        batch_size=batch_size,
    )
    # --- fit
    shape = [-(-length // rate), series.shape[1]]
    model = keras.Sequential([keras.Input(shape), layers.Flatten(), network(start)])
    model.compile(descent(0.0625), "mse")
    history = model.fit(windows, epochs=epochs, shuffle=False, verbose=0)
    return told(history)["loss"], model.get_weights()


class Batches(keras.utils.PyDataset):
    """Batches of consecutive rows, the same in every epoch; the last may be shorter.

    Args:
        data: tuple of arrays, [n, ...] each, such as (x, y).
        batch_size: int, the number of rows in a batch.
        **options: arguments of `keras.utils.PyDataset`: `workers`, `max_queue_size`, ….
    """

    def __init__(self, data, batch_size, **options):
        super().__init__(**options)
        self.data, self.batch_size = data, batch_size

    def __len__(self):
        return -(-len(self.data[0]) // self.batch_size)

    def __getitem__(self, i):
        rows = slice(i * self.batch_size, (i + 1) * self.batch_size)
        return tuple(array[rows] for array in self.data)


class Drawn(Batches):
    """Base class of batches that the method `draw` changes before each epoch.

    Workers read the first batches of an epoch before Keras calls `on_epoch_begin`:
    a change in that method comes too late. `on_epoch_end` draws for the next epoch,
    unless no epoch has begun: Keras also calls it once before the first.

    Args:
        data: tuple of arrays, [n, ...] each.
        batch_size: int, the number of rows in a batch.
        **options: arguments of `keras.utils.PyDataset`.
    """

    def __init__(self, data, batch_size, **options):
        super().__init__(data, batch_size, **options)
        self.begun = False

    def draw(self):
        """Draws the random numbers that the batches of the next epoch depend on."""
        raise NotImplementedError

    def on_epoch_begin(self):
        self.begun = True

    def on_epoch_end(self):
        if self.begun:
            self.draw()
        self.begun = False


class Mixed(Drawn):
    """Batches of rows, each mixed with another row of its batch: mixup.

    A batch is share * rows + (1 - share) * rows[order]. A share and an order are drawn
    for each batch before the epoch, so that an item gives the same rows however often
    it is read, and in whatever order the workers read.

    Args:
        data: tuple of float arrays, [n, ...] each: x and one-hot labels.
        batch_size: int, the number of rows in a batch.
        alpha: float, both parameters of the beta distribution of the share.
        seed: int, the seed of NumPy's `RandomState`.
        **options: arguments of `keras.utils.PyDataset`.
    """

    def __init__(self, data, batch_size, alpha, seed, **options):
        super().__init__(data, batch_size, **options)
        self.alpha, self.random = alpha, np.random.RandomState(seed)
        self.draw()

    def draw(self):
        self.draws = []
        for i in range(len(self)):
            share = self.random.beta(self.alpha, self.alpha)
            rows = len(super().__getitem__(i)[0])
            self.draws.append((share, self.random.permutation(rows)))

    def __getitem__(self, i):
        share, order = self.draws[i]
        rows = super().__getitem__(i)
        return tuple(share * a + (1 - share) * a[order] for a in rows)


def fit_mixed(data, start, alpha, seed, epochs, batch_size):
    """Fits a model with mixup: convex combinations of pairs of rows and of labels.

    Keras 3 reads two batches more than it trains on, so `__getitem__` must not draw.
    All draws of an epoch are made before the epoch; see `Drawn`.
    """
    model = network(start, "softmax")
    model.compile(descent(), "categorical_crossentropy")
    batches = Mixed(data, batch_size, alpha, seed)
    history = model.fit(batches, epochs=epochs, shuffle=False, verbose=0)
    return told(history)["loss"], model.get_weights()


class Reordered(Drawn):
    """Batches in an order that Python's `random.shuffle` draws before each epoch.

    The rows of a batch stay together.

    Args:
        data: tuple of arrays, [n, ...] each.
        batch_size: int, the number of rows in a batch.
        seed: int, the seed of Python's `random.Random`.
        **options: arguments of `keras.utils.PyDataset`.
    """

    def __init__(self, data, batch_size, seed, **options):
        super().__init__(data, batch_size, **options)
        self.random, self.order = random.Random(seed), list(range(len(self)))
        self.draw()

    def draw(self):
        self.random.shuffle(self.order)

    def __getitem__(self, i):
        return super().__getitem__(self.order[i])


def fit_reordered(data, start, epochs, batch_size, seed):
    """Fits a model to fixed batches, in an order that is shuffled from a seed.

    The PyDataset shuffles by its own generator, so `fit` gets `shuffle=False`.
    """
    model = network(start)
    model.compile(descent(), "mse")
    batches = Reordered(data, batch_size, seed)
    history = model.fit(batches, epochs=epochs, shuffle=False, verbose=0)
    return told(history)["loss"], model.get_weights()


@register
class Adversarial(keras.Model):
    """Trains a model on rows and on adversarial examples made from them: FGSM.

    The examples are x + epsilon * sign(gradient of the loss for x), and no gradient
    goes through them. The loss is share * clean + (1 - share) * fooled; the logs have
    both losses, as means over rows, by these names.

    Args:
        net: the model that is trained; x is a float tensor, [batch, ...].
        epsilon: float, the size of the step for each number of x.
        share: float in [0, 1], the weight of the loss on the rows as they are.
        **options: arguments of `keras.Model`.
    """

    def __init__(self, net, epsilon, share, **options):
        super().__init__(**options)
        self.net, self.epsilon, self.share = net, epsilon, share
        self.clean = keras.metrics.Mean(name="clean")
        self.fooled = keras.metrics.Mean(name="fooled")

    def get_config(self):
        own = {"epsilon": self.epsilon, "share": self.share}
        net = keras.utils.serialize_keras_object(self.net)
        return {**super().get_config(), **own, "net": net}

    @classmethod
    def from_config(cls, config):
        net = keras.utils.deserialize_keras_object(config["net"])
        return cls(**{**config, "net": net})

    def call(self, x, training=None):
        return self.net(x, training=training)

    def train_step(self, data):
        x, y, weights = keras.utils.unpack_x_y_sample_weight(data)

        def loss_of(rows):
            return self.compute_loss(rows, y, self(rows, training=True), weights)

        x = tf.convert_to_tensor(x)  # run eagerly, Keras passes an array
        with tf.GradientTape() as tape:
            with tf.GradientTape(watch_accessed_variables=False) as of_rows:
                of_rows.watch(x)
                clean = loss_of(x)
            step = self.epsilon * tf.sign(of_rows.gradient(clean, x))
            attacked = tf.stop_gradient(x + step)
            fooled = loss_of(attacked)
            loss = self.share * clean + (1.0 - self.share) * fooled
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        self.clean.update_state(clean, sample_weight=tf.shape(x)[0])
        self.fooled.update_state(fooled, sample_weight=tf.shape(x)[0])
        return {"clean": self.clean.result(), "fooled": self.fooled.result()}


def fit_adversarial(data, start, epsilon, share, epochs, batch_size):
    """Adversarial training: fits rows and examples of the fast gradient sign method.

    `fit` and `train_on_batch` run the model's own `train_step`.
    """
    net = network(start, "softmax")
    # --- step
    model = Adversarial(net, epsilon, share)
    model.compile(descent(), "categorical_crossentropy")
    # --- train
    losses = []
    for _ in range(epochs):
        for i in range(0, len(data[0]), batch_size):
            rows = [array[i : i + batch_size] for array in data]
            model.reset_metrics()
            told_now = model.train_on_batch(*rows, return_dict=True)
            losses.append([told_now["clean"], told_now["fooled"]])
    return np.float32(losses), net.get_weights()


@register
class Refined(layers.Layer):
    """Recurrent units, iterated until no unit of the batch changes any more.

    The state begins as tanh(x @ kernel) and becomes tanh(x @ kernel + state @ again),
    until its largest change is at most the tolerance.

    Args:
        units: int, the size of the output: [batch, features] become [batch, units].
        tolerance: float, the largest change of a unit that ends the loop.
        limit: int, the largest number of steps after the first step.
        **options: arguments of `keras.layers.Layer`.
    """

    def __init__(self, units, tolerance, limit, **options):
        super().__init__(**options)
        self.units, self.tolerance, self.limit = units, tolerance, limit

    def build(self, input_shape):
        sizes = [input_shape[-1], self.units], [self.units, self.units]
        self.kernel = self.add_weight(name="kernel", shape=sizes[0])
        self.again = self.add_weight(name="again", shape=sizes[1])

    def call(self, x):
        read = x @ self.kernel

        def moves(state, moved):
            return moved > self.tolerance

        def refine(state, _):
            after = tf.tanh(read + state @ self.again)
            return after, tf.reduce_max(tf.abs(after - state))

        first = tf.tanh(read)
        begin = first, tf.reduce_max(tf.abs(first))
        return tf.while_loop(moves, refine, begin, maximum_iterations=self.limit)[0]

    def get_config(self):
        own = {"tolerance": self.tolerance, "limit": self.limit}
        return {**super().get_config(), "units": self.units, **own}


def fit_refined(data, start, tolerance, limit, epochs, batch_size):
    """Fits a layer that iterates to a fixed point in a `tf.while_loop`.

    AutoGraph does not convert a layer's `call`: a Python `while` on a tensor raises.
    """
    inputs = keras.Input(start[0].shape[:1])
    hidden = Refined(len(start[1]), tolerance, limit)(inputs)
    model = keras.Model(inputs, layers.Dense(len(start[3]))(hidden))
    model.set_weights(start)
    model.compile(descent(0.125), "mse")
    options = {"batch_size": batch_size, "verbose": 0}
    history = model.fit(*data, epochs=epochs, shuffle=False, **options)
    found = model.predict(data[0], **options)
    return told(history)["loss"], model.get_weights(), found


def fit_limited(data, start, limit, axis, epochs, batch_size):
    """Fits a convolution with a `MaxNorm` constraint on its kernel."""
    x, y = data
    filters, size = len(start[1]), start[0].shape[:2]
    constraint = keras.constraints.MaxNorm(limit, axis)
    model = keras.Sequential(
        [
            keras.Input(x.shape[1:]),
            layers.Conv2D(
                filters, size, activation="relu", kernel_constraint=constraint
            ),
            layers.GlobalAveragePooling2D(),
            layers.Dense(len(start[3])),
        ]
    )
    model.set_weights(start)
    model.compile(descent(), "mse")
    history = model.fit(
        x, y, epochs=epochs, batch_size=batch_size, shuffle=False, verbose=0
    )
    return told(history)["loss"], model.get_weights()
