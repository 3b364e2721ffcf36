"""Summaries: protos fetched and handed to a FileWriter → written where they arise."""

import os
import re
import tempfile
from contextlib import nullcontext

import tensorflow as tf

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
    """Trains a linear model, with curves of training and testing, and statistics.

    Args:
        x: ([n, features], [m, features]) float arrays to train and to test with.
        y: ([n, units], [m, units]) arrays of the same dtype.
        kernel: [features, units] array of the same dtype to start at.
        steps: how many steps to take.
        test_every: how many steps from one test to the next.
        rate: learning rate.

    Returns:
        dict with the summaries in the directories `train` and `test`, and the `kernel`.

    Raises:
        ValueError: the sizes do not fit (eagerly a tf.errors.InvalidArgumentError).
    """
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        kernel = tf.Variable(kernel)
        train_writer = tf.summary.create_file_writer(os.path.join(directory, "train"))
        test_writer = tf.summary.create_file_writer(os.path.join(directory, "test"))

        def summarized_loss(inputs, labels):
            error = tf.matmul(inputs, kernel) - labels
            loss = tf.reduce_mean(tf.square(error))
            write_scalar("loss_1", loss)  # as it was called: the curve goes on
            variable_summaries(kernel)
            return loss

        # Each function has its own writer: that of its trace, for good.
        @tf.function
        def test_step(step):
            with test_writer.as_default(step):
                summarized_loss(x[1], y[1])

        @tf.function
        def train_step(step):
            with train_writer.as_default(step), tf.GradientTape() as tape:
                loss = summarized_loss(x[0], y[0])
            kernel.assign_sub(rate * tape.gradient(loss, kernel))

        # --- write
        for step in tf.range(steps, dtype=tf.int64):
            if step % test_every == 0:
                test_step(step)
            train_step(step)
        train_writer.close()
        test_writer.close()
        # --- read
        return {
            "train": _read(os.path.join(directory, "train")),
            "test": _read(os.path.join(directory, "test")),
            "kernel": kernel.numpy(),
        }


def variable_summaries(variable):
    """Attaches the statistics of a variable, as the tutorials did."""
    mean = tf.reduce_mean(variable)
    write_scalar("summaries/mean_1", mean)
    stddev = tf.sqrt(tf.reduce_mean(tf.square(variable - mean)))
    write_scalar("summaries/stddev_1", stddev)
    write_scalar("summaries/max_1", tf.reduce_max(variable))
    write_histogram("summaries/histogram", variable)


def write_scalar(tag, value, step=None):
    """Writes what `tf.summary.scalar` and `add_summary` of TensorFlow 1 wrote.

    Args:
        tag: the whole tag: no scope is put before it, and no number behind.
        value: scalar tensor.
        step: int64 scalar; by default that of the writer, or of `set_step`.
    """
    proto = tf.raw_ops.ScalarSummary(tags=tag, values=value)
    tf.summary.experimental.write_raw_pb(proto, step)


def write_histogram(tag, values, step=None):
    """Writes what `tf.summary.histogram` of TensorFlow 1 wrote; see `write_scalar`."""
    proto = tf.raw_ops.HistogramSummary(tag=tag, values=values)
    tf.summary.experimental.write_raw_pb(proto, step)


def histogram(values, tag="histogram"):
    """Writes a histogram per step, in the buckets of TensorFlow 1.

    Args:
        values: [steps, n] float or integer array.
        tag: name of the summary.

    Returns:
        List of dicts as `read_events` returns them.

    Raises:
        tf.errors.InvalidArgumentError: a value is NaN or infinite.
    """
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        writer = tf.summary.create_file_writer(directory)
        # --- write
        with writer.as_default():
            for step, row in enumerate(values):
                write_histogram(tag, row, step)
        writer.close()
        # --- read
        return _read(directory)


