import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from tf1to2.parity import (
    FalseFriend,
    Op,
    Program,
    Raises,
    booleans,
    integers,
    normal,
)
from tf1to2.parity.v1 import legacy
from v1_graph import tensors as v1
from v2_eager import tensors as v2

INVALID = tf.errors.InvalidArgumentError
ONE_TO_FIVE = np.int32([1, 2, 3, 4, 5])
MATRIX = np.int32([[1, 2, 3], [4, 5, 6]])
A, B = np.int32([[1, 2], [3, 4]]), np.int32([[-1, -2], [-3, -4]])
PLACES = np.int64([[0, 1], [1, 0], [2, 2]])
SQUARE = np.int64([3, 3])
TEXT = {"xla": "strings do not compile"}
LENGTHS = np.int32([2, 0, 3])
RANDOM = np.random.RandomState(0)
SCATTERED = np.argwhere(RANDOM.rand(64, 64) < 0.25)
SEVENTY = RANDOM.multinomial(1000, np.full(70, 1 / 70)).astype("i")
RAGGED = {"xla": "the shape of the result, or of a step towards it, is a value"}
LOWEST = np.finfo("f").min
POINTS = RANDOM.normal(size=[67, 3]).astype("f")
SEGMENT_IDS = np.sort(RANDOM.randint(0, 30, 67)).astype("i4")
SEGMENTS = {
    "xla": "segment_max does not compile: as many rows as the last id says",
    "gradient": "four answers lead to a row: their sum has another order",
}
MANY = np.argwhere(RANDOM.rand(4, 64, 64) < 0.0625)  # (matrix, row, column)
SPARSE = {"xla": "this sparse op does not compile"}

