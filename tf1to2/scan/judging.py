"""Decides which uses in a file are findings: skips guarded code and TensorFlow 2."""

import collections
import dataclasses
import functools
import typing

from tf1to2.catalog import entries, keras_uses
from tf1to2.scan import flag_reads
from tf1to2.source.names import guards, methods, records

# Verdicts that do not show for which version a file was written.
NEUTRAL = ("same", "changed", "private")
LIVING = ("same", "changed")  # verdicts of names that TensorFlow 2 has
OF_V2_ALONE = ".compat.v2.enable_v2_behavior"  # tf itself does not have it
# Methods that count for any object made by TensorFlow, even if its class is unknown.
ANYBODYS = {"eval", "initializer"}


class Judged(typing.NamedTuple):
    """A use of a TensorFlow name, with the catalog entry for that name.

    Attributes:
        use: `records.Use`.
        entry: `catalog.Entry`.
        origin: the name in TensorFlow.
        likely: whether only the name of the object suggests this origin.
    """

    use: records.Use
    entry: entries.Entry
    origin: str
    likely: bool


def judge(file, project, everything=False):
    """Judges the uses of a file, and returns the findings.

    Args:
        file: `reading.File`.
        project: `project.Project`.
        everything: whether false friends also count in files of TensorFlow 2.

    Returns:
        (list of `Judged`, number of uses that a guard excused).
    """
    known, judged = {}, []
    hyphens = project.hyphenated()
    for use in file.module.uses:
        if use.origin not in known:
            known[use.origin] = list(project.origins(file, use.origin))
        found = _judged(use, known[use.origin])
        if found and hyphens:
            text = file.lines[use.line][use.column - 1 :]
            entry = flag_reads.judge(found.entry, found.origin, hyphens, text)
            found = found._replace(entry=entry)
        if found:
            judged.append(found)
    excused = _excused(file.module.guards, judged, asked(file, project))
    found = [
        one
        for number, one in enumerate(judged)
        if one.entry.verdict != "same" and number not in excused
        if not (_is_of_v2(one.origin) and _is_meant(one))
    ]
    proven = any(_proves(one, file) for one in found)
    findings = [
        one
        for one in found
        if proven
        or not one.likely
        and (everything or not _is_ambiguous(one) or _says_which(one.origin))
    ]
    return findings, len(excused)


def asked(file, project):
    """Returns the indices, in `file.module.guards`, of guards that check a version."""
    return {
        number
        for use in file.module.uses
        for number, side in use.guards
        if side == "test" and any(map(_asks, project.origins(file, use.origin)))
    }


def _judged(use, origins):
    for origin in origins:
        entry = _entry(origin, use)
        if entry is not None and (not use.by_kind or _counts(use, entry)):
            return Judged(use, entry, origin, False)
    if use.likely:
        entry = _entry(use.likely, use)
        if entry is not None:
            return Judged(use, entry, use.likely, not use.likely.startswith("."))
    return None


def _counts(use, entry):
    """Whether an entry has a change for the kind of an argument in the use's call."""
    kinds = {kind for _, kind in use.call.kinds}
    return any(change.passed in kinds for change in entry.changes)


def _entry(origin, use):
    if origin.startswith("."):
        return _general(origin[1:])
    name = records.public(origin)
    if not name.startswith(records.BELOW) or name.endswith(guards.ASKED):
        return None
    if origin == use.likely:
        owner, _, attribute = name.rpartition(".")
        return _member(owner, attribute, use)
    if "()" in name or "[]" in name:
        member = methods.member(name)
        return member and _member(*member, use)
    if _is_of_keras(origin, use):
        if found := keras_uses.of(origin, use.call, use.imported):
            return found.entry
    symbol = records.symbol(name)
    entry = _looked_up(symbol, use.call)
    if entry is not None and use.imported and entry.verdict == "changed":
        return None  # the code that uses the imported name is another use
    if entry is not None and use.bare:
        if entry.kind == "module":
            return None  # the import is the finding
        if entry.symbol not in (symbol, "tensorflow" + symbol[2:]):
            return None  # the value of FLAGS.x; the read is the finding
    return entry


def _is_of_keras(origin, use):
    """Whether a use refers to the keras package, and is not just a bare word."""
    alone = use.bare and not use.origin.startswith("*")
    return keras_uses.is_of_the_package(origin) and not alone


