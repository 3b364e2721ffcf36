"""The plan of a conversion: the moves of tensors, as a table and as a map."""

import dataclasses
import json

from tf1to2.checkpoint.casting import cast
from tf1to2.checkpoint.stored import Checkpoint, Tensor
from tf1to2.common.tables import table


@dataclasses.dataclass(frozen=True)
class Move:
    """One tensor of the result: its source and the changes to it.

    Attributes:
        to: its name in the result.
        source: its name in the source; None for a new tensor.
        transpose, reshape, dtype: the changes, in this order.
        value: array of a new tensor; None keeps the template's value.
        given: the entry of the map for a new tensor, as JSON has it.
        result: Tensor in the new checkpoint; None if the move is impossible.
        why: the reason for a match by names.
        rounded: number of values that the dtype rounds.
    """

    to: str
    source: str | None = None
    transpose: tuple | None = None
    reshape: tuple | None = None
    dtype: str | None = None
    value: object = None
    given: object = None
    result: Tensor | None = None
    why: str = ""
    rounded: int = 0

    def apply(self, array):
        """Applies the changes to an array.

        Raises:
            Loss: the dtype cannot hold the values.
        """
        return self._cast(array)[0]

    def _cast(self, array):
        import numpy as np

        array = np.asarray(array)
        if self.transpose is not None:
            array = np.transpose(array, self.transpose)
        if self.reshape is not None:
            array = np.reshape(array, self.reshape)
        return (array, 0) if self.dtype is None else cast(array, self.dtype)

    def tried(self, checkpoint):
        """Returns the move with the number of values that its cast rounds.

        Raises:
            Loss: the dtype cannot hold the values.
        """
        tensor = checkpoint.tensors[self.source]
        if self.dtype in (None, tensor.dtype):
            return self
        rounded = self._cast(checkpoint.read(tensor.key))[1]
        return dataclasses.replace(self, rounded=rounded)

    def changes(self):
        """Describes the changes and their reason in words."""
        words = [f"{name} {value}" for name, value in self.entry().items()]
        words += [f"rounds {self.rounded}"] if self.rounded else []
        return ", ".join(words + ([self.why] if self.why else []))

    def entry(self):
        """The changes as an entry of the map."""
        names = ("transpose", "reshape", "dtype") if self.source else ()
        values = {name: getattr(self, name) for name in names}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if value is not None
        }


@dataclasses.dataclass
class Plan:
    """All moves of a conversion, and the tensors that are not accounted for.

    Attributes:
        source: the Checkpoint to read.
        like: a Checkpoint or None, the template.
        mapping: the map, as `read_map` returns it.
        moves: list of Move, one per tensor of the result, sorted by name.
        dropped: names of the source that are not written.
        open: names of the source that have no place yet.
        unfilled: names of the template that nothing fills.
        problems: {kind: list of lines}.
        near, unlike: candidates for open names, as `automatic.match` returns them.
    """

    source: Checkpoint
    like: Checkpoint | None
    mapping: dict
    moves: list = dataclasses.field(default_factory=list)
    dropped: list = dataclasses.field(default_factory=list)
    open: list = dataclasses.field(default_factory=list)
    unfilled: list = dataclasses.field(default_factory=list)
    problems: dict = dataclasses.field(default_factory=dict)
    near: dict = dataclasses.field(default_factory=dict)
    unlike: dict = dataclasses.field(default_factory=dict)

    @property
    def format(self):
        return self.mapping["format"]

    def problem(self, kind, line):
        """Adds a line to the problems of a kind."""
        self.problems.setdefault(kind, []).append(line)

    def text(self):
        """Formats the plan as a table, followed by the totals and the problems."""
        tensors = self.source.tensors
        rows = [
            (
                move.source or "(new)",
                str(tensors[move.source]) if move.source else "",
                move.to,
                str(move.result or "?"),
                move.changes(),
            )
            for move in self.moves
        ]
        rows += [
            (name, str(tensors[name]), "(dropped)", "", "") for name in self.dropped
        ]
        moved = sum(move.source is not None for move in self.moves)
        lines = [table(("from", "is", "to", "becomes", "by"), rows), ""] if rows else []
        lines += [
            f"{len(tensors)} tensors ({self.source.format}) = {moved} moved + "
            f"{len(self.dropped)} dropped + {len(self.open)} unaccounted for",
            f"{len(self.moves)} tensors ({self.format}) = {moved} moved + "
            f"{len(self.moves) - moved} new",
        ]
        if self.mapping["auto"]:
            matched = sum(bool(move.why) for move in self.moves if move.source)
            asked = matched + len(self.open)
            lines.append(f"{matched} of {asked} tensors matched by their names")
        for kind, found in self.problems.items():
            lines += ["", kind + ":", *("  " + line for line in found)]
        return "\n".join(lines)

    def summary(self):
        """Lists the number of problems of each kind as texts."""
        return [f"{len(found)} {kind}" for kind, found in self.problems.items()]

    def left(self):
        """Returns a map of the open tensors, with "" for each place to fill in."""
        left = {"format": self.format}
        if self.mapping["auto"]:
            left["auto"] = True
        left["tensors"] = dict.fromkeys(self.open, "")
        if self.unfilled:
            left["new"] = dict.fromkeys(self.unfilled, "")
        return left

    def whole(self):
        """Returns the complete map of this plan: all moves and the open tensors."""
        moves = {}
        for move in self.moves:
            if move.source is not None:
                entry = move.entry()
                moves[move.source] = {"to": move.to, **entry} if entry else move.to
        tensors = {
            name: moves.get(name, "")
            for name in self.source.tensors
            if name in moves or name in self.open
        }
        new = {move.to: move.given for move in self.moves if move.source is None}
        new |= dict.fromkeys(self.unfilled, "")
        # Patterns may stay: an entry for one name comes before a pattern in "drop".
        dropped = self.mapping["drop"]
        return {"format": self.format, "tensors": tensors, "drop": dropped, "new": new}


def as_json(mapping):
    """A map as JSON, one entry per line."""
    return json.dumps(mapping, indent=2, ensure_ascii=False)
