import functools
import os
import subprocess
import sys
import textwrap
import unittest
from unittest import mock

import keras
import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof, shorthand
from parity_tests.contrib import CONTRIB, NARROW
from tf1to2.parity import FalseFriend, Op, Program, Raises, normal
from v1_graph import mixed_precision as v1
from v2_eager import mixed_precision as v2
from v2_eager.numerics import averages, optimizers, quantization
from v2_keras import mixed_precision as v3


def drawn(random, shapes):
    return {n: random.normal(size=shape).astype("f") for n, shape in shapes.items()}


def line(seed=0, dtype="f4", features=5, units=2):
    random = np.random.RandomState(seed)
    x = random.normal(size=[67, features])
    y = x @ random.normal(size=[features, units]) + 1
    start = drawn(random, {"kernel": [features, units], "bias": [units]})
    return [x.astype(dtype), y.astype("f"), start]


NETWORK = {
    "hidden/weights": [5, 16],
    "hidden/biases": [16],
    "scores/weights": [16, 3],
    "scores/biases": [3],
}


def texts(seed=0, spread=1):
    """Draws rows, their classes, and weights; a large spread puts scores far apart."""
    random = np.random.RandomState(seed)
    x = random.normal(size=[67, 5]).astype("f")
    y, start = random.randint(3, size=67), drawn(random, NETWORK)
    start["scores/weights"] *= spread
    return [x, y, start]


def block(seed=0):
    random = np.random.RandomState(seed)
    x = random.normal(size=[67, 5]).astype("f")
    return [x, drawn(random, {"first": [5, 8], "second": [8, 8]})]


def batches(seed=0, steps=3):
    random = np.random.RandomState(seed)
    x = random.normal(0.5, 2, [steps, 67, 5]).astype("f")
    return [x, random.normal(size=[5, 4]).astype("f")]


def sampled(seed=0):
    x, y, start = line(seed)
    return [x, y, start["kernel"]]


CONVOLUTION = {
    "hidden/weights": [3, 3, 3, 4],
    "hidden/biases": [4],
    "scores/weights": [4, 3],
    "scores/biases": [3],
}


def images(seed=0):
    random = np.random.RandomState(seed)
    x = random.normal(size=[64, 6, 5, 3]).astype("f")
    return [x, random.randint(3, size=64), drawn(random, CONVOLUTION)]


def trained(seed=0, norm=False):
    """Returns images, and a checkpoint's values after training on other images."""
    x, _, saved = images(seed)
    random = np.random.RandomState(seed + 1)
    for path, low, high in [
        ("hidden/weights_quant", -2.7, 2.8),
        ("hidden/act_quant", 0.0, 9.3),
        ("scores/weights_quant", -1.9, 2.3),
        ("scores/act_quant", -6.1, 5.7),
    ]:
        saved[path + "/min"], saved[path + "/max"] = np.float32([low, high])
    if norm:
        del saved["hidden/biases"]
        for name in ("gamma", "beta", "moving_mean", "moving_variance"):
            value = random.uniform(0.5, 2, 4).astype("f")
            saved["hidden/BatchNorm/" + name] = value
    return [x, saved]


program = functools.partial(Program, skip=CONTRIB)
friend = functools.partial(shorthand.friend, skip=CONTRIB)


# --- What is written in their place.


def with_another(owner, page, **names):
    """Runs the page with other objects for these names of a module or class."""

    def naive(*args, **kwargs):
        with mock.patch.multiple(owner, **names):
            return page(*args, **kwargs)

    return naive


def stored_in_halves(x, y, start, *args):
    """Stores the weights in float16, as `model.half()` does."""
    start = {name: value.astype(np.float16) for name, value in start.items()}
    found = v2.train_in_halves(x, y, start, *args)
    variables = {n: v.astype("f") for n, v in found["variables"].items()}
    return {**found, "variables": variables}


