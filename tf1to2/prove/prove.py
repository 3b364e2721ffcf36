"""`tf1to2 prove`: compares a user's own port with its recording, leaf by leaf."""

import contextlib
import json
import os
import sys

from tf1to2.common import output
from tf1to2.common.errors import CommandError, needs
from tf1to2.common.tables import table
from tf1to2.common.words import counted

FORMS = ("float32", "float64", "left today")
_NONE = {"leaf": "–", "holds": True}
SIZES = (
    ". Sizes are unknown here. If the old program needs them, too, give the case "
    'skip={"dynamic": "the reason"}'
)
FEW = 3
"""The number of passing leaves of a case that are shown: the most distant ones."""


def add_arguments(parser):
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="file with pairs: test_port.py"
    )
    parser.add_argument(
        "names",
        metavar="NAME",
        nargs="*",
        help="pairs to prove, PAIR or PAIR.FUNCTION; default: all",
    )
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument(
        "--all",
        action="store_true",
        help="show every leaf: each array or value of the results",
    )
    parser.add_argument(
        "--init", metavar="LEGACY", help="write a left page, a port and a test for it"
    )
    parser.add_argument(
        "--output",
        metavar="DIR",
        default=".",
        help="folder for --init (default: %(default)s)",
    )
    parser.set_defaults(run=run)


def run(options):
    """Proves the pairs of a file, and prints the leaves that differ.

    Output of the file and of the port goes to the standard error.

    Returns:
        0 if every case passes, 1 if a case fails, 2 if a case could not be proven,
        because its recording is missing or stale, or its port is missing; other cases
        are still proven.

    Raises:
        CommandError: there is no such file or pair, or no case that can be proven.
    """
    if options.init:
        from tf1to2.prove import init

        print(init.write(options.init, options.output))
        return 0
    if not options.file:
        raise CommandError("prove needs a file with pairs, such as test_port.py")
    os.environ["TF1TO2_SETTINGS"] = "strict"
    output.progress("starting TensorFlow")
    try:
        from tf1to2.parity import providers
        from tf1to2.parity.settings import apply

        apply()
    except ImportError as error:
        raise needs("prove", error) from error
    with contextlib.redirect_stdout(sys.stderr):
        pairs = providers.select(providers.provider(options.file), options.names)
        cases = [
            _Case(pair, case)
            for pair, name in pairs
            for case in _cases(pair)
            if name in (None, case.name)
        ]
        for number, case in enumerate(cases, 1):
            output.progress(f"{number} of {len(cases)}: {case.name}")
            case.prove()
        output.progress("")
    proven = [case for case in cases if not case.unproven]
    missing = dict.fromkeys(case.unproven for case in cases if case.unproven)
    if not proven:
        raise CommandError("; ".join(missing))
    report = {
        "environment": _environment(proven[0].pair),
        "cases": [case.report for case in cases],
    }
    text = json.dumps(report, indent=2)
    if options.format == "text":
        text = _text(report, options.all)
    output.write(text + "\n")
    return 2 if missing else int(any(case.failures for case in cases))


def _cases(proof):
    from tf1to2.parity.pair import Pair

    if not isinstance(proof, Pair):
        raise CommandError(
            f"{proof.name} is not a Pair: for other proofs use tf1to2 verify"
        )
    if not proof.cases:
        raise CommandError(f"{proof.name} has no case: add one, for example pair.op(…)")
    return proof.cases


class _Case:
    """The proof results of one case, in all its ways."""

    def __init__(self, pair, case):
        self.pair, self.case = pair, case
        self.name = f"{pair.name}.{case}"
        self.leaves, self.failures, self.unproven = [], [], ""

    def prove(self):
        from tf1to2.pages.page import NoPage
        from tf1to2.parity import structure
        from tf1to2.parity.recordings import StaleRecording

        for check in (c for _, c in self.pair.checks() if c.case is self.case):
            try:
                check()
            except (StaleRecording, NoPage) as error:
                self.unproven = str(error)
                return
            except Exception as error:  # reported below, and by the exit status
                text = str(error).removeprefix(f"{self.name}, {check.way}: ")
                if not isinstance(error, AssertionError):
                    where = structure.place(error, [self.pair.right.root])
                    text = f"{type(error).__name__}: {text}{where and f' ({where})'}"
                    text += SIZES if check.way == "dynamic" else ""
                self.failures.append({"way": check.way, "message": text})
        self.leaves = self._measured()

    def _measured(self):
        rows = []
        for way in self.case.ways:
            try:
                rows += self.pair.measured(self.case, way)
            except Exception:  # bad input, a false friend, or reported as a failure
                continue
        return rows

    @property
    def report(self):
        from tf1to2.parity.pair import first

        wrong = self.pair.wrong(self.case, self.leaves)
        verdict = "FAILS" if self.failures else "proven"
        return {
            "pair": f"{self.pair.name}.{self.case.name}",
            "case": self.case.slug,
            "ways": self.case.ways,
            "verdict": "not proven" if self.unproven else verdict,
            "unproven": self.unproven or None,
            "first": first(wrong) if wrong else None,
            "races": self._races(),
            "loose": self._loose(),
            "matched": self.pair.matched.get(self.case, {}),
            "leaves": self._rows(),
            "failures": self.failures,
        }

    def _races(self):
        """Lists the recorded sentences about races in the left page."""
        if self.unproven:
            return []
        races = self.pair.recording.about.get("races", {})
        keys = [key for key in races if key.partition("/")[0] == str(self.case)]
        return sorted({text for key in keys for text in races[key]})

    def _loose(self):
        """Lists sentences on bounds that are wider than needed: see `Pair.loose`."""
        return [] if self.unproven or self.failures else self.pair.loose(self.case)

    def _rows(self):
        """Makes a dict for each leaf, sorted with the largest distance first."""
        from tf1to2.parity.leaves import worst

        paths = {}
        for form, leaf in self.leaves:
            paths.setdefault(leaf.path, {}).setdefault(form, []).append(leaf)
        rows = []
        for path, forms in paths.items():
            cells = {form: worst(leaves) for form, leaves in forms.items()}
            farthest = worst(cells.values())
            bounds = [
                self.pair.verdict(self.case, f, leaf)
                for f, leaf in cells.items()
                if leaf.told
            ]
            bounds.sort(key=lambda bound: bound[0])
            rows.append(
                {
                    "leaf": path,
                    "rung": farthest.rung,
                    "verdict": bounds[0][1] if bounds else "identical",
                    "holds": bounds[0][0] if bounds else True,
                    "relative": _finite(farthest.relative),
                    "ulps": farthest.ulps,
                    "told": farthest.told,
                    "way": farthest.way,
                    **{form: cells[form].far for form in FORMS if form in cells},
                }
            )
        rows.sort(key=lambda row: (row["holds"], -_number(row["relative"])))
        return rows


