"""`sess.run(train_op)`, `MonitoredTrainingSession`, hooks, `Supervisor` → a loop."""

import contextlib
import functools
import io
import math
import pathlib
import tempfile

import tensorflow as tf

from v2_eager.numerics import optimizers
from v2_eager.summaries import read_folder, write_scalar

__all__ = [
    "feed_loop",
    "epoch_loop",
    "epoch_loop_in_one_call",
    "monitored_loop",
    "stop_and_resume",
    "warm_start",
    "nan_guard",
    "early_stopping",
    "supervised_loop",
]


def feed_loop(batches, start, steps, print_every=2):
    """Fits a line by gradient descent on fed batches, and prints the loss."""
    printed = io.StringIO()
    # --- build
    weights = [tf.Variable(s) for s in start]
    global_step = tf.Variable(0, trainable=False, dtype=tf.int64)
    optimizer = optimizers.GradientDescent(decayed_rate)

    @tf.function
    def train_step(features, targets):
        with tf.GradientTape() as tape:
            outputs = tf.nn.bias_add(tf.matmul(features, weights[0]), weights[1])
            loss = tf.reduce_mean(tf.square(outputs - targets))
        # --- step
        pairs = zip(tape.gradient(loss, weights), weights)
        optimizer.apply_gradients(pairs, global_step)
        return loss

    # --- run
    losses = []
    for i in range(steps):
        x, y = [b[i % len(b)] for b in batches]
        losses.append(train_step(x, y).numpy())
        step = global_step.numpy()
        if step % print_every == 0:
            print(f"step {step}: loss {losses[-1]:.4f}", file=printed)
    return {
        "losses": losses,
        "weights": [w.numpy() for w in weights],
        "global_step": global_step.numpy(),
        "printed": printed.getvalue(),
    }


