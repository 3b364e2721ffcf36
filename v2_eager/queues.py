"""`tf.FIFOQueue`, `tf.train.batch`, `QueueRunner`, `Coordinator` → `tf.data`."""

import math
import os
import tempfile

import tensorflow as tf

__all__ = [
    "fifo_queue",
    "random_queue",
    "squares",
    "produce_and_consume",
    "read_lines",
    "csv_batches",
    "padded_batches",
    "shuffled_slices",
    "shuffle_batches",
    "join_files",
]


def _write(directory, files):
    paths = []
    for name, text in files.items():
        paths.append(os.path.join(directory, name))
        if text is not None:
            with open(paths[-1], "w") as file:
                file.write(text)
    return paths


def _positive(epochs):
    # A dataset that is repeated 0 times has no rows, and with -1 it has no end.
    if epochs is not None and epochs < 1:
        raise ValueError(f"num_epochs must be > 0, not {epochs}")
    return epochs


def fifo_queue(values, size, smaller=False):
    """Fills a queue, closes it, and takes batches out of it until it is empty."""
    # --- build
    dataset = tf.data.Dataset.from_tensor_slices(values)
    dataset = dataset.batch(size, drop_remainder=not smaller)
    # --- run
    batches = list(dataset.as_numpy_iterator())
    return batches, len(values) - sum(map(len, batches))


def random_queue(values, count, seed):
    """Fills a `RandomShuffleQueue`, and takes elements out of it at random."""
    # --- build
    tf.random.set_seed(seed)
    # TensorFlow 2 still has queues, but no queue runners and readers.
    queue = tf.queue.RandomShuffleQueue(len(values), 0, values.dtype, [[]], seed=seed)
    # --- run
    queue.enqueue_many([values])
    queue.close()
    return queue.dequeue_many(count).numpy()


def squares(limit, capacity):
    """Squares the numbers below a limit, prefetched by a thread."""
    # --- build
    dataset = tf.data.Dataset.range(limit).map(tf.square).prefetch(capacity)
    # --- run
    return list(dataset.as_numpy_iterator())


def produce_and_consume(numbers, capacity, limit):
    """Computes square roots in a producer thread, and doubles them in a consumer.

    Args:
        limit: largest number of results; none if it is negative.
    """

    # --- build
    def double(root):
        return root * 2

    # --- produce
    def produce():
        for number in numbers:
            yield math.sqrt(number)

    # --- consume
    dataset = tf.data.Dataset.from_generator(
        produce, output_signature=tf.TensorSpec([], tf.float64)
    )
    dataset = dataset.prefetch(capacity).map(double).take(max(limit, 0))
    return list(dataset.as_numpy_iterator())


def read_lines(files, epochs, skip=0, initialized=True):
    """Reads text files line by line, for a number of epochs.

    Args:
        initialized: no effect: no variable counts epochs.

    Raises:
        ValueError: `epochs` below 1.
    """
    with tempfile.TemporaryDirectory() as directory:
        paths = _write(directory, files)

        # --- build
        def read(path):
            name = tf.strings.split(path, os.sep)[-1]
            lines = tf.data.TextLineDataset(path).enumerate(start=1).skip(skip)
            return lines.map(lambda n, line: (_key(name, n), line))

        dataset = tf.data.Dataset.from_tensor_slices(tf.constant(paths, tf.string))
        dataset = dataset.repeat(_positive(epochs)).flat_map(read)
        # --- run
        return list(dataset.as_numpy_iterator())


def _key(name, number):
    return tf.strings.join([name, tf.strings.as_string(number)], ":")


def csv_batches(text, size, epochs, smaller=False):
    """Decodes a CSV file into batches.

    Raises:
        ValueError: `epochs` below 1.
    """
    with tempfile.TemporaryDirectory() as directory:
        paths = _write(directory, {"data.csv": text})

        # --- build
        def decode(line):
            # An empty default: the field is required.
            defaults = [[-1.0], tf.constant([], tf.int64), ["none"]]
            return tuple(tf.io.decode_csv(line, defaults))

        dataset = tf.data.TextLineDataset(paths).repeat(_positive(epochs))
        # After `batch`, one op would decode a whole batch. It would not see the lines
        # that are dropped at the end, nor an error in them.
        dataset = dataset.map(decode).batch(size, drop_remainder=not smaller)
        # --- run
        return [list(batch) for batch in dataset.as_numpy_iterator()]


def padded_batches(rows, size):
    """Reads records of different lengths, and pads each batch to its longest record."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "rows.tfrecord")
        # --- write
        with tf.io.TFRecordWriter(path) as writer:
            for row in rows:
                values = tf.train.Feature(int64_list=tf.train.Int64List(value=row))
                features = tf.train.Features(feature={"values": values})
                writer.write(tf.train.Example(features=features).SerializeToString())

        # --- build
        def parse(serialized):
            row = tf.io.parse_single_example(
                serialized, {"values": tf.io.RaggedFeature(tf.int64)}
            )
            return row["values"]

        dataset = tf.data.TFRecordDataset(path).map(parse)
        dataset = dataset.padded_batch(size, drop_remainder=True)
        # --- run
        return list(dataset.as_numpy_iterator())


def shuffled_slices(x, y, size, epochs, seed):
    """Batches the rows of two arrays, which are shuffled again in each epoch.

    Raises:
        ValueError: `epochs` below 1.
    """
    # --- build
    tf.random.set_seed(seed)
    x, y = tf.constant(x), tf.constant(y)

    def epoch(_):
        # The order of slice_input_producer. Dataset.shuffle(len(x), seed) has another
        # one.
        order = tf.random.shuffle(tf.range(len(x)), seed=seed)
        return tf.data.Dataset.from_tensor_slices(
            (tf.gather(x, order), tf.gather(y, order))
        )

    dataset = tf.data.Dataset.range(_positive(epochs)).flat_map(epoch)
    dataset = dataset.batch(size, drop_remainder=True)
    # --- run
    return [list(batch) for batch in dataset.as_numpy_iterator()]


def shuffle_batches(x, size, min_after_dequeue, seed):
    """Batches elements that are shuffled in a buffer.

    Args:
        seed: seed of the shuffling; the order is now the same in every run.
    """
    # --- build
    dataset = tf.data.Dataset.from_tensor_slices(x)
    dataset = dataset.shuffle(min_after_dequeue + size, seed=seed)
    dataset = dataset.batch(size, drop_remainder=True)
    # --- run
    batches = list(dataset.as_numpy_iterator())
    elements = [element for batch in batches for element in batch]
    return [len(batch) for batch in batches], sorted(elements), elements != list(x)


def join_files(files, readers):
    """Reads several files in parallel, and mixes their lines.

    Returns:
        The lines, sorted; `interleave` has a fixed order: a line of each file in turn.
    """
    with tempfile.TemporaryDirectory() as directory:
        paths = _write(directory, files)
        # --- build
        dataset = tf.data.Dataset.from_tensor_slices(tf.constant(paths, tf.string))
        dataset = dataset.interleave(
            tf.data.TextLineDataset, cycle_length=readers, num_parallel_calls=readers
        )
        # --- run
        return sorted(dataset.as_numpy_iterator())
