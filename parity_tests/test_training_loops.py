import tempfile
import unittest
from unittest import mock

import keras
import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from parity_tests.shorthand import refused
from tf1to2.parity import FalseFriend, Naive, Program, Raises
from tf1to2.parity.v1 import legacy
from v1_graph import training_loops as v1
from v2_eager import training_loops as v2
from v2_keras import training_loops as v3

RNG = np.random.RandomState(0)
X, Y = [RNG.standard_normal([3, 4, n]).astype("f") for n in (2, 1)]
WITH_NAN, INFINITE = Y.copy(), Y.copy()
WITH_NAN[2, 1], INFINITE[1, 2] = np.nan, np.inf
BATCHES, ROWS = (X, Y), (X[0], Y[0])
START = [np.float32([[0.5], [0.25]]), np.float32([0.125])]
SUMMARY = b"\n\x0b\n\x04loss\x15\xcd\xcc\xcc="
# Float64 data, so that the sides are also compared in float64; each case runs once.
DOUBLE = [tuple(a.astype("d") for a in BATCHES), [a.astype("d") for a in START]]
DOUBLE_ROWS = [a[1] for a in DOUBLE[0]]
VALIDATION = [(X[0] + X[1]).astype("d"), X[0, :, :1].astype("d")]
THREE = [np.float32([[1], [2], [3]]), START[1]]


def resume_weights_alone(batches, start, stops):
    """Calls `stop_and_resume` with a checkpoint that does not contain the optimizer."""
    losses, saved = [], []
    with tempfile.TemporaryDirectory() as directory:
        for last_step in stops:
            trainer = v2.Trainer(start)
            step = trainer.global_step
            manager = tf.train.CheckpointManager(
                tf.train.Checkpoint(weights=trainer.weights, step=step),
                directory,
                max_to_keep=5,
                step_counter=step,
                checkpoint_interval=2,
            )
            with trainer.fit(batches, last_step, manager) as steps:
                losses.append([loss for _, loss, _ in steps])
            saved.append(v2.saved_steps(directory))
        variables = {v.name[:-2]: v.numpy() for v in trainer.variables}
    return {"losses": losses, "saved": saved, "variables": variables}


def mismatch(name, slug, args, graph=ValueError):
    match = "must be equal|incompatible|Incompatible"
    eager = tf.errors.InvalidArgumentError
    return refused(name, slug, args, match, graph=graph, eager=eager)


