"""Two pages side by side in a terminal."""

import difflib
import functools
import os
import shutil
import sys

from tf1to2.view.align import align, blocks

WIDTH = 179
"""Columns where the output is no terminal: two pages of 88 and the gutter."""


def unified(topic, name=None):
    """The plain `diff -u` of a pair, as text that `patch` understands."""
    left, right = (p.read_text("utf-8").splitlines(True) for p in (topic.v1, topic.v2))
    if name:
        left, right = _only(left, topic, name), _only(right, topic, name)
    labels = (f"v1_graph/{topic.name}.py", f"v2_eager/{topic.name}.py")
    return "".join(difflib.unified_diff(left, right, *labels))


def _only(lines, topic, name):
    (block,) = [b for b in blocks("".join(lines), topic.pairs) if b.name == name]
    return lines[block.start - 1 : block.stop - 1]


def side_by_side(topic, name=None, width=WIDTH, colour=False):
    """The two sides of a topic, or of one pair, aligned on names and step markers.

    Args:
        topic: Topic.
        name: one public name, or None for the whole page.
        width: columns to fill; long lines are wrapped.
        colour: whether to colour the syntax, by terminal escapes.

    Returns:
        The text, a line per row. Between the sides stands "|" where the lines differ
        by more than indentation, "<" or ">" where a line stands on one side only.
    """
    column = (width - 3) // 2
    left, right = (_Page(path, column, colour) for path in (topic.v1, topic.v2))
    output = [
        _row([f"v1_graph/{topic.name}.py"], [f"v2_eager/{topic.name}.py"], " ", column)
    ]
    theirs = {block.name: block for block in blocks(right.source, topic.pairs)}
    for block in blocks(left.source, topic.pairs):
        if block.name not in theirs or (name and block.name != name):
            continue
        output.append(f"{'─' * column}─┼─{'─' * (width - column - 3)}")
        for row in align(left.lines, right.lines, block, theirs[block.name]):
            sign = _sign(left.lines, right.lines, row)
            output.append(
                _row(left.wrapped(row.left), right.wrapped(row.right), sign, column)
            )
    return "\n".join(output) + "\n"


def _sign(left, right, row):
    if row.left is None or row.right is None:
        return "<" if row.right is None else ">"
    return " " if left[row.left - 1].strip() == right[row.right - 1].strip() else "|"


class _Page:
    def __init__(self, path, column, colour):
        self.source = path.read_text("utf-8")
        self.lines = self.source.splitlines()
        self.column, self.colour = column, colour

    @functools.cached_property
    def _tokens(self):
        """Per line, the list of (text, escape sequence)."""
        if not self.colour:
            return [[(line, "")] for line in self.lines]
        from pygments.lexers import PythonLexer
        from pygments.token import Token

        lines = [[]]
        for kind, text in PythonLexer(stripnl=False).get_tokens(self.source):
            escape = next((e for k, e in _ESCAPES if kind in getattr(Token, k)), "")
            first, *rest = text.split("\n")
            lines[-1].append((first, escape))
            lines += [[(part, escape)] for part in rest]
        return lines

    def wrapped(self, number):
        """The line as a list of (printed text, columns it takes)."""
        if number is None:
            return []
        pieces, widths = [], []
        tokens = list(self._tokens[number - 1])
        for width in _widths(self.lines[number - 1], self.column):
            piece, rest = "", width
            while rest:
                text, escape = tokens.pop(0)
                if text[rest:]:
                    tokens.insert(0, (text[rest:], escape))
                text = text[:rest]
                rest -= len(text)
                piece += f"{escape}{text}\x1b[0m" if escape and text else text
            pieces.append(piece)
            widths.append(width)
        return list(zip(pieces, widths, strict=True))


def _widths(line, column):
    """The lengths of the pieces that a long line is cut into, at spaces if possible."""
    widths = []
    while len(line) > column:
        cut = line.rfind(" ", len(line) - len(line.lstrip()), column) + 1 or column
        widths.append(cut)
        line = line[cut:]
    return [*widths, len(line)]


_ESCAPES = (
    ("Comment", "\x1b[2m"),
    ("Keyword", "\x1b[35m"),
    ("Operator.Word", "\x1b[35m"),
    ("String", "\x1b[32m"),
    ("Number", "\x1b[36m"),
    ("Name.Function", "\x1b[1;34m"),
    ("Name.Class", "\x1b[1;34m"),
    ("Name.Decorator", "\x1b[33m"),
)


def _row(left, right, sign, column):
    left = [(x, len(x)) if isinstance(x, str) else x for x in left]
    right = [(x, len(x)) if isinstance(x, str) else x for x in right]
    height = max(len(left), len(right), 1)
    left += [("", 0)] * (height - len(left))
    right += [("", 0)] * (height - len(right))
    return "\n".join(
        f"{a}{' ' * (column - width)} {sign} {b}".rstrip()
        for (a, width), (b, _) in zip(left, right, strict=True)
    )


def wants_colour(stream=None):
    """Whether to colour: on a terminal, unless `NO_COLOR` is set."""
    stream = stream or sys.stdout
    return stream.isatty() and "NO_COLOR" not in os.environ


def width(stream=None):
    """The columns to fill: the terminal's, or `COLUMNS`, or room for two pages."""
    stream = stream or sys.stdout
    if stream.isatty() or "COLUMNS" in os.environ:
        return max(60, shutil.get_terminal_size().columns)
    return WIDTH
