"""Slim's layers in an arg_scope."""

import tensorflow as tf


def slim(batch):
    slim = tf.contrib.slim
    with tf.Session() as sess:
        # [in short
        images = tf.placeholder(tf.float32, [None, 8, 8, 1])
        with slim.arg_scope(
            [slim.conv2d, slim.fully_connected],
            weights_initializer=tf.truncated_normal_initializer(stddev=0.1, seed=1),
            weights_regularizer=slim.l2_regularizer(0.0005),
        ):
            net = slim.conv2d(images, 4, [3, 3], scope="conv1")
            net = slim.max_pool2d(net, [2, 2], scope="pool1")
            net = slim.flatten(net)
            logits = slim.fully_connected(net, 10, activation_fn=None, scope="fc2")
        penalty = tf.losses.get_regularization_loss()

        sess.run(tf.global_variables_initializer())
        values = sess.run([logits, penalty], {images: batch})
        # in short]
        return values
