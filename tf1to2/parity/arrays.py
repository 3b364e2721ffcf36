"""Inputs by description: `normal("n", 3)` draws the same array on every machine.

A dimension is a number or a letter. `normal("n", 3)` is a matrix of three columns, and
the harness chooses the number of rows: several sizes, an unknown one, random ones.
"""

import dataclasses
import math

import numpy as np

from tf1to2.parity import structure

SIZES = ((7, 5, 3, 2), (8, 16, 4, 6), (67, 33, 9, 10))
"""Sizes of the first, second … letter of a case: multiples of 8 and others."""

LONG = 1031
"""Size of the first letter in the last row, if 67 make too small an array."""


@dataclasses.dataclass(frozen=True)
class Spec:
    """An array to be drawn: `draw(rng, shape)` cast to `dtype`."""

    dims: tuple
    draw: object
    dtype: str

    def shape(self, sizes):
        return tuple(sizes[d] if isinstance(d, str) else d for d in self.dims)

    def array(self, rng, sizes):
        return np.asarray(self.draw(rng, self.shape(sizes))).astype(self.dtype)


def normal(*dims, scale=1.0, dtype="float32"):
    """Describes an array of standard normal values times `scale`."""
    return Spec(dims, lambda rng, shape: scale * rng.standard_normal(shape), dtype)


def uniform(*dims, low=0.0, high=1.0, dtype="float32"):
    """Describes an array of values that are uniform in [low, high)."""
    return Spec(dims, lambda rng, shape: rng.uniform(low, high, shape), dtype)


def dyadic(*dims, dtype="float32"):
    """Describes an array of multiples of 1/8 in [-4, 4], with exact dot products."""
    return Spec(dims, lambda rng, shape: rng.randint(-32, 33, shape) / 8.0, dtype)


def integers(*dims, low=0, high=10, dtype="int32"):
    """Describes an array of integers in [low, high)."""
    return Spec(dims, lambda rng, shape: rng.randint(low, high, shape), dtype)


def booleans(*dims):
    """Describes an array of booleans; each value is True with probability 0.5."""
    return Spec(dims, lambda rng, shape: rng.randint(0, 2, shape), "bool")


def specs(tree):
    """Lists the array descriptions (`Spec`) in `tree` as [(path, spec)]."""
    return [(p, x) for p, x in structure.flatten(tree) if isinstance(x, Spec)]


def letters(tree):
    """Lists the letters of dimensions in the specs of `tree`, without repeats."""
    dims = [d for _, spec in specs(tree) for d in spec.dims if isinstance(d, str)]
    return list(dict.fromkeys(dims))


def real(shape):
    """Returns whether `shape` is large: 1,000 values or more, or 64 rows or more."""
    return math.prod(shape) >= 1000 or (len(shape) > 1 and shape[0] >= 64)


def bindings(tree):
    """Lists sets of sizes for the dimension letters in `tree`; the last is large.

    Returns:
        List of {letter: size}; one empty dict if there are no letters.
    """
    names = letters(tree)
    if not names:
        return [{}]
    found = [dict(zip(names, row)) for row in SIZES]
    if not any(real(spec.shape(found[-1])) for _, spec in specs(tree)):
        found[-1][names[0]] = LONG
    return found


def drawn(tree, sizes, *names):
    """Replaces each spec in `tree` by a random array, seeded by `names` and `sizes`.

    Arrays are copied, so that a page may write to its arguments.
    """
    rng = structure.generator(*names, sorted(sizes.items()))

    def draw(node):
        if isinstance(node, Spec):
            return node.array(rng, sizes)
        if isinstance(node, dict):
            return {key: draw(value) for key, value in node.items()}
        if isinstance(node, (list, tuple)):
            return type(node)(draw(item) for item in node)
        return np.copy(node) if isinstance(node, np.ndarray) else node

    return draw(tree)


def unknown(tree, literal=False):
    """Returns {path: shape} of arrays in `tree`, with None for varying dimensions.

    Args:
        tree: arguments with specs and arrays.
        literal: whether every dimension of the given arrays counts as varying as well.

    Returns:
        dict from path to a list, with None for each letter of a spec.
    """
    shapes = {
        path: [None if isinstance(d, str) else d for d in spec.dims]
        for path, spec in specs(tree)
    }
    if literal:
        for path, array in structure.arrays(tree).items():
            shapes[path] = [None] * array.ndim
    return shapes
