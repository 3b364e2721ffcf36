import contextlib
import functools
import io
import itertools
import tempfile
import unittest

import keras
import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from v2_eager.keras_losses import Schedule, Scores
from v2_eager.keras_recipes.own import Confusion, WarmUp
from v2_eager.keras_training import callbacks
from v2_keras import averages, basics, estimators, summaries, training_loops

X = np.random.RandomState(0).normal(size=[4, 2]).astype("f")
Y = np.stack([X[:, 0] > 0, X[:, 1] > 0], axis=1).astype("f")
RATE = 0.125
LATER = 1000  # a step or an epoch that no test reaches
ROWS = tf.data.Dataset.from_tensor_slices((X, Y)).batch(2)
BATCH = tf.data.Dataset.from_tensors((X[:2], Y[:2]))


def saver(model, folder):
    step = model.optimizer.iterations.value
    checkpoint = tf.train.Checkpoint(model=model)
    manager = tf.train.CheckpointManager(
        checkpoint, folder, 5, step_counter=step, checkpoint_interval=2
    )
    return training_loops.Saver(manager)


def schedule(model, folder):
    return Schedule([keras.Variable(0.0, trainable=False)], [[1.0]] * 9)


# (name of the class, function from a model and a folder to a callback).
CASES = [
    (
        "v2_eager.keras_losses.Schedule",
        schedule,
    ),
    (
        "v2_eager.keras_losses.Scores",
        lambda model, folder: Scores(X, Y),
    ),
    (
        "v2_eager.keras_recipes.own.Confusion",
        lambda model, folder: Confusion(X, Y.argmax(1), 2),
    ),
    (
        "v2_eager.keras_recipes.own.WarmUp",
        lambda model, folder: WarmUp(RATE, epochs=0.25),  # less than a step
    ),
    (
        "v2_eager.keras_training.callbacks.BatchLog",
        lambda model, folder: callbacks.BatchLog(),
    ),
    (
        "v2_eager.keras_training.callbacks.EarlyStopping",
        lambda model, folder: callbacks.EarlyStopping("val_mae", patience=LATER),
    ),
    (
        "v2_eager.keras_training.callbacks.EventLog",
        lambda model, folder: callbacks.EventLog(),
    ),
    (
        "v2_eager.keras_training.callbacks.NanGuard",
        lambda model, folder: callbacks.NanGuard(),
    ),
    (
        "v2_eager.keras_training.callbacks.Validation",
        lambda model, folder: callbacks.Validation(itertools.repeat((X, Y)), 2),
    ),
    (
        "v2_keras.averages.Averages",
        lambda model, folder: averages.Averages(0.5),
    ),
    (
        "v2_keras.basics.Losses",
        lambda model, folder: basics.Losses(),
    ),
    (
        "v2_keras.estimators.History",
        lambda model, folder: estimators.History(),
    ),
    (
        "v2_keras.estimators.StopAtStep",
        lambda model, folder: estimators.StopAtStep(LATER),
    ),
    (
        "v2_keras.summaries.Curves",
        lambda model, folder: summaries.Curves(folder, BATCH, test_every=2),
    ),
    (
        "v2_keras.training_loops.EarlyStopping",
        lambda model, folder: training_loops.EarlyStopping(patience=LATER),
    ),
    (
        "v2_keras.training_loops.EarlyStopping of a metric that rises",
        lambda model, folder: training_loops.EarlyStopping(
            "val_mae", patience=LATER, mode="max"
        ),
    ),
    (
        "v2_keras.training_loops.EveryFewSteps",
        lambda model, folder: training_loops.EveryFewSteps(max, 2),
    ),
    (
        "v2_keras.training_loops.Printer",
        lambda model, folder: training_loops.Printer(2, io.StringIO()),
    ),
    (
        "v2_keras.training_loops.Saver",
        saver,
    ),
]
ALLOWED = {}
ADDED = {  # entries that these callbacks add to an epoch's logs on purpose
    "v2_eager.keras_losses.Scores": {"val_f1"},
    "v2_eager.keras_training.callbacks.Validation": {
        "val_loss",
        "val_mae",
        "val_batch_loss",
    },
}
EVERY_STEP = {  # they need each step's end, and raise for steps_per_execution > 1
    "v2_eager.keras_recipes.own.WarmUp",
    "v2_keras.averages.Averages",
    "v2_keras.basics.Losses",
    "v2_keras.estimators.History",
    "v2_keras.estimators.StopAtStep",
    "v2_keras.summaries.Curves",
    "v2_keras.training_loops.EveryFewSteps",
    "v2_keras.training_loops.Printer",
}
RECORDS = {  # {class name: its records, a list that grows equally in each `fit`}
    "v2_eager.keras_recipes.own.Confusion": lambda one: one.counts,
    "v2_eager.keras_training.callbacks.BatchLog": lambda one: one.losses,
    "v2_eager.keras_training.callbacks.EventLog": lambda one: one.events,
    "v2_keras.basics.Losses": lambda one: one.losses,
    "v2_keras.estimators.History": lambda one: one.weights,
    "v2_keras.summaries.Curves": lambda one: one.losses,
    "v2_keras.training_loops.EveryFewSteps": lambda one: one.losses,
    "v2_keras.training_loops.Printer": lambda one: one.file.getvalue().splitlines(),
}