def decayed_rate(global_step):
    """Returns the learning rate: 0.125, halved every four steps."""
    return 0.125 * tf.pow(0.5, tf.cast(global_step // 4, tf.float32))


def epoch_loop(data, start, epochs, batch_size=2):
    """Fits a line to a dataset for several epochs, until the dataset ends."""
    # --- build
    dataset = tf.data.Dataset.from_tensor_slices(data)
    dataset = dataset.batch(batch_size).repeat(epochs)
    weights = [tf.Variable(s) for s in start]
    global_step = tf.Variable(0, trainable=False, dtype=tf.int64)
    optimizer = optimizers.GradientDescent(0.125)

    # One trace for all batches, because the last batch may be shorter.
    @tf.function(input_signature=dataset.element_spec)
    def train_step(features, targets):
        with tf.GradientTape() as tape:
            outputs = tf.nn.bias_add(tf.matmul(features, weights[0]), weights[1])
            loss = tf.reduce_mean(tf.square(outputs - targets))
        # --- step
        pairs = zip(tape.gradient(loss, weights), weights)
        optimizer.apply_gradients(pairs, global_step)
        return loss

    # --- run
    losses = [train_step(*batch).numpy() for batch in dataset]
    return losses, [w.numpy() for w in weights], global_step.numpy()


def epoch_loop_in_one_call(data, start, epochs, batch_size=2):
    """Fits a line to a dataset with the whole loop in one graph call.

    This is faster if steps are short, because Python does not run in each step.
    """
    dataset = tf.data.Dataset.from_tensor_slices(data)
    dataset = dataset.batch(batch_size).repeat(epochs)
    weights = [tf.Variable(s) for s in start]
    global_step = tf.Variable(0, trainable=False, dtype=tf.int64)
    optimizer = optimizers.GradientDescent(0.125)

    @tf.function
    def train(batches):
        # dynamic_size: the number of batches of a dataset may be unknown.
        losses = tf.TensorArray(data[0].dtype, 0, dynamic_size=True, element_shape=[])
        for features, targets in batches:
            with tf.GradientTape() as tape:
                outputs = tf.nn.bias_add(tf.matmul(features, weights[0]), weights[1])
                loss = tf.reduce_mean(tf.square(outputs - targets))
            losses = losses.write(losses.size(), loss)
            pairs = zip(tape.gradient(loss, weights), weights)
            optimizer.apply_gradients(pairs, global_step)
        return losses.stack()

    losses = list(train(iter(dataset)).numpy())
    return losses, [w.numpy() for w in weights], global_step.numpy()


class Trainer(tf.Module):
    """The model, its optimizer and the global step, with a training loop that saves.

    The model is a line, x @ kernel + bias; the loss is the mean squared error; the
    optimizer is Adam with `decayed_rate`.

    Args:
        start: [kernel, bias], the initial [features, units] and [units] weights.

    Attributes:
        loss_of: tf.function of (x, y), [rows, features] and [rows, units], to the loss.
        step: tf.function of all batches (x, y), [n, rows, features] and [n, rows,
            units]: takes a step with the next batch, and returns (loss before the step,
            rate).
    """

    def __init__(self, start):
        super().__init__()
        self.weights = [
            tf.Variable(start[0], name="kernel"),
            tf.Variable(start[1], name="bias"),
        ]
        self.adam = optimizers.Adam(decayed_rate).create_slots(self.weights)
        self.global_step = tf.Variable(
            0, trainable=False, dtype=tf.int64, name="global_step"
        )
        self.loss_of = tf.function(self._loss_of)
        self.step = tf.function(self._step)

    def _loss_of(self, x, y):
        outputs = tf.nn.bias_add(tf.matmul(x, self.weights[0]), self.weights[1])
        return tf.reduce_mean(tf.square(outputs - y))

    def _step(self, x, y):
        """Takes a step; returns the loss before the step, and the rate."""
        # A resumed run continues with the next batch, not with the first batch.
        batch = self.global_step % x.shape[0]
        rate = decayed_rate(self.global_step)
        x, y = tf.gather(x, batch), tf.gather(y, batch)
        loss = self.adam.minimize(
            lambda: self._loss_of(x, y), self.weights, self.global_step
        )
        return loss, rate

    @contextlib.contextmanager
    def fit(self, batches, last_step, manager):
        """Trains up to `last_step`; resumes from the newest checkpoint if there is one.

        It saves as a `MonitoredTrainingSession` did: before the first step, every few
        steps, and at the end of the block, also after a `break`, but not after an
        exception. OutOfRangeError and StopIteration end the block without an error.

        with trainer.fit(batches, last_step, manager) as steps:
            for step, loss, rate in steps:
                …

        Args:
            batches: (x, y), float arrays [n, rows, features] and [n, rows, units].
            last_step: the global step to end at.
            manager: a `tf.train.CheckpointManager`; the method `manager` makes one.

        Yields:
            Iterator of (global step before the step, loss, rate) of each step.

        Raises:
            FloatingPointError: the loss is NaN.
            AssertionError: the checkpoint does not contain a variable.
        """
        path = manager.restore_or_initialize()
        if path:  # the manager does not check whether all variables were restored
            manager.checkpoint.restore(path).assert_existing_objects_matched()
        manager.save(self.global_step)
        with contextlib.suppress(StopIteration, tf.errors.OutOfRangeError):
            yield self.steps(batches, last_step, manager)
        manager.save(self.global_step, check_interval=False)

    def steps(self, batches, last_step, manager):
        """Yields the steps of `fit`; each is taken when the iterator advances."""
        batches = [tf.constant(b) for b in batches]
        step = self.global_step.numpy()
        while step < last_step:
            loss, rate = (tensor.numpy() for tensor in self.step(*batches))
            if math.isnan(loss):  # before saving, so that the checkpoints are good
                raise FloatingPointError(f"NaN loss during training, step {step}")
            manager.save(self.global_step)  # saves only if it is due
            yield step, loss, rate
            step += 1

    def manager(self, directory, save_every, max_to_keep=5, init_fn=None):
        """Makes a manager that saves every few steps, as `CheckpointSaverHook` did.

        Args:
            directory: directory of the checkpoints.
            save_every: number of steps from one checkpoint to the next.
            max_to_keep: number of checkpoints to keep.
            init_fn: function to call if there is no checkpoint, or None.
        """
        return tf.train.CheckpointManager(
            tf.train.Checkpoint(trainer=self),
            directory,
            max_to_keep,
            step_counter=self.global_step,
            checkpoint_interval=save_every,
            init_fn=init_fn,
        )


class ScalarWriter:
    """Writes scalars as `tf.summary.FileWriter` did, without TensorBoard.

    Args:
        directory: directory of the event file.
    """

    def __init__(self, directory):
        self.writer = tf.summary.create_file_writer(directory)

    def write(self, step, **scalars):
        """Writes keyword=value pairs as scalars of the given step."""
        with self.writer.as_default(step):
            for tag, value in scalars.items():
                write_scalar(tag, value)

    def close(self):
        """Closes the file."""
        self.writer.close()


def saved_steps(directory):
    """Returns the global steps of the checkpoints in a directory."""
    paths = pathlib.Path(directory).glob("*.index")
    return sorted(int(path.stem.rpartition("-")[2]) for path in paths)


def read_scalars(directory):
    """Reads [(step, tag, value)] from the event files in a directory."""
    events = read_folder(directory)
    return sorted((e["step"], e["tag"], float(e["simple_value"])) for e in events)


def monitored_loop(
    batches,
    start,
    last_step=None,
    num_steps=None,
    log_every=3,
    save_every=4,
    summary_every=5,
):
    """Trains with the usual hooks: stop, log, NaN check, checkpoints, summaries."""
    if (last_step is None) == (num_steps is None):
        raise ValueError("give either num_steps or last_step")
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        trainer = Trainer(start)
        manager = trainer.manager(directory, save_every)
        if last_step is None:
            last_step = num_steps  # the run begins at step 0
        # --- hooks
        losses, logged = [], []
        with contextlib.closing(ScalarWriter(directory)) as writer:
            # --- run
            with trainer.fit(batches, last_step, manager) as steps:
                for step, loss, rate in steps:
                    losses.append(loss)
                    if step % log_every == 0:
                        logged.append(f"step {step}: loss {loss:.4f}")
                    if step % summary_every == 0:
                        # As in v1: the step's number after it, the loss before it.
                        writer.write(step + 1, loss=loss, rate=rate)
        # --- results
        return {
            "losses": losses,
            "weights": [w.numpy() for w in trainer.weights],
            "global_step": trainer.global_step.numpy(),
            "logged": logged,
            "saved": saved_steps(directory),
            "summaries": read_scalars(directory),
        }


def stop_and_resume(batches, start, stops, save_every=2, max_to_keep=5):
    """Trains in several runs; each resumes from the last checkpoint.

    Raises:
        FloatingPointError: a loss is NaN. TensorFlow 1 continues without a hook.
    """
    losses, saved = [], []
    with tempfile.TemporaryDirectory() as directory:
        for last_step in stops:
            # --- build
            trainer = Trainer(start)
            manager = trainer.manager(directory, save_every, max_to_keep)
            # --- run
            losses.append([])
            with trainer.fit(batches, last_step, manager) as steps:
                for _, loss, _ in steps:
                    losses[-1].append(loss)
            saved.append(saved_steps(directory))
        # --- results
        variables = {v.name[:-2]: v.numpy() for v in trainer.variables}
    return {"losses": losses, "saved": saved, "variables": variables}


def warm_start(batches, start, pretrained, stops):
    """Starts from a pretrained kernel, or resumes if there is a checkpoint.

    Raises:
        FloatingPointError: a loss is NaN. TensorFlow 1 continues without a hook.
    """
    losses, seen = [], []
    with tempfile.TemporaryDirectory() as directory:
        for last_step in stops:
            # --- build
            trainer = Trainer(start)
            total = 0  # not a variable of the trainer, so it is not saved
            # --- start
            manager = trainer.manager(
                directory,
                save_every=100,
                max_to_keep=1,
                init_fn=functools.partial(trainer.weights[0].assign, pretrained),
            )
            # --- run
            losses.append([])
            with trainer.fit(batches, last_step, manager) as steps:
                for _, loss, _ in steps:
                    losses[-1].append(loss)
                    total += batches[0].shape[1]
            seen.append(total)
        # --- results
        return losses, seen, [w.numpy() for w in trainer.weights]


def nan_guard(batches, start, last_step, save_every=2, recover=False):
    """Stops at the first NaN loss; the last good weights are in a checkpoint."""
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        trainer = Trainer(start)
        manager = trainer.manager(directory, save_every)
        # --- run
        losses = []
        try:
            with trainer.fit(batches, last_step, manager) as steps:
                for _, loss, _ in steps:
                    losses.append(loss)
        except FloatingPointError:
            if not recover:
                raise
        # --- results
        manager.restore_or_initialize()
        return {
            "losses": losses,
            "saved": saved_steps(directory),
            "weights": [w.numpy() for w in trainer.weights],
            "global_step": trainer.global_step.numpy(),
        }


def early_stopping(batches, start, validation, last_step, every=2, patience=4):
    """Stops early when the validation loss stops falling; restores the best weights.

    Args:
        last_step: the last possible global step.
    """
    with tempfile.TemporaryDirectory() as directory:
        # --- build
        trainer = Trainer(start)
        manager = tf.train.CheckpointManager(
            tf.train.Checkpoint(trainer=trainer), directory, max_to_keep=1
        )
        # Convert the arrays once, not in each step.
        batches, validation = (
            [tf.constant(a) for a in x] for x in (batches, validation)
        )
        losses, validations = [], []
        best, best_step = math.inf, 0
        # --- run
        while trainer.global_step < last_step:
            losses.append(trainer.step(*batches)[0].numpy())
            step = trainer.global_step.numpy()
            if step % every:
                continue
            loss = trainer.loss_of(*validation).numpy()
            validations.append((step, loss))
            if loss < best:
                best, best_step = loss, step
                manager.save(step)
            elif step - best_step >= patience:
                break
        # --- best
        if not manager.restore_or_initialize():
            raise ValueError("nothing to restore: no validation loss is finite")
        return {
            "losses": losses,
            "validations": validations,
            "best_step": best_step,
            "weights": [w.numpy() for w in trainer.weights],
        }


def supervised_loop(batches, start, stops):
    """Trains in several runs, with summaries of every step and a final checkpoint."""
    losses, batches = [], [tf.constant(b) for b in batches]
    with tempfile.TemporaryDirectory() as directory:
        for last_step in stops:
            # --- build
            trainer = Trainer(start)
            manager = tf.train.CheckpointManager(
                tf.train.Checkpoint(trainer=trainer), directory, max_to_keep=5
            )
            manager.restore_or_initialize()
            # --- run
            losses.append([])
            with contextlib.closing(ScalarWriter(directory)) as writer:
                while trainer.global_step < last_step:
                    losses[-1].append(trainer.step(*batches)[0].numpy())
                    writer.write(trainer.global_step, loss=losses[-1][-1])
            # --- end
            manager.save(trainer.global_step)
        # --- results
        return {
            "losses": losses,
            "saved": saved_steps(directory),
            "summaries": read_scalars(directory),
        }
