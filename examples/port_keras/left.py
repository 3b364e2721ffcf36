"""A classifier on TensorFlow 1, as `tf1to2 record` runs it."""

import tensorflow as tf


def make_net():
    def net(x):
        hidden = tf.layers.dense(x, 8, tf.nn.relu, name="hidden")
        return tf.layers.dense(hidden, 2, name="logits")

    return tf.make_template("net", net)


def train(weights, x, y):
    images = tf.placeholder(tf.float32, [None, 3])
    labels = tf.placeholder(tf.int32, [None])
    loss = tf.losses.sparse_softmax_cross_entropy(labels, make_net()(images))
    train_op = tf.train.AdamOptimizer(0.05).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for v in tf.trainable_variables():
            v.load(weights[v.op.name], sess)
        feed = {images: x, labels: y}
        losses = [sess.run([loss, train_op], feed)[0] for _ in range(20)]
        values = {v.op.name: sess.run(v) for v in tf.trainable_variables()}
        return {"losses": losses, "weights": values}
