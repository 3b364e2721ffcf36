"""Two definitions side by side, as HTML."""

import collections
import functools
import itertools
import re

from tf1to2.pages import sides
from tf1to2.pages.align import STEP, Row, align
from tf1to2.view.coloured import Coloured, changed

SHORT = 3  # rows of docstrings that are not folded


@functools.cache
def coloured(module):
    """The `Coloured` of a module, made once."""
    return Coloured(module.source)


def columns(anchor, pair, titles=("TensorFlow 1", "TensorFlow 2")):
    """Renders a pair in two columns.

    Args:
        anchor: of the pair, in front of those of its steps; "" for no anchors.
        pair: (left Definition, right Definition).
        titles: above the columns.

    Returns:
        HTML. The grid puts each line below the last one of its column; what a column
        lacks is an empty piece of so many rows. Of long docstrings the first line is
        shown; a button shows the rest on both sides.
    """
    modules = [coloured(definition.module) for definition in pair]
    left, right = modules
    docs = [_docstring(*both) for both in zip(modules, pair, strict=True)]
    shared = left.text(docs[0]) == right.text(docs[1])
    rows = align(left.lines, right.lines, *map(sides.block, pair))
    head, rest, body = _parts(rows, docs)
    if len(rest) <= SHORT:
        head, rest = head + rest, []
    ours, theirs, steps = _Column(), _Column(), collections.Counter()

    def in_both(row):  # the same in both docstrings
        return shared and row.same and row.left in docs[0] and row.right in docs[1]

    for part in filter(None, (head, rest, body)):
        for column in (ours, theirs):
            column.begin(len(part) if part is rest else 0)
        for is_block, group in itertools.groupby(part, in_both):
            if is_block:
                ours.add("b", "".join(left.html(row.left) for row in group))
                theirs.add("c")
                continue
            for row in group:
                marks, kind = ((), ()), "x"
                if row.left and row.right:
                    a, b = left.lines[row.left - 1], right.lines[row.right - 1]
                    marks, kind = changed(a, b), "" if a.strip() == b.strip() else "z"
                if row.left:
                    step = _step(left.lines[row.left - 1], anchor, steps)
                    ours.add(f"l{kind}", left.html(row.left, marks[0]), step)
                else:
                    ours.gap += 1
                if row.right:
                    theirs.add(f"r{kind}", right.html(row.right, marks[1]))
                else:
                    theirs.gap += 1
    heads = [
        _head(side, title, definition.name)
        for side, title, definition in zip("lr", titles, pair, strict=True)
    ]
    return (
        f"<div class=sides>{heads[0]}<code class=l>{ours.html}</code>"
        f"{heads[1]}<code class=r>{theirs.html}</code></div>"
    )


def single(title, definition):
    """Renders a definition that has only one side as HTML."""
    lines = map(
        coloured(definition.module).html, range(definition.start, definition.stop)
    )
    code = "".join(lines).rstrip()
    return f"{_head('side', title, definition.name)}<pre class=alone>{code}</pre>"


def _docstring(module, definition):
    """The range of the line numbers of a docstring; empty without a docstring."""
    body = getattr(definition.node, "body", None)
    first = body[0].lineno if body else definition.stop
    return module.docs.get(definition.name, range(first, first))


def _parts(rows, docs):
    """Splits rows into first lines of docstrings, rest of docstrings, and code.

    Args:
        rows: of `align`.
        docs: (numbers of the lines of the left docstring, of the right one).

    Returns:
        Three lists of rows. A docstring and code in one row get a row each.
    """
    parts = [], [], []
    for row in rows:
        where = {
            side: 0 if number < doc[:1].stop else 1 if number in doc else 2
            for side, number, doc in zip("lr", (row.left, row.right), docs, strict=True)
            if number
        }
        if len(set(where.values())) == 1:
            parts[where.popitem()[1]].append(row)
        else:
            parts[where["l"]].append(Row(row.left, None, False))
            parts[where["r"]].append(Row(None, row.right, False))
    return parts


def _step(line, anchor, steps):
    """The attribute `id` of a line that begins a step; "" for other lines.

    Args:
        line: a line of the left page.
        anchor: of the pair; "" for no ids.
        steps: Counter of the ids so far, which it counts.
    """
    match = STEP.match(line)
    if not match or not anchor:
        return ""
    name = f"{anchor}.{slug(match['step'])}"
    steps[name] += 1
    return f' id="{name}{f"-{steps[name]}" if steps[name] > 1 else ""}"'


def _head(side, title, name):
    return (
        f"<p class={side}>{title} <button type=button data-copy={side}>"
        f"Copy<span class=of> {name} of {title}</span></button></p>"
    )


def slug(text):
    """Converts a text to a form that can be part of an anchor."""
    return re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-")


class _Column:
    """The lines of one side, and the number of empty rows after the last line."""

    def __init__(self):
        self.spans, self.gap, self.folded = [], 0, False

    def begin(self, folded):
        """Begins a part; if it has `folded` rows, adds a button that shows them."""
        self._fill()
        self.folded = folded
        if folded:
            button = "<button type=button data-docs aria-expanded=false>"
            label = f"Docstring: {folded} more lines"
            self.spans.append(f"<span class=u>{button}{label}</button>")

    def add(self, kind, text="", anchored=""):
        """Adds a piece of a kind, which is a class of site.css."""
        self._fill()
        self._start(kind, anchored)
        self.spans[-1] += text

    def _fill(self):
        if self.gap:
            self._start("g", f' style="grid-row:span {self.gap}"')
        self.gap = 0

    def _start(self, kind, more):
        kind = f'"{kind} d"' if self.folded else kind
        self.spans.append(f"<span class={kind}{more}>")

    @property
    def html(self):
        return "".join(f"{span}</span>" for span in self.spans)
