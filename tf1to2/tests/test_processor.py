"""What of the processor decides on last bits: a claim of guide/float32.md."""

import platform
import unittest

import numpy as np
import tensorflow as tf

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


SIZES = range(8, 260, 4)
"""In KiB. A virtual machine may tell Linux one size and Eigen another."""


def summed(left, right, cut):
    """The product of matrices whose sums are made of parts of `cut` terms."""
    total = np.zeros((len(left), right.shape[1]), "f4")
    for start in range(0, TERMS, cut):
        part = np.zeros_like(total)
        for term in range(start, min(start + cut, TERMS)):
            part += left[:, term, None] * right[term]
        total += part
    return total


@unittest.skipUnless(platform.machine() == "x86_64", "Eigen has other blocks elsewhere")
class ProductTest(unittest.TestCase):
    def test_sums_are_cut_by_the_size_of_the_first_cache(self):
        random = np.random.default_rng(0)
        left, right = (
            random.standard_normal(shape).astype("f4")
            for shape in ((64, TERMS), (TERMS, 64))
        )
        product = tf.linalg.matmul(left, right).numpy()
        cuts = {terms_at_a_time(1024 * size): size for size in SIZES}
        found = [
            size
            for cut, size in cuts.items()
            if (summed(left, right, cut) == product).all()
        ]
        self.assertEqual(len(found), 1, "a cache of none of these sizes, or of two")

    def test_what_the_guide_says(self):
        self.assertEqual([terms_at_a_time(k * 1024) for k in (32, 48)], [376, 560])


if __name__ == "__main__":
    unittest.main()
