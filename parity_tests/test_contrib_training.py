import dataclasses
import functools
import json
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof, shorthand
from parity_tests.contrib import CONTRIB
from tf1to2.parity import Program, Raises
from v1_graph import contrib_training as v1
from v2_eager import contrib_training as v2
from v2_eager.numerics import metrics

INVALID = tf.errors.InvalidArgumentError
NO_FUNCTION = {**CONTRIB, "function": "it computes nothing that is worth one"}
TEXT = "learning_rate=1e-2, units=[128, 64,32],activation=tanh,use_bias=0"
JSON = json.dumps({"batch_size": 8, "keep_probs": [0.5, 1], "learning_rate": 1})


def line(seed=0, features=5, units=2):
    random = np.random.RandomState(seed)
    x = random.normal(size=[67, features])
    y = x @ random.normal(size=[features, units]) + 1
    start = {"kernel": random.normal(size=[features, units])}
    start["bias"] = random.normal(size=[units])
    start = {name: value.astype("f") for name, value in start.items()}
    return [x.astype("f"), y.astype("f"), start]


def classes(seed=0, noise=1.0):
    """Draws rows and classes, some of them wrong, to train and to evaluate."""
    random = np.random.RandomState(seed)
    kernel, sets = random.normal(size=[5, 3]), []
    for n in (67, 100):
        x = random.normal(size=[n, 5])
        y = np.argmax(x @ kernel + noise * random.normal(size=[n, 3]), 1)
        sets.append((x.astype("f"), y))
    start = {"kernel": np.zeros([5, 3], "f"), "bias": np.zeros([3], "f")}
    return [*sets[0], start, sets[1]]


def sentences(seed=0, n=64):
    """Draws sequences of 1 to 20 words, as lists, and their labels."""
    random = np.random.RandomState(seed)
    lengths = random.randint(1, 21, size=n)
    rows = [random.randint(1, 99, size=length).tolist() for length in lengths]
    return [rows, random.randint(5, size=n)]


def answers(seed=0):
    """Draws labels of 0 or 1, scores that correlate with them, and weights."""
    random, batches = np.random.RandomState(seed), []
    for n in (64, 100, 7):
        labels = random.randint(2, size=n)
        scores = np.clip(0.3 * labels + random.uniform(0, 0.7, size=n), 0, 1)
        weights = random.uniform(0, 2, size=n)
        batches.append(tuple(x.astype("f") for x in (labels, scores, weights)))
    return batches


def ranked(seed=0):
    random = np.random.RandomState(seed)
    return [
        (random.randint(12, size=[n, 2]), random.normal(size=[n, 12]).astype("f"))
        for n in (64, 100, 7)
    ]


def program(name, slug, args, kwargs=(), skip=(), **options):
    skip = {**CONTRIB, **dict(skip)}
    return Program(name, slug, args, dict(kwargs), skip=skip, **options)


friend = functools.partial(shorthand.friend, skip=CONTRIB)
refused = functools.partial(shorthand.refused, skip=CONTRIB)


# --- False friends: obvious replacements that give other numbers.


def by_json(text="", overrides=(), values_json="{}"):
    """Reads values by `json.loads`: an int stays an int for a float default."""
    values = v2.configure(text, overrides)["values"]
    values.update(json.loads(values_json))
    return {"values": values, "json": json.dumps(values, sort_keys=True)}


def at_once(x, y, start, validation, patience, evaluate_every, check_every, last):
    """Checks after every evaluation, as a callback does; the hook checks less often."""
    return v2.stop_early(x, y, start, validation, patience, evaluate_every, 1, last)


def in_order(rows, labels, batch_size, boundaries, smaller_final_batch=False):
    """Calls `padded_batch` without buckets: batches mix sequences of any length."""
    return v2.bucket(rows, labels, batch_size, [1000], smaller_final_batch)


def at_one_half(batches):
    """Computes F1 at the threshold 0.5, as `tf.keras.metrics.F1Score` does."""
    with mock.patch.object(metrics, "BestF1", F1):
        return v2.stream(batches)


class F1(metrics.BestF1):
    def __init__(self):
        super().__init__()
        self.thresholds = 200 * [0.5]


def by_strings(words, vocabulary, num_oov_buckets=0, more=()):
    """Takes out-of-vocabulary buckets from another hash, `to_hash_bucket_strong`."""
    found = v2.look_up(words, vocabulary, num_oov_buckets, more)
    hashed = tf.strings.to_hash_bucket_strong(words, num_oov_buckets, [1, 2])
    known = found["found"] >= 0
    found["ids"] = np.where(known, found["ids"], len(vocabulary) + hashed.numpy())
    return found


