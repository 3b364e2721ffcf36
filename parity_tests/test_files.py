import argparse
import contextlib
import glob
import importlib.resources
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import tensorflow as tf
from absl import app, flags, logging
from parameterized import parameterized

from parity_tests import PLAIN, proof
from parity_tests.shorthand import refused
from tf1to2.parity import FalseFriend, Program
from tf1to2.parity.v1 import legacy
from v1_graph import files as v1
from v2_eager import files as v2

MISSING = tf.errors.NotFoundError
OUT = tf.errors.OutOfRangeError
INVALID = tf.errors.InvalidArgumentError
EXISTS = tf.errors.AlreadyExistsError
NOT_SO = tf.errors.FailedPreconditionError

WINDOWS = "h\xe9\r\nb\nlast"
TREE = ["a/b/c/deep.txt", "a/b/mid.txt", "a/top.txt", "a/.hidden", "a/z/last.txt"]
NUMBERED = ["q/b1", "q/b10", "q/b9", "q/B2", "q/.b", "q/ab", "q/d/b3"]
# Characters at which str.splitlines splits, but TensorFlow does not.
ODD_LINES = "the\n\u2028\nof\x0cto\n\x85\nand\n".encode()


def mended(name, slug, args, match, error, **others):
    """Makes a case of a call that only genuine TensorFlow 1.15.5 refused."""
    return refused(name, slug, args, match, None, genuine=error, **others)


def written_by_python(first, second, mode="a"):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "notes.txt")
        with open(path, "w", encoding="utf-8", newline="") as f:
            f.write(first)
            sizes = [os.path.getsize(path)]
            f.flush()
            sizes.append(os.path.getsize(path))
        with open(path, mode, encoding="utf-8", newline="") as f:
            f.write(second)
        with open(path, "rb") as f:
            raw = f.read()
        with open(path, encoding="utf-8") as f:
            text = f.read()
        lines = text.splitlines(True)
        return {
            "sizes": sizes,
            "bytes": raw,
            "text": text,
            "line": lines[0],
            "lines": lines,
            "loop": lines,
        }


def read_by_python(content, offset, count, whence=0, mode="rb"):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "data.bin")
        with open(path, "wb") as f:
            f.write(content)
        with open(path, mode, encoding="utf-8") as f:
            f.seek(offset, whence)
            tell = [f.tell()]
            piece = f.read(count)
            tell.append(f.tell())
            rest = f.read()
    return {"piece": piece, "rest": rest, "tell": tell, "size": len(content)}


def split_by_python(content):
    tokens = content.decode().splitlines()
    ids = {token.strip(): index for index, token in enumerate(tokens)}
    return {"ids": ["%s %d" % item for item in ids.items()], "labels": tokens}


def listed_by_python(files, name, patterns):
    with tempfile.TemporaryDirectory() as root:
        v2._make_files(root, files)
        each = [glob.glob(os.path.join(root, p)) for p in patterns]
        return {
            "folder": " ".join(sorted(os.listdir(os.path.join(root, name)))),
            "each": [v2._relative(root, paths) for paths in each],
            "all": v2._relative(root, sum(each, [])),
        }


def matched_by_gfile(files, source, target, patterns):
    with tempfile.TemporaryDirectory() as root:
        v2._make_files(root, files)
        match = []
        for pattern in patterns:  # as glob(patterns): pattern by pattern
            match += sorted(tf.io.gfile.glob(os.path.join(root, pattern)))
        match = [os.path.relpath(path, root) for path in match]
        return {"read": source.encode(), "match": match}


def parsed_by_argparse(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--data_dir", required=True)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rate", type=float, default=0.5)
    parser.add_argument("--train", type=bool, default=True)
    parser.add_argument("--hosts", type=lambda text: text.split(","))
    parser.add_argument("--mode", choices=["sync", "async"], default="sync")
    parser.set_defaults(hosts=["localhost"])
    values = vars(parser.parse_args(arguments))
    return {"values": values, "given": ["data_dir", "train"]}


def just_called(arguments, status=None):
    """Calls `main()`, not `app.run(main)`: no exit status, the program continues."""
    report = v2.run_script(arguments, status)
    return {**report, "after": True, "status": None}


