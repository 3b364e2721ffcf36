"""Runs the cases of a pair on both sides, and compares with the recording."""

import dataclasses
import functools
import re
from types import ModuleType

import numpy as np

from tf1to2.parity import structure
from tf1to2.parity.cases import Case, Raises
from tf1to2.parity.compare import Bound, Mismatch, Tally, compare
from tf1to2.parity.recordings import Recording


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
        v1: the left page, an imported module.
        v2: the right page.
        cases: list of `Case`.
        golden: path of the recording of the left page on the genuine TensorFlow 1.15.
        bounds: list of `Bound`, the known differences.
        strict: whether float32 answers of the two sides are compared.
        recipe: whether the right page is compared with the recording by the float64
            recipe: a second run of everything, which another process may do.
    """

    def __init__(self, v1, v2, cases, golden, bounds=(), strict=True, recipe=True):
        self.v1: ModuleType = v1
        self.v2: ModuleType = v2
        self.cases = list(cases)
        self.topic = v2.__name__.rpartition(".")[2]
        self.recording = Recording(golden, v1)
        self.bounds: list[Bound] = [
            b for b in bounds if b.pair.startswith(self.topic + ".")
        ]
        self.strict, self.recipe = strict, recipe
        names = [str(case) for case in self.cases]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError("two cases are called {}".format(", ".join(sorted(twice))))
        self._answered = functools.cache(self._legacy_answer)

    def checks(self):
        """[(slug, Check)]: the rows for `parameterized.expand`."""
        checks = [
            Check(self, case, way)
            for case in self.cases
            for way in case.ways
            if self.recipe or way != "xla"  # whose float32 is nobody else's
        ]
        return [(check.slug, check) for check in checks]

    def recorded(self):
        """[(case, key, request)] of all that the genuine TensorFlow 1.15 is asked."""
        return [
            (case, _key(case, sizes), _recipe(case, case.request(sizes)))
            for case in self.cases
            for sizes in case.bindings()
        ]

    def prove(self, case, way):
        """Runs `case` in `way`.

        Returns:
            {"1.15.5": Tally, "compat.v1": Tally}, what was compared with which.

        Raises:
            Mismatch: the first difference; `Retraced`, `StaleRecording` likewise.
        """
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
        widened = [_recipe(case, request) for request in given]
        answers = None
        if self.strict and way not in ("graph", "xla") and "graph" not in case.skip:
            answers = self._today(way, given)
            form = "dynamic" if way == "dynamic" else "given"
            expected = [self._legacy(case, i, form) for i in range(len(given))]
            tallies["compat.v1"] = self._agree(
                case, way, "compat.v1", bindings, expected, answers
            )
        if way == "graph":
            answers = [self._legacy(case, i, "recipe") for i in range(len(given))]
        elif answers is None or any(w is not g for w, g in zip(widened, given)):
            if not self.recipe and answers is not None:
                return tallies
            answers = self._today(way, widened)
        if not case.exact:
            answers = [structure.narrow(answer) for answer in answers]
        expected = [self._recorded_answer(case, sizes) for sizes in bindings]
        tallies["1.15.5"] = self._agree(
            case, way, "1.15.5", bindings, expected, answers
        )
        if case.expect is not None:
            for answer in answers:
                self._compare_expected(case, answer)
        return tallies

    def _legacy(self, case, number, form):
        """What the left page answers today, cached: several ways ask for it."""
        if form == "recipe":
            request = case.request(case.bindings()[number])
            if _recipe(case, request) is request:  # nothing is widened
                form = "given"
        return self._answered(case, number, form)

    def _legacy_answer(self, case, number, form):
        from tf1to2.parity import v1

        request = case.request(case.bindings()[number], form == "dynamic")
        return v1.run(self.v1, _recipe(case, request) if form == "recipe" else request)

    def _today(self, way, requests):
        from tf1to2.parity import v2

        return v2.run(self.v2, requests, way)

    def _recorded_answer(self, case, sizes):
        request = _recipe(case, case.request(sizes))
        return self.recording.answer(_key(case, sizes), request)

    def _agree(self, case, way, side, bindings, expected, answers):
        """The tally of all sizes; see `compare`."""
        total = Tally()
        for sizes, left, right in zip(bindings, expected, answers, strict=True):
            total += self._compare(case, way, sizes, side, left, right)
        return total

    def _compare(self, case, way, sizes, side, expected, actual):
        where = f"{self.topic}.{case.name}", case.slug, way, side
        bounds = {
            bound.leaf: bound
            for bound in self.bounds
            if (bound.pair, bound.case, bound.way, bound.side) == where
        }
        try:
            return compare(expected, actual, (side, way), bounds)
        except Mismatch as mismatch:
            at = f", at {sizes}" if sizes else ""
            raise Mismatch(f"{self.topic}.{case}{at}: {mismatch}") from None

    @staticmethod
    def _compare_expected(case, actual):
        outputs = {p: x for p, x in actual.items() if p.split("/")[0] == "outputs"}
        wanted = dict(_expected(case.expect, outputs))
        compare(wanted, outputs, ("the expectation", "the answer"))

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
                request, narrow = _recipe(case, request), structure.narrow
            expected = narrow(v1.run(self.v1, request))
            for way in ("eager", "function"):
                (actual,) = self._today(way, [request])
                total += self._compare(
                    case, way, sizes, "compat.v1", expected, narrow(actual)
                )

        any_size()
        return {"compat.v1": total}

    def both(self, case, sizes):
        """What a false friend's left page and its naive replacement answer."""
        import tensorflow as tf

        from tf1to2.parity import v1

        request = case.request(sizes)
        if "graph" in case.skip:  # the recording stands for the left page
            request = _recipe(case, request)
        args = request["args"]
        if case.kind == "op":
            args = structure.map_arrays(lambda _, a: tf.constant(a), args)
        naive = structure.answer(
            {"outputs": _as_numpy(case.naive(*args, **case.kwargs))}
        )
        if "graph" in case.skip:
            left, naive = self._recorded_answer(case, sizes), structure.narrow(naive)
        else:
            left = v1.run(self.v1, request)
        left = {p: x for p, x in left.items() if p.split("/")[0] == "outputs"}
        return left, naive

    def _prove_false_friend(self, case):
        for sizes in case.bindings():
            left, naive = self.both(case, sizes)
            try:
                compare(left, naive, ("", ""))
            except Mismatch:
                continue
            raise Mismatch(
                f"{self.topic}.{case}: no false friend: the naive form agrees"
            )
        return {"compat.v1": Tally(1, 1)}

    def _prove_error(self, case, way):
        from tf1to2.parity import v1

        request = case.request({})
        if way == "graph" or "graph" in case.skip:
            recorded = self.recording.answer(_key(case, {}), request)
            self._compare_error(
                case, "TensorFlow 1.15.5", case.genuine or case.graph, recorded
            )
        if way == "graph":
            self._compare_error(
                case, "compat.v1", case.graph, v1.respond(self.v1, request)
            )
            return {"1.15.5": Tally(1, 1), "compat.v1": Tally(1, 1)}
        wanted = getattr(case, way)
        if way == "function" and case.dynamic:
            way = "dynamic"  # the signature says as little as the placeholder
        try:
            (answer,) = self._today(way, [request])
        except Exception as error:  # every type is of interest, the next lines judge it
            answer = {
                "raised": np.asarray(type(error).__name__),
                "message": np.asarray(str(error)),
            }
        self._compare_error(case, way, wanted, answer)
        return {"compat.v1": Tally(1, 1)}

    def _compare_error(self, case, side, wanted, answer):
        raised = str(answer["raised"]) if "raised" in answer else None
        message = str(answer.get("message", ""))
        name = wanted and wanted.__name__
        if raised != name:
            raise Mismatch(
                "{}.{}: {} in {}, not {}: {}".format(
                    self.topic,
                    case,
                    raised or "no error",
                    side,
                    name or "none",
                    message[-400:],
                )
            )
        if raised and not re.search(case.match, message):
            raise Mismatch(
                f"{self.topic}.{case}: the message in {side} does not match "
                f"{case.match!r}: {message[-400:]}"
            )


