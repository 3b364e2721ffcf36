"""Tied weights, `minimize(…, var_list=…)` for each layer, three Adams, fine-tuning.

A stacked autoencoder, trained layer by layer: Bengio et al., "Greedy Layer-Wise
Training of Deep Networks", 2006. Many programs follow the phases in chapter 15 of
A. Géron's "Hands-On Machine Learning with Scikit-Learn and TensorFlow", 2017.
"""

import os

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

PHASE = 20  # steps of each phase of the pretraining


def layer(scope, inputs, units, dtype, seed):
    with tf.variable_scope(scope):
        he_init = tf.variance_scaling_initializer(2.0, seed=seed)
        weights = tf.get_variable("weights", [inputs, units], dtype, he_init)
        biases = tf.get_variable("biases", [units], dtype, tf.zeros_initializer())
    return weights, biases


def biases_of(scope, units, dtype):
    with tf.variable_scope(scope):
        return tf.get_variable("biases", [units], dtype, tf.zeros_initializer())


class Autoencoder:
    """The graph of the autoencoder, and the losses of its three phases."""

    def __init__(self, size, dtype):
        self.images = tf.placeholder(dtype, [None, size], name="images")
        weights1, biases1 = layer("encoder1", size, 16, dtype, seed=1)
        weights2, biases2 = layer("encoder2", 16, 4, dtype, seed=2)
        biases3 = biases_of("decoder2", 16, dtype)
        biases4 = biases_of("decoder1", size, dtype)
        weights3 = tf.transpose(weights2, name="weights3")  # tied weights
        weights4 = tf.transpose(weights1, name="weights4")
        hidden1 = tf.nn.elu(tf.matmul(self.images, weights1) + biases1)
        self.codings = tf.nn.elu(tf.matmul(hidden1, weights2) + biases2)
        hidden3 = tf.nn.elu(tf.matmul(self.codings, weights3) + biases3)
        self.outputs = tf.matmul(hidden3, weights4) + biases4
        self.error = tf.reduce_mean(tf.square(self.outputs - self.images))
        penalties = [1e-4 * tf.nn.l2_loss(weights) for weights in (weights1, weights2)]
        self.loss = self.error + tf.add_n(penalties)
        # Phase 1 skips the inner layer; phase 2 reconstructs the outer layer's outputs.
        outputs1 = tf.matmul(hidden1, weights4) + biases4
        error1 = tf.reduce_mean(tf.square(outputs1 - self.images))
        self.loss1 = error1 + penalties[0]
        self.loss2 = tf.reduce_mean(tf.square(hidden3 - hidden1)) + penalties[1]
        self.variables1 = [weights1, biases1, biases4]
        self.variables2 = [weights2, biases2, biases3]


def train(images, steps, checkpoint=None, folder=None):
    """Trains layer by layer, then fine-tunes all layers; each phase has its Adam.

    Args:
        images: [batches, batch, size] float array. The global step chooses the batch
            and the phase: 20 steps train the outer layer, 20 the inner one.
        steps: how many steps to take.
        checkpoint: path of a checkpoint to go on from, with all variables, or None.
        folder: where to write `model.ckpt`, or None.

    Returns:
        dict with the `losses` of the current phase before each step, [steps], and the
        final `variables` by name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        net = Autoencoder(images.shape[-1], images.dtype)
        global_step = tf.train.get_or_create_global_step()
        # Without the dependencies a penalty may be computed after the update.
        with tf.name_scope("phase1"), tf.control_dependencies([net.loss1]):
            optimizer = tf.train.AdamOptimizer(0.01)
            train_op1 = optimizer.minimize(net.loss1, global_step, net.variables1)
        with tf.name_scope("phase2"), tf.control_dependencies([net.loss2]):
            optimizer = tf.train.AdamOptimizer(0.01)
            train_op2 = optimizer.minimize(net.loss2, global_step, net.variables2)
        with tf.name_scope("fine_tuning"), tf.control_dependencies([net.loss]):
            optimizer = tf.train.AdamOptimizer(0.003)
            train_op = optimizer.minimize(net.loss, global_step)
        saver = tf.train.Saver()
        # --- restore
        if checkpoint:
            saver.restore(sess, checkpoint)
        else:
            sess.run(tf.global_variables_initializer())
        # --- run
        phases = [(net.loss1, train_op1), (net.loss2, train_op2), (net.loss, train_op)]
        losses, first = [], sess.run(global_step)
        for step in range(first, first + steps):
            phase = phases[min(step // PHASE, 2)]
            feed = {net.images: images[step % len(images)]}
            losses.append(sess.run(phase, feed)[0])
        if folder:
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": np.array(losses), "variables": variables}


def evaluate(images, checkpoint):
    """Restores the weights; computes codings, reconstructions and their error.

    Args:
        images: [n, size] float array.
        checkpoint: path of a checkpoint that has the weights.

    Returns:
        dict with the `codings`, [n, 4], the `outputs`, [n, size], and the mean squared
        `error`.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        net = Autoencoder(images.shape[1], images.dtype)
        fetches = {"codings": net.codings, "outputs": net.outputs, "error": net.error}
        # --- run
        tf.train.Saver(tf.trainable_variables()).restore(sess, checkpoint)
        return sess.run(fetches, {net.images: images})


def export(images, checkpoint, folder):
    """Saves the encoder as a SavedModel, loads it, and encodes images.

    Args:
        images: [n, size] float array.
        checkpoint: path of a checkpoint that has the weights.
        folder: where to write the SavedModel; it is empty or does not exist.

    Returns:
        dict with the `codings`, [n, 4].
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        net = Autoencoder(images.shape[1], images.dtype)
        tf.train.Saver(tf.trainable_variables()).restore(sess, checkpoint)
        inputs, outputs = {"images": net.images}, {"codings": net.codings}
        tf.saved_model.simple_save(sess, folder, inputs, outputs)
    # --- load
    with tf.Graph().as_default(), tf.Session() as sess:
        tags = [tf.saved_model.tag_constants.SERVING]
        meta = tf.saved_model.loader.load(sess, tags, folder)
        signature = meta.signature_def["serving_default"]
        # --- run
        feed = {signature.inputs["images"].name: images}
        return {n: sess.run(x.name, feed) for n, x in signature.outputs.items()}
