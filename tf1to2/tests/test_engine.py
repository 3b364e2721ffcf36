"""The engine stands alone: who may import whom, and what a provider is."""

import ast
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

from parameterized import parameterized

from tf1to2.common.errors import CommandError
from tf1to2.pages import page, topics
from tf1to2.parity import providers

ROOT = pathlib.Path(__file__).parents[2]
EDITION = ("parity_tests", "v1_graph", "v2_eager", "v2_keras")
PACKAGES = ("tf1to2", *EDITION)


def modules():
    """{dotted name: path} of all modules but the tests of the tools."""
    found = {}
    for package in PACKAGES:
        for path in topics.folder(package).rglob("*.py"):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            if ".tests." not in name and not name.endswith(".tests"):
                found[name.removesuffix(".__init__")] = path
    return found


def edges(name, path, known):
    """The modules that a module imports, in functions too, or names in a text."""
    imported = page.imports(name, path)
    tree = ast.parse(path.read_text("utf-8"))
    texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    imported |= {t for t in texts if isinstance(t, str) and t in EDITION}
    return {module for module in imported if module in known} - {name}


class ImportsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        known = modules()
        cls.edges = {name: edges(name, path, known) for name, path in known.items()}

    def test_the_engine_imports_the_engine_and_the_errors_alone(self):
        engine = {n: e for n, e in self.edges.items() if n.startswith("tf1to2.parity")}
        self.assertGreater(len(engine), 10)
        for name, imported in engine.items():
            others = {m for m in imported if not m.startswith("tf1to2.parity")}
            allowed = {"tf1to2", "tf1to2.common.errors", "tf1to2.common.output"}
            if name == "tf1to2.parity.matching":  # names are matched in one place
                allowed |= {"tf1to2.checkpoint", "tf1to2.matching.automatic"}
            self.assertLessEqual(others, allowed, name)

    def test_the_proofs_import_of_the_tools_what_they_prove(self):
        for name, imported in self.edges.items():
            if name.startswith("parity_tests"):
                tools = {m for m in imported if m.startswith("tf1to2.")}
                tools = {m for m in tools if not m.startswith("tf1to2.parity")}
                proven = ("tf1to2.checkpoint", "tf1to2.probes", "tf1to2.scan")
                others = {m for m in tools if not m.startswith(proven)}
                self.assertEqual(others, set(), name)

    def test_the_tools_import_no_proof(self):
        for name, imported in self.edges.items():
            if name.startswith("tf1to2"):
                proofs = {m for m in imported if m.startswith("parity_tests.")}
                self.assertEqual(proofs, set(), name)

    def cycles(self):
        """Pairs of modules of two packages that import each other, however far."""

        def reach(name):
            found, waiting = set(), [name]
            while waiting:
                fresh = self.edges[waiting.pop()] - found
                found |= fresh
                waiting += fresh
            return found

        def part(name):
            return name.split(".")[:2]

        reached = {name: reach(name) for name in self.edges}
        return [
            (a, b)
            for a, others in reached.items()
            for b in others
            if a in reached[b] and part(a) != part(b)
        ]

    def test_no_two_packages_import_each_other(self):
        self.assertEqual(self.cycles(), [])

    def test_a_cycle_would_be_seen(self):
        proof = "tf1to2.parity.proof"
        self.edges = {**self.edges, proof: self.edges[proof] | {"tf1to2.prove.verify"}}
        self.assertIn(("tf1to2.prove.verify", "tf1to2.parity.proof"), self.cycles())

    def test_the_engine_runs_without_the_edition(self):
        stems = sorted(p.stem for p in topics.folder("tf1to2").glob("parity/[a-z]*.py"))
        program = (
            "import importlib, sys\n"
            f"for stem in {stems}: importlib.import_module('tf1to2.parity.' + stem)\n"
            f"loaded = [m for m in sys.modules if m.partition('.')[0] in {EDITION}]\n"
            "loaded += [m for m in sys.modules if m == 'tf1to2.pages.topics']\n"
            "print(loaded)"
        )
        run = subprocess.run([sys.executable, "-c", program], capture_output=True)
        self.assertEqual(run.stdout, b"[]\n", run.stderr[-300:])


