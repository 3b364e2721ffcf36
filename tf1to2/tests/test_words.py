"""Words that messages have in common."""

import unittest

from parameterized import parameterized

from tf1to2.common import words

KNOWN = ["export", "port"]


class WordsTest(unittest.TestCase):
    @parameterized.expand(
        [("a slip", "prot", "did you mean port?"), ("nothing like it", "zzz", "")]
    )
    def test_nearest(self, _, word, hint):
        self.assertEqual(words.nearest(word, KNOWN), hint)

    @parameterized.expand(
        [
            ("a slip", "prot", "no topic called 'prot'; did you mean port?"),
            (
                "nothing like it",
                "zzz",
                "no topic called 'zzz'; there are: export, port",
            ),
        ]
    )
    def test_no_such(self, _, word, message):
        self.assertEqual(words.no_such("topic", word, KNOWN), message)

    @parameterized.expand(
        [("none", 0, "0 rows"), ("one", 1, "1 row"), ("several", 2, "2 rows")]
    )
    def test_counted(self, _, count, text):
        self.assertEqual(words.counted(count, "row"), text)
