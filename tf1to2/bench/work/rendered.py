"""The tables of typical work: from NumPy to NumPy, and with batches at hand."""

import math
import statistics

from tf1to2.bench.work import runs

# Both sides start and end with NumPy arrays, as `sess.run` with a feed_dict does.
FROM_NUMPY = (
    "tf.function, NumPy",
    "concrete, NumPy",
    "train_on_batch",
    "predict",
    "predict_on_batch",
    "Keras model, called",
    "Keras model, tf.function",
)
# Both sides have their batches: an iterator in a graph, or tensors, or a dataset.
AT_HAND = (
    "eager",
    "tf.function",
    "concrete",
    "XLA",
    "dataset",
    "dataset, parsed by batch",
    "loop",
    "fit",
    "fit, steps_per_execution",
    "Keras model, own step",
)
BASES = {"Session.run": FROM_NUMPY, "Session.run, iterator": AT_HAND}
# The kinds of programs.
KINDS = {
    "calls": ("affine", "predict", "beam_search"),
    "training": ("mlp", "convnet", "lstm", "embedding"),
    "input": ("records",),
}
# The programs and batches that the guide shows in every form, and the order of forms.
SHOWN = ("predict", 1), ("mlp", 1), ("mlp", 64), ("lstm", 64), ("convnet", 64)
ORDER = (
    "eager",
    "tf.function, NumPy",
    "concrete, NumPy",
    "tf.function",
    "concrete",
    "dataset",
    "loop",
    "XLA",
    "predict",
    "predict_on_batch",
    "Keras model, called",
    "Keras model, tf.function",
    "train_on_batch",
    "fit",
    "fit, steps_per_execution",
    "Keras model, own step",
)


def base(form):
    """Returns the session form that a form is compared with, or None without one."""
    return next((b for b, forms in BASES.items() if form in forms), None)


def tables(report):
    """Yields (title, head, rows of text) for each part of a report."""
    if report.get("work"):
        yield _summary(report)
        yield _of_base(report, "Work from NumPy", "Session.run")
        yield _of_base(report, "Work at hand", "Session.run, iterator")
        others = _gains(report), _grown(report), _compiled(report)
        yield from (t for t in others if t[2])
    if report.get("started"):
        yield _started(report)


def _side(report):
    """Returns the side that ratios refer to: 1.15.5 if timed, or else today's."""
    forms = report["work"][0]["forms"]
    there = any(form.startswith(runs.GENUINE) for form in forms)
    return runs.GENUINE if there else runs.TODAY


def _rows(report):
    return [row for row in report["work"] if not row["grown"]]


def _mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))


def summary(report, batches=runs.BATCHES):
    """{(kind, form): (mean ratio, mean ratio of CPU, share of slower rows, rows)}."""
    found, side = {}, _side(report)
    for form in (*FROM_NUMPY, *AT_HAND):
        for kind, programs in KINDS.items():
            rows = [
                row
                for row in _rows(report)
                if row["program"] in programs
                and row["batch"] in batches
                and side in row["ratios"].get(form, {})
            ]
            if rows:
                ratios = [row["ratios"][form][side]["ratio"] for row in rows]
                cpu = [
                    row["forms"][form]["cpu"]
                    / row["forms"][f"{side}, {base(form)}"]["cpu"]
                    for row in rows
                ]
                slower = sum(ratio > 1 for ratio in ratios) / len(ratios)
                found[kind, form] = _mean(ratios), _mean(cpu), slower, len(ratios)
    return found


def on_both(report, other, names):
    """Compares the results of two machines; returns (title, head, rows of text).

    Args:
        report: of one machine.
        other: of the other machine; rows that only one of them has are left out.
        names: the names of the two machines.
    """

    def cell(row):
        return row["program"], row["batch"], tuple(row["grown"].items())

    there = set.intersection(*({cell(r) for r in x["work"]} for x in (report, other)))
    ours, theirs = (
        summary({"work": [row for row in x["work"] if cell(row) in there]})
        for x in (report, other)
    )
    rows = [
        [kind, form, base(form), f"{ours[kind, form][0]:.2f}"]
        + [f"{theirs[kind, form][0]:.2f}", f"{ours[kind, form][2]:.0%}"]
        + [f"{theirs[kind, form][2]:.0%}", str(ours[kind, form][3])]
        for kind, form in sorted(ours, key=lambda of: list(KINDS).index(of[0]))
    ]
    head = ["what", "form", f"in {_side(report)}", *names]
    head += [*(f"slower, {name}" for name in names), "of"]
    return "Two machines: each form to TensorFlow 1, geometric means", head, rows


def today(report):
    """Returns {form: mean ratio of today's `compat.v1` to 1.15.5}."""
    names = {b: (f"{runs.TODAY}, {b}", f"{runs.GENUINE}, {b}") for b in BASES}
    return {
        b: _mean(
            row["forms"][now]["seconds"] / row["forms"][then]["seconds"]
            for row in _rows(report)
            if now in row["forms"] and then in row["forms"]
        )
        for b, (now, then) in names.items()
        if _side(report) == runs.GENUINE
    }


