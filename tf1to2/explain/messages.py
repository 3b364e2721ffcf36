"""Finds what the guide knows of an error message: missing names, sections, proofs.

A message that says which name is missing leads to the name. For other messages, this
module compares the guide's sections on errors and the errors that parity tests raise.
"""

import builtins
import errno
import functools
import json
import os
import re
from typing import NamedTuple

from tf1to2.catalog import entries, facts, keras_names
from tf1to2.explain import called, errors_page, spelled, suggest
from tf1to2.pages import topics
from tf1to2.source.names import records

TYPE = re.compile(r"^(?:[\w.]+\.)?([A-Z]\w*(?:Error|Exception|Warning)): ")
# The name of a module in today's messages, and in programs.
MODULES = (
    (re.compile(r"^tensorflow(_core)?\._api\.v\d(\.compat\.v[12])*"), "tf"),
    (re.compile(r"^(tensorflow(_core)?|tf)(\.compat\.v[12])+"), "tf"),
    (
        re.compile(r"^(keras|tf_keras)(\._tf_keras|\.api|\._v2|\.src)*(\.keras)?"),
        "tf.keras",
    ),
    (re.compile(r"^(tensorflow(_core)?|tf)\b"), "tf"),
)
TENSORFLOW = re.compile(r"^tensorflow(_core)?(\.compat\.v[12])*")
KERAS = re.compile(r"^(tf_)?keras\b")
TRAINER = re.compile(r"^(?:TensorFlow)?Trainer\.(\w+)$")  # a base class of models
ENDING = re.compile(r"(_v\d+)?(\.__init__)?$")  # not part of a function's public name
# Text around a message: TensorFlow adds the op and its node; Keras adds the call that
# raised, with its arguments, in bold.
NODE = re.compile(
    r"\{\{(?:function_)?node [^{}]*\}\} ?|\s*\[Op:[^\]\s]*\](?: name: ?\S*)?"
    r"|Exception encountered when calling [\w.<>]+\(\)\.\s*"
    r"|\s*Arguments received by [\w.<>]+\(\):[\s\S]*|\x1b?\[\d+m"
)
TENSOR = re.compile(r"\b[\w/]+:\d+\b")  # the name of a tensor in a user's graph
# The error of `FLAGS.x` has only the name as its text. The guide lists it under the
# last line of its traceback.
NAME_ALONE = re.compile(r"^AttributeError: [\w-]+$")
RAISED_ALONE = "raise AttributeError(name)"
ENOUGH = 20  # characters of a message that identify it
# The end of a part of a line; and the marks below the code of a traceback.
PART_ENDS, UNDERLINE = re.compile(r"[;:?] "), re.compile(r"^[~^ ]+$")
ROWS = re.compile(r"\n\s*(?=\[)")  # line breaks between the rows of an array
# Words that people add behind an error: "… when predicting on Flask".
OCCASION = re.compile(r"\s(?:when|while|after|during|on|in)\s(?:\w+ing\b|I\b|my\b).*$")
# If a part of a line has this after it, the wording must end there, too.
END = r"(?=[;:?.,…]| …|$)"
# Messages of the system about any file, such as "No such file or directory".
SYSTEM = {os.strerror(number) for number in errno.errorcode}
# Python's error types, which say nothing without a message, except for two of them.
WORDLESS = {n for n in dir(builtins) if n.endswith(("Error", "Exception", "Warning"))}
WORDLESS -= {"MemoryError", "RecursionError"}
MISSING = re.compile(r"has no attribute|No module named|cannot import name")
# Objects as Python prints them: an error is not about the names in them.
REPR = re.compile(r"<[^<>]*>|\b(?:Keras)?Tensor\([^()]*\)|\[[^\[\]]*\]")
# The frames of a traceback with their code: errors are seldom about names in these.
FRAME = re.compile(
    r"(?:^|\n)([ \t]*)File \"[^\"\n]*\", line [^\n]*(?:\n\1[ \t]+(?!File \")[^\n]*)*"
)
# A statement with such a verb, and without words of a person, is an error.
STATES = re.compile(
    r"\b(?:must|should|cannot|can't|could not|does not|do not|is not|are not|requires?"
    r"|expects|expected|invalid|unknown|unsupported|[Gg]ot|[Rr]eceived)\b"
)
SAYS = re.compile(r"^[A-Z`'\"][^?]*$")
PERSON = re.compile(
    r"^(?:How|What|Why|Which|Where|When|Who|Can|Do|Does|Is|Are|Should)\b"
    r"|\b(?:I|[Mm]y|[Ww]e)\b"
)
MARKS = re.compile(r"\.$|: |`")  # common in messages, rare in questions
CONFIG = re.compile(r"(?:Full object config|Full config|Config): ?\{.*", re.S)
GIVEN = r"\b(?:Received|Got|Found)\b"
OPENING, CLOSING = r"['‘`\"]", r"['’`\"]"
QUOTE_MARKS = re.compile(r"[`'\"‘’]")
QUOTED = rf"{OPENING}([\w.]+){CLOSING}"
CALLED = r"[\w.]+\(\)"
CAMEL = r"\b[A-Z]+[a-z]+[A-Z]\w*"  # SymbolicTensor
# The conditions for a message to be similar to a line (see `_likeness`).
WORDS = 4  # the least number of words, unless the line contains the whole message
ONE_IN = 4  # one in so many words of the message may be missing in the line
LETTERS = 10  # the least number of letters that the message and the line share
SHARE = 3, 5  # at least three in five letters of the line are also in the message


