"""`load_model`, `save_weights`, `.h5`, JSON, SavedModels → Keras 3 and `.keras`."""

import json
import os
import tempfile

import h5py
import numpy as np
import tensorflow as tf

from v2_eager.keras_files.reading import (
    assign,
    hard_sigmoid,
    mended,
    read_checkpoint,
    read_compiled,
    read_model,
)
from v2_eager.keras_optimizers import ROWS_SUMMED, legacy
from v2_eager.saved_models import pack, run_frozen, unpack

__all__ = [
    "save_whole",
    "save_weights",
    "export",
    "load_whole",
    "resume",
    "load_custom",
    "from_json",
    "load_weights",
    "load_by_name",
    "load_cudnn",
    "load_cudnn_gru",
    "load_checkpoint",
    "freeze",
    "serve",
    "fine_tune",
    "load_exported",
    "look",
]

keras = tf.keras
layers = tf.keras.layers
register = keras.utils.register_keras_serializable("tensorflow_1")


# Files of TensorFlow 1 call it "Scale"; `keras_functions` registers another "Scale".
@keras.utils.register_keras_serializable("tensorflow_1", "FeatureScale")
class Scale(layers.Layer):
    """Layer that multiplies each feature (of the last axis) by a trained number.

    The weight `scale`, [features], is initialized with ones. Numbers above `most` count
    as `most`, and get no gradient.

    Args:
        most: float, the maximum factor.
        **kwargs: arguments of `keras.layers.Layer`.
    """

    def __init__(self, most=1.0, **kwargs):
        super().__init__(**kwargs)
        self.most = most

    def build(self, shape):
        self.scale = self.add_weight([shape[-1]], initializer="ones", name="scale")

    def call(self, inputs):
        return inputs * tf.minimum(self.scale, self.most)

    def get_config(self):
        return {**super().get_config(), "most": self.most}


@register
def center(x):
    """Subtracts the mean of each row."""
    return x - tf.reduce_mean(x, axis=-1, keepdims=True)


@register
def quartic(y_true, y_pred):
    """Computes the loss: the mean of the fourth powers of the errors."""
    return tf.reduce_mean(tf.square(tf.square(y_pred - y_true)), axis=-1)


OWN = {"Scale": Scale, "center": center, "quartic": quartic}


