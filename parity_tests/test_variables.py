import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from tf1to2.parity import FalseFriend, Layer, Program, Raises, integers, normal
from tf1to2.parity.v1 import legacy
from v1_graph import variables as v1
from v2_eager import variables as v2

PAIR = np.float32([1, 2])
ROWS = np.float32([[8, 4], [2, 1], [6, 3]])
VECTOR = np.float32([8, 4, 2])
PAIRS_OF_ONES = [np.float32(1), np.float32(1), np.float32(2)]


def results_kept(start, steps):
    """Keeps the results of the assignments, and reads them at the end."""
    v = tf.Variable(start)
    kinds = {"assign": v.assign, "add": v.assign_add, "sub": v.assign_sub}
    return [result.numpy() for result in [kinds[kind](x) for kind, x in steps]]


def sum_of_now(start, step, runs):
    v = tf.Variable(start)
    x = v + step
    history = []
    for _ in range(runs):
        history.append([x.numpy(), v.numpy()])
        v.assign_add(step)
    return [True, False], history


def scatter_into_tensor(start, kind, indices, updates):
    v = tf.Variable(start)
    tf.tensor_scatter_nd_update(v, tf.expand_dims(indices, 1), updates)
    return v.numpy()


def copied_where_used(start, step):
    original = tf.Variable(start)
    original.assign_add(step)
    copy = tf.Variable(original)
    return {
        "original": original.numpy(),
        "early": copy.numpy(),
        "double": 2 * copy.numpy(),
        "late": copy.numpy(),
    }


def reads_of_a_resource(start, increments, use_resource):
    return v2.take_reads(start, increments, True)


def not_in(values, chosen):
    variables = [tf.Variable(value) for value in values]
    picked = [variables[i] for i in chosen]
    return [i for i, v in enumerate(variables) if v not in picked]


CREATED = [
    ("an int", 1, None, 1, "int32"),
    ("a large int", 2**40, None, 2**40, "int64"),
    ("a list of floats", [1.5, 2.0], None, [1.5, 2], "float32"),
    ("a tuple", (1, 2.5), None, [1, 2.5], "float32"),
    ("nested lists", [[1, 2], [3, 4]], None, [[1, 2], [3, 4]], "int32"),
    ("a list of nothing", [], None, [], "float32"),
    ("a bool", True, None, True, "bool"),
    ("a half", [1, 2], "float16", [1, 2], "float16"),
    ("a double", np.float64([1, 2]), None, [1, 2], "float64"),
    ("an array cut off", np.float32([1.5, -2.5]), "int32", [1, -2], "int32"),
]

