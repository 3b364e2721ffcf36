"""Options that several commands of the engine take."""

import argparse


def add_proofs(parser):
    """Adds the file or module with proofs, and the names of those that are meant."""
    parser.add_argument("provider", metavar="FILE", help="test_port.py, or a module")
    parser.add_argument("names", metavar="NAME", nargs="*", help="default: all")


def add_jobs(parser):
    """Adds how many processes run at a time."""
    parser.add_argument(
        "--jobs", type=_positive_int, default=2, help="at a time (%(default)s)"
    )


def _positive_int(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1 is needed")
    return number
