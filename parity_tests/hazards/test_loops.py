"""Loops that are left early have written the same checkpoints as TensorFlow 1.

`CASES` has a row for each public function of a page with a checkpoint manager or
`ModelCheckpoint`; a test finds these functions in the sources. An exception in a step
interrupts them. A loop that a caller can leave by `break` is compared with a
`MonitoredTrainingSession` of `compat.v1`.
"""

import ast
import contextlib
import importlib
import inspect
import pathlib
import tempfile
import unittest
from unittest import mock

import keras
import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests.hazards import found
from tf1to2.parity.v1 import legacy
from v1_graph import training_loops as v1
from v2_eager import estimators, training_loops
from v2_eager.numerics.optimizers.base import Optimizer
from v2_keras import training_loops as keras_loops

RNG = np.random.RandomState(0)
START = [RNG.normal(size=[3, 2]).astype("f"), np.float32([0, 1])]
BATCHES = tuple(RNG.normal(size=[4, 5, n]).astype("f") for n in (3, 2))
ROWS, TARGETS = (batches[0] for batches in BATCHES)
LABELS = np.arange(5) % 3
DATA = ROWS, LABELS
EMPTY = ROWS[:0], LABELS[:0]
LINE = {"line/weights": START[0], "line/biases": START[1]}
WEIGHTS = dict(zip(("kernel", "bias"), START))
RECIPE = {
    "body/kernel": np.eye(3, dtype="f"),
    "body/bias": np.zeros([3], "f"),
    "head/kernel": START[0],
    "head/bias": START[1],
}
LOOPS = "v2_eager.training_loops."
KERAS = "v2_keras.training_loops."
# (name of the function, its arguments, number of the interrupted step, the checkpoints'
# steps on disk).
CASES = [
    ("v2_eager.checkpoints.stop_and_resume", [ROWS, TARGETS, WEIGHTS, 2, 3], 4, [2]),
    ("v2_eager.estimators.run_main", [["--train_steps=5"], DATA, DATA], 4, [0]),
    ("v2_eager.estimators.train", [DATA, [{"steps": 3}, {"steps": 4}]], 5, [0, 3]),
    ("v2_eager.estimators.train_and_evaluate", [DATA, DATA, 8, 2], 6, [0, 2, 4]),
    ("v2_eager.horovod.train", [ROWS, TARGETS, [START], 1], 3, [0]),
    ("v2_eager.slim_learning.train", [ROWS, TARGETS, LINE, [2, 5]], 4, [2]),
    (LOOPS + "early_stopping", [BATCHES, START, (ROWS, TARGETS), 8], 4, [2]),
    (LOOPS + "monitored_loop", [BATCHES, START, 10], 8, [0, 4]),
    (LOOPS + "nan_guard", [BATCHES, START, 10], 6, [0, 2, 4]),
    (LOOPS + "stop_and_resume", [BATCHES, START, [3, 8]], 5, [0, 2, 3]),
    (LOOPS + "supervised_loop", [BATCHES, START, [2, 5]], 4, [2]),
    (LOOPS + "warm_start", [BATCHES, START, START[0], [3]], 2, [0]),
    (
        "v2_eager.training_recipes.evaluate_checkpoints",
        [(ROWS, TARGETS), (ROWS, TARGETS), RECIPE, [[1, 2], [4]]],
        4,
        [1, 2],
    ),
    (
        "v2_keras.estimators.train",
        [DATA, [{"steps": 3}, {"steps": 4}]],
        5,
        ["model.weights.h5"],
    ),
    ("v2_keras.estimators.train_and_evaluate", [DATA, DATA, 8, 2], 6, [0, 2, 4]),
    (KERAS + "monitored_loop", [BATCHES, START, 10], 8, [0, 4]),
    (KERAS + "nan_guard", [BATCHES, START, 10], 6, [0, 2, 4]),
    (KERAS + "stop_and_resume", [BATCHES, START, [3, 8]], 5, [0, 2, 3]),
    (KERAS + "supervised_loop", [BATCHES, START, [2, 5]], 4, [2]),
    (KERAS + "warm_start", [BATCHES, START, START[0], [3]], 2, [0]),
]
WITHOUT = "trains without a directory; the loop is that of `train`, which has a case"
ALLOWED = {
    "v2_eager.bridges.resume_objects": "the optimizer is that of compat.v1, and the "
    "manager saves after the last step, as the left page's saver",
    "v2_eager.checkpoints.keep": "takes no steps: it saves at given numbers",
    "v2_eager.estimators.evaluate": WITHOUT,
    "v2_eager.estimators.predict": WITHOUT,
    "v2_eager.estimators.serve": WITHOUT,
    "v2_eager.input_pipelines.resume": "takes no steps: it reads batches, and saves "
    "after the last one, as the left page's saver",
    "v2_eager.keras_training.keep_the_best": "Keras' own ModelCheckpoint, on both "
    "pages, which saves when an epoch ends",
}


SAVERS = {"CheckpointManager", "ModelCheckpoint"}


def names(node):
    """Returns the names in some code, and the attributes that are in `SAVERS`."""
    parts = list(ast.walk(node))
    attributes = {part.attr for part in parts if isinstance(part, ast.Attribute)}
    return {part.id for part in parts if isinstance(part, ast.Name)} | (
        attributes & SAVERS
    )


