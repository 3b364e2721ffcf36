import contextlib
import functools
import io
import tempfile
import unittest
from unittest import mock

import keras
import numpy as np
import tensorflow as tf
from absl import flags
from parameterized import parameterized

from parity_tests import PLAIN, proof, shorthand
from tf1to2.parity import Mismatch, Naive, Program
from tf1to2.parity.v1 import legacy
from v1_graph import estimators as v1
from v2_eager import estimators as v2
from v2_keras import estimators as v3

ALONE = {"graph": "today's TensorFlow has no Estimator"}
ROWS = np.random.RandomState(0).standard_normal((12, 3)).astype("f")
NAN_ROW = np.where(np.arange(12) == 8, np.nan, 1).astype("f")[:, None]
LABELS = ROWS.argmax(axis=1)
DATA, EVAL_DATA = (ROWS[:7], LABELS[:7]), (ROWS[7:], LABELS[7:])
OTHER = "hidden=[5,4],activation=tanh,rate=0.5,momentum=0.25,shuffle=False"
FLAGS = ["--train_steps=5", "--hparams=rate=0.5", "--typo=1", "--noevaluate", "x"]


def program(name, slug, args, kwargs=(), skip=(), **options):
    skip = {**ALONE, **dict(skip)}
    return Program(name, slug, args, dict(kwargs), skip=skip, **options)


refused = functools.partial(shorthand.refused, skip=ALONE)


