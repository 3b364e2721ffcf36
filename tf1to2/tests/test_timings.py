"""What `make test` leaves to `make test-slow`."""

import doctest
import pathlib
import re
import unittest

from parity_tests import HERE, timings

FOLDERS = HERE, pathlib.Path(__file__).parent


class SlowTest(unittest.TestCase):
    def test_every_pair_has_a_quick_case(self):
        rows = timings.slow()
        unasked = [
            pair
            for pair, names in timings.by_pair().items()
            if all(timings.is_slow(name, rows) for name in names)
        ]
        self.assertEqual(unasked, [])

    def test_every_row_names_a_test(self):
        proofs = set().union(*timings.by_pair().values())
        for row in timings.slow():
            file, _, name = row.partition("::")
            if not name.startswith("test_parity_"):
                (path,) = [f / file for f in FOLDERS if (f / file).exists()]
                tests = re.findall(r"def (test_\w+)", path.read_text("utf-8"))
                keys = tuple(timings.key(f"{file}::{test}") for test in tests)
                self.assertTrue(row.startswith(keys), row)
            elif not name.endswith("_naive"):
                self.assertIn(row, proofs)

    def test_keys_have_no_number(self):
        self.assertEqual(doctest.testmod(timings).failed, 0)
