import unittest

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import FalseFriend, Layer, Op, Raises, booleans, integers, normal
from tf1to2.parity.v1 import legacy
from v1_graph import cookbook as v1
from v2_eager import cookbook as v2

IAE = tf.errors.InvalidArgumentError
SEARCHED = {"gradient": "a search is a decoder: nobody descends along it"}
LOOPED = {**SEARCHED, "xla": "XLA must know the size of a TensorArray when compiling"}
ROWS = np.float32([[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]])


def cell(classes, units, scale=1.0):
    return {
        "embedding": normal(classes, units, scale=scale),
        "kernel": normal(units, units, scale=scale),
        "projection": normal(units, classes, scale=scale),
    }


def chain(*rows):
    """Makes a Markov chain as a cell: row i is the distribution after token i."""
    classes = len(rows)
    return {
        "embedding": np.float32(32 * np.eye(classes)),  # tanh(32) is 1
        "kernel": np.zeros([classes, classes], "f"),
        "projection": np.float32(np.log(rows)),
    }


# Token 0 begins, 1 ends.
LURE = chain(
    [0.01, 0.39, 0.35, 0.25],
    [0.25, 0.25, 0.25, 0.25],
    [0.05, 0.9, 0.03, 0.02],
    [0.05, 0.85, 0.06, 0.04],
)
START = np.zeros([1, 4], "f")

# Means 3 and -1, variance 1/4: a batch norm is exact, except its gradient.
PLUS_MINUS = np.float32([[3.5, -1.5], [2.5, -1.5], [2.5, -0.5], [3.5, -0.5]])
PLUS_MINUS = PLUS_MINUS.reshape([2, 1, 2, 2])

BATCHES = [{"b": 3}, {"b": 67}]
PICTURES = normal("b", 6, 7, 3)
UNPOOLED = {"sizes": BATCHES, "skip": {"xla": "XLA has no MaxPoolWithArgmax"}}


def all_in_one(x):
    """Uses the argmax without adding the offset of each image."""
    pooled, places = tf.nn.max_pool_with_argmax(x, 2, 2, "SAME")
    places, values = tf.reshape(places, [-1, 1]), tf.reshape(pooled, [-1])
    unpooled = tf.scatter_nd(places, values, [tf.size(x, tf.int64)])
    return pooled, tf.reshape(unpooled, tf.shape(x))


