"""`fit_generator`, `train_on_batch`, `history["acc"]` → `fit` of Keras 3."""

import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = [
    "fit_arrays",
    "fit_generator",
    "fit_sequence",
    "fit_frozen",
    "fit_dataset",
    "fit_weighted",
    "fit_named",
    "fit_padded",
    "fit_shuffled",
    "plain_loop",
    "train_on_batches",
    "train_gan",
    "evaluate",
    "predict_classes",
    "binary_loss",
    "stop_early",
    "keep_the_best",
    "log_batches",
    "own_metric",
]

K = tf.keras.backend


def network(start, loss="sparse_categorical_crossentropy", metrics=(), rate=0.25):
    """Makes a compiled network of two dense layers, with the weights `start`."""
    (features, hidden), classes = start[0].shape, start[3].shape[0]
    model = tf.keras.Sequential()
    model.add(tf.keras.layers.Dense(hidden, "relu", input_shape=(features,)))
    last = "sigmoid" if classes == 1 else "softmax"
    model.add(tf.keras.layers.Dense(classes, activation=last))
    optimizer = tf.keras.optimizers.SGD(lr=rate)
    model.compile(optimizer=optimizer, loss=loss, metrics=list(metrics))
    model.set_weights(start)
    return model


def told(history):
    """Converts the history of `fit` to {key: float32 array, one number per epoch}."""
    return {key: np.float32(values) for key, values in history.history.items()}


def fit_arrays(data, start, epochs, batch_size, share=0.25):
    """Fits a model to arrays, and validates on their last rows: `validation_split`.

    Args:
        data: (x, y), float32 [n, features] and int32 [n] classes.
        start: [kernel, bias, kernel, bias], float32 arrays.
        epochs: number of passes over the rows.
        batch_size: rows of a batch; the last batch of an epoch may have fewer.
        share: share of the rows, from the end, for validation.

    Returns:
        ({key: [epochs] float32 array} of the history, list of the weights).
    """
    with tf.Graph().as_default():
        model = network(start, metrics=["accuracy"])
        history = model.fit(
            *data,
            batch_size=batch_size,
            epochs=epochs,
            validation_split=share,
            shuffle=False,
            verbose=0,
        )
        return told(history), model.get_weights()


def fit_generator(data, start, epochs, batch_size):
    """Fits a model to a generator's batches; validates on another generator's batches.

    Args:
        data, start, epochs: as for `fit_arrays`.
        batch_size: rows of a batch; rows that are left over begin the next epoch.

    Returns:
        ({key: [epochs] float32 array} of the history, list of the weights, list of the
        loss and the accuracy of a generator, [n, classes] predictions of a generator).
    """
    steps = len(data[0]) // batch_size

    def batches():
        while True:
            for i in range(steps):
                yield tuple(a[i * batch_size : (i + 1) * batch_size] for a in data)

    with tf.Graph().as_default():
        model = network(start, metrics=["accuracy"])
        history = model.fit_generator(
            batches(),
            steps_per_epoch=steps,
            epochs=epochs,
            validation_data=batches(),
            validation_steps=2,
            workers=0,
            verbose=0,
        )
        scores = model.evaluate_generator(batches(), steps=steps, workers=0)
        found = model.predict_generator(batches(), steps=steps, workers=0)
        return told(history), model.get_weights(), np.float32(scores), found


