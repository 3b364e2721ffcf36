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
    """Saves a model with its signature, loads it as a server would, and asks it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        # --- save
        model = Dense(weights)
        spec = tf.TensorSpec([None, x.shape[1]], x.dtype, name="x")
        # A signature is a traced function, its outputs a dict: their names for servers.
        served = tf.function(lambda x: {"y": model(x)}, input_signature=[spec])
        tf.saved_model.save(model, path, signatures={"serving_default": served})
        # --- load
        loaded = tf.saved_model.load(path)
        signature = loaded.signatures["serving_default"]
        # --- look
        inputs = signature.structured_input_signature[1]
        tensors = {**inputs, **signature.structured_outputs}
        answer = {"signature": [described(n, tensors[n]) for n in ("x", "y")]}
        # What was an attribute of the model is one of what is loaded.
        variables = [loaded.kernel, loaded.bias]
        answer["variables"] = {v.name.split(":")[0]: v.numpy() for v in variables}
        # --- ask
        answer["y"] = signature(x=tf.constant(x))["y"].numpy()
        return {**answer, "files": pack(path)} if files else answer


class Dense(tf.Module):
    """A dense layer, its variables named as in TensorFlow 1.

    A call takes [n, features] floats and returns [n, units].

    A `tf.Module` finds no variables of a `keras.layers.Dense`.

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
    """A tensor of a signature in words: "x: float32 [None, 2]"."""
    return f"{name}: {spec.dtype.name} {spec.shape.as_list()}"


def pack(folder):
    """{path: bytes as a uint8 array} of the files in a directory."""
    packed = {}
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            packed[os.path.relpath(path, folder)] = np.fromfile(path, np.uint8)
    return {path: packed[path] for path in sorted(packed)}


def unpack(files, folder):
    """Writes what `pack` made; returns the folder."""
    for name, content in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        content.tofile(path)
    return folder


def serve(files, inputs, tags=("serve",), signature="serving_default"):
    """Loads a model that TensorFlow 1 saved, and asks one of its signatures."""
    with tempfile.TemporaryDirectory() as folder:
        # --- load
        loaded = tf.saved_model.load(unpack(files, folder), list(tags))
        function = loaded.signatures[signature]
        # --- ask
        # A placeholder took what NumPy could cast; a function wants its own dtype.
        specs = function.structured_input_signature[1]
        feed = {n: tf.constant(x, specs[n].dtype) for n, x in inputs.items()}
        return {name: y.numpy() for name, y in function(**feed).items()}


def fetch(files, feed, fetches):
    """Loads a model that TensorFlow 1 saved, and asks for its tensors by name."""
    with tempfile.TemporaryDirectory() as folder:
        # --- load
        loaded = tf.saved_model.load(unpack(files, folder), ["serve"])
        # --- ask
        # What TensorFlow 1 saved has `prune`: the function from these tensors to those.
        function = loaded.prune(list(feed), fetches)
        return ask(function, feed)


def serve_words(words, vocabulary, vectors, files=False):
    """Saves a lookup table with its vocabulary and two signatures, and asks both."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        # --- save
        source = os.path.join(folder, "words.txt")
        with open(source, "w", encoding="utf-8", newline="\n") as file:
            file.write("\n".join(vocabulary))
        model = Words(source, vectors)
        functions = {"ids": model.ids, "vectors": model.vectors}
        tf.saved_model.save(model, path, functions)
        os.remove(source)  # the model has its own
        # --- load
        # The tag is always "serve": one graph, any number of functions.
        loaded = tf.saved_model.load(path)
        # --- ask
        answer = {"assets": os.listdir(os.path.join(path, "assets"))}
        for name, signature in sorted(loaded.signatures.items()):
            answer[name] = signature(words=tf.constant(words))["answer"].numpy()
        return {**answer, "files": pack(path)} if files else answer


class Words(tf.Module):
    """A vocabulary and its vectors, with a signature for each.

    `ids` and `vectors` take [n] strings and return {"answer": [n] int64 or [n, units]}.
    Whatever is an attribute is saved, the vocabulary's file as an asset.

    Args:
        path: of a text file with one word per line; out-of-vocabulary words are 0.
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
    """Trains a model that TensorFlow 1 saved, without the code that made it."""
    with tempfile.TemporaryDirectory() as folder:
        # --- load
        loaded = tf.saved_model.load(unpack(files, folder), ["serve"])
        # Its variables are references, which no tape sees: make others in their place.
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
            # A global step's gradient is None, which leaves it as it is.
            optimizer.apply_gradients(zip(tape.gradient(loss, trained), trained))
            return loss

        # --- step
        batch = tf.constant(x), tf.constant(y)
        losses = [step(*batch).numpy() for _ in range(steps)]
    variables = {name: v.numpy() for name, v in variables.items()}
    return {"losses": np.array(losses, x.dtype), "variables": variables}


