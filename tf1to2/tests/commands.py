"""Runs `tf1to2` in this process, and tests in a folder of their own."""

import contextlib
import io
import os
import pathlib
import re
import tempfile
import unittest
from typing import NamedTuple
from unittest import mock

from tf1to2 import cli


class Result(NamedTuple):
    """Exit status, standard output and standard error of a command."""

    status: int
    out: str
    err: str


@contextlib.contextmanager
def inside(folder):
    """Makes a folder the working folder within a `with` statement."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def command(*argv, stdin=None, folder=None):
    """Runs a command of `tf1to2` in this process.

    Args:
        *argv: the command and its arguments, as text or paths.
        stdin: text or bytes of standard input; None leaves it as it is.
        folder: working folder while the command runs; None leaves it as it is.

    Returns:
        Result; wrong usage, at which argparse raises SystemExit, is a status, too.
    """
    out, err = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        if stdin is not None:
            data = stdin if isinstance(stdin, bytes) else stdin.encode()
            text = io.TextIOWrapper(io.BytesIO(data), "utf-8")
            stack.enter_context(mock.patch("sys.stdin", text))
        if folder is not None:
            stack.enter_context(inside(folder))
        try:
            status = cli.main([str(word) for word in argv])
        except SystemExit as stopped:
            status = stopped.code
    return Result(status, out.getvalue(), err.getvalue())


class Folder(unittest.TestCase):
    """Tests that each have an empty working folder, `self.folder`."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def write(self, **files):
        """Writes files, and the folders that they are in.

        Args:
            **files: {path: text or bytes}. A path without a suffix gets ".py";
                "__" between two letters is "/", so `a__b=text` writes a/b.py.

        Returns:
            Path of the last file.
        """
        for name, content in files.items():
            path = self.folder / re.sub(r"(?<=[^\W_])__(?=[^\W_])", "/", name)
            path = path if path.suffix else path.with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            data = content if isinstance(content, bytes) else content.encode()
            path.write_bytes(data)
        return path
