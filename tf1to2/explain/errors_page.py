"""The guide's pages of error messages as data: one section per message."""

import functools
import re
from typing import NamedTuple

from tf1to2.pages import topics

PAGES = (
    *("errors", "errors-values", "errors-data", "errors-training"),
    *("errors-keras", "errors-keras-files", "errors-environment"),
)
"""The pages in the folder guide, without their suffix."""
GAP = "…"
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
SPAN = re.compile(r"(?<!`)(`+)(?!`) ?(.+?) ?(?<!`)\1(?!`)")


class Section(NamedTuple):
    """A section of the guide's pages of errors: a message, its cause, and the fix.

    Attributes:
        raised: the wordings that a test raises, the heading first; "…" is a gap.
        others: the wordings of other versions.
        because: the explanation, in one line.
        code: what to write.
        places: pairs that show it, as `topic.name`.
        page: the page that has the section, one of `PAGES`.
    """

    raised: list
    others: list
    because: str
    code: str
    places: list
    page: str

    @property
    def message(self):
        """The error message: the first wording in the section's heading."""
        return self.raised[0]

    @property
    def wordings(self):
        """All wordings of the message; those that a test raises come first."""
        return self.raised + self.others


@functools.cache
def sections():
    """Returns all sections of the guide's pages of errors, in the pages' order."""
    texts = {p: topics.document(f"guide/{p}.md").read_text("utf-8") for p in PAGES}
    return [
        _section(part, page)
        for page, text in texts.items()
        for part in re.split(r"(?m)^### ", text)[1:]
    ]


def _section(text, page):
    heading, _, text = re.split(r"(?m)^## ", text)[0].partition("\n")
    prose, _, rest = text.partition("```python\n")
    code, _, links = rest.partition("```\n")
    raised, others, because = _spans(heading), [], []
    for paragraph in prose.split("\n\n"):
        kind, _, wordings = paragraph.strip().partition(": ")
        if kind == "Also":
            raised += _spans(wordings)
        elif kind in ("1.15.5", "Earlier"):
            others += _spans(wordings)
        else:
            because.append(paragraph.strip())
    told = LINK.sub(r"\1", " ".join(filter(None, because)))
    places = re.findall(r"\[(\w+\.\w+)\]", links)
    return Section(raised, others, told, code, places, page)


def _spans(text):
    return [span for _, span in SPAN.findall(text)]


def pattern(wording):
    """Returns a regular expression for a wording; its gaps match any text."""
    return "(?s)" + ".*?".join(map(re.escape, wording.split(GAP)))
