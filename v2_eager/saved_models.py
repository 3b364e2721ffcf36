"""`SavedModelBuilder`, frozen `.pb`, `import_meta_graph` → `tf.saved_model`, TFLite."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from google.protobuf import descriptor_pool, message_factory, text_format

from v2_eager.numerics import optimizers

__all__ = [
    "export",
    "serve",
    "fetch",
    "serve_words",
    "fine_tune",
    "freeze",
    "run_frozen",
    "detect",
    "train_on",
    "restore_meta_graph",
    "to_tflite",
]


def export(x, weights, files=False):
    """Saves a model with a signature, loads it as a server does, and runs it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        # --- save
        model = Dense(weights)
        spec = tf.TensorSpec([None, x.shape[1]], x.dtype, name="x")
        # A signature is a traced function; the keys of its output dict are the names
        # that servers see.
        served = tf.function(lambda x: {"y": model(x)}, input_signature=[spec])
        tf.saved_model.save(model, path, signatures={"serving_default": served})
        # --- load
        loaded = tf.saved_model.load(path)
        signature = loaded.signatures["serving_default"]
        # --- inspect
        inputs = signature.structured_input_signature[1]
        tensors = {**inputs, **signature.structured_outputs}
        answer = {"signature": [described(n, tensors[n]) for n in ("x", "y")]}
        # The loaded object has the attributes of the saved model.
        variables = [loaded.kernel, loaded.bias]
        answer["variables"] = {v.name.split(":")[0]: v.numpy() for v in variables}
        # --- run
        answer["y"] = signature(x=tf.constant(x))["y"].numpy()
        return {**answer, "files": pack(path)} if files else answer


class Dense(tf.Module):
    """A dense layer whose variables are named as in TensorFlow 1.

    A call takes [n, features] floats and returns [n, units].

    A `tf.Module` does not find the variables of a `keras.layers.Dense`.

    Args:
        weights: {"kernel": [features, units] array, "bias": [units] array}.
    """

    def __init__(self, weights):
        super().__init__()
        self.kernel = tf.Variable(weights["kernel"], name="dense/kernel")
        self.bias = tf.Variable(weights["bias"], name="dense/bias")

    def __call__(self, x):
        return _dense(x, self.kernel, self.bias)


def _dense(x, kernel, bias):
    return tf.nn.relu(tf.nn.bias_add(tf.matmul(x, kernel), bias))


def described(name, spec):
    """Describes a tensor of a signature as text: "x: float32 [None, 2]"."""
    return f"{name}: {spec.dtype.name} {spec.shape.as_list()}"


def pack(folder):
    """Reads the files of a directory into {path: bytes as a uint8 array}."""
    packed = {}
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            packed[os.path.relpath(path, folder)] = np.fromfile(path, np.uint8)
    return {path: packed[path] for path in sorted(packed)}


def unpack(files, folder):
    """Writes the files that `pack` read; returns the folder."""
    for name, content in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        content.tofile(path)
    return folder


def serve(files, inputs, tags=("serve",), signature="serving_default"):
    """Loads a SavedModel of TensorFlow 1, and runs one of its signatures."""
    with tempfile.TemporaryDirectory() as folder:
        # --- load
        loaded = tf.saved_model.load(unpack(files, folder), list(tags))
        function = loaded.signatures[signature]
        # --- run
        # A placeholder accepted every dtype that NumPy can cast; a function accepts
        # only its own dtype.
        specs = function.structured_input_signature[1]
        feed = {n: tf.constant(x, specs[n].dtype) for n, x in inputs.items()}
        return {name: y.numpy() for name, y in function(**feed).items()}


def fetch(files, feed, fetches):
    """Loads a SavedModel of TensorFlow 1, and computes tensors by their names."""
    with tempfile.TemporaryDirectory() as folder:
        # --- load
        loaded = tf.saved_model.load(unpack(files, folder), ["serve"])
        # --- run
        # A loaded SavedModel of TensorFlow 1 has `prune`: a function from some tensors
        # to other tensors.
        function = loaded.prune(list(feed), fetches)
        return ask(function, feed)


