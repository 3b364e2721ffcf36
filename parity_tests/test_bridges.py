import pathlib
import tempfile
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from google.protobuf.message import DecodeError
from parameterized import parameterized

from parity_tests import proof
from parity_tests.shorthand import refused
from tf1to2.parity import (
    FalseFriend,
    Op,
    Program,
    Raises,
    integers,
    normal,
    structure,
    uniform,
)
from tf1to2.parity.recordings import Recording
from tf1to2.parity.v1 import legacy
from v1_graph import bridges as v1
from v2_eager import bridges as v2
from v2_eager.numerics import restore

RANDOM = np.random.RandomState(11)


def drawn(*shape):
    return RANDOM.standard_normal(shape).astype("f")


BATCH, START = (drawn(70, 3), drawn(70, 2)), (drawn(3, 2), drawn(2))
WORDS = drawn(64, 5), RANDOM.randint(0, 48, [3, 80]), drawn(3, 80, 5)
KERNEL = drawn(4, 4) / 4
ROWS = drawn(70, 4), drawn(70, 4)
WIDE = ROWS[0].astype("float64"), KERNEL.astype("float64")
PROXIMAL = {
    "learning_rate": 0.01,
    "l1_regularization_strength": 0.03,
    "l2_regularization_strength": 0.1,
}
OPTIMIZERS = {
    "gradient descent": ("GradientDescent", {"learning_rate": 0.01}),
    "Nesterov": (
        "Momentum",
        {"learning_rate": 0.001, "momentum": 0.9, "use_nesterov": True},
    ),
    "Adagrad": ("Adagrad", {"learning_rate": 0.1}),
    "Adadelta": ("Adadelta", {"learning_rate": 1.0}),
    "centered RMSProp": (
        "RMSProp",
        {"learning_rate": 0.0001, "epsilon": 0.01, "centered": True},
    ),
    "Adam": ("Adam", {"learning_rate": 0.001}),
    "Ftrl": ("Ftrl", {"learning_rate": 0.1, "l1_regularization_strength": 0.01}),
    "proximal gradient descent": ("ProximalGradientDescent", PROXIMAL),
    "proximal Adagrad": ("ProximalAdagrad", PROXIMAL),
}
RATE = {"learning_rate": 0.5}
STATE = {
    "kernel": START[0],
    "bias": START[1],
    "kernel/Adam": drawn(3, 2),
    "kernel/Adam_1": drawn(3, 2) ** 2,
    "bias/Adam": drawn(2),
    "bias/Adam_1": drawn(2) ** 2,
    "global_step": np.int64(20),
}
STATE = {name: structure.widen(array) for name, array in STATE.items()}
STATE["beta1_power"], STATE["beta2_power"] = np.float32([0.25, 0.75])
WIDE_BATCH = structure.widen(BATCH)
ZERO = np.zeros([3, 2]), np.zeros(2)


