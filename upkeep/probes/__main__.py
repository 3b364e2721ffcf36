"""Prints how many names are probed; --record and --check run TensorFlow 1.15.5."""

import sys

from tf1to2.parity.recordings import NoGenuineTensorFlow, genuine_python
from tf1to2.probes import probed, probes
from upkeep import genuine
from upkeep.probes import coverage
from upkeep.probes.record import record


def main(argv=None):
    parser = genuine.parser("probes", __doc__)
    parser.add_argument("--record", action="store_true", help="record all again")
    options = parser.parse_args(argv)
    if options.record or options.check:
        try:
            print(record(genuine_python(options.environment), options.check))
        except NoGenuineTensorFlow as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        except AssertionError as error:
            print(error)
            return 1
        return 0
    print(
        f"{len(probes())} probes of {len({p.name for p in probes()})} names, ", end=""
    )
    print(f"{len(probed())} with their aliases")
    for part, names, proven, uses, proven_uses in coverage.shares():
        print(
            f"{part}: {proven} of {names} names, {proven_uses} of {uses} uses "
            f"({proven_uses / uses:.1%}), by a probe or on a left page"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
