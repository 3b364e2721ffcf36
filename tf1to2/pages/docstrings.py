"""Docstrings of pairs: complete on the left, only the differences on the right.

In the file of a right page, or of a Keras page, the docstring of a pair has only the
first line, and those paragraphs and entries that the left page does not have. Commands
that show or copy such a page add the rest from the left page.
"""

import ast
import re
import textwrap

LISTS = "Args", "Raises"
"""The sections that have entries, `name: what it is`."""
ORDER = "", "Args", "Returns", "Raises"
"""The names of the sections; "" is the paragraphs before them."""


def parts(docstring):
    """Splits a docstring into paragraphs, entries and sections.

    Args:
        docstring: its text, without indentation.

    Returns:
        {(section, name): text}, without the first line. The section of paragraphs is
        "", and a paragraph's name its text. Of "Args" and "Raises", each entry is a
        part; any other section is one, with the name "".
    """
    found = {}
    body = docstring.partition("\n")[2]
    for text in re.split(r"(?m)^(?=[A-Z]\w+:$)", body):
        head = re.match(r"([A-Z]\w+):\n", text)
        section = head[1] if head else ""
        text = text[head.end() :].strip("\n") if head else text
        if section in LISTS:
            entries = re.split(r"\n(?=    \S)", text)
            found |= {(section, e.partition(":")[0].strip()): e for e in entries}
        elif section:
            found[section, ""] = text
        else:
            paragraphs = filter(None, re.split(r"\n\n+", text.strip("\n")))
            found |= {("", paragraph): paragraph for paragraph in paragraphs}
    return found


def whole(left, right):
    """Builds the complete docstring of a pair's right side.

    Args:
        left: the docstring of the left side, without indentation.
        right: that of the right side, also without indentation. Its paragraphs come
            after those of the left side; an entry, or `Returns`, replaces the left one
            of the same name, or is added.

    Returns:
        The text.
    """
    return written(right.partition("\n")[0], {**parts(left), **parts(right)})


def written(first, found):
    """Joins a first line and the parts of `parts` to one docstring."""
    blocks = [first]
    for section in dict.fromkeys([*ORDER, *(section for section, _ in found)]):
        texts = [text for (where, _), text in found.items() if where == section]
        if not section:
            blocks += texts
        elif texts:
            blocks.append("\n".join([f"{section}:", *texts]))
    return "\n\n".join(blocks)


def completed(source, lefts):
    """Completes the docstrings of all pairs in the text of a right page.

    Args:
        source: its text.
        lefts: {name: docstring of the left side, without indentation} of the pairs.

    Returns:
        The text.
    """
    lines = source.split("\n")
    for node in reversed(ast.parse(source).body):
        left = isinstance(node, ast.FunctionDef) and lefts.get(node.name)
        right = left and ast.get_docstring(node)
        if right and (text := whole(left, right)) != right:
            place = node.body[0]
            indent = " " * place.col_offset
            text = text.replace("\\", "\\\\").replace('"""', '\\"""')
            text = textwrap.indent(f'"""{text}\n"""', indent)
            lines[place.lineno - 1 : place.end_lineno] = text.split("\n")
    return "\n".join(lines)
