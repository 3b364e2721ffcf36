"""A function for an initializer that takes no `dtype=`, as those of Keras 1.

Keras 3 calls it with the shape and `dtype=`.
"""

import re

LAYERS = (
    *("Dense", "Embedding", "LSTM", "GRU", "SimpleRNN", "ConvLSTM2D", "PReLU"),
    *("Conv1D", "Conv2D", "Conv3D", "SeparableConv2D", "Conv2DTranspose"),
    *("Convolution1D", "Convolution2D", "Convolution3D", "SeparableConvolution2D"),
    *("BatchNormalization", "add_weight"),
)
NAMES = (*LAYERS, *(f"*{name}" for name in LAYERS))  # a star: by `import *`
INITIALIZER = re.compile(r"(\w+_)?init(ializer)?")
DTYPE = re.compile(r"\bdtype\b|\*\*")
NO_DTYPE = "[no dtype]"


def kinds(values, called):
    """`NO_DTYPE` of each initializer that is such a function of the file."""
    return [
        (name, NO_DTYPE)
        for name, node in called.keywords.items()
        if INITIALIZER.fullmatch(name) and _is_without_dtype(values, node)
    ]


def _is_without_dtype(values, node):
    function = values.followed(node)
    if isinstance(function, str):
        return False
    if function.type not in ("function_definition", "lambda"):
        return False
    parameters = function.child_by_field_name("parameters")
    return parameters is None or not DTYPE.search(values.text(parameters))
