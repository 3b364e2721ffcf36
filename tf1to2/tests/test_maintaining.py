"""CONTRIBUTING and guide/maintaining: what they name is there, links lead somewhere."""

import functools
import importlib.util
import re
import unittest

from parameterized import parameterized

from tf1to2.tests.test_guides import commands
from tf1to2.tests.test_structure import PROJECT, ROOT
from upkeep.__main__ import JOBS

TEXTS = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "guide/maintaining").glob("*.md"))]
BY_NAME = [(path.stem, path) for path in TEXTS]
CODE = re.compile(r"(?s)```.*?```|`[^`\n]+`")
FOLDERS = [
    path.name
    for path in ROOT.iterdir()
    if path.is_dir() and (path.name == ".ci" or path.name.isidentifier())
    if path.name not in ("build", "dist", "site")  # made, and perhaps long ago
]
PATH = re.compile(r"(?<![\w./~-])(\.?[A-Za-z]\w*(?:/[\w.*-]+)+/?)")
SUFFIXES = "py", "tsv", "md", "cfg", "toml", "txt", "json", "npz"
FILE = re.compile(rf"(?<![\w./*-])([A-Za-z][\w-]*\.(?:{'|'.join(SUFFIXES)}))(?![\w.(])")
MADE = "site/", "dist/", ".venv/", ".venv-tf1/"  # not in git
GIVEN = {"FILE", "LEGACY", "MESSAGE", "HEAD", "PAIR", "TF1_PYTHON"}


def code_of(path):
    """The code of a text: its spans and its fenced blocks."""
    return [match.strip("`") for match in CODE.findall(path.read_text("utf-8"))]


def paths(code):
    """Paths of files and folders of this repository that a piece of code names."""
    for path in PATH.findall(code):
        top, _, rest = path.partition("/")
        named = top in FOLDERS or rest.rpartition(".")[2] in SUFFIXES
        if named and not path.startswith(MADE) and "*" not in path:
            yield path


def targets():
    """Names of the targets of the Makefile."""
    text = (ROOT / "Makefile").read_text("utf-8")
    rules = re.findall(r"(?m)^([a-z][a-z -]*):(?!=)", text)
    return {name for rule in rules for name in rule.split()}


def extras():
    """Names of the extras in pyproject.toml."""
    return set(PROJECT["optional-dependencies"])


def is_run(module):
    """Whether `python -m` finds a module, and something to run in it."""
    found = importlib.util.find_spec(module)
    if found and found.submodule_search_locations:
        return importlib.util.find_spec(f"{module}.__main__") is not None
    return found is not None


@functools.cache
def files():
    """Names of all files at the top and in the folders of this repository."""
    found = {path.name for path in ROOT.iterdir()}
    for folder in FOLDERS:
        found |= {path.name for path in (ROOT / folder).rglob("*.*")}
    return found


@functools.cache
def sources():
    """The Makefile, noxfile.py and the Python of tools and proofs, as one text."""
    paths = [ROOT / "Makefile", ROOT / "noxfile.py"]
    for folder in ("tf1to2", "upkeep", "parity_tests"):
        paths += (ROOT / folder).rglob("*.py")
    return "\n".join(path.read_text("utf-8") for path in paths)


class NamedTest(unittest.TestCase):
    @parameterized.expand(BY_NAME)
    def test_paths_exist(self, _, text):
        missing = {
            p for c in code_of(text) for p in paths(c) if not (ROOT / p).exists()
        }
        self.assertEqual(missing, set())

    @parameterized.expand(BY_NAME)
    def test_files_without_a_folder_exist_somewhere(self, _, text):
        named = {name for code in code_of(text) for name in FILE.findall(code)}
        self.assertEqual(named - files(), set())

    @parameterized.expand(BY_NAME)
    def test_targets_of_make_exist(self, _, text):
        known = targets()
        for code in code_of(text):
            for words in re.findall(r"(?m)\bmake((?: [^\s&|#;]+)+)", code):
                for word in words.split():
                    extra = word.removeprefix(".venv/with-")
                    if extra != word:
                        self.assertIn(extra, extras())
                    elif re.fullmatch(r"[a-z][a-z-]*", word):
                        self.assertIn(word, known, code)

    @parameterized.expand(BY_NAME)
    def test_modules_can_be_run(self, _, text):
        for code in code_of(text):
            for module in re.findall(r"python3? -m ([\w.]+)", code):
                if module != "build":  # of the extra "packaging"
                    self.assertTrue(is_run(module), module)

    @parameterized.expand(BY_NAME)
    def test_jobs_of_upkeep_exist(self, _, text):
        for code in code_of(text):
            for words in re.findall(r"-m upkeep((?: [a-z_]\w+)*)", code):
                self.assertLessEqual(set(words.split()), {"all", *JOBS}, code)

    @parameterized.expand(BY_NAME)
    def test_commands_exist(self, _, text):
        known = commands()
        for code in code_of(text):
            for command in re.findall(r"(?m)(?:^|bin/|\$ )tf1to2 ([a-z-]+)", code):
                self.assertIn(command, known, code)

    @parameterized.expand(BY_NAME)
    def test_tests_and_constants_exist(self, _, text):
        names = r"test_\w+|[A-Z][A-Z_]+[A-Z]"
        named = {c for c in code_of(text) if re.fullmatch(names, c)} - GIVEN
        missing = {n for n in named if not re.search(rf"\b{n}\b", sources())}
        self.assertEqual(missing, set())

    @parameterized.expand(BY_NAME)
    def test_links_lead_somewhere(self, _, text):
        prose = CODE.sub("", text.read_text("utf-8"))
        for link in re.findall(r"\]\(([^)\s]+)\)", prose):
            path, _, anchor = link.partition("#")
            there = text.parent / path if path else text
            self.assertTrue(there.exists(), link)
            if anchor:
                titles = re.findall(r"(?m)^#+ (.+)$", there.read_text("utf-8"))
                slugs = [re.sub(r"[^\w -]", "", t.lower()) for t in titles]
                self.assertIn(anchor, [slug.replace(" ", "-") for slug in slugs])

    def test_every_recipe_is_in_the_index(self):
        index = (ROOT / "guide/maintaining/README.md").read_text("utf-8")
        for path in TEXTS[1:]:
            if path.name != "README.md":
                self.assertIn(f"]({path.name})", index)


class NoticedTest(unittest.TestCase):
    """The patterns find what they are meant to find."""

    def test_paths(self):
        code = ".venv/bin/python -m pytest -q parity_tests/test_x.py -k a; tf1to2/no"
        self.assertEqual(list(paths(code)), ["parity_tests/test_x.py", "tf1to2/no"])

    def test_files(self):
        self.assertEqual(
            FILE.findall("calls.tsv, a/b.py, tf.py_func(x)"), ["calls.tsv"]
        )

    def test_what_is_run(self):
        self.assertTrue(is_run("upkeep.probes"))
        self.assertFalse(is_run("tf1to2.scan"))
        self.assertFalse(is_run("tf1to2.nothing"))

    def test_targets(self):
        self.assertLessEqual({"test-install", "test-wheel", "upkeep"}, targets())
