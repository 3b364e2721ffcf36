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
    """Assigns to an element, which a tensor refuses."""
    x[index] = value
    return x


def update_where(x, mask, value):
    """Puts a value wherever a mask is true."""
    return tf.where(mask, value, x)


def update_at(x, indices, values):
    """Puts values at positions along the first axis."""
    return tf.tensor_scatter_nd_update(x, tf.expand_dims(indices, 1), values)


def take(x, indices, axis=0):
    """Picks positions along one axis, in any order and as often as wanted."""
    return tf.gather(x, indices, axis=axis)


def index_by_list(x, index):
    """Indexes by a list: one position per axis, unlike NumPy's rows."""
    return x[index]


def take_pairs(x, rows, columns):
    """Picks one element for each pair of a row and a column."""
    return tf.gather_nd(x, tf.stack([rows, columns], axis=1))


def take_per_row(x, columns):
    """Picks some columns of every row, other ones in each."""
    return tf.gather(x, columns, batch_dims=1)


def choose_rows(condition, a, b):
    """Chooses each row from one of two matrices."""
    # A vector would be broadcast along the last axis, and choose columns.
    return tf.where(condition[:, tf.newaxis], a, b)


def convert(value, dtype=None):
    """Makes a tensor of numbers, text, lists or arrays."""
    tensor = tf.convert_to_tensor(value, dtype and tf.as_dtype(dtype))
    return tensor.numpy(), tensor.dtype.name


def cast(x):
    """Makes numbers of another kind: a fraction is cut off, toward zero."""
    return {
        "float": tf.cast(x, tf.float32),
        "double": tf.cast(x, tf.float64),
        "int": tf.cast(x, tf.int32),
        "long": tf.cast(x, tf.int64),
        "byte": tf.saturate_cast(tf.cast(x, tf.int32), tf.uint8),
    }


def fill(values, shape):
    """Makes a constant of a shape; the last value fills what is missing."""
    # A constant is no longer padded: `shape` holds what is given, or one value.
    flat = tf.reshape(values, [-1])
    missing = math.prod(shape) - flat.shape[0]
    return tf.reshape(tf.pad(flat, [[0, missing]], constant_values=flat[-1]), shape)


def text_lengths(texts):
    """Counts the bytes and the characters of UTF-8 texts."""
    return tf.strings.length(texts), tf.strings.length(texts, unit="UTF8_CHAR")


def split_words(texts, separators=" "):
    """Splits texts at any of some characters and drops the empty words."""
    if not separators:
        return tf.strings.bytes_split(texts).to_tensor()
    # The separator of tf.strings.split is a whole text, and it keeps empty words.
    separator = separators[0]
    pattern, rewrite = f"[{re.escape(separators)}]", separator.replace("\\", r"\\")
    spaced = tf.strings.regex_replace(texts, pattern, rewrite)
    words = tf.strings.split(spaced, separator)
    return tf.ragged.boolean_mask(words, words != "").to_tensor()


def row_sums(values, lengths):
    """Sums rows of different lengths, which are stored one after another."""
    return tf.reduce_sum(tf.RaggedTensor.from_row_lengths(values, lengths), axis=1)


def pad_rows(values, lengths, padding=0):
    """Makes a matrix of rows of different lengths."""
    rows = tf.RaggedTensor.from_row_lengths(values, lengths)
    return rows.to_tensor(tf.cast(padding, values.dtype))


def pool_segments(values, ids, count):
    """Takes maxima and minima of rows by segments, of which some have no row."""
    highest = tf.math.unsorted_segment_max(values, ids, count)
    lowest = values.dtype.min
    return {
        "max": highest,
        "min": tf.math.unsorted_segment_min(values, ids, count),
        "sorted max": tf.math.segment_max(values, ids),
        "max or 0": tf.where(highest > lowest, highest, tf.zeros_like(highest)),
    }


def to_dense(indices, values, shape, ordered=True):
    """Makes a dense tensor of a sparse one."""
    sparse = tf.SparseTensor(indices, values, shape)
    return tf.sparse.to_dense(sparse if ordered else tf.sparse.reorder(sparse))


def multiply_sparse(indices, values, matrix):
    """Multiplies a sparse square matrix by a dense one."""
    n = tf.shape(matrix, out_type=tf.int64)[0]
    sparse = tf.SparseTensor(indices, values, tf.stack([n, n]))
    return tf.sparse.sparse_dense_matmul(sparse, matrix)


def multiply_sparse_batch(indices, values, matrices):
    """Multiplies a batch of sparse square matrices by a batch of dense ones."""
    # The kernel takes one matrix: all stand on its diagonal, one below the other.
    b, n, _ = tf.unstack(tf.shape(matrices, out_type=tf.int64))
    places = indices[:, :1] * n + indices[:, 1:]
    sparse = tf.SparseTensor(places, values, tf.stack([b * n, b * n]))
    rows = tf.reshape(matrices, [b * n, -1])
    return tf.reshape(tf.sparse.sparse_dense_matmul(sparse, rows), tf.shape(matrices))


def drop_sparse(indices, values, shape, keep_prob, seed):
    """Drops elements of a sparse matrix by chance, and scales up the others.

    Args:
        seed: of the program and of the draws.
    """
    # --- drop
    tf.random.set_seed(seed)
    x = tf.SparseTensor(indices, values, shape)
    drawn = keep_prob + tf.random.uniform([len(values)], seed=seed)
    kept = tf.sparse.retain(x, tf.cast(tf.floor(drawn), tf.bool))
    # --- draw
    return tf.sparse.to_dense(kept * (1 / keep_prob)).numpy()
