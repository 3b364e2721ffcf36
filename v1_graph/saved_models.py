"""`SavedModelBuilder`, frozen `.pb`, `import_meta_graph` → `tf.saved_model`, TFLite."""

import os
import re
import shutil
import sys
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf
from google.protobuf import text_format
from tensorflow.core.protobuf import saved_model_pb2

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


PROTOCOL_BUFFERS = {
    "saved_model.pb": saved_model_pb2.SavedModel,
    "model.ckpt.meta": tf.MetaGraphDef,
    "frozen.pb": tf.GraphDef,
}


def export(x, weights, files=False):
    """Saves a model with a signature, loads it as a server does, and runs it.

    Args:
        x: [n, features] float array.
        weights: {"kernel": [features, units], "bias": [units]}, arrays of the dtype of
            `x`.
        files: whether to return the written files, too.

    Returns:
        dict with the `signature` as text, the output `y`, the `variables` by name, and
        optionally the `files` as {path: bytes as a uint8 array}.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        # --- save
        with tf.Graph().as_default(), tf.Session() as sess:
            inputs = tf.placeholder(x.dtype, [None, x.shape[1]], name="x")
            outputs = _dense(inputs, weights)
            sess.run(tf.global_variables_initializer())
            tf.saved_model.simple_save(sess, path, {"x": inputs}, {"y": outputs})
        # --- load
        with tf.Graph().as_default(), tf.Session() as sess:
            tags = [tf.saved_model.tag_constants.SERVING]
            meta = tf.saved_model.loader.load(sess, tags, path)
            signature = meta.signature_def["serving_default"]
            # --- inspect
            tensors = {**signature.inputs, **signature.outputs}
            answer = {"signature": [_described(n, tensors[n]) for n in ("x", "y")]}
            answer["variables"] = {v.op.name: v.eval() for v in tf.global_variables()}
            # --- run
            feed = {signature.inputs["x"].name: x}
            answer["y"] = sess.run(signature.outputs["y"].name, feed)
        return {**answer, "files": _pack(path)} if files else answer


def _dense(inputs, weights):
    with tf.variable_scope("dense"):
        kernel = tf.get_variable("kernel", initializer=weights["kernel"])
        bias = tf.get_variable("bias", initializer=weights["bias"])
    hidden = tf.nn.bias_add(tf.matmul(inputs, kernel), bias, name="hidden")
    return tf.nn.relu(hidden, name="output")


def _described(name, info):
    shape = tf.TensorShape(info.tensor_shape)
    return "%s: %s %s" % (name, tf.as_dtype(info.dtype).name, shape.as_list())


def _pack(folder):
    """Reads the files of a directory into {path: bytes as a uint8 array}."""
    packed = {}
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            with open(path, "rb") as file:
                content = file.read()
            # Make the bytes deterministic: the order of maps and the names of temporary
            # files and directories are random.
            kind = PROTOCOL_BUFFERS.get(name)
            if kind:
                content = kind.FromString(content).SerializeToString(deterministic=True)
                content = re.sub(b"_temp_[0-9a-f]{32}", b"_temp_" + b"0" * 32, content)
                content = re.sub(b"tmp[0-9a-z_]{8}", b"tmp00000000", content)
            packed[os.path.relpath(path, folder)] = np.frombuffer(content, np.uint8)
    return {path: packed[path] for path in sorted(packed)}


def _unpack(files, folder):
    for name, content in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        content.tofile(path)
    return folder


def serve(files, inputs, tags=("serve",), signature="serving_default"):
    """Loads a SavedModel of TensorFlow 1, and runs one of its signatures.

    Args:
        files: {path: bytes as a uint8 array}, the directory of the model.
        inputs: {name in the signature: array}; numbers are cast to the signature's
            dtypes.
        tags: all tags of the graph to load.
        signature: the signature's name.

    Returns:
        {name in the signature: array}.

    Raises:
        OSError: there is no model in the directory, or the model cannot be read.
        RuntimeError: no graph has exactly these tags.
        KeyError: no signature has that name.
    """
    with tempfile.TemporaryDirectory() as folder:
        # --- load
        with tf.Graph().as_default(), tf.Session() as sess:
            meta = tf.saved_model.loader.load(sess, list(tags), _unpack(files, folder))
            # Reading a missing key of a message map would insert an empty signature.
            if signature not in meta.signature_def:
                raise KeyError(signature)
            definition = meta.signature_def[signature]
            # --- run
            feed = {definition.inputs[name].name: x for name, x in inputs.items()}
            fetches = {name: info.name for name, info in definition.outputs.items()}
            return sess.run(fetches, feed)


def fetch(files, feed, fetches):
    """Loads a SavedModel of TensorFlow 1, and computes tensors by their names.

    Args:
        files: {path: bytes as a uint8 array}, the directory of the model.
        feed: {name of a tensor: array}: any tensors whose values make the fetches
            computable.
        fetches: list of names of tensors.

    Returns:
        List of arrays.

    Raises:
        KeyError: the graph does not have such a tensor. (TensorFlow 1's session raises
            ValueError for a fetch, TypeError for a feed.)
    """
    with tempfile.TemporaryDirectory() as folder:
        # --- load
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.saved_model.loader.load(sess, ["serve"], _unpack(files, folder))
            # --- run
            return sess.run(fetches, feed)


def serve_words(words, vocabulary, vectors, files=False):
    """Saves a lookup table with its vocabulary and two signatures, and runs both.

    Args:
        words: [n] strings.
        vocabulary: list of words; a word's position is its id. Out-of-vocabulary words
            have id 0.
        vectors: [vocabulary size, units] float array.
        files: whether to return the written files, too.

    Returns:
        dict with the [n] int64 `ids`, the [n, units] `vectors`, the `assets`, and
        optionally the `files` as {path: bytes as a uint8 array}.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        # --- save
        source = os.path.join(folder, "words.txt")
        with open(source, "w") as file:
            file.write("\n".join(vocabulary))
        with tf.Graph().as_default(), tf.Session() as sess:
            inputs = tf.placeholder(tf.string, [None], name="words")
            lines = tf.lookup.TextFileIndex
            initializer = tf.lookup.TextFileInitializer(
                source, tf.string, lines.WHOLE_LINE, tf.int64, lines.LINE_NUMBER
            )
            ids = tf.lookup.StaticHashTable(initializer, 0).lookup(inputs)
            table = tf.get_variable("vectors", initializer=vectors)
            outputs = tf.nn.embedding_lookup(table, ids)
            sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
            builder = tf.saved_model.builder.SavedModelBuilder(path)
            builder.add_meta_graph_and_variables(
                sess,
                ["serve", "words"],
                {
                    "ids": _signature(inputs, ids),
                    "vectors": _signature(inputs, outputs),
                },
                assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
                legacy_init_op=tf.tables_initializer(),
            )
            builder.save()
        os.remove(source)  # the model has its own copy
        # --- load
        with tf.Graph().as_default(), tf.Session() as sess:
            meta = tf.saved_model.loader.load(sess, ["serve", "words"], path)
            # --- run
            answer = {"assets": os.listdir(os.path.join(path, "assets"))}
            for name, signature in sorted(meta.signature_def.items()):
                feed = {signature.inputs["words"].name: words}
                answer[name] = sess.run(signature.outputs["answer"].name, feed)
        return {**answer, "files": _pack(path)} if files else answer


