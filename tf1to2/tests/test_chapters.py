"""Each chapter has the same order, rules in bold, and code that runs."""

import ast
import builtins
import contextlib
import dis
import functools
import inspect
import re
import sys
import types
import unittest
from unittest import mock

from parameterized import parameterized

from tf1to2.explain import questions
from tf1to2.pages import library, topics
from tf1to2.tests.playing import registered_no_more
from tf1to2.tests.test_structure import ROOT
from tf1to2.view import take
from upkeep import chapters, pictures

CHAPTERS = [(name, topic) for name, topic in topics.topics().items()]


def text_of(name):
    return (ROOT / "guide" / f"{name}.md").read_text("utf-8")


def shown(name):
    """The pairs that a chapter shows as code."""
    found = chapters.SHOWN.search(text_of(name))
    return found[2].split() if found else []


def code_of(name):
    """[(side, code)] of the blocks that are made in a chapter."""
    found = chapters.SHOWN.search(text_of(name))
    side, blocks = None, []
    for match in re.finditer(
        r"(?ms)^\*\*(TensorFlow [12])\*\*$|^```python\n(.*?)^```$",
        found[0] if found else "",
    ):
        side = match[1] or side
        if match[2]:
            blocks.append((side, match[2]))
    return blocks


SECTIONS = ["In code", "Changes your numbers", "Raises", "Good to know"]
FOLD = re.compile(
    r"(?ms)^<details><summary>[^\n]+</summary>\n\n(?:(?!^<details>).)+?^</details>\n"
)


def sections(name):
    """{heading: text by hand} of a chapter; "" is what stands above the first."""
    first, *rest = re.split(r"(?m)^## ", chapters.by_hand(text_of(name)))
    return {"": first} | dict(part.split("\n", 1) for part in rest)


def rules(text):
    """The paragraphs of a section that are not folded."""
    return [p.strip() for p in FOLD.sub("", text).split("\n\n") if p.strip()]


class TextTest(unittest.TestCase):
    @parameterized.expand(CHAPTERS)
    def test_the_sections_in_order(self, name, _):
        found = list(sections(name))[1:]
        if found[0] == "In short":
            self.assertEqual(found[1], "Each name")
            found = found[2:]
        self.assertEqual(found[:4], SECTIONS)

    def test_each_example_of_in_short_begins_a_chapter(self):
        begun = {
            path.stem
            for path in (ROOT / "guide").glob("*.md")
            if chapters.IN_SHORT.search(path.read_text("utf-8"))
        }
        for side in ("legacy", "ported"):
            found = {path.stem for path in (chapters.EXAMPLES / side).glob("*.py")}
            self.assertEqual(found - {"legacy_numerics"}, begun)

    @parameterized.expand(CHAPTERS)
    def test_a_rule_begins_in_bold(self, name, _):
        for section in SECTIONS[1:]:
            found = rules(sections(name)[section])
            self.assertTrue(found, section)
            for rule in found:
                self.assertRegex(rule, r"^\*\*[^*]+[.?]\*\*")
                self.assertNotRegex(rule, r"^\*\*(Pitfall|Trap|False friend)")

    @parameterized.expand(CHAPTERS)
    def test_what_changes_numbers_shows_one(self, name, _):
        for rule in rules(sections(name)["Changes your numbers"]):
            self.assertRegex(rule, r"\d", rule)

    @parameterized.expand(CHAPTERS)
    def test_pairs_are_shown_as_code(self, name, _):
        self.assertTrue(shown(name))

    @parameterized.expand(CHAPTERS)
    def test_folds_are_closed(self, name, _):
        left = FOLD.sub("", text_of(name))
        self.assertNotIn("details>", left)


