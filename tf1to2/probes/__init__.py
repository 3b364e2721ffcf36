"""Replacements, executed: for a name the old call, the new call, and inputs.

A probe asks the genuine TensorFlow 1.15.5 what the old call answers (recorded) and
today's TensorFlow whether the new call answers the same. The probes are text, a file
per module of TensorFlow 1 in `table`: reading them needs no TensorFlow.
"""

import functools
import pathlib

from tf1to2.catalog import facts
from tf1to2.probes import format
from tf1to2.probes.probe import SIGN_OF_ZERO, Probe

__all__ = ["SIGN_OF_ZERO", "Probe", "probed", "probes"]

TABLE = pathlib.Path(__file__).with_name("table")


@functools.cache
def probes():
    """Every `Probe`, by file and in the order of its file.

    Raises:
        text.Malformed: a file cannot be read; its line, and what is wrong.
    """
    return tuple(
        row for path in sorted(TABLE.glob("*.txt")) for row in format.read(path)
    )


@functools.cache
def probed():
    """{name: its probes}: aliases, which are the same object in 1.15.5, included."""
    found = {}
    for row in probes():
        for name in facts.aliases(row.name):
            found.setdefault(name, []).append(row)
    return found
