"""Raw float32 against 1.15.5: the kernels, and negative controls of the table."""

import contextlib
import unittest

import numpy as np
from parameterized import parameterized

from tf1to2.parity.compare import Mismatch
from tf1to2.parity.distance import distance
from tf1to2.parity.float32 import Row, Table
from tf1to2.tests.commands import Folder
from upkeep.kernels import changed as kernels
from upkeep.kernels.page import KERNELS
from upkeep.kernels.proof import INPUTS, PROOF

ONE = np.float32(1)
NEXT = np.nextafter(ONE, np.float32(2))
CASE = "p.f", "case"


class KernelsTest(unittest.TestCase):
    @parameterized.expand([(case.name, case) for case in PROOF.cases])
    def test_kernel(self, _, case):
        self.assertGreaterEqual(PROOF.prove_float32(case).elements, 1)

    def test_inputs_are_of_kernels(self):
        self.assertEqual(set(INPUTS) - set(KERNELS), set())

    def test_some_have_changed_and_some_have_not(self):
        changed = {name for names in kernels.changed().values() for name in names}
        self.assertLessEqual({"exp", "log", "tanh", "sum"}, changed)
        self.assertEqual({"add", "multiply", "relu", "matmul"} & changed, set())

    def test_causes_are_the_changed_kernels_that_ran(self):
        self.assertEqual(kernels.causes({"Tanh", "Exp", "Mul"}), "exp, tanh")
        self.assertEqual(kernels.causes({"Mul"}), "?")


class DistanceTest(unittest.TestCase):
    @parameterized.expand(
        [
            ("the_same", [1, np.nan, -0.0], [1, np.nan, -0.0], 0, 0),
            ("neighbours", [1, 4], [NEXT, 4], 1, 2**-25),
            ("the_sign_of_zero", [0.0, 1], [-0.0, 1], 1, 0),
            ("near_zero", [2**-100, 1], [-(2**-100), 1], None, 2**-99),
            ("infinities", [np.inf, 1], [np.inf, NEXT], 1, 2**-23),
        ]
    )
    def test_distance(self, _, a, b, units, relative):
        found = distance(np.float32(a), np.float32(b))
        if units is not None:
            self.assertEqual(found[0], units)
        self.assertEqual(np.float32(found[1]), np.float32(relative))


