"""Two answers, leaf by leaf and bit by bit; the first difference is named."""

import dataclasses

import numpy as np


class Mismatch(AssertionError):
    """Two answers differ where they must not, or agree where a bound is claimed."""


@dataclasses.dataclass(frozen=True)
class Bound:
    """A difference that is known, measured and understood.

    Attributes:
        pair: "topic.name".
        case: the slug of the case.
        way: the way it is seen in: "graph", "eager", "function", "dynamic", "xla".
        side: what it is compared with: "compat.v1" or "1.15.5".
        leaf: path of the leaf, as a failure prints it.
        ulps: the most units in the last place that any element may differ by.
        measured: the largest distance that was measured.
        reason: why the bits differ, in a sentence.
    """

    pair: str
    case: str
    way: str
    side: str
    leaf: str
    ulps: int
    measured: int
    reason: str


@dataclasses.dataclass
class Tally:
    """What a comparison compared."""

    leaves: int = 0
    elements: int = 0
    ulps: int = 0

    def __add__(self, other):
        return Tally(
            self.leaves + other.leaves,
            self.elements + other.elements,
            max(self.ulps, other.ulps),
        )


def compare(expected, actual, sides, bounds=None):
    """Asserts that two answers hold the same bits.

    The rungs, in order: which leaves there are, their dtypes and shapes, then their
    values (NaN where there is NaN, -0.0 where there is -0.0).

    Args:
        expected: {path: array}.
        actual: {path: array}.
        sides: the names of the two, for messages.
        bounds: {path: Bound} of the leaves that are known to differ.

    Returns:
        Tally: how much was compared, and the largest distance met.

    Raises:
        Mismatch: naming the first rung, leaf, index, both values and their distance.
    """
    bounds = bounds or {}
    left, right = sides
    if list(expected) != list(actual) and set(expected) != set(actual):
        only = [f"{p} only in {left}" for p in expected if p not in actual]
        only += [f"{p} only in {right}" for p in actual if p not in expected]
        raise Mismatch("different leaves: " + "; ".join(only))
    for path, a in expected.items():
        b = actual[path]
        if _kind(a) != _kind(b):
            raise Mismatch(f"{path}: dtype {a.dtype} in {left}, {b.dtype} in {right}")
        if a.shape != b.shape:
            raise Mismatch(f"{path}: shape {a.shape} in {left}, {b.shape} in {right}")
    tally = Tally()
    for path, a in expected.items():
        distance = _compare_leaf(path, a, actual[path], sides, bounds.get(path))
        tally += Tally(1, a.size, distance)
    if not tally.elements:
        raise Mismatch("nothing was compared: %s" % (list(expected) or "no leaves"))
    return tally


def _compare_leaf(path, a, b, sides, bound):
    same = same_bits(a, b)
    if bound is None:
        if same.all():
            return 0
    elif a.dtype.kind == "f":
        worst = int(ulps(a, b).max()) if a.size else 0
        if worst == 0 and same.all():
            raise Mismatch(f"{path}: identical now: remove its bound")
        if worst <= bound.ulps:
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
        text += ", bound %d)" % bound.ulps if bound else ")"
    raise Mismatch(text)


def _kind(array):
    return "text" if array.dtype.kind == "U" else array.dtype


def same_bits(a, b):
    """Where two arrays of one dtype and shape hold the same bits, any NaN being NaN."""
    if a.dtype.kind not in "fc":
        return a == b
    if a.dtype.kind == "c":
        return same_bits(a.real, b.real) & same_bits(a.imag, b.imag)
    return (np.isnan(a) & np.isnan(b)) | ((a == b) & (np.signbit(a) == np.signbit(b)))


def ulps(a, b):
    """Distance in units in the last place; 2**63 - 1 where just one side is NaN.

    Args:
        a: float16, float32 or float64 array.
        b: array of the same dtype and shape.

    Returns:
        uint64 array: how many representable numbers lie between the two, +0 and -0
        being one number.
    """
    whole = {2: np.int16, 4: np.int32, 8: np.int64}[a.dtype.itemsize]

    def ordered(x):
        bits = np.ascontiguousarray(x).view(whole).reshape(x.shape)
        mirrored = np.where(bits < 0, np.iinfo(whole).min - bits, bits)
        return mirrored.astype(np.int64)

    x, y = ordered(a), ordered(b)
    distance = np.atleast_1d(np.maximum(x, y)).view(np.uint64)  # arrays wrap silently
    distance = (distance - np.atleast_1d(np.minimum(x, y)).view(np.uint64)).reshape(
        a.shape
    )
    nan = np.isnan(a), np.isnan(b)
    distance = np.where(nan[0] ^ nan[1], np.uint64(2**63 - 1), distance)
    return np.where(nan[0] & nan[1], np.uint64(0), distance)