CASES = [
    Op(
        "pool_segments",
        "an empty one",
        [np.float32([7, -2, 5]), np.int32([0, 2, 2]), 4],
        expect={
            "max": [7, LOWEST, 5, LOWEST],
            "min": [7, -LOWEST, -2, -LOWEST],
            "sorted max": [7, 0, 5],
            "max or 0": [7, 0, 5, 0],
        },
        exact=True,
        skip=SEGMENTS,
    ),
    Op(
        "pool_segments",
        "67 rows",
        [POINTS, SEGMENT_IDS, 32],
        exact=True,
        skip=SEGMENTS,
    ),
    Raises(
        "set_item",
        "a tensor",
        [ONE_TO_FIVE, 1, 200],
        graph=TypeError,
        eager=TypeError,
        function=TypeError,
        match="does not support item assignment",
    ),
    Program(
        "set_item",
        "a list",
        [[1, 2, 3], 1, 200],
        expect=[1, 200, 3],
        skip={"function": PLAIN},
    ),
    Op(
        "update_where",
        "the classic",
        [ONE_TO_FIVE, np.array([0, 1, 0, 1, 0], bool), np.int32(0)],
        expect=[1, 0, 3, 0, 5],
    ),
    Op(
        "update_where",
        "NaN and infinity",
        [np.float32([1, np.nan, -np.inf]), np.array([0, 1, 1], bool), np.float32(-0.0)],
        expect=[1, -0.0, -0.0],
    ),
    Op("update_where", "any size", [normal("r", "c"), booleans("r", "c"), normal()]),
    Op(
        "update_at",
        "the classic",
        [ONE_TO_FIVE, np.int32([1, 3]), np.int32([200, 400])],
        expect=[1, 200, 3, 400, 5],
    ),
    Op("update_at", "rows", [normal(4, "c"), np.int32([3, 0]), normal(2, "c")]),
    Op("update_at", "none", [normal(3), np.zeros([0], "i"), np.zeros([0], "f")]),
    Raises(
        "update_at",
        "a position outside",
        [ONE_TO_FIVE, np.int32([5]), np.int32([200])],
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match="does not index into shape",
    ),
    Raises(
        "update_at",
        "values of another dtype",
        [ONE_TO_FIVE, np.int32([1]), np.float32([0.5])],
        graph=TypeError,
        eager=INVALID,
        function=TypeError,
        match="float",
    ),
    Op("take", "the classic", [ONE_TO_FIVE, np.int32([1, 4])], expect=[2, 5]),
    Op("take", "rows, twice", [normal(3, "c"), np.int32([2, 0, 2])]),
    Op("take", "columns", [normal(3, 4), np.int32([3, 0])], {"axis": 1}),
    Raises(
        "take",
        "the last one, as NumPy counts",
        [ONE_TO_FIVE, np.int32([-1])],
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match=r"-1 is not in \[0, 5\)",
    ),
    Op("index_by_list", "one element of a matrix", [MATRIX, [1, 2]], expect=6),
    Op("index_by_list", "a row", [MATRIX, [-1]], expect=[4, 5, 6]),
    Op("index_by_list", "any size", [normal("r", "c"), [-1]]),
    Raises(
        "index_by_list",
        "two positions of a vector",
        [ONE_TO_FIVE, [1, 4]],
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="Index out of range using input dim 1|too many indices",
    ),
    Raises(
        "index_by_list",
        "a character of a text",
        [np.array("abc"), 1],
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="Index out of range|Attempting to slice scalar",
    ),
    Op(
        "take_pairs",
        "two of a matrix",
        [MATRIX, np.int32([1, 0]), np.int32([0, 2])],
        expect=[4, 3],
    ),
    Op(
        "take_pairs",
        "any size",
        [normal(3, 4), integers("k", high=3), integers("k", high=4)],
    ),
    Op(
        "take_per_row",
        "one each",
        [MATRIX, np.int32([[2], [0]])],
        expect=[[3], [4]],
    ),
    Op("take_per_row", "any size", [normal("r", 5), integers("r", "k", high=5)]),
    FalseFriend(
        "choose_rows",
        "a square matrix",
        [np.array([True, False]), A, B],
        expect=[[1, 2], [-3, -4]],
        naive=tf.where,
        because="a vector broadcasts along the last axis and chooses columns",
    ),
    FalseFriend(
        "choose_rows",
        "a single column",
        [np.array([True, False, True]), A[:1, :1] + A[[0, 1, 1], :1], B[[0, 1, 1], :1]],
        naive=tf.where,
        because="a vector and a column broadcast to a matrix",
        differs="shape",
    ),
    Op("choose_rows", "any size", [booleans("r"), normal("r", "c"), normal("r", "c")]),
    Raises(
        "choose_rows",
        "a condition for other rows, seen when run",
        [np.array([True, False, True]), A, B],
        dynamic=True,
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match="must be|[Ii]ncompatible|must match size",
    ),
    Raises(
        "choose_rows",
        "a condition for other rows",
        [np.array([True, False, True]), A, B],
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="must be equal|must be broadcastable|[Ii]ncompatible",
    ),
    *[
        Program(
            "convert", slug, [value], expect=(value, dtype), skip={"function": PLAIN}
        )
        for slug, value, dtype in [
            ("an int", 3, "int32"),
            ("an int of 32 bits", 2**31, "int64"),
            ("a float", 1.5, "float32"),
            ("ints and floats", [1, 2.5], "float32"),
            ("truth", True, "bool"),
            ("a matrix", [[1, 2], [3, 4]], "int32"),
            ("no numbers", [], "float32"),
            ("a double", np.float64(1.5), "float64"),
            ("an array of doubles", np.float64([1.5, -0.0]), "float64"),
            ("an array of ints", np.arange(3), "int64"),
            ("an array of bytes", np.uint8([255]), "uint8"),
            ("an array of halves", np.float16([0.5]), "float16"),
            ("text", b"abc", "string"),
        ]
    ],
    Program("convert", "text, encoded", ["ä"], skip={"function": PLAIN}),
    Program("convert", "a list of text", [["a", "bcd"]], skip={"function": PLAIN}),
    Program(
        "convert",
        "a dtype",
        [3, "float64"],
        expect=(3, "float64"),
        skip={"function": PLAIN},
    ),
    Program(
        "convert",
        "an array, narrowed",
        [np.float64([0.1])],
        {"dtype": "float32"},
        expect=([0.1], "float32"),
        skip={"function": PLAIN},
    ),
    Raises(
        "convert",
        "lists of two lengths",
        [[[1, 2], [3]]],
        of="program",
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="dense tensor|inhomogeneous|non-rectangular",
    ),
    Raises(
        "convert",
        "a float for an int",
        [1.5, "int32"],
        of="program",
        graph=TypeError,
        eager=TypeError,
        function=TypeError,
        match="int32",
    ),
    Raises(
        "convert",
        "text for a number",
        ["abc", "float32"],
        of="program",
        graph=TypeError,
        eager=TypeError,
        function=TypeError,
        match="Expected float32|Cannot convert",
    ),
    Raises(
        "convert",
        "nothing",
        [None],
        of="program",
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="None",
    ),
    Op(
        "cast",
        "fractions, and more than a byte",
        [np.float32([1.75, -1.75, 255.5, 300, -0.0])],
        expect={
            "float": [1.75, -1.75, 255.5, 300, -0.0],
            "double": [1.75, -1.75, 255.5, 300, -0.0],
            "int": [1, -1, 255, 300, 0],
            "long": [1, -1, 255, 300, 0],
            "byte": [1, 0, 255, 255, 0],
        },
    ),
    Op("cast", "truth values", [booleans("n")]),
    Op("cast", "integers past 2 ** 24", [np.int64([2**24 + 1, -1, 2**40 + 1])]),
    FalseFriend(
        "cast",
        "a byte that wraps around",
        [np.int32([-1, 256, 300])],
        naive=lambda x: {**v2.cast(x), "byte": tf.cast(x, tf.uint8)},
        because="tf.cast keeps the last eight bits: 255, 0, 44",
    ),
    Op("fill", "the classic", [[1, 2, 3], [2, 2]], expect=[[1, 2], [3, 3]]),
    Op("fill", "one value", [[0.5], [2, 3]], expect=[[0.5] * 3] * 2),
    Op("fill", "a tuple", [(1, 2), [3]], expect=[1, 2, 2]),
    Op("fill", "as many as needed", [[1, 2, 3, 4], [2, 2]], expect=[[1, 2], [3, 4]]),
    Op(
        "text_lengths",
        "an umlaut",
        [np.array(["äb", "", "abc"])],
        skip=TEXT,
        expect=([3, 0, 3], [2, 0, 3]),
    ),
    Op(
        "split_words",
        "no separators",
        [np.array(["abc", "", "é"])],
        {"separators": ""},
        skip=TEXT,
        expect=[[b"a", b"b", b"c"], [b"", b"", b""], [b"\xc3", b"\xa9", b""]],
    ),
    FalseFriend(
        "split_words",
        "two spaces",
        [np.array(["a  bc", "", " d\te"])],
        skip=TEXT,
        expect=[[b"a", b"bc"], [b"", b""], [b"d\te", b""]],
        naive=lambda texts: tf.strings.split(texts, " ").to_tensor(),
        because="a separator that is given keeps the empty words",
        differs="shape",
    ),
    FalseFriend(
        "split_words",
        "a tab",
        [np.array(["a b\tc"])],
        skip=TEXT,
        naive=lambda texts: tf.strings.split(texts).to_tensor(),
        because="without a separator, any white space separates",
        differs="shape",
    ),
    FalseFriend(
        "split_words",
        "a comma, a hyphen, a bracket",
        [np.array(["a,b-c]d", "e,-f"])],
        {"separators": ",-]"},
        skip=TEXT,
        expect=[[b"a", b"b", b"c", b"d"], [b"e", b"f", b"", b""]],
        naive=lambda texts, separators: tf.strings.split(texts, separators).to_tensor(),
        because="the separator is one text, not a set of characters",
        differs="shape",
    ),
    Op(
        "row_sums",
        "an empty row",
        [np.float32([1, 2, 3, 4, 5]), LENGTHS],
        skip=RAGGED,
        expect=[3, 0, 12],
    ),
    Raises(
        "pad_rows",
        "lengths that do not add up",
        [np.int32([1, 2, 3, 4]), LENGTHS],
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match="must match|do not form a valid RaggedTensor|Must have updates.shape",
    ),
    Op("row_sums", "any numbers", [normal(10), np.int32([1, 4, 5])], skip=RAGGED),
    Op("row_sums", "seventy rows", [normal(1000), SEVENTY], skip=RAGGED),
    Op("pad_rows", "seventy rows", [normal(1000), SEVENTY], skip=RAGGED),
    Op(
        "pad_rows",
        "an empty row",
        [np.int32([1, 2, 3, 4, 5]), LENGTHS],
        skip=RAGGED,
        expect=[[1, 2, 0], [0, 0, 0], [3, 4, 5]],
    ),
    Op(
        "pad_rows",
        "padded by -1",
        [normal(5), LENGTHS],
        {"padding": -1},
        skip=RAGGED,
    ),
    Op(
        "to_dense",
        "in order",
        [PLACES, np.int32([7, 8, 9]), SQUARE],
        expect=[[0, 7, 0], [8, 0, 0], [0, 0, 9]],
    ),
    Op(
        "to_dense",
        "put in order",
        [PLACES[::-1], normal(3), SQUARE],
        {"ordered": False},
        skip=SPARSE,
    ),
    Op(
        "to_dense",
        "a thousand of 64 by 64",
        [SCATTERED, normal(len(SCATTERED)), np.int64([64, 64])],
        skip=SPARSE,
    ),
    Raises(
        "to_dense",
        "out of order",
        [PLACES[::-1], np.int32([9, 8, 7]), SQUARE],
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match="out of order",
    ),
    Raises(
        "to_dense",
        "out of bounds",
        [PLACES, np.int32([7, 8, 9]), np.int64([3, 2])],
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match="out of bounds",
    ),
    Op(
        "multiply_sparse",
        "out of order",
        [PLACES[::-1], np.float32([3, 2, 1]), np.float32([[1], [2], [3]])],
        skip=SPARSE,
        expect=[[2], [2], [9]],
    ),
    Op(
        "multiply_sparse", "any width", [PLACES, normal(3), normal(3, "m")], skip=SPARSE
    ),
    Op(
        "multiply_sparse",
        "a thousand of 64 by 64",
        [SCATTERED, normal(len(SCATTERED)), normal(64, 33)],
        skip=SPARSE,
    ),
    Op(
        "multiply_sparse_batch",
        "two matrices",
        [
            np.int64([[0, 0, 1], [1, 1, 0]]),
            np.float32([2, 3]),
            np.float32([[[1], [2]], [[3], [4]]]),
        ],
        skip=SPARSE,
        expect=[[[4], [0]], [[0], [9]]],
    ),
    Op(
        "multiply_sparse_batch",
        "any width",
        [np.insert(PLACES, 0, [0, 2, 1], 1), normal(3), normal(3, 3, "m")],
        skip=SPARSE,
    ),
    Op(
        "multiply_sparse_batch",
        "four of 64 by 64",
        [MANY, normal(len(MANY)), normal(4, 64, 33)],
        skip=SPARSE,
    ),
    Program(
        "drop_sparse",
        "three of four",
        [SCATTERED, np.float32(np.arange(1, 1 + len(SCATTERED))), (64, 64), 0.75, 7],
        skip={"function": PLAIN},
    ),
    Program(
        "drop_sparse",
        "all are kept",
        [PLACES, np.float32([1, 2, 3]), (3, 3), 1.0, 7],
        skip={"function": PLAIN},
    ),
]
PROOF = proof(v1, v2, CASES)


class TensorsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class ImmutabilityTest(unittest.TestCase):
    def test_autograph_does_not_rewrite_the_assignment(self):
        with self.assertRaisesRegex(TypeError, "does not support item assignment"):
            tf.function(v2.set_item)(tf.constant([1, 2]), 0, 7)

    def test_an_augmented_assignment_makes_a_new_tensor(self):
        x = old = tf.constant([1, 2])
        x += 1
        np.testing.assert_array_equal(old, [1, 2])
        np.testing.assert_array_equal(x, [2, 3])

    def test_numpy_hands_back_a_copy(self):
        x = tf.constant([1, 2])
        array = x.numpy()
        array[0] = 7
        np.testing.assert_array_equal(x, [1, 2])

    def test_a_constant_is_a_copy_of_its_array(self):
        array = np.int32([1, 2])
        x = tf.constant(array)
        array[0] = 7
        np.testing.assert_array_equal(x, [1, 2])

    def test_a_mask_that_multiplies_keeps_what_it_should_hide(self):
        x, mask = tf.constant([1.0, np.nan, np.inf]), tf.constant([False, True, True])
        keep = 1 - tf.cast(mask, x.dtype)
        np.testing.assert_array_equal(x * keep, [1, np.nan, np.nan])
        np.testing.assert_array_equal(v2.update_where(x, mask, 0.0), [1, 0, 0])

    @parameterized.expand(["name", "op", "graph"])
    def test_only_a_graph_knows_the_tensor_by(self, attribute):
        x = tf.constant([1, 2])
        with self.assertRaisesRegex(AttributeError, "eager execution is enabled"):
            getattr(x, attribute)
        with legacy():
            self.assertTrue(getattr(v1.tf.constant([1, 2]), attribute))


