"""Which names the package keras has and tf.keras: the table, answers, findings."""

import ast
import importlib
import operator
import re
import types

import keras
import numpy as np
import tensorflow as tf
import tf_keras
from parameterized import parameterized
from tf_keras.api._v2 import keras as keras_2

from tf1to2.catalog import facts, keras_names
from tf1to2.catalog.keras_names import PACKAGE, TF_KERAS
from tf1to2.common import tsv
from tf1to2.tests.commands import Folder
from tf1to2.tests.test_scan_keras import KerasCase
from upkeep import keras_names as made

ROOTS = {"tf": tf, "keras": keras, "keras_2": keras_2}
INSTALLED = tuple(map(int, keras.__version__.split(".")[:2]))


def names(module, prefix="", around=()):
    """{public name below a module: the object}, by import."""
    found = {}
    for name in dir(module):
        if name.startswith("_") or prefix + name in ("api", "src"):
            continue
        found[prefix + name] = inner = getattr(module, name)
        if is_api(inner) and inner not in around:
            found |= names(inner, f"{prefix}{name}.", (*around, module))
    return found


def is_api(thing):
    """Whether it is a module of Keras' API."""
    if not isinstance(thing, types.ModuleType):
        return False
    return thing.__name__.startswith("keras.") and ".src" not in thing.__name__


def resolved(name):
    """What a dotted name is, under one of `ROOTS`; raises AttributeError."""
    first, _, rest = name.partition(".")
    return operator.attrgetter(rest)(ROOTS[first])


def had(spans, version):
    """Whether a version is in "3.0-3.2, 3.5-"."""
    for span in filter(None, spans.split(", ")):
        first, _, last = span.partition("-")
        if "-" not in span:
            last = first
        numbers = [tuple(map(int, v.split("."))) for v in (first, last or "99.0")]
        if numbers[0] <= version <= numbers[1]:
            return True
    return False


HERE, TF_HERE = names(keras), names(tf.keras)


class TableTest(Folder):
    @parameterized.expand([("keras", HERE, "keras"), ("tf.keras", TF_HERE, "tf_keras")])
    def test_the_installed_keras_has_what_the_table_says(self, _, there, column):
        told = {
            name
            for name, row in keras_names.table().items()
            if had(getattr(row, column), INSTALLED)
        }
        self.assertEqual(told - {"__version__"}, set(there))

    def test_kept(self):
        legacy = [
            n.removeprefix("tf.keras.") for n in facts.names() if "tf.keras." in n
        ]
        kept = [name for name in legacy if name in TF_HERE and name not in HERE]
        self.assertEqual(keras_names.kept(), sorted(kept))
        self.assertGreater(len(kept), 150)

    def test_both_give_the_same_objects(self):
        for name in sorted(set(HERE) & set(TF_HERE)):
            same = is_api(HERE[name]) or HERE[name] is TF_HERE[name]
            told = keras_names.table()[name].package == "differs"
            self.assertEqual(same, not told, name)

    def test_the_name_in_the_package_is_the_same_object(self):
        told = {
            name: row.package
            for name, row in keras_names.table().items()
            if row.package not in ("", "differs") and "ops." not in row.package
        }
        self.assertIn("losses.mse", told)
        for name, other in told.items():
            self.assertIs(resolved(f"tf.keras.{name}"), resolved(other), name)

    @parameterized.expand(
        [
            (name, row.package)
            for name, row in keras_names.table().items()
            if row.package.startswith("keras.ops.")
        ]
    )
    def test_ops_give_the_same_floats(self, name, other):
        self.assertTrue(gives_the_same(name, other))

    @parameterized.expand([(name,) for name in made.OTHER_ANSWERS])
    def test_ops_that_are_left_out_give_others(self, name):
        self.assertFalse(gives_the_same(f"backend.{name}", f"keras.ops.{name}"))

    def test_tensorflow_adds_no_name(self):
        inside = importlib.import_module("keras._tf_keras.keras")
        public = {name for name in dir(inside) if not name.startswith("_")}
        self.assertEqual({n for n in dir(tf.keras) if not n.startswith("_")}, public)
        self.assertEqual(tf.keras.backend.__file__, inside.backend.__file__)

    @parameterized.expand(
        [
            ("no end", "111", "3.0-"),
            ("a beginning", "011", "3.1-"),
            ("an end", "110", "3.0-3.1"),
            ("a gap", "101", "3.0, 3.2-"),
            ("never", "000", ""),
        ]
    )
    def test_spans(self, _, has, text):
        found = {
            f"3.{n}.1": {"a"} if one == "1" else set() for n, one in enumerate(has)
        }
        self.assertEqual(made.span("a", found), text)

    def test_a_span_of_keras_2_has_an_end(self):
        found = {"2.14.0": {"a"}, "2.15.0": {"a"}}
        self.assertEqual(made.span("a", found, ended=True), "2.14-2.15")

    @parameterized.expand(
        [
            ("from the first", "layers.Dense", "3.0"),
            ("later", "wrappers", "3.8"),
            ("only in tf.keras", "backend.sum", ""),
            ("no more", "tree.unflatten_as", ""),
        ]
    )
    def test_since(self, _, name, version):
        self.assertEqual(keras_names.since(name), version)