def media(images, sounds, sample_rate, max_outputs=3):
    """Writes images and sounds.

    Args:
        images: [batch, height, width, channels] uint8 or float array.
        sounds: [batch, frames, channels] float32 array, in [-1, 1].
        sample_rate: samples in a second.
        max_outputs: how many of each to write, at most.

    Returns:
        List of dicts as `read_events` returns them: PNG and WAV files.

    Raises:
        tf.errors.InvalidArgumentError: a wrong rank.
    """
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        # Not `ImageSummary` and `write_raw_pb`: eagerly it does not run.
        writer = _raw_writer(directory)
        # --- write
        tf.raw_ops.WriteImageSummary(
            writer=writer,
            step=0,
            tag="image",
            tensor=images,
            bad_color=tf.constant([255, 0, 0, 255], tf.uint8),
            max_images=max_outputs,
        )
        # Not `WriteAudioSummary`: given a vector, it ends the process.
        proto = tf.raw_ops.AudioSummaryV2(
            tag="sound", tensor=sounds, sample_rate=sample_rate, max_outputs=max_outputs
        )
        tf.raw_ops.WriteRawProtoSummary(writer=writer, step=0, tensor=proto)
        tf.raw_ops.CloseSummaryWriter(writer=writer)
        # --- read
        return _read(directory)


def _raw_writer(directory, suffix=""):
    """The resource behind `tf.summary.create_file_writer`, for ops that it lacks."""
    writer = tf.raw_ops.SummaryWriter(shared_name=directory + suffix)
    tf.raw_ops.CreateSummaryFileWriter(
        writer=writer,
        logdir=directory,
        max_queue=10,
        flush_millis=120_000,
        filename_suffix=suffix,
    )
    return writer


def text(paragraphs, tag="text"):
    """Writes text, of any shape; TensorBoard shows a table.

    Args:
        paragraphs: list of string arrays, one for each step.
        tag: name of the summary.

    Returns:
        List of dicts as `read_events` returns them.

    Raises:
        ValueError: they are no strings.
    """
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        writer = tf.summary.create_file_writer(directory)
        # --- write
        with writer.as_default():
            for step, paragraph in enumerate(paragraphs):
                write_text(tag, paragraph, step)
        writer.close()
        # --- read
        return _read(directory)


def write_text(tag, value, step=None):
    """Writes what `tf.summary.text` writes, in TensorFlow 1 and 2 alike."""
    value = tf.convert_to_tensor(value)
    if value.dtype != tf.string:
        raise ValueError(f"expected strings, not {value.dtype.name}")
    tf.summary.write(tag, value, step, _metadata("text"))


def _metadata(plugin, content=b""):
    """A serialized `SummaryMetadata`: it tells TensorBoard who shows a tensor."""
    fields = {"plugin_name": plugin, **({"content": content} if content else {})}
    data = _encode("SummaryMetadata.PluginData", **fields)
    return _encode("SummaryMetadata", plugin_data=data)


def by_hand(metrics, steps):
    """Writes numbers that Python has computed, such as those of an evaluation.

    Args:
        metrics: {tag: [n] float array}.
        steps: list of n steps.

    Returns:
        List of dicts as `read_events` returns them.
    """
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        writer = tf.summary.create_file_writer(directory)
        # --- write
        with writer.as_default():
            for i, step in enumerate(steps):
                protos = [
                    tf.raw_ops.ScalarSummary(tags=tag, values=values[i])
                    for tag, values in metrics.items()
                ]
                merged = tf.raw_ops.MergeSummary(inputs=protos)
                tf.summary.experimental.write_raw_pb(merged, step)
        writer.close()
        # --- read
        return _read(directory)


def tags(names, merge=False):
    """Tells the tags of summaries, which the graph makes legal and unique.

    Args:
        names: list of (scope, name, family): a scalar in the scope, or with a scope of
            None at the top; family may be None.
        merge: whether to merge them first.

    Returns:
        List of the tags, in the order of `names`.

    Raises:
        tf.errors.InvalidArgumentError: two are equal, and they are merged.
    """
    # --- name
    taken, found = tf.Graph(), []
    for scope, name, family in names:
        name = re.sub(r"[^-/\w.]", "_", name).lstrip("/")
        prefix = ""
        if family:
            name, prefix = f"{family}/{name}", family + "/"
        # A graph that stays empty makes the names unique, as it did.
        with taken.as_default(), tf.name_scope(scope) if scope else nullcontext():
            found.append(prefix + taken.unique_name(name))
    if merge:
        tf.raw_ops.MergeSummary(
            inputs=[tf.raw_ops.ScalarSummary(tags=tag, values=0.5) for tag in found]
        )
    return found


