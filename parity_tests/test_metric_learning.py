import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.contrib import CONTRIB, NARROW
from tf1to2.parity import FalseFriend, Op, Program, Raises
from v1_graph import metric_learning as v1
from v2_eager import metric_learning as v2

INVALID = tf.errors.InvalidArgumentError
ONE = {"dynamic": "another case of the pair", "xla": "another case of the pair"}
EAGER = {**ONE, "function": "another case of the pair"}


def rows(seed=0, n=64, size=16, classes=10, of_unit_length=True):
    """Draws classes, and rows that are nearer to rows of their class than to others."""
    random = np.random.RandomState(seed)
    labels = random.randint(classes, size=n)
    x = random.normal(size=[classes, size])[labels] + random.normal(size=[n, size])
    if of_unit_length:
        x /= np.linalg.norm(x, axis=1, keepdims=True)
    return [labels, x.astype("f")]


def pairs(seed=0, n=64, **options):
    """Draws pairs of rows, and whether both have the same class."""
    labels, x = rows(seed, n, **options)
    others, y = rows(seed + 1, n, **options)
    same = np.random.RandomState(seed).randint(2, size=n)
    y = np.where(same[:, None] == 1, x + 0.25 * y, y)
    return [same, x, y.astype("f")], [labels, x, y.astype("f")]


def op(name, slug, args, kwargs=(), skip=(), cls=Op, **options):
    return cls(
        name, slug, args, dict(kwargs), skip={**CONTRIB, **dict(skip)}, **options
    )


def narrow(name, slug, args, kwargs=(), skip=(), **options):
    """Makes a case of a loss that accepted only float32."""
    skip = {**NARROW, **dict(skip)}
    return op(name, slug, args, kwargs, skip, float32=True, **options)


def friend(name, slug, args, naive, because, make=narrow, **options):
    more = {"naive": naive, "because": because, "cls": FalseFriend}
    return make(name, slug, args, skip=EAGER, **more, **options)


# --- What is written in their place.


def of_all_pairs(labels, anchor, positive, margin=1.0):
    """Computes Hadsell's loss as in the paper: half of contrib's loss."""
    return v2.contrastive_loss(labels, anchor, positive, margin) / 2


def of_hard_others(labels, embeddings, margin=1.0):
    """Compares each pair with the nearest row of another class."""
    squares = v2.squared_distances(embeddings)
    same = labels[:, None] == labels
    nearest = tf.reduce_min(tf.where(same, np.inf, squares), 1, keepdims=True)
    pairs = v2.pairs_of(same, squares.dtype)
    losses = tf.maximum(margin + squares - nearest, 0) * pairs
    return tf.reduce_sum(losses) / tf.reduce_sum(pairs)


def of_each_its_own(labels, anchor, positive, reg_lambda=0.002):
    """Pairs anchor i only with row i of the positives, whatever the classes."""
    numbers = tf.range(tf.size(labels))
    return v2.npairs_loss(numbers, anchor, positive, reg_lambda)


def batches(seed=0, steps=5):
    """Draws batches of 32 rows, with rows of each class."""
    labels, x = rows(seed, 32 * steps, of_unit_length=False)
    kernel = np.random.RandomState(seed).normal(size=[16, 8]).astype("f")
    return [x.reshape([steps, 32, 16]), labels.reshape([steps, 32]), kernel, steps]


ANY, OWN = pairs()
CASES = [
    op("contrastive_loss", "ordinary rows", ANY),
    op("contrastive_loss", "a margin", ANY, {"margin": 0.5}, skip=ONE),
    friend(
        "contrastive_loss",
        "a half",
        ANY,
        of_all_pairs,
        "contrib averages without the half of the paper",
        make=op,
    ),
    narrow("triplet_semihard_loss", "ordinary rows", rows()),
    narrow(
        "triplet_semihard_loss",
        "rows of any length",
        rows(1, of_unit_length=False),
        {"margin": 0.5},
        skip=ONE,
    ),
    narrow("triplet_semihard_loss", "all of one class", rows(2, classes=1), skip=ONE),
    narrow(
        "triplet_semihard_loss",
        "no pairs",
        [np.arange(6), rows(3, 6)[1]],
        skip=ONE,
        expect=np.nan,
    ),
    friend(
        "triplet_semihard_loss",
        "the nearest others",
        rows(),
        of_hard_others,
        "semi-hard others are farther from the anchor than its pair",
    ),
    narrow("npairs_loss", "ordinary rows", OWN),
    narrow("npairs_loss", "no penalty", OWN, {"reg_lambda": 0.0}, skip=ONE),
    friend(
        "npairs_loss",
        "each its own",
        OWN,
        of_each_its_own,
        "rows of one class share the probability",
    ),
    narrow("lifted_struct_loss", "ordinary rows", rows(4, of_unit_length=False)),
    narrow("lifted_struct_loss", "a margin", rows(5), {"margin": 0.25}, skip=ONE),
    narrow(
        "lifted_struct_loss",
        "a row twice",
        [np.repeat(rows(6)[0], 2), np.repeat(rows(6)[1], 2, 0)],
        skip=ONE,
    ),
]
CASES += [
    Program(
        "train_embeddings",
        "five batches",
        [*batches(), 0.01],
        float32=True,
        skip=CONTRIB,
    ),
    Program("train_centers", "five batches", [*batches()[:3], 10]),
    Raises.alike(
        "contrastive_loss",
        "labels of others",
        [ANY[0][:7], *ANY[1:]],
        INVALID,
        "Incompatible shapes|must be equal",
        graph=ValueError,
        function=ValueError,
        skip=CONTRIB,
    ),
]
PROOF = proof(v1, v2, CASES)


class MetricLearningTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class LabelsTest(unittest.TestCase):
    """A column of labels raised an AssertionError without a message."""

    @parameterized.expand(["triplet_semihard_loss", "lifted_struct_loss"])
    def test_a_column_of_labels(self, name):
        labels, x = map(tf.constant, rows(n=8))
        with self.assertRaisesRegex(ValueError, "labels must be"):
            getattr(v2, name)(labels[:, None], x)
        specs = [tf.TensorSpec(None, labels.dtype), tf.TensorSpec(x.shape)]
        unknown = tf.function(getattr(v2, name), input_signature=specs)
        self.assertEqual(unknown(labels, x), tf.function(getattr(v2, name))(labels, x))
        with self.assertRaisesRegex(INVALID, "labels must be"):
            unknown(labels[:, None], x)

    @parameterized.expand(["triplet_semihard_loss", "lifted_struct_loss"])
    def test_labels_may_be_an_array(self, name):
        labels, x = rows(n=8)
        loss = getattr(v2, name)
        self.assertEqual(loss(labels, x), loss(tf.constant(labels), tf.constant(x)))

    @parameterized.expand(
        ["triplet_semihard_loss", "lifted_struct_loss", "npairs_loss"]
    )
    def test_one_label_is_not_that_of_all_rows(self, name):
        """1.15.5 raised "Dimensions must be equal"; `npairs_loss` ended the process."""
        labels, x = rows(n=8)
        more = [x] if name == "npairs_loss" else []
        for loss in (getattr(v2, name), tf.function(getattr(v2, name))):
            with self.assertRaisesRegex(INVALID, "labels must be"):
                loss(labels[:1], x, *more)
