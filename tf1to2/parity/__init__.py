"""Proves pairs: runs both sides, compares the results bit for bit, records them.

    from tf1to2.parity import Op, Proof, normal

The names load on first use: TensorFlow 1.15's Python 3.7 imports this package, too.
"""

import importlib

_HOMES = {
    "parity.cases": ("FalseFriend", "Layer", "Op", "Program", "Raises"),
    "parity.pair": ("Pair",),
    "parity.proof": ("Proof",),
    "parity.distances": ("Naive",),
    "pages.page": ("Page",),
    "parity.arrays": ("booleans", "dyadic", "integers", "normal", "uniform"),
    "parity.compare": ("Bound", "Mismatch", "compare"),
}
__all__ = [name for names in _HOMES.values() for name in names]


def __getattr__(name):
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module("tf1to2." + module), name)
    raise AttributeError("module %r has no attribute %r" % (__name__, name))
