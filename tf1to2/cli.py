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


def _parser():
    parser = _Command(
        prog="tf1to2",
        description="The side-by-side TensorFlow 1 to 2 migration reference.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(
        metavar="COMMAND", required=True, parser_class=_Command
    )

    scan = commands.add_parser(
        "scan", help="find what is TensorFlow 1 in a tree, and which pair shows more"
    )
    scan.module = "tf1to2.scan.command"

    fix = commands.add_parser(
        "fix", help="write what is certain: names, arguments, flags, logging, files"
    )
    fix.module = "tf1to2.fix.command"

    explain = commands.add_parser("explain", help="tell what became of one name")
    explain.add_argument(
        "symbol", metavar="SYMBOL", help="a name, an argument, a message, a question"
    )
    explain.set_defaults(run=_explain)

    topics = commands.add_parser("topics", help="list the topics and their proofs")
    topics.set_defaults(run=_topics)

    diff = commands.add_parser(
        "diff", help="show both sides of a topic, of a pair, or of any two files"
    )
    diff.add_argument(
        "what",
        nargs="+",
        metavar="TOPIC[.NAME]",
        help="or a name of numerics, or OLD.py NEW.py [NAME | OLD=NEW …]",
    )
    diff.add_argument("--unified", action="store_true", help="plain diff -u")
    diff.add_argument(
        "--keras", action="store_true", help="show what a user of Keras writes"
    )
    diff.set_defaults(run=_diff)

    take = commands.add_parser(
        "take", help="write definitions, and all that they need, as one file"
    )
    take.module = "tf1to2.view.take"

    convert = commands.add_parser(
        "convert-checkpoint", help="rename and carry over the tensors of a checkpoint"
    )
    convert.module = "tf1to2.checkpoint.command"

    page = commands.add_parser("page", help="build the site, which needs no server")
    page.add_argument(
        "-o", "--output", metavar="DIR", default="site", help="%(default)s"
    )
    page.set_defaults(run=_page)

    bench = commands.add_parser("bench", help="time both sides against each other")
    bench.module = "tf1to2.bench.command"

    verify = commands.add_parser("verify", help="run the proofs, here and now")
    verify.add_argument("topic", metavar="TOPIC[.NAME]", nargs="*", help="default: all")
    verify.add_argument("--format", choices=["text", "json"], default="text")
    verify.add_argument(
        "--settings",
        choices=["strict", "default"],
        default="strict",
        help="strict compares float32 bits with compat.v1 as well (%(default)s)",
    )
    verify.set_defaults(run=_verify)

    from tf1to2.prove import command
    from tf1to2.prove import options as arguments

    prove = commands.add_parser("prove", help="prove your own port, leaf by leaf")
    command.add_arguments(prove)

    record = commands.add_parser(
        "record", help="have TensorFlow 1 answer for your own port's left page"
    )
    arguments.record(record)
    record.set_defaults(run=command.record)

    mutate = commands.add_parser(
        "mutate", help="break your own port in every small way: who notices?"
    )
    arguments.mutate(mutate)
    mutate.set_defaults(run=command.mutate)
    return parser


def _explain(options):
    from tf1to2.explain import screen as explain
    from tf1to2.pages import terminal

    sys.stdout.write(
        explain.render(options.symbol, terminal.width(), terminal.wants_colour())
    )
    return 0


def _topics(_):
    from tf1to2.common.tables import table
    from tf1to2.pages.topics import topics

    rows = [
        (name, str(len(topic.pairs)), topic.recording, topic.lesson)
        for name, topic in topics().items()
    ]
    print(table(("topic", "pairs", "1.15.5 recording", "teaches"), rows))
    return 0


def _diff(options):
    from tf1to2.pages import library, sides, terminal
    from tf1to2.pages.topics import find

    first, *others = options.what
    if first.endswith(".py"):
        if options.keras:
            raise CommandError("diff --keras takes one topic or pair, and no files")
        if not others:
            raise CommandError(f"diff {first} needs a second file, the port")
        shown = sides.of_files(first, *others[:1], others[1:])
        names = list(shown.names) if others[1:] else [None]
    elif others:
        raise CommandError("diff takes one topic or pair, or two files ending in .py")
    elif numerics := library.of_numerics(first):
        sys.stdout.write(terminal.alone(numerics, terminal.wants_colour()))
        return 0
    else:
        topic, name = find(first)
        shown, names = sides.of_topic(topic, options.keras), [name]
        if name and name not in shown.names:
            known = ", ".join(shown.names)
            raise CommandError(f"{first} has no Keras form; there are: {known}")
    for name in names:
        if options.unified:
            sys.stdout.write(terminal.unified(shown, name))
        else:
            colour, width = terminal.wants_colour(), terminal.width()
            sys.stdout.write(terminal.side_by_side(shown, name, width, colour))
    return 0


def _page(options):
    from tf1to2.view import page

    print(page.write(options.output))
    return 0


def _verify(options):
    from tf1to2.pages import topics
    from tf1to2.prove import verify

    for name in options.topic:  # TensorFlow takes seconds to start
        topics.find(name)
    return verify.run(options.topic, options.settings, options.format)


if __name__ == "__main__":
    sys.exit(main())
