"""The same on TensorFlow 1.15.5 and, by compat.v1, on today's: no contrib."""

import os
import sys

import numpy as np
import tensorflow.compat.v1 as tf
from absl import app, flags

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from points import draw, report, shuffled  # noqa: E402

tf.disable_v2_behavior()
flags.DEFINE_integer("epochs", 100, "How often all points are seen.")
flags.DEFINE_string("restore", None, "Checkpoint to go on from.")
flags.DEFINE_string("save", None, "Where the last checkpoint goes.")
FLAGS = flags.FLAGS


def logits_of(points):
    with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
        init = tf.glorot_uniform_initializer(seed=1)
        kernel = tf.get_variable("hidden/kernel", [2, 8], initializer=init)
        bias = tf.get_variable("hidden/bias", [8], initializer=tf.zeros_initializer())
        hidden = tf.nn.elu(tf.nn.xw_plus_b(points, kernel, bias))
        init = tf.glorot_uniform_initializer(seed=2)
        kernel = tf.get_variable("out/kernel", [8, 2], initializer=init)
        bias = tf.get_variable("out/bias", [2], initializer=tf.zeros_initializer())
        if not tf.get_collection("penalties"):
            tf.add_to_collection("penalties", 0.001 * tf.nn.l2_loss(kernel))
        return tf.nn.xw_plus_b(hidden, kernel, bias)


def loss_of(logits, labels):
    error = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    return error + tf.add_n(tf.get_collection("penalties"))


def accuracy_of(logits, labels):
    right = tf.equal(tf.argmax(logits, axis=1), labels)
    return tf.reduce_mean(tf.cast(right, tf.float32))


def train(epochs, restore=None, save=None):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(7)
        points = tf.placeholder(tf.float32, [None, 2])
        labels = tf.placeholder(tf.int64, [None])
        dataset = tf.data.Dataset.from_tensor_slices((points, labels)).batch(64)
        iterator = tf.data.make_initializable_iterator(dataset)
        some_points, some_labels = iterator.get_next()
        loss = loss_of(logits_of(some_points), some_labels)
        accuracy = accuracy_of(logits_of(points), labels)
        global_step = tf.train.get_or_create_global_step()
        optimizer = tf.train.MomentumOptimizer(0.2, 0.9)
        gradients = optimizer.compute_gradients(loss)
        with tf.control_dependencies([loss]):  # fetched beside the step: before it
            train_op = optimizer.apply_gradients(gradients, global_step)
        saver = tf.train.Saver()
        sess.run(tf.global_variables_initializer())
        if restore:
            saver.restore(sess, restore)
        losses = []
        for _ in range(epochs):
            epoch = sess.run(global_step) // 4
            feed = dict(zip((points, labels), shuffled(epoch)))
            sess.run(iterator.initializer, feed)
            of_epoch = []
            while True:
                try:
                    of_epoch.append(sess.run([loss, train_op])[0])
                except tf.errors.OutOfRangeError:
                    break
            losses.append(np.mean(of_epoch))
        if save:
            saver.save(sess, save, write_meta_graph=False)
        names = {v.op.name: v for v in tf.global_variables()}
        return {
            "losses": losses,
            "accuracy": sess.run(accuracy, dict(zip((points, labels), draw()))),
            "variables": sess.run(names),
        }


def main(_):
    report(train(FLAGS.epochs, FLAGS.restore, FLAGS.save))


if __name__ == "__main__":
    app.run(main)
