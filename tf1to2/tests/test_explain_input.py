"""What `tf1to2 explain` takes: text, from an argument or the standard input."""

import argparse
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

from parameterized import parameterized

from tf1to2.common.errors import CommandError
from tf1to2.explain import command, resolve


class InputTest(unittest.TestCase):
    """What is no question gets one line that says what to do."""

    def refused(self, text, read=b""):
        stdin = mock.Mock(buffer=io.BytesIO(read))
        options = argparse.Namespace(symbol=text, format="text", full=False)
        with mock.patch.object(sys, "stdin", stdin):
            with self.assertRaises(CommandError) as caught:
                command.run(options)
        return str(caught.exception)

    @parameterized.expand([("", b""), (" \n ", b""), ("-", b""), ("-", b"\n")])
    def test_nothing(self, text, read):
        self.assertIn("the input is empty", self.refused(text, read))

    def test_no_text(self):
        self.assertIn("the input is not text", self.refused("-", b"\x7fELF\0\0"))

    def test_a_path(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(
                self.refused(folder),
                f"{folder} is a folder: run tf1to2 scan {folder}",
            )
            path = pathlib.Path(folder, "trace_of_today.log")
            path.write_text("")
            told = f"{path} is a file: run tf1to2 explain - < {path}"
            self.assertEqual(self.refused(str(path)), told)

    def test_what_a_terminal_obeys_is_not_printed(self):
        told = self.refused("zork\x1b]0;title\x07blorp\x1b[2J\x1b[31m")
        self.assertIn("has no zorkblorp", told)

    def test_a_long_line_counts_by_its_beginning(self):
        text = "AttributeError: module 'tensorflow' has no attribute 'placeholder' "
        asked = command._text(text + "x y " * 25000)
        self.assertEqual(len(asked), command.LONGEST)
        self.assertIn("tf.placeholder", resolve.resolve(asked).names[0].symbol)

    def test_spaces_in_a_call_change_nothing(self):
        found = resolve.resolve("tf.layers.conv2d(x, 3, 3, activation=tf.nn.relu)")
        self.assertEqual(
            (found.by, found.names[0].symbol), ("name", "tf.layers.conv2d")
        )


if __name__ == "__main__":
    unittest.main()
