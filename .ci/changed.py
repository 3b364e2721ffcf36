"""Says what a change touches, read off git and the sources of pages and proofs.

    .ci/changed.py [BASE]           the stems of the topics, one a line
    .ci/changed.py [BASE] --parts   which of the parts below, such as tools or page
    .ci/changed.py [BASE] --slow    the topics whose slow tests to run
    .ci/changed.py [BASE] --live    the topics to ask TensorFlow 1.15.5 again

The change is what differs between the commit BASE and the files as they are, committed
or not. Without BASE, the environment's SINCE is taken; "landed" is the newest first
parent that is three hours older than HEAD, for work lands within three hours. If BASE
is unknown, everything is touched.

Docstrings, comments and sentences in strings of Python, such as messages, touch no
topic: no number depends on them. The part "messages" has the slow tests of all topics
that quote a message. If a page computes with a sentence, its recording changes, too,
and touches it.
A change of the engine touches all topics. The quick tests ask each pair of each topic;
the slow tests and 1.15.5 are asked of every eighth topic, of others after each commit.
"""

import ast
import functools
import os
import pathlib
import re
import subprocess
import sys
import typing

from tf1to2.pages.page import undocumented

ROOT = pathlib.Path(__file__).resolve().parents[1]
HOURS = 3
SHARES = 8
PACKAGES = "v1_graph", "v2_eager", "v2_keras", "parity_tests"
# Beginnings of paths, as regular expressions. The engine proves every topic.
VERSIONS = r"setup\.cfg$|pyproject\.toml$|constraints\.txt$"
ENGINE = (
    rf"{VERSIONS}|tf1to2/(parity/|matching/|pages/page\.py)|"
    r"parity_tests/(__init__|conftest|timings)\.py$"
)
RUN = rf"{VERSIONS}|Makefile$|\.ci/"
ASKED = r"__init__|formulas|races|ranks|stand_ins|structure|v1|widening"  # on 1.15.5
ASKED = rf"tf1to2/parity/({ASKED})\.py$"
TOOLS = r"tf1to2/(?!catalog/calls\.tsv$)"  # every new pair has a row there
PARTS = {
    # v2_eager.numerics: the tests of `tf1to2 take` copy all of it.
    "tools": rf"{RUN}|{TOOLS}|upkeep/|examples/|README\.md$|v2_eager/numerics/",
    "wheel": rf"{RUN}|{TOOLS}|setup\.py$|MANIFEST\.in$|README|\.pre-commit",
    "page": rf"{RUN}|tf1to2/(view/|pages/|tests/(test_br|site))|guide/|[A-Z]+\.md$",
    "messages": rf"(({'|'.join(PACKAGES)})/|tf1to2/parity/).*\.py$",
    "clusters": RUN,  # and what touches the topic "distributed"
    "names": rf"{RUN}|(?=tf1to2/catalog/){TOOLS}|upkeep/(survey|api_walk)",
    "probes": rf"{ASKED}|upkeep/(kernels|probes)/|tf1to2/probes/",  # live, kernels too
}
TOPIC_OF_ROW = r"([a-z]\w*)\.\w+\t|[\d.]+\ttest_(\w+)\.py::"
TABLES = {
    f"parity_tests/{name}.tsv" for name in ("exceptions", "float32", "keras", "slow")
}
REASONS = "parity_tests/exceptions.py"
SENTENCE = re.compile(r"[a-z]{2,} [a-z]{2,}")  # not "ij, jk -> ik"


def git(*words):
    """The output of a git command; raises CalledProcessError or OSError."""
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def landed():
    """The newest first parent of HEAD that is `HOURS` older; "" if none exists."""
    newest = int(git("show", "-s", "--format=%ct", "HEAD")) - HOURS * 3600
    return git(
        "rev-list", "--first-parent", "-1", f"--min-age={newest}", "HEAD"
    ).strip()


def changed(base):
    """Paths of the files that differ from a commit, new and deleted ones, as a set."""
    paths = git("diff", "--name-only", "--no-renames", "-z", base, "--")
    paths += git("ls-files", "--others", "--exclude-standard", "-z")
    return set(filter(None, paths.split("\0")))


def has_same_code(base, path):
    """Whether a Python file differs from a commit only in words: see the top."""
    if not path.endswith(".py") or not (ROOT / path).exists():
        return False
    try:
        both = git("show", f"{base}:{path}"), (ROOT / path).read_text("utf-8")
        old, new = (ast.dump(silent(undocumented(ast.parse(text)))) for text in both)
    except (subprocess.CalledProcessError, SyntaxError):  # a new file
        return False
    return old == new