class Advice(NamedTuple):
    """A section of the guide, or a proof, that explains a message.

    Attributes:
        message: the message, as the section or the proof has it.
        because: the explanation.
        places: the pairs that show it.
        code: what to write, or "".
    """

    message: str
    because: str
    places: list
    code: str = ""


def without_nodes(text):
    """Removes the op and node that raised an error from its text: "[Op:MatMul]"."""
    return NODE.sub("", text).strip()


def is_message(text):
    """Whether a text has several words: it is an error or a question, not a name."""
    return bool(re.search(r"\s", text.strip()))


def is_error(text):
    """Whether a text is an error, and not a question."""
    lines = _lines(text)
    if any(TYPE.match(line) or MISSING.search(line) for line in lines):
        return True
    *_, line = lines
    says = SAYS.search(line) and not PERSON.search(line)
    return bool(says and STATES.search(line) and MARKS.search(line))


def names(text):
    """Finds the TensorFlow 1 names that an error reports as missing, best first.

    A name that did not change in TensorFlow 2 cannot be missing. In that case the error
    is about another module or object, for instance `keras.backend` or a tuple. The same
    holds for a class of contrib with that name.

    Args:
        text: one line, or a traceback, of which the last line counts.
    """
    found = _missing(text)
    stays = {_owner(symbol) for symbol in found if _is_same(symbol)}
    return [s for s in found if not (_is_same(s) or _owner(s) in stays)]


def _owner(symbol):
    """Returns a member's class without module: "Variable" for `tf.Variable.eval`."""
    return symbol.rpartition(".")[0].rpartition(".")[2]


def of_keras(text):
    """Finds the `Entry` of a name that Keras lacks according to an error, or None.

    Args:
        text: one line, or a traceback, of which the last line counts.
    """
    for line in reversed(_lines(text)):
        for pattern in OF_MODULES:
            if match := re.search(pattern, line):
                if found := keras_names.missing(**match.groupdict()):
                    return found
    return None


def _missing(text):
    for line in reversed(_lines(text)):
        for match, find in _matches(line):
            name = match[match.lastindex]
            if find is _imported and match.lastindex == 1:  # without its module
                for written in (_written, _from_written):
                    if (found := written(name, line)) is not None:
                        return found
            if found := list(dict.fromkeys(find(*match.groups()))):
                return found
    return []


def _matches(line):
    """Yields (match, name finder) for each of `PATTERNS` that matches a line."""
    for pattern, find in PATTERNS:
        if match := re.search(pattern, line):
            yield match, find


def _written(name, line):
    """Finds a missing name that a line writes as `tf.NAME`; otherwise returns None."""
    if re.search(rf"\btf\.{name}\b", line):
        return _attribute("tensorflow", name)
    return None


