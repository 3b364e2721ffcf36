"""A program with float32 written into it, run in float64 on both sides."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import pytest
import tensorflow as tf
from parameterized import parameterized

from tf1to2.pages.page import Page
from tf1to2.parity import recordings, settings, widening
from tf1to2.tests.test_structure import ROOT

settings.apply()
GENUINE = os.environ.get("TF1_PYTHON")
DTYPE = tf.float32  # as programs have it


def made(shape, dtype=tf.float32):
    return tf.zeros(shape, dtype)


WAYS = [
    ("constant", lambda: tf.constant(0.1)),
    ("constant_of_a_dtype", lambda: tf.constant(0.1, tf.float32)),
    ("constant_of_a_text", lambda: tf.constant(0.1, "float32")),
    ("constant_of_numpy", lambda: tf.constant(0.1, np.float32)),
    ("array", lambda: tf.constant(np.float32([0.1]))),
    ("list", lambda: tf.constant([[0.1, 1], [2, 3.0]])),
    ("convert", lambda: tf.convert_to_tensor(0.1)),
    ("variable", lambda: tf.Variable([0.1])),
    ("zeros", lambda: tf.zeros([2])),
    ("random", lambda: tf.random.normal([2], seed=1)),
    ("stateless", lambda: tf.random.stateless_uniform([2], [1, 2])),
    ("cast", lambda: tf.cast(1, tf.float32)),
    ("cast_to_a_text", lambda: tf.cast(1, "float32")),
    ("a_name_of_the_program", lambda: tf.cast(1, DTYPE)),
    ("a_default_of_the_program", lambda: made([2])),
    ("to_float", lambda: tf.compat.v1.to_float(1)),
    ("initializer", lambda: tf.compat.v1.glorot_uniform_initializer(1)([2, 2])),
    ("keras", lambda: tf.keras.initializers.GlorotUniform(1)([2, 2])),
    ("function", lambda: tf.function(lambda: tf.constant(0.1) * tf.zeros([2]))()),
]


class WidenedTest(unittest.TestCase):
    @parameterized.expand(WAYS)
    def test_float32_is_float64(self, _, make):
        with widening.widened():
            self.assertEqual(make().dtype, tf.float64)
            self.assertIs(make().dtype, tf.float64)

    @parameterized.expand(WAYS)
    def test_afterwards_it_is_float32_again(self, _, make):
        with widening.widened():
            make()
        self.assertIs(make().dtype, tf.dtypes.as_dtype("float32"))

    @parameterized.expand(
        [
            ("int", lambda: tf.constant(1), "int32"),
            ("ints", lambda: tf.constant([1, 2]), "int32"),
            ("bool", lambda: tf.constant(True), "bool"),
            ("text", lambda: tf.constant("a"), "string"),
            ("half", lambda: tf.cast(1, tf.float16), "float16"),
            ("nothing", lambda: tf.constant([]), "float64"),
        ]
    )
    def test_what_else_there_is(self, _, make, dtype):
        with widening.widened():
            self.assertEqual(make().dtype.name, dtype)

    def test_a_number_is_the_float32_that_it_was(self):
        with widening.widened():
            self.assertEqual(tf.constant(0.1).numpy(), np.float64(np.float32(0.1)))
            self.assertEqual(tf.constant(0.1, tf.float32).numpy(), 0.1)

    def test_keras_that_has_made_a_layer_before(self):
        dense = tf.keras.layers.Dense
        self.assertEqual(dense(1)(tf.zeros([1, 2])).dtype.name, "float32")
        with widening.widened():
            self.assertEqual(dense(1)(tf.zeros([1, 2])).dtype.name, "float64")
        self.assertEqual(dense(1)(tf.zeros([1, 2])).dtype.name, "float32")

    def test_not_wanted(self):
        with widening.widened(False):
            self.assertEqual(tf.constant(0.1).dtype.name, "float32")

    def test_after_an_error_it_is_float32_again(self):
        with self.assertRaises(KeyError), widening.widened():
            raise KeyError
        self.assertEqual(tf.zeros([]).dtype.name, "float32")
        self.assertEqual(DTYPE.name, "float32")


def fused(x, scale, offset, *moments, **options):
    return tf.raw_ops.FusedBatchNormV3(
        x=x, scale=scale, offset=offset, mean=moments[0], variance=moments[1], **options
    )[:3]


class FusedBatchNormTest(unittest.TestCase):
    """Its kernel has no float64: the formula stands for it."""

    @parameterized.expand(
        [
            ("training", [[], []], {}),
            ("inference", [[0.1, 0.2, 0.3], [1.1, 0.9, 2]], {"is_training": False}),
            (
                "averages",
                [[0.1, 0.2, 0.3], [1.1, 0.9, 2]],
                {"exponential_avg_factor": 0.25},
            ),
        ]
    )
    def test_the_formula_is_the_kernel_s(self, _, moments, options):
        x = np.random.RandomState(0).randn(2, 3, 4, 3).astype("f4") * 2 + 1
        numbers = [np.float32(n) for n in ([0.5, 1, 2], [0.1, 0, -1], *moments)]
        answers = []
        for dtype, wanted in ((np.float32, False), (np.float64, True)):
            with widening.widened(wanted), tf.GradientTape() as tape:
                inputs = [tf.constant(n.astype(dtype)) for n in (x, *numbers)]
                tape.watch(inputs[:3])
                answer = fused(*inputs, epsilon=0.01, **options)
                wide = tape.gradient(tf.reduce_sum(answer[0] ** 3), inputs[:3])
            answers.append([*answer, *wide])
            self.assertEqual({t.dtype for t in answers[-1]}, {tf.as_dtype(dtype)})
        for given, formula in zip(*answers):
            largest = np.abs(given).max()
            np.testing.assert_allclose(given, formula, 0, 2e-6 * largest)

    def test_channels_first(self):
        x = np.random.RandomState(0).randn(2, 3, 4, 5)
        vectors = [np.float64([1, 2, 3])] * 2
        with widening.widened():
            moved = x.transpose(0, 2, 3, 1)
            last = fused(moved, *vectors, [], [])
            first = fused(x, *vectors, [], [], data_format="NCHW")
        np.testing.assert_allclose(np.moveaxis(first[0], 1, -1), last[0], 1e-13)
        np.testing.assert_allclose(first[2], last[2], 1e-13)

    def test_the_old_name(self):
        x = np.random.RandomState(0).randn(2, 3, 4, 3)
        with widening.widened():
            y, _, variance = tf.compat.v1.nn.fused_batch_norm(x, [1.0] * 3, [0.0] * 3)
        self.assertEqual(y.dtype.name, "float64")
        np.testing.assert_allclose(variance, x.var((0, 1, 2), ddof=1), 1e-12)

    def test_half_precision_and_what_is_not_widened_have_the_kernel(self):
        x = tf.ones([1, 2, 2, 3], tf.float16)
        with self.assertRaises((TypeError, tf.errors.InvalidArgumentError)):
            fused(tf.cast(x, tf.float64), *([tf.ones(3)] * 4))
        moments = [tf.ones(3)] * 4
        with widening.widened():
            self.assertEqual(fused(x, *moments)[0].dtype.name, "float16")


LEFT = """
import numpy as np
import tensorflow as tf


