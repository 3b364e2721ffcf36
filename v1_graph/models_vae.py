"""VAE: `get_variable`, `reuse=True`, `tf.random_normal(seed=)`, Adam → `tf.Module`.

A variational autoencoder (Kingma and Welling, 2013) of binary images, in the form of
the many MNIST programs of 2015 to 2018: perceptrons with 2 latent numbers.
"""

import os

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

N_PIXELS, N_HIDDEN, N_Z = 100, 10, 2
BATCH_SIZE = 16
LEARNING_RATE = 0.01


def dense(x, units, scope, activation=None):
    """Applies a dense layer: [n, features] to [n, units] floats."""
    with tf.variable_scope(scope):
        shape = [x.get_shape()[1].value, units]
        init = tf.variance_scaling_initializer(seed=1)
        kernel = tf.get_variable("kernel", shape, x.dtype, initializer=init)
        init = tf.zeros_initializer()
        bias = tf.get_variable("bias", [units], x.dtype, initializer=init)
        outputs = tf.nn.bias_add(tf.matmul(x, kernel), bias)
        return activation(outputs) if activation is not None else outputs


def encoder(x):
    """Computes the mean and the log variance of z, both [n, N_Z]."""
    with tf.variable_scope("encoder"):
        hidden = dense(x, N_HIDDEN, "h1", tf.nn.softplus)
        hidden = dense(hidden, N_HIDDEN, "h2", tf.nn.tanh)
        return dense(hidden, N_Z, "z_mean"), dense(hidden, N_Z, "z_log_sigma_sq")


def decoder(z, reuse=False):
    """Computes the logits of the pixels, [n, N_PIXELS]."""
    with tf.variable_scope("decoder", reuse=reuse):
        hidden = dense(z, N_HIDDEN, "h1", tf.nn.tanh)
        hidden = dense(hidden, N_HIDDEN, "h2", tf.nn.softplus)
        return dense(hidden, N_PIXELS, "logits")


def autoencoder(x):
    """Builds the model; returns the means of both losses over a batch.

    Args:
        x: [n, N_PIXELS] float tensor of zeros and ones.

    Returns:
        (reconstruction error, KL divergence), scalars in nats per image.
    """
    z_mean, z_log_sigma_sq = encoder(x)
    # --- reparameterization
    epsilon = tf.random_normal(tf.shape(z_mean), 0, 1, dtype=x.dtype, seed=4)
    z = z_mean + tf.exp(0.5 * z_log_sigma_sq) * epsilon
    logits = decoder(z)
    # --- losses
    reconstruction = tf.reduce_sum(
        tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), 1
    )
    kl_divergence = -0.5 * tf.reduce_sum(
        1 + z_log_sigma_sq - tf.square(z_mean) - tf.exp(z_log_sigma_sq), 1
    )
    return tf.reduce_mean(reconstruction), tf.reduce_mean(kl_divergence)


def train(images, steps, checkpoint=None, folder=None):
    """Trains a variational autoencoder with Adam, batch after batch.

    Args:
        images: [n, N_PIXELS] float array of zeros and ones, n >= BATCH_SIZE.
        steps: number of steps.
        checkpoint: path of a checkpoint with all variables to go on from, or None.
        folder: where the checkpoint "model.ckpt" is saved after the last step, or None.

    Returns:
        dict with the `losses`, the `reconstruction_errors` and the `kl_divergences`
        before each step, [steps] arrays in nats per image, and the final `variables`
        by name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        x = tf.placeholder(images.dtype, [None, N_PIXELS], name="x")
        reconstruction, kl_divergence = autoencoder(x)
        loss = reconstruction + kl_divergence
        global_step = tf.train.get_or_create_global_step()
        optimizer = tf.train.AdamOptimizer(LEARNING_RATE)
        train_op = optimizer.minimize(loss, global_step)
        saver = tf.train.Saver()
        # --- run
        sess.run(tf.global_variables_initializer())
        if checkpoint is not None:
            saver.restore(sess, checkpoint)
        rows, first = [], sess.run(global_step)
        for step in range(first, first + steps):
            offset = step * BATCH_SIZE % (len(images) - BATCH_SIZE + 1)
            feed = {x: images[offset : offset + BATCH_SIZE]}
            fetches = [train_op, loss, reconstruction, kl_divergence]
            rows.append(sess.run(fetches, feed)[1:])
        # --- save
        if folder is not None:
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        losses, reconstruction_errors, kl_divergences = np.array(rows).T
        return {
            "losses": losses,
            "reconstruction_errors": reconstruction_errors,
            "kl_divergences": kl_divergences,
            "variables": sess.run({v.op.name: v for v in tf.global_variables()}),
        }


def evaluate(images, z, checkpoint):
    """Computes both losses of images, and decodes images from given z.

    Args:
        images: see `train`.
        z: [m, N_Z] array of the same dtype.
        checkpoint: path of a checkpoint.

    Returns:
        dict with the `reconstruction_error` and the `kl_divergence`, scalars in nats
        per image, and the `samples`, [m, N_PIXELS] probabilities.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        x = tf.placeholder(images.dtype, [None, N_PIXELS], name="x")
        reconstruction, kl_divergence = autoencoder(x)
        z_in = tf.placeholder(z.dtype, [None, N_Z], name="z")
        samples = tf.nn.sigmoid(decoder(z_in, reuse=True))
        # --- run
        tf.train.Saver().restore(sess, checkpoint)
        fetches = {
            "reconstruction_error": reconstruction,
            "kl_divergence": kl_divergence,
            "samples": samples,
        }
        return sess.run(fetches, {x: images, z_in: z})


def export(z, checkpoint, folder):
    """Exports the decoder as a SavedModel, loads it and decodes images from z.

    Args:
        z: [m, N_Z] float array.
        checkpoint: path of a checkpoint.
        folder: where the SavedModel is written.

    Returns:
        dict with the `images`, [m, N_PIXELS] probabilities.
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        z_in = tf.placeholder(z.dtype, [None, N_Z], name="z")
        images = tf.nn.sigmoid(decoder(z_in), name="images")
        tf.train.Saver().restore(sess, checkpoint)
        tf.saved_model.simple_save(sess, folder, {"z": z_in}, {"images": images})
    # --- serve
    with tf.Graph().as_default(), tf.Session() as sess:
        meta_graph = tf.saved_model.load(sess, ["serve"], folder)
        signature = meta_graph.signature_def["serving_default"]
        fetches = {name: info.name for name, info in signature.outputs.items()}
        return sess.run(fetches, {signature.inputs["z"].name: z})
