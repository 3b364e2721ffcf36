"""A user's port: what a pair takes, what it finds, what it refuses."""

import dataclasses
import sys
import unittest
import unittest.mock

import numpy as np
from parameterized import parameterized

from tf1to2.pages.page import NoPage
from tf1to2.parity import Pair, leaves, renamed, settings
from tf1to2.parity.recordings import StaleRecording
from tf1to2.parity.within import Within
from tf1to2.prove import asking
from tf1to2.tests import ported
from tf1to2.tests.ported import Folder

settings.apply()


def failures(pair, ways=("eager",)):
    """The messages of the checks that fail."""
    found = []
    for slug, check in pair.checks():
        if check.way in ways:
            try:
                check()
            except AssertionError as error:
                found.append(str(error))
            except Exception as error:  # a port that breaks
                found.append(f"{slug} raises {type(error).__name__}: {error}")
    return found


class PortTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Folder.of(cls)
        cls.folder.record()
        cls.pair = cls.folder.pair()

    def test_a_right_port_is_proven_in_every_way(self):
        ways = {check.way for _, check in self.pair.checks()}
        self.assertEqual(ways, {"eager", "function", "dynamic", "xla"})
        self.assertEqual(failures(self.pair, ways), [])

    def test_a_layer_that_is_given_arrays_knows_their_depth(self):
        units = "tf.ones([x.shape[-1]], x.dtype)"
        port = ported.PORT.replace("tf.ones([3], x.dtype)", units)
        given = '"twice", normal("n", 3), sizes=[{"n": 6}]'
        self.assertIn(given, ported.TEST)
        test = ported.TEST.replace(given, '"twice", DATA[0]')
        with Folder(port=port, test_port=test) as folder:
            folder.record()
            self.assertEqual(failures(folder.pair(), ("dynamic",)), [])

    def test_tests_have_names_that_tell(self):
        names = [name for name in dir(self.pair.test()) if name.startswith("test_")]
        self.assertIn("test_train-three_steps-function", names)
        self.assertEqual(len(names), len(self.pair.checks()))

    def test_the_recording_lies_beside_the_test(self):
        self.assertTrue((self.folder.path / "test_port.npz").exists())

    @parameterized.expand([(m[0].replace(" ", "_"), *m[1:]) for m in ported.MISTAKES])
    def test_a_wrong_port_fails_and_the_leaf_is_named(self, _, right, wrong, leaf):
        self.assertIn(right, ported.PORT)
        with Folder(port=ported.PORT.replace(right, wrong, 1)) as folder:
            golden = self.folder.path / "test_port.npz"
            (folder.path / golden.name).write_bytes(golden.read_bytes())
            (found,) = failures(folder.pair())
        self.assertIn(f" {leaf}:", found)

    def test_a_module_of_the_same_name_is_not_taken_for_the_port(self):
        with Folder() as other:
            (other.path / "port.py").write_text("scores = Norm = train = None\n")
            sys.modules.pop("port", None)
            self.assertIsNone(other.pair().v2.train)
            with self.assertRaisesRegex(ImportError, "already imported"):
                file = self.folder.path / "test_x.py"
                self.assertIsNone(Pair("legacy.net", "port.py", file=file).v2)


LEFT = """
import tensorflow.compat.v1 as tf


def net(x):
    w = tf.get_variable("w", [3, 1], x.dtype, tf.zeros_initializer())
    return tf.matmul(x, w)


def train(x, y, steps):
    inputs = tf.placeholder(x.dtype, [None, 3])
    noise = tf.random_normal([], dtype=x.dtype, seed=5)
    loss = tf.reduce_mean(tf.square(net(inputs) - (y - noise)))
    op = tf.train.GradientDescentOptimizer(0.125).minimize(loss)
    for step in range(steps):
        yield {"loss": loss, "op": op}, {inputs: x}
"""
RIGHT = """
import tensorflow as tf


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = None

    def __call__(self, x):
        if self.w is None:
            self.w = tf.Variable(lambda: tf.zeros([3, 1], x.dtype), name="scope/w")
        return tf.matmul(x, self.w)


def train(x, y, steps):
    net, noise = Net(), tf.random.Generator.from_state([0, 5, 17], "philox")
    net(tf.constant(x))

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            y -= noise.normal([], dtype=x.dtype)
            loss = tf.reduce_mean(tf.square(net(x) - y))
        net.w.assign_sub(0.125 * tape.gradient(loss, net.w))
        return loss

    for _ in range(steps):
        yield {"loss": step(tf.constant(x), tf.constant(y))}
    return {"w": net.w}
"""


