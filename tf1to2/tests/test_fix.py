"""`tf1to2 fix`: what it writes, what it leaves, and how the files come out."""

import ast
import json
import pathlib
import stat
import subprocess
import sys
from unittest import mock

from parameterized import parameterized

from tf1to2.catalog import signatures
from tf1to2.fix import planning
from tf1to2.scan import findings
from tf1to2.tests.commands import Folder, command

TF = "import tensorflow as tf\n"
MAIN = "\ndef main(_):\n    pass\n\n\nif __name__ == '__main__':\n    app.run(main)\n"
PARSED = MAIN.replace("app.run", "tf.app.run")


class FixCase(Folder):
    def write(self, text, name="a.py"):
        """Writes one file."""
        return super().write(**{name: text})

    def run_it(self, *arguments):
        return command("fix", *arguments)

    def fixed(self, text, **options):
        """What becomes of a file's text."""
        path = self.write(text)
        for one in planning.plan(["."], (), planning.Options(**options)):
            if one.path == "./a.py" and one.changes:
                path.write_bytes(one.data)
        return path.read_text("utf-8")

    def check(self, before, after, **options):
        """Asserts what becomes of lines in a file of TensorFlow 1."""
        text = self.fixed(f"{TF}{before}\ntf.log(0)\n", **options)
        self.assertEqual(text, f"{TF}{after}\ntf.math.log(0)\n")


class KerasTest(FixCase):
    @parameterized.expand(
        [
            (
                "a rate",
                "tf.keras.optimizers.SGD(lr=0.1, momentum=0.9)",
                "tf.keras.optimizers.SGD(learning_rate=0.1, momentum=0.9)",
            ),
            (
                "a slope",
                "tf.keras.layers.LeakyReLU(alpha=0.1)",
                "tf.keras.layers.LeakyReLU(negative_slope=0.1)",
            ),
            (
                "a threshold",
                "tf.keras.callbacks.ReduceLROnPlateau(epsilon=0.1)",
                "tf.keras.callbacks.ReduceLROnPlateau(min_delta=0.1)",
            ),
            (
                "a weight",
                "class A(tf.keras.layers.Layer):\n"
                "    def build(self, s):\n"
                "        self.add_weight('w', [2], tf.float32, initializer='ones')",
                "class A(tf.keras.layers.Layer):\n"
                "    def build(self, s):\n"
                "        self.add_weight("
                "name='w', shape=[2], dtype=tf.float32, initializer='ones')",
            ),
            (
                "a method",
                "tf.keras.Sequential().predict_proba(x)",
                "tf.keras.Sequential().predict(x)",
            ),
            (
                "a loss",
                "tf.keras.Sequential().compile('sgd', 'logcosh')",
                "tf.keras.Sequential().compile('sgd', 'log_cosh')",
            ),
        ]
    )
    def test_written(self, _, old, new):
        self.check(old, new)

    @parameterized.expand(
        [
            ("ELU, whose alpha stays", "tf.keras.layers.ELU(alpha=0.1)"),
            ("both rates", "tf.keras.optimizers.SGD(lr=0.1, learning_rate=0.2)"),
            ("what Ftrl did not heed", "tf.keras.optimizers.Ftrl(lr=0.1)"),
            ("decay", "tf.keras.optimizers.SGD(0.1, decay=0.1)"),
            ("period", "tf.keras.callbacks.ModelCheckpoint(p, period=2)"),
            ("a name that may be a shape", "tf.keras.layers.Layer().add_weight(n, s)"),
            ("a method of another library", "clf.predict_proba(x)"),
            (
                "a metric, which names a key of the history",
                "tf.keras.Sequential().compile('sgd', metrics=['logcosh'])",
            ),
        ]
    )
    def test_left(self, _, text):
        self.check(text, text)

    @parameterized.expand(
        [
            (
                "tf.keras.optimizers.SGD(lr=0.1)",
                "tf.keras.optimizers.SGD(learning_rate=0.1)",
            ),
            (
                "tf.keras.layers.LeakyReLU(alpha=0.1)",
                "tf.keras.layers.LeakyReLU(alpha=0.1)",
            ),
            (
                "tf.keras.Sequential().compile('sgd', 'logcosh')",
                "tf.keras.Sequential().compile('sgd', 'logcosh')",
            ),
        ]
    )
    def test_for_1_15(self, old, new):
        self.assertEqual(self.fixed(TF + old, old=True), TF + new)

    def test_what_else_the_call_has_to_change_is_left(self):
        pathlib.Path("a.py").write_text(TF + "tf.keras.optimizers.SGD(lr=1, decay=1)")
        (one,) = planning.plan(["a.py"], (), planning.Options())
        self.assertEqual((one.changes, len(one.left)), (1, 1))


