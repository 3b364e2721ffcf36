"""`tf1to2 verify`: runs the proofs and prints which sides are identical."""

import json
import os
import platform

from tf1to2.common import output
from tf1to2.common.errors import needs
from tf1to2.common.tables import table
from tf1to2.pages import proven, topics

FLOAT32 = "1.15.5 float32"
WAYS = {"float32": FLOAT32, **proven.WAYS, "keras": "Keras"}


def add_arguments(parser):
    parser.add_argument(
        "topic",
        metavar="TOPIC[.NAME]",
        nargs="*",
        help="topics or pairs to prove; default: all",
    )
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument(
        "--settings",
        choices=["strict", "default"],
        default="strict",
        help="strict also compares float32 bits with compat.v1 (default: %(default)s)",
    )
    parser.set_defaults(run=run)


def run(options):
    for name in options.topic:  # TensorFlow takes seconds to start
        topics.find(name)
    return verify(options.topic, options.settings, options.format)


def verify(names, settings, form, provider="parity_tests"):
    """Runs the proofs of a provider, or of some of its pairs, and prints the result.

    Args:
        names: list of "proof" or "proof.pair"; empty for everything.
        settings: "strict" or "default".
        form: "text" or "json".
        provider: the module or the file that provides the proofs.

    Returns:
        0 if all checks pass, 1 if a check fails.
    """
    os.environ["TF1TO2_SETTINGS"] = settings
    output.progress("starting TensorFlow")
    try:
        from tf1to2.parity import providers
        from tf1to2.parity.settings import apply

        apply()
    except ImportError as error:
        raise needs("verify", error) from error
    proofs = providers.select(providers.provider(provider), names)
    checks = [
        check
        for proof, name in proofs
        for _, check in proof.checks()
        if name in (None, check.case.name)
    ]
    results = []
    for number, check in enumerate(checks, 1):
        output.progress(f"{number} of {len(checks)}: {check.proof.name}.{check.slug}")
        results.append(_Result(check))
    output.progress("")
    report = {
        "environment": _environment(settings, proofs),
        "pairs": _pairs(results),
        "skipped": _skipped(proofs),
        "failures": [r.failure for r in results if r.failure],
    }
    print(json.dumps(report, indent=2) if form == "json" else _text(report))
    return int(bool(report["failures"]))


class _Result:
    """The result of one check."""

    def __init__(self, check):
        self.pair = f"{check.proof.name}.{check.case.name}"
        self.way = "eager" if check.way == "naive" else check.way
        self.tallies, self.failure = {}, None
        try:
            self.tallies = check()
        except Exception as error:  # reported, and the exit status says so
            message = f"{type(error).__name__}: {error}"
            self.failure = {"check": f"{self.pair}: {check.slug}", "message": message}


def _pairs(results):
    """Summarizes the results of each pair by column: verdict, leaves, distances."""
    pairs = {}
    for result in results:
        columns = pairs.setdefault(result.pair, {})
        cells = {
            WAYS[result.way]: list(result.tallies.values()),
            "1.15.5": [t for s, t in result.tallies.items() if s == "1.15.5"],
        }
        for column, tallies in cells.items():
            if not tallies and column != WAYS[result.way]:
                continue
            cell = columns.setdefault(column, {"verdict": "identical"})
            for key in ("leaves", "differ"):
                cell[key] = cell.get(key, 0) + sum(getattr(t, key) for t in tallies)
            for key in ("ulps", "relative"):
                found = [getattr(tally, key) for tally in tallies]
                cell[key] = max([cell.get(key, 0), *found])
            if result.failure or cell["verdict"] == "FAILS":
                cell["verdict"] = "FAILS"
            elif cell["relative"]:
                cell["verdict"] = f"within {cell['relative']:.0e}"
            elif cell["ulps"]:
                cell["verdict"] = f"within {cell['ulps']} ULP"
    return pairs


def _skipped(proofs):
    """Lists {"pair", "way", "reason"} for each way that a case skips."""
    rows = {
        (f"{proof.name}.{case.name}", way, reason)
        for proof, name in proofs
        for case in proof.cases
        for way, reason in case.skip.items()
        if name in (None, case.name)
    }
    return [
        dict(zip(("pair", "way", "reason"), row, strict=True)) for row in sorted(rows)
    ]


def _environment(settings, proofs):
    import numpy
    import tensorflow

    about = proofs[0][0].recording.about
    return {
        "tensorflow": tensorflow.__version__,
        "numpy": numpy.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "settings": settings,
        "recorded on": f"TensorFlow {about['tensorflow']}, {about['cpu']}",
    }


def _text(report):
    environment = report["environment"]
    lines = [
        f"TensorFlow {environment['tensorflow']}, NumPy {environment['numpy']}, "
        f"Python {environment['python']}, {environment['platform']}, "
        f"{environment['settings']} settings",
        f"recordings: {environment['recorded on']}",
        "",
    ]
    columns = ["1.15.5", *WAYS.values()]
    if not any(WAYS["keras"] in cells for cells in report["pairs"].values()):
        columns.remove(WAYS["keras"])
    rows = [
        [pair, *(cells.get(c, {"verdict": "–"})["verdict"] for c in columns)]
        for pair, cells in report["pairs"].items()
    ]
    lines += [table(["pair", *columns], rows)]
    lines += [""] * bool(report["skipped"])
    lines += [f"– {s['pair']}, {s['way']}: {s['reason']}" for s in report["skipped"]]
    for failure in report["failures"]:
        lines += ["", f"FAILS {failure['check']}", f"  {failure['message']}"]
    leaves = sum(c["leaves"] for p in report["pairs"].values() for c in p.values())
    verdict = (
        f"{len(report['failures'])} checks fail" if report["failures"] else "proven"
    )
    lines += ["", f"{len(rows)} pairs, {leaves} arrays compared: {verdict}"]
    raw = [p[FLOAT32] for p in report["pairs"].values() if FLOAT32 in p]
    if raw:
        all_of, differ = (sum(c[key] for c in raw) for key in ("leaves", "differ"))
        line = (
            f"float32 as given: {all_of - differ} of {all_of} arrays identical to "
            "1.15.5"
        )
        far = max(cell["relative"] for cell in raw)
        within = f", the rest within {far:.0e} of the largest value of the array"
        lines.append(line + (within if differ else ""))
    return "\n".join(lines)
