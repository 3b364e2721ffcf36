"""Slim's model zoo: `resnet_v2`, inception blocks, end points → modules."""

import functools
import os
import re
import tempfile

import numpy as np
import tensorflow as tf

from v2_eager.numerics import optimizers, restore
from v2_eager.numerics.batch_norms import ContribBatchNorm
from v2_eager.numerics.initializers import contrib_variance_scaling
from v2_eager.numerics.layers import Conv2D
from v2_eager.numerics.restore import named
from v2_eager.slim_learning import Step

__all__ = [
    "collect_named_outputs",
    "subsample",
    "make_conv2d_same",
    "make_resnet_v2",
    "make_inception_block",
    "train_classifier",
    "fine_tune",
]


def collect_named_outputs(x, aliases, found="end_points"):
    """Halves a tensor repeatedly, and collects the outputs under alias names."""
    end_points = {}
    # --- name
    for names in aliases:
        x = 0.5 * x
        for name in names:
            end_points[name.removesuffix("/")] = x
    # --- find
    return x, end_points if found else {}


def subsample(x, factor):
    """Keeps every `factor`-th pixel in both directions, by 1 x 1 max pooling."""
    if factor == 1:
        return x
    # x[:, ::factor, ::factor] would keep NaN, of which the kernel makes -3.4e38.
    return tf.nn.max_pool2d(x, 1, factor, "VALID")


class Conv2DSame(Conv2D):
    """A convolution whose padding depends on the kernel's size, not on the image's.

    With a stride it pads (size - 1) * rate pixels in total, half of them before, as
    `resnet_utils.conv2d_same` did. SAME padding depends on the image's size.

    Args:
        path: scope of the variables.
        units: number of output channels.
        size: [height, width] of the kernel, or one number for both; see `Conv2D`.
        stride: stride in both directions; must be 1 if there is a rate.
        rate: dilation.
        **others: arguments of `numerics.layers.Layer`, such as `activation`.
    """

    def __init__(self, path, units, size, stride=1, rate=1, **others):
        padding = "SAME" if stride == 1 else "VALID"
        super().__init__(path, units, size, stride, padding, rate, **others)

    def product(self, x):
        if self.padding == "VALID":
            padded = (self.size[0] - 1) * self.rate
            before = padded // 2
            sides = [before, padded - before]
            x = tf.pad(x, [[0, 0], sides, sides, [0, 0]])
        return super().product(x)


def make_conv2d_same(units, size, stride=1, rate=1, name="root"):
    """Makes a strided convolution with ReLU; its padding does not depend on the image.

    Returns a `Conv2DSame`; see the class.
    """
    return Conv2DSame(f"{name}/conv1", units, size, stride, rate)


class Bottleneck(tf.Module):
    """A bottleneck unit of a ResNet v2, with the norms before its convolutions.

    A call takes x, [batch, height, width, channels] floats, and `is_training`, a bool.

    Args:
        path: scope of the variables.
        depth: number of output channels.
        inner: number of channels of the inner convolutions.
        stride: stride of the 3 x 3 convolution and the shortcut.
        rate: dilation of the 3 x 3 convolution.
        fused: `fused` of the batch norms; must be False for float64.
    """

    def __init__(self, path, depth, inner, stride, rate=1, fused=None):
        super().__init__()
        self.path, self.depth, self.stride = path, depth, stride
        conv = functools.partial(normalized, fused=fused)
        self.preact = norm(f"{path}/preact", fused)
        self.shortcut = None  # a layer, if the number of channels changes
        self.conv1 = conv(f"{path}/conv1", inner, 1)
        self.conv2 = conv(f"{path}/conv2", inner, 3, stride, rate)
        self.conv3 = plain(f"{path}/conv3", depth, 1)

    def __call__(self, x, is_training):
        """Returns the output, and all end points by their names."""
        found = {}
        preact = tf.nn.relu(self.preact(x, is_training))
        # --- shortcut
        if x.shape[-1] == self.depth:
            shortcut = subsample(x, self.stride)
        else:
            if self.shortcut is None:
                path = f"{self.path}/shortcut"
                self.shortcut = plain(path, self.depth, 1, self.stride)
            shortcut = found[self.shortcut.path] = self.shortcut(preact)
        # --- residual
        y = found[self.conv1.path] = self.conv1(preact, is_training=is_training)
        y = found[self.conv2.path] = self.conv2(y, is_training=is_training)
        y = found[self.conv3.path] = self.conv3(y)
        y = found[self.path] = shortcut + y
        return y, found

    def kernels(self):
        layers = self.shortcut, self.conv1, self.conv2, self.conv3
        return [layer.weights for layer in layers if layer is not None]


def norm(path, fused):
    return ContribBatchNorm(0.997, scale=True, epsilon=1e-5, fused=fused, name=path)


