"""Scopes with their bindings, and the search for the origin of a name.

An origin says where a name comes from: "tensorflow.nn.relu"; "@pkg.common:tf.log" from
a module of the project; "*log" by `import *`. "()" after a name is a call, "[]" an
element. "~tensorflow.test.TestCase" is a class in the file, derived from that class.
`SHAPE` and `DIMENSION` are a tensor's shape and a dimension of it, `OWN` is a function
in the file, `FOREIGN` anything else.
"""

import typing

SHAPE, DIMENSION, OWN, FOREIGN = "#shape", "#dimension", "!own", "!"
ELEMENT = "[]"


class Import(typing.NamedTuple):
    """A binding to an origin, such as `import tensorflow as tf`."""

    origin: str
    guarded: bool = False


class Alias(typing.NamedTuple):
    """Binding of a name to an expression's chain: `x = tf.nn`, `x = tf.zeros([3])`."""

    scope: "Scope"
    chain: tuple

    @property
    def is_name(self):
        """Whether the chain is another name, without calls and elements."""
        return not any(link.endswith(("()", ELEMENT)) for link in self.chain)


class Derived(typing.NamedTuple):
    """A class: the scope around it, the chains of its bases, and its own scope."""

    scope: "Scope"
    bases: tuple
    inner: "Scope | None" = None


class Made(typing.NamedTuple):
    """A function in the file: its scope, and the chains that it returns."""

    scope: "Scope"
    chains: tuple
    guarded: bool = False


class Scope:
    """A module, class, function or comprehension, with its bindings.

    Attributes:
        parent: the scope around it, or None.
        kind: "module", "class", "function", "comprehension".
        bindings: {name: [Import | Alias | Derived | Made | None]}.
        bases: for a class, the chains of its base classes.
        bound: [(name, target)] of all scopes of the file.
    """

    __slots__ = ("parent", "kind", "bindings", "outer", "bases", "bound")

    def __init__(self, parent, kind, bases=()):
        self.parent, self.kind, self.bases = parent, kind, bases
        self.bindings, self.outer = {}, {}
        self.bound = parent.bound if parent else []

    def bind(self, name, target, own=False):
        """Binds a name; a comprehension binds only its own variables (`own`)."""
        scope = self
        while scope.kind == "comprehension" and not own:
            scope = scope.parent
        if name in scope.outer:
            scope = scope._declared(name)
        scope.bindings.setdefault(name, []).append(target)
        self.bound.append((name, target))

    def declare(self, name, kind):
        """Records that the scope declares a name `global` or `nonlocal` (`kind`)."""
        self.outer[name] = kind

    def _declared(self, name):
        scope, kind = self, self.outer[name]
        around = [self]
        while scope.parent:
            scope = scope.parent
            around.append(scope)
        if kind == "global":
            return around[-1]
        functions = [s for s in around[1:] if s.kind == "function"]
        having = [s for s in functions if name in s.bindings]
        return (having or functions or around[-1:])[0]

    def enclosing(self, kind):
        """Returns the nearest scope of a kind, this one included; None if not found."""
        scope = self
        while scope and scope.kind != kind:
            scope = scope.parent
        return scope


