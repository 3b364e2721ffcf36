import os
import pathlib
import tempfile
import unittest

import numpy as np
import pytest
import tensorflow as tf
from google.protobuf.message import DecodeError
from google.protobuf.text_format import ParseError
from parameterized import parameterized
from tensorflow.core.framework import attr_value_pb2, graph_pb2
from tensorflow.core.protobuf import meta_graph_pb2, saved_model_pb2

from parity_tests import proof
from parity_tests.shorthand import refused
from tf1to2.parity import FalseFriend, Program, Raises, normal, structure
from tf1to2.parity.compare import compare
from tf1to2.parity.recordings import Recording
from tf1to2.parity.releases import here
from tf1to2.parity.v1 import legacy
from v1_graph import saved_models as v1
from v2_eager import saved_models as v2
from v2_keras import saved_models as v3

RNG = np.random.RandomState(0)
DATA = [RNG.standard_normal((4, 3)), RNG.standard_normal((4, 2))]
START = {"kernel": RNG.standard_normal((3, 2)), "bias": RNG.standard_normal(2)}
SMALL = {"kernel": np.float32([[1, 2], [3, 4], [5, 6]]), "bias": np.float32([-9, 1])}
INTEGERS = np.float32([[1, 2, 0], [0, -1, 3]])
ANSWER = [[0, 11], [3, 15]]
LINE = [normal(4, 3), {"kernel": normal(3, 2), "bias": normal(2)}]
WORDS = np.array(["sat", "dog", "cat", "the"])
JUNK = np.full(20, 255, np.uint8)
PICTURE = RNG.randint(0, 256, [67, 53, 3]).astype("u1")
PLACES = RNG.uniform(0, 0.75, [64, 2]).astype("f")
ANCHORS = np.concatenate([PLACES, PLACES + RNG.uniform(0.1, 0.25, [64, 2])], 1)
ANCHORS = ANCHORS.astype("f")
# A dark corner, a blue corner, and a box that overlaps the blue corner but is darker.
SPOTS = np.zeros([4, 4, 3], "u1")
SPOTS[2:, 2:, 2] = 255
CORNERS = np.float32([[0, 0, 1, 1], [1, 2, 3, 3], [2, 2, 3, 3]]) / 3
VOCABULARY = [["the", "cat", "sat"], np.float32([[1, 2], [3, 4], [5, 6]])]


def genuine(key):
    """Returns the files that the real TensorFlow 1.15.5 wrote in a recorded case.

    They are inputs of other cases. If the left page changes and writes other files, run
    `make record` twice: once for the files, and once for the cases that read them.
    """
    path = pathlib.Path(__file__).parent / "golden" / "saved_models.npz"
    number = Recording(path, v1).about["entries"][key]["number"]
    prefix = f"{number}:outputs/files/"
    with np.load(path) as store:
        return {n[len(prefix) :]: store[n] for n in store.files if n.startswith(prefix)}


LOADED = "the functions are the file's: they run as graphs in both ways"
WRITTEN = {
    "graph": "the bytes are those of another TensorFlow",
    "eager": "this side has another format",
    "function": "this side has another format",
}
FILES = [
    Program("export", "its files", [DATA[0], START, True], skip=WRITTEN),
    Program(
        "export",
        "its files in float32",
        [INTEGERS, SMALL, True],
        exact=True,
        skip=WRITTEN,
    ),
    Program("serve_words", "its files", [WORDS, *VOCABULARY, True], skip=WRITTEN),
    Program("freeze", "its files", [DATA[0], START, False, True], skip=WRITTEN),
    Program("freeze", "its files as text", [DATA[0], START, True, True], skip=WRITTEN),
    Program(
        "train_on", "its files", [*DATA, START, 2, 0], {"files": True}, skip=WRITTEN
    ),
    Program(
        "to_tflite", "its files", [INTEGERS, SMALL, True], exact=True, skip=WRITTEN
    ),
]
MODEL = genuine("export, its files")
WORD_MODEL = genuine("serve_words, its files")
FROZEN = genuine("freeze, its files")["frozen.pb"]
FROZEN_TEXT = genuine("freeze, its files as text")["frozen.pbtxt"]
META_GRAPH, META = genuine("train_on, its files"), "model.ckpt.meta"


def without(files, *names):
    return {name: content for name, content in files.items() if name not in names}