class TableTest(Folder):
    """A table of one row: a distance of 4 ULP, relative 4.8e-7."""

    LEFT = [{"outputs": np.float32([1, 0.5])}]

    def setUp(self):
        super().setUp()
        self.path = self.folder / "float32.tsv"
        Table(self.path).replace("p", [Row(*CASE, "outputs", 4, 4 * 2.0**-23, "exp")])

    def compare(self, right, case=CASE, **options):
        right, sides = [{"outputs": np.float32(right)}], ("then", "now")
        return Table(self.path).compare(*case, self.LEFT, right, sides, **options)

    @staticmethod
    def away(units):
        return [1 + units * 2.0**-23, 0.5]

    def test_what_was_measured(self):
        tally = self.compare(self.away(4))
        self.assertEqual((tally.ulps, tally.leaves, tally.differ), (4, 1, 1))

    @parameterized.expand([("identical", 0), ("nearer", 1), ("eight_times_as_far", 32)])
    def test_a_row_holds_from_above(self, _, units):
        self.compare(self.away(units))
        self.compare(self.away(units + 8))  # of another processor

    def test_a_row_that_does_not(self):
        with self.assertRaisesRegex(Mismatch, "more than 8 times the 4.8e-07"):
            self.compare(self.away(41))

    def test_no_row(self):
        self.compare(self.away(8), ("p.f", "another"))
        with self.assertRaisesRegex(
            Mismatch, "outputs: 9 ULP, .* has no row for this distance"
        ):
            self.compare(self.away(9), ("p.f", "another"))

    @parameterized.expand(
        [("as_loud", -1.0, True), ("louder", 8.0, True), ("no_noise", 9.0, False)]
    )
    def test_noise_is_bounded_by_its_magnitude(self, _, most, holds):
        Table(self.path).replace("p", [Row(*CASE, "outputs", 9, 0.5, noise=1.0)])
        self.assertEqual(Table(self.path).of(*CASE)["outputs"].noise, 1.0)
        with (
            contextlib.nullcontext()
            if holds
            else self.assertRaisesRegex(Mismatch, "but its row says 1")
        ):
            self.compare([most, 0.5])

    def test_nan_on_one_side(self):
        with self.assertRaisesRegex(Mismatch, "NaN on one side"):
            self.compare([np.nan, 0.5])

    @parameterized.expand(
        [
            ("integers", {"outputs": np.int32([1, 1])}),
            ("a_leaf_more", {"outputs": np.float32([1, 0.5]), "more": np.float32(1)}),
            ("a_shape", {"outputs": np.float32([[1, 0.5]])}),
            ("a_list", {"outputs": LEFT[0]["outputs"], "structure": np.asarray("[*]")}),
        ]
    )
    def test_what_no_row_can_say(self, _, right):
        with self.assertRaises(Mismatch):
            Table(self.path).compare(*CASE, self.LEFT, [right], ("then", "now"))

    def test_a_row_on_no_leaf(self):
        sides, left = ("then", "now"), [{"other": np.float32(1)}]
        with self.assertRaisesRegex(
            Mismatch, "rows without a leaf: outputs: make upkeep"
        ):
            Table(self.path).compare(*CASE, left, left, sides)
        Table(self.path).compare(*CASE, left, left, sides, partial=True)

    def test_a_row_that_comes_twice(self):
        lines = self.path.read_text().splitlines()
        self.path.write_text("\n".join([*lines, lines[-1]]))
        with self.assertRaisesRegex(ValueError, "twice"):
            Table(self.path)

    def by_release(self, where):
        """A row of 64 ULP for some releases."""
        row = Row(*CASE, "outputs", 64, 64 * 2.0**-23, "exp", where)
        Table(self.path).replace("p", [row], where)

    def test_a_row_by_release_stands_for_the_other(self):
        self.by_release("tensorflow>=2.16")
        self.compare(self.away(64))
        with self.assertRaises(Mismatch):
            self.compare(self.away(600))

    def test_and_says_nothing_of_other_releases(self):
        self.by_release("tensorflow<2.16")
        self.compare(self.away(0))
        with self.assertRaisesRegex(Mismatch, "more than 8 times"):
            self.compare(self.away(64))

    def test_rows_by_release_stay_when_those_of_all_are_measured(self):
        self.by_release("tensorflow>=2.16")
        table = Table(self.path)
        table.replace("p", [])
        self.assertEqual([row.ulps for row in table.of(*CASE).values()], [64])
        table.replace("p", [], "tensorflow>=2.16")
        self.assertEqual(table.of(*CASE), {})

    def test_a_row_by_release_is_what_the_others_do_not_allow(self):
        near, far = (Row(*CASE, "outputs", n, n * 2.0**-23) for n in (8, 64))
        self.assertEqual(Table(self.path).not_allowed([near, far]), [far])

    @parameterized.expand(
        [
            ("the_same", [5], []),
            ("not_needed", [], ["its row is no longer needed"]),
            ("tighter", [1], ["distance 1.2e-07, in its row 4.8e-07"]),
            ("farther", [9], ["distance 1.1e-06, in its row 4.8e-07"]),
        ]
    )
    def test_what_the_command_tells_of_its_rows(self, _, units, lines):
        rows = [Row(*CASE, "outputs", n, n * 2.0**-23) for n in units]
        lines = [f"p.f, case: outputs: {line}" for line in lines]
        self.assertEqual(Table(self.path).changes("p", rows), lines)

    @parameterized.expand(
        [
            ("nearer", Row(*CASE, "outputs", 1, 1e-7), "exp"),
            ("farther", Row(*CASE, "outputs", 9, 1e-6, "log"), "log"),
            ("noise_now", Row(*CASE, "outputs", 1, 1e-7, "log", noise=1.0), "log"),
            ("another_leaf", Row(*CASE, "more", 1, 1e-7, "log"), "log"),
        ]
    )
    def test_a_row_of_another_processor_stays_if_it_is_farther(self, _, row, kernels):
        (kept,) = Table(self.path).farthest([row])
        self.assertEqual(kept.kernels, kernels)

    def test_and_of_a_leaf_that_had_none(self):
        rows = [*Table(self.path).rows.values(), Row(*CASE, "more", 1, 1e-7)]
        told = ["p.f, case: more: distance 1e-07, had no row"]
        self.assertEqual(Table(self.path).changes("p", rows), told)

    def test_what_is_written_is_read(self):
        row = Table(self.path).of(*CASE)["outputs"]
        self.assertEqual((row.ulps, row.kernels), (4, "exp"))
        self.assertAlmostEqual(row.relative, 4 * 2.0**-23, delta=1e-8)

    def test_other_proofs_keep_their_rows(self):
        table = Table(self.path)
        table.replace("q", [Row("q.g", "case", "outputs", 1, 1e-7, "log")])
        table.replace("p", [])
        self.assertEqual([row.pair for row in Table(self.path).rows.values()], ["q.g"])
