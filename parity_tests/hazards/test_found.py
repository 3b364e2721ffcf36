"""Every class of the pages is in a table of hazards, or on an allow-list with a reason.

A module `test_<kind>` of this package has `CASES`, a list of (class name, arguments of
the tests …), and `ALLOWED`, {class name: reason why no hazard applies}. The names are
those of `found`: "v2_eager.keras_optimizers.Nadam". A class may have several cases.
"""

import importlib
import unittest

from parameterized import parameterized

from parity_tests.hazards import found

KINDS = [kind for kind, by_name in found.classes().items() if by_name]


class FoundTest(unittest.TestCase):
    @parameterized.expand(KINDS)
    def test_every_class_has_a_case_or_a_reason(self, kind):
        table = importlib.import_module(f"parity_tests.hazards.test_{kind}")
        cased = {name.partition(" ")[0] for name, *_ in table.CASES}
        expected = set(found.classes()[kind])
        add = f"add it to CASES of parity_tests/hazards/test_{kind}.py, or to ALLOWED"
        self.assertEqual(expected - cased - set(table.ALLOWED), set(), add)
        self.assertEqual(cased & set(table.ALLOWED), set(), "in both")
        self.assertEqual(
            (cased | set(table.ALLOWED)) - expected, set(), "no such class"
        )
        for name, reason in table.ALLOWED.items():
            self.assertGreater(len(reason.split()), 3, name)
