"""What a probe says: an old call, the new call, and what both are given."""

import dataclasses

SIGN_OF_ZERO = 5e-324
"""The distance of 0.0 from -0.0: the smallest there is."""


@dataclasses.dataclass(frozen=True)
class Probe:
    """One old call, the call that replaces it, and what both are given.

    The last line of a call is an expression, its value the answer; lines before it make
    ready. A call sees `tf`, `np`, the inputs as tensors, `distinct("kernel")`, an
    initializer of distinct values, and `folder`, the path of an empty folder.

    Attributes:
        name: what is replaced, as `tf.log`; its aliases in 1.15.5 are meant, too.
        old: the call on TensorFlow 1.
        new: the call on TensorFlow 2.
        inputs: a line of assignments per case, such as "x = normal(4, 5)"; see
            `tf1to2.parity.arrays`.
        exact: whether bits are compared as given, for arithmetic that never rounds;
            else inputs are widened to float64 and answers rounded to float32.
        why: what differs between both sides and why, where anything does.
        within: how far answers are apart then at most, as measured, relative to the
            largest value; 0 where answers are others altogether.
        eager: why the new call does not run in a `tf.function`, if it does not.
        where: the releases on which that differs, as "keras<3.14"; all, unless given.
            On others nothing does.
        raises: what the new call raises there in place of an answer: a pattern of the
            beginning of what Python prints.
    """

    name: str
    old: str
    new: str
    inputs: tuple = ("",)
    exact: bool = False
    why: str = ""
    within: float = 0.0
    eager: str = ""
    where: str = ""
    raises: str = ""

    def __str__(self):
        return f"{self.name}: {self.new}"
