"""What became of every public name of TensorFlow 1.15: a verdict and a proven pair.

The facts (see facts.py) say what is there today and with which arguments;
verdicts.tsv, written by hand, says what the facts cannot; links.tsv leads to the pairs.
To change what the scanner says of a name, edit verdicts.tsv.
"""

import dataclasses
import difflib
import fnmatch
import functools
import re

from tf1to2.catalog import facts, links, signatures, standalone, verdicts

VERDICTS = verdicts.VERDICTS
FINAL = ("rewrite", "removed", "private")  # whatever the arguments are
MESSAGES = {
    "same": "is the same in TensorFlow 2",
    "renamed": "is {replacement} now",
    "changed": "has the same name and another meaning in TensorFlow 2",
    "rewrite": "becomes {replacement}",
    "removed": "is gone; there is {replacement}",
    "private": "is not public: it may change in any release",
}


@dataclasses.dataclass(frozen=True)
class Entry:
    """What there is to say of a name.

    A `changed` name is a false friend in code that was written for TensorFlow 1, and in
    other code just a name; all other verdicts but `same` betray TensorFlow 1.

    Attributes:
        symbol: the name, as in `tf.train.AdamOptimizer`; members with their class, as
            in `tf.Session.run`; those of an unknown object as in `.eval`.
        kind: as `facts.Fact.kind`.
        verdict: one of `VERDICTS`.
        replacement: what to write instead, or "".
        topic: the topic that shows it, or "".
        pair: "topic.name", only the topic, or "".
        what: what changed, in a sentence.
    """

    symbol: str
    kind: str
    verdict: str
    replacement: str = ""
    pair: str = ""
    what: str = ""

    @property
    def topic(self):
        return self.pair.partition(".")[0]

    @property
    def message(self):
        """The finding in one sentence, which always says what to write instead."""
        if self.what:
            told = not self.replacement or self.replacement in self.what
            if told or re.search(r"\bwrite\b", self.what):
                return f"{self.symbol}: {self.what}"
            if self.verdict == "renamed":
                return f"{self.symbol}: is {self.replacement} now; {self.what}"
            there = "there is" if self.verdict in ("removed", "private") else "write:"
            return f"{self.symbol}: {self.what}; {there} {self.replacement}"
        text = MESSAGES[self.verdict]
        if self.verdict == "private" and self.replacement:
            text = "is not public; there is {replacement}"
        text = text.format(replacement=self.replacement or "nothing in its place")
        return f"{self.symbol} {text}"


def lookup(symbol):
    """The entry of a name or member, or of the nearest name above it.

    `tf.flags.FLAGS.batch_size` is an attribute of `tf.flags.FLAGS`.

    Args:
        symbol: as `tf.nn.relu`, `tf.Session.run`; a full name under `tensorflow.python`
            is private.

    Returns:
        `Entry`, which tells every argument that changed; or None for what TensorFlow
        1.15 never had.
    """
    return _find(symbol, _named, lookup)


def judge(symbol, call=None):
    """As `lookup`, but of one use: only what this call feels is told.

    Args:
        symbol: the name.
        call: `records.Call`, or None where the name is only mentioned.
    """
    return _find(
        symbol,
        functools.partial(_used, call=call),
        functools.partial(judge, call=call),
    )


def compared(symbol):
    """What a name was and is.

    Returns:
        (`Entry` without what its arguments may meet, or None; the signature of 1.15.5;
        today's signature, of the replacement where it has one).
    """
    return _judged(symbol)


def lives(symbol):
    """Whether TensorFlow 2 has the name, with whatever meaning and arguments."""
    fact = facts.fact(symbol)
    return fact is not None and bool(fact.here)


