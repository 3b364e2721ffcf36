"""The Keras pages: what each must have, and negative controls of their distances."""

import ast
import importlib
import inspect
import re
import types
import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import PROVIDER
from tf1to2.pages import sides, topics
from tf1to2.pages.definitions import needed
from tf1to2.parity import Layer, Naive, Op
from tf1to2.parity.compare import Mismatch
from tf1to2.parity.distances import Distances
from tf1to2.parity.float32 import Row
from tf1to2.tests.commands import Folder, command
from upkeep.measuring import keras_rows

KERAS = "keras", "tf.keras", "tf.keras.optimizers"
PAGES = [(name, t) for name, t in topics.topics().items() if t.keras]


class PageTest(unittest.TestCase):
    def test_stems_are_topics(self):
        self.assertEqual(topics.stems("v2_keras"), [name for name, _ in PAGES])
        self.assertIn("layers", dict(PAGES))

    @parameterized.expand(PAGES)
    def test_some_of_the_names_with_the_same_signatures(self, name, topic):
        right, page = (
            importlib.import_module(f"{p}.{name}") for p in ("v2_eager", "v2_keras")
        )
        self.assertEqual(
            page.__doc__.partition("\n")[0], right.__doc__.partition("\n")[0]
        )
        names = [pair for pair in topic.pairs if pair in page.__all__]
        self.assertEqual(page.__all__, names)
        self.assertEqual(list(topic.distances), names)
        defined = re.findall(r"^def (\w+)\(", inspect.getsource(page), re.M)
        self.assertEqual([n for n in defined if n in names], names)
        for pair in names:
            ours, theirs = getattr(page, pair), getattr(right, pair)
            theirs = getattr(theirs, "python_function", theirs)
            self.assertEqual(inspect.signature(ours), inspect.signature(theirs), pair)
            first, wanted = (f.__doc__.partition("\n")[0] for f in (ours, theirs))
            self.assertEqual(first.removesuffix('"""'), wanted, pair)

    @parameterized.expand(PAGES)
    def test_no_private_names_and_nothing_of_tensorflow_1(self, _, topic):
        source = topic.keras.read_text("utf-8")
        for foreign in ("compat.v1", "tensorflow.python", "keras.src", "tf1to2"):
            self.assertNotIn(foreign, source)

    @parameterized.expand(PAGES)
    def test_nothing_is_written_twice(self, _, topic):
        """A right page that is by Keras is the Keras page: it has no second one."""
        shown = sides.of_topic(topic)
        for name in topic.distances:
            parts = needed([shown.pair(name)[1]])[0]
            code = [node for part in parts for node in ast.walk(part.node)]
            used = [
                ast.unparse(node)
                for node in code  # and not a docstring, which may name Keras' class
                if isinstance(node, ast.Attribute)
                and ast.unparse(node.value) in KERAS
                and node.attr not in ("optimizers", "schedules")  # of any optimizer
            ]
            self.assertEqual(used, [], name)

    @parameterized.expand(PAGES)
    def test_layers_tell_their_old_names(self, name, topic):
        page = importlib.import_module("v2_keras." + name)
        makers = [pair for pair in topic.distances if pair.startswith("make_")]
        self.assertTrue(hasattr(page, "old_names") or not makers)

    @parameterized.expand(PAGES)
    def test_every_pair_is_measured_and_every_row_names_a_case(self, name, topic):
        distances = PROVIDER.load(name).distances
        measured = {case.name for case in distances.cases}
        self.assertEqual(measured, set(topic.distances))
        self.assertEqual(distances.unknown(), [])


