"""verdicts.tsv: what was judged by hand, of names, members, arguments and modules."""

import functools
import pathlib

from tf1to2.catalog import facts
from tf1to2.common import tsv

VERDICTS = ("same", "renamed", "changed", "rewrite", "removed", "private")
PATH = pathlib.Path(__file__).with_name("verdicts.tsv")


@functools.cache
def table():
    """What verdicts.tsv says.

    Returns:
        ({name: row}, {prefix: row}, {name: {argument: row}}) with rows (verdict,
        replacement, what); a prefix ends in ".*" there, an argument stands in brackets,
        "tf.where(x)", or "tf.nn.embedding_lookup(params=[])" where a list is passed,
        or "tf.keras.Model.compile(loss='logcosh')" where that text is; a star in it
        stands for anything.
    """
    exact, wild, of_arguments = {}, {}, {}
    for row in tsv.rows(PATH):
        pattern, *rest = row.values()
        if row["verdict"] not in VERDICTS:
            raise ValueError(
                f"verdicts.tsv: {pattern}: {row['verdict']!r} is none of the verdicts "
                + ", ".join(VERDICTS)
            )
        name, _, argument = pattern.partition("(")
        if argument:
            rows, key = of_arguments.setdefault(name, {}), argument.removesuffix(")")
        elif pattern.endswith(".*"):
            rows, key = wild, pattern[:-2]
        else:
            rows, key = exact, pattern
        if key in rows:
            raise ValueError(f"verdicts.tsv: {pattern} comes twice")
        rows[key] = tuple(rest)
    return exact, wild, of_arguments


def wild(symbol):
    """The row of the longest `module.*` that a name lies under, or None."""
    rows = table()[1]
    while symbol and symbol not in rows:
        symbol = symbol.rpartition(".")[0]
    return rows.get(symbol)


@functools.cache
def arguments(symbol):
    """{argument: row} of a name, and of the classes that it inherits from."""
    rows = [own_arguments(base) for base in reversed(facts.bases(symbol))]
    return {name: row for known in rows for name, row in known.items()}


def own_arguments(symbol):
    """{argument: row} of a name, by any name of its object."""
    tables = table()[2]
    return next((tables[name] for name in spelled(symbol) if name in tables), {})


def spelled(symbol):
    """All names of an object; of a member, those in its class and in its bases."""
    owner, _, name = symbol.rpartition(".")
    if symbol in facts.names() or owner not in facts.names():
        return facts.aliases(symbol)
    classes = (alias for base in facts.bases(owner) for alias in facts.aliases(base))
    return [f"{class_}.{name}" for class_ in classes]
