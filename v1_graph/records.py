"""`tf.python_io`, `tf.parse_single_example`, TFRecord files → `tf.io`, `tf.data`."""

import os
import tempfile

import tensorflow.compat.v1 as tf

__all__ = [
    "write_records",
    "peek_records",
    "read_records",
    "parse_rows",
    "decode_images",
]


def write_records(rows):
    """Writes examples to a TFRecord file.

    Args:
        rows: list of dicts from feature name to a list of ints, floats or bytes.

    Returns:
        The bytes of the file, the same on every machine.
    """
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "rows.tfrecord")
        # --- write
        with tf.python_io.TFRecordWriter(path) as writer:
            for row in rows:
                features = tf.train.Features(
                    feature={name: _feature(values) for name, values in row.items()}
                )
                example = tf.train.Example(features=features)
                # A map has no order: without the flag, each process writes another
                # order.
                writer.write(example.SerializeToString(deterministic=True))
        # --- read
        with open(path, "rb") as file:
            return file.read()


def _feature(values):
    if not values:  # an empty list has no kind
        return tf.train.Feature()
    if isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def _save(directory, data):
    path = os.path.join(directory, "rows.tfrecord")
    with open(path, "wb") as file:
        file.write(data)
    return path


def peek_records(data):
    """Lists the record sizes and feature names of a TFRecord file in Python.

    Args:
        data: the bytes of the file.

    Returns:
        List of (size of the record, sorted names of its features).

    Raises:
        tf.errors.DataLossError: a record is damaged or cut off.
    """
    with tempfile.TemporaryDirectory() as directory:
        path = _save(directory, data)
        # --- read
        records = tf.python_io.tf_record_iterator(path)
        return [
            (len(record), sorted(tf.train.Example.FromString(record).features.feature))
            for record in records
        ]


def read_records(data):
    """Reads a TFRecord file of examples and parses them.

    Args:
        data: the bytes of the file. Its examples have an int `id`, a text `label`
            (default b"?") and any number of floats `values`.

    Returns:
        List of (id, label, values), values being a float32 vector.

    Raises:
        tf.errors.DataLossError: a record is damaged or cut off.
        tf.errors.InvalidArgumentError: an example has no `id`, or a record is not an
            example.
    """
    with tempfile.TemporaryDirectory() as directory:
        path = _save(directory, data)

        # --- parse
        def parse(serialized):
            row = tf.parse_single_example(
                serialized,
                {
                    "id": tf.FixedLenFeature([], tf.int64),
                    "label": tf.FixedLenFeature([], tf.string, default_value="?"),
                    "values": tf.VarLenFeature(tf.float32),
                },
            )
            values = tf.sparse_tensor_to_dense(row["values"])
            return row["id"], row["label"], values

        # --- read
        with tf.Graph().as_default(), tf.Session() as sess:
            dataset = tf.data.TFRecordDataset(path).map(parse)
            row = dataset.make_one_shot_iterator().get_next()
            rows = []
            while True:
                try:
                    rows.append(sess.run(row))
                except tf.errors.OutOfRangeError:
                    return rows


def parse_rows(serialized):
    """Parses a batch of serialized examples at once.

    Args:
        serialized: [n] string tensor of examples with two floats `x` (default [0, 0])
            and any number of ints `ids`.

    Returns:
        ([n, 2] float32 tensor of `x`, [n, longest] int64 tensor of `ids`, padded with
        -1).

    Raises:
        InvalidArgumentError: an example has another number of `x`, or a string is not
            an example.
    """
    features = {
        "x": tf.FixedLenFeature([2], tf.float32, default_value=[0.0, 0.0]),
        "ids": tf.VarLenFeature(tf.int64),
    }
    rows = tf.parse_example(serialized, features)
    return rows["x"], tf.sparse_tensor_to_dense(rows["ids"], default_value=-1)


def decode_images(raw, height, width):
    """Decodes raw pixels to gray images in [0, 1).

    Args:
        raw: [n] string tensor, each of height · width bytes.
        height: number of rows.
        width: number of columns.

    Returns:
        [n, height, width] float32 tensor.

    Raises:
        InvalidArgumentError: the strings differ in length, or do not have height ·
            width bytes.
    """
    pixels = tf.decode_raw(raw, tf.uint8)
    return tf.cast(tf.reshape(pixels, [-1, height, width]), tf.float32) / 256
