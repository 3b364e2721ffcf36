"""Decides which files of a project may use absl's flags.

tf.flags parsed the command line when a program first read a flag; absl parses it only
in `app.run`. So a file may change if every program that imports it calls `app.run`, and
if it reads no flag at import.
"""

import pathlib
import re

from tf1to2.catalog import verdicts
from tf1to2.fix.sites import is_bound, is_deferred

PARSES = re.compile(
    rb"\b(?:(?:tf|tensorflow|absl|absl_app)\.)?(?:app\.run|test\.main|absltest\.main)\("
)
READS = re.compile(rb"\bFLAGS\b")
PROGRAM = re.compile(rb"__name__\s*==\s*['\"]__main__['\"]")
IMPORT = re.compile(
    rb"(?m)^[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import\b(?:[ \t]*\([^)]*\)|[^\n]*)"
)
# Other ways to read a flag before 1.5.
OLDER = re.compile(rb"__flags\b|_parse_flags\b|__parsed\b|__dict__\['__wrapped")


class Flags:
    """Finds the files that may read flags before absl parses the flags.

    Args:
        sources: {path: bytes} of all files.
    """

    def __init__(self, sources):
        self.parsed = any(map(PARSES.search, sources.values()))
        self.lazy = _reached(sources) if self.parsed else {}

    def doubt(self, path, tree, nodes):
        """Explains why a file may read a flag before absl parses the flags.

        Args:
            path: of the file.
            tree: its `sites.Tree`.
            nodes: where it reads flags; None for a read whose node is unknown.

        Returns:
            The reason, and what to write; "" if flags are parsed before every read.
        """
        if not self.parsed:
            return "no program here calls app.run, which parses absl's flags"
        if path in self.lazy:
            by = self.lazy[path]
            if by == path:
                return "it may be run as a program, and does not call app.run"
            return f"{by} imports it, and does not call app.run"
        if older := OLDER.search(tree.source):
            line = tree.source.count(b"\n", 0, older.start()) + 1
            name = older[0].decode()
            row = verdicts.row(f"tf.flags.FLAGS.{name}")
            return f"line {line} uses {name}: write {row.write if row else 'absl'}"
        mentioned = [n for n in tree.words.get("FLAGS", ()) if not is_bound(n)]
        for node in [*nodes, *mentioned]:
            if node is None:
                return "it reads flags in a place that fix did not find"
            if not is_deferred(node):
                line = node.start_point[0] + 1
                return f"line {line} reads a flag at import: read it in a function"
        return ""


def _reached(sources):
    """Maps each file that a program without `app.run` reaches to that program.

    Modules are compared by their last name only, so the result may have too many files.
    """
    imported = {
        path: set(re.findall(rb"\w+", b" ".join(IMPORT.findall(source))))
        for path, source in sources.items()
    }
    stems = {}
    for path in sources:
        stems.setdefault(_stem(path), []).append(path)
    wanted = set().union(*imported.values())
    ahead = [
        path
        for path, source in sources.items()
        if not PARSES.search(source)
        and (PROGRAM.search(source) or _stem(path) not in wanted)
        and not path.endswith("__init__.py")
    ]
    ahead, seen = [(path, path) for path in ahead], {}
    while ahead:
        path, program = ahead.pop()
        if path not in seen:
            seen[path] = program
            more = [p for word in imported[path] for p in stems.get(word, ())]
            ahead += [(one, program) for one in more]
    return seen


def _stem(path):
    path = pathlib.PurePath(path)
    return (path.parent.name if path.stem == "__init__" else path.stem).encode()
