"""`sess.run(train_op)`, `MonitoredTrainingSession`, hooks, `Supervisor` → a loop."""

import contextlib
import functools
import io
import math
import tempfile

import keras
import numpy as np
import tensorflow as tf

from v2_eager.keras_training.callbacks import NanGuard
from v2_eager.training_loops import ScalarWriter, read_scalars, saved_steps
from v2_keras.basics import Losses
from v2_keras.optimizers import adam, line, named_values

__all__ = [
    "feed_loop",
    "epoch_loop",
    "monitored_loop",
    "stop_and_resume",
    "warm_start",
    "nan_guard",
    "early_stopping",
    "supervised_loop",
]

RATE = keras.optimizers.schedules.ExponentialDecay(0.125, 4, 0.5, staircase=True)


class Printer(Losses):
    """A callback that prints the step and the loss every few steps.

    Args:
        every: number of steps from one line to the next.
        file: text file to print to.
    """

    def __init__(self, every, file):
        super().__init__()
        self.every, self.file = every, file

    def on_train_batch_end(self, batch, logs=None):
        super().on_train_batch_end(batch, logs)
        step = int(self.model.optimizer.iterations.numpy())
        if step % self.every == 0:
            print(f"step {step}: loss {self.losses[-1]:.4f}", file=self.file)


def feed_loop(batches, start, steps, print_every=2):
    """Fits a line by gradient descent on fed batches, and prints the loss."""
    # --- build
    model = line(start, keras.optimizers.SGD(RATE))
    printer = Printer(print_every, io.StringIO())
    # --- run
    due = tf.data.Dataset.from_tensor_slices(batches).repeat().take(steps)
    if steps:  # without a batch `fit` warns, but counts a step
        model.fit(due, shuffle=False, verbose=0, callbacks=[printer])
    return {
        "losses": list(np.array(printer.losses, start[0].dtype)),
        "weights": model.get_weights(),
        "global_step": model.optimizer.iterations.numpy(),
        "printed": printer.file.getvalue(),
    }


def epoch_loop(data, start, epochs, batch_size=2):
    """Fits a line to a dataset for several epochs, until the dataset ends."""
    # --- build
    model = line(start, keras.optimizers.SGD(0.125))
    history = Losses()
    # --- run
    batches = tf.data.Dataset.from_tensor_slices(data).batch(batch_size)
    model.fit(batches, epochs=epochs, shuffle=False, verbose=0, callbacks=[history])
    losses = list(np.array(history.losses, start[0].dtype))
    return losses, model.get_weights(), model.optimizer.iterations.numpy()


class Training:
    """A line that is fitted with Adam; it resumes from the newest checkpoint.

    Args:
        start: [kernel, bias], the initial weights.
        directory: directory of the checkpoints.
        save_every: number of steps from one checkpoint to the next, or None.
        max_to_keep: number of checkpoints to keep.
        pretrained: the initial kernel if there is no checkpoint, or None.
    """

    def __init__(
        self, start, directory, save_every=None, max_to_keep=5, pretrained=None
    ):
        self.model = line(start, adam(RATE))
        self.dtype = start[0].dtype
        kernel, _ = self.model.weights
        restart = functools.partial(kernel.assign, pretrained)
        self.manager = tf.train.CheckpointManager(
            tf.train.Checkpoint(model=self.model),
            directory,
            max_to_keep,
            step_counter=self.model.optimizer.iterations.value,
            checkpoint_interval=save_every,
            init_fn=None if pretrained is None else restart,
        )
        self.manager.restore_or_initialize()
        self.history = Losses()

    def fit(self, batches, last_step, *callbacks):
        """Trains up to a step, beginning with the batch of the current step."""
        step = int(self.model.optimizer.iterations.numpy())
        due = tf.data.Dataset.from_tensor_slices(batches).repeat().skip(step)
        if step < last_step:
            callbacks = [*callbacks, self.history]
            due = due.take(last_step - step)
            self.model.fit(due, shuffle=False, verbose=0, callbacks=callbacks)

    @property
    def losses(self):
        return list(np.array(self.history.losses, self.dtype))


class Saver(keras.callbacks.Callback):
    """Saves before the first step, every few steps, and after the last step.

    `ModelCheckpoint` keeps one file or all files; a manager keeps the newest. After an
    exception this does not save, because Keras does not call `on_train_end`.

    Args:
        manager: `tf.train.CheckpointManager` that has a `checkpoint_interval`.
    """

    def __init__(self, manager):
        super().__init__()
        self.manager = manager

    def on_train_begin(self, logs=None):
        self.manager.save(self.model.optimizer.iterations.value)

    def on_train_batch_end(self, batch, logs=None):
        self.manager.save(self.model.optimizer.iterations.value)

    def on_train_end(self, logs=None):
        step = self.model.optimizer.iterations.value
        self.manager.save(step, check_interval=False)


class EveryFewSteps(Losses):
    """Calls `act(steps before, loss)` in the first step, then every `every` steps.

    Args:
        act: function of an int and a float.
        every: number of steps from one call to the next.
    """

    def __init__(self, act, every):
        super().__init__()
        self.act, self.every = act, every

    def on_train_batch_end(self, batch, logs=None):
        super().on_train_batch_end(batch, logs)
        step = int(self.model.optimizer.iterations.numpy()) - 1
        if step % self.every == 0:
            self.act(step, self.losses[-1])


