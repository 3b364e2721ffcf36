"""`tf1to2 explain`: what became of a name, an argument, a message, a question."""

import sys

from tf1to2.explain import screen
from tf1to2.pages import terminal


def add_arguments(parser):
    parser.add_argument(
        "symbol", metavar="SYMBOL", help="a name, an argument, a message, a question"
    )
    parser.set_defaults(run=run)


def run(options):
    width, colour = terminal.width(), terminal.wants_colour()
    sys.stdout.write(screen.render(options.symbol, width, colour))
    return 0
