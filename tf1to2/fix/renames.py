"""Rewrites names, keywords and positions of arguments by comparing signatures.

A name changes if today's TensorFlow has the same object under the new name, or if a
probe has run the replacement.
"""

import functools
import re

from tf1to2.catalog import entries, facts, signatures, verdicts
from tf1to2.fix import arguments
from tf1to2.fix.edits import Change, Edit
from tf1to2.probes import probed

NAME = re.compile(r"tf(\.\w+)+")


def change(site, old):
    """Changes a name and its arguments; None if the change is not certain.

    Args:
        site: `sites.Site`.
        old: whether the new call must work on 1.15.5 as well.
    """
    fact = facts.fact(site.symbol)
    if fact is None or fact.kind == "module":
        return None
    target, before, now = _target(site.symbol)
    if target is None or not in_old(site.symbol, target):
        if old or target is None or facts.fact(target):  # it had another meaning
            return None
    found = renaming(site, target)
    if site.call is not None:
        more = _arguments(site, before, now, old and facts.fact(target).signature)
    else:
        more = [] if _same_for_all(before, now) else None
    if found is None or more is None:
        return None
    return Change((*found, *more)) if found or more else None


def renaming(site, target):
    """Returns the edits that rename a site; None if the file cannot use the name."""
    if target == site.symbol:
        return []
    text = site.spelled(target)
    if text is None or site.is_assigned():
        return None
    return [Edit(site.node.start_byte, site.node.end_byte, text)]


@functools.cache
def _target(symbol):
    """Returns (new name or None, signature in 1.15.5, signature of the new name)."""
    entry, before, now = entries.compared(symbol)
    if entry is None:
        return None, "", ""
    if entry.verdict == "same":
        return symbol, before, now
    target = entry.write
    if entry.verdict != "renamed" or not NAME.fullmatch(target):
        return None, "", ""
    if facts.fact(symbol).moved != target:  # the new name is another object
        if entry.note or not _is_probed(symbol, target):
            return None, "", ""
    return target, before, now


def _is_probed(symbol, target):
    spelled = re.compile(rf"(?<![\w.]){re.escape(target)}(?![\w.])")
    rows = probed().get(symbol, ())
    return any(spelled.search(row.new) and not row.why for row in rows)


def in_old(symbol, target):
    """Returns whether TensorFlow 1.15.5 has the new name with the same meaning."""
    there = facts.fact(target)
    if there is None:
        return False
    return target in facts.aliases(symbol) or there.today == "same"


def _same_for_all(before, now):
    """Returns whether every call of the old signature also fits the new one."""
    found = signatures.differences(before, now)
    return bool(before) == bool(now) and not any(
        d.how != "moved" or d.argument not in signatures.LABELS for d in found
    )


def _arguments(site, before, now, there):
    """Edits a call's arguments; None if more than names and positions changed.

    Args:
        site: `sites.Site`.
        before, now: the signatures.
        there: the signature of the new name in 1.15.5, if that must accept the call.
    """
    if not before or not now:
        return [] if before == now else None
    rows = verdicts.arguments(site.symbol)
    for d in signatures.felt(site.use.call, before, now):
        row = rows.get((d.argument, ""))
        if row and row.verdict == "same" and d.how != "moved":
            continue
        if d.how not in ("renamed", "moved") or row and (row.note or not row.now):
            return None
    passed = arguments.bound(site, before)
    if passed is None:  # *args, whose content is unknown
        return [] if before == now and there in (False, now) else None
    renamed = signatures.successors(before, now)
    return arguments.rewritten(site, passed, now, renamed, also=there or now)
