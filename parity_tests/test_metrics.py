import dataclasses
import os
import tempfile
import unittest
import warnings
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.shorthand import refused
from tf1to2.parity import (
    FalseFriend,
    Naive,
    Op,
    Program,
    Raises,
    booleans,
    integers,
    normal,
    uniform,
)
from tf1to2.parity.releases import here
from tf1to2.parity.v1 import legacy
from v1_graph import metrics as v1
from v2_eager import metrics as v2
from v2_eager.numerics import metrics
from v2_keras import metrics as v3

keras = tf.keras.metrics
B, F, N = np.bool_, np.float32, np.int64
INVALID = tf.errors.InvalidArgumentError
NO_XLA = {"xla": "XLA has no sum of a dense and a sparse matrix"}
BRIEF = {**NO_XLA, "dynamic": "another case", "generated": "another case"}


def class_ids(*dims, high=4):
    return integers(*dims, high=high, dtype="int64")


# Batches of two sizes: they need one trace, and the mean of means is not the mean.
ROWS = [
    (normal(70, 3), normal(70, 3), uniform(70, 1)),
    (normal(30, 3), normal(30, 3), uniform(30, 1)),
]
YES_NO = [
    (booleans(1000), booleans(1000), uniform(1000)),
    (booleans(300), booleans(300), uniform(300)),
]
SCORES = [
    (booleans(1000), uniform(1000), uniform(1000)),
    (booleans(300), uniform(300), uniform(300)),
]
COLUMNS = [(booleans(70, 1), uniform(70), uniform(70, 1))] * 2
ANSWERS = [
    (class_ids(1000), class_ids(1000), uniform(1000)),
    (class_ids(300), class_ids(300), uniform(300)),
]
RANKED = [
    (class_ids(70, 2, high=7), normal(70, 6), uniform(70)),
    (class_ids(30, 2, high=7), normal(30, 6), uniform(30)),
]
# Three errors of 0, 2 and 3 with the weights 1, 1 and 2.
ERRORS = [(F([[4], [2]]), F([[4], [4]]), F([[1], [1]])), (F([[4]]), F([[1]]), F([[2]]))]
# Right: one positive, one negative. Wrong: a false positive, then two false negatives.
DECIDED = [(B([1, 0, 0]), B([1, 0, 1])), (B([1, 1]), B([0, 0]))]
PROBABILITIES = [(np.int32([1, 0, 1, 0]), F([0.75, 0.25, 0.25, 0]))]
SMALL_SCORES = [(F([0, 0, 1, 1]), F([0.001, 0.002, 0.003, 0.004]))]
NEAREST = [(B([0, 0, 0, 1, 1, 1]), F([0.1, 0.7, 0.5, 0.4, 0.6, 0.8]))]
LAST = [(B([0, 0]), F([0.25, 0.75])), (B([0, 1, 1]), F([0.5, 1, 1]))]
FIVE = N([0, 0, 1, 1, 2]), N([0, 1, 1, 1, 2])
FRACTIONS = [(*FIVE, F([1, 0.25, 1, 0.5, 1]))]
TIED = F([[1, 1, 0], [0, 0, 0], [2, 1, 0]])
UNEVEN = [(N([0, 1, 2, 3]), N([0, 1, 2, 3])), (N([0]), N([1]))]
EPOCHS = [[(N([0, 1]), N([0, 1]))], [(N([0, 1]), N([1, 1])), (N([2, 3]), N([0, 1]))]]
LINEAR = F([[1, 0], [3, 1], [0, 2]]), N([0, 2, 2]), F([[1, 0, -1], [-1, 0, 1]])


# The obvious replacements.


def after(metric, labels, predictions, weights=None):
    """Returns a Keras metric's result after one batch."""
    metric.update_state(labels, predictions, sample_weight=weights)
    return np.asarray(metric.result())


def right(page, *args):
    """Runs the right page eagerly, which saves the time of tracing."""
    tf.config.run_functions_eagerly(True)
    try:
        return getattr(v2, page)(*args)
    finally:
        tf.config.run_functions_eagerly(False)


def with_last(history, **changed):
    """Returns `history` with other values at its end."""
    return [*history[:-1], {**history[-1], **changed}]


def keras_cosine(batches):
    cosine = after(keras.CosineSimilarity(axis=1), *batches[0])
    return with_last(right("regression", batches), cosine=1 - cosine)


def keras_precision(batches):
    precision = after(keras.Precision(), *batches[0])
    return with_last(right("decisions", batches), precision=precision)


def keras_accuracy(batches):
    accuracy = after(keras.Accuracy(), *batches[0])
    return with_last(right("decisions", batches), accuracy=accuracy)


def keras_specificity(batches, thresholds, number, target):
    metric = keras.SpecificityAtSensitivity(target, num_thresholds=number)
    history = right("curves", batches, thresholds, number, target)
    return with_last(history, specificity=after(metric, *batches[0]))


