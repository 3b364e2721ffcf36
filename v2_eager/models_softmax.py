"""`tf.zeros([784, 10])`, `GradientDescentOptimizer(0.5)`: softmax regression on MNIST.

It reads and writes checkpoints of TensorFlow 1: W is `Variable`, b is `Variable_1`.
"""

import os

import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers, restore

__all__ = ["train", "evaluate", "export"]

BATCH_SIZE = 20


class SoftmaxRegression(tf.Module):
    """A linear layer from images, [n, 784], to logits, [n, 10].

    Args:
        dtype: dtype of the images.
    """

    def __init__(self, dtype):
        super().__init__()
        self.optimizer = optimizers.GradientDescent(0.5)
        # TensorFlow 1 named variables without names by their order.
        self.W = tf.Variable(tf.zeros([784, 10], dtype), name="Variable")
        self.b = tf.Variable(tf.zeros([10], dtype), name="Variable_1")

    def __call__(self, images):
        return tf.matmul(images, self.W) + self.b

    @tf.function
    def step(self, images, labels):
        """Takes one step; returns the loss before it."""
        with tf.GradientTape() as tape:
            logits = self(images)
            losses = tf.nn.softmax_cross_entropy_with_logits(labels, logits)
            loss = tf.reduce_mean(losses)
        variables = [self.W, self.b]
        gradients = tape.gradient(loss, variables)
        self.optimizer.apply_gradients(zip(gradients, variables))
        return loss


def made(dtype, checkpoint):
    """Makes a `SoftmaxRegression` and a dict of its variables by name; restores it."""
    model = SoftmaxRegression(dtype)
    variables = restore.named(model.W, model.b)
    if checkpoint:
        restore.by_name(checkpoint, variables)
    return model, variables


def next_batch(images, labels, step):
    """Slices the batch of a step out of the data, which it repeats."""
    first = step * BATCH_SIZE % len(images)
    return images[first : first + BATCH_SIZE], labels[first : first + BATCH_SIZE]


def train(images, labels, steps, checkpoint=None, folder=None):
    """Trains a softmax regression by gradient descent, from a checkpoint if given."""
    model, variables = made(images.dtype, checkpoint)
    batches = [next_batch(images, labels, step) for step in range(steps)]
    losses = [model.step(*batch).numpy() for batch in batches]
    if folder:
        restore.save(os.path.join(folder, "model.ckpt"), variables)
    values = {name: variable.numpy() for name, variable in variables.items()}
    return {"losses": np.array(losses), "variables": values}


def evaluate(images, labels, checkpoint):
    """Computes the accuracy of test images."""
    predict = tf.function(made(images.dtype, checkpoint)[0])
    logits = predict(tf.constant(images))
    correct = tf.argmax(logits, 1) == tf.argmax(labels, 1)
    accuracy = tf.reduce_mean(tf.cast(correct, logits.dtype))
    return {"accuracy": accuracy.numpy()}


def export(images, checkpoint, folder):
    """Exports the regression as a SavedModel, loads it again, and asks it."""
    # --- save
    model, _ = made(images.dtype, checkpoint)
    spec = tf.TensorSpec([None, 784], images.dtype, name="images")

    @tf.function(input_signature=[spec])
    def serve(images):
        return {"probabilities": tf.nn.softmax(model(images))}

    tf.saved_model.save(model, folder, signatures={"serving_default": serve})
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    answer = signature(images=tf.constant(images))
    return {name: tensor.numpy() for name, tensor in answer.items()}