CASES = [
    Op(
        "batch_gather",
        "a row of each",
        [ROWS, np.int32([2, 0])],
        expect=[[5, 6], [7, 8]],
    ),
    Op(
        "batch_gather",
        "any size",
        [normal("b", 6, "u"), integers("b", "n", high=6)],
        sizes=[{"b": 7, "u": 5, "n": 3}, {"b": 67, "u": 5, "n": 3}],
    ),
    Op("batch_gather", "of scalars", [booleans(5, 4), integers(5, 3, high=4)]),
    Op(
        "batch_gather",
        "more dimensions of both",
        [normal(5, 3, 2, 4), integers(5, 4, 3, high=3)],
    ),
    FalseFriend(
        "batch_gather",
        "the plain gather",
        [ROWS, np.int32([[2], [0]])],
        naive=lambda tensor, indices: tf.gather(tensor, indices, axis=1),
        because="without batch_dims every example gathers the rows that all ask for",
        differs="shape",
    ),
    Raises(
        "batch_gather",
        "the row after the last is the next example's",
        [ROWS, np.int32([[0], [-1]])],
        graph=None,
        eager=IAE,
        function=IAE,
        match=r"indices\[1,0\] = -1 is not in \[0, 3\)",
    ),
    Op(
        "decode_step",
        "any size",
        [cell(6, 4), normal("b", "w", 4), integers("b", "w", high=6)],
        sizes=[{"b": 7, "w": 5}, {"b": 67, "w": 5}],
    ),
    Raises(
        "decode_step",
        "a state of other units",
        [
            {
                "embedding": np.zeros([4, 3], "f"),
                "kernel": np.zeros([3, 3], "f"),
                "projection": np.zeros([3, 4], "f"),
            },
            np.zeros([1, 2, 5], "f"),
            np.zeros([1, 2], "int32"),
        ],
        graph=ValueError,
        eager=IAE,
        function=ValueError,
        match="must be equal|Matrix size-incompatible",
    ),
    *[
        Op(name, slug, [*args, length, width], kwargs, sizes=sizes, skip=skip)
        for name, length, skip in [
            ("beam_search", 3, SEARCHED),
            ("beam_search_loop", np.int32(3), LOOPED),
        ]
        for slug, args, width, kwargs, sizes in [
            (
                "any batch",
                [cell(6, 3), normal("b", 3)],
                4,
                {"begin": 2, "end": 4},
                [{"b": 7}, {"b": 67}],
            ),
            ("a lure", [LURE, START], 3, {}, None),
            ("a lure that fans out", [LURE, START], 3, {"fan_out": True}, None),
        ]
    ],
    Op("log_softmax", "any rank", [normal("n", 3, 5)]),
    Op("softmax_entropy", "any size", [normal("n", "c")]),
    Op("softmax_entropy", "another axis", [normal(4, 5, 3)], {"axis": 1}),
    Op("softmax_entropy", "masked by infinity", [np.float32([0, -np.inf])]),
    Op(
        "gaussian_kl",
        "from a standard",
        [[normal("n", "d"), normal("n", "d")]],
    ),
    Op(
        "gaussian_kl",
        "any two",
        [[normal("n", 5), normal("n", 5)], [normal("n", 5), normal(5)]],
    ),
    Op(
        "leaky_relu",
        "both sides",
        [np.float32([-10, -5, 0, 5])],
        expect=[-2, -1, 0, 5],
    ),
    Op("leaky_relu", "any size", [normal("n", 5)], {"leak": 0.01}),
    FalseFriend(
        "leaky_relu",
        "a leak above 1",
        [np.float32([-2, 2])],
        {"leak": 1.5},
        expect=[-2, 3],
        naive=lambda x, leak: tf.nn.leaky_relu(x, leak),
        because="the maximum is x where x is negative, and leak * x where positive",
    ),
    Op(
        "leaky_relu_parts",
        "both sides",
        [np.float32([-10, -5, 0, 5])],
        expect=[-2, -1, 0, 5],
    ),
    Op("leaky_relu_parts", "any size", [normal("n")], {"leak": 0.01}),
    Op(
        "leaky_relu_parts",
        "a leak above 1",
        [np.float32([-2, 2])],
        {"leak": 1.5},
        expect=[-3, 2],
    ),
    Layer("make_batch_norm", "training", [normal("n", 3), True]),
    Layer("make_batch_norm", "images", [normal("n", 4, 5, 2), True]),
    Layer("make_batch_norm", "inference", [normal(6, 3), False]),
    Layer(
        "make_batch_norm",
        "other parameters",
        [normal(6, 3), True],
        factory={"momentum": 0.75, "epsilon": 0.5, "name": "norm"},
    ),
    Layer(
        "make_batch_norm",
        "fused training",
        [PLUS_MINUS, True],
        factory={"fused": True, "epsilon": 0.75, "momentum": 0.5},
        exact=True,
        skip={
            "dynamic": "the channels are the shape of the variables",
            "gradient": "no float64 kernel, and oneDNN sums it in another order",
        },
    ),
    Layer(
        "make_batch_norm",
        "fused training of any images",
        [normal("n", 4, 3, 3), True],
        factory={"fused": True},
        float32=True,
    ),
    Layer(
        "make_batch_norm",
        "fused inference",
        [normal(3, 2, 4, 2), False],
        factory={"fused": True},
    ),
    Raises(
        "make_batch_norm",
        "fused in float64",
        [np.zeros([2, 2, 2, 2]), True],
        of="layer",
        factory={"fused": True},
        graph=TypeError,
        eager=TypeError,
        function=TypeError,
        match="float64.*not in list of allowed|not in the list of allowed|float64",
    ),
    Raises(
        "make_batch_norm",
        "fused without height and width",
        [np.zeros([4, 2], "f"), True],
        of="layer",
        factory={"fused": True},
        graph=ValueError,
        eager=ValueError,
        function=ValueError,
        match="rank 4 but is rank 2",
    ),
    Op("unpool", "of a batch", [normal("b", 6, 8, 3)], **UNPOOLED),
    Op("unpool", "windows that end past it", [PICTURES], {"size": 3}, **UNPOOLED),
    FalseFriend(
        "unpool",
        "places without their image",
        [PICTURES],
        naive=all_in_one,
        because="places count within an image, unless the batch is asked for",
        **UNPOOLED,
    ),
]
PROOF = proof(v1, v2, CASES)


class CookbookTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