def with_debug_name(files):
    """Returns the model with one more node: a variable as TensorFlow 2 writes it."""
    model = saved_model_pb2.SavedModel.FromString(files["saved_model.pb"].tobytes())
    node = model.meta_graphs[0].graph_def.node.add(name="v", op="VarHandleOp")
    node.attr["dtype"].type = tf.float32.as_datatype_enum
    node.attr["shape"].shape.SetInParent()
    node.attr["debug_name"].s = b"v/"
    content = model.SerializeToString(deterministic=True)
    return {**files, "saved_model.pb": np.frombuffer(content, np.uint8)}


def placed(meta_graph, device):
    """Returns the MetaGraph with all its nodes on one device."""
    meta = meta_graph_pb2.MetaGraphDef.FromString(meta_graph.tobytes())
    for node in meta.graph_def.node:
        node.device = device
    return np.frombuffer(meta.SerializeToString(deterministic=True), np.uint8)


def loop():
    """Returns a TensorFlow 1 graph with a `tf.while_loop` that doubles x up to 100."""
    graph = graph_pb2.GraphDef()
    graph.versions.producer = 134

    def add(op, name, inputs=(), **attributes):
        node = graph.node.add(op=op, name=name, input=inputs)
        if op not in ("Placeholder", "LoopCond", "Const"):
            node.attr["T"].type = tf.float64.as_datatype_enum
        for key, value in attributes.items():
            node.attr[key].CopyFrom(value)

    def const(name, value, after):
        tensor = attr_value_pb2.AttrValue(tensor=tf.make_tensor_proto(value))
        add("Const", name, ["^" + after], dtype=float64, value=tensor)

    float64 = attr_value_pb2.AttrValue(type=tf.float64.as_datatype_enum)
    frame = attr_value_pb2.AttrValue(s=b"loop")
    add("Placeholder", "x", dtype=float64)
    add("Enter", "enter", ["x"], frame_name=frame)
    add("Merge", "merge", ["enter", "next"], N=attr_value_pb2.AttrValue(i=2))
    const("limit", np.float64(100), "merge")
    add("Less", "less", ["merge", "limit"])
    add("LoopCond", "condition", ["less"])
    add("Switch", "switch", ["merge", "condition"])
    add("Identity", "body", ["switch:1"])
    const("two", np.float64(2), "body")
    add("Mul", "product", ["body", "two"])
    add("NextIteration", "next", ["product"])
    add("Exit", "exit", ["switch"])
    return np.frombuffer(graph.SerializeToString(deterministic=True), np.uint8)


def with_new_attribute(graph):
    """Returns the frozen graph with a `MatMul` node as TensorFlow 2 writes it."""
    graph_def = graph_pb2.GraphDef.FromString(graph.tobytes())
    (product,) = [node for node in graph_def.node if node.op == "MatMul"]
    product.attr["grad_a"].b = False
    return np.frombuffer(graph_def.SerializeToString(deterministic=True), np.uint8)


def train_the_variables_of_what_is_loaded(files, x, y, steps):
    names = ["dense/bias", "dense/kernel"]
    with tempfile.TemporaryDirectory() as folder:
        loaded = tf.saved_model.load(v2.unpack(files, folder))
        losses = []
        for _ in range(steps):
            with tf.GradientTape() as tape:
                outputs = loaded.signatures["serving_default"](x=tf.constant(x))["y"]
                loss = tf.reduce_mean(tf.square(outputs - y))
            losses.append(loss.numpy())
            gradients = tape.gradient(loss, list(loaded.variables))
            for variable, gradient in zip(loaded.variables, gradients):
                variable.assign_sub(0.125 * gradient)
        values = loaded.prune([], [name + "/read:0" for name in names])()
    return {"losses": np.array(losses), "variables": dict(zip(names, values))}


