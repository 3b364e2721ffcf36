import itertools
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.contrib import CONTRIB
from tf1to2.parity import FalseFriend, Layer, Op, Raises, normal, structure
from tf1to2.parity.arrays import integers
from v1_graph import beam_search as v1
from v2_eager import beam_search as v2
from v2_eager.attention.wrapper import AttentionWrapperState

ONCE = {way: "another case of the pair" for way in ("function", "dynamic", "xla")}
GROWS = {"xla": "as many steps as it takes: under XLA what grows is empty"}
UNITS, CLASSES, END = 6, 11, 3
SIZES = [{"b": 3, "t": 5}, {"b": 67, "t": 5}]
FACTORY = {
    "units": UNITS,
    "classes": CLASSES,
    "beam_width": 4,
    "start": 1,
    "end": END,
    "longest": 8,
}


def layer(name, slug, args, factory=(), skip=(), cls=Layer, **options):
    factory = {**FACTORY, **dict(factory)}
    skip = {**CONTRIB, **GROWS, **dict(skip)}
    if cls is FalseFriend:
        options["of"] = "layer"
    options.setdefault("sizes", SIZES)
    return cls(name, slug, args, factory=factory, skip=skip, **options)


def tree(time=7, batch=67, beams=4, seed=0):
    """Returns random ids, parents and lengths for `gather_tree`; one length is 0."""
    random = np.random.RandomState(seed)
    ids = random.randint(CLASSES, size=[time, batch, beams])
    parents = random.randint(beams, size=[time, batch, beams])
    lengths = random.randint(time + 3, size=batch)
    lengths[:3] = 0, 1, time
    return [array.astype("i") for array in (ids, parents, lengths)]


# --- Obvious replacements of contrib, with other numbers.


def tiled(t, multiplier):
    return tf.tile(t, [multiplier] + [1] * (t.shape.rank - 1))


def said(step_ids, parent_ids, max_sequence_lengths, end_token):
    """Returns the ids of each step without following the parents."""
    past = tf.range(len(step_ids))[:, tf.newaxis] >= max_sequence_lengths
    return tf.where(past[:, :, tf.newaxis], end_token, step_ids)


def not_penalized(**factory):
    return v2.make_beam_search(**{**factory, "length_penalty_weight": 0.0})


class Unsorted(tf.Module):
    """A beam search whose alignments are not sorted by beam."""

    def __init__(self, **factory):
        super().__init__()
        self.search = v2.make_attentive_beam_search(**factory)
        self.search.loop = tf.function(self.unsorted, autograph=False)

    def unsorted(self, *args):
        gather = v2.gather_tree
        none = FACTORY["beam_width"] + 1

        def keep(ids, parents, lengths, end):
            return ids if end == none else gather(ids, parents, lengths, end)

        with mock.patch.object(v2, "gather_tree", keep):
            return self.search.search(*args)

    def __call__(self, *args):
        return self.search(*args)