CASES = [
    Program("feed_loop", "past the end of the batches", [BATCHES, START, 6]),
    Program("feed_loop", "another interval", [*DOUBLE, 5], {"print_every": 3}),
    Program("feed_loop", "no steps", [BATCHES, START, 0], skip={"function": PLAIN}),
    Raises(
        "feed_loop",
        "rows that do not match",
        [(X, Y[:, :3]), START, 1],
        of="program",
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=ValueError,
        match="(?i)incompatible shapes|dimensions must be equal",
    ),
    *[
        case
        for name, plain in [
            ("epoch_loop", {"function": PLAIN}),
            ("epoch_loop_in_one_call", {}),
        ]
        for case in (
            Program(name, "a short last batch", [ROWS, START, 2, 3]),
            Program(name, "no epochs", [ROWS, START, 0], skip=plain),
            Raises(
                name,
                "rows that do not match",
                [(X[0], Y[0, :3]), START, 1],
                of="program",
                graph=ValueError,
                eager=ValueError,
                function=ValueError,
                match="Dimensions 4 and 3 are not compatible",
            ),
        )
    ],
    Program("monitored_loop", "up to a step", [BATCHES, START, 10]),
    Program(
        "monitored_loop",
        "a number of steps",
        [*DOUBLE],
        {"num_steps": 3, "log_every": 2, "save_every": 2, "summary_every": 1},
    ),
    *[
        Raises(
            "monitored_loop",
            slug,
            [BATCHES, START],
            steps,
            of="program",
            graph=ValueError,
            eager=ValueError,
            function=ValueError,
            match="num_steps or last_step",
        )
        for slug, steps in [
            ("no end", {}),
            ("two ends", {"num_steps": 3, "last_step": 3}),
        ]
    ],
    Program(
        "stop_and_resume",
        "in one run",
        [*DOUBLE, [8]],
        {"save_every": 1, "max_to_keep": 2},
    ),
    FalseFriend(
        "stop_and_resume",
        "in two runs",
        [BATCHES, START, [3, 8]],
        of="program",
        naive=resume_weights_alone,
        because="the slots of Adam begin at zero again",
    ),
    mismatch("stop_and_resume", "features that do not match", [BATCHES, THREE, [1]]),
    Program("warm_start", "in two runs", [*DOUBLE, START[0] + 1, [2, 3]]),
    Raises(
        "warm_start",
        "another shape",
        [BATCHES, START, THREE[0], [1]],
        of="program",
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="(?i)shape",
    ),
    Program("nan_guard", "a NaN", [(X, WITH_NAN), START, 6], {"recover": True}),
    Program(
        "nan_guard",
        "infinity comes first",
        [(DOUBLE[0][0], INFINITE.astype("d")), DOUBLE[1], 6],
        {"recover": True, "save_every": 1},
    ),
    Raises(
        "nan_guard",
        "a NaN is an error",
        [(X, WITH_NAN), START, 6],
        of="program",
        graph=v1.tf.train.NanLossDuringTrainingError,
        eager=FloatingPointError,
        function=FloatingPointError,
        match="NaN loss during training",
    ),
    Program("early_stopping", "early", [*DOUBLE, VALIDATION, 20]),
    Program("early_stopping", "at the end", [*DOUBLE, DOUBLE_ROWS, 6], {"every": 3}),
    Program(
        "early_stopping",
        "losses that become NaN",
        [(DOUBLE[0][0], WITH_NAN.astype("d")), DOUBLE[1], VALIDATION, 20],
        {"every": 1, "patience": 2},
    ),
    Raises.alike(
        "early_stopping",
        "losses that are NaN",
        [*DOUBLE, (VALIDATION[0], VALIDATION[1] * np.nan), 20],
        ValueError,
        "load save_path when it is None|nothing to restore",
        of="program",
    ),
    mismatch(
        "early_stopping",
        "features that do not match",
        [BATCHES, START, (X[0, :, :1], Y[0]), 2],
    ),
    Program("supervised_loop", "in two runs", [*DOUBLE, [2, 5]]),
    mismatch("supervised_loop", "features that do not match", [BATCHES, THREE, [1]]),
]


class Logged(v3.Losses):
    """Collects the losses that `fit` logs in each step."""

    def on_train_batch_begin(self, batch, logs=None):
        pass

    def on_train_batch_end(self, batch, logs=None):
        self.losses.append(logs["loss"])


NAIVE = [
    Naive(
        "epoch_loop, a short last batch",
        "the losses that fit logs",
        mock.patch.object(v3, "Losses", Logged)(v3.epoch_loop),
        because="each is the mean of all losses of the epoch so far",
    ),
]
PROOF = proof(v1, v2, CASES, NAIVE)


# Functions of `TFRecordDataset` never run eagerly, and TensorFlow warns about it.
@pytest.mark.filterwarnings("ignore:Even though the .tf.config.experimental_run_func")
class TrainingLoopsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


def fit(trainer, directory, last_step, save_every=2):
    manager = trainer.manager(directory, save_every)
    with trainer.fit(BATCHES, last_step, manager) as steps:
        return [loss for _, loss, _ in steps]


def checkpoint(directory, name):
    return tf.train.load_checkpoint(directory).get_tensor(name)


