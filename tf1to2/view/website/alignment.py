"""Columns of numbers, which site.css aligns on the right."""

import re

from docutils import nodes

# "1,234", "67%", "1.2e-07", "0.86–0.97", "3177 (1.10)", "within 1.1e-06", "−0.5 µs".
ONE = r"[−+-]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[−+-]?\d+)?"
NUMBER = re.compile(
    rf"(?:within |about |< ?|> ?|≤ ?|≥ ?)?{ONE}(?:(?: ?[–-] ?| ?\(){ONE}\)?)?"
    r" ?(?:%|×|s|ms|µs|MB|KB|GB|times)?"
)
ALSO = {"", "—", "–", "-", "identical", "none", "nan", "inf"}
"""Cells that a column of numbers may have, too."""


def align(app, doctree):
    """Marks the cells of columns that have numbers alone: an event of Sphinx."""
    for table in doctree.findall(nodes.table):
        rows = [list(row.children) for row in table.findall(nodes.row)]
        heads = len(list(table.findall(nodes.thead)))
        if any(entry.get("morecols") for row in rows for entry in row):
            continue
        for column in zip(*rows, strict=False):
            if has_numbers([entry.astext() for entry in column[heads:]]):
                for entry in column:
                    if entry.astext().strip():
                        entry["classes"].append("number")


def has_numbers(cells):
    """Whether the cells of a column are numbers, or empty."""
    cells = [" ".join(cell.split()) for cell in cells]
    numbers = [cell for cell in cells if NUMBER.fullmatch(cell)]
    others = [cell for cell in cells if cell not in ALSO]
    return bool(numbers) and len(numbers) == len(others)
