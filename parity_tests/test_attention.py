import functools
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof, shorthand
from parity_tests.contrib import CONTRIB
from tf1to2.parity import FalseFriend, Layer, Op, Raises, normal, uniform
from tf1to2.parity.arrays import integers
from v1_graph import attention as v1
from v2_eager import attention as v2

INVALID = tf.errors.InvalidArgumentError
ONCE = {way: "another case of the pair" for way in ("function", "dynamic", "xla")}
SIZES = [{"b": 3, "t": 4}, {"b": 67, "t": 9}]
UNITS, SIZE = 6, 5
QUERY, MEMORY = normal("b", UNITS), normal("b", "t", SIZE)
X = normal("b", 4, 3)


def lengths(time=4):
    """Returns random lengths, at most `time`, which the tests of all sizes allow."""
    return integers("b", low=1, high=time + 1)


GROWS = {"xla": "the alignments are an array that grows: under XLA it is empty"}


def layer(name, slug, args, factory=(), skip=(), cls=Layer, **options):
    factory, skip = {"units": UNITS, **dict(factory)}, {**CONTRIB, **dict(skip)}
    options.setdefault("sizes", SIZES)
    if cls is FalseFriend:
        options["of"] = "layer"
    return cls(name, slug, args, factory=factory, skip=skip, **options)


# --- Obvious replacements of contrib, with other numbers.


def without_lengths(**factory):
    """Makes Bahdanau attention to a masked memory, with scores that are not masked."""
    step = v2.make_bahdanau(**factory)

    def attend(query, memory, lengths):
        mask = tf.sequence_mask(lengths, tf.shape(memory)[1], memory.dtype)
        return step(query, memory * mask[:, :, tf.newaxis])

    return Called(step, attend)


class Called(tf.Module):
    """The variables of a layer, and another function to call."""

    def __init__(self, step, call):
        super().__init__()
        self.step, self.call = step, call

    def __call__(self, *args):
        return self.call(*args)


def from_nowhere(**factory):
    step = v2.make_monotonic(**factory)
    return Called(step, lambda q, m, n: step(q, m, n, tf.zeros_like(m[:, :, 0])))


def put_out(**factory):
    return v2.make_attention_reader(**factory, output_attention=False)


def all_of_the_highest(logits):
    return tf.cast(logits == tf.reduce_max(logits, 1, keepdims=True), logits.dtype)


def exact(p_choose_i, previous_attention, mode):
    return v2.monotonic_attention(p_choose_i, previous_attention, "recursive")


refused = functools.partial(shorthand.refused, of="layer", skip=CONTRIB)


