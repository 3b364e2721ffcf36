"""The command line `tf1to2 COMMAND`; `tf1to2 --help` lists the commands.

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

PIPE_CLOSED = 141  # the exit status that a shell gives for SIGPIPE


def main(argv=None):
    """Runs a command, and prints an error as one line.

    Returns:
        Exit status: 0 clean, 1 findings, 2 the command failed.
    """
    output.bear_any_text()
    try:
        return _run(argv)
    except BrokenPipeError:  # the reader, for example `head`, closed the pipe
        message, status = "", PIPE_CLOSED
    except KeyboardInterrupt:
        message, status = "\ntf1to2: interrupted\n", 130
    except Exception as error:
        message, status = f"tf1to2: {_told(error)}\n", 2
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):  # disk full, closed, or no stdout
        output.abandon(sys.stdout)
    with contextlib.suppress(OSError, AttributeError):
        sys.stderr.write(message)
    return status


def _run(argv):
    try:
        options = _parser().parse_args(argv)
        return options.run(options)
    finally:  # flush here, so that a failed write is an error of the command
        if sys.stdout is not None:
            sys.stdout.flush()


def _told(error):
    """The one line for an error; prints the traceback if `TF1TO2_DEBUG` is set."""
    if os.environ.get("TF1TO2_DEBUG"):
        traceback.print_exc()
    if isinstance(error, CommandError):
        return error.args[0]
    missing = isinstance(error, ImportError) and (error.name or "").partition(".")[0]
    if missing and (extra := extra_of(missing)):
        return needs("this command", error, extra).args[0]
    line = " ".join(str(error).split())
    return f"{type(error).__name__}: {line[:500]} (TF1TO2_DEBUG=1 shows the traceback)"


class _Command(argparse.ArgumentParser):
    """The parser of a command, which imports the command's module only when it is used.

    So no command has to load the modules of another.
    """

    module = None

    def parse_known_args(self, args=None, namespace=None):
        return super(_Command, self.filled()).parse_known_args(args, namespace)

    def _print_message(self, message, file=None):
        """Prints, and raises if that fails: argparse would ignore the error."""
        if message and file is not None:
            file.write(message)

    def filled(self):
        """Adds the arguments of the command's module, and returns the parser."""
        if self.module:
            importlib.import_module(self.module).add_arguments(self)
            self.module = None
        return self


COMMANDS = {
    "scan": (
        "tf1to2.scan.command",
        "find uses of TensorFlow 1 in files, each with the pair that shows its port",
    ),
    "fix": (
        "tf1to2.fix.command",
        "rewrite calls where it is safe: names, arguments, flags, logging, files",
    ),
    "explain": (
        "tf1to2.explain.command",
        "say what to write for a name, an error message or a question",
    ),
    "topics": ("tf1to2.view.overview", "list the topics and their proofs"),
    "diff": (
        "tf1to2.view.diff",
        "show both sides of a topic, of a pair, or of any two files",
    ),
    "take": (
        "tf1to2.view.take",
        "copy definitions, with all that they need, into one file",
    ),
    "convert-checkpoint": (
        "tf1to2.checkpoint.command",
        "rename and copy the tensors of a checkpoint",
    ),
    "page": ("tf1to2.view.site", "build the site; it needs no server"),
    "bench": ("tf1to2.bench.command", "measure how fast both sides are"),
    "verify": ("tf1to2.prove.verify", "run the proofs on this machine"),
    "prove": ("tf1to2.prove.prove", "prove your own port, array by array"),
    "record": (
        "tf1to2.prove.record",
        "record TensorFlow 1's answers for the left page of your own port",
    ),
    "mutate": (
        "tf1to2.prove.mutate",
        "break your own port in many small ways, and list what no test notices",
    ),
}
"""{command: (module, help)}. Each module has `add_arguments` and `run`."""


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