def rejects(symbol, call):
    """Whether TensorFlow 2 rejects an argument of a call, whatever the verdict.

    Args:
        symbol: the name.
        call: `records.Call` or None.
    """
    if call is None:
        return False
    _, before, now = _judged(symbol)
    rows = verdicts.arguments(symbol)
    found = signatures.felt(call, before, now)
    return any(
        d.how in ("gone", "renamed") and rows.get(d.argument, " ")[0] != "same"
        for d in found
    ) or any(
        rows[d.argument][0] in ("renamed", "rewrite", "removed")
        for d in _known_to_the_table(symbol, call, before, now)
    )


@functools.cache
def is_listed(symbol):
    """Whether a name has an entry of its own, and not only one by its module."""
    if symbol in facts.names() or symbol in verdicts.table()[0]:
        return True
    owner, _, name = symbol.rpartition(".")
    return owner in facts.names() and (
        facts.member(owner, name) is not None or _member(symbol) is not None
    )


def near(symbol, count=3):
    """Known names that look like `symbol`."""
    return difflib.get_close_matches(symbol, facts.names(), count, 0.6)


def symbols():
    """Every name that has an entry of its own, sorted."""
    known = (symbol for symbol, kind, *_ in facts.names().values() if kind != "module")
    return sorted({*known, *verdicts.table()[0]})


# `tf.contrib.rnn.python.ops.rnn_cell.GLSTMCell` is `tf.contrib.rnn.GLSTMCell`, and
# what is deep in a module of contrib may be `tf.contrib.learn.learn_runner.run`.
DEEP = re.compile(r"^(tf\.contrib\.\w+\.)python\.((?:\w+\.)*)(\w+)$")
KERAS = """activations applications backend callbacks constraints datasets initializers
layers losses metrics models optimizers preprocessing regularizers utils wrappers"""
# Modules that contrib's modules had by another name.
FACADES = (
    *(
        (f"tf.contrib.keras.{m}", f"tf.contrib.keras.api.keras.{m}")
        for m in KERAS.split()
    ),
    ("tf.contrib.learn.monitors", "tf.contrib.learn.graph_actions.monitors_lib"),
    ("tf.contrib.eager.python.tfe", "tf.contrib.eager"),
    ("tf.contrib.slim.layers", "tf.contrib.layers"),
    ("tf.contrib.slim.initializers", "tf.contrib.layers"),
    ("tf.contrib.slim.regularizers", "tf.contrib.layers"),
    ("tf.contrib.slim.metrics", "tf.contrib.metrics"),
    ("tf.contrib.slim.losses", "tf.contrib.losses"),
    # names.tsv has a module that several import by its first name alone.
    *(
        (module, "tf.contrib.grid_rnn.layers.feature_column.layers.utils")
        for module in ("tf.contrib.layers.python.layers.utils", "tf.contrib.slim.utils")
    ),
)
# Not public in any version.
PRIVATE = ("tf.python.", "tf.core.", "tf.tools.", "tf.compiler.", "tf.stream_executor.")


def short(symbol):
    """The usual name of what lies deep in contrib or in a module's other name."""
    for module, real in FACADES:
        if symbol == module or symbol.startswith(module + "."):
            return real + symbol.removeprefix(module)
    return DEEP.sub(_raised, symbol)


def _raised(deep):
    """The first of a deep name's spellings that there is, the shortest first."""
    package, modules, name = deep.groups()
    parts = modules.split(".")  # the last one is empty
    spellings = [
        package + ".".join(parts[first:]) + name
        for first in range(len(parts) - 1, -1, -1)
    ]
    return next((s for s in spellings if facts.fact(s)), spellings[0])


def _find(symbol, entry_of, of_public):
    if symbol.startswith(PRIVATE):
        return _private("tensorflow" + symbol[2:], of_public)
    asked = symbol
    while symbol and symbol != "tf":
        entry = entry_of(symbol)
        if entry:  # what a module did not have then is new, and not for us to judge
            return entry if symbol == asked or entry.kind != "module" else None
        symbol = symbol.rpartition(".")[0]
    return None


# --- What there is to say of a name, and of one use of it.


