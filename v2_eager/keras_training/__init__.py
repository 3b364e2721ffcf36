"""`fit_generator`, `train_on_batch`, `history["acc"]` → `fit` of Keras 3."""

import collections
import os
import re
import tempfile

import numpy as np
import tensorflow as tf

from v2_eager.keras_training.callbacks import (
    BatchLog,
    EarlyStopping,
    EventLog,
    Validation,
)
from v2_eager.keras_training.models import CountsFrozen, OverAllSteps, TellsBatches

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

keras = tf.keras


def network(
    start,
    loss="sparse_categorical_crossentropy",
    metrics=(),
    rate=0.25,
    model=keras.Sequential,
):
    """Makes a compiled network of two dense layers, with the weights `start`."""
    (features, hidden), classes = start[0].shape, start[3].shape[0]
    last = "sigmoid" if classes == 1 else "softmax"
    model = model(
        [
            keras.Input([features]),
            keras.layers.Dense(hidden, "relu"),
            keras.layers.Dense(classes, last),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.SGD(rate), loss=loss, metrics=list(metrics)
    )
    model.set_weights(start)
    return model


def told(history):
    """Converts the history of `fit` to {key: float32 array, one number per epoch}."""
    return {key: np.float32(values) for key, values in history.history.items()}


def fit_arrays(data, start, epochs, batch_size, share=0.25):
    """Fits a model to arrays, and validates on their last rows: `validation_split`.

    The keys of the history are the names passed to `compile`: "acc" keeps the old keys.
    """
    model = network(start, metrics=["acc"])
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

    In TensorFlow 1 a validation generator continued from epoch to epoch. Keras 3 keeps
    its first two batches, and begins each validation with them.
    """
    steps = len(data[0]) // batch_size

    def batches():
        while True:
            for i in range(steps):
                yield tuple(a[i * batch_size : (i + 1) * batch_size] for a in data)

    model = network(start, metrics=["acc"])
    history = model.fit(
        batches(),
        steps_per_epoch=steps,
        epochs=epochs,
        shuffle=False,
        callbacks=[Validation(batches(), 2)],
        verbose=0,
    )
    scores = model.evaluate(batches(), steps=steps, verbose=0)
    found = model.predict(batches(), steps=steps, verbose=0)
    return told(history), model.get_weights(), np.float32(scores), found


class Batches(keras.utils.Sequence):
    """A `Sequence` of batches; with a seed, it shuffles the rows before each epoch.

    `on_epoch_end` shuffles the last order with NumPy's `RandomState`, because workers
    read the first batches of an epoch before Keras calls `on_epoch_begin`. The last
    batch may be shorter.

    Args:
        data: tuple of arrays, [n, ...] each, such as (x, y).
        batch_size: int, the number of rows in a batch.
        seed: int, or None for the order of the arrays.
        **options: arguments of `keras.utils.PyDataset`: `workers`, `max_queue_size`, ….
    """

    def __init__(self, data, batch_size, seed=None, **options):
        super().__init__(**options)
        self.data, self.batch_size = data, batch_size
        self.order = np.arange(len(data[0]))
        self.random = None if seed is None else np.random.RandomState(seed)
        self.begun = False
        self.shuffle()

    def __len__(self):
        return -(-len(self.order) // self.batch_size)

    def __getitem__(self, i):
        rows = self.order[i * self.batch_size : (i + 1) * self.batch_size]
        return tuple(array[rows] for array in self.data)

    def shuffle(self):
        if self.random:
            self.random.shuffle(self.order)

    def on_epoch_begin(self):
        self.begun = True

    def on_epoch_end(self):
        if self.begun:  # Keras also calls it once before the first epoch
            self.shuffle()
        self.begun = False


def fit_sequence(data, start, validation, epochs, batch_size, seed):
    """Fits a model to a `Sequence` that shuffles its rows; validates on another one.

    Keras 3 also reads two batches and calls `on_epoch_end` before the first epoch, so
    `Batches` shuffles only after an epoch. Its `val_loss` is the mean over rows.
    """
    model = network(start, metrics=["acc"], model=TellsBatches)
    rest = Batches(validation, batch_size)
    history = model.fit(
        Batches(data, batch_size, seed),
        epochs=epochs,
        validation_data=rest,
        shuffle=False,
        verbose=0,
    )
    found = told(history)
    found["val_loss"] = found["val_mean_loss"]
    scores = model.evaluate(rest, verbose=0, return_dict=True)
    found = {key: found[key] for key in ("loss", "acc", "val_loss", "val_acc")}
    scores = np.float32([scores["mean_loss"], scores["acc"]])
    return found, model.get_weights(), scores


def fit_frozen(data, start, epochs, batch_size, weight=0.01):
    """Fits the last layer of a model whose first layer is frozen and has a penalty.

    Keras 3 leaves the penalties of frozen weights out of the losses.
    """
    (features, hidden), classes = start[0].shape, start[3].shape[0]
    penalty = keras.regularizers.L2(weight)
    first = keras.layers.Dense(hidden, "relu", kernel_regularizer=penalty)
    last = keras.layers.Dense(classes, "softmax")
    model = CountsFrozen([keras.Input([features]), first, last])
    first.trainable = False
    model.compile(keras.optimizers.SGD(0.25), "sparse_categorical_crossentropy")
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

    The loss of an epoch is the mean over rows in Keras 3, over batches in TensorFlow 1.
    """
    dataset = tf.data.Dataset.from_tensor_slices(data).batch(batch_size).repeat()
    model = network(start, model=TellsBatches)
    history = model.fit(
        dataset, epochs=epochs, steps_per_epoch=steps, shuffle=False, verbose=0
    )
    return {"loss": told(history)["mean_loss"]}, model.get_weights()


def fit_weighted(data, start, epochs, batch_size, rows=None, classes=None):
    """Fits a model with sample weights and class weights.

    Keras 3 accepts only one of the two, and gives a missing class the weight 1. This
    function multiplies both, and raises for a missing class, as TensorFlow 1 did.
    """
    weights = np.ones(len(data[0]), "f") if rows is None else rows
    if classes is not None:
        labels = np.ravel(data[1]).tolist()  # [n] or [n, 1]
        for label in set(labels) - set(classes):
            raise ValueError(f"classes must have a weight for class {label}")
        weights = weights * np.float32([classes[label] for label in labels])
    model = network(start)
    history = model.fit(
        *data,
        batch_size=batch_size,
        epochs=epochs,
        sample_weight=weights,
        shuffle=False,
        verbose=0,
    )
    return told(history), model.get_weights()


def fit_named(data, start, validation, epochs, batch_size, share=0.25):
    """Fits a model with named inputs and outputs; a callback records its logs.

    Inputs and outputs of the model are dicts, as the data are. A metric is logged by
    the name that `compile` got: "acc" or "accuracy", "mae" or "mean_absolute_error".
    """
    layers, log = keras.layers, EventLog()
    inputs = {
        name: keras.Input(rows.shape[1:], name=name) for name, rows in data[0].items()
    }
    both = layers.Concatenate()([inputs["left"], inputs["right"]])
    hidden = layers.Dense(len(start[1]), "relu", name="hidden")(both)
    kind = layers.Dense(len(start[3]), "softmax", name="kind")(hidden)
    score = layers.Dense(1, name="score")(hidden)
    model = keras.Model(inputs, {"kind": kind, "score": score})
    model.compile(
        optimizer=keras.optimizers.SGD(0.0625),
        loss={"kind": "sparse_categorical_crossentropy", "score": "mse"},
        loss_weights={"kind": 1.0, "score": share},
        metrics={"kind": ["acc"], "score": ["mean_absolute_error"]},
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

    A loss of Keras 3 is the mean over the steps that are not masked. In TensorFlow 1 it
    was their sum, divided by the number of all steps.
    """
    x, _ = data
    dense = keras.layers.Dense(start[0].shape[1], "softmax")
    layers = keras.layers.Masking(), keras.layers.TimeDistributed(dense)
    model = keras.Sequential([keras.Input(x.shape[1:]), *layers])
    model.compile(optimizer=keras.optimizers.SGD(0.25), loss=OverAllSteps())
    model.set_weights(start)
    options = {"batch_size": batch_size, "epochs": epochs, "shuffle": False}
    history = model.fit(*data, verbose=0, **options)
    return told(history), model.get_weights()


def fit_shuffled(data, start, epochs, batch_size, seed, share=0.0):
    """Fits a model to rows in the order of NumPy's seeded generator.

    Keras 3 shuffles with `tf.data`, in another order: shuffle the rows before `fit`.
    1.15 also shuffled the validation rows, whatever `shuffle=` was.
    """
    model, random = network(start), np.random.RandomState(seed)
    history = collections.defaultdict(list)
    options = {"batch_size": batch_size, "shuffle": False, "verbose": 0}
    split = int(len(data[0]) * (1 - share))

    def shuffled(rows):
        order = np.arange(len(rows[0]))
        random.shuffle(order)
        return tuple(array[order] for array in rows)

    for _ in range(epochs):
        train = shuffled([array[:split] for array in data])
        if share:
            options["validation_data"] = shuffled([array[split:] for array in data])
        told_now = model.fit(*train, **options)
        for key, values in told_now.history.items():
            history[key] += values
    return {key: np.float32(v) for key, v in history.items()}, model.get_weights()


def plain_loop(data, start, epochs, batch_size):
    """Trains in a custom loop, with the losses and accuracies that `fit` logs."""
    model = network(start)
    weights = model.trainable_weights
    means = {
        "loss": keras.metrics.Mean(),
        "acc": keras.metrics.SparseCategoricalAccuracy(),
    }
    loss_of = keras.losses.SparseCategoricalCrossentropy()

    @tf.function(reduce_retracing=True)
    def step(x, y):
        with tf.GradientTape() as tape:
            outputs = model(x, training=True)
            loss = loss_of(y, outputs)
        gradients = tape.gradient(loss, weights)
        model.optimizer.apply(gradients, weights)
        means["loss"].update_state(loss, sample_weight=tf.shape(x)[0])
        means["acc"].update_state(y, outputs)

    history = {key: [] for key in means}
    for _ in range(epochs):
        for i in range(0, len(data[0]), batch_size):
            step(*[tf.constant(array[i : i + batch_size]) for array in data])
        for key, mean in means.items():
            history[key].append(mean.result())
            mean.reset_state()
    return {key: np.float32(v) for key, v in history.items()}, model.get_weights()


def train_on_batches(data, start, batch_size, steps):
    """Trains with `train_on_batch`; calls `test_on_batch` after every second batch.

    Before Keras 3.15 the numbers are means of all batches since the last reset.
    """
    model = network(start, metrics=["acc"])
    trained, tested = [], []
    for i in range(steps):
        x, y = [a[i * batch_size : (i + 1) * batch_size] for a in data]
        model.reset_metrics()
        trained.append(model.train_on_batch(x, y))
        if i % 2:
            model.reset_metrics()
            tested.append(model.test_on_batch(*data))
    return np.float32(trained), np.float32(tested), model.get_weights()


def train_gan(data, noise, starts, rate=0.25):
    """Trains a GAN: its discriminator is frozen in the combined model.

    Keras 3 reads `trainable` when it traces the first step: set it before each step.
    """
    (size, features), ones = starts[0][0].shape, np.ones([data.shape[1], 1], "f")
    generator = keras.Sequential(
        [keras.Input([size]), keras.layers.Dense(features, "tanh")]
    )
    discriminator = network(starts[1], "binary_crossentropy", rate=rate)
    gan = keras.Sequential([generator, discriminator])
    gan.compile(keras.optimizers.SGD(rate), "binary_crossentropy")
    generator.set_weights(starts[0])

    def step(model, x, y):
        discriminator.trainable = model is discriminator
        model.reset_metrics()
        return model.train_on_batch(x, y)

    losses = []
    for real, z in zip(data, noise):
        made = generator.predict(z, verbose=0)
        losses.append(
            [
                step(discriminator, real, ones),
                step(discriminator, made, 0 * ones),
                step(gan, z, ones),
            ]
        )
    weights = generator.get_weights(), discriminator.get_weights()
    return (np.float32(losses), *weights)


NAMES = {
    "accuracy": "acc",
    "mae": "mean_absolute_error",
    "mse": "mean_squared_error",
}
"""{short name: name that TensorFlow 1 wrote into the history} of metrics."""


def old_name(metric):
    """Returns a metric's name in TensorFlow 1: `NAMES`, or its class in snake case."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", metric).lower()
    return NAMES.get(metric, words)


def evaluate(data, start, batch_size, metrics):
    """Evaluates a model; returns names and values of its loss and metrics."""
    stateful = keras.metrics
    made = [
        getattr(stateful, m)(name=old_name(m)) if m[0].isupper() else old_name(m)
        for m in metrics
    ]
    model = network(start, "binary_crossentropy", made)
    values = model.evaluate(*data, batch_size=batch_size, verbose=0, return_dict=True)
    names = ["loss", *map(old_name, metrics)]
    return names, [np.float32(values[name]) for name in names]


def predict_classes(x, start, batch_size):
    """Predicts classes and probabilities with a `Sequential` model."""
    model = network(start, "mse")
    found = model.predict(x, batch_size=batch_size, verbose=0)
    if found.shape[-1] > 1:
        return found.argmax(axis=-1), found
    return (found > 0.5).astype("int32"), found


def binary_loss(targets, outputs, from_logits=False, label_smoothing=0, sigmoid=False):
    """Computes the binary cross-entropy of probabilities or logits for each row.

    Keras 3 clips the probabilities as TensorFlow 1 did, but adds no epsilon to them. If
    the outputs are `tf.sigmoid(logits)`, TensorFlow 1's graph used the logits. Keras 3
    uses them in a `tf.function`, and the clipped probabilities if the sigmoid ran
    eagerly.
    """
    targets = tf.cast(targets, outputs.dtype)
    if label_smoothing:
        targets = targets * (1 - label_smoothing) + 0.5 * label_smoothing
    if from_logits or sigmoid:
        losses = tf.nn.sigmoid_cross_entropy_with_logits(targets, outputs)
        return tf.reduce_mean(losses, axis=-1)
    epsilon = tf.constant(keras.backend.epsilon(), outputs.dtype)
    outputs = tf.clip_by_value(outputs, epsilon, 1 - epsilon)
    losses = targets * tf.math.log(outputs + epsilon)
    losses += (1 - targets) * tf.math.log(1 - outputs + epsilon)
    return tf.reduce_mean(-losses, axis=-1)


def stop_early(data, start, validation, epochs, rate=0.25, **stopping):
    """Stops training early on the validation loss, and restores the best weights.

    `EarlyStopping` of Keras 3 also restores the best weights if the epochs end before
    the patience does.
    """
    model = network(start, rate=rate)
    callback = EarlyStopping(monitor="val_loss", restore_best_weights=True, **stopping)
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
    """Saves the weights after each epoch with a new best validation accuracy."""
    with tempfile.TemporaryDirectory() as folder:
        model = network(start, metrics=["acc"], rate=rate)
        callback = keras.callbacks.ModelCheckpoint(
            os.path.join(folder, "{epoch:02d}.weights.h5"),
            monitor="val_acc",
            mode="max",
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
        epochs = sorted(int(name.partition(".")[0]) for name in os.listdir(folder))
        model.load_weights(os.path.join(folder, f"{epochs[-1]:02d}.weights.h5"))
        return epochs, model.get_weights()


def log_batches(data, start, epochs, batch_size):
    """Records the loss and the size of each batch with a callback.

    In Keras 3 the `loss` in the logs of a batch is the mean of the epoch so far.
    """
    model = network(start, model=TellsBatches)
    log = BatchLog()
    model.fit(
        *data,
        batch_size=batch_size,
        epochs=epochs,
        shuffle=False,
        callbacks=[log],
        verbose=0,
    )
    rows = len(data[0])
    sizes = [min(batch_size, rows - i) for i in range(0, rows, batch_size)] * epochs
    return np.float32(log.losses), sizes, np.float32(log.epochs)


def f1(y_true, y_pred):
    """Computes the F1 score of a batch."""
    epsilon = keras.backend.epsilon()
    found = tf.reduce_sum(y_true * tf.round(y_pred))
    precision = found / (tf.reduce_sum(tf.round(y_pred)) + epsilon)
    recall = found / (tf.reduce_sum(y_true) + epsilon)
    return 2 * precision * recall / (precision + recall + epsilon)


def own_metric(data, start, batch_size):
    """Evaluates a function as a metric: the mean over batches, not weighted by size."""
    model = network(start, "binary_crossentropy", [f1])
    values = model.evaluate(*data, batch_size=batch_size, verbose=0, return_dict=True)
    names = ["loss", "f1"]
    return names, [np.float32(values[name]) for name in names]
