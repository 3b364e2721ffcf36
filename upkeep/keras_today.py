"""Makes keras_today.tsv: the left pages of the Keras topics, run on today's Keras.

`python -m upkeep.keras_today [TOPIC …]` writes the answers of tf_keras, Keras 2 and
Keras 3, compared with the recordings of 1.15.5. `--check` runs all again and prints the
differences. Both need tf_keras. guide/keras.md shows the table in two forms, `stages`
and `witness`.
"""

import argparse
import collections
import contextlib
import csv
import importlib
import importlib.metadata
import importlib.util
import io
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import types
import typing
from unittest import mock

import numpy as np

from tf1to2.common import output, tsv
from tf1to2.common.errors import CommandError
from tf1to2.common.words import counted
from tf1to2.parity import settings

TABLE = pathlib.Path(__file__).with_suffix(".tsv")
HEADER = """\
# What today's Keras answers to the left pages, compared with 1.15.5: made by
# `python -m upkeep.keras_today`. A cell is "identical", or the largest distance of any
# float array (in units in the last place, and relative to the array's largest value)
# and what else differs, or the error.
# tf_keras: by tf.compat.v1, all sizes. float32: inputs as given, 1.15.5 in the strict
# settings. float64: inputs widened, answers rounded, 1.15.5 as it is installed; empty
# if a page computes in float32 whatever comes in, or if float32 does not run.
# Keras 2, Keras 3: without graphs, the first size, what the page returns alone; empty
# if the case is neither a false friend nor an error.
"""


class Stage(typing.NamedTuple):
    """A stage: its title in the guide, its columns of the table, and its Keras."""

    title: str
    columns: tuple
    legacy: bool  # TF_USE_LEGACY_KERAS
    graphs: bool


TF_KERAS = ("tf_keras float32", "tf_keras float64")
STAGES = {
    "compat.v1": Stage("`tf.compat.v1`, tf_keras", TF_KERAS, True, True),
    "Keras 2": Stage("Keras 2: tf_keras", ("Keras 2",), True, False),
    "Keras 3": Stage("Keras 3", ("Keras 3",), False, False),
}
COLUMNS = tuple(column for stage in STAGES.values() for column in stage.columns)
FIELDS = ("pair", "case", *COLUMNS)

IDENTICAL, TOO, RENAMED = "identical", "an error, too", "other names"
ARRAYS = "other names or numbers of arrays"
WELL = ("same", TOO)
SAME = 1e-5
"""Relative to the largest value of an array: kernels differ by less than this."""

SLACK = 4
"""The factor by which a distance of tf_keras may exceed its row."""

KERNELS = "kernels have other last bits in float32"
VANISHED = (
    "gates are clipped, and gradients of early steps vanish: only the rounding of a "
    "sum is left, which depends on its order"
)
CAUSES = {
    "other files": "another Keras writes other bytes, in one shard, and more metadata",
    "other names": "names of weights now contain the cell: `lstm/kernel` became "
    "`lstm/lstm_cell/kernel`",
    "rebuild, Adagrad of Keras 2.2": "if the configuration has no initial value, the "
    "sums of Adagrad now begin at 0.1, before at 0",
    "apply_gradients, .* passed": "`apply_gradients` now uses `clipnorm`, before it "
    "did not",
    "both limits": "gradients are now clipped by value before they are clipped by "
    "norm, earlier after it",
    "stop_early, the epochs end first": "the best weights are now restored at the end "
    "of all epochs, too, before only if training was stopped",
    "stop_early, losses that are NaN": "if all losses are NaN, the weights of the "
    "first epoch are now restored, before no weights",
    "fit_padded": "a masked loss is now divided by the number of unmasked steps, "
    "before by the number of all steps",
    "EOFError": "a Lambda is saved as bytecode of the Python that wrote it",
    "'decode'": "attributes of a file are text with h5py 3, before they were bytes",
    "saved_model'": "the two functions are removed: use `model.save` and `load_model`",
    "'predict_classes'": "it is removed: use the argmax of `predict`",
    "'multi_gpu_model'": "it is removed: use `MirroredStrategy`",
    "'experimental_run_v2'": "it is renamed `run`",
    "'mask'": "the page overrides a private method, which now has one more argument",
    "model_to_estimator": "estimators are removed",
    "read_both_ways": "a stateful `Bidirectional` now continues from its last state, "
    "before it began again",
    "Cannot do batch_dot": "`K.batch_dot` now takes only the first axis as the batch, "
    "before all except the last two",
}
"""{part of a cell of tf_keras: why it differs}; other differences are rounding."""