def _signature(inputs, outputs):
    return tf.saved_model.signature_def_utils.build_signature_def(
        {"words": tf.saved_model.utils.build_tensor_info(inputs)},
        {"answer": tf.saved_model.utils.build_tensor_info(outputs)},
        tf.saved_model.signature_constants.PREDICT_METHOD_NAME,
    )


def fine_tune(files, x, y, steps, rate=0.125):
    """Trains a SavedModel of TensorFlow 1 without the code that made it.

    Args:
        files: {path: bytes as a uint8 array}, the directory of a model of `export`.
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        steps: number of steps of gradient descent.
        rate: learning rate.

    Returns:
        dict with the `losses` before each step and the `variables` by name.
    """
    with tempfile.TemporaryDirectory() as folder:
        # --- load
        with tf.Graph().as_default() as graph, tf.Session() as sess:
            tf.saved_model.loader.load(sess, ["serve"], _unpack(files, folder))
            # --- build
            outputs = graph.get_tensor_by_name("output:0")
            loss = tf.reduce_mean(tf.square(outputs - tf.constant(y)))
            optimizer = tf.train.GradientDescentOptimizer(rate)
            gradients = optimizer.compute_gradients(loss)
            with tf.control_dependencies([loss]):
                step = optimizer.apply_gradients(gradients)
            # --- step
            losses = [sess.run([loss, step], {"x:0": x})[0] for _ in range(steps)]
            variables = {v.op.name: sess.run(v) for v in tf.global_variables()}
    return {"losses": np.array(losses, x.dtype), "variables": variables}


