"""The command line: `tf1to2 scan | explain | topics | diff | page | verify | bench`.

Each command imports what it needs when it runs: TensorFlow for `verify` and `bench`.
"""

import argparse
import sys

from tf1to2 import __version__
from tf1to2.errors import CommandError


def main(argv=None):
    """Runs a command.

    Returns:
        Exit status: 0 clean, 1 findings, 2 the job could not be done.
    """
    options = _parser().parse_args(argv)
    from tf1to2.topics import UnknownTopic

    try:
        return options.run(options)
    except (CommandError, UnknownTopic) as error:
        print(f"tf1to2: {error.args[0]}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, say `head`, has seen enough
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("\ntf1to2: interrupted", file=sys.stderr)
        return 130


def _parser():
    parser = argparse.ArgumentParser(
        prog="tf1to2",
        description="The side-by-side TensorFlow 1 to 2 migration reference.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    scan = commands.add_parser(
        "scan", help="find what is TensorFlow 1 in a tree, and which pair shows more"
    )
    from tf1to2.scan import command

    command.add_arguments(scan)

    explain = commands.add_parser("explain", help="tell what became of one name")
    explain.add_argument("symbol", metavar="SYMBOL", help="tf.placeholder, .eval, …")
    explain.set_defaults(run=_explain)

    topics = commands.add_parser("topics", help="list the topics and their proofs")
    topics.set_defaults(run=_topics)

    diff = commands.add_parser("diff", help="show both sides of a topic or a pair")
    diff.add_argument("topic", metavar="TOPIC[.NAME]")
    diff.add_argument("--unified", action="store_true", help="plain diff -u")
    diff.set_defaults(run=_diff)

    convert = commands.add_parser(
        "convert-checkpoint", help="rename and carry over the tensors of a checkpoint"
    )
    from tf1to2 import checkpoint

    checkpoint.add_arguments(convert)
    convert.set_defaults(run=checkpoint.run)

    page = commands.add_parser("page", help="build the site: one HTML file, offline")
    page.add_argument(
        "-o", "--output", metavar="DIR", default="site", help="%(default)s"
    )
    page.set_defaults(run=_page)

    bench = commands.add_parser("bench", help="time both sides against each other")
    from tf1to2.bench import command as timing

    timing.add_arguments(bench)

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
    return parser


def _explain(options):
    from tf1to2.scan import explain
    from tf1to2.view import terminal

    sys.stdout.write(
        explain.render(options.symbol, terminal.width(), terminal.wants_colour())
    )
    return 0


def _topics(_):
    from tf1to2.topics import topics
    from tf1to2.view.tables import table

    rows = [
        (name, str(len(topic.pairs)), topic.recording, topic.lesson)
        for name, topic in topics().items()
    ]
    print(table(("topic", "pairs", "1.15.5 recording", "teaches"), rows))
    return 0


def _diff(options):
    from tf1to2.topics import find
    from tf1to2.view import terminal

    topic, name = find(options.topic)
    if options.unified:
        sys.stdout.write(terminal.unified(topic, name))
    else:
        colour, width = terminal.wants_colour(), terminal.width()
        sys.stdout.write(terminal.side_by_side(topic, name, width, colour))
    return 0


def _page(options):
    from tf1to2.view import page

    print(page.write(options.output))
    return 0


def _verify(options):
    from tf1to2 import verify

    return verify.run(options.topic, options.settings, options.format)


if __name__ == "__main__":
    sys.exit(main())
