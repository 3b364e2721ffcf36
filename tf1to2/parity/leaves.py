"""Compares every leaf of two answers: the distance, and the kind of difference."""

import dataclasses
import re

import numpy as np

from tf1to2.parity.distance import NOT_NUMBERS, distance, same_bits

RUNGS = ("shape", "variables", "forward", "step", "gradient", "state", "result")
"""The kinds of differences, in the order in which to fix a port."""

_OF_ROOT = {
    "outputs": "forward",
    "gradients": "gradient",
    "state": "state",
    "variables": "variables",
    "trainable": "variables",
    "initial": "variables",
}
SHOWN_UNITS = 10**6
"""More ULP are not shown: they say nothing, such as float64 from float32 numbers."""
# Of a program: its steps, the variables after a step, and its state at the end.
_STEP = re.compile(r"outputs/(?:(?:steps|variables)/)?(\d+)(?:/|$)")
_STATE = re.compile(r"(?:^|/)(?:variables|weights|state|slots)(?:/|$)")


@dataclasses.dataclass(frozen=True)
class Leaf:
    """The comparison of one array of an answer.

    Attributes:
        path: `outputs/loss`, `gradients/inputs/0`, `state/dense/kernel:0`.
        rung: one of `RUNGS`.
        step: the number in the path, if the rung is "step".
        ulps: the most units in the last place that an element differs by.
        relative: the largest difference, divided by the largest absolute value of the
            leaf; infinite if the arrays have no distance.
        told: the difference in words; empty if the bits are the same.
        way: the way that the right page was run in.
        floating: whether the array is of floats, which have last bits.
    """

    path: str
    rung: str
    step: int = 0
    ulps: int = 0
    relative: float = 0.0
    told: str = ""
    way: str = ""
    floating: bool = False

    @property
    def order(self):
        """Returns the sort key: the kind of difference (`rung`), then the step."""
        return RUNGS.index(self.rung), self.step

    @property
    def far(self):
        """Formats the relative distance, with the ULP distance if it is small."""
        if not self.told:
            return "identical"
        if not np.isfinite(self.relative):
            return self.told.partition(",")[0]
        units = f", {self.ulps} ULP" if self.ulps < SHOWN_UNITS else ""
        return f"{self.relative:.1e}{units}"

    @property
    def message(self):
        """The difference and its distance as text."""
        return f"{self.far}: {self.told}" if np.isfinite(self.relative) else self.told


def measure(expected, actual, sides, kind="op", way=""):
    """Compares all leaves of two answers; a difference does not end the comparison.

    Args:
        expected: {path: array}.
        actual: {path: array}.
        sides: the names of the two, for messages.
        kind: of the page: a number in the path of a "program" is a step.
        way: the way that the right page was run in.

    Returns:
        list of `Leaf`, in the order of `expected`.
    """
    return [
        _leaf(path, expected.get(path), actual.get(path), sides, kind, way)
        for path in {**expected, **actual}
        if path != "structure"
    ] + _structures(expected, actual, sides, way)


def _structures(expected, actual, sides, way):
    texts = [str(answer.get("structure", "*")) for answer in (expected, actual)]
    if texts[0] == texts[1] or set(expected) != set(actual):  # the leaves report it
        return []
    told = f"{texts[0]} in {sides[0]}, {texts[1]} in {sides[1]}"
    return [Leaf("structure", "shape", 0, 0, np.inf, told, way)]


def _leaf(path, a, b, sides, kind, way):
    rung, step = _OF_ROOT.get(path.partition("/")[0], "forward"), 0
    if kind == "program" and (found := _STEP.match(path)):
        rung, step = "step", int(found[1])
    elif kind == "program":
        rung = "state" if _STATE.search(path) else "result"
    left, right = sides
    if a is None or b is None:
        told = f"only in {left if b is None else right}"
        return Leaf(path, "shape", step, 0, np.inf, told, way)
    for what, x, y in (
        ("dtype", _kind(a), _kind(b)),
        ("shape", a.shape, b.shape),
    ):
        if x != y:
            told = f"{what} {x} in {left}; {y} in {right}"
            return Leaf(path, "shape", step, 0, np.inf, told, way)
    same = same_bits(a, b)
    if same.all():
        return Leaf(path, rung, step, way=way)
    units, relative = 0, np.inf
    if a.dtype.kind in "fc":
        units, relative = distance(a, b)
    elif a.dtype.kind in "iu":
        x, y = a.astype(np.float64), b.astype(np.float64)
        relative = float(np.abs(x - y).max() / (np.abs(x).max() or 1))
        units = int(np.abs(x - y).max())
    if units > NOT_NUMBERS or not np.isfinite(relative):
        units, relative = 0, np.inf
    index = tuple(int(i) for i in np.argwhere(~same)[0])
    told = "{}{} of {} differ, first {}{!r} in {}; {!r} in {}".format(
        "" if np.isfinite(relative) else "other values, ",
        (~same).sum(),
        a.size,
        f"{list(index)}: " if index else "",
        a[index].item(),
        left,
        b[index].item(),
        right,
    )
    return Leaf(path, rung, step, units, relative, told, way, a.dtype.kind in "fc")


def _kind(array):
    return "text" if array.dtype.kind == "U" else str(array.dtype)


def worst(leaves):
    """The `Leaf` with the largest distance, of several measurements of one path."""
    return max(leaves, key=lambda leaf: (bool(leaf.told), leaf.relative, leaf.ulps))
