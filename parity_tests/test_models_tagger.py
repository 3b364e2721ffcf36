import os
import tempfile
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from parity_tests.contrib import CONTRIB
from tf1to2.parity import FalseFriend, Program, Raises
from v1_graph import models_tagger as v1
from v2_eager import models_tagger as v2
from v2_eager.numerics import restore, rnn

OTHER, B_PER, I_PER, B_LOC, I_LOC = range(5)
TIME, VOCABULARY, DEPTH = 9, 40, 8


def phrase(random):
    """Draws a list of (word, tag): only the words around a name show its kind."""
    name, other = random.randint(30, 40, 2)
    title, place, verb = random.randint([1, 5, 9], [5, 9, 13])
    return [
        [(random.randint(13, 30), OTHER)],
        [(title, OTHER), (name, B_PER)],
        [(title, OTHER), (name, B_PER), (other, I_PER)],
        [(place, OTHER), (name, B_LOC)],
        [(place, OTHER), (name, B_LOC), (other, I_LOC)],
        [(name, B_PER), (verb, OTHER)],
    ][random.randint(6)]


def sentences(seed, *shape):
    """Draws sentences, with zeros past the end.

    Args:
        seed: seed of the draws.
        *shape: such as the number of batches and of the sentences in each.

    Returns:
        [words [*shape, time], tags [*shape, time], lengths [*shape]], int32 arrays. The
        longest sentences of the first batches have different lengths.
    """
    random = np.random.RandomState(seed)
    data = np.zeros([2, np.prod(shape), TIME], "i")
    longest = TIME - np.arange(shape[0]) % 4
    lengths = random.randint(2, np.resize(longest, shape[::-1]).T + 1).astype("i")
    for row, length in enumerate(lengths.flat):
        drawn = []
        while len(drawn) < length:
            drawn += phrase(random)
        data[:, row, :length] = np.transpose(drawn[:length])
    return [*data.reshape(2, *shape, TIME), lengths]


BOTH = [f"bi-lstm/bidirectional_rnn/{way}/lstm_cell" for way in ("fw", "bw")]
SHAPES = {
    "words/_word_embeddings": [VOCABULARY, DEPTH],
    **{f"{cell}/kernel": [14, 24] for cell in BOTH},
    **{f"{cell}/bias": [24] for cell in BOTH},
    "proj/W": [12, 5],
    "proj/b": [5],
    "transitions": [5, 5],
}
# The CRF of 1.15.5 says float32: in float64 all that says so is widened, powers, too.
POWERS = {name: np.float32(value) for name, value in models.POWERS.items()}
WIDE = {"widen": True}
OTHERS = {**POWERS, "global_step": np.int64(0)}
START = models.start(SHAPES, models.ADAM, **OTHERS)
MIDDLE = {"Adam": 0.01, "Adam_1": 0.0004}
LATER = models.start(SHAPES, MIDDLE, **{**OTHERS, "global_step": np.int64(5)})
DATA, TEST = sentences(0, 6, 16), sentences(1, 64)
VECTORS = np.random.RandomState(2).normal(0, 0.5, [VOCABULARY, DEPTH]).astype("f")
MODEL = models.Model([*DATA, VECTORS], START, CONTRIB, wide=WIDE)
AFTER = models.Model([*DATA, VECTORS], LATER, CONTRIB, wide=WIDE)
STRANGE = np.where(np.arange(TIME) == 1, VOCABULARY, TEST[0]).astype("i")
PADDED = np.where(np.arange(TIME) < TEST[2][:, None], TEST[1], -1).astype("i")
INVALID = dict.fromkeys(("graph", "eager", "function"), tf.errors.InvalidArgumentError)

# --- Wrong programs that people write instead of the right page.


def clip_each(gradients, limit):
    return [tf.clip_by_norm(g, limit) for g in gradients], None


def with_clipnorm(*args):
    """Clips each gradient by its own norm, as `clipnorm=` of Keras does."""
    with mock.patch.object(tf, "clip_by_global_norm", clip_each):
        return v2.train(*args)


