import json
import tempfile

import hypothesis
import numpy as np
from hypothesis import strategies as st
from parameterized import parameterized

import parity_tests  # noqa: F401  TensorFlow starts in the settings of the proofs

# isort: split
import tensorflow as tf

from tf1to2.checkpoint import maps
from tf1to2.common.errors import CommandError
from tf1to2.tests.test_checkpoint import MAP, VALUES, Conversion, contents, having


def nested(depth):
    return [nested(depth - 1)] if depth else 0


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["", "*", "like", "int8", "names", "dense/bias", "a/*", -1, [0]]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner)
    ),
    max_leaves=6,
)
PLACES = [
    (),
    ("format",),
    ("auto",),
    ("tensors",),
    ("tensors", "dense/bias"),
    ("tensors", "d*"),
    ("tensors", "conv/w", "transpose"),
    ("tensors", "conv/w", "reshape"),
    ("tensors", "conv/w", "dtype"),
    ("drop",),
    ("drop", 0),
    ("new",),
    ("new", "net/m"),
    ("new", "*"),
    ("new", "net/m", "value"),
    ("new", "net/m", "shape"),
    ("new", "net/m", "dtype"),
]


class BadMapTest(Conversion):
    @parameterized.expand(
        [
            ("missing file", None, "map.json: No such file"),
            ("no JSON", "{", "not valid JSON"),
            ("a list", "[]", "expected an object, but found"),
            ("no format", "{}", "'format' is missing"),
            ("another format", '{"format": "keras"}', "must be"),
            (
                "a name twice",
                '{"format": "names", "drop": [], "drop": []}',
                "comes twice",
            ),
            (
                "a typo",
                having(MAP, "dorp", []),
                "unknown key 'dorp'; known keys: format",
            ),
            (
                "another typo",
                having(MAP, "tensors", "a", {"to": "b", "perm": [0]}),
                "a: unknown key 'perm'",
            ),
            ("no place", having(MAP, "tensors", "a", {}), "a: 'to' is missing"),
            (
                "a number",
                having(MAP, "tensors", "a", 3),
                "expected an object, but found",
            ),
            (
                "no numbers",
                having(MAP, "tensors", "a", {"to": "b", "reshape": ["x"]}),
                "must be a list of integers",
            ),
            (
                "no dtype",
                having(MAP, "new", "a", {"value": 0, "dtype": "float31"}),
                "a: unknown dtype 'float31'",
            ),
            (
                "a size below zero, although the product is right",
                having(MAP, "tensors", "conv/w", {"to": "w", "reshape": [-4, -6]}),
                "conv/w: reshape must be a list of integers, 0 or larger",
            ),
            (
                "a value that the dtype has not",
                having(MAP, "new", "a", {"value": 300, "dtype": "int8"}),
                "a: 300 cannot be stored as int8",
            ),
            (
                "a number as text",
                having(MAP, "new", "a", {"value": 1, "dtype": "string"}),
                "a: 1 cannot be stored as string",
            ),
            (
                "null, which is not a number",
                having(MAP, "new", "a", {"value": None, "dtype": "float32"}),
                "a: null cannot be stored as float32",
            ),
            (
                "a value of another shape",
                having(
                    MAP, "new", "a", {"value": [1, 2], "shape": [3], "dtype": "int64"}
                ),
                "a: operands could not be broadcast",
            ),
            (
                "a dtype without arrays",
                having(MAP, "tensors", "conv/w", {"to": "w", "dtype": "resource"}),
                "conv/w: unknown dtype 'resource'",
            ),
            (
                "a reference",
                having(MAP, "tensors", "conv/w", {"to": "w", "dtype": "float32_ref"}),
                "conv/w: unknown dtype 'float32_ref'",
            ),
            (
                "half a character",
                having(MAP, "tensors", "dense/bias", "\ud800"),
                r"'\\ud800' is not a valid name",
            ),
            ("deep", "[" * 100_000, "not valid JSON: maximum recursion depth"),
            ("drops no names", having(MAP, "drop", [1]), "must be a list of names"),
            ("null for a place", having(MAP, "tensors", "a", None), "found null"),
            ("false for a place", having(MAP, "tensors", "a", False), "found false"),
            ("a list for a place", having(MAP, "tensors", "a", []), r"found \[\]"),
            (
                "no JSON number",
                '{"format": "names", "new": NaN}',
                "NaN is not a number",
            ),
            ("a huge one", '{"new": {"a": {"value": 1e999}}}', "1e999 is not a number"),
            (
                "more digits than Python reads",
                '{"a": ' + "9" * 5000 + "}",
                "not valid JSON",
            ),
            (
                "a size that no tensor has",
                having(MAP, "tensors", "conv/w", {"to": "w", "reshape": [0, 2**63]}),
                "conv/w: reshape must be a list of integers",
            ),
            (
                "true for a size",
                having(MAP, "tensors", "conv/w", {"to": "w", "reshape": [True, 24]}),
                "conv/w: reshape must be a list of integers",
            ),
            (
                "a value that overflows",
                having(MAP, "new", "a", {"value": 1e39, "dtype": "float32"}),
                r"a: 1e\+39 cannot be stored as float32",
            ),
            (
                "a large integer as a float",
                having(MAP, "new", "a", {"value": 2**24 + 1, "dtype": "float32"}),
                "a: 16777217 cannot be stored as float32",
            ),
            (
                "below zero, unsigned",
                having(MAP, "new", "a", {"value": -1, "dtype": "uint64"}),
                "a: -1 cannot be stored as uint64",
            ),
            (
                "an integer of 30 digits",
                having(MAP, "new", "a", {"value": 10**30, "dtype": "int64"}),
                "a: 10{30} cannot be stored as int64",
            ),
            (
                "rows of two lengths",
                having(MAP, "new", "a", {"value": [[1], [1, 2]], "dtype": "int64"}),
                "a: setting an array element with a sequence",
            ),
            (
                "a deep place",
                json.dumps(MAP).replace('"net/bias"', "[" * 900 + "]" * 900),
                "expected an object, but found",
            ),
            (
                "a deep value",
                having(MAP, "new", "a", {"value": nested(100), "dtype": "int64"}),
                "a: setting an array element with a sequence",
            ),
            (
                "one name in two spellings",
                having(
                    having(MAP, "tensors", "step", "a"),
                    "tensors",
                    "step/.ATTRIBUTES/VARIABLE_VALUE",
                    "b",
                ),
                "'step' comes twice, with and without its suffix",
            ),
            (
                "lines in a name",
                having(MAP, "tensors", "a\n\x85\u2028b", 3),
                "a b: expected an object",
            ),
            (
                "a name that ends too early",
                having(MAP, "tensors", "dense/bias", "a\0b"),
                "is not a valid name",
            ),
            (
                "stars that nothing fills",
                having(MAP, "tensors", "dense/*", "*/net/*"),
                r"dense/\*: \*/net/\* must have as many stars as the old name, or none",
            ),
            (
                "auto of another type",
                having(MAP, "auto", "yes"),
                "'auto' cannot be \"yes\"",
            ),
            (
                "auto without names",
                having(MAP, "auto", True),
                "needs --like or --names",
            ),
        ]
    )
    def test_the_map_is_checked(self, _, mapping, match):
        if mapping is None:
            with self.assertRaisesRegex(CommandError, match):
                maps.read_map(self.folder / "map.json")
        else:
            self.refused(mapping, match=match)
        self.assertFalse(list(self.folder.glob("v2*")))

    @hypothesis.settings(max_examples=300, deadline=None, derandomize=True)
    @hypothesis.given(place=st.sampled_from(PLACES), junk=JUNK)
    def test_junk_is_one_line_or_a_plan(self, place, junk):
        mapping = having(MAP, *place, junk) if place else junk
        try:
            status, text = self.convert(mapping, "--dry-run")
        except CommandError as error:
            self.assertEqual(len(str(error).splitlines()), 1)
        else:
            self.assertEqual("nothing written" in text, status == 1)
            self.assertIn(status, (0, 1))

    @parameterized.expand(
        [
            ("a list", "[]", "expected .*old name: new name"),
            ("nothing", "{}", "expected .*old name: new name"),
            ("a number", '{"a": 1}', "a: expected a name, but found 1"),
            ("no name", '{"a": "b//c"}', "'b//c' is not a valid name"),
            ("twice", '{"a": "b", "a": "c"}', "'a' comes twice"),
        ]
    )
    def test_names_are_checked(self, _, text, match):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(text)
            file.flush()
            with self.assertRaisesRegex(CommandError, match):
                maps.read_names(file.name)


