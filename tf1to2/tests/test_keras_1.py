"""Keras 1, the package of its own: what scan finds, fix writes and Keras 3 answers.

The genuine Keras 1.2.2 has answered the old lines of upkeep/keras_1.
"""

import ast
import contextlib
import inspect
import io
import re
import tempfile
import textwrap
import unittest
from unittest import mock

import keras
import numpy as np
import tensorflow as tf
from parameterized import parameterized

from tf1to2.catalog import entries, standalone, verdicts
from tf1to2.fix import planning
from tf1to2.scan import findings
from tf1to2.tests.test_fix import FixCase
from tf1to2.tests.test_scan_keras import GUIDE, rows
from upkeep import api_walk, keras_1
from upkeep.keras_1 import program

SAME = 1e-5
"""Relative to the largest value of an array: two kernels are less apart."""


def cases(*names):
    """[(slug, key, `Probe`)] of some of `keras_1.FILES`."""
    rows = keras_1.keyed().items()
    found = [(key, row) for key, row in rows if key.partition(" ")[0] in names]
    return [(key.replace("tf.keras.", ""), key, row) for key, row in found]


def without_weights(code):
    """A case without its function `weights`, and the compiled function or None."""
    tree, lines = ast.parse(code), code.split("\n")
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "weights":
            scope = {"np": np}
            exec(compile(ast.Module([node], []), "<weights>", "exec"), scope)
            rest = lines[: node.lineno - 1] + lines[node.end_lineno :]
            return "\n".join(rest), scope["weights"]
    return code, None


def shapes(answer):
    """The shapes of the weights in Keras 1, or None."""
    return ast.literal_eval(str(answer["shapes"])) if "shapes" in answer else None


def trained(answer):
    """The weights after a step, in their order."""
    names = sorted(
        (name for name in answer if name.startswith("trained_")),
        key=lambda name: int(name.partition("_")[2]),
    )
    return [answer[name] for name in names]


def answered(code, key, row):
    """What Keras 3 answers to a code with what a case is given."""
    recorded = keras_1.recorded()[key]
    with contextlib.redirect_stdout(io.StringIO()):
        return program.answer(code, keras_1.given(row), shapes(recorded))


class AnswersTest(unittest.TestCase):
    """Keras 3 against the recording of Keras 1.2.2."""

    def setUp(self):
        keras.utils.clear_session()

    def check(self, key, found, weights):
        recorded = keras_1.recorded()[key]
        for name in ("answer", "prediction", "loss"):
            self.assertEqual(name in found, name in recorded, name)
            if name in found:
                self.same(recorded[name], found[name], name)
        old = trained(recorded)
        new = trained(found)
        old = weights(old) if weights and old else old
        self.assertEqual(len(old), len(new))
        for number, pair in enumerate(zip(old, new)):
            self.same(*pair, f"weight {number} after a step")

    def same(self, old, new, name):
        self.assertEqual(np.shape(old), np.shape(new), name)
        slack = SAME * max(1.0, float(np.max(np.abs(old), initial=0.0)))
        np.testing.assert_allclose(new, old, 0.0, slack, err_msg=name)

    def test_every_case_has_an_answer(self):
        self.assertEqual({*keras_1.recorded()}, {"", *keras_1.keyed()})
        self.assertGreater(len(cases("fixed")), 40)

    @parameterized.expand(cases(*keras_1.FILES))
    def test_keras_3_answers_what_keras_1_answered(self, _, key, row):
        weights = without_weights(row.new)[1]
        self.check(key, answered(row.new, key, row), weights)

    @parameterized.expand(
        c for c in cases("fixed", "by_hand") if "file" not in c[2].old
    )
    def test_the_old_lines_raise_or_answer_otherwise(self, _, key, row):
        try:
            found = answered(row.old, key, row)
        except Exception:
            return
        with self.assertRaises(AssertionError):
            self.check(key, found, None)

    def test_a_word_that_imdb_ignores(self):
        rows = np.array([[1, 5], [2, 30, 40]], dtype=object)
        with tempfile.NamedTemporaryFile(suffix=".npz") as file:
            names = ("x_train", "y_train", "x_test", "y_test")
            np.savez(file.name, **dict.fromkeys(names, rows))
            inside = "keras.src.datasets.imdb.get_file"
            with mock.patch(inside, lambda *a, **k: file.name):
                for word, largest in (("nb_words", 33), ("num_words", 8)):
                    (x, _), _ = keras.datasets.imdb.load_data(**{word: 10})
                    self.assertEqual(max(map(max, x)), largest)


