import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.contrib import CONTRIB, ONCE, classes, friend, fused, layer, refused
from tf1to2.parity import FalseFriend, Program
from tf1to2.parity.arrays import normal
from v1_graph import contrib_norms as v1
from v2_eager import contrib_norms as v2
from v2_eager import parallel
from v2_eager.numerics import batch_norms

MATRIX, IMAGES = normal("b", 16), normal("b", 4, 3, 6)
LEFT = np.random.RandomState(0).normal(1, 2, [67, 5]).astype("f")
RIGHT = np.random.RandomState(1).normal(-1, 1, [67, 5]).astype("f")

BATCHES = [LEFT[:8], RIGHT[:6], LEFT[8:]]


# --- Obvious replacements of contrib, with other numbers.


def biased_variance(batches, decay):
    """Averages the biased variances of the batches, as Keras and tf.layers do."""
    average, found = np.float32(1), []
    for batch in batches:
        average = decay * average + (1 - decay) * np.var(batch, 0)
        found.append(average.astype("f"))
    return found


def momentum_of_keras(batches):
    return v2.moving_variance(batches, 0.99)


def last_axis(name="net"):
    return v2.make_layer_norm(-1, name=name)


def epsilon_of_keras(groups, name="net"):
    return v2.make_group_norm(groups, epsilon=1e-3, name=name)


def of_both(units, decay=0.999, name="critic"):
    """Makes a critic that scores both batches in one call, concatenated."""
    critic = v2.make_critic(units, decay, name)

    def score(real, generated):
        scores = critic.score(critic.hidden(tf.concat([real, generated], 0)))
        return tuple(tf.split(scores, 2))

    return Called(critic, score)


class Called(tf.Module):
    """The variables of a module, and another function to call."""

    def __init__(self, module, function):
        super().__init__()
        self.module, self.function = module, function

    def __call__(self, *args):
        return self.function(*args)


def updates_forgotten(x, y, start, steps, rate, options):
    """Trains without updates of the moving statistics."""
    found = v2.train(x, y, start, steps, rate, options)
    for moment, value in (("mean", 0), ("variance", 1)):
        found["variables"][f"hidden/BatchNorm/moving_{moment}"][:] = value
    return found


