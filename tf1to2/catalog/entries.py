"""Looks up a name of TensorFlow 1.15: its verdict, replacement and proven pair.

The facts (see facts.py) say which names and arguments TensorFlow has today.
verdicts.tsv and arguments.tsv, written by hand, say what the facts cannot. links.tsv
leads to the pairs. To change what the scanner says of a name, edit verdicts.tsv.
"""

import dataclasses
import difflib
import fnmatch
import functools

from tf1to2.catalog import deep, facts, links, signatures, standalone, verdicts
from tf1to2.catalog.entry import FINAL, VERDICTS, Change, Entry

# Not public in any version.
PRIVATE = ("tf.python.", "tf.core.", "tf.tools.", "tf.compiler.", "tf.stream_executor.")


def lookup(symbol):
    """The `Entry` of a name or member, or of the nearest name above it.

    `tf.flags.FLAGS.batch_size` is an attribute of `tf.flags.FLAGS`.

    Args:
        symbol: as `tf.nn.relu`, `tf.Session.run`; a full name under `tensorflow.python`
            is private.

    Returns:
        `Entry`, which has every argument that changed; or None if TensorFlow 1.15
        never had the name.
    """
    return _find(symbol, _named, lookup)


def judge(symbol, call=None):
    """Works as `lookup`, but keeps only the changes that affect one call.

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
    """The `Entry` and both signatures of a name.

    Returns:
        (`Entry` without changes of arguments, or None; the signature of 1.15.5;
        today's signature, that of the replacement if there is one).
    """
    return _judged(symbol)


def lives(symbol):
    """Whether TensorFlow 2 has the name, even if meaning or arguments changed."""
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
    felt = _joined(symbol, signatures.felt(call, before, now))
    known = _joined(symbol, _known_to_the_table(symbol, call, before, now))
    return any(
        change.how in ("gone", "renamed") and change.verdict != "same"
        for change in felt
    ) or any(change.verdict in ("renamed", "rewrite", "removed") for change in known)


@functools.cache
def is_listed(symbol):
    """Whether the tables have a name itself, not only the module or class around it."""
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
    """All names that have an entry of their own, sorted."""
    known = (symbol for symbol, kind, *_ in facts.names().values() if kind != "module")
    return sorted({*known, *verdicts.table()[0]})


def _find(symbol, entry_of, of_public):
    if symbol.startswith(PRIVATE):
        return _private("tensorflow" + symbol[2:], of_public)
    asked = symbol
    while symbol and symbol != "tf":
        entry = entry_of(symbol)
        if entry:  # a name that the module did not have then is new: no finding
            return entry if symbol == asked or entry.kind != "module" else None
        symbol = symbol.rpartition(".")[0]
    return None


# --- The entry of a name, and of one use of it.


def _named(symbol):
    """The entry of a name, with every change that may affect a call."""
    entry, before, now = _judged(symbol)
    if entry is None or entry.verdict in FINAL:
        return entry
    if entry.verdict == "same" and entry.note:
        return entry  # the table says why the differences do no harm
    found = list(signatures.differences(before, now))
    known = {change.argument for change in found if change.how != "moved"}
    own = verdicts.own_arguments(symbol)
    found += [_passed(*key) for key in own if key[0] not in known]
    found = _harmful(entry, symbol, found)
    twice = {change.argument for change in found if change.how in ("gone", "renamed")}
    twice |= set(signatures.LABELS)  # calls do not pass these by position
    found = [c for c in found if c.how != "moved" or c.argument not in twice]
    if not found:
        return entry
    if all(change.keras_1 for change in found):
        return _with(entry, entry.verdict, found)  # code of Keras 2 is not affected
    if entry.verdict == "renamed":
        hard = any(c.when_left_out or _moves(c, before) for c in found)
        return _with(entry, "rewrite" if hard else "renamed", found)
    return _with(entry, "changed", found)


def _used(symbol, call):
    """The entry of a name, with only the changes that affect a call or a mention."""
    entry, before, now = _judged(symbol)
    if entry is None or entry.verdict in FINAL:
        return entry and _with_kinds(symbol, _felt_by(entry, call), call)
    found = [] if call is None else _known_to_the_table(symbol, call, before, now)
    if entry.verdict == "changed":  # the call may be written for TensorFlow 2
        rows = verdicts.arguments(symbol)
        new = any(c.passed and rows[_key(c)].verdict == "same" for c in found)
        if new or signatures.is_new(call, before, now):
            return dataclasses.replace(entry, verdict="same", note="")
    found = _without_harmless_kinds(symbol, found)
    found = _harmful(entry, symbol, signatures.felt(call, before, now) + found)
    if not found:
        return entry
    own = [change.verdict for change in found if change.verdict]
    hows = {change.how for change in found}
    if own:
        own += [entry.verdict] * bool(entry.note)
        verdict = max(own, key=VERDICTS.index)
    elif "gone" in hows or "renamed" in hows and entry.note:
        verdict = "rewrite"
    elif hows == {"renamed"}:
        verdict = "renamed"
    else:
        verdict = "rewrite" if entry.verdict == "renamed" else "changed"
    if entry.verdict == "same":  # its note says why other calls are the same
        entry = dataclasses.replace(entry, note="")
    return _with(entry, verdict, found)


def _with_kinds(symbol, entry, call):
    """Adds changes from arguments.tsv for the kinds of a call's arguments."""
    if call is None or not call.kinds:
        return entry
    found = [
        _passed(argument, value)
        for argument, value in verdicts.arguments(symbol)
        if _is_of_kind(call, argument, None, value)
    ]
    found = _harmful(entry, symbol, found)
    return dataclasses.replace(entry, changes=(*found, *entry.changes))


def _without_harmless_kinds(symbol, found):
    """Drops the changes of arguments whose kind has the verdict "same" in the table."""
    rows = verdicts.arguments(symbol)
    fine = {
        c.argument
        for c in found
        if c.passed.startswith("[") and rows[_key(c)].verdict == "same"
    }
    return [c for c in found if c.argument not in fine]


def _is_of_kind(call, argument, place, value):
    """Whether a call surely passes an argument of kind `value`, as "[numbers]".

    Args:
        call: `records.Call`.
        argument: its name; "*" of any argument.
        place: its position, or None.
        value: the kind.
    """
    return any(
        kind == value and (argument == "*" or where in (argument, place))
        for where, kind in call.kinds
    )


def _known_to_the_table(symbol, call, before, now):
    """Lists the changes of a call's arguments that only arguments.tsv has."""
    found = signatures.differences(before, now)
    known = {change.argument for change in found if change.how != "moved"}
    old = signatures.parameters(before)[0] if before else {}
    found = []
    for argument, value in verdicts.arguments(symbol):
        place = old[argument].place if argument in old else None
        if argument.isdigit():
            place = int(argument)
        if value == "[]":
            passed = argument in call.lists or place in call.lists
        elif value.startswith("["):
            passed = _is_of_kind(call, argument, place, value)
        elif value:
            passed = any(
                where in (argument, place) and fnmatch.fnmatchcase(text, value[1:-1])
                for where, text in call.texts
            )
        else:
            passed = signatures.passes(call, argument, place)
        if passed and (value or argument not in known):
            found.append(_passed(argument, value))
    return found


def _passed(argument, value):
    """Makes a `Change` for a row of arguments.tsv; `_joined` adds the other fields."""
    return Change("passed", argument, passed=value)


def _key(change):
    return change.argument, change.passed


def _harmful(entry, symbol, found):
    """Joins changes with arguments.tsv, and drops the harmless changes."""
    harmful = []
    for change in _joined(symbol, found):
        if change.verdict == "same" and change.how != "moved":
            continue
        if entry.verdict == "same" and entry.note and change.when_left_out:
            continue  # the table says why the change does no harm
        harmful.append(
            dataclasses.replace(change, verdict="", note="")
            if change.verdict == "same"
            else change
        )
    return harmful


def _joined(symbol, found):
    """Adds to each change the verdict, code and note of its row in arguments.tsv."""
    rows = verdicts.arguments(symbol)
    return [
        dataclasses.replace(
            change,
            how="renamed" if row.now else change.how,
            now=row.now or change.now,
            verdict=row.verdict,
            write=row.write,
            keras_1=row.keras_1,
            note=row.note,
        )
        if (row := rows.get(_key(change)))
        else change
        for change in found
    ]


def _moves(change, before):
    """Whether a change moves a required argument to another position."""
    if change.how != "moved":
        return False
    return signatures.parameters(before)[0][change.argument].default is None


def _with(entry, verdict, changes):
    """Changes an entry's verdict, and drops changes that its note covers."""
    row = verdicts.row(entry.symbol) if entry.note else None
    covered = row.covers if row else ()
    told = [c for c in changes if c.verdict or c.argument not in covered]
    told = tuple(sorted(told, key=lambda change: change.rank))
    return dataclasses.replace(entry, verdict=verdict, changes=told)


def _felt_by(entry, call):
    """Drops changes of defaults if the call passes the argument explicitly."""
    if call is None or not entry.changes:
        return entry
    felt = [
        c
        for c in entry.changes
        if c.how != "default" or not signatures.passes(call, c.argument, c.place)
    ]
    return dataclasses.replace(entry, changes=tuple(felt))


# --- The table and the facts together.


@functools.cache
def _judged(symbol):
    """Returns (Entry or None if unknown, signature of 1.15.5, signature today)."""
    fact, row = facts.fact(symbol), verdicts.table()[0].get(symbol)
    row = row or (None if fact else _of_object(symbol))
    if symbol.startswith("."):
        return (_entry(symbol, "method", row) if row else None), "", ""
    if fact is None and row is None:
        return _member(symbol) or (_deep(symbol), "", "")
    if fact is None:
        return _entry(symbol, "func", row), "", ""
    entry = (
        _entry(symbol, fact.kind, row) if row else _by_alias(fact) or _by_facts(fact)
    )
    if entry.verdict in FINAL or fact.kind == "module":
        return entry, "", ""
    now = fact.signature_today
    place = fact.moved or symbol
    if place.startswith("tf.keras.") and fact.kind == "class":
        now = now.replace(", **kwargs)", ")")  # Keras 3 refuses other keywords
    if entry.verdict == "renamed" and entry.write != fact.moved:
        now = facts.now(entry.write)
    return entry, fact.signature, now


def _of_object(symbol):
    """Finds a member's row under any alias of its object; None without a row."""
    owner, _, name = symbol.rpartition(".")
    if owner not in facts.names() or facts.fact(owner).kind in ("class", "module"):
        return None
    rows = verdicts.table()[0]
    known = (rows.get(f"{alias}.{name}") for alias in facts.aliases(owner))
    return next(filter(None, known), None)


def _by_alias(fact):
    """Makes an entry from an alias's row; None if it does not fit the name."""
    row = verdicts.row(fact.symbol)
    if row is None:
        return None
    of_the_name = row.verdict in ("same", "changed")
    if fact.here:
        return _entry(fact.symbol, fact.kind, row) if of_the_name else None
    if fact.moved and of_the_name:  # the name moved, and its meaning changed
        found = signatures.differences(fact.signature, fact.signature_today)
        own = verdicts.own_arguments(fact.symbol)
        changes = tuple(
            c for c in found if c.how == "default" and (c.argument, "") not in own
        )
        row = verdicts.Row("rewrite", fact.moved, note=row.note)
        entry = _entry(fact.symbol, fact.kind, row)
        return dataclasses.replace(entry, changes=changes)
    return None if of_the_name else _entry(fact.symbol, fact.kind, row)


def _by_facts(fact):
    """The entry of a name that has no row in verdicts.tsv, from the facts."""
    symbol, kind, Row = fact.symbol, fact.kind, verdicts.Row
    if fact.here:
        return _entry(symbol, kind, Row("same"))
    if fact.moved:
        return _entry(symbol, kind, Row("renamed", fact.moved))
    if any(name.startswith("tf.keras.") for name in facts.aliases(symbol)):
        row = _left_keras(fact.tf_keras)
    else:  # all aliases of one object get the same verdict
        row = verdicts.wild(fact.object) or verdicts.wild(symbol) or Row("removed")
    return _entry(symbol, kind, row)


def _left_keras(tf_keras):
    """Makes the row of a name that Keras 3 lacks; `tf_keras`: tf_keras has it."""
    if tf_keras:
        becomes = "the same name of the package tf_keras"
        return verdicts.Row("rewrite", becomes=becomes, note="Keras 3 does not have it")
    return verdicts.Row("removed", note="neither Keras 3 nor tf_keras has it")


def _member(symbol):
    """Works as `_judged`, for class members; None if the symbol is not a member."""
    owner, _, name = symbol.rpartition(".")
    class_ = facts.fact(owner)
    if class_ is None or class_.kind != "class":
        return None
    fact, row = facts.member(owner, name), verdicts.row(symbol)
    if not fact:  # an attribute that only instances have
        return (_entry(symbol, "attribute", row), "", "") if row else None
    place, owned = facts.place(owner), _judged(owner)[0]
    lives = owned.verdict not in FINAL
    if row and (lives and fact.today != "gone" or row.verdict in FINAL):
        entry = _entry(symbol, fact.kind, row)
        return entry, fact.signature, fact.signature_today
    if not lives:
        note = owned.note
        if not (note or owned.replacement):
            note = dataclasses.replace(owned, changes=()).message
        row = verdicts.Row(owned.verdict, owned.write, owned.becomes, (), note)
        return _entry(symbol, fact.kind, row), "", ""
    if fact.today == "gone":
        row = verdicts.Row("removed", note=f"{place} does not have it any more")
        if place.startswith("tf.keras."):
            row = _left_keras(fact.tf_keras)
        return _entry(symbol, fact.kind, row), "", ""
    row = verdicts.Row("same")
    if place != owner and not class_.here:
        row = verdicts.Row("renamed", f"{place}.{name}")
    return _entry(symbol, fact.kind, row), fact.signature, fact.signature_today


def _deep(symbol):
    """Finds the entry of a name deep in contrib or an old Keras path, or None."""
    real = deep.short(symbol)
    if real != symbol and is_listed(real):
        entry = _judged(real)[0]
        known = symbol in links.rows() or links.proofs(symbol)  # under this exact name
        pair = links.pair(symbol) if known else entry.pair
        return dataclasses.replace(entry, symbol=symbol, pair=pair)
    if new := standalone.paths().get(symbol.removeprefix("tf.")):
        note = f"there is no {symbol.removeprefix('tf.')} any more"
        return _entry(symbol, "func", verdicts.Row("rewrite", new, note=note))
    gone = symbol.startswith(("tf.contrib.", "tf.examples."))
    return _under(symbol, "func") if gone else None


def _under(symbol, kind):
    """Makes the entry from the longest `module.*` row that matches, or None."""
    row = verdicts.wild(symbol)
    return _entry(symbol, kind, row) if row else None


OF_KERAS = "tensorflow.python.keras."


def _private(symbol, entry_of):
    """The entry of a name that is not public, made from the entry of its public name.

    Args:
        symbol: the whole name.
        entry_of: `lookup`, or `judge` of one call.
    """
    name = symbol
    while name and not (known := facts.publics().get(name) or _of_keras(name)):
        name = name.rpartition(".")[0]
    if not name:
        return _under(symbol, "module") or _entry(
            symbol, "module", verdicts.Row("private")
        )
    public = entry_of(known + symbol.removeprefix(name))
    if public.symbol.startswith(("tf.flags", "tf.app")):  # absl replaces these, too
        return public
    pair = public.pair or links.pair(symbol)  # the pair of its module, at least
    write = public.write
    if public.verdict in ("same", "changed"):
        write = write or known
    return Entry(
        name,
        public.kind,
        "private",
        write=write,
        becomes=public.becomes,
        pair=pair,
        public=public,
    )


def _of_keras(name):
    """Returns the public `tf.keras` name of a private Keras name, or "".

    The private modules have the same names as the public ones.
    """
    if not name.startswith(OF_KERAS):
        return ""
    public = f"tf.keras.{name[len(OF_KERAS) :]}"
    return public if public in facts.names() else ""


def _entry(symbol, kind, row):
    return Entry(
        symbol,
        kind,
        row.verdict,
        row.write,
        row.becomes,
        row.note,
        pair=links.pair(symbol),
    )