class NamesTest(unittest.TestCase):
    """The names of Keras 1.2.2: each is there today, or scan has an answer."""

    def place(self, name):
        """The name in TensorFlow, and what stands there today, or None."""
        symbol = standalone.place(name)[1]
        if inspect.ismodule(api_walk.get(tf, symbol)):  # the function merge
            symbol = ""
        symbol = symbol or f"tf.{name}"
        return symbol, api_walk.get(tf, symbol)

    def test_names(self):
        self.assertGreater(len(keras_1.names()), 300)
        for name in keras_1.names():
            symbol, today = self.place(name)
            if today is None:
                entry = entries.lookup(symbol)
                self.assertEqual(entry and entry.symbol, symbol)
                self.assertNotIn(entry.verdict, ("same", "changed"), symbol)

    def test_parameters_of_layers(self):
        seen = 0
        for name, parameters in keras_1.names().items():
            symbol, today = self.place(name)
            if not name.startswith("keras.layers.") or today is None:
                continue
            rows = verdicts.arguments(symbol)
            known = {*inspect.signature(today).parameters, "args", "kwargs"}
            known |= {argument for argument, passed in rows if not passed}
            self.assertLessEqual({*parameters} - known, {"layers"}, name)
            seen += len(parameters)
        self.assertGreater(seen, 300)


class GuideTest(FixCase):
    """guide/keras.md: the part on Keras 1."""

    HEAD = """
        from keras import backend as K
        from keras.constraints import maxnorm
        from keras.datasets import imdb
        from keras.layers import *
        from keras.models import Model, Sequential
        from keras.regularizers import l1l2
    """

    @parameterized.expand(
        (re.sub(r"\W+", "_", old), old, new) for old, new in rows("line of Keras 1")
    )
    def test_a_line(self, _, old, new):
        head = textwrap.dedent(self.HEAD)
        text = self.fixed(f"{head}{old.strip('`')}\n")
        self.assertEqual(text.splitlines()[-1], new.strip("`"))

    def test_each_layer_is_one_that_was_measured(self):
        blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.S)
        (block,) = [one for one in blocks if "class SReLU" in one]
        measured = [row.new for row in keras_1.cases("by_hand").values()]
        layers = [n for n in ast.parse(block).body if isinstance(n, ast.ClassDef)]
        self.assertEqual(len(layers), 4)
        for node in layers:
            lines = block.split("\n")[node.lineno - 1 : node.end_lineno]
            shown = "\n".join(filter(None, lines))
            self.assertTrue(any(shown in code for code in measured), node.name)


