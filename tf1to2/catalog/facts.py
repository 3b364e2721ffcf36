"""Reads the facts, when asked: the names of TensorFlow 1.15.5 and of today's.

`make upkeep` writes names.tsv and members.tsv; survey.py describes their columns.
"""

import functools
import pathlib
import typing

FOLDER = pathlib.Path(__file__).parent
HERE = ("same", "differs")


class Fact(typing.NamedTuple):
    """A row of names.tsv or members.tsv: a name, or a member of a class.

    Attributes:
        symbol: the name; for members, with the class: "tf.Session.run".
        kind: "func", "class", "const" or "module"; for members, "method", "property",
            "static", "class method", "class" or "attribute".
        object: the first name of the same object, or this name if it has no other.
        signature: the parameters of 1.15.5, as "(x, axis=None)", or "".
        today: "same", "differs", "v1", "gone", or its name today.
        signature_today: the parameters today.
        tf_keras: if Keras 3 differs, what tf_keras has: "gone", "=" (as in 1.15.5) or
            its parameters; else "".
        deprecated: the replacement that 1.15.5 named in its warning, or "".
    """

    symbol: str
    kind: str
    object: str
    signature: str
    today: str
    signature_today: str
    tf_keras: str
    deprecated: str = ""

    @property
    def here(self):
        """Whether today's TensorFlow has an object with this name."""
        return self.today in HERE

    @property
    def moved(self):
        """The new name in today's TensorFlow, or "" if there is no new name."""
        return self.today if self.today.startswith("tf.") else ""


@functools.cache
def names():
    """{symbol: columns of its row} for every public name and module of 1.15.5."""
    text = (FOLDER / "names.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.split("\n")[1:-1]]
    return {row[0]: row for row in rows}


@functools.cache
def fact(symbol):
    """The `Fact` of a name or module of 1.15.5, or None."""
    row = names().get(symbol)
    return _fact(*row) if row else None


def _fact(symbol, kind, one, signature, today, now, keras, deprecated=""):
    # An empty column means that the signature did not change.
    now = now or (signature if today not in ("v1", "gone") else "")
    return Fact(symbol, kind, one or symbol, signature, today, now, keras, deprecated)


@functools.cache
def _spelled():
    """{first name of an object: all its names}, for objects that have several names."""
    found = {}
    for symbol, _, first, *_ in names().values():
        if first:
            found.setdefault(first, [first]).append(symbol)
    return found


def aliases(symbol):
    """All names of the object that `symbol` names, including `symbol`."""
    row = names().get(symbol)
    return _spelled().get(row[2] or symbol, [symbol]) if row else [symbol]


def now(symbol):
    """The parameters of a name in today's TensorFlow, or ""."""
    known = fact(symbol)
    return known.signature_today if known and known.here else ""


@functools.cache
def _members():
    """Returns ({class: bases}, {class: name today}, {class: {member: row}})."""
    bases, at, members = {}, {}, {}
    with (FOLDER / "members.tsv").open(encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            owner, member, rest = line.split("\t", 2)
            if member:
                members.setdefault(owner, {})[member] = rest  # split when asked for
            else:
                _, above, place, *_ = rest.rstrip("\n").split("\t")
                bases[owner] = above.split(", ") if above else []
                at[owner] = place
    return bases, at, members


def bases(symbol):
    """A class and its bases, the nearest first, each by its first name."""
    owner = aliases(symbol)[0]
    return [owner, *_members()[0].get(owner, [])]


def place(symbol):
    """Returns the name of a class in today's TensorFlow, or "" if it is gone."""
    return _members()[1].get(bases(symbol)[0], "")


def member(symbol, name):
    """The `Fact` of a member that a class defines or inherits, or None."""
    for owner in bases(symbol):
        row = _members()[2].get(owner, {}).get(name)
        if row:
            kind, signature, today, now, keras = row.rstrip("\n").split("\t")
            if not place(symbol):
                today = "gone"
            full = f"{symbol}.{name}"
            one = f"{owner}.{name}"
            return _fact(full, kind, one, signature, today, now, keras)
    return None


@functools.cache
def members(symbol):
    """The names of all members of a class, sorted."""
    found = set()
    for owner in bases(symbol):
        found |= _members()[2].get(owner, {}).keys()
    return sorted(found)


@functools.cache
def publics():
    """{name below tensorflow.python: public name} in TensorFlow 1.15.5."""
    with (FOLDER / "privates.tsv").open(encoding="utf-8") as lines:
        return dict(line.rstrip("\n").split("\t") for line in lines)