class NumbersTest(unittest.TestCase):
    """The numbers of steps in logs, checkpoints and summaries, on both sides."""

    def test_a_line_of_the_log_a_summary_and_a_checkpoint(self):
        result = v2.monitored_loop(BATCHES, START, last_step=10)
        self.assertEqual(
            result["logged"],
            [f"step {i}: loss {result['losses'][i]:.4f}" for i in (0, 3, 6, 9)],
        )
        losses = [float(result["losses"][i]) for i in (0, 5)]
        self.assertEqual(
            result["summaries"],
            [(1, "loss", losses[0]), (1, "rate", 0.125)]
            + [(6, "loss", losses[1]), (6, "rate", 0.0625)],
        )
        self.assertEqual(result["saved"], [0, 4, 8, 10])

    def test_checkpoints_are_counted_from_where_a_run_began(self):
        result = v2.stop_and_resume(BATCHES, START, [3, 8])
        self.assertEqual(result["saved"], [[0, 2, 3], [2, 3, 5, 7, 8]])

    def test_resumed_is_uninterrupted(self):
        whole = v2.stop_and_resume(BATCHES, START, [8])
        parts = v2.stop_and_resume(BATCHES, START, [3, 8])
        self.assertEqual([len(losses) for losses in parts["losses"]], [3, 5])
        np.testing.assert_array_equal(sum(parts["losses"], []), whole["losses"][0])
        self.assertEqual(list(parts["variables"]), list(whole["variables"]))
        for name, value in parts["variables"].items():
            np.testing.assert_array_equal(value, whole["variables"][name], name)

    def test_the_slots_are_named_as_in_v1(self):
        names = ["kernel", "bias", "kernel/Adam", "kernel/Adam_1", "bias/Adam"]
        names += ["bias/Adam_1", "beta1_power", "beta2_power", "global_step"]
        variables = [v.name[:-2] for v in v2.Trainer(START).variables]
        self.assertEqual(sorted(variables), sorted(names))

    def test_a_step_is_told_when_it_was_taken(self):
        trainer = v2.Trainer(START)
        with tempfile.TemporaryDirectory() as path:
            manager = trainer.manager(path, save_every=4)
            with trainer.fit(BATCHES, 8, manager) as steps:
                for step, _, _ in steps:
                    self.assertEqual(trainer.global_step.numpy(), step + 1)
                    if step == 1:
                        break
            self.assertEqual(trainer.global_step.numpy(), 2)
            self.assertEqual(v2.saved_steps(path), [0, 2])

    def test_all_steps_are_one_trace(self):
        trainer = v2.Trainer(START)
        with tempfile.TemporaryDirectory() as path:
            fit(trainer, path, 6)
        self.assertEqual(trainer.step.experimental_get_tracing_count(), 1)


class StopAtStepTest(unittest.TestCase):
    """The hook checks after a step, so that at least one step is taken."""

    @parameterized.expand(
        [
            ("last_step", {"last_step": 7}, 7),
            ("num_steps", {"num_steps": 7}, 12),
            ("last_step_is_reached", {"last_step": 5}, 6),
            ("last_step_is_passed", {"last_step": 2}, 6),
            ("no_steps", {"num_steps": 0}, 6),
        ]
    )
    def test_from_step_five(self, _, options, expected):
        with legacy():
            step = v1.tf.train.create_global_step()
            scaffold = v1.tf.train.Scaffold(init_fn=lambda _, sess: step.load(5, sess))
            increment, steps = v1.tf.assign_add(step, 1), []
            hooks = [v1.tf.train.StopAtStepHook(**options)]
            with v1.tf.train.MonitoredTrainingSession(
                hooks=hooks, scaffold=scaffold
            ) as session:
                while not session.should_stop():
                    steps.append(session.run(increment))
        self.assertEqual(steps[-1], expected)

    def test_an_end_between_two_evaluations(self):
        args = *DOUBLE, DOUBLE_ROWS, 5
        with legacy():
            left = v1.early_stopping(*args, every=3)
        right = v2.early_stopping(*args, every=3)
        self.assertEqual(len(right["losses"]), 5)
        np.testing.assert_array_equal(left["losses"], right["losses"])
        self.assertEqual(left["validations"], right["validations"])
        np.testing.assert_array_equal(left["weights"][0], right["weights"][0])

    def test_a_finished_run_takes_a_step_more_there_and_none_here(self):
        with legacy():
            left = v1.stop_and_resume(BATCHES, START, [2, 2])
        right = v2.stop_and_resume(BATCHES, START, [2, 2])
        self.assertEqual(left["variables"]["global_step"], 3)
        self.assertEqual(right["variables"]["global_step"], 2)
        self.assertEqual([len(losses) for losses in right["losses"]], [2, 0])