def dtypes(x):
    p = tf.placeholder(tf.float32, [None])
    made = {
        "placeholder": p,
        "variable": tf.get_variable("v", [2]),
        "old_variable": tf.Variable(0.1),
        "constant": tf.constant(0.1),
        "array": tf.constant(np.float32([0.1, 0.2])),
        "zeros": tf.zeros([2]),
        "to_float": tf.to_float(tf.constant(1)),
        "cast": tf.cast(tf.constant(1), "float32"),
        "cast_np": tf.cast(tf.constant(1), np.float32),
        "random": tf.random_normal([2], seed=1),
        "dense": tf.layers.dense(p[None], 2) if False else tf.layers.dense(
            tf.zeros([1, 3]), 2),
        "slot": tf.train.exponential_decay(0.1, tf.constant(1), 2, 0.5),
        "lookup": tf.nn.embedding_lookup(tf.get_variable("e", [3, 2]), [1]),
    }
    # Gradients of a loop rebuild their constants from the values that Python knows.
    second = tf.map_fn(lambda e: tf.square(tf.gradients(tf.square(e * p[0]), e)[0]), p)
    made["second_order"] = tf.gradients(second, p)[0]
    known = tf.contrib.util.constant_value(tf.constant(2.0))
    made["known"] = tf.constant(known)
    made["array"] = tf.constant(tf.make_ndarray(tf.make_tensor_proto(3.0, tf.float32)))
    # The flow of a loop's TensorArrays stays float32, and gradients pass through it.
    states, _ = tf.nn.dynamic_rnn(
        tf.nn.rnn_cell.GRUCell(2), p[None, :, None], dtype=tf.float32)
    made["through_a_loop"] = tf.gradients(states, p)[0]
    train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(made["dense"]))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        values = sess.run(made, {p: x})
        slots = sess.run([v for v in tf.global_variables() if "Adam" in v.name])
        return {**{k: str(v.dtype) for k, v in values.items()},
                "slots": str({str(v.dtype) for v in slots}),
                "value": values["constant"],
                "numbers": np.r_[values["known"], values["array"],
                                 values["second_order"]]}
