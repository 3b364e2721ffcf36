"""`parse_single_sequence_example`, readers, shards, fed slices → `tf.data`."""

import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

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


def _until_end(sess, fetches):
    """Runs `fetches` until the data ends, and returns the list of results."""
    results = []
    while True:
        try:
            results.append(sess.run(fetches))
        except tf.errors.OutOfRangeError:
            return results


def _drain(fetches):
    """Runs `fetches` with queue runners until the queues are empty."""
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        results = _until_end(sess, fetches)
        coord.request_stop()
        coord.join(threads)  # raises the error of a thread
    return results


def _write(directory, files):
    """Writes files {name: bytes, or None for a missing file}; returns their paths."""
    paths = [os.path.join(directory, name) for name in files]
    for path, content in zip(paths, files.values()):
        if content is not None:
            tf.gfile.MakeDirs(os.path.dirname(path))
            with tf.gfile.GFile(path, "wb") as file:
                file.write(content)
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
    """Writes sequences to a TFRecord file, and parses them one by one.

    Args:
        rows: list of (label, frames, words): an int, a list of `width` floats per step,
            a list of words, in bytes, per step. A sequence without steps has no list.
        width: number of floats in a frame.

    Returns:
        List of (label, [steps, width] float32 frames, [steps, most words of a step]
        words, padded with b"").

    Raises:
        tf.errors.InvalidArgumentError: a frame of another width.
    """

    # --- parse
    def parse(serialized):
        context, lists = tf.parse_single_sequence_example(
            serialized,
            {"label": tf.FixedLenFeature([], tf.int64)},
            {
                "frames": tf.FixedLenSequenceFeature(
                    [width], tf.float32, allow_missing=True
                ),
                "words": tf.VarLenFeature(tf.string),
            },
        )
        words = tf.sparse_tensor_to_dense(lists["words"], default_value="")
        return context["label"], lists["frames"], words

    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "rows.tfrecord")
        # --- write
        with tf.python_io.TFRecordWriter(path) as writer:
            for row in rows:
                writer.write(sequence_example(*row).SerializeToString())
        with tf.Graph().as_default(), tf.Session() as sess:
            # --- read
            dataset = tf.data.TFRecordDataset(path).map(parse)
            row = dataset.make_one_shot_iterator().get_next()
            return _until_end(sess, row)


def parse_sequences(serialized, width):
    """Parses a batch of serialized sequences at once, padded to the longest.

    Args:
        serialized: [n] string tensor of sequences as `read_sequences` writes them.
        width: number of floats in a frame.

    Returns:
        dict of the `labels`, [n] int64; the `frames`, [n, steps, width] float32, padded
        with 0; their `lengths`, [n] int64; the `words`, [n, steps, most of a step],
        padded with "".

    Raises:
        InvalidArgumentError: a frame of another width.
    """
    context, lists, lengths = tf.io.parse_sequence_example(
        serialized,
        {"label": tf.FixedLenFeature([], tf.int64)},
        {
            "frames": tf.FixedLenSequenceFeature(
                [width], tf.float32, allow_missing=True
            ),
            "words": tf.VarLenFeature(tf.string),
        },
    )
    return {
        "labels": context["label"],
        "frames": lists["frames"],
        "lengths": lengths["frames"],
        "words": tf.sparse_tensor_to_dense(lists["words"], default_value=""),
    }


def parse_histories(serialized, pad):
    """Parses examples with variable-length lists, padded to the longest.

    Args:
        serialized: [n] string tensor of examples, which may have ints `ids`, and points
            of two floats each, `points`.
        pad: the int that `ids` are padded with.

    Returns:
        ([n, most ids] int64 tensor, [n, most points, 2] float32 tensor, padded with 0).

    Raises:
        InvalidArgumentError: an odd number of floats in `points`.
    """
    rows = tf.parse_example(
        serialized,
        {
            "ids": tf.FixedLenSequenceFeature(
                [], tf.int64, allow_missing=True, default_value=pad
            ),
            "points": tf.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
        },
    )
    return rows["ids"], rows["points"]