class NanTest(unittest.TestCase):
    DATA = X, WITH_NAN

    def run_left(self, directory, hooks, **options):
        with legacy():
            line, steps = v1.Line(self.DATA, START), 0
            try:
                with v1.tf.train.MonitoredTrainingSession(
                    hooks=hooks(line.loss), **options
                ) as session:
                    while not session.should_stop():
                        session.run(line.train_op)
                        steps += 1
            finally:
                v1.tf.summary.FileWriterCache.clear()
                self.steps = steps
                self.saved = v1.saved_steps(directory)

    def test_the_built_in_saver_comes_before_your_hooks(self):
        hook = v1.tf.train.NanTensorHook
        with tempfile.TemporaryDirectory() as path:
            with self.assertRaises(v1.tf.train.NanLossDuringTrainingError):
                self.run_left(
                    path,
                    lambda loss: [hook(loss)],
                    checkpoint_dir=path,
                    save_checkpoint_steps=1,
                    save_summaries_steps=None,
                    save_summaries_secs=None,
                    log_step_count_steps=None,
                )
            self.assertEqual(self.saved, [0, 1, 2, 3])
            self.assertTrue(np.isnan(checkpoint(path, "kernel")).all())

    def test_a_request_to_stop_saves_what_is_broken(self):
        with tempfile.TemporaryDirectory() as path:
            self.run_left(
                path,
                lambda loss: [
                    v1.tf.train.NanTensorHook(loss, fail_on_nan_loss=False),
                    v1.tf.train.CheckpointSaverHook(path, save_steps=100),
                ],
            )
            self.assertEqual((self.steps, self.saved), (3, [0, 3]))
            self.assertTrue(np.isnan(checkpoint(path, "kernel")).all())

    def test_the_port_never_saves_it(self):
        trainer = v2.Trainer(START)
        with tempfile.TemporaryDirectory() as path:
            manager = trainer.manager(path, save_every=1)
            # The NaN is found also between two saves: its step is the last.
            with self.assertRaisesRegex(FloatingPointError, "step 2"):
                with trainer.fit(self.DATA, 6, manager) as steps:
                    list(steps)
            self.assertEqual(v2.saved_steps(path), [0, 1, 2])
            self.assertEqual(trainer.global_step.numpy(), 3)
            self.assertTrue(np.isnan(trainer.weights[0]).all())
            manager.restore_or_initialize()
            self.assertTrue(np.isfinite(trainer.weights[0]).all())

    def test_where_the_left_page_has_no_hook_it_trains_on(self):
        with legacy():
            left = v1.stop_and_resume(self.DATA, START, [4])["losses"]
        self.assertTrue(np.isnan(left[0][2:]).all())
        self.assertEqual(len(left[0]), 4)
        with self.assertRaisesRegex(FloatingPointError, "step 2"):
            v2.stop_and_resume(self.DATA, START, [4])
        with self.assertRaisesRegex(FloatingPointError, "step 2"):
            v2.warm_start(self.DATA, START, START[0], [4])

    def test_infinity_is_no_nan(self):
        data = X, INFINITE
        result = v2.nan_guard(data, START, 6, save_every=1, recover=True)
        self.assertEqual(result["losses"][1:], [np.inf])
        self.assertEqual(result["saved"], [0, 1, 2])
        self.assertTrue(np.isnan(result["weights"][0]).all())


class ResumeTest(unittest.TestCase):
    def test_another_shape_is_an_error_on_both_sides(self):
        with tempfile.TemporaryDirectory() as path:
            fit(v2.Trainer(START), path, 1)
            with self.assertRaisesRegex(ValueError, "(?i)shape"):
                fit(v2.Trainer(THREE), path, 2)
        with legacy(), tempfile.TemporaryDirectory() as path:
            for start in (START, THREE):
                with v1.tf.Graph().as_default(), v1.tf.Session() as sess:
                    v1.tf.get_variable("kernel", initializer=start[0])
                    saver = v1.tf.train.Saver()
                    if start is START:
                        sess.run(v1.tf.global_variables_initializer())
                        saver.save(sess, path + "/model")
                    else:
                        with self.assertRaisesRegex(
                            tf.errors.InvalidArgumentError, "shapes of both tensors"
                        ):
                            saver.restore(sess, path + "/model")

    def test_a_missing_variable_is_found_by_the_assertion_only(self):
        with tempfile.TemporaryDirectory() as path:
            fit(v2.Trainer(START), path, 1)
            trainer = v2.Trainer(START)
            trainer.added = tf.Variable(1.0, name="added")
            manager = trainer.manager(path, 1)
            self.assertRegex(manager.restore_or_initialize(), "ckpt-1$")
            self.assertEqual(trainer.added.numpy(), 1)
            with self.assertRaisesRegex(AssertionError, "added"):
                fit(trainer, path, 2)

    @parameterized.expand([("a_number", True, [3]), ("none", False, [1])])
    def test_a_manager_numbers_by_itself_unless_told(self, _, told, expected):
        trainer = v2.Trainer(START)
        trainer.global_step.assign(3)
        with tempfile.TemporaryDirectory() as path:
            manager = trainer.manager(path, 1)
            manager.save(trainer.global_step if told else None)
            self.assertEqual(v2.saved_steps(path), expected)

    def test_a_missing_variable_was_an_error(self):
        with legacy(), tempfile.TemporaryDirectory() as path, v1.tf.Session() as sess:
            v1.tf.get_variable("kernel", initializer=START[0])
            sess.run(v1.tf.global_variables_initializer())
            v1.tf.train.Saver().save(sess, path + "/model")
            v1.tf.get_variable("added", initializer=1.0)
            with self.assertRaisesRegex(tf.errors.NotFoundError, "Key added not found"):
                v1.tf.train.Saver().restore(sess, path + "/model")

    def test_without_slots_the_second_step_differs(self):
        whole = v2.stop_and_resume(BATCHES, START, [8])["losses"][0]
        _, parts = resume_weights_alone(BATCHES, START, [3, 8])["losses"]
        self.assertEqual(
            [a == b for a, b in zip(whole[3:], parts)], [True] + [False] * 4
        )

    def test_loading_weights_does_not_overwrite_a_resumed_run(self):
        _, seen, weights = v2.warm_start(BATCHES, START, START[0] + 1, [2, 3])
        self.assertEqual(seen, [8, 4])
        again = v2.warm_start(BATCHES, START, START[0] + 1, [3])[2]
        np.testing.assert_array_equal(weights[0], again[0])


