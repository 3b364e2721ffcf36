"""Marks the lines to review with a comment `# TODO(tf1to2: pair)`."""

from tf1to2.fix.edits import Edit


def marks(tree, changes):
    """The edits that mark the lines to review.

    A mark is at the end of the first line, from the change on, that may have a comment:
    the end is not in a string, after a backslash, or in removed text.

    Args:
        tree: `sites.Tree`.
        changes: list of the `Change`s to apply.
    """
    wide = [e for one in changes for e in one.edits if e.end > e.start]
    looks = [look for one in changes for look in one.looks]
    found = dict.fromkeys((_line_end(tree, at, wide), pair) for at, pair in looks)
    return [Edit(at, at, f"  # TODO(tf1to2: {pair})") for at, pair in found]


def _line_end(tree, place, wide):
    source = tree.source
    while True:
        end = source.find(b"\n", place)
        if end < 0:
            return len(source)
        if (
            source[end - 1 : end] != b"\\"
            and not any(edit.start <= end < edit.end for edit in wide)
            and not tree.is_text(end)
        ):
            return end
        place = end + 1
