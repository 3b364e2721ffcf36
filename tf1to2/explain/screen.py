"""`tf1to2 explain`: what became of a name, or of what an error is about."""

import functools
import re
import sys
import textwrap

from tf1to2 import probes
from tf1to2.catalog import entries, facts, links
from tf1to2.common.errors import CommandError
from tf1to2.explain import errors_page, messages, questions, spelled, suggest
from tf1to2.pages import library, proven, sides, terminal, topics

ALSO, SEVERAL = 4, 8  # names that are told


def render(text, width=terminal.WIDTH, colour=False):
    """The explanation of a name, or of a pasted error.

    Args:
        text: a name as code has it: `tf.log`, `tensorflow.compat.v1.log`, `.eval`,
            `log`; an argument, `keep_dims=True`; a topic, `contrib_opt`; an error or
            a traceback as Python prints it; "-" for the standard input.
        width: columns of the side-by-side view.
        colour: whether to colour the code.

    Raises:
        CommandError: TensorFlow 1.15 had no such name, with the nearest ones; or nobody
            knows the error.
    """
    text = (sys.stdin.read() if text == "-" else text).strip()
    text = messages.without_nodes(text) or text
    if messages.is_message(text):
        return _of_error(text, width, colour)
    if argument := re.fullmatch(r"(\w+)=(?!=)\S*", text):
        return _of_argument(argument[1], width, colour)
    text = text.partition("(")[0] or text  # of a call, the name
    symbol = spelled.symbol(text)
    if text.removeprefix("v2_eager.").startswith("numerics."):
        symbol = ""
    if suggest.exists(symbol) or suggest.left_early(symbol):
        return _of_name(symbol, width, colour)
    if found := library.find(text):
        return _of_numerics(*found, width, colour)
    if members := suggest.members(text) or spelled.by_itself(text):
        return _several(members, width, colour)
    known = messages.by_type(text) or messages.by_word(text)
    if "." in text.strip("."):
        known = known or messages.by_name(text)
    if 0 < len(known) <= SEVERAL:
        return _of_advice(known, width)
    if meant := spelled.likely(text):
        return _several(meant, width, colour)
    if found := _having(text.rpartition(".")[2], text):
        return "\n".join(_of_passages(found, width))
    lines, near = [], []
    if topic := topics.topics().get(text):
        lines = [*_overview(topic, width), ""]
    else:
        near = suggest.near(text if "." in text else symbol)
        near = [*near, *library.near(text)]
    if found := questions.subjects_with(text):
        lines += _of_subjects(found, near, width)
    if lines:
        return "\n".join(lines)
    hint = f"did you mean {', '.join(near)}?" if near else "try tf1to2 topics"
    raise CommandError(f"TensorFlow 1.15 has no {text}; {hint}")


# --- A name.


def _of_name(symbol, width, colour, call=None):
    entry = entries.lookup(symbol)
    if entry is None:  # a module of which nothing is said
        entry = entries.Entry(symbol, "module", "same", pair=links.pair(symbol))
    entry = links.of_branches(entry, call)
    proven = links.proofs(symbol)
    probe = () if proven else _probe(symbol, width)
    lines = [*_verdict(symbol, entry, width), *probe, *_takes(symbol), ""]
    if not entry.topic:
        return "\n".join(lines)
    topic, name = _found(entry.pair)
    if name is None:
        return "\n".join([*lines, *_overview(topic, width)]) + "\n"
    by_keras = [f"  tf1to2 diff --keras {entry.pair}"] * (name in topic.distances)
    if entry.pair in proven:
        lines += _wrapped(_told(symbol, entry.pair), width, "")
        lines += [f"  tf1to2 verify {entry.pair}", *by_keras]
    else:
        lines += _wrapped(_told(symbol, entry.pair), width, "")
        lines += by_keras
        if proven:
            pairs = ", ".join(proven[:3])
            lines += _wrapped(
                f"identical on 1.15.5, where it is called: {pairs}", width, ""
            )
    return "\n".join([*lines, "", _sides(topic, name, width, colour)])