def clipped_between(x, y, start, steps, rate, loss_scale, clip):
    """Clips gradients between tape and step, as before, and uses Keras' optimizer."""

    class Clipped(keras.optimizers.LossScaleOptimizer):
        def apply(self, gradients, variables=None):
            gradients, _ = tf.clip_by_global_norm(gradients, clip)
            return super().apply(gradients, variables)

    with mock.patch.object(keras.optimizers, "LossScaleOptimizer", Clipped):
        return v3.train_rewritten(x, y, start, steps, rate, loss_scale)


def unscaled(x, y, start, steps, rate, loss_scale):
    return v2.train_in_halves(x, y, start, steps, rate, 1.0)


def dropped_inside(x, kernel, keep_prob, graph_seed, op_seed, runs):
    tf.random.set_seed(graph_seed)

    @tf.recompute_grad
    def layer(x, kernel):
        hidden = tf.tanh(tf.matmul(x, kernel))
        return tf.nn.dropout(hidden, 1 - keep_prob, seed=op_seed)

    x, kernel, results = tf.constant(x), tf.constant(kernel), []
    for _ in range(runs):
        with tf.GradientTape() as tape:
            tape.watch(kernel)
            outputs = layer(x, kernel)
        results.append((outputs, tape.gradient(outputs, kernel)))
    return tf.nest.map_structure(lambda tensor: tensor.numpy(), results)


def moved_twice(batches, kernel, decay, told):
    return v2.recompute_batch_norm(batches, kernel, decay, not told)


def seeded_once(*args):
    """Draws all runs from one generator, not each from its own."""
    return with_another(v2, v2.train_seeded, stream=functools.cache(v2.stream))(*args)


def rounded(x, low, high, num_bits=8, narrow_range=False):
    """Rounds to levels that begin at the lower end, and may not include zero."""
    size = (high - low) / (2**num_bits - 1)
    return low + tf.round((tf.clip_by_value(x, low, high) - low) / size) * size


def dequantized(x, low, high, num_bits=8, narrow_range=False):
    return tf.quantization.quantize_and_dequantize_v2(
        x, low, high, num_bits=num_bits, range_given=True, narrow_range=narrow_range
    )


def follow_biased(self, low, high):
    averages.assign_moving_average(self.low, low, self.decay)
    averages.assign_moving_average(self.high, high, self.decay)


def quantized_unfolded(x, saved):
    """Quantizes the weights before the batch norm is folded into them."""

    class Unfolded(v2.QuantizedNetwork):
        def quantized(self, path, x, is_training):
            if path != "hidden/weights_quant":
                return super().quantized(path, x, is_training)
            multiplier = self.folded()[0][0, 0, 0] / self.pair_of_norm()[0, 0, 0]
            kernel = super().quantized(path, self.pair_of_norm(), is_training)
            return kernel * multiplier

        def pair_of_norm(self):
            return self.weights["hidden/weights"]

    return with_another(v2, v2.evaluate_quantized, QuantizedNetwork=Unfolded)(x, saved)


HALVES = {"float32": True, "skip": {}}
FALLING = {"initial_loss_scale": 2.0**19, "increment_period": 3}
THREES = {"initial_loss_scale": 1000.0, "increment_period": 2, "multiplier": 3.0}
LEVELS = {"float32": True, "skip": NARROW}

