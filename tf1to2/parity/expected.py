"""Compares an answer with the numbers that a reader of the case expects."""

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
    """The leaves of an answer that the page returned, and their structure."""
    roots = ("outputs", "structure")
    return {p: x for p, x in answer.items() if p.split("/")[0] in roots}


def _expected(expect, outputs, path="outputs"):
    """Yields (path, array) of `expect`, whose lists may stand for arrays."""
    if path in outputs:
        yield path, _as_read(structure.as_array(np.asarray(expect)), outputs[path])
        return
    pairs = structure.children(expect)
    for key, subtree in [("", expect)] if pairs is None else pairs:
        if not any(p.startswith(f"{path}/{key}") for p in outputs):
            raise Mismatch(f"{path}/{key} is expected and missing")
        yield from _expected(subtree, outputs, f"{path}/{key}")


def _as_read(leaf, like):
    """An expected leaf in the dtype of the answer, where it is the number as read.

    A float answer may be expected as an integer or in more digits than it has; an
    integer, a truth value or a text only as what it is.
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