FLOATS = (
    np.linspace(-3, 3, 12, dtype="float32").reshape(3, 4),
    np.float32([[0, -1, 200, -200], [0.5, 1.5, 2.5, 1e-8]]),
)


def gives_the_same(name, other):
    """Whether two functions give the same bits of all `FLOATS`, by all axes."""
    old, new = resolved(f"tf.keras.{name}"), resolved(other)
    last = name.rpartition(".")[2]
    for x in map(tf.constant, FLOATS):
        given = {
            "cast": [(x, "float64")],
            "stack": [([x, x],), ([x, x], 1)],
            "binary_crossentropy": [(tf.nn.relu(tf.sign(x)), tf.sigmoid(x))],
            "categorical_crossentropy": [(tf.eye(4)[: len(x)], tf.nn.softmax(x))],
        }.get(last, [(x,)])
        if last in ("sum", "mean", "max", "min", "prod", "std", "var", "all", "any"):
            given += [(x, 0), (x, -1, True), (x, [0, 1])]
        for arguments in given:
            if not same(old(*arguments), new(*arguments)):
                return False
    return True


def same(one, other):
    """Whether two answers are of one type and have the same bits."""
    if isinstance(one, (str, tuple, int)) or isinstance(other, (str, tuple, int)):
        return type(one) is type(other) and one == other
    one, other = np.asarray(one), np.asarray(other)
    return one.dtype == other.dtype and one.tobytes() == other.tobytes()


