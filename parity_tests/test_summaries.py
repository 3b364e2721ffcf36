import contextlib
import os
import sys
import tempfile
import unittest
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from parity_tests.shorthand import friend, refused
from tf1to2.parity import (
    Naive,
    Program,
    Raises,
    dyadic,
    integers,
    normal,
    uniform,
)
from tf1to2.parity.v1 import legacy
from v1_graph import summaries as v1
from v2_eager import parallel
from v2_eager import summaries as v2
from v2_keras import summaries as v3

INVALID = tf.errors.InvalidArgumentError
IMAGES, SOUNDS = uniform(2, 2, 3, 3), uniform(2, 4, 1, low=-1.0)
PIXELS = np.float32([0, 64, 128, 192, 254, 255]).reshape(1, 2, 3, 1)
RUNS = [(0, np.float32([1, 2, 3, 4])), (2, np.float32([5, 6, 7]))]
VALUES = np.float32([0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5])
ROWS = np.float32([[1, 3], [2, 6], [4, 4], [5, 9], [0, 2]])
MAGNITUDES = np.float32([[1e-3, 1e-2, 1e-1, 1, 1e1, 1e2, 1e3]])
NAMES = [
    (None, "loss", None),
    (None, "loss", None),
    ("net", "loss", None),
    ("net", "Loss", None),
    ("net", "loss", "tab"),
    (None, "my loss (x)", None),
    (None, "/a", None),
    ("LOSS", "x", None),
]
TWINS = [(None, "b", "a"), (None, "a/a/b", None)]
NO_CONTRIB = {"graph": "tf.contrib ended with TensorFlow 1"}


def line(dtype):
    """Returns training data, test data and a kernel."""
    shapes = [(70, 3), (30, 3)], [(70, 2), (30, 2)]
    data = [[normal(*shape, dtype=dtype) for shape in pair] for pair in shapes]
    return [*data, normal(3, 2, dtype=dtype)]


def file_of(*events):
    """Returns the bytes of an event file with these events."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "events")
        with tf.io.TFRecordWriter(path) as writer:
            for event in events:
                writer.write(event.SerializeToString())
        return np.fromfile(path, np.uint8)


def event(step, tag, plugin=None, **content):
    """Makes an event with one value."""
    value = v1.tf.Summary.Value(tag=tag, **content)
    if plugin is not None:
        value.metadata.plugin_data.plugin_name = plugin
    return v1.tf.Event(step=step, summary=v1.tf.Summary(value=[value]))


HISTO = v1.tf.HistogramProto(
    min=1, max=2, num=2, bucket_limit=[1.5, 2.5], bucket=[1, 1]
)
FILE = file_of(
    v1.tf.Event(wall_time=1.5, file_version="brain.Event:2"),
    event(0, "loss", simple_value=0.0),
    event(7, "loss", simple_value=0.1),
    event(7, "old", histo=HISTO),
    event(7, "words", "text", tensor=tf.make_tensor_proto(["a", "b"])),
    event(8, "words", tensor=tf.make_tensor_proto("c")),  # as a FileWriter writes it
    event(8, "new", "scalars", tensor=tf.make_tensor_proto(np.float32(0.25))),
    v1.tf.Event(step=9, log_message=v1.tf.LogMessage(message="no summary")),
)
HALF = FILE[: len(FILE) // 2]


def read_simple_values(files):
    """Reads only `simple_value`s, as programs for TensorFlow 1's files do."""
    with tempfile.TemporaryDirectory() as directory:
        files[0].tofile(os.path.join(directory, "file"))
        return [
            {"step": e.step, "tag": value.tag, "simple_value": value.simple_value}
            for e in map(v1.tf.Event.FromString, _records(directory))
            for value in e.summary.value
        ]


def _records(directory):
    (path,) = [os.path.join(directory, name) for name in os.listdir(directory)]
    return [record.numpy() for record in tf.data.TFRecordDataset(path)]