def monitored_loop(
    batches,
    start,
    last_step=None,
    num_steps=None,
    log_every=3,
    save_every=4,
    summary_every=5,
):
    """Trains with the usual hooks: stop, log, NaN check, checkpoints, summaries.

    Each hook becomes a callback; the callbacks have the order of the hooks.
    """
    if (last_step is None) == (num_steps is None):
        raise ValueError("give either num_steps or last_step")
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        training = Training(start, directory, save_every)
        model = training.model
        # --- hooks
        logged = []
        with contextlib.closing(ScalarWriter(directory)) as writer:

            def log(step, loss):
                logged.append(f"step {step}: loss {loss:.4f}")

            def summarize(step, loss):
                writer.write(step + 1, loss=loss, rate=RATE(step))

            # --- run
            training.fit(
                batches,
                num_steps if last_step is None else last_step,
                NanGuard(),
                Saver(training.manager),
                EveryFewSteps(log, log_every),
                EveryFewSteps(summarize, summary_every),
            )
        # --- results
        return {
            "losses": training.losses,
            "weights": model.get_weights(),
            "global_step": model.optimizer.iterations.numpy(),
            "logged": logged,
            "saved": saved_steps(directory),
            "summaries": read_scalars(directory),
        }


def stop_and_resume(batches, start, stops, save_every=2, max_to_keep=5):
    """Trains in several runs; each resumes from the last checkpoint.

    A checkpoint of a compiled model contains the optimizer's slots and the step.
    """
    losses, saved = [], []
    with tempfile.TemporaryDirectory() as directory:
        for last_step in stops:
            # --- build
            training = Training(start, directory, save_every, max_to_keep)
            # --- run
            training.fit(batches, last_step, Saver(training.manager))
            losses.append(training.losses)
            saved.append(saved_steps(directory))
        # --- results
        variables = named_values(training.model)
    return {"losses": losses, "saved": saved, "variables": variables}


def warm_start(batches, start, pretrained, stops):
    """Starts from a pretrained kernel, or resumes if there is a checkpoint."""
    losses, seen = [], []
    with tempfile.TemporaryDirectory() as directory:
        for last_step in stops:
            # --- build
            training = Training(start, directory, 100, 1, pretrained)
            # --- run
            training.fit(batches, last_step, Saver(training.manager))
            losses.append(training.losses)
            seen.append(len(training.losses) * batches[0].shape[1])
        # --- results
        return losses, seen, training.model.get_weights()


def nan_guard(batches, start, last_step, save_every=2, recover=False):
    """Stops at the first NaN loss; the last good weights are in a checkpoint."""
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        training = Training(start, directory, save_every)
        model, manager = training.model, training.manager
        # --- run
        try:
            training.fit(batches, last_step, NanGuard(), Saver(manager))
        except FloatingPointError:
            if not recover:
                raise
        # --- results
        manager.restore_or_initialize()
        return {
            "losses": training.losses,
            "saved": saved_steps(directory),
            "weights": model.get_weights(),
            "global_step": model.optimizer.iterations.numpy(),
        }


class EarlyStopping(keras.callbacks.EarlyStopping):
    """Early stopping that never keeps a NaN or infinite loss as the best.

    `keras.callbacks.EarlyStopping` keeps the first loss as the best, also if it is NaN.

    The arguments are those of `keras.callbacks.EarlyStopping`.

    Raises:
        ValueError: in `fit`: no value was finite; or the mode is "auto" but the
            monitored metric is not a loss.
    """

    def on_train_begin(self, logs=None):
        super().on_train_begin(logs)
        if self.mode == "auto" and not self.monitor.endswith("loss"):
            raise ValueError(
                f"mode must be 'min' or 'max' for {self.monitor}, not 'auto'"
            )
        self.best = -math.inf if self.mode == "max" else math.inf

    def on_train_end(self, logs=None):
        if not math.isfinite(self.best):
            raise ValueError("nothing to restore: no validation loss is finite")
        super().on_train_end(logs)


def early_stopping(batches, start, validation, last_step, every=2, patience=4):
    """Stops early when the validation loss stops falling; restores the best weights.

    Here an epoch is the steps between two evaluations, and patience is a number of
    epochs. Keras' own callback keeps a NaN first loss as the best, and needs at least
    two epochs to stop.

    Raises:
        ValueError: no validation loss is finite, so there are no best weights; or
            `last_step` is not a multiple of `every`.
    """
    if last_step % every:
        raise ValueError(f"last_step must be a multiple of {every}, not {last_step}")
    # --- build
    model = line(start, adam(RATE))
    stopping = EarlyStopping(
        patience=math.ceil(patience / every), restore_best_weights=True
    )
    losses = Losses()
    # --- run
    found = model.fit(
        tf.data.Dataset.from_tensor_slices(batches).repeat(),
        epochs=last_step // every,
        steps_per_epoch=every,
        # Keras would round arrays to float32.
        validation_data=tf.data.Dataset.from_tensors(tuple(validation)),
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


def supervised_loop(batches, start, stops):
    """Trains in several runs, with summaries of every step and a final checkpoint."""
    losses = []
    with tempfile.TemporaryDirectory() as directory:
        for last_step in stops:
            # --- build
            training = Training(start, directory)
            # --- run
            with contextlib.closing(ScalarWriter(directory)) as writer:

                def summarize(step, loss):
                    writer.write(step + 1, loss=loss)

                training.fit(batches, last_step, EveryFewSteps(summarize, 1))
            losses.append(training.losses)
            # --- end
            training.manager.save(training.model.optimizer.iterations.value)
        # --- results
        return {
            "losses": losses,
            "saved": saved_steps(directory),
            "summaries": read_scalars(directory),
        }
