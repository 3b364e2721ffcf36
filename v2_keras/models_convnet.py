"""`tf.layers.conv2d`, `batch_normalization`, `keep_prob`, `UPDATE_OPS` → modules.

The whole program in Keras: layers, `train_on_batch`, `evaluate` and `export`. It reads
and writes the checkpoints of TensorFlow 1, with Adam's slots.
"""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from v2_eager.keras_functions import Dropout
from v2_eager.numerics import initializers
from v2_eager.numerics.restore import save
from v2_keras import optimizers
from v2_keras.checkpoints import restore

__all__ = ["train", "evaluate", "export"]

BATCH_SIZE = 16
CLASSES = 10
LEARNING_RATE = 0.01
DROPOUT_RATE = 0.25  # 1 - keep_prob


def conv_layer(filters, dtype, seed, name):
    """Makes a convolution without biases, a batch norm, ReLU and max pooling.

    Keras moves the variance by the biased variance of the batch. TensorFlow 1 moved it
    by the unbiased variance, which is larger by n / (n - 1) for n pixels of the batch.
    """
    convolution = layers.Conv2D(
        filters,
        kernel_size=5,
        use_bias=False,
        # Keras' own `GlorotUniform` draws other numbers from a seed.
        kernel_initializer=initializers.glorot_uniform(seed),
        dtype=dtype,
        name="conv2d",
    )
    norm = layers.BatchNormalization(
        momentum=0.9, dtype=dtype, name="batch_normalization"
    )
    after = layers.ReLU(dtype=dtype), layers.MaxPooling2D(2, dtype=dtype)
    return keras.Sequential([convolution, norm, *after], name=name)


def conv_net(dtype):
    """Makes a compiled model from images, [n, 28, 28, 1], to the logits, [n, 10].

    The seeds of `initializers` and `Dropout` are those of TensorFlow 1.
    """
    images = keras.Input([28, 28, 1], dtype=dtype, name="images")
    net = conv_layer(4, dtype, seed=1, name="conv1")(images)
    net = conv_layer(8, dtype, seed=2, name="conv2")(net)
    net = layers.Flatten(dtype=dtype)(net)
    net = Dropout(DROPOUT_RATE, seed=4, dtype=dtype)(net)
    draw = initializers.glorot_uniform(seed=3)
    dense = layers.Dense(CLASSES, kernel_initializer=draw, dtype=dtype, name="logits")
    model = keras.Model(images, dense(net))
    model.compile(
        optimizers.adam(LEARNING_RATE),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True, dtype=dtype),
        metrics=["accuracy"],
    )
    return model


def old_names(model):
    """Maps names in TensorFlow 1 to the weights, Adam's slots and the step."""
    model.optimizer.build(model.trainable_variables)
    return optimizers.old_names(model, lambda weight: weight.path)


def with_powers(values, adam):
    """Adds the powers of Adam's betas, which Keras computes from the step.

    Args:
        values: {name in TensorFlow 1: array}, with the `global_step`.
        adam: `keras.optimizers.Adam`.

    Returns:
        The values and `beta1_power` and `beta2_power`, float32 scalars for any dtype,
        as a checkpoint of TensorFlow 1 contains them.
    """
    betas = {"beta1_power": adam.beta_1, "beta2_power": adam.beta_2}
    count = values["global_step"] + 1
    return values | {name: np.float32(beta**count) for name, beta in betas.items()}


def next_batch(images, labels, step):
    """Slices the batch of a step out of the data, which it repeats."""
    first = step * BATCH_SIZE % len(images)
    return images[first : first + BATCH_SIZE], labels[first : first + BATCH_SIZE]


def train(images, labels, steps, checkpoint=None, folder=None):
    """Trains a convolutional net with Adam, from a checkpoint if there is one."""
    # --- build
    tf.random.set_seed(7)
    model = conv_net(images.dtype.name)
    writer = tf.summary.create_file_writer(folder) if folder else None
    # --- restore
    if checkpoint:
        restore(checkpoint, old_names(model))
    # --- run
    losses = []
    first = int(model.optimizer.iterations.numpy())
    for step in range(first, first + steps):
        model.reset_metrics()  # else they are means of all batches so far
        batch = next_batch(images, labels, step)
        logs = model.train_on_batch(*batch, return_dict=True)
        losses.append(logs["loss"])
        if writer:
            with writer.as_default(step):
                tf.summary.scalar("loss", logs["loss"])
                tf.summary.scalar("accuracy", logs["accuracy"])
    # --- save
    values = {name: variable.numpy() for name, variable in old_names(model).items()}
    values = with_powers(values, model.optimizer)
    if folder:
        writer.close()
        save(os.path.join(folder, "model.ckpt"), values)
    return {"losses": np.array(losses, images.dtype), "variables": values}


def restored(dtype, checkpoint):
    """Makes a model with the weights and the moving averages of a checkpoint."""
    model = conv_net(dtype)
    restore(checkpoint, {weight.path: weight for weight in model.weights})
    return model


def evaluate(images, labels, checkpoint):
    """Computes the accuracy, the loss and the confusion matrix of test images."""
    model, dtype = restored(images.dtype.name, checkpoint), images.dtype.type
    data = tf.data.Dataset.from_tensor_slices((images, labels)).batch(BATCH_SIZE)
    found = model.evaluate(data, verbose=0, return_dict=True)
    answer = {name: dtype(value) for name, value in found.items()}
    classes = model.predict(data, verbose=0).argmax(axis=1)
    answer["confusion"] = tf.math.confusion_matrix(labels, classes, CLASSES).numpy()
    return answer


def export(images, checkpoint, folder):
    """Exports the net as a SavedModel, loads it again, and asks it."""
    # --- save
    dtype = images.dtype.name
    model = restored(dtype, checkpoint)
    outputs = {
        "classes": keras.ops.cast(keras.ops.argmax(model.output, axis=1), "int64"),
        "probabilities": layers.Softmax(dtype=dtype)(model.output),
    }
    keras.Model(model.input, outputs).export(folder, verbose=False)
    # --- load
    signature = tf.saved_model.load(folder).signatures["serving_default"]
    answer = signature(images=tf.constant(images))
    return {name: tensor.numpy() for name, tensor in answer.items()}
