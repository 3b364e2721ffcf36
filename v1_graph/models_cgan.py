"""Conditional GAN: `variable_scope(reuse)`, `tf.gradients` in a loss, two Adams.

Mirza and Osindero, "Conditional Generative Adversarial Nets", 2014, with the critic of
Gulrajani et al., "Improved Training of Wasserstein GANs", 2017, in the form of the
programs of 2017 to 2019.
"""

import os

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

CLASSES = 3
HIDDEN = 16
LAMBDA = 10  # weight of the gradient penalty
CRITIC_ITERS = 2  # critic steps for each step of the generator; the paper has 5


def lrelu(x):
    return tf.maximum(x, 0.2 * x)


def dense(inputs, units, activation=None):
    xavier_init = tf.glorot_uniform_initializer(seed=1)
    return tf.layers.dense(inputs, units, activation, kernel_initializer=xavier_init)


def generator(z, y, X_dim, reuse=False):
    with tf.variable_scope("generator", reuse=reuse):
        h1 = dense(tf.concat([z, y], axis=1), HIDDEN, tf.nn.relu)
        return dense(h1, X_dim, tf.nn.sigmoid)


def discriminator(x, y, reuse=False):
    # No batch norm: the penalty is for the slope of each example alone.
    with tf.variable_scope("discriminator", reuse=reuse):
        h1 = dense(tf.concat([x, y], axis=1), HIDDEN, lrelu)
        h2 = dense(h1, HIDDEN, lrelu)
        return dense(h2, 1)


class CGAN:
    """The graph: placeholders, fake images, scores and losses."""

    def __init__(self, X_dim, z_dim, dtype):
        self.X = tf.placeholder(dtype, [None, X_dim], name="X")
        self.labels = tf.placeholder(tf.int32, [None], name="labels")
        self.z = tf.placeholder(dtype, [None, z_dim], name="z")
        # Programs had tf.random_uniform([batch_size, 1], 0., 1.) here.
        self.alpha = tf.placeholder(dtype, [None, 1], name="alpha")
        y = tf.one_hot(self.labels, CLASSES, dtype=dtype)
        self.G_sample = generator(self.z, y, X_dim)
        self.D_real = discriminator(self.X, y)
        D_fake = discriminator(self.G_sample, y, reuse=True)
        self.wasserstein = tf.reduce_mean(self.D_real) - tf.reduce_mean(D_fake)
        self.g_loss = -tf.reduce_mean(D_fake)

        differences = self.G_sample - self.X
        interpolates = self.X + (self.alpha * differences)
        D_inter = discriminator(interpolates, y, reuse=True)
        gradients = tf.gradients(D_inter, [interpolates])[0]
        slopes = tf.sqrt(tf.reduce_sum(tf.square(gradients), reduction_indices=[1]))
        self.gradient_penalty = tf.reduce_mean((slopes - 1.0) ** 2)
        self.d_loss = -self.wasserstein + LAMBDA * self.gradient_penalty


