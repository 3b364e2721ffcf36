"""Finds the `Answer` to a text: the first of RESOLVERS that finds something.

A text without spaces is a name or an argument; with spaces it is a message, a traceback
or a question. If the guide has exactly this message, that comes first; then the names
in the message; then similar messages.
"""

import dataclasses
import re

from tf1to2.catalog import entries, facts, keras_names, standalone
from tf1to2.explain import called, errors_page, messages, questions, spelled, suggest
from tf1to2.explain.answer import Answer, Name, named
from tf1to2.pages import library, topics

SEVERAL = 8
"""The most names, or sections, in an answer."""
NUMBERS = "Numbers differ from TensorFlow 1's", "Accuracy is lower than before"
"""Symptoms that a name with changed numbers may explain."""
OF_KERAS = re.compile(r"(?<![\w.])(?:(?:tf|tensorflow)\.)?keras(?:\.\w+)+")


def resolve(text):
    """Finds the `Answer` to the user's text.

    Args:
        text: a name as code has it: `tf.log`, `tensorflow.compat.v1.log`, `.eval`,
            `log`; an argument, `keep_dims=True`; a topic, `contrib_opt`; a message or
            a traceback as Python prints it; a question.

    Returns:
        `Answer`. Its `by` is "nothing" if nothing is known; then `near` has names or
        topics that the user may have meant.
    """
    text = text.strip()
    text = messages.without_nodes(text) or text
    for resolver in RESOLVERS:
        found = resolver(text)
        if found is not None:
            return dataclasses.replace(found, asked=text, by=resolver.__name__)
    return dataclasses.replace(_nothing(text), asked=text)


def _nothing(text):
    if messages.is_error(text):
        return Answer(text)  # the words of an error fit many topics
    if messages.is_message(text):
        return Answer(text, near=tuple(questions.nearest_topics(text)))
    word = text.partition("(")[0] or text
    return Answer(text, near=_near(word.replace("-", "_")))


def _near(word):
    """Finds the names that are spelled like a word."""
    near = suggest.near(word if "." in word else spelled.symbol(word))
    return (*near, *library.near(word))


# --- Texts without spaces. Each resolver returns an `Answer`, or None.


def argument(text):
    """Answers an argument, `keep_dims=True`: finds passages and names that took it."""
    match = spelled.ARGUMENT.fullmatch(text)
    if not match:
        return None
    found = _having(match[1], match[1])
    symbols = suggest.taking(match[1]) or suggest.with_argument(match[1])
    if not (found or symbols):
        return None
    return _of_names(symbols, passages=tuple(found))


def requirement(text):
    """Answers a requirement, `tensorflow==1.15`, with the section on pip's error."""
    if not re.fullmatch(r"(tensorflow|tf|keras)[\w-]*==[\w.*]+", text):
        return None
    known = messages.advice(f"No matching distribution found for {text}")
    return Answer(text, advice=tuple(known)) if known else None


def of_keras(text):
    """Answers a name that Keras 3 lacks: `keras.backend.sum`, `objectives.mse`."""
    word = _word(text)
    found = word and OF_KERAS.fullmatch(word) and _lacking(word)
    return Answer(text, names=(found,), page=found.page) if found else None


def name(text):
    """Answers a name of TensorFlow 1: `tf.log`, `slim.conv2d`, `log`, `hub.Module`.

    For a call, `tf.reduce_sum(x,keep_dims=True)`, only changes that affect it count.
    """
    word = _word(text)
    if word is None or word.removeprefix("v2_eager.").startswith("numerics."):
        return None
    symbol = spelled.symbol(word)
    if suggest.exists(symbol) or suggest.left_early(symbol):
        return _of_names([symbol], _called(text))
    return None


def of_numerics(text):
    """Answers a name of `v2_eager.numerics`, such as `optimizers.Adam`."""
    word = _word(text)
    found = word and library.find(word)
    return Answer(text, numerics=found[0]) if found else None


def member(text):
    """Answers a member, `Session.run` or `minimize`, with one name for each class."""
    word = _word(text)
    found = word and (suggest.members(word) or spelled.by_itself(word))
    return _of_names(found) if found else None


def exception(text):
    """Answers an exception type or a missing attribute with the sections about it."""
    word = _word(text)
    if word is None or word in messages.WORDLESS:
        return None
    known = messages.by_type(word) or messages.by_word(word)
    if "." in word.strip(".") and not spelled.likely(word):
        known = known or messages.by_name(word)
    return Answer(text, advice=tuple(known)) if 0 < len(known) <= SEVERAL else None


