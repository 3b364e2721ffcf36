"""Which names a file uses: no-op cases first, then every way to come by a name."""

import unittest

from hypothesis import given, settings
from hypothesis import strategies as st
from parameterized import parameterized

from tf1to2.source.names import reader, records


def uses(text, **options):
    module = reader.read(text.encode(), **options)
    return [use.origin.replace("tensorflow", "tf", 1) for use in module.uses]


class NoUseTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("nothing", ""),
            ("another library", "import numpy as tf\ntf.zeros(3)"),
            ("only imported", "import tensorflow as tf"),
            ("a parameter", "import tensorflow as tf\ndef f(tf):\n    tf.log(1)"),
            (
                "a local name",
                "import tensorflow as tf\ndef f():\n  tf = g()\n  tf.log(1)",
            ),
            ("a lambda's", "import tensorflow as tf\nf = lambda tf: tf.log(1)"),
            ("a comprehension's", "import tensorflow as tf\n[tf.log(1) for tf in x]"),
            ("a string", "import tensorflow as tf\n'tf.log(1)'"),
            ("a comment", "import tensorflow as tf\n# tf.log(1)"),
            ("a keyword", "import tensorflow as tf\nf(tf=1)"),
            ("an attribute", "import tensorflow as tf\nx.tf.log(1)"),
            (
                "an object of the project",
                "import tensorflow as tf\nfrom p import Schedule, config\n"
                "s = Schedule()\ns.value(), config.eval.size",
            ),
            (
                "the value of a variable, of a message",
                "import tensorflow as tf\nv, m = tf.Variable(1), tf.Summary()\n"
                "v.value(), m.value.add()",
            ),
            (
                "a function that has the name of a method",
                "import tensorflow as tf\nimport utils\nutils.get_shape(x)",
            ),
            ("a shape", "import tensorflow as tf\nx.get_shape(), f(x).get_shape()"),
            (
                "a function of the file's own",
                "import tensorflow as tf\nclass A:\n    def zero_state(self): pass\n"
                "    def f(self): self.zero_state(3)",
            ),
            (
                "a session of another library",
                "import tensorflow as tf\nimport onnxruntime as rt\n"
                "sess = rt.InferenceSession(m)\nsess.run(None, {})",
            ),
            (
                "a value in a loop over something else",
                "import tensorflow as tf\nfor d in enum: d.value",
            ),
            (
                "an eval of texts",
                "import tensorflow as tf\nf.eval('a + b', feed), f.eval({'a': 1})",
            ),
            ("a clone", "import tensorflow as tf\nx.clone(), x.clone(deep=True)"),
            (
                "a parser, a model that is asked whether it is frozen",
                "import tensorflow as tf\nparser.parse('x'), layer.trainable",
            ),
        ]
    )
    def test_is_left_alone(self, _, text):
        found = uses(text)
        made = ("tf.Variable", "tf.Summary")
        self.assertEqual([name for name in found if name not in made], [])


class UseTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("import as", "import tensorflow as tf\ntf.log(1)", ["tf.log"]),
            ("import", "import tensorflow\ntensorflow.log(1)", ["tf.log"]),
            (
                "compat.v1",
                "import tensorflow.compat.v1 as tf\ntf.log(1)",
                ["tf.compat.v1.log"],
            ),
            (
                "a module",
                "import tensorflow.contrib.slim as slim\nslim.conv2d(1)",
                ["tf.contrib.slim", "tf.contrib.slim.conv2d"],
            ),
            (
                "a module without as",
                "import tensorflow.contrib.slim\ntensorflow.contrib.slim.conv2d(1)",
                ["tf.contrib.slim", "tf.contrib.slim.conv2d"],
            ),
            (
                "from",
                "from tensorflow.contrib import rnn, slim as s\nrnn.GRUCell(1)",
                ["tf.contrib.rnn", "tf.contrib.slim", "tf.contrib.rnn.GRUCell"],
            ),
            (
                "from the root",
                "from tensorflow import log\nlog(1)",
                ["tf.log", "tf.log"],
            ),
            ("a wildcard", "from tensorflow import *\nlog(1)", ["*log"]),
            ("an alias", "import tensorflow as tf\nl = tf.layers\nl.dense(1)", None),
            (
                "aliases of aliases",
                "import tensorflow as t\ntf = t\nx = tf\nx.log",
                None,
            ),
            (
                "an alias in a function",
                "import tensorflow as tf\ndef f():\n    lg = tf.log\n    lg(1)",
                ["tf.log", "tf.log"],
            ),
            (
                "an alias in a class",
                "import tensorflow as tf\nclass A:\n    l = tf.layers\n"
                "    def f(self):\n        self.l.dense(1)",
                ["tf.layers", "tf.layers.dense"],
            ),
            (
                "an alias in an object",
                "import tensorflow as tf\nclass A:\n    def f(self):\n"
                "        self.l = tf.layers\n        self.l.dense(1)",
                ["tf.layers", "tf.layers", "tf.layers.dense"],
            ),
            (
                "several at once",
                "import tensorflow as tf\na, b = tf.log, tf.exp\nb(1)",
                ["tf.log", "tf.exp", "tf.exp"],
            ),
            (
                "an import that may fail",
                "try:\n    import tensorflow as tf\n"
                "except ImportError:\n    tf = None\ntf.log(1)",
                ["tf.log"],
            ),
            (
                "either of two",
                "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n"
                "    import tensorflow as tf\ntf.log(1)",
                ["tf.compat.v1.log"],
            ),
            (
                "imported in a function",
                "def f():\n    import tensorflow as tf\n    return tf.log(1)",
                ["tf.log"],
            ),
            (
                "declared global",
                "def f():\n    global tf\n    import tensorflow as tf\ntf.log(1)",
                ["tf.log"],
            ),
            (
                "getattr",
                "import tensorflow as tf\ngetattr(tf.train, 'Saver')()",
                ["tf.train.Saver", "tf.train"],
            ),
            (
                "import_module",
                "import importlib\n"
                "tf = importlib.import_module('tensorflow')\ntf.log(1)",
                ["tf.log"],
            ),
            (
                "over several lines",
                "import tensorflow as tf\n(tf\n  .train  # here\n  .Saver())",
                ["tf.train.Saver"],
            ),
            (
                "a decorator",
                "import tensorflow as tf\n@tf.x('y')\ndef f(): pass",
                ["tf.x"],
            ),
            ("a default", "import tensorflow as tf\ndef f(a=tf.log): pass", ["tf.log"]),
            (
                "an annotation",
                "import tensorflow as tf\ndef f(a: tf.log): pass",
                ["tf.log"],
            ),
            (
                "a base class",
                "import tensorflow as tf\nclass A(tf.x.Y): pass",
                ["tf.x.Y"],
            ),
            (
                "within an f-string",
                "import tensorflow as tf\nf'{tf.log(1)}'",
                ["tf.log"],
            ),
            ("a method", "import tensorflow as tf\nx = tf.ones(3)\nx.eval()", None),
            (
                "a dimension",
                "import tensorflow as tf\ny = x.shape[0].value",
                [".value"],
            ),
            ("an iterator", "import tensorflow\nd.make_one_shot_iterator()", None),
            (
                "a dimension of a shape by a name",
                "import tensorflow as tf\ny = input_shape.dims[1].value",
                [".value"],
            ),
            (
                "a dimension in a loop",
                "import tensorflow as tf\nfor d in x.shape: d.value",
                [".value"],
            ),
            (
                "a dimension in a comprehension",
                "import tensorflow as tf\n[d.value for d in x.get_shape()]",
                [".value"],
            ),
            (
                "a dimension in a numbered loop",
                "import tensorflow as tf\nfor i, d in enumerate(x.shape): d.value",
                [".value"],
            ),
            (
                "a dimension of a shape that has a name",
                "import tensorflow as tf\ndims = x.get_shape()\ndims[0].value",
                [".value"],
            ),
            (
                "dimensions that were unpacked",
                "import tensorflow as tf\nb, h = x.get_shape()[1:3]\nh.value",
                [".value"],
            ),
            (
                "an alias of an alias of a tensor",
                "import tensorflow as tf\nx = tf.ones(3)\ny = x\nz = y\nz.eval()",
                ["tf.ones", "tf.ones().eval"],
            ),
            (
                "declared nonlocal",
                "def f():\n    t = None\n    def g():\n        nonlocal t\n"
                "        import tensorflow as t\n    t.log(1)",
                ["tf.log"],
            ),
            (
                "a handler that only tells of the error",
                "import tensorflow as tf\ntry:\n    tf.log(1)\n"
                "except AttributeError as error:\n    text = str(error)",
                ["tf.log"],
            ),
            (
                "a module that is no part of TensorFlow",
                "import tensorflow as tf\ntry:\n    import fast\n"
                "except ImportError:\n    has_fast = tf.log(1)",
                ["tf.log"],
            ),
            (
                "an error that TensorFlow raises",
                "import tensorflow as tf\ntry:\n    x = tf.log(1)\n"
                "except tf.errors.NotFoundError:\n    x = None",
                ["tf.log", "tf.errors.NotFoundError"],
            ),
            (
                "an alias over two lines",
                "import tensorflow as tf\nl = (\n    tf.layers\n)\nl.dense(1)",
                None,
            ),
            (
                "an alias of an alias, in another order",
                "def f():\n    b(1)\nimport tensorflow as tf\n"
                "(a, c), d = (tf.log, 1), 2\nb = a",
                ["tf.log"] * 3,
            ),
            (
                "an alias in a chain of targets",
                "import tensorflow as tf\na = b = tf.layers\nb.dense(1)",
                None,
            ),
            (
                "async, which was a name",
                "import tensorflow as tf\ndef f(async=False):\n    g(async=tf.log(1))",
                ["tf.log"],
            ),
        ]
    )
    def test_is_found(self, _, text, wanted):
        found = uses(text)
        if wanted is None:
            self.assertTrue(
                found[-1].endswith(text.split(".")[-1].split("(")[0]), found
            )
        else:
            self.assertEqual(found, wanted)

    @parameterized.expand(
        [
            ("assigned", "s = tf.Session()\ns.run(x)", "Session().run"),
            ("with", "with tf.Session(graph=g) as s:\n    s.run(x)", "Session().run"),
            ("at once", "tf.Session().run(x)", "Session().run"),
            ("a default", "def f(s=tf.Session()):\n    s.run(x)", "Session().run"),
            ("annotated", "def f(s: tf.Session):\n    s.run(x)", "Session().run"),
            (
                "one of two",
                "s = tf.Session() if n else None\ns.run(x)",
                "Session().run",
            ),
            (
                "in another method",
                "class A:\n    def f(self):\n        self.s = tf.Session()\n"
                "    def g(self):\n        self.s.run(x)",
                "Session().run",
            ),
            (
                "chained",
                "d = tf.data.Dataset.range(3).batch(2)\nd.map(f).output_shapes",
                "data.Dataset.range().batch().map().output_shapes",
            ),
            (
                "the class's own",
                "class T(tf.test.TestCase):\n    def f(self): self.test_session()",
                "test.TestCase().test_session",
            ),
            (
                "of a class made from it",
                "class O(tf.train.Optimizer): pass\nO().minimize(x)",
                "train.Optimizer().minimize",
            ),
        ]
    )
    def test_a_method_of_what_a_class_made(self, _, text, origin):
        found = uses("import tensorflow as tf\n" + text)
        self.assertEqual(found[-1], "tf." + origin)

    @parameterized.expand(
        [
            ("fed by a dict", "x.eval({a: 1})", "eval"),
            ("fed by a name", "x.eval(feed), y.eval(self_feed_dict)", "eval"),
            ("a state", "cell.zero_state(2, t).clone(cell_state=s)", "clone"),
            ("hyperparameters", "hp.add_hparam('rate', 1)", "add_hparam"),
        ]
    )
    def test_nothing_else_is_called_so(self, _, text, name):
        self.assertEqual(uses(f"import tensorflow as tf\n{text}")[-1], f".{name}")

    @parameterized.expand(
        [
            ("hyperparameters", "make_hparams().parse(text)", "HParams.parse"),
            ("and short", "self.hp.override_from_dict(d)", "override_from_dict"),
            ("a layer", "layer.trainable = flag", "layers.Layer.trainable"),
        ]
    )
    def test_a_method_by_the_name_of_its_object(self, _, text, origin):
        found = reader.read(f"import tensorflow as tf\n{text}".encode()).uses
        self.assertTrue(found[-1].likely.endswith(origin), found)

    def test_the_place_is_in_characters(self):
        (use,) = reader.read(
            "import tensorflow as tf\nä = 'ö', tf.log(1)".encode()
        ).uses
        self.assertEqual((use.line, use.column, use.end_column), (2, 10, 16))

    def test_the_arguments(self):
        text = b"import tensorflow as tf\ntf.x(1, *a, axis=2, **b)"
        (use,) = reader.read(text).uses
        self.assertEqual(use.call, records.Call(1, ("axis",), True))


