"""Reads and writes baselines: lists of known uses, so that only new uses fail.

Paths in a baseline are relative to its folder, so that `scan` can start in any folder.
"""

import collections
import json
import os
import pathlib

from tf1to2.common import output
from tf1to2.common.errors import CommandError

STANDARD_INPUT = "-"


def write(path, findings):
    """Writes the baseline file; if writing fails, the old file stays unchanged.

    A baseline counts the uses of a name in a file, so other edits do not change it.
    """
    folder = os.path.dirname(os.path.abspath(path))
    counts = collections.Counter(map(_key, findings))
    uses = {}
    for (file, symbol), count in sorted(counts.items()):
        uses.setdefault(_relative(file, folder), {})[symbol] = count
    text = json.dumps({"tf1to2 baseline": 1, "uses": uses}, indent=1) + "\n"
    output.save(path, text)


def read(path):
    """Reads a baseline into a Counter {(absolute path, symbol): number of uses}."""
    folder = os.path.dirname(os.path.abspath(path))
    try:
        with open(path, encoding="utf-8") as file:
            stored = json.load(file)
        return collections.Counter(
            {
                (_absolute(os.path.join(folder, file), file), symbol): int(count)
                for file, symbols in stored["uses"].items()
                for symbol, count in symbols.items()
            }
        )
    except OSError as error:
        raise CommandError(
            f"{path}: {error.strerror}; create it with --write-baseline {path}"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CommandError(
            f"{path} is not a baseline; create one with --write-baseline {path}"
        ) from error


def new(findings, known):
    """Returns the findings that exceed the baseline's count for their file and name."""
    left, fresh = collections.Counter(known), []
    for finding in findings:
        if left[_key(finding)]:
            left[_key(finding)] -= 1
        else:
            fresh.append(finding)
    return fresh


def _key(finding):
    return _absolute(finding.path), finding.entry.symbol


def _absolute(path, name=None):
    return STANDARD_INPUT if STANDARD_INPUT in (path, name) else os.path.realpath(path)


def _relative(path, folder):
    if path == STANDARD_INPUT:
        return path
    try:
        path = os.path.relpath(path, os.path.realpath(folder))
    except ValueError:  # on another drive
        pass
    return pathlib.PurePath(path).as_posix()
