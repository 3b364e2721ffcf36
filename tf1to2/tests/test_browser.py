"""The site in a real browser, from a folder: `make test-page`, which needs Chromium.

A run opens a page of each kind; `make test-page EVERY=1` opens all of them.
"""

import itertools
import shutil
import unittest

import pytest
from parameterized import parameterized

from tf1to2.explain import errors_page
from tf1to2.pages import library
from tf1to2.tests.site import built
from tf1to2.view.website import texts

pytestmark = pytest.mark.browser
WIDTHS = [390, 1024, 1400]
SCHEMES = ["light", "dark"]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# A page of each kind: the entry, a chapter, sections with code, names, the search.
SAMPLE = ["index", "averages", *errors_page.PAGES, "symptoms", "names/train", "search"]
SAMPLE += ["benchmarks", "examples/stages/stage2"]
PAGES = sorted({*texts.pages().values(), *texts.texts()} | {*SAMPLE})


class Site(unittest.TestCase):
    """A browser, and the site in a folder."""

    @classmethod
    def setUpClass(cls):
        from playwright.sync_api import sync_playwright

        if CHROMIUM is None:
            raise FileNotFoundError("no chromium: install your system's package")
        cls.folder = built()
        playwright = sync_playwright().start()
        cls.addClassCleanup(playwright.stop)
        cls.browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"]
        )
        cls.addClassCleanup(cls.browser.close)

    def open(self, name="index", width=1400, scheme="light"):
        """Opens "layers" or "layers#anchor"; notes what it says and asks for."""
        viewport = {"width": width, "height": 900}
        self.page = self.browser.new_page(viewport=viewport, color_scheme=scheme)
        self.addCleanup(self.page.close)
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        name, sign, anchor = name.partition("#")
        self.page.goto((self.folder / f"{name}.html").as_uri() + sign + anchor)

    def violations(self):
        from axe_playwright_python.sync_playwright import Axe

        # No browser fetches files from a folder for axe.
        report = Axe().run(self.page, options={"preload": False}).response
        return [
            (v["id"], len(v["nodes"]), v["nodes"][0]["html"][:200])
            for v in report["violations"]
        ]

    def ask(self, text):
        """Writes into the box; the lines of the answer."""
        self.page.fill("#box", text)
        self.page.wait_for_function("document.querySelector('#box-answer a')")
        return self.page.inner_text("#box-answer").split("\n")


def looks(sampled):
    """[(title, page, width, scheme)] of what a run opens, or of the rest."""
    return [
        (f"{name}, {width}, {scheme}", name, width, scheme)
        for name in PAGES
        for (n, width), (m, scheme) in itertools.product(
            enumerate(WIDTHS), enumerate(SCHEMES)
        )
        # axe takes 25 s for the errors: each width there once, in one of the schemes.
        if (name in SAMPLE and (name not in errors_page.PAGES or n % 2 == m)) == sampled
    ]


class LooksTest(Site):
    def check(self, name, width, scheme):
        self.open(name, width, scheme)
        self.assertEqual(self.said, [])
        wide = self.page.evaluate("document.documentElement.scrollWidth")
        self.assertLessEqual(wide, width)
        self.assertEqual(self.violations(), [])
        outside = [url for url in self.asked if not url.startswith("file:")]
        self.assertEqual(outside, [])

    @parameterized.expand(looks(True))
    def test_it_is_accessible_fits_and_says_nothing(self, _, name, width, scheme):
        self.check(name, width, scheme)

    @parameterized.expand(looks(False))
    @pytest.mark.slow
    def test_so_is_every_other_page(self, _, name, width, scheme):
        self.check(name, width, scheme)

    @parameterized.expand(SCHEMES)
    def test_so_is_what_the_box_answers_and_what_was_folded(self, scheme):
        self.open("averages", 1400, scheme)
        self.page.evaluate(
            "document.querySelectorAll('details').forEach(d => { d.open = true; })"
        )
        self.ask("placeholder")
        self.assertEqual(self.violations(), [])


class InShortTest(Site):
    @parameterized.expand([(1400, True), (390, False)])
    def test_both_sides_are_side_by_side_if_the_screen_is_wide(self, width, beside):
        self.open("averages", width)
        left, right = self.page.locator(".in-short .highlight").all()
        left, right = left.bounding_box(), right.bounding_box()
        self.assertEqual(left["y"] == right["y"], beside)
        self.assertEqual(left["x"] < right["x"], beside)


