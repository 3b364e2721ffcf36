"""Every false friend that is proven stands in the guide, by a name of TensorFlow 1."""

import json
import re
import unittest

from tf1to2.catalog import entries
from tf1to2.tests.test_structure import ROOT
from upkeep import friends

PROOFS = json.loads((ROOT / "parity_tests" / "proofs.json").read_text("utf-8"))
PROVEN = {
    (f"{topic}.{name}", friend["slug"]): friend
    for topic, pairs in PROOFS.items()
    for name, pair in pairs.items()
    for friend in pair["false friends"]
}


class FriendsTest(unittest.TestCase):
    def test_each_has_a_name_and_each_name_is_proven(self):
        self.assertEqual(sorted(friends.named()), sorted(PROVEN))

    def test_names_are_those_of_1_15(self):
        known = set(entries.symbols())
        for name, _ in friends.named().values():
            for symbol in re.findall(r"tf\.[\w.]+", name):
                with self.subTest(name=name):
                    # A member stands below its class.
                    self.assertTrue(known & {symbol, symbol.rpartition(".")[0]})

    def test_each_name_has_an_anchor_of_its_own(self):
        anchors = [friends.anchor(name) for name, _ in friends.named().values()]
        self.assertEqual(len(set(anchors)), len(anchors))

    def test_what_is_shown_differs(self):
        for key, friend in PROVEN.items():
            with self.subTest(friend=key):
                self.assertNotEqual(friend["left"], friend["naive"])

    def test_the_fifteen_most_dangerous_are_proven(self):
        self.assertEqual(len(friends.DANGEROUS), 15)
        self.assertLessEqual(set(friends.DANGEROUS), set(PROVEN))
