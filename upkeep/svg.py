"""Draws a pair side by side as SVG with real text, for light or dark pages."""

import html
import itertools

from tf1to2.pages import library, proven, sides
from tf1to2.pages.align import align
from tf1to2.view.coloured import changed
from tf1to2.view.site import DARK, LIGHT
from tf1to2.view.website.columns import coloured

# Colours of Furo, the site's theme; the other colours are in the site's CSS.
GROUNDS = {
    False: dict(ground="#ffffff", bar="#f8f9fb", text="#1f2328", sign="#5a5c63"),
    True: dict(ground="#131416", bar="#1a1c1e", text="#cfd0d0", sign="#9ca0a5"),
}
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"
SIZE, STEP, CHARACTER = 14, 20, 8.4  # of the font, of lines, of a character's width
BAR, GUTTER, MARGIN = 32, 26, 10  # title's height, sign's width, right margin
HANGING = 4  # indentation of the rest of a long line


def pair(name, dark=False, narrow=False):
    """Draws a pair: aligned as on the site, without docstrings.

    Args:
        name: "basics.train_classifier".
        dark: whether it is for a dark page.
        narrow: whether one side is above the other, for a telephone.

    Returns:
        The text of an SVG file, as wide as the page.
    """
    definitions = library.pairs()[name]
    modules = [coloured(definition.module) for definition in definitions]
    columns = 60 if narrow else 70
    rows = _rows(definitions, modules, columns)
    width = GUTTER + columns * CHARACTER + MARGIN
    heads = [_head(definition) for definition in definitions]
    out, y = [], 0
    if narrow:
        for side in (0, 1):
            out.append(_bar(0, y, width, heads[side]))
            y += BAR
            for cell in (row[side] for row in rows if row[side]):
                out.append(cell.drawn(0, y, width, len(cell.lines)))
                y += STEP * len(cell.lines)
    else:
        out += [_bar(side * width, 0, width, heads[side]) for side in (0, 1)]
        y = BAR
        for row in rows:
            count = max(len(cell.lines) for cell in row if cell)
            for side, cell in enumerate(row):
                if cell:
                    out.append(cell.drawn(side * width, y, width, count))
            y += STEP * count
        out.append(f'<path class="rule" d="M{width:g} 0V{y}"/>')
    wide = width if narrow else 2 * width
    stem, _, own = name.partition(".")
    if proof := proven.proofs().get(stem, {}).get(own):
        told = f"{proven.verdict(proof)} on 1.15.5, {proven.ways(proof)}"
        out.append(_bar(0, y, wide, told, "proven"))
        y += BAR
    return _whole(name, wide, y, out, dark)


class _Cell:
    """A line of one side, wrapped into lines that fit.

    Attributes:
        kind: "gone" or "new", the name of its background, or "".
        lines: [(indentation, [(text, letter, whether marked)])].
    """

    def __init__(self, coloured, number, marks, kind, sign, columns):
        self.kind, self.sign = kind, sign
        text = coloured.lines[number - 1]
        pieces = coloured.pieces(number, marks)
        self.lines = _fitted(text[4:], list(_characters(pieces))[4:], columns)

    def drawn(self, x, y, width, count):
        """Draws the cell at (x, y), `count` lines high."""
        out = []
        if self.kind:
            size = f'width="{width:g}" height="{STEP * count}"'
            out.append(f'<rect class="{self.kind}" x="{x:g}" y="{y}" {size}/>')
        if self.sign:
            out.append(_text(x + 9, y, "sign", self.sign, html.escape(self.sign)))
        for number, (indent, pieces) in enumerate(self.lines):
            begin, top = x + GUTTER + indent * CHARACTER, y + number * STEP
            at = begin
            for marked, run in itertools.groupby(pieces, lambda piece: piece[2]):
                text = "".join(text for text, _, _ in run)
                if marked:
                    place = f'x="{at:g}" y="{top + 2}" width="{_long(text)}"'
                    rest = f'height="{STEP - 4}" rx="2"'
                    out.append(f'<rect class="{self.kind}-word" {place} {rest}/>')
                at += len(text) * CHARACTER
            spans = []
            for text, letter, _ in pieces:
                written = html.escape(text, quote=False)
                spans.append(
                    f'<tspan class="{letter}">{written}</tspan>' if letter else written
                )
            line = "".join(text for text, _, _ in pieces)
            out.append(_text(begin, top, "", line, "".join(spans)))
        return "\n".join(out)


