"""`tf1to2 verify`: runs the proofs and says what is identical to what."""

import importlib
import json
import os
import platform

from tf1to2 import output, topics
from tf1to2.errors import CommandError
from tf1to2.view.tables import table

WAYS = {
    "graph": "compat.v1",
    "eager": "eager",
    "function": "tf.function",
    "dynamic": "unknown shapes",
    "xla": "XLA",
    "generated": "any size",
}


def run(names, settings, form):
    """Runs the proofs of topics or pairs and prints the result.

    Args:
        names: list of "topic" or "topic.name"; empty for everything.
        settings: "strict" or "default".
        form: "text" or "json".

    Returns:
        0 when everything holds, 1 when something does not.
    """
    wanted = [topics.find(name) for name in names]
    wanted = wanted or [(topic, None) for topic in topics.topics().values()]
    os.environ["TF1TO2_SETTINGS"] = settings
    output.progress("starting TensorFlow")
    try:
        proofs = [
            (importlib.import_module("parity_tests.test_" + topic.name).PROOF, name)
            for topic, name in wanted
        ]
    except ImportError as error:
        raise CommandError(
            f"verify runs the proofs, and {error.name or error} is missing: "
            "pip install 'tf1to2[test]'"
        ) from error
    checks = [
        check
        for proof, name in proofs
        for _, check in proof.checks()
        if name in (None, check.case.name)
    ]
    results = []
    for number, check in enumerate(checks, 1):
        output.progress(f"{number} of {len(checks)}: {check.proof.topic}.{check.slug}")
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
    """What one check found."""

    def __init__(self, check):
        self.pair = f"{check.proof.topic}.{check.case.name}"
        self.way = "eager" if check.way == "naive" else check.way
        self.tallies, self.failure = {}, None
        try:
            self.tallies = check()
        except Exception as error:  # reported, and the exit status says so
            message = f"{type(error).__name__}: {error}"
            self.failure = {"check": f"{self.pair}: {check.slug}", "message": message}


def _pairs(results):
    """{pair: {column: {"verdict", "leaves", "ulps"}}}."""
    pairs = {}
    for result in results:
        columns = pairs.setdefault(result.pair, {})
        cells = {WAYS[result.way]: result.tallies.values()}
        if "1.15.5" in result.tallies:
            cells["1.15.5"] = [result.tallies["1.15.5"]]
        for column, tallies in cells.items():
            cell = columns.setdefault(
                column, {"verdict": "identical", "leaves": 0, "ulps": 0}
            )
            cell["leaves"] += sum(tally.leaves for tally in tallies)
            cell["ulps"] = max([cell["ulps"], *(tally.ulps for tally in tallies)])
            if result.failure:
                cell["verdict"] = "FAILS"
            elif cell["ulps"] and cell["verdict"] == "identical":
                cell["verdict"] = f"within {cell['ulps']} ULP"
    return pairs


def _skipped(proofs):
    """[{"pair", "way", "reason"}] of what cases decline to be asked."""
    rows = {
        (f"{proof.topic}.{case.name}", way, reason)
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
    return "\n".join(lines)
