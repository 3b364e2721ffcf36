"""Prints an `Answer` as one screen: what to write, why, the pair and its code."""

import dataclasses
import re
import shlex
import textwrap

from tf1to2 import probes
from tf1to2.catalog import facts
from tf1to2.catalog.entry import KERAS_1_IN
from tf1to2.explain import messages, spelled, suggest, use
from tf1to2.explain.answer import find_pair, proof, summary
from tf1to2.pages import library, sides, terminal

LINES = 25
"""The lines of one screen; `full` shows all lines."""
CODE = 6  # the least number of lines of a pair's code
ROUNDING = 1e-3  # of the largest value: a larger difference is another number
CAUSES = 4  # the most causes of a symptom
FEW = 3  # the most sentences, names of Keras 1, and other names
LIKE = "The guide does not have this exact text. It has similar text:"
NAMED = "Names in your text:"
LACKS = "No passage has all of these words. The nearest one lacks {}:"


def render(answer, width=terminal.WIDTH, colour=False, full=False):
    """Formats an answer as text: at most `LINES` lines, or all lines if `full`.

    Args:
        answer: `Answer`, not an empty one.
        width: columns.
        colour: whether to colour the code.
        full: whether to show all lines.

    Returns:
        The text, of at most `LINES` lines unless `full`.
    """
    told = _Told(width, full)
    lines = [LIKE] if answer.advice and not answer.exact else []
    lines += _advices(answer.advice, told)
    if answer.numerics:
        return "\n".join([*lines, *_numerics(answer.numerics, told, colour)]) + "\n"
    shown = [place for one in answer.advice for place in one.places]
    if answer.advice:
        lines += _short(answer.names, told, shown=shown)
    elif answer.by == "words":  # a question: the guide says more than a name
        lines += _short(answer.names[: answer.ahead], told)
        lines += _lacks(answer, told)
        answer = dataclasses.replace(answer, names=answer.names[answer.ahead :])
        lines += _passages(answer.passages, told)
    lines += [] if answer.advice else _names(answer, told)
    lines += [] if answer.by == "words" else _passages(answer.passages, told)
    lines += _short(answer.beside, told, NAMED)
    lines += _topic(answer.topic, told) if answer.topic else []
    lines += _subjects(answer, told)
    while lines and not lines[-1]:
        lines.pop()
    page = bool(answer.page) and not answer.advice
    last = []
    if page and answer.by == "words":
        last = ["", *told.wrapped(f"{answer.page}: {summary(answer.page)}", "")]
    lines = [*_cut(lines, answer.asked, told, LINES - len(last)), *last]
    if page:
        lines += _page(answer.page, LINES - len(lines), told, colour)
    return "\n".join(lines) + "\n"


def nothing(answer):
    """Returns the message for an answer without results, with any similar names."""
    asked = textwrap.shorten(answer.asked.splitlines()[-1], 200, placeholder=" …")
    near = ", ".join(answer.near)
    if asked in messages.WORDLESS:
        return f"{asked} alone is not enough: give its message, or the traceback"
    if " " in asked:
        hint = f"; the nearest topics: {near}" if near else ""
        return f"nothing in the guide has these words: {asked}{hint}"
    if argument := spelled.ARGUMENT.fullmatch(asked):
        return f"no function of TensorFlow 1.15 has an argument {argument[1]}"
    hint = f"did you mean {near}?" if near else "see the topics: tf1to2 topics"
    return f"TensorFlow 1.15 has no {asked}; {hint}"


class _Told:
    """Wraps text to the width of a terminal, but not wider than is easy to read."""

    def __init__(self, width, full):
        self.width, self.full = width, full
        self.column = min(width, terminal.READABLE)

    def wrapped(self, text, indent="  ", lines=None):
        """Wraps a paragraph into lines: at most `lines`, or all if `full` is set."""
        cut = {} if lines is None or self.full else {"max_lines": lines}
        return textwrap.wrap(
            text,
            self.column,
            initial_indent=indent,
            subsequent_indent=indent + "  ",
            break_on_hyphens=False,
            placeholder=" …",
            **cut,
        )


def _cut(lines, asked, told, room):
    """Cuts lines to the screen's height; adds the command that shows the rest."""
    if told.full or len(lines) <= room:
        return lines
    more = len(lines) - room + 1
    whole = f"tf1to2 explain --full {shlex.quote(asked)}"
    if "\n" in asked or len(whole) > told.column:
        whole = "--full shows them"
    return [*lines[: room - 1], f"… {more} more lines: {whole}"]


# --- Names.


def _names(answer, told):
    """Formats the names of an answer: the first in full, the others in short."""
    if not answer.names:
        return []
    first, *rest = answer.names
    lines = _name(first, told)
    return [*lines, *_short(tuple(rest), told, "Also:")]


def _short(names, told, lead="", shown=()):
    """Formats names in short: the replacement, and the pair if it is not in `shown`."""
    lines = [lead] if lead and names else []
    for name in names[: None if told.full else FEW]:
        lines += told.wrapped(name.entry.message, "  " if lead else "", lines=3)
        lines += [f"    tf1to2 diff {name.page}"] * (name.page not in ("", *shown))
    if len(names) > FEW and not told.full:
        lines.append(f"  and {len(names) - FEW} more")
    return lines + [""] * bool(lines)


