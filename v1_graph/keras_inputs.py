"""`fit` of tensors, `target_tensors`, a `Sequence` → datasets, `PyDataset`."""

import random

import numpy as np
import tensorflow.compat.v1 as tf

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

K = tf.keras.backend
layers = tf.keras.layers


def network(start, last=None):
    """Makes a hidden layer and an output layer, with the weights `start`."""
    model = tf.keras.Sequential()
    shape = [len(start[0])]
    model.add(layers.Dense(len(start[1]), activation="tanh", input_shape=shape))
    model.add(layers.Dense(len(start[3]), activation=last))
    model.set_weights(start)
    return model


def descent(rate=0.25):
    """Makes a gradient descent optimizer."""
    return tf.keras.optimizers.SGD(lr=rate)


def told(history):
    """Converts the history of `fit` to {key: float32 array, one number per epoch}."""
    return {key: np.float32(values) for key, values in history.history.items()}


def batched(data, batch_size):
    """Makes a dataset of batches of the arrays' rows, repeated without end."""
    return tf.data.Dataset.from_tensor_slices(data).batch(batch_size).repeat()


def fit_validated(data, start, validation, epochs, batch_size, steps, validation_steps):
    """Fits a dataset with `steps_per_epoch`, and validates on another dataset.

    Args:
        data, validation: (x [n, features] float32, y [n] int32 classes) arrays.
        start: [kernel, bias] of a hidden layer and of an output layer.
        epochs: number of epochs, of `steps` steps each.
        batch_size: rows of a batch; the last batch may have fewer.
        steps: steps per epoch; the next epoch continues with the next rows.
        validation_steps: batches per validation, which begins with the first row.

    Returns:
        ({key: [epochs] float32 array} of the history, list of the weights). A loss is
        the mean over batches, whatever their sizes.
    """
    with tf.Graph().as_default():
        model = network(start, "softmax")
        loss = "sparse_categorical_crossentropy"
        model.compile(descent(), loss, metrics=["accuracy"])
        history = model.fit(
            batched(data, batch_size),
            epochs=epochs,
            steps_per_epoch=steps,
            validation_data=batched(validation, batch_size),
            validation_steps=validation_steps,
            verbose=0,
        )
        return told(history), model.get_weights()


def fit_tensors(data, start, epochs, batch_size, steps):
    """Fits a model to the tensors of an iterator: each step reads the next batch.

    Args:
        data: (x [n, features], y [n, units]) float32 arrays.
        start, epochs, batch_size, steps: as for `fit_validated`.

    Returns:
        ([epochs] float32 losses, means over batches; list of the weights).
    """
    with tf.Graph().as_default():
        model = network(start)
        model.compile(descent(), "mse")
        # --- rows
        x, y = batched(data, batch_size).make_one_shot_iterator().get_next()
        # --- fit
        history = model.fit(x, y, epochs=epochs, steps_per_epoch=steps, verbose=0)
        return told(history)["loss"], model.get_weights()


def fit_bound(data, start, epochs, batch_size, steps):
    """Fits a model whose `Input` is an iterator's tensor, then predicts.

    Args:
        data, start, epochs, batch_size, steps: as for `fit_tensors`.

    Returns:
        ([epochs] float32 losses, means over batches; list of the weights; [n, units]
        predictions).
    """
    with tf.Graph().as_default():
        net = network(start)
        # --- rows
        x, y = batched(data, batch_size).make_one_shot_iterator().get_next()
        inputs = layers.Input(tensor=x)
        model = tf.keras.Model(inputs, net(inputs))
        model.compile(descent(), "mse", target_tensors=[y])
        # --- fit
        history = model.fit(epochs=epochs, steps_per_epoch=steps, verbose=0)
        found = net.predict(data[0], batch_size=batch_size)
        return told(history)["loss"], model.get_weights(), found


