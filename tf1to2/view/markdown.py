"""The part of Markdown that MIGRATION.md is written in, as HTML."""

import html
import re

INLINE = re.compile(
    r"(?P<code>`[^`]+`)|\*\*(?P<bold>.+?)\*\*"
    r"|\[(?P<text>[^\]]+)\]\((?P<url>[^)\s]+)\)|(?<![*\w])\*(?P<italic>[^*\s][^*]*)\*(?![*\w])"
)


def to_html(text, link=lambda url: url):
    """Renders headings, paragraphs, lists, tables and fenced code.

    Args:
        text: Markdown.
        link: a function that says where a link of the text leads on the page.

    Returns:
        HTML, in which all text is escaped.
    """
    out = []
    for block in _blocks(re.sub(r"(?m)^<!-- .* -->$\n?", "", text)):
        first = block[0]
        if first.startswith("```"):
            code = html.escape("\n".join(block[1:-1]))
            out.append(f'<pre tabindex="0"><code>{code}</code></pre>')
        elif re.match(r"#{1,6} ", first):
            level = len(first) - len(first.lstrip("#"))
            out.append(f"<h{level}>{inline(first[level:].strip(), link)}</h{level}>")
        elif first.startswith("|"):
            out.append(_table(block, link))
        elif re.match(r"([-*]|\d+\.) ", first):
            tag = "ul" if first[0] in "-*" else "ol"
            items = re.split(r"(?m)^(?:[-*]|\d+\.) ", "\n".join(block))[1:]
            rows = "".join(f"<li>{inline(item, link)}</li>" for item in items)
            out.append(f"<{tag}>{rows}</{tag}>")
        else:
            out.append(f"<p>{inline(chr(10).join(block), link)}</p>")
    return "\n".join(out)


def inline(text, link=lambda url: url):
    """Renders code, bold, italics and links within a line."""

    def rendered(match):
        if match["code"]:
            return f"<code>{html.escape(match['code'][1:-1])}</code>"
        if match["bold"]:
            return f"<strong>{inline(match['bold'], link)}</strong>"
        if match["italic"]:
            return f"<em>{inline(match['italic'], link)}</em>"
        url = html.escape(link(match["url"]), quote=True)
        return f'<a href="{url}">{inline(match["text"], link)}</a>'

    out, end = [], 0
    for match in INLINE.finditer(text):
        out += [html.escape(text[end : match.start()]), rendered(match)]
        end = match.end()
    return "".join([*out, html.escape(text[end:])])


def _blocks(text):
    """The lines of each block: blank lines part them, save in fenced code."""
    block, fenced = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            if not fenced and block:
                yield block
                block = []
            block.append(line)
            fenced = not fenced
            if not fenced:
                yield block
                block = []
        elif fenced or line.strip():
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _table(lines, link):
    head, _, *body = [_cells(line) for line in lines]

    def row(cells, tag):
        tags = [tag if cell else "td" for cell in cells]  # an empty one heads nothing
        cells = zip(tags, cells, strict=True)
        return "".join(f"<{tag}>{inline(cell, link)}</{tag}>" for tag, cell in cells)

    rows = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in body)
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{row(head, "th")}</tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
    )


def _cells(line):
    """The cells of a table's row; a bar within code or behind a backslash is text."""
    parts = re.findall(r"(?:`[^`]*`|\\\||[^|])+", line.strip().strip("|"))
    return [part.strip().replace("\\|", "|") for part in parts]
