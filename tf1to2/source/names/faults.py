"""Finds the first syntax error of a file: line and column.

The tree marks a part that it could not parse, which may begin long before the error. So
Python parses the file, too, after the statements of Python 2 are replaced.
"""

import ast
import re
import warnings

# A print statement without a node, because the code around it could not be parsed.
PRINT = re.compile(rb"(?m)(^[ \t]*|[:;][ \t]*)print(?=[ \t]*[^\s\w(=.,\[)]|[ \t]+\w)")
STATEMENTS = ("print_statement", "exec_statement")
OLD_NUMBER = re.compile(rb"0\d+|\d+[lL]|0[xX][\da-fA-F]+[lL]")
AROUND = ("block", "module", "ERROR")  # types of nodes that contain statements
FEW = 8  # the most unknown statements of Python 2 to replace


def first(source):
    """Finds the position of the first syntax error of a file.

    Args:
        source: `syntax.Source`.

    Returns:
        (line, column), both from 1, the column in characters; None without an error.
    """
    if not source.root.has_error:
        return None
    node = _marked(source.root)
    line, column = node.start_point
    text = _as_python3(source)
    for _ in range(FEW):
        place = _python(text)
        if place is None:
            break
        if _is_broken(source, *place):
            return place
        text = _without(text, place[0])
    return line + 1, source.characters(node.start_byte, column) + 1


def _marked(node):
    """Returns the innermost node with the first syntax error below a node."""
    while inner := [c for c in node.children if c.has_error or c.is_missing]:
        node = inner[0]
    return node


def _python(text):
    """Returns (line, column) of the SyntaxError that Python raises, else None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return (error.lineno or 1), max(error.offset or 1, 1)
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def _is_broken(source, line, column):
    """Whether the tree also has an error in the statement at a place."""
    lines = source.source.split(b"\n")
    line = min(line, len(lines))
    start = sum(len(text) + 1 for text in lines[: line - 1])
    before = lines[line - 1].decode("utf-8", "replace")[: column - 1]
    at = min(start + len(before.encode()), len(source.source))
    node = source.root.descendant_for_byte_range(at, at)
    while node.parent is not None and node.parent.type not in AROUND:
        node = node.parent
    return node.has_error or node.parent is not None and node.parent.type == "ERROR"


def _without(text, line):
    """Returns the text with one line replaced by `pass`."""
    lines = text.split("\n")
    if line <= len(lines):
        indent = re.match(r"\s*", lines[line - 1])[0]
        lines[line - 1] = f"{indent}pass"
    return "\n".join(lines)


def _as_python3(source):
    """Returns the text with Python 2 syntax replaced; all positions stay the same."""
    changed, ahead = bytearray(source.source), [source.root]
    while ahead:
        node = ahead.pop()
        if node.type == "ERROR":
            continue
        span = slice(node.start_byte, node.end_byte)
        if node.type in STATEMENTS and not node.has_error:
            _blank(changed, span, b"pass")
        elif node.type == "raise_statement" and b"," in changed[span]:
            _blank(changed, span, b"pass")
        elif node.type == "except_clause":
            _blank_second(changed, node)
        elif node.type == "integer" and OLD_NUMBER.fullmatch(changed[span]):
            _blank(changed, span, b"1")
        elif node.type == "string" and changed[node.start_byte] == ord("`"):
            _blank(changed, span, b"1")
        elif node.type == "tuple_pattern" and "parameters" in node.parent.type:
            _blank(changed, span, b"_%d" % node.start_byte)
        elif node.type == "<>":
            changed[span] = b"!="
        ahead += node.children
    changed = PRINT.sub(rb"\1pass;", changed).replace(b"pass; >>", b"pass;   ")
    return changed.decode("utf-8", "replace")


def _blank(changed, span, text=b""):
    """Replaces a span by a short text, then pads with spaces; keeps line breaks."""
    old = bytes(changed[span])
    text = text[: len(old)]
    changed[span] = text + re.sub(rb"[^\n]", b" ", old[len(text) :])


def _blank_second(changed, node):
    """Changes `except E, e:` to `except E:`."""
    values = node.children_by_field_name("value")
    if len(values) == 2 and b"," in changed[values[0].end_byte : values[1].start_byte]:
        _blank(changed, slice(values[0].end_byte, values[1].end_byte))
