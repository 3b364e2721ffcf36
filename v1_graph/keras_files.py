"""`load_model`, `save_weights`, `.h5`, JSON, SavedModels → Keras 3 and `.keras`."""

import json
import os
import re
import tempfile

import h5py
import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import saved_model_pb2

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

K = tf.keras.backend
layers = tf.keras.layers


class Scale(layers.Layer):
    """Layer that multiplies each feature by a trained number."""

    def __init__(self, most=1.0, **kwargs):
        super(Scale, self).__init__(**kwargs)
        self.most = most

    def build(self, shape):
        self.scale = self.add_weight("scale", [int(shape[-1])], initializer="ones")
        super(Scale, self).build(shape)

    def call(self, inputs):
        return inputs * K.minimum(self.scale, self.most)

    def get_config(self):
        config = super(Scale, self).get_config()
        config["most"] = self.most
        return config


# A Lambda is saved as bytecode with the path of its file: this one has no path.
CENTER = "lambda x: x - K.mean(x, axis=-1, keepdims=True)"
center = eval(compile(CENTER, "model.py", "eval"))


def quartic(y_true, y_pred):
    """Computes the loss: the mean of the fourth powers of the errors."""
    return K.mean(K.square(K.square(y_pred - y_true)), axis=-1)


OWN = {"Scale": Scale, "quartic": quartic}


class Network(tf.keras.Model):
    """The network of `dense` as a class."""

    def __init__(self):
        super(Network, self).__init__()
        self.hidden = layers.Dense(5, activation="relu", name="hidden")
        self.norm = layers.BatchNormalization(name="norm")
        self.out = layers.Dense(3, activation="softmax", name="out")

    def call(self, inputs):
        return self.out(self.norm(self.hidden(inputs)))


def dense():
    """Makes a Sequential model: dense layers, a penalty, a batch norm; 4 features."""
    penalty = tf.keras.regularizers.l2(0.01)
    return tf.keras.Sequential(
        [
            layers.Dense(
                5,
                activation="relu",
                kernel_regularizer=penalty,
                input_shape=(4,),
                name="hidden",
            ),
            layers.BatchNormalization(name="norm"),
            layers.Dense(3, activation="softmax", name="out"),
        ],
        name="dense",
    )


def nested():
    """Makes a functional model with a nested model and a layer that is called twice."""
    inputs = tf.keras.Input((4,), name="rows")
    hidden = layers.Dense(4, activation="tanh", name="hidden")(inputs)
    encoder = tf.keras.Model(inputs, hidden, name="encoder")
    rows = tf.keras.Input((4,), name="x")
    shared = layers.Dense(4, activation="sigmoid", name="shared")
    both = layers.add([encoder(rows), shared(shared(rows))], name="both")
    outputs = layers.Dense(3, activation="softmax", name="out")(both)
    return tf.keras.Model(rows, outputs, name="nested")


def recurrent():
    """Makes a bidirectional LSTM and a GRU on words, with the gates of TensorFlow 1."""
    return tf.keras.Sequential(
        [
            layers.Embedding(7, 4, input_length=6, name="words"),
            layers.Bidirectional(layers.LSTM(3, return_sequences=True), name="both"),
            layers.GRU(4, name="gru"),
            layers.Dense(3, activation="softmax", name="out"),
        ],
        name="recurrent",
    )