def _named(symbol):
    """The entry of a name, with all that may concern a call."""
    entry, before, now = _judged(symbol)
    if entry is None or entry.verdict in FINAL:
        return entry
    if entry.verdict == "same" and entry.what:
        return entry  # the table says why what differs does no harm
    found = list(signatures.differences(before, now))
    known = {d.argument for d in found if d.how != "moved"}
    own = verdicts.own_arguments(symbol)
    found += [_passed(name) for name in own if name not in known]
    told = _harmful(entry, symbol, found)
    twice = {d.argument for d, _ in told if d.how in ("gone", "renamed")}
    twice |= set(signatures.LABELS)  # nobody passes them by position
    told = [
        one for one in told if one[0].how != "moved" or one[0].argument not in twice
    ]
    if not told:
        return entry
    if entry.verdict == "renamed":
        hard = any(d.when_left_out or _moves(d, before) for d, _ in told)
        return _with(entry, "rewrite" if hard else "renamed", told)
    return _with(entry, "changed", told)


def _used(symbol, call):
    """The entry of a name, with what one call or mention feels."""
    entry, before, now = _judged(symbol)
    if entry is None or entry.verdict in FINAL:
        return entry and _felt_by(entry, symbol, call)
    found = [] if call is None else _known_to_the_table(symbol, call, before, now)
    if entry.verdict == "changed":  # perhaps it is written for TensorFlow 2
        rows = verdicts.arguments(symbol)
        new = any("='" in d.argument and rows[d.argument][0] == "same" for d in found)
        if new or signatures.is_new(call, before, now):
            return dataclasses.replace(entry, verdict="same", what="")
    found = signatures.felt(call, before, now) + found
    told = _harmful(entry, symbol, found)
    if not told:
        return entry
    hows = {difference.how for difference, _ in told}
    if "gone" in hows:
        verdict = "rewrite"
    elif "renamed" in hows and entry.what:
        verdict = "rewrite"
    elif hows == {"renamed"}:
        verdict = "renamed"
    else:
        verdict = "rewrite" if entry.verdict == "renamed" else "changed"
    own = [row[0] for _, row in told if row and row[0] != "same"]
    if own:
        own += [entry.verdict] * bool(entry.what)
        verdict = max(own, key=VERDICTS.index)
    return _with(entry, verdict, told)


def _known_to_the_table(symbol, call, before, now):
    """What a call passes that only verdicts.tsv says something of."""
    found = signatures.differences(before, now)
    known = {d.argument for d in found if d.how != "moved"}
    old = signatures.parameters(before)[0] if before else {}
    found = []
    for name in verdicts.arguments(symbol):
        argument, _, value = name.partition("=")
        place = old[argument].place if argument in old else None
        if argument.isdigit():
            place = int(argument)
        if value == "[]":
            passed = argument in call.lists or place in call.lists
        elif value:
            passed = any(
                where in (argument, place) and fnmatch.fnmatchcase(text, value[1:-1])
                for where, text in call.texts
            )
        else:
            passed = signatures.passes(call, name, place)
        if passed and name not in known:
            found.append(_passed(name))
    return found


def _passed(name):
    """What only verdicts.tsv knows of an argument."""
    return signatures.Difference("passed", name, "", None)


def _harmful(entry, symbol, found):
    """[(difference, row of the argument or None)] without what does no harm."""
    rows, told = verdicts.arguments(symbol), []
    for difference in found:
        row = rows.get(difference.argument)
        if row and row[0] == "same" and difference.how != "moved":
            continue
        if entry.verdict == "same" and entry.what and difference.when_left_out:
            continue  # the table says why it does no harm
        told.append((difference, row))
    return told


def _moves(difference, before):
    """Whether an argument that every call passes has another place."""
    if difference.how != "moved":
        return False
    return signatures.parameters(before)[0][difference.argument].default is None


