"""Writes a command's text: to the screen, to a file, to a line of progress."""

import codecs
import contextlib
import os
import secrets
import shutil
import stat
import sys

from tf1to2.common.errors import CommandError

# Plain text for characters that the encoding of a stream does not have.
PLAIN = {"─": "-", "┼": "+", "–": "-", "…": "...", "→": "->", "“": '"', "”": '"'}


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
    else:
        save(path, text)


def save(path, content):
    """Writes a file completely or not at all: every writer of this package calls it.

    The old file stays until the new one is complete; the new one gets its mode.

    Args:
        path: of the file; a path such as /dev/stdout, which is not a regular file, is
            opened and written to.
        content: bytes, or str, which is encoded in UTF-8.

    Raises:
        CommandError: the file cannot be written.
    """
    if isinstance(content, str):
        content = content.encode("utf-8", ESCAPES)
    try:
        _save(path, content)
    except (OSError, ValueError) as error:  # a name may hold a null character
        reason = getattr(error, "strerror", None) or error
        raise CommandError(f"{path}: {reason}") from error


def _save(path, content):
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as file:
            file.write(content)
        return
    if mode is not None and not os.access(path, os.W_OK):
        raise PermissionError(13, "the file is write-protected")
    folder, name = os.path.split(os.path.realpath(path))
    path = os.path.join(folder, name)
    new = os.path.join(folder, f".{name[:200]}.{secrets.token_hex(4)}")
    try:
        with open(new, "xb") as file:
            file.write(content)
        if mode is not None:
            shutil.copymode(path, new)
        os.replace(new, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(new)
        raise


def progress(text):
    """Shows progress on a terminal, in one line that the next call overwrites."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text[:100]}", end="", file=sys.stderr, flush=True)


def shown(path):
    r"""A path as text that UTF-8 can hold: undecodable bytes become \xff."""
    return path.encode("utf-8", ESCAPES).decode("utf-8")


def _escaped(error):
    """Replaces characters that an encoding does not have by plain text or codes."""
    return "".join(map(_plain, error.object[error.start : error.end])), error.end


def _plain(character):
    if "\udc80" <= character <= "\udcff":  # a byte of a file name, as Python keeps it
        return f"\\x{ord(character) - 0xDC00:02x}"
    plain = PLAIN.get(character)
    return plain or character.encode("ascii", "backslashreplace").decode("ascii")


ESCAPES = "tf1to2.escapes"
codecs.register_error(ESCAPES, _escaped)


# Error handlers of a stream that may be replaced: the user did not choose them.
LOSSLESS = ("strict", "surrogateescape", "backslashreplace")


def bear_any_text():
    """Makes the standard streams escape the characters that they cannot encode."""
    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "errors", None) in LOSSLESS:
            with contextlib.suppress(
                AttributeError
            ):  # a stream of the caller, not a file
                stream.reconfigure(errors=ESCAPES)


def abandon(stream):
    """Drops unwritten output of a closed stream, so that Python exits silently."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