def with_a_trace_for_each_length(*args):
    with mock.patch.object(v2.Trainer, "step", tf.function(STEP.python_function)):
        return v2.train(*args)


def without_lengths(*args):
    """Runs the LSTM over the padding, too, as a layer of Keras without a mask does."""
    both_ways = rnn.unroll_both_ways

    def unmasked(forward, backward, x, lengths):
        return both_ways(forward, backward, x)

    with mock.patch.object(v2.rnn, "unroll_both_ways", unmasked):
        return v2.evaluate(*args)


def by_argmax(potentials, transitions, lengths):
    tags = tf.argmax(potentials, 2, tf.int32)
    return tags * tf.sequence_mask(lengths, tf.shape(tags)[1], tf.int32), None


def without_transitions(*args):
    with mock.patch.object(v2, "crf_decode", by_argmax):
        return v2.evaluate(*args)


STEP = v2.Trainer.step
WRONG = [
    (
        "clipnorm",
        with_clipnorm,
        "each gradient is clipped by the norm of all gradients",
    ),
    (
        "a trace for each length",
        with_a_trace_for_each_length,
        "each trace draws its dropout from the start, a session draws one sequence",
    ),
]
WRONG_TAGS = [
    (
        "padding is read",
        without_lengths,
        "the backward LSTM begins at the last word, not in the padding",
    ),
    ("argmax", without_transitions, "the best sequence is not that of the best tags"),
]
CASES = [
    *MODEL.cases(evaluate=TEST, export=[TEST[0], TEST[2]]),
    AFTER.train(10, "goes on with slots, from step 5"),
    *(
        MODEL.train(5, slug, FalseFriend, of="program", naive=naive, because=because)
        for slug, naive, because in WRONG
    ),
    *(
        MODEL.case(
            "evaluate",
            slug,
            [*TEST, START],
            FalseFriend,
            of="program",
            naive=naive,
            because=because,
        )
        for slug, naive, because in WRONG_TAGS
    ),
    MODEL.case(
        "evaluate",
        "an out-of-vocabulary word",
        [STRANGE, *TEST[1:], START],
        Raises,
        of="program",
        match=r"= 40 is not in \[0, 40\)",
        **INVALID,
    ),
    MODEL.case(
        "evaluate",
        "tags that are padded with -1",
        [TEST[0], PADDED, TEST[2], START],
        Raises,
        of="program",
        match=r"= -\d+ is not in|= \[-?\d, -1\]",
        **INVALID,
    ),
    Program("train", "initial values", [*DATA, VECTORS, 0], exact=True, skip=CONTRIB),
]
PROOF = proof(v1, v2, CASES)


class ModelsTaggerTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class UseTest(unittest.TestCase):
    """Runs the steps that follow a port."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "start.ckpt")
        restore.save(self.path, START)
        self.trained = os.path.join(self.folder, "model.ckpt")

    def test_a_trained_tagger_tags_and_is_served(self):
        v2.train(*DATA, VECTORS, 100, self.path, self.folder)
        before, after = (v2.evaluate(*TEST, p) for p in (self.path, self.trained))
        self.assertLess(before["accuracy"], 0.5)
        self.assertGreater(after["accuracy"], 0.9)
        served = v2.export(TEST[0], TEST[2], self.trained, self.folder + "/saved")
        np.testing.assert_array_equal(served["tags"], after["tags"], strict=True)

    def test_training_goes_on_from_the_file_of_another_run(self):
        v2.train(*DATA, VECTORS, 4, self.path, self.folder)
        found = v2.train(*DATA, VECTORS, 2, self.trained)["variables"]
        self.assertEqual(found["global_step"], 6)
        self.assertEqual(set(found), set(START))

    def test_batches_of_four_lengths_take_one_trace(self):
        self.assertGreater(len({lengths.max() for lengths in DATA[2]}), 2)
        trainer = v2.Trainer(VECTORS)
        for step in range(6):
            trainer.step(*v2.batch_of(step, *DATA))
        self.assertEqual(trainer.step.experimental_get_tracing_count(), 1)
