"""Saves the variables of a graph, and restores them."""

import os
import tempfile

import tensorflow as tf


def checkpoints(kernel):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.ckpt")
        # [in short
        with tf.variable_scope("dense"):
            w = tf.get_variable("kernel", initializer=kernel)
        saver = tf.train.Saver()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            saver.save(sess, path)

        with tf.Session() as sess:
            saver.restore(sess, path)
            values = sess.run(w)
        # in short]
        return values