class StepsTest(unittest.TestCase):
    """The engine seeds, makes sessions, initializes, reads variables."""

    def found(self, port=RIGHT, **options):
        folder = Folder.of(self, port=port)
        folder.write("legacy/net", LEFT)
        file = folder.path / "test_port.py"
        pair = Pair("legacy/net.py", "port.py", {"net": "Net"}, file=file, **options)
        data = np.random.RandomState(0).randn(8, 4).astype("f4")
        pair.layer("net", "in a scope", data[:, :3], scope="scope")
        pair.program("train", "three steps", data[:, :3], data[:, 3:], 3)
        with unittest.mock.patch.object(asking, "ask", ported.asked_today):
            asking.record(pair, "python3.7")
        self.pair = pair
        return failures(pair, ("eager", "function"))

    def test_both_sides(self):
        self.assertEqual(self.found(seed=17), [])
        paths = {
            leaf.path for _, leaf in self.pair.measured(self.pair.cases[1], "eager")
        }
        steps = {f"outputs/steps/{i}/loss" for i in range(3)}
        self.assertEqual(paths, steps | {"outputs/variables/3/w"})

    def test_variables_of_other_names_are_matched(self):
        right = RIGHT.replace('name="scope/w"', 'name="net/kernel"')
        right = right.replace('return {"w": net.w}', 'return {"net/kernel": net.w}')
        self.assertIn("initial/scope/w:0: only in", "".join(self.found(right, seed=17)))
        self.assertEqual(self.found(right, seed=17, variables="auto"), [])
        layer, train = self.pair.cases
        self.assertEqual(self.pair.matched[layer], {"scope/w": "net/kernel"})
        self.assertEqual(self.pair.matched[train], {"w": "net/kernel"})

    def test_between_equals_nobody_guesses(self):
        left, right = {"a/w": (3,), "b/w": (3,)}, {"b/k": (3,), "c/k": (3,)}
        found = renamed.names(left, right)
        self.assertNotEqual(found.get("b/w"), "c/k")
        self.assertEqual(renamed.names({"w": (2,)}, {"k": (3,)}), {})

    def test_another_seed_is_told(self):
        self.assertIn("first in step 0: outputs/steps/0/loss", self.found(seed=18)[0])

    def test_a_step_less_is_told(self):
        port = RIGHT.replace("range(steps)", "range(steps - 1)")
        found = self.found(port, seed=17)
        self.assertIn("outputs/steps/2/loss: only in", found[0])

    def test_a_variable_that_is_not_returned_is_told(self):
        port = RIGHT.replace('return {"w": net.w}', "return {}")
        self.assertIn("outputs/variables/3/w: only in", self.found(port, seed=17)[0])

    def test_no_step_is_refused(self):
        with Folder() as folder:
            folder.write("legacy/net", LEFT)
            file = folder.path / "test_port.py"
            pair = Pair("legacy/net.py", "port.py", file=file)
            pair.program("train", "none", np.zeros([1, 3]), np.zeros([1, 1]), 0)
            with unittest.mock.patch.object(asking, "ask", ported.asked_today):
                with self.assertRaisesRegex(
                    AssertionError, "the program yields no step"
                ):
                    asking.record(pair, "python3.7")


