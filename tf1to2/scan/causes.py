"""Groups findings by cause: each group is one piece of work.

Ninety reads of `FLAGS.x` need one edit, and a placeholder, its session and its feed
become one function. causes.tsv says which names belong to one cause.
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
    """A cause of findings, such as sessions or flags: one piece of work.

    Attributes:
        key: its name for programs.
        stage: 1 blocks the rest, 2 is ported step by step, 3 needs single lines.
        title: the TensorFlow 1 side: "sessions, placeholders".
        becomes: the TensorFlow 2 side: "functions and arguments".
        once: whether only the import needs an edit, not the uses of its names.
    """

    key: str
    stage: int
    title: str
    becomes: str
    once: bool = False


@dataclasses.dataclass(frozen=True)
class Work:
    """The findings of one cause, and the lines to edit and to check.

    Attributes:
        cause: `Cause`.
        findings: list of `Finding`.
        edit: set of the lines that must be edited.
        check: set of the other lines, whose meaning may have changed.
    """

    cause: Cause
    findings: list
    edit: set
    check: set

    @property
    def pair(self):
        """Returns the pair that most findings link to, or "" if no finding has one."""
        pairs = collections.Counter(
            f.entry.pair for f in self.findings if "." in f.entry.pair
        )
        return min(pairs, key=lambda pair: (-pairs[pair], pair), default="")


def works(findings):
    """Groups findings by cause into `Work` objects, the most urgent stage first.

    Returns:
        List of `Work`, sorted by stage, then by the number of lines.
    """
    groups = collections.defaultdict(list)
    for finding in findings:
        groups[cause(finding.entry)].append(finding)
    return sorted(
        (work(group, cause) for cause, group in groups.items()),
        key=lambda w: (w.cause.stage, -len(w.edit), -len(w.check), w.cause.key),
    )


def work(findings, cause=None):
    """Creates the `Work` for findings of one cause, or for all findings together."""
    edit = {_line(f) for f in findings if is_edited(f)}
    check = {_line(f) for f in findings if f.entry.verdict == "changed"}
    return Work(cause, findings, edit, check - edit)


def certain(entry):
    """Whether search and replace can port a name: its call needs only new names."""
    if entry.verdict != "renamed":
        return False
    by_name = not entry.write or NAME.fullmatch(entry.write)
    plain = all(c.how == "renamed" and not c.note for c in entry.changes)
    return bool(by_name and plain and not entry.note)


@functools.cache
def cause(entry):
    """Returns the `Cause` to which a catalog entry belongs."""
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
    """Whether the line of a finding still needs an edit after its import is edited."""
    if finding.entry.verdict == "changed":
        return False
    if ".FLAGS." in finding.entry.symbol:  # absl's flags do not have this attribute
        return True
    if not cause(finding.entry).once or IMPORT.match(finding.text):
        return True
    spelled = finding.text[finding.column - 1 : finding.end_column - 1]
    module = finding.entry.symbol.split(".")[1]
    return module in spelled.split(".")[1:]


@functools.cache
def _table():
    """Reads causes.tsv: returns ({name: Cause}, {topic: Cause}, {key: Cause})."""
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