INVALID, MISSING = tf.errors.InvalidArgumentError, tf.errors.NotFoundError
ON_A_SERVER, ON_A_GPU = (
    {**META_GRAPH, META: placed(META_GRAPH[META], device)}
    for device in ("/job:ps/task:0", "/device:GPU:7")
)
CASES = [
    *FILES,
    Program("export", "the classic", LINE),
    Program(
        "export",
        "in numbers",
        [INTEGERS, SMALL],
        expect={
            "signature": ["x: float32 [None, 3]", "y: float32 [None, 2]"],
            "variables": {"dense/kernel": SMALL["kernel"], "dense/bias": [-9, 1]},
            "y": ANSWER,
        },
        exact=True,
    ),
    refused(
        "export",
        "features that do not fit",
        [DATA[1], START],
        "Dimensions must be equal|Matrix size-incompatible",
    ),
    Program(
        "serve", "a model of 1.15.5", [MODEL, {"x": DATA[0]}], skip={"function": LOADED}
    ),
    Program(
        "serve",
        "float32 for a model in float64",
        [MODEL, {"x": INTEGERS}],
        skip={"function": LOADED},
    ),
    Program(
        "serve",
        "whole numbers",
        [MODEL, {"x": np.int64([[1, 2, 3]])}],
        skip={"function": LOADED},
    ),
    Program(
        "serve",
        "words, one of two signatures",
        [WORD_MODEL, {"words": WORDS}, ("serve", "words"), "vectors"],
        expect={"answer": [[5, 6], [1, 2], [3, 4], [1, 2]]},
        skip={"function": LOADED},
    ),
    refused(
        "serve",
        "one of two tags",
        [WORD_MODEL, {"words": WORDS}],
        "could not be found in SavedModel",
        RuntimeError,
    ),
    refused(
        "serve",
        "no such signature",
        [MODEL, {"x": DATA[0]}, ("serve",), "predict"],
        "predict",
        KeyError,
    ),
    refused(
        "serve",
        "no such input",
        [MODEL, {"inputs": DATA[0]}],
        "Cannot interpret feed_dict key|inputs",
        KeyError,
        graph=TypeError,
    ),
    refused(
        "serve",
        "features that do not fit",
        [MODEL, {"x": DATA[1]}],
        "Cannot feed value of shape|Matrix size-incompatible",
        INVALID,
        graph=ValueError,
    ),
    refused(
        "serve",
        "no model",
        [without(MODEL, "saved_model.pb"), {"x": DATA[0]}],
        "SavedModel file does not exist at",
        OSError,
    ),
    refused(
        "serve",
        "a file that is none",
        [{**MODEL, "saved_model.pb": JUNK}, {"x": DATA[0]}],
        "Cannot parse file",
        OSError,
    ),
    refused(
        "serve",
        "the values are lost",
        [without(MODEL, "variables/variables.index"), {"x": DATA[0]}],
        "variables/variables",
        MISSING,
        graph=ValueError,
    ),
    refused(
        "serve",
        "a variable of TensorFlow 2",
        [with_debug_name(MODEL), {"x": DATA[0]}],
        "NodeDef mentions attr 'debug_name' not in Op<name=VarHandleOp",
        None,
        genuine=ValueError,
        skip={"function": LOADED},
    ),
    Program(
        "fetch",
        "two tensors, one within",
        [MODEL, {"x:0": DATA[0]}, ["output:0", "dense/kernel/read:0"]],
        skip={"function": LOADED},
    ),
    Program(
        "fetch",
        "cut in the middle",
        [MODEL, {"hidden:0": np.float64([[-1, 2]])}, ["output:0"]],
        expect=[[[0, 2]]],
        skip={"function": LOADED},
    ),
    refused(
        "fetch",
        "no such tensor",
        [MODEL, {"x:0": DATA[0]}, ["logits:0"]],
        "logits.* refers to a Tensor (not in the graph|which does not exist)",
        KeyError,
        graph=ValueError,
    ),
    Program("serve_words", "the classic", [WORDS, *VOCABULARY]),
    Program(
        "serve_words",
        "in numbers",
        [WORDS, *VOCABULARY],
        expect={
            "assets": ["words.txt"],
            "ids": [2, 0, 1, 0],
            "vectors": [[5, 6], [1, 2], [3, 4], [1, 2]],
        },
        exact=True,
    ),
    Program("detect", "a picture", [PICTURE, ANCHORS, 20], float32=True),
    Program(
        "detect",
        "in numbers",
        [SPOTS, CORNERS, 3],
        expect={
            "count": 2,
            "keys": [
                "detection_boxes",
                "detection_classes",
                "detection_scores",
                "num_detections",
            ],
            "boxes": [CORNERS[2], CORNERS[0]],
            "scores": [1, 0],
            "classes": [3, 1],
        },
        float32=True,
    ),
    Program("fine_tune", "ten steps", [MODEL, *DATA, 10]),
    refused(
        "fine_tune",
        "labels that do not fit",
        [MODEL, DATA[0], DATA[0], 1],
        "Dimensions must be equal|[Ii]ncompatible shapes",
        eager=INVALID,
    ),
    FalseFriend(
        "fine_tune",
        "a model of 1.15.5; what is loaded seems to have no variables",
        [MODEL, *DATA, 3],
        of="program",
        naive=train_the_variables_of_what_is_loaded,
        because="its variables are references: loaded.variables is empty",
    ),
    Program("freeze", "binary", LINE),
    Program("freeze", "text", [*LINE, True]),
    Program(
        "run_frozen",
        "of 1.15.5",
        [FROZEN, {"x:0": DATA[0]}, ["output:0"]],
        skip={"function": LOADED},
    ),
    Program(
        "run_frozen",
        "of 1.15.5, as text",
        [FROZEN_TEXT, {"x:0": DATA[0]}, ["hidden:0", "output:0"], True],
        skip={"function": LOADED},
    ),
    Program(
        "run_frozen",
        "cut in the middle",
        [FROZEN, {"hidden:0": np.float64([[-1, 2]])}, ["output:0"]],
        expect=[[[0, 2]]],
        skip={"function": LOADED},
    ),
    Program(
        "run_frozen",
        "a loop of TensorFlow 1",
        [loop(), {"x:0": np.float64(3)}, ["exit:0"]],
        expect=[192],
        skip={"function": LOADED},
    ),
    refused(
        "run_frozen",
        "no such tensor",
        [FROZEN, {"x:0": DATA[0]}, ["logits:0"]],
        "logits:0.* (not found in graph|refers to a Tensor which does not exist)",
        KeyError,
        graph=ValueError,
    ),
    refused(
        "run_frozen",
        "no such input",
        [FROZEN, {"y:0": DATA[0]}, ["output:0"]],
        "not found in graph_def: .*y:0|y:0.* refers to a Tensor which does not exist",
        KeyError,
        graph=ValueError,
    ),
    refused(
        "run_frozen",
        "a file that is none",
        [JUNK, {"x:0": DATA[0]}, ["output:0"]],
        "Error parsing message",
        DecodeError,
    ),
    refused(
        "run_frozen",
        "binary for text",
        [FROZEN, {"x:0": DATA[0]}, ["output:0"], True],
        "Expected identifier or number",
        ParseError,
    ),
    refused(
        "run_frozen",
        "a product of TensorFlow 2",
        [with_new_attribute(FROZEN), {"x:0": DATA[0]}, ["output:0"]],
        "NodeDef mentions attr 'grad_a' not in Op<name=MatMul",
        None,
        genuine=ValueError,
        skip={"function": LOADED},
    ),
    Program(
        "train_on",
        "the classic",
        [LINE[0], normal(4, 2), LINE[1], 2, 3],
        traces=2,  # saving traces once more
    ),
    Program("train_on", "in float64", [*DATA, START, 2, 3], traces=2),
    refused(
        "train_on",
        "labels that do not fit",
        [DATA[0], DATA[0], START, 1, 0],
        "Dimensions must be equal|[Ii]ncompatible shapes",
        eager=INVALID,
    ),
    Program(
        "restore_meta_graph",
        "of 1.15.5",
        [META_GRAPH, {"x:0": DATA[0]}, ["output:0", "dense/bias/read:0"]],
        skip={"function": LOADED},
    ),
    Program(
        "restore_meta_graph",
        "the loss, too",
        [META_GRAPH, {"x:0": DATA[0], "y:0": DATA[1]}, ["Mean:0"]],
        skip={"function": LOADED},
    ),
    Program(
        "restore_meta_graph",
        "it was placed on a parameter server",
        [ON_A_SERVER, {"hidden:0": np.float64([[-1, 2]])}, ["output:0"], True],
        expect=[[[0, 2]]],
        skip={"function": LOADED},
    ),
    refused(
        "restore_meta_graph",
        "there is no parameter server",
        [ON_A_SERVER, {"hidden:0": np.float64([[-1, 2]])}, ["output:0"]],
        "/job:ps/task:0",
        INVALID,
    ),
    Raises(
        "restore_meta_graph",
        "there is no such GPU: soft placement takes another device",
        [ON_A_GPU, {"hidden:0": np.float64([[-1, 2]])}, ["output:0"]],
        of="program",
        graph=INVALID,
        match="GPU:7",
        expect=[[[0, 2]]],
        skip={"function": LOADED},
    ),
    refused(
        "restore_meta_graph",
        "no meta file",
        [without(META_GRAPH, META), {"x:0": DATA[0]}, ["output:0"]],
        "model.ckpt.meta",
        MISSING,
        graph=OSError,
    ),
    Program(
        "to_tflite",
        "in numbers",
        [INTEGERS, SMALL],
        expect={"y": ANSWER},
        exact=True,
    ),
]
PROOF = proof(v1, v2, CASES)
# The warning of tf.lite.Interpreter since 2.18; since 2.19 it is longer.
LITERT = "ignore:(?s).*Please use the LiteRT interpreter:UserWarning"


