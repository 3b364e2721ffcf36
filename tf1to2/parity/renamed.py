"""Variables of a port that have other names: matched by name and shape.

`convert-checkpoint --map auto` matches likewise. A wrong match shows in the proof: the
numbers of variables go by their names.
"""

import typing

from tf1to2.matching import automatic

AUTO = "auto"


class Kind(typing.NamedTuple):
    """What must agree; dtypes need not, since a program may be widened."""

    shape: tuple
    dtype: str = ""


def shapes_of(answer):
    """{name: shape} of the variables in an answer of the left page.

    They are those of a layer, or what a program that yields its steps ends with.
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
    """{name on the left: name on the right} of those that one side alone has.

    Args:
        left, right: {name: shape}.
    """
    sides = [
        {name: Kind(tuple(shape)) for name, shape in own.items() if name not in other}
        for own, other in ((left, right), (right, left))
    ]
    found, *_ = automatic.match(*map(automatic.items, sides))
    return {name: target for name, (target, _) in found.items()}
