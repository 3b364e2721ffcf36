"""Runs the cases of a pair on both sides, and compares with the recording."""

import dataclasses
import functools
import re

import numpy as np

from tf1to2.parity import releases, structure
from tf1to2.parity.cases import Case, Raises
from tf1to2.parity.compare import Bound, Mismatch, Tally, compare, difference, same_bits
from tf1to2.parity.distances import WAY as KERAS
from tf1to2.parity.distances import Distances, Naive
from tf1to2.parity.float32 import float32_table
from tf1to2.parity.pages import Page
from tf1to2.parity.recordings import Entry, Recording

SIDES = ("compat.v1", "1.15.5")
"""What the right page is compared with."""

FOUND = {
    "": "agrees",
    "dtype": "has the same numbers in another dtype",
    "container": "has the same numbers in other containers",
    "values": "has other values",
    "shape": "has another shape",
    "structure": "has other leaves",
    "raises": "raises",
}


@dataclasses.dataclass(frozen=True)
class Check:
    """One case in one way: call it, and it returns the tallies or raises `Mismatch`."""

    proof: "Proof"
    case: Case
    way: str

    def __call__(self):
        return self.proof.prove(self.case, self.way)

    @property
    def slug(self):
        return f"{self.case}, {self.way}"


class Proof:
    """All cases of a pair of pages.

    Args:
        left: the left page: a module, the name of one, or a `Page`. It is imported when
            a case has to run it on today's TensorFlow, not before.
        right: the right page, likewise.
        cases: list of `Case`.
        golden: path of the recording of the left page on the genuine TensorFlow 1.15.
        bounds: list of `Bound`, the known differences of this proof.
        strict: whether float32 answers of the two sides are compared.
        recipe: whether the right page is compared with the recording by the float64
            recipe: a second run of everything, which another process may do.
        float32: path of the table of what differs from 1.15 in float32; beside the
            recording unless given.
        name: what it is called; the last part of the right page's name unless given.
        names: {name on the left: name on the right} of the public names that differ.
        keras: a third page, likewise, of which distances are measured: see `distances`.
        naive: list of its `Naive` forms.

    Raises:
        ValueError: two cases have one name, or a bound names nothing.
    """

    recorded_in = "default"
    """The settings in which TensorFlow 1 is asked by the float64 recipe."""
    whole = False
    """Whether `mutate` breaks what the right page imports, too."""
    races = False
    """Whether TensorFlow 1 is asked twice, to see whether the left page races."""

    def __init__(
        self,
        left,
        right,
        cases,
        golden,
        bounds=(),
        strict=True,
        recipe=True,
        *,
        float32=None,
        name=None,
        names=None,
        keras=None,
        naive=(),
    ):
        self.left, self.right = (
            side if isinstance(side, Page) else Page(side) for side in (left, right)
        )
        self.cases = list(cases)
        self.name = name or self.right.name.rpartition(".")[2]
        self.names = names or {}
        self.recording = Recording(golden, self.left)
        self.bounds: list[Bound] = list(bounds)
        self.strict, self.recipe = strict, recipe
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
        """A row that names nothing bounds nothing; its leaf is looked for later."""
        named = [
            case
            for case in self.cases
            if (f"{self.name}.{case.name}", case.slug) == (bound.pair, bound.case)
        ]
        if not named or bound.way not in named[0].ways or bound.side not in SIDES:
            raise ValueError(
                f"an exception names no comparison: {bound.pair}, {bound.case}, "
                f"{bound.way}, {bound.side}"
            )

    def _refuse_unknown_rows(self):
        named = {(f"{self.name}.{c.name}", c.slug) for c in self.cases}
        for row in [*self.float32.rows.values(), *self.float32.by_release.values()]:
            mine = row.pair.startswith(self.name + ".")
            if mine and (row.pair, row.case) not in named:
                raise ValueError(
                    f"{self.float32.path.name} names no case: {row.pair}, {row.case}"
                )

    @property
    def v1(self):
        """The left page, imported."""
        return self.left.module

    @property
    def v2(self):
        """The right page, imported."""
        return self.right.module

    @property
    def pairs(self):
        """The public names that cases name, in their order."""
        return list(dict.fromkeys(case.name for case in self.cases))

    def checks(self):
        """[(slug, Check)]: the rows for `parameterized.expand`."""
        checks = [
            Check(self, case, way)
            for case in self.cases
            for way in case.ways
            if self.recipe or way != "xla"  # whose float32 is nobody else's
        ]
        if self.distances and self.strict:
            checks += [Check(self, case, KERAS) for case in self.distances.cases]
            checks += [Check(self, case, "naive") for case in self.distances.naive]
        return [(check.slug, check) for check in checks]

    def recorded(self):
        """The `Entry`s of all that the genuine TensorFlow 1.15 is asked."""
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
            {"1.15.5": Tally, "1.15.5 float32": Tally, "compat.v1": Tally}, what was
            compared with which, of these.

        Raises:
            Mismatch: the first difference; `Retraced`, `StaleRecording` likewise.
        """
        if way == KERAS or isinstance(case, Naive):
            return self.distances.prove(case)
        if isinstance(case, Raises):
            return self._prove_error(case, way)
        if way == "naive":
            return self._prove_false_friend(case)
        if way == "generated":
            return self._prove_generated(case)
        tallies = {}
        bindings = case.bindings()
        if way == "xla":  # compiled anew for every size: the largest will do
            bindings = bindings[-1:]
        given = [case.request(sizes, way == "dynamic") for sizes in bindings]
        widened = [self.widened(case, request) for request in given]
        answers = None
        if self.strict and way not in ("graph", "xla"):
            if "graph" not in case.skip:
                answers = self._today(way, given)
                form = "dynamic" if way == "dynamic" else "given"
                expected = [self._legacy(case, i, form) for i in range(len(given))]
                tallies["compat.v1"] = self._agree(
                    case, way, "compat.v1", bindings, expected, answers
                )
            if way == self.float32_way(case):
                answers = answers or self._today(way, given)
                tallies["1.15.5 float32"] = self._agree_float32(case, way, answers)
        if way == "graph":
            answers = [self._legacy(case, i, "recipe") for i in range(len(given))]
        elif answers is None or any(w is not g for w, g in zip(widened, given)):
            if not self.recipe and "compat.v1" in tallies:
                return tallies
            answers = self._today(way, widened)
        if not case.exact:
            answers = [structure.narrow(answer) for answer in answers]
        expected = [self._recorded_answer(case, sizes) for sizes in bindings]
        agree = self._agree_by_table if case.float32 else self._agree
        tallies["1.15.5"] = agree(case, way, "1.15.5", bindings, expected, answers)
        if case.expect is not None:
            for answer in answers:
                self._compare_expected(case, answer)
        return tallies

    def widened(self, case, request):
        """`request` for the float64 recipe; itself where there is nothing to widen."""
        fed = structure.arrays(request["args"]).values()
        narrow = case.exact or case.float32 or isinstance(case, Raises)
        if narrow or all(a.dtype != "f4" for a in fed):
            return request
        return {**request, "args": structure.widen(request["args"])}

    @staticmethod
    def float32_way(case):
        """The way in which `case` meets 1.15 in float32: all give the same bits."""
        ways = ("eager", "function", "dynamic")
        return next((way for way in ways if way in case.ways), None)

    def recorded_float32(self, case):
        """What the genuine TensorFlow 1.15 answered to `case` as given, by size."""
        return [
            self.recording.answer_float32(entry_key(case, sizes), case.request(sizes))
            for sizes in case.bindings()
        ]

    def answers_float32(self, case):
        """What the right page answers to `case` as given, by size."""
        way = self.float32_way(case)
        requests = [case.request(s, way == "dynamic") for s in case.bindings()]
        return self._today(way, requests)

    def prove_float32(self, case):
        """Compares a case with 1.15 in float32 alone; see `prove`."""
        way, answers = self.float32_way(case), self.answers_float32(case)
        return self._agree_float32(case, way, answers)

    def _agree_float32(self, case, way, answers):
        expected = self.recorded_float32(case)
        pair = f"{self.name}.{case.name}"
        try:
            return self.float32.compare(
                pair, case.slug, expected, answers, ("1.15.5", way)
            )
        except Mismatch as mismatch:
            message = f"{self.name}.{case}, float32 as given: {mismatch}"
            raise Mismatch(message) from None

    def _legacy(self, case, number, form):
        """What the left page answers today, cached: several ways ask for it."""
        if form == "recipe":
            request = case.request(case.bindings()[number])
            if self.widened(case, request) is request:  # nothing is widened
                form = "given"
        return self._answered(case, number, form)

    def _legacy_answer(self, case, number, form):
        from tf1to2.parity import v1

        request = case.request(case.bindings()[number], form == "dynamic")
        if form == "recipe":
            request = self.widened(case, request)
        return v1.run(self.v1, request)

    def _today(self, way, requests):
        from tf1to2.parity import v2

        renamed = [
            {**request, "name": self.names.get(request["name"], request["name"])}
            for request in requests
        ]
        return v2.run(self.v2, renamed, way)

    def _recorded_answer(self, case, sizes):
        request = self.widened(case, case.request(sizes))
        return self.recording.answer(entry_key(case, sizes), request)

    def _agree(self, case, way, side, bindings, expected, answers):
        """The tally of all sizes; see `compare`."""
        total, bounds, met = Tally(), self._bounds_of(case, way, side), set()
        for sizes, left, right in zip(bindings, expected, answers, strict=True):
            apart = {p: b for p, b in bounds.items() if not _alike(left, right, p)}
            total += self._compare(case, way, sizes, side, left, right, apart)
            met.update(apart)
        if met != set(bounds):  # each is seen at one size, at least
            unmet = ", ".join(sorted(set(bounds) - met))
            raise Mismatch(f"{self.name}.{case}: {unmet}: identical: remove its bound")
        return total

    def _agree_by_table(self, case, way, side, bindings, expected, answers):
        """As `_agree`, by the table of float32 as on another machine; bounds hold."""
        bounds = self._bounds_of(case, way, side)
        apart = [[_without(bounds, x) for x in all_] for all_ in (expected, answers)]
        pair = f"{self.name}.{case.name}"
        try:
            total = self.float32.compare(
                pair, case.slug, *apart, (side, way), elsewhere=True
            )
        except Mismatch as mismatch:
            raise Mismatch(f"{self.name}.{case}: {mismatch}") from None
        if bounds:
            apart = [[_only(bounds, x) for x in all_] for all_ in (expected, answers)]
            total += self._agree(case, way, side, bindings, *apart)
        return total

    def _bounds_of(self, case, way, side):
        where = f"{self.name}.{case.name}", case.slug, way, side
        settings = "", "strict" if self.strict else "default"
        return {
            bound.leaf: bound
            for bound in self.bounds
            if (bound.pair, bound.case, bound.way, bound.side) == where
            and bound.settings in settings
            and releases.here(bound.where)
        }

    def _compare(self, case, way, sizes, side, expected, actual, bounds=None):
        if bounds is None:
            bounds = self._bounds_of(case, way, side)
        try:
            return compare(expected, actual, (side, way), bounds)
        except Mismatch as mismatch:
            at = f", at {sizes}" if sizes else ""
            raise Mismatch(f"{self.name}.{case}{at}: {mismatch}") from None

    def _compare_expected(self, case, actual):
        outputs = _outputs(actual)
        held = outputs.pop("structure", None)
        if not outputs and str(held) == structure.skeleton(case.expect):
            return  # empty, as expected
        wanted = dict(_expected(case.expect, outputs))
        try:
            compare(wanted, outputs, ("the expectation", "the answer"))
        except Mismatch as mismatch:
            raise Mismatch(f"{self.name}.{case}: {mismatch}") from None

    def _prove_generated(self, case):
        import hypothesis
        from hypothesis import strategies as st

        from tf1to2.parity import v1

        total = Tally()

        @hypothesis.settings(
            max_examples=4,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[hypothesis.Phase.generate],
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        @hypothesis.given(
            st.fixed_dictionaries(
                {letter: st.integers(1, 40) for letter in case.letters}
            ),
            st.integers(1, 2**20),
        )
        def any_size(sizes, seed):
            nonlocal total
            request = case.request(sizes, seed=seed)
            narrow = dict
            if not self.strict:
                request, narrow = self.widened(case, request), structure.narrow
            expected = narrow(v1.run(self.v1, request))
            for way in ("eager", "function"):
                (actual,) = self._today(way, [request])
                total += self._compare(
                    case, way, sizes, "compat.v1", expected, narrow(actual)
                )

        any_size()
        return {"compat.v1": total}

    def both(self, case, sizes):
        """What a false friend's left page and its naive replacement answer.

        Returns:
            Two {path: array}; the second one is the exception where the naive form
            raises.
        """
        import tensorflow as tf

        from tf1to2.parity import v1

        request = case.request(sizes)
        if "graph" in case.skip:  # the recording stands for the left page
            request = self.widened(case, request)
            left = self._recorded_answer(case, sizes)
        else:
            left = v1.run(self.v1, request)
        args = request["args"]
        if case.kind == "op":
            args = structure.map_arrays(lambda _, a: tf.constant(a), args)
        try:
            naive = case.naive(*args, **case.kwargs)
        except Exception as error:  # which one does not matter, that it does not work
            naive = error
        else:
            naive = structure.answer({"outputs": _as_numpy(naive)})
            if "graph" in case.skip:
                naive = structure.narrow(naive)
        return _outputs(left), naive

    def _prove_false_friend(self, case):
        for sizes in case.bindings():
            left, naive = self.both(case, sizes)
            if isinstance(naive, Exception):
                found = "raises"
            else:
                found = difference(left, naive)
            if found != case.differs:
                shown = f": {naive!r}" if found == "raises" else ""
                raise Mismatch(
                    f"{self.name}.{case}: no false friend by {case.differs}: the naive "
                    f"form {FOUND[found]}{shown}"
                )
        return {"compat.v1": Tally(1, 1)}

    def _prove_error(self, case, way):
        from tf1to2.parity import v1

        request = case.request({})
        total = Tally(1, 1)
        genuine = case.genuine or case.graph
        recorded = left = None
        if way == "graph" or "graph" in case.skip:
            recorded = self.recording.answer(entry_key(case, {}), request)
            self._compare_error(case, "TensorFlow 1.15.5", genuine, recorded)
        if "graph" not in case.skip and (way == "graph" or case.works("graph")):
            left = self._legacy_response(case)
            self._compare_error(case, "compat.v1", case.graph, left)
        if way == "graph":
            if case.works("graph"):
                total += self._compare_works(
                    case, way, "1.15.5", None if genuine else recorded, left
                )
            return {"1.15.5": total, "compat.v1": Tally(1, 1)}
        wanted = getattr(case, way)
        run = "dynamic" if way == "function" and case.dynamic else way
        try:  # the signature says as little as the placeholder
            (answer,) = self._today(run, [request])
        except Exception as error:  # every type is of interest, the next lines judge it
            answer = v1.raised(error)
        self._compare_error(case, way, wanted, answer)
        if wanted is None:
            expected = None
            if case.works("graph"):
                expected = recorded if left is None else left
            total += self._compare_works(case, way, "compat.v1", expected, answer)
        return {"compat.v1": total}

    def _legacy_response(self, case):
        from tf1to2.parity import v1

        return v1.respond(self.v1, case.request({}))

    def _compare_works(self, case, way, side, expected, actual):
        """The outputs of bad input on two sides where it works."""
        if case.expect is not None:
            self._compare_expected(case, actual)
        if expected is None or not self.strict:  # float32 is compared in strict ones
            return Tally()
        return self._compare(case, way, {}, side, _outputs(expected), _outputs(actual))

    def _compare_error(self, case, side, wanted, answer):
        raised = str(answer["raised"]) if "raised" in answer else None
        message = str(answer.get("message", ""))
        name = wanted and structure.error_name(wanted)
        if raised != name:
            raise Mismatch(
                "{}.{}: {} in {}, not {}: {}".format(
                    self.name,
                    case,
                    raised or "no error",
                    side,
                    name or "none",
                    message[-400:],
                )
            )
        if raised and not re.search(case.match, message):
            raise Mismatch(
                f"{self.name}.{case}: the message in {side} does not match "
                f"{case.match!r}: {message[-400:]}"
            )


def _alike(left, right, path):
    """Whether two answers have the leaf `path`, and the same bits in it."""
    leaves = [side[path] for side in (left, right) if path in side]
    same = len(leaves) == 2 and leaves[0].shape == leaves[1].shape
    return same and bool(same_bits(*leaves).all())


def _only(paths, answer):
    return {path: leaf for path, leaf in answer.items() if path in paths}


def _without(paths, answer):
    return {path: leaf for path, leaf in answer.items() if path not in paths}


def entry_key(case, sizes):
    """The name of a case at one size in a recording."""
    text = ",".join("%s=%d" % item for item in sorted(sizes.items()))
    return f"{case}/{text}" if text else str(case)


def _expected(expect, outputs, path="outputs"):
    """Yields (path, array) of `expect`, whose lists may stand for arrays."""
    if path in outputs:
        yield path, _as_read(structure.as_array(np.asarray(expect)), outputs[path])
        return
    pairs = structure.children(expect)
    for key, subtree in [("", expect)] if pairs is None else pairs:
        if not any(p.startswith(f"{path}/{key}") for p in outputs):
            raise Mismatch(f"{path}/{key} is expected and missing")
        yield from _expected(subtree, outputs, f"{path}/{key}")


def _as_read(leaf, like):
    """An expected leaf in the dtype of the answer, where it is the number as read.

    A float answer may be expected as an integer or in more digits than it has; an
    integer, a truth value or a text only as what it is.
    """
    kind = like.dtype.kind
    if not leaf.size and kind != "U":  # an empty list has no dtype
        return leaf.astype(like.dtype)
    if kind in "fc" and leaf.dtype.kind in "iuf" + kind:
        return leaf.astype(like.dtype)
    if kind in "iu" and leaf.dtype.kind in "iu":
        exact = leaf.astype(like.dtype)
        return exact if (exact == leaf).all() else leaf
    return leaf


def _outputs(answer):
    """The leaves of an answer that the page returned, and their structure."""
    roots = ("outputs", "structure")
    return {p: x for p, x in answer.items() if p.split("/")[0] in roots}


def _as_numpy(tree):
    if isinstance(tree, dict):
        return {key: _as_numpy(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(_as_numpy(item) for item in tree)
    return tree.numpy() if hasattr(tree, "numpy") else tree
