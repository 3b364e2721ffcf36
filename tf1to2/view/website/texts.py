"""The texts of the site, by page: the guide's documents, as MyST reads them.

Each file of the guide is a page; a chapter gets the pairs of its topic. Links lead to
pages and pairs. A link to a file that the site does not have becomes plain text.
"""

import functools
import posixpath
import re

from tf1to2.explain import errors_page
from tf1to2.pages import library, topics
from tf1to2.view.website import programs

ENTRY = "MIGRATION.md"
BESIDE = {"README.md": "readme", "BENCHMARKS.md": "benchmarks"}
TOOLS = [*BESIDE.values(), "maintaining"]
SHOWN = re.compile(r"(?s)<!-- table pairs: ([^\n]+) -->\n.*?<!-- end -->")
DIRECTIVE = re.compile(r"(?ms)^```\{(\w+)\}(?: (\S+))?\n.*?^```$")
FENCED = re.compile(r"(?ms)^((````?)(?!`).*?^\2$)")
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s]+)\)")
ANCHOR = re.compile(r'<a id="([\w-]+)"></a>')
PICTURE = re.compile("(?s)<picture>.*?</picture>")  # README's, in several forms
IMAGE = re.compile(r"!\[([^\]]*)\]\(((?:guide/)?pictures/([\w-]+))\.svg\)")
SIDES = re.compile(r"(?s)<!-- sides ([\w.]+) -->\n.*?<!-- end -->")  # of a pair
WIDE = "---\nhide-toc: true\n---\n"
# Both sides as blocks; on a wide screen site.css puts them side by side.
IN_SHORT = re.compile(r"(?s)<!-- in short -->\n(.*?)<!-- end -->")
EQUAL = "Both sides compute the same losses and the same weights."
BROAD = "index", "false-friends", "timings"  # their tables and code are
SHORT = "---\ntocdepth: 2\n---\n"  # of 200 messages the contents would be a page
OPEN = 3  # pairs of a chapter that are unfolded where the chapter shows none itself


@functools.cache
def texts():
    """Returns {page: its text}; a page is "index", "layers", "names/train"."""
    kinds = {f"numerics/{name}": _kind(name) for name in library.kinds()}
    shown = {page: _program(page) for page in programs.pages()}
    return {page: _text(path, page) for path, page in pages().items()} | kinds | shown


@functools.cache
def pages():
    """{path of a document: its page without ".html"}, both as links write them."""
    top = topics.document("guide")
    found = {ENTRY: "index", **BESIDE}
    for path in sorted(top.rglob("*.md")):
        place = path.relative_to(top).as_posix()
        page = place.removesuffix(".md").removesuffix("/README")
        found[f"guide/{place}"] = page
    return found


def _text(path, page):
    text = topics.document(path).read_text("utf-8")
    topic = topics.topics().get(page) if path.startswith("guide/") else None
    if topic:
        text = _with_pairs(text, topic)
    text = IMAGE.sub(_for_both_themes, PICTURE.sub(_forms, text))
    text = SIDES.sub(rf"{EQUAL}\n\n```{{sides}} \1\n```\n", text)
    text = IN_SHORT.sub('<div class="in-short">\n\n\\1\n</div>', text)
    if page == "plan":
        text = programs.with_changes(text)
    text = text.replace("](guide/pictures/", "](pictures/")  # all pages lie together
    text = _outside_code(re.sub(r"<!-- [^\n]* -->\n?", "", text), path, page)
    text = SHORT * (page in errors_page.PAGES) + WIDE * (page in BROAD) + text
    if page == "index":
        return text + _contents()
    children = [child for child in pages().values() if child.startswith(f"{page}/")]
    children += programs.children(page)
    return text + _tree(children) * bool(children)


def _forms(picture):
    """All forms of a picture, light or dark, wide or narrow; site.css shows one."""
    (alt,) = re.findall('alt="(.*?)"', picture[0])
    shown = []
    for form in re.findall(r'(?:src|srcset)="(.*?)"', picture[0]):
        theme = "dark" if "-dark" in form else "light"
        width = "narrow" if "-narrow" in form else "wide"
        shown.append(f"![{alt}]({form}){{.only-{theme} .only-{width}}}")
    return "\n".join(shown)


def _for_both_themes(match):
    """Adds the dark form of a picture if there is one."""
    alt, path, name = match.groups()
    if not (topics.document("guide") / f"pictures/{name}-dark.svg").exists():
        return match[0]
    dark = f"![{alt}]({path}-dark.svg){{.only-dark}}"
    return f"![{alt}]({path}.svg){{.only-light}}\n{dark}"


def _program(page):
    """The text of the page of a program, with links to the programs below it."""
    text = _outside_code(programs.text(page), f"{page}/README.md", page)
    below = [f"/{child}" for child in programs.children(page)]
    return text + _tree(below) * bool(below)


