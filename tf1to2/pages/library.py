"""The edition as text: the modules of both sides, and the names of `numerics`."""

import ast
import difflib
import functools
import re

from tf1to2.common.errors import CommandError
from tf1to2.pages import docstrings, topics
from tf1to2.pages.definitions import Edition, needed

PACKAGES = "v1_graph", "v2_eager"
KERAS = "v2_keras"
NUMERICS = "v2_eager.numerics"
SIDES = {"v1_graph": "TensorFlow 1", "v2_eager": "TensorFlow 2", KERAS: "Keras"}


@functools.cache
def edition():
    """The Edition of both sides' pages and the Keras pages, read once.

    Pairs have their whole docstrings on all pages: see `docstrings`. Lines are those of
    the text that is shown.
    """
    return _Shown(_folders())


@functools.cache
def files():
    """Returns the Edition of the files without changes, with their line numbers."""
    return Edition(_folders())


def _folders():
    return {name: topics.folder(name) for name in (*PACKAGES, KERAS)}


def side(definition):
    """The title of the side that a definition is on, as in `SIDES`."""
    return SIDES[definition.module.name.partition(".")[0]]


class _Shown(Edition):
    def read(self, path, name):
        text = super().read(path, name)
        package, _, stem = name.partition(".")
        if package == PACKAGES[0] or not stem:
            return text
        left = self.module(f"{PACKAGES[0]}.{stem}")
        if left is None:
            return text
        lefts = {pair: left.definitions[pair].docstring for pair in left.public}
        return docstrings.completed(text, lefts)


@functools.cache
def numerics():
    """Returns {"optimizers.Adam": Definition} of public names of `numerics`."""
    paths = (topics.folder("v2_eager") / "numerics").glob("[a-z]*")
    modules = {stem: edition().module(f"{NUMERICS}.{stem}") for stem in _stems(paths)}
    return {  # a package exports the names of its modules
        f"{stem}.{name}": module.resolve(ast.Name(name))[1]
        for stem, module in modules.items()
        for name in module.public
    }


def kinds():
    """The modules of `numerics`: ["losses", "optimizers", …]."""
    return sorted({name.partition(".")[0] for name in numerics()})


def _stems(paths):
    return sorted({path.stem for path in paths})


def find(text):
    """Finds a name of `numerics`; returns (name, Definition), or None if unknown.

    "numerics.optimizers.Adam" and "v2_eager.numerics.optimizers.Adam" are the same.
    """
    name = text.removeprefix("v2_eager.").removeprefix("numerics.")
    found = numerics().get(name)
    return found and (name, found)


def of_numerics(text):
    """Finds the `numerics` Definition of a name; None for a topic or a pair.

    Raises:
        CommandError: it names nothing, but is similar to a name of `numerics`.
    """
    stem, _, name = text.removeprefix("v2_eager.").partition(".")
    topic = topics.topics().get(stem)
    if not name or (topic and name in topic.pairs):
        return None
    if found := find(text):
        return found[1]
    if text in pairs() or not near(text):
        return None
    raise CommandError(f"numerics has no {text}; did you mean {near(text)[0]}?")


def near(text):
    """The names of `numerics` that are similar to a misspelled one, nearest first."""
    name = text.removeprefix("v2_eager.").removeprefix("numerics.")
    return difflib.get_close_matches(name, numerics(), 1, 0.75)


def stands_for(symbols):
    """Finds the names of `numerics` that replace given names of TensorFlow 1.

    Args:
        symbols: names such as "tf.train.AdamOptimizer", of which one is meant.
    """
    said = {
        name: re.match(r"(?:What )?`(tf\.[\w.]+)", definition.first_line)
        for name, definition in numerics().items()
    }
    return [name for name, found in said.items() if found and found[1] in symbols]


def users(definition):
    """Lists the pairs whose right page needs a definition."""
    return [n for n, (_, right) in pairs().items() if definition in needed([right])[0]]


@functools.cache
def pairs():
    """Returns {"scopes.make_siamese": (left Definition, right Definition)}."""
    return {
        f"{stem}.{name}": tuple(
            edition().module(f"{package}.{stem}").definitions[name]
            for package in PACKAGES
        )
        for stem, topic in topics.topics().items()
        for name in topic.pairs
    }


@functools.cache
def by_keras():
    """Returns {"layers.train": Definition} of the Keras forms of all pairs."""
    return {
        f"{stem}.{name}": edition().module(f"{KERAS}.{stem}").definitions[name]
        for stem, topic in topics.topics().items()
        for name in topic.distances
    }


@functools.cache
def documented():
    """{"rnn.lstm_to_keras": Definition} of public functions and classes that have a
    docstring on the right pages, and in the modules of a page that is a package; of the
    Keras pages, "keras.layers.train"."""
    found = {}
    for stem, topic in topics.topics().items():
        named = [(stem, name) for name in _modules(topic)]
        named += [(f"keras.{stem}", f"{KERAS}.{stem}")] if topic.distances else []
        for prefix, module in named:
            for name, definition in edition().module(module).definitions.items():
                if not name.startswith("_") and definition.first_line:
                    found.setdefault(f"{prefix}.{name}", definition)
    return found


def _modules(topic):
    """The names of the modules of a right page, the page itself first."""
    top = topics.folder("v2_eager").parent
    for path in topic.sources:
        parts = path.relative_to(top).with_suffix("").parts
        yield ".".join(parts).removesuffix(".__init__")


@functools.cache
def place(definition):
    """Returns the name of a definition in commands: "rnn.make_gru", "rnn/advance".

    A dot leads to a pair, a slash to code that pairs need: "rnn/keras/joined" is of the
    Keras page.
    """
    package, *path = definition.module.name.split(".")
    stem = ".".join(path if path[0] == "numerics" else path[:1])  # of all its modules
    if f"{stem}.{definition.name}" in pairs():
        return f"{stem}.{definition.name}"
    return f"{stem}/{'keras/' * (package == KERAS)}{definition.name}"


@functools.cache
def helpers():
    """All helper code of pairs, by the topic that contains it.

    Returns:
        {"rnn": [(place, Definitions)]}, in the order of the pages: two Definitions if
        both sides have the name, else one. Each module of `numerics` has a key of its
        own: "numerics.rnn".
    """
    left, right = zip(*pairs().values(), strict=True)
    keras, rows = by_keras().values(), {}
    for definitions in (left, [*right, *numerics().values()], keras):
        for part in needed(definitions)[0]:
            if part not in {*left, *right, *keras}:
                row = rows.setdefault(place(part), [])
                row += [part] * (part not in row)
    found = {}
    for where, row in rows.items():
        stem = ".".join(where.partition("/")[0].split(".")[:2])
        found.setdefault(stem, []).append((where, row))
    return found