@register
class Network(keras.Model):
    """The network of `dense` as a class: [batch, features] to [batch, 3] probabilities.

    A layer of 5 units with ReLU, a batch norm, and a softmax over 3 classes.

    Args:
        **kwargs: arguments of `keras.Model`.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        kept = {"dtype": self.dtype_policy}  # else the layers have the default
        self.hidden = layers.Dense(5, activation="relu", name="hidden", **kept)
        self.norm = layers.BatchNormalization(name="norm", **kept)
        self.out = layers.Dense(3, activation="softmax", name="out", **kept)

    def call(self, inputs, training=None):
        return self.out(self.norm(self.hidden(inputs), training=training))


def dense():
    """Makes a Sequential model: dense layers, a penalty, a batch norm; 4 features."""
    penalty = keras.regularizers.L2(0.01)
    return keras.Sequential(
        [
            keras.Input([4]),
            layers.Dense(
                5, activation="relu", kernel_regularizer=penalty, name="hidden"
            ),
            layers.BatchNormalization(name="norm"),
            layers.Dense(3, activation="softmax", name="out"),
        ],
        name="dense",
    )


def nested():
    """Makes a functional model with a nested model and a layer that is called twice."""
    inputs = keras.Input([4], name="rows")
    hidden = layers.Dense(4, activation="tanh", name="hidden")(inputs)
    encoder = keras.Model(inputs, hidden, name="encoder")
    rows = keras.Input([4], name="x")
    shared = layers.Dense(4, activation="sigmoid", name="shared")
    both = layers.Add(name="both")([encoder(rows), shared(shared(rows))])
    outputs = layers.Dense(3, activation="softmax", name="out")(both)
    return keras.Model(rows, outputs, name="nested")


def recurrent():
    """Makes a bidirectional LSTM and a GRU on words, with the gates of TensorFlow 1."""
    old = {"recurrent_activation": hard_sigmoid, "implementation": 1}
    lstm = layers.LSTM(3, return_sequences=True, **old)
    return keras.Sequential(
        [
            keras.Input([6]),
            layers.Embedding(7, 4, name="words"),
            layers.Bidirectional(lstm, name="both"),
            layers.GRU(4, reset_after=False, name="gru", **old),
            layers.Dense(3, activation="softmax", name="out"),
        ],
        name="recurrent",
    )


def images():
    """Makes a convolutional network for [8, 8, 2] images."""
    return keras.Sequential(
        [
            keras.Input([8, 8, 2]),
            layers.Conv2D(4, 3, activation="relu", name="conv"),
            layers.SeparableConv2D(4, 3, name="separable"),
            layers.SpatialDropout2D(0.5, name="dropout"),
            layers.MaxPooling2D(name="pool"),
            layers.Flatten(name="flat"),
            layers.Dense(3, activation="softmax", name="out"),
        ],
        name="images",
    )


def own():
    """Makes a model with a custom layer and a `Lambda` with a custom function."""
    return keras.Sequential(
        [
            keras.Input([4]),
            layers.Dense(5, name="hidden"),
            layers.Lambda(center, name="center"),
            Scale(2.0, name="scale"),
            layers.Dense(3, name="out"),
        ],
        name="own",
    )


def subclass():
    """Makes a `Network` and builds it."""
    model = Network()
    model(np.zeros([1, 4], "f"))
    return model


NETWORKS = {
    "dense": dense,
    "nested": nested,
    "recurrent": recurrent,
    "images": images,
    "own": own,
    "subclass": subclass,
}


def compiled(kind, start):
    """Makes a network with the weights `start`, and compiles it."""
    model = NETWORKS[kind]()
    loss = quartic if kind == "own" else "sparse_categorical_crossentropy"
    optimizer = legacy("Adam", lr=0.1, decay=0.5, kinds=ROWS_SUMMED)
    model.compile(optimizer, loss, metrics=["accuracy"])
    model.set_weights(start)
    return model


def fit(model, data, steps):
    """Fits a model with all rows in one batch; returns the losses, [steps] float32."""
    options = {"batch_size": len(data[0]), "epochs": steps, "shuffle": False}
    history = model.fit(*data, verbose=0, **options).history
    return np.float32(history.get("loss", []))


def save_whole(data, start, kind, before, after, files=False):
    """Saves a whole model during training, loads it, and continues training.

    A `.keras` file includes the optimizer's state, as `.h5` did; registered classes are
    found by their names.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        # --- save
        model = compiled(kind, start)
        losses = fit(model, data, before)
        model.save(path)
        # --- load
        loaded = keras.models.load_model(path)
        losses = np.append(losses, fit(loaded, data, after))
        answer = losses, loaded.get_weights()
        return (*answer, pack(folder)) if files else answer


def save_weights(start, kind, checkpoint=False, data=None, steps=0, files=False):
    """Saves only the weights of a model, and loads them into another model.

    `.weights.h5` includes the optimizer's state, which is loaded with `checkpoint`. An
    optimizer without slots does not load it, and Keras warns: `build` it first.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.weights.h5")
        # --- save
        model = compiled(kind, start)
        if steps:
            fit(model, data, steps)
        model.save_weights(path)
        # --- load
        model = compiled(kind, [np.zeros_like(array) for array in start])
        if steps and checkpoint:
            model.optimizer.build(model.trainable_variables)
        model.load_weights(path)
        answer = model.get_weights(), model.optimizer.iterations.numpy()
        return (*answer, pack(folder)) if files else answer


def export(data, start, steps, by_export=False, files=False):
    """Saves a dense network as a SavedModel, loads it, and predicts.

    `by_export` has no effect: there is only one `export`.
    """
    with tempfile.TemporaryDirectory() as folder:
        # --- save
        model = compiled("dense", start)
        fit(model, data, steps)
        model.export(folder, verbose=False)
        # --- load
        loaded = keras.layers.TFSMLayer(folder, call_endpoint="serve")
        found = loaded(data[0]).numpy()
        return (found, pack(folder)) if files else found


def load_whole(files, x):
    """Loads a whole model from an `.h5` file.

    Keras 3's `load_model` refuses files of TensorFlow 1: their initializers have a
    dtype.
    """
    with tempfile.TemporaryDirectory() as folder:
        model = read_model(os.path.join(unpack(files, folder), "model.h5"))
        return model.get_weights(), model.predict(x, verbose=0), model.count_params()


def resume(files, data, steps):
    """Loads a model with loss, learning rate and Adam's state, and continues training.

    `load_model` drops the decay, and builds the optimizer without weights.
    """
    with tempfile.TemporaryDirectory() as folder:
        model = read_compiled(os.path.join(unpack(files, folder), "model.h5"))
        losses = fit(model, data, steps)
        return losses, model.get_weights(), model.optimizer.iterations.numpy()


def load_custom(files, data, steps):
    """Loads a model with a custom layer, function and loss, and continues training."""
    with tempfile.TemporaryDirectory() as folder:
        model = read_compiled(os.path.join(unpack(files, folder), "model.h5"), OWN)
        return model.predict(data[0], verbose=0), fit(model, data, steps)


def from_json(files, weights, x):
    """Makes a model from its JSON configuration, and sets its weights."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(unpack(files, folder), "model.json")) as file:
            config = mended(json.load(file))
        model = keras.models.model_from_json(json.dumps(config))
        model.set_weights(weights)
        names = [layer.name for layer in model.layers if layer.weights]
        shapes = [list(w.shape) for w in model.get_weights()]
        return model.predict(x, verbose=0), names, shapes


