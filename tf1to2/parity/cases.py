"""The cases of a pair: which function runs with which inputs, and how.

A case names a public function of a pair and its inputs. The kind of the page decides
how the case is run, and in which ways it is proven:

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
    """Base class of all kinds of case.

    Attributes:
        name: the public name of the pair.
        slug: a short description of this case, in English.
        args: positional arguments. NumPy arrays and specs (`normal("n", 3)`) become
            tensors, other values are passed unchanged. A program gets all values
            unchanged.
        kwargs: keyword arguments, passed unchanged.
        expect: the outputs as a reader would write them, compared with both sides: 0.1
            means the nearest float32, 3.9 does not equal 3, and 1 does not equal True.
        sizes: list of {letter: size}, in place of the usual three.
        exact: compare with the recording in the given dtype, not by the float64 recipe:
            for cases about float32 itself, and for arithmetic that never rounds.
        float32: the page computes in float32 for any input dtype, so that nothing can
            be widened. Like `exact`; besides, in every way and setting, leaves may
            differ from the recording as the table of float32 allows.
        skip: {way or rung: reason} of the parts that this case cannot be proven in.
        factory: of a layer, the keywords that make it.
        traces: of a program, how often each of its `tf.function`s may trace; 2 if the
            first call makes variables, 0 if all run in other processes.
        more: further entries of the request: see `v1.run`.
        wide: further entries of the request of the float64 recipe, such as {"widen":
            True} if the pages make float32 variables for any input dtype.
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
    wide: dict = dataclasses.field(default_factory=dict)

    kind = "op"

    def __post_init__(self):
        unknown = set(self.skip) - {*RUNGS[self.kind], *BESIDES}
        if unknown or not all(self.skip.values()):
            raise ValueError(
                "{}: skip= must be {{way: reason}}; the ways are {}".format(
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
        """The letters in the specs of the case: the dimensions that vary."""
        return arrays.letters(self.args)

    def bindings(self):
        """The sizes for which this case is run: a list of {letter: number}."""
        return self.sizes or arrays.bindings(self.args)

    def request(self, sizes, dynamic=False, seed=0):
        """The request for the runners of both sides: see `v1.run`."""
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
    """A case that runs a function from tensors to tensors."""


@dataclasses.dataclass(frozen=True, eq=False)
class Layer(Case):
    """A case that calls a factory with `factory` to get a callable with variables."""

    kind = "layer"


@dataclasses.dataclass(frozen=True, eq=False)
class Program(Case):
    """A case that runs a whole script: arrays in, arrays out."""

    kind = "program"


@dataclasses.dataclass(frozen=True, eq=False)
class FalseFriend(Case):
    """A case where the obvious TensorFlow 2 form, `naive`, gives another result.

    It is proven like any op or program. Besides, `naive` must differ from the left
    page, in the property that the case names. Equal numbers in another dtype, or in a
    list instead of a tuple, do not make a false friend.

    Attributes:
        of: the kind of page: "op", "layer" or "program".
        naive: the obvious replacement, a function of the same arguments: tensors for an
            op, arrays for a program; of a layer, a factory.
        because: why it differs, in a sentence.
        differs: the property: "values"; "shape"; "structure", if there are other
            leaves; or "raises", if the naive form does not work.
    """

    of: str = "op"
    naive: Callable | None = None
    because: str = ""
    differs: str = "values"

    def __post_init__(self):
        super().__post_init__()
        if self.differs not in DIFFERENCES or self.naive is None:
            raise ValueError(
                f"{self}: a false friend needs naive=…, and differs= one of "
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
    """A case with bad input: the exception type on each side, None for no exception.

    If it works on several sides, their outputs are compared. If it works only on the
    right, `expect` has the outputs.

    Attributes:
        of: the kind of page: "op", "layer" or "program".
        graph: exception type on the left page, in 1.15 and today.
        eager: exception type of the right page.
        function: exception type of the right page in a `tf.function`.
        match: regular expression that is found in every message; "^$" if it is empty.
        genuine: exception type in 1.15, if it is not `graph`.
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
            raise ValueError(f"{self}: give Raises an exception for a side: graph=…")
        if re.search(self.match, "\0"):
            raise ValueError(f"{self}: match={self.match!r} matches any message")
        works = [w for w in ("eager", "function") if w in self.ways and self.works(w)]
        if works and not self.works("graph") and self.expect is None:
            raise ValueError(
                f"{self}: no error in {' and '.join(works)} only: give the outputs, "
                "expect=…"
            )

    def works(self, way):
        """Returns whether the input raises no error in the given `way`."""
        return getattr(self, way) is None

    @classmethod
    def alike(cls, name, slug, args, error, match, **others):
        """Makes a case with one exception on all sides except those in `others`."""
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
