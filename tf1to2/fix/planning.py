"""Collects the changes of all files of a project, and checks each result."""

import ast
import dataclasses
import pathlib
import re
import warnings

from tf1to2.fix import (
    absl,
    edits,
    imports,
    keras,
    keras_imports,
    marks,
    objects,
    renames,
    templates,
    unsafe,
)
from tf1to2.fix.documents import Document
from tf1to2.fix.flags import Flags
from tf1to2.fix.sites import Site, Tree
from tf1to2.scan import findings, judging
from tf1to2.source.names import faults
from tf1to2.source.names.syntax import Source
from tf1to2.source.notebooks import Unreadable

SAFE = (
    templates.change,
    renames.change,
    objects.dimension,
    objects.assignment,
    objects.scope,
    keras.change,
)

COMPAT = re.compile(rb"import\s+tensorflow\.compat\.v1|from\s+tensorflow\.compat\b")


@dataclasses.dataclass(frozen=True)
class Options:
    """The options of `fix` that select changes.

    Attributes:
        select, ignore: rules, as in `findings.scan`.
        old: whether the result must run on 1.15.5 as well.
        unsafe: whether to write changes that a person must review.
    """

    select: frozenset = frozenset()
    ignore: frozenset = frozenset()
    old: bool = False
    unsafe: bool = False


@dataclasses.dataclass(frozen=True)
class Fixed:
    """The result for one file.

    Attributes:
        path: the file.
        data: its new bytes; b"" if it does not change.
        shown: [(number of the cell or None, old text, new text)].
        changes: the number of changes.
        looks: how many of these a person must review.
        left: the findings that no change covers.
        takes: the names for `tf1to2 take` that the new lines import: frozenset of str.
        taken: the names of that file that the old lines import.
        reason: why the file does not change, or "".
        doubt: why its flags do not change, or "".
    """

    path: str
    data: bytes = b""
    shown: tuple = ()
    changes: int = 0
    looks: int = 0
    left: tuple = ()
    takes: frozenset = frozenset()
    taken: frozenset = frozenset()
    reason: str = ""
    doubt: str = ""


def plan(paths, excludes, options, progress=None):
    """Yields a `Fixed` for every file that uses TensorFlow 1 or could not be read.

    Args:
        paths, excludes: as in `findings.scan`.
        options: `Options`.
        progress: as in `findings.scan`.
    """
    files, project, unread = findings.read(paths, excludes, progress)
    flags = Flags(_sources(files))
    told = set()
    for path, reason in unread:
        told.add(path)
        yield Fixed(path, reason=reason)
    for file in files:
        if file.path in told or file.module is None or not file.module.uses:
            continue
        kept, _, _ = findings.of(file, project)
        if kept:
            asked = judging.asked(file, project)
            guards = {
                number
                for number, guard in enumerate(file.module.guards)
                if guard.kind != "if" or number in asked
            }
            yield _fixed(file.path, kept, guards, options, flags)


def _sources(files):
    """Reads all files into {path: bytes}; returns {} if no file uses flags."""
    modules = [file.module for file in files if file.module is not None]
    if not any("flags" in use.origin for module in modules for use in module.uses):
        return {}
    return {
        file.path: pathlib.Path(file.path).read_bytes()
        for file in files
        if file.module is not None
    }


def _fixed(path, kept, guards, options, flags):
    left = [finding for _, finding in kept if _is_asked(finding, options)]
    try:
        document = Document(path)
        tree = Tree(document.source)
        changes, added, left, doubt = _changes(path, tree, kept, guards, options, flags)
        taken = unsafe.taken(tree)
        if not changes:
            return Fixed(path, left=tuple(left), taken=taken, doubt=doubt)
        made = list(dict.fromkeys(e for one in (*changes, *added) for e in one.edits))
        text, shown = document.edited(made)
        fault = _fault(document.source, edits.apply(document.source, made))
        data = text.encode(document.encoding)
    except (Unreadable, UnicodeError, RecursionError) as error:
        return Fixed(path, left=tuple(left), reason=f"not changed: {error}")
    if fault:
        return Fixed(path, left=tuple(left), reason=f"not changed: {fault}")
    looks = sum(bool(one.looks) for one in changes)
    counts, takes = (len(changes), looks), unsafe.takes(changes)
    return Fixed(
        path, data, tuple(shown), *counts, tuple(left), takes, taken, doubt=doubt
    )


def _changes(path, tree, kept, guards, options, flags):
    """The changes of one file.

    Returns:
        ([`edits.Change`], [`edits.Change` of imports and marks], the findings that no
        change covers, why the flags do not change or "").
    """
    if tree.source != tree.original:  # the scanner had to repair it
        return [], [], [f for _, f in kept if _is_asked(f, options)], ""
    sites = [Site(tree, one) for one, _ in kept]
    reads = [site.node for site in sites if absl.is_read(site)]
    doubt = flags.doubt(path, tree, reads)
    of_absl = absl.Absl(tree, sites, not doubt)
    certain = [
        site
        for site, (one, finding) in zip(sites, kept, strict=True)
        if _is_asked(finding, options) and _is_plain(one, guards)
    ]
    of_keras = keras_imports.Imports(tree, [] if options.old else certain)
    compat = COMPAT.search(tree.source)
    found = []
    for site, (one, finding) in zip(sites, kept, strict=True):
        change = None
        if not _is_asked(finding, options):
            continue
        if _is_plain(one, guards) and site.node is not None:
            old = options.old or site.is_compat() or compat and site.origin == ".value"
            safe = (of_keras.change, of_absl.change, *(_with(k, old) for k in SAFE))
            kinds = (*(unsafe.UNSAFE if options.unsafe and not old else ()), *safe)
            change = next(filter(None, (kind(site) for kind in kinds)), None)
        if change or not (of_absl.follows(site) or of_keras.follows(site)):
            found.append((change, site, finding))
    changes = edits.compatible([change for change, _, _ in found if change])
    made = [edit for one in changes for edit in one.edits]
    left = [
        finding
        for change, site, finding in found
        if change in changes
        and change.rest
        or change not in changes
        and not any(_lies_in(site.node, e) for e in made)
    ]
    modules = {name for change in changes for name in change.imports}
    added = [e for e in (imports.added(tree, modules),) if e]
    added += marks.marks(tree, changes)
    flagged = any(absl.is_of_flags(finding.entry.symbol) for finding in left)
    return changes, [edits.Change(tuple(added))], left, doubt if flagged else ""


def _lies_in(node, edit):
    """Whether an edit removes or replaces a node."""
    return node and edit.start <= node.start_byte and node.end_byte <= edit.end


def _with(kind, old):
    return lambda site: kind(site, old)


def _is_asked(finding, options):
    rules = finding.rules
    return not rules & options.ignore and (not options.select or rules & options.select)


def _is_plain(one, guards):
    """Returns whether a use is certain and not in code for both TensorFlow versions."""
    return not one.likely and not any(number in guards for number, _ in one.use.guards)


def _fault(before, after):
    """Explains why an edited source is not valid Python; "" if it is valid."""
    place = faults.first(Source(after))
    if place:
        return f"line {place[0]} would not be valid Python"
    if _is_python3(before) and not _is_python3(after):
        return "the result would not be valid Python 3"
    return ""


def _is_python3(source):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