@pytest.mark.filterwarnings(LITERT)
class SavedModelsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class KerasTest(unittest.TestCase):
    def test_a_vocabulary_that_begins_with_the_strangers_word_of_keras(self):
        arguments = np.array(["a", "zzz", "b"]), ["[UNK]", "a", "b"], VOCABULARY[1]
        for page in (v2, v3):
            ids = page.serve_words(*arguments)["ids"]
            self.assertEqual(ids.tolist(), [1, 0, 2], page.__name__)

    @pytest.mark.filterwarnings(LITERT)
    def test_files_are_returned_if_asked_for(self):
        exported = v3.export(INTEGERS, SMALL, files=True)["files"]
        served = v3.serve_words(WORDS, *VOCABULARY, files=True)["files"]
        saved = v3.train_on(*DATA, START, 2, 3, files=True)
        converted = v3.to_tflite(INTEGERS, SMALL, files=True)["files"]
        answer = v2.serve(exported, {"x": INTEGERS})["y"]
        np.testing.assert_array_equal(answer, ANSWER)
        answer = v2.serve(served, {"words": WORDS}, signature="vectors")["answer"]
        np.testing.assert_array_equal(answer, [[5, 6], [1, 2], [3, 4], [1, 2]])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(v2.unpack(saved["files"], folder), "model.keras")
            weights = v3.load(path, "float64").get_weights()
        after_two = v3.train_on(*DATA, START, 2, 0)["variables"].values()
        for weight, expected in zip(weights, after_two, strict=True):
            np.testing.assert_array_equal(weight, expected)
        answer = v2.run_tflite(converted["model.tflite"].tobytes(), INTEGERS)
        np.testing.assert_array_equal(answer, ANSWER)
        self.assertNotIn("files", v3.export(INTEGERS, SMALL))

    def test_what_is_loaded_trains_in_float64_as_before(self):
        pair, page = (
            side.train_on(*DATA, START, 2, 3)["variables"] for side in (v2, v3)
        )
        self.assertEqual(page.keys(), pair.keys())
        for name in pair:
            self.assertLess(np.abs(page[name] - pair[name]).max(), 1e-14, name)


