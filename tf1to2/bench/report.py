"""The report of a benchmark: for the terminal, and as the tables of BENCHMARKS.md."""

import math
import statistics

from tf1to2.bench import clock
from tf1to2.bench.work import rendered
from tf1to2.common.tables import table

COLUMNS = ("Session.run", "make_callable", "eager", "tf.function", "concrete", "XLA")


def text(report):
    """The whole report for a terminal."""
    environment, parts = report["environment"], []
    if "tensorflow" in environment:  # empty if interrupted early
        machine = (
            "TensorFlow {tensorflow}, Python {python}, {cpu}, {cores} cores, {date}"
        )
        parts.append(machine.format(**environment))
    for title, head, rows in tables(report):
        parts += [title, table(head, rows)]
    parts.append(summary(report))
    return "\n\n".join(parts) + "\n"


def markdown(report):
    """Returns {name: text of the table} for the guide."""
    return dict(in_markdown(*parts) for parts in tables(report))


def in_markdown(title, head, rows):
    """Writes a table in Markdown; returns (its name, its text)."""
    lines = [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
        for row in (head, ["---"] * len(head), *rows)
    ]
    return title.partition(":")[0], "\n".join(lines)


def tables(report):
    """Yields (title, head, rows of text) for each part of a report."""
    yield from rendered.tables(report)
    if report["calls"]:
        yield (
            "Calls: microseconds; ratio of the best form of TensorFlow 2 to that of 1",
            *_with_genuine(
                ["pair", "size", *COLUMNS, "ratio", "95 %"],
                report["calls"],
                _call,
                "tf.function to 1.15.5",
            ),
        )
    if report["programs"]:
        yield (
            "Programs: milliseconds of a whole run, graphs and traces included",
            *_with_genuine(
                ["pair", "v1", "v2", "times", "95 %"],
                report["programs"],
                _program,
                "v2 to 1.15.5",
            ),
        )
    if report["classics"]:
        yield from _classics(report["classics"])


def _with_genuine(head, rows, cells, title):
    """Returns (head, rows); adds a column of 1.15.5 if it was timed."""
    if not any("to 1.15.5" in row for row in rows):
        return head, [cells(row) for row in rows]

    def more(row):
        return _ratio(row.get("to 1.15.5", {}), "ratio")

    return [*head, title, "95 %"], [cells(row) + more(row) for row in rows]


def _classics(classics):
    if "step" in classics:
        forms = classics["step"]
        yield (
            "Step: microseconds of a step that does nothing",
            list(forms),
            [[f"{timing['seconds'] * 1e6:.1f}" for timing in forms.values()]],
        )
    if "rows" in classics:
        yield (
            "Rows: microseconds to sum 500 rows of 10; the first call in brackets, s",
            ["pair", *COLUMNS],
            [
                [pair, *(_with_first(row["forms"].get(c)) for c in COLUMNS)]
                for pair, row in classics["rows"].items()
            ],
        )
    if "beam search" in classics:
        yield (
            "Beam search: microseconds by length; the first call in brackets, s",
            ["pair", "length", "Session.run", "concrete"],
            [
                [pair, str(length)]
                + [_with_first(row["forms"][c]) for c in ("Session.run", "concrete")]
                for pair, lengths in classics["beam search"].items()
                for length, row in lengths.items()
            ],
        )
    if "scanner" in classics:
        yield (
            "Scanner: a tree of left pages, Python's start included",
            ["tool", "seconds", "MB/s"],
            [
                [tool, f"{row['seconds']:.2f}", f"{row['MB/s']:.2f}"]
                for tool, row in classics["scanner"].items()
            ],
        )


def summary(report):
    """Summarizes the tables in a few lines."""
    lines = rendered.told(report)
    calls = [row for row in report["calls"] if "ratio" in row]
    if calls:
        for form in ("tf.function", "concrete", "eager"):
            seconds = [
                [row["forms"][name]["seconds"] for name in (form, "Session.run")]
                for row in calls
                if {form, "Session.run"} <= set(row["forms"])
            ]
            if seconds:
                mean, slower = compared(new / old for new, old in seconds)
                lines.append(
                    f"{len(seconds)} calls, {form} from tensors to tensors: {mean:.2f} "
                    "of the time of a fed Session.run (geometric mean); slower: "
                    f"{slower:.0%}"
                )
        mean, _ = compared(row["ratio"] for row in calls)
        surely, perhaps = slower_calls(calls)
        lines.append(
            f"the best of four forms of TensorFlow 2 takes {mean:.2f} of the time of "
            f"the best of two of TensorFlow 1; slower: {surely}; perhaps slower: "
            f"{perhaps}"
        )
    programs = [row["times"] for row in report["programs"] if "times" in row]
    if programs:
        mean, slower = compared(1 / times for times in programs)
        lines.append(
            f"{len(programs)} whole programs, graph and traces included: {mean:.2f} of "
            f"TensorFlow 1's time; slower: {slower:.0%}, because a trace costs more "
            "than a graph did"
        )
    untold = sum(not _ratio_of(row).tells(1) for row in calls)
    if untold > len(calls) / 4:
        lines.append("the machine was too busy for these numbers: run bench again")
    lines += [f"failed: {message}" for message in report["failed"]]
    return "\n".join(lines)


def compared(ratios):
    """Returns (geometric mean of the ratios, share of the ratios above 1)."""
    ratios = list(ratios)
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    return mean, sum(ratio > 1 for ratio in ratios) / len(ratios)


def slower_calls(rows):
    """Lists the calls slower in TensorFlow 2: [surely slower, perhaps slower]."""
    surely, perhaps = [], []
    for row in rows:
        if row["ratio"] > 1:
            some = surely if _ratio_of(row).tells(1) else perhaps
            some.append(f"{row['pair']} {row['size']}")
    return [", ".join(names) or "none" for names in (surely, perhaps)]


def _ratio_of(row):
    return clock.Ratio(row["ratio"], row["low"], row["high"])


def _call(row):
    forms = row["forms"]
    cells = [_micro(forms.get(column)) for column in COLUMNS]
    return [row["pair"], row["size"], *cells, *_ratio(row, "ratio")]


def _program(row):
    cells = [
        f"{row[side]['seconds'] * 1e3:.1f}" if side in row else ""
        for side in ("v1", "v2")
    ]
    return [row["pair"], *cells, *_ratio(row, "times")]


def _ratio(row, key):
    if key not in row:
        return ["", ""]
    return [f"{row[key]:.2f}", f"{row['low']:.2f}–{row['high']:.2f}"]


def _micro(timing):
    return f"{timing['seconds'] * 1e6:.0f}" if timing else ""


def _with_first(timing):
    return f"{_micro(timing)} ({timing['first']:.2f})" if timing else ""
