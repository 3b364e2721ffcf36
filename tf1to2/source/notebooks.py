"""Reads the Python in the code cells of a notebook, without magics of IPython."""

import json
import re

# A line that is a magic, a shell command, or a question such as `tf.log?`.
MAGIC = re.compile(r"^\s*(%%?[a-zA-Z]|!|\?)|^[\w.]+\?+\s*$")
# A line that assigns such a value: x = !ls, x = %timeit -o f().
ASSIGNED = re.compile(r"^(\s*[\w., \[\]'\"]+=\s*)([!%](?=[\w.{$/~'\"!(]).*)$")
CELL_MAGIC = re.compile(r"\s*%%(\w+|!)(?:[^\n]*[ \t](\S+))?")
# Cell magics whose cells are not Python, unless they write a Python file. Cells with
# unknown magics are read: an error about a cell is better than a cell left out.
FOREIGN = set(
    """! HTML R SVG bash bigquery cmd cpp csh cu cuda cython dot ffortran file fortran
    html html_raw javascript js julia latex manim markdown matlab mermaid octave perl
    pip powershell ruby rust script sh shell sql svg sx system writefile writetemplate
    zsh""".split()
)
NO_CELLS = "it is not a notebook: it has no list of cells"


class Unreadable(Exception):
    """A file cannot be read; the message is the reason, in one line."""


def python(data):
    """Extracts the Python code from the code cells of a notebook.

    Args:
        data: bytes of the file.

    Returns:
        (bytes of one text for all cells, because a cell uses the imports of the cells
        before it; tuple of the first line of each code cell).

    Raises:
        Unreadable: it is not a notebook.
    """
    try:
        notebook = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is not a notebook: {error}") from error
    cells, starts, line = [], [], 1
    for cell in cells_of(notebook):
        if not isinstance(cell, dict):
            raise Unreadable("it is not a notebook: one of its cells is not an object")
        if cell.get("cell_type") == "code":
            cells.append(_without_magics(_source(cell)))
            starts.append(line)
            line += cells[-1].count("\n") + 1
    return "\n".join(cells).encode("utf-8", "replace"), tuple(starts)


def cells_of(notebook):
    """The list of all cells of a notebook, in any version of the format."""
    if not isinstance(notebook, dict):
        raise Unreadable(NO_CELLS)
    if "cells" in notebook:
        cells = notebook["cells"]
    else:  # the format before version 4
        sheets = notebook.get("worksheets")
        if not isinstance(sheets, list) or not all(isinstance(s, dict) for s in sheets):
            raise Unreadable(NO_CELLS)
        cells = [cell for sheet in sheets for cell in cells_of({"cells": [], **sheet})]
    if not isinstance(cells, list):
        raise Unreadable(NO_CELLS)
    return cells


def _source(cell):
    source = cell.get("source", cell.get("input"))
    if source is None:
        return ""
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    if isinstance(source, str):
        return source
    raise Unreadable("it is not a notebook: the source of a cell is not text")


def _without_magics(source):
    """Returns the source of a cell with its non-Python lines as comments."""
    magic = CELL_MAGIC.match(source)
    if magic and magic[1] in FOREIGN and not (magic[2] or "").endswith(".py"):
        return ""
    lines, within = [], False
    for line in source.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        assigned = not within and ASSIGNED.match(line)
        if within or MAGIC.match(line):
            within = line.rstrip().endswith("\\")
            line = "#" + line
        elif assigned:
            within = line.rstrip().endswith("\\")
            line = f"{assigned[1]}None  # {assigned[2]}"
        lines.append(line)
    return "\n".join(lines)
