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
    """Computes scale · x² + 1 of what is fed, one run per feed.

    An `Input` is a placeholder, and a model the function from its inputs to its
    outputs. Keras takes a dict in the order of its names: of a name that is no input it
    warns, and may feed the wrong one. It takes a vector for a column, too.

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
            raise ValueError(f"fed {sorted(feed)}, and not {sorted(model.input)}")
        tensors = {k: ops.convert_to_tensor(v, "float32") for k, v in feed.items()}
        for name, tensor in tensors.items():
            if tensor.ndim != model.input[name].ndim:
                raise ValueError(f"{name} of another rank: {tensor.shape}")
        outputs.append(model(tensors).numpy())
    return outputs


def from_python(batches, dtype, count):
    """Computes x² + 1 of batches that a Python function hands out, one per run.

    `predict` takes a generator of tuples, but joins what comes out, and goes on with
    less where it ends early.

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
            raise ValueError(f"a batch of {batch.dtype.name}, declared as {dtype}")
        outputs.append(model.predict_on_batch(batch))
    return outputs


def from_generator(rows, size, width):
    """Batches rows of several lengths that a generator yields, padded with zeros.

    By default `pad_sequences` puts zeros in front and makes integers. It cuts off the
    front of what is longer than `width`.

    Raises:
        ValueError: a row is not of the length `width`.
    """
    if width is not None and any(len(row) != width for row in rows):
        raise ValueError(f"every row must have {width} numbers; width=None pads them")
    starts = range(0, len(rows), size)
    return [
        keras.utils.pad_sequences(rows[i : i + size], width, "float32", padding="post")
        for i in starts
    ]


@keras.saving.register_keras_serializable("v2_keras")
class Estimate(keras.layers.Layer):
    """Returns one trained number, the weight `estimate`, in the shape of its input."""

    def build(self, shape):
        self.estimate = self.add_weight(shape=(), initializer="zeros", name="estimate")

    def call(self, x):
        return ops.broadcast_to(self.estimate, ops.shape(x))


@keras.saving.register_keras_serializable("v2_keras")
class SquaredErrors(keras.metrics.Sum):
    """The sum of all squared errors, each times its weight.

    `update_state` takes targets and outputs of one shape, and weights like them or
    None. `keras.metrics.MeanSquaredError` divides by the number of rows.
    """

    def update_state(self, targets, outputs, sample_weight=None):
        super().update_state(ops.square(targets - outputs), sample_weight)


def reinitializable(train, valid, epochs):
    """Trains on one dataset and evaluates on another with the same graph, in turn.

    A rate of a quarter goes half of the way: the gradient of a square has a 2 in it.
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
    errors = history.get("val_errors", [0.0] * epochs)  # of no rows it has none
    return model.get_weights()[0], list(np.array(errors, dtype))


def pipeline(x, y, size, epochs, seed, repeat_first=True, rate=0.125):
    """Trains a linear model on cached, repeated, shuffled, mapped and batched data.

    `fit` takes the dataset as it is; it does not return which rows a batch had.
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
