"""DCGAN: `tf.contrib.layers.batch_norm`, called twice, two `AdamOptimizer`s → modules.

The program follows carpedm20's DCGAN-tensorflow (2016), after "Unsupervised
Representation Learning with Deep Convolutional Generative Adversarial Networks"
(Radford et al., 2015).
"""

import os

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

__all__ = [
    "train",
    "evaluate",
    "export",
]

# `tensorflow.contrib` exists only up to 1.15, and compat.v1 does not contain it.


class batch_norm:
    def __init__(self, epsilon=1e-5, momentum=0.9, name="batch_norm"):
        self.epsilon, self.momentum, self.name = epsilon, momentum, name

    def __call__(self, x, train=True):
        return tensorflow.contrib.layers.batch_norm(
            x,
            decay=self.momentum,
            scale=True,
            epsilon=self.epsilon,
            updates_collections=None,
            is_training=train,
            scope=self.name,
            fused=False,  # the default in 2016
        )


def conv2d(x, channels, bias=True, name="conv2d"):
    with tf.variable_scope(name):
        shape = [5, 5, x.get_shape()[-1], channels]
        init = tf.truncated_normal_initializer(stddev=0.02)
        w = tf.get_variable("w", shape, x.dtype, init)
        conv = tf.nn.conv2d(x, w, strides=[1, 2, 2, 1], padding="SAME")
        return with_bias(conv, "biases") if bias else conv


def deconv2d(x, output_shape, bias=True, name="deconv2d"):
    with tf.variable_scope(name):
        shape = [5, 5, output_shape[-1], x.get_shape()[-1]]
        init = tf.random_normal_initializer(stddev=0.02)
        w = tf.get_variable("w", shape, x.dtype, init)
        deconv = tf.nn.conv2d_transpose(x, w, output_shape, strides=[1, 2, 2, 1])
        return with_bias(deconv, "biases") if bias else deconv


def linear(x, units, bias=True, name="Linear"):
    with tf.variable_scope(name):
        init = tf.random_normal_initializer(stddev=0.02)
        matrix = tf.get_variable("Matrix", [x.get_shape()[1], units], x.dtype, init)
        product = tf.matmul(x, matrix)
        return with_bias(product, "bias") if bias else product


def with_bias(x, name):
    init = tf.constant_initializer(0.0)
    return tf.nn.bias_add(x, tf.get_variable(name, [x.shape[-1]], x.dtype, init))


def lrelu(x, leak=0.2):
    return tf.maximum(x, leak * x)


def cross_entropy(logits, labels):
    return tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=labels)
    )


class DCGAN:
    def __init__(self, batch_size, z_dim, dtype):
        self.batch_size = batch_size
        self.g_bn0, self.g_bn1 = batch_norm(name="g_bn0"), batch_norm(name="g_bn1")
        self.d_bn1 = batch_norm(name="d_bn1")
        self.inputs = tf.placeholder(dtype, [batch_size, 8, 8, 1], name="real_images")
        self.z = tf.placeholder(dtype, [batch_size, z_dim], name="z")
        self.G = self.generator(self.z)
        self.sampler = self.generator(self.z, train=False, reuse=True)
        D_logits = self.discriminator(self.inputs)
        # Most programs did not have this line: the moving averages were updated for
        # the real and the fake images in any order.
        with tf.control_dependencies([D_logits]):
            D_logits_ = self.discriminator(self.G, reuse=True)
        G_logits = self.discriminator(self.G, reuse=True)
        d_loss_real = cross_entropy(D_logits, tf.ones_like(D_logits))
        d_loss_fake = cross_entropy(D_logits_, tf.zeros_like(D_logits_))
        self.d_loss = d_loss_real + d_loss_fake
        self.g_loss = cross_entropy(G_logits, tf.ones_like(G_logits))
        t_vars = tf.trainable_variables()
        self.d_vars = [var for var in t_vars if "d_" in var.name]
        self.g_vars = [var for var in t_vars if "g_" in var.name]

    def generator(self, z, train=True, reuse=False):
        with tf.variable_scope("generator") as scope:
            if reuse:
                scope.reuse_variables()
            z_ = linear(z, 2 * 2 * 8, bias=False, name="g_h0_lin")
            h0 = tf.nn.relu(self.g_bn0(tf.reshape(z_, [-1, 2, 2, 8]), train))
            h1 = deconv2d(h0, [self.batch_size, 4, 4, 4], bias=False, name="g_h1")
            h1 = tf.nn.relu(self.g_bn1(h1, train))
            return tf.nn.tanh(deconv2d(h1, [self.batch_size, 8, 8, 1], name="g_h2"))

    def discriminator(self, image, reuse=False):
        with tf.variable_scope("discriminator") as scope:
            if reuse:
                scope.reuse_variables()
            h0 = lrelu(conv2d(image, 4, name="d_h0_conv"))
            h1 = lrelu(self.d_bn1(conv2d(h0, 8, bias=False, name="d_h1_conv")))
            return linear(tf.reshape(h1, [self.batch_size, -1]), 1, name="d_h2_lin")


