import pathlib
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from parameterized import parameterized

from parity_tests import proof
from parity_tests.contrib import CONTRIB, EAGER, ONCE, friend, fused, layer, refused
from tf1to2.parity import FalseFriend, Op, Program, Raises
from tf1to2.parity.arrays import normal
from tf1to2.parity.recordings import Recording
from v1_graph import slim_networks as v1
from v2_eager import slim_networks as v2
from v2_eager.numerics.batch_norms import ContribBatchNorm
from v2_eager.numerics.layers import Conv2D
from v2_eager.numerics.restore import named

BLOCKS = [("block1", 2, 2, 2), ("block2", 3, 1, 1)]
RANDOM = np.random.RandomState(21)
IMAGES = RANDOM.normal(0.5, 2, [8, 33, 33, 3]).astype("f")
LABELS = RANDOM.randint(0, 3, [8])
NEW_LABELS = RANDOM.randint(0, 5, [4])
RESNET = {"blocks": BLOCKS, "root": 4, "classes": 3}
DEEP = {"blocks": [("block1", 2, 2, 2), ("block2", 2, 2, 2), ("block3", 2, 1, 1)]}
INCEPTION = {"base": 3, "classes": 4, "keep_prob": 1.0}
NAMES = [["net/conv1"], [], ["net/unit_1/", "net/block1"], ["net/conv1"]]
WITH_NAN = RANDOM.normal(size=[2, 5, 4, 3]).astype("f")
WITH_NAN[0, 2, 2] = np.nan
WRITTEN = {
    **CONTRIB,
    "eager": "the bytes are those of another TensorFlow",
    "function": "the bytes are those of another TensorFlow",
}
SLUG = "its files"


def start():
    """Returns initial values of all variables; weights by He's initializer."""
    model = v2.ResNetV2("resnet_v2", BLOCKS, 4, 3)
    model(tf.zeros([1, 33, 33, 3]), False)
    draw = np.random.RandomState(5).normal
    return {
        name: draw(0, (2 / np.prod(v.shape[:-1])) ** 0.5, v.shape).astype("f")
        for name, v in sorted(named(model).items())
        if name.endswith("weights")
    }


def genuine():
    """Returns the recorded files that the real TensorFlow 1.15.5 wrote.

    If the left page changes and writes other files, run `make upkeep` twice: once for
    the files, and once for the cases that read them.
    """
    path = pathlib.Path(__file__).parent / "golden" / "slim_networks.npz"
    number = Recording(path, v1).about["entries"][f"train_classifier, {SLUG}"]["number"]
    prefix = f"{number}:outputs/files/"
    with np.load(path) as store:
        return {n[len(prefix) :]: store[n] for n in store.files if n.startswith(prefix)}


START = {**start(), "resnet_v2/logits/biases": np.zeros([3], "f")}
FILES = Program(
    "train_classifier",
    SLUG,
    [IMAGES, LABELS, BLOCKS, START, 10, 0.0625, None, True],
    float32=True,
    skip=WRITTEN,
)
FEW, ONE = [{"b": 2}, {"b": 3}], [{"b": 2}]
POSITIVE = {
    "gradient": "a case's weights are positive, as all channels are then: what beta "
    "adds the next norm subtracts, and its gradient is noise of 3e-15"
}
GIVEN = genuine()
LAST = ["resnet_v2/logits"]
FIVE = {
    "resnet_v2/logits/weights": RANDOM.normal(size=[1, 1, 12, 5]).astype("f"),
    "resnet_v2/logits/biases": RANDOM.normal(size=[5]).astype("f"),
}
OTHERS = [GIVEN, IMAGES[:4, ::-1]]
TUNED = [*OTHERS, NEW_LABELS, BLOCKS, FIVE, LAST, LAST]

# --- Wrong programs that people write in place of slim.


def one_name_each(x, aliases):
    """Keeps only the last alias of each end point."""
    return v2.collect_named_outputs(x, [names[-1:] for names in aliases])