def shown(write):
    """Returns the events that `write(step, …)` writes with a writer of TensorFlow 2."""

    def naive(*args):
        with tempfile.TemporaryDirectory() as directory:
            with tf.summary.create_file_writer(directory).as_default(0):
                write(*args)
            return v2.read_folder(directory)

    return naive


def multiples(values, n):
    for step, value in enumerate(values):
        with tf.summary.record_if(step % n == 0):
            v2.write_scalar("value", value, step)


def frozen(values, n):
    """Uses a Python step and condition in a `tf.function`: the trace keeps them."""
    row = tf.Variable(values[0])

    @tf.function
    def train_step():
        v2.write_scalar("train/loss", tf.reduce_mean(row))
        tf.summary.write("train/generic", row)

    for step in range(len(values)):
        row.assign(values[step])
        tf.summary.experimental.set_step(step)
        with tf.summary.record_if(step % n == 0):
            train_step()
    tf.summary.experimental.set_step(None)


def scopes(names, merge=False):
    """Returns the tags of TensorFlow 2's `tf.summary.scalar`."""
    tags = []
    for scope, name, _ in names:
        with tf.name_scope(scope) if scope else contextlib.nullcontext():
            with tf.summary.experimental.summary_scope(name) as (tag, _):
                tags.append(tag)
    return tags


def clipped(images, sounds, sample_rate, max_outputs=3):
    """Writes images as TensorFlow 2's `tf.summary.image` scales them: white is 1."""
    right = v2.media(images, sounds, sample_rate, max_outputs)
    pixels = tf.image.convert_image_dtype(images, tf.uint8, saturate=True)
    png = tf.image.encode_png(pixels[0]).numpy()
    right[0]["image"]["encoded_image_string"] = png
    return right


def unlabelled(paragraphs, tag="text"):
    for step, paragraph in enumerate(paragraphs):
        tf.summary.write(tag, paragraph, step)


def one_function(x, y, kernel, steps, test_every, rate=0.125):
    """Uses one function with two default writers: the first trace chooses one."""
    with tempfile.TemporaryDirectory() as directory:
        kernel = tf.Variable(kernel)
        folders = {name: os.path.join(directory, name) for name in ("train", "test")}
        train, test = map(tf.summary.create_file_writer, folders.values())

        @tf.function
        def loss_of(inputs, labels, step):
            error = tf.matmul(inputs, kernel) - labels
            loss = tf.reduce_mean(tf.square(error))
            tf.summary.experimental.set_step(step)
            v2.write_scalar("loss_1", loss, step)
            v2.variable_summaries(kernel)
            tf.summary.experimental.set_step(None)
            return loss

        for step in tf.range(steps, dtype=tf.int64):
            if step % test_every == 0:
                with test.as_default():
                    loss_of(x[1], y[1], step)
            with train.as_default(), tf.GradientTape() as tape:
                loss = loss_of(x[0], y[0], step)
            kernel.assign_sub(rate * tape.gradient(loss, kernel))
        train.close()
        test.close()
        found = {name: v2.read_folder(folder) for name, folder in folders.items()}
        return {**found, "kernel": kernel}


def zigzag(runs):
    """Uses a TensorFlow 2 writer for each run: no event says where the run began."""
    points = []
    with tempfile.TemporaryDirectory() as directory:
        for run, (first, values) in enumerate(runs):
            folder = os.path.join(directory, str(run))
            with tf.summary.create_file_writer(folder).as_default():
                for step, value in enumerate(values, first):
                    v2.write_scalar("value", value, step)
            points += [
                (e["step"], float(e["simple_value"])) for e in v2.read_folder(folder)
            ]
    steps, values = map(list, zip(*points))
    return {"written": len(points), "steps": steps, "values": values}


def nothing(*_, **__):
    """Replaces a callback's method: does nothing."""


