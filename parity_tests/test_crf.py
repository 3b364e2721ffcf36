import itertools
import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from parity_tests.contrib import CONTRIB
from tf1to2.parity import FalseFriend, Layer, Op, Program, Raises
from v1_graph import crf as v1
from v2_eager import crf as v2

INVALID = tf.errors.InvalidArgumentError
EAGER = {way: "another case of the pair" for way in ("function", "dynamic", "xla")}
ONE_STEP = {"gradient": "where the time is 1, it is None for the transitions in 1.15"}
N, TIME, TAGS = 67, 9, 5


def sentences(n=N, time=TIME, seed=0):
    """Draws scores, tags, lengths of n sentences: empty, one-word and full ones."""
    random = np.random.RandomState(seed)
    scores = random.normal(size=[n, time, TAGS]).astype("f")
    tags = random.randint(TAGS, size=[n, time]).astype("i")
    lengths = random.randint(time + 1, size=n).astype("i")
    lengths[:3] = 0, 1, time
    return scores, tags, lengths


def some_tags(n=N, time=TIME, seed=1):
    """Draws a bitmap of tags: one at every step, and about half of the others."""
    random = np.random.RandomState(seed)
    one = np.eye(TAGS, dtype=bool)[random.randint(TAGS, size=[n, time])]
    return one | (random.uniform(size=[n, time, TAGS]) < 0.5)


SCORES, WORDS_TAGS, LENGTHS = sentences()
ONE_WORD = sentences(time=1)
T = np.random.RandomState(2).normal(size=[TAGS, TAGS]).astype("f")
LONG = LENGTHS.astype(np.int64), WORDS_TAGS.astype(np.int64)
# O, B-PER, I-PER, B-LOC, I-LOC: an I- tag must follow a tag of its entity.
ALLOWED = np.ones([TAGS, TAGS], bool)
ALLOWED[[0, 3, 4, 0, 1, 2], [2, 2, 2, 4, 4, 4]] = False
BEGUN = np.ones_like(SCORES, bool)
BEGUN[:, 0, [2, 4]] = False
PAIR, MOVES = np.float32([[[1, 2], [4, 8]]]), np.float32([[0, 0], [16, 0]])


def tagger(seed=3, words=29, depth=6):
    """Draws data and initial weights of a tagger."""
    random = np.random.RandomState(seed)
    _, tags, lengths = sentences(seed=seed)
    shapes = {
        "embedding": [words, depth],
        "scores/kernel": [depth, TAGS],
        "scores/bias": [TAGS],
        "crf/transitions": [TAGS, TAGS],
    }
    start = {k: random.normal(size=s).astype("f") for k, s in shapes.items()}
    ids = random.randint(words, size=tags.shape).astype("i")
    return [ids, tags, np.maximum(lengths, 1), start]


# --- False friends: obvious replacements that give other numbers.


def recursion(inputs, sequence_lengths, transition_params):
    """Runs the textbook forward algorithm, which ignores the lengths."""
    alphas = inputs[:, 0]
    for x in tf.unstack(inputs[:, 1:], axis=1):
        scores = alphas[:, :, tf.newaxis] + transition_params
        alphas = x + tf.reduce_logsumexp(scores, 1)
    return tf.reduce_logsumexp(alphas, 1)


def from_the_first(inputs, sequence_lengths, transition_params):
    """Runs the forward algorithm with lengths, but always counts the first step."""
    return v2.crf_log_norm(inputs, tf.maximum(sequence_lengths, 1), transition_params)


def empty_is_zero(potentials, transition_params, sequence_length):
    tags, best = v2.crf_decode(potentials, transition_params, sequence_length)
    return tags, tf.where(sequence_length > 0, best, 0)


def most_likely(potentials, transition_params, sequence_length):
    mask = tf.sequence_mask(sequence_length, TIME, tf.int32)
    tags = tf.argmax(potentials, 2, tf.int32) * mask
    return tags, v2.crf_sequence_score(
        potentials, tags, sequence_length, transition_params
    )


def by_lengths(inputs, tag_bitmap, sequence_lengths, transition_params):
    scores = tf.where(tag_bitmap, inputs, -np.inf)
    return v2.crf_log_norm(scores, sequence_lengths, transition_params)


def constrained_tags(potentials, tag_bitmap, allowed, transitions, sequence_length):
    scores = tf.where(tag_bitmap, potentials, -np.inf)
    return v2.crf_decode(scores, transitions, sequence_length)


def soft(inputs, sequence_lengths, transition_params):
    mask = tf.sequence_mask(sequence_lengths, TIME, inputs.dtype)
    return tf.nn.softmax(inputs) * mask[:, :, tf.newaxis]