def _takes(symbol):
    """The commands by which a name's code is taken, if it stands in numerics."""
    names = library.stands_for({symbol, *facts.aliases(symbol)})
    return [f"  tf1to2 take {name}" for name in names]


def _told(symbol, pair):
    """What is proven of a name by its pair, in a line; or what the pair does."""
    topic, name = _found(pair)
    if pair in links.proofs(symbol):
        return _proof(topic, name)
    return f"see {pair}: {topic.summaries[name]}"


def _of_numerics(name, definition, width, colour):
    """A name of `numerics`: what it was, who needs it, and its code."""
    users = library.users(definition)
    more = f" and {len(users) - ALSO} more" if len(users) > ALSO else ""
    lines = _wrapped(f"{name}: {definition.first_line}", width, "")
    if users:
        lines += _wrapped(f"needed by {', '.join(users[:ALSO])}{more}", width)
    lines.append(f"  tf1to2 take {name}")
    return "\n".join([*lines, "", terminal.alone(definition, colour)])


def _sides(topic, name, width, colour):
    return terminal.side_by_side(sides.of_topic(topic), name, width, colour)


def _verdict(symbol, entry, width):
    """What is said of a name, and the other names that it had."""
    message = entry.message.removeprefix(f"{symbol}: ")
    lines = [f"{symbol}: {entry.verdict}", *_wrapped(message, width)]
    if entry.replacement not in entry.message:
        lines += _wrapped(f"write: {entry.replacement}", width)
    short = min(width, terminal.READABLE) - len("    ,")
    others = [n for n in facts.aliases(symbol) if n != symbol and len(n) <= short]
    others = sorted(others, key=suggest.plain_first)[:ALSO]
    return [*lines, *(_wrapped(f"also: {', '.join(others)}", width) if others else ())]


def _of_argument(name, width, colour):
    """What the guide has of an argument, and the names of TensorFlow 1 that took it."""
    found = _having(name, name)
    symbols = suggest.taking(name) or suggest.with_argument(name)
    if not (found or symbols):
        raise CommandError(f"TensorFlow 1.15 has no argument {name}")
    told = [_several(symbols, width, colour)] if symbols else []
    return "\n".join([*_of_passages(found, width), *told])


def _having(word, text):
    """The passages on a text that have a word of it, or parts of one with hyphens."""
    whole = re.compile(rf"\b{re.escape(word)}\b")
    return [p for p in questions.passages(text) if "-" in word or whole.search(p.text)]


def _probe(symbol, width):
    """What a probe of a name shows: both calls, and how their answers compare."""
    rows = probes.probed().get(symbol, ())
    owner, _, member = symbol.rpartition(".")
    rows = rows or [r for r in probes.probed().get(owner, ()) if f".{member}" in r.old]
    if not rows:
        return []
    row = min(rows, key=lambda row: (bool(row.why), row.old == row.new, len(row.new)))
    told = "identical on 1.15.5"
    if row.why:
        told = f"other than 1.15.5{row.where and f' on {row.where}'}: {row.why}"
    most = max(row.within) if isinstance(row.within, tuple) else row.within
    if most > probes.SIGN_OF_ZERO:
        told += f" (up to {most:.1g} of the largest)"
    names = facts.aliases(row.name)
    old, new = (
        _telling(row.old, names),
        _telling(row.new, [name.rpartition(".")[2] for name in names]),
    )
    lines = _wrapped(f"proven by a probe: {told}", width)
    if old == new:
        return [*lines, *_wrapped(f"as it was: {old}", width, "    ", max_lines=2)]
    lines += _wrapped(f"was: {old}", width, "    ", max_lines=2)
    return lines + _wrapped(f"now: {new}", width, "    ", max_lines=2)


