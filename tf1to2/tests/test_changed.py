""".ci/changed.py: what a change touches, in a small repository."""

import contextlib
import importlib.util
import io
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
from unittest import mock

from parameterized import parameterized

from tf1to2.tests.test_structure import ROOT

PROGRAM = ROOT / ".ci" / "changed.py"
EVERYTHING = ["distributed", "layers", "losses", "rnn"]
TABLE = "# measured on 2.21\npair\tcase\nrnn.make_lstm\tany\n"
BOUNDS = "# by hand\npair\tcase\treason\nrnn.make_lstm\tany\tROUNDED\n"
REASONS = """\
REASONS = {
    "ROUNDED": (
        "one reason"
    ),
}
BOUNDS = read("exceptions.tsv")
"""
FILES = {
    "v1_graph/distributed.py": "",
    "v1_graph/layers.py": "import tensorflow.compat.v1 as tf\n",
    "v1_graph/losses.py": "import tensorflow.compat.v1 as tf\n",
    "v1_graph/rnn.py": "from v1_graph import losses\n",
    "v2_eager/layers.py": "from v2_eager.numerics import sums\n",
    "v2_eager/losses.py": "import tensorflow as tf\n",
    "v2_eager/rnn/__init__.py": "from v2_eager.rnn.cells import make_lstm\n",
    "v2_eager/rnn/cells.py": "def make_lstm():\n    from v2_eager import numerics\n",
    "v2_eager/numerics/__init__.py": "from v2_eager.numerics.sums import total\n",
    "v2_eager/numerics/sums.py": "total = sum\n",
    "v2_keras/layers.py": "import keras\n",
    "parity_tests/__init__.py": "from parity_tests.exceptions import BOUNDS\n",
    "parity_tests/test_layers.py": "from parity_tests import proof, shared\n",
    "parity_tests/shared.py": "",
    "parity_tests/losses/weighted.py": "",
    "parity_tests/golden/rnn.npz": "recorded",
    "parity_tests/exceptions.py": REASONS,
    "parity_tests/exceptions.tsv": BOUNDS,
    "parity_tests/float32.tsv": TABLE,
    "parity_tests/slow.tsv": "# Seconds\n0.5\ttest_rnn.py::test_parity_x\n",
    "tf1to2/parity/proof.py": "",
    "tf1to2/catalog/calls.tsv": "",
    "tf1to2/scan/names.py": "",
    "guide/rnn.md": "# rnn\n",
    "constraints.txt": "keras==3.15.1\n",
}


class Repository:
    """A git repository of its own, in a folder."""

    def __init__(self, folder, name):
        self.root = pathlib.Path(folder) / name

    def git(self, *words):
        command = ["git", "-C", str(self.root), *words]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def commit(self, hours):
        """Commits all files at an hour of the same day; returns the hash."""
        self.git("add", "--all")
        time = f"2026-01-01T{hours:02}:00:00+00:00"
        with mock.patch.dict(os.environ, GIT_COMMITTER_DATE=time):
            self.git("commit", "--quiet", "--allow-empty", "--message", "one")
        return self.git("rev-parse", "HEAD")


