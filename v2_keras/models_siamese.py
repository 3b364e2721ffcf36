"""`scope.reuse_variables()`, slim, contrastive loss, `exponential_decay`, Momentum.

The whole program in Keras: one `Sequential` tower, called twice in a functional model.
It reads and writes the checkpoints of TensorFlow 1, with the slots of Momentum.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

from v2_eager.numerics.initializers import contrib_xavier
from v2_eager.numerics.restore import save
from v2_keras.basics import L2
from v2_keras.checkpoints import restore
from v2_keras.models_unet import LegacyMomentum, with_slots

__all__ = ["train", "evaluate", "export"]

MARGIN = 1.0
RATE = keras.optimizers.schedules.ExponentialDecay(0.1, 20, 0.96, staircase=True)


def tower(shape, dtype):
    """Makes a convolutional network from images, [n, *shape], to points, [n, 2]."""
    weights = {
        "kernel_initializer": contrib_xavier(seed=1),
        "kernel_regularizer": L2(5e-4 / 2),  # slim's `l2_loss` is half the sum
        "dtype": dtype,
    }
    options = {"padding": "same", "activation": "relu", **weights}
    return keras.Sequential(
        [
            keras.Input(shape, dtype=dtype),
            layers.Conv2D(6, 3, name="conv1", **options),
            layers.MaxPooling2D(dtype=dtype),
            layers.Conv2D(8, 3, name="conv2", **options),
            layers.MaxPooling2D(dtype=dtype),
            layers.Flatten(dtype=dtype),
            layers.Dense(16, "relu", name="fc1", **weights),
            layers.Dense(2, name="fc2", **weights),
        ],
        name="siamese",
    )


def distance(difference):
    """Computes the distance of two points from their difference: [n, 2] → [n].

    Without the 1e-6 the gradient is NaN for equal points.
    """
    return ops.sqrt(ops.sum(ops.square(difference), axis=1) + 1e-6)


@keras.saving.register_keras_serializable("v2_keras")
class ContrastiveLoss(keras.losses.Loss):
    """Contrastive loss: half the square of a distance, or of what it lacks to `MARGIN`.

    `y_true` is [n], 1 for a positive pair and 0 for a negative pair. `y_pred` is
    [n, 2], the differences of the embeddings.

    Args:
        **options: arguments of `keras.losses.Loss`: `name`, `reduction`, `dtype`.
    """

    def call(self, y_true, y_pred):
        squared = ops.sum(ops.square(y_pred), axis=1)
        short = ops.square(ops.maximum(MARGIN - distance(y_pred), 0))
        return (y_true * squared + (1 - y_true) * short) / 2

    def get_config(self):  # Keras' own has no dtype
        return {**super().get_config(), "dtype": self.dtype}


def siamese(shape, dtype):
    """Makes a tower and a compiled model from pairs of images to differences."""
    embed = tower(shape, dtype)
    pair = [keras.Input(shape, dtype=dtype, name=name) for name in ("left", "right")]
    difference = layers.Subtract(dtype=dtype)([embed(images) for images in pair])
    model = keras.Model(pair, difference)
    # The slot of Keras' own `SGD` would contain the old rates.
    model.compile(LegacyMomentum(RATE, 0.9), ContrastiveLoss(dtype=dtype))
    model.optimizer.build(model.trainable_variables)
    return embed, model


def old_name(weight):
    """Returns the name in TensorFlow 1: slim had `weights` and `biases`."""
    return weight.path.replace("kernel", "weights").replace("bias", "biases")


def train(lefts, rights, labels, steps, checkpoint=None, folder=None):
    """Trains the network on pairs of images with Momentum and a decayed rate."""
    # --- build
    tf.random.set_seed(7)
    _, model = siamese(lefts.shape[2:], lefts.dtype.name)
    variables = with_slots(model, old_name)
    writer = tf.summary.create_file_writer(folder) if folder else None
    # --- restore
    if checkpoint:
        restore(checkpoint, variables)
    # --- run
    losses, first = [], int(model.optimizer.iterations.numpy())
    for step in range(first, first + steps):
        i = step % len(lefts)
        model.reset_metrics()  # else the loss is a mean of all batches so far
        loss = model.train_on_batch([lefts[i], rights[i]], labels[i])
        losses.append(lefts.dtype.type(loss))
        if writer:
            with writer.as_default(step):
                tf.summary.scalar("loss", losses[-1])
                tf.summary.scalar("learning_rate", RATE(step))
    values = {name: variable.numpy() for name, variable in variables.items()}
    if folder:
        writer.close()
        save(os.path.join(folder, "model.ckpt"), values)
    return {"losses": np.array(losses), "variables": values}


def restored(images, checkpoint):
    """Makes a tower and a model of the images' shape and dtype, with old weights."""
    embed, model = siamese(images.shape[1:], images.dtype.name)
    restore(checkpoint, {old_name(weight): weight for weight in embed.weights})
    return embed, model


def evaluate(left, right, label, checkpoint):
    """Restores the weights; computes embeddings, distances, loss and accuracy."""
    embed, model = restored(left, checkpoint)
    difference = model.predict_on_batch([left, right])
    distances = distance(difference).numpy()
    same = distances < MARGIN / 2
    return {
        "embeddings": embed.predict_on_batch(left),
        "distances": distances,
        # `model.evaluate` would add the penalties.
        "loss": model.loss(label, difference).numpy(),
        "accuracy": np.mean(same == label, dtype=label.dtype),
    }


def export(images, checkpoint, folder):
    """Saves a tower as a SavedModel, loads it, and embeds images."""
    # --- save
    embed, _ = restored(images, checkpoint)
    shape, dtype = images.shape[1:], images.dtype.name
    served = keras.Input(shape, dtype=dtype, name="images")
    outputs = {"embeddings": embed(served)}  # the name that servers see
    keras.Model(served, outputs).export(folder, verbose=False)
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    # --- run
    answer = signature(images=tf.constant(images))
    return {name: tensor.numpy() for name, tensor in answer.items()}
