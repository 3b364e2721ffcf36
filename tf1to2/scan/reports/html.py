"""The report as one HTML file: the user's lines, beside what the pair says."""

import html
import json

from tf1to2 import topics
from tf1to2.scan.reports import text
from tf1to2.view.align import blocks


def render(report):
    """The report; the pairs are shown in it, so that it can be sent to a colleague."""
    style = (topics.folder("tf1to2") / "scan/reports/html.css").read_text("utf-8")
    known = topics.topics()
    parts = [_summary(report)]
    for name, findings in text.topics(report.findings):
        parts.append(_topic(name, findings, known.get(name), report))
    for path, reason in report.unread:
        parts.append(f"<p>{_code(path)} was not fully read: {html.escape(reason)}.</p>")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><title>TensorFlow 1 in this '
        f"project</title><style>{style}</style></head><body><main>"
        f"{''.join(parts)}</main></body></html>\n"
    )


def _summary(report):
    count, files = len(report.findings), len({f.path for f in report.findings})
    rows = "".join(
        f'<tr><td><a href="#{name}">{name}</a></td><td>{len(findings)}</td>'
        f"<td>{html.escape(text.effort(findings))}</td></tr>"
        for name, findings in text.topics(report.findings)
    )
    return (
        f"<h1>TensorFlow 1 in this project</h1><p>{count} uses in {files} of "
        f"{report.files} files: {html.escape(text.effort(report.findings))}.</p>"
        '<div class="scroll" tabindex="0"><table><thead><tr><th>topic</th><th>uses</th>'
        f"<th>what there is to do</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _topic(name, findings, topic, report):
    rows, pairs = [], {}
    for finding in findings:
        entry = finding.entry
        if entry.pair and topic:
            pairs.setdefault(entry.pair.partition(".")[2], entry.pair)
        rows.append(
            f"<tr><td>{_code(text.place(finding))}</td>"
            f"<td>{_code(finding.text.strip())}</td>"
            f"<td>{_message(entry, report.link(entry))}</td></tr>"
        )
    table = (
        '<div class="scroll" tabindex="0"><table><thead><tr><th>where</th><th>line</th>'
        "<th>what becomes of it</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
    shown = "".join(_pair(topic, pair) for pair in pairs if pair)
    lesson = f'<p class="quiet">{html.escape(topic.lesson)}</p>' if topic else ""
    return (
        f'<h2 id="{html.escape(name)}">{html.escape(name)}</h2>{lesson}{table}{shown}'
    )


def _pair(topic, name):
    proofs = json.loads((topics.folder("parity_tests") / "proofs.json").read_text())
    proof = proofs.get(topic.name, {}).get(name)
    verdict = ""
    if proof:
        bounds = [bound["ulps"] for bound in proof["bounds"]]
        verdict = f"within {max(bounds)} ULP" if bounds else "proven identical"
    sides = "".join(
        f'<div><h3>{title}</h3><pre tabindex="0"><code>{_source(path, topic, name)}'
        "</code></pre></div>"
        for title, path in (("TensorFlow 1", topic.v1), ("TensorFlow 2", topic.v2))
    )
    return (
        f"<details><summary>{topic.name}.{name}: both sides, {verdict}</summary>"
        f'<div class="sides">{sides}</div></details>'
    )


def _source(path, topic, name):
    source = path.read_text("utf-8")
    (block,) = [b for b in blocks(source, topic.pairs) if b.name == name]
    return html.escape("\n".join(source.splitlines()[block.start - 1 : block.stop - 1]))


def _message(entry, link):
    message = html.escape(entry.message)
    if link:
        message += f' <a href="{html.escape(link)}">{entry.pair}</a>'
    return message


def _code(value):
    return f"<code>{html.escape(value)}</code>"