def logged(self, batch, logs=None):
    """Uses the loss that `fit` logs, the mean of the epoch so far."""
    self.losses.append(logs["loss"])


CASES = [
    Program("train", "three steps", [*line("float64"), 3, 2], exact=True),
    Program("train", "float32", [*line("float32"), 1, 1], exact=True),
    friend(
        "train",
        "data of one size; one function, two writers",
        [
            [dyadic(4, 3), dyadic(4, 3)],
            [dyadic(4, 2), dyadic(4, 2)],
            dyadic(3, 2),
            2,
            1,
        ],
        one_function,
        "a trace keeps the writer that was the default when it was made",
        exact=True,
        differs="structure",
    ),
    refused(
        "train",
        "a kernel of another size",
        [*line("float32")[:2], dyadic(2, 2), 1, 1],
        "[Dd]imensions must be equal|size-incompatible",
        eager=INVALID,
    ),
    Program("histogram", "normal", [normal(2, 9)], exact=True),
    Program(
        "histogram", "integers", [integers(2, 9, low=-5)], {"tag": "a/b"}, exact=True
    ),
    Program("histogram", "none, in float64", [np.zeros([1, 0])], exact=True),
    Program("histogram", "zeros", [np.zeros([1, 3], "f")], exact=True),
    friend(
        "histogram",
        "seven magnitudes",
        [MAGNITUDES],
        shown(lambda values: tf.summary.histogram("histogram", values)),
        "30 buckets of one width: five of the seven are in the first",
        exact=True,
        differs="structure",
    ),
    refused(
        "histogram",
        "NaN",
        [np.float32([[1, np.nan]])],
        "Nan in summary histogram",
        INVALID,
    ),
    refused(
        "histogram",
        "inf",
        [np.float32([[np.inf]])],
        "Infinity in (summary h|H)istogram",
        INVALID,
    ),
    Program("media", "two of each", [IMAGES, SOUNDS, 8000.0], exact=True),
    Program("media", "one of each", [IMAGES, SOUNDS, 8000.0, 1], exact=True),
    Program(
        "media",
        "uint8, stereo",
        [integers(4, 2, 2, 4, high=256, dtype="uint8"), uniform(1, 3, 2), 44100.0],
        exact=True,
    ),
    Program(
        "media",
        "negative, NaN, mono",
        [np.float32([-1, 0, np.nan, 2]).reshape(1, 2, 2, 1), SOUNDS, 1.0],
        exact=True,
    ),
    friend(
        "media",
        "pixels up to 255",
        [PIXELS, SOUNDS, 8000.0],
        clipped,
        "tf.summary.image of TensorFlow 2 clips to [0, 1], that of 1 scales",
        exact=True,
    ),
    refused(
        "media", "no batch", [PIXELS[0], SOUNDS, 8.0], "Tensor must be 4-D", INVALID
    ),
    refused(
        "media",
        "a vector",
        [PIXELS, np.float32([0, 1]), 8.0],
        "must be 3-D or 2-D",
        INVALID,
    ),
    Program("text", "two words", [[np.array("a"), np.array("bc")]]),
    friend(
        "text",
        "without metadata",
        [[np.array("a"), np.array([["b", "ü"]]), np.array([], "U")]],
        shown(unlabelled),
        "nothing tells TensorBoard that it is text, and it shows nothing",
    ),
    refused("text", "numbers", [[np.arange(2)]], "string", TypeError, graph=ValueError),
    Program("by_hand", "two", [{"a": normal(2), "b/c": normal(2)}, [3, 7]]),
    Program(
        "by_hand",
        "0.1, and steps that go back",
        [{"accuracy": np.array([0.1, np.nan, np.inf])}, [2**40, 0, 0]],
        expect=[
            {"step": step, "tag": "accuracy", "plugin": "", "simple_value": value}
            for step, value in ((2**40, 0.1), (0, np.nan), (0, np.inf))
        ],
    ),
    friend(
        "tags",
        "the usual ones",
        [NAMES],
        scopes,
        "nothing is numbered, replaced or put under a family",
        expect=["loss", "loss_1", "net/loss", "net_1/Loss", "tab/net_2/tab/loss"]
        + ["my_loss__x_", "a", "LOSS_2/x"],
        skip={"function": PLAIN},
    ),
    Program(
        "tags",
        "merged",
        [NAMES[:3], True],
        expect=["loss", "loss_1", "net/loss"],
        skip={"function": PLAIN},
    ),
    Program(
        "tags", "twins", [TWINS], expect=["a/a/b", "a/a/b"], skip={"function": PLAIN}
    ),
    refused(
        "tags", "twins, merged", [TWINS, True], "Duplicate tag a/a/b found", INVALID
    ),
    friend(
        "every_n_steps",
        "every three of eight",
        [VALUES, 3],
        shown(multiples),
        "steps 0, 3, 6, and not 1, 4, 7",
        expect=[
            {"step": step, "tag": "value", "plugin": "", "simple_value": step - 0.5}
            for step in (1, 4, 7)
        ],
    ),
    Program("every_n_steps", "every one", [normal(3), 1]),
    friend(
        "inside_the_step",
        "every two of five",
        [ROWS, 2],
        shown(frozen),
        "a tf.function keeps the step and the condition of its trace: 0 five times",
        differs="structure",
        skip=NO_CONTRIB,
        exact=True,
    ),
    Program(
        "of_tensorboard",
        "one of each",
        [normal(9), IMAGES, SOUNDS, np.array(["x", "y"]), 3],
        exact=True,
    ),
    Program(
        "of_tensorboard",
        "integers, more than fit",
        [
            integers(40),
            integers(4, 2, 2, 1, high=256, dtype="uint8"),
            uniform(4, 3, 2, low=-2.0, high=2.0),
            np.array("x"),
        ],
        exact=True,
    ),
    Program(
        "graph_nodes",
        "hidden",
        [normal(4, 3), normal(3, 2), "hidden"],
        expect=[
            ["hidden/product", "MatMul", "x", "kernel"],
            ["hidden/relu", "Relu", "hidden/product"],
        ],
    ),
    Program("graph_nodes", "loss", [normal(4, 3), normal(3, 2), "loss"]),
    friend(
        "resume",
        "from step 2",
        [RUNS],
        zigzag,
        "without a START the points of both runs are shown",
        expect={"written": 7, "steps": [0, 1, 2, 3, 4], "values": [1, 2, 5, 6, 7]},
        differs="structure",
    ),
    Program("resume", "three runs", [[*RUNS, (0, np.float32([8, 9]))]]),
    Program("read_events", "of both kinds", [[FILE, FILE]]),
    friend(
        "read_events",
        "simple_value alone",
        [[FILE]],
        read_simple_values,
        "TensorFlow 2 writes tensors: its scalars read as 0",
        expect=[
            {"step": 0, "tag": "loss", "plugin": "", "simple_value": 0},
            {"step": 7, "tag": "loss", "plugin": "", "simple_value": 0.1},
            {
                "step": 7,
                "tag": "old",
                "plugin": "",
                "histo": {
                    "min": 1,
                    "max": 2,
                    "num": 2,
                    "bucket_limit": [1.5, 2.5],
                    "bucket": [1, 1],
                },
            },
            {"step": 7, "tag": "words", "plugin": "text", "tensor": [b"a", b"b"]},
            {"step": 8, "tag": "words", "plugin": "text", "tensor": b"c"},
            {"step": 8, "tag": "new", "plugin": "scalars", "tensor": 0.25},
        ],
        differs="structure",
    ),
    refused(
        "read_events",
        "cut off",
        [[HALF]],
        "truncated record",
        tf.errors.DataLossError,
    ),
    refused(
        "read_events",
        "no such file",
        [[np.arange(50, dtype=np.uint8)]],
        "corrupted record at 0",
        tf.errors.DataLossError,
    ),
]
NAIVE = [
    Naive(
        "train, three steps",
        "evaluated within the epoch",
        mock.patch.object(v3.Curves, "forget", lambda self, metrics: None)(
            mock.patch.multiple(
                v3.Losses, on_train_batch_begin=nothing, on_train_batch_end=logged
            )(v3.train)
        ),
        because="evaluate leaves its loss in the mean that fit logs",
    ),
]
PROOF = proof(v1, v2, CASES, NAIVE)


