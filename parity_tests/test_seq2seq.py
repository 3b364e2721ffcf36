import functools
import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof, shorthand
from parity_tests.contrib import CONTRIB
from tf1to2.parity import FalseFriend, Layer, Op, Program, Raises, normal, uniform
from tf1to2.parity.arrays import integers
from v1_graph import seq2seq as v1
from v2_eager import seq2seq as v2
from v2_eager.seq2seq.decoding import BasicDecoder, dynamic_decode
from v2_eager.seq2seq.helpers import GreedyEmbeddingHelper, TrainingHelper
from v2_eager.seq2seq.models import Decoder

INVALID = tf.errors.InvalidArgumentError
ONCE = {way: "another case of the pair" for way in ("function", "dynamic", "xla")}
GROWS = {"xla": "as many steps as it takes: under XLA what grows is empty"}
UNITS, CLASSES, END = 6, 11, 3
SIZES = [{"b": 3, "t": 5}, {"b": 67, "t": 5}]
LENGTHS = integers("b", high=6)
STATE = normal("b", UNITS)


def layer(name, slug, args, factory=(), skip=(), cls=Layer, **options):
    factory = {"units": UNITS, **dict(factory)}
    skip = {**CONTRIB, **GROWS, **dict(skip)}
    options.setdefault("sizes", SIZES)
    if cls is FalseFriend:
        options["of"] = "layer"
    return cls(name, slug, args, factory=factory, skip=skip, **options)


def program(name, slug, args, kwargs=(), skip=(), cls=Program, **options):
    skip = {**CONTRIB, **dict(skip)}
    if cls is FalseFriend:
        options["of"] = "program"
    return cls(name, slug, args, dict(kwargs), skip=skip, **options)


# --- Arrays.


def drawn(seed, shapes):
    random = np.random.RandomState(seed)
    return {k: random.normal(size=s).astype("f") / 2 for k, s in shapes.items()}


def decoder(seed=0):
    shapes = {
        "embedding": [CLASSES, UNITS],
        "decoder/gru_cell/gates/kernel": [2 * UNITS, 2 * UNITS],
        "decoder/gru_cell/gates/bias": [2 * UNITS],
        "decoder/gru_cell/candidate/kernel": [2 * UNITS, UNITS],
        "decoder/gru_cell/candidate/bias": [UNITS],
        "decoder/dense/kernel": [UNITS, CLASSES],
        "decoder/dense/bias": [CLASSES],
    }
    return drawn(seed, shapes)


def translator(seed=0, depth=5):
    cell, wrapper = "basic_lstm_cell", "decoder/attention_wrapper"
    shapes = {
        "embedding": [CLASSES, depth],
        f"encoder/rnn/{cell}/kernel": [depth + UNITS, 4 * UNITS],
        f"encoder/rnn/{cell}/bias": [4 * UNITS],
        "memory_layer/kernel": [UNITS, UNITS],
        f"{wrapper}/{cell}/kernel": [depth + 2 * UNITS, 4 * UNITS],
        f"{wrapper}/{cell}/bias": [4 * UNITS],
        f"{wrapper}/bahdanau_attention/query_layer/kernel": [UNITS, UNITS],
        f"{wrapper}/bahdanau_attention/attention_v": [UNITS],
        f"{wrapper}/bahdanau_attention/attention_g": [],
        f"{wrapper}/bahdanau_attention/attention_b": [UNITS],
        f"{wrapper}/attention_layer/kernel": [2 * UNITS, UNITS],
        "decoder/projection/kernel": [UNITS, CLASSES],
    }
    weights = drawn(seed, shapes)
    return {k: np.asarray(v, "f") for k, v in weights.items()}


def sequences(n=67, time=7, seed=1, low=1):
    random = np.random.RandomState(seed)
    ids = random.randint(CLASSES, size=[n, time]).astype("i")
    return ids, random.randint(low, time + 1, size=n).astype("i")


