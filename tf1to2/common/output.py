"""Where a command's text goes: the screen, a file, a line of progress."""

import codecs
import contextlib
import os
import secrets
import shutil
import stat
import sys

from tf1to2.common.errors import CommandError

# What a stream that has not got these characters shows in their place.
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
    """Writes a file, whole or not at all: all writers of this package come here.

    What was there stays as it is until the new file is complete, and hands its mode on.

    Args:
        path: of the file; what is no regular file, such as /dev/stdout, is written to.
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
    """Shows what is being done, in a line that the next one replaces, on a terminal."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text[:100]}", end="", file=sys.stderr, flush=True)


def shown(path):
    r"""A path as text that UTF-8 can hold: bytes that are none become \xff."""
    return path.encode("utf-8", ESCAPES).decode("utf-8")


def _escaped(error):
    """Replaces what an encoding has not: by plain characters, or by their numbers."""
    return "".join(map(_plain, error.object[error.start : error.end])), error.end


def _plain(character):
    if "\udc80" <= character <= "\udcff":  # a byte of a file name, as Python keeps it
        return f"\\x{ord(character) - 0xDC00:02x}"
    plain = PLAIN.get(character)
    return plain or character.encode("ascii", "backslashreplace").decode("ascii")


ESCAPES = "tf1to2.escapes"
codecs.register_error(ESCAPES, _escaped)


# How a stream deals with them if nobody has asked for anything else.
LOSSLESS = ("strict", "surrogateescape", "backslashreplace")


def bear_any_text():
    """Has the standard streams escape the characters that they cannot encode."""
    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "errors", None) in LOSSLESS:
            with contextlib.suppress(AttributeError):  # no file's, a caller's
                stream.reconfigure(errors=ESCAPES)


def abandon(stream):
    """Drops what a stream cannot write, of which Python would complain at exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
