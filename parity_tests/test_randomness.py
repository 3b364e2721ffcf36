import contextlib
import os
import random
import tempfile
import unittest

import keras
import numpy as np
import pytest
import tensorflow as tf
from google.protobuf import text_format
from parameterized import parameterized

from parity_tests import PLAIN, proof
from parity_tests.shorthand import friend, refused
from tf1to2.parity import Op, Program
from tf1to2.parity.distance import same_bits
from tf1to2.parity.v1 import legacy
from v1_graph import randomness as v1
from v2_eager import randomness as v2
from v2_eager.numerics import initializers, randomness

NORMAL = ["random_normal", 7, 3, [2, 5, 1], [1.0, 2.0]]
POSITIVE = np.float32([1, 2, 3, 4, 5, 6, 7, 8])
SIGNED = np.float32([-4, -3, -2, -1, -np.inf, np.nan, 1, 2, 3])
SEED = np.int32([7, 3])
BY_POSITION = {"graph": "the seeds are node numbers in 1.15, and a count of ops today"}
SIGNS = {"graph": "compat.v1 drops to 0.0, 1.15 to -0.0 or NaN"}
OWN_STREAM = {"xla": "XLA draws from streams of its own"}
VARIANCE = {"scale": 2.0, "mode": "fan_out"}

# As 1.15.5 wrote it: tf.random_normal, random_uniform (float64) and truncated_normal in
# a graph with seed 7, their products and sums left out.
NODE = """
node {{
  name: "{0}/shape" op: "Const"
  attr {{ key: "dtype" value {{ type: DT_INT32 }} }}
  attr {{ key: "value" value {{ tensor {{
    dtype: DT_INT32 tensor_shape {{ dim {{ size: 1 }} }} int_val: {3} }} }} }}
}}
node {{
  name: "{0}/{1}" op: "{1}" input: "{0}/shape"
  attr {{ key: "T" value {{ type: DT_INT32 }} }}
  attr {{ key: "dtype" value {{ type: DT_{4} }} }}
  attr {{ key: "seed" value {{ i: 7 }} }}
  attr {{ key: "seed2" value {{ i: {2} }} }}
}}
"""
GRAPH = "".join(
    NODE.format(*node)
    for node in [
        ("random_normal", "RandomStandardNormal", 3, 2, "FLOAT"),
        ("random_uniform", "RandomUniform", 9, 5, "DOUBLE"),
        ("truncated_normal", "TruncatedNormal", 16, 3, "FLOAT"),
    ]
)


def program(name, slug, *args, **options):
    kwargs = options.pop("kwargs", {})
    return Program(name, slug, list(args), kwargs, **options)


def from_seed(kind, graph_seed, op_seed, sizes, parameters):
    rng = tf.random.Generator.from_seed(op_seed)
    return [[rng.normal([size], *parameters) for size in sizes]]


def retraced(kind, graph_seed, op_seed, sizes, parameters):
    """Uses a `tf.function` with static shapes: each trace has its own op."""
    tf.random.set_seed(graph_seed)
    draw = tf.function(lambda x: tf.random.normal(x.shape, *parameters, seed=op_seed))
    return [[draw(tf.zeros([size])) for size in sizes]]


def eager_twins(graph_seed, op_seeds, size, runs):
    tf.random.set_seed(graph_seed)
    ops = [[tf.random.uniform([size], seed=s) for s in op_seeds] for _ in range(runs)]
    return np.array(ops)


def eager_normals(graph_seed, nodes, size, runs):
    answer = v2.draws_by_position(graph_seed, nodes, size, runs)
    tf.random.set_seed(graph_seed)
    draws = [[tf.random.normal([size]) for _ in nodes] for _ in range(runs)]
    return {"seeds": answer["seeds"], "draws": np.array(draws)}


