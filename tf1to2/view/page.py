"""`tf1to2 page`: all topics side by side in one HTML file that needs nothing else."""

import concurrent.futures
import functools
import html
import json
import os
import re

from tf1to2 import __version__, output, topics
from tf1to2.errors import CommandError
from tf1to2.topics import folder
from tf1to2.view import library, markdown, sides
from tf1to2.view.align import STEP, align
from tf1to2.view.coloured import Coloured, changed
from tf1to2.view.definitions import Definition

FILE = "index.html"
WAYS = {
    "graph": "compat.v1",
    "eager": "eager",
    "function": "tf.function",
    "dynamic": "unknown shapes",
    "xla": "XLA",
    "generated": "any size",
}


def write(directory):
    """Builds the page.

    Args:
        directory: where `index.html` goes; it is made if need be.

    Returns:
        Path of the file.

    Raises:
        CommandError: the directory cannot be written.
    """
    path = os.path.join(directory, FILE)
    text = build()
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as error:
        raise CommandError(f"{directory}: {error.strerror}") from error
    output.save(path, text)
    return path


def build():
    """The page, as text."""
    guide = _guide()
    proofs = json.loads((folder("parity_tests") / "proofs.json").read_text("utf-8"))
    known, needs = topics.topics(), library.helpers()
    chapters = [
        (_slug(title), title, known.get(title), text, needs.get(title, ()))
        for title, text in guide.items()
    ]
    rendered = functools.partial(_rendered, proofs=proofs)
    with concurrent.futures.ProcessPoolExecutor() as pool:
        main = list(pool.map(rendered, chapters))
    return _asset("page.html").format(
        version=__version__,
        style=_asset("page.css"),
        script=_asset("page.js"),
        contents=_contents(chapters),
        main="\n".join(main),
        symbols=json.dumps(_symbols(), separators=(",", ":")).replace("</", "<\\/"),
    )


def _asset(name):
    return (folder("tf1to2") / "view" / name).read_text("utf-8")


def _guide():
    """{title: text} of the chapters: of MIGRATION.md, then of guide/ in its order."""
    # The index of names is what the filter searches; pairs are below their chapters.
    names = r"(?s)<!-- table (symbols|same|pairs: [^\n]+) -->.*?<!-- end -->"
    entry = topics.document("MIGRATION.md").read_text("utf-8")
    order = re.findall(r"\]\(guide/([\w-]+)\.md\)", entry)
    chapters = {"How to read it": _own(entry.partition("\n")[2])}
    paths = topics.document("guide").glob("*.md")
    for path in sorted(paths, key=lambda path: order.index(path.stem)):
        title, _, text = path.read_text("utf-8").partition("\n")
        # Its own headings stand below this one; files are seen from the top.
        text = re.sub("(?m)^## ", "### ", re.sub(names, "", text))
        chapters[title.removeprefix("# ")] = _own(text.replace("](../", "]("))
    return chapters


def _own(text):
    """A text whose links to chapters lead to the parts of the page."""
    titles = {
        path.stem: path.read_text("utf-8").partition("\n")[0].removeprefix("# ")
        for path in topics.document("guide").glob("*.md")
    }

    def link(match):
        title = titles.get(match[1])
        return f"](#{_slug(title)})" if title else match[0]

    text = re.sub(r"\]\((?:guide/)?([\w-]+)\.md\)", link, text)
    text = re.sub(r"\[(`\w+`)\]\([^)]*#\w+\)", r"\1", text)  # pairs are linked below
    text = re.sub(r"(?m)^</?details>(<summary>.*</summary>)?\n", "", text)
    return re.sub(r'<a id="[\w-]+"></a>|<!-- .* -->\n', "", text)


def _slug(title):
    return re.sub(r"[^a-z0-9_]+", "-", title.lower()).strip("-")


def _symbols():
    """What the filter looks up: names of TensorFlow 1 that are not the same.

    Returns:
        {"pairs": [...], "names": {name: [verdict, replacement, number of its pair]}}.
    """
    try:
        from tf1to2.scan import catalog
    except ImportError:
        return {"pairs": [], "names": {}}
    entries = (catalog.lookup(symbol) for symbol in catalog.symbols())
    entries = [e for e in entries if e and e.verdict != "same" and e.pair]
    pairs = sorted({entry.pair for entry in entries})
    return {
        "pairs": pairs,
        "names": {
            e.symbol: [e.verdict, e.replacement, pairs.index(e.pair)] for e in entries
        },
    }