def recorded(key):
    """Returns the recorded result of the real TensorFlow 1.15.5."""
    (entry,) = [e for e in PROOF.recorded() if e.key == key]
    return PROOF.recording.answer(key, entry.request)


def same(left, right):
    """Asserts that two nested structures have the same bits."""
    left, right = (structure.answer({"outputs": x}) for x in (left, right))
    compare(structure.narrow(left), structure.narrow(right), ("left", "right"))


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)


class OnwardTest(FolderTest):
    """Reads the files of the real TensorFlow 1.15.5 with today's TensorFlow."""

    def test_two_steps_of_1_15_and_three_of_today_are_five_of_1_15(self):
        meta = meta_graph_pb2.MetaGraphDef()
        meta.ParseFromString(META_GRAPH[META].tobytes())
        meta.meta_info_def.tags.append("serve")
        model = saved_model_pb2.SavedModel(meta_graphs=[meta])
        files = {
            name.replace("model.ckpt", "variables/variables"): content
            for name, content in without(META_GRAPH, META).items()
        }
        content = np.frombuffer(model.SerializeToString(), np.uint8)
        answer = v2.fine_tune({**files, "saved_model.pb": content}, *DATA, 3)
        wanted = recorded("train_on, in float64")
        same(wanted["outputs/losses"][2:], answer["losses"])
        for name, value in answer["variables"].items():
            same(wanted["outputs/variables/" + name], value)

    def test_an_embedding_and_a_global_step_are_fine_tuned_as_on_the_left(self):
        ids, targets = np.int32([[2, 0], [2, 1]]), np.float32([[1, 2], [3, 4]])
        with legacy(), v1.tf.Session() as sess:
            words = v1.tf.placeholder(v1.tf.int32, [None, 2], name="x")
            table = v1.tf.get_variable("table", initializer=np.eye(4, 2, dtype="f"))
            v1.tf.train.create_global_step()
            vectors = v1.tf.nn.embedding_lookup(table, words)
            outputs = v1.tf.reduce_sum(vectors, axis=1, name="output")
            sess.run(v1.tf.global_variables_initializer())
            v1.tf.saved_model.simple_save(
                sess, self.path("model"), {"x": words}, {"y": outputs}
            )
        files = v2.pack(self.path("model"))
        with legacy():
            expected = v1.fine_tune(files, ids, targets, 2)["variables"]
        found = v2.fine_tune(files, ids, targets, 2)["variables"]
        same(expected, found)
        self.assertEqual(found["global_step"], 0)
        moved = (found["table"] != np.eye(4, 2)).any(axis=1).tolist()
        self.assertEqual(moved, [True, True, True, False])

    def test_the_values_are_a_checkpoint_under_the_old_names(self):
        v2.unpack(MODEL, self.folder)
        reader = tf.train.load_checkpoint(self.path("variables/variables"))
        for name in START:
            same(START[name], reader.get_tensor("dense/" + name))

    @pytest.mark.filterwarnings(LITERT)
    def test_a_model_converted_by_1_15_runs(self):
        model = genuine("to_tflite, its files")["model.tflite"].tobytes()
        same(np.float32(ANSWER), v2.run_tflite(model, INTEGERS))

    @pytest.mark.slow
    @pytest.mark.filterwarnings(LITERT)
    def test_a_model_saved_by_1_15_is_converted(self):
        v2.unpack(genuine("export, its files in float32"), self.folder)
        converted = tf.lite.TFLiteConverter.from_saved_model(self.folder).convert()
        for row, wanted in zip(INTEGERS, np.float32(ANSWER)):
            same(wanted[None], v2.run_tflite(converted, row[None]))

    @pytest.mark.slow
    @pytest.mark.filterwarnings(LITERT)
    def test_a_frozen_graph_is_converted(self):
        with legacy():
            files = v1.freeze(INTEGERS, SMALL, files=True)["files"]
        graph_def = graph_pb2.GraphDef.FromString(files["frozen.pb"].tobytes())
        spec = tf.TensorSpec(INTEGERS.shape, INTEGERS.dtype)
        function = imported(graph_def, [spec], ["x:0"], ["output:0"])
        convert = tf.lite.TFLiteConverter.from_concrete_functions
        converted = convert([function], tf.Module()).convert()
        same(np.float32(ANSWER), v2.run_tflite(converted, INTEGERS))

    @pytest.mark.slow
    def test_keras_serves_it_as_a_layer_of_its_dtype(self):
        import keras

        v2.unpack(genuine("export, its files in float32"), self.path("float32"))
        layer = keras.layers.TFSMLayer(self.path("float32"), "serving_default")
        same(np.float32(ANSWER), layer(tf.constant(INTEGERS))["y"].numpy())
        self.assertEqual(layer.trainable_variables, [])
        v2.unpack(MODEL, self.path("float64"))
        layer = keras.layers.TFSMLayer(self.path("float64"), "serving_default")
        with self.assertRaisesRegex(INVALID, "double tensor but is a float tensor"):
            layer(tf.constant(DATA[0]))
        layer = keras.layers.TFSMLayer(
            self.path("float64"), "serving_default", dtype="float64"
        )
        wanted = recorded("serve, a model of 1.15.5")["outputs/y"]
        same(wanted, layer(tf.constant(DATA[0]))["y"].numpy())

    def test_a_frozen_graph_casts_and_says_another_error_of_a_shape(self):
        # 1.15.5 compared dtype and shape of placeholder and graph: ValueError for both.
        (y,) = v2.run_frozen(FROZEN, {"x:0": np.float32(INTEGERS)}, ["output:0"])
        (wanted,) = v2.run_frozen(FROZEN, {"x:0": np.float64(INTEGERS)}, ["output:0"])
        same(wanted, y)
        with self.assertRaises(INVALID):
            v2.run_frozen(FROZEN, {"x:0": DATA[1]}, ["output:0"])