def batch_sequences(
    rows, sizes, epochs=1, boundaries=(), length=None, pad=0, drop_remainder=False
):
    """Batches sequences from a generator, padded, optionally in length buckets.

    Args:
        rows: list of lists of ints.
        sizes: list of the batch size of each bucket; one size without boundaries.
        epochs: number of times to start the generator.
        boundaries: list of the lengths at which a bucket ends and the next one begins.
        length: padded length; None for the longest sequence of the batch.
        pad: the int that tokens are padded with.
        drop_remainder: whether to drop batches that are not full.

    Returns:
        List of dicts of the `tokens`, [batch, longest] int32, and the `epoch`, [batch]
        int64, counted by the generator.

    Raises:
        tf.errors.DataLossError: a sequence is longer than `length`.
        TypeError: `pad` has another type than int32.
    """
    passes = []

    def generate():
        passes.append(True)  # lives as long as the process
        for row in rows:
            yield {"tokens": row, "epoch": len(passes)}

    with tf.Graph().as_default(), tf.Session() as sess:
        # --- generate
        types = {"tokens": tf.int32, "epoch": tf.int64}
        shapes = {"tokens": [None], "epoch": []}
        dataset = tf.data.Dataset.from_generator(generate, types, shapes)
        dataset = dataset.repeat(epochs)
        # --- pad
        shapes = {"tokens": [length], "epoch": []}
        padding = {"tokens": pad, "epoch": np.int64(0)}
        # --- batch
        if boundaries:
            batches = tf.data.experimental.bucket_by_sequence_length(
                lambda row: tf.size(row["tokens"]),
                boundaries,
                sizes,
                padded_shapes=shapes,
                padding_values=padding,
                drop_remainder=drop_remainder,
            )
            dataset = dataset.apply(batches)
        else:
            dataset = dataset.padded_batch(sizes[0], shapes, padding, drop_remainder)
        batch = dataset.make_one_shot_iterator().get_next()
        # --- run
        return _until_end(sess, batch)


def read_shards(
    files, cycle_length, block_length, size, worker=(1, 0), by_file=True, seed=None
):
    """Interleaves the file shards of one worker, then parses and batches the lines.

    Args:
        files: {name: bytes}, the shards: lines with one number each.
        cycle_length: number of files that are read in turn.
        block_length: number of lines of a file before the next file.
        size: numbers in a batch; the last batch may have fewer.
        worker: (number of workers, index of this worker).
        by_file: whether to divide the files between workers, not the lines.
        seed: seed of the graph and of the order of the files; None to sort by name.

    Returns:
        List of [batch] int64 arrays.

    Raises:
        tf.errors.InvalidArgumentError: a line that is not a number, or no files.
    """
    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
        _write(directory, files)
        # --- list
        tf.set_random_seed(seed)
        dataset = tf.data.Dataset.list_files(
            os.path.join(directory, "*"), shuffle=seed is not None, seed=seed
        )
        # --- read
        if by_file:
            dataset = dataset.shard(*worker)
        dataset = dataset.apply(
            tf.data.experimental.parallel_interleave(
                tf.data.TextLineDataset, cycle_length, block_length, sloppy=False
            )
        )
        if not by_file:
            dataset = dataset.shard(*worker)
        # --- batch
        dataset = dataset.apply(
            tf.data.experimental.map_and_batch(
                lambda line: tf.string_to_number(line, tf.int64),
                size,
                num_parallel_calls=tf.data.experimental.AUTOTUNE,
            )
        )
        iterator = dataset.make_initializable_iterator()
        # --- run
        with tf.Session() as sess:
            sess.run(iterator.initializer)
            return _until_end(sess, iterator.get_next())