def fit_windows(series, targets, start, length, rate, stride, epochs, batch_size):
    """Fits a model to windows of a series, to predict the target of the next row.

    Args:
        series: [n, features] float32 array.
        targets: [n, units] float32 array, one for each row of the series.
        start: [kernel, bias] of a hidden layer and of an output layer; a window is
            flattened.
        length: number of rows that a window spans.
        rate: a window has every `rate`-th of these rows.
        stride: number of rows from one window to the next.
        epochs: number of passes over the windows.
        batch_size: windows of a batch; the last batch may have fewer.

    Returns:
        ([epochs] float32 losses, list of the weights).

    Raises:
        ValueError: the series has no row after its first `length` rows, or its length
            differs from that of `targets`.
    """
    with tf.Graph().as_default():
        # --- windows
        windows = tf.keras.preprocessing.sequence.TimeseriesGenerator(
            series,
            targets,
            length,
            sampling_rate=rate,
            stride=stride,
            batch_size=batch_size,
        )
        # --- fit
        net = network(start)
        model = tf.keras.Sequential()
        model.add(layers.Flatten(input_shape=[-(-length // rate), series.shape[1]]))
        model.add(net)
        model.compile(descent(0.0625), "mse")
        history = model.fit_generator(windows, epochs=epochs, shuffle=False, verbose=0)
        return told(history)["loss"], model.get_weights()


class Mixed(tf.keras.utils.Sequence):
    """Batches of rows, each mixed with another row of its batch."""

    def __init__(self, data, batch_size, alpha, seed):
        self.data, self.batch_size, self.alpha = data, batch_size, alpha
        self.random = np.random.RandomState(seed)

    def __len__(self):
        return -(-len(self.data[0]) // self.batch_size)

    def __getitem__(self, i):
        rows = [a[i * self.batch_size : (i + 1) * self.batch_size] for a in self.data]
        share = self.random.beta(self.alpha, self.alpha)
        order = self.random.permutation(len(rows[0]))
        return tuple(share * a + (1 - share) * a[order] for a in rows)


def fit_mixed(data, start, alpha, seed, epochs, batch_size):
    """Fits a model with mixup: convex combinations of pairs of rows and of labels.

    Args:
        data: (x [n, features], y [n, classes]) float32 arrays, y one-hot.
        start, epochs: as for `fit_validated`.
        alpha: both parameters of the beta distribution of a batch's mixing share.
        seed: int, the seed of NumPy's generator, which draws shares and pairs.
        batch_size: rows of a batch; the last batch may have fewer.

    Returns:
        ([epochs] float32 losses, list of the weights).
    """
    with tf.Graph().as_default():
        model = network(start, "softmax")
        model.compile(descent(), "categorical_crossentropy")
        history = model.fit_generator(
            Mixed(data, batch_size, alpha, seed),
            epochs=epochs,
            shuffle=False,
            workers=1,
            use_multiprocessing=False,
            verbose=0,
        )
        return told(history)["loss"], model.get_weights()


class Batches(tf.keras.utils.Sequence):
    """Batches of consecutive rows, the same in every epoch."""

    def __init__(self, data, batch_size):
        self.data, self.batch_size = data, batch_size

    def __len__(self):
        return -(-len(self.data[0]) // self.batch_size)

    def __getitem__(self, i):
        rows = slice(i * self.batch_size, (i + 1) * self.batch_size)
        return tuple(array[rows] for array in self.data)


def fit_reordered(data, start, epochs, batch_size, seed):
    """Fits a model to fixed batches, in an order that is shuffled from a seed.

    Args:
        data: (x [n, features], y [n, units]) float32 arrays.
        start, epochs, batch_size: as for `fit_mixed`.
        seed: the seed of Python's generator.

    Returns:
        ([epochs] float32 losses, list of the weights).
    """
    with tf.Graph().as_default():
        model = network(start)
        model.compile(descent(), "mse")
        random.seed(seed)
        history = model.fit_generator(
            Batches(data, batch_size),
            epochs=epochs,
            shuffle=True,
            workers=1,
            use_multiprocessing=False,
            verbose=0,
        )
        return told(history)["loss"], model.get_weights()


def fit_adversarial(data, start, epsilon, share, epochs, batch_size):
    """Adversarial training: fits rows and examples of the fast gradient sign method.

    Args:
        data: (x [n, features], y [n, classes]) float32 arrays, y one-hot.
        start, epochs, batch_size: as for `fit_mixed`.
        epsilon: size of the step in each feature.
        share: weight of the loss of the clean rows; the other weight is 1 - `share`.

    Returns:
        ([steps, 2] float32 losses of clean rows and of adversarial rows, list of the
        weights).
    """
    with tf.Graph().as_default():
        model = network(start, "softmax")
        # --- step
        x, y = (
            K.placeholder([None, len(start[0])]),
            K.placeholder([None, len(start[3])]),
        )
        clean = K.mean(K.categorical_crossentropy(y, model(x)))
        (gradient,) = K.gradients(clean, x)
        attacked = K.stop_gradient(x + epsilon * K.sign(gradient))
        fooled = K.mean(K.categorical_crossentropy(y, model(attacked)))
        loss = share * clean + (1.0 - share) * fooled
        updates = descent().get_updates(loss, model.trainable_weights)
        step = K.function([x, y], [clean, fooled], updates=updates)
        # --- train
        losses = []
        for _ in range(epochs):
            for i in range(0, len(data[0]), batch_size):
                losses.append(step([array[i : i + batch_size] for array in data]))
        return np.float32(losses), model.get_weights()


class Refined(layers.Layer):
    """Recurrent units, iterated until no unit of the batch changes any more."""

    def __init__(self, units, tolerance, limit, **options):
        super(Refined, self).__init__(**options)
        self.units, self.tolerance, self.limit = units, tolerance, limit

    def build(self, input_shape):
        sizes = [int(input_shape[-1]), self.units], [self.units, self.units]
        self.kernel = self.add_weight("kernel", sizes[0])
        self.again = self.add_weight("again", sizes[1])
        super(Refined, self).build(input_shape)

    def call(self, x):
        read = K.dot(x, self.kernel)

        def moves(i, state, moved):
            return tf.logical_and(i < self.limit, moved > self.tolerance)

        def refine(i, state, _):
            after = K.tanh(read + K.dot(state, self.again))
            return i + 1, after, K.max(K.abs(after - state))

        first = K.tanh(read)
        begin = [tf.constant(0), first, K.max(K.abs(first))]
        return tf.while_loop(moves, refine, begin)[1]


def fit_refined(data, start, tolerance, limit, epochs, batch_size):
    """Fits a layer that iterates to a fixed point in a `tf.while_loop`.

    Args:
        data: (x [n, features], y [n, units]) float32 arrays.
        start: [kernel [features, hidden], recurrent kernel [hidden, hidden], kernel
            [hidden, units], bias [units]].
        tolerance: the loop ends if no unit of the batch changes by more than this.
        limit: the largest number of iterations.
        epochs, batch_size: as for `fit_mixed`.

    Returns:
        ([epochs] float32 losses, list of the weights, [n, units] predictions).
    """
    with tf.Graph().as_default():
        inputs = layers.Input(start[0].shape[:1])
        hidden = Refined(len(start[1]), tolerance, limit)(inputs)
        model = tf.keras.Model(inputs, layers.Dense(len(start[3]))(hidden))
        model.set_weights(start)
        model.compile(descent(0.125), "mse")
        options = {"batch_size": batch_size, "verbose": 0}
        history = model.fit(*data, epochs=epochs, shuffle=False, **options)
        found = model.predict(data[0], **options)
        return told(history)["loss"], model.get_weights(), found


def fit_limited(data, start, limit, axis, epochs, batch_size):
    """Fits a convolution with a `MaxNorm` constraint on its kernel.

    Args:
        data: (x [n, height, width, channels], y [n, units]) float32 arrays.
        start: [kernel, bias] of the convolution and of a last layer.
        limit: the largest norm of the weights along `axis`.
        axis: of the convolution's kernel: [0, 1, 2] are the weights of a filter.
        epochs, batch_size: as for `fit_mixed`.

    Returns:
        ([epochs] float32 losses, list of the weights).
    """
    x, y = data
    with tf.Graph().as_default():
        filters, size = len(start[1]), start[0].shape[:2]
        constraint = tf.keras.constraints.MaxNorm(limit, axis)
        options = {"kernel_constraint": constraint, "input_shape": x.shape[1:]}
        model = tf.keras.Sequential()
        model.add(layers.Conv2D(filters, size, activation="relu", **options))
        model.add(layers.GlobalAveragePooling2D())
        model.add(layers.Dense(len(start[3])))
        model.set_weights(start)
        model.compile(descent(), "mse")
        history = model.fit(
            x, y, epochs=epochs, batch_size=batch_size, shuffle=False, verbose=0
        )
        return told(history)["loss"], model.get_weights()
