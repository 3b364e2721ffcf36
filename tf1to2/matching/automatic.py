"""Matches tensors by their names (`kernel`, `weights`, `w`), dtypes and shapes.

Two tensors match if each is the best for the other, and no other one is as good.
Otherwise they stay open: the matcher does not guess between equals.
"""

import collections
import dataclasses
import functools
import itertools

from tf1to2.matching.spelling import Spelling, same_word, spell

# The reasons for a match, the strictest first.
REASONS = (
    "same name",
    "same words",
    "name within name",
    "same scope",
    "shared words",
    "same place in a series",
    "only one that fits",
)


@dataclasses.dataclass(frozen=True)
class Item:
    """A tensor of the source or the target, with all spellings of its name.

    Attributes:
        name: its name in the plan.
        spellings: tuple of Spelling, at least one.
        tensor: Tensor, or None if dtype and shape are unknown.
    """

    name: str
    spellings: tuple
    tensor: object = None

    @property
    def slots(self):
        return frozenset().union(*(s.slots for s in self.spellings))

    @property
    def role(self):
        roles = [s.role for s in self.spellings if s.role]
        return roles[0] if roles else None


def items(tensors, others=()):
    """Makes an `Item` with all spellings for each tensor of a checkpoint.

    Args:
        tensors: {name: Tensor, or None}.
        others: {name: list of other names of the same tensor}.

    Returns:
        list of Item.
    """
    others, found = dict(others), []
    names = set(tensors).union(*others.values())
    for name, tensor in tensors.items():
        texts = dict.fromkeys([*others.get(name, []), name])
        spellings = tuple(spell(text, names) for text in texts)
        if any(s.slots for s in spellings):  # the other spellings say less
            spellings = tuple(s for s in spellings if s.slots)
        found.append(Item(name, spellings, tensor))
    return found


def match(sources, targets):
    """Matches sources with targets.

    Args:
        sources, targets: lists of Item.

    Returns:
        ({name of a source: (name of its target, reason)},
        {name of an open source: names of possible targets},
        {name of an open source: target with its name, but another dtype or shape})
    """
    variables = [[i for i in side if not i.slots] for side in (sources, targets)]
    matches = _Matcher(*variables).run()
    found = {s.name: (t.name, reason) for s, (t, reason) in matches.items()}
    # A slot has the name of its variable; add the variable's name on the other side.
    where = {
        spelling.text: t for s, (t, _) in matches.items() for spelling in s.spellings
    }
    slots = [i for i in sources if i.slots]
    slots = [dataclasses.replace(i, spellings=_with(i, where)) for i in slots]
    matcher = _Matcher(slots, [i for i in targets if i.slots])
    found |= {s.name: (t.name, reason) for s, (t, reason) in matcher.run().items()}
    taken = {name for name, _ in found.values()}
    left = [item for item in targets if item.name not in taken]
    free = [item for item in [*variables[0], *slots] if item.name not in found]
    near = {s.name: [t.name for t in left if _fits(s, t)] for s in free}
    # Names that match while dtypes or shapes differ: perhaps a transposed tensor.
    shapeless = [
        [dataclasses.replace(item, tensor=None) for item in side]
        for side in ([s for s in free if not near[s.name]], left)
    ]
    other = _Matcher(*shapeless).run()
    return found, near, {s.name: t.name for s, (t, _) in other.items()}


def _with(item, where):
    spellings = list(item.spellings)
    for own in item.spellings:
        variable = where.get(own.text.rpartition("/")[0])
        if ".OPTIMIZER_SLOT" in own.text:
            variable = where.get(own.text.partition("/.OPTIMIZER_SLOT")[0])
        for other in variable.spellings if variable else ():
            # Spelled like a slot, without the words of optimizers.
            again = spell(f"{other.text}/slot", slot=(other.text, "m"))
            again = dataclasses.replace(again, text=_BESIDE, slots=own.slots)
            spellings.append(again)
    return tuple(dict.fromkeys(spellings))


