"""Finds the kernel size as separate arguments of keras: `Convolution2D(32, 3, 3)`.

Keras 1 took the sizes of the kernel as separate arguments. Keras 2 of the package did
the same if all of them were positional. In tf.keras, old and new, and in Keras 3, the
second number is the stride.
"""

import re

from tf1to2.catalog import keras_uses
from tf1to2.source.names import inspected
from tf1to2.source.names.literals import ROWS

KERNEL, EITHER = "[kernel in numbers]", "[kernel or stride]"
RANKS = {
    "Convolution2D": 2,
    "SeparableConvolution2D": 2,
    "Convolution3D": 3,
    "Conv2D": 2,
    "SeparableConv2D": 2,
    "Conv3D": 3,
    "ConvLSTM2D": 2,
}
"""{layer: number of sizes of its kernel}."""

NAMES = inspected.also_by_star(RANKS)
OLD = ("Convolution2D", "SeparableConvolution2D", "Convolution3D", "Conv3D")
"""Layers that code for Keras 3 never calls with so many numbers."""

NO_SIZE = (*ROWS, "string", "none", "lambda", "dictionary")
PACKAGE = re.compile(rb"^[ \t]*(?:from|import)[ \t]+keras\b", re.M)
TF_KERAS = re.compile(
    rb"\btf\.keras\b|tensorflow(?:\.python)?(?:\.|\s+import\s.*)keras"
)
KERAS_3 = re.compile(
    rb"\bkeras\.(?:ops|random|saving|src)\b|from keras import .*\bops\b"
)


def kinds(values, called):
    """Returns [("kernel_size", kind)] if a call passes each kernel size separately.

    `kind` is `KERNEL` for a layer in OLD, else `EITHER`: the second number may be a
    stride. [] for other calls.
    """
    name = called.name.removeprefix("*")
    rank = RANKS[name]
    sizes = called.positional[1 : rank + 1]
    if len(sizes) < rank or called.starred:
        return []
    found = [values.followed(node) for node in sizes]
    if any(not isinstance(node, str) and node.type in NO_SIZE for node in found):
        return []
    if not is_of_old_package(values, called):
        return []
    return [("kernel_size", KERNEL if name in OLD else EITHER)]


def is_of_old_package(values, called):
    """Whether a call uses the package keras, in a file that is not for Keras 3.

    Args:
        values: `values.Values`.
        called: `inspected.Called`.
    """
    is_today, by_path = values.once(_packages)
    if is_today:
        return False
    # A name from an old path, keras.layers.convolutional, has an origin in tf.keras.
    return by_path or keras_uses.is_of_the_package(called.origin)


def _packages(values):
    """Returns (file is for Keras 3, file imports keras but not tf.keras), two bools."""
    source = values.source.source
    alone = PACKAGE.search(source) and not TF_KERAS.search(source)
    return bool(KERAS_3.search(source)), bool(alone)
