"""Two definitions side by side, as HTML."""

import functools
import re

from tf1to2.pages import sides
from tf1to2.pages.align import STEP, align
from tf1to2.view.coloured import Coloured, changed


@functools.cache
def coloured(module):
    """The `Coloured` of a module, made once."""
    return Coloured(module.source)


def columns(anchor, pair, titles=("TensorFlow 1", "TensorFlow 2")):
    """Both columns of a pair.

    Args:
        anchor: of the pair, in front of those of its steps; "" for no anchors.
        pair: (left Definition, right Definition).
        titles: above the columns.

    Returns:
        HTML. The grid puts each line below the last one of its column; what a column
        lacks is an empty piece of so many rows.
    """
    left, right = (coloured(definition.module) for definition in pair)
    rows = align(left.lines, right.lines, *map(sides.block, pair))
    docs = [side.docs.get(d.name) for side, d in zip((left, right), pair, strict=True)]
    shared = docs[0] and docs[1] and left.text(docs[0]) == right.text(docs[1])
    ours, theirs, steps, before = _Column(), _Column(), {}, False
    for row in rows:
        both = shared and row.same and row.left in docs[0] and row.right in docs[1]
        if both:  # what both sides say is one block
            if not before:
                ours.add("<span class=b>")
                theirs.add("<span class=c>")
            ours.spans[-1] += left.html(row.left)
            before = True
            continue
        marks, kind, before = ((), ()), "x", False
        if row.left and row.right:
            a, b = left.lines[row.left - 1], right.lines[row.right - 1]
            marks, kind = changed(a, b), "" if a.strip() == b.strip() else "z"
        step = row.left and STEP.match(left.lines[row.left - 1])
        anchored = ""
        if step and anchor:
            name = f"{anchor}.{slug(step['step'])}"
            steps[name] = steps.get(name, 0) + 1
            name += f"-{steps[name]}" if steps[name] > 1 else ""
            anchored = f' id="{name}"'
        if row.left:
            ours.add(f"<span class=l{kind}{anchored}>{left.html(row.left, marks[0])}")
        else:
            ours.gap += 1
        if row.right:
            theirs.add(f"<span class=r{kind}>{right.html(row.right, marks[1])}")
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
    """A definition that has one side, as HTML."""
    lines = map(
        coloured(definition.module).html, range(definition.start, definition.stop)
    )
    code = "".join(lines).rstrip()
    return f"{_head('side', title, definition.name)}<pre class=alone>{code}</pre>"


def _head(side, title, name):
    return (
        f"<p class={side}>{title} <button type=button data-copy={side}>"
        f"Copy<span class=of> {name} of {title}</span></button></p>"
    )


def slug(text):
    """A text as a part of an anchor."""
    return re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-")


class _Column:
    """The lines of one side, and how many rows are empty since the last of them."""

    def __init__(self):
        self.spans, self.gap = [], 0

    def add(self, span):
        if self.gap:
            self.spans.append(f'<span class=g style="grid-row:span {self.gap}">')
        self.spans.append(span)
        self.gap = 0

    @property
    def html(self):
        return "".join(f"{span}</span>" for span in self.spans)
