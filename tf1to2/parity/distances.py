"""The table of distances: how far Keras pages are from the genuine TensorFlow 1.15.5.

A Keras page has some of the names of a proof's pages, as a user of Keras would write
them. The cases of these names run it, in float32 as given and from the same weights,
and each answer is compared with the recording. An array with the same bits has no row;
every other array has one, and its distance may be at most four times as large.
"""

import dataclasses
import importlib.metadata
import math
import re
import types
from collections.abc import Callable

from tf1to2.parity import float32
from tf1to2.parity.cases import Case, Raises
from tf1to2.parity.compare import Mismatch, Tally

WAY = "keras"
"""The name of the way, in `skip` and in the names of tests."""

SIDES = ("1.15.5", "Keras")
ABSENT = (0, math.inf)
"""The distance of an array that Keras does not keep."""


@dataclasses.dataclass(frozen=True, eq=False)
class Naive:
    """An obvious but less exact way to write a Keras page, with its larger distance.

    Attributes:
        of: the case that runs it, as `str` has it: "make_batch_norm, training".
        slug: what is naive about it, in English.
        form: a function that replaces the page's function, with the same signature.
        because: why it has a larger distance, in a sentence.
    """

    of: str
    slug: str
    form: Callable
    because: str

    def __str__(self):
        return f"{self.of}, {self.slug}"

    @property
    def name(self):
        """The name of the pair."""
        return self.of.partition(", ")[0]


class Table(float32.Table):
    """The rows of keras.tsv: a `float32.Table` that also records the Keras version."""

    notes = (
        "How far the Keras pages are from the genuine TensorFlow 1.15.5: written by",
        "`make upkeep`. An array without a row has the same bits.",
    )
    fields = ("pair", "case", "leaf", "ulps", "relative", "where", "noise")
    slack = 4

    @staticmethod
    def here():
        version = importlib.metadata.version("keras")
        return f"{float32.here()}, Keras {version}"


class Distances:
    """The Keras page of a proof, and its distances.

    Args:
        proof: the `Proof`, whose cases and recording are used.
        page: the Keras page, a `Page`. Its `__all__` names the pairs that it has, and
            its `old_names(layer)` is {name in TensorFlow 1: variable}.
        path: of the table.
        naive: list of `Naive`.

    Raises:
        ValueError: a naive form names a case that does not exist.
    """

    def __init__(self, proof, page, path, naive=()):
        self.proof, self.page, self.naive = proof, page, list(naive)
        self.table = Table(path)
        self.known = {str(case): case for case in proof.cases if WAY not in case.skip}
        for name, case in list(self.known.items()):
            if isinstance(case, Raises) or not proof.float32_way(case):
                del self.known[name]  # nothing was recorded in float32
        for naive in self.naive:
            if naive.of not in self.known:
                raise ValueError(f"a naive form names an unknown case: {naive}")

    def unknown(self):
        """The rows of the table whose case does not exist; only a test calls it."""
        named = {str(case) for case in [*self.cases, *self.naive]}
        rows = [*self.table.rows.values(), *self.table.by_release.values()]
        mine = [row for row in rows if row.pair.startswith(self.proof.name + ".")]
        pairs = [row.pair.partition(".")[2] for row in mine]
        return [r for p, r in zip(pairs, mine) if f"{p}, {r.case}" not in named]

    @property
    def cases(self):
        """The cases whose function the Keras page also has."""
        names = self.page.module.__all__
        return [case for case in self.known.values() if case.name in names]

    def prove(self, case):
        """Compares one case with the recording, by the rows of the table.

        Returns:
            {"Keras": Tally} of the distances; of a naive form, {"compat.v1": Tally}.

        Raises:
            Mismatch: a distance has no row, or is larger than its row allows; the
                distance of a naive form is not larger than that of the page.
        """
        pair = f"{self.proof.name}.{case.name}"
        slug = str(case).partition(", ")[2]
        try:
            tally = self.table.compare(
                pair,
                slug,
                *self._answers(case),
                SIDES,
                leaf=_leaf(case),
                apart_by=_measure(case),
            )
        except Mismatch as mismatch:
            raise Mismatch(f"{self.proof.name}.{case}: {mismatch}") from None
        if isinstance(case, Case):
            return {"Keras": tally}
        near = self.table.of(pair, case.of.partition(", ")[2]).values()
        near = [row.relative for row in near if row.relative < math.inf]
        if tally.relative <= max([0.0, *near]):
            raise Mismatch(f"{pair}: {case} has no larger distance than the page")
        return {"compat.v1": Tally(1, 1)}

    def apart(self, case):
        """Measures {leaf: distance} now, for all leaves of a case that differ."""
        found, sides = {}, (SIDES[0], f"Keras, {case}")
        for expected, actual in zip(*self._answers(case), strict=True):
            distances = _measure(case)(expected, actual, sides)
            float32.farthest(found, distances, _leaf(case))
        return found

    def _answers(self, case):
        """Returns the answers of TensorFlow 1.15.5 and of Keras, two lists by size."""
        from tf1to2.parity import v2

        page = self.page.module
        if isinstance(case, Naive):
            tell = getattr(page, "old_names", None)
            page = types.SimpleNamespace(**{case.name: case.form}, old_names=tell)
            case = self.known[case.of]
        requests = [case.request(sizes) for sizes in case.bindings()]
        expected, actual = (
            [_carried(answer) for answer in answers]
            for answers in (
                self.proof.recorded_float32(case),
                v2.run(page, requests, WAY),
            )
        )
        return expected, actual


def _measure(case):
    """Returns the function that measures a case; a naive form may lack arrays."""

    def numbers(*sides):
        found = measure(*sides)
        return {path: far for path, far in found.items() if far is not ABSENT}

    return numbers if isinstance(case, Naive) else measure


def measure(expected, actual, sides):
    """Calls `float32.measure`, with infinite distance for arrays that Keras lacks."""
    absent = set(expected) - set(actual) - {"structure"}
    if not absent:
        return float32.measure(expected, actual, sides)
    shared, answered = (
        {p: x for p, x in answer.items() if p not in absent | {"structure"}}
        for answer in (expected, actual)
    )
    if not shared:
        raise Mismatch(f"{sides[1]} returns none of {', '.join(expected)}")
    return {**float32.measure(shared, answered, sides), **dict.fromkeys(absent, ABSENT)}


def _leaf(case):
    """Returns a function from a leaf's path to its row name: `out/0` to `out/*`."""
    if isinstance(case, Naive):
        return lambda path: "*"
    return lambda path: re.sub(r"/\d+$", "/*", path)


def _carried(answer):
    """Drops the initial values of an answer: a Keras page copies its weights."""
    return {p: x for p, x in answer.items() if not p.startswith("initial/")}
