"""A user's own port and its proof, in a file of its own.

    pair = Pair("legacy_net", "ported_net", names={"logits": "compute_logits"})
    pair.op("logits", "classic", normal("n", 3))
    pair.program("train", "ten steps", DATA)
    test_parity = pair.test()

The left page runs only on TensorFlow 1, where `tf1to2 record` records its answers, in
one file beside the test. The right page runs here, and is compared with them twice: in
float64 rounded to float32, where all bits must be the same, and in float32 as given,
where a leaf may differ by `LAST_BITS`, because last bits depend on the processor.
"""

import functools
import pathlib
import re
import sys
import unittest

import numpy as np

from tf1to2.pages.page import folders_of, page_of
from tf1to2.parity import cases, renamed, settings, structure
from tf1to2.parity.compare import Mismatch, Tally
from tf1to2.parity.distance import LAST_BITS
from tf1to2.parity.expected import compare_expected
from tf1to2.parity.leaves import measure, worst
from tf1to2.parity.proof import FLOAT32, Check, Proof, entry_key
from tf1to2.parity.within import ANY, Within

FLOAT64, TODAY = "float64", "left today"
"""Besides `FLOAT32`: widened against TensorFlow 1; as given against the left page that
runs on today's TensorFlow."""

FAR_BELOW = 10
"""A bound is reported as too large if it exceeds the measured distance this often."""

NOT_TODAY = "the left page is not run on today's TensorFlow"


