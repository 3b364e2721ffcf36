import ast
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
from unittest import mock

from parameterized import parameterized

from tf1to2.common import tables
from tf1to2.pages import align, docstrings, library, sides, terminal, topics
from tf1to2.tests.commands import command

LEFT = textwrap.dedent(
    '''\
    """Head."""
    import old

    __all__ = ["one", "two"]


    def one(x):
        # --- build
        y = old.placeholder(x)
        z = y + 1
        # --- run
        return old.run(z)


    def helper():
        return 1


    @decorated
    def two():
        return 2
    '''
)
RIGHT = (
    LEFT.replace("old.", "new.")
    .replace("    z = y + 1\n", "")
    .replace("def helper", "def other_helper")
)


def aligned(left, right, name):
    (ours,) = [b for b in align.blocks(left, ["one", "two"]) if b.name == name]
    (theirs,) = [b for b in align.blocks(right, ["one", "two"]) if b.name == name]
    a, b = left.splitlines(), right.splitlines()
    return ours, theirs, align.align(a, b, ours, theirs)


WHOLE = textwrap.dedent(
    """\
    Scales x.

    It takes a batch.

    Args:
        x: [n] tensor.
        factor: a number, or
            one per row.

    Returns:
        Tensor like `x`.

    Raises:
        ValueError: no rows."""
)


class DocstringsTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("the_first_line", "Scales x.", WHOLE),
            ("all_of_it", WHOLE, WHOLE),
            (
                "a_paragraph",
                "Scales x.\n\nIn a function.",
                WHOLE.replace("a batch.", "a batch.\n\nIn a function."),
            ),
            (
                "another_entry",
                "Scales x.\n\nArgs:\n    x: [n] tensor or array.",
                WHOLE.replace("[n] tensor.", "[n] tensor or array."),
            ),
            (
                "an_error_more",
                "Scales x.\n\nRaises:\n    TypeError: a text.",
                WHOLE + "\n    TypeError: a text.",
            ),
            (
                "another_result",
                "Scales x.\n\nReturns:\n    Array.",
                WHOLE.replace("Tensor like `x`.", "Array."),
            ),
        ]
    )
    def test_the_whole_docstring_of(self, _, right, whole):
        self.assertEqual(docstrings.whole(WHOLE, right), whole)

    def test_what_the_left_page_lacks(self):
        self.assertEqual(docstrings.whole("Scales x.", WHOLE), WHOLE)

    def test_only_pairs_are_completed(self):
        left = WHOLE.replace("a batch", r'\alpha of """')
        source = '''def scale(x):
    """Scales x."""
    return x


class Scale:
    """Scales x."""


def other(x):
    return x
'''
        text = docstrings.completed(
            source, {"scale": left, "Scale": WHOLE, "other": ""}
        )
        function, scale, _ = ast.parse(text).body
        self.assertEqual(ast.get_docstring(function), left)
        self.assertEqual(ast.get_docstring(scale), "Scales x.")
        start = text.index("class")
        self.assertEqual(text[start:], source[source.index("class") :])


class AlignTest(unittest.TestCase):
    def test_blocks_belong_to_public_names(self):
        found = [(b.name, b.start, b.stop) for b in align.blocks(LEFT, ["one", "two"])]
        self.assertEqual(found, [("", 1, 5), ("one", 7, 17), ("two", 19, 22)])

    @parameterized.expand([("head", ""), ("body", "one"), ("same", "two")])
    def test_every_line_stands_once(self, _, name):
        ours, theirs, rows = aligned(LEFT, RIGHT, name)
        self.assertEqual(
            [r.left for r in rows if r.left], list(range(ours.start, ours.stop))
        )
        self.assertEqual(
            [r.right for r in rows if r.right], list(range(theirs.start, theirs.stop))
        )
        a, b = LEFT.splitlines(), RIGHT.splitlines()
        for row in rows:
            same = row.left and row.right and a[row.left - 1] == b[row.right - 1]
            self.assertEqual(row.same, bool(same))

    def test_steps_stand_beside_each_other(self):
        *_, rows = aligned(LEFT, RIGHT, "one")
        a, b = LEFT.splitlines(), RIGHT.splitlines()
        for row in rows:
            if row.left and "# ---" in a[row.left - 1]:
                self.assertEqual(a[row.left - 1], b[row.right - 1])

    def test_alike_lines_stand_beside_each_other(self):
        *_, rows = aligned(LEFT, RIGHT, "one")
        a, b = LEFT.splitlines(), RIGHT.splitlines()
        pairs = [
            (row.left and a[row.left - 1], row.right and b[row.right - 1])
            for row in rows
        ]
        self.assertIn(
            ("    y = old.placeholder(x)", "    y = new.placeholder(x)"), pairs
        )
        self.assertIn(("    z = y + 1", None), pairs)

    @parameterized.expand([(name,) for name in topics.topics()])
    def test_every_topic_aligns_completely(self, name):
        topic = topics.topics()[name]
        sources = [path.read_text("utf-8") for path in (topic.v1, topic.v2)]
        ours, theirs = (align.blocks(source, topic.pairs) for source in sources)
        self.assertEqual([b.name for b in ours], ["", *topic.pairs])
        self.assertEqual([b.name for b in theirs], ["", *topic.pairs])


class LibraryTest(unittest.TestCase):
    def test_a_helper_has_one_place_on_each_side(self):
        """The modules of a page that is a package do not define a name twice."""
        for rows in library.helpers().values():
            for place, definitions in rows:
                sides = [d.module.name.partition(".")[0] for d in definitions]
                self.assertEqual(len(sides), len(set(sides)), place)


