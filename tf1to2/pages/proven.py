"""The proof of a pair in words: verdict, cases, ways to run it, bounds."""

import functools
import json

from tf1to2.common.words import counted
from tf1to2.pages import topics

WAYS = {
    "graph": "compat.v1",
    "eager": "eager",
    "function": "tf.function",
    "dynamic": "unknown shapes",
    "xla": "XLA",
    "generated": "any size",
}
SIDES = (("1.15.5", "1.15.5"), ("eager", "eager"), ("function", "tf.function"))


@functools.cache
def proofs():
    """Reads {topic: {pair: its proof}} from the file that `make upkeep` writes."""
    path = topics.folder("parity_tests") / "proofs.json"
    return json.loads(path.read_text("utf-8"))


def verdict(proof):
    """The verdict on a pair: "identical", or the distance in the strict settings."""
    bounds = [b for b in proof["bounds"] if b["settings"] != "default"]
    if bounds:
        far = told(bounds)
        of_gradients = all(b["leaf"].startswith("gradients/") for b in bounds)
        return f"outputs identical, gradients {far}" if of_gradients else far
    return "identical" + " in the strict settings" * bool(proof["bounds"])


def told(bounds):
    """Writes the largest distance of some bounds in words."""
    far = [b["ulps"] for b in bounds if not b["noise"]]
    if far:
        return f"within {max(far)} ULP"
    return f"identical but for noise below {max(b['noise'] for b in bounds):.0e}"


def ways(proof):
    """Lists the ways in which a pair was run: "compat.v1, eager, tf.function"."""
    return ", ".join(WAYS[way] for way in WAYS if way in proof["ways"])


def cases(proof):
    """Returns the number of cases in words: "1 case", "2 cases"."""
    return counted(proof["cases"], "case")


def notes(proof):
    """Lists the notes below the verdict, in Markdown: bounds, ways left out, …."""
    found = [f"{bound['case']}: {bound['reason']}" for bound in proof["bounds"]]
    found += [
        f"Not proven for {WAYS.get(w, w)}: {reason}." for w, reason in proof["skips"]
    ]
    found += [
        f"False friend ({f['slug']}): the left page gives `{f['left']}`, the obvious "
        f"replacement `{f['naive']}`: {f['because']}."
        for f in proof["false friends"]
    ]
    for error in proof["errors"]:
        told = ", ".join(
            f"{side} " + (f"`{error[key]}`" if error[key] else "works")
            for key, side in SIDES
        )
        match = f" (`{error['match']}`)" if error["match"] else ""
        found.append(f"{error['slug']}: {told}{match}")
    return found
