"""Makes names.tsv: every public name of TensorFlow 1.15.5, and what is left of it.

python -m tf1to2.scan.survey            compares the list with the installed TensorFlow
python3.7 -m tf1to2.scan.survey         with 1.15.5 installed: makes privates.tsv

names.tsv has one line per name: symbol, kind, what the installed TensorFlow makes of it
("same", "differs", "v1", "gone", or the new name of the very same object), and the
parameters of functions and classes, then and now. Whatever needs judgement is in
verdicts.tsv. privates.tsv tells the public names of what legacy code takes from
tensorflow.python.
"""

import csv
import inspect
import pathlib
import sys

PATH = pathlib.Path(__file__).with_name("names.tsv")
PRIVATES = PATH.with_name("privates.tsv")
# Private modules that legacy code imports for what others define.
PRIVATE = "tensorflow.python."
FACADES = {
    PRIVATE + name
    for name in """ops.array_ops ops.math_ops ops.control_flow_ops ops.nn ops.nn_ops
    ops.io_ops ops.parsing_ops ops.random_ops ops.init_ops ops.variables ops.state_ops
    ops.variable_scope ops.clip_ops ops.check_ops ops.image_ops ops.string_ops
    ops.sparse_ops ops.rnn ops.rnn_cell ops.standard_ops framework.ops
    framework.constant_op platform.flags platform.app platform.gfile platform.test
    platform.tf_logging client.session util.nest summary.summary training.training
    layers.layers""".split()
}
COLUMNS = ("symbol", "kind", "today", "parameters", "parameters_today")


def rows():
    """The lines of names.tsv, as dicts."""
    with PATH.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def main():
    """Makes anew what depends on the installed TensorFlow."""
    import tensorflow as tf

    (_survey_privates if tf.__version__.startswith("1.") else _survey)(tf)


def _survey(tf):
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


def _survey_privates(tf):
    """Finds the public functions, classes and dtypes in the private modules."""
    public = {}
    for row in rows():
        symbol = row["symbol"]
        if not symbol.startswith("tf.contrib.") and row["kind"] in ("func", "class"):
            public.setdefault(id(_get(tf, symbol)), []).append(symbol)
    for name in dir(tf.dtypes):
        if isinstance(getattr(tf.dtypes, name), tf.DType):
            public[id(getattr(tf.dtypes, name))] = ["tf." + name]
    found = {}
    for module, content in sorted(sys.modules.items()):
        path = module.replace("tensorflow_core.", "tensorflow.", 1)
        if not path.startswith(PRIVATE) or "_api" in path:
            continue
        for name, thing in vars(content).items():
            home = getattr(thing, "__module__", None) or module
            at_home = home.split(".")[-1] in (module.split(".")[-1], "dtypes")
            generated = home.split(".")[-1].startswith(("gen_", "tf_"))
            if id(thing) in public and (at_home or generated or path in FACADES):
                # Of several public names: the one of this spelling, then the shortest.
                symbols = public[id(thing)]
                found[path + "." + name] = min(
                    symbols, key=lambda s: (s.split(".")[-1] != name, s.count("."), s)
                )
    for symbols in public.values():  # tf.constant is constant_v1, beside constant
        for symbol in symbols:
            home = getattr(_get(tf, symbol), "__module__", None) or ""
            name = symbol.split(".")[-1]
            path = home.replace("tensorflow_core.", "tensorflow.", 1)
            if hasattr(sys.modules.get(home), name) and path.startswith(PRIVATE):
                found.setdefault(path + "." + name, symbol)
    with PRIVATES.open("w", encoding="utf-8") as file:
        file.writelines("%s\t%s\n" % pair for pair in sorted(found.items()))
    print("%d private names, on TensorFlow %s" % (len(found), tf.__version__))


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
