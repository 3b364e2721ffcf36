import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.contrib import CONTRIB, EAGER
from tf1to2.parity import FalseFriend, Op, Program, Raises, integers, normal, uniform
from v1_graph import contrib_distributions as v1
from v2_eager import contrib_distributions as v2

RNG = np.random.RandomState(0)
SIZES = [{"n": 3}, {"n": 67}]
POSITIVE = uniform("n", 5, low=0.5, high=3)
SHARE = uniform("n", 5, low=0.05, high=0.95)
MOVED = [normal("n", 5, scale=2), normal("n", 5), POSITIVE, uniform(5, low=3, high=9)]
RATES = [POSITIVE, SHARE, POSITIVE, uniform("n", 5, low=0.5, high=4)]
COUNTS = RNG.randint(0, 6, size=[67, 5]).astype("f")
COUNTED = [
    COUNTS,
    RNG.uniform(0.1, 0.9, [67, 5]).astype("f"),
    RNG.uniform(0.5, 4, [67, 5]).astype("f"),
    COUNTS + RNG.randint(0, 4, size=[67, 5]).astype("f"),
]
SURE = [np.float32(row) for row in ([[0, 1.5]], [[1, 0.25]], [[2, 3]], [[3, 2.5]])]
SHARES = RNG.dirichlet(np.ones(6), size=67).astype("f")
CONCENTRATION = RNG.uniform(0.5, 4, [67, 6]).astype("f")
PARTS = [
    normal("n", 3),
    normal("n", 4),
    normal("n", 4, 3),
    uniform("n", 4, 3, low=0.5, high=2),
]
LEVELS = [
    integers("n", 5, high=256),
    uniform("n", 5, low=0, high=255),
    uniform("n", 5, low=20, high=60),
]
NARROW_LEVELS = [*LEVELS[:2], uniform("n", 5, low=0.5, high=2)]
CHANGED = [SHARE, normal(5), uniform(5, low=0.5, high=2)]
LOC = RNG.normal(size=[67, 5]).astype("f")
SCALE = RNG.uniform(0.5, 2, [67, 5]).astype("f")
KINDS = {
    "Normal": [LOC, SCALE],
    "Laplace": [LOC, SCALE],
    "Logistic": [LOC, SCALE],
    "Uniform": [LOC, LOC + SCALE],
    "Exponential": [SCALE],
    "Bernoulli": [LOC],
    "Categorical": [LOC],
    "RelaxedOneHotCategorical": [np.float32(0.5), LOC],
}
OBSERVED = RNG.normal(size=[8, 67, 6]).astype("f")
WANTED = OBSERVED[:, :, :4].argmax(2).astype("i4")
START = {
    "weights": RNG.normal(0, 0.1, [6, 4]).astype("f"),
    "biases": np.zeros(4, "f"),
}
ON_A_LINE = [RNG.normal(size=[67, 3]).astype("f")]
ON_A_LINE.append(ON_A_LINE[0] @ np.float32([1, -2, 0.5]))
PRIOR = {"loc": np.zeros(3, "f"), "log_scale": np.zeros(3, "f")}


# --- Obvious replacements, with other numbers.


def deviations(x, loc, scale, df):
    return v2.location_scale_terms(x, loc, scale / (np.pi / np.sqrt(3)), df)


def by_scale(x, share, concentration, rate):
    """Takes the rate as a scale, as SciPy and NumPy do."""
    return v2.rate_terms(x, share, concentration, 1 / rate)


def trials(counts, probs, rate, total):
    """Counts trials including the success, as NumPy does, not only failures."""
    terms = v2.count_terms(counts, probs, rate, total)
    log_probs = tf.math.log(probs)
    return {
        **terms,
        "geometric": terms["geometric"] - tf.math.log1p(-probs),
        "geometric_mean": tf.exp(-log_probs),
    }


def mean_of_parts(x, logits, loc, scale_diag):
    """Averages the log densities of the components, not the densities."""
    log_probs = tf.reduce_sum(v2.normal_log_prob(x[:, None], loc, scale_diag), -1)
    return -tf.reduce_sum(tf.nn.softmax(logits) * log_probs, -1)


def density(levels, loc, scale):
    z = (tf.cast(levels, loc.dtype) - loc) / scale
    return -z - 2 * tf.math.softplus(-z) - tf.math.log(scale)


def without_slope(y, shift, scale):
    terms = v2.transformed_log_prob(y, shift, scale)
    log_y = tf.math.log(y)
    return {**terms, "log_normal": v2.normal_log_prob(log_y, shift, scale)}


def logits_alone_cooled(kind, parameters, n, seed):
    temperature, logits = parameters
    parameters = [np.ones_like(temperature), logits / temperature]
    return v2.draw(kind, parameters, n, seed)