def keras_iou(batches, num_classes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        iou = after(keras.MeanIoU(num_classes), *batches[0])
    return with_last(right("classes", batches, num_classes), iou=iou)


def keras_top_k(batches, k):
    recall = after(keras.SparseTopKCategoricalAccuracy(k), *batches[0])
    return with_last(right("top_k", batches, k), recall=recall.astype("d"))


def never_reset(epochs):
    epoch, run = right("report_epochs", epochs)
    return run, run


def mean_of_means(batches):
    answer = right("mean_of_batches", batches)
    return {**answer, "streamed": answer["mean"]}


def integer_weights(labels, predictions, num_classes, weights):
    matrix = tf.math.confusion_matrix(labels, predictions, num_classes, weights)
    return tf.cast(matrix, tf.float32)


def first_of_equals(predictions, targets, k):
    top = tf.math.top_k(predictions, k).indices
    return tf.reduce_any(top == targets[:, None], 1)


CASES = [
    Program(
        "averages",
        "two batches",
        [[(F([1, 2, 6]),), (F([3, 4, 8]),)]],
        expect=[
            {"mean": 0, "mean_tensor": [0, 0, 0]},
            {"mean": 3, "mean_tensor": [1, 2, 6]},
            {"mean": 4, "mean_tensor": [2, 3, 7]},
        ],
    ),
    Program(
        "averages",
        "weights, some 0",
        [[(F([8, 2]), F([1, 0])), (F([2, 5]), F([1, 0]))]],
        expect=[
            {"mean": 0, "mean_tensor": [0, 0]},
            {"mean": 8, "mean_tensor": [8, 0]},
            {"mean": 5, "mean_tensor": [5, 0]},
        ],
    ),
    Program(
        "averages",
        "a weight for each row, integers",
        [
            [
                (np.int32([[1, 2], [3, 4]]), F([1, 3])),
                (np.int32([[5, 6], [7, 8]]), F([0, 1])),
            ]
        ],
        expect=[
            {"mean": 0, "mean_tensor": [[0, 0], [0, 0]]},
            {"mean": 3, "mean_tensor": [[1, 2], [3, 4]]},
            {"mean": 3.9, "mean_tensor": [[1, 2], [4, 5]]},
        ],
    ),
    Program("averages", "random", [[(normal(70, 3), uniform(70, 3))] * 2]),
    Program(
        "averages",
        "negative weights count as none",
        [[(F([1, 2]), F([1, -3]))]],
        skip={"keras": "Keras counts them, as they are"},
    ),
    refused(
        "averages",
        "weights of another rank",
        [[(F([1, 2]), np.ones([1, 1, 2], "f"))]],
        "weights can not be broadcast to values",
    ),
    refused(
        "averages",
        "weights of another size",
        [[(F([1, 2, 3]), F([1, 2]))]],
        "weights can not be broadcast to values|[Ii]ncompatible shapes|must be equal",
        eager=INVALID,
    ),
    Program(
        "regression",
        "by hand",
        [ERRORS],
        expect=[
            dict(absolute=0, squared=0, root=0, relative=0, below=0, cosine=1),
            dict(
                absolute=1, squared=2, root=2**0.5, relative=0.5, below=0.5, cosine=-11
            ),
            dict(
                absolute=2,
                squared=5.5,
                root=5.5**0.5,
                relative=0.625,
                below=0.25,
                cosine=-7,
            ),
        ],
    ),
    Program("regression", "random", [ROWS, 0.75]),
    Program("regression", "no weights", [[batch[:2] for batch in ROWS]]),
    Program(
        "regression",
        "a label of 0 has no relative error",
        [[(F([[0], [2]]), F([[1], [1]]))]],
    ),
    FalseFriend(
        "regression",
        "the cosine of vectors that are not of unit length",
        [[(F([[1, 2], [3, 5]]), F([[1, 4], [0, 5]]))]],
        of="program",
        naive=keras_cosine,
        because="Keras divides by the lengths; v1 leaves that to you",
    ),
    refused(
        "regression",
        "other columns",
        [[(np.ones([4, 3], "f"), np.ones([4, 2], "f"))]],
        "[Ii]ncompatible|must be equal",
    ),
    Program(
        "decisions",
        "by hand",
        [DECIDED],
        expect=[
            dict(accuracy=0, tp=0, fp=0, tn=0, fn=0, precision=0, recall=0, f1=0),
            dict(
                accuracy=2 / 3,
                tp=1,
                fp=1,
                tn=1,
                fn=0,
                precision=0.5,
                recall=1,
                f1=2 / 3,
            ),
            dict(
                accuracy=0.4,
                tp=1,
                fp=1,
                tn=1,
                fn=2,
                precision=0.5,
                recall=1 / 3,
                f1=0.4,
            ),
        ],
    ),
    Program("decisions", "random", [YES_NO]),
    Program(
        "decisions",
        "a column of labels, and of weights",
        [
            [
                (booleans(70, 1), booleans(70), uniform(70, 1)),
                (booleans(30, 1), booleans(30), uniform(30, 1)),
            ]
        ],
    ),
    Program(
        "decisions",
        "float32 stops counting at 2**24",
        [[(B([1]), B([1]), F([2**24])), (B([1]), B([1]), F([1]))]],
        expect=[
            dict(accuracy=0, tp=0, fp=0, tn=0, fn=0, precision=0, recall=0, f1=0),
            *[dict(accuracy=1, tp=2**24, fp=0, tn=0, fn=0, precision=1, recall=1, f1=1)]
            * 2,
        ],
    ),
    FalseFriend(
        "decisions",
        "probabilities: whatever is not 0 is a yes",
        [PROBABILITIES],
        of="program",
        naive=keras_precision,
        because="the threshold of Keras is 0.5, that of v1 is 0",
        expect=[
            dict(accuracy=0, tp=0, fp=0, tn=0, fn=0, precision=0, recall=0, f1=0),
            dict(
                accuracy=0.5, tp=2, fp=1, tn=1, fn=0, precision=2 / 3, recall=1, f1=0.8
            ),
        ],
    ),
    FalseFriend(
        "decisions",
        "0.75 is the integer 0",
        [PROBABILITIES],
        of="program",
        naive=keras_accuracy,
        because="v1 casts predictions to the dtype of labels, Keras labels to theirs",
    ),
    refused(
        "decisions",
        "a row each",
        [[(np.ones([2, 3], "i"), np.ones([2, 2], "i"))]],
        "[Ii]ncompatible|must be equal",
    ),
    *[
        Program("curves", slug, [*args])
        for slug, *args in [
            ("200 thresholds", SCORES),
            ("minoring", SCORES, [0.125, 0.5], 9, 0.5, "minoring"),
            ("trapezoids, columns", COLUMNS, [0.5], 17, 0.5, "trapezoidal"),
            ("at first no yes, then the score 1", LAST, [1.0], 5, 1.0, "majoring"),
        ]
    ],
    FalseFriend(
        "curves",
        "specificity at a sensitivity that is not met",
        [NEAREST, [0.5], 21, 0.75],
        of="program",
        naive=keras_specificity,
        because="v1 takes the nearest sensitivity, Keras the best that is no less",
    ),
    refused(
        "curves",
        "a score above 1",
        [[(N([0, 1]), F([0.5, 1.5]))]],
        r"predictions must be in \[0, 1\]",
        INVALID,
    ),
    refused(
        "curves",
        "a score below 0",
        [[(B([0, 1]), np.float64([0.5, -0.5]))]],
        r"predictions must be in \[0, 1\]",
        INVALID,
    ),
    refused(
        "curves",
        "v1 does not check where it need not cast",
        [[(B([0, 1]), F([0.5, 1.5]))]],
        r"predictions must be in \[0, 1\]",
        INVALID,
        graph=None,
    ),
    refused(
        "curves",
        "no such method",
        [[(B([0, 1]), F([0.5, 0.5]))], [0.5], 5, 0.5, "simpson"],
        "Invalid summation_method: simpson",
    ),
    refused(
        "curves",
        "a target of 2",
        [[(B([0, 1]), F([0.5, 0.5]))], [0.5], 5, 2.0],
        r"must be in the range \[0, 1\]",
    ),
    Program("classes", "random, one that never occurs", [ANSWERS, 5]),
    Program(
        "classes",
        "by hand",
        [[(N([0, 0, 1, 2]), N([0, 1, 1, 2]))], 4],
        expect=[
            {"iou": 0, "accuracy": 0},
            # IoU 1/2, 1/2, 1 of three classes; accuracy 1/2, 1, 1 and 0 of four.
            {"iou": 2 / 3, "accuracy": 0.625},
        ],
    ),
    Program(
        "classes",
        "images",
        [[(class_ids(2, 3, 2), class_ids(2, 3, 2), uniform(2, 3, 2))] * 2, 4],
    ),
    FalseFriend(
        "classes",
        "weights that are fractions",
        [FRACTIONS, 3],
        of="program",
        naive=keras_iou,
        because="Keras sums weights as integers unless dtype is given",
    ),
    refused(
        "classes",
        "a label that is no class",
        [[(N([0, 5]), N([0, 1]))], 3],
        # Two metrics refuse the class; either metric may raise first.
        r"out of bound|is not in \[0, 3\)|does not index into shape",
        INVALID,
    ),
    refused(
        "classes",
        "a negative prediction",
        [[(N([0, 1]), N([0, -1]))], 3],
        "contains negative values",
        INVALID,
    ),
    Program("top_k", "random, a label of none", [RANKED, 3]),
    Program("top_k", "one class", [RANKED, 4, 1]),
    Program(
        "top_k",
        "by hand",
        [[(N([2, 0]), F([[1, 3, 2], [1, 2, 3]]))], 2],
        expect=[
            {"precision": np.nan, "recall": np.nan, "average": 0},
            {"precision": 0.25, "recall": 0.5, "average": 0.25},
        ],
    ),
    Program("top_k", "the same label twice", [[(N([[1, 1]]), F([[0, 1, 2]]))], 2]),
    FalseFriend(
        "top_k",
        "equal scores",
        [[(N([1, 2, 2]), TIED)], 1],
        of="program",
        naive=keras_top_k,
        because="Keras counts all that equal the k-th, v1 the first of them",
        expect=[
            {"precision": np.nan, "recall": np.nan, "average": 0},
            {"precision": 0, "recall": 0, "average": 0},
        ],
    ),
    refused(
        "top_k",
        "more than there are",
        [[(N([0]), F([[1, 2]]))], 3],
        "input must have (last dimension|at least k)",
        eager=INVALID,
    ),
    Program(
        "mean_f1",
        "by hand",
        [[FIVE, FIVE], 3],
        expect=[
            {"f1": 0, "matrix": np.zeros([3, 3])},
            {"f1": (2 / 3 + 0.8 + 1) / 3, "matrix": [[1, 1, 0], [0, 2, 0], [0, 0, 1]]},
            {"f1": (2 / 3 + 0.8 + 1) / 3, "matrix": [[2, 2, 0], [0, 4, 0], [0, 0, 2]]},
        ],
    ),
    Program("mean_f1", "random", [[batch[:2] for batch in ANSWERS], 5]),
    refused("mean_f1", "no class", [[(N([3]), N([0]))], 3], "out of bound", INVALID),
    Program(
        "evaluate",
        "three rows",
        [*LINEAR, 2],
    ),
    Program(
        "evaluate", "random", [normal(11, 3), integers(11, high=4), normal(3, 4), 4]
    ),
    refused(
        "evaluate",
        "no class",
        [LINEAR[0], N([0, 1, 3]), LINEAR[2], 2],
        "outside the valid range|out of bound",
        INVALID,
    ),
    Program(
        "report_epochs",
        "two",
        [EPOCHS],
        expect=[[1, 0.25], [1, 0.5]],
    ),
    FalseFriend(
        "report_epochs",
        "never reset",
        [EPOCHS],
        of="program",
        naive=never_reset,
        because="the sums of all epochs are one number, those of an epoch another",
    ),
    Program(
        "mean_of_batches",
        "four right, one wrong",
        [UNEVEN],
        expect={"of_batches": [1, 0], "mean": 0.5, "streamed": 0.8},
    ),
    FalseFriend(
        "mean_of_batches",
        "the last batch is smaller",
        [UNEVEN],
        of="program",
        naive=mean_of_means,
        because="a mean of means weighs the examples of a small batch more",
    ),
    Op(
        "confusion_matrix",
        "any",
        [integers("n", high=4), integers("n", high=4), 4],
        skip={**NO_XLA, "generated": "one size tells as much"},
    ),
    Op(
        "confusion_matrix",
        "as many classes as there are",
        [N([0, 2]), N([[1], [0]])],
        expect=[[0, 1, 0], [0, 0, 0], [1, 0, 0]],
        skip=BRIEF,
    ),
    Op(
        "confusion_matrix",
        "cut to integers",
        [N([0, 0]), N([1, 1]), 2, F([0.75, 1.5]), "int32"],
        expect=[[0, 1], [0, 0]],
        skip={**BRIEF, "gradient": "an integer has none"},
    ),
    FalseFriend(
        "confusion_matrix",
        "weights",
        [*FIVE, 3, F([1, 0.25, 1, 0.5, 1])],
        naive=integer_weights,
        because="the answer is int32 unless told otherwise, in v1, too",
        expect=[[1, 0.25, 0], [0, 1.5, 0], [0, 0, 1]],
        skip=BRIEF,
    ),
    Raises(
        "confusion_matrix",
        "no class",
        [N([3]), N([0]), 3],
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match="`labels` out of bound",
    ),
    Op(
        "in_top_k",
        "any",
        [normal("n", 5), integers("n", high=5), 2],
        skip={"generated": "one size tells as much"},
    ),
    FalseFriend(
        "in_top_k",
        "equal scores",
        [TIED, np.int32([1, 2, 2]), 1],
        naive=first_of_equals,
        because="all that equal the k-th are among the k highest",
        expect=[True, True, False],
        skip={"dynamic": "another case"},
    ),
    Op(
        "in_top_k",
        "no class, no number",
        [F([[1, 2], [np.nan, 1], [np.inf, 0]]), np.int32([5, 1, 0]), 2],
        expect=[False, False, False],
        skip={"dynamic": "another case", "xla": "XLA compares with NaN"},
    ),
    Raises(
        "in_top_k",
        "scores in float64",
        [np.float64([[1, 2]]), np.int32([0]), 1],
        graph=TypeError,
        eager=INVALID,
        function=TypeError,
        match="float64|double",
    ),
]
# Metrics compute in float32 for any input.
CASES = [
    case
    if case.name == "evaluate" or isinstance(case, Raises)
    else dataclasses.replace(case, float32=True)
    for case in CASES
]
NAIVE = [
    Naive(
        "decisions, probabilities: whatever is not 0 is a yes",
        "by the default threshold",
        mock.patch.object(v3, "yes", lambda values: values)(v3.decisions),
        because="the threshold of Keras is 0.5, that of v1 is 0",
    ),
    Naive(
        "averages, weights, some 0",
        "mean of means",
        lambda batches: [
            {**step, "mean": step["mean_tensor"].mean()}
            for step in v3.averages(batches)
        ],
        because="what has no weight counts as 0 there",
    ),
]
PROOF = proof(v1, v2, CASES, NAIVE)


class MetricsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


def last(page, *args):
    """Returns the last values that the right page streams."""
    return right(page, *args)[-1]


LABELS = B([0, 1, 0, 0, 1, 1, 0, 1, 1, 0])
SPREAD = F([0.1, 0.4, 0.35, 0.8, 0.65, 0.9, 0.2, 0.55, 0.7, 0.45])
TENTHS = F([1, 2, 1, 3, 1, 1, 2, 1, 4, 1])
LOGITS = B([0, 0, 1, 1]), F([-4, 1, 0, 3])


class KerasTest(unittest.TestCase):
    """Compares the metrics of Keras 3 with those of the page."""

    def assert_identical(self, theirs, ours):
        np.testing.assert_array_equal(theirs, ours, strict=True)

    @parameterized.expand([("turned", [2, 3], [3, 2]), ("flat", [6], [3, 2])])
    def test_decisions_are_paired_by_rows_and_not_by_chance(self, _, *shapes):
        with self.assertRaisesRegex(ValueError, r"the same shape, not .* and \(3, 2\)"):
            v3.decisions([tuple(np.ones(shape, "i") for shape in shapes)])

    def test_a_batch_of_one_may_be_a_column(self):
        batches = [(N([1]), N([[1]]))]
        self.assertEqual(v3.decisions(batches)[-1], last("decisions", batches))

    def test_a_metric_of_ones_own_is_saved_with_its_model(self):
        labels, classes = F([0, 1, 2, 2]), F([0, 1, 2, 1])
        model = tf.keras.Sequential([tf.keras.Input([]), tf.keras.layers.Identity()])
        model.compile(loss="mse", metrics=[v3.MeanF1(3)])
        expected = model.evaluate(classes, labels, verbose=0)
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/model.keras"
            model.save(path)
            loaded = tf.keras.models.load_model(path)
        found = loaded.evaluate(classes, labels, verbose=0)
        self.assertEqual(found, expected)
        self.assertEqual(f"{found[1]:.4f}", "0.7778")

    def test_a_weight_is_one_for_each_row(self):
        metric = v3.MeanTensor([2, 2])
        metric.update_state(F([[1, 2], [3, 4]]), F([1, 0]))
        self.assertEqual(metric.result().numpy().tolist(), [[1, 2], [0, 0]])

    def test_weights_below_0_are_divided_by(self):
        batches = [(F([1, 2]), F([1, -3]))]
        self.assertEqual(v3.averages(batches)[-1]["mean"], 2.5)
        self.assertEqual(last("averages", batches)["mean"], 0)

    @parameterized.expand(
        [
            ("absolute", keras.MeanAbsoluteError()),
            ("squared", keras.MeanSquaredError()),
            ("root", keras.RootMeanSquaredError()),
        ]
    )
    def test_errors_with_a_weight_per_row_are_the_same(self, name, metric):
        ours = last("regression", ERRORS)[name]
        for batch in ERRORS:
            theirs = after(metric, *batch)
        self.assert_identical(theirs, ours)

    def test_accuracy_of_class_numbers_is_the_same(self):
        ours = last("decisions", [FIVE])["accuracy"]
        self.assert_identical(after(keras.Accuracy(), *FIVE), ours)

    def test_keras_stops_counting_at_2_to_the_24_too(self):
        metric = keras.TruePositives()
        after(metric, [1], [1], [2**24])
        self.assertEqual(after(metric, [1], [1]), 2**24)
        self.assertEqual(after(metric, [1, 1], [1, 1]), 2**24 + 2)

    def test_a_mean_is_the_same(self):
        values, shares = F([1, 2, 6]), F([1, 0, 3])
        ours = last("averages", [(values, shares)])["mean"]
        metric = keras.Mean()
        metric.update_state(values, sample_weight=shares)
        self.assert_identical(np.asarray(metric.result()), ours)

    @parameterized.expand(
        [
            ("precision", keras.Precision(thresholds=0)),
            ("recall", keras.Recall(thresholds=0)),
            ("tp", keras.TruePositives(thresholds=0)),
            ("fp", keras.FalsePositives(thresholds=0)),
            ("tn", keras.TrueNegatives(thresholds=0)),
            ("fn", keras.FalseNegatives(thresholds=0)),
        ]
    )
    def test_decisions_are_the_same_with_a_threshold_of_0(self, name, metric):
        ours = last("decisions", PROBABILITIES)[name]
        self.assert_identical(after(metric, *PROBABILITIES[0]), ours)

    def test_what_is_below_0_is_a_yes_on_the_page_as_in_v1(self):
        batches = [(B([1, 0, 1, 0]), F([-1, -0.5, 0, 0]))]
        ours, theirs = v2.decisions(batches), v3.decisions(batches)
        self.assertEqual([answer["tp"] for answer in ours], [0, 1])
        self.assertEqual(ours, theirs)

    def test_0_5_is_a_no_to_keras_and_to_v1_if_rounded(self):
        half = F([0.5, 0.5])
        self.assertEqual(after(keras.Precision(), [1, 1], half), 0)
        self.assertEqual(last("decisions", [(F([1, 1]), np.round(half))])["tp"], 0)

    def test_counts_at_thresholds_are_the_same_but_precision_has_an_epsilon(self):
        points, three = [0.25, 0.5, 0.75], (B([1, 1, 1]), F([0.625, 0.75, 0.875]))
        ours = last("curves", [three], points)
        self.assert_identical(after(keras.FalsePositives(points), *three), ours["fp"])
        theirs = after(keras.Precision(points), *three)
        self.assert_identical(theirs, F([1, 1, 1]))
        self.assert_identical(ours["precision"], F([1, 1, 1 - 2**-23]))

    @parameterized.expand(
        [
            ("careful_interpolation", "ROC", "interpolation", "6e-08"),
            ("minoring", "ROC", "minoring", "6e-08"),
            ("majoring", "ROC", "majoring", "6e-08"),
            ("careful_interpolation", "PR", "interpolation", "0e+00"),
            ("majoring", "PR", "majoring", "0e+00"),
            ("minoring", "PR", "minoring", "1e-01"),
        ]
    )
    def test_areas_are_a_rounding_apart_but_one(self, ours, curve, theirs, measured):
        batch = LABELS, SPREAD, TENTHS
        answer = last("curves", [batch], [0.5], 200, 0.75, ours)[curve.lower()]
        metric = keras.AUC(curve=curve, summation_method=theirs)
        self.assertEqual(f"{abs(answer - after(metric, *batch)):.0e}", measured)

    def test_the_precision_of_no_decision_is_1_in_v1_and_0_in_keras(self):
        batch = LABELS, SPREAD, TENTHS
        metric = keras.AUC(curve="PR", summation_method="minoring")
        theirs = after(metric, *batch)
        ours = last("curves", [batch], [0.5], 200, 0.75, "minoring")["pr"]
        # The last strip of the curve: its width is the recall of the highest score.
        self.assertEqual(f"{ours - theirs:.6f}", f"{1 / TENTHS[LABELS].sum():.6f}")

    def test_without_a_yes_the_area_is_1_in_v1_and_0_in_keras(self):
        batch = B([0, 0]), F([0.25, 0.75])
        self.assertEqual(f"{last('curves', [batch])['roc']:.6f}", "1.000000")
        self.assertEqual(after(keras.AUC(), *batch), 0)

    def test_200_thresholds_do_not_see_scores_below_the_first(self):
        for number, ours, theirs in ((200, "0.50", "0.50"), (2000, "1.00", "1.00")):
            answer = last("curves", SMALL_SCORES, [0.5], number)["roc"]
            self.assertEqual(f"{answer:.2f}", ours)
            metric = keras.AUC(num_thresholds=number)
            self.assertEqual(f"{after(metric, *SMALL_SCORES[0]):.2f}", theirs)

    def test_logits_go_unnoticed_in_v1_and_in_keras(self):
        labels, logits = LOGITS
        with legacy():
            left = v1.curves([LOGITS])[-1]["roc"]
        self.assertEqual(f"{left:.2f}", "0.25")
        self.assertEqual(f"{after(keras.AUC(), *LOGITS):.2f}", "0.50")
        scores = tf.sigmoid(logits).numpy()
        self.assertEqual(f"{last('curves', [(labels, scores)])['roc']:.2f}", "0.75")
        self.assertEqual(f"{after(keras.AUC(from_logits=True), *LOGITS):.2f}", "0.75")
        with self.assertRaisesRegex(INVALID, "must be in"):
            v2.curves([LOGITS])

    def test_intersection_over_union_needs_a_dtype(self):
        ours = last("classes", FRACTIONS, 3)["iou"]
        with self.assertWarnsRegex(
            UserWarning, "weight as `float`, but dtype is `int`"
        ):
            cut = after(keras.MeanIoU(3), *FRACTIONS[0])
        closed = after(keras.MeanIoU(3, dtype="float64"), *FRACTIONS[0])
        self.assertEqual(f"{ours:.4f} {cut:.4f} {closed:.4f}", "0.8857 1.0000 0.8857")
        measured = "9e-08" if here("keras<3.15") else "6e-08"
        self.assertEqual(f"{abs(closed - ours):.0e}", measured)

    def test_keras_does_not_see_a_label_that_is_no_class(self):
        unseen = [0, 5], [0, 1]
        if here("keras<3.15"):
            with self.assertRaisesRegex(INVALID, "does not index into shape"):
                after(keras.MeanIoU(2), *unseen)
        else:
            self.assertEqual(f"{after(keras.MeanIoU(2), *unseen):.4f}", "1.0000")

    def test_nothing_of_nothing_is_0_in_keras_and_nan_at_k(self):
        self.assertEqual(keras.TopKCategoricalAccuracy(2).result().numpy(), 0)
        self.assertTrue(np.isnan(v2.top_k([(N([0]), F([[1, 2]]))], 1)[0]["recall"]))

    def test_a_weight_per_element_of_a_row_is_refused(self):
        batch = F([[1, 2], [3, 5]]), F([[1, 4], [0, 5]]), F([[1, 3], [0, 1]])
        with self.assertRaises(INVALID):
            after(keras.MeanSquaredError(), *batch)
        flat = after(keras.MeanSquaredError(), *(x.reshape(-1, 1) for x in batch))
        self.assertEqual(flat, F(2**2 * 3 / 5))

    def test_what_keras_no_longer_has(self):
        self.assertFalse(hasattr(keras, "MeanTensor"))
        self.assertFalse(hasattr(keras, "MeanRelativeError"))

    @parameterized.expand([("MeanTensor", [2, 3]), ("MeanF1", 3)])
    def test_metrics_of_the_page_are_made_again_from_their_config(self, name, given):
        metric = getattr(v3, name)(given, dtype="float64")
        again = type(metric).from_config(metric.get_config())
        self.assertEqual(again.get_config(), metric.get_config())
        size = 2 if name == "MeanTensor" else 3
        for variable in metric.variables + again.variables:
            self.assertEqual((*variable.shape, variable.dtype), (size, 3, "float64"))

    def test_accuracy_by_name_asks_whether_a_logit_exceeds_one_half(self):
        model = tf.keras.Sequential([tf.keras.layers.Identity()])
        model.compile(
            loss=tf.keras.losses.BinaryCrossentropy(from_logits=True),
            metrics=["accuracy", tf.keras.metrics.BinaryAccuracy("right", threshold=0)],
        )
        data = F([[0.25], [-3]]), F([[1], [0]])
        answer = model.evaluate(*data, verbose=0, return_dict=True)
        self.assertEqual((answer["accuracy"], answer["right"]), (0.5, 1))


class GraphTest(unittest.TestCase):
    """Pitfalls of metrics in a graph of TensorFlow 1."""

    def test_metrics_are_local_variables(self):
        tf1 = v1.tf
        with legacy(), tf1.Session() as sess:
            _, update = tf1.metrics.mean(tf1.constant([1.0, 3.0]))
            self.assertEqual(tf1.global_variables(), [])  # so a Saver has none of them
            names = [v.op.name for v in tf1.local_variables()]
            self.assertEqual(names, ["mean/total", "mean/count"])
            sess.run(tf1.global_variables_initializer())
            with self.assertRaisesRegex(
                tf.errors.FailedPreconditionError, "uninitialized value mean/"
            ):
                sess.run(update)

    def test_two_update_ops_do_not_tell_the_new_value(self):
        metrics = v1.tf.metrics
        with legacy(), v1.tf.Session() as sess:
            args = v1.tf.constant([0, 1]), v1.tf.constant([1, 1]), 2
            pairs = metrics.mean_iou(*args), metrics.mean_per_class_accuracy(*args)
            sess.run(v1.tf.local_variables_initializer())
            updated = sess.run([update for _, update in pairs])
            values = sess.run([value for value, _ in pairs])
        np.testing.assert_array_equal(updated[0], [[0, 1], [0, 1]])
        np.testing.assert_array_equal(updated[1], [0, 1])
        self.assertEqual(values, [0.25, 0.5])

    def test_a_scope_is_a_pattern(self):
        tf1 = v1.tf
        with legacy():
            for scope in ("run", "run_2"):
                with tf1.variable_scope(scope):
                    tf1.metrics.mean(tf1.constant(1.0))
            found = [
                len(tf1.get_collection(tf1.GraphKeys.METRIC_VARIABLES, scope))
                for scope in ("run", "run/")
            ]
        self.assertEqual(found, [4, 2])


class SizesTest(unittest.TestCase):
    """Labels, predictions and weights of unknown rank, or of different sizes."""

    ROW, COLUMN = np.float32([0, 1, 1, 1]), np.float32([[1], [1], [0], [1]])

    @parameterized.expand(
        [("Accuracy", 0.5), ("MeanAbsoluteError", 0.5), ("MeanSquaredError", 0.5)]
    )
    def test_of_an_unknown_rank_a_column_is_a_row_for(self, name, expected):
        for pair in ((self.ROW, self.COLUMN), (self.COLUMN, self.ROW)):
            metric = getattr(metrics, name)()
            specs = [tf.TensorSpec(None)] * 2
            tf.function(metric.update_state, input_signature=specs)(*pair)
            self.assertEqual(metric.result().numpy(), expected)  # of 1.15.5

    @parameterized.expand(
        [
            ("a_number", np.float32(2), 2.5),
            ("rows", np.float32([1, 0]), 1.5),
            ("columns", np.float32([[1], [0]]), 1.5),
            ("elements", np.float32([[0, 0], [0, 1]]), 4),
        ]
    )
    def test_of_an_unknown_rank_weights_are(self, _, weights, expected):
        metric, specs = metrics.Mean(), [tf.TensorSpec(None)] * 2
        update = tf.function(metric.update_state, input_signature=specs)
        update(np.float32([[1, 2], [3, 4]]), weights)
        self.assertEqual(metric.result().numpy(), expected)

    def test_one_for_four_is_refused(self):
        scores = np.float32([[1, 2, 3]] * 4)
        for metric, *pair in (
            (metrics.MeanPerClassAccuracy(2), np.ones(4, "q"), np.ones(1, "q")),
            (metrics.AveragePrecisionAtK(2), np.ones([1, 1], "q"), scores),
        ):
            with self.assertRaisesRegex(ValueError, "incompatible"):
                metric.update_state(*pair)
        specs = tf.TensorSpec([None, 1], tf.int64), tf.TensorSpec([None, 3])
        update = tf.function(metric.update_state, input_signature=specs)
        with self.assertRaisesRegex(INVALID, "the same number of rows"):
            update(np.ones([1, 1], "q"), scores)
        with self.assertRaisesRegex(ValueError, "Invalid k=0"):
            metrics.AveragePrecisionAtK(0)


class ModuleTest(unittest.TestCase):
    """Further behaviour of the right page's modules."""

    @parameterized.expand(
        [
            ("precision", metrics.PrecisionAtK),
            ("recall", metrics.RecallAtK),
            ("average precision", metrics.AveragePrecisionAtK),
        ]
    )
    def test_a_column_of_weights_makes_no_matrix_at_k(self, _, make):
        metric = make(1)
        labels, scores = tf.constant([0, 1], tf.int64), tf.eye(2)
        with self.assertRaisesRegex(ValueError, "can not be broadcast"):
            metric.update_state(labels, scores, tf.constant([[1.0], [0.0]]))
        metric.update_state(labels, scores, tf.constant([1.0, 0.0]))
        metric.update_state(labels, scores, 2)
        self.assertEqual(metric.result(), 1)
        self.assertEqual(metric.sums["max" if "max" in metric.sums else "tp"], 5)

    def test_sums_are_in_a_checkpoint_and_not_trained(self):
        model = tf.Module()
        model.accuracy = metrics.Mean()
        self.assertEqual(model.trainable_variables, ())
        with tempfile.TemporaryDirectory() as folder:
            path = tf.train.Checkpoint(model=model).write(os.path.join(folder, "m"))
            names = [name for name, _ in tf.train.list_variables(path)]
        ending = "/.ATTRIBUTES/VARIABLE_VALUE"
        saved = [f"model/accuracy/sums/{name}{ending}" for name in ("count", "total")]
        self.assertEqual(names, ["_CHECKPOINTABLE_OBJECT_GRAPH", *saved])

    @pytest.mark.slow
    def test_replicas_add_to_their_own_sums(self):
        strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
        with strategy.scope():
            mean = metrics.Mean()

        @tf.function
        def step():
            def update():
                replica = tf.distribute.get_replica_context().replica_id_in_sync_group
                mean.update_state(tf.cast([1 + 2 * replica], tf.float32))

            strategy.run(update)

        for _ in range(2):
            step()
            self.assertEqual(mean.result().numpy(), 2)
        self.assertEqual(mean.sums["count"].numpy(), 4)
        mean.reset_state()
        self.assertEqual(mean.sums["count"].numpy(), 0)
