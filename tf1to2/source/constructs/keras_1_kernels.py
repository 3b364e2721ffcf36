"""`Convolution2D(32, 3, 3)` by the package keras: two numbers that were the kernel.

Keras 1 took the kernel's sizes one by one, and so did Keras 2 of the package where all
of them came by position. For tf.keras, then and now, and for Keras 3 the second of them
is the stride.
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
"""{layer: how many sizes its kernel has}."""

NAMES = inspected.also_by_star(RANKS)
OLD = ("Convolution2D", "SeparableConvolution2D", "Convolution3D", "Conv3D")
"""Nobody who writes for Keras 3 calls them by as many numbers."""

NO_SIZE = (*ROWS, "string", "none", "lambda", "dictionary")
PACKAGE = re.compile(rb"^[ \t]*(?:from|import)[ \t]+keras\b", re.M)
TF_KERAS = re.compile(
    rb"\btf\.keras\b|tensorflow(?:\.python)?(?:\.|\s+import\s.*)keras"
)
KERAS_3 = re.compile(
    rb"\bkeras\.(?:ops|random|saving|src)\b|from keras import .*\bops\b"
)


def kinds(values, called):
    """`KERNEL` of sizes by Keras 1's name of a layer, `EITHER` by a name of today."""
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
    """Whether a call is of the package keras, and its file not evidently of Keras 3.

    Args:
        values: `values.Values`.
        called: `inspected.Called`.
    """
    is_today, by_path = values.once(_packages)
    if is_today:
        return False
    # By a path that is gone, keras.layers.convolutional, a name is one of tf.keras.
    return by_path or keras_uses.is_of_the_package(called.origin)


def _packages(values):
    """(whether a file is of Keras 3, whether it imports the package keras alone)."""
    source = values.source.source
    alone = PACKAGE.search(source) and not TF_KERAS.search(source)
    return bool(KERAS_3.search(source)), bool(alone)
