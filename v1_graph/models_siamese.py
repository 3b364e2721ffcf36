"""`scope.reuse_variables()`, slim, contrastive loss, `exponential_decay`, Momentum.

A Siamese network: Hadsell, Chopra and LeCun, "Dimensionality Reduction by Learning an
Invariant Mapping", 2006. Programs for pairs of MNIST digits on GitHub were written like
this from 2016 on.
"""

import os

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

MARGIN = 1.0


class Siamese:
    """The graph of two towers that share their variables, and of the losses."""

    def __init__(self, shape, dtype):
        self.left = tf.placeholder(dtype, [None, *shape], name="left")
        self.right = tf.placeholder(dtype, [None, *shape], name="right")
        self.label = tf.placeholder(dtype, [None], name="label")
        with tf.variable_scope("siamese") as scope:
            self.left_output = self.tower(self.left)
            scope.reuse_variables()
            self.right_output = self.tower(self.right)
        difference = self.left_output - self.right_output
        squared = tf.reduce_sum(tf.square(difference), 1)
        self.distance = tf.sqrt(squared + 1e-6, name="distance")
        positive = self.label * squared
        negative = (1 - self.label) * tf.square(tf.maximum(MARGIN - self.distance, 0))
        self.loss = tf.reduce_mean(positive + negative) / 2
        # One penalty for each weight: the reused layers add none.
        penalties = tf.losses.get_regularization_losses()
        self.total_loss = tf.add_n([self.loss, *penalties])
        same = tf.cast(self.distance < MARGIN / 2, dtype)
        correct = tf.cast(tf.equal(same, self.label), dtype)
        self.accuracy = tf.reduce_mean(correct)

    def tower(self, images):
        slim = tensorflow.contrib.slim
        with slim.arg_scope(
            [slim.conv2d, slim.fully_connected],
            weights_initializer=slim.xavier_initializer(seed=1),
            weights_regularizer=slim.l2_regularizer(5e-4),
        ):
            net = slim.conv2d(images, 6, [3, 3], scope="conv1")
            net = slim.max_pool2d(net, [2, 2], scope="pool1")
            net = slim.conv2d(net, 8, [3, 3], scope="conv2")
            net = slim.max_pool2d(net, [2, 2], scope="pool2")
            net = slim.flatten(net, scope="flatten")
            net = slim.fully_connected(net, 16, scope="fc1")
            return slim.fully_connected(net, 2, activation_fn=None, scope="fc2")


def train(lefts, rights, labels, steps, checkpoint=None, folder=None):
    """Trains the network on pairs of images with Momentum and a decayed rate.

    Args:
        lefts, rights: [batches, batch, height, width, channels] float arrays, the
            images of the pairs. The global step chooses the batch.
        labels: [batches, batch] array of the same dtype, 1 for a positive pair, 0 for a
            negative pair.
        steps: how many steps to take.
        checkpoint: path of a checkpoint to go on from, with all variables, or None.
        folder: where to write the summaries and `model.ckpt`, or None.

    Returns:
        dict with the `losses`, [steps], with penalties and before each step, and the
        final `variables` by name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        net = Siamese(lefts.shape[2:], lefts.dtype)
        global_step = tf.train.get_or_create_global_step()
        rate = tf.train.exponential_decay(0.1, global_step, 20, 0.96, staircase=True)
        optimizer = tf.train.MomentumOptimizer(rate, 0.9)
        # Nothing else orders the penalties before the update of their weights.
        with tf.control_dependencies([net.total_loss]):
            train_op = optimizer.minimize(net.total_loss, global_step)
        tf.summary.scalar("loss", net.total_loss)
        tf.summary.scalar("learning_rate", rate)
        merged = tf.summary.merge_all()
        saver = tf.train.Saver(max_to_keep=3)
        writer = tf.summary.FileWriter(folder, sess.graph) if folder else None
        # --- restore
        if checkpoint:
            saver.restore(sess, checkpoint)
        else:
            sess.run(tf.global_variables_initializer())
        # --- run
        losses, first = [], sess.run(global_step)
        for step in range(first, first + steps):
            i = step % len(lefts)
            feed = {net.left: lefts[i], net.right: rights[i], net.label: labels[i]}
            _, loss, summary = sess.run([train_op, net.total_loss, merged], feed)
            losses.append(loss)
            if writer:
                writer.add_summary(summary, step)
        if folder:
            writer.close()
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": np.array(losses), "variables": variables}


def evaluate(left, right, label, checkpoint):
    """Restores the weights; computes embeddings, distances, loss and accuracy.

    Args:
        left, right: [n, height, width, channels] float arrays, the images of the pairs.
        label: [n] array of the same dtype, see `train`.
        checkpoint: path of a checkpoint that has the weights.

    Returns:
        dict with the `embeddings` of the left images, [n, 2], the `distances`, [n], the
        contrastive `loss`, and the `accuracy`: a pair is positive if its distance is
        less than half of the margin.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        net = Siamese(left.shape[1:], left.dtype)
        saver = tf.train.Saver(tf.trainable_variables("siamese"))
        fetches = {
            "embeddings": net.left_output,
            "distances": net.distance,
            "loss": net.loss,
            "accuracy": net.accuracy,
        }
        # --- run
        saver.restore(sess, checkpoint)
        feed = {net.left: left, net.right: right, net.label: label}
        return sess.run(fetches, feed)


def export(images, checkpoint, folder):
    """Saves a tower as a SavedModel, loads it, and embeds images.

    Args:
        images: [n, height, width, channels] float array.
        checkpoint: path of a checkpoint that has the weights.
        folder: where to write the SavedModel; it is empty or does not exist.

    Returns:
        dict with the `embeddings`, [n, 2].
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        net = Siamese(images.shape[1:], images.dtype)
        tf.train.Saver(tf.trainable_variables("siamese")).restore(sess, checkpoint)
        inputs, outputs = {"images": net.left}, {"embeddings": net.left_output}
        tf.saved_model.simple_save(sess, folder, inputs, outputs)
    # --- load
    with tf.Graph().as_default(), tf.Session() as sess:
        tags = [tf.saved_model.tag_constants.SERVING]
        meta = tf.saved_model.loader.load(sess, tags, folder)
        signature = meta.signature_def["serving_default"]
        # --- run
        feed = {signature.inputs["images"].name: images}
        return {n: sess.run(x.name, feed) for n, x in signature.outputs.items()}
