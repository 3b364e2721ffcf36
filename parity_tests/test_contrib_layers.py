import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.contrib import CONTRIB, EAGER, ONCE, friend, layer, refused
from tf1to2.parity import FalseFriend, Op, Program
from tf1to2.parity.arrays import integers, normal
from v1_graph import contrib_layers as v1
from v2_eager import contrib_layers as v2
from v2_eager import layers
from v2_eager.numerics import initializers

INVALID = tf.errors.InvalidArgumentError
UNIQUE = {"xla": "the number of unique words is no fixed size"}
NARROW = {"xla": "XLA rounds otherwise, and the table is float32 in any case"}
SHAPES = [[40, 30], [3, 3, 8, 16], [7]]
IMAGES = np.random.RandomState(0).standard_normal([67, 4, 4, 2]).astype("f")
LABELS = np.random.RandomState(1).randint(-1, 11, [67, 3])
WORDS = np.random.RandomState(2).randint(0, 9, [67, 6])
WORDS[:3] = [[0] * 6, [0, 0, 4, 0, 4, 0], [-1, 3, 0, -2, 0, 5]]


# --- Obvious replacements of contrib, with other numbers.


def by_tf_initializers(shapes, seed):
    """Draws with the initializer of `tf` in place of contrib's."""
    found = v2.initial_kernels(shapes, seed)
    draw = initializers.variance_scaling(2.0, seed=seed)
    found["variance_scaling"] = [draw(shape).numpy() for shape in shapes]
    return found


def valid(filters, size, name="net"):
    return v2.make_conv2d(filters, size, padding="VALID", name=name)


def without_relu(filters, units, name="net"):
    """Makes the layers of `repeat` and `stack` without an activation."""
    net = v2.make_repeated(filters, units, name)
    for step in net.steps:
        step.activation = None
    return net


def mean_of_all(vocab_size, embed_dim, name="text"):
    return v2.make_bow_encoder(vocab_size, embed_dim, False, name)


def keras_penalty(weights, scale_l1, scale_l2):
    penalize = tf.keras.regularizers.L1L2(scale_l1, scale_l2)
    return tf.add_n([penalize(w) for w in weights])


