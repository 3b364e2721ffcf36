"""DCGAN: `tf.contrib.layers.batch_norm`, called twice, two `AdamOptimizer`s → modules.

The program follows carpedm20's DCGAN-tensorflow (2016), after "Unsupervised
Representation Learning with Deep Convolutional Generative Adversarial Networks"
(Radford et al., 2015).
"""

import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers, restore
from v2_eager.numerics.batch_norms import ContribBatchNorm
from v2_eager.numerics.layers import conv2d_transpose

__all__ = [
    "train",
    "evaluate",
    "export",
]


def variable(name, shape, dtype, draw=initializers.random_normal):
    return tf.Variable(draw(stddev=0.02)(shape, dtype), name=name)


def bias(name, size, dtype):
    return tf.Variable(tf.zeros([size], dtype), name=name)


def batch_norm(name, channels, dtype):
    norm = ContribBatchNorm(
        decay=0.9,
        scale=True,
        epsilon=1e-5,
        fused=False,
        updates_collections=None,
        name=name,
    )
    norm.build(channels, tf.as_dtype(dtype))
    return norm


def conv2d(x, kernel):
    return tf.nn.conv2d(x, kernel, strides=2, padding="SAME")


def deconv2d(x, kernel):
    return conv2d_transpose(x, kernel, strides=(2, 2), padding="SAME")


def lrelu(x):
    # In float64, too, tf.nn.leaky_relu would round 0.2 to float32.
    return tf.maximum(x, 0.2 * x)


def cross_entropy(logits, labels):
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)
    return tf.reduce_mean(losses)


class Generator(tf.Module):
    """Maps noise, [batch, size] floats, to [batch, 8, 8, 1] images in [-1, 1].

    Args:
        size: size of the noise.
        dtype: dtype of the variables.
    """

    def __init__(self, size, dtype):
        super().__init__()
        self.h0 = variable("generator/g_h0_lin/Matrix", [size, 2 * 2 * 8], dtype)
        self.bn0 = batch_norm("generator/g_bn0", 8, dtype)
        self.h1 = variable("generator/g_h1/w", [5, 5, 4, 8], dtype)
        self.bn1 = batch_norm("generator/g_bn1", 4, dtype)
        self.h2 = variable("generator/g_h2/w", [5, 5, 1, 4], dtype)
        self.bias2 = bias("generator/g_h2/biases", 1, dtype)

    def __call__(self, z, training):
        h0 = tf.reshape(tf.matmul(z, self.h0), [-1, 2, 2, 8])
        h0 = tf.nn.relu(self.bn0(h0, training))
        h1 = tf.nn.relu(self.bn1(deconv2d(h0, self.h1), training))
        return tf.tanh(tf.nn.bias_add(deconv2d(h1, self.h2), self.bias2))


class Discriminator(tf.Module):
    """Maps [batch, 8, 8, 1] images to [batch, 1] logits, by the batch's statistics.

    Args:
        dtype: dtype of the variables.
    """

    def __init__(self, dtype):
        super().__init__()
        draw = initializers.truncated_normal
        self.h0 = variable("discriminator/d_h0_conv/w", [5, 5, 1, 4], dtype, draw)
        self.bias0 = bias("discriminator/d_h0_conv/biases", 4, dtype)
        self.h1 = variable("discriminator/d_h1_conv/w", [5, 5, 4, 8], dtype, draw)
        self.bn1 = batch_norm("discriminator/d_bn1", 8, dtype)
        self.h2 = variable("discriminator/d_h2_lin/Matrix", [2 * 2 * 8, 1], dtype)
        self.bias2 = bias("discriminator/d_h2_lin/bias", 1, dtype)

    def __call__(self, images):
        h0 = lrelu(tf.nn.bias_add(conv2d(images, self.h0), self.bias0))
        h1 = lrelu(self.bn1(conv2d(h0, self.h1), is_training=True))
        h1 = tf.reshape(h1, [-1, 2 * 2 * 8])
        return tf.nn.bias_add(tf.matmul(h1, self.h2), self.bias2)


