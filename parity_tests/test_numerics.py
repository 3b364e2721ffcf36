import importlib
import inspect
import pathlib
import unittest

from parameterized import parameterized

import parity_tests.numerics
from parity_tests import proof
from v1_graph import numerics as v1
from v2_eager import numerics as v2

LIBRARY = pathlib.Path(v2.__file__).parent
KINDS = [
    path.stem
    for path in sorted(pathlib.Path(parity_tests.numerics.__file__).parent.glob("*.py"))
    if path.stem != "__init__"
]
HELPERS = {"ClassHead", "Counts", "CountsAtK", "Head", "Image", "Layer", "Norm"}
"""Classes that metrics, layers, norms and heads share, and that are none."""


def described(kind):
    return importlib.import_module(f"parity_tests.numerics.{kind}")


DESCRIPTORS = {
    f"{kind}.{name}": cases
    for kind in KINDS
    for name, cases in described(kind).DESCRIPTORS.items()
}
CASES = [case for kind in KINDS for case in getattr(described(kind), "MORE", [])]
for cases in DESCRIPTORS.values():
    if not isinstance(cases, str):
        CASES += [case for case in cases if case not in CASES]
PROOF = proof(v1, v2, CASES)


class NumericsTest(unittest.TestCase):
    @parameterized.expand(PROOF.checks())
    def test_parity(self, _, check):
        check()


class DescriptorsTest(unittest.TestCase):
    """Every public name is proven, and nothing is described that is not there."""

    def kinds(self):
        """{kind: its module}: modules, and packages of modules."""
        stems = {path.stem for path in LIBRARY.glob("[a-z]*")}
        return {
            stem: importlib.import_module(f"v2_eager.numerics.{stem}") for stem in stems
        }

    def test_every_public_name_has_a_descriptor_and_every_descriptor_a_name(self):
        public = {
            f"{kind}.{name}"
            for kind, module in self.kinds().items()
            for name in module.__all__
        }
        self.assertEqual(public, set(DESCRIPTORS))

    def test_no_class_is_left_out(self):
        for kind, module in self.kinds().items():
            files = (LIBRARY / kind).glob("[a-z]*.py")
            names = [module.__name__, *(f"{module.__name__}.{f.stem}" for f in files)]
            own = {
                name
                for part in map(importlib.import_module, names)
                for name, value in vars(part).items()
                if inspect.isclass(value) and value.__module__ == part.__name__
            }
            self.assertEqual(own - set(module.__all__) - HELPERS, set())

    def test_what_is_proven_elsewhere_is(self):
        for pair in {c for c in DESCRIPTORS.values() if isinstance(c, str)}:
            topic, name = pair.split(".")
            cases = CASES
            if topic != "numerics":
                module = importlib.import_module(f"parity_tests.test_{topic}")
                cases = module.PROOF.cases
            self.assertIn(name, {case.name for case in cases}, pair)

    def test_public_names_are_documented(self):
        for module in self.kinds().values():
            for name in module.__all__:
                value = getattr(module, name)
                if callable(value) and not issubclass(type(value), type(tuple)):
                    self.assertTrue(inspect.getdoc(value), name)
