"""Compares an answer with the numbers that the case has in `expect`."""

import numpy as np

from tf1to2.parity import structure
from tf1to2.parity.compare import Mismatch, compare


def compare_expected(proof, case, answer):
    """Compares the outputs of `answer` with `case.expect`.

    Raises:
        Mismatch: they differ.
    """
    outputs = outputs_of(answer)
    held = outputs.pop("structure", None)
    if not outputs and str(held) == structure.skeleton(case.expect):
        return  # empty, as expected
    wanted = dict(_expected(case.expect, outputs))
    try:
        compare(wanted, outputs, ("the expectation", "the answer"))
    except Mismatch as mismatch:
        raise Mismatch(f"{proof.name}.{case}: {mismatch}") from None


def outputs_of(answer):
    """Selects the leaves of an answer that are outputs, and their structure."""
    roots = ("outputs", "structure")
    return {p: x for p, x in answer.items() if p.split("/")[0] in roots}


def _expected(expect, outputs, path="outputs"):
    """Yields (path, array) for each output in `expect`; a list can be an array."""
    if path in outputs:
        yield path, _as_read(structure.as_array(np.asarray(expect)), outputs[path])
        return
    pairs = structure.children(expect)
    for key, subtree in [("", expect)] if pairs is None else pairs:
        if not any(p.startswith(f"{path}/{key}") for p in outputs):
            raise Mismatch(f"{path}/{key} is expected, but missing")
        yield from _expected(subtree, outputs, f"{path}/{key}")


def _as_read(leaf, like):
    """Casts an expected leaf to the answer's dtype, where the dtypes are compatible.

    For a float, `expect` may have an integer, or more digits than float32 has. For an
    integer, a bool or a text it must have the same type.
    """
    kind = like.dtype.kind
    if not leaf.size and kind != "U":  # an empty list has no dtype
        return leaf.astype(like.dtype)
    if kind in "fc" and leaf.dtype.kind in "iuf" + kind:
        return leaf.astype(like.dtype)
    if kind in "iu" and leaf.dtype.kind in "iu":
        exact = leaf.astype(like.dtype)
        return exact if (exact == leaf).all() else leaf
    return leaf
