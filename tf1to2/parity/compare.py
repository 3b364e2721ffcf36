"""Compares two answers, leaf by leaf and bit by bit; names the first difference."""

import dataclasses

import numpy as np

from tf1to2.parity.distance import (
    LAST_BITS,
    NOISE_SLACK,
    NOT_NUMBERS,
    distance,
    magnitude,
    same_bits,
    ulps,
)


class Mismatch(AssertionError):
    """Two answers differ more than they may."""


@dataclasses.dataclass(frozen=True)
class Bound:
    """A known difference, measured and explained: an upper bound of the distance.

    Attributes:
        pair: "topic.name".
        case: the slug of the case.
        way: the way that shows it: "graph", "eager", "function", "dynamic", "xla".
        side: the other side of the comparison: "compat.v1" or "1.15.5".
        leaf: path of the leaf, as a failure prints it, or a pattern: `outputs/*`.
        ulps: the most units in the last place that any element may differ by, if it
            differs by more than `LAST_BITS`; 0 if only signs of zeros differ.
        measured: the largest distance that was measured.
        reason: why the bits differ, in a sentence.
        where: the releases that differ, as "tensorflow<2.17"; all releases by default.
        settings: "strict" or "default", if only these settings show it.
        noise: of a leaf that is 0 except for rounding, its largest measured magnitude;
            both sides may have `NOISE_SLACK` times as much, at any distance.
    """

    pair: str
    case: str
    way: str
    side: str
    leaf: str
    ulps: int
    measured: int
    reason: str
    where: str = ""
    settings: str = ""
    noise: float = 0.0

    def allows(self, expected, actual, worst):
        """Whether two arrays, `worst` units apart, are within this bound."""
        if self.noise:
            return magnitude(expected, actual) <= NOISE_SLACK * self.noise
        if worst <= self.ulps:
            return True
        return self.ulps > 0 and distance(expected, actual)[1] <= LAST_BITS


@dataclasses.dataclass
class Tally:
    """The result of a comparison: how much was compared, and the largest distance.

    Attributes:
        leaves: how many arrays.
        elements: how many numbers and texts.
        ulps: the largest distance, in units in the last place.
        relative: the largest difference, relative to the largest value of its leaf;
            only if float32 is compared with the genuine TensorFlow 1.15.
        differ: how many arrays are not identical.
    """

    leaves: int = 0
    elements: int = 0
    ulps: int = 0
    relative: float = 0.0
    differ: int = 0

    def __add__(self, other):
        return Tally(
            self.leaves + other.leaves,
            self.elements + other.elements,
            max(self.ulps, other.ulps),
            max(self.relative, other.relative),
            self.differ + other.differ,
        )


def compare(expected, actual, sides, bounds=None):
    """Asserts that two answers have the same bits.

    The rungs, in order: the paths of the leaves, their containers (a tuple differs from
    a list), their dtypes and shapes, then their values (NaN must be NaN, -0.0 must be
    -0.0).

    Args:
        expected: {path: array}.
        actual: {path: array}.
        sides: the names of the two, for messages.
        bounds: {path: Bound} of the leaves that are known to differ.

    Returns:
        Tally: how much was compared, and the largest distance.

    Raises:
        Mismatch: naming the first rung, leaf, index, both values and their distance.
    """
    bounds = bounds or {}
    left, right = sides
    lost = [path for path in bounds if path not in expected]
    if lost:
        raise Mismatch("a bound names a missing leaf: " + ", ".join(lost))
    if list(expected) != list(actual) and set(expected) != set(actual):
        only = [f"{p} only in {left}" for p in expected if p not in actual]
        only += [f"{p} only in {right}" for p in actual if p not in expected]
        raise Mismatch("different leaves: " + "; ".join(only))
    if not np.array_equal(*(side.get("structure") for side in (expected, actual))):
        raise Mismatch(
            f"structure: {expected['structure']} in {left}, "
            f"{actual['structure']} in {right}"
        )
    expected = {p: leaf for p, leaf in expected.items() if p != "structure"}
    for path, a in expected.items():
        b = actual[path]
        if _kind(a) != _kind(b):
            raise Mismatch(f"{path}: dtype {a.dtype} in {left}, {b.dtype} in {right}")
        if a.shape != b.shape:
            raise Mismatch(f"{path}: shape {a.shape} in {left}, {b.shape} in {right}")
    tally = Tally()
    for path, a in expected.items():
        worst = _compare_leaf(path, a, actual[path], sides, bounds.get(path))
        tally += Tally(1, a.size, worst)
    if not tally.elements:
        raise Mismatch("nothing was compared: %s" % (list(expected) or "no leaves"))
    return tally


def difference(a, b):
    """Returns the coarsest kind of difference between two answers, or "" if equal.

    Args:
        a: {path: array}.
        b: {path: array}.

    Returns:
        "structure" if there are other leaves, "shape", "values" (of any dtypes);
        "dtype" or "container" if only that differs; "" if nothing differs.
    """
    if set(a) != set(b):
        return "structure"
    pairs = [(a[path], b[path]) for path in a if path != "structure"]
    if any(x.shape != y.shape for x, y in pairs):
        return "shape"
    if not all(same_numbers(x, y).all() for x, y in pairs):
        return "values"
    if any(_kind(x) != _kind(y) for x, y in pairs):
        return "dtype"
    same = np.array_equal(a.get("structure"), b.get("structure"))
    return "" if same else "container"


def same_numbers(x, y):
    """Returns a mask of the elements that are equal in the coarser of two dtypes."""
    if x.dtype != y.dtype and "U" in (x.dtype.kind, y.dtype.kind):
        same = x.dtype.kind == y.dtype.kind
        return np.asarray(x == y) if same else np.zeros(x.shape, bool)
    if x.dtype != y.dtype:
        floats = [s.dtype for s in (x, y) if s.dtype.kind in "fc"]
        coarse = min(floats, key=lambda d: d.itemsize) if floats else np.float64
        x, y = x.astype(coarse), y.astype(coarse)
    return np.asarray(same_bits(x, y))


def _compare_leaf(path, a, b, sides, bound):
    same = same_bits(a, b)
    if same.all():
        return 0
    if bound and a.dtype.kind == "f":
        worst = int(ulps(a, b).max())
        if worst <= NOT_NUMBERS and bound.allows(a, b, worst):
            return worst
    index = tuple(int(i) for i in np.argwhere(~same)[0])
    left, right = sides
    text = "{}{}: {!r} in {}, {!r} in {}".format(
        path,
        list(index) if index else "",
        a[index].item(),
        left,
        b[index].item(),
        right,
    )
    if a.dtype.kind == "f":
        text += " (%d ULP; %d of %d differ, worst %d ULP" % (
            ulps(a, b)[index],
            (~same).sum(),
            a.size,
            ulps(a, b).max(),
        )
        if bound:
            noise = bound.noise and f"noise of {bound.noise:.1g}"
            text += f", bound {noise or bound.ulps}"
        text += ")"
    raise Mismatch(text)


def _kind(array):
    return "text" if array.dtype.kind == "U" else array.dtype
