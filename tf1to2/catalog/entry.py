"""What there is to say of a name, as fields; and the sentence that they make."""

import ast
import dataclasses

SAME, RENAMED, CHANGED = "same", "renamed", "changed"
REWRITE, REMOVED, PRIVATE = "rewrite", "removed", "private"
VERDICTS = (SAME, RENAMED, CHANGED, REWRITE, REMOVED, PRIVATE)
"""From harmless to hard: of two verdicts of one use the later one counts."""
FINAL = (REWRITE, REMOVED, PRIVATE)
"""Whatever the arguments are."""
NOTHING = "nothing"
KERAS_1 = ", the name of Keras 1, which Keras 3 refuses"
KERAS_1_IN = "guide/keras.md"
BY_PLACE = 8
"""Arguments that somebody may pass by position."""
OF_ALL = {
    RENAMED: "is {} now",
    REWRITE: "becomes {}",
    REMOVED: "is gone; use {}",
}


@dataclasses.dataclass(frozen=True)
class Change:
    """What became of an argument.

    Attributes:
        how: "renamed", "gone", "required" (it has no default any more), "new" (it must
            be given), "default" (it has another one), "moved" (it has another place),
            or "passed" (a call that passes it is to know `note`).
        argument: its name in 1.15.5; of "new" today's.
        was: the default of 1.15.5, of "required" and "default".
        now: the new name, of "renamed" and "required"; the new default, of "default";
            what stands in its place, of "moved", or "".
        place: its position in 1.15.5, from 0, or None.
        passed: the pattern of the text that is passed, where it concerns no other;
            "[]" for a list, a kind of `records.Call.kinds`; or "".
        verdict: what `arguments.tsv` says of it, or "".
        write: what to type instead, or "".
        keras_1: whether it is a name of Keras 1.
        note: what changed, in a sentence, or "".
    """

    how: str
    argument: str
    was: str = ""
    now: str = ""
    place: int | None = None
    passed: str = ""
    verdict: str = ""
    write: str = ""
    keras_1: bool = False
    note: str = ""

    @property
    def when_left_out(self):
        """Whether it concerns the calls that do not pass the argument."""
        return self.how in ("default", "required", "new")

    @property
    def rank(self):
        """0 raises, 1 changes numbers, 2 is of positions, 3 is of Keras 1."""
        if self.keras_1:
            return 3
        if self.how in ("renamed", "gone", "required", "new"):
            return 0
        if self.how == "moved":
            return 2
        return 0 if self.verdict in (REWRITE, REMOVED) else 1

    @property
    def near(self):
        """Whether it stands where somebody may pass it by position."""
        return self.place is None or self.place < BY_PLACE

    def told(self, bare=False):
        """The change in words; what to write comes behind it.

        Args:
            bare: whether to leave out what to write, which is said elsewhere.
        """
        if self.how == "renamed":
            what = f"write {self.now}= in place of {self.argument}="
            what += KERAS_1 if self.keras_1 else ""
            return f"{what}: {self.note}" if self.note else what
        write = "" if bare or not self.write else f": write {self.write}"
        return f"{self.note or self._words()}{write}"

    @property
    def keyword(self):
        """What a call adds so that it is as it was: "reset_after=False"; or ""."""
        if self.how == "renamed":
            return "" if self.keras_1 else f"{self.now}=…"
        name = self.now if self.how == "required" else self.argument
        if self.write.startswith(f"{name}="):
            return self.write
        if self.verdict or self.how not in ("required", "default"):
            return ""
        return f"{name}={self.was}" if _is_literal(self.was) else ""

    def _words(self):
        return {
            "gone": f"the argument {self.argument} is gone",
            "required": f"{self.now} must be given: it was {_plain(self.was)}",
            "new": f"{self.argument} must be given",
            "default": f"{self.argument} was {_plain(self.was)}, is {_plain(self.now)}",
            "moved": f"argument {(self.place or 0) + 1} was {self.argument} and is "
            + (self.now or "none"),
        }.get(self.how, "")