STATES = drawn(2, {"state": [67, UNITS]})["state"]
PAIRS = [*sequences(), *sequences(time=5, seed=3)]
LOGITS = normal("b", "t", 4)
TARGETS = integers("b", "t", high=4)
FULL = np.zeros([2, 3, 4], "f"), np.zeros([2, 3], "i"), np.ones([2, 3], "f")


# --- Wrong programs that people write in place of contrib.


def all_along(logits, targets, weights):
    """Computes the mean over all positions, as `tf.losses` and Keras do."""
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(targets, logits)
    return tf.reduce_mean(losses * weights)


def both(logits, targets, weights, average_across_batch, sum_over_batch):
    """Averages along time, then sums over the batch."""
    losses = v2.sequence_loss(
        logits, targets, weights, average_across_batch=average_across_batch
    )
    return tf.reduce_sum(losses)


def imputed(**factory):
    return v2.make_training_decoder(**factory, impute_finished=True)


def to_the_end(**factory):
    return v2.make_greedy_decoder(**{**factory, "longest": 8})


def unended(sources, source_lengths, weights, end, longest):
    return v2.translate(sources, source_lengths, weights, -1, longest)


refused = functools.partial(shorthand.refused, of="op", skip=CONTRIB)


CASES = [
    layer(
        "make_training_decoder",
        "of several lengths",
        [normal("b", "t", 4), LENGTHS, STATE],
        {"classes": CLASSES},
    ),
    layer(
        "make_training_decoder",
        "imputed",
        [normal("b", "t", 4), LENGTHS],
        {"classes": CLASSES, "impute_finished": True},
    ),
    layer(
        "make_training_decoder",
        "past the ends",
        [normal("b", "t", 4), LENGTHS],
        {"classes": CLASSES},
        ONCE,
        cls=FalseFriend,
        naive=imputed,
        because="without impute_finished it decodes on until the longest has ended",
    ),
    layer(
        "make_greedy_decoder",
        "until the end, at most eight",
        [STATE],
        {"classes": CLASSES, "start": 1, "end": END, "longest": 8},
    ),
    layer(
        "make_greedy_decoder",
        "one step",
        [STATE],
        {"classes": CLASSES, "start": 0, "end": END, "longest": 1},
        ONCE,
    ),
    layer("make_feedback_decoder", "five steps", [STATE], {"size": 3, "longest": 5}),
    program("sample", "three times", [decoder(), STATES, 1, END, 6, 3]),
    program(
        "sample",
        "colder",
        [decoder(4), STATES, 0, 7, 9, 1],
        {"temperature": 0.5},
    ),
    program(
        "read_some_and_sample",
        "half of them",
        [decoder(5), STATES, *sequences(low=0), 0.5],
    ),
    program(
        "read_some_and_sample", "none", [decoder(5), STATES, *sequences(low=0), 0.0]
    ),
    *(
        Op(
            "sequence_loss",
            slug,
            [LOGITS, TARGETS, uniform("b", "t")],
            dict(zip(["average_across_timesteps", "average_across_batch"], averages))
            | dict.fromkeys(sums, True),
            skip=CONTRIB,
        )
        for slug, averages, sums in [
            ("averaged", (), ()),
            ("along time", (True, False), ()),
            ("along the batch", (False, True), ()),
            ("none", (False, False), ()),
            ("summed", (False, False), ("sum_over_timesteps", "sum_over_batch")),
            ("summed along time", (False, False), ("sum_over_timesteps",)),
            ("summed along the batch", (False, False), ("sum_over_batch",)),
        ]
    ),
    Op(
        "sequence_loss",
        "some without a weight",
        [LOGITS, TARGETS, integers("b", "t", high=2, dtype="float32")],
        {
            "average_across_timesteps": False,
            "average_across_batch": False,
            "sum_over_timesteps": True,
        },
        skip=CONTRIB,
    ),
    Op(
        "sequence_loss",
        "no weight at all",
        [FULL[0], FULL[1], np.zeros([2, 3], "f")],
        expect=0,
        skip={**CONTRIB, **ONCE},
    ),
    FalseFriend(
        "sequence_loss",
        "a mean",
        [LOGITS, TARGETS, integers("b", "t", high=2, dtype="float32")],
        naive=all_along,
        because="it divides by the sum of the weights, not by the number of places",
        skip={**CONTRIB, **ONCE},
    ),
    FalseFriend(
        "sequence_loss",
        "an average and a sum",
        [LOGITS, TARGETS, uniform("b", "t")],
        {"average_across_batch": False, "sum_over_batch": True},
        naive=both,
        because="the average along time is taken, and the sum forgotten",
        differs="shape",
        skip={**CONTRIB, **ONCE},
    ),
    program("train_translator", "five steps", [*PAIRS, translator(), 5]),
    program(
        "train_translator",
        "a smaller rate",
        [*PAIRS, translator(6), 2],
        {"rate": 0.01},
    ),
    program("translate", "eight steps", [*PAIRS[:2], translator(7), END, 8]),
    refused(
        "make_training_decoder",
        "lengths that are a matrix",
        [np.zeros([2, 3, 4], "f"), np.ones([2, 1], "i")],
        "sequence_length to be a vector",
        of="layer",
        factory={"units": 3, "classes": 2},
    ),
    refused(
        "make_training_decoder",
        "a length past the time",
        [np.zeros([2, 3, 4], "f"), np.int32([3, 4])],
        "Tried to read from index 3|sequence_length must be <= time",
        INVALID,
        of="layer",
        factory={"units": 3, "classes": 2},
    ),
    refused(
        "sequence_loss",
        "logits that are a matrix",
        [FULL[0][0], *FULL[1:]],
        "[Ll]ogits must (be a|have 3 dim)",
    ),
    refused(
        "sequence_loss",
        "an average and a sum along time",
        [*FULL],
        "average_across_timesteps and sum_over_timesteps",
        kwargs={"sum_over_timesteps": True},
    ),
    refused(
        "sequence_loss",
        "an average and a sum along the batch",
        [*FULL],
        "average_across_batch and sum_over_batch",
        kwargs={"sum_over_batch": True},
    ),
    refused(
        "sequence_loss",
        "a class too many",
        [FULL[0], FULL[1] + 4, FULL[2]],
        "label value of 4",
        INVALID,
    ),
    program(
        "translate",
        "no weights of the keys",
        [
            *PAIRS[:2],
            {k: v for k, v in translator().items() if k != "memory_layer/kernel"},
            END,
            8,
        ],
        cls=Raises,
        of="program",
        graph=KeyError,
        eager=KeyError,
        function=KeyError,
        match="memory_layer/kernel",
    ),
]
PROOF = proof(v1, v2, CASES)