def meant(text):
    """Answers a name without its full module or class, such as `sess.run`."""
    word = _word(text)
    found = word and spelled.likely(word)
    return _of_names(found, _called(text)) if found else None


def word(text):
    """Answers a word, such as `dropout`, by the passages of the guide that have it."""
    known = _word(text)
    if known is None or known in topics.topics() or known in messages.WORDLESS:
        return None
    last = known.rpartition(".")[2]
    if last != known and not re.search(r"[a-z][A-Z]|[a-z]_|[a-z]\d", last):
        return None  # the last part of `numpy.nowhere` is an ordinary word
    found, listed = _having(last, known), questions.subjects_with(known)
    if not found:
        return None
    near = _near(known) if listed else ()
    return Answer(text, passages=tuple(found), subjects=listed, near=near)


def topic(text):
    """Answers a topic (`contrib_opt`) or a subject of the guide (`Jacobian`)."""
    known = _word(text)
    if known is None:
        return None
    of_topic = known if known in topics.topics() else ""
    found = questions.subjects_with(known)
    if not (of_topic or found):
        return None
    near = () if of_topic else _near(known)
    return Answer(text, topic=of_topic, subjects=found, near=near)


# --- Messages and questions.


def section(text):
    """Answers a message of the guide; adds passages on the text's other words."""
    known = messages.is_message(text) and messages.advice(text)
    if not known:
        return None
    return _of_error(text, known, messages.names(text))


def missing(text):
    """Answers an error about a missing name: `has no attribute 'Session'`."""
    if not messages.is_message(text):
        return None
    symbols = messages.names(text)
    found = symbols or messages.of_keras(text)
    return _of_error(text, [], symbols) if found else None


def like(text):
    """Answers a message that is similar to one in the guide or in a proof."""
    known = messages.is_message(text) and messages.likely(text)
    if not known:
        return None
    return dataclasses.replace(_of_error(text, known, []), exact=False)


def of_keras_in_words(text):
    """Answers a question with a name that Keras 3 lacks: `keras.backend.sum`."""
    if not messages.is_message(text) or messages.is_error(text):
        return None
    words = dict.fromkeys(OF_KERAS.findall(text))
    # For an old path, the guide says more than its new name.
    found = [_lacking(word) for word in words if word not in standalone.paths()]
    names = tuple(filter(None, found))[:SEVERAL]
    if not names:
        return None
    passages = tuple(questions.passages(text)[:2])
    return Answer(text, names=names, passages=passages, page=names[0].page)


def of_a_name(text):
    """Answers a question with one name and few other words: `where is tf.log?`"""
    if not messages.is_message(text) or messages.is_error(text):
        return None
    symbols, calls = _mentioned(text)
    written = [s for s in symbols if "." in s[3:] and s.removeprefix("tf.") in text]
    if len(symbols) != 1 or symbols != written or messages.is_module(symbols[0]):
        return None
    if len(questions.besides_names(text, symbols)) > 1:
        return None
    return _of_names(symbols, calls, tuple(questions.passages(text)[:2]))


def words(text):
    """Answers a question or message by the names and words that it contains."""
    if not messages.is_message(text):
        return None
    error, (symbols, calls) = messages.is_error(text), _mentioned(text)
    # For an error only its names count: its words are in many errors.
    found = [] if error else questions.passages(text)
    if not (found or symbols):
        return None
    if not found:
        answer = _of_names(symbols, calls)
        return dataclasses.replace(answer, exact=not error)
    names = [named(symbol, calls.get(symbol)) for symbol in symbols]
    first = [name for name in names if _leads(name, found[0], text)]
    if not first and all(map(messages.is_module, symbols)):
        names = []  # for a module, the guide says more than its new name
    names = tuple([*first, *(name for name in names if name not in first)][:SEVERAL])
    page = _page_of(found, text) if names else ""
    found, ahead = tuple(found), min(len(first), SEVERAL)
    return Answer(text, passages=found, names=names, ahead=ahead, page=page)


RESOLVERS = (
    argument,
    requirement,
    of_keras,
    name,
    of_numerics,
    member,
    exception,
    meant,
    word,
    topic,
    section,
    missing,
    like,
    of_keras_in_words,
    of_a_name,
    words,
)
"""The order matters: the first resolver that finds something answers."""


