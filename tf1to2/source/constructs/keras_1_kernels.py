"""`Convolution2D(32, 3, 3)` by the package keras: two numbers that were the kernel.

Keras 1 took the kernel's sizes one by one, and so did Keras 2 of the package where all
of them came by position. For tf.keras, then and now, and for Keras 3 the second of them
is the stride.
"""

import re

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

NAMES = (*RANKS, *(f"*{name}" for name in RANKS))  # a star: by `import *`
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
    name = values.origin(called.function).rpartition(".")[2].removeprefix("*")
    rank = RANKS.get(name, 0)
    sizes = called.positional[1 : rank + 1]
    if not rank or len(sizes) < rank or called.starred:
        return []
    found = [values.followed(node) for node in sizes]
    if any(not isinstance(node, str) and node.type in NO_SIZE for node in found):
        return []
    if not is_of_old_package(values, called.function):
        return []
    return [("kernel_size", KERNEL if name in OLD else EITHER)]


def is_of_old_package(values, function):
    """Whether a name is of the package keras, and its file not evidently of Keras 3.

    Args:
        values: `values.Values`.
        function: the node of the name.
    """
    if "package keras" not in values.kept:
        values.kept["package keras"] = _packages(values.source.source)
    is_today, by_path = values.kept["package keras"]
    if is_today:
        return False
    chain = values.source.expression(function)
    origin = (chain and values.names.origin(values.scope(function), chain)) or ""
    if origin.startswith("keras."):
        return True
    # By a path that is gone, keras.layers.convolutional, a name is one of tf.keras.
    return by_path


def _packages(source):
    """(whether a file is of Keras 3, whether it imports the package keras alone)."""
    alone = PACKAGE.search(source) and not TF_KERAS.search(source)
    return bool(KERAS_3.search(source)), bool(alone)
