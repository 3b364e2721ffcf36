"""Calls, trains, saves and loads a layer or model under test in several ways.

A class is called in one of the ways of `WAYS`, and a model's config contains the way's
name; or as "cell", in a `keras.layers.RNN`; or "masked", on an `Embedding`'s outputs.
"""

import contextlib
import os
import tempfile

import keras
import numpy as np
import tensorflow as tf

from tf1to2.parity.distance import distance

register = keras.saving.register_keras_serializable("hazards")


def is_float(array):
    return np.issubdtype(tf.as_dtype(array.dtype).as_numpy_dtype, np.floating)


def name_of(array):
    """Returns the name of an array's dtype; "string" for texts."""
    return tf.as_dtype(array.dtype).name


def cast(arrays, dtype):
    """Casts the float arrays to a dtype, and leaves other arrays unchanged."""
    return [a.astype(dtype) if is_float(a) else a for a in arrays]


def apart(layer, inputs):
    return layer(*inputs)


def together(layer, inputs):
    return layer(list(inputs))


def by_name(layer, inputs):
    """Calls a model with a dict of inputs: `x` and `lengths`."""
    return layer(dict(zip(("x", "lengths"), inputs, strict=True)))


def after_another(layer, inputs):
    """Calls a layer that shares another layer's weight, after that layer."""
    return layer(layer.tied_to(*inputs))


WAYS = {w.__name__: w for w in (apart, together, by_name, after_another)}


def joined(tensors):
    """Flattens and concatenates a structure of tensors to [rows, …]; drops scalars."""
    found = [y for y in keras.tree.flatten(tensors) if y.shape.rank]
    rows = tf.shape(found[0])[0]
    return tf.concat(
        [tf.reshape(y, [rows, int(np.prod(y.shape[1:]))]) for y in found], axis=1
    )


@register
class Joined(keras.layers.Layer):
    """`joined` as a layer of a functional model."""

    def __init__(self, **options):
        super().__init__(**options)
        self.supports_masking = True

    def call(self, inputs):
        return joined(inputs)

    def compute_mask(self, inputs, mask=None):
        return None


@register
class Within(keras.layers.Layer):
    """Calls an inner layer, and joins its outputs; it has no `build`.

    Args:
        inner: the layer.
        way: a key of `WAYS`.
        first: a layer that reads each of the inputs before, or None.
    """

    def __init__(self, inner, way, first=None, **options):
        super().__init__(**options)
        self.inner, self.way, self.first = inner, way, first

    def call(self, inputs):
        if self.first:
            inputs = [self.first(x) for x in inputs]
        return joined(WAYS[self.way](self.inner, inputs))

    def get_config(self):
        save = keras.saving.serialize_keras_object
        own = {"inner": save(self.inner), "first": save(self.first), "way": self.way}
        return {**super().get_config(), **own}

    @classmethod
    def from_config(cls, config):
        load = keras.saving.deserialize_keras_object
        inner, first = load(config["inner"]), load(config["first"])
        return cls(**{**config, "inner": inner, "first": first})


@register
class Nest(keras.Model):
    """A model without `build` that contains the layer under test two levels deep."""

    def __init__(self, within, **options):
        super().__init__(**options)
        self.within = within
        self.head = keras.layers.Dense(2, dtype=self.dtype_policy)

    def call(self, inputs):
        return self.head(self.within(inputs))

    def get_config(self):
        within = keras.saving.serialize_keras_object(self.within)
        return {**super().get_config(), "within": within}

    @classmethod
    def from_config(cls, config):
        within = keras.saving.deserialize_keras_object(config["within"])
        return cls(**{**config, "within": within})


def surrounded(layer, way, dtype):
    """Returns (layer, key of `WAYS`, layer before it or None) for use in models."""
    if way == "cell":
        return (
            keras.layers.RNN(layer, return_sequences=True, dtype=dtype),
            "apart",
            None,
        )
    if way == "masked":
        return (
            layer,
            "together",
            keras.layers.Embedding(6, 3, mask_zero=True, dtype=dtype),
        )
    return layer, way, None


def functional(layer, way, inputs, dtype="float32"):
    """Makes a functional model: the layer under test, then a dense layer."""
    symbols = [
        keras.Input(a.shape[1:], dtype=dtype if is_float(a) else name_of(a))
        for a in inputs
    ]
    layer, way, first = surrounded(layer, way, dtype)
    found = WAYS[way](layer, [first(x) for x in symbols] if first else symbols)
    joined = Joined(dtype=dtype)([y for y in keras.tree.flatten(found) if y.shape])
    return keras.Model(symbols, keras.layers.Dense(2, dtype=dtype)(joined))


