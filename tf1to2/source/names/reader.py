"""Reads a file: from the names that it mentions to its uses of TensorFlow."""

import re

from tf1to2.source import constructs
from tf1to2.source.names import faults, inspected, methods, records, scopes
from tf1to2.source.names.hints import Words
from tf1to2.source.names.syntax import Source
from tf1to2.source.names.values import Values
from tf1to2.source.names.walk import DIMENSION, Mention, Walk

# A flag with a hyphen in its name.
HYPHENATED = re.compile(rb"""DEFINE_\w+\(\s*["'](\w+-[\w-]+)["']""")


def read(source, is_local=frozenset().__contains__):
    """Reads the uses of TensorFlow in one file.

    Args:
        source: bytes of the file, in UTF-8.
        is_local: a function that says whether a top-level module belongs to the
            project: imports from such modules are followed.

    Returns:
        `records.Module`.
    """
    source = Source(source)
    words = Words(source.source)
    walk = Walk(source, words, is_local)
    if not (walk.stars or words.add_bound(walk.top.bound)):
        # No import of TensorFlow, even by another module; but some calls are only its.
        if not any(word in source.source for word in (b"feed_dict", b"make_one_shot")):
            return records.Module(
                [], {}, [], [], _comments(source), faults.first(source)
            )
    words.everything = bool(walk.stars)  # `import *` may have bound any word
    words.add_objects()
    while True:
        walk = Walk(source, words, is_local)
        if words.everything or not words.add_bound(walk.top.bound):
            break
    reader = _Reader(source, walk)
    uses = [use for mention in walk.mentions for use in reader.uses(mention)]
    uses += reader.found()
    if not (walk.stars or b"tensorflow" in source.source):
        if not any(use.origin[:1] not in ("", ".") for use in uses):
            uses = [use for use in uses if methods.is_fed(use.call)]
    uses.sort(key=lambda use: (use.line, use.column, use.end_line, use.end_column))
    return records.Module(
        uses,
        reader.exports(),
        walk.stars,
        walk.guards,
        _comments(source),
        faults.first(source),
        tuple(flag.decode() for flag in HYPHENATED.findall(source.source)),
    )


def _comments(source):
    return source.comments(b"tf1to2") if b"tf1to2" in source.source else []


