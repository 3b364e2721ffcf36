import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import FalseFriend, Op, Program, Raises
from tf1to2.parity.arrays import integers, normal, uniform
from v1_graph import candidate_sampling as v1
from v2_eager import candidate_sampling as v2

ONCE = {way: "another case of the pair" for way in ("function", "dynamic", "xla")}
HOST = {"xla": "XLA has no kernel that finds the hits"}
CLASSES, DEPTH, DRAWN = 83, 9, 16
RNG = np.random.RandomState(0)
TRUE = RNG.randint(CLASSES, size=[67, 2])
# Drawn from a log-uniform distribution, as a sampler does: low ids are frequent.
CANDIDATES = np.unique((CLASSES ** RNG.uniform(size=60)).astype("i8") - 1)[:DRAWN]
WEIGHTS = [normal(CLASSES, DEPTH), normal(CLASSES)]
SAMPLED = CANDIDATES, uniform("b", 2, low=0.01), uniform(DRAWN, low=0.01)
ASKED = [integers("b", 2, high=CLASSES, dtype="int64"), normal("b", DEPTH)]
# The shards have 28, 28 and 27 rows.
SHARDS = [normal(len(range(i, CLASSES, 3)), DEPTH) for i in range(3)]
COUNTS = (1000 / np.arange(1, CLASSES + 1)).round(1).tolist()
WORDS = (CLASSES ** RNG.uniform(size=[10, 67])).astype("i8") - 1
CONTEXTS = (CLASSES ** RNG.uniform(size=[10, 67, 1])).astype("i8") - 1
START = {
    "embeddings": RNG.uniform(-1, 1, size=[CLASSES, DEPTH]).astype("f"),
    "nce_weights": RNG.normal(size=[CLASSES, DEPTH]).astype("f") / 3,
    "nce_biases": np.zeros(CLASSES, "f"),
}
TRAINING = [WORDS, CONTEXTS, START, DRAWN, 5]


# --- Obvious replacements, with other numbers.


def shards_as_they_are(shards, biases, labels, inputs, sampled):
    return tf.nn.nce_loss(shards, biases, labels, inputs, DRAWN, CLASSES, 2, sampled)


def all_classes(weights, biases, labels, inputs, sampled):
    """Computes the loss for evaluation: softmax over all classes, labels averaged."""
    logits = tf.matmul(inputs, weights, transpose_b=True) + biases
    labels = tf.reduce_sum(tf.one_hot(labels, CLASSES, dtype=logits.dtype), 1)
    return tf.nn.softmax_cross_entropy_with_logits(labels / 2, logits)


def hits_removed(weights, biases, labels, inputs, sampled):
    return v2.nce_loss(weights, biases, labels, inputs, sampled, True)


def hits_kept(weights, biases, labels, inputs, sampled):
    return v2.sampled_softmax_loss(weights, biases, labels, inputs, sampled, False)


def uniform_word2vec(words, contexts, start, num_sampled, seed):
    sampler = tf.random.uniform_candidate_sampler
    with mock.patch.object(tf.random, "log_uniform_candidate_sampler", sampler):
        return v2.train_word2vec(words, contexts, start, num_sampled, seed)


def draws(slug, kind, *options):
    return Program("draw_candidates", slug, [kind, TRUE, DRAWN, CLASSES, 3, *options])


CASES = [
    draws("uniform", "uniform"),
    draws("by Zipf's law", "log_uniform"),
    draws("by Zipf's law, with repeats", "log_uniform", {"unique": False}, 3),
    draws("by what came", "learned_unigram", {}, 4),
    draws("by counts", "fixed_unigram", {"unigrams": COUNTS, "distortion": 0.75}),
    Op(
        "accidental_hits",
        "two true ones",
        [TRUE, CANDIDATES],
        skip={**HOST, "dynamic": "num_true is a number, which must be known"},
    ),
    Op("nce_loss", "any size", [*WEIGHTS, *ASKED, SAMPLED]),
    Op(
        "nce_loss",
        "without hits",
        [*WEIGHTS, *ASKED, SAMPLED],
        {"remove_accidental_hits": True},
        skip=HOST,
    ),
    FalseFriend(
        "nce_loss",
        "the default of the softmax",
        [*WEIGHTS, *ASKED, SAMPLED],
        naive=hits_removed,
        because="nce_loss keeps candidates that are true, unlike sampled_softmax_loss",
        skip={**ONCE, **HOST},
    ),
    Op("nce_loss_of_shards", "three tables", [SHARDS, WEIGHTS[1], *ASKED, SAMPLED]),
    FalseFriend(
        "nce_loss_of_shards",
        "the tables as they are",
        [SHARDS, WEIGHTS[1], *ASKED, SAMPLED],
        naive=shards_as_they_are,
        because='a list of tables was split by "mod", and is by "div" today',
        skip=ONCE,
    ),
    Op(
        "sampled_softmax_loss",
        "any size",
        [*WEIGHTS, *ASKED, SAMPLED],
        skip=HOST,
    ),
    Op(
        "sampled_softmax_loss",
        "with hits",
        [*WEIGHTS, *ASKED, SAMPLED],
        {"remove_accidental_hits": False},
    ),
    FalseFriend(
        "sampled_softmax_loss",
        "with hits, by omission",
        [*WEIGHTS, *ASKED, SAMPLED],
        naive=hits_kept,
        because="candidates that are true do not count, by default",
        skip={**ONCE, **HOST},
    ),
    FalseFriend(
        "sampled_softmax_loss",
        "all classes",
        [*WEIGHTS, *ASKED, SAMPLED],
        naive=all_classes,
        because="the loss by samples is for training: it is not that of all classes",
        skip={**ONCE, **HOST},
    ),
    Program(
        "train_word2vec", "ten steps", TRAINING, {"valid": [0, 1, 5]}, float32=True
    ),
    Program(
        "train_word2vec", "a smaller rate", TRAINING, {"rate": 0.125}, float32=True
    ),
    FalseFriend(
        "train_word2vec",
        "uniform candidates",
        TRAINING,
        of="program",
        float32=True,
        naive=uniform_word2vec,
        because="candidates follow Zipf's law, by which frequent words come more often",
        skip={"function": "another case of the pair"},
    ),
    Raises(
        "draw_candidates",
        "more than there are",
        ["uniform", TRUE, CLASSES + 1, CLASSES, 3],
        of="program",
        graph=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        match="Sampler's range is too small",
    ),
]
PROOF = proof(v1, v2, CASES)


class CandidateSamplingTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()
