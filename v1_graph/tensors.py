"""`x[1] = v`, `tf.where`, `tf.gather`, casts; text, ragged and sparse tensors."""

import tensorflow.compat.v1 as tf

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
    """Assigns to an element, `x[index] = value`; a tensor raises TypeError.

    Args:
        x: tensor, or an object that supports assignment.
        index: position along the first axis.
        value: the new element.

    Returns:
        `x`, changed in place.

    Raises:
        TypeError: `x` is a tensor, which cannot be changed.
    """
    x[index] = value
    return x


def update_where(x, mask, value):
    """Replaces elements by a value where a mask is true.

    Args:
        x: [...] tensor.
        mask: [...] bool tensor.
        value: scalar tensor of the dtype of `x`.

    Returns:
        [...] tensor of the dtype of `x`; masked NaNs and infinities are replaced.
    """
    # v1's tf.where does not broadcast: both branches must have the condition's shape.
    return tf.where(mask, tf.fill(tf.shape(x), value), x)


def update_at(x, indices, values):
    """Replaces rows at given positions of the first axis.

    Args:
        x: [n, ...] tensor.
        indices: [k] int tensor of distinct positions.
        values: [k, ...] tensor of the dtype of `x`.

    Returns:
        [n, ...] tensor.

    Raises:
        tf.errors.InvalidArgumentError: a position is not in [0, n).
    """
    return tf.tensor_scatter_update(x, tf.expand_dims(indices, 1), values)


def take(x, indices, axis=0):
    """Selects positions along one axis, in any order and with repetitions.

    Args:
        x: tensor.
        indices: [k] int tensor.
        axis: the axis to select from.

    Returns:
        Tensor with the shape of `x`, except size k along `axis`.

    Raises:
        tf.errors.InvalidArgumentError: a position is negative or past the axis' end.
    """
    return tf.gather(x, indices, axis=axis)


def index_by_list(x, index):
    """Indexes with a list: one position per axis; NumPy would select rows.

    Args:
        x: tensor.
        index: list of at most as many ints as `x` has axes.

    Returns:
        `x[index[0], index[1], ...]`.

    Raises:
        ValueError: in a graph: there are more positions than axes.
        tf.errors.InvalidArgumentError: eagerly: there are more positions than axes.
    """
    return x[index]


def take_pairs(x, rows, columns):
    """Selects one element for each pair of a row and a column.

    Args:
        x: [r, c] tensor.
        rows: [k] int tensor.
        columns: [k] int tensor.

    Returns:
        [k] tensor, NumPy's `x[rows, columns]`.
    """
    return tf.gather_nd(x, tf.stack([rows, columns], axis=1))


def take_per_row(x, columns):
    """Selects columns of each row; the columns differ from row to row.

    Args:
        x: [r, c] tensor.
        columns: [r, k] int tensor.

    Returns:
        [r, k] tensor.
    """
    return tf.batch_gather(x, columns)


def choose_rows(condition, a, b):
    """Selects each row from one of two matrices by a condition per row.

    Args:
        condition: [r] bool tensor.
        a: [r, c] tensor, the rows where the condition is true.
        b: [r, c] tensor, the other rows.

    Returns:
        [r, c] tensor.
    """
    return tf.where(condition, a, b)


