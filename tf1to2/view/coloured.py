"""Colours Python source: each line as HTML."""

import ast
import difflib
import html
import re

from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String

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


class Coloured:
    """One module, with coloured lines.

    Attributes:
        lines: of the source.
        docs: {name at top level: range of the line numbers of its docstring}.
    """

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
        out, run, kind = [], "", None
        for piece, *this in self.pieces(number, marks):
            if this != kind and not (not piece.strip() and not this[1]):
                out.append(_wrapped(run, kind))
                run, kind = "", this
            run += piece
        out.append(_wrapped(run, kind))
        return "".join(out) + "\n"

    def pieces(self, number, marks=()):
        """Yields (text, letter of the colour or "", whether it is marked)."""
        start = 0
        for text, letter in self.tokens[number - 1]:
            for piece, marked in _cut(text, start, marks):
                yield piece, letter, marked
            start += len(text)


def _wrapped(text, kind):
    text = html.escape(text, quote=False)
    if not kind or not text:
        return text
    letter, marked = kind
    if letter:
        text = f"<i class={letter}>{text}</i>"
    return f"<mark>{text}</mark>" if marked else text


def _cut(text, start, marks):
    """Cuts a token at the ends of the marks; yields (piece, whether it is marked)."""
    borders = {start, start + len(text)}
    for a, b in marks:
        borders |= {x for x in (a, b) if start < x < start + len(text)}
    borders = sorted(borders)
    for a, b in zip(borders, borders[1:]):
        yield text[a - start : b - start], any(x <= a and b <= y for x, y in marks)


def changed(left, right):
    """Returns the ranges of characters that differ, in each of two lines."""
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
