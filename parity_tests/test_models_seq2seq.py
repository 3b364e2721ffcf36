import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from parity_tests.contrib import CONTRIB
from tf1to2.parity import FalseFriend, Program, Raises
from v1_graph import models_seq2seq as v1
from v2_eager import models_seq2seq as v2
from v2_eager.numerics import rnn

LONGEST = 4


def reversals(seed, *shape):
    """Draws sequences of the symbols 3 to 9; the targets are reversed, with an end.

    Args:
        seed: seed of the draws.
        *shape: leading dimensions, such as the number of batches and of rows in each.

    Returns:
        [sources, their lengths, targets, their lengths], int32 arrays, padded with 0.
    """
    random = np.random.RandomState(seed)
    lengths = random.randint(2, LONGEST + 1, shape)
    place = np.arange(LONGEST)
    inside = place < lengths[..., None]
    sources = np.where(inside, random.randint(3, 10, [*shape, LONGEST]), 0)
    back = np.where(inside, lengths[..., None] - 1 - place, place)
    targets = np.concatenate(
        [np.take_along_axis(sources, back, -1), np.zeros([*shape, 1], int)], -1
    )
    np.put_along_axis(targets, lengths[..., None], v2.EOS, -1)
    return [x.astype("i") for x in (sources, lengths, targets, lengths + 1)]


WAYS = [f"encoder/bidirectional_rnn/{way}/basic_lstm_cell" for way in ("fw", "bw")]
WRAPPER = "decoder/attention_wrapper"
SHAPES = {
    "encoder/embedding": [10, 6],
    **{f"{way}/kernel": [12, 24] for way in WAYS},
    **{f"{way}/bias": [24] for way in WAYS},
    "decoder/memory_layer/kernel": [12, 12],
    "decoder/embedding": [10, 6],
    f"{WRAPPER}/basic_lstm_cell/kernel": [30, 48],
    f"{WRAPPER}/basic_lstm_cell/bias": [48],
    f"{WRAPPER}/attention_layer/kernel": [24, 12],
    "decoder/projection/kernel": [12, 10],
}
OTHERS = {**models.POWERS, "global_step": np.int64(0)}
START = models.start(SHAPES, models.ADAM, **OTHERS)
RATE = np.array(0.03125, "f")
DATA, TEST = [*reversals(0, 10, 16), RATE], reversals(1, 64)
MODEL = models.Model(DATA, START, CONTRIB)

# Larger weights, so that some sequences end early, and some beams end before others.
LARGE = {name: 3 * value if name in SHAPES else value for name, value in START.items()}
SHARP = models.Model(DATA, LARGE, CONTRIB)
SLOTS = {"Adam": 0.01, "Adam_1": 0.0004}
MIDDLE = models.start(SHAPES, SLOTS, **{**OTHERS, "global_step": np.int64(59)})
LATER = models.Model(DATA, MIDDLE, CONTRIB)

# --- Wrong programs that people write instead of the right page.


def mean_of_all_places(logits, targets, weights):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, logits)
    return tf.reduce_mean(losses * weights)


def with_mean_of_all_places(*args):
    with mock.patch.object(v2, "sequence_loss", mean_of_all_places):
        return v2.train(*args)


def without_lengths(*args):
    """Reads the padding, as `keras.layers.Bidirectional` does without a mask."""
    read = rnn.unroll_both_ways

    def read_all(forward, backward, x, lengths):
        del lengths
        return read(forward, backward, x)

    with mock.patch.object(v2.rnn, "unroll_both_ways", read_all):
        return v2.train(*args)


class Activated:
    """A cell whose attention goes through tanh, as in the paper of Luong et al."""

    def __init__(self, cell):
        self.cell = cell

    def __getattr__(self, name):
        return getattr(self.cell, name)

    def __call__(self, x, state):
        attention, state = self.cell(x, state)
        attention = tf.tanh(attention)
        return attention, state._replace(attention=attention)


def with_tanh(*args):
    over = v2.AttentionWrapper.over
    with mock.patch.object(
        v2.AttentionWrapper, "over", lambda *args: Activated(over(*args))
    ):
        return v2.train(*args)


def tile(tensors, multiplier):
    return tf.nest.map_structure(
        lambda x: tf.tile(x, [multiplier] + [1] * (x.shape.rank - 1)), tensors
    )


def with_tile(*args):
    with mock.patch.object(v2, "tile_batch", tile):
        return v2.export(*args)


def raises(error, match):
    return {
        "kind": Raises,
        "of": "program",
        "match": match,
        **dict.fromkeys(("graph", "eager", "function"), error),
    }


CASES = [
    *MODEL.cases(evaluate=TEST, export=TEST[:2]),
    Program("train", "initial values", [*DATA, 0], exact=True, skip=CONTRIB),
    LATER.train(10, "from step 59, over the halving of the rate"),
    SHARP.case("evaluate", "some end early", [*TEST, LARGE]),
    SHARP.case("export", "some beams end early", [*TEST[:2], LARGE, "folder"]),
    MODEL.case(
        "evaluate",
        "an empty source",
        [TEST[0], TEST[1] * (np.arange(64) > 0), *TEST[2:], START],
        **raises(
            tf.errors.InvalidArgumentError,
            "All values in memory_sequence_length must be greater than zero",
        ),
    ),
    *(
        MODEL.train(5, slug, FalseFriend, of="program", naive=naive, because=because)
        for slug, naive, because in [
            (
                "a mean of all places",
                with_mean_of_all_places,
                "`sequence_loss` divides by the sum of the weights",
            ),
            (
                "the padding is read",
                without_lengths,
                "the backward cell begins at the last symbol, not at the padding",
            ),
            (
                "tanh of the attention",
                with_tanh,
                "the attention layer of `AttentionWrapper` has no activation",
            ),
        ]
    ),
    SHARP.case(
        "export",
        "tf.tile",
        [*TEST[:2], LARGE, "folder"],
        FalseFriend,
        of="program",
        naive=with_tile,
        because="the copies of a row are adjacent",
    ),
]
PROOF = proof(v1, v2, CASES)


class ModelsSeq2seqTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class UseTest(unittest.TestCase):
    """Runs the steps that follow a port."""

    def test_a_trained_model_reverses_and_one_trace_serves_all_steps(self):
        trainer = v2.Trainer(RATE)
        batches = list(zip(*map(tf.constant, DATA[:4])))
        for step in range(100):
            trainer.step(*batches[step % len(batches)])
        self.assertEqual(trainer.step.experimental_get_tracing_count(), 1)
        source, lengths, target, ends = TEST
        ids = trainer.model.search(*map(tf.constant, (source, lengths)))["ids"]
        best = np.pad(ids[:, :, 0], [(0, 0), (0, LONGEST + 1)])[:, : LONGEST + 1]
        inside = np.arange(LONGEST + 1) < ends[:, None]
        self.assertGreater(np.mean((best == target)[inside]), 0.8)