def logged_at_20(level, step):
    """Sets verbosity 20, which is `tf.logging.INFO`; for absl it is more than DEBUG."""
    former = logging.get_verbosity()
    logging.set_verbosity(20)
    try:
        with v2._recorded(logging.get_absl_logger()) as lines:
            logging.debug("feed of step %d", step)
            logging.info("step %d", step)
            logging.warning("step %d is slow", step)
            logging.error("step %d failed: %s", step, "no data")
            logging.log(20, "retry")
            logging.log_if(20, "a tenth step", step % 10 == 0)
    finally:
        logging.set_verbosity(former)
    return lines


def logged_by_the_step(epochs, steps, every):
    return [
        "INFO: epoch %d, step %d" % (epoch, i)
        for epoch in range(epochs)
        for i in range(steps)
        if i % every == 0
    ]


GIVEN = ["--data_dir=/data", "--steps", "5", "--rate=1", "--notrain", "--mode=async"]

CASES = [
    Program(
        "write_and_read",
        "appended",
        ["one\ntwo", "!\nthree\n"],
        expect={
            "sizes": [0, 7],
            "bytes": b"one\ntwo!\nthree\n",
            "text": "one\ntwo!\nthree\n",
            "line": "one\n",
            "lines": ["one\n", "two!\n", "three\n"],
            "loop": ["one\n", "two!\n", "three\n"],
        },
        skip={"function": PLAIN},
    ),
    Program(
        "write_and_read",
        "written anew",
        ["one\ntwo", "three", "w"],
        expect={
            "sizes": [0, 7],
            "bytes": b"three",
            "text": "three",
            "line": "three",
            "lines": ["three"],
            "loop": ["three"],
        },
        skip={"function": PLAIN},
    ),
    FalseFriend(
        "write_and_read",
        "lines that end as in Windows",
        [WINDOWS, "\r\n"],
        of="program",
        expect={
            "sizes": [0, 11],
            "bytes": b"h\xc3\xa9\r\nb\nlast\r\n",
            "text": "h\xe9\r\nb\nlast\r\n",
            "line": "h\xe9\n",
            "lines": ["h\xe9\n", "b\n", "last\n"],
            "loop": ["h\xe9\n", "b\n", "last\n"],
        },
        naive=written_by_python,
        because="open turns \\r\\n into \\n in all it reads, GFile in lines only",
        skip={"function": PLAIN},
    ),
    FalseFriend(
        "write_and_read",
        "a carriage return inside a line",
        ["10%\r20%\r30%\n", "done"],
        of="program",
        expect={
            "sizes": [0, 12],
            "bytes": b"10%\r20%\r30%\ndone",
            "text": "10%\r20%\r30%\ndone",
            "line": "10%20%30%\n",
            "lines": ["10%20%30%\n", "done"],
            "loop": ["10%20%30%\n", "done"],
        },
        naive=written_by_python,
        because="a line of a GFile loses every \\r; to open each of them ends a line",
        differs="structure",
        skip={"function": PLAIN},
    ),
    FalseFriend(
        "write_and_read",
        "r+ truncates",
        ["header\nbody\n", "HEAD", "r+"],
        of="program",
        expect={
            "sizes": [0, 12],
            "bytes": b"HEAD",
            "text": "HEAD",
            "line": "HEAD",
            "lines": ["HEAD"],
            "loop": ["HEAD"],
        },
        naive=written_by_python,
        because="GFile makes the file anew, open overwrites its beginning",
        differs="structure",
        skip={"function": PLAIN},
    ),
    refused(
        "write_and_read",
        "a folder that there is not",
        ["a", "b", "a", "no/notes.txt"],
        "no/notes.txt; No such file or directory",
        MISSING,
    ),
    refused("write_and_read", "mode x", ["a", "b", "x"], "mode is not 'r' or", INVALID),
    Program(
        "read_at",
        "from the beginning",
        [b"0123456789", 4, 3],
        expect={"piece": b"456", "rest": b"789", "tell": [4, 7], "size": 10},
        skip={"function": PLAIN},
    ),
    Program(
        "read_at",
        "from where it stands, all",
        [b"0123456789", 2, -1, 1],
        expect={"piece": b"56789", "rest": b"", "tell": [5, 10], "size": 10},
        skip={"function": PLAIN},
    ),
    Program(
        "read_at",
        "from the end",
        [b"01\r\n456789", -4, 2, 2],
        expect={"piece": b"67", "rest": b"89", "tell": [6, 8], "size": 10},
        skip={"function": PLAIN},
    ),
    refused("read_at", "beyond the end", [b"0123", 9, 2], "reached end of file", OUT),
    FalseFriend(
        "read_at",
        "text",
        ["h\xe9llo".encode(), 1, 3, 0, "r"],
        of="program",
        expect={"piece": "\xe9l", "rest": "lo", "tell": [1, 4], "size": 6},
        naive=read_by_python,
        because="a GFile counts bytes in mode r, open counts characters",
        skip={"function": PLAIN},
    ),
    refused(
        "read_at",
        "half a character",
        ["h\xe9llo".encode(), 0, 2, 0, "r"],
        "unexpected end of data",
        UnicodeDecodeError,
    ),
    refused("read_at", "no such whence", [b"0123", 0, 1, 3], "whence", INVALID),
    Program(
        "load_vocabulary",
        "a line without an end",
        [b"[PAD]\n[UNK]\nthe\nof"],
        expect={
            "ids": ["[PAD] 0", "[UNK] 1", "the 2", "of 3"],
            "labels": ["[PAD]", "[UNK]", "the", "of"],
        },
        skip={"function": PLAIN},
    ),
    Program(
        "load_vocabulary",
        "blank and repeated lines, spaces",
        [b"the\n\n of \r\nthe\n"],
        expect={
            "ids": ["the 3", " 1", "of 2"],
            "labels": ["the", "", " of ", "the"],
        },
        skip={"function": PLAIN},
    ),
    FalseFriend(
        "load_vocabulary",
        "separators of Unicode",
        [ODD_LINES],
        of="program",
        expect={
            "ids": ["the 0", " 3", "of\x0cto 2", "and 4"],
            "labels": ["the", "\u2028", "of\x0cto", "\x85", "and"],
        },
        naive=split_by_python,
        because="str.splitlines ends lines at them, and every later number shifts",
        differs="structure",
        skip={"function": PLAIN},
    ),
    refused(
        "load_vocabulary",
        "Latin-1",
        ["h\xe9\n".encode("latin-1")],
        "can't decode byte 0xe9",
        UnicodeDecodeError,
    ),
    Program(
        "fresh_folder",
        "one with files in it",
        [["runs/a/old.txt", "runs/b.txt"], "runs/a"],
        expect={
            "before": (True, True),
            "after": (True, True),
            "files": {"runs/a/old.txt": (False, False), "runs/b.txt": (True, False)},
        },
        skip={"function": PLAIN},
    ),
    Program(
        "fresh_folder",
        "a deep one, with a slash",
        [["b"], "runs/a/b/"],
        expect={
            "before": (False, False),
            "after": (True, True),
            "files": {"b": (True, False)},
        },
        skip={"function": PLAIN},
    ),
    Program(
        "fresh_folder",
        "one of its own",
        [["runs/b.txt"], "runs/a", False],
        expect={
            "before": (False, False),
            "after": (True, True),
            "files": {"runs/b.txt": (True, False)},
        },
        skip={"function": PLAIN},
    ),
    refused(
        "fresh_folder",
        "a folder above it that there is not",
        [[], "runs/a", False],
        "runs/a; No such file or directory",
        MISSING,
    ),
    refused(
        "fresh_folder",
        "a file above it",
        [["runs"], "runs/a"],
        "(?i)not a directory",
        NOT_SO,
    ),
    mended(
        "fresh_folder",
        "a file of that name",
        [["runs"], "runs"],
        "Not a directory",
        NOT_SO,
        skip={"function": PLAIN},
    ),
    Program(
        "list_folder",
        "numbered files",
        [NUMBERED, "q", ["q/b?", "q/*"]],
        expect={
            "folder": ".b B2 ab b1 b10 b9 d",
            "each": ["q/b1 q/b9", "q/.b q/B2 q/ab q/b1 q/b10 q/b9 q/d"],
            "all": "q/.b q/B2 q/ab q/b1 q/b1 q/b10 q/b9 q/b9 q/d",
        },
        skip={"function": PLAIN},
    ),
    FalseFriend(
        "list_folder",
        "hidden files",
        [NUMBERED, "q/", ["q/*b*"]],
        of="program",
        expect={
            "folder": ".b B2 ab b1 b10 b9 d",
            "each": ["q/.b q/ab q/b1 q/b10 q/b9"],
            "all": "q/.b q/ab q/b1 q/b10 q/b9",
        },
        naive=listed_by_python,
        because="glob.glob leaves out what begins with a dot",
        skip={"function": PLAIN},
    ),
    Program(
        "list_folder",
        "sets, stars that are one folder, and nothing",
        [NUMBERED, "q/d", ["q/[bB][2-9]", "**/b3", "*/*/b3", "q/{b1,b9}", "q/x*"]],
        expect={
            "folder": "b3",
            "each": ["q/B2 q/b9", "", "q/d/b3", "", ""],
            "all": "q/B2 q/b9 q/d/b3",
        },
        skip={"function": PLAIN},
    ),
    refused(
        "list_folder",
        "a folder that there is not",
        [NUMBERED, "none", ["q/*"]],
        "Could not find directory .*none",
        MISSING,
    ),
    mended(
        "list_folder",
        "a pattern in a folder that there is not",
        [NUMBERED, "q", ["none/*"]],
        "No such file or directory",
        MISSING,
        skip={"function": PLAIN},
    ),
    Program(
        "walk_folder",
        "from the top",
        [TREE],
        expect=[
            ".: a/",
            "a: b/ z/ .hidden top.txt",
            "a/b: c/ mid.txt",
            "a/b/c: deep.txt",
            "a/z: last.txt",
        ],
        skip={"function": PLAIN},
    ),
    Program(
        "walk_folder",
        "from the bottom",
        [TREE[:4]],
        {"in_order": False},
        expect=[
            "a/b/c: deep.txt",
            "a/b: c/ mid.txt",
            "a: b/ .hidden top.txt",
            ".: a/",
        ],
        skip={"function": PLAIN},
    ),
    Program(
        "walk_folder",
        "not everywhere",
        [TREE, "a/", "b"],
        expect=["a: z/ .hidden top.txt", "a/z: last.txt"],
        skip={"function": PLAIN},
    ),
    Program(
        "copy_and_rename",
        "all new",
        [["a.txt", "z"], "a.txt", "b", "c"],
        expect={"c": (5, "a.txt"), "z": (1, "z")},
        skip={"function": PLAIN},
    ),
    Program(
        "copy_and_rename",
        "over two others",
        [["long.txt", "b", "c"], "long.txt", "b", "c"],
        {"overwrite": True},
        expect={"c": (8, "long.txt")},
        skip={"function": PLAIN},
    ),
    refused(
        "copy_and_rename",
        "no file",
        [["a"], "none", "b", "c"],
        "none; No such file or directory",
        MISSING,
    ),
    refused(
        "copy_and_rename",
        "the copy is there",
        [["a", "b"], "a", "b", "c"],
        "file already exists",
        EXISTS,
    ),
    refused(
        "copy_and_rename",
        "the new name is there",
        [["a", "c"], "a", "b", "c"],
        "file already exists",
        EXISTS,
    ),
    Program(
        "copy_by_ops",
        "into a new folder",
        [NUMBERED, "q/b1", "new/deep/b", ["q/b?", "none*"]],
        expect={"read": b"q/b1", "match": ["q/b1", "q/b9"]},
    ),
    FalseFriend(
        "copy_by_ops",
        "several patterns",
        [NUMBERED, "q/b1", "q/b9", ["q/b*", "q/b1*", "q/*b"]],
        of="program",
        expect={
            "read": b"q/b1",
            "match": ["q/.b", "q/ab", "q/b1", "q/b1", "q/b10", "q/b10", "q/b9"],
        },
        naive=matched_by_gfile,
        because="the op sorts all matches, gfile goes pattern by pattern",
    ),
    refused(
        "copy_by_ops",
        "no file",
        [NUMBERED, "q/none", "q/c", ["q/*"]],
        "q/none; No such file or directory",
        MISSING,
    ),
    mended(
        "copy_by_ops",
        "a pattern in a folder that there is not",
        [NUMBERED, "q/b1", "q/c", ["none/*"]],
        "No such file or directory",
        MISSING,
    ),
    Program(
        "read_flags",
        "defaults",
        [["--data_dir=x"]],
        expect={
            "values": {
                "data_dir": "x",
                "steps": 10,
                "rate": 0.5,
                "train": True,
                "hosts": ["localhost"],
                "mode": "sync",
            },
            "given": ["data_dir"],
        },
        skip={"function": PLAIN},
    ),
    Program(
        "read_flags",
        "all given",
        [GIVEN + ["--hosts=a:1,b:2", "rest"]],
        expect={
            "values": {
                "data_dir": "/data",
                "steps": 5,
                "rate": 1,
                "train": False,
                "hosts": ["a:1", "b:2"],
                "mode": "async",
            },
            "given": ["data_dir", "steps", "rate", "train", "hosts", "mode"],
        },
        skip={"function": PLAIN},
    ),
    Program(
        "read_flags",
        "one dash, hexadecimal, the last wins",
        [["-data_dir", "a", "--steps=4", "-steps=0x10", "--hosts=x,"]],
        expect={
            "values": {
                "data_dir": "a",
                "steps": 16,
                "rate": 0.5,
                "train": True,
                "hosts": ["x", ""],
                "mode": "sync",
            },
            "given": ["data_dir", "steps", "hosts"],
        },
        skip={"function": PLAIN},
    ),
    FalseFriend(
        "read_flags",
        "false",
        [["--data_dir=x", "--train=false"]],
        of="program",
        expect={
            "values": {
                "data_dir": "x",
                "steps": 10,
                "rate": 0.5,
                "train": False,
                "hosts": ["localhost"],
                "mode": "sync",
            },
            "given": ["data_dir", "train"],
        },
        naive=parsed_by_argparse,
        because='bool("false") is True, which is all that type=bool asks',
        skip={"function": PLAIN},
    ),
    Program(
        "read_flags",
        "true for all that is not in one word",
        [["--data_dir=x", "--train", "False", "--steps=3"]],
        expect={
            "values": {
                "data_dir": "x",
                "steps": 3,
                "rate": 0.5,
                "train": True,
                "hosts": ["localhost"],
                "mode": "sync",
            },
            "given": ["data_dir", "steps", "train"],
        },
        skip={"function": PLAIN},
    ),
    *[
        refused("read_flags", slug, [arguments], match, error)
        for slug, arguments, error, match in [
            (
                "a required one is missing",
                ["--steps=1"],
                flags.IllegalFlagValueError,
                "flag --data_dir=None: Flag --data_dir must have a value other",
            ),
            (
                "no such flag",
                ["--data_dir=x", "--typo=1"],
                flags.UnrecognizedFlagError,
                "Unknown command line flag 'typo'",
            ),
            (
                "a number that is no integer",
                ["--data_dir=x", "--steps=1e3"],
                flags.IllegalFlagValueError,
                "flag --steps=1e3: invalid literal",
            ),
            (
                "a word that is no boolean",
                ["--data_dir=x", "--train=no"],
                flags.IllegalFlagValueError,
                "Non-boolean argument to boolean flag",
            ),
            (
                "not one of them",
                ["--data_dir=x", "--mode=other"],
                flags.IllegalFlagValueError,
                "value should be one of <sync|async>",
            ),
        ]
    ],
    Program(
        "run_script",
        "flags and names of files",
        [["a.txt", *GIVEN, "b.txt"]],
        expect={
            "after": False,
            "rest": "a.txt b.txt",
            "text": "5 steps of 1.000 on localhost, async, evaluation",
            "status": None,
        },
        skip={"function": PLAIN},
    ),
    FalseFriend(
        "run_script",
        "an exit status",
        [["--data_dir=x", "--hosts=a,b"], 3],
        of="program",
        expect={
            "after": False,
            "rest": "",
            "text": "10 steps of 0.500 on a+b, sync, training",
            "status": 3,
        },
        naive=just_called,
        because="tf.app.run ended the program: what stands after it never ran",
        skip={"function": PLAIN},
    ),
    Program(
        "log_messages",
        "all",
        ["DEBUG", 20],
        expect=[
            "DEBUG: feed of step 20",
            "INFO: step 20",
            "WARNING: step 20 is slow",
            "ERROR: step 20 failed: no data",
            "INFO: retry",
            "INFO: a tenth step",
        ],
        skip={"function": PLAIN},
    ),
    FalseFriend(
        "log_messages",
        "info",
        ["INFO", 20],
        of="program",
        expect=[
            "INFO: step 20",
            "WARNING: step 20 is slow",
            "ERROR: step 20 failed: no data",
            "INFO: retry",
            "INFO: a tenth step",
        ],
        naive=logged_at_20,
        because="absl numbers its levels 1, 0, -1, -2, TensorFlow 10, 20, 30, 40",
        differs="structure",
        skip={"function": PLAIN},
    ),
    Program(
        "log_messages",
        "warnings",
        ["WARN", 3],
        expect=["WARNING: step 3 is slow", "ERROR: step 3 failed: no data"],
        skip={"function": PLAIN},
    ),
    Program(
        "log_messages",
        "errors",
        ["ERROR", 3],
        expect=["ERROR: step 3 failed: no data"],
        skip={"function": PLAIN},
    ),
    FalseFriend(
        "log_every",
        "four epochs of three steps, every second",
        [4, 3, 2],
        of="program",
        expect=[
            "INFO: epoch %d, step %d" % row
            for row in [(0, 0), (0, 2), (1, 1), (2, 0), (2, 2), (3, 1)]
        ],
        naive=logged_by_the_step,
        because="the counter of a line goes on from epoch to epoch",
        differs="structure",
        skip={"function": PLAIN},
    ),
    Program(
        "log_every",
        "four epochs of three steps, every fourth",
        [4, 3, 4],
        expect=["INFO: epoch %d, step %d" % row for row in [(0, 0), (1, 1), (2, 2)]],
        skip={"function": PLAIN},
    ),
]
PROOF = proof(v1, v2, CASES)


class FilesTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.gfiles = [v1.tf.gfile.GFile, tf.io.gfile.GFile]

    def path(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "w", encoding="utf-8") as f:
                f.write(content)
        return path

    def test_a_missing_file_is_noticed_when_it_is_read(self):
        path = self.path("none")
        with self.assertRaises(FileNotFoundError):
            open(path)
        for gfile in self.gfiles:
            with gfile(path) as f, self.assertRaisesRegex(MISSING, "No such file"):
                f.read()

    def test_and_it_is_no_os_error(self):
        self.assertFalse(issubclass(MISSING, OSError))
        self.assertFalse(issubclass(EXISTS, OSError))

    def test_a_size_is_that_on_disk(self):
        for name, gfile in enumerate(self.gfiles):
            with gfile(self.path(str(name)), "w") as f:
                f.write("abc")
                self.assertEqual(gfile(f.name).read(), "")
                self.assertEqual(f.size(), 0)
                f.flush()
                self.assertEqual(f.size(), 3)

    def test_text_and_bytes_may_be_written_in_either_mode(self):
        for gfile in self.gfiles:
            for mode, content in [("w", b"h\xc3\xa9"), ("wb", "h\xe9")]:
                with gfile(self.path("a"), mode) as f:
                    f.write(content)
                with gfile(self.path("a"), "rb") as f:
                    self.assertEqual(f.read(), b"h\xc3\xa9")
        with open(self.path("a"), "w") as f, self.assertRaises(TypeError):
            f.write(b"h")

    def test_python_overwrites_and_raises_otherwise_than_gfile(self):
        one, two = self.path("one", "1"), self.path("two", "2")
        with self.assertRaises(EXISTS):
            tf.io.gfile.copy(one, two)
        shutil.copy(one, two)
        with open(two) as f:
            self.assertEqual(f.read(), "1")
        with self.assertRaises(EXISTS):
            tf.io.gfile.rename(one, two)
        os.rename(one, two)
        for make in (os.mkdir, os.makedirs):
            with self.assertRaises(FileExistsError):
                make(self.folder)
        with legacy():
            self.assertIsNone(v1.tf.gfile.MkDir(self.folder))
            self.assertIsNone(v1.tf.gfile.MakeDirs(self.folder))

    def test_mkdir_over_a_file_says_nothing_and_makedirs_does(self):
        file = self.path("file", "")
        tf.io.gfile.mkdir(file)
        self.assertFalse(tf.io.gfile.isdir(file))
        with self.assertRaisesRegex(NOT_SO, "is not a directory"):
            tf.io.gfile.makedirs(file)

    def test_rmtree_takes_a_file(self):
        file = self.path("file", "")
        tf.io.gfile.rmtree(file)
        self.assertFalse(os.path.exists(file))
        self.path("file", "")
        with self.assertRaises(NotADirectoryError):
            shutil.rmtree(file)

    def test_a_walk_through_nothing(self):
        self.assertEqual(v2.walk_folder(["a"], "none"), [])
        with legacy():
            self.assertEqual(v1.walk_folder(["a"], "none"), [])

    def test_the_old_keyword_of_seek_is_still_taken(self):
        with tf.io.gfile.GFile(self.path("a", "0123")) as f:
            f.seek(position=2)
            self.assertEqual(f.read(), "23")

    def test_no_files_are_an_error_to_a_dataset(self):
        pattern = self.path("none*")
        self.assertEqual(tf.io.matching_files(pattern).shape, [0])
        with self.assertRaisesRegex(INVALID, "No files matched pattern"):
            tf.data.Dataset.list_files(pattern)

    def test_a_file_beside_the_module(self):
        left = v1.tf.resource_loader.get_path_to_datafile("exceptions.py")
        right = importlib.resources.files(__package__) / "exceptions.py"
        self.assertEqual(os.path.realpath(left), os.path.realpath(right))
        self.assertTrue(right.is_file())

    def test_names_of_a_dataset_come_in_order_only_without_shuffle(self):
        for name in "cab":
            self.path(name, "")
        names = tf.data.Dataset.list_files(self.path("*"), shuffle=False)
        names = [os.path.basename(name) for name in names.as_numpy_iterator()]
        self.assertEqual(names, [b"a", b"b", b"c"])

    def test_a_function_does_not_order_a_read_after_a_write(self):
        def controls(function):
            name = tf.TensorSpec([2], tf.string)
            graph = tf.function(function).get_concrete_function(name).graph
            read = [op for op in graph.get_operations() if op.type == "ReadFile"][-1]
            return [op.type for op in read.control_inputs]

        def plain(names):
            tf.io.write_file(names[1], "new")
            return tf.io.read_file(names[1])

        self.assertEqual(controls(plain), [])
        self.assertEqual(controls(v2._copy.python_function), ["WriteFile"])


