"""Options that several of the commands `verify`, `prove`, `record`, `mutate` have."""

import argparse


def add_proofs(parser):
    """Adds the command-line arguments FILE (with proofs) and NAME (of proofs)."""
    parser.add_argument(
        "provider", metavar="FILE", help="test_port.py, or a module with proofs"
    )
    parser.add_argument(
        "names", metavar="NAME", nargs="*", help="proofs or pairs to take; default: all"
    )


def add_jobs(parser):
    """Adds --jobs, the number of parallel processes."""
    parser.add_argument(
        "--jobs",
        type=_positive_int,
        default=2,
        help="number of processes (default: %(default)s)",
    )


def _positive_int(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or larger")
    return number
