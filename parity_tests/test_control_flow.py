import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import (
    FalseFriend,
    Op,
    Program,
    booleans,
    dyadic,
    integers,
    normal,
    uniform,
)
from v1_graph import control_flow as v1
from v2_eager import control_flow as v2

ONE, TWO = np.float32(1), np.float32(2)
YES, NO = np.array(True), np.array(False)
FEW = np.int32(5)
SQUARE_A = np.float32([[1, 2], [3, 4]])
SQUARE_B = np.float32([[-1, -2], [-3, -4]])
GROWS = {"xla": "the shape of a loop variable may not vary under XLA"}
SIZED = {"xla": "the size of a TensorArray must be known under XLA"}

EMPTY = {
    "gradient": "the left page cannot gather the gradient of an empty TensorArray",
    "xla": "the body is compiled for no rows, too, and has none to read",
}

CASES = [
    Op("add_or_multiply", "the classic", [YES, ONE, TWO], expect=3),
    Op("add_or_multiply", "the other branch", [NO, ONE, TWO], expect=2),
    Op("add_or_multiply", "integers", [NO, integers("n"), integers("n")]),
    Op("add_or_multiply", "any size", [booleans(), normal("n", 3), normal("n", 1)]),
    Op(
        "add_or_multiply",
        "branches of different shapes",
        [YES, np.zeros([0, 3], "f"), np.ones([1, 3], "f")],
    ),
    Program("branches_that_ran", "the first", [True], expect=[[1, 1], [1, 0]]),
    Program("branches_that_ran", "the second", [False], expect=[[1, 1], [0, 1]]),
    Op(
        "choose",
        "the classic",
        [np.array([True, False]), np.int32([2, 2]) + 1, np.int32([1, 1]) * 2],
        expect=[3, 2],
    ),
    Op("choose", "elements", [booleans("r", 3), normal("r", 3), normal("r", 3)]),
    Op("choose", "rows", [booleans("r"), normal("r", 3, 2), normal("r", 3, 2)]),
    Op("choose", "scalars", [YES, ONE, TWO], expect=1),
    FalseFriend(
        "choose",
        "rows of a square matrix",
        [np.array([True, False]), SQUARE_A, SQUARE_B],
        expect=[[1, 2], [-3, -4]],
        naive=tf.where,
        because="a vector broadcasts along the last axis and chooses columns",
    ),
    Op(
        "log_or_zero_trap",
        "signs",
        [np.float32([1, 0, -1, np.inf, -np.inf, np.nan])],
        expect=[0, 0, 0, np.inf, 0, 0],
    ),
    Op("log_or_zero_trap", "any size", [normal("n")]),
    Op(
        "log_or_zero",
        "signs",
        [np.float32([1, 0, -1, np.inf, -np.inf, np.nan])],
        expect=[0, 0, 0, np.inf, 0, 0],
    ),
    Op("log_or_zero", "any size", [normal("n", 2)]),
    *[
        Op("rate_of_step", f"step {step}", [np.int32(step), TWO], expect=rate)
        for step, rate in [(9, 2), (10, 0.2), (19, 0.2), (20, 0.02)]
    ],
    Op("rate_of_step", "long integers", [np.int64(15), normal()]),
    *[
        Op("activate", f"kind {kind}", [np.int32(kind), normal("n")])
        for kind in (0, 1, 2)
    ],
    *[
        FalseFriend(
            "activate",
            f"kind {kind}",
            [np.int32(kind), np.float32([-2, 0.5])],
            expect=[-2, 0.5],
            naive=lambda kind, x: tf.switch_case(
                kind, [lambda: tf.tanh(x), lambda: tf.sigmoid(x), lambda: x * x]
            ),
            because="without a default, other numbers run the last branch",
        )
        for kind in (3, -1)
    ],
    *[
        Op("fibonacci", f"number {n}", [np.int32(n)], expect=number)
        for n, number in [
            (5, 5),
            (-1, 1),
            (2, 1),
            (3, 2),
            (20, 6765),
            (46, 1836311903),
            (47, -1323752223),
        ]
    ],
    Op("fibonacci_grown", "the classic", [FEW], expect=[1, 1, 2, 3, 5], skip=GROWS),
    Op("fibonacci_grown", "too few", [np.int32(0)], expect=[1, 1], skip=GROWS),
    Op("fibonacci_grown", "wraps", [np.int32(50)], skip=GROWS),
    Op("fibonacci_array", "the classic", [FEW], expect=[1, 1, 2, 3, 5], skip=SIZED),
    Op("fibonacci_array", "two", [np.int32(2)], expect=[1, 1], skip=SIZED),
    Op("fibonacci_array", "wraps", [np.int32(50)], skip=SIZED),
    Op(
        "power",
        "thirteen",
        [np.float32([2, -1, 0.5]), np.int32(13)],
        expect=[8192, -1, 2**-13],
    ),
    Op("power", "any size", [uniform("n", low=-2, high=2), np.int32(11)]),
    Op("power", "zero", [normal("n", 2), np.int32(0)]),
    Op("power", "negative", [normal("n"), np.int32(-3)]),
    Op(
        "power",
        "one at a time",
        [normal("n"), np.int32(6)],
        {"parallel_iterations": 1, "swap_memory": True},
    ),
    Op(
        "power",
        "two digits only",
        [TWO, np.int32(13)],
        {"maximum_iterations": 2},
        expect=2,
    ),
    Op(
        "power",
        "no limit",
        [normal("n"), np.int32(5)],
        {"maximum_iterations": None},
        skip={"xla": "the gradient of a loop without a limit does not compile"},
    ),
    Op(
        "sum_positive_until",
        "continue and break",
        [np.float32([1, -9, 2, 0, 3, 4]), np.float32(3)],
        expect=6,
    ),
    Op(
        "sum_positive_until",
        "a sum that only reaches the limit",
        [np.float32([1, 2, 3]), np.float32(3)],
        expect=6,
    ),
    Op(
        "sum_positive_until",
        "negative values before a negative limit",
        [np.float32([-1, 5, 3]), np.float32(-1)],
        expect=5,
    ),
    Op("sum_positive_until", "none", [np.zeros([0], "f"), np.float32(3)], expect=0),
    Op("sum_positive_until", "integers", [integers("n", low=-9), np.int32(20)]),
    Op("sum_positive_until", "any size", [dyadic("n"), np.float32(10)]),
    Op("newton_sqrt", "squares", [np.float32([4, 9, 2])], expect=[2, 3, np.sqrt(2)]),
    Op("newton_sqrt", "any size", [uniform("n", 2, low=0.5, high=50)]),
    Op("newton_sqrt", "coarse", [uniform("n", low=0.5, high=50)], {"tolerance": 0.5}),
    Op(
        "newton_sqrt",
        "two steps",
        [np.float32([16])],
        {"maximum_iterations": 2},
        expect=[(8.5 + 16 / 8.5) / 2],
    ),
    Op(
        "newton_sqrt",
        "zero and NaN",
        [np.float32([0, np.nan, 4])],
        expect=[np.nan, np.nan, 2],
    ),
    Op("newton_sqrt", "none", [np.zeros([0, 2], "f")]),
    Op("summarize_rows", "any size", [normal("r", "c")]),
    Op(
        "summarize_rows",
        "ties",
        [np.float32([[1, 3, 3], [0, 0, 0]])],
        expect=([7 / 3, 0], [1, 0]),
    ),
    Op("summarize_rows", "no rows", [np.zeros([0, 3], "f")], skip=EMPTY),
    Op(
        "smooth",
        "constant steps",
        [np.float32([0, 8, 8, 8]), np.float32(0.5)],
        expect=[0, 4, 6, 7],
    ),
    Op(
        "smooth",
        "from the end",
        [np.float32([0, 8, 8, 0]), np.float32(0.5)],
        {"reverse": True},
        expect=[3, 6, 4, 0],
    ),
    Op("smooth", "any size", [normal("t", "n"), np.float32(0.9)]),
    Op(
        "smooth",
        "any size from the end",
        [normal("t", "n"), np.float32(0.75)],
        {"reverse": True},
    ),
    Op("polynomial", "descending", [np.float32([5, 0, 3]), TWO], expect=23),
    Op(
        "polynomial",
        "ascending",
        [np.float32([3, 0, 5]), TWO],
        {"ascending": True},
        expect=23,
    ),
    Op("polynomial", "any size", [normal("d"), normal("n", 2, scale=0.5)]),
    Op(
        "polynomial",
        "any size ascending",
        [normal("d"), normal("n", scale=0.5)],
        {"ascending": True},
    ),
    Op(
        "polynomial",
        "no coefficients",
        [np.zeros([0], "f"), np.ones([3], "f")],
        skip=EMPTY,
        expect=[0, 0, 0],
    ),
]
PROOF = proof(v1, v2, CASES)


class ControlFlowTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()
