"""The cases of a topic, and the checks that prove them.

A case names a public function of a pair and its inputs. The page's kind decides how it
is run and which ways it is proven in:

    Op       tensors in, tensors out        graph eager function dynamic xla generated
    Layer    a factory of a callable        graph eager function dynamic xla generated
    Program  arrays in, arrays out          graph eager function
    Raises   bad input to any of these      graph eager function
"""

import dataclasses
import functools
from collections.abc import Callable
from types import ModuleType

import numpy as np

from tf1to2.parity import arrays, structure
from tf1to2.parity.compare import Bound, Mismatch, Tally, compare, same_bits
from tf1to2.parity.recordings import Recording

RUNGS = {
    "op": ("graph", "eager", "function", "dynamic", "xla", "gradient"),
    "layer": ("graph", "eager", "function", "dynamic", "xla", "gradient"),
    "program": ("graph", "eager", "function"),
}


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """What all kinds of case share.

    Attributes:
        name: the public name of the pair.
        slug: what is special about this case, in English.
        args: positional arguments. NumPy arrays and specs (`normal("n", 3)`) become
            tensors, everything else is handed on as it is. A program takes all as given.
        kwargs: keyword arguments, handed on as they are.
        expect: the outputs as a reader expects to see them, compared with both sides
            after a cast to the dtype of the answer.
        sizes: list of {letter: size}, in place of the usual three.
        exact: compare with the recording in the given dtype, not by the float64 recipe:
            for cases about float32 itself, and for arithmetic that never rounds.
        skip: {way or rung: reason} of what cannot be asked of this case.
    """

    name: str
    slug: str
    args: list = dataclasses.field(default_factory=list)
    kwargs: dict = dataclasses.field(default_factory=dict)
    _: dataclasses.KW_ONLY
    expect: object = None
    sizes: list | None = None
    exact: bool = False
    skip: dict = dataclasses.field(default_factory=dict)

    kind = "op"

    def __post_init__(self):
        unknown = set(self.skip) - {*RUNGS[self.kind], "generated"}
        if unknown or not all(self.skip.values()):
            raise ValueError(
                "{}: skip takes {{rung: reason}}, rungs being {}".format(
                    self, ", ".join(RUNGS[self.kind])
                )
            )

    def __str__(self):
        return f"{self.name}, {self.slug}"

    @property
    def ways(self):
        ways = [way for way in RUNGS[self.kind] if way != "gradient"]
        if "generated" not in self.skip and self._letters and self.kind != "program":
            ways.append("generated")
        return [way for way in ways if way not in self.skip]

    @property
    def _letters(self):
        return arrays.letters(self.args)

    def bindings(self):
        """The sizes that this case is run at, as dicts from letter to number."""
        if self.sizes:
            return self.sizes
        if not self._letters:
            return [{}]
        return [dict(zip(self._letters, sizes)) for sizes in arrays.SIZES]

    def request(self, sizes, dynamic=False, seed=0):
        """What both runners are asked: see `v1.run`."""
        names = [self.name, self.slug] + ([seed] if seed else [])
        shapes = {}
        if dynamic:
            shapes = arrays.unknown(self.args, literal=not self._letters)
        return {
            "kind": self.kind,
            "name": self.name,
            "args": arrays.drawn(self.args, sizes, *names),
            "kwargs": self.kwargs,
            "gradient": "gradient" not in self.skip,
            "shapes": shapes,
        }


@dataclasses.dataclass(frozen=True, eq=False)
class Op(Case):
    """A function from tensors to tensors."""


@dataclasses.dataclass(frozen=True, eq=False)
class Layer(Case):
    """A factory, called with `factory`, of a callable that owns variables."""

    factory: dict = dataclasses.field(default_factory=dict)

    kind = "layer"

    def request(self, sizes, dynamic=False, seed=0):
        return {**super().request(sizes, dynamic, seed), "factory": self.factory}


