"""The pages as Markdown, beside their HTML, and llms.txt, which lists them.

llms.txt has the form of llmstxt.org: a title, a summary, and sections with links. A
copy has all the code that its page has; its links lead to other copies.
"""

import re

from tf1to2.pages import library, proven, sides, topics
from tf1to2.view.website import texts

SUMMARY = """\
# TensorFlow 1 → TensorFlow 2, side by side

> A reference for porting TensorFlow 1 programs to native TensorFlow 2. Each topic has
> pairs: the same function in both versions, tested for equal numbers against the real
> TensorFlow 1.15.5. With the commands of `tf1to2`: scan, explain, fix, take, prove.

In a pair, the code of TensorFlow 2 is native: it does not use `tf.compat.v1`. Each
link leads to a page as Markdown.
"""
OPTIONAL = "Optional"  # of llms.txt: what may be left out where room is short


def copies(pages):
    """Returns {file name: text} of the pages as Markdown, and of llms.txt.

    Args:
        pages: {page: its text} of `texts.texts`.
    """
    found = {f"{page}.md": copy(text) for page, text in pages.items()}
    return found | {"llms.txt": contents(found)}


def copy(text):
    """The text of a page as Markdown without directives."""
    text = re.sub(r"\A(?:---\n.*?\n---\n)+", "", text, flags=re.DOTALL)
    text = texts.DIRECTIVE.sub(_written, text)
    text = re.sub(r"(?m)^!\[.*\]\(.*\)\{.*only-(?:dark|narrow).*\}\n?", "", text)
    text = re.sub(r"(!\[.*?\]\(.*?\))\{[^}]*\}", r"\1", text)
    text = re.sub(r"(?m)^</?div.*>$", "", text)
    text = re.sub(r"\[\]\{#([\w-]+)\}", r'<a id="\1"></a>', text)
    text = re.sub(r"(?m)^\(([\w-]+)\)=$", r'<a id="\1"></a>', text)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def contents(files):
    """The text of llms.txt."""
    parts, known = [SUMMARY], topics.topics()
    listed = {page for pages in texts.groups().values() for page in pages}
    rest = [f.removesuffix(".md") for f in files]
    rest = [page for page in rest if page not in {*listed, "index"}]
    for title, pages in {**texts.groups(), OPTIONAL: rest}.items():
        parts.append(f"## {title}\n")
        for page in pages:
            heading, first = _beginning(files[f"{page}.md"])
            first = known[page].lesson if page in known else first
            parts.append(f"- [{heading}]({page}.md): {first}")
        parts.append("")
    return "\n".join(parts)


def _beginning(text):
    """(the title, the first sentence) of a page."""
    title, _, rest = text.partition("\n")
    prose = texts.FENCED.sub("", rest)
    prose = re.sub(r"!\[.*?\]\(.*?\)|<[^>]*>|\*\*", "", prose)
    prose = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", prose)
    sentences = re.findall(r"(?m)^(?![#|-]).*?[.!?](?=\s|$)", prose)
    title = title.lstrip("# ")
    return title, sentences[0] if sentences else f"{title}."


def _written(match):
    kind, name = match.groups()
    if kind == "pair":
        return _pair(name)
    if kind == "sides":
        return "\n".join(_sides(library.pairs()[name]))
    if kind == "needed":
        return "\n".join(
            line
            for place, parts in library.helpers()[name]
            for line in (_heading(place, place.rpartition("/")[2]), *_sides(parts))
        )
    return ""  # the sidebar's


def _pair(name):
    """Writes a pair as Markdown, with its Keras form and its proof in words."""
    stem, _, own = name.partition(".")
    pair, topic = library.pairs()[name], topics.topics()[stem]
    lines = [_heading(name, own), f"{pair[1].first_line}\n", *_sides(pair)]
    if own in topic.distances:
        by_keras = sides.of_topic(topic, keras=True).pair(own)[1]
        far = topics.distance_told(topic.distances[own])
        lines.append(_code(f"Keras, {far}", by_keras))
    if proof := proven.proofs().get(stem, {}).get(own):
        ways = f"{proven.verdict(proof)} on 1.15.5, {proven.ways(proof)}"
        lines.append(f"Proven: {ways}, {proven.cases(proof)}.\n")
    return "\n".join(lines)


def _heading(place, title):
    return f'<a id="{place}"></a>\n\n### {title}\n'


def _sides(definitions):
    return [_code(library.side(definition), definition) for definition in definitions]


def _code(title, definition):
    return f"**{title}**\n\n```python\n{definition.text.rstrip()}\n```\n"
