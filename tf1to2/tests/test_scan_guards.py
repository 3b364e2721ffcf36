"""What is written for both versions, and what betrays TensorFlow 1."""

import json

from parameterized import parameterized

from tf1to2.scan import findings
from tf1to2.tests.test_scan import TF, ScanCase


class GuardCase(ScanCase):
    def found(self, text):
        self.write(a=text)
        report = findings.scan(["a.py"])
        return [f.entry.symbol for f in report.findings], report.excused


class ExcusedTest(GuardCase):
    @parameterized.expand(
        [
            ("the version", TF + "if tf.__version__ < '2':\n    tf.log(1)"),
            (
                "a method of the version",
                TF + "if tf.__version__.startswith('1.'):\n    tf.log(1)",
            ),
            (
                "a part of the version",
                TF + "if int(tf.__version__.split('.')[0]) < 2:\n    tf.log(1)",
            ),
            (
                "a name for the version",
                TF + "v2 = tf.__version__ > '2'\nx = tf.math.log if v2 else tf.log",
            ),
            (
                "a function that tells the version",
                TF + "def is_2():\n    return tf.__version__ >= '2'\n"
                "if is_2():\n    tf.math.log(1)\nelse:\n    tf.log(1)",
            ),
            ("hasattr", TF + "if hasattr(tf, 'log'):\n    tf.log(1)"),
            (
                "an import",
                "try:\n    from tensorflow.contrib import slim\n"
                "except ImportError:\n    import tf_slim as slim\nslim.conv2d(1)",
            ),
            (
                "an import, whatever the error",
                "try:\n    from tensorflow.contrib import slim\n"
                "except:\n    slim = None",
            ),
            (
                "the function that it tries",
                TF + "def f():\n    try:\n        return tf.log\n"
                "    except AttributeError:\n        return None",
            ),
            (
                "an attribute",
                TF
                + "try:\n    x = tf.log\nexcept AttributeError:\n    x = tf.math.log",
            ),
            (
                "a call that has another way",
                TF + "try:\n    x = tf.log(1)\n"
                "except AttributeError:\n    x = tf.math.log(1)",
            ),
        ]
    )
    def test_is_excused_and_counted(self, _, text):
        self.assertEqual(self.found(text), ([], 1))

    def test_a_name_of_the_project_for_the_version(self):
        self.write(
            common=TF + "V2 = tf.__version__ >= '2'",
            b=TF + "from common import V2\nif not V2:\n    tf.log(1)",
        )
        report = findings.scan(["b.py"])
        self.assertEqual((report.findings, report.excused), ([], 1))

    def test_reports_say_how_many(self):
        self.write(a=TF + "if hasattr(tf, 'log'):\n    tf.log(1)\ntf.exp")
        _, out, _ = self.run_it("a.py", "--statistics")
        self.assertIn("1 more use is in branches that only TensorFlow 1 runs", out)
        _, out, _ = self.run_it("a.py", "--format", "json")
        self.assertEqual(json.loads(out)["excused"], 1)


class NoExcuseTest(GuardCase):
    @parameterized.expand(
        [
            (
                "a bare except that returns",
                TF + "def f():\n    try:\n        return tf.log(1)\n"
                "    except:\n        return 0",
            ),
            (
                "an error that is swallowed",
                TF + "try:\n    x = tf.log(1)\nexcept AttributeError:\n    x = 0",
            ),
            (
                "a handler that only tells of the error",
                TF + "try:\n    tf.log(1)\nexcept AttributeError as error:\n    pass",
            ),
            (
                "a handler",
                TF
                + "try:\n    x = tf.math.log\nexcept AttributeError:\n    x = tf.log",
            ),
            (
                "the branch for TensorFlow 2",
                TF + "if tf.__version__ >= '2':\n    tf.log(1)",
            ),
            (
                "the version of something else",
                TF + "import numpy as np\nif np.__version__ < '2':\n    tf.log(1)",
            ),
            (
                "hasattr of something else",
                TF + "if hasattr(config, 'log'):\n    tf.log(1)",
            ),
            (
                "a flag that says nothing of TensorFlow",
                TF + "if config.version == 1:\n    tf.log(1)",
            ),
            (
                "an import of something else",
                TF + "try:\n    import fast\n    x = tf.log\n"
                "except ImportError:\n    x = None",
            ),
        ]
    )
    def test_is_found(self, _, text):
        self.assertEqual(self.found(text), (["tf.log"], 0))

    def test_both_branches_of_tensorflow_1(self):
        text = TF + "if hasattr(tf, 'log'):\n    tf.log(1)\nelse:\n    tf.to_float(1)"
        self.assertEqual(self.found(text), (["tf.log", "tf.to_float"], 0))

    def test_between_versions_of_tensorflow_1(self):
        found, excused = self.found(TF + "if tf.__version__ < '1.4':\n    tf.log(1)")
        self.assertEqual((found, excused), (["tf.log"], 0))