def _outside_code(text, path, page):
    """Works as `_with_links`, but leaves the blocks of code unchanged."""
    place, parts = 0, []
    for match in FENCED.finditer(text):
        parts += [_with_links(text[place : match.start()], path, page), match[0]]
        place = match.end()
    return "".join([*parts, _with_links(text[place:], path, page)])


def _with_links(text, path, page):
    """Changes the links of a file: they lead to pages of the site, not to files."""

    def link(match):
        url = match[2]
        if re.match(r"\w+:", url):
            return match[0]
        file, _, anchor = url.partition("#")
        where = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
        target = _target(where if file else path, anchor, match[1].strip("`"))
        if target is None:
            return match[1]
        there, sign, anchor = target.partition("#")
        there = posixpath.relpath(f"{there}.md", posixpath.dirname(page))
        return f"[{match[1]}]({there}{sign}{anchor})"

    # Anchors of the code host's are targets of MyST's.
    return LINK.sub(link, ANCHOR.sub(r"[]{#\1}", text))


def _target(path, anchor, text):
    """Returns the "page#anchor" for a link to a file, or None without a page."""
    if page := pages().get(path):
        for name in (f"{page}.{anchor}", text, f"{page}.{text}"):
            if name in library.pairs() and name.startswith(page):
                return f"{page}#{name}"
        return f"{page}#{anchor}" if anchor else page
    if path.startswith(programs.FOLDER):
        return programs.target(path, anchor)
    match = re.fullmatch(
        r"(?:v1_graph/|v2_\w+/|parity_tests/test_)(\w+)(?:\.py|/.*|)", path
    )
    if not match or match[1] not in topics.topics():
        return None
    line = re.fullmatch(r"L(\d+)", anchor)
    place = _at(path, int(line[1])) if line else text
    place = place if place in library.pairs() else _others(match[1])
    return f"{match[1]}#{place}"


@functools.cache
def _at(path, number):
    """Returns the place of the definition that contains a line, or ""."""
    module = library.files().module(path.removesuffix(".py").replace("/", "."))
    for definition in module.definitions.values() if module else ():
        if definition.start <= number < definition.stop:
            return library.place(definition)
    return ""


def _with_pairs(text, topic):
    """Adds directives for the pairs to a chapter, unplaced pairs at the end."""
    text = re.sub(r"(?m)^The pair: .*$", "", text)
    match = SHOWN.search(text)
    shown = match[1].split() if match else []
    text = SHOWN.sub(lambda m: "\n".join(_pair(topic, n) for n in shown), text)
    rest = [name for name in topic.pairs if name not in shown]
    title = "The other pairs" if shown else "The pairs"
    anchor = f"({_others(topic.name)})=\n\n"
    parts = [f"{anchor}## {title}\n"] if rest else []
    if not rest:  # what leads to a page leads to those that are shown
        text = text.replace("## In code\n", f"{anchor}## In code\n")
    unfolded = 0 if shown else OPEN
    parts += [_pair(topic, n, i >= unfolded) for i, n in enumerate(rest)]
    if topic.name in library.helpers():
        parts.append(f"## Code that pairs need\n\n```{{needed}} {topic.name}\n```\n")
    if topic.name == "numerics":
        parts.append(_tree([f"numerics/{kind}" for kind in library.kinds()]))
    return "\n".join([WIDE + text, "", *parts])


def _others(topic):
    """Returns the anchor of a topic's list of pairs, with "-" for "_"."""
    return f"pairs-of-{topic.replace('_', '-')}"


def _pair(topic, name, folded=False):
    option = ":folded:\n" * folded
    return f"```{{pair}} {topic.name}.{name}\n{option}```\n"


@functools.cache
def groups():
    """Returns {title: pages}: topics by group, commands, and other pages."""
    entry = topics.document(ENTRY).read_text("utf-8")
    order = [page for _, page in pages().items() if f"/{page}.md)" in entry]
    order.sort(key=lambda page: entry.index(f"/{page}.md)"))
    found = topics.groups()
    topical = {name for names in found.values() for name in names}
    rest = [page for page in order if "/" not in page and page not in topical]
    every = [p for p in pages().values() if "/" not in p and p != "index"]
    rest += [p for p in every if p not in {*rest, *topical, *TOOLS}]
    rest = [page for page in rest if page not in topics.COMMANDS]
    found |= {"Commands": topics.COMMANDS, "Across topics": rest, "The tools": TOOLS}
    return found


def _contents():
    """The sidebar as Markdown: one `toctree` for each group of pages."""
    return "".join(_tree(pages, title) for title, pages in groups().items())


def _tree(pages, title=""):
    """The `toctree` with some pages of the sidebar, under a title."""
    caption = f":caption: {title}\n" * bool(title)
    return "\n```{toctree}\n:hidden:\n" + caption + "\n".join(["", *pages, "```", ""])


def _kind(name):
    """Writes the text of the page about one module of `numerics`."""
    told = library.edition().module(f"{library.NUMERICS}.{name}").told
    return f"{WIDE}# numerics.{name}\n\n{told}\n\n```{{needed}} numerics.{name}\n```\n"
