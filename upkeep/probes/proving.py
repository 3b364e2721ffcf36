"""Compares the answers of new calls with the recorded answers of the old ones."""

import dataclasses
import functools
import pathlib
import re

import numpy as np

from tf1to2.parity import arrays, releases, structure
from tf1to2.parity.compare import Mismatch, compare
from tf1to2.parity.distance import LAST_BITS, same_bits
from tf1to2.parity.recordings import Recording
from tf1to2.probes import SIGN_OF_ZERO

RECORDING = pathlib.Path(__file__).with_name("probes.npz")
OTHER = 1e-3
"""A relative distance from which numbers count as completely different."""
SLACK = 4
"""The factor by which a distance may exceed the measured one."""
NAN, INF = float("nan"), float("inf")
WIDER = {
    np.dtype(np.float32): np.dtype(np.float64),
    np.dtype(np.complex64): np.dtype(np.complex128),
}
NARROWER = {wide: dtype for dtype, wide in WIDER.items()}
GIVEN = {
    **{n: getattr(arrays, n) for n in ("normal", "uniform", "dyadic", "integers")},
    "booleans": arrays.booleans,
    "np": np,
    "f32": np.float32,
    "i32": np.int32,
    "i64": np.int64,
    "nan": NAN,
    "inf": INF,
    "EDGES": np.float32([NAN, INF, -INF, -0.0, 0.0, 1.5, -2.5, 0.5, -0.3, 1e30]),
}


def widen(tree):
    """Widens arrays like `structure.widen`, but also complex numbers."""
    return structure.map_arrays(
        lambda _, a: a.astype(WIDER.get(a.dtype, a.dtype)), tree
    )


def narrow(leaves):
    """Narrows arrays like `structure.narrow`, but also complex numbers."""
    with np.errstate(over="ignore"):
        return {
            path: leaf.astype(NARROWER.get(leaf.dtype, leaf.dtype))
            for path, leaf in leaves.items()
        }


def cases(row):
    """Makes the requests for `tf1to2.parity.v1` from a probe: [(key, request)]."""
    found = []
    for line in row.inputs:
        scope = dict(GIVEN)
        exec(line, scope)
        given = {k: v for k, v in scope.items() if k not in GIVEN and k[0] != "_"}
        given = arrays.drawn(given, {}, row.old, line)
        if not row.exact:
            given = widen(given)
        request = {"kind": "program", "name": "run", "args": [row.old, given]}
        key = "|".join([row.old, line, *["as given"] * row.exact])
        found.append((key, {**request, "kwargs": {}}))
    return found


@functools.cache
def recording():
    """The answers of the genuine TensorFlow 1.15.5."""
    from upkeep.probes import left

    return Recording(RECORDING, left)


def prove(row, function=False):
    """Asserts that the new call of a probe gives the answer of the old call.

    Args:
        row: the `Probe`.
        function: whether it runs in a `tf.function`, not eagerly.

    Raises:
        Mismatch: a leaf differs; or no leaf differs, but the probe has a reason why.
        StaleRecording: this probe is not recorded: run `make upkeep`.
    """
    if not releases.here(row.where):
        row = dataclasses.replace(row, why="", within=0.0, raises="")
    if row.raises:
        return _prove_raises(row, function)
    distances = [_distance(row, row.new, *case, function) for case in cases(row)]
    if not row.why:
        return
    if row.within and max(distances) > most(row):
        raise Mismatch(f"{row}: distance {max(distances):.2g} > {most(row):.2g}")
    if not row.within and min(distances) < OTHER:
        raise Mismatch(f"{row}: distance below {OTHER}: remove its why, {row.why!r}")


def _prove_raises(row, function):
    """Asserts that the new call raises the probe's exception in every case."""
    from upkeep.probes import right

    for _, request in cases(row):
        try:
            right.run(row.new, request["args"][1], function)
        except Exception as error:
            if not re.match(row.raises, f"{type(error).__name__}: {error}"):
                raise
        else:
            raise Mismatch(f"{row}: raises no exception: remove its why, {row.why!r}")


def most(row):
    """Computes the largest allowed distance: 4 times the measured, plus rounding."""
    return row.within and SLACK * row.within + LAST_BITS * (row.within > SIGN_OF_ZERO)


def prove_naive(row):
    """Asserts that the old call, run today, raises or exceeds the distance `within`.

    Raises:
        Mismatch: it gives the same answer in every case.
    """
    for key, request in cases(row):
        try:
            if _distance(row, row.old, key, request, False) > most(row):
                return
        except Exception:  # any exception counts: it does not work
            return
    raise Mismatch(f"{row.name}: {row.old} gives the same answer today")


def _distance(row, code, key, request, function):
    """Computes an answer's distance from the recording: 0, relative, or infinite."""
    from upkeep.probes import right

    expected = recording().answer(key, request)
    expected = {  # the structure comes from `left.run`, whose answer is flat
        path.removeprefix("outputs/"): leaf
        for path, leaf in expected.items()
        if path != "structure"
    }
    actual = right.run(code, request["args"][1], function)
    if not row.exact:
        actual = narrow(actual)
    try:
        compare(expected, actual, ("1.15.5", "today"))
        return 0.0
    except Mismatch as mismatch:
        if code == row.new and not row.why:
            raise Mismatch(f"{row}, {key.split('|')[1]}: {mismatch}") from None
        if expected.keys() != actual.keys():
            return np.inf
        return max(_relative(expected[p], actual[p]) for p in expected)


def _relative(a, b):
    if a.shape != b.shape or a.dtype != b.dtype:
        return np.inf
    same = same_bits(a, b)
    if same.all():
        return 0.0
    if a.dtype.kind not in "fc" or not np.isfinite([a[~same], b[~same]]).all():
        return np.inf
    scale = np.abs(a[np.isfinite(a)].astype(np.complex128)).max()
    far = np.abs(a[~same].astype(np.complex128) - b[~same]).max()
    if not far:
        return SIGN_OF_ZERO
    return far / scale if far < scale else np.inf
