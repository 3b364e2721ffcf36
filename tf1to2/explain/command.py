"""`tf1to2 explain`: what became of a name, an argument, a message, a question."""

import json
import sys

from tf1to2.common.errors import CommandError
from tf1to2.explain import render, resolve
from tf1to2.pages import terminal


def add_arguments(parser):
    parser.add_argument(
        "symbol",
        metavar="TEXT",
        help="a name, an argument, an error message, a question; - reads it",
    )
    parser.add_argument(
        "--full", action="store_true", help="show all, and not one screen"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(options):
    text = sys.stdin.read() if options.symbol == "-" else options.symbol
    answer = resolve.resolve(text)
    if answer.by == "nothing":
        raise CommandError(render.nothing(answer))
    if options.format == "json":
        told = json.dumps(render.as_json(answer), indent=1, ensure_ascii=False) + "\n"
    else:
        width, colour = terminal.width(), terminal.wants_colour()
        told = render.render(answer, width, colour, options.full)
    sys.stdout.write(told)
    return 0