class Question(typing.NamedTuple):
    """A case with one size of its inputs, to measure for one table column."""

    pair: str
    case: str
    column: str
    page: str
    request: dict
    recorded: dict


def asked(topics=()):
    """Lists the `Question`s of all cases of the given Keras topics.

    Args:
        topics: their names; all, unless given.

    Raises:
        CommandError: there is no such topic.
    """
    from parity_tests import PROVIDER
    from tf1to2.parity import FalseFriend, Raises
    from tf1to2.parity.proof import entry_key

    known = [name for name in PROVIDER.names() if name.startswith("keras_")]
    if unknown := set(topics) - set(known):
        names = ", ".join(known)
        raise CommandError(f"no topic {min(unknown)}; the topics are: {names}")
    found = []

    def ask_of(columns, proof, case, *request):
        pair = f"{proof.name}.{case.name}"
        for column in columns:
            found.append(Question(pair, case.slug, column, proof.left.name, *request))

    for proof in map(PROVIDER.load, topics or known):
        for case in proof.cases:
            for i, sizes in enumerate(case.bindings()):
                given = case.request(sizes)
                wide = proof.widened(case, given)
                recorded = raw = proof.recorded_answer(case, sizes)
                if not isinstance(case, Raises):
                    key = entry_key(case, sizes)
                    raw = proof.recording.answer_float32(key, given)
                ask_of(TF_KERAS[:1], proof, case, given, raw)
                if wide is not given:
                    ask_of(TF_KERAS[1:], proof, case, wide, recorded)
                if i == 0 and isinstance(case, FalseFriend | Raises):
                    ask_of(COLUMNS[2:], proof, case, wide, recorded)
    return found


def measured(topics=()):
    """Measures some topics; returns their table rows, [{column: text}].

    Raises:
        CommandError: tf_keras is not installed, or there is no such topic.
    """
    from tf1to2.parity import structure

    questions = asked(topics)
    sides = collections.defaultdict(lambda: collections.defaultdict(list))
    for name, stage in STAGES.items():
        ours = [question for question in questions if question.column in stage.columns]
        for question, found in zip(ours, ask(name, ours), strict=True):
            recorded, column = question.recorded, question.column
            if column != "tf_keras float32":
                found = structure.narrow(found)
            if not stage.graphs:
                recorded, found = _returned(recorded), _returned(found)
            sides[question.pair, question.case][column].append((recorded, found))
    rows = []
    for (pair, case), columns in sides.items():
        row = dict(zip(FIELDS, (pair, case, *[""] * len(COLUMNS)), strict=True))
        row |= {column: verdict(found) for column, found in columns.items()}
        if _is_error(row["tf_keras float32"]):
            row["tf_keras float64"] = ""
        rows.append(row)
    return rows


def ask(stage, questions):
    """Runs the questions of a stage in a separate process; see `answer`.

    Raises:
        CommandError: tf_keras is not installed, or the process failed.
    """
    if importlib.util.find_spec("tf_keras") is None:
        raise CommandError("tf_keras is not installed: the extra tensorflow brings it")
    wanted = {
        "TF_USE_LEGACY_KERAS": str(int(STAGES[stage].legacy)),
        "TF1TO2_SETTINGS": "strict",
    }
    code = "from upkeep import keras_today; keras_today.answer_file()"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "asked")
        path.write_bytes(
            pickle.dumps([(q.page, q.request, q.recorded) for q in questions])
        )
        run = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code, stage, path],
            env={**os.environ, **wanted},
            capture_output=True,
        )
        if run.returncode:
            raise CommandError(f"{stage}: {run.stderr.decode().strip()[-500:]}")
        return pickle.loads(path.read_bytes())


