"""Finds the syntax node of each finding, and resolves the names in the file."""

import functools
import re

from tf1to2.catalog import keras_uses
from tf1to2.source.names import records
from tf1to2.source.names.syntax import PLAIN, Source

ROOT = "tensorflow"
# Types of nodes that bind their left side; and that bind every name in them.
BINDERS = ("assignment", "augmented_assignment", "for_statement", "for_in_clause")
PLACES = (
    *("pattern_list", "tuple_pattern", "list_pattern", "as_pattern_target"),
    *("parameters", "lambda_parameters", "default_parameter", "typed_parameter"),
    *("aliased_import", "dotted_name", "function_definition", "class_definition"),
    *("global_statement", "nonlocal_statement", "named_expression", "del_statement"),
)
FUNCTIONS = ("function_definition", "lambda")
IMPORTS = ("import_statement", "import_from_statement")


class Site:
    """A use of TensorFlow 1 in a file, with its nodes.

    Attributes:
        tree: the `Tree` of the file.
        entry: its `catalog.Entry`.
        symbol: the name as in 1.15.5: "tf.gfile.Exists".
        node: the node of the name; None if the text is not that name.
        call: the node of its call; None if the name is not called.
        arguments: the node of the call's arguments, or None.
    """

    def __init__(self, tree, one):
        self.tree, self.use, self.entry, self.origin = (
            tree,
            one.use,
            one.entry,
            one.origin,
        )
        self.symbol = "tf" + records.public(one.origin).removeprefix(ROOT)
        start = tree.byte(one.use.line, one.use.column)
        end = tree.byte(one.use.end_line, one.use.end_column)
        node = tree.root.named_descendant_for_byte_range(start, end)
        if node is not None and (node.start_byte, node.end_byte) != (start, end):
            node = None
        self.node = node
        self.call = call = called(node) if node is not None else None
        self.arguments = call.child_by_field_name("arguments") if call else None

    @property
    def text(self):
        return self.tree.text(self.node)

    def prefix(self):
        """Returns the module of the text's first word: "tf.nn"; None if unknown."""
        if self.node is None or not PLAIN.fullmatch(self.tree.bytes(self.node)):
            return None
        _, *rest = self.text.split(".")
        known = self.origin.split(".")
        if rest and known[-len(rest) :] != rest:
            return None
        root = records.public(".".join(known[: len(known) - len(rest)]))
        return "tf" + root.removeprefix(ROOT) if root.startswith(ROOT) else None

    def is_compat(self):
        """Returns whether the text's first word is the module compat.v1.

        In `tf.compat.v1.log` it is not: `tf` is TensorFlow 2.
        """
        if self.prefix() is None:
            return ".compat." in self.origin
        _, *rest = self.text.split(".")
        known = self.origin.split(".")
        root = ".".join(known[: len(known) - len(rest)])
        return bool(records.ROOTS.match(root))

    def spelled(self, target):
        """Spells a TensorFlow 2 name as this file can use it; None if unknown."""
        prefix = self.prefix()
        if prefix is None or not f"{target}.".startswith(prefix + "."):
            return None
        if keras_uses.is_of_the_package(self.origin) and not keras_uses.has(target):
            return None
        return self.text.partition(".")[0] + target.removeprefix(prefix)

    def named(self):
        """Returns the name to which the call is assigned; None if not a single name."""
        assigned = self.call.parent
        left = assigned.child_by_field_name("left")
        if assigned.type != "assignment" or left is None or left.type != "identifier":
            return None
        return left if assigned.child_by_field_name("right") == self.call else None

    def is_assigned(self):
        """Whether the file assigns to the name: `tf.log = …`."""
        around = self.node.parent
        return around.type in ("assignment", "del_statement") and (
            around.child_by_field_name("left") in (None, self.node)
        )


def called(node):
    """The call whose function is this node; None if it is not called."""
    call = node.parent
    if call is None or call.type != "call":
        return None
    return call if call.child_by_field_name("function") == node else None


def enclosing(node, kinds):
    """The nearest node around a node with one of the given types, or None."""
    node = node.parent
    while node is not None and node.type not in kinds:
        node = node.parent
    return node


def is_deferred(node):
    """Whether a node runs only if a function of the file is called."""
    node, below = node.parent, node
    while node is not None:
        body = node.child_by_field_name("body")
        if node.type in FUNCTIONS and body == below:
            return True
        node, below = node.parent, node
    return False


def is_bound(node):
    """Returns whether an identifier is bound (assigned, imported) at this node."""
    around = node.parent
    if around.type in BINDERS:
        return around.child_by_field_name("left") == node
    return around.type in PLACES


class Tree(Source):
    """The syntax tree of a file, with the byte offset of each line."""

    def __init__(self, source):
        super().__init__(source)
        self.original = source
        self.begins = [0, *(m.end() for m in re.finditer(b"\n", self.source))]

    def byte(self, line, column):
        """Converts a line and a column, both from 1, to a byte offset."""
        begin = self.begins[line - 1]
        if column == 1:
            return begin
        end = self.begins[line] if line < len(self.begins) else len(self.source)
        text = self.source[begin:end].decode("utf-8", "replace")
        return begin + len(text[: column - 1].encode("utf-8", "replace"))

    def bytes(self, node):
        return self.source[node.start_byte : node.end_byte]

    @functools.cached_property
    def words(self):
        """Maps each identifier to its nodes, without attributes and keywords."""
        found = {}
        for node in self.nodes("identifier"):
            if not _is_label(node):
                found.setdefault(self.text(node), []).append(node)
        return found

    def outside(self, word, statement):
        """Returns the nodes of an identifier that are outside a statement."""
        return [
            node
            for node in self.words.get(word, ())
            if not statement.start_byte <= node.start_byte < statement.end_byte
        ]

    def module(self, statement):
        """The module of `from module import …`, without white space."""
        node = statement.child_by_field_name("module_name")
        return re.sub(r"\s", "", self.text(node))

    def nodes(self, kind):
        """Returns all nodes of one syntax type."""
        return self._kinds.get(kind, ())

    @functools.cached_property
    def _kinds(self):
        found, stack = {}, [self.root]
        while stack:
            node = stack.pop()
            found.setdefault(node.type, []).append(node)
            stack += node.named_children
        return found

    def indent(self, node):
        """Returns the indentation of a node; None if code precedes it on its line."""
        start = self.source.rfind(b"\n", 0, node.start_byte) + 1
        before = self.source[start : node.start_byte]
        return None if before.strip() else before.decode()

    def is_text(self, byte):
        """Whether a byte is inside a string."""
        node = self.root.descendant_for_byte_range(byte, byte)
        while node is not None:
            if node.type == "string" and node.start_byte < byte < node.end_byte:
                return True
            node = node.parent
        return False

    def statements(self):
        """The statements at the top of the file."""
        return [n for n in self.root.named_children if n.type != "comment"]


def _is_label(node):
    around = node.parent
    if around.type == "attribute":
        return around.child_by_field_name("attribute") == node
    if around.type == "keyword_argument":
        return around.child_by_field_name("name") == node
    if around.type != "dotted_name":
        return False
    field = "name" if around.parent.type == "aliased_import" else "module_name"
    return (
        around.parent.child_by_field_name(field) == around
        or around.named_children[0] != node
    )
