"""`compile`, `fit` and callbacks of Keras 3, called as those of TensorFlow 1 were."""

import subprocess
import sys
import tempfile
import traceback

import numpy as np
import tensorflow as tf

from tf1to2.tests.raisers import imported, logged, run
from tf1to2.tests.raisers.saved import in_folder, keras

X, Y = np.ones([4, 2], "f"), np.ones([4, 1], "f")


def fit(**options):
    model = keras()
    model.compile("sgd", "mse", metrics=["accuracy"])
    model.fit(X, Y, verbose=0, **options)


def evaluate(**options):
    model = keras()
    model.compile("sgd", "mse")
    model.evaluate(X, Y, verbose=0, **options)


def fit_losses(losses, outputs):
    row = tf.keras.Input([2])
    model = tf.keras.Model(row, [tf.keras.layers.Dense(1)(row)] * outputs)
    model.compile("sgd", losses)
    model.fit(X, Y, verbose=0)


def fit_frozen():
    model = keras()
    model.compile("sgd", "mse")
    model.trainable = False
    model.fit(X, Y, verbose=0)


class Rows(tf.keras.utils.PyDataset):
    def __init__(self):
        pass

    def __len__(self):
        return 1

    def __getitem__(self, i):
        return X, Y


def fit_rows():
    model = keras()
    model.compile("sgd", "mse")
    model.fit(Rows(), verbose=0)


def fit_batches(handed, **options):
    model = keras()
    model.compile("sgd", "mse")
    rows = tf.data.Dataset.from_tensor_slices((X, Y)).batch(2)
    model.fit(handed(rows), steps_per_epoch=3, verbose=0, **options)


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


def import_recurrent():
    from keras.layers import Recurrent

    return Recurrent


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


def key(name):
    """Asks a history for a key that there is not; the error as Python prints it."""

    def asked():
        model = keras()
        model.compile("sgd", "mse", metrics=["accuracy"])
        rates = callbacks.LearningRateScheduler(lambda epoch: 0.1)
        history = model.fit(X, Y, verbose=0, callbacks=[rates])
        try:
            return history.history[name]
        except KeyError:
            raise RuntimeError(traceback.format_exc()) from None

    return asked


def fit_no_loss():
    model = keras()
    model.compile("sgd")
    model.fit(X, Y, verbose=0)


def fit_no_epsilon():
    model = keras()
    model.compile(tf.keras.optimizers.Adam(epsilon=None), "mse")
    model.fit(X, Y, verbose=0)


def load_a_lambda(code, **names):
    def load(path):
        function = eval(f"lambda x: {code}", names)
        normalize = tf.keras.layers.Lambda(function, output_shape=(2,))
        keras(normalize).save(path + ".keras")
        tf.keras.models.load_model(path + ".keras", safe_mode=False)(X)

    return in_folder(load)


def load_a_gru(path):
    def model(**options):
        gru = tf.keras.layers.GRU(3, **options)
        return tf.keras.Sequential([tf.keras.Input([3, 2]), gru])

    model(reset_after=False).save(path + ".h5")
    model().load_weights(path + ".h5")


def save_what_another_model_spoilt(path):
    rows, others = tf.keras.Input([2]), tf.keras.Input([2])
    hidden = tf.keras.layers.Dense(2)
    both = tf.keras.layers.Concatenate()([hidden(rows), others])
    model = tf.keras.Model([rows, others], tf.keras.layers.Dense(1)(both))
    tf.keras.Model([hidden.output, model.inputs[1]], model.output)
    model.save(path + ".keras")


callbacks = tf.keras.callbacks
ERRORS = {
    "any trainable weights": logged(fit_frozen),
    "Expected `loss_weights`": lambda: keras().compile(
        "sgd", "mse", loss_weights=tf.Variable(1.0)
    ),
    "KeyError: 'acc'": key("acc"),
    "KeyError: 'val_acc'": key("val_acc"),
    "KeyError: 'lr'": key("lr"),
    "{…'max_queue_size'": lambda: evaluate(max_queue_size=2),
    "{…'workers'": lambda: evaluate(workers=2),
    "calling `set_weights()`": lambda: tf.keras.optimizers.SGD().set_weights([0]),
    "in loss dict": lambda: fit_losses({"probs": "mse"}, 1),
    "in the `loss` argument": lambda: fit_losses("mse", 2),
    "have different structures": lambda: fit_losses(["mse", "mse"], 2),
    "`schedule` function": lambda: fit(
        callbacks=[callbacks.LearningRateScheduler(lambda epoch: np.ones([1]))]
    ),
    "Argument `learning_rate` should": lambda: tf.keras.optimizers.SGD("momentum"),
    "'compute_gradients'": lambda: tf.keras.optimizers.Adagrad().compute_gradients,
    "'global_step'": lambda: tf.keras.optimizers.SGD().apply_gradients(
        [], global_step=None
    ),
    "Your input ran out of data": logged(lambda: fit_batches(lambda rows: rows)),
    "Unrecognized data type": lambda: fit_batches(iter),
    "No loss to compute": fit_no_loss,
    "None values not supported.": fit_no_epsilon,
    "'write_grads'": lambda: callbacks.TensorBoard("a", write_grads=True),
    "argument 'batch_size'": lambda: callbacks.TensorBoard("a", batch_size=2),
    "name 'K' is not": load_a_lambda("K.l2_normalize(x, 1)", K=tf.keras.backend),
    "name 'tf' is not": load_a_lambda("tf.math.l2_normalize(x, 1)", tf=tf),
    "Shape mismatch in layer #…(named gru": in_folder(load_a_gru),
    "could not find node key": in_folder(save_what_another_model_spoilt),
    "'workers'": lambda: fit(workers=2),
    "'nb_epoch'": lambda: fit(nb_epoch=2),
    "Your `PyDataset` class": logged(fit_rows),
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
    "attribute '_make_train_function'": lambda: keras()._make_train_function(),
    "Layer count mismatch": in_folder(load_the_template),
    "cannot import name 'np_utils'": import_np_utils,
    "cannot import name 'Recurrent'": import_recurrent,
    "cannot import name '_obtain_input_shape'": run(
        "from keras.applications.imagenet_utils import _obtain_input_shape"
    ),
    **{
        f"No module named '{module}": imported(name)
        for module, name in (
            ("keras.engine", "keras.engine.topology"),
            ("keras.layers", "keras.layers.merge"),
            ("keras.backend", "keras.backend.common"),
            (
                "keras.backend.tensorflow_backend",
                "keras.backend.tensorflow_backend",
            ),
        )
    },
    "No module named 'keras.preprocessing": import_tokenizer,
    "shape of the Lambda's output": call_numpy,
    "Argument `name`": lambda: tf.keras.layers.Dense(1, name="tower/dense"),
    "must be a KerasTensor": lambda: tf.keras.Input(tensor=tf.ones([1, 2])),
}
