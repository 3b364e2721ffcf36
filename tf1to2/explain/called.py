"""What the names of a question are called with: `tf.cond(p, lambda: a, lambda: b)`."""

import re

from tf1to2.source.names import reader

OPENING = re.compile(r"([A-Za-z_][\w.]*)\(")
CLOSED = {"(": ")", "[": "]", "{": "}"}


def calls(text):
    """The calls that stand in a text, as far as they are Python.

    Args:
        text: a question, with code in it.

    Returns:
        {name as it is written: `records.Call`}, of the first one with arguments.
    """
    found = {}
    for match in OPENING.finditer(text):
        inside = _inside(text, match.end())
        call = inside.strip() and _call(inside)
        if call:
            found.setdefault(match[1], call)
    return found


def _inside(text, start):
    """What a bracket before `start` holds, or "" where nothing closes it."""
    open_ = [")"]
    for place in range(start, len(text)):
        letter = text[place]
        if letter in CLOSED:
            open_.append(CLOSED[letter])
        elif letter == open_[-1]:
            open_.pop()
            if not open_:
                return text[start:place]
    return ""


def _call(inside):
    """The `records.Call` of arguments, or None where they are no Python."""
    # Of tf.cond alone it is read which functions only hand out a name.
    module = reader.read(f"import tensorflow as tf\ntf.cond({inside})\n".encode())
    if module.broken:
        return None
    return next((u.call for u in module.uses if u.origin == "tensorflow.cond"), None)