CASES = [
    *[
        Program(
            "create",
            slug,
            [value, dtype],
            expect={
                "value": expected,
                "dtype": name,
                **({"shape": np.shape(expected)} if np.ndim(expected) else {}),
                "rank": np.ndim(expected),
            },
            skip={"function": PLAIN},
            exact=True,
        )
        for slug, value, dtype, expected, name in CREATED
    ],
    Program("create", "text", [["a", "bc"]], skip={"function": PLAIN}),
    Program(
        "create",
        "a tensor",
        [PAIR],
        {"form": "tensor"},
        exact=True,
        skip={"function": PLAIN},
    ),
    Program(
        "create",
        "a callable",
        [[1.5, 2.0]],
        {"form": "callable"},
        skip={"function": PLAIN},
    ),
    Raises(
        "create",
        "no value",
        [None],
        of="program",
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="initial_value",
    ),
    Raises(
        "create",
        "rows of different lengths",
        [[[1], [2, 3]]],
        of="program",
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="dense tensor|inhomogeneous|non-rectangular",
    ),
    Raises(
        "create",
        "floats as integers",
        [[1.5, 2.0], "int32"],
        of="program",
        graph=TypeError,
        eager=TypeError,
        function=TypeError,
        match="int32",
    ),
    Raises(
        "create",
        "a tensor of another dtype",
        [PAIR, "float64"],
        {"form": "tensor"},
        of="program",
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="requested dtype float64",
    ),
    Program(
        "use_as_tensor",
        "the classic ops",
        [np.float32([0.25, 3, 0.5, 2]), np.int32([3, 0])],
        expect={
            "sum": [1.25, 4, 1.5, 3],
            "product": [0.5, 6, 1, 4],
            "comparison": [False, True, False, True],
            "gather": [2, 0.25],
            "element": 3,
            "argmax": 1,
            "reshape": [[0.25, 3], [0.5, 2]],
            "concat": [0.25, 3, 0.5, 2, 0.25, 3, 0.5, 2],
            "variable": [0.25, 3, 0.5, 2],
        },
        exact=True,
    ),
    Program("use_as_tensor", "more numbers", [normal(12), integers(5)]),
    Raises(
        "use_as_tensor",
        "a position that is not there",
        [PAIR, np.int32([2])],
        of="program",
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match=r"indices\[0\] = 2 is not in \[0, 2\)",
    ),
    Program(
        "sum_and_update",
        "three runs",
        [np.float32(1), np.float32(2), 3],
        expect=([True, False], [[3, 1], [5, 3], [7, 5]]),
        exact=True,
    ),
    FalseFriend(
        "sum_and_update",
        "a sum made once, eagerly",
        [np.int32([1, 5]), np.int32([2, 1]), 2],
        of="program",
        naive=sum_of_now,
        because="an eager sum is a number; it does not follow the variable",
    ),
    Raises(
        "sum_and_update",
        "an array that does not fit, converted the other way round",
        [PAIR, VECTOR, 1],
        of="program",
        genuine=ValueError,
        graph=NotImplementedError,
        eager=tf.errors.InvalidArgumentError,
        function=NotImplementedError,
        match="must be equal|Cannot convert a symbolic|Incompatible shapes",
    ),
    Program(
        "update_in_turn",
        "each kind",
        [PAIR, [["assign", [5, 6]], ["add", [1.5, 2]], ["sub", np.float32([4, 4])]]],
        expect=[[5, 6], [6.5, 8], [2.5, 4]],
        exact=True,
    ),
    Program(
        "update_in_turn",
        "doubles are rounded",
        [PAIR, [["assign", np.float64([0.1, 0.2])]]],
        exact=True,
    ),
    Program(
        "update_in_turn",
        "booleans",
        [np.asarray([True, False]), [["assign", [False, True]]]],
        expect=[[False, True]],
    ),
    FalseFriend(
        "update_in_turn",
        "the results, looked at in the end",
        [np.float32(0), [["add", 1.0], ["add", 2.0], ["sub", 4.0]]],
        of="program",
        naive=results_kept,
        because="an assignment returns the variable, not the value of that moment",
    ),
    *[
        Raises(
            "update_in_turn",
            f"{slug}, by {kind}",
            [PAIR, [[kind, value]]],
            of="program",
            graph=ValueError,
            eager=eager,
            function=ValueError,
            match="Shape mismatch|[Ss]hapes must be equal|shapes must be equal",
        )
        for kind, eager in [
            ("assign", ValueError),
            ("add", tf.errors.InvalidArgumentError),
            ("sub", tf.errors.InvalidArgumentError),
        ]
        for slug, value in [("a scalar", 1.0), ("a row", [[1.0, 2.0]])]
    ],
    *[
        Raises(
            "update_in_turn",
            f"{slug}, by {kind}",
            [start, [[kind, value]]],
            of="program",
            graph=TypeError,
            eager=TypeError,
            function=TypeError,
            match="Expected|Cannot convert",
        )
        for kind in ["assign", "add"]
        for slug, start, value in [
            ("floats for integers", np.int32([1, 2]), [1.5, 2.0]),
            ("text for floats", PAIR, ["a", "b"]),
        ]
    ],
    *[
        Program("scatter", slug, [start, kind, indices, updates], expect=expected)
        for slug, start, kind, indices, updates, expected in [
            ("set", VECTOR, "update", [2, 0], [1, 3], [3, 4, 1]),
            ("set to a scalar", VECTOR, "update", [0, 2], 7.0, [7, 4, 7]),
            ("add, one row twice", VECTOR, "add", [1, 1], [1, 2], [8, 7, 2]),
            ("subtract", VECTOR, "sub", [1, 0], [1, 2], [6, 3, 2]),
            ("multiply", VECTOR, "mul", [1, 0], [3, 2], [16, 12, 2]),
            ("divide", VECTOR, "div", [1, 0], [8, 2], [4, 0.5, 2]),
            ("minimum", VECTOR, "min", [1, 2], [5, 1], [8, 4, 1]),
            ("maximum", VECTOR, "max", [1, 2], [5, 1], [8, 5, 2]),
            ("rows", ROWS, "add", [2], [[1, 1]], [[8, 4], [2, 1], [7, 4]]),
            ("no rows", ROWS, "mul", np.int32([]), np.zeros([0, 2], "f"), ROWS),
            (
                "elements",
                ROWS,
                "nd_update",
                [[0, 1], [2, 0]],
                [5, 0],
                [[8, 5], [2, 1], [0, 3]],
            ),
            (
                "add to elements, one twice",
                ROWS,
                "nd_add",
                [[0, 1], [0, 1]],
                [5, 1],
                [[8, 10], [2, 1], [6, 3]],
            ),
            (
                "subtract from elements",
                ROWS,
                "nd_sub",
                [[1, 1], [0, 1]],
                [5, 1],
                [[8, 3], [2, -4], [6, 3]],
            ),
            (
                "one of every row",
                ROWS,
                "batch_update",
                [[1], [0], [0]],
                [[9], [7], [5]],
                [[8, 9], [7, 1], [5, 3]],
            ),
        ]
    ],
    Program("scatter", "divide with rounding", [VECTOR, "div", [0], [3]]),
    FalseFriend(
        "scatter",
        "the function on tensors",
        [VECTOR, "update", np.int32([2, 0]), np.float32([1, 3])],
        of="program",
        naive=scatter_into_tensor,
        because="it returns a new tensor and leaves the variable as it was",
    ),
    *[
        Raises(
            "scatter",
            f"{slug}, by {kind}",
            [VECTOR, kind, indices, [1]],
            of="program",
            graph=tf.errors.InvalidArgumentError,
            eager=tf.errors.InvalidArgumentError,
            function=tf.errors.InvalidArgumentError,
            match=r"is not in \[0, 3\)|does not index into|out of bounds",
        )
        for kind, slug, indices in [
            ("update", "a row that is not there", [5]),
            ("add", "a negative row", [-1]),
            ("nd_update", "an element that is not there", [[3]]),
        ]
    ],
    Program(
        "assign_slice",
        "a row",
        [ROWS, 1, 0, [0, 9]],
        expect=[[8, 4], [0, 9], [6, 3]],
        exact=True,
    ),
    Program(
        "assign_slice",
        "the last element, from behind",
        [ROWS, -1, -1, [9]],
        expect=[[8, 4], [2, 1], [6, 9]],
        exact=True,
    ),
    Raises(
        "assign_slice",
        "a scalar is broadcast now",
        [ROWS, 1, 0, 7.0],
        of="program",
        genuine=tf.errors.UnimplementedError,
        match="broadcasting not yet implemented",
    ),
    Raises(
        "assign_slice",
        "too many values",
        [ROWS, 1, 0, [1, 2, 3]],
        of="program",
        genuine=tf.errors.UnimplementedError,
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match="[Bb]roadcast",
    ),
    Raises(
        "assign_slice",
        "no such row",
        [ROWS, 3, 0, [1, 2]],
        of="program",
        graph=ValueError,
        eager=tf.errors.InvalidArgumentError,
        function=ValueError,
        match="slice index 3 of dimension 0 out of bounds",
    ),
    Program(
        "change_shape",
        "the classic",
        [PAIR, [np.float32([[1, 2, 3]]), np.float32(4)]],
        expect=(None, [[[[1, 2, 3]], [1, 3]], [4, []]]),
        exact=True,
    ),
    Program(
        "change_shape",
        "the shape stays",
        [PAIR, [np.float32([3, 4])]],
        {"validate_shape": True},
        expect=(1, [[[3, 4], [2]]]),
        exact=True,
    ),
    Raises(
        "change_shape",
        "another shape",
        [PAIR, [np.float32([1, 2, 3])]],
        {"validate_shape": True},
        of="program",
        graph=tf.errors.InvalidArgumentError,
        eager=ValueError,
        function=tf.errors.InvalidArgumentError,
        match="Assign requires shapes|Shape mismatch|wrong shape",
    ),
    Raises(
        "change_shape",
        "another dtype",
        [PAIR, [np.int32([1, 2])]],
        of="program",
        graph=TypeError,
        eager=ValueError,
        function=ValueError,
        match="type int32|wrong dtype",
    ),
    Program(
        "copy_initial",
        "the classic",
        [PAIR, np.float32([0.5, 4])],
        expect={
            "original": [1.5, 6],
            "early": [1, 2],
            "double": [2, 4],
            "late": [1.5, 6],
        },
        exact=True,
    ),
    FalseFriend(
        "copy_initial",
        "copies made where they are used",
        [PAIR, np.float32([0.5, 4])],
        of="program",
        naive=copied_where_used,
        because="tf.Variable(other) copies the value of that moment",
    ),
    Raises(
        "copy_initial",
        "a step of another size",
        [PAIR, np.float32([1, 2, 3])],
        of="program",
        graph=ValueError,
        eager=tf.errors.InvalidArgumentError,
        function=ValueError,
        match="must be equal",
    ),
    Program(
        "take_reads",
        "resources",
        [np.float32(1), np.float32([1, 2, 3]), True],
        expect=[1, 2, 4, 7],
        exact=True,
    ),
    FalseFriend(
        "take_reads",
        "references, read as resources",
        [np.float32(1), np.float32([1, 2, 3]), False],
        of="program",
        naive=reads_of_a_resource,
        because="the read of a reference variable shares its memory",
        expect=[7, 7, 7, 7],
        exact=True,
    ),
    Program(
        "initialize_rest",
        "two of three",
        [{"a": PAIR, "b": np.int32(3), "c": PAIR}, {"b": np.int32(7)}],
        expect=(["a", "c"], {"a": [1, 2], "b": 7, "c": [1, 2]}),
        exact=True,
        skip={"function": PLAIN},
    ),
    Program(
        "initialize_rest",
        "nothing is left",
        [{"a": PAIR}, {"a": np.float32([3, 4])}, False],
        expect={1: {"a": [3, 4]}},
        exact=True,
        skip={"function": PLAIN},
    ),
    Raises(
        "initialize_rest",
        "a variable without a value",
        [{"a": PAIR, "bias": PAIR}, {"a": PAIR}, False],
        of="program",
        graph=tf.errors.FailedPreconditionError,
        eager=KeyError,
        function=KeyError,
        match="uninitialized value bias|bias",
    ),
    Program(
        "sum_by_epoch",
        "two epochs",
        [np.float32([[1, 2], [3, 4]])],
        expect=([[3, 3], [7, 10]], ["of_all"], ["of_epoch"]),
        exact=True,
    ),
    Program("sum_by_epoch", "more numbers", [normal(3, 5)]),
    Program(
        "seen_by",
        "all are trainable",
        [PAIR, []],
        expect={
            "all": ["a", "b", "steps"],
            "trainable": ["a", "b", "steps"],
            "gradients": {"a": [3, 6], "b": [3, 6]},
        },
        exact=True,
    ),
    Program(
        "seen_by",
        "some are frozen",
        [PAIR, ["b", "steps"]],
        expect={
            "all": ["a", "b", "steps"],
            "trainable": ["a"],
            "gradients": {"a": [3, 6]},
        },
        exact=True,
    ),
    Raises(
        "seen_by",
        "all are frozen",
        [PAIR, ["a", "b", "steps"]],
        of="program",
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="No variables to optimize",
    ),
    FalseFriend(
        "others",
        "equal values",
        [PAIRS_OF_ONES, [0]],
        of="program",
        naive=not_in,
        because="`in` compares by value now",
        expect=[1, 2],
        exact=True,
        differs="structure",
        skip={"function": PLAIN},
    ),
    Program(
        "others",
        "vectors",
        [[PAIR, PAIR, VECTOR], [2, 1]],
        expect=[0],
        skip={"function": PLAIN},
    ),
    *[
        Raises(
            name,
            slug,
            args,
            of="program",
            graph=ValueError,
            eager=tf.errors.InvalidArgumentError,
            function=ValueError,
            match="must be equal|Incompatible shapes|Cannot feed value",
        )
        for name, slug, args in [
            ("take_reads", "increments that are vectors", [PAIR[0], ROWS, True]),
            ("sum_by_epoch", "numbers that are vectors", [ROWS[None]]),
        ]
    ],
    Raises(
        "others",
        "a place that is not there",
        [PAIRS_OF_ONES, [3]],
        of="program",
        graph=IndexError,
        eager=IndexError,
        function=IndexError,
        match="out of range",
    ),
    Layer(
        "make_embedding",
        "trained",
        [integers(6, high=4), normal(6, 3)],
        factory={"rows": 4, "units": 3},
    ),
    Layer(
        "make_embedding",
        "any size",
        [integers("n", high=50), normal("n", 3)],
        factory={"rows": 50, "units": 3},
    ),
    Layer(
        "make_embedding",
        "frozen",
        [np.int32([2, 0, 2]), normal(3, 2)],
        factory={"rows": 3, "units": 2, "trainable": False, "name": "words"},
        skip={"xla": "compiled above", "dynamic": "as above"},
    ),
    Raises(
        "make_embedding",
        "an id that is not there",
        [np.int32([4]), normal(1, 2)],
        of="layer",
        factory={"rows": 4, "units": 2},
        graph=tf.errors.InvalidArgumentError,
        eager=tf.errors.InvalidArgumentError,
        function=tf.errors.InvalidArgumentError,
        match=r"indices\[0\] = 4 is not in \[0, 4\)",
    ),
]
PROOF = proof(v1, v2, CASES)


class VariablesTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class AssignmentTest(unittest.TestCase):
    def test_in_a_function_too_a_result_is_the_variable(self):
        v = tf.Variable(0.0)

        @tf.function
        def step():
            return [v.assign_add(1.0), v.assign_add(2.0), v.assign_sub(4.0)]

        self.assertEqual([result.numpy() for result in step()], [-1, -1, -1])

    @parameterized.expand([("eager", False), ("function", True)])
    def test_a_tensor_of_another_dtype_is_a_value_error_now(self, _, compiled):
        with legacy(), self.assertRaisesRegex(TypeError, "has type int32"):
            v1.tf.assign(v1.tf.Variable([1.0, 2.0]), v1.tf.constant([1, 2]))
        v = tf.Variable([1.0, 2.0])
        assign = tf.function(v.assign) if compiled else v.assign
        with self.assertRaisesRegex(ValueError, "requested dtype float32"):
            assign(tf.constant([1, 2]))

    def test_an_array_of_another_dtype_is_cast(self):
        with legacy(), v1.tf.Session() as sess:
            update = v1.tf.assign(v1.tf.Variable([1, 2]), np.float32([1.5, -2.5]))
            np.testing.assert_array_equal(sess.run(update), [1, -2])
        v = tf.Variable([1, 2])
        v.assign(np.float32([1.5, -2.5]))
        np.testing.assert_array_equal(v, [1, -2])

    def test_a_constraint_does_not_hold_back_an_assignment(self):
        def clip(x):
            return tf.clip_by_value(x, 0.0, 1.0)

        with legacy(), v1.tf.Session() as sess:
            update = v1.tf.assign(v1.tf.Variable(0.5, constraint=clip), 5.0)
            self.assertEqual(sess.run(update), 5)
        v = tf.Variable(0.5, constraint=clip)
        v.assign(5.0)
        self.assertEqual(v.numpy(), 5)

    def test_a_slice_has_no_other_update_than_assign(self):
        with legacy(), self.assertRaisesRegex(AttributeError, "assign_add"):
            v1.tf.assign_add(v1.tf.Variable([1.0, 2.0])[0], 1.0)
        with self.assertRaisesRegex(AttributeError, "assign_add"):
            tf.Variable([1.0, 2.0])[0].assign_add(1.0)