class PicturesTest(unittest.TestCase):
    def test_each_is_drawn_and_told_in_words(self):
        shown = {}
        names = "README.md", "BENCHMARKS.md", "guide/models.md"
        documents = (topics.document(name) for name in names)
        texts = [path.read_text("utf-8") for path in documents]
        for text in [*texts, *(text_of(name) for name, _ in CHAPTERS)]:
            found = re.findall(r"!\[([^\]]*)\]\([\w/]*pictures/(\w+)\.svg\)", text)
            found += re.findall(
                r'<img alt="(.*)" src="[\w/]*pictures/(\w+)\.svg">', text
            )
            shown |= {picture: words for words, picture in found}
        known = [*pictures.PICTURES, *pictures.PAIRS]
        self.assertEqual(sorted(shown), sorted(known))
        for picture, words in shown.items():
            with self.subTest(picture=picture):
                self.assertGreater(len(words.split()), 10)
                self.assertTrue((pictures.FOLDER / f"{picture}.svg").is_file())

    @parameterized.expand([(name,) for name in pictures.PICTURES])
    def test_its_dark_form_differs_in_colours_alone(self, name):
        light, dark = (
            (pictures.FOLDER / f"{name}{end}.svg").read_text("utf-8")
            for end in ("", "-dark")
        )
        self.assertEqual(pictures.dark(light), dark, f"draw it: upkeep pictures {name}")
        self.assertNotRegex(dark, "#ffffff|#000000")

    @parameterized.expand([(name,) for name in pictures.PICTURES])
    def test_its_command_draws_it(self, name):
        quick = {
            "decision_boundary": {"steps": 20},
            "race": {"runs": 5},
            "models": {"names": ["models_softmax"]},
        }
        figure = pictures.PICTURES[name](**quick.get(name, {}))
        self.assertTrue(figure.axes)

    def test_readme_has_every_form_of_its_picture(self):
        text = topics.document("README.md").read_text("utf-8")
        files = re.findall(r'(?:src|srcset)="guide/pictures/([\w-]+\.svg)"', text)
        self.assertEqual(sorted(files), sorted(pictures.forms("pair")))


class CodeTest(unittest.TestCase):
    @parameterized.expand(CHAPTERS)
    def test_a_link_for_every_pair(self, name, topic):
        linked = {
            pair: target
            for row in chapters.ROW.finditer(text_of(name))
            for pair, target in re.findall(r"\[`(\w+)`\]\(([^)]*)\)", row[2])
        }
        self.assertEqual(sorted(linked), sorted(topic.pairs))
        for pair, target in linked.items():
            if pair in shown(name):
                self.assertEqual(target, f"#{pair}")
                continue
            path, _, line = target.partition("#L")
            lines = (ROOT / "guide" / path).read_text("utf-8").splitlines()
            found = lines[int(line) - 1]
            self.assertRegex(found, rf"^def {pair}\(", "to mend it: make upkeep")

    @parameterized.expand([(n, side) for n, _ in CHAPTERS for side in chapters.SIDES])
    def test_the_code_of_a_side_is_whole(self, name, side):
        blocks = [code for of, code in code_of(name) if of == side]
        old = (3, 7) if side == chapters.SIDES[0] else None
        for code in blocks:
            ast.parse(code, feature_version=old)
            self.assertNotIn("# ---", code)
        found = {}
        with registered_no_more():
            for code in blocks:
                with written_by_take(code):
                    exec(code, found)
        self.assertEqual(free_names("\n".join(blocks)), set())
        page = chapters.SIDES.index(side)
        for pair in shown(name):
            node = library.pairs()[f"{name}.{pair}"][page].node
            function = getattr(found[pair], "python_function", found[pair])
            names = [a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)]
            given = list(inspect.signature(function).parameters)
            self.assertEqual(sorted(given), sorted(names))


class NeedsTest(unittest.TestCase):
    """A section says which names its code takes from other sections."""

    @parameterized.expand(CHAPTERS)
    def test_what_a_block_does_not_define_is_named_above_it(self, name, topic):
        made = chapters.pairs(topic, shown(name))
        for section in re.split(r"(?m)^### ", made)[1:]:
            heading = section.partition("\n")[0]
            for side in re.split(r"(?m)^(?=\*\*TensorFlow [12]\*\*$)", section)[1:]:
                code = "\n".join(re.findall(r"(?ms)^```python\n(.*?)^```$", side))
                told = re.search(r"(?m)^It needs (.*)\.$", side)
                links = re.findall(
                    r"(`[^\[]*`) of \[(\w+)\]\(#\2\)", told[1] if told else ""
                )
                named = {n for names, _ in links for n in re.findall(r"`(\w+)`", names)}
                free = free_names(code)
                with self.subTest(section=heading, side=side[2:14]):
                    self.assertEqual(free, named)
                    self.assertLessEqual({s for _, s in links}, set(shown(name)))

    def test_one_name_for_what_says_the_same(self):
        for name in ("keras_files", "losses"):
            made = chapters.pairs(topics.topics()[name], shown(name))
            self.assertNotRegex(made, r"keras_files_keras|losses_BY_NONZERO_WEIGHTS")
        self.assertEqual(made.count("\nBY_NONZERO_WEIGHTS = "), 2)  # one on each side


