"""`sess.run(train_op)`, `MonitoredTrainingSession`, hooks, `Supervisor` → a loop."""

import contextlib
import glob
import io
import logging
import os
import re
import tempfile

import tensorflow.compat.v1 as tf

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
    """Fits a line by gradient descent on fed batches, and prints the loss.

    Args:
        batches: (x, y), float arrays [n, rows, features] and [n, rows, units].
        start: [kernel, bias], the initial [features, units] and [units] weights.
        steps: number of steps.
        print_every: number of steps from one line to the next.

    Returns:
        dict with the `losses` of all steps, the final `weights` [kernel, bias], the
        `global_step` and the `printed` text.
    """
    printed = io.StringIO()
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        features, targets = [
            tf.placeholder(b.dtype, [None, b.shape[2]]) for b in batches
        ]
        weights = [tf.Variable(s) for s in start]
        outputs = tf.nn.bias_add(tf.matmul(features, weights[0]), weights[1])
        loss = tf.reduce_mean(tf.square(outputs - targets))
        # --- step
        global_step = tf.train.get_or_create_global_step()
        rate = tf.train.exponential_decay(0.125, global_step, 4, 0.5, staircase=True)
        optimizer = tf.train.GradientDescentOptimizer(rate)
        train_op = optimizer.minimize(loss, global_step)
        # --- run
        sess.run(tf.global_variables_initializer())
        losses = []
        for i in range(steps):
            x, y = [b[i % len(b)] for b in batches]
            _, value = sess.run([train_op, loss], {features: x, targets: y})
            losses.append(value)
            # In a separate run: in the step's run, it may be read before or after it.
            step = sess.run(global_step)
            if step % print_every == 0:
                print("step %d: loss %.4f" % (step, value), file=printed)
        trained, step = sess.run([weights, global_step])
    return {
        "losses": losses,
        "weights": trained,
        "global_step": step,
        "printed": printed.getvalue(),
    }


def epoch_loop(data, start, epochs, batch_size=2):
    """Fits a line to a dataset for several epochs, until the dataset ends.

    Args:
        data: (x, y), float arrays [n, features] and [n, units].
        start: [kernel, bias], the initial [features, units] and [units] weights.
        epochs: number of epochs.
        batch_size: rows of a batch; the last batch of an epoch may have fewer.

    Returns:
        (losses of all steps, final weights [kernel, bias], global step).
    """
    with tf.Graph().as_default(), tf.Session() as sess:
        # --- build
        dataset = tf.data.Dataset.from_tensor_slices(data)
        dataset = dataset.batch(batch_size).repeat(epochs)
        features, targets = tf.data.make_one_shot_iterator(dataset).get_next()
        weights = [tf.Variable(s) for s in start]
        outputs = tf.nn.bias_add(tf.matmul(features, weights[0]), weights[1])
        loss = tf.reduce_mean(tf.square(outputs - targets))
        # --- step
        global_step = tf.train.get_or_create_global_step()
        optimizer = tf.train.GradientDescentOptimizer(0.125)
        train_op = optimizer.minimize(loss, global_step)
        # --- run
        sess.run(tf.global_variables_initializer())
        losses = []
        while True:
            try:
                losses.append(sess.run([train_op, loss])[1])
            except tf.errors.OutOfRangeError:
                break
        trained, step = sess.run([weights, global_step])
        return losses, trained, step


def epoch_loop_in_one_call(data, start, epochs, batch_size=2):
    """Fits a line to a dataset with the whole loop in one graph call.

    TensorFlow 1 programs rarely do this; here Python takes each step.

    Args:
        data: (x, y), float arrays [n, features] and [n, units].
        start: [kernel, bias], the initial [features, units] and [units] weights.
        epochs: number of epochs.
        batch_size: rows of a batch; the last batch of an epoch may have fewer.

    Returns:
        (losses of all steps, final weights [kernel, bias], global step).
    """
    return epoch_loop(data, start, epochs, batch_size)


