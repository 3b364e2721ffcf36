"""Reads verdicts.tsv and arguments.tsv: names and arguments judged by hand."""

import functools
import pathlib
import typing

from tf1to2.catalog import facts
from tf1to2.catalog.entry import VERDICTS
from tf1to2.common import tsv

FOLDER = pathlib.Path(__file__).parent


class Row(typing.NamedTuple):
    """A row of verdicts.tsv: a name, or all names of a module.

    Attributes:
        verdict, write, becomes, note: as in `entry.Entry`.
        covers: tuple of the arguments whose difference the note already explains.
    """

    verdict: str
    write: str = ""
    becomes: str = ""
    covers: tuple = ()
    note: str = ""


class Argument(typing.NamedTuple):
    """A row of arguments.tsv.

    Attributes:
        argument: its name in 1.15.5; "0" is the first argument, "*" any argument.
        passed: if the row is only about some values, the pattern of their text, "[]"
            for a list, or a kind of `records.Call.kinds`; else "".
        verdict, write, keras_1, note: as in `entry.Change`.
        now: its new name, or "".
    """

    argument: str
    passed: str
    verdict: str
    now: str
    write: str
    keras_1: bool
    note: str


@functools.cache
def table():
    """Reads verdicts.tsv: ({name: Row}, {module of a `module.*`: Row})."""
    exact, wild = {}, {}
    for row in tsv.rows(FOLDER / "verdicts.tsv"):
        name, covers = row.pop("name"), tuple(row.pop("covers").split())
        _check("verdicts.tsv", name, row["verdict"])
        rows, key = (wild, name[:-2]) if name.endswith(".*") else (exact, name)
        if key in rows:
            raise ValueError(f"verdicts.tsv: {name} has two rows")
        rows[key] = Row(**row, covers=covers)
    return exact, wild


@functools.cache
def of_arguments():
    """Reads arguments.tsv: {name: {(argument, passed): Argument}}."""
    found = {}
    for row in tsv.rows(FOLDER / "arguments.tsv"):
        name, keras_1 = row.pop("name"), row.pop("keras_1") == "yes"
        _check("arguments.tsv", name, row["verdict"])
        one = Argument(**row, keras_1=keras_1)
        known, key = found.setdefault(name, {}), (one.argument, one.passed)
        if key in known:
            raise ValueError(f"arguments.tsv: {name}: {one.argument} has two rows")
        known[key] = one
    return found


def row(symbol):
    """Finds the `Row` of a name or of its aliases, or None if none has a row."""
    exact, names = table()[0], (symbol, *spelled(symbol))
    return next((exact[name] for name in names if name in exact), None)


def _check(file, name, verdict):
    if verdict not in VERDICTS:
        known = ", ".join(VERDICTS)
        raise ValueError(
            f"{file}: {name}: unknown verdict {verdict!r}: write one of {known}"
        )


def wild(symbol):
    """The `Row` of the longest `module.*` around a name, or None."""
    rows = table()[1]
    while symbol and symbol not in rows:
        symbol = symbol.rpartition(".")[0]
    return rows.get(symbol)


@functools.cache
def arguments(symbol):
    """{(argument, passed): Argument} of a name and of its base classes."""
    rows = [own_arguments(base) for base in reversed(facts.bases(symbol))]
    return {name: row for known in rows for name, row in known.items()}


def own_arguments(symbol):
    """{(argument, passed): Argument} of a name, under any name of its object."""
    known = of_arguments()
    return next((known[name] for name in spelled(symbol) if name in known), {})


def spelled(symbol):
    """Lists all names of an object; for a member, also names in base classes."""
    owner, _, name = symbol.rpartition(".")
    if symbol in facts.names() or owner not in facts.names():
        return facts.aliases(symbol)
    classes = (alias for base in facts.bases(owner) for alias in facts.aliases(base))
    return [f"{class_}.{name}" for class_ in classes]
