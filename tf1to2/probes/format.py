"""Reads a file of the folder `table`; its format: guide/maintaining/probe.md."""

import re

from tf1to2.probes.probe import SIGN_OF_ZERO, Probe

CODE = "given", "old", "new", "both"
FIELDS = (*CODE, "exact", "why", "within", "eager", "where", "raises")
ZERO = "the sign of zero"
NAME = re.compile(r"tf(\.\w+)+")
LAST = re.compile(r"\bNAME\b")
"""The word in a call that means the last part of a name in the heading."""
CONTINUED = re.compile(r"\\\n *")


class Malformed(ValueError):
    """A file of probes is not valid; the message has the file, line and reason."""


def read(path):
    """Reads a file of probes.

    Args:
        path: the `pathlib.Path` of the file.

    Returns:
        A list of `Probe` in the order of the file. A block under several names gives a
        probe for each name.

    Raises:
        Malformed: such as "nn.txt:12: unknown field 'odl': …".
    """
    lines = path.read_text("utf-8").splitlines()
    try:
        return [row for block in _blocks(lines) for row in _probes(*block)]
    except Malformed as error:
        raise Malformed(f"{path.name}:{error}") from None


def _blocks(lines):
    """Yields (number of the first line, names, {field: lines}) of each block."""
    first, begun, heading, names, fields, values = 0, 0, "", [], {}, None
    for number, line in enumerate([*lines, ""], 1):
        if line.startswith("    "):
            if values is None:
                raise Malformed(f"{number}: no field above this indented line")
            values.append(line[4:])
        elif line.strip() and line[0] != "#":
            field, colon, value = line.partition(":")
            if not colon or field not in FIELDS:
                known = ", ".join(FIELDS)
                raise Malformed(
                    f"{number}: unknown field {field!r}: use one of {known}"
                )
            if not names:
                raise Malformed(f"{number}: no heading above, such as ## tf.log")
            if field in fields:
                raise Malformed(f"{number}: a second {field!r} in this block")
            first, heading = (first if fields else number), ""
            values = fields[field] = [value.strip()] if value.strip() else []
        else:
            if fields:
                yield first, names, fields
            fields, values = {}, None
            if line.startswith("##"):
                goes_on = heading.endswith(",")
                if heading and not goes_on:
                    break
                heading = line[2:].strip()
                names = (names if goes_on else []) + _names(number, heading)
                begun = begun if goes_on else number
    if heading:
        raise Malformed(f"{begun}: no probe under {names[0]}")


def _names(number, heading):
    names = [name.strip() for name in heading.removesuffix(",").split(",")]
    for name in names:
        if not NAME.fullmatch(name):
            raise Malformed(f"{number}: not a name of TensorFlow: {name!r}")
    return names


def _probes(first, names, fields):
    """Yields the probes of a block, one for each name.

    Args:
        first: number of the first line of the block.
        names: list of str.
        fields: {field: its lines, a list of str}.
    """
    for field, lines in fields.items():
        if not lines:
            raise Malformed(f"{first}: nothing after {field!r}")
    text = {
        field: CONTINUED.sub("", "\n".join(lines)) if field in CODE else " ".join(lines)
        for field, lines in fields.items()
    }
    given = tuple(text.pop("given", "").split("\n"))
    if text.keys() & {"old", "new", "both"} not in ({"old", "new"}, {"both"}):
        raise Malformed(f"{first}: write 'old' and 'new', or only 'both'")
    both = text.pop("both", None)
    old, new = text.pop("old", both), text.pop("new", both)
    if text.get("exact", "yes") != "yes":
        raise Malformed(f"{first}: 'exact' must be 'yes', or left out")
    if text.keys() & {"within", "where", "raises"} and "why" not in text:
        raise Malformed(f"{first}: say 'why' beside 'within', 'where' or 'raises'")
    try:
        within = text.pop("within", 0)
        text["within"] = SIGN_OF_ZERO if within == ZERO else float(within)
    except ValueError:
        raise Malformed(f"{first}: 'within' must be a number or {ZERO!r}") from None
    text["exact"] = "exact" in text
    for name in names:
        last = name.rpartition(".")[2]
        yield Probe(name, LAST.sub(last, old), LAST.sub(last, new), given, **text)
