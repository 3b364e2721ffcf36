import json
import os
import pathlib
import subprocess
import sys
from unittest import mock

from parameterized import parameterized

from tf1to2.checkpoint import writing
from tf1to2.common.errors import CommandError
from tf1to2.tests.test_checkpoint import MAP, Conversion, having

TOUCHED = having(MAP, "new", "save_counter", "value", 7)


class DryRunTest(Conversion):
    @parameterized.expand(
        [
            ("a missing folder", "no/v2", "no: no such folder"),
            ("a file for a folder", "v1.ckpt.index/v2", "no such folder"),
            ("a folder for a file", ".", "is a folder: give a name in it"),
            ("the source", "v1.ckpt", "v1.ckpt is the source: give"),
            ("a name that is too long", "v" * 250, "File name too long"),
        ]
    )
    def test_fails_where_the_real_one_does(self, _, target, match):
        target = self.folder / target
        for arguments in ([], ["--dry-run"], ["--dry-run", "--force"]):
            self.refused(MAP, *arguments, target=target, match=match)
        self.assert_nothing_left()

    def test_a_target_that_exists(self):
        self.convert(MAP)
        self.before = sorted(self.folder.iterdir())
        self.refused(MAP, "--dry-run", match="v2.ckpt exists: add --force to replace")
        status, text = self.convert(TOUCHED, "--dry-run", "--force")
        self.assertEqual(status, 0)
        self.assertIn("v2.ckpt could be written: 7 tensors", text)
        self.assert_nothing_left()

    def test_a_folder_that_is_not_writable(self):
        # Root may write anywhere, so that the system's answer is made here.
        denied = PermissionError(13, "Permission denied")
        for arguments in ([], ["--dry-run"]):
            with mock.patch.object(writing.tempfile, "mkdtemp", side_effect=denied):
                self.refused(MAP, *arguments, match="v2.ckpt: Permission denied")
        self.assert_nothing_left()

    def test_a_folder_that_nobody_may_look_into(self):
        denied = PermissionError(13, "Permission denied")
        with mock.patch.object(pathlib.Path, "iterdir", side_effect=denied):
            self.refused(MAP, "--dry-run", match="v2.ckpt: Permission denied")

    def test_more_than_the_disk_holds(self):
        value = {"value": 0, "shape": [2**40, 2**20], "dtype": "float32"}
        mapping = having(MAP, "new", "net/m", value)
        for arguments in ([], ["--dry-run"]):
            self.refused(mapping, *arguments, match="free bytes, but .* are needed")

    def test_a_source_whose_data_are_cut(self):
        data = pathlib.Path(f"{self.source}.data-00000-of-00001")
        data.write_bytes(data.read_bytes()[:20])
        self.refused(MAP, "--dry-run", match="v1.ckpt: cannot be read")


class PublishTest(Conversion):
    """Four files are moved: two old ones away, two new ones in."""

    def setUp(self):
        super().setUp()
        self.convert(MAP)
        self.before = sorted(self.folder.iterdir())
        self.kept = [file.read_bytes() for file in self.before]

    def failing(self, numbers, error):
        replace, calls = os.replace, []

        def replacing(*places):
            calls.append(places)
            if len(calls) in numbers:
                raise error
            replace(*places)

        return mock.patch.object(writing.os, "replace", replacing)

    @parameterized.expand([(f"move {number}", number) for number in (1, 2, 3, 4)])
    def test_whole_or_not_at_all(self, _, number):
        full = OSError(28, "No space left on device")
        with self.failing([number], full):
            self.refused(TOUCHED, "--force", match="v2.ckpt: No space left")
        with self.failing([number], KeyboardInterrupt()):
            self.assertRaises(KeyboardInterrupt, self.convert, TOUCHED, "--force")
        self.assert_nothing_left()
        self.assertEqual([file.read_bytes() for file in self.before], self.kept)

    def test_what_cannot_be_put_back_is_not_thrown_away(self):
        full = OSError(28, "No space left on device")
        with self.failing([4, 5], full):
            match = "v2.ckpt: the old files could not be moved back; they are in .*old"
            self.refused(TOUCHED, "--force", match=match)
        (old,) = self.folder.glob(".convert-*/old")
        names = ["v2.ckpt.data-00000-of-00001", "v2.ckpt.index"]
        saved = {file.name: file.read_bytes() for file in old.iterdir()}
        wanted = {f.name: b for f, b in zip(self.before, self.kept, strict=True)}
        self.assertEqual(saved, {name: wanted[name] for name in names})
        # A checkpoint without its index is none: nobody reads one half new, half old.
        self.assertFalse((self.folder / names[1]).exists())


class MessageTest(Conversion):
    def test_as_users_see_it(self):
        file = self.folder / "map.json"
        file.write_text(json.dumps(having(MAP, "tensors", "a\nb\ud800", 3)))
        words = "convert-checkpoint", self.source, self.target, "--map", file
        done = subprocess.run(
            [sys.executable, "-m", "tf1to2", *map(str, words)],
            capture_output=True,
            text=True,
        )
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        last = done.stderr.splitlines()[-1]
        self.assertTrue(last.startswith("tf1to2: "), done.stderr)
        self.assertIn("expected an object, but found 3", last)
        self.assertNotIn("Traceback", done.stderr)
        self.assertRaises(CommandError, self.convert, "{")