class Recorder(keras.callbacks.Callback):
    """Copies all logs that it gets."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def on_train_batch_end(self, batch, logs=None):
        self.seen.append(dict(logs or {}))

    on_epoch_end = on_test_batch_end = on_test_end = on_train_batch_end


class Raiser(keras.callbacks.Callback):
    """Raises an error in the second batch."""

    def __init__(self, when):
        super().__init__()
        setattr(self, when, self.stop)

    def stop(self, batch, logs=None):
        if batch == 1:
            raise KeyError("stop")


def model_of(steps_per_execution=1):
    start = np.float32([[1, -1], [0.5, 0.25]])
    layer = keras.layers.Dense(2, use_bias=False)
    model = keras.Sequential([keras.Input([2]), layer])
    layer.kernel.assign(start)
    metrics = ["mae", keras.metrics.MeanSquaredError(name="batch_loss")]
    model.compile(
        keras.optimizers.SGD(RATE),
        "mse",
        metrics=metrics,
        run_eagerly=True,
        steps_per_execution=steps_per_execution,
    )
    return model


def fit(model, *ours, epochs=2):
    """Fits; returns (logs before our callbacks, logs after, history, variables)."""
    before, after = Recorder(), Recorder()
    stopping = keras.callbacks.EarlyStopping("loss", patience=0)
    history = model.fit(
        ROWS,
        epochs=epochs,
        validation_data=BATCH,
        shuffle=False,
        verbose=0,
        callbacks=[before, *ours, after, stopping],
    ).history
    variables = [v.numpy() for v in model.variables]
    return before.seen, after.seen, history, variables


@functools.cache
def alone(steps_per_execution, fits):
    """Returns the results of several fits of one model without our callbacks."""
    model = model_of(steps_per_execution)
    return [fit(model) for _ in range(fits)]


@functools.cache
def interrupted(when):
    """Returns two fits' results after an interrupted fit, without our callbacks."""
    model = model_of()
    with contextlib.suppress(KeyError):
        fit(model, Raiser(when))
    return [fit(model) for _ in range(2)]


class CallbacksTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def assert_same(self, found, expected, added=()):
        """Compares two results of `fit`, except logs that our callbacks may add."""
        for seen, wanted in zip(found[:3], expected[:3], strict=True):
            self.assertEqual(without(seen, added), without(wanted, added))
        for one, other in zip(found[3], expected[3], strict=True):
            np.testing.assert_array_equal(one, other)

    @parameterized.expand(CASES)
    def test_others_see_what_they_see_without_it_in_each_fit(self, name, make):
        model = model_of()
        ours = make(model, self.folder)
        record = RECORDS.get(class_of(name))
        recorded = []
        for expected in alone(1, 2):
            found = fit(model, ours)
            self.assert_same(found, expected, ADDED.get(class_of(name), ()))
            recorded.append(list(record(ours)) if record else [])
        first, second = recorded
        self.assertEqual(bool(first), record is not None)
        self.assertEqual(len(second), 2 * len(first))
        for one, other in zip(first, second):
            np.testing.assert_array_equal(one, other)

    @parameterized.expand(CASES)
    def test_several_steps_per_execution_work_or_are_refused(self, name, make):
        model = model_of(steps_per_execution=4)
        ours = make(model, self.folder)
        if class_of(name) in EVERY_STEP:
            with self.assertRaisesRegex(ValueError, "steps_per_execution"):
                fit(model, ours)
        else:
            found = fit(model, ours)
            self.assert_same(found, alone(4, 1)[0], ADDED.get(class_of(name), ()))

    @parameterized.expand(CASES)
    @pytest.mark.slow
    def test_an_exception_of_another_leaves_nothing_changed(self, name, make):
        # The error comes between the calls that begin and end a step.
        self.interrupt(name, make, "on_train_batch_begin", True)

    @parameterized.expand(CASES)
    @pytest.mark.slow
    def test_nor_does_one_before_the_end_of_a_step(self, name, make):
        self.interrupt(name, make, "on_train_batch_end", False)

    def interrupt(self, name, make, when, behind):
        model = model_of()
        ours, raiser = make(model, self.folder), Raiser(when)
        with self.assertRaisesRegex(KeyError, "stop"):
            fit(model, *[ours, raiser] if behind else [raiser, ours])
        for chosen, expected in zip(([], [ours]), interrupted(when), strict=True):
            self.assert_same(
                fit(model, *chosen), expected, ADDED.get(class_of(name), ())
            )


def class_of(name):
    """Returns the name of the class, without the slug."""
    return name.partition(" ")[0]


def without(logs, added):
    """Removes some names from a dict of logs, or from each dict of a list."""
    if isinstance(logs, list):
        return [without(one, added) for one in logs]
    return {key: value for key, value in logs.items() if key not in added}


class LossesTest(unittest.TestCase):
    def test_two_in_one_fit_record_the_same(self):
        one, two = basics.Losses(), basics.Losses()
        first = basics.Losses()
        fit(model_of(), first)
        found = fit(model_of(), one, two)
        self.assertEqual(one.losses, first.losses)
        self.assertEqual(two.losses, first.losses)
        self.assertEqual(found[:3], alone(1, 1)[0][:3])

    def test_they_are_the_losses_of_the_steps(self):
        one = basics.Losses()
        fit(model_of(), one, epochs=1)
        model, expected = model_of(), []
        for start in (0, 2):
            rows = X[start : start + 2], Y[start : start + 2]
            expected.append(model.evaluate(*rows, verbose=0, return_dict=True)["loss"])
            model.train_on_batch(*rows)
        np.testing.assert_array_equal(one.losses, expected)

    def test_a_model_without_a_metric_of_the_loss_is_refused(self):
        class Model(keras.Sequential):
            metrics = ()

        model = Model([keras.layers.Dense(2)])
        model.compile("sgd", "mse")
        with self.assertRaisesRegex(ValueError, "no metric `loss`"):
            model.fit(X, Y, verbose=0, callbacks=[basics.Losses()])
