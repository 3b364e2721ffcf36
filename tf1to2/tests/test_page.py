"""The page holds together: every pair, anchor and link, and nothing from outside."""

import html.parser
import json
import pathlib
import re
import tempfile
import unittest

from parameterized import parameterized

from tf1to2 import cli, topics
from tf1to2.view import markdown, page


class Reader(html.parser.HTMLParser):
    """Collects ids, links and the balance of tags."""

    VOID = {"meta", "link", "input", "br"}

    def __init__(self):
        super().__init__()
        self.ids, self.links, self.open, self.texts = [], [], [], {}

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "a":
            self.links.append(attributes["href"])
        for name in ("src", "href"):
            if attributes.get(name, "").startswith(("http:", "//")):
                raise AssertionError(f"{tag} loads {attributes[name]}")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = page.build()
        cls.reader = Reader()
        cls.reader.feed(cls.text)

    def test_every_tag_is_closed(self):
        self.assertEqual(self.reader.open, [])

    def test_every_topic_and_pair_has_its_anchor(self):
        for name, topic in topics.topics().items():
            for anchor in (name, *(f"{name}.{pair}" for pair in topic.pairs)):
                self.assertIn(anchor, self.reader.ids)

    def test_anchors_are_unique(self):
        self.assertEqual(len(set(self.reader.ids)), len(self.reader.ids))

    def test_links_lead_somewhere(self):
        inner = {link[1:] for link in self.reader.links if link.startswith("#")}
        self.assertEqual(inner - set(self.reader.ids), set())

    def test_it_is_small(self):
        self.assertLess(len(self.text.encode()), 3_000_000)

    def test_nothing_is_loaded(self):
        self.assertNotRegex(self.text, r"<(script|link|img)[^>]+(src|href)=\"(?!data:)")
        self.assertNotRegex(self.text, r"@import|url\(")

    def test_no_line_of_code_is_lost(self):
        for name, topic in topics.topics().items():
            section = self.text.partition(f'<section class="topic" id="{name}">')[2]
            section = re.split('<section class="(?:topic|chapter)"', section)[0]
            for side, path in (("l", topic.v1), ("r", topic.v2)):
                spans = rf'(?s)<span class="(?:{side}|b)[ "].*?</span>'
                code = re.sub(r"<.*?>", "", "".join(re.findall(spans, section)))
                shown = {line.strip() for line in html.unescape(code).splitlines()}
                for block in page.blocks(path.read_text("utf-8"), topic.pairs)[1:]:
                    source = path.read_text("utf-8").splitlines()
                    for line in source[block.start - 1 : block.stop - 1]:
                        self.assertIn(line.strip(), shown)


class WriteTest(unittest.TestCase):
    def test_it_makes_the_directory(self):
        with tempfile.TemporaryDirectory() as folder:
            path = page.write(folder + "/a/b")
            self.assertEqual(pathlib.Path(path).name, "index.html")
            self.assertEqual(len(list(pathlib.Path(path).parent.iterdir())), 1)

    def test_a_file_in_the_way(self):
        with tempfile.NamedTemporaryFile() as file:
            self.assertEqual(cli.main(["page", "-o", file.name]), 2)


class MarkdownTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("plain", "a < b", "<p>a &lt; b</p>"),
            ("code is text", "`**x** <y>`", "<p><code>**x** &lt;y&gt;</code></p>"),
            ("bold with code", "**a `b`**", "<p><strong>a <code>b</code></strong></p>"),
            ("a link", "[a](b.md#c)", '<p><a href="b.md#c">a</a></p>'),
            ("a list", "- a\n- b", "<ul><li>a\n</li><li>b</li></ul>"),
            ("a heading", "### a", "<h3>a</h3>"),
            ("a comment", "<!-- table x -->\na\n<!-- end -->", "<p>a</p>"),
            ("stars that multiply", "2 * 3 * 4", "<p>2 * 3 * 4</p>"),
        ]
    )
    def test_block(self, _, text, wanted):
        self.assertEqual(markdown.to_html(text), wanted)

    def test_a_table_with_a_bar_in_code(self):
        text = "| a | b |\n|---|---|\n| `x | y` | 2 |"
        self.assertIn("<td><code>x | y</code></td><td>2</td>", markdown.to_html(text))

    def test_fenced_code_keeps_blank_lines(self):
        self.assertIn("a\n\n| b", markdown.to_html("```\na\n\n| b\n```"))


class SymbolsTest(unittest.TestCase):
    def test_they_are_json_that_no_tag_ends(self):
        text = page.build()
        data = re.search(r'id="symbol-index">(.*?)</script>', text, re.DOTALL)[1]
        json.loads(data)
