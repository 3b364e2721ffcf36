"""Finds the value of an expression at its position, by the last assignments.

`Names` finds a binding anywhere in a scope. Here the order counts: `x = Dense(3)(x)`
reads another x than it binds. Constructs need few expressions, so this module searches
the bytes only when a construct asks.
"""

import re

from tf1to2.source.names import scopes
from tf1to2.source.names.literals import ROWS

PARAMETER, UNKNOWN = "parameter", "unknown"
FUNCTIONS = ("function_definition", "lambda")
SEVERAL = ("pattern_list", "tuple_pattern", "list_pattern")
ASSIGNMENTS = ("assignment", "named_expression")
LOOPS = ("for_statement", "for_in_clause")
DEFINITIONS = ("function_definition", "class_definition")
COMPREHENSIONS = (
    *("list_comprehension", "set_comprehension", "dictionary_comprehension"),
    "generator_expression",
)
# Functions with the name of a class that return a model with weights.
APPLICATIONS = "tensorflow.keras.applications."
PACKAGE = re.compile(r"^(~?)keras\b")  # its classes have the names of tf.keras
MODEL = "tensorflow.keras.Model"
# The text after a name that is bound, and the text before one.
BOUND = re.compile(rb"\s*(?:=[^=]|,|:|in\b)")
NAMED = re.compile(rb"\b(?:def|class|as|import)\s+$")
DEEP = 12  # the most assignments in a row to follow


