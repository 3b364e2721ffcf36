"""`tf1to2 diff`: both sides of a topic, of a pair, or of any two files."""

import sys

from tf1to2.common.errors import CommandError
from tf1to2.pages import library, sides, terminal, topics


def add_arguments(parser):
    parser.add_argument(
        "what",
        nargs="+",
        metavar="TOPIC[.NAME]",
        help="a topic or pair; or a name of numerics, such as optimizers.Adam; or two "
        "files: OLD.py NEW.py [NAME | OLD=NEW …]",
    )
    parser.add_argument("--unified", action="store_true", help="print a plain diff -u")
    parser.add_argument(
        "--keras", action="store_true", help="show the Keras page on the right"
    )
    parser.set_defaults(run=run)


def run(options):
    if numerics := _numerics(options.what):
        sys.stdout.write(terminal.alone(numerics, terminal.wants_colour()))
        return 0
    shown, names = _shown(*options.what, keras=options.keras)
    for name in names:
        if options.unified:
            sys.stdout.write(terminal.unified(shown, name))
        else:
            colour, width = terminal.wants_colour(), terminal.width()
            sys.stdout.write(terminal.side_by_side(shown, name, width, colour))
    return 0


def _numerics(what):
    """Returns the `numerics` Definition if it is the only argument, or else None."""
    return None if what[1:] or what[0].endswith(".py") else library.of_numerics(what[0])


def _shown(first, *others, keras):
    """Returns (Sides, names of the pairs to show); [None] shows two whole files."""
    if first.endswith(".py"):
        if keras:
            raise CommandError("diff --keras takes one topic or pair, not files")
        if not others:
            raise CommandError(f"diff {first} needs a second file, the port")
        shown = sides.of_files(first, *others[:1], others[1:])
        return shown, list(shown.names) if others[1:] else [None]
    if others:
        raise CommandError("diff takes one topic or pair, or two files ending in .py")
    topic, name = topics.find(first)
    shown = sides.of_topic(topic, keras)
    if name and name not in shown.names:
        known = ", ".join(shown.names)
        raise CommandError(f"{first} has no Keras form; pairs with one: {known}")
    return shown, [name]