LEFT = "import tensorflow.compat.v1 as tf\n\n\ndef twice(x):\n    return x * 2\n"
RIGHT = "def doubled(x):\n    return 2 * x\n"
TEST = """
    import numpy as np
    from tf1to2.parity import Op, Page, Proof

    HERE = __file__.rpartition("/")[0]
    PORT = Proof(
        Page("legacy/net.py", HERE),
        Page("port_of_net", HERE),
        [Op("twice", "three", [np.float32([1, 2, 3])], expect=[2, 4, 6])],
        HERE + "/port.npz",
        name="port",
        names={"twice": "doubled"},
    )
"""


class ProviderTest(unittest.TestCase):
    """A user's file provides proofs as this repository's topics do."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        (cls.folder / "legacy").mkdir()
        (cls.folder / "legacy" / "net.py").write_text(LEFT)
        (cls.folder / "port_of_net.py").write_text(RIGHT)
        (cls.folder / "test_port_of_net.py").write_text(textwrap.dedent(TEST))
        cls.provider = providers.provider(cls.folder / "test_port_of_net.py")

    def test_its_proofs_have_names(self):
        self.assertEqual(self.provider.names(), ["port"])
        ((proof, pair),) = providers.select(self.provider, ["port.twice"])
        self.assertEqual((proof.name, pair), ("port", "twice"))

    def test_the_left_page_is_not_imported_to_be_known(self):
        proof = self.provider.load("port")
        self.assertEqual(list(proof.left.sources), ["legacy.net"])
        self.assertNotIn("legacy.net", sys.modules)

    def test_names_that_differ_are_the_same_pair(self):
        proof = self.provider.load("port")
        (case,) = proof.cases
        (answer,) = proof.ask("eager", [case.request({})])
        self.assertEqual(answer["outputs"].tolist(), [2, 4, 6])

    @parameterized.expand(
        [
            ("no_file", "nowhere/test_port.py", "no such file"),
            ("no_module", "no_such_module", "cannot be imported"),
            ("no_proof", "tf1to2.common.errors", "has no proof"),
        ]
    )
    def test_what_provides_nothing(self, _, where, message):
        with self.assertRaisesRegex(CommandError, message):
            providers.provider(where)

    @parameterized.expand(
        [("proof", "prt", "did you mean port"), ("pair", "port.thrice", "twice")]
    )
    def test_a_mistyped_name_suggests_the_nearest(self, _, name, hint):
        with self.assertRaisesRegex(CommandError, hint):
            providers.select(self.provider, [name])


class PageTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("net.py", "from parts import layer\n\n\ndef f(x):\n    return 1\n")
        self.write("parts/__init__.py", "")
        self.write("parts/layer.py", "from . import names\n")
        self.write("parts/names.py", "A = 'a'\n")
        self.write("parts/other.py", "B = 'b'\n")

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def code(self):
        return page.Page("net.py", self.folder).code

    def test_what_it_imports_belongs_to_it(self):
        sources = page.Page("net.py", self.folder).sources
        self.assertEqual(list(sources), ["net", "parts", "parts.layer", "parts.names"])

    def test_what_is_installed_beside_a_page_is_no_part_of_it(self):
        folder = self.folder / "site-packages"
        for name in ("legacy/__init__", "legacy/parts", "numpy", "tf1to2"):
            path = folder / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
        (folder / "legacy" / "net.py").write_text("import numpy, legacy.parts\n")
        sources = page.Page("legacy.net", folder).sources
        self.assertEqual(list(sources), ["legacy", "legacy.net", "legacy.parts"])

    @parameterized.expand(
        [
            (
                "a_comment",
                "net.py",
                "# new\nfrom parts import layer\ndef f(x): return 1",
            ),
            ("line_ends", "parts/names.py", "\r\n\r\nA = 'a'\r\n"),
            ("quotes", "parts/names.py", 'A = "a"'),
            ("a_module_that_is_not_imported", "parts/other.py", "B = 'c'"),
        ]
    )
    def test_what_is_no_change(self, _, name, text):
        before = self.code()
        self.write(name, text)
        self.assertEqual(self.code(), before)

    @parameterized.expand(
        [
            ("a_number", "net.py", "from parts import layer\ndef f(x): return 2"),
            ("what_an_import_imports", "parts/names.py", "A = 'b'\n"),
            ("a_package", "parts/__init__.py", "C = 1\n"),
            ("none_for_nothing", "parts/names.py", "A = None\n"),
        ]
    )
    def test_what_is_a_change(self, _, name, text):
        before = self.code()
        self.write(name, text)
        self.assertNotEqual(self.code(), before)