def _telling(code, names):
    """The line of a program that has one of `names`; else the last that computes."""
    lines = [line.strip() for line in code.splitlines()]
    for name in (*names, "tf."):
        if found := [line for line in lines if name in line]:
            return found[-1]
    return [x for x in lines if not x.isidentifier()][-1]


def _wrapped(text, width, indent="  ", **options):
    """Lines of a paragraph: a terminal's width, and never too wide to read."""
    return textwrap.wrap(
        text,
        min(width, terminal.READABLE),
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words="max_lines" in options,  # code may have no spaces
        break_on_hyphens=False,
        placeholder=" …",
        **options,
    )


def _overview(topic, width):
    """The pairs of a topic, a line each."""
    longest = max(map(len, topic.pairs))
    lines = _wrapped(f"see {topic.name}: {topic.lesson}", width, "")
    for name in topic.pairs:
        line = f"  {name:{longest}}  {topic.summaries[name]}"
        if len(line) > min(width, terminal.READABLE):
            line = line[: min(width, terminal.READABLE) - 1].rpartition(" ")[0] + " …"
        lines.append(line)
    return [*lines, f"tf1to2 diff {topic.name}.NAME shows one of them"]


_found = functools.cache(topics.find)


def _proof(topic, name):
    proof = proven.proofs().get(topic.name, {}).get(name)
    if not proof:
        return f"{topic.name}.{name}"
    return (
        f"{topic.name}.{name}: {proven.verdict(proof)} on 1.15.5, "
        f"{proven.ways(proof)}, in {proven.cases(proof)}{_by_keras(topic, name)}"
    )


def _by_keras(topic, name):
    """How far the Keras form of a pair is, as the end of a line."""
    if name not in topic.distances:
        return ""
    far = topic.distances[name]
    told = topics.distance_told(far) + " of the largest value" * bool(far)
    return f"; by Keras {told}"


# --- Several names, and errors.


def _several(symbols, width, colour, calls=None):
    """Names told in short, and the first of them in full."""
    first = _of_name(symbols[0], width, colour, (calls or {}).get(symbols[0]))
    if len(symbols) == 1:
        return first
    lines = [f"{len(symbols)} names; here is the first of them"]
    for symbol in symbols[1:SEVERAL]:
        lines += _wrapped(entries.lookup(symbol).message, width)
    if len(symbols) > SEVERAL:
        lines.append(f"  and {len(symbols) - SEVERAL} more")
    return "\n".join(lines) + "\n\n" + first


NOTHING = "Nothing has these very words."
LIKE = f"{NOTHING} In words like these:\n"
NAMED = "By the name in them:\n"


def _of_error(text, width, colour):
    symbols, known, lead = messages.names(text), messages.advice(text), ""
    if not (symbols or known):
        known, lead = messages.likely(text), LIKE
    if not (symbols or known):
        return _of_words(text, width, colour)
    several = _several(symbols, width, colour) if symbols else ""
    told = [
        lead,
        _of_advice(known[:SEVERAL], width),
        "\n".join(_besides(text, known, width)),
        "\n".join(_beside(text, known, symbols, width)),
        several,
    ]
    return "\n".join(filter(None, told))


def _besides(text, known, width):
    """What the guide has of the other words of a line in which an error is told."""
    if "\n" in text:
        return []
    question, name = messages.without_what_is_missing(text)
    told = " ".join([name, *map(messages.words, known)])
    shown = {place for one in known for place in one.places}
    errors = [f"guide/{page}.md" for page in errors_page.PAGES]
    found = [
        passage
        for passage in questions.passages(question, 9, besides=told)
        if passage.page not in errors and not shown.issuperset(passage.places)
    ]
    return _of_passages(found[:2], width)


