"""Tables of text: aligned columns under a line."""


def table(head, rows):
    """Lays out rows of text under a head.

    Args:
        head: sequence of column titles.
        rows: list of sequences of str, as long as the head.

    Returns:
        Text without a final newline.
    """
    rows = [tuple(head), *map(tuple, rows)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    rows.insert(1, tuple("─" * width for width in widths))
    return "\n".join(
        "  ".join(
            cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    )
