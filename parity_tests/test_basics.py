import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import FalseFriend, Op, Program, Raises, dyadic, integers, normal
from v1_graph import basics as v1
from v2_eager import basics as v2

rng = np.random.RandomState(1)
SAMPLES = rng.uniform(-10, 10, [1000, 100]).astype("f")
START = rng.standard_normal([3, 1]).astype("f")

CASES = [
    Op("product", "any size", [normal("n", "k"), normal("k", "m")]),
    Program("product_of_random_matrices", "doubles", [10, 1, "float64"]),
    Program("product_kernel", "no shape", [None]),
    Program("product_kernel", "matrix", [[None, None]]),
    Op("polynomial", "any size", [normal("n"), normal(3, 1)]),
    Op("regularized_loss", "any size", [normal("n"), normal("n"), normal(3, 1)]),
    Program("fit_polynomial", "the classic", [SAMPLES, START]),
    Program("fit_polynomial", "any size", [normal("s", "n"), normal(3, 1)]),
    Program("frozen_batches", "five calls", [5, 4, 1],
            skip={"eager": "without tracing every call draws"}),
    Program("fed_batches", "five calls", [5, 4, 1]),
    Program("drawn_batches", "five calls", [5, 4, 1]),
]
PROOF = proof(v1, v2, CASES)


class BasicsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()