class KerasTest(unittest.TestCase):
    def test_an_end_between_two_evaluations_is_refused(self):
        with self.assertRaisesRegex(ValueError, "a multiple of 3, not 5"):
            v3.early_stopping(*DOUBLE, DOUBLE_ROWS, 5, every=3)

    def test_a_callback_for_every_few_steps_needs_no_other(self):
        seen, alone = [], v3.Losses()
        model = v3.line(START, keras.optimizers.SGD(0.125))
        act = v3.EveryFewSteps(lambda step, loss: seen.append((step, loss)), 2)
        batches = tf.data.Dataset.from_tensor_slices(BATCHES)
        model.fit(batches, shuffle=False, verbose=0, callbacks=[act])
        model.optimizer.iterations.assign(0)
        model.set_weights(START)
        model.fit(batches, shuffle=False, verbose=0, callbacks=[alone])
        self.assertEqual(seen, [(0, alone.losses[0]), (2, alone.losses[2])])

    def test_epochs_of_float64_are_in_float64(self):
        given = tuple(DOUBLE_ROWS), DOUBLE[1], 3
        _, pair, _ = v2.epoch_loop(*given)
        _, page, _ = v3.epoch_loop(*given)
        for left, right in zip(pair, page):
            np.testing.assert_array_equal(left, right)


class EventsTest(unittest.TestCase):
    def test_the_writer_writes_the_bytes_of_v1(self):
        def summaries(directory):
            names, dtypes = ["step", "summary"], [tf.int64, tf.string]
            (file,) = tf.io.gfile.glob(directory + "/events.*")
            decoded = [
                tf.io.decode_proto(record, "tensorflow.Event", names, dtypes).values
                for record in tf.data.TFRecordDataset(file)
            ]
            return [(int(s[0]), x[0].numpy()) for s, x in decoded if x[0].numpy()]

        directory = tempfile.TemporaryDirectory
        with directory() as left, directory() as right:
            with legacy(), v1.tf.Session() as sess:
                with v1.tf.summary.FileWriter(left) as writer:
                    summary = v1.tf.summary.scalar("loss", np.float32(0.1))
                    writer.add_summary(sess.run(summary), 7)
            writer = v2.ScalarWriter(right)
            writer.write(7, loss=np.float32(0.1))
            writer.close()
            self.assertEqual(summaries(left), [(7, SUMMARY)])
            self.assertEqual(summaries(right), [(7, SUMMARY)])

    def test_both_readers_read_both(self):
        with tempfile.TemporaryDirectory() as path:
            for step in (2, 4):  # within one second; no file is overwritten
                writer = v2.ScalarWriter(path)
                writer.write(step, loss=0.5, rate=0.25)
                writer.close()
            expected = [(2, "loss", 0.5), (2, "rate", 0.25)]
            expected += [(4, "loss", 0.5), (4, "rate", 0.25)]
            self.assertEqual(v1.read_scalars(path), expected)
            self.assertEqual(v2.read_scalars(path), expected)