SURE = np.float32([[0.25, 1, 0.5, 0.75]]), np.float32([[0, 0, 1, 0]])
ZEROS = {"q": np.zeros([2, 3], "f"), "m": np.zeros([2, 4, 5], "f")}
CASES = [
    layer("make_bahdanau", "of several lengths", [QUERY, MEMORY, lengths()]),
    layer(
        "make_bahdanau",
        "its memory alone is masked",
        [QUERY, MEMORY, lengths()],
        skip=ONCE,
        cls=FalseFriend,
        naive=without_lengths,
        because="a zero past the end has a score, and so a share",
    ),
    layer("make_bahdanau", "all of one length", [normal("b", 4), MEMORY], skip=ONCE),
    layer(
        "make_bahdanau",
        "normalized",
        [normal("b", 4), MEMORY, lengths()],
        {"normalize": True},
    ),
    layer("make_luong", "of several lengths", [QUERY, MEMORY, lengths()]),
    layer("make_luong", "scaled", [QUERY, MEMORY], {"scale": True}),
    layer("make_luong", "hard", [QUERY, MEMORY, lengths()], {"hard": True}),
    Op("hardmax", "any size", [normal("b", "t")], skip=CONTRIB),
    FalseFriend(
        "hardmax",
        "ties",
        [integers("b", 5, high=3, dtype="float32")],
        naive=all_of_the_highest,
        because="of several that are the highest only the first is chosen",
        skip=CONTRIB,
    ),
    Op(
        "monotonic_attention",
        "parallel",
        [uniform("b", "t"), uniform("b", "t")],
        {"mode": "parallel"},
        skip=CONTRIB,
    ),
    Op(
        "monotonic_attention",
        "hard",
        [
            integers("b", "t", high=2, dtype="float32"),
            np.eye(9, dtype="f")[np.arange(67) % 9],
        ],
        {"mode": "hard"},
        sizes=[{"b": 67, "t": 9}],
        skip={**CONTRIB, "gradient": "in 1.15 NaN past a 1, as cumprod's of zeros was"},
    ),
    Op(
        "monotonic_attention",
        "recursive",
        [uniform("b", "t"), uniform("b", "t")],
        {"mode": "recursive"},
        float32=True,
        skip=CONTRIB,
    ),
    FalseFriend(
        "monotonic_attention",
        "past a sure stop",
        [*SURE],
        {"mode": "parallel"},
        naive=exact,
        because="the product of what goes on is 0 there, and a quotient by it lost",
        expect=[[0, 0, 0, 0]],
        skip={**CONTRIB, "gradient": "another case of the pair"},
    ),
    layer(
        "make_monotonic",
        "its beginning",
        [QUERY, MEMORY, lengths()],
        {"kind": "Luong"},
        skip=ONCE,
        cls=FalseFriend,
        naive=from_nowhere,
        because="it begins at the first place: who begins nowhere gets nowhere",
    ),
    *(
        layer(
            "make_monotonic",
            f"{kind}, {mode}",
            [QUERY, MEMORY, lengths()] + [uniform("b", "t")] * given,
            {"kind": kind, "mode": mode, "bias": bias},
        )
        for kind, mode, bias, given in [
            ("Bahdanau", "parallel", -0.5, True),
            ("Luong", "parallel", 0.25, False),
            ("Luong", "hard", 0.5, True),
        ]
    ),
    layer(
        "make_attention_reader",
        "with a layer",
        [X, MEMORY, lengths()],
        {"attention_size": 5},
        GROWS,
    ),
    layer(
        "make_attention_reader",
        "from a state, what the GRU puts out",
        [X, MEMORY, lengths(), normal("b", UNITS)],
        {"output_attention": False},
        GROWS,
    ),
    layer(
        "make_attention_reader",
        "what is put out",
        [X, MEMORY, lengths()],
        {"attention_size": UNITS},
        {**ONCE, **GROWS},
        cls=FalseFriend,
        naive=put_out,
        because="the wrapper puts out what was seen, not what the cell puts out",
    ),
    layer(
        "make_two_memories",
        "of two sizes",
        [X, MEMORY, normal("b", 3, 4)],
        {"sizes": [5, 2]},
    ),
    refused(
        "make_bahdanau",
        "an empty sequence",
        [ZEROS["q"], ZEROS["m"], np.int32([0, 4])],
        "must be greater than zero",
        INVALID,
        factory={"units": 3},
    ),
    refused(
        "make_luong",
        "another depth",
        [ZEROS["q"], ZEROS["m"]],
        "Incompatible or unknown inner dimensions between query and keys",
        factory={"units": 4},
    ),
    refused(
        "make_luong",
        "an unknown size of the memory",
        [ZEROS["q"], ZEROS["m"]],
        "fully defined inner dims",
        factory={"units": 3},
        dynamic=True,
        skip={**CONTRIB, "eager": "an eager tensor has a size"},
    ),
    refused(
        "monotonic_attention",
        "another mode",
        [*SURE],
        "mode must be 'recursive', 'parallel', or 'hard'",
        of="op",
        kwargs={"mode": "soft"},
    ),
    Raises(
        "monotonic_attention",
        "recursive, float64",
        [*(array.astype("d") for array in SURE)],
        {"mode": "recursive"},
        graph=TypeError,
        match="float32",
        expect=[[0, 0, 0.5, 0.375]],
        skip=CONTRIB,
    ),
    refused(
        "make_monotonic",
        "another kind",
        [ZEROS["q"], ZEROS["m"]],
        "Dot",
        KeyError,
        factory={"units": 3, "kind": "Dot"},
    ),
    refused(
        "make_attention_reader",
        "a memory of another batch",
        [ZEROS["m"], np.zeros([3, 4, 5], "f"), np.int32([1, 2, 3])],
        "Non-matching batch sizes between the memory",
        INVALID,
        factory={"units": 3},
    ),
    refused(
        "make_two_memories",
        "not a size per memory",
        [ZEROS["m"], ZEROS["m"], ZEROS["m"]],
        "must contain exactly one integer per attention_mechanism",
        factory={"units": 3, "sizes": [5]},
    ),
]
PROOF = proof(v1, v2, CASES)


class AttentionTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class InputsTest(unittest.TestCase):
    """As contrib did, the functions convert arrays and lists to tensors."""

    @parameterized.expand(["recursive", "parallel", "hard"])
    def test_arrays_and_lists_are_taken(self, mode):
        expected = v2.monotonic_attention(*map(tf.constant, SURE), mode)
        for kind in (np.array, np.ndarray.tolist):
            found = v2.monotonic_attention(*map(kind, SURE), mode)
            np.testing.assert_array_equal(found, expected)

    def test_lists_of_lengths_are_not_traced_anew(self):
        read, x, memory = v2.make_attention_reader(4), *tf.random.normal([2, 2, 3, 3])
        for lengths in ([1, 2], [3, 2], [2, 2]):
            read(x, memory, lengths)
        self.assertEqual(read.loop.experimental_get_tracing_count(), 2)


class NoiseTest(unittest.TestCase):
    def told(self, **options):
        mechanism = v2.LuongMonotonicAttention(4, initializer=v2.DRAW, **options)
        memory = mechanism.remember(tf.sin(tf.reshape(tf.range(40.0), [2, 4, 5])))
        return mechanism(tf.ones([2, 4]), memory, mechanism.initial_alignments(memory))

    def test_noise_is_added_to_the_scores(self):
        with mock.patch.object(tf.random, "normal", lambda shape, **_: tf.ones(shape)):
            found = self.told(sigmoid_noise=0.5)
        expected = self.told(score_bias_init=0.5)
        np.testing.assert_array_equal(found, expected)
        self.assertFalse(np.array_equal(found, self.told()))

    def test_its_seeds_draw_what_they_drew(self):
        mechanism = v2.LuongMonotonicAttention(
            4, sigmoid_noise=0.5, sigmoid_noise_seed=3
        )
        tf.random.set_seed(7)
        scores = tf.reshape(tf.range(-0.5, 1.0, 0.25), [2, 3])
        begun = tf.one_hot([0, 0], 3)
        found = tf.function(mechanism.align)(scores, begun)
        # Numbers of TensorFlow 1.15.5, in a graph with the seed 7.
        expected = [
            [0.4930884540081024, 0.1644674837589264, 0.205229714512825],
            [0.7112900614738464, 0.1868990957736969, 0.060528285801410675],
        ]
        self.assertLess(np.abs(found - np.array(expected)).max(), 1e-7)


class BuildTest(unittest.TestCase):
    def test_what_was_refused_can_be_asked_rightly(self):
        mechanism = v2.LuongAttention(4, scale=True)
        memory = mechanism.remember(tf.ones([2, 3, 5]))
        for _ in range(2):
            with self.assertRaisesRegex(ValueError, "Incompatible or unknown inner"):
                mechanism(tf.ones([2, 6]), memory)
        self.assertEqual(mechanism(tf.ones([2, 4]), memory).shape, [2, 3])


class TracesTest(unittest.TestCase):
    """The first call traces twice, because it makes variables."""

    @parameterized.expand(
        [
            ("one_memory", v2.make_attention_reader(4), True),
            ("two_memories", v2.make_two_memories(4, [2, 3]), False),
        ]
    )
    def test_a_second_size_is_traced_for_all_others(self, _, read, ends):
        for traces, batch, time in [(2, 2, 3), (2, 2, 3), (3, 4, 5), (3, 6, 7)]:
            x, memory = tf.random.normal([2, batch, time, 3])
            lengths = tf.random.uniform([batch], 1, time + 1, tf.int32)
            read(x, memory, lengths if ends else memory)
            self.assertEqual(read.loop.experimental_get_tracing_count(), traces)
