"""`tf.summary.FileWriter`, `merge_all`, `add_summary` → `create_file_writer`."""

import glob
import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

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


def train(x, y, kernel, steps, test_every, rate=0.125):
    """Trains a linear model; writes training and test curves and statistics.

    Args:
        x: ([n, features], [m, features]) float arrays to train and to test with.
        y: ([n, units], [m, units]) arrays of the same dtype.
        kernel: [features, units] array of the same dtype, the initial kernel.
        steps: number of steps.
        test_every: number of steps from one test to the next.
        rate: learning rate.

    Returns:
        dict with the summaries in the directories `train` and `test`, and the `kernel`.

    Raises:
        ValueError: the sizes do not match.
    """
    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
        # --- build
        inputs = tf.placeholder(x[0].dtype, [None, x[0].shape[1]])
        labels = tf.placeholder(y[0].dtype, [None, y[0].shape[1]])
        kernel = tf.get_variable("kernel", initializer=kernel)
        error = tf.matmul(inputs, kernel) - labels
        loss = tf.reduce_mean(tf.square(error), name="loss")
        # The op above already has the name: the tag is "loss_1".
        tf.summary.scalar("loss", loss)
        variable_summaries(kernel)
        merged = tf.summary.merge_all()
        with tf.control_dependencies([merged]):  # else before or after, at random
            train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        # --- write
        with tf.Session() as sess:
            train_writer = tf.summary.FileWriter(os.path.join(directory, "train"))
            test_writer = tf.summary.FileWriter(os.path.join(directory, "test"))
            sess.run(tf.global_variables_initializer())
            for step in range(steps):
                if step % test_every == 0:
                    summary = sess.run(merged, {inputs: x[1], labels: y[1]})
                    test_writer.add_summary(summary, step)
                summary, _ = sess.run([merged, train_op], {inputs: x[0], labels: y[0]})
                train_writer.add_summary(summary, step)
            train_writer.close()
            test_writer.close()
            kernel = sess.run(kernel)
        # --- read
        return {
            "train": _read(os.path.join(directory, "train")),
            "test": _read(os.path.join(directory, "test")),
            "kernel": kernel,
        }


def variable_summaries(variable):
    """Adds summaries of a variable's statistics, as the tutorials did."""
    with tf.name_scope("summaries"):
        mean = tf.reduce_mean(variable)
        # The op is called "Mean", and names ignore case: the tag is "summaries/mean_1".
        tf.summary.scalar("mean", mean)
        with tf.name_scope("stddev"):
            stddev = tf.sqrt(tf.reduce_mean(tf.square(variable - mean)))
        # The scope already has the name: the tag is "summaries/stddev_1".
        tf.summary.scalar("stddev", stddev)
        tf.summary.scalar("max", tf.reduce_max(variable))
        tf.summary.histogram("histogram", variable)


def histogram(values, tag="histogram"):
    """Writes one histogram per step, with TensorFlow 1's buckets.

    Args:
        values: [steps, n] float or integer array.
        tag: name of the summary.

    Returns:
        List of dicts as `read_events` returns them.

    Raises:
        tf.errors.InvalidArgumentError: a value is NaN or infinite.
    """
    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
        # --- build
        row = tf.placeholder(values.dtype, [None])
        summary = tf.summary.histogram(tag, row)
        # --- write
        with tf.Session() as sess, tf.summary.FileWriter(directory) as writer:
            for step in range(len(values)):
                writer.add_summary(sess.run(summary, {row: values[step]}), step)
        # --- read
        return _read(directory)


def media(images, sounds, sample_rate, max_outputs=3):
    """Writes image and audio summaries.

    Args:
        images: [batch, height, width, channels] uint8 or float array.
        sounds: [batch, frames, channels] float32 array, in [-1, 1].
        sample_rate: samples per second.
        max_outputs: the largest number of images, and of sounds.

    Returns:
        List of dicts as `read_events` returns them: PNG and WAV files.

    Raises:
        tf.errors.InvalidArgumentError: a wrong rank.
    """
    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
        # --- build
        # A uint8 array, unlike a uint8 tensor, would become float32 and be scaled.
        tf.summary.image("image", tf.constant(images), max_outputs)
        tf.summary.audio("sound", sounds, sample_rate, max_outputs)
        merged = tf.summary.merge_all()
        # --- write
        with tf.Session() as sess, tf.summary.FileWriter(directory) as writer:
            writer.add_summary(sess.run(merged), 0)
        # --- read
        return _read(directory)