def _from_written(name, line):
    """Finds a missing name if the line has its `from` import; otherwise gives None."""
    found = re.search(rf"\bfrom ([\w.]+) import [\w, ]*\b{name}\b", line)
    return _imported(name, found[1]) if found else None


def words(advice):
    """Joins an advice's message, explanation and other wordings into one text."""
    said = [s for s in errors_page.sections() if s.message == advice.message]
    told = [wording for section in said for wording in section.wordings]
    return " ".join([advice.message, advice.because, *told])


def without_what_is_missing(text):
    """Replaces an error by its missing name: returns (new text, name or "")."""
    text = TENSOR.sub("", TYPE.sub("", text))
    for match, _ in _matches(text):
        name = match[match.lastindex]
        return f"{text[: match.start()]} {name} {text[match.end() :]}", name
    return text, ""


def _is_same(symbol):
    entry = entries.lookup(symbol)
    return entry is not None and entry.verdict == "same"


def advice(text):
    """Finds the sections of the guide for an error: a list of `Advice`, maybe empty.

    Any line of a traceback counts, because the last one may be about a node. The text
    may be a part of a message, and a shell or a web page may have removed backticks.
    """

    def letters(wording, line):
        others = set(re.findall(QUOTED, wording)) - set(re.findall(QUOTED, line))
        wording, line = bare(wording), bare(line)
        *ended, last = PART_ENDS.split(line)
        ended = [] if others else ended  # the rest is about another name
        said = [(m, "") for m in (TYPE.sub("", line), last)] + [(m, END) for m in ended]
        found = [
            m
            for m, end in said
            if len(m) >= ENOUGH and m not in SYSTEM and not m.startswith("raise ")
            if re.search(re.escape(m) + end, wording)
        ]
        found += [part for part, known in _parts(wording) if known.search(line)]
        return max((len(re.findall(r"\w", one)) for one in found), default=0)

    # A section about any name counts only if no name is known.
    known = names(text) or of_keras(text)
    return _told(text, letters, general=_lacks(text) and not known)


def _lacks(text):
    """Whether an error says that a name of TensorFlow or Keras is missing."""
    return any(
        find is not _member or suggest.members(f".{match[2]}")
        for line in _lines(text)
        for match, find in _matches(line)
    )


@functools.cache
def _parts(wording):
    """Returns [(text, compiled pattern)] for a wording and its first sentence."""
    parts = [part.removesuffix(".") for part in (wording, wording.partition(". ")[0])]
    if len(re.findall(r"\w", parts[1])) < LETTERS:  # many begin with "Unknown …"
        parts.pop()
    return [(part, re.compile(_whole(part))) for part in parts]


def _whole(part):
    """Returns the pattern for a wording; a one-word wording must end the line."""
    pattern = errors_page.pattern(part)
    if " " not in part:
        return rf"{pattern}$"
    # Not a part of a longer name: tensorflow.contrib.slim has its own answer.
    return pattern + r"(?!\.\w)"


def bare(text):
    """Removes the quotes and backticks from a text."""
    return QUOTE_MARKS.sub("", text)


def by_type(name):
    """Finds the sections about an exception type: "UnparsedFlagAccessError".

    Args:
        name: the type, or its dotted name.

    Returns:
        A list of `Advice`, or [].
    """
    start = name.rpartition(".")[2] + "."
    return [_advice(s) for s in errors_page.sections() if s.because.startswith(start)]


def by_word(word):
    """Finds the sections about a missing attribute, such as "metrics_tensors".

    Returns:
        A list of `Advice`, or [].
    """
    lacking = re.compile(rf"attribute ['`]{re.escape(word)}['`]")
    return [
        _advice(section)
        for section in errors_page.sections()
        if any(map(lacking.search, section.wordings))
    ]


def by_name(name):
    """The sections that explain a name of another library, such as "hub.Module".

    Returns:
        A list of `Advice`, or [].
    """
    word = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
    return [_advice(s) for s in errors_page.sections() if word.search(s.because)]


def _advice(section):
    return Advice(section.message, section.because, section.places, section.code)


