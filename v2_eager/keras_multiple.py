"""`multi_gpu_model`, `model_to_estimator` → `tf.distribute.MirroredStrategy`."""

import math
import os
import tempfile

import numpy as np
import tensorflow as tf

from v2_eager.estimators import refuse_zero, steps_to_take
from v2_eager.keras_training.callbacks import NanGuard
from v2_eager.parallel import mirrored

__all__ = [
    "fit_on_towers",
    "predict_on_towers",
    "save_the_template",
    "normalize_on_towers",
    "fit_mirrored",
    "evaluate_mirrored",
    "own_loop",
    "normalize_mirrored",
    "normalize_in_sync",
    "train_estimator",
    "evaluate_estimator",
    "predict_by_estimator",
]

keras = tf.keras
register = keras.utils.register_keras_serializable("tensorflow_1")


def network(start, model=keras.Sequential):
    """Makes a network of two dense layers, with the weights `start`.

    In the scope of a strategy, each device has a copy of it.
    """
    (features, hidden), classes = start[0].shape, start[3].shape[0]
    layers = [
        keras.layers.Dense(hidden, "relu"),
        keras.layers.Dense(classes, "softmax"),
    ]
    model = model([keras.Input([features]), *layers])
    model.set_weights(start)
    return model


def normalizer(weights, synchronized=False):
    """Makes a batch norm and a dense layer of one unit, with the given weights."""
    normalize = keras.layers.BatchNormalization(momentum=0.9, synchronized=synchronized)
    unit = keras.layers.Dense(1)
    model = keras.Sequential([keras.Input(weights[0].shape), normalize, unit])
    model.set_weights(weights)
    return model


def compiled(model, rate=0.25, loss="sparse_categorical_crossentropy", metrics=()):
    optimizer = keras.optimizers.SGD(rate, momentum=0.5)
    model.compile(optimizer=optimizer, loss=loss, metrics=list(metrics))
    return model


def told(history):
    """Converts the history of `fit` to {key: float32 array, one number per epoch}."""
    return {key: np.float32(values) for key, values in history.history.items()}


@register
class TellsMean(keras.Sequential):
    """A Sequential model that also logs the mean loss over batches as `mean_loss`.

    Within a strategy it is also the mean over devices. The `loss` of Keras 3 is the
    mean over rows.

    Args:
        layers: list of layers, as for `keras.Sequential`.
        name: str, the name of the model.
    """

    def __init__(self, layers=None, name=None):
        super().__init__(layers, name=name)
        self.mean = keras.metrics.Mean(name="mean_loss")

    def compute_loss(
        self, x=None, y=None, y_pred=None, sample_weight=None, training=True
    ):
        loss = super().compute_loss(x, y, y_pred, sample_weight, training)
        replicas = tf.distribute.get_strategy().num_replicas_in_sync
        self.mean.update_state(loss * replicas)  # Keras divided by this number
        return loss


@register
class SharedByRows(keras.Sequential):
    """A Sequential model whose loss is the mean over the rows of the whole batch.

    The loss of Keras 3 is the mean over the devices of the means over their rows, and
    it logs another mean. This model logs the mean over all rows as `mean_loss`.

    Args:
        layers: list of layers, as for `keras.Sequential`.
        name: str, the name of the model.
    """

    def __init__(self, layers=None, name=None):
        super().__init__(layers, name=name)
        self.mean = keras.metrics.Mean(name="mean_loss")

    def compute_loss(
        self, x=None, y=None, y_pred=None, sample_weight=None, training=True
    ):
        loss = super().compute_loss(x, y, y_pred, sample_weight, training)
        context = tf.distribute.get_replica_context()
        if context is None:  # Keras infers shapes before training
            return loss
        rows = tf.cast(tf.shape(y)[0], loss.dtype)
        loss *= context.num_replicas_in_sync  # Keras divided by this number
        self.mean.update_state(loss, sample_weight=rows)
        return loss * rows / context.all_reduce("SUM", rows)


