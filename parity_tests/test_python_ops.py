import contextlib
import gc
import importlib.util
import unittest
import uuid
import weakref

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PLAIN, proof
from tf1to2.parity import FalseFriend, Op, Program, Raises, integers, normal, uniform
from tf1to2.parity.v1 import legacy
from v1_graph import python_ops as v1
from v2_eager import python_ops as v2

F = np.float32
INVALID = tf.errors.InvalidArgumentError
PYTHON = {"xla": "XLA compiles no Python"}
SINGLY = {"generated": "the numbers are taken one by one"}
TRACED = {"eager": "run eagerly, the lines around the ops run at every step"}
SLOPES = {"gradient": "the answer is a gradient, and a step function"}
BOXES = F([[0, 0, 4, 4], [0, 0, 4, 2], [2, 0, 6, 4], [0, 1, 4, 5], [9, 9, 10, 11]])
CORNERS = np.random.RandomState(0).uniform(0, 9, [70, 2])
SIDES = np.random.RandomState(1).uniform(1, 3, [70, 2])
MANY_BOXES = np.hstack([CORNERS, CORNERS + SIDES]).astype("f")
BATCHES = np.arange(2 * 4 * 7 * 10).reshape(2, 4, 7, 10, 1).astype(np.uint8)
NUMBERS = np.array([[1, 2, 30, 4], [56, 7, 8, 9]])


def text(*texts):
    return np.array([t.encode() for t in texts])


def straight_through_trick(x):
    return x + tf.stop_gradient(tf.sign(x) - x)


def activation_by_name(x, hidden, output):
    return v2.saliency(x, hidden, output, guided=False)


