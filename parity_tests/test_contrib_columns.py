import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.contrib import CONTRIB, EAGER, friend, layer, refused
from parity_tests.test_feature_columns import examples
from tf1to2.parity import FalseFriend, Op, Program
from v1_graph import contrib_columns as v1
from v2_eager import contrib_columns as v2
from v2_eager.feature_columns import combine, present

STRINGS = {"xla": "strings do not compile"}
SPARSE = {"xla": "the number of ids is no shape"}
PARSED = {**CONTRIB, **STRINGS, "dynamic": "another case of the pair"}


def people(seed=0, rows=67):
    random = np.random.RandomState(seed)
    ids = random.randint(-1, 15, [rows, 4])
    return {
        "age": random.uniform(10, 90, [rows, 1]).astype("f"),
        "scores": random.normal(size=[rows, 2]).astype("f"),
        "words": random.choice(["red", "green", "blue", "grün", ""], [rows, 3]),
        "ids": ids,
        "weights": random.normal(1, 1, [rows, 4]).astype("f"),
    }


def rows(seed=0):
    random = np.random.RandomState(seed)
    x = random.normal(size=[67, 3]).astype("f")
    return [x, (x @ [1, -2, 0.5] + random.normal(size=67) > 0).astype("i8")]


def read(seed=0, rows=67, time=6, size=15):
    """Returns ids and scores of sequences of several lengths, some of them 0."""
    random = np.random.RandomState(seed)
    ids = random.randint(size, size=[rows, time])
    past = np.arange(time) >= random.randint(time + 1, size=[rows, 1])
    scores = random.normal(size=[rows, time]).astype("f")
    return {"ids": np.where(past, -1, ids), "scores": scores}


READ, READER = read(), {"size": 15, "units": 4}
NEGATIVE = {"ids": np.array([[1, -2]]), "scores": np.ones([1, 2], "f")}
PEOPLE = people()
MODEL = {"boundaries": [18, 65], "size": 10, "buckets": 11}
EXAMPLES = examples(
    {"scores": [0.5, 1.5], "words": [b"red", b"blue"], "ids": [3], "weights": [2.0]},
    {"scores": [2.5, -1.0], "age": [18.0], "ids": [1, 12]},
)

# --- Obvious replacements of contrib, with other numbers.


def by_the_key(boundaries, size, buckets, units=1, name="wide"):
    """Uses the hash of `tf.feature_column.crossed_column`."""
    return v2.make_wide(boundaries, size, buckets, True, units, name)


def by_identity(boundaries, size, buckets, units, name="deep"):
    """Ignores an id that is too large, as `default_value=-1` does."""

    class Identity(v2.Deep):
        def __call__(self, features):
            ids = features["ids"]
            ids = tf.where(ids < size, ids, -tf.ones_like(ids))
            return super().__call__(dict(features, ids=ids))

    return Identity(boundaries, size, buckets, units, name)


def sorted_by_name(boundaries, size, buckets, units, name="deep"):
    """Concatenates in the order of `tf.feature_column.input_layer`, by name."""

    class Sorted(v2.Deep):
        def __call__(self, features):
            parts = tf.split(
                super().__call__(features), [len(boundaries) + 1, units, size, 2], 1
            )
            buckets, words, ids, scores = parts
            return tf.concat([buckets, ids, scores, words], 1)

    return Sorted(boundaries, size, buckets, units, name)


def with_the_mean(boundaries, size, buckets, units, name="deep"):
    """Combines by "mean", the default of `tf.feature_column.embedding_column`."""

    class Mean(v2.Deep):
        def __call__(self, features):
            words = v2.hashed(present(features["words"]), buckets)
            x = super().__call__(features)
            first, last = len(boundaries) + 1, len(boundaries) + 1 + units
            return tf.concat([x[:, :first], combine(self.table, words), x[:, last:]], 1)

    return Mean(boundaries, size, buckets, units, name)


def first_row_past_the_end(size, units, name="reader"):
    """Looks up padding as id 0, as a Keras embedding layer does."""

    class Padded(v2.Sequences):
        def __call__(self, features):
            x, lengths = super().__call__(features)
            vectors = tf.gather(self.table, tf.maximum(features["ids"], 0))
            return tf.concat([vectors, x[..., units:]], 2), lengths

    return Padded(size, units, name)


def of_adam(x, labels, steps):
    """Trains with Adam in place of Ftrl."""
    ftrl, v2.optimizers.Ftrl = v2.optimizers.Ftrl, v2.optimizers.Adam
    try:
        return v2.run_experiment(x, labels, steps)
    finally:
        v2.optimizers.Ftrl = ftrl


