"""verdicts.tsv: what was judged by hand, of names, members, arguments and modules."""

import functools
import pathlib

from tf1to2.catalog import facts

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
    with PATH.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            pattern, *rest = line.rstrip("\n").split("\t")
            if len(rest) != 3 or rest[0] not in VERDICTS:
                raise ValueError(
                    f"verdicts.tsv, line {number}: four columns, the second one of "
                    + ", ".join(VERDICTS)
                )
            name, _, argument = pattern.partition("(")
            if argument:
                rows, key = (
                    of_arguments.setdefault(name, {}),
                    argument.removesuffix(")"),
                )
            elif pattern.endswith(".*"):
                rows, key = wild, pattern[:-2]
            else:
                rows, key = exact, pattern
            if key in rows:
                raise ValueError(f"verdicts.tsv, line {number}: {pattern} again")
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
