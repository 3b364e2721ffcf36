"""Each chapter has the same order, short paragraphs, and code that runs."""

import ast
import builtins
import dis
import inspect
import re
import unittest

from parameterized import parameterized

from tf1to2 import chapters, topics
from tf1to2.tests.test_structure import ROOT
from tf1to2.view import library

CHAPTERS = [(name, topic) for name, topic in topics.topics().items()]


def text_of(name):
    return (ROOT / "guide" / f"{name}.md").read_text("utf-8")


def shown(name):
    """The pairs that a chapter shows as code."""
    found = chapters.SHOWN.search(text_of(name))
    return found[2].split() if found else []


def code_of(name):
    """[(side, code)] of the blocks that are made in a chapter."""
    found = chapters.SHOWN.search(text_of(name))
    side, blocks = None, []
    for match in re.finditer(
        r"(?ms)^\*\*(TensorFlow [12])\*\*$|^```python\n(.*?)^```$",
        found[0] if found else "",
    ):
        side = match[1] or side
        if match[2]:
            blocks.append((side, match[2]))
    return blocks


class CodeTest(unittest.TestCase):
    @parameterized.expand(CHAPTERS)
    def test_a_link_for_every_pair(self, name, topic):
        linked = {
            pair: target
            for row in chapters.ROW.finditer(text_of(name))
            for pair, target in re.findall(r"\[`(\w+)`\]\(([^)]*)\)", row[2])
        }
        self.assertEqual(sorted(linked), sorted(topic.pairs))
        for pair, target in linked.items():
            if pair in shown(name):
                self.assertEqual(target, f"#{pair}")
                continue
            path, _, line = target.partition("#L")
            lines = (ROOT / "guide" / path).read_text("utf-8").splitlines()
            self.assertRegex(lines[int(line) - 1], rf"^def {pair}\(")

    @parameterized.expand([(n, side) for n, _ in CHAPTERS for side in chapters.SIDES])
    def test_the_code_of_a_side_is_whole(self, name, side):
        blocks = [code for of, code in code_of(name) if of == side]
        old = (3, 7) if side == chapters.SIDES[0] else None
        for code in blocks:
            ast.parse(code, feature_version=old)
            self.assertNotIn("# ---", code)
        text, found = "\n".join(blocks), {}
        exec(text, found)
        missing = _globals(compile(text, name, "exec")) - {*found, *dir(builtins)}
        self.assertEqual(missing, set())
        page = chapters.SIDES.index(side)
        for pair in shown(name):
            node = library.pairs()[f"{name}.{pair}"][page].node
            function = getattr(found[pair], "python_function", found[pair])
            self.assertEqual(
                list(inspect.signature(function).parameters),
                [argument.arg for argument in node.args.args + node.args.kwonlyargs],
            )


def _globals(code):
    """The names that code and the functions in it look up outside of themselves."""
    names = {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
    return names.union(
        *(_globals(inner) for inner in code.co_consts if inspect.iscode(inner))
    )