def load_weights(files, kind, x):
    """Loads weights from an `.h5` file into a model that the code builds.

    The name of the file must not end in `.weights.h5`, which is another format.
    """
    with tempfile.TemporaryDirectory() as folder:
        model = NETWORKS[kind]()
        model.load_weights(os.path.join(unpack(files, folder), "weights.h5"))
        return model.get_weights(), model.predict(x, verbose=0)


def load_by_name(files, start, x):
    """Loads weights only into the layers whose names are in the file (`by_name`)."""
    with tempfile.TemporaryDirectory() as folder:
        model = keras.Sequential(
            [
                keras.Input([4]),
                layers.Dense(5, activation="relu", name="hidden"),
                layers.Dense(2, name="head"),
            ]
        )
        model.set_weights(start)
        path = os.path.join(unpack(files, folder), "weights.h5")
        model.load_weights(path, by_name=True)
        return model.get_weights(), model.predict(x, verbose=0)


def load_cudnn(files, x):
    """Loads the weights of a CuDNNLSTM into an LSTM, which runs on any machine.

    CuDNN stores the kernel of each gate transposed, and two biases, which are added.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(unpack(files, folder), "weights.h5")
        with h5py.File(path) as file:
            lstm, out = [
                [file[name][weight][()] for weight in file[name].attrs["weight_names"]]
                for name in file.attrs["layer_names"]
            ]
        model = keras.Sequential(
            [
                keras.Input(x.shape[1:]),
                layers.LSTM(len(lstm[1]), implementation=1, name="lstm"),
                layers.Dense(len(out[1]), name="out"),
            ]
        )
        model.set_weights([*cudnn_lstm_to_keras(*lstm), *out])
        return model.get_weights(), model.predict(x, verbose=0)


def cudnn_lstm_to_keras(kernels, recurrent_kernels, bias):
    """Converts the weights of a `CuDNNLSTM` for `keras.layers.LSTM`.

    Args:
        kernels: [depth, 4 * units] array, the kernel of each gate as CuDNN stores it:
            transposed, in an array of the old shape.
        recurrent_kernels: [units, 4 * units] array, each gate transposed.
        bias: [8 * units] array, of the inputs and then of the state; both are added.

    Returns:
        [kernel, recurrent kernel, bias], of [depth, 4 * units], [units, 4 * units] and
        [4 * units], the gates in the same order.
    """
    gates = np.split(kernels, 4, axis=1)
    gates = [gate.T.reshape(gate.shape, order="F") for gate in gates]
    recurrent_gates = [gate.T for gate in np.split(recurrent_kernels, 4, axis=1)]
    bias = bias[: len(bias) // 2] + bias[len(bias) // 2 :]
    return [np.hstack(gates), np.hstack(recurrent_gates), bias]


def load_cudnn_gru(weights, x):
    """Loads the weights of a CuDNNGRU into a GRU, which runs on any machine.

    CuDNN stores the kernel of each gate transposed. Its two biases are those of a GRU
    with `reset_after=True`, which is the default of Keras 3.
    """
    kernels, recurrent_kernels, bias = weights
    gates = np.split(kernels, 3, axis=1)
    gates = [gate.T.reshape(gate.shape, order="F") for gate in gates]
    recurrent_gates = [gate.T for gate in np.split(recurrent_kernels, 3, axis=1)]
    gru = layers.GRU(len(recurrent_kernels), name="gru")
    model = keras.Sequential([keras.Input(x.shape[1:]), gru])
    gates = [np.hstack(gates), np.hstack(recurrent_gates)]
    model.set_weights([*gates, bias.reshape(2, -1)])
    return model.get_weights(), model.predict(x, verbose=0)


def load_checkpoint(files, kind, start, data, steps):
    """Loads a checkpoint of `save_weights` with Adam's state, and continues training.

    `load_weights` of Keras 3 cannot read checkpoints.
    """
    with tempfile.TemporaryDirectory() as folder:
        model = compiled(kind, start)
        values = read_checkpoint(os.path.join(unpack(files, folder), "weights"))
        assign(model, values, "training/Adam")
        losses = fit(model, data, steps)
        return losses, model.get_weights(), model.optimizer.iterations.numpy()


def freeze(start, kind, x):
    """Freezes a model's variables to constants, writes the graph, and predicts with it.

    `stateless_call` takes arrays in place of the variables. `model.export` stores the
    variables in separate files, and needs no freezing.
    """
    with tempfile.TemporaryDirectory() as folder:
        model = NETWORKS[kind]()
        model.set_weights(start)
        # --- freeze
        weights = model.trainable_variables, model.non_trainable_variables
        arrays = [[weight.numpy() for weight in several] for several in weights]

        @tf.function(
            input_signature=[tf.TensorSpec([None, *x.shape[1:]], x.dtype, "x")]
        )
        def frozen(x):
            outputs, _ = model.stateless_call(*arrays, x, training=False)
            return tf.identity(outputs, "output")

        frozen = frozen.get_concrete_function().graph.as_graph_def()
        # --- write
        tf.io.write_graph(frozen, folder, "frozen.pb", as_text=False)
        packed = pack(folder)
    # --- ask
    (y,) = run_frozen(packed["frozen.pb"], {"x:0": x}, ["output:0"])
    functions = [function.node_def for function in frozen.library.function]
    nodes = [node for several in (frozen.node, *functions) for node in several]
    return y, sum("Var" in node.op for node in nodes)


def serve(files, x):
    """Loads a SavedModel of Keras for predictions."""
    with tempfile.TemporaryDirectory() as folder:
        path = unpack(files, folder)
        layer = keras.layers.TFSMLayer(path, call_endpoint="serving_default")
        (outputs,) = layer(x).values()
        return outputs.numpy()


def fine_tune(files, data, steps):
    """Loads a SavedModel of Keras, and continues training.

    Keras 3 loads it only for predictions: build the model in code, and read the
    variables. Adam's state is in the file, but TensorFlow 1 did not load it.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(unpack(files, folder), "variables", "variables")
        model, optimizer = dense(), legacy("Adam", lr=0.1, decay=0.5)
        model.compile(optimizer, "sparse_categorical_crossentropy")
        assign(model, read_checkpoint(path))
        return fit(model, data, steps), model.get_weights()


def load_exported(files, x):
    """Loads the output of `export_saved_model` as a Keras model."""
    with tempfile.TemporaryDirectory() as folder:
        path = unpack(files, folder)
        with open(os.path.join(path, "assets", "saved_model.json")) as file:
            config = mended(json.load(file))
        model = keras.models.model_from_json(json.dumps(config))
        assign(model, read_checkpoint(os.path.join(path, "variables", "variables")))
        return model.get_weights(), model.predict(x, verbose=0)


def look(files):
    """Reads version, layers, loss and learning rate of an `.h5` file; makes no model.

    With h5py 3, attributes are str; before, they were bytes.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(unpack(files, folder), "model.h5")
        with h5py.File(path) as file:
            group = file["model_weights"]
            names = [name.decode("utf8") for name in group.attrs["layer_names"]]
            training = json.loads(file.attrs["training_config"])
            optimizer = training["optimizer_config"]["config"]
            return {
                "version": file.attrs["keras_version"],
                "layers": {
                    name: {
                        weight.decode("utf8"): list(group[name][weight].shape)
                        for weight in group[name].attrs["weight_names"]
                    }
                    for name in names
                },
                "loss": training["loss"],
                "rate": np.float32(optimizer["learning_rate"]),
            }
