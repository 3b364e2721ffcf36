"""Shows two pages side by side in a terminal."""

import difflib
import functools
import os
import shutil
import sys

from tf1to2.pages.align import Row, align, blocks
from tf1to2.pages.definitions import needed
from tf1to2.pages.sides import block

WIDTH = 179
"""Columns if the output is not a terminal: two pages of 88 and the gutter."""
READABLE = 88
"""Columns of a paragraph, and of one page."""


def unified(sides, name=None):
    """Writes the `diff -u` of two files, or of a pair and all code that it needs.

    Args:
        sides: `sides.Sides`.
        name: a name on the left, or None for the files whole; then `patch` takes it.
    """
    if name is None:
        texts = [module.source for module in (sides.left, sides.right)]
    else:
        columns = zip(*sides.parts(name), strict=True)
        texts = [
            "\n\n\n".join(part.text for part in column if part) + "\n"
            for column in columns
        ]
    left, right = (text.splitlines(True) for text in texts)
    labels = (label(sides.left), label(sides.right))
    return "".join(difflib.unified_diff(left, right, *labels))


def label(module):
    """The title of a module above its code."""
    return module.name.replace(".", "/") + ".py" if "." in module.name else module.path


def side_by_side(sides, name=None, width=WIDTH, colour=False):
    """Writes two files, or a pair and all code that it needs, side by side.

    They are aligned at names and step markers.

    Args:
        sides: `sides.Sides`.
        name: a name on the left, or None for the files whole.
        width: columns to fill; long lines are wrapped.
        colour: whether to colour the syntax, by terminal escapes.

    Returns:
        The text, a line per row. The sign between the sides is "|" if the lines differ
        by more than indentation, "<" or ">" if only one side has a line.
    """
    column = (width - 3) // 2
    rule = f"{'─' * column}─┼─{'─' * (width - column - 3)}"
    page = functools.cache(lambda module: _Page(module, column, colour))
    output = [_labels(sides.left, sides.right, column)]
    shown = [sides.left, sides.right]
    for ours, theirs, here, there in _blocks(sides, name):
        output.append(rule)
        modules = [ours, theirs]
        heads = [
            [_end(str(label(module)), column)] if module not in (None, last) else []
            for module, last in zip(modules, shown, strict=True)
        ]
        if any(heads):  # a helper of a pair may be in another file
            output += [_row(*heads, " ", column)]
        shown = [module or last for module, last in zip(modules, shown, strict=True)]
        left, right = (page(module) if module else None for module in modules)
        for row in _rows(left, right, here, there):
            output.append(_lines(left, right, row, column))
    return "\n".join(output) + "\n"


def excerpt(sides, name, width=WIDTH, colour=False, count=20):
    """The first lines of one pair, without its docstring and its helpers.

    Args:
        sides, name, width, colour: as in `side_by_side`.
        count: the maximum number of lines; the last one says how many are left out.

    Returns:
        List of lines.
    """
    column = (width - 3) // 2
    ours, theirs = sides.pair(name)
    left, right = (_Page(one.module, column, colour) for one in (ours, theirs))
    dropped = docstring_lines(ours), docstring_lines(theirs)
    lines = [_labels(ours.module, theirs.module, column)]
    for row in align(left.lines, right.lines, block(ours), block(theirs)):
        if row.left in dropped[0] or row.right in dropped[1]:
            continue
        if not any(
            number and page.lines[number - 1].strip()
            for page, number in ((left, row.left), (right, row.right))
        ):
            continue
        lines += _lines(left, right, row, column).split("\n")
    whole = side_by_side(sides, name, width).count("\n")
    shown = lines[:count] if whole <= count else lines[: count - 1]
    more = whole - len(shown)
    pair = f"{ours.module.name.rpartition('.')[2]}.{name}"
    if more > 0:
        shown.append(f"… {more} more lines: tf1to2 diff {pair}")
    return shown


def docstring_lines(definition):
    """The line numbers of a definition's docstring, a set."""
    body = getattr(definition.node, "body", [])
    first = body[0] if definition.docstring else None
    return set(range(first.lineno, first.end_lineno + 1)) if first else set()


def alone(definition, colour=False):
    """Writes a definition and all code that it needs, each below its file's name."""
    parts, _ = needed([definition])
    parts = [definition, *(part for part in parts if part is not definition)]
    page = functools.cache(lambda module: _Page(module, sys.maxsize, colour))
    texts, last = [], None
    for part in parts:
        if part.module is not last:
            texts.append(f"{label(part.module)}\n{'─' * READABLE}\n")
        lines = map(page(part.module).wrapped, range(part.start, part.stop))
        texts.append("\n".join(line[0][0] for line in lines) + "\n\n")
        last = part.module
    return "\n".join(texts).rstrip() + "\n"


def _end(path, column):
    """Shortens a path to its end if it is longer than a column."""
    return path if len(path) <= column else "…" + path[1 - column :]


def _blocks(sides, name):
    """Yields (module, module, Block, Block) for each row; None for a missing side."""
    if name is not None:
        for row in sides.parts(name):
            modules = [part and part.module for part in row]
            yield (*modules, *[part and block(part) for part in row])
        return
    theirs = blocks(sides.right.source, sides.names.values())
    theirs = {other.name: other for other in theirs}
    for ours in blocks(sides.left.source, sides.names):
        other = theirs[sides.names.get(ours.name, "")]
        yield sides.left, sides.right, ours, other


def _rows(left, right, here, there):
    if left and right:
        return align(left.lines, right.lines, here, there)
    alone = here or there
    numbers = range(alone.start, alone.stop)
    return [Row(n if left else None, n if right else None, False) for n in numbers]


def _labels(ours, theirs, column):
    """The printed line with the titles of two modules."""
    return _row([str(label(ours))], [str(label(theirs))], " ", column)


def _lines(left, right, row, column):
    """Writes one row of two pages for the terminal; None for a missing page."""
    ours = left.wrapped(row.left) if left else []
    theirs = right.wrapped(row.right) if right else []
    return _row(ours, theirs, _sign(left, right, row), column)


def _sign(left, right, row):
    if row.left is None or row.right is None:
        return "<" if row.right is None else ">"
    ours, theirs = left.lines[row.left - 1], right.lines[row.right - 1]
    return " " if ours.strip() == theirs.strip() else "|"


class _Page:
    def __init__(self, module, column, colour):
        self.source, self.lines = module.source, module.lines
        self.column, self.colour = column, colour

    @functools.cached_property
    def _tokens(self):
        """For each line, the list of (text, escape sequence)."""
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
        """The line as a list of (printed text, number of columns)."""
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
    """Whether to print colours: on a terminal, unless `NO_COLOR` is set."""
    stream = stream or sys.stdout
    return stream.isatty() and "NO_COLOR" not in os.environ


def width(stream=None):
    """Returns the width of the output: of the terminal, `COLUMNS`, or two pages."""
    stream = stream or sys.stdout
    if stream.isatty() or "COLUMNS" in os.environ:
        return max(60, shutil.get_terminal_size().columns)
    return WIDTH