def raw(directory):
    """Returns [(step, bytes)] of the values in the event files of a directory."""
    return [
        (event.step, value.SerializeToString())
        for name in sorted(os.listdir(directory))
        for event in v1.tf.train.summary_iterator(os.path.join(directory, name))
        for value in event.summary.value
    ]


def bytes_of(page, case):
    """Returns the bytes of all values that a page writes."""
    request = case.request({})
    read = "_read" if page is v1 else "read_folder"
    with mock.patch.object(page, read, raw):
        answer = getattr(page, case.name)(*request["args"], **request["kwargs"])
    return answer["train"] + answer["test"] if case.name == "train" else answer


SCALAR = b'\n\x01sB\n\x08\x01\x12\x00"\x04\x00\x00\x00?J\x0b\n\t\n\x07scalars'
"""The event that TensorBoard 2.21 writes for `tf.summary.scalar("s", 0.5)`."""
TEXT = b"\n\x01tB\x0e\x08\x07\x12\x04\x12\x02\x08\x02B\x01xB\x01yJ\x08\n\x06\n\x04text"
SAME = ("train", "histogram", "media", "by_hand", "every_n_steps")


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def writer(self, name=""):
        return tf.summary.create_file_writer(os.path.join(self.folder, name))

    def steps(self, name=""):
        return [
            event["step"] for event in v2.read_folder(os.path.join(self.folder, name))
        ]