class ShapeTest(unittest.TestCase):
    def test_a_declared_shape_outlives_an_unvalidated_assignment(self):
        with legacy(), v1.tf.Session() as sess:
            v, w = v1.tf.Variable([1.0, 2.0]), v1.tf.Variable([[5.0, 6.0], [7.0, 8.0]])
            update = v1.tf.assign(v, w, validate_shape=False)
            sess.run(v1.tf.global_variables_initializer())
            np.testing.assert_array_equal(sess.run(update), [[5, 6], [7, 8]])
            self.assertEqual(v.shape.as_list(), [2])
            shape, size, zeros = sess.run(
                [v1.tf.shape(v), v1.tf.size(v), v1.tf.zeros_like(v)]
            )
            self.assertEqual((shape.tolist(), size, zeros.tolist()), ([2], 2, [0, 0]))
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "shapes of bo"):
                sess.run(v.initializer)

    def test_a_resource_variable_never_accepted_another_shape(self):
        with legacy():
            v = v1.tf.Variable([1.0, 2.0], use_resource=True)
            with self.assertRaisesRegex(ValueError, "are incompatible"):
                v1.tf.assign(v, [[1.0]], validate_shape=False)

    def test_a_reference_variable_of_open_shape_cannot_be_initialized(self):
        with legacy(), v1.tf.Session() as sess:
            v = v1.tf.Variable([1.0, 2.0], shape=v1.tf.TensorShape(None))
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "shapes of bo"):
                sess.run(v.initializer)

    def test_today_the_argument_is_accepted_and_ignored(self):
        v = tf.Variable([1.0, 2.0], validate_shape=False)
        self.assertEqual(v.shape, [2])
        with self.assertRaisesRegex(ValueError, "Shape mismatch"):
            v.assign([[1.0, 2.0]])

    def test_a_shape_may_be_open_in_part(self):
        v = tf.Variable([[1.0, 2.0]], shape=[None, 2])
        v.assign([[3.0, 4.0], [5.0, 6.0]])
        self.assertEqual(
            (v.shape.as_list(), tf.shape(v).numpy().tolist()), ([None, 2], [2, 2])
        )
        with self.assertRaisesRegex(ValueError, "Shape mismatch"):
            v.assign([[1.0]])


