"""Initializers that are functions without `dtype=`, as in Keras 1.

Keras 3 calls an initializer with the shape and `dtype=`.
"""

import re

from tf1to2.source.names import inspected, makers
from tf1to2.source.names.values import FUNCTIONS

NAMES = inspected.also_by_star((*makers.USUAL, "PReLU", "add_weight"))
INITIALIZER = re.compile(r"(\w+_)?init(ializer)?")
DTYPE = re.compile(r"\bdtype\b|\*\*")
NO_DTYPE = "[no dtype]"


def kinds(values, called):
    """Returns `NO_DTYPE` for each initializer that is a function without `dtype`."""
    return [
        (name, NO_DTYPE)
        for name, node in called.keywords.items()
        if INITIALIZER.fullmatch(name) and _is_without_dtype(values, node)
    ]


def _is_without_dtype(values, node):
    function = values.followed(node)
    if isinstance(function, str) or function.type not in FUNCTIONS:
        return False
    parameters = function.child_by_field_name("parameters")
    return parameters is None or not DTYPE.search(values.text(parameters))
