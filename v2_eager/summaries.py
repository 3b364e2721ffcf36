"""`tf.summary.FileWriter`, `merge_all`, `add_summary` → `create_file_writer`."""

import os
import re
import tempfile
from contextlib import closing, nullcontext

import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers
from v2_eager.saved_models import message_class

__all__ = [
    "train",
    "histogram",
    "media",
    "text",
    "by_hand",
    "tags",
    "every_n_steps",
    "inside_the_step",
    "of_tensorboard",
    "graph_nodes",
    "resume",
    "read_events",
]

Event = message_class("Event")


def train(x, y, kernel, steps, test_every, rate=0.125):
    """Trains a linear model; writes training and test curves and statistics.

    Raises:
        ValueError: the sizes do not match (tf.errors.InvalidArgumentError if eager).
    """
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        kernel = tf.Variable(kernel)
        optimizer = optimizers.GradientDescent(rate)
        train_writer = tf.summary.create_file_writer(os.path.join(directory, "train"))
        test_writer = tf.summary.create_file_writer(os.path.join(directory, "test"))

        def summarized_loss(inputs, labels):
            error = tf.matmul(inputs, kernel) - labels
            loss = tf.reduce_mean(tf.square(error))
            write_scalar("loss_1", loss)  # v1's tag, so that the curve continues
            variable_summaries(kernel)
            return loss

        # Each function needs its own writer: a trace keeps the writer that it was
        # traced with.
        @tf.function
        def test_step(step, inputs, labels):
            with test_writer.as_default(step):
                summarized_loss(inputs, labels)

        @tf.function
        def train_step(step, inputs, labels):
            with train_writer.as_default(step), tf.GradientTape() as tape:
                loss = summarized_loss(inputs, labels)
            optimizer.apply_gradients([(tape.gradient(loss, kernel), kernel)])

        # --- write
        train, test = (tuple(map(tf.constant, data)) for data in zip(x, y))
        with closing(train_writer), closing(test_writer):
            for step in tf.range(steps, dtype=tf.int64):
                if step % test_every == 0:
                    test_step(step, *test)
                train_step(step, *train)
        # --- read
        return {
            "train": read_folder(os.path.join(directory, "train")),
            "test": read_folder(os.path.join(directory, "test")),
            "kernel": kernel.numpy(),
        }


def variable_summaries(variable, scope="summaries"):
    """Writes the statistics of a variable, as the tutorials did.

    Args:
        variable: float variable, tensor or array.
        scope: prefix of the tags; for the second variable "summaries_1".
    """
    mean = tf.reduce_mean(variable)
    write_scalar(f"{scope}/mean_1", mean)
    stddev = tf.sqrt(tf.reduce_mean(tf.square(variable - mean)))
    write_scalar(f"{scope}/stddev_1", stddev)
    write_scalar(f"{scope}/max_1", tf.reduce_max(variable))
    write_histogram(f"{scope}/histogram", variable)


def write_scalar(tag, value, step=None):
    """Writes a scalar as `tf.summary.scalar` and `add_summary` of TensorFlow 1 did.

    Args:
        tag: the whole tag, or a list of tags; no scope or number is added.
        value: scalar, or a list with one value for each tag.
        step: int64 scalar; the default is the writer's step, or the step of `set_step`.
    """
    # tf.summary.scalar would write a tensor, not a simple_value, and add the name scope
    # to the tag.
    proto = tf.raw_ops.ScalarSummary(tags=tag, values=value)
    tf.summary.experimental.write_raw_pb(proto, step)


def write_histogram(tag, values, step=None):
    """Writes a histogram as TensorFlow 1's `tf.summary.histogram` did.

    For the arguments see `write_scalar`.
    """
    # tf.summary.histogram would write a tensor of 30 buckets of equal width.
    proto = tf.raw_ops.HistogramSummary(tag=tag, values=values)
    tf.summary.experimental.write_raw_pb(proto, step)


def histogram(values, tag="histogram"):
    """Writes one histogram per step, with TensorFlow 1's buckets."""
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        writer = tf.summary.create_file_writer(directory)
        # --- write
        with closing(writer), writer.as_default():
            for step, row in enumerate(values):
                write_histogram(tag, row, step)
        # --- read
        return read_folder(directory)


