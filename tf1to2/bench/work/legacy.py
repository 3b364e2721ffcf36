"""The programs in a graph and a session, as legacy code has them."""

import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

from tf1to2.bench.work import inputs as batches_of
from v1_graph import cookbook


def affine(inputs):
    def build(x):
        kernel, bias = (tf.get_variable(n, initializer=v) for n, v in named(inputs))
        return tf.nn.relu(tf.matmul(x, kernel) + bias)

    return calls(inputs, build)


def predict(inputs):
    return calls(inputs, lambda x: dense_layers(x, inputs.start))


def mlp(inputs):
    def loss(x, labels):
        return cross_entropy(labels, dense_layers(x, inputs.start))

    return training(inputs, loss, lambda: tf.train.AdamOptimizer(0.001))


def dense_layers(x, start):
    layers = len(start) // 2
    for i in range(layers):
        x = dense(
            x,
            start["kernel%d" % i],
            start["bias%d" % i],
            tf.nn.relu if i < layers - 1 else None,
        )
    return x


def convnet(inputs):
    start = inputs.start

    def loss(x, labels):
        for name in ("conv0", "conv1"):
            x = tf.layers.conv2d(
                x,
                start[name].shape[-1],
                start[name].shape[0],
                padding="same",
                use_bias=False,
                kernel_initializer=tf.constant_initializer(start[name]),
            )
            x = tf.nn.relu(tf.layers.batch_normalization(x, training=True))
            x = tf.layers.max_pooling2d(x, 2, 2)
        x = tf.layers.flatten(x)
        return cross_entropy(labels, dense(x, start["kernel"], start["bias"]))

    return training(inputs, loss, lambda: tf.train.MomentumOptimizer(0.01, 0.9))


def lstm(inputs):
    start = inputs.start

    def loss(x, labels):
        with tf.variable_scope("", initializer=tf.constant_initializer()):
            cell = tf.nn.rnn_cell.BasicLSTMCell(64)
            outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        tf.add_to_collection("copies", cell.variables[0].assign(start["lstm_kernel"]))
        logits = dense(outputs[:, -1], start["kernel"], start["bias"])
        return cross_entropy(labels, logits)

    return training(inputs, loss, lambda: tf.train.AdamOptimizer(0.001))


def embedding(inputs):
    start = inputs.start

    def loss(words, labels):
        table = tf.get_variable("table", initializer=start["table"])
        x = tf.reduce_mean(tf.nn.embedding_lookup(table, words), axis=1)
        return cross_entropy(labels, dense(x, start["kernel"], start["bias"]))

    return training(inputs, loss, lambda: tf.train.AdagradOptimizer(0.1))


def beam_search(inputs):
    def build(state):
        cell = {n: tf.get_variable(n, initializer=v) for n, v in named(inputs)}
        ids, _ = cookbook.beam_search_loop(cell, state, tf.constant(16), 4)
        return ids

    return calls(inputs, build)


def records(inputs):
    path = os.path.join(tempfile.mkdtemp(), "rows.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for x, label in zip(*inputs.arrays):  # noqa: B905, Python 3.7
            floats = tf.train.Feature(float_list=tf.train.FloatList(value=x))
            number = tf.train.Feature(int64_list=tf.train.Int64List(value=[label]))
            features = tf.train.Features(feature={"x": floats, "label": number})
            writer.write(tf.train.Example(features=features).SerializeToString())

    def parse(row):
        return tf.parse_single_example(
            row,
            {
                "x": tf.FixedLenFeature([64], tf.float32),
                "label": tf.FixedLenFeature([], tf.int64),
            },
        )

    def from_iterator():
        with tf.Graph().as_default():
            dataset = tf.data.TFRecordDataset(path).shuffle(1000, seed=1).repeat()
            dataset = dataset.map(parse, 2).batch(inputs.batch).prefetch(1)
            batch = tf.data.make_one_shot_iterator(dataset).get_next()
            sess = tf.Session()

        def run(steps):
            for _ in range(steps):
                value = sess.run(batch)
            return value["x"].sum()

        return run

    return {"Session.run, iterator": from_iterator}


def named(inputs):
    return inputs.start.items()


def dense(x, kernel, bias, activation=None):
    return tf.layers.dense(
        x,
        len(bias),
        activation,
        kernel_initializer=tf.constant_initializer(kernel),
        bias_initializer=tf.constant_initializer(bias),
    )


def cross_entropy(labels, logits):
    return tf.losses.sparse_softmax_cross_entropy(labels, logits)


def training(inputs, build, optimizer):
    """The forms of a training program: with `feed_dict`, and with an iterator."""

    def fetches(*batch):
        loss = build(*batch)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            return [loss, optimizer().minimize(loss)]

    return forms(inputs, fetches)


def calls(inputs, build):
    """The forms of a prediction: with `feed_dict`, and with an iterator."""
    return forms(inputs, lambda *batch: [build(*batch)])


def forms(inputs, build):
    """Returns {form: function that makes the form}; `build` returns the fetches."""

    def fed():
        with tf.Graph().as_default():
            batch = [
                tf.placeholder(array.dtype, (None,) + array.shape[1:])
                for array in inputs.arrays
            ]
            fetches = build(*batch)
            sess = initialized()
        next_batches = batches_of.cycle(inputs)

        def run(steps):
            for arrays in next_batches(steps):
                values = sess.run(fetches, dict(zip(batch, arrays)))  # noqa: B905
            return np.asarray(values[0])

        return run

    def from_iterator():
        with tf.Graph().as_default():
            arrays = [tf.placeholder(a.dtype, a.shape) for a in inputs.arrays]
            dataset = tf.data.Dataset.from_tensor_slices(tuple(arrays))
            dataset = dataset.batch(inputs.batch).cache().repeat().prefetch(1)
            iterator = tf.data.make_initializable_iterator(dataset)
            batch = iterator.get_next()
            fetches = build(*batch)
            sess = initialized()
            feed = dict(zip(arrays, inputs.arrays))  # noqa: B905
            sess.run(iterator.initializer, feed)

        def run(steps):
            for _ in range(steps):
                values = sess.run(fetches)
            return np.asarray(values[0])

        return run

    return {"Session.run": fed, "Session.run, iterator": from_iterator}


def initialized():
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    sess.run(tf.get_collection("copies"))
    return sess
