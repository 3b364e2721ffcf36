"""Finds the rows, rules and paragraphs of the guide that have the words of a question.

They are ranked by BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework,
2009): a word counts more if few passages have it. A passage also gets a part of the
score of its pair, which has the words of all passages that lead to it, because one row
seldom has all words of a question. Compound names count as a whole and by their parts;
words count without their endings.

A question about a symptom, "the loss is nan", gets the causes of that symptom first.
`symptoms.tsv` has the words in which people describe symptoms.
"""

import collections
import functools
import math
import pathlib
import re
from typing import NamedTuple

from tf1to2.catalog import links
from tf1to2.common import tsv
from tf1to2.explain import errors_page
from tf1to2.pages import topics

SUBJECTS = pathlib.Path(__file__).with_name("subjects.tsv")
SYMPTOMS = pathlib.Path(__file__).with_name("symptoms.tsv")
CAUSES, FRIENDS = "guide/symptoms.md", "guide/false-friends.md"
SATURATION, LENGTH = 1.2, 0.75  # k1 and b of BM25
ENOUGH = 0.25  # the share of the question's weight that a passage must have
UNKNOWN = 0.3  # the share of its rarity that a word counts if the guide lacks it
ALL_BUT = 0.6  # the share of the weight that one single word must have
MOST = 0.5  # a passage with a smaller share of the rarity of all words "lacks" some
ELSE = 0.4  # replaces ENOUGH if the guide lacks the name of a thing in the question
TOGETHER = 0.8  # the share of its pair's score that a passage gets
ALONE = 0.4  # the share of its own score that a passage without a pair gets
RARE = 2.5  # the least rarity of a word that chooses a cause of a symptom
RELEASE = 0.2  # the share of its rarity that a release counts: it says little
# Pages that other functions read.
LISTS = {*errors_page.PAGES, "subjects", "explain"}
# Tables that do not say what to write.
TABLES = {
    "Beside the alternatives",
    "What does not work any more, and what it says",
    "Which Keras breaks what",
}
FENCE = re.compile(r"(?ms)^ *```.*?^ *```$|<!--.*?-->")
FOLD = re.compile(r"(?s)</?details>|<summary>.*?</summary>")
RULE = re.compile(r"\|[ :|-]+\|$")  # the line below the heads of a table
# Rows of measured numbers and distances, captions, and lines that are only links.
SKIPPED = re.compile(
    r"\|[^|]*(\|[\d.,% ]*)+\|$|\|[^|]*\| within [\d.e-]+ [| ]*$|\*\*TensorFlow \d\*\*$"
    r"|The pair: |It needs `|\[[^\]]*\]\([^)]*\) has the numbers of each form\.$"
)
CAUSE = re.compile(r"(.*?) See: .*? Write: (.*\.) [\w.]+(?:, [\w.]+)*")
"""A cause of a symptom: the cause, and what to write."""
ENDINGS = re.compile(
    r"(?<=\w{3})(?:at(?:ions?|ing|ed?|es|ors?)|ions?|ings?|ers?|ors?|ed|es|s|e)$"
)
WORD = re.compile(r"[A-Za-z]\w*|(?<![\d.])[123]\.\d{1,2}(?![\d.])")  # or a release
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")  # of a compound name
ALSO = {"slow": "fast", "slowly": "fast", "speed": "fast", "performanc": "fast"}
ALSO |= {"freez": "frozen", "deconv": "deconvolut", "ckpt": "checkpoint"}
ALSO |= {"oper": "ops"}
"""{stem in a question: stem that the guide uses for the same thing}."""
NAMES = re.compile(r"(?<=[\w.,;:?!)] )\w*[A-Z0-9_]\w*")
"""Words inside a sentence that are names: "RTX", "M1", "CallbackList"."""
COMMON = set(
    """a about achieve after all allow also an and any anymore anyone anything are as
    at available be before best by can code convert currently deprecated did do does
    doing don easy equivalent error example for from get gets give gives has have
    help how i in inside instead into is issue it its just know like make maybe me
    migrate migration must my need needed new no not now of old on one only or
    please port problem purpose question really removed replace replaced replacement
    same should simple since so some someone still tensorflow tensorflow1
    tensorflow2 tf tf1 tf2 than that the then there this to tried try tutorial up
    upgrade upgrading use used using v1 v2 want was way what when where which while
    why will with within without work working works write wrong you your""".split()
)


