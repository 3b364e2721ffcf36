"""The result of reading a file: `Module`, with each `Use` of a name and its `Call`."""

import dataclasses
import functools
import re
import typing

from tf1to2.catalog import keras_uses

# Modules with the same public names in legacy code.
ROOTS = re.compile(r"tensorflow_core\b|tensorflow(\.compat\.v[12])+\b")
HUB = "tensorflow_hub"
"""Another package whose names for TensorFlow 1 are gone."""
PACKAGES = ("tensorflow", "tensorflow_core", HUB)
BELOW = tuple(f"{package}." for package in PACKAGES)


class Call(typing.NamedTuple):
    """The arguments of a call.

    Attributes:
        positional: the number of positional arguments.
        keywords: the names of the keyword arguments.
        starred: whether there are `*args` or `**kwargs`.
        lists: the arguments that are lists of several: positions and keywords.
        handed: whether an argument is a function that only returns a name: `lambda: x`.
        texts: the strings at the end of arguments, or in lists of strings: pairs of a
            position or keyword, and the text.
        fed: whether the first argument is surely a feed: `{x: 1}`, `my_feed_dict`.
        kinds: pairs of a position, a keyword, or "*" for the whole call, and the kind
            of the argument in brackets, "[numbers]"; see the package constructs.
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
    """One use of a name.

    Attributes:
        origin: the full dotted name: "tensorflow.nn.relu"; "keras.backend.sum" for the
            package keras; "@pkg.common:tf.nn.relu" if it is imported from a module of
            the project; "*relu" if only `import *` can have bound it;
            "tensorflow.Session().run" for a method of the result of a call; ".eval" for
            a method that only TensorFlow 1 has; "" if there is only `likely`.
        line: where it starts, from 1.
        column: in characters, from 1.
        end_line: where it ends.
        end_column: the first column after it.
        call: the arguments, if it is called.
        bare: whether it is a single imported or assigned word: `slim`, `conv2d`.
        last_line: where its call ends, or `end_line`.
        guards: the branches of guards around it, the outermost first: (number of the
            `Guard`, side), see guards.py.
        likely: if `origin` is not enough, the origin that the object's name suggests
            ("tensorflow.Session.run" for a parameter `sess`, only in TensorFlow 1
            code), or ".eval" for a method that only TensorFlow 1 has.
        imported: whether it is in an import statement.
        by_kind: whether it counts only if arguments.tsv has a row for a kind of its
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
    """The content of one file.

    Attributes:
        uses: list of `Use`, in the order of the file.
        exports: {name: origin} of the names that other modules may import from it.
        stars: the modules of its `from … import *`.
        guards: list of `guards.Guard`, to which uses refer by number.
        comments: [(line, text)] of comments with the word "tf1to2".
        broken: (line, column) of the first syntax error, from 1, or None.
        hyphenated: the names with a hyphen of flags that it defines: "job-dir".
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
    """Normalizes an origin: "tensorflow.compat.v1.x" becomes "tensorflow.x".

    A name of the package keras, "keras.layers", becomes "tensorflow.keras.layers".
    """
    if keras_uses.is_of_the_package(origin):
        return f"tensorflow.{origin}"
    return ROOTS.sub("tensorflow", origin, count=1)


@functools.cache
def symbol(origin):
    """Converts an origin to its name in the catalog: "tf.nn.relu", "hub.Module"."""
    name = public(origin)
    if name.startswith(HUB):
        return "hub" + name.removeprefix(HUB)
    return "tf" + name.removeprefix("tensorflow")
