"""Makes names.js, the data of the site's search box: names, members and errors.

The answers are those of `tf1to2 explain`, made beforehand: lookup.js looks them up.
messages.js finds the answer to a pasted message by the expressions and thresholds of
`explain/messages.py`, which are written here for JavaScript.
"""

import functools
import json
import re

from tf1to2.catalog import (
    deep,
    entries,
    facts,
    keras_names,
    links,
    signatures,
    standalone,
)
from tf1to2.explain import answer, errors_page, messages, render, suggest
from tf1to2.pages import proven, topics
from tf1to2.view.website.rules import for_javascript

FEW = 3  # pairs beside the best one
EXPRESSIONS = (
    "TYPE NODE CONFIG QUOTED GIVEN COMPOUND TENSORFLOW KERAS TRAINER ENDING REPR "
    "MISSING NAME_ALONE FRAME CALLED CAMEL STATES SAYS PERSON "
    "MARKS ROWS OCCASION PART_ENDS UNDERLINE QUOTE_MARKS".split()
)
CONSTANTS = (
    "ENOUGH END WORDS ONE_IN LETTERS SHARE EXAMPLES LEGACY_KERAS RAISED_ALONE".split()
)
"""The names in `explain/messages.py` that messages.js uses."""


def script():
    """The text of names.js, which the box loads when somebody first writes in it."""
    told = _Told()
    index = {
        "names": {
            **{name: told.of_entry(name, one) for name, one in _of_keras().items()},
            **{name: told.of(name) for name in _names()},
        },
        "members": {
            name: {
                member: told.of(f"{name}.{member}") for member in facts.members(name)
            }
            for name in facts.names()
            if facts.fact(name).kind == "class"
        },
        "places": {
            name: facts.place(name)
            for name in facts.names()
            if facts.place(name) not in ("", name)
        },
        "of_keras": {
            name: one.symbol for name, one in _of_keras().items() if one.symbol != name
        },
        "facades": deep.FACADES,
        "arguments": _arguments(),
        "refused": {
            argument: sorted(names, key=suggest.plain_first)
            for argument, names in suggest.with_rows().items()
        },
        "constants": [name for name in _names() if messages.is_constant(name)],
        "errors": _sections(),
        "raised": _raised(),
        "messages": rules(),
        "LIKE": render.LIKE,
        "told": list(told.texts),
        "pairs": _pairs(),
    }
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    return f"window.tf1to2 = {text};\n"


def rules():
    """The expressions and thresholds that recognize messages, for names.js.

    Returns:
        A dictionary: "PATTERNS" are pairs of an expression and the function of
        messages.js that finds the names for its groups, "MODULES" pairs of an
        expression and its replacement, "expressions" has those of `EXPRESSIONS` by
        name. The other keys are constants of `explain/messages.py`.
    """
    return {
        "PATTERNS": [
            [for_javascript(pattern), find.__name__.strip("_")]
            for pattern, find in messages.PATTERNS
        ],
        "MODULES": [[for_javascript(one), root] for one, root in messages.MODULES],
        "expressions": {
            name: for_javascript(getattr(messages, name)) for name in EXPRESSIONS
        },
        "SYSTEM": [m for m in sorted(messages.SYSTEM) if len(m) >= messages.ENOUGH],
        "OF_MODELS": sorted(messages.OF_MODELS),
        "OF_MODULES": [for_javascript(pattern) for pattern in messages.OF_MODULES],
        "KERAS_MODULES": [[for_javascript(p), api] for p, api in keras_names.MODULES],
        **{name: getattr(messages, name) for name in CONSTANTS},
    }


class _Told:
    """Collects the texts about names; stores equal texts once, under a number.

    Attributes:
        texts: {(verdict, message, pair, whether it calls the name, other pairs): its
            number}; in a message "{}" is the name, "{.}" and "{_}" are its parts
            before and behind the last dot, "{@}" the name of the former today.
    """

    def __init__(self):
        self.texts = {}

    def of(self, symbol):
        """Returns the number of the text about a name; numbers new texts."""
        return self.of_entry(symbol, answer.named(symbol).entry)

    def of_entry(self, symbol, entry):
        """Returns the number of the text that an `Entry` gives for a name."""
        message = entry.message.removeprefix(f"{entry.symbol}: ")
        proofs = links.proofs(symbol)
        others = [pair for pair in proofs if pair != entry.pair][:FEW]
        called = entry.pair in proofs
        owner, _, name = entry.symbol.rpartition(".")
        for part, mark in (
            (entry.symbol, "{}"),
            (owner, "{.}"),
            (facts.place(owner), "{@}"),
            (name, "{_}"),
        ):
            if part and entry.symbol == symbol:
                message = re.sub(rf"\b{re.escape(part)}\b", mark, message)
        text = entry.verdict, message, entry.pair, called
        return self.texts.setdefault((*text, " ".join(others)), len(self.texts))


def _names():
    """Lists all names of TensorFlow 1, with aliases and old paths of Keras."""
    paths = {f"tf.{path}" for path in standalone.paths()}
    known = {*facts.names(), *entries.symbols(), *paths, messages.EXAMPLES}
    return sorted(known - {"tf"})


@functools.cache
def _of_keras():
    """Returns {name in keras or tf.keras that Keras 3 lacks: its `Entry`}."""
    known = {*keras_names.table(), *keras_names.successors()}
    known |= {path.removeprefix("keras.") for path in standalone.paths()}
    found = {}
    for api in (keras_names.PACKAGE, keras_names.TF_KERAS):
        for name in sorted(known):
            module, _, last = f"{api}.{name}".rpartition(".")
            if entry := keras_names.missing(module, last):
                found[f"{api}.{name}"] = entry
    return found


def _pairs():
    """Returns {pair: [its summary, its proof in words]}."""
    return {
        f"{stem}.{name}": [
            topic.summaries[name],
            answer.proof(f"{stem}.{name}"),
        ]
        for stem, topic in topics.topics().items()
        for name in topic.pairs
    }


def _arguments():
    """Returns {removed or renamed argument: names that had it, plain names first}."""
    found = {}
    for symbol in facts.names():
        fact = facts.fact(symbol)
        for one in signatures.differences(fact.signature, fact.signature_today):
            if one.how in ("gone", "renamed"):
                found.setdefault(one.argument, set()).add(symbol)
    return {name: sorted(s, key=suggest.plain_first) for name, s in found.items()}


def _sections():
    """The sections of the chapter on errors, each as a list for names.js.

    [wordings, message, because, pairs, code, anchor, wordings of any name].
    """
    from docutils.nodes import make_id  # the extra "docs" has it

    return [
        [
            [w for w in one.wordings if not messages.generic(w)],
            *(one.message, one.because, one.places, one.code),
            f"{one.page}.html#{make_id(one.message)}",
            [w for w in one.wordings if messages.generic(w)],
        ]
        for one in errors_page.sections()
    ]


def _raised():
    """Lists the errors that proofs raise, each as a list for names.js."""
    found = {}
    kinds = {
        error[side]
        for pairs in proven.proofs().values()
        for pair in pairs.values()
        for error in pair["errors"]
        for side, _ in proven.SIDES
        if error[side]
    }
    for kind in sorted(kinds):
        for one in messages.raised(kind):
            told = one.message, one.because, *one.places
            found.setdefault(told, []).append(kind)
    return [[m, b, places, kinds] for (m, b, *places), kinds in found.items()]