class PropertiesTest(unittest.TestCase):
    def test_there_is_no_ndim(self):
        with legacy(), self.assertRaisesRegex(AttributeError, "ndim"):
            v1.tf.Variable([1.0]).ndim  # noqa: B018
        with self.assertRaisesRegex(AttributeError, "ndim"):
            tf.Variable([1.0]).ndim  # noqa: B018

    def test_the_dtype_of_a_reference_is_another(self):
        with legacy():
            v = v1.tf.Variable([1.0])
            self.assertEqual(v.dtype.name, "float32_ref")
            self.assertFalse(v.dtype == v1.tf.float32)
            self.assertTrue(v.dtype.base_dtype == v1.tf.float32)
        self.assertTrue(tf.Variable([1.0]).dtype == tf.float32)

    @parameterized.expand(
        [
            ("eval", lambda v: v.eval(), RuntimeError),
            ("initial_value", lambda v: v.initial_value, RuntimeError),
            ("initialized_value", lambda v: v.initialized_value(), NotImplementedError),
            ("op", lambda v: v.op, AttributeError),
            ("graph", lambda v: v.graph, AttributeError),
            ("trainable", lambda v: setattr(v, "trainable", False), AttributeError),
            ("key", lambda v: {v: 1}, TypeError),
            ("index", lambda v: [tf.Variable([1.0, 2.0]), v].index(v), ValueError),
        ]
    )
    def test_what_a_variable_no_longer_does(self, _, use, error):
        with self.assertRaises(error):
            use(tf.Variable([1.0, 2.0]))

    def test_membership_of_another_shape_is_false(self):
        v = tf.Variable([1.0, 2.0])
        self.assertFalse(v in [tf.Variable([1.0, 2.0, 3.0])])
        self.assertTrue(v in [v])
        with self.assertRaisesRegex(ValueError, "ambiguous"):
            v in [tf.Variable([3.0, 4.0])]  # noqa: B015

    def test_it_has_no_initializer(self):
        self.assertIsNone(tf.Variable(1.0).initializer)


class InitializationTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("another_shape", {"a": VECTOR}, ValueError, "shape"),
            ("no_such_name", {"z": PAIR}, KeyError, "z"),
        ]
    )
    def test_what_is_restored_must_be_there(self, _, restored, error, match):
        with legacy(), self.assertRaisesRegex(error, match):
            v1.initialize_rest({"a": PAIR}, restored)
        with self.assertRaisesRegex(error, match):
            v2.initialize_rest({"a": PAIR}, restored)

    def test_what_is_restored_is_cast(self):
        args = {"a": PAIR}, {"a": np.float64([0.1, 0.2])}
        with legacy():
            _, old = v1.initialize_rest(*args)
        _, new = v2.initialize_rest(*args)
        np.testing.assert_array_equal(old["a"], new["a"])
        self.assertEqual((old["a"].dtype, new["a"].dtype), ("float32", "float32"))

    def test_no_runs_tell_the_kinds_too(self):
        with legacy():
            old = v1.sum_and_update(PAIR, PAIR, 0)
        self.assertEqual(old, ([True, False], []))
        self.assertEqual(v2.sum_and_update(PAIR, PAIR, 0), old)

    def test_two_runs_draw_twice(self):
        for together in (True, False):
            # A new graph without a graph seed; only the op has a seed.
            with legacy(), v1.tf.Graph().as_default(), v1.tf.Session() as sess:
                v = v1.tf.Variable(v1.tf.random_normal([], seed=1))
                copy = v1.tf.Variable(v.initialized_value())
                if together:
                    sess.run(v1.tf.global_variables_initializer())
                else:
                    sess.run(copy.initializer)
                    sess.run(v.initializer)
                rounded = [round(float(x), 3) for x in sess.run([v, copy])]
                self.assertEqual(rounded, [-0.811 if together else 0.64, -0.811])

    def test_only_what_is_in_a_collection_is_guarded(self):
        with legacy(), v1.tf.Session() as sess:
            collected = v1.tf.Variable([1.0, 2.0])
            lost = v1.tf.Variable([1.0, 2.0], collections=["mine"], name="lost")
            self.assertEqual(
                [v.op.name for v in v1.tf.trainable_variables()], ["Variable", "lost"]
            )
            report = sess.run(v1.tf.report_uninitialized_variables())
            self.assertEqual(report.tolist(), [b"Variable"])
            sess.run(v1.tf.Variable(2 * collected).initializer)
            sess.run(v1.tf.Variable(2 * lost.initialized_value()).initializer)
            copy = v1.tf.Variable(2 * lost)
            sess.run(v1.tf.variables_initializer([collected]))
            with self.assertRaisesRegex(tf.errors.FailedPreconditionError, "lost"):
                sess.run(copy.initializer)

    def test_each_session_has_values_of_its_own(self):
        with legacy(), v1.tf.Session() as first, v1.tf.Session() as second:
            v = v1.tf.Variable(1.0)
            first.run(v.initializer)
            with self.assertRaises(tf.errors.FailedPreconditionError):
                second.run(v)
            second.run(v.initializer)
            v.load(5.0, first)
            self.assertEqual([first.run(v), second.run(v)], [5, 1])

    def test_a_fed_variable_is_replaced_for_one_run(self):
        with legacy(), v1.tf.Session() as sess:
            v = v1.tf.Variable(1.0)
            following = v + 1
            sess.run(v.initializer)
            self.assertEqual(sess.run([following, v], {v: 5.0}), [6, 5])
            self.assertEqual(sess.run(v), 1)


