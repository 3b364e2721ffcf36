"""The engine stands alone: it runs without the edition, for any provider."""

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
from tf1to2.tests.commands import Folder

EDITION = ("parity_tests", "v1_graph", "v2_eager", "v2_keras")


class EngineTest(unittest.TestCase):
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


class PageTest(Folder):
    def setUp(self):
        super().setUp()
        self.write(
            net="from parts import layer\n\n\ndef f(x):\n    return 1\n",
            parts__layer="from . import names\n",
            parts__names="A = 'a'\n",
            parts__other="B = 'b'\n",
            **{"parts/__init__": ""},
        )

    def code(self):
        return page.Page("net.py", self.folder).code

    def test_what_it_imports_belongs_to_it(self):
        sources = page.Page("net.py", self.folder).sources
        self.assertEqual(list(sources), ["net", "parts", "parts.layer", "parts.names"])

    def test_what_is_installed_beside_a_page_is_no_part_of_it(self):
        names = "legacy/__init__", "legacy/parts", "numpy", "tf1to2"
        self.write(**{f"site-packages/{name}": "" for name in names})
        self.write(**{"site-packages/legacy/net": "import numpy, legacy.parts\n"})
        sources = page.Page("legacy.net", self.folder / "site-packages").sources
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
        self.write(**{name: text})
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
        self.write(**{name: text})
        self.assertNotEqual(self.code(), before)