def every_n_steps(values, n):
    """Writes a summary in the first step, and in every n-th from there.

    Args:
        values: [steps] float array, the value of each step.
        n: number of steps from one summary to the next.

    Returns:
        List of dicts as `read_events` returns them.
    """
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        writer = tf.summary.create_file_writer(directory)
        # --- write
        with writer.as_default():
            for step, value in enumerate(values):
                with tf.summary.record_if(step % n == 0):
                    write_scalar("value", value, step + 1)
        writer.close()
        # --- read
        return _read(directory)


def inside_the_step(values, n):
    """Writes from inside the graph, in every n-th step: no fetch, no proto in Python.

    Args:
        values: [steps, k] float array; the mean of a row is the loss of its step.
        n: writes at the steps that it divides.

    Returns:
        List of dicts as `read_events` returns them, by step and tag.
    """
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        global_step = tf.Variable(0, dtype=tf.int64)
        writer = tf.summary.create_file_writer(directory)

        def due():  # a function: of a number, the trace would keep the first
            return tf.equal(global_step % n, 0)

        @tf.function
        def train_step():
            row = tf.gather(values, global_step)
            with writer.as_default(global_step), tf.summary.record_if(due):
                write_scalar("train/loss", tf.reduce_mean(row))
                tf.summary.write("train/generic", row)
            global_step.assign_add(1)

        # --- write
        for _ in range(len(values)):
            train_step()
        writer.flush()
        # --- read
        return _by_tag(_read(directory))


def of_tensorboard(values, images, sounds, words, step=0):
    """Writes what TensorBoard's own `tf.summary` of TensorFlow 2 writes: tensors.

    Args:
        values: [n] float array: a histogram, and its first value is a scalar.
        images: [batch, height, width, channels] uint8 or float array, in [0, 1].
        sounds: [batch, frames, channels] float32 array, in [-1, 1].
        words: string array.
        step: int64 scalar.

    Returns:
        List of dicts as `read_events` returns them, by step and tag.
    """
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        writer = tf.summary.create_file_writer(directory)
        # --- write
        # Where TensorBoard is installed, these are tf.summary.scalar, histogram, …
        with writer.as_default(step), tf.name_scope("scope"):
            write_tensor("scalars", "scalar", tf.cast(values[0], tf.float32))
            write_tensor("histograms", "histogram", _buckets(values))
            write_tensor("images", "image", _pictures(images))
            write_tensor("audio", "audio", _waves(sounds, 8000), b"\x10\x0b")  # WAV
            write_tensor("text", "text", words)
        writer.close()
        # --- read
        return _by_tag(_read(directory))


def write_tensor(plugin, name, tensor, content=b""):
    """Writes a tensor for a plugin of TensorBoard, tagged by its scope and name."""
    with tf.summary.experimental.summary_scope(name) as (tag, _):
        tf.summary.write(tag, tensor, metadata=_metadata(plugin, content))


def _buckets(values, count=30):
    """[count, 3] float64: left edge, right edge and content of buckets of one width."""
    values = tf.cast(tf.reshape(values, [-1]), tf.float64)
    low, high = tf.reduce_min(values), tf.reduce_max(values)
    width = (high - low) / count
    # One value that is repeated is counted in the last bucket.
    places = tf.where(width > 0, tf.floor((values - low) / width), count)
    places = tf.minimum(tf.cast(places, tf.int32), count - 1)
    hits = tf.one_hot(places, count, dtype=tf.float64)
    edges = tf.concat([tf.linspace(low, high, count + 1)[:-1], [high]], 0)
    buckets = tf.stack([edges[:-1], edges[1:], tf.reduce_sum(hits, 0)], 1)
    return tf.where(tf.size(values) > 0, buckets, 0)  # all zero if there is none


