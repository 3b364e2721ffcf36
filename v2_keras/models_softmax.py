"""`tf.zeros([784, 10])`, `GradientDescentOptimizer(0.5)`: softmax regression on MNIST.

The whole program in Keras: `fit`, `evaluate` and `export` of a `keras.Model`. It reads
and writes checkpoints of TensorFlow 1.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from v2_eager.numerics.restore import save
from v2_keras.basics import Losses
from v2_keras.checkpoints import restore

__all__ = ["train", "evaluate", "export"]

BATCH_SIZE = 20


def made(dtype, checkpoint):
    """Makes the compiled model, from images, [n, 784], to logits; restores it."""
    dense = layers.Dense(10, kernel_initializer="zeros", dtype=dtype)
    images = keras.Input([784], dtype=dtype, name="images")
    model = keras.Model(images, dense(images))
    model.compile(
        keras.optimizers.SGD(0.5),
        # By default it expects probabilities, and computes in float32.
        keras.losses.CategoricalCrossentropy(from_logits=True, dtype=dtype),
        metrics=["accuracy"],
    )
    if checkpoint:
        restore(checkpoint, old_names(model))
    return model


def old_names(model):
    """Maps names in TensorFlow 1, which counted variables without names, to weights."""
    kernel, bias = model.weights
    return {"Variable": kernel, "Variable_1": bias}


def batches_of(images, labels):
    """Makes a dataset of the batches; `fit` would round float64 arrays to float32."""
    return tf.data.Dataset.from_tensor_slices((images, labels)).batch(BATCH_SIZE)


def train(images, labels, steps, checkpoint=None, folder=None):
    """Trains a softmax regression by gradient descent, from a checkpoint if given."""
    model, history = made(images.dtype.name, checkpoint), Losses()
    batches = batches_of(images, labels).repeat().take(steps)
    if steps:  # without a batch `fit` warns
        model.fit(batches, shuffle=False, verbose=0, callbacks=[history])
    values = {name: weight.numpy() for name, weight in old_names(model).items()}
    if folder:
        save(os.path.join(folder, "model.ckpt"), values)
    return {"losses": np.array(history.losses, images.dtype), "variables": values}


def evaluate(images, labels, checkpoint):
    """Computes the accuracy of test images."""
    model = made(images.dtype.name, checkpoint)
    found = model.evaluate(batches_of(images, labels), verbose=0, return_dict=True)
    return {"accuracy": images.dtype.type(found["accuracy"])}


def export(images, checkpoint, folder):
    """Exports the regression as a SavedModel, loads it again, and asks it."""
    # --- save
    model = made(images.dtype.name, checkpoint)
    softmax = layers.Softmax(dtype=images.dtype.name)
    outputs = {"probabilities": softmax(model.output)}  # the name that servers see
    keras.Model(model.input, outputs).export(folder, verbose=False)
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    answer = signature(images=tf.constant(images))
    return {name: tensor.numpy() for name, tensor in answer.items()}
