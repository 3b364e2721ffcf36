"""The report as one HTML file: the user's lines, messages, and both sides of pairs."""

import html

from tf1to2.common.output import shown
from tf1to2.pages import proven, sides, topics
from tf1to2.pages.align import blocks
from tf1to2.scan import causes
from tf1to2.scan.reports import text


def render(report):
    """Renders a page that contains the pairs, so that it can be sent to colleagues."""
    style = (topics.folder("tf1to2") / "scan/reports/html.css").read_text("utf-8")
    works = causes.works(report.findings)
    parts = [_summary(report, works), *(_work(work, report) for work in works)]
    for path, reason in report.unread:
        parts.append(f"<p>{_code(path)} was not fully read: {html.escape(reason)}.</p>")
    page = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><title>TensorFlow 1 in this '
        f"project</title><style>{style}</style></head><body><main>"
        f"{''.join(parts)}</main></body></html>\n"
    )
    # ASCII, so that it is valid in every encoding of standard output.
    return shown(page).encode("ascii", "xmlcharrefreplace").decode("ascii")


def _summary(report, works):
    rows = "".join(
        f'<tr><td><a href="#{work.cause.key}">{html.escape(work.cause.title)}</a></td>'
        f"<td>{html.escape(work.cause.becomes)}</td><td>{text.effort(work)}</td></tr>"
        for work in works
    )
    return (
        "<h1>TensorFlow 1 in this project</h1>"
        f"<p>{html.escape(': '.join(text.total(report)))}.</p>"
        '<div class="scroll" tabindex="0"><table><thead><tr><th>what</th>'
        "<th>becomes</th><th>work</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _work(work, report):
    rows, pairs = [], {}
    for finding in work.findings:
        entry = finding.entry
        pairs[entry.pair] = None
        rows.append(
            f"<tr><td>{_code(text.place(finding))}</td>"
            f"<td>{_code(finding.text.strip())}</td>"
            f"<td>{_message(entry, report.link(entry))}</td></tr>"
        )
    known = topics.topics()
    shown = "".join(
        _pair(known[topic], name)
        for topic, _, name in (pair.partition(".") for pair in pairs)
        if name
    )
    return (
        f'<h2 id="{work.cause.key}">{html.escape(work.cause.title)}</h2>'
        f'<p class="quiet">{html.escape(work.cause.becomes)}</p>'
        '<div class="scroll" tabindex="0"><table><thead><tr><th>where</th><th>line</th>'
        "<th>what to do</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>{shown}"
    )


def _pair(topic, name):
    proof = proven.proofs().get(topic.name, {}).get(name)
    verdict = f", proven {proven.verdict(proof)}" if proof else ""
    both = sides.of_topic(topic)
    code = "".join(
        f'<div><h3>{title}</h3><pre tabindex="0"><code>{_source(page, topic, name)}'
        "</code></pre></div>"
        for title, page in (("TensorFlow 1", both.left), ("TensorFlow 2", both.right))
    )
    return (
        f"<details><summary>{topic.name}.{name}: both sides{verdict}</summary>"
        f'<div class="sides">{code}</div></details>'
    )


def _source(page, topic, name):
    (block,) = [b for b in blocks(page.source, topic.pairs) if b.name == name]
    return html.escape("\n".join(page.lines[block.start - 1 : block.stop - 1]))


def _message(entry, link):
    message = html.escape(entry.message)
    if link:
        message += f' <a href="{html.escape(link)}">{entry.pair}</a>'
    return message


def _code(value):
    return f"<code>{html.escape(value)}</code>"