class BackTest(unittest.TestCase):
    """Reads the right page's files with the left page on today's TensorFlow."""

    def test_a_session_serves_a_model_of_today(self):
        answer = v2.export(DATA[0], START, True)
        with legacy():
            left = v1.serve(answer["files"], {"x": DATA[0]})
        same(left["y"], answer["y"])

    @parameterized.expand([("binary", False), ("text", True)])
    def test_a_session_runs_a_graph_frozen_today(self, _, as_text):
        answer = v2.freeze(DATA[0], START, as_text, True)
        (graph,) = answer["files"].values()
        with legacy():
            (y,) = v1.run_frozen(graph, {"x:0": DATA[0]}, ["output:0"], as_text)
        same(y, answer["y"])


def imported(graph_def, specs, feeds, fetches):
    """Follows the usual advice: `tf.graph_util.import_graph_def` in a function."""

    @tf.function(input_signature=specs)
    def function(*args):
        inputs = dict(zip(feeds, args))
        return tf.graph_util.import_graph_def(graph_def, inputs, fetches, name="")

    return function.get_concrete_function()


class LoadedTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.loaded = tf.saved_model.load(v2.unpack(MODEL, self.folder))

    def test_references_are_no_variables_of_what_is_loaded(self):
        self.assertEqual(len(self.loaded.variables), 0)

    def test_resources_are(self):
        with legacy(), v1.tf.Session() as sess:
            v1.tf.get_variable_scope().set_use_resource(True)
            x = v1.tf.placeholder(tf.float64, [None, 3], name="x")
            y = v1._dense(x, START)
            sess.run(v1.tf.global_variables_initializer())
            v1.tf.saved_model.simple_save(sess, self.path("new"), {"x": x}, {"y": y})
        loaded = tf.saved_model.load(self.path("new"))
        self.assertEqual(
            sorted(v.name for v in loaded.variables), ["dense/bias:0", "dense/kernel:0"]
        )
        signature = loaded.signatures["serving_default"]
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(signature(x=tf.constant(DATA[0]))["y"])
        self.assertNotIn(None, tape.gradient(loss, list(loaded.variables)))
        for variable in loaded.variables:
            variable.assign(tf.zeros_like(variable))
        same(np.zeros((4, 2)), signature(x=tf.constant(DATA[0]))["y"].numpy())

    def test_a_function_that_imports_all_of_a_graph_runs_all_of_it(self):
        graph_def = self.loaded.graph.as_graph_def()
        self.assertIn("save/SaveV2", [node.name for node in graph_def.node])
        args = [tf.constant(DATA[0]), *map(tf.constant, START.values())]
        feeds = ["x:0", "dense/kernel/read:0", "dense/bias/read:0"]
        specs = [tf.TensorSpec(a.shape, a.dtype) for a in args]
        whole = imported(graph_def, specs, feeds, ["output:0"])
        run = [op.name for op in whole.graph.control_outputs]  # ops with side effects
        self.assertIn("save/MergeV2Checkpoints", run)
        part = self.loaded.prune(feeds, ["output:0"])
        self.assertEqual(list(part.graph.control_outputs), [])
        (y,) = part(*args)
        same(recorded("serve, a model of 1.15.5")["outputs/y"], y.numpy())

    def test_a_function_refuses_a_loop_of_tensorflow_1(self):
        graph_def = graph_pb2.GraphDef.FromString(loop().tobytes())
        specs = [tf.TensorSpec([], tf.float64)]
        whole = imported(graph_def, specs, ["x:0"], ["exit:0"])
        with self.assertRaisesRegex(INVALID, "has inputs from different frames"):
            whole(tf.constant(3, tf.float64))

    def save_loop(self, x, w):
        """Saves a loop that multiplies x by w three times; returns w's gradient."""
        with v1.tf.Session() as sess:
            v1.tf.get_variable_scope().set_use_resource(True)
            inputs = v1.tf.placeholder(x.dtype, x.shape)
            w = v1.tf.get_variable("w", initializer=w)
            _, y = v1.tf.while_loop(
                lambda i, y: i < 3,
                lambda i, y: (i + 1, v1.tf.matmul(y, w)),
                [0, inputs],
            )
            gradients = v1.tf.gradients(y, w)
            sess.run(v1.tf.global_variables_initializer())
            v1.tf.saved_model.simple_save(
                sess, self.path("loop"), {"x": inputs}, {"y": y}
            )
            return sess.run(gradients, {inputs: x})

    def test_no_gradient_passes_a_loop_of_tensorflow_1(self):
        x, w = np.float64([[1, 2]]), np.float64([[1, 2], [3, 4]])
        with legacy():
            self.save_loop(x, w)
        signature = tf.saved_model.load(self.path("loop")).signatures["serving_default"]
        same(x @ w @ w @ w, signature(x=tf.constant(x))["y"].numpy())
        with tf.GradientTape(), self.assertRaisesRegex(AttributeError, "outer_context"):
            signature(x=tf.constant(x))

    def test_it_does_where_the_old_program_enabled_the_new_control_flow(self):
        x, w = np.float64([[1, 2]]), np.float64([[1, 2], [3, 4]])
        with legacy():
            v1.tf.enable_control_flow_v2()
            wanted = self.save_loop(x, w)
        loaded = tf.saved_model.load(self.path("loop"))
        with tf.GradientTape() as tape:
            y = loaded.signatures["serving_default"](x=tf.constant(x))["y"]
        gradients = tape.gradient(y, list(loaded.variables))
        same(wanted, [gradient.numpy() for gradient in gradients])

    def test_an_input_is_cut_or_there_is_no_function(self):
        with self.assertRaisesRegex(Exception, "transitively on placeholder"):
            self.loaded.prune([], ["output:0"])

    def test_a_signature_takes_keywords_of_its_own_dtype(self):
        signature = self.loaded.signatures["serving_default"]
        with self.assertRaisesRegex(INVALID, "double tensor but is a float tensor"):
            signature(x=tf.constant(INTEGERS))
        missing, too_many = "missing a required argument: 'x'", "too many positional"
        if here("tensorflow<2.19"):  # the function lost the names of its arguments
            missing, too_many = "missing required arguments: x", "got 2"
        with self.assertRaisesRegex(TypeError, missing):
            signature(y=tf.constant(DATA[0]))
        with self.assertRaisesRegex(TypeError, too_many):
            signature(*map(tf.constant, DATA))

    def test_a_map_of_signatures_makes_what_is_asked_for(self):
        with legacy(), v1.tf.Session() as sess:
            meta = v1.tf.saved_model.loader.load(sess, ["serve"], self.folder)
            self.assertEqual(meta.signature_def["predict"].method_name, "")
            self.assertIn("predict", meta.signature_def)


