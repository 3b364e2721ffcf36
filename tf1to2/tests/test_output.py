"""Whatever happens: a true status, a line that says why, and files that are whole."""

import contextlib
import io
import json
import os
import pathlib
import resource
import stat
import subprocess
import sys
import unittest
from unittest import mock

from parameterized import parameterized

from tf1to2 import cli
from tf1to2.common import output
from tf1to2.common.errors import CommandError
from tf1to2.scan import configuration
from tf1to2.tests.commands import Folder, command
from upkeep import docs

LEGACY = "import tensorflow as tf\nx = tf.placeholder(tf.float32)  # ─ é\n"

# In Python's words, which 3.13 chose anew.
NULL = "embedded null " + ("character" if sys.version_info >= (3, 13) else "byte")


class SaveTest(Folder):
    def save(self, content="new\n"):
        output.save(self.path, content)
        return self.path.read_bytes()

    def setUp(self):
        super().setUp()
        self.path = self.folder / "report"

    def test_a_new_file_has_the_mode_that_the_umask_leaves(self):
        self.addCleanup(os.umask, os.umask(0o027))
        self.assertEqual(self.save("é"), "é".encode())
        self.assertEqual(stat.S_IMODE(self.path.stat().st_mode), 0o640)

    def test_what_was_there_hands_its_mode_on(self):
        self.path.touch(0o600)
        self.assertEqual(self.save(), b"new\n")
        self.assertEqual(stat.S_IMODE(self.path.stat().st_mode), 0o600)

    def test_a_link_stays_one(self):
        target = self.folder / "target"
        target.touch()
        self.path.symlink_to(target)
        self.save()
        self.assertTrue(self.path.is_symlink())
        self.assertEqual(target.read_text(), "new\n")

    def assert_left_alone(self, why, content="new\n"):
        self.path.write_text("old\n")
        with self.assertRaisesRegex(CommandError, f"report: {why}$"):
            self.save(content)
        self.assertEqual(self.path.read_text(), "old\n")
        self.assertEqual(list(self.folder.iterdir()), [self.path])

    def test_a_disk_that_is_full_half_way_leaves_the_old_one(self):
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, limits)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
        self.assert_left_alone("File too large", "new\n" * 100)

    def test_a_name_that_cannot_be_taken_leaves_the_old_one(self):
        fails = mock.Mock(side_effect=OSError(16, "Device or resource busy"))
        with mock.patch.object(output.os, "replace", fails):
            self.assert_left_alone("Device or resource busy")

    def test_what_is_no_regular_file_is_written_to(self):
        # A pipe of this test's own: as root, a fault here would replace a device.
        os.mkfifo(self.path)
        reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        output.save(self.path, "new\n")
        self.assertEqual(os.read(reader, 100), b"new\n")
        self.assertTrue(stat.S_ISFIFO(self.path.stat().st_mode))

    @parameterized.expand(
        [
            ("no folder", "no/report", "No such file or directory"),
            ("a folder", ".", "Is a directory"),
            ("no name", "a\0b", NULL),
        ]
    )
    def test_one_line_says_why_not(self, _, path, why):
        with self.assertRaisesRegex(CommandError, why):
            output.save(f"{self.folder}/{path}", "new\n")

    def test_bytes_of_a_name_that_are_no_text(self):
        self.assertEqual(self.save("caf\udce9 ─"), "caf\\xe9 ─".encode())


class Screen:
    """Standard streams of an encoding; `text` is what came out."""

    def __init__(self, encoding):
        self.out, self.err = (
            io.TextIOWrapper(io.BytesIO(), encoding, write_through=True)
            for _ in range(2)
        )
        self.encoding = encoding

    def run(self, *argv):
        with mock.patch.multiple("sys", stdout=self.out, stderr=self.err):
            status = cli.main(list(argv))
        self.text, self.complaint = (
            stream.buffer.getvalue().decode(self.encoding)
            for stream in (self.out, self.err)
        )
        return status


