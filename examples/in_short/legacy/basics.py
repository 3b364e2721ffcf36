"""A training step of a linear model."""

import tensorflow as tf
from same_weights import same_weights


def basics(images, labels):
    losses = []
    with same_weights():
        # [in short
        x = tf.placeholder(tf.float32, [None, 3])
        y = tf.placeholder(tf.int64, [None])
        logits = tf.layers.dense(x, 4)
        loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
        train_op = tf.train.AdamOptimizer(0.01).minimize(loss)

        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(5):
                _, value = sess.run([train_op, loss], {x: images, y: labels})
                losses.append(value)
        # in short]
    return losses
