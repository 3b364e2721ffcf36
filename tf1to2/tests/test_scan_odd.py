"""Files that are none: each is one line, exit status 2, and the rest is scanned."""

import os
import pathlib
import socket
import subprocess
import sys
import unittest

from parameterized import parameterized

from tf1to2.tests.commands import Folder
from tf1to2.tests.test_scan import TF, ScanCase

NOBODY = 65534
ROOT = pathlib.Path(__file__).parents[2]


@unittest.skipUnless(hasattr(os, "mkfifo"), "the files are those of POSIX")
class OddTest(Folder):
    def setUp(self):
        super().setUp()
        self.folder.chmod(0o755)
        self.folder /= "tree"
        self.write(good=TF + "tf.log(1)\n")

    def make(self):
        """A folder of all that is odd.

        Returns:
            {name: what is said of it}, to every user.
        """
        os.symlink("nowhere.py", self.folder / "dangling.py")
        os.symlink("me@host.1234:5", self.folder / ".#good.py")
        os.symlink("loop2.py", self.folder / "loop1.py")
        os.symlink("loop1.py", self.folder / "loop2.py")
        os.symlink(".", self.folder / "round")
        os.mkfifo(self.folder / "pipe.py")
        there = socket.socket(socket.AF_UNIX)
        self.addCleanup(there.close)
        there.bind(str(self.folder / "socket.py"))
        self.write(binary=b"a\0b", neither="print 'x' if := :\n")
        self.write(**{"notebook.ipynb": "[]", "folder.py/inner.py": "x = 1\n"})
        return {
            "dangling.py": "it is a link to nowhere.py, which does not exist",
            ".#good.py": "it is a link to me@host.1234:5, which does not exist",
            "loop1.py": "too many levels of symbolic links",
            "loop2.py": "too many levels of symbolic links",
            "pipe.py": "it is a pipe, not a file",
            "socket.py": "it is a socket, not a file",
            "binary.py": "it is binary",
            "neither.py": "line 1, column 14 is not valid Python; the rest was read",
            "notebook.ipynb": "it is not a notebook",
        }

    def scan(self, *arguments, user=None):
        # The other user may not be able to read Python, nor this package's tables.
        code = (
            "import contextlib, io, os, sys\nfrom tf1to2 import cli\n"
            "with contextlib.redirect_stdout(io.StringIO()):\n"
            "    cli.main(['scan', 'good.py'])\n"
            "user = int(sys.argv[1])\n"
            "if user:\n"
            "    os.setgroups([]), os.setgid(user), os.setuid(user)\n"
            "sys.exit(cli.main(['scan', *sys.argv[2:]]))"
        )
        return subprocess.run(
            [sys.executable, "-c", code, str(user or 0), *(arguments or ["."])],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            timeout=120,
        )

    def check(self, done, told):
        out = done.stdout.decode("utf-8", "replace")
        self.assertEqual((done.returncode, done.stderr), (2, b""))
        self.assertIn("good.py:2:1: tf.log", out)
        lines = out.splitlines()
        for name, reason in told.items():
            wanted = f"./{name}: not fully read: {reason}"
            self.assertEqual(sum(line.startswith(wanted) for line in lines), 1, wanted)
        self.assertEqual(sum("not fully read:" in line for line in lines), len(told))

    def test_all_of_them(self):
        told = self.make()
        self.check(self.scan(), told)

    def test_what_a_user_may_not_read(self):
        told = self.make()
        self.write(secret="x = 1\n", closed__a="x = 1\n")
        os.chmod(self.folder / "secret.py", 0)
        os.chmod(self.folder / "closed", 0)
        self.addCleanup(os.chmod, self.folder / "closed", 0o755)
        user = NOBODY if os.geteuid() == 0 else None
        told |= {"secret.py": "permission denied", "closed": "permission denied"}
        self.check(self.scan(user=user), told)

    def test_a_name_that_is_not_utf8(self):
        self.write(**{os.fsdecode(b"caf\xe9.py"): TF + "tf.exp(1)\ntf.log(1)\n"})
        for form in ("text", "json", "github", "sarif", "html"):
            done = self.scan("--format", form, ".")
            self.assertEqual((done.returncode, done.stderr), (1, b""), form)


class NothingTest(ScanCase):
    @parameterized.expand([("empty", []), ("no Python", ["read.me"])])
    def test_a_folder_without_python(self, _, names):
        os.mkdir("empty")
        for name in names:
            self.write(**{f"empty/{name}": "x"})
        self.write(a=TF + "tf.log(1)")
        status, out, _ = self.run_it("empty", "a.py")
        self.assertEqual(status, 2)
        self.assertIn("empty: not fully read: it contains no Python file", out)
        self.assertIn("a.py:2:1: tf.log", out)

    def test_a_folder_whose_files_were_named_before(self):
        self.write(p__a=TF)
        self.assertEqual(self.run_it("p/a.py", "p")[0], 0)
