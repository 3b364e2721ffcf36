import unittest

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import (
    FalseFriend,
    Op,
    Program,
    Raises,
    booleans,
    integers,
    normal,
    uniform,
)
from tf1to2.parity.v1 import legacy
from v1_graph import operators as v1
from v2_eager import operators as v2

SEVENS, TWOS = np.int32([7, -7, 7, -7]), np.int32([2, 2, -2, -2])
HALVES = np.float32([7.5, -7.5, 7.5, -7.5])
INF, NAN = np.inf, np.nan
SPECIAL = np.float32([-0.0, INF, NAN, 5, -5, 5, -5])
SPECIAL_DIVISORS = np.float32([3, 2, 2, INF, INF, 0, 0])
LARGEST, SMALLEST = np.int32([2**31 - 1]), np.int32([-(2**31)])
CUBE = np.arange(24, dtype="f").reshape(2, 3, 4)
TRUE_FALSE = np.array([True, True, False, False]), np.array([True, False, True, False])
ROWS = np.arange(12, dtype="f").reshape(4, 3)
COUNTS = np.float32([[i, 2 * i] for i in range(500)])
COUNTED = {"dynamic": "the number of rows must be known"}
LONG = {
    **COUNTED,
    "xla": "500 slices take XLA seconds",
    "gradient": "each of 500 slices has a gradient of 500 rows",
}
NO_TRUTH = tf.errors.OperatorNotAllowedInGraphError
INVALID = tf.errors.InvalidArgumentError
SHAPES = "Incompatible shapes|must be equal|Dimensions must"


def decay_by_in(weights, uses):
    """Ports the left page's dict to a list, the obvious replacement."""
    once = []
    for place in uses:
        if weights[place] not in once:
            once.append(weights[place])
    return tf.add_n([tf.nn.l2_loss(weight) for weight in once])


def signed(*dims, dtype="int32"):
    return integers(*dims, low=-99, high=100, dtype=dtype)