class KerasImportsTest(FixCase):
    """What the package keras lacks is imported from tf.keras, and runs."""

    @parameterized.expand(
        [
            (
                "the backend",
                "from keras import backend as K\n",
                "from tensorflow.keras import backend as K\n",
                "total = float(K.sum(K.square(K.constant([1.0, 2.0, 3.0]))))",
            ),
            (
                "the backend and layers",
                "from keras import backend, layers\n",
                "from tensorflow.keras import backend, layers\n",
                "layers.Dense(2)\ntotal = float(backend.sum(backend.ones([7, 2])))",
            ),
            (
                "by its path",
                "import keras.backend as B\n",
                "from tensorflow.keras import backend as B\n",
                "total = float(B.mean(B.constant([13.0, 15.0])))",
            ),
            (
                "keras",
                "import keras\n",
                "from tensorflow import keras\n",
                "keras.layers.Dense(1)\n"
                "total = float(keras.losses.mse([[1.0, 5.0]], [[3.0, 0.0]])[0] - 0.5)",
            ),
            (
                "keras by another name",
                "import keras as k\n",
                "from tensorflow import keras as k\n",
                "total = k.backend.int_shape(k.backend.zeros([14, 2]))[0]",
            ),
            (
                "functions",
                "from keras.losses import kld, mse\n",
                "from tensorflow.keras.losses import kld, mse\n",
                "total = float(mse([0.0, 0.0], [2.0, 24.0 ** 0.5]))",
            ),
            (
                "a class of a module that is gone",
                "from keras.preprocessing.text import (\n  Tokenizer,\n)\n",
                "from tensorflow.keras.preprocessing.text import (\n  Tokenizer,\n)\n",
                "words = Tokenizer()\nwords.fit_on_texts(['a ' * 14])\n"
                "total = words.word_counts['a']",
            ),
            (
                "a module that is gone",
                "from keras.preprocessing import sequence, text as t\n",
                "from tensorflow.keras.preprocessing import sequence, text as t\n",
                "words = t.text_to_word_sequence('a b')\n"
                "total = sequence.pad_sequences([[1] * 7, [2]]).shape[1] * len(words)",
            ),
            (
                "all names",
                "from keras.backend import *\n",
                "from tensorflow.keras.backend import *\n",
                "total = float(prod(constant([2.0, 7.0])))",
            ),
            (
                "a layer among others",
                "from keras.layers import Dense, ThresholdedReLU\n",
                "from tensorflow.keras.layers import Dense, ThresholdedReLU\n",
                "import numpy as np\nDense(3)\n"
                "total = float(ThresholdedReLU(1.0)(np.float32([0.5, 14.0]))[1])",
            ),
        ]
    )
    def test_written(self, _, old, new, use):
        fixed = self.fixed(f"{old}\n{use}\n")
        self.assertEqual(fixed, f"{new}\n{use}\n")
        with self.assertRaises((AttributeError, ImportError, NameError)):
            exec(f"{old}\n{use}", {})
        exec(fixed, found := {})
        self.assertAlmostEqual(found["total"], 14, 4)

    def test_other_imports_stay(self):
        head = "import keras\nfrom keras.models import Sequential\n"
        old = (
            "from keras import backend as K\nkeras.utils.set_random_seed(K.sum([1]))\n"
        )
        new = old.replace("from keras", "from tensorflow.keras")
        self.assertEqual(self.fixed(head + old), head + new)

    def test_what_neither_has_stays_a_finding(self):
        text = "from keras import backend as K\nK.sum(x)\nK.get_session()\n"
        self.assertEqual(self.fixed(text), text.replace("keras", "tensorflow.keras"))
        (one,) = planning.plan(["."], (), planning.Options())
        self.assertEqual([f.line for f in one.left], [3])

    def test_what_also_changed_stays_a_finding(self):
        self.write("from keras import backend as K\nK.sum(x)\nK.update(v, x)\n")
        (one,) = planning.plan(["."], (), planning.Options())
        self.assertEqual((one.changes, [f.line for f in one.left]), (1, [3]))

    @parameterized.expand(
        [
            (
                "a name that tf.keras does not have",
                "from keras.losses import mean_squared_error, mape",
            ),
            (
                "a name that tf.keras does not have, of a module",
                "import keras\nkeras.backend.sum(keras.losses.log_cosh(x, y))",
            ),
            (
                "what only an import finds",
                "import keras\nkeras.backend.sum(x)\nkeras.saving.load_model(p)",
            ),
            (
                "a module that is handed on",
                "import keras\nkeras.backend.sum(x)\nshow(keras)",
            ),
            ("keras' insides", "import keras\nkeras.backend.sum(keras.src.backend)"),
            (
                "another class of the name",
                "from keras.layers import AlphaDropout, ThresholdedReLU",
            ),
            ("several modules", "import os, keras\nkeras.backend.sum(x)"),
            (
                "a name that is bound twice",
                "from keras import backend as K\nK.sum(x)\nK = None",
            ),
            (
                "several imports",
                "import keras\nimport keras.layers\nkeras.backend.sum(x)",
            ),
            (
                "a condition",
                "if x:\n    from keras import backend as K\n    K.sum(x)",
            ),
            (
                "all names of losses, some of which tf.keras does not have",
                "from keras.losses import *\nmse(x, y)",
            ),
            ("tf.keras", "from tensorflow.keras import backend as K\nK.sum(x)"),
        ]
    )
    def test_left(self, _, text):
        self.assertEqual(self.fixed(text + "\n"), text + "\n")

    def test_left_for_1_15(self):
        text = "from keras import backend as K\nK.sum(x)\n"
        self.assertEqual(self.fixed(text, old=True), text)

    def test_by_rules(self):
        text = "from keras import backend as K\nK.sum(x)\nK.mean(x)\n"
        ignored = frozenset({"keras.backend"})
        self.assertEqual(self.fixed(text, ignore=ignored), text)
        new = text.replace("keras", "tensorflow.keras")
        self.assertEqual(self.fixed(text, select=frozenset({"keras.backend.sum"})), new)


