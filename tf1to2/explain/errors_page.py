"""The guide's pages of error messages as data: a section per message."""

import functools
import re
from typing import NamedTuple

from tf1to2.pages import topics

PAGES = (
    *("errors", "errors-values", "errors-data", "errors-training"),
    *("errors-keras", "errors-keras-files", "errors-environment"),
)
"""The pages of the guide, without their folder."""
GAP = "…"
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
SPAN = re.compile(r"(?<!`)(`+)(?!`) ?(.+?) ?(?<!`)\1(?!`)")


class Section(NamedTuple):
    """What the chapter says of a message.

    Attributes:
        raised: the wordings that a test raises, the heading first; "…" is a gap.
        others: those of other versions.
        because: what it says of it, in one line.
        code: what to write.
        places: pairs that show it, as `topic.name`.
        page: where it stands, of `PAGES`.
    """

    raised: list
    others: list
    because: str
    code: str
    places: list
    page: str

    @property
    def message(self):
        """The heading."""
        return self.raised[0]

    @property
    def wordings(self):
        """All wordings, those that a test raises first."""
        return self.raised + self.others


@functools.cache
def sections():
    """All sections, in the order of the pages."""
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
    """A regular expression that finds a wording, whatever stands in its gaps."""
    return "(?s)" + ".*?".join(map(re.escape, wording.split(GAP)))
