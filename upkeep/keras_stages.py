"""What Keras 2 and Keras 3 answer to the left pages of the Keras topics.

`python -m upkeep.keras_stages` makes keras_stages.tsv: for every false friend and
every error of these topics, the left page's own lines on today's TensorFlow, beside
what 1.15.5 answered. `--check` asks anew, and says what differs. Without tf_keras
neither runs.
"""

import contextlib
import csv
import importlib
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
from unittest import mock

import numpy as np

from tf1to2.common import output
from tf1to2.common.errors import CommandError
from tf1to2.parity import settings

TABLE = pathlib.Path(__file__).with_suffix(".tsv")
HEADER = """\
# What each stage answers to the lines of TensorFlow 1, beside 1.15.5: made by
# `python -m upkeep.keras_stages`. "same", how far apart, or the error.
"""
STAGES = {
    "compat.v1": ("`tf.compat.v1`, tf_keras", True, False),
    "Keras 2": ("Keras 2: tf_keras", True, True),
    "Keras 3": ("Keras 3", False, True),
}
"""{column: (its name, whether with TF_USE_LEGACY_KERAS, whether without graphs)}"""
TOO = "an error, too"
WELL = ("same", TOO)
SAME = 1e-5
"""Relative to the largest value of an array: two kernels are less apart."""


def cases():
    """[(proof, case)] of all false friends and errors of the Keras topics."""
    from parity_tests import PROVIDER
    from tf1to2.parity import FalseFriend, Raises

    return [
        (proof, case)
        for name in PROVIDER.names()
        if name.startswith("keras_")
        for proof in [PROVIDER.load(name)]
        for case in proof.cases
        if isinstance(case, FalseFriend | Raises)
    ]


class Nothing(contextlib.nullcontext):
    """Stands for a graph or a session, and is neither."""

    def __init__(self, *_, **__):
        super().__init__()

    def as_default(self):
        return self


def of_today(page):
    """A left page with today's `tf.keras`, no graphs, and `lr=` renamed."""
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
    # Keras 3 refuses lr=, and tf_keras trains at 0.01: nothing else would be seen.
    code = code.replace("(lr=", "(learning_rate=")
    code = code.replace("weight.op.name", 'weight.name.split(":")[0]')  # of a graph
    exec(compile(code, path, "exec"), vars(made))
    if hasattr(made, "mirrored"):  # devices are nothing to ask a Keras for
        made.mirrored = parallel.mirrored
    return made


def eagerly(page, request):
    """The outputs of a left page that has no graph, as `v1.run` answers."""
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
    """Gives the weights of a layer the numbers that 1.15.5's had.

    Args:
        layer: any.
        weights: {name in 1.15.5: shape}.

    Raises:
        ValueError: the layer has others.
    """
    from tf1to2.parity import structure

    found = {getattr(v, "path", v.name): v for v in layer.weights}
    for new, old in old_names(found, weights).items():
        if tuple(found[new].shape) != weights[old]:
            shape = tuple(found[new].shape)
            raise ValueError(f"{old} is {new}, {shape}, and was {weights[old]}")
        found[new].assign(structure.distinct(old, weights[old]))


def old_names(found, weights):
    """{name today: name in 1.15.5} of the weights of a layer.

    Keras 2 calls `lstm/kernel` `lstm/lstm_cell/kernel`: what a layer wraps is called by
    one name more, or one less.

    Raises:
        ValueError: there are more names, or fewer.
    """

    def named(texts):
        return sorted(texts, key=lambda text: text.split(":")[0].split("/")[::-1])

    if len(found) != len(weights):
        raise ValueError(f"other weights: {sorted(found)}, not {sorted(weights)}")
    return dict(zip(named(found), named(weights), strict=True))


def answer(stage, asked):
    """What a stage answers, in this process, which has its Keras.

    Args:
        stage: one of `STAGES`.
        asked: [(name of the left page, request, what 1.15.5 answered)].

    Returns:
        [{path: array}], as `v1.respond` has it.
    """
    from tf1to2.parity import v1

    if not STAGES[stage][2]:
        v1.tf.disable_v2_behavior()
    pages, told = {}, []
    for page, request, recorded in asked:
        weights = _weights(recorded)
        try:
            if STAGES[stage][2]:
                pages[page] = pages.get(page) or of_today(page)
                found = eagerly(pages[page], {**request, "weights": weights})
            else:
                found = _in_a_graph(importlib.import_module(page), request, weights)
        except Exception as error:  # which is its answer
            found = v1.raised(error)
        told.append(found)
    return told


def _in_a_graph(page, request, weights):
    """The answer of a left page, its weights under the names of 1.15.5.

    They begin at the numbers that go with these names.
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


def _weights(recorded):
    """{name: shape} of the variables that an answer of a layer tells."""
    told = {p.partition("/")[2]: x for p, x in recorded.items()}
    return {p: x.shape for p, x in told.items() if f"state/{p}" in recorded}


def judged(recorded, found):
    """How an answer compares with 1.15.5's: "same", "0.13 apart", "ValueError: …"."""
    from tf1to2.parity.expected import outputs_of

    if told := of_errors(recorded, found):
        return told
    left, right = outputs_of(recorded), outputs_of(found)
    left.pop("structure", None), right.pop("structure", None)
    if set(left) != set(right):
        return "other names or numbers of arrays"
    if any(left[path].shape != right[path].shape for path in left):
        return "other shapes"
    apart = max(_apart(left[path], right[path]) for path in left)
    return "same" if apart <= SAME else f"{apart:.1g} apart"