class Batches(tf.keras.utils.Sequence):
    """A `Sequence` of batches; with a seed, it shuffles the rows before each epoch."""

    def __init__(self, data, batch_size, seed=None):
        self.data, self.batch_size = data, batch_size
        self.order = np.arange(len(data[0]))
        self.random = None if seed is None else np.random.RandomState(seed)
        self.on_epoch_end()

    def __len__(self):
        return -(-len(self.order) // self.batch_size)

    def __getitem__(self, i):
        rows = self.order[i * self.batch_size : (i + 1) * self.batch_size]
        return tuple(array[rows] for array in self.data)

    def on_epoch_end(self):
        if self.random:
            self.random.shuffle(self.order)


def fit_sequence(data, start, validation, epochs, batch_size, seed):
    """Fits a model to a `Sequence` that shuffles its rows; validates on another one.

    Args:
        data, start, epochs: as for `fit_arrays`.
        validation: (x, y), like `data`.
        batch_size: rows of a batch; the last batch may have fewer.
        seed: seed of the order of the rows, which the Sequence draws itself.

    Returns:
        ({key: [epochs] float32 array} of the history, list of the weights, the loss
        and the accuracy of the last validation). A loss of validation is the mean over
        batches, whatever their sizes.
    """
    with tf.Graph().as_default():
        model = network(start, metrics=["accuracy"])
        rest = Batches(validation, batch_size)
        history = model.fit_generator(
            Batches(data, batch_size, seed),
            epochs=epochs,
            validation_data=rest,
            shuffle=False,
            verbose=0,
        )
        scores = model.evaluate_generator(rest)
        return told(history), model.get_weights(), np.float32(scores)


def fit_frozen(data, start, epochs, batch_size, weight=0.01):
    """Fits the last layer of a model whose first layer is frozen and has a penalty.

    Args:
        data, start, epochs, batch_size: as for `fit_arrays`.
        weight: weight of the penalty on the frozen kernel, which the losses contain.

    Returns:
        ({key: [epochs] float32 array} of the history, list of the weights).
    """
    (features, hidden), classes = start[0].shape, start[3].shape[0]
    with tf.Graph().as_default():
        model = tf.keras.Sequential()
        penalty = tf.keras.regularizers.l2(weight)
        options = {"kernel_regularizer": penalty, "input_shape": (features,)}
        model.add(tf.keras.layers.Dense(hidden, "relu", **options))
        model.add(tf.keras.layers.Dense(classes, "softmax"))
        model.layers[0].trainable = False
        optimizer = tf.keras.optimizers.SGD(lr=0.25)
        model.compile(optimizer, "sparse_categorical_crossentropy")
        model.set_weights(start)
        history = model.fit(
            *data,
            batch_size=batch_size,
            epochs=epochs,
            validation_data=data,
            shuffle=False,
            verbose=0,
        )
        return told(history), model.get_weights()


def fit_dataset(data, start, epochs, batch_size, steps):
    """Fits a model to a repeated dataset with `steps_per_epoch`.

    Args:
        data, start, epochs: as for `fit_arrays`.
        batch_size: rows of a batch; the last batch may have fewer.
        steps: steps per epoch.

    Returns:
        ({key: [epochs] float32 array} of the history, list of the weights). The loss of
        an epoch is the mean over batches, whatever their sizes.
    """
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.from_tensor_slices(data).batch(batch_size).repeat()
        model = network(start)
        history = model.fit(dataset, epochs=epochs, steps_per_epoch=steps, verbose=0)
        return told(history), model.get_weights()


def fit_weighted(data, start, epochs, batch_size, rows=None, classes=None):
    """Fits a model with sample weights and class weights.

    Args:
        data, start, epochs, batch_size: as for `fit_arrays`.
        rows: [n] float32 array, the weights of the rows, or None.
        classes: {class: weight} of all classes, or None; both are multiplied.

    Returns:
        ({key: [epochs] float32 array} of the history, list of the weights).

    Raises:
        ValueError: a class is missing.
    """
    with tf.Graph().as_default():
        model = network(start)
        history = model.fit(
            *data,
            batch_size=batch_size,
            epochs=epochs,
            sample_weight=rows,
            class_weight=classes,
            shuffle=False,
            verbose=0,
        )
        return told(history), model.get_weights()


class EventLog(tf.keras.callbacks.Callback):
    """Records when validation runs, and the names in the logs of an epoch."""

    def __init__(self):
        super().__init__()
        self.events = []

    def on_test_begin(self, logs=None):
        self.events.append(["validation"])

    def on_epoch_end(self, epoch, logs=None):
        self.events.append(list(logs))


def fit_named(data, start, validation, epochs, batch_size, share=0.25):
    """Fits a model with named inputs and outputs; a callback records its logs.

    Args:
        data: ({"left": [n, features], "right": [n, others]}, {"kind": [n], "score": [n,
            1]}), float32 arrays, except for the int32 classes of "kind".
        start: [kernel, bias] of the hidden layer, of "kind" and of "score", in a list.
        validation: like `data`; at most one batch.
        epochs: number of passes over the rows.
        batch_size: rows of a batch; the last batch of an epoch may have fewer.
        share: weight of the loss of "score".

    Returns:
        (list of ["validation"], where validation begins, and of the keys of the logs of
        each epoch; {key: [epochs] float32 array} of the history; list of the weights).
        A loss of an output is the mean over batches, not over rows.
    """
    layers, log = tf.keras.layers, EventLog()
    with tf.Graph().as_default():
        sizes = {name: rows.shape[1:] for name, rows in data[0].items()}
        left = layers.Input(sizes["left"], name="left")
        right = layers.Input(sizes["right"], name="right")
        both = layers.Concatenate()([left, right])
        hidden = layers.Dense(len(start[1]), "relu", name="hidden")(both)
        kind = layers.Dense(len(start[3]), "softmax", name="kind")(hidden)
        score = layers.Dense(1, name="score")(hidden)
        model = tf.keras.Model([left, right], [kind, score])
        model.compile(
            optimizer=tf.keras.optimizers.SGD(lr=0.0625),
            loss={"kind": "sparse_categorical_crossentropy", "score": "mse"},
            loss_weights={"kind": 1.0, "score": share},
            metrics={"kind": ["accuracy"], "score": ["mae"]},
        )
        model.set_weights(start)
        history = model.fit(
            *data,
            batch_size=batch_size,
            epochs=epochs,
            validation_data=validation,
            shuffle=False,
            callbacks=[log],
            verbose=0,
        )
        return log.events, told(history), model.get_weights()


def fit_padded(data, start, epochs, batch_size):
    """Fits a model that classifies each step of padded, masked sequences.

    Args:
        data: (x, y), float32 [n, steps, features], 0 where there is padding, and int32
            [n, steps] classes.
        start: [kernel, bias], float32 arrays.
        epochs: number of passes over the rows.
        batch_size: rows of a batch; the last batch of an epoch may have fewer.

    Returns:
        ({key: [epochs] float32 array} of the history, list of the weights).
    """
    x, y = data
    with tf.Graph().as_default():
        model = tf.keras.Sequential()
        model.add(tf.keras.layers.Masking(input_shape=x.shape[1:]))
        dense = tf.keras.layers.Dense(start[0].shape[1], activation="softmax")
        model.add(tf.keras.layers.TimeDistributed(dense))
        optimizer = tf.keras.optimizers.SGD(lr=0.25)
        model.compile(optimizer=optimizer, loss="sparse_categorical_crossentropy")
        model.set_weights(start)
        history = model.fit(
            *(x, y[..., np.newaxis]),
            batch_size=batch_size,
            epochs=epochs,
            shuffle=False,
            verbose=0,
        )
        return told(history), model.get_weights()


def fit_shuffled(data, start, epochs, batch_size, seed, share=0.0):
    """Fits a model to rows in the order of NumPy's seeded generator.

    Args:
        data, start, epochs, batch_size, share: as for `fit_arrays`.
        seed: seed of NumPy's global generator.

    Returns:
        ({key: [epochs] float32 array} of the history, list of the weights).
    """
    with tf.Graph().as_default():
        model = network(start)
        np.random.seed(seed)
        options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
        history = model.fit(*data, validation_split=share, **options)
        return told(history), model.get_weights()


def plain_loop(data, start, epochs, batch_size):
    """Trains in a custom loop, with the losses and accuracies that `fit` logs.

    Args:
        data, start, epochs, batch_size: as for `fit_arrays`.

    Returns:
        ({key: [epochs] float32 array} of the history, list of the weights).
    """
    with tf.Graph().as_default():
        model = network(start, metrics=["accuracy"])
        options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
        history = model.fit(*data, shuffle=False, **options)
        return told(history), model.get_weights()


def train_on_batches(data, start, batch_size, steps):
    """Trains with `train_on_batch`; calls `test_on_batch` after every second batch.

    Args:
        data, start, batch_size: as for `fit_arrays`.
        steps: number of steps to take.

    Returns:
        ([steps, 2] losses and accuracies of the batches, losses and accuracies of the
        tests, list of the weights).
    """
    with tf.Graph().as_default():
        model = network(start, metrics=["accuracy"])
        trained, tested = [], []
        for i in range(steps):
            x, y = [a[i * batch_size : (i + 1) * batch_size] for a in data]
            trained.append(model.train_on_batch(x, y))
            if i % 2:
                tested.append(model.test_on_batch(*data))
        return np.float32(trained), np.float32(tested), model.get_weights()


def train_gan(data, noise, starts, rate=0.25):
    """Trains a GAN: its discriminator is frozen in the combined model.

    Args:
        data: [steps, n, features] float32 array, the real rows of each step.
        noise: [steps, n, size] float32 array, the generator's inputs.
        starts: the generator's [kernel, bias], and the discriminator's weights as
            `start` of `fit_arrays`, of one unit.
        rate: learning rate of gradient descent.

    Returns:
        ([steps, 3] float32 losses of the discriminator for real and for generated rows,
        and of the generator; list of the generator's weights; list of the
        discriminator's weights).
    """
    (size, features), ones = starts[0][0].shape, np.ones([data.shape[1], 1], "f")
    with tf.Graph().as_default():
        generator = tf.keras.Sequential()
        generator.add(tf.keras.layers.Dense(features, "tanh", input_shape=(size,)))
        discriminator = network(starts[1], "binary_crossentropy", rate=rate)
        # `compile` reads which layers are frozen: freeze here, and not above.
        discriminator.trainable = False
        z = tf.keras.layers.Input((size,))
        gan = tf.keras.Model(z, discriminator(generator(z)))
        gan.compile(tf.keras.optimizers.SGD(lr=rate), "binary_crossentropy")
        generator.set_weights(starts[0])
        losses = []
        for real, z in zip(data, noise):
            made = generator.predict(z)
            losses.append(
                [
                    discriminator.train_on_batch(real, ones),
                    discriminator.train_on_batch(made, 0 * ones),
                    gan.train_on_batch(z, ones),
                ]
            )
        weights = generator.get_weights(), discriminator.get_weights()
        return (np.float32(losses), *weights)


def evaluate(data, start, batch_size, metrics):
    """Evaluates a model; returns names and values of its loss and metrics.

    Args:
        data, start, batch_size: as for `fit_arrays`; y may be [n, 1].
        metrics: list of names of metrics, of classes or functions.

    Returns:
        (list of names, list of float32 numbers).
    """
    with tf.Graph().as_default():
        stateful = tf.keras.metrics
        made = [getattr(stateful, m)() if m[0].isupper() else m for m in metrics]
        model = network(start, "binary_crossentropy", made)
        values = model.evaluate(*data, batch_size=batch_size, verbose=0)
        return model.metrics_names, list(np.float32(values))


def predict_classes(x, start, batch_size):
    """Predicts classes and probabilities with a `Sequential` model.

    Args:
        x: float32 [n, features].
        start: as for `fit_arrays`; with one unit, the classes are 0 and 1.
        batch_size: rows of a batch.

    Returns:
        (int array of the classes, [n] or [n, 1]; [n, units] float32 probabilities).
    """
    with tf.Graph().as_default():
        loss = "binary_crossentropy" if len(start[3]) == 1 else "mse"
        model = network(start, loss)
        classes = model.predict_classes(x, batch_size=batch_size)
        return classes, model.predict_proba(x, batch_size=batch_size)


def binary_loss(targets, outputs, from_logits=False, label_smoothing=0, sigmoid=False):
    """Computes the binary cross-entropy of probabilities or logits for each row.

    Args:
        targets, outputs: [n, units] tensors of one float dtype.
        from_logits: whether `outputs` are logits.
        label_smoothing: share by which targets are moved towards 1/2, from 0 to 1.
        sigmoid: whether `outputs` are passed through a sigmoid first.

    Returns:
        [n] tensor.
    """
    if sigmoid:
        outputs = tf.sigmoid(outputs)
    return tf.keras.losses.binary_crossentropy(
        targets, outputs, from_logits=from_logits, label_smoothing=label_smoothing
    )


def stop_early(data, start, validation, epochs, rate=0.25, **stopping):
    """Stops training early on the validation loss, and restores the best weights.

    Args:
        data, start: as for `fit_arrays`.
        validation: (x, y), like `data`.
        epochs: largest number of epochs, each of one step.
        rate: learning rate of gradient descent.
        **stopping: arguments of `EarlyStopping`, such as `patience` and `min_delta`.

    Returns:
        ({key: float32 array} of the history, list of the weights).

    Raises:
        TypeError: training stops, and no loss has been a finite number.
    """
    with tf.Graph().as_default():
        model = network(start, rate=rate)
        callback = tf.keras.callbacks.EarlyStopping(
            monitor="val_loss", restore_best_weights=True, **stopping
        )
        history = model.fit(
            *data,
            batch_size=len(data[0]),
            epochs=epochs,
            validation_data=validation,
            shuffle=False,
            callbacks=[callback],
            verbose=0,
        )
        return told(history), model.get_weights()


def keep_the_best(data, start, validation, epochs, rate=0.25):
    """Saves the weights after each epoch with a new best validation accuracy.

    Args:
        data, start, validation, epochs, rate: as for `stop_early`.

    Returns:
        (list of the epochs whose weights were saved, list of the weights of the last
        saved epoch, loaded from its file).
    """
    with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder:
        model = network(start, metrics=["accuracy"], rate=rate)
        callback = tf.keras.callbacks.ModelCheckpoint(
            os.path.join(folder, "{epoch:02d}.h5"),
            monitor="val_acc",
            save_best_only=True,
            save_weights_only=True,
        )
        model.fit(
            *data,
            batch_size=len(data[0]),
            epochs=epochs,
            validation_data=validation,
            shuffle=False,
            callbacks=[callback],
            verbose=0,
        )
        files = sorted(os.listdir(folder))
        model.load_weights(os.path.join(folder, files[-1]))
        return [int(name[:2]) for name in files], model.get_weights()


class BatchLog(tf.keras.callbacks.Callback):
    """Records the logs of each batch and the loss of each epoch."""

    def __init__(self):
        super(BatchLog, self).__init__()
        self.losses, self.sizes, self.epochs = [], [], []

    def on_batch_end(self, batch, logs=None):
        self.losses.append(logs["loss"])
        self.sizes.append(logs["size"])

    def on_epoch_end(self, epoch, logs=None):
        self.epochs.append(logs["loss"])


def log_batches(data, start, epochs, batch_size):
    """Records the loss and the size of each batch with a callback.

    Args:
        data, start, epochs, batch_size: as for `fit_arrays`.

    Returns:
        (float32 losses of the batches, list of the batches' sizes, float32 losses of
        the epochs).
    """
    with tf.Graph().as_default():
        model = network(start)
        log = BatchLog()
        model.fit(
            *data,
            batch_size=batch_size,
            epochs=epochs,
            shuffle=False,
            callbacks=[log],
            verbose=0,
        )
        return np.float32(log.losses), log.sizes, np.float32(log.epochs)


def f1(y_true, y_pred):
    """Computes the F1 score of a batch."""
    found = K.sum(y_true * K.round(y_pred))
    precision = found / (K.sum(K.round(y_pred)) + K.epsilon())
    recall = found / (K.sum(y_true) + K.epsilon())
    return 2 * precision * recall / (precision + recall + K.epsilon())


def own_metric(data, start, batch_size):
    """Evaluates a function as a metric: the mean over batches, not weighted by size.

    Args:
        data, start, batch_size: as for `fit_arrays`; y is float32 [n, 1].

    Returns:
        (list of names, list of float32 numbers).
    """
    with tf.Graph().as_default():
        model = network(start, "binary_crossentropy", [f1])
        values = model.evaluate(*data, batch_size=batch_size, verbose=0)
        return model.metrics_names, list(np.float32(values))