class _Reader:
    def __init__(self, source, walk):
        self.source, self.walk, self.top = source, walk, walk.top
        self.names = scopes.Names(bool(walk.stars))
        self.values = Values(source, walk, self.names)
        self.asking = constructs.asking()

    def exports(self):
        """Returns {name: origin} of importable names, also of `Net().model`."""
        found = {}
        for name, bound in self.top.bindings.items():
            made = f"{name}()"
            chains = [(name,)]
            for target in bound:
                if isinstance(target, scopes.Made):
                    chains.append((made,))
                elif self.walk.has_models and isinstance(target, scopes.Derived):
                    chains += [(made, one) for one in self._held(target.inner)]
            for chain in chains:
                origin = self.names.origin(self.top, chain)
                if origin and origin[0] not in "#!*":
                    found[".".join(chain)] = origin
        return found

    def _held(self, owner):
        """Yields class attributes that hold objects, and methods as `name()`."""
        for name, bound in owner.bindings.items():
            if any(
                type(target) is scopes.Alias and "()" in target.chain[-1]
                for target in bound
            ):
                yield name
            if any(isinstance(target, scopes.Made) for target in bound):
                yield f"{name}()"

    def found(self):
        """The uses that constructs find."""
        found = []
        for one in constructs.uses(self.values):
            inside = self._guards(one.node)
            mention = Mention(self.top, None, one.node, one.arguments, inside)
            use = self._use(mention, one.origin, likely=one.likely)
            call = use.call or records.Call(0, (), False)
            call = call._replace(kinds=(*call.kinds, *one.kinds))
            found.append(use._replace(call=call, by_kind=one.by_kind))
        return found

    def _guards(self, node):
        """The branches of guards that contain a node, the outermost first."""
        found = []
        while node is not None:
            if side := self.walk.sides.get(node.id):
                found.append(side)
            node = node.parent
        return tuple(reversed(found))

    def uses(self, mention):
        """Yields the `Use` for a mention, if it is a use."""
        chain = mention.chain
        if mention.scope is None:
            yield self._use(mention, chain[0])
            return
        name = chain[-1] if chain else self._attribute(mention.node)
        if not chain:
            chain = self.source.expression(mention.node)
        full = self.names.origin(mention.scope, chain) if chain else None
        if full and "()" not in full and scopes.ELEMENT not in full:
            if full[0] not in "#!~" and records.public(full) != "tensorflow":
                yield self._use(mention, full, len(chain) == 1)
                return
        if full and name in methods.of_followed() and methods.is_followed(full):
            yield self._use(mention, full)
            return
        if name not in methods.MEMBERS or chain and len(chain) < 2:
            return
        if name == "trainable" and not self._freezes(mention.node):
            return
        call = self.source.call(mention.arguments)
        if name == "value":
            if call is None and self._is_dimension(mention, full):
                yield self._use(mention, ".value")
        elif full and full[0] not in "#!~":
            sure = methods.unmistakable(name, call)
            likely = "." + name if sure else self._likely(mention, name)
            yield self._use(mention, full, likely=likely, call=call)
        elif full == scopes.OWN or full and full[0] == "!" and "()" not in full:
            return  # a function of the file, or of another library
        elif methods.unmistakable(name, call):
            yield self._use(mention, "." + name, call=call)
        elif not full or full.startswith(scopes.OWN):
            likely = self._likely(mention, name) or methods.like_keras(name, call)
            if likely:
                yield self._use(mention, "", likely=likely, call=call)

    def _attribute(self, node):
        return self.source.text(node.child_by_field_name("attribute"))

    def _freezes(self, node):
        """Whether an attribute is assigned a value that may be False."""
        above = node.parent
        if above is None or above.type != "assignment":
            return False
        right = above.child_by_field_name("right")
        left = above.child_by_field_name("left")
        return left.id == node.id and right is not None and right.type != "true"

    def _likely(self, mention, name):
        if name == "op":
            above = mention.node.parent
            known = above.type == "attribute" and self._attribute(above)
            return "tensorflow.Tensor.op" if known in methods.OF_OPERATIONS else ""
        receiver = mention.node.child_by_field_name("object")
        if receiver is None or mention.arguments is None and name in ("run", "save"):
            return ""
        return methods.likely(name, self.source.text(receiver))

    def _is_dimension(self, mention, full):
        """Whether `.value` belongs to a dimension: x.shape[0].value."""
        if full in (
            f"{scopes.DIMENSION}.value",
            f"{scopes.SHAPE}.{scopes.ELEMENT}.value",
        ):
            return True
        receiver = mention.node.child_by_field_name("object")
        if receiver is None or receiver.type != "subscript":
            return False
        text = self.source.source[receiver.start_byte : receiver.end_byte]
        if DIMENSION.search(text):
            return True
        chain = self.source.expression(receiver.child_by_field_name("value"))
        return bool(chain) and self.names.origin(mention.scope, chain) == scopes.SHAPE

    def _kinds(self, mention, origin):
        """Returns the argument kinds that constructs find in a mention's call."""
        if mention.arguments.type != "argument_list":
            return ()
        called = inspected.called(self.source, mention.node, origin, mention.arguments)
        return constructs.kinds(self.values, called)

    def _use(self, mention, origin, bare=False, likely="", call=None):
        node, last = mention.node, mention.arguments or mention.node
        if mention.arguments is not None:
            call = call or self.source.call(mention.arguments)
            name = origin or likely
            if name.rpartition(".")[2] in self.asking:
                call = call._replace(kinds=self._kinds(mention, name))
        (line, column), (end_line, end_column) = node.start_point, node.end_point
        return records.Use(
            origin,
            line + 1,
            self.source.characters(node.start_byte, column) + 1,
            end_line + 1,
            self.source.characters(node.end_byte, end_column) + 1,
            call,
            bare,
            last.end_point[0] + 1,
            mention.guards,
            likely,
            mention.scope is None,
        )