ONE_CHAIN = [
    np.int32([[[5, 6]], [[7, 8]], [[END, 9]]]),
    np.int32([[[0, 0]], [[1, 0]], [[1, 0]]]),
    np.int32([3]),
]
FEW = {"units": 3}  # its scores have no ties, see TiesTest
MEMORY = [normal("b", 3), normal("b", "t", 5), integers("b", low=1, high=6)]
STILL = np.random.RandomState(5).normal(size=[67, UNITS]).astype("f") * 32
TIED = {way: "TiesTest compares them" for way in ("eager", "function", "dynamic")}
CASES = [
    Op("tile_batch", "a matrix", [normal("b", 3)], {"multiplier": 4}, skip=CONTRIB),
    Op(
        "tile_batch",
        "a state",
        [(normal("b", 3), integers("b", 2, 4))],
        {"multiplier": 2},
        skip=CONTRIB,
    ),
    FalseFriend(
        "tile_batch",
        "tf.tile",
        [normal("b", 3)],
        {"multiplier": 4},
        naive=tiled,
        because="the beams of a sequence stand beside each other",
        skip={**CONTRIB, **ONCE},
    ),
    Op("gather_tree", "all lengths", tree(), {"end_token": END}, skip=CONTRIB),
    FalseFriend(
        "gather_tree",
        "what was said",
        ONE_CHAIN,
        {"end_token": END},
        naive=said,
        because="of each step the ids are those of the beams then, which end elsewhere",
        expect=[[[5, 6]], [[8, 7]], [[END, 9]]],
        skip={**CONTRIB, **ONCE},
    ),
    layer("make_beam_search", "four beams", [normal("b", UNITS)]),
    layer(
        "make_beam_search",
        "by length",
        [normal("b", UNITS)],
        {"length_penalty_weight": 0.75, "beam_width": 3},
        float32=True,
    ),
    layer(
        "make_beam_search",
        "not by length",
        [normal("b", UNITS)],
        {"length_penalty_weight": 1.0},
        ONCE,
        float32=True,
        cls=FalseFriend,
        naive=not_penalized,
        because="scores are divided by the penalty, and another sequence is the best",
    ),
    layer("make_beam_search", "one beam", [normal("b", UNITS)], {"beam_width": 1}),
    layer(
        "make_beam_search",
        "a state that stands still",
        [STILL],
        {"beam_width": 6},
        TIED,
        sizes=None,
    ),
    layer(
        "make_beam_search",
        "more beams than classes",
        [normal("b", UNITS)],
        {"classes": 4, "beam_width": 6, "longest": 1},
        ONCE,
    ),
    layer("make_letter_search", "four beams", [normal("b", UNITS)]),
    layer(
        "make_attentive_beam_search",
        "six units",
        [normal("b", UNITS), *MEMORY[1:]],
        skip=TIED,
    ),
    layer("make_attentive_beam_search", "four beams", MEMORY, FEW),
    layer(
        "make_attentive_beam_search",
        "covered",
        MEMORY,
        {**FEW, "coverage_penalty_weight": 0.5},
        float32=True,
    ),
    layer(
        "make_attentive_beam_search",
        "the alignments of the steps",
        MEMORY,
        FEW,
        skip=ONCE,
        cls=FalseFriend,
        naive=Unsorted,
        because="those of a step are of the beams then, and are sorted in the end",
    ),
    Raises.alike(
        "tile_batch",
        "a scalar",
        [np.float32(1)],
        ValueError,
        "t must have statically known rank|A scalar has no batch",
        kwargs={"multiplier": 2},
        skip=CONTRIB,
    ),
]
PROOF = proof(v1, v2, CASES)


class BeamSearchTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class MeaningTest(unittest.TestCase):
    def test_with_all_beams_it_finds_the_best_of_all_sequences(self):
        width, longest, classes = 64, 3, 4
        search = v2.make_beam_search(3, classes, width, 0, 0, longest)
        state = np.random.RandomState(0).normal(size=[1, 3]).astype("f")
        found = search(tf.constant(state))
        cell, layer = search.cell, search.layer
        totals = {}
        for ids in itertools.product(range(classes), repeat=longest):
            if 0 in ids and any(ids[ids.index(0) :]):
                continue  # has ids after the end
            total, x, h = 0.0, 0, state
            for i in ids:
                row = tf.gather(search.embedding.rows, [x])
                output, h = cell(row, h)
                total += tf.nn.log_softmax(layer(output))[0, i].numpy()
                x = i
                if i == 0:
                    break
            totals[ids] = total
        best = max(totals, key=totals.get)
        self.assertEqual(tuple(found["ids"][0, :, 0].numpy()), best)
        far = abs(found["log_probs"][0, 0].numpy() - totals[best])
        self.assertLess(far, 2**-20 * abs(totals[best]))


