"""Fills the generated parts of `guide/<topic>.md`: "In short", and pairs as code.

The part between `<!-- in short -->` and `<!-- end -->` has the lines of both sides of
the chapter's pair in `examples/in_short`.

The part between `<!-- table pairs: NAME … -->` and `<!-- end -->` has for each name a
heading, a description, and the code of both sides with the definitions of the pages
that it needs, each once in a chapter. Long code is folded. Definitions of other pages
are imported from the file that `tf1to2 take` writes. The last column of the chapter's
table, which names the pairs, links to these headings, or to the right page.
"""

import ast
import functools
import os
import pathlib
import re
import textwrap

from tf1to2.pages import docstrings, library, topics
from tf1to2.pages.definitions import Definition, Import, needed
from tf1to2.view import take

SIDES = [library.SIDES[package] for package in library.PACKAGES]
SHOWN = re.compile(r"(?s)(<!-- table pairs: ([^\n]+) -->\n).*?(?=<!-- end -->)")
IN_SHORT = re.compile(r"(?s)(<!-- in short -->\n).*?(?=<!-- end -->)")
EXAMPLES = pathlib.Path(__file__).parents[1] / "examples" / "in_short"
LINE = re.compile(r"\[`(\w+)`\]\([\w./]*v2_eager/[\w./]*#L\d+\)")  # of a pair
LINES = re.compile(r"(?s) *# \[in short\n(.*?) *# in short\]")
# A row of a table whose last cell names pairs, as code or as links.
ROW = re.compile(r"(?m)^(\|.*\| )((?:,? ?(?:\[`\w+`\]\([^)]*\)|`\w+`))+)( \|)$")
LONG = 60  # a function with more lines is folded
WIDTH = 88
SHORT = 12  # helpers with fewer lines are not folded


def filled(path):
    """Returns a file's text with its generated parts updated, if it has any."""
    path = pathlib.Path(path)
    topic = topics.topics().get(path.stem)
    text = path.read_text("utf-8")
    text = IN_SHORT.sub(lambda match: match[1] + in_short(path.stem), text)
    if topic is None or path.parent.name != "guide":
        return text
    found = SHOWN.search(text)
    shown = found[2].split() if found else []
    text = SHOWN.sub(lambda match: match[1] + pairs(topic, shown), text)
    return linked(text, topic, shown, path.parent)


def by_hand(text):
    """A text without its generated code."""
    return IN_SHORT.sub(r"\1", SHOWN.sub(r"\1", text))


def in_short(chapter):
    """Formats both sides of a chapter's pair in `examples/in_short` as Markdown."""
    sides = []
    for title, folder in zip(SIDES, ("legacy", "ported"), strict=True):
        source = (EXAMPLES / folder / f"{chapter}.py").read_text("utf-8")
        names = {name: name.rpartition(".")[2] for name in taken(chapter)}
        above = imported(names) if folder == "ported" else ""
        lines = [f"{above}\n"] if above else []
        code = "\n".join([*lines, *map(textwrap.dedent, LINES.findall(source))])
        sides.append(f"**{title}**\n\n```python\n{code.rstrip()}\n```\n")
    return "\n".join(sides)


def taken(chapter):
    """Lists the names that the ported example imports, as full names for `take`."""
    source = (EXAMPLES / "ported" / f"{chapter}.py").read_text("utf-8")
    names = [
        alias.name
        for node in ast.parse(source).body
        if isinstance(node, ast.ImportFrom) and node.module == "legacy_numerics"
        for alias in node.names
    ]
    known = {}
    for name in take.available():  # numerics before pages
        known.setdefault(name.rpartition(".")[2], name)
    own = {name: f"{chapter}.{name}" for name in names}
    return [own[n] if own[n] in take.available() else known[n] for n in names]


def imported(names):
    """Writes the `take` command, and the imports from the file that it makes.

    Args:
        names: {name of `take`: what follows "import"}.
    """
    if not names:
        return ""
    command = f"# tf1to2 take {' '.join(names)} --output-file legacy_numerics.py"
    short = sorted(names.values(), key=_in_order)
    code = f"from legacy_numerics import {', '.join(short)}"
    if len(code) > WIDTH:
        lines = "".join(f"    {name},\n" for name in short)
        code = f"from legacy_numerics import (\n{lines})"
    command = textwrap.fill(
        command, WIDTH, subsequent_indent="#     ", break_on_hyphens=False
    )
    return f"{command}\n{code}"


def _in_order(name):
    """Sort key for names, in the order of isort: constants, classes, functions."""
    return not name.isupper(), not name[0].isupper(), name


def linked(text, topic, shown, folder):
    """Updates the links to pairs in a chapter's text."""

    def link(match):
        name = match[1]
        if name not in topic.pairs:
            return match[0]
        return f"[`{name}`]({_target(topic, name, shown, folder)})"

    def row(match):
        plain = re.sub(r"\[(`\w+`)\]\([^)]*\)", r"\1", match[2])
        return match[1] + re.sub(r"`(\w+)`", link, plain) + match[3]

    return LINE.sub(link, ROW.sub(row, text))