class FoundTest(FixCase):
    @parameterized.expand(cases("fixed", "by_hand"))
    def test_scan_finds_the_name(self, _, key, row):
        self.write(row.old + "\n")
        names = {row.name, row.name.replace("tf.keras.Model", "tf.keras.models.Model")}
        # What selects a name also shows what is found in old files alone.
        found = findings.scan(["."], select=names).findings
        self.assertTrue({f.entry.symbol for f in found} & names)

    @parameterized.expand(cases("by_hand"))
    def test_there_is_something_to_write(self, _, key, row):
        entry = entries.lookup(row.name)
        self.assertNotEqual(entry.verdict, "removed")
        self.assertTrue(entry.replacement or entry.what, row.name)

    @parameterized.expand(
        [
            ("tf_keras", "from tensorflow.keras.layers import Convolution2D"),
            (
                "tf_keras_by_name",
                "import tensorflow as tf\nfrom tf.keras import layers",
            ),
            (
                "keras_3",
                "from keras import ops\nfrom keras.layers import Convolution2D",
            ),
        ]
    )
    def test_three_numbers_are_no_kernel(self, _, head):
        self.write(f"{head}\nConvolution2D(8, 3, 2)\n")
        self.assertEqual(findings.scan(["."]).findings, [])

    @parameterized.expand(
        [
            (
                "by_name",
                "from keras.layers import Convolution2D\nConvolution2D(8, k, k)",
            ),
            ("by_alias", "from keras.layers import Convolution2D as C\nC(8, 3, 3)"),
            ("by_module", "from keras import layers\nlayers.Convolution2D(8, 3, 3)"),
            ("by_package", "import keras\nkeras.layers.Convolution2D(8, 3, 3)"),
            ("by_star", "from keras.layers import *\nConvolution2D(8, 3, 3)"),
            (
                "by_an_old_path",
                "from keras.layers.convolutional import Convolution2D\n"
                "Convolution2D(8, 3, 3)",
            ),
        ]
    )
    def test_three_numbers_are_a_kernel(self, _, text):
        self.write(text + "\n")
        rule = "tf.keras.layers.Convolution2D"
        (finding,) = findings.scan(["."], select={rule}).findings
        self.assertEqual(finding.entry.verdict, "rewrite")
        self.assertIn("(rows, columns)", finding.entry.message)


