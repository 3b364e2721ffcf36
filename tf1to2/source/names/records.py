"""What is told of a file: its module, the uses of names, the calls."""

import dataclasses
import functools
import re
import typing

from tf1to2.catalog import keras_uses

# Legacy code finds the same public names in all of these.
ROOTS = re.compile(r"tensorflow_core\b|tensorflow(\.compat\.v[12])+\b")
HUB = "tensorflow_hub"
"""A package beside TensorFlow, whose names of TensorFlow 1 are gone, too."""
PACKAGES = ("tensorflow", "tensorflow_core", HUB)
BELOW = tuple(f"{package}." for package in PACKAGES)


class Call(typing.NamedTuple):
    """The arguments of a call.

    Attributes:
        positional: how many are positional.
        keywords: names of the keywords.
        starred: whether there are more, by `*args` or `**kwargs`.
        lists: which of them are lists of several: positions, and names of keywords.
        handed: whether one is a function that only hands out a name: `lambda: x`.
        texts: the strings that arguments end with, or lists of them hold: pairs of a
            position, or the name of a keyword, and the text.
        fed: whether the first is evidently a feed: `{x: 1}`, `feed`, `my_feed_dict`.
        kinds: what arguments evidently are: pairs of a position, the name of a keyword,
            or "*" for the whole call, and a kind in brackets, "[numbers]"; see the
            package constructs.
    """

    positional: int
    keywords: tuple
    starred: bool
    lists: tuple = ()
    handed: bool = False
    texts: tuple = ()
    fed: bool = False
    kinds: tuple = ()


class Use(typing.NamedTuple):
    """One mention of a name.

    Attributes:
        origin: the full dotted name: "tensorflow.nn.relu"; "keras.backend.sum" by the
            package keras; "@pkg.common:tf.nn.relu" where a module of the project hands
            it on; "*relu" where only a wildcard import can have brought it;
            "tensorflow.Session().run" for a method of what a call made; ".eval" for one
            that nothing else has; "" if only `likely`.
        line: where it starts, from 1.
        column: in characters, from 1.
        end_line: where it ends.
        end_column: the first column that is not part of it.
        call: the arguments, where it is called.
        bare: whether it is one word, bound elsewhere: `slim`, `conv2d`.
        last_line: where its call ends, or `end_line`.
        guards: the branches of code for both versions that it stands in, the outermost
            first: (number of the `Guard`, side), see guards.py.
        likely: where `origin` leads nowhere: the origin that the object's name suggests
            ("tensorflow.Session.run" of a parameter `sess`; in TensorFlow 1 code only),
            or ".eval" of what nothing else has.
        imported: whether it is an import, which nothing is called by.
        by_kind: whether it counts only where the tables say something of a kind of its
            arguments.
    """

    origin: str
    line: int
    column: int
    end_line: int
    end_column: int
    call: Call | None = None
    bare: bool = False
    last_line: int = 0
    guards: tuple = ()
    likely: str = ""
    imported: bool = False
    by_kind: bool = False


@dataclasses.dataclass(frozen=True)
class Module:
    """What one file says.

    Attributes:
        uses: list of `Use`, in the order of the file.
        exports: {name: origin} of what other modules may import from it.
        stars: the modules of its `from … import *`.
        guards: list of `guards.Guard`, to which uses refer by number.
        comments: [(line, text)] of comments that hold the word "tf1to2".
        broken: (line, column) of the first place that is no Python, from 1, or None.
        hyphenated: the names of flags that it defines with a hyphen: "job-dir".
    """

    uses: list
    exports: dict
    stars: list
    guards: list
    comments: list
    broken: tuple | None
    hyphenated: tuple = ()


@functools.cache
def public(origin):
    """An origin under TensorFlow 1's own root: "tensorflow.compat.v1.x" is its x.

    A name of the package keras, "keras.layers", is "tensorflow.keras.layers".
    """
    if keras_uses.is_of_the_package(origin):
        return f"tensorflow.{origin}"
    return ROOTS.sub("tensorflow", origin, count=1)


@functools.cache
def symbol(origin):
    """A name as the catalog has it: "tf.nn.relu", "hub.Module"."""
    name = public(origin)
    if name.startswith(HUB):
        return "hub" + name.removeprefix(HUB)
    return "tf" + name.removeprefix("tensorflow")
