"""A model of Keras: the file that it is kept in."""

import os
import tempfile

import tensorflow as tf
from same_weights import same_weights


def keras_files(rows):
    with same_weights(), tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.h5")
        # [in short
        model = tf.keras.Sequential([tf.keras.layers.Dense(4, input_shape=[3])])
        model.save(path)

        model = tf.keras.models.load_model(path)
        values = model.predict(rows)
        # in short]
    return values