class Values:
    """Finds the values and classes of the expressions in a file.

    Args:
        source: `syntax.Source`.
        walk: `walk.Walk`.
        names: `scopes.Names`.

    """

    def __init__(self, source, walk, names):
        self.source, self.walk, self.names = source, walk, names
        self._kept, self._bound, self._open = {}, {}, set()

    def once(self, find, *nodes):
        """Returns `find(values, *nodes)`, computed only once per file and nodes."""
        key = find, *(node.id for node in nodes)
        if key not in self._kept:
            self._kept[key] = find(self, *nodes)
        return self._kept[key]

    def text(self, node):
        """The text of a node."""
        return self.source.text(node)

    def around(self, node, kinds):
        """Returns the nearest enclosing node of the given types; None if not found."""
        node = node.parent
        while node is not None and node.type not in kinds:
            node = node.parent
        return node

    def above(self, node, last):
        """Yields the nodes that enclose a node, the innermost first, before `last`."""
        node = node.parent
        while node is not None and node.id != last.id:
            yield node
            node = node.parent

    def attributes(self, pattern):
        """Yields (node, match) of each attribute whose end fits a pattern: `x.op`.

        Args:
            pattern: a pattern of bytes; its first group is the name, `op`, or the last
                names, `shape.ndims`.
        """
        for match in pattern.finditer(self.source.source):
            node = self.source.root.descendant_for_byte_range(*match.span(1))
            if node is not None and node.type == "identifier":
                node = node.parent
            if node is not None and node.type == "attribute":
                yield node, match

    def call_at(self, bracket):
        """Returns the call whose opening bracket is at a byte; None if not found."""
        node = self.source.root.descendant_for_byte_range(bracket, bracket + 1)
        while node is not None and node.type in ("(", "argument_list"):
            node = node.parent
        return node if node is not None and node.type == "call" else None

    def scope(self, node):
        """The `Scope` around a node."""
        while node is not None:
            if found := self.walk.scopes.get(node.id):
                return found
            node = node.parent
        return self.walk.top

    def origin(self, node):
        """Returns an expression's origin by the file's imports; "" if it is unknown."""
        if node is None:
            return ""
        called = node.type == "call" and node.child_by_field_name("function")
        if called and called.type == "call":  # Dense(3)(x)
            made = self.origin(called)
            return made and made + "()"
        chain = self.source.expression(node)
        found = (chain and self.names.origin(self.scope(node), chain)) or ""
        return PACKAGE.sub(r"\1tensorflow.keras", found)

    def value(self, node):
        """The last value assigned to a name or to `self.name`.

        Args:
            node: an identifier or an attribute that is read.

        Returns:
            (node or None, whether the name gets one element of it): the value, or the
            definition of a function or class; (`PARAMETER`, False) for a parameter;
            (`UNKNOWN`, False) for an import, a `with`, or an unknown name.
        """
        if node.type == "attribute":
            return self._of_object(node)
        name, above = self.text(node), node.parent
        while above is not None and above.type not in FUNCTIONS:
            if above.type in COMPREHENSIONS and (looped := self._looped(name, above)):
                return looped, True
            above = above.parent
        return self._last(name.encode(), above, node.start_byte)

    def _looped(self, name, node):
        """Returns the iterable of a comprehension's variable; None if not found."""
        for clause in node.named_children:
            if clause.type == "for_in_clause":
                left = clause.child_by_field_name("left")
                if left is not None and self.text(left) == name:
                    return clause.child_by_field_name("right")
        return None

    def _last(self, name, function, before):
        while True:
            for end, value, element in reversed(self._bindings(name, function)):
                if end <= before:
                    return value, element
            if function is None:
                return UNKNOWN, False
            if name.decode("utf-8", "replace") in self.parameters(function):
                return PARAMETER, False
            function = self.around(function, FUNCTIONS)
            before = len(self.source.source) + 1

    def _bindings(self, name, function):
        """A name's bindings in a function: [(first byte, value, is element)]."""
        key = name, function and function.id
        if key not in self._bound:
            around = function if function is not None else self.source.root
            places = self._places(name, around.start_byte, around.end_byte)
            found = (self._binding(*place) for place in places)
            self._bound[key] = [
                (end, value, element)
                for end, value, element, statement in filter(None, found)
                if self._is_in(statement, function)
            ]
        return self._bound[key]

    def _places(self, name, first, last):
        """Yields the bytes (start, end) of each place that may bind a name."""
        source, end = self.source.source, first
        while (start := source.find(name, end, last)) >= 0:
            end = start + len(name)
            before = source[start - 1 : start] if start else b""
            if before != b"." and not _in_word(before):
                if BOUND.match(source, end) or NAMED.search(source[start - 8 : start]):
                    yield start, end

    def _is_in(self, node, function):
        """Whether a statement is in a function, but not in a function inside it."""
        own = self.around(node, FUNCTIONS)
        return (own and own.id) == (function and function.id)

    def _binding(self, start, end):
        """Reads a binding: (first byte, value, is element, statement); else None."""
        node = self.source.root.descendant_for_byte_range(start, end)
        if node is None or node.type != "identifier":
            return None
        target, above, element = node, node.parent, False
        while above is not None and above.type in SEVERAL:
            target, above, element = above, above.parent, True
        if above is None:
            return None
        if above.type in ASSIGNMENTS:
            left = above.child_by_field_name("left")
            left = left or above.child_by_field_name("name")
            right = above.child_by_field_name("right")
            right = right or above.child_by_field_name("value")
            if left is None or left.id != target.id or right is None:
                return None
            while right.type == "assignment":  # a = b = 3
                right = right.child_by_field_name("right")
            if element and right.type in ROWS and target.id == node.parent.id:
                those, values = target.named_children, right.named_children
                if len(those) == len(values):
                    at = [one.id for one in those].index(node.id)
                    return above.end_byte, values[at], False, above
            return above.end_byte, right, element, above
        if above.type in LOOPS:
            left = above.child_by_field_name("left")
            if left is not None and left.id == target.id:
                return end, above.child_by_field_name("right"), True, above
        if above.type in DEFINITIONS:
            name = above.child_by_field_name("name")
            if name is not None and name.id == node.id:
                return end, above, False, above
        if above.type in ("as_pattern_target", "aliased_import", "dotted_name"):
            return end, UNKNOWN, False, above
        return None

    def parameters(self, function):
        """The names of the parameters of a function definition or a lambda."""
        found = []
        parameters = function.child_by_field_name("parameters")
        for one in parameters.named_children if parameters is not None else ():
            while one is not None and one.type != "identifier":
                named = one.child_by_field_name("name")
                one = named or next(iter(one.named_children), None)
            if one is not None:
                found.append(self.text(one))
        return found

    def own(self, node):
        """Returns (class around `self.name`, name); (None, "") for other nodes."""
        owner = self.around(node, ("class_definition",))
        chain = self.source.chain(node)
        if owner is None or not chain or len(chain) != 2 or chain[0] != "self":
            return None, ""
        return owner, chain[1]

    def _of_object(self, node):
        """Finds the first value that a class assigns to `self.name`; see `value`."""
        owner, name = self.own(node)
        if owner is None:
            return UNKNOWN, False
        word = re.compile(rb"\bself\.%s\b" % re.escape(name.encode()))
        for place in word.finditer(
            self.source.source, owner.start_byte, owner.end_byte
        ):
            found = self.source.root.descendant_for_byte_range(*place.span())
            above = found.parent if found is not None else None
            if above is not None and above.type == "assignment":
                left = above.child_by_field_name("left")
                right = above.child_by_field_name("right")
                empty = right is None or right.type == "none"
                if left is not None and left.id == found.id and not empty:
                    return right, False
        return UNKNOWN, False

    def followed(self, node):
        """Follows a name through all assignments to the node of its value.

        Args:
            node: an expression or None.

        Returns:
            A node, the same one if it is not a name; `PARAMETER`; or `UNKNOWN`, also
            for an element.
        """
        for _ in range(DEEP):
            if isinstance(node, str) or node is None:
                break
            if node.type == "parenthesized_expression" and node.named_children:
                node = node.named_children[0]
            elif node.type in ("identifier", "attribute"):
                found, element = self.value(node)
                if found is UNKNOWN and node.type == "attribute":
                    return node
                node = UNKNOWN if element else found
            else:
                return node
        return node or UNKNOWN

    def made_by(self, node):
        """Returns the origin of the class of an object; "" if it is unknown.

        Args:
            node: an expression.

        Returns:
            "tensorflow.keras.layers.Dense"; "~tensorflow.keras.Model" for a derived
            class in the file; "@nets:Net" for a class of another module.
        """
        node = self.followed(node)
        if isinstance(node, str):
            return ""
        if node.type == "call" and node.id not in self._open:
            self._open.add(node.id)
            try:
                return self._class_of(node)
            finally:
                self._open.remove(node.id)
        full = self.origin(node) if node.type == "attribute" else ""
        return full.removesuffix("()") if full.endswith("()") else ""

    def _class_of(self, call):
        function = call.child_by_field_name("function")
        called = self.origin(function)
        if called.startswith(APPLICATIONS):
            return MODEL
        name = called.rpartition(".")[2]
        if called.startswith("~") or name[:1].isupper() and "()" not in called:
            return called
        if called.startswith("@"):
            return called
        if name in ("load_model", "model_from_json", "clone_model"):
            return MODEL
        full = self.origin(call)  # a function of the file that returns it
        if full.endswith("()") and scopes.is_found(full) and full != called + "()":
            return full.removesuffix("()")
        return ""


def _in_word(byte):
    return byte.isalnum() or byte == b"_"
