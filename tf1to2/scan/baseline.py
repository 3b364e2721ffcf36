"""The uses that a project already had: only new ones fail, and the rest burns down."""

import collections
import json
import os
import pathlib
import tempfile

from tf1to2.errors import CommandError


def write(path, findings):
    """Writes the baseline, or nothing at all.

    It counts the uses of a name in a file, so that it survives edits elsewhere.
    """
    counts = collections.Counter(map(_key, findings))
    uses = {}
    for (file, symbol), count in sorted(counts.items()):
        uses.setdefault(file, {})[symbol] = count
    text = json.dumps({"tf1to2 baseline": 1, "uses": uses}, indent=1) + "\n"
    folder = os.path.dirname(os.path.abspath(path))
    try:
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
            file.write(text)
        os.chmod(file.name, 0o644)
        os.replace(file.name, path)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error


def read(path):
    """{(path, symbol): count} of a baseline."""
    try:
        with open(path, encoding="utf-8") as file:
            stored = json.load(file)
        return collections.Counter(
            {
                (file, symbol): int(count)
                for file, symbols in stored["uses"].items()
                for symbol, count in symbols.items()
            }
        )
    except OSError as error:
        raise CommandError(
            f"{path}: {error.strerror}; --write-baseline {path} makes it"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CommandError(
            f"{path} is no baseline; --write-baseline {path} makes a new one"
        ) from error


def new(findings, known):
    """The findings beyond the baseline: of each name the last ones in a file."""
    left, fresh = collections.Counter(known), []
    for finding in findings:
        if left[_key(finding)]:
            left[_key(finding)] -= 1
        else:
            fresh.append(finding)
    return fresh


def _key(finding):
    return pathlib.PurePath(finding.path).as_posix(), finding.entry.symbol