def likely(text):
    """Finds sections or proofs with a similar message: a list of `Advice`."""
    if found := _told(text, _likeness):
        return found
    for line in reversed(_lines(text)):
        for kind in dict.fromkeys((_type(line), None)):  # the same type, then any
            known = [(_likeness(one.message, line), one) for one in raised(kind)]
            if found := _highest(known):
                return found
    return []


def _told(text, score, general=False):
    """Scores sections on each line, the last first; returns the best as `Advice`."""
    known = [
        (wording, section)
        for section in errors_page.sections()
        for wording in section.wordings
        if general or not generic(wording)
    ]
    for line in reversed(_lines(text)):
        if found := _highest([(score(wording, line), s) for wording, s in known]):
            return list(map(_advice, found))
    return []


def last(text):
    """The last line of a traceback, which is the error."""
    return _lines(text)[-1]


def _lines(text):
    lines = [line.strip() for line in ROWS.sub(" ", text.strip()).splitlines()]
    lines = [line for line in lines if line and not UNDERLINE.match(line)]
    if len(lines) == 1 and len(told := OCCASION.sub("", lines[0])) >= ENOUGH:
        lines = list(dict.fromkeys([told, *lines]))  # the last line counts first
    return [NAME_ALONE.sub(RAISED_ALONE, line) for line in lines]


def _type(line):
    match = TYPE.match(line)
    return match and match[1]


# --- Messages that say which name is missing.

EXAMPLES = "tf.examples.tutorials"
"""A module that people import, although it is not public in 1.15.5."""


def _attribute(module, name):
    """Finds names for `module 'tensorflow._api.v2.train' has no attribute 'Saver'`."""
    for pattern, root in MODULES:
        if pattern.match(module):
            module = pattern.sub(root, module)
            break
    else:
        return []
    found = [f"{module}.{name}"]
    if module.startswith("tf.keras."):  # tf.losses belongs to Keras today
        found.insert(0, f"tf.{module.removeprefix('tf.keras.')}.{name}")
    return [symbol for symbol in found if suggest.exists(symbol)]


def _module(name):
    """Finds the missing name in `No module named 'tensorflow.contrib.slim'`."""
    symbol = TENSORFLOW.sub("tf", name)
    while symbol.startswith("tf."):
        if suggest.exists(symbol):
            return [symbol]
        symbol = symbol.rpartition(".")[0]
    return [EXAMPLES] if name == "tensorflow.examples" else []


def _imported(name, module=None):
    """Finds names for `cannot import name 'slim' from 'tensorflow.contrib'`."""
    if module and KERAS.match(module):
        return _attribute(module, name)
    if module:
        return _module(f"{module}.{name}")
    return suggest.named(name)


def _member(owner, name):
    """Finds names for `'Sequential' object has no attribute 'fit_generator'`."""
    owner = owner.rpartition(".")[2]
    if suggest.exists(symbol := f"tf.keras.layers.{owner}.{name}"):  # not of tf.layers
        return [symbol]
    found = suggest.members(f".{owner}.{name}")
    if found or name == "numpy":  # TensorFlow 1 never had .numpy
        return found
    if owner == "_local":  # a class of Python's threads
        return []
    if owner.endswith("Tensor") and name == "value":  # only dimensions had .value
        return []
    found = suggest.members(f".{name}")
    ours = [s for s in found if s.split(".")[-2].lower() in owner.lower()]
    return ours or ([f".{name}"] if entries.lookup(f".{name}") else [])


OF_MODELS = {"compile", "evaluate", "fit", "predict"}


def _keyword(function, name):
    """Finds the functions for `f() got an unexpected keyword argument 'k'`."""
    if method := TRAINER.match(function or ""):
        return [f"tf.keras.Model.{method[1]}"]
    if (function or "").startswith("__"):  # the class is unknown
        return []
    plain = ENDING.sub("", function or "")
    found = suggest.taking(name, plain) or suggest.refusing(name, plain)
    if suggest.exists(f"tf.{plain}") and f"tf.{plain}" not in found:
        return [f"tf.{plain}"]  # it took the argument before 1.15
    method = f"tf.keras.Model.{function}"
    return found or ([method] if function in OF_MODELS else [])