def nested(layer, way, inputs, dtype="float32"):
    """Makes a `Nest` around the layer under test, and calls it once."""
    layer, way, first = surrounded(layer, way, dtype)
    model = Nest(Within(layer, way, first, dtype=dtype), dtype=dtype)
    model([tf.constant(a) for a in cast(inputs, dtype)])
    return model


def fill(model):
    """Assigns distinct positive values to all float weights."""
    draw = np.random.default_rng(5)
    for weight in model.weights:
        if is_float(weight):
            weight.assign(draw.uniform(0.25, 0.75, weight.shape))
    return model


def trained(model, inputs, steps=1):
    """Takes eager SGD steps with momentum; compiles the model first if needed."""
    if not model.compiled:
        optimizer = keras.optimizers.SGD(0.125, momentum=0.5)
        model.compile(optimizer, "mse", run_eagerly=True)
    targets = np.linspace(-1, 1, 2 * len(inputs[0])).reshape(-1, 2).astype("f")
    for _ in range(steps):
        tf.random.set_seed(7)  # dropout and samplers draw with it
        model.train_on_batch([tf.constant(a) for a in inputs], targets)
    return model


def descended(model, inputs):
    """Takes a step with a tape on outputs plus added losses, in their dtype.

    `fit` casts a loss of `compile` to the default dtype, and cannot add a layer's
    losses of another dtype.
    """
    with tf.GradientTape() as tape:
        found = model([tf.constant(a) for a in inputs], training=True)
        loss = tf.add_n([tf.reduce_mean(found**2), *map(tf.squeeze, model.losses)])
    optimizer = keras.optimizers.SGD(0.125)
    weights = model.trainable_weights
    optimizer.apply(tape.gradient(loss, weights), weights)


def outputs(model, inputs, training=False):
    """Returns the model's outputs as arrays."""
    tf.random.set_seed(7)
    found = model([tf.constant(a) for a in inputs], training=training)
    return [y.numpy() for y in tf.nest.flatten(found)]


def values(model):
    """Returns all weights as arrays."""
    return [np.array(weight) for weight in model.weights]


def assert_same(found, expected):
    """Asserts that two lists of arrays are equal bit for bit."""
    assert len(found) == len(expected), f"{len(found)} arrays, {len(expected)} expected"
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


def assert_near(found, expected, most=2**-20):
    """Asserts that arrays differ at most by `most` of their largest value."""
    assert len(found) == len(expected), f"{len(found)} arrays, {len(expected)} expected"
    for a, b in zip(found, expected, strict=True):
        a, b = (np.asarray(x, np.float64) for x in (a, b))
        assert a.shape == b.shape, f"shape {a.shape}, {b.shape} expected"
        _, apart = distance(b, a)
        assert apart <= most, f"arrays differ by {apart} of the largest value: {a}, {b}"


def saved_and_loaded(model):
    """Saves a model to a `.keras` file, and loads it without `custom_objects`."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        model.save(path)
        loaded = keras.saving.load_model(path)
    if model.compiled:
        loaded.run_eagerly = model.run_eagerly  # files do not contain this
    return loaded


def by_weights_file(model, fresh):
    """Copies a model's weights to a fresh model with a `.weights.h5` file."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.weights.h5")
        model.save_weights(path)
        fresh.load_weights(path)
    return fresh


def by_checkpoint(model, fresh):
    """Copies a model's weights to a fresh model with `tf.train.Checkpoint`."""
    with tempfile.TemporaryDirectory() as folder:
        path = tf.train.Checkpoint(model=model).write(os.path.join(folder, "model"))
        status = tf.train.Checkpoint(model=fresh).read(path)
        status.assert_consumed().assert_existing_objects_matched()
    return fresh


def served(model, inputs):
    """Exports a model, and returns its outputs as a server computes them."""
    with tempfile.TemporaryDirectory() as folder:
        model.export(folder, verbose=False)
        loaded = tf.saved_model.load(folder)
        found = loaded.serve([tf.constant(a) for a in inputs])
    return [y.numpy() for y in tf.nest.flatten(found)]


@contextlib.contextmanager
def floatx(dtype):
    """Sets Keras' default dtype inside a `with` block."""
    before = keras.config.floatx()
    keras.config.set_floatx(dtype)
    try:
        yield
    finally:
        keras.config.set_floatx(before)
