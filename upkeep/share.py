"""Prints the share of the uses in legacy code whose names are proven.

python -m upkeep.share [USAGE.tsv]

Public names that TensorFlow 2 does not have are counted by their uses. A name is proven
if a left page or a probe calls it, by any of its aliases; a member, if its class is.
"""

import argparse
import sys

from tf1to2.catalog import facts, links
from tf1to2.probes import probed
from upkeep.probes import coverage

MOST = 40  # how many names are printed


def share(usage):
    """Counts uses of names only in TensorFlow 1, and proven uses; lists the rest.

    Args:
        usage: {name: uses}.
    """
    uses = {name: count for name, count in usage.items() if _is_gone(name)}
    rest = [(n, name) for name, n in uses.items() if not _is_proven(name)]
    total = sum(uses.values())
    return total, total - sum(n for n, _ in rest), sorted(rest, reverse=True)


def _is_gone(name):
    """Whether a name, or its class, is public in 1.15.5 and missing in TensorFlow 2."""
    fact = facts.fact(name) or facts.fact(name.rpartition(".")[0])
    return fact is not None and not fact.here and fact.kind != "module"


def _is_proven(name):
    owner = name.rpartition(".")[0]
    names = [name]
    if (fact := facts.fact(owner)) and fact.kind == "class":
        names.append(owner)
    return any(
        links.proofs(n) or not probed().keys().isdisjoint(facts.aliases(n))
        for n in names
    )


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "usage",
        nargs="?",
        help="tab-separated, columns symbol and uses; by default the uses in 54 public "
        "repositories",
    )
    path = parser.parse_args(argv).usage
    usage = coverage.uses(path) if path else coverage.used()
    total, proven, rest = share(usage)
    if not total:
        print("the file has no name that only TensorFlow 1 has", file=sys.stderr)
        return 2
    print(f"{proven} of {total} uses are of proven names: {proven / total:.1%}")
    print("The most used of the other names:")
    for count, name in rest[:MOST]:
        print(f"{count:6}  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
