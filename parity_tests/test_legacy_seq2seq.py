import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.contrib import CONTRIB, EAGER, ONCE, friend, layer, refused
from tf1to2.parity import FalseFriend, Op, Program, normal, uniform
from tf1to2.parity.arrays import integers
from v1_graph import legacy_seq2seq as v1
from v2_eager import legacy_seq2seq as v2
from v2_eager.legacy_seq2seq import models

UNITS, CLASSES = 6, 11
CHARS = integers("b", 4, high=CLASSES)
SAID = integers("b", 3, high=CLASSES)
STATES = normal(2, 2, "b", UNITS)
TRANSLATOR = {"units": UNITS, "sources": 9, "classes": CLASSES, "size": 5}
# Weights are all positive in the proofs: with small sizes, no sum saturates a tanh.
SMALL = {"units": 3, "sources": 9, "classes": CLASSES, "size": 2}
SOURCES = integers("b", 4, high=9)
LOOKING = [normal("b", 3, 5), normal("b", 4, 7), normal(2, "b", UNITS)]
LISTS = [
    [normal("b", 5), normal("b", 5), normal("b", 5)],
    [integers("b", high=5), integers("b", high=5), integers("b", high=5)],
    [uniform("b"), uniform("b"), uniform("b")],
]
NARROWED = {"xla": "XLA rounds otherwise, and its softmax is of float32"}


def at_once(*args, **options):
    """Makes a layer case of one batch size, because unrolled graphs trace slowly."""
    return layer(*args, sizes=[{"b": 67}], **options)


# --- Arrays.


def drawn(seed, shapes):
    random = np.random.RandomState(seed)
    return {k: random.normal(size=s).astype("f") / 2 for k, s in shapes.items()}


def of_char_rnn(layers=2):
    shapes = {"rnnlm/softmax_w": [UNITS, CLASSES], "rnnlm/softmax_b": [CLASSES]}
    shapes["embedding"] = [CLASSES, UNITS]
    for i in range(layers):
        path = f"rnnlm/multi_rnn_cell/cell_{i}/basic_lstm_cell"
        shapes[f"{path}/kernel"] = [2 * UNITS, 4 * UNITS]
        shapes[f"{path}/bias"] = [4 * UNITS]
    return drawn(0, shapes)


def gru(path, depth):
    return {
        f"{path}/gru_cell/gates/kernel": [depth + UNITS, 2 * UNITS],
        f"{path}/gru_cell/gates/bias": [2 * UNITS],
        f"{path}/gru_cell/candidate/kernel": [depth + UNITS, UNITS],
        f"{path}/gru_cell/candidate/bias": [UNITS],
    }


def of_translator(depth=5):
    """Returns the weights in the order in which 1.15.5 created them."""
    path = "embedding_attention_seq2seq"
    reader = f"{path}/rnn/embedding_wrapper"
    decoder = f"{path}/embedding_attention_decoder"
    shapes = {"proj_w": [UNITS, CLASSES], "proj_b": [CLASSES]}
    shapes[f"{reader}/embedding"] = [9, depth]
    shapes.update(gru(reader, depth))
    shapes[f"{decoder}/embedding"] = [CLASSES, depth]
    decoder += "/attention_decoder"
    shapes[f"{decoder}/AttnW_0"] = [1, 1, UNITS, UNITS]
    shapes[f"{decoder}/AttnV_0"] = [UNITS]
    shapes[f"{decoder}/kernel"] = [depth + UNITS, depth]
    shapes[f"{decoder}/bias"] = [depth]
    shapes.update(gru(decoder, depth))
    shapes[f"{decoder}/Attention_0/kernel"] = [UNITS, UNITS]
    shapes[f"{decoder}/Attention_0/bias"] = [UNITS]
    shapes[f"{decoder}/AttnOutputProjection/kernel"] = [2 * UNITS, UNITS]
    shapes[f"{decoder}/AttnOutputProjection/bias"] = [UNITS]
    return drawn(1, shapes)