class EventFilesTest(FolderTest):
    def test_files_of_one_second_are_read_in_their_order(self):
        names = [f"events.out.tfevents.1700000000.host.7.{n}.v2" for n in range(8, 12)]
        for step, name in enumerate(names):
            path = os.path.join(self.folder, name)
            with tf.io.TFRecordWriter(path) as writer:
                value = {"tag": "loss", "simple_value": 1.0}
                event = v2.Event(step=step, summary={"value": [value]})
                writer.write(event.SerializeToString())
        self.assertEqual([e["step"] for e in v2.read_folder(self.folder)], [0, 1, 2, 3])


class CurvesTest(FolderTest):
    """The callback of the Keras page, over epochs and in a second `fit`."""

    def test_steps_are_those_of_the_optimizer(self):
        x, y = np.ones([4, 2], "f"), np.ones([4, 1], "f")
        batch = tf.data.Dataset.from_tensors((x, y))
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        curves = v3.Curves(self.folder, batch, test_every=3)
        for epochs in (2, 1):
            model.fit(
                batch.repeat(2),
                epochs=epochs,
                shuffle=False,
                verbose=0,
                callbacks=[curves],
            )
        for name, steps in [("train", range(6)), ("test", [0, 3])]:
            events = v2.read_folder(os.path.join(self.folder, name))
            found = [e["step"] for e in events if e["tag"] == "loss_1"]
            self.assertEqual(found, list(steps))

    @parameterized.expand([("seldom", 9), ("always", 1)])
    def test_metrics_of_the_epoch_are_what_they_are_without_it(self, _, every):
        x, y = np.float32([[1], [2], [6], [9]]), np.zeros([4, 1], "f")
        test = tf.data.Dataset.from_tensors((x[:1], y[:1]))
        layer = tf.keras.layers.Dense(1, kernel_initializer="ones")
        model = tf.keras.Sequential([tf.keras.Input([1]), layer])
        model.compile(tf.keras.optimizers.SGD(0.0), "mse", metrics=["mae"])
        curves = v3.Curves(self.folder, test, every)
        options = {"batch_size": 1, "shuffle": False, "verbose": 0}
        history = model.fit(x, y, callbacks=[curves], **options).history
        self.assertEqual(history["mae"], [4.5])
        self.assertEqual(curves.losses, [1, 4, 36, 81])

    def test_counts_have_no_curve(self):
        x, y = np.float32([[1, 2], [3, 5]]), np.zeros([2, 1], "f")
        normalization = tf.keras.layers.Normalization()
        normalization.adapt(x)
        layers = tf.keras.Input([2]), normalization, tf.keras.layers.Dense(1)
        model = tf.keras.Sequential(layers)
        model.compile("sgd", "mse")
        curves = v3.Curves(self.folder, tf.data.Dataset.from_tensors((x, y)), 1)
        model.fit(x, y, verbose=0, callbacks=[curves])
        events = v2.read_folder(os.path.join(self.folder, "train"))
        floats = [w for w in model.get_weights() if w.dtype == np.float32]
        self.assertLess(len(floats), len(model.get_weights()))
        tags = [e["tag"] for e in events if e["tag"].endswith("histogram")]
        self.assertEqual(len(tags), len(floats))

    def test_without_a_step_nothing_is_written(self):
        data = (np.ones([2, 2], "f"),) * 2, (np.ones([2, 1], "f"),) * 2
        pair, page = (
            side.train(*data, np.ones([2, 1], "f"), 0, 1) for side in (v2, v3)
        )
        for found in (pair, page):
            self.assertEqual((found["train"], found["test"]), ([], []))

    def test_two_replicas_write_one_curve(self):
        rows = tf.data.Dataset.from_tensors((np.ones([4, 2], "f"), np.ones([4, 1])))
        with parallel.mirrored().scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse", metrics=["mae"])
        curves = v3.Curves(self.folder, rows, 2)
        batches = rows.repeat(3)
        model.fit(batches, shuffle=False, verbose=0, callbacks=[curves])
        for name, steps in ("train", [0, 1, 2]), ("test", [0, 2]):
            events = v2.read_folder(os.path.join(self.folder, name))
            found = [e["step"] for e in events if e["tag"] == "loss_1"]
            self.assertEqual(found, steps)

    def test_a_second_weight_has_tags_of_its_own_and_metrics_are_no_loss(self):
        with legacy():
            for shape in ([2, 1], [1]):
                v1.variable_summaries(v1.tf.ones(shape))
            merged = v1.tf.summary.merge_all()
            with v1.tf.Session() as sess:
                proto = v1.tf.Summary.FromString(sess.run(merged))
        batch = tf.data.Dataset.from_tensors((np.ones([4, 2], "f"), np.ones([4, 1])))
        model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse", metrics=["mae"])
        curves = v3.Curves(self.folder, batch, test_every=1)
        model.fit(batch, shuffle=False, verbose=0, callbacks=[curves])
        for name in ("train", "test"):
            events = v2.read_folder(os.path.join(self.folder, name))
            tags = ["loss_1", *(value.tag for value in proto.value)]
            self.assertEqual([event["tag"] for event in events], tags)