def today_s_weights(graph_seed, sizes):
    glorot = tf.initializers.GlorotUniform(seed=graph_seed)  # None: other draws
    kernels = [np.asarray(glorot(shape)) for shape in zip(sizes, sizes[1:])]
    return {**v2.initial_weights(graph_seed, sizes), "kernels": kernels}


def one_for_all(graph_seed, shape, count):
    init = tf.initializers.TruncatedNormal(stddev=0.1, seed=graph_seed)
    answer = v2.shared_initializer(graph_seed, shape, count)
    return {**answer, "values": np.array([init(shape) for _ in range(count)])}


def unrolled_walk(steps, graph_seed, op_seed, runs):
    """In a `tf.function`, a Python loop makes an op for each iteration."""
    tf.random.set_seed(graph_seed)
    walk = tf.function(
        lambda: tf.cumsum([tf.random.normal([], seed=op_seed) for _ in range(steps)])
    )
    return np.array([walk() for _ in range(runs)])


def stateless_shuffle(graph_seed, op_seed, runs):
    draws = v2.other_draws(graph_seed, op_seed, runs)
    rows = tf.constant([[0, 1], [2, 3], [4, 5], [6, 7]])
    seed = [graph_seed, op_seed]
    for draw in draws:
        draw["shuffled"] = tf.random.experimental.stateless_shuffle(rows, seed).numpy()
    return draws


def same_number(x, keep_prob, graph_seed, op_seed, runs):
    tf.random.set_seed(graph_seed)
    return [tf.nn.dropout(x, keep_prob, seed=op_seed) for _ in range(runs)]


def same_name(name, shape, graph_seed, op_seed):
    tf.random.set_seed(graph_seed)
    initializers = {
        "random_normal": tf.random_normal_initializer,
        "glorot_uniform": tf.initializers.GlorotUniform,
        "orthogonal": tf.initializers.Orthogonal,
    }
    return np.asarray(initializers[name](seed=op_seed)(shape))


def other_generator(seed, size, feeds):
    rng = np.random.default_rng(seed)
    return np.array([2 * rng.normal(size=size) for _ in range(feeds)])


def seeded_by_tensorflow(graph_seed, buffer, _, op_seed, epochs):
    return v2.shuffled_epochs(graph_seed, buffer, 8, op_seed, epochs)


def generator_in_map(size, graph_seed, op_seed, runs):
    rng = v2.stream(graph_seed, op_seed)
    dataset = tf.data.Dataset.range(size).map(lambda _: rng.normal([]))
    return np.array([list(dataset) for _ in range(runs)])


def uniform_first(seed, size, runs):
    rng = tf.random.Generator.from_seed(seed)
    pairs = [(rng.uniform([size]), rng.normal([size]))[::-1] for _ in range(runs)]
    return {"draws": pairs, "state": rng.state.numpy()}


def stateful(seed, size):
    tf.random.set_seed(7)
    answer = v2.stateless(seed, size)
    return {**answer, "normal": tf.random.normal([size], seed=3)}


