"""What the site makes of texts, tables, pairs and stages, before Sphinx builds it."""

import functools
import html
import re
import unittest

import pytest
from docutils import nodes
from parameterized import parameterized

from tf1to2.pages import library, topics
from tf1to2.view.website import alignment, copies, programs, texts
from tf1to2.view.website.breaks import breakable
from tf1to2.view.website.columns import columns

ARTICLE = "<article>{}</article>"
CODE = '<code class="literal notranslate">{}</code>'


class BreaksTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("a_number", CODE.format("0.84066")),
            ("a_word", CODE.format("placeholder")),
            ("prose", "e.g. a_b tf.nn.relu"),
            ("a_block", "<pre>tf.nn.relu</pre>"),
            ("a_side_of_a_pair", "<code class=l>tf.nn.relu\n</code>"),
        ]
    )
    def test_it_leaves_alone(self, _, text):
        self.assertEqual(breakable(ARTICLE.format(text)), ARTICLE.format(text))

    def test_it_leaves_the_sidebar_alone(self):
        page = "<nav>" + CODE.format("a.b") + "</nav>" + ARTICLE.format("")
        self.assertEqual(breakable(page), page)

    @parameterized.expand(
        [
            ("dots", "tf.nn.relu", "tf.<wbr>nn.<wbr>relu"),
            ("underscores", "l2_loss(x)", "l2_<wbr>loss(x)"),
            ("dunder", "a.__call__", "a.<wbr>__call__"),
            ("a_path", "guide/rnn.md", "guide/<wbr>rnn.<wbr>md"),
            ("after_a_call", "f(x).y", "f(x).<wbr>y"),
        ]
    )
    def test_a_name_may_be_broken_after(self, _, text, wanted):
        page = breakable(ARTICLE.format(CODE.format(text)))
        self.assertEqual(page, ARTICLE.format(CODE.format(wanted)))
        link = breakable(ARTICLE.format(f'<a href="a.b_c.html">{text}</a>'))
        self.assertEqual(link, ARTICLE.format(f'<a href="a.b_c.html">{wanted}</a>'))
        cell = ARTICLE.format("<td><p>{}: " + CODE + ", {}</p></td>")
        found = breakable(cell.format(text, text, text))
        self.assertEqual(found, cell.format(wanted, wanted, wanted))


class NumbersTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("plain", ["1.44", "326.65", "0"]),
            ("thousands", ["18,441", "125"]),
            ("percent", ["67%", "100%"]),
            ("times", ["2.63×", "0.9 ×"]),
            ("ranges", ["0.86–0.97", ""]),
            ("in_brackets", ["3177 (1.10)"]),
            ("exponents", ["1.1e-07", "within 3.0e-2", "identical"]),
            ("signs", ["−0.5", "-0.5", "+1"]),
            ("none", ["12", "—"]),
        ]
    )
    def test_a_column_of_numbers(self, _, cells):
        self.assertTrue(alignment.has_numbers(cells))

    @parameterized.expand(
        [
            ("text", ["a", "b"]),
            ("empty", ["", ""]),
            ("mixed", ["1.5", "the first step"]),
            ("releases", ["2.16.1", "2.17.0"]),
            ("arrays", ["[1, 2]"]),
            ("words_alone", ["identical", "identical"]),
        ]
    )
    def test_no_column_of_numbers(self, _, cells):
        self.assertFalse(alignment.has_numbers(cells))

    def test_all_cells_of_the_column_are_marked(self):
        rows = [["form", "all"], ["eager", "1.44"], ["predict", "326.65"]]
        parts = [
            nodes.row(
                "", *(nodes.entry("", nodes.paragraph(text=cell)) for cell in row)
            )
            for row in rows
        ]
        table = nodes.table(
            "",
            nodes.tgroup(
                "", nodes.thead("", parts[0]), nodes.tbody("", *parts[1:]), cols=2
            ),
        )
        alignment.align(None, nodes.section("", table))
        marked = [e.astext() for e in table.findall(nodes.entry) if e["classes"]]
        self.assertEqual(marked, ["all", "1.44", "326.65"])


class DocstringsTest(unittest.TestCase):
    @staticmethod
    @functools.cache
    def of(name):
        return columns(name, library.pairs()[name])

    def test_the_first_line_and_the_code_are_shown_and_the_rest_is_folded(self):
        name = "saved_models.fine_tune"
        shown = re.sub(r'(?s)<span class="\w+ d".*?</span>', "", self.of(name))
        shown = html.unescape(re.sub("<.*?>", "", shown))
        self.assertNotIn("Args:", shown)
        self.assertNotIn("Returns:", shown)
        for side in library.pairs()[name]:
            body = side.node.body[0]
            for number in (body.lineno, *range(body.end_lineno + 1, side.stop)):
                self.assertIn(side.module.lines[number - 1], shown)

    @pytest.mark.slow
    def test_folded_rows_are_as_many_on_both_sides(self):
        def rows(column):
            count = 0
            folded = r'<span class="(\w+) d"(?: style="grid-row:span (\d+)")?>'
            for kind, gap in re.findall(folded, column):
                # A block of both sides is as high on the left as it is long.
                count += int(gap or 1) * (kind not in "bc")
            return count

        for name in library.pairs():
            left, right = re.findall("(?s)<code class=[lr]>(.*?)</code>", self.of(name))
            self.assertEqual(rows(left), rows(right), name)
            self.assertEqual("class=u" in left, "class=u" in right)
            self.assertEqual("class=u" in left, ' d"' in left or ' d"' in right)


class StagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.texts = texts.texts()

    @parameterized.expand([(n,) for n in range(1, 9)])
    def test_a_stage_shows_what_changed_since_the_one_before(self, number):
        lines = programs.changes(number)
        before, after = (
            topics.document(f"examples/stages/stage{n}/train.py").read_text("utf-8")
            for n in (number - 1, number)
        )
        shown = [line[1:] for line in lines[2:] if line[0] in "+ "]
        self.assertLessEqual({*shown}, {*after.splitlines()})
        gone = [line[1:] for line in lines[2:] if line[0] == "-"]
        self.assertLessEqual({*gone}, {*before.splitlines()})
        block = "\n".join(["````diff", *lines, "````"])
        for page in (f"examples/stages/stage{number}", "plan"):
            self.assertIn(block, self.texts[page])

    def test_the_first_stage_has_nothing_before_it(self):
        self.assertEqual(programs.changes(0), [])
        self.assertNotIn("diff\n", self.texts["examples/stages/stage0"])

    def test_in_the_plan_each_is_in_the_section_of_its_stage(self):
        sections = re.split(r"(?m)^## (?=\d\. )", self.texts["plan"])[1:]
        for number, section in enumerate(sections):
            found = re.findall(r"From stage (\d) to stage (\d)", section)
            wanted = [(str(number - 1), str(number))] * (number > 0)
            self.assertEqual(found, wanted)


class EntryTest(unittest.TestCase):
    def test_the_pair_of_the_entry_is_side_by_side(self):
        text = texts.texts()["index"]
        self.assertIn("```{sides} basics.train_classifier\n```", text)
        self.assertNotIn("```python", text)

    def test_pictures_have_a_form_for_each_theme(self):
        text = texts.texts()["benchmarks"]
        for theme, end in (("light", ""), ("dark", "-dark")):
            self.assertIn(f"(pictures/benchmarks{end}.svg){{.only-{theme}}}", text)


@pytest.mark.slow
class CopiesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = copies.copies(texts.texts())

    def test_each_page_has_a_copy_without_directives(self):
        self.assertEqual(
            {*self.files}, {f"{page}.md" for page in texts.texts()} | {"llms.txt"}
        )
        for name, text in self.files.items():
            prose = texts.FENCED.sub("", text)
            self.assertNotRegex(prose, r"(?m)^```\{|^---$|\{\.only|\[\]\{#", name)
            self.assertTrue(text.startswith("# "), name)

    def test_links_lead_to_copies_and_their_anchors(self):
        for name, text in self.files.items():
            folder = name.rpartition("/")[0]
            for link in re.findall(r"\]\(([^)\s]+)\)", texts.FENCED.sub("", text)):
                file, _, anchor = link.partition("#")
                if re.match(r"\w+:", link) or not file.endswith(".md"):
                    continue
                there = re.sub(r"[^/]+/\.\./", "", f"{folder}/{file}".lstrip("/"))
                self.assertIn(there, self.files, (name, link))
                if "." in anchor:
                    self.assertIn(f'<a id="{anchor}"></a>', self.files[there], link)

    def test_a_copy_has_the_code_of_its_pairs(self):
        for name, topic in topics.topics().items():
            for pair in topic.pairs:
                for side in library.pairs()[f"{name}.{pair}"]:
                    self.assertIn(side.text.rstrip(), self.files[f"{name}.md"])

    def test_llms_txt_lists_every_page_with_what_it_is(self):
        text = self.files["llms.txt"]
        self.assertRegex(text, r"\A# [^\n]+\n\n> ")
        rows = re.findall(r"(?m)^- \[(.+?)\]\(([\w/-]+\.md)\): (\S.*)$", text)
        listed = [file for _, file, _ in rows]
        self.assertCountEqual(listed, {*self.files} - {"index.md", "llms.txt"})
        self.assertEqual(text.count("\n- "), len(rows))
        for title in texts.groups():
            self.assertIn(f"\n## {title}\n\n- ", text)


class TitlesTest(unittest.TestCase):
    @parameterized.expand([(n, t) for n, t in topics.topics().items()])
    def test_a_title_is_short_and_has_names_of_the_topic(self, name, topic):
        self.assertLessEqual(len(topic.title.replace("`", "")), 45)
        self.assertEqual(topic.title.count("`") % 2, 0)
        chapter = topics.document(f"guide/{name}.md").read_text("utf-8")
        known = chapter.partition("\n")[2] + topic.lesson + topic.v1.read_text("utf-8")
        for word in re.findall("`(.*?)`", topic.title):
            self.assertIn(word.removeprefix("tf."), known)

    def test_no_title_is_there_twice(self):
        titles = [topic.title for topic in topics.topics().values()]
        self.assertEqual(len(titles), len(set(titles)))


if __name__ == "__main__":
    unittest.main()
