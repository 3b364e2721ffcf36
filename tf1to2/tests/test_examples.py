"""The legacy program and its ported twin, which must print the same numbers."""

import pathlib
import subprocess
import sys
import unittest

from tf1to2.scan import findings

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
        self.assertEqual(right.findings, [])

    def test_it_prints_what_the_original_printed_on_1_15_5(self):
        out = subprocess.run(
            [sys.executable, "train.py"],
            cwd=EXAMPLES / "ported",
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(out.stdout, (EXAMPLES / "legacy" / "printed.txt").read_text())