WEIGHTS = [normal(67, 20), normal("n")]
CASES = [
    Program("initial_kernels", "three shapes", [SHAPES, 3], skip=CONTRIB),
    FalseFriend(
        "initial_kernels",
        "the deviation of tf.variance_scaling_initializer",
        [SHAPES, 5],
        of="program",
        naive=by_tf_initializers,
        because="contrib allowed 1.3 for what is cut off, and tf 1 / 0.8796 ** 2",
        skip=CONTRIB,
    ),
    layer(
        "make_fully_connected",
        "three, penalized",
        [normal("b", 4)],
        {"units": [5, 4, 3], "scale": 0.5},
    ),
    layer(
        "make_fully_connected",
        "of three dimensions",
        [normal("b", 3, 4)],
        {"units": [5, 2], "name": "net"},
        ONCE,
    ),
    layer(
        "make_fully_connected",
        "a scale of 0",
        [normal("b", 4)],
        {"units": [5, 2], "scale": 0.0},
        EAGER,
    ),
    friend(
        "make_fully_connected",
        "half of Keras' L2",
        [normal("b", 4)],
        lambda units, scale, name="mlp": v2.make_fully_connected(
            units, 2 * scale, name
        ),
        "l2_regularizer is half the sum of the squares, L2 all of it",
        {"units": [3, 2], "scale": 0.25},
    ),
    layer(
        "make_conv2d",
        "by default",
        [normal("b", 5, 6, 2)],
        {"filters": [3, 4], "size": 3},
    ),
    layer(
        "make_conv2d",
        "sixteen channels, dilated",
        [normal("b", 9, 8, 16)],
        {"filters": [8, 8], "size": [3, 2], "rate": 2, "name": "block"},
        ONCE,
    ),
    layer(
        "make_conv2d",
        "valid, strided, without biases",
        [normal("b", 9, 8, 2)],
        {
            "filters": [3, 2],
            "size": [3, 2],
            "stride": [2, 1],
            "padding": "VALID",
            "biases": False,
        },
        ONCE,
    ),
    friend(
        "make_conv2d",
        "the padding of tf.layers",
        [normal("b", 5, 6, 2)],
        valid,
        "contrib's default is SAME, that of tf.layers and of Keras is valid",
        {"filters": [2, 2], "size": 3},
        differs="shape",
    ),
    layer(
        "make_repeated",
        "two, and three",
        [normal("b", 6, 5, 2)],
        {"filters": 3, "units": [6, 5, 4]},
    ),
    friend(
        "make_repeated",
        "no activation",
        [normal("b", 6, 5, 2)],
        without_relu,
        "every layer of contrib has a ReLU that nobody wrote",
        {"filters": 3, "units": [6, 5]},
    ),
    Op(
        "pool_and_flatten",
        "windows of 2",
        [normal("b", 5, 4, 2), 2],
        sizes=[{"b": 3}, {"b": 67}],
        skip=CONTRIB,
    ),
    Op(
        "pool_and_flatten",
        "windows that overlap",
        [normal("b", 7, 6, 2), [3, 2]],
        sizes=[{"b": 67}],
        skip={**CONTRIB, **ONCE},
    ),
    FalseFriend(
        "pool_and_flatten",
        "the stride of Keras",
        [normal(67, 7, 6, 2), 3],
        naive=lambda x, size: layers.pool_and_flatten(x, size, size),
        because="windows are 2 apart, whatever their size; in Keras as far as that",
        differs="shape",
        skip={**CONTRIB, **EAGER},
    ),
    Program("dropout", "training", [np.abs(IMAGES), 0.75, 5], skip=CONTRIB),
    Program(
        "dropout",
        "whole channels",
        [np.abs(IMAGES), 0.5, 5],
        {"noise_shape": [67, 1, 1, 2], "draws": 3},
        skip=CONTRIB,
    ),
    Program(
        "dropout", "inference", [IMAGES, 0.5, 5], {"is_training": False}, skip=CONTRIB
    ),
    Program("dropout", "all is kept", [IMAGES, 1.0, 5], skip=CONTRIB),
    FalseFriend(
        "dropout",
        "a share to keep taken for a rate",
        [np.abs(IMAGES), 0.75, 5],
        of="program",
        naive=lambda x, keep_prob, seed: v2.dropout(x, 1 - keep_prob, seed),
        because="contrib says what is kept, tf.nn.dropout and Keras what is dropped",
        skip=CONTRIB,
    ),
    FalseFriend(
        "dropout",
        "dropout that waits to be told",
        [np.abs(IMAGES), 0.75, 5],
        of="program",
        naive=lambda x, keep_prob, seed: v2.dropout(x, keep_prob, seed, False),
        because="contrib's is_training is True by default, that of tf.layers False",
        skip=CONTRIB,
    ),
    layer(
        "make_embed_sequence",
        "of any length",
        [integers("b", "s", high=50)],
        {"vocab_size": 50, "embed_dim": 3},
        sizes=[{"b": 3, "s": 4}, {"b": 67, "s": 5}],
    ),
    layer(
        "make_bow_encoder",
        "padding, and words that are none",
        [WORDS],
        {"vocab_size": 9, "embed_dim": 3},
        UNIQUE,
        float32=True,
    ),
    layer(
        "make_bow_encoder",
        "any number of rows",
        [integers("b", 5, high=4)],
        {"vocab_size": 50, "embed_dim": 3},
        UNIQUE,
        float32=True,
    ),
    layer(
        "make_bow_encoder",
        "of all words",
        [integers("b", 5, high=50)],
        {"vocab_size": 50, "embed_dim": 4, "sparse_lookup": False, "name": "query"},
        NARROW,
        float32=True,
    ),
    friend(
        "make_bow_encoder",
        "the mean with its padding",
        [np.abs(WORDS[1:])],
        mean_of_all,
        "0 is padding, and is not counted",
        {"vocab_size": 9, "embed_dim": 3},
        float32=True,
    ),
    Op("one_hot", "some out of range", [LABELS, 10], skip=CONTRIB),
    Op(
        "one_hot",
        "smoothed",
        [integers("n", high=4), 4, 0.925, 0.025],
        skip={**CONTRIB, **EAGER},
    ),
    Op("penalty", "both", [WEIGHTS, 0.25, 0.003], skip=CONTRIB),
    Op("penalty", "l1", [WEIGHTS, 0.1, 0.0], skip={**CONTRIB, **EAGER}),
    Op("penalty", "l2", [WEIGHTS, 0.0, 0.1], skip={**CONTRIB, **EAGER}),
    FalseFriend(
        "penalty",
        "L1L2 of Keras",
        [WEIGHTS, 0.25, 0.5],
        naive=keras_penalty,
        because="its L2 is the sum of squares, not half of it",
        skip={**CONTRIB, **EAGER},
    ),
    Program(
        "summarize",
        "activations",
        [IMAGES[:, 0, 0], IMAGES[1, :2, 0] * 8],
        exact=True,
        float32=True,  # a summary has a float32 scalar or a float64 histogram
        skip=CONTRIB,
    ),
    Program(
        "summarize",
        "more units",
        [IMAGES[:, :, 0, 0], 4 * IMAGES[2, :, :, 0]],
        exact=True,
        float32=True,
        skip=CONTRIB,
    ),
    Program(
        "summarize",
        "at the ends of an activation",
        [np.array([[-1, 0], [6, 7], [0, 6], [2, -3]], "f"), np.eye(2, dtype="f")],
        exact=True,
        float32=True,
        skip=CONTRIB,
    ),
    refused(
        "make_fully_connected",
        "a vector",
        [np.zeros(3, "f")],
        "min_ndim=2, found ndim=1",
        factory={"units": [2]},
    ),
    refused(
        "make_fully_connected",
        "an integer for a scale",
        [np.zeros([2, 3], "f")],
        "scale cannot be an integer",
        factory={"units": [2], "scale": 1},
    ),
    refused(
        "make_fully_connected",
        "a scale below 0",
        [np.zeros([2, 3], "f")],
        "less than 0 on a regularizer",
        factory={"units": [2], "scale": -1.0},
    ),
    refused(
        "make_conv2d",
        "an image without a batch",
        [np.zeros([3, 3, 1], "f")],
        "ndim=4|rank 4",
        factory={"filters": [2, 2], "size": 3},
    ),
    refused(
        "make_conv2d",
        "another padding",
        [np.zeros([1, 3, 3, 1], "f")],
        "padding",
        factory={"filters": [2, 2], "size": 3, "padding": "FULL"},
    ),
    refused(
        "make_conv2d",
        "a kernel larger than the image",
        [np.zeros([1, 2, 2, 1], "f")],
        "Negative dimension size|negative",
        factory={"filters": [2, 2], "size": 3, "padding": "VALID"},
    ),
    refused(
        "dropout",
        "a share above 1",
        [IMAGES, 1.5, 1],
        r"in the range \[0, 1\)",
        of="program",
    ),
    refused(
        "make_embed_sequence",
        "no such row",
        [np.array([[1, 5]])],
        r"= 5 is not in \[0, 5\)",
        INVALID,
        factory={"vocab_size": 5, "embed_dim": 2},
    ),
    refused(
        "make_embed_sequence",
        "no size",
        [np.array([[1, 5]])],
        "Must specify vocab size",
        factory={"vocab_size": 5, "embed_dim": None},
    ),
    refused(
        "penalty", "an integer", [[np.ones(3, "f")], 0.5, 1], "be an integer", of="op"
    ),
    refused(
        "penalty",
        "a weight below 0",
        [[np.ones(3, "f")], -0.5, 1.0],
        "less than 0",
        of="op",
    ),
    refused("penalty", "nothing", [[], 0.5, 1.0], "No weights to regularize", of="op"),
]
PROOF = proof(v1, v2, CASES)


class ContribLayersTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class ShapesTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("fully_connected", v2.make_fully_connected([2]), [None, None]),
            ("conv2d", v2.make_conv2d([2, 2], 3), [None, 4, 4, None]),
        ]
    )
    def test_variables_need_the_channels(self, _, layer, shape):
        with self.assertRaisesRegex(ValueError, "last dimension.*must be defined"):
            tf.function(layer).get_concrete_function(tf.TensorSpec(shape))

    @parameterized.expand(
        [
            ("fully_connected", v2.make_fully_connected([2]), "min_ndim=2"),
            ("conv2d", v2.make_conv2d([2, 2], 3), "ndim=4"),
        ]
    )
    def test_a_rank_must_be_known(self, _, layer, match):
        with self.assertRaisesRegex(ValueError, f"{match}, found ndim=None"):
            tf.function(layer).get_concrete_function(tf.TensorSpec(None))

    def test_an_image_of_unknown_size(self):
        layer = v2.make_conv2d([3, 2], 3, stride=2)
        layer(IMAGES)  # makes the variables
        traced = tf.function(layer, input_signature=[tf.TensorSpec([None] * 3 + [2])])
        for image in (IMAGES, IMAGES[:2, :3]):
            np.testing.assert_array_equal(traced(image), layer(image))
        self.assertEqual(traced.experimental_get_tracing_count(), 1)

    def test_what_is_flattened_may_be_of_unknown_size(self):
        spec = tf.TensorSpec([None, None, None, 2])
        traced = tf.function(lambda x: v2.pool_and_flatten(x, 2)[1])
        found = traced.get_concrete_function(spec)(tf.constant(IMAGES))
        _, expected = v2.pool_and_flatten(IMAGES, 2)
        np.testing.assert_array_equal(found, expected)


class PenaltyTest(unittest.TestCase):
    def test_a_norm_that_is_not_asked_for_may_be_infinite(self):
        weights = [tf.constant([1e20, 1.0])]  # 1.15.5 gives 5e19, not 0 * inf
        self.assertEqual(v2.penalty(weights, 0.5, 0.0), np.float32(5e19))
        self.assertEqual(v2.penalty([tf.constant([np.inf])], 0.0, 0.0), 0)

    @parameterized.expand([("python", 1), ("numpy", np.int64(1))])
    def test_an_integer_of_any_kind_is_refused(self, _, scale):
        with self.assertRaisesRegex(ValueError, "scale cannot be an integer"):
            v2.penalty([tf.ones(2)], 0.5, scale)


class WriterTest(unittest.TestCase):
    def test_it_is_closed_if_the_step_raises(self):
        made, make = [], tf.summary.create_file_writer
        with (
            mock.patch.object(
                tf.summary,
                "create_file_writer",
                lambda path: made.append(make(path)) or made[0],
            ),
            self.assertRaisesRegex(ValueError, "Dimensions must be equal"),
        ):
            v2.summarize(np.ones([2, 3], "f"), np.ones([4, 2], "f"))
        with self.assertRaisesRegex(RuntimeError, "already closed"):
            made[0].as_default().__enter__()
