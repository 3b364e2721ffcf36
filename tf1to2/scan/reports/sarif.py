"""The report as SARIF 2.1.0, for code scanning."""

import collections
import hashlib
import json
import pathlib
import urllib.parse

from tf1to2 import __version__

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"renamed": "note", "private": "note", "rewrite": "warning"}


def render(report):
    """The log: a rule per name, a result per finding."""
    entries = sorted(
        {f.entry for f in report.findings}, key=lambda e: (e.symbol, e.what)
    )
    rules = {}
    for entry in entries:
        rules.setdefault(entry.symbol, entry)
    numbers = {symbol: number for number, symbol in enumerate(rules)}
    seen = collections.Counter()
    run = {
        "tool": {
            "driver": {
                "name": "tf1to2",
                "version": __version__,
                "rules": [_rule(e, report.link(e)) for e in rules.values()],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(f, numbers, seen) for f in report.findings],
        "invocations": [
            {
                "executionSuccessful": not report.unread,
                "toolExecutionNotifications": [
                    {
                        "level": "error",
                        "message": {"text": f"not fully read: {reason}"},
                        "locations": [
                            {"physicalLocation": {"artifactLocation": _artifact(path)}}
                        ],
                    }
                    for path, reason in report.unread
                ],
            }
        ],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=1) + "\n"


def _rule(entry, link):
    lines = [entry.message + "."]
    if entry.pair:
        lines.append(f"Both sides and their proof: tf1to2 explain {entry.symbol}.")
    return {
        **({"helpUri": link} if link else {}),
        "id": entry.symbol,
        "shortDescription": {"text": f"{entry.symbol}: {entry.verdict}"},
        "fullDescription": {"text": entry.message},
        "help": {"text": " ".join(lines)},
        "defaultConfiguration": {"level": LEVELS.get(entry.verdict, "error")},
        "properties": {"tags": [t for t in (entry.verdict, entry.topic) if t]},
    }


def _result(finding, numbers, seen):
    entry = finding.entry
    region = {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.end_line,
        "endColumn": finding.end_column,
        "snippet": {"text": finding.text},
    }
    message = entry.message
    if finding.cell:  # a notebook's lines are its cells', which SARIF does not know
        message = f"cell {finding.cell}: {message}"
    key = finding.path, finding.cell, entry.symbol, finding.text.strip()
    seen[key] += 1
    print_of = hashlib.sha256("\0".join(map(str, (*key, seen[key]))).encode())
    return {
        "ruleId": entry.symbol,
        "ruleIndex": numbers[entry.symbol],
        "level": LEVELS.get(entry.verdict, "error"),
        "message": {"text": message},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": _artifact(finding.path),
                    "region": region,
                }
            }
        ],
        "partialFingerprints": {"tf1to2/v1": print_of.hexdigest()[:32]},
    }


def _artifact(path):
    posix = pathlib.PurePath(path).as_posix()
    return {"uri": urllib.parse.quote(posix)}
