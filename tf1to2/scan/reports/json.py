"""The report as JSON, for other programs."""

import json


def render(report):
    """The report; see README.md for its fields."""
    findings = [
        {
            "path": f.path,
            "line": f.line,
            "column": f.column,
            "cell": f.cell,
            "symbol": f.entry.symbol,
            "verdict": f.entry.verdict,
            "replacement": f.entry.replacement or None,
            "topic": f.entry.topic or None,
            "pair": f.entry.pair or None,
            "message": f.entry.message,
            **({"link": report.link(f.entry) or None} if report.page else {}),
        }
        for f in report.findings
    ]
    unread = [{"path": path, "reason": reason} for path, reason in report.unread]
    return (
        json.dumps(
            {"findings": findings, "files": report.files, "unread": unread}, indent=1
        )
        + "\n"
    )