INVALID = tf.errors.InvalidArgumentError
CASES = [
    program(
        "kernel_seeds",
        "both",
        7,
        [3, 0],
        expect=[[7, 3], [7, 0]],
        skip={"function": PLAIN},
    ),
    program(
        "kernel_seeds",
        "of the op alone",
        None,
        [3],
        expect=[[87654321, 3]],
        skip={"function": PLAIN},
    ),
    program(
        "kernel_seeds", "none", None, [None], expect=[[0, 0]], skip={"function": PLAIN}
    ),
    program(
        "kernel_seeds",
        "zero twice is no seed",
        0,
        [0],
        expect=[[0, 2**31 - 1]],
        skip={"function": PLAIN},
    ),
    program(
        "kernel_seeds",
        "large and negative",
        -1,
        [2**31 - 1, -1, 10**12],
        expect=[[2**31 - 2, s] for s in (0, 2**31 - 2, 10**12 % (2**31 - 1))],
        skip={"function": PLAIN},
    ),
    refused("kernel_seeds", "text", [7, ["3"]], "string formatting", TypeError),
    program("draws", "normal, first and later", *NORMAL),
    program("draws", "uniform", "random_uniform", 7, 3, [2, 5, 1], [-1.0, 3.0]),
    program("draws", "truncated", "truncated_normal", 7, 3, [9, 40], [1.0, 2.0]),
    program(
        "draws",
        "integers",
        "random_uniform",
        7,
        3,
        [4, 4],
        [0, 10],
        kwargs={"dtype": "int32"},
    ),
    program("draws", "normal, float64", *NORMAL, kwargs={"dtype": "float64"}),
    program(
        "draws",
        "uniform, float16",
        "random_uniform",
        7,
        3,
        [5, 5],
        [0.0, 1.0],
        kwargs={"dtype": "float16"},
    ),
    program(
        "draws",
        "the op's seed alone, two sessions",
        "random_normal",
        None,
        3,
        [4, 4],
        [0.0, 1.0],
        kwargs={"sessions": 2},
    ),
    program("draws", "zero twice", "random_normal", 0, 0, [4, 4], [0.0, 1.0]),
    program(
        "draws",
        "none of a kind, then some",
        "random_normal",
        7,
        3,
        [0, 4, 0, 4],
        [0.0, 1.0],
    ),
    friend(
        "draws",
        "Generator.from_seed",
        NORMAL,
        from_seed,
        "it takes the seed for the counter, not for the key",
    ),
    friend(
        "draws",
        "a function of static shapes",
        NORMAL,
        retraced,
        "each shape is traced on its own, and each trace begins its stream anew",
    ),
    refused(
        "draws",
        "text",
        ["random_normal", 7, 3, [1], [0.0, 1.0], "string"],
        "string",
        TypeError,
    ),
    program(
        "twins",
        "two of one seed, one of another",
        7,
        [3, 3, 4],
        4,
        2,
        skip={"function": PLAIN},
    ),
    program("twins", "no graph seed", None, [3, 3], 4, 2, skip={"function": PLAIN}),
    friend(
        "twins",
        "eager ops of one seed",
        [7, [3, 3], 4, 2],
        eager_twins,
        "they share one stream: the second goes on where the first stopped",
        skip={"function": PLAIN},
    ),
    program(
        "draws_by_position",
        "one after the other",
        7,
        [0, 0, 0],
        3,
        2,
        skip={**BY_POSITION, "function": PLAIN},
    ),
    program(
        "draws_by_position",
        "other nodes between",
        7,
        [2, 5],
        3,
        2,
        skip={**BY_POSITION, "function": PLAIN},
    ),
    friend(
        "draws_by_position",
        "set_seed alone",
        [7, [0, 0, 0], 3, 2],
        eager_normals,
        "TensorFlow 2 draws the missing seeds from Python's random",
        skip={**BY_POSITION, "function": PLAIN},
    ),
    program(
        "initial_weights",
        "three layers",
        7,
        [4, 3, 2, 1],
        skip={**BY_POSITION, "function": PLAIN},
    ),
    friend(
        "initial_weights",
        "today's initializer",
        [7, [4, 3, 2]],
        today_s_weights,
        "it draws from another, stateless stream",
        skip={**BY_POSITION, "function": PLAIN},
    ),
    program(
        "shared_initializer",
        "three variables",
        7,
        [2, 3],
        3,
        skip={**BY_POSITION, "function": PLAIN},
    ),
    friend(
        "shared_initializer",
        "one of Keras 3 for all",
        [7, [4], 2],
        one_for_all,
        "one instance draws the same values at every call, with a seed or without",
        skip={**BY_POSITION, "function": PLAIN},
    ),
    program("replay", "three kinds of 1.15.5", GRAPH, 3, skip={"function": PLAIN}),
    program(
        "replay",
        "a graph that was written by write_graph, its version in it",
        GRAPH + "versions { producer: 134 min_consumer: 12 }",
        2,
        skip={"function": PLAIN},
    ),
    refused(
        "replay",
        "no graph",
        ["node: 1", 1],
        "Expected|Message type",
        text_format.ParseError,
    ),
    program("random_walk", "two walks", 6, 7, 3, 2),
    program("random_walk", "no graph seed", 6, None, 3, 1),
    friend(
        "random_walk",
        "a Python loop in a function",
        [6, 7, 3, 2],
        unrolled_walk,
        "each turn is an op of its own, and all of them draw the same number",
    ),
    program("other_draws", "both seeds", 7, 3, 3),
    program("other_draws", "of the op alone", None, 3, 2),
    friend(
        "other_draws",
        "stateless_shuffle",
        [7, 3, 2],
        stateless_shuffle,
        "it sorts random keys, where the kernel swapped",
    ),
    program("dropout", "the classic", POSITIVE, 0.75, 7, 3, 3, exact=True),
    program(
        "dropout", "keep all", POSITIVE, 1.0, 7, 3, 1, expect=[POSITIVE], exact=True
    ),
    program(
        "dropout",
        "signs, infinity and NaN",
        SIGNED,
        0.75,
        7,
        7,  # drops -inf and NaN in the third draw
        3,
        exact=True,
        skip=SIGNS,
    ),
    friend(
        "dropout",
        "the same number",
        [POSITIVE, 0.75, 7, 3, 2],
        same_number,
        "the second argument was what to keep, and is what to drop",
        exact=True,
    ),
    refused("dropout", "keep nothing", [POSITIVE, 0.0, 7, 3, 1], r"in the range"),
    *[
        program(
            "initial_value",
            f"{name}, {shape}",
            name,
            shape,
            7,
            3,
            kwargs=kwargs,
            skip={"function": PLAIN},
        )
        for name, shape, kwargs in [
            ("random_normal", [2, 3], {}),
            ("random_normal", [3], {"mean": 1.0, "stddev": 0.5}),
            ("random_uniform", [2, 3], {}),
            ("random_uniform", [3], {"minval": -1.0, "maxval": 2.0}),
            ("truncated_normal", [2, 3], {}),
            ("truncated_normal", [3], {"mean": 1.0, "stddev": 0.5}),
            ("uniform_unit_scaling", [2, 3, 2], {}),
            ("uniform_unit_scaling", [3, 2], {"factor": 1.5}),
            ("glorot_normal", [3, 2], {}),
            ("glorot_uniform", [3, 3, 2, 5], {}),
            ("he_normal", [3, 2], {}),
            ("he_uniform", [3, 2], {}),
            ("lecun_normal", [3, 2], {}),
            ("lecun_uniform", [2, 3, 2], {}),
            ("variance_scaling", [3, 2], {}),
            ("variance_scaling", [2, 3], VARIANCE),
            ("variance_scaling", [2, 5], {**VARIANCE, "distribution": "uniform"}),
            (
                "variance_scaling",
                [5, 2],
                {**VARIANCE, "distribution": "untruncated_normal"},
            ),
            ("orthogonal", [4, 3], {}),
            ("orthogonal", [3, 3], {}),
            ("orthogonal", [2, 3, 2], {}),
            ("orthogonal", [2, 3], {"gain": 2.0}),
        ]
    ],
    *[
        friend(
            "initial_value",
            f"{name} of today",
            [name, [4, 3], 7, 3],
            same_name,
            "it draws from another, stateless stream",
            skip={"function": PLAIN},
        )
        for name in ("random_normal", "glorot_uniform", "orthogonal")
    ],
    refused(
        "initial_value",
        "no such name",
        ["xavier", [2, 3], 7, 3],
        "xavier",
        AttributeError,
    ),
    program(
        "shuffled_epochs", "in new orders", 6, 6, 7, 3, 3, skip={"function": PLAIN}
    ),
    program(
        "shuffled_epochs",
        "in one order, few at a time",
        6,
        3,
        7,
        3,
        2,
        kwargs={"reshuffle": False},
        skip={"function": PLAIN},
    ),
    program(
        "shuffled_epochs", "no graph seed", 6, 6, None, 3, 2, skip={"function": PLAIN}
    ),
    friend(
        "shuffled_epochs",
        "another graph seed",
        [6, 6, 7, 3, 2],
        seeded_by_tensorflow,
        "the graph's seed counts, too",
        skip={"function": PLAIN},
    ),
    refused("shuffled_epochs", "no buffer", [6, 0, 7, 3, 1], "must be", INVALID),
    program("noise_in_map", "two passes", 4, 7, 3, 2),
    program("noise_in_map", "no graph seed", 3, None, 3, 1),
    refused("noise_in_map", "text", [4, 7, "3", 1], "string formatting", TypeError),
    friend(
        "noise_in_map",
        "a generator",
        [4, 7, 3, 2],
        generator_in_map,
        "it goes on from pass to pass, where the op begins anew",
    ),
    program("numpy_noise", "the classic", 7, 3, 2),
    friend(
        "numpy_noise",
        "default_rng",
        [7, 3, 2],
        other_generator,
        "NumPy's new generators are others, with other numbers for a seed",
    ),
    refused("numpy_noise", "a negative seed", [-1, 3, 2], "between 0 and"),
    program("generator", "from a seed", 5, 3, 3),
    friend(
        "generator",
        "in the other order",
        [5, 3, 1],
        uniform_first,
        "one stream serves both, so that their order counts",
    ),
    refused(
        "generator",
        "a negative size",
        [5, -1, 1],
        "must be >= 0|non-negative|negative",
        INVALID,
    ),
    Op("stateless", "int32", [SEED], {"size": 5}, skip=OWN_STREAM),
    Op("stateless", "int64", [np.int64([-1, 2**40])], {"size": 5}, skip=OWN_STREAM),
    Op("stateless", "a thousand", [SEED], {"size": 1000}, skip=OWN_STREAM),
    friend(
        "stateless",
        "an op with the same seeds",
        [SEED, 5],
        stateful,
        "a stateless seed is scrambled first",
        of="op",
        skip=OWN_STREAM,
    ),
    refused(
        "stateless",
        "three numbers",
        [np.int32([1, 2, 3]), 5],
        r"must have shape \[2\]|must be 2 but is 3",
        eager=INVALID,
        of="op",
    ),
]
PROOF = proof(v1, v2, CASES)