class CoverageTest(unittest.TestCase):
    def decoder(self, state):
        embedding, tokens = tf.random.normal([CLASSES, 3]), tf.constant([1])
        return v2.BeamSearchDecoder(
            None, embedding, tokens, END, state, 2, coverage_penalty_weight=1.0
        )

    def test_of_two_memories_the_mean_counts(self):
        seen = tf.constant([[[1.0, 0.0], [0.25, 0.75]], [[0.0, 1.0], [0.25, 0.25]]])
        both, one = (
            AttentionWrapperState(None, None, None, alignments, ())
            for alignments in (tuple(seen), seen[0])
        )
        expected = [[[0.5, 0.5], [0.25, 0.5]]]
        found = self.decoder(both).seen(both)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(self.decoder(one).seen(one), seen[:1])

    def test_a_cell_without_attention_is_refused(self):
        with self.assertRaisesRegex(ValueError, "if no cell is attentional"):
            self.decoder(tf.zeros([2, 3]))


class TiesTest(unittest.TestCase):
    """If the state does not change, the same ids in any order have the same score.

    The order of summation and the last bit of softmax then break the ties. A beam may
    hold another sequence, but it has the score of the sequence in its place.
    """

    @parameterized.expand(
        [
            ("still", "a state that stands still", "float32"),
            ("still_float64", "a state that stands still", "float64"),
            ("attentive", "six units", "float32"),
            ("attentive_float64", "six units", "float64"),
        ]
    )
    def test_other_beams_are_ties(self, _, slug, dtype):
        (case,) = (case for case in CASES if case.slug == slug)
        sizes = case.bindings()[-1]
        if dtype == "float32":
            request, old = case.request(sizes), PROOF.recorded_float32(case)[-1]
        else:
            request = PROOF.widened(case, case.request(sizes))
            old = PROOF.recorded_answer(case, sizes)
        (new,) = map(structure.narrow, PROOF.ask("eager", [request]))
        far = max(
            np.abs(old[leaf].astype("d") - new[leaf]).max() / np.abs(old[leaf]).max()
            for leaf in ("outputs/scores", "outputs/log_probs")
        )
        self.assertLessEqual(far, 2**-20)


class InputsTest(unittest.TestCase):
    IDS = np.int32([[[1, 2], [1, 2]], [[3, 4], [3, 4]]])
    PARENTS = np.int32([[[0, 0], [0, 0]], [[1, 0], [1, 0]]])

    def test_a_tree_of_lists(self):
        found = v2.gather_tree(self.IDS.tolist(), self.PARENTS.tolist(), [2, 1], 9)
        expected = [[[2, 1], [1, 2]], [[3, 4], [9, 9]]]
        np.testing.assert_array_equal(found, expected)

    @parameterized.expand([("known", 2), ("unknown", None)])
    def test_one_length_for_several_sequences_is_refused(self, _, batch):
        spec = tf.TensorSpec([None, batch, 2], tf.int32)
        signature = [spec, spec, tf.TensorSpec([batch and 1], tf.int32)]
        end = tf.TensorSpec([], tf.int32)
        follow = tf.function(v2.gather_tree, [*signature, end])
        error = ValueError if batch else tf.errors.InvalidArgumentError
        with self.assertRaisesRegex(error, "(?i)dimension"):
            follow(self.IDS, self.PARENTS, [2], 9)

    def test_the_weight_of_lengths_may_be_a_tensor(self):
        state, weight = tf.random.normal([3, UNITS]), tf.Variable(0.75)
        for value in (0.75, 0.0):
            weight.assign(value)
            expected, found = (
                v2.make_beam_search(**FACTORY, length_penalty_weight=w)(state)
                for w in (value, weight)
            )
            np.testing.assert_array_equal(found["scores"], expected["scores"])


class TracesTest(unittest.TestCase):
    """The first call traces twice, because it makes variables."""

    @parameterized.expand(
        [
            ("plain", v2.make_beam_search, 0),
            ("attentive", v2.make_attentive_beam_search, 2),
        ]
    )
    def test_a_second_size_is_traced_for_all_others(self, _, make, more):
        search = make(**FACTORY)
        for traces, batch, time in [(2, 2, 3), (2, 2, 3), (3, 4, 5), (3, 6, 7)]:
            state = tf.random.normal([batch, UNITS])
            lengths = tf.random.uniform([batch], 1, time + 1, tf.int32)
            search(state, *[tf.random.normal([batch, time, 3]), lengths][:more])
            self.assertEqual(search.loop.experimental_get_tracing_count(), traces)
