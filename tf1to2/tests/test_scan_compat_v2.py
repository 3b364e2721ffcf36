"""Names under tf.compat.v2, and of tensorflow_hub."""

import pathlib
import tempfile

import tensorflow as tf
from parameterized import parameterized

from tf1to2.catalog import entries, verdicts
from tf1to2.tests.test_scan import ScanCase
from upkeep import api_walk

V2 = "import tensorflow.compat.v2 as tf\n"


class PlacesCase(ScanCase):
    HEAD = ""

    def found(self, text):
        self.write(a=self.HEAD + text)
        return [(f.line, f.entry.symbol) for f in self.scanned("a.py")]


class CompatTest(PlacesCase):
    @parameterized.expand(
        [
            ("names of TensorFlow 2", V2 + "tf.math.log(1), tf.random.uniform([2])"),
            ("a false friend", V2 + "tf.where(p, x, y), tf.Variable(1)"),
            ("keras", V2 + "tf.keras.layers.LSTM(3), tf.keras.optimizers.SGD(0.1)"),
            ("another import", "from tensorflow.compat import v2\nv2.constant(1)"),
            ("itself", V2 + "tf.enable_v2_behavior()"),
        ]
    )
    def test_is_left_alone(self, _, text):
        self.assertEqual(self.found(text), [])

    @parameterized.expand(
        [
            ("logging", V2 + "tf.logging.info('x')", "tf.logging.info"),
            ("a cast", V2 + "tf.to_int32(x)", "tf.to_int32"),
            ("a draw", V2 + "tf.random_normal([2])", "tf.random_normal"),
            ("a placeholder", V2 + "tf.placeholder('float')", "tf.placeholder"),
            ("a keyword", V2 + "tf.reduce_sum(x, keep_dims=True)", "tf.reduce_sum"),
            (
                "contrib",
                V2 + "tf.contrib.layers.flatten(x)",
                "tf.contrib.layers.flatten",
            ),
            (
                "from compat",
                "from tensorflow.compat import v2\nv2.get_variable('a')",
                "tf.get_variable",
            ),
            (
                "from compat, as tf",
                "from tensorflow.compat import v2 as tf\ntf.log(1)",
                "tf.log",
            ),
            (
                "compat.v1 below it",
                V2 + "tf.compat.v1.placeholder('float')",
                "tf.placeholder",
            ),
        ]
    )
    def test_what_compat_v2_lacks(self, _, text, symbol):
        self.assertEqual(self.found(text), [(2, symbol)])
        if symbol not in ("tf.reduce_sum",):
            self.assertIsNone(api_walk.get(tf.compat.v2, "tf" + symbol[2:]))

    def test_false_friends_beside_it_stay_silent(self):
        self.assertEqual(
            self.found(V2 + "tf.to_float(x)\ntf.where(p, x, y)"), [(2, "tf.to_float")]
        )


class HubTest(PlacesCase):
    HEAD = "import tensorflow_hub as hub\n"

    @parameterized.expand(
        [
            ("what it has", "hub.load(path), hub.resolve(path)"),
            ("a layer for tf_keras", "hub.KerasLayer(path)"),
        ]
    )
    def test_is_left_alone(self, _, text):
        self.assertEqual(self.found(text), [])

    def test_another_hub_is_left_alone(self):
        self.write(a="from torch import hub\nhub.Module(1)\nhub.load(2)")
        self.assertEqual(self.symbols("a.py"), [])

    @parameterized.expand(
        [
            ("a module", "m = hub.Module(path)\ny = m(x)", [(2, "hub.Module")]),
            (
                "from",
                "from tensorflow_hub import Module\nModule(path)",
                [(2, "hub.Module"), (3, "hub.Module")],
            ),
            (
                "by a star",
                "from tensorflow_hub import *\nModule(path)",
                [(3, "hub.Module")],
            ),
            ("a spec", "hub.create_module_spec(f)", [(2, "hub.create_module_spec")]),
            (
                "a column",
                "hub.text_embedding_column('a', path)",
                [(2, "hub.text_embedding_column")],
            ),
            (
                "a layer beside TensorFlow 1",
                "hub.Module(path)\nhub.KerasLayer(path)",
                [(2, "hub.Module"), (3, "hub.KerasLayer")],
            ),
        ]
    )
    def test_what_is_gone(self, _, text, found):
        self.assertEqual(self.found(text), found)

    def test_every_row_says_what_to_do(self):
        rows = {n: r for n, r in verdicts.table()[0].items() if n.startswith("hub.")}
        self.assertGreater(len(rows), 15)
        for name, row in rows.items():
            self.assertTrue(row.write or row.becomes or row.note, name)

    def test_a_graph_without_tags_is_loaded_so(self):
        """A module of tensorflow_hub is a SavedModel of one graph without tags."""
        self.assertIn("tags=[]", entries.lookup("hub.Module").write)
        with tempfile.TemporaryDirectory() as folder:
            v1 = tf.compat.v1
            with tf.Graph().as_default(), v1.Session() as sess:
                x = v1.placeholder("float", [None, 2])
                signature = v1.saved_model.signature_def_utils.predict_signature_def(
                    {"default": x}, {"default": 2 * x}
                )
                builder = v1.saved_model.Builder(str(pathlib.Path(folder) / "m"))
                builder.add_meta_graph_and_variables(
                    sess, [], signature_def_map={"default": signature}
                )
                builder.save()
            module = tf.saved_model.load(f"{folder}/m", tags=[])
            answer = module.signatures["default"](tf.constant([[1.0, 2.0]]))["default"]
            self.assertEqual(answer.numpy().tolist(), [[2.0, 4.0]])
            layer = tf.keras.layers.TFSMLayer(f"{folder}/m", call_endpoint="default")
            answer = layer(tf.constant([[1.0, 2.0]]))["default"]
            self.assertEqual(answer.numpy().tolist(), [[2.0, 4.0]])