def of_errors(recorded, found):
    """How two answers compare of which one is an exception, or None if neither is."""
    if "raised" in found:
        same = np.array_equal(found["raised"], recorded.get("raised"))
        return TOO if same else error_told(found)
    return "no error" if "raised" in recorded else None


def error_told(found):
    """An exception, as `v1.raised` has it, in at most 120 letters."""
    text = str(found["message"])
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    told = lines[-1] if lines[0] == "in user code:" else lines[0]
    told = f"{found['raised']}: {told.rpartition('Error: ')[2]}"
    told = re.sub(r" at 0x\w+|\{\{.*?\}\} ", "", told)
    told = re.sub(rf"{re.escape(tempfile.gettempdir())}/\w+", "…", told)
    return told if len(told) < 120 else told[:119] + "…"


def _apart(a, b):
    """The largest difference, relative to the largest value; inf where text differs."""
    if a.dtype.kind not in "biuf" or b.dtype.kind not in "biuf":
        return 0.0 if np.array_equal(a, b) else np.inf
    if not a.size or np.array_equal(a, b):
        return 0.0
    a, b = a.astype("d"), b.astype("d")
    return float(np.abs(a - b).max() / max(np.abs(a).max(), 1e-30))


def ask(stage, asked):
    """What a stage answers, in a process of its own: see `answer`.

    Raises:
        CommandError: tf_keras is not installed, or the process failed.
    """
    if importlib.util.find_spec("tf_keras") is None:
        raise CommandError("tf_keras is not installed: the extra tensorflow brings it")
    wanted = {
        "TF_USE_LEGACY_KERAS": str(int(STAGES[stage][1])),
        "TF1TO2_SETTINGS": "strict",
    }
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "asked")
        path.write_bytes(pickle.dumps(asked))
        run = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "upkeep.keras_stages", stage, path],
            env={**os.environ, **wanted},
            capture_output=True,
        )
        if run.returncode:
            raise CommandError(f"{stage}: {run.stderr.decode().strip()[-500:]}")
        return pickle.loads(path.read_bytes())


def measured():
    """The text of the table."""
    from tf1to2.parity import structure

    asked = []
    for proof, case in cases():
        sizes = case.bindings()[0]
        request = proof.widened(case, case.request(sizes))
        asked.append((proof.left.name, request, proof.recorded_answer(case, sizes)))
    columns = [
        [
            judged(recorded, structure.narrow(found))
            for (_, _, recorded), found in zip(asked, ask(stage, asked))
        ]
        for stage in STAGES
    ]
    names = [(f"{p.name}.{c.name}", c.slug) for p, c in cases()]
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerow(["pair", "case", *STAGES])
    writer.writerows((*name, *row) for name, *row in zip(names, *columns, strict=True))
    return HEADER + text.getvalue()


def rows(text=None):
    """[{column: text}] of the table, or of the text of one."""
    text = TABLE.read_text("utf-8") if text is None else text
    lines = (line for line in io.StringIO(text) if not line.startswith("#"))
    return list(csv.DictReader(lines, delimiter="\t"))


def kind(told):
    """What an answer of a stage is: "same", "apart", the class of an error, …

    >>> kind("0.13 apart"), kind("ValueError: no"), kind("other shapes")
    ('apart', 'ValueError', 'other shapes')
    """
    return "apart" if told.endswith(" apart") else told.partition(":")[0]


def differences(new, old):
    """[line] of the `new` rows whose answers are of another kind than the `old`.

    Distances and messages are for people: they depend on the machine and the release.
    """
    then = {(row["pair"], row["case"]): row for row in old}
    told = []
    for row in new:
        before = then.pop((row["pair"], row["case"]), dict.fromkeys(STAGES, ""))
        if any(kind(row[stage]) != kind(before[stage]) for stage in STAGES):
            told.append("\t".join(row.values()))
    return told + ["not any more: " + "\t".join(row.values()) for row in then.values()]


def table():
    """What breaks, and with which stage first, in Markdown."""
    lines = ["| pair | case | breaks with | "]
    lines[0] += " | ".join(name for name, _, _ in STAGES.values()) + " |"
    lines.append("|---" * (3 + len(STAGES)) + "|")
    broken = []
    for row in rows():
        answers = [row[stage] for stage in STAGES]
        first = [i for i, told in enumerate(answers) if told not in WELL]
        if first:
            topic = row["pair"].partition(".")[0]
            link = f"[{row['pair']}](guide/{topic}.md)"
            broken.append((-first[0], link, row["case"], *map(_shown, answers)))
    broken.sort(key=lambda line: line[0])
    names = list(STAGES)
    for first, link, case, *answers in broken:
        lines.append("| " + " | ".join([link, case, names[-first], *answers]) + " |")
    return "\n".join(lines)


def _shown(told):
    """An answer for a table: an error's class, and the beginning of what it says."""
    kind, colon, message = told.partition(": ")
    if not colon:
        return told
    message = re.sub(r".*has no attribute", "no attribute", message)
    message = message.replace("`", "").replace("|", "\\|")
    return f"`{kind}`: " + (message if len(message) < 60 else message[:59] + "…")


def main(argv):
    if argv and argv[0] in STAGES:
        settings.apply()  # as the proofs do, before TensorFlow is imported
        path = pathlib.Path(argv[1])
        path.write_bytes(pickle.dumps(answer(argv[0], pickle.loads(path.read_bytes()))))
        return 0
    text = measured()
    if argv == ["--check"]:
        apart = differences(rows(text), rows())
        print("\n".join(apart) or f"{TABLE.name} is as measured")
        return 1 if apart else 0
    output.save(TABLE, text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except CommandError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
