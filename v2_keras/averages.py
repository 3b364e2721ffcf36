"""`tf.train.ExponentialMovingAverage` (EMA) → a module that owns the averages."""

import keras
import numpy as np
import tensorflow as tf

from v2_keras.optimizers import squares

__all__ = ["train"]


class Averages(keras.callbacks.Callback):
    """Keeps moving averages of the weights; each starts from the initial weight.

    After each step, average -= (average - weight) * (1 - d) with d = min(decay, (1 +
    step) / (10 + step)), as `tf.train.ExponentialMovingAverage` with `num_updates`. An
    optimizer's `use_ema` starts after the first step, and its decay is constant. The
    callback counts the optimizer's steps: a new optimizer counts from zero again.

    Args:
        decay: share of the old averages that a step keeps; smaller in the first steps.

    Raises:
        ValueError: from `fit`: `steps_per_execution` is not 1. A callback then sees
            only the last of several steps.

    Attributes:
        weights: list of the `keras.Variable`s that are averaged.
        shadows: list of `keras.Variable`s, their averages.
    """

    def __init__(self, decay):
        super().__init__()
        self.decay, self.followed = decay, None
        self.shadows, self.weights = [], []

    def on_train_begin(self, logs=None):
        if self.model.steps_per_execution != 1:
            raise ValueError("steps_per_execution must be 1: each step is averaged")
        if self.followed is not self.model:  # a second `fit` continues
            self.followed, self.shadows, self.weights = self.model, [], []
        known = set(map(id, self.weights))
        for weight in self.model.trainable_weights:
            if id(weight) not in known:  # all of them, or one that was frozen before
                self.weights.append(weight)
                self.shadows.append(keras.Variable(weight))
        self.update = tf.function(self.follow)  # traced for the present optimizer

    def on_train_batch_end(self, batch, logs=None):
        self.update()

    def follow(self):
        step = tf.cast(self.model.optimizer.iterations.value, tf.float32)
        rest = 1 - tf.minimum(self.decay, (1 + step) / (10 + step))
        for shadow, weight in zip(self.shadows, self.weights):
            shadow.assign_sub((shadow - weight) * tf.cast(rest, shadow.dtype))

    def put(self):
        """Assigns the averages to the weights."""
        for shadow, weight in zip(self.shadows, self.weights):
            weight.assign(shadow)


def train(x, y, kernel, bias, steps, rate=0.125, decay=0.99):
    """Fits a line by gradient descent, then evaluates it with the averaged weights."""
    # --- build
    dtype = kernel.dtype.name
    dense = keras.layers.Dense(len(bias), dtype=dtype)
    model = keras.Sequential([keras.Input(x.shape[1:], dtype=dtype), dense])
    model.set_weights([kernel, bias])
    model.compile(keras.optimizers.SGD(rate), squares(dtype))
    averages, batch = Averages(decay), tf.data.Dataset.from_tensors((x, y))
    # --- step
    model.fit(batch, epochs=steps, shuffle=False, verbose=0, callbacks=[averages])
    # --- swap
    trained = model.get_weights()
    result = {"loss": np.float32(model.evaluate(batch, verbose=0))}
    averages.put()
    result["averaged_loss"] = np.float32(model.evaluate(batch, verbose=0))
    result["averaged"] = model.get_weights()
    model.set_weights(trained)
    return {**result, "weights": model.get_weights()}
