"""What TensorFlow 1.15.5 had and today's has: names.tsv and members.tsv, read lazily.

`make upkeep` makes both; survey.py says what their columns are.
"""

import functools
import pathlib
import typing

FOLDER = pathlib.Path(__file__).parent
HERE = ("same", "differs")


class Fact(typing.NamedTuple):
    """A line about a name, or about a member of a class.

    Attributes:
        symbol: the name, of members with their class: "tf.Session.run".
        kind: "func", "class", "const" or "module"; of members "method", "property",
            "static", "class method", "class" or "attribute".
        object: the first name of the same object, itself if it has no other.
        signature: the parameters of 1.15.5, as "(x, axis=None)", or "".
        today: "same", "differs", "v1", "gone", or the name that it has now.
        signature_today: the parameters today.
        tf_keras: what tf_keras has where Keras 3 has something else: "gone", "=" (as in
            1.15.5) or its parameters; or "".
        deprecated: what 1.15.5 said was to be used instead, or "".
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
        """Whether today's TensorFlow has something of that name."""
        return self.today in HERE

    @property
    def moved(self):
        """The name that it has now, where that is another one."""
        return self.today if self.today.startswith("tf.") else ""


@functools.cache
def names():
    """{symbol: its line, split} of every public name and module of 1.15.5."""
    text = (FOLDER / "names.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.split("\n")[1:-1]]
    return {row[0]: row for row in rows}


@functools.cache
def fact(symbol):
    """The `Fact` of a name or module of 1.15.5, or None."""
    row = names().get(symbol)
    return _fact(*row) if row else None


def _fact(symbol, kind, one, signature, today, now, keras, deprecated=""):
    # Where nothing is told of today's signature it is the old one.
    now = now or (signature if today not in ("v1", "gone") else "")
    return Fact(symbol, kind, one or symbol, signature, today, now, keras, deprecated)


@functools.cache
def _spelled():
    """{first name: all names of the object}, of those that have several."""
    found = {}
    for symbol, _, first, *_ in names().values():
        if first:
            found.setdefault(first, [first]).append(symbol)
    return found


def aliases(symbol):
    """All names of the object that `symbol` names, itself among them."""
    row = names().get(symbol)
    return _spelled().get(row[2] or symbol, [symbol]) if row else [symbol]


def now(symbol):
    """The parameters that a name takes today, or ""."""
    known = fact(symbol)
    return known.signature_today if known and known.here else ""


@functools.cache
def _members():
    """({class: its bases}, {class: where it is today}, {class: {member: line}})."""
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
    """The class that a name names and its bases, nearest first, by first names."""
    owner = aliases(symbol)[0]
    return [owner, *_members()[0].get(owner, [])]


def place(symbol):
    """The name of a class today, or ""."""
    return _members()[1].get(bases(symbol)[0], "")


def member(symbol, name):
    """The `Fact` of a member, own or inherited, or None."""
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
    """{name under tensorflow.python: public name}, of TensorFlow 1.15.5."""
    with (FOLDER / "privates.tsv").open(encoding="utf-8") as lines:
        return dict(line.rstrip("\n").split("\t") for line in lines)