CASES = [
    Op("relu", "four numbers", [F([-2, -0.5, 0, 3])], skip=PYTHON, expect=[0, 0, 0, 3]),
    Op("relu", "one number", [F(3)], skip=PYTHON, expect=3),
    Op("relu", "any size", [normal("n", 3)], skip={**PYTHON, **SINGLY}),
    Op("quantize", "two bits", [F([0, 0.3, 0.6, 1]), 2], expect=[0, 1 / 3, 2 / 3, 1]),
    Op(
        "quantize",
        "any size",
        [uniform("n", 3), 4],
        skip=SINGLY,
    ),
    FalseFriend(
        "binarize",
        "a large number",
        [F([2**25, 0.3, -3, 0])],
        expect=[1, 1, -1, 0],
        naive=straight_through_trick,
        because="the sign is less than the spacing of floats there",
    ),
    Op("binarize", "any size", [normal("n", 3)], skip=SINGLY),
    FalseFriend(
        "saliency",
        "guided",
        [F([[2, 1]]), F([[1, 0], [0, 1]]), F([[2, 0], [-1, 0]])],
        skip=SLOPES,
        expect=[[2, 0]],
        naive=activation_by_name,
        because="a tape does not look at gradient_override_map",
    ),
    Op(
        "saliency",
        "plain",
        [F([[2, 1]]), F([[1, 0], [0, 1]]), F([[2, 0], [-1, 0]])],
        {"guided": False},
        expect=[[2, -1]],
        skip={**SLOPES, "xla": "the guided case compiles"},
    ),
    Op(
        "saliency",
        "any",
        [normal("n", 4), normal(4, 6), normal(6, 3)],
        skip={**SLOPES, "xla": "the guided case compiles"},
    ),
    Op("newton_root", "numbers", [F([0, 2, -10])], skip=PYTHON),
    Op(
        "newton_root",
        "few steps",
        [normal("n"), 0.25, 3],
        skip={**PYTHON, **SINGLY, "dynamic": "the other case takes any shape"},
    ),
    Op(
        "keep_boxes",
        "five",
        [BOXES, F([0.5, 0.75, 0.25, 0.6, 0.1])],
        skip=PYTHON,
        expect=[BOXES[[1, 3, 2, 4]], [1, 3, 2, 4], [0, 0.2, 0.23076923, 0]],
    ),
    Op(
        "keep_boxes",
        "none that touch",
        [BOXES, F([1, 2, 3, 4, 5]), 0.0],
        skip=PYTHON,
        expect=[BOXES[[4, 3]], [4, 3], [0, 0]],
    ),
    Op("keep_boxes", "seventy", [MANY_BOXES, uniform(70)], skip=PYTHON),
    Op(
        "keep_boxes", "no box", [np.zeros([0, 4], "f"), np.zeros([0], "f")], skip=PYTHON
    ),
    Op("repeat_rows", "a promise kept", [F([[1, 2]]), [None, 2]], skip=PYTHON),
    Op(
        "repeat_rows",
        "any rows",
        [normal("n", 2), [None, 2]],
        skip={**PYTHON, **SINGLY},
    ),
    Op(
        "repeat_rows",
        "a promise broken, and believed",
        [F([[1, 2]]), [3, 2], False],
        skip={**PYTHON, "eager": "the shape is known: it raises"},
        expect=[[[1, 2], [1, 2]], [3, 2]],
    ),
    Op(
        "parse_quantities",
        "three",
        [text("1.5 kg", "-2e3 µm", "7")],
        skip=PYTHON,
        expect=[[1.5, -2000, 7], text("KG", "ΜM", "")],
    ),
    Program(
        "log_steps",
        "three",
        [F([1, 2, 3])],
        skip=TRACED,
        expect=(
            [1, 4, 9],
            "made,before 1,after 1,before 2,after 4,before 3,after 9".split(","),
        ),
    ),
    Program(
        "check_gradient",
        "right",
        [F([1, 2]), F([[1, 1], [1, -1], [2, 0.5]]), True, 2.0**-10],
        expect={
            "analytic": [[1, 0, 2], [1, 0, 0.5]],
            "numeric": [[1, 0, 2], [1, 0, 0.5]],
            "error": 0,
        },
        skip={"function": PLAIN},
    ),
    Program(
        "check_gradient",
        "cut off",
        [F([1, 2]), F([[1, 1], [1, -1], [2, 0.5]]), False, 2.0**-10],
        expect={
            "analytic": [[3, 3, 3], [1.5, 1.5, 1.5]],
            "numeric": [[1, 0, 2], [1, 0, 0.5]],
            "error": 3,
        },
        skip={"function": PLAIN},
    ),
    Program(
        "check_gradient", "any", [normal(3), normal(5, 3)], skip={"function": PLAIN}
    ),
    Op(
        "analytic_and_numeric",
        "a hundred-thousandth",
        [F([0.5, 2, 8, 100, 1000, -1]), F(1e-5)],
        exact=True,
        skip=PYTHON,
        expect=[[1, 1, 1, 1, 1, 0], [1.001358, 1.001358, 0.9536743, 0.76293945, 0, 0]],
    ),
    Op(
        "analytic_and_numeric",
        "a power of two",
        [F([0.5, 2, 8, 100, 1000, -1]), F(2**-10)],
        exact=True,
        skip=PYTHON,
        expect=[[1, 1, 1, 1, 1, 0], [1, 1, 1, 1, 1, 0]],
    ),
    Op(
        "analytic_and_numeric",
        "any numbers",
        [uniform("n", low=0.5, high=10), F(2**-10)],
        exact=True,
        skip={**PYTHON, **SINGLY},
    ),
    Op(
        "draw_labels",
        "any images",
        [integers("n", 7, 41, 1, high=256, dtype="uint8"), integers("n", high=10**6)],
        skip={**PYTHON, **SINGLY},
    ),
    Op(
        "draw_labels",
        "all digits",
        [np.zeros([2, 7, 41, 1], "u1"), np.array([1234567890, 7])],
        skip=PYTHON,
    ),
    Op(
        "draw_labels",
        "two of three",
        [BATCHES[0, :3], np.int32([4, 5, 6]), 2],
        skip=PYTHON,
    ),
    Program("write_images", "bytes", [BATCHES]),
    Program("write_images", "numbers drawn", [BATCHES, NUMBERS, "digits", 2]),
    Program(
        "write_images",
        "one a step, in colour",
        [BATCHES[:, :2].reshape(2, 1, 4, 7, 5)[..., :3], None, "colours", 1],
    ),
    Program(
        "write_images",
        "floats, negative ones, none that is a number",
        [F([[0, 1, 2, 8], [-2, -1, 0, 1], [0, np.nan, 1, 2]]).reshape(3, 1, 2, 2, 1)],
        exact=True,
    ),
    Raises(
        "relu",
        "text",
        [text("a")],
        graph=INVALID,
        eager=TypeError,
        function=INVALID,
        match="not supported between",
    ),
    Raises(
        "quantize",
        "text",
        [text("a"), 2],
        graph=TypeError,
        eager=TypeError,
        function=TypeError,
        match="string",
    ),
    Raises(
        "binarize",
        "text",
        [text("a")],
        graph=TypeError,
        eager=INVALID,
        function=TypeError,
        match="string",
    ),
    Raises(
        "saliency",
        "sizes that do not fit",
        [np.zeros([2, 3], "f"), np.zeros([4, 2], "f"), np.zeros([2, 2], "f")],
        graph=ValueError,
        eager=INVALID,
        function=ValueError,
        match="must be equal|Matrix size-incompatible",
    ),
    Raises(
        "newton_root",
        "integers",
        [np.int32([1, 2])],
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match="unsupported type",
    ),
    Raises(
        "keep_boxes",
        "three numbers a box",
        [np.zeros([2, 3], "f"), np.zeros([2], "f")],
        graph=tf.errors.UnknownError,
        eager=IndexError,
        function=tf.errors.UnknownError,
        match="index 3 is out of bounds",
    ),
    Raises(
        "repeat_rows",
        "a promise broken, and checked",
        [F([[1, 2]]), [3, 2]],
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match="not compatible with expected shape",
    ),
    Raises(
        "repeat_rows",
        "a promise broken, and not checked",
        [F([[1, 2]]), [3, 2], False],
        eager=ValueError,
        match="not compatible",
    ),
    Raises(
        "parse_quantities",
        "no number",
        [text("1.5 kg", "x")],
        graph=INVALID,
        eager=ValueError,
        function=INVALID,
        match="could not convert string to float: 'x'",
    ),
    Raises(
        "parse_quantities",
        "float64 for float32",
        [text("1.5 kg"), False],
        graph=INVALID,
        eager=None,
        function=INVALID,
        match="0-th value returned by pyfunc_[0-9]+ is double, but expects float",
        expect=[[1.5], [b"KG"]],
    ),
    Raises(
        "log_steps",
        "vectors",
        [np.zeros([2, 3], "f")],
        of="program",
        graph=ValueError,
        eager=TypeError,
        function=INVALID,
        match="Cannot feed value of shape|unsupported format string",
    ),
    Raises(
        "check_gradient",
        "sizes that do not fit",
        [np.zeros([2], "f"), np.zeros([3, 4], "f")],
        of="program",
        graph=ValueError,
        eager=INVALID,
        function=INVALID,
        match="must be equal|Matrix size-incompatible",
    ),
    Raises(
        "analytic_and_numeric",
        "another dtype",
        [F([1, 2]), np.float64(1e-5)],
        graph=TypeError,
        eager=INVALID,
        function=TypeError,
        match="float64|double",
    ),
    Raises(
        "draw_labels",
        "an image that is too small",
        [np.zeros([1, 5, 5, 1], "u1"), np.array([1])],
        graph=INVALID,
        eager=ValueError,
        function=INVALID,
        match="could not broadcast",
    ),
    Raises(
        "draw_labels",
        "a negative number",
        [np.zeros([1, 7, 9, 1], "u1"), np.array([-1])],
        graph=INVALID,
        eager=ValueError,
        function=INVALID,
        match="invalid literal for int",
    ),
    Raises(
        "write_images",
        "no batches",
        [BATCHES[0]],
        of="program",
        graph=INVALID,
        eager=INVALID,
        function=INVALID,
        match="must be rank 4|must be 4-D",
    ),
]
PROOF = proof(v1, v2, CASES)


