"""Examples written to a file of records, read and parsed."""

import os
import tempfile

import tensorflow as tf


def records(rows):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "train.tfrecords")
        # [in short
        with tf.python_io.TFRecordWriter(path) as writer:
            for row in rows:
                feature = tf.train.Feature(float_list=tf.train.FloatList(value=row))
                features = tf.train.Features(feature={"x": feature})
                writer.write(tf.train.Example(features=features).SerializeToString())

        def parse(record):
            return tf.parse_single_example(
                record, {"x": tf.FixedLenFeature([2], tf.float32)}
            )

        dataset = tf.data.TFRecordDataset(path).map(parse).batch(3)
        batch = dataset.make_one_shot_iterator().get_next()
        with tf.Session() as sess:
            values = sess.run(batch)
        # in short]
        return values