def loops_of(module):
    """Returns a page's public functions that use a checkpoint manager."""
    tree = ast.parse(inspect.getsource(module))
    defined = {
        node.name: names(node)
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    reached, before = SAVERS, None
    while reached != before:
        before = reached
        reached = before | {name for name, used in defined.items() if used & before}
    return {f"{module.__name__}.{name}" for name in reached & set(module.__all__)}


def on_disk(folder):
    """Returns the step numbers of the checkpoints, or the names of other files."""
    files = [path for path in pathlib.Path(folder).iterdir() if path.is_file()]
    indices = [path.stem for path in files if path.suffix == ".index"]
    if indices:
        return sorted(int(stem.rpartition("-")[2]) for stem in indices)
    return sorted(path.name for path in files)


class Stop(Exception):
    pass


@contextlib.contextmanager
def interrupted(step):
    """Raises `Stop` in the step with this number, counted from 1."""
    taken, of_module, of_keras = [], Optimizer.apply_gradients, keras.Optimizer.apply

    def count(take, *args, **kwargs):
        taken.append(take)
        if len(taken) == step:
            raise Stop
        return take(*args, **kwargs)

    def apply_gradients(*args, **kwargs):
        return count(of_module, *args, **kwargs)

    def apply(*args, **kwargs):
        return count(of_keras, *args, **kwargs)

    tf.config.run_functions_eagerly(True)
    try:
        with (
            mock.patch.object(Optimizer, "apply_gradients", apply_gradients),
            mock.patch.object(keras.Optimizer, "apply", apply),
        ):
            yield
    finally:
        tf.config.run_functions_eagerly(False)


class FunctionsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_every_loop_has_a_case_or_a_reason(self):
        pages = [m for m in found.modules() if hasattr(m, "__all__")]
        expected = set().union(*map(loops_of, pages))
        cased = {name for name, *_ in CASES}
        self.assertEqual(expected, cased | set(ALLOWED))
        self.assertEqual(cased & set(ALLOWED), set())
        for name, reason in ALLOWED.items():
            self.assertGreater(len(reason.split()), 3, name)

    @parameterized.expand(CASES)
    def test_after_an_exception_what_was_due_is_on_disk(self, name, args, step, saved):
        module, _, function = name.rpartition(".")
        function = getattr(importlib.import_module(module), function)
        kept = mock.patch.object(
            tempfile, "TemporaryDirectory", lambda: contextlib.nullcontext(self.folder)
        )
        with kept, interrupted(step), self.assertRaises(Stop):
            function(*args)
        self.assertEqual(on_disk(self.folder), saved)


def leave(way):
    """Raises an exception, or does nothing, in the last step of a caller's loop."""
    if way == "an exception":
        raise Stop
    if way == "the data end":
        raise StopIteration
    if way == "a dataset ends":
        raise tf.errors.OutOfRangeError(None, None, "end of sequence")


WAYS = [
    (way, last)
    for way in ("break", "an exception", "the data end", "a dataset ends")
    for last in (7, 0)
]
SAVE_EVERY = 5


def left(folder, way, last):
    """Leaves a `MonitoredTrainingSession` after a step."""
    with legacy(), v1.tf.Graph().as_default():
        line = v1.Line(BATCHES, START)
        scaffold = v1.tf.train.Scaffold()
        session = v1.session_until(10, folder, scaffold, SAVE_EVERY)
        try:
            with session:
                for step in range(11):
                    if step == last:
                        leave(way)
                        break
                    session.run(line.train_op)
        finally:
            v1.tf.summary.FileWriterCache.clear()


def right(folder, way, last):
    """Leaves `Trainer.fit` after a step."""
    trainer = training_loops.Trainer(START)
    with trainer.fit(BATCHES, 10, trainer.manager(folder, SAVE_EVERY)) as steps:
        for step in range(11):
            if step == last:
                leave(way)
                break
            next(steps)


class CallersTest(unittest.TestCase):
    def setUp(self):
        folders = [tempfile.TemporaryDirectory() for _ in range(2)]
        for folder in folders:
            self.addCleanup(folder.cleanup)
        self.folders = [folder.name for folder in folders]

    @parameterized.expand(WAYS)
    def test_what_a_session_left_is_on_disk(self, way, last):
        for loop, folder in zip((left, right), self.folders):
            raises = self.assertRaises(Stop) if way == "an exception" else None
            with raises or contextlib.nullcontext():
                loop(folder, way, last)
        expected = [0, 5] if last else [0]
        expected += [7] if last and way != "an exception" else []
        for folder in self.folders:
            self.assertEqual(on_disk(folder), expected)

    @parameterized.expand(
        [
            ("stop_training", [0, 5, 7]),
            ("an exception", [0, 5]),
            ("the data end", [0, 5, 7]),
        ]
    )
    def test_the_callback_of_keras_leaves_the_same(self, way, expected):
        training = keras_loops.Training(START, self.folders[0], SAVE_EVERY)
        leaver = keras.callbacks.LambdaCallback()

        def on_train_batch_end(batch, logs=None):
            if batch + 1 == 7:
                leave(way)
                leaver.model.stop_training = True

        if way != "the data end":
            leaver.on_train_batch_end = on_train_batch_end
        raises = self.assertRaises(Stop) if way == "an exception" else None
        saver = keras_loops.Saver(training.manager)
        with raises or contextlib.nullcontext():
            training.fit(BATCHES, 7 if way == "the data end" else 10, leaver, saver)
        self.assertEqual(on_disk(self.folders[0]), expected)

    @parameterized.expand([("rows", DATA, [0, 2]), ("no rows", EMPTY, [0])])
    def test_an_estimator_ends_where_its_data_end(self, _, data, expected):
        with mock.patch.object(
            tempfile,
            "TemporaryDirectory",
            lambda: contextlib.nullcontext(self.folders[0]),
        ):
            estimators.train(data, [{"steps": 2}])
        self.assertEqual(on_disk(self.folders[0]), expected)
