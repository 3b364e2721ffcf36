"""guide/pair.md names all that a `Pair` takes, and nothing else."""

import dataclasses
import inspect
import re
import unittest

from parameterized import parameterized

from tf1to2 import parity
from tf1to2.pages import topics
from tf1to2.parity import Pair, arrays, cases

TEXT = topics.document("guide/pair.md").read_text("utf-8")
PARTS = dict(re.findall(r"(?ms)^## (.*?)\n(.*?)(?=^## |\Z)", TEXT))
OWN = {"name", "slug", "args", "more", "wide"}  # of a case: what the pair gives, too


def rows(part):
    """The code that begins each row of the tables of a part."""
    return re.findall(r"(?m)^\| `([^`]*)` \|", PARTS[part])


def names(part):
    """The names of the arguments that begin a row."""
    return {row.partition("=")[0] for row in rows(part) if "=" in row}


class ReferenceTest(unittest.TestCase):
    def test_the_arguments_of_a_pair(self):
        taken = set(inspect.signature(Pair).parameters) - {"left", "right"}
        self.assertEqual(names("The pair"), taken)

    def test_the_options_of_a_case(self):
        fields = {field.name for field in dataclasses.fields(cases.Case)}
        added = inspect.signature(Pair._add).parameters.values()
        added = {p.name for p in added if p.default is None or p.default == ""}
        self.assertEqual(names("The options of a case"), (fields | added) - OWN)

    def test_the_kinds_of_case(self):
        told = [
            row.partition("(")[0].removeprefix("pair.") for row in rows("The cases")
        ]
        kinds = [n for n in vars(Pair) if hasattr(cases, _class(n))]
        self.assertEqual([one for one in told if hasattr(Pair, one)], kinds)

    def test_the_descriptions_of_arrays(self):
        told = {row.partition("(")[0] for row in rows("The cases")}
        specs = {n for n in parity.__all__ if hasattr(arrays, n)}
        self.assertEqual({one for one in told if hasattr(arrays, one)}, specs)

    def test_the_ways(self):
        ways = {way for rungs in cases.RUNGS.values() for way in rungs}
        ways |= {*cases.BESIDES, "initial"} - {"keras"}
        self.assertEqual(set(rows("The ways, and what `skip` takes")), ways)

    @parameterized.expand([(kind,) for kind in cases.RUNGS])
    def test_no_way_is_unknown(self, kind):
        """What the page offers, a case takes; but what a kind does not have."""
        for way in cases.RUNGS[kind]:
            made = {"op": cases.Op, "layer": cases.Layer, "program": cases.Program}
            self.assertNotIn(way, made[kind]("f", "x", skip={way: "why"}).ways)


def _class(method):
    """The class of a case that a method of `Pair` adds: false_friend, FalseFriend."""
    return method.title().replace("_", "")


if __name__ == "__main__":
    unittest.main()
