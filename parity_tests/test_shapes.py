import contextlib
import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import FalseFriend, Op, Program, Raises, integers, normal
from tf1to2.parity.v1 import legacy
from v1_graph import shapes as v1
from v2_eager import shapes as v2

INVALID = tf.errors.InvalidArgumentError
ROWS = np.float32([[1, 2, 3], [4, 5, 6]])
BATCH = np.arange(8, dtype=np.float32).reshape(2, 4)
CUBE = np.arange(2 * 10 * 32, dtype=np.float32).reshape(2, 10, 32)
EAGER = {"eager": "an eager tensor has no unknown dimension"}
TENSORS = {"dynamic": "the sizes are tensors there: see test_get_shape"}
COUNTS = "(Cannot reshape a tensor with 6 elements|reshape is a tensor with 6 values)"

CASES = [
    Program(
        "static_and_dynamic",
        "a later hint takes nothing back",
        [np.zeros([32, 128], np.float32), [None, 128], [[32, 128], [None, 128]]],
        expect={"static": [[None, 128], [32, 128], [32, 128]], "dynamic": [32, 128]},
        skip=EAGER,
    ),
    Program(
        "static_and_dynamic",
        "unknown batch",
        [np.zeros([7, 128], np.float32), [None, 128]],
        expect={"static": [[None, 128]], "dynamic": [7, 128]},
        skip=EAGER,
    ),
    Program(
        "static_and_dynamic",
        "hints that add up",
        [CUBE, [None, None, None], [[None, 10, None], [2, None, None]]],
        expect={
            "static": [[None, None, None], [None, 10, None], [2, 10, None]],
            "dynamic": [2, 10, 32],
        },
        skip=EAGER,
    ),
    Program(
        "static_and_dynamic",
        "no rows",
        [np.zeros([0, 3], np.int32), [None, 3], [[None, None]]],
        expect={"static": [[None, 3], [None, 3]], "dynamic": [0, 3]},
        skip=EAGER,
    ),
    Raises(
        "static_and_dynamic",
        "a hint that contradicts",
        [BATCH, [None, 4], [[2, 5]]],
        of="program",
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="must be equal, but are 4 and 5|not compatible with supplied shape",
    ),
    Raises(
        "static_and_dynamic",
        "an unknown rank",
        [BATCH, None],
        of="program",
        graph=ValueError,
        function=ValueError,
        match=r"as_list\(\) is not defined on an unknown TensorShape",
        skip={"eager": "an eager tensor has a rank"},
    ),
    Raises(
        "static_and_dynamic",
        "a broken promise, which a call does not notice",
        [BATCH, [None, 4], [[32, 4]]],
        of="program",
        graph=ValueError,
        eager=ValueError,
        function=None,
        match="Cannot feed value of shape|not compatible with supplied shape",
        expect={"static": [[None, 4], [32, 4]], "dynamic": [2, 4]},
    ),
    Op("promise_shape", "any size", [normal("n", 3)], {"shape": [None, 3]}),
    Op("promise_shape", "nothing", [normal("n", 3)], {"shape": None}),
    Op("promise_shape", "all", [ROWS], {"shape": [2, 3]}, expect=ROWS),
    Op("check_shape", "any size", [normal("n", 3)], {"shape": [None, 3]}),
    Op("check_shape", "all", [ROWS], {"shape": [2, 3]}, expect=ROWS),
    Op("impose_shape", "row by row", [ROWS, [3, 2]], expect=[[1, 2], [3, 4], [5, 6]]),
    Op("impose_shape", "a column", [normal("n"), [-1, 1]]),
    Op("impose_shape", "the rest", [normal("n", 4), [2, -1]]),
    Op("impose_shape", "flat", [integers("r", "c"), [-1]]),
    Op("impose_shape", "a scalar", [np.float32([[5]]), []], expect=5),
    Op(
        "impose_shape",
        "a fixed batch",
        [normal("n", 128), [32, 128]],
        sizes=[{"n": 32}],
        skip={"generated": "32 rows it must be"},
    ),
    *[
        Raises(
            name,
            f"another shape, {'seen when run' if dynamic else 'known'}",
            [np.zeros([2, 3], np.float32)],
            {"shape": [3, 3]},
            dynamic=dynamic,
            graph=INVALID if dynamic else ValueError,
            eager=INVALID,
            function=INVALID if dynamic else ValueError,
            match="are 3 and 2|are 2 and 3|with expected shape|" + COUNTS,
        )
        for name in ("check_shape", "impose_shape")
        for dynamic in (False, True)
    ],
    Raises(
        "check_shape",
        "an unknown rank",
        [np.zeros([2, 3], np.float32)],
        {"shape": None},
        graph=ValueError,
        function=ValueError,
        skip={"eager": "an eager tensor has a rank"},
        match="Shape must be rank -1 but is rank 2",
    ),
    Raises(
        "promise_shape",
        "another shape, known",
        [np.zeros([2, 3], np.float32)],
        {"shape": [3, 3]},
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="are 2 and 3|are 3 and 2|not compatible with supplied shape",
    ),
    Raises(
        "promise_shape",
        "another shape, which a graph does not notice",
        [np.zeros([2, 3], np.float32)],
        {"shape": [3, 3]},
        dynamic=True,
        graph=None,
        eager=ValueError,
        function=None,
        match="are 2 and 3|are 3 and 2|not compatible with supplied shape",
    ),
    Op("get_shape", "all known", [CUBE], expect=[2, 10, 32], skip=TENSORS),
    Op("get_shape", "any size", [normal("n", 4, "m")], skip=TENSORS),
    Op("get_shape", "no rows", [np.zeros([0, 3])], expect=[0, 3], skip=TENSORS),
    Op("reshape", "the classic", [CUBE, [0, [1, 2]]], expect=CUBE.reshape(2, 320)),
    Op("reshape", "last axes", [normal("n", 4, 5), [0, [1, 2]]]),
    Op("reshape", "first axes", [normal("n", 4, 5), [[0, 1], 2]]),
    Op("reshape", "unknown axes", [normal("n", "m", 5), [[0, 1], 2]]),
    Op("reshape", "two groups", [normal("n", 2, "m", 3), [[0, 1], [2, 3]]]),
    Op("reshape", "axes apart", [normal(2, "n", 3), [[0, 2], 1]]),
    Op("reshape", "flat", [normal("n", "m", 2), [[0, 1, 2]]]),
    Op("reshape", "from the end", [integers("n", 4, 5), [[-3, -2], -1]]),
    Op("reshape", "a new size", [normal("n", 3), [0, [], 1]]),
    Op("reshape", "a scalar", [np.float32(5), [[]]], expect=[5]),
    Op(
        "reshape",
        "does not transpose",
        [ROWS, [1, 0]],
        expect=[[1, 2], [3, 4], [5, 6]],
    ),
    Raises(
        "reshape",
        "an axis is left out",
        [np.zeros([2, 3], np.float32), [0]],
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match=COUNTS,
    ),
    Raises(
        "reshape",
        "an axis is left out, seen when run",
        [np.zeros([2, 3], np.float32), [0]],
        dynamic=True,
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match=COUNTS,
    ),
    Raises(
        "reshape",
        "no such axis",
        [np.zeros([2, 3], np.float32), [0, 2]],
        graph=IndexError,
        eager=IndexError,
        match="list index out of range",
        skip={"function": "AutoGraph wraps it in an exception that has no public name"},
    ),
    *[
        Program(
            "reshape_unknown",
            slug,
            [CUBE, spec, groups],
            expect=(static, CUBE.reshape(shape)),
        )
        for slug, spec, groups, static, shape in [
            ("last axes", [None, 10, 32], [0, [1, 2]], [None, 320], [2, 320]),
            ("first axes", [None, 10, 32], [[0, 1], 2], [None, 32], [20, 32]),
            ("all unknown", [None] * 3, [0, [1, 2]], [None, None], [2, 320]),
            ("last unknown", [2, 10, None], [[0, 1], 2], [20, None], [20, 32]),
            ("middle unknown", [2, None, 32], [[0, 2], 1], [64, None], [64, 10]),
            ("known", [2, 10, 32], [[0, 1, 2]], [640], [640]),
            (
                "a new size",
                [None, 10, 32],
                [[0, 1], [], 2],
                [None, 1, 32],
                [20, 1, 32],
            ),
        ]
    ],
    Program(
        "reshape_unknown",
        "no rows",
        [np.zeros([0, 4, 5], np.float32), [None, 4, None], [[0, 1], 2]],
        expect=([None, None], np.zeros([0, 5])),
    ),
    Raises(
        "reshape_unknown",
        "an unknown rank",
        [CUBE, None, [[0, 1], 2]],
        of="program",
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match=r"as_list\(\) is not defined on an unknown TensorShape",
    ),
    Op(
        "describe_shapes",
        "what the two know adds up",
        [[2, None], [None, 3]],
        expect={
            "rank": 2,
            "size": None,
            "known": False,
            "compatible": True,
            "joined": [2, None, None, 3],
            "common": [None, None],
            "merged": [2, 3],
        },
    ),
    Op(
        "describe_shapes",
        "not compatible",
        [[2, 3], [2, 4]],
        expect={
            "rank": 2,
            "size": 6,
            "known": True,
            "compatible": False,
            "joined": [2, 3, 2, 4],
            "common": [2, None],
            "merged": None,
        },
    ),
    Op(
        "describe_shapes",
        "unknown rank",
        [None, [2]],
        expect={
            "rank": None,
            "size": None,
            "known": False,
            "compatible": True,
            "joined": None,
            "common": None,
            "merged": [2],
        },
    ),
    Op(
        "describe_shapes",
        "a scalar and an empty shape",
        [[], [0, 3]],
        expect={
            "rank": 0,
            "size": 1,
            "known": True,
            "compatible": False,
            "joined": [0, 3],
            "common": None,
            "merged": None,
        },
    ),
    *[
        Op("describe_shapes", slug, [shape, other])
        for slug, shape, other in [
            ("both unknown ranks", None, None),
            ("no elements", [0, 3], [0, None]),
            ("unknown beside none", [0, None], [None, 3]),
            ("other ranks", [2], [2, 1]),
        ]
    ],
    *[
        Op(
            "compare_sizes",
            slug,
            [size, other],
            expect=dict(zip(["equal", "different", "less", "at_least"], answers)),
        )
        for slug, size, other, answers in [
            ("equal", 3, 3, [True, False, False, True]),
            ("less", 3, 4, [False, True, True, False]),
            ("more", 4, 3, [False, True, False, True]),
            ("nothing", 0, 1, [False, True, True, False]),
            ("the first is unknown", None, 3, [None] * 4),
            ("the second is unknown", 3, None, [None] * 4),
        ]
    ],
    FalseFriend(
        "compare_sizes",
        "both are unknown",
        [None, None],
        naive=lambda size, other: {
            "equal": size == other,
            "different": size != other,
            "less": None,
            "at_least": None,
        },
        because="None == None is True, Dimension(None) == Dimension(None) is None",
        expect=dict.fromkeys(["equal", "different", "less", "at_least"]),
    ),
    *[
        Op("same_shape", slug, [shape, other], expect=answer)
        for slug, shape, other, answer in [
            ("equal", [2, 3], [2, 3], True),
            ("scalars", [], [], True),
            ("another size", [2, 3], [2, 4], False),
            ("another rank", [2], [2, 1], False),
            ("the first is unknown", [None], [2], False),
            ("the second is unknown", [2], [None], False),
            ("one unknown rank", [2], None, False),
        ]
    ],
    *[
        FalseFriend(
            "same_shape",
            slug,
            [shape, shape],
            naive=lambda a, b: tf.TensorShape(a) == tf.TensorShape(b),
            because="`==` takes two unknown sizes for equal, as 1.15 did not",
            expect=False,
        )
        for slug, shape in [
            ("unknown size", [None]),
            ("unknown sizes", [None, 2]),
            ("unknown rank", None),
        ]
    ],
    *[
        Op("window_counts", slug, [shape, window, stride], expect=expect)
        for slug, shape, window, stride, expect in [
            ("the classic", [None, 28, 28, 1], 5, 1, [None, 24, 24, 1]),
            ("strides", [8, 32, 24, 3], 5, 2, [8, 14, 10, 3]),
            ("unknown height", [4, None, 9, 2], 3, 3, [4, None, 3, 2]),
            ("unknown width", [4, 10, None, 2], 4, 3, [4, 3, None, 2]),
            ("all unknown", [None] * 4, 2, 2, [None] * 4),
            ("one window", [1, 3, 3, 1], 3, 1, [1, 1, 1, 1]),
        ]
    ],
    Raises(
        "window_counts",
        "a window that is too large",
        [[None, 3, 5, 1], 4, 1],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="Dimension -1 must be >= 0",
    ),
    Raises(
        "window_counts",
        "no image",
        [[None, 28, 28], 5, 1],
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="not enough values to unpack",
    ),
]
PROOF = proof(v1, v2, CASES)


class ShapesTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


@contextlib.contextmanager
def rewriting():
    """Turns on graph rewriting, the default, also if the settings are strict."""
    before = tf.config.optimizer.get_experimental_options()
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options(before)


def traced(page, shape, *args):
    """Traces `page` with this static shape of its first argument."""
    spec = tf.TensorSpec(shape, tf.float32)
    return tf.function(lambda x: page(x, *args)).get_concrete_function(spec)


class StaticShapeTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("promise", "promise_shape", [None, 128], [32, None], [32, 128]),
            ("check", "check_shape", [None, 128], [32, None], [32, 128]),
            ("impose", "impose_shape", [None, 128], [32, 128], [32, 128]),
            ("impose the rest", "impose_shape", [4, 128], [-1, 64], [8, 64]),
            ("impose unknown rest", "impose_shape", [None, 128], [-1, 64], [None, 64]),
            ("promise a rank", "promise_shape", None, [None, 3], [None, 3]),
            ("check a rank", "check_shape", None, [None, 3], [None, 3]),
        ]
    )
    def test_static_shape(self, _, name, declared, shape, expected):
        with legacy():
            a = tf.compat.v1.placeholder(tf.float32, declared)
            self.assertEqual(getattr(v1, name)(a, shape).shape.as_list(), expected)
        function = traced(getattr(v2, name), declared, shape)
        self.assertEqual(function.structured_outputs.shape.as_list(), expected)

    def test_the_given_tensor_learns_nothing(self):
        def page(x):
            v2.promise_shape(x, [32, 128])
            return x

        self.assertEqual(
            traced(page, [None, 128]).structured_outputs.shape.as_list(), [None, 128]
        )

    def test_a_broken_promise_answers_for_the_shape(self):
        rows = tf.zeros([3, 128])
        promised = traced(v2.promise_shape, [None, 128], [32, 128])
        np.testing.assert_array_equal(promised(rows).numpy().shape, [3, 128])
        # tf.shape of a full static shape is a constant, whatever the tensor's shape is.
        shape = traced(lambda x: tf.shape(v2.promise_shape(x, [32, 128])), [None, 128])
        np.testing.assert_array_equal(shape(rows), [32, 128])
        with legacy(), tf.compat.v1.Session() as sess:
            a = tf.compat.v1.placeholder(tf.float32, [None, 128])
            b = v1.promise_shape(a, [32, 128])
            answers = sess.run([b, tf.shape(b)], {a: rows_of(3)})
        np.testing.assert_array_equal(answers[0].shape, [3, 128])
        np.testing.assert_array_equal(answers[1], [32, 128])

    def test_a_broken_promise_in_a_call(self):
        answer = v2.static_and_dynamic(rows_of(3), [None, 128], [[32, 128]])
        self.assertEqual(answer["static"], [[None, 128], [32, 128]])
        np.testing.assert_array_equal(answer["dynamic"], [3, 128])

    @parameterized.expand(["check_shape", "impose_shape"])
    def test_a_checked_shape_is_checked_when_run(self, name):
        # Without ensure_shape, a reshape to 32 rows accepts 3 rows by default.
        function = traced(getattr(v2, name), [None, 128], [32, 128])
        with self.assertRaisesRegex(INVALID, "expected shape|requested shape"):
            function(tf.zeros([3, 128]))
        np.testing.assert_array_equal(function(tf.ones([32, 128])), np.ones([32, 128]))

    def test_what_is_collapsed_is_checked_when_run(self):
        with rewriting():
            function = traced(v2.reshape, [None, 4], [1, 1])
            self.assertEqual(function.structured_outputs.shape, [4, 4])
            with self.assertRaisesRegex(INVALID, "expected shape|requested shape"):
                function(tf.zeros([3, 4]))
            np.testing.assert_array_equal(function(tf.ones([4, 4])), np.ones([4, 4]))

    @parameterized.expand(
        [
            ("one", "static_and_dynamic", [BATCH, [None, 5]]),
            ("the other", "reshape_unknown", [BATCH, [None, 5], [[0, 1]]]),
        ]
    )
    def test_an_array_that_does_not_fit_its_spec(self, _, name, args):
        with legacy(), self.assertRaisesRegex(ValueError, "Cannot feed value"):
            getattr(v1, name)(*args)
        with self.assertRaises(TypeError):
            getattr(v2, name)(*args)


class GetShapeTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("none", [2, 10, 32]),
            ("first", [None, 10, 32]),
            ("middle", [2, None, 32]),
            ("last", [2, 10, None]),
            ("all", [None, None, None]),
        ]
    )
    def test_get_shape(self, _, declared):
        ints = [size is not None for size in declared]

        def page(x):
            sizes = v2.get_shape(x)
            self.assertEqual([isinstance(size, int) for size in sizes], ints)
            return sizes

        sizes = traced(page, declared)(CUBE)
        np.testing.assert_array_equal(sizes, [2, 10, 32])
        with legacy(), tf.compat.v1.Session() as sess:
            a = tf.compat.v1.placeholder(tf.float32, declared)
            sizes = v1.get_shape(a)
            self.assertEqual([isinstance(size, int) for size in sizes], ints)
            np.testing.assert_array_equal(
                sess.run(tf.stack(sizes), {a: CUBE}), [2, 10, 32]
            )

    def test_one_trace_serves_every_size(self):
        traces = []

        @tf.function(input_signature=[tf.TensorSpec([None, 4, None])])
        def collapse(x):
            traces.append(x.shape.as_list())
            return v2.reshape(x, [[0, 1], 2])

        for rows, columns in [(1, 2), (3, 5), (0, 1)]:
            shape = collapse(tf.zeros([rows, 4, columns])).shape
            self.assertEqual(shape, [4 * rows, columns])
        self.assertEqual(traces, [[None, 4, None]])