WORDS = np.array(["cat", "dog", "", "a b", "cow", "eel", "fox", "gnu", "hen", "dog"])
VOCABULARY = ["dog", "cat", "mouse"]
CASES = [
    program("configure", "defaults", [], skip=NO_FUNCTION),
    program(
        "configure",
        "of all kinds",
        [TEXT, {"model_dir": "/tmp"}, JSON],
        skip=NO_FUNCTION,
    ),
    program(
        "configure",
        "of other spellings",
        ["use_bias=False,units = [3],keep_probs=[],activation=a b"],
        skip=NO_FUNCTION,
    ),
    friend(
        "configure",
        "an int for a float",
        ["", (), JSON],
        by_json,
        "the type of the default is kept, and an int becomes a float",
        skip=NO_FUNCTION,
    ),
    program("create_train_op", "as it is", [*line(), 4, 0.125]),
    program(
        "create_train_op",
        "multiplied, then clipped",
        [*line(1), 4, 0.125],
        {"multipliers": {"kernel": 0.125, "nothing": 2.0}, "max_norm": 0.5},
    ),
    program("stop_early", "at every step", [*classes(), 8, 4, 1, 40]),
    program("stop_early", "rarely", [*classes(1), 8, 4, 10, 60]),
    program("stop_early", "not at all", [*classes(2), 50, 4, 3, 10]),
    # The accuracy is 0.84 at step 4 and not higher at step 12. At step 32, before the
    # check at step 34, it is 0.85.
    program("stop_early", "risen before a look", [*classes(1), 8, 4, 33, 60]),
    friend(
        "stop_early",
        "after every evaluation",
        [*classes(1), 8, 4, 10, 60],
        at_once,
        "the hook looks at the evaluations at steps 1, 1 + n, 1 + 2n",
        differs="structure",
    ),
    program(
        "bucket", "whole batches", [*sentences(), 5, [5, 10, 15]], skip=NO_FUNCTION
    ),
    program(
        "bucket",
        "and what is left",
        [*sentences(1), 4, [8, 16]],
        {"smaller_final_batch": True},
        skip=NO_FUNCTION,
    ),
    friend(
        "bucket",
        "padded batches",
        [*sentences(), 5, [5, 10, 15]],
        in_order,
        "sequences of about the same length are together",
        differs="shape",
        skip=NO_FUNCTION,
    ),
    program("stream", "ordinary answers", [answers()], float32=True),
    friend(
        "stream",
        "F1 of one half",
        [answers(1)],
        at_one_half,
        "f1_score is the best of 200 thresholds",
        float32=True,
    ),
    program("stream_at_k", "ordinary scores", [ranked(), 3], float32=True),
    program(
        "look_up",
        "without buckets",
        [WORDS, VOCABULARY],
        {"more": {"cow": 7, "hen": -3}},
        skip=NO_FUNCTION,
    ),
    program("look_up", "with buckets", [WORDS, VOCABULARY, 5], skip=NO_FUNCTION),
    friend(
        "look_up",
        "other hashes",
        [WORDS, VOCABULARY, 5],
        by_strings,
        "buckets are by to_hash_bucket_fast",
        skip=NO_FUNCTION,
    ),
    *(
        refused("configure", slug, args, match, error, skip=NO_FUNCTION)
        for slug, args, match, error in [
            ("no such name", ["rate=1"], "Unknown hyperparameter type", ValueError),
            (
                "a name twice",
                ["batch_size=1,batch_size=2"],
                "Multiple assign",
                ValueError,
            ),
            ("no number", ["batch_size=0.5"], "Could not parse hparam", ValueError),
            ("malformed", ["batch_size:8"], "Malformed hyperparameter", ValueError),
            ("a list for one", ["batch_size=[8]"], "Must.* pass", ValueError),
            ("one for a list", ["units=8"], "Must pass a list", ValueError),
            ("an item", ["units[0]=8"], "Must pass a list|Malformed", ValueError),
            ("text for None", ["model_dir=/tmp"], "NoneType takes no arg", TypeError),
            (
                "a float for an int",
                ["", {"batch_size": 8.0}],
                "Could not cast",
                ValueError,
            ),
            (
                "a bool for an int",
                ["", {"batch_size": True}],
                "Could not cast",
                ValueError,
            ),
            ("a dict of no such name", ["", {"rate": 1}], "rate", KeyError),
        ]
    ),
    refused(
        "create_train_op",
        "NaN",
        [np.full([67, 5], np.nan, "f"), *line()[1:], 1, 0.125],
        "LossTensor is inf or nan|Nan in summary histogram",
        INVALID,
    ),
    Raises.alike(
        "create_train_op",
        "no multipliers",
        [*line(), 1, 0.125],
        ValueError,
        "`gradient_multipliers` is empty",
        kwargs={"multipliers": {}},
        of="program",
        skip=NO_FUNCTION,
    ),
    refused(
        "stop_early",
        "NaN",
        [np.full([67, 5], np.nan, "f"), *classes()[1:], 8, 4, 1, 40],
        "NaN loss during training",
        INVALID,
        genuine=tf.compat.v1.train.NanLossDuringTrainingError,
    ),
    refused(
        "stop_early",
        "no steps",
        [*classes(), 8, 4, 1, 0],
        "Must specify max_steps > 0, given: 0",
        skip=NO_FUNCTION,
    ),
    refused(
        "look_up",
        "a word twice",
        [WORDS, ["dog", "cat", "dog"]],
        "(?i)duplicate|different value for same key",
        tf.errors.FailedPreconditionError,
        skip=NO_FUNCTION,
    ),
]
PROOF = proof(v1, v2, CASES)


class ContribTrainingTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()

    def test_a_list_has_an_item_by_default(self):
        @dataclasses.dataclass
        class Empty(v2.HParams):
            units: list[int] = dataclasses.field(default_factory=list)

        with self.assertRaisesRegex(ValueError, "units must not be empty"):
            Empty().parse("units=[8]")

    @parameterized.expand([("NaN", np.nan), ("infinity", np.inf)])
    def test_a_loss_that_is_refused_moves_no_weight(self, _, number):
        x, y, start = line()
        made = v2.variables_of(start)
        with mock.patch.object(v2, "variables_of", lambda _: made):
            with self.assertRaisesRegex(INVALID, "inf or nan"):
                v2.create_train_op(x, y * number, start, 1, 0.125)
        for name, value in start.items():
            np.testing.assert_array_equal(made[name], value)
