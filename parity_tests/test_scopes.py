import functools
import os
import tempfile
import unittest

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from parameterized import parameterized

from parity_tests import PLAIN, proof, shorthand
from tf1to2.parity import Layer, Program, Raises, normal
from tf1to2.parity.v1 import legacy
from v1_graph import cookbook as cookbook_1
from v1_graph import gradients as gradients_1
from v1_graph import scopes as v1
from v1_graph import variables as variables_1
from v2_eager import cookbook, gradients, variables
from v2_eager import scopes as v2
from v2_eager.numerics import initializers

ONE, TWO, THREE = np.float32([1, 2]), np.float32([3, 4]), np.float32([5, 6])
W = "outer/inner/w:0"

CASES = [
    Program(
        "op_names",
        "the classic",
        ["scope"],
        expect=[
            "Const:0",
            "Const_1:0",
            "a:0",
            "a_1:0",
            "scope/a:0",
            "scope_1/a:0",
            "scope/a_1:0",
        ],
    ),
    Program("op_names", "a scope called like an op", ["a"]),
    Program(
        "variable_names",
        "the classic",
        ["scope"],
        expect=[
            "Variable:0",
            "Variable_1:0",
            "b:0",
            "b_1:0",
            "scope/b:0",
            "c:0",
            "scope_1/b:0",
            "d:0",
            "scope_2/b:0",
            "scope/c:0",
            "scope_3/b:0",
            "scope/d:0",
            "scope/b_1:0",
        ],
        skip={"function": PLAIN},
    ),
    Program(
        "variable_names",
        "a scope called like a variable",
        ["b"],
        skip={"function": PLAIN},
    ),
    Program(
        "variable_names",
        "a scope called like a variable that is got",
        ["c"],
        skip={"function": PLAIN},
    ),
    Program("variable_names", "a path", ["net/layer-1"], skip={"function": PLAIN}),
    Program(
        "get_in_turn",
        "once",
        [[ONE], [[False, False]]],
        expect=([W], [[2, 4]]),
        skip={"function": PLAIN},
    ),
    Program(
        "get_in_turn",
        "reuse",
        [[ONE, TWO], [[False, False], [False, True]]],
        expect=([W, W], [[2, 4], [2, 4]]),
        skip={"function": PLAIN},
    ),
    Program(
        "get_in_turn",
        "reuse is inherited and cannot be taken back",
        [[ONE, TWO, THREE], [[None, None], [True, None], [True, False]]],
        expect=([W, W, W], [[2, 4], [2, 4], [2, 4]]),
        skip={"function": PLAIN},
    ),
    Program(
        "get_in_turn",
        "auto makes and then finds",
        [[ONE, TWO, THREE], [["auto", None], [None, "auto"], ["auto", "auto"]]],
        expect=([W, W, W], [[2, 4], [2, 4], [2, 4]]),
        skip={"function": PLAIN},
    ),
    Program(
        "get_in_turn",
        "integers",
        [[np.int32(3), np.int32(4)], [[False, False], [True, "auto"]]],
        expect=([W, W], [6, 6]),
        skip={"function": PLAIN},
    ),
    Program(
        "template_names", "one", [[0]], expect=["net/w:0"], skip={"function": PLAIN}
    ),
    Program(
        "template_names",
        "numbered by their first calls",
        [[2, 0, 1]],
        expect=["net_1/w:0", "net_2/w:0", "net/w:0"],
        skip={"function": PLAIN},
    ),
    Layer(
        "make_convolution",
        "any size",
        [normal("b", "h", 6, 3)],
        factory={"filters": 8},
        sizes=[{"b": 7, "h": 5}, {"b": 8, "h": 16}, {"b": 67, "h": 4}],
    ),
    Layer(
        "make_convolution",
        "frozen, in a scope of scopes",
        [normal(2, 5, 4, 2)],
        factory={"filters": 5, "size": 2, "trainable": False, "name": "net/tower-1"},
    ),
    Layer(
        "make_siamese",
        "any size",
        [normal("b", "h", 5, 3), normal("b", 4, "w", 3)],
        factory={"filters": 4},
        sizes=[{"b": 2, "h": 5, "w": 7}, {"b": 67, "h": 4, "w": 5}],
    ),
    Layer(
        "make_siamese",
        "two convolutions deep",
        [normal(3, 5, 6, 2), normal(2, 4, 3, 2)],
        factory={"filters": 2, "depth": 2, "size": 5, "name": "pair"},
    ),
    Layer(
        "make_scoped_dense",
        "any batch",
        [normal("b", 5)],
        factory={"units": 4},
    ),
    Layer(
        "make_scoped_dense",
        "another penalty and name",
        [normal(6, 3)],
        factory={"units": 2, "penalty": 0.25, "name": "head"},
    ),
]


refused = functools.partial(shorthand.refused, "get_in_turn")


