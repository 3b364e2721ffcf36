"""The work that people have computes the same in every form, and its tables hold."""

import inspect
import unittest

import pytest
from parameterized import parameterized

from tf1to2.bench import command
from tf1to2.bench.work import by_keras, inputs, native, rendered, runs
from tf1to2.parity import recordings


def public(module):
    """The programs of a module: what takes `inputs` alone."""
    return {
        name
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if list(inspect.signature(function).parameters) == ["inputs"]
        and name in runs.NAMES
    }


class ProgramsTest(unittest.TestCase):
    def test_every_program_is_on_every_side(self):
        self.assertEqual(public(native), set(runs.NAMES))
        self.assertEqual(public(by_keras), set(runs.NAMES) - set(runs.WITHOUT_KERAS))
        for name in runs.NAMES:
            self.assertEqual(getattr(inputs, name)(4).batch, 4)

    def test_every_program_is_of_one_kind(self):
        kinds = [name for names in rendered.KINDS.values() for name in names]
        self.assertEqual(sorted(kinds), sorted(runs.NAMES))

    def test_batches_come_again_and_again(self):
        given = inputs.mlp(4)
        batches = inputs.cycle(given)
        first = next(iter(batches(1)))
        self.assertEqual([array.shape for array in first], [(4, 64), (4,)])
        *_, again = batches(inputs.BATCHES)
        self.assertEqual(first[0].tolist(), again[0].tolist())

    @parameterized.expand([(n,) for n in runs.NAMES if n != "records"])
    @pytest.mark.slow
    def test_all_forms_compute_the_same(self, name):
        """After three steps; on 1.15.5, too, where there is one."""
        try:
            python37 = recordings.genuine_python(".venv-tf1")
        except recordings.NoGenuineTensorFlow:
            python37 = None
        found = runs.values(name, 4, 3, python37)
        wanted = found["compat.v1, Session.run"]
        self.assertGreater(len(found), 8)
        for form, value in found.items():
            self.assertEqual(len(value), len(wanted), form)
            for x, y in zip(value, wanted, strict=True):
                self.assertLess(abs(x - y), 1e-4 * (1 + abs(y)), form)

    @pytest.mark.slow
    def test_the_start_and_the_memory_of_a_program(self):
        found = runs.start_and_memory("mlp", 4, ["Session.run", "tf.function"])
        self.assertEqual(list(found), ["compat.v1, Session.run", "tf.function"])
        for costs in found.values():
            self.assertGreater(costs["first"], 0)
            self.assertGreater(costs["peak MB"], 0)


def form(seconds, first=0.5):
    return {"seconds": seconds, "cpu": 2 * seconds, "first": first}


def row(program, batch, numpy, loop, **more):
    """A row whose session takes 1 ms in 1.15.5, and 2 ms today."""
    forms = {
        f"{side}, {base}": form(seconds)
        for side, seconds in (("1.15.5", 1e-3), ("compat.v1", 2e-3))
        for base in rendered.BASES
    }
    forms |= {"tf.function, NumPy": form(numpy), "loop": form(loop)}
    forms |= {"tf.function": form(3e-3), "XLA": form(1e-3, 2.5)}
    ratios = {
        name: {"1.15.5": {"ratio": timing["seconds"] / 1e-3}}
        for name, timing in forms.items()
        if rendered.base(name)
    }
    head = {"program": program, "batch": batch, "grown": {}, "failed": {}}
    return {**head, "forms": forms, "ratios": ratios, **more}


class TablesTest(unittest.TestCase):
    def setUp(self):
        self.report = command.Report()
        self.report["work"] = [
            row("mlp", 1, 2e-3, 1e-4),
            row("mlp", 64, 8e-3, 4e-4),
            row("mlp", 64, 1e-3, 1e-3, grown={"depth": 32}),
        ]

    def test_means_are_geometric_and_count_what_is_slower(self):
        found = rendered.summary(self.report)
        mean, cpu, slower, count = found["training", "tf.function, NumPy"]
        self.assertAlmostEqual(mean, 4)  # of 2 and 8
        self.assertAlmostEqual(cpu, 4)
        self.assertEqual((slower, count), (1, 2))
        self.assertAlmostEqual(found["training", "loop"][0], 0.2)
        self.assertEqual(found["training", "loop"][2], 0)
        self.assertAlmostEqual(rendered.today(self.report)["Session.run"], 2)

    def test_tables(self):
        made = {
            title.partition(":")[0]: rows
            for title, _, rows in rendered.tables(self.report)
        }
        self.assertEqual(
            made["Work from NumPy"][1], ["mlp", "64", "1,000", "2,000", "8.00"]
        )
        self.assertEqual(made["Work that grows"][0][:3], ["mlp", "depth 32", "1,000"])
        # Two seconds more to begin with, two milliseconds less for each step.
        self.assertEqual(made["XLA"][0][-1], "1,000")

    def test_without_1_15_5_the_ratios_are_to_today(self):
        for found in self.report["work"]:
            found["forms"] = {
                k: v for k, v in found["forms"].items() if not k.startswith("1.15.5")
            }
            found["ratios"] = {k: {"compat.v1": {"ratio": 1}} for k in found["ratios"]}
        self.assertEqual(rendered.summary(self.report)["training", "loop"][0], 1)
        self.assertEqual(rendered.today(self.report), {})
