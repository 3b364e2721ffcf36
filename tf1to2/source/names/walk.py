"""Visits the tree of a file: the names that every scope binds and mentions."""

import bisect
import functools
import re
import typing

from tf1to2.catalog import keras_uses, standalone
from tf1to2.source.names import guards, methods, records, scopes
from tf1to2.source.names.scopes import Alias, Derived, Import, Made, Scope

SHAPED = rb"(?:\bshape\w*|_shape|get_shape\(\)|\.dims|\.with_rank\w*\([^()]*\))"
SHAPE = re.compile(SHAPED + rb"(?:\s*\[[^\[\]]*:[^\[\]]*\])?$")
DIMENSION = re.compile(SHAPED + rb"\s*\[[^\[\]:]*\]$")
IMPORTERS = (b"import_module", b"importlib.import_module")
RETURN = re.compile(rb"\b(return)\b[ \t(]*\w")
ASKERS = (b"getattr", b"hasattr")
LONGEST = max(map(len, IMPORTERS))
LONG = 200  # a longer expression is no condition
TARGETS = {
    "pattern_list",
    "tuple_pattern",
    "list_pattern",
    "expression_list",
    "tuple",
    "list",
    "as_pattern_target",
    "parenthesized_expression",
}


class Mention(typing.NamedTuple):
    """A name that the code reads.

    Attributes:
        scope: the scope around it; None for an import.
        chain: the chain of `Source.expression`; None if it is not a plain name.
        node: its node.
        arguments: the node of its arguments, if it is called.
        guards: the guarded branches around it.
    """

    scope: Scope
    chain: tuple
    node: object
    arguments: object
    guards: tuple


