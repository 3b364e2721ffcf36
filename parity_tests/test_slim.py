import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.contrib import (
    CONTRIB,
    EAGER,
    NARROW,
    ONCE,
    friend,
    fused,
    layer,
    refused,
)
from tf1to2.parity import FalseFriend, Op, Program, Raises
from tf1to2.parity.arrays import integers, normal, uniform
from v1_graph import slim as v1
from v2_eager import slim as v2
from v2_eager.numerics import losses

LOGITS = np.random.RandomState(0).standard_normal([67, 5]).astype("f")
LABELS = np.random.RandomState(1).randint(0, 5, [67])
KERNEL = np.random.RandomState(2).standard_normal([40, 30]).astype("f")
NETWORK = {"filters": 3, "classes": 4, "scale": 0.25}


def op(name, slug, args, skip=(), cls=Op, **options):
    """Makes a case of a function that computes in float32 for inputs of any dtype."""
    skip = {**CONTRIB, **NARROW, **dict(skip)}
    return cls(name, slug, args, float32=True, skip=skip, **options)


# --- Wrong programs that people write in place of slim.


def merged(filters, classes, scale, fused=None, name="net"):
    """Makes a network whose inner `normalizer_params` are merged with the outer."""
    net = v2.make_network(filters, classes, scale, fused=fused, name=name)
    for conv in net.conv2:
        conv.normalizer.epsilon = 0.01
    return net


def outer(filters, classes, scale, fused=None, name="net"):
    """Makes a network in which the outer scope's arguments win."""
    net = v2.make_network(filters, classes, scale, fused=fused, name=name)
    for conv in net.conv2:
        conv.activation = tf.nn.relu
    return net


def with_relu(units, size, name="net"):
    """Makes a depthwise convolution with Keras' default activation: none."""
    net = v2.make_separable_conv2d(units, size, name=name)
    net.activation = None
    return net


def by_scope(scope, suffix, exclude):
    """Finds variables as if a scope were a path, not a pattern of its beginning."""
    found = v2.find_variables(scope, suffix, exclude)
    for key in ("scope", "suffix", "trainable"):
        found[key] = [name for name in found[key] if name.startswith(f"{scope}/")]
    return found


def labels_first(predictions, labels, weights=1.0):
    return v2.errors(labels, predictions, weights)


def by_tf_losses(predictions, labels, weights=1.0):
    found = v2.errors(predictions, labels, weights)
    found["pairwise"] = losses.mean_pairwise_squared_error(labels, predictions, weights)
    return found


