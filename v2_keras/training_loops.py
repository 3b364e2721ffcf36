"""Training loops: sessions, hooks and supervisors → a step function in a plain loop."""

import io
import math

import keras
import numpy as np
import tensorflow as tf

from v2_keras.basics import Losses
from v2_keras.optimizers import line

__all__ = [
    "feed_loop",
    "epoch_loop",
    "early_stopping",
]

RATE = keras.optimizers.schedules.ExponentialDecay(0.125, 4, 0.5, staircase=True)


class Printer(Losses):
    """A hook that prints: callbacks know the model, and so its optimizer's step."""

    def __init__(self, every, file):
        super().__init__()
        self.every, self.file = every, file

    def on_train_batch_end(self, batch, logs=None):
        super().on_train_batch_end(batch, logs)
        step = int(self.model.optimizer.iterations)
        if step % self.every == 0:
            print(f"step {step}: loss {self.losses[-1]:.4f}", file=self.file)


def feed_loop(batches, start, steps, print_every=2):
    """Fits a line by gradient descent, fed batch by batch, and prints as it goes."""
    # --- build
    model = line(start, keras.optimizers.SGD(RATE))
    printer = Printer(print_every, io.StringIO())
    # --- run
    due = tf.data.Dataset.from_tensor_slices(batches).repeat().take(steps)
    model.fit(due, shuffle=False, verbose=0, callbacks=[printer])
    return {
        "losses": list(np.array(printer.losses, start[0].dtype)),
        "weights": model.get_weights(),
        "global_step": model.optimizer.iterations.numpy(),
        "printed": printer.file.getvalue(),
    }


def epoch_loop(data, start, epochs, batch_size=2):
    """Fits a line to a dataset, epoch after epoch, until it ends."""
    # --- build
    model = line(start, keras.optimizers.SGD(0.125))
    history = Losses()
    # --- run
    model.fit(*data, batch_size, epochs, shuffle=False, verbose=0, callbacks=[history])
    losses = list(np.array(history.losses, start[0].dtype))
    return losses, model.get_weights(), model.optimizer.iterations.numpy()


class NanGuard(keras.callbacks.Callback):
    """Raises before what stands behind it saves; `TerminateOnNaN` ends the epoch."""

    def on_train_batch_end(self, batch, logs=None):
        if math.isnan(logs["loss"]):
            raise FloatingPointError("NaN loss during training")


def early_stopping(batches, start, validation, last_step, every=2, patience=4):
    """Stops when the validation loss falls no more, and returns to the best weights.

    An epoch is what lies between two evaluations, and patience a number of these.
    """
    # --- build
    model = line(start, keras.optimizers.Adam(RATE, epsilon=1e-8))
    stopping = keras.callbacks.EarlyStopping(
        patience=math.ceil(patience / every), restore_best_weights=True
    )
    losses = Losses()
    # --- run
    found = model.fit(
        tf.data.Dataset.from_tensor_slices(batches).repeat(),
        epochs=last_step // every,
        steps_per_epoch=every,
        validation_data=validation,
        shuffle=False,
        verbose=0,
        callbacks=[losses, stopping],
    ).history["val_loss"]
    # --- best
    dtype = start[0].dtype
    return {
        "losses": list(np.array(losses.losses, dtype)),
        "validations": [
            (np.int64(every * i), dtype.type(loss)) for i, loss in enumerate(found, 1)
        ],
        "best_step": np.int64(every * (stopping.best_epoch + 1)),
        "weights": model.get_weights(),
    }