class MessageTest(unittest.TestCase):
    def test_each_message_is_the_class_that_tensorflow_has(self):
        for wanted in (
            graph_pb2.GraphDef,
            meta_graph_pb2.MetaGraphDef,
            saved_model_pb2.SavedModel,
        ):
            self.assertIs(v2.message_class(wanted.__name__), wanted)

    def test_a_message_that_is_none(self):
        with self.assertRaisesRegex(KeyError, "tensorflow.GraphDefs"):
            v2.message_class("GraphDefs")


class SavedTest(FolderTest):
    """The parts of an object that `tf.saved_model.save` does not save."""

    def test_what_is_no_function_cannot_be_called(self):
        tf.saved_model.save(v2.Dense(SMALL), self.folder)
        loaded = tf.saved_model.load(self.folder)
        self.assertEqual(len(loaded.signatures), 0)
        with self.assertRaisesRegex(TypeError, "not callable"):
            loaded(tf.constant(INTEGERS))
        same(SMALL["kernel"], loaded.kernel.numpy())

    def test_what_python_knew_is_in_the_trace(self):
        model = v2.Dense(SMALL)
        model.rate = 2.0
        model.times = tf.function(
            lambda x: model.rate * x, input_signature=[tf.TensorSpec([], tf.float32)]
        )
        tf.saved_model.save(model, self.folder)
        loaded = tf.saved_model.load(self.folder)
        self.assertFalse(hasattr(loaded, "rate"))
        loaded.rate = 100.0
        self.assertEqual(loaded.times(3.0).numpy(), 6)

    def test_the_names_in_its_checkpoint_are_paths_of_attributes(self):
        tf.saved_model.save(v2.Dense(SMALL), self.folder)
        names = [
            n for n, _ in tf.train.list_variables(self.path("variables/variables"))
        ]
        self.assertIn("kernel/.ATTRIBUTES/VARIABLE_VALUE", names)
        self.assertNotIn("dense/kernel", names)

    def test_the_names_of_a_signature_come_from_the_function(self):
        spec = tf.TensorSpec([2], tf.float32)
        named = tf.TensorSpec([2], tf.float32, name="other")
        ends = {
            "sum": (lambda x, y: x + y, {"output_0"}),
            "both": (lambda x, y: (x, y), {"output_0", "output_1"}),
            "keyed": (lambda x, y: {"total": x + y}, {"total"}),
        }
        module = tf.Module()
        for name, (function, _) in ends.items():
            setattr(module, name, tf.function(function, input_signature=[spec, named]))
        signatures = {name: getattr(module, name) for name in ends}
        tf.saved_model.save(module, self.folder, signatures)
        loaded = tf.saved_model.load(self.folder).signatures
        for name, (_, outputs) in ends.items():
            taken = loaded[name].structured_input_signature[1]
            self.assertEqual(set(taken), {"x", "other"})
            self.assertEqual(set(loaded[name].structured_outputs), outputs)