# tf.data compiles mapped functions, and warns if functions run eagerly.
@pytest.mark.filterwarnings("ignore:Even though the .tf.config.experimental_run_func")
class RandomnessTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and a.dtype == b.dtype and same_bits(a, b).all()


class DrawTest(unittest.TestCase):
    def assert_same(self, a, b):
        self.assertTrue(same(a, b), f"{a} and {b}")

    def assert_other(self, a, b):
        a, b = np.asarray(a), np.asarray(b)
        self.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
        self.assertFalse(same_bits(a, b).all(), f"both are {a}")

    @staticmethod
    def normals(seed, seed2, size=3, draws=1):
        rng = v2.stream(seed, seed2)
        return [rng.normal([size]).numpy() for _ in range(draws)]


class MissingSeedTest(DrawTest):
    """Checks how the op seed is chosen if only the graph seed is set."""

    def test_today_s_graphs_count_random_ops_and_not_nodes(self):
        with legacy():
            left = v1.draws_by_position(7, [0, 5, 1], 3, 1)
        self.assertEqual(left["seeds"], [[7, 0], [7, 1], [7, 2]])

    def test_so_does_every_function(self):
        tf.random.set_seed(7)

        @tf.function
        def drawn():
            return tf.random.normal([3]), tf.zeros([]), tf.random.normal([3])

        first, _, second = drawn()
        self.assert_same(first, *self.normals(7, 0))
        self.assert_same(second, *self.normals(7, 1))

    def test_branches_and_loops_count_anew_and_repeat_the_draw_outside(self):
        tf.random.set_seed(7)

        @tf.function
        def drawn(flag):
            outside = tf.random.normal([3])
            branch = loop = tf.zeros([3])
            if flag:
                branch = tf.random.normal([3])
            for _ in tf.range(1):
                loop = tf.random.normal([3])
            return outside, branch, loop

        outside, branch, loop = drawn(tf.constant(True))
        self.assert_same(outside, branch)
        self.assert_same(outside, loop)

    def test_two_functions_draw_the_same(self):
        tf.random.set_seed(7)
        one, other = (tf.function(lambda: tf.random.normal([3])) for _ in range(2))
        self.assert_same(one(), other())

    def test_eagerly_it_is_python_s_random(self):
        tf.random.set_seed(7)
        chosen = random.Random(7)
        for _ in range(3):
            seed2 = chosen.randint(0, randomness.INT32_MAX)
            self.assert_same(tf.random.normal([3]), *self.normals(7, seed2))

    def test_the_right_page_asks_for_the_place(self):
        with self.assertRaisesRegex(ValueError, "depend on the op's place in the"):
            v2.kernel_seeds(7, [None])

    def test_two_zeros_are_drawn_anew(self):
        (pair,) = v2.kernel_seeds(None, [None])
        self.assert_other(*[v2.stream(*pair).normal([3]) for _ in range(2)])

    def test_two_sessions_without_seeds_draw_other_numbers(self):
        args = "random_normal", None, None, [3], [0.0, 1.0]
        with legacy():
            left = v1.draws(*args, sessions=2)
        for (first,), (second,) in (left, v2.draws(*args, sessions=2)):
            self.assert_other(first, second)

    def test_kernels_without_a_seed_are_no_twins(self):
        draw, kernels = initializers.glorot_uniform(), []
        for trace in (tf.function, lambda f: f):
            tf.random.set_seed(7)
            kernels.append([trace(lambda: draw([2, 3]))() for _ in range(2)])
        self.assert_other(*kernels[0])
        self.assert_same(kernels[0], kernels[1])  # `set_seed` restarts all streams

    def test_seeds_that_1_15_5_wrote_into_its_graphs(self):
        (entry,) = [
            e
            for e in PROOF.recorded()
            if str(e.case) == "draws_by_position, one after the other"
        ]
        recorded = PROOF.recording.answer(entry.key, entry.request)
        seeds = [int(recorded[f"outputs/seeds/{i}/1"]) for i in range(3)]
        self.assertEqual(seeds, [3, 9, 15])


