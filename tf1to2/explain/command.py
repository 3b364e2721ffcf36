"""`tf1to2 explain`: what became of a name, an argument, a message, a question."""

import json
import os
import re
import sys

from tf1to2.common.errors import CommandError
from tf1to2.explain import render, resolve
from tf1to2.pages import terminal

CONTROL = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\[[0-9;?]*[ -/]*[@-~]"
    r"|[\x00-\x08\x0b-\x1f\x7f]"
)
"""What a terminal would obey: colours, titles, a bell."""
LONGEST = 1000
"""Characters of a line that count: a message says what is wrong in its beginning."""


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
    text = _text(options.symbol)
    answer = resolve.resolve(text)
    if options.format == "json":
        told = json.dumps(render.as_json(answer), indent=1, ensure_ascii=False)
        sys.stdout.write(told + "\n")
    if answer.by == "nothing":
        raise CommandError(_file(options.symbol) or render.nothing(answer))
    if options.format == "text":
        width, colour = terminal.width(), terminal.wants_colour()
        sys.stdout.write(render.render(answer, width, colour, options.full))
    return 0


def _text(symbol):
    """What is asked: of "-" what is read, without what a terminal would obey.

    Raises:
        CommandError: it is empty, or no text.
    """
    text = symbol
    if symbol == "-":
        data = sys.stdin.buffer.read()
        if b"\0" in data:
            raise CommandError("this is no text: paste a name, an error or a question")
        text = data.decode("utf-8", "replace")
    text = "\n".join(line[:LONGEST] for line in CONTROL.sub("", text).splitlines())
    if not text.strip():
        raise CommandError("nothing is asked: give a name, an error or a question")
    return text


def _file(symbol):
    """What to do with the path of a file or a folder; "" for what is none."""
    if os.path.isdir(symbol):
        return f"{symbol} is a folder: tf1to2 scan {symbol}"
    if os.path.isfile(symbol):
        return f"{symbol} is a file: tf1to2 explain - < {symbol}"
    return ""
