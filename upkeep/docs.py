"""Makes the tables of the guide: `make upkeep`; `make check-upkeep` fails if stale.

python -m upkeep.docs            writes proofs.json and the tables of the guides
python -m upkeep.docs --check    compares, writes nothing
python -m upkeep.docs layers     runs only the false friends of these topics

proofs.json has the proof of every pair, for the tools that do not start TensorFlow.
benchmarks/ has the results of `make bench`. A table is between `<!-- table NAME -->`
and `<!-- end -->`.
"""

import argparse
import itertools
import json
import math
import os
import pathlib
import re
import sys

from tf1to2.catalog import links
from tf1to2.common import output
from tf1to2.explain.questions import subjects
from tf1to2.pages import proven, topics
from upkeep import (
    calls,
    chapters,
    friends,
    names_index,
    switches,
    whole_programs,
)

# The topics of the guide when it was one file: old links need these anchors.
ONE_FILE = frozenset(
    """
    basics graphs tensors variables shapes scopes broadcasting operators execution_order
    control_flow data records queues python_ops gradients linear_algebra debugging
    numerical_stability cookbook optimizers learning_rates losses regularization metrics
    averages layers rnn randomness training_loops estimators checkpoints saved_models
    summaries files feature_columns images parallel distributed numerics
    """.split()
)
ROOT = pathlib.Path(__file__).parents[1]
NAMES = ROOT / "guide" / "names"
BOUND = "case", "side", "settings", "leaf", "ulps", "noise", "reason"  # in proofs.json


def proofs(asked=()):
    """Collects the proof of each pair from the cases. Starts TensorFlow.

    Only false friends of the topics in `asked` are run, the others keep their numbers;
    if `asked` is empty, all are run.
    """
    from tf1to2.parity import providers

    provider = providers.provider("parity_tests")
    return {
        name: {
            pair: _pair(provider.load(name), pair, _before(name, pair, asked))
            for pair in topic.pairs
        }
        for name, topic in topics.topics().items()
    }


def _before(topic, pair, asked):
    """Reads a pair's false friends in proofs.json; {} if its topic runs again."""
    if not asked or topic in asked:
        return {}
    found = proven.proofs().get(topic, {}).get(pair, {}).get("false friends", [])
    return {n["slug"]: {side: n[side] for side in ("left", "naive")} for n in found}