def freeze(x, weights, as_text=False, files=False):
    """Writes a model whose variables have become constants, reads it, and asks it."""
    with tempfile.TemporaryDirectory() as folder:
        # --- freeze
        model = Dense(weights)
        # A variable is captured by the graph that is traced, an array is a constant.
        kernel, bias = model.kernel.numpy(), model.bias.numpy()

        @tf.function(input_signature=[tf.TensorSpec([None, x.shape[1]], x.dtype, "x")])
        def frozen(x):
            return tf.identity(_dense(x, kernel, bias), "output")

        frozen = frozen.get_concrete_function().graph.as_graph_def()
        # --- write
        name = "frozen.pbtxt" if as_text else "frozen.pb"
        tf.io.write_graph(frozen, folder, name, as_text)
        packed = pack(folder)
    # --- ask
    (y,) = run_frozen(packed[name], {"x:0": x}, ["output:0"], as_text)
    constants = sum(node.op == "Const" for node in frozen.node)
    answer = {"y": y, "constants": constants}
    return {**answer, "files": packed} if files else answer


def run_frozen(graph, feed, fetches, as_text=False):
    """Reads a frozen graph, and asks for its tensors by name.

    Args:
        feed: {name of a tensor: array}, any tensors that cut the graph; arrays of
            another dtype are cast (ValueError in TensorFlow 1).

    Raises:
        tf.errors.InvalidArgumentError: an array's shape does not fit (ValueError in
            TensorFlow 1).
    """
    # --- read
    graph_def = message_class("GraphDef")()
    if as_text:
        text_format.Parse(graph.tobytes(), graph_def)
    else:
        graph_def.ParseFromString(graph.tobytes())
    # --- import
    # Not import_graph_def in a tf.function, which cannot run loops of TensorFlow 1.
    meta = message_class("MetaGraphDef")(graph_def=graph_def)
    function = from_graph(meta, feed, fetches)
    # --- ask
    return ask(function, feed)


def message_class(name):
    """The class of one of TensorFlow's messages, such as "GraphDef".

    TensorFlow 2 has no public name for it; protocol buffers find a class by the
    message's name.

    Args:
        name: of the message, without its package.

    Raises:
        KeyError: there is no such message.
    """
    pool = descriptor_pool.Default()
    descriptor = pool.FindMessageTypeByName(f"tensorflow.{name}")
    return message_factory.GetMessageClass(descriptor)


def ask(function, feed):
    """The arrays that a function of a graph makes of others, cast as a session did."""
    dtypes = [tensor.dtype for tensor in function.inputs]
    return [y.numpy() for y in function(*map(tf.constant, feed.values(), dtypes))]


def from_graph(meta, feeds, fetches, checkpoint=None):
    """The function from some tensors of a graph of TensorFlow 1 to others.

    A SavedModel is a graph, its checkpoint and a tag: with these names it is one.

    Args:
        meta: the graph, a MetaGraphDef, which gets the tag.
        feeds: the names of the tensors that the arguments stand for.
        fetches: list of the names of those that are returned.
        checkpoint: prefix of the files with the variables, if there are any.
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
            for source in tf.io.gfile.glob(checkpoint + ".[id]*"):  # .index and .data-…
                tf.io.gfile.copy(source, variables + source[len(checkpoint) :])
        return tf.saved_model.load(folder).prune(list(feeds), fetches)


def detect(image, anchors, limit):
    """Exports a detector of bright places, and asks it as object detection is asked."""
    with tempfile.TemporaryDirectory() as folder:
        # --- export
        detector = Detector(anchors, limit)
        tf.saved_model.save(detector, folder, signatures=detector.__call__)
        # --- load
        ask_it = tf.saved_model.load(folder).signatures["serving_default"]
        # --- ask
        # A signature answers all it has: look into `ask_it.structured_outputs`.
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
    """Looks at boxes of one image, and keeps the brightest that do not overlap.

    A call takes [1, height, width, 3] uint8 and returns a dict of float32 tensors, as
    object detection has them: `num_detections`, [1], `detection_boxes`, [1, limit, 4],
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
    """Trains, saves graph and variables, and goes on without the code of the model."""
    with tempfile.TemporaryDirectory() as folder:
        # --- build
        model = Dense(weights)
        optimizer = optimizers.GradientDescent(rate)

        # A step that is to be saved is an attribute, its signature known.
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
        # --- go on
        losses += [loaded.step(*batch).numpy() for _ in range(steps)]
        variables = {v.name[:-2]: v.numpy() for v in (loaded.kernel, loaded.bias)}
        answer = {"losses": np.array(losses, x.dtype), "variables": variables}
        return {**answer, "files": pack(folder)} if files else answer


def restore_meta_graph(files, feed, fetches, clear_devices=False):
    """Imports a MetaGraph of TensorFlow 1, restores it, asks for tensors by name."""
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
        # --- ask
        return ask(function, feed)


def to_tflite(x, weights, files=False):
    """Converts a model for TensorFlow Lite, and asks its interpreter."""
    # --- convert
    model = Dense(weights)
    function = tf.function(model, input_signature=[tf.TensorSpec(x.shape, x.dtype)])
    converter = tf.lite.TFLiteConverter.from_concrete_functions(
        [function.get_concrete_function()], model
    )
    converted = converter.convert()
    # --- ask
    answer = {"y": run_tflite(converted, x)}
    packed = {"model.tflite": np.frombuffer(converted, np.uint8)}
    return {**answer, "files": packed} if files else answer


def run_tflite(model, x):
    """What a converted model of one input and one output answers."""
    interpreter = tf.lite.Interpreter(model_content=model)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
