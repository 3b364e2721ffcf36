"""`tf1to2 explain`: answers about a name, argument, error message or question."""

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
"""Control sequences of a terminal: colours, titles, the bell."""
LONGEST = 1000
"""Characters of a line that are read: a message says what is wrong at its start."""


def add_arguments(parser):
    parser.add_argument(
        "symbol",
        metavar="TEXT",
        help="name, argument, error message or question; - reads standard input",
    )
    parser.add_argument(
        "--full", action="store_true", help="show everything, not only one screen"
    )
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="default: %(default)s",
    )
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
    """Reads the user's text (for "-", standard input); removes control characters.

    Raises:
        CommandError: the input is empty, or not text.
    """
    text = symbol
    if symbol == "-":
        data = sys.stdin.buffer.read()
        if b"\0" in data:
            raise CommandError(
                "the input is not text: paste a name, an error or a question"
            )
        text = data.decode("utf-8", "replace")
    text = "\n".join(line[:LONGEST] for line in CONTROL.sub("", text).splitlines())
    if not text.strip():
        raise CommandError("the input is empty: give a name, an error or a question")
    return text


def _file(symbol):
    """Suggests a command if the text is the path of a file or folder; otherwise ""."""
    if os.path.isdir(symbol):
        return f"{symbol} is a folder: run tf1to2 scan {symbol}"
    if os.path.isfile(symbol):
        return f"{symbol} is a file: run tf1to2 explain - < {symbol}"
    return ""
