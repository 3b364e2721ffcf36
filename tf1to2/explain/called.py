"""Reads the calls in a question: `tf.cond(p, lambda: a, lambda: b)`."""

import re

from tf1to2.source import constructs
from tf1to2.source.names import reader

OPENING = re.compile(r"([A-Za-z_][\w.]*)\(")
CLOSED = {"(": ")", "[": "]", "{": "}"}


def calls(text):
    """The calls in a text that are valid Python.

    Args:
        text: a question, with code in it.

    Returns:
        {name as written: `records.Call`}: the first call of each name with arguments.
    """
    found = {}
    for match in OPENING.finditer(text):
        inside = _inside(text, match.end())
        call = inside.strip() and _call(inside)
        if call:
            kinds = _kinds(match[1].rpartition(".")[2], inside)
            found.setdefault(match[1], call._replace(kinds=kinds))
    return found


def is_call(text):
    """Whether a text is one call and nothing else: `tf.nn.dropout(f(x), rate=0.5)`."""
    match = OPENING.match(text)
    if not match or not text.endswith(")"):
        return False
    return match.end() + len(_inside(text, match.end())) == len(text) - 1


def _inside(text, start):
    """Returns the text in a bracket that opens before `start`, or "" if unclosed."""
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
    """Parses arguments into a `records.Call`, or None if they are not valid Python."""
    # Only for tf.cond, the reader checks which functions just return a name.
    module = reader.read(f"import tensorflow as tf\ntf.cond({inside})\n".encode())
    if module.broken:
        return None
    return next((u.call for u in module.uses if u.origin == "tensorflow.cond"), None)


def _kinds(name, inside):
    """Returns the kinds of a call's arguments, in the form of `records.Call.kinds`."""
    if name not in constructs.asking():
        return ()
    head = f"from keras.layers import {name}" if name[:1].isupper() else ""
    full = name if head else f"tf.{name}"
    text = f"import tensorflow as tf\n{head}\n{full}({inside})\n"
    uses = reader.read(text.encode()).uses
    return tuple(
        k for use in uses if use.line == 3 and use.call for k in use.call.kinds
    )
