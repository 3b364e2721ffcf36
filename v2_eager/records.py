"""`tf.python_io`, `tf.parse_single_example`, TFRecord files → `tf.io`, `tf.data`."""

import os
import tempfile

import tensorflow as tf

__all__ = [
    "write_records",
    "peek_records",
    "read_records",
    "parse_rows",
    "decode_images",
]


def write_records(rows):
    """Writes examples to a TFRecord file."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "rows.tfrecord")
        # --- write
        with tf.io.TFRecordWriter(path) as writer:
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
    """Lists the record sizes and feature names of a TFRecord file in Python."""
    with tempfile.TemporaryDirectory() as directory:
        path = _save(directory, data)
        # --- read
        records = tf.data.TFRecordDataset(path).as_numpy_iterator()
        return [
            (len(record), sorted(tf.train.Example.FromString(record).features.feature))
            for record in records
        ]


def read_records(data):
    """Reads a TFRecord file of examples and parses them."""
    with tempfile.TemporaryDirectory() as directory:
        path = _save(directory, data)

        # --- parse
        def parse(serialized):
            row = tf.io.parse_single_example(
                serialized,
                {
                    "id": tf.io.FixedLenFeature([], tf.int64),
                    "label": tf.io.FixedLenFeature([], tf.string, default_value="?"),
                    "values": tf.io.RaggedFeature(tf.float32),
                },
            )
            return row["id"], row["label"], row["values"]

        # --- read
        dataset = tf.data.TFRecordDataset(path).map(parse)
        return list(dataset.as_numpy_iterator())


def parse_rows(serialized):
    """Parses a batch of serialized examples at once."""
    features = {
        "x": tf.io.FixedLenFeature([2], tf.float32, default_value=[0.0, 0.0]),
        "ids": tf.io.RaggedFeature(tf.int64),
    }
    rows = tf.io.parse_example(serialized, features)
    return rows["x"], rows["ids"].to_tensor(default_value=-1)


def decode_images(raw, height, width):
    """Decodes raw pixels to gray images in [0, 1)."""
    pixels = tf.io.decode_raw(raw, tf.uint8)
    return tf.cast(tf.reshape(pixels, [-1, height, width]), tf.float32) / 256
