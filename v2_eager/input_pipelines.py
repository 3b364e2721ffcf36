"""`parse_single_sequence_example`, readers, shards, fed slices → `tf.data`."""

import os
import tempfile

import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers
from v2_eager.numerics.randomness import kernel_seeds, stream

__all__ = [
    "read_sequences",
    "parse_sequences",
    "parse_histories",
    "batch_sequences",
    "read_shards",
    "read_images",
    "read_whole_files",
    "shuffle_and_repeat",
    "resume",
    "describe_batches",
    "pair_up",
    "feed_slices",
    "split_characters",
]


def _write(directory, files):
    """Writes files {name: bytes, or None for a missing file}; returns their paths."""
    paths = [os.path.join(directory, name) for name in files]
    for path, content in zip(paths, files.values()):
        if content is not None:
            tf.io.write_file(path, content)  # also makes the folder
    return paths


def sequence_example(label, frames, words):
    """Makes a `tf.train.SequenceExample`: a label, floats and words for each step."""
    lists = {
        "frames": [
            tf.train.Feature(float_list=tf.train.FloatList(value=frame))
            for frame in frames
        ],
        "words": [
            tf.train.Feature(bytes_list=tf.train.BytesList(value=step))
            for step in words
        ],
    }
    label = tf.train.Feature(int64_list=tf.train.Int64List(value=[label]))
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={"label": label}),
        feature_lists=tf.train.FeatureLists(
            feature_list={
                name: tf.train.FeatureList(feature=features)
                for name, features in lists.items()
                if features
            }
        ),
    )


def read_sequences(rows, width):
    """Writes sequences to a TFRecord file, and parses them one by one."""

    # --- parse
    def parse(serialized):
        context, lists = tf.io.parse_single_sequence_example(
            serialized,
            {"label": tf.io.FixedLenFeature([], tf.int64)},
            {
                "frames": tf.io.FixedLenSequenceFeature(
                    [width], tf.float32, allow_missing=True
                ),
                "words": tf.io.RaggedFeature(tf.string),
            },
        )
        return context["label"], lists["frames"], lists["words"].to_tensor()

    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "rows.tfrecord")
        # --- write
        with tf.io.TFRecordWriter(path) as writer:
            for row in rows:
                writer.write(sequence_example(*row).SerializeToString())
        # --- read
        dataset = tf.data.TFRecordDataset(path).map(parse)
        return list(dataset.as_numpy_iterator())


def parse_sequences(serialized, width):
    """Parses a batch of serialized sequences at once, padded to the longest."""
    context, lists, lengths = tf.io.parse_sequence_example(
        serialized,
        {"label": tf.io.FixedLenFeature([], tf.int64)},
        {
            "frames": tf.io.FixedLenSequenceFeature(
                [width], tf.float32, allow_missing=True
            ),
            "words": tf.io.RaggedFeature(tf.string),
        },
    )
    return {
        "labels": context["label"],
        "frames": lists["frames"],
        "lengths": lengths["frames"],
        "words": lists["words"].to_tensor(),
    }


def parse_histories(serialized, pad):
    """Parses examples with variable-length lists, padded to the longest."""
    point = tf.io.RaggedFeature.UniformRowLength(2)
    rows = tf.io.parse_example(
        serialized,
        {
            "ids": tf.io.RaggedFeature(tf.int64),
            "points": tf.io.RaggedFeature(tf.float32, partitions=[point]),
        },
    )
    return rows["ids"].to_tensor(default_value=pad), rows["points"].to_tensor()


def batch_sequences(
    rows, sizes, epochs=1, boundaries=(), length=None, pad=0, drop_remainder=False
):
    """Batches sequences from a generator, padded, optionally in length buckets."""
    passes = []

    def generate():
        passes.append(True)  # lives as long as the process
        for row in rows:
            yield {"tokens": row, "epoch": len(passes)}

    # --- generate
    signature = {
        "tokens": tf.TensorSpec([None], tf.int32),
        "epoch": tf.TensorSpec([], tf.int64),
    }
    dataset = tf.data.Dataset.from_generator(generate, output_signature=signature)
    dataset = dataset.repeat(epochs)
    # --- pad
    shapes = {"tokens": [length], "epoch": []}
    padding = {"tokens": pad, "epoch": np.int64(0)}
    # --- batch
    if boundaries:
        dataset = dataset.bucket_by_sequence_length(
            lambda row: tf.size(row["tokens"]),
            boundaries,
            sizes,
            padded_shapes=shapes,
            padding_values=padding,
            drop_remainder=drop_remainder,
        )
    else:
        dataset = dataset.padded_batch(sizes[0], shapes, padding, drop_remainder)
    # --- run
    return list(dataset.as_numpy_iterator())