def kind(cls, name, slug, args, kwargs=(), **more):
    """Makes a case for functions of contrib that compute in float32 only."""
    skip = {**CONTRIB, **more.pop("skip", {})}
    return cls(name, slug, args, dict(kwargs), float32=True, skip=skip, **more)


CASES = [
    kind(Op, "crf_unary_score", "all lengths", [WORDS_TAGS, LENGTHS, SCORES]),
    kind(Op, "crf_unary_score", "int64", [LONG[1], LONG[0], SCORES], skip=EAGER),
    kind(Op, "crf_unary_score", "one step", [*ONE_WORD[1:], ONE_WORD[0]], skip=EAGER),
    kind(Op, "crf_binary_score", "all lengths", [WORDS_TAGS, LENGTHS, T]),
    kind(Op, "crf_binary_score", "one step", [*ONE_WORD[1:], T]),
    kind(
        Op,
        "crf_sequence_score",
        "all lengths",
        [SCORES, WORDS_TAGS, LENGTHS, T],
    ),
    kind(Op, "crf_sequence_score", "one step", [*ONE_WORD], {"transition_params": T}),
    kind(
        Op,
        "crf_sequence_score",
        "two words",
        [PAIR, np.int32([[1, 0]]), np.int32([2]), MOVES],
        expect=[22],
        skip=EAGER,
    ),
    kind(
        Op,
        "crf_multitag_sequence_score",
        "some tags",
        [SCORES, some_tags(), LENGTHS, T],
    ),
    kind(
        Op,
        "crf_multitag_sequence_score",
        "a step without a tag, and int64",
        [SCORES, some_tags() & (np.arange(TIME) != 4)[:, np.newaxis], LONG[0], T],
        skip={**EAGER, "gradient": "NaN where the logarithm is of 0"},
    ),
    kind(
        FalseFriend,
        "crf_multitag_sequence_score",
        "one step, and lengths of 0",
        [ONE_WORD[0], some_tags(time=1), ONE_WORD[2], T],
        naive=by_lengths,
        because="with one step in the batch, contrib does not look at the lengths",
        skip=ONE_STEP,
    ),
    kind(Op, "crf_log_norm", "all lengths", [SCORES, LENGTHS, T]),
    kind(Op, "crf_log_norm", "int64", [SCORES, LONG[0], T], skip=EAGER),
    kind(
        Op,
        "crf_log_norm",
        "one step",
        [ONE_WORD[0], ONE_WORD[2]],
        {"transition_params": T},
    ),
    kind(
        FalseFriend,
        "crf_log_norm",
        "the recursion of the textbook",
        [SCORES, LENGTHS, T],
        naive=recursion,
        because="it goes on past the end of a sentence",
        skip=EAGER,
    ),
    kind(
        FalseFriend,
        "crf_log_norm",
        "an empty sentence",
        [SCORES[:1], LENGTHS[:1], T],
        naive=from_the_first,
        because="of a length of 0 there is nothing to sum, and contrib says 0",
        expect=[0],
        skip=EAGER,
    ),
    kind(Op, "crf_log_likelihood", "all lengths", [SCORES, WORDS_TAGS, LENGTHS, T]),
    kind(Op, "crf_log_likelihood", "one step", [*ONE_WORD, T], skip=ONE_STEP),
    kind(
        Op,
        "crf_log_likelihood",
        "scores in the hundreds",
        [SCORES * 256, WORDS_TAGS, LENGTHS, T],
        skip=EAGER,
    ),
    kind(Layer, "make_crf", "all lengths", [SCORES, WORDS_TAGS, LENGTHS]),
    Op("marginals", "all lengths", [SCORES, LENGTHS, T], skip=CONTRIB),
    FalseFriend(
        "marginals",
        "a softmax of the scores",
        [SCORES, LENGTHS, T],
        naive=soft,
        because="the words beside it have a say in a tag, by the transitions",
        skip={**CONTRIB, **EAGER},
    ),
    Op("crf_decode", "all lengths", [SCORES, T, LENGTHS], skip=CONTRIB),
    Op("crf_decode", "int64", [SCORES, T, LONG[0]], skip={**CONTRIB, **EAGER}),
    Op(
        "crf_decode",
        "one step",
        [ONE_WORD[0], T, ONE_WORD[2]],
        skip={**CONTRIB, **ONE_STEP},
    ),
    # np.floor, because np.round gives 0.0 and -0.0: the sign of their maximum varies,
    # today also between eager and function, where vectors begin at other places.
    Op("crf_decode", "ties", [np.floor(SCORES), np.floor(T), LENGTHS], skip=CONTRIB),
    FalseFriend(
        "crf_decode",
        "the best tag of every step",
        [SCORES, T, LENGTHS],
        naive=most_likely,
        because="the best sequence is not that of the best tags",
        skip={**CONTRIB, **EAGER},
    ),
    FalseFriend(
        "crf_decode",
        "the score of an empty sentence",
        [SCORES[:1], T, LENGTHS[:1]],
        naive=empty_is_zero,
        because="contrib decodes the first step of an empty sentence, too",
        skip={**CONTRIB, **EAGER},
    ),
    Op(
        "constrained_decode",
        "all lengths",
        [SCORES, BEGUN, ALLOWED, T, LENGTHS],
        skip=CONTRIB,
    ),
    FalseFriend(
        "constrained_decode",
        "the tags alone",
        [SCORES, BEGUN, ALLOWED, T, LENGTHS],
        naive=constrained_tags,
        because="a forbidden transition needs a -inf of its own",
        skip={**CONTRIB, **EAGER},
    ),
    Program(
        "viterbi_decode",
        "a sentence",
        [SCORES[2], T],
        skip={**CONTRIB, "function": PLAIN},
    ),
    Program(
        "viterbi_decode",
        "one word, whole numbers",
        [np.int32([[3, 5, 5]]), np.int32(np.eye(3))],
        expect=([1], 5),
        skip={**CONTRIB, "function": PLAIN},
    ),
    FalseFriend(
        "viterbi_decode",
        "what is past the end",
        [SCORES[2, :6], T],
        of="program",
        naive=lambda score, transitions: v2.viterbi_decode(
            np.concatenate([score, np.zeros([3, TAGS], "f")]), transitions
        ),
        because="it takes no length: who hands on the zeros has tags for them",
        differs="structure",
        skip={**CONTRIB, "function": PLAIN},
    ),
    kind(Program, "train_tagger", "ten steps", [*tagger(), 10], traces=2),
    kind(
        Program,
        "train_tagger",
        "a smaller rate",
        [*tagger(4), 2],
        kwargs={"rate": 0.01},
        traces=2,
    ),
    Raises(
        "crf_log_norm",
        "float64",
        [np.zeros([1, 2, 2]), np.int32([2]), np.zeros([2, 2])],
        graph=TypeError,
        match="float32|float64",
        expect=[1.3862943611198906],
        skip=CONTRIB,
    ),
    Raises(
        "crf_log_likelihood",
        "a tag that is none, past the end",
        [SCORES[:2], np.full([2, TIME], -1, "i"), np.int32([1, 1]), T],
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match=r"= -\d+ is not in|= \[-1, -1\]|= -1",
        skip=CONTRIB,
    ),
    Raises(
        "crf_sequence_score",
        "a tag too large",
        [PAIR, np.int32([[2, 0]]), np.int32([1]), MOVES[::-1]],
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match="not in",
        skip=CONTRIB,
    ),
    Raises(
        "crf_unary_score",
        "a tag too large",
        [np.int32([[2, 0]]), np.int32([2]), PAIR],
        eager=INVALID,
        function=INVALID,
        match="not in",
        skip=CONTRIB,
    ),
    Raises(
        "viterbi_decode",
        "an empty sentence",
        [SCORES[0, :0], T],
        of="program",
        graph=IndexError,
        eager=IndexError,
        match="out of bounds",
        skip={**CONTRIB, "function": PLAIN},
    ),
]
PROOF = proof(v1, v2, CASES)


class CrfTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class MeaningTest(unittest.TestCase):
    """Compares the recursions with a sum over all sequences, one by one."""

    def setUp(self):
        self.scores, self.lengths = SCORES[:, :4, :3], np.minimum(LENGTHS, 4)
        self.moves = T[:3, :3]

    def sequences(self, row):
        """Returns {tags: score} of all sequences of an example, in float64."""
        x, t = self.scores[row].astype(float), self.moves.astype(float)
        return {
            tags: sum(x[i, tag] for i, tag in enumerate(tags))
            + sum(t[move] for move in zip(tags, tags[1:]))
            for tags in itertools.product(range(3), repeat=self.lengths[row])
        }

    def test_the_norm_is_over_all_sequences(self):
        norms = v2.crf_log_norm(self.scores, self.lengths, self.moves).numpy()
        for row in range(20):
            total = np.log(sum(map(np.exp, self.sequences(row).values())))
            self.assertEqual(f"{norms[row]:.4f}", f"{total:.4f}")

    def test_the_best_of_all_sequences_and_zeros_past_the_end(self):
        tags, best = v2.crf_decode(self.scores, self.moves, self.lengths)
        for row in np.flatnonzero(self.lengths)[:20]:
            sequences, length = self.sequences(row), self.lengths[row]
            found = tuple(tags[row].numpy())
            self.assertEqual(found[:length], max(sequences, key=sequences.get))
            self.assertEqual(set(found[length:]) - {0}, set())
            self.assertEqual(f"{best[row]:.4f}", f"{max(sequences.values()):.4f}")

    def test_marginals_are_the_gradient_of_the_norm(self):
        x = tf.constant(SCORES)
        with tf.GradientTape() as tape:
            tape.watch(x)
            norm = tf.reduce_sum(v2.crf_log_norm(x, LENGTHS, T))
        gradient = tape.gradient(norm, x).numpy()
        distance = np.abs(gradient - v2.marginals(SCORES, LENGTHS, T)).max()
        self.assertLess(distance, 2e-6)

    def test_no_forbidden_transition_is_taken(self):
        tags, _ = v2.constrained_decode(SCORES, BEGUN, ALLOWED, T, LENGTHS)
        free, _ = v2.crf_decode(SCORES, T, LENGTHS)
        taken = []
        for row, other, length in zip(tags.numpy(), free.numpy(), LENGTHS):
            row, other = row[: max(length, 1)], other[: max(length, 1)]
            self.assertNotIn(row[0], (2, 4))
            self.assertTrue(ALLOWED[row[:-1], row[1:]].all())
            taken.append(ALLOWED[other[:-1], other[1:]].all())
        self.assertIn(False, taken)

    def test_the_number_of_tags_must_be_known(self):
        specs = [tf.TensorSpec([None] * 3), *[tf.TensorSpec(None, tf.int32)] * 2]
        with self.assertRaisesRegex(ValueError, "tags must be fully defined"):
            tf.function(v2.make_crf()).get_concrete_function(*specs)

    def test_a_second_model_is_no_concern_of_the_first(self):
        for seed in (1, 2):
            moves = tf.Variable(T + seed)
            for call in (v2.crf_log_norm, v2.marginals):
                given = call(SCORES, LENGTHS, T + np.float32(seed))
                found = tf.function(call)(SCORES, LENGTHS, moves)
                self.assertEqual(found.numpy().tobytes(), given.numpy().tobytes())
            del moves

    def test_a_scope_may_lie_in_another(self):
        layer = v2.make_crf("net/crf")
        layer(SCORES, WORDS_TAGS, LENGTHS)
        self.assertEqual(layer.transitions.name, "net/crf/transitions:0")

    def test_sentences_of_any_time_take_two_traces_eagerly(self):
        def traces():
            functions = v2.scan_paths, v2.backtrack
            return [f.experimental_get_tracing_count() for f in functions]

        before = traces()
        for time in range(11, 19):
            scores, _, lengths = sentences(n=4, time=time)
            found = v2.crf_decode(scores[:, :, :4], T[:4, :4], lengths)
            alone = tf.function(v2.crf_decode)(scores[:, :, :4], T[:4, :4], lengths)
            for one, other in zip(found, alone, strict=True):
                np.testing.assert_array_equal(one, other)
        for count, total in zip(before, traces(), strict=True):
            self.assertLessEqual(total - count, 2)


class ShapesTest(unittest.TestCase):
    """Wrong shapes raise an error and are not broadcast."""

    SCORES = np.random.RandomState(1).normal(size=[2, 4, 3]).astype("f")

    @parameterized.expand(
        [
            ("one length", [4], np.zeros([3, 3], "f")),
            ("one row of transitions", [4, 2], np.zeros([1, 3], "f")),
            ("one column", [4, 2], np.zeros([3, 1], "f")),
        ]
    )
    def test_not_stretched(self, _, lengths, transitions):
        lengths = tf.constant(lengths)
        for known, error in ((True, ValueError), (False, INVALID)):
            norm = tf.function(v2.crf_log_norm)
            decode = tf.function(v2.crf_decode)
            if not known:
                scores = tf.TensorSpec([None, None, None])
                of_lengths = tf.TensorSpec([None], tf.int32)
                of_moves = tf.TensorSpec([None, None])
                signature = [scores, of_lengths, of_moves]
                norm = tf.function(v2.crf_log_norm, signature)
                decode = tf.function(v2.crf_decode, [scores, of_moves, of_lengths])
            with self.assertRaises(error):
                norm(self.SCORES, lengths, transitions)
            with self.assertRaises(error):
                decode(self.SCORES, transitions, lengths)