def _target(topic, name, shown, folder):
    if name in shown:
        return f"#{name}"
    right = library.pairs()[f"{topic.name}.{name}"][1]
    path = os.path.relpath(right.module.path, folder)
    line = library.files().module(right.module.name).definitions[name].node.lineno
    return f"{pathlib.Path(path).as_posix()}#L{line}"


def pairs(topic, names):
    """Formats pairs as code, one below the other.

    Args:
        topic: of `topics.topics()`.
        names: list of its pairs. A shared helper appears below the first of them.

    Returns:
        Markdown: for each pair a heading, its docstring's first line, and its sides.
    """
    both = [library.pairs()[f"{topic.name}.{name}"] for name in names]
    sides = [
        _Side(title, definitions)
        for title, definitions in zip(SIDES, zip(*both, strict=True), strict=True)
    ]
    parts = []
    for name, (left, right) in zip(names, both, strict=True):
        parts.append(f"### {name}\n\n{right.first_line}\n\n")
        parts.append(_once(sides[0].shown(left), left, right))
        parts.append(sides[1].shown(right))
    return "".join(parts).rstrip() + "\n"


def _once(text, left, right):
    """Shortens the left docstring to one line if the right one repeats the rest."""
    said = [docstrings.parts(side.docstring).items() for side in (left, right)]
    whole = ast.get_docstring(left.node, clean=False)
    return text.replace(whole, left.first_line) if said[0] <= said[1] else text


class _Side:
    """One side of a chapter's pairs, which remembers what it has shown."""

    def __init__(self, title, definitions):
        self.title, self.definitions = title, definitions
        self.called = take.naming(*needed(definitions), first=definitions)
        self.first = set(definitions)
        self.own = {definition.module for definition in definitions}
        self.known = {}  # {name in the chapter: the section that shows it}

    def shown(self, definition):
        """Formats a definition, and its helpers that were not shown before.

        Definitions of other pages are imported from the file that `take` writes.
        """
        helpers = [
            part
            for part in needed([definition], follows=self._is_shown)[0]
            if part not in self.first and self.called[part] not in self.known
        ]
        text = f"**{self.title}**\n\n" + self._above([*helpers, definition])
        for part in [*helpers, definition]:
            self.known[self.called[part]] = definition.name
        if sum(map(_lines, helpers)) <= SHORT:
            return text + self._code([*helpers, definition], _lines(definition) > LONG)
        names = ", ".join(f"`{self.called[part]}`" for part in helpers[-4:])
        more = len(helpers) - 4
        names += f" and {more} more" if more > 0 else ""
        return (  # in an order that runs
            text
            + self._code(helpers, f"{self.title}: it needs {names}")
            + self._code([definition], _lines(definition) > LONG)
        )

    def _is_shown(self, what):
        """Whether a definition is in the chapter's own pages, or unknown to `take`."""
        return what.module in self.own or what not in _takes()

    def _above(self, parts):
        """Links to the sections that show the needed names; "" if there are none."""
        own = {self.called[part] for part in parts}
        sections = {}
        for part in parts:
            for _, what in part.references:
                name = self.called.get(what)
                if name is None or name in own or not self._is_shown(what):
                    continue
                section = self.known.get(name, what.name)
                sections.setdefault(section, {})[f"`{name}`"] = None
        if not sections:
            return ""
        told = [f"{', '.join(n)} of [{s}](#{s})" for s, n in sections.items()]
        return f"It needs {' and '.join(told)}.\n\n"

    def _imported(self, parts):
        """The `take` command and imports for needed definitions of other pages."""
        used = {
            what: None
            for part in parts
            for _, what in part.references
            if isinstance(what, Definition) and not self._is_shown(what)
        }
        called = take.naming(*needed(list(used)))
        names = {
            _takes()[what]: called[what]
            if called[what] == self.called[what]
            else f"{called[what]} as {self.called[what]}"
            for what in used
        }
        return imported(dict(sorted(names.items())))

    def _code(self, parts, folded):
        imports = {
            what.statement: what
            for part in parts
            for _, what in part.references
            if isinstance(what, Import)
        }
        imports = [imports[statement] for statement in sorted(imports)]
        code = take.code(parts, imports, self.called, self._imported(parts))
        code = re.sub(r"(?m)^ +# --- .+\n", "", code)
        block = f"```python\n{code}```\n\n"
        if not folded:
            return block
        count = code.count("\n")
        title = folded if isinstance(folded, str) else self.title
        title = re.sub(r"`(\w+)`", r"<code>\1</code>", title)
        return (
            f"<details><summary>{title}, {count} lines</summary>\n\n"
            f"{block}</details>\n\n"
        )


@functools.cache
def _takes():
    """Maps each definition that `take` can write to its name for `take`."""
    there = {**take.assigned(), **take.available()}
    return {definition: name for name, definition in there.items()}


def _lines(part):
    return part.stop - part.start
