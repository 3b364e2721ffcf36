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


def network(start, last=None, model=keras.Sequential):
    """A hidden layer and a last one, whose weights are `start`."""
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
    """Gradient descent."""
    return keras.optimizers.SGD(rate)


def told(history):
    """{key: float32 array, a number per epoch} of what `fit` returned."""
    return {key: np.float32(values) for key, values in history.history.items()}


def batched(data, batch_size):
    """A dataset of the batches of arrays, which begins anew when it has ended."""
    return tf.data.Dataset.from_tensor_slices(data).batch(batch_size).repeat()


def fit_validated(data, start, validation, epochs, batch_size, steps, validation_steps):
    """Fits a dataset so many steps an epoch, and validates by another one.

    Both losses are means over rows in Keras 3, and were means over batches.
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
    """Fits the tensors of an iterator, whose next rows each step takes.

    An eager tensor is an array: rows that change are a dataset, of pairs.
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
    """Fits a model that is built on the tensors of an iterator, and predicts by it.

    A model is built on shapes alone, and the same one is fed and asked.
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
    """Fits windows of a series to the target that comes after each.

    The first target belongs to the first window: those of `length` rows before are
    left out. The series is handed over whole.
    """
    if len(series) != len(targets):
        raise ValueError(f"{len(series)} rows do not have {len(targets)} targets")
    if len(series) <= length:
        raise ValueError(f"no row comes after {length} of {len(series)}: give more")
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
    """Batches of rows, each of the same rows in every epoch."""

    def __init__(self, data, batch_size):
        super().__init__()
        self.data, self.batch_size = data, batch_size

    def __len__(self):
        return -(-len(self.data[0]) // self.batch_size)

    def __getitem__(self, i):
        rows = slice(i * self.batch_size, (i + 1) * self.batch_size)
        return tuple(array[rows] for array in self.data)


class Mixed(Batches):
    """Batches of rows, each mixed with another row of its batch."""

    def __init__(self, data, batch_size, alpha, seed):
        super().__init__(data, batch_size)
        self.alpha, self.random = alpha, np.random.RandomState(seed)
        # Keras looks at two batches before the first epoch, which are as they are.
        self.draws = [(1.0, slice(None))] * len(self)

    def on_epoch_begin(self):
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
    """Fits rows that are mixed in pairs, as are their labels: mixup.

    Keras 3 asks for two batches more than it trains on: an item draws nothing, all
    draws of an epoch are made where it begins.
    """
    model = network(start, "softmax")
    model.compile(descent(), "categorical_crossentropy")
    batches = Mixed(data, batch_size, alpha, seed)
    history = model.fit(batches, epochs=epochs, shuffle=False, verbose=0)
    return told(history)["loss"], model.get_weights()


class Reordered(Batches):
    """Batches in an order that is shuffled before each epoch, by Python's shuffle."""

    def __init__(self, data, batch_size, seed):
        super().__init__(data, batch_size)
        self.random, self.order = random.Random(seed), list(range(len(self)))

    def on_epoch_begin(self):
        self.random.shuffle(self.order)

    def __getitem__(self, i):
        return super().__getitem__(self.order[i])


def fit_reordered(data, start, epochs, batch_size, seed):
    """Fits batches that stay as they are, in an order that `fit` shuffles by a seed.

    The PyDataset shuffles by a generator of its own, and `fit` does not.
    """
    model = network(start)
    model.compile(descent(), "mse")
    batches = Reordered(data, batch_size, seed)
    history = model.fit(batches, epochs=epochs, shuffle=False, verbose=0)
    return told(history)["loss"], model.get_weights()


class Adversarial(keras.Model):
    """Trains a model on rows and on what each becomes by a step that harms it."""

    def __init__(self, net, epsilon, share):
        super().__init__()
        self.net, self.epsilon, self.share = net, epsilon, share
        self.clean = keras.metrics.Mean(name="clean")
        self.fooled = keras.metrics.Mean(name="fooled")

    def call(self, x, training=None):
        return self.net(x, training=training)

    def train_step(self, data):
        x, y, weights = keras.utils.unpack_x_y_sample_weight(data)

        def loss_of(rows):
            return self.compute_loss(rows, y, self(rows, training=True), weights)

        x = tf.convert_to_tensor(x)  # eagerly Keras hands over an array
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
    """Fits rows and what each becomes by a step towards a larger loss: FGSM.

    A `train_step` of one's own is what `fit` and `train_on_batch` run.
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


@keras.utils.register_keras_serializable("tensorflow_1")
class Refined(layers.Layer):
    """Units that read each other again, until none of a batch moves any more."""

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
    """Fits a layer that refines its output until it stands still, by `while_loop`.

    AutoGraph does not read the `call` of a layer: a Python `while` of a tensor raises.
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
    """Fits a convolution whose kernel may not be longer than a limit: MaxNorm."""
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