class NamesTest(FixCase):
    @parameterized.expand(
        [
            ("a name", "tf.log(x)", "tf.math.log(x)"),
            ("a mention", "map(tf.log, x)", "map(tf.math.log, x)"),
            ("deep", "tf.log(tf.log(x) + 1)", "tf.math.log(tf.math.log(x) + 1)"),
            ("compat.v1 spelled out", "tf.compat.v1.log(x)", "tf.math.log(x)"),
            (
                "keywords",
                "tf.reduce_sum(x, reduction_indices=[1], keep_dims=True)",
                "tf.reduce_sum(x, axis=[1], keepdims=True)",
            ),
            ("a place", "tf.argmax(x, 1, 'n')", "tf.argmax(x, 1, name='n')"),
            (
                "a line that goes on",
                "tf.argmax(x, \\\n  1, 'n')",
                "tf.argmax(x, \\\n  1, name='n')",
            ),
            (
                "places that are swapped",
                "tf.nn.in_top_k(p, t, 1)",
                "tf.nn.in_top_k(predictions=p, targets=t, k=1)",
            ),
            (
                "any condition",
                "if x is None: tf.log(y)",
                "if x is None: tf.math.log(y)",
            ),
            ("a file", "tf.gfile.Exists(filename=p)", "tf.io.gfile.exists(path=p)"),
            (
                "comments and layout stay",
                "tf.reduce_sum(  # why\n    x,\n    keep_dims=True,  # so\n)",
                "tf.reduce_sum(  # why\n    x,\n    keepdims=True,  # so\n)",
            ),
        ]
    )
    def test_written(self, _, old, new):
        self.check(old, new)

    @parameterized.expand(
        [
            ("arguments that nobody knows", "tf.argmax(*x)"),
            ("both spellings", "tf.reduce_sum(x, 1, reduction_indices=1)"),
            ("an argument that is gone", "tf.constant(1, verify_shape=True)"),
            ("other numbers", "tf.image.resize_images(x, [2, 2])"),
            ("other draws", "tf.set_random_seed(1)"),
            (
                "a name that meant another thing",
                "tf.nn.softmax_cross_entropy_with_logits_v2(labels=x, logits=y)",
            ),
            ("another default", "tf.shape(x, out_type=tf.int32)"),
            ("a rewrite", "with tf.Session() as sess:\n    pass"),
            ("an assignment", "tf.log = None"),
            ("what a comment ignores", "tf.log(x)  # tf1to2: ignore"),
            (
                "code for both versions",
                "if tf.__version__ < '2':\n    tf.log(x)\nelse:\n    tf.Session()",
            ),
        ]
    )
    def test_left(self, _, text):
        self.check(text, text)

    def test_the_successors_of_arguments(self):
        before, now = "(x, keep_dims=None, k=1)", "(x, keepdims=False, k=2)"
        found = signatures.successors(before, now)
        self.assertEqual(found, {"keep_dims": "keepdims"})

    def test_the_root_may_have_any_name(self):
        text = "import tensorflow as T\nT.log(T.to_float(x))\n"
        new = "import tensorflow as T\nT.math.log(T.cast(x, T.float32))\n"
        self.assertEqual(self.fixed(text), new)

    def test_a_name_that_was_imported_alone_is_left(self):
        text = "from tensorflow import log\nlog(x)\n"
        self.assertEqual(self.fixed(text), text)

    def test_through_compat_v1_only_what_it_has_as_well(self):
        head = "import tensorflow.compat.v1 as tf\n"
        old = "tf.log(tf.count_nonzero(x))\n"
        new = "tf.math.log(tf.math.count_nonzero(input=x))\n"
        shape = "x.shape[0].value\n"
        self.assertEqual(self.fixed(head + old + shape), head + new + shape)


