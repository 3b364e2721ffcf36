"""README and MIGRATION.md: what a reader sees first is so, and old links still lead."""

import re
import unittest

from parameterized import parameterized

from tf1to2.pages import library, topics
from tf1to2.tests.test_structure import ROOT

MIGRATION = (ROOT / "MIGRATION.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")
PAIR = "basics.train_classifier"  # what README shows, as a picture and as text
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
SHOWN = [("README.md", "basics"), ("MIGRATION.md", "basics")]


def lines(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def bodies(pair):
    """[lines of the body of each side], without the docstring."""
    return [
        d.module.lines[d.node.body[0].end_lineno : d.stop - 1]
        for d in library.pairs()[pair]
    ]


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

    def test_readme_shows_the_whole_body_of_its_pair(self):
        blocks = re.findall(r"(?ms)^```python\n(.*?)^```", README)[:2]
        for body, block in zip(bodies(PAIR), blocks, strict=True):
            body = [line for line in lines("\n".join(body)) if line[:5] != "# ---"]
            self.assertEqual(lines(block), body, f"{PAIR} has changed: README.md")

    def test_readme_says_the_numbers_of_its_sources(self):
        known = topics.topics().values()
        pairs = sum(len(topic.pairs) for topic in known)
        far = [far for topic in known for far in topic.distances.values() if far]
        float32 = (ROOT / "guide" / "float32.md").read_text("utf-8")
        every, same, near = (
            int(number.replace(",", ""))
            for number in re.search(
                r"Of ([\d,]+) float arrays ([\d,]+) .* ([\d,]+) of the other", float32
            ).groups()
        )
        for said in (
            f"This is one of {pairs} pairs in {len(known)} topics",
            f"{same / every:.0%} of the arrays are identical to 1.15.5's, "
            f"{(same + near) / every:.0%} are within 1e-6 of their largest value",
            f"at most {max(far):.1%} of the largest value",
        ):
            self.assertIn(said, README, f"README.md must say: {said}")

    def test_no_column_of_a_proof_is_named_twice(self):
        proof = (ROOT / "guide" / "proof.md").read_text("utf-8")
        (table,) = re.findall(r"(?m)^\| column \|.*\n((?:\|.*\n)+)", proof)
        first = [row.split("|")[1] for row in table.splitlines()]
        self.assertEqual(len(first), len(set(first)))

    def test_readme_says_what_a_port_in_the_examples_has(self):
        port = (ROOT / "guide" / "port.md").read_text("utf-8")
        (said,) = re.findall(r"(?m)^\d+ cases: .* proven$", README)
        self.assertIn(said, port)

    def test_readme_names_every_group(self):
        groups = re.findall(r"(?m)^- \[(.+?)\]\(MIGRATION\.md#(.+?)\): ", README)
        self.assertEqual([title for title, _ in groups], list(topics.groups()))
        for title, anchor in groups:
            slug = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
            self.assertEqual(anchor, slug)

    def test_readme_leads_to_files_that_are_there(self):
        links = re.findall(r"(?:\]\(|src=\"|srcset=\")([^)\"#]+)", README)
        self.assertGreater(len(links), 30)
        missing = [link for link in links if not (ROOT / link).exists()]
        self.assertEqual(missing, [])


if __name__ == "__main__":
    unittest.main()