def _pictures(images, max_outputs=3):
    """Width and height as text, then PNG files."""
    images = tf.image.convert_image_dtype(images, tf.uint8, saturate=True)
    size = tf.as_string(tf.shape(images)[2:0:-1])
    return tf.concat([size, tf.image.encode_png(images[:max_outputs])], 0)


def _waves(sounds, sample_rate, max_outputs=3):
    """[clips, 2] strings: a WAV file, and no label."""
    sounds = tf.unstack(tf.cast(sounds[:max_outputs], tf.float32))
    return tf.stack([[tf.audio.encode_wav(x, sample_rate), b""] for x in sounds])


def graph_nodes(x, kernel, scope):
    """Writes the graph of a model for TensorBoard, and tells the nodes of a scope.

    Args:
        x: [n, features] float array.
        kernel: [features, units] array of the same dtype.
        scope: name of the scope whose nodes are told.

    Returns:
        List of [name, op, inputs…] in the order of the file.
    """
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
        with writer.as_default():
            tf.summary.graph(graph)
        writer.close()
        # --- read
        (path,) = tf.io.gfile.glob(os.path.join(directory, "events.*"))
        nodes = []
        for event in tf.data.TFRecordDataset(path):
            for graph_def in _decode("Event", event, graph_def=tf.string).values():
                nodes += [*_decode("GraphDef", graph_def[0], node=tf.string)["node"]]
        fields = dict.fromkeys(["name", "op", "input"], tf.string)
        nodes = [_decode("NodeDef", node, **fields).values() for node in nodes]
        nodes = [[text.decode() for part in node for text in part] for node in nodes]
        return [node for node in nodes if node[0].startswith(scope + "/")]


START = 1  # of `SessionLog.SessionStatus`


def resume(runs):
    """Writes a curve in several runs, each of which begins anew at some step.

    Args:
        runs: list of (first step, [n] float array of the values from there on).

    Returns:
        dict with `written`, the number of values in the files, and the `steps` and
        `values` that TensorBoard shows.
    """
    with tempfile.TemporaryDirectory() as directory:
        # --- write
        for run, (first, values) in enumerate(runs):
            # The raw writer, since `tf.summary` has nothing for the START of a session.
            writer = _raw_writer(directory, ".%d" % run)
            start = _encode("SessionLog", status=START)
            at = tf.constant(first, tf.int64)
            event = _encode("Event", step=at, session_log=start)
            tf.raw_ops.ImportEvent(writer=writer, event=event)
            for step, value in enumerate(values, first):
                tf.raw_ops.WriteScalarSummary(
                    writer=writer, step=step, tag="value", value=value
                )
            tf.raw_ops.CloseSummaryWriter(writer=writer)
        # --- read
        written, curve = 0, []
        paths = tf.io.gfile.glob(os.path.join(directory, "events.*"))
        for path in sorted(paths, key=lambda path: path.rpartition(".")[2]):
            for event in tf.data.TFRecordDataset(path):
                step, values = _values(event)
                for log in _decode("Event", event, session_log=tf.string).values():
                    status = _decode("SessionLog", log[0], status=tf.int32)
                    if status.get("status") == START:
                        curve = [point for point in curve if point[0] < step]
                for value in values:
                    parts = _decode("Summary.Value", value, simple_value=tf.float32)
                    curve.append((step, float(parts["simple_value"][0])))
                    written += 1
        return {
            "written": written,
            "steps": [step for step, _ in curve],
            "values": [value for _, value in curve],
        }


def read_events(files):
    """Reads the summaries in event files, whoever wrote them.

    Args:
        files: list of uint8 arrays, the bytes of event files.

    Returns:
        List of dicts in the order of the files: `step`, `tag`, the name of the `plugin`
        that shows it, and what it holds, which is `simple_value`, `tensor` or a dict,
        `histo`, `image` or `audio`.

    Raises:
        tf.errors.DataLossError: a file is none, or has been changed.
    """
    with tempfile.TemporaryDirectory() as directory:
        for i, content in enumerate(files):
            content.tofile(os.path.join(directory, "events.%d" % i))
        return _read(directory)


