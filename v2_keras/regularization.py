"""`l2_regularizer`, `REGULARIZATION_LOSSES`, `tf.add_to_collection` → a sum."""

import keras
import numpy as np
from keras import layers

from v2_keras.optimizers import adam

__all__ = [
    "penalties",
    "contrib_penalties",
    "make_classifier",
    "train",
]


def penalties(kernel, scale):
    """Computes the L1 penalty, the L2 penalty (half the squares) and their sum.

    Keras' L2 is the sum of all squares, not half of the sum.
    """
    regularizers = [
        keras.regularizers.L1(scale),
        keras.regularizers.L2(scale / 2),
        keras.regularizers.L1L2(scale, scale / 2),
    ]
    return [regularizer(kernel) for regularizer in regularizers]


def contrib_penalties(kernel, scale):
    """Computes L1, L2 and their sum with the regularizers of contrib and slim.

    As `l2_loss`, they take half the sum of squares.
    """
    return penalties(kernel, scale)


def make_classifier(units, scale, name="classifier"):
    """Makes a network with an L2 penalty on its kernels, but not on its biases."""
    return Classifier(units, scale, name=name)


@keras.saving.register_keras_serializable("v2_keras")
class Classifier(keras.Model):
    """Dense layers with ELU between them, and the L2 penalty on their kernels.

    The penalty is scale * Σ kernel² / 2, as with `l2_regularizer`; biases have none.

    Args:
        units: list of int, the outputs of each layer.
        scale: float, the weight of the penalty.
        **options: options of `keras.Model`.

    Returns:
        A call with [n, features] inputs returns ([n, units[-1]] outputs of the last
        layer, which has no activation; the penalty, a scalar).
    """

    def __init__(self, units, scale, **options):
        super().__init__(**options)
        self.units, self.scale = units, scale
        # --- layers
        self.dense = [
            layers.Dense(
                size,
                activation="elu" if i < len(units) - 1 else None,
                kernel_regularizer=keras.regularizers.L2(scale / 2),
                name=f"layer{i}",
                dtype=self.dtype_policy,
            )
            for i, size in enumerate(units)
        ]
        for layer in self.dense:  # tf.train.Checkpoint ignores layers in lists
            setattr(self, layer.name, layer)

    def get_config(self):
        own = {"units": list(self.units), "scale": self.scale}
        return {**super().get_config(), **own}

    def call(self, x):
        for layer in self.dense:
            x = layer(x)
        # --- penalty
        return x, sum(self.losses)


def old_names(model):
    """Maps names in TensorFlow 1 to a classifier's variables; Keras' paths are equal.

    Args:
        model: a built `Classifier`.
    """
    return {variable.path: variable for variable in model.weights}


def train(
    points, labels, kernels, biases, steps, scale=0.003, rate=0.001, regularized=True
):
    """Trains a network of ELU layers with Adam, with or without L2 penalties.

    The loss includes the penalties, the metric does not. Keras computes only penalties
    that are part of the loss: with `regularized=False` a callback computes them.
    """
    # --- build
    if labels.shape[1:] != (1,):
        raise ValueError(f"labels must be [samples, 1], not {labels.shape}")
    dtype = points.dtype.name
    half, watched = keras.regularizers.L2(scale / 2), []
    penalty = half if regularized else None
    model = keras.Sequential([keras.Input(points.shape[1:], dtype=dtype)])
    for bias in biases:
        dense = layers.Dense(len(bias), "elu", kernel_regularizer=penalty, dtype=dtype)
        model.add(dense)
    model.set_weights([w for pair in zip(kernels, biases) for w in pair])

    def watch(batch, logs):
        watched.append(float(sum(half(layer.kernel) for layer in model.layers)))

    watcher = keras.callbacks.LambdaCallback(on_train_batch_begin=watch)
    # --- step
    model.compile(adam(rate), "mse", metrics=["mse"])
    # --- run
    history = model.fit(
        points,
        labels,
        len(points),
        epochs=steps,
        shuffle=False,
        callbacks=[] if regularized else [watcher],
        verbose=0,
    ).history
    weights = model.get_weights()
    loss = history["loss"] if regularized else np.add(history["mse"], watched)
    return {
        "loss": np.float32(loss),
        "error": np.float32(history["mse"]),
        "kernels": weights[::2],
        "biases": weights[1::2],
    }
