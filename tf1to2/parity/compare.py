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
        ulps: the most units in the last place that any element may differ by; 0 where
            zeros alone differ, in their sign.
        measured: the largest distance that was measured.
        reason: why the bits differ, in a sentence.
        where: the releases that differ, as "tensorflow<2.17"; all, unless given.
        settings: "strict" or "default", where it is seen in these alone.
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


@dataclasses.dataclass
class Tally:
    """What a comparison compared.

    Attributes:
        leaves: how many arrays.
        elements: how many numbers and texts.
        ulps: the largest distance, in units in the last place.
        relative: the largest difference, relative to the largest value of its leaf;
            kept only where float32 is compared with the genuine TensorFlow 1.15.
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
    """Asserts that two answers hold the same bits.

    The rungs, in order: which leaves there are, the containers that hold them (a tuple
    is no list), their dtypes and shapes, then their values (NaN where there is NaN,
    -0.0 where there is -0.0).

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
    lost = [path for path in bounds if path not in expected]
    if lost:
        raise Mismatch("a bound on no leaf: " + ", ".join(lost))
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
        distance = _compare_leaf(path, a, actual[path], sides, bounds.get(path))
        tally += Tally(1, a.size, distance)
    if not tally.elements:
        raise Mismatch("nothing was compared: %s" % (list(expected) or "no leaves"))
    return tally


def difference(a, b):
    """In what two answers differ, roughly first.

    Args:
        a: {path: array}.
        b: {path: array}.

    Returns:
        "structure" where there are other leaves, "shape", "values" (whatever their
        dtypes); "dtype" or "container" where only that differs; "" where nothing does.
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
    """Where two arrays of one shape hold the same numbers, as the coarser has them."""
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
