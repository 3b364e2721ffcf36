"""Suggests names for a word, a member, an argument or a misspelling."""

import difflib
import functools
import re

from tf1to2.catalog import deep, entries, facts, signatures, verdicts


def exists(symbol):
    """Whether TensorFlow 1 had exactly this name, module or member, public or not."""
    if symbol in _rows() or symbol in _modules():
        return True
    entry = entries.lookup(symbol)
    if entry is None:
        return False
    if symbol.startswith("tf.contrib."):
        return _is_member(symbol) or _is_deep(symbol)
    if entry.symbol != symbol and entry.kind in ("const", "func"):
        return True  # FLAGS.x
    return entry.verdict == "private" or entry.symbol == symbol


def left_early(symbol):
    """Whether a name is in a contrib package that has a verdict, but is not in 1.15.

    Either 1.15 did not have the package any more, or a program had to import it
    separately, such as slim's `nets`.
    """
    if not symbol.startswith("tf.contrib."):
        return False
    parts = symbol.split(".")
    packages = [".".join(parts[:end]) for end in range(3, len(parts) + 1)]
    return any(
        package in verdicts.table()[1]
        and package not in _modules()
        and not facts.fact(package)
        for package in packages
    )


def _is_member(symbol):
    owner, _, name = symbol.rpartition(".")
    return facts.member(owner, name) is not None


def _is_deep(symbol):
    short = deep.short(symbol)
    return short != symbol and entries.is_listed(short)


def near(text, count=5):
    """Suggests names that the user may have meant, the most probable first.

    Args:
        text: an unknown name: `sess.run`, `batch_norm`, `tf.contrib.slim.conv2dd`.
        count: how many at most.
    """
    *around, word = text.removeprefix("tf.").strip(".").split(".")
    owner = ".".join(["tf", *around])
    plain = [f".{word}"] * (entries.lookup(f".{word}") is not None)
    found = []
    if around and exists(owner):
        close = difflib.get_close_matches(word, facts.members(owner), 2, 0.7)
        found = [f"{owner}.{name}" for name in close]
    elif around:
        found = of_class(around[-1], word)
        found += plain if found else []
    exact = plain + named(word)
    if not (found or around or exact):
        found = with_argument(word)
    found = found or _alike(owner, exact, word)
    chosen, seen = [], {}
    for name in dict.fromkeys(found):  # one object may be in two libraries
        first = facts.aliases(name)[0]
        seen[first] = seen.get(first, 0) + 1
        if seen[first] <= 2:
            chosen.append(name)
    return chosen[:count]


def named(word):
    """Finds names and modules that end in this word, the shortest first."""
    return sorted(_last().get(word.lower(), ()), key=plain_first)


def members(text):
    """Finds the members with a given name, one for each class that defines it.

    Args:
        text: `.run`, or with the class: `Session.run`.
    """
    _, dot, name = text.rpartition(".")
    suffix, found = text if text.startswith(".") else f".{text}", []
    for one, spelled in _defined(name).items() if dot else ():
        fits = [symbol for symbol in spelled if symbol.endswith(suffix)]
        if one in fits:
            found.append(one)
        elif fits:
            found.append(min(fits, key=plain_first))
    return sorted(found, key=plain_first)


@functools.cache
def _defined(name):
    """Returns {member in its defining class: [same member in each class with it]}."""
    found = {}
    for fact in map(facts.fact, facts.names()):
        member = fact.kind == "class" and facts.member(fact.symbol, name)
        if member:
            found.setdefault(member.object, []).append(member.symbol)
    return found


def taking(argument, function=""):
    """Finds names with an argument in 1.15.5 that TensorFlow 2 removed or renamed.

    Args:
        argument: its name.
        function: the last part of the name, or "" if the error does not say it.
    """
    found = {}
    for symbol in facts.names():
        if function and symbol.rpartition(".")[2] != function.rpartition(".")[2]:
            continue
        fact = facts.fact(symbol)
        for one in signatures.differences(fact.signature, fact.signature_today):
            if one.argument == argument and one.how in ("gone", "renamed"):
                found.setdefault(fact.object, []).append(symbol)
    return sorted((min(s, key=plain_first) for s in found.values()), key=plain_first)


def refusing(argument, function):
    """Finds names with an arguments.tsv row that covers all values of an argument.

    Args:
        argument: its name.
        function: the last part of the name, or "".
    """
    last = function.rpartition(".")[2]
    found = [
        symbol
        for symbol in with_rows().get(argument, ())
        if last and symbol.rpartition(".")[2] == last
    ]
    return sorted(found, key=plain_first)


@functools.cache
def with_rows():
    """Returns {argument: names with an arguments.tsv row for all values of it}."""
    found = {}
    for symbol, rows in verdicts.of_arguments().items():
        for argument, passed in rows:
            if not passed:
                found.setdefault(argument, []).append(symbol)
    return found


def with_argument(word):
    """Finds functions and members that take an argument, such as feed_dict."""
    taken = re.compile(rf"[(,*\s]{re.escape(word)}\b")
    facts_of = map(facts.fact, facts.names())
    found = {f.object: f.symbol for f in facts_of if taken.search(f.signature)}
    for class_ in ("tf.Session", "tf.Tensor", "tf.train.Saver", "tf.keras.Model"):
        for name in facts.members(class_):
            member = facts.member(class_, name)
            if taken.search(member.signature):
                found[member.object] = member.symbol
    return sorted(found.values(), key=plain_first)


def of_class(variable, name):
    """Finds members with a name, in classes that fit a variable such as `saver`."""
    word, found = variable.strip("_").lower(), []
    for spelled in _defined(name).values():
        fits = [
            symbol
            for symbol in spelled
            if (owner := symbol.split(".")[-2].lower()).startswith(word)
            or owner.endswith(word)
        ]
        found += [min(fits, key=plain_first)] if fits else []
    return sorted(found, key=plain_first)[:3]


def _alike(owner, exact, word):
    """Finds names with similar spelling, and names that begin with the word."""
    letters = word.lower()
    longer = [w for w in _last() if len(letters) > 3 and w.startswith(letters)]
    longer = sorted((s for w in longer for s in named(w)), key=plain_first)
    close = difflib.get_close_matches(letters, _last(), 8, 0.7 + 0.1 * (len(word) < 5))
    close = [symbol for w in close for symbol in named(w)]
    beside = [symbol for symbol in close if symbol.rpartition(".")[0] == owner]
    if exact:
        longer = [] if exact[0].startswith(".") else longer
        return [*beside[: owner != "tf"], *exact, *longer]
    return [*beside, *longer, *close]


def plain_first(symbol):
    """Returns a sort key that puts contrib, compat and long names last."""
    parts = symbol.split(".")
    return parts[1] in ("contrib", "compat"), len(parts), len(symbol), symbol


@functools.cache
def _last():
    """Returns {last part of a name, in lower case: [names and modules with it]}."""
    found = {}
    for symbol in {*_rows(), *_modules()}:
        if symbol[0] != ".":
            found.setdefault(symbol.rpartition(".")[2].lower(), []).append(symbol)
    return found


@functools.cache
def _rows():
    """Returns all names and modules of 1.15.5 and of the catalog."""
    return {*facts.names(), *entries.symbols()}


@functools.cache
def _modules():
    """Returns all modules that contain names: "tf.train" for "tf.train.Saver"."""
    return {
        ".".join(parts[:end])
        for parts in (symbol.split(".") for symbol in facts.names())
        for end in range(2, len(parts))
    }
