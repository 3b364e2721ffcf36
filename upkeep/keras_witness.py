"""tf_keras as a witness: every left page of the Keras topics, run today.

`python -m upkeep.keras_witness [TOPIC …]` makes keras_witness.tsv: each case by
`tf.compat.v1` with tf_keras, beside what 1.15.5 answered. `--check` asks anew, and says
what differs. Without tf_keras neither runs.
"""

import argparse
import collections
import csv
import io
import pathlib
import re
import sys

import numpy as np

from tf1to2.common import output
from tf1to2.common.errors import CommandError
from upkeep import keras_stages

TABLE = pathlib.Path(__file__).with_suffix(".tsv")
FIELDS = ("pair", "case", "float32", "float64")
HEADER = """\
# What tf_keras answers to the left pages, beside 1.15.5: made by `make witness`. The
# largest distance of any array at any size, in units in the last place and relative to
# the array's largest value; float32: inputs as given, in the strict settings; float64:
# widened, answers rounded, 1.15.5 as it is installed; empty where a page computes in
# float32 whatever comes in, or the first does not run.
"""
SAME, TOO = "identical", "an error, too"
SLACK = 4
"""How much larger than measured a distance may be, as a factor."""

KERNELS = "kernels have other last bits in float32"
VANISHED = (
    "gates are clipped, and gradients of early steps vanish: what is left is the order "
    "in which a sum was made"
)
CAUSES = {
    "other files": "another Keras writes other bytes, in one shard, and more metadata",
    "other names": "weights bear the name of the cell, too: `lstm/kernel` is "
    "`lstm/lstm_cell/kernel`",
    "rebuild, Adagrad of Keras 2.2": "its sums begin at 0.1 where the configuration "
    "does not say, and began at 0",
    "apply_gradients, .* passed": "`apply_gradients` heeds `clipnorm`, and did not",
    "both limits": "the values are limited before the norm, and were after it",
    "stop_early, the epochs end first": "the best weights come back at the end, too, "
    "and did so only where training was stopped",
    "stop_early, losses that are NaN": "the weights of the first epoch come back where "
    "no loss is a number, and there were none",
    "fit_padded": "a loss behind a mask is divided by the steps that count, and was by "
    "all steps",
    "EOFError": "a Lambda is kept as bytecode of the Python that wrote it",
    "'decode'": "attributes of a file are text with h5py 3, and were bytes",
    "saved_model'": "the two functions are gone: `model.save` and `load_model` do it",
    "'predict_classes'": "it is gone: the argmax of `predict`",
    "'multi_gpu_model'": "it is gone: `MirroredStrategy`",
    "'experimental_run_v2'": "it is called `run`",
    "'mask'": "the page overrides a private method, which has one argument more",
    "model_to_estimator": "there are no estimators any more",
    "read_both_ways": "a stateful `Bidirectional` goes on, and began anew",
    "Cannot do batch_dot": "`K.batch_dot` takes the first axis alone for the batch, "
    "and took all but the last two",
}
"""{what a part of a row has: why it differs}; what is not here is rounding."""


def asked(topics=()):
    """[(row, left page, request, recorded)] of all cases of the Keras topics.

    Args:
        topics: their names; all, unless given.

    A row is (pair, case, "float32" or "float64"), and comes once for each size.
    """
    from parity_tests import PROVIDER
    from tf1to2.parity import Raises
    from tf1to2.parity.proof import entry_key

    known = [name for name in PROVIDER.names() if name.startswith("keras_")]
    if unknown := set(topics) - set(known):
        raise CommandError(f"no topic {min(unknown)}: one of {', '.join(known)}")
    found = []
    for proof in map(PROVIDER.load, topics or known):
        for case in proof.cases:
            row = f"{proof.name}.{case.name}", case.slug
            for sizes in case.bindings():
                given = case.request(sizes)
                recorded = proof.recorded_answer(case, sizes)
                if (wide := proof.widened(case, given)) is not given:
                    found.append(((*row, "float64"), proof.left.name, wide, recorded))
                if not isinstance(case, Raises):
                    key = entry_key(case, sizes)
                    recorded = proof.recording.answer_float32(key, given)
                found.append(((*row, "float32"), proof.left.name, given, recorded))
    return found


