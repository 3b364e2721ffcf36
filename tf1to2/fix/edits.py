"""Replaces byte ranges of a source."""

import typing


class Edit(typing.NamedTuple):
    """One range of bytes and its new text; an empty range is an insertion.

    Attributes:
        start, end: in bytes.
        text: str.
    """

    start: int
    end: int
    text: str


class Change(typing.NamedTuple):
    """Edits that belong together: all of them are applied, or none.

    Attributes:
        edits: tuple of `Edit`.
        imports: names that it needs to import, such as "absl.flags".
        looks: ((byte, pair), …) of the lines to review: a place in the line, and the
            pair that its mark names.
        rest: whether the finding needs more changes than these.
    """

    edits: tuple
    imports: tuple = ()
    looks: tuple = ()
    rest: bool = False


def without(source, node, siblings):
    """Returns the `Edit` that removes an item of a list and one comma next to it.

    Args:
        source: bytes.
        node: the node of the item.
        siblings: all nodes of the list, with the brackets and the commas.
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
    """Skips the bytes in `letters` from position `end`; returns the next position."""
    while (letter := source[end : end + 1]) and letter in letters:
        end += 1
    return end


def compatible(changes):
    """The changes that do not overlap with an earlier change.

    Calls are inside calls, so the edits of two changes may alternate. But no two edits
    may share a byte, and removed text may not contain another edit.
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
        return False  # two insertions at one place are fine
    if one.start == one.end or other.start == other.end:
        point, wide = (one, other) if one.start == one.end else (other, one)
        return wide.start < point.start < wide.end
    return one.start < other.end and other.start < one.end


def ordered(edits):
    """Sorts edits by position; at the same position, insertions come first.

    An outer call comes before its arguments: the text that it inserts before an
    argument comes before the text that the argument's own change inserts.
    """
    return sorted(edits, key=lambda edit: (edit.start, edit.end > edit.start))


def apply(source, edits):
    """Applies edits to a source.

    Args:
        source: bytes.
        edits: `Edit`s that do not overlap.
    """
    parts, place = [], 0
    for edit in ordered(edits):
        parts += [source[place : edit.start], edit.text.encode()]
        place = edit.end
    return b"".join([*parts, source[place:]])