CASES = [
    layer(
        "make_network",
        "training",
        [normal("b", 7, 6, 2), True],
        {**NETWORK, "fused": False},
    ),
    layer(
        "make_network",
        "inference",
        [normal("b", 7, 6, 2), False],
        {**NETWORK, "fused": False, "decay": 0.75, "name": "tower"},
        ONCE,
    ),
    fused("make_network", "training, fused", [normal("b", 7, 6, 2), True], NETWORK),
    fused(
        "make_network",
        "inference, fused",
        [normal("b", 9, 7, 3), False],
        {"filters": 8, "classes": 5, "scale": 0.5},
        ONCE,
    ),
    friend(
        "make_network",
        "the activation of the outer scope",
        [normal("b", 7, 6, 2), True],
        outer,
        "an inner arg_scope overrides an outer one, argument by argument",
        {**NETWORK, "fused": False},
    ),
    friend(
        "make_network",
        "the parameters of both scopes",
        [normal("b", 7, 6, 2), True],
        merged,
        "an inner normalizer_params takes the place of the outer dict",
        {**NETWORK, "fused": False},
    ),
    layer(
        "make_separable_conv2d",
        "by default",
        [normal("b", 5, 6, 3)],
        {"units": 4, "size": 3},
    ),
    layer(
        "make_separable_conv2d",
        "two of each, strided",
        [normal("b", 6, 5, 8)],
        {"units": 5, "size": [3, 2], "stride": 2, "multiplier": 2, "name": "block"},
        ONCE,
    ),
    layer(
        "make_separable_conv2d",
        "dilated",
        [normal("b", 9, 8, 2)],
        {"units": 3, "size": 3, "rate": 2},
        ONCE,
    ),
    layer(
        "make_separable_conv2d",
        "of each channel alone",
        [normal("b", 5, 6, 3)],
        {"units": None, "size": 3, "multiplier": 2, "stride": [2, 2]},
        ONCE,
    ),
    layer(
        "make_separable_conv2d",
        "of each channel, normalized",
        [normal("b", 5, 6, 3)],
        {"units": None, "size": 3, "decay": 0.9, "fused": False},
        ONCE,
    ),
    fused(
        "make_separable_conv2d",
        "normalized, fused",
        [normal("b", 5, 6, 3)],
        {"units": 4, "size": 3, "decay": 0.75},
    ),
    friend(
        "make_separable_conv2d",
        "no activation",
        [normal("b", 5, 6, 3)],
        with_relu,
        "slim's layers end with a ReLU, those of Keras do not",
        {"units": 4, "size": 3},
    ),
    layer(
        "make_conv2d_transpose",
        "twice as large",
        [normal("b", 5, 4, 3)],
        {"units": 4, "size": 3, "stride": 2},
    ),
    layer(
        "make_conv2d_transpose",
        "valid",
        [normal("b", 5, 4, 8)],
        {
            "units": 4,
            "size": [3, 2],
            "stride": [1, 3],
            "padding": "VALID",
            "name": "up",
        },
        ONCE,
    ),
    Program(
        "find_variables",
        "of a layer",
        ["conv1/", "weights", ["logits/", "global_step"]],
        skip=CONTRIB,
    ),
    Program(
        "find_variables",
        "of several, by a pattern",
        ["conv|logits", "BatchNorm/beta", ["conv1", "logits.aux"]],
        skip=CONTRIB,
    ),
    Program("find_variables", "of all", [None, "biases", []], skip=CONTRIB),
    FalseFriend(
        "find_variables",
        "a scope that is one",
        ["conv1", "weights", ["logits"]],
        of="program",
        naive=by_scope,
        because='the scope is the beginning of a name, so that "conv1" has conv10, too',
        differs="structure",
        skip=CONTRIB,
    ),
    op("compute_weighted_loss", "a mean", [normal("n", 3)]),
    op("compute_weighted_loss", "a scalar", [normal("n", 3), 0.75], ONCE),
    op("compute_weighted_loss", "nothing", [normal("n", 3), 0.0], ONCE),
    op(
        "compute_weighted_loss",
        "a weight for each example",
        [normal("n", 3, 2), integers("n", high=3)],
    ),
    op(
        "compute_weighted_loss",
        "a column of weights",
        [normal("n", 3), integers("n", 1, high=3)],
        ONCE,
    ),
    op(
        "compute_weighted_loss",
        "a weight for each element",
        [normal("n", 3), integers("n", 3, high=3)],
        ONCE,
    ),
    op(
        "compute_weighted_loss",
        "a list of one weight",
        [normal("n", 3), np.array([2.0], "f")],
        ONCE,
    ),
    op(
        "compute_weighted_loss",
        "a list of one weight, taken for a scalar",
        [LOGITS, np.array([1.0], "f")],
        EAGER,
        FalseFriend,
        naive=lambda x, weights: v2.compute_weighted_loss(x, weights[0]),
        because="a weight in a list is counted once, and the sum is no mean",
    ),
    op("cross_entropies", "a mean", [normal("n", 5), integers("n", high=5)]),
    op(
        "cross_entropies",
        "weighted and smoothed",
        [LOGITS, LABELS, LABELS.astype("f"), 0.125],
        ONCE,
    ),
    op(
        "errors",
        "a mean",
        [uniform("n", 3, low=0.01, high=0.99), integers("n", 3, high=2)],
    ),
    op(
        "errors",
        "weighted",
        [
            uniform("n", 3, low=0.01, high=0.99),
            integers("n", 3, high=2),
            integers("n", high=3),
        ],
        ONCE,
    ),
    op(
        "errors",
        "a weight for each example, in a column",
        [
            uniform("n", 3, low=0.01, high=0.99),
            integers("n", 3, high=2),
            integers("n", 1, high=3),
        ],
        ONCE,
    ),
    op(
        "errors",
        "a weight for each element, as many as examples",
        [
            uniform(5, 5, low=0.01, high=0.99),
            integers(5, 5, high=2),
            integers(5, 5, high=3),
        ],
        ONCE,
    ),
    op(
        "errors",
        "the order of tf.losses",
        [uniform("n", 3, low=0.01, high=0.99), integers("n", 3, high=2)],
        EAGER,
        FalseFriend,
        naive=labels_first,
        because="slim's losses take predictions first, tf.losses labels",
    ),
    op(
        "errors",
        "the pairs of tf.losses",
        [uniform("n", 3, low=0.01, high=0.99), integers("n", 3, high=2)],
        EAGER,
        FalseFriend,
        naive=by_tf_losses,
        because="slim divides by n squared, tf.losses by n times n - 1",
    ),
    Program(
        "total_loss",
        "three and a penalty",
        [LOGITS, LABELS, KERNEL, 0.001],
        float32=True,
        skip=CONTRIB,
    ),
    refused(
        "make_separable_conv2d",
        "an image without a batch",
        [np.zeros([3, 3, 1], "f")],
        "ndim=4|rank 4",
        factory={"units": 2, "size": 3},
    ),
    refused(
        "make_conv2d_transpose",
        "another padding",
        [np.zeros([1, 3, 3, 1], "f")],
        "padding",
        factory={"units": 2, "size": 3, "padding": "FULL"},
    ),
    Raises(
        "compute_weighted_loss",
        "weights of another size",
        [np.zeros([4, 3], "f"), np.ones([3], "f")],
        graph=ValueError,
        eager=tf.errors.InvalidArgumentError,
        function=ValueError,
        match="must be equal|Incompatible shapes",
        skip=CONTRIB,
    ),
]
PROOF = proof(v1, v2, CASES)


class SlimTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class ShapesTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("separable_conv2d", v2.make_separable_conv2d(2, 3)),
            ("conv2d_transpose", v2.make_conv2d_transpose(2, 3)),
        ]
    )
    def test_variables_need_the_channels(self, _, layer):
        with self.assertRaisesRegex(ValueError, "last dimension.*must be defined"):
            tf.function(layer).get_concrete_function(tf.TensorSpec([None, 4, 4, None]))

    @parameterized.expand(
        [
            ("of_examples", [4, 3], [4, 1], 20.0),
            ("of_steps", [2, 3, 2], [2, 3, 1], 28.583334),
            ("a_column", [4], [4, 1], 7.5),
            ("of_elements", [4, 3], [4, 3], 54.166668),  # 1.15.5 raises
        ]
    )
    def test_weights_of_unknown_width(self, _, shape, narrow, expected):
        """The expected values come from the real 1.15.5, for known shapes as well."""
        losses, weights = (
            np.arange(1, 1 + np.prod(s), dtype="f").reshape(s) for s in (shape, narrow)
        )
        unknown = [tf.TensorSpec([None] * a.ndim) for a in (losses, weights)]
        loss = tf.function(v2.compute_weighted_loss, input_signature=unknown)
        self.assertEqual(loss(losses, weights), np.float32(expected))
        known = v2.compute_weighted_loss(losses, weights)
        self.assertEqual(known, np.float32(expected))

    def test_ranks_must_be_known(self):
        any_rank, vector = tf.TensorSpec(None), tf.TensorSpec([None])
        for specs in ([any_rank, vector], [vector, any_rank]):
            with self.assertRaisesRegex(ValueError, "ranks .* must be known"):
                tf.function(v2.compute_weighted_loss).get_concrete_function(*specs)

    def test_a_layer_that_is_not_trained(self):
        layer = v2.Conv2D("conv", 2, 3, trainable=False)
        layer(np.zeros([1, 4, 4, 2], "f"))
        self.assertEqual([v.trainable for v in layer.variables], [False, False])


class PairwiseTest(unittest.TestCase):
    ROWS = [[1.0, 2.0, 4.0, 8.0], [3.0, 1.0, 4.0, 1.0]]

    @parameterized.expand(
        [
            ("one of an example", ROWS, [[2.0], [0.0]], -560.0),
            ("one of all", ROWS[:1], 2.0, 28.75),
            ("some 0", [[1.0, 2.0], [3.0, 5.0]], [[1.0, 0.0], [1.0, 1.0]], -14.0),
        ]
    )
    def test_weights_count_by_example(self, _, predictions, weights, expected):
        """The expected values come from a run of the real 1.15.5."""
        predictions, weights = tf.constant(predictions), tf.constant(weights)
        labels = tf.zeros_like(predictions)
        found = v2.mean_pairwise_squared_error(predictions, labels, weights)
        self.assertEqual(found.numpy(), expected)