class TerminalTest(unittest.TestCase):
    topic = sides.of_topic(topics.topics()["broadcasting"])

    def test_plain_text_has_no_escapes_and_keeps_to_its_width(self):
        text = terminal.side_by_side(self.topic, "make_merge", 120)
        self.assertNotIn("\x1b", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 120)
        self.assertIn("tf.get_variable", text)
        self.assertIn("tf.Variable", text)
        self.assertNotIn("add_tiled", text)

    def test_colour_changes_nothing_but_colour(self):
        plain = terminal.side_by_side(self.topic, None, 140)
        coloured = terminal.side_by_side(self.topic, None, 140, colour=True)
        self.assertIn("\x1b[35m", coloured)
        stripped = re.sub(r"\x1b\[[\d;]*m", "", coloured)
        self.assertEqual(
            [line.rstrip() for line in stripped.splitlines()],
            [line.rstrip() for line in plain.splitlines()],
        )

    def test_wrapping_loses_nothing(self):
        text = terminal.side_by_side(self.topic, "add_broadcast", 61)
        left = "".join(line[:29].rstrip() for line in text.splitlines()[2:])
        source = (
            self.topic.left.path.read_text()
            .split("def add_broadcast")[1]
            .split("\n\n\n")[0]
        )
        self.assertEqual(
            left.replace(" ", ""),
            ("def add_broadcast" + source).replace(" ", "").replace("\n", ""),
        )

    def test_unified_is_a_patch(self):
        with tempfile.TemporaryDirectory() as folder:
            for package, path in (
                ("v1_graph", self.topic.left.path),
                ("v2_eager", self.topic.right.path),
            ):
                target = pathlib.Path(folder) / package
                target.mkdir()
                (target / path.name).write_text(path.read_text())
            subprocess.run(
                ["patch", "-s", f"v1_graph/{self.topic.left.path.name}"],
                input=terminal.unified(self.topic),
                text=True,
                check=True,
                cwd=folder,
            )
            patched = (
                pathlib.Path(folder) / "v1_graph" / self.topic.left.path.name
            ).read_text()
        self.assertEqual(patched, self.topic.right.source)

    def test_tables_line_up(self):
        text = tables.table(["a", "long head"], [["wider cell", "x"]])
        self.assertEqual(
            text.splitlines(),
            ["a           long head", "──────────  ─────────", "wider cell  x"],
        )


class CommandTest(unittest.TestCase):
    def test_topics_lists_every_topic(self):
        status, out, err = command("topics")
        self.assertEqual((status, err), (0, ""))
        for name, topic in topics.topics().items():
            self.assertIn(name, out)
            self.assertIn(topic.lesson, out)
        self.assertNotIn("stale", out)

    def test_a_lesson_is_a_sentence_of_its_own(self):
        lessons = [topic.lesson for topic in topics.topics().values()]
        self.assertEqual(len(lessons), len(set(lessons)))
        for lesson in lessons:
            self.assertRegex(lesson, r"^[A-Z`].*\.$")
            self.assertEqual(lesson.count("`") % 2, 0, lesson)

    @parameterized.expand(
        [
            ("a_topic", ["diff", "broadcastin"], "did you mean broadcasting?"),
            ("a_pair", ["diff", "broadcasting.merge"], "did you mean make_merge?"),
            ("nothing_near_to_verify", ["verify", "qqq"], "there are: "),
        ]
    )
    def test_a_mistyped_name_suggests_the_nearest(self, _, argv, hint):
        status, out, err = command(*argv)
        self.assertEqual((status, out), (2, ""))
        self.assertIn(hint, err)
        self.assertEqual(err.count("\n"), 1)

    @parameterized.expand(
        [("none", []), ("unknown", ["frobnicate"]), ("flag", ["topics", "-x"])]
    )
    def test_bad_usage(self, _, argv):
        status, _, err = command(*argv)
        self.assertEqual(status, 2)
        self.assertIn("usage: tf1to2", err)

    def test_diff(self):
        status, out, _ = command("diff", "broadcasting.add_tiled", "--unified")
        self.assertEqual(status, 0)
        status, out, _ = command("diff", "broadcasting")
        self.assertEqual(status, 0)
        self.assertIn("v2_eager/broadcasting.py", out)

    def test_a_closed_pipe_is_no_error(self):
        line = f"{sys.executable} -m tf1to2.cli diff broadcasting | head -n 1"
        shell = subprocess.run(line, shell=True, capture_output=True, text=True)
        self.assertEqual(shell.stderr, "")


class VerifyTest(unittest.TestCase):
    def test_json(self):
        status, out, _ = command(
            "verify", "broadcasting.add_broadcast", "--format", "json"
        )
        report = json.loads(out)
        self.assertEqual((status, report["failures"]), (0, []))
        (cells,) = report["pairs"].values()
        self.assertEqual({c["verdict"] for c in cells.values()}, {"identical"})
        self.assertIn("1.15.5", report["environment"]["recorded on"])

    def test_a_mismatch_is_shown_and_is_exit_status_1(self):
        from v2_eager import broadcasting

        with mock.patch.object(broadcasting, "add_broadcast", lambda a, b: a - b):
            status, out, _ = command("verify", "broadcasting.add_broadcast")
        self.assertEqual(status, 1)
        self.assertIn("FAILS", out)
        self.assertIn("ULP", out)
        self.assertNotIn("Traceback", out)

    def test_without_tensorflow_it_says_what_to_install(self):
        with mock.patch.dict(sys.modules, {"tf1to2.parity.settings": None}):
            status, _, err = command("verify", "broadcasting")
        self.assertEqual(status, 2)
        self.assertIn('its extra "tensorflow"', err)
        self.assertEqual(err.count("\n"), 1)