def media(images, sounds, sample_rate, max_outputs=3):
    """Writes image and audio summaries."""
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        writer = tf.summary.create_file_writer(directory)

        # tf.summary.image would not scale floats, which must be in [0, 1]; it and
        # tf.summary.audio would write tensors.
        @tf.function
        def write(images, sounds):
            proto = tf.raw_ops.ImageSummary(
                tag="image", tensor=images, max_images=max_outputs
            )
            tf.summary.experimental.write_raw_pb(proto)
            proto = tf.raw_ops.AudioSummaryV2(
                tag="sound",
                tensor=sounds,
                sample_rate=sample_rate,
                max_outputs=max_outputs,
            )
            tf.summary.experimental.write_raw_pb(proto)

        # --- write
        batch = tf.constant(images), tf.constant(sounds)
        with closing(writer), writer.as_default(0):
            # ImageSummary needs a graph, also with `run_functions_eagerly(True)`.
            write.get_concrete_function(*batch)(*batch)
        # --- read
        return read_folder(directory)


def text(paragraphs, tag="text"):
    """Writes text summaries of any shape; TensorBoard shows them as a table."""
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        writer = tf.summary.create_file_writer(directory)
        # --- write
        with closing(writer), writer.as_default():
            for step, paragraph in enumerate(paragraphs):
                tf.summary.text(tag, paragraph, step)
        # --- read
        return read_folder(directory)


def by_hand(metrics, steps):
    """Writes Python numbers as scalar summaries, such as metrics of an evaluation."""
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        writer = tf.summary.create_file_writer(directory)
        # --- write
        with closing(writer), writer.as_default():
            for i, step in enumerate(steps):
                numbers = [values[i] for values in metrics.values()]
                write_scalar(list(metrics), numbers, step)  # one event for all metrics
        # --- read
        return read_folder(directory)


def tags(names, merge=False):
    """Returns the tags of summaries, which a graph makes legal and unique."""
    # --- name
    taken, found = tf.Graph(), []
    for scope, name, family in names:
        name = re.sub(r"[^-/\w.]", "_", name).lstrip("/")
        prefix = ""
        if family:
            name, prefix = f"{family}/{name}", family + "/"
        # An empty graph makes the names unique, as v1's graph did.
        with taken.as_default(), tf.name_scope(scope) if scope else nullcontext():
            found.append(prefix + taken.unique_name(name))
    if merge:
        # tf.summary would write a tag twice; this op raises an error.
        tf.raw_ops.MergeSummary(
            inputs=[tf.raw_ops.ScalarSummary(tags=tag, values=0.5) for tag in found]
        )
    return found


def every_n_steps(values, n):
    """Writes a summary in the first step and then in every n-th step."""
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        writer = tf.summary.create_file_writer(directory)
        # --- write
        with closing(writer), writer.as_default():
            for step, value in enumerate(values):
                with tf.summary.record_if(step % n == 0):
                    write_scalar("value", value, step + 1)
        # --- read
        return read_folder(directory)


def inside_the_step(values, n):
    """Writes summaries with ops in the graph, every n steps, without fetching them."""
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        global_step = tf.Variable(0, dtype=tf.int64)
        writer = tf.summary.create_file_writer(directory)

        def due():  # a function, because a trace would keep the first value of a bool
            return tf.equal(global_step % n, 0)

        @tf.function
        def train_step():
            row = tf.gather(values, global_step)
            with writer.as_default(global_step), tf.summary.record_if(due):
                write_scalar("train/loss", tf.reduce_mean(row))
                tf.summary.write("train/generic", row)
            global_step.assign_add(1)

        # --- write
        with closing(writer):
            for _ in range(len(values)):
                train_step()
        # --- read
        return _by_tag(read_folder(directory))


def of_tensorboard(values, images, sounds, words, step=0):
    """Writes summaries with TensorBoard's `tf.summary` of TensorFlow 2, as tensors."""
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        writer = tf.summary.create_file_writer(directory)
        # --- write
        with closing(writer), writer.as_default(step), tf.name_scope("scope"):
            tf.summary.scalar("scalar", values[0])
            tf.summary.histogram("histogram", values)
            tf.summary.image("image", images)
            tf.summary.audio("audio", sounds, 8000)
            tf.summary.text("text", words)
        # --- read
        return _by_tag(read_folder(directory))


