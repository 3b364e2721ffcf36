"""guide/symptoms.md: each cause says how to see it and what to write, and is proven."""

import ast
import os
import re
import runpy
import tempfile
import unittest

import pytest
from parameterized import parameterized

from tf1to2.pages import topics
from tf1to2.tests.test_errors import BORNE, at_hand

pytestmark = [pytest.mark.filterwarnings(warning) for warning in BORNE]
TEXT = topics.document("guide/symptoms.md").read_text("utf-8")
SECTIONS = [
    (part.partition("\n")[0], re.split(r"(?m)^## ", part)[0])
    for part in re.split(r"(?m)^### ", TEXT)[1:]
]
CAUSE = re.compile(r"- \*\*[^*]+\.\*\* (?:[^*]+\. )?See: .+\. Write: .+\. \[")
LINK = re.compile(r"\[(\w+)\.(\w+)\]\(([\w.]+)\)")
CAUSES = [
    (f"{heading}: {line[4:40]}", line)
    for heading, text in SECTIONS
    for line in text.splitlines()
    if line.startswith("- ")
]
# What is typed elsewhere than in a program of Python.
COMMANDS = re.compile(r"tf1to2 |nvidia-smi")
WANTED = """
The loss does not go down
The loss is NaN
Accuracy is lower than before
Numbers differ from run to run
Numbers differ from TensorFlow 1's
It is slower
Out of memory
Memory grows
Nothing is written
Nothing is restored
The model does not train some variables
It hangs
The graph is traced again and again
The validation differs from the training
Predictions differ after loading
Dropout or batch norm behaves as in training
The learning rate does not change
fit stops early
""".strip().splitlines()


def parsed(span):
    """The tree of a span of code, in which "…" is a gap."""
    code = span.replace("…", "...")
    if code.startswith("@"):
        code += "\ndef f(): pass"
    elif code == "finally:":
        code = f"try: pass\n{code} pass"
    elif code.endswith(":"):
        code += " pass"
    elif re.match(r"\w+=", code):  # arguments of a call
        code = f"f({code})"
    return ast.parse(code)


class SymptomsTest(unittest.TestCase):
    def test_the_symptoms_that_people_have(self):
        headings = [heading.partition(" (")[0] for heading, _ in SECTIONS]
        self.assertEqual(sorted(headings), sorted(WANTED))

    @parameterized.expand(SECTIONS)
    def test_a_symptom_has_causes_and_a_block(self, _, text):
        self.assertGreaterEqual(text.count("\n- "), 4)
        self.assertEqual(text.count("```python\n"), 1)

    @parameterized.expand(CAUSES)
    def test_a_cause_says_how_to_see_it_and_what_to_write(self, _, line):
        self.assertRegex(line, CAUSE)

    @parameterized.expand(CAUSES)
    def test_a_cause_leads_to_pairs(self, _, line):
        links = LINK.findall(line)
        self.assertTrue(links)
        for topic, name, page in links:
            self.assertEqual(page, f"{topic}.md")
            self.assertIn(name, topics.topics()[topic].pairs)

    @parameterized.expand(CAUSES)
    def test_what_to_write_is_python(self, _, line):
        written = line.partition("Write: ")[2]
        for span in re.findall(r"`([^`]+)`", written):
            if not COMMANDS.match(span):
                with self.subTest(span=span):
                    parsed(span)

    @parameterized.expand(
        [("a_bracket_that_is_open", "f(1"), ("two_words", "take a smaller batch")]
    )
    def test_what_is_no_python_is_told(self, _, span):
        with self.assertRaises(SyntaxError):
            parsed(span)


class BlocksTest(unittest.TestCase):
    @parameterized.expand(SECTIONS)
    def test_it_runs(self, _, text):
        (code,) = re.findall(r"(?ms)^```python\n(.*?)^```$", text)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "seen.py")  # AutoGraph reads its source
            with open(path, "w", encoding="utf-8") as file:
                file.write(code)
            runpy.run_path(path, at_hand(folder))


if __name__ == "__main__":
    unittest.main()