class EncodingTest(Folder):
    @parameterized.expand(
        [
            (f"{' '.join(argv[:3])} in {encoding}", encoding, argv, status, shown)
            for encoding in ("ascii", "cp1252")
            for argv, status, shown in (
                (["topics"], 0, "-----"),
                (["diff", "broadcasting"], 0, "--+--"),
                (["explain", "tf.placeholder", "--full"], 0, "--+--"),
                (["scan", "--statistics"], 1, "-----"),
                (["scan", "--format", "html"], 1, "# &#9472; &#233;"),
                (["scan", "--format", "json"], 1, '"tf.placeholder"'),
                (["scan", "--format", "sarif"], 1, '"tf.placeholder"'),
            )
        ]
    )
    def test_a_screen_that_has_not_all_characters(
        self, _, encoding, argv, status, shown
    ):
        if argv[0] == "scan":
            argv = [*argv, str(self.write(légacy=LEGACY))]
        screen = Screen(encoding)
        self.assertEqual(screen.run(*argv), status)
        self.assertIn(shown, screen.text)
        self.assertEqual(screen.complaint, "")

    def test_verify_where_there_is_ascii_only(self):
        screen = Screen("ascii")
        self.assertEqual(screen.run("verify", "broadcasting.sum_of_broadcast"), 0)
        self.assertIn("  -----", screen.text)

    @parameterized.expand(
        [
            ("text", "caf\\xe9.py:2:5"),
            ("json", '"path": "./caf\\\\xe9.py"'),
            ("github", "file=./caf\\xe9.py,"),
            ("sarif", '"uri": "caf%E9.py"'),
            ("html", "caf\\xe9.py:2:5"),
        ]
    )
    def test_a_file_name_that_is_not_utf_8(self, form, shown):
        self.write(**{os.fsdecode(b"caf\xe9.py"): LEGACY})
        screen = Screen("utf-8")
        found = screen.run("scan", "--format", form, ".")
        self.assertEqual((found, screen.complaint), (1, ""))
        self.assertIn(shown, screen.text)
        cli.main(["scan", "--format", form, "--output-file", "report", "."])
        self.assertEqual(pathlib.Path("report").read_text("utf-8"), screen.text)

    def test_a_complaint_about_a_file_name_that_is_not_utf_8(self):
        path = self.write(**{os.fsdecode(b"caf\xe9.py"): b"\0"})
        screen = Screen("utf-8")
        screen.err.reconfigure(errors="backslashreplace")  # as Python's own
        self.assertEqual(screen.run("scan", "--format", "json", str(path)), 2)
        self.assertIn("caf\\xe9.py: not fully read", screen.complaint)

    def test_what_it_told_can_be_told_apart_from_text(self):
        self.assertEqual(output.shown("─é\udce9"), "─é\\xe9")


