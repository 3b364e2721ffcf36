"""Translates the arguments of a Keras 1 call: sizes, keywords and values."""

import typing

from tf1to2.catalog import verdicts
from tf1to2.fix import keras_values
from tf1to2.fix.edits import Edit, without
from tf1to2.source.constructs import keras_1_kernels
from tf1to2.source.names.syntax import NO_ARGUMENTS

SQUARE, CUBE = ("nb_row", "nb_col"), ("kernel_dim1", "kernel_dim2", "kernel_dim3")
SIZES = {
    name: SQUARE if rank == 2 else CUBE for name, rank in keras_1_kernels.RANKS.items()
}
"""{layer: the arguments of Keras 1 that are merged into kernel_size today}."""

BOUND = {
    "assignment": ("left", "right"),
    "default_parameter": ("name", "value"),
}
NO_SIZE = (*keras_1_kernels.NO_SIZE, "list_splat")


class Call(typing.NamedTuple):
    """A call in a file.

    Attributes:
        tree: the `sites.Tree` of the file.
        arguments: the node of its arguments.
    """

    tree: object
    arguments: object

    def positional(self):
        """The nodes of the positional arguments."""
        return [
            node
            for node in self.arguments.named_children
            if node.type not in (*NO_ARGUMENTS, "keyword_argument")
        ]

    def keywords(self):
        """{name: node} of the keyword arguments."""
        return {
            self.tree.text(node.child_by_field_name("name")): node
            for node in self.arguments.named_children
            if node.type == "keyword_argument"
        }

    def without(self, node):
        """The `Edit` that removes an argument."""
        return without(self.tree.source, node, self.arguments.children)


class Words(typing.NamedTuple):
    """The translation of a call.

    Attributes:
        edits: list of `Edit`.
        names: {keyword of Keras 1: keyword today, or "" if it is removed}.
        sizes: how many positional arguments were merged into one.
        rest: whether other arguments still need a change.
    """

    edits: list
    names: dict
    sizes: int
    rest: bool


def rewritten(call, symbol, is_kernel=False, taken=None, more=()):
    """Translates a Keras 1 call to `Words`; None if its meaning is not certain.

    Args:
        call: `Call`.
        symbol: today's name, or an alias of it: "tf.keras.layers.Conv2D".
        is_kernel: whether numbers after the first argument are surely a kernel.
        taken: the keywords that the new call may have; any by default.
        more: {old keyword: new keyword}, in addition to arguments.tsv.
    """
    rows = verdicts.arguments(symbol)
    names = {row.argument: row.now for row in rows.values() if row.now}
    names |= dict(more)
    old = {row.argument for row in rows.values() if row.keras_1} | dict(more).keys()
    given = call.keywords()
    sizes = SIZES.get(symbol.rpartition(".")[2], ())
    kernel = _kernel(call, sizes, is_kernel or bool(old & given.keys()))
    if kernel is None:
        return None
    found, done, places = kernel
    known, rest = {one: "" for one in sizes} if done else {}, False
    for name, node in given.items():
        if name in sizes:
            continue
        edits, now = _keyword(call, name, node, names.get(name), rows)
        if edits and not (now and (now in given or taken and now not in taken)):
            found += edits
            known[name] = now
        elif name in old or (name, "") in rows and rows[name, ""].verdict != "same":
            rest = True
    if symbol.endswith(".ZeroPadding2D"):
        found += _pairs(call)
    return Words(found, known, places, rest)


def _kernel(call, sizes, is_kernel):
    """Merges sizes into one tuple; returns (edits, if keywords, positions merged).

    None if a size may not be a number.
    """
    placed, given = call.positional(), call.keywords()
    named = [given[one] for one in sizes if one in given]
    if any(node.type == "list_splat" for node in placed):
        return None if is_kernel and sizes else ([], False, 0)
    those = placed[1:]
    if not sizes or not named and (len(those) < 2 or not is_kernel):
        return [], False, 0
    if named and (those or len(named) < len(sizes)) or len(those) > len(sizes):
        return None
    values = [node.child_by_field_name("value") for node in named] or those
    if len(values) != len(sizes) or not all(_is_number(call.tree, v) for v in values):
        return None
    if those:
        first, last = those[0], those[-1]
        return (
            [
                Edit(first.start_byte, first.start_byte, "("),
                Edit(last.end_byte, last.end_byte, ")"),
            ],
            False,
            len(sizes),
        )
    text = ", ".join(call.tree.text(value) for value in values)
    first = min(named, key=lambda node: node.start_byte)
    edits = [Edit(first.start_byte, first.end_byte, f"kernel_size=({text})")]
    for node in named:
        if node != first:
            edits.append(call.without(node))
    return edits, True, 0


def _pairs(call):
    """Turns the padding `(top, bottom, left, right)` into a tuple of two pairs."""
    given = call.keywords().get("padding")
    padding = given and given.child_by_field_name("value")
    padding = padding or next(iter(call.positional()), None)
    if padding is None or padding.type not in ("tuple", "list"):
        return []
    those = [one for one in padding.named_children if one.type != "comment"]
    if len(those) != 4:
        return []
    return [
        edit
        for first, last in (those[:2], those[2:])
        for edit in (
            Edit(first.start_byte, first.start_byte, "("),
            Edit(last.end_byte, last.end_byte, ")"),
        )
    ]


def _is_number(tree, node):
    """Whether a size may be a number: it is not a tuple, a list or a string."""
    if node.type in NO_SIZE or tree.text(node).startswith(("tuple(", "list(", "[")):
        return False
    if node.type != "identifier":
        return True
    for one in tree.words.get(tree.text(node), ()):
        assigned = one.parent
        bound, value = BOUND.get(assigned.type, ("", ""))
        if bound and assigned.child_by_field_name(bound) == one:
            given = assigned.child_by_field_name(value)
            if given is not None and given.type in NO_SIZE:
                return False
    return True


def _keyword(call, name, node, now, rows):
    """Translates a keyword; returns (edits, new name), or ([], "") if unchanged."""
    value = node.child_by_field_name("value")
    if (name, "") in rows and keras_values.is_idle(call.tree, name, value):
        return [call.without(node)], ""
    if (name, "") in rows and keras_values.is_unit_bias(call.tree, name, value):
        text = "unit_forget_bias=True"
        return [Edit(node.start_byte, node.end_byte, text)], "unit_forget_bias"
    edits = keras_values.translated(call.tree, name, value) if now else None
    if edits is None:
        return [], ""
    label = node.child_by_field_name("name")
    return [Edit(label.start_byte, label.end_byte, now), *edits], now