CASES = [
    program("train_rewritten", "the default scale", [*line(), 4, 0.125], **HALVES),
    program(
        "train_rewritten",
        "halves that overflow",
        [*line(1, "f2"), 12, 0.125, FALLING],
        **HALVES,
    ),
    program(
        "train_rewritten",
        "by threes",
        [*line(2, "f2"), 12, 0.125, THREES],
        float32=True,
        skip={"keras": "its scale goes up and down by 2"},
    ),
    program("train_rewritten", "a fixed scale", [*line(3), 4, 0.125, 128.0], **HALVES),
    program(
        "train_rewritten",
        "a fixed scale that is too large",
        [*line(1, "f2"), 3, 0.125, 1e6],
        **HALVES,
    ),
    program("train_rewritten", "clipped", [*line(3), 4, 0.125, 128.0, 0.5], **HALVES),
    program(
        "train_rewritten",
        "clipped by a scale that moves",
        [*line(1, "f2"), 12, 0.125, FALLING, 0.5],
        **HALVES,
    ),
    friend(
        "train_rewritten",
        "clipped before the step",
        [*line(3), 4, 0.125, {}, 0.5],
        clipped_between,
        "gradients of Keras keep their scale until apply divides them: the limit is "
        "one of the scale times what it was",
        **HALVES,
    ),
    friend(
        "train_rewritten",
        "a fixed scale that leaves out steps",
        [*line(1, "f2"), 3, 0.125, 1e6],
        with_another(
            optimizers,
            v2.train_rewritten,
            MixedPrecisionLossScale=optimizers.LossScale,
        ),
        "contrib's looks at gradients by a fixed scale, too; this one does not",
        **HALVES,
    ),
    Raises.alike(
        "train_rewritten",
        "a scale below 1",
        [*line(), 1, 0.125, 0.5],
        ValueError,
        "must be at least 1",
        of="program",
    ),
    program("train_in_halves", "half", [*texts(), 10, 0.125, 128.0], **HALVES),
    program(
        "train_in_halves",
        "bfloat16",
        [*texts(1), 10, 0.125, 128.0, "bfloat16"],
        **HALVES,
    ),
    program(
        "train_in_halves",
        "a large scale",
        [*texts(2, 10), 3, 0.125, 2.0**15],
        **HALVES,
    ),
    friend(
        "train_in_halves",
        "no scale",
        [*texts(2, 10), 3, 0.125, 2.0**15],
        unscaled,
        "gradients below 6e-8 are 0 in float16",
        **HALVES,
    ),
    friend(
        "train_in_halves",
        "weights that are halves",
        [*texts(), 10, 0.001, 128.0],
        stored_in_halves,
        "a step of less than half a unit of a half moves nothing",
        **HALVES,
    ),
    program("recompute_gradients", "two layers", block()),
    Raises(
        "recompute_gradients",
        "layers that do not fit",
        [block()[0], {"first": np.ones([5, 8], "f"), "second": np.ones([7, 8], "f")}],
        graph=ValueError,
        eager=tf.errors.InvalidArgumentError,
        function=ValueError,
        match="Dimensions must be equal|Matrix size-incompatible",
        of="program",
        skip=CONTRIB,
    ),
    program(
        "recompute_dropout", "two masks", [*block()[:1], *batches()[1:], 0.5, 7, 3, 2]
    ),
    friend(
        "recompute_dropout",
        "a mask that is drawn again",
        [*block()[:1], *batches()[1:], 0.5, 7, 3, 2],
        dropped_inside,
        "eagerly, the ops of one seed share a stream, and the second mask is another",
    ),
    program("recompute_batch_norm", "told", [*batches(), 0.75, True]),
    program("recompute_batch_norm", "not told", [*batches(1), 0.75, False]),
    friend(
        "recompute_batch_norm",
        "updates in what is run twice",
        [*batches(), 0.75, True],
        moved_twice,
        "tf.recompute_grad does not tell, and statistics move twice in a step",
    ),
    program("train_seeded", "two runs", [*sampled(), 7, 2, 16, 0.125, 2], skip={}),
    friend(
        "train_seeded",
        "a second run that goes on",
        [*sampled(), 7, 2, 16, 0.125, 2],
        seeded_once,
        "a new session began its streams anew; a generator is where it was",
        skip={},
    ),
    Op("fake_quantize", "numbers", [normal("n", 5), -1.5, 2.0], **LEVELS),
    Op(
        "fake_quantize",
        "narrow",
        [normal("n", 5), np.float32(-1.5), np.float32(2), 4, True],
        **LEVELS,
    ),
    Op(
        "fake_quantize",
        "per channel",
        [normal("n", 3), np.float32([-1, -2, 0]), np.float32([0.5, 1, 2.2]), 3],
        **LEVELS,
    ),
    FalseFriend(
        "fake_quantize",
        "levels from the lower end",
        [normal("n", 5), -1.5, 2.0, 4],
        naive=rounded,
        because="the range is moved until 0 is one of its levels",
        **LEVELS,
    ),
    FalseFriend(
        "fake_quantize",
        "quantize and dequantize",
        [normal("n", 5), -1.5, 2.0, 4],
        naive=dequantized,
        because="its levels are symmetric about 0",
        **LEVELS,
    ),
    *(
        program("train_quantized", slug, [*images(i), 5, 0.125, options], float32=True)
        for i, (slug, options) in enumerate(
            [
                ("eight bits", {}),
                ("after a delay", {"quant_delay": 3}),
                (
                    "four bits, symmetric",
                    {"weight_bits": 4, "activation_bits": 4, "symmetric": True},
                ),
            ]
        )
    ),
    friend(
        "train_quantized",
        "averages with a bias",
        [*images(), 5, 0.125],
        with_another(
            quantization.MovingAverageQuantize,
            v2.train_quantized,
            follow=follow_biased,
        ),
        "the averages are debiased: the first step sets them, not 0.001 of it",
        float32=True,
    ),
    program("evaluate_quantized", "biases", trained(), float32=True),
    program("evaluate_quantized", "a batch norm", trained(1, True), float32=True),
    friend(
        "evaluate_quantized",
        "quantized, then folded",
        trained(1, True),
        quantized_unfolded,
        "the batch norm is folded into the weights before they are quantized",
        float32=True,
    ),
]
PROOF = proof(v1, v2, CASES)


class MixedPrecisionTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class KerasTest(unittest.TestCase):
    def test_weights_go_by_their_names(self):
        random = np.random.RandomState(2)
        start = {
            f"{layer}/{part}": random.randn(*size).astype("f")
            for layer in ("hidden", "scores")
            for part, size in (("weights", [3, 3]), ("biases", [3]))
        }
        x, y = random.randn(8, 3).astype("f"), random.randint(0, 3, 8)
        told = [
            v3.train_in_halves(x, y, s, 2, 0.1, 8.0)["losses"]
            for s in (start, dict(reversed(start.items())))
        ]
        np.testing.assert_array_equal(*told)

    def test_another_multiplier_is_refused(self):
        start = {"kernel": np.ones([2, 1], "f"), "bias": np.ones(1, "f")}
        data = np.ones([4, 2], "f"), np.ones([4, 1], "f")
        with self.assertRaisesRegex(ValueError, "multiplier must be 2"):
            v3.train_rewritten(*data, start, 1, 0.1, {"multiplier": 4.0})

    @parameterized.expand(
        [
            ("scale", [0.5], ValueError, "at least 1"),
            ("option", [{"growth": 3}], TypeError, "growth"),
            ("limit", [{}, 0.0], ValueError, "limit must be positive"),
        ]
    )
    def test_what_keras_would_pass_over_is_refused(self, _, args, error, match):
        with self.assertRaisesRegex(error, match):
            v3.train_rewritten(*line(), 1, 0.125, *args)

    def test_the_scale_has_no_bounds(self):
        x, y, start = line()
        still = 0 * x, 0 * y, {name: 0 * value for name, value in start.items()}
        x[0, 0] = np.inf
        up = {"initial_loss_scale": 2.0**127, "increment_period": 1}
        down = {"initial_loss_scale": 2.0}
        for page, highest, lowest in (v2, 2.0**127, 1), (v3, np.inf, 0.25):
            found = page.train_rewritten(*still, 3, 0.125, up)
            self.assertEqual(found["scales"][-1], highest)
            found = page.train_rewritten(x, y, start, 3, 0.125, down)
            self.assertEqual(found["scales"][-1], lowest)

    def test_float32_is_trained_without_a_policy_of_two(self):
        args = *texts(), 2, 0.125, 8.0, "float32"
        pair, page = (side.train_in_halves(*args)["losses"] for side in (v2, v3))
        self.assertLess(np.abs(pair - page).max(), 1e-6)

    def test_a_rate_of_0_has_no_momentum(self):
        with self.assertRaisesRegex(ValueError, "rate must not be 0"):
            v3.train_in_halves(*texts(), 1, 0.0, 8.0)


