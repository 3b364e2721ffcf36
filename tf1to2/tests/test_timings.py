"""What `make test` leaves to `make test-slow`, and which tests quote a message."""

import doctest
import types
import unittest

from parity_tests import conftest, test_shapes, timings
from tf1to2.parity import Raises


class SlowTest(unittest.TestCase):
    def test_every_pair_has_a_quick_case(self):
        rows = timings.slow()
        unasked = [
            pair
            for pair, names in timings.by_pair().items()
            if all(timings.is_slow(name, rows) for name in names)
        ]
        self.assertEqual(unasked, [])

    def test_keys_have_no_number(self):
        self.assertEqual(doctest.testmod(timings).failed, 0)


class QuotesTest(unittest.TestCase):
    def quoting(self, owner, name):
        function, module = getattr(owner, name), test_shapes
        item = types.SimpleNamespace(function=function, module=module, name=name)
        return conftest.quotes(item)

    def test_a_case_of_bad_input_quotes_a_message(self):
        names = [
            n for n in vars(test_shapes.ShapesTest) if n.startswith("test_parity_")
        ]
        checks = test_shapes.PROOF.checks()
        self.assertEqual(len(names), len(checks))
        for name in names:
            _, check = checks[int(name.split("_")[2])]
            found = self.quoting(test_shapes.ShapesTest, name)
            self.assertEqual(found, isinstance(check.case, Raises), name)

    def test_so_does_a_test_that_asserts_one(self):
        with self.assertRaisesRegex(ValueError, "no"):
            raise ValueError("no")
        here = "test_so_does_a_test_that_asserts_one"
        self.assertTrue(self.quoting(QuotesTest, here))
        self.assertFalse(self.quoting(SlowTest, "test_keys_have_no_number"))
