"""Reads files in one process, or many files in several processes."""

import concurrent.futures
import contextlib
import dataclasses
import functools
import multiprocessing
import os
import signal

from tf1to2.common.processes import may_fork
from tf1to2.source import comments, sources
from tf1to2.source.names import reader, records

SEVERAL = 2_000_000  # more bytes than this are read by several processes


@dataclasses.dataclass(frozen=True)
class File:
    """The content of one file, as a process returns it.

    Attributes:
        path: the path in the scan.
        module: `records.Module`, or None if nothing could be read.
        reason: why the file was not fully read; or "".
        text: `sources.Text` without its source, or None.
        lines: {line: text} for the lines of all uses.
        ignores: {line: rules} of the ignore comments.
        malformed: lines of malformed ignore comments.
    """

    path: str
    module: records.Module | None
    reason: str = ""
    text: sources.Text | None = None
    lines: dict = dataclasses.field(default_factory=dict)
    ignores: dict = dataclasses.field(default_factory=dict)
    malformed: list = dataclasses.field(default_factory=list)


def read(path, modules):
    """Reads the uses of TensorFlow in one file.

    Args:
        path: a path, or "-".
        modules: `modules.Modules`.

    Returns:
        `File`.
    """
    try:
        text = sources.read(path)
    except sources.Unreadable as error:
        return File(path, None, str(error))
    folder = "" if path == "-" else os.path.dirname(path)
    local = functools.partial(modules.is_local, os.path.abspath(folder))
    try:
        module = reader.read(text.source, functools.cache(local))
    except RecursionError:
        return File(path, None, "it is nested too deeply")
    reason = ""
    if module.broken:
        cell, line = text.place(module.broken[0])
        where = f"cell {cell}, line {line}" if cell else f"line {line}"
        where += f", column {module.broken[1]}"
        reason = f"{where} is not valid Python; the rest was read"
    lines = {}
    if module.uses:
        every = text.source.decode("utf-8", "replace").split("\n")
        lines = {use.line: every[use.line - 1] for use in module.uses}
    ignores, malformed = comments.read(module.comments)
    return File(path, module, reason, text.without_source(), lines, ignores, malformed)


def read_all(paths, modules, processes=None):
    """Yields a `File` for every path, in the order of the paths.

    Args:
        paths: of files.
        modules: `modules.Modules`.
        processes: the number of processes; by default one per core for many bytes.
    """
    job = functools.partial(read, modules=modules)
    if processes is None:
        size = sum(map(_size, paths))
        processes = min(os.cpu_count() or 1, 8) if size > SEVERAL else 1
    if processes == 1:
        yield from map(job, paths)
        return
    context = multiprocessing.get_context(None if may_fork() else "spawn")
    pool = concurrent.futures.ProcessPoolExecutor(processes, context, _end_quietly)
    try:
        with _later(signal.SIGINT):  # the processes start here
            files = pool.map(job, paths, chunksize=8)
        yield from files
    finally:
        pool.shutdown(cancel_futures=True)


def _size(path):
    try:
        return 0 if path == "-" else os.path.getsize(path)
    except OSError:  # reading the file will report it
        return 0


@contextlib.contextmanager
def _later(number):
    """Delays a signal that arrives in the `with` block until the end of the block."""
    mask = getattr(signal, "pthread_sigmask", None)  # not on Windows
    if mask:
        mask(signal.SIG_BLOCK, {number})
    try:
        yield
    finally:
        if mask:
            mask(signal.SIG_UNBLOCK, {number})


def _end_quietly():
    """Makes Ctrl-C end a worker process silently: the main process prints a message."""
    with _later(signal.SIGINT):
        if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # as in the background
            signal.signal(signal.SIGINT, signal.SIG_DFL)