def free_names(code):
    """The names that code takes from elsewhere."""
    module = compile(code, "code", "exec")
    bound = {i.argval for i in dis.get_instructions(module) if i.opname == "STORE_NAME"}
    return _names(module) - bound - {*dir(builtins), "__file__"}


def _names(code):
    """The names that functions and classes in code look up outside of themselves."""
    found, bound = set(), set()
    for i in dis.get_instructions(code):
        if i.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            found.add(i.argval)
        elif i.opname == "STORE_NAME":
            bound.add(i.argval)
    inner = [_names(c) for c in code.co_consts if inspect.iscode(c)]
    outside = {"__name__", "__module__", "__qualname__", "__annotations__"}
    return (found - bound).union(*inner) - outside


@contextlib.contextmanager
def written_by_take(code):
    """Provides the module that the command in a block of code writes."""
    command = re.search(r"(?m)^# tf1to2 take ((?:.*\n#     )*.*)$", code)
    module = types.ModuleType("legacy_numerics")
    if command:
        names = command[1].replace("\n#", "").partition(" --output-file ")[0].split()
        exec(_compiled(tuple(names)), module.__dict__)
    with mock.patch.dict(sys.modules, legacy_numerics=module):
        yield


@functools.cache
def _compiled(names):
    return compile(take.taken(names), "legacy_numerics.py", "exec")


class NamesakesTest(unittest.TestCase):
    """A row that begins with a name of TensorFlow 1 says which class or function of
    that name `take` writes."""

    OTHERS = {  # what these names mean in these chapters, or what the row says instead
        ("basics", "random_normal"): "the op, not the initializer",
        ("basics", "random_uniform"): "the op, not the initializer",
        ("bridges", "Optimizer"): "stays in compat.v1",
        ("contrib_learn", "Estimator"): "a base class; take has its canned models",
        ("contrib_learn", "Mean"): "the eager metric, whose sums are float64",
        ("keras_files", "save"): "a method of a model",
        ("keras_layers", "he_normal"): "the initializer of Keras",
        ("keras_optimizers", "Adam"): "the optimizer of Keras",
        ("metrics", "mean_squared_error"): "the metric, not the loss",
        ("models_cgan", "random_uniform"): "the op, not the initializer",
        ("models_vae", "random_normal"): "the op, not the initializer",
        ("randomness", "random_normal"): "the op, not the initializer",
        ("saved_models", "save"): "a method of a Saver",
        ("slim", "conv2d_transpose"): "the layer, not the op",
    }

    def test_the_row_names_it(self):
        own = {}
        for name, definition in take.available().items():
            if definition.module.name.startswith(library.NUMERICS):
                own[name.rpartition(".")[2]] = name
        missing = {}
        for chapter, _ in CHAPTERS:
            for left, right in rows(chapter):
                spans = re.findall(r"`([^`(]+)", left)
                said = {word for span in spans for word in re.findall(r"\w+$", span)}
                for name in said & set(own):
                    if not re.search(rf"\b{name}\b", right) and right != "the same":
                        missing[chapter, name] = f"{own[name]}: {left}"
        more = {key: row for key, row in missing.items() if key not in self.OTHERS}
        self.assertEqual(more, {}, "write the take line into the TensorFlow 2 column")
        self.assertEqual(set(self.OTHERS) - set(missing), set(), "no longer needed")


TABLE = re.compile(r"(?m)^\| TensorFlow 1 \|.*\n\|[-:| ]+\|\n((?:\|.*\|\n)+)")


def rows(chapter):
    """Yields the first two cells of each row of a chapter's tables by hand."""
    if chapter == "numerics":  # whose rows lead to the modules
        return
    for table in TABLE.findall(chapters.by_hand(text_of(chapter))):
        for line in table.splitlines():
            yield questions.cells(line)[:2]
