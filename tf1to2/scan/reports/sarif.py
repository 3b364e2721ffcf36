"""The report as SARIF 2.1.0, for code scanning."""

import collections
import hashlib
import json
import os
import pathlib
import urllib.parse

from tf1to2 import __version__
from tf1to2.scan import causes

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"renamed": "note", "private": "note", "rewrite": "warning"}


def render(report):
    """Renders a SARIF log: one rule per name, one result per finding."""
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
        "results": [_result(f, numbers, seen, report) for f in report.findings],
        "invocations": [
            {
                "executionSuccessful": not report.unread,
                "toolExecutionNotifications": [
                    {
                        "level": "error",
                        "message": {"text": f"not fully read: {reason}"},
                        "locations": [
                            {
                                "physicalLocation": {
                                    "artifactLocation": {"uri": _uri(path, report)}
                                }
                            }
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
        lines.append(f"Both sides of {entry.pair}: tf1to2 explain {entry.symbol}.")
    return {
        **({"helpUri": link} if link else {}),
        "id": entry.symbol,
        "shortDescription": {"text": f"{entry.symbol}: {entry.verdict}"},
        "fullDescription": {"text": entry.message},
        "help": {"text": " ".join(lines)},
        "defaultConfiguration": {"level": LEVELS.get(entry.verdict, "error")},
        "properties": {"tags": [t for t in (entry.verdict, entry.topic) if t]},
    }


def _result(finding, numbers, seen, report):
    entry, uri = finding.entry, _uri(finding.path, report)
    region = {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.end_line,
        "endColumn": finding.end_column,
        "snippet": {"text": finding.text},
    }
    message = entry.message
    if finding.cell:  # lines count in the cell, and SARIF has no field for cells
        message = f"cell {finding.cell}: {message}"
    key = uri, finding.cell, entry.symbol, finding.text.strip()
    seen[key] += 1
    identity = "\0".join(map(str, (*key, seen[key])))
    print_of = hashlib.sha256(identity.encode("utf-8", "surrogateescape"))
    return {
        "ruleId": entry.symbol,
        "ruleIndex": numbers[entry.symbol],
        "level": LEVELS.get(entry.verdict, "error"),
        "message": {"text": message},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": uri},
                    "region": region,
                }
            }
        ],
        "properties": {"cause": causes.cause(entry).key},
        "partialFingerprints": {"tf1to2/v1": print_of.hexdigest()[:32]},
    }


def _uri(path, report):
    """The URI of a path, relative to the root of its project."""
    if path != "-":
        absolute = os.path.realpath(path)
        folder = absolute if os.path.isdir(absolute) else os.path.dirname(absolute)
        path = os.path.relpath(absolute, report.root(folder))
    return urllib.parse.quote(os.fsencode(pathlib.PurePath(path).as_posix()))
