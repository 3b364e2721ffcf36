"""Byte ranges of a source, replaced."""

import typing


class Edit(typing.NamedTuple):
    """One range and what takes its place: an insertion where it is empty.

    Attributes:
        start, end: in bytes.
        text: str.
    """

    start: int
    end: int
    text: str


class Change(typing.NamedTuple):
    """Edits that belong together: all of them are made, or none.

    Attributes:
        edits: tuple of `Edit`.
        imports: what it imports from modules, such as "absl.flags".
        looks: ((byte, pair), …) of what needs a look: where the line is, and the pair
            that its mark names.
        rest: whether the finding says more, which is still to be done.
    """

    edits: tuple
    imports: tuple = ()
    looks: tuple = ()
    rest: bool = False


def without(source, node, siblings):
    """The `Edit` that takes one of a list out, with the comma before or behind it.

    Args:
        source: bytes.
        node: the node.
        siblings: nodes, it among them, with the brackets and the commas.
    """
    at = next(n for n, one in enumerate(siblings) if one == node)
    before = siblings[at - 1]
    if before.type == ",":
        return Edit(before.start_byte, node.end_byte, "")
    behind = siblings[at + 1]
    if behind.type != ",":
        return Edit(node.start_byte, node.end_byte, "")
    return Edit(node.start_byte, white(source, behind.end_byte, b" \n\t"), "")


def white(source, end, letters):
    """Where letters end that stand at a place of a source."""
    while (letter := source[end : end + 1]) and letter in letters:
        end += 1
    return end


def compatible(changes):
    """Those changes that do not touch what an earlier one has replaced.

    Calls lie within calls, so their edits may lie between one another; no two may share
    a byte, and what is removed may hold no other edit.
    """
    kept, taken = [], []
    for change in changes:
        if not any(_meet(one, other) for one in change.edits for other in taken):
            kept.append(change)
            taken += change.edits
    return kept


def _meet(one, other):
    if one == other:
        return True
    if one.start == one.end and other.start == other.end:
        return False  # two insertions stand side by side
    if one.start == one.end or other.start == other.end:
        point, wide = (one, other) if one.start == one.end else (other, one)
        return wide.start < point.start < wide.end
    return one.start < other.end and other.start < one.end


def ordered(edits):
    """Edits in the order of the text; at one place, as they were given.

    An outer call comes before its arguments: what is inserted before an argument stands
    before what its own call begins with.
    """
    return sorted(edits, key=lambda edit: (edit.start, edit.end > edit.start))


def apply(source, edits):
    """A source with all edits made.

    Args:
        source: bytes.
        edits: `Edit`s that do not meet.
    """
    parts, place = [], 0
    for edit in ordered(edits):
        parts += [source[place : edit.start], edit.text.encode()]
        place = edit.end
    return b"".join([*parts, source[place:]])
