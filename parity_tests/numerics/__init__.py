"""The cases of the topic numerics, a module for each kind of `v2_eager.numerics`.

Each module has `DESCRIPTORS`, {public name of the kind: its cases, or the pair of
another topic that proves it, "topic.pair"}, and may have `MORE`, cases of no one name.
"""

import zlib

import numpy as np

CONTRIB = {"graph": "contrib is in 1.15 only"}
ALONE = "today's TensorFlow has neither cells nor tf.layers without tf_keras"
NARROW = {"xla": "XLA rounds otherwise, and float64 would not be wider"}
"""What to skip of ops that compute in float32 or less whatever they are given."""


class Inputs:
    """Ordinary random numbers, the same ones in every run.

    Args:
        name: whose numbers they are; other names have other numbers.
    """

    def __init__(self, name):
        self.random = np.random.RandomState(zlib.crc32(name.encode()))

    def normal(self, *shape):
        """float32, standard normal."""
        return self.random.standard_normal(shape).astype("f")

    def uniform(self, *shape):
        """float32 in (0, 1)."""
        return self.random.uniform(0.001, 0.999, shape).astype("f")

    def integers(self, below, *shape):
        """int64 in [0, below)."""
        return self.random.randint(0, below, shape)

    def weights(self, *shape):
        """float32 in (0, 1), a quarter of them 0."""
        return self.uniform(*shape) * (self.integers(4, *shape) > 0)