class MissingTest(Folder):
    @parameterized.expand(
        [
            ("a function", "keras.backend", "sum", "tf.keras.backend.sum"),
            ("a loss", "keras.losses", "kld", "tf.keras.losses.kld"),
            ("a class", "keras.losses", "Reduction", "tf.keras.losses.Reduction"),
            ("a module", "keras.preprocessing.text", "", "tf.keras.preprocessing.text"),
            (
                "by the path of a module of Keras 3.3",
                "keras.api.backend",
                "int_shape",
                "tf.keras.backend.int_shape",
            ),
        ]
    )
    def test_kept_by_tf_keras(self, _, module, name, write):
        entry = keras_names.missing(module, name)
        self.assertEqual((entry.verdict, entry.write), ("rewrite", write))
        self.assertTrue(entry.note.startswith(keras_names.KEPT))
        resolved(write)
        with self.assertRaises(AttributeError):
            resolved(entry.symbol)

    @parameterized.expand(
        [
            (
                "a layer that was experimental",
                "keras._tf_keras.keras.layers.experimental.preprocessing",
                "Rescaling",
                "tf.keras.layers.Rescaling",
            ),
            (
                "another one",
                "tensorflow.keras.layers.experimental.preprocessing",
                "StringLookup",
                "tf.keras.layers.StringLookup",
            ),
            (
                "an experimental optimizer",
                "tf.keras.optimizers.experimental",
                "AdamW",
                "tf.keras.optimizers.AdamW",
            ),
            (
                "a legacy optimizer",
                "keras.optimizers.legacy",
                "Nadam",
                "tf.keras.optimizers.Nadam",
            ),
            (
                "a loss that only the package has",
                "tensorflow.keras.losses",
                "log_cosh",
                "tf.keras.losses.logcosh",
            ),
            (
                "a loss of 1.15.5 that only the package has",
                "keras._tf_keras.keras.losses",
                "mean_squared_error",
                "tf.keras.losses.MSE",
            ),
            ("by import alone", "keras._tf_keras.keras", "saving", "keras.saving"),
            ("a path", "keras.utils", "np_utils", "tf.keras.utils"),
            ("a path by itself", "keras.layers.core", "", "tf.keras.layers"),
            (
                "a name by a path",
                "keras.utils.np_utils",
                "to_categorical",
                "tf.keras.utils.to_categorical",
            ),
            (
                "a class by a path",
                "keras.engine.topology",
                "Layer",
                "tf.keras.layers.Layer",
            ),
            ("the version", "keras.api._v2.keras", "__version__", "keras.__version__"),
            (
                "what 1.15.5 had",
                "tensorflow.keras.experimental",
                "CosineDecay",
                "tf.keras.optimizers.schedules.CosineDecay",
            ),
            (
                "an inside",
                "tensorflow.python.keras.layers",
                "Dense",
                "tf.keras.layers.Dense",
            ),
        ]
    )
    def test_elsewhere(self, _, module, name, write):
        entry = keras_names.missing(module, name)
        self.assertEqual(entry.write, write)
        resolved(write)

    @parameterized.expand(
        [
            (
                "layers",
                ("keras._tf_keras.keras.layers", "experimental"),
                "tf.keras.layers",
                ("Rescaling", "Normalization", "TextVectorization"),
            ),
            (
                "layers, by their path",
                ("tensorflow.keras.layers.experimental",),
                "tf.keras.layers",
                ("Rescaling", "Normalization", "TextVectorization"),
            ),
            (
                "legacy optimizers",
                ("tensorflow.keras.optimizers", "legacy"),
                "tf.keras.optimizers",
                ("Adam", "SGD"),
            ),
            (
                "scikit-learn",
                ("tensorflow.keras.wrappers",),
                "tf.keras.wrappers",
                ("SKLearnClassifier", "SKLearnRegressor"),
            ),
            (
                "merge",
                ("keras.layers", "merge"),
                "tf.keras.layers",
                ("add", "multiply", "concatenate", "average", "maximum", "dot"),
            ),
        ]
    )
    def test_a_module_is_answered_by_names_that_are_there(
        self, _, asked, module, words
    ):
        entry = keras_names.missing(*asked)
        self.assertEqual((entry.verdict, entry.write), ("rewrite", ""))
        self.assertIn(module, entry.becomes)
        for word in words:
            self.assertIn(word, entry.becomes)
            resolved(f"{module}.{word}")

    @parameterized.expand(
        [
            ("a layer", "keras.layers", "Dense"),
            ("a layer of tf.keras", "tensorflow.keras.layers", "Dense"),
            ("a loss of the package", "keras.losses", "mean_squared_error"),
            ("an op", "keras.ops", "sum"),
            ("a function that tf.keras keeps", "keras._tf_keras.keras.backend", "sum"),
            ("nobody's", "keras.backend", "no_such_name"),
            ("of another package", "numpy", "float"),
            ("Keras alone", "keras", ""),
        ]
    )
    def test_nothing_is_missing(self, _, module, name):
        self.assertIsNone(keras_names.missing(module, name))

    def test_later_than_the_keras_that_is_installed(self):
        later = [n for n in keras_names.table() if keras_names.since(n) == "3.12"]
        entry = keras_names.missing("keras", later[0])
        self.assertIn("Keras 3.12 or later", entry.message)

    def test_what_keras_3_brought_is_missing_in_keras_2(self):
        entry = keras_names.missing("keras.api._v2.keras", "ops")
        self.assertIn("tf.keras.ops of TensorFlow 2.16 or later", entry.message)

    def test_a_path_without_the_name(self):
        entry = keras_names.missing(
            "keras.utils.generic_utils", "printable_module_name"
        )
        self.assertEqual((entry.verdict, entry.write), ("removed", ""))
        self.assertIn("tf.keras.utils does not have the name", entry.message)

    def test_each_name_that_is_gone_has_an_answer(self):
        gone = [n for n in keras_names.table() if not keras_names.has(n, TF_KERAS)]
        self.assertGreater(len(gone), 200)
        for name in gone:
            entry = keras_names.missing("tensorflow.keras", name)
            self.assertIsNotNone(entry, name)
            self.assertNotIn(entry.verdict, ("same", "changed"), name)
            self.assertNotEqual(entry.write, f"tf.keras.{name}")
            if entry.verdict != "removed":
                self.assertTrue(entry.write or entry.becomes, name)
            if re.fullmatch(r"(tf|keras)(\.\w+)+", entry.write):
                resolved(entry.write)
            if "package tf_keras" in entry.becomes and "layout_map" not in name:
                resolved(f"keras_2.{name}")

    def test_each_name_that_the_package_lacks_has_an_answer(self):
        lacking = [name for name in keras_names.table() if keras_names.lacks(name)]
        for name in lacking:
            entry = keras_names.missing(PACKAGE, name)
            self.assertEqual(entry.symbol, f"keras.{name}")
            self.assertEqual(entry.write, f"tf.keras.{name}")