class TemplatesTest(FixCase):
    @parameterized.expand(
        [
            ("cast", "tf.to_int32(x, 'n')", "tf.cast(x, name='n', dtype=tf.int32)"),
            (
                "dropout",
                "tf.nn.dropout(x, FLAGS.keep)",
                "tf.nn.dropout(x, rate=1 - FLAGS.keep)",
            ),
            (
                "dropout of a sum",
                "tf.nn.dropout(x, 1 - p, noise_shape=n)",
                "tf.nn.dropout(x, rate=1 - (1 - p), noise_shape=n)",
            ),
            (
                "py_func",
                "tf.py_func(f, [x], tf.float32, stateful=True)",
                "tf.numpy_function(f, [x], tf.float32)",
            ),
            ("division", "tf.div(x, 2.0)", "tf.truediv(x, 2.0)"),
            (
                "resize",
                "tf.image.resize_bilinear(x, s, True)",
                "tf.raw_ops.ResizeBilinear(images=x, size=s, align_corners=True)",
            ),
            (
                "defaults",
                "tf.random_uniform_initializer()",
                "tf.random_uniform_initializer(minval=0.0, maxval=1.0)",
            ),
            ("a dimension", "x.get_shape()[0].value", "x.get_shape()[0]"),
            (
                "an assignment",
                "v = tf.Variable(1)\ntf.assign(v, tf.log(x))",
                "v = tf.Variable(1)\nv.assign(tf.math.log(x))",
            ),
            (
                "a scope",
                "with tf.name_scope(n, 'a', [x]):\n    tf.log(x)",
                "with tf.name_scope(n or 'a'):\n    tf.math.log(x)",
            ),
        ]
    )
    def test_written(self, _, old, new):
        self.check(old, new)

    @parameterized.expand(
        [
            ("integers are divided otherwise", "tf.div(x, y)"),
            ("a generator of its own", "tf.py_func(f, [x], t, stateful=False)"),
            ("a seed draws other numbers", "tf.truncated_normal_initializer(seed=1)"),
            ("it may be a tensor", "tf.assign(v, 1)"),
            ("nothing to drop", "tf.nn.dropout(x, keep_prob=None)"),
            (
                "a loop's variable",
                "v = tf.Variable(1)\nfor v in w:\n    tf.assign(v, 1)",
            ),
        ]
    )
    def test_left(self, _, text):
        self.check(text, text)