class Python2Test(unittest.TestCase):
    @parameterized.expand(
        [
            ("print", "print tf.log(1), 'x'"),
            ("print to a file", "print >>f, tf.log(1)"),
            ("except", "try:\n    tf.log(1)\nexcept ValueError, e:\n    pass"),
            ("raise", "raise ValueError, tf.log(1)"),
            ("unequal", "a <> tf.log(1)"),
            ("literals", "x = 0777, ur'x', 10L, tf.log(1)"),
            ("exec", "exec 'x' in tf.log(1)"),
            ("an unpacked parameter", "def f(a, (b, c)):\n    return tf.log(1)"),
        ]
    )
    def test_is_read(self, _, text):
        module = reader.read(b"import tensorflow as tf\n" + text.encode())
        self.assertEqual([use.origin for use in module.uses], ["tensorflow.log"])
        self.assertIsNone(module.broken)


class BrokenTest(unittest.TestCase):
    def test_what_is_whole_is_read_and_the_rest_named(self):
        module = reader.read(
            b"import tensorflow as tf\ntf.log(1)\nx = = 2\ntf.exp(1)\n"
        )
        self.assertEqual(len(module.uses), 2)
        self.assertEqual(module.broken, (3, 5))

    @parameterized.expand(
        [
            ("brackets", b"import tensorflow as tf\n" + b"(" * 20000),
            ("calls", b"import tensorflow as tf\ntf.x" + b".y()" * 20000),
            ("attributes", b"import tensorflow as tf\ntf" + b".y" * 20000),
            ("blocks", b"\n".join(b" " * n + b"if x:" for n in range(900))),
            (
                "a line",
                b"import tensorflow as tf\nx = [" + b"tf.log(1)," * 20000 + b"]",
            ),
            ("names that go round", b"a = b\nb = a\na.x()\n"),
        ]
    )
    def test_nothing_is_too_deep(self, _, text):
        reader.read(text)

    @settings(max_examples=150, deadline=None, derandomize=True, database=None)
    @given(st.binary(max_size=300))
    def test_any_bytes(self, data):
        reader.read(b"import tensorflow as tf\n" + data)

    @settings(max_examples=150, deadline=None, derandomize=True, database=None)
    @given(st.data())
    def test_any_damage(self, data):
        text = SAMPLE
        for _ in range(data.draw(st.integers(1, 4))):
            start = data.draw(st.integers(0, len(text)))
            stop = data.draw(st.integers(start, min(len(text), start + 40)))
            text = text[:start] + data.draw(st.binary(max_size=8)) + text[stop:]
        reader.read(text)


SAMPLE = b"""
import tensorflow as tf
from tensorflow.contrib import slim as s
from .common import *
class Net(object):
    act = tf.nn.relu
    def __init__(self, x=tf.zeros([2])):
        self.x = tf.placeholder(tf.float32, [None, 3])
        with tf.variable_scope("a"), tf.Session() as sess:
            print sess.run(self.act(self.x)), self.x.eval()
        try:
            y = lambda tf: tf.x
        except ValueError, e:
            raise
        z = [tf.log(v) for v in x if tf.__version__]
"""
