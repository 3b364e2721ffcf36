"""Every op and layer is proven at the sizes of real code, on ordinary numbers."""

import unittest

import numpy as np
from parameterized import parameterized

from parity_tests import PROVIDER
from tf1to2.parity import structure
from tf1to2.parity.arrays import real
from tf1to2.parity.cases import Raises

SMALL = {
    "gradients.hessian": "64 numbers: its answer has 64 rows of 64",
    "numerics.decayed": "120 steps: a function of each step alone",
    "randomness.stateless": "two seeds: its size is an argument, a thousand in a case",
}
"""{pair: what it is proven at, and why that is enough}."""


def fed(case):
    """The arrays that a case is fed, at all its sizes."""
    requests = [case.request(sizes) for sizes in case.bindings()]
    return [a for r in requests for a in structure.arrays(r["args"]).values()]


def has_size(array):
    """Whether it is neither a scalar nor text."""
    return array.ndim > 0 and array.dtype.kind in "biufc"


def ordinary(array):
    """Whether sums of these numbers are rounded: few of them have few bits.

    Integers, truth values and texts are ordinary unless they are all alike.
    """
    if array.dtype.kind not in "fc":
        return len(np.unique(array)) > 1
    scaled = np.abs(array.astype(np.complex128)) * 2**12
    return np.mean(scaled != np.round(scaled)) > 0.5


def small(proof):
    """The ops and layers of a proof without a case of real size.

    Who is fed scalars and texts alone has no size to grow.
    """
    arrays = {}
    for case in proof.cases:
        if case.kind != "program" and not isinstance(case, Raises):
            arrays.setdefault(f"{proof.name}.{case.name}", []).extend(fed(case))
    return [
        pair
        for pair, all_fed in arrays.items()
        if any(map(has_size, all_fed))
        and not any(real(array.shape) and ordinary(array) for array in all_fed)
    ]


class SizesTest(unittest.TestCase):
    @parameterized.expand(PROVIDER.names())
    def test_ops_and_layers_run_at_the_sizes_of_real_code(self, topic):
        known = [pair for pair in SMALL if pair.partition(".")[0] == topic]
        self.assertEqual(small(PROVIDER.load(topic)), known)

    @parameterized.expand(
        [
            ("drawn", np.random.RandomState(0).normal(size=1000), True),
            ("eighths", np.arange(1000) / 8, False),
            ("integers", np.arange(1000), True),
            ("one_integer", np.ones(1000, int), False),
        ]
    )
    def test_what_is_ordinary(self, _, array, expected):
        self.assertEqual(ordinary(array), expected)
