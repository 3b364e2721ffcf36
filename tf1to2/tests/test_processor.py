"""What of the processor decides on last bits: a claim of guide/float32.md."""

import re
import unittest

import numpy as np
import tensorflow as tf

from tf1to2.parity import recordings

TERMS = 2211
# Eigen makes 16 rows and 4 columns at a time (of packets of 8: the wheels are compiled
# for AVX), in steps of 8 terms; what it reads for them fits into the cache.
ROWS, COLUMNS, STEP = 16, 4, 8


def terms_at_a_time(cache):
    """How many terms are added before they are added to the sums before.

    Source: evaluateProductBlockingSizesHeuristic of Eigen's GeneralBlockPanelKernel.h,
    for one thread.
    """
    most = (cache - 4 * ROWS * COLUMNS) // (4 * (ROWS + COLUMNS)) // STEP * STEP
    rest = TERMS % most
    return most - STEP * ((most - 1 - rest) // (STEP * (TERMS // most + 1)))


class ProductTest(unittest.TestCase):
    def test_sums_are_cut_by_the_size_of_the_first_cache(self):
        sizes = [f for f in recordings.cpu_features() if f.startswith("L1d=")]
        if not sizes:
            self.skipTest("the system does not tell the size of the cache")
        cut = terms_at_a_time(1024 * int(re.fullmatch(r"L1d=(\d+)K", sizes[0])[1]))
        random = np.random.default_rng(0)
        left, right = (
            random.standard_normal(shape).astype("f4")
            for shape in ((64, TERMS), (TERMS, 64))
        )
        expected = np.zeros((64, 64), "f4")
        for start in range(0, TERMS, cut):
            part = np.zeros((64, 64), "f4")
            for term in range(start, min(start + cut, TERMS)):
                part += left[:, term, None] * right[term]
            expected += part
        np.testing.assert_array_equal(tf.linalg.matmul(left, right), expected)

    def test_what_the_guide_says(self):
        self.assertEqual([terms_at_a_time(k * 1024) for k in (32, 48)], [376, 560])


if __name__ == "__main__":
    unittest.main()
