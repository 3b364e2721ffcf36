"""Matches variables whose names differ in a port, by name similarity and shape.

`convert-checkpoint --map auto` matches in the same way. The proof fails if a match is
wrong, because the values of variables in a proof depend on their names.
"""

import typing

from tf1to2.matching import automatic

AUTO = "auto"


class Kind(typing.NamedTuple):
    """The shape and dtype of a variable, for matching by shape."""

    shape: tuple
    dtype: str = ""


def shapes_of(answer):
    """Returns {name: shape} of the variables in an answer of the left page.

    They are the variables of a layer, or of a program at the end of its steps.
    """
    found = {}
    for path, leaf in answer.items():
        root, _, name = path.partition("/")
        if root == "initial":
            found[name.partition(":")[0]] = leaf.shape
        elif path.startswith("outputs/variables/"):
            found[path.split("/", 3)[3]] = leaf.shape
    return found


def names(left, right):
    """Matches names that only one side has: {name on the left: name on the right}.

    Args:
        left, right: {name: shape}.
    """
    sides = [
        {name: Kind(tuple(shape)) for name, shape in own.items() if name not in other}
        for own, other in ((left, right), (right, left))
    ]
    found, *_ = automatic.match(*map(automatic.items, sides))
    return {name: target for name, (target, _) in found.items()}