class Walk:
    """Visits a tree once, and collects bindings, mentions and guards.

    Args:
        source: `syntax.Source`.
        wanted: `words.Words`.
        is_local: a function that says whether a top-level module is the project's.

    Attributes:
        top: the scope of the module.
        mentions: list of `Mention`.
        stars: the modules of its `from … import *`.
        guards: list of `guards.Guard`.
        scopes: {id of the node of a class, function or comprehension: its scope}.
        sides: {id of a node: (number of the guard, side)} for the branches of guards.
    """

    def __init__(self, source, wanted, is_local):
        self.source, self.wanted, self.is_local = source, wanted, is_local
        self.top = Scope(None, "module")
        self.mentions, self.stars, self.guards = [], [], []
        self.scopes, self.sides = {}, {}
        self.ahead = wanted.ahead()
        self.may_ask = guards.may_ask(source.source)
        self.has_dimensions = b".value" in source.source
        self.has_models = b"keras" in source.source  # functions may return models
        visitors = _visitors()
        # A stack, not recursion: nesting may be deeper than Python's recursion limit.
        self.stack = stack = [(source.root, self.top, ())]
        while stack:
            node, scope, inside = stack.pop()
            visit = visitors.get(node.type)
            if visit:
                visit(self, node, scope, inside)
            else:
                self._push(scope, inside, *node.named_children)

    def _into(self, node, scope, inside):
        self._push(scope, inside, *node.named_children)

    def _push(self, scope, inside, *nodes):
        """Pushes the nodes that contain a wanted word, to visit them later."""
        ahead, place, those = self.ahead, -1, []
        if self.wanted.everything:
            those = [(node, scope, inside) for node in nodes if node]
        else:
            for node in nodes:
                if node and node.end_byte > place:
                    if node.start_byte > place:
                        place = ahead[bisect.bisect_left(ahead, node.start_byte)]
                    if node.end_byte > place:
                        those.append((node, scope, inside))
        those.reverse()
        self.stack += those

    # Nodes that bind names. The docstring of a visitor lists the types of its nodes.

    def _on_import(self, node, scope, inside):
        """import_statement"""
        for name in node.children_by_field_name("name"):
            dotted, alias = self.source.imported(name)
            top = dotted.partition(".")[0]
            scope.bind(alias or top, self._module(dotted if alias else top, inside))
            self._mention_import(dotted, name, inside)

    def _on_import_from(self, node, scope, inside):
        """import_from_statement"""
        source = node.child_by_field_name("module_name")
        if source is None:
            return
        module = re.sub(r"\s", "", self.source.text(source))
        found = node.children_by_field_name("name")
        if not found:  # a wildcard
            target = self._module(module, inside)
            if target.origin != scopes.FOREIGN:
                self.stars.append(target.origin)
                self._mention_import(module, source, inside)
        for name in found:
            dotted, alias = self.source.imported(name)
            scope.bind(alias or dotted, self._module(module, inside, dotted))
            self._mention_import(f"{module}.{dotted}", name, inside)

    def _module(self, module, inside, name=None):
        """The `Import` for a module or a name in it; leading dots stay."""
        top, guarded = module.partition(".")[0], self._are_sure(inside)
        if top in records.PACKAGES:
            return Import(f"{module}.{name}" if name else module, guarded)
        if top == standalone.PACKAGE and not self.is_local(top):
            origin = keras_uses.origin(f"{module}.{name}" if name else module)
            return Import(origin or scopes.FOREIGN, guarded)
        if not top or self.is_local(top):
            self.wanted.handed_on = True
            return Import(f"@{module}:{name}" if name else f"@{module}", guarded)
        return Import(scopes.FOREIGN, guarded)

    def _are_sure(self, inside):
        return any(self.guards[number].sure for number, _ in inside)

    def _mention_import(self, dotted, node, inside):
        """Adds a mention for an import of more than TensorFlow itself."""
        if dotted.startswith(records.BELOW):
            if records.public(dotted) != "tensorflow":
                self.mentions.append(Mention(None, (dotted,), node, None, inside))
        elif dotted.startswith(standalone.PACKAGE + "."):
            if not (standalone.is_new(dotted) or self.is_local(standalone.PACKAGE)):
                # With the path as written, which may be gone.
                self.mentions.append(Mention(None, (dotted,), node, None, inside))

    def _on_assignment(self, node, scope, inside):
        """assignment named_expression augmented_assignment"""
        left = node.child_by_field_name("left") or node.child_by_field_name("name")
        right = node.child_by_field_name("right") or node.child_by_field_name("value")
        self._bind(left, right, scope)
        kind = node.child_by_field_name("type")
        self._push(scope, inside, *self._mentioned(left), kind, right)

    def _mentioned(self, left):
        """The parts of a target that also read a name: `x[i]`, `x.y`, but not `x`."""
        if left is None or left.type == "identifier":
            return []
        if left.type in TARGETS:
            return [part for t in left.named_children for part in self._mentioned(t)]
        return [left]

    def _bind(self, left, right, scope, element=False, own=False):
        """Binds the names in `left` to the value of `right`, if that is known.

        Args:
            left: a target.
            right: a node, or None.
            scope: the scope around the assignment.
            element: whether `left` gets the elements of `right`, one after the other.
            own: whether the target belongs to a comprehension.
        """
        if left is None:
            return
        if left.type == "identifier":
            for target in self._values(right, scope, element):
                scope.bind(self.source.text(left), target, own)
        elif left.type == "attribute":
            chain = self.source.chain(left)
            owner = scope.enclosing("class")
            if chain and len(chain) == 2 and chain[0] in ("self", "cls") and owner:
                for target in self._values(right, scope, element):
                    owner.bind(chain[1], target)
        elif left.type in TARGETS:
            several = left.named_children
            for target, value, inner in zip(
                several, *self._unpacked(left, right, len(several), element)
            ):
                self._bind(target, value, scope, inner, own)

    def _unpacked(self, left, right, count, element):
        """(values for `count` targets, whether each gets only an element of it)."""
        if left.type == "as_pattern_target":
            return [right] * count, [element] * count
        if right is not None and right.type in TARGETS and not element:
            if len(right.named_children) == count:
                return right.named_children, [False] * count
        elif right is not None and element and right.type == "call":
            function = self.source.text(right.child_by_field_name("function"))
            arguments = right.child_by_field_name("arguments").named_children
            if function == "enumerate" and count == 2 and arguments:
                return [None, arguments[0]], [False, True]
            if function == "zip" and len(arguments) == count:
                return arguments, [True] * count
        elif right is not None and not element:
            return [right] * count, [True] * count  # b, h, w = x.shape
        return [None] * count, [False] * count

    def _values(self, node, scope, element=False):
        """Yields the possible bindings of a name that gets the value of a node."""
        while node is not None and node.type in ("parenthesized_expression", "await"):
            node = node.named_children[0] if node.named_children else None
        while node is not None and node.type == "assignment":  # a = b = tf.nn
            node = node.child_by_field_name("right")
        if node is None:
            yield None
        elif node.type == "boolean_operator":  # tf = tf or …
            yield from self._values(node.child_by_field_name("left"), scope, element)
            yield from self._values(node.child_by_field_name("right"), scope, element)
        elif node.type == "conditional_expression" and node.named_child_count == 3:
            yield from self._values(node.named_children[0], scope, element)
            yield from self._values(node.named_children[2], scope, element)
        else:
            target = self._value(node, scope)
            if element and isinstance(target, Alias):
                target = Alias(scope, (*target.chain, scopes.ELEMENT))
            elif element:
                shape = Import(scopes.SHAPE)
                target = Import(scopes.DIMENSION) if target == shape else None
            yield target

    def _value(self, node, scope):
        asked = self.may_ask and self._asked(node, scope)
        if asked:
            return asked
        kind = node.type
        if self.has_dimensions and kind in ("attribute", "subscript", "call"):
            text = self._end(node)
            if text.endswith((b".shape", b".dims")):
                return Import(scopes.SHAPE)
            if kind != "attribute" and SHAPE.search(text):
                return Import(scopes.SHAPE)
            if kind == "subscript" and DIMENSION.search(text):
                return Import(scopes.DIMENSION)
            if kind == "subscript":  # dims[0] of dims = x.get_shape()
                chain = self.source.expression(node.child_by_field_name("value"))
                if chain and b":" not in text.rpartition(b"[")[2]:
                    chain = (*chain, scopes.ELEMENT)
                return chain and Alias(scope, chain)
        if kind == "call":
            function = node.child_by_field_name("function")
            if self._is(function, IMPORTERS):
                arguments = node.child_by_field_name("arguments")
                literal = self.source.literal(arguments, 0)
                return self._module(literal, ()) if literal else None
        elif kind not in ("identifier", "attribute"):
            return None
        chain = self.source.expression(node)
        return Alias(scope, chain) if chain else None

    def _asked(self, node, scope):
        """The `Alias` of the TensorFlow version that an expression checks, or None."""
        text = self.source.source[node.start_byte : node.end_byte]
        asked = len(text) < LONG and guards.VERSION.search(text)
        if not asked or guards.EARLIER.search(text):
            return None
        return Alias(scope, (*asked[1].decode().split("."), "__version__"))

    def _end(self, node):
        """Returns the last bytes of the text of a node."""
        start = max(node.start_byte, node.end_byte - LONG)
        return self.source.source[start : node.end_byte]

    def _is(self, node, texts):
        """Whether the text of a node is one of a few words."""
        if node is None or node.end_byte - node.start_byte > LONGEST:
            return False
        return self.source.source[node.start_byte : node.end_byte] in texts

    def _on_loop(self, node, scope, inside):
        """for_statement for_in_clause"""
        left, right = (node.child_by_field_name(f) for f in ("left", "right"))
        self._bind(left, right, scope, True, node.type == "for_in_clause")
        self._into(node, scope, inside)

    def _on_as(self, node, scope, inside):
        """as_pattern"""
        value, *rest = node.named_children
        if rest and rest[-1].type == "as_pattern_target":
            self._bind(rest[-1], value, scope)
        self._push(scope, inside, value)

    def _on_global(self, node, scope, inside):
        """global_statement nonlocal_statement"""
        for name in node.named_children:
            scope.declare(self.source.text(name), node.type.partition("_")[0])

    def _on_function(self, node, scope, inside):
        """function_definition lambda"""
        inner = self.scopes[node.id] = Scope(scope, "function")
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if name:
            made = self._function(body, scope, inner, inside)
            scope.bind(self.source.text(name), made)
        parameters = node.child_by_field_name("parameters")
        for parameter in parameters.named_children if parameters else ():
            # A default is read outside, and so is an annotation.
            default = parameter.child_by_field_name("value")
            kind = parameter.child_by_field_name("type")
            self._push(scope, inside, kind, default)
            while parameter.type != "identifier":
                named = parameter.child_by_field_name("name")
                parameter = named or next(iter(parameter.named_children), None)
                if parameter is None:
                    break
            if parameter:
                name = self.source.text(parameter)
                chain = self.source.chain(kind.named_children[0]) if kind else None
                if chain:  # sess: tf.Session
                    made = (*chain[:-1], chain[-1] + "()")
                    inner.bind(name, Alias(scope, made))
                elif default is not None and default.type == "call":
                    for target in self._values(default, scope):
                        inner.bind(name, target)
                else:
                    inner.bind(name, None)
        self._push(scope, inside, node.child_by_field_name("return_type"))
        self._push(inner, inside, body)

    def _function(self, body, scope, inner, inside):
        """The binding of a function; for one that checks the version, its `Alias`."""
        asked = self.may_ask and body is not None and self._asked(body, scope)
        guarded = self._are_sure(inside)
        if asked:
            return asked
        made = self.has_models and body is not None
        chains = tuple(self._returns(body)) if made else ()
        if chains and all(chains):
            return Made(inner, chains, guarded)
        return Import(scopes.OWN, guarded)

    def _returns(self, body):
        """Yields the chain of each value that a function returns, or None."""
        for found in RETURN.finditer(
            self.source.source, body.start_byte, body.end_byte
        ):
            node = self.source.root.descendant_for_byte_range(*found.span(1))
            while node.type != "return_statement" and node.id != body.id:
                node = node.parent
            around = node.parent
            while around.type not in ("function_definition", "lambda"):
                around = around.parent
            if node.id != body.id and around.id == body.parent.id:
                values = node.named_children
                one = values[0] if len(values) == 1 else None
                plain = one and one.type in ("identifier", "call", "attribute")
                yield self.source.expression(one) if plain else None

    def _on_class(self, node, scope, inside):
        """class_definition"""
        name = node.child_by_field_name("name")
        above = node.child_by_field_name("superclasses")
        bases = [self.source.chain(b) for b in above.named_children] if above else []
        bases = tuple(base for base in bases if base)
        inner = self.scopes[node.id] = Scope(scope, "class", bases)
        if name:
            scope.bind(self.source.text(name), Derived(scope, bases, inner))
        self._push(scope, inside, above)
        body = node.child_by_field_name("body")
        self._mention_overridden(scope, bases, body, inside)
        self._push(inner, inside, body)

    def _mention_overridden(self, scope, bases, body, inside):
        """Adds mentions of a class's methods that its base no longer calls."""
        for function in body.named_children if bases else ():
            function = function.child_by_field_name("definition") or function
            if function.type != "function_definition":
                continue
            name = function.child_by_field_name("name")
            if (text := self.source.text(name)) in methods.OVERRIDDEN:
                for *path, base in bases:
                    chain = (*path, base + "()", text)
                    self.mentions.append(Mention(scope, chain, name, None, inside))

    def _on_comprehension(self, node, scope, inside):
        """list_comprehension set_comprehension dictionary_comprehension
        generator_expression"""
        self.scopes[node.id] = Scope(scope, "comprehension")
        self._into(node, self.scopes[node.id], inside)

    # Nodes with code for both versions.

    def _on_if(self, node, scope, inside):
        """if_statement elif_clause conditional_expression"""
        condition = node.child_by_field_name("condition")
        if condition is None and len(node.named_children) == 3:
            condition = node.named_children[1]
        guard = condition is not None and guards.condition(
            self.source.source[condition.start_byte : condition.end_byte]
        )
        if not guard:
            self._into(node, scope, inside)
            return
        yes = node.child_by_field_name("consequence")
        yes = yes or node.named_children[0]  # of a conditional expression
        sides = {condition.id: "test", yes.id: "yes"}
        parts = [(sides.get(part.id, "no"), part) for part in node.named_children]
        self._guarded(guard, scope, inside, parts)

    def _on_try(self, node, scope, inside):
        """try_statement"""
        guard = guards.attempt(self.source, node)
        if not guard:
            self._into(node, scope, inside)
            return
        sides = {"except_clause": "handler", "finally_clause": "after"}
        parts = [(sides.get(part.type, "try"), part) for part in node.named_children]
        self._guarded(guard, scope, inside, parts)

    def _guarded(self, guard, scope, inside, parts):
        number = len(self.guards)
        self.guards.append(guard)
        for side, part in reversed(parts):
            self.sides[part.id] = number, side
            self._push(scope, (*inside, (number, side)), part)

    # Nodes that mention names.

    def _on_name(self, node, scope, inside, arguments=None):
        """identifier attribute"""
        chain = self.source.chain(node)
        if chain:
            if len(chain) > 2 and chain[-2] == "op":
                inner = node.child_by_field_name("object")
                self.mentions.append(Mention(scope, chain[:-1], inner, None, inside))
            if (
                self.wanted.everything
                or chain[0] in self.wanted.words
                or chain[0] in ("self", "cls")
                or chain[-1] in methods.MEMBERS
                or chain[-1] in methods.of_followed()
            ):
                self.mentions.append(Mention(scope, chain, node, arguments, inside))
            return
        receiver = node.child_by_field_name("object")
        name = node.child_by_field_name("attribute")
        if receiver is None or name is None:
            self._into(node, scope, inside)
            return
        if self.source.text(name) in methods.MEMBERS:
            self.mentions.append(Mention(scope, None, node, arguments, inside))
        self._push(scope, inside, receiver)

    def _on_call(self, node, scope, inside):
        """call"""
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if self._is(function, ASKERS):
            asked = self.source.asked(node)
            if asked:
                if self._is(function, (b"hasattr",)):
                    asked = (*asked[:-1], guards.ASKED)
                self.mentions.append(Mention(scope, asked, node, None, inside))
        if function is not None and function.type in ("identifier", "attribute"):
            self._on_name(function, scope, inside, arguments)
        else:
            self._push(scope, inside, function)
        self._push(scope, inside, arguments)

    def _on_keyword(self, node, scope, inside):
        """keyword_argument"""
        self._push(scope, inside, node.child_by_field_name("value"))

    def _on_string(self, node, scope, inside):
        """string"""
        if node.named_child_count > 2:  # text, and what an f-string computes
            parts = (c for c in node.named_children if c.type == "interpolation")
            self._push(scope, inside, *parts)

    def _on_nothing(self, node, scope, inside):
        """comment integer float true false none future_import_statement"""


@functools.cache
def _visitors():
    """{type of node: method}, from the docstrings of the methods."""
    return {
        kind: method
        for name, method in vars(Walk).items()
        if name.startswith("_on_")
        for kind in method.__doc__.split()
    }