DEFAULTS = {
    "hidden": [4],
    "activation": "relu",
    "classes": 3,
    "rate": 0.125,
    "momentum": 0.5,
    "batch_size": 2,
    "shuffle": True,
}
CASES = [
    program(
        "parse_hparams", "nothing", [""], expect=DEFAULTS, skip={"function": PLAIN}
    ),
    program(
        "parse_hparams",
        "one of each kind",
        ["rate=2,hidden=[8,4],activation=tanh, batch_size=3,shuffle=false"],
        expect={
            **DEFAULTS,
            "hidden": [8, 4],
            "activation": "tanh",
            "rate": 2.0,
            "batch_size": 3,
            "shuffle": False,
        },
        skip={"function": PLAIN},
    ),
    program(
        "parse_hparams",
        "an empty list",
        ["hidden=[],shuffle=1,"],
        skip={"function": PLAIN},
    ),
    program(
        "parse_hparams",
        "a list with spaces",
        ["hidden=[8 4, 2],shuffle=True"],
        skip={"function": PLAIN},
    ),
    refused("parse_hparams", "unknown", ["rat=2"], "Unknown hyperparameter"),
    refused("parse_hparams", "twice", ["rate=2,rate=3"], "Multiple assign"),
    refused("parse_hparams", "no number", ["batch_size=many"], "many"),
    refused("parse_hparams", "a float for an int", ["batch_size=2.5"], "2.5"),
    refused("parse_hparams", "no bool", ["shuffle=maybe"], "maybe"),
    refused("parse_hparams", "a list for a number", ["rate=[1,2]"], "rate"),
    refused("parse_hparams", "a number for a list", ["hidden=8"], "hidden"),
    refused("parse_hparams", "one item of a list", ["hidden[0]=8"], "hidden"),
    refused("parse_hparams", "no equals sign", ["rate"], "Malformed"),
    program("train", "the classic", [DATA, [{"steps": 5}]]),
    program(
        "train",
        "stop and resume",
        [DATA, [{"max_steps": 5}, {"max_steps": 5}, {"steps": 5}]],
    ),
    program(
        "train",
        "other hyperparameters",
        [DATA, [{"steps": 4}]],
        {"hparams": OTHER},
    ),
    refused("train", "no steps", [DATA, [{"steps": 0}]], "steps > 0"),
    refused("train", "up to no step", [DATA, [{"max_steps": 0}]], "max_steps > 0"),
    refused("predict", "negative steps", [DATA, ROWS, -1], "steps > 0"),
    refused("train", "both", [DATA, [{"steps": 1, "max_steps": 1}]], "both steps"),
    refused(
        "train",
        "a label that there is not",
        [(ROWS, LABELS + 1), [{"steps": 6}]],
        "label value of 3 which is outside the valid range",
        tf.errors.InvalidArgumentError,
    ),
    refused(
        "train",
        "a loss that is not a number",
        [(ROWS * NAN_ROW, LABELS), [{"steps": 6}], "hidden=[]"],
        "NaN loss during training",
        tf.errors.InvalidArgumentError,
        graph=tf.compat.v1.train.NanLossDuringTrainingError,
    ),
    program("evaluate", "all batches", [DATA, EVAL_DATA, 3]),
    program("evaluate", "two batches", [DATA, EVAL_DATA, 3, 2]),
    program(
        "evaluate",
        "one batch, labels of 32 bits",
        [DATA, (ROWS, LABELS.astype("int32")), 2],
        {"hparams": "batch_size=12"},
    ),
    program("evaluate", "untrained", [DATA, EVAL_DATA, None]),
    program(
        "evaluate",
        "no rows",
        [DATA, (ROWS[:0], LABELS[:0]), 1],
    ),
    refused("evaluate", "no steps", [DATA, EVAL_DATA, 1, 0], "steps > 0"),
    program("predict", "trained", [DATA, ROWS[7:], 3]),
    program("predict", "untrained", [DATA, ROWS[7:], None]),
    refused(
        "predict",
        "rows of another width",
        [DATA, ROWS[7:, :2], 1],
        "shape|[Ss]ize",
        tf.errors.InvalidArgumentError,
        function=TypeError,
    ),
    program("serve", "four signatures", [DATA, ROWS[7:], 3]),
    refused("serve", "untrained", [DATA, ROWS[7:], None], "find trained model"),
    program(
        "train_and_evaluate", "to the last step", [DATA, EVAL_DATA, 7, 3], {"keep": 2}
    ),
    program(
        "train_and_evaluate",
        "early stopping",
        [DATA, EVAL_DATA, 40, 3, 6],
        {"hparams": "rate=0.5"},
    ),
    program("train_and_evaluate", "no rows", [DATA, (ROWS[:0], LABELS[:0]), 20, 3, 6]),
    refused("train_and_evaluate", "no steps", [DATA, EVAL_DATA, 0, 3], "max_steps > 0"),
    refused(
        "train_and_evaluate",
        "no steps between two checkpoints",
        [DATA, EVAL_DATA, 4, 0],
        "save_every > 0|CheckpointSaverHook",
    ),
    program("run_main", "defaults", [[], DATA, EVAL_DATA]),
    program(
        "run_main",
        "flags, one of them unknown, and no evaluation",
        [FLAGS, DATA, EVAL_DATA],
    ),
    refused(
        "run_main",
        "a hyperparameter that there is not",
        [["--hparams=rat=1"], DATA, EVAL_DATA],
        "Unknown hyperparameter",
    ),
]
evaluated = v3.evaluated


def over_rows(model, logs, prefix=""):
    """Returns an evaluation's results with the loss of Keras, a mean over rows."""
    return evaluated(model, {**logs, "batch_loss": logs["loss"]}, prefix)


NAIVE = [
    Naive(
        "evaluate, all batches",
        "the loss that evaluate tells",
        mock.patch.object(v3, "evaluated", over_rows)(v3.evaluate),
        because="it is the mean over rows, and was one over batches",
    ),
]
PROOF = proof(v1, v2, CASES, NAIVE)


class EstimatorsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


HPARAMS, FLAT = v2.Settings(), v2.Settings(shuffle=False)
batches = v2.train_batches


class Doubled(v2.Classifier):
    def __call__(self, x):
        return 2 * super().__call__(x)


class LegacyTest(unittest.TestCase):
    """Checks why the left page is skipped, and that a broken right page is noticed."""

    def test_today_s_tensorflow_has_no_estimator(self):
        self.assertFalse(hasattr(tf, "estimator"))
        self.assertFalse(hasattr(tf.compat.v1, "estimator"))
        with legacy(), self.assertRaisesRegex(ImportError, "contrib"):
            v1.train(DATA, [{"steps": 1}])

    @parameterized.expand(
        [
            ("another_order", "train_batches", lambda data, _: batches(data, FLAT)),
            ("other_logits", "Classifier", Doubled),
        ]
    )
    def test_a_broken_right_page_fails(self, _, name, broken):
        checks = dict(PROOF.checks())
        for way in ("eager", "function"):
            with mock.patch.object(PROOF.v2, name, broken):
                with self.assertRaisesRegex(Mismatch, "losses.*1.15.5"):
                    checks["train, the classic, " + way]()