class Pair(Proof):
    """A left page, a right page, and the cases that prove that they agree.

    Args:
        left: the module that runs on TensorFlow 1: its dotted name, or the path of its
            file as seen from the file of the test.
        right: the port, also a name or a path; it may be missing until it is proven.
        names: {name on the left: name on the right} of functions that differ.
        variables: {name on the left: name on the right} of variables that differ; both
            may end in `*`, which means the same text on both sides. A program's
            variables are the keys of the dicts that it returns. "auto" matches
            different names by similarity and shape, for layers and for programs that
            yield their steps; `prove` prints the matches.
        name: of the pair; the last part of the right page's name by default.
        recording: the file, relative to the test's; by default, its name in .npz.
        widen: run both pages in float64 although they say `tf.float32`; see `widening`.
        folders: other folders that the pages import from, relative to the test's file.
        today: run the left page on today's TensorFlow, too. By default it is not even
            imported.
        file: of the test; the caller's by default.
        seed: of the left page's graph, and of TensorFlow on the right; of NumPy's
            global generator on both sides.

    Raises:
        NoPage: the left page does not exist.
    """

    recorded_in, races, whole = "strict", True, True

    def __init__(
        self,
        left,
        right,
        names=None,
        variables=None,
        *,
        name=None,
        recording=None,
        widen=False,
        folders=(),
        today=False,
        file=None,
        seed=None,
    ):
        self.file = pathlib.Path(file or sys._getframe(1).f_globals["__file__"])
        self.file = self.file.resolve()
        beside = self.file.parent
        folders = [*folders_of(beside), *((beside / f).resolve() for f in folders)]
        golden = beside / (recording or self.file.stem + ".npz")
        super().__init__(
            page_of(left, folders),
            page_of(right, folders, written=False),
            [],
            golden,
            float32=golden.with_suffix(".tsv"),
            name=name,
            names=names,
        )
        self.recording.how = f"tf1to2 record {self.file.name}"
        self.recording.by_function = True
        self.variables, self.widen, self.today = variables or {}, widen, today
        self.more = {} if seed is None else {"seed": seed}
        self.within, self.renamed, self.matched = {}, {}, {}
        self.measured = functools.cache(self._measured)

    def op(self, name, case, *inputs, **options):
        """Adds a case of a function from tensors to tensors.

        Args:
            name: of the function, on the left.
            case: a short description, in English.
            inputs: arrays and specs (`normal("n", 3)`), which become tensors; other
                values are passed unchanged.
            options: arguments of `cases.Case`: kwargs, expect, sizes, float32 (if
                kernels have no float64), skip ("initial" if a layer draws other
                initial values); besides

                within: {leaf: bound} of float32 as given, `within64` of float64: units
                    in the last place if an int, relative to the leaf's largest value if
                    a float. Needs `why`; `tf1to2 prove` reports bounds that are not
                    needed.
                why: the reason.
                variables: as in the pair, for this case only.
        """
        self._add(cases.Op, name, case, inputs, **options)

    def layer(self, name, case, *inputs, **options):
        """Adds a case of a factory, called with `factory`, of a callable that has
        `variables` and `trainable_variables`; options as in `op`, and

        scope: give it if the left page has no factory, but a function of the inputs
            that makes variables: the scope in which it is called, "" for no scope.

        If the right page has a function `old_names`, it makes layers of Keras, and
        `old_names(layer)` is {name on the left: variable}.
        """
        self._add(cases.Layer, name, case, inputs, **options)

    def program(self, name, case, *inputs, **options):
        """Adds a case of a function from arrays to arrays, with its session or loop;
        options as in `op`, and `traces` of `cases.Case`.

        If it trains, both sides may be generators, with a `yield` for each step. The
        left side yields (dict of fetches, feed_dict), which are run in a session whose
        variables are initialized. The right side yields a dict with the same keys, and
        returns {name: variable}. The steps are compared, and all variables at the end.
        """
        self._add(cases.Program, name, case, inputs, **options)

    def raises(self, name, case, *inputs, error, match, **options):
        """Adds bad input and its exception on both sides; see `cases.Raises`."""
        errors = {"graph": error, "eager": error, "function": error}
        self._add(cases.Raises, name, case, inputs, match=match, **errors | options)

    def false_friend(self, name, case, *inputs, naive, because, **options):
        """Adds a case whose obvious port is wrong; see `cases.FalseFriend`."""
        options |= {"naive": naive, "because": because}
        self._add(cases.FalseFriend, name, case, inputs, **options)

    def _add(
        self,
        kind,
        name,
        slug,
        inputs,
        within=None,
        within64=None,
        why="",
        variables=None,
        scope=None,
        **options,
    ):
        skip = dict(options.pop("skip", {}))
        if not self.today:
            skip.setdefault("graph", NOT_TODAY)
        initial = skip.pop("initial", None)
        if options.get("float32") and kind in (cases.Op, cases.Layer):
            skip.setdefault("xla", "XLA fuses: its float32 has bits of its own")
        more = dict(self.more) if scope is None else {**self.more, "scope": scope}
        case = kind(name, slug, list(inputs), skip=skip, more=more, **options)
        if str(case) in map(str, self.cases):
            raise ValueError(f"two cases are called {case}")
        self.cases.append(case)
        self.renamed[case] = variables or {}
        self.within[case] = [
            Within(leaf, bound, why, widened)
            for widened, bounds in ((False, within), (True, within64))
            for leaf, bound in (bounds or {}).items()
        ]
        if initial is not None:
            self.within[case] += [
                Within("initial", ANY, initial, widened) for widened in (False, True)
            ]

    def test(self):
        """A `unittest.TestCase` with a test for each case and way.

        Raises:
            ValueError: there are no cases.
        """
        if not self.cases:
            raise ValueError("this pair has no case: add one, for example pair.op(…)")
        return type("Parity", (Parity,), {"pair": self, **_tests(self.checks())})

    def checks(self):
        # Every way is compared with 1.15 in float32: see `prove`.
        checks = [check for _, check in super().checks() if check.way != FLOAT32]
        checks += [Check(self, c, "within") for c in self.cases if self.within[c]]
        return [(check.slug, check) for check in checks]

    def widened(self, case, request):
        wide = super().widened(case, request)
        narrow = case.exact or case.float32 or isinstance(case, cases.Raises)
        if self.widen and not narrow:
            wide = {**wide, "widen": True}
        return wide

    def prove(self, case, way):
        if way == "within":
            return self._prove_named(case)
        if isinstance(case, cases.Raises) or way in ("naive", "generated"):
            return super().prove(case, way)
        leaves = self.measured(case, way)
        wrong = self.wrong(case, leaves)
        if wrong:
            raise Mismatch(f"{self.name}.{case}, {way}: {_told(wrong, leaves)}")
        return {"1.15.5": Tally(len(leaves), len(leaves))}

    def _measured(self, case, way):
        """Compares all leaves of a case in one way: [(comparison, Leaf)]."""
        bindings = case.bindings()[-1:] if way == "xla" else case.bindings()
        given = [_request(case, sizes, way == "dynamic") for sizes in bindings]
        widened = [self.widened(case, request) for request in given]
        forms = {FLOAT64: widened} if widened[0] is not given[0] else {}
        if way != "xla" or not forms:
            forms = {FLOAT32: given, **forms}
        keys = [entry_key(case, sizes) for sizes in bindings]
        sides = self.recording.about["tensorflow"], "the port"
        found = []
        for form, requests in forms.items():
            asked = [case.request(sizes) for sizes in bindings]
            if way != "graph":
                requests = [self._named(case, r) for r in requests]
            answers = self.ask(way, requests)
            if form == FLOAT64:
                answers = [structure.narrow(answer) for answer in answers]
                asked = [self.widened(case, request) for request in asked]
            recorded = self.recording.answer_float32
            recorded = self.recording.answer if form == FLOAT64 else recorded
            expected = [recorded(*both) for both in zip(keys, asked)]
            found += self._leaves(case, form, way, expected, answers, sides)
            if form == FLOAT32 and self.today and way != "graph":
                left = self.ask("graph", requests)
                beside = "the left page today", "the port"
                found += self._leaves(case, TODAY, way, left, answers, beside)
            if case.expect is not None:
                for answer in answers:
                    compare_expected(self, case, answer)
        return found

    def _named(self, case, request):
        """Adds to `request` the variable names on both sides."""
        names = self.renamed.get(case) or self.variables
        if names != renamed.AUTO:
            both = {} if self.variables == renamed.AUTO else self.variables
            return {**request, "variables": both | self.renamed.get(case, {})}
        entry = next(e for e in self.recorded() if e.case is case)
        answer = self.recording.answer(entry.key, entry.request)
        left, matched = renamed.shapes_of(answer), self.matched.setdefault(case, {})
        return {**request, "variables": names, "left": left, "matched": matched}

    @staticmethod
    def _leaves(case, form, way, expected, actual, sides):
        paths = {}
        for left, right in zip(expected, actual, strict=True):
            for leaf in measure(left, right, sides, case.kind, way):
                paths.setdefault(leaf.path, []).append(leaf)
        return [(form, worst(leaves)) for leaves in paths.values()]

    def ask(self, way, requests):
        if way == "graph":
            from tf1to2.parity import v1

            return [v1.run(self.v1, request) for request in requests]
        return super().ask(way, requests)

    def bound(self, case, form, path):
        """Returns the `Within` that applies to a leaf, or None without a bound."""
        widened = form == FLOAT64
        bounds = [w for w in self.within[case] if w.widened == widened]
        return next((w for w in bounds if w.names(path)), None)

    def verdict(self, case, form, leaf):
        """Returns whether a leaf passes, and the reason as text."""
        bound = self.bound(case, form, leaf.path)
        if not leaf.told:
            return True, "identical"
        if bound:
            said = "any value" if bound.bound == ANY else f"within {bound.bound}"
            return bound.holds(leaf), f"{said}: {bound.why}"
        free = self.free(case, form, leaf)
        if leaf.relative <= free:
            wide = self.is_widened(case)
            return True, "identical in float64" if wide else "last bits"
        if free and np.isfinite(leaf.relative):
            return False, f"differs by more than {free:.2g}: fix it, or give within="
        return False, "differs"

    def free(self, case, form, leaf):
        """Returns the largest relative distance that needs no bound."""
        last = form == FLOAT32 and leaf.floating and not case.exact
        return LAST_BITS if last else 0.0

    def is_widened(self, case):
        """Whether a case is also proven in float64."""
        request = case.request(case.bindings()[0])
        return self.widened(case, request) is not request

    def wrong(self, case, leaves):
        """Selects the (comparison, `Leaf`) pairs that fail the verdict."""
        return [(f, leaf) for f, leaf in leaves if not self.verdict(case, f, leaf)[0]]

    def _prove_named(self, case):
        """Raises `Mismatch` if a bound names a leaf that does not exist."""
        measured = self.of_all_ways(case)
        for within in self.within[case]:
            if not _bounded(within, measured):
                paths = sorted({leaf.path for _, leaf in measured})
                raise Mismatch(
                    f"{self.name}.{case}: within {within.leaf!r} names no leaf; the "
                    f"leaves are: {', '.join(paths)}"
                )
        return {"1.15.5": Tally(len(measured), len(measured))}

    def of_all_ways(self, case):
        """Lists the compared leaves of a case in all its ways."""
        return [row for way in case.ways for row in self.measured(case, way)]

    def loose(self, case):
        """Lists sentences on bounds that are not needed here, or much too wide.

        They are not failures: another processor has other last bits.
        """
        sentences, measured = [], self.of_all_ways(case)
        for within in self.within[case]:
            leaves = _bounded(within, measured)
            form = FLOAT64 if within.widened else FLOAT32
            needed = any(
                leaf.told and leaf.relative > self.free(case, form, leaf)
                for leaf in leaves
            )
            farthest = max(map(within.needs, leaves), default=0)
            if not needed or farthest * FAR_BELOW < within.bound != ANY:
                found = f"measured {farthest:.2g}" if farthest else "identical here"
                sentences.append(f"within {within.leaf!r}: {within.bound}, but {found}")
        return sentences


