"""A pair as a picture: both sides' lines, in colours, as the code makes it."""

import unittest
from unittest import mock
from xml.etree import ElementTree

from parameterized import parameterized

from tf1to2.pages import proven
from tf1to2.tests.test_entry import PAIR, bodies
from upkeep import pictures, svg

SVG = "{http://www.w3.org/2000/svg}"
FILES = [
    (f"{name}{end}.svg", name) for name in pictures.PAIRS for end in pictures.FORMS
]
FORMS = [(f"form{end}", form) for end, form in pictures.FORMS.items()]


def texts(picture, kind=None):
    """The lines of text of a picture: all, or of a class."""
    found = ElementTree.fromstring(picture).iter(f"{SVG}text")
    return ["".join(t.itertext()) for t in found if kind in (None, t.get("class"))]


def words(lines):
    """Lines without blanks, as one text: a picture breaks long lines."""
    return "".join("".join(line.split()) for line in lines)


class SvgTest(unittest.TestCase):
    @parameterized.expand(FILES)
    def test_the_file_is_what_the_code_makes(self, file, name):
        written = (pictures.FOLDER / file).read_text("utf-8")
        self.assertEqual(written, pictures.forms(name)[file], "run: make upkeep")

    @parameterized.expand(FORMS)
    def test_it_has_every_line_of_both_sides(self, _, form):
        lines = texts(svg.pair(PAIR, **form), None)
        shown = words(line for line in lines if line not in "−+|")
        for body in bodies(PAIR):
            for line in filter(str.strip, body):
                self.assertIn(words([line]), shown)
        self.assertNotIn("Args:", shown)

    def test_narrow_has_the_sides_one_above_the_other(self):
        picture = svg.pair(PAIR, narrow=True)
        shown = words(line for line in texts(picture) if line not in "−+|")
        left, right = map(words, bodies(PAIR))
        self.assertLess(shown.index(left), shown.index(right))

    def test_dark_and_light_differ_in_colours_alone(self):
        light, dark = (svg.pair(PAIR, dark=dark) for dark in (False, True))
        self.assertEqual(texts(light), texts(dark))
        self.assertNotEqual(light, dark)

    def test_it_says_what_is_proven(self):
        known = {"bounds": [], "ways": ["eager", "function"], "cases": 2}
        proofs = {"basics": {"train_classifier": known}}
        with mock.patch.object(proven, "proofs", return_value=proofs):
            picture = svg.pair(PAIR)
        told = ["identical on 1.15.5, eager, tf.function"]
        self.assertEqual(texts(picture, "proven"), told)
        with mock.patch.object(proven, "proofs", return_value={}):
            self.assertEqual(texts(svg.pair(PAIR), "proven"), [])

    @parameterized.expand(
        [
            ("short", "x = f(a)", 20, ["x = f(a)"]),
            ("comma", "x = f(first, second)", 14, ["x = f(first, ", "second)"]),
            ("bracket", "xxxxxxx = f(first)", 14, ["xxxxxxx = f(", "first)"]),
            ("blank", "aaaaaaaa = bbbbbbbb", 14, ["aaaaaaaa = ", "bbbbbbbb"]),
            ("no place", "a" * 20, 14, ["a" * 14, "a" * 6]),
        ]
    )
    def test_a_long_line_is_cut(self, _, text, columns, wanted):
        fitted = svg._fitted(text, [(c, "", False) for c in text], columns)
        found = ["".join(t for t, _, _ in pieces) for _, pieces in fitted]
        self.assertEqual(found, [line.rstrip() for line in wanted])
        self.assertEqual({n for n, _ in fitted[1:]} - {svg.HANGING}, set())

    def test_pairs_of_all_kinds_are_drawn(self):
        for name in (
            "layers.make_conv2d",
            "graphs.sum_of_collection",
            "basics.product",
        ):
            ElementTree.fromstring(svg.pair(name))


if __name__ == "__main__":
    unittest.main()
