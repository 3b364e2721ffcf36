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
    """Assigns to an element, `x[index] = value`; a tensor raises TypeError."""
    x[index] = value
    return x


def update_where(x, mask, value):
    """Replaces elements by a value where a mask is true."""
    return tf.where(mask, value, x)


def update_at(x, indices, values):
    """Replaces rows at given positions of the first axis."""
    return tf.tensor_scatter_nd_update(x, tf.expand_dims(indices, 1), values)


def take(x, indices, axis=0):
    """Selects positions along one axis, in any order and with repetitions."""
    return tf.gather(x, indices, axis=axis)


def index_by_list(x, index):
    """Indexes with a list: one position per axis; NumPy would select rows."""
    return x[index]


def take_pairs(x, rows, columns):
    """Selects one element for each pair of a row and a column."""
    return tf.gather_nd(x, tf.stack([rows, columns], axis=1))


def take_per_row(x, columns):
    """Selects columns of each row; the columns differ from row to row."""
    return tf.gather(x, columns, batch_dims=1)


def choose_rows(condition, a, b):
    """Selects each row from one of two matrices by a condition per row."""
    # tf.where would broadcast a vector along the last axis, and select columns.
    return tf.where(condition[:, tf.newaxis], a, b)


def convert(value, dtype=None):
    """Converts numbers, text, lists or arrays to a tensor."""
    tensor = tf.convert_to_tensor(value, dtype and tf.as_dtype(dtype))
    return tensor.numpy(), tensor.dtype.name


def cast(x):
    """Casts to other dtypes; fractions are truncated toward zero."""
    return {
        "float": tf.cast(x, tf.float32),
        "double": tf.cast(x, tf.float64),
        "int": tf.cast(x, tf.int32),
        "long": tf.cast(x, tf.int64),
        "byte": tf.saturate_cast(tf.cast(x, tf.int32), tf.uint8),
    }


def fill(values, shape):
    """Makes a constant of a shape; repeats the last value if values are missing."""
    # tf.constant does not repeat the last value any more.
    flat = tf.reshape(values, [-1])
    missing = math.prod(shape) - flat.shape[0]
    return tf.reshape(tf.pad(flat, [[0, missing]], constant_values=flat[-1]), shape)


def text_lengths(texts):
    """Counts the bytes and the characters of UTF-8 texts."""
    return tf.strings.length(texts), tf.strings.length(texts, unit="UTF8_CHAR")


def split_words(texts, separators=" "):
    """Splits texts at given characters, and drops empty words."""
    if not separators:
        return tf.strings.bytes_split(texts).to_tensor()
    # tf.strings.split takes `sep` as one whole separator, and keeps empty words.
    separator = separators[0]
    pattern, rewrite = f"[{re.escape(separators)}]", separator.replace("\\", r"\\")
    spaced = tf.strings.regex_replace(texts, pattern, rewrite)
    words = tf.strings.split(spaced, separator)
    return tf.ragged.boolean_mask(words, words != "").to_tensor()


def row_sums(values, lengths):
    """Sums rows of different lengths, which are stored one after another."""
    return tf.reduce_sum(tf.RaggedTensor.from_row_lengths(values, lengths), axis=1)


def pad_rows(values, lengths, padding=0):
    """Pads rows of different lengths to a matrix."""
    rows = tf.RaggedTensor.from_row_lengths(values, lengths)
    return rows.to_tensor(tf.cast(padding, values.dtype))


def pool_segments(values, ids, count):
    """Computes maxima and minima of rows per segment; segments may be empty."""
    highest = tf.math.unsorted_segment_max(values, ids, count)
    lowest = values.dtype.min
    return {
        "max": highest,
        "min": tf.math.unsorted_segment_min(values, ids, count),
        "sorted max": tf.math.segment_max(values, ids),
        "max or 0": tf.where(highest > lowest, highest, tf.zeros_like(highest)),
    }


def to_dense(indices, values, shape, ordered=True):
    """Converts a sparse tensor to a dense tensor."""
    sparse = tf.SparseTensor(indices, values, shape)
    return tf.sparse.to_dense(sparse if ordered else tf.sparse.reorder(sparse))


def multiply_sparse(indices, values, matrix):
    """Multiplies a sparse square matrix by a dense matrix."""
    n = tf.shape(matrix, out_type=tf.int64)[0]
    sparse = tf.SparseTensor(indices, values, tf.stack([n, n]))
    return tf.sparse.sparse_dense_matmul(sparse, matrix)


def multiply_sparse_batch(indices, values, matrices):
    """Multiplies a batch of sparse square matrices by a batch of dense matrices."""
    # The kernel takes one matrix: put all matrices on its diagonal, as blocks.
    b, n, _ = tf.unstack(tf.shape(matrices, out_type=tf.int64))
    places = indices[:, :1] * n + indices[:, 1:]
    sparse = tf.SparseTensor(places, values, tf.stack([b * n, b * n]))
    rows = tf.reshape(matrices, [b * n, -1])
    return tf.reshape(tf.sparse.sparse_dense_matmul(sparse, rows), tf.shape(matrices))


def drop_sparse(indices, values, shape, keep_prob, seed):
    """Applies dropout to a sparse matrix: drops elements, scales up the others.

    Args:
        seed: global seed, and op seed of the draw.
    """
    # --- drop
    tf.random.set_seed(seed)
    x = tf.SparseTensor(indices, values, shape)
    drawn = keep_prob + tf.random.uniform([len(values)], seed=seed)
    kept = tf.sparse.retain(x, tf.cast(tf.floor(drawn), tf.bool))
    # --- draw
    return tf.sparse.to_dense(kept * (1 / keep_prob)).numpy()