def silent(tree):
    """A syntax tree without its sentences, and without the arguments of exceptions."""

    class Silence(ast.NodeTransformer):
        def visit_Raise(self, node):
            if isinstance(node.exc, ast.Call):
                node.exc = node.exc.func
            return self.generic_visit(node)

        def visit_JoinedStr(self, node):
            parts = [part for part in node.values if isinstance(part, ast.Constant)]
            said = "value".join(part.value for part in parts)
            return ast.Constant("") if SENTENCE.search(said) else node

        def visit_Constant(self, node):
            said = node.value if isinstance(node.value, str) else ""
            return ast.Constant("") if SENTENCE.search(said) else node

    return Silence().visit(tree)


def stems():
    """The stems of all topics, sorted."""
    return sorted(path.stem for path in (ROOT / "v1_graph").glob("[a-z]*.py"))


def topics(base, paths):
    """Stems of the topics that `paths`, which differ from `base`, touch: (of their own,
    all that are touched), both sorted. The engine touches all."""
    paths = {path for path in paths if not has_same_code(base, path)}
    named = set()
    for table in TABLES & paths:
        rows = re.findall(
            r"(?m)^[+-](?![+-])(.*)", git("diff", "-U0", base, "--", table)
        )
        found = [re.match(TOPIC_OF_ROW, row) for row in rows]
        named |= {row and (row[1] or row[2]) for row in found}  # None: a header
    if REASONS in paths:
        old, new = git("show", f"{base}:{REASONS}"), (ROOT / REASONS).read_text("utf-8")
        named |= {None} if reader(old) != reader(new) else set()
    engine = None in named or any(re.match(ENGINE, path) for path in paths)
    own = [stem for stem in stems() if stem in named or paths & files(stem, paths)]
    return own, stems() if engine else own


def with_share(own):
    """`own`, and every eighth of all topics; others after each commit."""
    turn = int(git("rev-list", "--count", "HEAD")) % SHARES
    return sorted({*own, *stems()[turn::SHARES]})


def reader(text):
    """The text of exceptions.py without its reasons, which prove nothing."""
    return re.sub(r"(?ms)^REASONS = \{$.*?^\}$", "", text)


def files(stem, deleted=()):
    """Paths of a topic's pages, proofs, cases and recording, and of all modules that
    these import from this repository, but for the engine."""
    own = rf"({'|'.join(PACKAGES)})/(test_)?{stem}(\.py$|/)|.*/golden/{stem}\.npz$"
    found = {path for path in {*modules().values(), *deleted} if re.match(own, path)}
    waiting = list(found & set(modules().values()))
    while waiting:
        for path in imported(waiting.pop()) - found:
            if not re.match(ENGINE, path):
                found.add(path)
                waiting.append(path)
    return found


@functools.cache
def modules():
    """{dotted name: path} of the modules of this repository."""
    paths = [
        path
        for top in (*PACKAGES, "tf1to2", "upkeep")
        for path in ROOT.glob(f"{top}/**/*.py")
    ]
    paths = [path.relative_to(ROOT).as_posix() for path in paths]
    return {re.sub(r"(/__init__)?\.py$", "", p).replace("/", "."): p for p in paths}


@functools.cache
def imported(path):
    """Paths of the modules of this repository that a file imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:  # a module, or what a module defines
                inner = f"{node.module}.{alias.name}"
                names.add(inner if inner in modules() else node.module)
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {modules()[name] for name in names & modules().keys()}


def difference(base):
    """(the commit, paths of the files that differ from it); raises as `git`."""
    base = landed() if base == "landed" else base
    commit = git("rev-parse", "--verify", base + "^{commit}").strip()
    return commit, changed(commit)


class Touched(typing.NamedTuple):
    """The parts of the project that a change touches.

    Attributes:
        topics: their stems, as the others.
        parts: names of `PARTS`.
        slow: the topics whose slow tests to run.
        live: the topics to ask 1.15.5 again.
    """

    topics: list
    parts: list
    slow: list
    live: list


def touched(base):
    """The difference from a commit as `Touched`; everything if it is unknown."""
    try:
        commit, paths = difference(base)
        own, found = topics(commit, paths)
        slow = own if own == found else with_share(own)
        live = [stem for stem in own if f"parity_tests/golden/{stem}.npz" in paths]
        asked = (path for path in paths if re.match(ASKED, path))
        if not all(has_same_code(commit, path) for path in asked):
            live = with_share(live)
    except (OSError, subprocess.CalledProcessError) as error:
        why = getattr(error, "stderr", "").strip() or error
        print(f"the base {base!r} is unknown, all is touched: {why}", file=sys.stderr)
        return Touched(stems(), list(PARTS), stems(), stems())
    parts = {part for part in PARTS if any(re.match(PARTS[part], p) for p in paths)}
    parts |= {"clusters"} if "distributed" in found else set()
    return Touched(found, sorted(parts), slow, live)


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if not word.startswith("--")]
    asked = [word[2:] for word in sys.argv[1:] if word.startswith("--")] or ["topics"]
    (base,) = given or [os.environ.get("SINCE") or "landed"]
    print("".join(line + "\n" for line in getattr(touched(base), asked[0])), end="")
