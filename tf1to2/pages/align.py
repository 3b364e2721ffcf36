"""Aligns two pages: decides which left line and which right line share a row."""

import ast
import dataclasses
import difflib
import re

STEP = re.compile(r"^\s*# --- (?P<step>.+)$")


@dataclasses.dataclass(frozen=True)
class Row:
    """Two lines side by side.

    Attributes:
        left: line number on the left page, counted from 1, or None beside an addition.
        right: line number on the right page, or None beside a removal.
        same: whether the two lines are equal.
    """

    left: int | None
    right: int | None
    same: bool


@dataclasses.dataclass(frozen=True)
class Block:
    """The part of a page that belongs to one public name: lines [start, stop)."""

    name: str
    start: int
    stop: int


def blocks(source, names):
    """Splits a page at its public names.

    Args:
        source: text of the page.
        names: its public names, in order.

    Returns:
        List of Block: the head of the page under the name "", then one per name. Lines
        between two names belong to the first of them, blank lines to neither.
    """
    starts = [("", 1)]
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in names:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            starts.append((node.name, first))
    stops = [start for _, start in starts[1:]] + [source.count("\n") + 1]
    lines = source.splitlines()
    found = []
    for (name, start), stop in zip(starts, stops, strict=True):
        while stop > start and not lines[stop - 2].strip():
            stop -= 1
        found.append(Block(name, start, stop))
    return found


def align(left, right, left_block, right_block):
    """Pairs the lines of two blocks: by step markers, then by content.

    Args:
        left: list of the lines of the left page.
        right: list of the lines of the right page.
        left_block: Block of the left page.
        right_block: Block of the right page.

    Returns:
        List of Row, in which every line of both blocks appears once.
    """
    here, there = _steps(left, left_block), _steps(right, right_block)
    matcher = difflib.SequenceMatcher(
        None, [step for step, _ in here], [step for step, _ in there], False
    )
    rows = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            for (_, ours), (_, theirs) in zip(here[a:b], there[c:d], strict=True):
                rows += _align_lines(left, right, ours, theirs)
        else:
            ours = [n for _, numbers in here[a:b] for n in numbers]
            theirs = [n for _, numbers in there[c:d] for n in numbers]
            rows += _align_lines(left, right, ours, theirs)
    return rows


def _steps(lines, block):
    """Lists (step name, line numbers); lines before the first marker have step ""."""
    steps = [("", [])]
    for number in range(block.start, block.stop):
        marker = STEP.match(lines[number - 1])
        if marker:
            steps.append((marker["step"], []))
        steps[-1][1].append(number)
    return steps


def _align_lines(left, right, ours, theirs):
    a = [left[n - 1] for n in ours]
    b = [right[n - 1] for n in theirs]
    rows = []
    matcher = difflib.SequenceMatcher(lambda line: not line.strip(), a, b, False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            pairs = zip(ours[i:j], theirs[k:m], strict=True)
            rows += [Row(x, y, True) for x, y in pairs]
        else:
            rows += _align_changed(left, right, ours[i:j], theirs[k:m])
    return rows


def _align_changed(left, right, ours, theirs):
    """Pairs changed lines, in order, so that the most similar lines share a row."""
    if not ours or not theirs:
        return [Row(n, None, False) for n in ours] + [
            Row(None, n, False) for n in theirs
        ]

    # The best total similarity of ours[i:] and theirs[k:], filled from the end.
    best = [[0.0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    likeness = [[0.0] * len(theirs) for _ in ours]
    matcher = difflib.SequenceMatcher(None, autojunk=False)
    for k, y in enumerate(theirs):
        matcher.set_seq2(right[y - 1].strip())
        for i, x in enumerate(ours):
            matcher.set_seq1(left[x - 1].strip())
            if matcher.real_quick_ratio() > 0.4 and matcher.quick_ratio() > 0.4:
                likeness[i][k] = matcher.ratio()
    for i in reversed(range(len(ours))):
        for k in reversed(range(len(theirs))):
            together = max(likeness[i][k] - 0.4, 0) + best[i + 1][k + 1]
            best[i][k] = max(together, best[i + 1][k], best[i][k + 1])
    rows, i, k = [], 0, 0
    while i < len(ours) and k < len(theirs):
        gain = likeness[i][k] - 0.4
        if gain > 0 and best[i][k] == gain + best[i + 1][k + 1]:
            same = left[ours[i] - 1] == right[theirs[k] - 1]  # such as blank lines
            rows.append(Row(ours[i], theirs[k], same))
            i, k = i + 1, k + 1
        elif best[i][k] == best[i + 1][k]:
            rows.append(Row(ours[i], None, False))
            i += 1
        else:
            rows.append(Row(None, theirs[k], False))
            k += 1
    rows += [Row(n, None, False) for n in ours[i:]]
    return rows + [Row(None, n, False) for n in theirs[k:]]