class SplitTest(unittest.TestCase):
    @parameterized.expand(["\\,", "\\", ",\\"])
    def test_a_backslash_separates_as_others_do(self, separators):
        texts = [b"a\\b,c", b"d"]
        with legacy(), tf.compat.v1.Session() as sess:
            left = sess.run(v1.split_words(tf.constant(texts), separators))
        right = v2.split_words(tf.constant(texts), separators)
        np.testing.assert_array_equal(right, left)


class ConversionTest(unittest.TestCase):
    @parameterized.expand([("float64", "d"), ("float32", "f"), ("int64", "i8")])
    def test_an_array_is_filled_up_like_a_list(self, _, dtype):
        array = np.array([[1, 3]], dtype)
        with legacy(), v1.tf.Session() as sess:
            expected = sess.run(v1.fill(array, [2, 2]))
        for fill in (v2.fill, lambda *a: tf.function(lambda: v2.fill(*a))()):
            filled = fill(array, [2, 2]).numpy()
            self.assertEqual(filled.dtype, expected.dtype)
            np.testing.assert_array_equal(filled, expected)
        with self.assertRaises((ValueError, tf.errors.InvalidArgumentError)):
            v2.fill(array, [1])

    def test_of_a_tensor_is_the_tensor(self):
        x = tf.constant([1.0])
        self.assertIs(tf.convert_to_tensor(x), x)
        with legacy():
            x = v1.tf.placeholder(v1.tf.float32, [None])
            self.assertIs(v1.tf.convert_to_tensor(x), x)

    def test_never_casts_a_tensor(self):
        with self.assertRaisesRegex(ValueError, "conversion requested dtype float64"):
            tf.convert_to_tensor(tf.constant(1.0), tf.float64)

    def test_a_constant_of_a_tensor_was_an_error(self):
        with legacy(), self.assertRaises(TypeError):
            v1.tf.constant(v1.tf.ones([2]))
        np.testing.assert_array_equal(tf.constant(tf.ones([2])), [1, 1])

    def test_an_array_may_lose_its_fractions_where_a_list_may_not(self):
        converted = tf.convert_to_tensor(np.float64([1.5, -1.5]), tf.int32)
        np.testing.assert_array_equal(converted, [1, -1])
        with self.assertRaises(TypeError):
            tf.convert_to_tensor([1.5, -1.5], tf.int32)

    def test_doubles_in_a_list_are_floats_in_a_graph_only(self):
        doubles = [np.float64(1.5)]
        with legacy():
            self.assertEqual(v1.convert(doubles)[1], "float32")
        self.assertEqual(v2.convert(doubles)[1], "float64")
        traced = tf.function(lambda: tf.convert_to_tensor(doubles))
        self.assertEqual(traced().dtype, tf.float32)

    def test_a_constant_is_no_longer_padded(self):
        with self.assertRaisesRegex(TypeError, "Eager execution of tf.constant"):
            tf.constant([1, 2, 3], shape=[2, 2])