class ToolsTest(unittest.TestCase):
    def test_diff_shows_the_keras_page(self):
        status, out, _ = command("diff", "--keras", "layers.make_conv2d")
        self.assertEqual(status, 0)
        self.assertIn("v2_keras/layers.py", out)
        self.assertRegex(out, r"tf\.layers\.Conv2D\(.*return layers\.Conv2D\(")

    @parameterized.expand(
        [
            (
                "a_pair",
                ["layers.dropout"],
                "has no Keras form; pairs with one: make_dense",
            ),
            ("a_topic", ["scopes"], "has no Keras page; topics with one: .*layers"),
            ("files", ["a.py", "b.py"], "takes one topic or pair, not files"),
        ]
    )
    def test_what_has_none(self, _, what, message):
        status, _, err = command("diff", "--keras", *what)
        self.assertEqual(status, 2)
        self.assertRegex(err, message)

    def test_explain_tells_both_ways(self):
        out = " ".join(command("explain", "tf.layers.Conv2D").out.split())
        self.assertRegex(
            out, r"make_conv2d: identical on .*; by Keras within \d\.\de-08"
        )
        self.assertIn("tf1to2 diff --keras layers.make_conv2d", out)

    @parameterized.expand(
        [
            ("of_keras", "metrics.mean_of_batches", True),
            ("none", "scopes.op_names", False),
        ]
    )
    def test_verify_has_a_column_where_there_is_a_page(self, _, pair, there):
        status, out, _ = command("verify", pair)
        self.assertEqual(status, 0)
        self.assertEqual(
            bool(re.search(r"^pair .* any size +Keras$", out, re.M)), there
        )

    def test_the_distance_of_naive_forms_is_not_the_page_s(self):
        layer_norm = topics.topics()["layers"].distances["make_layer_norm"]
        self.assertTrue(0 < layer_norm < 1e-6)
        self.assertEqual(topics.topics()["scopes"].distances, {})

    @parameterized.expand(
        [
            ("layers", "make_embedding", "identical"),
            ("metrics", "mean_f1", "identical"),
            ("losses", "mean_squared_error", r"within \d\.\de-07"),
            ("layers", "make_conv2d", r"within \d\.\de-08"),
        ]
    )
    def test_a_distance_is_told(self, topic, name, told):
        far = topics.topics()[topic].distances[name]
        self.assertRegex(topics.distance_told(far), f"^{told}$")

    def test_the_sign_of_a_zero_is_told(self):
        self.assertRegex(topics.distance_told(0.0), "but for the sign of a zero")


ONE = np.float32([1, 0.5])
ULP = 2.0**-23