def strided(units, size, stride=1, rate=1, name="root"):
    """Makes a convolution with TensorFlow's SAME padding."""
    return Conv2D(f"{name}/conv1", units, size, stride, rate=rate)


def keras_norms(blocks, root, classes, fused=None, name="resnet_v2"):
    """Makes a network whose batch norms have Keras' epsilon."""
    net = v2.make_resnet_v2(blocks, root, classes, fused=fused, name=name)
    for module in net.submodules:
        if isinstance(module, ContribBatchNorm):
            module.epsilon = 0.001
    return net


class CountingZeros(v2.Inception):
    """An Inception network whose average pooling counts the padding."""

    def __call__(self, x, is_training):
        padded = [[0, 0], [1, 1], [1, 1], [0, 0]]
        pool = tf.nn.avg_pool2d

        def counting(y, *_):
            return pool(tf.pad(y, padded), 3, 1, "VALID")

        with mock.patch.object(tf.nn, "avg_pool2d", counting):
            return super().__call__(x, is_training)


def counting_zeros(base, classes, keep_prob=0.8, fused=None, name="InceptionV3"):
    return CountingZeros(name, base, classes, keep_prob, fused)


def frozen(files, x, y, blocks, start, exclude, trained, steps):
    """Runs batch norms in inference mode if they are not trained, as Keras does."""

    class Frozen(v2.ResNetV2):
        def __call__(self, x, is_training):
            return super().__call__(x, False)

    with mock.patch.object(v2, "ResNetV2", Frozen):
        return v2.fine_tune(files, x, y, blocks, start, exclude, trained, steps)