COMMON |= {ENDINGS.sub("", word) for word in COMMON}


class Passage(NamedTuple):
    """A row, rule or paragraph of the guide.

    Attributes:
        page: "guide/rnn.md".
        heading: the heading above it.
        text: its text, in one line, without Markdown.
        places: the pairs that it leads to, as `topic.name`.
        lacks: the words of the question that it lacks, if these are more than half.
    """

    page: str
    heading: str
    text: str
    places: list
    lacks: tuple = ()


def passages(question, count=3, besides=""):
    """Finds the guide's passages for a question: list of `Passage`, best first.

    Args:
        question: its words.
        count: how many at most.
        besides: text that the answer already has: a passage must have another word.
    """
    asked = _asked(question)
    fresh = asked.keys() - _stems(besides)
    if not fresh:
        return []  # without reading the guide
    known, index, of_pairs = _index()
    of_pair = of_pairs.scores(asked)
    scores, weight, whole = index.scores(asked), 0.0, 0.0
    shares, hits = collections.Counter(), collections.Counter()
    heard = sum(stem in index.having for stem in asked if not _is_release(stem))
    proper = _stems(" ".join(NAMES.findall(question)))
    foreign = {stem for stem in proper if stem not in index.having}
    enough = ELSE if foreign else ENOUGH
    for stem in asked:
        rows, rarity = index.having.get(stem, {}), index.rarity(stem)
        whole += rarity
        weight += rarity if rows or stem in foreign else UNKNOWN * rarity
        shares.update(dict.fromkeys(rows, rarity))
        if not _is_release(stem):
            hits.update(rows.keys())
    for row in scores:
        pairs = _led(known[row])
        more = [TOGETHER * of_pair[p] for p in pairs] or [ALONE * scores[row]]
        scores[row] += max(more)
    other = {row for stem in fresh for row in index.having.get(stem, ())}
    listed = {
        pair
        for subject, pairs in subjects().items()
        if set(_stems(subject)) == set(_stems(question))
        for pair in pairs
    }
    first, found = [] if besides or listed else _symptom(question), []

    def apart(item):  # for a subject, causes and its own pairs come last
        passage = known[item[0]]
        return passage.page == CAUSES or listed.isdisjoint(_led(passage))

    for row, _ in sorted(scores.most_common(), key=apart):
        passage, seen = known[row], [p for one in found for p in one.places]
        if (
            (hits[row] < min(2, heard) and shares[row] < ALL_BUT * weight)
            or shares[row] < enough * weight
            or row not in other
            or passage.heading in [one.heading for one in first]
        ):
            continue
        others = [p for p in passage.places if not any(p in x.places for x in first)]
        if not passage.places or (others and others[0] not in seen):
            lacks = _lacking(question, row) if shares[row] < MOST * whole else ()
            found.append(passage._replace(places=others, lacks=lacks))
        if len(found) == count:
            break
    return first + found


def _lacking(question, row):
    """Returns the question's words that are missing in the passage with index `row`."""
    having = _index()[1].having
    return tuple(
        word
        for word in dict.fromkeys(WORD.findall(question))
        if (stems := _asked(word)) and not any(row in having.get(s, ()) for s in stems)
    )


def _symptom(question):
    """Returns a list of one `Passage` with a symptom's causes, or [] if no symptom."""
    said = dict.fromkeys(_said(question))
    known, index, _ = _index()
    ours = [words for words, _ in symptoms() if said.keys() >= set(words)]
    words = max(ours, key=len, default=None)
    if words is None:
        return []
    rows = dict(symptoms())[words]
    if len(rows) == 1:
        return [known[rows[0]]]
    common = _stems(known[rows[0]].heading)
    telling = [s for s in said if s not in common and index.rarity(s) >= RARE]
    scores = index.scores(telling)
    rows = sorted(rows, key=lambda row: -scores[row])
    causes = [known[row] for row in rows]
    text = "\n".join(in_short(one.text) for one in causes)
    places = list(dict.fromkeys(one.places[0] for one in causes[:2]))
    return [causes[0]._replace(text=text, places=places)]


def in_short(text):
    """Shortens the text of a cause: omits how to detect it, and its pairs."""
    return CAUSE.sub(r"\1 Write: \2", text)


