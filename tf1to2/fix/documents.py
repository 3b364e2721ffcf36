"""Edits files and notebooks, and keeps every other byte.

The scanner reads UTF-8 with "\\n" between lines, and a notebook as one text. This
module applies an edit of that text to the file itself, line by line. So encoding, line
ends, magics, outputs and layout stay.
"""

import bisect
import io
import json
import re
import tokenize

from tf1to2.fix import edits
from tf1to2.source import notebooks, sources
from tf1to2.source.notebooks import Unreadable

END = re.compile(r"\r\n|\r|\n")


class Document:
    """A file that can be edited.

    Args:
        path: of the file; the suffix says whether it is a notebook.

    Attributes:
        source: bytes, as the scanner reads them.

    Raises:
        Unreadable: the file cannot be read, or not be written with the same bytes.
    """

    def __init__(self, path):
        try:
            with open(path, "rb") as file:
                self.data = file.read()
        except OSError as error:
            raise Unreadable(str(error.strerror)) from error
        if path.endswith(".ipynb"):
            self.source, starts = notebooks.python(self.data)
            self.text, self.encoding = self.data.decode("utf-8-sig"), "utf-8"
            if self.data.startswith(b"\xef\xbb\xbf"):
                self.encoding = "utf-8-sig"
            self.cells = _cells(self.text)
            self.starts = list(starts)
        else:
            self.source = sources.utf8(self.data)
            line = io.BytesIO(self.data).readline
            self.encoding = tokenize.detect_encoding(line)[0]
            self.text = self.data.decode(self.encoding)
            self.cells, self.starts = [[_Line(self.text)]], [1]
        if self.text.encode(self.encoding) != self.data:
            raise Unreadable(f"encoding it as {self.encoding} gives different bytes")

    def edited(self, changes):
        """Applies edits; returns the new text and the cells that changed.

        Args:
            changes: list of `edits.Edit` of `source`.

        Returns:
            (str, [(number of the cell or None, old text, new text)]).
        """
        lines = self.source.split(b"\n")
        begins = [0]
        for line in lines:
            begins.append(begins[-1] + len(line) + 1)
        of_cells = {}
        for edit in edits.ordered(changes):
            places = [self._place(begins, lines, b) for b in (edit.start, edit.end)]
            if places[0][0] != places[1][0]:
                raise Unreadable("one edit would change two cells")
            cell = places[0][0]
            of_cells.setdefault(cell, []).append(
                (places[0][1:], places[1][1:], edit.text)
            )
        tokens, shown = [], []
        for cell, found in of_cells.items():
            pieces = self.cells[cell]
            old = "".join(piece.text for piece in pieces)
            new, cut = _replaced(pieces, found)
            number = cell + 1 if len(self.starts) > 1 or self._is_notebook else None
            shown.append((number, old, new))
            tokens += [
                (piece.start, piece.end, piece.written(text, self.text))
                for piece, text in zip(pieces, cut, strict=True)
                if text != piece.text
            ]
        parts, place = [], 0
        for start, end, text in sorted(tokens):
            parts += [self.text[place:start], text]
            place = end
        return "".join([*parts, self.text[place:]]), shown

    @property
    def _is_notebook(self):
        return not isinstance(self.cells[0][0], _Line) if self.cells else True

    def _place(self, begins, lines, byte):
        """Converts a byte offset of the source to (cell, line in the cell, column)."""
        line = bisect.bisect_right(begins, byte) - 1
        column = len(lines[line][: byte - begins[line]].decode("utf-8", "replace"))
        cell = bisect.bisect_right(self.starts, line + 1) - 1
        return cell, line + 1 - self.starts[cell], column


class _Line:
    """The text of a Python file, as a single piece."""

    def __init__(self, text):
        self.text, self.start, self.end = text, 0, len(text)

    def written(self, text, _):
        return text


class _Token(str):
    """A string token of a notebook's JSON, with its start and end in the file."""

    __slots__ = ("start", "end")

    @property
    def text(self):
        return str(self)

    def written(self, text, notebook):
        """Converts a text to JSON: one string per line, in the notebook's layout."""
        plain = notebook[self.start : self.end].isascii()
        before = notebook[: self.start]
        indent = before[len(before.rstrip(" \t\r\n")) :]
        whole = before.rstrip().endswith(":")
        lines = [text] if whole or not text else _lines(text)
        quoted = [json.dumps(line, ensure_ascii=plain) for line in lines]
        return ("," + (indent or " ")).join(quoted)


def _lines(text):
    ends = [match.end() for match in END.finditer(text)]
    if not ends or ends[-1] != len(text):
        ends.append(len(text))
    return [text[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def _replaced(pieces, found):
    """Applies edits to the strings of a cell; returns (new text, new strings).

    Args:
        pieces: the strings of a cell.
        found: the edits, [((line, column), (line, column), text)], in order.
    """
    whole = "".join(piece.text for piece in pieces)
    begins = [0, *(match.end() for match in END.finditer(whole))]
    end = END.search(whole)
    end = end[0] if end else "\n"
    spans, at = [], 0
    for piece in pieces:
        spans.append((at, at + len(piece.text)))
        at += len(piece.text)
    cut, place, number = ["" for _ in pieces], 0, 0
    last = len(pieces) - 1

    def copy(stop):
        nonlocal place, number
        while place < stop:
            while place >= spans[number][1]:
                number += 1
            upto = min(stop, spans[number][1])
            cut[number] += whole[place:upto]
            place = upto

    for (line, column), (last_line, last_column), text in found:
        start, stop = begins[line] + column, begins[last_line] + last_column
        copy(start)
        while number < last and start >= spans[number][1]:
            number += 1
        cut[number] += text.replace("\n", end)
        place = max(place, stop)
    copy(len(whole))
    return "".join(cut), cut


def _cells(text):
    """Returns a list of `_Token` lists: the strings of each code cell in a notebook."""
    decoder = json.JSONDecoder()
    scan = json.decoder.scanstring

    def parse_string(source, end, strict=True):
        value, stop = scan(source, end, strict)
        token = _Token(value)
        token.start, token.end = end - 1, stop
        return token, stop

    decoder.parse_string = parse_string
    decoder.scan_once = json.scanner.py_make_scanner(decoder)
    try:
        notebook = decoder.decode(text)
    except RecursionError as error:
        raise Unreadable("it is nested too deeply") from error
    found = []
    for cell in notebooks.cells_of(notebook):
        if cell.get("cell_type") == "code":
            source = cell.get("source", cell.get("input"))
            source = [] if source is None else source
            found.append(source if isinstance(source, list) else [source])
    return found
