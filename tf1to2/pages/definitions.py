"""Finds all code that a definition needs: the definitions it refers to, recursively.

A page, or a user's module, is read as text and never imported. A *definition* is a
function, a class or an assignment at the top of a module, with the comment above it.
The names in a definition are followed: to other definitions of its module, through the
imports of modules of this edition (`from v2_eager.numerics import optimizers`), and so
on. Other imports are `Import`s: TensorFlow, NumPy, the standard library.
"""

import ast
import dataclasses
import functools
import itertools
import pathlib


@dataclasses.dataclass(frozen=True)
class Import:
    """An import from outside the edition, as a statement that binds only `name`."""

    name: str
    statement: str


@dataclasses.dataclass(frozen=True, eq=False)
class Definition:
    """One function, class or assignment at the top of a module.

    Attributes:
        module: the Module that contains it.
        name: the name that it binds; the first one if it binds several.
        start, stop: its lines, [start, stop) from 1, with decorators, the comment above
            and the text below an assignment.
        node: its syntax tree.
    """

    module: "Module"
    name: str
    start: int
    stop: int
    node: ast.stmt

    @property
    def text(self):
        """The source code of the definition."""
        return "\n".join(self.module.lines[self.start - 1 : self.stop - 1])

    @property
    def docstring(self):
        """The docstring of the definition without indentation, or ""."""
        if not isinstance(self.node, (ast.FunctionDef, ast.ClassDef)):
            return ""
        return ast.get_docstring(self.node) or ""

    @property
    def first_line(self):
        """The first line of the definition's docstring, or ""."""
        return self.docstring.partition("\n")[0]

    @functools.cached_property
    def references(self):
        """Lists the names that the definition uses from outside: (expression, target).

        The expression is an `ast.Name`, or an `ast.Attribute` if the part before the
        dot is a module of the edition; its target is a Definition or an Import.
        """
        return [
            (node, found)
            for node in _outer(self.node)
            if (resolved := self.module.resolve(node)) is not None
            for node, found in [resolved]
            if found is not self
        ]


class Module:
    """A module that is read as text, with its definitions.

    Attributes:
        name: dotted, as `v2_eager.optimizers`.
        path: of the file.
        definitions: {name: Definition}, in the order of the file.
    """

    def __init__(self, path, name, edition):
        self.path, self.name, self._edition = pathlib.Path(path), name, edition
        self.source = edition.read(self.path, name)
        self.lines = self.source.splitlines()
        self.definitions, self._imports = {}, {}
        body = ast.parse(self.source).body
        for node, after in itertools.zip_longest(body, body[1:]):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._take_import(node)
            for name in bound_by(node):
                self.definitions[name] = self._definition(node, name, after)

    @property
    def public(self):
        """The names in `__all__` of the module."""
        listed = self.definitions.get("__all__")
        return tuple(ast.literal_eval(listed.node.value)) if listed else ()

    @property
    def told(self):
        """The first paragraph of the module's docstring, or ""."""
        told = ast.get_docstring(ast.parse(self.source)) or ""
        return " ".join(told.partition("\n\n")[0].split())

    def _definition(self, node, name, after):
        first = min(n.lineno for n in [node, *getattr(node, "decorator_list", [])])
        while first > 1 and self.lines[first - 2].startswith("#"):
            first -= 1
        known = self.definitions.get(bound_by(node)[0])
        if known is not None and known.node is node:  # `a, b = 1, 2` is one definition
            return known
        last = node
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and _is_text(after):
            last = after  # the text below an assignment
        return Definition(self, name, first, last.end_lineno + 1, node)

    def _take_import(self, node):
        """Adds the names that an import statement binds to the module's imports."""
        for alias in node.names:
            if isinstance(node, ast.Import):
                local = alias.asname or alias.name.partition(".")[0]
                target = alias.name if alias.asname else local
                as_ = f" as {alias.asname}" if alias.asname else ""
                statement = f"import {alias.name}{as_}"
                self._imports[local] = (target, None, statement)
            else:
                module = self._absolute(node)
                local = alias.asname or alias.name
                as_ = f" as {alias.asname}" if alias.asname else ""
                statement = f"from {module} import {alias.name}{as_}"
                self._imports[local] = (module, alias.name, statement)

    def _absolute(self, node):
        if not node.level:
            return node.module
        package = self.name.split(".")
        if self.path.name != "__init__.py":
            package.pop()
        package = package[: len(package) - node.level + 1]
        return ".".join([*package, *([node.module] if node.module else [])])

    def resolve(self, node):
        """The Definition or Import that an expression of this module refers to.

        Args:
            node: an `ast.Name`, or an `ast.Attribute` that begins with one.

        Returns:
            (the part of the expression that is used up, Definition or Import), or None
            for a builtin name.
        """
        chain = []  # the expressions that contain the name, innermost first
        while isinstance(node, ast.Attribute):
            chain.append(node)
            node = node.value
        chain.append(node)
        chain.reverse()
        name = chain[0].id
        if name in self.definitions:
            return chain[0], self.definitions[name]
        if name not in self._imports:
            return None
        module, member, statement = self._imports[name]
        for used, expression in enumerate(chain):
            if used:
                member = expression.attr
            if member is None:
                continue
            inner = self._edition.module(f"{module}.{member}")
            if inner is not None:
                module, member = inner.name, None
                continue
            owner = self._edition.module(module)
            if owner is None:
                break
            found = owner.resolve(ast.Name(member))
            return None if found is None else (expression, found[1])
        return chain[0], Import(name, statement)