class FlagsTest(unittest.TestCase):
    def left(self, arguments):
        with legacy():
            return v1.run_script(arguments)

    def right(self, arguments):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            with contextlib.redirect_stderr(io.StringIO()) as err:
                report = v2.run_script(arguments)
        return report, out.getvalue() + err.getvalue()

    def test_a_typo_ran_the_program_and_ends_it_now(self):
        arguments = ["--data_dir=x", "--stepss=3"]
        self.assertEqual(self.left(arguments)["rest"], "--stepss=3")
        report, text = self.right(arguments)
        self.assertEqual(report, {"after": False, "status": 1})
        self.assertIn("Unknown command line flag 'stepss'. Did you mean: steps", text)

    def test_a_bad_value_was_a_traceback_and_is_a_message_now(self):
        arguments = ["--data_dir=x", "--steps=many"]
        with self.assertRaisesRegex(flags.IllegalFlagValueError, "--steps=many"):
            self.left(arguments)
        report, text = self.right(arguments)
        self.assertEqual(report, {"after": False, "status": 1})
        self.assertIn("flag --steps=many: invalid literal", text)

    def test_two_dashes_reached_main(self):
        arguments = ["--data_dir=x", "--", "--steps=3"]
        self.assertEqual(self.left(arguments)["rest"], "-- --steps=3")
        self.assertEqual(self.right(arguments)[0]["rest"], "--steps=3")

    def test_a_flag_before_it_is_parsed(self):
        flag = flags.DEFINE_integer("unparsed_steps", 1, "")
        self.addCleanup(delattr, flags.FLAGS, flag.name)
        flags.FLAGS.unparse_flags()
        self.addCleanup(flags.FLAGS, ["test"])
        with self.assertRaises(flags.UnparsedFlagAccessError):
            _ = flag.value
        argv = mock.patch.object(sys, "argv", ["test", "--unparsed_steps=2"])
        with legacy(), argv:
            self.assertEqual(v1.FLAGS.unparsed_steps, 2)

    def test_the_old_keywords_of_a_flag(self):
        old = {"flag_name": "old_name", "default_value": 1, "docstring": ""}
        v1.flags.DEFINE_integer(**old)
        delattr(flags.FLAGS, "old_name")
        with self.assertRaisesRegex(TypeError, "missing"):
            flags.DEFINE_integer(**old)
        self.assertNotIn("old_name", flags.FLAGS)

    def test_the_dict_of_all_flags(self):
        flag = flags.DEFINE_integer("one_of_all", 1, "")
        self.addCleanup(delattr, flags.FLAGS, flag.name)
        flags.FLAGS(["test"])
        # Legacy code reads FLAGS.__flags: since 1.5 it has Flag objects, also of absl.
        hidden = getattr(v1.FLAGS, "__flags")
        self.assertEqual(hidden["one_of_all"].value, 1)
        self.assertIn("alsologtostderr", hidden)
        self.assertEqual(flags.FLAGS.flag_values_dict()["one_of_all"], 1)

    def test_a_second_definition(self):
        flag = flags.DEFINE_integer("twice", 1, "")
        self.addCleanup(delattr, flags.FLAGS, flag.name)
        with self.assertRaises(flags.DuplicateFlagError):
            flags.DEFINE_float("twice", 1, "")

    def test_a_script_without_a_name_for_main(self):
        with self.assertRaisesRegex(TypeError, "main"):
            app.run()