def answer_file():
    """Replaces the questions in a file by answers, in the process that `ask` starts."""
    stage, path = sys.argv[1], pathlib.Path(sys.argv[2])
    settings.apply()  # as the proofs do, before TensorFlow is imported
    path.write_bytes(pickle.dumps(answer(stage, pickle.loads(path.read_bytes()))))


def answer(stage, questions):
    """Runs the questions of a stage in this process, which has the stage's Keras.

    Args:
        stage: one of `STAGES`.
        questions: [(name of the left page, request, answer of 1.15.5)].

    Returns:
        [{path: array}], as in `v1.respond`.
    """
    from tf1to2.parity import v1

    if STAGES[stage].graphs:
        v1.tf.disable_v2_behavior()
    pages, told = {}, []
    for page, request, recorded in questions:
        weights = _weights(recorded)
        try:
            if STAGES[stage].graphs:
                found = _in_a_graph(importlib.import_module(page), request, weights)
            else:
                pages[page] = pages.get(page) or of_today(page)
                found = eagerly(pages[page], {**request, "weights": weights})
        except Exception as error:  # an error is an answer
            found = v1.raised(error)
        told.append(found)
    return told


def _weights(recorded):
    """Finds the weights in the recorded answer of a layer: {name: shape}."""
    told = {p.partition("/")[2]: x for p, x in recorded.items()}
    return {p: x.shape for p, x in told.items() if f"state/{p}" in recorded}


def _in_a_graph(page, request, weights):
    """Runs a left page; returns its answer, with weights named as in 1.15.5.

    Their initial values are those of these names.
    """
    from tf1to2.parity import structure, v1

    found = v1.run(page, request)
    renamed = old_names(_weights(found), weights) if "raised" not in found else {}
    if all(new == old for new, old in renamed.items()):
        return found

    def distinct(name, shape, distinct=structure.distinct):
        return distinct(renamed[name], shape)

    with mock.patch.object(structure, "distinct", distinct):
        found = v1.run(page, request)

    def path_of(path):
        kind, slash, name = path.partition("/")
        return kind + slash + renamed.get(name, name)

    return {path_of(path): leaf for path, leaf in found.items()}


class Nothing(contextlib.nullcontext):
    """A context that does nothing, in place of a graph or a session."""

    def __init__(self, *_, **__):
        super().__init__()

    def as_default(self):
        return self


def of_today(page):
    """Imports a left page with today's `tf.keras`, no graphs, and `lr=` renamed."""
    import tensorflow as tf

    from v2_eager import parallel

    old = types.ModuleType("tf")
    vars(old).update({name: getattr(tf.compat.v1, name) for name in dir(tf.compat.v1)})
    old.keras, old.distribute = tf.keras, tf.distribute
    old.Graph = old.Session = Nothing
    path = pathlib.Path(importlib.util.find_spec(page).origin)
    made = types.ModuleType(page)
    made.tf = old
    code = path.read_text("utf-8").replace("import tensorflow.compat.v1 as tf", "")
    # Keras 3 raises for lr=, tf_keras ignores it: this would hide other differences.
    code = code.replace("(lr=", "(learning_rate=")
    code = code.replace("weight.op.name", 'weight.name.split(":")[0]')  # needs a graph
    exec(compile(code, path, "exec"), vars(made))
    if hasattr(made, "mirrored"):  # devices do not depend on Keras
        made.mirrored = parallel.mirrored
    return made


def eagerly(page, request):
    """Runs a left page without a graph; returns its outputs as `v1.run` does."""
    import tensorflow as tf

    from tf1to2.parity import structure, v1, widening

    args = request["args"]
    tf.keras.utils.set_random_seed(v1.SEED)
    with widening.keras_in(request.get("floatx")), v1.numpy_seeded():
        made = getattr(page, request["name"])
        if request["kind"] != "program":
            args = structure.map_arrays(lambda _, a: tf.constant(a), args)
        if request["kind"] == "layer":
            made = made(**request["factory"])
            made(*args, **request["kwargs"])
            _set_distinct(made, request["weights"])
        outputs = made(*args, **request["kwargs"])
    tensors = tf.nest.map_structure(
        lambda x: x.numpy() if hasattr(x, "numpy") else x, outputs
    )
    return structure.answer({"outputs": tensors})