def search(page, length, width, **options):
    """Returns the right page's hypotheses as text, and probabilities to four digits."""
    if page is v2.beam_search_loop:
        length = tf.constant(length)
    tensors = {key: tf.constant(array) for key, array in LURE.items()}
    ids, log_probs = page(tensors, tf.constant(START), length, width, **options)
    texts = ["".join(str(token) for token in row) for row in ids[0].numpy()]
    return texts, np.exp(log_probs[0]).astype("f8").round(4).tolist()


class BeamSearchTest(unittest.TestCase):
    """The tokens 1, 2 and 3 follow 0 with probabilities of 0.39, 0.35 and 0.25.

    The end, 1, follows 2 with a probability of 0.9, and 3 with 0.85.
    """

    @parameterized.expand([("unrolled", v2.beam_search), ("loop", v2.beam_search_loop)])
    def test_a_finished_hypothesis_stays_one(self, _, page):
        texts, probabilities = search(page, 4, 4)
        self.assertEqual(texts, ["1111", "2111", "3111", "2011"])
        self.assertEqual(probabilities, [0.39, 0.315, 0.2125, 0.0068])

    @parameterized.expand([("unrolled", v2.beam_search), ("loop", v2.beam_search_loop)])
    def test_the_classic_recipe_fills_the_beam_with_one(self, _, page):
        texts, probabilities = search(page, 4, 4, fan_out=True)
        self.assertEqual(texts, ["1000", "1001", "1002", "1003"])
        self.assertEqual(probabilities, [0.39] * 4)

    @parameterized.expand([("unrolled", v2.beam_search), ("loop", v2.beam_search_loop)])
    def test_greedy(self, _, page):
        self.assertEqual(search(page, 3, 1), (["111"], [0.39]))
        self.assertEqual(search(page, 3, 1, end=2), (["101"], [0.038]))

    @parameterized.expand([("unrolled", v2.beam_search), ("loop", v2.beam_search_loop)])
    def test_a_beam_wider_than_its_candidates(self, _, page):
        texts, probabilities = search(page, 1, 5)
        self.assertEqual(texts[:4], ["1", "2", "3", "0"])
        self.assertEqual(probabilities, [0.39, 0.35, 0.25, 0.01, 0])

    def test_a_loop_is_built_once_for_all_lengths(self):
        sizes = []
        for page, number in [
            (v1.beam_search, int),
            (v1.beam_search_loop, np.int32),
        ]:
            for length in (3, 6):
                with legacy():
                    tensors = {key: tf1.constant(x) for key, x in LURE.items()}
                    page(tensors, tf1.constant(START), number(length), 3)
                    sizes.append(len(tf1.get_default_graph().get_operations()))
        self.assertLess(1.5 * sizes[0], sizes[1])
        self.assertEqual(sizes[2], sizes[3])

        traces = []

        @tf.function
        def decode(length):
            traces.append(1)
            tensors = {key: tf.constant(x) for key, x in LURE.items()}
            return v2.beam_search_loop(tensors, tf.constant(START), length, 3)[0]

        shapes = [decode(tf.constant(length)).shape for length in (1, 2, 6)]
        self.assertEqual(shapes, [(1, 3, 1), (1, 3, 2), (1, 3, 6)])
        self.assertEqual(len(traces), 1)


