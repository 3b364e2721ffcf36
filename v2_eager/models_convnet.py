"""`tf.layers.conv2d`, `batch_normalization`, `keep_prob`, `UPDATE_OPS` → modules.

It reads and writes the checkpoints of TensorFlow 1, with Adam's slots.
"""

import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers, restore
from v2_eager.numerics.batch_norms import BatchNorm

__all__ = ["train", "evaluate", "export"]

BATCH_SIZE = 16
CLASSES = 10
LEARNING_RATE = 0.01
DROPOUT_RATE = 0.25  # 1 - keep_prob


class ConvLayer(tf.Module):
    """A convolution without biases, a batch norm, ReLU and max pooling.

    A call takes [n, height, width, channels] floats and `training`, a bool. It returns
    [n, (height - 4) // 2, (width - 4) // 2, filters]. A training call updates the
    moving averages.

    Args:
        channels, filters: numbers of channels of the input and of the output.
        dtype: dtype of the images.
        seed: seed of the initial kernel.
        name: scope of the variables.
    """

    def __init__(self, channels, filters, dtype, seed, name):
        super().__init__()
        kernel = initializers.glorot_uniform(seed)([5, 5, channels, filters], dtype)
        self.kernel = tf.Variable(kernel, name=f"{name}/conv2d/kernel")
        # The default is the fused kernel, which does not support float64.
        fused, path = dtype == "float32", f"{name}/batch_normalization"
        self.norm = BatchNorm(momentum=0.9, fused=fused, name=path)
        self.norm.build(filters, kernel.dtype)

    def __call__(self, net, training):
        net = tf.nn.conv2d(net, self.kernel, 1, "VALID")
        net = tf.nn.relu(self.norm(net, training))
        return tf.nn.max_pool2d(net, 2, 2, "VALID")


class ConvNet(tf.Module):
    """Two `ConvLayer`s, dropout, and a dense layer.

    A call takes [n, 28, 28, 1] floats and `training`, a bool, and returns the logits,
    [n, 10].

    Args:
        dtype: dtype of the images.
    """

    def __init__(self, dtype):
        super().__init__()
        self.layers = [
            ConvLayer(1, 4, dtype, seed=1, name="conv1"),
            ConvLayer(4, 8, dtype, seed=2, name="conv2"),
        ]
        kernel = initializers.glorot_uniform(3)([4 * 4 * 8, CLASSES], dtype)
        self.kernel = tf.Variable(kernel, name="logits/kernel")
        self.bias = tf.Variable(tf.zeros([CLASSES], dtype), name="logits/bias")

    def __call__(self, net, training=False):
        for layer in self.layers:
            net = layer(net, training)
        net = tf.reshape(net, [-1, self.kernel.shape[0]])
        if training:
            net = tf.nn.dropout(net, DROPOUT_RATE, seed=4)
        return tf.nn.bias_add(tf.matmul(net, self.kernel), self.bias)


def metrics_of(logits, labels):
    """Computes the loss and the accuracy, two scalars."""
    cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    correct = tf.cast(tf.argmax(logits, 1) == labels, logits.dtype)
    return tf.reduce_mean(cross_entropy), tf.reduce_mean(correct)


class Trainer(tf.Module):
    """A `ConvNet` with its Adam and its global step.

    Args:
        dtype: dtype of the images.
    """

    def __init__(self, dtype):
        super().__init__()
        self.net = ConvNet(dtype)
        self.adam = optimizers.Adam(LEARNING_RATE)
        self.adam.create_slots(self.net.trainable_variables)
        self.global_step = tf.Variable(
            0, trainable=False, dtype=tf.int64, name="global_step"
        )

    @tf.function
    def step(self, images, labels):
        """Takes one step; returns the loss and the accuracy before it."""
        variables = self.net.trainable_variables
        with tf.GradientTape() as tape:
            logits = self.net(images, training=True)  # updates the moving averages
            loss, accuracy = metrics_of(logits, labels)
        gradients = tape.gradient(loss, variables)
        self.adam.apply_gradients(zip(gradients, variables), self.global_step)
        return loss, accuracy


def next_batch(images, labels, step):
    """Slices the batch of a step out of the data, which it repeats."""
    first = step * BATCH_SIZE % len(images)
    return images[first : first + BATCH_SIZE], labels[first : first + BATCH_SIZE]


def train(images, labels, steps, checkpoint=None, folder=None):
    """Trains a convolutional net with Adam, from a checkpoint if there is one."""
    # --- build
    tf.random.set_seed(7)
    trainer = Trainer(images.dtype)
    variables = restore.named(trainer)
    writer = tf.summary.create_file_writer(folder) if folder else None
    # --- restore
    if checkpoint:
        restore.by_name(checkpoint, variables)
    # --- run
    losses = []
    first = int(trainer.global_step)
    for step in range(first, first + steps):
        loss, accuracy = trainer.step(*next_batch(images, labels, step))
        losses.append(loss.numpy())
        if writer:
            with writer.as_default(step):
                tf.summary.scalar("loss", loss)
                tf.summary.scalar("accuracy", accuracy)
    # --- save
    if folder:
        writer.close()
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    values = {name: variable.numpy() for name, variable in variables.items()}
    return {"losses": np.array(losses), "variables": values}


def restored(dtype, checkpoint):
    """Makes a `ConvNet` with the weights and the moving averages of a checkpoint."""
    net = ConvNet(dtype)
    restore.by_name(checkpoint, restore.named(net))
    return net


def evaluate(images, labels, checkpoint):
    """Computes the accuracy, the loss and the confusion matrix of test images."""
    predict = tf.function(restored(images.dtype, checkpoint))
    logits = predict(tf.constant(images))
    loss, accuracy = metrics_of(logits, labels)
    confusion = tf.math.confusion_matrix(labels, tf.argmax(logits, 1), CLASSES)
    answer = {"accuracy": accuracy, "loss": loss, "confusion": confusion}
    return {name: tensor.numpy() for name, tensor in answer.items()}


def export(images, checkpoint, folder):
    """Exports the net as a SavedModel, loads it again, and asks it."""
    # --- save
    net = restored(images.dtype, checkpoint)
    spec = tf.TensorSpec([None, 28, 28, 1], images.dtype, name="images")

    @tf.function(input_signature=[spec])
    def serve(images):
        logits = net(images)
        classes = tf.argmax(logits, 1)
        return {"classes": classes, "probabilities": tf.nn.softmax(logits)}

    tf.saved_model.save(net, folder, signatures={"serving_default": serve})
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    answer = signature(images=tf.constant(images))
    return {name: tensor.numpy() for name, tensor in answer.items()}
