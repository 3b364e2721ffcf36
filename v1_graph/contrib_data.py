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

# compat.v1 has no contrib, and no version after 1.15: `tensorflow.contrib` is its own.


def double_leaves(structure):
    """Flattens a nested structure, packs it again, doubles its leaves.

    Args:
        structure: nested lists, tuples and dicts of arrays, numbers, text or None.

    Returns:
        dict with the `leaves` in their order, the structure `packed` of them from the
        last to the first, `doubled` where they are arrays, and whether each of its
        parts `is_sequence`.
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
    """Adds two structures leaf by leaf, once it is known that they are alike.

    Args:
        a, b: nested lists, tuples and dicts of numbers.
        check_types: whether a list and a tuple are refused.

    Returns:
        The sums, in the structure of a.

    Raises:
        ValueError: one has other parts than the other.
        TypeError: a list where the other has a tuple.
    """
    # --- nest
    nest = tensorflow.contrib.framework.nest
    nest.assert_same_structure(a, b, check_types=check_types)
    return nest.map_structure(lambda x, y: x + y, a, b, check_types=check_types)


def up_to(shallow, deep):
    """Splits a structure at the leaves of a shallower one, and names its leaves.

    Args:
        shallow: nested lists, tuples and dicts.
        deep: a structure that goes on where the other one has leaves.

    Returns:
        dict with the `parts` at the leaves of `shallow`, the `lengths` of these in its
        structure, and the `paths` of the leaves of `shallow`, such as "a/0".

    Raises:
        ValueError: `deep` has other keys, or another length, above a leaf of `shallow`.
        TypeError: `deep` ends above it.
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
    """Reads lines of several files in turn, and parses and batches them.

    Args:
        files: list of text, what files contain: lines with a number.
        batch_size: numbers in a batch; batches go on from one epoch to the next.
        epochs: how often all is read.
        cycle_length: how many files are read in turn.
        drop_remainder: whether a shorter last batch is left out.

    Returns:
        List of [batch] int64 arrays.

    Raises:
        tf.errors.InvalidArgumentError: a line that is no number.
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
    """Runs through a dataset, and lists its elements."""
    element, elements = tf.data.make_one_shot_iterator(dataset).get_next(), []
    while True:
        try:
            elements.append(sess.run(element))
        except tf.errors.OutOfRangeError:
            return elements


def shuffle_epochs(count, buffer_size, epochs, seed):
    """Shuffles numbers again in each epoch, whatever the order is.

    Args:
        count: how many numbers there are.
        buffer_size: how many of them wait to be drawn.
        epochs: how often all are drawn.
        seed: of the draws.

    Returns:
        dict with the [epochs, count] int64 numbers `sorted` within each epoch, and
        whether an epoch has the order of the one before it, `repeated`.
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
    """Batches sequences with others of about their length, and takes them apart.

    Args:
        lengths: list of ints, of the sequences, none of them 0.
        boundaries: list of ints, where a bucket ends and the next one begins.
        batch_sizes: list of the sequences in a batch, one more than boundaries.
        pad_to_bucket_boundary: whether to fill up to the boundary, not the longest.

    Returns:
        dict with the `batches`, [batch, time] int64 arrays, and the rows of `pairs`,
        [2, time] each: two at a time, as they come, the last one left out.

    Raises:
        tf.errors.InvalidArgumentError: a length beyond the last boundary, to which it
            is to be filled.
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
    """Reads chosen columns of a table with commas.

    Args:
        text: what the file contains.
        defaults: list of [what is taken for an empty field] for each column, or, where
            there must be one, the name of its dtype.
        batch_size: rows of a batch; what does not fill one is left out.
        header: whether the first line is left out.
        select_cols: list of the numbers of columns to read, ascending, or None.

    Returns:
        List of tuples of [batch] arrays, one for each column.

    Raises:
        tf.errors.InvalidArgumentError: an empty field without a default, or a number
            of fields that is not that of the defaults.
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
