"""Tab-separated tables are read whole, and a broken line is named."""

import pathlib
import tempfile
import unittest

from parameterized import parameterized

from tf1to2.common import tsv


def rows(text, complete=True):
    """The rows of a file with this text."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "table.tsv")
        path.write_text(text, "utf-8")
        return tsv.rows(path, complete)


class RowsTest(unittest.TestCase):
    def test_comments_and_empty_lines_are_skipped(self):
        text = '# notes\n\nname\tsays\n# more\ntf.a\t"it" # is\ntf.b\t\n'
        self.assertEqual(
            rows(text),
            [{"name": "tf.a", "says": '"it" # is'}, {"name": "tf.b", "says": ""}],
        )

    def test_missing_cells_are_empty_where_that_is_allowed(self):
        found = rows("name\tsays\ntf.a\n", complete=False)
        self.assertEqual(found, [{"name": "tf.a", "says": ""}])

    @parameterized.expand(
        [
            ("too few cells", "tf.a", True, 1),
            ("too many cells", "tf.a\tb\tc", True, 3),
            ("too many where some may be missing", "tf.a\tb\tc", False, 3),
        ]
    )
    def test_a_broken_line_is_named(self, _, line, complete, count):
        message = f"^table.tsv, line 3: {count} cells, .* 2 columns: name, says$"
        with self.assertRaisesRegex(ValueError, message):
            rows(f"# notes\nname\tsays\n{line}\n", complete)
