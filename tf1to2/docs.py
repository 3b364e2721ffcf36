"""Makes what is table and not prose: `make docs`, and `make test` fails if it is stale.

python -m tf1to2.docs            writes proofs.json and the tables of the guides
python -m tf1to2.docs --check    compares, writes nothing

proofs.json tells what is proven of every pair, for the tools that do not start
TensorFlow; benchmarks.json is what `make bench` measured. A table stands between
`<!-- table NAME -->` and `<!-- end -->`.
"""

import argparse
import importlib
import json
import pathlib
import re
import sys

import numpy as np

from tf1to2 import topics
from tf1to2.scan import catalog

ROOT = pathlib.Path(__file__).parents[1]


def proofs():
    """{topic: {pair: what is proven of it}}, from the cases. Starts TensorFlow."""
    import parity_tests.exceptions

    found = {}
    for name, topic in topics.topics().items():
        proof = importlib.import_module("parity_tests.test_" + name).PROOF
        bounds = [
            {"case": b.case, "side": b.side, "ulps": b.ulps, "reason": b.reason}
            | {"pair": b.pair}
            for b in parity_tests.exceptions.BOUNDS
        ]
        found[name] = {
            pair: _pair(
                proof, pair, [b for b in bounds if b["pair"] == f"{name}.{pair}"]
            )
            for pair in topic.pairs
        }
    return found


def _pair(proof, name, bounds):
    from tf1to2.parity.cases import FalseFriend, Raises

    cases = [case for case in proof.cases if case.name == name]
    proven = [case for case in cases if not isinstance(case, Raises)]
    return {
        "kind": proven[0].kind if proven else "",
        "cases": len(proven),
        "ways": sorted({way for case in proven for way in case.ways} - {"naive"}),
        "skips": sorted({(w, r) for c in proven for w, r in c.skip.items()}),
        "bounds": bounds,
        "false friends": [
            {"slug": case.slug, "because": case.because, **_numbers(proof, case)}
            for case in proven
            if isinstance(case, FalseFriend)
        ],
        "errors": [
            {"slug": case.slug, "match": case.match}
            | {
                side: kind.__name__ if kind else None
                for side, kind in (
                    ("1.15.5", case.genuine or case.graph),
                    ("eager", case.eager),
                    ("function", case.function),
                )
            }
            for case in cases
            if isinstance(case, Raises)
        ],
    }


def _numbers(proof, case):
    """The first number in which a false friend differs: {"left", "naive"}."""
    left, naive = proof.both(case, case.bindings()[0])
    for path, a in left.items():
        b = naive.get(path)
        if b is None or a.shape != b.shape:
            return {"left": _shown(a), "naive": "nothing" if b is None else _shown(b)}
        from tf1to2.parity.compare import same_bits

        differs = (
            np.atleast_1d(~same_bits(a, b)) if a.dtype.kind == b.dtype.kind else [1]
        )
        if np.any(differs):
            if a.size <= 6:
                return {"left": _shown(a), "naive": _shown(b)}
            index = tuple(np.argwhere(differs)[0])
            return {"left": _shown(a[index]), "naive": _shown(b[index])}
    return {"left": "", "naive": ""}


def _shown(array):
    array = np.asarray(array)
    if array.size > 6:
        return "an array of shape " + str(list(array.shape))
    if array.dtype.kind == "f":  # five digits, which no processor changes
        text = np.array2string(
            array, separator=", ", formatter={"float": lambda x: f"{x:.5g}"}
        )
        return text.replace("\n", "")
    return str(array.tolist())


def tables(found):
    """{name: the text of the table}, from what `proofs` found."""
    return {
        "topics": _topics(found),
        "false friends": _false_friends(found),
        "symbols": _symbols(),
        "same": _same(),
    }


def _benchmarks():
    """{name: the text of the table}, from what was measured last."""
    from tf1to2.bench import report as form

    report = json.loads((ROOT / "benchmarks.json").read_text("utf-8"))
    lines = [f"- {line}" for line in form.summary(report).split("\n")]
    return {
        **form.markdown(report),
        "environment": "`{command}`, TensorFlow {tensorflow}, Python {python}, {cpu}, "
        "{cores} cores, {date}.".format(**report["environment"]),
        "summary": "\n".join(lines),
    }


def _topics(found):
    rows = [
        "| topic | what it teaches | left page | right page | proof |",
        "|---|---|---|---|---|",
    ]
    for name, topic in topics.topics().items():
        pairs, cases = len(topic.pairs), sum(p["cases"] for p in found[name].values())
        rows.append(
            f"| [{name}](MIGRATION.md#{name}) | {topic.lesson} "
            f"| [v1](v1_graph/{name}.py) | [v2](v2_eager/{name}.py) "
            f"| [{pairs} pairs](parity_tests/test_{name}.py), {cases} cases |"
        )
    return "\n".join(rows)


def _false_friends(found):
    rows = [
        "| pair | what is taken for it | TensorFlow 1 | it gives | because |",
        "|---|---|---|---|---|",
    ]
    for topic, pairs in found.items():
        for name, pair in pairs.items():
            rows += [
                f"| [{topic}.{name}](parity_tests/test_{topic}.py) | {friend['slug']} "
                f"| `{friend['left']}` | `{friend['naive']}` | {friend['because']} |"
                for friend in pair["false friends"]
            ]
    return "\n".join(rows)


def _symbols():
    """Every name outside contrib that is not the same, and contrib as it is decided."""
    exact, wild = catalog._verdicts()
    rows = ["| name | verdict | write | pair |", "|---|---|---|---|"]
    names = [
        n for n in catalog.symbols() if not n.startswith("tf.contrib") or n in exact
    ]
    for name in names:
        entry = catalog.lookup(name)
        if entry.verdict != "same":
            rows.append(_symbol_row(f"`{name}`", entry))
    for prefix in sorted(p for p in wild if p.startswith("tf.contrib")):
        entry = catalog.Entry(prefix, "module", *wild[prefix])
        rows.append(_symbol_row(f"`{prefix}.*`", entry))
    return "\n".join(rows)


def _symbol_row(name, entry):
    known = topics.topics()
    pair = entry.pair if entry.topic in known else ""
    link = f"[{pair}](#{entry.topic})" if pair else ""
    write = entry.replacement or entry.what
    return (
        f"| {name} | {entry.verdict} | {write.replace('|', chr(92) + '|')} | {link} |"
    )


def _same():
    names = [n for n in catalog.symbols() if catalog.lookup(n).verdict == "same"]
    return ", ".join(f"`{name}`" for name in names)


def written(found):
    """{path: text} of all that is made."""
    texts = {ROOT / "parity_tests" / "proofs.json": json.dumps(found, indent=1) + "\n"}
    made = {**tables(found), **_benchmarks()}
    for name in ("README.md", "MIGRATION.md", "BENCHMARKS.md"):
        texts[ROOT / name] = re.sub(
            r"(<!-- table ([\w ]+) -->\n).*?(<!-- end -->)",
            lambda match: f"{match[1]}{made[match[2]]}\n{match[3]}",
            (ROOT / name).read_text("utf-8"),
            flags=re.DOTALL,
        )
    return texts


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args(argv).check
    stale = [
        (path, text)
        for path, text in written(proofs()).items()
        if not path.exists() or path.read_text("utf-8") != text
    ]
    for path, text in stale:
        if check:
            print(f"{path.name} is stale: make docs", file=sys.stderr)
        else:
            path.write_text(text, "utf-8")
            print(f"wrote {path.name}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