def _set_distinct(layer, weights):
    """Sets the weights of a layer to the values that they have in 1.15.5.

    Args:
        layer: a Keras layer.
        weights: {name in 1.15.5: shape}.

    Raises:
        ValueError: the layer has other weights.
    """
    from tf1to2.parity import structure

    found = {getattr(v, "path", v.name): v for v in layer.weights}
    for new, old in old_names(found, weights).items():
        if tuple(found[new].shape) != weights[old]:
            shape = tuple(found[new].shape)
            raise ValueError(f"{old} is {new}, {shape}, and was {weights[old]}")
        found[new].assign(structure.distinct(old, weights[old]))


def old_names(found, weights):
    """Maps today's name of each weight of a layer to its name in 1.15.5.

    In Keras 2, `lstm/kernel` is `lstm/lstm_cell/kernel`: names of wrapped layers have
    one part more, or one less.

    Raises:
        ValueError: the numbers of names differ.
    """

    def named(texts):
        return sorted(texts, key=lambda text: text.split(":")[0].split("/")[::-1])

    if len(found) != len(weights):
        raise ValueError(f"today's weights are {sorted(found)}, not {sorted(weights)}")
    return dict(zip(named(found), named(weights), strict=True))


def verdict(sides):
    """Compares a case's answers: "identical", "2 ULP, 1.2e-07; other names".

    Args:
        sides: [(answer of 1.15.5, answer of the stage)], for every size.
    """
    notes, units, relative = [], 0, 0.0
    for recorded, found in sides:
        if "raised" in found:
            same = np.array_equal(found["raised"], recorded.get("raised"))
            return TOO if same else error_told(found)
        if "raised" in recorded:
            return "no error"
        more, far = _apart(_compared(recorded), _compared(found))
        notes += more
        units, relative = max(units, far[0]), max(relative, far[1])
    if units:
        notes.insert(0, f"{units} ULP, {relative:.1e}")
    return "; ".join(dict.fromkeys(notes)) or IDENTICAL


def error_told(found):
    """Formats an exception from `v1.raised` in at most 120 characters."""
    text = str(found["message"])
    lines = [line.strip() for line in text.split("\n") if line.strip()] or [""]
    told = lines[-1] if lines[0] == "in user code:" else lines[0]
    told = f"{found['raised']}: {told.rpartition('Error: ')[2]}"
    told = re.sub(r" at 0x\w+|\{\{.*?\}\} ", "", told)
    told = re.sub(rf"{re.escape(tempfile.gettempdir())}/\w+", "…", told)
    return told if len(told) < 120 else told[:119] + "…"


def _returned(answer):
    """Removes all but the outputs from an answer; an exception is unchanged."""
    from tf1to2.parity.expected import outputs_of

    if "raised" in answer:
        return answer
    return {p: x for p, x in outputs_of(answer).items() if p != "structure"}


def _compared(answer):
    """An answer without initial weights; gradients show which weights are trained."""
    kept = {p: x for p, x in answer.items() if not p.startswith(("initial", "trai"))}
    names = [p for p in kept if p.startswith("variables/")]
    return kept | dict(zip(names, sorted(kept[p] for p in names), strict=True))


def _apart(left, right):
    """Compares two answers: ([notes on differences], (ULP, relative distance))."""
    from tf1to2.parity.distance import NOT_NUMBERS
    from tf1to2.parity.distance import distance as apart

    notes, far = [], (0, 0.0)
    if set(left) != set(right):  # the structure has the same information
        left.pop("structure", None), right.pop("structure", None)
    for path in left | right:
        a, b = left.get(path), right.get(path)
        file = np.uint8 in (getattr(a, "dtype", None), getattr(b, "dtype", None))
        if path.startswith("variables/"):
            notes += [RENAMED] * (not np.array_equal(a, b))
        elif a is None or b is None:
            notes.append("other files" if file else ARRAYS)
        elif (a.shape, a.dtype.kind) != (b.shape, b.dtype.kind):
            notes.append("other files" if file else "other shapes")
        elif a.dtype.kind == "f" and a.dtype == b.dtype:
            units, relative = apart(a, b)
            if units > NOT_NUMBERS:
                notes.append("NaN on one side")
            else:
                far = max(far[0], units), max(far[1], relative)
        elif not np.array_equal(a, b):
            notes.append("other files" if file else "other values")
    return notes, far


