"""The bounds of a user's pair: how much a leaf may differ, and why."""

import dataclasses
import fnmatch

import numpy as np

ANY = float("inf")
"""The bound for initial values that are not compared: skip={"initial": "…"}."""


@dataclasses.dataclass(frozen=True)
class Within:
    """A bound on the distance of some leaves of a case.

    Attributes:
        leaf: their path, or the beginning of it, without "outputs/"; with wildcards.
        bound: units in the last place if an int; relative to the largest value of the
            leaf if a float.
        why: the reason for the bound.
        widened: whether it applies to float64, not to float32 as given.
    """

    leaf: str
    bound: float
    why: str
    widened: bool = False

    def __post_init__(self):
        whole = isinstance(self.bound, int) and not isinstance(self.bound, bool)
        part = isinstance(self.bound, float) and (
            0 < self.bound < 1 or self.bound == ANY
        )
        if not (whole and self.bound > 0 or part):
            raise ValueError(
                f"within {self.leaf!r}: {self.bound!r} is not a bound: give units in "
                "the last place (2), or a part of the largest value (1e-6)"
            )
        if not self.why:
            raise ValueError(f"within {self.leaf!r}: give the reason, why=…")

    def names(self, path):
        """Returns whether the bound applies to the leaf `path`."""
        return any(
            p == self.leaf or p.startswith(self.leaf + "/") or _like(p, self.leaf)
            for p in (path, path.removeprefix("outputs/"))
        )

    def needs(self, leaf):
        """Returns the distance of a `Leaf` in the bound's unit: ULP or relative."""
        return leaf.ulps if isinstance(self.bound, int) else leaf.relative

    def holds(self, leaf):
        return np.isfinite(leaf.relative) and self.needs(leaf) <= self.bound


def _like(path, pattern):
    return any(c in pattern for c in "*?") and fnmatch.fnmatchcase(path, pattern)