def _rows(definitions, modules, columns):
    """Aligns the bodies of a pair: [(left _Cell or None, right _Cell or None)]."""
    left, right = modules
    bodies = [
        range(module.docs[d.name].stop, d.stop)
        for module, d in zip(modules, definitions, strict=True)
    ]
    rows = []
    for row in align(left.lines, right.lines, *map(sides.block, definitions)):
        numbers = [
            number if number in body and module.lines[number - 1].strip() else None
            for number, body, module in zip(
                (row.left, row.right), bodies, modules, strict=True
            )
        ]
        if not any(numbers):
            continue
        marks, kinds, signs = ((), ()), ("gone", "new"), "−+"
        if all(numbers):
            a, b = (m.lines[n - 1] for m, n in zip(modules, numbers, strict=True))
            marks, signs = changed(a, b), "||"
            if a.strip() == b.strip():
                marks, kinds, signs = ((), ()), ("", ""), ("", "")
        rows.append(
            [
                number and _Cell(modules[side], number, mark, kind, sign, columns)
                for side, (number, mark, kind, sign) in enumerate(
                    zip(numbers, marks, kinds, signs, strict=True)
                )
            ]
        )
    return rows


def _characters(pieces):
    for text, letter, marked in pieces:
        for character in text:
            yield character, letter, marked


def _fitted(text, characters, columns):
    """Wraps a long line, and indents its rest: [(indentation, pieces)]."""
    indent = len(text) - len(text.lstrip())
    start, hanging, lines = indent, indent, []
    while start < len(text):
        stop = _break(text, start, start + columns - hanging)
        here = characters[start : start + len(text[start:stop].rstrip())]
        pieces = [
            ("".join(character for character, _, _ in run), *kind)
            for kind, run in itertools.groupby(here, lambda c: c[1:])
        ]
        lines.append((hanging, pieces))
        start, hanging = stop, indent + HANGING
    return lines


def _break(text, start, limit):
    """Finds where to cut a line: after a comma, a bracket or a blank."""
    if limit >= len(text):
        return len(text)
    for end in (", ", "(", " "):
        stop = text.rfind(end, start, limit) + len(end)
        if stop > (start + limit) // 2:
            return stop
    return limit


def _head(definition):
    package, _, rest = definition.module.name.partition(".")
    return f"{library.SIDES[package]} · {package}/{rest.replace('.', '/')}.py"


def _bar(x, y, width, text, kind="head"):
    place = f'x="{x:g}" y="{y}" width="{width:g}" height="{BAR}"'
    words = _text(x + MARGIN, y + (BAR - STEP) / 2, kind, text, html.escape(text))
    return f'<rect class="bar" {place}/>\n{words}'


def _text(x, y, kind, text, inner):
    """Draws a line of text in the row with top y, as wide as computed."""
    named = f' class="{kind}"' if kind else ""
    place = f'x="{x:g}" y="{y + STEP - 6:g}" textLength="{_long(text)}"'
    return f"<text{named} {place}>{inner}</text>"


def _long(text):
    return f"{len(text) * CHARACTER:g}"


def _whole(name, width, height, parts, dark):
    colours = {**(DARK if dark else LIGHT), **GROUNDS[dark]}
    fills = "".join(
        f".{kind} {{ fill: {colours[kind]} }}\n"
        for kind in colours
        if kind not in ("rule", "text", "ground")
    )
    frame = f'width="{width - 1:g}" height="{height - 1}" rx="4"'
    ground, rule = colours["ground"], colours["rule"]
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" '
        f'role="img">\n'
        f"<title>{name}: TensorFlow 1 beside TensorFlow 2</title>\n"
        f"<style>\n"
        f"text {{ font: {SIZE}px {FONT}; fill: {colours['text']}; white-space: pre }}\n"
        f"{fills}.head, .proven {{ font-weight: bold }}\n"
        f".head {{ fill: {colours['text']} }}\n"
        f".rule {{ fill: none; stroke: {rule} }}\n"
        f"</style>\n"
        f'<rect width="{width:g}" height="{height}" rx="4" fill="{ground}"/>\n'
        f"{body}\n"
        f'<rect class="rule" x="0.5" y="0.5" {frame}/>\n'
        f"</svg>\n"
    )