def _request(case, sizes, dynamic):
    """`Case.request`; the last dimension of a layer's arrays stays known if others are
    unknown, because the variables of the layer depend on it, also in TensorFlow 1."""
    request = case.request(sizes, dynamic)
    if dynamic and isinstance(case, cases.Layer) and not case.letters:
        for path, array in structure.arrays(request["args"]).items():
            if array.ndim > 1 and path in request["shapes"]:
                request["shapes"][path][-1] = array.shape[-1]
    return request


def _bounded(within, measured):
    """Selects the leaves that a `Within` bounds, from [(comparison, `Leaf`)]."""
    return [
        leaf
        for form, leaf in measured
        if within.names(leaf.path) and within.widened == (form == FLOAT64)
    ]


def _told(wrong, leaves):
    """Formats the message of a failed case: first difference, then all leaves."""
    by_path = {}
    for form, leaf in wrong:
        by_path.setdefault(leaf.path, []).append((form, leaf))
    # Prefer float64: a difference there is more than a kernel's last bit.
    rows = [max(rows, key=lambda row: row[0] != FLOAT32) for rows in by_path.values()]
    rows.sort(key=lambda row: -row[1].relative)
    lines = [f"  {form} {leaf.path}: {leaf.message}" for form, leaf in rows[:12]]
    more = [f"  … and {len(rows) - 12} more"] if len(rows) > 12 else []
    every = len({leaf.path for _, leaf in leaves})
    head = f"{len(rows)} of {every} leaves differ, first in {first(wrong)}"
    return "\n".join([head, *lines, *more])


def first(wrong):
    """Formats the first difference in [(comparison, `Leaf`)]: its kind and path."""
    leaf = min((leaf for _, leaf in wrong), key=lambda leaf: leaf.order)
    rung = f"step {leaf.step}" if leaf.rung == "step" else leaf.rung
    return f"{rung}: {leaf.path}"


class Parity(unittest.TestCase):
    """The base class of the tests of a pair."""

    pair = None

    @classmethod
    def setUpClass(cls):
        settings.apply()


def _tests(checks):
    """Makes a test method for each check: {name: method}."""
    tests = {}
    for _, check in checks:

        def run(self, check=check):
            __tracebackhide__ = True
            check()

        words = check.case.name, check.case.slug, check.way
        name = "-".join(re.sub(r"\W+", "_", text).strip("_") for text in words)
        while f"test_{name}" in tests:
            name += "_"
        tests[f"test_{name}"] = run
    return tests
