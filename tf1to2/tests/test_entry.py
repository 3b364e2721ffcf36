"""README and MIGRATION.md: what a reader sees first is so, and old links still lead."""

import re
import unittest

from parameterized import parameterized

from tf1to2.tests.test_structure import ROOT

MIGRATION = (ROOT / "MIGRATION.md").read_text("utf-8")
# The anchors of the guide when it was one file.
ANCHORS = """
plan words basics graphs tensors variables shapes scopes broadcasting operators
execution_order control_flow data records queues python_ops gradients linear_algebra
numerical_stability debugging cookbook optimizers learning_rates losses regularization
metrics averages layers rnn randomness training_loops estimators checkpoints
converting-files-tf1to2-convert-checkpoint-src-dst saved_models summaries files
feature_columns images parallel distributed numerics
numbers-against-1155-in-float32-by-kernel fast-in-tensorflow-2
between-tensorflow-2-versions error-messages false-friends by-keras symbols
classic-examples--pairs
""".split()
# (text, topic) of the pairs that are shown: the old side, then the new one.
SHOWN = [("README.md", "basics"), ("MIGRATION.md", "execution_order")]


def lines(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


class EntryTest(unittest.TestCase):
    @parameterized.expand([(anchor,) for anchor in ANCHORS])
    def test_old_links_lead_somewhere(self, anchor):
        titles = re.findall(r"(?m)^#+ (.+)$", MIGRATION)
        slugs = [re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") for t in titles]
        ids = re.findall(r'<a id="([^"]+)">', MIGRATION)
        self.assertEqual([*slugs, *ids].count(anchor), 1)

    @parameterized.expand(SHOWN)
    def test_the_pair_that_is_shown_is_on_the_pages(self, name, topic):
        text = (ROOT / name).read_text("utf-8")
        blocks = re.findall(r"(?ms)^```python\n(.*?)^```", text)[:2]
        for package, block in zip(("v1_graph", "v2_eager"), blocks, strict=True):
            page = (ROOT / package / f"{topic}.py").read_text("utf-8")
            self.assertEqual(set(lines(block)) - set(lines(page)), set())

    def test_no_column_is_told_twice(self):
        readme = (ROOT / "README.md").read_text("utf-8")
        (table,) = re.findall(r"(?m)^\| column \|.*\n((?:\|.*\n)+)", readme)
        first = [row.split("|")[1] for row in table.splitlines()]
        self.assertEqual(len(first), len(set(first)))


if __name__ == "__main__":
    unittest.main()