def _name(name, told):
    """Formats one name in full, without the code of its pair."""
    lines = [f"{name.symbol}: {name.entry.verdict}"]
    lines += [*_write(name.entry, told), *_why(name.entry, told)]
    lines += _also(name.symbol, told)
    if not name.proofs:
        lines += _probe(name, told)
    if taken := use.lines(name.takes):
        for line in taken[: None if told.full else FEW + 2]:
            lines += told.wrapped(line)
    lines += _pair(name, told)
    return [*lines, ""]


def _write(entry, told):
    if entry.form:
        return told.wrapped(f"write: {entry.form}")
    if entry.becomes:
        verb = "use" if entry.verdict == "removed" else "it becomes"
        return told.wrapped(f"{verb} {entry.becomes}")
    plain = {
        "same": "it is the same in TensorFlow 2",
        "changed": "keep the name, but its arguments or its result have changed",
        "removed": "TensorFlow 2 has no replacement",
    }
    return told.wrapped(plain[entry.verdict]) if entry.verdict in plain else []


def _why(entry, told):
    """Formats an entry's note and changes, then the changed keywords of Keras 1."""
    if entry.public:
        return [*told.wrapped("it is not public"), *_why(entry.public, told)]
    few = None if told.full else FEW
    shown = [c for c in entry.changes if not c.keras_1 and (c.how != "moved" or c.near)]
    if told.full:
        shown = [c for c in entry.changes if not c.keras_1]
    sentences = [c.told(bare=bool(entry.form)) for c in shown]
    sentences = list(dict.fromkeys([*filter(None, [entry.note]), *sentences]))
    lines = [line for text in sentences[:few] for line in told.wrapped(text, lines=3)]
    if few and len(sentences) > few:
        lines.append(f"  and {len(sentences) - few} more changes")
    old = [f"{argument}= → {new}=" for argument, new in entry.from_keras_1.items()]
    if old:
        more = f", and {len(old) - FEW} more" if few and len(old) > FEW else ""
        told_of = f"From Keras 1: {', '.join(old[:few])}{more} ({KERAS_1_IN})"
        lines += told.wrapped(told_of)
    return lines


def _also(symbol, told):
    """Formats the line with an object's other names, except in contrib's Keras."""
    names = [n for n in facts.aliases(symbol) if n != symbol and ".keras.api." not in n]
    names = sorted(names, key=suggest.plain_first)[: None if told.full else FEW]
    return told.wrapped(f"other names: {', '.join(names)}") if names else []


def _pair(name, told):
    """Formats the pair of a name: its proof or summary, and its commands."""
    entry, page = name.entry, name.page
    if not page:
        return ["", *_topic(entry.topic, told)] if entry.topic else []
    if page in name.proofs:
        lines = told.wrapped(f"{page}: {proof(page) or summary(page)}", "")
    else:
        lines = told.wrapped(f"see {page}: {summary(page)}", "")
        if name.proofs:
            pairs = ", ".join(name.proofs[:FEW])
            lines += told.wrapped(
                f"proven identical on 1.15.5 in pairs that call it: {pairs}"
            )
    return ["", *lines, *_ways(page, told)]


def _ways(page, told):
    """Formats the commands that show a pair and, with --full, verify it."""
    topic, name = find_pair(page)
    lines = [f"  tf1to2 diff {page}"]
    if name in topic.distances:
        lines.append(f"  tf1to2 diff --keras {page}")
    if told.full:
        lines.append(f"  tf1to2 verify {page}")
    return lines


def _probe(name, told):
    """Formats a probe: the old call, the new call, and how their results compare."""
    row = name.probe
    if row is None:
        return []
    what, most = "identical on 1.15.5", row.within
    most = max(most) if isinstance(most, tuple) else most
    if row.why:
        far = "different from"
        if probes.SIGN_OF_ZERO < most < ROUNDING:
            far = f"within {most:.1g} of the largest value of"
        what = f"{far} 1.15.5{row.where and f' on {row.where}'}: {row.why}"
    names = facts.aliases(row.name)
    old = _telling(row.old, names)
    new = _telling(row.new, [one.rpartition(".")[2] for one in names])
    lines = told.wrapped(f"proven by a probe: {what}")
    if old == new:
        return [*lines, *told.wrapped(f"unchanged: {old}", "    ", 2)]
    lines += told.wrapped(f"was: {old}", "    ", 2)
    return lines + told.wrapped(f"now: {new}", "    ", 2)


def _telling(code, names):
    """Finds the last line of code with one of `names`, or else the last computation."""
    lines = [line.strip() for line in code.splitlines()]
    for name in (*names, "tf."):
        if found := [line for line in lines if name in line]:
            return found[-1]
    return [x for x in lines if not x.isidentifier()][-1]


# --- Code.


