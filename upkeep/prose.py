"""Lists the words and openings that make a reader stop, in all prose written by hand.

    python -m upkeep.prose [FILE …]    lists them, each with its line and the rule

Prose is Markdown without its code, and the docstrings, comments and messages of Python.
Generated parts are left out. The rules are about words, never about lengths or counts.
"""

import ast
import dataclasses
import fnmatch
import io
import pathlib
import re
import subprocess
import sys
import tokenize

ROOT = pathlib.Path(__file__).parents[1]
FILES = "*.md", "*.py"
# Generated files, recordings, programs as others wrote them, and old words to look for.
NOT_OURS = """
    guide/false-friends.md guide/names/* guide/timings.md */recorded/* */legacy/*
    */legacy_numerics.py upkeep/prose.py tf1to2/tests/*
""".split()


@dataclasses.dataclass(frozen=True)
class Rule:
    """Describes a wording to avoid, and the wording to use in its place."""

    pattern: str
    instead: str


START = r"(?:^ *|(?<=[.!?:] )|(?<=\*\*)|(?<=\| )|(?<=^- ))"  # of a sentence or a cell
NOUN = r" (?:an?|the|any|its|this|these|such|all)\b|[.,;:]"  # no participle
RULES = [
    Rule(r"\banew\b", "again"),
    Rule(r"\bstands?\b(?!-| for\b)", "is, or the verb that says what happens"),
    Rule(r"\bstood\b(?! for\b)", "was, or the verb that says what happens"),
    Rule(r"\b(?:tells?|told)\b", "says, gives, returns, passes"),
    Rule(r"\bbears?\b", "has, supports"),
    Rule(r"\bheed(?:s|ed)?\b", "supports, follows, uses"),
    Rule(r"\bspelt\b", "written"),
    Rule(r"\bfarther\b", "further, larger"),
    Rule(rf"\b(?:has|have) not\b(?={NOUN})", "does not have, do not have"),
    Rule(r"\bthat there (?:is|are) not\b", "missing, that does not exist"),
    Rule(r"\bis none\b", "does not exist, is not one"),
    Rule(r"\bin two classes\b", "TensorFlow 1 raises X, TensorFlow 2 raises Y"),
    Rule(r"\bstrangers?\b", "out-of-vocabulary"),
    Rule(r"\blikeliest\b", "most probable; greedy decoding"),
    Rule(r"\bin halves\b", "in float16, mixed precision"),
    Rule(START + r"What\b[^?|*]*?[.*](?!\w)", "the noun as the subject"),
    Rule(START + r"Who\b[^?|*]*?[.*](?!\w)", "the noun as the subject: you, a program"),
    Rule(START + r"Of an? \w+,", "a verb in place of the preposition: if, for, with"),
    Rule(START + r"By an? \w+,", "a verb in place of the preposition: if, when"),
    Rule(START + r"Parts\b", "partitions, shards"),
]
# Code, spans of code, targets of links, comments of HTML, headings, tags.
CODE = re.compile(
    r"(?ms)<!-- table .*?<!-- end -->|<!-- in short -->.*?<!-- end -->|"
    r"^ *```.*?^ *```|``.+?``|`[^`\n]*`|\]\([^)\n]*\)|<!--.*?-->|^#.*?$|<[^>\n]+>"
)
ARGUMENT = re.compile(r"(?m)^ +\*{0,2}\w+(?:, \*{0,2}\w+)*(?=: )")
WORDS = 3  # a string of fewer is a name, a key or a format


def found(path):
    """Yields (line from 1, words, rule) for each place in a file that breaks a rule."""
    text = path.read_text("utf-8")
    parts = [(1, text)]
    if path.suffix == ".py":
        # The strings of tests are names of cases and expected texts.
        strings = not path.name.startswith("test_") and "parity_tests" not in path.parts
        parts = [*_docstrings(text), *_comments(text)] + [*_strings(text)] * strings
    for first, part in parts:
        part = CODE.sub(lambda match: re.sub(r"[^\n]", "_", match[0]), part)
        for rule in RULES:
            for match in re.finditer(f"(?m){rule.pattern}", part):
                yield first + part.count("\n", 0, match.start()), match[0], rule


def _docstrings(text):
    """Yields (line from 1, text) of each docstring, without the names of arguments."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                yield node.lineno, ARGUMENT.sub("", node.value.value)


def _comments(text):
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


def _strings(text):
    """Yields (line from 1, text) of each string of three words or more."""
    tree = ast.parse(text)
    docs = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node not in docs:
            if isinstance(node.value, str) and len(node.value.split()) >= WORDS:
                yield node.lineno, node.value


def files():
    """The files of the project that have prose written by hand."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *FILES]
    names = subprocess.run(
        command, cwd=ROOT, capture_output=True, check=True, text=True
    )
    for name in names.stdout.splitlines():
        if not any(fnmatch.fnmatch(name, pattern) for pattern in NOT_OURS):
            yield ROOT / name


def main(arguments):
    count = 0
    for path in [pathlib.Path(name) for name in arguments] or files():
        for line, words, rule in sorted(found(path), key=lambda one: one[0]):
            count += 1
            print(f"{path}:{line}: {words!r}: write {rule.instead}")
    if count:
        sys.exit(f"{count} to rewrite: guide/maintaining/glossary.md says how")


if __name__ == "__main__":
    main(sys.argv[1:])
