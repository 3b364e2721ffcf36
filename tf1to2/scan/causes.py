"""Why findings are there: the pieces of work that they are, and what each takes.

Ninety reads of `FLAGS.x` are one line to edit, and a placeholder, its session and its
feed are one function to write. causes.tsv says which names make one piece of work.
"""

import collections
import dataclasses
import functools
import pathlib
import re

from tf1to2.common import tsv

ONCE = "once: "
IMPORT = re.compile(r"\s*(from|import)\b")
NAME = re.compile(r"\.?\w+(\.\w+)*")


@dataclasses.dataclass(frozen=True)
class Cause:
    """A piece of work.

    Attributes:
        key: its name for programs.
        stage: 1 blocks the rest, 2 is ported part by part, 3 is a matter of lines.
        title: what there is now.
        becomes: what takes its place.
        once: whether an import is edited, and what is reached through it stays.
    """

    key: str
    stage: int
    title: str
    becomes: str
    once: bool = False


@dataclasses.dataclass(frozen=True)
class Work:
    """The findings of one cause, and their weight.

    Attributes:
        cause: `Cause`.
        findings: list of `Finding`.
        edit: set of the lines that must be edited.
        check: set of the other lines, which mean something else now: look at them.
    """

    cause: Cause
    findings: list
    edit: set
    check: set

    @property
    def pair(self):
        """The pair that most of the findings lead to, or ""."""
        pairs = collections.Counter(
            f.entry.pair for f in self.findings if "." in f.entry.pair
        )
        return min(pairs, key=lambda pair: (-pairs[pair], pair), default="")


def works(findings):
    """The pieces of work that findings make, what blocks most first.

    Returns:
        List of `Work`: by stage, and within it the one with most lines first.
    """
    groups = collections.defaultdict(list)
    for finding in findings:
        groups[cause(finding.entry)].append(finding)
    return sorted(
        (work(group, cause) for cause, group in groups.items()),
        key=lambda w: (w.cause.stage, -len(w.edit), -len(w.check), w.cause.key),
    )


def work(findings, cause=None):
    """The `Work` of one cause, or of all findings together."""
    edit = {_line(f) for f in findings if is_edited(f)}
    check = {_line(f) for f in findings if f.entry.verdict == "changed"}
    return Work(cause, findings, edit, check - edit)


def certain(entry):
    """Whether search and replace does it: another name, and the call stays as it is."""
    if entry.verdict != "renamed":
        return False
    by_name = not entry.write or NAME.fullmatch(entry.write)
    plain = all(c.how == "renamed" and not c.note for c in entry.changes)
    return bool(by_name and plain and not entry.note)


@functools.cache
def cause(entry):
    """The `Cause` of what is said of a name."""
    named, topics, causes = _table()
    symbol = entry.symbol
    if entry.verdict == "private":
        return causes["private"]
    if certain(entry):
        return causes["names"]
    while symbol and symbol not in named:
        symbol = symbol.rpartition(".")[0]
    if symbol and symbol != "tf.contrib":
        return named[symbol]
    return topics.get(entry.topic, named.get(symbol, causes["others"]))


def _line(finding):
    return finding.path, finding.cell, finding.line


def is_edited(finding):
    """Whether the line must be edited, when what it imports has been."""
    if finding.entry.verdict == "changed":
        return False
    if ".FLAGS." in finding.entry.symbol:  # what absl's flags do not have
        return True
    if not cause(finding.entry).once or IMPORT.match(finding.text):
        return True
    spelled = finding.text[finding.column - 1 : finding.end_column - 1]
    module = finding.entry.symbol.split(".")[1]
    return module in spelled.split(".")[1:]


@functools.cache
def _table():
    """({name: Cause}, {topic: Cause}, {key: Cause}) of causes.tsv."""
    named, topics, causes = {}, {}, {}
    path = pathlib.Path(__file__).with_name("causes.tsv")
    for row in tsv.rows(path):
        becomes = row["becomes"].removeprefix(ONCE)
        once = becomes != row["becomes"]
        found = Cause(row["cause"], int(row["stage"]), row["title"], becomes, once)
        causes[found.key] = found
        for name in row["names"].split():
            (named if "." in name else topics)[name] = found
    return named, topics, causes