class OwnershipTest(unittest.TestCase):
    def test_a_function_makes_no_variable_twice(self):
        @tf.function
        def step():
            return tf.Variable(1.0) + 1

        with self.assertRaisesRegex(ValueError, "only supports singleton tf.Variables"):
            step()
        self.assertEqual(step.python_function().numpy(), 2)

    def test_a_name_scope_is_no_part_of_the_names_of_a_layer(self):
        embed = v2.make_embedding(2, 3, name="words")
        with tf.name_scope("outer"):  # get_variable ignored name scopes
            embed(tf.constant([1]), tf.ones([1, 3]))
        names = [variable.name for variable in embed.variables]
        self.assertEqual(names, ["words/table:0", "words/threshold:0"])

    def test_a_module_sees_attributes_and_what_they_contain(self):
        a, b, hidden = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0)
        module = tf.Module()
        module.listed = [a, (a, {"b": b})]
        module.function = lambda: hidden
        self.assertEqual([v.numpy() for v in module.variables], [1, 2])

    def test_a_tape_watches_integers_and_says_nothing_of_what_it_is_not_told(self):
        a, frozen, steps = tf.Variable(1.0), tf.Variable(1.0, False), tf.Variable(1)
        with tf.GradientTape() as tape:
            a * frozen * tf.cast(steps, tf.float32)
        watched = {v.ref() for v in tape.watched_variables()}
        self.assertEqual(watched, {a.ref(), steps.ref()})
        self.assertEqual(tape.gradient(a, []), [])
