"""The one table of known differences: everything else is identical, bit for bit."""

from tf1to2.parity.compare import Bound

BOUNDS: list[Bound] = []