class Edition:
    """Reads modules by name from given folders; other modules are outside imports.

    Args:
        folders: {name of a top-level package or module: path}.
    """

    def __init__(self, folders):
        self.folders, self._known = folders, {}

    def module(self, name):
        """Returns the Module with a dotted name, or None outside the edition."""
        if name not in self._known:
            self._known[name] = None
            top, *rest = name.split(".")
            if top in self.folders:
                base = pathlib.Path(self.folders[top]).joinpath(*rest)
                for path in (base.with_suffix(".py"), base / "__init__.py"):
                    if path.is_file():
                        self._known[name] = Module(path, name, self)
                        break
        return self._known[name]

    def read(self, path, name):
        """Reads the text of a module's file; derived classes also use the name."""
        return path.read_text("utf-8")


def needed(definitions, follows=None):
    """Collects definitions and all that they need, in an order that runs.

    Modules come before those that import from them, and each keeps its own order.

    Args:
        definitions: list of Definition.
        follows: function of a Definition: False leaves it out, and what only it needs.
            All are followed by default.

    Returns:
        ([Definition], [Import]), each once; imports sorted by statement.
    """
    found, imports, order = {}, {}, []
    # Depth first, so that a module comes after the ones that it imports from.
    stack = [iter(definitions)]
    path = []
    while stack:
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
            if path:
                done = path.pop()
                if done.module not in order:
                    order.append(done.module)
        elif isinstance(item, Import):
            imports[item.statement] = item
        elif item not in found and (follows is None or follows(item)):
            found[item] = None
            path.append(item)
            stack.append(iter([what for _, what in item.references]))
    place = {module: number for number, module in enumerate(_ordered(found, order))}
    return (
        sorted(found, key=lambda d: (place[d.module], d.start)),
        sorted(imports.values(), key=lambda i: i.statement),
    )


def _ordered(found, order):
    """Sorts modules so that each comes after the modules that it imports from."""
    needs = {module: set() for module in order}
    for definition in found:
        for _, what in definition.references:
            if what in found and what.module is not definition.module:
                needs[definition.module].add(what.module)
    done = []
    while len(done) < len(needs):
        free = [m for m in order if m not in done and needs[m] <= set(done)]
        if not free:
            names = ", ".join(sorted(m.name for m in order if m not in done))
            raise ValueError(f"these modules import from one another: {names}")
        done.append(free[0])
    return done


def _is_text(node):
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def bound_by(node):
    """The names that a statement at the top of a module binds, without imports."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    targets = {
        ast.Assign: lambda n: n.targets,
        ast.AnnAssign: lambda n: [n.target],
    }.get(type(node), lambda n: [])(node)
    return [
        part.id
        for target in targets
        for part in ast.walk(target)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    ]


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _outer(node, bound=frozenset()):
    """Yields the (dotted) names that a statement uses, but does not bind itself."""
    if isinstance(node, _FUNCTIONS):
        arguments = node.args
        around = [*arguments.defaults, *(d for d in arguments.kw_defaults if d)]
        around += getattr(node, "decorator_list", [])
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [a for a in (arguments.vararg, arguments.kwarg) if a]
        around += [a.annotation for a in every if a.annotation]
        if getattr(node, "returns", None):
            around.append(node.returns)
        for part in around:
            yield from _outer(part, bound)
        body = node.body if isinstance(node.body, list) else [node.body]
        inner = bound | {a.arg for a in every} | _locals(body)
        for part in body:
            yield from _outer(part, inner)
    elif isinstance(node, ast.ClassDef):
        keywords = [keyword.value for keyword in node.keywords]
        for part in [*node.decorator_list, *node.bases, *keywords]:
            yield from _outer(part, bound)
        own = bound | _locals(node.body)
        for part in node.body:
            if isinstance(
                part, _FUNCTIONS
            ):  # a method does not see the names of the class
                for decorator in part.decorator_list:
                    yield from _outer(decorator, own)
                bare = ast.FunctionDef(
                    part.name, part.args, part.body, [], part.returns
                )
                yield from _outer(bare, bound)
            else:
                yield from _outer(part, own)
    elif isinstance(node, ast.Attribute):
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            yield from _outer(root, bound)
        elif root.id not in bound:
            yield node
    elif isinstance(node, ast.Name):
        if node.id not in bound:
            yield node
    else:
        for part in ast.iter_child_nodes(node):
            yield from _outer(part, bound)


def _locals(body):
    """The names that statements of a function or class bind, without nested scopes."""
    found, outer = set(), set()
    stack = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {a.asname or a.name.partition(".")[0] for a in node.names}
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.Global):
            outer |= set(node.names)
        stack += ast.iter_child_nodes(node)
    return found - outer