def _with(entry, verdict, told):
    """An entry that says what became of arguments; the table says it best."""
    rows = [row for _, row in told if row and row[0] != "same"]
    sentences = [row[2] if row and row[0] != "same" else d.text for d, row in told]
    if entry.what:  # the table says it better, but for what it does not name
        own = [
            row[2] if row and row[0] != "same" else d.text
            for d, row in told
            if row or not _named_by(entry, d)
        ]
        sentences = [*own, entry.what]
    what = "; ".join(dict.fromkeys(filter(None, sentences)))
    if entry.verdict == "renamed" and not entry.what:
        what = f"is {entry.replacement} now; {what}"
    new = list(dict.fromkeys(row[1] for row in rows if row[1]))
    replacement = ", ".join(new if len(new) < 3 else new[:1]) or entry.replacement
    if entry.verdict == "renamed":
        replacement = entry.replacement
    return dataclasses.replace(
        entry, verdict=verdict, replacement=replacement, what=what
    )


def _named_by(entry, difference):
    """Whether the table's sentence of a name tells of an argument already."""
    if difference.how in ("moved", "new", "gone") and "argument" in entry.what:
        return True
    return bool(re.search(rf"\b{difference.argument}=?\b", entry.what))


def _felt_by(entry, symbol, call):
    """An entry by an alias without those defaults that a call does not feel."""
    fact = facts.fact(symbol)
    if call is None or not (fact and fact.moved) or not entry.what:
        return entry
    what = entry.what
    for d in signatures.differences(fact.signature, fact.signature_today):
        if d.how == "default" and signatures.passes(call, d.argument, d.place):
            what = what.replace(f"{d.text}; ", "")
    return dataclasses.replace(entry, what=what)


# --- The table and the facts together.


@functools.cache
def _judged(symbol):
    """(Entry or None, the signature then, the signature today)."""
    fact, row = facts.fact(symbol), verdicts.table()[0].get(symbol)
    if symbol.startswith("."):
        return (_entry(symbol, "method", *row) if row else None), "", ""
    if fact is None and row is None:
        return _member(symbol) or (_deep(symbol), "", "")
    if fact is None:
        return _entry(symbol, "func", *row), "", ""
    row = row or _row_of_alias(fact)
    entry = _entry(symbol, fact.kind, *row) if row else _by_facts(fact)
    if entry.verdict in FINAL or fact.kind == "module":
        return entry, "", ""
    now = fact.signature_today
    place = fact.moved or symbol
    if place.startswith("tf.keras.") and fact.kind == "class":
        now = now.replace(", **kwargs)", ")")  # which Keras 3 refuses
    if entry.verdict == "renamed" and entry.replacement != fact.moved:
        now = facts.now(entry.replacement)
    return entry, fact.signature, now


def _row_of_alias(fact):
    """What the table says of the object by another name, as far as it is true here."""
    exact = verdicts.table()[0]
    row = next((exact[n] for n in facts.aliases(fact.symbol) if n in exact), None)
    if row is None:
        return None
    verdict, replacement, what = row
    of_the_name = verdict in ("same", "changed")
    if fact.here:
        return row if of_the_name else None
    if fact.moved and of_the_name:  # and what it means is another thing
        found = signatures.differences(fact.signature, fact.signature_today)
        known = verdicts.own_arguments(fact.symbol)
        changed = [
            d.text for d in found if d.how == "default" and d.argument not in known
        ]
        return (
            "rewrite",
            fact.moved,
            "; ".join([f"is {fact.moved} now", *changed, what]),
        )
    return None if of_the_name else row


def _by_facts(fact):
    """The entry of a name that no row names."""
    symbol, kind = fact.symbol, fact.kind
    if fact.here:
        return _entry(symbol, kind, "same")
    if fact.moved:
        return _entry(symbol, kind, "renamed", fact.moved)
    if any(name.startswith("tf.keras.") for name in facts.aliases(symbol)):
        row = _left_keras(fact.tf_keras, "Keras 3 has not got it")
    else:  # one object has one judgement, by whichever name it is called
        row = verdicts.wild(fact.object) or verdicts.wild(symbol) or ("removed",)
    return _entry(symbol, kind, *row)