def read_shards(
    files, cycle_length, block_length, size, worker=(1, 0), by_file=True, seed=None
):
    """Interleaves the file shards of one worker, then parses and batches the lines."""
    with tempfile.TemporaryDirectory() as directory:
        _write(directory, files)
        # --- list
        tf.random.set_seed(seed)
        dataset = tf.data.Dataset.list_files(
            os.path.join(directory, "*"), shuffle=seed is not None, seed=seed
        )
        # --- read
        if by_file:
            dataset = dataset.shard(*worker)
        # In 1.15, a race decides which file is next if a file ends within a block.
        dataset = dataset.interleave(
            tf.data.TextLineDataset,
            cycle_length,
            block_length,
            num_parallel_calls=tf.data.AUTOTUNE,
            deterministic=True,
        )
        if not by_file:
            dataset = dataset.shard(*worker)
        # --- batch
        dataset = dataset.map(
            lambda line: tf.strings.to_number(line, tf.int64),
            num_parallel_calls=tf.data.AUTOTUNE,
        )
        # --- run
        return list(dataset.batch(size).as_numpy_iterator())


def read_images(files, side, crop, size):
    """Reads CIFAR records, and crops, standardizes and batches the images.

    Returns:
        List of ([batch, crop, crop, 3] float32 images, [batch] int32 labels).

    Raises:
        tf.errors.InvalidArgumentError: a file ends within a record.
    """

    # --- decode
    def decode(value):
        record = tf.io.decode_raw(value, tf.uint8)
        label = tf.cast(record[0], tf.int32)
        image = tf.transpose(tf.reshape(record[1:], [3, side, side]), [1, 2, 0])
        # --- distort
        image = tf.image.resize_with_crop_or_pad(tf.cast(image, tf.float32), crop, crop)
        return tf.image.per_image_standardization(image), label

    with tempfile.TemporaryDirectory() as directory:
        paths = _write(directory, files)
        # --- read
        dataset = tf.data.FixedLengthRecordDataset(paths, 1 + side * side * 3)
        dataset = dataset.map(decode, num_parallel_calls=tf.data.AUTOTUNE)
        # --- batch
        dataset = dataset.batch(size).prefetch(tf.data.AUTOTUNE)
        return [list(batch) for batch in dataset.as_numpy_iterator()]


def read_whole_files(files):
    """Reads whole files, with the name of the folder as the class."""

    # --- label
    def read(path):
        parts = tf.strings.split(path, os.sep)
        return parts[-2], parts[-1], tf.io.read_file(path)

    with tempfile.TemporaryDirectory() as directory:
        paths = _write(directory, files)
        # --- read
        dataset = tf.data.Dataset.from_tensor_slices(paths).map(read)
        return list(dataset.as_numpy_iterator())


def shuffle_and_repeat(count, buffer_size, epochs, graph_seed, seed):
    """Shuffles numbers in each epoch, in the same order as TensorFlow 1.15."""
    # --- order
    order = legacy_order(count, buffer_size, epochs, graph_seed, seed)
    dataset = tf.data.Dataset.from_tensor_slices(order)
    # --- run
    return np.reshape(list(dataset.as_numpy_iterator()), [epochs, count])


