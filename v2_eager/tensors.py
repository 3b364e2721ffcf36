"""`x[1] = v`, `tf.where`, `tf.gather`, casts; text, ragged and sparse tensors."""

import math
import re

import tensorflow as tf

__all__ = [
    "set_item",
    "update_where",
    "update_at",
    "take",
    "index_by_list",
    "take_pairs",
    "take_per_row",
    "choose_rows",
    "convert",
    "cast",
    "fill",
    "text_lengths",
    "split_words",
    "row_sums",
    "pad_rows",
    "pool_segments",
    "to_dense",
    "multiply_sparse",
    "multiply_sparse_batch",
    "drop_sparse",
]


def set_item(x, index, value):
    """Assigns to an element, which a tensor refuses.

    Args:
        x: tensor, or anything that can be assigned to.
        index: position along the first axis.
        value: what to put there.

    Returns:
        `x`, changed in place.

    Raises:
        TypeError: `x` is a tensor: it never changes.
    """
    x[index] = value
    return x


def update_where(x, mask, value):
    """Puts a value wherever a mask is true.

    Args:
        x: [...] tensor.
        mask: [...] bool tensor.
        value: scalar tensor of the dtype of `x`.

    Returns:
        [...] tensor like `x`; masked NaNs and infinities are gone.
    """
    return tf.where(mask, value, x)


def update_at(x, indices, values):
    """Puts values at positions along the first axis.

    Args:
        x: [n, ...] tensor.
        indices: [k] int tensor of distinct positions.
        values: [k, ...] tensor of the dtype of `x`.

    Returns:
        [n, ...] tensor.

    Raises:
        tf.errors.InvalidArgumentError: a position is not in [0, n).
    """
    return tf.tensor_scatter_nd_update(x, tf.expand_dims(indices, 1), values)


def take(x, indices, axis=0):
    """Picks positions along one axis, in any order and as often as wanted.

    Args:
        x: tensor.
        indices: [k] int tensor.
        axis: the axis that is picked from.

    Returns:
        Tensor like `x`, of size k along `axis`.

    Raises:
        tf.errors.InvalidArgumentError: a position is outside of the axis, or negative.
    """
    return tf.gather(x, indices, axis=axis)


def index_by_list(x, index):
    """Indexes by a list: one position per axis, unlike NumPy's rows.

    Args:
        x: tensor.
        index: list of at most as many ints as `x` has axes.

    Returns:
        `x[index[0], index[1], ...]`.

    Raises:
        ValueError: more positions than axes, in a graph.
        tf.errors.InvalidArgumentError: the same, eagerly.
    """
    return x[index]


def take_pairs(x, rows, columns):
    """Picks one element for each pair of a row and a column.

    Args:
        x: [r, c] tensor.
        rows: [k] int tensor.
        columns: [k] int tensor.

    Returns:
        [k] tensor, NumPy's `x[rows, columns]`.
    """
    return tf.gather_nd(x, tf.stack([rows, columns], axis=1))


def take_per_row(x, columns):
    """Picks some columns of every row, other ones in each.

    Args:
        x: [r, c] tensor.
        columns: [r, k] int tensor.

    Returns:
        [r, k] tensor.
    """
    return tf.gather(x, columns, batch_dims=1)


def choose_rows(condition, a, b):
    """Chooses each row from one of two matrices.

    Args:
        condition: [r] bool tensor.
        a: [r, c] tensor, the rows where the condition is true.
        b: [r, c] tensor, the other rows.

    Returns:
        [r, c] tensor.
    """
    # A vector would be broadcast along the last axis, and choose columns.
    return tf.where(condition[:, tf.newaxis], a, b)


def convert(value, dtype=None):
    """Makes a tensor of numbers, text, lists or arrays.

    Args:
        value: NumPy array, number, text, or nested lists of these.
        dtype: its name; None lets the value decide: NumPy's dtypes are kept, Python's
            floats become float32 and its ints int32, or int64 where they need it.

    Returns:
        (value as an array, name of the dtype).

    Raises:
        ValueError: the lists are not rectangular.
        TypeError: a Python float for an int dtype.
    """
    tensor = tf.convert_to_tensor(value, dtype and tf.as_dtype(dtype))
    return tensor.numpy(), tensor.dtype.name


def cast(x):
    """Makes numbers of another kind: a fraction is cut off, toward zero.

    Args:
        x: tensor of numbers or truth values.

    Returns:
        Dict of tensors of the shape of `x`: "float" (float32), "double" (float64),
        "int" (int32), "long" (int64), "byte" (uint8, at most 255).
    """
    return {
        "float": tf.cast(x, tf.float32),
        "double": tf.cast(x, tf.float64),
        "int": tf.cast(x, tf.int32),
        "long": tf.cast(x, tf.int64),
        "byte": tf.saturate_cast(tf.cast(x, tf.int32), tf.uint8),
    }


def fill(values, shape):
    """Makes a constant of a shape; the last value fills what is missing.

    Args:
        values: list of numbers, at least one and at most as many as `shape` holds.
        shape: list of ints.

    Returns:
        Tensor of `shape`.
    """
    # A constant is no longer padded: `shape` holds what is given, or one value.
    flat = tf.reshape(values, [-1])
    missing = math.prod(shape) - flat.shape[0]
    return tf.reshape(tf.pad(flat, [[0, missing]], constant_values=flat[-1]), shape)


