"""`compile`, `fit` and callbacks of Keras 3, called as those of TensorFlow 1 were."""

import subprocess
import sys
import tempfile

import numpy as np
import tensorflow as tf

from tf1to2.tests.raisers import logged
from tf1to2.tests.raisers.saved import in_folder, keras

X, Y = np.ones([4, 2], "f"), np.ones([4, 1], "f")


def fit(**options):
    model = keras()
    model.compile("sgd", "mse", metrics=["accuracy"])
    model.fit(X, Y, verbose=0, **options)


def fit_two_outputs():
    x = tf.keras.Input([2])
    model = tf.keras.Model(x, [tf.keras.layers.Dense(1)(x) for _ in "ab"])
    model.compile("sgd", ["mse", "mse"])
    model.fit(X, [Y, Y], class_weight={0: 1.0, 1: 2.0}, verbose=0)


def watch(callback, **options):
    """Fits with a callback that looks for a key that there is not."""

    def watched():
        with tempfile.TemporaryDirectory() as folder:
            if callback is tf.keras.callbacks.ModelCheckpoint:
                options["filepath"] = folder + "/best.keras"
            made = callback(monitor="val_acc", mode="max", **options)
            fit(validation_data=(X, Y), callbacks=[made])

    return logged(watched)


def load_the_template(path):
    template = keras(tf.keras.layers.Dense(2), tf.keras.layers.Dense(1))
    x = tf.keras.Input([2])
    tf.keras.Model(x, template(x)).save(path + ".h5")
    template.load_weights(path + ".h5")


def import_np_utils():
    from keras.utils import np_utils

    return np_utils


def import_tokenizer():
    """In a process of its own: once tf.keras has it, the import may find it."""
    code = [sys.executable, "-c", "import keras.preprocessing.text"]
    done = subprocess.run(code, capture_output=True, text=True)
    if done.returncode:
        raise ModuleNotFoundError(done.stderr)


def call_numpy():
    tf.keras.layers.Lambda(lambda x: np.asarray(x) * 2)(tf.keras.Input([2]))


callbacks = tf.keras.callbacks
ERRORS = {
    "'workers'": lambda: fit(workers=2),
    "'use_multiprocessing'": lambda: fit(use_multiprocessing=True),
    "'sample_weight_mode'": lambda: keras().compile(
        "sgd", "mse", sample_weight_mode="temporal"
    ),
    "Models with a single output": fit_two_outputs,
    "'numpy.ndarray' object has no attribute 'get'": lambda: fit(
        class_weight=np.ones([2])
    ),
    "keyword argument 'period'": lambda: callbacks.ModelCheckpoint("a", period=5),
    "Can save best model": watch(callbacks.ModelCheckpoint, save_best_only=True),
    "Early stopping conditioned": watch(callbacks.EarlyStopping),
    "'TensorBoard' object has no attribute 'sess'": lambda: (
        callbacks.TensorBoard().sess
    ),
    "'TensorBoard' object has no attribute 'writer'": lambda: (
        callbacks.TensorBoard().writer
    ),
    "attribute 'metrics_tensors'": lambda: keras().metrics_tensors,
    "attribute 'targets'": lambda: keras().targets,
    "attribute 'sample_weights'": lambda: keras().sample_weights,
    "attribute '_make_train_function'": lambda: keras()._make_train_function(),
    "Layer count mismatch": in_folder(load_the_template),
    "cannot import name 'np_utils'": import_np_utils,
    "No module named 'keras.preprocessing": import_tokenizer,
    "shape of the Lambda's output": call_numpy,
    "Argument `name`": lambda: tf.keras.layers.Dense(1, name="tower/dense"),
    "must be a KerasTensor": lambda: tf.keras.Input(tensor=tf.ones([1, 2])),
}
