"""Finds reads of flags, which the report groups: one line per file."""

import re

from tf1to2.catalog.entry import REWRITE, Entry
from tf1to2.common.words import counted
from tf1to2.scan import causes
from tf1to2.source.names import records

FLAGS = re.compile(r"tf\.(?:app\.|python\.platform\.)?flags\.FLAGS")
READ = re.compile(rf"{FLAGS.pattern}\.(\w+)")
# `getattr(FLAGS, "job_dir", "")` never raises.
WITH_DEFAULT = re.compile(r"getattr\(\s*[\w.]+\s*,\s*[\"'][\w-]+[\"']\s*,")
NOTE = "a flag with a hyphen is not an attribute of FLAGS: 1.15.5 raises, too"


def read(origin):
    """Returns the flag that a use reads, such as "rate", or "" if it reads no flag.

    Args:
        origin: as in `records.Use`.
    """
    found = "FLAGS." in origin and READ.match(records.symbol(origin))
    return found[1] if found else ""


def judge(entry, origin, hyphens, text):
    """Returns a use's entry, or a new entry if the use reads a flag with a hyphen.

    Args:
        entry: `catalog.Entry`.
        origin: of the use.
        hyphens: the result of `Project.hyphenated`.
        text: the rest of its line.
    """
    name = read(origin)
    if name not in hyphens or not FLAGS.fullmatch(entry.symbol):
        return entry
    if WITH_DEFAULT.match(text):
        return entry
    return Entry(
        f"{entry.symbol}.{name}",
        entry.kind,
        REWRITE,
        write=f'FLAGS["{hyphens[name]}"].value',
        note=NOTE,
        pair=entry.pair,
    )


def is_read(finding):
    """Whether a finding only reads a flag, so that only its import needs an edit."""
    known = FLAGS.fullmatch(finding.entry.symbol)
    return bool(known) and not causes.is_edited(finding)


def told(findings):
    """Returns one message for all reads of flags in a file."""
    names = {finding.flag for finding in findings} - {""}
    return (
        f"FLAGS is read in {counted(len(findings), 'place')}: "
        f"{counted(len(names), 'name')}; nothing to edit after you import absl's flags"
    )