def _beside(text, known, symbols, width):
    """What became of the other names of a line in which an error is told."""
    if "\n" in text or not known:
        return []
    question, _ = messages.without_what_is_missing(text)
    told = " ".join(map(messages.words, known)).replace("tf.compat.v1.", "tf.")
    shown = {place for one in known for place in one.places}
    lines = []
    for symbol in messages.mentioned(question):
        entry = entries.lookup(symbol)
        if symbol in symbols or entry.verdict == "same" or "." not in entry.pair:
            continue
        if entry.pair in shown or any(name in told for name in facts.aliases(symbol)):
            continue
        lines += _wrapped(entry.message, width, "")
        lines += [f"    tf1to2 diff {entry.pair}", ""]
        shown.add(entry.pair)
    return [NAMED.strip(), *lines] if lines else []


def _of_words(text, width, colour):
    """What the guide has of the words of a question, then of the names in it."""
    found, symbols, calls = (
        questions.passages(text),
        *messages.mentioned_and_called(text),
    )
    error = messages.is_error(text)
    if error:  # by the names in it: the words are of many errors
        telling = messages.compounds(text)
        found = [p for p in found if any(word in p.text for word in telling)]
    if not (found or symbols):
        raise CommandError(
            f"nothing is known of this error: {messages.last(text)[:200]}; "
            "try the name that it is about: tf1to2 explain tf.NAME"
        )
    if found and all(map(messages.is_module, symbols)):
        symbols = []  # the guide says more than where a module went
    lead = [NOTHING] if error else []
    if not found:
        return "\n".join([*lead, NAMED + _several(symbols, width, colour, calls)])
    told = _of_names(symbols, calls, width) if symbols else []
    page = _page_of(found, text, width, colour) if symbols else []
    return "\n".join([*lead, *_of_passages(found, width), *told, *page])


def _of_names(symbols, calls, width):
    """Each name in short, and its pair: the code of one pair is enough."""
    lines = [NAMED.strip(), ""]
    for symbol in symbols[:SEVERAL]:
        entry = entries.lookup(symbol)
        if symbol in calls:  # what these arguments ask for, and no others
            entry = entries.judge(symbol, calls[symbol]) or entry
        entry = links.of_branches(entry, calls.get(symbol))
        lines += [*_verdict(symbol, entry, width), *_takes(symbol)]
        if "." in entry.pair:
            lines += _wrapped(_told(symbol, entry.pair), width)
            lines.append(f"    tf1to2 diff {entry.pair}")
        lines.append("")
    if len(symbols) > SEVERAL:
        lines += [f"and {len(symbols) - SEVERAL} more", ""]
    return lines


def _page_of(found, text, width, colour):
    """Both sides of the pair, of those in the passages, that the words fit best."""
    places = [place for passage in found for place in passage.places[:2]]
    if not places:
        return []
    place = max(places, key=questions.fits(text).get)
    topic, name = _found(place)
    summary = f"{place}: {topic.summaries[name]}"
    return [*_wrapped(summary, width, ""), "", _sides(topic, name, width, colour)]


def _of_passages(found, width):
    lines = ["The guide has, by some of these words:", ""] if found else []
    for passage in found:
        where = f"{passage.page}, {passage.heading}: "
        lines += _wrapped(where + passage.text, width, max_lines=6)
        lines += [f"    tf1to2 diff {place}" for place in passage.places[:2]] + [""]
    return lines


def _of_subjects(found, near, width):
    """Lines of {subject: pairs}, and names of TensorFlow 1 that are like the word."""
    lines = ["Subjects of the guide with this word:", ""]
    for subject, pairs in found.items():
        lines += _wrapped(subject, width)
        lines += [f"    tf1to2 diff {pair}" for pair in pairs[:2]]
    if near:
        lines += ["", *_wrapped(f"Names like it: {', '.join(near)}", width)]
    return [*lines, ""]


def _of_advice(known, width):
    return "\n".join("\n".join(_advice(one, width)) + "\n" for one in known)


def _advice(one, width):
    """What is said of a message: why, what to write, the pairs."""
    code = ["", textwrap.indent(one.code, "    ")] if one.code else []
    where = [f"  tf1to2 diff {place}" for place in one.places]
    return [one.message, *_wrapped(one.because, width), *code, *where]
