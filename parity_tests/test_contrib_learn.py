import functools
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof, shorthand
from parity_tests.contrib import CONTRIB
from parity_tests.test_saved_models import genuine
from tf1to2.parity import Program
from v1_graph import contrib_learn as v1
from v2_eager import contrib_learn as v2
from v2_eager import parallel

PROGRAM = {**CONTRIB, "function": PLAIN}
RNG = np.random.RandomState(0)
ROWS = RNG.normal(size=[67, 3]).astype("f")
LABELS = ROWS @ RNG.normal(size=[3, 2]).astype("f")
KERNEL = RNG.normal(size=[3, 2]).astype("f")
DATA = [ROWS, LABELS, KERNEL]
VALUES = RNG.normal(size=[3, 16]).astype("f")
TEXTS = [
    "The cat sat on the mat, and the dog's-bowl was empty.",
    "TheIBMResearch lab: x2, x3 and x2 — über-naïve",
    "the cat the cat the end",
    "",
]
OTHERS = ["the dog sat", "IBM x3", ""]
SAVED = {"net/w": RNG.normal(size=[5]).astype("f"), "net/b": np.float32([1, 2])}
START = {"w": np.zeros([5], "f"), "b": np.zeros([2], "f")}
MODEL = genuine("export, its files")
INPUT = RNG.normal(size=[5, 3])


def counted_in_all(x, y, kernel, steps):
    """Takes `steps` as the global step at the end of each call."""
    return v2.fit_and_predict(x, y, kernel, steps, {"max_steps": True})


def of_all_rows(x, y, kernel, max_steps, batch_size):
    """Evaluates all rows, not only full batches."""
    answer = v2.train_on_tpu(x, y, kernel, max_steps, batch_size)
    error = answer["predictions"] - y
    found = {"loss": np.mean(error**2), "mae": np.mean(abs(error))}
    return {**answer, "evaluated": {**answer["evaluated"], **found}}


def by_text_vectorization(documents, others, length, min_frequency=0):
    import keras

    layer = keras.layers.TextVectorization(output_sequence_length=length)
    layer.adapt(documents)
    answer = v2.word_ids(documents, others, length, min_frequency)
    return {**answer, "ids": layer(documents).numpy()}


def at_least(documents, others, length, min_frequency):
    return v2.word_ids(documents, others, length, min_frequency - 1)


def by_tf_summary(values):
    """Writes with `tf.summary.scalar`, which stores the value as a tensor."""
    with mock.patch.object(v2, "write_scalar", tf.summary.scalar):
        events = v2.write_curves(values)
    return [event for event in events if event["tag"] == "loss"]


program = functools.partial(Program, skip=CONTRIB)
friend = functools.partial(shorthand.friend, skip=CONTRIB)
refused = functools.partial(shorthand.refused, skip=PROGRAM)


CASES = [
    program("fit_and_predict", "two calls", [*DATA, [3, 4]], float32=True),
    program("fit_and_predict", "to a last step", [*DATA, [3, 2], {"max_steps": True}]),
    friend(
        "fit_and_predict",
        "steps of the end",
        [*DATA, [3, 4]],
        counted_in_all,
        "steps are more steps, max_steps the number of the last one",
        float32=True,
    ),
    program("train_on_tpu", "without one", [*DATA, 20, 16]),
    friend(
        "train_on_tpu",
        "an evaluation of all rows",
        [*DATA, 20, 16],
        of_all_rows,
        "rows that fill no batch are not evaluated",
    ),
    program("fit_eagerly", "two epochs", [*DATA, 2, 16]),
    program("create_restored", "another scope", [SAVED, START, "net/"], skip=PROGRAM),
    program("word_ids", "in their order", [TEXTS, OTHERS, 8], skip=PROGRAM),
    program("word_ids", "the frequent ones", [TEXTS, OTHERS, 8, 1], skip=PROGRAM),
    friend(
        "word_ids",
        "TextVectorization",
        [TEXTS, OTHERS, 8],
        by_text_vectorization,
        "a layer lowers the case, sorts by frequency, and has 0 for no word alone",
        skip=PROGRAM,
    ),
    friend(
        "word_ids",
        "at least so often",
        [TEXTS, OTHERS, 8, 2],
        at_least,
        "words that come min_frequency times are left out",
        skip=PROGRAM,
    ),
    program("write_curves", "three steps", [VALUES, 1000], exact=True),
    friend(
        "write_curves",
        "tf.summary.scalar",
        [VALUES],
        by_tf_summary,
        "TensorBoard's summaries are tensors, those of contrib plain numbers",
        exact=True,
        differs="structure",
    ),
    program("predict_saved", "a model of 1.15.5", [MODEL, {"x": INPUT}], skip=PROGRAM),
    program("project", "words", [VALUES[:, :7], ["a", "b", "c"]], skip=PROGRAM),
    program(
        "project", "a sprite", [VALUES[:, :7], ["a", "b", "c"], [28, 32]], skip=PROGRAM
    ),
    refused(
        "create_restored",
        "a name that is missing",
        [SAVED, START],
        "[wb] not found in checkpoint",
        tf.errors.NotFoundError,
    ),
    refused(
        "predict_saved",
        "an input that it has not",
        [MODEL, {"y": INPUT}],
        "Got unexpected keys in input_dict",
    ),
    refused(
        "predict_saved",
        "an input of another shape",
        [MODEL, {"x": INPUT[0]}],
        "Cannot feed value of shape",
    ),
    *(
        refused(
            name,
            "NaN",
            [np.full_like(ROWS, np.nan), LABELS, KERNEL, *args],
            "NaN loss during training",
            tf.errors.InvalidArgumentError,
            genuine=tf.compat.v1.train.NanLossDuringTrainingError,
            skip=CONTRIB,
        )
        for name, *args in [("fit_and_predict", [2]), ("train_on_tpu", 2, 16)]
    ),
    refused(
        "predict_saved",
        "a signature that it has not",
        [MODEL, {"x": INPUT}, "score"],
        "Got (unexpected keys|signature_def_key)",
    ),
    refused(
        "predict_saved", "no model", [{}, {"x": INPUT}], "SavedModel file does", OSError
    ),
]
PROOF = proof(v1, v2, CASES)


class ContribLearnTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


def trained_on_tpu(data, steps, tpu_name=None, per_loop=100):
    """Runs `train_on_tpu` on two replicas; returns (its result, both kernels)."""
    made, make = [], v2.Line

    def kept(kernel):
        made.append(make(kernel))
        return made[0]

    with (
        mock.patch.object(v2, "tpu_strategy", lambda _: parallel.mirrored()),
        mock.patch.object(v2, "Line", kept),
        mock.patch.object(v2, "ITERATIONS_PER_LOOP", per_loop),
    ):
        answer = v2.train_on_tpu(*data, steps, 16, tpu_name)
    kernels = getattr(made[0].kernel, "values", [made[0].kernel])
    return answer, [kernel.numpy() for kernel in kernels]


class StrategyTest(unittest.TestCase):
    def test_two_replicas_take_the_steps_of_one(self):
        data = [array.astype("d") for array in DATA]
        one, (kernel,) = trained_on_tpu(data, 20)
        two, (first, second) = trained_on_tpu(data, 20, "a TPU's name")
        np.testing.assert_array_equal(first, second)
        self.assertTrue((first != data[2]).all())
        np.testing.assert_array_equal(first.astype("f"), kernel.astype("f"))
        self.assertEqual(one["evaluated"].keys(), two["evaluated"].keys())
        for name, value in one["evaluated"].items():
            self.assertEqual(np.float32(value), np.float32(two["evaluated"][name]))
        np.testing.assert_array_equal(
            *(answer["predictions"].astype("f") for answer in (one, two))
        )

    @parameterized.expand([("one replica", None), ("two replicas", "a TPU's name")])
    def test_how_many_steps_are_in_a_call_changes_nothing(self, _, name):
        whole, kernels = trained_on_tpu(DATA, 5, name)
        parts, others = trained_on_tpu(DATA, 5, name, per_loop=2)
        np.testing.assert_array_equal(kernels, others)
        self.assertEqual(whole["evaluated"], parts["evaluated"])
        self.assertEqual(whole["evaluated"]["global_step"], 5)

    def test_a_nan_of_one_replica_ends_the_training(self):
        rows = ROWS.copy()
        rows[-1] = np.nan
        with mock.patch.object(v2, "tpu_strategy", lambda _: parallel.mirrored()):
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "NaN loss"):
                v2.train_on_tpu(rows, LABELS, KERNEL, 20, 16, "a TPU's name")


class WriterTest(unittest.TestCase):
    def test_a_step_that_raises_leaves_no_writer_open(self):
        made, make = [], tf.summary.create_file_writer

        def kept(*args, **options):
            made.append(make(*args, **options))
            return made[0]

        with mock.patch.object(tf.summary, "create_file_writer", kept):
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "Nan in"):
                v2.write_curves(VALUES * np.nan)
        with self.assertRaisesRegex(RuntimeError, "already closed"):
            with made[0].as_default():
                pass
