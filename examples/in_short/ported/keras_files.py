"""Saves a Keras model to a file and loads it."""

import os
import tempfile

import keras
from same_weights import same_weights


def keras_files(rows):
    with same_weights(), tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        # [in short
        model = keras.Sequential([keras.Input([3]), keras.layers.Dense(4)])
        model.save(path)  # "model.keras"; for old programs, "model.h5"

        model = keras.saving.load_model(path)  # an old "model.h5", too
        values = model.predict(rows, verbose=0)
        # in short]
    return values