class GraphSeedTest(unittest.TestCase):
    def test_it_belongs_to_one_graph(self):
        graph, v1 = tf.Graph(), tf.compat.v1
        with tf.Graph().as_default():
            v1.set_random_seed(3)
            with graph.as_default():
                self.assertIsNone(graph.seed)
                v1.set_random_seed(4)
        self.assertEqual(graph.seed, 4)


class EndOfStreamTest(DrawTest):
    """Calls that restart a stream, and calls that do not."""

    def test_an_eager_op_of_another_shape_goes_on(self):
        tf.random.set_seed(7)
        draws = [tf.random.normal([size], seed=3) for size in (2, 5, 1)]
        for wanted, got in zip(v2.draws(*NORMAL[:4], [0.0, 1.0])[0], draws):
            self.assert_same(got, wanted)

    def test_set_seed_rewinds_a_function_but_does_not_reseed_it(self):
        tf.random.set_seed(7)
        draw = tf.function(lambda: tf.random.normal([3], seed=3))
        first, second = draw(), draw()
        self.assert_other(first, second)
        tf.random.set_seed(8)
        self.assert_same(draw(), first)
        anew = tf.function(lambda: tf.random.normal([3], seed=3))
        self.assert_same(anew(), *self.normals(8, 3))

    def test_another_trace_is_another_stream(self):
        tf.random.set_seed(7)
        draw = tf.function(lambda x: tf.random.normal(x.shape, seed=3))
        for size in (2, 3):
            self.assert_same(draw(tf.zeros([size])), *self.normals(7, 3, size))

    def test_a_generator_does_not_hear_of_set_seed(self):
        rng = v2.stream(7, 3)
        tf.random.set_seed(7)
        first = rng.normal([3])
        tf.random.set_seed(7)
        self.assert_same([first, rng.normal([3])], self.normals(7, 3, draws=2))

    def test_a_checkpoint_holds_the_place_in_the_stream(self):
        rng, other = v2.stream(7, 3), v2.stream(0, 1)
        rng.normal([3])
        with tempfile.TemporaryDirectory() as folder:
            file = tf.train.Checkpoint(rng=rng).write(os.path.join(folder, "rng"))
            tf.train.Checkpoint(rng=other).read(file).assert_consumed()
        self.assert_same(other.normal([3]), self.normals(7, 3, draws=2)[1])

    def test_neighbouring_seeds_of_a_generator_overlap(self):
        make = tf.random.Generator.from_seed
        five, six = (make(seed, alg="philox").normal([8]) for seed in (5, 6))
        self.assert_same(five[4:], six[:4])
        # The key is 0 in both, and the seed is a position in the same stream.
        self.assertEqual(make(5, alg="philox").state.numpy().tolist(), [5, 0, 0])
        self.assert_other(five[4:], v2.stream(0, 6).normal([4]))