CASES += [
    refused(
        "declared twice",
        [[ONE, TWO], [[False, False], [None, None]]],
        "outer/inner/w already exists",
    ),
    refused(
        "reuse of nothing",
        [[ONE], [[True, False]]],
        "outer/inner/w does not exist",
    ),
    refused(
        "auto outside and reuse inside",
        [[ONE], [["auto", True]]],
        "outer/inner/w does not exist",
    ),
    refused(
        "another shape",
        [[ONE, np.float32([1, 2, 3])], [[False, False], ["auto", None]]],
        r"outer/inner/w\b.* specified shape \(3,\)",
    ),
    refused(
        "another dtype",
        [[ONE, np.int32([1, 2])], [[False, False], [True, None]]],
        r"outer/inner/w\b.* specified dtype \D*int32",
    ),
    Raises(
        "make_siamese",
        "images of other channels",
        [np.zeros([1, 4, 4, 4], "f"), np.zeros([1, 4, 4, 2], "f")],
        of="layer",
        factory={"filters": 8},
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match=r"siamese/tower/conv2d/kernel\b.* specified shape \(3, 3, 2, 8\)",
    ),
]
PROOF = proof(v1, v2, CASES)


class ScopesTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class Leaf(tf.Module):
    @tf.Module.with_name_scope
    def __call__(self):
        return tf.Variable(1.0, name="v")


class ModuleNamesTest(unittest.TestCase):
    """A module's name scope is absolute: that of the place where it was made."""

    def test_names(self):
        alpha = tf.Module("alpha")
        with alpha.name_scope:
            inside = Leaf("leaf")
        outside = Leaf("leaf")
        with alpha.name_scope:
            names = [leaf().name for leaf in (inside, outside)]
        self.assertEqual(names, ["alpha/leaf/v:0", "leaf/v:0"])


class WithinTest(unittest.TestCase):
    """A layer of any page may be used in nested scopes."""

    @parameterized.expand(
        [
            ("make_batch_norm", (cookbook_1, cookbook), {}, [np.ones([2, 3]), True]),
            ("make_scale", (gradients_1, gradients), {"limit": 1.0}, [np.ones([2, 3])]),
            (
                "make_embedding",
                (variables_1, variables),
                {"rows": 4, "units": 3},
                [np.int32([0, 2]), np.ones([2, 3])],
            ),
        ]
    )
    def test_names(self, name, pages, options, given):
        left, right = (getattr(page, name) for page in pages)

        def tensors():
            return [x if x is True else tf.constant(x) for x in given]

        with legacy(), tf1.Graph().as_default():
            left(**options, name="net/part")(*tensors())
            expected = sorted(v.name for v in tf1.global_variables())
        layer = right(**options, name="net/part")
        layer(*tensors())
        self.assertEqual(sorted(v.name for v in layer.variables), expected)
        self.assertTrue(all(name.startswith("net/part/") for name in expected))