def train(images, labels, z, alpha, steps, checkpoint=None, folder=None, rate=1e-4):
    """Trains the critic `CRITIC_ITERS` times and the generator once in each step.

    Args:
        images: [batches, batch, pixels] float array of numbers in [0, 1]. Each step of
            the critic takes the next batch.
        labels: [batches, batch] int32 array of classes.
        z: [steps, CRITIC_ITERS + 1, batch, size] array of the dtype of the images,
            noise in [-1, 1]; the last one in each step is that of the generator. The
            global step chooses the row.
        alpha: [steps, CRITIC_ITERS, batch, 1] array of the same dtype, the places
            between real and fake images, uniform in [0, 1].
        steps: how many steps to take.
        checkpoint: path of a checkpoint to go on from, with all variables, or None.
        folder: where to write the summaries and `model.ckpt`, or None.
        rate: learning rate of both optimizers.

    Returns:
        dict with the `d_losses`, [steps * CRITIC_ITERS], and the `g_losses`, [steps],
        each before a step of its network, and the final `variables` by name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        gan = CGAN(images.shape[2], z.shape[3], images.dtype)
        t_vars = tf.trainable_variables()
        d_vars = [v for v in t_vars if v.name.startswith("discriminator")]
        g_vars = [v for v in t_vars if v.name.startswith("generator")]
        global_step = tf.train.get_or_create_global_step()
        d_solver = tf.train.AdamOptimizer(rate, beta1=0.5, beta2=0.9)
        g_solver = tf.train.AdamOptimizer(rate, beta1=0.5, beta2=0.9)
        # Most programs did not have this line: nothing else orders the penalty, which
        # has no gradient for the biases, before their update.
        with tf.control_dependencies([gan.d_loss]):
            d_train_op = d_solver.minimize(gan.d_loss, var_list=d_vars)
        g_train_op = g_solver.minimize(gan.g_loss, global_step, var_list=g_vars)
        d_sum = tf.summary.merge(
            [
                tf.summary.scalar("d_loss", gan.d_loss),
                tf.summary.scalar("gradient_penalty", gan.gradient_penalty),
            ]
        )
        g_sum = tf.summary.scalar("g_loss", gan.g_loss)
        saver = tf.train.Saver(max_to_keep=5)
        writer = tf.summary.FileWriter(folder, sess.graph) if folder else None
        # --- restore
        sess.run(tf.global_variables_initializer())
        if checkpoint:
            saver.restore(sess, checkpoint)
        # --- run
        d_losses, g_losses = [], []
        first = sess.run(global_step)
        for it in range(first, first + steps):
            for i in range(CRITIC_ITERS):
                batch = (it * CRITIC_ITERS + i) % len(images)
                feed = {gan.X: images[batch], gan.labels: labels[batch]}
                feed.update({gan.z: z[it][i], gan.alpha: alpha[it][i]})
                _, d_loss, d_str = sess.run([d_train_op, gan.d_loss, d_sum], feed)
                d_losses.append(d_loss)
            # The labels are those of the last batch.
            feed = {gan.z: z[it][-1], gan.labels: labels[batch]}
            _, g_loss, g_str = sess.run([g_train_op, gan.g_loss, g_sum], feed)
            g_losses.append(g_loss)
            if writer:
                writer.add_summary(d_str, it)
                writer.add_summary(g_str, it)
        # --- save
        if folder:
            writer.close()
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        return {
            "d_losses": np.array(d_losses),
            "g_losses": np.array(g_losses),
            "variables": sess.run({v.op.name: v for v in tf.global_variables()}),
        }


def evaluate(images, labels, z, checkpoint):
    """Computes the critic's loss on other images, without the penalty.

    Args:
        images: [n, pixels] float array.
        labels: [n] int32 array of classes.
        z: [n, size] array of the dtype of the images.
        checkpoint: path of a checkpoint that has the weights.

    Returns:
        dict with the `d_loss`, the negative estimate of the Wasserstein distance, the
        `scores` of the real images, [n, 1], and the fake `samples`, [n, pixels].
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- restore
        gan = CGAN(images.shape[1], z.shape[1], images.dtype)
        tf.train.Saver(tf.trainable_variables()).restore(sess, checkpoint)
        # --- run
        fetches = {
            "d_loss": -gan.wasserstein,
            "scores": gan.D_real,
            "samples": gan.G_sample,
        }
        return sess.run(fetches, {gan.X: images, gan.labels: labels, gan.z: z})


def export(z, labels, pixels, checkpoint, folder):
    """Saves the generator as a SavedModel, loads it, and draws images of classes.

    Args:
        z: [n, size] float array.
        labels: [n] int32 array of classes.
        pixels: number of pixels of an image.
        checkpoint: path of a checkpoint that has the weights.
        folder: where to write the SavedModel; it is empty or does not exist.

    Returns:
        dict with the `samples`, [n, pixels].
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        gan = CGAN(pixels, z.shape[1], z.dtype)
        tf.train.Saver(tf.trainable_variables()).restore(sess, checkpoint)
        inputs, outputs = {"z": gan.z, "labels": gan.labels}, {"samples": gan.G_sample}
        tf.saved_model.simple_save(sess, folder, inputs, outputs)
    # --- load
    with tf.Graph().as_default(), tf.Session() as sess:
        tags = [tf.saved_model.tag_constants.SERVING]
        meta = tf.saved_model.loader.load(sess, tags, folder)
        signature = meta.signature_def["serving_default"]
        # --- run
        feed = {signature.inputs["z"].name: z, signature.inputs["labels"].name: labels}
        return {"samples": sess.run(signature.outputs["samples"].name, feed)}