def _pair(proof, name, before):
    from tf1to2.parity import structure
    from tf1to2.parity.cases import FalseFriend, Raises

    cases = [case for case in proof.cases if case.name == name]
    proven = [case for case in cases if not isinstance(case, Raises)]
    return {
        "kind": proven[0].kind if proven else "",
        "cases": len(proven),
        "ways": sorted({way for case in proven for way in case.ways} - {"naive"}),
        "skips": sorted({(w, r) for c in proven for w, r in c.skip.items()}),
        "bounds": [
            {key: getattr(b, key) for key in BOUND}
            for b in proof.bounds
            if b.pair == f"{proof.name}.{name}"
            and not b.where  # the guide's table of releases has these
        ],
        "float32": _far(proof, name),
        "keras": _by_keras(proof, name),
        "false friends": [
            {"slug": case.slug, "because": case.because}
            | (before.get(case.slug) or friends.numbers(proof, case))
            for case in proven
            if isinstance(case, FalseFriend)
        ],
        "errors": [
            {"slug": case.slug, "match": case.match}
            | {
                side: structure.error_name(kind) if kind else None
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


def _far(proof, name):
    """Counts a pair's float arrays; summarizes float32 distances from 1.15.5."""
    from tf1to2.parity.cases import Raises

    leaves = set()
    for case in proof.cases:
        met = proof.float32_way(case) and not isinstance(case, Raises)
        for answer in proof.recorded_float32(case) if met and case.name == name else ():
            floats = (p for p, leaf in answer.items() if leaf.dtype.kind in "fc")
            leaves |= {(case.slug, path) for path in floats}
    pair = f"{proof.name}.{name}"
    rows = [row for row in proof.float32.rows.values() if row.pair == pair]
    return {
        "leaves": len(leaves),
        "differ": len(rows),
        "within 1e-6": sum(row.relative <= 1e-6 for row in rows),
        "relative": max([0.0, *(row.relative for row in rows if not row.noise)]),
        "kernels": sorted({k for row in rows for k in row.kernels.split(", ")}),
    }


def _by_keras(proof, name):
    """Distances of a pair's Keras and naive forms; None without a Keras form."""
    found = proof.distances
    if not found or name not in found.page.module.__all__:
        return None

    def far(case):
        rows = [
            row
            for row in found.table.rows.values()  # rows for all releases
            if (row.pair, row.case) == (f"{proof.name}.{name}", case)
        ]
        far = [row.relative for row in rows if math.isfinite(row.relative)]
        return max(far, default=None)

    return {
        "relative": topics.topics()[proof.name].distances[name],
        "naive": [
            {
                "slug": naive.slug,
                "relative": far(str(naive).partition(", ")[2]),
                "because": naive.because,
            }
            for naive in found.naive
            if naive.name == name
        ],
    }


def tables(found):
    """Makes all tables but the benchmarks: {name: text}, from `proofs`' result."""
    from upkeep import keras_today

    return {
        **{
            f"topics of {title}: {' '.join(names)}": _group(names)
            for title, names in topics.groups().items()
        },
        **friends.tables(found),
        "keras": _keras(found),
        "keras stages": keras_today.stages(),
        "keras witness": keras_today.witness(),
        "kernels": _kernels(),
        "float32": _float32(found),
        "models": whole_programs.table(found),
        "models tools": whole_programs.tools(),
        "mutations": _mutations(),
        "subjects": _subjects(),
        **{
            f"switches of {side}": switches.table(found)
            for side, found in switches.recorded().items()
        },
    }


def _kernels():
    """The table of float32 kernels that are proven alone, the most distant first."""
    from upkeep.kernels.proof import PROOF

    far = {}
    for row in PROOF.float32.rows.values():
        name = row.pair.partition(".")[2]
        units, relative = far.get(name, (0, 0.0))
        far[name] = max(units, row.ulps), max(relative, row.relative)
    rows = [
        "| kernel | ULP | relative to the largest value |",
        "|---|---|---|",
    ]
    for name in sorted(far, key=lambda name: (-far[name][1], name)):
        units, relative = far[name]
        rows.append(f"| `{name}` | {units:,} | {relative:.1e} |")
    same = [f"`{name}`" for name in PROOF.pairs if name not in far]
    return "\n".join([*rows, "", f"Identical: {', '.join(same)}."])


def _float32(found):
    """Writes a sentence: how many float32 arrays are identical to 1.15.5."""
    pairs = [pair["float32"] for topic in found.values() for pair in topic.values()]
    leaves, differ = (sum(pair[key] for pair in pairs) for key in ("leaves", "differ"))
    far = sorted(
        (-pair["float32"]["relative"], f"{topic}.{name}")
        for topic, of_topic in found.items()
        for name, pair in of_topic.items()
    )
    farthest = ", ".join(f"`{name}` ({-distance:.2g})" for distance, name in far[:4])
    near = sum(pair["within 1e-6"] for pair in pairs)
    same = leaves - differ
    return (
        f"Of {leaves:,} float arrays {same:,} ({same / leaves:.0%}) are identical to "
        f"the genuine 1.15.5 in raw float32; {near:,} of the other {differ:,} lie "
        f"within 1e-6 of their largest value. Apart from noise, the largest distances "
        f"are in {farthest}."
    )


def _subjects():
    """The index of subjects: a table for each letter."""
    lines = []
    letters = itertools.groupby(subjects().items(), key=lambda row: row[0][0].upper())
    for letter, rows in letters:
        lines += ["", f"## {letter}", "", "| subject | pairs |", "|---|---|"]
        for subject, pairs in rows:
            links_to = (f"[{p}](guide/{p.partition('.')[0]}.md)" for p in pairs)
            lines.append(f"| {subject} | {', '.join(links_to)} |")
    return "\n".join(lines[1:])


def _mutations():
    """The table of scores of all topics that `make mutate` tried."""
    from tf1to2.prove import mutate

    path = ROOT / "parity_tests" / "mutations.json"
    rows = ["| topic | changes | tried | noticed | score |", "|---|---|---|---|---|"]
    reports = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for name, report in sorted(reports.items()):
        if not report["control"]:  # an interrupted run
            continue
        seen, tried = mutate.score(report)
        rows.append(
            f"| {name} | {report['changes']} | {tried} | {seen} | {seen / tried:.0%} |"
        )
    return "\n".join(rows)


def _benchmarks():
    """Makes the tables and summaries of the benchmarks: {name: text}."""
    from tf1to2.bench import report as form
    from tf1to2.bench.work import rendered

    names = "work", "elsewhere", "pairs"
    reports = {
        name: json.loads((ROOT / "benchmarks" / f"{name}.json").read_text("utf-8"))
        for name in names
    }
    machines = [
        "AVX-512" if "avx512f" in reports[name]["environment"]["features"] else "AVX2"
        for name in names[:2]
    ]
    both = rendered.on_both(reports["work"], reports["elsewhere"], machines)
    made = dict([form.in_markdown(*both)])
    for name in ("work", "pairs"):
        report = reports[name]
        made |= form.markdown(report)
        made[f"environment of {name}"] = (
            "`{command}`, TensorFlow {tensorflow}, Python {python}, {cpu}, "
            "{cores} cores, {date}.".format(**report["environment"])
        )
        lines = [f"- {line}" for line in form.summary(report).split("\n")]
        made[f"summary of {name}"] = "\n".join(lines)
    return made


def _group(names):
    known = topics.topics()
    return "\n".join(
        f'- <a id="{name}"></a>[{name}](guide/{name}.md): {known[name].lesson}'
        if name in ONE_FILE
        else f"- [{name}](guide/{name}.md): {known[name].lesson}"
        for name in names
    )


def _keras(found):
    """The table of pairs with a Keras form, their distances, and their naive forms."""
    rows = [
        "| pair | distance of the Keras page | naive form | distance of the naive form "
        "| because |",
        "|---|---|---|---|---|",
    ]
    for topic, pairs in found.items():
        for name, pair in pairs.items():
            if not pair["keras"]:
                continue
            told = topics.distance_told(pair["keras"]["relative"])
            cells = f"[{topic}.{name}](v2_keras/{topic}.py) | {told}"
            naive = pair["keras"]["naive"]
            rows += [
                f"| {cells} | {n['slug']} | {n['relative']:.1e} | {n['because']} |"
                for n in naive
            ] or [f"| {cells} | | | |"]
    return "\n".join(rows)


def written(found):
    """Yields (path, text) of each generated file; save each before the next."""
    yield links.FOLDER / "calls.tsv", calls.table()
    links.calls.cache_clear()  # the index of names reads that file
    texts = {ROOT / "parity_tests" / "proofs.json": json.dumps(found, indent=1) + "\n"}
    texts |= {NAMES / file: text for file, text in names_index.files().items()}
    made = {**tables(found), **_benchmarks()}
    for path in guides():
        if path not in texts:
            texts[path] = _filled(path, made)
    yield from texts.items()


def _filled(path, made):
    """Returns a file's text, with its marked tables replaced by those in `made`."""

    def table(match):
        return f"{match[1]}{_seen_from(path, made[match[2]])}\n"

    marked = r"(?s)(<!-- table (?!pairs: )([^\n]+) -->\n).*?(?=<!-- end -->)"
    return re.sub(marked, table, chapters.filled(path))


def guides():
    """Paths of all documents that may have tables."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "guide").rglob("*.md"))]


def _seen_from(path, text):
    """Changes links in `text` from relative to the root to relative to a file."""

    def link(match):
        target = os.path.relpath(ROOT / match[1], path.parent)
        return f"]({pathlib.Path(target).as_posix()})"

    return re.sub(r"\]\((?!https?:|#)([^)\s]+)\)", link, text)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("asked", nargs="*", metavar="TOPIC", help="all unless given")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    args = parser.parse_args(argv)
    unknown = sorted(set(args.asked) - set(topics.topics()))
    if unknown:
        parser.error(f"no topic: {', '.join(unknown)}; tf1to2 topics lists them")
    if not (ROOT / "setup.py").exists():
        print(f"{ROOT} is not a checkout: run this in a git clone", file=sys.stderr)
        return 2
    made, stale = set(), []
    for path, text in written(proofs(args.asked)):  # the next may read this file
        made.add(path)
        stale += [path] if _is_stale(path, text, args.check) else []
    stale += _left_over(made, args.check)
    return int(args.check and bool(stale))


def _is_stale(path, text, check):
    """Whether a file is out of date; prints this, and updates it unless `check`."""
    if path.exists() and path.read_text("utf-8") == text:
        return False
    if check:
        print(f"{path.name} is stale: make upkeep", file=sys.stderr)
    else:
        output.save(path, text)
        print(f"wrote {path.name}")
    return True


def _left_over(made, check):
    """Finds pages of names no longer generated; deletes them unless `check`."""
    found = [path for path in sorted(NAMES.glob("*.md")) if path not in made]
    for path in found:
        if check:
            print(f"{path.name} is no longer generated: make upkeep", file=sys.stderr)
        else:
            path.unlink()
            print(f"deleted {path.name}")
    return found


if __name__ == "__main__":
    sys.exit(main())