class DistancesTest(Folder):
    """A page that is 4 ULP away, and its naive form, which is 64."""

    def setUp(self):
        super().setUp()
        self.path = self.folder / "keras.tsv"
        self.case = Op("grow", "by little", [ONE])
        self.naive = Naive("grow, by little", "by much", self.grown(64), because="")
        measured = keras_rows(self.distances(4))
        self.distances(4).table.replace("p", measured)
        self.rows = measured

    @staticmethod
    def grown(units):
        return lambda x: x * (1 + units * ULP)

    def distances(self, units, naive=None):
        page = types.SimpleNamespace(grow=self.grown(units), __all__=["grow"])
        proof = types.SimpleNamespace(
            name="p",
            cases=[self.case],
            float32_way=lambda case: "eager",
            recorded_float32=lambda case: [
                {"outputs": ONE, "gradients/inputs/0": self.gradient}
            ],
        )
        page = types.SimpleNamespace(module=page)
        return Distances(proof, page, self.path, [naive or self.naive])

    @property
    def gradient(self):
        from tf1to2.parity.v1 import cotangent

        return cotangent(tf, tf.constant(ONE), 0).numpy()

    def prove(self, units, case=None, **options):
        return self.distances(units, **options).prove(case or self.case)

    def test_a_row_for_each_leaf_and_one_for_a_naive_form(self):
        self.assertEqual(
            [(row.case, row.leaf) for row in self.rows],
            [
                ("by little", "gradients/inputs/*"),
                ("by little", "outputs"),
                ("by little, by much", "*"),
            ],
        )

    def test_what_was_measured(self):
        tally = self.prove(4)["Keras"]
        self.assertEqual((tally.leaves, tally.differ), (2, 2))
        self.assertEqual(tally.ulps, max(row.ulps for row in self.rows[:2]))
        self.prove(4, self.naive)

    @parameterized.expand([("identical", 0), ("nearer", 0.9), ("four_times", 16)])
    def test_a_row_holds_from_above(self, _, units):
        self.prove(units)

    def test_a_row_that_does_not(self):
        with self.assertRaisesRegex(Mismatch, "more than 4 times"):
            self.prove(40)

    def test_no_row(self):
        self.distances(4).table.replace("p", [])
        self.prove(4)
        with self.assertRaisesRegex(Mismatch, "no row for this distance: make upkeep"):
            self.prove(16)

    def test_a_naive_form_that_is_none(self):
        naive = Naive("grow, by little", "by much", self.grown(4), because="")
        distances = self.distances(4, naive=naive)
        distances.table.replace("p", keras_rows(distances))
        with self.assertRaisesRegex(Mismatch, "has no larger distance than the page"):
            distances.prove(naive)

    def test_a_naive_form_of_no_case(self):
        naive = Naive("grow, by nothing", "by much", self.grown(64), because="")
        with self.assertRaisesRegex(ValueError, "names an unknown case"):
            self.distances(4, naive=naive)

    def test_a_row_of_no_case(self):
        row = Row("p.grow", "by nothing", "outputs", 1, 1e-7)
        distances = self.distances(4)
        distances.table.replace("p", [*self.rows, row])
        self.assertEqual(distances.unknown(), [row])


class Split:
    """A weight that Keras keeps in two variables."""

    trainable, shape = True, (3,)

    def __init__(self):
        self.value = [tf.Variable([0.0]), tf.Variable([0.0, 0.0])]

    def assign(self, value):
        for variable, part in zip(self.value, (value[:1], value[1:])):
            variable.assign(part)

    def numpy(self):
        return self.joined(self.value).numpy()

    @staticmethod
    def joined(parts):
        return tf.concat(parts, 0)


class SeenTest(unittest.TestCase):
    def test_a_module_sees_no_layer(self):
        module = tf.Module()
        module.w, module.dense = tf.Variable(1.0), tf.keras.layers.Dense(2)
        module.dense.build([None, 3])
        self.assertEqual([v.ref() for v in module.variables], [module.w.ref()])

    def test_a_model_sees_no_module_and_no_variable(self):
        model = tf.keras.Model()
        model.w, model.module = tf.Variable(1.0), tf.Module()
        model.dense = tf.keras.layers.Dense(2)
        model.module.w = tf.Variable(1.0)
        model.dense.build([None, 3])
        self.assertEqual(model.weights, model.dense.weights)


class CarriedTest(unittest.TestCase):
    def test_weights_are_set_and_read_by_their_old_names(self):
        class Scale(tf.keras.layers.Layer):
            def __init__(self):
                super().__init__()
                self.split = Split()

            def call(self, x, training=False):
                return x * tf.concat(self.split.value, 0) + (1.0 if training else 0.0)

        page = types.SimpleNamespace(
            make_scale=Scale, old_names=lambda layer: {"old/scale": layer.split}
        )
        from tf1to2.parity import structure, v2

        x = np.float32([1, 2, 4])
        case = Layer("make_scale", "split", [x, True])
        (answer,) = v2.run(page, [case.request({})], "keras")
        scale = structure.distinct("old/scale:0", [3]).astype("f")
        np.testing.assert_array_equal(answer["outputs"], x * scale + 1)
        np.testing.assert_array_equal(answer["state/old/scale:0"], scale)
        gradient = answer["gradients/old/scale:0"]
        self.assertEqual(gradient.shape, (3,))
        np.testing.assert_array_equal(answer["variables/0"], "'old/scale:0'")