RANDOM = np.random.RandomState(3)
TEXT = RANDOM.randint(CLASSES, size=123).astype("i")
READ = RANDOM.randint(9, size=[67, 6]).astype("i")
LENGTHS = RANDOM.randint(1, 6, size=[67, 1])
TOLD = RANDOM.randint(1, CLASSES, size=[67, 6]) * (np.arange(6) < LENGTHS)
TOLD = np.concatenate([np.ones([67, 1]), TOLD[:, 1:]], 1).astype("i")
BUCKETS = [(3, 2), (6, 5)]
GIVEN = np.zeros([2, 3, 4], "f")


# --- What is written in place of contrib.


def over_all(logits, targets, weights):
    """Divides the sum of losses by the sum of weights, as tf.contrib.seq2seq does."""
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, logits)
    return tf.reduce_sum(losses * weights) / tf.reduce_sum(weights)


def without_the_tiny_number(logits, targets, weights):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, logits)
    return tf.reduce_sum(losses * weights, 0) / tf.reduce_sum(weights, 0)


def looks_first(**factory):
    return v2.make_attention_decoder(**factory, initial_state_attention=True)


def anew(text, batch, steps, start):
    """Begins every piece with a state of zeros."""
    read = models.CharRNN.read

    def from_zeros(self, chars, states):
        return read(self, chars, tf.nest.map_structure(tf.zeros_like, states))

    with mock.patch.object(models.CharRNN, "read", from_zeros):
        return v2.train_char_rnn(text, batch, steps, start)


def program(name, slug, args, kwargs=(), cls=Program, **options):
    options.setdefault("skip", CONTRIB)
    return cls(name, slug, args, dict(kwargs), **options)


