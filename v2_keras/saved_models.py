"""`SavedModelBuilder`, frozen `.pb`, `import_meta_graph` → `tf.saved_model`, TFLite."""

import os
import tempfile

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

from v2_eager.saved_models import described, pack, run_tflite, unpack
from v2_keras.checkpoints import fit, load
from v2_keras.optimizers import squares

__all__ = [
    "export",
    "serve_words",
    "fine_tune",
    "train_on",
    "to_tflite",
]


def make_model(weights, rows=None):
    """Makes a dense layer with these weights, for `rows` rows or any number of rows."""
    features, units = weights["kernel"].shape
    dtype = weights["kernel"].dtype.name
    x = keras.Input(batch_shape=[rows, features], dtype=dtype, name="x")
    dense = layers.Dense(units, "relu", dtype=dtype, name="dense")
    model = keras.Model(x, dense(x))
    model.set_weights([weights["kernel"], weights["bias"]])
    return model


def old_names(model):
    """Maps names in TensorFlow 1 to variables; scope and layer have the same name."""
    return {variable.path: variable for variable in model.weights}


def export(x, weights, files=False):
    """Saves a model with a signature, loads it as a server does, and runs it.

    `model.save` saves the model for Keras; `model.export` writes a SavedModel for
    servers. The `files` are those of `model.export`.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        # --- save
        model = make_model(weights)
        named = {"y": model.output}  # the name that servers see
        keras.Model(model.input, named).export(path, verbose=False)
        # --- load
        loaded = tf.saved_model.load(path)
        signature = loaded.signatures["serving_default"]
        # --- inspect
        inputs = signature.structured_input_signature[1]
        tensors = {**inputs, **signature.structured_outputs}
        answer = {"signature": [described(n, tensors[n]) for n in ("x", "y")]}
        answer["variables"] = {
            v.name.split(":")[0]: v.numpy() for v in loaded.variables
        }
        # --- run
        answer["y"] = signature(x=tf.constant(x))["y"].numpy()
        return {**answer, "files": pack(path)} if files else answer


def serve_words(words, vocabulary, vectors, files=False):
    """Saves a lookup table with its vocabulary and two signatures, and runs both.

    `StringLookup` gives out-of-vocabulary words the id 0. A word "[UNK]" at the front
    of the vocabulary would be out-of-vocabulary: set another `oov_token`. The words are
    in the graph, not in a file of their own.
    """
    # --- build
    inputs = keras.Input([], dtype="string", name="words")
    # A word that equals the token is out-of-vocabulary; "\0" occurs in no text.
    lookup = layers.StringLookup(vocabulary=vocabulary, oov_token="\0")
    ids = ops.maximum(lookup(inputs) - 1, 0)
    embedding = layers.Embedding(*vectors.shape, dtype=vectors.dtype.name)
    outputs = {"ids": ids, "vectors": embedding(ids)}
    embedding.set_weights([vectors])
    with tempfile.TemporaryDirectory() as path:
        # --- save
        archive = keras.export.ExportArchive()
        for name, output in outputs.items():
            add_endpoint(archive, name, keras.Model(inputs, {"answer": output}))
        archive.write_out(path, verbose=False)
        # --- load
        signatures = tf.saved_model.load(path).signatures
        # --- run
        answer = {
            name: signatures[name](words=tf.constant(words))["answer"].numpy()
            for name in outputs
        }
        return {**answer, "files": pack(path)} if files else answer


def add_endpoint(archive, name, model):
    spec = tf.TensorSpec([None], tf.string, name="words")
    archive.track(model)
    archive.add_endpoint(name, lambda words: model(words), [spec])


def fine_tune(files, x, y, steps, rate=0.125):
    """Trains a SavedModel of TensorFlow 1 without the code that made it.

    The layers are written again in Keras. The weights come from the SavedModel's
    checkpoint, whose keys are the old names.
    """
    with tempfile.TemporaryDirectory() as folder:
        # --- load
        path = os.path.join(unpack(files, folder), "variables", "variables")
        reader = tf.train.load_checkpoint(path)
        kernel, bias = map(reader.get_tensor, ["dense/kernel", "dense/bias"])
    # --- build
    model = make_model({"kernel": kernel, "bias": bias})
    model.compile(keras.optimizers.SGD(rate), squares(x.dtype.name))
    # --- step
    return {"losses": fit(model, x, y, steps), "variables": values(model)}


def values(model):
    return {name: variable.numpy() for name, variable in old_names(model).items()}


def train_on(x, y, weights, stop, steps, rate=0.125, files=False):
    """Trains, saves graph and variables, and continues without the model's code.

    A `.keras` file has the layers, the weights and the arguments of `compile`, but not
    the dtype of the loss, which is set again after loading. `files` has this file.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        # --- build
        model = make_model(weights)
        model.compile(keras.optimizers.SGD(rate), squares(x.dtype.name))
        # --- step
        losses = fit(model, x, y, stop)
        # --- save
        model.save(path)
        # --- load
        loaded, packed = load(path, x.dtype.name), pack(folder)
    # --- continue
    losses = np.concatenate([losses, fit(loaded, x, y, steps)])
    answer = {"losses": losses, "variables": values(loaded)}
    return {**answer, "files": packed} if files else answer


def to_tflite(x, weights, files=False):
    """Converts a model to TensorFlow Lite, and runs it in the interpreter."""
    # --- convert
    model = make_model(weights, len(x))
    with tempfile.TemporaryDirectory() as folder:
        # With TensorFlow 2.16, `from_keras_model` crashes for a Keras 3 model.
        signature = [tf.TensorSpec(x.shape, x.dtype)]
        model.export(folder, verbose=False, input_signature=signature)
        converted = tf.lite.TFLiteConverter.from_saved_model(folder).convert()
    # --- run
    answer = {"y": run_tflite(converted, x)}
    packed = {"model.tflite": np.frombuffer(converted, np.uint8)}
    return {**answer, "files": packed} if files else answer