def rows():
    """Reads the rows of keras_today.tsv: [{column: text}]."""
    return tsv.rows(TABLE)


def text(rows):
    """Formats `rows` as keras_today.tsv; adds the machine that measured them."""
    from tf1to2.parity import float32
    from tf1to2.parity.recordings import cpu_features

    lines = io.StringIO()
    writer = csv.DictWriter(lines, FIELDS, delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    release = importlib.metadata.version("tf_keras")
    here = f"{float32.here()}, {' '.join(cpu_features())}, tf_keras {release}"
    return f"{HEADER}# measured on {here}\n{lines.getvalue()}"


def _topic(row):
    return row["pair"].partition(".")[0]


def _is_error(told):
    return ": " in told


def _notes(told):
    """The parts of a verdict that are not distances."""
    parts = told.split("; ")
    return [part for part in parts if " ULP, " not in part and part != IDENTICAL]


def distance(told):
    """The relative distance in a verdict; 0.0 if it has no distance."""
    found = re.search(r" ULP, ([^;]+)", told)
    return float(found[1]) if found else 0.0


def differences(new, old, columns=COLUMNS):
    """The rows that have changed, each as a line of text.

    Classes of errors and notes must be the same. A distance of tf_keras may be
    rounding, or up to `SLACK` times the old one. A distance of Keras 2 or Keras 3 only
    has to stay on the same side of rounding.

    Args:
        new, old: rows of the same topics.
        columns: the columns to compare.
    """
    then = {(row["pair"], row["case"]): row for row in old}
    told = []
    for row in new:
        before = then.pop((row["pair"], row["case"]), None)
        if not before or not all(_holds(c, row[c], before[c]) for c in columns):
            told.append("\t".join(row.values()))
    return told + ["removed: " + "\t".join(row.values()) for row in then.values()]


def _holds(column, now, before):
    if _is_error(now) or _is_error(before):
        return now.partition(": ")[0] == before.partition(": ")[0]
    if bool(now) != bool(before) or _notes(now) != _notes(before):
        return False
    if column in TF_KERAS:
        return distance(now) <= max(SAME, SLACK * distance(before))
    return (distance(now) <= SAME) == (distance(before) <= SAME)


def stages():
    """Makes the table of cases that break, and at which stage, in Markdown."""
    titles = [stage.title for stage in STAGES.values()]
    lines = [f"| pair | case | breaks with | {' | '.join(titles)} |"]
    lines.append("|---" * (3 + len(titles)) + "|")
    broken = []
    for row in rows():
        told = answers(row)
        if first := [stage for stage in told if told[stage] not in WELL]:
            link = f"[{row['pair']}](guide/{_topic(row)}.md)"
            cells = [link, row["case"], first[0], *told.values()]
            broken.append((first[0], f"| {' | '.join(cells)} |"))
    for stage in reversed(STAGES):
        lines += [line for first, line in broken if first == stage]
    return "\n".join(lines)


def answers(row):
    """Formats a row's verdict for each stage; {} if Keras 3 has no verdict."""
    if not row["Keras 3"]:
        return {}
    tf_keras = row["tf_keras float64"] or row["tf_keras float32"]
    told = (tf_keras, row["Keras 2"], row["Keras 3"])
    return dict(zip(STAGES, map(shown, told), strict=True))


def shown(told):
    """Shortens a verdict for the guide: "same", "0.1 apart", notes or an error."""
    if not _is_error(told):
        notes = [note for note in _notes(told) if note != RENAMED]
        if ARRAYS in notes:  # with other arrays, distances mean nothing
            return ARRAYS
        far = distance(told)
        return "; ".join(notes) or ("same" if far <= SAME else f"{far:.1g} apart")
    kind, _, message = told.partition(": ")
    message = re.sub(r".*has no attribute", "no attribute", message)
    message = message.replace("`", "").replace("|", "\\|")
    return f"`{kind}`: " + (message if len(message) < 60 else message[:59] + "…")


def witness():
    """Counts the cases of tf_keras by topic and result, as a Markdown table."""
    kinds = (IDENTICAL, "rounding", "other numbers", "other files", TOO, "does not run")
    lines = ["| topic | pairs | cases | " + " | ".join(kinds) + " |"]
    lines.append("|---" * (3 + len(kinds)) + "|")
    topics = collections.defaultdict(list)
    for row in rows():
        topics[_topic(row)].append(row)
    for topic, found in {**topics, "all": rows()}.items():
        counts = collections.Counter(map(_kind, found))
        told = {k: counts[k] or "" for k in kinds}
        near = [r["tf_keras float32"] for r in found if _kind(r) == "rounding"]
        told["rounding"] = f"{len(near)}, by {max(map(distance, near)):.1e} at most"
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


def _kind(row):
    """The column of the summary in which a row is counted."""
    told = row["tf_keras float32"]
    if told in (IDENTICAL, TOO):
        return told
    if _is_error(told):
        return "does not run"
    if distance(told) > SAME:
        return "other numbers"
    return "other files" if "other files" in told else "rounding"


def causes(row):
    """Finds the reason for each note or distance in a row's tf_keras cells.

    Raises:
        KeyError: `CAUSES` has no reason for a part.
    """
    found = {}
    for column, rounding in zip(TF_KERAS, (KERNELS, VANISHED), strict=True):
        for part in filter(None, row[column].split("; ")):
            if part in (IDENTICAL, TOO):
                continue
            where = f"{row['pair'].partition('.')[2]}, {row['case']}: {part}"
            known = [why for what, why in CAUSES.items() if re.search(what, where)]
            if 0 < distance(part) <= SAME:
                known = [rounding]
            if not known:
                raise KeyError(where)
            found[part] = known[0]
    return found


def _what(found):
    """Summarizes how a group of rows differs: an error, a distance, or a note."""
    parts = list(dict.fromkeys(part for _, part in found))
    far = [distance(part) for part in parts]
    if min(far):
        most = f"{max(far):.1e} of the largest value"
        return f"at most {most}" if len(found) > 1 else most
    kind, colon, message = parts[0].partition(": ")
    return f"`{kind}`: {message.replace('`', '').rstrip('.')}" if colon else kind


def _where(found):
    """Names the pairs of a group of rows; only counts them if topics differ."""
    cases = counted(len(found), "case")
    pairs = list(dict.fromkeys(row["pair"] for row, _ in found))
    topics = {_topic(row) for row, _ in found}
    if len(topics) > 1:
        return f"{cases} of {len(pairs)} pairs"
    (topic,) = topics
    names = ", ".join(pair.partition(".")[2] for pair in pairs)
    return f"[{topic}](guide/{topic}.md): {names}, {cases}"


def run(topics=(), check=False):
    """Runs the Keras pages on today's Keras; writes or checks keras_today.tsv.

    Args:
        topics: names of Keras topics; all, unless given.
        check: whether to print differences from the table, and write nothing.

    Returns:
        Exit status: 1 if something differs.

    Raises:
        CommandError: tf_keras is not installed, or there is no such topic.
    """
    settings.apply()
    new, old = measured(topics), rows() if TABLE.exists() else []
    again = {_topic(row) for row in new}
    if check:
        found = differences(new, [row for row in old if _topic(row) in again])
        print("\n".join(found) or f"{TABLE.name} is up to date")
        return int(bool(found))
    kept = [row for row in old if _topic(row) not in again]
    output.save(TABLE, text(sorted(kept + new, key=_topic)))
    return 0


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help="all unless given")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    try:
        return run(**vars(parser.parse_args(argv)))
    except CommandError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