def text(paragraphs, tag="text"):
    """Writes text summaries of any shape; TensorBoard shows them as a table.

    Args:
        paragraphs: list of string arrays, one for each step.
        tag: name of the summary.

    Returns:
        List of dicts as `read_events` returns them.

    Raises:
        ValueError: the arrays are not strings (TypeError in TensorFlow 2).
    """
    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
        # --- build
        paragraph = tf.placeholder(tf.as_dtype(paragraphs[0].dtype))
        summary = tf.summary.text(tag, paragraph)
        # --- write
        with tf.Session() as sess, tf.summary.FileWriter(directory) as writer:
            for step, value in enumerate(paragraphs):
                writer.add_summary(sess.run(summary, {paragraph: value}), step)
        # --- read
        return _read(directory)


def by_hand(metrics, steps):
    """Writes Python numbers as scalar summaries, such as metrics of an evaluation.

    Args:
        metrics: {tag: [n] float array}.
        steps: list of n steps.

    Returns:
        List of dicts as `read_events` returns them.
    """
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        writer = tf.summary.FileWriter(directory)
        # --- write
        for i, step in enumerate(steps):
            summary = tf.Summary(
                value=[
                    tf.Summary.Value(tag=tag, simple_value=values[i])
                    for tag, values in metrics.items()
                ]
            )
            writer.add_summary(summary, step)
        writer.close()
        # --- read
        return _read(directory)


def tags(names, merge=False):
    """Returns the tags of summaries, which a graph makes legal and unique.

    Args:
        names: list of (scope, name, family) of scalar summaries. A scope of None is the
            top level; family may be None.
        merge: whether to merge the summaries first.

    Returns:
        List of the tags, in the order of `names`.

    Raises:
        tf.errors.InvalidArgumentError: `merge` is True and two tags are equal.
    """
    # --- name
    with tf.Graph().as_default(), tf.Session() as sess:
        summaries = []
        for scope, name, family in names:
            with tf.name_scope(scope):
                summaries.append(tf.summary.scalar(name, 0.5, family=family))
        if merge:
            summaries = [tf.summary.merge(summaries)]
        protos = [tf.Summary.FromString(text) for text in sess.run(summaries)]
        return [value.tag for proto in protos for value in proto.value]


def every_n_steps(values, n):
    """Writes a summary in the first step and then in every n-th step.

    Args:
        values: [steps] float array, the value of each step.
        n: number of steps from one summary to the next.

    Returns:
        List of dicts as `read_events` returns them.
    """
    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
        # --- build
        global_step = tf.train.get_or_create_global_step()
        before = global_step + 0  # else the hook may read it before or after the step
        tf.add_to_collection("global_step_read_op_cache", before)
        tf.summary.scalar("value", tf.gather(values, before))
        merged = tf.summary.merge_all()
        with tf.control_dependencies([before]):
            train_op = tf.assign_add(global_step, 1)
        # --- write
        hook = tf.train.SummarySaverHook(n, output_dir=directory, summary_op=merged)
        with tf.train.MonitoredSession(hooks=[hook]) as sess:
            for _ in range(len(values)):
                sess.run(train_op)
        tf.summary.FileWriterCache.clear()  # closes the file
        # --- read
        return _read(directory)


def inside_the_step(values, n):
    """Writes summaries with ops in the graph, every n steps, without fetching them.

    Args:
        values: [steps, k] float array; the mean of a row is the loss of its step.
        n: summaries are written at multiples of n.

    Returns:
        List of dicts as `read_events` returns them, by step and tag.
    """
    from tensorflow.contrib import summary  # before 2.0 only

    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
        # --- build
        global_step = tf.train.get_or_create_global_step()
        row = tf.gather(values, global_step + 0)
        writer = summary.create_file_writer(directory)
        with writer.as_default(), summary.record_summaries_every_n_global_steps(n):
            with tf.name_scope("train"):
                summary.scalar("loss", tf.reduce_mean(row))
                summary.generic("generic", row)
        # In steps without summaries nothing depends on the row: so add it here.
        with tf.control_dependencies(summary.all_summary_ops() + [row]):
            train_op = tf.assign_add(global_step, 1)
        # --- write
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(summary.summary_writer_initializer_op())
            for _ in range(len(values)):
                sess.run(train_op)
            sess.run(summary.flush())
        # --- read
        return _by_tag(_read(directory))