class LoopTest(DrawTest):
    """The order of iterations that may run in parallel."""

    def test_today_s_loop_draws_the_same_numbers_in_an_order_of_its_own(self):
        tf1 = v1.tf
        with legacy(), tf1.Session() as sess:
            tf1.set_random_seed(7)
            noise = tf1.map_fn(
                lambda x: x + tf1.random_normal([], seed=3), tf1.zeros([6])
            )
            drawn = sess.run(noise)
        wanted = np.float32(self.normals(7, 3, 1, 6)).ravel()
        self.assert_same(np.sort(drawn), np.sort(wanted))

    def test_a_generator_keeps_it(self):
        rng = v2.stream(7, 3)
        noise = tf.function(lambda x: tf.map_fn(lambda x: x + rng.normal([]), x))
        wanted = np.float32(self.normals(7, 3, 1, 6)).ravel()
        self.assert_same(noise(tf.zeros([6])), wanted)


class OtherWaysTest(DrawTest):
    def test_dropout_by_an_op_seed_is_that_of_1_15_where_nothing_is_negative(self):
        tf.random.set_seed(7)
        drop = tf.function(lambda x: tf.nn.dropout(x, 0.25, seed=3))
        draws = [drop(tf.constant(POSITIVE)) for _ in range(3)]
        self.assert_same(draws, v2.dropout(POSITIVE, 0.75, 7, 3, 3))

    def test_gamma_has_a_stateless_twin(self):
        alpha = tf.constant([0.5, 1.0, 2.5])
        wanted = v2.other_draws(7, 3, 2)
        for number in range(2):
            gamma = tf.raw_ops.StatelessRandomGammaV3(
                shape=[2, 3],
                key=tf.constant([7], tf.uint64),
                counter=tf.constant([256 * 6 * number, 3], tf.uint64),
                alg=1,
                alpha=alpha,
            )
            self.assert_same(gamma / 2, wanted[number]["gamma"])

    def test_the_stream_of_an_old_node_by_a_raw_op(self):
        draw = tf.function(
            lambda: tf.raw_ops.TruncatedNormal(
                shape=[9], dtype=tf.float32, seed=7, seed2=3
            )
        )
        rng = v2.stream(7, 3)
        for _ in range(2):
            self.assert_same(draw(), rng.truncated_normal([9]))