def told(report):
    """A line for each form: the time of today's `compat.v1`, relative to 1.15.5."""
    if not report.get("work"):
        return []
    return [
        f"`{form}` of today's `compat.v1`: {mean:.2f} of its time in {runs.GENUINE}"
        for form, mean in today(report).items()
    ]


def _summary(report):
    there = sorted({row["batch"] for row in _rows(report)})
    found, by_batch = summary(report), [summary(report, [batch]) for batch in there]
    rows = [
        [kind, form, base(form)]
        + [f"{means[kind, form][0]:.2f}" for means in by_batch]
        + [f"{mean:.2f}", f"{cpu:.2f}", f"{slower:.0%}", str(n)]
        for (kind, form), (mean, cpu, slower, n) in sorted(
            found.items(), key=lambda item: list(KINDS).index(item[0][0])
        )
    ]
    head = ["what", "form", f"in {_side(report)}"]
    head += [f"batch {batch:,}" for batch in there]
    head += ["all", "CPU", "slower", "of"]
    return "Work: each form to TensorFlow 1, geometric means", head, rows


def _of_base(report, title, of):
    side, rows = _side(report), []
    for row in _rows(report):
        then = row["forms"].get(f"{side}, {of}")
        if then:
            now = row["forms"].get(f"{runs.TODAY}, {of}")
            cells = [_ratio(row, form, side) for form in BASES[of]]
            rows.append([row["program"], str(row["batch"]), _micro(then), _micro(now)])
            rows[-1] += cells
    used = [i for i in range(len(rows[0])) if any(row[i] for row in rows)]
    head = ["program", "batch", f"{side}, µs", "compat.v1, µs", *BASES[of]]
    return (
        f"{title}: microseconds of `{of}` in {side}; the ratio of each form to it",
        [head[i] for i in used],
        [[row[i] for i in used] for row in rows],
    )


def _gains(report):
    """Makes a table of the times of each form, for a few programs."""
    asked = [row for row in _rows(report) if (row["program"], row["batch"]) in SHOWN]
    side, rows = _side(report), []
    for form in (f"{side}, Session.run", f"{side}, Session.run, iterator", *ORDER):
        cells = [_micro(row["forms"].get(form)) for row in asked]
        if any(cells):
            rows.append([form, *cells])
    head = [f"{row['program']}, batch {row['batch']}" for row in asked]
    return "Gains: microseconds of a step", ["form", *head], rows


def _grown(report):
    side, of = _side(report), "Session.run, iterator"
    forms = ("tf.function", "loop", "fit", "fit, steps_per_execution")
    rows = []
    for row in report["work"]:
        for argument, value in row["grown"].items():
            then = row["forms"][f"{side}, {of}"]
            cells = [_ratio(row, form, side) for form in forms]
            rows.append([row["program"], f"{argument} {value}", _micro(then), *cells])
    head = ["program", "", f"{side}, µs", *forms]
    return f"Work that grows: batches of {runs.GROWN_BATCH}", head, rows


def _compiled(report):
    rows = []
    for row in _rows(report):
        compiled, traced = (row["forms"].get(f) for f in ("XLA", "tf.function"))
        if compiled:
            saved = traced["seconds"] - compiled["seconds"]
            more = compiled["first"] - traced["first"]
            pays = f"{more / saved:,.0f}" if saved > 0 else "never"
            rows.append(
                [
                    row["program"],
                    str(row["batch"]),
                    f"{traced['first']:.2f}",
                    f"{compiled['first']:.2f}",
                    _micro(traced),
                    _micro(compiled),
                    pays if more > 0 else "at once",
                ]
            )
        elif "XLA" in row["failed"]:
            cells = [f"{traced['first']:.2f}", "fails", _micro(traced), "", ""]
            rows.append([row["program"], str(row["batch"]), *cells])
    head = ["program", "batch", "first, s", "first by XLA, s", "µs", "by XLA, µs"]
    return "XLA: after how many steps it pays", [*head, "pays after"], rows


def _started(report):
    rows = []
    for row in report["started"]:
        for form, found in row["forms"].items():
            cells = f"{found['first']:.2f}", f"{found['peak MB']:.0f}"
            rows.append([row["program"], form, *cells])
    head = ["program", "form", "first step, s", "peak MB"]
    return (
        f"Start: batches of {runs.GROWN_BATCH}, each in its own process",
        head,
        rows,
    )


def _ratio(row, form, side):
    ratio = row["ratios"].get(form, {}).get(side)
    return f"{ratio['ratio']:.2f}" if ratio else ""


def _micro(timing):
    return f"{timing['seconds'] * 1e6:,.0f}" if timing else ""
