import unittest

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from tf1to2.parity import FalseFriend, Layer, Program
from tf1to2.parity.arrays import normal
from v1_graph import slim_networks as v1
from v2_eager import slim_networks as v2

CONTRIB = {"graph": "contrib is in 1.15 only"}
ONCE = {way: "another case of the pair" for way in ("dynamic", "xla")}
EAGER = {**ONCE, "function": "another case of the pair"}
NARROW = {"xla": "XLA rounds otherwise, and float64 would not be wider"}
BLOCKS = [("block1", 4, 2, 2), ("block2", 6, 2, 1)]
DEPTHS = [[6], [4, 8], [3, 5], 4]


def layer(name, slug, args, factory=(), skip=(), cls=Layer, **options):
    factory, skip = dict(factory), {**CONTRIB, **dict(skip)}
    options.setdefault("sizes", [{"b": 3}, {"b": 67}])
    return cls(name, slug, args, factory=factory, skip=skip, **options)


def fused(name, slug, args, factory=(), skip=(), **options):
    """A case of the fused kernel, which computes in float32 alone."""
    skip = {**NARROW, **dict(skip)}
    return layer(name, slug, args, factory, skip, float32=True, **options)


def friend(name, slug, args, naive, because, factory=(), **options):
    more = {"naive": naive, "because": because, "cls": FalseFriend, "of": "layer"}
    return layer(name, slug, args, factory, EAGER, **more, **options)


def checkpoint(seed, blocks):
    """What a ResNet v2 of the zoo had in its checkpoint, with numbers of its own."""
    random = np.random.RandomState(seed)
    held = {"global_step": np.int64(1000)}

    def conv(path, size, channels, units, normalized=False):
        scale = (2 / (size * size * channels)) ** 0.5
        kernel = random.normal(0, scale, [size, size, channels, units])
        held[f"{path}/weights"] = kernel.astype("f")
        if normalized:
            norm(f"{path}/BatchNorm", units)
        else:
            held[f"{path}/biases"] = random.normal(size=[units]).astype("f")

    def norm(path, units):
        for name, low, high in (
            ("beta", -1, 1),
            ("gamma", 0.5, 2),
            ("moving_mean", -1, 1),
            ("moving_variance", 0.5, 4),
        ):
            held[f"{path}/{name}"] = random.uniform(low, high, [units]).astype("f")

    conv("resnet_v2/conv1", 7, 3, 64)
    channels = 64
    for scope, depth, count, _ in blocks:
        for i in range(count):
            path = f"resnet_v2/{scope}/unit_{i + 1}/bottleneck_v2"
            norm(f"{path}/preact", channels)
            if channels != 4 * depth:
                conv(f"{path}/shortcut", 1, channels, 4 * depth)
            conv(f"{path}/conv1", 1, channels, depth, True)
            conv(f"{path}/conv2", 3, depth, depth, True)
            conv(f"{path}/conv3", 1, depth, 4 * depth)
            channels = 4 * depth
    norm("resnet_v2/postnorm", channels)
    conv("resnet_v2/logits", 1, channels, 1001)
    return held


def images(seed, size=18):
    random = np.random.RandomState(seed)
    labels = random.randint(0, 3, [8])
    return [random.normal(size=[8, size, size, 3]).astype("f"), labels]


# --- What is written in place of slim.


def same(blocks, classes, fused=None, name="net"):
    """A network whose strided convolutions have SAME, as Keras writes it."""
    net = v2.make_resnet_v2(blocks, classes, fused=fused, name=name)
    for units in net.blocks.values():
        for unit in units:
            if unit.stride > 1:
                unit.conv2 = Same(unit.conv2)
    return net


class Same(tf.Module):
    """A strided convolution of what was padded before, which takes that off again."""

    def __init__(self, conv):
        super().__init__()
        self.conv, self.path, conv.padding = conv, conv.path, "SAME"

    def __call__(self, x, is_training):
        return self.conv(x[:, 1:-1, 1:-1], is_training=is_training)


def with_batch_norm(depths, fused=None, name="InceptionV1"):
    """A block whose averages follow as those of Keras do."""
    net = v2.make_inception_block(depths, fused=fused, name=name)
    for branch in net.branches:
        for conv in branch:
            conv.normalizer.momentum = 0.99
    return net


TUNE = {"fused": False}
CASES = [
    layer(
        "make_resnet_v2",
        "training",
        [normal("b", 18, 18, 3), True],
        {"blocks": BLOCKS, "classes": 5, "fused": False},
        ONCE,
        sizes=[{"b": 3}],
    ),
    layer(
        "make_resnet_v2",
        "inference, without logits",
        [normal("b", 17, 17, 3), False],
        {"blocks": BLOCKS[:1], "weight_decay": 0.5, "fused": False, "name": "tower"},
        sizes=[{"b": 3}],
    ),
    fused(
        "make_resnet_v2",
        "training, fused",
        [normal("b", 10, 10, 3), True],
        {"blocks": BLOCKS, "classes": 5},
    ),
    friend(
        "make_resnet_v2",
        "SAME where sides are even",
        [normal("b", 18, 18, 3), False],
        same,
        "the zoo pads as much before as after, a strided SAME less before",
        {"blocks": [("block1", 4, 1, 2)], "classes": 5, "fused": False},
        sizes=[{"b": 3}],
    ),
    layer(
        "make_inception_block",
        "training",
        [normal("b", 6, 5, 4), True],
        {"depths": DEPTHS, "fused": False},
    ),
    fused(
        "make_inception_block",
        "inference, fused",
        [normal("b", 6, 5, 4), False],
        {"depths": DEPTHS, "weight_decay": 0.5, "name": "net"},
    ),
    friend(
        "make_inception_block",
        "the momentum of Keras",
        [normal("b", 6, 5, 4), True],
        with_batch_norm,
        "the zoo's decay is 0.9997, the momentum of Keras 0.99",
        {"depths": DEPTHS, "fused": False},
    ),
    Program(
        "fine_tune",
        "ten steps",
        [*images(0), checkpoint(1, BLOCKS), BLOCKS, 3, 10, 0.0625],
        TUNE,
        skip=CONTRIB,
    ),
    Program(
        "fine_tune",
        "ten steps, fused",
        [*images(2), checkpoint(3, BLOCKS), BLOCKS, 3, 10, 0.0625],
        float32=True,
        skip=CONTRIB,
    ),
]
PROOF = proof(v1, v2, CASES)


class SlimNetworksTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()
