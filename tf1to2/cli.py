"""The command line: `tf1to2 COMMAND`, as `tf1to2 --help` lists them.

Each command imports what it needs when it runs: TensorFlow for `verify`, `prove`,
`mutate`, `bench` and `convert-checkpoint`.
"""

import argparse
import contextlib
import importlib
import os
import sys
import traceback

from tf1to2 import __version__
from tf1to2.common import output
from tf1to2.common.errors import CommandError, extra_of, needs

PIPE_CLOSED = 141  # as a shell reports SIGPIPE: neither clean nor findings


def main(argv=None):
    """Runs a command.

    Returns:
        Exit status: 0 clean, 1 findings, 2 the job could not be done.
    """
    output.bear_any_text()
    try:
        return _run(argv)
    except BrokenPipeError:  # the reader, say `head`, has seen enough
        message, status = "", PIPE_CLOSED
    except KeyboardInterrupt:
        message, status = "\ntf1to2: interrupted\n", 130
    except Exception as error:
        message, status = f"tf1to2: {_told(error)}\n", 2
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):  # full, closed, or none
        output.abandon(sys.stdout)
    with contextlib.suppress(OSError, AttributeError):
        sys.stderr.write(message)
    return status


def _run(argv):
    try:
        options = _parser().parse_args(argv)
        return options.run(options)
    finally:  # what cannot be written is an error, and not a remark at exit
        if sys.stdout is not None:
            sys.stdout.flush()


def _told(error):
    """One line, and the traceback before it if `TF1TO2_DEBUG` is set."""
    if os.environ.get("TF1TO2_DEBUG"):
        traceback.print_exc()
    if isinstance(error, CommandError):
        return error.args[0]
    missing = isinstance(error, ImportError) and (error.name or "").partition(".")[0]
    if missing and (extra := extra_of(missing)):
        return needs("this command", error, extra).args[0]
    line = " ".join(str(error).split())
    return f"{type(error).__name__}: {line[:500]} (TF1TO2_DEBUG=1 shows where)"


class _Command(argparse.ArgumentParser):
    """A command: what its module adds to it is asked for when it is called.

    So no command waits for the modules of another.
    """

    module = None

    def parse_known_args(self, args=None, namespace=None):
        return super(_Command, self.filled()).parse_known_args(args, namespace)

    def _print_message(self, message, file=None):
        """Argparse drops what cannot be written; here that is an error."""
        if message and file is not None:
            file.write(message)

    def filled(self):
        """Itself, with all of its arguments."""
        if self.module:
            importlib.import_module(self.module).add_arguments(self)
            self.module = None
        return self


COMMANDS = {
    "scan": (
        "tf1to2.scan.command",
        "find what is TensorFlow 1 in a tree, and which pair shows more",
    ),
    "fix": (
        "tf1to2.fix.command",
        "write what is certain: names, arguments, flags, logging, files",
    ),
    "explain": ("tf1to2.explain.command", "tell what became of one name"),
    "topics": ("tf1to2.view.overview", "list the topics and their proofs"),
    "diff": (
        "tf1to2.view.diff",
        "show both sides of a topic, of a pair, or of any two files",
    ),
    "take": (
        "tf1to2.view.take",
        "write definitions, and all that they need, as one file",
    ),
    "convert-checkpoint": (
        "tf1to2.checkpoint.command",
        "rename and carry over the tensors of a checkpoint",
    ),
    "page": ("tf1to2.view.site", "build the site, which needs no server"),
    "bench": ("tf1to2.bench.command", "time both sides against each other"),
    "verify": ("tf1to2.prove.verify", "run the proofs, here and now"),
    "prove": ("tf1to2.prove.prove", "prove your own port, leaf by leaf"),
    "record": (
        "tf1to2.prove.record",
        "have TensorFlow 1 answer for your own port's left page",
    ),
    "mutate": (
        "tf1to2.prove.mutate",
        "break your own port in every small way: who notices?",
    ),
}
"""{command: (module, help)}. A module has `add_arguments` and `run`."""


def _parser():
    parser = _Command(
        prog="tf1to2",
        description="The side-by-side TensorFlow 1 to 2 migration reference.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(
        metavar="COMMAND", required=True, parser_class=_Command
    )
    for name, (module, told) in COMMANDS.items():
        commands.add_parser(name, help=told).module = module
    return parser


if __name__ == "__main__":
    sys.exit(main())
