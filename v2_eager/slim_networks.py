"""Slim's networks: functions of the model zoo → modules with the zoo's names."""

import functools
import tempfile

import numpy as np
import tensorflow as tf

from v2_eager.numerics import initializers, optimizers, restore
from v2_eager.numerics.batch_norms import ContribBatchNorm
from v2_eager.numerics.layers import Conv2D, FullyConnected
from v2_eager.numerics.restore import named
from v2_eager.slim_learning import Step, write_checkpoint

__all__ = [
    "make_resnet_v2",
    "make_inception_block",
    "fine_tune",
]


def make_resnet_v2(blocks, classes=None, weight_decay=0.0001, fused=None, name="net"):
    """Makes a ResNet v2 of the zoo: norms come before convolutions.

    Args:
        blocks: list of (scope, base depth, number of units, stride of the last unit);
            resnet_v2_50 has ("block1", 64, 3, 2), ("block2", 128, 4, 2),
            ("block3", 256, 6, 2) and ("block4", 512, 3, 1).
        classes: number of the logits; None leaves them out.
        weight_decay: weight of the l2 penalty on all weights, a float.
        fused: False: no batch norm by the kernel that takes float32 alone.
        name: scope of `resnet_v2/conv1/weights`,
            `resnet_v2/block1/unit_1/bottleneck_v2/preact/beta`, …

    Returns:
        Callable from a [batch, height, width, channels] float tensor and `is_training`,
        a bool, to the [batch, 1, 1, classes] logits, or the features, the end points,
        {name: tensor}, and the list of the penalties.
    """
    return ResNetV2(f"{name}/resnet_v2", blocks, classes, weight_decay, fused)


class ResNetV2(tf.Module):
    """See `make_resnet_v2`."""

    def __init__(self, path, blocks, classes=None, weight_decay=0.0001, fused=None):
        super().__init__()
        self.path, self.weight_decay, self.convolutions = path, weight_decay, []
        self.norm = functools.partial(
            ContribBatchNorm, 0.997, scale=True, epsilon=1e-5, fused=fused
        )
        self.root = self.plain(f"{path}/conv1", 64, 7, 2, "VALID")
        self.blocks, channels = {}, 64
        for scope, depth, count, stride in blocks:
            units = self.blocks[f"{path}/{scope}"] = []
            for i in range(count):
                unit = f"{path}/{scope}/unit_{i + 1}/bottleneck_v2"
                last = i == count - 1
                units.append(
                    Bottleneck(self, unit, channels, depth, stride if last else 1)
                )
                channels = 4 * depth
        self.postnorm = self.norm(name=f"{path}/postnorm")
        self.logits = classes and self.plain(f"{path}/logits", classes, 1)

    def plain(self, path, units, size, stride=1, padding="SAME"):
        """A convolution alone: what follows normalizes it."""
        return self.convolution(path, units, size, stride, padding, activation=None)

    def normalized(self, path, units, size, stride=1, padding="SAME"):
        norm = self.norm(name=f"{path}/BatchNorm")
        return self.convolution(path, units, size, stride, padding, normalizer=norm)

    def convolution(self, path, *args, **options):
        draw = initializers.contrib_variance_scaling(seed=1)
        made = Conv2D(path, *args, initializer=draw, **options)
        self.convolutions.append(made)
        return made

    def __call__(self, x, is_training):
        found = {}
        x = found[self.root.path] = self.root(padded(x, 7))
        x = tf.nn.max_pool2d(x, 3, 2, "SAME")
        for path, units in self.blocks.items():
            for unit in units:
                x = unit(x, is_training, found)
            found[path] = x
        x = tf.nn.relu(self.postnorm(x, is_training))
        x = tf.reduce_mean(x, [1, 2], keepdims=True)
        if self.logits:
            x = found[self.logits.path] = self.logits(x)
            found["predictions"] = tf.nn.softmax(x)
        return x, found, self.penalties()

    def penalties(self):
        return [self.weight_decay * tf.nn.l2_loss(c.weights) for c in self.convolutions]


def padded(x, size):
    """Images with zeros around, as a convolution of this size wants them.

    A strided SAME would pad less at the top and the left where sides are even.
    """
    before = (size - 1) // 2
    pads = [before, size - 1 - before]
    return tf.pad(x, [[0, 0], pads, pads, [0, 0]])


class Bottleneck(tf.Module):
    """A unit of a ResNet v2: what comes in, and what three convolutions add to it."""

    def __init__(self, net, path, channels, depth, stride):
        super().__init__()
        self.path, self.stride = path, stride
        self.preact = net.norm(name=f"{path}/preact")
        self.shortcut = None
        if channels != 4 * depth:
            self.shortcut = net.plain(f"{path}/shortcut", 4 * depth, 1, stride)
        self.conv1 = net.normalized(f"{path}/conv1", depth, 1)
        padding = "SAME" if stride == 1 else "VALID"
        self.conv2 = net.normalized(f"{path}/conv2", depth, 3, stride, padding)
        self.conv3 = net.plain(f"{path}/conv3", 4 * depth, 1)

    def __call__(self, x, is_training, found):
        y = tf.nn.relu(self.preact(x, is_training))
        if self.shortcut is not None:
            shortcut = found[self.shortcut.path] = self.shortcut(y)
        else:
            shortcut = x[:, :: self.stride, :: self.stride]
        y = found[self.conv1.path] = self.conv1(y, is_training=is_training)
        y = y if self.stride == 1 else padded(y, 3)
        y = found[self.conv2.path] = self.conv2(y, is_training=is_training)
        y = found[self.conv3.path] = self.conv3(y)
        found[self.path] = shortcut + y
        return shortcut + y