@unittest.skipUnless(PROGRAM.exists(), "there is no .ci: this is no checkout")
@unittest.skipUnless(shutil.which("git"), "it needs git")
class ChangedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        names = "AUTHOR_NAME AUTHOR_EMAIL COMMITTER_NAME COMMITTER_EMAIL".split()
        environment = {f"GIT_{name}": "nobody" for name in names}
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        patch = mock.patch.dict(os.environ, environment)
        patch.start()
        cls.addClassCleanup(patch.stop)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.first = Repository(folder.name, "first")
        cls.first.root.mkdir()
        cls.first.git("init", "--quiet", "--initial-branch=main")
        for path, text in FILES.items():
            cls.first.write(path, text)
        cls.first.commit(hours=0)

    def setUp(self):
        self.repository = Repository(self.first.root.parent, self.id())
        shutil.copytree(self.first.root, self.repository.root)
        spec = importlib.util.spec_from_file_location("changed", PROGRAM)
        self.changed = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.changed)
        self.changed.ROOT = self.repository.root

    @parameterized.expand(
        [
            ("nothing", {}, []),
            ("a_chapter", {"guide/rnn.md": "# RNN\n"}, []),
            ("a_tool", {"tf1to2/scan/names.py": "a = 1\n"}, []),
            ("a_left_page", {"v1_graph/layers.py": "a = 1\n"}, ["layers"]),
            ("a_keras_page", {"v2_keras/layers.py": "a = 1\n"}, ["layers"]),
            ("its_cases", {"parity_tests/losses/weighted.py": "a = 1\n"}, ["losses"]),
            ("its_recording", {"parity_tests/golden/rnn.npz": "again"}, ["rnn"]),
            ("an_imported_page", {"v1_graph/losses.py": "a = 1\n"}, ["losses", "rnn"]),
            (
                "an_imported_module",
                {"v2_eager/numerics/sums.py": ""},
                ["layers", "rnn"],
            ),
            ("its_package", {"v2_eager/numerics/__init__.py": ""}, ["rnn"]),
            ("a_helper_of_a_test", {"parity_tests/shared.py": "a = 1\n"}, ["layers"]),
            ("a_new_file", {"v2_eager/layers/new.py": ""}, ["layers"]),
            (
                "a_row_of_float32",
                {"parity_tests/float32.tsv": TABLE + "losses.log_loss\tany\n"},
                ["losses"],
            ),
            ("a_slow_row", {"parity_tests/slow.tsv": "# Seconds\n"}, ["rnn"]),
            (
                "a_header",
                {"parity_tests/float32.tsv": TABLE.replace("2.21", "2.22")},
                EVERYTHING,
            ),
            (
                "a_bound",
                {"parity_tests/exceptions.tsv": BOUNDS.replace("any", "one")},
                ["rnn"],
            ),
            (
                "a_column_of_bounds",
                {"parity_tests/exceptions.tsv": BOUNDS.replace("case", "slug")},
                EVERYTHING,
            ),
            (
                "a_reason",
                {"parity_tests/exceptions.py": REASONS.replace("one", "another")},
                [],
            ),
            (
                "what_reads_bounds",
                {"parity_tests/exceptions.py": REASONS.replace("read", "load")},
                EVERYTHING,
            ),
            ("the_engine", {"tf1to2/parity/proof.py": "a = 1\n"}, EVERYTHING),
            ("the_versions", {"constraints.txt": "keras==3.16.0\n"}, EVERYTHING),
            ("the_ranges", {"pyproject.toml": "[project]\n"}, EVERYTHING),
        ]
    )
    def test_topics(self, _, files, expected):
        for path, text in files.items():
            self.repository.write(path, text)
        self.assertEqual(self.changed.touched("HEAD").topics, expected)

    def test_after_a_commit(self):
        self.repository.write("v2_keras/layers.py", "a = 1\n")
        self.repository.commit(hours=1)
        self.assertEqual(
            self.changed.touched("HEAD~1"), (["layers"], ["messages"], ["layers"], [])
        )
        self.assertEqual(self.changed.touched("HEAD"), ([], [], [], []))

    @parameterized.expand(
        [
            ("a_page", "v2_eager/losses.py", ["messages"]),
            ("a_chapter", "guide/rnn.md", ["page"]),
            ("calls", "tf1to2/catalog/calls.tsv", []),
            ("a_fix", "tf1to2/fix/renames.py", ["tools", "wheel"]),
            ("the_catalog", "tf1to2/catalog/facts.py", ["names", "tools", "wheel"]),
            ("the_survey", "upkeep/survey.py", ["names", "tools"]),
            ("the_site", "tf1to2/view/site.py", ["page", "tools", "wheel"]),
            ("the_readme", "README.md", ["page", "tools", "wheel"]),
            ("a_library", "v2_eager/numerics/sums.py", ["messages", "tools"]),
            ("a_cluster", "v1_graph/distributed.py", ["clusters", "messages"]),
            (
                "the_engine",
                "tf1to2/parity/proof.py",
                ["clusters", "messages", "tools", "wheel"],
            ),
            ("ci", ".ci/run", ["clusters", "names", "page", "tools", "wheel"]),
            (
                "the_ranges",
                "pyproject.toml",
                ["clusters", "names", "page", "tools", "wheel"],
            ),
            ("probes", "upkeep/probes/left.py", ["probes", "tools"]),
        ]
    )
    def test_parts(self, _, path, expected):
        self.repository.write(path, "a = 1\n")
        self.assertEqual(self.changed.touched("HEAD").parts, expected)

    @parameterized.expand(
        [
            ("its_recording", "parity_tests/golden/rnn.npz", ["rnn"]),
            ("a_right_page", "v2_eager/losses.py", []),
            ("what_compares", "tf1to2/parity/proof.py", []),
            ("what_1_15_5_runs", "tf1to2/parity/v1.py", ["layers"]),
        ]
    )
    def test_what_1_15_5_is_asked_again(self, _, path, expected):
        self.repository.write(path, "a = 1\n")
        self.assertEqual(self.changed.touched("HEAD").live, expected)

    def test_the_engine_has_slow_tests_of_other_topics_after_each_commit(self):
        self.changed.SHARES = 2
        self.repository.write("tf1to2/parity/v1.py", "a = 1\n")
        self.repository.write("v1_graph/rnn.py", "a = 1\n")
        self.assertEqual(self.changed.touched("HEAD").slow, ["layers", "rnn"])
        self.repository.git("commit", "--quiet", "--allow-empty", "--message", "two")
        every = ["distributed", "losses", "rnn"]
        self.assertEqual(self.changed.touched("HEAD").slow, every)
        self.assertEqual(self.changed.touched("HEAD").live, ["distributed", "losses"])

    @parameterized.expand(
        [
            ("a_docstring", '"""Says more."""\n{}', []),
            ("a_comment", "{}# Says more.\n", []),
            ("a_message", '{}b = "the sizes differ"\nraise ValueError("size")\n', []),
            ("its_values", '{}b = f"of {{c}} rows"\nraise ValueError(b, c)\n', []),
            ("another_exception", '{}b = "the size"\nraise TypeError("a")\n', True),
            ("a_string_that_is_a_value", '{}b = "sum"\nraise ValueError("a")\n', True),
        ]
    )
    def test_words_touch_no_topic(self, _, text, expected):
        path = "v1_graph/layers.py"
        old = "import tensorflow.compat.v1 as tf\n"
        said = 'b = "no such size"\nraise ValueError("a")\n' * ("{}b" in text)
        self.repository.write(path, old + said)
        self.repository.commit(hours=0)
        self.repository.write(path, text.format(old))
        expected = ["layers"] * bool(expected)
        self.assertEqual(self.changed.touched("HEAD").topics, expected)

    def test_a_page_that_is_deleted_touches_its_topic(self):
        (self.repository.root / "v2_keras/layers.py").unlink()
        self.assertEqual(self.changed.touched("HEAD").topics, ["layers"])

    def test_an_unknown_base_touches_everything(self):
        with contextlib.redirect_stderr(io.StringIO()) as err:
            found = self.changed.touched("no-such-commit")
        parts = list(self.changed.PARTS)
        self.assertEqual(found, (EVERYTHING, parts, EVERYTHING, EVERYTHING))
        self.assertIn("'no-such-commit' is unknown", err.getvalue())

    def test_what_landed_is_three_hours_old_among_first_parents(self):
        self.repository.write("v2_keras/layers.py", "a = 1\n")
        landed = self.repository.commit(hours=5)
        self.repository.git("checkout", "--quiet", "-b", "work", "HEAD~1")
        self.repository.write("v2_eager/losses.py", "a = 1\n")
        self.repository.commit(hours=6)  # newer than what landed, but no first parent
        self.repository.git("checkout", "--quiet", "main")
        self.repository.git("merge", "--quiet", "--no-ff", "--no-commit", "work")
        self.repository.commit(hours=9)
        self.assertEqual(self.changed.landed(), landed)
        self.assertEqual(self.changed.touched("landed")[0], ["losses"])

    def test_in_a_young_history_nothing_has_landed(self):
        self.repository.commit(hours=2)
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(self.changed.touched("landed")[0], EVERYTHING)


if __name__ == "__main__":
    unittest.main()