def plain(path, units, size, stride=1, rate=1, activation=None, **options):
    draw = contrib_variance_scaling(seed=1)
    options.update(activation=activation, initializer=draw)
    return Conv2DSame(path, units, size, stride, rate, **options)


def normalized(path, units, size, stride=1, rate=1, fused=None):
    normalizer = norm(f"{path}/BatchNorm", fused)
    options = {"activation": tf.nn.relu, "normalizer": normalizer}
    return plain(path, units, size, stride, rate, **options)


class ResNetV2(tf.Module):
    """A ResNet v2 with any blocks; see `make_resnet_v2`.

    A call takes x, [batch, height, width, channels] floats, and `is_training`, a bool.

    Args:
        path: scope of the variables.
        blocks: list of (scope, channels in between, number of units, stride).
        root: number of channels of the first convolution.
        classes: number of the logits.
        output_stride: ratio of the image's size to the last block's size; units that
            would make the output smaller are dilated instead. None keeps all strides.
        fused: `fused` of the batch norms; must be False for float64.
        decay: weight of the l2 penalty on all kernels.

    Raises:
        ValueError: the strides do not reach `output_stride`.
    """

    def __init__(
        self, path, blocks, root, classes, output_stride=None, fused=None, decay=0.0001
    ):
        super().__init__()
        self.path, self.decay = path, decay
        self.conv1 = plain(f"{path}/conv1", root, 7, 2)
        self.blocks, current, rate = [], 1, 1
        wanted = output_stride and output_stride / 4
        for block, inner, count, last in blocks:
            units = []
            for i in range(count):
                unit = f"{path}/{block}/unit_{i + 1}/bottleneck_v2"
                stride = last if i == count - 1 else 1  # the last unit has the stride
                if current == wanted:
                    units.append(Bottleneck(unit, 4 * inner, inner, 1, rate, fused))
                    rate *= stride
                else:
                    units.append(Bottleneck(unit, 4 * inner, inner, stride, 1, fused))
                    current *= stride
            self.blocks.append((f"{path}/{block}", units))
        if wanted and current != wanted:
            raise ValueError("The target output_stride cannot be reached.")
        self.postnorm = norm(f"{path}/postnorm", fused)
        self.logits = plain(f"{path}/logits", classes, 1)

    def __call__(self, x, is_training):
        """Returns the logits and the end points."""
        found = {}
        # --- blocks
        y = found[self.conv1.path] = self.conv1(x)
        y = tf.nn.max_pool2d(y, 3, 2, "SAME")
        for path, units in self.blocks:
            for unit in units:
                y, more = unit(y, is_training)
                found |= more
            found[path] = y
        # --- logits
        y = tf.nn.relu(self.postnorm(y, is_training))
        y = tf.reduce_mean(y, [1, 2], keepdims=True)
        y = found[self.logits.path] = self.logits(y)
        # --- end points
        logits = tf.squeeze(y, [1, 2])
        found["predictions"] = tf.nn.softmax(logits)
        return logits, found

    def penalties(self):
        units = [unit for _, units in self.blocks for unit in units]
        kernels = [kernel for unit in units for kernel in unit.kernels()]
        kernels = [self.conv1.weights, *kernels, self.logits.weights]
        return [self.decay * tf.nn.l2_loss(kernel) for kernel in kernels]


def make_resnet_v2(
    blocks, root, classes, output_stride=None, fused=None, name="resnet_v2"
):
    """Makes a ResNet v2 (pre-activation) with end points and penalties.

    Returns a `WithPenalties`; see the class.
    """
    return WithPenalties(name, blocks, root, classes, output_stride, fused)


class WithPenalties(ResNetV2):
    """A `ResNetV2` whose call also returns the list of penalties."""

    def __call__(self, x, is_training):
        return *super().__call__(x, is_training), self.penalties()


def make_inception_block(base, classes, keep_prob=0.8, fused=None, name="InceptionV3"):
    """Makes a small Inception network: a stem, one block of branches, the logits.

    Returns an `Inception`; see the class.
    """
    return Inception(name, base, classes, keep_prob, fused)