CASES = [
    layer("make_char_rnn", "given", [CHARS, STATES], {"units": 6, "classes": 11}),
    layer(
        "make_char_rnn",
        "by itself, one layer",
        [CHARS, normal(1, 2, "b", 4)],
        {"units": 4, "classes": 11, "feed_previous": True, "name": "writer"},
        ONCE,
    ),
    layer(
        "make_basic_seq2seq",
        "two",
        [normal("b", 4, 5), normal("b", 3, 2)],
        {"units": 6},
    ),
    layer(
        "make_basic_seq2seq",
        "tied",
        [normal("b", 4, 5), normal("b", 3, 5)],
        {"units": 6, "tied": True},
        ONCE,
    ),
    at_once(
        "make_embedding_seq2seq",
        "given",
        [SOURCES, SAID],
        TRANSLATOR,
        NARROWED,
        float32=True,
    ),
    at_once(
        "make_embedding_seq2seq",
        "projected, by itself",
        [SOURCES, SAID],
        {**TRANSLATOR, "feed": True, "projected": True},
        ONCE,
        float32=True,
    ),
    *(
        at_once(
            "make_embedding_seq2seq",
            f"by a tensor, {feed}",
            [SOURCES, SAID, np.array(feed)],
            TRANSLATOR,
            ways,
            float32=True,
        )
        for feed, ways in ((True, ONCE), (False, EAGER))
    ),
    at_once(
        "make_attention_decoder",
        "one head",
        LOOKING,
        {"units": 6},
        NARROWED,
        float32=True,
    ),
    at_once(
        "make_attention_decoder",
        "two heads, from the first state",
        LOOKING,
        {"units": 6, "outputs": 3, "heads": 2, "initial_state_attention": True},
        ONCE,
        float32=True,
    ),
    friend(
        "make_attention_decoder",
        "what it sees first",
        LOOKING,
        looks_first,
        "the first step reads zeros in place of the memory",
        {"units": 6},
        make=at_once,
        float32=True,
    ),
    at_once(
        "make_attention_seq2seq",
        "given",
        [SOURCES, SAID],
        SMALL,
        NARROWED,
        float32=True,
    ),
    at_once(
        "make_attention_seq2seq",
        "two heads, by a tensor",
        [SOURCES, SAID, np.array(True)],
        {**SMALL, "heads": 2, "first": True},
        ONCE,
        float32=True,
    ),
    *(
        Op("sequence_loss_by_example", slug, LISTS, options, skip=CONTRIB)
        for slug, options in [
            ("averaged", {}),
            ("summed", {"average_across_timesteps": False}),
        ]
    ),
    Op(
        "sequence_loss_by_example",
        "no weight at all",
        [[*GIVEN], [np.zeros(3, "i")] * 2, [np.zeros(3, "f")] * 2],
        expect=[0, 0, 0],
        skip={**CONTRIB, **ONCE},
    ),
    *(
        Op(
            "sequence_loss",
            slug,
            LISTS,
            {"average_across_timesteps": time, "average_across_batch": batch},
            skip={**CONTRIB, **skip},
        )
        for slug, time, batch, skip in [
            ("averaged", True, True, {}),
            ("along time", True, False, ONCE),
            ("along the batch", False, True, ONCE),
        ]
    ),
    FalseFriend(
        "sequence_loss",
        "one average of all",
        LISTS,
        naive=over_all,
        because="each sequence has its own average, and all count alike",
        skip={**CONTRIB, **ONCE},
    ),
    FalseFriend(
        "sequence_loss_by_example",
        "a sequence without a weight",
        [
            [*GIVEN],
            [np.zeros(3, "i")] * 2,
            [np.float32([1, 0, 0.5]), np.float32([0.5, 0, 1])],
        ],
        naive=without_the_tiny_number,
        because="1e-12 is added to the sum of its weights: 0 and not NaN",
        skip={**CONTRIB, **ONCE},
    ),
    program(
        "train_with_buckets",
        "two",
        [READ, TOLD, BUCKETS, [0, 1, 1, 0], of_translator()],
        float32=True,
        traces=2,
        skip={**CONTRIB, "eager": "eagerly, ops of one seed share a stream"},
    ),
    program("train_char_rnn", "five pieces, twice", [TEXT, 4, 6, of_char_rnn()]),
    program(
        "train_char_rnn",
        "one layer",
        [TEXT, 3, 20, of_char_rnn(1)],
        {"epochs": 3, "rate": 0.01, "decay": 0.75},
    ),
    program(
        "train_char_rnn",
        "its state",
        [TEXT, 4, 6, of_char_rnn()],
        cls=FalseFriend,
        of="program",
        naive=anew,
        because="a piece goes on from the state of the last one",
    ),
    refused(
        "make_attention_decoder",
        "no heads",
        [np.zeros([2, 3, 4], "f"), np.zeros([2, 3, 4], "f"), np.zeros([2, 2, 4], "f")],
        "With less than 1 heads, use a non-attention decoder",
        factory={"units": 4, "heads": 0},
    ),
    refused(
        "make_embedding_seq2seq",
        "no words",
        [np.zeros([2, 3], "i")] * 2,
        "embedding_classes and embedding_size must be > 0",
        factory={**TRANSLATOR, "sources": 0},
    ),
    refused(
        "sequence_loss_by_example",
        "lists of other lengths",
        [[*GIVEN], [np.zeros(3, "i")], [np.zeros(3, "f")] * 2],
        "Lengths of logits, weights, and targets must be the same 2, 2, 1",
        of="op",
    ),
    refused(
        "train_char_rnn",
        "a text that is too short",
        [TEXT[:20], 4, 6, of_char_rnn()],
        "Not enough data",
        of="program",
    ),
]
PROOF = proof(v1, v2, CASES)


class LegacySeq2seqTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class GradientsTest(unittest.TestCase):
    def test_by_a_tensor_what_it_said_gets_none(self):
        words = tf.constant(READ), tf.constant(TOLD)
        model, found = v2.make_embedding_seq2seq(**TRANSLATOR, feed=True), []
        for feed in ([], [tf.constant(True)]):
            with tf.GradientTape() as tape:
                outputs, _ = model(*words, *feed)
                loss = tf.reduce_sum(tf.stack(outputs) ** 2)
            slopes = tape.gradient(loss, model.model.decoder.embedding)
            slopes = tf.convert_to_tensor(slopes).numpy()
            found.append((loss.numpy(), np.flatnonzero(slopes.any(1)).tolist()))
        (loss, of_a_bool), (same_loss, of_a_tensor) = found
        self.assertEqual(loss, same_loss)
        self.assertGreater(len(of_a_bool), 1)
        self.assertEqual(of_a_tensor, [1])  # the first input of all rows