def d_loss(discriminator, images, fakes):
    # The real images come first: both calls update the moving averages.
    real, fake = discriminator(images), discriminator(fakes)
    loss = cross_entropy(real, tf.ones_like(real))
    return loss + cross_entropy(fake, tf.zeros_like(fake))


def g_loss(discriminator, fakes):
    logits = discriminator(fakes)
    return cross_entropy(logits, tf.ones_like(logits))


class Trainer(tf.Module):
    """The two networks, their optimizers and their steps.

    Args:
        size: size of the noise.
        dtype: dtype of the variables.
        rate: learning rate of both optimizers.
    """

    def __init__(self, size, dtype, rate):
        super().__init__()
        self.generator = Generator(size, dtype)
        self.discriminator = Discriminator(dtype)
        self.d_vars = self.discriminator.trainable_variables
        self.g_vars = self.generator.trainable_variables
        self.d_optim = optimizers.Adam(rate, beta1=0.5).create_slots(self.d_vars)
        self.g_optim = optimizers.Adam(rate, beta1=0.5, suffix="_1")
        self.g_optim.create_slots(self.g_vars)

    @tf.function
    def d_step(self, images, z):
        """Trains the discriminator, and returns its loss before the step."""
        fakes = self.generator(z, training=True)
        return self.d_optim.minimize(
            lambda: d_loss(self.discriminator, images, fakes), self.d_vars
        )

    @tf.function
    def g_step(self, z):
        """Trains the generator, and returns its loss before the step."""
        return self.g_optim.minimize(
            lambda: g_loss(self.discriminator, self.generator(z, training=True)),
            self.g_vars,
        )


def train(images, z, steps, checkpoint=None, folder=None, learning_rate=0.0002):
    """Trains the discriminator once and the generator twice in each step."""
    # --- build
    batch_size, size = z.shape[1:]
    trainer = Trainer(size, z.dtype, learning_rate)
    variables = restore.named(trainer)
    # --- restore
    if checkpoint:
        restore.by_name(checkpoint, variables)
    # --- run
    images, z, d_losses, g_losses = tf.constant(images), tf.constant(z), [], []
    for step in range(steps):
        idx = step % (len(images) // batch_size)
        batch_images = images[idx * batch_size : (idx + 1) * batch_size]
        d_losses.append(trainer.d_step(batch_images, z[step]))
        trainer.g_step(z[step])
        g_losses.append(trainer.g_step(z[step]))
    # --- save
    if folder:
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    losses = {"d_losses": np.array(d_losses), "g_losses": np.array(g_losses)}
    return {**losses, "variables": {k: v.numpy() for k, v in variables.items()}}


def evaluate(images, z, checkpoint):
    """Draws samples by the moving averages; computes losses by a batch's statistics."""
    generator, discriminator = Generator(z.shape[1], z.dtype), Discriminator(z.dtype)
    restore.by_name(checkpoint, restore.named(generator, discriminator))
    samples, fakes = generator(z, training=False), generator(z, training=True)
    losses = d_loss(discriminator, images, fakes), g_loss(discriminator, fakes)
    answer = zip(("samples", "d_loss", "g_loss"), (samples, *losses))
    return {name: tensor.numpy() for name, tensor in answer}


def export(z, checkpoint, folder):
    """Saves the generator as a SavedModel, loads it, and draws samples."""
    # --- save
    generator = Generator(z.shape[1], z.dtype)
    restore.by_name(checkpoint, restore.named(generator))
    spec = tf.TensorSpec([None, z.shape[1]], z.dtype, name="z")
    served = tf.function(
        lambda z: {"samples": generator(z, training=False)}, input_signature=[spec]
    )
    tf.saved_model.save(generator, folder, {"serving_default": served})
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    return {"samples": signature(z=tf.constant(z))["samples"].numpy()}
