"""`tf.contrib.data`, `contrib.framework.nest` → methods of datasets, `tf.nest`."""

import collections.abc
import os
import tempfile

import numpy as np
import tensorflow as tf

__all__ = [
    "double_leaves",
    "same_structure",
    "up_to",
    "read_batches",
    "shuffle_epochs",
    "bucket",
    "read_csv",
]


def double_leaves(structure):
    """Flattens a nested structure, packs it anew, doubles its leaves.

    Args:
        structure: nested lists, tuples and dicts of arrays, numbers, text or None.

    Returns:
        dict with the `leaves` in their order, the structure `packed` of them from the
        last to the first, `doubled` where they are arrays, and whether each of its
        parts `is_sequence`.
    """
    # --- nest
    leaves = tf.nest.flatten(structure)
    parts = structure.values() if isinstance(structure, dict) else structure
    doubled = None
    if all(isinstance(leaf, np.ndarray) for leaf in leaves):
        doubled = tf.nest.map_structure(lambda leaf: 2 * leaf, structure)
    return {
        "leaves": leaves,
        "packed": tf.nest.pack_sequence_as(structure, leaves[::-1]),
        "doubled": doubled,
        "is_sequence": [tf.nest.is_nested(part) for part in parts],
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
    tf.nest.assert_same_structure(a, b, check_types=check_types)
    return tf.nest.map_structure(lambda x, y: x + y, a, b, check_types=check_types)


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
    parts = flatten_up_to(shallow, deep)
    lengths = [len(tf.nest.flatten(part)) for part in parts]
    return {
        "parts": parts,
        "lengths": tf.nest.pack_sequence_as(shallow, lengths),
        "paths": leaf_paths(shallow),
    }


def flatten_up_to(shallow, deep):
    """The parts of a structure at the leaves of a shallower one.

    A list is as good as a tuple, not as a dict or as a namedtuple.

    Raises:
        ValueError: `deep` has other keys, or another length, above a leaf of `shallow`.
        TypeError: `deep` ends above it.
    """
    if not tf.nest.is_nested(shallow):
        return [deep]
    if not tf.nest.is_nested(deep):
        raise TypeError(f"Input must also be a sequence, not {type(deep)}.")
    if len(shallow) != len(deep):
        raise ValueError(f"Not the same sequence length: {len(deep)}, {len(shallow)}.")
    parts, branches = branches_of(deep), branches_of(shallow)
    if missing := [key for key in branches if key not in parts]:
        raise ValueError(f"Keys are not in the input_tree: {missing}.")
    return [
        part
        for key, branch in branches.items()
        for part in flatten_up_to(branch, parts[key])
    ]


def branches_of(structure):
    """{key, field of a namedtuple, or number: part}, in the order of `tf.nest`."""
    if isinstance(structure, collections.abc.Mapping):
        return {key: structure[key] for key in sorted(structure)}
    if hasattr(structure, "_fields"):
        return structure._asdict()
    return dict(enumerate(structure))


def leaf_paths(structure, above=()):
    """The names of the leaves, in the order of `tf.nest.flatten`: "a/0"."""
    if not tf.nest.is_nested(structure):
        return ["/".join(above)]
    return [
        path
        for key, part in branches_of(structure).items()
        for path in leaf_paths(part, (*above, str(key)))
    ]


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
        # --- dataset
        dataset = tf.data.Dataset.from_tensor_slices(names).interleave(
            tf.data.TextLineDataset, cycle_length, num_parallel_calls=tf.data.AUTOTUNE
        )
        dataset = dataset.repeat(epochs).map(
            lambda line: tf.strings.to_number(line, tf.int64), num_parallel_calls=2
        )
        dataset = dataset.batch(batch_size, drop_remainder=drop_remainder)
        dataset = dataset.prefetch(tf.data.AUTOTUNE)
        # --- run
        return list(dataset.as_numpy_iterator())


def write_files(files, directory):
    names = [os.path.join(directory, f"{i}.txt") for i in range(len(files))]
    for name, text in zip(names, files):
        with open(name, "w") as file:
            file.write(text)
    return names


def shuffle_epochs(count, buffer_size, epochs, seed):
    """Shuffles numbers anew in each epoch, whatever the order is.

    Args:
        count: how many numbers there are.
        buffer_size: how many of them wait to be drawn.
        epochs: how often all are drawn.
        seed: of the draws.

    Returns:
        dict with the [epochs, count] int64 numbers `sorted` within each epoch, and
        whether an epoch has the order of the one before it, `repeated`.
    """
    # --- dataset
    dataset = tf.data.Dataset.range(count).shuffle(buffer_size, seed).repeat(epochs)
    # --- run
    drawn = np.reshape(list(dataset.as_numpy_iterator()), [epochs, count])
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
    # --- dataset
    dataset = tf.data.Dataset.from_tensor_slices(lengths).enumerate(start=1)
    dataset = dataset.map(lambda number, length: tf.fill([length], number))
    batches = dataset.bucket_by_sequence_length(
        lambda row: tf.size(row),
        boundaries,
        batch_sizes,
        pad_to_bucket_boundary=pad_to_bucket_boundary,
    )
    pairs = dataset.padded_batch(2, padded_shapes=[None], drop_remainder=True)
    rows = pairs.unbatch()
    # --- run
    return {
        "batches": list(batches.as_numpy_iterator()),
        "pairs": list(rows.as_numpy_iterator()),
    }


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
        # --- dataset
        dataset = tf.data.experimental.CsvDataset(
            names, defaults, header=header, select_cols=select_cols
        )
        dataset = dataset.batch(batch_size, drop_remainder=True)
        # --- run
        return list(dataset.as_numpy_iterator())
