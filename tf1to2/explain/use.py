"""Writes example code for a name that `tf1to2 take` copies: import and call."""

import ast

from tf1to2.pages import library

MODULE = "legacy_numerics"
"""The module that the lines import from."""
METHODS = (
    "__call__",
    "minimize",
    "apply_gradients",
    "update_state",
    "apply",
    "lookup",
    "over",
)
"""Methods to show: for each class, the first of these that it has."""
FEW = 3  # the most optional arguments to show


def lines(names):
    """Returns the lines that copy, import and call names of `numerics`.

    Args:
        names: such as ["rnn.LSTMCell", "rnn.unroll"].

    Returns:
        List of lines: the command that takes them, the import, and a call of each.
    """
    if not names:
        return []
    known = library.numerics()
    plain = [name.rpartition(".")[2] for name in names]
    return [
        f"tf1to2 take {' '.join(names)} --output-file {MODULE}.py",
        f"from {MODULE} import {', '.join(plain)}",
        *(line for name in names for line in _calls(known[name])),
    ]


def _calls(definition):
    node, name = definition.node, definition.name
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [f"{name}({_arguments(node)})"]
    if not isinstance(node, ast.ClassDef):
        return []
    methods = {m.name: m for m in node.body if isinstance(m, ast.FunctionDef)}
    made = methods.get("__init__")
    variable = _variable(name)
    found = [f"{variable} = {name}({_arguments(made, 1) if made else '…'})"]
    shown = next((methods[m] for m in METHODS if m in methods), None)
    if shown:
        method = "" if shown.name == "__call__" else f".{shown.name}"
        found.append(f"{variable}{method}({_arguments(shown, 1)})")
    return found


def _variable(name):
    """Chooses a variable name for an object of a class: "cell" for LSTMCell."""
    words = "".join(f" {c}" if c.isupper() else c for c in name).split()
    return words[-1].lower() if len(words[-1]) > 1 else name.lower()


def _arguments(node, skipped=0):
    """Formats a function's arguments: the required ones, and a few optional ones."""
    plain = [*node.args.posonlyargs, *node.args.args][skipped:]
    needed = len(plain) - len(node.args.defaults)
    texts = [one.arg for one in plain[: max(0, needed)]]
    optional = [
        f"{one.arg}={ast.unparse(value)}"
        for one, value in zip(
            plain[max(0, needed) :], node.args.defaults[-len(plain) :], strict=False
        )
    ]
    texts += optional[:FEW]
    texts += ["…"] if optional[FEW:] or node.args.kwonlyargs else []
    return ", ".join(texts)