class ParseTest(unittest.TestCase):
    """Texts that `HParams` of 1.15.5 accepts or refuses, too."""

    def test_spaces_around_the_equals_sign(self):
        found = v2.parse_hparams("hidden = [8 4, 2],rate =2")
        self.assertEqual([found["hidden"], found["rate"]], [[8, 4, 2], 2.0])

    def test_two_commas(self):
        with self.assertRaisesRegex(ValueError, "Malformed hyperparameter value: ,ba"):
            v2.parse_hparams("rate=2,,batch_size=3")


class InputTest(unittest.TestCase):
    def test_a_run_begins_at_the_first_batch_again(self):
        straight = v2.train(DATA, [{"steps": 6}])["losses"]
        resumed = v2.train(DATA, [{"steps": 5}, {"steps": 1}])["losses"]
        np.testing.assert_array_equal(straight[:5], resumed[:5])
        self.assertEqual(f"{straight[5]:.4f} {resumed[5]:.4f}", "1.3421 0.2693")

    def test_an_iterator_in_the_checkpoint_goes_on(self):
        losses = []
        with tempfile.TemporaryDirectory() as path:
            for _ in range(2):
                trainer = v2.Trainer(ROWS, HPARAMS)
                rows = v2.train_batches(DATA, HPARAMS)
                checkpoint = tf.train.Checkpoint(trainer=trainer, batches=rows)
                manager = tf.train.CheckpointManager(checkpoint, path, 5)
                manager.restore_or_initialize()
                for _ in range(5):
                    losses.append(trainer.train_step(*next(rows)).numpy())
                manager.save()
        straight = v2.train(DATA, [{"steps": 10}])["losses"]
        np.testing.assert_array_equal(losses, straight)

    def test_a_run_needs_an_end(self):
        with self.assertRaisesRegex(ValueError, "steps or max_steps"):
            v2.train(DATA, [{}])


class EvaluationTest(unittest.TestCase):
    def test_the_loss_is_a_mean_over_batches_not_over_rows(self):
        trainer = v2.trained(DATA, HPARAMS, 3)
        by_batch = trainer.evaluate(v2.eval_batches(EVAL_DATA, HPARAMS))
        by_row = trainer.evaluate(tf.data.Dataset.from_tensors(EVAL_DATA))
        losses = f"{by_batch['loss']:.4f} {by_row['loss']:.4f}"
        self.assertEqual(losses, "0.9593 0.9267")
        self.assertEqual(by_batch["accuracy"], by_row["accuracy"])


class RetraceTest(unittest.TestCase):
    def test_the_last_batch_is_shorter(self):
        trainer = v2.Trainer(ROWS, HPARAMS)
        unsigned = tf.function(trainer.model)
        for rows in v2.eval_batches(ROWS[:5], HPARAMS):
            np.testing.assert_array_equal(
                tf.nn.softmax(unsigned(rows)), trainer.predict(rows)["probabilities"]
            )
        self.assertEqual(unsigned.experimental_get_tracing_count(), 2)
        self.assertEqual(trainer.predict.experimental_get_tracing_count(), 1)


class FlagsTest(unittest.TestCase):
    def test_absl_refuses_what_tf_app_run_let_pass(self):
        arguments = ["program", "--typo=1"]
        with self.assertRaisesRegex(flags.UnrecognizedFlagError, "typo"):
            flags.FlagValues()(arguments)
        self.assertEqual(flags.FlagValues()(arguments, known_only=True), arguments)

    def test_absl_parses_nothing_on_the_spot(self):
        values = flags.FlagValues()
        flags.DEFINE_integer("steps", 1, "Number of steps.", flag_values=values)
        with self.assertRaises(flags.UnparsedFlagAccessError):
            _ = values.steps

    def test_the_page_leaves_no_flags_behind(self):
        with self.assertRaisesRegex(ValueError, "Unknown"):
            v2.run_main(["--hparams=rat=1"], DATA, EVAL_DATA)
        self.assertNotIn("train_steps", flags.FLAGS)


