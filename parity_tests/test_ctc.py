import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import FalseFriend, Op, Program, Raises
from tf1to2.parity.v1 import legacy
from v1_graph import ctc as v1
from v2_eager import ctc as v2

INVALID = tf.errors.InvalidArgumentError
HOST = {"xla": "XLA has no kernel of it"}
INFINITE = {"gradient": "of an infinite loss", "xla": "XLA has no kernel of it"}
ONCE = {way: "another case of the pair" for way in ("function", "dynamic", "xla")}
N, TIME, CLASSES = 67, 12, 6
BLANK = CLASSES - 1
RNG = np.random.RandomState(0)


def needed(labels):
    """Counts the steps that labels need: repeated labels need a blank between them."""
    return len(labels) + sum(a == b for a, b in zip(labels, labels[1:]))


def sentences():
    """Draws labels, some of them repeated, and lengths that are long enough."""
    labels, lengths = [[1], [2, 4], [3, 3]], [1, TIME, 3]
    while len(labels) < N:
        row = RNG.randint(BLANK, size=RNG.randint(1, 6)).tolist()
        length = RNG.randint(1, TIME + 1)
        if needed(row) <= length:
            labels.append(row)
            lengths.append(length)
    return labels, np.int32(lengths)


def sparse(labels):
    """Turns lists of labels into (indices, values, shape)."""
    indices = [[i, j] for i, row in enumerate(labels) for j in range(len(row))]
    values = [label for row in labels for label in row]
    shape = [len(labels), max(map(len, labels))]
    return np.int64(indices), np.int32(values), np.int64(shape)


def dense(labels):
    """Turns lists of labels into (matrix with zeros past the end, lengths)."""
    longest = max(map(len, labels))
    rows = [row + [0] * (longest - len(row)) for row in labels]
    return np.int32(rows), np.int32([len(row) for row in labels])


LABELS, LENGTHS = sentences()
LOGITS = RNG.normal(size=[TIME, N, CLASSES]).astype("f")
SHARP = (LOGITS * 4).astype("f")
WANTED, HEARD = sparse(LABELS), [LOGITS, LENGTHS]
# Logits of "hello", with a blank between the two l.
HELLO = np.full([6, 1, 5], -9, "f")
for step, letter in enumerate((0, 1, 2, 4, 2, 3)):
    HELLO[step, 0, letter] = 9
SAID = [HELLO, np.int32([6])]
TOO_LONG = sparse([[0, 2, 1, 4]]), LOGITS[:, :1], np.int32([3])
REPEATED = sparse([[0, 0, 1]]), LOGITS[:, :1], np.int32([3])
FRAMES = RNG.normal(size=[N, TIME, 4]).astype("f")
START = {
    "kernel": RNG.normal(size=[4, CLASSES]).astype("f"),
    "bias": np.zeros(CLASSES, "f"),
}
READING = [FRAMES, LENGTHS, LABELS, START]


SOFTMAX = np.exp(LOGITS.transpose([1, 0, 2]))
SOFTMAX /= SOFTMAX.sum(axis=-1, keepdims=True)
KERAS_LABELS, KERAS_LENGTHS = dense(LABELS)[:1], [LENGTHS[:, None]]
KERAS_LENGTHS.append(dense(LABELS)[1][:, None])
NO_KERAS = {**HOST, "graph": "its backend is that of Keras 3 today"}


# --- False friends: obvious replacements that give other numbers.


def by_ops_of_keras(labels, probabilities, lengths, label_lengths):
    logits = tf.math.log(probabilities)
    losses = tf.keras.ops.ctc_loss(labels, logits, label_lengths[:, 0], lengths[:, 0])
    return losses[:, None]


def first_is_blank(labels, logits, lengths):
    return tf.nn.ctc_loss(
        tf.SparseTensor(*labels), logits, None, lengths, blank_index=0
    )


def padding_is_labels(labels, label_lengths, logits, lengths):
    ends = tf.fill([len(labels)], labels.shape[1])
    return tf.nn.ctc_loss(labels, logits, ends, lengths, blank_index=-1)


def collapsed_by_hand(labels, logits, lengths, preprocess_collapse_repeated):
    return v2.ctc_loss(labels, logits, lengths)


def unmerged(logits, lengths, beam_width):
    return v2.beam_decode(logits, lengths, beam_width, merge_repeated=False)


