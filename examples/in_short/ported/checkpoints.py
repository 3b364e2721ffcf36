"""Saves variables for TensorFlow 1, and reads its files by the names of variables."""

import os
import tempfile

import tensorflow as tf
from legacy_numerics import by_name, save


def checkpoints(kernel):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.ckpt")
        # [in short
        w = tf.Variable(kernel)
        save(path, {"dense/kernel": w})  # TensorFlow 1 can read it

        w = tf.Variable(tf.zeros_like(kernel))
        by_name(path, {"dense/kernel": w})  # a file of TensorFlow 1, too

        checkpoint = tf.train.Checkpoint(w=w)  # among programs of TensorFlow 2
        checkpoint.restore(checkpoint.save(path)).assert_consumed()
        values = w.numpy()
        # in short]
        return values
