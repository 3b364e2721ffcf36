"""A page: a module that is found, read and, only when it must run, imported."""

import ast
import functools
import hashlib
import importlib
import importlib.util
import os
import pathlib
import sys

INSTALLED = {"site-packages", "dist-packages"}


class Page:
    """One side of a proof.

    Args:
        module: an imported module, the dotted name of one, or the path of its file. A
            name is looked up in `root` without an import of what it names.
        root: the folder that its top-level name lies in; found out unless given.
    """

    def __init__(self, module, root=None):
        self._imported = None if isinstance(module, (str, os.PathLike)) else module
        if self._imported is not None:
            self.name = module.__name__
            file = getattr(module, "__file__", None)
            self.path = pathlib.Path(file).resolve() if file else None
        elif str(module).endswith(".py"):
            self.path = pathlib.Path(root or ".", module).resolve()
            root = pathlib.Path(root or self.path.parent).resolve()
            self.name = ".".join(self.path.relative_to(root).with_suffix("").parts)
        else:
            self.name = str(module)
            folders = [root] if root else [p or "." for p in sys.path]
            found = (_module_file(pathlib.Path(f), self.name) for f in folders)
            self.path = next(filter(None, found), None)
        if self._imported is None and (self.path is None or not self.path.exists()):
            raise FileNotFoundError(f"there is no page {module}")
        self.root = pathlib.Path(root).resolve() if root else self._root()

    def _root(self):
        if self.path is None:
            return None
        levels = self.name.count(".") + (self.path.name == "__init__.py")
        return self.path.parents[min(levels, len(self.path.parents) - 1)]

    @functools.cached_property
    def module(self):
        """The module, imported: only a left page that runs today may be asked."""
        if self._imported is not None:
            return self._imported
        if str(self.root) not in sys.path:
            sys.path.insert(0, str(self.root))
        return importlib.import_module(self.name)

    @functools.cached_property
    def sources(self):
        """{name: path} of the page and of all modules under its root that it imports.

        Imports are read off the sources: nothing runs, and what a function imports
        counts as well. This package is no part of a page.
        """
        found, waiting = {}, [(self.name, self.path)] if self.path else []
        while waiting:
            name, path = waiting.pop()
            if name in found:
                continue
            found[name] = path
            waiting += [
                (n, file)
                for n in sorted(imports(name, path))
                if n not in found and self._may_own(n)
                if (file := _module_file(self.root, n))
            ]
        return dict(sorted(found.items()))

    def _may_own(self, name):
        """Whether a module may be the page's own: not where all packages lie."""
        top = name.partition(".")[0]
        if INSTALLED & set(self.root.parts):
            return top == self.name.partition(".")[0]
        return top != "tf1to2"

    @functools.cached_property
    def code(self):
        """Hash of the code of all `sources`."""
        text = "".join(f"{name} {code_hash(p)}\n" for name, p in self.sources.items())
        return hashlib.sha256(text.encode()).hexdigest()


def _module_file(root, name):
    """The file of the module `name` under `root`, or None."""
    base = root.joinpath(*name.split("."))
    for path in (base.with_name(base.name + ".py"), base / "__init__.py"):
        if path.is_file():
            return path.resolve()
    return None


def imports(name, path):
    """The dotted names that a module may import, with their packages."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError:
        return set()
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            found |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    parents = {".".join(n.split(".")[:i]) for n in found for i in range(1, 9)}
    return {n for n in found | parents if n}


def code_hash(path):
    """Hash of what a source file does: comments, blank lines, layout do not count."""
    source = pathlib.Path(path).read_bytes()
    try:
        tree = ast.parse(source)
    except SyntaxError:  # of another Python: any change counts
        return hashlib.sha256(source.replace(b"\r\n", b"\n")).hexdigest()
    return hashlib.sha256(_spelled(tree).encode()).hexdigest()


def _spelled(node):
    """A syntax tree as text, the same under every Python that reads it.

    `ast.dump` shows fields that some versions do not have; an absent field, an empty
    one and None are one here.
    """
    if isinstance(node, ast.AST):
        fields = [
            f"{field}={_spelled(value)}"
            for field, value in ast.iter_fields(node)
            if value not in (None, []) or isinstance(node, ast.Constant)
            if field not in ("kind", "type_comment")
        ]
        return f"{type(node).__name__}({','.join(fields)})"
    if isinstance(node, list):
        return f"[{','.join(map(_spelled, node))}]"
    return repr(node)