def images():
    """Makes a convolutional network for [8, 8, 2] images."""
    return tf.keras.Sequential(
        [
            layers.Conv2D(4, 3, activation="relu", input_shape=(8, 8, 2), name="conv"),
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
    return tf.keras.Sequential(
        [
            layers.Dense(5, input_shape=(4,), name="hidden"),
            layers.Lambda(center, name="center"),
            Scale(2.0, name="scale"),
            layers.Dense(3, name="out"),
        ],
        name="own",
    )


def cudnn():
    """Makes a model with a CuDNNLSTM, which only a GPU runs and any machine saves."""
    return tf.keras.Sequential(
        [
            layers.CuDNNLSTM(3, input_shape=(6, 4), name="lstm"),
            layers.Dense(3, name="out"),
        ],
        name="cudnn",
    )


def subclass():
    """Makes a `Network` and builds it."""
    model = Network()
    model.build((None, 4))
    return model


NETWORKS = {
    "dense": dense,
    "nested": nested,
    "recurrent": recurrent,
    "images": images,
    "own": own,
    "cudnn": cudnn,
    "subclass": subclass,
}


def compiled(kind, start):
    """Makes a network with the weights `start`, and compiles it."""
    model = NETWORKS[kind]()
    loss = quartic if kind == "own" else "sparse_categorical_crossentropy"
    model.compile(tf.keras.optimizers.Adam(lr=0.1, decay=0.5), loss, ["accuracy"])
    model.set_weights(start)
    return model


def fit(model, data, steps):
    """Fits a model with all rows in one batch; returns the losses, [steps] float32."""
    options = {"batch_size": len(data[0]), "epochs": steps, "shuffle": False}
    history = model.fit(*data, verbose=0, **options).history
    return np.float32(history.get("loss", []))


def described(model, x):
    """Returns {name: value} of the weights, and the predictions."""
    names = [weight.name for weight in model.weights]
    return dict(zip(names, model.get_weights())), model.predict(x)


def pack(folder):
    """Reads a directory as {path: bytes as a uint8 array}."""
    packed = {}
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            with open(path, "rb") as file:
                content = file.read()
            # Make the bytes reproducible: HDF5 writes the time, and a SavedModel has
            # maps and sets in any order, and names of temporary files.
            if name.endswith(".h5"):
                time = b"(\x12\x00\x08\x00.\x00\x00\x00\x01\x00\x00\x00)...."
                content = re.sub(time, rb"\1" + bytes(4), content, flags=re.DOTALL)
            if name == "saved_model.pb":
                content = in_order(saved_model_pb2.SavedModel.FromString(content))
                content = content.SerializeToString(deterministic=True)
                content = re.sub(b"_temp_[0-9a-f]{32}", b"_temp_" + b"0" * 32, content)
            if name != "checkpoint":  # contains the path of the directory
                packed[os.path.relpath(path, folder)] = np.frombuffer(content, "B")
    return {path: packed[path] for path in sorted(packed)}


def in_order(saved_model):
    """Sorts the functions of a SavedModel, and its checks of variables."""
    for meta_graph in saved_model.meta_graphs:
        graph = meta_graph.graph_def
        functions = sorted(graph.library.function, key=lambda f: f.signature.name)
        del graph.library.function[:]
        graph.library.function.extend(functions)
        for nodes in [graph.node] + [f.node_def for f in graph.library.function]:
            for node in nodes:
                if "config_proto" in node.attr:  # the numbers of devices
                    node.attr["config_proto"].s = b""
        asked = [node for node in graph.node if node.op == "VarIsInitializedOp"]
        for node, name in zip(asked, sorted(node.input[0] for node in asked)):
            node.input[0] = name
        for node in meta_graph.object_graph_def.nodes:
            node.function.concrete_functions.sort()
    return saved_model


def unpack(files, folder):
    """Writes the files of `pack` to a folder, and returns the folder."""
    for name, content in files.items():
        path = os.path.join(folder, name)
        if not os.path.isdir(os.path.dirname(path)):
            os.makedirs(os.path.dirname(path))
        content.tofile(path)
    return folder


def save_whole(data, start, kind, before, after, files=False):
    """Saves a whole model during training, loads it, and continues training.

    Args:
        data: (x, y), float32 array [n, features] and labels [n].
        start: list of the initial weights.
        kind: the network: "dense", "nested", "recurrent", "images" or "own".
        before, after: number of steps before the model is saved and after it is loaded.
        files: whether to return the written files, too: the model, and only its
            configuration.

    Returns:
        ([before + after] float32 array of the losses, list of the weights), and the
        `files` as {path: bytes as a uint8 array} if requested.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.h5")
        # --- save
        with tf.Graph().as_default():
            model = compiled(kind, start)
            losses = fit(model, data, before)
            model.save(path)
            with open(os.path.join(folder, "model.json"), "w") as file:
                file.write(model.to_json())
        # --- load
        with tf.Graph().as_default():
            model = tf.keras.models.load_model(path, custom_objects=OWN)
            losses = np.append(losses, fit(model, data, after))
            answer = losses, model.get_weights()
        return answer + (pack(folder),) if files else answer


def save_weights(start, kind, checkpoint=False, data=None, steps=0, files=False):
    """Saves only the weights of a model, and loads them into another model.

    Args:
        start: list of the initial weights.
        kind: the network, as for `save_whole`, or "cudnn" or "subclass".
        checkpoint: whether to save a TensorFlow checkpoint, with the optimizer's state.
        data: (x, y), as for `save_whole`.
        steps: number of steps before saving.
        files: whether to return the written files, too.

    Returns:
        (list of the loaded weights, the step count, which only a checkpoint has), and
        the `files` if requested.
    """
    # The session places only ops that it runs: this machine has no CuDNN kernels.
    options = tf.GraphOptions(place_pruned_graph=True)
    config = tf.ConfigProto(graph_options=options)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weights" if checkpoint else "weights.h5")
        # --- save
        with tf.Graph().as_default(), tf.Session(config=config):
            model = compiled(kind, start)
            if steps:
                fit(model, data, steps)
            model.save_weights(path)
        # --- load
        with tf.Graph().as_default(), tf.Session(config=config):
            model = compiled(kind, [np.zeros_like(array) for array in start])
            model.load_weights(path)
            answer = model.get_weights(), K.get_value(model.optimizer.iterations)
        return answer + (pack(folder),) if files else answer


def export(data, start, steps, by_export=False, files=False):
    """Saves a dense network as a SavedModel, loads it, and predicts.

    Args:
        data, start, steps: as for `save_weights`.
        by_export: whether to use `export_saved_model`, which is older than
            `model.save(…, save_format="tf")`.
        files: whether to return the written files, too.

    Returns:
        [n, 3] predictions of the loaded SavedModel; and the `files` if requested.
    """
    with tempfile.TemporaryDirectory() as folder:
        # --- save
        with tf.Graph().as_default():
            model = compiled("dense", start)
            fit(model, data, steps)
            if by_export:
                tf.keras.experimental.export_saved_model(model, folder)
            else:
                model.save(folder, save_format="tf")
        # --- load
        with tf.Graph().as_default(), tf.Session() as sess:
            loaded = tf.saved_model.loader.load(sess, ["serve"], folder)
            definition = loaded.signature_def["serving_default"]
            (x,), (outputs,) = definition.inputs.values(), definition.outputs.values()
            found = sess.run(outputs.name, {x.name: data[0]})
        return (found, pack(folder)) if files else found


def load_whole(files, x):
    """Loads a whole model from an `.h5` file.

    Args:
        files: {path: bytes as a uint8 array}; "model.h5" is read.
        x: float32 array, the inputs to predict from.

    Returns:
        (list of the weights, [n, 3] predictions, number of parameters).

    Raises:
        ValueError: the file has only weights.
        OSError: "model.h5" is not an HDF5 file.
    """
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        path = os.path.join(unpack(files, folder), "model.h5")
        model = tf.keras.models.load_model(path)
        return model.get_weights(), model.predict(x), model.count_params()


def resume(files, data, steps):
    """Loads a model with loss, learning rate and Adam's state, and continues training.

    Args:
        files, data: see `load_whole` and `save_whole`.
        steps: number of steps to take.

    Returns:
        ([steps] float32 array of the losses, list of the weights, the step count).
    """
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        path = os.path.join(unpack(files, folder), "model.h5")
        model = tf.keras.models.load_model(path)
        losses = fit(model, data, steps)
        return losses, model.get_weights(), K.get_value(model.optimizer.iterations)


def load_custom(files, data, steps):
    """Loads a model with a custom layer, function and loss, and continues training.

    Args:
        files, data, steps: as for `resume`.

    Returns:
        ([n, 3] predictions before training, [steps] float32 array of the losses).
    """
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        path = os.path.join(unpack(files, folder), "model.h5")
        with tf.keras.utils.custom_object_scope(OWN):
            model = tf.keras.models.load_model(path)
        return model.predict(data[0]), fit(model, data, steps)


def from_json(files, weights, x):
    """Makes a model from its JSON configuration, and sets its weights.

    Args:
        files: as for `load_whole`; "model.json" is read.
        weights: list of arrays.
        x: as for `load_whole`.

    Returns:
        ([n, 3] predictions, the layers' names, the weights' shapes).
    """
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        with open(os.path.join(unpack(files, folder), "model.json")) as file:
            model = tf.keras.models.model_from_json(file.read())
        model.set_weights(weights)
        names = [layer.name for layer in model.layers if layer.weights]
        return model.predict(x), names, [list(w.shape) for w in model.get_weights()]


def load_weights(files, kind, x):
    """Loads weights from an `.h5` file into a model that the code builds.

    Args:
        files: as for `load_whole`; "weights.h5" is read.
        kind: the network, as for `save_weights`.
        x: as for `load_whole`.

    Returns:
        (list of the weights, [n, 3] predictions).

    Raises:
        ValueError: the network has different layers, or different sizes.
    """
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        model = NETWORKS[kind]()
        model.load_weights(os.path.join(unpack(files, folder), "weights.h5"))
        return model.get_weights(), model.predict(x)


def load_by_name(files, start, x):
    """Loads weights only into the layers whose names are in the file (`by_name`).

    Args:
        files: as for `load_weights`.
        start: list of the initial weights, for a last layer of 2 classes, not 3.
        x: as for `load_whole`.

    Returns:
        (list of the weights, [n, 2] predictions).

    Raises:
        ValueError: a layer with the same name has another size.
    """
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        model = tf.keras.Sequential()
        model.add(layers.Dense(5, activation="relu", input_shape=(4,), name="hidden"))
        model.add(layers.Dense(2, name="head"))
        model.set_weights(start)
        path = os.path.join(unpack(files, folder), "weights.h5")
        model.load_weights(path, by_name=True)
        return model.get_weights(), model.predict(x)


def load_cudnn(files, x):
    """Loads the weights of a CuDNNLSTM into an LSTM, which runs on any machine.

    Args:
        files: as for `load_weights`.
        x: [n, 6, 4] float32 array.

    Returns:
        (list of the weights, [n, 3] predictions).
    """
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        model = tf.keras.Sequential()
        lstm = {"recurrent_activation": "sigmoid", "input_shape": (6, 4)}
        model.add(layers.LSTM(3, name="lstm", **lstm))
        model.add(layers.Dense(3, name="out"))
        model.load_weights(os.path.join(unpack(files, folder), "weights.h5"))
        return model.get_weights(), model.predict(x)


def load_cudnn_gru(weights, x):
    """Loads the weights of a CuDNNGRU into a GRU, which runs on any machine.

    Args:
        weights: [kernel, recurrent kernel, bias], float32 arrays of the CuDNNGRU:
            [features, 3 * units], [units, 3 * units], [6 * units].
        x: [n, steps, features] float32 array.

    Returns:
        (list of the GRU's weights, [n, units] outputs).
    """
    options = tf.GraphOptions(place_pruned_graph=True)
    config = tf.ConfigProto(graph_options=options)
    size = {"units": len(weights[1]), "input_shape": x.shape[1:], "name": "gru"}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weights.h5")
        with tf.Graph().as_default(), tf.Session(config=config):
            model = tf.keras.Sequential([layers.CuDNNGRU(**size)])
            model.set_weights(weights)
            model.save_weights(path)
        with tf.Graph().as_default():
            gru = layers.GRU(reset_after=True, recurrent_activation="sigmoid", **size)
            model = tf.keras.Sequential([gru])
            model.load_weights(path)
            return model.get_weights(), model.predict(x)


def load_checkpoint(files, kind, start, data, steps):
    """Loads a checkpoint of `save_weights` with Adam's state, and continues training.

    Args:
        files: as for `load_whole`; "weights.index" and its data are read.
        kind: "dense" or "subclass".
        start: list of the weights before loading.
        data, steps: as for `resume`.

    Returns:
        ([steps] float32 array of the losses, list of the weights, the step count).
    """
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        model = compiled(kind, start)
        model.load_weights(os.path.join(unpack(files, folder), "weights"))
        losses = fit(model, data, steps)
        return losses, model.get_weights(), K.get_value(model.optimizer.iterations)


def freeze(start, kind, x):
    """Freezes a model's variables to constants, writes the graph, and predicts with it.

    Args:
        start, kind: as for `save_weights`.
        x: float32 array, the inputs to predict from.

    Returns:
        ([n, 3] predictions of the frozen graph, number of variable nodes in the graph).
    """
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        K.set_learning_phase(0)
        model = NETWORKS[kind]()
        model.set_weights(start)
        # --- freeze
        sess = K.get_session()
        frozen = tf.graph_util.convert_variables_to_constants(
            sess, sess.graph.as_graph_def(), [model.output.op.name]
        )
        # --- write
        tf.train.write_graph(frozen, folder, "frozen.pb", as_text=False)
        names = [model.input.name, model.output.name]
        packed = pack(folder)
    # --- ask
    frozen = tf.GraphDef.FromString(packed["frozen.pb"].tobytes())
    with tf.Graph().as_default(), tf.Session() as sess:
        inputs, outputs = tf.import_graph_def(frozen, {}, names, name="")
        variables = sum("Var" in node.op for node in frozen.node)
        return sess.run(outputs, {inputs: x}), variables


def serve(files, x):
    """Loads a SavedModel of Keras for predictions.

    Args:
        files: the directory that `model.save(…, save_format="tf")` wrote.
        x: as for `load_whole`.

    Returns:
        [n, 3] predictions.
    """
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        return tf.keras.models.load_model(unpack(files, folder)).predict(x)


def fine_tune(files, data, steps):
    """Loads a SavedModel of Keras, and continues training.

    Args:
        files: as for `serve`.
        data, steps: as for `resume`.

    Returns:
        ([steps] float32 array of the losses, list of the weights).
    """
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        model = tf.keras.models.load_model(unpack(files, folder))
        return fit(model, data, steps), model.get_weights()


def load_exported(files, x):
    """Loads the output of `export_saved_model` as a Keras model.

    Args:
        files: the directory that `export_saved_model` wrote.
        x: as for `load_whole`.

    Returns:
        (list of the weights, [n, 3] predictions).
    """
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        path = unpack(files, folder)
        model = tf.keras.experimental.load_from_saved_model(path)
        return model.get_weights(), model.predict(x)


def look(files):
    """Reads version, layers, loss and learning rate of an `.h5` file; makes no model.

    Args:
        files: as for `load_whole`.

    Returns:
        dict: `version` of Keras, `layers` as {name: {weight: shape}}, and the `loss`
        and learning `rate` of the training.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(unpack(files, folder), "model.h5")
        with h5py.File(path, "r") as file:
            group = file["model_weights"]
            names = [name.decode("utf8") for name in group.attrs["layer_names"]]
            training = json.loads(file.attrs["training_config"].decode("utf8"))
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