class DimensionTest(unittest.TestCase):
    def test_an_unknown_dimension_is_no_none(self):
        with legacy():
            size = tf.compat.v1.placeholder(tf.float32, [None]).shape[0]
            self.assertIsNot(size, None)
            self.assertIsNone(size == None)  # noqa: E711
            self.assertIsNone(size.value)
            self.assertIsNone((2 * size + 1).value)
        self.assertIsNone(tf.TensorShape([None])[0])

    @parameterized.expand([("first", -1, 3), ("second", 3, -1), ("alone", -1, None)])
    def test_a_negative_size_is_refused(self, _, size, other):
        with legacy(), self.assertRaisesRegex(ValueError, "must be >= 0"):
            v1.compare_sizes(size, other)
        with self.assertRaisesRegex(ValueError, "must be >= 0"):
            v2.compare_sizes(size, other)

    def test_an_int_does_what_a_dimension_refused(self):
        with legacy():
            size = tf.TensorShape([3])[0]
            self.assertRaisesRegex(ValueError, "must be >= 0", lambda: size - 4)
            self.assertRaisesRegex(TypeError, "unsupported operand", lambda: size / 2)
        size = tf.TensorShape([3])[0]
        self.assertEqual((size - 4, size / 2), (-1, 1.5))

    def test_none_refuses_what_a_dimension_did(self):
        size, known = tf.TensorShape([None, 3])
        self.assertRaisesRegex(TypeError, "NoneType", lambda: size // 2)
        self.assertRaisesRegex(TypeError, "NoneType", lambda: size < 3)
        self.assertRaisesRegex(AttributeError, "value", lambda: known.value)

    def test_there_is_no_prod(self):
        self.assertFalse(hasattr(tf, "prod") or hasattr(tf.compat.v1, "prod"))


def rows_of(number):
    return np.zeros([number, 128], np.float32)