def legacy_order(count, buffer_size, epochs, graph_seed, seed):
    """Returns the numbers below `count` in the order of 1.15's `shuffle_and_repeat`.

    Args:
        count: number of elements in an epoch.
        buffer_size: size of the shuffle buffer.
        epochs: number of epochs.
        graph_seed: argument of `tf.set_random_seed`, or 87654321.
        seed: argument of `shuffle`, not below 0.

    Returns:
        [epochs · count] int64 array, for `tf.gather`.
    """
    generator = stream(*kernel_seeds(graph_seed, seed))
    draws = generator.uniform_full_int([epochs * count], tf.uint32).numpy().tolist()
    order = np.tile(np.arange(count), epochs)
    for place, draw in enumerate(draws):
        # The buffer may have elements of the next epoch, but they are drawn after this.
        end = min(place + buffer_size, (place // count + 1) * count)
        drawn = place + draw % (end - place)
        order[[place, drawn]] = order[[drawn, place]]
    return order


def resume(x, size, seed, before, after):
    """Saves the position in the dataset with the model, and resumes from it."""
    runs = []
    with tempfile.TemporaryDirectory() as directory:
        for count in (before, after):
            # --- build
            tf.random.set_seed(seed)
            dataset = tf.data.Dataset.from_tensor_slices(x).repeat()
            dataset = dataset.shuffle(4 * size, seed=seed).batch(size)
            iterator = iter(dataset)
            step = tf.Variable(0, trainable=False, dtype=tf.int64)
            # --- restore
            checkpoint = tf.train.Checkpoint(iterator=iterator, step=step)
            manager = tf.train.CheckpointManager(checkpoint, directory, 5)
            manager.restore_or_initialize()
            # --- run
            runs.append([next(iterator).numpy() for _ in range(count)])
            step.assign_add(count)
            manager.save(checkpoint_number=step)
    return {"before": runs[0], "after": runs[1], "step": step.numpy()}


def describe_batches(x, links, size):
    """Returns the dtypes, shapes and classes of batches, and their sums."""
    # --- build
    dataset = tf.data.Dataset.from_tensor_slices(
        {"x": x, "links": tf.sparse.from_dense(links)}
    )
    dataset = dataset.batch(size)
    # --- describe
    specs = dataset.element_spec
    description = {
        "types": {name: spec.dtype.name for name, spec in specs.items()},
        "shapes": {name: str(spec.shape.as_list()) for name, spec in specs.items()},
        "classes": {name: spec.value_type.__name__ for name, spec in specs.items()},
    }

    # --- run
    @tf.function(input_signature=[specs])
    def add(batch):
        return tf.reduce_sum(batch["x"]), tf.sparse.reduce_sum(batch["links"])

    sums = [[total.numpy() for total in add(batch)] for batch in dataset]
    return {**description, "sums": sums}


def pair_up(x):
    """Takes pairs of elements, as two calls of `get_next` in one run did."""
    # --- build
    dataset = tf.data.Dataset.from_tensor_slices(x)
    # A last single element is dropped: in v1 the second call raised an error.
    dataset = dataset.batch(2, drop_remainder=True)
    # --- run
    return np.sort(np.reshape(list(dataset.as_numpy_iterator()), [-1, 2]))


def feed_slices(x, y, start, size, epochs, seed, rate=0.125):
    """Trains on slices of arrays that NumPy permutes in each epoch."""
    random = np.random.RandomState(seed)
    # --- build
    signature = [tf.TensorSpec([None, rows.shape[1]], rows.dtype) for rows in (x, y)]
    weights = tf.Variable(start)

    # --- step
    optimizer = optimizers.GradientDescent(rate)

    @tf.function(input_signature=signature)
    def train_step(inputs, targets):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(inputs, weights) - targets))
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
        return loss

    # --- run
    sizes, losses = [], []
    for _ in range(epochs):
        order = random.permutation(len(x))
        dataset = tf.data.Dataset.from_tensor_slices((x[order], y[order]))
        for inputs, targets in dataset.batch(size):
            losses.append(train_step(inputs, targets).numpy())
            sizes.append(len(inputs))
    return {"sizes": sizes, "losses": np.stack(losses), "weights": weights.numpy()}


def split_characters(texts):
    """Splits strings into bytes, and into Unicode characters."""
    letters = tf.strings.bytes_split(texts)
    characters = tf.strings.unicode_split(texts, "UTF-8")
    codes = tf.strings.unicode_decode(texts, "UTF-8")
    return {
        "bytes": letters.to_tensor(),
        "characters": characters.to_tensor(),
        "codes": codes.to_tensor(default_value=-1),
    }