class WildcardTest(Conversion):
    def test_on_both_sides(self):
        mapping = {
            "format": "names",
            "tensors": {
                "dense/*": {"to": "net/*", "dtype": "float64"},
                "*/w": "w/of/*",
                "old/*": "*",
                "old/b": "kept",
            },
            "drop": ["*o*y", "global_step"],
        }
        status, text = self.convert(mapping)
        self.assertEqual(status, 0, text)
        got = contents(self.target)
        self.assertEqual(set(got), {"net/kernel", "net/bias", "w/of/conv", "a", "kept"})
        wanted = VALUES["dense/kernel"].astype("d")
        np.testing.assert_array_equal(got["net/kernel"], wanted, strict=True)
        self.assertEqual(got["kept"], VALUES["old/b"])

    def test_the_rest_from_the_template(self):
        template = tf.train.Checkpoint(
            bias=tf.Variable(VALUES["dense/bias"]),
            model=tf.train.Checkpoint(x=tf.Variable([1.0, 2.0]), y=tf.Variable(3.0)),
        )
        like = template.save(self.folder / "like")
        mapping = {
            "format": "objects",
            "tensors": {"dense/bias": "bias", "old/a": "model/y"},
            "drop": ["*"],
            "new": {"model/*": "like", "save_counter": "like"},
        }
        status, text = self.convert(mapping, "--like", like)
        self.assertEqual(status, 0, text)
        template.model.x.assign([0.0, 0.0])
        template.restore(self.target).assert_consumed()
        self.assertEqual(template.model.x.numpy().tolist(), [1.0, 2.0])
        self.assertEqual(template.model.y.numpy(), VALUES["old/a"])

    @parameterized.expand(
        [
            (
                "nothing there",
                having(MAP, "tensors", "new/*", "x/*"),
                "mapped, but not in the source:\n  new/*",
            ),
            (
                "two that fit",
                {"format": "names", "tensors": {"*d/a": "x/*", "ol*/a": "y/*"}},
                "mapped by several patterns:\n  old/a: *d/a, ol*/a",
            ),
            (
                "all in one place",
                {"format": "names", "tensors": {"*": "all"}},
                "filled twice:\n  all",
            ),
            (
                "a place without a name",
                having(having(MAP, "drop", []), "tensors", "old*", "*"),
                "impossible:\n  old/a: to '/a'",
            ),
            (
                "nothing like it",
                having(MAP, "new", "x/*", "like"),
                '"like", but not in the template:\n  x/*',
            ),
        ]
    )
    def test_refused(self, _, mapping, complaint):
        status, text = self.convert(mapping)
        self.assertEqual(status, 1)
        self.assertIn(complaint, text)
        self.assert_nothing_left()

    def test_a_star_may_be_a_letter(self):
        source, target = self.folder / "stars", self.folder / "plain"
        tf.raw_ops.SaveV2(
            prefix=str(source),
            tensor_names=["a*", "ab"],
            shape_and_slices=["", ""],
            tensors=[tf.constant(1), tf.constant(2)],
        )
        mapping = {"format": "names", "tensors": {"a*": "star"}, "drop": ["ab"]}
        with self.assertRaisesRegex(CommandError, "stars"):
            self.convert(having(mapping, "tensors", "a*", "star*/*"), source=source)
        self.assertEqual(self.convert(mapping, source=source, target=target)[0], 0)
        self.assertEqual(contents(target), {"star": 1})