class RecipesTest(unittest.TestCase):
    def test_an_index_too_large_found_the_next_example(self):
        with legacy(), tf1.Session() as sess:
            rows = v1.batch_gather(tf1.constant(ROWS), tf1.constant([[3], [-1]]))
            np.testing.assert_array_equal(sess.run(rows), [[[7, 8]], [[5, 6]]])

    def test_three_gradients_of_one_function(self):
        x = tf.constant([-1.0, 0.0, 1.0])
        gradients = []
        for page in (v2.leaky_relu, v2.leaky_relu_parts, tf.nn.leaky_relu):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = page(x)
            gradients.append(tape.gradient(y, x))
        expected = [[0.2, 1, 1], [0.2, 0, 1], [0.2, 0.2, 1]]
        np.testing.assert_array_equal(gradients, np.float32(expected))

    def test_entropies(self):
        uniform = v2.softmax_entropy(tf.zeros([4]))
        self.assertEqual(np.round(uniform, 4), np.float32(1.3863))
        masked = v2.softmax_entropy(tf.constant([0.0, 0.0, -1e9]))
        self.assertEqual(np.round(masked, 4), np.float32(0.6931))

    def test_a_small_divergence_is_not_lost(self):
        ratio = tf.constant(1e-4)
        kl = v2.gaussian_kl((tf.zeros([1]), ratio[None]))
        self.assertEqual(f"{kl.numpy():.1e}", "2.5e-09")
        self.assertEqual(f"{(tf.exp(ratio) - 1 - ratio) / 2:.1e}", "8.3e-09")

    @parameterized.expand([("by hand", False, 0.625), ("fused", True, 2 / 3)])
    def test_the_fused_kernel_moves_to_the_unbiased_variance(self, _, fused, variance):
        norm = v2.make_batch_norm(momentum=0.5, epsilon=0.75, fused=fused)
        norm(tf.constant(PLUS_MINUS), True)
        np.testing.assert_array_equal(norm.moving_mean, [1.5, -0.5])
        np.testing.assert_array_equal(norm.moving_variance, np.float32([variance] * 2))

    def test_the_gradient_of_the_fused_kernel(self):
        image = np.random.RandomState(0).standard_normal([3, 4, 5, 2]).astype("f")
        upstream = np.random.RandomState(1).standard_normal(image.shape).astype("f")
        x, norm = tf.constant(image), v2.make_batch_norm(fused=True)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = norm(x, True)
        right = [y, *tape.gradient(y, [x, norm.gamma, norm.beta], upstream)]
        with legacy(), tf1.Session() as sess:
            x = tf1.placeholder(tf.float32, image.shape)
            norm = v1.make_batch_norm(fused=True)
            y = norm(x, True)
            weights = {w.op.name: w for w in norm.trainable_variables}
            names = ["batch_norm/gamma", "batch_norm/beta"]
            sources = [x, *[weights[name] for name in names]]
            left = [y, *tf1.gradients(y, sources, tf1.constant(upstream))]
            sess.run(tf1.global_variables_initializer())
            left = sess.run(left, {x: image})
        for a, b in zip(left, right, strict=True):
            np.testing.assert_array_equal(a, b)

    def test_the_fused_kernel_has_a_least_epsilon(self):
        image = np.float32([1, -1, -1, 1]).reshape([1, 2, 2, 1]) / 256
        naive = v2.fused_batch_norm(tf.constant(image), [1.0], [0.0], 0.0)[0]
        self.assertEqual(np.round(naive[0, 0, 0, 0], 3), np.float32(1))
        floored = v2.make_batch_norm(epsilon=0.0, fused=True)(tf.constant(image), True)
        self.assertEqual(np.round(floored[0, 0, 0, 0], 4), np.float32(0.7771))
        by_hand = v2.make_batch_norm(epsilon=1.001e-5)(tf.constant(image), True)
        self.assertEqual(np.round(by_hand[0, 0, 0, 0], 4), np.float32(0.7771))
        with legacy(), tf1.Session() as sess:
            y = v1.make_batch_norm(epsilon=0.0, fused=True)(tf1.constant(image), True)
            sess.run(tf1.global_variables_initializer())
            np.testing.assert_array_equal(sess.run(y), floored)

    def test_inference_before_the_moving_statistics_have_arrived(self):
        norm, x = v2.make_batch_norm(), tf.constant(PLUS_MINUS)
        means = []
        for steps in (0, 100):
            for _ in range(steps):
                norm(x, True)
            means.append(tf.reduce_mean(norm(x, False)[..., 0]).numpy())
        np.testing.assert_array_equal(np.round(means, 2), np.float32([3, 1.51]))

    def test_left_alone_the_collection_of_updates_is_not_run(self):
        with legacy(), tf1.Session() as sess:
            norm = v1.make_batch_norm(momentum=0.5)
            y = norm(tf1.constant(PLUS_MINUS), True)
            mean = norm.variables[2]
            self.assertEqual(mean.op.name, "batch_norm/moving_mean")
            updates = tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)
            sess.run(tf1.global_variables_initializer())
            (before_identity,) = y.op.inputs
            sess.run(before_identity)  # the same numbers, without the updates
            np.testing.assert_array_equal(sess.run(mean), [0, 0])
            sess.run(updates)
            np.testing.assert_array_equal(sess.run(mean), [1.5, -0.5])


class ArraysTest(unittest.TestCase):
    def test_a_batch_may_be_an_array(self):
        x = np.random.RandomState(0).normal(size=[67, 3]).astype("f")
        layers = [v2.make_batch_norm() for _ in range(2)]
        expected, found = (
            layer(batch, True).numpy()
            for layer, batch in zip(layers, (tf.constant(x), x))
        )
        np.testing.assert_array_equal(found, expected, strict=True)