def _contents(chapters):
    items = []
    for slug, title, topic, *_ in chapters:
        pairs = "".join(
            f'<li><a href="#{slug}.{pair}">{pair}</a></li>'
            for pair in (topic.pairs if topic else ())
        )
        inner = f"<ul>{pairs}</ul>" if pairs else ""
        items.append(f'<li><a href="#{slug}">{html.escape(title)}</a>{inner}</li>')
    return "".join(items)


def _rendered(chapter, proofs):
    slug, title, topic, text, needs = chapter
    if topic:
        return _topic(topic, text, proofs.get(title, {}), needs)
    return _chapter(slug, title, text)


def _chapter(slug, title, text):
    link = functools.partial(_link, known=topics.topics())
    return (
        f'<section class=chapter id="{slug}"><h2>{html.escape(title)}</h2>'
        f"{markdown.to_html(text, link)}</section>"
    )


def _link(url, known):
    """Where a link of the guide leads on the page: files are its own parts."""
    match = re.fullmatch(
        r"(?:v1_graph/|v2_eager/|parity_tests/test_)(\w+)\.py(?:#.*)?", url
    )
    if match and match[1] in known:
        return "#" + match[1]
    return url


def _topic(topic, text, proofs, needs):
    text = re.sub(r"(?m)^The pair: .*$", "", text)
    prose = markdown.to_html(text, functools.partial(_link, known=topics.topics()))
    prose = re.sub(  # a pair that the prose names is a way to it
        r"<code>({})</code>".format("|".join(map(re.escape, topic.pairs))),
        rf'<a href="#{topic.name}.\1"><code>\1</code></a>',
        prose,
    )
    shown = sides.of_topic(topic)
    colours = functools.cache(lambda module: Coloured(module.source))
    pairs = [
        _pair(topic, name, shown.pair(name), colours, proofs.get(name))
        for name in topic.pairs
    ]
    return (
        f'<section class=topic id="{topic.name}"><h2>{topic.name}</h2>'
        f"<p class=lesson>{markdown.inline(topic.lesson)}</p>"
        f"<div class=prose>{prose}</div>{''.join(pairs)}"
        f"{_needed(needs, colours)}</section>"
    )


def _pair(topic, name, pair, colours, proof):
    anchor = f"{topic.name}.{name}"
    left, right = (colours(side.module) for side in pair)
    docs = right.docs.get(name)
    first = (right.lines[docs[0] - 1].strip().strip('"')) if docs else ""
    return (
        f'<section class=pair id="{anchor}"><h3><a href="#{anchor}">'
        f"<span class=of>{topic.name}.</span>{name}</a></h3>"
        f"<p>{markdown.inline(first)}</p>{_proof(proof)}{_ways(pair)}"
        f"<div class=sides>{_head('l', 'TensorFlow 1', name)}"
        f"{_rows(anchor, pair, (left, right))}</div></section>"
    )


def _rows(anchor, pair, coloured):
    """The two columns of a pair, and the second one's head between them.

    The grid puts each line below the last one of its column; what a column lacks is an
    empty piece of so many rows.
    """
    left, right = coloured
    rows = align(left.lines, right.lines, *map(sides.block, pair))
    docs = [side.docs.get(d.name) for side, d in zip(coloured, pair, strict=True)]
    shared = docs[0] and docs[1] and left.text(docs[0]) == right.text(docs[1])
    ours, theirs, steps, before = _Column(), _Column(), {}, False
    for row in rows:
        both = shared and row.same and row.left in docs[0] and row.right in docs[1]
        if both:  # what both sides say is one block
            if not before:
                ours.add("<span class=b>")
                theirs.add("<span class=c>")
            ours.spans[-1] += left.html(row.left)
            before = True
            continue
        marks, kind, before = ((), ()), "x", False
        if row.left and row.right:
            a, b = left.lines[row.left - 1], right.lines[row.right - 1]
            marks, kind = changed(a, b), "" if a.strip() == b.strip() else "z"
        anchored = ""
        step = row.left and STEP.match(left.lines[row.left - 1])
        if step:
            name = f"{anchor}.{_slug(step['step'])}"
            steps[name] = steps.get(name, 0) + 1
            name += f"-{steps[name]}" if steps[name] > 1 else ""
            anchored = f' id="{name}"'
        if row.left:
            code = left.html(row.left, marks[0])
            ours.add(f"<span class=l{kind}{anchored}>{code}")
        else:
            ours.gap += 1
        if row.right:
            theirs.add(f"<span class=r{kind}>{right.html(row.right, marks[1])}")
        else:
            theirs.gap += 1
    head = _head("r", "TensorFlow 2", pair[1].name)
    return f"<code class=l>{ours.html}</code>{head}<code class=r>{theirs.html}</code>"


