"""`Entry`: verdict, replacement and changes of a name, and its message."""

import ast
import dataclasses

SAME, RENAMED, CHANGED = "same", "renamed", "changed"
REWRITE, REMOVED, PRIVATE = "rewrite", "removed", "private"
VERDICTS = (SAME, RENAMED, CHANGED, REWRITE, REMOVED, PRIVATE)
"""From harmless to hard. If one use has two verdicts, the later one counts."""
FINAL = (REWRITE, REMOVED, PRIVATE)
"""Verdicts that do not depend on the arguments."""
NOTHING = "nothing"
KERAS_1 = ", the name of Keras 1, which Keras 3 refuses"
KERAS_1_IN = "guide/keras.md"
BY_PLACE = 8
"""How many first arguments people may pass by position."""
OF_ALL = {
    RENAMED: "is {} now",
    REWRITE: "becomes {}",
    REMOVED: "is gone; use {}",
}


@dataclasses.dataclass(frozen=True)
class Change:
    """One argument of a call, and how it changed since 1.15.5.

    Attributes:
        how: "renamed", "gone", "required" (it has no default now), "new" (it must be
            given), "default" (the default changed), "moved" (the position changed),
            or "passed" (`note` is about calls that pass it).
        argument: its name in 1.15.5; for "new", its name today.
        was: for "required" and "default", the default of 1.15.5.
        now: for "renamed" and "required", the new name; for "default", the new
            default; for "moved", the argument in this position today, or "".
        place: its position in 1.15.5, from 0, or None.
        passed: if the change is only about some values, the pattern of their text,
            "[]" for a list, or a kind of `records.Call.kinds`; else "".
        verdict: what `arguments.tsv` says of it, or "".
        write: what to type instead, or "".
        keras_1: whether the argument has a name of Keras 1.
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
        """Whether the change affects calls that do not pass the argument."""
        return self.how in ("default", "required", "new")

    @property
    def rank(self):
        """Sort key: 0 raises, 1 changes numbers, 2 changes a position, 3 is Keras 1."""
        if self.keras_1:
            return 3
        if self.how in ("renamed", "gone", "required", "new"):
            return 0
        if self.how == "moved":
            return 2
        return 0 if self.verdict in (REWRITE, REMOVED) else 1

    @property
    def near(self):
        """Whether the argument is one of the first, which people pass by position."""
        return self.place is None or self.place < BY_PLACE

    def told(self, bare=False):
        """The change as a sentence, followed by what to write.

        Args:
            bare: whether to leave out what to write, because the caller shows it.
        """
        if self.how == "renamed":
            what = f"write {self.now}= in place of {self.argument}="
            what += KERAS_1 if self.keras_1 else ""
            return f"{what}: {self.note}" if self.note else what
        write = "" if bare or not self.write else f": write {self.write}"
        return f"{self.note or self._words()}{write}"

    @property
    def keyword(self):
        """The keyword to type now, such as "reset_after=False"; or ""."""
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
            "required": f"{self.now} must be given: its default was {_plain(self.was)}",
            "new": f"{self.argument} must be given",
            "default": f"{self.argument} was {_plain(self.was)}, is {_plain(self.now)}",
            "moved": f"argument {(self.place or 0) + 1} was {self.argument} and "
            + (f"is {self.now}" if self.now else "does not exist now"),
        }.get(self.how, "")


@dataclasses.dataclass(frozen=True)
class Entry:
    """A name of 1.15.5: its verdict, replacement, changes and pair.

    A `changed` name is a false friend in code for TensorFlow 1, and a plain name in
    code for TensorFlow 2. All other verdicts except `same` prove TensorFlow 1.

    Attributes:
        symbol: the name: `tf.train.AdamOptimizer`; for members, with the class:
            `tf.Session.run`; for members of an unknown object: `.eval`.
        kind: as `facts.Fact.kind`.
        verdict: one of `VERDICTS`.
        write: what to type instead, or "".
        becomes: the replacement in words, if it is not a line of code: "a tf.Module".
        note: what changed, in a sentence, or "".
        changes: tuple of `Change`, in the order of `Change.rank`.
        pair: "topic.name", only the topic, or "".
        public: for a private name, the `Entry` of its public name; or None.
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
        """The topic that shows the name, or ""."""
        return self.pair.partition(".")[0]

    @property
    def renames(self):
        """{old keyword: new keyword}, without the keywords of Keras 1."""
        return {c.argument: c.now for c in self._how("renamed") if not c.keras_1}

    @property
    def from_keras_1(self):
        """{keyword of Keras 1: keyword today}."""
        return {c.argument: c.now for c in self._how("renamed") if c.keras_1}

    @property
    def gone(self):
        """The arguments that do not exist any more."""
        return tuple(c.argument for c in self._how("gone"))

    @property
    def defaults(self):
        """{argument: (default in 1.15.5, default today)}."""
        return {c.argument: (c.was, c.now) for c in self._how("default")}

    @property
    def positions(self):
        """{argument: (position in 1.15.5 from 0, argument in that position today)}."""
        return {c.argument: (c.place, c.now) for c in self._how("moved")}

    def _how(self, how):
        return [change for change in self.changes if change.how == how]

    @property
    def replacement(self):
        """The replacement, as code or in words; "" if nothing replaces the name."""
        writes = dict.fromkeys(change.write for change in self.changes if change.write)
        return self.write or self.becomes or ", ".join([*writes][:2])

    @property
    def form(self):
        """The replacement as one line of code to type; "" if no such line exists."""
        if self.public or self.write:
            return self.write or self.public.form
        keywords = [c.keyword for c in self.changes if c.keyword]
        if keywords and self.verdict in (RENAMED, CHANGED):
            return f"{self.symbol}(…, {', '.join(keywords)})"
        # A form for some calls only is not a form for all calls.
        general = [c for c in self.changes if (c.argument, c.verdict) != ("*", REWRITE)]
        changes = self.changes if self.verdict == REWRITE else general
        return next((c.write for c in changes if c.write), "")

    @property
    def what(self):
        """The changes and the note in one line, or "" if there are none."""
        sentences = [*_sentences(self.changes, said=self.write), self.note]
        return "; ".join(dict.fromkeys(filter(None, sentences)))

    @property
    def message(self):
        """The finding in one sentence, which says what to write instead."""
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
                told = "is the same" if same else "has another meaning"
                return f"{self.symbol} {told} in TensorFlow 2"
            more = f"; write: {place}" if place else ""
            return f"{self.symbol}: {what}{more}"
        if not place and what:
            gone = "is gone: " if self.verdict == REMOVED and not self.changes else ": "
            return f"{self.symbol} {gone}{what}".replace(" : ", ": ")
        told = OF_ALL[self.verdict].format(place or NOTHING)
        return f"{self.symbol} {told}{what and f'; {what}'}"


def _plain(default):
    """Writes a default value for a sentence; removes the quotes of a word."""
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
    """A sentence for each change; several keywords of Keras 1 share one sentence.

    Args:
        changes: tuple of `Change`.
        said: the code that the message shows in any case.
    """
    old = [c for c in changes if c.keras_1 and c.how == "renamed"]
    alone = [c for c in changes if c not in old] if len(old) > 1 else changes
    found = [change.told(bare=change.write == said) for change in alone]
    if len(old) > 1:
        words = ", ".join(f"{c.argument}= → {c.now}=" for c in old)
        found.append(f"from Keras 1: {words}")
    return found
