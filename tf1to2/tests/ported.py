"""A user's folder, small: a legacy net, its port, a test; and mistakes in the port.

The left page says `tensorflow.compat.v1`, so that a test can have today's TensorFlow
answer in place of the genuine one: what is tested here is the way, not TensorFlow 1.
"""

import contextlib
import pathlib
import sys
import tempfile
from unittest import mock

from tf1to2.parity import providers, recordings, v1
from tf1to2.prove import asking

LEGACY = '''
"""What people have."""
import tensorflow.compat.v1 as tf

from legacy.rates import RATE


def logits(x, w):
    h = tf.nn.relu(tf.matmul(x, w) - 0.5)
    total = tf.reduce_sum(h, axis=1, keepdims=True)
    return {"scores": h / (total + 1.0), "best": tf.argmax(h, axis=1)}


def make_norm():
    def norm(x):
        gamma = tf.get_variable("gamma", [3], x.dtype, tf.ones_initializer())
        mean = tf.get_variable("mean", [3], x.dtype, tf.zeros_initializer(),
                               trainable=False)
        batch = tf.reduce_mean(x, axis=0)
        update = tf.assign_sub(mean, (mean - batch) * 0.1)
        with tf.control_dependencies([update]):
            return (x - batch) * gamma

    return tf.make_template("norm", norm)


def train(x, y, steps=3):
    inputs = tf.placeholder(x.dtype, [None, 3])
    w = tf.get_variable("w", initializer=tf.ones([3, 1], x.dtype))
    b = tf.get_variable("b", initializer=tf.zeros([1], x.dtype))
    loss = tf.reduce_mean(tf.square(tf.matmul(inputs, w) + b - y))
    loss += 0.01 * tf.reduce_sum(tf.square(w))
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(RATE, step, 2, 0.5, staircase=True)
    op = tf.train.MomentumOptimizer(rate, 0.9).minimize(loss, step)
    out = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(steps):
            value, _ = sess.run([loss, op], {inputs: x})
            out.append({"loss": value, "w": sess.run(w), "b": sess.run(b)})
    return out
'''
RATES = "RATE = 0.25  # of learning\n"
PORT = '''
"""What it becomes."""
import tensorflow as tf


def scores(x, w):
    h = tf.nn.relu(tf.matmul(x, w) - 0.5)
    total = tf.reduce_sum(h, axis=1, keepdims=True)
    return {"scores": h / (total + 1.0), "best": tf.argmax(h, axis=1)}


class Norm(tf.Module):
    def __init__(self):
        super().__init__("norm")
        self.scale = None

    def __call__(self, x):
        if self.scale is None:
            self.scale = tf.Variable(lambda: tf.ones([3], x.dtype), name="scale")
            self.mean = tf.Variable(
                lambda: tf.zeros([3], x.dtype), trainable=False, name="mean"
            )
        batch = tf.reduce_mean(x, axis=0)
        self.mean.assign_sub((self.mean - batch) * 0.1)
        return (x - batch) * self.scale


def train(x, y, steps=3):
    w = tf.Variable(tf.ones([3, 1], x.dtype))
    b = tf.Variable(tf.zeros([1], x.dtype))
    slots = [tf.Variable(tf.zeros_like(w)), tf.Variable(tf.zeros_like(b))]

    @tf.function
    def step(x, y, rate):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
            loss += 0.01 * tf.reduce_sum(tf.square(w))
        for v, m, g in zip([w, b], slots, tape.gradient(loss, [w, b])):
            m.assign(tf.cast(0.9, x.dtype) * m + g)  # float32, as it was
            v.assign_sub(rate * m)
        return loss

    out = []
    for i in range(steps):
        rate = tf.constant(0.25 * 0.5 ** (i // 2), x.dtype)
        loss = step(tf.constant(x), tf.constant(y), rate)
        out.append({"loss": loss.numpy(), "w": w.numpy(), "offset": b.numpy()})
    return out
'''
TEST = """
import numpy as np

from tf1to2.parity import Pair, normal

rng = np.random.RandomState(0)
DATA = rng.randn(8, 3).astype("f4"), rng.randn(8, 1).astype("f4")
PAIR = Pair(
    "legacy.net",
    "port.py",
    names={"logits": "scores", "make_norm": "Norm"},
    variables={"norm/gamma": "scale", "norm/mean": "mean", "b": "offset"},
)
PAIR.op("logits", "any rows", normal("n", 3), normal(3, 4), sizes=[{"n": 6}])
PAIR.layer("make_norm", "twice", normal("n", 3), sizes=[{"n": 6}])
PAIR.program("train", "three steps", *DATA)
test_parity = PAIR.test()
"""

