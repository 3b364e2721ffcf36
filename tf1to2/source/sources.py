"""Finds the files of a scan, and reads their Python: encodings, notebooks, stdin."""

import bisect
import dataclasses
import fnmatch
import io
import os
import pathlib
import stat
import sys
import tokenize

from tf1to2.source import notebooks
from tf1to2.source.notebooks import Unreadable

SUFFIXES = (".py", ".pyw", ".ipynb")
# Names that a scan of a directory skips. It also skips folders with a pyvenv.cfg.
EXCLUDES = (
    ".*",
    "__pycache__",
    "node_modules",
    "site-packages",
    "*.egg-info",
    "*.egg",
)


@dataclasses.dataclass(frozen=True)
class Text:
    """The Python in a file, or in all code cells of a notebook.

    Attributes:
        source: bytes, in UTF-8, "\\n" between lines.
        starts: for a notebook, the first line of each code cell.
    """

    source: bytes
    starts: tuple = ()

    def without_source(self):
        """Returns a copy without the source, for processes that need only positions."""
        return dataclasses.replace(self, source=b"")

    def place(self, line):
        """(number of the code cell or None, line in the cell), both from 1."""
        if not self.starts:
            return None, line
        cell = bisect.bisect_right(self.starts, line)
        return cell, line - self.starts[cell - 1] + 1


def find(paths, excludes=()):
    """Finds the files to read: each once, sorted within each directory.

    Args:
        paths: files, directories, or "-" for standard input. A file in this list is
            read even if its suffix is not that of Python.
        excludes: patterns of names or paths to skip, in addition to `EXCLUDES`.

    Returns:
        (list of paths as str, [(path, reason)] of paths that cannot be read).

    Raises:
        FileNotFoundError: a path does not exist.
    """
    found, unread = {}, {}
    for path in paths:
        if path == "-":
            found[path] = None
        elif os.path.isdir(path):
            before = len(found) + len(unread)
            _find_in(path, excludes, found, unread)
            if len(found) + len(unread) == before and not _has_any(path, found):
                but = " that is not excluded" if excludes else ""
                unread[path] = f"it contains no Python file{but}"
        elif os.path.lexists(path):
            found[path] = None
        else:
            raise FileNotFoundError(f"{path}: no such file or directory")
    return list(found), list(unread.items())


def _find_in(path, excludes, found, unread):
    def tell(error):
        unread[error.filename] = _reason(error)

    for folder, folders, files in os.walk(path, onerror=tell):
        within = os.path.relpath(folder, path)
        folders[:] = sorted(
            name
            for name in folders
            if not _excluded(within, folder, name, EXCLUDES, excludes)
            and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
        )
        for name in sorted(files):
            file = os.path.join(folder, name)
            if name.endswith(SUFFIXES):
                if not _excluded(within, folder, name, (), excludes):
                    reason = _odd(file)
                    (unread if reason else found)[file] = reason


def _has_any(path, found):
    """Whether a directory contains one of the files that were found before."""
    return any(
        os.path.join(file, "").startswith(os.path.join(path, "")) for file in found
    )


def _odd(path):
    """Returns the reason why a path is not a readable file; None if it is one."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        if isinstance(error, FileNotFoundError) and os.path.islink(path):
            return f"it is a link to {os.readlink(path)}, which does not exist"
        return _reason(error)
    return None if stat.S_ISREG(mode) else f"it is {_kind(mode)}, not a file"


def _kind(mode):
    for test, kind in (
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISDIR, "a directory"),
    ):
        if test(mode):
            return kind
    return "a device"


def _reason(error):
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]


def _excluded(within, folder, name, own, patterns):
    """Whether to skip a name: `own` patterns match names, others also match paths."""
    if any(fnmatch.fnmatch(name, pattern) for pattern in own):
        return True
    paths = [pathlib.PurePath(base, name).as_posix() for base in (within, folder)]
    return any(
        fnmatch.fnmatch(text, pattern)
        for given in patterns
        for pattern in (given.rstrip("/"), "*/" + given.rstrip("/"))
        for text in (name, *paths)
    )


def read(path):
    """Reads the Python in a file.

    Args:
        path: a path, or "-" for standard input.

    Returns:
        `Text`.

    Raises:
        Unreadable: the file cannot be opened or decoded, or is not a notebook.
    """
    try:
        if path == "-":
            data = sys.stdin.buffer.read()
        else:
            with open(path, "rb") as file:
                data = file.read()
    except OSError as error:
        raise Unreadable(_reason(error)) from error
    if path.endswith(".ipynb"):
        return Text(*notebooks.python(data))
    return Text(utf8(data))


def utf8(data):
    """Converts a file to UTF-8 from the encoding that it declares (PEP 263)."""
    if b"\0" in data:
        raise Unreadable("it is binary: it contains null bytes")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, LookupError) as error:
        raise Unreadable(f"its encoding is unknown: {error}") from error
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"it is not in the encoding it declares: {error.encoding} cannot decode "
            f"byte {error.start}"
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace")