def _leads(name, passage, text):
    """Whether the answer shows a name's entry before the best passage.

    It does if the question has the full name, or a long name without its module, and
    the passage is not a row with the replacement of this name. For symptoms about
    other numbers, only `changed` names count.
    """
    dotted, last = name.symbol.removeprefix("tf."), name.symbol.rpartition(".")[2]
    module = (
        "" if dotted.startswith(("contrib.", "keras.")) else r"(tf|tensorflow|v1)\."
    )
    if not re.search(rf"\b{module}{re.escape(dotted)}\b", text):
        alone = last.count("_") > 1 and re.search(rf"(?<![\w.]){last}\b", text)
        if not alone:
            return False
    if passage.page == questions.CAUSES:
        return passage.heading in NUMBERS and name.entry.verdict == "changed"
    row = "→" in passage.text and passage.page != questions.FRIENDS
    if row and re.search(rf"\b{last}\b", passage.text):
        return False
    return name.entry.verdict != "same"


def _lacking(word):
    """Returns the `Name` of a Keras name that Keras 3 lacks; None for other words."""
    if not word.startswith("keras.") and entries.is_listed(spelled.symbol(word)):
        return None  # a name of tf.keras of 1.15.5
    entry = keras_names.missing(*word.rpartition(".")[::2])
    return Name(entry.symbol, entry) if entry and entry.write != word else None


def _word(text):
    """Extracts the name from a text, without arguments; None if it is not a name."""
    if spelled.ARGUMENT.fullmatch(text):
        return None
    if messages.is_message(text) and not called.is_call(text):
        return None
    return text.partition("(")[0] or text


def _called(text):
    """Returns {name: `records.Call`} if the text has a call, otherwise {}."""
    return messages.mentioned_and_called(text)[1] if "(" in text else {}


def _of_names(symbols, calls=None, passages=()):
    """Creates an `Answer` with names, and with the pair of the first name."""
    names = tuple(named(s, (calls or {}).get(s)) for s in symbols)
    page = names[0].page if names else ""
    return Answer("", names=names, passages=passages, page=page)


def _of_error(text, known, symbols):
    answer = _of_names(symbols, dict.fromkeys(symbols, messages.call(text)))
    if entry := messages.of_keras(text):  # the name of Keras alone counts
        symbols = [entry.symbol]
        name = Name(entry.symbol, entry)
        answer = Answer(text, names=(name,), page=name.page)
    answer = dataclasses.replace(answer, advice=tuple(known[:SEVERAL]))
    if "\n" in text:  # a traceback has no other words of a person
        return answer
    question, missing_name = messages.without_what_is_missing(text)
    told = " ".join(map(messages.words, known))
    shown = {place for one in known for place in one.places}
    return dataclasses.replace(
        answer,
        passages=tuple(_besides(question, f"{missing_name} {told}", shown)),
        beside=tuple(_beside(question, told, shown, symbols)) if known else (),
    )


def _besides(question, told, shown):
    """Finds passages on the words of a line that are outside its error message."""
    errors = [f"guide/{page}.md" for page in errors_page.PAGES]
    found = [
        passage
        for passage in questions.passages(question, 9, besides=told)
        if passage.page not in errors and not shown.issuperset(passage.places)
    ]
    return found[:2]


def _beside(question, told, shown, symbols):
    """Finds names in a line that are outside its error message: list of `Name`."""
    told = told.replace("tf.compat.v1.", "tf.")
    found, shown = [], set(shown)
    for symbol in messages.mentioned(question):
        entry = entries.lookup(symbol)
        if symbol in symbols or entry.verdict == "same" or "." not in entry.pair:
            continue
        if entry.pair in shown or any(one in told for one in facts.aliases(symbol)):
            continue
        found.append(Name(symbol, entry))
        shown.add(entry.pair)
    return found


def _mentioned(text):
    """Returns (names, {name: call}) of a text; for an error, only changed names."""
    symbols, calls = messages.mentioned_and_called(text)
    if messages.is_error(text):
        symbols = [s for s in symbols if named(s, calls.get(s)).entry.verdict != "same"]
    return symbols, calls


def _page_of(found, text):
    """Chooses, from the passages' pairs, the pair that fits the text best."""
    places = [place for passage in found for place in passage.places[:2]]
    fits = questions.fits(text)
    return max(places, key=lambda place: fits[place]) if places else ""


def _having(word, text):
    """Finds passages on a text that have a word; ignores the word if it has hyphens."""
    whole = re.compile(rf"\b{re.escape(word)}\b")
    return [p for p in questions.passages(text) if "-" in word or whole.search(p.text)]