class FixedLossScaleTest(unittest.TestCase):
    def test_it_may_be_a_whole_number(self):
        for page in (v2, v3):
            whole, real = (
                page.train_rewritten(*line(), 2, 0.125, scale) for scale in (128, 128.0)
            )
            np.testing.assert_array_equal(whole["losses"], real["losses"])


class DynamicLossScaleTest(unittest.TestCase):
    def test_a_scale_that_would_be_infinite_stays_and_none_is_below_1(self):
        for start, finite, scale in (3e38, True, 3e38), (1.1, False, 1):
            manager = optimizers.DynamicLossScale(start, 1)
            manager.update(tf.constant(finite))
            self.assertEqual(manager.loss_scale.numpy(), np.float32(scale))

    def test_sparse_gradients_stay_sparse_and_none_is_passed_over(self):
        table, other = tf.Variable(tf.ones([3, 2])), tf.Variable(1.0)
        optimizer = optimizers.MixedPrecisionLossScale(
            optimizers.GradientDescent(0.5), optimizers.DynamicLossScale(8.0)
        )

        def loss():
            return tf.reduce_sum(tf.gather(table, [1, 1]))

        _, pairs = optimizer.differentiate(loss, [table, other])
        self.assertIsInstance(pairs[0][0], tf.IndexedSlices)
        optimizer.apply_gradients(pairs)
        self.assertEqual(table.numpy().tolist(), [[1, 1], [0, 0], [1, 1]])
        self.assertEqual(other.numpy(), 1)

    def test_a_sparse_gradient_that_is_infinite_is_left_out(self):
        table = tf.Variable(tf.ones([3, 2]))
        manager = optimizers.DynamicLossScale(8.0)
        optimizer = optimizers.MixedPrecisionLossScale(
            optimizers.GradientDescent(0.5), manager
        )
        rows = tf.IndexedSlices(tf.constant([[np.inf, 0]]), tf.constant([1]), [3, 2])
        optimizer.apply_gradients([(rows, table)])
        self.assertEqual(table.numpy().tolist(), [[1, 1]] * 3)
        self.assertEqual(manager.loss_scale.numpy(), 4)


class RecomputeTest(unittest.TestCase):
    def test_a_tensor_that_is_closed_over_has_no_gradient(self):
        x, factor = tf.constant(3.0), tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch([x, factor])
            y = tf.recompute_grad(lambda x: x * factor)(x)
        by_x, by_factor = tape.gradient(y, [x, factor])
        self.assertEqual(by_x.numpy(), 2)
        self.assertIsNone(by_factor)

    def test_a_keras_layer_does_it_in_its_call(self):
        def fit(wrap):
            class Block(keras.layers.Layer):
                def build(self, shape):
                    self.inner = [keras.layers.Dense(5, "tanh") for _ in range(2)]

                def block(self, x):
                    calls.append(x)
                    for layer in self.inner:
                        x = layer(x)
                    return x

                def call(self, x):
                    return wrap(self.block)(x)

            calls = []
            keras.utils.set_random_seed(1)
            layers = Block(), keras.layers.Dense(2)
            model = keras.Sequential([keras.Input([5]), *layers])
            model.compile(keras.optimizers.SGD(0.125), "mse")
            x, y, _ = line()
            losses = model.fit(x, y, 16, 3, verbose=0, shuffle=False).history["loss"]
            return losses, [w.tolist() for w in model.get_weights()], len(calls)

        plain, again = fit(lambda block: block), fit(tf.recompute_grad)
        self.assertEqual(again[:2], plain[:2])
        self.assertGreater(again[2], plain[2])  # it is traced again for the gradient
        with self.assertRaisesRegex(ValueError, "A KerasTensor cannot be used as in"):
            tf.recompute_grad(keras.layers.Dense(2))(keras.Input([5]))


