"""Keeps the table of float32 differences from the genuine TensorFlow 1.15.5.

A row has the distance of a leaf, in units in the last place and relative to the leaf's
largest value, and the kernels that cause it, which have changed since 1.15.5. A row is
an upper bound, the same on every machine: a distance may be `SLACK` times the relative
one of its row, plus `LAST_BITS`, because last bits depend on the processor. A leaf
without a row may differ by `LAST_BITS`. A leaf that is 0 except for rounding (a bias
before a batch norm) has a row of `noise`: its magnitude, which bounds both sides
instead of a distance.

If a distance is larger on some releases, a row of its own names them in `where`.
`upkeep.measuring` makes the table.
"""

import csv
import dataclasses
import functools
import operator
import os
import pathlib

import numpy as np

from tf1to2.parity import releases
from tf1to2.parity.compare import Mismatch, Tally, compare
from tf1to2.parity.distance import (
    LAST_BITS,
    NOISE_SLACK,
    NOT_NUMBERS,
    distance,
    magnitude,
)

SLACK = 8
"""The factor by which a distance may exceed its row. After five steps of Adam, the
distance of a leaf was 2.8 times as large on one processor as on the one of its row."""

STALE = 2
"""The factor by which a new distance must differ from its row to be printed."""

FIELDS = ("pair", "case", "leaf", "ulps", "relative", "kernels", "where", "noise")


@dataclasses.dataclass(frozen=True)
class Row:
    """A row: one leaf of one case, with its distance.

    Attributes:
        pair: "topic.name".
        case: the slug of the case.
        leaf: path of the leaf, as a failure prints it.
        ulps: the most units in the last place that an element differs by, at any size.
        relative: the largest difference, divided by the largest absolute value of the
            leaf.
        kernels: the kernels that cause it, of those that differ alone as well.
        where: the releases for which this row replaces the row of all releases.
        noise: the largest magnitude of a leaf that is 0 except for rounding; else 0.
    """

    pair: str
    case: str
    leaf: str
    ulps: int
    relative: float
    kernels: str = ""
    where: str = ""
    noise: float = 0.0


@functools.cache
def float32_table(path):
    """The `Table` of a file, which is read only once."""
    return Table(path)


def here():
    """Describes the installed TensorFlow release and the system, as text."""
    import tensorflow as tf

    from tf1to2.parity.recordings import system

    return f"TensorFlow {tf.__version__}, {system()}"


