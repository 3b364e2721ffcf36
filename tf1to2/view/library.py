"""The edition as text: the modules of both sides, and what `numerics` has."""

import functools

from tf1to2 import topics
from tf1to2.view.definitions import Edition, needed

PACKAGES = "v1_graph", "v2_eager"
NUMERICS = "v2_eager.numerics"


@functools.cache
def edition():
    """The Edition of both sides' pages, read once."""
    return Edition({package: topics.folder(package) for package in PACKAGES})


@functools.cache
def numerics():
    """{"optimizers.Adam": Definition} of the public names of `v2_eager.numerics`."""
    paths = sorted((topics.folder("v2_eager") / "numerics").glob("[a-z]*.py"))
    modules = {path.stem: edition().module(f"{NUMERICS}.{path.stem}") for path in paths}
    return {
        f"{stem}.{name}": module.definitions[name]
        for stem, module in modules.items()
        for name in module.public
    }


@functools.cache
def pairs():
    """{"scopes.make_siamese": (left Definition, right Definition)} of all pairs."""
    return {
        f"{stem}.{name}": tuple(
            edition().module(f"{package}.{stem}").definitions[name]
            for package in PACKAGES
        )
        for stem, topic in topics.topics().items()
        for name in topic.pairs
    }


@functools.cache
def place(definition):
    """Where a definition stands: "rnn.make_gru", "rnn/advance", "numerics.rnn/Cell".

    A dot leads to a pair, a slash to code that pairs need.
    """
    _, *path = definition.module.name.split(".")
    stem = ".".join(path)
    sign = "." if f"{stem}.{definition.name}" in pairs() else "/"
    return f"{stem}{sign}{definition.name}"


def helpers():
    """All code that pairs need beside themselves, by the topic that it stands in.

    Returns:
        {topic: [(place, ((module, name) or None on the left, the same on the right))]},
        in the order of the pages. What has one place on both sides is in one row.
    """
    rows = {}
    for column, definitions in enumerate(zip(*pairs().values(), strict=True)):
        library = list(numerics().values()) if column else []
        for part in needed([*definitions, *library])[0]:
            if part not in definitions:
                row = rows.setdefault(place(part), [None, None])
                row[column] = (part.module.name, part.name)
    found = {}
    for where, row in rows.items():
        topic = (row[0] or row[1])[0].split(".")[1]
        found.setdefault(topic, []).append((where, tuple(row)))
    return found
