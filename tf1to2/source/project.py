"""The files of a project, to follow names that one module imports from another."""

import functools
import os
import re

from tf1to2.catalog import deep, entries
from tf1to2.source.names import records

# The most modules that pass a name on, one to the next.
DEEP = 8
# The ends of parts of a chain: before a dot, before and after a call.
ENDS = re.compile(r"(?=\.)|(?=\(\))|(?<=\(\))|$")


class Project:
    """The scanned files, and the files of the project that they import.

    Args:
        files: list of `reading.File`.
        modules: `modules.Modules`.
        read: a function from a path to a `reading.File`.

    Attributes:
        unread: [(path, reason)] of modules that could not be read.
    """

    def __init__(self, files, modules, read):
        self.modules, self.read, self.unread = modules, read, []
        self.files = {os.path.abspath(f.path): f for f in files if f.path != "-"}
        self._folders, self._found, self._hyphenated = {}, {}, (0, {})
        self._known, self._open, self._cut = {}, set(), False

    def hyphenated(self):
        """Returns {attribute: flag} for flags with a hyphen: {"job_dir": "job-dir"}.

        Flags are global: one file defines them, and others read them.
        """
        count, found = self._hyphenated
        if count != len(self.files):
            modules = [f.module for f in self.files.values() if f.module is not None]
            defined = [flag for module in modules for flag in module.hyphenated]
            found = {flag.replace("-", "_"): flag for flag in defined}
            self._hyphenated = len(self.files), found
        return found

    def origins(self, file, origin):
        """Yields the names in TensorFlow that an origin may mean.

        Args:
            file: the `reading.File` that contains the origin.
            origin: see `records.Use`.
        """
        if origin.startswith("*"):
            for star in file.module.stars:
                if star.startswith("@"):
                    yield from self.origins(file, f"{star}:{origin[1:]}")
                elif _has(star, origin[1:]):
                    yield f"{star}.{origin[1:]}"
        elif origin.startswith("~"):  # an instance of a derived class
            if "()" in origin:
                yield from self.origins(file, origin[1:])
        elif origin.startswith("@"):
            yield from self._followed(file, origin)
        elif origin:
            yield origin

    def _followed(self, file, origin):
        """Finds and caches the origins of a name imported from another module.

        If modules import one another in a circle, the circle is cut. Then only the
        result of the first module is complete, and only that is cached.
        """
        key = self._folder(file), origin
        if key in self._known:
            return self._known[key]
        if key in self._open or len(self._open) == DEEP:
            self._cut = True
            return ()
        around, self._cut = self._cut, False
        self._open.add(key)
        found = tuple(self._handed_on(file, *_parts(origin)))
        self._open.remove(key)
        if not (self._cut and self._open):
            self._known[key] = found
        self._cut = bool(self._open) and (self._cut or around)
        return found

    def _handed_on(self, file, module, name, more):
        owner, inner = self._find(file, module), _inner(module, name)
        exported, rest = _exported(owner, name, more) if owner else ("", "")
        if exported:
            yield from self.origins(owner, _with(exported, rest))
        elif name and self._find(file, inner) not in (None, owner):
            yield from self.origins(file, _with("@" + inner, more))
        elif owner and owner.module.stars:
            yield from self.origins(owner, "*" + name + more)

    def _folder(self, file):
        if file.path not in self._folders:
            folder = os.getcwd() if file.path == "-" else os.path.dirname(file.path)
            self._folders[file.path] = os.path.abspath(folder)
        return self._folders[file.path]

    def _find(self, file, module):
        """Returns the `reading.File` of an imported module; None if not found."""
        key = self._folder(file), module
        if key not in self._found:
            self._found[key] = self._read(*key, file)
        return self._found[key]

    def _read(self, folder, module, file):
        path = self.modules.find(folder, module)
        if path is None:
            return None
        if path not in self.files:
            self.files[path] = found = self.read(path)
            if found.module is None:
                self.unread.append((path, f"{found.reason}; {file.path} imports it"))
        found = self.files[path]
        return found if found.module is not None else None


@functools.cache
def _parts(origin):
    """Splits "@pkg.common:tf.Session().run": (module, name, rest of the chain)."""
    module, _, rest = origin[1:].partition(":")
    name, _, more = rest.partition(".")
    more = "." + more if more else ""
    if name.endswith("()"):
        return module, name[:-2], "()" + more
    return module, name, more


def _exported(owner, name, more):
    """Finds the longest exported part of a chain: (its origin, rest of the chain).

    A module exports names, the results of functions, and attributes of objects:
    "build()", "Net().model".
    """
    exports, chain = owner.module.exports, name + more
    if not more or not exports:
        return exports.get(name, ""), ""
    ends = [place.start() for place in ENDS.finditer(chain)]
    for end in reversed(ends):
        if end >= len(name) and (found := exports.get(chain[:end])):
            return found, chain[end:]
    return "", ""


def _inner(module, name):
    return module + name if module.endswith(".") else f"{module}.{name}"


def _with(origin, more):
    """Joins an origin and the rest of a chain, with ":" after a project module."""
    if more.startswith(".") and origin.startswith("@") and ":" not in origin:
        return f"{origin}:{more[1:]}"
    return origin + more


def _has(module, rest):
    """Whether a TensorFlow module has a name that `import *` binds."""
    name = rest.partition(".")[0].removesuffix("()")
    symbol = records.symbol(f"{module}.{name}")
    if entries.is_listed(deep.DEEP.sub(r"\1", symbol)):
        return True
    entry = entries.lookup(symbol)
    return bool(entry) and entry.verdict == "private" and entry.kind != "module"
