"""Where a finding stands in the tree, and what its words stand for."""

import functools
import re

from tf1to2.catalog import keras_uses
from tf1to2.source.names import records
from tf1to2.source.names.syntax import PLAIN, Source

ROOT = "tensorflow"
# Where the left side is bound; and what binds every name in it.
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
    """A use of TensorFlow 1 in a file.

    Attributes:
        tree: the `Tree` of the file.
        entry: what the scanner says of it.
        symbol: the name, by the spelling of 1.15.5: "tf.gfile.Exists".
        node: the node of the name; None where the text is not that name.
        call: the node of its call, or None where it is only mentioned.
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
        """What the first word stands for: "tf", "tf.nn"; None if that is unclear."""
        if self.node is None or not PLAIN.fullmatch(self.tree.bytes(self.node)):
            return None
        _, *rest = self.text.split(".")
        known = self.origin.split(".")
        if rest and known[-len(rest) :] != rest:
            return None
        root = records.public(".".join(known[: len(known) - len(rest)]))
        return "tf" + root.removeprefix(ROOT) if root.startswith(ROOT) else None

    def is_compat(self):
        """Whether what it is reached through is compat.v1, which has 1.15.5's names.

        `tf.compat.v1.log` is not: its `tf` is TensorFlow 2.
        """
        if self.prefix() is None:
            return ".compat." in self.origin
        _, *rest = self.text.split(".")
        known = self.origin.split(".")
        root = ".".join(known[: len(known) - len(rest)])
        return bool(records.ROOTS.match(root))

    def spelled(self, target):
        """How a name of TensorFlow 2 is written here, or None if it cannot be told."""
        prefix = self.prefix()
        if prefix is None or not f"{target}.".startswith(prefix + "."):
            return None
        if keras_uses.is_of_the_package(self.origin) and not keras_uses.has(target):
            return None
        return self.text.partition(".")[0] + target.removeprefix(prefix)

    def named(self):
        """The node of the name that the call is bound to, and it alone; or None."""
        assigned = self.call.parent
        left = assigned.child_by_field_name("left")
        if assigned.type != "assignment" or left is None or left.type != "identifier":
            return None
        return left if assigned.child_by_field_name("right") == self.call else None

    def is_assigned(self):
        """Whether something is assigned to the name: `tf.log = …`."""
        around = self.node.parent
        return around.type in ("assignment", "del_statement") and (
            around.child_by_field_name("left") in (None, self.node)
        )


def called(node):
    """The call of what a node names; None where it is only mentioned."""
    call = node.parent
    if call is None or call.type != "call":
        return None
    return call if call.child_by_field_name("function") == node else None


def enclosing(node, kinds):
    """The nearest node of some kinds around a node, or None."""
    node = node.parent
    while node is not None and node.type not in kinds:
        node = node.parent
    return node


def is_deferred(node):
    """Whether it runs only when a function is called that the file defines."""
    node, below = node.parent, node
    while node is not None:
        body = node.child_by_field_name("body")
        if node.type in FUNCTIONS and body == below:
            return True
        node, below = node.parent, node
    return False


def is_bound(node):
    """Whether an identifier stands where a name is bound."""
    around = node.parent
    if around.type in BINDERS:
        return around.child_by_field_name("left") == node
    return around.type in PLACES


class Tree(Source):
    """A file's tree, and where its lines begin."""

    def __init__(self, source):
        super().__init__(source)
        self.original = source
        self.begins = [0, *(m.end() for m in re.finditer(b"\n", self.source))]

    def byte(self, line, column):
        """The byte of a line and a column in characters, both from 1."""
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
        """{identifier: its nodes}, save attributes and names of keywords."""
        found = {}
        for node in self.nodes("identifier"):
            if not _is_label(node):
                found.setdefault(self.text(node), []).append(node)
        return found

    def outside(self, word, statement):
        """The nodes of an identifier, but for those in a statement."""
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
        """All nodes of a type."""
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
        """The white space before a node that is the first of its line; else None."""
        start = self.source.rfind(b"\n", 0, node.start_byte) + 1
        before = self.source[start : node.start_byte]
        return None if before.strip() else before.decode()

    def is_text(self, byte):
        """Whether a place lies within a string."""
        node = self.root.descendant_for_byte_range(byte, byte)
        while node is not None:
            if node.type == "string" and node.start_byte < byte < node.end_byte:
                return True
            node = node.parent
        return False

    def statements(self):
        """The statements of the module."""
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
