"""Which files of a project may take their flags from absl.

tf.flags read the command line when a flag was first asked for, absl only in `app.run`.
So a file may change if every program that reaches it calls `app.run`, and if it reads
no flag while it is imported.
"""

import pathlib
import re

from tf1to2.fix.sites import is_bound, is_deferred

PARSES = re.compile(
    rb"\b(?:(?:tf|tensorflow|absl|absl_app)\.)?(?:app\.run|test\.main|absltest\.main)\("
)
READS = re.compile(rb"\bFLAGS\b")
PROGRAM = re.compile(rb"__name__\s*==\s*['\"]__main__['\"]")
IMPORT = re.compile(
    rb"(?m)^[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import\b(?:[ \t]*\([^)]*\)|[^\n]*)"
)
# Before 1.5 a flag could be asked for otherwise.
OLDER = re.compile(rb"__flags\b|_parse_flags\b|__parsed\b|__dict__\['__wrapped")


class Flags:
    """The files of a project, and which of them absl has parsed the flags for.

    Args:
        sources: {path: bytes} of all files.
    """

    def __init__(self, sources):
        self.parsed = any(map(PARSES.search, sources.values()))
        self.lazy = _reached(sources) if self.parsed else set()

    def are_certain(self, path, tree, nodes):
        """Whether the flags are parsed before a file reads one.

        Args:
            path: of the file.
            tree: its `sites.Tree`.
            nodes: where it reads flags, or None where that cannot be told.
        """
        if not self.parsed or path in self.lazy or OLDER.search(tree.source):
            return False
        mentioned = [n for n in tree.words.get("FLAGS", ()) if not is_bound(n)]
        return all(
            node is not None and is_deferred(node) for node in [*nodes, *mentioned]
        )


def _reached(sources):
    """The files that a program reaches that does not call `app.run`.

    Modules are told by their last name alone, so these are rather too many.
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
    seen = set()
    while ahead:
        path = ahead.pop()
        if path not in seen:
            seen.add(path)
            ahead += [p for word in imported[path] for p in stems.get(word, ())]
    return seen


def _stem(path):
    path = pathlib.PurePath(path)
    return (path.parent.name if path.stem == "__init__" else path.stem).encode()