def convert(value, dtype=None):
    """Converts numbers, text, lists or arrays to a tensor.

    Args:
        value: NumPy array, number, text, or nested lists of these.
        dtype: name of the dtype. With None, NumPy arrays keep their dtype, Python
            floats become float32, and Python ints int32, or int64 if they are large.

    Returns:
        (value as an array, name of the dtype).

    Raises:
        ValueError: the lists are not rectangular.
        TypeError: a Python float for an int dtype.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        tensor = tf.convert_to_tensor(value, dtype and tf.as_dtype(dtype))
        return sess.run(tensor), tensor.dtype.name


def cast(x):
    """Casts to other dtypes; fractions are truncated toward zero.

    Args:
        x: tensor of numbers or truth values.

    Returns:
        Dict of tensors of the shape of `x`: "float" (float32), "double" (float64),
        "int" (int32), "long" (int64), "byte" (uint8, at most 255).
    """
    return {
        "float": tf.to_float(x),
        "double": tf.to_double(x),
        "int": tf.to_int32(x),
        "long": tf.to_int64(x),
        "byte": tf.saturate_cast(tf.to_int32(x), tf.uint8),
    }


def fill(values, shape):
    """Makes a constant of a shape; repeats the last value if values are missing.

    Args:
        values: list of numbers, at least one and at most the number of elements.
        shape: list of ints.

    Returns:
        Tensor of `shape`.
    """
    return tf.constant(values, shape=shape)


def text_lengths(texts):
    """Counts the bytes and the characters of UTF-8 texts.

    Args:
        texts: [n] string tensor.

    Returns:
        ([n] int32 tensor of bytes, [n] int32 tensor of characters).
    """
    return tf.strings.length(texts), tf.strings.length(texts, unit="UTF8_CHAR")


def split_words(texts, separators=" "):
    """Splits texts at given characters, and drops empty words.

    Args:
        texts: [n] string tensor.
        separators: ASCII characters, each of which is a separator; if empty, each byte
            is a word.

    Returns:
        [n, largest number of words] string tensor, padded with empty texts.
    """
    words = tf.string_split(texts, separators)
    return tf.sparse_tensor_to_dense(words, default_value="")


def row_sums(values, lengths):
    """Sums rows of different lengths, which are stored one after another.

    Args:
        values: [total] tensor.
        lengths: [r] int tensor that sums to `total`.

    Returns:
        [r] tensor, 0 for an empty row.
    """
    rows = tf.where(tf.sequence_mask(lengths))[:, 0]
    return tf.unsorted_segment_sum(values, rows, tf.size(lengths))


def pad_rows(values, lengths, padding=0):
    """Pads rows of different lengths to a matrix.

    Args:
        values: [total] tensor.
        lengths: [r] int tensor that sums to `total`.
        padding: value after the end of a short row.

    Returns:
        [r, largest length] tensor.
    """
    mask = tf.sequence_mask(lengths)
    places = tf.where(mask)
    padded = tf.scatter_nd(places, values, tf.shape(mask, out_type=tf.int64))
    filling = tf.fill(tf.shape(mask), tf.cast(padding, values.dtype))
    return tf.where(mask, padded, filling)


def pool_segments(values, ids, count):
    """Computes maxima and minima of rows per segment; segments may be empty.

    Args:
        values: [n, ...] float tensor.
        ids: [n] int tensor, the segment of each row, sorted.
        count: number of segments.

    Returns:
        dict of [count, ...] tensors. An empty segment is the lowest number of the dtype
        in `max`, the highest in `min`, and 0 in `max or 0` and in `sorted max`, whose
        number of rows is the last id + 1.
    """
    highest = tf.unsorted_segment_max(values, ids, count)
    lowest = values.dtype.min
    return {
        "max": highest,
        "min": tf.unsorted_segment_min(values, ids, count),
        "sorted max": tf.segment_max(values, ids),
        "max or 0": tf.where(highest > lowest, highest, tf.zeros_like(highest)),
    }


def to_dense(indices, values, shape, ordered=True):
    """Converts a sparse tensor to a dense tensor.

    Args:
        indices: [k, rank] int64 tensor of distinct positions.
        values: [k] tensor.
        shape: [rank] int64 tensor.
        ordered: whether the positions are known to be in row-major order.

    Returns:
        Dense tensor of `shape`, 0 where no value is given.

    Raises:
        tf.errors.InvalidArgumentError: `ordered` is True, but the positions are not in
            order or out of range.
    """
    sparse = tf.SparseTensor(indices, values, shape)
    return tf.sparse_tensor_to_dense(sparse if ordered else tf.sparse_reorder(sparse))


def multiply_sparse(indices, values, matrix):
    """Multiplies a sparse square matrix by a dense matrix.

    Args:
        indices: [k, 2] int64 tensor of positions, in any order.
        values: [k] tensor.
        matrix: [n, m] tensor.

    Returns:
        [n, m] tensor.
    """
    n = tf.shape(matrix, out_type=tf.int64)[0]
    sparse = tf.SparseTensor(indices, values, tf.stack([n, n]))
    return tf.sparse_tensor_dense_matmul(sparse, matrix)


def multiply_sparse_batch(indices, values, matrices):
    """Multiplies a batch of sparse square matrices by a batch of dense matrices.

    Args:
        indices: [k, 3] int64 tensor of positions: matrix, row, column.
        values: [k] tensor.
        matrices: [b, n, m] tensor.

    Returns:
        [b, n, m] tensor.
    """
    # The kernel takes one matrix: put all matrices on its diagonal, as blocks.
    b, n, _ = tf.unstack(tf.shape(matrices, out_type=tf.int64))
    places = indices[:, :1] * n + indices[:, 1:]
    sparse = tf.SparseTensor(places, values, tf.stack([b * n, b * n]))
    rows = tf.reshape(matrices, [b * n, -1])
    return tf.reshape(tf.sparse_tensor_dense_matmul(sparse, rows), tf.shape(matrices))


def drop_sparse(indices, values, shape, keep_prob, seed):
    """Applies dropout to a sparse matrix: drops elements, scales up the others.

    Args:
        indices: [k, 2] int64 array of positions, in row-major order.
        values: [k] float array.
        shape: shape of the matrix.
        keep_prob: keep probability, in (0, 1].
        seed: graph seed, and op seed of the draw.

    Returns:
        Array of this shape.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- drop
        tf.set_random_seed(seed)
        x = tf.SparseTensor(indices, values, shape)
        drawn = keep_prob + tf.random_uniform([len(values)], seed=seed)
        kept = tf.sparse_retain(x, tf.cast(tf.floor(drawn), tf.bool))
        # --- draw
        return sess.run(tf.sparse_tensor_to_dense(kept * (1 / keep_prob)))
