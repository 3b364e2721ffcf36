"""The words and openings that make a reader stop, in all prose that is written by hand.

    python -m upkeep.words [FILE …]    lists them, each with its line and the rule

Code and what is made by machine is left out. The rules are about words, never about
how long or how many.
"""

import dataclasses
import pathlib
import re
import sys

from upkeep import chapters

ROOT = pathlib.Path(__file__).parents[1]
FILES = "*.md", "guide/*.md", "guide/maintaining/*.md", "examples/**/*.md"
MADE = "guide/false-friends.md", "guide/names/*.md", "guide/timings.md"


@dataclasses.dataclass(frozen=True)
class Rule:
    """What not to write, and what to write in its place."""

    pattern: str
    instead: str


START = r"(?:^|(?<=[.!?:] )|(?<=\*\*)|(?<=\| )|(?<=^- ))"  # of a sentence or a cell
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
# What is no prose: code, spans of code, links' targets, comments of HTML, headings.
CODE = re.compile(
    r"(?ms)<!-- table .*?<!-- end -->|"
    r"^ *```.*?^ *```|``.+?``|`[^`\n]*`|\]\([^)\n]*\)|<!--.*?-->|^#.*?$|<[^>\n]+>"
)


def prose(text):
    """A text in which all that is no prose is blank, with the same lines."""
    return CODE.sub(lambda match: re.sub(r"[^\n]", "_", match[0]), text)


def found(text):
    """Yields (line from 1, the words, the rule) of what a reader would stop at."""
    text = prose(text)
    for rule in RULES:
        for match in re.finditer(f"(?m){rule.pattern}", text):
            yield text.count("\n", 0, match.start()) + 1, match[0], rule


def files():
    """The Markdown that is written by hand."""
    made = {path for pattern in MADE for path in ROOT.glob(pattern)}
    paths = {path for pattern in FILES for path in ROOT.glob(pattern)} - made
    return sorted(path for path in paths if "recorded" not in path.parts)


def main(arguments):
    count = 0
    for path in [pathlib.Path(name) for name in arguments] or files():
        text = path.read_text("utf-8")
        kept = chapters.by_hand(text)
        # The lines of the file itself, not of the text without what is made.
        for line, words, rule in sorted(found(kept), key=lambda one: one[0]):
            shown = kept.splitlines()[line - 1]
            number = text[: text.find(shown)].count("\n") + 1
            count += 1
            print(f"{path}:{number}: {words!r}: write {rule.instead}")
    if count:
        sys.exit(f"{count} to rewrite: guide/maintaining/words.md has before and after")


if __name__ == "__main__":
    main(sys.argv[1:])
