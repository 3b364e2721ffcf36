"""What `explain` found: data, which `render` shows."""

import dataclasses
import functools

from tf1to2 import probes
from tf1to2.catalog import entries, facts, links
from tf1to2.catalog.entry import Entry
from tf1to2.pages import library, proven, topics


@dataclasses.dataclass(frozen=True)
class Name:
    """A name of TensorFlow 1, and what is known of it.

    Attributes:
        symbol: the name that was meant, such as "tf.log".
        entry: `Entry`; of a use, with what its call feels alone.
    """

    symbol: str
    entry: Entry

    @property
    def proofs(self):
        """The pairs whose left page calls it, the best first."""
        return links.proofs(self.symbol)

    @property
    def takes(self):
        """The names of `numerics` that are it, those of its topic first."""
        names = library.stands_for({self.symbol, *facts.aliases(self.symbol)})
        return sorted(names, key=lambda name: not name.startswith(self.entry.topic))

    @property
    def probe(self):
        """The `Probe` that executed what takes its place, the plainest; or None."""
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
        """The pair that shows it, as "topic.name"; or ""."""
        return self.entry.pair if "." in self.entry.pair else ""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What is known of what was asked, the likeliest first.

    Attributes:
        asked: the text.
        by: the name of the resolver that found it: "nothing" where none did.
        exact: whether the text is what is answered, and not only like it.
        advice: tuple of `messages.Advice`, of errors.
        names: tuple of `Name`.
        ahead: how many of `names` say more than the passages, and so come first.
        beside: tuple of `Name`: other names in the text.
        passages: tuple of `questions.Passage`.
        numerics: a name of `numerics`, or "".
        topic: the name of a topic, or "".
        subjects: {what people call it: pairs}.
        page: the pair whose code is shown, "" for none.
        near: tuple of names or topics that may have been meant.
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
    """The `Name` of a symbol.

    Args:
        symbol: a name that there is.
        call: `records.Call`, where only what this call feels counts; or None.
    """
    entry = entries.lookup(symbol)
    if entry is not None and call is not None:
        entry = entries.judge(symbol, call) or entry
    if entry is None:  # a module of which nothing is said
        entry = Entry(symbol, "module", "same", pair=links.pair(symbol))
    return Name(symbol, links.of_branches(entry, call))


find_pair = functools.cache(topics.find)
"""(topic, name) of a pair; the name is None where a topic is meant."""


def proof(pair):
    """How far a pair is proven: "identical on 1.15.5, …, in 3 cases"; or ""."""
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
    """What a pair does, in a sentence."""
    topic, name = find_pair(pair)
    return topic.summaries[name]
