"""`tf.layers.conv2d_transpose`, skips by `tf.concat`, a weight map, `metrics.mean_iou`.

A U-Net: Ronneberger, Fischer and Brox, "U-Net: Convolutional Networks for Biomedical
Image Segmentation", 2015. Each block is a `tf.Module` with the old names.
"""

import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, metrics, optimizers, restore
from v2_eager.numerics.layers import conv2d_transpose

__all__ = ["train", "evaluate", "export"]

CLASSES = 2  # background and disk


class Conv(tf.Module):
    """A convolution with SAME padding and a bias: [n, h, w, ...] → [n, h, w, filters].

    Args:
        path: scope of `kernel` and `bias`.
        shape: shape of the kernel.
        filters: number of output channels.
        dtype: dtype of the variables.
        seed: seed of the initial kernel.
    """

    def __init__(self, path, shape, filters, dtype, seed):
        super().__init__()
        kernel = initializers.he_normal(seed)(shape, dtype)
        self.kernel = tf.Variable(kernel, name=f"{path}/kernel")
        self.bias = tf.Variable(tf.zeros([filters], dtype), name=f"{path}/bias")

    def __call__(self, x):
        return tf.nn.bias_add(tf.nn.conv2d(x, self.kernel, 1, "SAME"), self.bias)


class UpConv(Conv):
    """A transposed convolution that doubles height and width; for arguments see `Conv`.

    Its kernel is [2, 2, filters, channels].
    """

    def __call__(self, x):
        up = conv2d_transpose(x, self.kernel, (2, 2), "VALID")
        return tf.nn.bias_add(up, self.bias)


class Block(tf.Module):
    """Two convolutions with ReLU: [n, h, w, channels] → [n, h, w, filters].

    Args:
        path: scope of both convolutions.
        channels, filters: numbers of input and of output channels.
        dtype: dtype of the variables.
        seed: seed of the initial kernels, less 1.
    """

    def __init__(self, path, channels, filters, dtype, seed):
        super().__init__()
        shapes = [3, 3, channels, filters], [3, 3, filters, filters]
        self.convs = [
            Conv(f"{path}/conv{i}", shape, filters, dtype, seed + i)
            for i, shape in enumerate(shapes, 1)
        ]

    def __call__(self, x):
        for conv in self.convs:
            x = tf.nn.relu(conv(x))
        return x


class UNet(tf.Module):
    """Two levels and the bottom: [n, h, w, channels] images → [n, h, w, 2] logits.

    Args:
        channels: number of channels of the images.
        dtype: dtype of the images and of the variables.
    """

    def __init__(self, channels, dtype):
        super().__init__()
        self.down1 = Block("down1", channels, 4, dtype, seed=10)
        self.down2 = Block("down2", 4, 4, dtype, seed=20)
        self.bottom = Block("bottom", 4, 8, dtype, seed=30)
        self.upconv2 = UpConv("up2/upconv", [2, 2, 4, 8], 4, dtype, seed=40)
        self.up2 = Block("up2", 4 + 4, 4, dtype, seed=40)
        self.upconv1 = UpConv("up1/upconv", [2, 2, 4, 4], 4, dtype, seed=50)
        self.up1 = Block("up1", 4 + 4, 4, dtype, seed=50)
        self.logits = Conv("logits", [1, 1, 4, CLASSES], CLASSES, dtype, seed=60)

    def __call__(self, images):
        skip1 = self.down1(images)
        skip2 = self.down2(tf.nn.max_pool2d(skip1, 2, 2, "VALID"))
        net = self.bottom(tf.nn.max_pool2d(skip2, 2, 2, "VALID"))
        net = self.up2(tf.concat([skip2, self.upconv2(net)], 3))
        net = self.up1(tf.concat([skip1, self.upconv1(net)], 3))
        return self.logits(net)


def weighted_loss(logits, masks, weights):
    """Computes the mean over all pixels of cross-entropy times weight."""
    loss_map = tf.nn.sparse_softmax_cross_entropy_with_logits(masks, logits)
    return tf.reduce_mean(loss_map * weights)


