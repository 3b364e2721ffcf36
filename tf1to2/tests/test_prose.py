"""The lint for words finds what makes a reader stop, in prose alone."""

import pathlib
import tempfile
import unittest

from parameterized import parameterized

from upkeep import prose

CLEAN = {
    "code in a text.md": "Call `tells(anew)`.\n\n```python\ntells = anew\n```\n",
    "a generated part.md": "<!-- table pairs: a -->\nIt tells anew.\n<!-- end -->\n",
    "a question.md": "What is faster?\n",
    "a name.py": "tells = anew('tells')\n",
    "a key.py": "x = {'is none': 1}\n",
}
FOUND = [
    ("a text.md", "One.\n\nTwo stands here.\n", 3, "stands"),
    ("a cell.md", "| `x` | What it was. |\n", 1, "What it was."),
    ("a docstring.py", '"""Reads.\n\nIt heeds it.\n"""\n', 3, "heeds"),
    ("a comment.py", "x = 1\n# It bears a name.\n", 2, "bears"),
    ("a message.py", "raise ValueError('this was made anew')\n", 1, "anew"),
    ("a formatted message.py", "print(f'{x}: there is told of it')\n", 1, "told"),
]


def found(name, text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, name)
        path.write_text(text, "utf-8")
        return list(prose.found(path))


class ProseTest(unittest.TestCase):
    @parameterized.expand(CLEAN.items())
    def test_it_leaves_alone(self, name, text):
        self.assertEqual(found(name, text), [])

    @parameterized.expand(FOUND)
    def test_it_finds(self, name, text, line, shown):
        self.assertEqual([row[:2] for row in found(name, text)], [(line, shown)])

    def test_each_rule_finds_something(self):
        texts = """
            anew|stands|stood|told|bears|heed|spelt|farther|has not a|that there is not
            is none|in two classes|stranger|likeliest|in halves|What is.|Who is.
            Of a list,|By a list,|Parts
        """
        tried = [t.strip() for line in texts.split("\n") for t in line.split("|")]
        rules = [r for text in filter(None, tried) for *_, r in found("a.md", text)]
        self.assertEqual([rule for rule in prose.RULES if rule not in rules], [])