"""


@unittest.skipUnless(GENUINE, "TF1_PYTHON names no TensorFlow 1.15.5")
@pytest.mark.slow
class GenuineTest(unittest.TestCase):
    def test_all_is_float64_and_then_float32_again(self):
        request = {"kind": "program", "name": "dtypes", "kwargs": {}}
        request["args"] = [np.float32([1, 2])]
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "left.py").write_text(LEFT)
            page = Page("left.py", folder)
            asked = [{**request, "widen": True}, request]
            (wide, given), _ = recordings.ask(GENUINE, page, asked, "strict")
        for answer, dtype in ((wide, "float64"), (given, "float32")):
            self.assertNotIn("raised", answer, answer.get("message"))
            value = answer.pop("outputs/value")
            self.assertEqual(value, np.float32(0.1))
            # Σ (2 e p₀²)², its gradient by e: 8 e p₀⁴, by p₀: 16 Σ e² p₀³
            numbers = answer.pop("outputs/numbers").tolist()
            self.assertEqual(numbers, [2, 3, 8 + 16 * 5, 16])
            del answer["structure"]
            for path, found in answer.items():
                self.assertIn(dtype, str(found), path)

    def test_the_two_sides_meet(self):
        """Adam, placeholders, casts: identical in float64, with no word of it."""
        told = self.proven(OLD, NEW, TEST)
        self.assertRegex(told, "outputs/3/w +[^ ]+, . ULP +identical  identical")

    def test_an_image_model_with_a_fused_batch_norm(self):
        """It says nothing of it: four dimensions are enough."""
        told = self.proven(OLD_IMAGES, NEW_IMAGES, TEST_IMAGES)
        self.assertRegex(told, r"(\d+) of \1 leaves identical in float64")

    def proven(self, old, new, test):
        """What `prove` says after `record`."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for file, text in (("old", old), ("new", new), ("test_port", test)):
                (folder / f"{file}.py").write_text(text)
            env = {**os.environ, "PYTHONPATH": str(ROOT)}
            for command in ("record", "prove"):
                argv = [sys.executable, "-m", "tf1to2", command, "test_port.py"]
                done = subprocess.run(
                    argv, cwd=folder, env=env, capture_output=True, text=True
                )
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout


OLD = """
import numpy as np
import tensorflow as tf

DTYPE = tf.float32


def train(images, labels):
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.placeholder(tf.int32, [None])
    w = tf.get_variable("w", [3, 4], initializer=tf.zeros_initializer())
    b = tf.Variable(tf.zeros([4]), name="b")
    scale = tf.constant(np.float32([1, 0.3, 2, 0.7]))
    logits = (tf.matmul(x, w) + b) * scale + 0.1
    count = tf.to_float(tf.shape(x)[0]) + tf.cast(tf.reduce_sum(y), DTYPE) * 1e-3
    loss = tf.reduce_sum(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    ) / count
    op = tf.train.AdamOptimizer(0.05).minimize(loss)
    out = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(4):
            value, _ = sess.run([loss, op], {x: images, y: labels})
            out.append({"loss": np.float32(value), "w": sess.run(w)})
    return out
"""
NEW = """
import numpy as np
import tensorflow as tf

DTYPE = tf.float32


def train(images, labels):
    w, b = tf.Variable(tf.zeros([3, 4])), tf.Variable(tf.zeros([4]))
    scale = tf.constant(np.float32([1, 0.3, 2, 0.7]))
    slots = [[tf.Variable(tf.zeros(v.shape)) for _ in "mv"] for v in (w, b)]
    rate, beta1, beta2 = tf.constant(0.05), tf.constant(0.9), tf.constant(0.999)
    powers = [tf.Variable(beta1), tf.Variable(beta2)]

    @tf.function
    def step(x, y):
        x = tf.cast(x, tf.float32)
        with tf.GradientTape() as tape:
            logits = (tf.matmul(x, w) + b) * scale + 0.1
            rows = tf.cast(tf.shape(x)[0], tf.float32)
            count = rows + tf.cast(tf.reduce_sum(y), DTYPE) * 1e-3
            loss = tf.reduce_sum(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            ) / count
        for v, (m, s), grad in zip((w, b), slots, tape.gradient(loss, [w, b])):
            tf.raw_ops.ResourceApplyAdam(
                var=v.handle, m=m.handle, v=s.handle, beta1_power=powers[0],
                beta2_power=powers[1], lr=rate, beta1=beta1, beta2=beta2,
                epsilon=tf.constant(1e-8), grad=grad,
            )
        powers[0].assign(powers[0] * beta1)
        powers[1].assign(powers[1] * beta2)
        return loss

    return [
        {"loss": np.float32(step(images, labels)), "w": w.numpy()} for _ in range(4)
    ]
"""
TEST = """
import numpy as np
from tf1to2.parity import Pair

rng = np.random.RandomState(0)
pair = Pair("old", "new", widen=True)
pair.program(
    "train", "four steps", rng.randn(9, 3).astype("f4"),
    rng.randint(0, 4, 9).astype("i4"),
)
"""
OLD_IMAGES = """
import tensorflow as tf


def train(images):
    x = tf.placeholder(tf.float32, [None, 4, 4, 3])
    y = tf.layers.batch_normalization(x, training=True, name="norm")
    loss = tf.reduce_mean(tf.square(y - tf.square(x)))
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(updates + [loss]):
        op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, op], {x: images})[0] for _ in range(3)]
        return {"losses": losses, **{v.op.name: sess.run(v) for v in
                                     tf.global_variables()}}
"""
NEW_IMAGES = """
import tensorflow as tf
from v2_eager.numerics.batch_norms import BatchNorm
from v2_eager.numerics.optimizers import GradientDescent


def train(images):
    norm, optimizer = BatchNorm(name="norm"), GradientDescent(0.1)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(norm(x, True) - tf.square(x)))
        weights = [norm.gamma, norm.beta]
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return loss

    norm.build(3, tf.float32)
    losses = [step(tf.constant(images)).numpy() for _ in range(3)]
    return {"losses": losses, **{v.name[:-2]: v.numpy() for v in norm.variables}}
"""
TEST_IMAGES = """
import numpy as np
from tf1to2.parity import Pair

images = np.random.RandomState(0).randn(5, 4, 4, 3).astype("f4")
pair = Pair("old", "new", widen=True)
pair.program("train", "three steps", images)
"""


if __name__ == "__main__":
    unittest.main()
