"""All files of a scan, for names that one module takes from another."""

import os

from tf1to2.scan import catalog, names


class Project:
    """The files that were read, and those that they import besides.

    Args:
        files: list of `reading.File`.
        modules: `modules.Modules`.
        read: a function that makes a `reading.File` of a path.

    Attributes:
        unread: [(path, reason)] of modules that could not be read.
    """

    def __init__(self, files, modules, read):
        self.modules, self.read, self.unread = modules, read, []
        self.files = {os.path.abspath(f.path): f for f in files if f.path != "-"}

    def origins(self, file, origin, depth=0):
        """Yields the names in TensorFlow that an origin may stand for.

        Args:
            file: the `reading.File` that the origin was found in.
            origin: see `names.Use`.
            depth: of modules that import from one another in a circle.
        """
        if depth > 8 or not origin:
            return
        if origin.startswith("*"):
            for star in file.module.stars:
                if star.startswith("@"):
                    yield from self.origins(file, f"{star}:{origin[1:]}", depth + 1)
                elif _has(star, origin[1:]):
                    yield f"{star}.{origin[1:]}"
        elif origin.startswith("~"):  # made from a class that is made from it
            if "()" in origin:
                yield from self.origins(file, origin[1:], depth)
        elif origin.startswith("@"):
            yield from self._handed_on(file, *_parts(origin), depth + 1)
        else:
            yield origin

    def _handed_on(self, file, module, name, more, depth):
        owner, inner = self._find(file, module), _inner(module, name)
        exported = owner and owner.module.exports.get(name)
        if exported:
            yield from self.origins(owner, _with(exported, more), depth)
        elif name and self._find(file, inner) not in (None, owner):
            yield from self.origins(file, _with("@" + inner, more), depth)
        elif owner and owner.module.stars:
            yield from self.origins(owner, "*" + name + more, depth)

    def _find(self, file, module):
        folder = os.getcwd() if file.path == "-" else os.path.dirname(file.path)
        path = self.modules.find(os.path.abspath(folder), module)
        if path is None:
            return None
        if path not in self.files:
            self.files[path] = found = self.read(path)
            if found.module is None:
                self.unread.append((path, f"{found.reason}; {file.path} imports it"))
        found = self.files[path]
        return found if found.module is not None else None


def _parts(origin):
    """(module, name, the rest) of "@pkg.common:tf.Session().run"."""
    module, _, rest = origin[1:].partition(":")
    name, _, more = rest.partition(".")
    more = "." + more if more else ""
    return (
        (module, name[:-2], "()" + more)
        if name.endswith("()")
        else (
            module,
            name,
            more,
        )
    )


def _inner(module, name):
    return module + name if module.endswith(".") else f"{module}.{name}"


def _with(origin, more):
    """An origin with the rest of a chain; what a module hands on follows a colon."""
    if more.startswith(".") and origin.startswith("@") and ":" not in origin:
        return f"{origin}:{more[1:]}"
    return origin + more


def _has(module, rest):
    """Whether `from module import *` brings a name."""
    name = rest.partition(".")[0].removesuffix("()")
    symbol = "tf" + names.public(f"{module}.{name}").removeprefix("tensorflow")
    if catalog.is_listed(catalog.DEEP.sub(r"\1", symbol)):
        return True
    entry = catalog.lookup(symbol)
    return bool(entry) and entry.verdict == "private" and entry.kind != "module"
