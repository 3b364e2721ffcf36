"""What the guide says of versions is what `make test-versions` runs, and covers all."""

import ast
import re
import unittest

from parity_tests.exceptions import BOUNDS
from tf1to2.parity import distances, float32
from tf1to2.probes import probes
from tf1to2.tests.test_structure import PROJECT, ROOT

INSTALL = (ROOT / "guide" / "install.md").read_text("utf-8")
GUIDE = (ROOT / "guide" / "releases.md").read_text("utf-8")


def listed(name):
    """A list of noxfile.py, read without nox."""
    for node in ast.parse((ROOT / "noxfile.py").read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return ast.literal_eval(node.value)
    raise LookupError(name)


def ranges(requirements):
    """{distribution: its range} of a list in pyproject.toml."""
    return dict(line.partition(" ")[::2] for line in requirements)


class VersionsTest(unittest.TestCase):
    def test_the_chapter_names_the_pairs(self):
        pairs = re.findall(r"^\| (3\.\d+) \| (2\.\d+) \|", INSTALL, re.M)
        self.assertEqual(pairs, listed("PAIRS"))

    def test_every_python_and_every_tensorflow_is_in_a_pair(self):
        pythons, tensorflows = map(set, zip(*listed("PAIRS")))
        self.assertEqual(pythons, {f"3.{n}" for n in range(10, 14)})
        low, high = re.fullmatch(
            r">=2\.(\d+),<2\.(\d+)",
            ranges(PROJECT["optional-dependencies"]["tensorflow"])["tensorflow"],
        ).groups()
        self.assertEqual(tensorflows, {f"2.{n}" for n in range(int(low), int(high))})

    def test_the_oldest_parsers_are_the_oldest_that_are_allowed(self):
        allowed = ranges(PROJECT["dependencies"])
        for pin in listed("PARSERS")["oldest"]:
            name, version = pin.split("==")
            low = allowed[name].partition(",")[0].removeprefix(">=")
            self.assertEqual(version, f"{low}.0")

    def test_every_row_of_the_guide_leads_to_its_test(self):
        rows = re.findall(r"^\| .+ \| \[(\w+)\]\(\.\./(\S+)\) \|$", GUIDE, re.M)
        self.assertTrue(rows)
        for name, path in rows:
            self.assertIn(f"{name}", (ROOT / path).read_text("utf-8"), path)

    def test_every_answer_that_depends_on_a_release_has_its_row(self):
        for path in sorted((ROOT / "parity_tests").glob("test_*.py")):
            if "import here" in path.read_text("utf-8"):
                self.assertIn(f"(../parity_tests/{path.name})", GUIDE)
        folder = ROOT / "parity_tests"
        tables = (
            float32.Table(folder / "float32.tsv"),
            distances.Table(folder / "keras.tsv"),
        )
        said = [(bound.pair, bound.where) for bound in BOUNDS]
        said += [(probe.name, probe.where) for probe in probes()]
        said += [(r.pair, r.where) for t in tables for r in t.by_release.values()]
        for name, where in said:
            if where:
                self.assertIn(f"`{name}`", GUIDE, where)