class CheckpointTest(unittest.TestCase):
    def test_an_estimator_s_checkpoint_loads_by_name(self):
        trainer, fresh = v2.trained(DATA, HPARAMS, 3), v2.Trainer(ROWS, HPARAMS)
        saved = {v.name[:-2]: v.numpy() for v in trainer.variables}
        with legacy(), v1.tf.Session() as sess, tempfile.TemporaryDirectory() as path:
            for name, value in saved.items():
                v1.tf.get_variable(name, initializer=value)
            sess.run(v1.tf.global_variables_initializer())
            v1.tf.train.Saver().save(sess, path + "/model.ckpt", 3)
            reader = tf.train.load_checkpoint(path)
            stored = {
                n: reader.get_tensor(n) for n in reader.get_variable_to_shape_map()
            }
        self.assertEqual(set(stored), set(saved))
        self.assertEqual(fresh.trainable_variables, fresh.model.variables)
        for variable in fresh.variables:
            variable.assign(stored[variable.name[:-2]])
        for variable in fresh.variables:
            np.testing.assert_array_equal(variable, saved[variable.name[:-2]])
        self.assertEqual(fresh.global_step.numpy(), 3)

    def test_a_warm_start_takes_weights_and_neither_slots_nor_step(self):
        trainer, fresh = v2.trained(DATA, HPARAMS, 4), v2.Trainer(ROWS, HPARAMS)
        with tempfile.TemporaryDirectory() as path:
            file = v2.checkpoints(trainer, path).save()
            model = tf.train.Checkpoint(model=fresh.model)
            status = tf.train.Checkpoint(trainer=model).restore(file)
            status.assert_existing_objects_matched().expect_partial()
        for old, new in zip(trainer.model.variables, fresh.model.variables):
            np.testing.assert_array_equal(old, new)
        self.assertEqual(fresh.global_step.numpy(), 0)
        self.assertTrue(all(np.any(slot) for slot in trainer.optimizer.variables))
        self.assertFalse(any(np.any(slot) for slot in fresh.optimizer.variables))