CASES = [
    Op("collect_named_outputs", "a network", [normal("n", 3), NAMES], skip=CONTRIB),
    Op(
        "collect_named_outputs",
        "nothing is kept",
        [normal("n", 3), NAMES, None],
        skip={**CONTRIB, **ONCE},
    ),
    FalseFriend(
        "collect_named_outputs",
        "a name for each",
        [normal("n", 3), NAMES],
        naive=one_name_each,
        because="the last unit of a block is the block: one output, two names",
        differs="structure",
        skip={**CONTRIB, **EAGER},
    ),
    Op("subsample", "every second", [normal("b", 7, 6, 2), 2], skip=CONTRIB),
    Op("subsample", "all", [normal("b", 5, 4, 2), 1], skip={**CONTRIB, **ONCE}),
    FalseFriend(
        "subsample",
        "by a slice, of NaN",
        [WITH_NAN, 2],
        naive=lambda x, factor: x[:, ::factor, ::factor],
        because="the pool's kernel begins with -3.4e38, and NaN is not larger",
        exact=True,
        skip={**CONTRIB, **EAGER},
    ),
    layer(
        "make_conv2d_same",
        "even sides",
        [normal("b", 8, 10, 3)],
        {"units": 4, "size": 3, "stride": 2},
    ),
    layer(
        "make_conv2d_same",
        "seven wide, every third",
        [normal("b", 9, 8, 3)],
        {"units": 4, "size": 7, "stride": 3, "name": "net"},
        ONCE,
    ),
    layer(
        "make_conv2d_same",
        "dilated",
        [normal("b", 8, 9, 2)],
        {"units": 3, "size": 3, "rate": 2},
        ONCE,
    ),
    friend(
        "make_conv2d_same",
        "SAME with a stride, even sides",
        [normal("b", 8, 10, 3)],
        strided,
        "SAME pads by the size of the image: here after it, and not before",
        {"units": 4, "size": 3, "stride": 2},
    ),
    layer(
        "make_resnet_v2",
        "inference",
        [normal("b", 33, 33, 3), False],
        {**RESNET, "fused": False},
        {"xla": "make_inception_block is compiled, which is quicker"},
        sizes=FEW,
    ),
    layer(
        "make_resnet_v2",
        "training",
        [normal("b", 33, 33, 3), True],
        {**RESNET, "fused": False},
        {**EAGER, **POSITIVE},
        sizes=ONE,
    ),
    layer(
        "make_resnet_v2",
        "dilated",
        [normal("b", 33, 30, 3), False],
        {**RESNET, **DEEP, "output_stride": 8, "fused": False, "name": "resnet_v2_9"},
        EAGER,
        sizes=ONE,
    ),
    fused(
        "make_resnet_v2",
        "training, fused",
        [normal("b", 33, 33, 3), True],
        RESNET,
        {**EAGER, **POSITIVE},
        sizes=ONE,
    ),
    friend(
        "make_resnet_v2",
        "the epsilon of Keras",
        [normal("b", 33, 33, 3), False],
        keras_norms,
        "resnet_arg_scope has 1e-5, Keras and slim.batch_norm 0.001",
        {**RESNET, "fused": False},
        sizes=ONE,
    ),
    layer(
        "make_inception_block",
        "inference",
        [normal("b", 33, 33, 3), False],
        {**INCEPTION, "keep_prob": 0.8, "fused": False},
        sizes=FEW,
    ),
    layer(
        "make_inception_block",
        "training",
        [normal("b", 33, 33, 3), True],
        {**INCEPTION, "fused": False},
        {**EAGER, **POSITIVE},
        sizes=ONE,
    ),
    fused(
        "make_inception_block",
        "training, fused",
        [normal("b", 33, 32, 3), True],
        {**INCEPTION, "name": "net"},
        {**EAGER, **POSITIVE},
        sizes=ONE,
    ),
    friend(
        "make_inception_block",
        "an average of the padding, too",
        [normal("b", 33, 33, 3), False],
        counting_zeros,
        "a pool that pads by SAME divides by the pixels that there are",
        {**INCEPTION, "fused": False},
        sizes=FEW,
    ),
    Program(
        "train_classifier",
        "ten steps",
        [IMAGES, LABELS, BLOCKS, START, 10, 0.0625, False],
        skip=CONTRIB,
    ),
    FILES,
    Program(
        "fine_tune",
        "other classes",
        [*TUNED, 3],
        float32=True,
        skip=CONTRIB,
    ),
    Program(
        "fine_tune",
        "the last layers, without the fused kernel",
        [*OTHERS, LABELS[:4], BLOCKS, START, [], ["resnet_v2/postnorm", *LAST], 3],
        {"fused": False},
        float32=True,
        skip=CONTRIB,
    ),
    Program(
        "fine_tune",
        "only predictions",
        [*OTHERS, LABELS[:4], BLOCKS, START, [], ["resnet_v2/"], 0],
        float32=True,
        skip=CONTRIB,
    ),
    FalseFriend(
        "fine_tune",
        "norms that are frozen, too",
        [*TUNED, 3],
        of="program",
        naive=frozen,
        because="is_training is for all norms, whichever weights are trained",
        float32=True,
        skip=CONTRIB,
    ),
    refused(
        "make_resnet_v2",
        "a stride that there is not",
        [np.zeros([1, 33, 33, 3], "f"), False],
        "output_stride cannot be reached",
        factory={**RESNET, **DEEP, "output_stride": 12},
    ),
    Raises(
        "fine_tune",
        "other classes, and all restored",
        [*OTHERS, NEW_LABELS, BLOCKS, FIVE, [], ["resnet_v2/logits"], 1],
        of="program",
        graph=tf.errors.InvalidArgumentError,
        eager=ValueError,
        function=ValueError,
        match="[Ss]hape",
        skip=CONTRIB,
    ),
    refused(
        "fine_tune",
        "another unit",
        [*OTHERS, LABELS[:4], [("block1", 2, 3, 2), BLOCKS[1]], START, [], [""], 1],
        "unit_3.*not found in checkpoint",
        tf.errors.NotFoundError,
        of="program",
    ),
]
PROOF = proof(v1, v2, CASES)


class SlimNetworksTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class FineTuneTest(unittest.TestCase):
    def test_no_scopes_train_nothing_and_1_15_raised_too(self):
        with self.assertRaisesRegex(ValueError, "No variables to optimize"):
            v2.fine_tune(*OTHERS, LABELS[:4], BLOCKS, START, [], [], 1)