def _finite(number):
    """Returns a number that JSON can represent: None in place of infinity."""
    return number if number < float("inf") else None


def _number(relative):
    return float("inf") if relative is None else relative


def _environment(pair):
    import numpy
    import tensorflow

    about = pair.recording.about
    return {
        "tensorflow": tensorflow.__version__,
        "numpy": numpy.__version__,
        "recorded": f"TensorFlow {about['tensorflow']}, {about['date']}, "
        f"{about['cpu']}",
    }


def _text(report, every=False):
    environment, cases = report["environment"], report["cases"]
    blocks = [
        f"TensorFlow {environment['tensorflow']}, NumPy {environment['numpy']}, "
        f"against {environment['recorded']}",
        _table(cases, every),
    ]
    notes = []
    for case in cases:
        name = f"{case['pair']}, {case['case']}"
        if case["unproven"]:
            blocks.append(f"NOT PROVEN {name}: {case['unproven']}")
        if case["first"]:
            notes.append(f"{name} differs first in {case['first']}")
        if case["matched"]:
            pairs = ", ".join(f"{old} → {new}" for old, new in case["matched"].items())
            notes.append(f"{name} has variables matched by their names: {pairs}")
        notes += [f"{name} has a race on the left: {r}" for r in case["races"]]
        notes += [f"{name} has a bound to lower or remove: {x}" for x in case["loose"]]
        messages = {}
        for failure in case["failures"]:
            messages.setdefault(failure["message"], []).append(failure["way"])
        for message, ways in messages.items():
            blocks.append(f"FAILS {name} ({', '.join(ways)}): {message}")
    blocks.insert(2, "\n".join(notes))
    failing = sum(bool(case["failures"]) for case in cases)
    missing = sum(bool(case["unproven"]) for case in cases)
    told = [f"{failing} {'fails' if failing == 1 else 'fail'}"] if failing else []
    told += [f"{missing} not proven"] if missing else []
    verdict = ", ".join(told) or "proven"
    blocks.append(f"{counted(len(cases), 'case')}: {_counted(cases)}: {verdict}")
    return "\n\n".join(filter(None, blocks))


def _same(leaf):
    """Returns whether a leaf is identical in every measured form."""
    return all(leaf[form] == "identical" for form in FORMS if form in leaf)


def _counted(cases):
    """Counts the identical leaves in float64 and in float32, as text."""
    leaves = [leaf for case in cases for leaf in case["leaves"]]
    texts = []
    for form in ("float64", "float32"):
        cells = [leaf[form] for leaf in leaves if form in leaf]
        if cells:
            same = cells.count("identical")
            what = "" if texts else "leaves identical "
            texts.append(f"{same} of {len(cells)} {what}in {form}")
    return ", ".join(texts) or "no leaves"


def _table(cases, every):
    """Formats the table of leaves: failing and most distant leaves of each case."""
    forms = [f for f in FORMS if any(f in leaf for c in cases for leaf in c["leaves"])]
    rows = []
    for case in cases:
        name = f"{case['pair']}, {case['case']}"
        leaves = case["leaves"] or [_NONE | {"verdict": case["verdict"]}]
        shown = [leaf for n, leaf in enumerate(leaves) if n < FEW or not leaf["holds"]]
        for leaf in leaves if every else shown:
            cells = [leaf.get(form, "–") for form in forms]
            rows.append([name, leaf["leaf"], *cells, leaf["verdict"]])
            name = ""
        if more := 0 if every else len(leaves) - len(shown):
            nearer = "identical" if _same(leaves[len(shown)]) else "not larger"
            rows.append(["", f"… {more} more, see --all", *[""] * len(forms), nearer])
    return table(["case", "leaf", *forms, "verdict"], rows)
