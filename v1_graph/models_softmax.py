"""`tf.zeros([784, 10])`, `GradientDescentOptimizer(0.5)`: softmax regression on MNIST.

The program is `mnist_softmax.py` of the tutorial "MNIST For ML Beginners" (2015).
"""

import os

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

BATCH_SIZE = 20


def softmax_regression(images):
    """Computes the logits, [n, 10], of images, [n, 784]."""
    W = tf.Variable(tf.zeros([784, 10], images.dtype))
    b = tf.Variable(tf.zeros([10], images.dtype))
    return tf.matmul(images, W) + b


def next_batch(images, labels, step):
    """Slices the batch of a step out of the data, which it repeats."""
    first = step * BATCH_SIZE % len(images)
    return images[first : first + BATCH_SIZE], labels[first : first + BATCH_SIZE]


def train(images, labels, steps, checkpoint=None, folder=None):
    """Trains a softmax regression by gradient descent, from a checkpoint if given.

    Args:
        images: [n, 784] float array, n a multiple of the batch size, 20.
        labels: [n, 10] array of the same dtype, one-hot.
        steps: number of steps, each on the next batch; a run begins at the first batch.
        checkpoint: path of a checkpoint of both variables, or None.
        folder: where to write the checkpoint `model.ckpt`, or None.

    Returns:
        dict with the `losses` of the batches, [steps], each before its step, and the
        final `variables` by name. They were made without names: W is `Variable`, b is
        `Variable_1`.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(images.dtype, [None, 784])
        y_ = tf.placeholder(labels.dtype, [None, 10])
        y = softmax_regression(x)
        cross_entropy = tf.reduce_mean(
            tf.nn.softmax_cross_entropy_with_logits(labels=y_, logits=y)
        )
        train_step = tf.train.GradientDescentOptimizer(0.5).minimize(cross_entropy)
        saver = tf.train.Saver()
        sess.run(tf.global_variables_initializer())
        if checkpoint:
            saver.restore(sess, checkpoint)
        losses = []
        for step in range(steps):
            batch_xs, batch_ys = next_batch(images, labels, step)
            feed_dict = {x: batch_xs, y_: batch_ys}
            losses.append(sess.run([cross_entropy, train_step], feed_dict)[0])
        if folder:
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": np.array(losses), "variables": variables}


def evaluate(images, labels, checkpoint):
    """Computes the accuracy of test images.

    Args:
        images: [n, 784] float array.
        labels: [n, 10] array of the same dtype, one-hot.
        checkpoint: path of a checkpoint of both variables.

    Returns:
        dict of the `accuracy`, a scalar.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(images.dtype, [None, 784])
        y_ = tf.placeholder(labels.dtype, [None, 10])
        y = softmax_regression(x)
        correct_prediction = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
        accuracy = tf.reduce_mean(tf.cast(correct_prediction, images.dtype))
        tf.train.Saver().restore(sess, checkpoint)
        return {"accuracy": sess.run(accuracy, {x: images, y_: labels})}


def export(images, checkpoint, folder):
    """Exports the regression as a SavedModel, loads it again, and asks it.

    Args:
        images: [n, 784] float array.
        checkpoint: path of a checkpoint of both variables.
        folder: an empty folder, in which the SavedModel is written.

    Returns:
        dict of the `probabilities`, [n, 10].
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(images.dtype, [None, 784])
        y = tf.nn.softmax(softmax_regression(x))
        tf.train.Saver().restore(sess, checkpoint)
        tf.saved_model.simple_save(sess, folder, {"images": x}, {"probabilities": y})
    # --- load
    with tf.Graph().as_default(), tf.Session() as sess:
        loaded = tf.saved_model.load(sess, ["serve"], folder)
        signature = loaded.signature_def["serving_default"]
        fetches = {key: info.name for key, info in signature.outputs.items()}
        return sess.run(fetches, {signature.inputs["images"].name: images})