class FixTest(FixCase):
    """What is left comes first."""

    def check(self, before, after):
        """Asserts what becomes of a file."""
        before, after = (textwrap.dedent(text).lstrip("\n") for text in (before, after))
        self.assertEqual(self.fixed(before), after)

    @parameterized.expand(
        [
            (
                "the_stride_of_tf_keras",
                """
                import tensorflow as tf
                tf.keras.layers.Convolution2D(8, 3, 3)
                """,
            ),
            (
                "conv2d_that_may_be_new",
                """
                from keras.layers import Conv2D
                Conv2D(8, 3, 3)
                """,
            ),
            (
                "a_kernel_in_brackets",
                """
                from keras.layers import Convolution2D
                Convolution2D(8, (3, 3), (2, 2))
                """,
            ),
            (
                "a_name_of_brackets",
                """
                from keras.layers import Convolution2D
                k = (3, 3)
                Convolution2D(8, k, k)
                """,
            ),
            (
                "a_name_of_a_pair_without_brackets",
                """
                from keras.layers import Convolution2D
                k = 3, 3
                Convolution2D(8, k, k, name='a', border_mode='same')
                """,
            ),
            (
                "numbers_that_are_unpacked",
                """
                from keras.layers import Convolution2D
                Convolution2D(8, *k, border_mode='same')
                """,
            ),
            (
                "an_initializer_by_its_place",
                """
                from keras.layers import Convolution2D
                Convolution2D(8, 3, 3, 'uniform')
                """,
            ),
            (
                "one_size_of_two",
                """
                from keras.layers import Convolution2D
                Convolution2D(8, nb_row=3)
                """,
            ),
            (
                "a_file_of_keras_3",
                """
                from keras import ops
                from keras.layers import Convolution2D
                Convolution2D(8, 3, 3)
                """,
            ),
            (
                "an_unknown_order",
                """
                from keras.layers import MaxPooling2D
                MaxPooling2D(dim_ordering=order)
                """,
            ),
            (
                "a_border_that_is_gone",
                """
                from keras.layers import Conv1D
                Conv1D(8, 3, border_mode='full')
                """,
            ),
            (
                "a_function_without_dtype",
                """
                from keras.layers import Dense
                def start(shape, name=None):
                    return shape
                Dense(3, init=start)
                """,
            ),
            (
                "a_lambda_without_dtype",
                """
                from keras.layers import Dense
                Dense(3, init=lambda shape: 0)
                """,
            ),
            (
                "a_function_of_initializations",
                """
                from keras.initializations import normal
                from keras.layers import Dense
                Dense(3, init=normal)
                """,
            ),
            (
                "a_function_of_initializations_by_another_word",
                """
                from keras.initializations import normal as start
                from keras.layers import Dense
                Dense(3, init=start)
                """,
            ),
            (
                "a_regularizer_with_other_defaults",
                """
                from keras.layers import Dense
                Dense(3, W_regularizer='l1l2')
                """,
            ),
            (
                "a_mode_that_is_gone",
                """
                from keras.layers import BatchNormalization
                BatchNormalization(mode=2)
                """,
            ),
            (
                "an_unknown_mode",
                """
                from keras.layers import BatchNormalization
                BatchNormalization(mode=m)
                """,
            ),
            (
                "both_words",
                """
                from keras.layers import Dropout
                Dropout(p=0.5, rate=0.5)
                """,
            ),
            (
                "a_merge_by_a_function",
                """
                from keras.layers import merge
                merge([a, b], mode=lambda x: x[0])
                """,
            ),
            (
                "a_merge_of_an_unknown_mode",
                """
                from keras.layers import merge
                merge([a, b], mode=mode)
                """,
            ),
            (
                "a_merge_with_another_shape",
                """
                from keras.layers import merge
                merge([a, b], mode='cos')
                """,
            ),
            (
                "a_merge_that_is_handed_on",
                """
                from keras.layers import merge
                merge([a, b])
                apply(merge, [a, b])
                """,
            ),
            (
                "a_merge_whose_new_name_is_taken",
                """
                from keras.layers import merge
                def add(a, b):
                    return a
                merge([a, b])
                """,
            ),
            (
                "a_merge_that_is_ignored",
                """
                from keras.layers import merge
                merge([a, b])  # tf1to2: ignore
                """,
            ),
            (
                "an_order_that_is_kept",
                """
                from keras import backend as K
                order = K.image_dim_ordering()
                """,
            ),
            (
                "a_path_of_a_name_that_is_gone",
                """
                from keras.layers.core import Highway, Dense
                """,
            ),
            (
                "two_modules_of_one_path",
                """
                from keras.engine import Model, Layer
                """,
            ),
            (
                "a_module_that_is_handed_on",
                """
                from keras.utils import np_utils
                print(np_utils)
                """,
            ),
        ]
    )
    def test_left(self, _, text):
        self.check(text, text)

    @parameterized.expand(cases("fixed"))
    def test_written(self, _, key, row):
        self.check(row.old + "\n", without_weights(row.new)[0] + "\n")

    @parameterized.expand(cases("by_hand"))
    def test_what_is_by_hand_stays_a_finding(self, _, key, row):
        self.write(row.old + "\n")
        for one in planning.plan(["."], (), planning.Options()):
            self.assertTrue(one.left or not one.changes)

    @parameterized.expand(
        [
            (
                "several_convolutions",
                """
                from keras.layers import Convolution2D, Dense
                x = Convolution2D(16, 8, 8, subsample=(4, 4), activation='relu')(x)
                x = Convolution2D(n, k, k)(x)
                x = Convolution2D(n, (3, 3))(x)
                """,
                """
                from keras.layers import Conv2D, Dense
                x = Conv2D(16, (8, 8), strides=(4, 4), activation='relu')(x)
                x = Conv2D(n, (k, k))(x)
                x = Conv2D(n, (3, 3))(x)
                """,
            ),
            (
                "a_convolution_of_a_module",
                """
                from keras import layers
                layers.Convolution2D(4, 5, 5)
                """,
                """
                from keras import layers
                layers.Conv2D(4, (5, 5))
                """,
            ),
            (
                "a_convolution_by_another_word",
                """
                from keras.layers import Convolution2D as C
                C(4, 5, 5)
                """,
                """
                from keras.layers import Conv2D as C
                C(4, (5, 5))
                """,
            ),
            (
                "a_star",
                """
                from keras.layers import *
                Convolution2D(4, 5, 5)
                merge([a, b], 'ave')
                """,
                """
                from keras.layers import *
                Conv2D(4, (5, 5))
                average([a, b])
                """,
            ),
            (
                "words_of_keras_1_in_tf_keras",
                """
                import tensorflow as tf
                tf.keras.layers.Conv2D(4, 3, 3, border_mode='same')
                """,
                """
                import tensorflow as tf
                tf.keras.layers.Conv2D(4, (3, 3), padding='same')
                """,
            ),
            (
                "a_merge_of_a_module",
                """
                from keras import layers
                layers.merge([a, b], mode='mul')
                """,
                """
                from keras import layers
                layers.multiply([a, b])
                """,
            ),
            (
                "several_modes",
                """
                from keras.layers import Dense, merge, Input
                c = merge([a, merge([b, b], mode='mul')], mode='concat', concat_axis=1)
                d = merge([c, c], mode='concat')
                """,
                """
                from keras.layers import Dense, concatenate, multiply, Input
                c = concatenate([a, multiply([b, b])], axis=1)
                d = concatenate([c, c])
                """,
            ),
            (
                "a_mode_that_is_imported_already",
                """
                from keras.layers import merge, concatenate
                merge([a, b], mode='concat')
                """,
                """
                from keras.layers import concatenate
                concatenate([a, b])
                """,
            ),
            (
                "the_last_name_of_an_import_that_goes",
                """
                from keras.layers import concatenate, merge
                merge([a, b], mode='concat')
                """,
                """
                from keras.layers import concatenate
                concatenate([a, b])
                """,
            ),
            (
                "an_import_that_goes",
                """
                from keras.layers import Dense
                from keras.layers import TimeDistributedDense
                TimeDistributedDense(3)
                """,
                """
                from keras.layers import Dense
                Dense(3)
                """,
            ),
            (
                "an_import_in_brackets_that_goes",
                """
                from keras.layers import (
                    merge,
                )
                from keras.layers import concatenate
                merge([a, b], mode='concat')
                """,
                """
                from keras.layers import concatenate
                concatenate([a, b])
                """,
            ),
            (
                "merge_of_the_engine",
                """
                from keras.engine.topology import merge
                merge([a, b], mode='sum')
                """,
                """
                from keras.layers import add
                add([a, b])
                """,
            ),
            (
                "a_model",
                """
                from keras.models import Model
                Model(input=[a, b], output=c)
                """,
                """
                from keras.models import Model
                Model(inputs=[a, b], outputs=c)
                """,
            ),
            (
                "orders",
                """
                from keras import backend as K
                K.set_image_dim_ordering('th')
                if 'tf' != K.image_dim_ordering():
                    pass
                """,
                """
                from keras import backend as K
                K.set_image_data_format('channels_first')
                if 'channels_last' != K.image_data_format():
                    pass
                """,
            ),
            (
                "paths",
                """
                from keras.layers.core import (
                    Dense, Dropout,
                )
                from keras.layers.convolutional import MaxPooling2D
                from keras.layers.advanced_activations import ThresholdedReLU
                from keras.engine.topology import InputSpec, Layer
                """,
                """
                from keras.layers import (
                    Dense, Dropout,
                )
                from keras.layers import MaxPooling2D
                from tensorflow.keras.layers import ThresholdedReLU
                from keras.layers import InputSpec, Layer
                """,
            ),
            (
                "modules",
                """
                from keras.utils import np_utils
                from keras import objectives
                np_utils.to_categorical(y, nb_classes=3)
                objectives.binary_crossentropy
                """,
                """
                from keras import utils as np_utils
                from keras import losses as objectives
                np_utils.to_categorical(y, num_classes=3)
                objectives.binary_crossentropy
                """,
            ),
            (
                "data",
                """
                from keras.datasets import imdb, reuters
                imdb.load_data(nb_words=20)
                reuters.load_data(nb_words=20, test_split=0.3)
                """,
                """
                from keras.datasets import imdb, reuters
                imdb.load_data(num_words=20)
                reuters.load_data(num_words=20, test_split=0.3)
                """,
            ),
        ]
    )
    def test_files(self, _, before, after):
        self.check(before, after)
