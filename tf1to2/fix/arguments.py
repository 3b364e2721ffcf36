"""Rewrites the arguments of a call for another signature."""

import typing

from tf1to2.catalog import signatures
from tf1to2.fix.edits import Edit, without
from tf1to2.source.names.syntax import NO_ARGUMENTS

SIMPLE = (
    *("identifier", "attribute", "call", "subscript", "integer", "float"),
    "parenthesized_expression",
)
"""Types of values that need no brackets in any expression."""


class Argument(typing.NamedTuple):
    """One argument of a call.

    Attributes:
        name: its name in the old signature.
        node: its node; for a keyword argument, with the keyword.
        value: the node of its value.
        place: its position from 0; None for a keyword argument.
    """

    name: str
    node: object
    value: object
    place: int | None


def bound(site, signature):
    """Matches the arguments of a call with the parameter names of a signature.

    Returns:
        List of `Argument`; None if the call has `*args`, too many positional arguments,
        or a keyword that the signature does not have.
    """
    if site.arguments is None or site.arguments.type != "argument_list":
        return None
    known = signatures.parameters(signature)[0]
    places = {p.place: p.name for p in known.values() if p.place is not None}
    found = []
    for node in site.arguments.named_children:
        if node.type in NO_ARGUMENTS:
            continue
        if node.type in ("list_splat", "dictionary_splat"):
            return None
        if node.type == "keyword_argument":
            name = site.tree.text(node.child_by_field_name("name"))
            value, place = node.child_by_field_name("value"), None
        else:
            place = len(found)
            name, value = places.get(place), node
        if name not in known:
            return None
        found.append(Argument(name, node, value, place))
    names = [one.name for one in found]
    return found if len(names) == len(set(names)) else None


def rewritten(
    site, given, now, renamed=None, added=(), wrapped=None, dropped=(), also=None
):
    """The edits that make the arguments of a call fit another signature.

    Args:
        site: the `Site` of the call.
        given: the result of `bound`.
        now: the new signature.
        renamed: {old name: new name}.
        added: {new name: text} of arguments to add if the call does not pass them.
        wrapped: {old name: (text before the value, text after it)}; the value gets
            brackets if it needs them.
        dropped: old names of arguments to remove.
        also: another signature that must accept them, for example that of 1.15.5.

    Returns:
        List of `Edit`; None if the new signature does not accept the arguments.
    """
    renamed, wrapped, added = renamed or {}, wrapped or {}, dict(added)
    new, more, keywords = signatures.parameters(now)
    other = signatures.parameters(also)[0] if also else new
    found, names, gone, last = [], [], False, None
    for one in given:
        if one.name in dropped:
            found.append(without(site.tree.source, one.node, site.arguments.children))
            gone = True
            continue
        name = renamed.get(one.name, one.name)
        names.append(name)
        if not (name in new and name in other or keywords and one.place is None):
            return None
        before, behind = wrapped.get(one.name, ("", ""))
        if one.name in wrapped and one.value.type not in SIMPLE:
            before, behind = f"{before}(", f"){behind}"
        in_place = name in new and new[name].place == other[name].place == one.place
        if one.place is None:
            label = one.node.child_by_field_name("name")
            if name != one.name:
                found.append(Edit(label.start_byte, label.end_byte, name))
        elif gone or not in_place:
            gone = True  # no position may follow a keyword
            before = f"{name}={before}"
        if before:
            found.append(Edit(one.value.start_byte, one.value.start_byte, before))
        if behind:
            found.append(Edit(one.value.end_byte, one.value.end_byte, behind))
        last = one
    texts = []
    for name, text in added.items():
        if name in names:
            continue
        names.append(name)
        in_place = new[name].place == len(given) + len(texts) and not gone
        gone = gone or not (in_place and all(one.place is not None for one in given))
        texts.append(f"{name}={text}" if gone or last is None else text)
    if texts and last is None:
        at = site.arguments.start_byte + 1
        found.append(Edit(at, at, ", ".join(texts)))
    elif texts:
        at = last.node.end_byte
        found.append(Edit(at, at, "".join(f", {text}" for text in texts)))
    required = {
        p.name for p in new.values() if p.default is None and p.place is not None
    }
    if len(names) != len(set(names)) or not (more or required <= set(names)):
        return None
    return found
