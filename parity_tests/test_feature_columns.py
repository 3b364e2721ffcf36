import dataclasses
import functools
import tempfile
import unittest

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof, shorthand
from tf1to2.parity import FalseFriend, Layer, Naive, Op, Program, Raises
from tf1to2.parity.arrays import integers, normal
from v1_graph import feature_columns as v1
from v2_eager import feature_columns as v2
from v2_keras import feature_columns as v3

keras = tf.keras.layers
INVALID = tf.errors.InvalidArgumentError
CONTRIB = {"graph": "today's TensorFlow has no tf.contrib.lookup"}
STRINGS = {"xla": "strings do not compile"}
SPARSE = {"xla": "the number of ids is no shape"}
SPECIAL = {"dynamic": "another case of the pair is proven in this way"}
EMBEDDED = {**SPARSE, **SPECIAL}


def examples(*rows):
    """Serializes examples, {name: list of floats, ints or bytes}."""
    kinds = {float: "float_list", int: "int64_list", bytes: "bytes_list"}
    texts = []
    for row in rows:
        example = tf.train.Example()
        for name, values in row.items():
            feature = example.features.feature[name]
            getattr(feature, kinds[type(values[0])]).value.extend(values)
        texts.append(example.SerializeToString(deterministic=True))
    return np.array(texts)


def cross_as_listed(words, ages, boundaries, buckets, hash_key):
    ages = tf.cast(v2.bucket_of(ages, boundaries), tf.int64)[:, None]
    ids = tf.sparse.cross_hashed([words, ages], buckets, hash_key)
    return v2.counts(tf.sparse.to_dense(ids, -1), buckets)


refused = functools.partial(shorthand.refused, of="op")


WORDS = ["red", "green", "blue"]
TEXTS = np.array([["red", "red", "grün"], ["", "blue", ""], ["", "", ""]])
IDS = np.array([[2, 0, 2], [-1, -1, -1], [1, -1, 3]])
SOME_IDS = np.array([[2, 0, 2, 3], [-1, -1, -1, -1], [-1, 1, -1, -1], [3, 0, -1, -1]])
RANDOM = np.random.RandomState(0)
MANY_IDS = RANDOM.randint(-1, 4, [70, 4])
MANY_WEIGHTS = np.where(MANY_IDS < 0, 0, RANDOM.standard_normal([70, 4])).astype("f")
MANY_TEXTS = RANDOM.choice([*WORDS, "grün", ""], [70, 3])
ROWS = [
    {"scores": [0.5, 1.5], "words": [b"red", b"blue"], "ids": [3]},
    {"scores": [2.5, -1.0], "ids": [1, -1, 12]},
]
BOUNDARIES = [0.0, 1.0, 2.5]
EDGES = np.float32([[-1, 0], [0.99999994, 1], [2.5, np.inf], [-np.inf, np.nan]])
WEIGHTS = np.float32([[0.5, 2, 0.25], [0, 0, 0], [4, 0, -0.125]])
AGES = np.float32([17, 18, 64, 65, *RANDOM.uniform(10, 90, 66)])
PEOPLE = {
    "age": AGES,
    "income": RANDOM.standard_normal(70).astype("f"),
    "words": MANY_TEXTS,
}
LABELS = RANDOM.standard_normal([70, 1]).astype("f")
START = {
    "table": np.float32([[0.5, -0.25], [0.125, 1], [-1, 0.75]]),
    "hidden": np.float32([[1, -0.5, 0.25], [-1, 0.5, 0.75], [0.125, 2, -0.25]]),
    "output": np.float32([[0.5], [-0.25], [1]]),
}