# The reader of event files never runs eagerly, and TensorFlow warns of that.
@pytest.mark.filterwarnings("ignore:Even though the .tf.config.experimental_run_func")
class PythonOpsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()

    @parameterized.expand([("left", v1), ("right", v2)])
    def test_nothing_comes_and_nothing_goes(self, _, page):
        with legacy() if page is v1 else contextlib.nullcontext():
            rows = page.relu(page.tf.zeros([0, 2]))
            words = page.parse_quantities(page.tf.zeros([0], page.tf.string))
            if page is v1:
                rows, words = page.tf.Session().run([rows, words])
        self.assertEqual([np.shape(a) for a in (rows, *words)], [(0, 2), (0,), (0,)])

    def test_xla_refuses_python(self):
        with self.assertRaisesRegex(INVALID, "PyFunc"):
            tf.function(v2.relu, jit_compile=True)(tf.constant([1.0]))

    def test_the_straight_through_trick_is_exact_for_rounding(self):
        x = np.random.RandomState(0).uniform(size=10_000).astype(np.float32)
        for bits in range(1, 9):
            rounded = v2.quantize(tf.constant(x), bits)
            trick = x + tf.stop_gradient(rounded - x)
            np.testing.assert_array_equal(trick, rounded, strict=True)


class PlotTest(unittest.TestCase):
    """Labels drawn by matplotlib, which is not installed with TensorFlow 1.15."""

    def test_the_plots_are_identical_and_show_their_labels(self):
        if importlib.util.find_spec("matplotlib") is None:
            raise unittest.SkipTest("matplotlib is not installed: pip install .[plot]")
        images, labels = np.zeros([2, 2, 5, 5, 3], "u1"), np.array([[3, 3], [3, 8]])
        with legacy():
            left = v1.write_images(images, labels, "plots", 2, plotted=True)
        right = v2.write_images(images, labels, "plots", 2, plotted=True)
        self.assertEqual(
            [(event["step"], event["tag"], event["size"]) for event in right],
            [(s, f"plots/image/{i}", [80, 160]) for s in range(2) for i in range(2)],
        )
        for ours, theirs in zip(right, left, strict=True):
            self.assertEqual(
                {**ours, "pixels": None}, {**theirs, "pixels": None}, ours["tag"]
            )
            np.testing.assert_array_equal(ours["pixels"], theirs["pixels"], strict=True)
        three, again, _, eight = [event["pixels"] for event in right]
        np.testing.assert_array_equal(three, again)
        self.assertTrue((three != eight).any())