def freeze(x, weights, as_text=False, files=False):
    """Writes a frozen graph (variables as constants), reads it, and runs it.

    Args:
        x: [n, features] float array.
        weights: {"kernel": [features, units], "bias": [units]}, arrays of the dtype of
            `x`.
        as_text: whether to write text instead of binary.
        files: whether to return the written files, too.

    Returns:
        dict with the output `y`, the number of `constants` among the nodes, and
        optionally the `files` as {path: bytes as a uint8 array}.
    """
    with tempfile.TemporaryDirectory() as folder:
        # --- freeze
        with tf.Graph().as_default(), tf.Session() as sess:
            inputs = tf.placeholder(x.dtype, [None, x.shape[1]], name="x")
            _dense(inputs, weights)
            sess.run(tf.global_variables_initializer())
            frozen = tf.graph_util.convert_variables_to_constants(
                sess, sess.graph_def, ["output"]
            )
        # --- write
        name = "frozen.pbtxt" if as_text else "frozen.pb"
        tf.train.write_graph(frozen, folder, name, as_text)
        packed = _pack(folder)
    # --- run
    (y,) = run_frozen(packed[name], {"x:0": x}, ["output:0"], as_text)
    constants = sum(node.op == "Const" for node in frozen.node)
    answer = {"y": y, "constants": constants}
    return {**answer, "files": packed} if files else answer


def run_frozen(graph, feed, fetches, as_text=False):
    """Reads a frozen graph, and computes tensors by their names.

    Args:
        graph: the bytes of the file as a uint8 array.
        feed: {name of a tensor: array}: any tensors whose values make the fetches
            computable.
        fetches: list of names of tensors.
        as_text: whether the file is text instead of binary.

    Returns:
        List of arrays.

    Raises:
        DecodeError: the file is not a graph; ParseError for a text file.
        ValueError: the graph does not have such a tensor (KeyError in TensorFlow 2).
    """
    # --- read
    graph_def = tf.GraphDef()
    if as_text:
        text_format.Parse(graph.tobytes(), graph_def)
    else:
        graph_def.ParseFromString(graph.tobytes())
    # --- import
    with tf.Graph().as_default(), tf.Session() as sess:
        inputs = {name: tf.placeholder(x.dtype, x.shape) for name, x in feed.items()}
        outputs = tf.import_graph_def(graph_def, inputs, fetches, name="")
        # --- run
        return sess.run(outputs, {inputs[name]: x for name, x in feed.items()})


def detect(image, anchors, limit):
    """Exports an object detector of bright spots, and runs it on one image.

    Args:
        image: [height, width, 3] uint8 array.
        anchors: [n, 4] float32 array, boxes as shares of the height and the width.
        limit: the largest number of boxes.

    Returns:
        dict with the `count` of detections, the `keys` of the model's outputs, and the
        detections' `boxes`, [count, 4], `scores`, [count], and `classes`, [count]
        int64: the brightest of the three colours, from 1.
    """
    with tempfile.TemporaryDirectory() as folder:
        # --- export
        with tf.Graph().as_default() as graph:
            images = tf.placeholder(tf.uint8, [1, None, None, 3], name="image_tensor")
            for key, value in _bright(images, tf.constant(anchors), limit).items():
                tf.identity(value, name=key)
            name = "frozen_inference_graph.pb"
            tf.train.write_graph(graph.as_graph_def(), folder, name, as_text=False)
        # --- load
        graph_def = tf.GraphDef()
        with tf.gfile.GFile(os.path.join(folder, name), "rb") as file:
            graph_def.ParseFromString(file.read())
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        # --- run
        every = {t.name for op in graph.get_operations() for t in op.outputs}
        tensors = {
            key: graph.get_tensor_by_name(key + ":0")
            for key in KEYS
            if key + ":0" in every
        }
        found = sess.run(tensors, {"image_tensor:0": image[np.newaxis]})
    return _of_one_image(found)


KEYS = (
    "num_detections",
    "detection_boxes",
    "detection_scores",
    "detection_classes",
    "detection_masks",
)


def _bright(images, anchors, limit):
    """Scores the crops of one image; the brightest come first, padded to the limit."""
    pixels = tf.cast(images, tf.float32) / 255
    of_the_first = tf.zeros(tf.shape(anchors)[:1], tf.int32)
    crops = tf.image.crop_and_resize(pixels, anchors, of_the_first, [4, 4])
    colours = tf.reduce_mean(crops, [1, 2])
    scores = tf.reduce_max(colours, 1)
    kept = tf.image.non_max_suppression(anchors, scores, limit, 0.5)
    count = tf.size(kept)
    classes = tf.cast(tf.argmax(colours, 1) + 1, tf.float32)

    def padded(values):
        rest = [[0, limit - count]] + [[0, 0]] * (values.shape.ndims - 1)
        return tf.pad(tf.gather(values, kept), rest)[tf.newaxis]

    return {
        "num_detections": tf.cast(count, tf.float32)[tf.newaxis],
        "detection_boxes": padded(anchors),
        "detection_scores": padded(scores),
        "detection_classes": padded(classes),
    }