class Seq2seqTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class TracesTest(unittest.TestCase):
    """The first call traces twice, because it makes variables."""

    @parameterized.expand(
        [
            ("training", v2.make_training_decoder(4, 5), True),
            ("greedy", v2.make_greedy_decoder(4, 5, 0, 1, 3), False),
            ("feedback", v2.make_feedback_decoder(4, 3, 3), False),
        ]
    )
    def test_a_second_size_is_traced_for_all_others(self, _, decode, reads):
        for traces, batch, time in [(2, 2, 3), (2, 2, 3), (3, 4, 5), (3, 6, 7)]:
            state = tf.random.normal([batch, 4])
            lengths = tf.random.uniform([batch], 1, time + 1, tf.int32)
            read = [tf.random.normal([batch, time, 3]), lengths] * reads
            decode(*read, state)
            self.assertEqual(decode.loop.experimental_get_tracing_count(), traces)

    def test_lengths_may_be_a_list_whose_numbers_are_no_signature(self):
        decode, x = v2.make_training_decoder(4, 5), tf.ones([2, 3, 3])
        expected = decode(x, tf.constant([3, 1]))
        traces = decode.loop.experimental_get_tracing_count()
        found = decode(x, [3, 1])
        decode(x, [2, 3])
        self.assertEqual(decode.loop.experimental_get_tracing_count(), traces)
        np.testing.assert_array_equal(found["logits"], expected["logits"])