class WithinTest(unittest.TestCase):
    """The port says 0.2501 where the left page says 0.25."""

    @classmethod
    def setUpClass(cls):
        port = ported.PORT.replace("constant(0.25", "constant(0.2501")
        cls.folder = Folder.of(cls, port=port)
        cls.folder.record()

    def found(self, **options):
        return failures(self.pair(**options), ("eager", "within"))

    def pair(self, **options):
        file = self.folder.path / "test_port.py"
        pair = Pair("legacy.net", "port.py", variables={"b": "offset"}, file=file)
        data = np.random.RandomState(0).randn(8, 4).astype("f4")
        inputs = data[:, :3], data[:, 3:]
        pair.program("train", "three steps", *inputs, **options)
        with unittest.mock.patch.object(asking, "ask", ported.asked_today):
            asking.record(pair, "python3.7")
        return pair

    def test_without_a_bound(self):
        (found,) = self.found()
        self.assertIn("first in step 0: outputs/0/w", found)

    def test_a_bound_in_both_arithmetics(self):
        wide = {"*": 2e-3}
        self.assertEqual(self.found(within=wide, within64=wide, why="a rate"), [])

    def test_a_bound_that_is_too_narrow(self):
        narrow = {"*": 1e-5}
        found, *_ = self.found(within={"*": 2e-3}, within64=narrow, why="a rate")
        self.assertIn("first in step 0: outputs/0/w", found)

    def test_float32_alone_is_not_enough(self):
        (found,) = self.found(within={"*": 2e-3}, why="a rate")
        self.assertNotIn("float32 ", found)

    def test_a_bound_that_is_far_above_holds_and_is_told(self):
        bounds = {"within": {"*": 2e-3}, "within64": {"*": 0.5}}
        pair = self.pair(**bounds, why="a rate")
        self.assertEqual(failures(pair, ("eager", "within")), [])
        (told,) = pair.loose(pair.cases[0])
        self.assertRegex(told, r"^within '\*': 0.5, but measured 0.00\d+$")

    def test_a_bound_on_what_is_identical_holds_and_is_told(self):
        bounds = {"within": {"*": 2e-3}, "within64": {"*": 2e-3, "0/loss": 1}}
        pair = self.pair(**bounds, why="a rate")
        self.assertEqual(failures(pair, ("eager", "within")), [])
        told = ["within '0/loss': 1, but identical here"]
        self.assertEqual(pair.loose(pair.cases[0]), told)

    def test_a_bound_on_no_leaf(self):
        bounds = {"within": {"*": 2e-3}, "within64": {"*": 2e-3, "lose": 1}}
        (found,) = self.found(**bounds, why="a rate")
        self.assertIn("'lose' names no leaf; the leaves are: outputs/0/b", found)

    @parameterized.expand(
        [
            ("zero", 0, "x", "not a bound"),
            ("one_and_more", 1.5, "x", "not a bound"),
            ("true", True, "x", "not a bound"),
            ("without_a_reason", 2, "", "why="),
        ]
    )
    def test_what_is_no_bound(self, _, bound, why, message):
        with self.assertRaisesRegex(ValueError, message):
            Within("loss", bound, why)

    @parameterized.expand(
        [
            ("path", "outputs/1/loss", True),
            ("short", "1/loss", True),
            ("beginning", "1", True),
            ("wildcard", "*/loss", True),
            ("part_of_a_word", "1/lo", False),
            ("another", "2", False),
        ]
    )
    def test_which_leaf_it_names(self, _, leaf, wanted):
        self.assertEqual(Within(leaf, 1, "x").names("outputs/1/loss"), wanted)


