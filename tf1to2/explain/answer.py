"""The answer of `explain` as data, which `render` prints."""

import dataclasses
import functools

from tf1to2 import probes
from tf1to2.catalog import entries, facts, links
from tf1to2.catalog.entry import Entry
from tf1to2.pages import library, proven, topics


@dataclasses.dataclass(frozen=True)
class Name:
    """A name of TensorFlow 1, with its catalog entry.

    Attributes:
        symbol: the name that the user means, such as "tf.log".
        entry: `Entry`; for a call, with only those changes that affect it.
    """

    symbol: str
    entry: Entry

    @property
    def proofs(self):
        """The pairs whose TensorFlow 1 code calls this name, the best first."""
        return links.proofs(self.symbol)

    @property
    def takes(self):
        """The functions and classes of `numerics` that can replace this name."""
        names = library.stands_for({self.symbol, *facts.aliases(self.symbol)})
        return sorted(names, key=lambda name: not name.startswith(self.entry.topic))

    @property
    def probe(self):
        """The simplest `Probe` of this name's replacement, or None without probes."""
        rows = probes.probed().get(self.symbol, ())
        owner, _, member = self.symbol.rpartition(".")
        rows = rows or [
            row for row in probes.probed().get(owner, ()) if f".{member}" in row.old
        ]

        def plain(row):
            return bool(row.why), row.old == row.new, len(row.new)

        return min(rows, key=plain, default=None)

    @property
    def page(self):
        """The pair that shows this name, as "topic.name", or "" without a pair."""
        return self.entry.pair if "." in self.entry.pair else ""


@dataclasses.dataclass(frozen=True)
class Answer:
    """The answer to the user's text; each list has the best match first.

    Attributes:
        asked: the user's text.
        by: the name of the resolver that found the answer; "nothing" if none did.
        exact: whether the guide has this text, not only similar text.
        advice: tuple of `messages.Advice`: sections about an error.
        names: tuple of `Name`.
        ahead: how many of `names` say more than the passages, and come before them.
        beside: tuple of `Name`: other names in the text.
        passages: tuple of `questions.Passage` of the guide.
        numerics: a name of `numerics`, or "".
        topic: the name of a topic, or "".
        subjects: {subject of the guide: pairs}.
        page: the pair whose code is printed, "" for none.
        near: tuple of names or topics that the user may have meant.
    """

    asked: str
    by: str = "nothing"
    exact: bool = True
    advice: tuple = ()
    names: tuple = ()
    ahead: int = 0
    beside: tuple = ()
    passages: tuple = ()
    numerics: str = ""
    topic: str = ""
    subjects: dict = dataclasses.field(default_factory=dict)
    page: str = ""
    near: tuple = ()


def named(symbol, call=None):
    """Creates the `Name` of a symbol, with its catalog entry.

    Args:
        symbol: a name that exists.
        call: `records.Call`, if only changes that affect this call count; or None.
    """
    entry = entries.lookup(symbol)
    if entry is not None and call is not None:
        entry = entries.judge(symbol, call) or entry
    if entry is None:  # a module without an entry
        entry = Entry(symbol, "module", "same", pair=links.pair(symbol))
    return Name(symbol, links.of_branches(entry, call))


find_pair = functools.cache(topics.find)
"""(topic, name) of a pair; the name is None if the text is a topic."""


def proof(pair):
    """Describes the proof of a pair: "identical on 1.15.5, …", or "" if unproven."""
    topic, name = find_pair(pair)
    known = proven.proofs().get(topic.name, {}).get(name)
    if not known:
        return ""
    told = (
        f"{proven.verdict(known)} on 1.15.5, {proven.ways(known)}, "
        f"in {proven.cases(known)}"
    )
    if name in topic.distances:
        far = topic.distances[name]
        told += f"; by Keras {topics.distance_told(far)}"
        told += " of the largest value" * bool(far)
    return told


def summary(pair):
    """The sentence that says what a pair does."""
    topic, name = find_pair(pair)
    return topic.summaries[name]
