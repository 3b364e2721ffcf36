"""The cases of the topic numerics, one module for each module of `v2_eager.numerics`.

Each has `DESCRIPTORS`, {public name: its cases, or "topic.pair", the pair of another
topic that proves it}. It may have `MORE`, cases that belong to no single name.
"""

import zlib

import numpy as np

CONTRIB = {"graph": "contrib is in 1.15 only"}
ALONE = "today's TensorFlow has neither cells nor tf.layers without tf_keras"
NARROW = {"xla": "XLA rounds otherwise, and float64 would not be wider"}
"""`skip=` of ops that always compute in float32 or less."""


class Inputs:
    """Draws random numbers that are the same in every run.

    Args:
        name: seed of the numbers; other names have other numbers.
    """

    def __init__(self, name):
        self.random = np.random.RandomState(zlib.crc32(name.encode()))

    def normal(self, *shape):
        """Draws standard normal float32 numbers."""
        return self.random.standard_normal(shape).astype("f")

    def uniform(self, *shape):
        """Draws float32 numbers in (0, 1)."""
        return self.random.uniform(0.001, 0.999, shape).astype("f")

    def integers(self, below, *shape):
        """Draws int64 numbers in [0, below)."""
        return self.random.randint(0, below, shape)

    def weights(self, *shape):
        """Draws float32 numbers in (0, 1); a quarter of them are 0."""
        return self.uniform(*shape) * (self.integers(4, *shape) > 0)
