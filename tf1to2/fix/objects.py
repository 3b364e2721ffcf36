"""Dimensions, which are numbers now, and assignments, which are methods."""

import re

from tf1to2.fix import arguments
from tf1to2.fix.edits import Change, Edit
from tf1to2.scan import facts

ASSIGNS = {
    "tf.assign": "assign",
    "tf.assign_add": "assign_add",
    "tf.assign_sub": "assign_sub",
}
MAKES = rb"\s*=\s*(?:tf|tensorflow)\.(?:Variable|get_variable)\("


def dimension(site, old):
    """`x.shape[0].value` becomes `x.shape[0]`, which is a number or None now."""
    if old or site.origin != ".value" or site.use.likely or site.node is None:
        return None
    owner = site.node.child_by_field_name("object")
    if site.call is not None or owner is None or site.is_assigned():
        return None
    return Change((Edit(owner.end_byte, site.node.end_byte, ""),))


def assignment(site, old):
    """`tf.assign(v, x)` becomes `v.assign(x)`, of a variable that the file makes."""
    symbol = next((n for n in facts.aliases(site.symbol) if n in ASSIGNS), None)
    if symbol is None or site.call is None or site.spelled("tf") is None:
        return None
    given = arguments.bound(site, facts.fact(site.symbol).signature)
    if not given or [one.name for one in given] != ["ref", "value"]:
        return None
    ref, value = given
    if ref.value.type not in ("identifier", "attribute"):
        return None
    name = re.escape(site.tree.bytes(ref.value))
    every = re.findall(rb"(?m)^\s*" + name + rb"\s*=(?!=)", site.tree.source)
    made = re.findall(rb"(?m)^\s*" + name + MAKES, site.tree.source)
    if not made or len(made) != len(every):
        return None
    text = f"{site.tree.text(ref.value)}.{ASSIGNS[symbol]}("
    return Change((Edit(site.node.start_byte, value.value.start_byte, text),))
