"""`tf.summary.FileWriter`, `merge_all`, `add_summary` → `create_file_writer`."""

import os
import tempfile

import keras
import tensorflow as tf

from v2_eager.summaries import read_folder, variable_summaries, write_scalar
from v2_keras.basics import Losses, parts
from v2_keras.optimizers import squares

__all__ = ["train"]


class Curves(Losses):
    """Writes loss and weight statistics at every step, with TensorFlow 1's tags.

    `keras.callbacks.TensorBoard` writes losses of epochs, with other tags. Tests
    between steps do not change the training metrics of the epoch.

    A second `fit` continues at the optimizer's step. Integer weights, such as the count
    of `Normalization`, have no curve.

    Args:
        directory: the directories `train` and `test` are made in it.
        test: dataset of (x, y) to test with, before the step is taken.
        test_every: number of steps from one test to the next.
    """

    def __init__(self, directory, test, test_every):
        super().__init__()
        self.directory, self.test, self.test_every = directory, test, test_every

    def on_train_begin(self, logs=None):
        super().on_train_begin(logs)
        self.train_writer, self.test_writer = (
            tf.summary.create_file_writer(os.path.join(self.directory, name))
            for name in ("train", "test")
        )

    def on_train_batch_begin(self, batch, logs=None):
        # `batch` counts within the epoch
        self.step = int(self.model.optimizer.iterations.numpy())
        self.before = self.floats()
        if self.step % self.test_every == 0:
            metrics = parts(self.model, self.model.metrics_variables)
            metrics = [(part, part.numpy()) for part in metrics]
            found = self.model.evaluate(self.test, verbose=0, return_dict=True)
            self.write(self.test_writer, found["loss"])
            self.forget(metrics)
        super().on_train_batch_begin(batch, logs)

    def floats(self):
        """Copies the weights on their device, because a step changes the weights."""
        values = [weight.value for weight in self.model.weights]
        return [tf.identity(value) for value in values if value.dtype.is_floating]

    def forget(self, metrics):
        """Resets the metrics, so that `fit` does not log the test's rows."""
        self.model.reset_metrics()
        for part, value in metrics:
            part.assign(value)

    def on_train_batch_end(self, batch, logs=None):
        super().on_train_batch_end(batch, logs)
        self.write(self.train_writer, self.losses[-1])

    def on_train_end(self, logs=None):
        self.train_writer.close()
        self.test_writer.close()

    def write(self, writer, loss):
        with writer.as_default(self.step):
            write_scalar("loss_1", loss)
            for i, weight in enumerate(self.before):
                # In v1 a scope that was entered again got a number.
                variable_summaries(weight, f"summaries_{i}" if i else "summaries")


def train(x, y, kernel, steps, test_every, rate=0.125):
    """Trains a linear model; writes training and test curves and statistics.

    Keras rounds float64 arrays to float32, but not datasets.
    """
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        dtype = kernel.dtype.name
        dense = keras.layers.Dense(kernel.shape[1], use_bias=False, dtype=dtype)
        model = keras.Sequential([keras.Input(kernel.shape[:1], dtype=dtype), dense])
        model.set_weights([kernel])
        model.compile(keras.optimizers.SGD(rate), squares(dtype))
        # --- write
        train, test = map(tf.data.Dataset.from_tensors, zip(x, y))
        curves = Curves(directory, test, test_every)
        batches = train.repeat(steps)
        if steps:  # without a batch `fit` warns, but tests
            model.fit(batches, shuffle=False, verbose=0, callbacks=[curves])
        # --- read
        return {
            "train": read_folder(os.path.join(directory, "train")),
            "test": read_folder(os.path.join(directory, "test")),
            "kernel": model.get_weights()[0],
        }
