"""Files of Keras 3: saved, loaded and described as those of Keras 2 were."""

import pickle

import h5py
import numpy as np
import tensorflow as tf

from tf1to2.tests.raisers.models import told
from tf1to2.tests.raisers.saved import in_folder, keras

layers = tf.keras.layers
LAYERS = [{"class_name": "Dense", "config": {"units": 3}}]
load_model = tf.keras.models.load_model


def deserialize(**config):
    return lambda: layers.deserialize(config)


class Double(layers.Layer):
    def call(self, rows):
        return 2 * rows


class Halved(tf.keras.Model):
    def __init__(self, units):
        super().__init__()

    def get_config(self):
        return {"size": 3}


class Unset(tf.keras.regularizers.Regularizer):
    def __call__(self, weights):
        return tf.reduce_sum(weights)


class Plain:
    def __call__(self, weights):
        return tf.reduce_sum(weights)


def load_unknown(path):
    keras(Double()).save(path + ".h5")
    load_model(path + ".h5")


def load_reversed(path):
    """Loads an optimizer's state whose arrays stand in another order."""
    model = keras()
    model.compile("adam", tf.keras.losses.MeanSquaredError())
    model.fit(np.ones([4, 2]), np.ones([4, 1]), verbose=0)
    model.save(path)
    with h5py.File(path, "a") as file:
        kept = file["optimizer_weights"].attrs
        kept["weight_names"] = kept["weight_names"][::-1]
    load_model(path)


def load_without_config(path):
    h5py.File(path + ".h5", "w").close()
    load_model(path + ".h5")


def load_without_bias(**options):
    """A function that loads a layer with a bias into one without."""

    def load(path):
        keras(layers.Dense(1, name="fc")).save(path + ".h5")
        bare = keras(layers.Dense(1, name="fc", use_bias=False))
        bare.load_weights(path + ".h5", **options)

    return in_folder(load)


def load_other_size(path):
    keras(layers.Dense(1)).save(path + ".h5")
    keras(layers.Dense(3)).load_weights(path + ".h5")


def open_text(path):
    tf.io.write_file(path, "version https://git-lfs" * 99)
    h5py.File(path, "r")


def load_unbuilt(path):
    keras().save_weights(path + ".weights.h5")
    tf.keras.Sequential([layers.Dense(1)]).load_weights(path + ".weights.h5")


def load_reshaped(path):
    keras().save_weights(path + ".weights.h5")
    keras().load_weights(path + ".weights.h5", reshape=True)


def save_penalized(penalty):
    def save(path):
        keras(layers.Dense(1, kernel_regularizer=penalty)).save(path + ".keras")

    return in_folder(save)


class OfNobody(layers.Layer):
    def call(self, rows):
        return rows

    def get_config(self):
        return {**super().get_config(), "by": object()}


ERRORS = {
    "cannot pickle": lambda: pickle.dumps(tf.Graph()),
    "Could not locate function": deserialize(
        class_name="function", module="builtins", config="nobody"
    ),
    "Error in loading the saved": told(load_reversed),
    "Unknown …: '…'. Please": in_folder(load_unknown),
    "argument(s) are not supported": in_folder(
        lambda path: keras().save(path + ".keras", signatures=None)
    ),
    "load_model() got": lambda: load_model("model.keras", options=None),
    "argument 'save_format'": in_folder(
        lambda path: keras().save_weights(path, save_format="h5")
    ),
    "File not found": in_folder(lambda path: load_model(path + ".keras")),
    "No model config": in_folder(load_without_config),
    "in the save file). Layer": load_without_bias(),
    "(named …). Layer expects": load_without_bias(by_name=True),
    "Shape mismatch in layer #": in_folder(load_other_size),
    "(file signature not found": in_folder(open_text),
    "You are loading weights": in_folder(load_unbuilt),
    "Invalid keyword arguments": in_folder(load_reshaped),
    "Unable to revive": lambda: Halved.from_config(Halved(1).get_config()),
    "Cannot register a class": lambda: tf.keras.utils.register_keras_serializable()(
        type("Plain", (), {})
    ),
    "Cannot serialize object": save_penalized(Plain()),
    "does not implement get_config": save_penalized(Unset()),
    "to JSON. Unrecognized": in_folder(
        lambda path: keras(OfNobody()).save(path + ".h5")
    ),
    "A Sequential model configuration": lambda: tf.keras.Sequential.from_config(LAYERS),
    "expects a dictionary, not a list": in_folder(
        lambda path: load_listed(path + ".h5")
    ),
    "a dict for Sequential": deserialize(
        class_name="Sequential", module="keras", config=LAYERS
    ),
    "of the target variable": lambda: keras().weights[0].assign(np.ones([2])),
    "Paths are no longer": lambda: tf.keras.utils.get_file("/a/b.csv", "file:///b.csv"),
}


def load_listed(path):
    """Loads a file whose configuration is a list, as that of a Sequential was."""
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = '[{"class_name": "Dense"}]'
    load_model(path)