def measured(topics=()):
    """[{column: text}] of the table; see `asked`.

    Raises:
        CommandError: tf_keras is not installed, or there is no such topic.
    """
    from tf1to2.parity import structure

    questions = asked(topics)
    answers = keras_stages.ask("compat.v1", [question[1:] for question in questions])
    sides = collections.defaultdict(list)
    for (row, _, _, recorded), found in zip(questions, answers, strict=True):
        found = structure.narrow(found) if row[2] == "float64" else found
        sides[row].append((recorded, found))
    rows = []
    for pair, case, column in sides:
        if column == "float32":
            told = verdict(sides[pair, case, column])
            wide = sides.get((pair, case, "float64"))
            wide = verdict(wide) if wide and "Error: " not in told else ""
            rows.append(dict(zip(FIELDS, (pair, case, told, wide), strict=True)))
    return rows


def verdict(sides):
    """How the answers to a case compare: "identical", "2 ULP, 1.2e-07; other names".

    Args:
        sides: [(what 1.15.5 answered, what tf_keras answers)], of every size.
    """
    notes, units, relative = [], 0, 0.0
    for recorded, found in sides:
        if told := keras_stages.of_errors(recorded, found):
            return told
        more, far = _apart(*map(_compared, (recorded, found)))
        notes += more
        units, relative = max(units, far[0]), max(relative, far[1])
    if units:
        notes.insert(0, f"{units} ULP, {relative:.1e}")
    return "; ".join(dict.fromkeys(notes)) or SAME


def _compared(answer):
    """An answer without what is drawn for weights; which train, the gradients tell."""
    kept = {p: x for p, x in answer.items() if not p.startswith(("initial", "trai"))}
    names = [p for p in kept if p.startswith("variables/")]
    return kept | dict(zip(names, sorted(kept[p] for p in names), strict=True))


def _apart(left, right):
    """([what differs that is no float], the distance of the floats)."""
    from tf1to2.parity.distance import distance as apart

    notes, far = [], (0, 0.0)
    if set(left) != set(right):  # which their structure tells once more
        left.pop("structure", None), right.pop("structure", None)
    for path in left | right:
        a, b = left.get(path), right.get(path)
        if path.startswith("variables/"):
            notes += ["other names"] * (not np.array_equal(a, b))
        elif a is None or b is None:
            kind = (b if a is None else a).dtype
            notes.append("other files" if kind == np.uint8 else "other arrays")
        elif (a.shape, a.dtype.kind) != (b.shape, b.dtype.kind):
            notes.append("other files" if a.dtype == np.uint8 else "other shapes")
        elif a.dtype.kind == "f" and a.dtype == b.dtype:
            far = tuple(map(max, far, apart(a, b)))
        elif not np.array_equal(a, b):
            notes.append("other files" if a.dtype == np.uint8 else "other values")
    return notes, far


