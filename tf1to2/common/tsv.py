"""Tab-separated tables: a line of column names, lines of cells, `#` comments."""

import pathlib


def rows(path, complete=True):
    """Reads a tab-separated table.

    Empty lines and lines that begin with `#` are skipped. The first other line has the
    names of the columns. Quotes have no meaning.

    Args:
        path: of the file, in UTF-8.
        complete: whether each line has a cell for each column. If False, cells that
            are missing at the end of a line are "".

    Returns:
        List of {column: cell}, all of them str.

    Raises:
        ValueError: a line has too many cells, or too few. The message has the number
            of the line.
    """
    path = pathlib.Path(path)
    columns, found = None, []
    for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = line.split("\t")
        if columns is None:
            columns = cells
            continue
        missing = len(columns) - len(cells)
        if missing < 0 or (missing and complete):
            raise ValueError(
                f"{path.name}, line {number}: {len(cells)} cells, but there are "
                f"{len(columns)} columns: {', '.join(columns)}"
            )
        if missing:
            cells += [""] * missing
        found.append(dict(zip(columns, cells, strict=True)))
    return found