KEYWORD = (  # not for a lambda, which has no name
    rf"(?:([\w.]+)\(\) )?(?<!>\(\) )[gG]ot an unexpected keyword argument {QUOTED}"
)


def call(text):
    """Returns a `records.Call` with an error's unexpected keyword, or None without."""
    for line in reversed(_lines(text)):
        if match := re.search(KEYWORD, line):
            return records.Call(0, (match[2],), False)
    return None


def _undefined(name):
    """Finds the contrib module for `name 'contrib_slim' is not defined`."""
    symbol = name.replace("contrib_", "tf.contrib.", 1)
    return [symbol] if symbol != name and suggest.exists(symbol) else []


LEGACY_KERAS = "tf.layers.", "tf.nn.rnn_cell."


def _keras(name):
    """Finds names for `` `dense` is not available with Keras 3 ``."""
    return [p + name for p in LEGACY_KERAS if suggest.exists(p + name)]


PATTERNS = (
    (rf"(?i:module) {QUOTED} has no attribute {QUOTED}", _attribute),
    (rf"'module' object has no attribute {QUOTED}", _imported),
    (r"No module named ['\"]?([\w.]+)", _module),
    (rf"cannot import name {QUOTED}(?: from {QUOTED})?", _imported),
    (rf"{QUOTED} object has no attribute {QUOTED}", _member),
    (rf"type object {QUOTED} has no attribute {QUOTED}", _member),
    (KEYWORD, _keyword),
    (rf"{QUOTED} is not available with Keras 3", _keras),
    (rf"name {QUOTED} is not defined", _undefined),
)


OF_MODULES = (
    rf"(?i:module) {OPENING}(?P<module>[\w.]+){CLOSING} has no attribute "
    rf"{OPENING}(?P<name>\w+){CLOSING}",
    r"No module named ['\"]?(?P<module>[\w.]+)",
    rf"cannot import name {OPENING}(?P<name>\w+){CLOSING} from "
    rf"{OPENING}(?P<module>[\w.]+){CLOSING}",
)
"""Errors that name a module, and the name that it lacks."""


# --- Names in the user's text.


COMPOUND = re.compile(r"[A-Za-z]*(?:_|[a-z][A-Z]|[A-Z]{2,}[a-z])\w*")


def mentioned(text):
    """Finds the TensorFlow 1 names in a message or question, without duplicates.

    A name counts if it is complete (`tf.map_fn`), has a known module before it
    (`slim.conv2d`), is a method of an object with the class's name
    (`optimizer.minimize`), or is not an English word (`ModelCheckpoint`). Modules count
    only if the text has no other name. The plain name of a class of tf.keras counts if
    the text calls it or mentions Keras.
    """
    return mentioned_and_called(text)[0]


def mentioned_and_called(text):
    """Returns (names in a text, {name: `records.Call`} for the names with a call).

    A call that needs no change comes last.
    """
    error = is_error(text)
    text = CONFIG.sub("", text)
    if error:
        lines = FRAME.sub("", text).splitlines()
        text = REPR.sub(" ", "\n".join(TYPE.sub("", line.strip()) for line in lines))
    found, calls, written = {}, {}, called.calls(text)
    keras = "keras" in text.lower()
    for word in re.findall(r"[\w.]*\w", text):
        plain = word.istitle() and word.isalpha()  # Input, Model: English words
        by_keras = _of_keras(word) if word in written or keras and not plain else []
        for symbol in (by_keras or _meant(word))[:1]:
            if error and is_constant(symbol):
                continue  # a dtype, or the code of an error
            found.setdefault(facts.aliases(symbol)[0], symbol)
            if word in written:
                calls.setdefault(symbol, written[word])
    modules = [one for one, symbol in found.items() if is_module(symbol)]
    if len(modules) < len(found):
        for one in modules:
            del found[one]

    def stays(symbol):
        entry = entries.judge(symbol, calls[symbol]) if symbol in calls else None
        return entry is not None and entry.verdict == "same"

    return sorted(found.values(), key=stays), calls


