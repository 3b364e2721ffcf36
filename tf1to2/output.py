"""Where a command's text goes: the screen, a file, a line of progress."""

import sys

from tf1to2.errors import CommandError


def write(text, path=None):
    """Writes a report.

    Args:
        text: the report.
        path: of a file, or None for the standard output.

    Raises:
        CommandError: the file cannot be written.
    """
    if path is None:
        sys.stdout.write(text)
        return
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error


def progress(text):
    """Shows what is being done, in a line that the next one replaces, on a terminal."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text[:100]}", end="", file=sys.stderr, flush=True)