@functools.cache
def symptoms():
    """Reads `symptoms.tsv`: [(stems of a symptom, indices of its passages)]."""
    under = collections.defaultdict(list)
    for row, passage in enumerate(_index()[0]):
        if passage.page == CAUSES:
            if CAUSE.fullmatch(passage.text):
                under[passage.heading].append(row)
        elif not under[passage.heading]:  # the first says what to write
            under[passage.heading].append(row)
    return [
        (tuple(dict.fromkeys(_said(row["words"]))), under[row["heading"]])
        for row in tsv.rows(SYMPTOMS)
    ]


def besides_names(question, symbols):
    """Returns a question's stems, without version numbers and parts of `symbols`."""
    named = {stem for symbol in symbols for stem in _stems(symbol.replace(".", " "))}
    return [s for s in _stems(question) if s not in named and not _is_release(s)]


def fits(question):
    """Scores each pair for a question by all of the pair's passages: {pair: score}."""
    return _index()[2].scores(_asked(question))


def nearest_topics(question, count=3):
    """Returns the topics with the best scores for a question; [] if nothing scores."""
    scores = collections.Counter()
    for pair, score in fits(question).items():
        topic = pair.partition(".")[0]
        scores[topic] = max(scores[topic], score)
    return [topic for topic, _ in scores.most_common(count)]


def _asked(question):
    """Returns the question's stems, plus the guide's synonyms for these stems."""
    stems = dict.fromkeys(_stems(question))
    return stems | dict.fromkeys(ALSO[stem] for stem in stems if stem in ALSO)


class Index:
    """Counts the stems of each document, and scores documents by BM25.

    Attributes:
        having: {stem: {document: how often}}.
        lengths: {document: how many stems it has}.
    """

    def __init__(self, counted):
        """Builds the index from {document: {stem: number of times}}."""
        self.having = collections.defaultdict(dict)
        for document, stems in counted.items():
            for stem, times in stems.items():
                self.having[stem][document] = times
        self.lengths = {d: sum(stems.values()) for d, stems in counted.items()}
        self._mean = sum(self.lengths.values()) / len(counted)

    def rarity(self, stem):
        """Returns the weight of a stem: large if few documents have the stem."""
        number, having = len(self.lengths), len(self.having.get(stem, ()))
        rare = math.log(1 + (number - having + 0.5) / (having + 0.5))
        return RELEASE * rare if _is_release(stem) else rare

    def scores(self, stems):
        """Returns a Counter {document: BM25 score} for the given stems."""
        found = collections.Counter()
        for stem in stems:
            for document, times in self.having.get(stem, {}).items():
                length = self.lengths[document] / self._mean
                damped = SATURATION * (1 - LENGTH + LENGTH * length)
                gain = times * (SATURATION + 1) / (times + damped)
                found[document] += self.rarity(stem) * gain
        return found


@functools.cache
def _index():
    """Builds and returns (passages, `Index` of passages, `Index` of pairs)."""
    known, counted, of_pairs = [], {}, collections.defaultdict(collections.Counter)
    for passage, words in [*_of_guide(), *_of_errors(), *_of_pairs()]:
        stems = collections.Counter(_stems(words))
        counted[len(known)] = stems
        known.append(passage)
        for pair in _led(passage):
            of_pairs[pair].update(stems)
    return known, Index(counted), Index(of_pairs)


def _led(passage):
    """Returns the main pairs of a passage: the first two in its `places`."""
    return passage.places[:2]