def _of_keras(word):
    """Finds the classes of tf.keras with exactly this name, such as `LSTM`."""
    names = suggest.named(word) if word[:1].isupper() else []
    return [s for s in names if s.startswith("tf.keras.") and s.endswith(f".{word}")]


def _meant(word):
    owner, dot, name = word.rpartition(".")
    if not dot:
        named = COMPOUND.fullmatch(word) and not word.startswith("__")
        return suggest.named(word) or spelled.by_itself(word) if named else []
    symbol = spelled.symbol(word)
    if suggest.exists(symbol) or suggest.left_early(symbol):
        return [symbol]
    if owner == "self":
        return spelled.by_itself(name) if "_" in name else []
    if owner.partition(".")[0] in ("tf", "tensorflow"):
        return []  # a name that does not exist, and not a method of an object
    return suggest.of_class(owner.rpartition(".")[2], name)


def is_constant(symbol):
    """Whether a name is a constant, such as a dtype or the code of an error."""
    fact = facts.fact(symbol)
    return fact is not None and fact.kind == "const"


def is_module(symbol):
    """Whether a name is a module, such as `tf.contrib`."""
    if fact := facts.fact(symbol):
        return fact.kind == "module"
    if "." in symbol.removeprefix("tf."):
        return False
    entry = entries.lookup(symbol)  # tf.pack, from before 1.0, has one, but no fact
    return entry is None or entry.kind == "module"


# --- Messages in the guide or in a proof.


@functools.cache
def generic(wording):
    """Whether a wording is generic: it has a gap in place of the missing name."""
    filled = wording.replace(errors_page.GAP, "x_x")
    found = (match[match.lastindex] or "" for match, _ in _matches(filled))
    return any(name.endswith("x_x") for name in found)


def _highest(scored):
    """Returns the items with the highest score, without duplicates; [] if it is 0."""
    highest = max((score for score, _ in scored), default=0)
    found = [one for score, one in scored if score == highest] if highest else []
    return [one for i, one in enumerate(found) if one not in found[:i]]


def _likeness(message, line):
    """Counts the letters in the words that a message and a line share; 0 if unlike.

    They are similar if at least three words in four of the message are in the line,
    among them all words that are quoted, called or a class, and if these words are at
    least three letters in five of the line, without the values that it reports.
    """
    quoted, words = _naming(message), re.findall(r"\w{2,}", message)
    in_line = set(re.findall(r"\w+", line.lower()))
    there = [word for word in words if word.lower() in in_line]
    letters, missing = sum(map(len, there)), len(words) - len(there)
    if message.lower() not in line.lower():
        others = quoted - _naming(line) | set(re.findall(CALLED, line)) - quoted
        if others or len(words) < WORDS or missing * ONE_IN > len(words):
            return 0
    said = re.sub(QUOTED, " ", re.split(GIVEN, TYPE.sub("", line))[0])
    whole = sum(map(len, re.findall(r"\b[A-Za-z_]{2,}\b", said)))
    enough = letters >= LETTERS and letters * SHARE[1] >= whole * SHARE[0]
    return letters if enough else 0


def _naming(text):
    """Finds the words of a text that are quoted, called, or class names."""
    return {one for part in (QUOTED, CALLED, CAMEL) for one in re.findall(part, text)}


@functools.cache
def raised(kind):
    """Returns `Advice` on the errors of parity tests, of one type or of all."""
    proofs = json.loads((topics.folder("parity_tests") / "proofs.json").read_text())
    return [
        Advice(message, error["slug"], [f"{topic}.{name}"])
        for topic, pairs in proofs.items()
        for name, pair in pairs.items()
        for error in pair["errors"]
        if not kind or kind in (error[s] for s in ("1.15.5", "eager", "function"))
        for message in _plain(error["match"])
    ]


def _plain(match):
    """Yields the messages that a regular expression matches, without its symbols."""
    flat = re.sub(r"\[(\w)\w\]", r"\1", re.sub(r"\(([^()|]*)\)\?", r"\1", match))
    for part in flat.split("|"):
        words = re.sub(r"\\|\.[*+?]|[\[\]^$?]", " ", part).split()
        # Variables of the page have other names in the user's program.
        yield " ".join(word for word in words if not re.search(r"\w[/:]\w", word))