# The fields of TensorFlow's messages that are read here.
VALUE = {
    **dict.fromkeys(
        ["tag", "metadata", "tensor", "histo", "image", "audio"], tf.string
    ),
    "simple_value": tf.float32,
}
HISTO = ["min", "max", "num", "sum", "sum_squares", "bucket_limit", "bucket"]
CONTENTS = {
    "histo": ("HistogramProto", dict.fromkeys(HISTO, tf.float64)),
    "image": (
        "Summary.Image",
        {
            **dict.fromkeys(["height", "width", "colorspace"], tf.int64),
            "encoded_image_string": tf.string,
        },
    ),
    "audio": (
        "Summary.Audio",
        {
            "sample_rate": tf.float64,
            **dict.fromkeys(["num_channels", "length_frames"], tf.int64),
            **dict.fromkeys(["encoded_audio_string", "content_type"], tf.string),
        },
    ),
}


def _read(directory):
    # --- read
    found, plugins = [], {}
    for path in sorted(tf.io.gfile.glob(os.path.join(directory, "events.*"))):
        for event in tf.data.TFRecordDataset(path):
            step, values = _values(event)
            for value in values:
                parts = _decode("Summary.Value", value, **VALUE)
                tag = parts.pop("tag")[0].decode()
                # A FileWriter keeps the metadata of the first value of a tag only.
                plugin = plugins.setdefault(tag, _plugin(*parts.pop("metadata", [])))
                ((kind, (content,)),) = parts.items()
                found.append(
                    {
                        "step": step,
                        "tag": tag,
                        "plugin": plugin,
                        kind: _content(kind, content),
                    }
                )
    return found


def _values(event):
    """The step of an event, and its serialized values."""
    parts = _decode("Event", event, step=tf.int64, summary=tf.string)
    step, summary = int(parts.get("step", [0])[0]), parts.get("summary", [b""])[0]
    return step, _decode("Summary", summary, value=tf.string).get("value", [])


def _plugin(metadata=b""):
    """The name of the plugin in a `SummaryMetadata`."""
    for data in _decode("SummaryMetadata", metadata, plugin_data=tf.string).values():
        name = _decode("SummaryMetadata.PluginData", data[0], plugin_name=tf.string)
        return name["plugin_name"][0].decode()
    return ""


def _decode(kind, message, **dtypes):
    """{field: its values} of a message of TensorFlow's own, as far as it has them."""
    sizes, values = tf.io.decode_proto(
        message, "tensorflow." + kind, list(dtypes), list(dtypes.values())
    )
    sizes = dict(zip(dtypes, sizes.numpy()))
    return {name: x.numpy() for name, x in zip(dtypes, values) if sizes[name]}


def _encode(kind, **fields):
    """Bytes of a message of TensorFlow's own, with one value in every field."""
    values = [tf.reshape(value, [1, 1]) for value in fields.values()]
    sizes = tf.ones([1, len(fields)], tf.int32)
    return tf.io.encode_proto(sizes, values, list(fields), "tensorflow." + kind)[0]


def _content(kind, content):
    if kind == "simple_value":
        return content
    if kind == "tensor":
        dtype = _decode("TensorProto", content, dtype=tf.int32)["dtype"][0]
        return tf.io.parse_tensor(content, tf.as_dtype(int(dtype))).numpy()
    message, dtypes = CONTENTS[kind]
    fields = _decode(message, content, **dtypes)
    if "content_type" in fields:
        fields["content_type"] = [fields["content_type"][0].decode()]
    return {k: x if k.startswith("bucket") else x[0] for k, x in fields.items()}


def _by_tag(events):
    """Events that nothing ordered, in an order."""
    return sorted(events, key=lambda event: (event["step"], event["tag"]))
