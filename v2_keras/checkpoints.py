"""Checkpoints: a Saver that goes by names → objects that go by attributes, or names."""

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
]


def restore(model, path):
    """Reads a checkpoint of TensorFlow 1 into a model, its optimizer and its step."""
    reader = tf.train.load_checkpoint(path)
    for name, variable in old_names(model).items():
        variable.assign(reader.get_tensor(name))


def load(path, dtype):
    """Loads a compiled model; its loss would be one in float32 from then on.

    The optimizer is handed on as it is: a new one would begin anew.
    """
    model = keras.models.load_model(path)
    model.compile(model.optimizer, squares(dtype))
    return model


def fit(model, x, y, steps):
    """The loss before each of the steps that it takes."""
    history = Losses()
    if steps:
        batches = tf.data.Dataset.from_tensors((x, y)).repeat(steps)
        model.fit(batches, shuffle=False, verbose=0, callbacks=[history])
    return np.array(history.losses, x.dtype)


def train(x, y, weights, steps, files=None, rate=0.125):
    """Trains by Adam, from a checkpoint of TensorFlow 1 if given, and writes another.

    What Keras writes TensorFlow 1 does not read, so that there are no `files`.
    """
    # --- build
    model = line([weights["kernel"], weights["bias"]], adam(rate))
    # --- restore
    if files is not None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "given.ckpt")
            for suffix, content in files.items():
                content.tofile(path + suffix)
            restore(model, path)
    # --- step
    losses = fit(model, x, y, steps)
    return {"losses": losses, "state": named_values(model)}


def stop_and_resume(x, y, weights, stop, steps, rate=0.125):
    """Trains, stops, and goes on in a fresh program from the latest checkpoint.

    A file `.keras` holds the model, the optimizer's slots and its step, but not the
    dtype of the loss.
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
            model.save(path)
    return {"losses": losses, "state": named_values(model)}
