"""From files to findings: read all, follow names through the project, look them up."""

import concurrent.futures
import contextlib
import dataclasses
import functools
import os
import pathlib
import re
import signal

from tf1to2.scan import catalog, names, sources

COMMENT = re.compile(r"#\s*tf1to2:\s*ignore(?:\[([^\]]*)\])?")
SEVERAL = 2_000_000  # bytes from which on a second process pays


@dataclasses.dataclass(frozen=True)
class Finding:
    """One use of TensorFlow 1, and what becomes of it.

    Attributes:
        path: the file.
        line, column, end_line, end_column: where it stands, from 1; of a notebook, the
            line in its cell.
        cell: the number of the notebook's code cell, or None.
        entry: `catalog.Entry`.
        text: the line of code.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    cell: int | None
    entry: catalog.Entry
    text: str

    @property
    def rules(self):
        """What selects or ignores it: symbol, the modules around it, verdict, topic."""
        parts = self.entry.symbol.split(".")
        around = {".".join(parts[:end]) for end in range(2, len(parts) + 1)}
        return {self.entry.symbol, self.entry.verdict, self.entry.topic, *around} - {""}


@dataclasses.dataclass(frozen=True)
class Report:
    """What a scan found.

    Attributes:
        findings: list of `Finding`, by path and place.
        files: how many files were read.
        unread: [(path, reason)] of files that could not be read, or not wholly.
        unused: [(path, cell, line)] of ignore comments that ignored nothing; without
            `select` and `ignore` only, which would make them look so.
        page: where the site of `tf1to2 page` is to be found, or "".
    """

    findings: list
    files: int
    unread: list
    unused: list
    page: str = ""

    def link(self, entry):
        """Where the page shows the pair, or the topic; "" where there is none."""
        return f"{self.page}#{entry.pair}" if self.page and entry.pair else ""


@dataclasses.dataclass(frozen=True)
class _File:
    """What a process reports of one file."""

    path: str
    package: str
    module: names.Module | None
    reason: str
    text: sources.Text | None
    lines: dict  # {line: its text} of all uses
    ignores: dict  # {line: rules}

    def finding(self, use, entry):
        """The `Finding` at a use."""
        cell, line = self.text.place(use.line)
        _, end = self.text.place(use.end_line)
        return Finding(
            self.path,
            line,
            use.column,
            end,
            use.end_column,
            cell,
            entry,
            self.lines[use.line],
        )


def scan(paths, excludes=(), select=(), ignore=(), progress=None, processes=None):
    """Scans files and directories.

    Args:
        paths: files, directories, "-".
        excludes: patterns of files and directories to leave out.
        select: rules to report, all of them if empty: a verdict, a topic, a symbol, or
            a module such as "tf.contrib".
        ignore: rules not to report.
        progress: a function of (files read, files in all), or None.
        processes: how many may work; by default one per core where the tree is large.

    Returns:
        `Report`.

    Raises:
        FileNotFoundError: a path does not exist.
    """
    found = sources.find(paths, excludes)
    folders = {os.path.dirname(path) for path in found}
    packages = {folder: _package(folder, paths) for folder in folders}
    jobs = [(path, packages[os.path.dirname(path)]) for path in found]
    local = frozenset(
        name
        for path in found
        for name in pathlib.PurePath(path).with_suffix("").parts
        if name != "tensorflow"
    )
    files = []
    for file in _read_all(jobs, local, processes):
        files.append(file)
        if progress:
            progress(len(files), len(jobs))
    project = _Project(files)
    findings, unread, unused = [], [], []
    for file in files:
        if file.reason:
            unread.append((file.path, file.reason))
        if file.module is None:
            continue
        idle = set(file.ignores)
        uses = list(project.uses(file))
        if all(entry.verdict == "changed" for _, entry in uses) and not select:
            uses = []  # nothing betrays TensorFlow 1, so these are TensorFlow 2's names
        for use, entry in uses:
            finding = file.finding(use, entry)
            comments = {use.line, use.end_line} & set(file.ignores)
            comments = {
                line
                for line in comments
                if not file.ignores[line] or file.ignores[line] & finding.rules
            }
            idle -= comments
            if comments or finding.rules & set(ignore):
                continue
            if not select or finding.rules & set(select):
                findings.append(finding)
        if not (select or ignore):
            unused += [(file.path, *file.text.place(line)) for line in sorted(idle)]
    return Report(findings, len(jobs), unread, unused)


def _read_all(jobs, local, processes):
    """Yields a `_File` for every job, in their order."""
    read = functools.partial(_read, local=local)
    if processes is None:
        size = sum(os.path.getsize(path) for path, _ in jobs if path != "-")
        processes = min(os.cpu_count() or 1, 8) if size > SEVERAL else 1
    if processes == 1:
        yield from map(read, jobs)
        return
    pool = concurrent.futures.ProcessPoolExecutor(processes, initializer=_end_quietly)
    try:
        with _later(signal.SIGINT):  # the processes are begun here
            files = pool.map(read, jobs, chunksize=8)
        yield from files
    finally:
        pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _later(number):
    """Keeps a signal back until the block is left."""
    mask = getattr(signal, "pthread_sigmask", None)  # not on Windows
    if mask:
        mask(signal.SIG_BLOCK, {number})
    try:
        yield
    finally:
        if mask:
            mask(signal.SIG_UNBLOCK, {number})


def _end_quietly():
    """Has Ctrl-C end a process without a word: the first one tells."""
    with _later(signal.SIGINT):
        if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # as in the background
            signal.signal(signal.SIGINT, signal.SIG_DFL)


def _read(job, local):
    path, package = job
    try:
        text = sources.read(path)
    except sources.Unreadable as error:
        return _File(path, package, None, str(error), None, {}, {})
    module = names.read(text.source, package, local)
    lines = text.source.decode("utf-8", "replace").split("\n")
    ignores = {}
    if b"tf1to2:" in text.source:
        for number, line in enumerate(lines, 1):
            comment = COMMENT.search(line)
            if comment:
                rules = re.split(r"[\s,]+", (comment[1] or "").strip())
                ignores[number] = set(rules) - {""}
    reason = ""
    if module.broken:
        cell, line = text.place(module.broken)
        where = f"cell {cell}, line {line}" if cell else f"line {line}"
        reason = f"{where} is no Python; the rest was read"
    shown = {use.line: lines[use.line - 1] for use in module.uses}
    return _File(path, package, module, reason, text.without_source(), shown, ignores)


def _package(folder, roots):
    """The dotted name of a directory, from the root that was named."""
    for root in roots:
        if os.path.join(folder, "").startswith(os.path.join(root, "")):
            return ".".join(pathlib.PurePath(folder).relative_to(root).parts)
    return ""


class _Project:
    """All files of a scan, for names that one module takes from another."""

    def __init__(self, files):
        self.modules = {}
        for file in files:
            if file.module is not None and file.path.endswith(".py"):
                stem = pathlib.PurePath(file.path).stem
                parts = [file.package, "" if stem == "__init__" else stem]
                self.modules[".".join(part for part in parts if part)] = file

    def uses(self, file):
        """Yields (use, entry) of all that is not the same in TensorFlow 2."""
        known = {}
        for use in file.module.uses:
            if use.origin not in known:
                known[use.origin] = list(self._origins(file, use.origin))
            for origin in known[use.origin]:
                entry = _entry(origin, use)
                if entry is not None:
                    if entry.verdict != "same":
                        yield use, entry
                    break

    def _origins(self, file, origin, depth=0):
        """Yields the names in TensorFlow that `origin` may stand for."""
        if depth > 8:  # modules that import from one another in a circle
            return
        if "|" in origin:
            owner, _, method = origin.partition("|")
            for name in self._origins(file, owner, depth + 1):
                if names.public(name).startswith("tensorflow."):
                    yield method
        elif origin.startswith("*"):
            for star in file.module.stars:
                joint = ":" if star.startswith("@") else "."
                yield from self._origins(file, star + joint + origin[1:], depth + 1)
        elif not origin.startswith("@"):
            yield origin
        else:
            module, _, rest = origin[1:].partition(":")
            name, _, more = rest.partition(".")
            more = "." + more if more else ""
            owner = self._find(file.package, module)
            exported = owner and owner.module.exports.get(name)
            inner = f"{module}.{name}"
            if exported:
                if exported.startswith("@") and ":" not in exported:
                    more = more.replace(".", ":", 1)
                yield from self._origins(owner, exported + more, depth + 1)
            elif self._find(file.package, inner) not in (None, owner):
                more = more.replace(".", ":", 1)
                yield from self._origins(file, f"@{inner}{more}", depth + 1)
            elif owner and owner.module.stars:
                yield from self._origins(owner, "*" + rest, depth + 1)

    def _find(self, package, module):
        """The file of a module, as seen from a package: the nearest of that name."""
        parts = package.split(".") if package else []
        while True:
            file = self.modules.get(".".join([*parts, module]))
            if file is not None or not parts:
                return file
            parts.pop()


def _entry(origin, use):
    if origin.startswith("."):
        return catalog.lookup(origin)
    name = names.public(origin)
    if not name.startswith("tensorflow."):
        return None
    symbol = "tf" + name.removeprefix("tensorflow")
    entry = _judged(symbol, use.call)
    if entry is not None and use.bare:
        if entry.kind == "module":
            return None  # the import that brought it was reported
        if entry.symbol not in (symbol, "tensorflow" + symbol[2:]):
            return None  # the value of FLAGS.x, which was reported where it was read
    return entry


@functools.cache
def _judged(symbol, call):
    return catalog.judge(symbol, call)
