"""The legacy program and its ported twin, which must print the same numbers."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

import pytest

from tf1to2.scan import findings
from tf1to2.view import take
from upkeep import chapters

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


class ExamplesTest(unittest.TestCase):
    def test_the_legacy_program_is_wholly_read(self):
        report = findings.scan([str(EXAMPLES / "legacy")])
        self.assertEqual(report.unread, [])
        self.assertEqual(report.unused, [])
        self.assertGreater(len(report.findings), 30)
        cells = {f.cell for f in report.findings if f.path.endswith(".ipynb")}
        self.assertEqual(cells, {2, 3})

    def test_the_ported_twin_is_clean(self):
        self.assertEqual(findings.scan([str(EXAMPLES / "ported")]).findings, [])

    def test_every_left_page_is_found_out_and_every_right_page_is_clean(self):
        left, right = (
            findings.scan([str(EXAMPLES.parent / name)])
            for name in ("v1_graph", "v2_eager")
        )
        self.assertEqual(len({f.path for f in left.findings}), left.files - 1)
        # bridges.py is about what of compat.v1 works today: it calls it.
        found = {pathlib.Path(f.path).name for f in right.findings}
        self.assertEqual(found, {"bridges.py"})

    def test_it_prints_what_the_original_printed_on_1_15_5(self):
        out = subprocess.run(
            [sys.executable, "train.py"],
            cwd=EXAMPLES / "ported",
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(out.stdout, (EXAMPLES / "legacy" / "printed.txt").read_text())

    def leaves(self, port, test="test_port.py"):
        """What `prove` says of each leaf; nothing is written beside the port."""
        out = subprocess.run(
            [sys.executable, "-m", "tf1to2", "prove", test, "--format=json"],
            cwd=EXAMPLES / port,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
        )
        self.assertEqual(out.returncode, 0, out.stdout[-2000:] + out.stderr[-2000:])
        return [x for case in json.loads(out.stdout)["cases"] for x in case["leaves"]]

    @pytest.mark.slow
    def test_the_port_is_proven(self):
        """A user's repository in small."""
        leaves = self.leaves("port")
        self.assertGreater(len(leaves), 150)
        for leaf in leaves:
            with self.subTest(leaf=leaf["leaf"]):
                # Data are whole numbers: there is nothing to widen.
                self.assertEqual(leaf.get("float64", leaf["float32"]), "identical")

    @pytest.mark.slow
    def test_a_port_by_keras_is_proven(self):
        leaves = self.leaves("port_keras")
        apart = [leaf["leaf"] for leaf in leaves if leaf["float64"] != "identical"]
        drawn = {"initial/net/hidden/kernel:0", "initial/net/logits/kernel:0"}
        self.assertEqual((len(leaves), set(apart)), (46, drawn))

    def test_what_the_chapters_begin_with_is_proven(self):
        leaves = self.leaves("in_short", "test_in_short.py")
        self.assertGreater(len(leaves), 50)
        for leaf in leaves:
            with self.subTest(leaf=leaf["leaf"]):
                self.assertEqual(leaf.get("float64", leaf["float32"]), "identical")

    def test_the_numerics_of_the_chapters_are_what_take_writes(self):
        ported = EXAMPLES / "in_short" / "ported"
        stems = {path.stem for path in ported.glob("*.py")}
        names = sorted(
            {
                name
                for chapter in stems - {"legacy_numerics"}
                for name in chapters.taken(chapter)
            }
        )
        path = ported / "legacy_numerics.py"
        mend = f"tf1to2 take {' '.join(names)} --output-file {path}"
        self.assertEqual(path.read_text("utf-8"), take.taken(names), mend)

    def test_the_port_by_keras_is_what_the_chapter_shows(self):
        chapter = (EXAMPLES.parent / "guide" / "port.md").read_text("utf-8")
        keras = chapter.partition("\n## When the port is Keras\n")[2]
        shown = re.findall(r"(?ms)^```python\n(.*?)^```$", keras)
        files = [EXAMPLES / "port_keras" / n for n in ("left", "port", "test_port")]
        texts = [file.with_suffix(".py").read_text("utf-8") for file in files]
        self.assertEqual(shown, [text.split("\n", 2)[2] for text in texts])

    def test_the_port_is_clean_and_short_to_prove(self):
        port = EXAMPLES / "port"
        sources = [str(port / name) for name in ("ported", "test_port.py")]
        self.assertEqual(findings.scan(sources).findings, [])
        self.assertGreater(len(findings.scan([str(port / "legacy")]).findings), 90)
        text = (port / "test_port.py").read_text("utf-8")
        self.assertLessEqual(text.count("\n"), 30)

    def test_the_numerics_of_the_port_are_what_take_writes(self):
        chapter = (EXAMPLES.parent / "guide" / "port.md").read_text("utf-8")
        names = re.search(r"(?m)^\$ tf1to2 take (.*) --output-file", chapter)[1].split()
        taken = (EXAMPLES / "port/ported/legacy_numerics.py").read_text("utf-8")
        self.assertEqual(taken, take.taken(names))
