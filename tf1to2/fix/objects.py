"""Rewrites `.value` of a dimension, `tf.assign`, and arguments of `tf.name_scope`."""

from tf1to2.catalog import facts
from tf1to2.fix import arguments
from tf1to2.fix.edits import Change, Edit
from tf1to2.fix.sites import is_bound

ASSIGNS = {
    "tf.assign": "assign",
    "tf.assign_add": "assign_add",
    "tf.assign_sub": "assign_sub",
}
MAKERS = ("Variable", "get_variable")


def dimension(site, old):
    """`x.shape[0].value` becomes `x.shape[0]`, which is a number or None today."""
    if old or site.origin != ".value" or site.use.likely or site.node is None:
        return None
    owner = site.node.child_by_field_name("object")
    if site.call is not None or owner is None or site.is_assigned():
        return None
    return Change((Edit(owner.end_byte, site.node.end_byte, ""),))


def assignment(site, old):
    """`tf.assign(v, x)` becomes `v.assign(x)`, if the file makes the variable."""
    symbol = next((n for n in facts.aliases(site.symbol) if n in ASSIGNS), None)
    if symbol is None or site.call is None or site.spelled("tf") is None:
        return None
    given = arguments.bound(site, facts.fact(site.symbol).signature)
    if not given or [one.name for one in given] != ["ref", "value"]:
        return None
    ref, value = given
    if ref.value.type not in ("identifier", "attribute"):
        return None
    if not _is_variable(site, ref.value):
        return None
    text = f"{site.tree.text(ref.value)}.{ASSIGNS[symbol]}("
    return Change((Edit(site.node.start_byte, value.value.start_byte, text),))


def _is_variable(site, node):
    """Returns whether every value that the file assigns to a name is a variable."""
    text, tree = site.tree.text(node), site.tree
    if node.type == "identifier":
        bound = [n for n in tree.words[text] if is_bound(n)]
    else:
        bound = [
            n.child_by_field_name("left")
            for n in tree.nodes("assignment")
            if tree.text(n.child_by_field_name("left")) == text
        ]
    made = tuple(f"{site.spelled('tf')}.{maker}(" for maker in MAKERS)
    values = [n.parent.child_by_field_name("right") for n in bound]
    return bool(values) and all(
        value is not None and tree.text(value).startswith(made) for value in values
    )


def scope(site, _):
    """Rewrites `tf.name_scope(name, "default", values)` to have only a name."""
    if site.symbol != "tf.name_scope" or site.call is None:
        return None
    given = arguments.bound(site, facts.fact(site.symbol).signature)
    by_name = {one.name: one for one in given or ()}
    name, default = by_name.get("name"), by_name.get("default_name")
    if name is None or len(by_name) == 1:
        return None
    found = arguments.rewritten(
        site, given, "(name)", dropped=("default_name", "values")
    )
    kind, place = name.value.type, name.value
    if kind not in ("identifier", "attribute", "string", "none"):
        return None
    if kind == "none" and default is None:
        return None
    if default is not None and kind != "string":
        if default.value.type != "string":
            return None
        text = site.tree.text(default.value)
        if kind == "none":
            found.append(Edit(place.start_byte, place.end_byte, text))
        else:
            found.append(Edit(place.end_byte, place.end_byte, f" or {text}"))
    return Change(tuple(found))
