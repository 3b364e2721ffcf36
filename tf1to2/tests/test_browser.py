"""The page in a real browser: `make test-page`, which needs Chromium and its driver."""

import importlib.util
import pathlib
import tempfile
import unittest

import pytest
from parameterized import parameterized

from tf1to2.view import page

pytestmark = pytest.mark.browser
SIZES = [("a phone", 360), ("a desk", 1400)]
SCHEMES = ["light", "dark"]


class BrowserTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from selenium import webdriver

        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.address = pathlib.Path(page.write(folder.name)).as_uri()
        options = webdriver.ChromeOptions()
        for argument in ("headless=new", "no-sandbox", "disable-gpu"):
            options.add_argument("--" + argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.browser = webdriver.Chrome(options)
        cls.addClassCleanup(cls.browser.quit)
        cls.browser.set_script_timeout(300)
        spec = importlib.util.find_spec("axe_core_python")
        script = pathlib.Path(spec.submodule_search_locations[0]) / "axe.min.js"
        cls.axe = script.read_text("utf-8")

    def open(self, anchor="", width=1400, scheme="light"):
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
        )
        self.browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
        )
        self.browser.get("about:blank")  # a new anchor alone would load nothing
        self.browser.get(self.address + anchor)

    def run_js(self, code, *arguments):
        return self.browser.execute_script(code, *arguments)

    def filter(self, text):
        """Types into the filter; the ids of the pairs that are left."""
        box = self.browser.find_element("id", "filter")
        box.clear()
        box.send_keys(text)
        return self.run_js(
            "return [...document.querySelectorAll('main .pair')]"
            ".filter(e => e.checkVisibility()).map(e => e.id)"
        )

    @parameterized.expand(
        [
            (f"{size}, {scheme}", width, scheme)
            for size, width in SIZES
            for scheme in SCHEMES
        ]
    )
    def test_it_is_accessible_and_says_nothing_on_the_console(self, _, width, scheme):
        self.open(width=width, scheme=scheme)
        dark = self.run_js("return matchMedia('(prefers-color-scheme: dark)').matches")
        self.assertEqual(dark, scheme == "dark")
        self.run_js(self.axe)
        violations = self.browser.execute_async_script(
            "axe.run().then(found => arguments[0](found.violations.map("
            "v => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 200)])))"
        )
        self.assertEqual(violations, [])
        self.assertEqual(self.browser.get_log("browser"), [])

    @parameterized.expand(SIZES)
    def test_nothing_is_wider_than_the_window(self, _, width):
        self.open(width=width)
        script = "return document.documentElement.scrollWidth"
        self.assertLessEqual(self.run_js(script), width)

    def test_nothing_comes_from_anywhere_else(self):
        self.open()
        script = "return performance.getEntriesByType('resource').map(e => e.name)"
        self.assertEqual(self.run_js(script), [])

    @parameterized.expand(
        [
            ("a name of TensorFlow 1", "tf.control_dependencies", "ordered_sum"),
            ("a placeholder", "tf.placeholder", "basics.fed_batches"),
            ("an error", "placeholders must be fed", None),
        ]
    )
    def test_the_filter_finds(self, _, text, pair):
        self.open()
        every, found = self.filter(""), self.filter(text)
        self.assertLess(len(found), len(every))
        self.assertTrue(any((pair or "") in name for name in found), found)

    @parameterized.expand(["#scopes", "#scopes.make_siamese"])
    def test_an_anchor_leads_there(self, anchor):
        self.open(anchor)
        top = self.run_js(
            "return document.getElementById(arguments[0]).getBoundingClientRect().top",
            anchor[1:],
        )
        self.assertTrue(-1 <= top < 900, top)

    def test_an_anchor_of_a_hidden_pair_shows_it(self):
        self.open()
        self.filter("no such text anywhere")
        self.run_js("location.hash = '#scopes.make_siamese'")
        shown = (
            "return document.getElementById('scopes.make_siamese').checkVisibility()"
        )
        self.assertTrue(self.run_js(shown))