class SuccessorsTest(Folder):
    """What the replacements give, where they are not the same name elsewhere."""

    def test_each_row_is_of_names_that_are_gone(self):
        back = ("__version__", "wrappers")  # Keras 3.0 did not have them
        for row in tsv.rows(keras_names.SUCCESSORS):
            name = row["name"]
            stem = name.removesuffix("*")
            same = [n for n in keras_names.table() if n == name or n.startswith(stem)]
            if name != "layers.merge":  # it is of Keras 1
                self.assertTrue(same, name)
            if name not in back and ".legacy" not in name:
                there = [n for n in same if keras_names.has(n, TF_KERAS)]
                self.assertEqual(there, [], name)
            if row["write"]:
                ast.parse(row["write"].replace("*", "Name"), mode="eval")
            self.assertTrue(row["write"] or row["becomes"], name)

    def test_legacy_optimizers_raise(self):
        with self.assertRaisesRegex(ImportError, "not supported in Keras 3"):
            tf.keras.optimizers.legacy.Adam(0.1)

    def test_ordinal(self):
        y, num_classes = np.array([0, 2, 1, 3]), 4
        entry = keras_names.missing("tensorflow.keras.utils", "to_ordinal")
        found = eval(entry.write, {"np": np, "y": y, "num_classes": num_classes})
        np.testing.assert_array_equal(
            found, tf_keras.utils.to_ordinal(y, num_classes), strict=True
        )

    def test_weighed_focal_loss(self):
        target = tf.constant([[1.0, 0.0, 1.0]])
        output = tf.constant([[0.75, 0.5, 0.125]])
        entry = keras_names.missing(
            "tensorflow.keras.backend", "binary_weighted_focal_crossentropy"
        )
        found = eval(entry.write, {"tf": tf, "target": target, "output": output})
        plain = keras_2.backend.binary_focal_crossentropy(target, output)
        weights = target * 0.25 + (1 - target) * 0.75  # as Keras 2.8 had it
        np.testing.assert_allclose(found, weights * plain, rtol=1e-6)

    def test_structures(self):
        structure, flat = {"a": 1, "b": [2, 3]}, [4, 5, 6]
        entry = keras_names.missing("keras.tree", "unflatten_as")
        given = {"keras": keras, "structure": structure, "flat_sequence": flat}
        self.assertEqual(eval(entry.write, given), {"a": 4, "b": [5, 6]})

    def test_batch_norm_of_all_replicas(self):
        entry = keras_names.missing(
            "tf.keras.layers.experimental", "SyncBatchNormalization"
        )
        self.assertTrue(eval(entry.write, {"tf": tf}).synchronized)

    def test_the_policy_of_a_layer(self):
        entry = keras_names.missing(
            "tensorflow.keras.mixed_precision.experimental", "get_layer_policy"
        )
        layer = tf.keras.layers.Dense(1, dtype="mixed_float16")
        self.assertEqual(eval(entry.write, {"layer": layer}).name, "mixed_float16")


METRIC = """
from keras import backend as K
from keras.backend import square
from keras.losses import kullback_leibler_divergence
from keras.preprocessing.image import ImageDataGenerator
from keras.preprocessing.text import Tokenizer


def f1(y, p):
    return K.mean(K.round(K.clip(y * p, 0, 1))) / (K.sum(y) + K.epsilon())


def flat(x):
    return K.reshape(square(x), (-1, K.int_shape(x)[-1]))
"""
LOSS = """
from keras import backend as K
from keras.layers import Dense

def loss(advantages, p):
    return -K.mean(K.log(K.sum(p * advantages, axis=1) + 1e-10))

layer = Dense(16, activation="relu")
"""