def read_images(files, side, crop, size):
    """Reads CIFAR records, and crops, standardizes and batches the images.

    Args:
        files: {name: bytes}, records of a byte for the label, and side · side bytes for
            each of red, green and blue.
        side: height and width of the images in the file.
        crop: height and width of the centre that is kept.
        size: images in a batch; the last batch may have fewer.

    Returns:
        List of ([batch, crop, crop, 3] float32 images, [batch] int32 labels); an
        incomplete record at the end of a file is skipped.
    """

    # --- decode
    def decode(value):
        record = tf.decode_raw(value, tf.uint8)
        label = tf.cast(record[0], tf.int32)
        image = tf.transpose(tf.reshape(record[1:], [3, side, side]), [1, 2, 0])
        # --- distort
        image = tf.image.resize_image_with_crop_or_pad(
            tf.cast(image, tf.float32), crop, crop
        )
        return tf.image.per_image_standardization(image), label

    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
        paths = _write(directory, files)
        # --- read
        names = tf.train.string_input_producer(paths, num_epochs=1, shuffle=False)
        reader = tf.FixedLengthRecordReader(record_bytes=1 + side * side * 3)
        image, label = decode(reader.read(names)[1])
        # --- batch
        batch = tf.train.batch(
            [image, label], size, num_threads=1, allow_smaller_final_batch=True
        )
        return _drain(batch)


def read_whole_files(files):
    """Reads whole files, with the name of the folder as the class.

    Args:
        files: {"class/name": bytes}, with None for a missing file.

    Returns:
        List of (class, name, content), all in bytes, in the order of `files`.

    Raises:
        tf.errors.NotFoundError: a file is missing.
    """

    # --- label
    def read(names):
        key, value = tf.WholeFileReader().read(names)
        parts = tf.string_split([key], os.sep).values
        return parts[-2], parts[-1], value

    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
        paths = _write(directory, files)
        # --- read
        names = tf.train.string_input_producer(paths, num_epochs=1, shuffle=False)
        return _drain(read(names))


def shuffle_and_repeat(count, buffer_size, epochs, graph_seed, seed):
    """Shuffles numbers in each epoch, in the same order as TensorFlow 1.15.

    Args:
        count: size of the dataset, the numbers from 0 to count - 1.
        buffer_size: size of the shuffle buffer.
        epochs: number of epochs.
        graph_seed: seed of the graph.
        seed: seed of `shuffle`.

    Returns:
        [epochs, count] int64 array.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- order
        tf.set_random_seed(graph_seed)
        dataset = tf.data.Dataset.range(count)
        # 1.15 fuses the two into one dataset, `shuffle_and_repeat`.
        dataset = dataset.shuffle(buffer_size, seed).repeat(epochs)
        # --- run
        drawn = _until_end(sess, dataset.make_one_shot_iterator().get_next())
        return np.reshape(drawn, [epochs, count])


def resume(x, size, seed, before, after):
    """Saves the position in the dataset with the model, and resumes from it.

    Args:
        x: [n, ...] array, repeated, shuffled and batched.
        size: elements in a batch; the shuffle buffer holds four times as many.
        seed: seed of the graph and of the shuffling.
        before: number of batches before the checkpoint.
        after: number of batches after the checkpoint, in another run.

    Returns:
        dict of the batches `before` and `after`, and the final global `step`.
    """
    runs = []
    with tempfile.TemporaryDirectory() as directory:
        for count in (before, after):
            with tf.Graph().as_default(), tf.Session() as sess:
                # --- build
                tf.set_random_seed(seed)
                dataset = tf.data.Dataset.from_tensor_slices(x).repeat()
                dataset = dataset.shuffle(4 * size, seed=seed).batch(size)
                iterator = dataset.make_initializable_iterator()
                batch = iterator.get_next()
                step = tf.train.get_or_create_global_step()
                train_op = tf.assign_add(step, 1)
                # --- restore
                saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
                tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, saveable)
                saver = tf.train.Saver()
                sess.run([iterator.initializer, tf.global_variables_initializer()])
                if tf.train.latest_checkpoint(directory):
                    saver.restore(sess, tf.train.latest_checkpoint(directory))
                # --- run
                runs.append([sess.run([batch, train_op])[0] for _ in range(count)])
                saver.save(sess, os.path.join(directory, "model.ckpt"), step)
                steps = sess.run(step)
    return {"before": runs[0], "after": runs[1], "step": steps}


def describe_batches(x, links, size):
    """Returns the dtypes, shapes and classes of batches, and their sums.

    Args:
        x: [n, ...] float array.
        links: [n, m] int array, which is converted to sparse.
        size: elements in a batch; the last batch may have fewer.

    Returns:
        dict of `types`, `shapes` and `classes` as text, by the names "x" and "links",
        and `sums`, a list of two numbers for each batch.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        dataset = tf.data.Dataset.from_tensor_slices(
            {"x": x, "links": tf.sparse.from_dense(links)}
        )
        dataset = dataset.batch(size)
        # --- describe
        types, shapes = dataset.output_types, dataset.output_shapes
        classes = dataset.output_classes
        description = {
            "types": {name: types[name].name for name in types},
            "shapes": {name: str(shapes[name].as_list()) for name in shapes},
            "classes": {name: classes[name].__name__ for name in classes},
        }
        # --- run
        batch = dataset.make_one_shot_iterator().get_next()
        sums = [tf.reduce_sum(batch["x"]), tf.sparse.reduce_sum(batch["links"])]
        return dict(description, sums=_until_end(sess, sums))


