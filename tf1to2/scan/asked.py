"""What the guide has on a question: the rows, rules and paragraphs that have its words.

They are ranked by BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework,
2009): a word counts for more the fewer passages have it. Compound names count as a
whole and by their parts, words without their endings.
"""

import collections
import functools
import math
import re
from typing import NamedTuple

from tf1to2 import topics
from tf1to2.scan import chapter, links

SATURATION, LENGTH = 1.2, 0.75  # k1 and b of BM25
ENOUGH = 0.25  # of the question's weight, that a passage must have
UNKNOWN = 0.3  # of its rarity, that a word weighs which the guide has not
LISTS = {"official", "releases", "switches", "timings"}  # found otherwise
FENCE = re.compile(r"(?ms)^ *```.*?^ *```$|<details>.*?</details>|<!--.*?-->")
SKIPPED = re.compile(r"\|[ :-]+\||\| TensorFlow 1 \||The pair: |Also: ")
ENDINGS = re.compile(
    r"(?<=\w{3})(?:at(?:ions?|ing|ed?|es|ors?)|ions?|ings?|ers?|ors?|ed|es|s|e)$"
)
COMMON = set(
    """a about after all an and any are as at be before by can code convert do does
    doing equivalent error for from get gets give gives have how i in instead into is it
    its like make me my new no not now of old on one or port replace replacement same
    should so some still tensorflow tf tf1 tf2 than that the then there this to up use
    used using v1 v2 want was what when where which while why will with without works
    write wrong you your""".split()
)


class Passage(NamedTuple):
    """A piece of the guide.

    Attributes:
        page: "guide/rnn.md".
        heading: the heading that it stands under.
        text: what it says, in one line, without marks.
        places: the pairs that it leads to, as `topic.name`.
    """

    page: str
    heading: str
    text: str
    places: list


def passages(question, count=3):
    """What the guide has on a question, the best first: a list of `Passage`, or []."""
    known, lengths, having = _index()
    asked = dict.fromkeys(_stems(question))
    mean = sum(lengths) / len(lengths)
    scores, weight = collections.Counter(), 0.0
    shares, hits = collections.Counter(), collections.Counter()
    for stem in asked:
        rows = having.get(stem, {})
        rarity = math.log(1 + (len(known) - len(rows) + 0.5) / (len(rows) + 0.5))
        weight += rarity if rows else UNKNOWN * rarity
        for row, times in rows.items():
            damped = SATURATION * (1 - LENGTH + LENGTH * lengths[row] / mean)
            scores[row] += rarity * times * (SATURATION + 1) / (times + damped)
            shares[row] += rarity
            hits[row] += 1
    found = []
    for row, _ in scores.most_common():
        passage, seen = known[row], [p for one in found for p in one.places]
        if hits[row] < 2 or shares[row] < ENOUGH * weight:
            continue
        if not (passage.places and passage.places[0] in seen):
            found.append(passage)
        if len(found) == count:
            break
    return found


@functools.cache
def _index():
    """(passages, their lengths, {stem: {index of a passage: how often}})."""
    known, lengths, having = [], [], {}
    for passage, words in [*_of_guide(), *_of_pairs()]:
        stems = _stems(words)
        for stem, times in collections.Counter(stems).items():
            having.setdefault(stem, {})[len(known)] = times
        known.append(passage)
        lengths.append(len(stems))
    return known, lengths, having


def _of_guide():
    """Every row, rule and paragraph, with its words: its heading's count, too."""
    for path in sorted(topics.document("guide").glob("*.md")):
        if path.stem in LISTS:
            continue
        heading = path.stem
        for block in re.split(r"\n\n+", FENCE.sub("", path.read_text("utf-8"))):
            if block.startswith("#"):
                heading = block.strip("# \n")
                continue
            for line in re.split(r"\n(?=[|*-])", block):
                if SKIPPED.match(line) or not re.search(r"\w{3}", line):
                    continue
                page = f"guide/{path.name}"
                passage = Passage(
                    page, heading, _plain(line), _places(path.stem, heading, line)
                )
                yield passage, f"{path.stem} {heading} {passage.text}"


def _of_pairs():
    """Every pair, by its summary, its name and what its left page calls."""
    called = collections.defaultdict(list)
    for name, pairs in links.calls().items():
        for pair in pairs:
            called[pair].append(name)
    for place, summary in _pairs().items():
        page = f"guide/{place.partition('.')[0]}.md"
        passage = Passage(page, place, summary, [place])
        yield passage, f"{place} {summary} {' '.join(called[place])}"


def _places(topic, heading, line):
    """The pairs that a line links to, or that it stands below."""
    words = [heading, *(word.strip("`") for word in chapter.LINK.findall(line))]
    words = [word if "." in word else f"{topic}.{word}" for word in words]
    return list(dict.fromkeys(word for word in words if word in _pairs()))


@functools.cache
def _pairs():
    """{pair: what it does}."""
    return {
        f"{topic.name}.{name}": topic.summaries[name]
        for topic in topics.topics().values()
        for name in topic.pairs
    }


def _plain(line):
    text = chapter.LINK.sub(r"\1", re.sub(r"<[^>]*>|\*\*|`", "", line))
    return " ".join(text.strip("|-* \n").replace(" | ", " → ").split())


def _stems(text):
    """Words without endings, and of compound names the parts, too."""
    found = []
    for word in re.findall(r"[A-Za-z]\w*", text):
        parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", word)
        for one in [word, *(parts if len(parts) > 1 else ())]:
            if one.lower() not in COMMON and len(one) > 1:
                found.append(ENDINGS.sub("", one.lower()))
    return found