class KindsTest(unittest.TestCase):
    """Bad input, false friends, the left page today, what is not compared."""

    def setUp(self):
        folder = Folder.of(self)
        folder.write("legacy/more", MORE)
        folder.write("more", MORE.replace("compat.v1 as", "compat.v2 as"))
        self.file = folder.path / "test_port.py"
        self.make = lambda **options: Pair(
            "legacy.more", "more", name="more", file=self.file, **options
        )

    def proven(self, pair):
        with unittest.mock.patch.object(asking, "ask", ported.asked_today):
            asking.record(pair, "python3.7")
        return failures(pair, {check.way for _, check in pair.checks()})

    def test_bad_input(self):
        pair = self.make()
        pair.raises("checked", "below", -1.0, error=ValueError, match="negative")
        self.assertEqual(self.proven(pair), [])
        pair.raises("checked", "above", 1.0, error=ValueError, match="negative")
        self.assertIn("no error in TensorFlow 1.15.5", self.proven(pair)[0])

    def test_a_false_friend(self):
        pair = self.make()
        pair.false_friend(
            "halves",
            "odd",
            np.float32([3, 4]),
            naive=lambda x: x // 2,
            because="it rounds down",
        )
        self.assertEqual(self.proven(pair), [])

    def test_the_left_page_today(self):
        pair = self.make(today=True)
        pair.op("halves", "odd", np.float32([3, 4]))
        self.assertEqual(self.proven(pair), [])
        forms = {form for form, _ in pair.measured(pair.cases[0], "eager")}
        self.assertEqual(forms, {"float32", "float64", "left today"})
        self.assertIn("graph", {check.way for _, check in pair.checks()})

    def test_it_is_not_imported_unless_asked_for(self):
        pair = self.make()
        pair.op("halves", "odd", np.float32([3, 4]))
        self.proven(pair)
        sys.modules.pop("legacy.more")  # which stood for TensorFlow 1
        pair = self.make()
        pair.op("halves", "odd", np.float32([3, 4]))
        self.assertEqual(failures(pair), [])
        self.assertNotIn("legacy.more", sys.modules)

    def test_float32_alone(self):
        pair = self.make()
        pair.op("halves", "odd", np.float32([3, 4]), float32=True)
        self.assertEqual(self.proven(pair), [])
        forms = {form for form, _ in pair.measured(pair.cases[0], "eager")}
        self.assertEqual(forms, {"float32"})
        ((_, leaf), *_) = pair.measured(pair.cases[0], "eager")
        far = dataclasses.replace(leaf, floating=True, told="so", relative=2.0**-20)
        more = "differs by more than 9.5e-07: fix it, or give within="
        for leaf, verdict in [
            (far, (True, "last bits")),
            (dataclasses.replace(far, relative=2.0**-19), (False, more)),
            (dataclasses.replace(far, relative=np.inf), (False, "differs")),
            (dataclasses.replace(far, floating=False), (False, "differs")),
        ]:
            found = pair.verdict(pair.cases[0], "float32", leaf)
            self.assertEqual(found, verdict)


MORE = """
import tensorflow.compat.v1 as tf


def checked(x):
    if x < 0:
        raise ValueError("negative: %s" % x)
    return x


def halves(x):
    return x / 2
"""


class RefusedTest(unittest.TestCase):
    def pair(self, folder):
        return Pair("legacy.net", "port.py", file=folder.path / "test_x.py")

    def test_a_case_twice_an_empty_pair_and_an_unknown_option(self):
        with Folder() as folder:
            pair = self.pair(folder)
            with self.assertRaisesRegex(ValueError, "this pair has no case"):
                pair.test()
            pair.op("logits", "a", np.float32([[1]]))
            with self.assertRaisesRegex(ValueError, "two cases are called logits, a"):
                pair.op("logits", "a", np.float32([[1]]))
            with self.assertRaisesRegex(TypeError, "axis"):
                pair.op("logits", "b", np.float32([[1]]), axis=1)

    def test_a_page_that_is_not_there(self):
        with Folder() as folder, self.assertRaisesRegex(FileNotFoundError, "nett"):
            Pair("legacy.nett", "port.py", file=folder.path / "test_x.py")

    @parameterized.expand([("a_path", "new/ported.py"), ("a_name", "new.ported")])
    def test_a_port_that_is_not_there_yet(self, _, right):
        with Folder() as folder:
            pair = Pair("legacy.net", right, file=folder.path / "test_x.py")
            self.assertEqual(pair.name, "ported")
            with self.assertRaisesRegex(NoPage, "ported(.py)?: write the port"):
                self.assertIsNone(pair.v2)