def _member(owner, name, use):
    """Returns the entry of a class member, or None if the member is no finding."""
    if name in methods.KERAS_ALONE and owner and ".keras." not in owner:
        return None  # the class is already a finding
    symbol = f"tf{owner.removeprefix('tensorflow')}.{name}"
    of = entries.lookup(symbol.rpartition(".")[0]) if owner else None
    own = _looked_up(symbol, use.call) if owner and entries.is_listed(symbol) else None
    if own is not None and own.verdict not in (*LIVING, "removed"):
        return own
    gone = (
        name in methods.UNMISTAKABLE
        or (name in ANYBODYS and (own is not None or not owner))
        or owner in methods.OLD
        or of is not None
        and of.verdict not in NEUTRAL
        and (own is not None or of.kind != "class")
    )
    general = _general(name) if gone else None
    if own is None or general is None:
        return own or general
    return dataclasses.replace(general, symbol=symbol)


def _general(name):
    """Returns the entry of a method when the object's class is unknown, or None."""
    usual = methods.CLASSES.get(name, "").removeprefix("tensorflow")
    return entries.lookup("." + name) or (
        entries.lookup(f"tf{usual}.{name}") if usual else None
    )


@functools.cache
def _looked_up(symbol, call):
    return entries.judge(symbol, call)


def _asks(origin):
    """Whether a name checks TensorFlow's version or whether another name exists."""
    name = records.public(origin)  # `tf.__version__`, and methods called on it
    versions = [v for v in guards.VERSIONS if name == v or name.startswith(f"{v}.")]
    return bool(versions) or origin.endswith(guards.ASKED)


def _excused(guarded, judged, asked):
    """Returns the indices, in `judged`, of uses in branches for TensorFlow 1 only.

    A guard excuses a branch if TensorFlow 2 has all names of the other branch.
    """
    sides = collections.defaultdict(lambda: collections.defaultdict(list))
    for number, one in enumerate(judged):
        for guard, side in one.use.guards:
            sides[guard][side].append(number)
    excused = set()
    for number in sorted(sides, reverse=True):  # inner guards first
        guard, branches = guarded[number], sides[number]
        if guard.kind == "if" and number not in asked:
            continue

        def dying(side, branches=branches):
            return [
                n
                for n in branches[side]
                if judged[n].entry.verdict not in LIVING and n not in excused
            ]

        if guard.kind == "try" and branches["try"] and not dying("try"):
            excused.update(n for n in branches["handler"] if _is_by_keras(judged[n]))
        others = {"yes": "no", "no": "yes", "try": "handler"}
        for side in guard.excusable:
            if not dying(others[side]):
                if guard.calls and not branches["handler"]:
                    continue  # the handler only hides the error
                excused.update(
                    n for n in branches[side] if judged[n].entry.verdict != "same"
                )
    return excused


def _is_compat(origin):
    return ".compat.v1" in origin


def _is_of_v2(origin):
    """Whether a name is in tf.compat.v2, which has TensorFlow 2's names."""
    return ".compat.v2" in origin and not _is_compat(origin)


def _says_which(origin):
    """Whether a name shows its version: it is in compat.v1 or in compat.v2."""
    return _is_compat(origin) or _is_of_v2(origin)


def _is_meant(one):
    """Whether a use is valid in TensorFlow 2: the name exists, its arguments fit."""
    if one.origin.endswith(OF_V2_ALONE):
        return True
    return _is_ambiguous(one) and not entries.rejects(one.entry.symbol, one.use.call)


def _proves(one, file):
    """Whether a finding proves that its file was written for TensorFlow 1.

    The author of `tf.compat.v1.x` knew TensorFlow 2, so plain names in the same file
    are TensorFlow 2's. But `import tensorflow.compat.v1 as tf`, or a call that
    switches TensorFlow 2 off, proves that the whole file is TensorFlow 1.
    """
    if one.likely or _is_of_v2(one.origin):
        return False
    if _is_compat(one.origin) and ".disable_" not in one.origin:
        text = file.lines[one.use.line][one.use.column - 1 :]
        if one.use.end_line == one.use.line:
            text = text[: one.use.end_column - one.use.column]
        return "." in text and "compat" not in text
    if _is_ambiguous(one):
        return entries.rejects(one.entry.symbol, one.use.call)
    return one.entry.verdict not in NEUTRAL


def _is_ambiguous(one):
    """Whether a use may be of TensorFlow 1 or 2, because both have the name."""
    if _is_by_keras(one):
        return False
    return one.entry.verdict == "changed" or entries.lives(records.symbol(one.origin))


def _is_by_keras(one):
    """Whether a finding is a name of the keras package that Keras 3 lacks."""
    return keras_uses.is_of_the_package(one.entry.symbol)