def rates_by_length(labels, logits, lengths):
    """Computes the error rate over all labels, as in reports: weighted by length."""
    rates, _ = v2.label_error_rates(labels, logits, lengths)
    counts = tf.math.bincount(tf.cast(labels[0][:, 0], tf.int32))
    counts = tf.cast(counts, tf.float32)
    wrong = tf.reduce_sum(tf.math.multiply_no_nan(rates, counts))
    return rates, wrong / tf.reduce_sum(counts)


def loss(cls, name, slug, args, kwargs=(), **options):
    """Makes a case of the loss; kernels add logarithms in float32 even for float64."""
    return cls(name, slug, args, dict(kwargs), float32=True, **options)


CASES = [
    loss(Op, "ctc_loss", "all lengths", [WANTED, *HEARD], skip=HOST),
    loss(
        Op,
        "ctc_loss",
        "no time for a blank",
        REPEATED,
        expect=[np.inf],
        skip=INFINITE,
    ),
    loss(
        Op,
        "ctc_loss",
        "sharp logits",
        [WANTED, SHARP, LENGTHS],
        skip={**ONCE, **HOST},
    ),
    loss(
        FalseFriend,
        "ctc_loss",
        "the blank first",
        [sparse([[max(label, 1) for label in row] for row in LABELS]), *HEARD],
        naive=first_is_blank,
        because="the blank was the last class, and is 0 in many examples of today",
        skip={**ONCE, **HOST},
    ),
    loss(Op, "ctc_loss_of_dense", "all lengths", [*dense(LABELS), *HEARD], skip=HOST),
    loss(
        FalseFriend,
        "ctc_loss_of_dense",
        "padding as labels",
        [*dense(LABELS[3:]), LOGITS[:, 3:], np.full(N - 3, TIME, "i")],
        naive=padding_is_labels,
        because="so many entries of a row are labels as label_length says, zeros, too",
        skip={**ONCE, **HOST},
    ),
    loss(
        Op,
        "ctc_loss_with_options",
        "labels that repeat are one",
        [WANTED, *HEARD],
        {"preprocess_collapse_repeated": True},
        skip=HOST,
    ),
    loss(
        Op,
        "ctc_loss_with_options",
        "classes that repeat are two",
        [WANTED, *HEARD],
        {"ctc_merge_repeated": False},
        skip=HOST,
    ),
    loss(
        Op,
        "ctc_loss_with_options",
        "too many labels are passed over",
        TOO_LONG,
        {"ignore_longer_outputs_than_inputs": True},
        expect=[0],
        skip={**ONCE, **HOST},
    ),
    loss(
        FalseFriend,
        "ctc_loss_with_options",
        "without the option",
        [WANTED, *HEARD],
        {"preprocess_collapse_repeated": True},
        naive=collapsed_by_hand,
        because="tf.nn.ctc_loss has no such option, and repeats stay two",
        skip={**ONCE, **HOST},
    ),
    Op("greedy_decode", "all lengths", HEARD, skip=HOST),
    Op(
        "greedy_decode",
        "repeats",
        HEARD,
        {"merge_repeated": False},
        skip={**ONCE, **HOST},
    ),
    Op("greedy_decode", "hello", SAID, expect=([[0, 1, 2, 2, 3]], [[-54]]), skip=HOST),
    Op("beam_decode", "all lengths", HEARD, {"beam_width": 8}, skip=HOST),
    Op(
        "beam_decode",
        "repeats",
        [SHARP, LENGTHS],
        {"beam_width": 8, "merge_repeated": False},
        skip={**ONCE, **HOST},
    ),
    FalseFriend(
        "beam_decode",
        "hello",
        SAID,
        {"beam_width": 4},
        naive=unmerged,
        because="repeated labels of the answer were one, by default",
        differs="shape",
        skip={**ONCE, **HOST},
    ),
    loss(
        FalseFriend,
        "keras_cost",
        "all lengths",
        [*KERAS_LABELS, SOFTMAX, *KERAS_LENGTHS],
        naive=by_ops_of_keras,
        because="keras.ops.ctc_loss takes class 0 for the blank, and logits",
        skip=NO_KERAS,
    ),
    loss(
        Op,
        "keras_cost",
        "inputs of a model: labels in floats, lengths of int64",
        [KERAS_LABELS[0].astype("f"), SOFTMAX, *np.int64(KERAS_LENGTHS)],
        skip={**ONCE, **NO_KERAS},
    ),
    Op("keras_decode", "greedily", [SOFTMAX, LENGTHS], skip=NO_KERAS),
    Op(
        "keras_decode",
        "lengths of int64",
        [SOFTMAX, np.int64(LENGTHS)],
        {"greedy": False, "beam_width": 8},
        skip={**ONCE, **NO_KERAS},
    ),
    Op(
        "keras_decode",
        "lengths in floats, np.ones(batch) * time",
        [SOFTMAX, np.ones(N) * TIME],
        skip={**ONCE, **NO_KERAS},
    ),
    Op(
        "keras_decode",
        "two paths",
        [SOFTMAX, LENGTHS],
        {"greedy": False, "beam_width": 8, "top_paths": 2},
        skip=NO_KERAS,
    ),
    Op("label_error_rates", "all lengths", [WANTED, *HEARD], float32=True, skip=HOST),
    FalseFriend(
        "label_error_rates",
        "of all labels",
        [sparse(LABELS[1:]), LOGITS[:, 1:], LENGTHS[1:]],
        naive=rates_by_length,
        float32=True,
        because="the mean is of the rows' rates, and a short row counts as a long one",
        skip={**ONCE, **HOST},
    ),
    loss(Program, "train_recognizer", "ten steps", [*READING, 10], traces=2),
    loss(Program, "train_recognizer", "another rate", [*READING, 2, 0.5], traces=2),
    Raises(
        "ctc_loss",
        "more labels than time",
        TOO_LONG,
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match="Not enough time",
    ),
    Raises(
        "ctc_loss",
        "a row without labels",
        [sparse([[0], [], [1]]), LOGITS[:, :3], LENGTHS[1:4]],
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match="Labels length is zero in batch 1",
    ),
]
PROOF = proof(v1, v2, CASES)


class CtcTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


def by_the_old_page(labels, lengths, logits):
    ends = np.full([len(labels)], labels.shape[1], "i")
    with legacy(), v1.tf.Session() as sess:
        return sess.run(v1.ctc_loss_of_dense(labels, ends, logits, lengths))


def by_the_new_page(labels, lengths, logits):
    return v2.ctc_loss_of_dense(
        labels, np.full([len(labels)], labels.shape[1], "i"), logits, lengths
    ).numpy()


def as_a_matrix(labels, lengths, logits):
    """Computes `tf.nn.ctc_loss` of a matrix, with all columns counted as labels."""
    ends = np.full([len(labels)], labels.shape[1], "i")
    return tf.nn.ctc_loss(labels, logits, ends, lengths, blank_index=-1).numpy()


class DenseTest(unittest.TestCase):
    """Cases in which sparse and dense labels differ: in errors, or in the loss."""

    TWO = RNG.normal(size=[2, 1, 4]).astype("f")

    def test_no_time_for_a_blank(self):
        args = np.int32([[1, 1]]), np.int32([2]), self.TWO
        for loss in (by_the_old_page, by_the_new_page):
            self.assertEqual(loss(*args).tolist(), [np.inf])
        (found,) = as_a_matrix(*args)
        self.assertTrue(707 < found < 750, found)

    def test_lengths_beyond_the_logits(self):
        args = np.int32([[1]]), np.int32([3]), self.TWO
        for loss in (by_the_old_page, by_the_new_page):
            with self.assertRaisesRegex(INVALID, r"sequence_length\(0\) <= 2"):
                loss(*args)
        self.assertTrue(np.isfinite(as_a_matrix(*args)).all())

    def test_float64(self):
        args = np.int32([[1]]), np.int32([2]), self.TWO.astype("d")
        (old,), (new,) = by_the_old_page(*args), by_the_new_page(*args)
        self.assertEqual((old, old.dtype), (new, "float64"))
        with self.assertRaisesRegex(INVALID, "cannot compute Mul"):
            as_a_matrix(*args)

    @parameterized.expand([("negative", [-1]), ("before another", [7, 1])])
    def test_a_label_that_is_refused(self, _, labels):
        args = np.int32([labels]), np.int32([2]), self.TWO
        for loss in (by_the_old_page, by_the_new_page):
            with self.assertRaises(INVALID):
                loss(*args)


class LengthsTest(unittest.TestCase):
    def test_lengths_of_int64(self):
        args = FRAMES[:3], np.int64(LENGTHS[:3]), LABELS[:3], START, 1
        with legacy():
            old = v1.train_recognizer(*args)["losses"]
        self.assertEqual(old, v2.train_recognizer(*args)["losses"])