def serve_words(words, vocabulary, vectors, files=False):
    """Saves a lookup table with its vocabulary and two signatures, and runs both."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        # --- save
        source = os.path.join(folder, "words.txt")
        with open(source, "w", encoding="utf-8", newline="\n") as file:
            file.write("\n".join(vocabulary))
        model = Words(source, vectors)
        functions = {"ids": model.ids, "vectors": model.vectors}
        tf.saved_model.save(model, path, functions)
        os.remove(source)  # the model has its own copy
        # --- load
        # The tag is always "serve": there is one graph with any number of functions.
        loaded = tf.saved_model.load(path)
        # --- run
        answer = {"assets": os.listdir(os.path.join(path, "assets"))}
        for name, signature in sorted(loaded.signatures.items()):
            answer[name] = signature(words=tf.constant(words))["answer"].numpy()
        return {**answer, "files": pack(path)} if files else answer


class Words(tf.Module):
    """A vocabulary and its embedding vectors, with one signature for each.

    `ids` and `vectors` take [n] strings and return {"answer": [n] int64 or [n, units]}.
    All attributes are saved, the vocabulary's file as an asset.

    Args:
        path: path of a text file with one word per line; out-of-vocabulary words have
            id 0.
        vectors: [words, units] float array.
    """

    def __init__(self, path, vectors):
        super().__init__()
        self.asset = tf.saved_model.Asset(path)  # copied to the model's assets
        lines = tf.lookup.TextFileIndex
        initializer = tf.lookup.TextFileInitializer(
            self.asset, tf.string, lines.WHOLE_LINE, tf.int64, lines.LINE_NUMBER
        )
        self.table = tf.lookup.StaticHashTable(initializer, 0)
        self.embedding = tf.Variable(vectors)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="words")])
    def ids(self, words):
        return {"answer": self.table.lookup(words)}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="words")])
    def vectors(self, words):
        ids = self.table.lookup(words)
        return {"answer": tf.nn.embedding_lookup(self.embedding, ids)}


def fine_tune(files, x, y, steps, rate=0.125):
    """Trains a SavedModel of TensorFlow 1 without the code that made it."""
    with tempfile.TemporaryDirectory() as folder:
        # --- load
        loaded = tf.saved_model.load(unpack(files, folder), ["serve"])
        # The loaded variables are reference variables, which a tape does not record:
        # make new variables in their place.
        reader = tf.train.load_checkpoint(os.path.join(folder, "variables/variables"))
        names = sorted(reader.get_variable_to_shape_map())
        variables = {name: tf.Variable(reader.get_tensor(name)) for name in names}
        # --- build
        feeds = ["x:0"] + [name + "/read:0" for name in variables]
        model = loaded.prune(feeds, ["output:0"])
        optimizer = optimizers.GradientDescent(rate)

        @tf.function
        def step(x, y):
            with tf.GradientTape() as tape:
                (outputs,) = model(x, *map(tf.identity, variables.values()))
                loss = tf.reduce_mean(tf.square(outputs - y))
            trained = list(variables.values())
            # A global step has the gradient None, so it is not changed.
            optimizer.apply_gradients(zip(tape.gradient(loss, trained), trained))
            return loss

        # --- step
        batch = tf.constant(x), tf.constant(y)
        losses = [step(*batch).numpy() for _ in range(steps)]
    variables = {name: v.numpy() for name, v in variables.items()}
    return {"losses": np.array(losses, x.dtype), "variables": variables}


def freeze(x, weights, as_text=False, files=False):
    """Writes a frozen graph (variables as constants), reads it, and runs it."""
    with tempfile.TemporaryDirectory() as folder:
        # --- freeze
        model = Dense(weights)
        # A trace captures a variable, but makes a constant of an array.
        kernel, bias = model.kernel.numpy(), model.bias.numpy()

        @tf.function(input_signature=[tf.TensorSpec([None, x.shape[1]], x.dtype, "x")])
        def frozen(x):
            return tf.identity(_dense(x, kernel, bias), "output")

        frozen = frozen.get_concrete_function().graph.as_graph_def()
        # --- write
        name = "frozen.pbtxt" if as_text else "frozen.pb"
        tf.io.write_graph(frozen, folder, name, as_text)
        packed = pack(folder)
    # --- run
    (y,) = run_frozen(packed[name], {"x:0": x}, ["output:0"], as_text)
    constants = sum(node.op == "Const" for node in frozen.node)
    answer = {"y": y, "constants": constants}
    return {**answer, "files": packed} if files else answer


def run_frozen(graph, feed, fetches, as_text=False):
    """Reads a frozen graph, and computes tensors by their names.

    Args:
        feed: {name of a tensor: array}, any tensors whose values make the fetches
            computable; arrays of another dtype are cast (ValueError in TensorFlow 1).

    Raises:
        tf.errors.InvalidArgumentError: an array has a wrong shape (ValueError in
            TensorFlow 1).
    """
    # --- read
    graph_def = message_class("GraphDef")()
    if as_text:
        text_format.Parse(graph.tobytes(), graph_def)
    else:
        graph_def.ParseFromString(graph.tobytes())
    # --- import
    # import_graph_def in a tf.function could not run loops of TensorFlow 1.
    meta = message_class("MetaGraphDef")(graph_def=graph_def)
    function = from_graph(meta, feed, fetches)
    # --- run
    return ask(function, feed)


def message_class(name):
    """Returns the class of one of TensorFlow's protocol messages, such as "GraphDef".

    TensorFlow 2 has no public name for it, but protocol buffers find a class by the
    message's name.

    Args:
        name: name of the message, without its package.

    Raises:
        KeyError: the message does not exist.
    """
    pool = descriptor_pool.Default()
    descriptor = pool.FindMessageTypeByName(f"tensorflow.{name}")
    return message_factory.GetMessageClass(descriptor)


def ask(function, feed):
    """Runs a function of a graph on arrays, which are cast as a session did."""
    dtypes = [tensor.dtype for tensor in function.inputs]
    return [y.numpy() for y in function(*map(tf.constant, feed.values(), dtypes))]


def from_graph(meta, feeds, fetches, checkpoint=None):
    """Makes a function from some tensors of a TensorFlow 1 graph to other tensors.

    It writes the graph and its checkpoint as a SavedModel, which is a graph with a tag
    and a checkpoint under fixed names, and loads that.

    Args:
        meta: the graph, a MetaGraphDef; this function adds the tag.
        feeds: names of the tensors that are the function's arguments.
        fetches: list of the names of the tensors that the function returns.
        checkpoint: prefix of the checkpoint's files, or None for a graph without
            variables.
    """
    meta.meta_info_def.tags.append("serve")
    saved_model = message_class("SavedModel")
    model = saved_model(saved_model_schema_version=1, meta_graphs=[meta])
    with tempfile.TemporaryDirectory() as folder:
        with tf.io.gfile.GFile(os.path.join(folder, "saved_model.pb"), "wb") as file:
            file.write(model.SerializeToString())
        variables = os.path.join(folder, "variables", "variables")
        tf.io.gfile.makedirs(os.path.dirname(variables))
        if checkpoint:
            for source in tf.io.gfile.glob(checkpoint + ".[id]*"):  # .index and .data…
                tf.io.gfile.copy(source, variables + source[len(checkpoint) :])
        return tf.saved_model.load(folder).prune(list(feeds), fetches)


def detect(image, anchors, limit):
    """Exports an object detector of bright spots, and runs it on one image."""
    with tempfile.TemporaryDirectory() as folder:
        # --- export
        detector = Detector(anchors, limit)
        tf.saved_model.save(detector, folder, signatures=detector.__call__)
        # --- load
        ask_it = tf.saved_model.load(folder).signatures["serving_default"]
        # --- run
        # A signature returns all its outputs: see `ask_it.structured_outputs`.
        found = ask_it(input_tensor=tf.constant(image)[tf.newaxis])
    found = {key: value.numpy() for key, value in found.items()}
    count = int(found["num_detections"][0])
    return {
        "count": count,
        "keys": sorted(found),
        "boxes": found["detection_boxes"][0][:count],
        "scores": found["detection_scores"][0][:count],
        "classes": found["detection_classes"][0][:count].astype(np.int64),
    }


class Detector(tf.Module):
    """Scores boxes of one image, and keeps the brightest that do not overlap.

    A call takes [1, height, width, 3] uint8 and returns a dict of float32 tensors, as
    the Object Detection API: `num_detections`, [1], `detection_boxes`, [1, limit, 4],
    `detection_scores` and `detection_classes`, [1, limit], zeros past the number.

    Args:
        anchors: [n, 4] float32 array, boxes as shares of the height and the width.
        limit: the largest number of boxes.
    """

    def __init__(self, anchors, limit):
        super().__init__()
        self.anchors, self.limit = tf.constant(anchors), limit

    @tf.function(
        input_signature=[tf.TensorSpec([1, None, None, 3], tf.uint8, "input_tensor")]
    )
    def __call__(self, images):
        pixels = tf.cast(images, tf.float32) / 255
        of_the_first = tf.zeros(len(self.anchors), tf.int32)
        crops = tf.image.crop_and_resize(pixels, self.anchors, of_the_first, [4, 4])
        colours = tf.reduce_mean(crops, [1, 2])
        scores = tf.reduce_max(colours, 1)
        kept = tf.image.non_max_suppression(self.anchors, scores, self.limit, 0.5)
        count = tf.size(kept)
        classes = tf.cast(tf.argmax(colours, 1) + 1, tf.float32)

        def padded(values):
            rest = [[0, self.limit - count]] + [[0, 0]] * (values.shape.rank - 1)
            return tf.pad(tf.gather(values, kept), rest)[tf.newaxis]

        return {
            "num_detections": tf.cast(count, tf.float32)[tf.newaxis],
            "detection_boxes": padded(self.anchors),
            "detection_scores": padded(scores),
            "detection_classes": padded(classes),
        }


def train_on(x, y, weights, stop, steps, rate=0.125, files=False):
    """Trains, saves graph and variables, and continues without the model's code."""
    with tempfile.TemporaryDirectory() as folder:
        # --- build
        model = Dense(weights)
        optimizer = optimizers.GradientDescent(rate)

        # To save the step, make it an attribute with an input_signature.
        @tf.function(
            input_signature=[
                tf.TensorSpec([None, x.shape[1]], x.dtype),
                tf.TensorSpec([None, y.shape[1]], y.dtype),
            ]
        )
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(model(x) - y))
            variables = [model.kernel, model.bias]
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return loss

        model.step = step
        # --- step
        batch = tf.constant(x), tf.constant(y)
        losses = [model.step(*batch).numpy() for _ in range(stop)]
        # --- save
        tf.saved_model.save(model, folder)
        # --- load
        loaded = tf.saved_model.load(folder)
        # --- continue
        losses += [loaded.step(*batch).numpy() for _ in range(steps)]
        variables = {v.name[:-2]: v.numpy() for v in (loaded.kernel, loaded.bias)}
        answer = {"losses": np.array(losses, x.dtype), "variables": variables}
        return {**answer, "files": pack(folder)} if files else answer


