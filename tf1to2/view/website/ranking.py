"""pages.js: the words of each page, for the page of search results.

search.js ranks pages by BM25 in three fields, and adds the scores: the title, the names
that the page has answers for, and all that it says, with its code.
"""

import collections
import functools
import json
import re

from tf1to2.explain import questions
from tf1to2.pages import library, topics
from tf1to2.view.website import passages, texts

LISTS = (
    *("names/", "maintaining/", "examples/"),
    *("benchmarks", "false-friends", "index", "readme", "subjects", "timings"),
)
"""Pages, and folders of them, that name everything and are about little of it."""
LESS = 0.7  # of its score, that such a page keeps
TITLE = re.compile(r"(?m)^# (.*)$")
# Where a link leads, anchors and tags, what the head of a file sets.
UNSAID = re.compile(r"(?s)(?<=\])\([^)\s]*\)|\{#[\w-]+\}|<[^>\n]*>|\A---\n.*?\n---\n")


def script():
    """The text of pages.js, which the page of results loads."""
    known = {page: _said(page, text) for page, text in texts.texts().items()}
    numbers = {page: number for number, page in enumerate(known)}
    fields = zip(*(fields for _, fields in known.values()), strict=True)
    data = {
        "pages": [[page, *names] for page, (names, _) in known.items()],
        "weights": [LESS if page.startswith(LISTS) else 1 for page in known],
        "fields": [
            passages.flat(questions.Index(_counted(known, field)), numbers)
            for field in fields
        ],
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"window.tf1to2.site = {text};\n"


def _counted(pages, field):
    """Returns {page: {stem: number of times}} for one field of all pages."""
    stems = map(questions._stems, field)
    return dict(zip(pages, map(collections.Counter, stems), strict=True))


def _said(page, text):
    """Returns ((title, lesson) to show, (title, names, words) to search)."""
    text = UNSAID.sub("", text)
    shown = [_shown(*found) for found in texts.DIRECTIVE.findall(text)]
    text = texts.DIRECTIVE.sub("", text)
    title = TITLE.search(text)[1].replace("`", "")
    topic = topics.topics().get(page)
    lesson = topic.lesson if topic else ""
    first = f"{re.sub('[/-]', ' ', page)} {title} {lesson}"
    names = [_of_pairs().get(page, "")]
    for line in text.split("\n"):
        if line.startswith("##"):
            names.append(line)
        elif line.startswith("|"):
            names.append(questions.cells(line)[0])
    names = "\n".join(names)
    return (title, lesson), (first, names, "\n".join([first, names, text, *shown]))


@functools.cache
def _of_pairs():
    """Returns {page: the names, subjects and calls of its pairs}."""
    found = collections.defaultdict(str)
    for passage, words in questions._of_pairs():
        found[passage.page.removeprefix("guide/").removesuffix(".md")] += f"{words}\n"
    return found


def _shown(directive, place):
    """Returns the code that a directive shows, or "" for other directives."""
    if directive == "pair":
        parts = [*library.pairs()[place], library.by_keras().get(place)]
    elif directive == "needed":
        parts = [one for _, both in library.helpers()[place] for one in both]
    else:
        return ""
    return "\n".join(part.text for part in parts if part)
