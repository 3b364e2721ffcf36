"""Probes: for a name, an old call, the new call, and inputs to run both.

A probe compares the recorded answer of the old call in the real TensorFlow 1.15.5 with
the answer of the new call in today's TensorFlow. The probes are text files in `table`,
one per module of TensorFlow 1: reading them does not need TensorFlow.
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
    """All `Probe`s, sorted by file, in the order of each file.

    Raises:
        format.Malformed: a file is not valid; the message has the line and the reason.
    """
    return tuple(
        row for path in sorted(TABLE.glob("*.txt")) for row in format.read(path)
    )


@functools.cache
def probed():
    """Returns {name: its probes}, also for aliases of the name in 1.15.5."""
    found = {}
    for row in probes():
        for name in facts.aliases(row.name):
            found.setdefault(name, []).append(row)
    return found
