"""VAE: `get_variable`, `reuse=True`, `tf.random_normal(seed=)`, Adam → `tf.Module`.

A variational autoencoder (Kingma and Welling, 2013) of binary images, in the form of
the many MNIST programs of 2015 to 2018: perceptrons with 2 latent numbers.
"""

import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers, restore

__all__ = ["train", "evaluate", "export"]

N_PIXELS, N_HIDDEN, N_Z = 100, 10, 2
BATCH_SIZE = 16
LEARNING_RATE = 0.01


class Dense(tf.Module):
    """A dense layer: [n, features] to [n, units] floats.

    Unlike `keras.layers.Dense`, it makes its variables at once, with their old names.

    Args:
        scope: prefix of the names `kernel` and `bias` in checkpoints.
        shape: [features, units].
        dtype: float dtype of the variables.
        activation: function, or None.
    """

    def __init__(self, scope, shape, dtype, activation=None):
        super().__init__()
        kernel = initializers.variance_scaling(seed=1)(shape, dtype)
        self.kernel = tf.Variable(kernel, name=f"{scope}/kernel")
        self.bias = tf.Variable(tf.zeros(shape[1:], dtype), name=f"{scope}/bias")
        self.activation = activation

    def __call__(self, x):
        outputs = tf.nn.bias_add(tf.matmul(x, self.kernel), self.bias)
        return outputs if self.activation is None else self.activation(outputs)


class Encoder(tf.Module):
    """Computes the mean and the log variance of z, both [n, N_Z].

    Args:
        dtype: float dtype of the images and of the variables.
    """

    def __init__(self, dtype):
        super().__init__()
        self.h1 = Dense("encoder/h1", [N_PIXELS, N_HIDDEN], dtype, tf.nn.softplus)
        self.h2 = Dense("encoder/h2", [N_HIDDEN, N_HIDDEN], dtype, tf.nn.tanh)
        self.z_mean = Dense("encoder/z_mean", [N_HIDDEN, N_Z], dtype)
        self.z_log_sigma_sq = Dense("encoder/z_log_sigma_sq", [N_HIDDEN, N_Z], dtype)

    def __call__(self, x):
        hidden = self.h2(self.h1(x))
        return self.z_mean(hidden), self.z_log_sigma_sq(hidden)


class Decoder(tf.Module):
    """Computes the logits of the pixels, [n, N_PIXELS].

    Args:
        dtype: float dtype of z and of the variables.
    """

    def __init__(self, dtype):
        super().__init__()
        self.h1 = Dense("decoder/h1", [N_Z, N_HIDDEN], dtype, tf.nn.tanh)
        self.h2 = Dense("decoder/h2", [N_HIDDEN, N_HIDDEN], dtype, tf.nn.softplus)
        self.logits = Dense("decoder/logits", [N_HIDDEN, N_PIXELS], dtype)

    def __call__(self, z):
        return self.logits(self.h2(self.h1(z)))

    @tf.function
    def sample(self, z):
        """Decodes z to the probabilities of the pixels."""
        return {"images": tf.sigmoid(self(z))}


class Autoencoder(tf.Module):
    """An encoder and a decoder; a call returns the means of both losses over a batch.

    Args:
        dtype: float dtype of the images and of the variables.
    """

    def __init__(self, dtype):
        super().__init__()
        self.encoder, self.decoder = Encoder(dtype), Decoder(dtype)

    def __call__(self, x):
        z_mean, z_log_sigma_sq = self.encoder(x)
        # --- reparameterization
        epsilon = tf.random.normal(tf.shape(z_mean), dtype=x.dtype, seed=4)
        z = z_mean + tf.exp(0.5 * z_log_sigma_sq) * epsilon
        logits = self.decoder(z)
        # --- losses
        reconstruction = tf.reduce_sum(
            tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), 1
        )
        kl_divergence = -0.5 * tf.reduce_sum(
            1 + z_log_sigma_sq - tf.square(z_mean) - tf.exp(z_log_sigma_sq), 1
        )
        return tf.reduce_mean(reconstruction), tf.reduce_mean(kl_divergence)


class Trainer(tf.Module):
    """An autoencoder, its Adam and the global step.

    Args:
        dtype: float dtype of the images and of the variables.
    """

    def __init__(self, dtype):
        super().__init__()
        self.model = Autoencoder(dtype)
        self.weights = self.model.trainable_variables
        self.adam = optimizers.Adam(LEARNING_RATE).create_slots(self.weights)
        self.global_step = tf.Variable(np.int64(0), False, name="global_step")
        # One trace for all sizes of batches: each trace draws its noise from the start.
        spec = tf.TensorSpec([None, N_PIXELS], dtype)
        self.step = tf.function(self.take_step, input_signature=[spec])

    def take_step(self, x):
        """Takes one step; returns the loss and its two parts before the step."""
        with tf.GradientTape() as tape:
            reconstruction, kl_divergence = self.model(x)
            loss = reconstruction + kl_divergence
        gradients = tape.gradient(loss, self.weights)
        self.adam.apply_gradients(zip(gradients, self.weights), self.global_step)
        return loss, reconstruction, kl_divergence


def train(images, steps, checkpoint=None, folder=None):
    """Trains a variational autoencoder with Adam, batch after batch."""
    # --- build
    tf.random.set_seed(7)
    trainer = Trainer(images.dtype)
    variables = restore.named(trainer)
    # --- run
    if checkpoint is not None:
        restore.by_name(checkpoint, variables)
    rows, first = [], trainer.global_step.numpy()
    for step in range(first, first + steps):
        offset = step * BATCH_SIZE % (len(images) - BATCH_SIZE + 1)
        batch = tf.constant(images[offset : offset + BATCH_SIZE])
        rows.append([tensor.numpy() for tensor in trainer.step(batch)])
    # --- save
    if folder is not None:
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    losses, reconstruction_errors, kl_divergences = np.array(rows).T
    return {
        "losses": losses,
        "reconstruction_errors": reconstruction_errors,
        "kl_divergences": kl_divergences,
        "variables": {name: v.numpy() for name, v in variables.items()},
    }


def evaluate(images, z, checkpoint):
    """Computes both losses of images, and decodes images from given z."""
    # --- build
    tf.random.set_seed(7)
    model = Autoencoder(images.dtype)
    restore.by_name(checkpoint, restore.named(model))
    # --- run
    reconstruction, kl_divergence = tf.function(model)(tf.constant(images))
    return {
        "reconstruction_error": reconstruction.numpy(),
        "kl_divergence": kl_divergence.numpy(),
        "samples": model.decoder.sample(tf.constant(z))["images"].numpy(),
    }


def export(z, checkpoint, folder):
    """Exports the decoder as a SavedModel, loads it and decodes images from z."""
    # --- save
    decoder = Decoder(z.dtype)
    restore.by_name(checkpoint, restore.named(decoder))
    spec = tf.TensorSpec([None, N_Z], z.dtype, name="z")
    served = decoder.sample.get_concrete_function(spec)
    tf.saved_model.save(decoder, folder, {"serving_default": served})
    # --- serve
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    return {name: y.numpy() for name, y in signature(z=tf.constant(z)).items()}
