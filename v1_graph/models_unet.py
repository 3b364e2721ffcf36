"""`tf.layers.conv2d_transpose`, skips by `tf.concat`, a weight map, `metrics.mean_iou`.

A U-Net: Ronneberger, Fischer and Brox, "U-Net: Convolutional Networks for Biomedical
Image Segmentation", 2015. Programs with `tf.layers` were written like this from 2017
on, such as those for the Carvana challenge of Kaggle.
"""

import os

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["train", "evaluate", "export"]

CLASSES = 2  # background and disk


def conv_block(net, filters, name, seed):
    """Applies two convolutions with ReLU."""
    with tf.variable_scope(name):
        for i in (1, 2):
            net = tf.layers.conv2d(
                net,
                filters,
                kernel_size=3,
                padding="same",
                activation=tf.nn.relu,
                kernel_initializer=tf.initializers.he_normal(seed + i),
                name=f"conv{i}",
            )
        return net


def upconv_concat(net, skip, filters, name, seed):
    """Doubles height and width, and appends the result to the skip connection."""
    with tf.variable_scope(name):
        init = tf.initializers.he_normal(seed)
        up = tf.layers.conv2d_transpose(
            net, filters, 2, strides=2, kernel_initializer=init, name="upconv"
        )
        return tf.concat([skip, up], axis=3)


class UNet:
    """The graph of two levels and the bottom, and of the weighted loss."""

    def __init__(self, channels, dtype):
        self.images = tf.placeholder(dtype, [None, None, None, channels], "images")
        self.masks = tf.placeholder(tf.int64, [None, None, None], "masks")
        self.weights = tf.placeholder(dtype, [None, None, None], "weights")
        conv1 = conv_block(self.images, 4, "down1", seed=10)
        pool1 = tf.layers.max_pooling2d(conv1, 2, 2)
        conv2 = conv_block(pool1, 4, "down2", seed=20)
        pool2 = tf.layers.max_pooling2d(conv2, 2, 2)
        bottom = conv_block(pool2, 8, "bottom", seed=30)
        up2 = upconv_concat(bottom, conv2, 4, "up2", seed=40)
        up2 = conv_block(up2, 4, "up2", seed=40)
        up1 = upconv_concat(up2, conv1, 4, "up1", seed=50)
        up1 = conv_block(up1, 4, "up1", seed=50)
        init = tf.initializers.he_normal(60)
        logits = tf.layers.conv2d(
            up1, CLASSES, 1, kernel_initializer=init, name="logits"
        )
        self.predictions = tf.argmax(logits, 3, name="predictions")
        self.probabilities = tf.nn.softmax(logits, name="probabilities")
        loss_map = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=self.masks, logits=logits
        )
        self.loss = tf.reduce_mean(loss_map * self.weights)


def train(images, masks, weights, steps, checkpoint=None, folder=None):
    """Trains the U-Net with a weight for each pixel, Momentum and a decayed rate.

    Args:
        images: [batches, batch, height, width, channels] float array; height and width
            are multiples of 4. The global step chooses the batch.
        masks: [batches, batch, height, width] int64 array, the classes of the pixels.
        weights: array of the shape of the masks and the dtype of the images, the
            weights of the pixels in the loss.
        steps: how many steps to take.
        checkpoint: path of a checkpoint to go on from, with all variables, or None.
        folder: where to write the summaries and `model.ckpt`, or None.

    Returns:
        dict with the `losses` before each step, [steps], and the final `variables` by
        name.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        tf.set_random_seed(7)
        net = UNet(images.shape[-1], images.dtype)
        global_step = tf.train.get_or_create_global_step()
        rate = tf.train.exponential_decay(0.05, global_step, 20, 0.95, staircase=True)
        optimizer = tf.train.MomentumOptimizer(rate, 0.9)
        train_op = optimizer.minimize(net.loss, global_step)
        tf.summary.scalar("loss", net.loss)
        tf.summary.scalar("learning_rate", rate)
        pictures = tf.cast(255 * net.predictions, tf.uint8)
        tf.summary.image("predictions", tf.expand_dims(pictures, 3))
        merged = tf.summary.merge_all()
        saver = tf.train.Saver(max_to_keep=3)
        writer = tf.summary.FileWriter(folder, sess.graph) if folder else None
        # --- restore
        if checkpoint:
            saver.restore(sess, checkpoint)
        else:
            sess.run(tf.global_variables_initializer())
        # --- run
        losses, first = [], sess.run(global_step)
        for step in range(first, first + steps):
            i = step % len(images)
            feed = {net.images: images[i], net.masks: masks[i], net.weights: weights[i]}
            _, loss, summary = sess.run([train_op, net.loss, merged], feed)
            losses.append(loss)
            if writer:
                writer.add_summary(summary, step)
        # --- save
        if folder:
            writer.close()
            saver.save(sess, os.path.join(folder, "model.ckpt"))
        variables = sess.run({v.op.name: v for v in tf.global_variables()})
        return {"losses": np.array(losses), "variables": variables}


def evaluate(images, masks, checkpoint):
    """Restores the weights; computes masks, their mean IoU and the pixels' accuracy.

    Args:
        images: [batches, batch, height, width, channels] float array.
        masks: [batches, batch, height, width] int64 array.
        checkpoint: path of a checkpoint that has the weights.

    Returns:
        dict with the predicted `masks`, an int64 array of the shape of the masks, and
        with the `mean_iou` and the `accuracy` of all batches, float32 scalars.
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        net = UNet(images.shape[-1], images.dtype)
        iou, update_iou = tf.metrics.mean_iou(net.masks, net.predictions, CLASSES)
        accuracy, update_accuracy = tf.metrics.accuracy(net.masks, net.predictions)
        updates = tf.group(update_iou, update_accuracy)
        # --- run
        sess.run(tf.local_variables_initializer())
        tf.train.Saver().restore(sess, checkpoint)
        predicted = []
        for image, mask in zip(images, masks):
            feed = {net.images: image, net.masks: mask}
            predicted.append(sess.run([net.predictions, updates], feed)[0])
        found = sess.run({"mean_iou": iou, "accuracy": accuracy})
        return {"masks": np.array(predicted), **found}


def export(images, checkpoint, folder):
    """Saves a SavedModel for images of any size, loads it, and segments images.

    Args:
        images: [n, height, width, channels] float array, with sides as in `train`.
        checkpoint: path of a checkpoint that has the weights.
        folder: where to write the SavedModel; it is empty or does not exist.

    Returns:
        dict with the `masks`, [n, height, width] int64, and the `probabilities` of the
        classes, [n, height, width, 2].
    """
    # --- save
    with tf.Graph().as_default(), tf.Session() as sess:
        net = UNet(images.shape[-1], images.dtype)
        tf.train.Saver().restore(sess, checkpoint)
        outputs = {"masks": net.predictions, "probabilities": net.probabilities}
        tf.saved_model.simple_save(sess, folder, {"images": net.images}, outputs)
    # --- load
    with tf.Graph().as_default(), tf.Session() as sess:
        meta = tf.saved_model.loader.load(sess, ["serve"], folder)
        signature = meta.signature_def["serving_default"]
        # --- run
        feed = {signature.inputs["images"].name: images}
        fetches = {name: info.name for name, info in signature.outputs.items()}
        return sess.run(fetches, feed)