def make_inception_block(depths, weight_decay=0.00004, fused=None, name="InceptionV1"):
    """Makes a block of Inception v1: four branches side by side.

    Args:
        depths: list of [first], [first, second] of the branches 0, 1 and 2, and the
            depth of branch 3, an int; those of Mixed_3b are [64], [96, 128], [16, 32]
            and 32.
        weight_decay: weight of the l2 penalty on all weights, a float.
        fused: False: no batch norm by the kernel that takes float32 alone.
        name: scope of `Mixed_3b/Branch_0/Conv2d_0a_1x1/weights`,
            `Mixed_3b/Branch_0/Conv2d_0a_1x1/BatchNorm/beta`, …

    Returns:
        Callable from a [batch, height, width, channels] float tensor and `is_training`,
        a bool, to [batch, height, width, depth], the end points, {name of a branch:
        tensor}, and the list of the penalties.
    """
    return InceptionBlock(f"{name}/Mixed_3b", depths, weight_decay, fused)


class InceptionBlock(tf.Module):
    def __init__(self, path, depths, weight_decay, fused):
        super().__init__()
        self.weight_decay = weight_decay
        draw = initializers.truncated_normal(0.0, 0.01, seed=1)

        def conv(name, units, size):
            scope = f"{path}/{name}"
            norm = ContribBatchNorm(0.9997, fused=fused, name=f"{scope}/BatchNorm")
            return Conv2D(scope, units, size, normalizer=norm, initializer=draw)

        first, second, third, last = depths
        self.branches = [
            [conv("Branch_0/Conv2d_0a_1x1", first[0], 1)],
            [
                conv("Branch_1/Conv2d_0a_1x1", second[0], 1),
                conv("Branch_1/Conv2d_0b_3x3", second[1], 3),
            ],
            [
                conv("Branch_2/Conv2d_0a_1x1", third[0], 1),
                conv("Branch_2/Conv2d_0b_3x3", third[1], 3),
            ],
            [conv("Branch_3/Conv2d_0b_1x1", last, 1)],
        ]

    def __call__(self, x, is_training):
        found = {}
        for i, branch in enumerate(self.branches):
            y = tf.nn.max_pool2d(x, 3, 1, "SAME") if i == 3 else x
            for conv in branch:
                y = conv(y, is_training=is_training)
            found[f"Branch_{i}"] = y
        layers = [conv for branch in self.branches for conv in branch]
        penalties = [self.weight_decay * tf.nn.l2_loss(c.weights) for c in layers]
        return tf.concat(list(found.values()), 3), found, penalties


def fine_tune(images, labels, saved, blocks, classes, steps, rate, fused=None):
    """Trains a ResNet v2 from a checkpoint, whose logits are left out.

    Args:
        images: [n, height, width, channels] float array.
        labels: [n] int64 array of classes.
        saved: {name: array}, what the checkpoint holds, by the zoo's names:
            "resnet_v2/conv1/weights", …
        blocks: see `make_resnet_v2`.
        classes: number of the logits, which begin at 0.
        steps: how many steps to take by momentum of 0.9, all on the same images.
        rate: learning rate.
        fused: see `make_resnet_v2`.

    Returns:
        dict with the `losses`, [steps], penalties included, before every step, the
        `variables` in the end by their names in a checkpoint, and the `logits` of
        inference then.
    """
    images, labels = tf.constant(images), tf.constant(labels)
    # --- build
    features = ResNetV2("resnet_v2", blocks, fused=fused)
    scores = FullyConnected("scores", classes, None, initializer=tf.zeros)

    def logits(is_training):
        x, _, penalties = features(images, is_training)
        return scores(tf.reshape(x, [x.shape[0], -1])), penalties

    # --- loss
    def loss():
        found, penalties = logits(True)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, found)
        return tf.add_n([tf.reduce_mean(losses), *penalties])

    logits(False)  # makes the variables
    # --- step
    trained = [*features.trainable_variables, *scores.trainable_variables]
    take = Step(trained, optimizers.Momentum(rate, 0.9))
    step, infer = tf.function(lambda: take(loss)), tf.function(lambda: logits(False)[0])
    # --- run
    with tempfile.TemporaryDirectory() as directory:
        restore.by_name(write_checkpoint(saved, directory), named(features))
    losses = np.stack([step().numpy() for _ in range(steps)])
    variables = {n: v.numpy() for n, v in named(features, scores, take).items()}
    return {"losses": losses, "variables": variables, "logits": infer().numpy()}