class QuantizeTest(unittest.TestCase):
    @parameterized.expand([("int", int), ("NumPy", np.float32)])
    def test_ends_of_the_range_are_numbers(self, _, kind):
        x = tf.constant([-20.0, 0.3, 1.0])
        np.testing.assert_array_equal(
            v2.fake_quantize(x, kind(-6), kind(6)), v2.fake_quantize(x, -6.0, 6.0)
        )

    def test_ends_of_channels_may_be_arrays(self):
        x, low, high = np.float32([[-20, 0.3]]), np.float32([-6, 0]), np.ones(2, "f")
        np.testing.assert_array_equal(
            v2.fake_quantize(x, low, high),
            v2.fake_quantize(x, tf.constant(low), tf.constant(high)),
        )

    def test_an_evaluation_leaves_the_range_as_it_is(self):
        quantize = quantization.MovingAverageQuantize("act_quant")
        x = tf.constant([-20.0, 1.0])
        self.assertGreater(quantize(x, is_training=False).numpy()[0], -6.1)
        self.assertEqual(quantize.low.numpy(), -6)
        quantize(x)
        self.assertLess(quantize.low.numpy(), -19.9)


class DeterminismTest(unittest.TestCase):
    """Runs each test in its own process, because determinism cannot be undone."""

    def answer(self, code, **variables):
        run = subprocess.run(
            [sys.executable, "-c", "import tensorflow as tf\n" + textwrap.dedent(code)],
            capture_output=True,
            text=True,
            env={**os.environ, **variables},
        )
        return run.stdout + run.stderr

    def test_pipelines_are_in_order_and_what_is_random_needs_a_seed(self):
        answer = self.answer("""
            import time

            def noise(calls):
                tf.random.set_seed(1)
                draw = lambda _: tf.random.normal([], seed=3)
                rows = tf.data.Dataset.range(99).map(draw, calls)
                return list(rows.as_numpy_iterator())

            def late(i):
                time.sleep(0.01 * (int(i) % 4 == 0))
                return i

            tf.config.experimental.enable_op_determinism()
            rows = tf.data.Dataset.range(20).map(
                lambda i: tf.py_function(late, [i], tf.int64), 8, deterministic=False
            )
            print("ordered", [int(i) for i in rows] == list(range(20)))
            print("as one thread", noise(8) == noise(None))
            try:
                tf.random.Generator.from_non_deterministic_state()
            except RuntimeError as error:
                print(error)
        """)
        self.assertIn("ordered True", answer)
        self.assertIn("as one thread True", answer)
        self.assertIn("cannot be called when determinism is enabled", answer)

    def test_train_seeded_repeats_its_bits_and_sets_no_threads_nor_determinism(self):
        answer = self.answer(
            """
            import numpy as np
            from v2_eager import mixed_precision

            random = np.random.RandomState(0)
            arrays = [random.normal(size=s).astype("f") for s in ([64, 5], [64, 2])]
            kernel = random.normal(size=[5, 2]).astype("f")
            before = tf.config.threading.get_intra_op_parallelism_threads()
            runs = mixed_precision.train_seeded(*arrays, kernel, 7, 2, 16, 0.125, 2)
            after = tf.config.threading.get_intra_op_parallelism_threads()
            print("threads as before", before == after)
            one, other = [np.append(run["losses"], run["kernel"]) for run in runs]
            print("same bits", (one == other).all())
            tf.random.set_seed(None)
            print("no seed needed", tf.random.normal([1]).shape)
            """,
            TF_NUM_INTRAOP_THREADS="2",
        )
        self.assertIn("threads as before True", answer)
        self.assertIn("same bits True", answer)
        self.assertIn("no seed needed (1,)", answer)

    def test_the_variable_of_the_environment_asks_for_seeds_too(self):
        answer = self.answer("tf.random.normal([1])", TF_DETERMINISTIC_OPS="1")
        self.assertIn("RuntimeError: Random ops require a seed to be set", answer)
