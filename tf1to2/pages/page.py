"""A page: a module that is found and read as text, and imported only to run it."""

import ast
import functools
import hashlib
import importlib
import importlib.util
import os
import pathlib
import sys

PROJECT = (".git", "pyproject.toml", "setup.cfg", "setup.py")
INSTALLED = {"site-packages", "dist-packages"}


class NoPage(FileNotFoundError):
    """The file of a page does not exist."""


class Page:
    """One side of a proof: a module, read as text, and all modules that it imports.

    `Page.copies` are folders that this process uses in the place of a root.

    Args:
        module: an imported module, the dotted name of one, or the path of its file. A
            name is looked up in `root` without an import of what it names.
        root: the folder of its top-level name; found automatically by default.
        folders: other folders in which its imports are looked up.
        written: whether it must exist; `module` raises `NoPage` if not, and `path` of a
            dotted name is None.

    Raises:
        NoPage: it must exist, but does not.
    """

    copies = []

    def __init__(self, module, root=None, folders=(), written=True):
        self.folders = [pathlib.Path(f) for f in folders]
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
            found = (file_of(pathlib.Path(f), self.name) for f in folders)
            self.path = next(filter(None, found), None)
        if written and not self.exists:
            raise NoPage(f"there is no page {module}")
        self.root = pathlib.Path(root).resolve() if root else self._root()

    @property
    def exists(self):
        return bool(self._imported or self.path and self.path.exists())

    def _root(self):
        if self.path is None:
            return None
        levels = self.name.count(".") + (self.path.name == "__init__.py")
        return self.path.parents[min(levels, len(self.path.parents) - 1)]

    @functools.cached_property
    def module(self):
        """Imports the module; a left page must run on the installed TensorFlow."""
        if self._imported is not None:
            return self._imported
        if not self.exists:
            raise NoPage(f"there is no page {self.path or self.name}: write the port")
        for folder in reversed(self.path_entries):
            if folder not in sys.path:
                sys.path.insert(0, folder)
        loaded = getattr(sys.modules.get(self.name), "__file__", None)
        if loaded and self.path:
            folders = [*map(pathlib.Path, Page.copies), self.root]
            same = [folder / self.path.relative_to(self.root) for folder in folders]
            if pathlib.Path(loaded).resolve() not in same:
                raise ImportError(
                    f"{self.name} is already imported from {loaded}, "
                    f"not from {self.path}"
                )
        return importlib.import_module(self.name)

    @property
    def path_entries(self):
        """The folders that must be on the search path to import the page."""
        return list(dict.fromkeys(map(str, [self.root, *self.folders])))

    @functools.cached_property
    def sources(self):
        """Returns {name: path} of the page and the modules it imports from its folders.

        Imports are read from the sources: nothing runs, and imports inside functions
        count as well. This package never belongs to a page.
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
                if (file := self._file(n))
            ]
        return dict(sorted(found.items()))

    def _may_own(self, name):
        """Whether a module may belong to the page, not to an installed package."""
        top = name.partition(".")[0]
        if INSTALLED & set(self.root.parts):
            return top == self.name.partition(".")[0]
        return top != "tf1to2"

    def _file(self, name):
        folders = [self.root, *self.folders]
        return next(filter(None, (file_of(f, name) for f in folders)), None)

    @functools.cached_property
    def hashes(self):
        """Returns {name: hash of its code} for all `sources`."""
        return {n: code_hash(p) for n, p in self.sources.items()}

    @functools.cached_property
    def code(self):
        """Hashes the code of all `sources`."""
        text = "".join(f"{name} {code}\n" for name, code in self.hashes.items())
        return hashlib.sha256(text.encode()).hexdigest()


def folders_of(folder):
    """Lists a test's folder and its parents, up to the folder of the project."""
    above = [folder, *folder.parents]
    tops = [i for i, f in enumerate(above) if any((f / n).exists() for n in PROJECT)]
    return above[: tops[0] + 1] if tops else above[:1]


def page_of(module, folders, written=True):
    """The `Page` of a user's module.

    Args:
        module: its dotted name, or the path of its file as seen from the first folder.
        folders: `folders_of` the folder of the test.
        written: whether it must exist.

    Raises:
        NoPage: the module does not exist.
    """
    text = str(module)
    if text.endswith(".py"):
        path = (folders[0] / text).resolve()
        root = root_of(path, folders)
        folders = [path.parent, *folders]
        return Page(path, root, folders, written=written)
    for folder in folders:
        if file_of(folder, text):
            return Page(text, folder, folders)
    return Page(text, folders=folders, written=written)


def root_of(path, folders):
    """The folder that contains the top-level package or module of a file."""
    if (path.parent / "__init__.py").exists():
        return next(f for f in path.parents if not (f / "__init__.py").exists())
    for folder in folders:
        if folder in path.parents:
            parts = path.relative_to(folder).with_suffix("").parts
            if all(part.isidentifier() for part in parts):
                return folder
    return path.parent


def file_of(root, name):
    """Returns the file of the module `name` under `root`, or None if it has none."""
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
    """Hashes a source file's code, without comments, docstrings and layout."""
    return source_hash(pathlib.Path(path).read_bytes())


def source_hash(source):
    """`code_hash` of the bytes of a source file."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # written for another Python: any change counts
        return hashlib.sha256(source.replace(b"\r\n", b"\n")).hexdigest()
    return hashlib.sha256(code_of(undocumented(tree)).encode()).hexdigest()


def undocumented(tree):
    """Removes all docstrings from a syntax tree, also those below assignments."""
    for node in ast.walk(tree):
        if isinstance(getattr(node, "body", None), list):
            node.body = [line for line in node.body if not _is_docstring(line)]
    return tree


def _is_docstring(node):
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def code_of(node):
    """Writes a syntax tree as text that is the same in every Python version.

    `ast.dump` shows fields that some versions do not have. Here an absent field, an
    empty one and None are the same.
    """
    if isinstance(node, ast.AST):
        fields = [
            f"{field}={code_of(value)}"
            for field, value in ast.iter_fields(node)
            if value not in (None, []) or isinstance(node, ast.Constant)
            if field not in ("kind", "type_comment")
        ]
        return f"{type(node).__name__}({','.join(fields)})"
    if isinstance(node, list):
        return f"[{','.join(map(code_of, node))}]"
    return repr(node)
