"""The page holds together: every pair, anchor and link, and nothing from outside."""

import html.parser
import json
import pathlib
import re
import tempfile
import unittest

from parameterized import parameterized

from tf1to2 import cli, topics
from tf1to2.view import library, markdown, page
from tf1to2.view.definitions import needed


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
        self.assertLess(len(self.text.encode()), 3_100_000)

    def test_nothing_is_loaded(self):
        self.assertNotRegex(self.text, r"<(script|link|img)[^>]+(src|href)=\"(?!data:)")
        self.assertNotRegex(self.text, r"@import|url\(")

    def code(self):
        """{place: {"l": left code, "r": right code, or "alone": code}} of the page."""
        found = {}
        for part in re.split("<section class=(?=pair|needed)", self.text)[1:]:
            part = part.partition("</section>")[0]
            shared = re.findall("(?s)<span class=b>(.*?)</span>", part)
            columns = dict(re.findall("(?s)<code class=([lr])>(.*?)</code>", part))
            for mark in re.findall("<span class=c></span>", columns.get("r", "")):
                columns["r"] = columns["r"].replace(mark, shared.pop(0), 1)
            columns.update(re.findall("(?s)<(pre)>(.*?)</pre>", part))
            found[re.search('id="(.*?)"', part)[1]] = {
                side: html.unescape(re.sub("<.*?>", "", text)).rstrip()
                for side, text in columns.items()
            }
        return found

    def test_all_code_that_pairs_need_is_shown_and_once(self):
        shown = self.code()
        left, right = zip(*library.pairs().values(), strict=True)
        for side, definitions in (
            ("l", left),
            ("r", [*right, *library.numerics().values()]),
        ):
            for part in needed(list(definitions))[0]:
                with self.subTest(part=(part.module.name, part.name)):
                    columns = shown[library.place(part)]
                    text = columns.pop(side if side in columns else "pre")
                    self.assertEqual(text, part.text)
        self.assertFalse([place for place, columns in shown.items() if any(columns)])


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
