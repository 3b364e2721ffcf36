"""How much of what legacy code uses is proven by its very name.

python -m upkeep.share [USAGE.tsv]

A public name that TensorFlow 2 has not got counts by its uses. It is proven if a left
page calls it, or a probe does, by any of its names; a key of a class by the class.
"""

import argparse
import sys

from tf1to2.catalog import facts, links
from tf1to2.probes import probed
from upkeep.probes import coverage

MOST = 40  # names that are listed


def share(usage):
    """(uses of TensorFlow 1 alone, those of proven names, [(uses, name)] of the rest).

    Args:
        usage: {name: uses}.
    """
    uses = {name: count for name, count in usage.items() if _is_gone(name)}
    rest = [(n, name) for name, n in uses.items() if not _is_proven(name)]
    total = sum(uses.values())
    return total, total - sum(n for n, _ in rest), sorted(rest, reverse=True)


def _is_gone(name):
    """Whether it is public in 1.15.5 and gone from TensorFlow 2, or its class is."""
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
        help="tab-separated, columns symbol and uses; by default what 54 public "
        "repositories use",
    )
    path = parser.parse_args(argv).usage
    usage = coverage.uses(path) if path else coverage.used()
    total, proven, rest = share(usage)
    if not total:
        print("no name of TensorFlow 1 is used in there", file=sys.stderr)
        return 2
    print(f"{proven} of {total} uses are of proven names: {proven / total:.1%}")
    print("Most used of the others:")
    for count, name in rest[:MOST]:
        print(f"{count:6}  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
