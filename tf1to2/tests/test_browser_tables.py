"""Tables, folded docstrings and pictures of the site in a real browser."""

import pytest
from parameterized import parameterized

from tf1to2.pages import library
from tf1to2.tests.test_browser import WIDTHS, Site

pytestmark = pytest.mark.browser
PAIR = "gradients.fine_tune"
TABLES = ["benchmarks", "timings", "fast", "false-friends", "names/train", "keras"]
LOOKS = [
    (f"{name}, {width}", name, width) for name in [*TABLES, "rnn"] for width in WIDTHS
]
LONG = 16  # letters of a word that fits into every column


class TablesTest(Site):
    @parameterized.expand(LOOKS)
    def test_nothing_is_cut_off(self, _, name, width):
        self.open(name, width)
        wide = self.page.evaluate(
            """() => [...document.querySelectorAll('.table-wrapper')]
              .filter(w => w.scrollWidth > w.clientWidth + 1)
              .map(w => w.querySelector('th').textContent)"""
        )
        self.assertEqual(wide, [])

    @parameterized.expand(LOOKS)
    def test_words_stay_whole(self, _, name, width):
        self.open(name, width)
        broken = self.page.evaluate(
            """(long) => {
              const found = new Set(), range = document.createRange();
              for (const cell of document.querySelectorAll('th, td')) {
                if (cell.textContent.includes('\\\\x')) continue;  // bytes
                const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
                while (walk.nextNode()) {
                  const node = walk.currentNode;
                  for (const { 0: word, index } of node.data.matchAll(/[A-Za-z]+/g)) {
                    if (word.length > long) continue;
                    range.setStart(node, index);
                    range.setEnd(node, index + word.length);
                    const tops = new Set([...range.getClientRects()].map(r => r.top));
                    if (tops.size > 1) found.add(word);
                  }
                }
              }
              return [...found];
            }""",
            LONG,
        )
        self.assertEqual(broken, [])

    def test_numbers_are_below_each_other(self):
        self.open("benchmarks")
        edges = self.page.evaluate(
            """() => {
              const range = document.createRange();
              return [...document.querySelectorAll('table')[0].rows].slice(1)
                .map(row => {
                  range.selectNodeContents(row.cells[3]);
                  return Math.round(range.getBoundingClientRect().right);
                });
            }"""
        )
        self.assertEqual(len(set(edges)), 1)

    def test_a_row_that_became_a_list_names_its_columns(self):
        self.open("benchmarks", 390)
        cell = self.page.locator("table").first.locator("tbody tr").first.locator("td")
        self.assertEqual(cell.nth(3).get_attribute("data-label"), "batch 1")
        self.assertEqual(cell.nth(3).get_attribute("role"), "cell")
        self.assertGreater(self.page.locator("[role=columnheader]").count(), 9)

    def test_a_wider_window_makes_it_a_table_again(self):
        self.open("benchmarks", 390)
        self.page.wait_for_selector(".table-wrapper.stacked")
        self.page.set_viewport_size({"width": 1400, "height": 900})
        self.page.wait_for_function("!document.querySelector('.stacked')")


class DocstringsTest(Site):
    def pair(self, width=1400):
        self.open(f"{PAIR.partition('.')[0]}#{PAIR}", width)
        return self.page.locator(f"[id='{PAIR}'] .sides").first

    def test_the_code_begins_below_the_first_line(self):
        sides = self.pair()
        self.assertNotIn("Args:", sides.inner_text())
        self.assertIn("Trains the head", sides.inner_text())

    def test_a_button_shows_both_docstrings_in_rows(self):
        sides = self.pair()
        button = sides.locator("button[data-docs]:visible")
        self.assertEqual(button.count(), 1)
        button.focus()
        self.page.keyboard.press("Enter")
        self.assertEqual(button.get_attribute("aria-expanded"), "true")
        self.assertIn("Args:", sides.inner_text())
        self.assertEqual(self.violations(), [])
        tops = sides.evaluate(
            """sides => ['l', 'r'].map(side =>
              [...sides.querySelectorAll(`code.${side} > span`)]
                .filter(line => line.textContent.includes('# --- run'))
                .map(line => Math.round(line.getBoundingClientRect().top)))"""
        )
        self.assertEqual(*tops)
        button.click()
        self.assertNotIn("Args:", sides.inner_text())

    def test_on_a_telephone_each_side_has_the_button(self):
        sides = self.pair(390)
        buttons = sides.locator("button[data-docs]:visible")
        self.assertEqual(buttons.count(), 2)
        buttons.nth(1).click()
        self.assertIn("Args:", sides.inner_text())

    @parameterized.expand([("left", "l", 0), ("right", "r", 1)])
    def test_all_of_a_side_is_copied(self, _, side, number):
        sides = self.pair()
        copied = sides.evaluate(
            """async (sides, side) => {
              let text;
              navigator.clipboard.writeText = async (t) => { text = t; };
              sides.querySelector(`button[data-copy=${side}]`).click();
              await null;
              return text;
            }""",
            side,
        )
        self.assertEqual(copied.rstrip(), library.pairs()[PAIR][number].text)


class EntryTest(Site):
    def test_where_to_begin_is_on_the_first_screen(self):
        self.open("index", 1400)
        table = self.page.locator("table").first.bounding_box()
        self.assertLess(table["y"] + table["height"], 900)

    def test_the_sides_of_the_pair_are_beside_each_other(self):
        self.open("index", 1400)
        left, right = (
            self.page.locator(f".sides > p.{side}").first.bounding_box()
            for side in "lr"
        )
        self.assertEqual(left["y"], right["y"])
        self.assertLess(left["x"], right["x"])

    @parameterized.expand([("light", ""), ("dark", "-dark")])
    def test_a_picture_is_for_the_theme(self, scheme, end):
        self.open("benchmarks", 1400, scheme)
        shown = self.page.locator("article img:visible")
        self.assertEqual(shown.count(), 1)
        name = shown.get_attribute("src").rpartition("/")[2]
        self.assertEqual(name, f"benchmarks{end}.svg")
