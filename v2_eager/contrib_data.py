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
    """Flattens a structure, packs its leaves in reverse, and doubles the arrays."""
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
    """Checks that two structures are the same, then adds them leaf by leaf."""
    # --- nest
    tf.nest.assert_same_structure(a, b, check_types=check_types)
    return tf.nest.map_structure(lambda x, y: x + y, a, b, check_types=check_types)


def up_to(shallow, deep):
    """Splits a structure at the leaves of a shallower structure; names these leaves."""
    # --- nest
    parts = flatten_up_to(shallow, deep)
    lengths = [len(tf.nest.flatten(part)) for part in parts]
    return {
        "parts": parts,
        "lengths": tf.nest.pack_sequence_as(shallow, lengths),
        "paths": leaf_paths(shallow),
    }


def flatten_up_to(shallow, deep):
    """Returns the parts of a structure at the leaves of a shallower structure.

    A list matches a tuple, but not a dict or a namedtuple.

    Raises:
        ValueError: `deep` has other keys, or another length, above a leaf of `shallow`.
        TypeError: `deep` has a leaf above a leaf of `shallow`.
    """
    if not tf.nest.is_nested(shallow):
        return [deep]
    if not tf.nest.is_nested(deep):
        raise TypeError(f"The input must also be a sequence, not {type(deep)}.")
    if len(shallow) != len(deep):
        raise ValueError(
            f"The input has length {len(deep)}, but the shallow structure has length "
            f"{len(shallow)}."
        )
    parts, branches = branches_of(deep), branches_of(shallow)
    if missing := [key for key in branches if key not in parts]:
        raise ValueError(f"Keys are not in the input_tree: {missing}.")
    return [
        part
        for key, branch in branches.items()
        for part in flatten_up_to(branch, parts[key])
    ]


def branches_of(structure):
    """Returns {key, field of a namedtuple, or index: part} in `tf.nest`'s order."""
    if isinstance(structure, collections.abc.Mapping):
        return {key: structure[key] for key in sorted(structure)}
    if hasattr(structure, "_fields"):
        return structure._asdict()
    return dict(enumerate(structure))


def leaf_paths(structure, above=()):
    """Returns the paths of the leaves, such as "a/0", in `tf.nest.flatten`'s order."""
    if not tf.nest.is_nested(structure):
        return ["/".join(above)]
    return [
        path
        for key, part in branches_of(structure).items()
        for path in leaf_paths(part, (*above, str(key)))
    ]


def read_batches(files, batch_size, epochs, cycle_length, drop_remainder=False):
    """Interleaves the lines of several files, parses and batches them."""
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
    """Shuffles and repeats a range, with a new order in each epoch."""
    # --- dataset
    dataset = tf.data.Dataset.range(count).shuffle(buffer_size, seed).repeat(epochs)
    # --- run
    drawn = np.reshape(list(dataset.as_numpy_iterator()), [epochs, count])
    repeated = [bool((a == b).all()) for a, b in zip(drawn, drawn[1:])]
    return {"sorted": np.sort(drawn, 1), "repeated": repeated}


def bucket(lengths, boundaries, batch_sizes, pad_to_bucket_boundary=False):
    """Batches sequences of similar length, and unbatches padded pairs."""
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
    """Reads chosen columns of a CSV file in batches."""
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