class BytesTest(FolderTest):
    """Compares every byte of the values, not only the fields that readers return."""

    @parameterized.expand(
        [
            (str(case), case)
            for case in CASES
            if case.name in SAME and not isinstance(case, Raises)
        ]
    )
    def test_the_bytes_of_v1(self, _, case):
        with legacy():
            left = bytes_of(v1, case)
        right = bytes_of(v2, case)
        self.assertEqual(right, left)
        self.assertTrue(left)

    def test_a_file_writer_writes_the_metadata_once(self):
        case = Program("text", "twice", [[np.array("a")] * 2])
        with legacy():
            (_, first), (_, second) = bytes_of(v1, case)
        self.assertEqual(bytes_of(v2, case), [(0, first), (1, first)])
        self.assertEqual(first, second + b"J\x08\n\x06\n\x04text")

    def test_the_bytes_of_tensorboard(self):
        with self.writer().as_default(3):
            tf.summary.scalar("s", 0.5)
            tf.summary.text("t", ["x", "y"])
        self.assertEqual(raw(self.folder), [(3, SCALAR), (3, TEXT)])


class BucketsTest(FolderTest):
    def buckets(self, values, count=None):
        with self.writer().as_default(0):
            tf.summary.histogram("h", values, buckets=count)
        return v2.read_folder(self.folder)[-1]["tensor"]

    def test_one_value_is_in_the_last(self):
        one = self.buckets([1.0, 1.0], 3)
        np.testing.assert_array_equal(one, [[1, 1, 0], [1, 1, 0], [1, 1, 2]])

    def test_no_value_is_in_none(self):
        self.assertFalse(self.buckets([], 3).any())

    def test_five_of_seven_magnitudes_in_one_bucket(self):
        (event,) = v2.histogram(MAGNITUDES)
        counts = event["histo"]["bucket"]
        self.assertEqual(sorted(counts[counts > 0]), [1] * 7)
        linear = self.buckets(MAGNITUDES)[:, 2]
        self.assertEqual(linear.tolist(), [5, 0, 1] + [0] * 26 + [1])


class ClosedTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("histogram", [[[1.0, np.nan]]]),
            (
                "train",
                [np.ones([2, 3, 2], "f"), np.ones([2, 4, 2], "f"), ROWS[:2], 2, 1],
            ),
            ("inside_the_step", [np.float32([[1], [2]]), 0]),
            ("media", [np.ones([2, 3, 3], "f"), np.ones([1, 2, 1], "f"), 8]),
        ]
    )
    def test_no_file_stays_open_where_a_step_raises(self, name, args):
        with mock.patch.object(v2, "closing", wraps=contextlib.closing) as closing:
            with self.assertRaises((ValueError, INVALID)):
                getattr(v2, name)(*args)
        for call in closing.call_args_list:
            with self.assertRaisesRegex(RuntimeError, "already closed"):
                call.args[0].as_default().__enter__()
        self.assertEqual(closing.call_count, 2 if name == "train" else 1)


class StepTest(FolderTest):
    """Where and when a summary is written: a trace keeps its writer and its step."""

    def test_a_trace_keeps_its_writer(self):
        @tf.function
        def evaluate(loss):
            v2.write_scalar("loss", loss)

        writers = [self.writer(name) for name in ("train", "test")]
        for writer in writers:
            with writer.as_default(0):
                evaluate(tf.constant(0.5))
        for writer in writers:
            writer.close()
        self.assertEqual((self.steps("train"), self.steps("test")), ([0, 0], []))

    def test_a_trace_without_a_writer_never_writes(self):
        @tf.function
        def evaluate(loss):
            return tf.summary.write("loss", loss, 0)

        self.assertFalse(evaluate(tf.constant(0.5)))
        with self.writer().as_default():
            self.assertFalse(evaluate(tf.constant(0.5)))
        self.assertEqual(self.steps(), [])

    @parameterized.expand(
        [("number", int, [0, 0, 0, 0, 0]), ("variable", tf.Variable, [0, 2, 4])]
    )
    def test_a_step_in_python_stands_still(self, _, kind, expected):
        step = kind(0) if kind is int else kind(0, dtype=tf.int64)
        tf.summary.experimental.set_step(step)
        self.addCleanup(tf.summary.experimental.set_step, None)

        @tf.function
        def train_step():
            with tf.summary.record_if(lambda: tf.equal(step % 2, 0)):
                v2.write_scalar("loss", 0.5)

        with self.writer().as_default():
            for _ in range(5):
                train_step()
                if kind is int:
                    step += 1
                    tf.summary.experimental.set_step(step)
                else:
                    step.assign_add(1)
        self.assertEqual(self.steps(), expected)

    def test_a_step_is_required_now(self):
        with legacy(), v1.tf.summary.FileWriter(self.folder) as writer:
            writer.add_summary(v1.tf.Summary(value=[{"tag": "a", "simple_value": 1}]))
        self.assertEqual(self.steps(), [0])
        tf.summary.experimental.set_step(None)  # an earlier test may leave a step
        with self.writer("now").as_default():
            with self.assertRaisesRegex(ValueError, "No step set"):
                v2.write_scalar("a", 1.0)

    def test_nothing_is_written_without_a_writer_and_nobody_says_so(self):
        self.assertFalse(tf.summary.write("loss", 0.5, 0))
        self.assertFalse(tf.summary.should_record_summaries())
        with self.writer().as_default(0):
            self.assertTrue(tf.summary.should_record_summaries())
            with tf.summary.record_if(False):
                self.assertFalse(tf.summary.write("loss", 0.5))

    def test_a_function_outlives_its_writer_and_fails(self):
        @tf.function
        def evaluate(loss):
            v2.write_scalar("loss", loss)

        writer = self.writer()
        with writer.as_default(0):
            evaluate(tf.constant(0.5))
        writer.close()
        with self.assertRaisesRegex(tf.errors.NotFoundError, "does not exist"):
            evaluate(tf.constant(0.5))

    def test_two_writers_at_once_have_two_files(self):
        for step in range(2):
            with self.writer().as_default(step):
                v2.write_scalar("loss", 0.5)
        self.assertEqual((len(os.listdir(self.folder)), self.steps()), (2, [0, 1]))