class ListTest(Conversion):
    def left(self, text):
        return json.loads(text[text.index("\n{") : text.rindex("}") + 1])

    @parameterized.expand(
        [
            ("no tensors", {"format": "names", "tensors": {}}),
            ("nothing but a format", {"format": "names"}),
        ]
    )
    def test_an_empty_map_lists_what_there_is(self, _, mapping):
        status, text = self.convert(mapping)
        self.assertEqual(status, 1)
        self.assertIn("\n  dense/bias  float64 [3]\n", text)
        left = self.left(text)
        self.assertEqual(
            left, {"format": "names", "tensors": dict.fromkeys(VALUES, "")}
        )
        # Pasted as it is, it says the same; filled in, it is a map.
        self.assertEqual(self.convert(left), (status, text))
        self.assert_nothing_left()
        filled = {name: name for name in VALUES}
        status, _ = self.convert({**left, "tensors": filled})
        self.assertEqual(status, 0)
        self.assertEqual(contents(self.target).keys(), VALUES.keys())

    def test_only_what_is_left_is_asked(self):
        mapping = having(MAP, "tensors", "dense/bias", "")
        mapping["new"]["net/m"] = ""
        status, text = self.convert(mapping)
        self.assertEqual(status, 1)
        wanted = {"tensors": {"dense/bias": ""}, "new": {"net/m": ""}}
        self.assertEqual(self.left(text), {"format": "objects", **wanted})