def text(rows):
    """The table as a file has it."""
    lines = io.StringIO()
    writer = csv.DictWriter(lines, FIELDS, delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return f"{HEADER}# measured on {here()}\n{lines.getvalue()}"


def here():
    """Where the table is measured, for people."""
    import importlib.metadata

    from tf1to2.parity import float32
    from tf1to2.parity.recordings import cpu_features

    release = importlib.metadata.version("tf_keras")
    return f"{float32.here()}, {' '.join(cpu_features())}, tf_keras {release}"


def rows():
    """[{column: text}] of the table as it is."""
    with TABLE.open(encoding="utf-8", newline="") as lines:
        lines = (line for line in lines if not line.startswith("#"))
        return list(csv.DictReader(lines, delimiter="\t"))


def differences(new, old):
    """[line] of the rows that are not as they were.

    Kinds of errors and notes must be the same. A distance may be rounding, `SLACK`
    times as large as it was, or smaller.

    Args:
        new, old: rows of the same cases.
    """
    then = {(row["pair"], row["case"]): row for row in old}
    told = []
    for row in new:
        before = then.pop((row["pair"], row["case"]), None)
        columns = FIELDS[2:]
        if not before or not all(_holds(row[c], before[c]) for c in columns):
            told.append("\t".join(row.values()))
    return told + ["not any more: " + "\t".join(row.values()) for row in then.values()]


def _holds(now, before):
    if "Error" in now + before:
        return keras_stages.kind(now) == keras_stages.kind(before)
    far = re.compile(r"[^;]* ULP, [^;]*(; )?|identical")
    most = max(keras_stages.SAME, SLACK * distance(before))
    return far.sub("", now) == far.sub("", before) and distance(now) <= most


def distance(told):
    """The relative distance that a verdict tells; 0.0 where it tells none."""
    found = re.search(r" ULP, ([^;]+)", told)
    return float(found[1]) if found else 0.0


def causes(row):
    """{part of a row that differs: why}.

    Raises:
        KeyError: nothing is known of a part.
    """
    found = {}
    for column, rounding in (("float32", KERNELS), ("float64", VANISHED)):
        for part in filter(None, row[column].split("; ")):
            if part in (SAME, TOO):
                continue
            where = f"{row['pair'].partition('.')[2]}, {row['case']}: {part}"
            known = [why for what, why in CAUSES.items() if re.search(what, where)]
            if 0 < distance(part) <= keras_stages.SAME:
                known = [rounding]
            if not known:
                raise KeyError(where)
            found[part] = known[0]
    return found


def kind(row):
    """A column of the summary: the row's."""
    told = row["float32"]
    if told in (SAME, TOO):
        return told
    if "Error: " in told:
        return "does not run"
    if distance(told) > keras_stages.SAME:
        return "other numbers"
    return "other files" if "other files" in told else "rounding"


def summary():
    """How many cases of each topic compare how, and why what differs does: Markdown."""
    kinds = (SAME, "rounding", "other numbers", "other files", TOO, "does not run")
    lines = ["| topic | pairs | cases | " + " | ".join(kinds) + " |"]
    lines.append("|---" * (3 + len(kinds)) + "|")
    topics = collections.defaultdict(list)
    for row in rows():
        topics[row["pair"].partition(".")[0]].append(row)
        topics[""].append(row)
    topics["all"] = topics.pop("")
    for topic, found in topics.items():
        counts = collections.Counter(map(kind, found))
        near = max(distance(r["float32"]) for r in found if kind(r) == "rounding")
        told = {k: counts[k] or "" for k in kinds}
        told["rounding"] = f"{counts['rounding']}, by {near:.1e} at most"
        link = topic if topic == "all" else f"[{topic}](guide/{topic}.md)"
        pairs = len({row["pair"] for row in found})
        cells = [link, pairs, len(found), *told.values()]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += ["", "| what differs | in | because |", "|---|---|---|"]
    groups = collections.defaultdict(list)
    for row in rows():
        for part, why in causes(row).items():
            groups[why].append((row, part))
    for why, found in sorted(groups.items(), key=lambda item: -len(item[1])):
        lines.append(f"| {_what(found)} | {_where(found)} | {why} |")
    return "\n".join(lines)


def _what(found):
    """What differs in a group of rows: an error, a distance, or a note."""
    parts = list(dict.fromkeys(part for _, part in found))
    far = [distance(part) for part in parts]
    if min(far):
        most = f"{max(far):.1e} of the largest value"
        return f"at most {most}" if len(found) > 1 else most
    kind, colon, message = parts[0].partition(": ")
    return f"`{kind}`: {message.replace('`', '').rstrip('.')}" if colon else kind


def _where(found):
    """Which pairs a group has, or how many."""
    cases = f"{len(found)} case" + "s" * (len(found) > 1)
    pairs = list(dict.fromkeys(row["pair"] for row, _ in found))
    topics = dict.fromkeys(pair.partition(".")[0] for pair in pairs)
    if len(topics) > 1:
        return f"{cases} of {len(pairs)} pairs"
    (topic,) = topics
    names = ", ".join(pair.partition(".")[2] for pair in pairs)
    return f"[{topic}](guide/{topic}.md): {names}, {cases}"


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("topics", nargs="*", help="of Keras; all, unless named")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args(argv)
    new, old = measured(options.topics), rows() if TABLE.exists() else []
    asked_for = {row["pair"].partition(".")[0] for row in new}
    if options.check:
        old = [row for row in old if row["pair"].partition(".")[0] in asked_for]
        found = differences(new, old)
        print("\n".join(found) or f"{TABLE.name} is as measured")
        return int(bool(found))
    kept = [row for row in old if row["pair"].partition(".")[0] not in asked_for]
    new = sorted(kept + new, key=lambda row: row["pair"].partition(".")[0])
    output.save(TABLE, text(new))
    return 0


if __name__ == "__main__":
    from tf1to2.parity import settings

    settings.apply()
    try:
        sys.exit(main())
    except CommandError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