class GradientMapTest(unittest.TestCase):
    """Registered gradients, and how a tape uses them."""

    def setUp(self):
        self.name = "Seven" + uuid.uuid4().hex
        tf.RegisterGradient(self.name)(lambda op, upstream: 7 * upstream)

    def test_a_name_is_registered_once_whoever_asks(self):
        for register in (tf.RegisterGradient, v1.tf.RegisterGradient):
            with self.assertRaisesRegex(KeyError, "Registering two gradient with name"):
                register(self.name)(lambda op, upstream: upstream)

    def test_the_map_goes_by_the_type_of_the_op(self):
        with legacy(), v1.tf.Session() as sess:
            x = v1.tf.constant([-1.0, 2.0])
            found = []
            for options in ({}, {"stateful": False}):
                with x.graph.gradient_override_map({"PyFunc": self.name}):
                    y = v1.tf.py_func(lambda x: x, [x], x.dtype, **options)
                found += [(y.op.type, v1.tf.gradients(y, x)[0])]
            (_, seven), stateless = found
            np.testing.assert_array_equal(sess.run(seven), [7, 7])
        self.assertEqual(stateless, ("PyFuncStateless", None))

    def test_a_tape_beside_the_op_does_not_look_at_the_map(self):
        def overridden(x):
            graph = tf.compat.v1.get_default_graph()
            with graph.gradient_override_map({"Abs": self.name}):
                return tf.abs(x)

        def gradient(function):
            x = tf.constant([-1.0, 2.0])
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x)
            return list(tape.gradient(y, x).numpy())

        @tf.function
        def inside(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = overridden(x)
            return tape.gradient(y, x)

        self.assertEqual(gradient(overridden), [-1, 1])
        self.assertEqual(list(inside(tf.constant([-1.0, 2.0])).numpy()), [-1, 1])
        self.assertEqual(gradient(tf.function(overridden)), [7, 7])

    def test_a_gradient_in_numpy_has_no_gradient(self):
        x = tf.constant([-1.0, 2.0])
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.square(v2.relu(x))
            first = inner.gradient(y, x)
        self.assertEqual(list(first.numpy()), [0, 4])
        # The gradient of the square exists, but the slope counts as a constant.
        self.assertEqual(list(outer.gradient(first, x).numpy()), [0, 2])

    def test_numpy_in_an_eager_python_op_has_a_gradient_of_zero(self):
        def relu(tf, x):
            return tf.py_function(lambda x: np.maximum(x, 0), [x], x.dtype)

        with legacy(), v1.tf.Session() as sess:
            x = v1.tf.constant([-1.0, 2.0])
            (symbolic,) = v1.tf.gradients(relu(v1.tf, x), x)
            left = sess.run(symbolic)
        self.assertEqual(symbolic.shape, [2])  # the static shape
        x = tf.constant([-1.0, 2.0])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            wrapped = relu(tf, x)
            plain = tf.numpy_function(lambda x: np.maximum(x, 0), [x], x.dtype)
        right = tape.gradient(wrapped, x).numpy()
        self.assertIsNone(tape.gradient(plain, x))
        for zero in (left, right):
            self.assertEqual((np.shape(zero), zero), ((), 0))


class GradientCheckTest(unittest.TestCase):
    def test_the_checkers_differ_unless_told(self):
        x, weights = np.float32([0.1, 0.7]), np.float32([[0.3, 1.1]] * 3)
        page = v2.check_gradient(x, weights)

        def layer(x):
            return v2.relu(tf.tensordot(weights, x, 1))

        _, (numeric,) = tf.test.compute_gradient(layer, [tf.constant(x)])
        self.assertEqual((page["numeric"].shape, numeric.shape), ((2, 3), (3, 2)))
        self.assertTrue((page["numeric"] != numeric.T).any())

    @parameterized.expand([("reference", False, 6), ("resource", True, 0)])
    def test_a_resource_variable_is_not_perturbed(self, _, use_resource, slope):
        with legacy(), v1.tf.Session() as sess:
            x = v1.tf.Variable([3.0], use_resource=use_resource)
            sess.run(x.initializer)
            analytic, numeric = v1.tf.test.compute_gradient(
                x, [1], v1.tf.square(x), [1], np.float32([3]), 2.0**-10
            )
        self.assertEqual((analytic.item(), numeric.item()), (6, slope))


def ways(python, inputs, dtype, **options):
    """Returns functions that run Python as an op, as {way: function}."""

    def session():
        with legacy(), v1.tf.Session() as sess:
            return sess.run(v1.tf.py_func(python, inputs, dtype, **options))

    def eager():
        return tf.numpy_function(python, inputs, dtype, **options)

    return {"session": session, "eager": eager, "function": tf.function(eager)}


class PythonSideTest(unittest.TestCase):
    """The arguments, results and lifetime of Python functions in ops."""

    def test_what_python_is_given(self):
        seen = []

        def look(*arguments):
            kinds = [(type(a).__name__, getattr(a, "dtype", None)) for a in arguments]
            seen.append(kinds)
            return np.int64(0)

        for run in ways(look, [1.0, [1.0], "a", ["a"]], tf.int64).values():
            run()
        session, eager, function = seen
        array, number = "ndarray", np.dtype("f4")
        self.assertEqual(
            session,
            [("float32", number), (array, number), ("bytes", None), (array, object)],
        )
        self.assertEqual(function, session)
        self.assertEqual(eager, [(array, "f8")] * 2 + [(array, "<U1")] * 2)

    @parameterized.expand(
        [
            ("another dtype", lambda: np.float64(1.5), "is double, but expects float"),
            ("a list", lambda: [np.float32(1), np.float32(2)], "returns 2 values"),
            ("nothing", lambda: None, "returns 0 values"),
        ]
    )
    def test_what_python_gives_back_is_not_checked_eagerly(self, _, python, message):
        run = ways(python, [], tf.float32)
        for way in ("session", "function"):
            with self.assertRaisesRegex(INVALID, message):
                run[way]()
        np.testing.assert_array_equal(run["eager"](), python())

    def test_an_eager_python_op_converts_and_drops(self):
        def number(python):
            return float(tf.py_function(python, [], tf.float32))

        self.assertEqual(number(lambda: np.float64(1.5)), 1.5)
        self.assertEqual(number(lambda: [1.0, 2.0]), 1)

    @parameterized.expand(
        [
            (ValueError.__name__, ValueError, INVALID),
            (TypeError.__name__, TypeError, INVALID),
            (StopIteration.__name__, StopIteration, tf.errors.OutOfRangeError),
            (MemoryError.__name__, MemoryError, tf.errors.ResourceExhaustedError),
            ("not implemented", NotImplementedError, tf.errors.UnimplementedError),
            ("any other", KeyError, tf.errors.UnknownError),
        ]
    )
    def test_exceptions(self, _, raised, seen):
        def fail():
            raise raised("the cause")

        run = ways(fail, [], tf.float32)
        wrapped = tf.function(lambda: tf.py_function(fail, [], tf.float32))
        for way in (run["session"], run["function"], wrapped, wrapped.python_function):
            with self.assertRaisesRegex(seen, "the cause") as caught:
                way()
            self.assertIs(type(caught.exception), seen)
        with self.assertRaisesRegex(raised, "the cause"):
            run["eager"]()

    def test_booleans_are_not_subtracted(self):
        run = ways(lambda x: True - (x > 0), [[1.0]], tf.float32)
        for way, error in [("session", INVALID), ("eager", TypeError)]:
            with self.assertRaisesRegex(error, "boolean subtract"):
                run[way]()

    def test_the_rank_is_unknown_until_it_is_said(self):
        def ranks(tf, op):
            y = op(lambda: np.zeros([2, 3], np.float32), [], tf.float32)
            return y.shape.ndims, tf.ensure_shape(y, [None, 3]).shape.as_list()

        found = []
        with legacy():
            found.append(ranks(v1.tf, v1.tf.py_func))
        tf.function(lambda: found.append(ranks(tf, tf.numpy_function)))()
        self.assertEqual(found, [(None, [None, 3])] * 2)

    def test_python_that_writes_to_its_argument(self):
        def write(x):
            x[0] = 99
            return np.int64(0)

        def both(x):
            y = x + 1
            with tf.control_dependencies([tf.numpy_function(write, [y], tf.int64)]):
                return y * 1

        with legacy(), v1.tf.Session() as sess:
            x = v1.tf.placeholder(v1.tf.float32, [2])
            y = x + 1
            with v1.tf.control_dependencies([v1.tf.py_func(write, [y], v1.tf.int64)]):
                session = sess.run(y * 1, {x: [1, 2]})
        x = tf.constant([1.0, 2.0])
        found = [session, both(x).numpy(), tf.function(both)(x).numpy()]
        # On 1.15.5 Python had a copy: [2, 3].
        np.testing.assert_array_equal(found, [[99, 3], [2, 3], [99, 3]])

    @parameterized.expand(
        [
            ("with state", True, 0, 3, 3),
            ("without", False, 0, 0, 1),
        ]
    )
    def test_calls_in_three_runs(self, _, stateful, fetched, function, constant):
        calls = []

        def count(x):
            calls.append("called")
            return x

        def calls_of(run):
            calls.clear()
            for number in [1.0, 2.0, 3.0]:
                run(number)
            return len(calls)

        @tf.function
        def unused(x):
            tf.numpy_function(count, [x], x.dtype, stateful=stateful)
            return x + 1

        @tf.function
        def of_a_constant():
            one = tf.constant(1.0)
            return tf.numpy_function(count, [one], one.dtype, stateful=stateful) + 1

        with legacy(), v1.tf.Session() as sess:
            x = v1.tf.placeholder(v1.tf.float32, [])
            v1.tf.py_func(count, [x], x.dtype, stateful=stateful)
            y = x + 1
            left = calls_of(lambda number: sess.run(y, {x: number}))
        self.assertEqual(left, fetched)
        self.assertEqual(calls_of(lambda n: unused(tf.constant(n))), function)
        self.assertEqual(calls_of(lambda _: of_a_constant()), constant)

    def test_a_graph_lets_go_of_its_python_and_a_function_does_not(self):
        def kept(make):
            def python(x):
                return x

            make(python)
            reference = weakref.ref(python)
            del python
            gc.collect()
            return reference() is not None

        def in_a_graph(python):
            with legacy():
                v1.tf.py_func(python, [1.0], v1.tf.float32)

        def in_a_function(python):
            tf.function(lambda: tf.numpy_function(python, [1.0], tf.float32))()

        def eagerly(python):
            tf.numpy_function(python, [1.0], tf.float64)

        self.assertEqual(
            [kept(make) for make in (in_a_graph, eagerly, in_a_function)],
            [False, False, True],
        )

    @parameterized.expand(
        [("left", v1.tf, v1.tf.py_func), ("right", tf, tf.numpy_function)]
    )
    def test_a_saved_graph_does_not_have_the_python(self, _, tf_, op):
        with tf.Graph().as_default() as graph:
            op(lambda: np.float32(1), [], tf_.float32, name="python")
        saved = graph.as_graph_def()
        del graph
        gc.collect()

        @tf.function
        def load():
            return tf.graph_util.import_graph_def(saved, return_elements=["python:0"])

        with self.assertRaisesRegex(INVALID, "Could not find callback"):
            load()