def text_lengths(texts):
    """Counts the bytes and the characters of UTF-8 texts.

    Args:
        texts: [n] string tensor.

    Returns:
        ([n] int32 tensor of bytes, [n] int32 tensor of characters).
    """
    return tf.strings.length(texts), tf.strings.length(texts, unit="UTF8_CHAR")


def split_words(texts, separators=" "):
    """Splits texts at any of some characters and drops the empty words.

    Args:
        texts: [n] string tensor.
        separators: the ASCII characters, each of which separates; without any, each
            byte is a word.

    Returns:
        [n, most words of a text] string tensor, padded by empty texts.
    """
    if not separators:
        return tf.strings.bytes_split(texts).to_tensor()
    # The separator of tf.strings.split is a whole text, and it keeps empty words.
    separator = separators[0]
    pattern, rewrite = f"[{re.escape(separators)}]", separator.replace("\\", r"\\")
    spaced = tf.strings.regex_replace(texts, pattern, rewrite)
    words = tf.strings.split(spaced, separator)
    return tf.ragged.boolean_mask(words, words != "").to_tensor()


def row_sums(values, lengths):
    """Sums rows of different lengths, which are stored one after another.

    Args:
        values: [total] tensor.
        lengths: [r] int tensor that sums to `total`.

    Returns:
        [r] tensor, 0 for an empty row.
    """
    return tf.reduce_sum(tf.RaggedTensor.from_row_lengths(values, lengths), axis=1)


def pad_rows(values, lengths, padding=0):
    """Makes a matrix of rows of different lengths.

    Args:
        values: [total] tensor.
        lengths: [r] int tensor that sums to `total`.
        padding: what follows the end of a short row.

    Returns:
        [r, largest length] tensor.
    """
    rows = tf.RaggedTensor.from_row_lengths(values, lengths)
    return rows.to_tensor(tf.cast(padding, values.dtype))


def pool_segments(values, ids, count):
    """Takes maxima and minima of rows by segments, of which some have no row.

    Args:
        values: [n, ...] float tensor.
        ids: [n] int tensor, the segment of each row, sorted.
        count: how many segments there are.

    Returns:
        dict of [count, ...] tensors. An empty segment is the lowest number of the dtype
        in `max`, the highest one in `min`, and 0 in `max or 0` and in `sorted max`,
        which has as many rows as the last id says.
    """
    highest = tf.math.unsorted_segment_max(values, ids, count)
    lowest = values.dtype.min
    return {
        "max": highest,
        "min": tf.math.unsorted_segment_min(values, ids, count),
        "sorted max": tf.math.segment_max(values, ids),
        "max or 0": tf.where(highest > lowest, highest, tf.zeros_like(highest)),
    }


def to_dense(indices, values, shape, ordered=True):
    """Makes a dense tensor of a sparse one.

    Args:
        indices: [k, rank] int64 tensor of distinct positions.
        values: [k] tensor.
        shape: [rank] int64 tensor.
        ordered: whether the positions are known to be in row-major order.

    Returns:
        Dense tensor of `shape`, 0 where no value is given.

    Raises:
        tf.errors.InvalidArgumentError: `ordered`, and they are not, or one is outside.
    """
    sparse = tf.SparseTensor(indices, values, shape)
    return tf.sparse.to_dense(sparse if ordered else tf.sparse.reorder(sparse))


def multiply_sparse(indices, values, matrix):
    """Multiplies a sparse square matrix by a dense one.

    Args:
        indices: [k, 2] int64 tensor of positions, in any order.
        values: [k] tensor.
        matrix: [n, m] tensor.

    Returns:
        [n, m] tensor.
    """
    n = tf.shape(matrix, out_type=tf.int64)[0]
    sparse = tf.SparseTensor(indices, values, tf.stack([n, n]))
    return tf.sparse.sparse_dense_matmul(sparse, matrix)


def multiply_sparse_batch(indices, values, matrices):
    """Multiplies a batch of sparse square matrices by a batch of dense ones.

    Args:
        indices: [k, 3] int64 tensor of positions: which matrix, row, column.
        values: [k] tensor.
        matrices: [b, n, m] tensor.

    Returns:
        [b, n, m] tensor.
    """
    # The kernel takes one matrix: all stand on its diagonal, one below the other.
    b, n, _ = tf.unstack(tf.shape(matrices, out_type=tf.int64))
    places = indices[:, :1] * n + indices[:, 1:]
    sparse = tf.SparseTensor(places, values, tf.stack([b * n, b * n]))
    rows = tf.reshape(matrices, [b * n, -1])
    return tf.reshape(tf.sparse.sparse_dense_matmul(sparse, rows), tf.shape(matrices))


def drop_sparse(indices, values, shape, keep_prob, seed):
    """Drops elements of a sparse matrix by chance, and scales up the others.

    Args:
        indices: [k, 2] int64 array of positions, in their order.
        values: [k] float array.
        shape: of the matrix.
        keep_prob: the share to keep, in (0, 1].
        seed: of the program and of the draws.

    Returns:
        Array of that shape.
    """
    # --- drop
    tf.random.set_seed(seed)
    x = tf.SparseTensor(indices, values, shape)
    drawn = keep_prob + tf.random.uniform([len(values)], seed=seed)
    kept = tf.sparse.retain(x, tf.cast(tf.floor(drawn), tf.bool))
    # --- draw
    return tf.sparse.to_dense(kept * (1 / keep_prob)).numpy()
