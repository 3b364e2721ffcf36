"""The distance of two arrays: in bits, in units in the last place, and relative."""

import numpy as np

LAST_BITS = 2.0**-20
"""How much float32 may differ between machines, relative to the largest value.

Kernels sum in an order that depends on the processor: on its vector instructions, the
size of its caches, its approximations of 1 / x and 1 / sqrt(x).
"""

NOT_NUMBERS = 2**63 - 2
"""A distance in units in the last place above it means NaN on one side only."""

NOISE_SLACK = 8
"""The factor by which noise may exceed its measured magnitude."""


def same_bits(a, b):
    """A mask of the elements whose bits agree in two arrays; all NaN are equal."""
    if a.dtype.kind not in "fc":
        return a == b
    if a.dtype.kind == "c":
        return same_bits(a.real, b.real) & same_bits(a.imag, b.imag)
    return (np.isnan(a) & np.isnan(b)) | ((a == b) & (np.signbit(a) == np.signbit(b)))


def ulps(a, b):
    """Distance in units in the last place; 2**63 - 1 where only one side is NaN.

    Args:
        a: float16, float32 or float64 array.
        b: array of the same dtype and shape.

    Returns:
        uint64 array: how many representable numbers are between the two; +0 and -0
        count as one number.
    """
    whole = {2: np.int16, 4: np.int32, 8: np.int64}[a.dtype.itemsize]

    def ordered(x):
        bits = np.ascontiguousarray(x).view(whole).reshape(x.shape)
        mirrored = np.where(bits < 0, np.iinfo(whole).min - bits, bits)
        return mirrored.astype(np.int64)

    x, y = ordered(a), ordered(b)
    distance = np.atleast_1d(np.maximum(x, y)).view(np.uint64)  # arrays wrap
    distance = (distance - np.atleast_1d(np.minimum(x, y)).view(np.uint64)).reshape(
        a.shape
    )
    nan = np.isnan(a), np.isnan(b)
    distance = np.where(nan[0] ^ nan[1], np.uint64(2**63 - 1), distance)
    return np.where(nan[0] & nan[1], np.uint64(0), distance)


def distance(expected, actual):
    """The largest distance of two float arrays of one dtype and shape.

    Returns:
        (units in the last place, relative to the largest value of `expected`); both
        are 0 if the bits are the same; zeros of different sign are 1 unit apart.
    """
    same = same_bits(expected, actual)
    if same.all():
        return 0, 0.0
    if expected.dtype.kind == "c":
        parts = [(x.real, x.imag) for x in (expected, actual)]
        return tuple(map(max, zip(*(distance(*pair) for pair in zip(*parts)))))
    units = max(1, int(ulps(expected, actual).max()))
    left, right = expected.astype(np.float64), actual.astype(np.float64)
    with np.errstate(invalid="ignore"):  # equal infinities
        apart = np.abs(left - right)[~same]
    largest = magnitude(left)
    return units, float(apart.max() / largest) if largest else float(apart.max())


def magnitude(*arrays):
    """The largest finite absolute value in float arrays; 0 if no value is finite."""
    finite = [np.abs(array[np.isfinite(array)]) for array in arrays]
    return float(max([0.0, *(array.max() for array in finite if array.size)]))
