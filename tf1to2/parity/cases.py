"""What is proven of a pair: its cases.

A case names a public function of a pair and its inputs. The page's kind decides how it
is run and which ways it is proven in:

    Op       tensors in, tensors out        graph eager function dynamic xla generated
    Layer    a factory of a callable        graph eager function dynamic xla generated
    Program  arrays in, arrays out          graph eager function
    Raises   bad input to any of these      graph eager function
"""

import dataclasses
import re
from collections.abc import Callable

from tf1to2.parity import arrays

RUNGS = {
    "op": ("graph", "eager", "function", "dynamic", "xla", "gradient"),
    "layer": ("graph", "eager", "function", "dynamic", "xla", "gradient"),
    "program": ("graph", "eager", "function"),
}
BESIDES = ("generated", "keras")
DIFFERENCES = ("values", "shape", "structure", "raises")


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """What all kinds of case share.

    Attributes:
        name: the public name of the pair.
        slug: what is special about this case, in English.
        args: positional arguments. NumPy arrays and specs (`normal("n", 3)`) become
            tensors, the rest is handed on as it is. A program takes all as given.
        kwargs: keyword arguments, handed on as they are.
        expect: the outputs as a reader expects to see them, compared with both sides as
            they would be read: 0.1 is the float32 next to it, 3.9 is not 3, 1 no True.
        sizes: list of {letter: size}, in place of the usual three.
        exact: compare with the recording in the given dtype, not by the float64 recipe:
            for cases about float32 itself, and for arithmetic that never rounds.
        float32: the page computes in float32 whatever comes in, so that nothing can be
            widened: like `exact`, and in no way and setting need the bits be those of
            the recording where the table of float32 says that kernels differ.
        skip: {way or rung: reason} of what cannot be asked of this case.
        factory: of a layer, the keywords that make it.
        traces: of a program, how often each of its `tf.function`s may trace; 2 where
            the first call makes variables, 0 where all run in other processes.
        more: what else the runners are asked: see `v1.run`.
    """

    name: str
    slug: str
    args: list = dataclasses.field(default_factory=list)
    kwargs: dict = dataclasses.field(default_factory=dict)
    _: dataclasses.KW_ONLY
    expect: object = None
    sizes: list | None = None
    exact: bool = False
    float32: bool = False
    skip: dict = dataclasses.field(default_factory=dict)
    factory: dict = dataclasses.field(default_factory=dict)
    traces: int = 1
    more: dict = dataclasses.field(default_factory=dict)

    kind = "op"

    def __post_init__(self):
        unknown = set(self.skip) - {*RUNGS[self.kind], *BESIDES}
        if unknown or not all(self.skip.values()):
            raise ValueError(
                "{}: skip takes {{rung: reason}}, rungs being {}".format(
                    self, ", ".join(RUNGS[self.kind])
                )
            )

    def __str__(self):
        return f"{self.name}, {self.slug}"

    @property
    def ways(self):
        ways = [way for way in RUNGS[self.kind] if way != "gradient"]
        both = not {"graph", "generated"} & set(self.skip)
        if both and self.letters and self.kind != "program":
            ways.append("generated")
        return [way for way in ways if way not in self.skip]

    @property
    def letters(self):
        """The letters of its specs: the dimensions that vary."""
        return arrays.letters(self.args)

    def bindings(self):
        """The sizes that this case is run at, as dicts from letter to number."""
        return self.sizes or arrays.bindings(self.args)

    def request(self, sizes, dynamic=False, seed=0):
        """What both runners are asked: see `v1.run`."""
        names = [self.name, self.slug] + ([seed] if seed else [])
        shapes = {}
        if dynamic:
            shapes = arrays.unknown(self.args, literal=not self.letters)
        return {
            "kind": self.kind,
            "name": self.name,
            "args": arrays.drawn(self.args, sizes, *names),
            "kwargs": self.kwargs,
            "factory": self.factory,
            "traces": self.traces,
            "gradient": "gradient" not in self.skip,
            "shapes": shapes,
            **self.more,
        }


@dataclasses.dataclass(frozen=True, eq=False)
class Op(Case):
    """A function from tensors to tensors."""


@dataclasses.dataclass(frozen=True, eq=False)
class Layer(Case):
    """A factory, called with `factory`, of a callable that owns variables."""

    kind = "layer"


@dataclasses.dataclass(frozen=True, eq=False)
class Program(Case):
    """A whole script: arrays in, arrays out."""

    kind = "program"


@dataclasses.dataclass(frozen=True, eq=False)
class FalseFriend(Case):
    """A page whose obvious replacement gives other numbers.

    Proven like any op or program; besides, `naive` must differ from the left page, and
    in what the case says. Equal numbers in another dtype, or in a list for
    a tuple, are no false friend.

    Attributes:
        of: the kind of page: "op", "layer" or "program".
        naive: the obvious replacement, a function of the same arguments: tensors for an
            op, arrays for a program; of a layer, a factory.
        because: why it differs, in a sentence.
        differs: in what: "values"; "shape"; "structure", where there are other leaves;
            or "raises", where the naive form does not work.
    """

    of: str = "op"
    naive: Callable | None = None
    because: str = ""
    differs: str = "values"

    def __post_init__(self):
        super().__post_init__()
        if self.differs not in DIFFERENCES or self.naive is None:
            raise ValueError(
                f"{self}: a false friend has a naive form, and differs in one of "
                + ", ".join(DIFFERENCES)
            )

    @property
    def kind(self):
        return self.of

    @property
    def ways(self):
        return [*super().ways, "naive"]


@dataclasses.dataclass(frozen=True, eq=False)
class Raises(Case):
    """Bad input, and the exception that it raises on each side; None where it works.

    Where it works on several sides, their outputs are compared. Where it works only on
    the right, `expect` says what comes out.

    Attributes:
        of: the kind of page: "op", "layer" or "program".
        graph: exception type on the left page, in 1.15 and today.
        eager: exception type of the right page.
        function: exception type of the right page in a `tf.function`.
        match: regular expression that is found in every message; "^$" if it is empty.
        genuine: exception type in 1.15 where it is not `graph`.
        dynamic: whether the shapes of placeholders and signature are unknown.
    """

    of: str = "op"
    graph: type | None = None
    eager: type | None = None
    function: type | None = None
    match: str = ""
    genuine: type | None = None
    dynamic: bool = False

    def __post_init__(self):
        super().__post_init__()
        if not (self.graph or self.eager or self.function or self.genuine):
            raise ValueError(f"{self}: Raises names no exception: it is another case")
        if re.search(self.match, "\0"):
            raise ValueError(f"{self}: match={self.match!r} is found in any message")
        works = [w for w in ("eager", "function") if w in self.ways and self.works(w)]
        if works and not self.works("graph") and self.expect is None:
            raise ValueError(
                f"{self}: works in {' and '.join(works)} alone: say what comes out, "
                "expect=…"
            )

    def works(self, way):
        """Whether the input is no error in "graph", "eager" or "function"."""
        return getattr(self, way) is None

    @classmethod
    def alike(cls, name, slug, args, error, match, **others):
        """A case of one exception on all sides, but for those that `others` name."""
        errors = {"graph": error, "eager": error, "function": error, **others}
        return cls(name, slug, args, match=match, **errors)

    @property
    def kind(self):
        return self.of

    @property
    def ways(self):
        return [way for way in ("graph", "eager", "function") if way not in self.skip]

    def request(self, sizes, dynamic=False, seed=0):
        return {**super().request(sizes, self.dynamic), "gradient": False}
