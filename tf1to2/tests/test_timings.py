"""What `make test` leaves to `make test-slow`."""

import doctest
import unittest

from parity_tests import timings


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
