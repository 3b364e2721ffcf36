"""Finds the names that are proven: by a probe, or by a pair whose left page calls them.

Names without a proof are in unprobed.tsv, with the reason why they cannot be probed.
"""

import functools
import pathlib
import re

from tf1to2.catalog import entries, facts, links
from tf1to2.common import tsv
from tf1to2.probes import probed

FOLDER = pathlib.Path(__file__).parent
REASONS = {
    "absent": "TensorFlow 1.15.5 does not have the name: it is older",
    "abstract": "a base class or a type, which code does not call",
    "cluster": "it needs a TPU, a cluster or several devices",
    "display": "it writes summaries, logs or profiles to be read by people",
    "download": "it downloads a file",
    "estimator": "it needs a whole training program: see the topic",
    "graph": "it builds, edits or describes a graph, which TensorFlow 2 does not have",
    "kernel": "it has no kernel for the CPU",
    "package": "it, or its successor, needs a package outside of TensorFlow",
    "page": "its successor is a program, not a call: write a page if it has no page",
    "process": "it changes or reads the process: eager mode, devices, memory",
    "queue": "it belongs to queues and their threads, which feed a session",
    "removed": "TensorFlow 2 has no successor",
    "session": "it belongs to a session",
}
"""The reasons why a name cannot be probed; unprobed.tsv has no others."""
MODULES = ("layers", "losses", "nn", "math", "image", "initializers")
LITERAL = re.compile(r"tf(\.\w+)+")


@functools.cache
def used():
    """Reads how often legacy code uses each name, most repositories first."""
    return uses(FOLDER / "used.tsv")


def uses(path):
    """Reads {name: uses} from a tab-separated file with columns symbol and uses."""
    return {row["symbol"]: int(row["uses"]) for row in tsv.rows(path)}


@functools.cache
def unprobed():
    """Reads the reasons why some names cannot be probed: {name: reason}."""
    return {row["name"]: row["reason"] for row in tsv.rows(FOLDER / "unprobed.tsv")}


@functools.cache
def asked():
    """Lists functions and classes that need a proof, or a reason in unprobed.tsv.

    These are the 600 names that legacy code uses most, all names of six modules, names
    whose row has a single name of TensorFlow 2, and names that mean another object in
    TensorFlow 2.
    """
    known = map(facts.fact, facts.names())
    callables = {fact.symbol: fact for fact in known if fact.kind in ("func", "class")}
    most = {name for name in list(used())[:600] if name in callables}
    modules = {n for n in callables if n.split(".")[1] in MODULES and n.count(".") == 2}
    offered = {
        name
        for name, fact in callables.items()
        if not name.startswith(("tf.contrib.", "tf.keras.", "tf.estimator."))
        and (
            LITERAL.fullmatch(entries.lookup(name).write)
            or fact.today == "differs"
            or fact.moved
        )
    }
    return sorted(most | modules | offered)


def proven(name):
    """Whether a probe or a left page calls a name or one of its aliases."""
    return name in probed() or bool(links.proofs(name))


def shares():
    """Counts used and proven names by part: still there, renamed, or gone."""
    parts = {"still there": [], "renamed, or in compat.v1": [], "gone": []}
    for name in used():
        fact = facts.fact(name)
        if fact is None or fact.kind == "module":
            continue  # deeper than public names
        part = 0 if fact.here else 2 if fact.today == "gone" else 1
        list(parts.values())[part].append(name)
    return [
        (
            part,
            len(members),
            sum(map(proven, members)),
            sum(used()[n] for n in members),
            sum(used()[n] for n in members if proven(n)),
        )
        for part, members in parts.items()
    ]