def fit_on_towers(data, start, epochs, batch_size):
    """Fits a model on two devices that share each batch."""
    # --- build
    with mirrored().scope():
        model = compiled(network(start, SharedByRows))
    # --- fit
    options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
    history = model.fit(*data, shuffle=False, **options)
    return {"loss": told(history)["mean_loss"]}, model.get_weights()


def predict_on_towers(x, start, batch_size):
    """Predicts on two devices that share each batch."""
    # --- build
    with mirrored().scope():
        model = network(start)
    # --- predict
    return model.predict(x, batch_size=batch_size, verbose=0)


def save_the_template(data, start, epochs, batch_size):
    """Fits on two devices, saves the weights, and loads them on one device.

    There is no template model: save the model that was fitted.
    """
    # --- build
    with tempfile.TemporaryDirectory() as folder:
        with mirrored().scope():
            model = compiled(network(start, SharedByRows))
        # --- fit
        options = {"batch_size": batch_size, "epochs": epochs, "verbose": 0}
        model.fit(*data, shuffle=False, **options)
        # --- save
        path = os.path.join(folder, "model.weights.h5")
        model.save_weights(path)
        # --- load
        single = network([np.zeros_like(array) for array in start])
        single.load_weights(path)
        return single.predict(data[0], verbose=0), len(model.layers)


def normalize_on_towers(data, weights, steps):
    """Trains batch normalization on two devices, each with its own batch statistics."""
    # --- build
    with mirrored().scope():
        model = compiled(normalizer(weights), 0.0625, "mse")
    # --- fit
    options = {"batch_size": len(data[0]), "epochs": steps, "verbose": 0}
    history = model.fit(*data, shuffle=False, **options)
    gamma, beta, _, _, kernel, bias = model.get_weights()
    return told(history)["loss"], [gamma, beta, kernel, bias]


def fit_mirrored(data, start, epochs, batch_size):
    """Fits a model with `MirroredStrategy`: one copy of the model on each device.

    Keras 3 ends an epoch with the remaining rows as a smaller batch. Repeat the dataset
    before it is batched, so that a batch continues with the first rows.
    """
    # --- build
    with mirrored().scope():
        model = compiled(network(start, TellsMean), metrics=["acc"])
    # --- fit
    dataset = tf.data.Dataset.from_tensor_slices(data).repeat(epochs).batch(batch_size)
    steps = math.ceil(len(data[0]) / batch_size)
    options = {"steps_per_epoch": steps, "epochs": epochs, "verbose": 0}
    found = told(model.fit(dataset, shuffle=False, **options))
    return {"loss": found["mean_loss"], "acc": found["acc"]}, model.get_weights()


def evaluate_mirrored(data, start, batch_size):
    """Evaluates a model on two devices, then predicts.

    Keras 3 accepts any number of rows.
    """
    # --- build
    with mirrored().scope():
        model = compiled(network(start), metrics=["acc"])
    # --- evaluate
    scores = model.evaluate(*data, batch_size=batch_size, verbose=0)
    found = model.predict(data[0], batch_size=batch_size, verbose=0)
    return np.float32(scores), found


def own_loop(data, start, batch_size, reduction="sum"):
    """Trains in a custom loop on two devices; divides losses by the global batch size.

    Raises:
        ValueError: another reduction. Keras 3 itself does not raise: it divides the
            loss by the rows of a device, then by the number of devices.
    """
    if reduction not in ("sum", "none"):
        raise ValueError(
            f"reduction must be 'sum' or 'none' in a custom loop, not {reduction!r}"
        )
    # --- build
    strategy = mirrored()
    with strategy.scope():
        model = network(start)
        optimizer = keras.optimizers.SGD(0.25)
        loss_of = keras.losses.SparseCategoricalCrossentropy(reduction=reduction)
        optimizer.build(model.trainable_weights)
    dataset = tf.data.Dataset.from_tensor_slices(data).batch(batch_size)
    batches = strategy.experimental_distribute_dataset(dataset)
    weights = [weight.value for weight in model.trainable_weights]

    # --- step
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(loss_of(y, model(x))) / batch_size
        gradients = tape.gradient(loss, weights)
        optimizer.apply(gradients, model.trainable_weights)
        return loss

    @tf.function
    def train_batch(x, y):
        return strategy.reduce("SUM", strategy.run(step, (x, y)), axis=None)

    # --- train
    found = [train_batch(*batch) for batch in batches]
    return np.float32(found), model.get_weights()