MISTAKES = [
    # (what is wrong, in place of, the mistake, the leaf that tells)
    ("another axis", "h, axis=1, keepdims", "h, axis=0, keepdims", "outputs/scores"),
    ("another kernel", "tf.nn.relu", "tf.nn.elu", "outputs/scores"),
    ("a constant", "w) - 0.5)", "w) - 0.4)", "outputs/scores"),
    ("an epsilon", "total + 1.0", "total + 1.001", "outputs/scores"),
    ("a shape", "keepdims=True)", "keepdims=True)[..., 0:1, None]", "outputs/scores"),
    ("a dtype", "tf.argmax(h, axis=1)", "tf.argmax(h, 1, tf.int32)", "outputs/best"),
    ("the least for the most", "tf.argmax", "tf.argmin", "outputs/best"),
    ("a missing output", ', "best": tf.argmax(h, axis=1)', "", "outputs/best"),
    (
        "a lost gradient",
        "tf.matmul(x, w) - 0.5",
        "tf.matmul(x, tf.stop_gradient(w)) - 0.5",
        "gradients/inputs/1",
    ),
    ("an initial value", "tf.ones([3], x", "tf.zeros([3], x", "initial/norm/gamma:0"),
    ("a variable's name", 'name="scale"', 'name="scales"', "state/norm/gamma:0"),
    ("what trains", "trainable=False, ", "", "trainable/1"),
    ("a decay", "batch) * 0.1", "batch) * 0.01", "state/norm/mean:0"),
    (
        "no update",
        "self.mean.assign_sub((self.mean - batch) * 0.1)",
        "pass",
        "state/norm/mean:0",
    ),
    ("another sum", "loss = tf.reduce_mean", "loss = tf.reduce_sum", "outputs/0/loss"),
    ("a lost penalty", "0.01 * tf", "0.0 * tf", "outputs/0/loss"),
    ("the momentum", "cast(0.9", "cast(0.8", "outputs/1/w"),
    ("the first rate", "constant(0.25", "constant(0.2", "outputs/0/w"),
    ("a decay too soon", "(i // 2)", "((i + 1) // 2)", "outputs/1/w"),
    ("a slot for both", "tf.cast(0.9, x.dtype) * m + g", "g", "outputs/1/w"),
    ("one step less", "range(steps)", "range(steps - 1)", "outputs/2/loss"),
    ("after the update", "return loss", "return loss - rate * 1e-3", "outputs/0/loss"),
    ("another container", "return out", "return tuple(out)", "structure"),
    ("a bias not trained", "zip([w, b], slots", "zip([w], slots", "outputs/0/b"),
    (
        "float32 in the middle",
        "(tf.matmul(x, w) - 0.5)",
        "(tf.cast(tf.cast(tf.matmul(x, w), 'float32'), x.dtype) - 0.5)",
        "outputs/scores",
    ),
]


class Folder:
    """A folder with the files above, for a `with` statement."""

    def __init__(self, **texts):
        self.texts = {"test_port": TEST, "port": PORT, **texts}

    def __enter__(self):
        self.stack = contextlib.ExitStack()
        name = self.stack.enter_context(tempfile.TemporaryDirectory())
        self.path = pathlib.Path(name).resolve()
        (self.path / "legacy").mkdir()
        self.write("legacy/net", LEGACY)
        self.write("legacy/rates", RATES)
        for name, text in self.texts.items():
            self.write(name, text)
        self.stack.enter_context(mock.patch.object(sys, "path", list(sys.path)))
        self.stack.enter_context(mock.patch.object(sys, "dont_write_bytecode", True))
        self.forget()
        return self

    @classmethod
    def of(cls, test, **texts):
        """A folder for as long as a test, or a class of tests, runs."""
        folder = cls(**texts).__enter__()
        whole = isinstance(test, type)
        (test.addClassCleanup if whole else test.addCleanup)(folder.__exit__)
        return folder

    def __exit__(self, *error):
        self.forget()
        self.stack.close()

    def write(self, name, text):
        path = self.path / f"{name}.py"
        path.write_text(text)
        return path

    def forget(self):
        """Drops the modules of the folder, as a new process would not have them."""
        names = {path.stem for path in self.path.glob("*.py")} | {"legacy"}
        for name in list(sys.modules):
            if name.partition(".")[0] in names:
                del sys.modules[name]

    def pair(self, name="test_port"):
        self.forget()
        provider = providers.provider(self.path / f"{name}.py")
        return provider.load(provider.names()[0])

    def record(self, name="test_port"):
        """Today's TensorFlow answers in the place of TensorFlow 1."""
        pair = self.pair(name)
        with mock.patch.object(asking, "ask", asked_today):
            return asking.record(pair, "python3.7")


def asked_today(python, page, requests, settings="default", apart=False):
    """`recordings.ask`, of this process."""
    answers = [v1.respond(page.module, request) for request in requests]
    unordered = [[] for _ in requests]
    return answers, recordings.Versions("1.15.5", "1.18.5", unordered)