class KerasTest(unittest.TestCase):
    def test_what_an_estimator_wrote_is_carried_over_and_goes_on(self):
        trainer, model = v2.trained(DATA, FLAT, 3), v3.make_model(ROWS, FLAT)
        old, new = {v.name[:-2]: v for v in trainer.variables}, v3.old_names(model)
        self.assertEqual(old.keys(), new.keys())
        for name, variable in new.items():
            variable.assign(old[name].numpy())
        rows = v3.train_batches(DATA, FLAT)
        model.fit(rows, steps_per_epoch=2, shuffle=False, verbose=0)
        batches = v2.train_batches(DATA, FLAT)
        for _ in range(2):
            trainer.train_step(*next(batches))
        for name, variable in new.items():
            apart = np.abs(variable.numpy() - old[name].numpy()).max()
            self.assertLess(apart, 1e-7, name)

    def test_a_saved_model_can_be_loaded_and_goes_on(self):
        model = v3.trained(DATA, FLAT, 2)
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/model.keras"
            model.save(path)
            loaded = keras.models.load_model(path)
        for one in (model, loaded):
            rows = v3.train_batches(DATA, FLAT)
            one.fit(rows, steps_per_epoch=2, shuffle=False, verbose=0)
        for old, new in zip(model.get_weights(), loaded.get_weights(), strict=True):
            np.testing.assert_array_equal(new, old, strict=True)
        logs = loaded.evaluate(*EVAL_DATA, verbose=0, return_dict=True)
        self.assertEqual(logs.keys(), {"loss", "accuracy", "batch_loss"})

    def test_slots_are_found_by_name(self):
        schedule = keras.optimizers.schedules.CosineDecay(0.1, 9)
        for optimizer in (keras.optimizers.Adam(schedule), keras.optimizers.Adam(0.1)):
            model = v3.make_model(ROWS, FLAT)
            model.compile(optimizer)
            optimizer.build(model.trainable_variables)
            names, slots = v3.old_names(model), optimizer.variables
            self.assertIs(names["scores/kernel/Adam"], slots[-4])
            self.assertIs(names["scores/bias/Adam_1"], slots[-1])

    def test_steps_are_refused_before_fit_goes_on_for_ever(self):
        for call in (
            lambda: v3.predict(DATA, ROWS, -1),
            lambda: v3.train(DATA, [{"max_steps": 0}]),
        ):
            with self.assertRaisesRegex(ValueError, "> 0"):
                call()

    def test_a_run_beyond_the_last_step_stops(self):
        model = v3.make_model(ROWS, FLAT)
        model.optimizer.iterations.assign(5)
        rows, stop = v3.train_batches(DATA, FLAT), v3.StopAtStep(3)
        model.fit(
            rows,
            epochs=3,
            steps_per_epoch=1,
            shuffle=False,
            verbose=0,
            callbacks=[stop],
        )
        self.assertEqual(int(model.optimizer.iterations), 6)

    def test_no_rows_and_more_batches_than_there_are(self):
        for side in (v2, v3):
            self.assertEqual(side.predict(DATA, ROWS[:0], 1), [])
        known, more = (v3.evaluate(DATA, EVAL_DATA, 1, n) for n in (None, 99))
        self.assertEqual(more, known)

    def test_float64_is_trained_in_float64(self):
        data = ROWS.astype("d"), LABELS
        pair, page = (side.train(data, [{"steps": 3}]) for side in (v2, v3))
        for old, new in zip(pair["weights"], page["weights"], strict=True):
            for a, b in zip(old, new, strict=True):
                self.assertEqual(a.dtype, b.dtype)
                self.assertLess(np.abs(a - b).max(), 1e-14)
        (names, answers), (_, expected) = (
            side.serve(data, data[0][7:], 3) for side in (v3, v2)
        )
        for name in names:
            for key, value in expected[name].items():
                self.assertEqual(answers[name][key].dtype, value.dtype)
                self.assertLess(np.abs(answers[name][key] - value).max(), 1e-14)

    def test_the_page_refuses_no_steps_between_two_checkpoints(self):
        with self.assertRaisesRegex(ValueError, "save_every > 0, given: 0"):
            v3.train_and_evaluate(DATA, EVAL_DATA, 4, 0)

    def test_labels_that_are_floats_are_refused(self):
        floats = ROWS, LABELS + 0.75
        for side in (v2, v3):
            with self.assertRaises(TypeError):
                side.train(floats, [{"steps": 1}])
        for name, *rest in (("evaluate", 1), ("train_and_evaluate", 1, 1)):
            with self.assertRaisesRegex(TypeError, "integers, not float64"):
                getattr(v3, name)(DATA, floats, *rest)

    @parameterized.expand(
        [
            ("evaluate", EVAL_DATA, 6),
            ("predict", ROWS[7:], 6),
            ("serve", ROWS[7:], 6),
            ("train_and_evaluate", EVAL_DATA, 6, 3),
        ]
    )
    def test_a_nan_ends_the_training_of(self, name, *args):
        nan = ROWS * NAN_ROW, LABELS
        with self.assertRaisesRegex(FloatingPointError, "NaN loss"):
            getattr(v3, name)(nan, *args, hparams="hidden=[]")

    def test_a_nan_is_an_error_before_it_is_saved(self):
        with self.assertRaisesRegex(FloatingPointError, "NaN loss"):
            v3.train((ROWS * NAN_ROW, LABELS), [{"steps": 6}], "hidden=[]")
        model = v3.make_model(ROWS, FLAT)
        nan = np.full_like(ROWS[:2], np.nan), LABELS[:2]
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = folder.name + "/saved.weights.h5"
        save = keras.callbacks.ModelCheckpoint(path, save_weights_only=True)
        with contextlib.redirect_stdout(io.StringIO()):
            model.fit(
                *nan, verbose=0, callbacks=[keras.callbacks.TerminateOnNaN(), save]
            )
        fresh = v3.make_model(ROWS, FLAT)
        fresh.load_weights(path)
        self.assertTrue(np.isnan(fresh.layers[-1].bias).any())