class Line(object):
    """The graph of the loops below: a line, Adam, and the batch of the global step."""

    def __init__(self, batches, start):
        self.global_step = tf.train.get_or_create_global_step()
        # A resumed run continues with the next batch, not with the first batch.
        batch = tf.mod(self.global_step, len(batches[0]))
        self.weights = [
            tf.get_variable("kernel", initializer=start[0]),
            tf.get_variable("bias", initializer=start[1]),
        ]
        self.loss = self.loss_of(*[tf.gather(b, batch) for b in batches])
        # A copy that is read before the step. Without it in this collection, the hooks
        # would make their own copy, which may be read too late.
        self.step_before = self.global_step + 0
        tf.add_to_collection("global_step_read_op_cache", self.step_before)
        with tf.control_dependencies([self.step_before]):
            self.rate = tf.train.exponential_decay(
                0.125, self.global_step, 4, 0.5, staircase=True
            )
            optimizer = tf.train.AdamOptimizer(self.rate)
            self.train_op = optimizer.minimize(self.loss, self.global_step)

    def loss_of(self, x, y):
        outputs = tf.nn.bias_add(tf.matmul(x, self.weights[0]), self.weights[1])
        return tf.reduce_mean(tf.square(outputs - y))


@contextlib.contextmanager
def captured_log(prefix):
    """Appends the log's lines that begin with `prefix` to a list."""
    lines, logger, verbosity = [], tf.get_logger(), tf.logging.get_verbosity()
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    handler.addFilter(lambda record: record.getMessage().startswith(prefix))
    handlers, logger.handlers = logger.handlers, [handler]
    propagate, logger.propagate = logger.propagate, False
    tf.logging.set_verbosity(tf.logging.INFO)
    try:
        yield lines
    finally:
        logger.handlers, logger.propagate = handlers, propagate
        tf.logging.set_verbosity(verbosity)


def saved_steps(directory):
    """Returns the global steps of the checkpoints in a directory."""
    names = os.listdir(directory)
    return sorted(int(re.split("[-.]", n)[-2]) for n in names if n.endswith(".index"))


def last_variables(directory):
    """Reads {name: value} from the newest checkpoint in a directory."""
    reader = tf.train.load_checkpoint(directory)
    names = reader.get_variable_to_shape_map()
    return {name: reader.get_tensor(name) for name in sorted(names)}