_BESIDE = "\0"  # the text of a spelling from the target's side: numbers are equal


class _Matcher:
    def __init__(self, sources, targets):
        self.sources, self.targets = sources, targets
        self.matches, self.scopes = {}, set()
        self.families = [_families(sources), _families(targets)]
        self.common = [_everywhere(sources), _everywhere(targets)]
        self.relations, self.pairs = {}, {}
        by_kind = collections.defaultdict(list)
        for target in targets:
            by_kind[_kind(target)].append(target)
        for source in sources:
            near = by_kind[_kind(source)] + by_kind[None] * (source.tensor is not None)
            self.relations[source] = {
                t: self.relation(source, t) for t in near if _fits(source, t)
            }

    def run(self):
        """Matches tensors, strictest reasons first, until no reason finds a match."""
        while any(self.step(level) for level in range(len(REASONS))):
            pass
        return self.matches

    def step(self, level):
        taken = {t for t, _ in self.matches.values()}
        offers = {}
        for source in self.sources:
            if source in self.matches:
                continue
            scores = {
                t: self.score(level, source, t, relation)
                for t, relation in self.relations[source].items()
                if t not in taken
            }
            scores = {t: score for t, score in scores.items() if score}
            if scores:
                offers[source] = scores
        backward = collections.defaultdict(dict)
        for source, scores in offers.items():
            for target, score in scores.items():
                backward[target][source] = score
        new = {}
        for source, scores in offers.items():
            target = _best(scores)
            if target and _best(backward[target]) == source:
                new[source] = (target, REASONS[level])
        self.matches |= new
        for source, (target, _) in new.items():
            pairs = itertools.product(source.spellings, target.spellings)
            scopes = {(_scope(one), _scope(other)) for one, other in pairs}
            self.scopes |= {pair for pair in scopes if all(pair)}
        return bool(new)

    def score(self, level, source, target, relation):
        """The score of a pair for one reason; 0 if the reason does not apply."""
        closest, words = relation
        reason = REASONS[level]
        if reason == "same scope":
            return any(self.beside(source, target))
        if reason == "shared words":
            return words
        if reason == "same place in a series":
            return any(self.in_series(source, target))
        if reason == "only one that fits":
            return self.only(source, target)
        return closest == level

    def relation(self, source, target):
        """Returns the strictest reason or None, and the number of shared words."""
        closest, words = None, 0
        for one in source.spellings:
            for other in target.spellings:
                level, shared = self.compare(one, other)
                words = max(words, shared)
                if level is not None and (closest is None or level < closest):
                    closest = level
        return closest, words

    def compare(self, one, other):
        if one.text == other.text:
            return 0, len(one.words) + 1
        if not self.numbers_agree(one, other):
            return None, 0
        common = _shared(one.words, other.words)
        # Words that are in all names do not count.
        telling = [
            (a, b)
            for a, b in common
            if a not in self.common[0] or b not in self.common[1]
        ]
        sizes = len(one.words), len(other.words)
        roles = one.role == other.role or bool(one.slots)
        if one.role is None and not one.slots:
            roles = roles and bool(sizes[0])
        if roles and len(common) == sizes[0] == sizes[1]:
            return 1, len(telling)
        # Names without words differ only in their numbers.
        numbered = not min(sizes) and (one.numbers or other.numbers)
        named = one.role or (common and same_word(one.words[-1], other.words[-1]))
        if roles and named and len(common) == min(sizes) and not numbered:
            return 2, len(telling)
        return None, len(telling)

    def numbers_agree(self, one, other):
        """Whether two spellings have the same position in their numbered series.

        `layer1, layer2` and `layers/0, layers/1` are two series with another start.
        """
        if one.text == _BESIDE:
            return _padded(one.numbers, 9) == _padded(other.numbers, 9)
        return self.series(_family(one), _family(other)).get(one.numbers) == (
            other.numbers
        )

    def series(self, one, other):
        """Maps the numbers of one series to those of the other at the same position."""
        if (one, other) not in self.pairs:
            families = self.families[0][one], self.families[1][other]
            self.pairs[one, other] = _series(*map(sorted, families))
        return self.pairs[one, other]

    def beside(self, source, target):
        """Yields, for each pair of spellings, whether their scopes already match."""
        for one in source.spellings:
            for other in target.spellings:
                if one.role and one.role == other.role and _scope(one):
                    yield (_scope(one), _scope(other)) in self.scopes

    def in_series(self, source, target):
        """Yields whether the series of two spellings agree: `dense_1`, `layers/1`."""
        for one in source.spellings:
            for other in target.spellings:
                if not one.role or one.role != other.role or one.text == _BESIDE:
                    continue
                keys = _family(one), _family(other)
                series = self.series(*keys)
                old, new = self.families[0][keys[0]], self.families[1][keys[1]]
                yield (
                    series.get(one.numbers) == other.numbers
                    and len(old) == len(new) == len(series) > 1
                    and all(_fits(old[a], new[b]) for a, b in series.items())
                )

    def only(self, source, target):
        """Returns whether source and target fit each other and no other tensor."""
        if not target.tensor or not target.tensor.shape:
            return False
        if not source.slots and not (source.role and source.role == target.role):
            return False
        fitting = [t for t in self.targets if _fits(source, t)]
        return len(fitting) == 1 == sum(_fits(s, target) for s in self.sources)