CASES = [
    Op(
        "parse_examples",
        "the classic",
        [examples(*ROWS), 2],
        skip=STRINGS,
    ),
    Op(
        "parse_examples",
        "scores left out",
        [examples(ROWS[1], {"ids": [5]}, {"words": [b"x"]}), 2, 0.25],
        expect={
            "scores": [[2.5, -1], [0.25, 0.25], [0.25, 0.25]],
            "words": {"indices": [[2, 0]], "values": [b"x"], "dense_shape": [3, 1]},
            "ids": {
                "indices": [[0, 0], [0, 1], [0, 2], [1, 0]],
                "values": [1, -1, 12, 5],
                "dense_shape": [3, 3],
            },
        },
        skip=STRINGS,
    ),
    refused(
        "parse_examples",
        "scores left out, without a default",
        [examples(ROWS[0], {"ids": [5]}), 2],
        "Feature: scores .*is required but could not be found",
        INVALID,
    ),
    refused(
        "parse_examples",
        "three scores in place of two",
        [examples({"scores": [1.0, 2.0, 3.0]}), 2],
        "Key: scores.*Number of float values != expected",
        INVALID,
    ),
    Op(
        "standardize",
        "the classic",
        [
            {"b": normal("n", 2), "a": normal("n", 1)},
            {"b": (0.5, 3.0), "a": (-1.25, 0.7)},
        ],
    ),
    FalseFriend(
        "standardize",
        "the order is that of the names",
        [
            {"b": np.float32([[1, 2]]), "a": np.float32([[3]]), "Z": np.float32([[4]])},
            {"b": (1.0, 0.5), "a": (1.0, 0.5), "Z": (1.0, 0.5)},
        ],
        expect=[[6, 4, 0, 2]],
        skip=SPECIAL,
        naive=lambda features, statistics: tf.concat(
            [(features[key] - 1) / 0.5 for key in statistics], 1
        ),
        because="the columns are sorted, capitals first, whatever the list says",
    ),
    Op("bucketize", "the classic", [normal("n", 3), [-1, -0.5, 0.1, 2]]),
    FalseFriend(
        "bucketize",
        "boundaries, infinities and NaN",
        [EDGES, BOUNDARIES],
        expect=[
            [1, 0, 0, 0, 0, 1, 0, 0],
            [0, 1, 0, 0, 0, 0, 1, 0],
            [0, 0, 0, 1, 0, 0, 0, 1],
            [1, 0, 0, 0, 0, 0, 0, 1],
        ],
        skip={**SPECIAL, "xla": "there NaN is in the first bucket, not in the last"},
        naive=lambda x, boundaries: tf.reshape(
            tf.one_hot(tf.searchsorted(boundaries, tf.reshape(x, [-1])), 4), [4, 8]
        ),
        because="searchsorted puts a boundary into the bucket below by default",
    ),
    Op(
        "bucketize",
        "float64 is rounded first",
        [np.float64([[0.1], [np.nextafter(0.1, 0)]]), [0.1]],
        expect=[[0, 1], [0, 1]],
        exact=True,
        skip=SPECIAL,
    ),
    refused(
        "bucketize",
        "boundaries that do not increase",
        [EDGES, [1.0, 0.0]],
        "boundaries must be a sorted list",
    ),
    refused("bucketize", "no boundaries", [EDGES, []], "must not be empty"),
    refused(
        "bucketize",
        "a matrix in each row",
        [EDGES[None], BOUNDARIES],
        r"one-dimensional|\[n, size\]",
    ),
    Op(
        "count_ids",
        "one id in a row",
        [IDS[:, 2], 4],
        expect=[[0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]],
    ),
    Op(
        "count_ids",
        "the classic",
        [IDS, 4],
        expect=[[1, 0, 2, 0], [0, 0, 0, 0], [0, 1, 0, 1]],
    ),
    Op("count_ids", "any size", [integers("n", "k", high=4, dtype="int64"), 4]),
    Op(
        "count_ids",
        "out of range, and a default",
        [np.array([[7, -2, -1, 2]]), 4, 3],
        expect=[[0, 0, 1, 2]],
    ),
    refused(
        "count_ids",
        "too large an id, which today's compat.v1 drops in silence",
        [IDS, 3],
        "Bucket index .*exceeds number of buckets",
        INVALID,
        graph=None,
        genuine=INVALID,
    ),
    refused(
        "count_ids",
        "a negative id, likewise",
        [IDS - 1, 3],
        "Negative bucket index",
        INVALID,
        graph=None,
        genuine=INVALID,
    ),
    refused(
        "count_ids",
        "ids that are floats",
        [np.float32([[1.7, 0]]), 4],
        "Invalid input, not integer",
    ),
    *(
        refused(
            "count_ids",
            f"a default of {default}",
            [IDS, 4, default],
            f"default_value {default} not in range",
        )
        for default in (4, -1)
    ),
    Layer(
        "make_word_counter",
        "strangers count as none",
        [TEXTS],
        factory={"words": WORDS},
        expect=[[2, 0, 0], [0, 0, 1], [0, 0, 0]],
        skip=STRINGS,
    ),
    Layer(
        "make_word_counter",
        "strangers count as a word",
        [TEXTS],
        factory={"words": WORDS, "default_value": 1},
        expect=[[2, 1, 0], [0, 0, 1], [0, 0, 0]],
        skip=STRINGS,
    ),
    Layer(
        "make_word_counter",
        "strangers in buckets",
        [np.array([["red", "grün", "rouge", "rot", "rosso", ""]])],
        factory={"words": WORDS, "num_oov_buckets": 4},
        skip=STRINGS,
    ),
    Layer(
        "make_word_counter",
        "strangers in buckets, seventy rows",
        [MANY_TEXTS],
        factory={"words": WORDS, "num_oov_buckets": 4},
        skip=STRINGS,
    ),
    Layer(
        "make_word_counter",
        "numbers",
        [np.array([[70, -1, 5, 6, 5]])],
        factory={"words": [5, 70, 600], "num_oov_buckets": 2},
        skip={
            "xla": "tables do not compile",
            "keras": "it puts numbers that it does not know into other buckets",
        },
    ),
    refused(
        "make_word_counter",
        "buckets and a default",
        [TEXTS],
        "Can't specify both num_oov_buckets and default_value",
        of="layer",
        factory={"words": WORDS, "num_oov_buckets": 1, "default_value": 0},
    ),
    Layer(
        "make_word_counter",
        "numbers of 32 bits",
        [np.int32([[70, -1, 5, 6, 5], [600, 5, -1, -1, 7]])],
        factory={"words": [5, 70, 600]},
        expect=[[2, 1, 0], [1, 0, 1]],
        skip={"xla": "tables do not compile"},
    ),
    Program(
        "look_up",
        "the classic",
        [TEXTS, WORDS],
        expect={
            "counts": [[2, 0, 0], [0, 0, 1], [0, 0, 0]],
            "ids": [[0, 0, -1], [-1, 2, -1], [-1, -1, -1]],
            "words": [
                [b"red", b"red", b"UNK"],
                [b"UNK", b"blue", b"UNK"],
                [b"UNK", b"UNK", b"UNK"],
            ],
        },
        skip={**CONTRIB, "function": PLAIN},
    ),
    Program(
        "look_up",
        "two of the lines, and buckets",
        [TEXTS, WORDS, 2, 3],
        skip={**CONTRIB, "function": PLAIN},
    ),
    Program(
        "look_up",
        "as it is written",
        [TEXTS, ["red ", "Blue", "blue"]],
        skip={**CONTRIB, "function": PLAIN},
    ),
    refused(
        "look_up",
        "more than the lines",
        [TEXTS, WORDS, 4],
        "expected 4 but got 3",
        INVALID,
        of="program",
        skip=CONTRIB,
    ),
    refused(
        "look_up",
        "a word twice",
        [TEXTS, ["red", "red"]],
        "HashTable has different value for same key",
        tf.errors.FailedPreconditionError,
        of="program",
        skip=CONTRIB,
    ),
    Op("hash_values", "words", [TEXTS, 7], skip=STRINGS),
    refused(
        "hash_values",
        "floats",
        [np.float32([[1.5, 2]]), 7],
        "dtype must be string or integer",
    ),
    Op(
        "hash_values",
        "any numbers",
        [integers("n", 3, high=2**31 - 1, dtype="int64"), 7],
        skip=STRINGS,
    ),
    FalseFriend(
        "hash_values",
        "numbers are hashed as text",
        [np.array([[0, 1, 2, -2, 12345678901]]), 7],
        skip=STRINGS,
        naive=lambda values, buckets: v2.counts(values % buckets, buckets),
        because="a number's bucket is the hash of its digits",
    ),
    FalseFriend(
        "cross",
        "the classic",
        [TEXTS, np.float32([17, 18, 70]), [18, 65], 11],
        skip=STRINGS,
        naive=lambda words, ages, boundaries, buckets: v2.counts(
            tf.strings.to_hash_bucket_fast(
                words
                + "_X_"
                + tf.strings.as_string(v2.bucket_of(ages, boundaries))[:, None],
                buckets,
            ),
            buckets,
        ),
        because="hashes are crossed, not texts, and the key is another one",
    ),
    Op("cross", "seventy rows", [MANY_TEXTS, AGES, [18, 65], 11], skip=STRINGS),
    FalseFriend(
        "cross",
        "another key, and the order of the list",
        [TEXTS, np.float32([17, 18, 70]), [18, 65], 11, 5],
        skip={**STRINGS, **SPECIAL},
        naive=cross_as_listed,
        because="the kernel puts what is sparse first: here the bucket of the age",
    ),
    FalseFriend(
        "cross",
        "words that come sparse",
        [TEXTS, np.float32([17, 18, 70]), [18, 65], 11, None, True],
        skip=STRINGS,
        naive=lambda *args: v2.cross(*args[:-1]),
        because="the same words, parsed or fed, fall into other buckets",
    ),
    Layer(
        "make_embedding",
        "the mean",
        [{"x": MANY_IDS}],
        factory={"keys": ["x"], "rows": 4, "size": 3},
        skip=SPARSE,
    ),
    Layer(
        "make_embedding",
        "sqrtn, clipped",
        [{"x": MANY_IDS[:, :3]}],
        factory={
            "keys": ["x"],
            "rows": 4,
            "size": 3,
            "combiner": "sqrtn",
            "max_norm": 0.75,
        },
        skip=EMBEDDED,
    ),
    Layer(
        "make_embedding",
        "weighted, and what is negative left out",
        [{"x": IDS}, WEIGHTS],
        factory={"keys": ["x"], "rows": 4, "size": 3},
        skip=EMBEDDED,
    ),
    Layer(
        "make_embedding",
        "weighted by any numbers",
        [{"x": MANY_IDS}, MANY_WEIGHTS],
        factory={"keys": ["x"], "rows": 4, "size": 3, "combiner": "sqrtn"},
        skip=EMBEDDED,
    ),
    Layer(
        "make_embedding",
        "shared by two",
        [{"y": IDS, "x": IDS[::-1, :2]}],
        factory={"keys": ["y", "x"], "rows": 4, "size": 2, "combiner": "sum"},
        skip=EMBEDDED,
    ),
    refused(
        "make_embedding",
        "a weight of 0",
        [{"x": IDS}, WEIGHTS * np.float32([0, 1, 1])],
        "Incompatible shapes|Numbers of ids and of nonzero weights differ",
        INVALID,
        of="layer",
        factory={"keys": ["x"], "rows": 4, "size": 3},
    ),
    refused(
        "make_embedding",
        "ids that are floats",
        [{"x": np.float32([[1.7, 0]])}],
        "Invalid input, not integer",
        of="layer",
        factory={"keys": ["x"], "rows": 4, "size": 3},
    ),
    refused(
        "make_embedding",
        "no such row",
        [{"x": IDS}],
        r"exceeds number of buckets|= 3 (is not in|out of range) \[0, 3\)",
        INVALID,
        of="layer",
        factory={"keys": ["x"], "rows": 3, "size": 3},
    ),
    Layer(
        "make_linear_model",
        "the classic",
        [PEOPLE],
        factory={"words": WORDS, "boundaries": [18, 65], "buckets": 11},
        skip=STRINGS,
    ),
    Layer(
        "make_linear_model",
        "two units, and means",
        [PEOPLE],
        factory={
            "words": WORDS,
            "boundaries": [18, 65],
            "buckets": 11,
            "units": 2,
            "sparse_combiner": "mean",
            "name": "scores",
        },
        skip={**STRINGS, **SPECIAL},
    ),
    Program(
        "train_wide_and_deep",
        "twelve steps",
        [PEOPLE, LABELS, WORDS, [18, 65], START, 12],
    ),
]
# The weights of columns are float32 for inputs of any dtype.
COLUMNS = ("make_embedding", "make_linear_model", "train_wide_and_deep")
CASES = [
    dataclasses.replace(case, float32=True)
    if case.name in COLUMNS and not isinstance(case, Raises)
    else case
    for case in CASES
]
NAIVE = [
    Naive(
        "standardize, the classic",
        "the deviation for the variance",
        lambda features, statistics: tf.concat(
            [
                keras.Normalization(mean=mean, variance=deviation)(features[key])
                for key, (mean, deviation) in sorted(statistics.items())
            ],
            1,
        ),
        because="Normalization divides by the root of what it is given",
    ),
    Naive(
        "hash_values, words",
        "Hashing of the empty string, too",
        lambda values, buckets: keras.CategoryEncoding(buckets, output_mode="count")(
            keras.Hashing(buckets)(values)
        ),
        because="Hashing skips a value only if it is given as mask_value",
    ),
]
PROOF = proof(v1, v2, CASES, NAIVE)


