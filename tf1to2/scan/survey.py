"""Makes names.tsv: every public name of TensorFlow 1.15.5, and what is left of it.

python -m tf1to2.scan.survey            compares the list with the installed TensorFlow

names.tsv has one line per name: symbol, kind, what the installed TensorFlow makes of it
("same", "differs", "v1", "gone", or the new name of the very same object), and the
parameters of functions and classes, then and now. Whatever needs judgement is in
verdicts.tsv.
"""

import csv
import inspect
import pathlib
import sys

PATH = pathlib.Path(__file__).with_name("names.tsv")
COLUMNS = ("symbol", "kind", "today", "parameters", "parameters_today")


def rows():
    """The lines of names.tsv, as dicts."""
    with PATH.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def main():
    """Rewrites the columns that depend on the installed TensorFlow."""
    import tensorflow as tf

    found = rows()
    for row in found:
        old, new = (_get(root, row["symbol"]) for root in (tf.compat.v1, tf))
        row["today"] = _today(tf, old, new)
        row["parameters_today"] = ""
        successor = new if new is not None else _get(tf, row["today"])
        if successor is not None:
            now = _parameters(successor)
            if now != row["parameters"]:
                row["parameters_today"] = now
    with PATH.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(
            file, COLUMNS, delimiter="\t", quoting=csv.QUOTE_NONE, lineterminator="\n"
        )
        writer.writeheader()
        writer.writerows(found)
    print(f"{len(found)} names, on TensorFlow {tf.__version__}")


def _get(root, symbol):
    """What `symbol` names under `root`, or None."""
    if not symbol.startswith("tf."):
        return None
    for name in symbol.split(".")[1:]:
        try:
            root = getattr(root, name, None)
        except (ImportError, ValueError):  # a lazy module whose package is missing
            return None
    return root


def _unwrapped(thing):
    """A function without its decorators; both versions dispatch on their own."""
    while hasattr(thing, "__wrapped__"):
        thing = thing.__wrapped__
    return thing


def _today(tf, old, new):
    if new is not None:
        return (
            "same" if old is None or _unwrapped(old) is _unwrapped(new) else "differs"
        )
    if old is None:
        return "gone"
    for thing in (old, _unwrapped(old)):
        names = vars(thing).get("_tf_api_names") if hasattr(thing, "__dict__") else None
        for name in names or ():
            if _get(tf, "tf." + name) is not None:
                return "tf." + name
    return "v1"


def _parameters(thing):
    if not callable(thing):
        return ""
    try:
        return ",".join(
            ("*" * (p.kind == p.VAR_POSITIONAL) + "**" * (p.kind == p.VAR_KEYWORD))
            + p.name
            for p in inspect.signature(thing).parameters.values()
            if p.name != "self"
        )
    except (TypeError, ValueError):
        return ""


if __name__ == "__main__":
    sys.exit(main())
