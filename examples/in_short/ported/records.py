"""Examples written to a file of records, read and parsed."""

import os
import tempfile

import tensorflow as tf


def records(rows):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "train.tfrecords")
        # [in short
        with tf.io.TFRecordWriter(path) as writer:
            for row in rows:
                feature = tf.train.Feature(float_list=tf.train.FloatList(value=row))
                features = tf.train.Features(feature={"x": feature})
                writer.write(tf.train.Example(features=features).SerializeToString())

        def parse(record):
            features = {"x": tf.io.FixedLenFeature([2], tf.float32)}
            return tf.io.parse_single_example(record, features)

        dataset = tf.data.TFRecordDataset(path).map(parse).batch(3)
        values = next(iter(dataset))
        # in short]
        return {name: value.numpy() for name, value in values.items()}
