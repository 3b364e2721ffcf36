"""Where a name leads: to the pair that shows it best, and to those that prove it.

calls.tsv, generated (see calls.py), knows which left pages call a name; the first of
them shows it best. links.tsv, written by hand, leads where that is not so, and the
names that no left page calls. Names of one object lead to one pair.
"""

import dataclasses
import functools
import pathlib

from tf1to2.catalog import facts
from tf1to2.common import tsv

FOLDER = pathlib.Path(__file__).parent


def pair(symbol):
    """The pair, or the topic, that shows a name best; "" where none does.

    A member leads where its class leads, unless there is a row of its own, or of the
    class that it is inherited from.

    Args:
        symbol: as `tf.nn.relu`, `tf.GraphKeys.UPDATE_OPS`, `.eval`.
    """
    owner = symbol
    while owner not in ("", "tf"):
        spellings = facts.aliases(owner)
        for name in spellings:
            if name in rows():
                return rows()[name]
        for name in spellings:
            if name in calls():
                return calls()[name][0]
        if owner == symbol and _inherited(symbol):
            return _inherited(symbol)
        owner = owner.rpartition(".")[0]
    depths = {}  # the shallowest names count: contrib's modules import one another
    for name in facts.aliases(symbol):
        depths.setdefault(name.count("."), []).extend(_above(name))
    patterns = next((depths[depth] for depth in sorted(depths) if depths[depth]), ())
    return rows()[max(patterns, key=lambda p: (len(p), p))] if patterns else ""


def proofs(symbol):
    """The pairs whose left page calls a name, the best first: these prove it."""
    pairs = [pair for name in facts.aliases(symbol) for pair in calls().get(name, ())]
    return list(dict.fromkeys(pairs))


def of_branches(entry, call):
    """The entry of a use, led by its call: a branch that hands out what is outside ran.

    `tf.cond(p, lambda: a, lambda: b)` chooses, but both `a` and `b` are computed.

    Args:
        entry: `catalog.Entry`.
        call: `records.Call`, or None where the name is not called.
    """
    if entry.symbol == "tf.cond" and call and call.handed:
        return dataclasses.replace(entry, pair="control_flow.branches_that_ran")
    return entry


def _inherited(symbol):
    """Where a member leads by the classes above its own, the nearest first; or ""."""
    owner, _, member = symbol.rpartition(".")
    for base in facts.bases(owner):
        name = f"{base}.{member}"
        if name in rows():
            return rows()[name]
        if name in calls():
            return calls()[name][0]
    return ""


def _above(name):
    """The patterns `module.*` of links.tsv that a name lies under."""
    parts = name.split(".")
    around = (".".join(parts[:end]) + ".*" for end in range(1, len(parts) + 1))
    return [pattern for pattern in around if pattern in rows()]


@functools.cache
def calls():
    """{name: pairs whose left page calls it}."""
    return {r["name"]: r["pairs"].split() for r in tsv.rows(FOLDER / "calls.tsv")}


@functools.cache
def rows():
    """{pattern: pair or topic} of links.tsv."""
    return {row["pattern"]: row["page"] for row in tsv.rows(FOLDER / "links.tsv")}