def pair_up(x):
    """Takes pairs of elements, as two calls of `get_next` in one run did.

    Args:
        x: [n] array.

    Returns:
        [n // 2, 2] array; each pair is sorted, because its order is undefined in v1.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        dataset = tf.data.Dataset.from_tensor_slices(x)
        iterator = dataset.make_one_shot_iterator()
        pair = iterator.get_next(), iterator.get_next()
        # --- run
        return np.sort(np.reshape(_until_end(sess, pair), [-1, 2]))


def feed_slices(x, y, start, size, epochs, seed, rate=0.125):
    """Trains on slices of arrays that NumPy permutes in each epoch.

    Args:
        x: [n, features] float array.
        y: [n, units] array of the same dtype.
        start: [features, units] array, the initial weights.
        size: rows of a slice; the last slice of an epoch may have fewer.
        epochs: number of epochs.
        seed: seed of NumPy.
        rate: learning rate.

    Returns:
        dict of the `sizes` of the slices, the `losses` before each step, and the final
        `weights`.
    """
    random = np.random.RandomState(seed)
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        inputs = tf.placeholder(x.dtype, [None, x.shape[1]])
        targets = tf.placeholder(y.dtype, [None, y.shape[1]])
        weights = tf.Variable(start)
        # --- step
        loss = tf.reduce_mean(tf.square(tf.matmul(inputs, weights) - targets))
        train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss)
        # --- run
        sess.run(tf.global_variables_initializer())
        sizes, losses = [], []
        for _ in range(epochs):
            order = random.permutation(len(x))
            for i in range(0, len(x), size):
                rows = order[i : i + size]
                feed = {inputs: x[rows], targets: y[rows]}
                losses.append(sess.run([loss, train_op], feed)[0])
                sizes.append(len(rows))
        return {
            "sizes": sizes,
            "losses": np.stack(losses),
            "weights": sess.run(weights),
        }


def split_characters(texts):
    """Splits strings into bytes, and into Unicode characters.

    Args:
        texts: [n] string tensor, in UTF-8.

    Returns:
        dict of the `bytes` and the `characters`, [n, most of a text] string tensors,
        padded with "", and the `codes` of the characters, padded with -1.
    """
    letters = tf.string_split(texts, "")
    characters = tf.strings.unicode_split(texts, "UTF-8")
    codes = tf.strings.unicode_decode(texts, "UTF-8")
    return {
        "bytes": tf.sparse_tensor_to_dense(letters, default_value=""),
        "characters": characters.to_tensor(default_value=""),
        "codes": codes.to_tensor(default_value=-1),
    }
