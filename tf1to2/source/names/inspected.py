"""A call whose arguments a construct looks at, and a use that a construct finds."""

import typing

from tf1to2.source.names.syntax import NO_ARGUMENTS, STARRED


class Called(typing.NamedTuple):
    """A call.

    Attributes:
        function: the node of what is called.
        origin: where it comes from, as of `records.Use`.
        positional: the nodes of its positional arguments.
        keywords: {name: node} of the others.
        starred: whether there are more.
    """

    function: object
    origin: str
    positional: tuple
    keywords: dict
    starred: bool

    @property
    def name(self):
        """The last part of its origin: "fit"."""
        return self.origin.rpartition(".")[2]

    def get(self, name, place):
        """(the node of an argument or None, its position or keyword)."""
        if name in self.keywords:
            return self.keywords[name], name
        if place is not None and place < len(self.positional):
            return self.positional[place], place
        return None, None


class Found(typing.NamedTuple):
    """A use.

    Attributes:
        node: where it stands.
        origin: as of `records.Use`.
        arguments: the node of the arguments of a call, or None.
        kinds: of these, as of `records.Call`.
        likely: as of `records.Use`.
        by_kind: as of `records.Use`.
    """

    node: object
    origin: str
    arguments: object = None
    kinds: tuple = ()
    likely: str = ""
    by_kind: bool = False


def also_by_star(names):
    """Names as they are called, and as a call by `import *` has them: "*Dense"."""
    return (*names, *(f"*{name}" for name in names))


def called(source, function, origin, arguments):
    """The `Called` of a node of arguments.

    Args:
        source: `syntax.Source`.
        function: the node of what is called.
        origin: where it comes from.
        arguments: of type argument_list.
    """
    positional, keywords, starred = [], {}, False
    for argument in arguments.named_children:
        if argument.type == "keyword_argument":
            keyword = source.text(argument.child_by_field_name("name"))
            keywords[keyword] = argument.child_by_field_name("value")
        elif argument.type in STARRED:
            starred = True
        elif argument.type not in NO_ARGUMENTS:
            positional.append(argument)
    return Called(function, origin, tuple(positional), keywords, starred)
