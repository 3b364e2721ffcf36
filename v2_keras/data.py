"""`feed_dict`, `make_one_shot_iterator`, `get_next` → loops over `tf.data`."""

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from v2_keras.basics import Losses
from v2_keras.optimizers import squares

__all__ = [
    "from_placeholder",
    "from_python",
    "from_generator",
    "reinitializable",
    "pipeline",
]


def from_placeholder(feeds, width):
    """Computes scale · x² + 1 of fed arrays, one call per feed.

    An `Input` replaces a placeholder, and a model the graph. Keras orders a dict by its
    names: if a name is not an input, it warns, and may feed the wrong input. It also
    accepts a vector in place of a column.

    Raises:
        ValueError: a feed without `x` or with another name, another width or rank, or
            an array of text.
        TypeError: a list of text.
    """
    # --- build
    x, scale = keras.Input([width], name="x"), keras.Input(batch_shape=[], name="scale")
    model = keras.Model({"x": x, "scale": scale}, scale * ops.square(x) + 1)
    # --- run
    outputs = []
    for feed in feeds:
        feed = {"scale": 1, **feed}
        if feed.keys() != model.input.keys():
            raise ValueError(
                f"feed must have the keys {sorted(model.input)}, not {sorted(feed)}"
            )
        tensors = {k: ops.convert_to_tensor(v, "float32") for k, v in feed.items()}
        for name, tensor in tensors.items():
            if tensor.ndim != model.input[name].ndim:
                raise ValueError(
                    f"{name} must have {model.input[name].ndim} dimensions, but its "
                    f"shape is {tensor.shape}"
                )
        outputs.append(model(tensors).numpy())
    return outputs


def from_python(batches, dtype, count):
    """Computes x² + 1 of batches that a Python function returns, one per call.

    `predict` takes a generator of tuples, but concatenates the outputs, and returns
    fewer if the generator ends early.

    Raises:
        StopIteration: there are no more batches.
        ValueError: a batch has another dtype, which Keras would cast.
    """
    # --- build
    x = keras.Input(batches[0].shape[1:], dtype=dtype)
    model = keras.Model(x, ops.square(x) + 1)
    # --- run
    supply, outputs = iter(batches), []
    for _ in range(count):
        batch = next(supply)
        if batch.dtype != dtype:
            raise ValueError(
                f"a batch is {batch.dtype.name}, but the input is declared as {dtype}"
            )
        outputs.append(model.predict_on_batch(batch))
    return outputs


def from_generator(rows, size, width):
    """Batches rows of different lengths from a generator, padded with zeros.

    By default `pad_sequences` pads in front and returns integers. It cuts off the front
    of rows that are longer than `width`.

    Raises:
        ValueError: a row is not of the length `width`.
    """
    if width is not None and any(len(row) != width for row in rows):
        raise ValueError(
            f"every row must have {width} numbers: pass width=None to pad rows"
        )
    starts = range(0, len(rows), size)
    return [
        keras.utils.pad_sequences(rows[i : i + size], width, "float32", padding="post")
        for i in starts
    ]


@keras.saving.register_keras_serializable("v2_keras")
class Estimate(keras.layers.Layer):
    """Layer with one scalar weight, which it returns in the shape of its input."""

    def build(self, shape):
        self.estimate = self.add_weight(shape=(), initializer="zeros", name="estimate")

    def call(self, x):
        return ops.broadcast_to(self.estimate, ops.shape(x))


@keras.saving.register_keras_serializable("v2_keras")
class SquaredErrors(keras.metrics.Sum):
    """Metric: the sum of squared errors, weighted by `sample_weight`.

    `update_state` takes targets and outputs of one shape, and weights like them or
    None. `keras.metrics.MeanSquaredError` divides by the number of rows.
    """

    def update_state(self, targets, outputs, sample_weight=None):
        super().update_state(ops.square(targets - outputs), sample_weight)


def reinitializable(train, valid, epochs):
    """Alternates between training on one dataset and evaluating on another.

    A learning rate of 1/4 moves half of the way, because the gradient of a square has a
    factor of 2.
    """
    # --- build
    dtype = train.dtype.name
    train, valid = (
        tf.data.Dataset.from_tensor_slices((x, x)).batch(1) for x in (train, valid)
    )
    model = keras.Sequential([keras.Input([], dtype=dtype), Estimate(dtype=dtype)])
    metrics = [SquaredErrors(name="errors", dtype=dtype)]
    model.compile(keras.optimizers.SGD(0.25), squares(dtype), metrics=metrics)
    # --- run
    history = model.fit(
        train, epochs=epochs, validation_data=valid, shuffle=False, verbose=0
    ).history
    errors = history.get("val_errors", [0.0] * epochs)  # Keras omits it without rows
    return model.get_weights()[0], list(np.array(errors, dtype))


def pipeline(x, y, size, epochs, seed, repeat_first=True, rate=0.125):
    """Trains a linear model on cached, repeated, shuffled, mapped and batched data.

    `fit` takes the same dataset; it does not return which rows were in a batch.
    """

    # --- parse
    def parse(features, label):
        return features / 2, label

    # --- data
    tf.random.set_seed(seed)
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).cache()
    if repeat_first:
        dataset = dataset.repeat(epochs).shuffle(5 * size, seed=seed)
    else:
        dataset = dataset.shuffle(5 * size, seed=seed).repeat(epochs)
    dataset = dataset.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.batch(size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    # --- step
    dtype = x.dtype.name
    dense = keras.layers.Dense(
        1, use_bias=False, kernel_initializer="zeros", dtype=dtype
    )
    model = keras.Sequential([keras.Input(x.shape[1:], dtype=dtype), dense])
    model.compile(keras.optimizers.SGD(rate), squares(dtype))
    # --- run
    history = Losses()
    model.fit(dataset, shuffle=False, verbose=0, callbacks=[history])
    losses = np.array(history.losses, x.dtype)
    return {"losses": losses, "weights": model.get_weights()[0][:, 0]}