def files_of(arrays):
    """Returns checkpoint files with the bytes that a `tf.train.Saver` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/model.ckpt"
        restore.save(path, arrays)
        suffixes = ".index", ".data-00000-of-00001"
        return {suffix: np.fromfile(path + suffix, np.uint8) for suffix in suffixes}


def genuine(key):
    """Returns the file that TensorFlow 1.15.5 wrote in a case of the recording."""
    path = pathlib.Path(__file__).parent / "golden" / "bridges.npz"
    number = Recording(path, v1).about["entries"][key]["number"]
    with np.load(path) as store:
        return store[f"{number}:outputs/file"]


OTHERS = "the graph of another TensorFlow"
OWN = Program(
    "freeze",
    "its file",
    [*WIDE, True],
    skip={"graph": OTHERS, "eager": OTHERS, "function": OTHERS},
)
FROZEN = genuine("freeze, its file")


def is_float32(slug):
    """Returns True for proximal optimizers: they refuse float64 with a Python rate."""
    return slug.startswith("proximal")


def train_the_code_itself(x, y, kernel, steps):
    """Trains graph code that is called eagerly: nothing keeps its variables."""
    weights = []
    for _ in range(2):
        with tf.compat.v1.variable_scope("net", reuse=tf.compat.v1.AUTO_REUSE):
            weights.append(tf.compat.v1.get_variable("kernel", initializer=kernel))
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.125)
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            h = tf.constant(x)
            for weight in weights:
                start = h
                for _ in range(3):
                    h = tf.nn.relu(tf.matmul(h, weight)) + start
            loss = tf.reduce_mean(tf.square(h - y)) + tf.nn.l2_loss(weights[0])
        losses.append(loss.numpy())
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return {
        "losses": np.array(losses),
        "variables": {"net/kernel": weights[0].numpy()},
    }


def pairwise_eagerly(kind, labels, predictions):
    return getattr(tf.compat.v1.losses, kind)(labels, predictions)


def resize_of_the_same_name(images, size):
    return tf.image.resize(images, size)


REAL = normal("n", 3)
LOSSES = {
    "absolute_difference": [REAL, REAL, uniform("n", 1)],
    "cosine_distance": [REAL, REAL, 1.0, {"axis": 1}],
    "hinge_loss": [integers("n", 3, high=2, dtype="float32"), REAL],
    "huber_loss": [REAL, REAL, uniform("n", 1), {"delta": 0.5}],
    "log_loss": [uniform("n", 3), uniform("n", 3, low=0.01, high=0.99)],
    "mean_squared_error": [REAL, REAL, uniform("n", 1)],
    "sigmoid_cross_entropy": [REAL, REAL, 1.0, {"label_smoothing": 0.125}],
    "softmax_cross_entropy": [normal("n", 5), normal("n", 5), uniform("n")],
    "sparse_softmax_cross_entropy": [integers("n", high=4), normal("n", 4)],
}
PAIRS = normal("n", 3), normal("n", 3)
ONE = {"generated": "one size tells as much"}
FEW = {**ONE, "dynamic": "mean_squared_error is proven in this way"}
NO_XLA = {"xla": "XLA has no such kernel", "generated": "one size tells as much"}
BATCHES = [{"b": 2}, {"b": 67}]
IMAGES = normal("b", 5, 4, 2)


CASES = [
    *[
        Program(
            "fit",
            f"ten steps of {slug}",
            [BATCH, START, *arguments, [1, 10]],
            float32=is_float32(slug),
            traces=2,
        )
        for slug, arguments in OPTIMIZERS.items()
    ],
    Program(
        "fit",
        "a thousand steps of Adam",
        [BATCH, START, *OPTIMIZERS["Adam"], [1, 1000]],
        traces=2,
        skip={"eager": "a thousand steps one by one; ten are proven"},
    ),
    *[
        Program(
            "fit_embedding",
            slug,
            [*WORDS, *arguments],
            float32=is_float32(slug),
            traces=2,
        )
        for slug, arguments in OPTIMIZERS.items()
    ],
    Program("resume", "from the start", [BATCH, START, 10], traces=2),
    Program(
        "resume",
        "a file of TensorFlow 1, and straight back",
        [WIDE_BATCH, ZERO, 0, files_of(STATE)],
        expect={"losses": [], "saved": STATE},
        traces=2,
    ),
    Program(
        "resume",
        "ten steps from a file of TensorFlow 1",
        [WIDE_BATCH, ZERO, 10, files_of(STATE)],
        traces=2,
    ),
    Program("resume_objects", "four and seven steps", [BATCH, START, 4, 7], traces=2),
    FalseFriend(
        "run_network",
        "ten steps; its code without wrap_function",
        [*ROWS, KERNEL, 10],
        of="program",
        naive=train_the_code_itself,
        because="each call of get_variable makes a variable: nothing is shared",
    ),
    Program(
        "fetch",
        "the middle and the end",
        [WIDE[1], {"x:0": WIDE[0]}, ["first:0", "second:0"]],
    ),
    Program(
        "fetch",
        "from the middle",
        [WIDE[1], {"first:0": WIDE[0], "x:0": WIDE[0][:1]}, ["second:0"]],
    ),
    Program("freeze", "a loop", [*WIDE]),
    OWN,
    Program(
        "run_frozen",
        "a loop that 1.15.5 froze",
        [FROZEN, {"x:0": WIDE[0]}, ["first:0", "second:0"]],
    ),
    Program(
        "run_frozen",
        "from the middle",
        [FROZEN, {"first:0": WIDE[0]}, ["second:0"]],
    ),
    *[
        Op(
            "weighted_loss",
            kind,
            [kind, *args],
            float32=True,
            skip={} if kind == "mean_squared_error" else FEW,
        )
        for kind, args in LOSSES.items()
    ],
    FalseFriend(
        "weighted_loss",
        "mean_pairwise_squared_error; eagerly",
        ["mean_pairwise_squared_error", *PAIRS],
        naive=pairwise_eagerly,
        float32=True,
        because="of weight 1 it divides by all elements, not by those of an example",
    ),
    FalseFriend(
        "resize",
        "bilinear; tf.image.resize",
        [IMAGES, (3, 7)],
        sizes=BATCHES,
        naive=resize_of_the_same_name,
        because="it samples at the centres",
        skip={**ONE, "xla": "computed in float32 inside, whose bits are XLA's own"},
    ),
    Op("resize", "nearest", [IMAGES, (7, 3), 1], sizes=BATCHES, skip=NO_XLA),
    Op("resize", "bicubic", [IMAGES, (7, 3), 2, True], sizes=BATCHES, skip=NO_XLA),
    Op(
        "resize",
        "area",
        [IMAGES, (3, 3), 3],
        sizes=BATCHES,
        skip={**NO_XLA, "gradient": "the kernel has no gradient, then and now"},
    ),
    refused(
        "fit",
        "the rate under its Keras name",
        [BATCH, START, "Adam", {"lr": 0.5}, [1]],
        "unexpected keyword argument 'lr'",
        TypeError,
    ),
    refused(
        "fit",
        "integers have no gradients",
        [
            (np.int32([[1, 2]]), np.int32([[3]])),
            (np.int32([[1], [2]]), np.int32([3])),
            "GradientDescent",
            {"learning_rate": 0.5},
            [1],
        ],
        "Invalid type|No gradients provided",
    ),
    refused(
        "fit_embedding",
        "an id that is no row",
        [WORDS[0], WORDS[1] + 64, WORDS[2], "Adam", RATE],
        r"is not in \[0, 64\)",
        tf.errors.InvalidArgumentError,
    ),
    refused(
        "resume",
        "a checkpoint without slots",
        [WIDE_BATCH, ZERO, 1, files_of({"kernel": START[0], "bias": START[1]})],
        "not found in checkpoint",
        tf.errors.NotFoundError,
    ),
    refused(
        "run_network",
        "a kernel of another width",
        [*ROWS, drawn(3, 3), 1],
        "Dimensions must be equal|must be equal",
    ),
    Program(
        "count_flops",
        "a small network",
        [64, 28, 16, 10],
        expect={
            "Conv2D": 64 * 28 * 28 * 16 * 2 * 27,
            "BiasAdd": 64 * 28 * 28 * 16,
            "MaxPool": 64 * 28 * 28 * 16,
            "Mean": 64 * 14 * 14 * 16,
            "MatMul": 64 * 10 * 2 * 16,
            "Softmax": 64 * 10 * 5,
        },
    ),
    refused(
        "count_flops",
        "a negative size",
        [64, -28, 16, 10],
        "-28 must be >= 0",
    ),
    refused(
        "fetch",
        "no such tensor",
        [WIDE[1], {"x:0": WIDE[0]}, ["third:0"]],
        "third",
        KeyError,
        graph=ValueError,
    ),
    refused(
        "run_frozen",
        "no graph",
        [np.full(20, 255, np.uint8), {}, ["x:0"]],
        "Error parsing message|Wire format was corrupt|Truncated message",
        DecodeError,
    ),
    Raises.alike(
        "weighted_loss",
        "another shape",
        ["mean_squared_error", np.float32([1, 2]), np.float32([[1], [2]])],
        ValueError,
        "[Ss]hape",
    ),
    Raises.alike(
        "resize",
        "a row",
        [np.float32([1, 2]), (1, 1)],
        ValueError,
        "must have either 3 or 4 dimensions",
    ),
]
PROOF = proof(v1, v2, CASES)


class BridgesTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


V1 = tf.compat.v1
X = tf.constant([1.0, 2.0])
MATRIX = [tf.TensorSpec([None, 2])]


class RetraceTest(unittest.TestCase):
    def test_numbers_of_weights_are_one_trace(self):
        x, y, name = tf.zeros([1, 2]), tf.constant([[0.0, 2]]), "mean_pairwise_squared"
        name += "_error"
        loss = tf.function(v2.IN_GRAPHS[name].python_function)
        with mock.patch.dict(v2.IN_GRAPHS, {name: loss}):
            found = [v2.weighted_loss(name, x, y, w).numpy() for w in (0.5, 1.0, 2.0)]
        self.assertEqual(found, [2, 4, 8])
        self.assertEqual(loss.experimental_get_tracing_count(), 1)


class WrapTest(unittest.TestCase):
    def test_layers_are_gone_in_graph_code_too(self):
        with self.assertRaisesRegex(AttributeError, "not available with Keras 3"):
            V1.wrap_function(lambda x: V1.layers.dense(x, 2), MATRIX)

    def test_a_metric_works_when_each_output_is_pruned(self):
        batch = tf.TensorSpec([None], tf.float32)
        metric = V1.wrap_function(V1.metrics.mean, [batch])
        value = metric.prune([], metric.outputs[0])
        update = metric.prune(metric.inputs[:1], metric.outputs[1])
        means = [update(tf.constant(b)).numpy() for b in ([1.0, 2.0], [6.0])]
        self.assertEqual(means, [1.5, 3])
        self.assertEqual(value().numpy(), 3)

    def test_a_loop_before_the_cut_asks_for_its_input(self):
        feed = {"first:0": WIDE[0]}
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "node x"):
            v2.fetch(WIDE[1], feed, ["second:0"])
        with_input = {**feed, "x:0": WIDE[0][:1]}
        v2.fetch(WIDE[1], with_input, ["second:0"])

    def test_a_feed_of_another_dtype_is_cast(self):
        feed, kernel = {"x:0": ROWS[0].astype("d")}, KERNEL
        with legacy():
            (left,) = v1.fetch(kernel, feed, ["second:0"])
        (right,) = v2.fetch(kernel, feed, ["second:0"])
        np.testing.assert_array_equal(right, left, strict=True)

    def test_what_a_function_has_collected_it_adds_up(self):
        @tf.function
        def total(x):
            V1.losses.mean_squared_error(x, x + 1.0)
            V1.losses.absolute_difference(x, x + 2.0)
            return V1.losses.get_total_loss()

        self.assertEqual(total(X).numpy(), 3)


class SlotsTest(unittest.TestCase):
    @parameterized.expand(["fit", "fit_embedding", "resume_objects"])
    def test_they_are_there_before_the_first_step(self, name):
        random = np.random.RandomState(5)
        data, start = random.randn(2, 4, 3), (random.randn(3, 3), random.randn(3))
        table, ids = random.randn(5, 3), np.zeros([0, 2], "i")
        args = {
            "fit": [data, start, "Adam", {}, [0, 1]],
            "fit_embedding": [table, ids, np.zeros([0, 2, 3]), "Adam", {}],
            "resume_objects": [data, start, 0, 2],
        }[name]
        with legacy():
            left = getattr(v1, name)(*args)
        right = getattr(v2, name)(*args)
        for one, other in zip(tf.nest.flatten(right), tf.nest.flatten(left)):
            np.testing.assert_array_equal(one, other)
        tf.nest.assert_same_structure(right, left)

    def test_names_count_on_in_a_process(self):
        names = []
        for _ in range(2):
            adam, kernel = V1.train.AdamOptimizer(), tf.Variable(X, name="slots_test")
            adam.apply_gradients([(X, kernel)])
            names.append(adam.get_slot(kernel, "m").name)
        self.assertEqual(names, ["slots_test/Adam:0", "slots_test/Adam_2:0"])

    def test_a_function_does_not_return_the_op(self):
        adam, kernel = V1.train.AdamOptimizer(), tf.Variable(X)
        step = tf.function(lambda: adam.apply_gradients([(X, kernel)]))
        with self.assertRaisesRegex(TypeError, "found return value of type Operation"):
            step()

    def test_there_are_none_before_the_first_step(self):
        adam, kernel = V1.train.AdamOptimizer(), tf.Variable(X)

        @tf.function
        def step():
            adam.apply_gradients([(X, kernel)])

        self.assertEqual(adam.variables(), [])
        step.get_concrete_function()
        self.assertEqual(len(adam.variables()), 4)
        self.assertEqual(kernel.numpy().tolist(), [1, 2])