class Names:
    """Finds the origins of names; all bindings of the file must be known.

    Args:
        stars: whether an `import *` may have bound any name.
    """

    def __init__(self, stars):
        self.stars, self.known, self.open, self.objects = stars, {}, set(), {}

    def origin(self, scope, chain):
        """The origin of a whole chain; None if it is unknown."""
        origin, rest = self.follow(scope, chain)
        return origin and joined(origin, rest)

    def follow(self, scope, chain):
        """Follows a chain; returns (origin or None if unknown, rest of the chain)."""
        name, *rest = chain
        if name in ("self", "cls") and rest:
            found = self._attribute(scope.enclosing("class"), rest)
            if found:
                return found
        elif name.endswith("()"):
            if made := self._returned(scope, name[:-2]):
                return made, rest
            origin, more = self.follow(scope, (name[:-2],))
            if not origin and (own := self._own_object(scope, name[:-2])):
                return self._within(own, rest)
            return (origin and joined(origin, more).removeprefix("~") + "()"), rest
        while scope:
            if name in scope.bindings:
                origin, more = self._resolve(scope, name)
                if origin in self.objects:
                    return self._within(origin, [*more, *rest])
                return origin, [*more, *rest]
            scope = scope.parent
            while scope and scope.kind == "class":
                scope = scope.parent
        if self.stars:
            return "*" + name, rest  # one of the modules may have it
        return None, rest

    def _attribute(self, owner, rest):
        """Follows attributes of a class's objects, like `follow`; None if unknown."""
        if owner is None:
            return None
        name = rest[0].removesuffix("()")
        if name in owner.bindings:
            if rest[0] != name and (made := self._returned(owner, name)):
                return made, rest[1:]
            origin, more = self._resolve(owner, name)
            if origin and rest[0] != name:
                return joined(origin, more).removeprefix("~") + "()", rest[1:]
            if origin in self.objects:
                return self._within(origin, [*more, *rest[1:]])
            return origin, [*more, *rest[1:]]
        for base in owner.bases:
            origin = self.origin(owner.parent, base)
            if _ours(origin):
                return origin.removeprefix("~") + "()", rest
        return None

    def _own_object(self, scope, name):
        """Returns the origin for objects of a class in the file; "" for other names."""
        while scope and name not in scope.bindings:
            scope = scope.parent
        made = scope.bindings[name] if scope else []
        if len(made) != 1 or not isinstance(made[0], Derived):
            return ""
        known = f"{OWN}{id(made[0].inner)}()"
        self.objects[known] = made[0].inner
        return known

    def _within(self, origin, rest):
        """Follows attributes of an object of a class in the file: `net.model.fit`."""
        owner = self.objects[origin]
        if not rest or (id(owner), rest[0]) in self.open:
            return origin, rest
        self.open.add((id(owner), rest[0]))
        found = self._attribute(owner, rest)
        self.open.remove((id(owner), rest[0]))
        return found if found and found[0] else (origin, rest)

    def _returned(self, scope, name):
        """Returns the origin of the result of a function in the file; "" if unknown."""
        while scope and name not in scope.bindings:
            scope = scope.parent
        made = scope.bindings[name] if scope else []
        if len(made) != 1 or not isinstance(made[0], Made) or id(made[0]) in self.open:
            return ""
        self.open.add(id(made[0]))
        found = {self.origin(made[0].scope, chain) for chain in made[0].chains}
        self.open.remove(id(made[0]))
        one = found.pop() if len(found) == 1 else None
        found = one and one.startswith(("tensorflow", "keras.", "@")) and "()" in one
        return one if found else ""

    def _resolve(self, scope, name):
        key = id(scope), name
        if key not in self.known:
            self.known[key] = None, []  # for names whose value depends on themselves
            self.known[key] = self._resolved(scope, name)
        return self.known[key]

    def _resolved(self, scope, name):
        found = []
        for target in scope.bindings[name]:
            if isinstance(target, Import):
                if target.guarded and not _ours(target.origin):
                    return None, []  # the guard binds a replacement
                found.append((target.origin, []))
            elif isinstance(target, Made):
                if target.guarded:
                    return None, []
                found.append((OWN, []))
            elif isinstance(target, Derived):
                origins = (self.origin(target.scope, base) for base in target.bases)
                found += [("~" + o.removeprefix("~"), []) for o in origins if _ours(o)]
            elif target is not None:
                if target.chain[0] == name and target.scope is scope:
                    continue  # tf = tf or …
                found.append(self.follow(target.scope, target.chain))
        found = [pair for pair in found if pair[0]]
        direct = [p for p in found if not any("()" in part for part in (p[0], *p[1]))]
        ours = [pair for pair in direct if _ours(pair[0])]
        return (ours or [p for p in found if _ours(p[0])] or found or [(None, [])])[0]


def is_found(origin):
    """Whether an origin is a name in TensorFlow or of the project."""
    return origin[0] not in "!#"


def _ours(origin):
    """Whether an origin may be a name of TensorFlow."""
    return origin and not origin.startswith(FOREIGN)


def joined(origin, rest):
    """Joins an origin and the rest of a chain, with ":" after a project module."""
    if rest and origin.startswith("@") and ":" not in origin:
        return origin + ":" + ".".join(rest)
    return ".".join([origin, *rest])
