"""The page of results and the filters of the site in a browser: see test_browser."""

import itertools
import re
import urllib.parse

import pytest
from parameterized import parameterized

from tf1to2.tests import test_ranking
from tf1to2.tests.test_browser import SCHEMES, WIDTHS, Site

pytestmark = pytest.mark.browser
LOOKS = [(f"{w}, {s}", w, s) for w, s in itertools.product(WIDTHS, SCHEMES)]


class ResultsTest(Site):
    def search(self, words, width=1400, scheme="light"):
        """Opens the page of results; the pages that it lists, best first."""
        self.open("search", width, scheme)
        address = (self.folder / "search.html").as_uri()
        self.page.goto(f"{address}?{urllib.parse.urlencode({'q': words})}")
        self.page.wait_for_selector("#search-results > p >> text=/found|No page/")
        return self.page.locator("#search-results ol > li > a").evaluate_all(
            "links => links.map(a => a.getAttribute('href').slice(2, -5))"
        )

    def answer(self):
        return self.page.inner_text(".answer")

    @parameterized.expand(
        [
            ("a name", "dynamic_rnn", "tf.nn.dynamic_rnn rewrite", "rnn"),
            ("a member", "Saver.restore", "tf.train.Saver.restore", "checkpoints"),
            (
                "an error of a name",
                "AttributeError: module 'tensorflow' has no attribute 'placeholder'",
                "tf.placeholder rewrite",
                "basics",
            ),
            (
                "an error",
                "ValueError: No gradients provided for any variable: w",
                "No gradients provided",
                "errors-keras",
            ),
            ("a symptom", "the loss is nan", "The loss is NaN", "symptoms"),
        ]
    )
    def test_the_answer_is_on_top_and_its_page_first(self, _, words, told, page):
        pages = self.search(words)
        self.assertTrue(self.answer().startswith(told), self.answer())
        self.assertEqual(pages[0], page)
        self.assertEqual(self.page.input_value("#query"), words)
        answer, first = (
            self.page.locator(which).first.bounding_box()["y"]
            for which in (".answer", "#search-results ol")
        )
        self.assertLess(answer, first)
        self.assertEqual(self.said, [])

    def test_other_names_that_have_it_are_left_out(self):
        self.search("GRUCell")
        self.assertNotIn("CudnnCompatibleGRUCell", self.answer())

    def test_a_name_that_is_begun_is_answered(self):
        self.search("FixedLengthRecordRea")
        self.assertIn("tf.FixedLengthRecordReader", self.answer())

    def test_pairs_of_a_page_are_a_click_away(self):
        self.search("GRUCell")
        self.page.click("#search-results ol ul a >> text=make_gru")
        self.page.wait_for_url("**/rnn.html#rnn.make_gru")
        marked = self.page.locator("article .highlighted").first
        self.assertEqual(marked.text_content(), "GRUCell")

    def test_what_no_page_has_is_said(self):
        self.assertEqual(self.search("xyzzy"), [])
        self.assertIn("No page has these words.", self.page.inner_text("article"))

    def test_the_field_of_the_page_searches(self):
        self.search("GRUCell")
        self.page.fill("#query", "horovod")
        self.page.press("#query", "Enter")
        self.page.wait_for_selector("#search-results ol a >> text=horovod")

    @parameterized.expand(LOOKS)
    def test_it_is_accessible_and_fits(self, _, width, scheme):
        for words in ("the loss is nan", "GRUCell"):
            self.search(words, width, scheme)
            wide = self.page.evaluate("document.documentElement.scrollWidth")
            self.assertLessEqual(wide, width)
            self.assertEqual(self.violations(), [])
            outside = [url for url in self.asked if not url.startswith("file:")]
            self.assertEqual(outside, [])

    def test_every_search_finds_its_page(self):
        self.search("GRUCell")
        ranked = self.page.evaluate(
            """async (searches) => {
              const { guide, site } = window.tf1to2, found = [];
              for (const search of searches) {
                const { words, page } = await window.tf1to2Answer.to(search, 1);
                found.push(window.tf1to2Search.pages(words, guide, site, page)
                  .slice(0, 2).map(([name]) => name));
              }
              return found;
            }""",
            list(test_ranking.SEARCHES),
        )
        wanted = test_ranking.SEARCHES.items()
        for (search, pages), found in zip(wanted, ranked, strict=True):
            self.assertFalse(set(pages.split()).isdisjoint(found), (search, found))

    def test_every_passage_leads_to_its_section(self):
        self.search("GRUCell")
        addresses = self.page.evaluate(
            """() => window.tf1to2.guide.passages.map(([page, heading, , places]) =>
              window.tf1to2Search.addressOf(page, heading, places))"""
        )
        self.assertGreater(len(addresses), 6_000)
        known = {}
        for address in addresses:
            page, _, anchor = address.partition("#")
            if page not in known:
                text = (self.folder / page).read_text("utf-8")
                known[page] = set(re.findall(' id="([^"]*)"', text))
            if anchor:  # else the top of the page
                self.assertIn(anchor, known[page], address)