class StatusTest(Folder):
    def run_it(self, *argv, **environment):
        with mock.patch.dict(os.environ, environment):
            status, _, err = command(*argv)
        return status, err

    @parameterized.expand(
        [
            ("an error", ValueError("a\nb"), "ValueError: a b"),
            ("no memory", MemoryError(), "MemoryError: "),
            ("a missing module", ImportError("no x"), "ImportError: no x"),
        ]
    )
    def test_what_nobody_expected_is_one_line(self, _, error, shown):
        with mock.patch("tf1to2.pages.topics.topics", side_effect=error):
            status, err = self.run_it("topics")
            told = f"tf1to2: {shown} (TF1TO2_DEBUG=1 shows the traceback)\n"
            self.assertEqual((status, err), (2, told))
            status, err = self.run_it("topics", TF1TO2_DEBUG="1")
        self.assertEqual(status, 2)
        self.assertIn("Traceback", err)
        self.assertTrue(err.endswith(told))

    def test_a_package_that_an_extra_installs(self):
        missing = ModuleNotFoundError("no", name="parameterized.more")
        with mock.patch("tf1to2.pages.topics.topics", side_effect=missing):
            status, err = self.run_it("topics")
        self.assertEqual(status, 2)
        self.assertIn('install tf1to2 with its extra "tensorflow"', err)

    def test_the_guides_are_made_in_a_checkout(self):
        with (
            mock.patch.object(docs, "ROOT", self.folder),
            contextlib.redirect_stderr(io.StringIO()) as err,
        ):
            self.assertEqual(docs.main([]), 2)
        self.assertIn(f"{self.folder} is not a checkout", err.getvalue())

    @parameterized.expand([("targets", "(", ",)"), ("lists", "[", "]")])
    def test_targets_within_targets(self, _, opened, closed):
        deep = opened * 3000 + "a" + closed * 3000
        self.write(deep=f"{LEGACY}{deep} = tf.log(1)\n", plain=LEGACY)
        report = str(self.folder / "report")
        found = self.run_it("scan", str(self.folder), "--output-file", report)
        self.assertEqual(found[0], 2)
        self.assertEqual(found[1].count("\n"), 1)
        self.assertIn("deep.py: not fully read: it is nested too deeply", found[1])
        self.assertIn("plain.py:2:5", pathlib.Path(report).read_text())

    def start(self, *argv, unbuffered="", **options):
        environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        return subprocess.Popen(
            [sys.executable, "-m", "tf1to2", *argv],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    @parameterized.expand(
        [
            ("a command", "topics", ""),
            ("the help", "--help", ""),
            ("the help at once", "--help", "1"),
        ]
    )
    def test_a_full_disk_under_the_screen(self, _, word, unbuffered):
        with open("/dev/full", "w") as full:
            with self.start(word, unbuffered=unbuffered, stdout=full) as process:
                _, err = process.communicate()
        self.assertEqual(process.returncode, 2)
        self.assertRegex(err, r"\Atf1to2: OSError: .*No space left on device.*\n\Z")

    def test_a_reader_that_has_seen_enough(self):
        with self.start("diff", "broadcasting", stdout=subprocess.PIPE) as process:
            process.stdout.close()
            err = process.stderr.read()
        self.assertEqual((process.returncode, err), (141, ""))


class SettingsTest(Folder):
    @parameterized.expand(
        [
            ("no table", "tool = 3", None),
            ("ours is a text", "[tool]\ntf1to2 = 'x'", "must be a table"),
            ("ours is a list", "[[tool.tf1to2]]", "must be a table"),
            ("a number for a list", "select = 1", "select must be a list of strings"),
            ("numbers in a list", "select = [1]", "select must be a list of strings"),
            ("a text for a list", "ignore = 'x'", "ignore must be a list of strings"),
            ("a date", "page = 2020-01-01", "page must be a string, not datetime"),
            ("a list for a text", "baseline = []", "baseline must be a string"),
            ("unknown", "selct = []", "unknown setting selct; the settings are select"),
            ("twice", "page = 'a'\npage = 'b'", "Cannot overwrite a value"),
            # In the words of the parser, which is tomli on Python 3.10.
            ("deep", "page = " + "[" * 100_000, "recursion|nested"),
            ("cut", "page = ", "Invalid value"),
        ]
    )
    def test_pyproject(self, _, text, why):
        head = "" if text.startswith("[") or "tool" in text else "[tool.tf1to2]\n"
        self.check("pyproject.toml", (head + text).encode(), why)

    @parameterized.expand(
        [
            ("no section", b"select = 1", "File contains no section headers"),
            ("no value", b"[tf1to2]\nselect", "Source contains parsing errors"),
            ("twice", b"[tf1to2]\n[tf1to2]\n", "section 'tf1to2' already exists"),
            ("no text", b"[tf1to2]\npage = \xe9", "can't decode byte 0xe9"),
            ("a percent sign", b"[tf1to2]\npage = 100%", None),
        ]
    )
    def test_setup_cfg(self, _, data, why):
        self.check("setup.cfg", data, why)

    def check(self, name, data, why):
        path = self.write(**{name: data})
        if why is None:
            configuration.find(self.folder)
            return
        with self.assertRaises(CommandError) as raised:
            configuration.find(self.folder)
        message = str(raised.exception)
        self.assertTrue(message.startswith(f"{path}: "), message)
        self.assertRegex(message, why)
        self.assertNotIn("\n", message)

    def test_python_3_10_reads_toml_too(self):
        self.assertEqual(configuration.tomllib.loads("a = 1"), {"a": 1})
        text = "[tool.tf1to2]\nselect = ['renamed']\nbaseline = 'b.json'"
        self.write(**{"pyproject.toml": text})
        baseline = str(self.folder / "b.json")
        wanted = {"select": ["renamed"], "baseline": baseline}
        self.assertEqual(configuration.find(self.folder), wanted)


class JsonTest(unittest.TestCase):
    def test_lone_surrogates_are_not_handed_to_other_programs(self):
        from tf1to2.scan import findings
        from tf1to2.scan.reports import json as form

        report = findings.Report([], 1, [("caf\udce9.py", "it is binary")], [])
        unread = json.loads(form.render(report))["unread"]
        self.assertEqual(unread[0]["path"], "caf\\xe9.py")