def _kind(item):
    return item.tensor and (item.tensor.dtype, item.tensor.shape)


def _fits(source, target):
    if bool(source.slots) != bool(target.slots):
        return False
    if source.slots and not source.slots & target.slots:
        return False
    if target.tensor and source.tensor and _kind(source) != _kind(target):
        return False
    return source.role == target.role or not (source.role and target.role)


def _best(scores):
    """Returns the key with the highest score; None if several keys share it."""
    highest = max(scores.values())
    found = [key for key, score in scores.items() if score == highest]
    return found[0] if len(found) == 1 else None


def _family(spelling):
    return spelling.role, spelling.slots, spelling.words


def _families(side):
    families = collections.defaultdict(dict)
    for item in side:
        for spelling in item.spellings:
            if spelling.text == _BESIDE:
                continue
            families[_family(spelling)][spelling.numbers] = item
    return families


def _series(old, new):
    size = max(map(len, old + new))
    places = [{_padded(n, size): n for n in numbers} for numbers in (old, new)]
    starts = [tuple(map(min, zip(*place, strict=True))) for place in places]
    if starts[0] == starts[1]:
        return {n: places[1][p] for p, n in places[0].items() if p in places[1]}
    # One counts from 0, the other from 1; but `fc1, fc2` is not `fc2, fc3`.
    differ = [{a, b} for a, b in zip(*starts, strict=True) if a != b]
    counted = all(pair == {0, 1} for pair in differ)
    if len(old) != len(new) or not (counted or not set(places[0]) & set(places[1])):
        return {}
    return dict(zip(old, new, strict=True))


def _padded(numbers, size):
    """Appends zeros to a tuple of numbers until it has the given size."""
    return numbers + (0,) * (size - len(numbers))


def _scope(spelling: Spelling):
    return spelling.text.rpartition("/")[0]


def _everywhere(side):
    """Returns the words that every tensor of one side has in its names."""
    words = [{w for s in item.spellings for w in s.words} for item in side]
    return set.intersection(*words) if len(words) > 1 else set()


@functools.lru_cache(maxsize=1 << 20)
def _shared(one, other):
    """The longest common subsequence of two tuples of words: a list of pairs."""
    if not one or not other:
        return []
    best = max(_shared(one[1:], other), _shared(one, other[1:]), key=len)
    if same_word(one[0], other[0]):
        best = max([(one[0], other[0]), *_shared(one[1:], other[1:])], best, key=len)
    return best
