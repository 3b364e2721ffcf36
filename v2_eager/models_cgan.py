"""Conditional GAN: `variable_scope(reuse)`, `tf.gradients` in a loss, two Adams.

Mirza and Osindero, "Conditional Generative Adversarial Nets", 2014, with the critic of
Gulrajani et al., "Improved Training of Wasserstein GANs", 2017: nested tapes give the
gradient of the penalty.
"""

import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers, restore

__all__ = ["train", "evaluate", "export"]

CLASSES = 3
HIDDEN = 16
LAMBDA = 10  # weight of the gradient penalty
CRITIC_ITERS = 2  # critic steps for each step of the generator; the paper has 5


def lrelu(x):
    # In float64, too, tf.nn.leaky_relu would round 0.2 to float32.
    return tf.maximum(x, 0.2 * x)


class Dense(tf.Module):
    """A dense layer of [batch, channels] floats.

    Unlike `keras.layers.Dense`, it makes its variables at once, with their old names.

    Args:
        path: scope of the variables, such as "generator/dense_1".
        channels, units: sizes of the input and of the output.
        dtype: dtype of the variables.
    """

    def __init__(self, path, channels, units, dtype):
        super().__init__()
        kernel = initializers.glorot_uniform(seed=1)([channels, units], dtype)
        self.kernel = tf.Variable(kernel, name=f"{path}/kernel")
        self.bias = tf.Variable(tf.zeros([units], dtype), name=f"{path}/bias")

    def __call__(self, x):
        return tf.nn.bias_add(tf.matmul(x, self.kernel), self.bias)


def conditioned(x, labels):
    """Appends the labels as one-hot vectors to each row of x."""
    return tf.concat([x, tf.one_hot(labels, CLASSES, dtype=x.dtype)], axis=1)


class Generator(tf.Module):
    """Maps noise, [batch, size] floats, and classes, [batch], to [batch, pixels].

    Args:
        size: size of the noise.
        pixels: number of pixels of an image.
        dtype: dtype of the variables.
    """

    def __init__(self, size, pixels, dtype):
        super().__init__()
        self.h1 = Dense("generator/dense", size + CLASSES, HIDDEN, dtype)
        self.out = Dense("generator/dense_1", HIDDEN, pixels, dtype)

    def __call__(self, z, labels):
        return tf.sigmoid(self.out(tf.nn.relu(self.h1(conditioned(z, labels)))))


class Critic(tf.Module):
    """Maps [batch, pixels] images and their classes, [batch], to [batch, 1] scores.

    Args:
        pixels, dtype: see `Generator`.
    """

    def __init__(self, pixels, dtype):
        super().__init__()
        self.h1 = Dense("discriminator/dense", pixels + CLASSES, HIDDEN, dtype)
        self.h2 = Dense("discriminator/dense_1", HIDDEN, HIDDEN, dtype)
        self.out = Dense("discriminator/dense_2", HIDDEN, 1, dtype)

    def __call__(self, x, labels):
        return self.out(lrelu(self.h2(lrelu(self.h1(conditioned(x, labels))))))


def wasserstein(critic, images, fakes, labels):
    """Computes the critic's estimate of the distance, and the scores of real images."""
    real, fake = critic(images, labels), critic(fakes, labels)
    return tf.reduce_mean(real) - tf.reduce_mean(fake), real


def gradient_penalty(critic, images, fakes, labels, alpha):
    """Computes the mean of (slope - 1)² between real and fake images.

    Call it in the tape of the critic's loss, which records the inner tape's gradients.
    """
    interpolates = images + alpha * (fakes - images)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(interpolates)  # a tensor is not watched by itself
        scores = critic(interpolates, labels)
    gradients = tape.gradient(scores, interpolates)
    slopes = tf.sqrt(tf.reduce_sum(tf.square(gradients), axis=1))
    return tf.reduce_mean((slopes - 1.0) ** 2)