BINARY = {
    "sums": [
        ("add", [9, -5, 5, -9], [9.5, -5.5, 5.5, -9.5]),
        ("subtract", [5, -9, 9, -5], [5.5, -9.5, 9.5, -5.5]),
    ],
    "products": [
        ("multiply", [14, -14, -14, 14], [15, -15, -15, 15]),
        ("divide", [3.5, -3.5, -3.5, 3.5], [3.75, -3.75, -3.75, 3.75]),
    ],
    "floor_division": [
        ("quotient", [3, -4, -4, 3], [3, -4, -4, 3]),
        ("remainder", [1, 1, -1, -1], [1.5, 0.5, -0.5, -1.5]),
    ],
}
CASES = [
    *(
        case
        for name, rows in BINARY.items()
        for case in [
            Op(
                name,
                "signs of integers",
                [SEVENS, TWOS],
                expect={key: wanted for key, wanted, _ in rows},
            ),
            Op(
                name,
                "signs of floats",
                [HALVES, np.float32(TWOS)],
                expect={key: wanted for key, _, wanted in rows},
            ),
            Op(name, "any floats", [normal("r", "c"), uniform("c", low=0.5, high=9)]),
            Op(name, "int64", [np.int64([[2**40], [-9]]), np.int64([7, -4])]),
            Op(name, "a number on the left", [99.5, np.float32([-3, 0.5, 7])]),
            Op(name, "a number on the right", [np.float32([-3, 0.5, 7]), -2]),
            Op(
                name,
                "infinities, NaNs and zeros",
                [SPECIAL, SPECIAL_DIVISORS],
                exact=True,
            ),
        ]
    ),
    Op("sums", "a list on the left", [[7, 8], np.int32([2, -3])]),
    Op("sums", "empty", [np.zeros([0, 3], "f"), np.ones([3], "f")]),
    Op(
        "sums",
        "overflow wraps",
        [LARGEST, np.int32([2])],
        expect={"add": [1 - 2**31], "subtract": [2**31 - 3]},
    ),
    Op(
        "sums",
        "unsigned wraps",
        [np.uint8([1, 250]), np.uint8([2, 10])],
        expect={"add": [3, 4], "subtract": [255, 240]},
    ),
    Op(
        "products",
        "small integers",
        [np.int8([7, 100]), np.int8([2, 3])],
        expect={"multiply": [14, 44], "divide": np.float32([3.5, 100 / 3])},
    ),
    FalseFriend(
        "truncation",
        "signs",
        [SEVENS, TWOS],
        expect={"quotient": [3, -3, -3, 3], "remainder": [1, -1, 1, -1]},
        naive=lambda a, b: {
            "quotient": tf.constant(a) // b,
            "remainder": tf.constant(a) % b,
        },
        because="`//` and `%` round down, C and `truncatediv` round towards zero",
    ),
    Op("truncation", "any integers", [signed("r", "c"), integers("c", low=1)]),
    FalseFriend(
        "div",
        "integers",
        [SEVENS, TWOS],
        expect=[3, -4, -4, 3],
        naive=lambda a, b: tf.constant(a) / b,
        because="in Python 3 `/` divides integers exactly, into float64",
    ),
    Op("div", "floats", [HALVES, np.float32(TWOS)], expect=[3.75, -3.75, -3.75, 3.75]),
    Op("div", "any floats", [normal("r", "c"), normal("r", 1)]),
    Op("div", "complex", [np.complex64([2 + 4j]), np.complex64([2j])], expect=[2 - 1j]),
    Op(
        "power",
        "integers",
        [np.int32([2, -2, 3, 0, 2]), np.int32([3, 3, 0, 0, 31])],
        expect=[8, -8, 1, 1, -(2**31)],
    ),
    Op(
        "power",
        "floats",
        [np.float32([2, -2, 4, 0, -8, 9]), np.float32([-1, 3, 0.5, 0, 1 / 3, 0])],
        expect=[0.5, -8, 2, 1, NAN, 1],
    ),
    Op("power", "any positive floats", [uniform("n", low=0.1, high=4), normal("n")]),
    # Not a false friend in every version: `x ** 2` is exact up to 2.18 and in 1.15.
    Op(
        "square",
        "the first thousand, as given",
        [np.arange(1000, dtype="f")],
        expect=np.arange(1000.0) ** 2,
        exact=True,
    ),
    Op("square", "any floats", [normal("n")]),
    Op("square", "integers", [np.int32([-3, 0, 46341])], expect=[9, 0, -2147479015]),
    Op("power", "a number on the left", [2, np.int32([1, 31])], expect=[2, -(2**31)]),
    Op("unary", "floats", [normal("n")]),
    Op("unary", "integers", [np.int64([3, 0, -(2**40)])]),
    Op(
        "unary",
        "no positive twin",
        [SMALLEST],
        expect={"negative": SMALLEST, "absolute": SMALLEST},
    ),
    Op(
        "unary",
        "infinities and a negative zero",
        [np.float32([INF, -INF, -0.0])],
        expect={"negative": [-INF, INF, 0.0], "absolute": [INF, INF, 0.0]},
    ),
    Op(
        "unary",
        "NaN",
        [np.float32([NAN])],
        expect={"negative": [NAN], "absolute": [NAN]},
        skip={"gradient": "sign(NaN) was 0 in 1.15 and is NaN today"},
    ),
    Op(
        "augmented",
        "by hand",
        [np.float32([1, 2.5]), np.float32([3, -4])],
        expect={"before": [1, 2.5], "after": [0, 0]},
    ),
    Op("augmented", "floats", [normal("n"), normal("n")]),
    Op("augmented", "integers", [SEVENS, TWOS]),
    Program(
        "add_to_variable",
        "the sum leaves the variable alone",
        [np.float32([1, 2]), np.float32([10, 20])],
        expect={"total": [11, 22], "before": [1, 2], "after": [11, 22]},
    ),
    Program("add_to_variable", "any size", [normal("n"), normal("n")]),
    Op(
        "matrix_product",
        "by hand",
        [np.float32([[1, 2], [3, 4]]), np.float32([[5], [6]])],
        expect=[[17], [39]],
    ),
    Op("matrix_product", "any size", [normal("r", "k"), normal("k", "c")]),
    Op("matrix_product", "batches", [CUBE, CUBE.reshape(2, 4, 3)]),
    Op("matrix_product", "integers", [SEVENS.reshape(2, 2), TWOS.reshape(2, 2)]),
    Op(
        "comparisons",
        "NaN, infinities and both zeros",
        [np.float32([1, 2, NAN, INF, -0.0]), np.float32([2, 2, NAN, INF, 0])],
        expect={
            "less": [True, False, False, False, False],
            "less_equal": [True, True, False, True, True],
            "greater": [False, False, False, False, False],
            "greater_equal": [False, True, False, True, True],
            "equal": [False, True, False, True, True],
            "not_equal": [True, False, True, False, False],
        },
    ),
    Op("comparisons", "integers", [integers("r", "c"), integers("c")]),
    FalseFriend(
        "same_tensor",
        "equal values",
        [np.float32([1, 2]), np.float32([1, 2])],
        expect=False,
        naive=lambda a, b: tf.constant(a) == b,
        because="`==` compares values elementwise in TensorFlow 2",
        differs="shape",
    ),
    Op("same_tensor", "any size", [normal("n"), normal("n", 1)]),
    Op(
        "weight_decay",
        "a weight used twice",
        [[np.float32([1, 2]), np.float32([[3]])], [0, 1, 0]],
        expect=7,
    ),
    Op("weight_decay", "any size", [[normal("n"), normal("n", 2)], [1, 0, 1]]),
    Op("weight_decay", "an unused weight", [[HALVES, ROWS, HALVES / 2], [2, 0, 2]]),
    FalseFriend(
        "weight_decay",
        "two weights of one value",
        [[np.float32(2), np.float32(2)], [0, 1]],
        expect=4,
        naive=lambda weights, uses: decay_by_in(list(map(tf.constant, weights)), uses),
        because="`in` compares by `==`, so a weight of equal value counts as the same",
    ),
    Op(
        "logic",
        "truth tables",
        list(TRUE_FALSE),
        expect={
            "and": [True, False, False, False],
            "or": [True, True, True, False],
            "xor": [False, True, True, False],
            "not": [False, False, True, True],
        },
    ),
    Op("logic", "any size", [booleans("r", "c"), booleans("c")]),
    Op(
        "bits",
        "by hand",
        [np.int32([12, -1]), np.int32([10, 5])],
        expect={"and": [8, 5], "or": [14, -1], "xor": [6, -6], "not": [-13, 0]},
    ),
    Op("bits", "any size", [signed("n"), signed("n")]),
    Op("bits", "unsigned", [np.uint8([12, 255]), np.uint8([10, 5])]),
    Op("negate_if", "yes", [normal("n"), True]),
    Op("negate_if", "no", [HALVES, False]),
    Op("scale", "absent", [HALVES]),
    Op("scale", "present", [normal("n"), np.float32(3)]),
    FalseFriend(
        "scale",
        "zero",
        [np.float32([1, 2]), np.float32(0)],
        expect=[0, 0],
        naive=lambda x, factor: x * (tf.constant(factor) or 1),
        because="a zero tensor is false in eager code, so `or` takes it for absent",
    ),
    *(
        Op("rows", slug, [ROWS], bounds, expect=ROWS[slice(*bounds.values())])
        for slug, bounds in [
            ("second to last but one", {"begin": 1, "end": -1}),
            ("last two", {"begin": -2, "end": None}),
            ("beyond both ends", {"begin": -99, "end": 99}),
            ("every second", {"begin": None, "end": None, "step": 2}),
            ("backwards", {"begin": None, "end": None, "step": -1}),
            ("backwards by twos", {"begin": -1, "end": 0, "step": -2}),
        ]
    ),
    Op("rows", "none", [ROWS], {"begin": 3, "end": 1}),
    Op("rows", "by tensors", [ROWS, np.int32(1), np.int32(-1)], expect=ROWS[1:-1]),
    Op("rows", "any size", [normal("r", "c"), np.int32(1), np.int32(9), np.int32(2)]),
    Op(
        "axes",
        "by hand",
        [CUBE],
        expect={"column": CUBE[..., -1], "row": CUBE[-1, np.newaxis]},
    ),
    Op("axes", "any size", [normal("p", "r", "c")]),
    Op("axes", "a matrix", [ROWS]),
    *(
        case
        for name in ("sum_by_slices", "sum_by_unstack", "sum_by_reduction")
        for case in [
            Op(name, "by hand", [ROWS], expect=[18, 22, 26], skip=COUNTED),
            Op(name, "one row", [ROWS[:1]], expect=[0, 1, 2], skip=COUNTED),
            Op(name, "six rows", [normal(6, "c")]),
            Op(name, "500 rows", [COUNTS], expect=[124750, 249500], skip=LONG),
        ]
    ),
    *(
        Raises(
            name,
            "shapes that do not broadcast",
            [np.zeros(3, "f"), np.zeros(4, "f")],
            graph=ValueError,
            eager=INVALID,
            function=ValueError,
            match=SHAPES,
        )
        for name in ("sums", "products", "floor_division", "div", "comparisons")
    ),
    *(
        Raises(
            name,
            "shapes that do not broadcast, seen when run",
            [np.zeros(3, "f"), np.zeros(4, "f")],
            dynamic=True,
            graph=INVALID,
            eager=INVALID,
            function=INVALID,
            match=SHAPES,
        )
        for name in ("sums", "comparisons")
    ),
    *(
        Raises(
            name,
            "two dtypes",
            [np.zeros(3, "f"), np.zeros(3, "i")],
            graph=TypeError,
            eager=INVALID,
            function=TypeError,
            match="float",
        )
        for name in ("sums", "products", "floor_division", "comparisons")
    ),
    Raises(
        "sums",
        "truth values",
        list(TRUE_FALSE),
        graph=TypeError,
        eager=INVALID,
        function=TypeError,
        match="bool",
    ),
    *(
        Raises(
            name,
            "integers over zero",
            [SEVENS, TWOS * 0],
            graph=error,
            eager=error,
            function=error,
            match="[Dd]ivision by zero|only integer div and mod should have errors",
        )
        for name, error in [
            ("floor_division", INVALID),
            ("div", INVALID),
            ("truncation", tf.errors.InternalError),
        ]
    ),
    Raises(
        "unary",
        "unsigned integers",
        [np.uint8([1])],
        graph=TypeError,
        eager=INVALID,
        function=TypeError,
        match="uint8",
    ),
    Raises(
        "power",
        "integers to a negative power",
        [np.int32([2]), np.int32([-1])],
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match="negative integer powers",
    ),
    Raises(
        "sums",
        "a fraction before integers",
        [1.5, np.int32([1, 2])],
        graph=TypeError,
        eager=TypeError,
        function=TypeError,
        match="int32",
    ),
    Raises(
        "matrix_product",
        "inner sizes that differ",
        [np.zeros([2, 3], "f"), np.zeros([2, 3], "f")],
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="Matrix size-incompatible|must be equal",
    ),
    Raises(
        "matrix_product",
        "vectors",
        [np.zeros(3, "f"), np.zeros(3, "f")],
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="rank 2|ndims must be",
    ),
    Raises(
        "comparisons",
        "truth values have no order",
        list(TRUE_FALSE),
        graph=TypeError,
        eager=INVALID,
        function=TypeError,
        match="bool",
    ),
    Raises(
        "logic",
        "floats",
        [np.zeros(3, "f"), np.zeros(3, "f")],
        graph=TypeError,
        eager=INVALID,
        function=TypeError,
        match="float",
    ),
    Raises(
        "logic",
        "integers, whose bits are meant today",
        [SEVENS, TWOS],
        genuine=TypeError,
        match="LogicalAnd",
    ),
    Raises(
        "bits",
        "floats",
        [np.zeros(3, "f"), np.zeros(3, "f")],
        graph=TypeError,
        eager=INVALID,
        function=TypeError,
        match="float",
    ),
    Raises(
        "negate_if",
        "a tensor as condition",
        [np.ones(3, "f"), np.bool_(True)],
        graph=NO_TRUTH,
        match="as a Python `bool` is not allowed",
        expect=[-1, -1, -1],
    ),
    Raises(
        "rows",
        "a fraction as bound",
        [ROWS, 1.5],
        graph=TypeError,
        eager=TypeError,
        function=TypeError,
        match="valid indices|allowed values",
    ),
    Raises(
        "rows",
        "a step of zero",
        [ROWS],
        {"step": 0},
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="must be non-zero",
    ),
    Raises(
        "axes",
        "no rows",
        [np.zeros([0, 2], "f")],
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="out of bounds",
    ),
    Raises(
        "axes",
        "a vector",
        [np.zeros([], "f")],
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="Too many indices|scalar|index out of range|only 0 dims",
    ),
    Raises(
        "sum_by_slices",
        "an unknown number of rows",
        [ROWS],
        dynamic=True,
        graph=TypeError,
        function=TypeError,
        match="NoneType",
        skip={"eager": "an eager tensor has a number of rows"},
    ),
    Raises(
        "sum_by_unstack",
        "an unknown number of rows",
        [ROWS],
        dynamic=True,
        graph=ValueError,
        function=ValueError,
        match="infer",
        skip={"eager": "an eager tensor has a number of rows"},
    ),
]
PROOF = proof(v1, v2, CASES)


class OperatorsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


TRUTHS = [
    ("bool", lambda x: bool(x)),
    ("and", lambda x: x and x),
    ("not", lambda x: not x),
    ("chained comparison", lambda x: 0 < x < 2),
    ("conditional expression", lambda x: 1 if x > 0 else 2),
]
MISSING = [
    ("unary plus", lambda x: +x),
    ("round", lambda x: round(x)),
    ("divmod", lambda x: divmod(x, 2)),
    ("shift", lambda x: x << 1),
    ("item assignment", lambda x: x.__setitem__(0, 1)),
]


class PythonFormsTest(unittest.TestCase):
    @parameterized.expand(TRUTHS)
    def test_truth_needs_a_value(self, _, form):
        with legacy(), self.assertRaisesRegex(TypeError, "as a Python `bool`"):
            form(tf1.placeholder("float32", []))
        form(tf.constant(1.0))
        with self.assertRaisesRegex(ValueError, "ambiguous"):
            form(tf.constant([1.0, 0.0]))

    @parameterized.expand(MISSING)
    def test_operator_is_missing(self, _, form):
        with legacy(), self.assertRaises((TypeError, AttributeError)):
            form(tf1.placeholder("int32", [3]))
        with self.assertRaises((TypeError, AttributeError)):
            form(tf.constant([1, 2, 3]))

    def test_numbers_are_converted_to_the_dtype_of_the_tensor(self):
        # A Python fraction is refused, NumPy's is truncated silently.
        with legacy(), tf1.Session() as sess:
            product = sess.run(tf1.constant([1, 2]) * np.float32(1.5))
        np.testing.assert_array_equal(product, [1, 2])
        np.testing.assert_array_equal(tf.constant([1, 2]) * np.float32(1.5), [1, 2])
        total = np.float64([1, 2]) + tf.constant([1.0, 2.0])
        self.assertIs(total.dtype, tf.float32)

    def test_what_div_takes_is_a_tensor_by_then(self):
        for args in [(SEVENS, TWOS), (7, 2), ([7, -7], 2), (HALVES, np.float32(2))]:
            with legacy(), tf1.Session() as sess:
                left = sess.run(v1.div(*args))
            right = v2.div(*args).numpy()
            self.assertEqual(right.dtype, left.dtype)
            np.testing.assert_array_equal(right, left)

    def test_equality_with_what_is_no_tensor(self):
        with legacy():
            symbolic = tf1.constant([1, 2])
            self.assertIs(symbolic == [1, 2], False)
            self.assertIs(symbolic == symbolic, True)
            self.assertIs(symbolic != None, True)  # noqa: E711
        tensor = tf.constant([1, 2])
        np.testing.assert_array_equal(tensor == [1, 2], [True, True])
        self.assertIs(tensor == None, False)  # noqa: E711

    def test_equality_of_shapes_that_differ_is_no_error(self):
        a, b = tf.constant([1, 2]), tf.constant([1, 2, 3])
        np.testing.assert_array_equal(a == b, False)
        np.testing.assert_array_equal(a != b, True)

    def test_tensors_as_keys(self):
        with legacy():
            a, b = tf1.constant(1), tf1.constant(1)
            self.assertEqual({a: "a", b: "b"}[b], "b")
        a, b = tf.constant(1), tf.constant(1)
        with self.assertRaisesRegex(TypeError, "unhashable"):
            dict.fromkeys([a])
        self.assertEqual({a.ref(): "a", b.ref(): "b"}[b.ref()], "b")
        self.assertIn(a, [b])  # by value; in TensorFlow 1 by identity

    def test_one_tensor_by_two_names(self):
        with legacy():
            a = tf1.constant([1, 2])
            self.assertIs(v1.same_tensor(a, a), True)
        a = tf.constant([1, 2])
        self.assertIs(v2.same_tensor(a, a), True)

    def test_augmented_addition_to_a_variable(self):
        variable = tf.Variable(1.0)
        with self.assertRaisesRegex(RuntimeError, "assign_add"):
            variable += 1.0

    def test_the_three_sums_are_one(self):
        rows = tf.constant(COUNTS[:40] / 8)
        sums = [
            form(rows).numpy()
            for form in (v2.sum_by_slices, v2.sum_by_unstack, v2.sum_by_reduction)
        ]
        np.testing.assert_array_equal(sums, [[97.5, 195.0]] * 3)
