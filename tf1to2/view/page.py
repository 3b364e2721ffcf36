"""`tf1to2 page`: all topics side by side in one HTML file that needs nothing else."""

import ast
import concurrent.futures
import difflib
import functools
import html
import json
import os
import re

from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String

from tf1to2 import __version__, output, topics
from tf1to2.errors import CommandError
from tf1to2.topics import folder
from tf1to2.view import markdown
from tf1to2.view.align import STEP, align, blocks

FILE = "index.html"
# One letter for each kind of token that has a colour.
KINDS = (
    (Comment, "c"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (String, "s"),
    (Number, "n"),
    (Name.Function, "f"),
    (Name.Class, "f"),
    (Name.Decorator, "d"),
)
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
    known = topics.topics()
    chapters = [
        (_slug(title), title, known.get(title), text) for title, text in guide.items()
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
    """{title: text} of the chapters of MIGRATION.md, in its order."""
    # The index of names is what the filter searches.
    names = r"(?s)<!-- table (symbols|same) -->.*?<!-- end -->"
    text = topics.document("MIGRATION.md").read_text("utf-8")
    text = re.sub(names, "", text)
    head, *parts = re.split(r"(?m)^## ", text)
    chapters = {"How to read it": head.partition("\n")[2]}
    for part in parts:
        title, _, text = part.partition("\n")
        chapters[title.strip()] = text
    return chapters


def _slug(title):
    return re.sub(r"[^a-z0-9_]+", "-", title.lower()).strip("-")


def _symbols():
    """{name in TensorFlow 1: [verdict, replacement, pair]}, for the filter."""
    try:
        from tf1to2.scan import catalog
    except ImportError:
        return {}
    entries = (catalog.lookup(symbol) for symbol in catalog.symbols())
    return {
        entry.symbol: [entry.verdict, entry.replacement, entry.pair]
        for entry in entries
        if entry and entry.verdict != "same" and entry.pair
    }


def _contents(chapters):
    items = []
    for slug, title, topic, _ in chapters:
        pairs = "".join(
            f'<li><a href="#{slug}.{pair}">{pair}</a></li>'
            for pair in (topic.pairs if topic else ())
        )
        inner = f"<ul>{pairs}</ul>" if pairs else ""
        items.append(f'<li><a href="#{slug}">{html.escape(title)}</a>{inner}</li>')
    return "".join(items)


def _rendered(chapter, proofs):
    slug, title, topic, text = chapter
    if topic:
        return _topic(topic, text, proofs.get(title, {}))
    return _chapter(slug, title, text)


def _chapter(slug, title, text):
    link = functools.partial(_link, known=topics.topics())
    return (
        f'<section class="chapter" id="{slug}"><h2>{html.escape(title)}</h2>'
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


def _topic(topic, text, proofs):
    left, right = (path.read_text("utf-8") for path in (topic.v1, topic.v2))
    text = re.sub(r"(?m)^The pair: .*$", "", text)
    prose = markdown.to_html(text, functools.partial(_link, known=topics.topics()))
    prose = re.sub(  # a pair that the prose names is a way to it
        r"<code>({})</code>".format("|".join(map(re.escape, topic.pairs))),
        rf'<a href="#{topic.name}.\1"><code>\1</code></a>',
        prose,
    )
    sides = _Side(left), _Side(right)
    there = {block.name: block for block in blocks(right, topic.pairs)}
    pairs = [
        _pair(topic, block, there[block.name], sides, proofs.get(block.name))
        for block in blocks(left, topic.pairs)
        if block.name in there and block.name
    ]
    return (
        f'<section class="topic" id="{topic.name}"><h2>{topic.name}</h2>'
        f'<p class="lesson">{markdown.inline(topic.lesson)}</p>'
        f'<div class="prose">{prose}</div>{"".join(pairs)}</section>'
    )


def _pair(topic, block, other, sides, proof):
    anchor = f"{topic.name}.{block.name}"
    left, right = sides
    rows = align(left.lines, right.lines, block, other)
    docs = left.docs.get(block.name), right.docs.get(block.name)
    shared = docs[0] and docs[1] and left.text(docs[0]) == right.text(docs[1])
    ours, theirs, steps, last = [], [], {}, None
    for number, row in enumerate(rows, 1):
        style = f' style="--r:{number + 1}"'  # the first row says whose side it is
        if shared and row.same and row.left in docs[0] and row.right in docs[1]:
            if last != number - 1:  # what both sides say is one block
                ours.append(f'<span class="b"{style}>')
            ours[-1] += left.html(row.left)
            last = number
            continue
        marks, kind = ((), ()), " x"
        if row.left and row.right:
            a, b = left.lines[row.left - 1], right.lines[row.right - 1]
            marks, kind = _changed(a, b), "" if a.strip() == b.strip() else " z"
        anchored = ""
        step = row.left and STEP.match(left.lines[row.left - 1])
        if step:
            name = f"{anchor}.{_slug(step['step'])}"
            steps[name] = steps.get(name, 0) + 1
            name += f"-{steps[name]}" if steps[name] > 1 else ""
            anchored = f' id="{name}"'
        if row.left:
            code = left.html(row.left, marks[0])
            ours.append(f'<span class="l{kind}"{anchored}{style}>{code}')
        if row.right:
            code = right.html(row.right, marks[1])
            theirs.append(f'<span class="r{kind}"{style}>{code}')
    first = (right.lines[docs[1][0] - 1].strip().strip('"')) if docs[1] else ""
    return (
        f'<section class="pair" id="{anchor}"><h3><a href="#{anchor}">'
        f'<span class="of">{topic.name}.</span>{block.name}</a></h3>'
        f"<p>{markdown.inline(first)}</p>{_proof(proof)}"
        f'<div class="sides">{_head("l", "TensorFlow 1", block.name)}'
        f"<code>{_closed(ours)}</code>{_head('r', 'TensorFlow 2', block.name)}"
        f"<code>{_closed(theirs)}</code></div></section>"
    )


def _closed(spans):
    return "".join(f"{span}</span>" for span in spans)


def _head(side, title, name):
    return (
        f'<h4 class="{side}">{title} <button type="button" data-copy="{side}">copy'
        f'<span class="of"> {name} of {title}</span></button></h4>'
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
        return f'<p class="proof">{line}, {cases}</p>'
    items = "".join(f"<li>{note}</li>" for note in notes)
    return (
        f'<details class="proof"><summary>{line}, {cases}</summary>'
        f"<ul>{items}</ul></details>"
    )


class _Side:
    """One page: its lines, in colour."""

    def __init__(self, source):
        self.lines = source.splitlines()
        self.tokens = [[]]
        for kind, text in PythonLexer(stripnl=False).get_tokens(source):
            letter = next((letter for k, letter in KINDS if kind in k), "")
            for number, part in enumerate(text.split("\n")):
                if number:
                    self.tokens.append([])
                if part:
                    self.tokens[-1].append((part, letter))
        self.docs = {}
        for node in ast.parse(source).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                first = node.body[0]
                if ast.get_docstring(node):
                    self.docs[node.name] = range(first.lineno, first.end_lineno + 1)

    def text(self, numbers):
        return [self.lines[number - 1] for number in numbers]

    def html(self, number, marks=()):
        """A line as HTML; `marks` are the ranges of characters that changed."""
        out, start, run, kind = [], 0, "", None
        for text, letter in self.tokens[number - 1]:
            for piece, marked in _cut(text, start, marks):
                this = letter, marked
                if this != kind and not (not piece.strip() and not marked):
                    out.append(_wrapped(run, kind))
                    run, kind = "", this
                run += piece
            start += len(text)
        out.append(_wrapped(run, kind))
        return "".join(out) + "\n"


def _wrapped(text, kind):
    text = html.escape(text, quote=False)
    if not kind or not text:
        return text
    letter, marked = kind
    if letter:
        text = f'<i class="{letter}">{text}</i>'
    return f"<mark>{text}</mark>" if marked else text


def _cut(text, start, marks):
    """Cuts a token at the borders of the marks: (piece, whether it is marked)."""
    borders = {start, start + len(text)}
    for a, b in marks:
        borders |= {x for x in (a, b) if start < x < start + len(text)}
    borders = sorted(borders)
    for a, b in zip(borders, borders[1:]):
        yield text[a - start : b - start], any(x <= a and b <= y for x, y in marks)


def _changed(left, right):
    """The words that differ between two lines, as ranges of characters of each."""
    a, b = (re.findall(r"\w+|\s+|[^\w\s]", line) for line in (left, right))
    matcher = difflib.SequenceMatcher(lambda word: word.isspace(), a, b, False)
    marks = [], []
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            for words, start, stop, found in ((a, i, j, marks[0]), (b, k, m, marks[1])):
                text = "".join(words[start:stop])
                begin = len("".join(words[:start])) + len(text) - len(text.lstrip())
                if text.strip():
                    found.append((begin, begin + len(text.strip())))
    return marks