@dataclasses.dataclass(frozen=True)
class Entry:
    """What there is to say of a name.

    A `changed` name is a false friend in code that was written for TensorFlow 1, and in
    other code just a name; all other verdicts but `same` betray TensorFlow 1.

    Attributes:
        symbol: the name, as in `tf.train.AdamOptimizer`; members with their class, as
            in `tf.Session.run`; those of an unknown object as in `.eval`.
        kind: as `facts.Fact.kind`.
        verdict: one of `VERDICTS`.
        write: what to type instead, or "".
        becomes: what takes its place, where that is no line of code: "a tf.Module".
        note: what changed, in a sentence, or "".
        changes: tuple of `Change`: what raises first, then what changes numbers.
        pair: "topic.name", only the topic, or "".
        public: of a name that was never public the `Entry` of the public one; or None.
    """

    symbol: str
    kind: str
    verdict: str
    write: str = ""
    becomes: str = ""
    note: str = ""
    changes: tuple = ()
    pair: str = ""
    public: "Entry | None" = None

    @property
    def topic(self):
        """The topic that shows it, or ""."""
        return self.pair.partition(".")[0]

    @property
    def renames(self):
        """{old keyword: new keyword}, without those of Keras 1."""
        return {c.argument: c.now for c in self._how("renamed") if not c.keras_1}

    @property
    def from_keras_1(self):
        """{keyword of Keras 1: today's}."""
        return {c.argument: c.now for c in self._how("renamed") if c.keras_1}

    @property
    def gone(self):
        """The arguments that there are no more."""
        return tuple(c.argument for c in self._how("gone"))

    @property
    def defaults(self):
        """{argument: (its default in 1.15.5, today's)}."""
        return {c.argument: (c.was, c.now) for c in self._how("default")}

    @property
    def positions(self):
        """{argument: (its position in 1.15.5 from 0, what stands there today)}."""
        return {c.argument: (c.place, c.now) for c in self._how("moved")}

    def _how(self, how):
        return [change for change in self.changes if change.how == how]

    @property
    def replacement(self):
        """What takes its place, code or words; "" where nothing does."""
        writes = dict.fromkeys(change.write for change in self.changes if change.write)
        return self.write or self.becomes or ", ".join([*writes][:2])

    @property
    def form(self):
        """What to type, as one line of code; "" where there is none."""
        if self.public or self.write:
            return self.write or self.public.form
        keywords = [c.keyword for c in self.changes if c.keyword]
        if keywords and self.verdict in (RENAMED, CHANGED):
            return f"{self.symbol}(…, {', '.join(keywords)})"
        # What a call in some places becomes is no form of the others.
        general = [c for c in self.changes if (c.argument, c.verdict) != ("*", REWRITE)]
        changes = self.changes if self.verdict == REWRITE else general
        return next((c.write for c in changes if c.write), "")

    @property
    def what(self):
        """What changed, in one line: arguments first, or ""."""
        sentences = [*_sentences(self.changes, said=self.write), self.note]
        return "; ".join(dict.fromkeys(filter(None, sentences)))

    @property
    def message(self):
        """The finding in one sentence, which always says what to write instead."""
        if self.public:
            return f"{self.symbol}: not public; {self.public.message}"
        place, what = self.write or self.becomes, self.what
        if self.verdict == PRIVATE:
            there = f"; there is {place}" if place else ": it may change in any release"
            more = f"; {what}" if what else ""
            return f"{self.symbol} is not public{there}{more}"
        if self.verdict in (SAME, CHANGED):
            if not what:
                same = self.verdict == SAME
                told = "is the same" if same else "has the same name, another meaning"
                return f"{self.symbol} {told} in TensorFlow 2"
            more = f"; write: {place}" if place else ""
            return f"{self.symbol}: {what}{more}"
        if not place and what:
            gone = "is gone: " if self.verdict == REMOVED and not self.changes else ": "
            return f"{self.symbol} {gone}{what}".replace(" : ", ": ")
        told = OF_ALL[self.verdict].format(place or NOTHING)
        return f"{self.symbol} {told}{what and f'; {what}'}"


def _plain(default):
    """A default as a sentence has it: words without their quotes."""
    inner = default[1:-1]
    quoted = default[:1] in "'\"" and inner.replace("_", "").isalnum()
    return inner if quoted else default


def _is_literal(text):
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True


def _sentences(changes, said):
    """Those of the changes; those of Keras 1 in one, where there are several.

    Args:
        changes: tuple of `Change`.
        said: what to write, which is said anyhow.
    """
    old = [c for c in changes if c.keras_1 and c.how == "renamed"]
    alone = [c for c in changes if c not in old] if len(old) > 1 else changes
    found = [change.told(bare=change.write == said) for change in alone]
    if len(old) > 1:
        words = ", ".join(f"{c.argument}= → {c.now}=" for c in old)
        found.append(f"from Keras 1: {words}")
    return found
