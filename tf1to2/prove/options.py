"""What the commands of the engine take; nothing heavy is imported for a `--help`."""

import argparse


def record(parser):
    """Of `tf1to2 record` and `python -m tf1to2.prove.record`."""
    _proofs(parser)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument(
        "--python", metavar="PATH", help="of any TensorFlow 1 (default: of 1.15.5)"
    )
    parser.add_argument(
        "--environment",
        metavar="DIR",
        default=".venv-tf1",
        help="where 1.15.5 is, or else gets installed (%(default)s)",
    )
    _jobs(parser)


def mutate(parser):
    """Of `tf1to2 mutate` and `python -m tf1to2.prove.mutate`."""
    _proofs(parser)
    _jobs(parser)
    parser.add_argument("--sample", type=int, help="try that many, chosen at random")
    parser.add_argument("--only", default="", help="those whose description has this")
    parser.add_argument("--results", metavar="FILE", help="JSON, kept and added to")


def _jobs(parser):
    parser.add_argument(
        "--jobs", type=_positive_int, default=2, help="at a time (%(default)s)"
    )


def _positive_int(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1 is needed")
    return number


def _proofs(parser):
    parser.add_argument("provider", metavar="FILE", help="test_port.py, or a module")
    parser.add_argument("names", metavar="NAME", nargs="*", help="default: all")
