"""Scans files: reads them, resolves imported names, and looks names up."""

import dataclasses
import functools

from tf1to2.catalog import entries, links
from tf1to2.scan import flag_reads, judging
from tf1to2.source import reading, sources
from tf1to2.source.modules import Modules
from tf1to2.source.project import Project


@dataclasses.dataclass(frozen=True)
class Finding:
    """One use of TensorFlow 1, with its place and its entry.

    Attributes:
        path: the file.
        line, column, end_line, end_column: the place, from 1; in a notebook, the lines
            count in the cell.
        cell: the number of the notebook's code cell, or None.
        entry: `catalog.Entry`.
        text: the line of code.
        flag: the name of the flag that is read, or "".
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    cell: int | None
    entry: entries.Entry
    text: str
    flag: str = ""

    @property
    def rules(self):
        """The rules that match this finding: symbol, modules, verdict and topic."""
        parts = self.entry.symbol.split(".")
        around = {".".join(parts[:end]) for end in range(2, len(parts) + 1)}
        return {self.entry.symbol, self.entry.verdict, self.entry.topic, *around} - {""}


@dataclasses.dataclass(frozen=True)
class Report:
    """The result of a scan.

    Attributes:
        findings: list of `Finding`, by path and place.
        files: the number of files that were read.
        unread: [(path, reason)] of files that could not be read, or only in part.
        unused: [(path, cell, line)] of ignore comments that ignored nothing; empty with
            `select` or `ignore`, because then a needed comment may look unused.
        malformed: [(path, cell, line)] of comments that look like ignore comments.
        excused: the number of uses in branches that only TensorFlow 1 runs.
        root: a function from a folder to the folder of its project.
        page: the address of the site that `tf1to2 page` built, or "".
    """

    findings: list
    files: int
    unread: list
    unused: list
    malformed: list = dataclasses.field(default_factory=list)
    excused: int = 0
    root: object = dataclasses.field(default=None, compare=False)
    page: str = ""

    def link(self, entry):
        """Returns the URL of an entry's pair or topic, or "" if there is no URL."""
        if not (self.page and entry.pair):
            return ""
        folder = self.page.removesuffix("index.html").rstrip("/")
        anchor = f"#{entry.pair}" * ("." in entry.pair)
        return f"{folder}/{entry.topic}.html{anchor}"


def scan(paths, excludes=(), select=(), ignore=(), progress=None, processes=None):
    """Scans files and directories for uses of TensorFlow 1.

    Args:
        paths: files, directories, "-".
        excludes: patterns of files and directories to skip.
        select: rules to report; all if empty. A rule is a verdict, a topic, a symbol,
            or a module such as "tf.contrib".
        ignore: rules not to report.
        progress: a function of (files read, all files), or None.
        processes: the number of processes; by default one per core for large trees.

    Returns:
        `Report`.

    Raises:
        FileNotFoundError: a path does not exist.
    """
    files, project, unread = read(paths, excludes, progress, processes)
    findings, unused, malformed, excused = [], [], [], 0
    for file in files:
        if file.module is None:
            continue
        kept, idle, more = of(file, project, select, ignore)
        findings += [finding for _, finding in kept]
        excused += more
        if not (select or ignore):
            unused += [(file.path, *file.text.place(line)) for line in sorted(idle)]
        malformed += [(file.path, *file.text.place(n)) for n in file.malformed]
    return Report(
        findings,
        len(files),
        unread + project.unread,
        unused,
        malformed,
        excused,
        project.modules.root,
    )


def read(paths, excludes=(), progress=None, processes=None):
    """Reads the files and directories to scan; has the same arguments as `scan`.

    Returns:
        (list of `reading.File`, `Project`, [(path, reason)] of files not fully read).
    """
    found, unread = sources.find(paths, excludes)
    modules, files = Modules(paths), []
    for file in reading.read_all(found, modules, processes):
        files.append(file)
        if progress:
            progress(len(files), len(found))
    unread += [(file.path, file.reason) for file in files if file.reason]
    project = Project(files, modules, functools.partial(reading.read, modules=modules))
    return files, project, unread


def of(file, project, select=(), ignore=()):
    """Returns the findings of one file, its idle ignore comments, and a count.

    Returns:
        ([(`judging.Judged`, `Finding`)], lines of the ignore comments that ignored
        nothing, number of uses that a guard excused).
    """
    judged, excused = judging.judge(file, project, bool(select))
    kept, idle = [], set(file.ignores)
    for one in judged:
        finding = _finding(file, one)
        lines = _ignored(file, one.use, finding.rules)
        idle -= lines
        if lines or finding.rules & set(ignore):
            continue
        if not select or finding.rules & set(select):
            kept.append((one, finding))
    return kept, idle, excused


def _finding(file, one):
    use = one.use
    cell, line = file.text.place(use.line)
    _, end = file.text.place(use.end_line)
    return Finding(
        file.path,
        line,
        use.column,
        end,
        use.end_column,
        cell,
        links.of_branches(one.entry, use.call),
        file.lines[use.line],
        flag_reads.read(one.origin),
    )


def _ignored(file, use, rules):
    """Returns the line numbers of the ignore comments that apply to a use."""
    return {
        line
        for line, ignored in file.ignores.items()
        if use.line <= line <= use.last_line and (not ignored or ignored & rules)
    }