class LogTest(unittest.TestCase):
    def test_the_numbers_of_the_levels(self):
        names = ("DEBUG", "INFO", "WARN", "ERROR", "FATAL")
        left = [getattr(v1.tf.logging, name) for name in names]
        right = [getattr(logging, name) for name in names]
        self.assertEqual(left, [10, 20, 30, 40, 50])
        self.assertEqual(right, [1, 0, -1, -2, -3])

    def test_a_number_of_tensorflow_is_not_logged_by_absl(self):
        former = logging.get_verbosity()
        self.addCleanup(logging.set_verbosity, former)
        logging.set_verbosity(logging.INFO)
        with v2._recorded(logging.get_absl_logger()) as lines:
            logging.log(v1.tf.logging.ERROR, "lost")
            logging.log(logging.ERROR, "found")
        self.assertEqual(lines, ["ERROR: found"])

    def test_the_two_do_not_hear_of_each_other(self):
        former = logging.get_verbosity(), tf.get_logger().level
        self.addCleanup(logging.set_verbosity, former[0])
        self.addCleanup(tf.get_logger().setLevel, former[1])
        logging.set_verbosity(logging.INFO)
        tf.get_logger().setLevel("ERROR")
        with v2._recorded(logging.get_absl_logger()) as ours:
            with v2._recorded(tf.get_logger()) as theirs:
                logging.info("by absl")
                tf.get_logger().error("by TensorFlow")
        self.assertEqual(ours, ["INFO: by absl"])
        self.assertEqual(theirs, ["ERROR: by TensorFlow"])

    def logged(self, text):
        """Returns the log of a script that uses both logging modules, run twice."""
        answers = []
        loggers = [tf.get_logger(), logging.get_absl_logger()]
        for module, logger in zip([v1.tf.logging, logging], loggers):
            self.addCleanup(module.set_verbosity, module.get_verbosity())
            module.set_verbosity(module.INFO)
            # The counters outlive this test, so use new files without counters.
            with tempfile.TemporaryDirectory() as folder:
                script = compile(text, os.path.join(folder, "script.py"), "exec")
                caller = compile(
                    "for _ in range(2): exec(script, names)",
                    os.path.join(folder, "caller.py"),
                    "exec",
                )
            with v2._recorded(logger) as lines:
                exec(caller, {"script": script, "names": {"logging": module}})
            answers.append([line.replace("INFO: ", "") for line in lines])
        return answers

    def test_first_n_counts_as_long_as_the_process_lives(self):
        left, right = self.logged(
            'for i in range(4): logging.log_first_n(logging.INFO, "%d", 2, i)'
        )
        self.assertEqual(left, ["0", "1"])
        self.assertEqual(right, left)

    def test_the_lines_of_a_file_shared_one_counter(self):
        left, right = self.logged(
            """for i in range(4):
                logging.log_every_n(logging.INFO, "step %d", 2, i)
                logging.log_every_n(logging.INFO, "loss %d", 2, i)
            """
        )
        self.assertEqual(left, 2 * ["step 0", "step 1", "step 2", "step 3"])
        self.assertEqual(right, 2 * ["step 0", "loss 0", "step 2", "loss 2"])

    def test_the_level_of_a_script(self):
        program = """if True:
            import logging as python
            from absl import app, logging
            def main(argv):
                logging.info("by absl")
                python.info("by Python")
            logging.info("too early")
            app.run(main)
        """
        end = subprocess.run([sys.executable, "-c", program], capture_output=True)
        lines = end.stderr.decode().splitlines()
        self.assertEqual(
            [line.partition("] ")[2] for line in lines], ["by absl", "by Python"]
        )

    def test_fatal_was_a_line_and_aborts_now(self):
        with legacy(), v1._recorded(v1.tf.get_logger()) as lines:
            v1.tf.logging.fatal("the end")
        self.assertEqual(lines, ["CRITICAL: the end"])
        program = """if True:
            import sys
            from absl import logging
            if sys.argv[1] == "handler":
                logging.use_absl_handler()  # as app.run does
            logging.fatal("the end")
            print("not")
        """
        ends = [
            subprocess.run([sys.executable, "-c", program, word], capture_output=True)
            for word in ("no", "handler")
        ]
        self.assertEqual([end.stdout for end in ends], [b"not\n", b""])
        self.assertEqual([end.returncode for end in ends], [0, -signal.SIGABRT])
        for end in ends:
            self.assertIn(b"the end", end.stderr)
