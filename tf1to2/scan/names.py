"""Which names of TensorFlow a Python file uses, and where: imports, aliases, scopes.

The file is parsed by tree-sitter, so Python 2 and half-broken files are read too. One
walk notes what every scope binds and which dotted names it mentions; after it, each
mention is followed from binding to binding until it reaches an import.

Most of a file has nothing to do with TensorFlow, so the walk enters only what holds a
word that may: first `import`, then the names that imports and aliases have bound.
"""

import bisect
import collections
import dataclasses
import functools
import re
import typing

import tree_sitter
import tree_sitter_python

LANGUAGE = tree_sitter.Language(tree_sitter_python.language())
# Legacy code finds the same public names in all of these.
ROOTS = re.compile(r"tensorflow_core\b|tensorflow(\.compat\.v1)+\b")
# Attributes of tensors, variables and datasets that TensorFlow 2 has not; they count
# where the object is known to come from TensorFlow, or the name leaves no doubt.
METHODS = {"eval", "initializer", "value"}
UNMISTAKABLE = {
    "make_one_shot_iterator",
    "make_initializable_iterator",
    "initialized_value",
    "get_shape",
}
PLAIN = re.compile(rb"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
# Around a word that matters: the object of a method; `x = tf.nn`, not `x = tf.ones(3)`.
OBJECT = re.compile(rb"(?<![\w.])(?:self\.|cls\.)?(\w+)[\w.]*$")
LEFT = re.compile(rb"^\s*(?:self\.|cls\.)?(\w+)\s*=[\s(\\]*(?:self\.|cls\.)?$")
RIGHT = re.compile(rb"[\w.]+(?![\w.]|[ \t]*[(\[])")
DIMENSION = re.compile(
    r"(shape\w*|get_shape\(\)|\.dims)(\.dims|\.with_rank\w*\([^()]*\))?\s*\[[^\]]*\]$"
)
# A name for the version.
NAMED = re.compile(
    rb"(?m)^\s*(\w+)\s*=[^=\n]*\b(?:tf|tensorflow)\.(?:__version__|VERSION)\b"
)
# A condition that tells TensorFlow 1.4 from 1.5 guards nothing in TensorFlow 2.
EARLIER = re.compile(rb"""["'](0\.\d|1\.\d\b|1\.1[0-2]\b)""")
GUARD = re.compile(
    rb"__version__|\bTF_?2\b|tf_?2_?enabled"
    rb"|\bhasattr\(\s*(?:tf|tensorflow)[\w.]*\s*,\s*[\"']"
)


class Call(typing.NamedTuple):
    """The arguments of a call.

    Attributes:
        positional: how many are positional.
        keywords: names of the keywords.
        starred: whether there are more, by `*args` or `**kwargs`.
    """

    positional: int
    keywords: tuple
    starred: bool


class Use(typing.NamedTuple):
    """One mention of a name.

    Attributes:
        origin: the full dotted name: "tensorflow.nn.relu"; "@pkg.common:tf.nn.relu"
            where a module of the project hands it on; "*relu" where only a wildcard
            import can have brought it; ".eval" for a method or attribute of an object
            that comes from TensorFlow, "@pkg.common:tf.ones|.eval" if that made it.
        line: where it starts, from 1.
        column: in characters, from 1.
        end_line: where it ends.
        end_column: the first column that is not part of it.
        call: the arguments, where it is called.
        bare: whether it is one word, bound elsewhere: `slim`, `conv2d`.
    """

    origin: str
    line: int
    column: int
    end_line: int
    end_column: int
    call: Call | None = None
    bare: bool = False


@dataclasses.dataclass(frozen=True)
class Module:
    """What one file says.

    Attributes:
        uses: list of `Use`, in the order of the file; code that is guarded for both
            versions is left out.
        exports: {name: origin} of what other modules may import from it.
        stars: the modules of its `from … import *`.
        broken: line of the first place that is no Python, or None.
    """

    uses: list
    exports: dict
    stars: list
    broken: int | None


class _Scope:
    """A module, class, function or comprehension, and what it binds."""

    __slots__ = ("parent", "kind", "bindings", "outer", "bound")

    def __init__(self, parent, kind):
        self.parent, self.kind = parent, kind
        self.bindings = {}  # {name: [_Import | _Alias | _Made | None]}
        self.outer = set()  # names declared global
        self.bound = parent.bound if parent else []  # (name, target) of all scopes

    def bind(self, name, target):
        scope = self
        while scope.kind == "comprehension" and target is not None:
            scope = scope.parent
        if name in scope.outer:
            while scope.parent:
                scope = scope.parent
        scope.bindings.setdefault(name, []).append(target)
        self.bound.append((name, target))

    def enclosing(self, kind):
        scope = self
        while scope and scope.kind != kind:
            scope = scope.parent
        return scope


_Import = collections.namedtuple("_Import", "origin guarded")
_Alias = collections.namedtuple("_Alias", "scope chain")  # x = tf.nn
_Made = collections.namedtuple("_Made", "scope chain")  # x = tf.zeros([3])
_Mention = collections.namedtuple("_Mention", "scope chain node arguments")


def read(source, package="", local=frozenset()):
    """Reads one file.

    Args:
        source: bytes of the file, in UTF-8.
        package: dotted name of the package that it lies in, for relative imports.
        local: names of the top-level modules and packages of the project: imports from
            these are followed.

    Returns:
        `Module`.
    """
    return _Reader(source, package, local).module()


class _Reader:
    def __init__(self, source, package, local):
        self.source, self.package, self.local = source, package, local
        self.known, self.everything = {}, False
        self.guard = GUARD
        if b"__version__" in source or b".VERSION" in source:
            names = b"".join(rb"|\b%s\b" % name for name in set(NAMED.findall(source)))
            self.guard = re.compile(GUARD.pattern + names)
        self.visitors = _visitors()

    def module(self):
        root = _parsed(self.source)
        if root.has_error and b"async" in self.source:  # a mere name before Python 3.7
            self.source = re.sub(rb"\basync(?=\s*[=,)])", b"_sync", self.source)
            root = _parsed(self.source)
        self._walk_what_matters(root)
        uses = [use for mention in self.mentions for use in self._uses(mention)]
        from_tensorflow = bool(uses or self.stars) or b"tensorflow" in self.source
        for scope, receiver, name, node, call in self.methods:
            origin = from_tensorflow and self._method(scope, receiver, name, call)
            if origin:
                uses.append(self._use(origin, node, call))
        uses.sort(key=lambda use: (use.line, use.column, use.end_line, use.end_column))
        exports = {}
        for name in self.top.bindings:
            origin, rest = self._resolve(self.top, name)
            if origin and not origin.startswith("()"):
                exports[name] = _joined(origin, rest)
        return Module(uses, exports, self.stars, self._broken(root))

    def _walk_what_matters(self, root):
        self.words, self.places = set(), []
        self._matter({"import", "import_module"})
        self._walk(root)
        self.everything = bool(self.stars)  # a wildcard may have brought any word
        self._matter(self._leading() | self._objects())
        while True:
            self._walk(root)
            new = self._leading() - self.words
            if self.everything or not new:
                break
            self._matter(new)

    def _matter(self, words):
        """Adds words, and what the file evidently makes other names of them."""
        new = words - self.words
        while new:
            word = new.pop()
            self.words.add(word)
            for start, _ in self._places(word.encode()):
                self.places.append(start)
                line = self.source.rfind(b"\n", 0, start) + 1
                left = LEFT.match(self.source[line:start])
                if left and RIGHT.match(self.source, start):
                    new |= {left[1].decode()} - self.words
        self.places.sort()

    def _places(self, word):
        """Yields where a word starts and ends."""
        source, end = self.source, 0
        while (start := source.find(word, end)) >= 0:
            end = start + len(word)
            if not _in_word(source[end : end + 1]):
                if not start or not _in_word(source[start - 1 : start]):
                    yield start, end

    def _objects(self):
        """The names before what may be a method of TensorFlow's."""
        found = set()
        for method in METHODS | UNMISTAKABLE:
            for start, _ in self._places(method.encode()):
                self.places.append(start)
                if self.source[start - 1 : start] == b".":
                    before = self.source[max(0, start - 81) : start - 1]
                    if name := OBJECT.search(before):
                        found.add(name[1].decode())
        return found

    def _leading(self):
        """Names that an import or an alias has bound to what may be TensorFlow's."""
        return {
            name
            for name, target in self.top.bound
            if isinstance(target, _Import)
            and target.origin
            or isinstance(target, _Alias)
            and not self.words.isdisjoint(target.chain[:2])
        }

    def _walk(self, root):
        self.top = _Scope(None, "module")
        self.mentions, self.methods, self.stars = [], [], []
        self.ahead = [0] if self.everything else [*self.places, len(self.source) + 1]
        visitors = self.visitors
        # A stack, not recursion: nesting may be deeper than Python's own limit.
        self.stack = stack = [(root, self.top, False)]
        while stack:
            node, scope, guarded = stack.pop()
            visit = visitors.get(node.type)
            if visit:
                visit(self, node, scope, guarded)
            else:
                self._push(scope, guarded, *node.named_children)

    def _into(self, node, scope, guarded):
        self._push(scope, guarded, *node.named_children)

    def _push(self, scope, guarded, *nodes):
        """Has the walk visit those nodes that hold a word that matters."""
        ahead, place, those = self.ahead, -1, []
        if self.everything:
            those = [(node, scope, guarded) for node in nodes if node]
        else:
            for node in nodes:
                if node and node.end_byte > place:
                    if node.start_byte > place:
                        place = ahead[bisect.bisect_left(ahead, node.start_byte)]
                    if node.end_byte > place:
                        those.append((node, scope, guarded))
        those.reverse()
        self.stack += those

    def _text(self, node):
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    # What binds names. The docstring of a visitor lists the types of node it takes.

    def _on_import(self, node, scope, guarded):
        """import_statement"""
        for name in node.children_by_field_name("name"):
            dotted, alias = self._imported(name)
            if alias:
                scope.bind(alias, self._module(dotted, guarded))
            else:
                top = dotted.partition(".")[0]
                scope.bind(top, self._module(top, guarded))
            if not guarded:
                self._mention_import(dotted, name)

    def _on_import_from(self, node, scope, guarded):
        """import_from_statement"""
        source = node.child_by_field_name("module_name")
        if source is None:
            return
        module = self._absolute(re.sub(r"\s", "", self._text(source)))
        names = node.children_by_field_name("name")
        if not names:  # a wildcard
            target = self._module(module, guarded)
            if target.origin:
                self.stars.append(target.origin)
        for name in names:
            dotted, alias = self._imported(name)
            scope.bind(alias or dotted, self._module(module, guarded, dotted))
            if not guarded:
                self._mention_import(f"{module}.{dotted}", name)

    def _imported(self, node):
        if node.type != "aliased_import":
            return re.sub(r"\s", "", self._text(node)), None
        name, alias = (
            node.child_by_field_name("name"),
            node.child_by_field_name("alias"),
        )
        return re.sub(r"\s", "", self._text(name)), self._text(alias)

    def _absolute(self, module):
        dots = len(module) - len(module.lstrip("."))
        if not dots:
            return module
        parents = self.package.split(".") if self.package else []
        parents = parents[: len(parents) - dots + 1]
        return ".".join(["", *parents, module[dots:]]).rstrip(".")

    def _module(self, module, guarded, name=None):
        """What an import binds; a leading dot marks a relative one, made absolute."""
        top = module.lstrip(".").partition(".")[0]
        if top in ("tensorflow", "tensorflow_core"):
            return _Import(f"{module}.{name}" if name else module, guarded)
        if module.startswith(".") or top in self.local:
            origin = "@" + module.lstrip(".")
            return _Import(f"{origin}:{name}" if name else origin, guarded)
        return _Import(None, guarded)

    def _mention_import(self, dotted, node):
        """An import is a use where it names more than TensorFlow itself."""
        if dotted.startswith(("tensorflow.", "tensorflow_core.")):
            if public(dotted) != "tensorflow":
                self.mentions.append(_Mention(None, (dotted,), node, None))

    def _on_assignment(self, node, scope, guarded):
        """assignment named_expression augmented_assignment"""
        left = node.child_by_field_name("left") or node.child_by_field_name("name")
        right = node.child_by_field_name("right") or node.child_by_field_name("value")
        self._bind(left, right, scope)
        self._push(
            scope,
            guarded,
            *self._mentioned(left),
            node.child_by_field_name("type"),
            right,
        )

    def _mentioned(self, left):
        """The parts of a target that are read: `x[i]`, `x.y`, but no mere name."""
        if left is None or left.type == "identifier":
            return []
        if left.type in _TARGETS:
            return [part for t in left.named_children for part in self._mentioned(t)]
        return [left]

    def _bind(self, left, right, scope):
        """Binds the names in `left`, to what `right` is if that can be told."""
        if left is None:
            return
        if left.type == "identifier":
            scope.bind(self._text(left), self._value(right, scope))
        elif left.type == "attribute":
            chain = self._chain(left)
            if chain and len(chain) == 2 and chain[0] in ("self", "cls"):
                owner = scope.enclosing("class")
                if owner:
                    owner.bind(chain[1], self._value(right, scope))
        elif left.type in _TARGETS:
            several = left.named_children
            values = [None] * len(several)
            if right is not None and right.type in _TARGETS:
                if len(right.named_children) == len(several):
                    values = right.named_children
            elif left.type == "as_pattern_target":
                values = [right] * len(several)
            for target, value in zip(several, values):
                self._bind(target, value, scope)

    def _value(self, node, scope):
        while node is not None and node.type in ("parenthesized_expression", "await"):
            node = node.named_children[0] if node.named_children else None
        while node is not None and node.type == "assignment":  # a = b = tf.nn
            node = node.child_by_field_name("right")
        if node is None:
            return None
        chain = self._chain(node)
        if chain:
            return _Alias(scope, chain)
        if node.type == "boolean_operator":  # tf = tf or …
            return self._value(node.child_by_field_name("left"), scope)
        if node.type == "call":
            named = self._named_by_getattr(node)
            if named:
                return _Alias(scope, named)
            chain = self._chain(node.child_by_field_name("function"))
            if chain == ("import_module",) or chain == ("importlib", "import_module"):
                literal = self._literal(node.child_by_field_name("arguments"), 0)
                return self._module(literal, False) if literal else None
            return _Made(scope, chain) if chain else None
        return None

    def _on_loop(self, node, scope, guarded):
        """for_statement for_in_clause"""
        self._bind(node.child_by_field_name("left"), None, scope)
        self._into(node, scope, guarded)

    def _on_as(self, node, scope, guarded):
        """as_pattern"""
        value, *rest = node.named_children
        if rest and rest[-1].type == "as_pattern_target":
            self._bind(rest[-1], value, scope)
        self._push(scope, guarded, value)

    def _on_global(self, node, scope, guarded):
        """global_statement nonlocal_statement"""
        scope.outer.update(self._text(name) for name in node.named_children)

    def _on_function(self, node, scope, guarded):
        """function_definition lambda"""
        inner = _Scope(scope, "function")
        name = node.child_by_field_name("name")
        if name:
            scope.bind(self._text(name), None)
        parameters = node.child_by_field_name("parameters")
        for parameter in parameters.named_children if parameters else ():
            # A default is read outside, and so is an annotation.
            self._push(
                scope,
                guarded,
                parameter.child_by_field_name("type"),
                parameter.child_by_field_name("value"),
            )
            while parameter.type != "identifier":
                named = parameter.child_by_field_name("name")
                parameter = named or next(iter(parameter.named_children), None)
                if parameter is None:
                    break
            if parameter:
                inner.bind(self._text(parameter), None)
        self._push(scope, guarded, node.child_by_field_name("return_type"))
        self._push(inner, guarded, node.child_by_field_name("body"))

    def _on_class(self, node, scope, guarded):
        """class_definition"""
        name = node.child_by_field_name("name")
        if name:
            scope.bind(self._text(name), None)
        self._push(scope, guarded, node.child_by_field_name("superclasses"))
        self._push(_Scope(scope, "class"), guarded, node.child_by_field_name("body"))

    def _on_comprehension(self, node, scope, guarded):
        """list_comprehension set_comprehension dictionary_comprehension
        generator_expression"""
        self._into(node, _Scope(scope, "comprehension"), guarded)

    # What is written for both versions.

    def _on_if(self, node, scope, guarded):
        """if_statement conditional_expression"""
        condition = node.child_by_field_name("condition")
        if condition is None and len(node.named_children) == 3:
            condition = node.named_children[1]
        if condition is not None:
            text = self.source[condition.start_byte : condition.end_byte]
            guarded = guarded or bool(
                self.guard.search(text) and not EARLIER.search(text)
            )
        self._into(node, scope, guarded)

    def _on_try(self, node, scope, guarded):
        """try_statement"""
        body = node.child_by_field_name("body")
        if not guarded and body is not None:
            guarded = any(
                child.type == "except_clause" and self._is_alternative(child, body)
                for child in node.named_children
            )
        self._into(node, scope, guarded)

    def _is_alternative(self, clause, body):
        """Whether a handler does without what the body of its `try` did not find."""
        head = self.source[clause.start_byte : clause.end_byte].partition(b":")[0]
        if not re.search(rb"\b(Import|ModuleNotFound|Attribute)Error|except\s*$", head):
            return False
        block = clause.named_children[-1] if clause.named_children else None
        instead = self._settled(block)
        if instead & self._settled(body):
            return True
        only_imports = all(s.type.startswith("import_") for s in body.named_children)
        tried = self.source[body.start_byte : body.end_byte]
        return bool(instead) and only_imports and b"tensorflow" in tried

    def _settled(self, block):
        """What the statements of a block bind; "return" stands for a value returned."""
        found = set()
        for statement in block.named_children if block else ():
            if statement.type.startswith("import_"):
                for name in statement.children_by_field_name("name"):
                    dotted, alias = self._imported(name)
                    found.add(alias or dotted.partition(".")[0])
            elif statement.type == "return_statement":
                found.add("return")
            elif statement.type == "expression_statement":
                found.update(
                    self._text(part.child_by_field_name("left"))
                    for part in statement.named_children
                    if part.type == "assignment"
                )
            elif name := statement.child_by_field_name("name"):
                found.add(self._text(name))
        return found

    # What mentions names.

    def _on_name(self, node, scope, guarded, arguments=None):
        """identifier attribute"""
        chain = self._chain(node)
        if chain:
            if not guarded and (
                self.everything
                or chain[0] in self.words
                or chain[0] in ("self", "cls")
                or chain[-1] in UNMISTAKABLE
            ):
                self.mentions.append(_Mention(scope, chain, node, arguments))
            return
        receiver = node.child_by_field_name("object")
        name = node.child_by_field_name("attribute")
        if receiver is None or name is None:
            self._into(node, scope, guarded)
            return
        name = self._text(name)
        if not guarded and (name in METHODS or name in UNMISTAKABLE):
            self.methods.append((scope, receiver, name, node, self._call(arguments)))
        self._push(scope, guarded, receiver)

    def _on_call(self, node, scope, guarded):
        """call"""
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        named = self._named_by_getattr(node)
        if named and not guarded:
            self.mentions.append(_Mention(scope, named, node, None))
        if function is not None and function.type in ("identifier", "attribute"):
            self._on_name(function, scope, guarded, arguments)
        else:
            self._push(scope, guarded, function)
        self._push(scope, guarded, arguments)

    def _on_keyword(self, node, scope, guarded):
        """keyword_argument"""
        self._push(scope, guarded, node.child_by_field_name("value"))

    def _on_string(self, node, scope, guarded):
        """string"""
        if node.named_child_count > 2:  # text, and what an f-string computes
            self._push(
                scope,
                guarded,
                *(c for c in node.named_children if c.type == "interpolation"),
            )

    def _on_nothing(self, node, scope, guarded):
        """comment integer float true false none future_import_statement"""

    def _call(self, arguments):
        if arguments is None:
            return None
        if arguments.type != "argument_list":
            return Call(1, (), False)
        positional, keywords, starred = 0, [], False
        for argument in arguments.named_children:
            if argument.type == "keyword_argument":
                keywords.append(self._text(argument.child_by_field_name("name")))
            elif argument.type in ("list_splat", "dictionary_splat"):
                starred = True
            elif argument.type != "comment":
                positional += 1
        return Call(positional, tuple(keywords), starred)

    def _named_by_getattr(self, node):
        """The chain of `getattr(tf.train, "Saver")`."""
        function = node.child_by_field_name("function")
        if function is None or self._text(function) != "getattr":
            return None
        arguments = node.child_by_field_name("arguments")
        literal = self._literal(arguments, 1)
        chain = literal and self._chain(arguments.named_children[0])
        return (*chain, literal) if chain else None

    def _literal(self, arguments, position):
        found = arguments.named_children if arguments is not None else []
        if len(found) <= position or found[position].type != "string":
            return None
        literal = re.fullmatch(
            r"[a-zA-Z]*(['\"])([\w.]+)\1", self._text(found[position])
        )
        return literal and literal[2]

    def _chain(self, node):
        """("tf", "nn", "relu") of a dotted name; None for anything else."""
        if node is None:
            return None
        text = self.source[node.start_byte : node.end_byte]
        if PLAIN.fullmatch(text):
            return tuple(text.decode().split("."))
        root = node
        while root is not None and root.type == "attribute":
            root = root.child_by_field_name("object")
        if root is None or root.type != "identifier":
            return None
        text = self._text(node)
        if not text.replace(".", "").replace("_", "").isalnum():
            text = re.sub(r"#.*|[\s\\]", "", text)  # the dots may be on other lines
        return tuple(text.split("."))

    # From a mention to the import behind it.

    def _uses(self, mention):
        scope, chain, node, arguments = mention
        if scope is None:
            return [self._use(chain[0], node, None)]
        origin, rest = self._follow(scope, chain)
        if origin is None or origin.startswith("()"):
            if origin is None and chain[-1] not in METHODS | UNMISTAKABLE:
                return []
            name, call = chain[-1], self._call(arguments)
            if len(chain) > 1 and (name in UNMISTAKABLE or _is_run(name, call)):
                self.methods.append((scope, None, name, node, call))
            elif rest[:1] == ["initializer"] or rest == ["eval"] and call:
                if origin:
                    return [self._use(_method(origin[2:], rest[0]), node, call)]
            return []
        full = _joined(origin, rest)
        if public(full) == "tensorflow":
            return []
        return [self._use(full, node, self._call(arguments), bare=len(chain) == 1)]

    def _follow(self, scope, chain):
        """(origin, the rest of the chain); an origin of "()…" is what a call made."""
        name, *rest = chain
        if name in ("self", "cls") and rest:
            owner = scope.enclosing("class")
            if owner and rest[0] in owner.bindings:
                origin, more = self._resolve(owner, rest[0])
                return origin, [*more, *rest[1:]]
        while scope:
            if name in scope.bindings:
                origin, more = self._resolve(scope, name)
                return origin, [*more, *rest]
            scope = scope.parent
            while scope and scope.kind == "class":
                scope = scope.parent
        if self.stars:
            return "*" + name, rest  # perhaps one of them has it
        return None, rest

    def _resolve(self, scope, name):
        """As `_follow`, of a name that `scope` binds."""
        key = id(scope), name
        if key not in self.known:
            self.known[key] = None, []  # for names that are defined by themselves
            self.known[key] = self._resolved(scope, name)
        return self.known[key]

    def _resolved(self, scope, name):
        found = []
        for target in scope.bindings[name]:
            if isinstance(target, _Import):
                if target.guarded and target.origin is None:
                    return None, []  # something else stands in for it
                found.append((target.origin, []))
            elif target is not None:
                chain = target.chain
                if chain[0] == name and target.scope is scope:
                    continue  # tf = tf or …
                origin, rest = self._follow(target.scope, chain)
                if origin and isinstance(target, _Made) and origin[:1] != "(":
                    origin, rest = "()" + _joined(origin, rest), []
                elif isinstance(target, _Made):
                    origin, rest = None, []
                found.append((origin, rest))
        found = [(origin, rest) for origin, rest in found if origin]
        direct = [pair for pair in found if not pair[0].startswith("()")]
        return (direct or found or [(None, [])])[0]

    def _method(self, scope, receiver, name, call):
        """The origin of a method of what is no mere name; None if it is not ours."""
        if name in UNMISTAKABLE:  # a function of that name takes an argument
            return None if call and (call.positional or call.starred) else "." + name
        if _is_run(name, call):
            return "." + name
        if receiver is None:
            return None
        if name == "value":  # x.shape[0].value
            found = call is None and DIMENSION.search(self._text(receiver))
            return ".value" if found else None
        if receiver.type == "call":
            chain = self._chain(receiver.child_by_field_name("function"))
            origin, rest = self._follow(scope, chain) if chain else (None, [])
            if origin and not origin.startswith("()"):
                return _method(_joined(origin, rest), name)
        return None

    def _use(self, origin, node, call, bare=False):
        (line, column), (end_line, end_column) = node.start_point, node.end_point
        return Use(
            origin,
            line + 1,
            self._characters(node.start_byte, column) + 1,
            end_line + 1,
            self._characters(node.end_byte, end_column) + 1,
            call,
            bare,
        )

    def _characters(self, byte, column):
        return len(self.source[byte - column : byte].decode("utf-8", "replace"))

    @staticmethod
    def _broken(root):
        """The line of the first error, found without visiting what is sound."""
        if not root.has_error:
            return None
        node = root
        while True:
            if node.type == "ERROR" or node.is_missing:
                return node.start_point[0] + 1
            node = next((c for c in node.children if c.has_error or c.is_missing), None)
            if node is None:
                return root.start_point[0] + 1


@functools.cache
def _visitors():
    """{type of node: method}, by the docstrings of the methods."""
    return {
        kind: method
        for name, method in vars(_Reader).items()
        if name.startswith("_on_")
        for kind in method.__doc__.split()
    }


def _in_word(byte):
    return byte.isalnum() or byte == b"_"


def _parsed(source):
    return tree_sitter.Parser(LANGUAGE).parse(source).root_node


def _is_run(name, call):
    """Whether `x.eval(session=…)`, which nothing else is."""
    return name == "eval" and call and {"feed_dict", "session"} & set(call.keywords)


def _method(owner, name):
    """The origin of a method of what `owner` made, if that is TensorFlow's."""
    return f"{owner}|.{name}" if owner.startswith(("@", "*")) else "." + name


def _joined(origin, rest):
    """A dotted name; what a module of the project hands on follows a colon."""
    if rest and origin.startswith("@") and ":" not in origin:
        return origin + ":" + ".".join(rest)
    return ".".join([origin, *rest])


_TARGETS = {
    "pattern_list",
    "tuple_pattern",
    "list_pattern",
    "expression_list",
    "tuple",
    "list",
    "as_pattern_target",
    "parenthesized_expression",
}


def public(origin):
    """An origin under TensorFlow 1's own root: "tensorflow.compat.v1.x" is its x."""
    return ROOTS.sub("tensorflow", origin, count=1)
