"""`tf.train.Saver`, `init_from_checkpoint` → `tf.train.Checkpoint`, also by names."""

import os
import tempfile

import keras
import numpy as np
import tensorflow as tf

from v2_keras.basics import Losses
from v2_keras.optimizers import adam, line, named_values, old_names, squares

__all__ = [
    "train",
    "stop_and_resume",
    "load_arrays",
]


def restore(path, variables):
    """Restores variables from a TensorFlow 1 checkpoint, by their names in it.

    All values are read and checked before the first assignment, because `assign` casts.

    Args:
        path: prefix of a checkpoint, such as "model.ckpt-1000".
        variables: {name in the checkpoint: `keras.Variable`}; see `old_names`.

    Raises:
        tf.errors.NotFoundError: the checkpoint lacks a variable.
        ValueError: a variable has another dtype or shape in the checkpoint.
    """
    reader = tf.train.load_checkpoint(path)
    values = {name: reader.get_tensor(name) for name in variables}
    for name, value in values.items():
        pair = value, variables[name].numpy()
        found, wanted = (f"{array.dtype} {array.shape}" for array in pair)
        if found != wanted:
            raise ValueError(f"{name} is {found} in the checkpoint, not {wanted}")
    for name, value in values.items():
        variables[name].assign(value)


def save(model, path):
    """Saves a model to a new file, and then replaces the old file in one operation."""
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path) or ".") as folder:
        new = os.path.join(folder, os.path.basename(path))
        model.save(new)
        os.replace(new, path)


def load(path, dtype):
    """Loads a compiled model and sets the dtype of its loss, which Keras does not save.

    It keeps the loaded optimizer: a new one would have empty slots and step 0.
    """
    model = keras.models.load_model(path)
    model.compile(model.optimizer, squares(dtype))
    return model


def fit(model, x, y, steps):
    """Takes steps and returns the loss before each one."""
    history = Losses()
    if steps:
        batches = tf.data.Dataset.from_tensors((x, y)).repeat(steps)
        model.fit(batches, shuffle=False, verbose=0, callbacks=[history])
    return np.array(history.losses, x.dtype)


def train(x, y, weights, steps, files=None, rate=0.125):
    """Trains with Adam, from a TensorFlow 1 checkpoint if given, and writes a new one.

    This page writes no checkpoint and returns no `files`: TensorFlow 1 cannot read a
    Keras file.
    """
    # --- build
    model = line([weights["kernel"], weights["bias"]], adam(rate))
    # --- restore
    if files is not None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "given.ckpt")
            for suffix, content in files.items():
                content.tofile(path + suffix)
            restore(path, old_names(model))
    # --- step
    losses = fit(model, x, y, steps)
    return {"losses": losses, "state": named_values(model)}


def stop_and_resume(x, y, weights, stop, steps, rate=0.125):
    """Trains, stops, and resumes in a new program from the latest checkpoint.

    A `.keras` file contains the model, the optimizer's slots and its step, but not the
    dtype of the loss. Only the latest file is kept.
    """
    losses = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        for count in (stop, steps):
            # --- restore
            if os.path.exists(path):
                model = load(path, x.dtype.name)
            else:
                model = line([weights["kernel"], weights["bias"]], adam(rate))
            # --- step
            losses += list(fit(model, x, y, count))
            # --- save
            save(model, path)
    return {"losses": losses, "state": named_values(model)}


def load_arrays(x, pretrained, start, skip=()):
    """Loads pretrained weights from a .npy file, layer by layer, and runs the network.

    `set_weights` takes the arrays in the order of the layer's weights: kernel, bias.
    """
    # --- build
    layers = [
        keras.layers.Dense(len(biases), "relu", name=name, dtype=x.dtype.name)
        for name, (_, biases) in start.items()
    ]
    model = keras.Sequential([keras.Input(x.shape[1:], dtype=x.dtype.name), *layers])
    for name, parts in start.items():
        model.get_layer(name).set_weights(parts)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pretrained.npy")
        np.save(path, pretrained)
        # --- load
        arrays = np.load(path, allow_pickle=True, encoding="latin1").item()
    for name, parts in arrays.items():
        if name not in skip:
            model.get_layer(name).set_weights(parts)
    # --- ask
    old = {"kernel": "weights", "bias": "biases"}
    variables = {
        f"{layer.name}/{old[weight.name]}": weight.numpy()
        for layer in layers
        for weight in layer.weights
    }
    return {"y": model.predict_on_batch(x), "variables": variables}