def train(images, z, steps, checkpoint=None, folder=None, learning_rate=0.0002):
    """Trains the discriminator once and the generator twice in each step.

    Args:
        images: [n, 8, 8, 1] float array of numbers in [-1, 1], read batch by batch.
        z: [steps, batch, size] array of the dtype of the images, noise in [-1, 1].
        steps: number of steps.
        checkpoint: path of a checkpoint to go on from, or None.
        folder: path of a folder for the last checkpoint, or None.
        learning_rate: of both optimizers.

    Returns:
        dict with `d_losses`, the loss of the discriminator before each step, and
        `g_losses`, the loss of the generator before its second update in each step,
        [steps] arrays of the dtype of the images; and the final `variables` by name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        batch_size, z_dim = z.shape[1:]
        dcgan = DCGAN(batch_size, z_dim, z.dtype)
        d_optim = tf.train.AdamOptimizer(learning_rate, beta1=0.5)
        d_optim = d_optim.minimize(dcgan.d_loss, var_list=dcgan.d_vars)
        g_optim = tf.train.AdamOptimizer(learning_rate, beta1=0.5)
        g_optim = g_optim.minimize(dcgan.g_loss, var_list=dcgan.g_vars)
        saver = tf.train.Saver(max_to_keep=1)
        # --- restore
        sess.run(tf.global_variables_initializer())
        if checkpoint:
            saver.restore(sess, checkpoint)
        # --- run
        d_losses, g_losses = [], []
        for step in range(steps):
            idx = step % (len(images) // batch_size)
            batch_images = images[idx * batch_size : (idx + 1) * batch_size]
            feed = {dcgan.inputs: batch_images, dcgan.z: z[step]}
            _, errD = sess.run([d_optim, dcgan.d_loss], feed_dict=feed)
            # Twice, so that d_loss does not go to zero.
            sess.run(g_optim, feed_dict={dcgan.z: z[step]})
            _, errG = sess.run([g_optim, dcgan.g_loss], feed_dict={dcgan.z: z[step]})
            d_losses.append(errD)
            g_losses.append(errG)
        # --- save
        if folder:
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        losses = {"d_losses": np.array(d_losses), "g_losses": np.array(g_losses)}
        return {**losses, "variables": variables}


def evaluate(images, z, checkpoint):
    """Draws samples by the moving averages; computes losses by a batch's statistics.

    Args:
        images: [batch, 8, 8, 1] float array, see `train`.
        z: [batch, size] array of the dtype of the images.
        checkpoint: path of a checkpoint.

    Returns:
        dict with the `samples`, an array of the shape of the images, and the losses
        `d_loss` and `g_loss`, scalars.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        dcgan = DCGAN(len(z), z.shape[1], z.dtype)
        tf.train.Saver().restore(sess, checkpoint)
        samples = sess.run(dcgan.sampler, {dcgan.z: z})
        # Not in one run with the samples: the losses update the moving averages.
        losses = [dcgan.d_loss, dcgan.g_loss]
        d_loss, g_loss = sess.run(losses, {dcgan.z: z, dcgan.inputs: images})
        return {"samples": samples, "d_loss": d_loss, "g_loss": g_loss}


def export(z, checkpoint, folder):
    """Saves the generator as a SavedModel, loads it, and draws samples.

    Args:
        z: [batch, size] float array.
        checkpoint: path of a checkpoint.
        folder: path of an empty folder, for the SavedModel.

    Returns:
        dict with the `samples`, a [batch, 8, 8, 1] array of the dtype of z.
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        dcgan = DCGAN(len(z), z.shape[1], z.dtype)
        tf.train.Saver().restore(sess, checkpoint)
        outputs = {"samples": dcgan.sampler}
        tf.saved_model.simple_save(sess, folder, {"z": dcgan.z}, outputs)
    # --- load
    with tf.Graph().as_default(), tf.Session() as sess:
        meta = tf.saved_model.loader.load(sess, ["serve"], folder)
        signature = meta.signature_def["serving_default"]
        feed = {signature.inputs["z"].name: z}
        return {"samples": sess.run(signature.outputs["samples"].name, feed)}
