"""The report as text: grouped by topic for people, one finding a line for tools."""

import collections

from tf1to2.view.tables import table

MECHANICAL = ("renamed", "private")
NO_TOPIC = "without a topic"


def render(report, grouped=False, statistics=False):
    """The report.

    Args:
        report: `findings.Report`.
        grouped: by topic, as a person reads it, instead of by place.
        statistics: only how often each name is used.
    """
    lines = []
    if statistics:
        lines = [_statistics(report.findings)] if report.findings else []
    elif grouped:
        lines = _by_topic(report.findings)
    else:
        lines = [f"{place(f)}: {f.entry.message}{_pair(f)}" for f in report.findings]
    lines += [f"{path}: not fully read: {reason}" for path, reason in report.unread]
    lines += [
        f"{_at(path, cell, line)}: this comment ignores nothing"
        for path, cell, line in report.unused
    ]
    return "\n".join([*lines, *[""] * bool(lines), *_summary(report)]) + "\n"


def place(finding):
    """path:line:column, with the cell of a notebook."""
    return f"{_at(finding.path, finding.cell, finding.line)}:{finding.column}"


def _at(path, cell, line):
    return f"{path}:cell {cell}:{line}" if cell else f"{path}:{line}"


def _pair(finding):
    return f" [{finding.entry.pair}]" if finding.entry.pair else ""


def _by_topic(findings):
    lines = []
    for topic, group in topics(findings):
        count = len(group)
        lines.append(f"{topic}: {count} use{'s' * (count > 1)}")
        lines += [f"  {place(f)}: {f.entry.message}{_pair(f)}" for f in group]
        lines.append("")
    return lines[:-1]


def topics(findings):
    """[(topic, its findings)], the most frequent first, what has no topic last."""
    groups = collections.defaultdict(list)
    for finding in findings:
        groups[finding.entry.topic or NO_TOPIC].append(finding)
    return sorted(
        groups.items(), key=lambda item: (item[0] == NO_TOPIC, -len(item[1]), item[0])
    )


def _statistics(findings):
    counts = collections.Counter(f.entry for f in findings)
    rows = [
        (str(count), entry.symbol, entry.verdict, entry.replacement, entry.pair)
        for entry, count in counts.most_common()
    ]
    return table(("uses", "name", "verdict", "write", "pair"), rows)


def effort(findings):
    """How much of it is mechanical, in a sentence."""
    verdicts = collections.Counter(f.entry.verdict for f in findings)
    mechanical = sum(verdicts[v] for v in MECHANICAL)
    others = [
        f"{verdicts[v]} {words}"
        for v, words in (
            ("rewrite", "to rewrite"),
            ("changed", "with another meaning"),
            ("removed", "without a successor"),
        )
        if verdicts[v]
    ]
    return ", ".join([f"{mechanical} mechanical", *others])


def _summary(report):
    count = len(report.findings)
    files = len({f.path for f in report.findings})
    lines = [
        f"{count} use{'s' * (count != 1)} of TensorFlow 1 in {files} of {report.files} "
        f"file{'s' * (report.files != 1)}"
    ]
    if report.findings:
        lines[0] += f": {effort(report.findings)}"
        topic = topics(report.findings)[0][0]
        if topic != NO_TOPIC:
            lines.append(f"Next: tf1to2 diff {topic}")
    if report.unread:
        lines.append(f"{len(report.unread)} not fully read")
    return lines
