"""Where the modules lie that a file imports, if they are its own project's.

This goes by the folders alone, not by what is scanned: a file means the same whether it
is scanned by itself or with all the others.
"""

import os

MARKS = ("pyproject.toml", "setup.cfg", "setup.py")
OTHERS = ("site-packages", "dist-packages")


class Modules:
    """The modules of the projects that some paths lie in.

    Args:
        paths: what is scanned: of directories without a mark of a project, all that is
            in them is one.
    """

    def __init__(self, paths=()):
        self.named = [os.path.abspath(path) for path in paths if os.path.isdir(path)]
        self._listed, self._based, self._found, self._roots = {}, {}, {}, {}

    def __getstate__(self):
        return {**vars(self), "_listed": {}, "_based": {}, "_found": {}, "_roots": {}}

    def is_local(self, folder, top):
        """Whether an import in a file of a folder finds a module in the project."""
        return any(
            only in (None, top)
            and (top + ".py" in self._list(base) or top in self._list(base))
            for base, only in self._bases(folder)
        )

    def find(self, folder, module):
        """The file of a module, as an import in a file of a folder finds it, or None.

        Args:
            folder: of the importing file, absolute.
            module: dotted name, with leading dots where it is relative.
        """
        key = folder, module
        if key not in self._found:
            self._found[key] = self._find(folder, module)
        return self._found[key]

    def root(self, folder):
        """The folder of the project: of the repository, or the nearest that is marked;
        else what is named, or where the package lies."""
        if folder not in self._roots:
            self._roots[folder] = self._root(folder)
        return self._roots[folder]

    def _root(self, folder):
        found = self._climb(folder, (".git",)) or self._climb(folder, MARKS)
        if found:
            return found
        around = [named for named in self.named if _is_in(folder, named)]
        if around:
            return min(around, key=len)
        while "__init__.py" in self._list(folder) and folder != _parent(folder):
            folder = _parent(folder)
        return folder

    def _climb(self, folder, marks):
        while not any(mark in self._list(folder) for mark in marks):
            if folder == _parent(folder):
                return None
            folder = _parent(folder)
        return folder

    def _find(self, folder, module):
        name = module.lstrip(".")
        parts = name.split(".") if name else []
        if module.startswith("."):
            root = self.root(folder)
            for _ in range(len(module) - len(name) - 1):
                if folder == root:
                    return None
                folder = _parent(folder)
            return self._file(folder, parts)
        for base, only in self._bases(folder):
            if only in (None, parts[0]):
                found = self._file(base, parts)
                if found:
                    return found
        return None

    def _file(self, folder, parts):
        for part in parts[:-1]:
            if part not in self._list(folder):
                return None
            folder = os.path.join(folder, part)
        if parts:
            if parts[-1] + ".py" in self._list(folder):
                return os.path.join(folder, parts[-1] + ".py")
            if parts[-1] not in self._list(folder):
                return None
            folder = os.path.join(folder, parts[-1])
        found = "__init__.py" in self._list(folder)
        return os.path.join(folder, "__init__.py") if found else None

    def _bases(self, folder):
        """[(folder, the only module that counts there, or None)], the nearest first."""
        if folder not in self._based:
            self._based[folder] = list(self._climbed(folder, self.root(folder)))
        return self._based[folder]

    def _climbed(self, folder, root):
        below = None
        while os.path.basename(folder) not in OTHERS:
            yield folder, None
            if "src" in self._list(folder):
                yield os.path.join(folder, "src"), None
            if folder in (root, _parent(folder)):
                return
            below, folder = os.path.basename(folder), _parent(folder)
        yield folder, below  # among others' packages the file's own alone

    def _list(self, folder):
        if folder not in self._listed:
            try:
                self._listed[folder] = frozenset(os.listdir(folder))
            except OSError:
                self._listed[folder] = frozenset()
        return self._listed[folder]


def _parent(folder):
    return os.path.dirname(folder)


def _is_in(path, folder):
    return os.path.join(path, "").startswith(os.path.join(folder, ""))