def _of_one_image(found):
    """Returns the valid boxes of a batch of one; counts and classes become ints."""
    count = int(found["num_detections"][0])
    return {
        "count": count,
        "keys": sorted(found),
        "boxes": found["detection_boxes"][0][:count],
        "scores": found["detection_scores"][0][:count],
        "classes": found["detection_classes"][0][:count].astype(np.int64),
    }


def train_on(x, y, weights, stop, steps, rate=0.125, files=False):
    """Trains, saves graph and variables, and continues without the model's code.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        weights: {"kernel": [features, units] array, "bias": [units] array}, the initial
            values.
        stop: number of steps of gradient descent in the first program.
        steps: number of steps in the second program.
        rate: learning rate.
        files: whether to return the written files, too.

    Returns:
        dict with the `losses` before each step, the `variables` by name, and optionally
        the `files` as {path: bytes as a uint8 array}.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.ckpt")
        # --- build
        with tf.Graph().as_default(), tf.Session() as sess:
            inputs = tf.placeholder(x.dtype, [None, x.shape[1]], name="x")
            labels = tf.placeholder(y.dtype, [None, y.shape[1]], name="y")
            loss = tf.reduce_mean(tf.square(_dense(inputs, weights) - labels))
            optimizer = tf.train.GradientDescentOptimizer(rate)
            gradients = optimizer.compute_gradients(loss)
            with tf.control_dependencies([loss]):
                step = optimizer.apply_gradients(gradients)
            tf.add_to_collection("to train", step)
            tf.add_to_collection("to train", loss)
            saver = tf.train.Saver()
            sess.run(tf.global_variables_initializer())
            # --- step
            feed = {inputs: x, labels: y}
            losses = [sess.run([loss, step], feed)[0] for _ in range(stop)]
            # --- save
            saver.save(sess, path, write_state=False)  # also writes model.ckpt.meta
        # --- load
        with tf.Graph().as_default(), tf.Session() as sess:
            saver = tf.train.import_meta_graph(path + ".meta")
            saver.restore(sess, path)
            step, loss = tf.get_collection("to train")
            # --- continue
            feed = {"x:0": x, "y:0": y}
            losses += [sess.run([loss, step], feed)[0] for _ in range(steps)]
            variables = {v.op.name: sess.run(v) for v in tf.global_variables()}
        answer = {"losses": np.array(losses, x.dtype), "variables": variables}
        return {**answer, "files": _pack(folder)} if files else answer


def restore_meta_graph(files, feed, fetches, clear_devices=False):
    """Imports a TensorFlow 1 MetaGraph, restores it, and computes tensors by name.

    Args:
        files: {path: bytes as a uint8 array}, the checkpoint "model.ckpt" and its meta
            file.
        feed: {name of a tensor: array}: any tensors whose values make the fetches
            computable.
        fetches: list of names of tensors.
        clear_devices: whether to remove the nodes' devices.

    Returns:
        List of arrays.

    Raises:
        OSError: the meta file is missing (tf.errors.NotFoundError in TensorFlow 2).
        tf.errors.InvalidArgumentError: a node's device does not exist.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(_unpack(files, folder), "model.ckpt")
        # --- load
        with tf.Graph().as_default(), tf.Session() as sess:
            saver = tf.train.import_meta_graph(path + ".meta", clear_devices)
            saver.restore(sess, path)
            # --- run
            return sess.run(fetches, feed)


def to_tflite(x, weights, files=False):
    """Converts a model to TensorFlow Lite, and runs it in the interpreter.

    Args:
        x: [n, features] float32 array.
        weights: {"kernel": [features, units] array, "bias": [units] array}, float32.
        files: whether to return the converted model, too.

    Returns:
        dict with the output `y`, and optionally the `files` as {path: bytes as a uint8
        array}.
    """
    # --- convert
    with tf.Graph().as_default(), tf.Session() as sess:
        inputs = tf.placeholder(x.dtype, x.shape, name="x")
        outputs = _dense(inputs, weights)
        sess.run(tf.global_variables_initializer())
        if not shutil.which("toco_from_protos"):  # a script in the interpreter's folder
            os.environ["PATH"] += os.pathsep + os.path.dirname(sys.executable)
        converter = tf.lite.TFLiteConverter.from_session(sess, [inputs], [outputs])
        converted = converter.convert()
    # --- run
    answer = {"y": _run_tflite(converted, x)}
    packed = {"model.tflite": np.frombuffer(converted, np.uint8)}
    return {**answer, "files": packed} if files else answer


def _run_tflite(model, x):
    interpreter = tf.lite.Interpreter(model_content=model)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