class AbslTest(FixCase):
    def test_a_program(self):
        body = "flags = tf.app.flags\nflags.DEFINE_string('a', '1', docstring='b')\n"
        old = TF + body + "FLAGS = flags.FLAGS\n" + PARSED
        new = (
            f"from absl import app\n{TF}from absl import flags\n"
            f"flags.DEFINE_string('a', '1', help='b')\nFLAGS = flags.FLAGS\n{MAIN}"
        )
        self.assertEqual(self.fixed(old), new)

    def test_main_is_handed_over(self):
        old = TF + MAIN.replace("app.run(main)", "tf.app.run()")
        self.assertIn("    app.run(main)\n", self.fixed(old))

    @parameterized.expand(
        [
            ("arguments", MAIN.replace("app.run(main)", "tf.app.run(main, argv=a)")),
            ("no main", "tf.app.run()\n"),
            ("logs and ends", "tf.logging.fatal('x')\n"),
            ("a level of its own", "tf.logging.set_verbosity(level)\n"),
            ("a level for others", "f(tf.logging.INFO)\n"),
            ("who parses the flags", "tf.app.flags.DEFINE_string('a', '', '')\n"),
            (
                "a flag that is read first",
                f"n = tf.app.flags.FLAGS.n\n{PARSED}".replace(
                    "main(_)", "other(_)"
                ).replace("tf.app.run(main)", "tf.app.run(argv=[])"),
            ),
        ]
    )
    def test_left(self, _, body):
        self.assertEqual(self.fixed(TF + body), TF + body)

    def test_a_program_that_reads_its_flags_by_itself_is_left(self):
        program = "tf.app.run()\n"
        self.write(f"{TF}def main(_):\n    pass\n{program}", "other.py")
        text = f"{TF}FLAGS = tf.app.flags.FLAGS\ndef f():\n    return FLAGS.n\n"
        main = "if __name__ == '__main__':\n    f()\n"
        self.assertEqual(self.fixed(text + main), text + main)

    @parameterized.expand(
        [
            ("no program", "", "", "no program here calls app.run"),
            ("a read", "N = FLAGS.n\n", PARSED, "line 3 reads a flag at import"),
            (
                "of old",
                "def f():\n    return FLAGS.__flags\n",
                PARSED,
                "line 4 uses __flags: write FLAGS.flag_values_dict()",
            ),
            (
                "parsed by hand",
                "def f():\n    FLAGS._parse_flags()\n",
                PARSED,
                "line 4 uses _parse_flags: write FLAGS(sys.argv)",
            ),
            (
                "a program without",
                "def f():\n    return FLAGS.n\nif __name__ == '__main__':\n    f()\n",
                PARSED,
                "it may be run as a program, and does not call app.run",
            ),
        ]
    )
    def test_it_says_why_flags_are_left(self, _, body, program, why):
        if program:
            self.write(f"{TF}import a\n{program}", "train.py")
        self.write(f"{TF}FLAGS = tf.app.flags.FLAGS\n{body}")
        _, _, err = self.run_it(".")
        self.assertIn("flags are unchanged where absl may not have parsed them:", err)
        self.assertIn(f"a.py: {why}", err)

    LIBRARY = TF + "FLAGS = tf.flags.FLAGS\ndef f():\n    return FLAGS.n\n"

    def test_the_flags_of_a_library_follow_its_program(self):
        self.write(TF + "import b\nflags = tf.flags\n" + PARSED, "train.py")
        self.write(TF + "from a import f\n", "b.py")
        self.write(self.LIBRARY)
        self.run_it("--write", ".")
        new = (self.folder / "a.py").read_text()
        old = self.LIBRARY.replace("tf.flags", "flags")
        self.assertEqual(new, "from absl import flags\n" + old)

    @parameterized.expand(
        [
            ("a module that others may start", "from a import f\n"),
            ("a program", "import a\nif __name__ == '__main__':\n    a.f()\n"),
            ("by way of another", "from c import (\n    x,\n)\n"),
        ]
    )
    def test_the_flags_of_a_library_that_another_way_leads_to_stay(self, _, text):
        self.write(TF + "import a\nflags = tf.flags\n" + PARSED, "train.py")
        self.write(text, "b.py")
        self.write("import a\nx = 1\n", "c.py")
        self.assertEqual(self.fixed(self.LIBRARY), self.LIBRARY)

    @parameterized.expand(
        [
            ("import logging\n", "absl_logging"),
            ("from absl import logging\n", "logging"),
            ("from absl import logging as log\n", "log"),
            ("", "logging"),
        ]
    )
    def test_what_it_is_called(self, head, name):
        text = head + TF + "tf.logging.set_verbosity(tf.logging.WARN)\n"
        new = self.fixed(text)
        self.assertIn(f"{name}.set_verbosity({name}.WARN)\n", new)
        self.assertEqual(new.count("from absl import logging"), 1)
        ast.parse(new)

    def test_imports_stand_behind_what_must_come_first(self):
        text = '"""Doc."""\nfrom __future__ import division\nx = 1\n'
        self.write("import tensorflow as tf\n", "common.py")
        text += "from common import tf\ntf.logging.warn('x')\n"
        new = self.fixed(text)
        self.assertIn("x = 1\nfrom absl import logging\nfrom common import tf\n", new)
        self.assertIn("\nlogging.warning('x')\n", new)

    def test_a_module_of_that_name_is_no_other_flags(self):
        head = "from net.flags import X\nfrom net import flags as own\n" + TF
        new = self.fixed(
            head + "flags = tf.flags\nflags.DEFINE_bool('a', 1, '')" + PARSED
        )
        self.assertIn("\nfrom absl import flags\nflags.DEFINE_bool(", new)

    def test_the_platform_of_old(self):
        text = "from tensorflow.python.platform import tf_logging as logging\n"
        new = "from absl import logging\nlogging.info('x')\n"
        self.assertEqual(self.fixed(text + "logging.info('x')\n"), new)


