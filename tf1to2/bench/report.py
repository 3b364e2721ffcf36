"""The report of a benchmark: for the terminal, and as the tables of BENCHMARKS.md."""

import math
import statistics

from tf1to2.bench import clock
from tf1to2.view.tables import table

COLUMNS = ("Session.run", "make_callable", "eager", "tf.function", "concrete", "XLA")


def text(report):
    """The whole report for a terminal."""
    environment = report["environment"]
    parts = [
        "TensorFlow {tensorflow}, Python {python}, {cpu}, {cores} cores, {date}".format(
            **environment
        )
    ]
    for title, head, rows in tables(report):
        parts += [title, table(head, rows)]
    parts.append(summary(report))
    return "\n\n".join(parts) + "\n"


def markdown(report):
    """{name: the text of the table}, for the guides."""
    return {
        title.partition(":")[0]: "\n".join(
            "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
            for row in (head, ["---"] * len(head), *rows)
        )
        for title, head, rows in tables(report)
    }


def tables(report):
    """Yields (title, head, rows of text) of what there is in a report."""
    if report["calls"]:
        yield (
            "Calls: microseconds; ratio of the best of TensorFlow 2 to the best of 1",
            ["pair", "size", *COLUMNS, "ratio", "±"],
            [_call(row) for row in report["calls"]],
        )
    if report["steps"]:
        yield (
            "Steps: microseconds per step of training; how many times faster",
            ["program", "size", "v1", "v2", "times", "±", "peak MB v1", "v2"],
            [_step(row) for row in report["steps"]],
        )
    if report["programs"]:
        yield (
            "Programs: milliseconds of a whole run, graphs and traces included",
            ["pair", "v1", "v2", "times", "±"],
            [_program(row) for row in report["programs"]],
        )
    if report["classics"]:
        yield from _classics(report["classics"])


def _classics(classics):
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
    """What the tables say, in a few lines."""
    lines = []
    ratios = [row["ratio"] for row in report["calls"] if "ratio" in row]
    if ratios:
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        slower = [row for row in report["calls"] if row.get("ratio", 0) > 1]
        lines.append(
            f"{len(ratios)} calls: the best of TensorFlow 2 takes {mean:.2f} of the "
            f"best of TensorFlow 1 (geometric mean); {len(slower)} take longer"
        )
    for size, bound in (("small", 5), ("large", 1)):
        rows = [r for r in report["steps"] if r["size"] == size]
        if rows:
            below = [r["program"] for r in rows if r["times"] < bound]
            times = statistics.median(r["times"] for r in rows)
            lines.append(
                f"{len(rows)} training programs, {size}: {times:.1f} times as fast "
                f"per step (median); below {bound}: {', '.join(below) or 'none'}"
            )
    rows = [*report["calls"], *report["steps"], *report["programs"]]
    ratios = [
        (r.get("ratio", r.get("times")), r["spread"]) for r in rows if "spread" in r
    ]
    noisy = sum(spread > clock.NOISY for _, spread in ratios)
    # The rounds of these are on both sides of 1.
    undecided = sum(abs(ratio - 1) < ratio * spread / 2 for ratio, spread in ratios)
    if noisy:
        lines.append(
            f"noise: {noisy} of {len(ratios)} ratios vary by more than "
            f"{clock.NOISY:.0%} from round to round; of {undecided} it cannot be told "
            "which side is faster"
        )
    if ratios and undecided > len(ratios) / 4:
        lines.append("the machine was too busy for these numbers: run it again")
    lines += [f"failed: {message}" for message in report["failed"]]
    return "\n".join(lines)


def _call(row):
    forms = row["forms"]
    cells = [_micro(forms.get(column)) for column in COLUMNS]
    return [row["pair"], row["size"], *cells, *_ratio(row, "ratio")]


def _step(row):
    peaks = row.get("peak MB", {})
    return [
        row["program"],
        row["size"],
        _micro(row["v1"]),
        _micro(row["v2"]),
        *_ratio(row, "times"),
        *(f"{peaks[side]:.0f}" if peaks else "" for side in ("v1", "v2")),
    ]


def _program(row):
    cells = [
        f"{row[side]['seconds'] * 1e3:.1f}" if side in row else ""
        for side in ("v1", "v2")
    ]
    return [row["pair"], *cells, *_ratio(row, "times")]


def _ratio(row, key):
    if key not in row:
        return ["", ""]
    return [f"{row[key]:.2f}", f"{row['spread']:.0%}"]


def _micro(timing):
    return f"{timing['seconds'] * 1e6:.0f}" if timing else ""


def _with_first(timing):
    return f"{_micro(timing)} ({timing['first']:.2f})" if timing else ""
