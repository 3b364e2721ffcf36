import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import Layer, Op, Raises, integers, normal
from v1_graph import broadcasting as v1
from v2_eager import broadcasting as v2

MATRIX = np.float32([[1, 2], [3, 4]])
COLUMN = np.float32([[1], [2]])
SHAPES = "Incompatible shapes|must be equal|Dimensions must"

CASES = [
    Op("add_tiled", "the classic", [MATRIX, COLUMN], expect=[[2, 3], [5, 6]]),
    Op("add_tiled", "any size", [normal("r", "c"), normal("r", 1)]),
    Op("add_broadcast", "the classic", [MATRIX, COLUMN], expect=[[2, 3], [5, 6]]),
    Op("add_broadcast", "any size", [normal("r", "c"), normal("r", 1)]),
    Op("add_broadcast", "integers", [integers("r", "c"), integers("r", 1)]),
    Layer(
        "make_dense_of_concatenation",
        "ten units",
        [normal("b", "s", 5), normal("b", 1, 6)],
        factory={"units": 10},
    ),
    Layer(
        "make_merge",
        "ten units",
        [normal("b", "s", 5), normal("b", 1, 6)],
        factory={"units": 10},
    ),
    Layer(
        "make_dense_of_concatenation",
        "in a scope within another",
        [normal("b", 3, 5), normal("b", 1, 6)],
        factory={"units": 4, "name": "net/tiled"},
    ),
    Layer(
        "make_merge",
        "in a scope within another",
        [normal("b", 3, 5), normal("b", 1, 6)],
        factory={"units": 4, "name": "net/merge"},
    ),
    Op(
        "sum_of_broadcast",
        "the mistake",
        [np.float32([[1], [2]]), np.float32([1, 2])],
        expect=12,
    ),
    Op(
        "sum_of_broadcast",
        "what was meant",
        [np.float32([[1], [2]]), np.float32([1, 2])],
        {"axis": 0},
        expect=[5, 7],
    ),
    Op("sum_of_broadcast", "any size", [normal("r", 1), normal("c")], {"axis": 0}),
    Raises(
        "add_broadcast",
        "sizes that do not broadcast",
        [np.zeros([3, 2], "f"), np.zeros([2, 1], "f")],
        graph=ValueError,
        eager=tf.errors.InvalidArgumentError,
        function=ValueError,
        match=SHAPES,
    ),
    Raises(
        "add_broadcast",
        "sizes that do not broadcast, seen when run",
        [np.zeros([3, 2], "f"), np.zeros([2, 1], "f")],
        dynamic=True,
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match=SHAPES,
    ),
]
PROOF = proof(v1, v2, CASES)


class BroadcastingTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()
