"""What the cases of the topics by Keras share: no left page of theirs runs today."""

from parity_tests import shorthand
from tf1to2.parity import Program

OLD = {"graph": "Keras 3 has no sessions; the recording stands for the left page"}
# What is compiled reduces its losses in float32, in 1.15, whatever comes in.
COMPILED = {"float32": True}


def draws(random):
    """(drawn, weights), which draw normal float32 numbers from a `RandomState`.

    `drawn(*shape)` gives an array; `weights(*sizes)` the [kernel, bias] of layers of
    these sizes, one after the other.
    """

    def drawn(*shape):
        return random.standard_normal(shape).astype("f")

    def weights(*sizes):
        found = []
        for size, units in zip(sizes, sizes[1:], strict=False):
            found += [drawn(size, units), drawn(units) / 4]
        return found

    return drawn, weights


def old(name, slug, args, *, kwargs=(), skip=(), **others):
    """A program whose left page is asked of the recording alone."""
    skip = {**OLD, **dict(skip)}
    return Program(name, slug, args, dict(kwargs), skip=skip, **others)


def friend(name, slug, args, naive, because, *, kwargs=(), skip=(), **others):
    """The same of a program that looks like its port, and has other numbers."""
    more = {"kwargs": dict(kwargs), "skip": {**OLD, **dict(skip)}, **others}
    return shorthand.friend(name, slug, args, naive, because, **more)
