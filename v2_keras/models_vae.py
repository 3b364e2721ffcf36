"""VAE: `get_variable`, `reuse=True`, `tf.random_normal(seed=)`, Adam → `tf.Module`.

The whole program in Keras: a functional model with the noise as an input and the KL
divergence as an output. It reads and writes the checkpoints of TensorFlow 1.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

from v2_eager.numerics.initializers import variance_scaling
from v2_eager.numerics.restore import save
from v2_keras import optimizers
from v2_keras.checkpoints import restore
from v2_keras.models_convnet import with_powers

__all__ = ["train", "evaluate", "export"]

N_PIXELS, N_HIDDEN, N_Z = 100, 10, 2
BATCH_SIZE = 16
LEARNING_RATE = 0.01


def dense(units, name, dtype, activation=None):
    """Makes a dense layer; Keras' own `VarianceScaling` draws other numbers."""
    draw = variance_scaling(seed=1)
    return layers.Dense(
        units, activation, kernel_initializer=draw, dtype=dtype, name=name
    )


def decoder(dtype):
    """Makes a network from z, [n, N_Z], to the logits of the pixels, [n, N_PIXELS]."""
    return keras.Sequential(
        [
            keras.Input([N_Z], dtype=dtype),
            dense(N_HIDDEN, "h1", dtype, "tanh"),
            dense(N_HIDDEN, "h2", dtype, "softplus"),
            dense(N_PIXELS, "logits", dtype),
        ],
        name="decoder",
    )


def autoencoder(dtype):
    """Makes a compiled model from [images, noise] to the terms of the loss.

    Its outputs are the logits, [n, N_PIXELS], and the KL divergence, [n, 1]. Because
    the noise is an input, the model itself is deterministic.
    """
    images = keras.Input([N_PIXELS], dtype=dtype)
    noise = keras.Input([N_Z], dtype=dtype)
    hidden = dense(N_HIDDEN, "encoder_h1", dtype, "softplus")(images)
    hidden = dense(N_HIDDEN, "encoder_h2", dtype, "tanh")(hidden)
    mean = dense(N_Z, "encoder_z_mean", dtype)(hidden)
    log_variance = dense(N_Z, "encoder_z_log_sigma_sq", dtype)(hidden)
    # --- reparameterization
    z = mean + ops.exp(0.5 * log_variance) * noise
    logits = decoder(dtype)(z)
    # --- losses
    terms = 1 + log_variance - ops.square(mean) - ops.exp(log_variance)
    kl_divergence = -0.5 * ops.sum(terms, axis=1, keepdims=True)
    outputs = {"reconstruction": logits, "kl_divergence": kl_divergence}
    model = keras.Model([images, noise], outputs)
    model.compile(
        optimizers.adam(LEARNING_RATE),
        {
            "reconstruction": keras.losses.BinaryCrossentropy(True, dtype=dtype),
            # The divergence is positive, so its distance from 0 is the divergence.
            "kl_divergence": keras.losses.MeanAbsoluteError(dtype=dtype),
        },
        # Keras averages over the pixels; the loss is their sum.
        loss_weights={"reconstruction": N_PIXELS, "kl_divergence": 1},
    )
    model.optimizer.build(model.trainable_variables)
    return model


def old_name(weight):
    """Returns the name in TensorFlow 1; Keras allows no slash in a layer's name."""
    return weight.path.replace("encoder_", "encoder/")


def noise_source(dtype):
    """Makes a function that draws the noise of a number of images, [n, N_Z].

    The numbers are those of TensorFlow 1. `keras.random.normal` draws others.
    """
    tf.random.set_seed(7)

    # One trace for all sizes of batches: each trace draws its noise from the start.
    @tf.function(input_signature=[tf.TensorSpec([], "int32")])
    def draw(count):
        return tf.random.normal([count, N_Z], dtype=dtype, seed=4)

    return draw


def batch_of(images, noise):
    """Returns the inputs and the targets of a batch of images."""
    targets = {"reconstruction": images, "kl_divergence": np.zeros_like(images[:, :1])}
    return [images, noise(len(images)).numpy()], targets


def terms_of(logs):
    """Returns the loss and its two terms; Keras logs a term without its weight."""
    reconstruction = N_PIXELS * logs["reconstruction_loss"]
    return logs["loss"], reconstruction, logs["kl_divergence_loss"]


def train(images, steps, checkpoint=None, folder=None):
    """Trains a variational autoencoder with Adam, batch after batch."""
    # --- build
    noise, model = noise_source(images.dtype), autoencoder(images.dtype.name)
    variables = optimizers.old_names(model, old_name)
    # --- run
    if checkpoint is not None:
        restore(checkpoint, variables)
    rows, first = [], int(model.optimizer.iterations.numpy())
    for step in range(first, first + steps):
        offset = step * BATCH_SIZE % (len(images) - BATCH_SIZE + 1)
        batch = batch_of(images[offset : offset + BATCH_SIZE], noise)
        model.reset_metrics()  # else the losses are means of all batches so far
        rows.append(terms_of(model.train_on_batch(*batch, return_dict=True)))
    # --- save
    values = {name: variable.numpy() for name, variable in variables.items()}
    values = with_powers(values, model.optimizer)
    if folder is not None:
        save(os.path.join(folder, "model.ckpt"), values)
    losses, reconstruction_errors, kl_divergences = np.array(rows, images.dtype).T
    return {
        "losses": losses,
        "reconstruction_errors": reconstruction_errors,
        "kl_divergences": kl_divergences,
        "variables": values,
    }


def sampler(decode, dtype):
    """Makes a model from z to the probabilities of the pixels, as servers see it."""
    z = keras.Input([N_Z], dtype=dtype, name="z")
    return keras.Model(z, {"images": ops.sigmoid(decode(z))})


def evaluate(images, z, checkpoint):
    """Computes both losses of images, and decodes images from given z."""
    # --- build
    dtype = images.dtype
    noise, model = noise_source(dtype), autoencoder(dtype.name)
    restore(checkpoint, {old_name(weight): weight for weight in model.weights})
    sample = sampler(model.get_layer("decoder"), dtype.name)
    # --- run
    logs = model.test_on_batch(*batch_of(images, noise), return_dict=True)
    _, reconstruction, kl_divergence = map(dtype.type, terms_of(logs))
    return {
        "reconstruction_error": reconstruction,
        "kl_divergence": kl_divergence,
        "samples": sample.predict_on_batch(z)["images"],
    }


def export(z, checkpoint, folder):
    """Exports the decoder as a SavedModel, loads it and decodes images from z."""
    # --- save
    decode = decoder(z.dtype.name)
    restore(checkpoint, {weight.path: weight for weight in decode.weights})
    sampler(decode, z.dtype.name).export(folder, verbose=False)
    # --- serve
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    answer = signature(z=tf.constant(z))
    return {name: tensor.numpy() for name, tensor in answer.items()}
