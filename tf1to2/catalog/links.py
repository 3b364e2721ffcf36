"""From a name to the pair that shows it best, and to the pairs that prove it.

calls.tsv, generated (see calls.py), lists the pairs whose left page calls a name; the
first one shows it best. links.tsv, written by hand, overrides that, and has the names
that no left page calls. All names of one object lead to one pair.
"""

import dataclasses
import functools
import pathlib

from tf1to2.catalog import facts
from tf1to2.common import tsv

FOLDER = pathlib.Path(__file__).parent


def pair(symbol):
    """The pair, or the topic, that shows a name best; "" if none does.

    A member has the pair of its class, unless the member itself, or the class that it
    is inherited from, has a row.

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
    depths = {}  # the shortest names count: contrib's modules import one another
    for name in facts.aliases(symbol):
        depths.setdefault(name.count("."), []).extend(_above(name))
    patterns = next((depths[depth] for depth in sorted(depths) if depths[depth]), ())
    return rows()[max(patterns, key=lambda p: (len(p), p))] if patterns else ""


def proofs(symbol):
    """The pairs that prove a name, because their left page calls it; the best first."""
    pairs = [pair for name in facts.aliases(symbol) for pair in calls().get(name, ())]
    return list(dict.fromkeys(pairs))


def of_branches(entry, call):
    """Changes the pair of a `tf.cond` entry if the call computes both branches.

    `tf.cond(p, lambda: a, lambda: b)` chooses, but computes both `a` and `b`. All other
    entries stay as they are.

    Args:
        entry: `catalog.Entry`.
        call: `records.Call`, or None if the name is not called.
    """
    if entry.symbol == "tf.cond" and call and call.handed:
        return dataclasses.replace(entry, pair="control_flow.branches_that_ran")
    return entry


def _inherited(symbol):
    """Finds the pair of a member in the nearest base class with a pair, or ""."""
    owner, _, member = symbol.rpartition(".")
    for base in facts.bases(owner):
        name = f"{base}.{member}"
        if name in rows():
            return rows()[name]
        if name in calls():
            return calls()[name][0]
    return ""


def _above(name):
    """The patterns `module.*` of links.tsv that match a name, the shortest first."""
    parts = name.split(".")
    around = (".".join(parts[:end]) + ".*" for end in range(1, len(parts) + 1))
    return [pattern for pattern in around if pattern in rows()]


@functools.cache
def calls():
    """{name: pairs whose left page calls it}, from calls.tsv."""
    return {r["name"]: r["pairs"].split() for r in tsv.rows(FOLDER / "calls.tsv")}


@functools.cache
def rows():
    """{pattern: pair or topic} of links.tsv."""
    return {row["pattern"]: row["page"] for row in tsv.rows(FOLDER / "links.tsv")}