def op(name, slug, args, kwargs=(), skip=(), cls=Op, **options):
    options.setdefault("sizes", SIZES)
    return cls(
        name, slug, args, dict(kwargs), skip={**CONTRIB, **dict(skip)}, **options
    )


def friend(name, slug, args, naive, because, skip=EAGER, **options):
    more = {"naive": naive, "because": because, "cls": FalseFriend}
    return op(name, slug, args, (), skip, **more, **options)


CASES = [
    op("location_scale_terms", "of a batch", MOVED),
    friend(
        "location_scale_terms",
        "a deviation for a scale",
        MOVED,
        deviations,
        "scale is no standard deviation, but of Normal",
    ),
    op("rate_terms", "of a batch", RATES),
    friend(
        "rate_terms",
        "a scale for a rate",
        RATES,
        by_scale,
        "Gamma and Exponential take a rate, NumPy and SciPy its inverse",
    ),
    op("count_terms", "of a batch", COUNTED),
    op("count_terms", "what is sure, and fractions", SURE),
    friend(
        "count_terms",
        "trials for failures",
        COUNTED,
        trials,
        "Geometric counts the failures before the success, NumPy the trials",
    ),
    op("dirichlet_terms", "of a batch", [SHARES, CONCENTRATION]),
    Raises.alike(
        "dirichlet_terms",
        "another sum",
        [2 * SHARES, CONCENTRATION, True],
        tf.errors.InvalidArgumentError,
        "sample last-dimension must sum to",
        skip=CONTRIB,
    ),
    op("mdn_loss", "of a batch", PARTS),
    friend(
        "mdn_loss",
        "the mean of the parts",
        PARTS,
        mean_of_parts,
        "the log of a mixture is no mixture of logs",
    ),
    op("discretized_logistic", "of a batch", LEVELS),
    op("discretized_logistic", "narrow", NARROW_LEVELS),
    friend(
        "discretized_logistic",
        "a density",
        LEVELS,
        density,
        "a level has what is between its borders, the outer ones the tails",
    ),
    op("transformed_log_prob", "of a batch", CHANGED),
    friend(
        "transformed_log_prob",
        "without its slope",
        CHANGED,
        without_slope,
        "a density is divided by how steeply the bijector rises",
    ),
    *(
        Program("draw", kind, [kind, parameters, 16, 3], skip=CONTRIB)
        for kind, parameters in KINDS.items()
    ),
    FalseFriend(
        "draw",
        "a temperature of the logits alone",
        ["RelaxedOneHotCategorical", KINDS["RelaxedOneHotCategorical"], 16, 3],
        of="program",
        naive=logits_alone_cooled,
        because="the noise is divided by the temperature, too",
        skip={**CONTRIB, "function": "another case of the pair"},
    ),
    Program("train_policy", "eight steps", [OBSERVED, START, WANTED, 5], skip=CONTRIB),
    Program("fit_posterior", "ten steps", [*ON_A_LINE, PRIOR, 10, 5], skip=CONTRIB),
    Program(
        "fit_posterior",
        "one draw a step",
        [*ON_A_LINE, PRIOR, 3, 8],
        {"draws": 1, "rate": 0.0005},
        skip=CONTRIB,
    ),
]
PROOF = proof(v1, v2, CASES)


class ContribDistributionsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class BatchTest(unittest.TestCase):
    """Each element of a batch has its own draw, as in TensorFlow 1.15.5."""

    @parameterized.expand(["Normal", "Laplace", "Logistic", "Uniform"])
    def test_parameters_are_broadcast_before_the_draw(self, kind):
        low, high = np.float32([-1, -1, -1]), np.float32([1, 2, 4])
        expected = v2.draw(kind, [low, high], 3, 1)
        for first in (low[:1], low[0]):
            found = v2.draw(kind, [first, high], 3, 1)
            np.testing.assert_array_equal(found, expected)

    def test_categories_of_any_batch(self):
        logits = RNG.normal(size=[2, 2, 3]).astype("f")
        flat = v2.draw("Categorical", [logits.reshape([4, 3])], 5, 1)
        found = v2.draw("Categorical", [logits], 5, 1)
        np.testing.assert_array_equal(found, flat.reshape([5, 2, 2]))
        alone = v2.draw("Categorical", [logits[0, 0]], 5, 1)
        row = v2.draw("Categorical", [logits[0, :1]], 5, 1)
        np.testing.assert_array_equal(alone, row[:, 0])

    def test_a_temperature_is_of_a_row(self):
        kind, logits = "RelaxedOneHotCategorical", np.zeros([3, 3], "f")
        cold = v2.draw(kind, [np.float32(0.25), logits], 1, 1)
        found = v2.draw(kind, [np.float32([0.25, 1, 4]), logits], 1, 1)
        np.testing.assert_array_equal(found[0, 0], cold[0, 0])
