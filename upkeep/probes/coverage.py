"""What is proven of every name: by a probe, by a pair whose left page calls it.

What is neither is in unprobed.tsv, with the reason why it cannot be probed.
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
    "abstract": "a base class or a type, of which nothing is called",
    "cluster": "it needs a TPU, a cluster or several devices",
    "display": "it writes summaries, logs or profiles for people",
    "download": "it downloads a file",
    "estimator": "a whole program of training hangs on it: see the topic",
    "graph": "it builds, edits or describes a graph, and TensorFlow 2 has none",
    "kernel": "no kernel of it runs on a CPU",
    "package": "it needs a package outside of TensorFlow, or its successor does",
    "page": "its successor is a program, not a call: it needs a page, if it has none",
    "process": "it changes or tells the process: eager mode, devices, memory",
    "queue": "queues and their threads feed a session",
    "removed": "nothing in TensorFlow 2 takes its place",
    "session": "it belongs to a session",
}
"""Why a name cannot be probed: a closed set."""
MODULES = ("layers", "losses", "nn", "math", "image", "initializers")
LITERAL = re.compile(r"tf(\.\w+)+")


@functools.cache
def used():
    """{name: uses in legacy code}, the names in most repositories first."""
    return uses(FOLDER / "used.tsv")


def uses(path):
    """{name: uses} of a tab-separated file with the columns symbol and uses."""
    return {row["symbol"]: int(row["uses"]) for row in tsv.rows(path)}


@functools.cache
def unprobed():
    """{name: why it cannot be probed}."""
    return {row["name"]: row["reason"] for row in tsv.rows(FOLDER / "unprobed.tsv")}


@functools.cache
def asked():
    """The functions and classes that must be proven, or say why they cannot be.

    The 600 names that legacy code uses most, all of six modules, and what a row offers
    a single name of TensorFlow 2 for, or TensorFlow 2 has under the same name as
    another object.
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
    """[(part, names, proven, uses, proven uses)] of the names that legacy code uses."""
    parts = {"still there": [], "renamed, or in compat.v1": [], "gone": []}
    for name in used():
        fact = facts.fact(name)
        if fact is None or fact.kind == "module":
            continue  # deeper than what is public
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
