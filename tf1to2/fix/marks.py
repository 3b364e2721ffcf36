"""The marks of the lines that need a look."""

from tf1to2.fix.edits import Edit


def marks(tree, changes):
    """The edits that mark the lines which need a look.

    A mark stands at the end of the first line, from the change on, where a comment may
    stand: not within a string, before a line that goes on by a backslash, or within
    what is taken out.

    Args:
        tree: `sites.Tree`.
        changes: list of `Change` that are made.
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
