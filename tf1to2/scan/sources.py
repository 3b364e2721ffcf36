"""Which files a scan reads, and their text: encodings, notebooks, standard input."""

import bisect
import dataclasses
import fnmatch
import io
import json
import os
import pathlib
import re
import sys
import tokenize

SUFFIXES = (".py", ".pyw", ".ipynb")
# What nobody means when naming a directory.
EXCLUDES = (
    ".*",
    "__pycache__",
    "node_modules",
    "site-packages",
    "venv",
    "env",
    "*.egg-info",
    "*.egg",
)
MAGIC = re.compile(r"^\s*(%%?[a-zA-Z]|!|\?)|^[\w.]+\?+\s*$")
FOREIGN = re.compile(
    r"\s*%%(bash|cmd|html|javascript|js|latex|markdown|perl|ruby|script|sh|svg|writefile)\b"
)


class Unreadable(Exception):
    """A file that cannot be read; the message says why, in one line."""


@dataclasses.dataclass(frozen=True)
class Text:
    """The Python of a file, or of all code cells of a notebook.

    Attributes:
        source: bytes, in UTF-8, "\\n" between lines.
        starts: of a notebook, the line that each code cell begins at.
    """

    source: bytes
    starts: tuple = ()

    def without_source(self):
        """The places alone, which is all that another process needs."""
        return dataclasses.replace(self, source=b"")

    def place(self, line):
        """(number of the code cell or None, line in it), both from 1."""
        if not self.starts:
            return None, line
        cell = bisect.bisect_right(self.starts, line)
        return cell, line - self.starts[cell - 1] + 1


def find(paths, excludes=()):
    """The files to read, sorted within each directory, none twice.

    Args:
        paths: files, directories, or "-" for the standard input. A file that is named
            is read whatever it is called.
        excludes: patterns of names or paths to leave out, in addition to `EXCLUDES`.

    Returns:
        List of paths as text.

    Raises:
        FileNotFoundError: a path does not exist.
    """
    found = {}
    for path in paths:
        if path == "-" or not os.path.isdir(path):
            if path != "-" and not os.path.exists(path):
                raise FileNotFoundError(f"{path}: no such file or directory")
            found[path] = None
            continue
        for folder, folders, files in os.walk(path):
            folders[:] = sorted(
                name
                for name in folders
                if not _excluded(folder, name, (*EXCLUDES, *excludes))
                and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
            )
            for name in sorted(files):
                if name.endswith(SUFFIXES) and not _excluded(folder, name, excludes):
                    found[os.path.join(folder, name)] = None
    return list(found)


def _excluded(folder, name, patterns):
    path = pathlib.PurePath(folder, name).as_posix()
    return any(
        fnmatch.fnmatch(name, pattern.rstrip("/"))
        or fnmatch.fnmatch(path, pattern.rstrip("/"))
        or fnmatch.fnmatch(path, "*/" + pattern.rstrip("/"))
        for pattern in patterns
    )


def read(path):
    """The Python in a file.

    Args:
        path: a path, or "-" for the standard input.

    Returns:
        `Text`.

    Raises:
        Unreadable: the file cannot be opened or decoded, or is no notebook.
    """
    try:
        if path == "-":
            data = sys.stdin.buffer.read()
        else:
            with open(path, "rb") as file:
                data = file.read()
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    if path.endswith(".ipynb"):
        return _cells(data)
    return Text(_utf8(data))


def _utf8(data):
    """`data` in UTF-8, by its own declaration (PEP 263)."""
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


def _cells(data):
    try:
        notebook = json.loads(data)
        cells = notebook.get("cells")
        if cells is None:  # the format before version 4
            cells = [c for sheet in notebook["worksheets"] for c in sheet["cells"]]
        sources = [
            cell.get("source", cell.get("input", ""))
            for cell in cells
            if cell["cell_type"] == "code"
        ]
        sources = [s if isinstance(s, str) else "".join(s) for s in sources]
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is no notebook: {error}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise Unreadable(
            f"it is no notebook: no {error} where cells should be"
        ) from error
    # One text, since a cell sees what the cells before it have imported.
    cells, starts, line = [], [], 1
    for source in sources:
        cells.append(_without_magics(source))
        starts.append(line)
        line += cells[-1].count("\n") + 1
    return Text("\n".join(cells).encode("utf-8", "replace"), tuple(starts))


def _without_magics(source):
    """A cell with what is not Python made comments, on the lines where it stood."""
    if FOREIGN.match(source):
        return ""
    lines = source.replace("\r\n", "\n").split("\n")
    return "\n".join("#" + line if MAGIC.match(line) else line for line in lines)