class StaleTest(unittest.TestCase):
    """The left page imports rates.py, which is not named anywhere."""

    @parameterized.expand(
        [
            ("a_comment", "legacy/rates", "RATE = 0.25  # new\n", None),
            ("a_docstring", "legacy/rates", '"""New."""\nRATE = 0.25\n', None),
            ("a_number", "legacy/rates", "RATE = 0.5\n", "legacy.rates has changed"),
            (
                "a_docstring_of_the_page",
                "legacy/net",
                ported.LEGACY.replace("What people have.", "New."),
                None,
            ),
            (
                "the_page",
                "legacy/net",
                ported.LEGACY.replace("(rate, 0.9)", "(rate, 0.8)"),
                "legacy.net has changed since it was recorded: run tf1to2 record test_",
            ),
            (
                "another_function",
                "legacy/net",
                ported.LEGACY.replace("w) - 0.5)", "w) - 0.6)"),
                None,
            ),
            (
                "an_input",
                "test_port",
                ported.TEST.replace("RandomState(0)", "RandomState(1)"),
                "train, three steps of legacy.net has changed",
            ),
        ]
    )
    def test_after_a_change(self, _, name, text, message):
        with Folder() as folder:
            folder.record()
            folder.write(name, text)
            pair = folder.pair()
            case = pair.cases[-1]
            if message is None:
                pair.prove(case, "eager")
            else:
                with self.assertRaisesRegex(StaleRecording, message):
                    pair.prove(case, "eager")


class LeavesTest(unittest.TestCase):
    def measure(self, a, b, path="outputs/loss", kind="op"):
        (leaf,) = leaves.measure(
            {path: np.asarray(a)}, {path: np.asarray(b)}, "ab", kind
        )
        return leaf

    def test_noise_near_zero_does_not_drown_what_matters(self):
        quiet = self.measure(np.float32([1, 1e-30]), np.float32([1, -1e-30]))
        loud = self.measure(np.float32([1, 0]), np.float32([1.5, 0]))
        self.assertGreater(quiet.ulps, loud.ulps)
        self.assertIs(leaves.worst([quiet, loud]), loud)

    @parameterized.expand(
        [
            ("dtype", np.float32(1), np.float64(1), "shape", "dtype float32 in a"),
            ("shape", np.zeros(2), np.zeros(3), "shape", r"shape \(2,\) in a"),
            ("nan", np.float32(1), np.float32("nan"), "forward", "other values"),
            ("text", np.asarray("a"), np.asarray("b"), "forward", "other values"),
            ("zero", np.float32(0), np.float32(-0.0), "forward", "0.0 in a; -0.0 in b"),
            (
                "int",
                np.asarray([1, 2]),
                np.asarray([1, 4]),
                "forward",
                "2 in a; 4 in b",
            ),
        ]
    )
    def test_what_differs(self, _, a, b, rung, told):
        leaf = self.measure(a, b)
        self.assertEqual(leaf.rung, rung)
        self.assertRegex(leaf.message, told)

    @parameterized.expand(
        [
            ("outputs/12/loss", "step", 12),
            ("outputs/steps/3/loss", "step", 3),
            ("outputs/variables/30/dense/kernel", "step", 30),
            ("outputs/weights/4", "state", 0),
            ("outputs/variables/w", "state", 0),
            ("outputs", "result", 0),
            ("outputs/layers/2", "result", 0),
        ]
    )
    def test_where_a_leaf_of_a_program_is(self, path, rung, step):
        leaf = self.measure(1.0, 2.0, path, "program")
        self.assertEqual((leaf.rung, leaf.step), (rung, step))

    def test_units_in_the_last_place_that_are_no_help_are_not_shown(self):
        near = self.measure(np.float32(1), np.float32(1 + 1e-6))
        self.assertEqual(near.far, "9.5e-07, 8 ULP")
        self.assertEqual(self.measure(1.0, 1 + 1e-6).far, "1.0e-06")

    def test_all_that_differs_is_told(self):
        a = {"outputs/a": np.zeros(2), "outputs/b": np.zeros(2), "structure": "x"}
        b = {"outputs/a": np.zeros(3), "outputs/c": np.zeros(2)}
        found = [leaf.path for leaf in leaves.measure(a, b, "ab") if leaf.told]
        self.assertEqual(found, ["outputs/a", "outputs/b", "outputs/c"])


if __name__ == "__main__":
    unittest.main()
