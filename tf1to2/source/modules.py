"""Finds the files of modules that a file imports from its own project.

The result depends only on the folders, not on the scanned paths: so a scan of one file
finds the same as a scan of all files.
"""

import os

MARKS = ("pyproject.toml", "setup.cfg", "setup.py")
OTHERS = ("site-packages", "dist-packages")


class Modules:
    """Finds the modules of the projects around the scanned paths.

    Args:
        paths: the scanned paths. If no mark says where a project begins, each of these
            directories is a project.
    """

    def __init__(self, paths=()):
        self.named = [os.path.abspath(path) for path in paths if os.path.isdir(path)]
        self._listed, self._based, self._found, self._roots = {}, {}, {}, {}

    def __getstate__(self):
        return {**vars(self), "_listed": {}, "_based": {}, "_found": {}, "_roots": {}}

    def is_local(self, folder, top):
        """Whether the project has a module `top` that files in a folder can import."""
        return any(
            only in (None, top)
            and (top + ".py" in self._list(base) or top in self._list(base))
            for base, only in self._bases(folder)
        )

    def find(self, folder, module):
        """Returns the project's file for an imported module; None if not found.

        Args:
            folder: of the importing file, absolute.
            module: dotted name, with leading dots if it is relative.
        """
        key = folder, module
        if key not in self._found:
            self._found[key] = self._find(folder, module)
        return self._found[key]

    def root(self, folder):
        """Returns the root folder of the project that contains a folder.

        That is the repository, or the nearest folder with a mark; else the scanned
        directory, or the folder of the package.
        """
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
        """Lists the folders to import from as (folder, only module), nearest first."""
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
        yield folder, below  # in site-packages, only the file's own package

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