class IndexTest(unittest.TestCase):
    def test_a_list_picks_rows_in_numpy_and_an_element_here(self):
        np.testing.assert_array_equal(MATRIX[[1, 0]], [[4, 5, 6], [1, 2, 3]])
        np.testing.assert_array_equal(tf.constant(MATRIX)[[1, 0]], 4)

    def test_a_vector_in_where_broadcasts(self):
        condition = tf.constant([True, False])
        chosen = tf.where(condition, A, B)
        np.testing.assert_array_equal(chosen, [[1, -2], [3, -4]])
        column = tf.where(condition, A[:, :1], B[:, :1])
        np.testing.assert_array_equal(column, [[1, -1], [3, -3]])


class RaggedTest(unittest.TestCase):
    ROWS = [[1, 2], [], [3]]

    def test_a_ragged_constant_where_a_constant_is_refused(self):
        with self.assertRaisesRegex(ValueError, "non-rectangular"):
            tf.constant(self.ROWS)
        ragged = tf.ragged.constant(self.ROWS)
        self.assertEqual(ragged.to_list(), self.ROWS)
        self.assertEqual(ragged.shape.as_list(), [3, None])
        np.testing.assert_array_equal(ragged.row_lengths(), [2, 0, 1])

    def test_the_same_constant_in_a_session(self):
        with legacy(), v1.tf.Session() as sess:
            ragged = sess.run(v1.tf.ragged.constant(self.ROWS))
        self.assertEqual(ragged.to_list(), self.ROWS)
