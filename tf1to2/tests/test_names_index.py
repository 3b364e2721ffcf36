"""guide/names/ tells of every name, each once."""

import re
import unittest

import pytest

from tf1to2.catalog import entries
from tf1to2.tests.test_structure import ROOT
from upkeep import names_index

FOLDER = ROOT / "guide" / "names"


class NamesTest(unittest.TestCase):
    @pytest.mark.tables
    def test_the_folder_has_what_is_made_and_nothing_else(self):
        there = {path.name: path.read_text("utf-8") for path in FOLDER.iterdir()}
        self.assertEqual(there, names_index.files())

    def test_every_name_stands_once(self):
        listed = []
        for path in FOLDER.glob("*.md"):
            for line in path.read_text("utf-8").split("\n"):
                if line.startswith("| `"):
                    listed.append(line.split("`")[1])
                elif line.startswith(("`", "The same")):
                    text = line.partition("`: ")[0] + "`"
                    listed += re.findall(r"`([^`]*)`", text)
        self.assertEqual(sorted(listed), entries.symbols())

    def test_the_entry_leads_to_headings(self):
        entry = (FOLDER / "README.md").read_text("utf-8")
        links = re.findall(r"\[(.*?)\]\((\S+\.md)#", entry)
        self.assertGreater(len(links), 50)
        for module, file in links:
            text = (FOLDER / file).read_text("utf-8")
            self.assertIn(f"\n## {module}\n", text)