class OldTest(FixCase):
    """`--to 1.15` writes what 1.15.5 runs as well."""

    @parameterized.expand(
        [
            ("tf.log(x)", "tf.math.log(x)"),
            ("tf.gfile.Open(p)", "tf.io.gfile.GFile(p)"),
            ("tf.nn.dropout(x, k)", "tf.nn.dropout(x, rate=1 - k)"),
            ("tf.to_float(x)", "tf.cast(x, tf.float32)"),
            (
                "tf.nn.in_top_k(p, t, 1)",
                "tf.nn.in_top_k(predictions=p, targets=t, k=1)",
            ),
        ]
    )
    def test_written(self, old, new):
        self.check(old, new, old=True)

    def test_dimensions_are_left(self):
        self.check("x.shape[0].value", "x.shape[0].value", old=True)


class FilesTest(FixCase):
    TEXT = TF + "tf.log(1)\n"

    def test_a_diff_and_nothing_is_written(self):
        path = self.write(self.TEXT)
        status, out, err = self.run_it(".")
        self.assertEqual(status, 1)
        self.assertIn("-tf.log(1)\n+tf.math.log(1)\n", out)
        self.assertEqual(err, "1 change to write in 1 file\n")
        self.assertEqual(path.read_text(), self.TEXT)

    def test_the_diff_is_a_patch(self):
        self.write(self.TEXT.rstrip("\n"))
        patch = self.run_it("a.py")[1]
        subprocess.run(["patch", "a.py"], input=patch, text=True, check=True)
        self.assertEqual((self.folder / "a.py").read_text(), TF + "tf.math.log(1)")

    def test_write_then_nothing_is_left(self):
        path = self.write(self.TEXT)
        path.chmod(0o755)
        status, out, err = self.run_it("--write", ".")
        self.assertEqual((status, out), (0, ""))
        self.assertEqual(err, "1 change written in 1 file\n")
        self.assertEqual(path.read_text(), TF + "tf.math.log(1)\n")
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o755)
        self.assertEqual(self.run_it("."), (0, "", "0 changes to write in 0 files\n"))
        self.assertEqual(findings.scan(["."]).findings, [])

    def test_check_names_the_files(self):
        self.write(self.TEXT)
        self.assertEqual(self.run_it("--check", ".")[:2], (1, "./a.py: 1 change\n"))

    def test_rules(self):
        self.write(TF + "tf.log(1); tf.gfile.Open(p)\n")
        self.write(self.TEXT, "old/b.py")
        out = self.run_it("--select", "tf.gfile", "--exclude", "old", ".")[1]
        self.assertIn("+tf.log(1); tf.io.gfile.GFile(p)\n", out)
        self.assertNotIn("b.py", out)
        out = self.run_it("--ignore", "tf.gfile", ".")[1]
        self.assertIn("+tf.math.log(1); tf.gfile.Open(p)\n", out)

    def test_what_is_left_is_told_by_cause(self):
        self.write(TF + "with tf.Session() as sess:\n    sess.run(x)\n")
        status, _, err = self.run_it(".")
        self.assertEqual(status, 0)
        self.assertRegex(err, r"2 uses left:\n +2  sessions, placeholders: basics\.")

    @parameterized.expand(
        [
            (
                "line ends",
                (TF + "tf.log(1)\ntf.logging.info(1)\n").replace("\n", "\r\n"),
            ),
            ("old line ends", (TF + "tf.log(1)\n").replace("\n", "\r")),
            ("mixed", TF + "a = 1\r\ntf.log('ä')\r\nb = 1\n"),
            ("a mark", "\ufeff" + TF + "tf.log(1)\n"),
            ("Latin", "# coding: latin-1\n" + TF + "f('ä', tf.log(1))\n"),
            ("Python 2", TF + "print 'ä', tf.log(1)\nexec 'x'\n"),
            ("a form feed", TF + "a = 1\n\f\ntf.log(1)\n"),
            ("no last line end", TF + "'ä'; tf.log(1)"),
        ]
    )
    def test_the_rest_of_a_file_stays(self, name, text):
        encoding = "latin-1" if name == "Latin" else "utf-8"
        path = self.write(text.encode(encoding))
        self.assertEqual(self.run_it("--write", ".")[0], 0)
        new = path.read_bytes().decode(encoding)
        if name == "line ends":
            self.assertEqual(new.count("\r\n"), new.count("\n"))
            new = new.replace("from absl import logging\r\n", "")
            text = text.replace("tf.logging", "logging")
        self.assertEqual(new, text.replace("tf.log(", "tf.math.log("))

    def test_a_file_that_is_not_wholly_read_stays(self):
        path = self.write(self.TEXT + "def (:\n")
        other = self.write(self.TEXT, "b.py")
        status, _, err = self.run_it("--write", ".")
        self.assertEqual(status, 2)
        self.assertIn("a.py: line 3, column 5 is not valid Python", err)
        self.assertEqual(path.read_text(), self.TEXT + "def (:\n")
        self.assertIn("tf.math", other.read_text())

    def test_a_file_that_would_be_no_python_stays(self):
        path = self.write(self.TEXT)
        wrong = planning.edits.Change((planning.edits.Edit(0, 6, "import ("),))
        with mock.patch.object(planning, "SAFE", (lambda site, old: wrong,)):
            status, _, err = self.run_it("--write", ".")
        self.assertEqual(status, 2)
        self.assertIn("not changed: line 1 would not be valid Python", err)
        self.assertEqual(path.read_text(), self.TEXT)

    @parameterized.expand(
        [
            (["--write", "--check", "."], "leave one out"),
            (["-"], "does not read standard input"),
            (["nowhere"], "no such file"),
            (["--select", "tf.lgo", "."], "no rule"),
        ]
    )
    def test_refused(self, arguments, told):
        status, _, err = self.run_it(*arguments)
        self.assertEqual(status, 2)
        self.assertIn(told, err)

    def test_tensorflow_is_not_imported(self):
        self.write(self.TEXT)
        code = (
            "import sys; from tf1to2 import cli; cli.main(['fix', '.'])\n"
            "assert not {'tensorflow', 'numpy', 'absl'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


class NotebooksTest(FixCase):
    def notebook(self, *cells, indent=1, **more):
        found = [
            {
                "cell_type": "code",
                "execution_count": 3,
                "metadata": {},
                "outputs": [{"output_type": "stream", "text": ["tf.log ä\n"]}],
                "source": cell,
            }
            for cell in cells
        ]
        markdown = {"cell_type": "markdown", "metadata": {}, "source": ["tf.log(1)"]}
        whole = {"cells": [markdown, *found], "nbformat": 4, **more}
        return json.dumps(whole, indent=indent, ensure_ascii=False) + "\n"

    @parameterized.expand([(1,), (2,), (4,), (None,)])
    def test_the_cells_alone_change(self, indent):
        cells = [
            ["%matplotlib inline\n", "import tensorflow as tf\n", "x = 'ä'"],
            ["!ls\n", "y = !ls\n", "tf.log(1)\n", "print('ä', tf.log(x))"],
            "tf.to_float(x)\ntf.log(2)",
        ]
        text = self.notebook(*cells, indent=indent)
        path = self.write(text, "a.ipynb")
        self.assertEqual(self.run_it("--write", ".")[0], 0)
        found = text.split("tf.log ä")
        wanted = "tf.log ä".join(
            part.replace("tf.log(1)\\n", "tf.math.log(1)\\n")
            .replace("tf.log(x)", "tf.math.log(x)")
            .replace("tf.log(2)", "tf.math.log(2)")
            .replace("tf.to_float(x)", "tf.cast(x, tf.float32)")
            for part in found
        )
        self.assertEqual(path.read_text("utf-8"), wanted)

    def test_an_import_is_a_line_of_its_own(self):
        text = self.notebook(["import tensorflow as tf\n", "tf.logging.info(1)"])
        path = self.write(text, "a.ipynb")
        self.run_it("--write", ".")
        source = json.loads(path.read_text("utf-8"))["cells"][1]["source"]
        lines = ["from absl import logging\n", "import tensorflow as tf\n"]
        self.assertEqual(source, [*lines, "logging.info(1)"])

    def test_the_diff_tells_the_cell(self):
        self.write(self.notebook(["x = 1"], [TF, "tf.log(1)"]), "a.ipynb")
        self.assertIn("--- a.ipynb:cell 2\n", self.run_it("a.ipynb")[1])

    def test_escaped_text_stays_escaped(self):
        whole = json.loads(self.notebook([TF, "tf.log('ä')"]))
        path = self.write(json.dumps(whole), "a.ipynb")
        self.run_it("--write", ".")
        self.assertIn(r"tf.math.log('\u00e4')", path.read_text())