def _recipe(case, request):
    """`request` for the float64 recipe; itself where there is nothing to widen."""
    fed = structure.arrays(request["args"]).values()
    if case.exact or isinstance(case, Raises) or all(a.dtype != "f4" for a in fed):
        return request
    return {**request, "args": structure.widen(request["args"])}


def _key(case, sizes):
    text = ",".join("%s=%d" % item for item in sorted(sizes.items()))
    return f"{case}/{text}" if text else str(case)


def _expected(expect, outputs, path="outputs"):
    """Yields (path, array) of `expect`, whose lists may stand for arrays."""
    if path in outputs:
        leaf, like = np.asarray(expect), outputs[path]
        number = like.dtype.kind != "U" and expect is not None
        yield path, leaf.astype(like.dtype) if number else structure.as_array(leaf)
        return
    pairs = structure.children(expect)
    for key, subtree in [("", expect)] if pairs is None else pairs:
        if not any(p.startswith(f"{path}/{key}") for p in outputs):
            raise Mismatch(f"{path}/{key} is expected and missing")
        yield from _expected(subtree, outputs, f"{path}/{key}")


def _as_numpy(tree):
    if isinstance(tree, dict):
        return {key: _as_numpy(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(_as_numpy(item) for item in tree)
    return tree.numpy() if hasattr(tree, "numpy") else tree