def graph_nodes(x, kernel, scope):
    """Writes the graph of a model for TensorBoard; returns the nodes of a scope."""
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        @tf.function
        def model(inputs, weights):
            with tf.name_scope("hidden"):
                product = tf.matmul(inputs, weights, name="product")
                hidden = tf.nn.relu(product, name="relu")
            with tf.name_scope("loss"):
                return tf.reduce_sum(tf.square(hidden, name="square"), name="sum")

        graph = model.get_concrete_function(
            tf.TensorSpec(x.shape, x.dtype, "x"),
            tf.TensorSpec(kernel.shape, kernel.dtype, "kernel"),
        ).graph
        # --- write
        writer = tf.summary.create_file_writer(directory)
        with closing(writer), writer.as_default():
            tf.summary.graph(graph)
        # --- read
        (path,) = tf.io.gfile.glob(os.path.join(directory, "events.*"))
        nodes, graph_def = [], message_class("GraphDef")
        for event in _events(path):
            nodes += graph_def.FromString(event.graph_def).node
        nodes = [[node.name, node.op, *node.input] for node in nodes]
        return [node for node in nodes if node[0].startswith(scope + "/")]


def resume(runs):
    """Writes a curve in several runs; each run continues from an earlier step."""
    with tempfile.TemporaryDirectory() as directory:
        # --- write
        for run, (first, values) in enumerate(runs):
            # `tf.summary` cannot write the START of a session, but an event file is a
            # TFRecord file.
            path = os.path.join(directory, f"events.{run:06d}")
            with tf.io.TFRecordWriter(path) as writer:
                event = Event(step=first, session_log={"status": "START"})
                writer.write(event.SerializeToString())
                for step, value in enumerate(values, first):
                    event = Event(step=step)
                    event.summary.value.add(tag="value", simple_value=value)
                    writer.write(event.SerializeToString())
        # --- read
        written, curve = 0, []
        for path in _event_files(directory):
            for event in _events(path):
                if event.session_log.status == event.session_log.START:
                    curve = [point for point in curve if point[0] < event.step]
                for value in event.summary.value:
                    curve.append((event.step, value.simple_value))
                    written += 1
        return {
            "written": written,
            "steps": [step for step, _ in curve],
            "values": [value for _, value in curve],
        }


def read_events(files):
    """Reads the summaries in event files of TensorFlow 1 or 2."""
    with tempfile.TemporaryDirectory() as directory:
        for i, content in enumerate(files):
            content.tofile(os.path.join(directory, f"events.{i:06d}"))
        return read_folder(directory)


def _events(path):
    """Reads the events in a file, as `tf.train.summary_iterator` did."""
    for record in tf.data.TFRecordDataset(path):
        yield Event.FromString(record.numpy())


def read_folder(directory):
    """Reads the events of a directory; see `read_events`."""
    # --- read
    found, plugins = [], {}
    for path in _event_files(directory):
        for event in _events(path):
            for value in event.summary.value:
                # A FileWriter writes metadata only with the first value of a tag.
                data = value.metadata.plugin_data
                plugin = plugins.setdefault(value.tag, data.plugin_name)
                kind = value.WhichOneof("value")
                content = _content(kind, getattr(value, kind))
                found.append(
                    {
                        "step": event.step,
                        "tag": value.tag,
                        "plugin": plugin,
                        kind: content,
                    }
                )
    return found


def _content(kind, content):
    if kind == "simple_value":
        return np.float32(content)
    if kind == "tensor":
        return tf.make_ndarray(content)
    fields = {field.name: value for field, value in content.ListFields()}
    return {
        name: value if isinstance(value, bytes) else np.array(value)
        for name, value in fields.items()
    }


def _by_tag(events):
    """Sorts events by step and tag, because ops wrote them in any order."""
    return sorted(events, key=lambda event: (event["step"], event["tag"]))


def _event_files(directory):
    """Lists the event files of a directory in the order of their creation.

    A name contains the second, the process and a number; they are sorted as numbers,
    so that 9 comes before 10.
    """
    paths = tf.io.gfile.glob(os.path.join(directory, "events.*"))
    return sorted(paths, key=lambda path: [n.zfill(20) for n in path.split(".")])