def read_scalars(directory):
    """Reads [(step, tag, value)] from the event files in a directory."""
    return sorted(
        (event.step, value.tag, value.simple_value)
        for path in glob.glob(os.path.join(directory, "events.*"))
        for event in tf.train.summary_iterator(path)
        for value in event.summary.value
    )


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

    Args:
        batches: (x, y), float arrays [n, rows, features] and [n, rows, units].
        start: [kernel, bias], the initial [features, units] and [units] weights.
        last_step: the global step to end at, or None for `num_steps`.
        num_steps: number of steps, or None for `last_step`.
        log_every: number of steps from one line of the log to the next.
        save_every: number of steps from one checkpoint to the next.
        summary_every: number of steps from one summary to the next.

    Returns:
        dict with `losses`, `weights`, `global_step`, the lines `logged`, the steps of
        the checkpoints `saved`, and the `summaries` [(step, tag, value)].

    Raises:
        ValueError: none or both of `last_step` and `num_steps` are given.
    """
    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
        # --- build
        line = Line(batches, start)
        tf.summary.scalar("loss", line.loss)
        tf.summary.scalar("rate", line.rate)
        # --- hooks
        hooks = [
            tf.train.StopAtStepHook(num_steps=num_steps, last_step=last_step),
            tf.train.NanTensorHook(line.loss),
            tf.train.LoggingTensorHook(
                {"step": line.step_before, "loss": line.loss},
                every_n_iter=log_every,
                formatter=lambda t: "step {step}: loss {loss:.4f}".format(**t),
            ),
        ]
        session = tf.train.MonitoredTrainingSession(
            checkpoint_dir=directory,
            hooks=hooks,
            save_checkpoint_steps=save_every,
            save_summaries_steps=summary_every,
            log_step_count_steps=None,
        )
        # --- run
        losses = []
        with captured_log("step") as logged, session:
            while not session.should_stop():
                losses.append(session.run([line.train_op, line.loss])[1])
        # --- results
        tf.summary.FileWriterCache.clear()  # closes the event file
        variables = last_variables(directory)
        return {
            "losses": losses,
            "weights": [variables["kernel"], variables["bias"]],
            "global_step": variables["global_step"],
            "logged": logged,
            "saved": saved_steps(directory),
            "summaries": read_scalars(directory),
        }


def session_until(last_step, directory, scaffold, save_every):
    """Makes a session that stops at a step, saves checkpoints, and resumes."""
    return tf.train.MonitoredTrainingSession(
        checkpoint_dir=directory,
        hooks=[tf.train.StopAtStepHook(last_step=last_step)],
        scaffold=scaffold,
        save_checkpoint_steps=save_every,
        save_summaries_steps=None,
        save_summaries_secs=None,
        log_step_count_steps=None,
    )


def stop_and_resume(batches, start, stops, save_every=2, max_to_keep=5):
    """Trains in several runs; each resumes from the last checkpoint.

    Args:
        batches: (x, y), float arrays [n, rows, features] and [n, rows, units].
        start: [kernel, bias], the initial [features, units] and [units] weights.
        stops: the global steps at which the runs end.
        save_every: number of steps from one checkpoint to the next.
        max_to_keep: number of checkpoints to keep.

    Returns:
        dict with lists that have one item per run: `losses`, and the steps `saved` in
        the directory; and the final `variables` by name, with slots.
    """
    losses, saved = [], []
    with tempfile.TemporaryDirectory() as directory:
        for last_step in stops:
            with tf.Graph().as_default():
                # --- build
                line = Line(batches, start)
                saver = tf.train.Saver(max_to_keep=max_to_keep)
                scaffold = tf.train.Scaffold(saver=saver)
                session = session_until(last_step, directory, scaffold, save_every)
                # --- run
                losses.append([])
                with session:
                    while not session.should_stop():
                        losses[-1].append(session.run([line.train_op, line.loss])[1])
            saved.append(saved_steps(directory))
        # --- results
        tf.summary.FileWriterCache.clear()
        variables = last_variables(directory)
    return {"losses": losses, "saved": saved, "variables": variables}


def warm_start(batches, start, pretrained, stops):
    """Starts from a pretrained kernel, or resumes if there is a checkpoint.

    Args:
        batches: (x, y), float arrays [n, rows, features] and [n, rows, units].
        start: [kernel, bias], the initial [features, units] and [units] weights.
        pretrained: [features, units] array, the kernel to start from.
        stops: the global steps at which the runs end.

    Returns:
        (list of the losses of each run, list of the number of rows in each run, final
        weights [kernel, bias]).

    Raises:
        ValueError: `pretrained` does not have the shape of `kernel`.
    """
    losses, seen = [], []
    with tempfile.TemporaryDirectory() as directory:
        for last_step in stops:
            with tf.Graph().as_default():
                # --- build
                line = Line(batches, start)
                # A local variable: it is not saved, and is zero again in each session.
                rows = tf.get_local_variable("rows", initializer=0)
                count = tf.assign_add(rows, batches[0].shape[1])
                # --- start
                scaffold = tf.train.Scaffold(
                    init_fn=lambda _, sess, v=line.weights[0]: v.load(pretrained, sess),
                    local_init_op=tf.local_variables_initializer(),
                    saver=tf.train.Saver(max_to_keep=1),
                )
                session = session_until(last_step, directory, scaffold, save_every=100)
                # --- run
                losses.append([])
                with session:
                    while not session.should_stop():
                        fetches = [line.train_op, line.loss, count]
                        _, loss, total = session.run(fetches)
                        losses[-1].append(loss)
            seen.append(int(total))
        # --- results
        tf.summary.FileWriterCache.clear()
        variables = last_variables(directory)
    return losses, seen, [variables["kernel"], variables["bias"]]


def nan_guard(batches, start, last_step, save_every=2, recover=False):
    """Stops at the first NaN loss; the last good weights are in a checkpoint.

    Args:
        batches: (x, y), float arrays [n, rows, features] and [n, rows, units].
        start: [kernel, bias], the initial [features, units] and [units] weights.
        last_step: the global step to end at.
        save_every: number of steps from one checkpoint to the next.
        recover: whether to return the last checkpoint instead of raising an error.

    Returns:
        dict with the `losses` before the NaN, the steps of the checkpoints `saved`, and
        the `weights` [kernel, bias] and the `global_step` of the last checkpoint.

    Raises:
        NanLossDuringTrainingError: a loss is NaN, and `recover` is False. TensorFlow 2
            raises FloatingPointError.
    """
    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
        # --- build
        line = Line(batches, start)
        hooks = [
            tf.train.StopAtStepHook(last_step=last_step),
            tf.train.NanTensorHook(line.loss),  # before the hook that saves
            tf.train.CheckpointSaverHook(directory, save_steps=save_every),
        ]
        # --- run
        losses = []
        try:
            with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
                while not session.should_stop():
                    losses.append(session.run([line.train_op, line.loss])[1])
        except tf.train.NanLossDuringTrainingError:
            if not recover:
                raise
        finally:
            tf.summary.FileWriterCache.clear()
        # --- results
        variables = last_variables(directory)
        return {
            "losses": losses,
            "saved": saved_steps(directory),
            "weights": [variables["kernel"], variables["bias"]],
            "global_step": variables["global_step"],
        }


class EarlyStoppingHook(tf.train.SessionRunHook):
    """Evaluates every few steps, saves the best weights, and stops after patience."""

    def __init__(self, train_loss, validation_loss, every, patience, path):
        self.train_loss, self.validation_loss = train_loss, validation_loss
        self.every, self.patience, self.path = every, patience, path
        self.losses, self.validations = [], []
        self.best, self.best_step = float("inf"), 0

    def begin(self):  # the last moment to change the graph
        self.global_step = tf.train.get_global_step()
        self.saver = tf.train.Saver(max_to_keep=1)

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.train_loss)

    def after_run(self, run_context, run_values):
        self.losses.append(run_values.results)
        # Separate runs: they come after the step, and do not call the hooks.
        step = run_context.session.run(self.global_step)
        if step % self.every:
            return
        loss = run_context.session.run(self.validation_loss)
        self.validations.append((step, loss))
        if loss < self.best:
            self.best, self.best_step = loss, step
            self.saver.save(run_context.session, self.path, step)
        elif step - self.best_step >= self.patience:
            run_context.request_stop()


def early_stopping(batches, start, validation, last_step, every=2, patience=4):
    """Stops early when the validation loss stops falling; restores the best weights.

    Args:
        batches: (x, y), float arrays [n, rows, features] and [n, rows, units].
        start: [kernel, bias], the initial [features, units] and [units] weights.
        validation: (x, y), float arrays [n, features] and [n, units], to evaluate.
        last_step: the last possible global step; a multiple of `every`.
        every: number of steps from one evaluation to the next.
        patience: number of steps without a lower validation loss after which to stop.

    Returns:
        dict with `losses`, the `validations` [(step, loss)], the `best_step`, and the
        `weights` [kernel, bias] at that step.

    Raises:
        ValueError: no validation loss is finite, so there are no best weights.
    """
    with tempfile.TemporaryDirectory() as directory, tf.Graph().as_default():
        # --- build
        line = Line(batches, start)
        validation_loss = line.loss_of(*validation)
        path = os.path.join(directory, "best")
        stopping = EarlyStoppingHook(line.loss, validation_loss, every, patience, path)
        hooks = [tf.train.StopAtStepHook(last_step=last_step), stopping]
        # --- run
        with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
            while not session.should_stop():
                session.run(line.train_op)
        # --- best
        with tf.Session() as sess:
            stopping.saver.restore(sess, tf.train.latest_checkpoint(directory))
            weights = sess.run(line.weights)
        return {
            "losses": stopping.losses,
            "validations": stopping.validations,
            "best_step": stopping.best_step,
            "weights": weights,
        }


def supervised_loop(batches, start, stops):
    """Trains in several runs, with summaries of every step and a final checkpoint.

    Args:
        batches: (x, y), float arrays [n, rows, features] and [n, rows, units].
        start: [kernel, bias], the initial [features, units] and [units] weights.
        stops: the global steps at which the runs end.

    Returns:
        dict with the `losses` of each run, the steps of the checkpoints `saved`, and
        the `summaries` [(step, tag, value)].
    """
    losses = []
    with tempfile.TemporaryDirectory() as directory:
        for run, last_step in enumerate(stops):
            with tf.Graph().as_default():
                # --- build
                line = Line(batches, start)
                tf.summary.scalar("loss", line.loss)
                summary = tf.summary.merge_all()
                # Without the suffix, a file of the same second would be overwritten.
                writer = tf.summary.FileWriter(directory, filename_suffix=".%d" % run)
                supervisor = tf.train.Supervisor(
                    logdir=directory,
                    summary_op=None,
                    summary_writer=writer,
                    save_summaries_secs=0,  # else threads save at certain times
                    save_model_secs=0,
                )
                # --- run
                losses.append([])
                with supervisor.managed_session() as sess:
                    while not supervisor.should_stop():
                        if sess.run(line.global_step) >= last_step:
                            break
                        fetches = [line.train_op, line.loss, summary]
                        _, loss, text = sess.run(fetches)
                        losses[-1].append(loss)
                        supervisor.summary_computed(sess, text)
                    # --- end
                    supervisor.saver.save(sess, supervisor.save_path, line.global_step)
        # --- results
        return {
            "losses": losses,
            "saved": saved_steps(directory),
            "summaries": read_scalars(directory),
        }
