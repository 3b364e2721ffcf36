"""Finds and adds imports at the top of a file."""

from tf1to2.fix.edits import Edit
from tf1to2.fix.sites import IMPORTS


def imported(tree, package):
    """Maps the names imported from a package to their local names in a file.

    Args:
        tree: `sites.Tree`.
        package: such as "absl".
    """
    found = {}
    for node in tree.statements():
        if node.type != "import_from_statement":
            continue
        if tree.module(node) == package:
            for name in node.children_by_field_name("name"):
                dotted, alias = tree.imported(name)
                found[dotted] = alias or dotted
    return found


def tensorflow(tree):
    """Returns the name bound by `import tensorflow as tf`; None if not imported."""
    for node in tree.statements():
        for name in node.children_by_field_name("name"):
            dotted, alias = tree.imported(name)
            if node.type == "import_statement" and dotted == "tensorflow":
                return alias or dotted
    return None


def free(tree, module):
    """Returns an unused name for a module in a file: "flags", or "absl_flags"."""
    package, _, name = module.rpartition(".")
    return name if name not in tree.words else f"{package.rpartition('.')[2]}_{name}"


def called(tree, module):
    """Returns the name of an imported module in a file, or a free name for it."""
    package, _, name = module.rpartition(".")
    return imported(tree, package).get(name) or free(tree, module)


def added(tree, modules):
    """Returns the `Edit` that adds the missing imports; None if none is missing.

    Args:
        tree: `sites.Tree`.
        modules: names such as "absl.flags".
    """
    wanted = {}
    for module in sorted(modules):
        package, _, name = module.rpartition(".")
        if name not in imported(tree, package):
            alias = free(tree, module)
            also = f" as {alias}" if alias != name else ""
            wanted.setdefault(package, []).append(name + also)
    lines = [f"from {p} import {', '.join(names)}\n" for p, names in wanted.items()]
    if not lines:
        return None
    at = _place(tree)
    if at is None:
        at = len(tree.source)
    return Edit(at, at, "".join(lines))


def _place(tree):
    """Finds the byte for new imports: before the first TensorFlow import, if any."""
    plain = [n for n in tree.statements() if n.type in IMPORTS]
    ours = [n for n in plain if b"tensorflow" in tree.bytes(n)]
    for node in ours or plain:
        if node.start_point[1] == 0:
            return node.start_byte
    for node in tree.statements():
        if node.type not in ("future_import_statement",) and not _is_docstring(node):
            return node.start_byte
    return None


def _is_docstring(node):
    return (
        node.type == "expression_statement" and node.named_children[0].type == "string"
    )
