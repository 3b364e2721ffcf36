"""Defines `Called`, a call that constructs check, and `Found`, a use that they find."""

import typing

from tf1to2.source.names.syntax import NO_ARGUMENTS, STARRED


class Called(typing.NamedTuple):
    """A call whose arguments a construct checks.

    Attributes:
        function: the node of the function.
        origin: its origin, as in `records.Use`.
        positional: the nodes of its positional arguments.
        keywords: {name: node} of its keyword arguments.
        starred: whether there are `*args` or `**kwargs`.
    """

    function: object
    origin: str
    positional: tuple
    keywords: dict
    starred: bool

    @property
    def name(self):
        """The name of the called function, the last part of its origin: "fit"."""
        return self.origin.rpartition(".")[2]

    def get(self, name, place):
        """Returns (argument node, its position or keyword); (None, None) if absent."""
        if name in self.keywords:
            return self.keywords[name], name
        if place is not None and place < len(self.positional):
            return self.positional[place], place
        return None, None


class Found(typing.NamedTuple):
    """A use that a construct finds.

    Attributes:
        node: the node of the use.
        origin: as in `records.Use`.
        arguments: the node of the arguments of a call, or None.
        kinds: the kinds of these arguments, as in `records.Call`.
        likely: as in `records.Use`.
        by_kind: as in `records.Use`.
    """

    node: object
    origin: str
    arguments: object = None
    kinds: tuple = ()
    likely: str = ""
    by_kind: bool = False


def also_by_star(names):
    """Adds the form that each name has after `import *`: "*Dense" for "Dense"."""
    return (*names, *(f"*{name}" for name in names))


def called(source, function, origin, arguments):
    """Makes the `Called` from the node of a call's arguments.

    Args:
        source: `syntax.Source`.
        function: the node of the function.
        origin: its origin.
        arguments: a node of type argument_list.
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
