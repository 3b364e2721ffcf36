import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from tf1to2.parity import FalseFriend
from v1_graph import models_estimator as v1
from v2_eager import models_estimator as v2
from v2_eager.numerics import canned

ALONE = {"graph": "today's TensorFlow has no Estimator"}


# Feature columns make float32 variables: in float64 they are widened, too.
WIDE = {"widen": True}


def people(seed, n):
    """Draws rows of a census; some words are missing or not in the vocabularies."""
    random = np.random.RandomState(seed)
    educations = [*v2.EDUCATIONS, "Preschool", ""]
    occupations = ["Sales", "Craft-repair", "Tech-support", "Farming-fishing", ""]
    rows = []
    for _ in range(n):
        age, hours = random.randint(17, 80), random.randint(20, 60)
        education = random.choice(
            len(educations), p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.05, 0.05]
        )
        relationship = random.choice(v2.RELATIONSHIPS)
        occupation = random.choice(len(occupations), p=[0.3, 0.3, 0.2, 0.1, 0.1])
        score = (age > 35) + (education in (2, 3, 4)) + (occupation in (0, 2))
        score += (hours > 40) + (relationship in ("Husband", "Wife"))
        label = ">50K" if score + random.normal(0, 0.7) > 2.6 else "<=50K"
        words = educations[education], relationship, occupations[occupation]
        rows.append(",".join([str(age), *words, str(hours), label]))
    return np.array(rows)


LINEAR = {
    f"linear/linear_model/{name}/weights": [size, 1] for name, size in v2.WIDE.items()
}
LINEAR["linear/linear_model/bias_weights"] = [1]
EMBEDDING = "dnn/input_from_feature_columns/input_layer/occupation_embedding/"
NETWORK = {
    EMBEDDING + "embedding_weights": [20, 4],
    "dnn/hiddenlayer_0/kernel": [16, 8],
    "dnn/hiddenlayer_0/bias": [8],
    "dnn/hiddenlayer_1/kernel": [8, 4],
    "dnn/hiddenlayer_1/bias": [4],
    "dnn/logits/kernel": [4, 1],
    "dnn/logits/bias": [1],
}
SHAPES = {**LINEAR, **NETWORK}


def start(step, accum, linear):
    wide = models.start(LINEAR, {"Ftrl": accum, "Ftrl_1": linear})
    deep = models.start(NETWORK, {"Adagrad": accum})
    return {**wide, **deep, "global_step": np.int64(step)}


ROWS, TEST = people(0, 200), people(1, 70)
START = start(0, 0.1, 0.0)
MODEL = models.Model([ROWS], START, ALONE, wide=WIDE)
LATER = models.Model([ROWS], start(30, 2.0, 0.5), ALONE, wide=WIDE)

# --- Wrong programs that people write instead of the right page.


def averaged_head():
    return Head(loss_reduction="weighted_sum_over_batch_size")


def bucket(words, size):
    return v2.present(tf.strings.to_hash_bucket_fast(words, size)[:, None])


class JoinedColumns(v2.Columns):
    def __call__(self, features):
        words = tf.strings.join([features["education"], features["occupation"]], "_X_")
        return {
            **super().__call__(features),
            "education_X_occupation": bucket(words, 50),
        }


class HashedColumns(v2.Columns):
    def __call__(self, features):
        columns = super().__call__(features)
        return {**columns, "occupation": bucket(features["occupation"], 20)}


class Listed(canned.DNN):
    """Concatenates the columns in the order of the list, not sorted by name."""

    def __init__(self, columns, *args):
        super().__init__(columns, *args)
        listed = "age", "hours_per_week", "education_indicator"
        listed += "relationship_indicator", "occupation_embedding"
        self.columns = {name: columns[name] for name in listed}


def trained_with(owner, name, value):
    def naive(*args):
        with mock.patch.object(owner, name, value):
            return v2.train(*args)

    return naive


Head = canned.BinaryHead
WRONG = [
    (
        "the mean over the batch",
        trained_with(canned, "BinaryHead", averaged_head),
        "the loss of a canned estimator of 1.15 is the sum over the batch",
    ),
    (
        "a hash of joined strings",
        trained_with(v2, "Columns", JoinedColumns),
        "a crossed column combines the fingerprints of its parts",
    ),
    (
        "empty strings are hashed",
        trained_with(v2, "Columns", HashedColumns),
        "an empty string is a missing value in a categorical column",
    ),
    (
        "columns in the order of the list",
        trained_with(canned, "DNN", Listed),
        "the rows of the first kernel are sorted by the names of the columns",
    ),
]
CASES = [
    *MODEL.cases(evaluate=[TEST], export=[TEST[:5]]),
    LATER.train(5, "from step 30"),
    *(
        MODEL.train(5, slug, FalseFriend, of="program", naive=naive, because=because)
        for slug, naive, because in WRONG
    ),
]
PROOF = proof(v1, v2, CASES)


class ModelsEstimatorTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()