def restore_meta_graph(files, feed, fetches, clear_devices=False):
    """Imports a TensorFlow 1 MetaGraph, restores it, and computes tensors by name."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(unpack(files, folder), "model.ckpt")
        # --- load
        meta = message_class("MetaGraphDef")()
        with tf.io.gfile.GFile(path + ".meta", "rb") as file:
            meta.ParseFromString(file.read())
        if clear_devices:
            for node in meta.graph_def.node:
                node.device = ""
        function = from_graph(meta, feed, fetches, path)
        # --- run
        return ask(function, feed)


def to_tflite(x, weights, files=False):
    """Converts a model to TensorFlow Lite, and runs it in the interpreter."""
    # --- convert
    model = Dense(weights)
    function = tf.function(model, input_signature=[tf.TensorSpec(x.shape, x.dtype)])
    converter = tf.lite.TFLiteConverter.from_concrete_functions(
        [function.get_concrete_function()], model
    )
    converted = converter.convert()
    # --- run
    answer = {"y": run_tflite(converted, x)}
    packed = {"model.tflite": np.frombuffer(converted, np.uint8)}
    return {**answer, "files": packed} if files else answer


def run_tflite(model, x):
    """Runs a converted model that has one input and one output."""
    interpreter = tf.lite.Interpreter(model_content=model)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