class NamesTest(unittest.TestCase):
    """Properties of names that have no pair, and errors without the right page."""

    def test_eager_tensors_have_no_name(self):
        with self.assertRaisesRegex(AttributeError, "name is undefined"):
            _ = tf.constant(1, name="a").name

    def test_variables_are_not_numbered_any_more(self):
        naive = [tf.Variable(1.0).name, tf.Variable(1.0).name]
        self.assertEqual(naive, ["Variable:0", "Variable:0"])
        self.assertEqual(v2.variable_names("s")[:2], ["Variable:0", "Variable_1:0"])

    def test_name_scopes_are_numbered_in_a_trace_only(self):
        def build():
            for _ in range(2):
                with tf.name_scope("scope"):
                    made.append(tf.Variable(lambda: 1.0, name="b"))

        made = []
        build()
        self.assertEqual([v.name for v in made], ["scope/b:0", "scope/b:0"])
        made = []

        @tf.function
        def trace():
            if not made:
                build()

        trace()
        self.assertEqual([v.name for v in made], ["scope/b:0", "scope_1/b:0"])

    @parameterized.expand([("eagerly", False), ("in a function", True)])
    def test_an_outer_name_scope_is_not_part_of_the_names(self, _, traced):
        layer = v2.make_convolution(2)

        def call(image):
            with tf.name_scope("outer"):
                return layer(image)

        if traced:
            call = tf.function(call)
        call(tf.ones([1, 2, 2, 1]))
        names = ["convolution/conv2d/bias:0", "convolution/conv2d/kernel:0"]
        self.assertEqual([v.name for v in layer.variables], names)

    def test_a_template_makes_no_variable_in_a_later_call(self):
        with legacy():
            asked = ["w"]
            template = tf1.make_template(
                "net", lambda: [tf1.get_variable(name, []) for name in asked]
            )
            template()
            asked.append("b")
            with self.assertRaisesRegex(ValueError, "net/b does not exist"):
                template()

    def test_channels_that_are_unknown(self):
        @tf.function(input_signature=[tf.TensorSpec([None, None, None, None])])
        def call(image):
            return layer(image)

        layer = v2.make_convolution(2)
        with self.assertRaisesRegex(ValueError, "conv2d/kernel must be fully defined"):
            call(tf.ones([1, 2, 2, 1]))
        with legacy(), self.assertRaisesRegex(ValueError, "be fully defined"):
            v1.make_convolution(2)(tf1.placeholder(tf.float32, [None] * 4))

    def test_default_names_skip_the_ones_that_are_open(self):
        scope = v2.Scope({}).open("net")
        scope.open("dense_1")
        names = [scope.open(default_name="dense").prefix for _ in range(3)]
        self.assertEqual(names, ["net/dense/", "net/dense_2/", "net/dense_3/"])
        with legacy(), tf1.variable_scope("net"):
            with tf1.variable_scope("dense_1"):
                pass
            for name in names:
                with tf1.variable_scope(None, default_name="dense") as scope:
                    self.assertEqual(scope.name + "/", name)

    def test_a_kernel_for_fewer_channels_is_a_grouped_convolution(self):
        shared = tf.nn.conv2d(tf.ones([1, 4, 4, 4]), tf.ones([3, 3, 2, 2]), 1, "SAME")
        self.assertEqual(shared.shape, [1, 4, 4, 2])

    def test_a_collection_is_searched_by_prefix(self):
        with legacy():
            x = tf1.placeholder(tf.float32, [None, 3])
            for layer in [v1.make_scoped_dense(3), v1.make_scoped_dense(3)]:
                layer(x)
            losses = tf1.GraphKeys.REGULARIZATION_LOSSES
            found = {
                scope: len(tf1.get_collection(losses, scope))
                for scope in ("dense", "dense/", "dense_1/")
            }
        self.assertEqual(found, {"dense": 4, "dense/": 2, "dense_1/": 2})

    def test_one_seed_for_a_scope_makes_twins(self):
        def equal(run):
            tf.random.set_seed(7)
            twins = [v2.make_scoped_dense(3), v2.make_scoped_dense(3)]
            run(lambda: [layer(tf.ones([2, 3])) for layer in twins])
            first, second = ([w.numpy() for w in layer.variables] for layer in twins)
            return [np.array_equal(a, b) for a, b in zip(first, second, strict=True)]

        self.assertEqual(equal(lambda call: tf.function(call)()), [True, True])
        self.assertEqual(equal(lambda call: call()), [True, True])

    def test_eagerly_the_draws_of_one_seed_are_a_stream(self):
        tf.random.set_seed(7)
        first, second = (tf.random.normal([3], seed=1).numpy() for _ in range(2))
        self.assertFalse(np.array_equal(first, second))

    def test_initializers_of_one_name_are_not_of_one_spread(self):
        naive = tf.random_normal_initializer(seed=1)([100, 100])
        right = initializers.random_normal(seed=1)([100, 100])
        self.assertEqual(np.round(np.std(naive), 2), np.float32(0.05))
        self.assertEqual(np.round(np.std(right), 1), np.float32(1))

    def test_a_checkpoint_of_the_left_page_is_read_by_name(self):
        image = np.random.RandomState(0).randint(-8, 9, [2, 4, 4, 3]).astype("f")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            with legacy(), tf1.Session() as sess:
                fed = tf1.placeholder(tf.float32, image.shape)
                outputs = v1.make_siamese(4, depth=2)(fed, fed)
                for variable in tf1.global_variables():
                    shape = variable.shape.as_list()
                    variable.load(np.arange(np.prod(shape)).reshape(shape) % 5, sess)
                tf1.train.Saver().save(sess, path)
                expected = sess.run(outputs, {fed: image})
            layer = v2.make_siamese(4, depth=2)
            layer(image, image)
            saved = tf.train.load_checkpoint(path)
            names = [variable.name.removesuffix(":0") for variable in layer.variables]
            self.assertEqual(sorted(saved.get_variable_to_shape_map()), sorted(names))
            for name, variable in zip(names, layer.variables, strict=True):
                variable.assign(saved.get_tensor(name))
            for left, right in zip(expected, layer(image, image), strict=True):
                np.testing.assert_array_equal(left, right)

    def test_an_object_checkpoint_goes_by_attributes_not_by_names(self):
        layer = v2.make_scoped_dense(2)
        layer(tf.ones([1, 3]))
        with tempfile.TemporaryDirectory() as folder:
            path = tf.train.Checkpoint(layer=layer).save(os.path.join(folder, "model"))
            keys = [key for key, _ in tf.train.list_variables(path)]
            self.assertIn("layer/kernel/.ATTRIBUTES/VARIABLE_VALUE", keys)
            self.assertNotIn("dense/kernel", keys)
            saved = [variable.numpy() for variable in layer.variables]
            for variable in layer.variables:
                variable.assign_add(tf.ones_like(variable))
            tf.train.Checkpoint(layer=layer).restore(path).assert_consumed()
            for value, variable in zip(saved, layer.variables, strict=True):
                np.testing.assert_array_equal(value, variable)