def _page(page, room, told, colour):
    """Formats the code of a pair: all with --full, otherwise what fits the screen."""
    topic, name = find_pair(page)
    shown = sides.of_topic(topic)
    if told.full:
        return ["", *terminal.side_by_side(shown, name, told.width, colour).split("\n")]
    if room < CODE + 2:
        return []
    return ["", *terminal.excerpt(shown, name, told.width, colour, room - 1)]


def _numerics(name, told, colour):
    """Formats a name of `numerics`: its description, usage and code."""
    definition = library.numerics()[name]
    lines = told.wrapped(f"{name}: {definition.first_line}", "")
    for line in use.lines([name]):
        lines += told.wrapped(line)
    users = library.users(definition)
    if users:
        more = f" and {len(users) - FEW} more" if len(users) > FEW else ""
        lines += told.wrapped(f"needed by {', '.join(users[:FEW])}{more}")
    code = terminal.alone(definition, colour).rstrip().split("\n")
    room = LINES - len(lines) - 2
    if told.full or len(code) <= room:
        return [*lines, "", *code]
    more = len(code) - room
    return [*lines, "", *code[:room], f"… {more} more lines: tf1to2 diff {name}"]


# --- Messages, passages, topics.


def _advices(advice, told):
    """Formats the sections for a message: the first in full, the others in short."""
    lines = []
    for number, one in enumerate(advice):
        whole = told.full or not number
        lines.append(one.message)
        if whole and one.code:
            lines += textwrap.indent(one.code.rstrip(), "    ").split("\n")
        lines += told.wrapped(one.because, lines=None if whole else 2)
        lines += [f"  tf1to2 diff {place}" for place in one.places]
        lines.append("")
    return lines


def _lacks(answer, told):
    """Formats the line that lists the question's words missing in the best passage."""
    words = answer.passages[0].lacks if answer.passages else ()
    return told.wrapped(LACKS.format(", ".join(words[:FEW])), "") if words else []


def _passages(passages, told):
    lines = []
    for number, passage in enumerate(passages):
        where = f"{passage.page}, {passage.heading}:"
        if "\n" in passage.text:
            lines += [*told.wrapped(where, ""), *_causes(passage.text, told)]
        else:
            whole = f"{where} {passage.text}"
            lines += told.wrapped(whole, "", 3 if number else 9)
        lines += [f"  tf1to2 diff {place}" for place in passage.places[:2]] + [""]
    return lines


def _causes(text, told):
    """Formats the causes of a symptom, the most probable first."""
    causes = text.split("\n")
    shown = causes[: None if told.full else CAUSES]
    lines = [line for one in shown for line in told.wrapped(one, lines=2)]
    if len(shown) < len(causes):
        lines.append(f"  and {len(causes) - len(shown)} more causes")
    return lines


def _topic(name, told):
    """Formats a topic: its lesson, and one line for each pair."""
    topic, _ = find_pair(name)
    longest = max(map(len, topic.pairs))
    lines = told.wrapped(f"see {topic.name}: {topic.lesson}", "")
    for pair in topic.pairs:
        line = f"  {pair:{longest}}  {topic.summaries[pair]}"
        if len(line) > told.column:
            line = line[: told.column - 1].rpartition(" ")[0] + " …"
        lines.append(line)
    return [*lines, f"tf1to2 diff {topic.name}.NAME shows one of them"]


def _subjects(answer, told):
    """Formats the subjects with their pairs, and similar names."""
    if not answer.subjects:
        return []
    lines = [""] * bool(answer.topic) + ["Subjects of the guide with this word:", ""]
    for subject, pairs in answer.subjects.items():
        lines += told.wrapped(subject)
        lines += [f"    tf1to2 diff {pair}" for pair in pairs[:2]]
    if answer.near:
        lines += ["", *told.wrapped(f"Similar names: {', '.join(answer.near)}")]
    return lines


def as_json(answer):
    """Converts an answer to a dictionary of plain values, for `--format json`."""
    return {
        "asked": answer.asked,
        "by": answer.by,
        "exact": answer.exact,
        "names": [_json_of(name) for name in answer.names],
        "beside": [_json_of(name) for name in answer.beside],
        "advice": [one._asdict() for one in answer.advice],
        "passages": [one._asdict() for one in answer.passages],
        "numerics": answer.numerics,
        "topic": answer.topic,
        "subjects": answer.subjects,
        "pair": answer.page,
        "near": list(answer.near),
    }


def _json_of(name):
    entry = name.entry
    return {
        "symbol": name.symbol,
        "verdict": entry.verdict,
        "write": entry.form,
        "becomes": entry.becomes,
        "note": entry.note,
        "renames": entry.renames,
        "gone": list(entry.gone),
        "defaults": {k: list(v) for k, v in entry.defaults.items()},
        "positions": {k: list(v) for k, v in entry.positions.items()},
        "from_keras_1": entry.from_keras_1,
        "notes": [c.note for c in entry.changes if c.note],
        "public": entry.public.symbol if entry.public else "",
        "pair": entry.pair,
        "proven": bool(name.page) and name.page in name.proofs,
        "proof": proof(name.page) if name.page else "",
        "take": list(name.takes),
        "message": re.sub(r"\s+", " ", entry.message),
    }