class _Column:
    """The lines of one side, and how many rows are empty since the last of them."""

    def __init__(self):
        self.spans, self.gap = [], 0

    def add(self, span):
        if self.gap:
            self.spans.append(f'<span class=g style="grid-row:span {self.gap}">')
        self.spans.append(span)
        self.gap = 0

    @property
    def html(self):
        return "".join(f"{span}</span>" for span in self.spans)


def _needed(needs, colours):
    """The code that pairs need beside themselves, each part once."""
    parts = []
    for place, names in needs:
        found = [n and library.edition().module(n[0]).definitions[n[1]] for n in names]
        title = place.replace("/", ".").partition(".")[2]
        if all(found):
            both = [colours(definition.module) for definition in found]
            code = (
                f"<div class=sides>{_head('l', 'TensorFlow 1', title)}"
                f"{_rows(place, found, both)}</div>"
            )
        else:
            which = 1 if found[0] else 2
            (alone,) = found = [d for d in found if d]
            lines = map(colours(alone.module).html, range(alone.start, alone.stop))
            code = f"<h4>TensorFlow {which}</h4><pre>{''.join(lines).rstrip()}</pre>"
        parts.append(
            f'<section class=needed id="{place}"><h3>{title}</h3>{_ways(found)}{code}'
            "</section>"
        )
    return "".join(parts)


def _ways(definitions):
    """Links to the code that definitions name."""
    own = {library.place(definition) for definition in definitions}
    places = dict.fromkeys(
        library.place(what)
        for definition in definitions
        for _, what in definition.references
        if isinstance(what, Definition)
    )
    links = [
        f'<a href="#{place}">{place.rpartition("/")[2]}</a>'
        for place in places
        if place not in own
    ]
    return f"<p class=needs>Needs {', '.join(links)}</p>" if links else ""


def _head(side, title, name):
    return (
        f"<h4 class={side}>{title} <button type=button data-copy={side}>copy"
        f"<span class=of> {name} of {title}</span></button></h4>"
    )


def _proof(proof):
    """What is proven of a pair, in a line, and what there is beyond it, folded away."""
    if not proof:
        return ""
    ways = [WAYS[way] for way in WAYS if way in proof["ways"]]
    bounds = proof["bounds"]
    verdict = f"within {max(b['ulps'] for b in bounds)} ULP" if bounds else "identical"
    line = f"<strong>{verdict}</strong> on 1.15.5, {', '.join(ways)}"
    notes = [
        f"{html.escape(b['case'])}: {markdown.inline(b['reason'])}" for b in bounds
    ]
    notes += [
        f"Not {WAYS.get(way, way)}: {markdown.inline(reason)}."
        for way, reason in proof["skips"]
    ]
    notes += [
        "False friend ({}): <code>{}</code>, not <code>{}</code>: {}.".format(
            *map(html.escape, (f["slug"], f["left"], f["naive"])),
            markdown.inline(f["because"]),
        )
        for f in proof["false friends"]
    ]
    notes += [
        "{}: {}{}".format(
            html.escape(e["slug"]),
            ", ".join(
                f"{side} {f'<code>{e[key]}</code>' if e[key] else 'works'}"
                for key, side in (
                    ("1.15.5", "1.15.5"),
                    ("eager", "eager"),
                    ("function", "tf.function"),
                )
            ),
            f" (“{html.escape(e['match'])}”)" if e["match"] else "",
        )
        for e in proof["errors"]
    ]
    cases = f"{proof['cases']} case{'s' * (proof['cases'] != 1)}"
    if not notes:
        return f"<p class=proof>{line}, {cases}</p>"
    items = "".join(f"<li>{note}</li>" for note in notes)
    return (
        f"<details class=proof><summary>{line}, {cases}</summary>"
        f"<ul>{items}</ul></details>"
    )