class Trainer(tf.Module):
    """The two networks, their Adams, the global step and the steps.

    Args:
        size, pixels, dtype: see `Generator`.
        rate: learning rate of both optimizers.
    """

    def __init__(self, size, pixels, dtype, rate):
        super().__init__()
        self.generator = Generator(size, pixels, dtype)
        self.critic = Critic(pixels, dtype)
        self.d_vars = self.critic.trainable_variables
        self.g_vars = self.generator.trainable_variables
        self.d_solver = optimizers.Adam(rate, beta1=0.5, beta2=0.9)
        self.g_solver = optimizers.Adam(rate, beta1=0.5, beta2=0.9, suffix="_1")
        self.d_solver.create_slots(self.d_vars)
        self.g_solver.create_slots(self.g_vars)
        self.global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")

    @tf.function
    def d_step(self, images, labels, z, alpha):
        """Trains the critic; returns its loss and the penalty before the step."""
        fakes, critic = self.generator(z, labels), self.critic
        with tf.GradientTape() as tape:
            penalty = gradient_penalty(critic, images, fakes, labels, alpha)
            loss = LAMBDA * penalty - wasserstein(critic, images, fakes, labels)[0]
        gradients = tape.gradient(loss, self.d_vars)
        self.d_solver.apply_gradients(zip(gradients, self.d_vars))
        return loss, penalty

    @tf.function
    def g_step(self, z, labels):
        """Trains the generator; returns its loss before the step."""
        return self.g_solver.minimize(
            lambda: -tf.reduce_mean(self.critic(self.generator(z, labels), labels)),
            self.g_vars,
            self.global_step,
        )


def train(images, labels, z, alpha, steps, checkpoint=None, folder=None, rate=1e-4):
    """Trains the critic `CRITIC_ITERS` times and the generator once in each step."""
    # --- build
    tf.random.set_seed(7)
    trainer = Trainer(z.shape[3], images.shape[2], images.dtype, rate)
    variables = restore.named(trainer)
    writer = tf.summary.create_file_writer(folder) if folder else None
    # --- restore
    if checkpoint:
        restore.by_name(checkpoint, variables)
    # --- run
    images, labels, z, alpha = map(tf.constant, (images, labels, z, alpha))
    d_losses, g_losses, first = [], [], int(trainer.global_step)
    for it in range(first, first + steps):
        for i in range(CRITIC_ITERS):
            batch = (it * CRITIC_ITERS + i) % len(images)
            d_loss, penalty = trainer.d_step(
                images[batch], labels[batch], z[it][i], alpha[it][i]
            )
            d_losses.append(d_loss)
        # The labels are those of the last batch.
        g_losses.append(trainer.g_step(z[it][-1], labels[batch]))
        if writer:
            with writer.as_default(it):
                tf.summary.scalar("d_loss", d_loss)
                tf.summary.scalar("gradient_penalty", penalty)
                tf.summary.scalar("g_loss", g_losses[-1])
    # --- save
    if folder:
        writer.close()
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    return {
        "d_losses": np.array(d_losses),
        "g_losses": np.array(g_losses),
        "variables": {name: v.numpy() for name, v in variables.items()},
    }


def evaluate(images, labels, z, checkpoint):
    """Computes the critic's loss on other images, without the penalty."""
    # --- restore
    generator = Generator(z.shape[1], images.shape[1], z.dtype)
    critic = Critic(images.shape[1], z.dtype)
    restore.by_name(checkpoint, restore.named(generator, critic))
    # --- run
    samples = generator(tf.constant(z), labels)
    distance, scores = wasserstein(critic, tf.constant(images), samples, labels)
    found = {"d_loss": -distance, "scores": scores, "samples": samples}
    return {name: value.numpy() for name, value in found.items()}


def export(z, labels, pixels, checkpoint, folder):
    """Saves the generator as a SavedModel, loads it, and draws images of classes."""
    # --- save
    generator = Generator(z.shape[1], pixels, z.dtype)
    restore.by_name(checkpoint, restore.named(generator))
    specs = [
        tf.TensorSpec([None, z.shape[1]], z.dtype, name="z"),
        tf.TensorSpec([None], tf.int32, name="labels"),
    ]
    draw = tf.function(
        lambda z, labels: {"samples": generator(z, labels)}, input_signature=specs
    )
    tf.saved_model.save(generator, folder, signatures={"serving_default": draw})
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    # --- run
    found = signature(z=tf.constant(z), labels=tf.constant(labels))
    return {"samples": found["samples"].numpy()}