class FilterTest(Site):
    def filter(self, text):
        """Types into the field; what it says then."""
        self.page.fill("#filter", text)
        return self.page.inner_text(".filter [role=status]")

    def shown(self, what):
        return self.page.locator(f"article {what} >> visible=true")

    @parameterized.expand(
        [
            ("false-friends", "tbody tr", "RMSPropOptimizer", "rows"),
            ("names/train", "tbody tr", "optimizer", "rows"),
            ("names/contrib-7", "tbody tr", "seq2seq beam", "rows"),
            ("names", "li", "tf.contrib.layers", "modules"),
            ("errors", "section:has(> h3)", "no attribute 'contrib'", "messages"),
            ("errors-keras", "section:has(> h3)", "Unrecognized keyword", "messages"),
        ]
    )
    def test_only_what_has_the_words_stays(self, name, units, text, kind):
        self.open(name)
        whole = self.shown(units).count()
        words = re.sub("['.]", " ", text.lower()).split()
        told = self.filter(text)
        left = [one.lower() for one in self.shown(units).all_text_contents()]
        self.assertEqual(told, f"{len(left)} of {whole} {kind}")
        self.assertTrue(0 < len(left) < whole / 2, told)
        self.assertTrue(all(word in one for one in left for word in words), left)
        self.assertEqual(self.said, [])

    def test_empty_headings_and_tables_hide(self):
        self.open("errors")
        whole = self.shown("h2").count()
        self.filter("has no attribute 'contrib'")
        for heading in self.shown("h2").all():
            below = heading.locator("xpath=.. >> h3 >> visible=true")
            self.assertGreater(below.count(), 0, heading.inner_text())
        self.assertLess(self.shown("h2").count(), whole)
        self.open("false-friends")
        self.filter("tf.py_func")
        for table in self.shown("table").all():
            self.assertGreater(table.locator("tbody tr >> visible=true").count(), 0)

    def test_escape_clears(self):
        self.open("names/train")
        whole = self.shown("tbody tr").count()
        self.filter("Saver")
        self.page.press("#filter", "Escape")
        self.assertEqual(self.page.input_value("#filter"), "")
        self.assertEqual(self.shown("tbody tr").count(), whole)
        self.assertEqual(self.page.inner_text(".filter [role=status]"), "")

    def test_without_a_match_it_offers_the_search(self):
        self.open("names/train")
        self.assertTrue(self.filter("conv2d").startswith("0 of "))
        self.page.click(".filter a")
        self.page.wait_for_url("**/search.html?q=conv2d")

    @parameterized.expand(["hash", "link"])
    def test_a_link_to_a_hidden_row_clears(self, way):
        self.open("false-friends#tf-nn-dropout")
        self.filter("gradients")
        name = "tf-nn-dropout"  # where the address leads already
        if way == "hash":
            name = "tf-where"
        row = self.page.locator(f"tr:has(#{name})")
        self.assertFalse(row.is_visible())
        if way == "hash":
            self.page.evaluate("location.hash = '#tf-where'")
        else:
            self.page.evaluate(f"document.querySelector('a[href=\"#{name}\"]').click()")
        row.wait_for()
        self.assertEqual(self.page.input_value("#filter"), "")
        self.page.wait_for_function(
            "id => document.getElementById(id).getBoundingClientRect().top < 300",
            arg=name,
        )

    def test_a_link_to_a_row_that_is_left_keeps_the_filter(self):
        self.open("false-friends")
        self.filter("tf.nn.dropout")
        self.page.evaluate("location.hash = '#tf-nn-dropout'")
        self.assertEqual(self.page.input_value("#filter"), "tf.nn.dropout")

    def test_other_pages_have_no_filter(self):
        for name in ("rnn", "index", "symptoms"):
            self.open(name)
            self.assertEqual(self.page.locator("#filter").count(), 0, name)

    @parameterized.expand(LOOKS)
    def test_it_is_accessible_and_fits(self, _, width, scheme):
        for name, text in (("false-friends", "dropout"), ("errors", "contrib")):
            self.open(name, width, scheme)
            self.filter(text)
            wide = self.page.evaluate("document.documentElement.scrollWidth")
            self.assertLessEqual(wide, width)
            self.assertEqual(self.violations(), [])