def _of_guide():
    """Yields (Passage, words to index) for each row, rule or paragraph of the guide."""
    paths = sorted(topics.document("guide").glob("*.md"))
    for path in [*paths, topics.document("README.md")]:
        if path.stem in LISTS:
            continue
        heading, rule, folded = path.stem, "", False
        for block in re.split(r"\n\n+", FENCE.sub("", path.read_text("utf-8"))):
            if block.startswith("# ") and path.stem in topics.topics():
                continue  # the pairs below belong to the topic, not to its title
            if block.startswith("#"):
                heading, rule = block.strip("# \n"), ""
                continue
            inside = folded or "<details>" in block
            folded = inside and "</details>" not in block
            heads, before = [], ""
            for line in re.split(r"\n(?=[|*-])", FOLD.sub("", block)):
                if RULE.match(line.strip()):
                    heads = cells(before)
                    continue
                before = line
                if line.startswith("|") and not heads:
                    continue  # the line is the heads of a table
                table = path.stem == "timings" or heading in TABLES
                measured = table and line.startswith("|")
                if measured or SKIPPED.match(line) or not re.search(r"\w{3}", line):
                    continue
                if inside:  # measured numbers need the words of their rule
                    line = f"{rule} {line}"
                elif match := re.match(r"\*\*.*?\*\*", line):
                    rule = match[0]
                page = path.relative_to(topics.document("README.md").parent).as_posix()
                places = _places(path.stem, heading, line)
                text = _row(heads, line) if line.startswith("|") else _plain(line)
                passage = Passage(page, heading, text, places)
                yield passage, f"{path.stem} {heading} {passage.text}"


def _of_errors():
    """Yields (Passage, words to index) for each section of the pages of errors."""
    for section in errors_page.sections():
        page = f"guide/{section.page}.md"
        where = page, section.message, section.because, section.places
        yield Passage(*where), f"{' '.join(section.wordings)} {section.because}"


def _of_pairs():
    """Yields (Passage, words to index) for each pair."""
    called = collections.defaultdict(list)
    for name, pairs in links.calls().items():
        for pair in pairs:
            called[pair].append(name)
    for subject, pairs in subjects().items():
        for pair in pairs:
            called[pair].append(subject)
    for place, summary in _pairs().items():
        page = f"guide/{place.partition('.')[0]}.md"
        passage = Passage(page, place, summary, [place])
        yield passage, f"{place} {summary} {' '.join(called[place])}"


@functools.cache
def subjects():
    """Reads subjects.tsv: {subject: list of pairs}, in the order of the file."""
    return {row["subject"]: row["pairs"].split() for row in tsv.rows(SUBJECTS)}


def _places(topic, heading, line):
    """Finds the pairs that a line or its heading names or links to."""
    words = [heading, *(word.strip("`") for word in errors_page.LINK.findall(line))]
    words += re.findall(r"`([a-z]\w*_\w+)`", line)  # `fit` is a method, too
    words = [word if "." in word else f"{topic}.{word}" for word in words]
    return list(dict.fromkeys(word for word in words if word in _pairs()))


@functools.cache
def _pairs():
    """Returns {pair: summary} for all pairs."""
    return {
        f"{topic.name}.{name}": topic.summaries[name]
        for topic in topics.topics().values()
        for name in topic.pairs
    }


def subjects_with(word):
    """Returns {subject: pairs} for subjects with a word, whatever its ending."""
    stems = _stems(word) if word.isalpha() else []
    found = subjects().items() if len(stems) == 1 else ()
    return {subject: pairs for subject, pairs in found if stems[0] in _stems(subject)}


def cells(line):
    """Splits a row of a Markdown table into its cells."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]


def _row(heads, line):
    """Formats a table row as text: "TensorFlow 1 → 2", or "head: cell" per cell."""
    row = [_plain(cell) for cell in cells(line)]
    if heads[0].startswith("TensorFlow 1"):
        return " → ".join(filter(None, row))
    named = zip([_plain(head) for head in heads], row, strict=False)
    return "; ".join(
        f"{head}: {cell}" if head else cell for head, cell in named if cell
    )


def _plain(line):
    """Removes the links, anchors and bold from a line, but not the backticks."""
    text = errors_page.LINK.sub(r"\1", re.sub(r"<[^>]*>|\*\*", "", line))
    return " ".join(text.strip("|-* \n").split())


def _is_release(stem):
    """Whether a stem is a release, such as "1.15": only releases contain a dot."""
    return "." in stem


def _said(text):
    """Returns all words of a text without endings; does not split compound names."""
    return [ENDINGS.sub("", word.lower()) for word in WORD.findall(text)]


def _stems(text):
    """Returns stems of a text's uncommon words, and of the parts of compound names."""
    found = []
    for word in WORD.findall(text):
        parts = () if _is_release(word) else PARTS.findall(word)
        for one in [word, *(parts if len(parts) > 1 else ())]:
            stem = ENDINGS.sub("", one.lower())
            if COMMON.isdisjoint({one.lower(), stem}) and len(one) > 1:
                found.append(stem)
    return found
