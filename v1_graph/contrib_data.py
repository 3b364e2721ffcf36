"""`tf.contrib.data`, `contrib.framework.nest` → methods of datasets, `tf.nest`."""

import os
import tempfile

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

__all__ = [
    "double_leaves",
    "same_structure",
    "up_to",
    "read_batches",
    "shuffle_epochs",
    "bucket",
    "read_csv",
]

# `tensorflow.contrib` exists only up to 1.15, and compat.v1 does not contain it.


def double_leaves(structure):
    """Flattens a structure, packs its leaves in reverse, and doubles the arrays.

    Args:
        structure: nested lists, tuples and dicts of arrays, numbers, text or None.

    Returns:
        dict with the `leaves` in order; the structure `packed` from the reversed
        leaves; the structure `doubled`, or None if a leaf is not an array; and
        `is_sequence`, whether each part of the structure is nested.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- nest
        nest = tensorflow.contrib.framework.nest
        leaves = nest.flatten(structure)
        parts = structure.values() if isinstance(structure, dict) else structure
        doubled = None
        if all(isinstance(leaf, np.ndarray) for leaf in leaves):
            doubled = nest.map_structure(lambda leaf: 2 * tf.constant(leaf), structure)
            doubled = sess.run(doubled)
        return {
            "leaves": leaves,
            "packed": nest.pack_sequence_as(structure, leaves[::-1]),
            "doubled": doubled,
            "is_sequence": [nest.is_sequence(part) for part in parts],
        }


def same_structure(a, b, check_types=True):
    """Checks that two structures are the same, then adds them leaf by leaf.

    Args:
        a, b: nested lists, tuples and dicts of numbers.
        check_types: whether a list in place of a tuple is an error.

    Returns:
        The sums, in the structure of a.

    Raises:
        ValueError: the structures have different parts.
        TypeError: one structure has a list where the other has a tuple.
    """
    # --- nest
    nest = tensorflow.contrib.framework.nest
    nest.assert_same_structure(a, b, check_types=check_types)
    return nest.map_structure(lambda x, y: x + y, a, b, check_types=check_types)


def up_to(shallow, deep):
    """Splits a structure at the leaves of a shallower structure; names these leaves.

    Args:
        shallow: nested lists, tuples and dicts.
        deep: a structure that continues below the leaves of `shallow`.

    Returns:
        dict with the `parts` of `deep` at the leaves of `shallow`, their `lengths` in
        the structure of `shallow`, and the `paths` of these leaves, such as "a/0".

    Raises:
        ValueError: `deep` has other keys, or another length, above a leaf of `shallow`.
        TypeError: `deep` has a leaf above a leaf of `shallow`.
    """
    # --- nest
    nest = tensorflow.contrib.framework.nest
    nest.assert_shallow_structure(shallow, deep, check_types=False)
    parts = nest.flatten_up_to(shallow, deep, check_types=False)
    lengths = nest.map_structure_up_to(
        shallow, lambda part: len(nest.flatten(part)), deep, check_types=False
    )
    paths = nest.map_structure_with_paths(lambda path, _: path, shallow)
    return {"parts": parts, "lengths": lengths, "paths": nest.flatten(paths)}


def read_batches(files, batch_size, epochs, cycle_length, drop_remainder=False):
    """Interleaves the lines of several files, parses and batches them.

    Args:
        files: list of text, the contents of the files: one number per line.
        batch_size: numbers per batch; a batch may continue into the next epoch.
        epochs: how many times to read all files.
        cycle_length: how many files are interleaved.
        drop_remainder: whether to drop a shorter last batch.

    Returns:
        List of [batch] int64 arrays.

    Raises:
        tf.errors.InvalidArgumentError: a line is not a number.
    """
    with tempfile.TemporaryDirectory() as directory:
        names = write_files(files, directory)
        with tf.Graph().as_default(), tf.Session() as sess:
            # --- dataset
            contrib_data = tensorflow.contrib.data
            dataset = tf.data.Dataset.from_tensor_slices(names).apply(
                contrib_data.parallel_interleave(
                    tf.data.TextLineDataset, cycle_length, sloppy=False
                )
            )
            dataset = dataset.repeat(epochs).apply(
                contrib_data.map_and_batch(
                    lambda line: tf.string_to_number(line, tf.int64),
                    batch_size,
                    num_parallel_calls=2,
                    drop_remainder=drop_remainder,
                )
            )
            dataset = dataset.prefetch(contrib_data.AUTOTUNE)
            # --- run
            return until_end(sess, dataset)


def write_files(files, directory):
    names = [os.path.join(directory, "%d.txt" % i) for i in range(len(files))]
    for name, text in zip(names, files):
        with open(name, "w") as file:
            file.write(text)
    return names


def until_end(sess, dataset):
    """Returns the list of all elements of a dataset."""
    element, elements = tf.data.make_one_shot_iterator(dataset).get_next(), []
    while True:
        try:
            elements.append(sess.run(element))
        except tf.errors.OutOfRangeError:
            return elements


def shuffle_epochs(count, buffer_size, epochs, seed):
    """Shuffles and repeats a range, with a new order in each epoch.

    Args:
        count: length of the range.
        buffer_size: size of the shuffle buffer.
        epochs: number of epochs.
        seed: seed of the shuffle.

    Returns:
        dict with the [epochs, count] int64 numbers `sorted` within each epoch, and
        `repeated`: whether an epoch has the same order as the epoch before it.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- dataset
        dataset = tf.data.Dataset.range(count).apply(
            tensorflow.contrib.data.shuffle_and_repeat(buffer_size, epochs, seed)
        )
        # --- run
        drawn = np.reshape(until_end(sess, dataset), [epochs, count])
        repeated = [bool((a == b).all()) for a, b in zip(drawn, drawn[1:])]
        return {"sorted": np.sort(drawn, 1), "repeated": repeated}