@dataclasses.dataclass(frozen=True, eq=False)
class Program(Case):
    """A whole script: arrays in, arrays out.

    Attributes:
        traces: how often each of its `tf.function`s may trace; 2 where the first call
            makes variables.
    """

    traces: int = 1

    kind = "program"

    def request(self, sizes, dynamic=False, seed=0):
        return {**super().request(sizes), "traces": self.traces}


@dataclasses.dataclass(frozen=True, eq=False)
class FalseFriend(Op):
    """An op whose obvious replacement gives other numbers.

    Proven like any op; besides, `naive` on the same inputs must differ from the left page.

    Attributes:
        naive: the obvious replacement, a function of the same arguments.
        because: why it differs, in a sentence.
    """

    naive: Callable | None = None
    because: str = ""

    @property
    def ways(self):
        return [*super().ways, "naive"]


@dataclasses.dataclass(frozen=True, eq=False)
class Raises(Case):
    """Bad input, and the exception that it raises on each side; None where it works.

    Attributes:
        of: the kind of page: "op", "layer" or "program".
        graph: exception type on the left page, in 1.15 and today.
        eager: exception type of the right page.
        function: exception type of the right page in a `tf.function`.
        match: regular expression that is found in every message.
        genuine: exception type in 1.15 where it is not `graph`.
        dynamic: whether the placeholders' shapes are unknown.
        factory: a layer's own keywords.
    """

    of: str = "op"
    graph: type | None = None
    eager: type | None = None
    function: type | None = None
    match: str = ""
    genuine: type | None = None
    dynamic: bool = False
    factory: dict = dataclasses.field(default_factory=dict)

    @property
    def kind(self):
        return self.of

    @property
    def ways(self):
        return [way for way in ("graph", "eager", "function") if way not in self.skip]

    def request(self, sizes, dynamic=False, seed=0):
        request = super().request(sizes, self.dynamic)
        return {**request, "factory": self.factory, "traces": 1, "gradient": False}


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
        strict: whether float32 answers of the two sides are compared as well.
    """

    def __init__(self, v1, v2, cases, golden, bounds=(), strict=True):
        self.v1: ModuleType = v1
        self.v2: ModuleType = v2
        self.cases = list(cases)
        self.topic = v2.__name__.rpartition(".")[2]
        self.recording = Recording(golden, v1)
        self.bounds: list[Bound] = [
            b for b in bounds if b.pair.startswith(self.topic + ".")
        ]
        self.strict = strict
        names = [str(case) for case in self.cases]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError("two cases are called {}".format(", ".join(sorted(twice))))
        self._legacy = functools.cache(self._legacy_answer)

    def checks(self):
        """[(slug, Check)]: the rows for `parameterized.expand`."""
        checks = [Check(self, case, way) for case in self.cases for way in case.ways]
        return [(check.slug, check) for check in checks]

    def recorded(self):
        """[(key, request)] of everything the genuine TensorFlow 1.15 is asked."""
        return [
            (_key(case, sizes), self._recipe(case, case.request(sizes)))
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
        if self.strict and way not in ("graph", "xla") and "graph" not in case.skip:
            dynamic = way == "dynamic"
            answers = self._today(
                case, way, [case.request(s, dynamic) for s in bindings]
            )
            for sizes, actual in zip(bindings, answers):
                expected = self._legacy(case, str(sizes), dynamic, True)
                tallies["compat.v1"] = self._compare(
                    case, way, sizes, expected, actual, "compat.v1", way
                ) + tallies.get("compat.v1", Tally())
        if way == "graph":
            answers = [
                self._legacy(case, str(sizes), False, False) for sizes in bindings
            ]
        else:
            requests = [case.request(s, way == "dynamic") for s in bindings]
            answers = self._today(case, way, [self._recipe(case, r) for r in requests])
        for sizes, actual in zip(bindings, answers):
            request = self._recipe(case, case.request(sizes))
            expected = self.recording.answer(_key(case, sizes), request)
            if not case.exact:
                expected, actual = structure.narrow(expected), structure.narrow(actual)
            tallies["1.15.5"] = self._compare(
                case, way, sizes, expected, actual, "TensorFlow 1.15.5", way
            ) + tallies.get("1.15.5", Tally())
            if case.expect is not None:
                self._compare_expected(case, actual)
        return tallies

    def _legacy_answer(self, case, sizes_text, dynamic, as_given):
        from tf1to2.parity import v1

        sizes = {str(s): s for s in case.bindings()}[sizes_text]
        request = case.request(sizes, dynamic)
        return v1.run(self.v1, request if as_given else self._recipe(case, request))

    def _today(self, case, way, requests):
        from tf1to2.parity import v2

        return v2.run(self.v2, requests, way)

    @staticmethod
    def _recipe(case, request):
        if case.exact or isinstance(case, Raises):
            return request
        return {**request, "args": structure.widen(request["args"])}

    def _compare(self, case, way, sizes, expected, actual, left, right):
        bounds = {
            bound.leaf: bound
            for bound in self.bounds
            if bound.pair == f"{self.topic}.{case.name}" and bound.way == way
        }
        try:
            return compare(expected, actual, (left, right), bounds)
        except Mismatch as mismatch:
            raise Mismatch(
                "{}.{}, {}{}: {}".format(
                    self.topic, case, way, f" {sizes}" if sizes else "", mismatch
                )
            ) from None

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
                {letter: st.integers(1, 40) for letter in case._letters}
            ),
            st.integers(1, 2**20),
        )
        def any_size(sizes, seed):
            nonlocal total
            request = case.request(sizes, seed=seed)
            narrow = dict
            if not self.strict:
                request, narrow = self._recipe(case, request), structure.narrow
            expected = narrow(v1.run(self.v1, request))
            for way in ("eager", "function"):
                (actual,) = self._today(case, way, [request])
                total += self._compare(
                    case, way, sizes, expected, narrow(actual), "compat.v1", way
                )

        any_size()
        return {"compat.v1": total}

    def _prove_false_friend(self, case):
        for sizes in case.bindings():
            request = case.request(sizes)
            left = self._legacy(case, str(sizes), False, True)
            tensors = request["args"]
            naive = structure.answer(
                {"outputs": _as_numpy(case.naive(*tensors, **case.kwargs))}
            )
            if all(
                path in naive
                and naive[path].shape == left[path].shape
                and same_bits(left[path], naive[path]).all()
                for path in left
                if path.split("/")[0] == "outputs"
            ):
                raise Mismatch(
                    f"{self.topic}.{case}: no false friend: the naive form agrees"
                )
        return {"compat.v1": Tally(1, 1)}

    def _prove_error(self, case, way):
        from tf1to2.parity import v1

        request = case.request({})
        if way == "graph":
            recorded = self.recording.answer(_key(case, {}), request)
            self._compare_error(
                case, "TensorFlow 1.15.5", case.genuine or case.graph, recorded
            )
            self._compare_error(
                case, "compat.v1", case.graph, v1.respond(self.v1, request)
            )
            return {"1.15.5": Tally(1, 1), "compat.v1": Tally(1, 1)}
        try:
            (answer,) = self._today(case, way, [request])
        except Exception as error:  # every type is of interest, the next lines judge it
            answer = {
                "raised": np.asarray(type(error).__name__),
                "message": np.asarray(str(error)),
            }
        self._compare_error(case, way, getattr(case, way), answer)
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
        import re

        if raised and not re.search(case.match, message):
            raise Mismatch(
                f"{self.topic}.{case}: the message in {side} does not match {case.match!r}: {message[-400:]}"
            )


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
    for key, subtree in structure.children(expect) or [("", expect)]:
        if not any(p.startswith(f"{path}/{key}") for p in outputs):
            raise Mismatch(f"{path}/{key} is expected and missing")
        yield from _expected(subtree, outputs, f"{path}/{key}")


def _as_numpy(tree):
    if isinstance(tree, dict):
        return {key: _as_numpy(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(_as_numpy(item) for item in tree)
    return tree.numpy() if hasattr(tree, "numpy") else tree