class OpsTest(FolderTest):
    def test_tensorboard_is_wanted(self):
        known = [n for n in sys.modules if n.partition(".")[0] == "tensorboard"]
        gone = dict.fromkeys(["tensorboard", *known])
        with mock.patch.dict(sys.modules, gone):
            with self.assertRaisesRegex(Exception, "TensorBoard is not installed"):
                tf.summary.scalar("loss", 0.5, 0)

    def test_image_summaries_are_not_made_eagerly(self):
        pixels = tf.zeros([1, 1, 1, 1])
        with self.assertRaisesRegex(tf.errors.UnimplementedError, "bad_color"):
            tf.raw_ops.ImageSummary(tag="image", tensor=pixels)

    def test_a_trace_is_a_summary(self):
        @tf.function
        def double(x):
            return 2 * x

        tf.summary.trace_on(graph=True)
        double(tf.constant(1.0))
        with self.writer().as_default():
            tf.summary.trace_export("double", 5)
        (event,) = v2.read_folder(self.folder)
        self.assertEqual(
            (event["step"], event["tag"], event["plugin"]),
            (5, "double", "graph_run_metadata_graph"),
        )

    @pytest.mark.slow
    def test_a_callback_of_keras_writes_the_losses_of_its_history(self):
        import keras

        keras.utils.set_random_seed(0)
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        x = np.random.RandomState(0).standard_normal((8, 3)).astype("f")
        writer = self.writer()

        class Scalars(keras.callbacks.Callback):
            def on_epoch_end(self, epoch, logs=None):
                with writer.as_default(epoch):
                    for name, value in logs.items():
                        v2.write_scalar("epoch_" + name, value)

        history = model.fit(x, x[:, :1], epochs=3, verbose=0, callbacks=[Scalars()])
        events = v2.read_folder(self.folder)
        self.assertEqual([e["tag"] for e in events], ["epoch_loss"] * 3)
        np.testing.assert_array_equal(
            [event["simple_value"] for event in events],
            np.float32(history.history["loss"]),
            strict=True,
        )


# Datasets that read the event files never run eagerly, and TensorFlow warns about it.
@pytest.mark.filterwarnings("ignore:Even though the .tf.config.experimental_run_func")
class SummariesTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()
