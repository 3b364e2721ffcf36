"""The report as text: grouped by cause for people, one line per finding for tools."""

import collections

from tf1to2.common.tables import table
from tf1to2.common.words import counted
from tf1to2.scan import causes, flag_reads
from tf1to2.source import comments


def render(report, grouped=False, statistics=False):
    """Renders the report.

    Args:
        report: `findings.Report`.
        grouped: whether to group findings by cause, for a person.
        statistics: whether to report only how often each name is used.
    """
    lines = []
    if statistics:
        lines = [_statistics(report.findings)] if report.findings else []
        lines += [_excused(report.excused)] if report.excused else []
    elif grouped:
        lines = _by_cause(report.findings)
    else:
        lines = _lines(report.findings)
    lines += [f"{path}: not fully read: {reason}" for path, reason in report.unread]
    lines += [
        f"{_at(path, cell, line)}: this comment ignores nothing: delete it"
        for path, cell, line in report.unused
    ]
    lines += [
        f"{_at(path, cell, line)}: this comment is malformed: {comments.MALFORMED}"
        for path, cell, line in report.malformed
    ]
    return "\n".join([*lines, *[""] * bool(lines), *_summary(report)]) + "\n"


def place(finding):
    """Returns the place of a finding as "path:line:column", with any notebook cell."""
    return f"{_at(finding.path, finding.cell, finding.line)}:{finding.column}"


def _at(path, cell, line):
    return f"{path}:cell {cell}:{line}" if cell else f"{path}:{line}"


def _pair(finding):
    return f" [{finding.entry.pair}]" if finding.entry.pair else ""


def _lines(findings):
    """Formats one line per finding, but all reads of flags in a file as one line.

    Names of one import from a module that is gone also share one line.
    """
    reads = collections.defaultdict(list)
    for finding in findings:
        if flag_reads.is_read(finding):
            reads[finding.path].append(finding)
    lines, imports = [], set()
    for finding in findings:
        message = finding.entry.message
        if causes.IMPORT.match(finding.text):
            key = finding.path, finding.cell, finding.line, finding.entry.symbol
            if key in imports:
                continue
            imports.add(key)
        if flag_reads.is_read(finding):
            those = reads[finding.path]
            if finding is not those[0]:
                continue
            message = flag_reads.told(those)
        lines.append(f"{place(finding)}: {message}{_pair(finding)}")
    return lines


def _by_cause(findings):
    lines = []
    for work in causes.works(findings):
        lines.append(f"{work.cause.title} → {work.cause.becomes}: {effort(work)}")
        lines += [f"  {line}" for line in _lines(work.findings)]
        lines.append("")
    return lines[:-1]


def effort(work):
    """Returns the size of a `Work` as text: "3 uses, 2 lines to edit"."""
    parts = [counted(len(work.findings), "use")]
    if work.edit:
        parts.append(f"{counted(len(work.edit), 'line')} to edit")
    if work.check:
        parts.append(f"{counted(len(work.check), 'line')} to check")
    return ", ".join(parts)


def _number(things):
    return f"{len(things) or '':>4}"


def _statistics(findings):
    counts = collections.Counter(f.entry for f in findings)
    rows = [
        (str(count), entry.symbol, entry.verdict, entry.replacement, entry.pair)
        for entry, count in counts.most_common()
    ]
    return table(("uses", "name", "verdict", "write", "pair"), rows)


def _excused(count):
    uses = "use is" if count == 1 else "uses are"
    return f"{count} more {uses} in branches that only TensorFlow 1 runs"


def total(report):
    """The totals of a report, in one or two lines."""
    count, files = len(report.findings), len({f.path for f in report.findings})
    found = (
        f"{counted(count, 'use')} of TensorFlow 1 in {files} of "
        f"{counted(report.files, 'file')}"
    )
    return found, *_efforts(report.findings)


def _efforts(findings):
    whole = causes.work(findings)
    certain = causes.work([f for f in findings if causes.certain(f.entry)])
    parts = []
    if whole.edit:
        parts.append(f"{counted(len(whole.edit), 'line')} to edit")
    if certain.edit:
        parts[0] += f", {len(certain.edit)} of them by search and replace"
    if whole.check:
        parts.append(f"{counted(len(whole.check), 'line')} to check")
    return ["; ".join(parts)] if parts else []


def _summary(report):
    works = causes.works(report.findings)
    lines = []
    if works:
        rows = [
            (*map(_number, (w.edit, w.check, w.findings)), w.cause.title)
            + (w.cause.becomes,)
            for w in works
        ]
        lines += [table(("edit", "check", "uses", "what", "becomes"), rows), ""]
    lines += total(report)
    first = next((work for work in works if work.pair), None)
    if first:
        lines.append(f"Next: {first.cause.title}: tf1to2 diff {first.pair}")
    if report.unread:
        lines.append(f"{counted(len(report.unread), 'path')} not fully read")
    return lines