def of_tensorboard(values, images, sounds, words, step=0):
    """Writes summaries with TensorBoard's `tf.summary` of TensorFlow 2, as tensors.

    Args:
        values: [n] float array, for a histogram; its first value is also a scalar.
        images: [batch, height, width, channels] uint8 or float array, in [0, 1].
        sounds: [batch, frames, channels] float32 array, in [-1, 1].
        words: string array.
        step: int64 scalar.

    Returns:
        List of dicts as `read_events` returns them, by step and tag.
    """
    from tensorflow.compat.v2 import summary  # needs TensorBoard

    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
        # --- build
        writer = summary.create_file_writer(directory)
        with writer.as_default(), tf.name_scope("scope"):
            summary.scalar("scalar", values[0], step)
            summary.histogram("histogram", values, step)
            summary.image("image", images, step)
            summary.audio("audio", sounds, 8000, step)
            summary.text("text", words, step)
        # --- write
        with tf.Session() as sess:
            sess.run(writer.init())
            sess.run(tf.summary.all_v2_summary_ops())
            sess.run(writer.flush())
        # --- read
        return _by_tag(_read(directory))


def graph_nodes(x, kernel, scope):
    """Writes the graph of a model for TensorBoard; returns the nodes of a scope.

    Args:
        x: [n, features] float array.
        kernel: [features, units] array of the same dtype.
        scope: name of the scope whose nodes are returned.

    Returns:
        List of [name, op, inputs…] in the order of the file.
    """
    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default() as graph:
        # --- build
        inputs = tf.placeholder(x.dtype, x.shape, name="x")
        weights = tf.placeholder(kernel.dtype, kernel.shape, name="kernel")
        with tf.name_scope("hidden"):
            hidden = tf.nn.relu(tf.matmul(inputs, weights, name="product"), name="relu")
        with tf.name_scope("loss"):
            tf.reduce_sum(tf.square(hidden, name="square"), name="sum")
        # --- write
        tf.summary.FileWriter(directory, graph).close()
        # --- read
        (path,) = glob.glob(os.path.join(directory, "events.*"))
        nodes = []
        for event in tf.train.summary_iterator(path):
            if event.WhichOneof("what") == "graph_def":
                nodes += tf.GraphDef.FromString(event.graph_def).node
        nodes = [[node.name, node.op] + list(node.input) for node in nodes]
        return [node for node in nodes if node[0].startswith(scope + "/")]


def resume(runs):
    """Writes a curve in several runs; each run continues from an earlier step.

    Args:
        runs: list of (first step, [n] float array of the values from that step).

    Returns:
        dict with `written`, the number of values in the files, and the `steps` and
        `values` that TensorBoard shows.
    """
    with tempfile.TemporaryDirectory() as directory:
        # --- write
        for run, (first, values) in enumerate(runs):
            # File names contain the time in seconds: two runs may get the same name.
            writer = tf.summary.FileWriter(directory, filename_suffix=".%d" % run)
            start = tf.SessionLog(status=tf.SessionLog.START)
            writer.add_session_log(start, first)
            for step, value in enumerate(values, first):
                value = tf.Summary.Value(tag="value", simple_value=value)
                writer.add_summary(tf.Summary(value=[value]), step)
            writer.close()
        # --- read
        written, curve = 0, []
        paths = glob.glob(os.path.join(directory, "events.*"))
        for path in sorted(paths, key=lambda path: path.rpartition(".")[2]):
            for event in tf.train.summary_iterator(path):
                if event.session_log.status == tf.SessionLog.START:
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
    """Reads the summaries in event files of TensorFlow 1 or 2.

    Args:
        files: list of uint8 arrays, the bytes of event files.

    Returns:
        List of dicts in the order of the files: `step`, `tag`, the name of the `plugin`
        that shows it, and its value: `simple_value`, `tensor`, or a dict `histo`,
        `image` or `audio`.

    Raises:
        tf.errors.DataLossError: a file is not an event file, or is damaged.
    """
    with tempfile.TemporaryDirectory() as directory:
        for i, content in enumerate(files):
            content.tofile(os.path.join(directory, "events.%06d" % i))
        return _read(directory)


def _read(directory):
    # --- read
    found, plugins = [], {}
    for path in sorted(glob.glob(os.path.join(directory, "events.*"))):
        for event in tf.train.summary_iterator(path):
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