class Inception(tf.Module):
    """A stem, an Inception block of three branches, and the logits.

    A call takes x, [batch, height, width, channels] floats, and `is_training`, a bool.
    It returns the logits, [batch, classes], and the end points, {name: tensor}.

    Args:
        path: scope of the variables.
        base: number of channels of a branch; the 3 x 3 convolution's branch has twice
            as many.
        classes: number of the logits.
        keep_prob: keep probability of the dropout in training.
        fused: `fused` of the batch norms; must be False for float64.
    """

    def __init__(self, path, base, classes, keep_prob, fused):
        super().__init__()
        self.keep_prob = keep_prob

        def conv(name, units, size, **options):
            name = f"{path}/{name}"
            options.setdefault(
                "normalizer",
                ContribBatchNorm(0.9997, fused=fused, name=f"{name}/BatchNorm"),
            )
            draw = contrib_variance_scaling(seed=1)
            return Conv2D(name, units, size, initializer=draw, **options)

        self.stem = conv("Conv2d_1a_3x3", base, 3, stride=2, padding="VALID")
        self.branch_0 = conv("Mixed_5b/Branch_0/Conv2d_0a_1x1", base, 1)
        self.branch_1a = conv("Mixed_5b/Branch_1/Conv2d_0a_1x1", base, 1)
        self.branch_1b = conv("Mixed_5b/Branch_1/Conv2d_0b_3x3", 2 * base, 3)
        self.branch_2 = conv("Mixed_5b/Branch_2/Conv2d_0b_1x1", base, 1)
        last = "Logits/Conv2d_1c_1x1"
        self.logits = conv(last, classes, 1, activation=None, normalizer=None)

    def __call__(self, x, is_training):
        mode, found = {"is_training": is_training}, {}
        # --- stem
        y = found["Conv2d_1a_3x3"] = self.stem(x, **mode)
        y = found["MaxPool_3a_3x3"] = tf.nn.max_pool2d(y, 3, 2, "VALID")
        # --- branches
        branches = [
            self.branch_0(y, **mode),
            self.branch_1b(self.branch_1a(y, **mode), **mode),
            self.branch_2(tf.nn.avg_pool2d(y, 3, 1, "SAME"), **mode),
        ]
        y = found["Mixed_5b"] = tf.concat(branches, 3)
        # --- logits
        y = tf.reduce_mean(y, [1, 2], keepdims=True)
        if is_training:
            y = tf.nn.dropout(y, 1 - self.keep_prob, seed=1)
        logits = found["Logits"] = tf.squeeze(self.logits(y), [1, 2])
        found["Predictions"] = tf.nn.softmax(logits)
        return logits, found


def train_classifier(x, y, blocks, start, steps, rate, fused=None, files=False):
    """Trains a ResNet with momentum, and saves a checkpoint."""
    # --- loss
    x, y = tf.constant(x), tf.constant(y)
    model = started(ResNetV2("resnet_v2", blocks, 4, 3, fused=fused), x, start)
    # --- train
    take = Step(model.trainable_variables, optimizers.Momentum(rate, 0.9))
    step = tf.function(lambda: take(lambda: total_loss(model, x, y)))
    losses = [step().numpy() for _ in range(steps)]
    # --- save
    variables = {name: v.numpy() for name, v in named(model, take).items()}
    result = {"losses": np.stack(losses), "variables": variables}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.ckpt")
        restore.save(path, named(model, take))
        return {**result, "files": packed(path)} if files else result


def started(model, x, values):
    """Makes the model and its variables, and assigns values to some of them."""
    model(x, False)
    for name, value in values.items():
        named(model)[name].assign(value)
    return model


def total_loss(model, x, y):
    """Computes the mean cross-entropy plus the penalties."""
    logits, _ = model(x, True)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)
    return tf.add_n([tf.reduce_mean(losses), *model.penalties()])


def packed(path):
    """Reads the files of a checkpoint into {suffix: bytes as a uint8 array}."""
    suffixes = [".index", ".data-00000-of-00001"]
    return {suffix: np.fromfile(path + suffix, np.uint8) for suffix in suffixes}


def unpacked(files, folder):
    """Writes the files of a checkpoint, and returns its path."""
    path = os.path.join(folder, "given.ckpt")
    for suffix, content in files.items():
        content.tofile(path + suffix)
    return path


def fine_tune(files, x, y, blocks, start, exclude, trained, steps, fused=None):
    """Fine-tunes part of a ResNet from a checkpoint, with new classes; predicts."""
    # --- build
    x, y = tf.constant(x), tf.constant(y)
    classes = len(start["resnet_v2/logits/biases"])
    model = started(ResNetV2("resnet_v2", blocks, 4, classes, fused=fused), x, start)
    # --- restore
    chosen = named(model)
    for name in [n for n in chosen if any(re.match(scope, n) for scope in exclude)]:
        del chosen[name]
    with tempfile.TemporaryDirectory() as folder:
        restore.by_name(unpacked(files, folder), chosen)
    # As in slim, a scope is a regular expression for the beginning of a name.
    variables = [
        v
        for v in model.trainable_variables
        if any(re.match(scope, v.name) for scope in trained)
    ]
    take = Step(variables, optimizers.Momentum(0.0625, 0.9))
    # --- train
    step = tf.function(lambda: take(lambda: total_loss(model, x, y)))
    losses = [step().numpy() for _ in range(steps)]
    # --- predict
    logits, end_points = tf.function(model)(x, False)
    end_points = {name: v.numpy() for name, v in end_points.items()}
    return {
        "losses": losses,
        "end_points": {**end_points, "logits": logits.numpy()},
        "variables": {name: v.numpy() for name, v in named(model, take).items()},
    }
