"""Allows line breaks in names, after dots, underscores and slashes: by `<wbr>`."""

import re

CELL = re.compile(r"(?s)(?<=<td)[^>]*>.*?(?=</td>)")
TEXT = re.compile(r"(?<=>)[^<>]+")
# Spans of code and links. Blocks of code have other tags, or newlines.
SPAN = re.compile(
    r'(?:<code class="[^"]+"[^>]*>|<a [^>]*>|<span class="(?:xref|std)[^>]*>)'
    r"[^<>\n]+(?=</(?:code|a|span)>)"
)
AFTER = re.compile(r"(?<=[\w)\]])[./](?=[A-Za-z_])|(?<=[A-Za-z0-9])_+(?=[A-Za-z0-9])")


def breakable(page):
    """Allows line breaks in the names of a page of HTML, in text and tables.

    A browser breaks a line at a `<wbr>` where the line is too long, and copies nothing
    of it. Numbers stay whole: "0.5", but "tf.<wbr>nn.<wbr>l2_<wbr>loss".
    """
    head, sign, body = page.partition("<article")
    body = CELL.sub(_broken, body)
    return head + sign + SPAN.sub(_broken, body)  # those in cells are done


def _broken(match):
    return TEXT.sub(lambda text: AFTER.sub(r"\g<0><wbr>", text[0]), match[0])