def share_statistics(model, strategy):
    """Averages the moving statistics over devices, and assigns the means to each."""
    for weight in model.non_trainable_weights:
        copies = strategy.experimental_local_results(weight.value)
        weight.assign(tf.reduce_mean([copy.numpy() for copy in copies], axis=0))


def normalize_mirrored(data, weights, steps, batch_size):
    """Trains batch norm with `MirroredStrategy`: each device has its own statistics.

    In Keras 3 each device keeps moving averages of its own rows, and only the averages
    of the first device are saved. Moving averages are linear, so their mean at the end
    equals TensorFlow 1's mean at each step.
    """
    # --- build
    strategy = mirrored()
    with strategy.scope():
        model = compiled(normalizer(weights), 0.0625, "mse")
    # --- fit
    options = {"batch_size": batch_size, "epochs": steps, "verbose": 0}
    history = model.fit(*data, shuffle=False, **options)
    share_statistics(model, strategy)
    return told(history)["loss"], model.get_weights()


def normalize_in_sync(data, weights, steps, batch_size):
    """Trains batch normalization with the statistics of the global batch."""
    # --- build
    with mirrored().scope():
        model = compiled(normalizer(weights, synchronized=True), 0.0625, "mse")
    # --- fit
    options = {"batch_size": batch_size, "epochs": steps, "verbose": 0}
    history = model.fit(*data, shuffle=False, **options)
    return told(history)["loss"], model.get_weights()


def batches(data, batch_size, repeat=False):
    """Makes a dataset of batches of the rows, repeated or not."""
    dataset = tf.data.Dataset.from_tensor_slices(data).batch(batch_size)
    return dataset.repeat() if repeat else dataset


def train(model, data, batch_size, steps=None, max_steps=None):
    """Trains for a number of steps, from the first row; keeps the optimizer's slots.

    Raises:
        ValueError: `steps` or `max_steps` is not above 0, or both or neither are given.
        FloatingPointError: a loss is NaN. Every function that trains like an estimator
            raises it.
    """
    count = steps_to_take(int(model.optimizer.iterations), steps, max_steps)
    if not count:  # with 0 steps, `fit` would never end
        return
    dataset = batches(data, batch_size, repeat=True)
    model.fit(
        dataset,
        steps_per_epoch=count,
        shuffle=False,
        verbose=0,
        callbacks=[NanGuard()],
    )


def train_estimator(data, start, batch_size, runs):
    """Trains in one or more runs; each run continues where the last one ended.

    The model holds the weights, slots and step. It is trained itself, not a copy.
    """
    # --- build
    model = compiled(network(start))
    untrained, steps = model.get_weights(), []
    # --- train
    for run in runs:
        train(model, data, batch_size, **run)
        steps.append(int(model.optimizer.iterations))
    return model.get_weights(), untrained, steps


def evaluate_estimator(data, eval_data, start, batch_size, steps, eval_steps=None):
    """Trains a model, then evaluates it on other rows.

    Without rows, loss and accuracy are 0, as in TensorFlow 1.
    """
    # --- build
    model = compiled(network(start, TellsMean), metrics=["acc"])
    # --- train
    train(model, data, batch_size, steps)
    # --- evaluate
    dataset, found = batches(eval_data, batch_size), {"mean_loss": 0, "acc": 0}
    if eval_steps is not None:
        refuse_zero("steps", eval_steps)
    if len(dataset):  # without rows, Keras warns and returns nothing
        found = model.evaluate(dataset, steps=eval_steps, verbose=0, return_dict=True)
    return {
        "loss": np.float32(found["mean_loss"]),
        "acc": np.float32(found["acc"]),
        "global_step": int(model.optimizer.iterations),
    }


def predict_by_estimator(data, x, start, batch_size, steps):
    """Trains a model, then predicts the output of each row."""
    # --- build
    model = compiled(network(start))
    # --- train
    train(model, data, batch_size, steps)
    # --- predict
    return model.predict(x, batch_size=batch_size, verbose=0)