ROWS, LABELS, WEIGHTS = classes(5)
CASES = [
    fused("make_batch_norm", "by default, a matrix", [MATRIX, True]),
    fused("make_batch_norm", "by default, images", [IMAGES, True], {"decay": 0.9}),
    fused("make_batch_norm", "in inference", [MATRIX, False], {"scale": True}, ONCE),
    fused(
        "make_batch_norm",
        "in inference, images and ReLU",
        [IMAGES, False],
        {"activation": "relu", "center": False},
        ONCE,
    ),
    fused(
        "make_batch_norm",
        "no bias of the mean",
        [MATRIX, True],
        {"zero_debias": True, "decay": 0.9, "activation": "tanh"},
        ONCE,
    ),
    layer("make_batch_norm", "sequences", [normal("b", 5, 16), True], {"scale": True}),
    layer(
        "make_batch_norm",
        "not fused, a matrix",
        [MATRIX, True],
        {"fused": False, "decay": 0.9, "epsilon": 1e-5, "name": "block"},
    ),
    layer(
        "make_batch_norm",
        "not fused, in inference",
        [IMAGES, False],
        {"fused": False},
        ONCE,
    ),
    Program("moving_variance", "matrices", [BATCHES], float32=True, skip=CONTRIB),
    Program(
        "moving_variance",
        "images",
        [[batch[:, np.newaxis, :, np.newaxis] for batch in BATCHES], 0.9],
        float32=True,
        skip=CONTRIB,
    ),
    Program("moving_variance", "not fused", [BATCHES, 0.75, False], skip=CONTRIB),
    FalseFriend(
        "moving_variance",
        "the variance of the batch",
        [BATCHES, 0.9],
        of="program",
        naive=biased_variance,
        because="the kernel takes matrices, too, and answers with the unbiased one",
        float32=True,
        skip=CONTRIB,
    ),
    FalseFriend(
        "moving_variance",
        "the momentum of Keras",
        [BATCHES],
        of="program",
        naive=momentum_of_keras,
        because="contrib's decay is 0.999, the momentum of Keras and of tf.layers 0.99",
        float32=True,
        skip=CONTRIB,
    ),
    fused(
        "make_critic",
        "real and generated",
        [normal("b", 5), normal("b", 5)],
        {"units": 8},
    ),
    fused(
        "make_critic",
        "a faster average",
        [LEFT, RIGHT],
        {"units": 6, "decay": 0.75, "name": "net/critic"},
        ONCE,
    ),
    friend(
        "make_critic",
        "one batch of both",
        [LEFT, RIGHT],
        of_both,
        "each call has moments of its own, and moves the averages towards them",
        {"units": 6, "decay": 0.75},
        make=fused,
    ),
    fused(
        "make_normalized",
        "training",
        [normal("b", 4, 5, 2), True],
        {"filters": 3, "units": 4},
    ),
    fused(
        "make_normalized",
        "inference",
        [normal("b", 4, 5, 2), False],
        {"filters": 3, "units": 4, "decay": 0.9, "name": "tower"},
        ONCE,
    ),
    layer("make_layer_norm", "all of an image", [IMAGES]),
    layer(
        "make_layer_norm",
        "the last axis, and ReLU",
        [normal("b", 5, 16)],
        {"begin_norm_axis": -1, "activation": "relu", "name": "block"},
    ),
    layer(
        "make_layer_norm",
        "a factor for every place",
        [normal("b", 5, 16)],
        {"begin_params_axis": 1, "center": False},
        ONCE,
    ),
    layer(
        "make_layer_norm", "a matrix, without gamma", [MATRIX], {"scale": False}, ONCE
    ),
    layer(
        "make_layer_norm",
        "float16",  # its epsilon is 1e-3
        [LEFT.astype("e") / 64],
        (),
        ONCE,
        float32=True,
    ),
    friend(
        "make_layer_norm",
        "the axis of Keras",
        [IMAGES],
        last_axis,
        "contrib normalizes over all of an example, Keras over the last axis",
    ),
    layer("make_instance_norm", "images", [IMAGES]),
    layer(
        "make_instance_norm",
        "sequences, without beta",
        [normal("b", 5, 16)],
        {"center": False, "epsilon": 1e-3, "name": "style"},
        ONCE,
    ),
    layer("make_instance_norm", "without gamma", [IMAGES], {"scale": False}, ONCE),
    layer("make_group_norm", "three groups", [IMAGES], {"groups": 3}),
    layer("make_group_norm", "the default 32", [normal("b", 3, 3, 64)], (), ONCE),
    layer(
        "make_group_norm",
        "channels first",
        [normal("b", 6, 4, 3)],
        {
            "groups": 2,
            "channels_axis": -3,
            "reduction_axes": (-2, -1),
            "epsilon": 1e-5,
            "name": "block",
        },
        ONCE,
    ),
    layer(
        "make_group_norm",
        "sequences, neither beta nor gamma",
        [normal("b", 5, 6)],
        {"groups": 3, "reduction_axes": [1], "center": False, "scale": False},
        ONCE,
    ),
    layer(
        "make_group_norm",
        "a group for every channel, which come first",
        [normal(6, 4, "b")],
        {"groups": 6, "channels_axis": -3, "reduction_axes": (-2, -1)},
        ONCE,
    ),
    friend(
        "make_group_norm",
        "the epsilon of Keras",
        [IMAGES],
        epsilon_of_keras,
        "contrib's epsilon is 1e-6, that of Keras 1e-3",
        {"groups": 3},
    ),
    Program(
        "train", "not fused", [*classes(), 10, 0.125, {"fused": False}], skip=CONTRIB
    ),
    Program(
        "train", "by default", [*classes(1), 10, 0.125], float32=True, skip=CONTRIB
    ),
    Program(
        "train",
        "Adam, clipped",
        [
            *classes(2),
            10,
            0.0625,
            {
                "fused": False,
                "optimizer": "Adam",
                "clip_gradients": 0.25,
            },
        ],
        skip=CONTRIB,
    ),
    Program(
        "train",
        "a rate that decays",  # the rate is float32 even if x is float64
        [*classes(4), 10, 0.125, {"decay": (3, 0.5)}],
        float32=True,
        skip=CONTRIB,
    ),
    Program(
        "train",
        "labels of a byte",
        [ROWS, LABELS.astype("uint8"), WEIGHTS, 2, 0.125, {"fused": False}],
        skip=CONTRIB,
    ),
    Program(
        "train",
        "a rate of 0",
        [*classes(5), 2, 0.0, {"fused": False}],
        skip=CONTRIB,
    ),
    *(
        Program(
            "train",
            f"{optimizer}, with multipliers",
            [
                *classes(3),
                4,
                0.125,
                {
                    "fused": False,
                    "optimizer": optimizer,
                    "multipliers": {"scores/biases": 0.0, "hidden/weights": 2.5},
                },
            ],
            skip=CONTRIB,
        )
        for optimizer in ("Momentum", "Adagrad", "RMSProp", "Ftrl")
    ),
    FalseFriend(
        "train",
        "updates forgotten",
        [*classes(1), 3, 0.125, {"fused": False}],
        of="program",
        naive=updates_forgotten,
        because="optimize_loss runs what is in the collection UPDATE_OPS, minimize not",
        skip=CONTRIB,
    ),
    refused(
        "make_batch_norm",
        "a matrix of float64",
        [np.zeros([2, 2]), True],
        "float64|double",
        TypeError,
    ),
    refused(
        "make_layer_norm",
        "an axis that there is not",
        [np.zeros([4, 2], "f")],
        "must be < rank",
        factory={"begin_norm_axis": 2},
    ),
    refused(
        "make_layer_norm",
        "an axis of beta that there is not",
        [np.zeros([4, 2], "f")],
        "must be < rank",
        factory={"begin_params_axis": 2},
    ),
    refused(
        "make_group_norm",
        "more groups than channels",
        [np.zeros([2, 2, 2, 6], "f")],
        "Invalid groups 32 for 6 channels",
    ),
    refused(
        "make_group_norm",
        "no whole groups",
        [np.zeros([2, 2, 2, 6], "f")],
        "6 channels is not commensurate with 4 groups",
        factory={"groups": 4},
    ),
    refused(
        "make_group_norm",
        "the channels among the axes",
        [np.zeros([2, 2, 2, 6], "f")],
        "mutually exclusive",
        factory={"groups": 2, "reduction_axes": (-2, -1)},
    ),
    refused(
        "make_group_norm",
        "no such axis",
        [np.zeros([2, 2, 2, 6], "f")],
        "Axis is out of bounds",
        factory={"groups": 2, "channels_axis": 4},
    ),
    refused(
        "train",
        "an integer for a rate",
        [*classes(), 1, 1],
        "earning.rate",
        of="program",
    ),
    refused(
        "train",
        "a rate below 0",
        [*classes(), 1, -0.5],
        "Invalid learning_rate",
        of="program",
    ),
    refused(
        "train",
        "an integer for a norm",
        [*classes(), 1, 0.5, {"clip_gradients": 1}],
        "Unknown type .* for clip_gradients",
        of="program",
    ),
    refused(
        "train",
        "another optimizer",
        [*classes(), 1, 0.5, {"optimizer": "Nadam"}],
        "Optimizer name should be one of",
        of="program",
    ),
]
PROOF = proof(v1, v2, CASES)


class ContribNormsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class OptimizeLossTest(unittest.TestCase):
    def step(self, variables, options, loss):
        """Takes one step with a learning rate of 1."""
        minimize = v2.OptimizeLoss(variables, 1.0, options)
        minimize(loss)
        return minimize

    @parameterized.expand(
        [
            ("rate", -1.0, "Invalid learning_rate"),
            ("optimizer", 1.0, "Optimizer name should be one of"),
        ]
    )
    def test_of_several_mistakes_1_15_tells(self, _, rate, match):
        options = {"optimizer": "Nadam", "clip_gradients": 1}
        with self.assertRaisesRegex(ValueError, match):
            v2.OptimizeLoss([tf.Variable([2.0])], rate, options)

    def test_what_it_keeps_is_no_weight(self):
        minimize = self.step([w := tf.Variable([2.0])], {}, lambda: tf.reduce_sum(w))
        kept = minimize.named()
        self.assertEqual(sorted(kept), ["OptimizeLoss/learning_rate", "global_step"])
        self.assertEqual([v.trainable for v in kept.values()], [False, False])
        self.assertEqual([w.numpy(), kept["global_step"].numpy()], [1, 1])

    def test_a_multiplier_of_rows_and_a_weight_without_a_gradient(self):
        table = tf.Variable([[1.0], [1.0], [1.0]], name="table")
        left_alone = tf.Variable(3.0, name="left_alone")
        self.step(
            [table, left_alone],
            {"multipliers": {"table": 0.25, "left_alone": 2.0}},
            lambda: tf.reduce_sum(tf.gather(table, [2, 0, 2])),
        )
        self.assertEqual(table.numpy().tolist(), [[0.75], [1], [0.5]])
        self.assertEqual(left_alone.numpy(), 3)


class StrategyTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("fused", {}, 4, 4.5),  # the unbiased variance of two rows is doubled
            ("not_fused", {"fused": False}, 4, 2.5),
            ("debiased", {"fused": False, "zero_debias_moving_mean": True}, 8, 2.5),
        ]
    )
    def test_statistics_are_the_means_of_all_replicas(self, _, options, *expected):
        strategy = parallel.mirrored()
        with strategy.scope():
            norm = batch_norms.ContribBatchNorm(0.5, **options)
            norm.build(1, tf.float32)
        rows = np.float32([[0], [4], [12], [16]])  # means of 2 and 14, variances of 4
        rows = tf.data.Dataset.from_tensor_slices(rows).batch(4)
        step = tf.function(lambda rows: strategy.run(norm, [rows]))
        for batch in strategy.experimental_distribute_dataset(rows):
            step(batch)
        found = [norm.moving_mean.numpy()[0], norm.moving_variance.numpy()[0]]
        self.assertEqual(found, list(expected))


class ShapesTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("batch_norm", v2.make_batch_norm(), [None, None]),
            ("layer_norm", v2.make_layer_norm(), [None, 4, None]),
            ("instance_norm", v2.make_instance_norm(), [None, 4, 4, None]),
            ("group_norm", v2.make_group_norm(2), [None, 4, 4, None]),
            ("group_norm_of_space", v2.make_group_norm(2), [None, None, 4, 4]),
            ("batch_norm", v2.make_batch_norm(), None),
            ("layer_norm", v2.make_layer_norm(), None),
            ("instance_norm", v2.make_instance_norm(), None),
            ("group_norm", v2.make_group_norm(2), None),
        ]
    )
    def test_sizes_that_must_be_known(self, slug, layer, shape):
        args = [True] if slug == "batch_norm" else []
        traced = tf.function(lambda x: layer(x, *args))
        with self.assertRaisesRegex(ValueError, "must be defined|undefined"):
            traced.get_concrete_function(tf.TensorSpec(shape))

    def test_a_norm_updates_in_the_step_that_says_so(self):
        norm = batch_norms.ContribBatchNorm(decay=0.5)
        x = tf.constant(np.random.RandomState(4).normal(3, 2, [64, 6]), tf.float32)
        norm.build(6, x.dtype)

        @tf.function
        def discriminate():
            norm.update = True
            return norm(x)

        @tf.function
        def generate():
            norm.update = False
            return norm(x)

        means = [norm.moving_mean.numpy()]
        for step in (discriminate, generate, generate, discriminate, generate):
            step()
            means.append(norm.moving_mean.numpy())
        moved = [(one != other).all() for one, other in zip(means, means[1:])]
        self.assertEqual(moved, [True, False, False, True, False])

    def test_a_norm_takes_arrays(self):
        x = np.random.RandomState(4).normal(size=[8, 6]).astype("f")
        found, expected = (
            batch_norms.ContribBatchNorm()(rows) for rows in (x, tf.constant(x))
        )
        np.testing.assert_array_equal(found, expected)

    def test_a_norm_of_a_group_is_of_each_example(self):
        norm = v2.make_group_norm(2)
        y = norm(tf.constant(np.random.RandomState(4).normal(3, 2, [67, 4, 3, 6])))
        groups = np.reshape(y, [67, 12, 2, 3])
        self.assertLess(np.abs(groups.mean((1, 3))).max(), 1e-12)
        self.assertLess(np.abs(groups.var((1, 3)) - 1).max(), 1e-5)


class AxesTest(unittest.TestCase):
    """An axis that is out of range raises; no other axis is used instead."""

    def test_layer_norm(self):
        with self.assertRaisesRegex(ValueError, "must be >= -3"):
            v2.make_layer_norm(-4)(tf.ones([2, 3, 4]))

    @parameterized.expand([("past", (5, 2)), ("next", (4, 2)), ("before", (-5, 2))])
    def test_group_norm(self, _, axes):
        norm = v2.make_group_norm(2, reduction_axes=axes)
        with self.assertRaisesRegex(ValueError, f"out of bounds: {axes[0]}"):
            norm(tf.ones([2, 3, 4, 6]))