# The linear model of today's compat.v1 calls a deprecated method.
@pytest.mark.filterwarnings("ignore:`layer.add_variable` is deprecated:UserWarning")
class FeatureColumnsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class OneInARowTest(unittest.TestCase):
    def test_vectors_of_ids_without_a_second_dimension(self):
        embed, ids = v2.make_embedding(["x"], 9, 4), tf.constant([2, -1, 8])
        expected = embed({"x": ids[:, None]})
        np.testing.assert_array_equal(embed({"x": ids}), expected)


def of(layer, *inputs):
    return np.asarray(layer(*inputs))


def total(layer, *inputs):
    """Returns a Keras layer's outputs as one row per example, like `input_layer`."""
    y = of(layer, *inputs)
    return y.reshape([len(y), -1])


class KerasTest(unittest.TestCase):
    """Compares Keras' preprocessing layers with feature columns."""

    def assert_same(self, a, b):
        np.testing.assert_array_equal(a, b, strict=True)

    def test_the_page_refuses_an_id_that_is_too_large(self):
        ids = tf.constant([[5, 1]])
        for page in (v2, v3):
            with self.assertRaises(INVALID):
                page.count_ids(ids, 3)
        np.testing.assert_array_equal(v3.count_ids(ids, 3, 0), v2.count_ids(ids, 3, 0))

    def test_the_page_refuses_both_buckets_and_a_default(self):
        for page in (v2, v3):
            with self.assertRaisesRegex(ValueError, "both num_oov_buckets and default"):
                page.make_word_counter(["a"], num_oov_buckets=1, default_value=0)

    @parameterized.expand(
        [
            ("count_ids", ValueError, "not integer", 4),
            ("hash_values", ValueError, "string or integer", 7),
            ("make_word_counter", TypeError, "strings or integers", [5, 70]),
        ]
    )
    def test_the_page_cuts_no_floats(self, name, error, match, size):
        page, floats = getattr(v3, name), tf.constant([[5.5, 1.0]])
        with self.assertRaisesRegex(error, match):
            page(size)(floats) if name.startswith("make") else page(floats, size)

    @parameterized.expand([(4,), (-1,)])
    def test_the_page_refuses_a_default_out_of_range(self, default):
        with self.assertRaisesRegex(ValueError, f"{default} not in range"):
            v3.count_ids(tf.constant(IDS), 4, default)

    def test_the_page_refuses_boundaries_that_do_not_increase(self):
        for boundaries in ([1.0, 1.0], [1.0, 0.0]):
            with self.assertRaisesRegex(ValueError, "must be a sorted list"):
                v3.bucketize(EDGES, boundaries)
        with self.assertRaisesRegex(ValueError, "must not be empty"):
            v3.bucketize(EDGES, [])
        with self.assertRaisesRegex(ValueError, r"\[n, size\]"):
            v3.bucketize(EDGES[None], BOUNDARIES)

    @parameterized.expand([("words", WORDS, TEXTS), ("numbers", [5, 70, 600], IDS)])
    def test_a_counter_can_be_saved(self, _, words, inputs):
        counter = v3.make_word_counter(words, default_value=1)
        inputs, dtype = tf.constant(inputs), "string" if words is WORDS else "int64"
        model = tf.keras.Sequential([tf.keras.Input([None], dtype=dtype), counter])
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/counter.keras"
            model.save(path)
            loaded = tf.keras.models.load_model(path)
        self.assertEqual(loaded.layers[0].get_config(), counter.get_config())
        self.assert_same(of(loaded, inputs), of(model, inputs))

    def test_discretization_has_the_same_buckets(self):
        layer = keras.Discretization(BOUNDARIES, output_mode="one_hot")
        self.assert_same(total(layer, EDGES), v2.bucketize(EDGES, BOUNDARIES))

    def test_normalization_divides_by_the_root_of_a_variance(self):
        x = np.random.RandomState(0).standard_normal([1000, 1]).astype("f")
        ours = v2.standardize({"x": tf.constant(x)}, {"x": (0.5, 0.7)})
        self.assert_same(of(keras.Normalization(mean=0.5, variance=0.49), x), ours)

    def test_string_lookup_puts_strangers_first(self):
        words = np.array([["red", "grün", "rouge", "rot", "rosso", ""]])
        ours = v2.Vocabulary(WORDS, 4)(tf.constant(words))
        layer = keras.StringLookup(vocabulary=WORDS, num_oov_indices=4, mask_token="")
        self.assert_same(ours, [[0, 4, 3, 4, 5, -1]])
        self.assert_same(of(layer, words), [[5, 2, 1, 2, 3, 0]])

    def test_string_lookup_counts_the_missing_and_in_int64(self):
        layer = keras.StringLookup(vocabulary=WORDS, output_mode="count")
        answer = of(layer, TEXTS)
        self.assert_same(answer, [[1, 2, 0, 0], [2, 0, 0, 1], [3, 0, 0, 0]])
        self.assertEqual(answer.dtype, np.int64)

    def test_string_lookup_without_buckets_refuses_strangers(self):
        layer = keras.StringLookup(vocabulary=WORDS, num_oov_indices=0)
        with self.assertRaisesRegex(INVALID, "all inputs should be in vocab"):
            layer(TEXTS)

    def test_integer_lookup_hashes_in_another_way(self):
        numbers = tf.constant([[70, -1, 5, 6, 7, 8, 9]], tf.int64)
        ours = v2.Vocabulary([5, 70, 600], 2)(numbers)
        layer = keras.IntegerLookup(vocabulary=[5, 70, 600], num_oov_indices=2)
        self.assert_same(ours, [[1, -1, 0, 4, 3, 4, 4]])
        self.assert_same(of(layer, numbers), [[3, 1, 2, 0, 1, 0, 1]])

    def test_hashing_is_the_same_until_it_masks_or_salts(self):
        ours = tf.strings.to_hash_bucket_fast(TEXTS, 7)
        self.assert_same(of(keras.Hashing(7), TEXTS), ours)
        self.assert_same(ours, [[1, 1, 4], [6, 6, 6], [6, 6, 6]])
        masking = of(keras.Hashing(7, mask_value=""), TEXTS)
        self.assert_same(masking, [[3, 3, 6], [0, 4, 0], [0, 0, 0]])
        salted = of(keras.Hashing(7, salt=1), TEXTS)
        self.assert_same(salted, [[1, 1, 3], [0, 5, 0], [0, 0, 0]])
        numbers = np.array([[0, 1, 2, -2, 12345678901]])
        text = tf.strings.as_string(numbers)
        ours = tf.strings.to_hash_bucket_fast(text, 7)
        self.assert_same(of(keras.Hashing(7), numbers), ours)

    def test_hashed_crossing_is_the_same_in_the_order_of_the_kernel(self):
        words, ages = np.array(["red", "red", "blue", "x"]), np.array([0, 1, 2, 2])
        ours = v2.crossed(tf.constant(words)[:, None], ages, 11).values
        layer = keras.HashedCrossing(11)
        self.assert_same(of(layer, (ages, words)), ours)
        self.assert_same(ours, [10, 9, 4, 4])
        self.assert_same(of(layer, (words, ages)), [9, 4, 5, 0])

    def test_category_encoding_drops_what_is_too_large_and_refuses_minus_one(self):
        layer = keras.CategoryEncoding(3, output_mode="count")
        self.assert_same(of(layer, IDS[[0, 0]]), v2.count_ids(IDS[[0, 0]], 3))
        self.assert_same(of(layer, np.array([[1, 3, 3]])), np.float32([[0, 1, 0]]))
        with self.assertRaisesRegex(INVALID, "must be non-negative"):
            layer(IDS)
        multi = keras.CategoryEncoding(3, output_mode="multi_hot")
        self.assert_same(of(multi, IDS[[0]]), np.float32([[1, 0, 1]]))

    def test_an_average_of_an_embedding_is_nan_where_there_is_nothing(self):
        layer = keras.Embedding(5, 3, mask_zero=True)
        vectors = layer(SOME_IDS + 1)
        table = layer.get_weights()[0][1:]
        ours = v2.combine(table, v2.present(tf.constant(SOME_IDS))).numpy()
        mean = keras.GlobalAveragePooling1D()(vectors, mask=SOME_IDS >= 0).numpy()
        self.assert_same(mean[[0, 2, 3]], ours[[0, 2, 3]])
        self.assert_same(ours[1], np.zeros(3, "f"))
        self.assertTrue(np.isnan(mean[1]).all())


class ArraysTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("hash_values", TEXTS, 7),
            ("hash_values", IDS, 7),
            ("cross", TEXTS, np.float32([17, 18, 70]), [18, 65], 11),
            ("cross", TEXTS, np.float32([17, 18, 70]), [18, 65], 11, None, True),
        ]
    )
    def test_arrays_are_taken_as_tensors_are(self, name, values, *args):
        function = getattr(v2, name)
        expected = function(tf.constant(values), *args).numpy()
        np.testing.assert_array_equal(function(values, *args), expected)


class EmbeddingTest(unittest.TestCase):
    FACTORY = {"keys": ["x"], "rows": 4, "size": 3}

    def test_each_begins_with_the_same_numbers(self):
        made = [v2.make_embedding(**self.FACTORY) for _ in range(2)]
        one, other = (layer({"x": tf.constant(IDS)}).numpy() for layer in made)
        np.testing.assert_array_equal(one, other, strict=True)

    def test_a_scope_may_lie_in_another(self):
        layer = v2.make_embedding(**self.FACTORY, name="net/dnn")
        layer({"x": tf.constant(IDS)})
        name = "net/dnn/input_layer/x_embedding/embedding_weights:0"
        self.assertEqual(layer.table.name, name)
        counter = v2.make_word_counter(WORDS, name="net/counter")
        np.testing.assert_array_equal(counter(tf.constant(TEXTS))[0], [2, 0, 0])
        model = v2.make_linear_model(WORDS, [18, 65], 11, name="net/linear")
        name = "net/linear/linear_model/bias_weights:0"
        self.assertEqual(model.bias.name, name)
