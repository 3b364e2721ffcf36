"""Makes the tables of the whole programs, `models_…`, in guide/models.md."""

import ast
import importlib
import io
import json
import os
import pathlib
import tempfile
import tokenize

from tf1to2.fix import planning
from tf1to2.pages import proven, topics
from tf1to2.scan import causes, findings

ROOT = pathlib.Path(__file__).parents[1]
HEAD = (
    "| program | float64 | float32 | Keras page | variables | lines, left and right | "
    "seconds, left and right |\n"
    "|---|---|---|---|---:|---:|---:|"
)
TOOLS_HEAD = (
    "| left page | `scan`: uses | `fix`: uses that it changes | most of the work |\n"
    "|---|---:|---:|---|"
)


def table(found):
    """Makes the table of all programs, from the proofs and the last measurements.

    Args:
        found: the result of `docs.proofs`.
    """
    seconds = _seconds()
    rows = [HEAD]
    for name, topic in programs():
        pairs = found[name]
        lines = [_lines(path) for path in (topic.v1, topic.v2)]
        cells = [
            _link(name, topic),
            _float64(pairs),
            f"{pairs['train']['float32']['relative']:.1e}",
            _keras(name, pairs["train"]["keras"]),
            str(_variables(name)),
            "{}, {} ({:.2f})".format(*lines, lines[1] / lines[0]),
            seconds.get(name, ""),
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def tools():
    """Makes the table of what `scan` finds in the left pages and `fix` changes."""
    rows = [TOOLS_HEAD]
    for name, topic in programs():
        path = str(topic.v1)
        found = findings.scan([path]).findings
        (fixed,) = planning.plan([path], (), planning.Options(unsafe=True))
        works = sorted(causes.works(found), key=lambda w: -len(w.findings))[:3]
        most = "; ".join(f"{w.cause.title} ({len(w.findings)})" for w in works)
        changed = len(found) - len(fixed.left)
        rows.append(f"| {_link(name, topic)} | {len(found)} | {changed} | {most} |")
    return "\n".join(rows)


def programs():
    """Lists (name, `Topic`) of the whole programs."""
    found = topics.topics().items()
    return [(name, topic) for name, topic in found if name.startswith(topics.WHOLE)]


def losses(name):
    """Computes the losses of the longest training, in float64, rounded to float32.

    Args:
        name: topic of a whole program.

    Returns:
        The recorded losses of 1.15.5, {path: [steps] array}, and the right page's.
    """
    from tf1to2.parity import providers, structure, v2

    proof = providers.provider("parity_tests").load(name)
    entry = next(entry for entry in proof.recorded() if entry.case.name == "train")
    left = proof.recording.answer(entry.key, entry.request)
    (right,) = v2.run(proof.v2, [entry.request], "function")
    wanted = [
        path
        for path, value in left.items()
        if not path.startswith("outputs/variables/") and value.shape[:1] == (100,)
    ]
    return [
        {path: side[path] for path in wanted}
        for side in (left, structure.narrow(right))
    ]


GENERATORS = "models_vae", "models_dcgan", "models_cgan"


def samples(name, count=6):
    """Draws samples of a generator after 100 steps in float64, from given noise.

    Args:
        name: topic in `GENERATORS`.
        count: number of images.

    Returns:
        {title: [count, size, size] array}: images of the data, and samples of the right
        page from the weights of 1.15.5 and from its own weights.
    """
    from parity_tests import PROVIDER
    from tf1to2.parity import structure
    from v2_eager.numerics import restore

    test = importlib.import_module(PROVIDER.module(name))
    entry = next(e for e in test.PROOF.recorded() if e.case.name == "train")
    before = "outputs/variables/"
    recorded = test.PROOF.recording.answer(entry.key, entry.request)
    old = {p[len(before) :]: x for p, x in recorded.items() if p.startswith(before)}
    case = next(case for case in test.CASES if case.name == "evaluate")
    found = {"data": test.MODEL.data[0]}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.ckpt")
        restore.save(path, structure.widen(test.START))
        data, options = structure.widen(test.MODEL.data), test.MODEL.options
        new = structure.narrow(test.v2.train(*data, 100, path, **options)["variables"])
        for title, weights in (("TensorFlow 1.15.5", old), ("the right page", new)):
            restore.save(path, weights)
            found[title] = test.v2.evaluate(*case.args[:-1], path)["samples"]
    return {title: _squares(images)[:count] for title, images in found.items()}


def _squares(images):
    """Reshapes images, of [size²] pixels or [size, size, 1], to [n, size, size]."""
    pixels = images.shape[-1] if images.shape[-1] > 1 else images.shape[-2] ** 2
    size = round(pixels**0.5)
    return images.reshape([-1, size, size])


def _link(name, topic):
    return f"[{topic.title.partition(':')[0]}](guide/{name}.md)"


def _keras(name, distance):
    """Links the Keras page by the distance of its `train`; "" without a page."""
    return f"[{distance['relative']:.1e}](v2_keras/{name}.py)" if distance else ""


def _float64(pairs):
    bounds = [bound for pair in pairs.values() for bound in pair["bounds"]]
    bounds = [b for b in bounds if b["side"] == "1.15.5" and not b["settings"]]
    return proven.told(bounds) if bounds else "identical"


def _variables(name):
    """Counts the variables, slots included, in the answer of a `train` step."""
    from tf1to2.parity import providers

    proof = providers.provider("parity_tests").load(name)
    entry = next(entry for entry in proof.recorded() if entry.case.name == "train")
    answer = proof.recording.answer(entry.key, entry.request)
    return sum(path.startswith("outputs/variables/") for path in answer)


def _lines(path):
    """Counts lines of code, without blank lines, comments and docstrings."""
    text = path.read_text("utf-8")
    documented = ast.Module, ast.ClassDef, ast.FunctionDef
    dropped = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            dropped |= set(range(docstring.lineno, docstring.end_lineno + 1))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    skipped = tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT
    skipped += tokenize.DEDENT, tokenize.ENDMARKER
    code = set()
    for token in tokens:
        if token.type not in skipped:
            code |= set(range(token.start[0], token.end[0] + 1))
    return len(code - dropped)


def _seconds():
    """Reads the measured seconds of `train` on both sides, and their ratio."""
    report = json.loads((ROOT / "benchmarks" / "models.json").read_text("utf-8"))
    rows = {}
    for row in report["programs"]:
        topic, _, name = row["pair"].partition(".")
        if name == "train":
            left, right = (row[side]["seconds"] for side in ("1.15.5", "v2"))
            rows[topic] = f"{left:.2f}, {right:.2f} ({right / left:.2f})"
    return rows
