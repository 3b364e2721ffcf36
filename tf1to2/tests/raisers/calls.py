"""Cells, functions of each row, lookups, old losses, images and what is None."""

import numpy as np
import tensorflow as tf

from tf1to2.tests.raisers import in_graph, lacks, v1

X = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
IMAGE = tf.ones([4, 4, 3])
IDS = tf.sparse.from_dense([[1]])
ROWS = np.ones([1, 2, 3], np.float32)  # of no graph


def unroll(unrolled, cell=None, rows=ROWS, **options):
    """A function that runs a cell of Keras over rows, in a graph."""
    return in_graph(
        lambda: unrolled(cell or tf.keras.layers.GRUCell(4), rows, **options)
    )


def resize(size=(2, 2), image=IMAGE, **options):
    return lambda: tf.image.resize(image, size, **options)


F32 = tf.float32

ERRORS = {
    "get_initial_state() got an unexpected": unroll(v1.nn.dynamic_rnn, dtype=F32),
    "argument `dtype` must be specified": unroll(v1.nn.dynamic_rnn),
    "is not an RNNCell": unroll(v1.nn.dynamic_rnn, cell=5, dtype=F32),
    "Argument `inputs` must be": unroll(v1.nn.static_rnn, dtype=F32),
    "Argument sequence_length": unroll(v1.nn.dynamic_rnn, sequence_length=3, dtype=F32),
    **{
        f"'{type(value).__name__}' object has no attribute '{name}'": lacks(value, name)
        for value, name in (
            ([1.0], "dtype"),
            ([1.0], "shape"),
            ([1.0], "get_shape"),
            (1.0, "dtype"),
            (1, "dtype"),
            (None, "dtype"),
            (None, "shape"),
            (None, "op"),
            (None, "name"),
            (None, "get_shape"),
        )
    },
    "arguments for tf.print": lambda: tf.print(X, message="loss"),
    "output stream": lambda: tf.print(X, output_stream="out"),
    "contains no shape": in_graph(lambda: tf.image.resize(v1.placeholder(F32), [2, 2])),
    "must be a 1-D int32": in_graph(
        lambda: tf.image.resize(v1.placeholder(F32, [1, 4, 4, 3]), [2.5, 2.5])
    ),
    "new_height, new_width": resize(2),
    "Resize method": resize(method=2),
    "Expected '…' to be true. Summarized data: b'Need": lambda: tf.image.random_crop(
        IMAGE, [5, 5, 3]
    ),
    "width must be <=": lambda: tf.image.pad_to_bounding_box(IMAGE, 0, 0, 2, 2),
    "width must be >=": lambda: tf.image.crop_to_bounding_box(IMAGE, 0, 2, 4, 4),
    "height must be >=": lambda: tf.image.crop_to_bounding_box(IMAGE, 2, 0, 4, 4),
    "central_fraction": lambda: tf.image.central_crop(IMAGE, 1.5),
    "upper must": lambda: tf.image.random_contrast(IMAGE, 2.0, 1.0),
    "max_delta must be non": lambda: tf.image.random_brightness(IMAGE, -1.0),
    "max_delta must be <=": lambda: tf.image.random_hue(IMAGE, 0.9),
    "must be at least three": lambda: tf.image.flip_left_right(X),
    "must have 3 channels": lambda: tf.image.adjust_hue(tf.ones([2, 2, 1]), 0.1),
    "of a grayscale image": lambda: tf.image.grayscale_to_rgb(IMAGE),
    "Elements in elems": lambda: tf.map_fn(lambda row: row, 5.0),
    "elems must be": lambda: tf.map_fn(lambda row: row, []),
    "Expected func": lambda: tf.py_function(5, [X], F32),
    "but expects to see": lambda: tf.py_function(lambda x: x, [X], [F32, F32]),
    "Missing required argument: 'Tout'": lambda: tf.py_function(lambda x: x),
    "Attempting to return a variable": lambda: tf.py_function(
        lambda x: tf.Variable(1.0), [X], F32
    ),
    "sp_ids must": lambda: tf.nn.embedding_lookup_sparse(X, [[0]], None),
    "combiner must": lambda: tf.nn.embedding_lookup_sparse(
        X, IDS, None, combiner="max"
    ),
    "Missing embedding_weights": lambda: tf.nn.safe_embedding_lookup_sparse(None, IDS),
    "params must be": lambda: tf.nn.embedding_lookup(None, [0]),
    "`labels` to be a SparseTensor": lambda: v1.nn.ctc_loss(X, ROWS, [2]),
    "`blank_index` must": lambda: tf.nn.ctc_loss(IDS, tf.ones([2, 1, 3]), None, [2]),
    "`labels` must not be None": lambda: v1.losses.mean_squared_error(None, X),
    "weights can not": lambda: v1.losses.mean_squared_error(X, X, weights=[1.0, 2.0]),
    "Invalid Reduction": lambda: v1.losses.mean_squared_error(X, X, reduction="mean"),
    "specify argument `axis`": lambda: v1.losses.cosine_distance(X, X),
    "to string is not": lambda: tf.cast(1, tf.string),
    "Not a valid compression": lambda: tf.io.TFRecordWriter("a", options="GZ"),
    "write(): incompatible": lambda: tf.io.TFRecordWriter("/dev/null").write(
        tf.train.Example()
    ),
}
