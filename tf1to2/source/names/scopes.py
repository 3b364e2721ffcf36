"""What names are bound to, and the import behind a name.

An origin tells where a name comes from: "tensorflow.nn.relu", "@pkg.common:tf.log" from
a module of the project, "*log" by a wildcard. "()" stands behind what is called, "[]"
for an element. "~tensorflow.test.TestCase" is a class of the file's own, made from
that; `SHAPE` and `DIMENSION` are what their names say; `OWN` is a function of the
file's own, `FOREIGN` anything else.
"""

import typing

SHAPE, DIMENSION, OWN, FOREIGN = "#shape", "#dimension", "!own", "!"
ELEMENT = "[]"


class Import(typing.NamedTuple):
    """`import tensorflow as tf`, or whatever else has an origin."""

    origin: str
    guarded: bool = False


class Alias(typing.NamedTuple):
    """`x = tf.nn`, `x = tf.zeros([3])`: a chain as `Source.expression` makes it."""

    scope: "Scope"
    chain: tuple

    @property
    def is_name(self):
        """Whether it is another name, and not what a call made."""
        return not any(link.endswith(("()", ELEMENT)) for link in self.chain)


class Derived(typing.NamedTuple):
    """`class A(tf.test.TestCase)`: where it stands, its bases, what it binds itself."""

    scope: "Scope"
    bases: tuple
    inner: "Scope | None" = None


class Made(typing.NamedTuple):
    """A function of the file's own: the chains that it returns, in its scope."""

    scope: "Scope"
    chains: tuple
    guarded: bool = False


class Scope:
    """A module, class, function or comprehension, and what it binds.

    Attributes:
        parent: the scope around it, or None.
        kind: "module", "class", "function", "comprehension".
        bindings: {name: [Import | Alias | Derived | Made | None]}.
        bases: of a class, the chains of its base classes.
        bound: [(name, target)] of all scopes of the file.
    """

    __slots__ = ("parent", "kind", "bindings", "outer", "bases", "bound")

    def __init__(self, parent, kind, bases=()):
        self.parent, self.kind, self.bases = parent, kind, bases
        self.bindings, self.outer = {}, {}
        self.bound = parent.bound if parent else []

    def bind(self, name, target, own=False):
        """Binds a name; in a comprehension only what is its own."""
        scope = self
        while scope.kind == "comprehension" and not own:
            scope = scope.parent
        if name in scope.outer:
            scope = scope._declared(name)
        scope.bindings.setdefault(name, []).append(target)
        self.bound.append((name, target))

    def declare(self, name, kind):
        """`global name` or `nonlocal name`, by kind."""
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
        """The nearest scope of a kind, itself included; None if there is none."""
        scope = self
        while scope and scope.kind != kind:
            scope = scope.parent
        return scope


class Names:
    """What each name of a file stands for, once all is bound.

    Args:
        stars: whether a wildcard import may have brought any name.
    """

    def __init__(self, stars):
        self.stars, self.known, self.open, self.objects = stars, {}, set(), {}

    def origin(self, scope, chain):
        """The origin of a chain as a whole; None if nothing is known of it."""
        origin, rest = self.follow(scope, chain)
        return origin and joined(origin, rest)

    def follow(self, scope, chain):
        """(origin or None, the rest of the chain)."""
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
            return "*" + name, rest  # perhaps one of them has it
        return None, rest

    def _attribute(self, owner, rest):
        """As `follow`, of what stands behind `self`; None if it is not known."""
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
        """The origin of what a class of the file's own makes; "" if it is no class."""
        while scope and name not in scope.bindings:
            scope = scope.parent
        made = scope.bindings[name] if scope else []
        if len(made) != 1 or not isinstance(made[0], Derived):
            return ""
        known = f"{OWN}{id(made[0].inner)}()"
        self.objects[known] = made[0].inner
        return known

    def _within(self, origin, rest):
        """As `follow`, of what an object of the file's own holds: `net.model.fit`."""
        owner = self.objects[origin]
        if not rest or (id(owner), rest[0]) in self.open:
            return origin, rest
        self.open.add((id(owner), rest[0]))
        found = self._attribute(owner, rest)
        self.open.remove((id(owner), rest[0]))
        return found if found and found[0] else (origin, rest)

    def _returned(self, scope, name):
        """What a function of the file's own makes of TensorFlow's; "" if unknown."""
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
            self.known[key] = None, []  # for names that are defined by themselves
            self.known[key] = self._resolved(scope, name)
        return self.known[key]

    def _resolved(self, scope, name):
        found = []
        for target in scope.bindings[name]:
            if isinstance(target, Import):
                if target.guarded and not _ours(target.origin):
                    return None, []  # something else stands in for it
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
    """Whether it is a name in TensorFlow, or of the project."""
    return origin[0] not in "!#"


def _ours(origin):
    """Whether it may be TensorFlow's."""
    return origin and not origin.startswith(FOREIGN)


def joined(origin, rest):
    """A dotted name; what a module of the project hands on follows a colon."""
    if rest and origin.startswith("@") and ":" not in origin:
        return origin + ":" + ".".join(rest)
    return ".".join([origin, *rest])