class Table:
    """The rows of a file, sorted by proof; see the module.

    Args:
        path: the file, tab-separated, which need not exist.
    """

    notes = (
        "What differs in float32 from the genuine TensorFlow 1.15.5: made by",
        "`make upkeep`, read by a person.",
    )
    fields = FIELDS
    slack = SLACK
    made_by = "make upkeep"

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self._read()

    @staticmethod
    def here():
        """Describes the release and the system, by the module's function `here`."""
        return here()

    def _read(self):
        self.measured, self.rows, self.by_release = "", {}, {}
        if self.path.exists():
            lines = self.path.read_text("utf-8").splitlines()
            notes = [line for line in lines if line.startswith("#")]
            self.measured = notes[-1].removeprefix("# measured on ")
            for row in csv.DictReader(lines[len(notes) :], delimiter="\t"):
                row["ulps"], row["relative"] = int(row["ulps"]), float(row["relative"])
                row["noise"] = float(row.get("noise") or 0)
                row = Row(**row | {"where": row.get("where") or ""})
                rows, key = self.rows, (row.pair, row.case, row.leaf)
                if row.where:
                    rows, key = self.by_release, (*key, row.where)
                if key in rows:
                    raise ValueError(f"{self.path}: {row} comes twice")
                rows[key] = row

    def of(self, pair, case):
        """Returns {leaf: Row} for the rows of a case that apply to this TensorFlow."""
        rows = [r for r in self.by_release.values() if releases.here(r.where)]
        return {
            row.leaf: row
            for row in [*self.rows.values(), *rows]
            if (row.pair, row.case) == (pair, case)
        }

    def replace(self, name, rows, where=""):
        """Replaces all rows of the proof `name` by `rows`, and writes the file.

        Args:
            name: of the proof.
            rows: list of `Row`.
            where: the releases of these rows, and of those that they replace.
        """
        self._read()  # another process may have written since
        kept = [*self.rows.values(), *self.by_release.values()]
        gone = name, where
        kept = [r for r in kept if (r.pair.partition(".")[0], r.where) != gone]
        order = ("pair", "case", "leaf", "where")
        rows = sorted([*kept, *rows], key=operator.attrgetter(*order))
        if not where:
            self.measured = self.here()
        lines = [
            *(f"# {note}" for note in self.notes),
            f"# measured on {self.measured}",
            "\t".join(self.fields),
        ]
        for row in rows:
            cells = dataclasses.asdict(row) | {"relative": f"{row.relative:.2g}"}
            cells["noise"] = f"{row.noise:.2g}" if row.noise else ""
            line = "\t".join(str(cells[field]) for field in self.fields)
            lines.append(line.rstrip("\t"))
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text("\n".join(lines) + "\n", "utf-8")
        os.replace(temporary, self.path)
        self._read()

    def not_allowed(self, rows):
        """Lists the rows in `rows` whose distance or noise the table forbids."""

        def problem(row):
            known = self.rows.get((row.pair, row.case, row.leaf))
            return self._problem(known, row.ulps, row.relative, row.noise)

        return list(filter(problem, rows))

    def changes(self, name, rows):
        """Lists text lines on how the measured `rows` differ from the table's rows.

        Args:
            name: of the proof.
            rows: list of `Row`, without `where`.
        """
        old = {k: r for k, r in self.rows.items() if r.pair.startswith(name + ".")}
        new = {(row.pair, row.case, row.leaf): row for row in rows}
        lines = []
        for key in sorted(old | new):
            told = f"{key[0]}, {key[1]}: {key[2]}"
            if key not in new:
                lines.append(f"{told}: its row is no longer needed")
            elif key not in old:
                lines.append(f"{told}: distance {new[key].relative:.2g}, had no row")
            elif not new[key].noise:
                before, now = old[key].relative, new[key].relative
                if not before <= STALE * now <= STALE**2 * before:
                    lines.append(f"{told}: distance {now:.2g}, in its row {before:.2g}")
        return lines

    def farthest(self, rows):
        """Returns the more distant of each measured row and the row of the table.

        These were measured on another processor, where the table must hold as well.
        """

        def far(row):
            old = self.rows.get((row.pair, row.case, row.leaf), row)
            if bool(old.noise) != bool(row.noise):
                return row
            return max(old, row, key=lambda row: (row.noise, row.relative))

        return list(map(far, rows))

    def compare(
        self,
        pair,
        case,
        expected,
        actual,
        sides,
        partial=False,
        leaf=str,
        apart_by=None,
    ):
        """Compares the answers of one case, at all its sizes, by the rows of the table.

        Args:
            pair: "topic.name".
            case: the slug of the case.
            expected: list of {path: array}, one per size, as recorded.
            actual: list of {path: array}.
            sides: the names of the two, for messages.
            partial: whether leaves are left out, so that rows may name missing ones.
            leaf: function from a path to the leaf that its row names.
            apart_by: a function that replaces `measure`.

        Returns:
            Tally.

        Raises:
            Mismatch: a distance is larger than its row allows, or than `LAST_BITS`
                without a row; a row names a missing leaf.
        """
        rows, found, total = self.of(pair, case), {}, Tally()
        loudest = {}
        for left, right in zip(expected, actual, strict=True):
            apart = (apart_by or measure)(left, right, sides)
            leaves = len(left) - ("structure" in left)
            total += Tally(leaves, _elements(left), differ=len(apart))
            farthest(found, apart, leaf)
            for path in apart:
                if leaf(path) in rows and rows[leaf(path)].noise:
                    most = magnitude(left[path], right[path])
                    loudest[leaf(path)] = max(most, loudest.get(leaf(path), 0.0))
        for path, (units, relative) in found.items():
            row = rows.get(path)
            problem = self._problem(row, units, relative, loudest.get(path, 0.0))
            if problem:
                left, right = sides
                raise Mismatch(
                    f"{path}: {units} ULP, {relative:.2g} of the largest value between "
                    f"{left} and {right}: {problem}"
                )
        unknown = set(rows) - set(map(leaf, expected[0]))
        if unknown and not partial:
            raise Mismatch(f"rows without a leaf: {', '.join(unknown)}: {self.made_by}")
        total.ulps = max([0, *(units for units, _ in found.values())])
        finite = [r for _, r in found.values() if np.isfinite(r)]
        total.relative = max([0.0, *finite])
        return total

    def _problem(self, row, units, relative, loudest):
        """Says why a row does not allow a distance or noise; None if it is allowed."""
        if units > NOT_NUMBERS:
            return "NaN on one side only"
        if row is None:
            if relative <= LAST_BITS:
                return None
            return f"the table has no row for this distance: {self.made_by}"
        if row.noise:
            if loudest <= NOISE_SLACK * row.noise:
                return None
            return f"noise of {loudest:.2g}, but its row says {row.noise:.2g}"
        if relative <= self.slack * row.relative + LAST_BITS:
            return None
        return f"more than {self.slack} times the {row.relative:.2g} of its row"


def farthest(found, apart, leaf=str):
    """Updates {leaf: distance} in `found` with larger distances from `measure`."""
    for path, far in apart.items():
        before = found.get(leaf(path), (0, 0.0))
        found[leaf(path)] = tuple(map(max, before, far))


def measure(expected, actual, sides):
    """Measures {path: distance} of differing float leaves; others must be equal."""
    floats = {
        path
        for path, leaf in expected.items()
        if leaf.dtype.kind in "fc" and path in actual
        if (actual[path].dtype, actual[path].shape) == (leaf.dtype, leaf.shape)
    }
    others = [
        {path: leaf for path, leaf in side.items() if path not in floats}
        for side in (expected, actual)
    ]
    if any(set(other) - {"structure"} for other in others):
        compare(*others, sides)
    elif not np.array_equal(*(other.get("structure") for other in others)):
        compare(expected, actual, sides)
    apart = {path: distance(expected[path], actual[path]) for path in floats}
    return {path: far for path, far in sorted(apart.items()) if far[0]}


def _elements(answer):
    return sum(leaf.size for path, leaf in answer.items() if path != "structure")
