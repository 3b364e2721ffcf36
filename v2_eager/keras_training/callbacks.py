"""Callbacks that make Keras 3 validate, stop and log as TensorFlow 1 did."""

import itertools
import math

import numpy as np
import tensorflow as tf


class Validation(tf.keras.callbacks.Callback):
    """Evaluates the model on the next batches of a generator after each epoch.

    It adds `val_…` to the logs, for the callbacks after it in the list and `History`.

    Args:
        batches: iterator of batches (x, y), arrays [rows, …]; a second `fit` continues
            where the first `fit` ended.
        steps: number of batches, whose rows are evaluated together.
    """

    def __init__(self, batches, steps):
        super().__init__()
        self.batches, self.steps = batches, steps

    def on_epoch_end(self, epoch, logs=None):
        batches = itertools.islice(self.batches, self.steps)
        rows = [np.concatenate(arrays) for arrays in zip(*batches)]
        found = self.model.evaluate(*rows, verbose=0, return_dict=True)
        logs.update({f"val_{key}": value for key, value in found.items()})


LOGS = ["loss", "kind_loss", "score_loss", "kind_acc", "score_mean_absolute_error"]
"""The logs of two outputs in their old order; Keras 3 sorts them by the alphabet."""


class EventLog(tf.keras.callbacks.Callback):
    """Records when validation runs, and the names in the logs of an epoch.

    The names of `LOGS` come first, in the old order, then all others in alphabetical
    order.

    Attributes:
        events: list of ["validation"] and of lists of names.
    """

    def __init__(self):
        super().__init__()
        self.events = []

    def on_test_begin(self, logs=None):
        self.events.append(["validation"])

    def on_epoch_end(self, epoch, logs=None):
        keys = [*LOGS, *(f"val_{key}" for key in LOGS)]
        others = sorted(set(logs) - set(keys))
        self.events.append(sorted(logs, key=[*keys, *others].index))


class EarlyStopping(tf.keras.callbacks.EarlyStopping):
    """Restores the best weights if it stopped training, but not when the epochs end.

    The best value must be better than the baseline, if there is one, and not NaN; Keras
    3 accepts any value of the first epoch. In the mode "auto", a quantity with "acc" in
    its name should rise, and any other should fall.

    `keras.callbacks.EarlyStopping` restores the best weights in both cases.

    The arguments are those of `keras.callbacks.EarlyStopping`.

    Raises:
        TypeError: in `fit`, if training stopped and the callback should restore the
            best weights, but no value was better than the baseline, or than infinity
            without a baseline.
    """

    def on_train_begin(self, logs=None):
        super().on_train_begin(logs)
        if self.mode == "auto":
            self.mode = "max" if "acc" in self.monitor else "min"
        worst = -np.inf if self.mode == "max" else np.inf
        self.start = worst if self.baseline is None else self.baseline
        self.best = self.start

    def on_train_end(self, logs=None):
        if self.stopped_epoch:
            if self.restore_best_weights and self.best == self.start:
                raise TypeError(
                    f"no best weights to restore: {self.monitor} was never better than "
                    f"{self.start}"
                )
            super().on_train_end(logs)


class BatchLog(tf.keras.callbacks.Callback):
    """Records `batch_loss` from batches' logs, and `loss` from epochs' logs.

    The model needs a metric named `batch_loss`: Keras 3 logs means of the epoch so far.
    With several steps per execution, only the last step of each execution has logs.
    """

    def __init__(self):
        super().__init__()
        self.losses, self.epochs = [], []

    def on_train_batch_end(self, batch, logs=None):
        self.losses.append(logs["batch_loss"])

    def on_epoch_end(self, epoch, logs=None):
        self.epochs.append(logs["loss"])


class NanGuard(tf.keras.callbacks.Callback):
    """Raises at a NaN loss, before later callbacks save the model.

    `TerminateOnNaN` still runs the callbacks after it, also at the end of the epoch.

    Raises:
        FloatingPointError: in `fit`, if the mean loss of the epoch so far is NaN, as it
            is after the first NaN loss.
    """

    def on_train_batch_end(self, batch, logs=None):
        if math.isnan(logs["loss"]):
            raise FloatingPointError("NaN loss during training")