class ProofTest(GuardCase):
    @parameterized.expand(
        [
            ("a keyword", TF + "tf.nn.dropout(x, keep_prob=1)", ["tf.nn.dropout"]),
            ("an input", TF + "tf.nn.ctc_loss(inputs=x)", ["tf.nn.ctc_loss"]),
            (
                "another",
                TF + "tf.image.crop_and_resize(x, box_ind=y)",
                ["tf.image.crop_and_resize"],
            ),
            ("the root", "import tensorflow.compat.v1 as tf", []),
            (
                "switched off",
                TF + "tf.compat.v1.disable_v2_behavior()",
                ["tf.disable_v2_behavior"],
            ),
        ]
    )
    def test_false_friends_beside_it_are_found(self, _, proof, proven):
        found, _ = self.found(f"{proof}\ntf.where(p, x, y)")
        self.assertEqual(found, [*proven, "tf.where"])

    @parameterized.expand(
        [
            ("a private name", "from tensorflow.python.eager import context", 1),
            ("one name spelled out", "tf.compat.v1.placeholder(1)", 1),
            ("a guarded name", "if hasattr(tf, 'log'): tf.log(1)", 0),
            ("a session by its name", "sess.run(x)", 0),
        ]
    )
    def test_no_proof(self, _, line, count):
        found, _ = self.found(f"{TF}{line}\ntf.where(p, x, y)")
        self.assertEqual(len(found), count)
        self.assertNotIn("tf.where", found)

    def test_what_is_spelled_compat_v1_is_found(self):
        found, _ = self.found(TF + "tf.compat.v1.where(p, x, y)")
        self.assertEqual(found, ["tf.where"])


class MethodTest(GuardCase):
    @parameterized.expand(
        [
            ("a session", "tf.Session().run(x)", "tf.Session.run"),
            ("a saver", "tf.train.Saver().restore(s, p)", "tf.train.Saver.restore"),
            (
                "an optimizer",
                "tf.train.AdamOptimizer().minimize(x)",
                "tf.train.AdamOptimizer.minimize",
            ),
            (
                "a dataset",
                "tf.data.Dataset.range(3).output_shapes",
                "tf.data.Dataset.output_shapes",
            ),
            (
                "a scope",
                "tf.get_variable_scope().reuse_variables()",
                "tf.VariableScope.reuse_variables",
            ),
            (
                "a cell",
                "tf.nn.rnn_cell.BasicLSTMCell(2).zero_state(3, t)",
                "tf.nn.rnn_cell.BasicLSTMCell.zero_state",
            ),
            (
                "a test",
                "class T(tf.test.TestCase):\n  def f(s): pass\n"
                "  def g(self): self.test_session()",
                "tf.test.TestCase.test_session",
            ),
            (
                "the rate of an optimizer",
                "tf.log(1)\nmodel.optimizer.lr",
                "tf.keras.optimizers.Optimizer.lr",
            ),
            ("an op", "tf.global_variables_initializer().run()", "tf.Operation.run"),
            ("a parameter", "tf.log(1)\ndef f(sess): sess.run(1)", "tf.Session.run"),
            ("fed", "def f(s): s.run(1, feed_dict={})", ".run"),
            ("a name", "tf.log(1)\n[v.op.name for v in x]", "tf.Tensor.op"),
            ("of a call", "tf.log(1)\nf().outputs[0].op.name", "tf.Tensor.op"),
            ("of a class's", "tf.log(1)\nself.loss.op.inputs", "tf.Tensor.op"),
        ]
    )
    def test_a_method_is_found(self, _, text, symbol):
        found, _ = self.found(TF + text)
        self.assertEqual(found[-1], symbol)

    @parameterized.expand(
        [
            ("a strategy", "tf.distribute.MirroredStrategy().run(f)"),
            ("a checkpoint", "tf.train.Checkpoint().restore(p)"),
            ("a Keras optimizer", "tf.keras.optimizers.SGD().apply_gradients(g)"),
            ("a model", "tf.keras.Sequential().save(p)"),
            ("a message", "[n.op for n in g.node if n.op.lower() in x]"),
        ]
    )
    def test_a_method_of_tensorflow_2_is_not(self, _, text):
        self.assertEqual(self.found(TF + text)[0], [])


class WildcardTest(GuardCase):
    def test_only_names_of_the_module(self):
        star = "from tensorflow.contrib.slim import *\n"
        found, _ = self.found(star + "print(len(x))\nconv2d(x, 3, 3)\nhelper(x)")
        self.assertEqual(found, ["tf.contrib.slim", "tf.contrib.slim.conv2d"])