class OptionsTest(unittest.TestCase):
    """Options that no pair uses give the same numbers in another form."""

    def setUp(self):
        self.decoder = Decoder(decoder())
        self.inputs = drawn(8, {"inputs": [4, 5, UNITS]})["inputs"]
        self.lengths = tf.constant([5, 0, 2, 3])
        self.state = tf.constant(STATES[:4])

    def decoded(self, helper, layer=None, **options):
        @tf.function
        def decode():
            parts = self.decoder.cell, helper(), self.state, layer
            return dynamic_decode(BasicDecoder(*parts), **options)

        outputs, state, lengths = decode()
        return [t.numpy() for t in (*outputs, state, lengths)]

    def assert_same(self, left, right):
        for a, b in zip(left, right, strict=True):
            np.testing.assert_array_equal(a, b)

    def read(self):
        return TrainingHelper(tf.constant(self.inputs), self.lengths)

    def test_time_may_come_first(self):
        def read():
            turned = tf.constant(self.inputs.transpose(1, 0, 2))
            return TrainingHelper(turned, self.lengths, time_major=True)

        first, *rest = self.decoded(self.read)
        self.assert_same(self.decoded(read), [first, *rest])
        turned = self.decoded(self.read, output_time_major=True)
        self.assert_same([turned[0].transpose(1, 0, 2), turned[1].T], [first, rest[0]])

    def test_without_a_layer_the_cell_puts_out(self):
        outputs, ids, state, lengths = self.decoded(self.read, impute_finished=True)
        self.assertEqual(outputs.shape, (4, 5, UNITS))
        self.assertEqual(lengths.tolist(), self.lengths.numpy().tolist())
        for row, end in enumerate(lengths):
            last = outputs[row, end - 1] if end else STATES[row]
            np.testing.assert_array_equal(state[row], last)
            self.assertFalse(outputs[row, end:].any())
        past = np.arange(5) >= lengths[:, np.newaxis]
        np.testing.assert_array_equal(ids, np.where(past, 0, outputs.argmax(2)))

    def test_arrays_and_lists_do(self):
        helper = TrainingHelper(np.zeros([3, 4, 2], "f"), [4, 0, -1])
        # As in 1.15.5, a negative length ends the sequence only after a step.
        np.testing.assert_array_equal(helper.initialize()[0], [False, True, False])
        arrays = v2.sequence_loss(*FULL)
        self.assertEqual(arrays, v2.sequence_loss(*map(tf.constant, FULL)))

    @parameterized.expand([("one", [3]), ("too_few", [3, 1])])
    def test_a_length_for_each_sequence(self, _, lengths):
        """1.15.5 raises ValueError, "Inconsistent shapes"."""
        read = v2.make_training_decoder(3, 2)
        for given in (lengths, tf.constant(lengths)):
            with self.assertRaisesRegex(INVALID, "sequence_length is .batch."):
                read(np.zeros([3, 4, 2], "f"), given)

    @parameterized.expand([("of_sequences", [2, 1]), ("of_times", [1, 3])])
    def test_weights_are_not_broadcast(self, _, shape):
        """1.15.5 raises ValueError, "Dimensions must be equal"."""
        args = *map(tf.constant, FULL[:2]), tf.ones(shape)
        for loss in (v2.sequence_loss, tf.function(v2.sequence_loss)):
            with self.assertRaisesRegex(INVALID, "the shape of targets"):
                loss(*args)

    def test_an_embedding_may_be_a_function(self):
        table = self.decoder.embedding
        by_table, by_function = (
            self.decoded(
                lambda e=embedding: GreedyEmbeddingHelper(e, [1, 2, 3, 4], END),
                self.decoder.layer,
                maximum_iterations=5,
            )
            for embedding in (table, lambda ids: tf.gather(table, ids))
        )
        self.assert_same(by_table, by_function)

    def test_no_iterations_are_no_steps(self):
        outputs, _, state, lengths = self.decoded(self.read, maximum_iterations=0)
        self.assertEqual((outputs.shape[1], lengths.tolist()), (0, [0] * 4))
        np.testing.assert_array_equal(state, STATES[:4])
