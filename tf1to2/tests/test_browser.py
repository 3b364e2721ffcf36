"""The page in a real browser: `make test-page`, which needs Chromium."""

import pathlib
import shutil
import tempfile
import unittest

import pytest
from parameterized import parameterized

from tf1to2.view import library, page

pytestmark = pytest.mark.browser
SIZES = [("a phone", 360), ("a desk", 1400)]
SCHEMES = ["light", "dark"]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class BrowserTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from playwright.sync_api import sync_playwright

        if CHROMIUM is None:
            raise FileNotFoundError("no chromium: install your system's package")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.address = pathlib.Path(page.write(folder.name)).as_uri()
        playwright = sync_playwright().start()
        cls.addClassCleanup(playwright.stop)
        cls.browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"]
        )
        cls.addClassCleanup(cls.browser.close)

    def open(self, anchor="", width=1400, scheme="light"):
        viewport = {"width": width, "height": 900}
        self.page = self.browser.new_page(viewport=viewport, color_scheme=scheme)
        self.addCleanup(self.page.close)
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(self.address + anchor)

    def filter(self, text):
        """Types into the filter; the ids of the pairs that are left."""
        self.page.fill("#filter", text)
        return self.page.evaluate(
            "[...document.querySelectorAll('main .pair')]"
            ".filter(e => e.checkVisibility()).map(e => e.id)"
        )

    @parameterized.expand(
        [
            (f"{size}, {scheme}", width, scheme)
            for size, width in SIZES
            for scheme in SCHEMES
        ]
    )
    def test_it_is_accessible_and_says_nothing(self, _, width, scheme):
        from axe_playwright_python.sync_playwright import Axe

        self.open(width=width, scheme=scheme)
        violations = [
            (v["id"], len(v["nodes"]), v["nodes"][0]["html"][:200])
            for v in Axe().run(self.page).response["violations"]
        ]
        self.assertEqual(violations, [])
        self.assertEqual(self.said, [])

    @parameterized.expand(SIZES)
    def test_nothing_is_wider_than_the_window(self, _, width):
        self.open(width=width)
        wide = self.page.evaluate("document.documentElement.scrollWidth")
        self.assertLessEqual(wide, width)

    def test_nothing_else_is_asked_for(self):
        self.open()
        self.assertEqual(self.asked, [self.address])

    @parameterized.expand(
        [
            ("a name", "tf.control_dependencies", "execution_order.ordered_sum"),
            ("a placeholder", "tf.placeholder", "basics.fed_batches"),
        ]
    )
    def test_the_filter_finds(self, _, text, pair):
        self.open()
        every, found = self.filter(""), self.filter(text)
        self.assertLess(len(found), len(every))
        self.assertIn(pair, found)

    def test_the_filter_finds_an_error_message(self):
        self.open()
        self.filter("is not compatible with eager execution")
        self.assertTrue(self.page.is_visible("#error-messages"))
        self.assertFalse(self.page.is_visible("#scopes"))

    @parameterized.expand(["#scopes", "#scopes.make_siamese"])
    def test_an_anchor_leads_there(self, anchor):
        self.open(anchor)
        self.page.wait_for_function(  # it scrolls there smoothly
            "a => { const { top } = document.getElementById(a).getBoundingClientRect();"
            " return Math.abs(top) < 99 }",
            arg=anchor[1:],
        )

    def test_an_anchor_of_a_hidden_pair_shows_it(self):
        self.open()
        self.assertEqual(self.filter("no such text anywhere"), [])
        self.page.evaluate("location.hash = '#scopes.make_siamese'")
        self.page.wait_for_function(
            "document.getElementById('scopes.make_siamese').checkVisibility()"
        )

    def test_what_belongs_together_stands_in_one_row(self):
        """Step markers stand on both sides; the rows between them differ in number."""
        self.open("#execution_order")
        rows = self.page.evaluate(
            """[...document.querySelectorAll('.sides')].map(sides =>
              ['l', 'r'].map(side => [...sides.querySelectorAll(`code.${side} > span`)]
                .filter(line => line.textContent.trim().startsWith('# --- '))
                .map(line => [line.textContent.trim(),
                              Math.round(line.getBoundingClientRect().top)])))"""
        )
        rows = [(left, right) for left, right in rows if left and right]
        self.assertGreater(len(rows), 100)
        for left, right in rows:
            for name, top in right:
                beside = [t for n, t in left if n == name]
                self.assertTrue(not beside or top in beside, (left, right))

    def test_a_side_is_copied_whole(self):
        self.open()
        copied = self.page.evaluate(
            """async () => {
              let text;
              navigator.clipboard.writeText = async (t) => { text = t; };
              const pair = document.getElementById('execution_order.ordered_sum');
              pair.querySelector('button[data-copy=r]').click();
              await null;
              return text;
            }"""
        )
        source = library.pairs()["execution_order.ordered_sum"][1].text
        self.assertEqual(copied.rstrip(), source)

    def test_what_a_pair_needs_is_a_click_away(self):
        self.open("#basics.fit_polynomial")
        self.page.click("[id='basics.fit_polynomial'] .needs a >> text=Adam")
        place = "numerics.optimizers.adam/Adam"
        self.page.wait_for_function(f"location.hash === '#{place}'")
        self.assertTrue(self.page.is_visible(f"[id='{place}'] pre"))
