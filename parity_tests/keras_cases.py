"""Helpers for the cases of Keras topics, whose left pages do not run today."""

from parity_tests import shorthand
from tf1to2.parity import Program

OLD = {"graph": "Keras 3 has no sessions; the recording stands for the left page"}
# A compiled model in 1.15 reduces its losses in float32 for inputs of any dtype.
COMPILED = {"float32": True}


def draws(random):
    """Returns functions `drawn` and `weights` that draw normal float32 numbers.

    They draw from a `RandomState`. `drawn(*shape)` returns an array; `weights(*sizes)`
    returns [kernel, bias, kernel, bias, …] of consecutive layers of these sizes.
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
    """Makes a case of a program whose left side comes only from the recording."""
    skip = {**OLD, **dict(skip)}
    return Program(name, slug, args, dict(kwargs), skip=skip, **others)


def friend(name, slug, args, naive, because, *, kwargs=(), skip=(), **others):
    """Makes a false friend of a recorded program: a likely port with other numbers."""
    more = {"kwargs": dict(kwargs), "skip": {**OLD, **dict(skip)}, **others}
    return shorthand.friend(name, slug, args, naive, because, **more)
