"""`scope.reuse_variables()`, slim, contrastive loss, `exponential_decay`, Momentum.

A Siamese network: Hadsell, Chopra and LeCun, "Dimensionality Reduction by Learning an
Invariant Mapping", 2006. One tower, called twice, replaces the reused scope.
"""

import math
import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import layers, optimizers, restore

__all__ = ["train", "evaluate", "export"]

MARGIN = 1.0


class Tower(tf.Module):
    """A small convolutional network that embeds images in the plane.

    A call takes [n, height, width, channels] floats and returns [n, 2].

    Args:
        shape: (height, width, channels) of an image.
        dtype: dtype of the images and of the variables.
    """

    def __init__(self, shape, dtype):
        super().__init__()
        self.conv1 = layers.Conv2D("siamese/conv1", 6, 3)
        self.conv2 = layers.Conv2D("siamese/conv2", 8, 3)
        self.fc1 = layers.FullyConnected("siamese/fc1", 16)
        self.fc2 = layers.FullyConnected("siamese/fc2", 2, activation=None)
        self(tf.zeros([1, *shape], dtype))  # makes the variables

    def __call__(self, images):
        net = tf.nn.max_pool2d(self.conv1(images), 2, 2, "VALID")
        net = tf.nn.max_pool2d(self.conv2(net), 2, 2, "VALID")
        net = tf.reshape(net, [-1, math.prod(net.shape[1:])])
        return self.fc2(self.fc1(net))

    def penalties(self):
        """Returns the l2 penalties of the weights; the biases have none."""
        parts = self.conv1, self.conv2, self.fc1, self.fc2
        return [5e-4 * tf.nn.l2_loss(layer.weights) for layer in parts]


def contrastive_loss(left, right, label):
    """Computes the loss of two batches of embeddings, and their distances."""
    squared = tf.reduce_sum(tf.square(left - right), 1)
    distance = tf.sqrt(squared + 1e-6)
    negative = (1 - label) * tf.square(tf.maximum(MARGIN - distance, 0))
    return tf.reduce_mean(label * squared + negative) / 2, distance


class Trainer(tf.Module):
    """A tower, its Momentum with a decayed learning rate, and the global step.

    Args:
        shape, dtype: see `Tower`.
    """

    def __init__(self, shape, dtype):
        super().__init__()
        self.tower = Tower(shape, dtype)
        self.global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")
        self.rate = tf.keras.optimizers.schedules.ExponentialDecay(
            0.1, 20, 0.96, staircase=True
        )
        self.optimizer = optimizers.Momentum(self.rate, 0.9)
        self.optimizer.create_slots(self.tower.trainable_variables)

    @tf.function
    def step(self, left, right, label):
        """Takes one step on a batch of pairs; returns the loss before it."""

        def total_loss():
            loss, _ = contrastive_loss(self.tower(left), self.tower(right), label)
            return tf.add_n([loss, *self.tower.penalties()])

        return self.optimizer.minimize(
            total_loss, self.tower.trainable_variables, self.global_step
        )


def train(lefts, rights, labels, steps, checkpoint=None, folder=None):
    """Trains the network on pairs of images with Momentum and a decayed rate."""
    # --- build
    tf.random.set_seed(7)
    trainer = Trainer(lefts.shape[2:], lefts.dtype)
    variables = restore.named(trainer)
    writer = tf.summary.create_file_writer(folder) if folder else None
    # --- restore
    if checkpoint:
        restore.by_name(checkpoint, variables)
    # --- run
    losses, first = [], int(trainer.global_step)
    for step in range(first, first + steps):
        batch = [
            tf.constant(rows[step % len(rows)]) for rows in (lefts, rights, labels)
        ]
        losses.append(trainer.step(*batch).numpy())
        if writer:
            with writer.as_default(step):
                tf.summary.scalar("loss", losses[-1])
                tf.summary.scalar("learning_rate", trainer.rate(step))
    if folder:
        writer.close()
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    values = {name: variable.numpy() for name, variable in variables.items()}
    return {"losses": np.array(losses), "variables": values}


def restored(shape, dtype, checkpoint):
    """Makes a tower with the weights of a checkpoint."""
    tower = Tower(shape, dtype)
    restore.by_name(checkpoint, restore.named(tower))
    return tower


def evaluate(left, right, label, checkpoint):
    """Restores the weights; computes embeddings, distances, loss and accuracy."""
    # --- build
    tower = restored(left.shape[1:], left.dtype, checkpoint)

    @tf.function
    def measure(left, right, label):
        embeddings = tower(left)
        loss, distance = contrastive_loss(embeddings, tower(right), label)
        same = tf.cast(distance < MARGIN / 2, label.dtype)
        return {
            "embeddings": embeddings,
            "distances": distance,
            "loss": loss,
            "accuracy": tf.reduce_mean(tf.cast(same == label, label.dtype)),
        }

    # --- run
    found = measure(*map(tf.constant, (left, right, label)))
    return {name: value.numpy() for name, value in found.items()}


def export(images, checkpoint, folder):
    """Saves a tower as a SavedModel, loads it, and embeds images."""
    # --- save
    tower = restored(images.shape[1:], images.dtype, checkpoint)
    spec = tf.TensorSpec([None, *images.shape[1:]], images.dtype, name="images")
    embed = tf.function(
        lambda images: {"embeddings": tower(images)}, input_signature=[spec]
    )
    tf.saved_model.save(tower, folder, signatures={"serving_default": embed})
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    # --- run
    found = signature(images=tf.constant(images))
    return {name: value.numpy() for name, value in found.items()}
