"""Methods of a model that another module, another object or another name holds."""

from parameterized import parameterized

from tf1to2.tests.test_scan import ScanCase

NETS = """
import tensorflow as tf
from tensorflow.keras.models import Model, Sequential, load_model


def build(n):
    net = Sequential([tf.keras.layers.Dense(n)])
    net.compile("sgd", "mse")
    return net


def read(path):
    return load_model(path)


def number(x):
    return x + 1


class Net:
    def __init__(self):
        self.model = build(3)
        self.size = 3

    def copy(self):
        return Model(inputs=[1], outputs=[2])
"""
SKLEARN = """
from sklearn.svm import SVC


def build(n):
    return SVC(n)
"""


class ElsewhereTest(ScanCase):
    def found(self, text, nets=NETS):
        self.write(setup="", nets=nets, use=text)
        return self.lines("use.py")

    @parameterized.expand(
        [
            (
                "another library's",
                "from nets import build\nbuild(1).fit(x, workers=2)",
                SKLEARN,
            ),
            ("no model", "from nets import number\nnumber(1).fit(x, workers=2)", NETS),
            (
                "an attribute that is none",
                "from nets import Net\nNet().size.fit(x, workers=2)",
                NETS,
            ),
            (
                "right calls",
                "from nets import build\nm = build(3)\n"
                "m.fit(x, epochs=2)\nm.predict(x)",
                NETS,
            ),
        ]
    )
    def test_is_left_alone(self, _, text, nets):
        self.assertEqual(self.found(text, nets), [])

    @parameterized.expand(
        [
            ("a call", "from nets import build\nbuild(3).fit(x, workers=2)"),
            (
                "a name",
                "from nets import build\nm = build(3)\nm.fit_generator(g, 9)",
                3,
            ),
            (
                "the module",
                "import nets\nm = nets.build(3)\nm.fit(x, max_queue_size=2)",
                3,
            ),
            (
                "a relative import",
                "from .nets import read\nread(p).evaluate(x, workers=1)",
            ),
            (
                "a list that it is fed",
                "from nets import read\nm = read(p)\nm.predict([1.0])",
                3,
            ),
            (
                "an object that holds it",
                "from nets import Net\nNet().model.predict(x, workers=1)",
            ),
            (
                "by a name",
                "from nets import Net\nn = Net()\nm = n.model\nm.fit(x, workers=1)",
                4,
            ),
            (
                "a method that makes it",
                "from nets import Net\nNet().copy().fit(x, workers=1)",
            ),
            (
                "an attribute",
                "from nets import build\nclass A:\n  def __init__(self):\n"
                "    self.net = build(3)\n  def run(self):\n"
                "    self.net.fit(x, use_multiprocessing=True)",
                6,
            ),
        ]
    )
    def test_a_model_of_another_module(self, _, text, line=2):
        self.assertEqual(self.found(text), [line])

    @parameterized.expand(
        [
            ("a local name", "net = self.model\n    net.fit(x, workers=2)", 8),
            ("itself", "self.model.fit(x, max_queue_size=2)", 7),
            ("a name for a name", "a = self.model\n    b = a\n    b.predict([2.0])", 9),
        ]
    )
    def test_an_alias(self, _, lines, line):
        text = (
            "from tensorflow.keras.models import Model\nclass A:\n"
            "  def __init__(self):\n    self.model = Model(inputs=[1], outputs=[2])\n"
            f"    self.other = 1\n  def run(self, x):\n    {lines}\n"
        )
        self.assertEqual(self.found(text), [line])

    def test_a_parameter_by_the_keywords(self):
        text = "import tensorflow as tf\ndef f(net):\n  net.fit(x, workers=2)\n"
        self.assertEqual(self.found(text), [])  # perhaps another library's
        self.assertEqual(self.found(text + "tf.Session()"), [3, 4])

    def test_names_of_weights(self):
        text = (
            "from nets import build\nm = build(3)\nm.save_weights('a.weights.h5')\n"
            "m.save_weights(f + '.h5')\nm.save_weights('a.hdf5')\nm.save_weights('a')\n"
        )
        self.assertEqual(self.found(text), [4, 5, 6])