class PairsTest(Site):
    def test_what_belongs_together_stands_in_one_row(self):
        """Step markers are on both sides; the rows between them differ in number."""
        count = 0
        for name in ("execution_order", "training_loops", "rnn"):
            self.open(name)
            rows = self.page.evaluate(
                """() => {
                  document.querySelectorAll('details').forEach(d => { d.open = true; });
                  return [...document.querySelectorAll('.sides')].map(sides =>
                    ['l', 'r'].map(side =>
                      [...sides.querySelectorAll(`code.${side} > span`)]
                        .filter(line => line.textContent.trim().startsWith('# --- '))
                        .map(line => [line.textContent.trim(),
                                      Math.round(line.getBoundingClientRect().top)])));
                }"""
            )
            for left, right in rows:
                for step, top in right:
                    beside = [t for s, t in left if s == step]
                    self.assertTrue(not beside or top in beside, (left, right))
                    count += bool(beside)
        self.assertGreater(count, 50)

    def test_a_side_is_copied_whole(self):
        self.open("execution_order")
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

    def test_a_helper_is_copied_whole(self):
        self.open("numerics/optimizers")
        place = "numerics.optimizers.adam/Adam"
        copied = self.page.evaluate(
            """async (place) => {
              let text;
              navigator.clipboard.writeText = async (t) => { text = t; };
              document.getElementById(place).querySelector('button').click();
              await null;
              return text;
            }""",
            place,
        )
        self.assertEqual(copied, library.numerics()["optimizers.Adam"].text)

    def test_exact_and_keras_are_tabs(self):
        self.open("layers#layers.make_dense_layers")
        shown = "[id='layers.make_dense_layers'] .sides >> visible=true"
        self.assertEqual(self.page.locator(shown).count(), 1)
        tab = self.page.locator("[id='layers.make_dense_layers'] [role=tab]").first
        tab.focus()
        self.page.keyboard.press("ArrowRight")
        self.assertIn("Keras", self.page.inner_text(shown))
        self.assertEqual(self.page.locator(shown).count(), 1)
        chosen = self.page.locator("[role=tab][aria-selected=true]")
        chosen = chosen.all_text_contents()
        self.assertTrue(chosen)
        self.assertTrue(all(text.startswith("Keras") for text in chosen), chosen)

    def test_sides_stand_side_by_side_on_paper(self):
        self.open("layers", 700)
        self.page.emulate_media(media="print")
        tops = self.page.evaluate(
            """['l', 'r'].map(side => document.querySelector(`.sides > p.${side}`)
               .getBoundingClientRect().top)"""
        )
        self.assertEqual(*tops)
        self.assertFalse(self.page.is_visible(".sidebar-drawer"))

    @parameterized.expand(
        [
            ("layers", "layers.make_conv2d"),
            ("index", "layers.make_conv2d"),
            ("index", "numerics.optimizers.adam/Adam"),
            ("errors", "execution_order.ordered_sum.write"),
            ("layers", "make_conv2d"),
        ]
    )
    def test_an_anchor_leads_there_from_any_page(self, name, anchor):
        if name == "errors":
            steps = self.steps("execution_order")
            anchor = next(step for step in steps if step.startswith("execution_order."))
        self.open(f"{name}#{anchor}")
        self.page.wait_for_function(
            """a => {
              const id = (id) => document.getElementById(id);
              const there = id(a) ?? id('layers.' + a);
              if (!there?.checkVisibility()) return false;
              const { top } = there.getBoundingClientRect();
              return top > -1 && top < 150;
            }""",
            arg=anchor,
        )

    def steps(self, name):
        self.open(name)
        found = self.page.evaluate(
            "[...document.querySelectorAll('.sides span[id]')].map(s => s.id)"
        )
        self.assertGreater(len(found), 10)
        return found

    def test_what_a_pair_needs_is_a_click_away(self):
        self.open("basics#basics.fit_polynomial")
        self.page.click("[id='basics.fit_polynomial'] .needs a:visible >> text=Adam")
        self.page.wait_for_url("**/numerics/optimizers.html#**")
        self.assertTrue(
            self.page.is_visible("[id='numerics.optimizers.adam/Adam'] pre")
        )