class ScanTest(KerasCase):
    def test_a_metric(self):
        found = self.found(METRIC)
        names_ = "clip int_shape mean reshape round square sum"
        wanted = {f"keras.backend.{name}" for name in names_.split()}
        wanted |= {
            "keras.losses.kullback_leibler_divergence",
            "keras.preprocessing.image.ImageDataGenerator",
            "keras.preprocessing.text.Tokenizer",
        }
        self.assertEqual(set(found), wanted)
        for symbol, message in found.items():
            self.assertIn(f"becomes tf.{symbol}; {keras_names.KEPT}", message)
            with self.assertRaises(AttributeError):
                resolved(symbol)
            resolved(f"tf.{symbol}")

    def test_a_loss(self):
        found = self.found(LOSS)
        self.assertEqual(
            sorted(found), [f"keras.backend.{n}" for n in ("log", "mean", "sum")]
        )
        self.assertIn(
            "keras.ops.log has the same arguments", found["keras.backend.log"]
        )

    @parameterized.expand(
        [
            ("by keras", "import keras\nkeras.backend.tile(x, 2)", "backend.tile"),
            ("renamed", "import keras as k\nk.losses.mape(x, y)", "losses.mape"),
            ("an import", "from keras.metrics import MSE", "metrics.MSE"),
            (
                "a layer",
                "from keras.layers import ThresholdedReLU",
                "layers.ThresholdedReLU",
            ),
            ("a module", "import keras.preprocessing.text as t", "preprocessing.text"),
            (
                "a module of several",
                "from keras.preprocessing import sequence, text",
                "preprocessing.text",
            ),
            ("by its path", "import keras.backend as B\nB.zeros([2])", "backend.zeros"),
            ("all names", "from keras.backend import *\nb = std(x)", "backend.std"),
            (
                "another name",
                "from keras import backend\nb = backend\nb.exp(1.0)",
                "backend.exp",
            ),
            (
                "handed on",
                "from keras import backend as K\nmap(K.sqrt, x)",
                "backend.sqrt",
            ),
            (
                "a member",
                "import keras\nkeras.losses.Reduction.SUM",
                "losses.Reduction",
            ),
            (
                "asked for",
                "from keras import backend as K\ngetattr(K, 'cos')(x)",
                "backend.cos",
            ),
        ]
    )
    def test_found(self, _, text, name):
        self.assertEqual(list(self.found(text)), [f"keras.{name}"])

    @parameterized.expand(
        [
            ("what both have", "from keras import backend as K\nK.epsilon()"),
            (
                "a loss that tf.keras lacks",
                "import keras\nkeras.losses.mean_squared_error(x, y)",
            ),
            ("its import", "from keras.metrics import mean_absolute_error"),
            ("an op", "import keras\nkeras.ops.sum(keras.ops.zeros([2]))"),
            ("saving", "import keras\nkeras.saving.load_model('a.keras')"),
            ("tf.keras", "from tensorflow.keras import backend as K\nK.sum(x)"),
            (
                "tf.keras by another name",
                "from tensorflow import keras\nkeras.backend.sum(x)",
            ),
            ("asked first", "from keras import backend as K\nhasattr(K, 'sum')"),
            (
                "the package where tf.keras is missing",
                "try:\n    from tensorflow.keras.backend import sum\n"
                "except ImportError:\n    from keras.backend import sum\n",
            ),
            (
                "tf.keras where the package lacks it",
                "try:\n    from keras.backend import sum\n"
                "except ImportError:\n    from tensorflow.keras.backend import sum\n",
            ),
        ]
    )
    def test_not_found(self, _, text):
        self.assertEqual(self.found(text), {})

    def test_what_an_import_brings_is_not_told_twice(self):
        text = "from keras.preprocessing import text\ntext.Tokenizer(9)\n"
        self.assertEqual(list(self.found(text)), ["keras.preprocessing.text"])
        text = "from keras.preprocessing.text import Tokenizer\nTokenizer(9)\n"
        self.assertEqual(list(self.found(text)), ["keras.preprocessing.text.Tokenizer"])

    def test_by_a_module_of_the_project(self):
        self.write(common="from keras import backend as K\n")
        found = self.found("from common import K\nK.argmax(x)\n")
        self.assertEqual(list(found), ["keras.backend.argmax"])

    def test_a_project_that_has_a_keras_of_its_own(self):
        self.write(keras="class backend:\n    sum = sum\n")
        self.assertEqual(self.found("from keras import backend as K\nK.sum([1])"), {})

    def test_more_is_told_of_what_also_changed(self):
        found = self.found("from keras import backend as K\nK.update(v, x)")
        message = found["keras.backend.update"]
        self.assertIn("becomes tf.keras.backend.update; ", message)
        self.assertIn("it raises for a weight of Keras 3", message)
        self.assertIn("; or write weight.assign(value)", message)

    def test_a_path_that_is_gone_with_its_name(self):
        text = "from keras.utils.generic_utils import has_arg\n"
        (message,) = self.found(text).values()
        self.assertIn("tf.keras.utils does not have the name", message)
        with self.assertRaises(AttributeError):
            resolved("tf.keras.utils.has_arg")
