"""SavedModels that are called, or served, by other names and shapes than theirs."""

import numpy as np
import tensorflow as tf
from tensorflow.python.tools import saved_model_cli

from tf1to2.tests.raisers.saved import exported, in_folder, keras, plain


def call_by_another_dtype(path):
    """A function that was called with a row, and with a row and a flag."""
    module = plain()
    module.add(tf.ones([1]))
    module.add(tf.ones([2]))
    tf.saved_model.load(exported(path, module)).add(np.ones([1]))


def run(key, name):
    """As `saved_model_cli run` does, by a key of a signature and an input's name."""

    def ran(path):
        feed = {name: np.ones([1])}
        saved_model_cli.run_saved_model_with_feed_dict(
            exported(path), "serve", key, feed, None, False
        )

    return in_folder(ran)


def classify(path):
    """A signature that parses Examples, given what is none."""
    features = {"x": tf.io.FixedLenFeature([1], tf.float32)}
    spec = tf.TensorSpec([None], tf.string, "inputs")
    module = tf.Module()
    module.classify = tf.function(
        lambda inputs: tf.io.parse_example(inputs, features), input_signature=[spec]
    )
    exported(path, module, signatures=module.classify)
    signatures = tf.saved_model.load(path).signatures
    signatures["serving_default"](inputs=tf.constant(["no Example"]))


def wrap(path):
    keras().export(path, verbose=False)
    tf.keras.layers.TFSMLayer(path, call_endpoint="predict")


ERRORS = {
    "matching concrete function": in_folder(call_by_another_dtype),
    "is not a valid input key": run("serving_default", "inputs"),
    "Could not find signature": run("predict", "x"),
    "The endpoint": in_folder(wrap),
    "Could not parse example": in_folder(classify),
    "'classification_signature_def'": lambda: (
        tf.saved_model.classification_signature_def
    ),
    "'regression_signature_def'": lambda: tf.saved_model.regression_signature_def,
}