class CompiledTest(DrawTest):
    def test_xla_draws_other_numbers_and_leaves_the_same_state(self):
        rng, compiled = v2.stream(7, 3), v2.stream(7, 3)
        draw = tf.function(lambda: compiled.uniform([6]), jit_compile=True)
        self.assert_other(draw(), rng.uniform([6]))
        self.assert_same(compiled.state, rng.state)


class KerasTest(DrawTest):
    """Keras 3 also has seeds, but none of them reproduces the old draws."""

    def test_normal_draws(self):
        with keras_seeds():
            (old,) = self.normals(7, 3)
            self.assert_other(keras.random.normal([3], seed=3), old)
            twice = [keras.random.normal([3], seed=3) for _ in range(2)]
            self.assert_same(*twice)
            seeds = keras.random.SeedGenerator(3)
            self.assert_other(*[keras.random.normal([3], seed=seeds) for _ in range(2)])

    @parameterized.expand(
        [
            ("random_normal", keras.initializers.RandomNormal(stddev=1.0, seed=3)),
            ("random_uniform", keras.initializers.RandomUniform(0.0, 1.0, seed=3)),
            ("truncated_normal", keras.initializers.TruncatedNormal(0.0, 1.0, seed=3)),
            ("glorot_normal", keras.initializers.GlorotNormal(seed=3)),
            ("glorot_uniform", keras.initializers.GlorotUniform(seed=3)),
            ("he_normal", keras.initializers.HeNormal(seed=3)),
            ("he_uniform", keras.initializers.HeUniform(seed=3)),
            ("lecun_normal", keras.initializers.LecunNormal(seed=3)),
            ("lecun_uniform", keras.initializers.LecunUniform(seed=3)),
            ("variance_scaling", keras.initializers.VarianceScaling(seed=3)),
            ("orthogonal", keras.initializers.Orthogonal(seed=3)),
        ]
    )
    def test_initializers(self, name, initializer):
        with keras_seeds():
            new = initializer([4, 3])
        self.assert_other(new, v2.initial_value(name, [4, 3], 7, 3))

    @parameterized.expand(
        [
            (cls.__name__, cls)
            for cls in (
                keras.initializers.RandomNormal,
                keras.initializers.RandomUniform,
                keras.initializers.TruncatedNormal,
                keras.initializers.GlorotNormal,
                keras.initializers.GlorotUniform,
                keras.initializers.HeNormal,
                keras.initializers.HeUniform,
                keras.initializers.LecunNormal,
                keras.initializers.LecunUniform,
                keras.initializers.VarianceScaling,
                keras.initializers.Orthogonal,
            )
        ]
    )
    def test_one_instance_draws_the_same_at_every_call(self, _, cls):
        shared = cls()
        self.assert_same(shared([4, 3]), shared([4, 3]))
        self.assert_other(cls()([4, 3]), cls()([4, 3]))
        anew = cls(seed=keras.random.SeedGenerator())
        self.assert_other(anew([4, 3]), anew([4, 3]))

    def test_those_of_tensorflow_draw_anew(self):
        for cls in (tf.random_normal_initializer, tf.random_uniform_initializer):
            shared = cls()
            self.assert_other(shared([4, 3]), shared([4, 3]))

    def test_dropout(self):
        with keras_seeds():
            layer = keras.layers.Dropout(0.25, seed=3)
            new = [layer(POSITIVE, training=True) for _ in range(3)]
        self.assert_other(new, v2.dropout(POSITIVE, 0.75, 7, 3, 3))


@contextlib.contextmanager
def keras_seeds():
    """Sets the seeds of Python, NumPy and TensorFlow, and restores the first two."""
    kept = random.getstate(), np.random.get_state()
    keras.utils.set_random_seed(7)
    try:
        yield
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])