def columns(name, slug, factory=()):
    model = {**MODEL, **dict(factory)}
    return layer(name, slug, [PEOPLE], model, STRINGS, float32=True)


def mistaken(name, slug, naive, because, factory=()):
    model = {**MODEL, **dict(factory)}
    return friend(name, slug, [PEOPLE], naive, because, model, EAGER, float32=True)


CASES = [
    Op("parse", "the classic", [EXAMPLES, 2], skip=PARSED),
    refused(
        "parse",
        "scores left out",
        [examples({"age": [18.0]}), 2],
        "Feature: scores .*is required but could not be found",
        tf.errors.InvalidArgumentError,
        of="op",
        skip={**CONTRIB, **STRINGS},
    ),
    columns("make_wide", "the hash of old"),
    columns(
        "make_wide",
        "the hash of today, two units",
        {"fingerprints": True, "units": 2, "buckets": 100},
    ),
    mistaken(
        "make_wide",
        "the hash of today for that of old",
        by_the_key,
        "without a key crosses were hashed otherwise",
    ),
    columns("make_deep", "the classic", {"units": 4}),
    mistaken(
        "make_deep",
        "ids that are too large are none",
        by_identity,
        "an id that is too large counted from 0 again",
        {"units": 4},
    ),
    mistaken(
        "make_deep",
        "sorted by name",
        sorted_by_name,
        "columns were sorted by the names of their classes first",
        {"units": 4},
    ),
    mistaken(
        "make_deep",
        "the mean of the vectors",
        with_the_mean,
        "the combiner was sqrtn here",
        {"units": 4},
    ),
    *(
        layer(
            "make_bag",
            combiner,
            [PEOPLE["ids"], PEOPLE["weights"]],
            {"rows": 15, "size": 3, "combiner": combiner, "default_id": default},
            SPARSE,
        )
        for combiner, default in [("mean", None), ("sum", 2), ("sqrtn", 0)]
    ),
    layer("make_sequences", "the classic", [READ], READER, float32=True),
    friend(
        "make_sequences",
        "the first row past the end",
        [READ],
        first_row_past_the_end,
        "past the end are zeros, and no vector of an id",
        READER,
        float32=True,
    ),
    layer("make_sequences", "no steps", [read(time=0)], READER, float32=True),
    refused(
        "make_sequences",
        "a negative id",
        [NEGATIVE],
        "Negative bucket index",
        tf.errors.InvalidArgumentError,
        factory=READER,
        skip={**CONTRIB, "xla": "no assertion is left there"},
    ),
    Program("run_experiment", "ten steps", [*rows(), 10], float32=True, skip=CONTRIB),
    FalseFriend(
        "run_experiment",
        "Adam",
        [*rows(1), 10],
        of="program",
        naive=of_adam,
        because="the optimizer of LinearClassifier is Ftrl, at a rate of 0.2",
        float32=True,
        skip=CONTRIB,
    ),
]
PROOF = proof(v1, v2, CASES)


class ContribColumnsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class DetailsTest(unittest.TestCase):
    def test_a_scope_may_be_nested(self):
        path = "tower-1/model"
        bag = v2.make_bag(5, 2, name=path)
        bag(tf.constant([[1]]), tf.ones([1, 1]))
        for module, name in [
            (v2.make_wide([18], 10, 11, name=path), "linear/scores/weight"),
            (v2.make_deep([18], 10, 11, 4, name=path), "input/words_embedding/weights"),
            (bag, "table"),
            (
                v2.make_sequences(5, 2, name=path),
                "sequence_input_layer/ids_embedding/embedding_weights",
            ),
        ]:
            names = [variable.name for variable in module.variables]
            self.assertIn(f"{path}/{name}:0", names)

    def test_a_second_bag_begins_as_the_first(self):
        ids, weights = tf.constant([[0, 1]], tf.int64), tf.ones([1, 2])
        first, second = (v2.make_bag(4, 2)(ids, weights) for _ in range(2))
        np.testing.assert_array_equal(first, second)

    def test_crosses_in_a_function(self):
        words = present(tf.constant(PEOPLE["words"]))
        ages = tf.cast(v2.bucket_of(PEOPLE["age"][:, 0], [18, 65]), tf.int64)
        found = tf.function(v2.crossed)(ages, words, 11)
        expected = v2.crossed(ages, words, 11)
        np.testing.assert_array_equal(found.values, expected.values)
