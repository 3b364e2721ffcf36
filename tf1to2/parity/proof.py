"""Runs the cases of a pair on both sides, and compares with the recording."""

import dataclasses
import fnmatch
import functools

from tf1to2.pages.page import Page
from tf1to2.parity import false_friends, refused, releases, structure
from tf1to2.parity.cases import Case, Raises
from tf1to2.parity.compare import Bound, Mismatch, Tally, compare
from tf1to2.parity.distances import WAY as KERAS
from tf1to2.parity.distances import Distances, Naive
from tf1to2.parity.expected import compare_expected
from tf1to2.parity.float32 import float32_table
from tf1to2.parity.recordings import Entry, Recording

SIDES = ("compat.v1", "1.15.5")
"""The sides that the right page is compared with."""

FLOAT32 = "float32"
"""The way that compares with 1.15.5 in float32 as given, by the table of rows."""


@dataclasses.dataclass(frozen=True)
class Check:
    """One case in one way: a call returns the tallies or raises `Mismatch`."""

    proof: "Proof"
    case: Case
    way: str

    def __call__(self):
        return self.proof.prove(self.case, self.way)

    @property
    def slug(self):
        return f"{self.case}, {self.way}"


class Proof:
    """The proof of a pair of pages: all cases, and the methods that run them.

    Args:
        left: the left page: a module, the name of one, or a `Page`. It is imported only
            when a case runs it on today's TensorFlow.
        right: the right page, of the same types.
        cases: list of `Case`.
        golden: path of the recording of the left page on the genuine TensorFlow 1.15.
        bounds: list of `Bound`, the known differences of this proof.
        strict: whether float32 answers of the two sides are compared.
        float32: path of the table of differences from 1.15 in float32; by default, the
            file beside the recording.
        name: of the proof; the last part of the right page's name by default.
        names: {name on the left: name on the right} of the public names that differ.
        by_keras: whether both pages use Keras, and the right one Keras 3. Float64 is
            then set as Keras' own dtype. The right page has a function `old_names` from
            a layer to names, by which weights are copied; their initial values are not
            compared.
        keras: a third page, the Keras page, whose distances are measured: see
            `distances`.
        naive: list of its `Naive` forms.

    Raises:
        ValueError: two cases have one name, or a bound names an unknown case.
    """

    recorded_in = "default"
    """The settings in which TensorFlow 1 computes the answers of the float64 recipe."""
    whole = False
    """Whether `mutate` also breaks modules that the right page imports."""
    races = False
    """Whether TensorFlow 1 runs twice, to see whether the left page has races."""

    def __init__(
        self,
        left,
        right,
        cases,
        golden,
        bounds=(),
        strict=True,
        *,
        float32=None,
        name=None,
        names=None,
        by_keras=False,
        keras=None,
        naive=(),
    ):
        self.left, self.right = (
            side if isinstance(side, Page) else Page(side) for side in (left, right)
        )
        self.cases = list(cases)
        self.name = name or self.right.name.rpartition(".")[2]
        self.names = names or {}
        self.by_keras = by_keras
        self.recording = Recording(golden, self.left)
        self.bounds: list[Bound] = list(bounds)
        self.strict = strict
        named = [str(case) for case in self.cases]
        twice = {name for name in named if named.count(name) > 1}
        if twice:
            raise ValueError("two cases are called {}".format(", ".join(sorted(twice))))
        for bound in self.bounds:
            self._refuse_unknown(bound)
        self.float32 = float32_table(
            float32 or self.recording.path.with_name("float32.tsv")
        )
        self._refuse_unknown_rows()
        self.distances = None
        if keras:
            page = keras if isinstance(keras, Page) else Page(keras)
            table = self.float32.path.with_name("keras.tsv")
            self.distances = Distances(self, page, table, naive)
        self._answered = functools.cache(self._legacy_answer)

    def _refuse_unknown(self, bound):
        """Raises an error if a bound names an unknown case, way or side."""
        named = [
            case
            for case in self.cases
            if (f"{self.name}.{case.name}", case.slug) == (bound.pair, bound.case)
        ]
        if not named or bound.way not in named[0].ways or bound.side not in SIDES:
            raise ValueError(
                f"a bound names an unknown case: {bound.pair}, {bound.case}, "
                f"{bound.way}, {bound.side}"
            )

    def _refuse_unknown_rows(self):
        named = {(f"{self.name}.{c.name}", c.slug) for c in self.cases}
        for row in [*self.float32.rows.values(), *self.float32.by_release.values()]:
            mine = row.pair.startswith(self.name + ".")
            if mine and (row.pair, row.case) not in named:
                raise ValueError(
                    f"{self.float32.path.name}: unknown case: {row.pair}, {row.case}"
                )

    @property
    def v1(self):
        """Returns the module of the left page (TensorFlow 1)."""
        return self.left.module

    @property
    def v2(self):
        """Returns the module of the right page (TensorFlow 2)."""
        return self.right.module

    @property
    def pairs(self):
        """Lists the names of the functions under test, in the order of cases."""
        return list(dict.fromkeys(case.name for case in self.cases))

    def checks(self):
        """Lists all checks as [(slug, Check)], for `parameterized.expand`."""
        checks = [Check(self, case, way) for case in self.cases for way in case.ways]
        if self.strict:
            checks += [
                Check(self, case, FLOAT32)
                for case in self.cases
                if self.float32_way(case) and not isinstance(case, Raises)
            ]
        if self.distances and self.strict:
            checks += [Check(self, case, KERAS) for case in self.distances.cases]
            checks += [Check(self, case, "naive") for case in self.distances.naive]
        return [(check.slug, check) for check in checks]

    def recorded(self):
        """The `Entry`s of all requests to the genuine TensorFlow 1.15."""
        return [
            Entry(
                case,
                entry_key(case, sizes),
                self.widened(case, case.request(sizes)),
                None if isinstance(case, Raises) else case.request(sizes),
            )
            for case in self.cases
            for sizes in case.bindings()
        ]

    def prove(self, case, way):
        """Runs `case` in `way`.

        Returns:
            {"1.15.5": Tally, "1.15.5 float32": Tally, "compat.v1": Tally}, with a key
            for each comparison that was made; only the second in the way `FLOAT32`.

        Raises:
            Mismatch: the first difference.
            Retraced, StaleRecording: as their names say.
        """
        if way == KERAS or isinstance(case, Naive):
            return self.distances.prove(case)
        if way == FLOAT32:
            return {"1.15.5 float32": self.prove_float32(case)}
        if isinstance(case, Raises):
            return refused.prove(self, case, way)
        if way == "naive":
            return false_friends.prove(self, case)
        if way == "generated":
            from tf1to2.parity import generated  # imports hypothesis

            return generated.prove(self, case)
        tallies = {}
        bindings = case.bindings()
        if way == "xla":  # compiled again for every size: only the largest runs
            bindings = bindings[-1:]
        given = [case.request(sizes, way == "dynamic") for sizes in bindings]
        widened = [self.widened(case, request) for request in given]
        answers = None
        if self.strict and way not in ("graph", "xla"):
            if "graph" not in case.skip:
                answers = self.ask(way, given)
                form = "dynamic" if way == "dynamic" else "given"
                expected = [self._legacy(case, i, form) for i in range(len(given))]
                tallies["compat.v1"] = self._agree(
                    case, way, "compat.v1", bindings, expected, answers
                )
        if way == "graph":
            answers = [self._legacy(case, i, "recipe") for i in range(len(given))]
        elif answers is None or any(w is not g for w, g in zip(widened, given)):
            answers = self.ask(way, widened)
        if not case.exact:
            answers = [structure.narrow(answer) for answer in answers]
        expected = [self.recorded_answer(case, sizes) for sizes in bindings]
        agree = self._agree_by_table if case.float32 else self._agree
        tallies["1.15.5"] = agree(case, way, "1.15.5", bindings, expected, answers)
        if case.expect is not None:
            for answer in answers:
                compare_expected(self, case, answer)
        return tallies

    def widened(self, case, request):
        """Converts `request` to float64 where the case allows it, else returns it."""
        fed = structure.arrays(request["args"]).values()
        narrow = case.exact or case.float32 or isinstance(case, Raises)
        floats = self.by_keras or any(a.dtype == "f4" for a in fed)
        if narrow or not floats:
            return request
        args = structure.widen(request["args"])
        wide = {**request, "args": args, **case.wide}
        return {**wide, "floatx": "float64"} if self.by_keras else wide

    def _carried(self, answer):
        """Drops an answer's initial values if a Keras page copies its weights."""
        if not self.by_keras:
            return answer
        return {p: x for p, x in answer.items() if not p.startswith("initial/")}

    @staticmethod
    def float32_way(case):
        """Chooses the way to run `case` in float32; None if there is no such way."""
        ways = ("eager", "function", "dynamic")
        return next((way for way in ways if way in case.ways), None)

    def recorded_float32(self, case):
        """Returns the TensorFlow 1.15 answers to `case` in float32, by size."""
        answer = self.recording.answer_float32
        return [
            self._carried(answer(entry_key(case, sizes), case.request(sizes)))
            for sizes in case.bindings()
        ]

    def answers_float32(self, case):
        """Returns the right page's answers to `case` in float32, by size."""
        way = self.float32_way(case)
        requests = [case.request(s, way == "dynamic") for s in case.bindings()]
        return self.ask(way, requests)

    def prove_float32(self, case):
        """Compares a case with 1.15, without widening, by the rows of float32.tsv.

        Raises:
            Mismatch: the distance of a leaf is larger than its row allows.
        """
        sides = "1.15.5", self.float32_way(case)
        answers = self.recorded_float32(case), self.answers_float32(case)
        pair = f"{self.name}.{case.name}"
        try:
            return self.float32.compare(pair, case.slug, *answers, sides)
        except Mismatch as mismatch:
            message = f"{self.name}.{case}, float32 as given: {mismatch}"
            raise Mismatch(message) from None

    def _legacy(self, case, number, form):
        """Runs the left page on today's TensorFlow; caches the answer."""
        if form == "recipe":
            request = case.request(case.bindings()[number])
            if self.widened(case, request) is request:  # there is nothing to widen
                form = "given"
        return self._answered(case, number, form)

    def _legacy_answer(self, case, number, form):
        from tf1to2.parity import v1

        request = case.request(case.bindings()[number], form == "dynamic")
        if form == "recipe":
            request = self.widened(case, request)
        return v1.run(self.v1, request)

    def ask(self, way, requests):
        """Runs the right page on `requests`, in any way except "graph"."""
        from tf1to2.parity import v2

        renamed = [
            {**request, "name": self.names.get(request["name"], request["name"])}
            for request in requests
        ]
        return [self._carried(answer) for answer in v2.run(self.v2, renamed, way)]

    def recorded_answer(self, case, sizes):
        """Returns the recorded TensorFlow 1.15 answer, in float64 if widened."""
        request = self.widened(case, case.request(sizes))
        return self._carried(self.recording.answer(entry_key(case, sizes), request))

    def _agree(self, case, way, side, bindings, expected, answers):
        """Compares the answers of all sizes, and returns the total tally."""
        total = Tally()
        for sizes, left, right in zip(bindings, expected, answers, strict=True):
            total += self.compare(case, way, sizes, side, left, right)
        return total

    def _agree_by_table(self, case, way, side, bindings, expected, answers):
        """Compares by the rows of float32.tsv; leaves with a bound, by the bound."""
        bounds = self._bounds_of(case, way, side, expected[0])
        apart = [[_without(bounds, x) for x in all_] for all_ in (expected, answers)]
        pair = f"{self.name}.{case.name}"
        try:
            total = self.float32.compare(
                pair, case.slug, *apart, (side, way), partial=True
            )
        except Mismatch as mismatch:
            raise Mismatch(f"{self.name}.{case}: {mismatch}") from None
        if bounds:
            apart = [[_only(bounds, x) for x in all_] for all_ in (expected, answers)]
            total += self._agree(case, way, side, bindings, *apart)
        return total

    def _bounds_of(self, case, way, side, paths):
        where = f"{self.name}.{case.name}", case.slug, way, side
        settings = "", "strict" if self.strict else "default"
        found = [
            bound
            for bound in self.bounds
            if (bound.pair, bound.case, bound.way, bound.side) == where
            and bound.settings in settings
            and releases.here(bound.where)
        ]
        return {
            path: bound
            for bound in found
            for path in fnmatch.filter(paths, bound.leaf) or [bound.leaf]
        }

    def compare(self, case, way, sizes, side, expected, actual):
        """Compares two answers by the bounds, and returns the tally."""
        bounds = self._bounds_of(case, way, side, expected)
        try:
            return compare(expected, actual, (side, way), bounds)
        except Mismatch as mismatch:
            at = f", at {sizes}" if sizes else ""
            raise Mismatch(f"{self.name}.{case}{at}: {mismatch}") from None


def _only(paths, answer):
    return {path: leaf for path, leaf in answer.items() if path in paths}


def _without(paths, answer):
    return {path: leaf for path, leaf in answer.items() if path not in paths}


def entry_key(case, sizes):
    """Returns the key of a case at one size in a recording."""
    text = ",".join("%s=%d" % item for item in sorted(sizes.items()))
    return f"{case}/{text}" if text else str(case)
