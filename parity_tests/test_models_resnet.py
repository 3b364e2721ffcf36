import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import models, proof
from parity_tests.contrib import CONTRIB
from tf1to2.parity import FalseFriend, Program, Raises, structure
from v1_graph import models_resnet as v1
from v2_eager import models_resnet as v2
from v2_eager.numerics import restore


def pictures(seed, *shape):
    """Draws noisy images of six patterns; classes are numbers below 6.

    Args:
        seed: seed of the draws.
        *shape: leading dimensions, such as the number of batches and of images in each.

    Returns:
        [images, classes], float32 and int64 arrays.
    """
    random = np.random.RandomState(seed)
    coarse = np.random.RandomState(5).normal(size=[6, 4, 4, 3])
    patterns = coarse.repeat(4, axis=1).repeat(4, axis=2)
    classes = random.randint(0, 6, shape)
    images = patterns[classes] + random.normal(0, 1.0, [*shape, 16, 16, 3])
    return [images.astype("f"), classes]


NORM = "beta", "gamma", "moving_mean", "moving_variance"
# Scope of a unit, channels of its input, of its output, and in between.
UNITS = [
    ("block1/unit_1", 8, 16, 4),
    ("block1/unit_2", 16, 16, 4),
    ("block2/unit_1", 16, 32, 8),
]


def normed(scope, channels):
    return {f"{scope}/{name}": [channels] for name in NORM}


def shapes(version):
    """Lists the variables of a checkpoint of slim: {name: shape}."""
    network = f"resnet_v{version}_small"

    def conv(scope, size, before, channels, has_norm=True):
        kernel = {f"{scope}/weights": [size, size, before, channels]}
        if has_norm:
            return {**kernel, **normed(f"{scope}/BatchNorm", channels)}
        return {**kernel, f"{scope}/biases": [channels]}

    first = version == 1
    found = conv(f"{network}/conv1", 7, 3, 8, first)
    for unit, before, depth, inner in UNITS:
        scope = f"{network}/{unit}/bottleneck_v{version}"
        if not first:
            found |= normed(f"{scope}/preact", before)
        if before != depth:
            found |= conv(f"{scope}/shortcut", 1, before, depth, first)
        found |= conv(f"{scope}/conv1", 1, before, inner)
        found |= conv(f"{scope}/conv2", 3, inner, inner)
        found |= conv(f"{scope}/conv3", 1, inner, depth, first)
    if not first:
        found |= normed(f"{network}/postnorm", 32)
    return found | conv(f"{network}/logits", 1, 32, 3, False)


def start(version, step=0):
    """Draws a checkpoint whose norms and biases are not zeros and ones.

    Every path from a bias of v2 but that of the logits ends in a norm, which subtracts
    it: from 0 the bias would be rounding.
    """
    variables = shapes(version)
    values = models.start(variables, {"Momentum": 0.0}, global_step=np.int64(step))
    for name, shape in variables.items():
        if name.endswith((*NORM, "biases")):
            drawn = structure.generator(name).uniform(-0.25, 0.25, shape)
            values[name] = (values[name] + drawn).astype("f")
    return values


V1, V2 = "resnet_v1_small", "resnet_v2_small"
IMAGES, CLASSES = pictures(0, 6, 16)
TEST, TEST_CLASSES = pictures(1, 64)
SHAPES = shapes(1)
START = start(1)
MODEL = models.Model([V1, IMAGES, CLASSES % 3], START, CONTRIB)
SECOND = models.Model([V2, IMAGES, CLASSES % 3], start(2), CONTRIB)
LATER = models.Model(MODEL.data, start(1, 25), CONTRIB)
BROKEN = models.Model([V1, IMAGES * np.float32(np.nan), CLASSES % 3], START, CONTRIB)
TUNED = [V1, IMAGES, CLASSES, 6, 10, START]

# --- Wrong programs that people write instead of the right page.


def train_with_l2_of_keras(*args):
    def penalties(net):
        l2 = tf.keras.regularizers.L2(v2.WEIGHT_DECAY)
        ends = "weights:0", "biases:0"
        return [l2(v) for v in net.trainable_variables if v.name.endswith(ends)]

    with mock.patch.object(v2.ResNet, "penalties", penalties):
        return v2.train(*args)


def train_with_same_padding(*args):
    def product(conv, x):
        return tf.nn.conv2d(x, conv.weights, conv.stride, "SAME")

    with mock.patch.object(v2.Conv, "product", product):
        return v2.train(*args)


def train_with_early_stride(*args):
    """Strides in the first unit of a block, as `keras.applications.ResNet50` does."""
    unit = v2.BottleneckV1

    class Early(unit):
        def __init__(self, path, depth, inner, stride, projects, norm):
            stride = 2 if path.endswith("block1/unit_1") else 1
            super().__init__(path, depth, inner, stride, projects, norm)

    with mock.patch.object(v2, "BottleneckV1", Early):
        return v2.train(*args)


def fine_tune_trainable_variables(model_name, images, labels, classes, steps, path):
    """Restores no moving statistics."""
    by_name = restore.by_name

    def trainable(path, variables):
        by_name(path, {n: v for n, v in variables.items() if v.trainable})

    with mock.patch.object(restore, "by_name", trainable):
        return v2.fine_tune(model_name, images, labels, classes, steps, path)


WRONG = [
    (
        "l2 of Keras",
        train_with_l2_of_keras,
        "Keras' L2 has no factor 1/2, so that the weights decay twice as fast",
    ),
    (
        "SAME padding with a stride",
        train_with_same_padding,
        "an even image is padded by 2 and 3 pixels, not by 3 and 3",
    ),
    (
        "stride in the first unit",
        train_with_early_stride,
        "slim's stride is in the last unit of a block",
    ),
]
CASES = [
    *MODEL.cases(evaluate=[V1, TEST, TEST_CLASSES % 3], export=[V1, TEST[:2]]),
    *(SECOND.train(steps, f"v2, steps: {steps}") for steps in models.STEPS),
    SECOND.case("evaluate", "v2", [V2, TEST, TEST_CLASSES % 3, SECOND.start]),
    SECOND.case("export", "v2", [V2, TEST[:2], SECOND.start, "folder"]),
    *(
        Program(
            "train",
            f"initial values, {name}",
            [name, IMAGES, CLASSES % 3, 0],
            exact=True,
            skip=CONTRIB,
        )
        for name in (V1, V2)
    ),
    LATER.train(10, "from step 25, over a fall of the rate"),
    MODEL.case("fine_tune", "six classes, not three", TUNED),
    BROKEN.train(
        1,
        "images that are NaN",
        Raises,
        of="program",
        match="LossTensor is inf or nan",
        **dict.fromkeys(("graph", "eager", "function"), tf.errors.InvalidArgumentError),
    ),
    *(
        MODEL.train(5, slug, FalseFriend, of="program", naive=naive, because=because)
        for slug, naive, because in WRONG
    ),
    MODEL.case(
        "fine_tune",
        "trainable variables",
        TUNED,
        FalseFriend,
        of="program",
        naive=fine_tune_trainable_variables,
        because="the moving statistics are variables, but they are not trainable",
    ),
]
PROOF = proof(v1, v2, CASES)


class ModelsResnetTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()