def bucket(lengths, boundaries, batch_sizes, pad_to_bucket_boundary=False):
    """Batches sequences of similar length, and unbatches padded pairs.

    Args:
        lengths: list of the lengths of the sequences, none of them 0.
        boundaries: list of ints, the boundaries between the buckets.
        batch_sizes: list of the batch sizes of the buckets, one more than boundaries.
        pad_to_bucket_boundary: whether to pad to the bucket's boundary, not to the
            longest sequence of the batch.

    Returns:
        dict with the `batches`, [batch, time] int64 arrays, and `pairs`: the padded
        rows of pairs in order; a last sequence without a partner is dropped.

    Raises:
        tf.errors.InvalidArgumentError: `pad_to_bucket_boundary`, and a length beyond
            the last boundary.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- dataset
        contrib_data = tensorflow.contrib.data
        dataset = tf.data.Dataset.from_tensor_slices(lengths)
        dataset = dataset.apply(contrib_data.enumerate_dataset(start=1))
        dataset = dataset.map(lambda number, length: tf.fill([length], number))
        batches = dataset.apply(
            contrib_data.bucket_by_sequence_length(
                lambda row: tf.size(row),
                boundaries,
                batch_sizes,
                pad_to_bucket_boundary=pad_to_bucket_boundary,
            )
        )
        pairs = dataset.apply(
            contrib_data.padded_batch_and_drop_remainder(2, padded_shapes=[None])
        )
        rows = pairs.apply(contrib_data.unbatch())
        # --- run
        return {"batches": until_end(sess, batches), "pairs": until_end(sess, rows)}


def read_csv(text, defaults, batch_size, header=True, select_cols=None):
    """Reads chosen columns of a CSV file in batches.

    Args:
        text: contents of the file.
        defaults: list with [value of an empty field] for each column, or the name of
            the column's dtype if the field is required.
        batch_size: rows per batch; a shorter last batch is dropped.
        header: whether to skip the first line.
        select_cols: ascending list of the indices of the columns to read, or None.

    Returns:
        List of tuples of [batch] arrays, one for each column.

    Raises:
        tf.errors.InvalidArgumentError: an empty field without a default, or a line with
            another number of fields than `defaults`.
    """
    with tempfile.TemporaryDirectory() as directory:
        names = write_files([text], directory)
        defaults = [tf.as_dtype(d) if isinstance(d, str) else d for d in defaults]
        with tf.Graph().as_default(), tf.Session() as sess:
            # --- dataset
            contrib_data = tensorflow.contrib.data
            dataset = contrib_data.CsvDataset(
                names, defaults, header=header, select_cols=select_cols
            )
            dataset = dataset.apply(contrib_data.batch_and_drop_remainder(batch_size))
            # --- run
            return until_end(sess, dataset)