def _left_keras(tf_keras, gone):
    """The row of what Keras 3 lacks; `tf_keras` is the column of the facts."""
    if tf_keras:
        return "rewrite", "tf_keras, or Keras 3's way", f"{gone}; tf_keras still has"
    return "removed", "", f"{gone}, nor has tf_keras"


def _member(symbol):
    """As `_judged`, of a member of a class; None if it is none."""
    owner, _, name = symbol.rpartition(".")
    class_ = facts.fact(owner)
    if class_ is None or class_.kind != "class":
        return None
    fact, exact = facts.member(owner, name), verdicts.table()[0]
    row = next((exact[n] for n in verdicts.spelled(symbol) if n in exact), None)
    if not fact:  # what only objects have
        return (_entry(symbol, "attribute", *row), "", "") if row else None
    place, owned = facts.place(owner), _judged(owner)[0]
    lives = owned.verdict not in FINAL
    if row and (lives and fact.today != "gone" or row[0] in FINAL):
        entry = _entry(symbol, fact.kind, *row)
        return entry, fact.signature, fact.signature_today
    if not lives:
        what = owned.what
        if not what:
            becomes = owned.replacement or "nothing in its place"
            what = f"{owner} {MESSAGES[owned.verdict].format(replacement=becomes)}"
        entry = _entry(symbol, fact.kind, owned.verdict, owned.replacement, what)
        return entry, "", ""
    if fact.today == "gone":
        what = f"{place} has no {name} any more"
        row = ("removed", "", what)
        if place.startswith("tf.keras."):
            row = _left_keras(fact.tf_keras, what)
        return _entry(symbol, fact.kind, *row), "", ""
    if place != owner and not class_.here:
        entry = _entry(symbol, fact.kind, "renamed", f"{place}.{name}")
    else:
        entry = _entry(symbol, fact.kind, "same")
    return entry, fact.signature, fact.signature_today


def _deep(symbol):
    """The entry of what lay deep in contrib; elsewhere an unknown name may be new."""
    real = short(symbol)
    if real != symbol and is_listed(real):
        entry = _judged(real)[0]
        known = symbol in links.rows() or links.proofs(symbol)  # by this very name
        pair = links.pair(symbol) if known else entry.pair
        return dataclasses.replace(entry, symbol=symbol, pair=pair)
    if new := standalone.paths().get(symbol.removeprefix("tf.")):
        module = new.count(".") == 2 and new.islower()  # as tf.keras.layers
        write = "what is left stands in" if module else "write"
        what = f"there is no {symbol.removeprefix('tf.')} any more: {write} {new}"
        return _entry(symbol, "func", "rewrite", new, what)
    gone = symbol.startswith(("tf.contrib.", "tf.examples."))
    return _under(symbol, "func") if gone else None


def _under(symbol, kind):
    """The entry by the longest `module.*` that a name lies under, or None."""
    row = verdicts.wild(symbol)
    return _entry(symbol, kind, *row) if row else None


def _private(symbol, entry_of):
    """The entry of a name that is not public; what it says is of its public name.

    Args:
        symbol: the whole name.
        entry_of: `lookup`, or `judge` of one call.
    """
    known, name = facts.publics(), symbol
    while name and name not in known:
        name = name.rpartition(".")[0]
    if not name:
        return _under(symbol, "module") or _entry(symbol, "module", "private")
    entry = entry_of(known[name] + symbol.removeprefix(name))
    replacement = entry.replacement
    if entry.verdict in ("same", "changed"):
        replacement = replacement or known[name]
    if entry.verdict == "same":
        entry = dataclasses.replace(entry, what="")
    what = f"not public; {entry.message}"
    # A topic of its module is better than none.
    pair = entry.pair or links.pair(symbol)
    return Entry(name, entry.kind, "private", replacement, pair, what)


def _entry(symbol, kind, verdict, replacement="", what=""):
    return Entry(symbol, kind, verdict, replacement, links.pair(symbol), what)
