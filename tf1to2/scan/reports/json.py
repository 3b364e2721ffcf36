"""The report as JSON, for other programs."""

import json

from tf1to2.common.output import shown
from tf1to2.scan import causes


def render(report):
    """Renders the report as JSON; guide/scan.md describes its fields."""
    findings = [
        {
            "path": shown(f.path),
            "line": f.line,
            "column": f.column,
            "cell": f.cell,
            "symbol": f.entry.symbol,
            "verdict": f.entry.verdict,
            "replacement": f.entry.replacement or None,
            "topic": f.entry.topic or None,
            "pair": f.entry.pair or None,
            "cause": causes.cause(f.entry).key,
            "message": f.entry.message,
            **({"link": report.link(f.entry) or None} if report.page else {}),
        }
        for f in report.findings
    ]
    unread = [{"path": shown(path), "reason": reason} for path, reason in report.unread]
    told = {
        "findings": findings,
        "files": report.files,
        "excused": report.excused,
        "unread": unread,
    }
    return json.dumps(told, indent=1) + "\n"