class Trainer(tf.Module):
    """A U-Net, its Momentum with a decayed learning rate, and the global step.

    Args:
        channels, dtype: see `UNet`.
    """

    def __init__(self, channels, dtype):
        super().__init__()
        self.net = UNet(channels, dtype)
        self.global_step = tf.Variable(0, False, dtype=tf.int64, name="global_step")
        self.rate = tf.keras.optimizers.schedules.ExponentialDecay(
            0.05, 20, 0.95, staircase=True
        )
        self.optimizer = optimizers.Momentum(self.rate, 0.9)
        self.optimizer.create_slots(self.net.trainable_variables)

    @tf.function
    def step(self, images, masks, weights):
        """Takes one step; returns the loss and the predicted masks before it."""
        variables = self.net.trainable_variables
        with tf.GradientTape() as tape:
            logits = self.net(images)
            loss = weighted_loss(logits, masks, weights)
        gradients = tape.gradient(loss, variables)
        self.optimizer.apply_gradients(zip(gradients, variables), self.global_step)
        return loss, tf.argmax(logits, 3)


def train(images, masks, weights, steps, checkpoint=None, folder=None):
    """Trains the U-Net with a weight for each pixel, Momentum and a decayed rate."""
    # --- build
    tf.random.set_seed(7)
    trainer = Trainer(images.shape[-1], images.dtype)
    variables = restore.named(trainer)
    writer = tf.summary.create_file_writer(folder) if folder else None
    # --- restore
    if checkpoint:
        restore.by_name(checkpoint, variables)
    # --- run
    losses, first = [], int(trainer.global_step)
    for step in range(first, first + steps):
        i = step % len(images)
        batch = map(tf.constant, (images[i], masks[i], weights[i]))
        loss, predictions = trainer.step(*batch)
        losses.append(loss.numpy())
        if writer:
            with writer.as_default(step):
                tf.summary.scalar("loss", loss)
                tf.summary.scalar("learning_rate", trainer.rate(step))
                pictures = tf.cast(255 * predictions, tf.uint8)
                tf.summary.image("predictions", tf.expand_dims(pictures, 3))
    # --- save
    if folder:
        writer.close()
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    values = {name: variable.numpy() for name, variable in variables.items()}
    return {"losses": np.array(losses), "variables": values}


def restored(channels, dtype, checkpoint):
    """Makes a U-Net with the weights of a checkpoint."""
    net = UNet(channels, dtype)
    restore.by_name(checkpoint, restore.named(net))
    return net


def evaluate(images, masks, checkpoint):
    """Restores the weights; computes masks, their mean IoU and the pixels' accuracy."""
    # --- build
    net = restored(images.shape[-1], images.dtype, checkpoint)
    measures = {"mean_iou": metrics.MeanIoU(CLASSES), "accuracy": metrics.Accuracy()}

    @tf.function
    def update(images, masks):
        predictions = tf.argmax(net(images), 3)
        for metric in measures.values():
            metric.update_state(masks, predictions)
        return predictions

    # --- run
    batches = zip(images, masks)
    predicted = [update(*map(tf.constant, batch)).numpy() for batch in batches]
    found = {name: metric.result().numpy() for name, metric in measures.items()}
    return {"masks": np.array(predicted), **found}


def export(images, checkpoint, folder):
    """Saves a SavedModel for images of any size, loads it, and segments images."""
    # --- save
    net = restored(images.shape[-1], images.dtype, checkpoint)
    shape = [None, None, None, images.shape[-1]]

    @tf.function(input_signature=[tf.TensorSpec(shape, images.dtype, name="images")])
    def segment(images):
        logits = net(images)
        return {"masks": tf.argmax(logits, 3), "probabilities": tf.nn.softmax(logits)}

    tf.saved_model.save(net, folder, signatures={"serving_default": segment})
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    # --- run
    found = signature(images=tf.constant(images))
    return {name: value.numpy() for name, value in found.items()}
